/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.c - some columns and seeds of summary.csv.
 */
#include "experiments/ci/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/grid.h"
#include "experiments/results/stop_file.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* ---- which metrics ---- */

struct chosen {
    enum metric metric[METRIC_ROOM];
    uint32_t count;
};

/* Each metric once, though several expectations may name it. */
static void choose(struct chosen *c, enum metric metric)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->metric[i] == metric)
            return;
    c->metric[c->count++] = metric;
}

/* What tells a workload from another one comes first, then what is asked for, then what a
 * change of a policy mostly moves. */
static void choose_metrics(const struct grid *grid, const struct baseline_asks *asks,
                           struct chosen *c)
{
    static const enum metric first[] = { METRIC_JOBS, METRIC_JOBS_DONE };
    static const enum metric then[] = {
        METRIC_JCT_MEAN, METRIC_JCT_P95, METRIC_WAIT_MEAN, METRIC_COST,
        METRIC_GPU_UTILIZATION, METRIC_SLO
    };

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        choose(c, first[i]);
    for (uint32_t i = 0; i < asks->expect_count; i++)
        choose(c, asks->expect[i].metric);
    if (asks->decide != NULL && asks->decide->choice_count > 0) {
        choose(c, asks->decide->metric);
        for (uint32_t k = 0; k < asks->decide->keep_count; k++)
            choose(c, asks->decide->keep[k].metric);
    }
    for (size_t i = 0; i < sizeof then / sizeof then[0]; i++)
        choose(c, then[i]);
    for (unsigned m = METRIC_COUNT; m < metric_count(grid->metrics); m++)
        choose(c, (enum metric)m);
}

/* ---- the rows ---- */

/* As few digits as read back to the same number. */
static void put_value(struct arena *arena, struct table *table, double value)
{
    const char *text = "";

    for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
        text = text_format(arena, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    table_text(table, text);
}

/* Returns an empty table: point, policy and seed, the chosen metrics, and whether all
 * seeds give the same. */
static struct table *make_table(struct arena *arena, const struct grid *grid,
                                const struct chosen *c)
{
    struct table_column *column = arena_alloc(arena, 4 + c->count, sizeof *column);

    memcpy(column, csv_summary.columns, 3 * sizeof *column);
    for (uint32_t i = 0; i < c->count; i++)
        column[3 + i] = (struct table_column){
            metric_info(grid->metrics, c->metric[i])->name, TABLE_TEXT, "" };
    column[3 + c->count] = (struct table_column){ "deterministic", TABLE_COUNT, "" };
    return table_new(column, 4 + c->count);
}

/* A row of summary.csv with the chosen metrics alone, in their order there. */
static void put_row(struct arena *arena, const struct grid *grid, const struct chosen *c,
                    uint32_t point, uint32_t policy, uint32_t seed, struct table *table)
{
    table_text(table, grid->point[point]);
    table_text(table, grid->policy[policy]);
    table_count(table, grid->seed[seed]);
    for (uint32_t i = 0; i < c->count; i++)
        put_value(arena, table, grid_value(grid, point, policy, seed, c->metric[i]));
    table_count(table, grid_fixed(grid, point, policy));
    table_end_row(table);
}

/* The rows of the first `seeds` seeds; where nothing is drawn there is one. */
static struct table *make_rows(struct arena *arena, const struct grid *grid,
                               const struct chosen *c, uint32_t seeds)
{
    struct table *table = make_table(arena, grid, c);

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            for (uint32_t s = 0; s < (grid_fixed(grid, t, p) ? 1 : seeds); s++)
                if (grid_present(grid, t, p, s))
                    put_row(arena, grid, c, t, p, s, table);
    return table;
}

/* Bytes of the header line, with its line end. */
static size_t header_bytes(const struct grid *grid, const struct chosen *c)
{
    size_t bytes = strlen("point,policy,seed,deterministic\n");

    for (uint32_t i = 0; i < c->count; i++)
        bytes += 1 + strlen(metric_info(grid->metrics, c->metric[i])->name);
    return bytes;
}

/* Returns the bytes of the file with these rows. */
static size_t count_bytes(const struct table *table, const struct grid *grid,
                          const struct chosen *c)
{
    size_t bytes;

    (void)table_bytes(table, &bytes);
    return bytes + header_bytes(grid, c);
}

/* Returns the rows of as many seeds as there is room for, at least one. */
static struct table *fit_rows(struct arena *arena, const struct grid *grid,
                              const struct chosen *c, const struct baseline_asks *asks,
                              struct baseline_told *told)
{
    uint32_t most = grid->seed_count, least = 1, seeds;
    struct table *table;

    if (asks->seeds_most > 0 && asks->seeds_most < most)
        most = asks->seeds_most;
    /* More seeds are more bytes: the limit lies between least and most. */
    for (seeds = most; least < most; seeds = least + (most - least + 1) / 2) {
        table = make_rows(arena, grid, c, seeds);
        if (count_bytes(table, grid, c) <= BASELINE_BYTES)
            least = seeds;
        else
            most = seeds - 1;
        table_free(table);
    }
    table = make_rows(arena, grid, c, least);
    told->bytes = count_bytes(table, grid, c);
    told->seeds = least;
    told->metrics = c->count;
    return table;
}

/* False, with err, for a folder in which a run has left its results. */
static bool may_write(struct arena *arena, const char *dir, struct err *err)
{
    struct err_pos pos = { dir, 0, 0 };

    if (!path_is_file(path_join(arena, dir, "provenance.json")) &&
        !path_is_folder(path_join(arena, dir, ".trials")))
        return true;
    err_set(err, ERR_USAGE, pos, "the folder holds the results of a run, which a baseline "
            "would replace");
    return err_hint(err, "Keep the baseline in a folder of its own.");
}

/* Writes a table of summary.csv.  Its header is written here, since the metrics differ
 * from baseline to baseline. */
static bool write_table(struct arena *arena, const struct folder *dir, struct table *table,
                        const struct grid *grid, const struct chosen *c, struct err *err)
{
    struct out *out = out_in(arena, dir, csv_summary.file, err);
    const char *rows;
    size_t bytes;

    if (out == NULL)
        return false;
    out_text(out, "point,policy,seed");
    for (uint32_t i = 0; i < c->count; i++)
        out_printf(out, ",%s", metric_info(grid->metrics, c->metric[i])->name);
    out_text(out, ",deterministic\n");
    rows = table_bytes(table, &bytes);
    out_bytes(out, rows, bytes);
    return out_close(out, err);
}

bool baseline_write(struct arena *arena, const char *dir, const struct grid *grid,
                    const struct baseline_asks *asks, struct baseline_told *told,
                    struct err *err)
{
    struct chosen c = { .count = 0 };
    struct folder *folder;
    struct table *table;
    bool ok;

    if (!may_write(arena, dir, err))
        return false;
    choose_metrics(grid, asks, &c);
    folder = folder_make(arena, dir, err);
    if (folder == NULL)
        return false;
    table = fit_rows(arena, grid, &c, asks, told);
    ok = folder_lock(folder, err) && write_table(arena, folder, table, grid, &c, err) &&
         (grid->metrics == NULL || own_write(arena, folder, grid, err)) &&
         fingerprints_write(arena, folder, grid->jobs, err);
    table_free(table);
    folder_close(folder);
    return ok;
}
