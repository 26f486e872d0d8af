/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - `clustersim check`: a verdict for CI.
 *
 * Three kinds of operands: an experiment, which is run first; a results folder,
 * which is judged as it stands; a question to advise, which is answered.  All
 * end in two lists of verdicts (expectations and regressions), printed and
 * written in one way.
 *
 * The baseline is read before the run, since the run may replace it.  A failed
 * trial gives status 5, whatever the verdicts say.
 */
#include <string.h>
#include <time.h>

#include "experiments/advise/advice_check.h"
#include "experiments/ci/baseline.h"
#include "experiments/ci/verdicts.h"
#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/cli/tuned.h"
#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/options/args.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/stats/looks.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* The lists of verdicts, in the order in which they are printed. */
enum { EXPECTS, REGRESSIONS, OPTIONS, LISTS };

/* One run of the command. */
struct checking {
    struct cli *cli;
    const struct args *args;
    const struct grid *before;      /* of --baseline, or NULL */
    const struct grid *now;     /* what is judged */
    struct check_list list[LISTS];  /* expectations, the baseline, options */
    const char *name;           /* of the experiment */
    const struct verdict_place *place[LISTS];   /* of each list, by item */
    const struct decision *decision;    /* on its options; NULL: there are none */
    const struct experiment *experiment;        /* NULL: a folder is judged */
    struct session session;         /* of the experiment */
    const struct experiment_expect *expect; /* [expect_count], also of a folder */
    uint32_t expect_count;
    struct timespec began;      /* wall time, for --junit */
    struct check_left left;         /* by a flag */
    struct verdict_new *added;      /* not in the baseline */
    uint32_t added_count;
};

/* Prints an error of the input or of the command, for CI systems too, and
 * returns its status. */
static int fail(const struct checking *c, const struct err *err)
{
    if (c->args->given[ARG_ANNOTATE])
        verdicts_github_err(c->cli->out, err);
    return command_fail(c->cli, err);
}

/* Reads a results folder's own numbers and expectations, and judges them.  False: err,
 * and there is nothing to judge (c->now). */
static bool read_folder(struct checking *c, struct err *err)
{
    struct arena *arena = c->cli->arena;
    const char *dir = c->args->word[0];
    struct grid *now = grid_from_folder(arena, dir, err);

    if (now == NULL || !fingerprints_read(arena, dir, &now->jobs, err) ||
        !check_read(arena, dir, now->metrics, &c->expect, &c->expect_count, err) ||
        !decide_read(arena, dir, now, &c->decision, err))
        return false;
    c->now = now;
    c->list[EXPECTS] = check_expects(arena, c->now, c->expect, c->expect_count);
    c->name = dir;
    return true;
}

/* False, with err, if the results lie in the place of the baseline: they would be
 * compared with it once, and with themselves from then on. */
static bool check_apart(const struct args *args, enum arg arg, const char *dir,
                        struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!args->given[arg] || !path_same(args->value[arg], dir))
        return true;
    err_set(err, ERR_USAGE, nowhere, "%s and the results are one "
            "folder, '%.150s'", arg_info(arg)->name, dir);
    return err_hint(err, "Keep the baseline in a folder of its own.");
}

/* False, with err, if flags left out a part of what a new baseline needs: all
 * later runs would be compared with that part only. */
static bool check_whole(const struct args *args, const struct experiment *experiment,
                        struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!args->given[ARG_UPDATE] ||
        (!args->given[ARG_ONLY] && !experiment->option.fewer_seeds))
        return true;
    return err_set(err, ERR_USAGE, nowhere, "%s with %s: the baseline would be of a part "
                   "of the experiment", arg_info(ARG_UPDATE)->name,
                   arg_info(args->given[ARG_ONLY] ? ARG_ONLY : ARG_SEEDS)->name);
}

/* Sets err: there is nothing to check, neither expectations nor a baseline nor
 * options.  That is a mistake, and must not look like success.  Returns false. */
static bool tell_nothing(const struct checking *c, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    err_set(err, ERR_USAGE, nowhere, "%.150s has nothing to check: no "
            "expectation, no options and no --baseline", c->args->word[0]);
    return err_hint(err, "`expect:` in the experiment says what must hold.");
}

