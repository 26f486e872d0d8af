/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.c - `clustersim compare` and `clustersim diff`.
 *
 * Both pair two results folders. compare tells how metrics differ; diff tells
 * the first decision that differs, which mostly explains it.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/pairs/compare_jobs.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/compare.h"
#include "experiments/results/diff.h"
#include "experiments/results/grid.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"

/* The two folders that are compared. */
struct two {
    struct grid *left, *right;
};

/* Reads both folders; false: err says what is wrong with which. */
static bool read_two(struct cli *cli, const struct args *args,
                     struct two *two, struct err *err)
{
    two->left = grid_from_folder(cli->arena, args->word[0], err);
    if (two->left == NULL)
        return false;
    two->right = grid_from_folder(cli->arena, args->word[1], err);
    return two->right != NULL &&
           fingerprints_read(cli->arena, args->word[0], &two->left->jobs, err) &&
           fingerprints_read(cli->arena, args->word[1], &two->right->jobs, err);
}

/* Returns at how many points of both the jobs differ. */
static unsigned count_other_jobs(const struct two *two)
{
    unsigned count = 0;

    for (uint32_t t = 0; t < two->left->point_count; t++)
        count += fingerprints_differ(two->left->jobs, two->right->jobs,
                                     two->left->point[t], t);
    return count;
}

/* Returns at how many points of both it is not known whether the jobs differ. */
static unsigned count_unknown_jobs(const struct two *two)
{
    const struct grid *left = two->left, *right = two->right;
    unsigned count = 0;

    for (uint32_t t = 0; t < left->point_count; t++)
        count += grid_point(right, left->point[t]) != UINT32_MAX &&
                 (!fingerprints_know(left->jobs, left->point[t], t) ||
                  !fingerprints_know(right->jobs, left->point[t], t));
    return count;
}

/* Says at how many points the jobs differ, or are not known, if at any. */
static void print_other_jobs(struct cli *cli, const struct two *two)
{
    unsigned others = count_other_jobs(two), unknown = count_unknown_jobs(two);

    if (unknown > 0)
        fprintf(cli->out, "whether the jobs are the same is not known at %u point%s: a folder has "
                "neither jobs.json nor a provenance.json that tells them\n", unknown,
                unknown == 1 ? "" : "s");

    if (others > 0)
        fprintf(cli->out, "the jobs differ at %u point%s: `seed`, the workload or how jobs "
                "are drawn has changed\n", others, others == 1 ? "" : "s");
}

/* Says also where the jobs differ.  False: no trial is in both, so there is nothing to
 * compare. */
static bool print_counts(struct cli *cli, const struct two *two)
{
    struct compare_only only = compare_count(two->left, two->right);

    fprintf(cli->out, "%u trials in both", only.both);
    if (only.left > 0 || only.right > 0)
        fprintf(cli->out, ", %u only in the left, %u only in the right",
                only.left, only.right);
    fputc('\n', cli->out);
    print_other_jobs(cli, two);
    return only.both > 0;
}

/* A day: jobs of one day depend on each other most. */
#define BLOCK_NS (INT64_C(86400) * 1000000000)

/* Reads --block, a time as files write it. */
static bool read_block(struct cli *cli, const struct args *args,
                       int64_t *block_ns, struct err *err)
{
    static const struct conf_field field = {
        .key = "--block", .type = CONF_TIME, .min = 1, .max = 9e8
    };
    const char *text = args->value[ARG_BLOCK];
    const struct conf_node *node;

    if (!args->given[ARG_BLOCK])
        return true;
    node = conf_parse(cli->arena, "--block", text, strlen(text), err);
    if (node != NULL && conf_read(node, &field, block_ns, err))
        return true;
    err->kind = ERR_USAGE;
    return false;
}

/* Says first if the workload has changed: jobs of one name are then other jobs.
 * False, with err: a folder cannot be read. */
static bool warn_of_other_jobs(struct cli *cli, const struct args *args, struct err *err)
{
    struct two two;

    if (args->word_count < 2)
        return true;
    if (!read_two(cli, args, &two, err))
        return false;
    print_other_jobs(cli, &two);
    return true;
}

/* Compares job by job (--jobs): two folders, or the policies of one.  Returns
 * the exit status. */
