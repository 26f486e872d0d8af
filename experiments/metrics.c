/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.c - job times, and where every GPU-second of a trial went.
 *
 * A GPU-second is counted once, as one of: busy (computing, by the law's busy
 * share), tail (held by a rollout whose other responses are done), switch
 * (loading or saving), bubble (leased, and its role waits for another phase,
 * or its phase for a link), idle with asks waiting, idle with none.
 */
#include "experiments/metrics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/arrived.h"
#include "experiments/bounds_book.h"
#include "models/truth.h"
#include "experiments/energy.h"
#include "experiments/idle.h"
#include "experiments/rent.h"
#include "models/catalogue.h"
#include "models/cluster.h"
#include "models/course.h"
#include "models/facts.h"
#include "models/phase.h"
#include "models/power.h"
#include "policies/host.h"
#include "policies/host_waits.h"
#include "sim/arena.h"
#include "sim/clock.h"
#include "sim/journal.h"
#include "sim/loop.h"
#include "sim/table.h"
#include "sim/tally.h"

#define BOUND_S 10.0            /* of the bounded slowdown, Feitelson 2001 */

/* Exact sums: a mean must not depend on the order of its addends. */
__extension__ typedef __int128 wide_ns;

struct lease_book {
    int64_t phase_ns;           /* start of its phase */
};

struct metrics {
    struct metrics_parts parts;
    struct cs_host *host;
    const struct metrics_count *count;  /* in its place, or NULL */
    struct lease_book *lease;
    uint32_t lease_room;
    int64_t from_ns, end_ns;
    int64_t last_fact_ns;
    struct gauge memory;
    struct idle *idle;
    double lost_s;              /* GPU-seconds, by failures */
    double held_usd, compute_usd, switch_usd, transfer_usd;
    struct energy *energy;
    struct {                    /* where carbon changes over time */
        int64_t at_ns;
        double joules, kg;      /* up to then */
        bool armed;
    } carbon;
    struct rent *rent;          /* or NULL */
    struct bounds_book *bounds;
    struct arrived *arrived;    /* or NULL */
    double busy_s, tail_s, phase_s;     /* GPU-seconds inside phases */
    double bursts_s;            /* of it, beside other bursts */
    wide_ns jct_sum, wait_sum;
    struct tally slowdown, bounded;
    struct quantile *jct_q, *wait_q;
    uint64_t jobs, done, failed, steps, deadlines, in_time;
    const char *keys;           /* cells that begin each row; NULL: none yet */
    size_t keys_bytes;
    uint64_t preempted, decided, refused, interrupted, resized;
    int64_t first_submit_ns, last_end_ns;
};

static void hear(void *self, const struct fact *fact);
static void carbon_until(struct metrics *m, int64_t now);
static void carbon_arm(struct metrics *m);

struct metrics *metrics_new(const struct metrics_parts *parts)
{
    struct metrics *m = arena_alloc(parts->arena, 1, sizeof *m);

    m->parts = *parts;
    m->jct_q = quantile_new(parts->arena);
    m->wait_q = quantile_new(parts->arena);
    m->idle = idle_new(parts);
    m->energy = energy_new(parts);
    m->rent = rent_new(parts);
    m->bounds = bounds_book_new(parts->arena, parts->spec);
    m->arrived = arrived_new(parts);
    m->first_submit_ns = CLOCK_NEVER_NS;
    journal_listen(parts->journal, ~UINT64_C(0), hear, m);
    return m;
}

void metrics_watch(struct metrics *m, struct cs_host *host)
{
    m->host = host;
    energy_watch(m->energy, host);
    rent_watch(m->rent, host);
    idle_watch(m->idle, host);
    arrived_watch(m->arrived, host);
}

void metrics_watch_count(struct metrics *m, const struct metrics_count *count)
{
    m->count = count;
}

static const struct host_counts *counts_of(const struct metrics *m)
{
    return m->count ? m->count->counts : host_counts(m->host);
}

static bool none_left(const struct metrics *m)
{
    if (m->count)
        return m->count->running == 0 && m->count->pending == 0;
    return host_running(m->host) == 0 && host_pending(m->host) == 0;
}

static void restart(struct gauge *gauge, int64_t now)
{
    double level = gauge->level;

    memset(gauge, 0, sizeof *gauge);
    gauge->from_ns = gauge->last_ns = now;
    gauge_set(gauge, now, level);
}

