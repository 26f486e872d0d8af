/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_test.c - the marks of an interval in words, and what equal seeds leave open: drawn grids
 * beside the bounds of Poisson and of Clopper and Pearson, written out once more.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/trust.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/stats.h"

#define SEEDS_MOST 12
#define NEAR(A, B) near(A, B, #A, __LINE__)

static void near(double a, double b, const char *what, int line)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))) && a != b && !(isnan(a) && isnan(b)))
        fail_msg("line %d: %s is %.17g, expected %.17g", line, what, a, b);
}

/* ---- words ---- */

static void marks_are_said_in_one_order(void **state)
{
    static const struct {
        double jobs, skew;
        size_t count;
        bool cases, wide;
        const char *mean, *pairs;
    } row[] = {
        { 0, 0, 20, false, true, "", "" }, { 0.25, 0, 20, false, true, "jobs 0.25", "jobs 0.25" },
        { 0, 0.71, 20, false, true, "seeds 0.71", "seeds 0.71" },
        { 0, 0.6, 20, false, true, "", "" }, { 0, 0.71, 10, false, true, "seeds 0.71",
                                               "seeds 0.71" },
        { 0, 0.71, 9, false, true, "", "9 pairs" },
        { 0.3, 0.9, 12, true, true, "jobs 0.30; seeds 0.90; equal seeds",
          "jobs 0.30; seeds 0.90; equal seeds" },
        { 0.3, 0.9, 12, false, true, "jobs 0.30; seeds 0.90", "jobs 0.30; seeds 0.90" },
        { 0, 0, 5, true, true, "equal seeds", "equal seeds; 5 pairs" },
        { 0.1, 0, 2, false, true, "jobs 0.10", "jobs 0.10; 2 pairs" },
        { 0.1, 0.9, 1, true, true, "", "" }, { 0.1, 0.9, 0, true, true, "", "" },
        { 0.1, 0.9, 20, true, false, "", "" },
    };
    struct arena *arena = arena_new(1 << 12);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double high = row[i].wide ? 2 : 1;
        const struct stats_mean mean = { .mean = 1, .low = 1, .high = high, .skew = row[i].skew,
                                         .count = row[i].count, .cases = row[i].cases };
        const struct stats_delta delta = { .mean = 1, .low = 1, .high = high, .skew = row[i].skew,
                                           .count = row[i].count, .cases = row[i].cases };
        assert_string_equal(trust_text(arena, row[i].jobs, &mean), row[i].mean);
        assert_string_equal(trust_pairs_text(arena, row[i].jobs, &delta), row[i].pairs);
    }
    arena_free(arena);
}

/* Fractions that divide a figure by a bound or by another figure are no shares: they may be above
 * 1 or below 0. */
static void shares_of_a_whole_are_told_from_ratios(void **state)
{
    static const char *const ratio[] = { "gap_fraction", "makespan_gap_fraction" };
    unsigned shares = 0, ratios = 0;

    (void)state;
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info(NULL, (enum metric)m);
        bool fraction = strcmp(info->unit, "fraction") == 0;
        bool share = trust_is_share(info, (enum metric)m);
        assert_true(!share || fraction);
        shares += share;
        ratios += fraction && !share;
        for (size_t i = 0; i < 2; i++)
            assert_false(share && strcmp(info->name, ratio[i]) == 0);
    }
    assert_true(shares > 10);
    assert_int_equal(ratios, 6);
}

/* ---- grids ---- */

/* Values of two policies by seed: `value` of the metric that is looked at, and of each other one a
 * number that no two seeds share, so that no seeds are alike. */
struct world {
    struct arena *arena;
    struct grid *grid;
    uint32_t seeds;
};