/* False, with err, if a run would leave nothing to judge.  It is asked before
 * the run, which would replace an earlier one. */
static bool check_something(const struct checking *c, const struct experiment *experiment,
                            struct err *err)
{
    return experiment->expect_count > 0 || experiment->decide.choice_count > 0 ||
           c->args->given[ARG_BASELINE] || c->args->given[ARG_UPDATE] || tell_nothing(c, err);
}

/* Returns the exit status of the run; c->now is NULL if there is nothing to judge. */
static int run_experiment(struct checking *c)
{
    struct err err = { 0 };
    const struct experiment *experiment = cmd_tuned_read(c->cli, c->args, &err);
    int status;

    if (experiment == NULL ||
        !check_apart(c->args, ARG_BASELINE, experiment->dir, &err) ||
        !check_apart(c->args, ARG_UPDATE, experiment->dir, &err) ||
        !check_whole(c->args, experiment, &err) || !check_something(c, experiment, &err))
        return fail(c, &err);
    status = cmd_experiment_run(c->cli, c->args, experiment, &c->session);
    c->experiment = experiment;
    c->now = c->session.grid;
    c->list[EXPECTS] = c->session.checks;
    c->decision = c->session.decision;
    c->expect = experiment->expect;
    c->expect_count = experiment->expect_count;
    c->left = (struct check_left){
        experiment->left_out, experiment->option.fewer_seeds ||
                              (c->now != NULL && c->now->stop.rule != LOOKS_NONE)
    };
    c->name = experiment->name;
    return status;
}

/* Answers a question to `advise`; its folder has nothing but checks.csv. */
static bool judge_advice(struct checking *c, struct err *err)
{
    struct arena *arena = c->cli->arena;
    const struct args *args = c->args;
    struct advice_check_options options = { .set = args->set,
                                            .set_count = args->set_count };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct advice_check advice = { 0 };
    const char *dir = args->value[ARG_OUT];

    if (args->given[ARG_BASELINE] || args->given[ARG_ONLY] || args->given[ARG_UPDATE])
        return err_set(err, ERR_USAGE, nowhere, "%s is a question to advise, "
                       "which has no trials to compare and no policies",
                       args->word[0]);
    if (!advice_check_run(arena, args->word[0], &options, &advice, err))
        return false;
    c->list[EXPECTS] = advice.checks;
    c->name = advice.name;
    if (dir == NULL)
        dir = path_join(arena, "out", advice.name);
    struct folder *folder = folder_make(arena, dir, err);
    bool ok = folder != NULL && folder_lock(folder, err) &&
              check_write(arena, folder, &advice.checks, err);
    folder_close(folder);
    return ok;
}

/* ---- where verdicts come from ---- */

/* Returns the place of the policy in the experiment's file; line 0: it was not read. */
static struct err_pos find_entry(const struct checking *c, const char *policy)
{
    struct err_pos pos = { c->args->word[0], 0, 0 };

    return c->experiment == NULL ? pos : experiment_policy_pos(c->experiment, policy);
}

/* Returns the wall time of the trials of a policy at a point, in seconds.
 * policy NULL: of all policies. */
static double find_wall(const struct checking *c, const char *point, const char *policy)
{
    const struct experiment *experiment = c->session.experiment;
    double sum = 0;

    for (uint32_t i = 0; experiment != NULL && i < experiment_trial_count(experiment); i++) {
        struct experiment_trial t = experiment_trial(experiment, i);

        if (strcmp(experiment->point[t.point].label, point) == 0 &&
            (policy == NULL || strcmp(experiment->policy_name[t.policy], policy) == 0))
            sum += c->session.trial[i].wall_s;
    }
    return sum;
}

/* Returns where a verdict stands in the file of the experiment, and how much wall
 * time its trials took. */
static struct verdict_place find_place(const struct checking *c,
                                       const struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    struct verdict_place place = { .pos = find_entry(c, item->policy) };

    if (e != NULL && e->pos.file != NULL)
        place.pos = e->pos;
    if (item->point == NULL)
        return place;
    place.wall_s = find_wall(c, item->point, item->policy);
    if (e != NULL && e->versus != NULL)
        place.wall_s += find_wall(c, item->point, e->versus);
    return place;
}

