/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deals.h - jobs that cs_reallocate() gives GPUs anew, in the order of their keys.
 */
#ifndef POLICIES_STATE_DEALS_H
#define POLICIES_STATE_DEALS_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/rank.h"
#include "sim/containers/order.h"

struct cs_host;
struct cs_moving_key;
struct cs_size;
struct host_job_slot;
struct host_lanes;

struct host_line {              /* a key that moves: key + per_ns * (t - at_ns) */
    double key, per_ns;         /* per_ns NAN: it is not known how */
    int64_t at_ns;
};
/* A job that cs_reallocate_moving() deals with. */
struct host_left {
    uint32_t job, gpus;
    double key, per_ns;         /* key: as the policy gave it at at_ns; NAN as above */
    int64_t at_ns;
    bool runs, changed, over;   /* changed: it started, stopped or was noted since
                                   `line` was set; over: it has ended */
    struct host_line line, before;      /* since it started or stopped, and
                                           before that */
    int64_t changed_ns, came_ns;        /* when `line` was set; when it was first dealt */
    double next_key;            /* of one that changed in this deal: its key after it */
    struct order *order;        /* of lanes.c: where it is */
};
struct host_deal {              /* a job that has not ended, in deal.c */
    uint32_t job, gpus;
    double key;                 /* of this deal */
    bool take;                  /* this deal gives it its GPUs */
    uint64_t since;             /* orders jobs by when they began to wait or to run */
};

/* Jobs in order, by the list that is in use. */
struct host_deals {
    struct host_deal *deal;         /* in the order of the last deal */
    uint32_t deals, deal_room, deal_seen;
    uint64_t deal_since;
    struct host_deal *deal_spare;   /* to sort with */
    uint32_t deal_spare_room;
    struct order_store *store;      /* of those below */
    struct order *left_order;       /* that order for cs_reallocate_moving(); */
    struct order *lefts;            /* NULL: the list above is in use */
    struct host_lanes *lanes;       /* or these */
    const struct cs_moving_key *motion;
    struct host_left *left;
    uint32_t left_count, left_room;
    uint32_t *left_spare, left_spares;
    uint32_t *left_ended, left_endeds, left_ended_room;
    uint32_t *left_changed, left_changeds, left_changed_room;
    double left_per_ns;             /* of the first that ran, and were others */
    bool left_sloped, left_crossing;        /* of another slope? */
    struct order_dealt dealt;       /* entries that stop and start */
    struct cs_size *resized;        /* by cs_set_sizes() */
    uint32_t resized_room;
};

/* For cs_reallocate_moving().  The entry of a job in host->deals->left, or
 * ID_NONE; an ended job leaves its list at the next deal; the
 * key of a job that started or waits again moves otherwise from now on. */
void host_left_place(struct cs_host *host, uint32_t job, uint32_t entry);
void host_left_end(struct cs_host *host, struct host_job_slot *job);
void host_left_change(struct cs_host *host, uint32_t job);

#endif
