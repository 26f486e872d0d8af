/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_rules_test.c - what formats of traces share: which numbers of GPUs are those of a job, which
 * amounts are numbers, and which deadlines cannot be met.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "tests/aid/scratch.h"
#include "workloads/formats/row.h"

/* A job has a whole number of GPUs, one at least.  A part of one is told as a part, also below
 * one and below 0. */
static void a_job_has_a_whole_number_of_gpus(void **state)
{
    (void)state;
    for (int q = -8; q <= 64; q++) {
        struct import_row row = { .job.gpus = 99 };
        import_gpus(&row, q / 4.0, 5);
        bool whole = q % 4 == 0;
        assert_int_equal(row.gpus_column, 5);
        assert_true(row.drop == (!whole || q <= 0));
        assert_true(!whole || row.job.gpus == q / 4);
        if (row.drop) {
            assert_int_equal(row.reason, whole ? IMPORT_GPUS : IMPORT_FRACTION);
            assert_int_equal(row.column, 5);
        }
    }
}

/* What is said first of a row stands. */
static void the_first_reason_to_drop_a_row_stands(void **state)
{
    (void)state;
    for (int first = 0; first < IMPORT_REASONS; first++)
        for (int second = 0; second < IMPORT_REASONS; second++) {
            struct import_row row = { .drop = false };
            import_drop(&row, (enum import_reason)first, 3);
            import_drop(&row, (enum import_reason)second, 4);
            assert_true(row.drop && row.reason == (enum import_reason)first &&
                        row.column == 3);
        }
}

static void a_deadline_before_the_least_end_is_late(void **state)
{
    (void)state;
    for (int64_t submit = 0; submit < 4; submit++)
        for (int64_t run = 0; run < 4; run++) {
            struct import_job job = { .submit_ns = submit, .run_ns = run,
                                      .deadline_ns = CLOCK_NEVER_NS };
            assert_false(import_is_late(&job));
            for (job.deadline_ns = 0; job.deadline_ns < 10; job.deadline_ns++)
                assert_true(import_is_late(&job) == (submit + run > job.deadline_ns));
        }
}

/* Amounts, and whether a field says 1. */
static void an_amount_is_a_number_up_to_a_billion(void **state)
{
    static const struct { const char *text; double value; bool good, one; } row[] = {
        { "", 0, true, false }, { "0", 0, true, false }, { "1", 1, true, true },
        { "1.0", 1, true, true }, { "1e0", 1, true, true }, { "2.5", 2.5, true, false },
        { "1e9", 1e9, true, false }, { "1000000001", 0, false, false },
        { "-1", 0, false, false }, { "-0.5", 0, false, false }, { "x", 0, false, false },
        { "1x", 0, false, false }, { "one", 0, false, false },
    };
    struct scratch *scratch = *state;
    char text[256] = "a,n\n";

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "r,%s\n", row[i].text);
    scratch_write(scratch, "a.csv", text);
    struct err err = { 0 };
    struct csv *csv = csv_open(scratch->arena, scratch_path(scratch, "a.csv"), CSV_COMMA, &err);
    assert_non_null(csv);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double value;
        struct err fault = { 0 };
        assert_true(csv_next(csv, &err) == CSV_ROW);
        if (import_amount(csv, 1, &value, &fault) != row[i].good ||
            (row[i].good ? value != row[i].value
                         : fault.pos.line != i + 2 || fault.pos.col != 3))
            fail_msg("'%s'", row[i].text);
        assert_true(import_says(csv, 1, 1.0) == row[i].one);
        assert_false(import_says(csv, 0, 1.0));
    }
    csv_close(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_has_a_whole_number_of_gpus),
        cmocka_unit_test(the_first_reason_to_drop_a_row_stands),
        cmocka_unit_test(a_deadline_before_the_least_end_is_late),
        cmocka_unit_test_setup_teardown(an_amount_is_a_number_up_to_a_billion, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