/* Finds the place of each verdict, for reports that show it in the file. */
static void find_places(struct checking *c)
{
    for (int i = 0; i < LISTS; i++) {
        struct verdict_place *place =
            arena_alloc(c->cli->arena, c->list[i].count + 1, sizeof *place);

        for (uint32_t k = 0; k < c->list[i].count; k++)
            place[k] = find_place(c, &c->list[i].item[k]);
        c->place[i] = place;
    }
}

/* Finds which policies and points the baseline lacks: nothing is compared there. */
static void find_added(struct checking *c)
{
    const struct grid *before = c->before, *now = c->now;
    const struct err_pos nowhere = { c->args->word[0], 0, 0 };

    if (before == NULL)
        return;
    c->added = arena_alloc(c->cli->arena, (size_t)now->policy_count + now->point_count + 1,
                           sizeof *c->added);
    for (uint32_t p = 0; p < now->policy_count; p++)
        if (grid_policy(before, now->policy[p]) == UINT32_MAX)
            c->added[c->added_count++] = (struct verdict_new){
                "policy", now->policy[p], find_entry(c, now->policy[p])
            };
    for (uint32_t t = 0; t < now->point_count; t++)
        if (grid_point(before, now->point[t]) == UINT32_MAX)
            c->added[c->added_count++] = (struct verdict_new){
                "point", now->point[t], nowhere
            };
}

/* Returns the wall time since then, in seconds. */
static double seconds_since(const struct timespec *from)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

/* ---- files and lines for CI systems ---- */

/* Writes the verdicts in every form that options ask for: annotations, JUnit,
 * Markdown and Code Quality. */
static bool write_files(struct checking *c, struct err *err)
{
    const struct args *args = c->args;
    struct arena *arena = c->cli->arena;
    const struct verdicts v = {
        c->name, c->list, c->place, LISTS, c->decision, seconds_since(&c->began), c->added,
        c->added_count
    };

    if (args->given[ARG_ANNOTATE])
        verdicts_github(c->cli->out, &v);
    return (!args->given[ARG_JUNIT] ||
            verdicts_junit(arena, args->value[ARG_JUNIT], &v, err)) &&
           (!args->given[ARG_MARKDOWN] ||
            verdicts_markdown(arena, args->value[ARG_MARKDOWN], &v, err)) &&
           (!args->given[ARG_QUALITY] ||
            verdicts_code_quality(arena, args->value[ARG_QUALITY], &v, err));
}

/* Prints the verdicts as JSON, with the exit status.  False: err says why not. */
static bool print_json(struct checking *c, int status, struct err *err)
{
    struct out *out = out_stream(c->cli->arena, "the answer", c->cli->out);
    const struct verdicts v = {
        c->name, c->list, c->place, LISTS, c->decision, seconds_since(&c->began), c->added,
        c->added_count
    };

    verdicts_json(out, &v, status);
    return out_close(out, err);
}

/* Writes the new baseline of --update-baseline.  Verdicts do not matter for it,
 * but a failed trial does: the baseline would lack it for ever. */
static bool update_baseline(struct checking *c, struct err *err)
{
    const char *dir = c->args->value[ARG_UPDATE];
    struct baseline_asks asks = { c->expect, c->expect_count, NULL, 0 };
    struct baseline_told told;
    struct err_pos pos = { dir, 0, 0 };

    if (!c->args->given[ARG_UPDATE])
        return true;
    for (uint32_t t = 0; t < c->now->point_count; t++)
        for (uint32_t p = 0; p < c->now->policy_count; p++)
            if (grid_failed(c->now, t, p) > 0)
                return err_set(err, ERR_POLICY, pos, "the baseline is left as it was: %u "
                               "trials of %.60s failed", grid_failed(c->now, t, p),
                               c->now->policy[p]);
    if (c->decision != NULL)
        asks.decide = c->decision->spec;
    if (c->now->stop.rule != LOOKS_NONE)
        asks.seeds_most = looks_size(c->now->stop.rule, c->now->stop.at_most, 0);
    if (!baseline_write(c->cli->arena, dir, c->now, &asks, &told, err))
        return false;
    if (!c->args->given[ARG_QUIET] && !c->args->given[ARG_JSON])
        fprintf(c->cli->out, "baseline: %s/summary.csv, %u metrics, %u of %u seeds, %.1f kB\n",
                dir, told.metrics, told.seeds, c->now->seed_count,
                (double)told.bytes / 1000);
    return true;
}

