/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * levels.h - what holds between two instants: GPUs that are free while tasks wait, tasks
 * that wait and jobs that run.  For recount.c only.
 *
 * Within an instant many things change, and only what is left when it is over lasts.  So
 * levels are seen when an instant is over, and added to the books when the next one is.
 */
#ifndef EXPERIMENTS_RECOUNT_LEVELS_H
#define EXPERIMENTS_RECOUNT_LEVELS_H

#include <stdint.h>

#include "experiments/recount/books.h"

struct cs_host;
struct recount_parts;

/* What holds since over_ns.  GPUs are in thousandths, as jobs may share one. */
struct levels {
    const struct recount_parts *parts;  /* of the trial */
    struct recount_books *books;        /* gets the sums */
    int64_t free_milli;         /* GPUs that are free while tasks wait, in thousandths */
    int64_t idle_milli[IDLE_KINDS];     /* of those, by what for; full form alone */
    int64_t waits, runs;        /* tasks that wait, jobs that run */
    int64_t over_ns;            /* the instant since when all this holds */
};

/* Adds what holds, times the time from the instant that was over last to this one. */
void levels_until(struct levels *levels, int64_t now_ns);
/* Asks the host what holds from this instant on, which is over.
 *
 * Example: two tasks wait and 3 GPUs are free when the instant at 100 s is over.  The next
 * instant is at 160 s, so levels_until() adds 3 x 60 GPU-seconds to `queued`. */
void levels_see(struct levels *levels, struct cs_host *host, int64_t now_ns);

#endif