static void begin(struct world *w, uint32_t seeds)
{
    static const char *const point[] = { "base" }, *const policy[] = { "a", "b" };

    w->arena = arena_new(1 << 14);
    w->seeds = seeds;
    w->grid = grid_new(w->arena, NULL, point, 1, policy, 2, seeds);
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t s = 0; s < seeds; s++) {
            double value[METRIC_COUNT];
            for (unsigned m = 0; m < METRIC_COUNT; m++)
                value[m] = 3 + s + 0.25 * p;
            value[METRIC_SLO_COUNT] = NAN;
            value[METRIC_REQUESTS_DONE] = NAN;
            grid_put(w->grid, 0, p, s, value);
        }
    for (uint32_t p = 0; p < 2; p++)
        grid_end(w->grid, 0, p, false);
}

static void set_all(struct world *w, uint32_t policy, enum metric metric, double value)
{
    for (uint32_t s = 0; s < w->seeds; s++)
        grid_set(w->grid, 0, policy, s, metric, value);
}

/* How far a mean of equal values may be off, by hand: of a count in n seeds a Poisson mean whose
 * n draws are 0 with a chance of 1 - sure; of a share the part of seeds that n draws miss. */
static void bound(bool count, double value, double least, double n, double sure, double *below,
                  double *above)
{
    double few = -log(1 - sure) / n, part = 1 - pow(1 - sure, 1 / n);

    *below = count ? (least == 0 && value < few ? value : few) : part * fmax(value - least, 0);
    *above = count ? few : part * fmax(1 - value, 0);
}

static void equal_seeds_leave_a_bound_open(void **state)
{
    static const double counts[] = { 0, 0.4, 1, 2, 7 }, shares[] = { 0, 1 };
    struct trust_open open;
    double below, above;

    (void)state;
    for (uint32_t n = 2; n <= SEEDS_MOST; n++)
        for (int sure = 0; sure < 2; sure++) {
            struct world w;
            double confidence = sure ? 0.99 : 0.95;
            begin(&w, n);
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                set_all(&w, 0, METRIC_JOBS_FAILED, counts[i]);
                struct stats_mean m = trust_mean(w.grid, 0, 0, METRIC_JOBS_FAILED, confidence,
                                                 &open);
                bound(true, counts[i], 0, n, confidence, &below, &above);
                NEAR(m.mean, counts[i]);
                NEAR(m.low, counts[i] - below);
                NEAR(m.high, counts[i] + above);
                assert_true(open.seeds == n && m.count == n && !open.cases && !open.half);
                NEAR(open.below, below);
                NEAR(open.above, above);
                NEAR(open.share, 1 - pow(1 - confidence, 1.0 / n));
            }
            for (size_t i = 0; i < 2; i++) {
                set_all(&w, 0, METRIC_GPU_DOWN, shares[i]);
                struct stats_mean m = trust_mean(w.grid, 0, 0, METRIC_GPU_DOWN, confidence, NULL);
                bound(false, shares[i], 0, n, confidence, &below, &above);
                NEAR(m.low, shares[i] - below);
                NEAR(m.high, shares[i] + above);
            }
            set_all(&w, 0, METRIC_GPU_DOWN, 0.5);       /* measured: no chance */
            struct stats_mean m = trust_mean(w.grid, 0, 0, METRIC_GPU_DOWN, confidence, &open);
            assert_true(m.low == 0.5 && m.high == 0.5 && open.seeds == 0);
            set_all(&w, 0, METRIC_JOBS, 5);             /* what came is given */
            m = trust_mean(w.grid, 0, 0, METRIC_JOBS, confidence, &open);
            assert_true(m.low == 5 && m.high == 5 && open.seeds == 0);
            set_all(&w, 0, METRIC_COST, 5);             /* a price is no count */
            m = trust_mean(w.grid, 0, 0, METRIC_COST, confidence, &open);
            assert_true(m.low == 5 && m.high == 5 && open.seeds == 0);
            arena_free(w.arena);
        }
}

