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

#include "experiments/advise/advice_check.h"
#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/cli/tuned.h"
#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/options/args.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

enum { EXPECTS, REGRESSIONS, OPTIONS, LISTS };

/* One run of the command. */
struct checking {
    struct cli *cli;
    const struct args *args;
    const struct grid *before;      /* of --baseline, or NULL */
    const struct grid *now;
    struct check_list list[LISTS];
    const char *name;
    const struct decision *decision;    /* on its options; NULL: there are none */
    struct check_left left;         /* by a flag */
};

/* Reads a results folder's own numbers and expectations, and judges them. */
static bool read_folder(struct checking *c, struct err *err)
{
    struct arena *arena = c->cli->arena;
    const char *dir = c->args->word[0];
    const struct experiment_expect *expect;
    uint32_t count;

    c->now = grid_from_folder(arena, dir, err);
    if (c->now == NULL || !check_read(arena, dir, c->now->metrics, &expect, &count, err) ||
        !decide_read(arena, dir, c->now, &c->decision, err))
        return false;
    c->list[EXPECTS] = check_expects(arena, c->now, expect, count);
    c->name = dir;
    return true;
}

/* False, with err, if the results lie in the place of the baseline: they would be
 * compared with it once, and with themselves from then on. */
static bool check_apart(const struct args *args, const char *dir, struct err *err)
{
    const char *baseline = args->value[ARG_BASELINE];
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!args->given[ARG_BASELINE] || !path_same(baseline, dir))
        return true;
    err_set(err, ERR_USAGE, nowhere, "--baseline and the results are one "
            "folder, '%.150s'", dir);
    return err_hint(err, "Keep the baseline in a folder of its own.");
}

/* Returns the exit status of the run; c->now is NULL if there is nothing to judge. */
static int run_experiment(struct checking *c)
{
    struct session session = { 0 };
    struct err err = { 0 };
    const struct experiment *experiment = cmd_tuned_read(c->cli, c->args, &err);
    int status;

    if (experiment == NULL || !check_apart(c->args, experiment->dir, &err))
        return command_fail(c->cli, &err);
    status = cmd_experiment_run(c->cli, c->args, experiment, &session);
    c->now = session.grid;
    c->list[EXPECTS] = session.checks;
    c->decision = session.decision;
    c->left = (struct check_left){
        experiment->left_out, experiment->fewer_seeds ||
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

    if (args->given[ARG_BASELINE] || args->given[ARG_ONLY])
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

/* The verdicts, and which of the options to take. */
static bool write_markdown(struct checking *c, struct err *err)
{
    struct out *out = out_open(c->cli->arena, c->args->value[ARG_MARKDOWN], err);

    if (out == NULL)
        return false;
    check_markdown(out, c->name, c->list, LISTS);
    if (c->decision != NULL) {
        out_text(out, "\n");
        decide_markdown(out, c->decision);
    }
    return out_close(out, err);
}

/* JUnit and Markdown, for CI systems. */
static bool write_files(struct checking *c, struct err *err)
{
    const struct args *args = c->args;
    struct arena *arena = c->cli->arena;

    return (!args->given[ARG_JUNIT] ||
            check_junit(arena, args->value[ARG_JUNIT], c->name, c->list,
                        LISTS, err)) &&
           (!args->given[ARG_MARKDOWN] || write_markdown(c, err));
}

/* True, with err: there is neither an expectation nor a baseline, nor are there options,
 * which is a mistake and no success. */
static bool has_nothing(const struct checking *c, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    for (int i = 0; i < LISTS; i++)
        if (c->list[i].count > 0)
            return false;
    err_set(err, ERR_USAGE, nowhere, "%.150s has nothing to check: no "
            "expectation, no options and no --baseline", c->args->word[0]);
    return !err_hint(err, "`expect:` in the experiment says what must hold.");
}

/* Prints all verdicts; 1 if one is bad, else 0. */
static int tell_verdict(struct checking *c)
{
    struct err err = { 0 };
    uint32_t bad = 0;

    for (int i = 0; i < LISTS; i++) {
        c->list[i].not_judged_passes = c->args->given[ARG_NOT_JUDGED];
        if (!c->args->given[ARG_QUIET])
            check_print(c->cli->out, &c->list[i]);
        bad += check_bad(&c->list[i]);
    }
    if (c->now != NULL && c->now->stop.why != NULL && !c->args->given[ARG_QUIET])
        fprintf(c->cli->out, "seeds: %s\n", c->now->stop.why);
    if (has_nothing(c, &err) || !write_files(c, &err))
        return command_fail(c->cli, &err);
    if (!c->args->given[ARG_QUIET])
        check_print_sum(c->cli->out, c->list, LISTS);
    return bad > 0 ? 1 : 0;
}

/* Reads the baseline from disk: on both sides, what is compared is what was written. */
static bool read_baseline(struct checking *c, struct err *err)
{
    const char *dir = c->args->value[ARG_BASELINE];
    struct err_pos pos = { dir, 0, 0 };

    if (!c->args->given[ARG_BASELINE])
        return true;
    c->before = grid_from_folder(c->cli->arena, dir, err);
    if (c->before == NULL)
        return false;
    return c->before->seed_count > 0 ||
           err_set(err, ERR_SCHEMA, pos, "summary.csv has no row: there is no "
                   "trial to compare with");
}

static int run_check(struct cli *cli, const struct args *args)
{
    struct checking c = { .cli = cli, .args = args };
    struct err err = { 0 };
    double tolerance = 0;
    int status = 0;

    if (!args_fraction(args, ARG_TOLERANCE, &tolerance, &err))
        return command_fail(cli, &err);
    if (advice_check_is(cli->arena, args->word[0])) {
        if (!judge_advice(&c, &err))
            return command_fail(cli, &err);
        return tell_verdict(&c);
    }
    if (!read_baseline(&c, &err))       /* first: the run may replace it */
        return command_fail(cli, &err);
    if (path_is_folder(args->word[0])) {
        if (!read_folder(&c, &err))
            return command_fail(cli, &err);
        if (path_is_file(path_join(cli->arena, args->word[0],
                                   "failures.csv"))) {
            fprintf(cli->err, "%s/failures.csv: some trials failed\n",
                    args->word[0]);
            status = 5;
        }
    } else {
        status = run_experiment(&c);
        if (c.now == NULL)
            return status;
    }
    if (c.decision != NULL)
        c.list[OPTIONS] = decide_checks(cli->arena, c.decision);
    if (c.before != NULL)
        c.list[REGRESSIONS] = check_regressions(cli->arena, c.before, c.now,
                                                tolerance, &c.left);
    if (status != 0) {
        (void)tell_verdict(&c);
        return status;
    }
    return tell_verdict(&c);
}

const struct command command_check = {
    "check", "EXPERIMENT.yaml|DIR [--baseline DIR] [--tolerance FRACTION]\n"
    "       [--allow-not-judged] [--junit FILE] [--markdown FILE]\n"
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
    "gone.\n",
    EXPERIMENT_ARGS | ARG_BIT(ARG_BASELINE) | ARG_BIT(ARG_TOLERANCE) |
        ARG_BIT(ARG_JUNIT) | ARG_BIT(ARG_MARKDOWN) |
        ARG_BIT(ARG_NOT_JUDGED), 1, 1, run_check
};
