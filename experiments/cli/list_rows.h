/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_rows.h - rows of `clustersim list`, found by their first word.
 */
#ifndef EXPERIMENTS_CLI_LIST_ROWS_H
#define EXPERIMENTS_CLI_LIST_ROWS_H

#include <stdio.h>

struct catalogue;

/* Prints the rows of all lists of types, models, prices, formats and recipes
 * that begin with the word, each below its heading; `found` as in
 * explain_words(). */
unsigned list_rows(FILE *out, const struct catalogue *catalogue,
                   const char *word, unsigned found);

#endif
