/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady_test.c - is a queue that grows told from one that does not, and a run that
 * fills up from a steady one?
 *
 * Queues of k servers are drawn here; the test over runs is that of
 * experiments/results/growth.h.
 *
 *   build/tests/steady_test RUNS
 *
 * prints the tables of experiments/results/README.md.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/stats/stats.h"
#include "sim/stats/steady.h"

#define JOBS_MOST 4500u      /* of 4,000 in the mean */
#define SERVERS_MOST 16u
#define SEEDS_MOST 20u
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct world {
    uint32_t servers;
    double cv;                  /* of lognormal sizes; 0: exponential */
    bool steady;                /* begins in the steady state (one server) */
    bool days;                  /* comes twice as often by day; 6 days */
};

struct times {
    double come[JOBS_MOST], gone[JOBS_MOST];
    uint32_t count;
};

static double size(struct rng *rng, double cv)
{
    double variance = log1p(cv * cv);

    return cv > 0 ? rng_lognormal(rng, -variance / 2, sqrt(variance))
                  : rng_exponential(rng, 1);
}

/* First come, first served, for the time in which so many jobs come in the mean. */
static void queue(struct rng *rng, const struct world *w, double load,
                  uint32_t jobs, struct times *times)
{
    double rate = load * w->servers, end = jobs / rate, day = end / 6, now = 0;
    double free_at[SERVERS_MOST] = { 0 };

    times->count = 0;
    while (w->steady && rng_uniform(rng) < load) {
        times->come[times->count] = 0;
        times->gone[times->count++] = free_at[0] += rng_exponential(rng, 1);
    }
    for (uint32_t i = times->count; i < JOBS_MOST; i++) {
        uint32_t best = 0;

        do
            now += rng_exponential(rng, w->days ? 0.75 / rate : 1 / rate);
        while (w->days && rng_uniform(rng) >=
                          0.75 + 0.25 * sin(6.283185307179586 * now / day));
        if (now > end)
            break;
        for (uint32_t k = 1; k < w->servers; k++)
            if (free_at[k] < free_at[best])
                best = k;
        free_at[best] = fmax(now, free_at[best]) + size(rng, w->cv);
        times->come[i] = now;
        times->gone[i] = free_at[best];
        times->count = i + 1;
    }
}

/* One by one, unlike experiments/measure/steady_book.c. */
static void quarters(const struct times *times, double quarter[4])
{
    double from = times->come[0], to = times->come[times->count - 1];

    for (int q = 0; q < 4; q++) {
        double begin = from + (to - from) * q / 4;
        double end = from + (to - from) * (q + 1) / 4;

        quarter[q] = 0;
        for (uint32_t i = 0; i < times->count; i++)
            quarter[q] += fmax(0, fmin(times->gone[i], end) -
                                  fmax(times->come[i], begin)) / (end - begin);
    }
}

enum of { GROWS, FILLS };

static bool told(const struct world *w, double load, uint32_t jobs,
                 uint32_t seeds, uint64_t number, enum of of)
{
    static struct times times;
    double x[SEEDS_MOST], quarter[4];

    for (uint32_t s = 0; s < seeds; s++) {
        struct rng rng;

        rng_init(&rng, 41, "steady", number * SEEDS_MOST + s);
        queue(&rng, w, load, jobs, &times);
        quarters(&times, quarter);
        x[s] = of == GROWS ? steady_growth(quarter) : steady_filling(quarter);
    }
    return stats_mean(x, seeds, 0.90).low > 0;
}

static double percent_told(const struct world *w, double load, uint32_t jobs,
                           uint32_t seeds, uint32_t runs, enum of of)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < runs; i++)
        count += told(w, load, jobs, seeds, i, of);
    return 100.0 * count / runs;
}

static const struct world one = { 1, 0, false, false };
static const struct world eight = { 8, 0, false, false };
static const struct world steady = { 1, 0, true, false };
static const struct world wide = { 4, 6, false, false };
static const struct world days = { 4, 0, false, true };

/* 200 runs: the standard error of 5% is 1.5 points. */
static void a_stable_queue_is_not_said_to_grow(void **state)
{
    static const struct world *const worlds[] = { &one, &eight, &steady, &wide,
                                                  &days };
    static const double loads[] = { 0.5, 0.7, 0.9 };
    static const uint32_t jobs[] = { 100, 1000 };

    (void)state;
    for (size_t k = 0; k < COUNT(worlds); k++)
        for (size_t l = 0; l < COUNT(loads); l++)
            for (size_t j = 0; j < COUNT(jobs); j++) {
                double p = percent_told(worlds[k], loads[l], jobs[j], 5, 200,
                                        GROWS);
                if (p > 6.5)
                    fail_msg("world %zu at %g, %u jobs: %g%%", k, loads[l],
                             jobs[j], p);
            }
}

