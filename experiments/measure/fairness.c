/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fairness.c - see fairness.h.
 *
 * Invariant: integrals are sums of whole numbers (jobs, or thousandths of GPUs,
 * times nanoseconds), so they do not depend on how time was cut.  If every job
 * has a tenant, what tenants held adds up to what jobs held.
 */
#include "experiments/measure/fairness.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/measure/metrics.h"
#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"
#include "sim/stats/tally.h"
#include "sim/text/table.h"

__extension__ typedef __int128 wide;

#define NONE UINT32_MAX

/* Jobs that came one after the other. */
#define JOBS_TOGETHER 512u
struct fair_jobs {
    struct {
        wide area;              /* jobs x ns in the system when it came */
        uint32_t tenant;        /* NONE: it has none, is a replica, or ended */
    } job[JOBS_TOGETHER];
    uint32_t left;              /* jobs that came and have not ended */
    struct fair_jobs *next;     /* spare */
};

struct level {                  /* thousandths of GPUs over time */
    int64_t now, since_ns;      /* since_ns: up to when `area` counts */
    wide area;                  /* thousandths of GPUs x ns */
};

struct tenant {
    const char *name;           /* of the workload */
    uint64_t jobs, done;        /* those that count */
    struct level held, asked;   /* asked: of its jobs in the system */
    double usd;                 /* of its jobs that have ended */
    struct tally jct, wait, slowdown, rho;      /* of jobs that count and are done */
};

struct fairness {
    struct metrics_parts parts;
    const struct cs_host *host;
    int64_t from_ns, last_ns;
    double all_milli;           /* of all GPUs */
    int64_t in_system;          /* jobs, no replicas; */
    wide area;                  /* ... x ns, up to last_ns */
    struct fair_jobs **jobs, *spare;    /* jobs: by id / JOBS_TOGETHER */
    uint32_t jobs_room, block;  /* block: of the last job that came */
    double rho_sum, rho_max;    /* rho: JCT over that on a fair share */
    uint64_t rhos, over;        /* jobs with a rho, with one above 1 */
    struct tenant *tenant;      /* in the order in which they came */
    uint32_t count, room, last; /* last: that was found */
    struct level *envy;         /* by tenant and other; NULL: below 2 */
};

/* Sets a level from now on, and integrates what it was. */
static void level_set(struct level *level, int64_t to, int64_t now)
{
    level->area += (wide)level->now * (now - level->since_ns);
    level->since_ns = now;
    level->now = to;
}

/* Returns the integral of a level up to end_ns, in GPU-seconds. */
static double level_s(const struct level *level, int64_t end_ns)
{
    wide area = level->area + (wide)level->now * (end_ns - level->since_ns);

    return (double)area / 1e9 / GPU_MILLI;
}

/* ---- tenants ------------------------------------------------------------ */

/* Returns how many GPUs more, in thousandths, tenant i would use now if it had those of j:
 * what j holds, but no more than i asks for, less what i holds. 0 or more. */
static int64_t wants(const struct tenant *i, const struct tenant *j)
{
    int64_t most = j->held.now < i->asked.now ? j->held.now : i->asked.now;

    return most > i->held.now ? most - i->held.now : 0;
}

/* Counts from now on whether tenant i would rather have what j has. */
static void compare_pair(struct fairness *f, uint32_t i, uint32_t j, int64_t now)
{
    struct level *envy = &f->envy[i * FAIRNESS_TENANTS_MAX + j];
    int64_t to = wants(&f->tenant[i], &f->tenant[j]);

    if (to != envy->now)
        level_set(envy, to, now);
}

/* A tenant holds or asks for something else: it is compared with all others, both
 * ways.  Beyond FAIRNESS_TENANTS_MAX tenants nothing is compared, for it would cost
 * their square. */
static void tenant_moved(struct fairness *f, uint32_t i, int64_t now)
{
    if (f->envy == NULL || f->count > FAIRNESS_TENANTS_MAX)
        return;
    for (uint32_t j = 0; j < f->count; j++)
        if (j != i) {
            compare_pair(f, i, j, now);
            compare_pair(f, j, i, now);
        }
}

/* Returns the number of a tenant, or count.  The last one asked for is looked at
 * first: jobs of a tenant come in bursts. */
static uint32_t tenant_find(const struct fairness *f, const char *name)
{
    uint32_t t = 0;

    if (f->count > 0 && strcmp(f->tenant[f->last].name, name) == 0)
        return f->last;
    while (t < f->count && strcmp(f->tenant[t].name, name) != 0)
        t++;
    return t;
}

