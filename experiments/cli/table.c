/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - `clustersim table`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/paper/table.h"
#include "experiments/results/grid.h"
#include "sim/base/err.h"

static bool read_form(const struct args *args, enum table_form *form, struct err *err)
{
    const char *name = args->given[ARG_TABLE_FORM] ? args->value[ARG_TABLE_FORM] : "text";
    struct err_pos nowhere = { NULL, 0, 0 };

    for (*form = 0; *form < TABLE_FORMS; (*form)++)
        if (strcmp(name, table_form_name(*form)) == 0)
            return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "--format must be text, latex, markdown or csv, and is '%.40s'", name);
}

static int run_table(struct cli *cli, const struct args *args)
{
    struct table_wish wish = { .dir = args->word[0], .metrics = args->value[ARG_METRICS] };
    struct err err = { 0 };

    if (!read_form(args, &wish.form, &err) ||
        !grid_is_there(cli->arena, wish.dir, &err) ||
        !table_print(cli->arena, &wish, cli->out, &err))
        return command_fail(cli, &err);
    return 0;
}

const struct command command_table = {
    "table", "DIR [--format text|latex|markdown|csv] [--metrics NAME,..]",
    "the policies of a results folder as a table of a paper",
    "For each point and policy the mean of each metric over the seeds and the\n"
    "longer side of its 95% interval, with units in the heading, the best in\n"
    "bold, and daggers where it differs from the baseline: paired by seed, p\n"
    "corrected by Holm (over all of a metric).  A caption says what they mean.\n"
    "LaTeX needs the package booktabs; names are escaped.\n",
    ARG_BIT(ARG_TABLE_FORM) | ARG_BIT(ARG_METRICS), 1, 1, run_table
};
