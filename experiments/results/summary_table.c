/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_table.c - mean and longer side of the 95% interval, in units people read.
 */
#include "experiments/results/summary_table.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/notes.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/sheet.h"

#define CELL_BYTES 320

/* A column of the table. */
struct shown {
    enum metric metric;
    const char *title;
    bool of_lost;               /* only where jobs were lost */
};

static const struct shown shown[] = {       /* jobs done must be first */
    { METRIC_JOBS_DONE, "jobs done", false },
    { METRIC_COST, "cost USD", false },
    { METRIC_COST_LAST_END, "to last end", true },
    { METRIC_COST_PER_JOB, "USD per job", false },
    { METRIC_GPU_UTILIZATION, "GPU utilization", false },
    { METRIC_JCT_MEAN, "JCT mean", false },
    { METRIC_JCT_RESTRICTED, "JCT to horizon", true },
    { METRIC_JCT_P95, "JCT p95", false },
    { METRIC_WAIT_MEAN, "wait mean", false },
};
#define SHOWN (sizeof shown / sizeof shown[0])
#define CHOSEN_MOST (SHOWN + METRIC_OWN_MAX)    /* with the experiment's own */

/* Times of a column share one unit, so that they can be compared at a glance. */
struct summary_unit summary_unit(const struct metric_info *info, double largest)
{
    static const struct summary_unit time_unit[] = {
        { " d", 86400 }, { " h", 3600 }, { " min", 60 }, { " s", 1 }
    };
    static const struct summary_unit plain = { "", 1 }, percent = { "%", 0.01 };
    unsigned i = 0;

    if (strcmp(info->unit, "fraction") == 0)
        return percent;
    if (strcmp(info->unit, "s") != 0)
        return plain;
    while (i < 3 && !(largest >= 2 * time_unit[i].size))
        i++;
    return time_unit[i];
}

void summary_number(char out[SUMMARY_NUMBER_BYTES], double value, int digits)
{
    double size = fabs(value);
    bool whole = value == floor(value);
    int before = size >= 1 ? (int)floor(log10(size)) + 1 : 1;
    int after = digits - before;

    if (!isfinite(value) || size >= 1e12)
        snprintf(out, SUMMARY_NUMBER_BYTES, "%.4g", value);
    else
        snprintf(out, SUMMARY_NUMBER_BYTES, "%.*f", after > 0 && !whole ? after : 0, value);
}

double summary_half(struct stats_mean m)
{
    return fmax(m.high - m.mean, m.mean - m.low);
}

/* Writes a cell such as "*1.23 ± 0.04 h": a star for the best, a question mark
 * for an interval that is not to be trusted, and "-" without a value. */
static void cell_text(char *out, struct stats_mean m, struct summary_unit unit,
                      bool best, bool trusted)
{
    char mean[SUMMARY_NUMBER_BYTES], half[SUMMARY_NUMBER_BYTES];

    if (m.count == 0) {
        snprintf(out, CELL_BYTES, "-");
        return;
    }
    summary_number(mean, m.mean / unit.size, 4);
    if (isnan(m.low)) {
        snprintf(out, CELL_BYTES, "%s%s%s", best ? "*" : "", mean, unit.name);
        return;
    }
    summary_number(half, summary_half(m) / unit.size, 3);
    snprintf(out, CELL_BYTES, "%s%s \u00b1 %s%s%s", best ? "*" : "", mean, half,
             trusted || !(m.high > m.low) ? "" : "?", unit.name);
}

/* Returns how many trials a policy has at a point. */
static double seeds_there(const struct grid *grid, uint32_t point,
                          uint32_t policy)
{
    double count = 0;

    for (uint32_t s = 0; s < grid->seed_count; s++)
        count += grid_present(grid, point, policy, s);
    return count;
}

/* Adds " (4 of 6 seeds)" behind the jobs done if other policies have seeds that
 * this one lacks; behind another mean only if it lacks other seeds than the
 * jobs done do. */
static void seeds_mark(char *text, const struct grid *grid, uint32_t point,
                       uint32_t policy, enum metric metric)
{
    struct survivors of = survivors_seeds(grid, point, policy, metric);
    struct survivors jobs = survivors_seeds(grid, point, policy, METRIC_JOBS_DONE);

    if (metric == METRIC_JOBS_DONE || of.done != jobs.done)
        survivors_seeds_text(of, text + strlen(text));
}

/* Adds " of 405" behind the jobs done, or " (368 of 405)" behind a mean that is
 * over fewer jobs. */
static void cell_mark(char *text, const struct grid *grid, uint32_t point,
                      uint32_t policy, enum metric metric)
{
    struct survivors s = survivors_of(grid, point, policy,
                                      metric == METRIC_JOBS_DONE
                                          ? METRIC_JCT_MEAN : metric);
    size_t used = strlen(text);

    if (metric != METRIC_JOBS_DONE)
        survivors_text(s, text + used);
    else if (survivors_lost(s))
        snprintf(text + used, SURVIVORS_BYTES, " of %.4g",
                 s.all / seeds_there(grid, point, policy));
    seeds_mark(text, grid, point, policy, metric);
}