/* Returns the number of a tenant, which is added if it is new.  Envy is kept once
 * there are two. */
static uint32_t tenant_of(struct fairness *f, const char *name, int64_t now)
{
    uint32_t t = tenant_find(f, name);

    f->last = t;
    if (t < f->count)
        return t;
    struct tenant made = { .name = arena_text(f->parts.arena, name),
                           .held.since_ns = f->from_ns,
                           .asked.since_ns = f->from_ns };
    ARENA_ADD(f->parts.arena, f->tenant, f->count, f->room, made);
    if (f->count == 2) {
        f->envy = arena_alloc(f->parts.arena,
                              FAIRNESS_TENANTS_MAX * FAIRNESS_TENANTS_MAX,
                              sizeof *f->envy);
        for (uint32_t p = 0; p < FAIRNESS_TENANTS_MAX * FAIRNESS_TENANTS_MAX; p++)
            f->envy[p].since_ns = now;
    }
    tenant_moved(f, t, now);
    return t;
}

/* Changes what a tenant holds and asks for, in thousandths of GPUs. */
static void tenant_add(struct fairness *f, uint32_t t, int64_t held,
                       int64_t asked, int64_t now)
{
    struct tenant *tenant = &f->tenant[t];

    level_set(&tenant->held, tenant->held.now + held, now);
    level_set(&tenant->asked, tenant->asked.now + asked, now);
    assert(tenant->held.now >= 0 && tenant->asked.now >= 0);
    tenant_moved(f, t, now);
}

/* ---- jobs --------------------------------------------------------------- */

/* Returns the GPUs that a job asks for in all roles, in thousandths. */
static int64_t asked_milli(const struct job_request *request)
{
    int64_t milli = 0;

    if (request->form->role_count == 1 && request->gpus > 0 &&
        request->gpu_milli == 0)
        return (int64_t)request->gpus * GPU_MILLI;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        milli += (int64_t)job_role_gpus(request, r) * job_role_milli(request, r);
    return milli;
}

/* A block serves others when all of its jobs have come and ended. */
static void spare_block(struct fairness *f, uint32_t block)
{
    struct fair_jobs *jobs = f->jobs[block];

    if (jobs == NULL || jobs->left > 0 || block == f->block)
        return;
    jobs->next = f->spare;
    f->spare = jobs;
    f->jobs[block] = NULL;
}

/* Returns the block of a job, made when its first job comes.  Blocks whose jobs
 * have all ended are used again, so memory follows the jobs in the system. */
static struct fair_jobs *block_of(struct fairness *f, uint32_t job)
{
    uint32_t block = job / JOBS_TOGETHER, before = f->block;

    ARENA_REACH(f->parts.arena, f->jobs, f->jobs_room, block);
    if (f->jobs[block] != NULL)
        return f->jobs[block];
    f->block = block;
    spare_block(f, before);
    struct fair_jobs *jobs = f->spare;
    if (jobs != NULL)
        f->spare = jobs->next;
    else
        jobs = arena_alloc(f->parts.arena, 1, sizeof *jobs);
    jobs->left = 0;
    for (uint32_t i = 0; i < JOBS_TOGETHER; i++)
        jobs->job[i].tenant = NONE;
    f->jobs[block] = jobs;
    return jobs;
}

/* Integrates the jobs in the system up to now, and changes their number. */
static void population(struct fairness *f, int64_t now, int change)
{
    f->area += (wide)f->in_system * (now - f->last_ns);
    f->last_ns = now;
    f->in_system += change;
}

void fairness_submitted(struct fairness *f, const struct host_job *job,
                        int64_t now)
{
    const struct job_request *request = &job->request;
    struct fair_jobs *jobs = block_of(f, request->id.i);
    uint32_t at = request->id.i % JOBS_TOGETHER, t;

    population(f, now, +1);
    jobs->job[at].area = f->area;
    jobs->left++;
    if (request->tenant == NULL || request->tenant[0] == '\0')
        return;
    jobs->job[at].tenant = t = tenant_of(f, request->tenant, now);
    f->tenant[t].jobs += now >= f->parts.spec->warmup_ns;
    tenant_add(f, t, 0, asked_milli(request), now);
}

/* Converts in one step where the number fits into 64 bits, as it does but for
 * the longest queues. */
static double double_of(wide area)
{
    return (int64_t)area == area ? (double)(int64_t)area : (double)area;
}

