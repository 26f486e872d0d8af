/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_metrics.c - charts of several metrics, and of the experiment's own with
 * them: the sweep, and differences to the baseline.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/results/grid.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

#define SWEPT_DECADES 50.0     /* from here on, a logarithmic axis */
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* "arrival.rate=4/h": the key, 4, and "/h". */
struct swept {
    const char *key, *unit;
    double value;
};

/* Reads "arrival.rate=4/h" as the key, 4 and "/h"; false: the label has another
 * form. */
static bool read_swept(struct arena *arena, const char *label,
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

/* Returns the points' values, or NULL: they are not one numeric value in one unit. */
static const struct swept *read_all_swept(const struct plot_source *source)
{
    const struct grid *grid = source->grid;
    struct swept *swept = arena_alloc(source->arena, grid->point_count,
                                      sizeof *swept);

    for (uint32_t t = 0; t < grid->point_count; t++)
        if (!read_swept(source->arena, grid->point[t], &swept[t]) ||
            strcmp(swept[t].key, swept[0].key) != 0 ||
            strcmp(swept[t].unit, swept[0].unit) != 0)
            return NULL;
    return swept;
}

/* Returns the distance between the least swept value and the largest. */
static double find_span(const struct swept *swept, uint32_t count)
{
    double low = swept[0].value, high = swept[0].value;

    for (uint32_t t = 1; t < count; t++) {
        low = fmin(low, swept[t].value);
        high = fmax(high, swept[t].value);
    }
    return high - low;
}

/* Returns the least distance between two different swept values; 1 if there are
 * none. */
static double find_gap(const struct swept *swept, uint32_t count)
{
    double gap = INFINITY;

    for (uint32_t t = 1; t < count; t++)
        for (uint32_t u = 0; u < t; u++)
            if (swept[t].value != swept[u].value)
                gap = fmin(gap, fabs(swept[t].value - swept[u].value));
    return isfinite(gap) ? gap : 1;
}

/* Returns largest over least where values lie decades apart, for a logarithmic
 * axis; 0 where they do not. */
static double find_ratio(const struct swept *swept, uint32_t count)
{
    double low = INFINITY, high = 0;

    for (uint32_t t = 0; t < count; t++) {
        low = fmin(low, swept[t].value);
        high = fmax(high, swept[t].value);
    }
    return low > 0 && high / low >= SWEPT_DECADES ? high / low : 0;
}

/* Metrics of a chart: the built-in ones that it always has, and the experiment's own. */
struct charted {
    const struct metric_set *set;
    enum metric metric[METRIC_ROOM];
    uint32_t count;
    double largest[METRIC_ROOM];        /* mean, without its sign; write_rows() */
    bool below[METRIC_ROOM];            /* some mean is below 0, as one's own may be */
};

/* Returns the metrics of a chart: those it always has, and all of the experiment's
 * own. */
static struct charted chart_metrics(const struct plot_source *source,
                                    const enum metric *always, uint32_t count)
{
    struct charted c = { .set = source->grid->metrics, .count = count };

    memcpy(c.metric, always, count * sizeof *always);
    for (unsigned m = METRIC_COUNT; m < metric_count(c.set); m++)
        c.metric[c.count++] = (enum metric)m;
    return c;
}

/* Returns what is known of metric i of a chart. */
static const struct metric_info *charted_info(const struct charted *c, size_t i)
{
    return metric_info(c->set, c->metric[i]);
}

static const enum metric sweep_metric[] = {
    METRIC_COST_PER_JOB, METRIC_GPU_UTILIZATION, METRIC_JCT_MEAN,
    METRIC_WAIT_MEAN
};

/* Writes the titles of the axes, and which panels have something to show. */
static void write_panels(struct out *out, const struct charted *c)
{
    const char *title[METRIC_ROOM], *unit[METRIC_ROOM];

    out_text(out, "present = '");
    for (size_t m = 0, shown = 0; m < c->count; m++)
        if (c->largest[m] > 0)
            out_printf(out, "%s%zu", shown++ == 0 ? "" : " ", m + 1);
    out_printf(out, "'\narray factor[%u] = [", c->count);
    for (size_t m = 0; m < c->count; m++) {
        const struct metric_info *info = charted_info(c, m);
        double factor = 1;

        title[m] = info->title;
        unit[m] = info->unit;
        if (strcmp(info->unit, "fraction") == 0) {
            factor = 100;
            unit[m] = "percent";
        } else if (strcmp(info->unit, "s") == 0) {
            struct plot_unit time = plot_time_unit(c->largest[m]);

            factor = 1 / time.seconds;
            unit[m] = time.name;
        }
        out_printf(out, "%s%.17g", m == 0 ? "" : ", ", factor);
    }
    out_printf(out, "]\narray below[%u] = [", c->count);
    for (size_t m = 0; m < c->count; m++)
        out_printf(out, "%s%d", m == 0 ? "" : ", ", c->below[m]);
    out_text(out, "]\n");
    plot_names(out, "what", title, c->count, 40);
    plot_names(out, "unit_of", unit, c->count, 40);
}

/* A point and its value on the axis. */
struct along {
    double value;
    uint32_t point;
};

/* For qsort(): by value, then by the order of the file. */
static int compare_along(const void *a, const void *b)
{
    const struct along *x = a, *y = b;

    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* Returns the points in the order of their values, since lines join them. */
static struct along *order_points(const struct plot_source *source,
                                  const struct swept *swept)
{
    uint32_t count = source->grid->point_count;
    struct along *along = arena_alloc(source->arena, count + 1, sizeof *along);

    for (uint32_t t = 0; t < count; t++)
        along[t] = (struct along) { swept[t].value, t };
    qsort(along, count, sizeof *along, compare_along);
    return along;
}

/* Writes a block a policy, in it a row a point.  Finds the largest mean of each
 * metric, which chooses its unit, and whether one is below 0. */
static void write_rows(const struct plot_source *source,
                       const struct swept *swept, struct charted *c, struct out *out)
{
    const struct grid *grid = source->grid;
    const struct along *along = order_points(source, swept);

    for (uint32_t p = 0; p < grid->policy_count; p++) {
        out_printf(out, "%s# policy %u\n", p == 0 ? "" : "\n\n", p + 1);
        for (uint32_t i = 0; i < grid->point_count; i++) {
            uint32_t t = along[i].point;
            plot_real(out, swept[t].value);
            for (size_t m = 0; m < c->count; m++) {
                struct stats_mean mean = plot_mean(source, t, p, c->metric[m]);

                plot_put_mean(out, mean);
                if (mean.count == 0)
                    continue;
                c->largest[m] = fmax(c->largest[m], fabs(mean.mean));
                c->below[m] = c->below[m] || mean.mean < 0;
            }
            out_text(out, "\n");
        }
    }
}

/* Skipped unless the points differ in one number alone, which is the axis. */
enum plot_made plot_make_sweep(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    const struct swept *swept = read_all_swept(source);
    struct charted c = chart_metrics(source, sweep_metric, COUNT_OF(sweep_metric));

    (void)err;
    sink->skip = source->grid->point_count < 2
        ? "there is no sweep: the results have one point"
        : "the sweep is not over one numeric value in one unit";
    if (source->grid->point_count < 2 || swept == NULL)
        return PLOT_SKIPPED;
    out_text(sink->data, "# value, then mean ci95_low ci95_high of:");
    for (size_t m = 0; m < c.count; m++)
        out_printf(sink->data, " %s", charted_info(&c, m)->name);
    out_text(sink->data, "\n");
    write_rows(source, swept, &c, sink->data);
    out_text(sink->head, "swept_key = ");
    plot_quote(sink->head, point_key_words(source->arena, swept[0].key), 60);
    out_text(sink->head, "\nswept_unit = ");
    plot_quote(sink->head, point_unit_words(swept[0].unit), 20);
    out_printf(sink->head, "\nswept_span = %.9g\nswept_ratio = %.9g\n"
               "swept_gap = %.9g\n",
               find_span(swept, source->grid->point_count),
               find_ratio(swept, source->grid->point_count),
               find_gap(swept, source->grid->point_count));
    write_panels(sink->head, &c);
    return PLOT_MADE;
}

/* From top to bottom. */
/* The metrics of the chart, from top to bottom. */
static const enum metric delta_metric[] = {
    METRIC_COST_PER_JOB, METRIC_COST, METRIC_ENERGY, METRIC_JCT_MEAN,
    METRIC_JCT_P95, METRIC_MAKESPAN, METRIC_JOBS_DONE, METRIC_GPU_UTILIZATION
};
#define DELTA_MOST 150.0        /* percent: beyond it a number must do */

/* What the axis shows, in percent. */
struct delta_range {
    double low, high;
};

typedef void delta_row_fn(void *self, uint32_t point, uint32_t policy,
                          size_t metric, const struct plot_delta *delta);

/* Calls fn for each difference that there is; returns how many. */
static size_t each_delta(const struct plot_source *source, const struct charted *c,
                         delta_row_fn *fn, void *self)
{
    const struct grid *grid = source->grid;
    size_t rows = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            for (size_t m = 0; m < c->count; m++) {
                const struct plot_delta *d = plot_delta_of(source, t, p, c->metric[m]);

                if (p == source->baseline || !isfinite(d->percent))
                    continue;
                rows++;
                fn(self, t, p, m, d);
            }
    return rows;
}

/* Returns an end of the interval, or `none` where it has no such end, since the mean of the
 * baseline may be 0.  Where seeds are one sample, there is no interval and no p-value: NAN. */
static double find_end(const struct plot_delta *delta, double end, double none)
{
    assert(isinf(none));
    return isfinite(end) ? end : isfinite(delta->p_value) ? none : NAN;
}

/* Widens the axis so that it holds a mean, at most up to DELTA_MOST. */
static void widen_range(void *self, uint32_t point, uint32_t policy, size_t metric,
                        const struct plot_delta *delta)
{
    struct delta_range *range = self;

    (void)point, (void)policy, (void)metric;
    range->low = fmin(range->low, delta->percent);
    range->high = fmax(range->high, fmin(delta->percent, DELTA_MOST));
}

/* Widens the axis for an interval, within bounds: a whisker may take as much
 * room again as the means do, as much as the means do on the other side, or ten
 * percent.  range[0]: of the means; range[1]: of the axis. */
static void widen_whiskers(void *self, uint32_t point, uint32_t policy,
                           size_t metric, const struct plot_delta *delta)
{
    struct delta_range *range = self;
    double low = fmax(fmin(fmin(2 * range[0].low, -range[0].high), -10),
                      -100);
    double high = fmin(fmax(fmax(2 * range[0].high, -range[0].low), 10),
                       DELTA_MOST);

    (void)point, (void)policy, (void)metric;
    if (isnan(find_end(delta, delta->low, -INFINITY)))
        return;
    range[1].low = fmin(range[1].low, fmax(find_end(delta, delta->low, -INFINITY), low));
    range[1].high = fmax(range[1].high, fmin(find_end(delta, delta->high, INFINITY), high));
}

/* Returns a value within the range of the axis; NAN stays. */
static double clamp_value(const struct delta_range *range, double value)
{
    return isnan(value) ? NAN : fmin(fmax(value, range->low), range->high);
}

/* Where write_delta() writes, and what the axis shows. */
struct delta_rows {
    struct out *out;
    const struct delta_range *range;
};

/* Writes a difference as it is, then as it is drawn: what lies beyond the axis, at
 * its end.  An interval without an end is from -Inf, or to Inf. */
static void write_delta(void *self, uint32_t point, uint32_t policy,
                        size_t metric, const struct plot_delta *d)
{
    const struct delta_rows *rows = self;
    const double value[] = { d->percent, find_end(d, d->low, -INFINITY),
                             find_end(d, d->high, INFINITY) };

    out_printf(rows->out, "%u %u %zu", point + 1, policy + 1, metric + 1);
    for (size_t i = 0; i < 3; i++)
        if (isinf(value[i]))
            out_text(rows->out, value[i] < 0 ? " -Inf" : " Inf");
        else
            plot_real(rows->out, value[i]);
    for (size_t i = 0; i < 3; i++)
        plot_real(rows->out, clamp_value(rows->range, value[i]));
    out_text(rows->out, "\n");
}

/* Skipped where nothing is compared with a baseline. */
enum plot_made plot_make_delta(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    const struct charted c = chart_metrics(source, delta_metric,
                                           COUNT_OF(delta_metric));
    const char *title[METRIC_ROOM];
    struct delta_range range[2] = { { -1, 1 }, { -1, 1 } };
    struct delta_rows rows = { sink->data, &range[1] };

    (void)err;
    sink->skip = source->delta == NULL ? "there is no compare.csv"
        : "no policy is compared with a baseline";
    if (source->delta == NULL || source->baseline == UINT32_MAX ||
        each_delta(source, &c, widen_range, &range[0]) == 0)
        return PLOT_SKIPPED;
    range[1] = range[0];
    each_delta(source, &c, widen_whiskers, range);
    out_text(sink->data,
             "# point policy metric delta_percent ci95_low ci95_high, then "
             "the same within the axis\n");
    each_delta(source, &c, write_delta, &rows);
    for (size_t m = 0; m < c.count; m++)
        title[m] = charted_info(&c, m)->title;
    plot_names(sink->head, "metric", title, c.count, 40);
    out_printf(sink->head, "metrics = %u\nbaseline = %u\nlowest = %.9g\n"
               "highest = %.9g\n", c.count,
               source->baseline + 1, range[1].low, range[1].high);
    return PLOT_MADE;
}
