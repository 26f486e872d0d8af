/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - rows of text files, split into fields in place.
 *
 * The line that scan hands out is cut up where it lies: fields are ended with
 * NUL bytes, quoted fields are unquoted in place, so that a row costs no
 * memory.  Invariant: after CSV_ROW exactly `columns` fields are set.
 */
#include "sim/text/csv.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/decimal.h"
#include "sim/text/scan.h"
#include "sim/text/csv_blanks.h"
#include "sim/text/csv_philly.h"

#define CONSTANTS_MAX 16u

struct csv {
    struct scan *scan;          /* NULL: philly */
    struct philly *philly;
    const char *path;
    enum csv_format format;
    const char **name;          /* columns + constants + 1, ends with NULL */
    size_t columns;
    size_t constants;           /* fields behind those of the file */
    char comma;                 /* or ';' or a tab */
    size_t cut;                 /* SWF: columns that are set, if not all */
    struct csv_field *field;
    uint64_t blank_lines, longer_rows;
    bool begun;                 /* a row was read */
};

/* Feitelson et al., "Standard Workload Format", version 2.2. */
static const char *const swf_names[] = {
    "job", "submit_time", "wait_time", "run_time", "allocated_processors",
    "average_cpu_time", "used_memory", "requested_processors",
    "requested_time", "requested_memory", "status", "user", "group",
    "executable", "queue", "partition", "preceding_job", "think_time",
    "nodes", "queue_name", "resources", NULL
};
enum { SWF_COLUMNS = 18, ALEA_COLUMNS = 21 };

/* pai_task_table.header of Alibaba's cluster-trace-gpu-v2020. */
static const char *const pai_names[] = {
    "job_name", "task_name", "inst_num", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem", "plan_gpu", "gpu_type", NULL
};
enum { PAI_COLUMNS = 10 };

static struct err_pos place(const struct csv *csv, uint32_t col)
{
    struct err_pos pos = {csv->path, 0, 0};

    if (csv->scan == NULL)
        return pos;
    pos = scan_pos(csv->scan, col);

    pos.file = csv->path;       /* outlives the scan */
    return pos;
}

/* A tab is no blank where it separates. */
static bool is_blank(const struct csv *csv, char c)
{
    return blanks_is(c) && c != csv->comma;
}

/* Cuts a quoted field; returns what follows its closing quote, or NULL. */
static char *cut_quoted(const struct csv *csv, char *at,
                        struct csv_field *field)
{
    char *to = at, *from = at + 1;

    for (;;) {
        if (*from == '\0')
            return NULL;
        if (*from == '"' && from[1] != '"')
            break;
        if (*from == '"')
            from++;
        *to++ = *from++;
    }
    field->text = at;
    field->bytes = (size_t)(to - at);
    from++;
    while (is_blank(csv, *from))
        from++;
    if (*from != csv->comma && *from != '\0')
        return NULL;
    return from;
}

static char *cut_plain(const struct csv *csv, char *at,
                       struct csv_field *field)
{
    const char commas[2] = {csv->comma, '\0'};
    size_t bytes = strcspn(at, commas);

    field->text = at;
    field->bytes = bytes;
    while (field->bytes > 0 && is_blank(csv, at[field->bytes - 1]))
        field->bytes--;
    return at + bytes;
}

static size_t bad_quote(const struct csv *csv, const struct csv_field *field,
                        struct err *err)
{
    err_set(err, ERR_SYNTAX, place(csv, field->col),
            "quoted field does not end before the next %s or the end of the "
            "line", csv->comma == ';' ? "semicolon"
                    : csv->comma == '\t' ? "tab" : "comma");
    err_hint(err, "A field holds no line break; a quotation mark within one "
                  "is written twice.");
    return SIZE_MAX;
}

/* Ends the text of a field with NUL; what it overwrites was read already. */
static void seal(struct csv_field *field)
{
    ((char *)field->text)[field->bytes] = '\0';
}

