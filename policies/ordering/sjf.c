/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sjf.c - shortest job first, by the estimate that the experiment allows.
 *
 * Optimal for the mean wait on one machine with exact estimates; starves long
 * jobs, and with `estimate: requested` it is as good as its users' guesses.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy sjf_policy;

/* The shorter estimate first. */
static bool sjf_before(const void *self, const struct cs_host *host,
                       struct task_id a, struct task_id b)
{
    (void)self;
    return cs_task(host, a)->estimate_ns < cs_task(host, b)->estimate_ns;
}

const struct cs_policy sjf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "sjf",
    .flags = CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .summary = "shortest estimate first",
    .before = sjf_before,
};
