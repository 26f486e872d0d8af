/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store_test.c - finished trials in logs: what is whole comes back, what is torn,
 * damaged or not finished does not, whoever wrote it.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "experiments/trials/store.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/table.h"
#include "tests/aid/logs.h"
#include "tests/aid/scratch.h"

#define LONG 200000u            /* rows: 800 kB, more than a table keeps */

struct world {
    struct arena *arena;
    struct scratch scratch;
    struct folder *folder;
    struct store *store;
    struct err err;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    w->arena = arena_new(1 << 16);
    scratch_open(&w->scratch);
    w->folder = folder_make(w->arena, scratch_path(&w->scratch, "t"), &w->err);
    assert_non_null(w->folder);
    w->store = store_open(w->folder);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    store_close(w->store);
    folder_close(w->folder);
    scratch_close(&w->scratch);
    arena_free(w->arena);
    free(w);
    return 0;
}

/* Another run: what was written stays, and nothing is remembered. */
static void reopen(struct world *w)
{
    store_close(w->store);
    w->store = store_open(w->folder);
    store_settle(w->store);
}

/* Writes a trial with so many rows of 4 bytes; `digest` 0: it is not finished. */
static bool put(struct world *w, uint32_t thread, uint64_t hash, unsigned rows,
                uint64_t digest, volatile int *stop)
{
    struct table *jobs = table_new(csv_compare.columns, 1);
    struct trial_tables tables = { .jobs = jobs };
    struct trial_result result = { .digest = digest, .end_ns = 9 };
    struct store_trial *trial;
    bool ok = store_threads(w->store, thread + 1, &w->err);

    assert_true(ok);
    trial = store_begin(w->store, thread, hash, &tables, stop);
    for (unsigned i = 0; i < rows; i++) {
        table_text(jobs, i % 2 ? "row" : "odd");
        table_end_row(jobs);
    }
    ok = store_end(trial, digest == 0 ? NULL : &result, &w->err);
    table_free(jobs);
    return ok;
}

/* The rows of a trial, to be freed; NULL: it is not there. */
static char *rows_of(struct world *w, uint64_t hash, uint64_t *digest)
{
    struct out *out[STORE_TABLE_COUNT] = { NULL };
    struct trial_result result = { .digest = 0 };
    bool there;

    out[STORE_JOBS] = out_open(w->arena, scratch_path(&w->scratch, "rows"), &w->err);
    there = store_read(w->store, hash, &result, out);
    assert_true(out_close(out[STORE_JOBS], &w->err));
    *digest = result.digest;
    return there ? scratch_read(&w->scratch, "rows") : NULL;
}

static void assert_there(struct world *w, uint64_t hash, unsigned rows, uint64_t digest)
{
    uint64_t found;
    char *text = rows_of(w, hash, &found);

    assert_non_null(text);
    assert_true(found == digest);
    assert_int_equal(strlen(text), 4 * rows);
    for (unsigned i = 0; i < rows; i++)
        assert_memory_equal(text + 4 * i, i % 2 ? "row\n" : "odd\n", 4);
    free(text);
}

static void assert_absent(struct world *w, uint64_t hash)
{
    uint64_t found;

    assert_null(rows_of(w, hash, &found));
}

/* The path of the only log. */
static const char *only_log(struct world *w)
{
    static char path[300];
    unsigned count = logs_list(w->scratch.dir, "t", &path, 1);

    assert_int_equal(count, 1);
    return path;
}

