/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line_test.c - messages to a program: escapes, numbers and commas, against texts that were
 * written by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/exec/line.h"

static void assert_line(const struct line *line, const char *expected)
{
    assert_int_equal(line->used, strlen(expected));
    assert_memory_equal(line->text, expected, line->used);
}

static void text_is_escaped_wherever_it_must_be(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        { "", "\"\"" }, { "a", "\"a\"" }, { "\"", "\"\\\"\"" }, { "\\\\", "\"\\\\\\\\\"" },
        { "\"a\"", "\"\\\"a\\\"\"" }, { "a\nb\x1f", "\"a\\u000ab\\u001f\"" },
        { "\tx\"", "\"\\u0009x\\\"\"" }, { "m\xc3\xbcsli\x7f", "\"m\xc3\xbcsli\x7f\"" },
    };
    struct line line = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        line_clear(&line);
        line_text(&line, cases[i].text);
        assert_line(&line, cases[i].written);
    }
    line_clear(&line);
    line_words(&line, "strict skip", 6);
    assert_line(&line, "\"strict\"");
    line_free(&line);
}

static void numbers_are_written_in_full(void **state)
{
    struct line line = { 0 };

    (void)state;
    line_raw(&line, "{");
    line_int_of(&line, "least", INT64_MIN);
    line_int_of(&line, "most", INT64_MAX);
    line_int_of(&line, "none", 0);
    line_real_of(&line, "tenth", 0.1);
    line_real_of(&line, "never", INFINITY);
    assert_line(&line, "{\"least\":-9223372036854775808,\"most\":9223372036854775807,"
                       "\"none\":0,\"tenth\":0.10000000000000001,\"never\":null");
    line_free(&line);
}

static void commas_stand_between_items(void **state)
{
    struct line line = { 0 };

    (void)state;
    line_key(&line, "none_before_the_first");
    line_raw(&line, "[");
    for (int i = 0; i < 3; i++) {
        line_item(&line);
        line_raw(&line, "{");
        line_int_of(&line, "i", -i);
        line_text_of(&line, "of", "x");
        line_raw(&line, "}");
    }
    assert_line(&line, "\"none_before_the_first\":[{\"i\":0,\"of\":\"x\"},{\"i\":-1,\"of\":\"x\"},"
                       "{\"i\":-2,\"of\":\"x\"}");
    line_free(&line);
}

/* The buffer grows in the middle of each kind of value. */
static void a_line_grows_as_it_must(void **state)
{
    struct line line = { 0 };
    size_t bytes = 0;

    (void)state;
    line_raw(&line, "[");
    for (int i = 0; i < 3000; i++) {
        line_item(&line);
        line_int(&line, INT64_MIN);
        line_key(&line, "k");
        line_text(&line, "\"");
        bytes += strlen(",-9223372036854775808,\"k\":\"\\\"\"");
    }
    assert_int_equal(line.used, bytes);
    assert_true(line.room > line.used);
    line_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped_wherever_it_must_be),
        cmocka_unit_test(numbers_are_written_in_full),
        cmocka_unit_test(commas_stand_between_items),
        cmocka_unit_test(a_line_grows_as_it_must),
    };

    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
