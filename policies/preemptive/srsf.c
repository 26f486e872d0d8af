/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * srsf.c - shortest remaining service first: time left x GPUs, preempting.
 *
 * As srtf, but a job counts by the GPU-time that is left of it, so that a wide
 * job has to be that much shorter: the clairvoyant yardstick of Tiresias (Gu et
 * al., NSDI 2019).  Wide jobs can starve; it needs estimates.
 */
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy srsf_policy;

/* The remaining service falls while the job runs, and stands while it waits.  The key:
 * nanoseconds left x GPUs. */
static double srsf_key(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job) * cs_job_gpus(host, job);
}

/* How fast the key falls: by the GPUs of the job, while it runs. */
static double srsf_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    return cs_left_per_ns(host, job) * cs_job_gpus(host, job);
}

static const struct cs_moving_key srsf_moving_key = {
    .key = srsf_key, .per_ns = srsf_per_ns, .exact = true
};

/* Deals all GPUs anew while a job waits. */
static void srsf_decide(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) > 0)     /* else all run as they do */
        cs_reallocate_moving(host, &srsf_moving_key);
}

const struct cs_policy srsf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "srsf",
    .cites = "gu2019tiresias",
    .summary = "shortest remaining service (time x GPUs) first, preempting",
    .flags = CS_PREEMPTS | CS_ASKS_ESTIMATES | CS_TAKES_OVER | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .decide = srsf_decide,
};
