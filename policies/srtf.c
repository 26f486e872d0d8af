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

extern const struct cs_policy srtf_policy;

struct srtf_entry {
    struct job_id job;
    uint32_t gpus;
    int64_t left_ns;
    bool take;
};

struct srtf {
    struct srtf_entry *entry;
    uint32_t count, room;
};

static void srtf_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct srtf *srtf = self;
    struct ask_id ask = cs_job_ask(host, job, CS_ALL_ROLES);

    if (srtf->count == srtf->room) {
        uint32_t room = srtf->room ? 2 * srtf->room : 256;
        struct srtf_entry *more =
            cs_alloc(host, room, sizeof(struct srtf_entry));
        for (uint32_t i = 0; i < srtf->count; i++)
            more[i] = srtf->entry[i];
        srtf->entry = more;
        srtf->room = room;
    }
    srtf->entry[srtf->count++] = (struct srtf_entry) {
        .job = job, .gpus = cs_ask(host, ask)->gpus
    };
}

static void srtf_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct srtf *srtf = self;
    uint32_t kept = 0;

    (void)host;
    for (uint32_t i = 0; i < srtf->count; i++)
        if (srtf->entry[i].job.i != job.i)
            srtf->entry[kept++] = srtf->entry[i];
    srtf->count = kept;
}

/* Insertion sort: stable, and the list is nearly in order already. */
static void srtf_sort(struct srtf *srtf, const struct cs_host *host)
{
    for (uint32_t i = 0; i < srtf->count; i++)
        srtf->entry[i].left_ns = cs_left_ns(host, srtf->entry[i].job);
    for (uint32_t i = 1; i < srtf->count; i++) {
        struct srtf_entry entry = srtf->entry[i];
        uint32_t j = i;
        while (j > 0 && entry.left_ns < srtf->entry[j - 1].left_ns) {
            srtf->entry[j] = srtf->entry[j - 1];
            j--;
        }
        srtf->entry[j] = entry;
    }
}

static bool srtf_waits(const struct cs_host *host, struct job_id job)
{
    return cs_job_ask(host, job, CS_ALL_ROLES).i != ID_NONE;
}

static void srtf_decide(void *self, struct cs_host *host)
{
    struct srtf *srtf = self;
    uint32_t room = cs_total_gpus(host, 0);

    srtf_sort(srtf, host);
    for (uint32_t i = 0; i < srtf->count; i++) {
        struct srtf_entry *entry = &srtf->entry[i];
        entry->take = entry->gpus <= room;
        if (entry->take)
            room -= entry->gpus;
    }
    for (uint32_t i = 0; i < srtf->count; i++)
        if (!srtf->entry[i].take && !srtf_waits(host, srtf->entry[i].job))
            cs_stop(host, srtf->entry[i].job);
    for (uint32_t i = 0; i < srtf->count; i++)
        if (srtf->entry[i].take && srtf_waits(host, srtf->entry[i].job))
            cs_start(host, cs_job_ask(host, srtf->entry[i].job,
                                      CS_ALL_ROLES));
}

const struct cs_policy srtf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "srtf",
    .summary = "shortest remaining time first, preempting",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct srtf),
    .decide = srtf_decide,
    .job_submitted = srtf_job_submitted,
    .job_ended = srtf_job_ended,
};
