/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c - run what is not known yet, put it together, draw it.
 *
 * A session is: open the results folder, recall finished trials from .trials
 * (--resume), run the others (experiments/runner/runner.h), build the grid of
 * points x policies x seeds, judge what is expected, write the tables, then
 * draw.  Trials are numbered by experiment_trial(); runner_trial[i] is trial i
 * in every array here.
 *
 * Invariant of the folder: provenance.json is written last but for charts and
 * report, so where it stands, the tables beside it are complete.
 *
 * Two loops: a fixed number of seeds is one run; `seeds: {until: ...}` runs
 * look by look (sim/stats/looks.h: group-sequential bounds), each look with
 * more seeds, and earlier trials are kept in place.
 */
#include "experiments/session/session.h"

#include "experiments/columns/figures.h"
#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/fleet/fleet.h"
#include "experiments/report/plot.h"
#include "experiments/report/report.h"
#include "experiments/results/gather.h"
#include "experiments/results/results.h"
#include "experiments/results/stop.h"
#include "experiments/runner/runner.h"
#include "experiments/session/crash.h"
#include "experiments/session/trace_json.h"
#include "experiments/spec/experiment.h"
#include "experiments/trials/store.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/stats/looks.h"
#include "sim/text/folder.h"

/* What the callbacks of the runner need; they run in its threads, one trial each,
 * and only read it. */
struct keeper {
    const struct experiment *experiment;     /* of the seeds that are run now */
    struct results results;
    struct crash *crash;        /* which policies crashed before */
};

/* What trial `index` is to run, and which of the large tables it writes: phases,
 * time line and decisions only for the first detail_seeds seeds, as one seed of a
 * large sweep is enough to look at. */
static struct trial_spec make_trial_spec(void *self, uint32_t index,
                                         uint32_t *tables)
{
    const struct keeper *keeper = self;
    const struct experiment *experiment = keeper->experiment;
    struct trial_spec spec = experiment_trial_spec(experiment, index);

    *tables = experiment->tables;
    if (experiment_trial(experiment, index).seed >= experiment->detail_seeds)
        *tables &= ~(uint32_t)(EXPERIMENT_PHASES | EXPERIMENT_TIMELINE |
                                EXPERIMENT_DECISIONS);
    spec.alone = spec.alone || crash_is_alone(keeper->crash, experiment, index);
    return spec;
}

/* Notes that the thread runs this trial, and returns its place in the store, for
 * keep_trial(). */
static void *begin_trial(void *self, uint32_t thread, uint32_t index,
                   const struct trial_tables *tables, volatile int *stop)
{
    const struct keeper *keeper = self;

    crash_mark(keeper->crash, thread, keeper->experiment, index);
    return store_begin(keeper->results.store, thread,
                       experiment_trial_hash(keeper->experiment, index), tables, stop);
}

/* Puts the finished trial in its place under .trials, so that a killed run loses
 * only the trials that were in flight. */
static bool keep_trial(void *begun, const struct trial_result *result,
                       struct err *err)
{
    return store_end(begun, result, err);
}

static void enter_thread(void *self, uint32_t thread)
{
    crash_enter(((const struct keeper *)self)->crash, thread);
}

static void leave_thread(void *self, uint32_t thread)
{
    crash_leave(((const struct keeper *)self)->crash, thread);
}

/* Skips copies (nothing is drawn, so seed 0 stands for all seeds), and the trials
 * of other shards.  Only trials that are no copies are numbered, so that shards
 * get equal shares. */
static void skip_trials(const struct experiment *experiment,
                        const struct session_options *options,
                        struct runner_trial *trial)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        bool copy = experiment_is_copy(experiment, i);
        bool here = options->shard_count <= 1 ||
                    number % options->shard_count == options->shard;

        number += !copy;
        if (copy || (!here && trial[i].state == RUNNER_WAITING))
            trial[i].state = RUNNER_SKIPPED;
    }
}

/* Sums up what became of the trials.  The first failure in order of trials, not of
 * time, is the one that is shown: the same whatever the number of threads. */
static void count_trials(struct session *session)
{
    for (uint32_t i = 0; i < experiment_trial_count(session->experiment); i++) {
        const struct runner_trial *trial = &session->trial[i];

        session->done += trial->state == RUNNER_DONE;
        session->known += trial->known;
        if (trial->state != RUNNER_FAILED)
            continue;
        session->failed++;
        if (session->first_failure == NULL)
            session->first_failure = trial->err;
        session->broken = session->broken || trial->err->kind == ERR_BUG;
    }
}

/* Writes the names of the wanted charts into the folder of charts, so that
 * `clustersim plot` later draws these without the experiment's file. */
static bool list_plots(struct arena *arena, const struct results *results,
                       const struct experiment *experiment, struct err *err)
{
    struct folder *plots = folder_within(arena, results->dir, CHART_FOLDER,
                                         err);
    bool ok = plots != NULL && plot_list_write(arena, plots, experiment->plot,
                                               experiment->plot_count, err);

    folder_close(plots);
    return ok;
}