void metrics_begin(struct metrics *m)
{
    const struct host_counts *counts = counts_of(m);
    int64_t now = loop_now_ns(m->parts.loop);

    restart(&m->memory, now);
    idle_begin(m->idle, now);
    energy_begin(m->energy, now);
    rent_begin(m->rent, now);
    m->busy_s = m->tail_s = m->phase_s = 0;
    m->preempted = counts->preemptions;
    m->resized = counts->resizes + counts->moves;
    m->decided = counts->decisions;
    m->refused = counts->refused;
    m->interrupted = counts->interruptions;
    m->lost_s = 0;
    m->from_ns = now;
    m->carbon.at_ns = now;
    m->carbon.joules = m->carbon.kg = 0;
}

static struct lease_book *book(struct metrics *m, uint32_t lease)
{
    if (lease >= m->lease_room) {
        uint32_t room = 2 * lease + 64;
        m->lease = arena_grow(m->parts.arena, m->lease, m->lease_room, room,
                              sizeof *m->lease);
        m->lease_room = room;
    }
    return &m->lease[lease];
}

static void add(struct gauge *gauge, int64_t now, double change)
{
    gauge_set(gauge, now, gauge->level + change);
}

/* Of GPUs, parts counted as such. */
static double lease_gpus(const struct cs_lease *lease)
{
    return (double)((uint64_t)lease->gpus * lease->gpu_milli) / GPU_MILLI;
}

static void held(struct metrics *m, const struct fact *fact, int sign)
{
    struct lease_id id = { fact->subject };
    const struct cs_lease *lease = cs_lease(m->host, id);

    int64_t memory = 0;

    for (uint32_t i = 0; i < lease->placement.share_count; i++)
        memory += lease->placement.share[i].memory_bytes;
    add(&m->memory, fact->time_ns, sign * (double)memory);
}

static void phase_row(struct metrics *m, const struct host_phase_run *run,
                      const struct cs_lease *lease, int64_t end_ns,
                      double utilization);

/* fmin and fmax of numbers, in line: they are asked for in every phase. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Adds the time of a phase, whole or cut short; returns the busy share. */
static double add_phase(struct metrics *m, const struct host_phase_run *run,
                        double gpus, int64_t start, int64_t end, bool whole)
{
    double whole_s = clock_s_from_ns(end - start);
    double s = clock_s_from_ns(end - (start > m->from_ns ? start
                                                         : m->from_ns));
    double work_s = whole_s, busy_s, tail_s;

    if (whole && run->rate_max > 0)
        work_s = least(whole_s, 1 / run->rate_max);
    double part = whole_s > 0 ? work_s / whole_s : 0;
    busy_s = s * part * least(1, most(0, run->busy_fraction));
    tail_s = least(s * part * run->tail_fraction, s * part - busy_s);
    m->busy_s += busy_s * gpus;
    m->tail_s += most(0, tail_s) * gpus;
    m->phase_s += s * gpus;
    if (run->shares_bursts)
        m->bursts_s += s * gpus;
    return s > 0 ? busy_s / s : 0;
}

static void phase_ended(struct metrics *m, const struct fact *fact)
{
    struct lease_id id = { fact->subject };
    const struct host_phase_run *run = host_phase_run(m->host, id);
    const struct cs_lease *lease = cs_lease(m->host, id);
    int64_t start = book(m, fact->subject)->phase_ns;
    double busy = add_phase(m, run, lease_gpus(lease), start, fact->time_ns,
                            fact->amount > 0);

    if (m->parts.tables->phases)
        phase_row(m, run, lease, fact->time_ns, busy);
}

static const char *job_name(const struct job_request *request, char *out)
{
    char digits[12];
    size_t n = 0, k = 0;

    if (request->name)
        return request->name;
    for (uint32_t i = request->id.i; n == 0 || i > 0; i /= 10)
        digits[n++] = (char)('0' + i % 10);
    while (n > 0)
        out[k++] = digits[--n];
    out[k] = '\0';
    return out;
}

