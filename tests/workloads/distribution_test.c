/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution_test.c - random values: moments and Kolmogorov-Smirnov distance
 * against GSL's distribution functions, at fixed seeds; faults with their
 * place.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "tests/aid/workload_aid.h"
#include "workloads/random/distribution.h"
#include "workloads/random/distribution_read.h"

#define DRAWS 20000

static bool read_as(struct arena *arena, const char *text,
                    enum conf_type type, struct distribution *out,
                    struct err *err)
{
    const struct conf_node *root;
    char yaml[512];

    memset(err, 0, sizeof *err);
    snprintf(yaml, sizeof yaml, "x: %s\n", text);
    root = conf_parse(arena, "d.yaml", yaml, strlen(yaml), err);
    assert_non_null(root);
    return distribution_read(arena, conf_get(root, "x"), type, out, err);
}

static struct distribution good(struct arena *arena, const char *text,
                                enum conf_type type)
{
    struct distribution d;
    struct err err;

    if (!read_as(arena, text, type, &d, &err))
        fail_msg("%s: %s", text, err.text);
    return d;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

typedef double cdf_fn(double x);

static double cdf_uniform(double x) { return gsl_cdf_flat_P(x, 2, 5); }
static double cdf_exponential(double x)
{
    return gsl_cdf_exponential_P(x, 7200);
}
static double cdf_lognormal(double x)
{
    double sd = sqrt(log(2.0));

    return gsl_cdf_lognormal_P(x, log(40) - sd * sd / 2, sd);
}
static double cdf_lognormal_log(double x)
{
    return gsl_cdf_lognormal_P(x, 1, 0.5);
}
static double cdf_weibull(double x) { return gsl_cdf_weibull_P(x, 3, 0.7); }
static double cdf_gamma(double x) { return gsl_cdf_gamma_P(x, 0.25, 40); }
static double cdf_pareto(double x) { return gsl_cdf_pareto_P(x, 2, 3); }

static double cdf_two(double x)
{
    return 0.75 * gsl_cdf_exponential_P(x, 60) +
           0.25 * gsl_cdf_exponential_P(x, 3600);
}

static const struct {
    const char *text;
    enum conf_type type;
    cdf_fn *cdf;
    double mean, sd;            /* sd < 0: infinite */
} kinds[] = {
    {"{uniform: [2, 5]}", CONF_REAL, cdf_uniform, 3.5, 0.8660254037844386},
    {"{exponential: {mean: 2h}}", CONF_TIME, cdf_exponential, 7200, 7200},
    {"{lognormal: {mean: 40, cv: 1}}", CONF_REAL, cdf_lognormal, 40, 40},
    {"{lognormal: {log_mean: 1, log_sd: 0.5}}", CONF_REAL, cdf_lognormal_log,
     3.080216848918031, 1.641571815347},
    {"{weibull: {scale: 3, shape: 0.7}}", CONF_REAL, cdf_weibull,
     3.797470508, 5.551},
    {"{gamma: {mean: 10, cv: 2}}", CONF_REAL, cdf_gamma, 10, 20},
    {"{pareto: {scale: 3, shape: 2}}", CONF_REAL, cdf_pareto, 6, -1},
    /* Mean square 2 x (0.75 x 60^2 + 0.25 x 3600^2), mean 945. */
    {"{hyperexponential: {60s: 3, 1h: 1}}", CONF_TIME, cdf_two, 945,
     2364.8202891551823},
};

/* The 1e-6 quantile of Kolmogorov's law is 2.69 / sqrt(n). */
static void draws_follow_the_distribution_functions_of_gsl(void **state)
{
    struct arena *arena = arena_new(0);
    double *x = arena_alloc(arena, DRAWS, sizeof *x);

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct distribution d = good(arena, kinds[k].text, kinds[k].type);
        struct rng rng;
        double far = 0.0;

        rng_init(&rng, 7, kinds[k].text, 0);
        for (size_t i = 0; i < DRAWS; i++)
            x[i] = distribution_draw(&d, &rng);
        qsort(x, DRAWS, sizeof *x, ascending);
        for (size_t i = 0; i < DRAWS; i++) {
            double p = kinds[k].cdf(x[i]);

            far = fmax(far, fmax(p - (double)i / DRAWS,
                                 (double)(i + 1) / DRAWS - p));
        }
        if (far > 2.69 / sqrt(DRAWS))
            fail_msg("%s: distance %g", kinds[k].text, far);
    }
    arena_free(arena);
}