/* True, with err: no list holds a verdict, and no baseline is written either. */
static bool has_nothing(const struct checking *c, struct err *err)
{
    for (int i = 0; i < LISTS; i++)
        if (c->list[i].count > 0 || c->args->given[ARG_UPDATE])
            return false;
    return !tell_nothing(c, err);
}

/* Prints all verdicts.  `status` is that of the run; returns that of the command: 1 if
 * a verdict is bad and the run is not. */
static int tell_verdict(struct checking *c, int status)
{
    bool silent = c->args->given[ARG_QUIET] || c->args->given[ARG_JSON];
    struct err err = { 0 };
    uint32_t bad = 0;

    find_places(c);
    find_added(c);
    for (int i = 0; i < LISTS; i++) {
        c->list[i].not_judged_passes = c->args->given[ARG_NOT_JUDGED];
        if (!silent)
            check_print(c->cli->out, &c->list[i]);
        bad += check_bad(&c->list[i]);
    }
    if (status == 0 && bad > 0)
        status = 1;
    for (uint32_t i = 0; i < c->added_count && !silent; i++)
        fprintf(c->cli->out, "not in the baseline: %s %s\n", c->added[i].kind,
                c->added[i].name);
    if (c->now != NULL && c->now->stop.why != NULL && !silent)
        fprintf(c->cli->out, "seeds: %s\n", c->now->stop.why);
    if (has_nothing(c, &err) || !write_files(c, &err) || !update_baseline(c, &err))
        return fail(c, &err);
    if (!silent && (c->list[EXPECTS].count + c->list[REGRESSIONS].count +
                    c->list[OPTIONS].count > 0))
        check_print_sum(c->cli->out, c->list, LISTS);
    if (c->args->given[ARG_JSON] && !print_json(c, status, &err))
        return fail(c, &err);
    return status;
}

/* Reads the baseline from disk.  The run is read from its tables, too, so what
 * is compared was rounded alike. */
static bool read_baseline(struct checking *c, struct err *err)
{
    const char *dir = c->args->value[ARG_BASELINE];
    struct grid *before;

    if (!c->args->given[ARG_BASELINE])
        return true;
    before = grid_from_folder(c->cli->arena, dir, err);
    if (before == NULL || !check_can_regress(before, dir, err) ||
        !fingerprints_read(c->cli->arena, dir, &before->jobs, err))
        return false;
    c->before = before;
    return true;
}

/* False, with err, unless --annotate has its one word; --json and it both write to
 * stdout. */
static bool check_annotate(const struct args *args, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!args->given[ARG_ANNOTATE])
        return true;
    if (args->given[ARG_JSON])
        return err_set(err, ERR_USAGE, nowhere, "--annotate and --json both write to stdout");
    if (strcmp(args->value[ARG_ANNOTATE], "github") == 0)
        return true;
    err_set(err, ERR_USAGE, nowhere, "--annotate must be github, and is '%.40s'",
            args->value[ARG_ANNOTATE]);
    return err_hint(err, "GitLab reads --code-quality FILE.");
}

/* False, with err, if an option of a run is given with a folder of results, which is judged as
 * it stands: the option would change nothing. */
static bool check_stands(const struct args *args, struct err *err)
{
    static const enum arg of_run[] = { ARG_SET, ARG_OUT, ARG_ONLY, ARG_SEEDS, ARG_RESUME,
                                       ARG_AUDIT };
    struct err_pos nowhere = { NULL, 0, 0 };

    for (size_t i = 0; i < sizeof of_run / sizeof of_run[0]; i++)
        if (args->given[of_run[i]])
            return err_set(err, ERR_USAGE, nowhere, "%s is for an experiment, which is run, and "
                           "%.150s is a folder of results", arg_info(of_run[i])->name,
                           args->word[0]);
    return true;
}

/* Fills c->now and the lists, from a folder or from a run.  Returns the status
 * of the run; a folder with failed trials has 5. */
