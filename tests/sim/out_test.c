/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_test.c - files that are there whole or not at all: their names while they are written, what
 * was there before, disks that are full, and texts that are escaped.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "tests/aid/scratch.h"

static bool is_there(struct scratch *scratch, const char *name)
{
    struct stat st;

    return lstat(scratch_path(scratch, name), &st) == 0;
}

static void has_text(struct scratch *scratch, const char *name, const char *text)
{
    char *found = scratch_read(scratch, name);

    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

static struct out *open_here(struct scratch *scratch, const char *name)
{
    struct err err = { 0 };
    struct out *out = out_open(scratch->arena, scratch_path(scratch, name), &err);

    if (out == NULL)
        fail_msg("%s", err.text);
    return out;
}

/* While it is written it is NAME.tmp, and what was there before stays until it is closed. */
static void a_file_takes_its_name_at_its_end(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };

    for (int fast = 0; fast < 2; fast++) {
        scratch_write(scratch, "a", "old");
        struct out *out = open_here(scratch, "a");
        out_text(out, "new ");
        out_printf(out, "%d+%s", 1, "2");
        out_bytes(out, "xyz", 1);
        out_bytes(out, NULL, 0);
        assert_true(is_there(scratch, "a.tmp"));
        assert_false(is_there(scratch, "a.1.tmp"));
        has_text(scratch, "a", "old");
        assert_true(out_good(out, &err));
        assert_true(fast ? out_close_fast(out, &err) : out_close(out, &err));
        has_text(scratch, "a", "new 1+2x");
        assert_false(is_there(scratch, "a.tmp"));
    }
}

/* Names that others have are passed over: NAME.tmp, NAME.1.tmp, NAME.2.tmp; a link is one, and
 * nothing is written where it leads. */
static void names_that_exist_are_passed_over(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    const char *part;
    int folder = open(scratch->dir, O_RDONLY | O_DIRECTORY);

    scratch_write(scratch, "b.tmp", "theirs");
    scratch_write(scratch, "aim", "aim");
    assert_int_equal(symlink("aim", scratch_path(scratch, "b.1.tmp")), 0);
    struct out *out = open_here(scratch, "b");
    out_text(out, "b");
    assert_true(is_there(scratch, "b.2.tmp"));
    assert_true(out_close(out, &err));
    has_text(scratch, "b", "b");
    has_text(scratch, "b.tmp", "theirs");
    has_text(scratch, "aim", "aim");
    int fd = out_part(scratch->arena, folder, "c", &part);
    assert_true(fd >= 0);
    assert_string_equal(part, "c.tmp");
    close(fd);
    fd = out_part(scratch->arena, folder, "c", &part);
    assert_true(fd >= 0);
    assert_string_equal(part, "c.1.tmp");
    close(fd);
    fd = out_part(scratch->arena, folder, "none/c", &part);
    assert_int_equal(fd, -1);
    assert_int_equal(errno, ENOENT);
    close(folder);
}