static void means_agree_with_theory_and_with_draws(void **state)
{
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct distribution d = good(arena, kinds[k].text, kinds[k].type);
        struct rng rng;
        double sum = 0.0, square = 0.0, mean;

        assert_near(distribution_mean(&d), kinds[k].mean,
                    1e-6 * kinds[k].mean);
        if (kinds[k].sd < 0.0)
            continue;
        rng_init(&rng, 11, kinds[k].text, 0);
        for (size_t i = 0; i < DRAWS; i++) {
            double draw = distribution_draw(&d, &rng);

            sum += draw;
            square += draw * draw;
        }
        mean = sum / DRAWS;
        /* Five standard errors; 15% on the sd, whose error grows with the
         * fourth moment. */
        assert_near(mean, kinds[k].mean, 5 * kinds[k].sd / sqrt(DRAWS));
        assert_near(sqrt(square / DRAWS - mean * mean), kinds[k].sd,
                    0.15 * kinds[k].sd);
    }
    arena_free(arena);
}

/* The trapezoids of 1 - F of GSL's F, in 400,000 steps, from the lower clamp to the upper
 * one, and the lower one below that.  F is 0 below 0. */
static double integrate_clamped(cdf_fn *cdf, double low, double high)
{
    const int steps = 400000;
    double sum = 0.0, step = (high - low) / steps;

    for (int i = 0; i <= steps; i++)
        sum += (i == 0 || i == steps ? 0.5 : 1.0) * (1.0 - cdf(low + i * step));
    return low + sum * step;
}

/* Clamps of 0.3 and 1.2 times the mean, those that cut on one side, and those beside which
 * nothing is drawn. */
static void means_of_what_is_clamped_agree_with_integrals(void **state)
{
    static const double clamps[][2] = {
        { 0.3, 1.2 }, { 0.0, 0.8 }, { 0.9, 1.0 }, { 2.0, 3.0 }, { 0.0, 0.05 },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct distribution d = good(arena, kinds[k].text, kinds[k].type);
        double mean = distribution_mean(&d);

        assert_near(distribution_clamped_mean(&d), mean, 0.0);
        for (size_t i = 0; i < sizeof clamps / sizeof clamps[0]; i++) {
            d.min = clamps[i][0] * mean;
            d.max = clamps[i][1] * mean;
            double want = integrate_clamped(kinds[k].cdf, d.min, d.max);
            if (fabs(distribution_clamped_mean(&d) - want) > 2e-4 * want)
                fail_msg("%s from %g to %g: %.8g, the integral is %.8g", kinds[k].text,
                         d.min, d.max, distribution_clamped_mean(&d), want);
        }
        d.min = 0.6 * mean;     /* E[max(x, m)] = E[x] - E[min(x, m)] + m */
        d.max = INFINITY;
        assert_near(distribution_clamped_mean(&d),
                    mean + 0.6 * mean - integrate_clamped(kinds[k].cdf, 0.0, 0.6 * mean),
                    2e-4 * mean);
    }
    arena_free(arena);
}

/* Values that nothing but a pencil needs.  A Pareto of scale 3 and shape 1 has a mean once
 * it has an upper clamp: 3 (1 + ln 4) at 12.  A gamma of nearly no spread is its mean. */