static int gather(struct checking *c, struct err *err)
{
    struct arena *arena = c->cli->arena;
    const char *word = c->args->word[0];

    if (!path_is_folder(word))
        return run_experiment(c);
    if (!check_stands(c->args, err) || !check_apart(c->args, ARG_BASELINE, word, err) ||
        !check_apart(c->args, ARG_UPDATE, word, err) || !read_folder(c, err))
        return fail(c, err);
    if (!path_is_file(path_join(arena, word, "failures.csv")))
        return 0;
    fprintf(c->cli->err, "%s/failures.csv: some trials failed\n", word);
    return 5;
}

/* Status 0 if all verdicts hold, 1 if one does not, 5 if a trial failed. */
static int run_check(struct cli *cli, const struct args *args)
{
    struct checking c = { .cli = cli, .args = args };
    struct err err = { 0 };
    double tolerance = 0;
    int status;

    clock_gettime(CLOCK_MONOTONIC, &c.began);
    if (!check_annotate(args, &err))
        return command_fail(cli, &err);
    if (!args_fraction(args, ARG_TOLERANCE, &tolerance, &err))
        return fail(&c, &err);
    if (args->given[ARG_TOLERANCE] && !args->given[ARG_BASELINE]) {
        err_set(&err, ERR_USAGE, (struct err_pos){ NULL, 0, 0 },
                "--tolerance needs --baseline: without it nothing is compared");
        return fail(&c, &err);
    }
    if (advice_check_is(cli->arena, args->word[0]))
        return judge_advice(&c, &err) ? tell_verdict(&c, 0) : fail(&c, &err);
    if (!read_baseline(&c, &err))       /* first: the run may replace it */
        return fail(&c, &err);
    status = gather(&c, &err);
    if (c.now == NULL)
        return status;
    if (c.decision != NULL)
        c.list[OPTIONS] = decide_checks(cli->arena, c.decision);
    if (c.before != NULL)
        c.list[REGRESSIONS] = check_regressions(cli->arena, c.before, c.now,
                                                tolerance, &c.left);
    return tell_verdict(&c, status);
}

const struct command command_check = {
    "check", "EXPERIMENT.yaml|DIR [--baseline DIR] [--tolerance FRACTION]\n"
    "       [--update-baseline DIR] [--allow-not-judged] [--json]\n"
    "       [--junit FILE] [--markdown FILE] [--annotate github] [--code-quality FILE]\n"
    "       [options of run but --shard]",
    "judge expectations and regressions; status 1 if any does not hold",
    "Given an experiment, runs it first; given a results folder, judges what\n"
    "is there.  An expectation holds when the whole confidence interval lies\n"
    "inside its limits, does not hold when all of it lies outside, and is\n"
    "undecided when it straddles a limit: more seeds may decide it.  Only\n"
    "what holds passes.  With one seed the value alone is judged.\n\n"
    "What --only, --seeds or missing rows leave out is not judged, and does\n"
    "not pass either, but with --allow-not-judged.  Where a trial failed the\n"
    "verdict is `failed trial`.\n\n"
    "Of an experiment with options it is judged whether one can be taken.\n\n"
    "--baseline compares trial by trial (point, policy, seed).  Trials are\n"
    "deterministic, so any metric that got worse in any seed by more than\n"
    "--tolerance (0 unless given) is a regression, and so is a trial that is\n"
    "gone.  Other jobs than those of the baseline, as of another `seed`, do\n"
    "not pass, and no metric is compared then.\n\n"
    "--update-baseline writes a baseline that is small enough for a repository:\n"
    "the metrics that the experiment asks for and the main ones, of as many seeds\n"
    "as 10 kB hold.\n\n"
    "--junit, --annotate and --code-quality are for CI systems: see\n"
    "experiments/ci of the manual.  --json prints all verdicts as JSON.\n",
    EXPERIMENT_ARGS | ARG_BIT(ARG_BASELINE) | ARG_BIT(ARG_TOLERANCE) |
        ARG_BIT(ARG_JUNIT) | ARG_BIT(ARG_MARKDOWN) | ARG_BIT(ARG_UPDATE) |
        ARG_BIT(ARG_ANNOTATE) | ARG_BIT(ARG_QUALITY) | ARG_BIT(ARG_JSON) |
        ARG_BIT(ARG_NOT_JUDGED), 1, 1, run_check
};
