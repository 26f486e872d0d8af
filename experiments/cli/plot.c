/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.c - `clustersim plot`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/report/plot.h"
#include "experiments/report/report.h"
#include "experiments/results/grid.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"

/* The lock keeps a run from replacing tables while charts read them. */
static int run_plot(struct cli *cli, const struct args *args)
{
    const char *format = args->given[ARG_FORMAT] ? args->value[ARG_FORMAT]
                                                 : "png";
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };

    if (strcmp(format, "png") != 0 && strcmp(format, "svg") != 0 &&
        strcmp(format, "pdf") != 0) {
        err_set(&err, ERR_USAGE, nowhere,
                "--format must be png, svg or pdf, and is '%.40s'", format);
        return command_fail(cli, &err);
    }
    if (!grid_is_there(cli->arena, args->word[0], &err))
        return command_fail(cli, &err);
    struct folder *folder = folder_make(cli->arena, args->word[0], &err);
    bool ok = folder != NULL && folder_lock(folder, &err) &&
              plot_draw(args->word[0], format, &err) &&
              report_write(args->word[0], NULL, &err);
    folder_close(folder);
    if (!ok)
        return command_fail(cli, &err);
    fprintf(cli->out, "charts: %s/plots\n", args->word[0]);
    return 0;
}

const struct command command_plot = {
    "plot", "DIR [--format png|svg|pdf]",
    "redraw the charts of a results folder",
    "Draws again from the CSV files in DIR; gnuplot must be installed.  Each\n"
    "chart can also be drawn alone: `gnuplot FILE.gp` in DIR/plots.\n",
    ARG_BIT(ARG_FORMAT), 1, 1, run_plot
};