static void means_of_what_is_clamped_are_known_by_hand(void **state)
{
    static const struct { const char *text; double mean; } known[] = {
        { "{constant: 7, max: 5}", 5.0 },
        { "{uniform: [0, 100], min: 400}", 400.0 },
        { "{uniform: [0, 100], max: 50}", 37.5 },
        { "{choice: {10: 0.5, 4000: 0.5}, max: 400}", 205.0 },
        { "{choice: {1: 1, 5: 3}, min: 2}", 4.25 },
        { "{exponential: {mean: 400}, max: 400}", 252.84822353142307 },
        { "{pareto: {scale: 3, shape: 1}, max: 12}", 7.158883083359672 },
        { "{pareto: {scale: 3, shape: 0.5}, max: 12}", 9.0 },
        { "{gamma: {mean: 50, cv: 1e-6}, max: 60}", 50.0 },
        { "{weibull: {scale: 3, shape: 0.001}, min: 1, max: 1}", 1.0 },
        { "{lognormal: {mean: 40, cv: 0}, min: 50}", 50.0 },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct distribution d = good(arena, known[i].text, CONF_REAL);

        assert_near(distribution_clamped_mean(&d), known[i].mean, 1e-9 * known[i].mean);
    }
    arena_free(arena);
}

static void a_bare_value_is_constant_and_times_are_seconds(void **state)
{
    struct arena *arena = arena_new(0);
    struct distribution d = good(arena, "12", CONF_REAL);
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "x", 0);
    assert_near(distribution_draw(&d, &rng), 12.0, 0.0);
    d = good(arena, "{constant: 90m}", CONF_TIME);
    assert_near(distribution_draw(&d, &rng), 5400.0, 0.0);
    d = good(arena, "{constant: 2GB}", CONF_BYTES);
    assert_near(distribution_draw(&d, &rng), 2e9, 0.0);
    arena_free(arena);
}

static void clamps_bound_every_draw(void **state)
{
    struct arena *arena = arena_new(0);
    struct distribution d = good(
        arena, "{lognormal: {mean: 40, cv: 2}, min: 20, max: 80}", CONF_REAL);
    struct rng rng;
    size_t low = 0, high = 0;

    (void)state;
    rng_init(&rng, 1, "clamp", 0);
    for (int i = 0; i < 1000; i++) {
        double x = distribution_draw(&d, &rng);

        assert_true(x >= 20.0 && x <= 80.0);
        low += x <= 20.0;
        high += x >= 80.0;
    }
    assert_true(low > 0 && high > 0);
    assert_near(distribution_least(&d), 20.0, 0.0);
    arena_free(arena);
}

