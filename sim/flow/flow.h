/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow.h - fluid flows over shared links, weighted max-min fair.
 *
 * A flow has work left, a weight, an optional cap on its rate, and uses: how
 * many units of which link one unit of its work takes.  (A training pipeline
 * is one flow whose unit is a sample: it takes bytes of storage and of PCIe,
 * core-seconds of a CPU pool, and its cap is what the GPUs can eat.)  Rates
 * are the weighted max-min fair ones: raise rate/weight of all flows together,
 * freeze those that meet their cap or a full link, go on with the rest.
 *
 * Changes made at one instant are solved once, in LOOP_RANK_SETTLE, or when a
 * rate is asked for.  Only the connected component that changed is solved
 * anew, and only flows whose rate changed have their finish moved; of the many
 * flows of one full link, only the first to end has one.
 */
#ifndef SIM_FLOW_FLOW_H
#define SIM_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct flow_net;
struct loop;

struct flow_use {
    uint32_t link;
    double per_unit;            /* link units per unit of work, > 0 */
};

/* Called in LOOP_RANK_FINISH when no work is left; the flow is gone then. */
typedef void flow_done_fn(void *self, uint64_t arg);

struct flow_spec {
    double work;                /* > 0, in the caller's units */
    double weight;              /* > 0 */
    double rate_max;            /* units per second; INFINITY: no cap */
    const struct flow_use *use; /* copied; a link at most once */
    uint32_t use_count;         /* may be 0 if rate_max is finite */
    flow_done_fn *done;
    void *self;
    uint64_t arg;
};

/* Safe after the flow is gone.  All zero: no flow. */
struct flow_handle {
    uint32_t slot;
    uint32_t generation;
};

struct flow_net *flow_new(struct loop *loop);
void flow_free(struct flow_net *net);                   /* accepts NULL */

/* Links are numbered from 0 in the order they are added.  Capacity in link
 * units per second, >= 0. */
uint32_t flow_link_add(struct flow_net *net, double capacity);
void flow_link_set(struct flow_net *net, uint32_t link, double capacity);
uint32_t flow_link_count(const struct flow_net *net);

struct flow_handle flow_start(struct flow_net *net,
                              const struct flow_spec *spec);
/* Ends a flow early without calling done; returns the work left, 0 if it was
 * gone already. */
double flow_stop(struct flow_net *net, struct flow_handle handle);
void flow_set_cap(struct flow_net *net, struct flow_handle handle,
                  double rate_max);

bool flow_alive(const struct flow_net *net, struct flow_handle handle);
double flow_rate(struct flow_net *net, struct flow_handle handle);
double flow_left(struct flow_net *net, struct flow_handle handle);
/* The link that holds the flow back, or UINT32_MAX: its own cap. */
uint32_t flow_bottleneck(struct flow_net *net, struct flow_handle handle);

/* While done is called: what held the flow back in the end, as above. */
uint32_t flow_ended_at(const struct flow_net *net);

/* Load now, in link units per second, and its integral from the start. */
double flow_link_load(struct flow_net *net, uint32_t link);
double flow_link_area(struct flow_net *net, uint32_t link);
double flow_link_capacity(const struct flow_net *net, uint32_t link);

#endif
