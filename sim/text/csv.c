/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - rows of text files, each field with its place.
 *
 * A row costs no memory.  Invariant: after CSV_ROW exactly `columns` fields
 * are set.
 *
 * A line is cut where it lies in the scanner's buffer (csv_line.c,
 * csv_blanks.c), so fields point into it until the next row is read.  Rows of a
 * source are the exception: it puts them together itself.
 */
#include "sim/text/csv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv_blanks.h"
#include "sim/text/csv_state.h"
#include "sim/text/scan.h"
#include "sim/text/table.h"

struct csv *csv_open(struct arena *arena, const char *path,
                     enum csv_format format, struct err *err)
{
    struct csv *csv = arena_alloc(arena, 1, sizeof *csv);

    assert(path != NULL && err != NULL && format != CSV_SOURCE);
    csv->path = path;
    csv->format = format;
    csv->comma = ',';
    csv->scan = scan_open(path, err);
    if (csv->scan == NULL)
        return NULL;
    if (csv_begin(csv, arena, err))
        return csv;
    csv_close(csv);
    return NULL;
}

struct csv *csv_of(struct arena *arena, const char *path,
                   const struct csv_source *source)
{
    struct csv *csv = arena_alloc(arena, 1, sizeof *csv);

    assert(path != NULL && source->next != NULL && source->close != NULL);
    csv->path = path;
    csv->format = CSV_SOURCE;
    csv->source = *source;
    csv_fix_columns(csv, arena, source->names);
    return csv;
}

const struct notes *csv_notes(const struct csv *csv)
{
    assert(csv->format == CSV_SOURCE || csv->source.notes == NULL);
    return csv->source.notes;
}

void csv_close(struct csv *csv)
{
    if (csv == NULL)
        return;
    scan_close(csv->scan);
    csv->scan = NULL;
    if (csv->source.next != NULL)
        csv->source.close(csv->source.self);
    csv->source.next = NULL;
}

/* The first character of SWF's column `column`, which may not be cut out. */
static char first_character(const struct csv *csv, size_t column)
{
    assert(csv->cut > 0 && csv->cut <= csv->columns);
    assert(column < CSV_ALEA_COLUMNS);
    const struct csv_field *last = &csv->field[csv->cut - 1];
    const char *at = last->text + last->bytes + 1;

    if (column < csv->cut)
        return csv->field[column].text[0];
    for (size_t i = csv->cut;; i++) {
        while (blanks_is(*at))
            at++;
        if (i == column)
            return *at;
        while (*at != '\0' && !blanks_is(*at))
            at++;
    }
}

/* Is a row of 21 fields one of Alea's dialect?  It could be read as SWF, but its
 * times are absolute and its last field has a format of its own, so it is
 * refused with a hint.  Alea's field 19 is a set of nodes in braces. */
static bool is_alea(const struct csv *csv, size_t count)
{
    assert(csv->format == CSV_SWF || csv->format == CSV_ALEA);
    return count == CSV_ALEA_COLUMNS &&
           first_character(csv, CSV_SWF_COLUMNS) == '{';
}

/* Reports a row that has not as many fields as the header, with the likely
 * reason as a hint. */
static enum csv_step report_count(const struct csv *csv, size_t count,
                                  struct err *err)
{
    static const char of_swf[] =
        "row has %zu fields, the Standard Workload Format has %zu";
    static const char *const text[] = {
        [CSV_COMMA] = "row has %zu fields, the header line has %zu",
        [CSV_SWF] = of_swf,
        [CSV_TAB] = "row has %zu fields, the first row has %zu",
        [CSV_ALEA] = "row has %zu fields, Alea's dialect of SWF has %zu",
        [CSV_PAI] = "row has %zu fields, PAI's task table has %zu",
        [CSV_TABLE] = "row has %zu fields, the header line has %zu",
    };

    assert(count != csv->columns);
    err_set(err, ERR_SYNTAX, csv_place(csv, 1), text[csv->format], count,
            csv->columns);
    if (csv->format == CSV_SWF && count == CSV_ALEA_COLUMNS)
        err_hint(err, "Rows of %d fields may be of Alea: format alea.",
                 CSV_ALEA_COLUMNS);
    if (csv->format == CSV_COMMA && count > csv->columns &&
        csv->comma == ',')
        err_hint(err, "A comma within a number, 3,600 or 0,5, separates "
                      "fields: write 3600, or 0.5.");
    return CSV_ERROR;
}