/* A link of the name is replaced, and not followed. */
static void a_link_is_replaced(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    struct stat st;

    scratch_write(scratch, "aim", "aim");
    assert_int_equal(symlink("aim", scratch_path(scratch, "l")), 0);
    struct out *out = open_here(scratch, "l");
    out_text(out, "new");
    assert_true(out_close(out, &err));
    has_text(scratch, "aim", "aim");
    has_text(scratch, "l", "new");
    assert_int_equal(lstat(scratch_path(scratch, "l"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;

    scratch_write(scratch, "a", "old");
    struct out *out = open_here(scratch, "a");
    out_text(out, "new");
    out_abandon(out);
    assert_false(is_there(scratch, "a.tmp"));
    has_text(scratch, "a", "old");
    out_abandon(out);
    out_abandon(NULL);
}

static void files_of_a_folder_are_written_in_it(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    char path[300];

    snprintf(path, sizeof path, "%s", scratch_path(scratch, "f"));
    struct folder *folder = folder_make(scratch->arena, path, &err);
    if (folder == NULL)
        fail_msg("%s", err.text);
    struct out *out = out_in(scratch->arena, folder, "x.csv", &err);
    assert_non_null(out);
    assert_true(is_there(scratch, "f/x.csv.tmp"));
    out_text(out, "1");
    assert_true(out_close(out, &err));
    has_text(scratch, "f/x.csv", "1");
    folder_close(folder);
}

/* The first failure is what is said, with the file's name; nothing is left, and what was there
 * stays. */
static void a_full_disk_is_an_error(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    char block[70000];
    struct out *out;

    if (access("/dev/full", W_OK) != 0) {
        print_message("skip: no /dev/full\n");
        skip();
    }
    memset(block, 'x', sizeof block);
    out = out_open(scratch->arena, "/dev/full", &err);
    assert_non_null(out);
    out_bytes(out, block, sizeof block);
    assert_false(out_good(out, &err));
    assert_string_equal(err.text, "cannot be written: No space left on device");
    assert_string_equal(err.pos.file, "/dev/full");
    assert_int_equal(err.kind, ERR_IO);
    err = (struct err){ 0 };
    assert_false(out_close(out, &err));
    assert_string_equal(err.text, "cannot be written: No space left on device");
    /* What stands in a buffer is tried when the file is closed. */
    err = (struct err){ 0 };
    out = out_open(scratch->arena, "/dev/full", &err);
    out_text(out, "x");
    assert_true(out_good(out, &err));
    assert_false(out_close(out, &err));
}

/* A folder that is not there, and one that stands where the file is to be. */
static void what_cannot_be_made_is_said(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };

    assert_null(out_open(scratch->arena, scratch_path(scratch, "no/a"), &err));
    assert_string_equal(err.text, "cannot be written: No such file or directory");
    err = (struct err){ 0 };
    assert_int_equal(mkdir(scratch_path(scratch, "d"), 0777), 0);
    assert_null(out_open(scratch->arena, scratch_path(scratch, "d"), &err));
    assert_string_equal(err.text, "cannot be written: Is a directory");
    /* One that comes in between, and cannot be replaced. */
    struct out *out = open_here(scratch, "late");
    out_text(out, "x");
    assert_int_equal(mkdir(scratch_path(scratch, "late"), 0777), 0);
    err = (struct err){ 0 };
    assert_false(out_close(out, &err));
    assert_string_equal(err.text, "cannot be written: Is a directory");
    assert_false(is_there(scratch, "late.tmp"));
}

/* A stream stays open, and is never renamed; an open file by its name is written in place. */
static void open_files_are_written_in_place(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    char name[40];
    FILE *file = fopen(scratch_path(scratch, "s"), "wb");
    struct out *out = out_stream(scratch->arena, "the stream", file);

    out_text(out, "1");
    assert_true(out_close(out, &err));
    has_text(scratch, "s", "1");
    assert_true(fputs("2", file) >= 0);
    out = out_stream(scratch->arena, "the stream", file);
    out_text(out, "3");
    out_abandon(out);
    assert_int_equal(fflush(file), 0);
    has_text(scratch, "s", "123");
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(file));
    out = out_open(scratch->arena, name, &err);
    assert_non_null(out);
    out_text(out, "4");
    assert_true(out_close(out, &err));
    char *text = scratch_read(scratch, "s");
    assert_true(text != NULL && text[0] == '4');
    free(text);
    fclose(file);
}

/* Messages call a stream by the name that it was given. */
static void a_stream_has_a_name_in_messages(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    FILE *file = fopen("/dev/full", "wb");

    if (file == NULL) {
        print_message("skip: no /dev/full\n");
        skip();
    }
    struct out *out = out_stream(scratch->arena, "the stream", file);
    out_text(out, "x");
    assert_false(out_close(out, &err));
    assert_string_equal(err.pos.file, "the stream");
    fclose(file);
}

static char *escaped(struct scratch *scratch, void (*put)(struct out *, const char *),
                     const char *text)
{
    struct err err = { 0 };
    struct out *out = open_here(scratch, "e");

    put(out, text);
    assert_true(out_close(out, &err));
    return scratch_read(scratch, "e");
}

/* Each character alone: what has a meaning, what is not printed, and all others as they are. */
static void characters_are_escaped(void **state)
{
    static const struct { const char *text, *json, *html, *latex; } row[] = {
        { "", "\"\"", "", "" },
        { "a b", "\"a b\"", "a b", "a b" },
        { "\"", "\"\\\"\"", "&quot;", "''" },
        { "\\", "\"\\\\\"", "\\", "\\textbackslash{}" },
        { "\x01", "\"\\u0001\"", " ", " " },
        { "\n", "\"\\u000a\"", " ", " " },
        { "\x1f", "\"\\u001f\"", " ", " " },
        { "\x7f", "\"\x7f\"", " ", " " },
        { "~", "\"~\"", "~", "\\textasciitilde{}" },
        { "&", "\"&\"", "&amp;", "\\&" },
        { "<", "\"<\"", "&lt;", "\\textless{}" },
        { ">", "\">\"", "&gt;", "\\textgreater{}" },
        { "'", "\"'\"", "&#39;", "'" },
        { "_%#$", "\"_%#$\"", "_%#$", "\\_\\%\\#\\$" },
        { "{}^|", "\"{}^|\"", "{}^|", "\\{\\}\\textasciicircum{}\\textbar{}" },
        { "\u00b1\u2020\u2021", "\"\u00b1\u2020\u2021\"", "\u00b1\u2020\u2021",
          "$\\pm$\\textdagger{}\\textdaggerdbl{}" },
        { "\u00e9\u20ac", "\"\u00e9\u20ac\"", "\u00e9\u20ac", "\u00e9\u20ac" },
    };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char *json = escaped(scratch, out_json_text, row[i].text);
        char *html = escaped(scratch, out_html_text, row[i].text);
        char *latex = escaped(scratch, out_latex_text, row[i].text);
        assert_string_equal(json, row[i].json);
        assert_string_equal(html, row[i].html);
        assert_string_equal(latex, row[i].latex);
        free(json);
        free(html);
        free(latex);
    }
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_file_takes_its_name_at_its_end), TEST(names_that_exist_are_passed_over),
        TEST(a_link_is_replaced), TEST(what_is_abandoned_leaves_nothing),
        TEST(files_of_a_folder_are_written_in_it), TEST(a_full_disk_is_an_error),
        TEST(what_cannot_be_made_is_said), TEST(open_files_are_written_in_place),
        TEST(a_stream_has_a_name_in_messages), TEST(characters_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
