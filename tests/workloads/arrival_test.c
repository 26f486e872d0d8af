/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival_test.c - arrival processes: mean rates and indexes of dispersion
 * against theory, common random numbers under a change of rate, faults.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "tests/aid/workload_aid.h"
#include "workloads/random/arrival.h"
#include "workloads/random/arrival_read.h"

static bool read_as(struct arena *arena, const char *text,
                    struct arrival *out, struct err *err)
{
    const struct conf_node *root;

    memset(err, 0, sizeof *err);
    root = conf_parse(arena, "a.yaml", text, strlen(text), err);
    assert_non_null(root);
    return arrival_read(arena, root, out, err);
}

static struct arrival good(struct arena *arena, const char *text)
{
    struct arrival arrival;
    struct err err;

    if (!read_as(arena, text, &arrival, &err))
        fail_msg("%s: %s", text, err.text);
    return arrival;
}

#define WINDOWS 4000

/* Mean and variance over mean of counts in windows of that length. */
static void count_windows(const struct arrival *arrival, double window_s,
                          double *mean, double *dispersion)
{
    struct arrival_clock clock;
    double sum = 0.0, square = 0.0;
    int64_t next;

    arrival_start(&clock, arrival, 5, 0);
    next = arrival_next(&clock);
    for (int w = 1; w <= WINDOWS; w++) {
        int64_t end = (int64_t)(w * window_s * 1e9);
        double count = 0.0;

        while (next < end) {
            count += 1.0;
            next = arrival_next(&clock);
        }
        sum += count;
        square += count * count;
    }
    *mean = sum / WINDOWS;
    *dispersion = (square / WINDOWS - *mean * *mean) / *mean;
}

/* The variance of a count over a long time is that of theory times the mean;
 * that of a sample of 4,000 windows has a standard error of 2.3%. */
static void check(const char *text, double window_s, double per_window,
                  double dispersion)
{
    struct arena *arena = arena_new(0);
    struct arrival arrival = good(arena, text);
    double mean, index;
    double error = sqrt(per_window * dispersion / WINDOWS);

    count_windows(&arrival, window_s, &mean, &index);
    if (fabs(mean - per_window) > 5.0 * error)
        fail_msg("%s: mean %g, theory %g", text, mean, per_window);
    if (fabs(index / dispersion - 1.0) > 0.15)
        fail_msg("%s: dispersion %g, theory %g", text, index, dispersion);
    arena_free(arena);
}

static void poisson_counts_have_dispersion_one(void **state)
{
    (void)state;
    check("{process: poisson, rate: 60/h}", 3600.0, 60.0, 1.0);
}

static void gamma_counts_have_the_dispersion_of_cv_squared(void **state)
{
    (void)state;
    /* Cox and Lewis 1966: the index of a renewal process tends to cv^2. */
    check("{process: gamma, rate: 60/h, cv: 3}", 36000.0, 600.0, 9.0);
    check("{process: gamma, rate: 60/h, cv: 0.5}", 36000.0, 600.0, 0.25);
}

static void bursty_counts_have_the_dispersion_of_an_mmpp(void **state)
{
    /* Fischer and Meier-Hellstern 1993: the index at infinity is
     * 1 + 2 s1 s2 (l1 - l2)^2 / ((s1 + s2)^2 (l1 s2 + l2 s1)), with s the
     * rates of leaving; times in hours. */
    double stay1 = 0.5, stay2 = 2.0, s1 = 1 / stay1, s2 = 1 / stay2;
    double scale = 60.0 / ((6.0 * stay1 + 1.0 * stay2) / (stay1 + stay2));
    double l1 = 6.0 * scale, l2 = 1.0 * scale;
    double limit = 1.0 + 2.0 * s1 * s2 * (l1 - l2) * (l1 - l2) /
                             ((s1 + s2) * (s1 + s2) * (l1 * s2 + l2 * s1));
    /* At time t the excess is smaller by the factor
     * 1 - (1 - exp(-(s1+s2) t)) / ((s1+s2) t). */
    double t = (s1 + s2) * 20.0;
    double index = 1.0 + (limit - 1.0) * (1.0 - (1.0 - exp(-t)) / t);

    (void)state;
    check("{process: bursty, rate: 60/h, burst: {high: 6, low: 1, "
          "stay_high: 30m, stay_low: 2h}}", 20.0 * 3600.0, 1200.0, index);
}