/* The first cells of all rows of a trial, formatted once. */
static void row_keys(struct metrics *m, struct table *table)
{
    const char *bytes;

    if (m->keys != NULL) {
        table_repeat(table, m->keys, m->keys_bytes, 3);
        return;
    }
    table_text(table, m->parts.spec->point);
    table_text(table, m->parts.spec->policy->name);
    table_count(table, m->parts.spec->replica);
    m->keys_bytes = table_begun(table, &bytes);
    m->keys = memcpy(arena_alloc(m->parts.arena, m->keys_bytes, 1), bytes,
                     m->keys_bytes);
}

static uint64_t milli_asked(const struct job_request *request)
{
    uint64_t milli = 0;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        milli += (uint64_t)job_role_gpus(request, r) *
                 job_role_milli(request, r);
    return milli;
}

static void time_or_empty(struct table *table, int64_t ns)
{
    if (ns == CLOCK_NEVER_NS)
        table_empty(table);
    else
        table_time(table, ns);
}

static void job_row(struct metrics *m, const struct host_job *job,
                    enum job_status status)
{
    struct table *table = m->parts.tables->jobs;
    const struct job_request *request = &job->request;
    bool started = job->start_ns != CLOCK_NEVER_NS;
    bool ended = status != JOB_UNFINISHED;
    char name[16];

    row_keys(m, table);
    table_text(table, job_name(request, name));
    table_text(table, request->form->name);
    table_time(table, request->submit_ns);
    time_or_empty(table, job->start_ns);
    time_or_empty(table, ended ? job->end_ns : CLOCK_NEVER_NS);
    time_or_empty(table, started ? job->start_ns - request->submit_ns
                                 : CLOCK_NEVER_NS);
    time_or_empty(table, ended ? job->end_ns - request->submit_ns
                               : CLOCK_NEVER_NS);
    table_milli(table, milli_asked(request));
    table_text(table, job->gpu_type ? job->gpu_type : "");
    table_real(table, job->gpu_seconds);
    table_real(table, job->core_seconds);
    table_real(table, job->usd);
    table_real(table, job->joules / 3.6e6);
    table_count(table, job->preemptions);
    table_text(table, job_status_name(status));
    table_real(table, job->usd_compute);
    table_real(table, most(0, job->usd - job->usd_compute -
                                  job->usd_switch));
    table_real(table, job->usd_switch);
    table_real(table, job->usd_transfer);
    table_count(table, job->interruptions);
    table_end_row(table);
}

/* Of this lease: roles of one job may run on several types. */
static const char *lease_gpu_type(const struct metrics *m,
                                  const struct cs_lease *lease)
{
    for (uint32_t i = 0; i < lease->placement.share_count; i++) {
        const struct share *share = &lease->placement.share[i];
        if (share->gpu_mask)
            return cluster_group_of(m->parts.spec->cluster, share->node)
                ->gpu->name;
    }
    return "";
}

static void phase_row(struct metrics *m, const struct host_phase_run *run,
                      const struct cs_lease *lease, int64_t end_ns,
                      double utilization)
{
    struct table *table = m->parts.tables->phases;
    const struct host_job *job = host_job(m->host, run->job);
    const struct job_form *form = job->request.form;
    char name[16], where[256];

    row_keys(m, table);
    table_text(table, job_name(&job->request, name));
    table_text(table, run->phase->name);
    table_text(table, form->role[run->phase->role].name);
    table_time(table, run->start_ns);
    table_time(table, end_ns);
    table_milli(table, (uint64_t)lease->gpus * lease->gpu_milli);
    table_text(table, lease_gpu_type(m, lease));
    trial_placement_text(&lease->placement, where, sizeof where);
    table_text(table, where);
    table_text(table, run->bottleneck);
    double share = isfinite(run->rate_max) && run->rate_max > 0.0
                       ? run->rate / run->rate_max : 0.0;

    table_real(table, run->rate);
    table_real(table, utilization);
    table_real(table, run->mfu * share);
    table_real(table, run->hfu * share);
    table_end_row(table);
}

/* A replica of a service is no job of a user: it has no completion time. */
static bool is_replica(const struct host_job *job)
{
    return job->request.form->phase[0].law->kind == LAW_SERVE;
}

static void job_ended(struct metrics *m, const struct host_job *job,
                      enum job_status status, uint64_t seed, int64_t now)
{
    int64_t submit = job->request.submit_ns;
    double jct = clock_s_from_ns(now - submit);

