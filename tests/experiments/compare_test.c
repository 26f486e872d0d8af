/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_test.c - statistics by hand-computed cases, and compare.csv.
 *
 * Quantiles of Student's t: 4.302653 (2 degrees of freedom, 97.5%), from any
 * printed table.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/results/notes.h"
#include "experiments/results/trust.h"
#include "experiments/results/without.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"

#define T_2 4.30265272974946
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void mean_has_students_interval(void **state)
{
    const double x[] = { 1, 2, 3 };
    struct stats_mean m = stats_mean(x, 3, 0.95);

    (void)state;
    assert_int_equal(m.count, 3);
    NEAR(m.mean, 2);
    NEAR(m.high - m.mean, T_2 / sqrt(3));
    NEAR(m.mean - m.low, T_2 / sqrt(3));
}

static void one_sample_has_no_interval(void **state)
{
    const double x[] = { 5 };
    struct stats_mean m = stats_mean(x, 1, 0.95);

    (void)state;
    NEAR(m.mean, 5);
    assert_true(isnan(m.low) && isnan(m.high));
}

/* Doubles near 1e15 are 0.125 apart, so the mean is off by a part of the spread.  The skewness
 * stays what a sample of three can have: its root is at most 1. */
static void values_that_differ_in_their_last_digit_have_a_skewness(void **state)
{
    const double x[] = { -0.0529236323, 0.423737878, 0.554759552 };
    const double base[] = { 1e15, 1e15, 1e15 };
    struct stats_delta d = stats_delta(x, base, 3, 0.95);

    (void)state;
    assert_int_equal(d.count, 3);
    assert_true(d.skew >= 0 && d.skew <= 1 + 1e-9);
    assert_true(fabs(d.mean + 1e15) <= 2 && d.low < d.mean && d.mean < d.high);
}

static void unknown_samples_do_not_count(void **state)
{
    const double x[] = { NAN, 4, INFINITY, 6 }, none[] = { NAN };
    struct stats_mean m = stats_mean(x, 4, 0.95);

    (void)state;
    assert_int_equal(m.count, 2);
    NEAR(m.mean, 5);
    assert_true(isnan(stats_mean(none, 1, 0.95).mean));
}

static void paired_delta_is_relative_to_the_baselines_mean(void **state)
{
    const double x[] = { 11, 12, 13 }, base[] = { 10, 10, 10 };
    struct stats_delta d = stats_delta(x, base, 3, 0.95);

    (void)state;
    NEAR(d.mean, 2);
    NEAR(d.percent, 20);
    NEAR(d.percent_low, 20 - 10 * T_2 / sqrt(3));
    NEAR(d.percent_high, 20 + 10 * T_2 / sqrt(3));
    /* t = 2 sqrt 3 with 2 degrees of freedom: p = 1 - t / sqrt(2 + t^2) */
    NEAR(d.p_value, 1 - 2 * sqrt(3) / sqrt(2 + 12));
}

static void relative_delta_of_proportional_pairs_is_certain(void **state)
{
    const double x[] = { 0.8, 8, 80 }, base[] = { 1, 10, 100 };
    struct stats_delta d = stats_delta(x, base, 3, 0.5);

    (void)state;
    NEAR(d.percent, -20);
    assert_true(fabs(d.percent_low + 20) < 1e-5);
    assert_true(fabs(d.percent_high + 20) < 1e-5);
}

/* 99.1 USD for 231.7 USD in each of 60 seeds: no ratio of means but that of the two is
 * possible.  Sums of 60 such numbers are not exact, and one pair lacks a side. */
static void relative_delta_of_constant_pairs_is_certain(void **state)
{
    double x[60], base[60];

    (void)state;
    for (int i = 0; i < 60; i++) {
        x[i] = 99.1;
        base[i] = 231.7;
    }
    x[7] = NAN;
    struct stats_delta d = stats_delta(x, base, 60, 0.95);

    NEAR(d.percent, 100 * (99.1 / 231.7 - 1));
    NEAR(d.percent_low, d.percent);
    NEAR(d.percent_high, d.percent);
}

/* At the confidence of 1 - p the interval must end at 0%. */
static void relative_interval_agrees_with_the_p_value(void **state)
{
    const double x[] = { 9, 12, 8, 10, 7 }, base[] = { 10, 14, 8, 11, 9 };
    struct stats_delta d = stats_delta(x, base, 5, 0.95);

    (void)state;
    d = stats_delta(x, base, 5, 1 - d.p_value);
    assert_true(fabs(d.percent_high) < 1e-6);
    assert_true(d.percent_low < d.percent);
}

/* The differences 111, 90 and 125 have a mean of 108.667, sd 17.616 and skewness -0.585583:
 * u = 6.16854, and Hall's cubic of it 1.68968, so t = 2.92661 of 2 degrees of freedom and
 * p = 0.0996131.  At a ratio of 1.1 p is 0.0118, at 1.3 0.0304, and at 1.5 0.159: 0% lies in
 * the interval though ratios between it and the mean do not; -10%, of p = 0.0120, does not. */