/* The intensity that passes from one arrival to the next is an exponential number of mean 1: here
 * added up state by state, with the states drawn a second time. */
struct states {
    const struct arrival *arrival;
    struct rng rng;
    int64_t begin_ns, end_ns;
    bool high;
};

static void draw_state(struct states *s, bool high)
{
    int64_t stay_ns = high ? s->arrival->stay_high_ns : s->arrival->stay_low_ns;

    s->high = high;
    s->begin_ns = s->end_ns;
    s->end_ns += llround(1e9 * rng_exponential(&s->rng, (double)stay_ns / 1e9));
}

static double intensity(struct states *s, int64_t from_ns, int64_t until_ns)
{
    double sum = 0;

    for (;; draw_state(s, !s->high)) {
        int64_t begin = from_ns > s->begin_ns ? from_ns : s->begin_ns;
        int64_t end = until_ns < s->end_ns ? until_ns : s->end_ns;
        if (end > begin)
            sum += (double)(end - begin) / 1e9 * arrival_state_rate(s->arrival, s->high);
        if (until_ns <= s->end_ns)
            return sum;
    }
}

static void bursty_gaps_use_one_exponential_each(void **state)
{
    static const char *const texts[] = {
        "{process: bursty, rate: 30/h, burst: {high: 10, low: 1, stay_high: 2min, "
            "stay_low: 5min}}",
        "{process: bursty, rate: 6/h, burst: {high: 5, low: 0, stay_high: 1min, "
            "stay_low: 10min}}",
        "{process: bursty, rate: 400/h, burst: {high: 3, low: 1, stay_high: 1h, stay_low: 2h}}",
    };

    (void)state;
    for (uint32_t t = 0; t < 3; t++) {
        struct arena *arena = arena_new(0);
        struct arrival arrival = good(arena, texts[t]);
        struct states states = { .arrival = &arrival };
        struct arrival_clock clock;
        struct rng gaps;
        int64_t last_ns = 0;

        double in_high = (double)arrival.stay_high_ns, all = in_high + (double)arrival.stay_low_ns;
        rng_init(&gaps, 7, "arrival", t);
        rng_init(&states.rng, 7, "arrival-state", t);
        draw_state(&states, rng_uniform(&states.rng) < in_high / all);
        arrival_start(&clock, &arrival, 7, t);
        for (int i = 0; i < 3000; i++) {
            int64_t next_ns = arrival_next(&clock);
            double need = rng_exponential(&gaps, 1), had = intensity(&states, last_ns, next_ns);
            if (fabs(need - had) > 1e-7)
                fail_msg("%s: arrival %d after %.9g, not %.9g", texts[t], i, had, need);
            last_ns = next_ns;
        }
        arena_free(arena);
    }
}

static void diurnal_arrivals_follow_the_cosine(void **state)
{
    struct arena *arena = arena_new(0);
    struct arrival arrival = good(arena, "{process: diurnal, rate: 60/h, "
                                         "amplitude: 0.8, peak: 14h}");
    struct arrival_clock clock;
    double hour[24] = {0};
    int64_t end = INT64_C(400) * 24 * 3600 * CLOCK_NS_PER_S, now;

    (void)state;
    arrival_start(&clock, &arrival, 5, 0);
    while ((now = arrival_next(&clock)) < end)
        hour[now / CLOCK_NS_PER_S / 3600 % 24] += 1.0;
    for (int h = 0; h < 24; h++) {
        double turn = 6.283185307179586 / 24.0;
        /* Mean of the cosine over the hour. */
        double swing = (sin(turn * (h + 1 - 14)) - sin(turn * (h - 14))) /
                       turn;
        double expected = 400.0 * 60.0 * (1.0 + 0.8 * swing);

        assert_near(hour[h], expected, 5.0 * sqrt(expected));
    }
    arena_free(arena);
}

