/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.h - rows of measurements that a test writes, read by a suite of `calibrate`.
 */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/calibrate/calibrate.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/scratch.h"

/* A test's state, for cmocka_unit_test_setup_teardown(). */
struct rows {
    struct scratch scratch;
    struct law_aids aids;
    struct calibrate_samples samples;   /* of the last rows_read() */
};

static inline int rows_set_up(void **state)
{
    scratch_state(state, sizeof(struct rows));
    ((struct rows *)*state)->aids = law_aids_new();
    return 0;
}

static inline int rows_tear_down(void **state)
{
    law_aids_free(&((struct rows *)*state)->aids);
    return scratch_teardown(state);
}

/* Writes a table, header line and rows, as the suite's file, and reads it as the suite does. */
static inline void rows_read(struct rows *rows, const char *name, const char *table)
{
    const struct calibrate_suite *suite = NULL;
    struct err err = { 0 };

    for (size_t i = 0; i < calibrate_suite_count; i++)
        if (strcmp(calibrate_suites[i].name, name) == 0)
            suite = &calibrate_suites[i];
    assert_non_null(suite);
    scratch_write(&rows->scratch, suite->file, table);
    if (!calibrate_read(rows->aids.arena, rows->aids.catalogue, suite, rows->scratch.dir,
                        &rows->samples, &err))
        fail_msg("%s", err.text);
}

/* The mean of a lognormal of cv 1 that is cut at `most`: m Phi((ln c - mu - var) / sd) below the
 * cut, and c above it. */
static inline double rows_cut_mean(double mean, double most)
{
    double var = log(2), sd = sqrt(var), mu = log(mean) - var / 2;
    double above = erfc((log(most) - mu) / sd / sqrt(2)) / 2;

    return mean * erfc(-(log(most) - mu - var) / sd / sqrt(2)) / 2 + most * above;
}

/* The mean before the cut that makes the one after it, which is 0.99 of the cut at most. */
static inline double rows_uncut_mean(double after, double most)
{
    double low = 1, high = 100 * most;

    after = after < 0.99 * most ? after : 0.99 * most;
    for (int i = 0; i < 200; i++)
        if (rows_cut_mean((low + high) / 2, most) < after)
            low = (low + high) / 2;
        else
            high = (low + high) / 2;
    return low;
}

#endif
