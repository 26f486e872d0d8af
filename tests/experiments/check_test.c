/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_test.c - verdicts of expectations and regressions, and their files.
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

#include "experiments/preflight/fingerprints.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/results/without.h"
#include "sim/base/arena.h"
#include "sim/text/folder.h"
#include "tests/aid/scratch.h"

/* Policies a and b, `seeds` seeds; a's JCT is 100 + seed, b's 90 + 2 seed. */
static struct grid *make_grid(struct arena *arena, uint32_t seeds)
{
    static const char *const point[] = { "base" }, *const policy[] = {
        "a", "b" };
    static const uint32_t seed[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    static const char *const digits[] = { "0123456789abcdef" };
    static const struct fingerprints jobs = { point, digits, 1 };
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);

    *grid = (struct grid){ .point = point, .point_count = 1, .policy = policy,
                            .policy_count = 2, .seed_count = seeds,
                            .seed = seed, .jobs = &jobs };
    grid_begin(arena, grid);
    for (uint32_t i = 0; i < 2 * seeds; i++)
        grid_set(grid, 0, i / seeds, i % seeds, METRIC_JCT_MEAN,
                 i < seeds ? 100 + i : 90 + 2 * (i - seeds));
    return grid;
}

static struct experiment_expect expect(const char *policy, const char *versus,
                                       double low, double high, bool percent)
{
    return (struct experiment_expect){
        .metric = METRIC_JCT_MEAN, .policy = policy, .versus = versus,
        .low = low, .high = high, .percent = percent, .confidence = 0.95
    };
}

static enum check_verdict judge(struct scratch *w, const struct grid *grid,
                                struct experiment_expect e)
{
    struct experiment_expect *copy = arena_alloc(w->arena, 1, sizeof *copy);
    struct check_list list;

    *copy = e;
    list = check_expects(w->arena, grid, copy, 1);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.held + list.failed + list.undecided +
                     list.not_judged + list.trial_failed, 1);
    assert_int_equal(check_bad(&list), list.held == 0);
    assert_true(list.item[0].reason[0] != '\0');
    return list.item[0].verdict;
}

/* Four seeds: mean 101.5, half width 3.182446 x 1.290994 / 2 = 2.0543. */
static void interval_inside_holds_and_outside_does_not(void **state)
{
    struct scratch *w = *state;
    const struct grid *grid = make_grid(w->arena, 4);

    assert_int_equal(judge(w, grid, expect("a", NULL, -INFINITY, 103.6, 0)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("a", NULL, -INFINITY, 103.5, 0)),
                     CHECK_UNDECIDED);
    assert_int_equal(judge(w, grid, expect("a", NULL, -INFINITY, 99.4, 0)),
                     CHECK_FAILS);
    assert_int_equal(judge(w, grid, expect("a", NULL, 99.4, 103.6, 0)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("a", NULL, 103.6, INFINITY, 0)),
                     CHECK_FAILS);
}

/* Pairs differ by -10, -9, -8, -7: mean -8.5, half width 2.0543. */
static void versus_judges_the_paired_difference(void **state)
{
    struct scratch *w = *state;
    const struct grid *grid = make_grid(w->arena, 4);

    assert_int_equal(judge(w, grid, expect("b", "a", -INFINITY, -6.4, 0)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("b", "a", -INFINITY, -6.5, 0)),
                     CHECK_UNDECIDED);
    assert_int_equal(judge(w, grid, expect("b", "a", -INFINITY, -6.1, 1)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("b", "a", -INFINITY, -11, 1)),
                     CHECK_FAILS);
}

static void one_seed_is_judged_by_its_value(void **state)
{
    struct scratch *w = *state;
    const struct grid *grid = make_grid(w->arena, 1);

    assert_int_equal(judge(w, grid, expect("a", NULL, 100, 100, 0)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("a", NULL, -INFINITY, 99.9, 0)),
                     CHECK_FAILS);
}

