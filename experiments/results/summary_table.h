/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_table.h - the table a run ends with: policies by what they cost and how
 * long jobs took, point by point.
 *
 * An experiment always gives one text, whatever the number of threads.
 */
#ifndef EXPERIMENTS_RESULTS_SUMMARY_TABLE_H
#define EXPERIMENTS_RESULTS_SUMMARY_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct grid;

/* Prints the table, with the best of each column marked by a star; bold too where
 * `bold`, for terminals. */
void summary_table_print(FILE *file, const struct grid *grid, const char *name,
                         bool bold);

#endif
