/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_rows_test.c - tables drawn by a seed, written as others write CSV (quotation marks, blanks,
 * other separators, byte order marks) and read back; headers and rows that are refused, by their
 * words and place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/text/csv.h"
#include "tests/aid/scratch.h"

#define COLUMNS 6
#define ROWS 12

struct table {
    size_t columns, rows;
    char separator;
    uint64_t blank;             /* lines that hold nothing */
    char cell[ROWS][COLUMNS][40];       /* what they mean */
    uint32_t line[ROWS], at[ROWS][COLUMNS];     /* where they stand, in characters */
    char text[8000];
};

/* Pieces of cells.  Those with a mark need quotation marks about the cell. */
static const char *const pieces[] = { "a", "Z", "7", " ", "-", "\u00e9", "\u20ac", "\"", "'", "x y",
                                      ",", ";" };

/* A cell without blanks about it, and without what begins a comment or a quote by chance. */
static void draw_cell(struct rng *rng, const struct table *t, char *out)
{
    out[0] = '\0';
    for (uint64_t n = rng_below(rng, 5); n > 0; n--) {
        const char *piece = pieces[rng_below(rng, 12)];
        if (t->separator != '\t' || strchr("\",;", piece[0]) == NULL)
            strcat(out, piece);
    }
    while (out[0] == ' ')
        memmove(out, out + 1, strlen(out));
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
}

static uint32_t characters(const char *text)
{
    uint32_t n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* The cell as it is written; sets the column of its beginning.  Blanks about it are none of it,
 * also outside its quotation marks. */
static void write_cell(struct rng *rng, struct table *t, const char *line, size_t row, size_t c)
{
    const char *cell = t->cell[row][c];
    bool quoted = t->separator != '\t' &&
                  (strpbrk(cell, "\",;") != NULL || rng_below(rng, 4) == 0);
    char *to = t->text + strlen(t->text);

    for (uint64_t n = rng_below(rng, 3); n > 0; n--)
        strcpy(to++, " ");
    t->at[row][c] = characters(line) + 1;
    if (quoted)
        strcpy(to++, "\"");
    for (; *cell != '\0'; cell++) {
        if (*cell == '"')
            strcpy(to++, "\"");
        *to++ = *cell;
        *to = '\0';
    }
    if (quoted)
        strcpy(to++, "\"");
    for (uint64_t n = rng_below(rng, 3); n > 0; n--)
        strcpy(to++, " ");
}

static void draw_table(struct rng *rng, struct table *t, bool tabs)
{
    uint32_t line = 1;

    memset(t, 0, sizeof *t);
    t->columns = 1 + rng_below(rng, COLUMNS);
    t->rows = rng_below(rng, ROWS);
    t->separator = tabs ? '\t' : t->columns > 1 && rng_below(rng, 2) ? ';' : ',';
    if (!tabs) {
        strcat(t->text, rng_below(rng, 2) ? "\xEF\xBB\xBF" : "");
        for (size_t c = 0; c < t->columns; c++)
            snprintf(t->text + strlen(t->text), 20, "%sname %c", c == 0 ? "" :
                     (char[]){ t->separator, '\0' }, (char)('a' + c));
        strcat(t->text, rng_below(rng, 2) ? "\r\n" : "\n");
        line++;
    }
    for (size_t r = 0; r < t->rows; r++) {
        for (; rng_below(rng, 4) == 0; line++, t->blank++)
            strcat(t->text, rng_below(rng, 2) ? "\n" : "  \n");
        const char *begin = t->text + strlen(t->text);
        t->line[r] = line++;
        for (size_t c = 0; c < t->columns; c++) {
            draw_cell(rng, t, t->cell[r][c]);
            if (c == 0 && t->cell[r][c][0] == '\0')
                strcpy(t->cell[r][c], "k");     /* a line of blanks alone is none */
            write_cell(rng, t, begin, r, c);
            if (c + 1 < t->columns)
                strncat(t->text, &t->separator, 1);
        }
        strcat(t->text, rng_below(rng, 3) ? "\n" : r + 1 == t->rows ? "" : "\r\n");
    }
}

static void check_table(struct scratch *scratch, const struct table *t, enum csv_format format)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    size_t constant = SIZE_MAX;

    scratch_write(scratch, "t.csv", t->text);
    struct csv *csv = csv_open(arena, scratch_path(scratch, "t.csv"), format, &err);
    if (csv == NULL)
        fail_msg("%s: %s", t->text, err.text);
    assert_int_equal(csv_columns(csv), t->columns);
    for (size_t c = 0; c < t->columns; c++) {
        char name[20];
        snprintf(name, sizeof name, format == CSV_TAB ? "%c" : "name %c",
                 (char)((format == CSV_TAB ? '1' : 'a') + c));
        assert_string_equal(csv_names(csv)[c], name);
        assert_int_equal(csv_find(csv, name), c);
    }
    if (format == CSV_COMMA)
        constant = csv_constant(csv, arena, "same");
    for (size_t r = 0; r < t->rows; r++) {
        if (csv_next(csv, &err) != CSV_ROW)
            fail_msg("row %zu of %s: %s", r, t->text, err.text);
        for (size_t c = 0; c < t->columns; c++) {
            struct err_pos pos = csv_pos(csv, c);
            if (strcmp(csv_text(csv, c), t->cell[r][c]) != 0 ||
                csv_field(csv, c)->bytes != strlen(t->cell[r][c]))
                fail_msg("%s: row %zu, column %zu is '%s', not '%s'", t->text, r, c,
                         csv_text(csv, c), t->cell[r][c]);
            if (pos.line != t->line[r] || (pos.col != t->at[r][c] && t->cell[r][c][0] != '\0'))
                fail_msg("%s: row %zu, column %zu at %u:%u, not %u:%u", t->text, r, c, pos.line,
                         pos.col, t->line[r], t->at[r][c]);
        }
        if (constant != SIZE_MAX)
            assert_string_equal(csv_text(csv, constant), "same");
    }
    assert_int_equal(csv_next(csv, &err), CSV_END);
    assert_int_equal(csv_blank_lines(csv), t->blank);
    csv_close(csv);
    arena_free(arena);
}