/* Draws charts and writes the report.  Both can be made again from the tables, so
 * a failure here is a warning and not a failed run. */
static void draw_and_report(const struct session *session,
                            const struct session_options *options)
{
    const struct experiment *experiment = session->experiment;
    /* What lost trials stands in summary.csv in another order. */
    const struct grid *grid = session->failed == 0 ? session->grid : NULL;
    struct err err = { 0 };

    if (experiment->plot_count > 0 && !plot_draw(experiment->dir, "png", &err) &&
        options->warn != NULL)
        options->warn(options->self, &err);
    err = (struct err){ 0 };
    if (!report_write(experiment->dir, grid, &err) && options->warn != NULL)
        options->warn(options->self, &err);
}

/* Writes tables, checks and provenance, in this order; then drops from .trials
 * what is no longer needed, but only if all trials are done.  Charts are drawn
 * only if some trial is. */
static bool put_together(struct arena *arena, const struct keeper *keeper,
                         struct session *session,
                         const struct session_options *options,
                         struct err *err)
{
    const struct experiment *experiment = session->experiment;
    const struct results *results = &keeper->results;

    if (!results_write(arena, results, experiment, session->trial, options->threads,
                       &session->grid, err))
        return false;
    session->checks = check_expects(arena, session->grid, experiment->expect,
                                    experiment->expect_count);
    session->decision = decide_make(arena, session->grid, &experiment->decide);
    if (!check_write(arena, results->dir, &session->checks, err) ||
        (session->decision != NULL &&
         !decide_write(arena, results->dir, session->decision, err)) ||
        (experiment->perfetto && !trace_json_write(results->dir, err)) ||
        (experiment->plot_count > 0 &&
         !list_plots(arena, results, experiment, err)) ||
        !provenance_write(arena, results->dir, experiment, session->grid, &options->command,
                          err))
        return false;
    if (session->failed == 0)
        crash_forget(arena, keeper->crash);
    if (session->failed == 0)
        session->others_kept = !results_end(arena, results, experiment);
    if (session->done > 0 && !options->plain)
        draw_and_report(session, options);
    return true;
}

/* The trials that are waiting, in the arena. */
static uint32_t *due_trials(struct arena *arena, const struct experiment *experiment,
                            const struct runner_trial *trial, uint32_t *count)
{
    uint32_t all = experiment_trial_count(experiment);
    uint32_t *due = arena_alloc(arena, all + 1, sizeof *due);

    *count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (trial[i].state == RUNNER_WAITING)
            due[(*count)++] = i;
    return due;
}

/* Rank 0 runs trials with the other ranks, and then what is left: those that failed
 * elsewhere fail here again, and are told. */
static bool run_with_ranks(struct keeper *keeper, struct runner_plan plan,
                           struct fleet *fleet, struct runner_trial *trial,
                           struct err *err)
{
    struct arena *arena = arena_new(0);
    uint32_t count;
    const uint32_t *due = due_trials(arena, keeper->experiment, trial, &count);
    bool ok;

    fleet_serve(fleet, due, count);
    plan.next = fleet_next;
    plan.next_self = fleet;
    ok = runner_run(&plan, trial, err);
    fleet_end(fleet);
    results_recall(&keeper->results, keeper->experiment, trial);
    for (uint32_t i = 0; i < count; i++)
        trial[due[i]].known = false;
    plan.next = NULL;
    arena_free(arena);
    return ok && runner_run(&plan, trial, err);
}

/* Runs what is not known of the keeper's experiment. */
static bool run_trials(struct arena *arena, struct keeper *keeper,
                       const struct session_options *options,
                       struct runner_trial *trial, uint32_t *passed, struct err *err)
{
    const struct experiment *experiment = keeper->experiment;
    const struct runner_plan plan = {
        .count = experiment_trial_count(experiment),
        .arena = arena,
        .threads = options->threads,
        .timeline_step_ns = experiment->timeline_step_ns,
        .progress = options->progress,
        .spec = make_trial_spec, .begin = begin_trial, .keep = keep_trial,
        .enter = enter_thread, .leave = leave_thread, .self = keeper,
        .ear = options->ear
    };
    bool ok;

    if (options->resume)
        results_recall(&keeper->results, experiment, trial);
    skip_trials(experiment, options, trial);
    crash_pass_over(keeper->crash, experiment, trial, passed);
    if (!store_threads(keeper->results.store, options->threads, err))
        return false;
    crash_arm(keeper->crash);
    ok = options->fleet == NULL
        ? runner_run(&plan, trial, err)
        : run_with_ranks(keeper, plan, options->fleet, trial, err);
    crash_disarm(keeper->crash);
    return crash_note(arena, keeper->crash, experiment, trial, err) && ok;
}

/* Moves the trials of `before` seeds to the places that they have among more
 * seeds: trials are numbered with the seed running fastest.  The others wait. */
static struct runner_trial *more_trials(struct arena *arena,
                                        const struct experiment *experiment,
                                        uint32_t before,
                                        const struct runner_trial *trial, bool results)
{
    uint32_t seeds = experiment->seeds;
    uint32_t count = experiment_trial_count(experiment);
    struct runner_trial *more = runner_trials(arena, count, results);

    for (uint32_t i = 0; i < count; i++)
        if (i % seeds < before)
            more[i] = trial[i / seeds * before + i % seeds];
    return more;
}

