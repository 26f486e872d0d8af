/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput_job.c - jobs of an application on a cluster: how long they are known
 * to be, and how much faster or slower they go elsewhere.
 *
 * A job is of known length to all that do not change batches: what it takes as
 * its owner asked for it.  Goodput changes from span to span, so a span has its
 * own part of that length; the same part is the same work on any GPUs.
 */
#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* The arrays have one element more than pools, so that a cluster without pools
 * still gets an address. */
struct goodput_pools goodput_pools_of(struct arena *arena,
                                      const struct application *app,
                                      const struct cluster_spec *cluster)
{
    assert(app != NULL);
    assert(cluster != NULL && cluster->pool_count > 0);
    uint32_t pools = cluster->pool_count;
    const struct goodput_speed **speed = arena_alloc(arena, pools + 1,
                                                     sizeof *speed);
    uint32_t *node_gpus = arena_alloc(arena, pools + 1, sizeof *node_gpus);

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];
        uint32_t pool = group->pool;
        if (group->gpus == 0 || group->gpu == NULL)
            continue;
        /* Groups of a pool may differ: the slowest type, the smallest node. */
        const struct goodput_speed *now =
            goodput_speed_of(app, group->gpu->name);
        bool first = node_gpus[pool] == 0;
        if (first || group->gpus < node_gpus[pool])
            node_gpus[pool] = group->gpus;
        if (first || now == NULL ||
            (speed[pool] && now->beta_c > speed[pool]->beta_c))
            speed[pool] = now;
    }
    return (struct goodput_pools) { speed, node_gpus, pools };
}

struct goodput_shape goodput_packed(const struct goodput_job *job,
                                    uint32_t pool, uint32_t gpus)
{
    uint32_t node = job->node_gpus[pool];

    assert(pool < job->pool_count && gpus > 0);
    if (node == 0)
        return (struct goodput_shape) { gpus, 1 };
    return (struct goodput_shape) { gpus, (gpus + node - 1) / node };
}

/* Effective samples/s; 0: it cannot run so. */
static double rate_at(const struct goodput_job *job, uint32_t pool,
                      struct goodput_shape shape, uint32_t span, bool tunes)
{
    assert(pool < job->pool_count);
    assert(shape.gpus > 0 && shape.nodes > 0);
    assert(span < job->app->noise.spans);
    const struct goodput_speed *speed = job->speed[pool];

    if (speed == NULL || (job->app->gpus_max > 0 &&
                          shape.gpus > job->app->gpus_max))
        return 0;
    return tunes ? goodput_best(job->app, speed, shape, span).goodput
                 : goodput_of(job->app, speed, shape, span,
                              job->batch).goodput;
}

/* Effective samples of the job in a span of its progress. */
static double span_work(const struct application *app, uint32_t span)
{
    assert(span < app->noise.spans);
    double from = span > 0 ? app->noise.until[span - 1] : 0;

    return app->work * (app->noise.until[span] - from);
}

/* As its owner asked, in the first pool where that can be. */
static double rate_asked(const struct goodput_job *job, uint32_t span)
{
    assert(span < job->app->noise.spans);
    double rate = 0;

    for (uint32_t p = 0; p < job->pool_count && !(rate > 0); p++)
        rate = rate_at(job, p, goodput_packed(job, p, job->gpus), span, false);
    return rate;
}

/* Progress is cut into the spans of the table of noise; when each of them ends is
 * computed with what the owner asked for.  False: there it makes no progress,
 * or never ends. */
bool goodput_job_make(const struct application *app,
                      const struct goodput_pools *pools, uint32_t gpus,
                      uint32_t batch, struct goodput_job *out)
{
    double end_s = 0;

    assert(gpus > 0);
    *out = (struct goodput_job) {
        .app = app, .gpus = gpus, .batch = batch, .speed = pools->speed,
        .node_gpus = pools->node_gpus, .pool_count = pools->pool_count,
    };
    for (uint32_t s = 0; s < app->noise.spans; s++) {
        double rate = rate_asked(out, s);
        if (!(rate > 0))
            return false;
        end_s += span_work(app, s) / rate;
        if (!clock_ns_from_s(end_s, &out->end_ns[s]))
            return false;
    }
    return true;
}

