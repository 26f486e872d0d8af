/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gather.c - trials from .trials to tables and to the grid.
 *
 * Whatever order trials were run in, rows reach a file in trial order: the
 * same bytes for any number of threads, and for a run that was interrupted
 * and resumed.
 */
#include "experiments/results/gather.h"

#include "experiments/columns/columns.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "experiments/results/stop_file.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "experiments/trials/store.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"

_Static_assert(JOB_STATUS_COUNT <= 8, "audit_sum has room for each");

/* Tables that trials fill themselves. */
struct csv_set {
    struct out *out[STORE_TABLE_COUNT];     /* NULL: not wanted */
};

/* One gathering: where trials are read from, and where their values go. */
struct gathering {
    struct arena *arena;
    const struct results *results;          /* the folder, with the store of its trials */
    const struct experiment *experiment;    /* in whose order trials are read */
    struct csv_set set;         /* tables that are open */
    bool rows;                  /* tables are written, too */
    struct own_gaps gaps;       /* why own metrics have no value, and how often */
    struct gathered *out;       /* the grid, and what else is told of the trials */
};

/* The table of each part of a trial's record, by enum store_table. */
static const struct csv_kind *const kind_of[STORE_TABLE_COUNT] = {
    &csv_jobs, &csv_phases, &csv_timeline, &csv_decisions, &csv_services,
    &csv_arrived, &csv_tenants
};

/* Opens one of the tables for writing, with its header. */
static bool open_table(struct gathering *g, enum store_table table, struct err *err)
{
    g->set.out[table] = csv_out_open(g->arena, g->results->dir, kind_of[table], err);
    return g->set.out[table] != NULL;
}

/* Opens all tables that are wanted, except tenants.csv, which the first trial
 * with tenants opens. */
static bool open_set(struct gathering *g, struct err *err)
{
    static const uint32_t mask[STORE_TABLE_COUNT] = {
        EXPERIMENT_JOBS, EXPERIMENT_PHASES, EXPERIMENT_TIMELINE, EXPERIMENT_DECISIONS,
        EXPERIMENT_SERVICES, EXPERIMENT_ARRIVED, EXPERIMENT_TENANTS
    };

    for (int t = 0; t < STORE_TABLE_COUNT; t++)
        if ((g->experiment->tables & mask[t]) != 0 &&
            !open_table(g, (enum store_table)t, err))
            return false;
    return true;
}

/* Closes all tables, which gives them their names; after a failure none of them
 * gets it. */
static bool close_set(struct csv_set *set, bool ok, struct err *err)
{
    for (int t = 0; ok && t < STORE_TABLE_COUNT; t++)
        if (set->out[t] != NULL)
            ok = out_close(set->out[t], err);
    for (int t = 0; t < STORE_TABLE_COUNT; t++)
        out_abandon(set->out[t]);
    return ok;
}

/* Reports that a trial which was kept is no longer there; returns false. */
static bool is_gone(const struct store *store, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    return err_set(err, ERR_IO, nowhere, "%.120s: a finished trial is no "
                   "longer there", folder_path(store_folder(store)));
}

/* Opens the table of tenants at the first trial that has any, and writes the
 * rows of that trial into it.  The trial is read a second time, since its rows
 * were passed over the first time. */
static bool begin_tenants(struct gathering *g, uint64_t hash, struct err *err)
{
    struct csv_set only = { { NULL } };
    struct trial_result again;

    if (!open_table(g, STORE_TENANTS, err))
        return false;
    only.out[STORE_TENANTS] = g->set.out[STORE_TENANTS];
    return store_read(g->results->store, hash, &again, only.out) ||
           is_gone(g->results->store, err);
}

/* Reads what was kept of a trial, and copies its rows to the tables. */
static bool read_trial(struct gathering *g, uint32_t index, struct trial_result *result,
                       struct err *err)
{
    uint64_t hash = experiment_trial_hash(g->experiment, index);

    if (!store_read(g->results->store, hash, result, g->rows ? g->set.out : NULL))
        return is_gone(g->results->store, err);
    return !g->rows || result->tenant_count == 0 || g->set.out[STORE_TENANTS] != NULL ||
           begin_tenants(g, hash, err);
}

/* Adds the counts of a trial to the sums of the run.  The digest is over the
 * digests of trials in their order. */
static void add_audit(struct audit_sum *sum, const struct trial_result *result)
{
    sum->done++;
    sum->events += result->event_count;
    sum->digest = hash_u64(sum->digest, result->digest);
    for (unsigned c = 0; c < AUDIT_CHECK_COUNT; c++)
        sum->check[c] += result->audit_count[c];
    for (unsigned s = 0; s < JOB_STATUS_COUNT; s++)
        sum->status[s] += result->status_count[s];
}

/* Adds a trial to grid and tables.  One that failed leaves an empty cell; one that
 * is not done is passed over. */
static bool add_trial(struct gathering *g, uint32_t index, const struct runner_trial *trial,
                      struct err *err)
{
    struct experiment_trial t = experiment_trial(g->experiment, index);
    struct grid *grid = g->out->grid;
    struct trial_result result;

    if (trial->state == RUNNER_FAILED) {
        grid_put(grid, t.point, t.policy, t.seed, NULL);
        g->out->audit.failed++;
        g->out->audit.broken += trial->err->kind == ERR_BUG;
    }
    if (trial->state != RUNNER_DONE)
        return true;
    if (!read_trial(g, index, &result, err))
        return false;
    grid_put(grid, t.point, t.policy, t.seed, result.value);
    own_count(&g->gaps, grid->metrics, &result);
    add_audit(&g->out->audit, &result);
    return true;
}

/* Adds all trials in the order of the experiment.  After the last seed of a policy
 * the grid learns whether seeds differ at all. */
static bool add_all(struct gathering *g, const struct runner_trial *trial, struct err *err)
{
    const struct experiment *experiment = g->experiment;

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        struct experiment_trial t = experiment_trial(experiment, i);

        if (!add_trial(g, i, &trial[i], err))
            return false;
        if (t.seed == experiment->seeds - 1)
            grid_end(g->out->grid, t.point, t.policy,
                     !experiment_draws(experiment, t.point, t.policy));
    }
    return true;
}

bool gather_trials(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   bool rows, struct gathered *out, struct err *err)
{
    struct gathering g = { .arena = arena, .results = results, .experiment = experiment,
                           .rows = rows, .out = out };
    bool ok;

    *out = (struct gathered){ .grid = grid_of_experiment(arena, experiment),
                              .audit.digest = HASH_START };
    store_settle(results->store);
    ok = (!rows || open_set(&g, err)) && add_all(&g, trial, err);
    out->grid->own_told = own_told_of(arena, experiment, &g.gaps);
    return close_set(&g.set, ok, err);
}
