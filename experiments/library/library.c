/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.c - a run, from its options to its results.
 */
#include <assert.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "experiments/columns/metric.h"
#include "experiments/library/run.h"
#include "experiments/plugins/host_file.h"
#include "experiments/preflight/abilities.h"
#include "experiments/preflight/arrivals.h"
#include "experiments/preflight/contexts.h"
#include "experiments/preflight/idle_keys.h"
#include "experiments/preflight/places.h"
#include "experiments/preflight/scaling.h"
#include "experiments/process/isolate.h"
#include "experiments/process/scratch.h"
#include "experiments/process/system.h"
#include "experiments/session/session.h"
#include "experiments/spec/experiment.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/table.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/sized.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

#define THREADS_MAX 1024u

static const struct err_pos nowhere = { NULL, 0, 0 };

/* ---- what a caller hands in ---- */

/* Is it a table that an experiment can name? */
static bool check_table(const struct cs_policy *table, const struct registry_guest *known,
                        size_t known_count, struct err *err)
{
    if (!table_check(table, err))
        return false;
    if (registry_find(table->name) != NULL) {
        err_set(err, ERR_POLICY, nowhere, "policy %.60s has the name of a built-in one",
                table->name);
        return err_hint(err, "Give it another one, as `name` of its table or class.");
    }
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].written, table->name) == 0)
            return err_set(err, ERR_POLICY, nowhere, "two policies of the program are "
                           "called '%.60s'", table->name);
    return true;
}

/* Tells the reader of the experiment the policies of the program by their names, in
 * *out.  False: err says which table is refused. */
static bool add_guests(struct clustersim *run, struct experiment_options *out,
                       struct err *err)
{
    const struct clustersim_options *options = &run->options;
    struct registry_guest *guest =
        arena_alloc(run->arena, options->table_count + 1, sizeof *guest);

    for (size_t i = 0; i < options->table_count; i++) {
        const struct cs_policy *table = options->table[i];

        if (!check_table(table, guest, i, err))
            return false;
        guest[i] = (struct registry_guest){ table->name, table,
                                            hash_text(HASH_START, table->name) };
    }
    out->guest = guest;
    out->guest_count = options->table_count;
    return true;
}

/* Would the ends of processes be lost, as the caller ignores SIGCHLD? */
static bool loses_children(void)
{
    struct sigaction of;

    return sigaction(SIGCHLD, NULL, &of) == 0 &&
           (of.sa_handler == SIG_IGN || (of.sa_flags & SA_NOCLDWAIT) != 0);
}

/* False, with err: the options ask for what is not possible, or the caller's locale
 * writes numbers otherwise than with a point, as results have them. */
static bool check_options(const struct clustersim *run, const char *path, struct err *err)
{
    const struct clustersim_options *options = &run->options;

    if (path == NULL)
        return err_set(err, ERR_USAGE, nowhere, "clustersim_run needs a path");
    if ((options->set == NULL && options->set_count > 0) ||
        (options->table == NULL && options->table_count > 0))
        return err_set(err, ERR_USAGE, nowhere, "options have a set_count without set, or a "
                       "table_count without table");
    if (loses_children()) {
        err_set(err, ERR_USAGE, nowhere, "SIGCHLD is ignored, so that ends of processes would "
                "be lost");
        return err_hint(err, "Call signal(SIGCHLD, SIG_DFL).");
    }
    if (options->threads > THREADS_MAX)
        return err_set(err, ERR_USAGE, nowhere, "threads must be at most %u, and is %u",
                       THREADS_MAX, options->threads);
    if (options->draw && options->dir == NULL && !options->usual_dir)
        return err_set(err, ERR_USAGE, nowhere, "draw needs dir, a folder that stays");
    if (strcmp(localeconv()->decimal_point, ".") == 0)
        return true;
    err_set(err, ERR_USAGE, nowhere, "the locale must write numbers with a point, and "
            "writes '%.8s'", localeconv()->decimal_point);
    return err_hint(err, "Call setlocale(LC_NUMERIC, \"C\").");
}

