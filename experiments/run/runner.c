/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runner.c - threads that take the next trial until there is none.
 *
 * Signals are blocked in all threads but taken by one, the watch, which also
 * writes the progress line: so there is no handler and no global flag.  A
 * second Ctrl-C ends the program at once.  Where the runner is part of another
 * program (an ear), the thread that called is the watch, and takes no signal.
 */
#include "experiments/run/runner.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/exec/stand.h"
#include "experiments/process/isolate.h"
#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

#define BEGIN_S 21              /* for the first event, beside event_limit */
#define WATCH_NS 200000000L     /* between two looks of the watch */
#define LOOKS_LEFT 3u           /* in which trials end by themselves after a signal */

/* What a trial in a process of its own shares with this one. */
struct guest_page {
    int stop;
    bool kept;
    bool returned;              /* the rest is whole */
    enum runner_state state;
    struct trial_watch watch;
    struct trial_result result;
    struct err err, keep_err;
};

/* One of these for each thread: the process that it waits for. */
struct guest {
    struct pool *pool;
    struct isolate *isolate;    /* NULL: the thread had no such trial yet */
    struct exec_stand *stand;   /* the program of its policy, if it stays; or NULL */
    double memory_bytes;        /* of the isolate */
    uint32_t index;             /* of the trial */
    int64_t event_limit_ns, time_limit_ns;      /* of wall time */
    /* Of the pool's lock: the watch reads and writes them, too. */
    bool runs;
    bool slow, late;            /* ended, as one event or all of it took too long */
    uint64_t seen_events;       /* at `seen` */
    struct timespec began, seen;
};

/* What all threads share.  Counters are atomic; what follows `lock` is read and written
 * under it alone. */
struct pool {
    const struct runner_plan *plan;
    struct guest *guest;        /* [thread_count] */
    struct exec_stands *stands; /* programs that stay, by thread */
    uint32_t thread_count;
    struct runner_trial *trial;
    atomic_uint next;
    atomic_uint done;
    atomic_ullong events;
    atomic_llong simulated_ns;
    int stop;                   /* written and read with __atomic only here */
    pthread_mutex_t lock;       /* of what follows, and of the guests */
    pthread_cond_t change;      /* a trial or a thread has ended */
    bool *ended;                /* by trial; NULL: nobody asks */
    uint32_t working;           /* threads */
    bool failed;
    struct err err;
    uint32_t due;
    sigset_t signals;
    struct timespec start;
};

/* What became of a trial, before it is told: on the stack of its thread. */
struct outcome {
    struct trial_result result;
    struct err err;
};

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

/* Ends the whole run: something failed that is not of one trial, such as a full
 * disk.  The first such error is kept. */
static void pool_fail(struct pool *pool, const struct err *err)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->failed)
        pool->err = *err;
    pool->failed = true;
    pthread_mutex_unlock(&pool->lock);
    pool_stop(pool);
}

/* Gives the rows of a trial that ended to whoever keeps them; `result` NULL: the
 * trial came to nothing, and what was begun is dropped.  False: it could not be
 * kept, and the run ends. */
static bool keep(struct pool *pool, void *begun,
                 const struct trial_result *result)
{
    struct err err = { 0 };
    bool ok = begun == NULL || pool->plan->keep(begun, result, &err);

    if (!ok)
        pool_fail(pool, &err);
    return ok;
}

/* Runs a trial, and stores what became of it. */
static enum runner_state run_trial(const struct guest *guest, uint32_t index,
                                   struct trial_spec *spec, uint32_t mask,
                                   int *stop, struct outcome *trial)
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

/* ---- trials in processes of their own ---- */

/* The child process: runs the trial and writes what became of it to the page that
 * both processes see.  The lock of the pool is initialised anew, since the copy may
 * be held by a thread that does not exist here. */