/* Of four seeds one has the value: 101 is no mean of what four would show. */
static void one_seed_of_many_decides_nothing(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect("a", NULL, -INFINITY, 1000, 0);
    struct check_list list;

    grid_set(grid, 0, 0, 0, METRIC_JCT_MEAN, NAN);
    grid_set(grid, 0, 0, 2, METRIC_JCT_MEAN, NAN);
    grid_set(grid, 0, 0, 3, METRIC_JCT_MEAN, NAN);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.undecided, 1);
    assert_string_equal(list.item[0].reason,
                        "101 s; one seed of 4 has the value, so no interval");
    e = expect("b", "a", -INFINITY, 1000, 0);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
}

/* Sets a metric to the same value in all four seeds of both policies. */
static void set_all(struct grid *grid, enum metric metric, double value)
{
    for (uint32_t i = 0; i < 8; i++)
        grid_set(grid, 0, i / 4, i % 4, metric, value);
}

static struct experiment_expect expect_of(enum metric metric, const char *versus, double low,
                                          double high)
{
    struct experiment_expect e = expect("a", versus, low, high, false);

    e.metric = metric;
    return e;
}

/* No failure in four drawn seeds.  A Poisson process of 0.749 a seed shows none in four
 * with a probability of exp(-4 x 0.749) = 0.05: -ln(0.05) = 2.9957 is 4 x 0.74893. */
static void equal_counts_of_drawn_seeds_have_the_interval_that_they_leave_open(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_JOBS_FAILED, NULL, -INFINITY, 0.001);
    struct check_list list;

    set_all(grid, METRIC_JOBS_FAILED, 0);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.undecided, 1);
    assert_string_equal(list.item[0].reason, "0, 95% interval [0, 0.74893], 4 equal seeds: "
                                             "it straddles the limit");
    e.high = 0.748;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.high = 0.749;
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    e = expect_of(METRIC_JOBS_FAILED, NULL, 0.748, INFINITY);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.low = 0.749;
    assert_int_equal(judge(w, grid, e), CHECK_FAILS);
    /* The difference to b may lie on both sides. */
    e = expect_of(METRIC_JOBS_FAILED, "b", -0.749, 0.749);
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    e.low = -0.748;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    /* Of a mean of 50 it is 1.4979%. */
    set_all(grid, METRIC_PREEMPTIONS, 50);
    e = expect_of(METRIC_PREEMPTIONS, "b", -INFINITY, 1.49);
    e.percent = true;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.high = 1.5;
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
}

/* A share q of seeds that are otherwise leaves (1 - q)^4 = 0.05 for none of four: q =
 * 1 - 0.47287.  Of 4 x 1000 requests q is 1 - 0.05^(1/4000) = 0.00074865, if they are
 * independent; that those of one seed are, is not known. */
static void equal_fractions_of_drawn_seeds_have_an_interval_too(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_GPU_DOWN, NULL, -INFINITY, 0.527);
    struct check_list list;

    set_all(grid, METRIC_GPU_DOWN, 0);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.high = 0.5272;
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    set_all(grid, METRIC_SLO, 1);
    e = expect_of(METRIC_SLO, NULL, 0.4729, INFINITY);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.low = 0.4728;
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    set_all(grid, METRIC_SLO_COUNT, 1000);
    e.low = 0.99926;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.low = 0.99925;
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_string_equal(list.item[0].reason, "1, 95% interval [0.99925, 1], 4 equal seeds; not "
                        "trusted: all 4 seeds are equal, and 53% of others may differ");
    e.low = 0.47;
    list = check_expects(w->arena, grid, &e, 1);
    assert_null(strstr(list.item[0].reason, "not trusted"));
    set_all(grid, METRIC_SLO, 0);       /* at most 0.527 of seeds may be 1, all below 0.9 */
    e.low = 0.9;
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.failed, 1);
    assert_null(strstr(list.item[0].reason, "not trusted"));
}

