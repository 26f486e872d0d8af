/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runner.h - many trials on some threads.
 *
 * A trial may run in a process of its own (trial_spec: `alone`, or a policy that is not
 * built in): if it crashes, spins or takes all memory, that trial fails and no other.
 *
 * Trials share nothing that changes.  Results stand by trial index, so that
 * what is made of them is the same for any number of threads.  A trial that
 * fails does not stop the others; Ctrl-C does, after which what was finished
 * is kept.
 */
#ifndef EXPERIMENTS_RUNNER_RUNNER_H
#define EXPERIMENTS_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/run/trial.h"
#include "sim/base/err.h"

struct arena;

enum runner_state {
    RUNNER_WAITING,     /* to be run */
    RUNNER_DONE,        /* result is good */
    RUNNER_FAILED,      /* err says why */
    RUNNER_SKIPPED      /* not in this run: another shard's */
};

/* There is one for each trial of a run, also of a million: so it is small. */
struct runner_trial {
    uint8_t state;      /* enum runner_state */
    bool known;         /* RUNNER_DONE, and not by this run */
    bool lost;          /* RUNNER_FAILED since the process that it had for its own ended */
    float wall_s;       /* that it took; 0: it was known, or another process ran it */
    /* Where the result goes, the caller's; NULL: `keep` has it, and nobody else. */
    struct trial_result *result;
    const struct err *err;      /* of RUNNER_FAILED, in the plan's arena; else NULL */
};

/* Returns `count` trials in the arena that wait, without or with storage for their
 * results. */
struct runner_trial *runner_trials(struct arena *arena, uint32_t count, bool results);

/* For a program that is not clustersim and runs trials through the library.  It takes its
 * signals itself.  Both functions are called by the thread that called runner_run(). */
struct runner_ear {
    /* Told how many trials have ended, five times a second or more; false ends the
     * run. */
    bool (*go_on)(void *self, uint32_t done);
    /* Trial `index` has ended, and so have all before it. */
    void (*ended)(void *self, uint32_t index, const struct runner_trial *trial);
    void *self;
};

/* What is to be run, and how.  Functions get `self`, but for next() and keep(). */
struct runner_plan {
    uint32_t count;
    struct arena *arena;        /* for the errors of trials that fail; threads share it under
                                   a lock, so the caller and its ear leave it alone */
    uint32_t threads;           /* at least 1 */
    int64_t timeline_step_ns;   /* as in struct trial_tables */
    bool progress;      /* a line on stderr that is rewritten */
    /* What trial `index` is, and which tables (enum experiment_table) it fills. */
    struct trial_spec (*spec)(void *self, uint32_t index, uint32_t *tables);
    /* Stores which trial comes next here; false: none.  It is called by the threads.
     * NULL: all, in their order. */
    bool (*next)(void *next_self, uint32_t *index);
    void *next_self;
    /* May trial `index` be run here now?  False: another process has run it, and *trial
     * is its result; or another one runs it now, and it stays RUNNER_WAITING.  NULL: all
     * are run here. */
    bool (*take)(void *self, uint32_t index, struct runner_trial *trial);
    /* A trial begins to fill these tables, on a thread that counts from 0; what it
     * returns is its `keep`'s.  1 in *stop ends the run.  Both are called by the thread
     * that runs the trial, and may be NULL together. */
    void *(*begin)(void *self, uint32_t thread, uint32_t index,
                   const struct trial_tables *tables, volatile int *stop);
    /* The trial is done; `result` is NULL if it was not finished.  False ends the run
     * with err. */
    bool (*keep)(void *begun, const struct trial_result *result,
                 struct err *err);
    /* Called by each thread before its first trial and after its last; NULL: neither. */
    void (*enter)(void *self, uint32_t thread);
    void (*leave)(void *self, uint32_t thread);
    void *self;
    const struct runner_ear *ear;   /* NULL: of the program; Ctrl-C ends the run, and
                                       a second one the process */
};

/* Runs the trials that are RUNNER_WAITING.  False: Ctrl-C, or the ear
 * (ERR_INTERRUPTED), or `keep` failed; trials that were not finished are RUNNER_WAITING still. */
bool runner_run(const struct runner_plan *plan, struct runner_trial *trial,
                struct err *err);

#endif
