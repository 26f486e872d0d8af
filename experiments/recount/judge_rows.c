/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge_rows.c - the published figures of jobs, beside the sums and rows of rows.c.
 */
#include "experiments/recount/rows.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/recount/histogram.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/rows_sums.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/clock.h"
#include "workloads/source.h"

#define FLAT 1e-12              /* variance over mean^2 that nobody can judge */

/* Returns the mean of times in seconds, from their sum in ns; 0 of none. */
static double mean_s(__int128_t ns, uint64_t count)
{
    return count > 0 ? (double)((long double)ns / 1e9L / (long double)count) : 0;
}

/* A quantile that is published, and the jobs below it and up to it.  A
 * published time that differs from the job's by rounding alone lies between
 * `least` and `most`. */
struct rank {
    enum metric metric;
    double p, least, most;      /* between them a time is as large as it is */
    uint64_t below, upto;
    bool waits;                 /* of waiting times; else of completion times */
};

/* Counts, for each quantile that is to be published, the jobs below it and those up to it. */
static void rank_row(const struct rows *rows, const struct job_row *row, struct rank *rank,
                     uint32_t ranks)
{
    double jct_s = (double)(row->end_ns - row->submit_ns) / 1e9;
    double wait_s = (double)(row->start_ns - row->submit_ns) / 1e9;

    if (row->status != JOB_DONE || row->replica ||
        row->submit_ns < rows->spec->warmup_ns)
        return;
    for (uint32_t i = 0; i < ranks; i++) {
        double s = rank[i].waits ? wait_s : jct_s;

        rank[i].below += s < rank[i].least;
        rank[i].upto += s <= rank[i].most;
    }
}

/* Checks one quantile: the smallest time that at least a part p of the jobs do
 * not exceed.  Example: the median of 5 jobs is the third time, so at most 2
 * jobs are below it and at least 3 are not above it.  Of more than
 * HISTOGRAM_FROM jobs the histogram tells. */
static void judge_rank(const struct rows *rows, const struct rank *rank, struct judge *judge)
{
    double v = judge->value[rank->metric], at = ceil(rank->p * (double)rows->done);
    const char *name = metric_info(NULL, rank->metric)->name;

    if (rows->done == 0)
        judge_metric(judge, rank->metric, 0, 0);
    else if (rows->done > HISTOGRAM_FROM)
        judge_holds(judge, name,
                    histogram_holds(rank->waits ? &rows->wait : &rows->jct, v, rank->p),
                    "another share of the jobs is below it");
    else if (!rows->over)
        judge_holds(judge, name, rank->below < rank->upto &&
                    (double)rank->below < fmax(1, at) && (double)rank->upto >= at,
                    "another share of the jobs is below it");
}

/* Checks quantiles by counting, without sorting: as many jobs must lie on each side of the
 * published value as its rank says. */
static void judge_ranks(const struct rows *rows, struct judge *judge)
{
    struct rank rank[] = {
        { .metric = METRIC_JCT_P50, .p = 0.5 }, { .metric = METRIC_JCT_P95, .p = 0.95 },
        { .metric = METRIC_JCT_P99, .p = 0.99 },
        { .metric = METRIC_WAIT_P99, .p = 0.99, .waits = true },
    };
    uint32_t ranks = sizeof rank / sizeof rank[0];

    for (uint32_t i = 0; i < ranks; i++) {
        rank[i].least = judge->value[rank[i].metric] * (1 - 1e-12);
        rank[i].most = judge->value[rank[i].metric] * (1 + 1e-12);
    }
    for (uint32_t i = 0; !rows->over && rows->done <= HISTOGRAM_FROM && i < rows->count; i++)
        rank_row(rows, &rows->row[i], rank, ranks);
    for (uint32_t i = 0; i < ranks; i++)
        judge_rank(rows, &rank[i], judge);
}

/* Variation and skewness of run times, from moments around the first one.  Equal run times
 * have no shape, and rounding alone would give one. */
static void judge_shape(const struct rows *rows, struct judge *judge)
{
    double n = (double)rows->slowdown.count, first = rows->ideal[0] / n;
    double second = rows->ideal[1] / n, third = rows->ideal[2] / n;
    double mean = rows->ideal_first + first, var = second - first * first;

    if (!(n > 0) || var <= FLAT * mean * mean) {
        judge_holds(judge, "run_time_cv", judge->value[METRIC_RUN_TIME_CV] < 1e-5,
                    "all run times are equal");
        return;
    }
    judge_metric(judge, METRIC_RUN_TIME_CV, sqrt(var) / fabs(mean),
                 sqrt(var) / fabs(mean) * second / var);
    judge_metric(judge, METRIC_RUN_TIME_SKEWNESS,
                 (third - 3 * first * second + 2 * first * first * first) / pow(var, 1.5),
                 1 + pow(second / var, 1.5));
}

