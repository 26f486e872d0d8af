/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_test.c - CSV cells, their quoting, and "%.9g" to the byte. */
#include <float.h>
#include <math.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/json.h"
#include "sim/text/out.h"
#include "sim/text/table.h"

static const struct table_column columns[] = {
    {"job", TABLE_TEXT, "name"},
    {"gpus", TABLE_COUNT, "how many"},
    {"wait_s", TABLE_TIME, "from submit to start"},
    {"cost_usd", TABLE_REAL, "what it cost"},
};

static void check_rows(const struct table *table, const char *wanted)
{
    size_t bytes;
    const char *rows = table_bytes(table, &bytes);
    assert_int_equal(bytes, strlen(wanted));
    assert_memory_equal(rows, wanted, bytes);
}

/* What is forgotten may have ended within a row: the next one begins with the first column. */
static void a_table_that_forgets_begins_a_row_anew(void **state)
{
    (void)state;
    struct table *table = table_new(columns, 4);

    for (int cells = 0; cells < 4; cells++) {
        if (cells > 0)
            table_text(table, "gone");
        if (cells > 1)
            table_count(table, 1);
        if (cells > 2)
            table_time(table, 2);
        table_clear(table);
        check_rows(table, "");
        table_text(table, "a");
        table_count(table, 3);
        table_time(table, 0);
        table_real(table, 0.5);
        table_end_row(table);
        check_rows(table, "a,3,0,0.5\n");
    }
    table_free(table);
}

static void rows_hold_their_cells_in_order(void **state)
{
    (void)state;
    struct table *table = table_new(columns, 4);

    check_rows(table, "");
    table_text(table, "a");
    table_count(table, 18446744073709551615u);
    table_time(table, INT64_C(12000000003));
    table_real_or_empty(table, 0.1);
    table_end_row(table);
    table_empty(table);
    table_empty(table);
    table_empty(table);
    table_real_or_empty(table, NAN);
    table_end_row(table);
    table_text(table, "");
    table_count(table, 0);
    table_time(table, -1);
    table_real(table, -0.0);
    table_end_row(table);
    check_rows(table, "a,18446744073709551615,12.000000003,0.1\n,,,\n"
                      ",0,-0.000000001,0\n");
    table_clear(table);
    check_rows(table, "");
    table_free(table);
    table_free(NULL);
}

static void texts_are_quoted_only_where_they_must_be(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"plain text", "plain text\n"},
        {"a,b", "\"a,b\"\n"},
        {"say \"hi\"", "\"say \"\"hi\"\"\"\n"},
        {"two\nlines", "\"two\nlines\"\n"},
        {"a\r", "\"a\r\"\n"},
        {"\"", "\"\"\"\"\n"},
        {"na\xC3\xAFve", "na\xC3\xAFve\n"},
    };
    struct table *table = table_new(columns, 1);

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        table_text(table, pairs[i][0]);
        table_end_row(table);
        check_rows(table, pairs[i][1]);
        table_clear(table);
    }
    table_free(table);
}

/* Spreadsheets would compute the first ones. */
static const char *const odd[] = {
    "=1+1", "+a", "-a", "@a", "\tcmd", "\rcmd", "-5+cmd|x", "=a,b", "'=1+1", "''@a", "-", "+-1",
    "'", "''", "'plain", "a=b", "-5", "+0.5", "-10%", "", "plain", "=\"q\"",
};
#define ODD (sizeof odd / sizeof odd[0])

static void formulas_have_an_apostrophe_and_numbers_have_none(void **state)
{
    struct table *table = table_new(columns, 1);

    (void)state;
    for (size_t i = 0; i < ODD; i++) {
        table_text(table, odd[i]);
        table_end_row(table);
    }
    check_rows(table, "'=1+1\n'+a\n'-a\n'@a\n'\tcmd\n\"'\rcmd\"\n'-5+cmd|x\n\"'=a,b\"\n''=1+1\n"
                      "'''@a\n'-\n'+-1\n'\n''\n'plain\na=b\n-5\n+0.5\n-10%\n\nplain\n"
                      "\"'=\"\"q\"\"\"\n");
    table_free(table);
}