/* Returns what is told of each fork, in the run's arena; NULL: nothing. */
static const struct isolate_fork *fork_of(struct clustersim *run)
{
    const struct clustersim_fork *told = run->options.fork;
    struct isolate_fork *fork;

    if (told == NULL)
        return NULL;
    fork = arena_alloc(run->arena, 1, sizeof *fork);
    *fork = (struct isolate_fork){ told->before, told->in_parent, told->in_child,
                                   told->self };
    return fork;
}

/* ---- facts ---- */

/* A trial has ended (struct runner_ear).  With `until:`, each look at more seeds goes
 * through the earlier ones, too: those below told_from were told before. */
static void tell_trial(void *self, uint32_t index, const struct runner_trial *trial)
{
    struct clustersim *run = self;
    const struct experiment *experiment = run->session.experiment;
    struct experiment_trial at = experiment_trial(experiment, index);
    struct clustersim_trial fact = {
        .index = index, .count = experiment_trial_count(experiment),
        .point = experiment->point[at.point].label,
        .policy = experiment->policy_name[at.policy], .seed = at.seed,
        .copy = trial->state == RUNNER_SKIPPED, .run = run
    };

    if (run->seeds != experiment->seeds) {      /* the next look of `until:` */
        run->told_from = run->seeds;
        run->seeds = experiment->seeds;
    }
    if (run->options.trial_ended == NULL || at.seed < run->told_from)
        return;
    if (trial->state == RUNNER_FAILED)
        fact.error = &told_new(run, trial->err)->error;
    run->options.trial_ended(run->options.self, &fact);
}

/* Does the run go on?  `done` counts the trials that have ended, copies left out. */
static bool ask_on(void *self, uint32_t done)
{
    struct clustersim *run = self;

    return run->options.go_on == NULL ||
           run->options.go_on(run->options.self, done,
                              experiment_run_count(run->session.experiment));
}

bool clustersim_metric(const struct clustersim_trial *trial, const char *name,
                       double *value)
{
    const struct experiment *experiment = trial->run->session.experiment;
    const struct runner_trial *ran = &trial->run->session.trial[trial->index];
    const struct metric_set *set = experiment_metrics(experiment);
    enum metric metric = metric_find(set, name);

    if (metric >= metric_count(set) || ran->state != RUNNER_DONE ||
        isnan(ran->result->value[metric]))
        return false;
    *value = ran->result->value[metric];
    return true;
}

/* ---- the run ---- */

/* Reads the experiment with the options of the caller.  NULL: err says why, also where
 * it tunes its policies first.  A hash of 0: the program's file cannot be read. */
static const struct experiment *read_experiment(struct clustersim *run, const char *path,
                                                struct err *err)
{
    const struct clustersim_options *options = &run->options;
    const char *file = host_file_path(run->arena);
    struct experiment_options reading = {
        .seeds = options->seeds, .dir = run->dir, .text = options->text,
        .policies = options->policies, .set = options->set, .set_count = options->set_count,
        .fork = fork_of(run)
    };
    const struct experiment *experiment;

    if (!hash_file(file, &reading.program_hash))
        reading.program_hash = 0;
    if (!add_guests(run, &reading, err))
        return NULL;
    experiment = experiment_read(run->arena, path, &reading, err);
    if (experiment == NULL || !experiment->tuned)
        return experiment;
    err_set(err, ERR_SCHEMA, nowhere, "the experiment tunes its policies first, which the "
            "library does not do");
    err_hint(err, "`clustersim tune` writes an experiment with what it finds.");
    return NULL;
}

/* Returns the threads that are asked for, else one a processor, at most THREADS_MAX. */
static uint32_t thread_count(const struct clustersim_options *options)
{
    uint32_t processors = system_processors();

    if (options->threads != 0)
        return options->threads;
    return processors > THREADS_MAX ? THREADS_MAX : processors;
}

