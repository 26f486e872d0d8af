/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.c - fields of a row, cells of a line, and quantities.
 *
 * Texts of a row point into the line or into the record's own numbers; both are
 * overwritten by the next row.
 */
#include "workloads/logs/record.h"

#include <assert.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"

#define SPAN_MAX_DAYS INT64_C(10000)
#define SPAN_MAX_NS (SPAN_MAX_DAYS * 86400 * CLOCK_NS_PER_S)

bool record_open(struct record *record, struct arena *arena, const char *path,
                 struct err *err)
{
    record->path = path;
    record->notes.arena = arena;
    record->scan = scan_open(path, err);
    return record->scan != NULL;
}

void record_begin(struct record *record, uint32_t line, uint32_t col)
{
    for (int i = 0; i < LOG_COLUMNS; i++)
        record->field[i] = (struct csv_field){"", 0, col, line};
}

void record_put(struct record *record, enum log_column column,
                const char *text, uint32_t col)
{
    struct csv_field *field = &record->field[column];

    assert(column < LOG_COLUMNS && text != NULL);
    field->text = text;
    field->bytes = strlen(text);
    field->col = col;
}

void record_put_ns(struct record *record, enum log_column column, int64_t ns,
                   uint32_t col)
{
    clock_format_s(ns, record->number[column], RECORD_BYTES);
    record_put(record, column, record->number[column], col);
}

void record_put_count(struct record *record, enum log_column column,
                      int64_t count, uint32_t col)
{
    assert(count >= 0);
    *decimal_put(record->number[column], (uint64_t)count) = '\0';
    record_put(record, column, record->number[column], col);
}

bool record_fault(const struct record *record, struct cell cell,
                  const char *what, const char *must, struct err *err)
{
    struct err_pos pos = scan_pos(record->scan, cell.col);

    pos.file = record->path;
    return err_set(err, ERR_SYNTAX, pos, "%.40s must be %s, found '%.60s'",
                   what, must, cell.text);
}

/* An error of reading names the file by record->path, as the caller wrote it. */
enum csv_step record_line(struct record *record, char **line, struct err *err)
{
    size_t bytes;

    for (;;) {
        switch (scan_line(record->scan, line, &bytes, err)) {
        case SCAN_ERROR:
            err->pos.file = record->path;
            return CSV_ERROR;
        case SCAN_END:
            return CSV_END;
        case SCAN_LINE:
            break;
        }
        if ((*line)[strspn(*line, " \t")] != '\0')
            return CSV_ROW;
    }
}

/* Cells that are cut end with a NUL in the place of the separator.  A line
 * without a separator is one cell. */
size_t record_cut(char *line, char separator, struct cell *cell, size_t max)
{
    char *at = line;
    size_t count = 0;

    for (bool more = true; more; count++) {
        char *end = strchr(at, separator);

        more = end != NULL;
        if (more)
            *end = '\0';
        if (count < max)
            cell[count] = (struct cell){at, (uint32_t)(at - line) + 1};
        if (more)
            at = end + 1;
    }
    return count;
}

/* Reads "HH:MM:SS" and shorter.  Only the last part may have a fraction; behind
 * a colon it must be below 60. Each part before it is worth 60 of the next.  At
 * most 10,000 days. */
static bool read_clock(const char *text, int64_t *ns)
{
    int64_t value, minutes = 0;
    size_t parts = 1;

    for (;; parts++) {
        size_t bytes = strcspn(text, ":");

        if (text[bytes] == '\0')
            break;
        if (parts == 3 || !scan_i64(text, bytes, &value) || value < 0 ||
            value > 1000000)
            return false;
        minutes = minutes * 60 + value;
        text += bytes + 1;
    }
    if (!scan_time(text, strlen(text), ns) || *ns < 0 ||
        (parts > 1 && *ns >= 60 * CLOCK_NS_PER_S) || *ns > SPAN_MAX_NS)
        return false;
    assert(minutes <= 61 * INT64_C(1000000));   /* so that the sum stays below 2^63 */
    *ns += minutes * 60 * CLOCK_NS_PER_S;
    return *ns <= SPAN_MAX_NS;
}

/* A dash stands for days only if a clock follows it: "1-02:00:00". */
bool record_span(const char *text, int64_t *ns)
{
    const char *dash = strchr(text, '-');
    int64_t days = 0;

    if (dash != NULL && (strchr(dash, ':') == NULL ||
                         !scan_i64(text, (size_t)(dash - text), &days) ||
                         days < 0 || days > SPAN_MAX_DAYS))
        return false;
    if (!read_clock(dash == NULL ? text : dash + 1, ns))
        return false;
    *ns += days * 86400 * CLOCK_NS_PER_S;
    return *ns <= SPAN_MAX_NS;
}

bool record_moment(const char *text, int64_t *ns, bool *known)
{
    static const char *const none[] = {"", "Unknown", "None", "N/A", "NONE",
                                       "0"};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (strcmp(text, none[i]) == 0) {
            *known = false;
            return true;
        }
    *known = true;
    return date_read(text, strlen(text), ns) ||
           (scan_time(text, strlen(text), ns) && *ns > 0);
}

/* A letter counts as its power of 1024, small or capital, with or without `i`
 * and `b` behind it. */
bool record_bytes(const char *text, double plain, double *bytes,
                  const char **rest)
{
    static const char letters[] = "KMGTP";
    size_t digits = strspn(text, "0123456789.");
    const char *letter;
    double unit = plain;

    if (digits == 0 || !scan_f64(text, digits, bytes))
        return false;
    *rest = text + digits;
    letter = **rest == '\0' ? NULL
                            : strchr(letters, **rest == 'k' ? 'K'
                                     : **rest >= 'a' ? **rest - 32 : **rest);
    if (letter != NULL) {
        unit = 1.0;
        for (long i = letter - letters; i >= 0; i--)
            unit *= 1024.0;
        (*rest)++;
        *rest += **rest == 'i';
    }
    *rest += **rest == 'b' || **rest == 'B';
    *bytes *= unit;
    return *bytes <= 1e15;
}
