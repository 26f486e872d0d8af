/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json_test.c - JSON token by token: texts drawn by a seed, written with what each token must
 * be and where it stands, read from a file and from a line; and what is no JSON.
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
#include "sim/text/json.h"
#include "tests/aid/scratch.h"

#define TOKENS 4000

struct token {
    enum json_token kind;
    char text[40];              /* of a key, a text or a number */
    uint32_t line, column;      /* columns count characters */
    size_t end;                 /* of a bracket that opens: the token that closes it */
};

struct written {
    char text[100000];
    size_t bytes, tokens;
    uint32_t line, column;
    bool lines;                 /* may it go on in the next line? */
    struct rng rng;
    struct token token[TOKENS];
};

static void put(struct written *w, const char *text)
{
    for (; *text != '\0'; text++) {
        w->text[w->bytes++] = *text;
        if (*text == '\n')
            w->line++, w->column = 1;
        else
            w->column += ((unsigned char)*text & 0xC0) != 0x80;
    }
    w->text[w->bytes] = '\0';
}

/* A file may have a carriage return at the end of a line alone. */
static void put_blanks(struct written *w, bool breaks)
{
    static const char *const blank[] = { " ", "\t", "  ", "\r", "\r\n", "\n", "\n\n" };

    while (rng_below(&w->rng, 3) == 0) {
        size_t i = rng_below(&w->rng, 7);
        if (i < 3 || (i == 3 ? !w->lines : w->lines && breaks))
            put(w, blank[i]);
    }
}

static size_t note(struct written *w, enum json_token kind, const char *text)
{
    struct token *t = &w->token[w->tokens];

    assert_true(w->tokens < TOKENS);
    *t = (struct token){ .kind = kind, .line = w->line, .column = w->column };
    snprintf(t->text, sizeof t->text, "%s", text);
    return w->tokens++;
}

/* Pieces of texts: as they are written, and what they mean.  Two characters of UTF-8 are one
 * column each; what has no character of its own becomes a question mark. */
static const char *const pieces[][2] = {
    { "a", "a" }, { "Zz", "Zz" }, { " ", " " }, { "\\\"", "\"" }, { "\\\\", "\\" }, { "\\/", "/" },
    { "/", "/" }, { "\\b", "\b" }, { "\\f", "\f" }, { "\\n", "\n" }, { "\\r", "\r" },
    { "\\t", "\t" }, { "\\u0041", "A" }, { "\\u007f", "\x7f" }, { "\\u0080", "\xc2\x80" },
    { "\\u00fF", "\u00ff" }, { "\\u07ff", "\u07ff" }, { "\\u0800", "\u0800" },
    { "\\uffff", "\xef\xbf\xbf" }, { "\\u20AC", "\u20ac" }, { "\\u0000", "?" },
    { "\\ud7ff", "\xed\x9f\xbf" }, { "\\ud800", "?" }, { "\\udfff", "?" }, { "\\ue000", "\ue000" },
    { "\u00e9", "\u00e9" }, { "\u20ac", "\u20ac" }, { "\U0001F600", "\U0001F600" }, { ":", ":" },
    { "{", "{" }, { "]", "]" }, { ",", "," }, { "\\u0001", "\x01" },
};

static void put_text(struct written *w, enum json_token kind)
{
    char written[60] = "\"", means[60] = "";

    for (uint64_t n = rng_below(&w->rng, 5); n > 0; n--) {
        size_t i = rng_below(&w->rng, sizeof pieces / sizeof pieces[0]);
        strcat(written, pieces[i][0]);
        strcat(means, pieces[i][1]);
    }
    strcat(written, "\"");
    note(w, kind, means);
    put(w, written);
}

