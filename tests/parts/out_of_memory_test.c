/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_of_memory_test.c - memory that runs out at any one of the requests of a reader: the program
 * says so and ends (arena_run_out), or a file is refused with that reason; never is a file called
 * damaged, and nothing is read that is not there.
 *
 * The requests are counted on their way through this program, with glibc; each number of requests
 * is tried in a process of its own.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "tests/aid/scratch.h"

static long left = -1;          /* requests that are granted; -1: all */

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(WATCHED)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

/* Is one more request granted? */
static int is_granted(void)
{
    if (left == 0) {
        errno = ENOMEM;
        return 0;
    }
    left -= left > 0;
    return 1;
}

void *malloc(size_t bytes) { return is_granted() ? __libc_malloc(bytes) : NULL; }

void *calloc(size_t count, size_t bytes)
{
    return is_granted() ? __libc_calloc(count, bytes) : NULL;
}

void *realloc(void *block, size_t bytes)
{
    return is_granted() ? __libc_realloc(block, bytes) : NULL;
}
#define COUNTS 1
#else
#define COUNTS 0
#endif

enum end { END_GOOD, END_REFUSED, END_WRONG };
typedef enum end work_fn(const char *path);

static enum end end_of(bool good, const struct err *err)
{
    if (good)
        return END_GOOD;
    return strstr(err->text, strerror(ENOMEM)) != NULL ? END_REFUSED : END_WRONG;
}

static enum end read_lines(const char *path)
{
    struct err err = { 0 };
    struct scan *scan = scan_open(path, &err);
    enum scan_step step = SCAN_ERROR;
    size_t bytes, lines = 0;
    char *line;

    while (scan != NULL && (step = scan_line(scan, &line, &bytes, &err)) == SCAN_LINE)
        lines++;
    return end_of(step == SCAN_END && lines == 3, &err);
}

static enum end read_table(const char *path)
{
    struct err err = { 0 };
    struct arena *arena = arena_new(0);
    struct csv *csv = csv_open(arena, path, CSV_COMMA, &err);
    enum csv_step step = CSV_ERROR;
    size_t rows = 0;

    while (csv != NULL && (step = csv_next(csv, &err)) == CSV_ROW)
        rows++;
    return end_of(step == CSV_END && rows == 2, &err);
}

static enum end read_tree(const char *path)
{
    struct err err = { 0 };

    return end_of(conf_load(arena_new(0), path, &err) != NULL, &err);
}

/* In a process of its own, with so many requests: how it ends, and whether it said that memory
 * is out. */
static int run_with(struct scratch *scratch, work_fn *work, const char *path, long granted)
{
    char said[300];
    int status;

    snprintf(said, sizeof said, "%s", scratch_path(scratch, "said"));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        if (freopen(said, "wb", stderr) == NULL)
            _exit(99);
        setvbuf(stderr, NULL, _IONBF, 0);
        left = granted;
        enum end end = work(path);
        left = -1;
        _exit((int)end);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    char *text = scratch_read(scratch, "said");
    bool ran_out = WTERMSIG(status) == SIGABRT && text != NULL &&
                   strcmp(text, "clustersim: out of memory\n") == 0;
    free(text);
    return ran_out ? 100 : -WTERMSIG(status);
}

/* From no request on, one more each time, until there are enough. */
static void check_work(struct scratch *scratch, const char *what, work_fn *work, const char *path)
{
    char name[300];
    int ended, ran_out = 0;
    long granted = 0;

    snprintf(name, sizeof name, "%s", path);
    while ((ended = run_with(scratch, work, name, granted)) != END_GOOD) {
        if (ended != 100 && ended != END_REFUSED)
            fail_msg("%s, %ld requests: ends as %d", what, granted, ended);
        ran_out += ended == 100;
        assert_true(++granted < 500);
    }
    assert_true(ran_out > 0);
}

static void write_bytes(struct scratch *scratch, const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(scratch_path(scratch, name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void memory_that_runs_out_is_said(void **state)
{
    static const char rows[] = "a,b\n1,2\n3,4\n";
    struct scratch *scratch = *state;
    char packed[200];

    if (!COUNTS) {
        print_message("skip: requests of memory cannot be refused here\n");
        skip();
    }
    scratch_write(scratch, "plain", rows);
    gzFile gz = gzopen(scratch_path(scratch, "gz"), "wb");
    assert_int_equal(gzwrite(gz, rows, sizeof rows - 1), sizeof rows - 1);
    gzclose(gz);
    size_t bytes = ZSTD_compress(packed, sizeof packed, rows, sizeof rows - 1, 1);
    write_bytes(scratch, "zst", packed, bytes);
    scratch_write(scratch, "e.yaml", "a: 1\nb: [1, 2, {c: \"d\"}]\ne: {f: g}\n");
    check_work(scratch, "plain", read_lines, scratch_path(scratch, "plain"));
    check_work(scratch, "gzip", read_lines, scratch_path(scratch, "gz"));
    check_work(scratch, "zstd", read_lines, scratch_path(scratch, "zst"));
    check_work(scratch, "table", read_table, scratch_path(scratch, "gz"));
    check_work(scratch, "tree", read_tree, scratch_path(scratch, "e.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_that_runs_out_is_said, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
