/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * srtf.c - shortest remaining time first, with preemption.
 *
 * At every decision all jobs, running or not, are put in order of what is
 * left of them by the estimate (ties keep the order they had), and the GPUs
 * are dealt out from the front, passing over what does not fit.  A running
 * job that gets none is stopped; what a stop costs is `preemption: {cost: }`.
 * These are the semantics of Tiresias's simulator (Gu et al., NSDI 2019) when
 * the cost is 0 and GPUs are a count.  Long jobs can starve.
 */
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy srtf_policy;

/* The key: the time that is left by the estimate, in ns. */
static double srtf_key(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job);
}

/* How fast the key falls while the job runs; NAN where it is not even. */
static double srtf_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    return cs_left_per_ns(host, job);
}

static const struct cs_moving_key srtf_moving_key = {
    .key = srtf_key, .per_ns = srtf_per_ns, .exact = true
};

/* Also when nothing waits: a job that was loaded may have been passed over. */
static void srtf_decide(void *self, struct cs_host *host)
{
    (void)self;
    cs_reallocate_moving(host, &srtf_moving_key);
}

const struct cs_policy srtf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "srtf",
    .cites = "gu2019tiresias",
    .summary = "shortest remaining time first, preempting",
    .flags = CS_PREEMPTS | CS_ASKS_ESTIMATES | CS_TAKES_OVER | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .decide = srtf_decide,
};