static void put_value(struct written *w, unsigned depth)
{
    static const char *const numbers[] = { "0", "-1", "12.5", "1e3", "2E-3", "-0.25e+2", "7" };
    static const char *const words[] = { "true", "false", "null" };
    uint64_t what = rng_below(&w->rng, depth < 6 ? 8 : 4), i;

    if (what < 2) {
        put_text(w, JSON_TEXT);
    } else if (what == 2) {
        i = rng_below(&w->rng, 7);
        note(w, JSON_NUMBER, numbers[i]);
        put(w, numbers[i]);
    } else if (what == 3) {
        i = rng_below(&w->rng, 3);
        note(w, (enum json_token[]){ JSON_TRUE, JSON_FALSE, JSON_NULL }[i], "");
        put(w, words[i]);
    } else {
        bool array = what < 6;
        size_t open = note(w, array ? JSON_ARRAY : JSON_OBJECT, "");
        put(w, array ? "[" : "{");
        for (uint64_t n = rng_below(&w->rng, 4); n > 0; n--) {
            put_blanks(w, true);
            if (!array) {
                put_text(w, JSON_KEY);
                put_blanks(w, false);
                put(w, ":");
                put_blanks(w, true);
            }
            put_value(w, depth + 1);
            put_blanks(w, true);
            if (n > 1)
                put(w, ",");
        }
        put_blanks(w, true);
        w->token[open].end = note(w, array ? JSON_ARRAY_END : JSON_OBJECT_END, "");
        put(w, array ? "]" : "}");
    }
}

static void write_values(struct written *w, uint64_t seed, bool lines)
{
    w->bytes = w->tokens = 0;
    w->line = w->column = 1;
    w->lines = lines;
    rng_init(&w->rng, seed, "json", 0);
    for (uint64_t n = rng_below(&w->rng, 4); n < 5; n++) {
        put_blanks(w, true);
        put_value(w, 0);
        put(w, " ");
    }
    put_blanks(w, true);
}

/* Reads all tokens; some values are passed over as one. */
static void check_values(struct written *w, struct json *json, uint32_t number, bool skips)
{
    struct err err = { 0 };

    for (size_t i = 0; i < w->tokens; i++) {
        const struct token *t = &w->token[i];
        enum json_token found = json_next(json, &err);
        struct err_pos pos = json_pos(json);
        if (found != t->kind)
            fail_msg("token %zu is %d, not %d (%s) in %s", i, found, t->kind, err.text, w->text);
        if (pos.line != (number > 0 ? number : t->line) || pos.col != t->column)
            fail_msg("token %zu at %u:%u, not %u:%u, in %s", i, pos.line, pos.col, t->line,
                     t->column, w->text);
        if (found == JSON_KEY || found == JSON_TEXT || found == JSON_NUMBER) {
            size_t bytes;
            const char *text = json_text(json, &bytes);
            assert_int_equal(bytes, strlen(t->text));
            assert_memory_equal(text, t->text, bytes);
        }
        if (skips && found != JSON_KEY && found != JSON_ARRAY_END && found != JSON_OBJECT_END &&
            rng_below(&w->rng, 2)) {
            assert_true(json_skip(json, found, &err));
            i = t->end > 0 ? t->end : i;
        }
    }
    assert_int_equal(json_next(json, &err), JSON_END);
    assert_int_equal(json_next(json, &err), JSON_END);
}

static void tokens_of_a_file_are_what_was_written(void **state)
{
    static struct written w;
    struct scratch *scratch = *state;

    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct err err = { 0 };
        write_values(&w, seed, true);
        scratch_write(scratch, "x.json", w.text);
        struct json *json = json_open(scratch->arena, scratch_path(scratch, "x.json"), &err);
        assert_non_null(json);
        check_values(&w, json, 0, seed % 2);
        json_close(json);
    }
    json_close(NULL);
}