/* Runs look by look until the seeds suffice (experiments/results/stop.h), or
 * at_most is reached.  `now` is the experiment with the seeds of this look; its
 * trial hashes do not depend on the number of seeds, so what .trials holds stays
 * good. */
static bool run_looks(struct arena *arena, struct keeper *keeper,
                      const struct session_options *options,
                      struct session *session, struct err *err)
{
    const struct experiment *whole = keeper->experiment;
    struct experiment *now = arena_alloc(arena, 1, sizeof *now);
    uint32_t looks = looks_count(whole->stop.rule, whole->stop.at_most);
    struct runner_trial *trial = NULL;
    struct gathered gathered;

    *now = *whole;
    now->seeds = 0;
    keeper->experiment = session->experiment = now;
    for (uint32_t k = 0; k < looks; k++) {
        uint32_t before = now->seeds;

        now->seeds = looks_size(whole->stop.rule, whole->stop.at_most, k);
        trial = more_trials(arena, now, before, trial, options->results);
        session->trial = trial;
        if (!run_trials(arena, keeper, options, trial, &session->passed_over, err) ||
            !gather_trials(arena, &keeper->results, now, trial, false, &gathered, err))
            return false;
        if (stop_judge(arena, now, gathered.grid))
            break;
    }
    return true;
}

/* Runs all seeds of the experiment, whose number is fixed.  False: err is set. */
static bool run_number(struct arena *arena, struct keeper *keeper,
                       const struct session_options *options,
                       struct session *session, struct err *err)
{
    struct runner_trial *trial = runner_trials(
        arena, experiment_trial_count(keeper->experiment), options->results);

    session->trial = trial;
    return run_trials(arena, keeper, options, trial, &session->passed_over, err);
}

/* Shards run without knowing of each other, so a number of seeds that follows from
 * all trials cannot be split. */
static bool may_shard(const struct experiment *experiment,
                      const struct session_options *options, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if ((options->shard_count <= 1 && options->fleet == NULL) ||
        experiment->stop.rule == LOOKS_NONE)
        return true;
    err_set(err, ERR_USAGE, nowhere, "%s a number of seeds: when there are enough "
            "(until: %.40s) follows from all trials together",
            options->fleet == NULL ? "--shard needs" : "ranks need",
            experiment->stop.text);
    return err_hint(err, "--seeds N gives a number.");
}

/* Runs, as a rank above 0, what rank 0 hands out.  It keeps no results in memory: rank 0 reads
 * them from the folder. */
static bool run_rank(struct arena *arena, struct keeper *keeper,
                     const struct session_options *options, struct session *session,
                     struct err *err)
{
    const struct experiment *experiment = keeper->experiment;
    uint32_t count = experiment_trial_count(experiment);
    struct runner_trial *trial = runner_trials(arena, count, false);
    const struct runner_plan plan = {
        .count = count, .arena = arena, .threads = options->threads,
        .timeline_step_ns = experiment->timeline_step_ns,
        .spec = make_trial_spec, .begin = begin_trial, .keep = keep_trial, .self = keeper,
        .enter = enter_thread, .leave = leave_thread,
        .next = fleet_next, .next_self = options->fleet
    };
    struct session_options here = *options;
    bool ok;

    here.resume = true;             /* rank 0 has forgotten what is to be forgotten */
    session->trial = trial;
    if (!fleet_wait(options->fleet))
        return true;
    if (!results_join(arena, experiment->dir, &keeper->results, err))
        return false;
    keeper->crash = crash_open(arena, experiment, &keeper->results, &here);
    ok = store_threads(keeper->results.store, options->threads, err);
    crash_arm(keeper->crash);
    ok = ok && runner_run(&plan, trial, err);
    crash_disarm(keeper->crash);
    results_close(&keeper->results);
    return ok;
}

bool session_run(struct arena *arena, const struct experiment *experiment,
                 const struct session_options *options,
                 struct session *session, struct err *err)
{
    struct keeper keeper = { .experiment = experiment };
    bool ok;

    *session = (struct session){ .experiment = experiment };
    if (!may_shard(experiment, options, err))
        return false;
    if (options->fleet != NULL && fleet_rank(options->fleet) > 0)
        return run_rank(arena, &keeper, options, session, err);
    if (!results_begin(arena, experiment, &keeper.results, err))
        return false;
    keeper.crash = crash_open(arena, experiment, &keeper.results, options);
    ok = (options->shard_text == NULL ||
          results_tell_shard(arena, &keeper.results, options->shard_text, err)) &&
         (experiment->stop.rule == LOOKS_NONE
        ? run_number(arena, &keeper, options, session, err)
        : run_looks(arena, &keeper, options, session, err));
    count_trials(session);
    if (ok && options->shard_count <= 1)
        ok = put_together(arena, &keeper, session, options, err);
    results_close(&keeper.results);
    return ok;
}
