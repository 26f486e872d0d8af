/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tables.c - what rows say, beside the books.
 */
#include "experiments/recount/tables.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/recount/books.h"
#include "experiments/recount/cells.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

#define DIGITS 1e3              /* x JUDGE_NEAR: what nine digits leave of a number */
#define KEYS 3u                 /* cells that begin each row: point, policy, seed */

/* ---- jobs.csv ----------------------------------------------------------- */

enum { JOB_KIND = KEYS + 1, JOB_SUBMIT, JOB_START, JOB_END, JOB_WAIT, JOB_JCT, JOB_GPUS,
       JOB_TYPE, JOB_GPU_S, JOB_CORE_S, JOB_COST, JOB_ENERGY, JOB_STOPS, JOB_STATUS,
       JOB_COMPUTE, JOB_WAITED, JOB_SWITCH, JOB_TRANSFER, JOB_FAILS, JOB_TENANT,
       JOB_PRIORITY, JOB_DUE, JOB_MET, JOB_LIMIT, JOB_CELLS };

static void cell_is(const struct cells *cells, unsigned column, const char *name,
                    double again, struct judge *judge)
{
    double have = cells_number(cells, column);

    judge_figure(judge, name, have, again, DIGITS * fmax(fabs(have), fabs(again)));
}

/* A time since another, in seconds; NAN: never. */
static double since_s(int64_t ns, int64_t from_ns)
{
    return ns == CLOCK_NEVER_NS || ns == 0 ? NAN : (double)(ns - from_ns) / 1e9;
}

static void judge_times(const struct cells *cells, const struct host_job *job,
                        enum job_status status, struct judge *judge)
{
    const struct job_request *request = &job->request;
    int64_t submit = request->submit_ns;
    int64_t start = job->start_ns;
    int64_t end = status != JOB_UNFINISHED ? job->end_ns : CLOCK_NEVER_NS;
    bool started = start != CLOCK_NEVER_NS;

    cell_is(cells, JOB_SUBMIT, "submit_s of jobs.csv", (double)submit / 1e9, judge);
    cell_is(cells, JOB_START, "start_s of jobs.csv", started ? (double)start / 1e9 : NAN,
            judge);
    cell_is(cells, JOB_END, "end_s of jobs.csv",
            end == CLOCK_NEVER_NS ? NAN : (double)end / 1e9, judge);
    cell_is(cells, JOB_WAIT, "wait_s of jobs.csv",
            started ? (double)(start - submit) / 1e9 : NAN, judge);
    cell_is(cells, JOB_JCT, "jct_s of jobs.csv",
            status == JOB_DONE ? (double)(end - submit) / 1e9 : NAN, judge);
    cell_is(cells, JOB_DUE, "deadline_s of jobs.csv", since_s(request->deadline_ns, 0), judge);
    cell_is(cells, JOB_LIMIT, "limit_s of jobs.csv", since_s(request->limit_ns, 0), judge);
}

static void judge_sums(const struct cells *cells, const struct host_job *job,
                       struct judge *judge)
{
    double waited = job->usd - job->usd_compute - job->usd_switch;

    cell_is(cells, JOB_GPU_S, "gpu_seconds of jobs.csv", job->gpu_seconds, judge);
    cell_is(cells, JOB_CORE_S, "core_seconds of jobs.csv", job->core_seconds, judge);
    cell_is(cells, JOB_COST, "cost_usd of jobs.csv", job->usd, judge);
    cell_is(cells, JOB_ENERGY, "energy_kwh of jobs.csv", job->joules / 3.6e6, judge);
    cell_is(cells, JOB_COMPUTE, "cost_compute_usd of jobs.csv", job->usd_compute, judge);
    judge_figure(judge, "cost_wait_usd of jobs.csv", cells_number(cells, JOB_WAITED),
                 waited > 0 ? waited : 0, DIGITS * job->usd);
    cell_is(cells, JOB_SWITCH, "cost_switch_usd of jobs.csv", job->usd_switch, judge);
    cell_is(cells, JOB_TRANSFER, "cost_transfer_usd of jobs.csv", job->usd_transfer, judge);
    cell_is(cells, JOB_STOPS, "preemptions of jobs.csv", job->preemptions, judge);
    cell_is(cells, JOB_FAILS, "interruptions of jobs.csv", job->interruptions, judge);
}