/* Reads one row and splits it by the format.  Some logs of SWF have rows of
 * more fields than the standard; they are counted and cut.  A PAI file may
 * begin with a row of names, which is skipped. */
/* Takes off the apostrophes of table.h. */
static void unguard(struct csv_field *field, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (field[i].text[0] == '\'' && table_guards(field[i].text + 1)) {
            field[i].text++;
            field[i].bytes--;
        }
}

enum csv_step csv_next(struct csv *csv, struct err *err)
{
    char *line;
    size_t bytes, count, columns = csv->columns;
    bool plain = true;          /* nothing is guarded */
    enum csv_step step;

    assert((csv->scan != NULL) != (csv->source.next != NULL));  /* it is open */
    if (csv->source.next != NULL)
        return csv->source.next(csv->source.self, csv->field, err);
    step = csv_next_line(csv, &line, &bytes, err);
    if (step != CSV_ROW)
        return step;
    if (csv->format == CSV_SWF)
        count = blanks_split(line, csv->field, csv->cut);
    else if (csv->format == CSV_ALEA)
        count = blanks_split_rest(line, csv->field, columns);
    else if (csv->format == CSV_TABLE)
        count = csv_split_table(csv, line, bytes, csv->field, csv->cut, &plain, err);
    else if (csv->format == CSV_TAB)
        count = csv_split_tabs(line, csv->field, columns);
    else
        count = csv_split_commas(csv, line, csv->field, columns, err);
    /* A quoted field has no end, which was said. */
    if (count == SIZE_MAX)
        return CSV_ERROR;
    if (csv->format == CSV_SWF && count > columns && !is_alea(csv, count))
        csv->longer_rows++;
    else if (count != columns)
        return report_count(csv, count, err);
    /* One row of names at most: a later one that looks so is data. */
    if (csv->format == CSV_PAI && !csv->begun &&
        strcmp(csv->field[0].text, csv->name[0]) == 0) {
        csv->begun = true;
        return csv_next(csv, err);
    }
    csv->begun = true;
    if (!plain)
        unguard(csv->field, csv->cut);
    return CSV_ROW;
}

/* Has csv_cut() an effect? */
static bool may_cut(const struct csv *csv)
{
    assert(csv->cut <= csv->columns);
    return csv->format == CSV_SWF || csv->format == CSV_TABLE;
}

void csv_cut(struct csv *csv, size_t columns)
{
    assert(columns > 0 && columns <= csv->columns);
    if (may_cut(csv))
        csv->cut = columns;
}

const struct csv_field *csv_field(const struct csv *csv, size_t column)
{
    assert(column < csv->cut ||
           (!may_cut(csv) && column < csv->columns + csv->constants));
    return &csv->field[column];
}

const char *csv_text(const struct csv *csv, size_t column)
{
    return csv_field(csv, column)->text;
}

bool csv_number(const struct csv *csv, size_t column, double *value,
                struct err *err)
{
    const struct csv_field *field = csv_field(csv, column);

    assert(value != NULL && err != NULL);
    *value = NAN;
    return field->bytes == 0 || scan_f64(field->text, field->bytes, value) ||
           err_set(err, ERR_SYNTAX, csv_pos(csv, column),
                   "%.40s must be a number, and is '%.60s'",
                   csv->name[column], field->text);
}

struct err_pos csv_pos(const struct csv *csv, size_t column)
{
    const struct csv_field *field = &csv->field[column];

    assert(column < csv->columns + csv->constants);
    if (field->line == 0)
        return csv_place(csv, csv->scan == NULL || field->text == NULL
                                  ? field->col
                                  : csv_col(field->text - (field->col - 1), field->text));
    return (struct err_pos){csv->path, field->line, field->col};
}

uint64_t csv_blank_lines(const struct csv *csv)
{
    return csv->blank_lines;
}

uint64_t csv_longer_rows(const struct csv *csv)
{
    assert(csv->longer_rows == 0 || csv->format == CSV_SWF);
    return csv->longer_rows;
}
