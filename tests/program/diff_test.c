/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_test.c - two logs of decisions, written here, and what is said of them: the first
 * decision that differs in each trial, and the trials that one folder has alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "experiments/results/diff.h"
#include "sim/base/err.h"
#include "tests/aid/scratch.h"

#define COLUMNS "point,policy,seed,t_s,seq,action,job,role,placement,verdict,pending,free_gpus\n"
/* A row by the keys of its trial, its time, its job and its placement. */
#define ROW(KEYS, TIME, JOB, PLACE) \
    KEYS "," TIME ",1,start," JOB ",train,\"" PLACE "\",done,2,8\n"
#define FREE "; 2 pending, 8 GPUs free\n"
#define A0 "base,fcfs,0"
#define A1 "base,fcfs,1"
#define B0 "base,sjf,0"
#define B1 "base,sjf,1"

/* Writes DIR/left or DIR/right; its path, to be freed. */
static char *put(struct scratch *scratch, const char *name, const char *columns, const char *rows)
{
    char file[64], text[3000], *path = strdup(scratch_path(scratch, name));

    assert_non_null(path);
    mkdir(path, 0700);
    snprintf(file, sizeof file, "%s/decisions.csv", name);
    snprintf(text, sizeof text, "%s%s", columns, rows);
    scratch_write(scratch, file, text);
    return path;
}

/* What is said of the two logs; to be freed. */
static char *said_of(struct scratch *scratch, const char *left, const char *right)
{
    char *dir[2] = { put(scratch, "left", COLUMNS, left), put(scratch, "right", COLUMNS, right) };
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    struct err err = { 0 };

    assert_non_null(file);
    if (!diff_print(file, dir[0], dir[1], &err))
        fail_msg("%s", err.text);
    fclose(file);
    free(dir[0]);
    free(dir[1]);
    return text;
}

static void assert_said(struct scratch *scratch, const char *left, const char *right,
                        const char *wanted)
{
    char *text = said_of(scratch, left, right);

    assert_string_equal(text, wanted);
    free(text);
}

static void the_first_decision_that_differs_is_shown_with_both_choices(void **state)
{
    assert_said(*state,
                ROW(A0, "1", "a", "0:0-7") ROW(A0, "2", "b", "1:0-7") ROW(A0, "3", "c", "2:0")
                ROW(A1, "1", "a", "0:0"),
                ROW(A0, "1", "a", "0:0-7") ROW(A0, "2", "b", "3:0-7") ROW(A0, "9", "x", "2:0")
                ROW(A1, "1", "a", "0:0"),
                "base, fcfs, seed 0: parts here\n"
                "  left   t=2 s  #1  start job b role train on [1:0-7]: done" FREE
                "  right  t=2 s  #1  start job b role train on [3:0-7]: done" FREE
                "decisions: 1 trials the same, 1 part\n");
}

static void a_trial_that_ends_early_parts_there(void **state)
{
    assert_said(*state, ROW(A0, "1", "a", "0:0") ROW(B0, "1", "a", "0:0"),
                ROW(A0, "1", "a", "0:0") ROW(A0, "2", "b", "0:1") ROW(B0, "1", "a", "0:0"),
                "base, fcfs, seed 0: parts here\n"
                "  left   no further decision\n"
                "  right  t=2 s  #1  start job b role train on [0:1]: done" FREE
                "decisions: 1 trials the same, 1 part\n");
}

/* Each field of a decision counts: none of these rows agrees with the first. */
static void every_field_of_a_decision_is_compared(void **state)
{
    static const char *const first = A0 ",1,1,start,a,train,0:0,done,2,8\n";
    static const char *const other[] = {
        A0 ",1.5,1,start,a,train,0:0,done,2,8\n", A0 ",1,2,start,a,train,0:0,done,2,8\n",
        A0 ",1,1,stop,a,train,0:0,done,2,8\n", A0 ",1,1,start,b,train,0:0,done,2,8\n",
        A0 ",1,1,start,a,rollout,0:0,done,2,8\n", A0 ",1,1,start,a,train,0:1,done,2,8\n",
        A0 ",1,1,start,a,train,0:0,no room,2,8\n", A0 ",1,1,start,a,train,0:0,done,3,8\n",
        A0 ",1,1,start,a,train,0:0,done,2,7\n",
    };

    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        char *text = said_of(*state, first, other[i]);

        if (strstr(text, "decisions: 0 trials the same, 1 part\n") == NULL)
            fail_msg("%s%s", other[i], text);
        free(text);
    }
}