/* Of n seeds with 10 + s deadlines each, all met or none: there are as many cases. */
static void cases_of_equal_seeds_narrow_the_bound(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= SEEDS_MOST; n++)
        for (int met = 0; met < 2; met++)
            for (int where = 0; where < 3; where++) {
                struct world w;
                struct trust_open open;
                double cases = 0, below, above;
                begin(&w, n);
                set_all(&w, 0, METRIC_SLO, met);
                for (uint32_t s = 0; s < n; s++) {
                    cases += 10 + s;
                    if (where > 0)      /* releases before 0.2 count requests alone */
                        grid_set(w.grid, 0, 0, s, where == 1 ? METRIC_SLO_COUNT
                                                             : METRIC_REQUESTS_DONE, 10 + s);
                }
                struct stats_mean m = trust_mean(w.grid, 0, 0, METRIC_SLO, 0.95, &open);
                bound(false, met, 0, where == 0 ? n : cases, 0.95, &below, &above);
                NEAR(m.low, met - below);
                NEAR(m.high, met + above);
                assert_true(open.cases == (where > 0) && m.cases == open.cases);
                NEAR(open.below + open.above, 1 - pow(0.05, 1.0 / n));  /* of the seeds alone */
                grid_set(w.grid, 0, 0, 0, METRIC_SLO, met ? 0.5 : 0.25);
                m = trust_mean(w.grid, 0, 0, METRIC_SLO, 0.95, &open);
                assert_true(open.seeds == 0 && m.low >= 0 && m.high <= 1 && m.low < m.high);
                arena_free(w.arena);
            }
}

static struct trust_side sides_of(const struct world *w, uint32_t policy)
{
    return (struct trust_side){ w->grid, 0, policy };
}

/* Both sides equal in all seeds. */
static void equal_pairs_leave_a_bound_open(void **state)
{
    static const double counts[] = { 0, 1, 3, 7 };

    (void)state;
    for (uint32_t n = 2; n <= SEEDS_MOST; n++)
        for (size_t i = 0; i < 16; i++) {
            struct world w;
            struct trust_open open;
            double a = counts[i / 4], b = counts[i % 4], below, above;
            begin(&w, n);
            set_all(&w, 0, METRIC_JOBS_FAILED, a);
            set_all(&w, 1, METRIC_JOBS_FAILED, b);
            const struct trust_side x = sides_of(&w, 1), base = sides_of(&w, 0);
            struct stats_delta d = trust_delta(&x, &base, METRIC_JOBS_FAILED, 0.95, &open);
            bound(true, b - a, -1, n, 0.95, &below, &above);
            NEAR(d.mean, b - a);
            NEAR(d.low, b - a - below);
            NEAR(d.high, b - a + above);
            NEAR(d.p_value, exp(-(double)n * fabs(b - a)));
            NEAR(d.percent, a > 0 ? 100 * (b - a) / a : NAN);
            if (a > 0) {
                NEAR(d.percent_low, fmax(d.percent - 100 * below / a, -100));
                NEAR(d.percent_high, d.percent + 100 * above / a);
                NEAR(open.percent_above, 100 * above / a);
                NEAR(open.percent_below, 100 * below / a);
            }
            assert_true(open.seeds == n && d.count == n && !open.half);
            set_all(&w, 0, METRIC_GPU_DOWN, (double)(i % 2));
            set_all(&w, 1, METRIC_GPU_DOWN, (double)(i / 8));
            double share = (double)(i / 8) - (double)(i % 2);
            d = trust_delta(&x, &base, METRIC_GPU_DOWN, 0.95, &open);
            bound(false, share, -1, n, 0.95, &below, &above);
            NEAR(d.low, share - below);
            NEAR(d.high, share + above);
            NEAR(d.p_value, pow(1 + fabs(share), -(double)n));
            arena_free(w.arena);
        }
}

/* One side is equal in all seeds, and the other is drawn: each mean may be off at half the chance
 * to err.  The p-value is the level at which the interval ends at 0. */