static void relative_interval_reaches_no_change_beyond_a_gap(void **state)
{
    const double more[] = { 306, 241, 277 }, base[] = { 195, 151, 152 };
    struct stats_delta d = stats_delta(more, base, 3, 0.95);

    (void)state;
    NEAR(d.p_value, 0.0996130880289);
    assert_true(d.low < 0 && d.high > 0);
    assert_true(d.percent_low < 0 && d.percent_low > -10);
    assert_true(d.percent_high > 100 && d.percent_high < 120);
    for (int p = 1; p < 20; p++) {
        d = stats_delta(more, base, 3, 1 - p / 100.0);
        assert_true((d.percent_low > 0) == (d.p_value < p / 100.0));
    }
}

static void baseline_that_may_be_zero_has_no_relative_interval(void **state)
{
    const double x[] = { 1, 2 }, base[] = { -1, 2 };
    struct stats_delta d = stats_delta(x, base, 2, 0.95);

    (void)state;
    assert_true(isinf(d.percent_low) && isinf(d.percent_high));
}

/* No job waited under x.  Under the baseline they waited 3, 8, 9 and 9: mean 7.25, sd 2.87228,
 * skewness -1.84628.  Student's t is 7.25 / 1.43614 = 5.0483, above the 3.1824 of 3 degrees of
 * freedom; Hall's is 1.1130, so a mean of 0 is not rejected and x may be any ratio of it.  Of
 * 9, 10, 11, 12, without skewness, both are 16.27, and 0 is the only ratio. */
static void nothing_is_no_certain_part_of_a_baseline_that_may_be_zero(void **state)
{
    const double none[] = { 0, 0, 0, 0 }, skewed[] = { 3, 8, 9, 9 }, even[] = { 9, 10, 11, 12 };
    struct stats_delta d = stats_delta(none, skewed, 4, 0.95);

    (void)state;
    NEAR(d.percent, -100);
    assert_true(d.p_value > 0.05);
    assert_true(isinf(d.percent_low) && isinf(d.percent_high));
    d = stats_delta(none, even, 4, 0.95);
    assert_true(d.percent_low == -100 && d.percent_high == -100 && d.p_value < 0.05);
}

static void pairs_that_lack_a_side_do_not_count(void **state)
{
    const double x[] = { 11, NAN, 13, 1 }, base[] = { 10, 10, 10, NAN };
    struct stats_delta d = stats_delta(x, base, 4, 0.95);

    (void)state;
    assert_int_equal(d.count, 2);
    NEAR(d.percent, 20);
}

static void equal_pairs_have_p_1_and_shifted_ones_p_0(void **state)
{
    const double x[] = { 3, 4, 5 }, y[] = { 4, 5, 6 };

    (void)state;
    NEAR(stats_delta(x, x, 3, 0.95).p_value, 1);
    NEAR(stats_delta(y, x, 3, 0.95).p_value, 0);
    NEAR(stats_delta(y, x, 3, 0.95).low, 1);
}

static void zero_baseline_has_no_percentage(void **state)
{
    const double x[] = { 1, 2 }, base[] = { 0, 0 };
    struct stats_delta d = stats_delta(x, base, 2, 0.95);

    (void)state;
    assert_true(isnan(d.percent));
    NEAR(d.mean, 1.5);
}

/* Two policies, three seeds; every metric is 10 of a, 11 12 13 of b. */
static struct grid *make_grid(struct arena *arena)
{
    static const char *const point[] = { "base" }, *const policy[] = {
        "a", "b" };
    static const uint32_t seed[] = { 0, 1, 2 };
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);

    *grid = (struct grid){ .point = point, .point_count = 1, .policy = policy,
                            .policy_count = 2, .seed_count = 3, .seed = seed };
    grid_begin(arena, grid);
    for (unsigned i = 0; i < 6; i++)
        for (int m = 0; m < METRIC_COUNT; m++)
            grid_set(grid, 0, i / 3, i % 3, (enum metric)m, i < 3 ? 10 : 11 + (double)(i - 3));
    return grid;
}

static void compare_rows_leave_the_baseline_without_delta(void **state)
{
    struct arena *arena = arena_new(4096);
    struct table *table = table_new(csv_compare.columns, csv_compare.count);
    const char *rows;
    size_t bytes;

    (void)state;
    compare_rows(arena, make_grid(arena), 0, table);
    rows = table_bytes(table, &bytes);
    /* All seeds of a are alike, so they count as one. */
    assert_memory_equal(rows, "base,a,jobs,1,10,,,a,,,,,,,1,,,\n", 31);
    assert_non_null(strstr(rows, "base,b,cost_usd,3,12,9.51586229,14.4841377,"
                           "a,20,-4.84137712,44.8413771,"));
    table_free(table);
    arena_free(arena);
}

