/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turn.h - `blocking: commit`: the task that keeps its turn, and what happened
 * since it was chosen.
 */
#ifndef POLICIES_STATE_TURN_H
#define POLICIES_STATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* A job that has ended and whose GPUs are not given back yet: scratch of commit.c, which
 * sorts by it. */
struct host_ended {
    int64_t end_ns;             /* as it was expected; not used if late */
    uint32_t job, place;        /* place: where it stood among them */
    bool late;                  /* started after the choice: goes last */
};

/* The task that keeps its turn, and what happened since it was chosen. */
struct host_turn {
    uint32_t committed;             /* the task; ID_NONE: no task keeps its turn */
    int64_t committed_until_ns;     /* with backfill: what starts now must end before */
    uint64_t committed_seq;         /* tasks from this seq on came after the choice */
    int64_t committed_ns;           /* when it was chosen; -1: there was no choice yet */
    /* With backfill: jobs that started at committed_ns, but after the choice. */
    uint32_t *late, late_count, late_room;
    bool late_sorted;               /* they are sorted by number */
    /* Jobs of this instant: those that came (the first instant_came), then those that
     * ended.  The first instant_next were seen, or have given their GPUs back. */
    uint32_t *instant, instant_room;
    uint32_t instant_came, instant_count;
    uint32_t instant_next;
    uint32_t withheld_gpus;         /* of jobs that ended, and still hold their GPUs */
    bool instant_chosen;            /* with backfill: there was a choice at this instant */
    struct host_ended *ended;       /* scratch */
    uint32_t ended_room;
};

#endif
