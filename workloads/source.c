/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - the stream of jobs of a trial, drawn from a mix or read from a trace.
 *
 * What a job is like is fixed by (seed, replica, number of the job) alone:
 * kind, steps, limit, deadline and lengths come from streams of their own that
 * begin anew with every job, so that a change of one key, or of the arrival
 * rate, moves nothing else (common random numbers).
 */
#include "workloads/source.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/cluster/place.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "workloads/jobs/birth.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/trace.h"
#include "workloads/workload_spec.h"

/* The stream of one trial. */
struct source {
    const struct workload_spec *spec;   /* shared by all trials */
    uint64_t seed;              /* of the experiment; replica: the trial's */
    uint32_t replica;
    uint64_t jobs;              /* given so far; the number of the next one */
    struct arrival_clock clock; /* of a mix */
    struct trace *trace;        /* NULL: a mix, or services alone */
};

/* Opens the stream of jobs of one seed and replica.  The spec is shared with
 * other trials and is not changed. */
struct source *source_open(struct arena *arena,
                           const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica)
{
    struct source *source = arena_alloc(arena, 1, sizeof *source);

    assert(spec != NULL);
    source->spec = spec;
    source->seed = seed;
    source->replica = replica;
    if (spec->trace == NULL && spec->entry_count == 0)
        return source;                  /* services alone: no jobs */
    if (spec->trace == NULL) {
        arrival_start(&source->clock, &spec->arrival, seed, replica);
        return source;
    }
    source->trace = trace_open(arena, spec->trace, seed, replica);
    return source;
}

/* Returns the stream of one property of the job that is being made.  Its key
 * holds the replica and the number of the job, so it begins anew for each job. */
static struct rng job_stream(const struct source *source, const char *name)
{
    struct rng rng;

    rng_init(&rng, source->seed, name,
             (uint64_t)source->replica << 32 | source->jobs);
    return rng;
}

/* Draws a time in ns, at least 1. CLOCK_NEVER_NS: it does not fit in 63 bits. */
static int64_t draw_time(const struct source *source, const char *stream,
                         const struct distribution *distribution)
{
    struct rng rng = job_stream(source, stream);
    int64_t ns;

    if (!clock_ns_from_s(distribution_draw(distribution, &rng), &ns))
        return CLOCK_NEVER_NS;
    return ns > 0 ? ns : 1;
}

/* Draws the length of a job in whole runs of its graph, at least one. */
static uint32_t draw_steps(const struct source *source,
                           const struct entry *entry)
{
    struct rng rng = job_stream(source, "steps");
    double steps = distribution_draw(&entry->steps, &rng);
    double runs = round(steps / entry->form->round_steps);

    if (!(runs >= 1.0))
        return 1;
    return runs < 1e9 ? (uint32_t)runs : 1000000000u;
}

/* Draws size, length and limit of a job of recipe `trace`. The limit is the
 * length and what goes beyond it, so a factor of 1 gives the length exactly. */
static void make_whole(const struct source *source, const struct entry *entry,
                       struct job_birth *birth)
{
    struct job_request *request = &birth->request;
    const int64_t most_ns = (int64_t)WHOLE_JOB_MAX_S * CLOCK_NS_PER_S;
    struct rng gpus = job_stream(source, "gpus");
    struct rng limit = job_stream(source, "limit");
    int64_t ns = draw_time(source, "duration", &entry->duration);

    ns = ns < most_ns ? ns : most_ns;
    birth->truth.duration_ns = ns;
    double drawn = distribution_draw(&entry->gpus, &gpus);
    request->gpus = drawn < 1.0 ? 1 : (uint32_t)drawn;
    request->gpu_milli = drawn < 1.0 ? (uint32_t)rint(drawn * 1000.0) : 0;
    request->steps = 1;
    request->rates = entry->rates;
    request->rate_known = 1.0;
    if (!entry->limit_is_factor)
        return;
    /* What goes beyond the run time is rounded: a factor of 1 is exact. */
    double beyond = fmin(distribution_draw(&entry->limit, &limit), 1e9) - 1.0;
    int64_t more_ns = clock_ns_for_work(beyond, 1e9 / (double)ns);
    request->limit_ns = clock_after(ns, more_ns);
}

/* Draws a job: first which entry it is of, then each of its properties from a
 * stream of its own. */
