/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ljf.c - longest job first, by the estimate that the experiment allows.
 *
 * Graham (1969): starting the longest first keeps the makespan of jobs that
 * all wait at the beginning within 4/3 of the best, on equal machines and one
 * machine each.  The mean wait is as bad as can be: the short wait for the
 * long.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy ljf_policy;

/* The longer estimate first. */
static bool ljf_before(const void *self, const struct cs_host *host,
                       struct task_id a, struct task_id b)
{
    (void)self;
    return cs_task(host, a)->estimate_ns > cs_task(host, b)->estimate_ns;
}

const struct cs_policy ljf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "ljf",
    .cites = "graham1969bounds",
    .flags = CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .summary = "longest estimate first",
    .before = ljf_before,
};
