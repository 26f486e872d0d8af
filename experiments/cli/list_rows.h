/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_rows.h - rows of `clustersim list`, found by their first word, and those that only
 * programs see.
 */
#ifndef EXPERIMENTS_CLI_LIST_ROWS_H
#define EXPERIMENTS_CLI_LIST_ROWS_H

#include <stdio.h>

struct catalogue;
struct sheet;

/* Prints the rows of all lists of types, models, prices, formats and recipes
 * that begin with the word, each below its heading; `found` as in
 * explain_words(). */
unsigned list_rows(FILE *out, const struct catalogue *catalogue,
                   const char *word, unsigned found);

/* Each returns a list as a table, which the caller frees. */
struct sheet *list_policy_rows(const struct catalogue *catalogue);
struct sheet *list_instance_rows(const struct catalogue *catalogue);
struct sheet *list_format_rows(const struct catalogue *catalogue);
struct sheet *list_recipe_rows(const struct catalogue *catalogue);
struct sheet *list_placement_rows(const struct catalogue *catalogue);
struct sheet *list_semantics_rows(const struct catalogue *catalogue);

#endif
