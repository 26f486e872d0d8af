/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_gittins.c - an oracle: gittins by the definition of its index.
 *
 * A job that has had `a`, of a distribution S of lengths, has the index
 *     max over d > a of  P(a < S <= d) / E[min(S, d) - a ; S > a]
 * (Gittins 1989).  S is what has ended, each with the same chance.  So only
 * lengths that were seen need be tried for d, and both sides are sums over them.
 * No curve, no hull, no key that is kept: every job is looked at in each deal.
 */
#include <string.h>

#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy plain_gittins_policy;

#define ENDED_MAX 200u          /* from there on gittins.c waits for some */

struct plain_gittins {
    int64_t quantum_ns;
    double ended_s[ENDED_MAX];  /* ascending */
    uint32_t endeds;
    uint32_t free, waiting;     /* GPUs and jobs, after the last decision */
    int64_t dealt_ns;           /* when it last dealt */
    bool news;
};

static void job_submitted(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_gittins *g = self;

    (void)host;
    (void)job;
    g->news = true;
}

static void job_ended(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_gittins *g = self;
    double had_s = cs_attained_gpu_s(host, job);
    uint32_t i = g->endeds++;

    for (; i > 0 && g->ended_s[i - 1] > had_s; i--)
        g->ended_s[i] = g->ended_s[i - 1];
    g->ended_s[i] = had_s;
    g->news = true;
}

/* The lowest goes first: indexes are negated, and what has no index, since
 * nothing as long has ended, comes after all others by what it has had. */
static double index_key(const void *self, const struct cs_host *host,
                        struct job_id job)
{
    const struct plain_gittins *g = self;
    double had_s = cs_attained_gpu_s(host, job), best = 0, ends = 0, sum_s = 0;

    for (uint32_t i = 0; i < g->endeds; i++) {
        double more_s = g->ended_s[i] - had_s;
        if (!(more_s > 0))
            continue;
        ends++;
        sum_s += more_s;
        double index = ends / (sum_s + more_s * (g->endeds - 1 - i));
        best = index > best ? index : best;
    }
    return best > 0 ? -best : had_s;
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_gittins *g = self;
    int64_t now_ns = cs_now_ns(host);
    uint32_t waits = cs_pending_count(host);
    bool due = g->news || now_ns % g->quantum_ns == 0;
    bool failed = now_ns != g->dealt_ns &&
                  (cs_free_gpus(host, 0) != g->free || waits != g->waiting);

    for (uint32_t i = 0; failed && i < waits; i++)
        due |= cs_task(host, cs_pending(host, i))->gpus <= cs_free_gpus(host, 0);
    if (waits > 0 && due) {
        g->dealt_ns = now_ns;
        cs_reallocate(host, index_key);
    }
    g->news = false;
    g->free = cs_free_gpus(host, 0);
    g->waiting = cs_pending_count(host);
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, (now_ns / g->quantum_ns + 1) * g->quantum_ns);
}

const struct cs_policy plain_gittins_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "gittins",
    .summary = "highest Gittins index by its definition",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct plain_gittins),
    .decide = decide,
    .job_submitted = job_submitted,
    .job_ended = job_ended,
};
