/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * one.c - runs one trial in this process: makes its tables, runs it, and hands its rows to
 * the keeper of the run (runner_plan.keep).
 */
#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "experiments/runner/pool.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/text/table.h"

/* Returns a table of that kind, or NULL if it is not wanted. */
static struct table *make(const struct csv_kind *kind, bool wanted)
{
    return wanted ? table_new(kind->columns, kind->count) : NULL;
}

/* Returns the tables of one trial, by a mask of EXPERIMENT_ constants. */
static struct trial_tables tables_new(uint32_t mask, int64_t step_ns)
{
    return (struct trial_tables){
        .jobs = make(&csv_jobs, (mask & EXPERIMENT_JOBS) != 0),
        .phases = make(&csv_phases, (mask & EXPERIMENT_PHASES) != 0),
        .timeline = make(&csv_timeline, (mask & EXPERIMENT_TIMELINE) != 0),
        .decisions = make(&csv_decisions, (mask & EXPERIMENT_DECISIONS) != 0),
        .services = make(&csv_services, (mask & EXPERIMENT_SERVICES) != 0),
        .arrived = make(&csv_arrived, (mask & EXPERIMENT_ARRIVED) != 0),
        .tenants = make(&csv_tenants, true),
        .timeline_step_ns = step_ns
    };
}

/* Frees the tables of a trial; NULL: it had none of that kind. */
static void tables_free(struct trial_tables *tables)
{
    table_free(tables->jobs);
    table_free(tables->phases);
    table_free(tables->timeline);
    table_free(tables->decisions);
    table_free(tables->services);
    table_free(tables->arrived);
    table_free(tables->tenants);
}

void pool_stop(struct pool *pool)
{
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
}

bool pool_stopped(const struct pool *pool)
{
    return __atomic_load_n(&pool->stop, __ATOMIC_RELAXED) != 0;
}

void pool_fail(struct pool *pool, const struct err *err)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->failed)
        pool->err = *err;
    pool->failed = true;
    pthread_mutex_unlock(&pool->lock);
    pool_stop(pool);
}

/* Hands the rows of a trial that ended to the keeper of the run.  `result` NULL: the trial
 * did not finish, and the keeper drops its rows.  False: the keeper failed, and the run
 * ends. */
static bool keep(struct pool *pool, void *begun,
                 const struct trial_result *result)
{
    struct err err = { 0 };
    bool ok = begun == NULL || pool->plan->keep(begun, result, &err);

    if (!ok)
        pool_fail(pool, &err);
    return ok;
}

enum runner_state pool_run_trial(const struct guest *guest, uint32_t index,
                                 struct trial_spec *spec, uint32_t mask, int *stop,
                                 struct outcome *trial)
{
    struct pool *pool = guest->pool;
    const struct runner_plan *plan = pool->plan;
    struct trial_tables tables = tables_new(mask, plan->timeline_step_ns);
    void *begun = NULL;

    spec->stop = stop;
    if (plan->begin != NULL)
        begun = plan->begin(plan->self, (uint32_t)(guest - pool->guest), index, &tables,
                            stop);
    bool ran = trial_run(spec, &tables, &trial->result, &trial->err);
    /* One that is interrupted stays waiting: its rows are not all there. */
    bool whole = ran && !trial->result.interrupted;
    bool kept = keep(pool, begun, whole ? &trial->result : NULL);
    tables_free(&tables);
    if (whole && kept)
        return RUNNER_DONE;
    return !ran && trial->err.kind != ERR_INTERRUPTED ? RUNNER_FAILED
                                                      : RUNNER_WAITING;
}
