/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results_write.c - puts finished trials together. */
#include <inttypes.h>

#include "experiments/audit/audit.h"
#include "experiments/columns/columns.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/compare.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/gather.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "experiments/results/stop_file.h"
#include "experiments/results/summary_write.h"
#include "experiments/run/trial.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* Writes compare.csv, unless the experiment does not want it. */
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

/* Writes a row for each trial that failed, with its message; without one there is no
 * file. */
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

/* Writes the sums of all audits as audit.json.  Trials were added in their
 * order, so the digest does not depend on the order in which they ended. */
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

/* compare.csv comes last, since its figures are those of the grid after
 * summary.csv was written: rounded as the table has them. */
bool results_write(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   uint32_t threads, const struct grid **grid, struct err *err)
{
    struct gathered run;

    if (!gather_trials(arena, results, experiment, trial, true, &run, err) ||
        !write_failures(arena, results, experiment, trial, err) ||
        !write_audit(arena, results, &run.audit, err) ||
        !stop_write(arena, results->dir, experiment, err) ||
        !own_write(arena, results->dir, run.grid, err) ||
        !summary_write(arena, results->dir, experiment, run.grid, threads, err))
        return false;
    run.grid->jobs = fingerprints_draw(arena, experiment);
    *grid = run.grid;
    return write_compare(arena, results, experiment, *grid, err);
}
