/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.h - the charts that there are, and the files in their folder.
 */
#ifndef EXPERIMENTS_COLUMNS_FIGURES_H
#define EXPERIMENTS_COLUMNS_FIGURES_H

struct arena;

#define CHART_FOLDER "plots"
#define CHART_LIST "list.txt"           /* charts that are wanted */
#define CHART_SKIPS "skipped.txt"       /* charts without data, and why */

/* Returns chart `i` of figures.def, in its order, and what it answers, as static
 * texts; NULL past the last. */
const char *figure_name(unsigned i);
const char *figure_question(unsigned i);
/* The endings that a chart's files may have, without the dot; NULL past the
 * last. */
const char *figure_ending(unsigned i);
/* Returns the name of file `i` of all that a run may make in the folder of charts:
 * the lists, the style, and each chart with each ending.  Static, or in the arena;
 * NULL past the last. */
const char *figure_file(struct arena *arena, unsigned i);

#endif