/* b keeps 4 x 1000 promises and a 0.9 of them, -+ 0.01 and 0.02: mean -0.1, sd 0.0182574.
 * Student's t of 3 degrees of freedom at 98.75% is 4.176535: -0.1 -+ 0.0381264, and
 * 1 - 0.025^(1/4000) = 0.00092180 more on the upper side.  By whole seeds, of which 1 -
 * 0.025^(1/4) = 60% may be otherwise, the difference may be above 0. */
static void a_difference_to_a_side_that_is_equal_says_what_it_turns_on(void **state)
{
    const double share[] = { 0.88, 0.89, 0.91, 0.92 };
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_SLO, "b", -INFINITY, -0.0609);
    struct check_list list;

    set_all(grid, METRIC_SLO, 1);
    set_all(grid, METRIC_SLO_COUNT, 1000);
    for (uint32_t s = 0; s < 4; s++)
        grid_set(grid, 0, 0, s, METRIC_SLO, share[s]);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_string_equal(list.item[0].reason, "-0.1, 95% interval [-0.13813, -0.060952], 4 seeds; "
                        "not trusted: all 4 seeds of one side are equal, and 60% of others may "
                        "differ");
    e.high = -0.061;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    /* a fails 88 to 92 jobs, b none, or up to -ln(0.025) / 4 = 0.92222 in a seed. */
    set_all(grid, METRIC_JOBS_FAILED, 0);
    for (uint32_t s = 0; s < 4; s++)
        grid_set(grid, 0, 0, s, METRIC_JOBS_FAILED, 100 * share[s]);
    e = expect_of(METRIC_JOBS_FAILED, "b", 85.265, INFINITY);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_string_equal(list.item[0].reason, "90, 95% interval [85.265, 93.813], 4 seeds; not "
                        "trusted: 4 pairs");
}

/* No interval says that a mean is 0, or a fraction 1: "none" is asked of these seeds.  Of
 * 0, 0, 0, 1 the mean is above 0 though Student's interval, 0.25 +- 0.80, is not. */
static void none_and_all_are_judged_by_the_seeds_that_were_run(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_JOBS_FAILED, NULL, -INFINITY, 0);
    struct check_list list;

    set_all(grid, METRIC_JOBS_FAILED, 0);
    set_all(grid, METRIC_SLO, 1);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_non_null(strstr(list.item[0].reason, "[0, 0.74893], 4 equal seeds: a limit that asks "
                           "for none, or for all, is judged by these seeds alone"));
    e = expect_of(METRIC_SLO, NULL, 1, INFINITY);
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    grid_set(grid, 0, 0, 3, METRIC_JOBS_FAILED, 1);
    grid_set(grid, 0, 0, 3, METRIC_SLO, 0.9);
    assert_int_equal(judge(w, grid, e), CHECK_FAILS);
    e = expect_of(METRIC_JOBS_FAILED, NULL, -INFINITY, 0);
    assert_int_equal(judge(w, grid, e), CHECK_FAILS);
    e.high = 0.001;
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
}

/* Seeds that are equal by every metric count as one, but of failures they tell no more. */
static void alike_seeds_leave_failures_open(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_JOBS_FAILED, NULL, -INFINITY, 0.748);
    bool fixed[] = { true, true };

    set_all(grid, METRIC_JCT_MEAN, 100);
    set_all(grid, METRIC_JOBS_FAILED, 0);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.high = 0.749;
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    e.high = 0.001;
    grid->fixed = fixed;                /* nothing is drawn: there are no others */
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
}

/* 0.7 in each of four seeds is no chance, as compare.csv says, too.  Without failures 0 is
 * known.  Of 4 x 1000 deadlines that both policies met, 1 - 0.05^(1/4000) = 0.00074865 may
 * be otherwise in b. */
