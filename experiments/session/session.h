/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - an experiment from its first trial to its results folder.
 *
 * The one path for `clustersim run`, `check` and the library: recall, run, put
 * together, draw.
 */
#ifndef EXPERIMENTS_SESSION_SESSION_H
#define EXPERIMENTS_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/results/check.h"
#include "experiments/results/provenance.h"

struct arena;
struct decision;
struct err;
struct fleet;
struct grid;
struct runner_ear;
struct runner_trial;
struct experiment;

struct session_options {
    uint32_t threads;           /* at least 1 */
    /* runs trials i with i % shard_count == shard; shard_count <= 1: all */
    uint32_t shard, shard_count;
    bool resume, progress;      /* recall what .trials has; show a line on stderr */
    bool begin_anew;                /* by `command`, where a trial crashes the process */
    bool plain;                     /* neither charts nor report */
    const char *shard_text;         /* for results_tell_shard(), or NULL */
    struct fleet *fleet;            /* the ranks that run it together, or NULL */
    struct provenance_command command;
    const struct runner_ear *ear;   /* of a program that is not ours; or NULL */
    bool results;                   /* session->trial is to have them */
    /* Something that the user should read; may be NULL. */
    void (*warn)(void *self, const struct err *err);
    void *self;                 /* first argument of warn */
};

/* What came out.  All pointers lie in the arena of session_run(), or are the
 * caller's experiment. */
struct session {
    const struct experiment *experiment; /* as run: `seeds` are those that were needed */
    /* By number, experiment_trial_count(); with results if the options say so. */
    const struct runner_trial *trial;
    const struct grid *grid;        /* NULL: a shard, nothing put together */
    struct check_list checks;   /* verdicts on `expect:` */
    const struct decision *decision;    /* on `options:`; NULL: there are none */
    /* trials; known ones are done ones that were recalled */
    uint32_t done, known, failed;
    uint32_t passed_over;           /* of those that failed: they crashed in an earlier run */
    const struct err *first_failure; /* in order of trials; NULL: none */
    bool broken;                    /* an audit failed: our bug */
    bool others_kept;               /* .trials holds some of other runs */
};

/* False: err says why (ERR_INTERRUPTED: what was finished is kept).  Of a fleet, rank 0
 * alone has results; it also runs what no other rank has ended. */
bool session_run(struct arena *arena, const struct experiment *experiment,
                 const struct session_options *options,
                 struct session *session, struct err *err);

#endif
