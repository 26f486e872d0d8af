/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_results.h - names that stand in results.
 */
#ifndef EXPERIMENTS_WORDS_EXPLAIN_RESULTS_H
#define EXPERIMENTS_WORDS_EXPLAIN_RESULTS_H

#include <stddef.h>
#include <stdio.h>

/* Prints what the word means as a metric, a table, a column or a chart; `found`
 * is how much was printed before.  Returns how much was printed in all. */
unsigned explain_results(FILE *out, const char *word, unsigned found);
/* Adds all such words behind the first n, for the nearest spelling; returns how
 * many there are then.  names may be NULL. */
size_t explain_results_names(const char **names, size_t n);

#endif