static void measured_and_impossible_figures_are_known(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect_of(METRIC_GPU_UTILIZATION, NULL, 0.7, 1);
    struct check_list list;

    set_all(grid, METRIC_GPU_UTILIZATION, 0.7);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_string_equal(list.item[0].reason, "0.7, 95% interval [0.7, 0.7], 4 seeds");
    assert_int_equal(judge(w, grid, expect_of(METRIC_GPU_UTILIZATION, "b", 0, 0)),
                     CHECK_HOLDS);
    set_all(grid, METRIC_GPU_DOWN, 0);
    e = expect_of(METRIC_GPU_DOWN, NULL, -INFINITY, 0.001);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    grid->without[0] = without_read("rent failures");
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
    set_all(grid, METRIC_SLO, 1);
    set_all(grid, METRIC_SLO_COUNT, 1000);
    e = expect_of(METRIC_SLO, "b", -0.0007486, INFINITY);
    assert_int_equal(judge(w, grid, e), CHECK_UNDECIDED);
    e.low = -0.0007487;
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_non_null(strstr(list.item[0].reason, "4 equal seeds; not trusted: all 4 seeds are "
                           "equal, and 53% of others may differ"));
}

/* A price that is the same for each seed is known, and so is it that all jobs are done. */
static void what_the_experiment_says_is_known(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);

    set_all(grid, METRIC_COST, 10);
    set_all(grid, METRIC_JOBS, 8);
    set_all(grid, METRIC_JOBS_DONE, 8);
    assert_int_equal(judge(w, grid, expect_of(METRIC_COST, NULL, 10, 10)), CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect_of(METRIC_COST, "b", 0, 0)), CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect_of(METRIC_JOBS, NULL, 8, 8)), CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect_of(METRIC_JOBS_DONE, NULL, 8, 8)), CHECK_HOLDS);
    /* Few jobs decide means (3,600 of skewness 20: 20 / 60 is above 0.05), and not this. */
    set_all(grid, METRIC_JOBS, 900);
    set_all(grid, METRIC_JOBS_DONE, 900);
    set_all(grid, METRIC_RUN_TIME_CV, 3);
    set_all(grid, METRIC_RUN_TIME_SKEWNESS, 20);
    struct experiment_expect e = expect_of(METRIC_JOBS_DONE, NULL, 900, INFINITY);
    struct check_list list = check_expects(w->arena, grid, &e, 1);
    assert_string_equal(list.item[0].reason, "900, 95% interval [900, 900], 4 seeds");
    set_all(grid, METRIC_JOBS_DONE, 8);
    set_all(grid, METRIC_JOBS, 9);      /* one is not done, in each seed */
    assert_int_equal(judge(w, grid, expect_of(METRIC_JOBS_DONE, NULL, 8, 8)), CHECK_UNDECIDED);
}

/* Of x=2 y=1 and x=2 y=2, the first has its partner x=1 y=1, with 10 against 12; the second
 * has none.  x=1 y=1 would be compared with itself. */
static void a_point_without_its_partner_is_not_judged(void **state)
{
    static const char *const point[] = { "x=1 y=1", "x=2 y=1", "x=2 y=2" };
    static const char *const policy[] = { "a" };
    static const uint32_t seed[] = { 0 };
    struct scratch *w = *state;
    struct grid grid = { .point = point, .point_count = 3, .policy = policy,
                         .policy_count = 1, .seed_count = 1, .seed = seed };
    struct experiment_expect e = expect("a", NULL, -INFINITY, 0, 0);
    struct check_list list;

    grid_begin(w->arena, &grid);
    for (uint32_t t = 0; t < 3; t++)
        grid_set(&grid, t, 0, 0, METRIC_JCT_MEAN, t == 0 ? 12 : 10);
    e.versus_point = "x=1";
    list = check_expects(w->arena, &grid, &e, 1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.held, 1);
    assert_int_equal(list.not_judged, 1);
    assert_string_equal(list.item[1].reason, "there is no point x=1 y=2");
}

/* 100 % of a mean of 0 is no limit, though there are four seeds. */
static void a_percentage_of_nothing_is_told(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect("b", "a", -INFINITY, 100, true);
    struct check_list list;

    for (uint32_t s = 0; s < 4; s++)
        grid_set(grid, 0, 0, s, METRIC_JCT_MEAN, 0);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.undecided, 1);
    assert_string_equal(list.item[0].reason,
                        "the mean of a is 0: nothing is a percentage of it");
}