/* Splits at commas; returns the count, or SIZE_MAX with an err. */
static size_t split_commas(const struct csv *csv, char *line,
                           struct csv_field *field, size_t max,
                           struct err *err)
{
    char *at = line;
    size_t count = 0;
    bool more = true;

    while (more) {
        struct csv_field next = {0};
        char *end;

        while (is_blank(csv, *at))
            at++;
        next.col = (uint32_t)(at - line) + 1;
        end = *at == '"' ? cut_quoted(csv, at, &next)
                         : cut_plain(csv, at, &next);
        if (end == NULL)
            return bad_quote(csv, &next, err);
        more = *end == csv->comma;
        if (count < max)
            field[count] = next;
        seal(&next);
        count++;
        at = end + 1;
    }
    return count;
}

/* Blanks within a field stay, around it they go. */
static size_t split_tabs(char *line, struct csv_field *field, size_t max)
{
    char *at = line;
    size_t count = 0;
    bool more = true;

    while (more) {
        size_t bytes = strcspn(at, "\t");
        struct csv_field next = {at, bytes, (uint32_t)(at - line) + 1, 0};

        while (next.bytes > 0 && blanks_is(next.text[0])) {
            next.text++;
            next.bytes--;
            next.col++;
        }
        while (next.bytes > 0 && blanks_is(next.text[next.bytes - 1]))
            next.bytes--;
        more = at[bytes] == '\t';
        if (count < max)
            field[count] = next;
        seal(&next);
        count++;
        at += bytes + 1;
    }
    return count;
}

static bool line_is_blank(const char *line)
{
    while (blanks_is(*line))
        line++;
    return *line == '\0';
}

static bool is_comment(const char *line)
{
    while (*line <= ' ' && blanks_is(*line))
        line++;
    return *line == ';';
}

/* The next line that is neither blank nor, in SWF, a comment. */
static enum csv_step next_line(struct csv *csv, char **line, struct err *err)
{
    for (;;) {
        size_t bytes;

        switch (scan_line(csv->scan, line, &bytes, err)) {
        case SCAN_ERROR:
            err->pos.file = csv->path;
            return CSV_ERROR;
        case SCAN_END:
            return CSV_END;
        case SCAN_LINE:
            break;
        }
        if (line_is_blank(*line))
            csv->blank_lines++;
        else if ((csv->format != CSV_SWF && csv->format != CSV_ALEA) ||
                 !is_comment(*line))
            return CSV_ROW;
    }
}

bool csv_header_is_row(const struct csv *csv)
{
    size_t numbers = 0;

    for (size_t i = 0; i < csv->columns; i++) {
        double value;

        numbers += scan_f64(csv->name[i], strlen(csv->name[i]), &value);
    }
    return 2 * numbers >= csv->columns && numbers > 0;
}

