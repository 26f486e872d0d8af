/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.h - advice as tables on a terminal, as CSV, as a chart.
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

void advise_print(FILE *file, const struct advice *advice, bool by_time,
                  size_t top);
/* The tier and dates of the catalogue's prices, and what has none there; of
 * nodes that were given, the tier of each. */
void advise_print_tier(FILE *file, const struct advise_world *world);
/* Why a job as written does not fit, and what would make it fit. */
void advise_print_misses(FILE *file, const struct advice *advice);
/* Bytes per GPU of the job as written, on every place. */
void advise_print_memory(FILE *file, const struct advise_world *world,
                         const struct advise_job *job);
/* An empty table for advise_csv, to be freed; and the rows of a job in it. */
struct sheet *advise_csv_new(void);
void advise_csv(struct sheet *sheet, const struct advice *advice,
                bool by_time);
/* FILE.png, with FILE.gp, FILE.dat and style.gp beside it. */
bool advise_plot(struct arena *arena, const char *path,
                 const struct advice *advice, struct err *err);

#endif
