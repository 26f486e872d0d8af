/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gnuplot.h - gnuplot run as a program, without a shell.
 */
#ifndef EXPERIMENTS_REPORT_PLOT_GNUPLOT_H
#define EXPERIMENTS_REPORT_PLOT_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct folder;

/* Runs DIR/NAME.gp in the folder `dir`; what it draws is DIR/NAME.FORMAT, there
 * whole or as it was.  False: err says why, also where gnuplot is not installed. */
bool plot_gnuplot(struct arena *arena, const struct folder *dir,
                  const char *name, const char *format, struct err *err);
/* Draws several charts likewise, in their order: where one cannot be drawn, those before it
 * are drawn. */
bool plot_gnuplot_all(struct arena *arena, const struct folder *dir,
                      const char *const *name, size_t count, const char *format,
                      struct err *err);
/* Draws NAME-tex.tex, NAME-tex.pdf and NAME-caption.tex.  The first names the second, so
 * they are written in place.  False: err says why, and none of them is left. */
bool plot_gnuplot_tex(struct arena *arena, const struct folder *dir,
                      const char *name, struct err *err);

#endif