static void change_byte(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void finished_trials_come_back_whole_now_and_later(void **state)
{
    struct world *w = *state;

    assert_true(put(w, 0, 77, 3, 5, NULL));
    assert_true(put(w, 0, 78, 0, 6, NULL));
    assert_true(put(w, 1, 79, LONG, 7, NULL));
    assert_absent(w, 77);               /* nobody has looked */
    store_settle(w->store);
    for (int again = 0; again < 2; again++) {
        assert_there(w, 77, 3, 5);
        assert_there(w, 78, 0, 6);
        assert_there(w, 79, LONG, 7);
        assert_absent(w, 80);
        reopen(w);
    }
    assert_int_equal(logs_count(w->scratch.dir, "t"), 3);
}

static void a_trial_that_was_not_finished_leaves_nothing(void **state)
{
    struct world *w = *state;
    struct stat st;

    assert_true(put(w, 0, 1, 2, 5, NULL));
    assert_true(put(w, 0, 2, LONG, 0, NULL));
    assert_int_equal(stat(only_log(w), &st), 0);
    assert_in_range(st.st_size, 1, 100000);
    assert_true(put(w, 0, 3, LONG, 8, NULL));
    reopen(w);
    assert_there(w, 1, 2, 5);
    assert_absent(w, 2);
    assert_there(w, 3, LONG, 8);
}

/* At every length the log may be cut to: trials that ended before come back. */
static void a_log_that_is_torn_anywhere_keeps_what_was_whole(void **state)
{
    struct world *w = *state;
    off_t end[4];
    struct stat st;

    for (unsigned i = 0; i < 4; i++) {
        assert_true(put(w, 0, i, i == 2 ? LONG : 10, 50 + i, NULL));
        assert_int_equal(stat(only_log(w), &st), 0);
        end[i] = st.st_size;
    }
    for (off_t at = end[3] - 1; at > 0; at -= at > end[1] && at < end[2] ? 99991 : 701) {
        store_close(w->store);
        w->store = store_open(w->folder);
        assert_int_equal(truncate(only_log(w), at), 0);
        store_settle(w->store);
        for (unsigned i = 0; i < 4; i++)
            if (end[i] <= at)
                assert_there(w, i, i == 2 ? LONG : 10, 50 + i);
            else
                assert_absent(w, i);
    }
}

/* The others, before and behind it, come back. */
static void a_damaged_trial_is_as_good_as_absent(void **state)
{
    struct world *w = *state;
    off_t end[3];
    struct stat st;

    for (unsigned i = 0; i < 3; i++) {
        assert_true(put(w, 0, i, i == 1 ? LONG : 10, 50 + i, NULL));
        assert_int_equal(stat(only_log(w), &st), 0);
        end[i] = st.st_size;
    }
    for (off_t at = end[0]; at < end[1]; at += at < end[0] + 60 ? 1 : 77777) {
        change_byte(only_log(w), (long)at);
        reopen(w);
        assert_there(w, 0, 10, 50);
        assert_absent(w, 1);
        assert_there(w, 2, 10, 52);
        change_byte(only_log(w), (long)at);
    }
    reopen(w);
    assert_there(w, 1, LONG, 51);
}

/* Damage behind the look is found when the trial is read. */
static void a_trial_that_was_damaged_since_is_not_read(void **state)
{
    struct world *w = *state;
    struct stat st;

    assert_true(put(w, 0, 4, 10, 5, NULL));
    store_settle(w->store);
    assert_int_equal(stat(only_log(w), &st), 0);
    change_byte(only_log(w), (long)st.st_size - 9);
    assert_absent(w, 4);
}

static void what_another_process_appends_is_seen_at_the_next_look(void **state)
{
    struct world *w = *state;
    struct store *own = w->store;

    assert_true(put(w, 0, 1, 2, 5, NULL));
    w->store = store_open(w->folder);
    store_look(w->store);
    assert_there(w, 1, 2, 5);
    assert_true(put(w, 0, 2, 4, 6, NULL));
    struct store *other = w->store;
    w->store = own;
    assert_true(put(w, 0, 3, 6, 7, NULL));
    store_look(own);
    assert_there(w, 2, 4, 6);
    assert_absent(w, 3);                /* its own: not before it settles */
    store_settle(own);
    assert_there(w, 3, 6, 7);
    store_close(other);
}

/* What was read behind the last whole trial is read again: another process had not ended it. */
static void a_trial_that_becomes_whole_is_seen_at_the_next_look(void **state)
{
    struct world *w = *state;
    struct stat st;

    assert_true(put(w, 0, 1, 2, 5, NULL));
    assert_true(put(w, 0, 2, 4, 6, NULL));
    assert_int_equal(stat(only_log(w), &st), 0);
    change_byte(only_log(w), (long)st.st_size - 9);
    reopen(w);
    assert_absent(w, 2);
    change_byte(only_log(w), (long)st.st_size - 9);
    store_look(w->store);
    assert_there(w, 1, 2, 5);
    assert_there(w, 2, 4, 6);
}

/* As trials of policies that are not built in. */
static void a_forked_process_appends_for_the_thread_that_waits_for_it(void **state)
{
    struct world *w = *state;
    int status;

    assert_true(put(w, 0, 1, 2, 5, NULL));
    for (unsigned i = 2; i < 6; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            bool ok = put(w, 0, i, LONG, 10 + i, NULL);

            if (i == 3)
                (void)kill(getpid(), SIGKILL);
            _exit(ok ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(i == 3 ? WIFSIGNALED(status)
                           : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(put(w, 0, 6, 2, 16, NULL));
    store_settle(w->store);
    for (int again = 0; again < 2; again++) {
        assert_there(w, 1, 2, 5);
        for (unsigned i = 2; i < 6; i++)
            assert_there(w, i, LONG, 10 + i);
        assert_there(w, 6, 2, 16);
        reopen(w);
    }
    assert_non_null(only_log(w));
}

/* Not only at its end: a long trial is not run to no avail.  What is left of the disk
 * serves for the next one. */
static void rows_that_cannot_be_written_stop_the_run(void **state)
{
    struct world *w = *state;
    const struct rlimit limit = { 100000, RLIM_INFINITY };
    struct rlimit before;
    int stop = 0;
    bool ok;

    assert_true(put(w, 0, 1, 2, 5, NULL));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ok = put(w, 0, 2, LONG, 6, &stop);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(ok);
    assert_int_equal(stop, 1);
    assert_int_equal(w->err.kind, ERR_IO);
    assert_non_null(strstr(w->err.text, "File too large"));
    w->err = (struct err){ 0 };
    assert_true(put(w, 0, 3, 4, 7, NULL));
    reopen(w);
    assert_there(w, 1, 2, 5);
    assert_absent(w, 2);
    assert_there(w, 3, 4, 7);
}

static void a_log_goes_only_when_all_of_its_trials_are_of_no_more_use(void **state)
{
    struct world *w = *state;
    const uint64_t drop[] = { 1, 2, 3 };

    assert_true(put(w, 0, 1, 2, 5, NULL));
    assert_true(put(w, 1, 2, 2, 5, NULL));
    assert_true(put(w, 1, 9, 2, 5, NULL));
    assert_true(store_threads(w->store, 4, &w->err));
    scratch_write(&w->scratch, "t/0000000000000003.claim", "");
    scratch_write(&w->scratch, "t/0000000000000009.claim", "");
    scratch_write(&w->scratch, "t/mine.log", "");
    store_drop(w->store, drop, 3);
    assert_false(folder_holds(w->folder, "0000000000000003.claim"));
    assert_true(folder_holds(w->folder, "0000000000000009.claim"));
    assert_true(folder_holds(w->folder, "mine.log"));
    reopen(w);
    assert_int_equal(logs_list(w->scratch.dir, "t", NULL, 0), 1);
    assert_there(w, 9, 2, 5);
    assert_absent(w, 1);
}

static void logs_without_a_trial_go_when_they_are_closed(void **state)
{
    struct world *w = *state;

    assert_true(store_threads(w->store, 3, &w->err));
    assert_int_equal(logs_list(w->scratch.dir, "t", NULL, 0), 3);
    reopen(w);
    assert_int_equal(logs_list(w->scratch.dir, "t", NULL, 0), 0);
}

/* More logs than files that may be open. */
static void a_thousand_logs_are_read(void **state)
{
    struct world *w = *state;

    for (unsigned i = 0; i < 1000; i++) {
        assert_true(put(w, 0, i, i % 5, i + 1, NULL));
        store_close(w->store);
        w->store = store_open(w->folder);
    }
    store_settle(w->store);
    for (unsigned i = 1000; i-- > 0;)
        assert_there(w, i, i % 5, i + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finished_trials_come_back_whole_now_and_later),
        TEST(a_trial_that_was_not_finished_leaves_nothing),
        TEST(a_log_that_is_torn_anywhere_keeps_what_was_whole),
        TEST(a_damaged_trial_is_as_good_as_absent),
        TEST(a_trial_that_was_damaged_since_is_not_read),
        TEST(what_another_process_appends_is_seen_at_the_next_look),
        TEST(a_trial_that_becomes_whole_is_seen_at_the_next_look),
        TEST(a_forked_process_appends_for_the_thread_that_waits_for_it),
        TEST(rows_that_cannot_be_written_stop_the_run),
        TEST(a_log_goes_only_when_all_of_its_trials_are_of_no_more_use),
        TEST(logs_without_a_trial_go_when_they_are_closed),
        TEST(a_thousand_logs_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
