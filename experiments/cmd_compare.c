/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_compare.c - `clustersim compare` and `clustersim diff`.
 */
#include "experiments/command.h"
#include "experiments/compare.h"
#include "experiments/diff.h"
#include "experiments/grid.h"

struct two {
    const struct grid *left, *right;
};

static bool read_two(struct cli *cli, const struct args *args,
                     struct two *two, struct err *err)
{
    two->left = grid_from_folder(cli->arena, args->word[0], err);
    if (two->left == NULL)
        return false;
    two->right = grid_from_folder(cli->arena, args->word[1], err);
    return two->right != NULL;
}

static bool print_counts(struct cli *cli, const struct two *two)
{
    struct compare_only only = compare_count(two->left, two->right);

    fprintf(cli->out, "%u trials in both", only.both);
    if (only.left > 0 || only.right > 0)
        fprintf(cli->out, ", %u only in the left, %u only in the right",
                only.left, only.right);
    fputc('\n', cli->out);
    return only.both > 0;
}

static int compare(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    struct two two;

    if (!read_two(cli, args, &two, &err))
        return command_fail(cli, &err);
    fprintf(cli->out, "left   %s\nright  %s\n", args->word[0], args->word[1]);
    if (print_counts(cli, &two) &&
        compare_print(cli->out, two.left, two.right) == 0)
        fputs("no metric moved\n", cli->out);
    return 0;
}

static int diff(struct cli *cli, const struct args *args)
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
    "compare", "DIR DIR",
    "two results folders, paired by point, policy and seed",
    "Prints each metric whose value moved in any seed: both means, the\n"
    "change in percent of the left mean, its 95% interval over the paired\n"
    "seeds and the p-value of the paired t-test.\n",
    0, 2, 2, compare
};

const struct command command_diff = {
    "diff", "DIR DIR",
    "the first decision in which two runs part, then what moved",
    "Both folders need decisions.csv (`output: {tables: [..., decisions]}`).\n"
    "For each point, policy and seed prints where the two part: instant,\n"
    "queue, free GPUs and both choices; then the metrics that moved.\n",
    0, 2, 2, diff
};