/* Three drawn seeds of a, and of b, have the same count or fraction each.  A
 * share of 1 - 0.05^(1/3) = 0.631597 of the seeds may be otherwise; of a count -ln(0.05) / 3
 * = 0.998577 may come in one.  b has a failure more in each seed: 1 -+ 0.998577, and as little
 * has a chance of exp(-3) = 0.0497871, so the interval excludes 0 by a hair.  Of 5 failures
 * they are 20 -+ 19.9715%.  A cost that is the same is known.  Each of 3 x 100 deadlines was
 * met: 0.05^(1/300) = 0.990064. */
static void equal_seeds_have_the_interval_that_check_judges(void **state)
{
    struct arena *arena = arena_new(4096);
    struct table *table = table_new(csv_compare.columns, csv_compare.count);
    struct grid *grid = make_grid(arena);
    const char *rows;
    size_t bytes;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        grid_set(grid, 0, i / 3, i % 3, METRIC_JCT_MEAN, i);
        grid_set(grid, 0, i / 3, i % 3, METRIC_JOBS_FAILED, i < 3 ? 5 : 6);
        grid_set(grid, 0, i / 3, i % 3, METRIC_GPU_DOWN, 0);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO, 1);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO_COUNT, 100);
    }
    compare_rows(arena, grid, 0, table);
    rows = table_bytes(table, &bytes);
    assert_non_null(strstr(rows, "base,a,jobs_failed,3,5,4.00142258,5.99857742,a,"));
    assert_non_null(strstr(rows, "base,b,jobs_failed,3,6,5.00142258,6.99857742,a,20,"
                           "0.0284515096,39.9715485,0.0497870684,"));
    assert_non_null(strstr(rows, "base,b,gpu_down_fraction,3,0,0,0.63159685,a,,,,1,"));
    assert_non_null(strstr(rows, "base,a,slo_attained_fraction,3,1,0.990063918,1,a,"));
    assert_non_null(strstr(rows, "base,a,cost_usd,3,10,10,10,a,"));
    table_free(table);
    arena_free(arena);
}

/* Writes the rows of a grid, and asserts that `part` is among them. */
static void assert_rows_say(struct arena *arena, const struct grid *grid, const char *part)
{
    struct table *table = table_new(csv_compare.columns, csv_compare.count);
    const char *rows;
    size_t bytes;

    compare_rows(arena, grid, 0, table);
    rows = table_bytes(table, &bytes);
    if (strstr(rows, part) == NULL)
        fail_msg("no '%s' in: %s", part, rows);
    table_free(table);
}

/* Without failures, and without deadlines, no seed can have other than 0 and 1.  Rented nodes
 * may still be taken back: 0 to 1 - 0.05^(1/3) of lost time. */
static void what_cannot_happen_has_no_width(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        grid_set(grid, 0, i / 3, i % 3, METRIC_JCT_MEAN, i);
        grid_set(grid, 0, i / 3, i % 3, METRIC_GPU_DOWN, 0);
        grid_set(grid, 0, i / 3, i % 3, METRIC_GPU_LOST, 0);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO, 1);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO_COUNT, 0);
    }
    grid->without[0] = grid->without[1] = without_read("failures deadlines of_later_versions");
    assert_rows_say(arena, grid, "base,b,gpu_down_fraction,3,0,0,0,a,,,,1,");
    assert_rows_say(arena, grid, "base,b,slo_attained_fraction,3,1,1,1,a,0,0,0,1,");
    assert_rows_say(arena, grid, "base,b,slo_count,3,0,0,0,a,,,,1,");
    assert_rows_say(arena, grid, "base,b,gpu_lost_fraction,3,0,0,0.63159685,a,,,,1,");
    grid->without[1] = 0;               /* nodes of b fail */
    assert_rows_say(arena, grid, "base,a,gpu_down_fraction,3,0,0,0,a,");
    assert_rows_say(arena, grid, "base,b,gpu_down_fraction,3,0,0,0.63159685,a,,,,1,");
    arena_free(arena);
}

/* 3 x 100 deadlines of each policy, and each was met: a share of 1 - 0.05^(1/300) = 0.00993608
 * of the pairs may be otherwise.  If b has met none, its difference of -1 may be as high as
 * -1 + 2 x 0.00993608, and (1 + 1)^-300 = 4.9091e-91 is the p-value.  Of 300 and 200 deadlines,
 * as `until` may cut them off, there are 200 pairs: 1 - 0.05^(1/200) = 0.0148670. */
