/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_serve.c - a replica that a service wants becomes a job; a lease that
 * is ready becomes a replica; what the job cost is the service's.
 *
 * It stands between the service (models/serving), which knows requests and how many
 * replicas it wants, and the host, which knows jobs and leases.  Neither knows the
 * other.
 */
#include "experiments/run/trial_serve.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "models/serving/service.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/stats/tally.h"
#include "sim/text/table.h"
#include "workloads/requests/request_source.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define NAME_BYTES 96u

/* A service of the trial. */
struct served {
    struct trial_serve *serve;  /* of all services: for calls that come back */
    const struct service_entry *entry;      /* what the workload says of it */
    struct service_mass_source mass;        /* how many requests came until a time */
    struct service *service;    /* the engine: queues, batches, replicas */
    struct service_ops ops;     /* how the engine asks for replicas and lets them go */
    const struct service_result *result;    /* NULL until the trial ends */
    struct request_source *source;          /* requests one by one */
    uint32_t *job;              /* by replica: the job that holds its GPUs */
    uint32_t jobs, job_room;
    double usd, joules, gpu_s, core_s;      /* of jobs of replicas that have ended */
};

/* Whose job it is. */
struct replica_job {
    uint32_t service, replica;  /* service ID_NONE: a user's job */
};

/* All services of a trial: it stands between the engines and the host, to which a
 * replica is a job. */
struct trial_serve {
    struct trial_serve_parts parts; /* what trial_serve_new() was given */
    struct cs_host *host;       /* replicas are submitted to it as jobs */
    struct served *served;      /* in the order of the workload */
    uint32_t count;             /* of them */
    struct replica_job *owner;  /* by job */
    uint32_t owners;            /* entries of `owner` */
};

static void hear(void *self, const struct fact *fact);

struct trial_serve *trial_serve_new(const struct trial_serve_parts *parts)
{
    size_t count = workload_service_count(parts->spec->workload);
    struct trial_serve *t;

    if (count == 0)
        return NULL;
    t = arena_alloc(parts->arena, 1, sizeof *t);
    t->parts = *parts;
    t->count = (uint32_t)count;
    t->served = arena_alloc(parts->arena, count, sizeof *t->served);
    journal_listen(parts->journal, ~UINT64_C(0), hear, t);
    return t;
}

void trial_serve_free(struct trial_serve *t)
{
    for (uint32_t i = 0; t != NULL && i < t->count; i++) {
        service_free(t->served[i].service);
        request_source_close(t->served[i].source);
    }
}

/* ---- replicas as jobs --------------------------------------------------- */

/* Notes that a job is a replica of a service.  Jobs that came between are those of
 * users. */
static void own(struct trial_serve *t, uint32_t job, uint32_t service,
                uint32_t replica)
{
    uint32_t old = t->owners;

    ARENA_REACH(t->parts.arena, t->owner, t->owners, job);
    for (uint32_t j = old; j < t->owners; j++)
        t->owner[j].service = ID_NONE;
    t->owner[job] = (struct replica_job) { service, replica };
}

/* The service wants one more replica: submits it as a job of one phase.  Replicas
 * are numbered from 0 by the service, in order. */
static void start(void *self, uint32_t replica, enum serve_side side)
{
    struct served *s = self;
    struct trial_serve *t = s->serve;
    const struct service_spec *spec = &s->entry->spec;
    uint32_t job = host_job_count(t->host);
    char *name = arena_alloc(t->parts.arena, NAME_BYTES, 1);
    struct job_request request = {
        .id = { job }, .name = name, .tenant = spec->tenant,
        .form = spec->side[side].form,
        .submit_ns = loop_now_ns(t->parts.loop),
        .deadline_ns = CLOCK_NEVER_NS, .priority = spec->priority, .steps = 1,
    };
    struct job_truth truth = { .seed = replica };

    snprintf(name, NAME_BYTES, "%.80s-%u", spec->name, replica);
    assert(replica == s->jobs);
    ARENA_ADD(t->parts.arena, s->job, s->jobs, s->job_room, job);
    own(t, job, (uint32_t)(s - t->served), replica);
    host_submit(t->host, &request, &truth);
}

/* The service no longer wants a replica: its job ends, and is done. */
static void stop(void *self, uint32_t replica)
{
    struct served *s = self;

    host_serve_end(s->serve->host, (struct job_id) { s->job[replica] });
}

