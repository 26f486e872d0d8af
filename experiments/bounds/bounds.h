/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds.h - what no policy could beat: lower bounds on mean completion time
 * and makespan of jobs of known length.
 *
 * Each bound is the optimum of a problem with fewer rules, so that every
 * schedule of the real one obeys it, whatever its placement, preemption or
 * clairvoyance:
 *
 *   longest    a job takes its own time, as if it were alone
 *   fluid      all GPUs are one machine of their joint speed, which may leave
 *              and resume any job; shortest remaining work first is optimal
 *              for the sum of completion times there (Schrage 1968)
 *   busy       on that machine, the mean instant of a job's work is at least
 *              half its length before its end; least work first, preempting,
 *              is optimal for the sum of those instants (Goemans et al. 2002)
 *   makespan   work that came after an instant cannot be done before
 *
 * The bound on the mean is the largest of the first three.
 */
#ifndef EXPERIMENTS_BOUNDS_BOUNDS_H
#define EXPERIMENTS_BOUNDS_BOUNDS_H

#include <stddef.h>

/* Above that many jobs no bound is computed: the fluid bounds take O(n log n) time, and
 * keep all jobs. */
#define BOUNDS_JOBS_MAX 100000u

/* `gpus` is how many GPUs it holds on average over that length, and need not be whole. */
struct bounds_job {
    double submit_s, length_s, gpus;    /* length on its GPUs, alone */
};

/* Both are in seconds.  A trial's own mean and makespan are at least these. */
struct bounds {
    double jct_mean_s, makespan_s;      /* 0: none is known */
};

/* Returns the bounds for these jobs, in ascending submit_s; gpus: of the cluster,
 * > 0. */
struct bounds bounds_of(const struct bounds_job *job, size_t count,
                        double gpus);

#endif
