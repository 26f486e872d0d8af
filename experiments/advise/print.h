/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.h - advice as tables on a terminal, as CSV, as a chart.
 *
 * Printing fails silently, as stdio does; the caller checks its file.
 */
#ifndef EXPERIMENTS_ADVISE_PRINT_H
#define EXPERIMENTS_ADVISE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct advice;
struct advise_job;
struct advise_world;
struct arena;
struct err;
struct sheet;

/* Prints how many layouts were tried, the best `top` rows by time or by cost,
 * their prices in all tiers, their needs, and the Pareto front.  Rows must have
 * been ranked. */
void advise_print(FILE *file, const struct advice *advice, bool by_time,
                  size_t top);
/* Prints the tier and the dates of the catalogue's prices, and what has no
 * price in that tier; for given nodes, the tier of each. */
void advise_print_tier(FILE *file, const struct advise_world *world);
/* Prints why a job as written does not fit, and a change that makes it fit. */
void advise_print_misses(FILE *file, const struct advice *advice);
/* Prints the bytes per GPU of the job as written, on every place. */
void advise_print_memory(FILE *file, const struct advise_world *world,
                         const struct advise_job *job);
/* Returns an empty table for advise_csv; the caller frees it. */
struct sheet *advise_csv_new(void);
/* Adds the timed rows of a job to the table, best first by time or by cost. */
void advise_csv(struct sheet *sheet, const struct advice *advice,
                bool by_time);
/* Draws FILE.png of path FILE.png, with FILE.gp, FILE.dat and style.gp in the same
 * folder.  False: err says why, also where no row has a price or gnuplot is not
 * there. */
bool advise_plot(struct arena *arena, const char *path,
                 const struct advice *advice, struct err *err);

#endif
