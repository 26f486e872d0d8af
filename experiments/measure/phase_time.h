/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_time.h - what GPUs did inside the phases of jobs, in GPU-seconds.
 *
 * A phase holds its GPUs from start to end.  Of that time they are busy for the law's
 * busy fraction, or in the tail, where other responses of a rollout are done.  What is
 * left is a bubble, which metrics.c computes: phase_s - busy_s - tail_s.
 */
#ifndef EXPERIMENTS_MEASURE_PHASE_TIME_H
#define EXPERIMENTS_MEASURE_PHASE_TIME_H

#include <stdint.h>

struct host_phase_run;

struct phase_time {
    int64_t from_ns;            /* what happened before does not count */
    double phase_s, busy_s, tail_s;     /* GPU-seconds; the last two are part of phase_s */
    double bursts_s;            /* of phase_s, beside other bursts */
};

/* Forgets what was added; from now on things count. */
void phase_time_begin(struct phase_time *time, int64_t now_ns);
/* Adds a phase that had `gpus` GPUs (a part of one counts as that part) from start to end,
 * and returns its busy fraction.  What it took beyond the time of its part alone was waiting
 * for links, and is neither busy nor tail. */
double phase_time_add(struct phase_time *time, const struct host_phase_run *run, double gpus,
                      int64_t start, int64_t end);

#endif