static void guarded_texts_are_read_back_as_they_were(void **state)
{
    char path[] = "/tmp/clustersim-table-XXXXXX";
    struct table *table = table_new(columns, 1);
    struct arena *arena = arena_new(4096);
    struct err err = { 0 };
    FILE *file = fdopen(mkstemp(path), "w");
    size_t bytes;

    (void)state;
    assert_non_null(file);
    fputs("job\n", file);
    for (size_t i = 0; i < ODD; i++)
        if (odd[i][0] != '\0' && odd[i][0] != '\r') {    /* a blank line is no row */
            table_text(table, odd[i]);
            table_end_row(table);
        }
    const char *rows = table_bytes(table, &bytes);
    assert_int_equal(fwrite(rows, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    struct csv *csv = csv_open(arena, path, CSV_TABLE, &err);
    assert_non_null(csv);
    for (size_t i = 0; i < ODD; i++)
        if (odd[i][0] != '\0' && odd[i][0] != '\r') {
            assert_int_equal(csv_next(csv, &err), CSV_ROW);
            assert_string_equal(csv_text(csv, 0), odd[i]);
        }
    csv_close(csv);
    csv = csv_open(arena, path, CSV_COMMA, &err);       /* a trace is not ours */
    assert_int_equal(csv_next(csv, &err), CSV_ROW);
    assert_string_equal(csv_text(csv, 0), "'=1+1");
    csv_close(csv);
    arena_free(arena);
    table_free(table);
    assert_int_equal(remove(path), 0);
}

/* Cells of a row, some of which are quoted; a row has 3 to 40 of 1 to 9 letters. */
#define CELLS 40
static const char *const cell_of[] = { "a", "bc", "d,e", "fgh\"i", "'k", "lmnopqrst" };

static size_t cell_at(size_t row, size_t column)
{
    return (row * 7 + column * column * 5 + row * column) % (row % 3 == 0 ? 6 : 3) % 6;
}

/* Of a table that is cut, the first columns are what was written, and a row of other length is
 * still refused. */
static void a_cut_table_has_its_first_columns(void **state)
{
    static const struct table_column text = { "x", TABLE_TEXT, "" };
    struct table_column column[CELLS];
    char path[] = "/tmp/clustersim-table-XXXXXX";

    (void)state;
    assert_int_equal(close(mkstemp(path)), 0);
    for (size_t i = 0; i < CELLS; i++)
        column[i] = text;
    for (size_t width = 3; width <= CELLS; width++) {
        struct table *table = table_new(column, width);
        struct arena *arena = arena_new(4096);
        struct err err = { 0 };
        size_t bytes, cut = 1 + width * 5 % (width - 1);

        for (size_t row = 0; row < 30; row++) {
            for (size_t i = 0; i < width; i++)
                table_text(table, cell_of[cell_at(row, i)]);
            table_end_row(table);
        }
        const char *rows = table_bytes(table, &bytes);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (size_t i = 0; i < width; i++)
            fprintf(file, "%sc%zu", i > 0 ? "," : "", i);
        fputc('\n', file);
        assert_int_equal(fwrite(rows, 1, bytes, file), bytes);
        for (size_t i = 0; i < width; i++)    /* one too many */
            fputs("x,", file);
        fputs("x\n", file);
        assert_int_equal(fclose(file), 0);
        struct csv *csv = csv_open(arena, path, CSV_TABLE, &err);
        assert_non_null(csv);
        csv_cut(csv, cut);
        for (size_t row = 0; row < 30; row++) {
            assert_int_equal(csv_next(csv, &err), CSV_ROW);
            for (size_t i = 0; i < cut; i++)
                assert_string_equal(csv_text(csv, i), cell_of[cell_at(row, i)]);
        }
        assert_int_equal(csv_next(csv, &err), CSV_ERROR);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "row has %zu fields, the header line has %zu",
                 width + 1, width);
        assert_non_null(strstr(err.text, wanted));
        csv_close(csv);
        arena_free(arena);
        table_free(table);
    }
    assert_int_equal(remove(path), 0);
}

static void a_plain_text_stands_as_it_is(void **state)
{
    static const struct table_column column[] = { { "a", TABLE_TEXT, "" },
                                                  { "b", TABLE_TEXT, "" } };
    struct table *table = table_new(column, 2);
    size_t bytes;

    (void)state;
    table_plain(table, "", 0);
    table_plain(table, "0:0-7 1:0-7 2:0-7 3:0-7 4:0-7 5:0-3 and more", 37);
    table_end_row(table);
    const char *row = table_bytes(table, &bytes);
    assert_int_equal(bytes, 39);
    assert_memory_equal(row, ",0:0-7 1:0-7 2:0-7 3:0-7 4:0-7 5:0-3 a\n", 39);
    table_free(table);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Columns count characters: \u00e9 has two bytes, \u4e2d three.  In the second line the third
 * field is the 8th character of `\u00e9\u4e2d,ab,d,x`, after seven: 6 + 1; in the third, what
 * is quoted has a doubled mark: `"\u00e9""\u00e9",x,d,x` has d at 10. */
static void columns_of_csv_count_characters(void **state)
{
    static const enum csv_format format[] = { CSV_TABLE, CSV_COMMA, CSV_TAB };
    char path[] = "/tmp/table_test_XXXXXX";
    struct err err = { 0 };

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    for (size_t i = 0; i < 3; i++) {
        struct arena *arena = arena_new(0);
        bool tabs = format[i] == CSV_TAB;

        write_file(path, tabs ? "\u00e9\u4e2d\tab\td\tx\n"
                              : "a,b,c,d\n\u00e9\u4e2d,ab,d,x\n\"\u00e9\"\"\u00e9\",x,d,x\n");
        struct csv *csv = csv_open(arena, path, format[i], &err);
        assert_non_null(csv);
        assert_int_equal(csv_next(csv, &err), CSV_ROW);
        assert_int_equal(csv_pos(csv, 2).col, 7);
        assert_int_equal(csv_pos(csv, 0).col, 1);
        if (!tabs) {
            assert_int_equal(csv_next(csv, &err), CSV_ROW);
            assert_string_equal(csv_text(csv, 0), "\u00e9\"\u00e9");
            assert_int_equal(csv_pos(csv, 2).col, 10);
        }
        csv_close(csv);
        arena_free(arena);
    }
    assert_int_equal(remove(path), 0);
}

/* `{"\u00e9\u4e2d": "\\u00e9\u00e9", "n": x`: the key is at 2, the text at 8, the next key at
 * 19 and x at 24; what an escape stands for has no column.  A line of more than 1 MiB has a
 * hint how to break it. */
static void columns_of_json_count_characters(void **state)
{
    char path[] = "/tmp/table_test_XXXXXX";
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    char *wide = malloc((1 << 20) + 3);

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    write_file(path, "{\"\u00e9\u4e2d\": \"\\u00e9\u00e9\", \"n\": x\n");
    struct json *json = json_open(arena, path, &err);
    assert_int_equal(json_next(json, &err), JSON_OBJECT);
    assert_int_equal(json_next(json, &err), JSON_KEY);
    assert_int_equal(json_pos(json).col, 2);
    assert_int_equal(json_next(json, &err), JSON_TEXT);
    assert_int_equal(json_pos(json).col, 8);
    assert_int_equal(json_next(json, &err), JSON_KEY);
    assert_int_equal(json_pos(json).col, 19);
    assert_int_equal(json_next(json, &err), JSON_ERROR);
    assert_int_equal(err.pos.col, 24);
    json_close(json);
    assert_non_null(wide);
    memset(wide, ' ', (1 << 20) + 2);
    wide[(1 << 20) + 2] = '\0';
    write_file(path, wide);
    free(wide);
    err = (struct err){ 0 };
    json = json_open(arena, path, &err);
    assert_int_equal(json_next(json, &err), JSON_ERROR);
    assert_string_equal(err.text, "the line is longer than 1 MiB");
    assert_string_equal(err.hint, "Write it on many lines, as `jq . FILE > NEW` does.");
    json_close(json);
    arena_free(arena);
    assert_int_equal(remove(path), 0);
}

static void header_names_the_columns(void **state)
{
    (void)state;
    char out[64];
    char cut[5];

    assert_int_equal(table_header(columns, 4, out, sizeof out), 25);
    assert_string_equal(out, "job,gpus,wait_s,cost_usd\n");
    assert_int_equal(table_header(columns, 4, cut, sizeof cut), 25);
    assert_string_equal(cut, "job,");
    assert_int_equal(table_header(columns, 4, NULL, 0), 25);
}

/* In a cell, and as what its reader takes it for. */
static void same_in_a_cell(double value, const char *text)
{
    static const struct table_column column = {"x", TABLE_REAL, ""};
    struct table *table = table_new(&column, 1);
    double read = table_real_read(table, value);
    size_t count;
    const char *bytes;

    table_end_row(table);
    bytes = table_bytes(table, &count);
    assert_int_equal(count, strlen(text) + 1);
    assert_memory_equal(bytes, text, count - 1);
    assert_true(isinf(strtod(text, NULL)) || read == strtod(text, NULL));
    assert_false(read == 0 && signbit(read));
    table_free(table);
}

static void same_as_printf(double value)
{
    char ours[32];
    char theirs[64];

    snprintf(theirs, sizeof theirs, "%.9g", value);
    size_t bytes = table_format_real(value, ours);
    if (strcmp(ours, theirs) != 0)
        print_message("%a: %s, printf says %s\n", value, ours, theirs);
    assert_string_equal(ours, theirs);
    assert_int_equal(bytes, strlen(theirs));
    same_in_a_cell(value, value == 0 ? "0" : theirs);
}

static uint64_t next_word(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t word = *state;
    word ^= word >> 33;
    word *= UINT64_C(0xff51afd7ed558ccd);
    return word ^ word >> 29;
}

static void reals_equal_printf_at_the_corners(void **state)
{
    (void)state;
    static const double corners[] = {
        0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 1e-4, 9.9999e-5, 99999.99999e-9, 1e8,
        999999999.0, 1e9, 1e15, 1e16, 1e22, 1e23, 1e100, 123456789.5,
        123456788.5, 999999999.5, 999999998.5, 9999999995.0, 4294967295.0,
        4294967296.0, 100000000.5, 1234567890.0, 0.000123456789123,
        552.21, 1e-5, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
        0.30000000000000004, 2.5, 1e-300, 4.9406564584124654e-320,
    };
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++)
        same_as_printf(corners[i]);
    for (int e = -1074; e < 1024; e++) {
        same_as_printf(ldexp(1.0, e));
        same_as_printf(nextafter(ldexp(1.0, e), 0.0));
    }
    for (double p = 1e-300; p < 1e300; p *= 10.0) {
        same_as_printf(p);
        same_as_printf(nextafter(p, 0.0));
        same_as_printf(nextafter(p, INFINITY));
    }
}

static void reals_equal_printf_for_random_values(void **state)
{
    (void)state;
    uint64_t seed = 42;

    for (int i = 0; i < 1000000; i++) {
        uint64_t word = next_word(&seed);
        double value;
        if (i % 4 == 0) {               /* any bit pattern */
            memcpy(&value, &word, sizeof value);
            if (!isfinite(value))
                continue;
        } else if (i % 4 == 1) {        /* usual sizes */
            value = (double)(word >> 11) * 0x1p-53 *
                    pow(10.0, (double)(word % 30) - 12.0);
        } else if (i % 4 == 2) {        /* short decimals */
            value = (double)(word >> 40) / 1000.0;
        } else {                        /* halves: exact ties */
            value = (double)(word % 2000000000) + 0.5;
        }
        same_as_printf(value);
    }
}

static void cells_are_repeated_as_they_were_put(void **state)
{
    static const struct table_column two[] = {
        {"name", TABLE_TEXT, ""}, {"count", TABLE_COUNT, ""}};
    struct table *table = table_new(two, 2);
    const char *bytes;
    char kept[16];
    size_t count, all;

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {      /* the second row is not the first */
        table_text(table, i == 0 ? "x" : "a,b");
        count = table_begun(table, &bytes);
        memcpy(kept, bytes, count);
        table_count(table, i);
        table_end_row(table);
    }
    table_repeat(table, kept, count, 1);
    table_count(table, 2);
    table_end_row(table);
    bytes = table_bytes(table, &all);
    assert_int_equal(all, strlen("x,0\n\"a,b\",1\n\"a,b\",2\n"));
    assert_memory_equal(bytes, "x,0\n\"a,b\",1\n\"a,b\",2\n", all);
    table_free(table);
}

static void texts_of_any_length_are_kept(void **state)
{
    static const struct table_column one[] = {{"name", TABLE_TEXT, ""}};
    char text[81], wanted[2 * sizeof text];

    (void)state;
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        for (size_t quote = 0; quote <= bytes; quote++) {
            struct table *table = table_new(one, 1);
            memset(text, 'a', sizeof text);
            text[bytes] = '\0';
            if (quote < bytes)
                text[quote] = ',';
            table_text(table, text);
            table_end_row(table);
            sprintf(wanted, quote < bytes ? "\"%s\"\n" : "%s\n", text);
            check_rows(table, wanted);
            table_free(table);
        }
    }
}

