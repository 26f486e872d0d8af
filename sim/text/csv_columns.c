/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_columns.c - the columns of a file: of its first line, or of its layout.
 *
 * Three sources of names: a header line (commas, results), numbers for what has
 * no header (tabs), and the names that the definition of a layout gives.  Names
 * are copied into the arena; the fields' array has room for constants behind
 * the columns of the file.
 */
#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/csv_state.h"
#include "sim/text/scan.h"

/* Feitelson et al., "Standard Workload Format", version 2.2. */
#define SWF_NAMES \
    "job", "submit_time", "wait_time", "run_time", "allocated_processors", \
    "average_cpu_time", "used_memory", "requested_processors", \
    "requested_time", "requested_memory", "status", "user", "group", \
    "executable", "queue", "partition", "preceding_job", "think_time"
static const char *const swf_names[] = { SWF_NAMES, NULL };
static const char *const alea_names[] = {
    SWF_NAMES, "nodes", "queue_name", "resources", NULL
};

/* pai_task_table.header of Alibaba's cluster-trace-gpu-v2020. */
static const char *const pai_names[] = {
    "job_name", "task_name", "inst_num", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem", "plan_gpu", "gpu_type", NULL
};
const char *const *csv_names(const struct csv *csv)
{
    assert(csv->name != NULL);
    return (const char *const *)csv->name;
}

size_t csv_columns(const struct csv *csv)
{
    assert(csv->columns <= CSV_FIELDS_MAX || csv->format != CSV_COMMA);
    return csv->columns;
}

size_t csv_find(const struct csv *csv, const char *name)
{
    assert(csv->constants <= CSV_CONSTANTS_MAX);
    for (size_t i = 0; i < csv->columns + csv->constants; i++)
        if (strcmp(csv->name[i], name) == 0)
            return i;
    return SIZE_MAX;
}

bool csv_need_column(const struct csv *csv, const char *name, size_t *column,
                     struct err *err)
{
    *column = csv_find(csv, name);
    assert(*column == SIZE_MAX || *column < csv->columns + csv->constants);
    return *column != SIZE_MAX ||
           err_set(err, ERR_SCHEMA, csv_place(csv, 1),
                   "the column '%.60s' is missing", name);
}

size_t csv_constant(struct csv *csv, struct arena *arena, const char *text)
{
    size_t at = csv->columns + csv->constants;

    assert(csv->format == CSV_COMMA && text != NULL);
    if (csv->constants == CSV_CONSTANTS_MAX)
        return SIZE_MAX;
    csv->name[at] = arena_text(arena, text);
    csv->field[at] = (struct csv_field){csv->name[at], strlen(text), 1, 0};
    csv->constants++;
    return at;
}

/* Names the columns for a message, as many as there is room for. */
void csv_list(const struct csv *csv, char *out, size_t out_bytes)
{
    size_t used = 0;

    assert(out_bytes > 8);
    out[0] = '\0';
    for (size_t i = 0; i < csv->columns; i++) {
        size_t bytes = strlen(csv->name[i]);
        bool last = i + 1 == csv->columns;
        assert(used < out_bytes);

        /* ", name", and room behind it for the end or for ", ...". */
        if (used + 2 + bytes + (last ? 1 : 6) > out_bytes) {
            strcpy(out + used, used > 0 ? ", ..." : "...");
            return;
        }
        if (used > 0) {
            memcpy(out + used, ", ", 3);
            used += 2;
        }
        memcpy(out + used, csv->name[i], bytes + 1);
        used += bytes;
    }
}

/* A header of which half the names are numbers is a row whose header is
 * missing. */
bool csv_header_is_row(const struct csv *csv)
{
    size_t numbers = 0;

    for (size_t i = 0; i < csv->columns; i++) {
        double value;

        numbers += scan_f64(csv->name[i], strlen(csv->name[i]), &value);
    }
    assert(numbers <= csv->columns);
    return 2 * numbers >= csv->columns && numbers > 0;
}

/* Has each column a name of its own?  False: err says which has not. */
static bool header_is_good(const struct csv *csv, struct err *err)
{
    assert(csv->columns > 0);
    for (size_t i = 0; i < csv->columns; i++) {
        if (csv->name[i][0] == '\0') {
            err_set(err, ERR_SYNTAX, csv_place(csv, 1),
                    "column %zu has no name in the header line", i + 1);
            return err_hint(err, i + 1 < csv->columns
                                     ? "Only the first columns may have none, "
                                       "as an index that pandas writes."
                                     : "A separator at the end of the line "
                                       "begins one more column.");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(csv->name[i], csv->name[j]) != 0)
                continue;
            err_set(err, ERR_SYNTAX, csv_place(csv, 1),
                    "column %s stands twice in the header line",
                    csv->name[i]);
            return csv_header_is_row(csv)
                       ? err_hint(err, "It looks like a row: the first line "
                                       "must name the columns.") : false;
        }
    }
    return true;
}

/* The index of a data frame has no name of its own, nor have the first of
 * several: "Unnamed: 0" and so on, and ".1" behind it where a column is called
 * so, as of a file that was written twice. */