/* The service says how busy a replica is: `share` for its power, `mean` for its
 * GPU time.  More than 1 (requests that wait) is busy. */
static void busy(void *self, uint32_t replica, double share, double mean)
{
    struct served *s = self;

    host_serve_busy(s->serve->host, (struct job_id) { s->job[replica] },
                    fmin(1, share), fmin(1, mean));
}

/* ---- what the host tells ------------------------------------------------ */

/* Returns the host memory of a placement, in bytes. */
static double host_bytes(const struct placement *placement)
{
    double bytes = 0;

    for (uint32_t i = 0; i < placement->share_count; i++)
        bytes += (double)placement->share[i].memory_bytes;
    return bytes;
}

/* Adds what a replica cost to its service, when its job has ended. */
static void settle(struct served *s, const struct host_job *job)
{
    s->usd += job->usd;
    s->joules += job->joules;
    s->gpu_s += job->gpu_seconds;
    s->core_s += job->core_seconds;
}

/* A replica has its lease and may serve, loses it, or has ended.  Facts of jobs of
 * users are passed over. */
static void hear(void *self, const struct fact *fact)
{
    struct trial_serve *t = self;
    bool of_job = fact->kind == FACT_JOB_END;
    bool of_lease = fact->kind == FACT_LEASE_READY ||
                    fact->kind == FACT_LEASE_LEAVE ||
                    fact->kind == FACT_LEASE_DROP;
    uint32_t job = of_job ? fact->subject : fact->object;

    if ((!of_job && !of_lease) || job >= t->owners ||
        t->owner[job].service == ID_NONE)
        return;
    struct served *s = &t->served[t->owner[job].service];
    struct lease_id lease = { fact->subject };
    if (of_job)
        settle(s, host_job(t->host, (struct job_id) { job }));
    else if (fact->kind == FACT_LEASE_READY)
        service_ready(s->service, t->owner[job].replica,
                      host_gang(t->host, lease),
                      host_bytes(&cs_lease(t->host, lease)->placement));
    else
        service_lost(s->service, t->owner[job].replica);
}

/* ---- the run ------------------------------------------------------------ */

/* Returns the seed of what a service draws itself.  Seeds of the experiment and numbers of
 * trials must not add up: trial 1 of seed 2 is no trial of seed 1. */
static uint64_t draw_seed(const struct trial_spec *spec, const char *service)
{
    struct rng rng;

    rng_init(&rng, spec->seed ^ rng_hash_text(service), "service", spec->replica);
    return rng_u64(&rng);
}

void trial_serve_begin(struct trial_serve *t, struct cs_host *host)
{
    const struct trial_spec *spec = t->parts.spec;

    t->host = host;
    for (uint32_t i = 0; i < t->count; i++) {
        struct served *s = &t->served[i];

        s->serve = t;
        s->entry = workload_service(spec->workload, i);
        s->ops = (struct service_ops) { start, stop, busy, s };
        s->source = request_source_open(t->parts.arena, s->entry, spec->seed,
                                        spec->replica);
        struct service_parts parts = {
            t->parts.arena, t->parts.loop, &s->entry->spec, &s->ops,
            request_source_next, s->source,
            draw_seed(spec, s->entry->spec.name),
            spec->warmup_ns, NULL,
        };
        s->mass = (struct service_mass_source) {
            request_source_count, request_source_draw, s->entry->for_ns,
            request_source_expected(s->source), request_source_gap_cv(s->source),
        };
        if (s->entry->spec.aggregate_ns > 0)
            parts.mass = &s->mass;
        s->service = service_new(&parts);
        if (parts.mass != NULL)
            service_sample(s->service);
    }
    for (uint32_t i = 0; i < t->count; i++)
        service_begin(t->served[i].service);
}

bool trial_serve_verdict(const struct trial_serve *t, struct err *err)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!request_source_verdict(t->served[i].source, err))
            return false;
    return true;
}

/* Requests that came so far: as long as they come, the run makes progress. */
uint64_t trial_serve_requests(const struct trial_serve *t)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < t->count; i++)
        count += service_traffic(t->served[i].service);
    return count;
}