static void a_difference_of_promises_kept_is_bounded_by_their_number(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        grid_set(grid, 0, i / 3, i % 3, METRIC_JCT_MEAN, i);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO, 1);
        grid_set(grid, 0, i / 3, i % 3, METRIC_SLO_COUNT, 100);
        grid_set(grid, 0, i / 3, i % 3, METRIC_RUN_TIME_CV, 0);
    }
    assert_rows_say(arena, grid, "base,b,slo_attained_fraction,3,1,0.990063918,1,a,0,"
                    "-0.993608194,0.993608194,1,");
    for (uint32_t s = 0; s < 3; s++)
        grid_set(grid, 0, 1, s, METRIC_SLO, 0);
    assert_rows_say(arena, grid, "base,b,slo_attained_fraction,3,0,0,0.00993608194,a,-100,"
                    "-100,-98.0127836,4.90909");
    for (uint32_t s = 0; s < 3; s++) {
        grid_set(grid, 0, 1, s, METRIC_SLO, 1);
        grid_set(grid, 0, 1, s, METRIC_SLO_COUNT, s == 0 ? 0 : 100);
    }
    assert_rows_say(arena, grid, "base,b,slo_attained_fraction,3,1,0.985132961,1,a,0,"
                    "-1.48670392,1.48670392,1,,,0,1,equal seeds,equal seeds; 3 pairs,");
    /* Without their number the interval is by seeds, and takes nothing as independent. */
    for (uint32_t s = 0; s < 3; s++)
        grid_set(grid, 0, 1, s, METRIC_SLO_COUNT, NAN);
    for (uint32_t s = 0; s < 3; s++)
        grid_set(grid, 0, 1, s, METRIC_REQUESTS_DONE, NAN);
    assert_rows_say(arena, grid, "base,b,slo_attained_fraction,3,1,0.36840315,1,a,0,"
                    "-63.159685,63.159685,1,,,0,1,,3 pairs,");
    arena_free(arena);
}

/* Sets a metric of the policies a and b, three seeds of each. */
static void set_six(struct grid *grid, enum metric metric, const double value[6])
{
    for (unsigned i = 0; i < 6; i++)
        grid_set(grid, 0, i / 3, i % 3, metric, value[i]);
}

static struct stats_delta delta_of(const struct grid *grid, enum metric metric,
                                   struct trust_open *open)
{
    struct trust_side a = { grid, 0, 0 }, b = { grid, 0, 1 };

    return trust_delta(&b, &a, metric, 0.95, open);
}

/* a never stopped a job in three seeds, b stopped 4, 5 and 6.  Each side may err in 2.5%:
 * a mean of a of up to -ln(0.025) / 3 = 1.22963, and of b 5 -+ 6.205347 / sqrt(3) = 3.58266
 * (Student's t of 2 degrees of freedom at 98.75%).  So the difference is 0.18771 to 8.58266.
 * At p = 0.0459670 it ends at 0: t at 1 - p/4 is 6.47609, and 5 = 3.73897 + 1.26103. */
static void a_difference_heeds_what_its_equal_side_leaves_open(void **state)
{
    const double none[] = { 0, 0, 0, 4, 5, 6 }, turned[] = { 4, 5, 6, 0, 0, 0 };
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);
    struct trust_open open;
    struct stats_delta d;

    (void)state;
    set_six(grid, METRIC_PREEMPTIONS, none);
    d = delta_of(grid, METRIC_PREEMPTIONS, &open);
    NEAR(d.mean, 5);
    NEAR(d.low, 0.18771486033327);
    NEAR(d.high, 8.58265865496208);
    NEAR(d.p_value, 0.04596695599884);
    assert_true(isnan(d.percent) && isnan(d.percent_low) && isnan(d.percent_high));
    assert_true(open.half && !open.cases);
    assert_int_equal(open.seeds, 3);
    /* b in percent of a: 0 to 1.22963 by 1.41734 to 8.58266. */
    set_six(grid, METRIC_PREEMPTIONS, turned);
    d = delta_of(grid, METRIC_PREEMPTIONS, NULL);
    NEAR(d.high, -0.18771486033327);
    NEAR(d.percent, -100);
    NEAR(d.percent_low, -100);
    assert_true(fabs(d.percent_high + 13.244153286747) < 1e-6);
    /* What cannot happen is known: Student's interval alone. */
    grid->without[1] = without_read("preemption");
    d = delta_of(grid, METRIC_PREEMPTIONS, &open);
    NEAR(d.high, -5 + T_2 / sqrt(3));
    assert_int_equal(open.seeds, 0);
    arena_free(arena);
}

/* a fails 5 jobs in each seed, 5 -+ 1.22963, and b 10, 12 and 14: 12 -+ 7.16532.  So b is
 * 4.83468 / 6.22963 to 19.16532 / 3.77037 of it.  Of 1, 1, 1 and 12, 14, 16 it is 6.83468 /
 * 2.22963 or more: the baseline may be 0, so it has no upper end. */
