/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.c - `clustersim run`.
 *
 * After the run, all is printed that a reader must know to judge the table:
 * semantics, limits, defaults, warnings, what traces left out, and where the
 * fluid mode may be wrong.  The files hold it too (provenance.json).
 */
#include <inttypes.h>
#include <string.h>

#include "experiments/advise/advice_check.h"
#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/cli/slurm.h"
#include "experiments/cli/trial.h"
#include "experiments/cli/tuned.h"
#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/fleet/fleet.h"
#include "experiments/preflight/abilities.h"
#include "experiments/preflight/arrivals.h"
#include "experiments/preflight/contexts.h"
#include "experiments/preflight/defaults.h"
#include "experiments/preflight/idle_keys.h"
#include "experiments/preflight/load_print.h"
#include "experiments/preflight/places.h"
#include "experiments/preflight/scaling.h"
#include "experiments/preflight/turns.h"
#include "experiments/report/services_table.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/results/notes.h"
#include "experiments/results/summary_table.h"
#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* Prints the semantics of each policy: they are never implied by its name. */
static void print_semantics(struct cli *cli, const struct experiment *experiment)
{
    fputs("\nsemantics\n", cli->out);
    for (uint32_t i = 0; i < experiment->policy_count; i++) {
        const struct host_policy *p = experiment->point[0].policy[i];

        fprintf(cli->out, "  %s: %s%s%s%s\n", experiment->policy_name[i],
                strcmp(p->policy->name, experiment->policy_name[i]) == 0 ? "" :
                p->policy->name,
                strcmp(p->policy->name, experiment->policy_name[i]) == 0 ? "" :
                " ", p->semantics == NULL ? "" : p->semantics,
                p->policy->flags & CS_CLAIRVOYANT
                    ? " (knows true run times)" : "");
    }
}

/* Prints which limits of a decision, such as depth_max, left something out. */
static void print_limits(struct cli *cli, const struct experiment *experiment,
                         const struct grid *grid)
{
    char text[600];
    bool begun = false;

    for (uint32_t i = 0; i < experiment->policy_count; i++) {
        if (!notes_limits(grid, i, experiment->point[0].policy[i]->limits, text,
                          sizeof text))
            continue;
        fprintf(cli->out, "%s  %s\n", begun ? "" : "\nlimits\n", text);
        begun = true;
    }
}

/* Returns ", 12 not taken by where, 3 for which where has no value", or the
 * part of it that is so. */
static const char *format_where(struct arena *arena,
                                const struct source_counts *c)
{
    const char *text = "";

    if (c->not_taken > 0)
        text = text_format(arena, ", %" PRIu64 " not taken by where", c->not_taken);
    if (c->no_value > 0)
        text = text_format(arena, "%s, %" PRIu64 " for which where has no value "
                           "(x / 0, the root of -1)", text, c->no_value);
    return text;
}

/* Prints what did not become a job, of each trace that was read. */
static void print_left_out(struct cli *cli, const struct experiment *experiment)
{
    bool begun = false;

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        struct source_counts c = workload_counts(experiment->point[i].workload);

        if (c.rows == c.jobs &&
            c.blank_lines + c.longer_rows + c.assumed_run_time +
            c.never_drawn == 0)
            continue;
        if (!begun)
            fputs("\ntraces\n", cli->out);
        begun = true;
        fprintf(cli->out, "  %s: %" PRIu64 " rows, %" PRIu64 " jobs; left "
                "out: %" PRIu64 " without run time, %" PRIu64 " without "
                "GPUs, %" PRIu64 " too large, %" PRIu64 " by other reasons, "
                "%" PRIu64 " outside the slice%s; %" PRIu64 " blank lines%s",
                experiment->point[i].label, c.rows, c.jobs, c.skipped_run_time,
                c.skipped_gpus, c.skipped_too_large, c.skipped_other,
                c.outside_slice, format_where(cli->arena, &c),
                c.blank_lines,
                c.longer_rows > 0 ? "" : "\n");
        if (c.longer_rows > 0)
            fprintf(cli->out, ", %" PRIu64 " rows of more than 18 fields\n",
                    c.longer_rows);
        if (c.never_drawn > 0)
            fprintf(cli->out, "  %s: %" PRIu64 " jobs of the last block, "
                    "which is not whole, are never drawn\n",
                    experiment->point[i].label, c.never_drawn);
        if (c.assumed_run_time > 0)
            fprintf(cli->out, "  %s: %" PRIu64 " rows of unknown run time "
                    "run for unknown_run_time\n", experiment->point[i].label,
                    c.assumed_run_time);
    }
}

