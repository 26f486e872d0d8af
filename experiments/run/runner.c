/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runner.c - threads that take the next trial until there is none.
 *
 * Signals are blocked in all threads but taken by one, the watch, which also
 * writes the progress line: so there is no handler and no global flag.  A
 * second Ctrl-C ends the program at once.
 */
#include "experiments/run/runner.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

#define WATCH_NS 200000000L     /* between two looks of the watch */

struct pool {
    const struct runner_plan *plan;
    struct runner_trial *trial;
    atomic_uint next;
    atomic_uint done;
    atomic_ullong events;
    atomic_llong simulated_ns;
    volatile int stop;          /* written and read with __atomic only here */
    pthread_mutex_t lock;       /* of `failed` and `err` */
    bool failed;
    struct err err;
    uint32_t due;
    sigset_t signals;
    struct timespec start;
};

static struct table *make(const struct csv_kind *kind, bool wanted)
{
    return wanted ? table_new(kind->columns, kind->count) : NULL;
}

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

static void pool_stop(struct pool *pool)
{
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
}

static bool pool_stopped(const struct pool *pool)
{
    return __atomic_load_n(&pool->stop, __ATOMIC_RELAXED) != 0;
}

static void pool_fail(struct pool *pool, const struct err *err)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->failed)
        pool->err = *err;
    pool->failed = true;
    pthread_mutex_unlock(&pool->lock);
    pool_stop(pool);
}

/* Tells whoever keeps trials of the end of this one. */
static bool keep(struct pool *pool, void *begun,
                 const struct trial_result *result)
{
    struct err err = { 0 };
    bool ok = begun == NULL || pool->plan->keep(begun, result, &err);

    if (!ok)
        pool_fail(pool, &err);
    return ok;
}

static void run_one(struct pool *pool, uint32_t index)
{
    const struct runner_plan *plan = pool->plan;
    struct runner_trial *trial = &pool->trial[index];
    void *begun = NULL;
    struct trial_tables tables;
    struct trial_spec spec;
    uint32_t mask = 0;

    spec = plan->spec(plan->self, index, &mask);
    spec.stop = &pool->stop;
    tables = tables_new(mask, plan->timeline_step_ns);
    if (plan->begin != NULL)
        begun = plan->begin(plan->self, index, &tables, &pool->stop);
    bool ran = trial_run(&spec, &tables, &trial->result, &trial->err);
    /* One that is interrupted stays waiting: its rows are not all there. */
    bool whole = ran && !trial->result.interrupted;
    bool kept = keep(pool, begun, whole ? &trial->result : NULL);
    if (whole && kept)
        trial->state = RUNNER_DONE;
    else if (!ran && trial->err.kind != ERR_INTERRUPTED)
        trial->state = RUNNER_FAILED;
    tables_free(&tables);
    atomic_fetch_add(&pool->events, trial->result.event_count);
    atomic_fetch_add(&pool->simulated_ns, trial->result.end_ns);
    atomic_fetch_add(&pool->done, 1);
}

static bool take(struct pool *pool, uint32_t index)
{
    const struct runner_plan *plan = pool->plan;

    return plan->take == NULL || plan->take(plan->self, index, &pool->trial[index]);
}

static void *work(void *self)
{
    struct pool *pool = self;
    uint32_t index;

    while (!pool_stopped(pool) &&
           (index = atomic_fetch_add(&pool->next, 1)) < pool->plan->count)
        if (pool->trial[index].state == RUNNER_WAITING && take(pool, index))
            run_one(pool, index);
    return NULL;
}

static double elapsed_s(const struct pool *pool)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - pool->start.tv_sec) +
           1e-9 * (double)(now.tv_nsec - pool->start.tv_nsec);
}

static void show_progress(struct pool *pool)
{
    unsigned done = atomic_load(&pool->done);
    double s = elapsed_s(pool);
    double days = clock_s_from_ns(atomic_load(&pool->simulated_ns)) / 86400;

    fprintf(stderr, "\r\033[K%u of %u trials, %.4g days simulated, %.3g "
            "events/s", done, pool->due, days,
            s > 0 ? (double)atomic_load(&pool->events) / s : 0.0);
    if (done > 0)
        fprintf(stderr, ", %.0f s left", s / done * (pool->due - done));
    fflush(stderr);
}

static void *watch(void *self)
{
    struct pool *pool = self;
    const struct timespec wait = { 0, WATCH_NS };

    for (;;) {
        int got = sigtimedwait(&pool->signals, NULL, &wait);

        if (got == SIGUSR1)
            break;
        if (got > 0 && pool_stopped(pool))
            _exit(130);
        if (got > 0)
            pool_stop(pool);
        else if (pool->plan->progress)
            show_progress(pool);
    }
    if (pool->plan->progress)
        fputs("\r\033[K", stderr);
    return NULL;
}

static void start_thread(pthread_t *thread, void *(*fn)(void *), void *self)
{
    int why = pthread_create(thread, NULL, fn, self);

    assert(why == 0 && "a thread could not be started");
    (void)why;
}

static void run_threads(struct pool *pool)
{
    uint32_t count = pool->plan->threads;
    pthread_t watcher, *worker;

    if (count > pool->due)
        count = pool->due;
    worker = malloc((count + 1) * sizeof *worker);
    assert(worker != NULL);
    start_thread(&watcher, watch, pool);
    for (uint32_t i = 0; i < count; i++)
        start_thread(&worker[i], work, pool);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(worker[i], NULL);
    pthread_kill(watcher, SIGUSR1);
    pthread_join(watcher, NULL);
    free(worker);
}

bool runner_run(const struct runner_plan *plan, struct runner_trial *trial,
                struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct pool pool = { .plan = plan, .trial = trial };
    sigset_t before;

    assert(plan->threads > 0 && plan->spec != NULL);
    for (uint32_t i = 0; i < plan->count; i++)
        pool.due += trial[i].state == RUNNER_WAITING;
    if (pool.due == 0)
        return true;
    pthread_mutex_init(&pool.lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &pool.start);
    sigemptyset(&pool.signals);
    sigaddset(&pool.signals, SIGINT);
    sigaddset(&pool.signals, SIGTERM);
    sigaddset(&pool.signals, SIGHUP);
    sigaddset(&pool.signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &pool.signals, &before);
    run_threads(&pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_destroy(&pool.lock);
    if (pool.failed) {
        *err = pool.err;
        return false;
    }
    if (pool_stopped(&pool))
        return err_set(err, ERR_INTERRUPTED, nowhere, "interrupted");
    return true;
}
