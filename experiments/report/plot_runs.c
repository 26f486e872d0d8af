/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_runs.c - charts of single jobs and intervals: the distribution of JCT,
 * and the cluster over time.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/services_table.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/stats/tally.h"
#include "sim/text/csv.h"
#include "sim/text/out.h"

#define CURVE_STEPS 400u        /* as many as a chart can show */
#define JCT_LEAST_S 0.001       /* the axis is logarithmic */

/* What all charts know of jobs.csv. */
struct plot_jobs {
    struct arena *arena;
    bool curves;                /* they are wanted */
    struct plot_curve *curve;   /* NULL: not read yet */
};

/* One reading of the table. */
struct reading {
    const struct plot_source *source;
    struct plot_trial trial;    /* of the row at hand */
    struct plot_curve *curve;   /* NULL: not wanted */
    struct service_names services;  /* whose replicas no curve counts */
    plot_job_fn *fn;
    void *self;
};

/* The columns of jobs.csv that are read. */
enum job_column { J_POINT, J_POLICY, J_SEED, J_JOB, J_KIND, J_JCT, J_STATUS, J_COUNT };
static const char *const job_name[J_COUNT] = {
    "point", "policy", "seed", "job", "kind", "jct_s", "status"
};

struct plot_jobs *plot_jobs_new(struct arena *arena, bool curves)
{
    struct plot_jobs *jobs = arena_alloc(arena, 1, sizeof *jobs);

    jobs->arena = arena;
    jobs->curves = curves;
    return jobs;
}

/* Returns empty curves for all points and policies. */
static struct plot_curve *make_curves(struct arena *arena, const struct grid *grid)
{
    size_t count = (size_t)grid->point_count * grid->policy_count;
    struct plot_curve *curve = arena_alloc(arena, count, sizeof *curve);

    for (size_t i = 0; i < count; i++)
        curve[i].jct_s = quantile_new(arena);
    return curve;
}

/* Adds a job to the curve of its point and policy.  Jobs that were not done
 * count as submitted, so that a curve ends below 1. */
static bool add_jct(const struct reading *r, const struct csv *in, const size_t *c,
                    struct err *err)
{
    const struct plot_trial *trial = &r->trial;
    struct plot_curve *curve;
    double jct;

    if (!csv_number(in, c[J_JCT], &jct, err))
        return false;
    if (trial->point == UINT32_MAX || trial->policy == UINT32_MAX)
        return true;
    curve = &r->curve[(size_t)trial->point * r->source->grid->policy_count + trial->policy];
    curve->submitted++;
    if (!isnan(jct) && strcmp(csv_text(in, c[J_STATUS]), "done") == 0)
        quantile_add(curve->jct_s, fmax(jct, JCT_LEAST_S));
    return true;
}

/* Is the row a replica of a service?  Most experiments have no service. */
static bool is_replica(const struct reading *r, const struct csv *in, const size_t *c)
{
    return r->services.count > 0 &&
           service_names_replica(&r->services, csv_text(in, c[J_JOB]), csv_text(in, c[J_KIND]));
}

/* Adds a row to the curves and hands it to fn, if they are wanted. */
static bool read_job(struct reading *r, const struct csv *in, const size_t *c,
                     struct err *err)
{
    if (!plot_find_trial(r->source, in, &c[J_POINT], &r->trial, err) ||
        (r->curve != NULL && !is_replica(r, in, c) && !add_jct(r, in, c, err)))
        return false;
    if (r->fn != NULL) {
        struct plot_job job = { r->trial.point, r->trial.policy, r->trial.seed,
                                csv_text(in, c[J_JOB]), csv_text(in, c[J_KIND]) };

        r->fn(r->self, &job);
    }
    return true;
}

bool plot_jobs_read(const struct plot_source *source, plot_job_fn *fn, void *self,
                    struct plot_sink *sink, struct err *err)
{
    struct plot_jobs *jobs = source->jobs;
    struct reading reading = { .source = source, .fn = fn, .self = self };
    size_t column[J_COUNT];
    struct csv *in = plot_open(source, csv_jobs.file, job_name, column, J_COUNT, sink,
                               err);
    enum csv_step step;

