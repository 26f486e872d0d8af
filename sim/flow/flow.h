/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow.h - fluid flows over shared links, weighted max-min fair.
 *
 * A flow has work left, a weight, an optional cap on its rate, and uses: the
 * units of each link that one unit of its work takes.  (A training pipeline is
 * one flow whose unit is a sample: it uses bytes of storage and of PCIe and
 * core-seconds of a CPU pool; its cap is the rate of its GPUs.)  Rates are
 * weighted max-min fair: rate/weight of all flows rises together; a flow that
 * reaches its cap or a full link keeps its rate, the others go on.
 *
 * Flows count their work in units of their own (runs, steps, bytes).  The weight of a
 * dominant share makes them comparable: 1 / the largest part of a link's capacity that
 * one unit of work takes in a second.  Flows at one level then take the same part of the
 * link that each needs most (dominant resource fairness, Ghodsi et al., NSDI 2011);
 * flows that use one and the same link alone take as many bytes.
 *
 * All changes of one instant are solved once, in LOOP_RANK_SETTLE, or when a
 * rate is asked for.  Only the connected component that changed is solved
 * again. Only flows whose rate changed get a new end event; of the many flows
 * of one full link, only the first to end has an event.
 */
#ifndef SIM_FLOW_FLOW_H
#define SIM_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct flow_net;
struct loop;

/* How much of a link a flow takes. */
struct flow_use {
    uint32_t link;              /* as flow_link_add() returned it */
    double per_unit;            /* link units per unit of work, > 0 */
};

/* Called in LOOP_RANK_FINISH when a flow's work is done; the flow does not
 * exist any more. */
typedef void flow_done_fn(void *self, uint64_t arg);

/* What a flow is made of; flow_start() copies it. */
struct flow_spec {
    double work;                /* > 0, in the caller's units */
    double weight;              /* > 0; 0: that of its dominant share */
    double rate_max;            /* units per second; INFINITY: no cap */
    const struct flow_use *use; /* copied; a link at most once */
    uint32_t use_count;         /* may be 0 if rate_max is finite */
    flow_done_fn *done;         /* NULL: nobody is told */
    void *self;                 /* handed to done; stays the caller's */
    uint64_t arg;               /* handed to done; flow_set_arg() changes it */
};

/* May be used after the flow has ended.  All zero: no flow. */
struct flow_handle {
    uint32_t slot;              /* its number among the flows */
    uint32_t generation;        /* of that slot; 0: no flow */
};

/* The net belongs to the caller, who returns it by flow_free(). */
struct flow_net *flow_new(struct loop *loop);
void flow_free(struct flow_net *net);                   /* accepts NULL */

/* Adds a link and returns its number, from 0.  capacity: link units per second,
 * >= 0. */
uint32_t flow_link_add(struct flow_net *net, double capacity);

/* Changes a link's capacity from now on; rates follow at this instant. */
void flow_link_set(struct flow_net *net, uint32_t link, double capacity);
uint32_t flow_link_count(const struct flow_net *net);

/* Starts a flow now.  Its rate is 0 until the changes of this instant are solved.
 * Asserts the ranges of flow_spec.  The uses are copied; self is the caller's. */
struct flow_handle flow_start(struct flow_net *net,
                              const struct flow_spec *spec);
/* Ends a flow without calling done.  Returns the work left; 0 if the flow had
 * ended. */
double flow_stop(struct flow_net *net, struct flow_handle handle);

/* Changes a flow's cap from now on, in units of its work per second.  Nothing
 * happens if the flow has ended. */
void flow_set_cap(struct flow_net *net, struct flow_handle handle,
                  double rate_max);

/* Changes what `done` is called with.  Nothing happens if the flow has ended. */
void flow_set_arg(struct flow_net *net, struct flow_handle handle, uint64_t arg);

/* Does the flow of this handle still run? */
bool flow_alive(const struct flow_net *net, struct flow_handle handle);
/* Return the rate and the work left; 0 if the flow has ended. */
double flow_rate(struct flow_net *net, struct flow_handle handle);
double flow_left(struct flow_net *net, struct flow_handle handle);
/* Returns the link that limits the flow; UINT32_MAX: its own cap does. */
uint32_t flow_bottleneck(struct flow_net *net, struct flow_handle handle);

/* Only within flow_done_fn: returns what limited the flow at its end. */
uint32_t flow_ended_at(const struct flow_net *net);

/* Return the present load, in link units per second, and its integral from the
 * start. */
double flow_link_load(struct flow_net *net, uint32_t link);
double flow_link_area(struct flow_net *net, uint32_t link);
double flow_link_capacity(const struct flow_net *net, uint32_t link);

/* A second opinion, for audits.  flow_listen(): from now on heard(self, use, count, work, arg)
 * is called when a flow ends or is stopped, with the work that was done of it and the `arg` of
 * its spec; one listener at most.  flow_each() calls it so for every flow that runs, with what
 * is done of it so far. */
typedef void flow_heard_fn(void *self, const struct flow_use *use, uint32_t use_count,
                           double work, uint64_t arg);
void flow_listen(struct flow_net *net, flow_heard_fn *heard, void *self);
void flow_each(struct flow_net *net, flow_heard_fn *heard, void *self);
/* Are the rates in force weighted max-min fair?  By the definition, link by link; only
 * when all changes of the instant are solved.  False: *flow is one that is not. */
bool flow_is_fair(const struct flow_net *net, uint32_t *flow);
/* Returns how many flows run that use links. */
uint32_t flow_count(const struct flow_net *net);

#endif
