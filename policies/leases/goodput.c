/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.c - jobs whose goodput is known: their pace on GPUs of a pool,
 * which changes from span to span of their progress, and what of their known
 * length passes in a time on a lease.
 *
 * Searching for the best batch takes some ten microseconds, so rates are kept, by
 * application (or job, where batches are not tuned), pool, GPUs, nodes and span,
 * in a hash table that is only looked up in, never walked.
 */
#include "policies/leases/goodput.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "policies/state/life.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* A slot of the hash table. */
struct known_rate {
    uint64_t key;               /* 0: free */
    double speedup;
};

/* The hash table, with linear probing.  It is at most half full. */
struct host_rates {
    struct known_rate *slot;
    uint64_t slots, count;      /* slots: a power of two */
};

/* May the host choose the batch of a job?  Without that it is its owner's. */
static bool tunes(const struct cs_host *host)
{
    return host->policy->flags & CS_TUNES_BATCHES;
}

/* Packs a question into 64 bits: the job or application in the upper 24, then
 * 16 bits of GPUs, 14 of nodes, 5 of the pool and 5 of the span.  Never 0: a
 * job has at least one GPU. */
static uint64_t key_of(const struct goodput_job *job, uint32_t pool,
                       struct goodput_shape shape, uint32_t span)
{
    assert(job->index < 1u << 24 && shape.gpus < 1u << 16);
    return (uint64_t)job->index << 40 | (uint64_t)shape.gpus << 24 |
           (uint64_t)(shape.nodes & 0x3fff) << 10 | pool << 5 | span;
}

/* Returns the slot of a key, or the free slot where it belongs. */
static struct known_rate *find(const struct host_rates *rates, uint64_t key)
{
    assert(key != 0 && rates->slots > rates->count);
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (rates->slots - 1);

    while (rates->slot[i].key != 0 && rates->slot[i].key != key)
        i = (i + 1) & (rates->slots - 1);
    return &rates->slot[i];
}

/* Doubles the table; its entries are filed again. */
static void grow(const struct cs_host *host, struct host_rates *rates)
{
    struct host_rates old = *rates;

    rates->slots = old.slots ? 2 * old.slots : 1024;
    rates->slot = arena_alloc(host->parts.arena, rates->slots,
                              sizeof *rates->slot);
    for (uint64_t i = 0; i < old.slots; i++)
        if (old.slot[i].key != 0)
            *find(rates, old.slot[i].key) = old.slot[i];
    assert(rates->slots > old.slots && 2 * rates->count <= rates->slots);
}

/* Returns the speedup in a span of the job's length; computes it once. */
static double speedup_at(const struct cs_host *host, const struct goodput_job *job,
                         uint32_t pool, struct goodput_shape shape, uint32_t span)
{
    uint64_t key = key_of(job, pool, shape, span);

    assert(pool < host->spec->pool_count && shape.nodes >= 1);
    if (2 * host->life->rates->count >= host->life->rates->slots)
        grow(host, host->life->rates);
    struct known_rate *known = find(host->life->rates, key);

    if (known->key == 0) {
        *known = (struct known_rate) {
            key, goodput_speedup(job, pool, shape, span, tunes(host))
        };
        host->life->rates->count++;
    }
    assert(known->speedup >= 0);
    return known->speedup;
}

void host_goodput_init(struct cs_host *host)
{
    assert(host->life->rates == NULL);
    host->life->rates = arena_alloc(host->parts.arena, 1, sizeof *host->life->rates);
}

double host_goodput_speedup(const struct cs_host *host,
                            const struct goodput_job *job, int64_t done_ns,
                            uint32_t pool, struct goodput_shape shape)
{
    assert(done_ns >= 0);
    return speedup_at(host, job, pool, shape, goodput_job_span(job, done_ns));
}

bool host_goodput_ok(const struct cs_host *host,
                     const struct goodput_job *job, uint32_t gpus)
{
    assert(job->app != NULL);
    return gpus > 0 && gpus <= goodput_gpus_max(job, tunes(host)) &&
           host_goodput_pools(host, job, gpus) != 0;
}

uint32_t host_goodput_gpus_max(const struct cs_host *host,
                               const struct goodput_job *job)
{
    assert(job->app != NULL);
    return goodput_gpus_max(job, tunes(host));
}

/* A job that can run at the beginning (span 0), packed on as few nodes as
 * possible, can run. */
uint32_t host_goodput_pools(const struct cs_host *host,
                            const struct goodput_job *job, uint32_t gpus)
{
    uint32_t mask = 0;

    assert(gpus > 0);
    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (speedup_at(host, job, p, goodput_packed(job, p, gpus), 0) > 0)
            mask |= 1u << p;
    return mask;
}

/* Returns the speedup on a placement in a span.  GPUs of several pools work
 * together as fast as the slowest of them. */
static double speedup_on(const struct cs_host *host, const struct goodput_job *job,
                         const struct placement *place, uint32_t span)
{
    struct goodput_shape shape = { placement_gpus(place), place->share_count };
    uint32_t before = UINT32_MAX;
    double speedup = INFINITY;

    assert(place->share_count > 0 && shape.gpus > 0);
    for (uint32_t i = 0; i < place->share_count; i++) {
        uint32_t pool = cluster_group_of(host->spec, place->share[i].node)
                            ->pool;
        if (pool != before)
            speedup = fmin(speedup, speedup_at(host, job, pool, shape, span));
        before = pool;
    }
    return speedup;
}

double host_goodput_on(const struct cs_host *host,
                       const struct goodput_job *job, int64_t done_ns,
                       const struct placement *place)
{
    double speedup = speedup_on(host, job, place, goodput_job_span(job, done_ns));

    assert(speedup > 0);
    return speedup;
}

/* Sums over the spans: each has a speedup of its own.  Example: 100 s of
 * length, of which the first 60 s lie in a span of speedup 2 and the rest in
 * one of speedup 4, take 30 + 10 = 40 s.  Rounded up. */
int64_t host_goodput_ran_ns(const struct cs_host *host, const struct goodput_job *job,
                            const struct placement *place, int64_t from_ns,
                            int64_t to_ns)
{
    double ran = 0;

    assert(from_ns >= 0);
    for (uint32_t s = goodput_job_span(job, from_ns);
         from_ns < to_ns && s < job->app->noise.spans; s++) {
        int64_t end = to_ns < job->end_ns[s] ? to_ns : job->end_ns[s];
        ran += (double)(end - from_ns) / speedup_on(host, job, place, s);
        from_ns = end;
    }
    assert(ran >= 0);
    return (int64_t)fmin(ceil(ran), 4e18);
}

/* The inverse of host_goodput_ran_ns(), rounded down: it goes through the spans
 * as long as there is time. */
int64_t host_goodput_known_ns(const struct cs_host *host,
                              const struct goodput_job *job,
                              const struct placement *place, int64_t from_ns,
                              int64_t ran_ns)
{
    double left = (double)ran_ns;
    int64_t at = from_ns;

    assert(from_ns >= 0 && ran_ns >= 0);
    for (uint32_t s = goodput_job_span(job, from_ns);
         left > 0 && s < job->app->noise.spans; s++) {
        double speedup = speedup_on(host, job, place, s);
        double takes = (double)(job->end_ns[s] - at) / speedup;
        if (takes > left)
            return clock_after(at - from_ns, (int64_t)floor(left * speedup));
        left -= takes;
        at = job->end_ns[s];
    }
    assert(at >= from_ns);
    return at - from_ns;
}
