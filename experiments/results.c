/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.c - puts finished trials together.
 *
 * Whatever order trials were run in, rows reach a file in trial order: the
 * same bytes for any number of threads, and for a run that was interrupted
 * and resumed.
 */
#include "experiments/results.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/cache.h"
#include "experiments/columns.h"
#include "experiments/compare.h"
#include "experiments/grid.h"
#include "experiments/hash.h"
#include "experiments/out.h"
#include "experiments/paths.h"
#include "experiments/runner.h"
#include "experiments/study.h"
#include "models/job.h"
#include "sim/arena.h"
#include "sim/clock.h"

static const char *const result_files[] = {
    "summary.csv", "compare.csv", "jobs.csv", "phases.csv", "timeline.csv",
    "decisions.csv", "arrived.csv", "failures.csv", "checks.csv", "audit.json",
    "provenance.json", "trace.json", "report.html", NULL
};

const char *results_trials_dir(struct arena *arena, const struct study *study)
{
    return path_join(arena, study->dir, ".trials");
}

/* The inputs of this experiment, and files that happen to be called like a
 * table but came from no run, are not ours to delete.  A run's own folder has
 * its trials until provenance.json is there. */
static bool may_replace(struct arena *arena, const struct study *study,
                        const char *name, bool ours, struct err *err)
{
    const char *path = path_join(arena, study->dir, name);
    struct err_pos pos = { path, 0, 0 };

    if (!path_is_file(path))
        return true;
    for (size_t i = 0; i < study->input_count; i++)
        if (path_same(study->input[i].path, path)) {
            err_set(err, ERR_IO, pos, "would be overwritten by the results, "
                    "and is an input of the experiment");
            return err_hint(err, "Choose another folder with -o.");
        }
    if (ours)
        return true;
    err_set(err, ERR_IO, pos, "would be overwritten by the results, and is "
            "not from a run: there is no provenance.json beside it");
    return err_hint(err, "Choose another folder with -o, or move the file.");
}

/* The folder of trials comes first: it says from then on whose files these
 * are. */
bool results_begin(struct arena *arena, const struct study *study, bool resume,
                   struct err *err)
{
    const char *plots = path_join(arena, study->dir, "plots");
    const char *trials = results_trials_dir(arena, study);
    bool ours = path_is_folder(trials) || path_is_file(
        path_join(arena, study->dir, "provenance.json"));

    for (size_t i = 0; result_files[i] != NULL; i++)
        if (!may_replace(arena, study, result_files[i], ours, err))
            return false;
    if (!path_make_folder(study->dir, err))
        return false;
    if (!resume)
        path_remove_folder(arena, trials);
    if (!path_make_folder(trials, err))
        return false;
    for (size_t i = 0; result_files[i] != NULL; i++)
        if (!path_remove(arena, study->dir, result_files[i], err))
            return false;
    if (path_is_file(path_join(arena, plots, "list.txt")))
        path_remove_folder(arena, plots);
    return true;
}

unsigned results_recall(struct arena *arena, const struct study *study,
                        struct runner_trial *trial)
{
    const char *dir = results_trials_dir(arena, study);
    unsigned count = 0;

    for (uint32_t i = 0; i < study_trial_count(study); i++) {
        if (cache_read(dir, study_trial_hash(study, i), &trial[i].result,
                       NULL)) {
            trial[i].state = RUNNER_DONE;
            trial[i].known = true;
            count++;
        }
    }
    return count;
}

/* Tables that trials filled themselves. */

static struct out *open_csv(struct arena *arena, const struct study *study,
                            const struct csv_kind *kind, struct err *err)
{
    struct out *out = out_open(arena, path_join(arena, study->dir, kind->file),
                               err);
    char header[4096];
    size_t bytes;

    if (out == NULL)
        return NULL;
    bytes = table_header(kind->columns, kind->count, header, sizeof header);
    assert(bytes < sizeof header);
    out_bytes(out, header, bytes);
    return out;
}

struct csv_set {
    struct out *out[CACHE_TABLE_COUNT];     /* NULL: not wanted */
};

static bool open_set(struct arena *arena, const struct study *study,
                     struct csv_set *set, struct err *err)
{
    static const struct csv_kind *const kind[CACHE_TABLE_COUNT] = {
        &csv_jobs, &csv_phases, &csv_timeline, &csv_decisions, &csv_services,
        &csv_arrived
    };
    static const uint32_t mask[CACHE_TABLE_COUNT] = {
        STUDY_JOBS, STUDY_PHASES, STUDY_TIMELINE, STUDY_DECISIONS,
        STUDY_SERVICES, STUDY_ARRIVED
    };

    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        if ((study->tables & mask[t]) == 0)
            continue;
        set->out[t] = open_csv(arena, study, kind[t], err);
        if (set->out[t] == NULL)
            return false;
    }
    return true;
}

static bool append_trial(const char *dir, uint64_t hash,
                         const struct csv_set *set, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct trial_result result;

    return cache_read(dir, hash, &result, set->out) ||
           err_set(err, ERR_IO, nowhere, "%.120s: a finished trial is no "
                   "longer there", dir);
}

