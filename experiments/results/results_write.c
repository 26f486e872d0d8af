/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results_write.c - puts finished trials together. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/compare.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/results/gather.h"
#include "experiments/results/results.h"
#include "experiments/results/stop_file.h"
#include "experiments/run/runner.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/table.h"

/* summary.csv and compare.csv. */

#define EXACT_NS (INT64_C(1) << 53)     /* below it each whole number is a double */

/* Puts a time, and returns what a reader takes it for. */
static double put_time(struct table *table, double value)
{
    const char *row;
    size_t before = table_begun(table, &row), after;
    double read = NAN;
    int64_t ns;

    if (!clock_ns_from_s(value, &ns)) {
        table_empty(table);
        return NAN;
    }
    table_time(table, ns);
    if (ns > -EXACT_NS && ns < EXACT_NS)
        return (double)ns / (double)CLOCK_NS_PER_S;     /* one rounding, as of a reader */
    after = table_begun(table, &row);
    assert(after > before);             /* a comma at least */
    (void)scan_f64(row + before, after - before - 1, &read);
    return read;
}

/* Puts the value, and returns what a reader of the table will take it for: so all that
 * is made of it is the same now and when the folder is read again. */
static double put_metric(struct table *table, enum table_type type, double value)
{
    uint64_t count;

    if (!isfinite(value)) {
        table_empty(table);
        return NAN;
    }
    if (type == TABLE_TIME)
        return put_time(table, value);
    if (type != TABLE_COUNT)
        return table_real_read(table, value);
    count = (uint64_t)(value + 0.5);
    table_count(table, count);
    return (double)count;
}

/* Behind the columns that every summary.csv has stand the experiment's own. */
static struct csv_kind summary_kind(struct arena *arena, const struct metric_set *set)
{
    struct csv_kind kind = csv_summary;
    struct table_column *column = arena_alloc(arena, kind.count + set->own_count,
                                              sizeof *column);

    memcpy(column, csv_summary.columns, csv_summary.count * sizeof *column);
    for (uint32_t m = 0; m < set->own_count; m++)
        column[kind.count++] = (struct table_column){
            set->own[m].name, TABLE_REAL, set->own[m].help };
    kind.columns = column;
    return kind;
}

static void summary_row(const struct experiment *experiment, struct grid *grid,
                        const struct csv_kind *kind, const enum metric *metric,
                        struct experiment_trial t, struct table *table)
{
    table_text(table, grid->point[t.point]);
    table_text(table, grid->policy[t.policy]);
    table_count(table, grid->seed[t.seed]);
    for (size_t c = 3; c < kind->count; c++)
        if (metric[c] == METRIC_ROOM)
            table_count(table, !experiment_draws(experiment, t.point, t.policy));
        else
            grid_set(grid, t.point, t.policy, t.seed, metric[c],
                     put_metric(table, kind->columns[c].type,
                                grid_value(grid, t.point, t.policy, t.seed, metric[c])));
    table_end_row(table);
}

/* The values of the grid become those that are written. */
static void summary_rows(const struct experiment *experiment, struct grid *grid,
                         const struct csv_kind *kind, struct table *table)
{
    /* By column; METRIC_ROOM: `deterministic`, wherever it stands. */
    enum metric metric[3 + METRIC_ROOM + 1];

    for (size_t c = 3; c < kind->count; c++) {
        metric[c] = metric_find(grid->metrics, kind->columns[c].name);
        if (metric[c] == metric_count(grid->metrics))
            metric[c] = (enum metric)METRIC_ROOM;
    }
    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        struct experiment_trial t = experiment_trial(experiment, i);

        if (grid_present(grid, t.point, t.policy, t.seed) &&
            !experiment_is_copy(experiment, i))
            summary_row(experiment, grid, kind, metric, t, table);
        if (t.seed == grid->seed_count - 1)
            grid_end(grid, t.point, t.policy, grid_fixed(grid, t.point, t.policy));
    }
}

static void take_rows(void *self, const char *bytes, size_t count)
{
    out_bytes(self, bytes, count);
}