static const char *write_file(struct arena *arena, const char *folder,
                              const char *text)
{
    char *path = arena_alloc(arena, 256, 1);
    FILE *file;

    snprintf(path, 256, "%s/samples.csv", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void empirical_draws_are_the_samples_of_the_file(void **state)
{
    struct arena *arena = arena_new(0);
    char folder[] = "/tmp/distribution_test.XXXXXX", text[512];
    const char *path;
    struct distribution d;
    struct rng rng;
    double count[3] = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = write_file(arena, folder, "id,tokens\n1,5\n2,7\n3,9\n");
    snprintf(text, sizeof text, "{empirical: {file: %s, column: tokens}}",
             path);
    d = good(arena, text, CONF_REAL);
    assert_int_equal(d.sample_count, 3);
    assert_near(distribution_mean(&d), 7.0, 0.0);
    rng_init(&rng, 3, "empirical", 0);
    for (int i = 0; i < 3000; i++) {
        double x = distribution_draw(&d, &rng);

        assert_true(x == 5.0 || x == 7.0 || x == 9.0);
        count[(int)(x - 5.0) / 2] += 1.0;
    }
    for (int i = 0; i < 3; i++)     /* six standard deviations */
        assert_near(count[i], 1000.0, 155.0);
    remove(path);
    rmdir(folder);
    arena_free(arena);
}

static const struct {
    const char *text, *message;
} faults[] = {
    {"{lognormal: {mean: 4}}", "either mean and cv, or log_mean and log_sd"},
    {"{lognormal: {mean: 4, cv: -1}}", "cv must be at least 0, found -1"},
    {"{exponential: {mean: 0}}", "mean must be greater than 0, found 0"},
    {"{uniform: [5, 2]}", "found low 5 above high 2"},
    {"{uniform: [1, 2, 3]}", "a list of two values"},
    {"{exponentail: {mean: 1}}", "exponentail is no distribution"},
    {"{constant: 1, uniform: [1, 2]}", "a second distribution, uniform"},
    {"{min: 3}", "a distribution is missing"},
    {"{constant: 3, min: 5, max: 4}", "min must not be above max"},
    {"[1, 2]", "a list is no distribution"},
    {"many", "many"},
    {"{empirical: /nonexistent.csv}",
     "empirical names the file '/nonexistent.csv', which is not there"},
    {"{choice: 3}", "choice must be a mapping of values to weights"},
    {"{choice: {}}", "choice must be a mapping of values to weights"},
    {"{choice: {1: 0.5, 2: -1}}", "the weight of 2 must be from 0 to 1e12"},
    {"{choice: {1: 0, 2: 0}}", "at least one weight of choice"},
    {"{choice: {one: 1}}", "a value of choice"},
    {"{hyperexponential: 3}", "hyperexponential must be a mapping"},
    {"{hyperexponential: {0: 1}}", "means of hyperexponential must be"},
    {"{choice: {1: much}}", "a weight of choice"},
    {"{choice: {1: 1}, uniform: [1, 2]}", "a second distribution, uniform"},
};

/* Weights of any sum; a value of weight 0 counts for nothing. */
static void a_choice_draws_its_values_by_their_weights(void **state)
{
    struct arena *arena = arena_new(0);
    struct distribution d = good(arena, "{choice: {1m: 30, 1h: 10, 1d: 0}}",
                                 CONF_TIME);
    struct rng rng;
    size_t minutes = 0;

    (void)state;
    rng_init(&rng, 3, "choice", 0);
    for (size_t i = 0; i < DRAWS; i++) {
        double x = distribution_draw(&d, &rng);

        assert_true(x == 60.0 || x == 3600.0);
        minutes += x == 60.0;
    }
    assert_near((double)minutes, 0.75 * DRAWS,
                4 * sqrt(0.75 * 0.25 * DRAWS));
    assert_near(distribution_mean(&d), 0.75 * 60 + 0.25 * 3600, 1e-9);
    assert_true(distribution_least(&d) == 60.0);
    assert_true(distribution_most(&d) == 3600.0);
    d = good(arena, "{exponential: {mean: 2}, max: 9}", CONF_REAL);
    assert_true(distribution_most(&d) == 9.0);
    arena_free(arena);
}

/* A map has no order: in each order of its entries the same values are drawn. */
static void a_choice_is_the_same_in_each_order(void **state)
{
    static const char *const text[] = {
        "{choice: {1: 3, 2: 1, 4: 2, 8: 5}}", "{choice: {8: 5, 4: 2, 2: 1, 1: 3}}",
        "{choice: {4: 2, 1: 3, 8: 5, 2: 1}}", "{choice: {2: 1, 8: 5, 1: 3, 4: 2}}",
    };
    struct arena *arena = arena_new(0);
    double first[100];

    (void)state;
    for (size_t t = 0; t < 4; t++) {
        struct distribution d = good(arena, text[t], CONF_REAL);
        struct rng rng;

        rng_init(&rng, 3, "order", 0);
        assert_near(distribution_mean(&d), (3 + 2 + 8 + 40) / 11.0, 1e-12);
        assert_true(distribution_least(&d) == 1 && distribution_most(&d) == 8);
        for (size_t i = 0; i < 100; i++) {
            double x = distribution_draw(&d, &rng);
            first[i] = t == 0 ? x : first[i];
            if (x != first[i])
                fail_msg("%s: draw %zu is %g, not %g", text[t], i, x, first[i]);
        }
    }
    arena_free(arena);
}

/* Each place of each kind: @ is the value that is tried, # one of the unit; `plain`: the place
 * takes a number without a unit. */
static const struct {
    const char *text;
    bool plain;
} places[] = {
    { "@", false }, { "{constant: @}", false }, { "{uniform: [@, #]}", false },
    { "{uniform: [#, @]}", false }, { "{exponential: {mean: @}}", false },
    { "{lognormal: {mean: @, cv: 1}}", false }, { "{lognormal: {mean: #, cv: @}}", true },
    { "{lognormal: {log_mean: @, log_sd: 1}}", true },
    { "{lognormal: {log_mean: 1, log_sd: @}}", true }, { "{weibull: {scale: @, shape: 2}}", false },
    { "{weibull: {scale: #, shape: @}}", true }, { "{gamma: {mean: @, cv: 1}}", false },
    { "{gamma: {mean: #, cv: @}}", true }, { "{pareto: {scale: @, shape: 2}}", false },
    { "{pareto: {scale: #, shape: @}}", true }, { "{hyperexponential: {@: 1}}", false },
    { "{hyperexponential: {#: @}}", true }, { "{choice: {@: 1}}", false },
    { "{choice: {#: @}}", true }, { "{constant: #, min: @}", false },
    { "{constant: #, max: @}", false }, { "{min: @, uniform: [#, #]}", false },
};

static void fill(char *out, const char *text, const char *tried, const char *usual)
{
    *out = '\0';
    for (; *text != '\0'; text++) {
        char one[2] = { *text, '\0' };
        strcat(out, *text == '@' ? tried : *text == '#' ? usual : one);
    }
}

/* A value without a meaning is refused wherever it stands, of times, bytes and numbers, and a
 * value with one is taken; it has the place of the entry, and leaves no error behind. */
static void a_wrong_value_is_refused_in_each_place(void **state)
{
    static const enum conf_type type[] = { CONF_REAL, CONF_TIME, CONF_BYTES };
    static const char *const good_value[] = { "3", "3s", "3GB" };
    static const char *const wrong[] = {
        "much", "3 parsec", "3s3", "[3]", "{a: 3}", "null", ".nan",
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++)
        for (int t = 0; t < 3; t++) {
            const char *usual = good_value[t], *tried = places[p].plain ? "3" : usual;
            char text[200];
            struct distribution d;
            struct err err;

            fill(text, places[p].text, tried, usual);
            if (!read_as(arena, text, type[t], &d, &err) || err.kind != ERR_NONE)
                fail_msg("%s: %s", text, err.text);
            for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
                bool key = strstr(places[p].text, "{@") != NULL;
                if (key && (wrong[w][0] == '[' || wrong[w][0] == '{'))
                    continue;           /* no key of a mapping */
                fill(text, places[p].text, wrong[w], usual);
                if (read_as(arena, text, type[t], &d, &err))
                    fail_msg("accepted as %d: %s", t, text);
                if (err.kind == ERR_NONE || err.text[0] == '\0' || err.pos.line != 1)
                    fail_msg("%s: line %u: %s", text, err.pos.line, err.text);
            }
        }
    arena_free(arena);
}

static void faults_are_refused_with_a_place(void **state)
{
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct distribution d;
        struct err err;

        assert_false(read_as(arena, faults[i].text, CONF_REAL, &d, &err));
        if (strstr(err.text, faults[i].message) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", faults[i].text, err.text,
                     faults[i].message);
        assert_non_null(err.pos.file);
    }
    arena_free(arena);
}