static void an_overload_is_told(void **state)
{
    (void)state;
    assert_true(percent_told(&one, 1.1, 4000, 10, 40, GROWS) > 80);
    assert_true(percent_told(&eight, 1.1, 4000, 10, 40, GROWS) > 80);
    assert_true(percent_told(&one, 1.5, 200, 10, 100, GROWS) > 80);
}

static void a_run_that_begins_empty_is_told_from_a_steady_one(void **state)
{
    (void)state;
    assert_true(percent_told(&steady, 0.9, 200, 10, 300, FILLS) < 9);
    assert_true(percent_told(&steady, 0.5, 1000, 10, 300, FILLS) < 9);
    assert_true(percent_told(&one, 0.9, 200, 20, 200, FILLS) > 60);
}

/* Ten, then 2 and 4 by turns: the mean of what is left is 3 and the sum of its
 * squares the number of its batches, so that the more are left the less is the
 * standard error, but the tens cost more. */
static void mser_leaves_out_the_beginning(void **state)
{
    double value[200];

    (void)state;
    for (size_t i = 0; i < 200; i++)
        value[i] = i < 10 ? 10 : i / 5 % 2 == 0 ? 2 : 4;
    assert_int_equal(steady_after(value, 60), 10);
    assert_int_equal(steady_after(value, 200), 10);
    assert_true(steady_after(value, 49) == STEADY_NONE);
    for (size_t i = 0; i < 200; i++)     /* a step in the second half */
        value[i] = (i < 125 ? 10 : 0) + (i / 5 % 2 == 0 ? 0.1 : 0);
    assert_true(steady_after(value, 200) == STEADY_NONE);
    for (size_t i = 0; i < 200; i++)
        value[i] = 3;
    assert_int_equal(steady_after(value, 200), 0);
}

/* The critical quarters: of the root of time growth is 0; of time itself, by hand
 * 7/8 x (27^.5 - 8^.5) / (8 - 27^.5) - 5/8 = 0.11390. */
static void growth_is_none_at_a_load_of_one(void **state)
{
    double root[4], line[] = { 0.125, 0.375, 0.625, 0.875 };
    double down[] = { 4, 3, 5, 9 }, flat[] = { 0, 0, 0, 0 };

    (void)state;
    for (int q = 0; q < 4; q++)
        root[q] = pow(q + 1, 1.5) - pow(q, 1.5);
    assert_true(fabs(steady_growth(root)) < 1e-12);
    assert_true(fabs(steady_growth(line) - 0.113895) < 1e-5);
    assert_true(steady_growth(down) == 0);
    assert_true(fabs(steady_filling(line) - 1.5) < 1e-12);
    assert_true(steady_filling(flat) == 0);
}

static int print_all(uint32_t runs)
{
    static const struct world *const worlds[] = { &one, &eight, &wide, &days };
    static const char *const name[] = { "M/M/1", "M/M/8", "cv 6, 4 servers",
                                        "M/M/4, days" };
    static const double loads[] = { 0.5, 0.7, 0.9, 1, 1.1, 1.2, 1.5 };
    static const uint32_t jobs[] = { 200, 1000, 4000 };

    for (size_t k = 0; k < COUNT(worlds); k++)
        for (size_t l = 0; l < COUNT(loads); l++) {
            print_message("%-16s %4.2f ", name[k], loads[l]);
            for (size_t j = 0; j < COUNT(jobs); j++)
                for (uint32_t seeds = 5; seeds <= 20; seeds *= 2)
                    print_message(" %5.1f", percent_told(
                        worlds[k], loads[l], jobs[j], seeds, runs, GROWS));
            print_message("\n");
        }
    for (size_t l = 0; l < 3; l++)
        for (int s = 0; s < 2; s++) {
            print_message("%-16s %4.2f ", s ? "steady" : "empty", loads[l]);
            for (size_t j = 0; j < COUNT(jobs); j++)
                for (uint32_t seeds = 5; seeds <= 20; seeds *= 2)
                    print_message(" %5.1f", percent_told(
                        s ? &steady : &one, loads[l], jobs[j], seeds, runs,
                        FILLS));
            print_message("\n");
        }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stable_queue_is_not_said_to_grow),
        cmocka_unit_test(an_overload_is_told),
        cmocka_unit_test(a_run_that_begins_empty_is_told_from_a_steady_one),
        cmocka_unit_test(mser_leaves_out_the_beginning),
        cmocka_unit_test(growth_is_none_at_a_load_of_one),
    };

    if (argc > 1)
        return print_all((uint32_t)strtoul(argv[1], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