static void cells_at_once_are_those_one_by_one(void **state)
{
    static const struct table_column four[] = {
        {"name", TABLE_TEXT, ""}, {"a", TABLE_REAL, ""},
        {"b", TABLE_REAL, ""}, {"c", TABLE_REAL, ""}};
    const double value[] = {0.5, -0.0, 12345678.25};
    struct table *table = table_new(four, 4);

    (void)state;
    table_number(table, 18446744073709551615u);
    table_reals(table, value, 3);
    table_end_row(table);
    table_number(table, 7);
    table_real(table, value[0]);
    table_reals(table, value + 1, 2);
    table_end_row(table);
    check_rows(table, "18446744073709551615,0.5,0,12345678.2\n"
                      "7,0.5,0,12345678.2\n");
    table_free(table);
}

static void whole_seconds_are_told_from_others(void **state)
{
    static const struct table_column one[] = {{"wait_s", TABLE_TIME, ""}};
    static const struct {
        int64_t ns;
        const char *text;
    } row[] = {
        {0, "0\n"}, {1, "0.000000001\n"}, {9000000000, "9\n"},
        {10000000000, "10\n"}, {-1000000000, "-1\n"},
        {-500000000, "-0.5\n"}, {999999999, "0.999999999\n"},
        {INT64_C(9223372036000000000), "9223372036\n"},
        {INT64_C(9223372036854775806), "9223372036.854775806\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct table *table = table_new(one, 1);
        table_time(table, row[i].ns);
        table_end_row(table);
        check_rows(table, row[i].text);
        table_free(table);
    }
}

/* A stream that stays open, as standard output does, has all that was written when it is closed:
 * what comes after by other ways stands behind it. */
static void a_stream_that_stays_open_is_written_out(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    char path[] = "/tmp/clustersim-test-XXXXXX", text[64] = "";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w"), *again;
    struct err err = { 0 };

    (void)state;
    assert_non_null(file);
    struct out *out = out_stream(arena, "standard output", file);
    out_text(out, "first\n");
    assert_true(out_close(out, &err));
    assert_int_equal(write(fd, "second\n", 7), 7);
    again = fopen(path, "r");
    assert_int_equal(fread(text, 1, sizeof text - 1, again), 13);
    assert_string_equal(text, "first\nsecond\n");
    fclose(again);
    fclose(file);
    unlink(path);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_repeated_as_they_were_put),
        cmocka_unit_test(texts_of_any_length_are_kept),
        cmocka_unit_test(cells_at_once_are_those_one_by_one),
        cmocka_unit_test(whole_seconds_are_told_from_others),
        cmocka_unit_test(a_table_that_forgets_begins_a_row_anew),
        cmocka_unit_test(rows_hold_their_cells_in_order),
        cmocka_unit_test(texts_are_quoted_only_where_they_must_be),
        cmocka_unit_test(formulas_have_an_apostrophe_and_numbers_have_none),
        cmocka_unit_test(guarded_texts_are_read_back_as_they_were),
        cmocka_unit_test(a_cut_table_has_its_first_columns),
        cmocka_unit_test(a_plain_text_stands_as_it_is),
        cmocka_unit_test(columns_of_csv_count_characters),
        cmocka_unit_test(columns_of_json_count_characters),
        cmocka_unit_test(header_names_the_columns),
        cmocka_unit_test(a_stream_that_stays_open_is_written_out),
        cmocka_unit_test(reals_equal_printf_at_the_corners),
        cmocka_unit_test(reals_equal_printf_for_random_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