static void missing_values_are_undecided(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 1);

    grid_set(grid, 0, 0, 0, METRIC_JCT_MEAN, NAN);
    assert_int_equal(judge(w, grid, expect("a", NULL, 0, 1000, 0)),
                     CHECK_UNDECIDED);
}

static void what_was_not_run_is_not_judged_and_does_not_pass(void **state)
{
    struct scratch *w = *state;
    struct experiment_expect e = expect("c", NULL, 0, 1, 0);
    struct check_list list;

    assert_int_equal(judge(w, make_grid(w->arena, 2), e), CHECK_NOT_JUDGED);
    e = expect("a", "c", 0, 1, 0);
    assert_int_equal(judge(w, make_grid(w->arena, 2), e), CHECK_NOT_JUDGED);
    e = expect("a", NULL, 0, 1000, 0);
    e.point = "rate=2/h";
    assert_int_equal(judge(w, make_grid(w->arena, 2), e), CHECK_NOT_JUDGED);
    list = check_expects(w->arena, make_grid(w->arena, 2), &e, 1);
    list.not_judged_passes = true;
    assert_int_equal(check_bad(&list), 0);
}

static void fewer_samples_than_are_needed_do_not_judge(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 1);
    struct experiment_expect e = expect("a", NULL, 0, 1000, 0);
    bool fixed[] = { true, false };

    e.seeds_min = 2;
    assert_int_equal(judge(w, grid, e), CHECK_NOT_JUDGED);
    grid->fixed = fixed;                /* more could not be had */
    assert_int_equal(judge(w, grid, e), CHECK_HOLDS);
}

static void failed_trial_is_a_verdict_of_its_own(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    uint32_t failed[] = { 0, 1 };

    grid->failed = failed;
    grid->present[7] = false;
    assert_int_equal(judge(w, grid, expect("a", NULL, 0, 1000, 0)),
                     CHECK_HOLDS);
    assert_int_equal(judge(w, grid, expect("b", NULL, 0, 1000, 0)),
                     CHECK_TRIAL_FAILED);
    assert_int_equal(judge(w, grid, expect("a", "b", -1000, 1000, 0)),
                     CHECK_TRIAL_FAILED);
}

/* Ten copies are one sample, with neither interval nor p-value. */
static void copies_are_judged_by_their_value_alone(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect("b", "a", -INFINITY, -6.5, 0);
    struct check_list list;

    for (uint32_t i = 0; i < 8; i++)
        grid_set(grid, 0, i / 4, i % 4, METRIC_JCT_MEAN, i < 4 ? 100 : 90);
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.held, 1);
    assert_int_equal(list.item[0].seeds, 1);
    assert_true(isnan(list.item[0].low));
    assert_non_null(strstr(list.item[0].reason, "count as one"));
}

static void any_seed_that_got_worse_is_a_regression(void **state)
{
    struct scratch *w = *state;
    const struct grid *before = make_grid(w->arena, 4);
    struct grid *now = make_grid(w->arena, 4);
    struct check_list list;

    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.held, 2);
    grid_set(now, 0, 0, 2, METRIC_JCT_MEAN, 102.5);     /* from 102 */
    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.failed, 1);
    assert_non_null(strstr(list.item[0].reason, "worse in 1 of 4 seeds (seed "
                           "2: 102 -> 102.5)"));
    assert_int_equal(check_regressions(w->arena, before, now, 0.005,
                                       NULL).failed, 0);
    grid_set(now, 0, 0, 2, METRIC_JCT_MEAN, 50);
    assert_int_equal(check_regressions(w->arena, before, now, 0,
                                       NULL).failed, 0);
    grid_set(now, 0, 0, 1, METRIC_JCT_MEAN, NAN);       /* from 101 */
    list = check_regressions(w->arena, before, now, 0.5, NULL);
    assert_int_equal(list.failed, 1);
    assert_non_null(strstr(list.item[0].reason, "(seed 1: 101 -> no value)"));
}

