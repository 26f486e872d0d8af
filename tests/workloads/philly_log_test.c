/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * philly_log_test.c - the job log of Philly, job by job: rows by hand, and every value in the
 * place of every other, of which those that do not belong there are refused where they stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "tests/aid/scratch.h"
#include "workloads/logs/philly.h"

struct rows {
    int count;
    char text[8][PHILLY_COLUMNS][130];
    uint32_t line[8][PHILLY_COLUMNS];
    enum csv_step end;
    struct err err;
};

static void read_log(struct scratch *scratch, const char *text, struct rows *rows)
{
    struct arena *arena = arena_new(1 << 14);
    struct csv_field field[PHILLY_COLUMNS];
    struct csv_source source;

    memset(rows, 0, sizeof *rows);
    scratch_write(scratch, "log", text);
    assert_true(philly_open(arena, scratch_path(scratch, "log"), &source, &rows->err));
    while ((rows->end = source.next(source.self, field, &rows->err)) == CSV_ROW) {
        assert_true(rows->count < 8);
        for (int i = 0; i < PHILLY_COLUMNS; i++) {
            assert_int_equal(field[i].bytes, strlen(field[i].text));
            strcpy(rows->text[rows->count][i], field[i].text);
            rows->line[rows->count][i] = field[i].line;
        }
        rows->count++;
    }
    assert_true((rows->end == CSV_ERROR) == (rows->err.kind != ERR_NONE));
    source.close(source.self);
    arena_free(arena);
}

/* Of three attempts: 90 s on 2 + 1 GPUs; one without an end, on 4; 30 s on none.  The second job
 * has nothing but an empty list and keys that nobody reads.  Of the fifth, two attempts end before
 * they start; it says where the first of them stands. */
static void a_row_adds_its_attempts_up(void **state)
{
    static const char text[] = "[{\"jobid\": \"a\", \"vc\": \"v\", \"user\": null,\n"
        "\"status\": \"Pass\", \"submitted_time\": \"2017-10-07 01:00:00\",\n\"attempts\": [\n"
        "{\"start_time\": \"2017-10-07 01:10:00\", \"end_time\": \"2017-10-07 01:11:30\",\n"
        "\"detail\": [{\"ip\": \"m1\", \"gpus\": [\"g0\", \"g1\"]}, {\"gpus\": [\"g7\"], "
        "\"more\": [1, {\"gpus\": [\"x\"]}]}]},\n"
        "{\"detail\": [{\"gpus\": [\"a\", \"b\", \"c\", \"d\"]}], \"start_time\": "
        "\"2017-10-07 02:00:00\", \"end_time\": null},\n"
        "{\"start_time\": \"2017-10-07 03:00:00\", \"end_time\": \"2017-10-07 03:00:30\", "
        "\"detail\": []}]},\n"
        "{\"attempts\": [], \"other\": {\"jobid\": \"z\"}, \"jobid\": 17, \"user\": \"None\"},\n"
        "{\"jobid\": \"c\", \"attempts\": [{\"start_time\": \"2017-10-07 03:00:00\"}]},\n"
        "{\"jobid\": \"d\", \"attempts\": [{\"end_time\": \"2017-10-07 03:00:00\"}, {}]},\n"
        "{\"jobid\": \"e\",\n\"attempts\": [{\"start_time\": \"2017-10-07 03:00:00\"},\n"
        "{\"start_time\": \"2017-10-07 03:00:09\", \"end_time\": \"2017-10-07 03:00:02\"},\n"
        "{\"start_time\": \"2017-10-08 00:00:00\", \"end_time\": \"2017-10-07 23:59:59\"},\n"
        "{\"start_time\": \"2017-10-07 03:00:00\", \"end_time\": \"2017-10-07 03:00:05\", "
        "\"detail\": [{\"gpus\": [\"g\"]}]}]}]\n";
    static const char *const expected[5][PHILLY_COLUMNS] = {
        { "a", "2017-10-07 01:00:00", "v", "", "Pass", "120", "4", "3", "1", "0" },
        { "17", "", "", "", "", "0", "0", "0", "0", "0" },
        { "c", "", "", "", "", "0", "0", "1", "1", "1" },
        { "d", "", "", "", "", "0", "0", "2", "2", "0" },
        { "e", "", "", "", "", "-7", "1", "4", "1", "0" },
    };
    /* Where a value stands; of what is added up, the list of attempts; of what is absent, the
     * job. */
    static const uint32_t line[5][PHILLY_COLUMNS] = {
        { 1, 2, 1, 1, 2, 3, 3, 3, 3, 3 }, { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 },
        { 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 }, { 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 },
        { 11, 11, 11, 11, 11, 13, 12, 12, 12, 12 },
    };
    struct rows rows;

    read_log(*state, text, &rows);
    assert_true(rows.end == CSV_END && rows.count == 5);
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < PHILLY_COLUMNS; i++)
            if (strcmp(rows.text[r][i], expected[r][i]) != 0 || rows.line[r][i] != line[r][i])
                fail_msg("row %d, column %d: '%s' in line %u", r, i, rows.text[r][i],
                         rows.line[r][i]);
}