/* Runs the trials and gathers warnings and the first failure.  False: err says why there
 * are no results; trials that fail are no such reason. */
static bool run_trials(struct clustersim *run, struct err *err)
{
    struct session_options options = {
        .threads = thread_count(&run->options), .shard_count = 1,
        .plain = !run->options.draw, .warn = told_warn, .self = run, .ear = &run->ear,
        .results = run->options.trial_ended != NULL
    };

    run->ear = (struct runner_ear){ ask_on, tell_trial, run };
    (void)places_check(run->arena, run->experiment, told_warn, run);
    if (!session_run(run->trials, run->experiment, &options, &run->session, err))
        return false;
    run->dir = run->experiment->dir;
    places_warn(run->experiment, told_warn, run);
    abilities_warn(run->experiment, told_warn, run);
    idle_keys_warn(run->experiment, told_warn, run);
    arrivals_warn(run->experiment, told_warn, run);
    contexts_warn(run->experiment, told_warn, run);
    scaling_warn(run->experiment, told_warn, run);
    if (run->session.first_failure != NULL)
        run->failure = &told_new(run, run->session.first_failure)->error;
    return true;
}

/* Checks, reads and runs; sets run->dir, a temporary folder where neither dir nor
 * usual_dir is asked for.  False: err says why. */
static bool run_all(struct clustersim *run, const char *path, struct err *err)
{
    if (!check_options(run, path, err))
        return false;
    run->path = path;
    run->dir = run->options.dir;
    run->temporary = run->dir == NULL && !run->options.check_only && !run->options.usual_dir;
    if (run->temporary)
        run->dir = scratch_make(run->arena, err);
    if (run->temporary && run->dir == NULL)
        return false;
    run->experiment = read_experiment(run, path, err);
    if (run->experiment == NULL)
        return false;
    return run->options.check_only || run_trials(run, err);
}

/* A pipe whose reader has gone is an error to be told, not the end of the caller.  True:
 * it was held back here. */
static bool hold_pipes(sigset_t *before)
{
    sigset_t pipes;

    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, before);
    return !sigismember(before, SIGPIPE);
}

/* Takes back a SIGPIPE that waits for this thread, and restores its mask. */
static void let_pipes_go(const sigset_t *before)
{
    const struct timespec now = { 0, 0 };
    sigset_t pipes;

    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    (void)sigtimedwait(&pipes, NULL, &now);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

struct clustersim *clustersim_run(const char *path,
                                  const struct clustersim_options *options)
{
    struct arena *arena = arena_new(1 << 16);
    struct clustersim *run = arena_alloc(arena, 1, sizeof *run);
    struct err err = { 0 };
    sigset_t before;
    bool held = hold_pipes(&before);

    run->arena = arena;
    run->trials = arena_new(0);
    gsl_set_error_handler_off();
    if (!sized_copy(&run->options, sizeof run->options, options, &err) ||
        !run_all(run, path, &err))
        run->error = &told_new(run, &err)->error;
    if (held)
        let_pipes_go(&before);
    return run;
}

void clustersim_free(struct clustersim *run)
{
    struct arena *arena;

    if (run == NULL)
        return;
    arena = run->arena;
    if (run->temporary && run->dir != NULL)
        scratch_remove(run->dir);
    arena_free(run->trials);
    arena_free(arena);
}

/* ---- what came of it ---- */

const struct clustersim_error *clustersim_error(const struct clustersim *run)
{
    return run->error;
}

const struct clustersim_error *clustersim_warnings(const struct clustersim *run)
{
    return run->warning == NULL ? NULL : &run->warning->error;
}

uint32_t clustersim_failed(const struct clustersim *run,
                           const struct clustersim_error **first)
{
    if (first != NULL)
        *first = run->failure;
    return run->session.failed;
}

const char *clustersim_dir(const struct clustersim *run)
{
    return run->dir;
}

const char *clustersim_version(void)
{
    return CLUSTERSIM_VERSION;
}
