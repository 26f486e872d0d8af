/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renewal_test.c - slots that start again when they end, against laws of lengths whose renewal
 * equation has a closed form (Cox, Renewal Theory, 1962): exponential, Erlang of two phases,
 * uniform, and one length.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/laws/renewal.h"

#define HORIZON 4.0

/* `self` is a number: the rate, or the length. */
static double of_exponential(const void *self, double t)
{
    return exp(-*(const double *)self * t);
}

static double of_erlang(const void *self, double t)
{
    double x = *(const double *)self * t;

    return exp(-x) * (1 + x);
}

static double of_uniform(const void *self, double t)
{
    return fmax(0, 1 - t / *(const double *)self);
}

static double of_one_length(const void *self, double t)
{
    return t < *(const double *)self;
}

static void is_near(const char *what, double t, double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within))
        fail_msg("%s at %g: %.9g, expected %.9g", what, t, found, expected);
}

/* No memory: at any time the rest is as a whole one, and the age at t is the least of t and
 * such a length. */
static void exponential_lengths_have_no_memory(void **state)
{
    static const double rates[] = { 0.25, 1, 3 };
    struct renewal r;

    (void)state;
    for (int i = 0; i < 3; i++) {
        const double *rate = &rates[i];
        renewal_init(&r, of_exponential, rate, HORIZON);
        for (double t = 0.1; t < HORIZON; t += 0.37) {
            double mean = (1 - exp(-*rate * t)) / *rate;
            is_near("time", t, renewal_time(&r, *rate * t), t, 1e-3);
            is_near("age", t, renewal_age(&r, t), mean, 1e-3);
            is_near("mean age", t, renewal_mean_age(&r, t), (1 - mean / t) / *rate, 1e-3);
            for (double x = 0; x < 3; x += 0.7)
                is_near("alive", t, renewal_alive(&r, t, x), exp(-*rate * x), 1e-3);
        }
    }
}

/* Ends by t of two phases of rate 1: t / 2 - 1/4 + exp(-2t) / 4.  At t a slot is in its first
 * phase with probability (1 + exp(-2t)) / 2.  Ages are sums of the density of ends,
 * (1 - exp(-2t)) / 2. */
static void two_phases_end_as_cox_says(void **state)
{
    const double rate = 1;
    struct renewal r;

    (void)state;
    renewal_init(&r, of_erlang, &rate, HORIZON);
    double sum = 0;
    for (int k = 1; k <= 40; k++) {
        double t = k / 10.0, first = (1 + exp(-2 * t)) / 2, age = t * of_erlang(&rate, t);
        is_near("time", t, renewal_time(&r, t / 2 - 0.25 + exp(-2 * t) / 4), t, 2e-3);
        for (double x = 0; x < 3; x += 0.4)
            is_near("alive", t, renewal_alive(&r, t, x), exp(-x) * (1 + first * x), 1e-3);
        for (double u = 5e-4; u < t; u += 1e-3)
            age += 1e-3 * u * of_erlang(&rate, u) * (1 - exp(-2 * (t - u))) / 2;
        is_near("age", t, renewal_age(&r, t), age, 1e-3);
        /* The area below the ages, by trapezoids: from 0 the age grows as t. */
        double before = k == 1 ? 0 : renewal_age(&r, (k - 1) / 10.0);
        sum += 0.05 * (before + age);
        is_near("mean age", t, renewal_mean_age(&r, t), sum / t, 3e-3);
    }
}

/* Of lengths between 0 and c: exp(t / c) - 1 ends up to c. */
static void uniform_lengths_end_exponentially_more(void **state)
{
    const double longest = 2;
    struct renewal r;

    (void)state;
    renewal_init(&r, of_uniform, &longest, HORIZON);
    for (double t = 0.05; t <= longest; t += 0.15) {
        is_near("time", t, renewal_time(&r, exp(t / longest) - 1), t, 1e-3);
        is_near("alive", t, renewal_alive(&r, t, 0), 1, 1e-3);
        is_near("alive", t, renewal_alive(&r, t, longest), 0, 1e-3);
    }
}

/* All of one length end together: the k-th time after k lengths, within one step of the grid;
 * between, all are as old as the time since then. */
static void of_one_length_all_end_at_once(void **state)
{
    const double length = 1;
    double step = HORIZON / RENEWAL_GRID;
    struct renewal r;

    (void)state;
    renewal_init(&r, of_one_length, &length, HORIZON);
    for (int k = 1; k < (int)HORIZON; k++) {
        is_near("time", k, renewal_time(&r, k - 0.5), k, 2 * step);
        is_near("age", k + 0.5, renewal_age(&r, k + 0.5), 0.5, 3 * step);
        is_near("alive", k + 0.5, renewal_alive(&r, k + 0.5, 0.25), 1, 3 * step);
        is_near("alive", k + 0.5, renewal_alive(&r, k + 0.5, 0.75), 0, 3 * step);
    }
    /* A number of ends that never comes is there at the horizon. */
    is_near("time", 9, renewal_time(&r, 9), HORIZON, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_lengths_have_no_memory),
        cmocka_unit_test(two_phases_end_as_cox_says),
        cmocka_unit_test(uniform_lengths_end_exponentially_more),
        cmocka_unit_test(of_one_length_all_end_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
