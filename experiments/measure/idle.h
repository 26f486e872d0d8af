/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle.h - what every GPU did at every instant: thousandths of
 * GPU-nanoseconds by cause, whole numbers that add up to all there are.
 */
#ifndef EXPERIMENTS_MEASURE_IDLE_H
#define EXPERIMENTS_MEASURE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/measure/metrics.h"

struct idle;

enum gpu_does {
    GPU_WORKS,          /* a phase runs on its lease */
    GPU_LOADS,          /* loading, starting, saving */
    GPU_WAITS,          /* leased, no phase runs */
    GPU_UNWANTED,       /* free, nothing waits */
    GPU_UNSUITED,       /* free, and what waits wants other pools or types */
    GPU_GANG,           /* free, and all that could use it want more GPUs than
                           are free in its pool */
    GPU_FRAGMENT,       /* free, and something waits that wants no more: it
                           does not fit on the nodes, or is held back */
    GPU_BEHIND,         /* free, and what wants no more waits behind the first
                           in the order, which wants more than are free */
    GPU_DOWN,           /* out of service */
    GPU_RENTED,         /* paid for, and starting or under notice */
    GPU_AWAY,           /* not rented: not there at all */
    GPU_DOES_COUNT
};

/* Returns the accumulator, in the arena of the parts. */
struct idle *idle_new(const struct metrics_parts *parts);
/* Names the host, before the first event. */
void idle_watch(struct idle *idle, struct cs_host *host);
/* By hand, without a host: `working_gpus` work and all others are free; the
 * smallest of the jobs that wait wants `wanted_gpus` (0: none waits), the smallest
 * behind the first of them `behind_gpus` (0: the first waits alone). */
void idle_count(struct idle *idle, int64_t now_ns, uint32_t working_gpus,
                uint32_t wanted_gpus, uint32_t behind_gpus);
/* From here on it counts: the end of the warm-up. */
void idle_begin(struct idle *idle, int64_t now_ns);
/* Adds up the time to end_ns, which is not before the last lease. */
void idle_until(struct idle *idle, int64_t end_ns);
/* Returns GPU-seconds of one cause since idle_begin(). */
double idle_gpu_s(const struct idle *idle, enum gpu_does does);
/* Returns the GPU-seconds of all GPUs that were there. */
double idle_all_gpu_s(const struct idle *idle);
/* Sets the metrics of free, failed and starting GPUs, as fractions of all their
 * time; `value` has one for each enum metric.  Nothing where there is no GPU. */
void idle_result(const struct idle *idle, double *value);
/* Do the causes add up to all GPUs, to the nanosecond? */
bool idle_adds_up(const struct idle *idle);

#endif