static void judge_words(const struct cells *cells, const struct host_job *job,
                        enum job_status status, struct judge *judge)
{
    static const char *const name[JOB_STATUS_COUNT] = {
        [JOB_DONE] = "done", [JOB_FAILED] = "failed", [JOB_UNFINISHED] = "unfinished",
        [JOB_DROPPED] = "dropped",
    };
    const struct job_request *request = &job->request;
    bool cut = status == JOB_UNFINISHED && job->end_ns < request->deadline_ns;
    bool due = request->deadline_ns != CLOCK_NEVER_NS && request->deadline_ns != 0 && !cut;
    double gpus = 0;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        gpus += job_role_amount(request, r);
    cell_is(cells, JOB_GPUS, "gpus of jobs.csv", gpus, judge);
    cell_is(cells, JOB_PRIORITY, "priority of jobs.csv",
            request->priority != 0 ? (double)request->priority : NAN, judge);
    cell_is(cells, JOB_MET, "deadline_met of jobs.csv",
            due ? status == JOB_DONE && job->end_ns <= request->deadline_ns : NAN, judge);
    judge_holds(judge, "status of jobs.csv",
                name[status] != NULL && strcmp(cells->text[JOB_STATUS], name[status]) == 0,
                "it is another");
    judge_holds(judge, "tenant of jobs.csv",
                strncmp(cells->text[JOB_TENANT], request->tenant ? request->tenant : "",
                        CELL_BYTES - 1) == 0, "it is another");
    judge_holds(judge, "gpu_type of jobs.csv",
                strncmp(cells->text[JOB_TYPE], job->gpu_type ? job->gpu_type : "",
                        CELL_BYTES - 1) == 0, "it is another");
}

void tables_job(const struct table *table, size_t *since, const struct host_job *job,
                enum job_status status, struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes), *end = at + bytes;
    struct cells cells;

    if (!table_is_whole(table))
        return;
    at += *since;
    *since = bytes;
    judge_holds(judge, "jobs.csv", cells_read(&at, end, &cells) && at == end &&
                cells.count == JOB_CELLS, "a job that ended has no row, or several");
    if (cells.count != JOB_CELLS)
        return;
    judge_times(&cells, job, status, judge);
    judge_sums(&cells, job, judge);
    judge_words(&cells, job, status, judge);
}

/* ---- timeline.csv ------------------------------------------------------- */

enum { LINE_T = KEYS, LINE_POOL, LINE_GPUS, LINE_ALLOCATED, LINE_BUSY, LINE_CORES,
       LINE_PENDING, LINE_RUNNING, LINE_USD, LINE_CELLS };

/* Integrals of the columns of one pool. */
struct line_sum {
    double of[LINE_CELLS];
    double last[LINE_CELLS], since_s, first_s;
    bool any;
};

static void line_until(struct line_sum *sum, double t_s)
{
    for (unsigned c = LINE_ALLOCATED; sum->any && c < LINE_CELLS; c++)
        sum->of[c] += sum->last[c] * (t_s - sum->since_s);
    sum->since_s = t_s;
}

static void sum_lines(const struct table *table, const char *pool, double end_s,
                      struct line_sum *sum, double *gpus)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes), *end = at + bytes;
    struct cells cells;

    while (cells_read(&at, end, &cells) && cells.count == LINE_CELLS) {
        if (strncmp(cells.text[LINE_POOL], pool, CELL_BYTES - 1) != 0)
            continue;
        line_until(sum, cells_number(&cells, LINE_T));
        if (!sum->any)
            sum->first_s = sum->since_s;
        for (unsigned c = LINE_ALLOCATED; c < LINE_CELLS; c++)
            sum->last[c] = cells_number(&cells, c);
        *gpus = cells_number(&cells, LINE_GPUS);
        sum->any = true;
    }
    line_until(sum, end_s);
}