static void run_guest(void *self)
{
    struct guest *guest = self;
    struct pool *pool = guest->pool;
    struct guest_page *page = isolate_page(guest->isolate);
    struct outcome trial = { .err.kind = ERR_NONE };
    uint32_t mask = 0;
    struct trial_spec spec = pool->plan->spec(pool->plan->self, guest->index, &mask);

    exec_stand_enter(pool->stands, guest->stand);
    spec.watch = &page->watch;
    pthread_mutex_init(&pool->lock, NULL);      /* of this copy of the pool */
    pool->failed = false;
    page->state = run_trial(guest, guest->index, &spec, mask, &page->stop, &trial);
    page->kept = !pool->failed;
    page->keep_err = pool->err;
    page->result = trial.result;
    page->err = trial.err;
    page->returned = true;
}

/* Is it the program's own fault?  Not of a policy that is not built in, nor where a limit
 * that the user set was met. */
static enum err_kind fault_of(const struct guest *guest, const struct trial_spec *spec,
                              const struct isolate_end *end)
{
    bool assertion = strstr(end->said, "Assertion") != NULL;

    if (spec->policy->guest)
        return ERR_POLICY;
    if (guest->slow || guest->late ||
        (end->signal == SIGABRT && !assertion && spec->guest.memory_bytes > 0))
        return ERR_LIMIT;
    return ERR_BUG;
}

/* Says how the process ended, and what the policy asked for before. */
static void tell_end(const struct guest *guest, const struct trial_spec *spec,
                     const struct isolate_end *end, struct err *err)
{
    const struct trial_watch *watch =
        &((const struct guest_page *)isolate_page(guest->isolate))->watch;
    enum err_kind kind = fault_of(guest, spec, end);
    struct err_pos nowhere = { NULL, 0, 0 };
    struct arena *arena = arena_new(4096);
    const char *last = "", *policy = spec->policy->name;
    uint64_t first = watch->requests < TRIAL_LAST ? 0 : watch->requests - TRIAL_LAST;
    char when[32];

    clock_format_s(watch->pulse.now_ns, when, sizeof when);
    if (kind == ERR_LIMIT && !guest->slow && !guest->late)
        err_set(err, kind, nowhere, "policy %.40s needs more than %.4g MB of memory, at %s s of "
                "simulated time", policy, spec->guest.memory_bytes / 1e6, when);
    else if (guest->slow || guest->late)
        err_set(err, kind, nowhere, "policy %.40s needs more than %.4g s of wall "
                "time for %s, at %s s of simulated time", policy,
                clock_s_from_ns(guest->slow ? guest->event_limit_ns : guest->time_limit_ns),
                guest->slow ? "one event" : "a trial", when);
    else
        err_set(err, kind, nowhere, "policy %.40s %s at %s s of simulated time",
                policy, isolate_why(arena, end), when);
    for (uint64_t i = first; i < watch->requests; i++)
        last = text_format(arena, "%s%s%s", last, i == first ? "" : "; ",
                           watch->last[i % TRIAL_LAST]);
    err_hint(err, "%s%s.", watch->requests == 0 ? "It had asked for nothing yet"
                                               : "It asked for last: ", last);
    arena_free(arena);
}

/* Marks that the process of a guest runs, or has ended, for the watch.  Its clock
 * begins anew. */
static void set_runs(struct guest *guest, bool runs)
{
    pthread_mutex_lock(&guest->pool->lock);
    guest->runs = runs;
    guest->slow = guest->slow && !runs;
    guest->late = guest->late && !runs;
    clock_gettime(CLOCK_MONOTONIC, &guest->seen);
    if (runs)
        guest->began = guest->seen;
    guest->seen_events = 0;
    pthread_mutex_unlock(&guest->pool->lock);
}

/* Makes the process's page, unless the last trial of this thread had one like it. */
static void set_isolate(struct guest *guest, const struct trial_spec *spec)
{
    if (guest->isolate != NULL && guest->memory_bytes != spec->guest.memory_bytes) {
        isolate_free(guest->isolate);
        guest->isolate = NULL;
    }
    if (guest->isolate == NULL) {
        guest->isolate = isolate_new(sizeof(struct guest_page),
                                     (uint64_t)spec->guest.memory_bytes);
        isolate_set_gate(guest->isolate, exec_stands_gate(guest->pool->stands));
    }
    guest->memory_bytes = spec->guest.memory_bytes;
    guest->event_limit_ns = spec->guest.event_limit_ns;
    guest->time_limit_ns = spec->guest.time_limit_ns;
    isolate_tell(guest->isolate, spec->guest.fork,
                 clock_s_from_ns(spec->guest.event_limit_ns));
}

