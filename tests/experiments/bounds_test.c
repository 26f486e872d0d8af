/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_test.c - no schedule beats a bound: not the best of all, found by
 * trying every order, and none of any policy; and bounds are attained where
 * the best schedule is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "experiments/bounds/bounds.h"
#include "tests/aid/world.h"

#define FEW 7
#define GPUS 4

struct best {
    double jct_mean_s, makespan_s;
};

/* Whether a gang fits beside those that run at some instant of [at, end). */
static bool fits(const struct bounds_job *job, const double *start,
                 const int *order, int placed, int j, double at)
{
    for (int i = -1; i < placed; i++) {     /* peaks are at starts */
        double t = i < 0 ? at : start[order[i]], used = job[j].gpus;

        if (t < at || t >= at + job[j].length_s)
            continue;
        for (int k = 0; k < placed; k++)
            if (start[order[k]] <= t &&
                t < start[order[k]] + job[order[k]].length_s)
                used += job[order[k]].gpus;
        if (used > GPUS)
            return false;
    }
    return true;
}

/* As early as its turn in the order allows: such schedules hold the best one
 * without preemption (Conway, Maxwell and Miller 1967, active schedules). */
static double earliest(const struct bounds_job *job, const double *start,
                       const int *order, int placed, int j)
{
    double at = job[j].submit_s, best = INFINITY;

    if (fits(job, start, order, placed, j, at))
        return at;
    for (int i = 0; i < placed; i++) {
        double end = start[order[i]] + job[order[i]].length_s;

        if (end >= at && end < best &&
            fits(job, start, order, placed, j, end))
            best = end;
    }
    return best;
}

static void try_all(const struct bounds_job *job, int *order, double *start,
                    int placed, unsigned used, struct best *best)
{
    double sum = 0, end = 0;

    for (int j = 0; j < FEW; j++) {
        if (used >> j & 1)
            continue;
        start[j] = earliest(job, start, order, placed, j);
        order[placed] = j;
        try_all(job, order, start, placed + 1, used | 1u << j, best);
    }
    if (placed < FEW)
        return;
    for (int j = 0; j < FEW; j++) {
        sum += start[j] + job[j].length_s - job[j].submit_s;
        end = fmax(end, start[j] + job[j].length_s);
    }
    best->jct_mean_s = fmin(best->jct_mean_s, sum / FEW);
    best->makespan_s = fmin(best->makespan_s, end - job[0].submit_s);
}

static void random_jobs(uint64_t seed, struct bounds_job *job)
{
    struct rng rng;
    double at = 0;

    rng_init(&rng, seed, "bounds", 0);
    for (int j = 0; j < FEW; j++) {
        at += (double)rng_below(&rng, 8);
        job[j] = (struct bounds_job) {
            at, 1 + (double)rng_below(&rng, 20),
            1 + (double)rng_below(&rng, GPUS)
        };
    }
}

static void the_best_of_all_orders_obeys_the_bounds(void **state)
{
    double nearest = INFINITY;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct best best = { INFINITY, INFINITY };
        struct bounds_job job[FEW];
        double start[FEW];
        int order[FEW];

        random_jobs(seed, job);
        try_all(job, order, start, 0, 0, &best);
        struct bounds bounds = bounds_of(job, FEW, GPUS);
        assert_true(bounds.jct_mean_s > 0);
        assert_true(bounds.jct_mean_s <= best.jct_mean_s);
        assert_true(bounds.makespan_s <= best.makespan_s);
        nearest = fmin(nearest, best.jct_mean_s / bounds.jct_mean_s);
    }
    assert_true(nearest < 1.05);    /* the bounds say something */
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 2e-9 * expected)
        fail_msg("%.12g is not %.12g", value, expected);
}

/* Smith 1956: shortest first on one machine. */
static void shortest_first_on_one_gpu_attains_the_bound(void **state)
{
    const struct bounds_job job[] = { { 0, 5, 1 }, { 0, 1, 1 }, { 0, 3, 1 } };
    struct bounds bounds = bounds_of(job, 3, 1);

    (void)state;
    assert_near(bounds.jct_mean_s, (1 + 4 + 9) / 3.0);
    assert_near(bounds.makespan_s, 9);
}