static void name_index(struct csv *csv, struct arena *arena)
{
    for (size_t i = 0; i + 1 < csv->columns && csv->name[i][0] == '\0'; i++) {
        char *name = arena_alloc(arena, 40, 1), *end;

        strcpy(name, "Unnamed: ");
        end = decimal_put(name + strlen(name), i);
        *end = '\0';
        assert(end - name < 40);
        /* As pandas does it; a name that cannot be made unique is refused by header_is_good(). */
        while (csv_find(csv, name) != SIZE_MAX && strlen(name) < 36)
            strcat(name, ".1");
        csv->name[i] = name;
    }
}

/* What separates the fields of a header: a comma, unless it has none, and
 * semicolons or tabs. */
static char separator_of(const char *line)
{
    if (strchr(line, ',') != NULL)
        return ',';
    if (strchr(line, ';') != NULL)
        return ';';
    return strchr(line, '\t') != NULL ? '\t' : ',';
}

/* Reads the first line: its fields name the columns. */
static bool read_header(struct csv *csv, struct arena *arena,
                        struct err *err)
{
    assert(csv->columns == 0);
    static const char mark[] = "\xEF\xBB\xBF";  /* UTF-8 byte order mark */
    struct csv_field *field = arena_alloc(arena,
                                          CSV_FIELDS_MAX + CSV_CONSTANTS_MAX,
                                          sizeof *field);
    char *line;
    size_t count, bytes;
    enum csv_step step = csv_next_line(csv, &line, &bytes, err);

    if (step == CSV_ERROR)
        return false;
    if (step == CSV_END)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){csv->path, 0, 0},
                       "file is empty: a header line with the names of the "
                       "columns is expected");
    /* Excel writes it; it is no part of the first name. */
    if (strncmp(line, mark, 3) == 0)
        line += 3;
    if (csv->format == CSV_COMMA)
        csv->comma = separator_of(line);
    count = csv_split_commas(csv, line, field, CSV_FIELDS_MAX, err);
    if (count == SIZE_MAX)
        return false;
    if (count > CSV_FIELDS_MAX)
        return err_set(err, ERR_RANGE, csv_place(csv, 1),
                       "header has %zu columns, at most %u are read", count,
                       CSV_FIELDS_MAX);
    csv->columns = csv->cut = count;
    csv->field = field;
    csv->name = arena_alloc(arena, count + CSV_CONSTANTS_MAX + 1,
                            sizeof *csv->name);
    for (size_t i = 0; i < count; i++)
        csv->name[i] = arena_text(arena, field[i].text);
    name_index(csv, arena);
    return header_is_good(csv, err);
}

/* Columns that only have numbers: as many as the first line has fields. */
static bool number_columns(struct csv *csv, struct arena *arena,
                           struct err *err)
{
    assert(csv->columns == 0);
    char *line;
    size_t bytes;
    enum csv_step step = csv_next_line(csv, &line, &bytes, err);

    if (step == CSV_ERROR)
        return false;
    if (step == CSV_END)
        return err_set(err, ERR_SYNTAX, (struct err_pos){csv->path, 0, 0},
                       "file is empty: rows of fields between tabs are "
                       "expected");
    csv->columns = csv_split_tabs(line, NULL, 0);
    if (csv->columns > CSV_FIELDS_MAX)
        return err_set(err, ERR_RANGE, csv_place(csv, 1),
                       "row has %zu fields, at most %u are read",
                       csv->columns, CSV_FIELDS_MAX);
    csv->field = arena_alloc(arena, csv->columns, sizeof *csv->field);
    csv->name = arena_alloc(arena, csv->columns + 1, sizeof *csv->name);
    for (size_t i = 0; i < csv->columns; i++) {
        char *name = arena_alloc(arena, 4, 1), digits[20];
        char *end = decimal_put(digits, i + 1);

        memcpy(name, digits, (size_t)(end - digits));
        csv->name[i] = name;
    }
    scan_close(csv->scan);      /* that line is a row, too: begin again */
    csv->blank_lines = 0;
    csv->scan = scan_open(csv->path, err);
    return csv->scan != NULL;
}

void csv_fix_columns(struct csv *csv, struct arena *arena,
                     const char *const *names)
{
    assert(names[0] != NULL);
    while (names[csv->columns] != NULL)
        csv->columns++;
    csv->name = arena_alloc(arena, csv->columns + 1, sizeof *csv->name);
    for (size_t i = 0; i < csv->columns; i++)
        csv->name[i] = names[i];
    csv->cut = csv->columns;
    csv->field = arena_alloc(arena, csv->columns, sizeof *csv->field);
}

bool csv_begin(struct csv *csv, struct arena *arena, struct err *err)
{
    assert(csv->columns == 0);
    switch (csv->format) {
    case CSV_COMMA:
    case CSV_TABLE:
        return read_header(csv, arena, err);
    case CSV_TAB:
        return number_columns(csv, arena, err);
    case CSV_SWF:
        csv_fix_columns(csv, arena, swf_names);
        return true;
    case CSV_ALEA:
        csv_fix_columns(csv, arena, alea_names);
        return true;
    case CSV_PAI:
        csv_fix_columns(csv, arena, pai_names);
        return true;
    case CSV_SOURCE:
        break;
    }
    assert(false);
    return false;
}