static void rows_are_read_as_they_were_meant(void **state)
{
    static struct table t;
    struct rng rng;

    rng_init(&rng, 12, "csv", 0);
    for (int k = 0; k < 300; k++) {
        draw_table(&rng, &t, false);
        check_table(*state, &t, CSV_COMMA);
        draw_table(&rng, &t, true);
        if (t.rows > 0)
            check_table(*state, &t, CSV_TAB);
    }
}

struct bad {
    const char *text, *said, *hint;
    enum csv_format format;
    uint32_t line, column;
};

static const struct bad bad[] = {
    { "", "file is empty: a header line", "", CSV_COMMA, 0, 0 },
    { "\n \n", "file is empty: a header line", "", CSV_COMMA, 0, 0 },
    { "", "file is empty: rows of fields between tabs", "", CSV_TAB, 0, 0 },
    { "a,,b\n1,2,3\n", "column 2 has no name", "as an index that pandas", CSV_COMMA, 1, 1 },
    { "a,b,\n", "column 3 has no name", "A separator at the end", CSV_COMMA, 1, 1 },
    { "a,b,a\n", "column a stands twice in the header line", "", CSV_COMMA, 1, 1 },
    { "1,2,2,x\n", "column 2 stands twice", "It looks like a row", CSV_COMMA, 1, 1 },
    { "a,b\n1\n", "row has 1 fields, the header line has 2", "", CSV_COMMA, 2, 1 },
    { "a,b\n1,2,3\n", "row has 3 fields, the header line has 2", "A comma within a number",
      CSV_COMMA, 2, 1 },
    { "a;b\n1;2;3\n", "row has 3 fields, the header line has 2", "", CSV_COMMA, 2, 1 },
    { "1\t2\n1\t2\t3\n", "row has 3 fields, the first row has 2", "", CSV_TAB, 2, 1 },
    { "a,b\n\"\u00e9\",\"2\n", "quoted field does not end before the next comma", "written twice",
      CSV_COMMA, 2, 5 },
    { "a;b\n1;\"2\"x\n", "quoted field does not end before the next semicolon", "written twice",
      CSV_COMMA, 2, 3 },
    { "a\tb\n1\t\"2\n", "quoted field does not end before the next tab", "written twice",
      CSV_COMMA, 2, 3 },
    { "\"a,b\n", "quoted field does not end before the next comma", "", CSV_COMMA, 1, 1 },
};

