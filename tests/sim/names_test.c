/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_test.c - texts that are kept once, against a list; the order of names with numbers,
 * against their parts compared one by one; names of files and folders.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/text/paths.h"
#include "sim/text/string_set.h"
#include "tests/aid/scratch.h"

/* Each text is new once, and has one address from then on; the caller's own may change. */
static void texts_are_kept_once(void **state)
{
    enum { TEXTS = 700 };
    static const char *kept[TEXTS];
    struct arena *arena = arena_new(0);
    struct string_set set = { 0 };
    size_t count = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "names", 0);
    for (int turn = 0; turn < 6000; turn++) {
        size_t i = rng_below(&rng, TEXTS);
        char text[20];
        bool is_new = false;
        snprintf(text, sizeof text, "%zu", i * 37 % 1000);
        const char *found = string_set_keep(&set, arena, text, turn % 3 ? &is_new : NULL);
        assert_string_equal(found, text);
        assert_ptr_not_equal(found, text);
        if (turn % 3)
            assert_true(is_new == (kept[i] == NULL));
        assert_true(kept[i] == NULL || kept[i] == found);
        count += kept[i] == NULL;
        kept[i] = found;
        assert_int_equal(set.count, count);
        assert_true(set.slots >= 2 * (set.count - 1) && (set.slots & (set.slots - 1)) == 0);
    }
    const char *empty = string_set_keep(&set, arena, "", NULL);
    assert_ptr_equal(string_set_keep(&set, arena, "", NULL), empty);
    arena_free(arena);
}

/* ---- order ---- */

struct part {
    bool number;
    unsigned long value;
    char character;
};

static size_t cut(const char *text, struct part *part)
{
    size_t n = 0;

    while (*text != '\0') {
        bool number = *text >= '0' && *text <= '9';
        char *end = (char *)text + 1;
        part[n++] = (struct part){ number, number ? strtoul(text, &end, 10) : 0, *text };
        text = end;
    }
    return n;
}

/* Part by part: numbers by their value, else by the first character; the shorter first; then, of
 * names that differ in zeros alone, the shorter text. */
static int plain_order(const char *a, const char *b)
{
    struct part x[20], y[20];
    size_t nx = cut(a, x), ny = cut(b, y);

    for (size_t i = 0; i < nx && i < ny; i++) {
        if (x[i].number && y[i].number && x[i].value != y[i].value)
            return x[i].value < y[i].value ? -1 : 1;
        if (!(x[i].number && y[i].number) && x[i].character != y[i].character)
            return (unsigned char)x[i].character < (unsigned char)y[i].character ? -1 : 1;
    }
    if (nx != ny)
        return nx < ny ? -1 : 1;
    if (strlen(a) != strlen(b))
        return strlen(a) < strlen(b) ? -1 : 1;
    return strcmp(a, b);
}

static int sign_of(int order)
{
    return (order > 0) - (order < 0);
}

static void numbers_in_names_are_compared_by_value(void **state)
{
    static const char *const pieces[] = { "a", "b", "0", "1", "9", "10", "00", "-", "\u00e9",
                                          "gpu" };
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "names", 0);
    for (int k = 0; k < 20000; k++) {
        char name[2][40] = { "", "" };
        for (int i = 0; i < 2; i++)
            for (uint64_t n = rng_below(&rng, 5); n > 0; n--)
                strcat(name[i], pieces[rng_below(&rng, 10)]);
        if (sign_of(string_set_order(name[0], name[1])) != sign_of(plain_order(name[0], name[1])))
            fail_msg("'%s' and '%s': %d", name[0], name[1], string_set_order(name[0], name[1]));
        assert_int_equal(string_set_order(name[0], name[0]), 0);
    }
    assert_true(string_set_order("gpu9", "gpu10") < 0 && string_set_order("a01", "a1") > 0);
}

/* ---- paths ---- */

