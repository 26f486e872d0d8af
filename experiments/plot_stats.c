/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_stats.c - charts of means and intervals over the seeds: cost, GPU time
 * by cause, the sweep, and differences to the baseline.
 *
 * Means and intervals are those of compare.csv: Student's t over the seeds.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/grid.h"
#include "experiments/out.h"
#include "experiments/paths.h"
#include "experiments/plot_data.h"
#include "experiments/stats.h"
#include "experiments/trial.h"
#include "sim/arena.h"
#include "sim/scan.h"

#define SWEPT_DECADES 50.0     /* from here on, a logarithmic axis */
#define CONFIDENCE 0.95
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct stats_mean mean_of(const struct plot_source *source,
                                 double *scratch, uint32_t point,
                                 uint32_t policy, enum metric metric)
{
    uint32_t n = grid_samples(source->grid, point, policy, metric, scratch);

    return stats_mean(scratch, n, CONFIDENCE);
}

static double *scratch_of(const struct plot_source *source)
{
    return arena_alloc(source->arena, source->grid->seed_count + 1,
                       sizeof(double));
}

static void put_mean(struct out *out, struct stats_mean m)
{
    plot_real(out, m.count > 0 ? m.mean : NAN);
    plot_real(out, m.low);
    plot_real(out, m.high);
}

enum plot_made plot_make_cost(const struct plot_source *source,
                              struct plot_sink *sink, struct err *err)
{
    const struct grid *grid = source->grid;
    double *x = scratch_of(source);
    size_t known = 0, per_job = 0;

    (void)err;
    out_text(sink->data, "# point policy cost_per_job_usd ci95_low ci95_high"
                         " cost_usd ci95_low ci95_high\n");
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            struct stats_mean job = mean_of(source, x, t, p,
                                            METRIC_COST_PER_JOB);
            struct stats_mean all = mean_of(source, x, t, p, METRIC_COST);

            known += all.count > 0 && all.mean > 0;
            per_job += job.count > 0;
            out_printf(sink->data, "%u %u", t + 1, p + 1);
            put_mean(sink->data, job);
            put_mean(sink->data, all);
            out_text(sink->data, "\n");
        }
    out_printf(sink->head, "per_job = %d\n", per_job > 0);
    sink->skip = "nothing costs anything";
    return known > 0 ? PLOT_MADE : PLOT_SKIPPED;
}

/* In the order in which they are stacked. */
static const enum metric cause[] = {
    METRIC_GPU_BUSY, METRIC_GPU_TAIL, METRIC_GPU_SWITCH, METRIC_GPU_BUBBLE,
    METRIC_GPU_IDLE_QUEUED, METRIC_GPU_IDLE_EMPTY
};
static const enum metric idle_cause[] = {
    METRIC_GPU_BUBBLE, METRIC_GPU_TAIL, METRIC_GPU_SWITCH, METRIC_GPU_GANG,
    METRIC_GPU_FRAGMENT, METRIC_GPU_UNSUITED, METRIC_GPU_DOWN,
    METRIC_GPU_RENT, METRIC_GPU_IDLE_EMPTY
};

/* A row per point and policy: the shares, and utilization with its interval. */
static enum plot_made stacked(const struct plot_source *source,
                              struct plot_sink *sink,
                              const enum metric *stack, size_t count)
{
    const struct grid *grid = source->grid;
    double *x = scratch_of(source);
    size_t known = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            out_printf(sink->data, "%u %u", t + 1, p + 1);
            for (size_t c = 0; c < count; c++) {
                struct stats_mean m = mean_of(source, x, t, p, stack[c]);

                known += m.count;
                plot_real(sink->data, m.count > 0 ? m.mean : NAN);
            }
            put_mean(sink->data,
                     mean_of(source, x, t, p, METRIC_GPU_UTILIZATION));
            out_text(sink->data, "\n");
        }
    sink->skip = "summary.csv does not say where GPU time went";
    return known > 0 ? PLOT_MADE : PLOT_SKIPPED;
}

enum plot_made plot_make_utilization(const struct plot_source *source,
                                     struct plot_sink *sink, struct err *err)
{
    (void)err;
    out_text(sink->data, "# point policy busy tail switch bubble idle_queued"
                         " idle_empty gpu_utilization ci95_low ci95_high"
                         " (fractions of all GPU time)\n");
    return stacked(source, sink, cause, COUNT_OF(cause));
}

enum plot_made plot_make_idle(const struct plot_source *source,
                              struct plot_sink *sink, struct err *err)
{
    (void)err;
    out_text(sink->data, "# point policy bubble tail switch gang fragment"
                         " unsuited down rent empty gpu_utilization ci95_low"
                         " ci95_high (fractions of all GPU time)\n");
    return stacked(source, sink, idle_cause, COUNT_OF(idle_cause));
}

/* "arrival.rate=4/h": the key, 4, and "/h". */
struct swept {
    const char *key, *unit;
    double value;
};

static bool swept_of(struct arena *arena, const char *label,
                     struct swept *swept)
{
    const char *text = strchr(label, '=');
    size_t bytes;

    if (text == NULL || strchr(text + 1, '=') != NULL)
        return false;
    swept->key = text_format(arena, "%.*s", (int)(text - label), label);
    text++;
    for (bytes = strlen(text); bytes > 0; bytes--)
        if (scan_f64(text, bytes, &swept->value)) {
            swept->unit = arena_text(arena, text + bytes);
            return true;
        }
    return false;
}

