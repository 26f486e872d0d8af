/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_blanks_test.c - lines cut at blanks, against a cut by strtok, and at commas, against
 * one by strchr; names of columns in a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/text/csv.h"
#include "sim/text/csv_blanks.h"
#include "sim/text/csv_commas.h"
#include "sim/text/scan.h"

#define LINE_MAX_BYTES 300u
#define FIELDS 200u

static void same_as_strtok(const char *text, size_t max)
{
    char line[LINE_MAX_BYTES + SCAN_SLACK], copy[LINE_MAX_BYTES];
    struct csv_field field[FIELDS];
    size_t wanted = 0;
    char *left = NULL;

    memset(line, 'x', sizeof line);     /* what stands behind is not read on */
    strcpy(line, text);
    strcpy(copy, text);
    size_t count = blanks_split(line, field, max);
    for (char *next = strtok_r(copy, " \t\r", &left); next != NULL;
         next = strtok_r(NULL, " \t\r", &left), wanted++) {
        if (wanted >= max)
            continue;
        assert_string_equal(field[wanted].text, next);
        assert_int_equal(field[wanted].bytes, strlen(next));
        assert_int_equal(field[wanted].col, (size_t)(next - copy) + 1);
        assert_int_equal(field[wanted].line, 0);
    }
    assert_int_equal(count, wanted);
}

static void lines_are_cut_as_strtok_cuts_them(void **state)
{
    static const char plain[] = "0123456789-.", odd[] = "\t\r\x01\x1f\xc3\xa9!";
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, "lines", 0);
    for (unsigned round = 0; round < 20000; round++) {
        char text[LINE_MAX_BYTES];
        size_t bytes = rng_u64(&rng) % (LINE_MAX_BYTES - 1);
        unsigned blanks = (unsigned)(rng_u64(&rng) % 100);
        unsigned odds = round % 4 == 0 ? (unsigned)(rng_u64(&rng) % 4) : 0;

        for (size_t i = 0; i < bytes; i++) {
            uint64_t lot = rng_u64(&rng);
            text[i] = lot % 100 < blanks ? ' '
                      : lot / 100 % 100 < odds
                          ? odd[lot / 10000 % (sizeof odd - 1)]
                          : plain[lot / 10000 % (sizeof plain - 1)];
        }
        text[bytes] = '\0';
        same_as_strtok(text, 1 + rng_u64(&rng) % FIELDS);
    }
}

static void fields_may_end_with_a_block_of_64(void **state)
{
    char text[LINE_MAX_BYTES];

    (void)state;
    for (size_t bytes = 0; bytes < LINE_MAX_BYTES - 1; bytes++) {
        memset(text, 'a', bytes);
        text[bytes] = '\0';
        same_as_strtok(text, 3);
        for (size_t at = 0; at < bytes; at++) {     /* one blank, anywhere */
            text[at] = at % 3 == 0 ? '\t' : ' ';
            same_as_strtok(text, 1);
            same_as_strtok(text, 3);
            text[at] = 'a';
        }
    }
}

/* Up to the field in which a mark stands, or 64 characters before it. */
static void same_as_strchr(const char *text, size_t max)
{
    char line[LINE_MAX_BYTES + SCAN_SLACK], *rest;
    struct csv_field field[FIELDS];
    const char *at = text, *mark = strpbrk(text, "\"'");
    size_t wanted = 0;

    memset(line, ',', sizeof line);     /* what stands behind is not read on */
    strcpy(line, text);
    size_t count = commas_split(line, strlen(text), field, max, &rest);
    assert_true((rest != NULL) == (mark != NULL));
    for (; at != NULL && (rest == NULL || at < text + (rest - line)); wanted++) {
        const char *comma = strchr(at, ',');
        size_t bytes = comma != NULL ? (size_t)(comma - at) : strlen(at);

        if (wanted < max) {
            assert_int_equal(field[wanted].bytes, bytes);
            assert_int_equal(strlen(field[wanted].text), bytes);
            assert_memory_equal(field[wanted].text, at, bytes);
            assert_int_equal(field[wanted].col, (size_t)(at - text) + 1);
        }
        at = comma != NULL ? comma + 1 : NULL;
    }
    assert_int_equal(count, wanted);
    if (rest == NULL)
        return;
    assert_ptr_equal(at, text + (rest - line));         /* a field begins there */
    assert_string_equal(rest, at);                      /* and is as it was */
    assert_true(at <= mark);
}