static void names_are_put_together(void **state)
{
    static const struct { const char *file, *name, *beside; } beside[] = {
        { NULL, "a", "a" }, { "e.yaml", "a", "a" }, { "x/e.yaml", "a", "x/a" },
        { "/x/y/e.yaml", "../a", "/x/y/../a" }, { "x/e.yaml", "/a", "/a" },
        { "/e.yaml", "a", "/a" },
    };
    static const struct { const char *folder, *name, *joined; } join[] = {
        { "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "/b" }, { "/", "b", "/b" },
    };
    static const struct { const char *path, *stem; } stem[] = {
        { "a.csv", "a" }, { "x/a.csv", "a" }, { "x.y/a", "a" }, { "a.b.csv", "a.b" },
        { ".hidden", ".hidden" }, { "x/.hidden", ".hidden" }, { "a.", "a" }, { "x/", "" },
    };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < 6; i++)
        assert_string_equal(path_beside(scratch->arena, beside[i].file, beside[i].name),
                            beside[i].beside);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(path_join(scratch->arena, join[i].folder, join[i].name),
                            join[i].joined);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(path_stem(scratch->arena, stem[i].path), stem[i].stem);
    assert_string_equal(text_format(scratch->arena, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(text_format(scratch->arena, "%s", ""), "");
}

static bool is_named(const char *path, struct err *err)
{
    *err = (struct err){ 0 };
    return path_check_named(path, "file", (struct err_pos){ "e.yaml", 3, 4 }, err);
}

static void what_is_there_is_told(void **state)
{
    struct scratch *scratch = *state;
    struct err err;
    char folder[300], file[300], link_to[300], none[300];

    scratch_write(scratch, "file", "x");
    snprintf(folder, sizeof folder, "%s", scratch->dir);
    snprintf(file, sizeof file, "%s", scratch_path(scratch, "file"));
    snprintf(link_to, sizeof link_to, "%s", scratch_path(scratch, "link"));
    snprintf(none, sizeof none, "%s", scratch_path(scratch, "none"));
    assert_int_equal(symlink("file", link_to), 0);
    assert_true(path_is_folder(folder) && !path_is_folder(file) && !path_is_folder(none));
    assert_true(path_is_file(file) && path_is_file(link_to));
    assert_true(!path_is_file(folder) && !path_is_file(none));
    assert_true(path_same(file, link_to) && path_same(folder, folder));
    assert_true(!path_same(file, folder) && !path_same(file, none) && !path_same(none, none));
    assert_true(is_named(file, &err) && err.kind == ERR_NONE);
    assert_false(is_named(folder, &err));
    assert_non_null(strstr(err.text, "which is a folder"));
    assert_int_equal(err.pos.line, 3);
    assert_false(is_named(none, &err));
    assert_non_null(strstr(err.text, "which is not there"));
    strcat(file, "/x");
    assert_false(is_named(file, &err));
    assert_non_null(strstr(err.text, "file names the file '"));
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* All folders on the way are made; one that is there is as good, and a file is not. */
static void folders_are_made_with_those_on_the_way(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    char path[300], long_name[5000];
    mode_t mask = umask(0);

    snprintf(path, sizeof path, "%s", scratch_path(scratch, "a/b/c"));
    assert_true(path_make_folder(path, &err));
    assert_true(path_make_folder(path, &err));
    assert_int_equal(mode_of(path), 0777);
    snprintf(path, sizeof path, "%s", scratch_path(scratch, "own/d/"));
    assert_true(path_make_own_folder(path, &err));
    assert_int_equal(mode_of(path), 0700);
    umask(mask);
    scratch_write(scratch, "file", "x");
    snprintf(path, sizeof path, "%s", scratch_path(scratch, "file/d"));
    assert_false(path_make_folder(path, &err));
    assert_non_null(strstr(err.text, "cannot make the folder '"));
    assert_non_null(strstr(err.text, strerror(ENOTDIR)));
    err = (struct err){ 0 };
    assert_false(path_make_folder("", &err));
    assert_string_equal(err.text, "name of the folder is empty or too long");
    memset(long_name, 'x', sizeof long_name);
    long_name[4096] = '\0';
    err = (struct err){ 0 };
    assert_false(path_make_folder(long_name, &err));
    assert_string_equal(err.text, "name of the folder is empty or too long");
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_kept_once),
        cmocka_unit_test(numbers_in_names_are_compared_by_value),
        TEST(names_are_put_together), TEST(what_is_there_is_told),
        TEST(folders_are_made_with_those_on_the_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