    if (m->parts.tables->jobs)
        job_row(m, job, status);
    m->held_usd += job->usd;
    m->compute_usd += job->usd_compute;
    m->switch_usd += job->usd_switch;
    m->transfer_usd += job->usd_transfer;
    if (is_replica(job))
        return;
    if (status == JOB_DONE && now > m->last_end_ns)
        m->last_end_ns = now;
    if (status == JOB_DONE)
        bounds_book_done(m->bounds, job, seed);
    m->steps += job->step;
    if (submit < m->parts.spec->warmup_ns)
        return;
    if (job->request.deadline_ns != CLOCK_NEVER_NS &&
        job->request.deadline_ns != 0) {
        m->deadlines++;
        m->in_time += status == JOB_DONE &&
                      now <= job->request.deadline_ns;
    }
    m->failed += status == JOB_FAILED;
    if (status != JOB_DONE)
        return;
    double wait = clock_s_from_ns(job->start_ns - submit);
    m->done++;
    m->jct_sum += now - submit;
    m->wait_sum += job->start_ns - submit;
    quantile_add(m->jct_q, jct);
    quantile_add(m->wait_q, wait);
    if (job->ideal_s > 0)
        tally_add(&m->slowdown, jct / job->ideal_s);
    tally_add(&m->bounded, most(1, jct / most(BOUND_S, job->ideal_s)));
}

static void job_submitted(struct metrics *m, const struct host_job *job,
                          int64_t now)
{
    bounds_book_submit(m->bounds, job);
    if (is_replica(job))
        return;
    if (now < m->first_submit_ns)
        m->first_submit_ns = now;
    m->jobs += now >= m->parts.spec->warmup_ns;
}

static void hear_lease(struct metrics *m, const struct fact *fact)
{
    struct lease_id id = { fact->subject };

    switch ((enum fact_kind)fact->kind) {
    case FACT_LEASE_TAKE:
        *book(m, id.i) = (struct lease_book) { 0 };
        held(m, fact, +1);
        break;
    case FACT_LEASE_DROP: held(m, fact, -1); break;
    case FACT_PHASE_START:
        book(m, id.i)->phase_ns = fact->time_ns;
        break;
    case FACT_PHASE_END: phase_ended(m, fact); break;
    default: break;
    }
}

static void hear(void *self, const struct fact *fact)
{
    struct metrics *m = self;
    struct job_id job = { fact->subject };

    /* What nodes and policies do when all jobs have ended is not of the run. */
    if (m->host == NULL || fact->kind == FACT_NODE_DOWN ||
        fact->kind == FACT_NODE_UP || fact->kind >= FACT_RENT_ORDER ||
        (fact->kind == FACT_DECIDE && host_jobs_left(m->host) == 0))
        return;
    m->last_fact_ns = fact->time_ns;
    if (fact->kind == FACT_JOB_INTERRUPT)
        m->lost_s += fact->amount;
    if (fact->kind == FACT_JOB_SUBMIT) {
        job_submitted(m, host_job(m->host, job), fact->time_ns);
        if (host_jobs_left(m->host) == 1)
            carbon_until(m, fact->time_ns);
        carbon_arm(m);
    } else if (fact->kind == FACT_JOB_END) {
        job_ended(m, host_job(m->host, job), (enum job_status)fact->object,
                  host_job_truth(m->host, job)->seed, fact->time_ns);
        if (host_jobs_left(m->host) == 0)
            carbon_until(m, fact->time_ns);
    } else {
        hear_lease(m, fact);
    }
}

void metrics_count_submitted(struct metrics *m, const struct host_job *job)
{
    m->last_fact_ns = loop_now_ns(m->parts.loop);
    job_submitted(m, job, m->last_fact_ns);
}

/* A job takes what it asks for, or gives it back. */
static void count_held(struct metrics *m, const struct host_job *job,
                       int64_t now, int sign)
{
    uint32_t gpus = job_role_gpus(&job->request, 0);
    double bytes = (double)(job->request.form->role[0].memory_bytes * gpus);

    if (bytes > 0 || m->memory.level > 0)       /* of most traces, never */
        add(&m->memory, now, sign * bytes);
    energy_count(m->energy, now, gpus, sign > 0);
}

void metrics_count_started(struct metrics *m, const struct host_job *job)
{
    m->last_fact_ns = loop_now_ns(m->parts.loop);
    count_held(m, job, m->last_fact_ns, +1);
}