/* Where the fluid mode is not to be trusted: above this share of the GPU time. */
#define SHARED_BURSTS 0.01      /* of the GPU time */

/* Warns where the fluid mode may be wrong.  Training that shares links between
 * nodes sends in bursts, which the fluid mode spreads over the step; the metric
 * gpu_bursts says for what part of the GPU time that is so. */
static void print_fidelity(struct cli *cli, const struct experiment *experiment,
                           const struct grid *grid)
{
    bool begun = false;

    for (uint32_t t = 0; t < experiment->point_count * experiment->policy_count; t++) {
        uint32_t point = t / experiment->policy_count;
        uint32_t policy = t % experiment->policy_count;
        double part = grid_present(grid, point, policy, 0)
            ? grid_value(grid, point, policy, 0, METRIC_GPU_BURSTS) : 0;

        if (experiment->point[point].by_step || !(part > SHARED_BURSTS))
            continue;
        if (!begun)
            fputs("\nfidelity\n", cli->out);
        begun = true;
        fprintf(cli->out, "  %s, %s: for %.0f%% of GPU time training shares "
                "links between nodes with other training\n",
                experiment->point[point].label, experiment->policy_name[policy],
                100 * part);
    }
    if (begun)
        fputs("  Bursts of steps can collide there, and times be longer, by "
              "up to a third: compare\n  with fidelity: step.\n", cli->out);
}

/* Results go to stdout, warnings to stderr. */
void cmd_results_print(struct cli *cli, const struct session *session)
{
    const struct experiment *experiment = session->experiment;

    struct err err = { 0 };
    const struct services_table *services =
        services_table_read(cli->arena, experiment->dir, &err);

    summary_table_print(cli->out, session->grid, experiment->name, cli->bold);
    if (services != NULL) {
        fputc('\n', cli->out);
        services_table_print(services, cli->out);
    }
    if (session->decision != NULL) {
        fputc('\n', cli->out);
        decide_print(cli->out, session->decision, cli->bold);
    }
    print_semantics(cli, experiment);
    print_limits(cli, experiment, session->grid);
    defaults_print(cli->arena, experiment, cli->out);
    places_warn(experiment, command_warn, cli);
    abilities_warn(experiment, command_warn, cli);
    idle_keys_warn(experiment, command_warn, cli);
    arrivals_warn(experiment, command_warn, cli);
    contexts_warn(experiment, command_warn, cli);
    scaling_warn(experiment, command_warn, cli);
    turns_warn(experiment, command_warn, cli);
    load_warn(cli->arena, experiment, command_warn, cli);
    print_left_out(cli, experiment);
    print_fidelity(cli, experiment, session->grid);
    if (session->checks.count > 0) {
        fputs("\nexpectations\n", cli->out);
        check_print(cli->out, &session->checks);
    }
    if (session->known > 0)
        fprintf(cli->err, "%u trials were known already\n", session->known);
    fprintf(cli->out, "\nresults: %s\n", experiment->dir);
}

/* Reads the experiment for ranks of MPI. Ranks know nothing of each other's
 * searches, so one that tunes its policies is refused. */
static const struct experiment *read_for_ranks(struct cli *cli, const struct args *args,
                                               struct err *err)
{
    struct err_pos pos = { args->word[0], 0, 0 };
    const struct experiment *experiment =
        cmd_experiment_read(cli, args, args->set, args->set_count, err);

    if (experiment == NULL || !experiment->tuned)
        return experiment;
    err_set(err, ERR_USAGE, pos, "the experiment tunes its policies, and ranks cannot tune "
            "together");
    err_hint(err, "`clustersim tune` writes an experiment with what it finds.");
    return NULL;
}

/* Runs as one of several ranks.  Rank 0 speaks for all of them, except of
 * errors that only another rank meets. */
