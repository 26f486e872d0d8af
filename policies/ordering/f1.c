/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * f1.c - F1: lowest log10(r) x n + 8.70e2 x log10(s) first; r is the estimate
 * and s the time of submission, in seconds, n the GPUs.
 *
 * Carastan-Santos and Camargo (SC 2017): the best of the functions that they
 * fitted to simulated schedules of a 256-core machine.  The constant belongs to
 * that machine and to times counted from the start of the workload: on another
 * scale, or far from time 0, it leans towards one of its terms.
 */
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy f1_policy;

/* Lower goes first.  Submission is counted from the start of the workload. */
static double f1_score(const struct cs_task *task)
{
    double r = (double)task->estimate_ns / 1e9;
    double s = (double)task->submit_ns / 1e9;

    /* 0.1 where there is no logarithm: as in RLScheduler. */
    return log10(r > 0 ? r : 0.1) * task->gpus +
           8.70e2 * log10(s > 0 ? s : 0.1);
}

static bool f1_before(const void *self, const struct cs_host *host,
                      struct task_id a, struct task_id b)
{
    (void)self;
    return f1_score(cs_task(host, a)) < f1_score(cs_task(host, b));
}

const struct cs_policy f1_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "f1",
    .cites = "carastansantos2017obtaining",
    .flags = CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .summary = "lowest log10(estimate) x GPUs + 870 log10(submission) first",
    .before = f1_before,
};
