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

/* A key that moves: at a time t it is key + per_ns * (t - at_ns). */
struct host_line {
    double key, per_ns;         /* per_ns NAN: it is not known how */
    int64_t at_ns;
};
/* A job that cs_reallocate_moving() deals with. */
struct host_left {
    uint32_t job, gpus;         /* its number; what it asks for */
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
/* A job that has not ended, in deal.c. */
struct host_deal {
    uint32_t job, gpus;         /* its number; what it asks for */
    double key;                 /* of this deal */
    bool take;                  /* this deal gives it its GPUs */
    uint64_t since;             /* orders jobs by when they began to wait or to run */
};

/* The jobs that have not ended, in one of three forms at a time: the list of deal.c
 * (deal[]), the order of left.c (lefts), or the lanes of lanes.c.  Each hands all of its
 * jobs over to the next, in order. */
struct host_deals {
    /* deal.c */
    struct host_deal *deal;         /* in the order of the last deal */
    uint32_t deals, deal_room;
    uint32_t deal_seen;             /* jobs from this number on are not in any form yet */
    uint64_t deal_since;            /* counts for host_deal.since */
    struct host_deal *deal_spare;   /* to sort with */
    uint32_t deal_spare_room;
    /* left.c and lanes.c */
    struct order_store *store;      /* memory of their orders */
    struct order *left_order;       /* of left.c; NULL: not made yet */
    struct order *lefts;            /* left_order while it is in use; else NULL */
    struct host_lanes *lanes;       /* NULL: not made yet */
    const struct cs_moving_key *motion;     /* how keys move: of the last deal */
    struct host_left *left;         /* an entry for each job, of both */
    uint32_t left_count, left_room;
    uint32_t *left_spare, left_spares;      /* entries without a job */
    uint32_t *left_ended, left_endeds, left_ended_room;     /* entries whose job has ended
                                       since the last deal */
    uint32_t *left_changed, left_changeds, left_changed_room;   /* whose job started or
                                       stopped, or was noted */
    double left_per_ns;             /* slope of the first job that ran, */
    bool left_sloped;               /* if there was one */
    bool left_crossing;             /* some job ran with another slope */
    struct order_dealt dealt;       /* entries that stop and start in this deal */
    struct cs_size *resized;        /* scratch of cs_set_sizes() */
    uint32_t resized_room;
};

/* For cs_reallocate_moving().  The entry of a job in host->deals->left, or
 * ID_NONE; an ended job leaves its list at the next deal; the
 * key of a job that started or waits again moves otherwise from now on. */
void host_left_place(struct cs_host *host, uint32_t job, uint32_t entry);
void host_left_end(struct cs_host *host, struct host_job_slot *job);
void host_left_change(struct cs_host *host, uint32_t job);

#endif
