/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rented.h - nodes that are rented by the hour: how long they take to come,
 * when they are given back, how they are billed, and when they are taken away.
 *
 * A group of nodes with `rent:` begins with `min` of them.  More are ordered
 * for tasks that wait, up to the count of the group and to what can be had;
 * who has nothing to do for `keep` is given back.  Spot instances are on-demand
 * ones with `reclaim` or `available`: each is warned `notice` before its end.
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

/* On demand of what waits; or always as many as can be had. */
enum rent_scale { RENT_QUEUE, RENT_ALWAYS };
/* What jobs do in the time of notice: work on, and lose what they have not
 * saved; or save at once. */
enum rent_notice { RENT_WORK, RENT_SAVE };

struct rent_spec {
    uint32_t nodes_min;
    enum rent_scale scale;
    int64_t start_ns;           /* ordered until it can be used; paid for */
    int64_t keep_ns;            /* without a lease, until it is given back */
    int64_t wait_ns;            /* a task waits so long until nodes are
                                   ordered for it */
    int64_t unit_ns;            /* billed in whole units, */
    int64_t least_ns;           /* and for so long at least */
    int64_t notice_ns;
    enum rent_notice on_notice;
    int64_t reclaim_mtbf_ns;    /* of one node that is rented; 0: never */
    const struct time_series *available;     /* nodes that can be had; NULL: all */
};

extern const struct conf_schema rented_schema;
bool rented_read(struct arena *arena, const struct conf_node *conf,
                 uint32_t count, struct rent_spec *spec, struct err *err);
/* The time that is paid for a node that was rented so long. */
int64_t rented_billed_ns(const struct rent_spec *spec, int64_t rented_ns);

#endif
