/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.c - the rows of compare.csv: each policy at each point against the
 * baseline, seed by seed.  The statistics are stats.c's.
 */
#include "experiments/results/compare.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/growth.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/table.h"

#define CONFIDENCE 0.95

/* Puts "368 of 405" into a cell; an empty text where none was lost. */
static void put_lost(struct table *table, struct survivors s)
{
    char text[SURVIVORS_BYTES];

    snprintf(text, sizeof text, "%.0f of %.0f", s.done, s.all);
    table_text(table, survivors_lost(s) ? text : "");
}

size_t compare_row_at(const struct grid *grid, uint32_t point, uint32_t policy,
                      unsigned metric)
{
    return ((size_t)metric * grid->point_count + point) * grid->policy_count +
           policy;
}

struct stats_delta compare_pair(const struct grid *grid, uint32_t point, uint32_t policy,
                                uint32_t other, enum metric metric)
{
    struct trust_side side = { grid, point, policy }, base = { grid, point, other };
    struct stats_delta none = { .percent = NAN, .percent_low = NAN,
                                .percent_high = NAN, .p_value = NAN };

    if (other == UINT32_MAX || other == policy ||
        survivors_lost(survivors_of(grid, point, policy, metric)) ||
        survivors_lost(survivors_of(grid, point, other, metric)))
        return none;
    return trust_delta(&side, &base, metric, CONFIDENCE, NULL);
}

/* All comparisons, by compare_row_at(). */
struct deltas {
    struct stats_delta *delta;  /* [compare_row_at()] */
    double *p_holm;             /* those of one metric are one family */
};

/* Computes all differences to the baseline.  Holm's correction is over all
 * comparisons of one metric, so it needs all of them at once.  Example: of
 * p-values 0.01, 0.02 and 0.04 the smallest is multiplied by 3, the next by 2,
 * the last by 1. */
static struct deltas deltas_of(struct arena *arena, const struct grid *grid,
                               uint32_t baseline)
{
    size_t family = (size_t)grid->point_count * grid->policy_count;
    unsigned metrics = metric_count(grid->metrics);
    struct deltas all = {
        .delta = arena_alloc(arena, family * metrics + 1, sizeof *all.delta),
        .p_holm = arena_alloc(arena, family * metrics + 1, sizeof *all.p_holm)
    };

    for (unsigned m = 0; m < metrics; m++) {
        for (uint32_t t = 0; t < grid->point_count; t++)
            for (uint32_t i = 0; i < grid->policy_count; i++) {
                size_t at = compare_row_at(grid, t, i, m);

                all.delta[at] = compare_pair(grid, t, i, baseline, (enum metric)m);
                all.p_holm[at] = all.delta[at].p_value;
            }
        stats_holm(arena, all.p_holm + m * family, family);
    }
    return all;
}

/* What a row of compare.csv needs beside the grid; it is the same for all
 * metrics. */
struct row {
    uint32_t point, policy, baseline;
    double jobs, jobs_base;     /* trust_jobs() of both */
    const struct deltas *deltas;
    bool known, grows;          /* the queue; is it known? */
};

/* Writes a row of compare.csv, in the order of its columns.  A policy against
 * itself has a mean and no difference. */
static void compare_row(struct arena *arena, const struct grid *grid,
                        const struct row *row, enum metric metric, struct table *table)
{
    uint32_t point = row->point, policy = row->policy;
    bool paired = row->baseline != UINT32_MAX && row->baseline != policy;
    struct survivors none = { 0, 0 };
    size_t at = compare_row_at(grid, point, policy, metric);
    struct stats_delta delta = row->deltas->delta[at];
    struct stats_mean mean = trust_mean(grid, point, policy, metric, CONFIDENCE, NULL);

    table_text(table, grid->point[point]);
    table_text(table, grid->policy[policy]);
    table_text(table, metric_info(grid->metrics, metric)->name);
    table_count(table, mean.count);
    table_real_or_empty(table, mean.mean);
    table_real_or_empty(table, mean.low);
    table_real_or_empty(table, mean.high);
    table_text(table, row->baseline == UINT32_MAX ? ""
                      : grid->policy[row->baseline]);
    table_real_or_empty(table, delta.percent);
    table_real_or_empty(table, delta.percent_low);
    table_real_or_empty(table, delta.percent_high);
    table_real_or_empty(table, delta.p_value);
    put_lost(table, survivors_of(grid, point, policy, metric));
    put_lost(table, paired ? survivors_of(grid, point, row->baseline, metric)
                           : none);
    table_count(table, grid_alike(grid, point, policy));
    table_real_or_empty(table, row->deltas->p_holm[at]);
    table_text(table, trust_text(arena, row->jobs, &mean));
    table_text(table, trust_pairs_text(arena, fmax(row->jobs, row->jobs_base), &delta));
    if (row->known)
        table_count(table, row->grows);
    else
        table_empty(table);
    table_end_row(table);
}

void compare_rows(struct arena *arena, const struct grid *grid,
                  uint32_t baseline, struct table *table)
{
    const struct deltas deltas = deltas_of(arena, grid, baseline);

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t i = 0; i < grid->policy_count; i++) {
            struct row row = { t, i, baseline, trust_jobs(grid, t, i), 0, &deltas,
                               growth_known(grid, t, i),
                               growth_told(grid, t, i) };

            if (baseline != UINT32_MAX)
                row.jobs_base = trust_jobs(grid, t, baseline);
            for (unsigned m = 0; m < metric_count(grid->metrics); m++)
                compare_row(arena, grid, &row, (enum metric)m, table);
        }
}