int64_t goodput_job_ns(const struct goodput_job *job)
{
    assert(job->app->noise.spans > 0);
    return job->end_ns[job->app->noise.spans - 1];
}

uint32_t goodput_job_span(const struct goodput_job *job, int64_t known_ns)
{
    assert(known_ns >= 0);
    uint32_t s = 0;

    while (s + 1 < job->app->noise.spans && known_ns >= job->end_ns[s])
        s++;
    return s;
}

/* Work of the span over the known time of it is the rate that it was measured
 * at. */
double goodput_speedup(const struct goodput_job *job, uint32_t pool,
                       struct goodput_shape shape, uint32_t span, bool tunes)
{
    int64_t from = span > 0 ? job->end_ns[span - 1] : 0;
    double asked_s = clock_s_from_ns(job->end_ns[span] - from);

    assert(pool < job->pool_count && span < job->app->noise.spans);
    /* A span shorter than half a nanosecond: its pace cannot be told. */
    if (!(asked_s > 0))
        return 0;
    return rate_at(job, pool, shape, span, tunes) * asked_s /
           span_work(job->app, span);
}

bool goodput_size_ok(const struct goodput_job *job, uint32_t gpus, bool tunes)
{
    assert(job != NULL);
    for (uint32_t p = 0; gpus > 0 && p < job->pool_count; p++)
        if (rate_at(job, p, goodput_packed(job, p, gpus), 0, tunes) > 0)
            return true;
    return false;
}

/* Each GPU needs local_min samples of the batch.  Never less than the job
 * requests. */
uint32_t goodput_gpus_max(const struct goodput_job *job, bool tunes)
{
    assert(job != NULL);
    uint32_t batch = tunes ? job->app->batch_max : job->batch;
    uint32_t most = batch / job->app->local_min;

    if (job->app->gpus_max > 0 && job->app->gpus_max < most)
        most = job->app->gpus_max;
    return most > job->gpus ? most : job->gpus;
}

/* Links only matter as within a node or between nodes: one node, or two. */
static void try_size(const struct goodput_job *job, uint32_t gpus, bool tunes,
                     struct goodput_least *least)
{
    assert(gpus > 0);
    assert(least != NULL);
    for (uint32_t p = 0; p < job->pool_count; p++)
        for (uint32_t nodes = 1; nodes <= 2 && nodes <= gpus; nodes++)
            for (uint32_t s = 0; s < job->app->noise.spans; s++) {
                struct goodput_shape shape = { gpus, nodes };
                double rate = rate_at(job, p, shape, s, tunes);
                if (!(rate > 0))
                    continue;
                least->sample_s[s] = fmin(least->sample_s[s], 1 / rate);
                least->sample_gpu_s[s] = fmin(least->sample_gpu_s[s],
                                              gpus / rate);
            }
}

void goodput_least_with(const struct goodput_job *job, uint32_t most,
                        bool tunes, struct goodput_least *least)
{
    assert(job != NULL && least != NULL);
    assert(most > 0);
    uint32_t to = goodput_gpus_max(job, tunes);

    /* More GPUs can be faster, or use fewer GPU-seconds, at any size: all are tried. */
    for (uint32_t g = 1; g <= to && g <= most; g++)
        try_size(job, g, tunes, least);
}

double goodput_least_s(const struct goodput_job *job,
                       const struct goodput_least *least, double *gpu_s)
{
    assert(job != NULL && least != NULL);
    assert(gpu_s != NULL);
    double s = 0;

    *gpu_s = 0;
    for (uint32_t i = 0; i < job->app->noise.spans; i++) {
        s += span_work(job->app, i) * least->sample_s[i];
        *gpu_s += span_work(job->app, i) * least->sample_gpu_s[i];
    }
    return s;
}