/* Returns finish-time fairness of a job (Mahajan et al.  2020): its time, in
 * parts of the time that it would have taken alone on its share of the cluster.
 * `area`: jobs x ns up to its arrival.  Example: 4 jobs are there on 8 GPUs,
 * and each asks for 4.  A share is 2 GPUs, half of what the job asks for, so
 * alone it would have taken twice its ideal time. */
static double rho_of(const struct fairness *f, const struct host_job *job,
                     wide area, int64_t now)
{
    int64_t jct_ns = now - job->request.submit_ns;
    double all = f->all_milli, asked = (double)asked_milli(&job->request);

    if (!(job->ideal_s > 0) || jct_ns <= 0 || !(asked > 0) || !(all > 0))
        return NAN;
    double jct = (double)jct_ns, area_share = asked * double_of(f->area - area);
    double longer = area_share > all * jct ? area_share / (all * jct) : 1;
    return jct / (1e9 * job->ideal_s * longer);
}

/* Adds the rho of a job.  One that is above 1 by rounding alone, up to 1e-9, is
 * not late. */
static void count_rho(struct fairness *f, double rho)
{
    if (isnan(rho))
        return;
    f->rhos++;
    f->rho_sum += rho;
    f->rho_max = rho > f->rho_max ? rho : f->rho_max;
    f->over += rho > 1 + 1e-9;
}

/* A job of the tenant that counts is done.  `rho` NAN: it has none. */
static void count_done(struct tenant *tenant, const struct host_job *job,
                       double rho, int64_t now)
{
    double jct = clock_s_from_ns(now - job->request.submit_ns);

    tenant->done++;
    tally_add(&tenant->jct, jct);
    tally_add(&tenant->wait,
              clock_s_from_ns(job->start_ns - job->request.submit_ns));
    if (job->ideal_s > 0)
        tally_add(&tenant->slowdown, jct / job->ideal_s);
    if (!isnan(rho))
        tally_add(&tenant->rho, rho);
}

void fairness_ended(struct fairness *f, const struct host_job *job,
                    enum job_status status, int64_t now)
{
    uint32_t block = job->request.id.i / JOBS_TOGETHER;
    uint32_t at = job->request.id.i % JOBS_TOGETHER;
    struct fair_jobs *jobs = f->jobs[block];
    bool counts = status == JOB_DONE &&
                  job->request.submit_ns >= f->parts.spec->warmup_ns;
    double rho = NAN;

    population(f, now, -1);
    if (counts)
        count_rho(f, rho = rho_of(f, job, jobs->job[at].area, now));
    if (jobs->job[at].tenant != NONE) {
        struct tenant *tenant = &f->tenant[jobs->job[at].tenant];

        tenant->usd += job->usd;
        if (counts)
            count_done(tenant, job, rho, now);
        tenant_add(f, jobs->job[at].tenant, 0, -asked_milli(&job->request), now);
        jobs->job[at].tenant = NONE;
    }
    if (--jobs->left == 0)
        spare_block(f, block);
}

/* Tells that a job got GPUs, or gave them back (milli < 0).  GPUs of a job without a tenant
 * are counted for no tenant. */
void fairness_held(struct fairness *f, const struct host_job *job,
                   int64_t milli, int64_t now)
{
    uint32_t i = job->request.id.i;

    if (f->count == 0)
        return;
    const struct fair_jobs *jobs =
        i / JOBS_TOGETHER < f->jobs_room ? f->jobs[i / JOBS_TOGETHER] : NULL;
    uint32_t t = jobs != NULL ? jobs->job[i % JOBS_TOGETHER].tenant : NONE;

    if (t != NONE)
        tenant_add(f, t, milli, 0, now);
}

/* A tenant has GPUs of a lease, or no more.  Leases on cores alone count nothing. */
static void hear_lease(void *self, const struct fact *fact)
{
    struct fairness *f = self;

    if (f->count == 0)          /* no tenant yet */
        return;
    const struct cs_lease *lease =
        cs_lease(f->host, (struct lease_id) { fact->subject });
    int64_t milli = (int64_t)lease->gpus * lease->gpu_milli;

    if (milli > 0)
        fairness_held(f, host_job(f->host, lease->job),
                      fact->kind == FACT_LEASE_TAKE ? milli : -milli,
                      fact->time_ns);
}

struct fairness *fairness_new(const struct metrics_parts *parts)
{
    struct fairness *f = arena_alloc(parts->arena, 1, sizeof *f);

