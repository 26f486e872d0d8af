/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events.h - the full form's list of all that changed, gone through again for each row.
 */
#ifndef EXPERIMENTS_RECOUNT_EVENTS_H
#define EXPERIMENTS_RECOUNT_EVENTS_H

#include <stdint.h>

struct arena;
struct events;
struct judge;
struct recount_parts;

/* A level from an instant on: GPUs under a lease, or busy, of a pool; or, without a pool
 * (UINT32_MAX), tasks that wait and jobs that run. */
struct event {
    int64_t at_ns;              /* in the list: rising */
    uint32_t pool;
    double allocated, busy;     /* how much more; without a pool how many */
};

/* Returns an empty list, in the arena. */
struct events *events_new(struct arena *arena);
/* Appends a change, which must not come before the last one. */
void events_add(struct events *events, struct event event);
/* Compares each row of timeline.csv with what was heard within its interval. */
void events_judge_lines(const struct events *events, const struct recount_parts *parts,
                        int64_t end_ns, struct judge *judge);

#endif