void metrics_count_ended(struct metrics *m, const struct host_job *job)
{
    int64_t now = m->last_fact_ns = loop_now_ns(m->parts.loop);
    struct host_phase_run run = { .rate_max = 1 / job->ideal_s,
                                  .busy_fraction = 1 };

    add_phase(m, &run, job_role_gpus(&job->request, 0), job->start_ns, now,
              true);
    count_held(m, job, now, -1);
    job_ended(m, job, JOB_DONE, 0, now);
}

void metrics_count_told(struct metrics *m)
{
    const struct metrics_count *count = m->count;

    m->last_fact_ns = loop_now_ns(m->parts.loop);
    idle_count(m->idle, m->last_fact_ns, count->working_gpus,
               waits_least(&count->waits));
}

/* A run that is drained ended with its last fact: a sample of the timeline may
 * come later, and must not cost anything. */
int64_t metrics_stop(struct metrics *m)
{
    bool drained = m->parts.spec->until_ns == CLOCK_NEVER_NS && none_left(m);

    arrived_stop(m->arrived);
    m->end_ns = drained ? m->last_fact_ns : loop_now_ns(m->parts.loop);
    if (m->end_ns < m->from_ns)
        m->end_ns = m->from_ns;
    idle_until(m->idle, m->end_ns);
    return m->end_ns;
}

/* What a node draws that has nothing to do. */
static double standby_w(const struct node_group *group)
{
    return group->idle_w +
           (group->gpu ? group->gpus * power_gpu_w(group->gpu, 0) : 0);
}

/* Hardware of a group for as long as the run took. */
static double group_usd(const struct metrics *m, uint32_t g, double *unused)
{
    const struct node_group *group = &m->parts.spec->cluster->group[g];
    double span_s = clock_s_from_ns(m->end_ns - m->from_ns);

    *unused = 0;
    if (group->billed_held || group->rent != NULL)
        return rent_usd(m->rent, g, m->end_ns, unused);
    if (group->price != NULL)
        return group->node_count *
               cluster_node_usd(group, m->from_ns, m->end_ns);
    return group->node_count * group->usd_per_h * span_s / 3600;
}

/* Of a group up to now, with PUE: what is not rented draws nothing. */
static double group_joules(const struct metrics *m, uint32_t g, int64_t now,
                           double *core_s)
{
    const struct cluster_spec *spec = m->parts.spec->cluster;
    const struct node_group *group = &spec->group[g];
    double joules = energy_group_j(m->energy, g, now, core_s);

    if (group->rent != NULL)
        joules -= standby_w(group) *
                  (group->node_count * clock_s_from_ns(now - m->from_ns) -
                   rent_node_s(m->rent, g, now));
    return spec->pue * joules;
}

/* Rent or write-off of every group, the electricity that a price does not
 * contain, storage and transfers; joules with PUE. */
static void money(struct metrics *m, double *value, double *core_s)
{
    const struct cluster_spec *spec = m->parts.spec->cluster;
    double span_s = clock_s_from_ns(m->end_ns - m->from_ns);
    double usd = 0, joules = 0, energy_usd = 0, rent = 0, nodes = 0;

    *core_s = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        double unused, work_s, j = group_joules(m, g, m->end_ns, &work_s);
        usd += group_usd(m, g, &unused);
        rent += unused;
        if (!group->energy_included) {
            usd += j / 3.6e6 * spec->electricity_usd_per_kwh;
            energy_usd += j / 3.6e6 * spec->electricity_usd_per_kwh;
        }
        if (group->rent != NULL)
            nodes += rent_node_s(m->rent, g, m->end_ns);
        joules += j;
        *core_s += work_s;
    }
    value[METRIC_COST_STORAGE] = spec->storage_usd_per_h * span_s / 3600;
    value[METRIC_COST_TRANSFER] = m->transfer_usd;
    value[METRIC_COST] = usd + value[METRIC_COST_STORAGE] + m->transfer_usd;
    value[METRIC_COST_ENERGY] = energy_usd;
    value[METRIC_COST_RENT] = rent;
    value[METRIC_NODES_RENTED] = span_s > 0 ? nodes / span_s : 0;
    value[METRIC_ENERGY] = joules / 3.6e6;
}