static bool write_summary(struct arena *arena, const struct results *results,
                          const struct experiment *experiment, struct grid *grid,
                          struct err *err)
{
    struct csv_kind kind = summary_kind(arena, grid->metrics);
    struct out *out = csv_out_open(arena, results->dir, &kind, err);
    struct table *table;

    if (out == NULL)
        return false;
    assert(csv_summary.count == 3 + METRIC_COUNT + 1);
    table = table_new(kind.columns, kind.count);
    table_sink(table, take_rows, out);
    summary_rows(experiment, grid, &kind, table);
    return csv_out_close(out, table, err);
}

static bool write_compare(struct arena *arena, const struct results *results,
                          const struct experiment *experiment, const struct grid *grid,
                          struct err *err)
{
    struct out *out;
    struct table *table;

    if ((experiment->tables & EXPERIMENT_COMPARE) == 0)
        return true;
    out = csv_out_open(arena, results->dir, &csv_compare, err);
    if (out == NULL)
        return false;
    table = table_new(csv_compare.columns, csv_compare.count);
    compare_rows(arena, grid, experiment->baseline, table);
    return csv_out_close(out, table, err);
}

/* failures.csv: only if there are any. */

static bool write_failures(struct arena *arena, const struct results *results,
                           const struct experiment *experiment,
                           const struct runner_trial *trial, struct err *err)
{
    struct table *table = NULL;
    struct out *out = NULL;

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        struct experiment_trial t = experiment_trial(experiment, i);
        const struct err *why = trial[i].err;

        if (trial[i].state != RUNNER_FAILED)
            continue;
        if (out == NULL) {
            out = csv_out_open(arena, results->dir, &csv_failures, err);
            if (out == NULL)
                return false;
            table = table_new(csv_failures.columns, csv_failures.count);
        }
        table_text(table, experiment->point[t.point].label);
        table_text(table, experiment->policy_name[t.policy]);
        table_count(table, t.seed);
        table_text(table, why->pos.file == NULL ? ""
                   : text_format(arena, "%s:%u:%u", why->pos.file,
                                 why->pos.line, why->pos.col));
        table_text(table, why->text);
        table_text(table, why->hint);
        table_end_row(table);
    }
    return out == NULL || csv_out_close(out, table, err);
}

/* audit.json */

static bool write_audit(struct arena *arena, const struct results *results,
                        const struct audit_sum *sum, struct err *err)
{
    struct out *out = out_in(arena, results->dir, "audit.json", err);

    if (out == NULL)
        return false;
    out_printf(out, "{\n  \"trials\": %u,\n  \"trials_failed\": %u,\n"
               "  \"violations\": %u,\n  \"events\": %" PRIu64 ",\n"
               "  \"digest\": \"%016" PRIx64 "\",\n  \"checks\": {\n",
               sum->done, sum->failed, sum->broken, sum->events, sum->digest);
    for (unsigned c = 0; c < AUDIT_CHECK_COUNT; c++)
        out_printf(out, "    \"%s\": %" PRIu64 "%s\n",
                   audit_check_name((enum audit_check)c), sum->check[c],
                   c + 1 < AUDIT_CHECK_COUNT ? "," : "");
    out_text(out, "  },\n  \"jobs\": {\n");
    for (unsigned s = 0; s < JOB_STATUS_COUNT; s++)
        out_printf(out, "    \"%s\": %" PRIu64 "%s\n",
                   job_status_name((enum job_status)s), sum->status[s],
                   s + 1 < JOB_STATUS_COUNT ? "," : "");
    out_text(out, "  }\n}\n");
    return out_close(out, err);
}

bool results_write(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   const struct grid **grid, struct err *err)
{
    struct gathered run;

    if (!gather_trials(arena, results, experiment, trial, true, &run, err) ||
        !write_failures(arena, results, experiment, trial, err) ||
        !write_audit(arena, results, &run.audit, err) ||
        !stop_write(arena, results->dir, experiment, err) ||
        !own_write(arena, results->dir, run.grid, err) ||
        !write_summary(arena, results, experiment, run.grid, err))
        return false;
    *grid = run.grid;
    return write_compare(arena, results, experiment, *grid, err);
}
