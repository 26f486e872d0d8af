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
    const char *path;
    struct scan *scan;          /* NULL: not of lines */
    struct notes notes;
    struct csv_field field[LOG_COLUMNS];
    char number[LOG_COLUMNS][RECORD_BYTES];
};

/* A text of a line, which ends with NUL. */
struct cell {
    char *text;
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
void record_put_ns(struct record *record, enum log_column column, int64_t ns,
                   uint32_t col);
void record_put_count(struct record *record, enum log_column column,
                      int64_t count, uint32_t col);
/* "WHAT must be MUST, found 'TEXT'" at that place of the line read last; false. */
bool record_fault(const struct record *record, struct cell cell,
                  const char *what, const char *must, struct err *err);

/* The next line that is not blank; CSV_END after the last one. */
enum csv_step record_line(struct record *record, char **line, struct err *err);
/* Cuts a line at a separator, in place, into at most `max` cells; returns how many
 * there are. */
size_t record_cut(char *line, char separator, struct cell *cell, size_t max);

/* "[D-]HH:MM:SS[.ffffff]", "MM:SS" or seconds.  False: neither, or more than
 * 10,000 days. */
bool record_span(const char *text, int64_t *ns);
/* A date, or seconds since 1970; *known is false for an empty text, Unknown,
 * None, N/A and 0.  False: neither. */
bool record_moment(const char *text, int64_t *ns, bool *known);
/* "64G", "3.50G", "4000M", "65536kb", "64Gi": bytes; `plain` is the unit of a number
 * without one.  *rest is what follows it.  False: no number, or below 0, or more
 * than any node has. */
bool record_bytes(const char *text, double plain, double *bytes,
                  const char **rest);

#endif