/* The first fault of a file, of its header or of a row. */
static void check_bad(struct scratch *scratch, const struct bad *b)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };

    scratch_write(scratch, "t.csv", b->text);
    struct csv *csv = csv_open(arena, scratch_path(scratch, "t.csv"), b->format, &err);
    while (csv != NULL && csv_next(csv, &err) == CSV_ROW)
        continue;
    if (strstr(err.text, b->said) == NULL || err.pos.line != b->line || err.pos.col != b->column ||
        (b->hint[0] == '\0' ? err.hint[0] != '\0' && strstr(b->said, "quoted") == NULL
                            : strstr(err.hint, b->hint) == NULL))
        fail_msg("%s: %u:%u: %s (%s)", b->text, err.pos.line, err.pos.col, err.text, err.hint);
    csv_close(csv);
    arena_free(arena);
}

static void what_is_no_table_is_refused(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_bad(*state, &bad[i]);
}

/* Columns of an index have no name, the first of several; names of their own are kept apart. */
static void columns_of_an_index_get_names(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    size_t column = 7;

    scratch_write(scratch, "t.csv", ",,Unnamed: 1,x\n0,1,2,3\n");
    struct csv *csv = csv_open(scratch->arena, scratch_path(scratch, "t.csv"), CSV_COMMA, &err);
    assert_non_null(csv);
    assert_string_equal(csv_names(csv)[0], "Unnamed: 0");
    assert_string_equal(csv_names(csv)[1], "Unnamed: 1.1");
    assert_string_equal(csv_names(csv)[2], "Unnamed: 1");
    assert_null(csv_names(csv)[4]);
    assert_true(csv_need_column(csv, "x", &column, &err));
    assert_int_equal(column, 3);
    assert_false(csv_need_column(csv, "y", &column, &err));
    assert_string_equal(err.text, "the column 'y' is missing");
    csv_close(csv);
    csv_close(NULL);
}

/* Half of the names are numbers: the header is a row. */
static void headers_that_look_like_rows_are_seen(void **state)
{
    static const struct { const char *text; bool row; } header[] = {
        { "1,2\n", true }, { "1,x\n", true }, { "1,x,y\n", false }, { "x\n", false },
        { "1,2,x\n", true }, { "1.5,-2e3\n", true }, { "x,y\n", false },
    };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++) {
        struct err err = { 0 };
        scratch_write(scratch, "t.csv", header[i].text);
        struct csv *csv = csv_open(scratch->arena, scratch_path(scratch, "t.csv"), CSV_COMMA, &err);
        assert_non_null(csv);
        assert_true(csv_header_is_row(csv) == header[i].row);
        csv_close(csv);
    }
}

/* An empty field is no number, and says nothing; what is none is told with its column. */
static void numbers_are_told_from_others(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    double value = 1;

    scratch_write(scratch, "t.csv", "a,b,c\n 2.5 ,, x1\n");
    struct csv *csv = csv_open(scratch->arena, scratch_path(scratch, "t.csv"), CSV_COMMA, &err);
    assert_non_null(csv);
    assert_int_equal(csv_next(csv, &err), CSV_ROW);
    assert_true(csv_number(csv, 0, &value, &err) && value == 2.5);
    assert_true(csv_number(csv, 1, &value, &err) && value != value);
    assert_false(csv_number(csv, 2, &value, &err));
    assert_true(value != value);
    assert_string_equal(err.text, "c must be a number, and is 'x1'");
    assert_int_equal(err.pos.line, 2);
    assert_int_equal(err.pos.col, 9);
    csv_close(csv);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_are_read_as_they_were_meant), TEST(what_is_no_table_is_refused),
        TEST(columns_of_an_index_get_names), TEST(headers_that_look_like_rows_are_seen),
        TEST(numbers_are_told_from_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