/* Means of times and slowdowns, their quantiles, and Jain's index of slowdowns. */
static void judge_times(const struct rows *rows, struct judge *judge)
{
    double n = (double)rows->done, sum = rows->slowdown.sum;
    double of = (double)rows->slowdown.count;

    judge_metric(judge, METRIC_JCT_MEAN, mean_s(rows->jct_sum, rows->done), 0);
    judge_metric(judge, METRIC_WAIT_MEAN, mean_s(rows->wait_sum, rows->done), 0);
    judge_ranks(rows, judge);
    judge_metric(judge, METRIC_SLOWDOWN, of > 0 ? sum / of : 0, 0);
    judge_metric(judge, METRIC_BOUNDED_SLOWDOWN, n > 0 ? rows->bounded / n : 0, 0);
    judge_metric(judge, METRIC_SLOWDOWN_JAIN,
                 of > 0 ? sum * sum / (of * rows->slowdown.square) : NAN, 0);
    judge_shape(rows, judge);
}

/* How many jobs there were and how they ended.  A run that was drained with jobs left has no
 * restricted mean.  Where the workload has services, the share in time is judged with
 * services.csv. */
static void judge_counts(const struct rows *rows, struct judge *judge)
{
    bool drained = rows->spec->until_ns == CLOCK_NEVER_NS;
    double cost = judge->value[METRIC_COST];

    judge_metric(judge, METRIC_JOBS, (double)rows->jobs, 0);
    judge_metric(judge, METRIC_JOBS_DONE, (double)rows->done, 0);
    judge_metric(judge, METRIC_JOBS_FAILED, (double)rows->failed, 0);
    judge_metric(judge, METRIC_STEPS_DONE, (double)rows->steps, 0);
    judge_metric(judge, METRIC_MAKESPAN,
                 rows->last_ns > 0 ? (double)(rows->last_ns - rows->first_ns) / 1e9 : 0, 0);
    judge_metric(judge, METRIC_JCT_RESTRICTED,
                 rows->jobs == 0 || (drained && rows->done < rows->jobs)
                     ? NAN : mean_s(rows->jct_sum + rows->lost_sum, rows->jobs), 0);
    judge_metric(judge, METRIC_COST_PER_JOB,
                 rows->done > 0 ? cost / (double)rows->done : 0, 0);
    if (workload_service_count(rows->spec->workload) == 0) {
        judge_metric(judge, METRIC_SLO, rows->due > 0
                         ? (double)rows->in_time / (double)rows->due : 1, 0);
        judge_metric(judge, METRIC_SLO_COUNT, (double)rows->due, 0);
    }
}

/* Finish-time fairness.  A rho that lies at the limit to within rounding may fall on
 * either side; `near` counts those, and that much is forgiven. */
static void judge_rho(const struct rows *rows, struct judge *judge)
{
    double sum = 0, most = -1, count = 0, above = 0, near = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        double rho = rows->row[i].replica ? NAN : rows_rho(rows, &rows->row[i]);

        if (isnan(rho))
            continue;
        count++;
        sum += rho;
        most = rho > most ? rho : most;
        above += rho > 1 + 1e-9;
        near += fabs(rho - 1 - 1e-9) < 1e-11;
    }
    judge_metric(judge, METRIC_RHO_MEAN, count > 0 ? sum / count : NAN, 0);
    judge_metric(judge, METRIC_RHO_MAX, count > 0 ? most : NAN, 0);
    judge_metric(judge, METRIC_RHO_OVER, count > 0 ? above / count : NAN,
                 near / JUDGE_NEAR / fmax(1, count));
}

/* Returns the GPU-seconds that jobs of a tenant held. */
static double held_s(const struct rows *rows, uint32_t tenant)
{
    __int128_t sum = 0;

    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].tenant == tenant)
            sum += rows->row[i].held;
    return (double)sum / 1e12;
}

/* Jain's index of what tenants held; of one tenant there is none. */
static void judge_tenants(const struct rows *rows, struct judge *judge)
{
    double sum = 0, squares = 0;

    for (uint32_t t = 0; t < rows->tenants; t++) {
        double s = held_s(rows, t);

        sum += s;
        squares += s * s;
    }
    judge_metric(judge, METRIC_SHARE_JAIN,
                 rows->tenants < 2 || !(squares > 0)
                     ? NAN : sum * sum / (rows->tenants * squares), 0);
}

/* What needs each row is not checked where rows were dropped. */
void rows_judge(const struct rows *rows, struct judge *judge)
{
    judge_counts(rows, judge);
    judge_times(rows, judge);
    if (rows->over)
        return;
    judge_rho(rows, judge);
    judge_tenants(rows, judge);
}