static void a_percentage_heeds_what_its_equal_baseline_leaves_open(void **state)
{
    const double five[] = { 5, 5, 5, 10, 12, 14 }, one[] = { 1, 1, 1, 12, 14, 16 };
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);
    struct stats_delta d;

    (void)state;
    set_six(grid, METRIC_JOBS_FAILED, five);
    d = delta_of(grid, METRIC_JOBS_FAILED, NULL);
    NEAR(d.percent, 140);
    assert_true(fabs(d.percent_low + 22.392093619959) < 1e-6);
    assert_true(fabs(d.percent_high - 408.313492872147) < 1e-6);
    NEAR(d.low, -1.39494379462881);
    NEAR(d.p_value, 0.07259272951173);
    set_six(grid, METRIC_JOBS_FAILED, one);
    d = delta_of(grid, METRIC_JOBS_FAILED, NULL);
    assert_true(fabs(d.percent_low - 206.539357016169) < 1e-6);
    assert_true(isinf(d.percent_high) && d.percent_high > 0);
    assert_rows_say(arena, grid, "base,b,jobs_failed,3,14,9.03172458,18.9682754,a,1300,"
                    "206.539357,,");
    arena_free(arena);
}

/* a keeps 3 x 100 promises, b 80, 85 and 90%.  A share of 1 - 0.025^(1/300) = 0.0122210 of
 * a's may be broken: -0.15 -+ 0.179133, and so much higher.  By whole seeds it is 0.707598,
 * and the difference may be as high as 0.736731: 1.029133 of 0.292402. */
static void a_difference_heeds_promises_that_one_side_kept(void **state)
{
    const double kept[] = { 1, 1, 1, 0.8, 0.85, 0.9 };
    const double count[] = { 100, 100, 100, 100, 100, 100 };
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);
    struct trust_open open;
    struct stats_delta d;

    (void)state;
    set_six(grid, METRIC_SLO, kept);
    set_six(grid, METRIC_SLO_COUNT, count);
    d = delta_of(grid, METRIC_SLO, &open);
    NEAR(d.low, -0.3291329327481);
    NEAR(d.high, 0.0413539074424);
    assert_true(open.half && open.cases);
    NEAR(open.share, 0.7075982261787);
    NEAR(d.mean + open.above, 0.7367311589269);
    assert_true(fabs(d.percent + open.percent_above - 251.958512186421) < 1e-6);
    arena_free(arena);
}

/* Seeds that are alike in every metric are one sample of a time, and three of a failure that
 * none of them has: -ln(0.05) / 3 = 0.998577 may come in one.  A utilization of 0.7 is
 * measured.  A gap of 0 to the bound says nothing of how large it may be: it is no share. */
static void alike_seeds_leave_counts_and_shares_open(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);

    (void)state;
    for (uint32_t s = 0; s < 3; s++) {
        grid_set(grid, 0, 0, s, METRIC_JOBS_FAILED, 0);
        grid_set(grid, 0, 0, s, METRIC_GPU_UTILIZATION, 0.7);
        grid_set(grid, 0, 0, s, METRIC_GAP, 0);
    }
    assert_rows_say(arena, grid, "base,a,jct_mean_s,1,10,,,a,");
    assert_rows_say(arena, grid, "base,a,jobs_failed,3,0,0,0.998577425,a,");
    assert_rows_say(arena, grid, "base,a,gpu_utilization,1,0.7,,,a,");
    grid_set(grid, 0, 0, 0, METRIC_JCT_MEAN, 11);       /* alike no more */
    assert_rows_say(arena, grid, "base,a,gpu_utilization,3,0.7,0.7,0.7,a,");
    assert_rows_say(arena, grid, "base,a,gap_to_bound,3,0,0,0,a,");
    arena_free(arena);
}

/* Do the notes say that both policies gave equal results? */
static bool told_as_equal(struct arena *arena, const struct grid *grid)
{
    struct notes notes = notes_of(arena, grid);
    bool told = false;

    for (size_t n = 0; n < notes.count; n++)
        told = told || strstr(notes.line[n], "a and b gave equal results in all 3 trials") != NULL;
    return told;
}

/* All metrics are 10, but for one of b; then they are equal in all seeds; then b lacks a
 * trial, of which there is nothing to say. */
static void policies_are_told_as_equal_where_all_is_equal(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena);

    (void)state;
    for (uint32_t s = 0; s < 3; s++)
        for (int m = 0; m < METRIC_COUNT; m++)
            grid_set(grid, 0, 1, s, (enum metric)m, 10);
    grid_set(grid, 0, 1, 2, METRIC_WAIT_MEAN, 10.5);
    assert_false(told_as_equal(arena, grid));
    grid_set(grid, 0, 1, 2, METRIC_WAIT_MEAN, 10);
    assert_true(told_as_equal(arena, grid));
    grid->present[3 + 1] = false;               /* of b, of seed 1 */
    assert_false(told_as_equal(arena, grid));
    arena_free(arena);
}