static bool header_is_good(const struct csv *csv, struct err *err)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (csv->name[i][0] == '\0') {
            err_set(err, ERR_SYNTAX, place(csv, 1),
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
            err_set(err, ERR_SYNTAX, place(csv, 1),
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

static bool read_header(struct csv *csv, struct arena *arena,
                        struct err *err)
{
    static const char mark[] = "\xEF\xBB\xBF";  /* UTF-8 byte order mark */
    struct csv_field *field = arena_alloc(arena,
                                          CSV_FIELDS_MAX + CONSTANTS_MAX,
                                          sizeof *field);
    char *line;
    size_t count;
    enum csv_step step = next_line(csv, &line, err);

    if (step == CSV_ERROR)
        return false;
    if (step == CSV_END)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){csv->path, 0, 0},
                       "file is empty: a header line with the names of the "
                       "columns is expected");
    if (strncmp(line, mark, 3) == 0)
        line += 3;
    csv->comma = separator_of(line);
    count = split_commas(csv, line, field, CSV_FIELDS_MAX, err);
    if (count == SIZE_MAX)
        return false;
    if (count > CSV_FIELDS_MAX)
        return err_set(err, ERR_RANGE, place(csv, 1),
                       "header has %zu columns, at most %u are read", count,
                       CSV_FIELDS_MAX);
    csv->columns = count;
    csv->field = field;
    csv->name = arena_alloc(arena, count + CONSTANTS_MAX + 1,
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
    char *line;
    enum csv_step step = next_line(csv, &line, err);

    if (step == CSV_ERROR)
        return false;
    if (step == CSV_END)
        return err_set(err, ERR_SYNTAX, (struct err_pos){csv->path, 0, 0},
                       "file is empty: rows of fields between tabs are "
                       "expected");
    csv->columns = split_tabs(line, NULL, 0);
    if (csv->columns > CSV_FIELDS_MAX)
        return err_set(err, ERR_RANGE, place(csv, 1),
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

/* Columns that the layout fixes. */
static void fix_columns(struct csv *csv, struct arena *arena)
{
    const char *const *names = csv->format == CSV_PAI ? pai_names
                               : csv->format == CSV_PHILLY ? philly_names
                                                           : swf_names;

    csv->columns = csv->format == CSV_PAI ? PAI_COLUMNS
                   : csv->format == CSV_PHILLY ? PHILLY_COLUMNS
                   : csv->format == CSV_ALEA ? ALEA_COLUMNS : SWF_COLUMNS;
    csv->name = arena_alloc(arena, csv->columns + 1, sizeof *csv->name);
    for (size_t i = 0; i < csv->columns; i++)
        csv->name[i] = names[i];
    csv->cut = csv->columns;
    csv->field = arena_alloc(arena, csv->columns, sizeof *csv->field);
}

struct csv *csv_open(struct arena *arena, const char *path,
                     enum csv_format format, struct err *err)
{
    struct csv *csv = arena_alloc(arena, 1, sizeof *csv);

    assert(path != NULL && err != NULL);
    csv->path = path;
    csv->format = format;
    csv->comma = ',';
    if (format == CSV_PHILLY) {
        csv->philly = philly_open(arena, path, err);
        fix_columns(csv, arena);
        return csv->philly == NULL ? NULL : csv;
    }
    csv->scan = scan_open(path, err);
    if (csv->scan == NULL)
        return NULL;
    if (format == CSV_SWF || format == CSV_ALEA || format == CSV_PAI) {
        fix_columns(csv, arena);
        return csv;
    }
    if (!(format == CSV_TAB ? number_columns(csv, arena, err)
                            : read_header(csv, arena, err))) {
        csv_close(csv);
        return NULL;
    }
    return csv;
}

void csv_close(struct csv *csv)
{
    if (csv == NULL)
        return;
    scan_close(csv->scan);
    csv->scan = NULL;
    philly_close(csv->philly);
    csv->philly = NULL;
}

const char *const *csv_names(const struct csv *csv)
{
    return (const char *const *)csv->name;
}

size_t csv_columns(const struct csv *csv)
{
    return csv->columns;
}

size_t csv_find(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns + csv->constants; i++)
        if (strcmp(csv->name[i], name) == 0)
            return i;
    return SIZE_MAX;
}

size_t csv_constant(struct csv *csv, struct arena *arena, const char *text)
{
    size_t at = csv->columns + csv->constants;

    assert(csv->format == CSV_COMMA && text != NULL);
    if (csv->constants == CONSTANTS_MAX)
        return SIZE_MAX;
    csv->name[at] = arena_text(arena, text);
    csv->field[at] = (struct csv_field){csv->name[at], strlen(text), 1, 0};
    csv->constants++;
    return at;
}

void csv_list(const struct csv *csv, char *out, size_t out_bytes)
{
    size_t used = 0;

    assert(out_bytes > 8);
    out[0] = '\0';
    for (size_t i = 0; i < csv->columns; i++) {
        size_t bytes = strlen(csv->name[i]);
        bool last = i + 1 == csv->columns;

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

/* The first character of SWF's column `column`, which may not be cut out. */
static char first_character(const struct csv *csv, size_t column)
{
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

/* Such a row would be read well too, but its times are absolute ones, and what
 * stands in it has a format of its own. */
static bool is_alea(const struct csv *csv, size_t count)
{
    return count == ALEA_COLUMNS && first_character(csv, SWF_COLUMNS) == '{';
}

static enum csv_step wrong_count(const struct csv *csv, size_t count,
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
        [CSV_PHILLY] = "row has %zu fields, not %zu",
    };

    err_set(err, ERR_SYNTAX, place(csv, 1), text[csv->format], count,
            csv->columns);
    if (csv->format == CSV_SWF && count == ALEA_COLUMNS)
        err_hint(err, "Rows of %d fields may be of Alea: format alea.",
                 ALEA_COLUMNS);
    if (csv->format == CSV_COMMA && count > csv->columns &&
        csv->comma == ',')
        err_hint(err, "A comma within a number, 3,600 or 0,5, separates "
                      "fields: write 3600, or 0.5.");
    return CSV_ERROR;
}

enum csv_step csv_next(struct csv *csv, struct err *err)
{
    char *line;
    size_t count, columns = csv->columns;
    enum csv_step step;

    if (csv->philly != NULL)
        return philly_next(csv->philly, csv->field, err);
    step = next_line(csv, &line, err);
    if (step != CSV_ROW)
        return step;
    if (csv->format == CSV_SWF)
        count = blanks_split(line, csv->field, csv->cut);
    else if (csv->format == CSV_ALEA)
        count = blanks_split_rest(line, csv->field, columns);
    else if (csv->format == CSV_TAB)
        count = split_tabs(line, csv->field, columns);
    else
        count = split_commas(csv, line, csv->field, columns, err);
    if (count == SIZE_MAX)
        return CSV_ERROR;
    if (csv->format == CSV_SWF && count > columns && !is_alea(csv, count))
        csv->longer_rows++;
    else if (count != columns)
        return wrong_count(csv, count, err);
    if (csv->format == CSV_PAI && !csv->begun &&
        strcmp(csv->field[0].text, pai_names[0]) == 0) {
        csv->begun = true;
        return csv_next(csv, err);
    }
    csv->begun = true;
    return CSV_ROW;
}

void csv_cut(struct csv *csv, size_t columns)
{
    assert(columns > 0 && columns <= csv->columns);
    if (csv->format == CSV_SWF)
        csv->cut = columns;
}

const struct csv_field *csv_field(const struct csv *csv, size_t column)
{
    assert(column < (csv->format == CSV_SWF ? csv->cut
                                            : csv->columns + csv->constants));
    return &csv->field[column];
}

struct err_pos csv_pos(const struct csv *csv, size_t column)
{
    const struct csv_field *field = &csv->field[column];

    assert(column < csv->columns + csv->constants);
    if (field->line == 0)
        return place(csv, field->col);
    return (struct err_pos){csv->path, field->line, field->col};
}

uint64_t csv_blank_lines(const struct csv *csv)
{
    return csv->blank_lines;
}

uint64_t csv_longer_rows(const struct csv *csv)
{
    return csv->longer_rows;
}

const char *csv_path(struct arena *arena, const char *beside,
                     const char *name)
{
    const char *slash = beside == NULL ? NULL : strrchr(beside, '/');
    size_t folder;
    char *path;

    assert(name != NULL);
    if (name[0] == '/' || slash == NULL)
        return arena_text(arena, name);
    folder = (size_t)(slash - beside) + 1;
    path = arena_alloc(arena, folder + strlen(name) + 1, 1);
    memcpy(path, beside, folder);
    strcpy(path + folder, name);
    return path;
}