static void a_trial_of_one_folder_is_named_and_passed_over(void **state)
{
    assert_said(*state,
                ROW(A0, "1", "a", "0:0") ROW(A1, "1", "a", "0:0") ROW(A1, "2", "b", "0:0")
                ROW(B0, "1", "a", "0:0"),
                ROW(A0, "1", "a", "0:0") ROW(B0, "1", "a", "0:0") ROW(B1, "1", "a", "0:0"),
                "base, fcfs, seed 1: only in the left\n"
                "base, sjf, seed 1: only in the right\n"
                "decisions: 2 trials the same, 0 part, 2 only in one\n");
}

static void trials_in_another_order_are_not_called_absent(void **state)
{
    assert_said(*state, ROW(A0, "1", "a", "0:0") ROW(B0, "1", "a", "0:0"),
                ROW(B0, "1", "a", "0:0") ROW(A0, "1", "a", "0:0"),
                "base, sjf, seed 0: in another order in the two, not compared\n"
                "decisions: 1 trials the same, 0 part, 1 not compared\n");
}

static void a_log_without_a_column_or_a_file_is_refused(void **state)
{
    struct scratch *scratch = *state;
    char *left = put(scratch, "left", COLUMNS, ROW(A0, "1", "a", "0:0"));
    char *right = put(scratch, "right", "point,policy,seed,t_s,seq\n", A0 ",1,1\n");
    struct err err = { 0 };

    assert_false(diff_print(stderr, left, right, &err));
    assert_non_null(strstr(err.text, "right/decisions.csv"));
    assert_non_null(strstr(err.text, "action"));
    scratch_write(scratch, "right/decisions.csv", COLUMNS A0 ",1\n");
    memset(&err, 0, sizeof err);
    assert_false(diff_print(stderr, left, right, &err));
    assert_non_null(strstr(err.text, "decisions.csv:2"));
    remove(scratch_path(scratch, "right/decisions.csv"));
    memset(&err, 0, sizeof err);
    assert_false(diff_print(stderr, left, right, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.hint, "tables: [summary, decisions]"));
    free(left);
    free(right);
}

/* Two policies of one folder, by the first seed that has decisions of both. */
static void two_policies_part_where_their_decisions_do(void **state)
{
    struct scratch *scratch = *state;
    char *dir = put(scratch, "left", COLUMNS,
                    ROW("x=1,fcfs,0", "1", "a", "0:0") ROW("x=2,fcfs,4", "1", "a", "0:0")
                    ROW("x=2,fcfs,4", "2", "b", "0:1") ROW("x=2,sjf,4", "1", "a", "0:0")
                    ROW("x=2,sjf,4", "2", "c", "0:1") ROW("x=2,srtf,4", "1", "a", "0:0")
                    ROW("x=2,srtf,4", "2", "b", "0:1") ROW("x=2,las,4", "1", "a", "0:0"));
    static const char *const fcfs_sjf[] = { "fcfs", "sjf" };
    static const char *const fcfs_srtf[] = { "fcfs", "srtf" };
    static const char *const fcfs_las[] = { "fcfs", "las" };
    struct err err = { 0 };
    struct diff_part part;

    assert_true(diff_find_part(scratch->arena, dir, "x=2", fcfs_sjf, &part, &err));
    assert_string_equal(part.seed, "4");
    assert_string_equal(part.choice[0].time_s, "2");
    assert_string_equal(part.choice[0].text, "start job b role train on [0:1]: done");
    assert_string_equal(part.choice[1].text, "start job c role train on [0:1]: done");
    assert_true(diff_find_part(scratch->arena, dir, "x=2", fcfs_srtf, &part, &err));
    assert_null(part.seed);
    assert_true(diff_find_part(scratch->arena, dir, "x=2", fcfs_las, &part, &err));
    assert_string_equal(part.choice[1].text, "no further decision");
    assert_string_equal(part.choice[1].time_s, "");
    /* No decisions of the second policy at this point. */
    assert_true(diff_find_part(scratch->arena, dir, "x=1", fcfs_sjf, &part, &err));
    assert_null(part.seed);
    free(dir);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_decision_that_differs_is_shown_with_both_choices),
        TEST(a_trial_that_ends_early_parts_there),
        TEST(every_field_of_a_decision_is_compared),
        TEST(a_trial_of_one_folder_is_named_and_passed_over),
        TEST(trials_in_another_order_are_not_called_absent),
        TEST(a_log_without_a_column_or_a_file_is_refused),
        TEST(two_policies_part_where_their_decisions_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