/* Runs a trial in a process of its own, so that a policy that crashes, hangs or
 * takes all memory takes nothing else with it.  The child inherits everything by
 * fork, and returns one page.
 *
 * RUNNER_WAITING: the run was called off.  RUNNER_FAILED: the policy failed, or its
 * process ended before the trial did, which is *lost; err says how, and what the policy
 * asked for last. */
static enum runner_state run_apart(struct guest *guest, uint32_t index,
                                   const struct trial_spec *spec,
                                   struct outcome *trial, bool *lost)
{
    struct pool *pool = guest->pool;
    struct guest_page *page;
    struct isolate_end end;

    set_isolate(guest, spec);
    guest->stand = exec_stand_lend(pool->stands, (uint32_t)(guest - pool->guest),
                                   spec->policy->policy, (uint64_t)spec->guest.memory_bytes);
    page = isolate_page(guest->isolate);
    memset(page, 0, sizeof *page);
    guest->index = index;
    set_runs(guest, true);
    end = isolate_run(guest->isolate, run_guest, guest);
    set_runs(guest, false);
    exec_stand_return(pool->stands, guest->stand,
                      end.done && page->returned && page->state == RUNNER_DONE);
    trial->result = page->result;
    if (!end.done || !page->returned) {
        if (end.killed && !guest->slow && !guest->late)     /* called off */
            return RUNNER_WAITING;
        tell_end(guest, spec, &end, &trial->err);
        *lost = true;
        return RUNNER_FAILED;
    }
    trial->err = page->err;
    if (!page->kept && page->keep_err.kind == ERR_POLICY) {
        trial->err = page->keep_err;
        return RUNNER_FAILED;
    }
    if (!page->kept)
        pool_fail(pool, &page->keep_err);
    return page->state;
}

/* Looks after one child: tells it when the run is called off, kills it at the next
 * look if it still runs, and kills it when it has not got a single event further
 * within its limit of wall time. */
static void look_at_guest(struct guest *guest, bool stopped)
{
    struct guest_page *page = isolate_page(guest->isolate);
    uint64_t events = __atomic_load_n(&page->watch.pulse.event_count, __ATOMIC_RELAXED);
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (events != guest->seen_events) {
        guest->seen_events = events;
        guest->seen = now;
    }
    if (stopped && __atomic_exchange_n(&page->stop, 1, __ATOMIC_RELAXED) != 0)
        isolate_kill(guest->isolate);           /* it was told at the last look */
    /* The trial that waits for its program gives it up a little earlier, and can say
     * more of it; before the first event, an interpreter may have to start. */
    if ((double)(now.tv_sec - guest->seen.tv_sec) >
        clock_s_from_ns(guest->event_limit_ns) + (events == 0 ? BEGIN_S : 1))
        guest->slow = true;
    else if ((double)(now.tv_sec - guest->began.tv_sec) >
             clock_s_from_ns(guest->time_limit_ns))
        guest->late = true;
    else
        return;
    isolate_kill(guest->isolate);
}

/* Looks after all children that run.  Called by the watch every WATCH_NS. */
static void look_at_guests(struct pool *pool)
{
    bool stopped = pool_stopped(pool);

    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        if (pool->guest[i].runs)
            look_at_guest(&pool->guest[i], stopped);
    pthread_mutex_unlock(&pool->lock);
}

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
        ? run_apart(guest, index, &spec, &outcome, &lost)
        : run_trial(guest, index, &spec, mask, &pool->stop, &outcome);

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
        look_at_guests(pool);
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

/* Trials are told in their order, whichever ended first. */
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
        look_at_guests(pool);
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
