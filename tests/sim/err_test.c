/* SPDX-License-Identifier: GPL-3.0-or-later */
/* err_test.c - errors show the place in the user's own file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/err.h"

struct place {
    char folder[64];
    char path[96];
};

static int make_folder(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->folder, sizeof place->folder, "/tmp/err_test.XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return -1;
    snprintf(place->path, sizeof place->path, "%s/a.yaml", place->folder);
    *state = place;
    return 0;
}

static int drop_folder(void **state)
{
    struct place *place = *state;

    unlink(place->path);
    rmdir(place->folder);
    free(place);
    return 0;
}

static void write_file(const struct place *place, const char *text)
{
    FILE *file = fopen(place->path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* What err_format shows after "<path>". */
static char *shown(const struct place *place, uint32_t line, uint32_t col,
                   char out[2048])
{
    struct err err = {.kind = ERR_NONE};

    err_set(&err, ERR_SCHEMA, (struct err_pos){place->path, line, col}, "t");
    assert_true(err_format(&err, out, 2048) < 2048);
    assert_memory_equal(out, place->path, strlen(place->path));
    return out + strlen(place->path);
}

static void message_shows_the_line_with_a_caret(void **state)
{
    struct place *place = *state;
    struct err err = {.kind = ERR_NONE};
    char out[1024];

    write_file(place, "a: 1\nseeed: 2\r\nc: 3\n");
    assert_false(err_set(&err, ERR_SCHEMA, (struct err_pos){place->path, 2, 1},
                         "unrecognized key '%s'", "seeed"));
    assert_false(err_hint(&err, "Did you mean 'seed'?"));
    size_t wanted = err_format(&err, out, sizeof out);
    assert_int_equal(wanted, strlen(out));
    assert_string_equal(out + strlen(place->path),
                        ":2:1: schema error: unrecognized key 'seeed'\n"
                        "    2 | seeed: 2\n"
                        "      | ^\n"
                        "hint: Did you mean 'seed'?\n");
}

static void caret_stands_under_tabs_and_wide_characters(void **state)
{
    struct place *place = *state;
    char out[2048];

    write_file(place, "\tk: v\n\xE6\x97\xA5\xE6\x9C\xAC: v\nn\xC3\xA9: v\na\tk: v\n"
                      "abcd\tk: v\n");
    assert_string_equal(shown(place, 1, 5, out),
                        ":1:5: schema error: t\n"
                        "    1 |     k: v\n"
                        "      |        ^\n");
    assert_string_equal(shown(place, 2, 5, out),
                        ":2:5: schema error: t\n"
                        "    2 | \xE6\x97\xA5\xE6\x9C\xAC: v\n"
                        "      |       ^\n");
    assert_string_equal(shown(place, 3, 5, out),
                        ":3:5: schema error: t\n"
                        "    3 | n\xC3\xA9: v\n"
                        "      |     ^\n");
    /* A tab goes on to the next column that is a multiple of four. */
    assert_string_equal(shown(place, 4, 3, out),
                        ":4:3: schema error: t\n"
                        "    4 | a   k: v\n"
                        "      |     ^\n");
    assert_string_equal(shown(place, 5, 6, out),
                        ":5:6: schema error: t\n"
                        "    5 | abcd    k: v\n"
                        "      |         ^\n");
}

/* The character of the shown line above the caret. */
static char above_caret(char *out)
{
    char *line = strchr(out, '\n') + 1;
    char *marks = strchr(line, '\n') + 1;
    assert_true(strlen(line) < 300);
    return line[strchr(marks, '^') - marks];
}

static void long_lines_are_clipped_around_the_caret(void **state)
{
    struct place *place = *state;
    char out[2048];
    size_t bytes = 1000000;
    char *text = malloc(bytes + 1);

    memset(text, 'x', bytes);
    text[bytes] = '\0';
    static const uint32_t places[] = {1, 60, 90, 100, 2000, 4095, 4096, 4097,
                                      6144, 500000, 999990, 1000000};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        text[places[i] - 1] = '!';
        write_file(place, text);
        assert_int_equal(above_caret(shown(place, 1, places[i], out)), '!');
        text[places[i] - 1] = 'x';
    }
    free(text);
}

