/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_file.h - the gnuplot templates of plots/, held in the program.
 *
 * The build turns each file of plots/ into one item of this table (see
 * models/embed.sh), so that `clustersim plot` works from any folder.
 */
#ifndef PLOTS_PLOT_FILE_H
#define PLOTS_PLOT_FILE_H

#include <stddef.h>

struct plot_file {
    const char *name;   /* the file's last path element: "cost.gp" */
    const char *text;   /* ends with NUL */
    size_t bytes;       /* of text, without the NUL */
};

extern const struct plot_file plot_file[];
extern const unsigned plot_file_count;

#endif