/* What the nodes of a pool cost from from_s to end_s, without parts of units, times 3600. */
static double pool_usd(const struct recount_books *books, const struct cluster_spec *cluster,
                       uint32_t pool, double from_s, double end_s)
{
    double usd = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (group->pool != pool)
            continue;
        usd += 3600 * (group->billed_held || group->rent != NULL
                           ? nodes_group(books->nodes, g).used_usd
                           : group->node_count * cluster_node_usd(group, llround(from_s * 1e9),
                                                                  llround(end_s * 1e9)));
    }
    return usd;
}

/* Has a pool nodes whose time counts from the end of the warm-up only? */
static bool has_rentals(const struct cluster_spec *cluster, uint32_t pool)
{
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].pool == pool &&
            (cluster->group[g].billed_held || cluster->group[g].rent != NULL))
            return true;
    return false;
}

/* *rounded: a flow ends at the next whole nanosecond, and keeps at most all cores of its
 * node busy until then. */
static double pool_core_s(const struct recount_books *books,
                          const struct recount_parts *parts, uint32_t pool, double *rounded)
{
    const struct cluster_spec *cluster = parts->spec->cluster;
    double s = 0;

    *rounded = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        uint32_t l = fabric_link(parts->fabric, FABRIC_CPU, n);

        if (l >= books->links || cluster_group_of(cluster, n)->pool != pool)
            continue;
        s += books->carried[l].units;
        *rounded += 1e-9 * (double)books->carried[l].ends * cluster_group_of(cluster, n)->cores;
    }
    return s;
}

static void judge_pool(const struct recount_books *books, const struct recount_parts *parts,
                       uint32_t pool, double end_s, struct judge *judge)
{
    const struct cluster_spec *cluster = parts->spec->cluster;
    struct line_sum sum = { .any = false };
    double gpus = NAN, all = 0, from_s = books->alone ? (double)books->first_ns / 1e9 : 0;
    double span_s = end_s - from_s, core_s, rounded_s;

    sum_lines(parts->timeline, cluster->pool_name[pool], end_s, &sum, &gpus);
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].pool == pool)
            all += cluster->group[g].gpus * cluster->group[g].node_count;
    if (!sum.any) {
        judge_holds(judge, "timeline.csv", !(span_s > 0), "a pool has no row");
        return;
    }
    judge_figure(judge, "t_s of timeline.csv, first", sum.first_s, from_s, 0);
    judge_figure(judge, "gpus_total of timeline.csv", gpus, all, 0);
    judge_figure(judge, "gpus_allocated of timeline.csv", sum.of[LINE_ALLOCATED],
                 (double)((long double)books->held->pool[pool] / 1e12L),
                 DIGITS * sum.of[LINE_ALLOCATED]);
    judge_figure(judge, "gpus_busy of timeline.csv", sum.of[LINE_BUSY],
                 books->held->pool_busy[pool], DIGITS * (sum.of[LINE_BUSY] + span_s * 1e-3));
    core_s = pool_core_s(books, parts, pool, &rounded_s);
    judge_figure(judge, "cores_busy of timeline.csv", sum.of[LINE_CORES], core_s,
                 rounded_s / JUDGE_NEAR + DIGITS * sum.of[LINE_CORES]);
    judge_figure(judge, "jobs_pending of timeline.csv", sum.of[LINE_PENDING],
                 (double)((long double)books->pending / 1e9L), DIGITS * sum.of[LINE_PENDING]);
    judge_figure(judge, "jobs_running of timeline.csv", sum.of[LINE_RUNNING],
                 (double)((long double)books->running / 1e9L), DIGITS * sum.of[LINE_RUNNING]);
    if (parts->spec->warmup_ns == 0 || !has_rentals(cluster, pool))
        judge_figure(judge, "cost_usd_per_h of timeline.csv", sum.of[LINE_USD],
                     pool_usd(books, cluster, pool, from_s, end_s), DIGITS * sum.of[LINE_USD]);
}

/* ---- tenants.csv -------------------------------------------------------- */

enum { TENANT_NAME = KEYS, TENANT_JOBS, TENANT_DONE, TENANT_GPU_S, TENANT_SHARE,
       TENANT_ASKED, TENANT_USD, TENANT_JCT, TENANT_WAIT, TENANT_SLOWDOWN, TENANT_RHO,
       TENANT_ENVY, TENANT_CELLS };

