/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runner.c - threads that take the next trial until there is none.
 *
 * Signals are blocked in all threads but taken by one, the watch, which also
 * writes the progress line: so there is no handler and no global flag.  A
 * second Ctrl-C ends the program at once.  Where the runner is part of another
 * program (an ear), the thread that called is the watch, and takes no signal.
 */
#include "experiments/runner/runner.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/exec/stand.h"
#include "experiments/process/isolate.h"
#include "experiments/runner/pool.h"
#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define WATCH_NS 200000000L     /* between two looks of the watch */
#define LOOKS_LEFT 3u           /* in which trials end by themselves after a signal */

/* ---- threads ---- */

/* Copies what became of a trial to where the caller reads it.  Errors live in the
 * arena of the plan, which threads share, hence the lock. */
static void tell_outcome(struct pool *pool, struct runner_trial *trial,
                         enum runner_state state, const struct outcome *outcome)
{
    struct err *err;

    if (trial->result != NULL)
        *trial->result = outcome->result;
    if (state == RUNNER_FAILED) {
        pthread_mutex_lock(&pool->lock);
        err = arena_alloc(pool->plan->arena, 1, sizeof *err);
        pthread_mutex_unlock(&pool->lock);
        *err = outcome->err;
        trial->err = err;
    }
    trial->state = (uint8_t)state;
}

/* Returns the wall time since then, in seconds. */
static float seconds_since(const struct timespec *from)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (float)((double)(now.tv_sec - from->tv_sec) +
                   (double)(now.tv_nsec - from->tv_nsec) / 1e9);
}

/* Runs a trial in this thread, or in a process of its own if its policy asks for
 * that, and tells what became of it. */
static void run_one(struct guest *guest, uint32_t index)
{
    struct pool *pool = guest->pool;
    struct outcome outcome = { .err.kind = ERR_NONE };
    uint32_t mask = 0;
    struct trial_spec spec = pool->plan->spec(pool->plan->self, index, &mask);
    bool lost = false;
    struct timespec from;

    clock_gettime(CLOCK_MONOTONIC, &from);
    enum runner_state state = spec.alone || (spec.policy->guest && spec.guest.apart)
        ? apart_run(guest, index, &spec, &outcome, &lost)
        : pool_run_trial(guest, index, &spec, mask, &pool->stop, &outcome);

    tell_outcome(pool, &pool->trial[index], state, &outcome);
    pool->trial[index].lost = lost;
    pool->trial[index].wall_s = seconds_since(&from);
    atomic_fetch_add(&pool->events, outcome.result.event_count);
    atomic_fetch_add(&pool->simulated_ns, outcome.result.end_ns);
    atomic_fetch_add(&pool->done, 1);
    if (pool->ended == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ended[index] = state != RUNNER_WAITING;
    pthread_cond_signal(&pool->change);
    pthread_mutex_unlock(&pool->lock);
}

/* Is the trial for this runner?  Ranks of MPI and shards share the trials among
 * them. */
static bool take(struct pool *pool, uint32_t index)
{
    const struct runner_plan *plan = pool->plan;

    return plan->take == NULL || plan->take(plan->self, index, &pool->trial[index]);
}

/* Stores the number of the next trial; false: there is none.  Numbers only rise, so
 * each trial is met once. */
static bool next_trial(struct pool *pool, uint32_t *index)
{
    const struct runner_plan *plan = pool->plan;

    if (plan->next != NULL && !plan->next(plan->next_self, index))
        return false;
    if (plan->next == NULL)
        *index = atomic_fetch_add(&pool->next, 1);
    return *index < plan->count;
}

/* A thread: takes trials until there is none or the run is stopped. */
static void *work(void *self)
{
    struct guest *guest = self;
    struct pool *pool = guest->pool;
    const struct runner_plan *plan = pool->plan;
    uint32_t thread = (uint32_t)(guest - pool->guest), index;

    if (plan->enter != NULL)
        plan->enter(plan->self, thread);
    while (!pool_stopped(pool) && next_trial(pool, &index))
        if (pool->trial[index].state == RUNNER_WAITING && take(pool, index))
            run_one(guest, index);
    exec_stands_leave(pool->stands, thread);
    if (plan->leave != NULL)
        plan->leave(plan->self, thread);
    pthread_mutex_lock(&pool->lock);
    pool->working--;
    pthread_cond_signal(&pool->change);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Returns the wall time since the run began, in seconds. */
static double elapsed_s(const struct pool *pool)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - pool->start.tv_sec) +
           1e-9 * (double)(now.tv_nsec - pool->start.tv_nsec);
}

/* Rewrites the progress line.  The time left is that of the trials so far, on
 * average: trials may differ. */
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

/* A planner may think for minutes, and hears of nothing meanwhile.  What is finished is
 * kept in its file, as it would be if the machine went down; the trial under way is
 * dropped either way. */
static void leave_at_once(const struct pool *pool)
{
    static const char text[] = "interrupted in the midst of a decision; finished trials are "
                               "kept, and --resume goes on\n";
    ssize_t written;

    if (pool->plan->progress)
        fputs("\r\033[K", stderr);
    written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(130);
}

/* The thread that takes signals: the first one stops the run after the trials at
 * work have ended, or leaves them if they do not end by themselves, and the second one
 * ends the program.  SIGUSR1 comes from run_threads() when all is done. */