/* One json reads line after line, also behind one that it did not read to its end. */
static void tokens_of_lines_are_what_was_written(void **state)
{
    static struct written w;
    struct arena *arena = arena_new(0);
    struct json *json = json_new(arena);

    (void)state;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        struct err err = { 0 };
        char line[100000], broken[] = "[{\"\u00e9\": [1,";
        write_values(&w, seed, false);
        json_line(json, broken, 7);
        for (uint32_t i = 0; i < seed % 6; i++)
            assert_true(json_next(json, &err) != JSON_ERROR);
        strcpy(line, w.text);
        json_line(json, line, seed + 3);
        check_values(&w, json, seed + 3, seed % 2);
    }
    arena_free(arena);
}

struct fault { const char *text, *said; uint32_t line, column; };

/* The place is that of the token that is wrong, or of the last that was right. */
static const struct fault faults[] = {
    { "[1, 2", "file ends within a bracket", 1, 5 },
    { "{\"a\": 1,\n", "file ends within a bracket", 1, 8 },
    { "[1 2]", "a comma or the end of the bracket is expected", 1, 4 },
    { "[1}", "a comma or the end of the bracket is expected", 1, 3 },
    { "{\"a\": 1]", "a comma or the end of the bracket is expected", 1, 8 },
    { "[,1]", "a JSON value is expected", 1, 2 },
    { "[1,]", "a JSON value is expected", 1, 4 },
    { "[1,\n  trUe]", "a JSON value is expected", 2, 3 },
    { "[nul]", "a JSON value is expected", 1, 2 },
    { "[truee]", "a JSON value is expected", 1, 2 },
    { "[1x]", "a JSON value is expected", 1, 2 },
    { "]", "a JSON value is expected", 1, 1 },
    { "{1: 2}", "a key in quotation marks is expected", 1, 2 },
    { "{\"a\": 1, }", "a key in quotation marks is expected", 1, 10 },
    { "{\"a: 1}", "a key in quotation marks is expected", 1, 2 },
    { "{\"a\" 1}", "a colon is expected after the key", 1, 2 },
    { "{\"a\"\n: 1}", "a colon is expected after the key", 1, 2 },
    { "[\"\u00e9\", \"ab", "text does not end in its line", 1, 7 },
    { "\"ab\\q\"", "has an escape that JSON does not know", 1, 1 },
    { "\"ab\\", "has an escape that JSON does not know", 1, 1 },
    { "\"\\u12g4\"", "has an escape that JSON does not know", 1, 1 },
    { "\"\\u123", "has an escape that JSON does not know", 1, 1 },
};

static void what_is_no_json_is_refused_at_its_place(void **state)
{
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct err err = { 0 };
        enum json_token found = JSON_NULL;
        scratch_write(scratch, "x.json", faults[i].text);
        const char *path = arena_text(scratch->arena, scratch_path(scratch, "x.json"));
        struct json *json = json_open(scratch->arena, path, &err);
        for (int k = 0; k < 20 && found != JSON_ERROR && found != JSON_END; k++)
            found = json_next(json, &err);
        if (found != JSON_ERROR || strstr(err.text, faults[i].said) == NULL ||
            err.pos.line != faults[i].line || err.pos.col != faults[i].column)
            fail_msg("%s: %u:%u: %s", faults[i].text, err.pos.line, err.pos.col, err.text);
        assert_string_equal(err.pos.file, path);
        json_close(json);
    }
}

/* 64 brackets may lie in each other; skipping passes all of them, and finds their faults. */
static void brackets_lie_64_deep(void **state)
{
    struct arena *arena = arena_new(0);
    struct json *json = json_new(arena);
    char line[200] = "";
    struct err err = { 0 };

    (void)state;
    for (int i = 0; i < 64; i++)
        strcat(line, "[");
    for (int i = 0; i < 64; i++)
        strcat(line, "]");
    strcat(line, "3");
    json_line(json, line, 1);
    assert_true(json_skip(json, json_next(json, &err), &err));
    assert_int_equal(json_next(json, &err), JSON_NUMBER);
    memset(line, '[', 65);
    json_line(json, line, 2);
    for (int i = 0; i < 64; i++)
        assert_int_equal(json_next(json, &err), JSON_ARRAY);
    assert_int_equal(json_next(json, &err), JSON_ERROR);
    assert_string_equal(err.text, "brackets lie deeper than 64");
    assert_int_equal(err.pos.col, 65);
    strcpy(line, "[[1, x]]");
    err = (struct err){ 0 };
    json_line(json, line, 3);
    assert_false(json_skip(json, json_next(json, &err), &err));
    assert_false(json_skip(json, JSON_ERROR, &err));
    strcpy(line, "[1");
    err = (struct err){ 0 };
    json_line(json, line, 4);
    assert_false(json_skip(json, json_next(json, &err), &err));
    assert_string_equal(err.text, "line ends within a bracket");
    arena_free(arena);
}