/* Schrage 1968: the job of 1 s interrupts that of 5 s. */
static void remaining_work_counts_where_jobs_come_later(void **state)
{
    const struct bounds_job job[] = { { 0, 5, 1 }, { 1, 1, 1 } };

    (void)state;
    assert_near(bounds_of(job, 2, 1).jct_mean_s, (6 + 1) / 2.0);
}

static void jobs_that_never_meet_are_bounded_by_their_lengths(void **state)
{
    const struct bounds_job job[] = { { 0, 5, 1 }, { 100, 7, 3 } };
    struct bounds bounds = bounds_of(job, 2, 4);

    (void)state;
    assert_near(bounds.jct_mean_s, 6);
    assert_near(bounds.makespan_s, 107);
}

/* Two jobs of one GPU on two: the fluid machine would end one at half time,
 * mean instants know that it takes all of it. */
static void the_busy_bound_knows_that_a_job_takes_its_time(void **state)
{
    const struct bounds_job job[] = {
        { 0, 4, 1 }, { 0, 4, 1 }, { 0, 4, 1 }, { 0, 4, 1 }
    };

    (void)state;
    assert_near(bounds_of(job, 4, 2).jct_mean_s, 6);
}

static void too_many_jobs_and_none_have_no_bound(void **state)
{
    struct bounds_job *job = calloc(BOUNDS_JOBS_MAX + 1, sizeof *job);

    (void)state;
    assert_non_null(job);
    assert_true(bounds_of(job, 0, 1).jct_mean_s == 0);
    for (size_t i = 0; i <= BOUNDS_JOBS_MAX; i++)
        job[i].length_s = 1;
    assert_true(bounds_of(job, BOUNDS_JOBS_MAX + 1, 1).makespan_s == 0);
    free(job);
}

#define JOBS 150
#define ALL "[fcfs, {policy: fcfs, name: skip, blocking: skip}, sjf, ljf, " \
    "srtf, srsf, fewest-gpus, las, dlas, hrrn, wfp3, unicef, f1, edf, " \
    "fair-share, easy, conservative, static, dynamic, hybrid, random, " \
    "gittins, time-slice, qssf, drf]"

/* Where a price falls, the least cost is what it falls to. */
static void the_cost_bound_takes_the_least_price_there_is(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\n"
                    "cluster: {nodes: [{name: n, count: 1, gpus: {type: "
                    "generic, count: 4}, price: {unit: USD/h, points: [[0h, "
                    "40], [1h, 4]], after: hold}}]}\nworkload: {arrival: "
                    "{process: fixed, times: [0s, 1h]}, mix: [{recipe: trace, "
                    "gpus: 4, duration: 1h}]}\npolicies: [fcfs]\n") ||
        !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_near(result.value[METRIC_HELD_COST], 44);
    assert_true(fabs(result.value[METRIC_COST_BOUND] - 8) < 1e-6);
    world_close(&world);
}

static void no_policy_beats_a_bound(void **state)
{
    struct world_job job[JOBS];
    struct trial_result result;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world world = { 0 };
        double least = INFINITY;

        world_random_jobs(seed, job, JOBS);
        assert_true(world_trace(&world, 2, 8, job, JOBS, ALL));
        for (uint32_t i = 0; i < 25; i++) {
            const double *value = result.value;

            if (!world_run(&world, i, NULL, NULL, &result))
                fail_msg("%s", world_error(&world));
            assert_true(value[METRIC_JCT_BOUND] > 0);
            assert_true(value[METRIC_JCT_BOUND] <= value[METRIC_JCT_MEAN]);
            assert_true(value[METRIC_MAKESPAN_BOUND] <=
                        value[METRIC_MAKESPAN]);
            assert_true(value[METRIC_GAP] >= 0);
            least = fmin(least, value[METRIC_GAP]);
        }
        assert_true(least < 1);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_all_orders_obeys_the_bounds),
        cmocka_unit_test(shortest_first_on_one_gpu_attains_the_bound),
        cmocka_unit_test(remaining_work_counts_where_jobs_come_later),
        cmocka_unit_test(jobs_that_never_meet_are_bounded_by_their_lengths),
        cmocka_unit_test(the_busy_bound_knows_that_a_job_takes_its_time),
        cmocka_unit_test(too_many_jobs_and_none_have_no_bound),
        cmocka_unit_test(the_cost_bound_takes_the_least_price_there_is),
        cmocka_unit_test(no_policy_beats_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