static void aligned_grid_is_absent_where_the_other_lacks_trials(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *left = make_grid(arena), *right = make_grid(arena);
    const struct grid *pair;
    struct compare_only only;

    (void)state;
    right->present[1] = false;
    right->policy_count = 1;
    pair = compare_align(arena, left, right);
    assert_true(grid_present(pair, 0, 0, 0));
    assert_false(grid_present(pair, 0, 0, 1));
    assert_false(grid_present(pair, 0, 1, 0));
    only = compare_count(left, right);
    assert_int_equal(only.both, 2);
    assert_int_equal(only.left, 4);
    assert_int_equal(only.right, 0);
    arena_free(arena);
}

/* The first policy's trial is of seed 0 and stands for all; the other's three
 * seeds differ. */
static void one_trial_of_what_draws_nothing_pairs_with_every_seed(
    void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *grid = make_grid(arena), *copies = make_grid(arena);
    const struct grid *pair;
    bool fixed[] = { true, false };
    double x[3];

    (void)state;
    for (uint32_t s = 0; s < 3; s++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            grid_set(grid, 0, 0, s, (enum metric)m, 7);
            grid_set(copies, 0, 0, s, (enum metric)m, 7);
        }
    assert_true(grid_alike(copies, 0, 0));
    assert_false(grid_alike(copies, 0, 1));
    assert_int_equal(grid_samples(copies, 0, 0, METRIC_JCT_MEAN, x), 1);
    assert_int_equal(grid_samples(copies, 0, 1, METRIC_JCT_MEAN, x), 3);
    grid->fixed = fixed;
    grid->present[1] = grid->present[2] = false;
    assert_true(grid_alike(grid, 0, 0));
    pair = compare_align(arena, copies, grid);
    for (uint32_t s = 0; s < 3; s++) {
        assert_true(grid_present(pair, 0, 0, s));
        assert_true(grid_value(pair, 0, 0, s, METRIC_COST) == 7);
    }
    assert_int_equal(compare_count(grid, copies).both, 4);
    arena_free(arena);
}

/* Differences of 1, 2 and 3 to 10: mean 2, t = 2 sqrt(3), p = 0.0742.  Of the other
 * policy nothing moved: p = 1, and the two are one family. */
static void two_runs_are_compared_with_holms_correction(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *left = make_grid(arena), *right = make_grid(arena);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    for (uint32_t s = 0; s < 3; s++) {
        grid_set(left, 0, 0, s, METRIC_COST, 10 + s % 2);
        grid_set(right, 0, 0, s, METRIC_COST, 10 + s % 2 + s + 1);
    }
    assert_int_equal(compare_print(out, left, right), 1);
    fclose(out);
    if (strstr(text, " p=0.074, corrected 0.15") == NULL)
        fail_msg("%s", text);
    free(text);
    arena_free(arena);
}

/* Prints two runs of one metric that moved; the caller frees the text. */
static char *print_runs(const struct grid *left, const struct grid *right)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_int_equal(compare_print(out, left, right), 1);
    fclose(out);
    return text;
}

/* What `compare --json` prints of what moved. */
static char *figures_of(struct arena *arena, const struct grid *left, const struct grid *right)
{
    struct sheet *sheet = compare_sheet(arena, left, right);
    struct err err = { 0 };
    size_t bytes;
    char *text;
    FILE *file = open_memstream(&text, &bytes);
    struct out *out = out_stream(arena, "figures", file);

    sheet_json(sheet, out);
    assert_true(out_close(out, &err));
    fclose(file);
    sheet_free(sheet);
    return text;
}

/* Seed 0 has a value on the left alone.  Of seeds 1 and 2 the means are 12 and 15, which is
 * +25%; with seed 0 the left would be 44 / 3.  Where no seed has both, each side tells what
 * it has: 44 / 3, and none. */
static void means_of_two_runs_are_over_the_seeds_of_their_change(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *left = make_grid(arena), *right = make_grid(arena);
    char *text;

    (void)state;
    for (uint32_t s = 0; s < 3; s++) {
        grid_set(left, 0, 0, s, METRIC_COST, (double[]){ 20, 10, 14 }[s]);
        grid_set(right, 0, 0, s, METRIC_COST, (double[]){ NAN, 12, 18 }[s]);
    }
    text = print_runs(left, right);
    if (!strstr(text, " 12           15       +25%  ") ||
        !strstr(text, "; 1 seed has no value on one side\n"))
        fail_msg("%s", text);
    free(text);
    text = figures_of(arena, left, right);
    if (!strstr(text, "\"left\": 12, \"right\": 15, \"change_percent\": 25,") ||
        !strstr(text, "\"seeds_left_out\": 1}"))
        fail_msg("%s", text);
    free(text);
    grid_set(right, 0, 0, 1, METRIC_COST, NAN);
    grid_set(right, 0, 0, 2, METRIC_COST, NAN);
    text = print_runs(left, right);
    if (!strstr(text, " 14.6667         none          -"))
        fail_msg("%s", text);
    free(text);
    arena_free(arena);
}