struct tenant_sum {
    double jobs, done, held_s, asked_s, usd, jct_s, wait_s, slowdown, rho, slows, rhos;
};

static void add_row(const struct recount_books *books, const struct recount_parts *parts,
                    const struct job_row *row, int64_t end_ns, struct tenant_sum *sum)
{
    int64_t from = row->submit_ns > books->held->from_ns ? row->submit_ns
                                                         : books->held->from_ns;
    int64_t to = row->end_ns < end_ns ? row->end_ns : end_ns;
    bool counts = row->submit_ns >= parts->spec->warmup_ns;
    double rho = rows_rho(books->rows, row);
    double jct_s = (double)(row->end_ns - row->submit_ns) / 1e9;

    sum->held_s += (double)((long double)row->held / 1e12L);
    sum->asked_s += to > from ? (double)row->asked_milli / 1000 * ((double)(to - from) / 1e9)
                              : 0;
    sum->usd += row->usd;
    sum->jobs += counts;
    if (!counts || row->status != JOB_DONE)
        return;
    sum->done++;
    sum->jct_s += jct_s;
    sum->wait_s += (double)(row->start_ns - row->submit_ns) / 1e9;
    sum->slows += row->ideal_s > 0;
    sum->slowdown += row->ideal_s > 0 ? jct_s / row->ideal_s : 0;
    sum->rhos += !isnan(rho);
    sum->rho += isnan(rho) ? 0 : rho;
}

static double by(double of, double count)
{
    return count > 0 ? of / count : NAN;
}

static void judge_tenant(const struct cells *cells, const struct tenant_sum *sum, double all_s,
                         struct judge *judge)
{
    cell_is(cells, TENANT_JOBS, "jobs of tenants.csv", sum->jobs, judge);
    cell_is(cells, TENANT_DONE, "jobs_done of tenants.csv", sum->done, judge);
    cell_is(cells, TENANT_GPU_S, "gpu_seconds of tenants.csv", sum->held_s, judge);
    cell_is(cells, TENANT_SHARE, "gpu_share of tenants.csv",
            all_s > 0 ? sum->held_s / all_s : 0, judge);
    cell_is(cells, TENANT_ASKED, "asked_gpu_seconds of tenants.csv", sum->asked_s, judge);
    cell_is(cells, TENANT_USD, "cost_usd of tenants.csv", sum->usd, judge);
    cell_is(cells, TENANT_JCT, "jct_mean_s of tenants.csv", by(sum->jct_s, sum->done), judge);
    cell_is(cells, TENANT_WAIT, "wait_mean_s of tenants.csv", by(sum->wait_s, sum->done),
            judge);
    cell_is(cells, TENANT_SLOWDOWN, "slowdown_mean of tenants.csv",
            by(sum->slowdown, sum->slows), judge);
    cell_is(cells, TENANT_RHO, "ftf_rho_mean of tenants.csv", by(sum->rho, sum->rhos), judge);
}

static void judge_tenants(const struct recount_books *books,
                          const struct recount_parts *parts, int64_t end_ns,
                          struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(parts->tenants, &bytes), *end = at + bytes;
    uint32_t count, tenants = 0;
    const struct job_row *row = rows_all(books->rows, &count);
    double all_s = 0;
    struct cells cells;

    if (row == NULL || !table_is_whole(parts->tenants))
        return;
    for (uint32_t i = 0; i < count; i++)
        all_s += row[i].tenant != ID_NONE ? (double)((long double)row[i].held / 1e12L) : 0;
    for (; cells_read(&at, end, &cells) && cells.count == TENANT_CELLS; tenants++) {
        struct tenant_sum sum = { 0 };
        const char *name = rows_tenant(books->rows, tenants);

        judge_holds(judge, "tenants.csv", name != NULL &&
                    strncmp(cells.text[TENANT_NAME], name, CELL_BYTES - 1) == 0,
                    "a row is of another tenant");
        for (uint32_t i = 0; i < count; i++)
            if (row[i].tenant == tenants)
                add_row(books, parts, &row[i], end_ns, &sum);
        judge_tenant(&cells, &sum, all_s, judge);
    }
    judge_holds(judge, "tenants.csv", at == end && (tenants == 0 || tenants > 1) &&
                (rows_tenant(books->rows, 1) == NULL ? tenants == 0
                 : rows_tenant(books->rows, tenants) == NULL),
                "a tenant has no row");
}