/* A column of the table at one point, with the texts of its cells by policy. */
struct column {
    struct summary_column what;
    char (*text)[CELL_BYTES];
};

/* Did another policy that has all seeds do more jobs? */
static bool did_less(const struct grid *grid, uint32_t point,
                     const struct summary_column *jobs, uint32_t policy)
{
    for (uint32_t p = 0; p < grid->policy_count; p++)
        if (jobs->mean[p].mean > jobs->mean[policy].mean &&
            !survivors_lost(survivors_seeds(grid, point, p, METRIC_JOBS_DONE)))
            return true;
    return false;
}

/* May the policy be marked as the best?  Not if it left jobs undone that others
 * did: those cost it no time.  Not if its mean is over a part of the jobs; only
 * the mean that is restricted to the horizon is over all.  Not if it lacks
 * seeds, and so jobs, which other policies have. */
static bool may_be_best(const struct grid *grid, uint32_t point,
                        enum metric metric, const struct summary_column *jobs,
                        uint32_t policy)
{
    if (!survivors_whole(grid, point, policy, metric))
        return false;
    return metric == METRIC_JCT_RESTRICTED || !did_less(grid, point, jobs, policy);
}

/* Marks the best mean of a metric at a point.  No policy is marked if all are
 * equal. */
static void mark_best(const struct grid *grid, uint32_t point,
                      enum metric metric, const struct summary_column *jobs,
                      struct summary_column *column)
{
    int better = metric_info(grid->metrics, metric)->better;
    double best = NAN, worst = NAN;

    for (uint32_t p = 0; p < grid->policy_count; p++) {
        double mean = column->mean[p].mean;

        if (!may_be_best(grid, point, metric, jobs, p))
            continue;
        if (!isnan(mean) && (isnan(best) || mean * better > best * better))
            best = mean;
        if (!isnan(mean) && (isnan(worst) || mean * better < worst * better))
            worst = mean;
    }
    for (uint32_t p = 0; p < grid->policy_count; p++)
        column->best[p] = best != worst && column->mean[p].mean == best &&
                          may_be_best(grid, point, metric, jobs, p);
}

void summary_fill(struct arena *arena, const struct grid *grid, uint32_t point,
                  enum metric metric, const struct summary_column *jobs,
                  struct summary_column *column)
{
    uint32_t n = grid->policy_count;

    column->mean = arena_alloc(arena, n, sizeof *column->mean);
    column->best = arena_alloc(arena, n, sizeof *column->best);
    column->trusted = arena_alloc(arena, n, sizeof *column->trusted);
    column->largest = 0;
    for (uint32_t p = 0; p < n; p++) {
        column->mean[p] = trust_mean(grid, point, p, metric, 0.95, NULL);
        column->trusted[p] = *trust_text(arena, trust_jobs(grid, point, p),
                                         &column->mean[p]) == 0;
        if (column->mean[p].mean > column->largest)
            column->largest = column->mean[p].mean;
    }
    mark_best(grid, point, metric, jobs, column);
}

/* Fills one column of the table at the end of a run. */
static void fill_column(struct arena *arena, const struct grid *grid,
                        uint32_t point, const struct shown *shows,
                        const struct column *jobs, struct column *column)
{
    struct summary_column *what = &column->what;
    struct summary_unit unit;

    column->text = arena_alloc(arena, grid->policy_count, sizeof *column->text);
    summary_fill(arena, grid, point, shows->metric, &jobs->what, what);
    unit = summary_unit(metric_info(grid->metrics, shows->metric), what->largest);
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        cell_text(column->text[p], what->mean[p], unit, what->best[p],
                  what->trusted[p]);
        cell_mark(column->text[p], grid, point, p, shows->metric);
    }
}

/* Chooses the columns that say something at this point, and adds the
 * experiment's own metrics.  Returns their number. */
static size_t choose(const struct grid *grid, uint32_t point,
                     struct shown chosen[CHOSEN_MOST])
{
    bool lost = survivors_any(grid, point, METRIC_JCT_MEAN);
    size_t count = 0;

    for (size_t c = 0; c < SHOWN; c++)
        if (!shown[c].of_lost || lost)
            chosen[count++] = shown[c];
    for (unsigned m = METRIC_COUNT; m < metric_count(grid->metrics); m++)
        chosen[count++] = (struct shown){
            (enum metric)m, metric_info(grid->metrics, (enum metric)m)->title, false };
    return count;
}

size_t summary_metrics(const struct grid *grid, uint32_t point,
                       enum metric metric[SUMMARY_METRICS_MOST])
{
    struct shown chosen[CHOSEN_MOST];
    size_t count = choose(grid, point, chosen);