/* Seeds 1 and 2 are there on both sides, and equal in every metric: they count as one, as all
 * three would.  A failed job more in each of both leaves -ln(0.05) / 2 = 1.49787 open. */
static void seeds_that_are_alike_count_as_one_where_one_is_gone(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *left = make_grid(arena), *right = make_grid(arena);
    struct trust_side a = { left, 0, 0 }, b = { right, 0, 0 };
    struct stats_delta d;

    (void)state;
    right->present[0] = false;
    for (uint32_t s = 1; s < 3; s++) {
        grid_set(right, 0, 0, s, METRIC_JCT_MEAN, 11);
        grid_set(right, 0, 0, s, METRIC_JOBS_FAILED, 11);
    }
    d = trust_delta(&b, &a, METRIC_JCT_MEAN, 0.95, NULL);
    assert_int_equal(d.count, 1);
    NEAR(d.percent, 10);
    assert_true(isnan(d.p_value) && isnan(d.low) && isnan(d.percent_low));
    d = trust_delta(&b, &a, METRIC_JOBS_FAILED, 0.95, NULL);
    assert_int_equal(d.count, 2);
    NEAR(d.high, 1 + 1.4978661367769954);
    grid_set(right, 0, 0, 2, METRIC_COST, 12);          /* alike no more */
    d = trust_delta(&b, &a, METRIC_JCT_MEAN, 0.95, NULL);
    assert_int_equal(d.count, 2);
    NEAR(d.p_value, 0);
    arena_free(arena);
}

/* 0 of the left is no base of a percentage, but 1, 2 and 3 differ from it by 2 -+ 2.484. */
static void a_change_from_zero_has_its_interval_in_the_unit(void **state)
{
    struct arena *arena = arena_new(4096);
    struct grid *left = make_grid(arena), *right = make_grid(arena);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    for (uint32_t s = 0; s < 3; s++) {
        grid_set(left, 0, 0, s, METRIC_COST, 0);
        grid_set(right, 0, 0, s, METRIC_COST, s + 1);
    }
    assert_int_equal(compare_print(out, left, right), 1);
    fclose(out);
    if (strstr(text, " [-0.484, +4.48] p=0.074, corrected 0.15") == NULL)
        fail_msg("%s", text);
    free(text);
    arena_free(arena);
}

/* What one line of metrics.def says, as every user of the list sees it. */
static void a_metric_is_one_line_of_the_list(void **state)
{
    const struct metric_info *info = metric_info(NULL, METRIC_JCT_MEAN);
    const struct table_column *column =
        &csv_summary.columns[3 + METRIC_JCT_MEAN];

    (void)state;
    assert_int_equal(csv_summary.count, 3 + METRIC_COUNT + 2);
    assert_string_equal(info->name, "jct_mean_s");
    assert_string_equal(info->unit, "s");
    assert_int_equal(info->better, -1);
    assert_int_equal(info->of, METRIC_OF_JOBS_DONE);
    assert_string_equal(info->title, "JCT, mean");
    assert_false(info->count);
    assert_string_equal(column->name, "jct_mean_s");
    assert_int_equal(column->type, TABLE_TIME);
    assert_int_equal(metric_find(NULL, "jct_mean_s"), METRIC_JCT_MEAN);
    assert_true(metric_info(NULL, METRIC_PREEMPTIONS)->count);
    assert_null(metric_info(NULL, METRIC_PREEMPTIONS)->title);
    assert_int_equal(csv_summary.columns[3 + METRIC_PREEMPTIONS].type,
                     TABLE_COUNT);
}

static void types_and_units_of_metrics_agree(void **state)
{
    (void)state;
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info(NULL, (enum metric)m);
        const struct table_column *column = &csv_summary.columns[3 + m];

        assert_int_equal(column->type == TABLE_TIME,
                         strcmp(info->unit, "s") == 0);
        if (info->count)
            assert_string_equal(info->unit, "count");
    }
}

/* Three seeds of mean - d, mean, mean + d: Student's interval is mean +/- T_2 d / sqrt(3), and
 * Hall's is the same, as there is no skewness. */
static struct stats_mean three_seeds(const struct metric_set *set, enum metric metric,
                                     double mean, double d, struct stats_delta *delta)
{
    static const char *const point[] = { "base" }, *const policy[] = { "a", "b" };
    struct arena *arena = arena_new(0);
    struct grid *grid = grid_new(arena, set, point, 1, policy, 2, 3);
    struct stats_mean out;

    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t s = 0; s < 3; s++) {
            double value[METRIC_ROOM];

            for (unsigned m = 0; m < metric_count(set); m++)
                value[m] = s + 1;
            value[metric] = mean + (p == 0 ? 0 : ((double)s - 1) * d);
            grid_put(grid, 0, p, s, value);
        }
        grid_end(grid, 0, p, false);
    }
    out = trust_mean(grid, 0, 1, metric, 0.95, NULL);
    *delta = trust_delta(&(struct trust_side){ grid, 0, 1 }, &(struct trust_side){ grid, 0, 0 },
                         metric, 0.95, NULL);
    arena_free(arena);
    return out;
}

