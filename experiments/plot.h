/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.h - the charts of a results folder, drawn from its files alone.
 *
 * What to draw stands in DIR/plots/list.txt, one name a line (cost,
 * utilization, idle, jct_cdf, gantt, timeline, sweep); without that file, all for
 * which there is data.
 */
#ifndef EXPERIMENTS_PLOT_H
#define EXPERIMENTS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct folder;

/* format: "png", "svg" or "pdf". */
bool plot_draw(const char *dir, const char *format, struct err *err);
bool plot_list_write(struct arena *arena, const struct folder *dir,
                     const char *const *name, size_t count, struct err *err);

#endif