/* What is said where nothing got worse, and of other jobs, whatever the metrics say. */
static void a_regression_says_what_was_compared(void **state)
{
    struct scratch *w = *state;
    struct grid *before = make_grid(w->arena, 4), *now = make_grid(w->arena, 4);
    struct check_list list = check_regressions(w->arena, before, now, 0, NULL);

    assert_string_equal(list.item[0].reason, "nothing worse in 4 trials, 1 metric");
    assert_string_equal(list.item[0].name, "no regression of a (base)");
    assert_string_equal(list.item[1].name, "no regression of b (base)");
    for (uint32_t i = 0; i < 8; i++) {
        grid_set(before, 0, i / 4, i % 4, METRIC_JOBS, 2);
        grid_set(now, 0, i / 4, i % 4, METRIC_JOBS, i == 6 ? 1 : 2);
        grid_set(now, 0, i / 4, i % 4, METRIC_JCT_MEAN, 300);
    }
    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.failed, 2);
    assert_non_null(strstr(list.item[0].reason, "jct_mean_s worse in 4 of 4 seeds"));
    assert_string_equal(list.item[1].reason,
                        "the workload differs: 1 job in seed 2, and 2 in the baseline");
}

/* An expectation in words: what is asked, its limits, and where. */
static void an_expectation_is_said_in_words(void **state)
{
    static const struct {
        const char *claim, *versus;
        double low, high;
        bool percent;
        const char *name;
    } row[] = {
        { NULL, NULL, -INFINITY, 103.6, false, "jct_mean_s of b at most 103.6 s" },
        { "C1", NULL, 2, INFINITY, false, "C1: jct_mean_s of b at least 2 s" },
        { "C1", "a", -INFINITY, -10, true, "C1: jct_mean_s of b vs a at most -10%" },
        { NULL, "a", -12.5, 3, true, "jct_mean_s of b vs a between -12.5% and 3%" },
        { NULL, "a", 1, 2, false, "jct_mean_s of b vs a between 1 s and 2 s" },
    };
    struct scratch *w = *state;
    const struct grid *grid = make_grid(w->arena, 4);

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct experiment_expect e = expect("b", row[i].versus, row[i].low, row[i].high,
                                            row[i].percent);
        e.claim = row[i].claim;
        struct check_list list = check_expects(w->arena, grid, &e, 1);
        assert_string_equal(list.item[0].name, row[i].name);
    }
}

/* The second of two seeds has no value. */
static struct grid *make_two(struct arena *arena)
{
    struct grid *grid = make_grid(arena, 2);

    grid_set(grid, 0, 0, 1, METRIC_JCT_MEAN, NAN);
    return grid;
}

/* Its figures in words.  Four seeds of a: 101.5 with half a width of 2.0543; one has no interval;
 * two of two that are not over all jobs. */
static void the_figures_of_a_verdict_are_said_in_words(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect("a", NULL, -INFINITY, 103, 0);
    struct check_list list = check_expects(w->arena, grid, &e, 1);

    assert_string_equal(list.item[0].reason, "101.5 s, 95% interval [99.446 s, 103.55 s], 4 seeds: "
                                             "it straddles the limit");
    e.high = 110;
    e.confidence = 0.9;             /* 2.353363 x 0.6454972 = 1.5191 */
    list = check_expects(w->arena, grid, &e, 1);
    assert_string_equal(list.item[0].reason,
                        "101.5 s, 90% interval [99.981 s, 103.02 s], 4 seeds");
    grid_set(grid, 0, 0, 3, METRIC_JCT_MEAN, NAN);
    grid_set(grid, 0, 0, 2, METRIC_JCT_MEAN, NAN);
    grid_set(grid, 0, 0, 1, METRIC_JCT_MEAN, NAN);
    list = check_expects(w->arena, grid, &e, 1);
    assert_string_equal(list.item[0].reason,
                        "100 s; one seed of 4 has the value, so no interval");
    list = check_expects(w->arena, make_two(w->arena), &e, 1);
    assert_string_equal(list.item[0].reason,
                        "100 s; one seed of 2 has the value, so no interval");
    list = check_expects(w->arena, make_grid(w->arena, 1), &e, 1);
    assert_string_equal(list.item[0].reason, "100 s; one seed, so no interval");
    for (uint32_t i = 0; i < 8; i++) {
        grid_set(grid, 0, i / 4, i % 4, METRIC_JOBS, 10);
        grid_set(grid, 0, i / 4, i % 4, METRIC_JOBS_DONE, i / 4 ? 10 : 9);
    }
    e = expect("b", "a", -INFINITY, 0, 1);
    list = check_expects(w->arena, grid, &e, 1);
    assert_string_equal(list.item[0].reason,
                        "not compared: it is over 40 of 40 and 36 of 40 jobs");
}

