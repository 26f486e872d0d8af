/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_stats.c - bars of means over the seeds, by point and policy: cost, and GPU
 * time by cause.
 */
#include <math.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the characters of a number at a bar, as cost.gp writes it. */
static int value_chars(struct stats_mean m)
{
    char text[64];

    return m.count == 0 ? 0 : snprintf(text, sizeof text,
                                       m.mean < 100 ? "%.3g" : "%.0f", m.mean);
}

/* Returns the end of a bar with its whisker, or of the bar where it has none:
 * gnuplot shows no label whose height depends on a missing number. */
static double find_end(struct stats_mean m)
{
    return m.count == 0 ? NAN : isfinite(m.high) ? m.high : m.mean;
}

/* Cost per job and in all, with the intervals of their means.  Skipped where nothing has a
 * price. */
enum plot_made plot_make_cost(const struct plot_source *source,
                              struct plot_sink *sink, struct err *err)
{
    const struct grid *grid = source->grid;
    size_t known = 0, per_job = 0;
    int chars = 1;

    (void)err;
    out_text(sink->data, "# point policy cost_per_job_usd ci95_low ci95_high"
                         " cost_usd ci95_low ci95_high, then where each ends\n");
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            struct stats_mean job = plot_mean(source, t, p, METRIC_COST_PER_JOB);
            struct stats_mean all = plot_mean(source, t, p, METRIC_COST);

            known += all.count > 0 && all.mean > 0;
            per_job += job.count > 0;
            chars = value_chars(job) > chars ? value_chars(job) : chars;
            chars = value_chars(all) > chars ? value_chars(all) : chars;
            out_printf(sink->data, "%u %u", t + 1, p + 1);
            plot_put_mean(sink->data, job);
            plot_put_mean(sink->data, all);
            plot_real(sink->data, find_end(job));
            plot_real(sink->data, find_end(all));
            out_text(sink->data, "\n");
        }
    out_printf(sink->head, "per_job = %d\nvalue_chars = %d\n", per_job > 0,
               chars);
    sink->skip = "nothing costs anything";
    return known > 0 ? PLOT_MADE : PLOT_SKIPPED;
}

/* The causes of GPU time, in the order in which they are stacked; idle_cause[]
 * tells idle time apart in more detail. */
static const enum metric cause[] = {
    METRIC_GPU_BUSY, METRIC_GPU_TAIL, METRIC_GPU_SWITCH, METRIC_GPU_BUBBLE,
    METRIC_GPU_IDLE_QUEUED, METRIC_GPU_IDLE_EMPTY, METRIC_GPU_DOWN,
    METRIC_GPU_RENT
};
static const enum metric idle_cause[] = {
    METRIC_GPU_BUBBLE, METRIC_GPU_TAIL, METRIC_GPU_SWITCH, METRIC_GPU_GANG,
    METRIC_GPU_BEHIND, METRIC_GPU_FRAGMENT, METRIC_GPU_UNSUITED, METRIC_GPU_DOWN,
    METRIC_GPU_RENT, METRIC_GPU_IDLE_EMPTY
};

#define SHARE_SHOWN 0.0005      /* of GPU time: less is no cause that occurs */

/* Writes the causes that occur, by their number in the stack: only they have a
 * place in the legend.  Returns their count. */
static uint32_t write_causes(const struct plot_source *source, struct out *head,
                       const enum metric *stack, size_t count,
                       const double *largest)
{
    const char **title = arena_alloc(source->arena, count + 1, sizeof *title);
    uint32_t shown = 0;

    out_text(head, "present = '");
    for (size_t c = 0; c < count; c++)
        if (largest[c] >= SHARE_SHOWN) {
            out_printf(head, "%s%zu", shown == 0 ? "" : " ", c + 1);
            title[shown++] = metric_info(source->grid->metrics, stack[c])->title;
        }
    out_text(head, "'\n");
    if (shown > 0)
        plot_names(head, "cause", title, shown, 40);
    return shown;
}

/* Writes a row per point and policy: the shares, and utilization with its interval. */
static enum plot_made make_stacked(const struct plot_source *source,
                                   struct plot_sink *sink,
                                   const enum metric *stack, size_t count)
{
    const struct grid *grid = source->grid;
    double *largest = arena_alloc(source->arena, count + 1, sizeof *largest);
    size_t known = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            out_printf(sink->data, "%u %u", t + 1, p + 1);
            for (size_t c = 0; c < count; c++) {
                struct stats_mean m = plot_mean(source, t, p, stack[c]);

                known += m.count;
                if (m.count > 0)
                    largest[c] = fmax(largest[c], m.mean);
                plot_real(sink->data, m.count > 0 ? m.mean : NAN);
            }
            plot_put_mean(sink->data,
                          plot_mean(source, t, p, METRIC_GPU_UTILIZATION));
            out_text(sink->data, "\n");
        }
    uint32_t shown = write_causes(source, sink->head, stack, count, largest);
    sink->skip = known > 0 ? "no GPU time to show"
                           : "summary.csv does not say where GPU time went";
    return shown > 0 ? PLOT_MADE : PLOT_SKIPPED;
}

enum plot_made plot_make_utilization(const struct plot_source *source,
                                     struct plot_sink *sink, struct err *err)
{
    (void)err;
    out_text(sink->data, "# point policy busy tail switch bubble idle_queued"
                         " idle_empty down rent gpu_utilization ci95_low"
                         " ci95_high (fractions of all GPU time)\n");
    return make_stacked(source, sink, cause, COUNT_OF(cause));
}

/* Busy time is left out: the bars are what is not busy. */
enum plot_made plot_make_idle(const struct plot_source *source,
                              struct plot_sink *sink, struct err *err)
{
    (void)err;
    out_text(sink->data, "# point policy bubble tail switch gang"
                         " head_of_line fragment unsuited down rent empty gpu_utilization ci95_low"
                         " ci95_high (fractions of all GPU time)\n");
    return make_stacked(source, sink, idle_cause, COUNT_OF(idle_cause));
}