static void place_beyond_the_end_shows_no_wrong_line(void **state)
{
    struct place *place = *state;
    char out[2048];

    write_file(place, "a: 1\n");
    assert_string_equal(shown(place, 9, 1, out), ":9:1: schema error: t\n");
    assert_string_equal(shown(place, 1, 99, out),
                        ":1:99: schema error: t\n"
                        "    1 | a: 1\n"
                        "      |     ^\n");
    assert_string_equal(shown(place, 0, 0, out), ": schema error: t\n");
}

static void unreadable_files_leave_the_message_whole(void **state)
{
    struct place *place = *state;
    char out[2048];

    unlink(place->path);
    assert_string_equal(shown(place, 1, 1, out), ":1:1: schema error: t\n");
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_string_equal(shown(place, 1, 1, out), ":1:1: schema error: t\n");
    rmdir(place->path);
    assert_int_equal(mkfifo(place->path, 0600), 0);
    assert_string_equal(shown(place, 1, 1, out), ":1:1: schema error: t\n");
    unlink(place->path);
    write_file(place, "\x1F\x8B compressed\n");
    assert_string_equal(shown(place, 1, 3, out), ":1:3: schema error: t\n");
}

/* Lines of a file are shown unless it begins as gzip or zstd do: with all of their bytes. */
static void packed_files_are_not_shown(void **state)
{
    static const char *const packed[] = { "\x1F\x8B", "\x28\xB5\x2F\xFD" };
    struct place *place = *state;
    char out[2048], text[8];

    for (int k = 0; k < 2; k++)
        for (size_t bytes = 1; bytes <= strlen(packed[k]); bytes++)
            for (int more = 0; more < 2; more++) {
                snprintf(text, sizeof text, "%.*s%s", (int)bytes, packed[k], more ? "b" : "");
                write_file(place, text);
                bool is_shown = strchr(shown(place, 1, 1, out), '|') != NULL;
                if (is_shown == (bytes == strlen(packed[k])))
                    fail_msg("form %d, %zu bytes and %d more", k, bytes, more);
            }
}

static void first_failure_wins(void **state)
{
    (void)state;
    struct err err = {.kind = ERR_NONE};
    struct err_pos none = {0};

    err_set(&err, ERR_RANGE, none, "first");
    err_set(&err, ERR_IO, none, "second");
    err_hint(&err, "One.");
    err_hint(&err, "Two.");
    assert_int_equal(err.kind, ERR_RANGE);
    assert_string_equal(err.text, "first");
    assert_string_equal(err.hint, "One.");
}

static void quoted_input_cannot_move_the_cursor(void **state)
{
    struct place *place = *state;
    struct err err = {.kind = ERR_NONE};
    char out[2048];

    err_set(&err, ERR_SCHEMA, (struct err_pos){0}, "key '%s'", "\x1B[2Jx\n");
    assert_string_equal(err.text, "key '?[2Jx?'");
    write_file(place, "\x1B[2J: 1\n\xFF\x80zz\n");
    assert_string_equal(shown(place, 1, 1, out),
                        ":1:1: schema error: t\n"
                        "    1 | ?[2J: 1\n"
                        "      | ^\n");
    assert_null(strchr(shown(place, 2, 2, out), '\xFF'));
}

static void long_text_is_not_cut_within_a_character(void **state)
{
    (void)state;
    char word[601] = "";

    for (size_t i = 0; i < 200; i++)
        strcat(word, "\xE2\x82\xAC");
    for (int shift = 0; shift < 3; shift++) {
        struct err err = {.kind = ERR_NONE};
        err_set(&err, ERR_IO, (struct err_pos){0}, "%.*s%s", shift, "abc",
                word);
        assert_int_equal((strlen(err.text) - (size_t)shift) % 3, 0);
        assert_true(strlen(err.text) >= sizeof err.text - 4);
    }
}

/* Two of three bytes of the euro sign, and a byte that begins a character that never comes. */
static void a_word_that_is_cut_within_a_character_stays_text(void **state)
{
    struct err err = {.kind = ERR_NONE};

    (void)state;
    err_set(&err, ERR_IO, (struct err_pos){0}, "%.4s, %s", "ab\xE2\x82\xAC", "\xC8");
    assert_string_equal(err.text, "ab??, ?");
}

/* At every place within a character of two, three and four bytes, the first and the last of each
 * length: whole characters are left, and as many as there is room for. */