/* ---- services.csv ------------------------------------------------------- */

enum { SERVICE_REQUESTS = KEYS + 1, SERVICE_DONE, SERVICE_DROPPED, SERVICE_REFUSED,
       SERVICE_UNFINISHED, SERVICE_REROUTED, SERVICE_RECOMPUTED, SERVICE_TTFT,
       SERVICE_TPOT = SERVICE_TTFT + 4, SERVICE_LATENCY = SERVICE_TPOT + 4,
       SERVICE_SLO = SERVICE_LATENCY + 4, SERVICE_GOODPUT, SERVICE_TOKENS, SERVICE_GPU_MOST,
       SERVICE_GPU_STARTS, SERVICE_GPU_H, SERVICE_GPU_BUSY, SERVICE_CPU_MOST,
       SERVICE_CPU_STARTS, SERVICE_CPU_H, SERVICE_CPU_BUSY, SERVICE_HELD_GPU_H,
       SERVICE_HELD_CORE_H, SERVICE_USD, SERVICE_MILLION, SERVICE_KWH, SERVICE_KNOWN,
       SERVICE_CELLS };

struct service_sum {
    double requests, done, usd, kwh, gpu_h, core_h, slowest, slo_least, slo_most;
};

/* Mean, median, 95% and 99% of times that are not negative. */
static bool in_order(const struct cells *cells, unsigned first)
{
    double mean = cells_number(cells, first), p50 = cells_number(cells, first + 1);
    double p95 = cells_number(cells, first + 2), p99 = cells_number(cells, first + 3);

    if (isnan(mean))
        return isnan(p50) && isnan(p95) && isnan(p99);
    return mean >= 0 && p50 >= 0 && p50 <= p95 && p95 <= p99;
}

static bool is_fraction(double value)
{
    return isnan(value) || (value >= 0 && value <= 1);
}

/* From the rates, the share in time and the requests follow the tokens of an answer. */
static double tokens_each(const struct cells *cells)
{
    double kept = cells_number(cells, SERVICE_GOODPUT), slo = cells_number(cells, SERVICE_SLO);

    return kept > 0 ? cells_number(cells, SERVICE_TOKENS) / kept * slo : NAN;
}

static void add_service(const struct cells *cells, struct service_sum *sum,
                        struct judge *judge)
{
    double done = cells_number(cells, SERVICE_DONE), usd = cells_number(cells, SERVICE_USD);
    double slo = cells_number(cells, SERVICE_SLO);

    cell_is(cells, SERVICE_REQUESTS, "requests of services.csv",
            done + cells_number(cells, SERVICE_DROPPED) +
                cells_number(cells, SERVICE_REFUSED) +
                cells_number(cells, SERVICE_UNFINISHED), judge);
    cell_is(cells, SERVICE_MILLION, "cost_per_million_usd of services.csv",
            done > 0 ? usd / done * 1e6 : NAN, judge);
    judge_holds(judge, "times of services.csv",
                in_order(cells, SERVICE_TTFT) && in_order(cells, SERVICE_TPOT) &&
                    in_order(cells, SERVICE_LATENCY), "their quantiles do not rise");
    judge_holds(judge, "fractions of services.csv", is_fraction(slo) &&
                is_fraction(cells_number(cells, SERVICE_GPU_BUSY)) &&
                is_fraction(cells_number(cells, SERVICE_CPU_BUSY)) &&
                is_fraction(cells_number(cells, SERVICE_KNOWN)),
                "one is below 0 or above 1");
    judge_holds(judge, "ttft of services.csv", !(cells_number(cells, SERVICE_TTFT) >
                cells_number(cells, SERVICE_LATENCY)), "it is longer than the whole answer");
    judge_holds(judge, "tokens_per_s of services.csv", isnan(tokens_each(cells)) ||
                (tokens_each(cells) >= 0 && tokens_each(cells) < 1e7),
                "an answer has ten millions");
    sum->requests += cells_number(cells, SERVICE_REQUESTS);
    sum->done += done;
    sum->usd += usd;
    sum->kwh += cells_number(cells, SERVICE_KWH);
    sum->gpu_h += cells_number(cells, SERVICE_HELD_GPU_H);
    sum->core_h += cells_number(cells, SERVICE_HELD_CORE_H);
    sum->slowest = fmax(sum->slowest, cells_number(cells, SERVICE_LATENCY + 3));
    sum->slo_least = fmin(sum->slo_least, slo);
    sum->slo_most = fmax(sum->slo_most, slo);
}