static void lines_are_cut_as_strchr_cuts_them(void **state)
{
    static const char plain[] = "0123456789-. =+\t\x01\xc3\xa9";
    struct rng rng;

    (void)state;
    rng_init(&rng, 8, "commas", 0);
    for (unsigned round = 0; round < 20000; round++) {
        char text[LINE_MAX_BYTES];
        size_t bytes = rng_u64(&rng) % (LINE_MAX_BYTES - 1);
        unsigned commas = (unsigned)(rng_u64(&rng) % 100);

        for (size_t i = 0; i < bytes; i++) {
            uint64_t lot = rng_u64(&rng);
            text[i] = lot % 100 < commas ? ',' : plain[lot / 100 % (sizeof plain - 1)];
        }
        if (round % 4 == 0 && bytes > 0)
            text[rng_u64(&rng) % bytes] = round % 8 == 0 ? '"' : '\'';
        text[bytes] = '\0';
        same_as_strchr(text, 1 + rng_u64(&rng) % FIELDS);
    }
}

static void last_field_takes_the_rest(void **state)
{
    char line[LINE_MAX_BYTES] = "  1\t {2,  3}  a b =  c \r";
    struct csv_field field[3];

    (void)state;
    assert_int_equal(blanks_split_rest(line, field, 3), 3);
    assert_string_equal(field[0].text, "1");
    assert_string_equal(field[1].text, "{2,");
    assert_string_equal(field[2].text, "3}  a b =  c");
    assert_int_equal(field[2].bytes, 12);
    assert_int_equal(field[2].col, 11);
    strcpy(line, "only two ");
    assert_int_equal(blanks_split_rest(line, field, 3), 2);
    assert_string_equal(field[1].text, "two");
    strcpy(line, " \t");
    assert_int_equal(blanks_split_rest(line, field, 3), 0);
}

/* Into room of any size: all of it, or what fits and three dots. */
static void a_list_of_columns_keeps_to_its_room(void **state)
{
    static const char whole[] = "a, bcd, eeeeeeeeeeeeeeeeeeeeeeee, f, gg";
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    char path[] = "/tmp/csv_blanks_test.XXXXXX", room[80];
    int made = mkstemp(path);

    (void)state;
    assert_int_equal(write(made, whole, sizeof whole - 1), sizeof whole - 1);
    assert_int_equal(close(made), 0);
    struct csv *csv = csv_open(arena, path, CSV_COMMA, &err);
    assert_int_equal(unlink(path), 0);
    assert_non_null(csv);
    for (size_t bytes = 9; bytes < sizeof room; bytes++) {
        memset(room, '#', sizeof room);
        csv_list(csv, room, bytes);
        size_t used = strlen(room);
        assert_true(used < bytes);
        for (size_t i = bytes; i < sizeof room; i++)
            assert_int_equal(room[i], '#');
        if (bytes >= sizeof whole + 5)  /* room for the dots, too */
            assert_string_equal(room, whole);
        else if (strcmp(room, whole) != 0)
            assert_string_equal(room + used - 3, "...");
    }
    csv_close(csv);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_as_strtok_cuts_them),
        cmocka_unit_test(fields_may_end_with_a_block_of_64),
        cmocka_unit_test(lines_are_cut_as_strchr_cuts_them),
        cmocka_unit_test(last_field_takes_the_rest),
        cmocka_unit_test(a_list_of_columns_keeps_to_its_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
