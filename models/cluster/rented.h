/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rented.h - nodes that are rented by the hour: how long they take to start,
 * when they are returned, how they are billed, and when the provider reclaims
 * them.
 *
 * A group of nodes with `rent:` starts with `min` nodes.  More are ordered for
 * waiting tasks, up to the count of the group and to what is available.  A node
 * that is idle for `keep` is returned.  `spare` nodes, or as many as are forecast to
 * be asked for while a node starts, are ordered ahead.  Spot instances are on-demand instances
 * with `reclaim` or `available`; the provider gives `notice` before the end.
 */
#ifndef MODELS_CLUSTER_RENTED_H
#define MODELS_CLUSTER_RENTED_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct conf_node;
struct conf_schema;
struct time_series;
struct err;

/* Nodes are ordered for waiting tasks; or always as many as are available; or for
 * waiting tasks and for jobs that are forecast to come. */
enum rent_scale { RENT_QUEUE, RENT_ALWAYS, RENT_FORECAST };
/* What jobs do after the notice: go on, and lose what they have not saved; or
 * save at once. */
enum rent_notice { RENT_WORK, RENT_SAVE };

/* Nodes that arriving jobs ask for, by slots of time: sim/stats/seasonal.h. */
struct rent_forecast {
    int64_t slot_ns;            /* length of a slot */
    uint32_t slots;             /* of a season; 0: there is none */
    double level_weight, season_weight;
    double ready;               /* probability that the nodes ahead suffice */
};

struct rent_spec {
    uint32_t nodes_min;         /* rented from the start to the end */
    uint32_t spare;             /* nodes ahead of the tasks; RENT_QUEUE */
    enum rent_scale scale;      /* how many nodes are wanted */
    int64_t start_ns;           /* from the order until it is usable; billed */
    int64_t keep_ns;            /* idle time after which it is returned */
    int64_t wait_ns;            /* nodes are ordered for a task after it has
                                   waited for this long */
    int64_t unit_ns;            /* time is billed in whole units, */
    int64_t least_ns;           /* and at least for this long */
    int64_t notice_ns;          /* from the notice to the loss of a reclaimed node */
    enum rent_notice on_notice; /* what its jobs do then */
    int64_t reclaim_mtbf_ns;    /* mean time until a rented node is reclaimed;
                                   0: never */
    const struct time_series *available;    /* number of nodes; NULL: all */
    struct rent_forecast forecast;          /* RENT_FORECAST */
};

extern const struct conf_schema rented_schema;
/* Fills *spec for a group of `count` nodes.  False: *err says what is wrong. */
bool rented_read(struct arena *arena, const struct conf_node *conf,
                 uint32_t count, struct rent_spec *spec, struct err *err);
/* Returns the time that is billed for a node that was rented for rented_ns. */
int64_t rented_billed_ns(const struct rent_spec *spec, int64_t rented_ns);

#endif