    _Static_assert(CHOSEN_MOST <= SUMMARY_METRICS_MOST, "all of them have room");
    for (size_t c = 0; c < count; c++)
        metric[c] = chosen[c].metric;
    return count;
}

/* Prints the table of one point.  Returns true if a cell has a star. */
static bool print_point(FILE *file, const struct grid *grid, uint32_t point,
                        bool bold)
{
    bool starred = false;
    struct arena *arena = arena_new(1 << 14);
    struct shown chosen[CHOSEN_MOST];
    size_t columns = choose(grid, point, chosen);
    struct column column[CHOSEN_MOST];
    struct sheet *sheet = sheet_new("policy:0");

    sheet_gap(sheet, 2);
    for (size_t c = 0; c < columns; c++) {
        fill_column(arena, grid, point, &chosen[c], &column[0], &column[c]);
        sheet_column(sheet, chosen[c].title, 1);
    }
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        sheet_cell(sheet, "%s", grid->policy[p]);
        for (size_t c = 0; c < columns; c++) {
            starred = starred || column[c].what.best[p];
            sheet_cell(sheet, "%s", column[c].text[p]);
            sheet_class(sheet, column[c].what.best[p] ? "best" : "");
        }
    }
    sheet_print(sheet, file, bold);
    sheet_free(sheet);
    arena_free(arena);
    return starred;
}

/* Prints "3 seeds", the seeds of which trials are there, or that nothing is
 * drawn. */
static void print_seeds(FILE *file, const struct grid *grid, uint32_t point)
{
    bool fixed = grid->seed_count > 1;
    char seeds[SURVIVORS_BYTES];

    for (uint32_t p = 0; p < grid->policy_count; p++)
        fixed = fixed && grid_fixed(grid, point, p);
    if (fixed)
        fputs("deterministic\n", file);       /* a note says what follows */
    survivors_run_text(grid, point, point + 1, seeds);
    if (!fixed)
        fprintf(file, "%s seed%s\n", seeds, grid->seed_count == 1 ? "" : "s");
}

/* Does any mean have an interval? */
static bool has_intervals(const struct grid *grid)
{
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            if (grid->seed_count > 1 && !grid_alike(grid, t, p))
                return true;
    return false;
}

/* Prints what a reader of the table must know, a line each. */
static void print_notes(FILE *file, const struct grid *grid)
{
    struct arena *arena = arena_new(1 << 14);
    struct notes notes = notes_of(arena, grid);

    for (size_t i = 0; i < notes.count; i++)
        fprintf(file, "%s\n", notes.line[i]);
    arena_free(arena);
}

/* Prints what the marks in the table mean, if there are any. */
static void print_lost(FILE *file, const struct grid *grid)
{
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            struct survivors s = survivors_of(grid, t, p, METRIC_JCT_MEAN);

            if (!survivors_lost(s))
                continue;
            fprintf(file, "(%.0f of %.0f): over the jobs that were done, of "
                    "all seeds; neither starred nor compared\n", s.done, s.all);
            if (survivors_restricted(grid, t))
                fputs("JCT to horizon: over all jobs, one that is not done counts "
                      "up to `until`; compares all policies\n", file);
            return;
        }
}

/* Is an interval of the table marked with a question mark? */
static bool doubted(const struct grid *grid)
{
    struct shown chosen[CHOSEN_MOST];
    bool any = false;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        size_t columns = choose(grid, t, chosen);

        for (uint32_t p = 0; p < grid->policy_count; p++) {
            any = any || trust_jobs(grid, t, p) > 0;
            for (size_t c = 0; c < columns && !any; c++) {
                struct stats_mean m = trust_mean(grid, t, p, chosen[c].metric, 0.95, NULL);

                any = m.cases || trust_seeds_few(m.skew, (double)m.count);
            }
        }
    }
    return any;
}

void summary_table_print(FILE *file, const struct grid *grid, const char *name,
                         bool bold)
{
    bool intervals = has_intervals(grid), starred = false;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        fprintf(file, "%s%s%s, ", name, grid->point_count > 1 ? ", " : "",
                grid->point_count > 1 ? grid->point[t] : "");
        print_seeds(file, grid, t);
        starred = print_point(file, grid, t, bold) || starred;
        fputc('\n', file);
    }
    if (starred)
        fputs("* best mean of those that did the most jobs", file);
    if (intervals)
        fprintf(file, "%s\u00b1 the longer side of the 95%% interval over the seeds",
                starred ? "; " : "");
    if (starred || intervals)
        fputs("\n", file);
    if (intervals && doubted(grid))
        fputs("? few jobs or seeds decide the mean, or equal seeds do not show what is rare: "
              "its interval cannot be trusted (not_trusted of compare.csv)\n", file);
    print_notes(file, grid);
    print_lost(file, grid);
}
