/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * env.h - trials that stop where a policy decides, for agents that learn.
 *
 *   struct clustersim_env_options options = { .size_bytes = sizeof options };
 *   struct clustersim_env *env = clustersim_env_open("first.yaml", &options);
 *   clustersim_env_reset(env, 0, seed, &out);
 *   while (!out.terminated[0] && !out.truncated[0])
 *       clustersim_env_step(env, &action, &out);
 *   clustersim_env_close(env);
 *
 * An environment is one trial, or `count` of them that are stepped by one call.  It takes
 * cluster, workload and keys of the experiment, and an agent in place of its policies.  The
 * agent is asked where it has a choice: something waits that could start now.
 *
 * Actions are numbers below shape.actions (see there): one starts the task of a row at a
 * place, in a size; the last one waits until something changes.  Place 0 is where the job's
 * owner asks for; the others are pools, or GPU types within a pool, by their names.  A mask
 * has 1 for each action that would be carried out.  Another one changes nothing, and its
 * verdict says why.
 *
 * With options.running, the agent sees jobs that run, too, and may stop them, or change them
 * to one of its sizes.  It is then asked wherever it could do so.
 *
 * Seeds name what is drawn: point and replica of the experiment.  Seed s is its point
 * s % points and, of the split's replicas, number s / points.  The splits have no replica in
 * common, and `clustersim run` uses the first ones of `test`.
 *
 * Errors are values.  What a function returns belongs to the environment.  Environments
 * share nothing; one of them is used by one thread at a time.
 */
#ifndef CLUSTERSIM_ENV_H
#define CLUSTERSIM_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct clustersim_env;

/* Replicas of each split: the first of them, and how many there are. */
enum clustersim_env_split {
    CLUSTERSIM_ENV_TRAIN,       /* from 2,000,000, 2,000,000,000 of them */
    CLUSTERSIM_ENV_VALIDATION,  /* from 1,000,000, 1,000,000 of them */
    CLUSTERSIM_ENV_TEST,        /* from 0, 1,000,000 of them */
    CLUSTERSIM_ENV_SPLIT_COUNT
};

/* Zeroed but for size_bytes: the defaults.  Members are only added, at the end.  A
 * size_bytes of 0, and members that this library does not know and that are not 0, are
 * errors. */
struct clustersim_env_options {
    size_t size_bytes;
    const char *text;           /* the experiment itself; the path is then its name */
    const char *const *set;     /* "KEY=VALUE", as --set of the program */
    size_t set_count;
    const char *rules;          /* "{placement: count}": keys as beside `policy:` */
    uint32_t count;             /* trials; 0: 1 */
    uint32_t rows;              /* tasks that are seen, the oldest; 0: 128; at most 4096 */
    bool phases;                /* tasks are phases of jobs; else whole jobs */
    const char *reward;         /* a name of rewards.def; NULL: jct */
    enum clustersim_env_split split;    /* which seeds trials are drawn from */
    uint64_t steps_max;         /* steps after which an episode is truncated; 0: never */
    bool go_on;                 /* an episode that is over is followed by the next one at
                                   the next step, whose action is not looked at.  Trial i
                                   goes on with its seed + count, and so on. */
    const uint32_t *sizes;      /* GPUs that a task may start on beside what its owner
                                   asks: where its job allows it, and no role of several */
    uint32_t size_count;        /* times places + 1: at most 64 choices of a task */
    uint32_t running;           /* jobs that run, those that ran first at the front, which
                                   the agent sees, and may stop or resize; 0: none */
};

struct clustersim_env_error {
    int status;                 /* as that of the program: 2, 3, 4, 5, 70 */
    const char *text;           /* "file:line:column: kind: message", with its hint */
    const char *message, *hint; /* hint may be NULL */
    const char *file;           /* NULL: no place */
    uint32_t line, column;
};

/* An observation is `floats` numbers: rows of tasks, then places, then the clock's, then
 * rows of what runs.  An action is row * choices + size * places + place, size 0 being what
 * the owner asks; from rows * choices on, row * ends + end stops the job of a running row
 * (end 0) or changes it to the size of that number; the last one waits. */
struct clustersim_env_shape {
    uint32_t count, rows, row_features, places, place_features, clock_features;
    uint32_t actions, floats, points;
    uint32_t choices;           /* of a task: places * (1 + sizes) */
    uint32_t running_rows, running_features;
    uint32_t ends;              /* of a running job: 1 + sizes */
};

/* Where answers are written, by trial; all are the caller's. */
struct clustersim_env_out {
    float *observation;         /* [count][floats] */
    uint8_t *mask;              /* [count][actions] */
    double *reward;             /* [count], seconds */
    uint8_t *terminated, *truncated;    /* [count] */
    uint8_t *verdict;           /* [count]: enum cs_verdict of policies/policy.h; of a wait
                                   0, or 5 where there was nothing to wait for */
};

/* Opens an environment of the experiment at `path` (with options->text, a mere name);
 * options may be NULL.  Runs nothing yet.  Never NULL: clustersim_env_error() says if it
 * could not be opened.  The caller closes it. */
struct clustersim_env *clustersim_env_open(const char *path,
                                           const struct clustersim_env_options *options);
void clustersim_env_close(struct clustersim_env *env);          /* accepts NULL */
/* Returns why nothing can be done, or why the last call failed, good until the
 * next call; NULL: all is well. */
const struct clustersim_env_error *clustersim_env_error(const struct clustersim_env *env);
/* Returns the sizes of arrays; fixed once the environment is open. */
const struct clustersim_env_shape *clustersim_env_shape(const struct clustersim_env *env);
/* Returns the name of number `i` of a kind: features ("task", "place", "clock",
 * "running"), places ("places"), rewards ("reward") and metrics ("metric"); NULL past the
 * last. *help is set for
 * all but places; `help` may be NULL. */
const char *clustersim_env_name(const struct clustersim_env *env, const char *kind,
                                uint32_t i, const char **help);
/* The first replica of a split, and how many it has. */
void clustersim_env_replicas(enum clustersim_env_split split, uint32_t *first,
                             uint32_t *count);

/* Begins an episode of trial `i`; only the parts of `out` of that trial are written.  One
 * without a choice is terminated by its first step, and may only wait.
 * False: clustersim_env_error() says why. */
bool clustersim_env_reset(struct clustersim_env *env, uint32_t i, uint64_t seed,
                          const struct clustersim_env_out *out);
/* Takes action[i] in trial `i`, for all trials.  False: a trial failed, or one is
 * over and `go_on` was not asked for; trials before it were stepped, those after
 * it were not. */
bool clustersim_env_step(struct clustersim_env *env, const int64_t *action,
                         const struct clustersim_env_out *out);
/* Returns the potential of the episode's rewards, in seconds: their sum up to now,
 * and what happened before the first choice.  This and the seed and steps below are 0 where
 * the environment could not be opened. */
double clustersim_env_score(const struct clustersim_env *env, uint32_t i);
/* Of the last episode of trial `i` that came to its end: a metric of summary.csv.  False:
 * there is none, or it has no value. */
bool clustersim_env_metric(const struct clustersim_env *env, uint32_t i, const char *name,
                           double *value);
/* The seed of the episode that goes on, and its steps so far. */
uint64_t clustersim_env_seed(const struct clustersim_env *env, uint32_t i);
uint64_t clustersim_env_steps(const struct clustersim_env *env, uint32_t i);

#ifdef __cplusplus
}
#endif

#endif
