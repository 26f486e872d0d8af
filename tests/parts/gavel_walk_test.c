/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel_walk_test.c - the walk through a JSON of Gavel's throughputs: what a visitor is told, in
 * which order; and a file that ends early, or has other things in it, is refused at its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/json.h"
#include "tests/aid/scratch.h"
#include "workloads/jobs/gavel_rates.h"

/* What was told, one line each. */
struct told {
    char text[1024];
    const char *refuses;        /* a key whose rate the visitor does not take; NULL: none */
};

static bool wants(void *self, const char *type)
{
    (void)self;
    return strcmp(type, "k80") != 0;
}

static bool note_rate(void *self, struct json *json, const char *type, const char *key,
                      double rate)
{
    struct told *told = self;
    size_t at = strlen(told->text);

    (void)json;
    snprintf(told->text + at, sizeof told->text - at, "%s %s %g\n", type, key, rate);
    return told->refuses == NULL || strcmp(told->refuses, key) != 0;
}

static bool walk(struct scratch *scratch, const char *text, struct told *told, struct err *err)
{
    const struct gavel_visit visit = { wants, note_rate, NULL };

    scratch_write(scratch, "g.json", text);
    told->text[0] = '\0';
    *err = (struct err){ 0 };
    return gavel_rates_read(scratch->arena, scratch_path(scratch, "g.json"), &visit, told, err);
}

static const char whole[] =
    "{\"v100\": {\"('A', 1)\": {\"null\": 2.5, \"('B', 1)\": [1.0, 2.0]}, \"('A', 2)\": "
    "{\"('B', 2)\": [0.5, 0.25], \"null\": 4}}, \"k80\": {\"('A', 1)\": {\"null\": 7}}, "
    "\"p100\": {\"('C', 1)\": {\"null\": 0.125}}}";

static void rates_alone_are_told_of_the_types_that_are_wanted(void **state)
{
    struct told told = { .refuses = NULL };
    struct err err;

    assert_true(walk(*state, whole, &told, &err));
    assert_string_equal(told.text, "v100 ('A', 1) 2.5\nv100 ('A', 2) 4\np100 ('C', 1) 0.125\n");
    assert_true(walk(*state, "{}", &told, &err) && told.text[0] == '\0');
    assert_true(walk(*state, "{\"v100\": {}, \"k80\": 1}", &told, &err) && told.text[0] == '\0');
}

/* Each strict beginning of the file is refused, at its last line. */
static void a_file_that_ends_early_is_refused(void **state)
{
    char text[sizeof whole];
    struct told told = { .refuses = NULL };
    struct err err;

    for (size_t bytes = 0; bytes + 1 < sizeof whole; bytes++) {
        snprintf(text, sizeof text, "%.*s", (int)bytes, whole);
        if (walk(*state, text, &told, &err) || err.kind == ERR_NONE)
            fail_msg("%zu bytes are taken", bytes);
        assert_true(err.pos.line <= 1);
    }
}

/* The refusal of the visitor ends the walk, and what is no object has no jobs. */
static void what_is_no_table_of_rates_is_refused(void **state)
{
    static const struct { const char *text; uint32_t line, col; } row[] = {
        { "[1]", 1, 1 }, { "1", 1, 1 }, { "null", 1, 1 },
        { "{\"v100\":\n[]}", 2, 1 }, { "{\"v100\":\n3}", 2, 1 }, { "{\"v100\":\nnull}", 2, 1 },
        { "{\"v100\": {\"('A', 1)\":\n[]}}", 2, 1 }, { "{\"v100\": {\"('A', 1)\":\n4}}", 2, 1 },
        { "{\"k80\":\n{\"a\" 1}}", 2, 2 }, { "{\"k80\":\n{]}", 2, 2 },
    };
    struct told told = { .refuses = NULL };
    struct err err;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (walk(*state, row[i].text, &told, &err) || err.kind == ERR_NONE)
            fail_msg("%s is taken", row[i].text);
        if (err.pos.line != row[i].line || err.pos.col != row[i].col)
            fail_msg("%s: at %u:%u", row[i].text, err.pos.line, err.pos.col);
        assert_true(told.text[0] == '\0');
    }
    told.refuses = "('A', 2)";
    assert_false(walk(*state, whole, &told, &err));
    assert_string_equal(told.text, "v100 ('A', 1) 2.5\nv100 ('A', 2) 4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rates_alone_are_told_of_the_types_that_are_wanted,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_ends_early_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_table_of_rates_is_refused, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