/* Keys of a distribution in its place: it is shown where they stand. */
static void moments_alone_are_told_their_place(void **state)
{
    struct arena *arena = arena_new(0);
    struct distribution d;
    struct err err;

    (void)state;
    assert_false(read_as(arena, "{mean: 1200, cv: 1}", CONF_REAL, &d, &err));
    assert_non_null(strstr(err.text, "mean is no distribution"));
    assert_non_null(strstr(err.hint, "{lognormal: {mean: 4, cv: 1}}"));
    assert_false(read_as(arena, "{exponentail: {mean: 1}}", CONF_REAL, &d, &err));
    assert_string_equal(err.hint, "Did you mean exponential?");
    arena_free(arena);
}

static void bad_samples_are_refused_at_their_line(void **state)
{
    struct arena *arena = arena_new(0);
    char folder[] = "/tmp/distribution_test.XXXXXX", text[512];
    const char *path;
    struct distribution d;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = write_file(arena, folder, "tokens\n5\nmany\n");
    snprintf(text, sizeof text, "{empirical: %s}", path);
    assert_false(read_as(arena, text, CONF_REAL, &d, &err));
    assert_int_equal(err.pos.line, 3);
    assert_string_equal(err.pos.file, path);
    assert_non_null(strstr(err.text, "found \"many\""));
    snprintf(text, sizeof text, "{empirical: {file: %s, column: token}}",
             path);
    assert_false(read_as(arena, text, CONF_REAL, &d, &err));
    assert_string_equal(err.hint, "The nearest column is tokens.");
    assert_string_equal(err.text, "the file has no column token: its columns are tokens");
    remove(path);
    rmdir(folder);
    arena_free(arena);
}