static int compare_by_job(struct cli *cli, const struct args *args)
{
    struct compare_jobs what = {
        args->word[0], args->word_count > 1 ? args->word[1] : NULL, BLOCK_NS
    };
    struct err err = { 0 };

    if (!read_block(cli, args, &what.block_ns, &err) ||
        !warn_of_other_jobs(cli, args, &err) ||
        !compare_jobs_print(cli->out, &what, &err))
        return command_fail(cli, &err);
    return 0;
}

/* Prints one object: how many trials both have, and the metrics that moved.
 * Returns the exit status. */
static int print_json(struct cli *cli, const struct two *two)
{
    struct compare_only only = compare_count(two->left, two->right);
    struct sheet *sheet = compare_sheet(cli->arena, two->left, two->right);
    struct out *out = out_stream(cli->arena, "the answer", cli->out);
    struct err err = { 0 };

    out_printf(out, "{\"trials\": %u, \"left_only\": %u, \"right_only\": %u, "
               "\"other_jobs\": %u, \"unknown_jobs\": %u, \"moved\": ", only.both, only.left,
               only.right, count_other_jobs(two), count_unknown_jobs(two));
    sheet_json(sheet, out);
    out_text(out, "}\n");
    sheet_free(sheet);
    return out_close(out, &err) ? 0 : command_fail(cli, &err);
}

/* The status is 0 whether anything moved or not: `check` is the command that
 * gives verdicts. */
static int run_compare(struct cli *cli, const struct args *args)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    struct two two;

    if (args->given[ARG_JOBS] && args->given[ARG_JSON]) {
        err_set(&err, ERR_USAGE, nowhere, "--json compares trials: leave out --jobs");
        return command_fail(cli, &err);
    }
    if (args->given[ARG_JOBS])
        return compare_by_job(cli, args);
    if (args->given[ARG_BLOCK] || args->word_count < 2) {
        err_set(&err, ERR_USAGE, nowhere, args->given[ARG_BLOCK]
                ? "--block needs --jobs" : "compare needs two operands, or "
                "one and --jobs");
        err_hint(&err, "`clustersim compare DIR --jobs` compares its policies "
                       "job by job.");
        return command_fail(cli, &err);
    }
    if (!read_two(cli, args, &two, &err))
        return command_fail(cli, &err);
    if (args->given[ARG_JSON])
        return print_json(cli, &two);
    fprintf(cli->out, "left   %s\nright  %s\n", args->word[0], args->word[1]);
    if (print_counts(cli, &two) &&
        compare_print(cli->out, two.left, two.right) == 0)
        fputs("no metric moved\n", cli->out);
    return 0;
}

/* Prints the first decision that differs, and then the metrics that do. */
static int run_diff(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    struct two two;

    if (!read_two(cli, args, &two, &err) ||
        !diff_print(cli->out, args->word[0], args->word[1], &err))
        return command_fail(cli, &err);
    fputc('\n', cli->out);
    if (print_counts(cli, &two) &&
        compare_print(cli->out, two.left, two.right) == 0)
        fputs("no metric moved\n", cli->out);
    return 0;
}

const struct command command_compare = {
    "compare", "DIR DIR [--json] | DIR [DIR] --jobs [--block TIME]",
    "two results folders, paired by point, policy and seed, or by job",
    "Prints each metric whose value moved in any seed: both means, the\n"
    "change in percent of the left mean, its 95% interval over the paired\n"
    "seeds, the p-value of the paired tests, and that p-value corrected for all\n"
    "points and policies of the metric (Holm).  Where the two had other jobs, as\n"
    "of another `seed`, it says so.\n\n"
    "--jobs pairs jobs of the same name: of two folders, or the policies of\n"
    "one with its baseline.  So even one trace, whose seeds would be copies,\n"
    "says how sure a difference is.  Jobs of one cluster depend on each\n"
    "other; so all that was submitted within --block (1d) is one sample.  The\n"
    "interval is a bootstrap over blocks, the p-value Wilcoxon's signed-rank\n"
    "test of their mean differences.  Fewer than ten blocks give neither.\n",
    ARG_BIT(ARG_JOBS) | ARG_BIT(ARG_BLOCK) | ARG_BIT(ARG_JSON), 1, 2, run_compare
};

const struct command command_diff = {
    "diff", "DIR DIR",
    "the first decision in which two runs part, then what moved",
    "Both folders need decisions.csv (`output: {tables: [..., decisions]}`).\n"
    "For each point, policy and seed prints where the two part: instant,\n"
    "queue, free GPUs and both choices; then the metrics that moved.\n",
    0, 2, 2, run_diff
};
