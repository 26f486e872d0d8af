/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_time.c - splits the GPU-seconds of phases: busy, tail, and the rest.
 *
 * Example: a phase of 10 s on 4 GPUs, of which its law says that 0.7 are busy
 * and 0.2 are a tail.  Of 40 GPU-seconds, 28 are busy, 8 are tail, and 4 are
 * the rest.  If links slowed it down and 8 s would have done, 22.4 are busy,
 * 6.4 are tail, and 11.2 are the rest.
 */
#include "experiments/measure/phase_time.h"

#include <assert.h>

#include "policies/host/host.h"
#include "sim/base/clock.h"

void phase_time_begin(struct phase_time *time, int64_t now_ns)
{
    *time = (struct phase_time){ .from_ns = now_ns };
}

/* Returns the smaller of two numbers that are not NAN; fmin() would be a call
 * in every phase. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the larger of two numbers that are not NAN. */
static double most(double a, double b)
{
    return a > b ? a : b;
}

/* work_s is the time that the phase would have taken if nothing had slowed it
 * down.  Only what is after the warm-up is added. */
double phase_time_add(struct phase_time *time, const struct host_phase_run *run, double gpus,
                      int64_t start, int64_t end)
{
    double whole_s = clock_s_from_ns(end - start);
    double s = clock_s_from_ns(end - (start > time->from_ns ? start
                                                            : time->from_ns));
    double work_s = whole_s, busy_s, tail_s;

    assert(end >= start);
    if (run->rate_max > 0 && whole_s * run->rate_max > run->part)
        work_s = run->part / run->rate_max;
    double part = whole_s > 0 ? work_s / whole_s : 0;
    busy_s = s * part * least(1, most(0, run->busy_fraction));
    tail_s = least(s * part * run->tail_fraction, s * part - busy_s);
    time->busy_s += busy_s * gpus;
    time->tail_s += most(0, tail_s) * gpus;
    time->phase_s += s * gpus;
    if (run->shares_bursts)
        time->bursts_s += s * gpus;
    return s > 0 ? busy_s / s : 0;
}