    if (in == NULL)
        return false;
    plot_cut(in, column, J_COUNT);
    if (!service_names_read(jobs->arena, source->dir, &reading.services, err)) {
        csv_close(in);
        return false;
    }
    if (jobs->curves && jobs->curve == NULL)
        reading.curve = make_curves(jobs->arena, source->grid);
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!read_job(&reading, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    if (reading.curve != NULL)
        jobs->curve = reading.curve;
    return step == CSV_END;
}

const struct plot_curve *plot_jobs_curves(const struct plot_source *source,
                                          struct plot_sink *sink, struct err *err)
{
    assert(source->jobs->curves);
    if (source->jobs->curve == NULL && !plot_jobs_read(source, NULL, NULL, sink, err))
        return NULL;
    return source->jobs->curve;
}

/* Returns the JCT of a rank, from 1, among the jobs that were done. */
static double find_jct(const struct plot_curve *curve, uint64_t rank)
{
    uint64_t count = quantile_count(curve->jct_s);

    return quantile_at(curve->jct_s, (double)rank / (double)count);
}

/* Writes a point of the curve: a JCT, and the fraction of the submitted jobs
 * done by then. */
static void write_corner(struct out *out, const struct plot_curve *curve,
                         uint64_t rank, uint64_t jobs)
{
    plot_real(out, find_jct(curve, rank));
    plot_real(out, (double)jobs / (double)curve->submitted);
    out_text(out, "\n");
}

/* Writes two corners for each step, before it and after it.  Of more than
 * CURVE_STEPS jobs, steps stand at ranks evenly apart. */
static void write_curve(struct out *out, const struct plot_curve *curve)
{
    uint64_t count = quantile_count(curve->jct_s);
    uint64_t steps = count < CURVE_STEPS ? count : CURVE_STEPS;

    if (count == 0) {
        out_text(out, "NaN NaN\n");
        return;
    }
    for (uint64_t i = 1, before = 0; i <= steps; i++) {
        uint64_t rank = (i * count + steps - 1) / steps;

        write_corner(out, curve, rank, before);
        write_corner(out, curve, rank, rank);
        before = rank;
    }
}

/* Writes the curves; gnuplot knows them by their order, two empty lines between. */
static void write_curves(const struct plot_source *source,
                         const struct plot_curve *curves, struct out *out)
{
    const struct grid *grid = source->grid;

    out_text(out, "# jct_s, fraction of the submitted jobs that were done in"
                  " that time\n");
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            out_printf(out, "%s# point %u policy %u\n",
                       t + p == 0 ? "" : "\n\n", t + 1, p + 1);
            write_curve(out, &curves[(size_t)t * grid->policy_count + p]);
        }
}

/* The axis begins at the first percent of the fastest curve, and ends at the
 * slowest job: fewer jobs than a percent say nothing of a policy. */
enum plot_made plot_make_jct_cdf(const struct plot_source *source,
                                 struct plot_sink *sink, struct err *err)
{
    const struct grid *grid = source->grid;
    size_t count = (size_t)grid->point_count * grid->policy_count, known = 0;
    const struct plot_curve *curves = plot_jobs_curves(source, sink, err);
    double low = INFINITY, high = 0;

    if (curves == NULL)
        return sink->skip != NULL ? PLOT_SKIPPED : PLOT_FAILED;
    write_curves(source, curves, sink->data);
    for (size_t i = 0; i < count; i++) {
        uint64_t jobs = quantile_count(curves[i].jct_s);

        known += jobs;
        if (jobs > 0) {
            low = fmin(low, find_jct(&curves[i], jobs / 100 + 1));
            high = fmax(high, find_jct(&curves[i], jobs));
        }
    }
    sink->skip = "no job was done";
    if (known == 0)
        return PLOT_SKIPPED;
    out_printf(sink->head, "jct_low = %.9g\njct_high = %.9g\n", low, high);
    plot_put_unit(sink->head, plot_time_unit(high / 4));
    return PLOT_MADE;
}

/* The cluster in one interval: GPUs, and jobs that wait. */

struct interval {
    double t_s, total, allocated, busy, pending;    /* start in seconds; GPUs; tasks */
};

/* The intervals of one policy, pools added up.  last: the interval that was
 * found last. */
struct series {
    struct interval *item;
    size_t count, room, last;
};

/* The columns of timeline.csv that are read. */
enum time_column {
    T_POINT, T_POLICY, T_SEED, T_TIME, T_TOTAL, T_ALLOCATED, T_BUSY, T_PENDING,
    T_COUNT
};
static const char *const time_name[T_COUNT] = {
    "point", "policy", "seed", "t_s", "gpus_total", "gpus_allocated",
    "gpus_busy", "jobs_pending"
};

/* Returns the interval of a time, made at its first use.  Rows come interval by
 * interval or pool by pool: mostly the last one is meant, or the one after it. */
