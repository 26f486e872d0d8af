/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_look_test.c - how the lines of a file are laid out, beside a plain count over texts that
 * are drawn by lot, plain and packed, and longer than one block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "sim/base/rng.h"
#include "sim/text/scan_look.h"
#include "tests/aid/scratch.h"

#define BYTES_MAX 200000
#define MARK "\xEF\xBB\xBF"

static void write_text(const char *path, int how, const char *text, size_t bytes)
{
    size_t room = ZSTD_compressBound(bytes);
    char *packed = malloc(room + 1);

    if (how == 1) {
        gzFile file = gzopen(path, "wb1");
        assert_true(gzwrite(file, text, (unsigned)bytes) == (int)bytes);
        assert_int_equal(gzclose(file), Z_OK);
    } else {
        size_t packed_bytes = how == 2 ? ZSTD_compress(packed, room, text, bytes, 1) : bytes;
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_true(fwrite(how == 2 ? packed : text, 1, packed_bytes, file) == packed_bytes);
        assert_int_equal(fclose(file), 0);
    }
    free(packed);
}

/* Line by line, from what each is made of. */
static struct scan_look look_plainly(const char *text, size_t bytes)
{
    struct scan_look look = { .mark = bytes >= 3 && memcmp(text, MARK, 3) == 0 };
    const char *at = text + (look.mark ? 3 : 0), *end = text + bytes;
    char first = '\0', last = '\0';

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop != NULL ? stop : end) - at), blanks = 0;

        for (size_t i = 0; i < length; i++) {
            if (strchr(" \t\r", at[i]) != NULL) {
                blanks++;
                continue;
            }
            first = first == '\0' ? at[i] : first;
            last = at[i];
        }
        look.lines++;
        look.blank += blanks == length;
        look.returns += stop != NULL && length > 0 && at[length - 1] == '\r';
        look.open_end = stop == NULL;
        at += length + 1;
    }
    if ((first == '{' && last == '}') || (first == '[' && last == ']'))
        look.open_end = false;
    return look;
}

static void compare(struct scratch *scratch, int how, const char *text, size_t bytes)
{
    const char *path = scratch_path(scratch, "text");
    struct scan_look look, plain = look_plainly(text, bytes);
    struct err err = { 0 };

    write_text(path, how, text, bytes);
    assert_true(scan_look(path, &look, &err));
    if (look.lines != plain.lines || look.returns != plain.returns ||
        look.blank != plain.blank || look.mark != plain.mark || look.open_end != plain.open_end)
        fail_msg("way %d, '%.40s' (%zu bytes): %d lines, %d returns, %d blank, %d, %d", how, text,
                 bytes, (int)look.lines, (int)look.returns, (int)look.blank, look.mark,
                 look.open_end);
}

static void short_texts_are_counted_line_by_line(void **state)
{
    static const char letters[] = "a \t\r\n\n{}[]";
    struct rng rng;
    char text[16];

    rng_init(&rng, 1, "look", 0);
    for (int i = 0; i < 1200; i++) {
        size_t mark = rng_below(&rng, 4) == 0 ? 3 : 0, bytes = mark + rng_below(&rng, 9);
        memcpy(text, MARK, mark);
        for (size_t b = mark; b < bytes; b++)
            text[b] = letters[rng_below(&rng, sizeof letters - 1)];
        text[bytes] = '\0';
        compare(*state, i % 3, text, bytes);
    }
}

/* A mark counts at the beginning of the file alone, not at that of a block. */
static void long_texts_go_on_in_the_next_block(void **state)
{
    static const char *const pieces[] = { "a,b\r\n", "\n", " \t\r\n", "word ", MARK, "x\r" };
    char *text = malloc(BYTES_MAX + 64);
    struct rng rng;

    rng_init(&rng, 2, "look", 0);
    for (int i = 0; i < 24; i++) {
        size_t bytes = 0, until = 65000 + rng_below(&rng, BYTES_MAX - 65000);
        while (bytes < until) {
            const char *piece = pieces[rng_below(&rng, 6)];
            memcpy(text + bytes, piece, strlen(piece));
            bytes += strlen(piece);
        }
        if (i % 4 == 0)
            memcpy(text + 65536, MARK, 3);
        compare(*state, i % 3, text, bytes);
    }
    free(text);
}

/* By hand: the last line of a JSON needs no end, unless it is cut. */
static void json_that_is_closed_has_its_end(void **state)
{
    static const struct {
        const char *text;
        bool open;
    } row[] = {
        { "", false }, { "a", true }, { "a\n", false }, { "{}", false }, { "[\n]", false },
        { "{\"a\": 1", true }, { "[1, 2", true }, { "{]", true }, { "[}", true }, { "a}", true },
        { "a]", true }, { " [1] ", false }, { "{}\n\t{}", false }, { " ", true },
    };
    struct scan_look look;
    struct err err = { 0 };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        scratch_write(*state, "text", row[i].text);
        assert_true(scan_look(scratch_path(*state, "text"), &look, &err));
        if (look.open_end != row[i].open)
            fail_msg("'%s': %d", row[i].text, look.open_end);
    }
}

static void what_cannot_be_read_again_says_so(void **state)
{
    const char *path = scratch_path(*state, "none");
    struct scan_look look;
    struct err err = { 0 };

    assert_false(scan_look(path, &look, &err));
    assert_true(err.kind == ERR_IO && err.pos.line == 0 && err.pos.col == 0);
    assert_string_equal(err.text, "cannot read the file again");
    /* Packed data that end before their end. */
    char text[4000], packed[5000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i * i % 23);
    size_t bytes = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);
    write_text(path, 0, packed, bytes / 2);
    memset(&err, 0, sizeof err);
    assert_false(scan_look(path, &look, &err));
    assert_string_equal(err.text, "cannot read the file again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_texts_are_counted_line_by_line, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(long_texts_go_on_in_the_next_block, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(json_that_is_closed_has_its_end, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_again_says_so, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