static void a_cut_leaves_whole_characters(void **state)
{
    static const char *const characters[] = { "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80",
        "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF" };
    char word[800];

    (void)state;
    for (size_t c = 0; c < 6; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            struct err err = {.kind = ERR_NONE};
            size_t bytes = strlen(characters[c]);
            size_t room = (sizeof err.text - 1 - shift) / bytes * bytes + shift;
            memset(word, 'a', shift);
            word[shift] = '\0';
            while (strlen(word) < sizeof word - 5)
                strcat(word, characters[c]);
            assert_true(strlen(word) > sizeof err.text);
            err_set(&err, ERR_IO, (struct err_pos){0}, "%s", word);
            assert_int_equal(strlen(err.text), room);
            assert_memory_equal(err.text, word, room);
        }
}

static void short_buffer_reports_the_bytes_it_wanted(void **state)
{
    (void)state;
    struct err err = {.kind = ERR_NONE};
    char whole[256];
    char cut[10];

    err_set(&err, ERR_USAGE, (struct err_pos){0}, "too many words");
    size_t wanted = err_format(&err, whole, sizeof whole);
    assert_int_equal(err_format(&err, NULL, 0), wanted);
    assert_int_equal(err_format(&err, cut, sizeof cut), wanted);
    assert_string_equal(whole, "usage error: too many words\n");
    assert_string_equal(cut, "usage err");
}

static void every_kind_has_its_exit_status(void **state)
{
    (void)state;
    assert_int_equal(err_exit_status(ERR_NONE), 0);
    assert_int_equal(err_exit_status(ERR_USAGE), 2);
    assert_int_equal(err_exit_status(ERR_SYNTAX), 3);
    assert_int_equal(err_exit_status(ERR_SCHEMA), 3);
    assert_int_equal(err_exit_status(ERR_RANGE), 3);
    assert_int_equal(err_exit_status(ERR_REFERENCE), 3);
    assert_int_equal(err_exit_status(ERR_IO), 4);
    assert_int_equal(err_exit_status(ERR_POLICY), 5);
    assert_int_equal(err_exit_status(ERR_LIMIT), 5);
    assert_int_equal(err_exit_status(ERR_INTERRUPTED), 130);
    assert_int_equal(err_exit_status(ERR_BUG), 70);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

/* What an err held before it was cleared by its kind is not told with the next failure. */
static void a_failure_has_nothing_of_one_before(void **state)
{
    struct err err = {.kind = ERR_NONE, .pos = {"old", 7, 8}, .text = "old", .hint = "Old.",
                      .fault = FAULT_MISSING, .key = "old"};

    (void)state;
    assert_false(err_set(&err, ERR_RANGE, (struct err_pos){"new", 1, 2}, "new %d", 3));
    assert_int_equal(err.kind, ERR_RANGE);
    assert_string_equal(err.pos.file, "new");
    assert_int_equal(err.pos.line, 1);
    assert_int_equal(err.pos.col, 2);
    assert_string_equal(err.text, "new 3");
    assert_string_equal(err.hint, "");
    assert_int_equal(err.fault, FAULT_OTHER);
    assert_null(err.key);
    assert_false(err_hint(&err, "Do %s.", "this"));
    assert_false(err_hint(&err, "Do that."));
    assert_string_equal(err.hint, "Do this.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(message_shows_the_line_with_a_caret),
        IN_FOLDER(caret_stands_under_tabs_and_wide_characters),
        IN_FOLDER(long_lines_are_clipped_around_the_caret),
        IN_FOLDER(place_beyond_the_end_shows_no_wrong_line),
        IN_FOLDER(unreadable_files_leave_the_message_whole),
        IN_FOLDER(packed_files_are_not_shown),
        cmocka_unit_test(first_failure_wins),
        cmocka_unit_test(a_failure_has_nothing_of_one_before),
        IN_FOLDER(quoted_input_cannot_move_the_cursor),
        cmocka_unit_test(long_text_is_not_cut_within_a_character),
        cmocka_unit_test(a_word_that_is_cut_within_a_character_stays_text),
        cmocka_unit_test(a_cut_leaves_whole_characters),
        cmocka_unit_test(short_buffer_reports_the_bytes_it_wanted),
        cmocka_unit_test(every_kind_has_its_exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