static struct interval *find_interval(struct arena *arena, struct series *s,
                                      double t_s)
{
    bool later = s->count > 0 && t_s > s->item[s->count - 1].t_s;

    for (size_t i = 0, at = s->last; !later && i < s->count; i++, at++) {
        if (at >= s->count)
            at = 0;
        if (s->item[at].t_s == t_s) {
            s->last = at;
            return &s->item[at];
        }
    }
    if (s->count == s->room) {
        s->item = arena_grow(arena, s->item, s->room, s->room * 2 + 512,
                             sizeof *s->item);
        s->room = s->room * 2 + 512;
    }
    s->last = s->count;
    s->item[s->count].t_s = t_s;
    return &s->item[s->count++];
}

/* Adds a row of timeline.csv to the interval of its time, if it is of the
 * middle point and of the first seed that was met.  GPUs of pools are added up;
 * what waits is of the whole cluster, and stands in each pool's row. */
static bool add_interval(const struct plot_source *source,
                         struct series *series, double *seed, const struct csv *in,
                         const size_t *c, struct err *err)
{
    const struct grid *grid = source->grid;
    uint32_t policy = grid_policy(grid, csv_text(in, c[T_POLICY]));
    double value[T_COUNT] = { 0 };
    struct interval *to;

    for (int i = T_SEED; i < T_COUNT; i++)
        if (!csv_number(in, c[i], &value[i], err))
            return false;
    if (policy == UINT32_MAX ||
        strcmp(grid->point[grid->point_count / 2], csv_text(in, c[T_POINT])) != 0)
        return true;
    if (isnan(*seed))           /* of the first that has this detail */
        *seed = value[T_SEED];
    if (value[T_SEED] != *seed)
        return true;
    to = find_interval(source->arena, &series[policy], value[T_TIME]);
    to->total += value[T_TOTAL];
    to->allocated += value[T_ALLOCATED];
    to->busy += value[T_BUSY];
    to->pending = value[T_PENDING];     /* of the whole cluster, each time */
    return true;
}

/* Reads timeline.csv into a series for each policy. */
static enum csv_step read_timeline(const struct plot_source *source,
                                   struct series *series, double *seed,
                                   struct plot_sink *sink, struct err *err)
{
    size_t column[T_COUNT];
    struct csv *in = plot_open(source, csv_timeline.file, time_name,
                                  column, T_COUNT, sink, err);
    enum csv_step step;

    if (in == NULL)
        return CSV_ERROR;
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!add_interval(source, series, seed, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    return step;
}

/* Writes a series; an empty one is a line of NaN, which gnuplot skips. */
static void write_series(struct out *out, const struct series *s)
{
    if (s->count == 0)
        out_text(out, "NaN NaN NaN NaN NaN\n");
    for (size_t i = 0; i < s->count; i++) {
        const struct interval *at = &s->item[i];

        plot_time(out, at->t_s);
        plot_real(out, at->total);
        plot_real(out, at->allocated);
        plot_real(out, at->busy);
        plot_real(out, at->pending);
        out_text(out, "\n");
    }
}

/* Shows one seed for all policies: the first that timeline.csv has at the
 * middle point. */
enum plot_made plot_make_timeline(const struct plot_source *source,
                                  struct plot_sink *sink, struct err *err)
{
    const struct grid *grid = source->grid;
    struct series *series = arena_alloc(source->arena, grid->policy_count,
                                        sizeof *series);
    double start_s = INFINITY, end_s = 0, gpus = 0, pending = 0, seed = NAN;

    if (read_timeline(source, series, &seed, sink, err) == CSV_ERROR)
        return sink->skip != NULL ? PLOT_SKIPPED : PLOT_FAILED;
    out_text(sink->data, "# t_s gpus_total gpus_allocated gpus_busy"
                         " jobs_pending (means from t_s to the next)\n");
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        out_printf(sink->data, "%s# policy %u\n", p == 0 ? "" : "\n\n",
                   p + 1);
        write_series(sink->data, &series[p]);
        for (size_t i = 0; i < series[p].count; i++) {
            start_s = fmin(start_s, series[p].item[i].t_s);
            end_s = fmax(end_s, series[p].item[i].t_s);
            gpus = fmax(gpus, series[p].item[i].total);
            pending = fmax(pending, series[p].item[i].pending);
        }
    }
    sink->skip = gpus > 0 ? "timeline.csv has one interval"
                          : "timeline.csv tells of no GPU";
    if (!(end_s > 0 && gpus > 0))
        return PLOT_SKIPPED;
    start_s = plot_zero(start_s, end_s);
    out_printf(sink->head, "seed = %.9g\nzero_s = %.15g\nend_s = %.15g\n"
               "gpus = %.9g\nmost_pending = %.9g\n", seed, start_s, end_s,
               gpus, pending);
    plot_put_unit(sink->head, plot_time_unit(end_s - start_s));
    return PLOT_MADE;
}
