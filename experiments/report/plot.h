/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.h - the charts of a results folder, drawn from its files alone.
 *
 * DIR/plots/list.txt names what to draw, one name of figures.def a line; without
 * that file, plot_draw draws every chart for which there is data.
 */
#ifndef EXPERIMENTS_REPORT_PLOT_H
#define EXPERIMENTS_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct folder;
struct paper;

/* Draws the wanted charts of the results folder `dir` into dir/plots; format: "png",
 * "svg" or "pdf".  Charts without data are left out, and skipped.txt says why.  False:
 * err says why; scripts and data may be there already. */
bool plot_draw(const char *dir, const char *format, struct err *err);
/* Draws the same charts for print (figures.h) into dir/plots/PAPER: NAME.pdf, and
 * NAME-tex.tex with NAME-tex.pdf, whose letters are the document's, and
 * NAME-caption.tex.  False: err says why. */
bool plot_draw_paper(const char *dir, const struct paper *paper, struct err *err);
/* Writes the list of wanted charts into the folder `dir` of charts.  False: err
 * says why. */
bool plot_list_write(struct arena *arena, const struct folder *dir,
                     const char *const *name, size_t count, struct err *err);

#endif
