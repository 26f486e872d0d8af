/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - what the readers of logs share: a row that is put together field
 * by field, lines cut at a separator, and quantities as batch systems write
 * them.
 */
#ifndef WORKLOADS_LOGS_RECORD_H
#define WORKLOADS_LOGS_RECORD_H

#include <stdint.h>

#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "workloads/logs/log.h"

#define RECORD_BYTES 32u        /* of a number that is put */
#define RECORD_CELLS_MAX 256u

struct scan;

/* The row under way, and where its record stands. */
struct record {
    const char *path;           /* of the log, for places of errors */
    struct scan *scan;          /* NULL: not of lines */
    struct notes notes;         /* what was odd, and is no error */
    /* The texts of numbers that were put lie in `number`, others in the line. */
    struct csv_field field[LOG_COLUMNS];
    char number[LOG_COLUMNS][RECORD_BYTES];
};

/* A text of a line, which ends with NUL. */
struct cell {
    char *text;                 /* NULL: there is none */
    uint32_t col;               /* in its line, from 1 */
};

/* Opens a log of lines; its notes live in the arena.  False: it cannot be read. */
bool record_open(struct record *record, struct arena *arena, const char *path,
                 struct err *err);
/* Begins a row at that line: all fields are empty. */
void record_begin(struct record *record, uint32_t line, uint32_t col);
/* Sets a field.  The text is not copied, and lives as long as the line. */
void record_put(struct record *record, enum log_column column,
                const char *text, uint32_t col);
/* Sets a field to seconds, exact to the nanosecond, or to a whole number of 0
 * or more.  The text is written into the record. */
void record_put_ns(struct record *record, enum log_column column, int64_t ns,
                   uint32_t col);
void record_put_count(struct record *record, enum log_column column,
                      int64_t count, uint32_t col);
/* "WHAT must be MUST, found 'TEXT'" at that place of the line read last; false. */
bool record_fault(const struct record *record, struct cell cell,
                  const char *what, const char *must, struct err *err);

/* The next line that is not blank; CSV_END after the last one. */
enum csv_step record_line(struct record *record, char **line, struct err *err);
/* Cuts a line at a separator, in place, into at most `max` cells; returns how
 * many there are.  If there are more than `max`, the rest is counted and not
 * kept. */
size_t record_cut(char *line, char separator, struct cell *cell, size_t max);

/* "[D-]HH:MM:SS[.ffffff]", "MM:SS" or seconds.  False: neither, or more than
 * 10,000 days. */
bool record_span(const char *text, int64_t *ns);
/* Reads an instant: a date, or seconds since 1970 above 0. *known is false for
 * an empty text, Unknown, None, N/A and 0, by which batch systems say that
 * there is none.  False: it is neither. */
bool record_moment(const char *text, int64_t *ns, bool *known);
/* Reads an amount of memory, "64G", "3.50G", "4000M", "65536kb" or "64Gi", in
 * bytes.  Letters are powers of 1024. `plain` is the unit of a number without a
 * letter.  *rest is what follows.  False: there is no number, or it is more
 * than any node has (1e15 bytes). */
bool record_bytes(const char *text, double plain, double *bytes,
                  const char **rest);

#endif