static void *watch(void *self)
{
    struct pool *pool = self;
    const struct timespec wait = { 0, WATCH_NS };
    unsigned looks = 0;         /* since a signal came */

    for (;;) {
        int got = sigtimedwait(&pool->signals, NULL, &wait);

        if (got == SIGUSR1)
            break;
        if (got > 0 && pool_stopped(pool))
            _exit(130);
        if (got > 0) {
            pool_stop(pool);
            looks = 1;
        } else if (pool->plan->progress)
            show_progress(pool);
        if (looks > 0 && looks++ > LOOKS_LEFT)
            leave_at_once(pool);
        apart_look(pool);
    }
    if (pool->plan->progress)
        fputs("\r\033[K", stderr);
    return NULL;
}

/* ---- a run within another program ---- */

/* Waits for news, as long as the watch waits.  Returns whether threads work. */
static bool wait_for_change(struct pool *pool)
{
    struct timespec until;
    bool works;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WATCH_NS;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&pool->lock);
    if (pool->working > 0)
        (void)pthread_cond_timedwait(&pool->change, &pool->lock, &until);
    works = pool->working > 0;
    pthread_mutex_unlock(&pool->lock);
    return works;
}

/* Has the trial ended, or was it never to be run? */
static bool has_ended(struct pool *pool, uint32_t index)
{
    pthread_mutex_lock(&pool->lock);
    bool ended = pool->ended[index];
    pthread_mutex_unlock(&pool->lock);
    return ended;
}

/* Reports trials in the order of their numbers, not in the order in which they ended. */
static void listen(struct pool *pool)
{
    const struct runner_ear *ear = pool->plan->ear;
    uint32_t told = 0;
    bool works = true;

    while (works) {
        works = wait_for_change(pool);
        while (told < pool->plan->count && has_ended(pool, told)) {
            ear->ended(ear->self, told, &pool->trial[told]);
            told++;
        }
        if (!ear->go_on(ear->self, atomic_load(&pool->done)))
            pool_stop(pool);
        apart_look(pool);
    }
}

/* Starts a thread.  A system that has no more threads leaves nothing sensible to
 * do. */
static void start_thread(pthread_t *thread, void *(*fn)(void *), void *self)
{
    int why = pthread_create(thread, NULL, fn, self);

    assert(why == 0 && "a thread could not be started");
    (void)why;
}

/* Starts the threads and waits for them.  Threads inherit a mask in which signals
 * are blocked; with an ear this thread gets its own mask back, and tells trials
 * meanwhile. */
static void run_threads(struct pool *pool)
{
    uint32_t count = pool->plan->threads;
    pthread_t watcher, *worker;
    sigset_t before;

    if (count > pool->due)
        count = pool->due;
    worker = arena_resize_own(NULL, count + 1, sizeof *worker);
    pool->thread_count = pool->working = count;
    pool->guest = arena_resize_own(NULL, count, sizeof *pool->guest);
    pool->stands = exec_stands_new(count);
    for (uint32_t i = 0; i < count; i++)
        pool->guest[i] = (struct guest){ .pool = pool };
    pthread_sigmask(SIG_BLOCK, &pool->signals, &before);
    if (pool->plan->ear == NULL)
        start_thread(&watcher, watch, pool);
    for (uint32_t i = 0; i < count; i++)
        start_thread(&worker[i], work, &pool->guest[i]);
    if (pool->plan->ear != NULL) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        listen(pool);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(worker[i], NULL);
    if (pool->plan->ear == NULL) {
        /* The watcher waits in sigwait(): this signal tells it that all is over. */
        pthread_kill(watcher, SIGUSR1);
        pthread_join(watcher, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (uint32_t i = 0; i < count; i++)
        isolate_free(pool->guest[i].isolate);
    exec_stands_free(pool->stands);
    free(pool->guest);
    free(worker);
}

/* Makes the lock and, with an ear, the list of trials that have ended.  A trial
 * that is not to be run, because it is known or for another rank, has ended from
 * the start. */
static void set_up(struct pool *pool)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->change, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&pool->lock, NULL);
    if (pool->plan->ear == NULL)
        return;
    pool->ended = arena_resize_own(NULL, pool->plan->count, sizeof *pool->ended);
    for (uint32_t i = 0; i < pool->plan->count; i++)
        pool->ended[i] = pool->trial[i].state != RUNNER_WAITING;
}

struct runner_trial *runner_trials(struct arena *arena, uint32_t count, bool results)
{
    struct runner_trial *trial = arena_alloc(arena, (size_t)count + 1, sizeof *trial);
    struct trial_result *result =
        !results ? NULL : arena_alloc(arena, (size_t)count + 1, sizeof *result);

    for (uint32_t i = 0; results && i < count; i++)
        trial[i].result = &result[i];
    return trial;
}

bool runner_run(const struct runner_plan *plan, struct runner_trial *trial,
                struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct pool pool = { .plan = plan, .trial = trial };

    assert(plan->threads > 0 && plan->spec != NULL && plan->arena != NULL);
    for (uint32_t i = 0; i < plan->count; i++)
        pool.due += trial[i].state == RUNNER_WAITING;
    if (pool.due == 0)
        return true;
    set_up(&pool);
    clock_gettime(CLOCK_MONOTONIC, &pool.start);
    sigemptyset(&pool.signals);
    sigaddset(&pool.signals, SIGINT);
    sigaddset(&pool.signals, SIGTERM);
    sigaddset(&pool.signals, SIGHUP);
    sigaddset(&pool.signals, SIGUSR1);
    run_threads(&pool);
    pthread_cond_destroy(&pool.change);
    pthread_mutex_destroy(&pool.lock);
    free(pool.ended);
    if (pool.failed) {
        *err = pool.err;
        return false;
    }
    if (pool_stopped(&pool))
        return err_set(err, ERR_INTERRUPTED, nowhere, "interrupted");
    return true;
}
