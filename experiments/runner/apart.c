/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apart.c - one trial in a process of its own.
 *
 * The thread waits for the process, and the watch looks at the page that both share.
 */
#include <signal.h>
#include <string.h>

#include "experiments/exec/stand.h"
#include "experiments/process/isolate.h"
#include "experiments/runner/page.h"
#include "experiments/runner/pool.h"
#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define BEGIN_S 21              /* for the first event, beside event_limit */

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
    enum runner_state state = pool_run_trial(guest, guest->index, &spec, mask, &page->stop,
                                             &trial);
    page_put(page, state, &trial, pool->failed ? &pool->err : NULL);
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
    const struct trial_watch watch = page_watch(isolate_page(guest->isolate));
    enum err_kind kind = fault_of(guest, spec, end);
    struct err_pos nowhere = { NULL, 0, 0 };
    struct arena *arena = arena_new(4096);
    const char *last = "", *policy = spec->policy->name;
    uint64_t first = watch.requests < TRIAL_LAST ? 0 : watch.requests - TRIAL_LAST;
    char when[32];

    clock_format_s(watch.pulse.now_ns, when, sizeof when);
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
    for (uint64_t i = first; i < watch.requests; i++)
        last = text_format(arena, "%s%s%s", last, i == first ? "" : "; ",
                           watch.last[i % TRIAL_LAST]);
    err_hint(err, "%s%s.", watch.requests == 0 ? "It had asked for nothing yet"
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

/* Copies an error of that process; the arena of the plan is shared by threads. */
static struct err take_err(struct pool *pool, const struct page_err *from)
{
    struct err err;

    pthread_mutex_lock(&pool->lock);
    err = page_err(pool->plan->arena, from);
    pthread_mutex_unlock(&pool->lock);
    if (err.kind == ERR_NONE)       /* its memory was written over */
        err_set(&err, ERR_BUG, (struct err_pos){ 0 }, "a trial failed without a reason");
    return err;
}

enum runner_state apart_run(struct guest *guest, uint32_t index, const struct trial_spec *spec,
                            struct outcome *trial, bool *lost)
{
    struct pool *pool = guest->pool;
    struct guest_page *page;
    struct isolate_end end;
    struct err keep_err;
    bool whole;

    set_isolate(guest, spec);
    guest->stand = exec_stand_lend(pool->stands, (uint32_t)(guest - pool->guest),
                                   spec->policy->policy, (uint64_t)spec->guest.memory_bytes);
    page = isolate_page(guest->isolate);
    memset(page, 0, sizeof *page);
    guest->index = index;
    set_runs(guest, true);
    end = isolate_run(guest->isolate, run_guest, guest);
    set_runs(guest, false);
    whole = end.done && page_whole(page);
    exec_stand_return(pool->stands, guest->stand, whole && page->state == RUNNER_DONE);
    if (!whole) {
        if (end.killed && !guest->slow && !guest->late)     /* called off */
            return RUNNER_WAITING;
        tell_end(guest, spec, &end, &trial->err);
        *lost = true;
        return RUNNER_FAILED;
    }
    trial->result = page_result(page);
    if (page->state == RUNNER_FAILED)
        trial->err = take_err(pool, &page->err);
    if (page->kept != 0)
        return (enum runner_state)page->state;
    keep_err = take_err(pool, &page->keep_err);
    if (keep_err.kind == ERR_POLICY) {
        trial->err = keep_err;
        return RUNNER_FAILED;
    }
    pool_fail(pool, &keep_err);
    return (enum runner_state)page->state;
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

void apart_look(struct pool *pool)
{
    bool stopped = pool_stopped(pool);

    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        if (pool->guest[i].runs)
            look_at_guest(&pool->guest[i], stopped);
    pthread_mutex_unlock(&pool->lock);
}
