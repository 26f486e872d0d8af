/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turn.h - `blocking: commit`: the task that keeps its turn, and what happened
 * since it was chosen.
 */
#ifndef POLICIES_STATE_TURN_H
#define POLICIES_STATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct host_ended {             /* a job, in commit.c */
    int64_t end_ns;             /* as it was expected */
    uint32_t job, place;
    bool late;
};

/* The task that keeps its turn. */
struct host_turn {
    uint32_t committed;             /* ask that keeps its turn, or ID_NONE */
    int64_t committed_until_ns;     /* others end before it: backfill */
    uint64_t committed_seq;         /* tasks from this one on came later */
    int64_t committed_ns;           /* when it was chosen; backfill */
    uint32_t *late, late_count, late_room;  /* jobs that started then, but
                                       after it was chosen; */
    bool late_sorted;               /* they are so by number */
    uint32_t *instant, instant_room;    /* jobs that came, then that ended, */
    uint32_t instant_came, instant_count;   /* at this instant, */
    uint32_t instant_next;          /* how many of them were seen; */
    uint32_t withheld_gpus;         /* of those that are not */
    bool instant_chosen;            /* there was a choice at this instant */
    struct host_ended *ended;       /* scratch */
    uint32_t ended_room;
};

#endif
