/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool.h - what the threads of a run share.  Private to experiments/runner.
 */
#ifndef EXPERIMENTS_RUNNER_POOL_H
#define EXPERIMENTS_RUNNER_POOL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "experiments/runner/runner.h"

struct exec_stand;
struct exec_stands;
struct isolate;

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
    atomic_uint next;           /* trial, where the plan does not say which is next */
    atomic_uint done;           /* trials that have ended, failed or not; */
    atomic_ullong events;       /* ... what they simulated */
    atomic_llong simulated_ns;
    int stop;                   /* written and read with __atomic only here */
    pthread_mutex_t lock;       /* of what follows, and of the guests */
    pthread_cond_t change;      /* a trial or a thread has ended */
    bool *ended;                /* by trial; NULL: no listener needs it */
    uint32_t working;           /* threads */
    bool failed;                /* not a trial but the run: err says why */
    struct err err;
    uint32_t due;               /* trials that waited when the run began */
    sigset_t signals;           /* that the watch takes */
    struct timespec start;      /* CLOCK_MONOTONIC */
};

/* The outcome of a trial before it is reported, on the stack of its thread. */
struct outcome {
    struct trial_result result;
    struct err err;
};

/* Ends the run: threads take no further trial, and those that run are told. */
void pool_stop(struct pool *pool);
bool pool_stopped(const struct pool *pool);
/* Ends the whole run: something failed that is not of one trial, such as a full disk.  The
 * first such error is kept. */
void pool_fail(struct pool *pool, const struct err *err);

/* Runs a trial in this process and keeps its rows; sets *trial to its outcome.
 * RUNNER_WAITING: it was interrupted, or could not be kept. */
enum runner_state pool_run_trial(const struct guest *guest, uint32_t index,
                                 struct trial_spec *spec, uint32_t mask, int *stop,
                                 struct outcome *trial);

/* Runs a trial in a process of its own, so that a policy that crashes, hangs or
 * takes all memory takes nothing else with it.  The child inherits everything by
 * fork, and returns one page.
 *
 * RUNNER_WAITING: the run was called off.  RUNNER_FAILED: the policy failed, or its
 * process ended before the trial did, which is *lost; err says how, and what the policy
 * asked for last. */
enum runner_state apart_run(struct guest *guest, uint32_t index, const struct trial_spec *spec,
                            struct outcome *trial, bool *lost);
/* Looks after all processes of trials that run.  The watch calls it, five times a second. */
void apart_look(struct pool *pool);

#endif
