/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - the results of policies as a table of a paper.
 */
#ifndef EXPERIMENTS_PAPER_TABLE_H
#define EXPERIMENTS_PAPER_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct arena;
struct err;

/* What is written; texts are static. */
enum table_form {
    TABLE_TEXT, TABLE_LATEX, TABLE_MARKDOWN, TABLE_CSV, TABLE_FORMS
};
/* Returns "text", "latex" ..., as users write it. */
const char *table_form_name(enum table_form form);

/* What table_print() is asked for. */
struct table_wish {
    const char *dir;            /* results folder */
    enum table_form form;
    const char *metrics;        /* names with commas; NULL: those that a run ends with */
};

/* Prints the table: for each point and policy the mean of each metric and the longer side
 * of its 95% interval; daggers where it differs from the baseline, by p-values that Holm's
 * method corrected; the best in bold; and what all this means, as caption.  False: err
 * says why. */
bool table_print(struct arena *arena, const struct table_wish *wish, FILE *file,
                 struct err *err);

#endif
