/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * las.c - least attained service first, in GPU-seconds (2D-LAS), preempting.
 *
 * Nuyens and Wierman (2008) survey the one-machine case, Tiresias (Gu et al.,
 * NSDI 2019) counts time x GPUs.  The job that has had least goes first; no
 * length need be known.  Jobs that have had equally much share: every quantum,
 * while a job waits, all GPUs are dealt anew.  A short quantum is a fair
 * share and many preemptions; jobs of like length all end late (dlas is the
 * remedy).  Quanta end at multiples of their length, whenever a job came.
 */
#include "policies/due.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy las_policy;

struct las {
    int64_t quantum_ns;         /* parameter */
    bool news;                  /* a job came or ended */
    uint32_t free, waiting;     /* GPUs and jobs, after the last decision */
    int64_t dealt_ns;           /* the last deal; 0: none, or at the begin */
};

static const struct cs_param las_param[] = {
    { .key = "quantum", .type = CS_PARAM_TIME,
      .offset = offsetof(struct las, quantum_ns),
      .min = 0.001, .max = 1e9, .fallback = "600s",
      .help = "time between two deals while a job waits" },
};

/* Attained service grows while a job holds GPUs, by their number per second.  The key:
 * GPU-seconds that the job has had. */
static double las_key(const void *self, const struct cs_host *host,
                      struct job_id job)
{
    (void)self;
    return cs_attained_gpu_s(host, job);
}

/* How fast the key grows: by the GPUs that it holds.  Keys of waiting jobs stand
 * still. */
static double las_per_ns(const void *self, const struct cs_host *host,
                         struct job_id job)
{
    (void)self;
    return cs_attained_per_s(host, job) / 1e9;
}

static const struct cs_moving_key las_moving_key = {
    .key = las_key, .per_ns = las_per_ns, .rises = true
};

/* Any event makes a deal worth while. */
static void las_hear(void *self, struct cs_host *host, struct job_id job)
{
    struct las *las = self;

    (void)host;
    (void)job;
    las->news = true;
}

/* After a failure, GPUs may be free that a job waits for.  Where there are as many free GPUs and
 * waiting jobs as there were, it was passed over: it may not use these GPUs.  At the instant of a
 * deal other counts are its own work: nodes that come, a power cap that its jobs reach. */
static bool las_fits(const struct las *las, struct cs_host *host)
{
    struct cs_filter filter = { .gpus_max = cs_free_gpus(host, 0),
                                .estimate_max_ns = INT64_MAX };

    if (cs_now_ns(host) == las->dealt_ns ||
        (cs_free_gpus(host, 0) == las->free && cs_pending_count(host) == las->waiting))
        return false;
    return cs_find_pending(host, 0, &filter) < cs_pending_count(host);
}

/* Does nothing when a job has been loaded: that job would be the one that had most,
 * and jobs would throw each other out for ever without a step. */
static void las_decide(void *self, struct cs_host *host)
{
    struct las *las = self;

    if (cs_pending_count(host) > 0 &&   /* else all run as they do */
        (las->news || cs_is_due(host, las->quantum_ns) ||
         las_fits(las, host))) {
        las->dealt_ns = cs_now_ns(host);
        cs_reallocate_moving(host, &las_moving_key);
    }
    las->news = false;
    las->free = cs_free_gpus(host, 0);
    las->waiting = cs_pending_count(host);
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, clock_tick_after(cs_now_ns(host), las->quantum_ns));
}

const struct cs_policy las_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "las",
    .cites = "nuyens2008foreground gu2019tiresias",
    .summary = "least attained GPU-time first, preempting",
    .flags = CS_PREEMPTS | CS_TAKES_OVER | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .self_bytes = sizeof(struct las),
    .param = las_param,
    .param_count = sizeof las_param / sizeof las_param[0],
    .decide = las_decide,
    .job_submitted = las_hear,
    .job_ended = las_hear,
};
