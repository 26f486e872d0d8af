/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_philly.h - Philly's own job log, a JSON, as rows of fields.
 *
 * Used by csv.c alone, through the functions that serve every format.
 */
#ifndef SIM_TEXT_CSV_PHILLY_H
#define SIM_TEXT_CSV_PHILLY_H

#include "sim/text/csv.h"

struct philly;

/* Of a row, in order of philly_names. */
enum philly_column {
    PHILLY_JOB, PHILLY_SUBMIT, PHILLY_VC, PHILLY_USER, PHILLY_STATUS,
    PHILLY_RUN,                 /* s that attempts held GPUs, together */
    PHILLY_GPUS,                /* of its largest attempt */
    PHILLY_ATTEMPTS, PHILLY_UNTIMED, PHILLY_OPEN, PHILLY_COLUMNS
};

/* Names of the columns, ends with NULL. */
extern const char *const philly_names[];

/* Opens the log, plain, gzip or zstd; NULL and an err if that fails.  It lives in
 * the arena, but owns the open file: philly_close() returns it. */
struct philly *philly_open(struct arena *arena, const char *path,
                           struct err *err);
void philly_close(struct philly *philly);               /* accepts NULL */

/* Fills field[0 .. PHILLY_COLUMNS - 1] with the next job.  The texts are good
 * until the next call. */
enum csv_step philly_next(struct philly *philly, struct csv_field *field,
                          struct err *err);

#endif
