/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.h - rows of a table as a reader of the CSV has them.
 */
#ifndef EXPERIMENTS_RECOUNT_CELLS_H
#define EXPERIMENTS_RECOUNT_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#define CELLS_MAX 48u
#define CELL_BYTES 128u         /* of a text; longer ones are cut */
#define DIGITS 1e3              /* x JUDGE_NEAR: what nine digits leave of a number */
#define KEYS 3u                 /* cells that begin each row: point, policy, seed */

struct judge;

/* One row, cell by cell, without quotes. */
struct cells {
    char text[CELLS_MAX][CELL_BYTES];
    unsigned count;
};

/* Reads the row at *at, which ends with a line feed, and moves *at behind it.  False:
 * there is none, or it has more cells than fit. */
bool cells_read(const char **at, const char *end, struct cells *cells);
/* Returns a number; NAN: the cell is empty, or no number. */
double cells_number(const struct cells *cells, unsigned column);
/* Compares the number in a cell with what it is when counted again; `name` is said if they
 * differ.  NAN: the cell should be empty. */
void cells_judge(const struct cells *cells, unsigned column, const char *name,
                 double again, struct judge *judge);

#endif