    f->parts = *parts;
    f->all_milli = (double)parts->spec->cluster->gpu_count * GPU_MILLI;
    journal_listen(parts->journal,
                   UINT64_C(1) << FACT_LEASE_TAKE | UINT64_C(1) << FACT_LEASE_DROP,
                   hear_lease, f);
    return f;
}

void fairness_watch(struct fairness *f, const struct cs_host *host)
{
    f->host = host;
}

/* Forgets the integral so far; the level stays. */
static void level_restart(struct level *level, int64_t now)
{
    *level = (struct level) { .now = level->now, .since_ns = now };
}

/* Jobs in the system stay, and so do levels: only integrals begin anew. */
void fairness_begin(struct fairness *f, int64_t now)
{
    f->from_ns = now;
    for (uint32_t t = 0; t < f->count; t++) {
        level_restart(&f->tenant[t].held, now);
        level_restart(&f->tenant[t].asked, now);
    }
    for (uint32_t p = 0;
         f->envy != NULL && p < FAIRNESS_TENANTS_MAX * FAIRNESS_TENANTS_MAX; p++)
        level_restart(&f->envy[p], now);
}

/* ---- results ------------------------------------------------------------ */

/* Was envy measured?  Not with one tenant, nor with more than FAIRNESS_TENANTS_MAX. */
static bool envy_known(const struct fairness *f)
{
    return f->envy != NULL && f->count <= FAIRNESS_TENANTS_MAX;
}

/* Returns the envy of a tenant towards the one that it envies most; 0: it asked for
 * nothing. */
static double envy_of(const struct fairness *f, uint32_t i, int64_t end_ns)
{
    double asked = level_s(&f->tenant[i].asked, end_ns), most = 0;

    for (uint32_t j = 0; j < f->count; j++)
        most = fmax(most, level_s(&f->envy[i * FAIRNESS_TENANTS_MAX + j],
                                  end_ns));
    return asked > 0 ? most / asked : 0;
}

/* A mean, or an empty cell where there are no samples. */
static void put_mean(struct table *table, const struct tally *tally)
{
    if (tally->count > 0)
        table_real(table, tally->mean);
    else
        table_empty(table);
}

/* Writes the row of tenant t of tenants.csv; all_s: GPU-seconds that all tenants held. */
static void put_row(const struct fairness *f, uint32_t t, double all_s,
                    int64_t end_ns, struct table *table)
{
    const struct trial_spec *spec = f->parts.spec;
    const struct tenant *tenant = &f->tenant[t];
    double held_s = level_s(&tenant->held, end_ns);

    table_text(table, spec->point);
    table_text(table, spec->policy->name);
    table_count(table, spec->replica);
    table_text(table, tenant->name);
    table_count(table, tenant->jobs);
    table_count(table, tenant->done);
    table_real(table, held_s);
    table_real(table, all_s > 0 ? held_s / all_s : 0);
    table_real(table, level_s(&tenant->asked, end_ns));
    table_real(table, tenant->usd);
    put_mean(table, &tenant->jct);
    put_mean(table, &tenant->wait);
    put_mean(table, &tenant->slowdown);
    put_mean(table, &tenant->rho);
    if (envy_known(f))
        table_real(table, envy_of(f, t, end_ns));
    else
        table_empty(table);
    table_end_row(table);
}

/* With fewer than two tenants there is nothing to compare. */
void fairness_result(struct fairness *f, int64_t end_ns,
                     struct trial_result *result)
{
    double *value = result->value, sum = 0, squares = 0, envy = 0;
    double jobs = f->rhos > 0 ? (double)f->rhos : NAN;

    value[METRIC_RHO_MEAN] = f->rho_sum / jobs;
    value[METRIC_RHO_MAX] = f->rhos > 0 ? f->rho_max : NAN;
    value[METRIC_RHO_OVER] = (double)f->over / jobs;
    value[METRIC_SHARE_JAIN] = value[METRIC_ENVY] = NAN;
    if (f->count < 2)
        return;
    for (uint32_t t = 0; t < f->count; t++) {
        double s = level_s(&f->tenant[t].held, end_ns);

        sum += s;
        squares += s * s;
        if (envy_known(f))
            envy = fmax(envy, envy_of(f, t, end_ns));
    }
    if (squares > 0)
        value[METRIC_SHARE_JAIN] = sum * sum / (f->count * squares);
    if (envy_known(f))
        value[METRIC_ENVY] = envy;
    result->tenant_count = f->count;
    for (uint32_t t = 0; f->parts.tables->tenants != NULL && t < f->count; t++)
        put_row(f, t, sum, end_ns, f->parts.tables->tenants);
}