/* A log with one value to a line; %s: the value whose turn it is. */
enum kind { TEXT = 1, NUMBER = 2, NONE = 4, DATE = 8, LIST = 16, OBJECT = 32, TRUTH = 64 };
static const struct place {
    const char *before, *usual;
    int takes;
} place[] = {
    { "[{\"jobid\":\n", "\"a\"", TEXT | NUMBER | NONE | DATE },
    { ",\"vc\":\n", "\"v\"", TEXT | NUMBER | NONE | DATE },
    { ",\"user\":\n", "\"u\"", TEXT | NUMBER | NONE | DATE },
    { ",\"status\":\n", "\"Pass\"", TEXT | NUMBER | NONE | DATE },
    { ",\"submitted_time\":\n", "null", TEXT | NUMBER | NONE | DATE },
    { ",\"unread\":\n", "null", ~0 },
    { ",\"attempts\": [{\"start_time\":\n", "null", NONE | DATE },
    { ",\"end_time\":\n", "null", NONE | DATE },
    { ",\"unread\":\n", "null", ~0 },
    { ",\"detail\":\n", "[]", LIST },
    { "}, {\"detail\": [{\"gpus\":\n", "[]", LIST },
    { ",\"ip\":\n", "null", ~0 },
    { "}, {\"gpus\": [\n", "\"g\"", TEXT | DATE },
    { "]}]},\n", "{}", OBJECT },
    { "]},\n", "{}", OBJECT },
};
#define PLACES (sizeof place / sizeof place[0])
static const struct { const char *text; int kind; } value[] = {
    { "\"word\"", TEXT }, { "5", NUMBER }, { "null", NONE }, { "\"2017-10-07 01:11:39\"", DATE },
    { "[]", LIST }, { "{}", OBJECT }, { "true", TRUTH }, { "false", TRUTH },
};

static void every_value_in_every_place(void **state)
{
    for (size_t p = 0; p < PLACES; p++)
        for (size_t v = 0; v < sizeof value / sizeof value[0]; v++) {
            char text[1024];
            struct rows rows;
            int at = 0;
            uint32_t line = 0;

            for (size_t i = 0; i < PLACES; i++) {
                at += sprintf(text + at, "%s%s", place[i].before,
                              i == p ? value[v].text : place[i].usual);
                line = i == p ? (uint32_t)(i + 2) : line;
            }
            sprintf(text + at, "]\n");
            read_log(*state, text, &rows);
            bool takes = (place[p].takes & value[v].kind) != 0;
            if (takes != (rows.end == CSV_END) || (takes && rows.count != 2))
                fail_msg("place %zu, %s: %d rows, %s", p, value[v].text, rows.count,
                         rows.err.text);
            if (!takes && rows.err.pos.line != line)
                fail_msg("place %zu, %s: refused in line %u, not %u: %s", p, value[v].text,
                         rows.err.pos.line, line, rows.err.text);
        }
}

/* Wherever the file ends too early, an error says so. */
static void a_log_that_is_cut_is_refused(void **state)
{
    char text[1024];
    size_t bytes = 0;

    for (size_t i = 0; i < PLACES; i++)
        bytes += (size_t)sprintf(text + bytes, "%s%s", place[i].before, place[i].usual);
    sprintf(text + bytes, "]\n");
    for (size_t end = 0; end <= bytes; end++) {
        char cut[1024];
        struct rows rows;

        memcpy(cut, text, end);
        cut[end] = '\0';
        read_log(*state, cut, &rows);
        if (rows.end != CSV_ERROR)
            fail_msg("accepted: %s", cut);
    }
}

/* What one job has does not stay for the next; behind the list there is nothing. */
static void a_job_begins_without_what_the_last_one_had(void **state)
{
    static const char full[] = "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-07 01:00:00\", "
        "\"vc\": \"v\", \"user\": \"u\", \"status\": \"Pass\", \"attempts\": [{\"start_time\": "
        "\"2017-10-07 01:00:00\", \"end_time\": \"2017-10-07 00:59:00\"}, {\"start_time\": "
        "\"2017-10-07 01:00:00\", \"detail\": [{\"gpus\": [\"g\"]}]}]}";
    static const char *const empty[] = { "", "", "", "", "", "0", "0", "0", "0", "0" };
    char text[1000];
    struct rows rows;

    sprintf(text, "[%s, {}]", full);
    read_log(*state, text, &rows);
    assert_true(rows.end == CSV_END && rows.count == 2);
    assert_string_equal(rows.text[0][PHILLY_OPEN], "1");
    for (int i = 0; i < PHILLY_COLUMNS; i++)
        assert_string_equal(rows.text[1][i], empty[i]);
    read_log(*state, "[{}]\n 5", &rows);
    assert_true(rows.end == CSV_ERROR && rows.err.pos.line == 2 && rows.err.pos.col == 2);
    assert_string_equal(rows.err.text, "the end of the file is expected here");
}

/* 127 bytes are the longest text; an attempt that ends when it starts adds nothing, and one that
 * ends before leaves no run time. */
static void bounds_are_where_they_are_said(void **state)
{
    char text[400], name[200];
    struct rows rows;

    for (size_t bytes = 126; bytes <= 130; bytes++) {
        memset(name, 'n', bytes);
        name[bytes] = '\0';
        sprintf(text, "[{\"jobid\": \"%s\"}]", name);
        read_log(*state, text, &rows);
        assert_true((rows.end == CSV_END) == (bytes <= 127));
        if (bytes > 127)
            assert_string_equal(rows.err.text, "text is longer than 127 bytes");
        else
            assert_string_equal(rows.text[0][PHILLY_JOB], name);
    }
    for (int s = 38; s <= 40; s++) {
        sprintf(text, "[{\"attempts\": [{\"start_time\": \"2017-10-07 01:11:39\", "
                "\"end_time\": \"2017-10-07 01:11:%d\"}]}]", s);
        read_log(*state, text, &rows);
        assert_true(rows.end == CSV_END && rows.count == 1);
        assert_string_equal(rows.text[0][PHILLY_RUN], s == 38 ? "-1" : s == 39 ? "0" : "1");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_adds_its_attempts_up, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(every_value_in_every_place, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_log_that_is_cut_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_job_begins_without_what_the_last_one_had, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(bounds_are_where_they_are_said, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