/* Two policies over jobs that may be others, and a third that the baseline never ran. */
static void what_cannot_be_compared_is_not_judged(void **state)
{
    struct scratch *w = *state;
    struct grid *before = make_grid(w->arena, 4), *now = make_grid(w->arena, 4);
    struct check_list list;

    now->jobs = NULL;
    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.not_judged, 2);
    assert_non_null(strstr(list.item[0].reason, "is not known: the run has neither"));
    grid_set(now, 0, 1, 0, METRIC_JCT_MEAN, 91);        /* from 90 */
    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.not_judged, 1);
    assert_int_equal(list.failed, 1);
    now = make_grid(w->arena, 4);
    for (uint32_t s = 0; s < 4; s++)
        before->present[4 + s] = false;
    list = check_regressions(w->arena, before, now, 0, NULL);
    assert_int_equal(list.held, 1);
    assert_int_equal(list.not_judged, 1);
    assert_non_null(strstr(list.item[0].reason, "nothing worse in 4 trials, 1 metric"));
    assert_string_equal(list.item[1].reason, "the baseline has no trial of it");
}

static void trial_that_is_gone_is_a_regression(void **state)
{
    struct scratch *w = *state;
    struct grid *now = make_grid(w->arena, 4);
    struct check_list list;

    now->present[7] = false;
    list = check_regressions(w->arena, make_grid(w->arena, 4), now, 0, NULL);
    assert_int_equal(list.failed, 1);
    assert_non_null(strstr(list.item[1].reason, "1 of 4 trials of the "
                           "baseline are gone"));
    struct check_left left = { NULL, true };
    list = check_regressions(w->arena, make_grid(w->arena, 4), now, 0, &left);
    assert_int_equal(list.failed, 0);
    assert_int_equal(list.not_judged, 1);
    grid_set(now, 0, 1, 2, METRIC_JCT_MEAN, grid_value(now, 0, 1, 2, METRIC_JCT_MEAN) + 1);
    list = check_regressions(w->arena, make_grid(w->arena, 4), now, 0, &left);
    assert_int_equal(list.failed, 1);   /* the graver verdict stays */
}

/* The draws of b are compared with a value that no seed moves. */
static void what_draws_has_an_interval_against_what_does_not(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena, 4);
    struct experiment_expect e = expect("b", "a", -INFINITY, -6.9, 0);
    bool fixed[] = { true, false };
    struct check_list list;

    for (uint32_t i = 0; i < 4; i++)
        grid_set(grid, 0, 0, i, METRIC_JCT_MEAN, 100);
    grid->fixed = fixed;                /* b - a: -10, -8, -6, -4 */
    list = check_expects(w->arena, grid, &e, 1);
    assert_int_equal(list.item[0].seeds, 4);
    assert_int_equal(list.undecided, 1);
    assert_true(fabs(list.item[0].low - (-7 - 4.1086)) < 1e-3);
}