static void make_job(const struct source *source, int64_t now_ns,
                     struct job_birth *birth)
{
    const struct workload_spec *spec = source->spec;
    struct rng mix = job_stream(source, "mix");
    struct rng truth = job_stream(source, "truth");
    const struct entry *entry =
        &spec->entry[rng_pick(&mix, spec->share, spec->entry_count)];
    struct job_request *request = &birth->request;
    int64_t after_ns;

    memset(birth, 0, sizeof *birth);
    request->id.i = (uint32_t)source->jobs;
    request->tenant = entry->tenant;
    request->form = entry->form;
    request->submit_ns = now_ns;
    request->priority = entry->priority;
    if (entry->whole)
        make_whole(source, entry, birth);
    else
        request->steps = draw_steps(source, entry) + entry->form->lag;
    request->deadline_ns = CLOCK_NEVER_NS;
    if (entry->has_limit)
        request->limit_ns = draw_time(source, "limit", &entry->limit);
    if (entry->has_deadline) {
        after_ns = draw_time(source, "deadline", &entry->deadline);
        if (clock_after(now_ns, after_ns) < CLOCK_NEVER_NS)
            request->deadline_ns = clock_after(now_ns, after_ns);
    }
    birth->truth.seed = rng_u64(&truth);
}

/* Jobs come in order of time.  The stream ends with the span, with the number
 * of jobs, or with the trace. */
enum source_step source_next(struct source *source, struct job_birth *birth,
                             struct err *err)
{
    int64_t now_ns;

    if (source->trace != NULL)
        return trace_next(source->trace, birth, err);
    if (source->spec->entry_count == 0 ||
        source->jobs >= source->spec->jobs_max || source->jobs >= ID_NONE)
        return SOURCE_END;
    now_ns = arrival_next(&source->clock);
    if (now_ns >= source->spec->for_ns)
        return SOURCE_END;
    make_job(source, now_ns, birth);
    source->jobs++;
    return SOURCE_JOB;
}

/* Returns what a job asks of one node; a gang is taken to lie on one node.
 * Cores are counted in thousandths. */
static struct place_demand find_demand(const struct job_request *request)
{
    const struct role_spec *role = &request->form->role[0];
    uint32_t gpus = job_role_gpus(request, 0);
    struct place_demand out = {
        .task = { .core_milli = role->core_milli, .gpus = gpus,
                 .gpu_milli = gpus > 0 ? job_role_milli(request, 0) : 0 },
        .gpu_types = role->gpu_types, .jobs = 1,
        .gpu_type_count = role->gpu_type_count,
    };

    if (!role->pod)
        out.task.core_milli = (int64_t)role->cores *
                             (gpus > 0 ? gpus * out.task.gpu_milli : 1000);
    return out;
}

/* Kinds of jobs while they are collected for placement rules. */
struct demands {
    struct arena *arena;        /* of the experiment */
    struct place_demand *item;  /* [count], each kind once */
    size_t count, room;
};

/* Counts a job with those that ask for the same.  Kinds are few, and are
 * searched from the first on.  Lists of types are compared by address: jobs of
 * one kind share theirs. */
static void count_demand(struct demands *all, const struct place_demand *one)
{
    for (size_t i = 0; i < all->count; i++) {
        struct place_demand *item = &all->item[i];
        if (item->task.core_milli == one->task.core_milli &&
            item->task.gpus == one->task.gpus &&
            item->task.gpu_milli == one->task.gpu_milli &&
            item->gpu_types == one->gpu_types) {
            item->jobs++;
            return;
        }
    }
    ARENA_ADD(all->arena, all->item, all->count, all->room, *one);
}

/* A trace is read in the order of its file, since a resample would draw other
 * jobs for each replica. */
bool workload_demand(struct arena *arena, const struct workload_spec *spec,
                     uint64_t seed, const struct place_demand **demand,
                     size_t *count, struct err *err)
{
    struct demands all = {.arena = arena};
    struct arena *scratch = arena_new(0);
    struct source *source = source_open(scratch, spec, seed, TRACE_AS_FILED);
    enum source_step step = SOURCE_ERROR;
    struct job_birth birth;

    while ((spec->trace != NULL || source->jobs < DEMAND_DRAWN) &&
           (step = source_next(source, &birth, err)) == SOURCE_JOB) {
        struct place_demand one = find_demand(&birth.request);
        count_demand(&all, &one);
    }
    arena_free(scratch);
    *demand = all.item;
    *count = all.count;
    return step != SOURCE_ERROR;
}
