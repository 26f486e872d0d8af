/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_rows.h - the rows of checks.csv: what was expected, and what was found.
 * Internal to the files report*.c.
 */
#ifndef EXPERIMENTS_REPORT_CHECK_ROWS_H
#define EXPERIMENTS_REPORT_CHECK_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct plot_source;

/* Texts are "" and numbers NAN where the field is empty.  Limits and values are
 * in percent, or in the unit of the metric. */
struct check_row {
    const char *verdict, *claim, *point, *metric, *policy, *versus,
        *versus_point, *reason;
    bool percent;               /* of the mean of what it is compared with */
    double least, most;         /* limits */
    double value, low, high;    /* with its interval */
};

struct check_rows {
    const struct check_row *row;    /* in the arena of the source */
    size_t count;
};

/* Reads the table of a results folder; without one there are no rows.  False:
 * err says why. */
bool check_rows_read(const struct plot_source *source, struct check_rows *rows,
                     struct err *err);
/* Was the row's value not compared, as either side lost some jobs? */
bool check_row_is_lost(const struct check_row *row);
/* Has it an interval?  One end may be NAN: there is no such end. */
bool check_row_has_interval(const struct check_row *row);
/* "12.3%" or "0.224" in three digits or five; "" for NAN. */
const char *check_row_number(const struct plot_source *source,
                             const struct check_row *row, double value);
/* "at least 1, at most 40%" */
const char *check_row_limits(const struct plot_source *source,
                             const struct check_row *row);

#endif
