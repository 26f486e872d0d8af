/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_csv.h - results read back: CSV with a header line (RFC 4180).
 *
 * A row at a time; fields are found by the name of their column.
 */
#ifndef SIM_TEXT_READ_CSV_H
#define SIM_TEXT_READ_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"

struct arena;
struct csv_in;

/* NULL and err when the file cannot be read or has no header. */
struct csv_in *csv_in_open(struct arena *arena, const char *path,
                           struct err *err);
void csv_in_close(struct csv_in *in);           /* accepts NULL */

/* The column's index, or an err that names it. */
bool csv_in_column(const struct csv_in *in, const char *name, size_t *column,
                   struct err *err);
enum csv_step { CSV_ROW, CSV_END, CSV_ERROR };
enum csv_step csv_in_next(struct csv_in *in, struct err *err);
/* Good until the next row. */
const char *csv_in_field(const struct csv_in *in, size_t column);
/* NAN for an empty field. */
bool csv_in_number(const struct csv_in *in, size_t column, double *value,
                   struct err *err);
struct err_pos csv_in_pos(const struct csv_in *in);

#endif
