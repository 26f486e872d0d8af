/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * edf.c - earliest deadline first; jobs without one go last, as they came.
 *
 * After Liu and Layland (JACM 1973), who show it to be optimal for one machine
 * with preemption.  Here nothing is preempted and gangs need room, so it is
 * only an order.  Under overload it spends GPUs on jobs that are late anyway.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy edf_policy;

/* The earlier deadline first; jobs without one come last. */
static bool edf_before(const void *self, const struct cs_host *host,
                       struct task_id a, struct task_id b)
{
    (void)self;
    return cs_request(host, cs_task(host, a)->job)->deadline_ns <
           cs_request(host, cs_task(host, b)->job)->deadline_ns;
}

const struct cs_policy edf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "edf",
    .cites = "liu1973edf",
    .flags = CS_TAKES_OVER,
    .summary = "earliest deadline first; jobs without one last",
    .before = edf_before,
};