void trial_serve_stop(struct trial_serve *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->served[i].result = service_close(t->served[i].service);
}

/* Returns the mean; NAN without samples, which is an empty cell. */
static double mean_or_nan(const struct tally *tally)
{
    return tally->count > 0 ? tally->mean : NAN;
}

/* Writes mean, median, 95th and 99th percentile of times in seconds; empty without
 * samples. */
static void put_times(struct table *table, const struct tally *tally,
                      struct quantile *q)
{
    static const double p[] = { 0.5, 0.95, 0.99 };

    table_real_or_empty(table, mean_or_nan(tally));
    for (int i = 0; i < 3; i++)
        table_real_or_empty(table, tally->count > 0 ? quantile_at(q, p[i]) : NAN);
}

/* Writes the replicas of one side: the most at a time, starts, hours, busy
 * fraction. */
static void put_side(struct table *table, const struct service_result *r,
                     enum serve_side side)
{
    const struct service_side_result *of = &r->side[side];

    table_count(table, of->most);
    table_count(table, of->starts);
    table_real_or_empty(table, of->replica_s / 3600);
    table_real_or_empty(table, of->replica_s > 0 ? of->busy_s / of->replica_s : NAN);
}

/* Writes the row of a service into services.csv, in the order of its columns. */
static void row(const struct served *s, struct table *table)
{
    const struct trial_spec *spec = s->serve->parts.spec;
    const struct service_result *r = s->result;

    table_text(table, spec->point);
    table_text(table, spec->policy->name);
    table_count(table, spec->replica);
    table_text(table, s->entry->spec.name);
    table_count(table, r->requests);
    table_count(table, r->done);
    table_count(table, r->dropped);
    table_count(table, r->refused);
    table_count(table, r->unfinished);
    table_count(table, r->rerouted);
    table_count(table, r->recomputed);
    put_times(table, &r->ttft, r->ttft_q);
    put_times(table, &r->tpot, r->tpot_q);
    put_times(table, &r->latency, r->latency_q);
    table_real_or_empty(table, r->measured > r->open
                                   ? (double)r->in_slo / (double)(r->measured - r->open)
                                   : NAN);
    table_real_or_empty(table, r->span_s > 0 ? (double)r->in_slo / r->span_s : NAN);
    table_real_or_empty(table, r->span_s > 0 ? r->tokens / r->span_s : NAN);
    put_side(table, r, SERVE_GPU);
    put_side(table, r, SERVE_CPU);
    table_real_or_empty(table, s->gpu_s / 3600);
    table_real_or_empty(table, s->core_s / 3600);
    table_real_or_empty(table, s->usd);
    table_real_or_empty(table, r->done > 0 ? s->usd / (double)r->done * 1e6 : NAN);
    table_real_or_empty(table, s->joules / 3.6e6);
    table_real_or_empty(table, r->prompt_tokens > 0 ? r->known_tokens / r->prompt_tokens
                                    : NAN);
    table_end_row(table);
}

void trial_serve_result(struct trial_serve *t, struct table *table,
                        struct trial_result *result)
{
    uint64_t judged = 0, in_slo = 0, done = 0, came = 0, answered = 0;
    double *value = result->value, usd = 0, slowest = NAN;

    for (uint32_t i = 0; i < t->count; i++) {
        judged += t->served[i].result->measured - t->served[i].result->open;
        in_slo += t->served[i].result->in_slo;
        done += t->served[i].result->done;
        came += t->served[i].result->measured;
        answered += t->served[i].result->answered;
        usd += t->served[i].usd;
        if (t->served[i].result->latency.count > 0)
            slowest = fmax(slowest, quantile_at(
                t->served[i].result->latency_q, 0.99));
        if (table != NULL)
            row(&t->served[i], table);
    }
    if (came > 0) {
        value[METRIC_SLO] = judged > 0 ? (double)in_slo / (double)judged : 1;
        value[METRIC_SLO_COUNT] = (double)judged;
    }
    value[METRIC_REQUESTS] = (double)came;
    value[METRIC_REQUESTS_DONE] = (double)answered;
    value[METRIC_SERVICE_COST] = usd;
    value[METRIC_SERVICE_MILLION] = done > 0 ? usd / (double)done * 1e6 : NAN;
    value[METRIC_SERVICE_LATENCY] = slowest;
}