static void expectations_come_back_from_checks_csv(void **state)
{
    struct scratch *w = *state;
    struct experiment_expect e[2] = { expect("b", "a", -INFINITY, -6.5, true),
                                 expect("a", NULL, 90, 110, false) };
    const struct experiment_expect *back;
    struct check_list list;
    struct err err = { 0 };
    struct folder *folder = folder_make(w->arena, w->dir, &err);
    uint32_t count;

    e[0].claim = "A \"3\", first";
    list = check_expects(w->arena, make_grid(w->arena, 4), e, 2);
    assert_true(check_write(w->arena, folder, &list, &err));
    folder_close(folder);
    assert_true(check_read(w->arena, w->dir, NULL, &back, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(back[0].claim, e[0].claim);
    assert_true(back[0].percent && isinf(back[0].low));
    assert_true(back[0].high == -6.5 && back[0].confidence == 0.95);
    assert_null(back[1].versus);
    assert_string_equal(back[1].point, "base");
    assert_true(back[1].low == 90 && back[1].high == 110);
}

/* What one seed was not enough for, one seed is not enough for when it comes back. */
static void what_was_not_judged_by_some_seeds_is_not_judged_by_them(void **state)
{
    struct scratch *w = *state;

    for (uint32_t seeds = 1; seeds <= 2; seeds++) {
        const struct experiment_expect *back;
        struct err err = { 0 };
        char text[300];
        uint32_t count;

        snprintf(text, sizeof text, "claim,point,metric,policy,vs,percent,at_least,at_most,"
                 "confidence,seeds,value,ci_low,ci_high,verdict,reason\n"
                 "C,base,jct_mean_s,a,,0,90,110,0.95,%u,,,,not judged,x\n"
                 "C,base,jct_mean_s,a,,0,90,110,0.95,%u,,,,holds,x\n", seeds, seeds);
        scratch_write(w, "checks.csv", text);
        assert_true(check_read(w->arena, w->dir, NULL, &back, &count, &err));
        assert_int_equal(back[0].seeds_min, seeds + 1);
        assert_int_equal(back[1].seeds_min, 0);
        assert_int_equal(back[0].trials_min, seeds);
        assert_int_equal(back[1].trials_min, seeds);
    }
}

static void absent_checks_csv_has_no_expectations(void **state)
{
    struct scratch *w = *state;
    const struct experiment_expect *back;
    struct err err = { 0 };
    uint32_t count = 9;

    assert_true(check_read(w->arena, w->dir, NULL, &back, &count, &err));
    assert_int_equal(count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(interval_inside_holds_and_outside_does_not),
        TEST(versus_judges_the_paired_difference), TEST(an_expectation_is_said_in_words),
        TEST(the_figures_of_a_verdict_are_said_in_words),
        TEST(a_regression_says_what_was_compared),
        TEST(one_seed_is_judged_by_its_value),
        TEST(one_seed_of_many_decides_nothing),
        TEST(equal_counts_of_drawn_seeds_have_the_interval_that_they_leave_open),
        TEST(equal_fractions_of_drawn_seeds_have_an_interval_too),
        TEST(a_difference_to_a_side_that_is_equal_says_what_it_turns_on),
        TEST(none_and_all_are_judged_by_the_seeds_that_were_run),
        TEST(alike_seeds_leave_failures_open),
        TEST(measured_and_impossible_figures_are_known),
        TEST(what_the_experiment_says_is_known),
        TEST(a_point_without_its_partner_is_not_judged),
        TEST(a_percentage_of_nothing_is_told),
        TEST(missing_values_are_undecided),
        TEST(what_was_not_run_is_not_judged_and_does_not_pass),
        TEST(fewer_samples_than_are_needed_do_not_judge),
        TEST(failed_trial_is_a_verdict_of_its_own),
        TEST(copies_are_judged_by_their_value_alone),
        TEST(what_draws_has_an_interval_against_what_does_not),
        TEST(any_seed_that_got_worse_is_a_regression),
        TEST(what_cannot_be_compared_is_not_judged),
        TEST(trial_that_is_gone_is_a_regression),
        TEST(expectations_come_back_from_checks_csv),
        TEST(what_was_not_judged_by_some_seeds_is_not_judged_by_them),
        TEST(absent_checks_csv_has_no_expectations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