/* Jobs are charged for all they held, whenever that was. */
static void causes(const struct metrics *m, double *value)
{
    double paid = value[METRIC_COST] - value[METRIC_COST_ENERGY] -
                  value[METRIC_COST_STORAGE] - value[METRIC_COST_TRANSFER];

    value[METRIC_COST_COMPUTE] = m->compute_usd;
    value[METRIC_COST_SWITCH] = m->switch_usd;
    value[METRIC_COST_WAIT] = fmax(0, m->held_usd - m->compute_usd -
                                          m->switch_usd);
    value[METRIC_COST_FREE] = fmax(0, paid - m->held_usd -
                                          value[METRIC_COST_RENT]);
    for (int c = METRIC_COST_COMPUTE;
         m->parts.spec->warmup_ns > 0 && c <= METRIC_COST_TRANSFER; c++)
        value[c] = NAN;
}

/* Energy since the last look, at the mean intensity of that time. */
static void carbon_until(struct metrics *m, int64_t now)
{
    const struct cluster_spec *spec = m->parts.spec->cluster;
    double joules = 0, s = clock_s_from_ns(now - m->carbon.at_ns);

    if (spec->carbon == NULL || !(s > 0))
        return;
    for (uint32_t g = 0; g < spec->group_count; g++)
        joules += group_joules(m, g, now, NULL);
    m->carbon.kg += (joules - m->carbon.joules) / 3.6e6 / 1000 *
                    course_area(spec->carbon, m->carbon.at_ns, now) / s;
    m->carbon.at_ns = now;
    m->carbon.joules = joules;
}

static void carbon_arm(struct metrics *m);

static void carbon_changes(struct loop *loop, void *self, uint64_t arg)
{
    struct metrics *m = self;

    (void)arg;
    m->carbon.armed = false;
    if (host_jobs_left(m->host) == 0)
        return;                 /* what follows may not be of the run */
    carbon_until(m, loop_now_ns(loop));
    carbon_arm(m);
}

static void carbon_arm(struct metrics *m)
{
    const struct course *carbon = m->parts.spec->cluster->carbon;

    if (carbon == NULL || m->carbon.armed)
        return;
    int64_t next = course_next_ns(carbon, loop_now_ns(m->parts.loop));
    if (next == CLOCK_NEVER_NS)
        return;
    m->carbon.armed = true;
    loop_at(m->parts.loop, next, LOOP_RANK_SAMPLE, carbon_changes, m, 0);
}

static double host_memory(const struct cluster_spec *spec)
{
    double bytes = 0;

    for (uint32_t g = 0; g < spec->group_count; g++)
        bytes += (double)spec->group[g].memory_bytes *
                 spec->group[g].node_count;
    return bytes;
}

static void gpu_time(struct metrics *m, double *value)
{
    const struct idle *idle = m->idle;
    double all = idle_all_gpu_s(idle);
    double waits = idle_gpu_s(idle, GPU_WAITS);
    double loads = idle_gpu_s(idle, GPU_LOADS);
    double bubble = waits + m->phase_s - m->busy_s - m->tail_s;

    if (!(all > 0))
        return;
    value[METRIC_GPU_ALLOCATED] =
        (idle_gpu_s(idle, GPU_WORKS) + waits + loads) / all;
    value[METRIC_GPU_UTILIZATION] = m->busy_s / all;
    value[METRIC_GPU_BUSY] = m->busy_s / all;
    value[METRIC_GPU_TAIL] = m->tail_s / all;
    value[METRIC_GPU_SWITCH] = loads / all;
    value[METRIC_GPU_BUBBLE] = fmax(0, bubble) / all;
    value[METRIC_GPU_FRAGMENT] = idle_gpu_s(idle, GPU_FRAGMENT) / all;
    value[METRIC_GPU_GANG] = idle_gpu_s(idle, GPU_GANG) / all;
    value[METRIC_GPU_UNSUITED] = idle_gpu_s(idle, GPU_UNSUITED) / all;
    value[METRIC_GPU_IDLE_QUEUED] = value[METRIC_GPU_FRAGMENT] +
        value[METRIC_GPU_GANG] + value[METRIC_GPU_UNSUITED];
    value[METRIC_GPU_DOWN] = idle_gpu_s(idle, GPU_DOWN) / all;
    value[METRIC_GPU_RENT] = idle_gpu_s(idle, GPU_RENTED) / all;
    value[METRIC_GPU_LOST] = m->lost_s / all;
    value[METRIC_GPU_BURSTS] = m->bursts_s / all;
    value[METRIC_GPU_IDLE_EMPTY] = idle_gpu_s(idle, GPU_UNWANTED) / all;
}