/* What is expected is said at the token that stands there; of an empty file, at the file. */
static void what_is_expected_is_said(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };

    scratch_write(scratch, "x.json", "{\"a\": 1}");
    scratch_write(scratch, "empty.json", " \n");
    struct json *json = json_open(scratch->arena, scratch_path(scratch, "x.json"), &err);
    assert_true(json_expect(json, JSON_OBJECT, "an object", &err));
    assert_true(json_expect(json, JSON_KEY, "a key", &err));
    assert_false(json_expect(json, JSON_TEXT, "a text", &err));
    assert_string_equal(err.text, "a text is expected here");
    assert_int_equal(err.pos.col, 7);
    json_close(json);
    err = (struct err){ 0 };
    const char *path = arena_text(scratch->arena, scratch_path(scratch, "empty.json"));
    json = json_open(scratch->arena, path, &err);
    assert_false(json_expect(json, JSON_OBJECT, "an object", &err));
    assert_string_equal(err.pos.file, path);
    json_close(json);
    err = (struct err){ 0 };
    assert_null(json_open(scratch->arena, scratch_path(scratch, "no.json"), &err));
    assert_int_equal(err.kind, ERR_IO);
}

/* A line that is too long is to be written on many; other faults have hints of their own. */
static void a_line_that_is_too_long_has_a_hint(void **state)
{
    static char text[(1 << 20) + 20];
    struct scratch *scratch = *state;

    for (int lines = 0; lines < 2; lines++) {
        struct err err = { 0 };
        memset(text, ' ', sizeof text - 1);
        strcpy(text, lines ? "[\r1]" : "[");
        if (!lines)
            text[1] = ' ';
        scratch_write(scratch, "x.json", text);
        struct json *json = json_open(scratch->arena, scratch_path(scratch, "x.json"), &err);
        enum json_token found = JSON_NULL;
        for (int k = 0; k < 5 && found != JSON_ERROR; k++)
            found = json_next(json, &err);
        assert_int_equal(found, JSON_ERROR);
        bool many = strstr(err.hint, "Write it on many lines, as `jq . FILE > NEW`") != NULL;
        assert_true(many == (lines == 0));
        json_close(json);
    }
}

static void numbers_are_those_of_the_grammar(void **state)
{
    static const char *const good[] = { "0", "-0", "10", "1.5", "-12.050", "1e5", "1E5", "1e+5",
                                        "1e-05", "0.5e0", "0e1", "9876543210" };
    static const char *const bad[] = { "", "-", "00", "01", "-01", "+1", ".5", "1.", "1.e5", "1e",
                                       "1e+", "e5", "1x", "1.5x", "1e5x", " 1", "1 ", "0x1",
                                       "nan", "--1", "1.5.2", "1-" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!json_is_number(good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (json_is_number(bad[i]))
            fail_msg("taken: %s", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tokens_of_a_file_are_what_was_written, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(tokens_of_lines_are_what_was_written),
        cmocka_unit_test_setup_teardown(what_is_no_json_is_refused_at_its_place, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(brackets_lie_64_deep),
        cmocka_unit_test_setup_teardown(what_is_expected_is_said, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_line_that_is_too_long_has_a_hint, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(numbers_are_those_of_the_grammar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
