/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_time.c - splits the GPU-seconds of phases: busy, tail, and the rest.
 */
#include "experiments/measure/phase_time.h"

#include <assert.h>

#include "policies/host/host.h"
#include "sim/base/clock.h"

void phase_time_begin(struct phase_time *time, int64_t now_ns)
{
    *time = (struct phase_time){ .from_ns = now_ns };
}

/* fmin and fmax of numbers, in line: they are asked for in every phase. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

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