/* The least and the most that can be drawn, also where `min` or `max` cut it. */
static void least_and_most_are_the_ends_of_what_is_drawn(void **state)
{
    static const struct { const char *text; double least, most; } row[] = {
        { "5", 5, 5 }, { "{constant: 5, min: 7}", 7, 7 }, { "{constant: 5, max: 3}", 3, 3 },
        { "{uniform: [2, 9]}", 2, 9 }, { "{uniform: [2, 9], min: 3, max: 8}", 3, 8 },
        { "{uniform: [2, 9], min: 1, max: 10}", 2, 9 },
        { "{uniform: [2, 9], min: 9.5}", 9.5, 9.5 }, { "{uniform: [2, 9], max: 1.5}", 1.5, 1.5 },
        { "{choice: {4: 0.5, 1: 0.25, 6: 0.25}}", 1, 6 },
        { "{choice: {6: 0.5, 4: 0.25, 1: 0.25}, min: 2, max: 5}", 2, 5 },
        { "{exponential: {mean: 3}}", 0, INFINITY },
        { "{exponential: {mean: 3}, min: 1, max: 4}", 1, 4 },
        { "{lognormal: {mean: 3, cv: 1}, max: 9}", 0, 9 },
    };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct distribution d = good(arena, row[i].text, CONF_REAL);
        double least = distribution_least(&d), most = distribution_most(&d);

        if (least < row[i].least || least > row[i].least || most < row[i].most ||
            most > row[i].most)
            fail_msg("%s: from %g to %g", row[i].text, least, most);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_distribution_functions_of_gsl),
        cmocka_unit_test(means_agree_with_theory_and_with_draws),
        cmocka_unit_test(means_of_what_is_clamped_agree_with_integrals),
        cmocka_unit_test(means_of_what_is_clamped_are_known_by_hand),
        cmocka_unit_test(a_bare_value_is_constant_and_times_are_seconds),
        cmocka_unit_test(clamps_bound_every_draw),
        cmocka_unit_test(least_and_most_are_the_ends_of_what_is_drawn),
        cmocka_unit_test(empirical_draws_are_the_samples_of_the_file),
        cmocka_unit_test(a_choice_draws_its_values_by_their_weights),
        cmocka_unit_test(a_choice_is_the_same_in_each_order),
        cmocka_unit_test(a_wrong_value_is_refused_in_each_place),
        cmocka_unit_test(faults_are_refused_with_a_place),
        cmocka_unit_test(moments_alone_are_told_their_place),
        cmocka_unit_test(bad_samples_are_refused_at_their_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
