/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_file.c - one row a metric.
 */
#include "experiments/results/stop_file.h"

#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "experiments/own/own_metrics.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/expr/expr.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* ---- why values are empty ---- */

/* Does that gap leave a value empty?  A row that divides by zero leaves only
 * itself out. */
static bool is_empty(enum expr_gap gap)
{
    return gap != EXPR_WHOLE && gap != EXPR_ROWS_BY_ZERO;
}

/* Sums up what became of a metric over all trials, in words. */
static struct own_told told(struct arena *arena, const uint32_t count[EXPR_GAP_COUNT])
{
    struct own_told out = { 0, 0, "" };

    for (unsigned g = 0; g < EXPR_GAP_COUNT; g++) {
        out.trials += count[g];
        out.empty += is_empty((enum expr_gap)g) ? count[g] : 0;
    }
    for (unsigned g = EXPR_WHOLE + 1; g < EXPR_GAP_COUNT; g++)
        if (count[g] > 0)
            out.why = text_format(arena, "%s%s%s (%u trial%s)", out.why,
                                  *out.why == '\0' ? "" : "; ",
                                  expr_gap_text((enum expr_gap)g), count[g],
                                  count[g] == 1 ? "" : "s");
    return out;
}

void own_count(struct own_gaps *gaps, const struct metric_set *set,
               const struct trial_result *result)
{
    for (uint32_t m = 0; m < set->own_count; m++)
        gaps->count[m][result->own_gap[m]]++;
}

const struct own_told *own_told_of(struct arena *arena,
                                   const struct experiment *experiment,
                                   const struct own_gaps *gaps)
{
    uint32_t count = experiment->own->set.own_count;
    struct own_told *out = arena_alloc(arena, count + 1, sizeof *out);

    for (uint32_t m = 0; m < count; m++)
        out[m] = told(arena, gaps->count[m]);
    return count == 0 ? NULL : out;
}

/* ---- the file ---- */

/* Columns of metrics.csv, in its order. */
enum {
    C_METRIC, C_OF, C_UNIT, C_BETTER, C_OVER, C_TITLE, C_HELP, C_TRIALS, C_EMPTY, C_WHY,
    C_COUNT
};

/* Writes a metric as a row of metrics.csv, in the order of its columns. */
static void put_row(struct table *table, const struct metric_info *info,
                    const struct own_told *what)
{
    table_text(table, info->name);
    table_text(table, info->expression);
    table_text(table, info->unit);
    table_text(table, own_metric_better(info->better));
    table_text(table, own_metric_over(info->of));
    table_text(table, info->title);
    table_text(table, info->help);
    table_count(table, what->trials);
    table_count(table, what->empty);
    table_text(table, what->why);
    table_end_row(table);
}

bool own_write(struct arena *arena, const struct folder *dir,
               const struct grid *grid, struct err *err)
{
    const struct metric_set *set = grid->metrics;
    struct table *table;
    struct out *out;

    if (set == NULL || set->own_count == 0)
        return true;
    out = csv_out_open(arena, dir, &csv_metrics, err);
    if (out == NULL)
        return false;
    table = table_new(csv_metrics.columns, csv_metrics.count);
    for (uint32_t m = 0; m < set->own_count; m++)
        put_row(table, &set->own[m], &grid->own_told[m]);
    return csv_out_close(out, table, err);
}

/* Reads a metric back from its row.  A number of trials that is none becomes 0,
 * since it is only shown to people. */
static bool read_row(struct arena *arena, const struct csv *in, const size_t *c,
                     struct metric_info *info, struct own_told *what, struct err *err)
{
    double trials, empty;

    if (!own_metric_better_read(csv_text(in, c[C_BETTER]), &info->better))
        return err_set(err, ERR_RANGE, csv_pos(in, c[C_BETTER]),
                       "better must be more, less or neither");
    if (!own_metric_over_read(csv_text(in, c[C_OVER]), &info->of))
        return err_set(err, ERR_RANGE, csv_pos(in, c[C_OVER]), "over must be all, "
                       "jobs_done, requests_done or both_done");
    if (!csv_number(in, c[C_TRIALS], &trials, err) ||
        !csv_number(in, c[C_EMPTY], &empty, err))
        return false;
    what->trials = trials >= 0 && trials < UINT32_MAX ? (uint32_t)trials : 0;
    what->empty = empty >= 0 && empty < UINT32_MAX ? (uint32_t)empty : 0;
    what->why = arena_text(arena, csv_text(in, c[C_WHY]));
    info->name = arena_text(arena, csv_text(in, c[C_METRIC]));
    info->expression = arena_text(arena, csv_text(in, c[C_OF]));
    info->unit = arena_text(arena, csv_text(in, c[C_UNIT]));
    info->title = arena_text(arena, csv_text(in, c[C_TITLE]));
    info->help = arena_text(arena, csv_text(in, c[C_HELP]));
    if (metric_find(NULL, info->name) == METRIC_COUNT)
        return true;
    return err_set(err, ERR_RANGE, csv_pos(in, c[C_METRIC]),
                   "'%.60s' is a built-in metric", info->name);
}

/* Reads all rows into the set and, side by side, what became of their values. */
static bool read_rows(struct arena *arena, struct csv *in, struct metric_set *set,
                      struct own_told *what, struct err *err)
{
    struct metric_info *info = arena_alloc(arena, METRIC_OWN_MAX, sizeof *info);
    enum csv_step step;
    size_t c[C_COUNT];

    for (size_t i = 0; i < C_COUNT; i++)
        if (!csv_need_column(in, csv_metrics.columns[i].name, &c[i], err))
            return false;
    set->own = info;
    while ((step = csv_next(in, err)) == CSV_ROW) {
        if (set->own_count == METRIC_OWN_MAX)
            return err_set(err, ERR_RANGE, csv_pos(in, c[C_METRIC]),
                           "the table must have at most %d metrics", METRIC_OWN_MAX);
        if (!read_row(arena, in, c, &info[set->own_count], &what[set->own_count], err))
            return false;
        set->own_count++;
    }
    return step == CSV_END;
}

bool own_read(struct arena *arena, const char *dir, struct grid *grid,
              struct err *err)
{
    const char *path = path_join(arena, dir, csv_metrics.file);
    struct metric_set *set;
    struct own_told *what;
    struct csv *in;
    bool ok;

    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return false;
    set = arena_alloc(arena, 1, sizeof *set);
    what = arena_alloc(arena, METRIC_OWN_MAX, sizeof *what);
    ok = read_rows(arena, in, set, what, err);
    csv_close(in);
    grid->metrics = set;
    grid->own_told = what;
    return ok;
}