static void judge_service_metrics(const struct recount_books *books,
                                  const struct service_sum *sum, struct judge *judge)
{
    const struct recount_told *told = &books->told;
    const double *value = judge->value;

    judge_figure(judge, "cost_usd of services.csv", sum->usd, told->service.usd,
                 DIGITS * sum->usd);
    judge_figure(judge, "energy_kwh of services.csv", sum->kwh,
                 told->service.joules / 3.6e6, DIGITS * sum->kwh);
    judge_figure(judge, "gpu_hours of services.csv", sum->gpu_h, told->service.gpu_s / 3600,
                 DIGITS * sum->gpu_h);
    judge_figure(judge, "core_hours of services.csv", sum->core_h,
                 told->service.core_s / 3600, DIGITS * sum->core_h);
    judge_metric(judge, METRIC_SERVICE_MILLION,
                 sum->done > 0 ? told->service.usd / sum->done * 1e6 : NAN, 0);
    judge_metric(judge, METRIC_SERVICE_LATENCY, sum->slowest,
                 isnan(sum->slowest) ? 0 : DIGITS * sum->slowest);
    judge_holds(judge, "slo_attained_fraction", isnan(sum->slo_least) ||
                (value[METRIC_SLO] >= sum->slo_least * (1 - 1e-8) &&
                 value[METRIC_SLO] <= sum->slo_most * (1 + 1e-8)),
                "it is not between those of services.csv");
    /* Where no request came after the warm-up, it counts deadlines of jobs. */
    judge_holds(judge, "slo_count", value[METRIC_REQUESTS] == 0 ||
                value[METRIC_SLO_COUNT] <= value[METRIC_REQUESTS],
                "there are more than requests");
    judge_holds(judge, "requests_done", value[METRIC_REQUESTS_DONE] <= value[METRIC_REQUESTS] &&
                value[METRIC_REQUESTS_DONE] <= sum->done, "there are more than requests");
}

/* After a warm-up, metrics are of some of the requests. */
static void judge_requests(const struct recount_parts *parts, const struct service_sum *sum,
                           struct judge *judge)
{
    if (parts->spec->warmup_ns > 0)
        return;
    judge_metric(judge, METRIC_REQUESTS, sum->requests, 0);
    judge_metric(judge, METRIC_REQUESTS_DONE, sum->done, 0);
}

static void judge_services(const struct recount_books *books,
                           const struct recount_parts *parts, struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(parts->services, &bytes), *end = at + bytes;
    struct service_sum sum = { .slowest = NAN, .slo_least = NAN, .slo_most = NAN };
    struct cells cells;
    unsigned services = 0;

    for (; cells_read(&at, end, &cells) && cells.count == SERVICE_CELLS; services++)
        add_service(&cells, &sum, judge);
    if (services == 0 || at != end)
        return;
    judge_service_metrics(books, &sum, judge);
    judge_requests(parts, &sum, judge);
}

void tables_judge(const struct recount_books *books, const struct recount_parts *parts,
                  int64_t end_ns, struct judge *judge)
{
    uint32_t pools = parts->spec->cluster->pool_count;

    assert(judge != NULL);
    for (uint32_t p = 0; parts->timeline != NULL && table_is_whole(parts->timeline) &&
                         p < pools; p++)
        judge_pool(books, parts, p, (double)end_ns / 1e9, judge);
    if (parts->tenants != NULL)
        judge_tenants(books, parts, end_ns, judge);
    if (parts->services != NULL && table_is_whole(parts->services))
        judge_services(books, parts, judge);
}