static void one_equal_side_widens_the_interval(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world w;
        struct rng rng;
        struct trust_open open, again;
        double below, above, off[SEEDS_MOST];
        rng_init(&rng, seed, "half", 0);
        begin(&w, 3 + (uint32_t)rng_below(&rng, SEEDS_MOST - 2));
        bool is_base = rng_below(&rng, 2) == 0;
        double value = (double)rng_below(&rng, 4);
        set_all(&w, is_base ? 0 : 1, METRIC_JOBS_FAILED, value);
        for (uint32_t s = 0; s < w.seeds; s++) {
            double other = 1 + (double)s + (double)rng_below(&rng, 6);
            grid_set(w.grid, 0, is_base ? 1 : 0, s, METRIC_JOBS_FAILED, other);
            off[s] = is_base ? other - value : value - other;
        }
        const struct trust_side x = sides_of(&w, 1), base = sides_of(&w, 0);
        struct stats_delta d = trust_delta(&x, &base, METRIC_JOBS_FAILED, 0.95, &open);
        struct stats_mean m = stats_mean(off, w.seeds, 0.975);
        bound(true, value, 0, w.seeds, 0.975, &below, &above);
        NEAR(d.mean, m.mean);
        NEAR(d.low, m.low - (is_base ? above : below));
        NEAR(d.high, m.high + (is_base ? below : above));
        assert_true(open.half && open.seeds == w.seeds && !open.cases);
        NEAR(open.below, d.mean - d.low);
        NEAR(open.above, d.high - d.mean);
        NEAR(open.share, 1 - pow(0.025, 1.0 / w.seeds));
        if (d.p_value > 1e-12 && d.p_value < 0.9) {
            struct stats_delta at = trust_delta(&x, &base, METRIC_JOBS_FAILED, 1 - d.p_value,
                                                &again);
            double end = at.mean > 0 ? at.low : at.high;
            if (fabs(end) > 1e-6 * (1 + fabs(at.mean)))
                fail_msg("seed %llu: at its p-value the interval ends at %g",
                         (unsigned long long)seed, end);
        }
        assert_true((d.p_value < 0.05) == (d.low > 0 || d.high < 0));
        arena_free(w.arena);
    }
}

/* Seeds of which one side lacks the value count on neither. */
static void pairs_are_of_seeds_that_both_have(void **state)
{
    struct world w;
    double off[SEEDS_MOST];
    size_t count = 0;

    (void)state;
    begin(&w, SEEDS_MOST);
    for (uint32_t s = 0; s < SEEDS_MOST; s++) {
        double a = s % 4 == 1 ? NAN : 10 + (double)(s * s % 7);
        double b = s % 5 == 2 ? NAN : 12.0 + (double)s;
        grid_set(w.grid, 0, 0, s, METRIC_JCT_MEAN, a);
        grid_set(w.grid, 0, 1, s, METRIC_JCT_MEAN, b);
        if (!isnan(a) && !isnan(b))
            off[count++] = b - a;
    }
    const struct trust_side x = sides_of(&w, 1), base = sides_of(&w, 0);
    struct stats_delta d = trust_delta(&x, &base, METRIC_JCT_MEAN, 0.95, NULL);
    struct stats_mean m = stats_mean(off, count, 0.95);
    assert_int_equal(d.count, count);
    NEAR(d.mean, m.mean);
    NEAR(d.low, m.low);
    NEAR(d.high, m.high);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_said_in_one_order),
        cmocka_unit_test(shares_of_a_whole_are_told_from_ratios),
        cmocka_unit_test(equal_seeds_leave_a_bound_open),
        cmocka_unit_test(cases_of_equal_seeds_narrow_the_bound),
        cmocka_unit_test(equal_pairs_leave_a_bound_open),
        cmocka_unit_test(one_equal_side_widens_the_interval),
        cmocka_unit_test(pairs_are_of_seeds_that_both_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