/* Counts of windows that are drawn at once have the mean and the variance of arrivals that
 * are drawn one by one, of each process and in each window: 600 clocks; five standard errors
 * of the mean, and as far off as a ratio of variances may be. */
static void counts_are_spread_as_arrivals_one_by_one(void **state)
{
    static const char *const text[] = {
        "{process: poisson, rate: 20/h}", "{process: poisson, rate: 400/h}",
        "{process: gamma, rate: 300/h, cv: 1.5}",
        "{process: diurnal, rate: 60/h, amplitude: 0.8, peak: 3h}",
        "{process: bursty, rate: 60/h, burst: {high: 3, low: 0.2, stay_high: 9min, stay_low: 1h}}",
    };
    static const int64_t until_s[] = { 600, 4200, 4260, 30000 };

    (void)state;
    for (size_t p = 0; p < sizeof text / sizeof text[0]; p++) {
        struct arena *arena = arena_new(0);
        struct arrival arrival = good(arena, text[p]);
        double sum[2][4] = { { 0 } }, square[2][4] = { { 0 } };

        for (uint64_t seed = 1; seed <= 600; seed++) {
            struct arrival_clock clock, one;
            int64_t next;

            arrival_start(&clock, &arrival, seed, 0);
            arrival_start(&one, &arrival, seed + 5000, 0);
            next = arrival_next(&one);
            for (int w = 0; w < 4; w++) {
                int64_t until = until_s[w] * CLOCK_NS_PER_S;
                double count[2] = { (double)arrival_count(&clock, until), 0 };

                for (; next < until; next = arrival_next(&one))
                    count[1] += 1;
                for (int k = 0; k < 2; k++) {
                    sum[k][w] += count[k] / 600;
                    square[k][w] += count[k] * count[k] / 600;
                }
            }
        }
        for (int w = 0; w < 4; w++) {
            double at_once = square[0][w] - sum[0][w] * sum[0][w];
            double each = square[1][w] - sum[1][w] * sum[1][w];
            if (!(fabs(sum[0][w] - sum[1][w]) <= 5 * sqrt((at_once + each) / 600)) ||
                !(at_once < 1.6 * each && each < 1.6 * at_once))
                fail_msg("%s: window %d: mean %g, not %g, variance %g, not %g", text[p], w,
                         sum[0][w], sum[1][w], at_once, each);
        }
        arena_free(arena);
    }
}

/* Gamma gaps, counted by the second.  By renewal theory, from the first gap on, the mean of the
 * count is rate x time + (cv^2 - 1) / 2, its variance about cv^2 x rate x time:
 * 5/s, cv 3, 400 s: 2000 + 4 and 9 x 2000 = 18000; a second has 5 with a deviation of 6.7, so
 * that normal counts, of which those below 0 are 0, have a mean of 5.9: 2360;
 * 0.2/s, cv 0.5, 400 s: 80 - 0.375 and 80 / 4 = 20; rounded normal counts of 0.2 with a deviation
 * of 0.22 have a mean of 0.09: 36.  A window of all 400 s is alike: 5/s hold.
 * 400 clocks: five standard errors, sqrt(variance / 400), of the mean; a ratio of variances of
 * 400 values has a deviation of sqrt(2 / 400) = 7%. */