static void an_interval_ends_where_the_metric_does(void **state)
{
    static const struct metric_info own = {
        .name = "own", .unit = "fraction", .help = "", .expression = "jobs / 2"
    };
    static const struct metric_set set = { &own, 1 };
    const double wide = 0.4 * T_2 / sqrt(3);    /* 0.994 */
    struct stats_delta d;
    struct stats_mean m;

    (void)state;
    m = three_seeds(NULL, METRIC_GPU_UTILIZATION, 0.5, 0.4, &d);
    assert_true(m.low == 0 && m.high == 1);
    assert_true(d.percent_low == -100);
    NEAR(d.percent_high, 200 * wide);
    NEAR(d.low, -wide);
    m = three_seeds(NULL, METRIC_GPU_UTILIZATION, 0.5, 0.1, &d);
    NEAR(m.low, 0.5 - wide / 4);
    NEAR(m.high, 0.5 + wide / 4);
    NEAR(d.percent_low, -50 * wide);
    m = three_seeds(NULL, METRIC_JCT_MEAN, 5, 4, &d);
    assert_true(m.low == 0 && d.percent_low == -100);
    NEAR(m.high, 5 + 10 * wide);
    m = three_seeds(NULL, METRIC_PREEMPTIONS, 5, 4, &d);
    assert_true(m.low == 0 && d.percent_low == -100);
    /* A price may be below 0, and what a metric of one's own may be is not known; what is no
     * share of a whole may be above 1. */
    m = three_seeds(NULL, METRIC_COST, 5, 4, &d);
    NEAR(m.low, 5 - 10 * wide);
    NEAR(d.percent_low, -200 * wide);
    m = three_seeds(&set, METRIC_COUNT, 0.5, 0.4, &d);
    NEAR(m.low, 0.5 - wide);
    NEAR(m.high, 0.5 + wide);
    m = three_seeds(NULL, METRIC_GAP, 0.5, 0.4, &d);
    NEAR(m.high, 0.5 + wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_has_students_interval),
        cmocka_unit_test(one_sample_has_no_interval),
        cmocka_unit_test(values_that_differ_in_their_last_digit_have_a_skewness),
        cmocka_unit_test(unknown_samples_do_not_count),
        cmocka_unit_test(paired_delta_is_relative_to_the_baselines_mean),
        cmocka_unit_test(relative_delta_of_proportional_pairs_is_certain),
        cmocka_unit_test(relative_delta_of_constant_pairs_is_certain),
        cmocka_unit_test(relative_interval_agrees_with_the_p_value),
        cmocka_unit_test(relative_interval_reaches_no_change_beyond_a_gap),
        cmocka_unit_test(baseline_that_may_be_zero_has_no_relative_interval),
        cmocka_unit_test(nothing_is_no_certain_part_of_a_baseline_that_may_be_zero),
        cmocka_unit_test(pairs_that_lack_a_side_do_not_count),
        cmocka_unit_test(equal_pairs_have_p_1_and_shifted_ones_p_0),
        cmocka_unit_test(zero_baseline_has_no_percentage),
        cmocka_unit_test(compare_rows_leave_the_baseline_without_delta),
        cmocka_unit_test(equal_seeds_have_the_interval_that_check_judges),
        cmocka_unit_test(what_cannot_happen_has_no_width),
        cmocka_unit_test(a_difference_of_promises_kept_is_bounded_by_their_number),
        cmocka_unit_test(a_difference_heeds_what_its_equal_side_leaves_open),
        cmocka_unit_test(a_percentage_heeds_what_its_equal_baseline_leaves_open),
        cmocka_unit_test(a_difference_heeds_promises_that_one_side_kept),
        cmocka_unit_test(alike_seeds_leave_counts_and_shares_open),
        cmocka_unit_test(policies_are_told_as_equal_where_all_is_equal),
        cmocka_unit_test(aligned_grid_is_absent_where_the_other_lacks_trials),
        cmocka_unit_test(
            one_trial_of_what_draws_nothing_pairs_with_every_seed),
        cmocka_unit_test(two_runs_are_compared_with_holms_correction),
        cmocka_unit_test(means_of_two_runs_are_over_the_seeds_of_their_change),
        cmocka_unit_test(seeds_that_are_alike_count_as_one_where_one_is_gone),
        cmocka_unit_test(a_change_from_zero_has_its_interval_in_the_unit),
        cmocka_unit_test(a_metric_is_one_line_of_the_list),
        cmocka_unit_test(types_and_units_of_metrics_agree),
        cmocka_unit_test(an_interval_ends_where_the_metric_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
