/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_write.c - puts finished trials together.
 *
 * Whatever order trials were run in, rows reach a file in trial order: the
 * same bytes for any number of threads, and for a run that was interrupted
 * and resumed.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/compare.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/results/stop_file.h"
#include "experiments/results/results.h"
#include "experiments/results/stop_file.h"
#include "experiments/run/runner.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "experiments/trials/store.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* Tables that trials filled themselves. */

struct csv_set {
    struct out *out[STORE_TABLE_COUNT];     /* NULL: not wanted */
};

static bool open_set(struct arena *arena, const struct results *results,
                     uint32_t tables, struct csv_set *set, struct err *err)
{
    static const struct csv_kind *const kind[STORE_TABLE_COUNT] = {
        &csv_jobs, &csv_phases, &csv_timeline, &csv_decisions, &csv_services,
        &csv_arrived, &csv_tenants
    };
    static const uint32_t mask[STORE_TABLE_COUNT] = {
        EXPERIMENT_JOBS, EXPERIMENT_PHASES, EXPERIMENT_TIMELINE, EXPERIMENT_DECISIONS,
        EXPERIMENT_SERVICES, EXPERIMENT_ARRIVED, EXPERIMENT_TENANTS
    };

    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        if ((tables & mask[t]) == 0)
            continue;
        set->out[t] = csv_out_open(arena, results->dir, kind[t], err);
        if (set->out[t] == NULL)
            return false;
    }
    return true;
}

static bool append_trial(struct store *store, uint64_t hash, const struct csv_set *set,
                         struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct trial_result result;

    return store_read(store, hash, &result, set->out) ||
           err_set(err, ERR_IO, nowhere, "%.120s: a finished trial is no "
                   "longer there", folder_path(store_folder(store)));
}

static bool write_rows(struct arena *arena, const struct results *results,
                       const struct experiment *experiment,
                       const struct runner_trial *trial, struct err *err)
{
    struct csv_set set = { { NULL } };
    uint32_t tables = experiment->tables;

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++)
        if (trial[i].state == RUNNER_DONE && trial[i].result.tenant_count > 0)
            tables |= EXPERIMENT_TENANTS;
    bool ok = open_set(arena, results, tables, &set, err);

    store_settle(results->store);
    for (uint32_t i = 0; ok && i < experiment_trial_count(experiment); i++)
        if (trial[i].state == RUNNER_DONE)
            ok = append_trial(results->store, experiment_trial_hash(experiment, i),
                              &set, err);
    for (int t = 0; ok && t < STORE_TABLE_COUNT; t++)
        if (set.out[t] != NULL)
            ok = out_close(set.out[t], err);
    for (int t = 0; t < STORE_TABLE_COUNT; t++)
        out_abandon(set.out[t]);
    return ok;
}

/* summary.csv and compare.csv. */

static void put_metric(struct table *table, enum table_type type, double value)
{
    int64_t ns;

    if (!isfinite(value)) {
        table_empty(table);
    } else if (type == TABLE_COUNT) {
        table_count(table, (uint64_t)(value + 0.5));
    } else if (type == TABLE_TIME) {
        if (clock_ns_from_s(value, &ns))
            table_time(table, ns);
        else
            table_empty(table);
    } else {
        table_real(table, value);
    }
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

static void summary_rows(const struct experiment *experiment, const struct grid *grid,
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

        if (!grid_present(grid, t.point, t.policy, t.seed) ||
            experiment_is_copy(experiment, i))
            continue;
        table_text(table, grid->point[t.point]);
        table_text(table, grid->policy[t.policy]);
        table_count(table, grid->seed[t.seed]);
        for (size_t c = 3; c < kind->count; c++)
            if (metric[c] == METRIC_ROOM)
                table_count(table, !experiment_draws(experiment, t.point, t.policy));
            else
                put_metric(table, kind->columns[c].type,
                           grid_value(grid, t.point, t.policy, t.seed,
                                      metric[c]));
        table_end_row(table);
    }
}

static bool write_summary(struct arena *arena, const struct results *results,
                          const struct experiment *experiment, const struct grid *grid,
                          struct err *err)
{
    struct csv_kind kind = summary_kind(arena, grid->metrics);
    struct out *out = csv_out_open(arena, results->dir, &kind, err);
    struct table *table;

    if (out == NULL)
        return false;
    assert(csv_summary.count == 3 + METRIC_COUNT + 1);
    table = table_new(kind.columns, kind.count);
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
        const struct err *why = &trial[i].err;

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

struct audit_sum {
    uint32_t done, failed, broken;
    uint64_t events, digest, check[AUDIT_CHECK_COUNT],
        status[JOB_STATUS_COUNT];
};

static struct audit_sum audit_sum(const struct experiment *experiment,
                                  const struct runner_trial *trial)
{
    struct audit_sum sum = { .digest = HASH_START };

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        sum.failed += trial[i].state == RUNNER_FAILED;
        sum.broken += trial[i].state == RUNNER_FAILED &&
                      trial[i].err.kind == ERR_BUG;
        if (trial[i].state != RUNNER_DONE)
            continue;
        sum.done++;
        sum.events += trial[i].result.event_count;
        sum.digest = hash_u64(sum.digest, trial[i].result.digest);
        for (unsigned c = 0; c < AUDIT_CHECK_COUNT; c++)
            sum.check[c] += trial[i].result.audit_count[c];
        for (unsigned s = 0; s < JOB_STATUS_COUNT; s++)
            sum.status[s] += trial[i].result.status_count[s];
    }
    return sum;
}

static bool write_audit(struct arena *arena, const struct results *results,
                        const struct experiment *experiment,
                        const struct runner_trial *trial, struct err *err)
{
    struct audit_sum sum = audit_sum(experiment, trial);
    struct out *out = out_in(arena, results->dir, "audit.json", err);

    if (out == NULL)
        return false;
    out_printf(out, "{\n  \"trials\": %u,\n  \"trials_failed\": %u,\n"
               "  \"violations\": %u,\n  \"events\": %" PRIu64 ",\n"
               "  \"digest\": \"%016" PRIx64 "\",\n  \"checks\": {\n",
               sum.done, sum.failed, sum.broken, sum.events, sum.digest);
    for (unsigned c = 0; c < AUDIT_CHECK_COUNT; c++)
        out_printf(out, "    \"%s\": %" PRIu64 "%s\n",
                   audit_check_name((enum audit_check)c), sum.check[c],
                   c + 1 < AUDIT_CHECK_COUNT ? "," : "");
    out_text(out, "  },\n  \"jobs\": {\n");
    for (unsigned s = 0; s < JOB_STATUS_COUNT; s++)
        out_printf(out, "    \"%s\": %" PRIu64 "%s\n",
                   job_status_name((enum job_status)s), sum.status[s],
                   s + 1 < JOB_STATUS_COUNT ? "," : "");
    out_text(out, "  }\n}\n");
    return out_close(out, err);
}

bool results_write(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   const struct grid **grid, struct err *err)
{
    const struct grid *run = grid_from_trials(arena, experiment, trial), *read;

    if (!write_rows(arena, results, experiment, trial, err) ||
        !write_failures(arena, results, experiment, trial, err) ||
        !write_audit(arena, results, experiment, trial, err) ||
        !stop_write(arena, results->dir, experiment, err) ||
        !own_write(arena, results->dir, run, err) ||
        !write_summary(arena, results, experiment, run, err))
        return false;
    read = grid_from_folder(arena, experiment->dir, err);
    if (read == NULL)
        return false;
    *grid = compare_align(arena, run, read);
    return write_compare(arena, results, experiment, *grid, err);
}
