/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork.c - `clustersim fork`: what if another policy took over at 14:00?
 *
 * Each branch is a trial from the beginning.  A trial is a function of its inputs alone,
 * so all branches have the same past, to the byte; see experiments/spec/branches.h.
 */
#include <math.h>

#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/columns/metric.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/session/session.h"
#include "experiments/spec/branches.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/stats/interval.h"
#include "sim/text/sheet.h"

/* The metrics that the table shows of each branch. */
static const struct {
    enum metric metric;
    const char *title;
} shown[] = {
    { METRIC_JCT_MEAN, "JCT mean" }, { METRIC_JCT_P95, "JCT p95" },
    { METRIC_WAIT_MEAN, "wait mean" }, { METRIC_GPU_UTILIZATION, "GPU utilization" },
    { METRIC_COST, "cost" },
};
#define SHOWN (sizeof shown / sizeof shown[0])

/* Puts a difference such as "-12.3% [-14.0, -9.8]" into a cell.  There is no
 * interval where nothing is drawn, no percentage of a mean of 0, and nothing
 * without a pair.  Returns false for a cell that needs a note ("-"). */
static bool put_delta(struct sheet *sheet, const struct stats_delta *delta)
{
    bool same = delta->count > 0 && fabs(delta->mean) <= 0;
    char interval[INTERVAL_BYTES];

    if (!isfinite(delta->percent))
        sheet_cell(sheet, "%s", same ? "same" : "-");
    else if (isnan(delta->percent_low))
        sheet_cell(sheet, "%+.1f%%", delta->percent);
    else
        sheet_cell(sheet, "%+.1f%% %s", delta->percent,
                   interval_text(interval, (struct interval_form){ 1, false, "" },
                                 delta->percent_low, delta->percent_high));
    return same || isfinite(delta->percent);
}

/* Prints how each branch differs, at each point, from the run that goes on
 * unchanged. */
static void print_branches(struct cli *cli, const struct grid *grid,
                           const struct experiment *experiment, const char *at)
{
    struct sheet *sheet = sheet_new(NULL);
    bool all = true;

    if (experiment->point_count > 1)
        sheet_column(sheet, "point", -1);
    sheet_column(sheet, "branch", -1);
    for (size_t m = 0; m < SHOWN; m++)
        sheet_column(sheet, shown[m].title, 1);
    sheet_gap(sheet, 2);
    for (uint32_t point = 0; point < experiment->point_count; point++)
        for (uint32_t p = 1; p < experiment->policy_count; p++) {
            if (experiment->point_count > 1)
                sheet_cell(sheet, "%s", experiment->point[point].label);
            sheet_cell(sheet, "%s", experiment->policy_name[p]);
            for (size_t m = 0; m < SHOWN; m++) {
                struct stats_delta delta =
                    compare_pair(grid, point, p, 0, shown[m].metric);

                all &= put_delta(sheet, &delta);
            }
        }
    fprintf(cli->out, "\nfrom %s on, against %s as it is, seed by seed\n", at,
            experiment->policy_name[0]);
    sheet_print(sheet, cli->out, cli->bold);
    if (!all)
        fprintf(cli->out, "\n-: not compared, as a mean is not over all jobs, or is 0 under %s\n",
                experiment->policy_name[0]);
    sheet_free(sheet);
}

/* Runs the experiment as branches that are equal up to --at, and prints how each differs
 * from the first one. */
static int run_fork(struct cli *cli, const struct args *args)
{
    const struct experiment_branches branches = {
        .at = args->value[ARG_AT], .set = args->set, .count = args->set_count,
        .policy = args->value[ARG_FORKED],
    };
    const struct experiment_options options = { .branches = &branches };
    const struct err_pos nowhere = { NULL, 0, 0 };
    const struct experiment *experiment;
    struct session session = { 0 };
    struct err err = { 0 };
    int status;

    if (!args->given[ARG_AT] || args->set_count == 0) {
        err_set(&err, ERR_USAGE, nowhere, "fork needs --at, when branches part, and --set, "
                "what one of them sets");
        err_hint(&err, "`clustersim fork day.yaml --at 14h --set policy=easy`, for example.");
        return command_fail(cli, &err);
    }
    experiment = cmd_experiment_read_as(cli, args, &options, &err);
    if (experiment == NULL)
        return command_fail(cli, &err);
    status = cmd_experiment_run(cli, args, experiment, &session);
    if (args->given[ARG_QUIET] || session.done == 0 || session.grid == NULL)
        return status;
    cmd_results_print(cli, &session);
    print_branches(cli, session.grid, experiment, args->value[ARG_AT]);
    return status;
}

const struct command command_fork = {
    "fork", "EXPERIMENT.yaml --at TIME --set KEY=VALUE [--set KEY=VALUE]...\n"
    "       [--only POLICY] [-o DIR] [-j N] [--seeds N] [--resume] [--audit full] [-q]",
    "change a policy in the middle of a run",
    "Runs one policy of the experiment, and beside it a branch for each --set:\n"
    "the same run up to TIME, counted from its beginning, and from then on with\n"
    "that key.  `policy=NAME` lets another policy take over; {KEY: VALUE, ..} sets\n"
    "several keys in one branch.  All branches meet the same jobs, failures and\n"
    "past; the results folder (out/EXPERIMENT unless -o says otherwise) is that of\n"
    "`clustersim run`, each branch a policy with the name of what was set, and the\n"
    "table behind the results says how each differs from what goes on unchanged.\n\n"
    "Keys of the policy can change, and blocking, backfill, grow, preemption,\n"
    "rounds and weights.  Cluster, jobs, placement and estimates stay as they are.\n"
    "What the experiment expects is not judged.  The key `then` of an entry says\n"
    "the same in a file; such a file can be run by shards and by Slurm\n"
    "(`run --shard`, `run --slurm`), which fork cannot.\n",
    (EXPERIMENT_ARGS & ~(ARG_BIT(ARG_SET) | ARG_BIT(ARG_ONLY))) | ARG_BIT(ARG_AT) |
        ARG_BIT(ARG_BRANCH) | ARG_BIT(ARG_FORKED),
    1, 1, run_fork
};