static int run_ranks(struct cli *cli, const struct args *args, struct session *session)
{
    struct err err = { 0 };
    struct fleet *fleet = fleet_open(cli->arena, &err);
    const struct experiment *experiment =
        fleet == NULL ? NULL : read_for_ranks(cli, args, &err);
    int status;

    if (experiment == NULL && fleet != NULL && fleet_rank(fleet) > 0)
        status = err_exit_status(err.kind);
    else if (experiment == NULL)
        status = command_fail(cli, &err);
    else
        status = cmd_experiment_run_ranks(cli, args, experiment, fleet, session);
    if (fleet != NULL && fleet_rank(fleet) > 0)
        session->done = 0;              /* it prints nothing */
    if (fleet != NULL)
        fleet_close(fleet);
    return status;
}

/* Runs an experiment here, in ranks of MPI, or by Slurm, and prints its table.
 * Status 5 if a trial failed. */
static int run_run(struct cli *cli, const struct args *args)
{
    struct session session = { 0 };
    struct err_pos pos = { args->word[0], 0, 0 };
    struct err err = { 0 };
    const struct experiment *experiment;
    int status;

    if (advice_check_is(cli->arena, args->word[0])) {
        err_set(&err, ERR_USAGE, pos, "the file is a question to advise, "
                "which has nothing to run");
        err_hint(&err, "`clustersim check %.200s` asks it.", args->word[0]);
        return command_fail(cli, &err);
    }
    if (!cmd_trial_check(args, &err) || !cmd_slurm_check(args, &err))
        return command_fail(cli, &err);
    if (args->given[ARG_SLURM])
        return cmd_slurm_run(cli, args);
    /* A rank above 0 only runs trials: session.done stays 0, and it prints nothing. */
    if (fleet_is_one_of_many()) {
        status = run_ranks(cli, args, &session);
        experiment = session.experiment;
    } else {
        experiment = cmd_tuned_read(cli, args, &err);
        if (experiment == NULL)
            return command_fail(cli, &err);
        if (args->given[ARG_TRIAL])
            return cmd_trial_run(cli, args, experiment);
        status = cmd_experiment_run(cli, args, experiment, &session);
    }
    if (args->given[ARG_QUIET] || session.done == 0 ||
        (status != 0 && session.grid == NULL))
        return status;
    if (session.grid != NULL)
        cmd_results_print(cli, &session);
    else
        fprintf(cli->out, "shard %s: %u of %u trials are in %s/.trials\n"
                "`clustersim merge DIR... -o FOLDER` puts shards together\n",
                args->value[ARG_SHARD], session.done, experiment_run_count(experiment),
                experiment->dir);
    return status;
}

const struct command command_run = {
    "run", "EXPERIMENT.yaml [-o DIR] [-j N] [--set KEY=VALUE]... [--seeds N]\n"
    "       [--only POLICY,..] [--shard I/N] [--resume] [--audit full] [-q]\n"
    "       [--slurm OPTIONS [--dry-run]] [--trial N]",
    "run an experiment: points x policies x seeds",
    "Reads and checks everything first, runs every trial, writes the results\n"
    "folder (out/EXPERIMENT unless the file or -o says otherwise) and ends "
    "with\na table of policies.  The same experiment gives the same bytes in "
    "every\nCSV, for any number of threads.\n\n"
    "Ctrl-C keeps the finished trials in DIR/.trials; --resume goes on.  A\n"
    "failed trial does not stop the others: status 5, and failures.csv.\n"
    "--shard I/N runs a part, and `clustersim merge` puts parts together.\n"
    "`mpirun -n N clustersim run ...` runs on N ranks, if it was built with\n"
    "Open MPI.  --slurm '-p cpu -N 8' writes a batch file, OUTPUT.sbatch,\n"
    "and submits it with these options: ranks of MPI where the program has\n"
    "it, else an array of shards and a job that merges them.\n"
    "A trial that crashes the program fails alone: status 70, and repro.txt.\n"
    "--trial N runs one alone, where a debugger can look at it.\n"
    "Expectations are judged and printed, but do not change the status;\n"
    "`clustersim check` is for that.\n",
    EXPERIMENT_ARGS | ARG_BIT(ARG_SHARD) | ARG_BIT(ARG_SLURM) | ARG_BIT(ARG_DRY_RUN) |
    ARG_BIT(ARG_TRIAL),
    1, 1, run_run
};