static void gamma_counts_of_short_windows_add_up(void **state)
{
    static const struct { double rate, cv, mean, variance; int ticks; } row[] = {
        { 5, 3, 2004, 18000, 400 }, { 5, 3, 2004, 18000, 1 },
        { 0.2, 0.5, 79.625, 20, 400 }, { 0.2, 0.5, 79.625, 20, 1 },
    };

    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        struct arrival gamma = { .process = ARRIVAL_GAMMA, .rate_per_s = row[k].rate,
                                 .cv = row[k].cv };
        double sum = 0, square = 0;

        for (uint64_t seed = 1; seed <= 400; seed++) {
            struct arrival_clock clock;
            double count = 0;
            arrival_start(&clock, &gamma, seed, 0);
            for (int t = 1; t <= row[k].ticks; t++)
                count += (double)arrival_count(&clock, t * 400 / row[k].ticks * CLOCK_NS_PER_S);
            sum += count / 400;
            square += count * count / 400;
        }
        assert_near(sum, row[k].mean, 5 * sqrt(row[k].variance / 400));
        assert_near(square - sum * sum, row[k].variance, 0.35 * row[k].variance);
    }
}

static void a_higher_rate_draws_the_same_gaps_closer(void **state)
{
    struct arena *arena = arena_new(0);
    struct arrival slow = good(arena, "{process: gamma, rate: 4/h, cv: 2}");
    struct arrival fast = good(arena, "{process: gamma, rate: 8/h, cv: 2}");
    struct arrival_clock a, b;

    (void)state;
    arrival_start(&a, &slow, 9, 3);
    arrival_start(&b, &fast, 9, 3);
    for (int i = 0; i < 1000; i++) {
        double s = (double)arrival_next(&a), f = (double)arrival_next(&b);

        assert_near(s, 2.0 * f, 1e3 * (i + 1));  /* rounding to ns */
    }
    arena_free(arena);
}

static void seeds_and_replicas_give_other_arrivals(void **state)
{
    struct arena *arena = arena_new(0);
    struct arrival arrival = good(arena, "{process: poisson, rate: 1/s}");
    struct arrival_clock a, b, c;
    int64_t first;

    (void)state;
    arrival_start(&a, &arrival, 1, 0);
    arrival_start(&b, &arrival, 1, 1);
    arrival_start(&c, &arrival, 2, 0);
    first = arrival_next(&a);
    assert_int_not_equal(first, arrival_next(&b));
    assert_int_not_equal(first, arrival_next(&c));
    arena_free(arena);
}

static void fixed_and_all_at_once_are_exact(void **state)
{
    struct arena *arena = arena_new(0);
    struct arrival arrival = good(arena,
                                  "{process: fixed, times: [0s, 10s, 10s]}");
    struct arrival_clock clock;

    (void)state;
    arrival_start(&clock, &arrival, 1, 0);
    assert_int_equal(arrival_next(&clock), 0);
    assert_int_equal(arrival_next(&clock), 10 * CLOCK_NS_PER_S);
    assert_int_equal(arrival_next(&clock), 10 * CLOCK_NS_PER_S);
    assert_true(arrival_next(&clock) == CLOCK_NEVER_NS);
    arrival = good(arena, "{process: fixed, every: 1h}");
    arrival_start(&clock, &arrival, 1, 0);
    for (int64_t h = 0; h < 5; h++)
        assert_int_equal(arrival_next(&clock), h * 3600 * CLOCK_NS_PER_S);
    arrival = good(arena, "{process: all_at_once}");
    arrival_start(&clock, &arrival, 1, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(arrival_next(&clock), 0);
    arena_free(arena);
}

static const struct {
    const char *text, *message;
} faults[] = {
    {"{process: poisson}", "rate is missing: process poisson needs it"},
    {"{process: poisson, rate: 1/h, cv: 2}",
     "cv has no meaning for process poisson"},
    {"{process: gamma, rate: 1/h}", "cv is missing"},
    {"{process: bursty, rate: 1/h}", "burst is missing"},
    {"{process: bursty, rate: 1/h, burst: {high: 1, low: 2, stay_high: 1h, "
     "stay_low: 1h}}", "high must be above low"},
    {"{process: fixed}", "either times or every"},
    {"{process: fixed, times: [10s, 5s]}", "times must ascend, found 5s"},
    {"{process: fixed, times: []}", "times must be a list"},
    {"{process: poison, rate: 1/h}", "poison"},
    {"{process: poisson, rate: 4}", "rate"},
    {"{process: poisson, rate: 0/h}", "rate"},
    {"{process: diurnal, rate: 1/h, amplitude: 2}", "amplitude"},
};

static void faults_are_refused_with_a_place(void **state)
{
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct arrival arrival;
        struct err err;

        if (read_as(arena, faults[i].text, &arrival, &err))
            fail_msg("accepted: %s", faults[i].text);
        if (strstr(err.text, faults[i].message) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", faults[i].text, err.text,
                     faults[i].message);
        assert_int_equal(err.pos.line, 1);
    }
    arena_free(arena);
}