static double mean_s(wide_ns sum, uint64_t count)
{
    if (count == 0)
        return 0;
    wide_ns whole = sum / (wide_ns)count, rest = sum % (wide_ns)count;
    return ((double)whole + (double)rest / (double)count) / 1e9;
}

static void job_times(struct metrics *m, double *value)
{
    value[METRIC_JOBS] = (double)m->jobs;
    value[METRIC_JOBS_DONE] = (double)m->done;
    value[METRIC_JOBS_FAILED] = (double)m->failed;
    if (m->last_end_ns > 0)
        value[METRIC_MAKESPAN] =
            clock_s_from_ns(m->last_end_ns - m->first_submit_ns);
    value[METRIC_JCT_MEAN] = mean_s(m->jct_sum, m->done);
    value[METRIC_JCT_P50] = quantile_at(m->jct_q, 0.5);
    value[METRIC_JCT_P95] = quantile_at(m->jct_q, 0.95);
    value[METRIC_JCT_P99] = quantile_at(m->jct_q, 0.99);
    value[METRIC_WAIT_MEAN] = mean_s(m->wait_sum, m->done);
    value[METRIC_WAIT_P99] = quantile_at(m->wait_q, 0.99);
    value[METRIC_SLOWDOWN] = m->slowdown.mean;
    value[METRIC_BOUNDED_SLOWDOWN] = m->bounded.mean;
    value[METRIC_SLO] =
        m->deadlines ? (double)m->in_time / (double)m->deadlines : 1;
    value[METRIC_STEPS_DONE] = (double)m->steps;
}

void metrics_result(struct metrics *m, struct trial_result *result)
{
    const struct cluster_spec *spec = m->parts.spec->cluster;
    const struct host_counts *counts = counts_of(m);
    double span_s = clock_s_from_ns(m->end_ns - m->from_ns);
    double *value = result->value, memory = host_memory(spec);
    double cores_busy;

    job_times(m, value);
    gpu_time(m, value);
    money(m, value, &cores_busy);
    causes(m, value);
    value[METRIC_HELD_COST] = m->held_usd;
    value[METRIC_SERVICE_COST] = value[METRIC_SERVICE_MILLION] = NAN;
    value[METRIC_SERVICE_LATENCY] = NAN;
    carbon_until(m, m->end_ns);
    value[METRIC_CARBON] = spec->carbon != NULL ? m->carbon.kg
        : value[METRIC_ENERGY] * spec->carbon_g_per_kwh / 1000;
    value[METRIC_COST_PER_JOB] =
        m->done ? value[METRIC_COST] / (double)m->done : 0;
    if (spec->core_count > 0 && span_s > 0)
        value[METRIC_CPU_UTILIZATION] =
            cores_busy / (spec->core_count * span_s);
    if (memory > 0 && span_s > 0)
        value[METRIC_MEMORY_UTILIZATION] =
            gauge_area(&m->memory, m->end_ns) / (memory * span_s);
    value[METRIC_PREEMPTIONS] =
        (double)(counts->preemptions - m->preempted);
    value[METRIC_RESIZES] =
        (double)(counts->resizes + counts->moves - m->resized);
    value[METRIC_DECISIONS] = (double)(counts->decisions - m->decided);
    value[METRIC_INTERRUPTIONS] =
        (double)(counts->interruptions - m->interrupted);
    value[METRIC_REFUSED] = (double)(counts->refused - m->refused);
    bounds_book_result(m->bounds, result);
    arrived_result(m->arrived, result);
}

bool metrics_gpus_add_up(const struct metrics *m)
{
    return idle_adds_up(m->idle);
}

bool metrics_cost_adds_up(const struct trial_result *result)
{
    double sum = 0, cost = result->value[METRIC_COST];

    for (int c = METRIC_COST_COMPUTE; c <= METRIC_COST_TRANSFER; c++)
        sum += result->value[c];
    return isnan(sum) || fabs(sum - cost) <= 1e-9 * fmax(1, cost);
}