/* The points' values, or NULL: not one numeric value in one unit. */
static const struct swept *swept_all(const struct plot_source *source)
{
    const struct grid *grid = source->grid;
    struct swept *swept = arena_alloc(source->arena, grid->point_count,
                                      sizeof *swept);

    for (uint32_t t = 0; t < grid->point_count; t++)
        if (!swept_of(source->arena, grid->point[t], &swept[t]) ||
            strcmp(swept[t].key, swept[0].key) != 0 ||
            strcmp(swept[t].unit, swept[0].unit) != 0)
            return NULL;
    return swept;
}

static double swept_span(const struct swept *swept, uint32_t count)
{
    double low = swept[0].value, high = swept[0].value;

    for (uint32_t t = 1; t < count; t++) {
        low = fmin(low, swept[t].value);
        high = fmax(high, swept[t].value);
    }
    return high - low;
}

/* Largest over least where values lie decades apart; 0 where they do not. */
static double swept_ratio(const struct swept *swept, uint32_t count)
{
    double low = INFINITY, high = 0;

    for (uint32_t t = 0; t < count; t++) {
        low = fmin(low, swept[t].value);
        high = fmax(high, swept[t].value);
    }
    return low > 0 && high / low >= SWEPT_DECADES ? high / low : 0;
}

static const enum metric sweep_metric[] = {
    METRIC_COST_PER_JOB, METRIC_GPU_UTILIZATION, METRIC_JCT_MEAN,
    METRIC_WAIT_MEAN
};

static void sweep_rows(const struct plot_source *source,
                       const struct swept *swept, struct out *out,
                       double *longest)
{
    const struct grid *grid = source->grid;
    double *x = scratch_of(source);

    for (uint32_t p = 0; p < grid->policy_count; p++) {
        out_printf(out, "%s# policy %u\n", p == 0 ? "" : "\n\n", p + 1);
        for (uint32_t t = 0; t < grid->point_count; t++) {
            plot_real(out, swept[t].value);
            for (size_t m = 0; m < COUNT_OF(sweep_metric); m++) {
                struct stats_mean mean = mean_of(source, x, t, p,
                                                 sweep_metric[m]);

                put_mean(out, mean);
                if (m == 2 && mean.mean > *longest)
                    *longest = mean.mean;
            }
            out_text(out, "\n");
        }
    }
}

enum plot_made plot_make_sweep(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    const struct swept *swept = swept_all(source);
    double longest = 0;

    (void)err;
    sink->skip = source->grid->point_count < 2
        ? "there is no sweep: the results have one point"
        : "the sweep is not over one numeric value in one unit";
    if (source->grid->point_count < 2 || swept == NULL)
        return PLOT_SKIPPED;
    out_text(sink->data, "# value, then mean ci95_low ci95_high of:"
                         " cost_per_job_usd gpu_utilization jct_mean_s"
                         " wait_mean_s\n");
    sweep_rows(source, swept, sink->data, &longest);
    out_text(sink->head, "swept_key = ");
    plot_quote(sink->head, swept[0].key, 60);
    out_text(sink->head, "\nswept_unit = ");
    plot_quote(sink->head, swept[0].unit, 20);
    out_printf(sink->head, "\nswept_span = %.9g\nswept_ratio = %.9g\n",
               swept_span(swept, source->grid->point_count),
               swept_ratio(swept, source->grid->point_count));
    plot_put_unit(sink->head, plot_time_unit(longest));
    return PLOT_MADE;
}

/* From top to bottom. */
static const struct {
    enum metric metric;
    const char *title;
} delta_metric[] = {
    { METRIC_COST_PER_JOB, "cost per job" },
    { METRIC_COST, "total cost" },
    { METRIC_ENERGY, "energy" },
    { METRIC_JCT_MEAN, "JCT, mean" },
    { METRIC_JCT_P95, "JCT, 95th perc." },
    { METRIC_MAKESPAN, "makespan" },
    { METRIC_JOBS_DONE, "jobs done" },
    { METRIC_GPU_UTILIZATION, "GPU utilization" },
};

static size_t delta_rows(const struct plot_source *source, struct out *out,
                         double *widest)
{
    const struct grid *grid = source->grid;
    size_t rows = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            for (size_t m = 0; m < COUNT_OF(delta_metric); m++) {
                const struct plot_delta *d = plot_delta_of(
                    source, t, p, delta_metric[m].metric);

                if (p == source->baseline || !isfinite(d->percent))
                    continue;
                rows++;
                out_printf(out, "%u %u %zu", t + 1, p + 1, m + 1);
                plot_real(out, d->percent);
                plot_real(out, d->low);
                plot_real(out, d->high);
                out_text(out, "\n");
                *widest = fmax(*widest, fabs(d->percent));
                if (isfinite(d->low))
                    *widest = fmax(*widest, fmax(-d->low, d->high));
            }
    return rows;
}

enum plot_made plot_make_delta(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    const char *title[COUNT_OF(delta_metric)];
    double widest = 1;

    (void)err;
    sink->skip = source->delta == NULL ? "there is no compare.csv"
        : "no policy is compared with a baseline";
    if (source->delta == NULL || source->baseline == UINT32_MAX)
        return PLOT_SKIPPED;
    out_text(sink->data,
             "# point policy metric delta_percent ci95_low ci95_high\n");
    if (delta_rows(source, sink->data, &widest) == 0)
        return PLOT_SKIPPED;
    for (size_t m = 0; m < COUNT_OF(delta_metric); m++)
        title[m] = delta_metric[m].title;
    plot_names(sink->head, "metric", title, COUNT_OF(delta_metric), 40);
    out_printf(sink->head, "metrics = %zu\nbaseline = %u\nwidest = %.9g\n",
               COUNT_OF(delta_metric), source->baseline + 1,
               fmin(widest, 150));
    return PLOT_MADE;
}
