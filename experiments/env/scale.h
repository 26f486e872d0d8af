/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale.h - numbers of what an agent sees, from 0 to 1: x / (x + half) for what has no
 * bound, part / all for shares.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_SCALE_H
#define EXPERIMENTS_ENV_SCALE_H

#include <math.h>
#include <stdint.h>

/* Times at which a number is 1/2: of waiting and of work, and of the clock. */
#define SCALE_HOUR_NS 3.6e12
#define SCALE_DAY_NS 8.64e13

/* Maps [0, inf) ns to [0, 1), 1/2 at `half`. */
static inline float scale_time(int64_t ns, double half)
{
    return ns <= 0 ? 0.0f : (float)((double)ns / ((double)ns + half));
}

/* Maps a count to [0, 1), 1/2 at the number of rows that are seen. */
static inline float scale_count(uint32_t n, uint32_t rows)
{
    return (float)n / (float)(n + rows);
}

/* Maps a part of something to [0, 1]: part / all; 0 where there is nothing of it. */
static inline float scale_share(double part, double all)
{
    return all <= 0 || part <= 0 ? 0.0f : part >= all ? 1.0f : (float)(part / all);
}

/* Maps priorities to (0, 1): 1/2 at 0, rising. */
static inline float scale_priority(int32_t priority)
{
    double p = priority;

    return (float)(0.5 + p / (2 * fabs(p) + 20));
}

#endif