static bool write_rows(struct arena *arena, const struct study *study,
                       const struct runner_trial *trial, struct err *err)
{
    const char *dir = results_trials_dir(arena, study);
    struct csv_set set = { { NULL } };
    bool ok = open_set(arena, study, &set, err);

    for (uint32_t i = 0; ok && i < study_trial_count(study); i++)
        if (trial[i].state == RUNNER_DONE)
            ok = append_trial(dir, study_trial_hash(study, i), &set, err);
    for (int t = 0; ok && t < CACHE_TABLE_COUNT; t++)
        if (set.out[t] != NULL)
            ok = out_close(set.out[t], err);
    for (int t = 0; t < CACHE_TABLE_COUNT; t++)
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

static void summary_rows(const struct study *study, const struct grid *grid,
                         struct table *table)
{
    for (uint32_t i = 0; i < study_trial_count(study); i++) {
        struct study_trial t = study_trial(study, i);

        if (!grid_present(grid, t.point, t.policy, t.seed))
            continue;
        table_text(table, grid->point[t.point]);
        table_text(table, grid->policy[t.policy]);
        table_count(table, grid->seed[t.seed]);
        for (unsigned m = 0; m < METRIC_COUNT; m++)
            put_metric(table, csv_summary.columns[3 + m].type,
                       grid_value(grid, t.point, t.policy, t.seed,
                                  (enum metric)m));
        table_end_row(table);
    }
}

static bool close_table(struct out *out, struct table *table, struct err *err)
{
    size_t bytes;
    const char *rows = table_bytes(table, &bytes);

    out_bytes(out, rows, bytes);
    table_free(table);
    return out_close(out, err);
}

static bool write_summary(struct arena *arena, const struct study *study,
                          const struct grid *grid, struct err *err)
{
    struct out *out = open_csv(arena, study, &csv_summary, err);
    struct table *table;

    if (out == NULL)
        return false;
    assert(csv_summary.count == 3 + METRIC_COUNT);
    table = table_new(csv_summary.columns, csv_summary.count);
    summary_rows(study, grid, table);
    return close_table(out, table, err);
}

static bool write_compare(struct arena *arena, const struct study *study,
                          const struct grid *grid, struct err *err)
{
    struct out *out;
    struct table *table;

    if ((study->tables & STUDY_COMPARE) == 0)
        return true;
    out = open_csv(arena, study, &csv_compare, err);
    if (out == NULL)
        return false;
    table = table_new(csv_compare.columns, csv_compare.count);
    compare_rows(arena, grid, study->baseline, table);
    return close_table(out, table, err);
}

/* failures.csv: only if there are any. */

static const struct table_column failures_column[] = {
    { "point", TABLE_TEXT, "cell of the sweep" },
    { "policy", TABLE_TEXT, "name of the policy in this experiment" },
    { "seed", TABLE_COUNT, "replica" },
    { "place", TABLE_TEXT, "file and line, if there is one" },
    { "message", TABLE_TEXT, "why the trial failed" },
    { "hint", TABLE_TEXT, "what would help, if it is known" },
};
static const struct csv_kind csv_failures = {
    "failures.csv", "one row per failed trial", failures_column,
    sizeof failures_column / sizeof failures_column[0]
};

static bool write_failures(struct arena *arena, const struct study *study,
                           const struct runner_trial *trial, struct err *err)
{
    struct table *table = NULL;
    struct out *out = NULL;

    for (uint32_t i = 0; i < study_trial_count(study); i++) {
        struct study_trial t = study_trial(study, i);
        const struct err *why = &trial[i].err;

        if (trial[i].state != RUNNER_FAILED)
            continue;
        if (out == NULL) {
            out = open_csv(arena, study, &csv_failures, err);
            if (out == NULL)
                return false;
            table = table_new(csv_failures.columns, csv_failures.count);
        }
        table_text(table, study->point[t.point].label);
        table_text(table, study->policy_name[t.policy]);
        table_count(table, t.seed);
        table_text(table, why->pos.file == NULL ? ""
                   : text_format(arena, "%s:%u:%u", why->pos.file,
                                 why->pos.line, why->pos.col));
        table_text(table, why->text);
        table_text(table, why->hint);
        table_end_row(table);
    }
    return out == NULL || close_table(out, table, err);
}

/* audit.json */

struct audit_sum {
    uint32_t done, failed, broken;
    uint64_t events, digest, check[AUDIT_CHECK_COUNT],
        status[JOB_STATUS_COUNT];
};

static struct audit_sum audit_sum(const struct study *study,
                                  const struct runner_trial *trial)
{
    struct audit_sum sum = { .digest = HASH_START };

    for (uint32_t i = 0; i < study_trial_count(study); i++) {
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

static bool write_audit(struct arena *arena, const struct study *study,
                        const struct runner_trial *trial, struct err *err)
{
    struct audit_sum sum = audit_sum(study, trial);
    struct out *out = out_open(
        arena, path_join(arena, study->dir, "audit.json"), err);

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

bool results_write(struct arena *arena, const struct study *study,
                   const struct runner_trial *trial, const struct grid *grid,
                   struct err *err)
{
    return write_rows(arena, study, trial, err) &&
           write_failures(arena, study, trial, err) &&
           write_audit(arena, study, trial, err) &&
           write_compare(arena, study, grid, err) &&
           write_summary(arena, study, grid, err);
}

void results_end(struct arena *arena, const struct study *study)
{
    path_remove_folder(arena, results_trials_dir(arena, study));
}
