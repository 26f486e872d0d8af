/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fewest_gpus.c - fewest GPUs first, preempting.
 *
 * As srtf, but in order of the GPUs that a job asks for, as Tiresias's
 * simulator does it (Gu et al., NSDI 2019).  Needs no estimates and keeps many
 * jobs going; a wide job is stopped by every small one that comes, and starves
 * under load.
 */
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy fewest_gpus_policy;

/* Keys do not move: only jobs that come and go change the order. */
static double fewest_gpus_key(const void *self, const struct cs_host *host,
                              struct job_id job)
{
    (void)self;
    return cs_job_gpus(host, job);
}

/* A job keeps its size, so that its key stands still. */
static double fewest_gpus_per_ns(const void *self, const struct cs_host *host,
                                 struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 0;
}

static const struct cs_moving_key fewest_gpus_moving_key = {
    .key = fewest_gpus_key, .per_ns = fewest_gpus_per_ns
};

/* Deals all GPUs anew while a job waits. */
static void fewest_gpus_decide(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) > 0)     /* else all run as they do */
        cs_reallocate_moving(host, &fewest_gpus_moving_key);
}

const struct cs_policy fewest_gpus_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fewest-gpus",
    .cites = "gu2019tiresias",
    .summary = "fewest GPUs first, preempting",
    .flags = CS_PREEMPTS | CS_TAKES_OVER | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .decide = fewest_gpus_decide,
};