/* Each key of a process, with a value that it cannot have. */
static void every_key_with_a_wrong_value_is_refused(void **state)
{
#define BURST(HIGH, LOW, STAY, MORE) "{process: bursty, rate: 5/h, burst: {high: " HIGH ", low: " \
    LOW ", stay_high: " STAY ", stay_low: 10min" MORE "}}"
    static const char *const right[] = {
        BURST("4", "1", "5min", ""),
        "{process: series, rates: {unit: /s, points: [[0s, 2], [9s, 1]]}}",
        "{process: fixed, times: [1s, 2s]}",
    };
    static const char *const wrong[] = {
        BURST("x", "1", "5min", ""), BURST("4", "-1", "5min", ""), BURST("4", "1", "0s", ""),
        BURST("4", "1", "5min", ", middle: 2"), BURST("1", "1", "5min", ""),
        BURST("1", "2", "5min", ""), "{process: bursty, rate: 5/h, burst: 7}",
        "{process: bursty, rate: 5/h, burst: {high: 4}}", "{process: bursty, rate: x}",
        "{process: series, rates: 5}", "{process: series, rates: {unit: /s, points: [[0s, x]]}}",
        "{process: fixed, times: 5}", "{process: fixed, times: [2s, 1s]}",
        "{process: fixed, times: [x]}", "{process: none}", "{process: gamma, rate: 1/h, cv: -1}",
        "{process: diurnal, rate: 1/h, amplitude: 2}",
    };
    struct arena *arena = arena_new(0);
    struct arrival arrival;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        good(arena, right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (read_as(arena, wrong[i], &arrival, &err) || err.kind == ERR_NONE)
            fail_msg("accepted: %s", wrong[i]);
    arena_free(arena);
}

static void a_key_of_another_process_is_answered_with_those_it_has(void **state)
{
    static const char *const said[][2] = {
        { "{process: fixed, rate: 1/h}", "Process fixed has: times, every." },
        { "{process: diurnal, rate: 1/h, amplitude: 0.5, cv: 2}",
          "Process diurnal has: rate, amplitude, peak, period." },
        { "{process: all_at_once, rate: 1/h}", "Process all_at_once has no other keys." },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        struct arrival arrival;
        struct err err;

        assert_false(read_as(arena, said[i][0], &arrival, &err));
        assert_string_equal(err.hint, said[i][1]);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_counts_have_dispersion_one),
        cmocka_unit_test(gamma_counts_have_the_dispersion_of_cv_squared),
        cmocka_unit_test(bursty_counts_have_the_dispersion_of_an_mmpp),
        cmocka_unit_test(bursty_gaps_use_one_exponential_each),
        cmocka_unit_test(diurnal_arrivals_follow_the_cosine),
        cmocka_unit_test(counts_are_spread_as_arrivals_one_by_one),
        cmocka_unit_test(gamma_counts_of_short_windows_add_up),
        cmocka_unit_test(a_higher_rate_draws_the_same_gaps_closer),
        cmocka_unit_test(seeds_and_replicas_give_other_arrivals),
        cmocka_unit_test(fixed_and_all_at_once_are_exact),
        cmocka_unit_test(faults_are_refused_with_a_place),
        cmocka_unit_test(every_key_with_a_wrong_value_is_refused),
        cmocka_unit_test(a_key_of_another_process_is_answered_with_those_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
