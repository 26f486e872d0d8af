/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.h - the charts that there are, the styles of print, and the files in their
 * folder.
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
/* What follows the name in a chart's files (".gp"); NULL past the last. */
const char *figure_ending(unsigned i);
/* Returns the name of file `i` of all that a run may make in the folder of charts:
 * the lists, the style, and each chart with each ending.  Static, or in the arena;
 * NULL past the last. */
const char *figure_file(struct arena *arena, unsigned i);

/* A style of print, of papers.def: figures for the column of a paper, or for a slide.
 * Its charts stand in a folder of its name in CHART_FOLDER. */
struct paper {
    const char *name;           /* as users write it: "ieee" */
    double width_pt, height_pt;     /* TeX points; the height is the most allowed */
    double letter_pt, line_pt;  /* size of letters, and width of lines */
    const char *letters;            /* font of the PDF files */
};
/* A letter's size in the pixels in which charts are laid out. */
#define PAPER_LETTER_PX 16

/* Returns style `i` in the order of papers.def, static; NULL past the last. */
const struct paper *paper_at(unsigned i);
/* Returns the style of that name, or NULL. */
const struct paper *paper_find(const char *name);

#endif
