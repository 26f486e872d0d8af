/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage_test.c - how often a 95% interval holds a mean that is known.
 *
 * Each group is n trials; a trial is the mean over the jobs of one run of a
 * queue of one server, in the order of arrival, begun in its steady state, so
 * that Pollaczek and Khinchine's formula is the mean of every trial exactly.
 * The initial work is a geometric number of residual services (Kleinrock,
 * Queueing Systems 1, 1975, 5.7); the residual of a lognormal is a uniform part
 * of a lognormal whose log mean is larger by the variance.
 *
 *   build/tests/coverage_test GROUPS [SUMMARY.csv METRIC]...
 *
 * prints the table of experiments/results/README.md.  A summary.csv of many
 * seeds is a world of its own: groups are drawn from its seeds, with replacement,
 * and its mean over all of them is the truth.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/trust.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/stats/shape.h"
#include "sim/stats/stats.h"

#define SEEDS_MOST 40
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum of { OF_SIZE, OF_JCT, OF_SLOWDOWN, OF_GAIN };

struct world {
    const char *name;
    double cv;                  /* of lognormal sizes of mean 1; 0: exponential */
    double load;
    uint32_t jobs;
    enum of of;
    bool doubtful;              /* must be marked, always but for a few */
    bool proof;                 /* no rule was chosen on it */
};

static const struct world world[] = {
    { "M/M/1 at 0.7, 200 jobs: JCT", 0, 0.7, 200, OF_JCT, false, false },
    { "M/M/1 at 0.9, 1000 jobs: JCT", 0, 0.9, 1000, OF_JCT, false, false },
    { "M/M/1 at 0.5, 400 jobs: JCT", 0, 0.5, 400, OF_JCT, false, true },
    { "M/M/1 at 0.8, 2000 jobs: JCT", 0, 0.8, 2000, OF_JCT, false, true },
    { "M/M/1 at 0.8, 500 jobs: 10% less load", 0, 0.8, 500, OF_GAIN, false, true },
    { "cv 1, at 0.7, 500 jobs: JCT", 1, 0.7, 500, OF_JCT, false, true },
    { "cv 6, 2000 jobs: size", 6, 0.6, 2000, OF_SIZE, true, false },
    { "cv 6, at 0.6, 500 jobs: JCT", 6, 0.6, 500, OF_JCT, true, false },
    { "cv 6, at 0.5, 2000 jobs: JCT", 6, 0.5, 2000, OF_JCT, true, true },
    { "cv 6, at 0.6, 500 jobs: slowdown", 6, 0.6, 500, OF_SLOWDOWN, true, true },
};

struct draw {
    double log_mean, log_sd;
};

static struct draw draw_of(const struct world *w)
{
    double variance = log1p(w->cv * w->cv);

    return (struct draw){ -variance / 2, sqrt(variance) };
}

static double size(struct rng *rng, const struct world *w)
{
    struct draw d = draw_of(w);

    return w->cv > 0 ? rng_lognormal(rng, d.log_mean, d.log_sd)
                     : rng_exponential(rng, 1);
}

static double residual(struct rng *rng, const struct world *w)
{
    struct draw d = draw_of(w);

    if (!(w->cv > 0))
        return rng_exponential(rng, 1);
    return rng_uniform(rng) *
           rng_lognormal(rng, d.log_mean + d.log_sd * d.log_sd, d.log_sd);
}

static double wait_mean(const struct world *w, double load)
{
    double square = w->cv > 0 ? 1 + w->cv * w->cv : 2;

    return load * square / (2 * (1 - load));
}

static double truth_of(const struct world *w)
{
    double inverse = 1 + w->cv * w->cv;     /* E[1 / size] of a lognormal */

    switch (w->of) {
    case OF_SIZE: return 1;
    case OF_JCT: return 1 + wait_mean(w, w->load);
    case OF_SLOWDOWN: return 1 + wait_mean(w, w->load) * inverse;
    case OF_GAIN:               /* sizes and so the load are 0.9 times */
        return 0.9 * (1 + wait_mean(w, 0.9 * w->load)) /
               (1 + wait_mean(w, w->load)) - 1;
    }
    return NAN;
}

/* The mean of one trial whose jobs take `scale` times as long; the same jobs
 * for every scale but for the work that is there at first. */
static double trial(const struct world *w, uint64_t number, double scale,
                    struct shape *sizes)
{
    double work = 0, sum = 0;
    struct rng first, jobs;

    rng_init(&first, 11, w->name, 2 * number);
    rng_init(&jobs, 11, w->name, 2 * number + 1);
    while (rng_uniform(&first) < scale * w->load)
        work += scale * residual(&first, w);
    for (uint32_t i = 0; i < w->jobs; i++) {
        double s = scale * size(&jobs, w), jct = work + s;

        sum += w->of == OF_SIZE ? s : w->of == OF_SLOWDOWN ? jct / s : jct;
        shape_add(sizes, s);
        work = fmax(0, jct - rng_exponential(&jobs, 1 / w->load));
    }
    return sum / w->jobs;
}

struct tried {
    uint32_t groups, held, student, marked, plain_held;
};

static void count_group(struct tried *tried, bool holds, bool student,
                        const char *doubt)
{
    tried->groups++;
    tried->held += holds;
    tried->student += student;
    tried->marked += *doubt != 0;
    tried->plain_held += *doubt == 0 && holds;
}

static double mean_by(const double *x, const double *base, uint32_t n,
                      double ratio, double *sd)
{
    double mean = 0, squares = 0;

    for (uint32_t i = 0; i < n; i++)
        mean += (x[i] - ratio * base[i]) / n;
    for (uint32_t i = 0; i < n; i++)
        squares += pow(x[i] - ratio * base[i] - mean, 2);
    *sd = sqrt(squares / (n - 1));
    return mean;
}

/* Would Student's interval alone hold it?  97.5% quantiles from any table. */
static bool student_holds(const double *x, const double *base, uint32_t n,
                          double ratio, double truth)
{
    double t = n == 5 ? 2.776445 : n == 10 ? 2.262157 : n == 20 ? 2.093024
             : 2.022691, sd, mean = mean_by(x, base, n, ratio, &sd);

    return fabs(mean - truth) <= t * sd / sqrt(n);
}

static void try_group(struct arena *arena, const struct world *w, uint32_t n,
                      uint32_t group, struct tried *tried)
{
    double x[SEEDS_MOST] = { 0 }, base[SEEDS_MOST] = { 0 }, truth = truth_of(w);
    struct shape all = { 0, 0, 0, 0 };
    bool gain = w->of == OF_GAIN;

    for (uint32_t i = 0; i < n; i++) {
        struct shape sizes = { 0, 0, 0, 0 }, again = { 0, 0, 0, 0 };
        uint64_t number = (uint64_t)group * SEEDS_MOST + i;

        x[i] = trial(w, number, gain ? 0.9 : 1, &sizes);
        if (gain)
            base[i] = trial(w, number, 1, &again);
        shape_pool(&all, sizes.count, shape_cv(&sizes), shape_skewness(&sizes));
    }
    if (gain) {
        struct stats_delta d = stats_delta(x, base, n, 0.95);

        count_group(tried, d.percent_low <= 100 * truth &&
                           100 * truth <= d.percent_high,
                    student_holds(x, base, n, 1 + truth, 0),
                    trust_pairs_text(arena, shape_few(&all), &d));
    } else {
        struct stats_mean m = stats_mean(x, n, 0.95);

        count_group(tried, m.low <= truth && truth <= m.high,
                    student_holds(x, base, n, 0, truth),
                    trust_text(arena, shape_few(&all), &m));
    }
}

static const uint32_t seeds[] = { 5, 10, 20, 40 };

static struct tried try_world(const struct world *w, uint32_t n,
                              uint32_t groups)
{
    struct arena *arena = arena_new(1 << 12);
    struct tried tried = { 0, 0, 0, 0, 0 };

    for (uint32_t g = 0; g < groups; g++)
        try_group(arena, w, n, g, &tried);
    arena_free(arena);
    return tried;
}

static double percent(uint32_t part, uint32_t all)
{
    return all == 0 ? NAN : 100.0 * part / all;
}

/* 400 groups: the standard error of 95% is 1.1 points, and the ratio of two queues
 * is held by 92.5 of ten seeds. */
static void intervals_hold_the_truth_or_are_marked(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(world); k++)
        for (size_t i = 0; i < 2; i++) {
            const struct world *w = &world[k];
            struct tried t = try_world(w, seeds[i], 400);
            double held = percent(t.held, t.groups);
            double marked = percent(t.marked, t.groups);
            bool doubtful = w->doubtful || (w->of == OF_GAIN && seeds[i] < 10);

            if (doubtful ? marked < 95 : marked > 20)
                fail_msg("%s, %u seeds: %.1f%% are marked", w->name, seeds[i],
                         marked);
            if (!doubtful && (held < 90 || held > 99))
                fail_msg("%s, %u seeds: %.1f%% hold it", w->name, seeds[i],
                         held);
        }
}

/* Six values by hand: u = (mean - m) / sd where the cubic is t / sqrt(n). */
static void skewed_samples_have_longer_upper_sides(void **state)
{
    static const double right[] = { 1, 1, 1, 1, 2, 12 };
    static const double left[] = { -1, -1, -1, -1, -2, -12 };
    struct stats_mean r = stats_mean(right, 6, 0.95);
    struct stats_mean l = stats_mean(left, 6, 0.95);
    double sd = sqrt((4 * 4 + 1 + 81) / 5.0), g, u, y;

    (void)state;
    g = (4 * -8.0 - 1 + 729) * 6 / (5 * 4) / (sd * sd * sd);
    u = (3 - r.high) / sd;
    y = u + g * u * u / 3 + g * g * u * u * u / 27 + g / 36;
    assert_true(fabs(y + 2.5705818366 / sqrt(6)) < 1e-8);
    assert_true(fabs(r.low - (3 - 2.5705818366 * sd / sqrt(6))) < 1e-8);
    assert_true(fabs(r.high + l.low) < 1e-12 && fabs(r.low + l.high) < 1e-12);
}

/* Holm 1979; the order given does not matter, and NAN does not count. */
static void holm_multiplies_by_what_is_left(void **state)
{
    double p[] = { 0.04, NAN, 0.01, 0.03, 0.005, 0 };
    static const double want[] = { 0.06, NAN, 0.03, 0.06, 0.02, 0 };
    double large[] = { 0.6, 0.5 };
    struct arena *arena = arena_new(1 << 12);

    (void)state;
    stats_holm(arena, p, COUNT(p));
    for (size_t i = 0; i < COUNT(p); i++)
        assert_true(isnan(want[i]) ? isnan(p[i]) : fabs(p[i] - want[i]) < 1e-12);
    stats_holm(arena, large, 2);
    assert_true(large[0] == 1 && large[1] == 1);
    arena_free(arena);
}

/* Values 0, 0, 0, 4: mean 1, squares 12, cubes 24: skewness 2 / sqrt(3). */
static void shape_has_the_moments_of_its_values(void **state)
{
    struct shape s = { 0, 0, 0, 0 }, pool = { 0, 0, 0, 0 }, flat = pool;

    (void)state;
    for (int i = 0; i < 4; i++) {
        shape_add(&s, i == 2 ? 4 : 0);
        shape_add(&flat, 0.1);
    }
    assert_true(fabs(shape_cv(&s) - sqrt(3)) < 1e-12);
    assert_true(fabs(shape_skewness(&s) - 2 / sqrt(3)) < 1e-12);
    assert_true(shape_cv(&flat) == 0 && shape_skewness(&flat) == 0);
    shape_pool(&pool, 4, sqrt(3), 2 / sqrt(3));
    shape_pool(&pool, 4, sqrt(3), 2 / sqrt(3));
    assert_true(fabs(shape_skewness(&pool) - 2 / sqrt(3)) < 1e-12);
    assert_true(shape_few(&pool) == 0);
}

static void print_row(const char *name, bool proof, uint32_t n, struct tried t)
{
    print_message("%-40s %-7s %2u  %5.1f  %5.1f  %5.1f\n", name,
                  proof ? "proof" : "chosen", n, percent(t.student, t.groups),
                  percent(t.held, t.groups), percent(t.marked, t.groups));
}

/* Groups drawn from the seeds of a folder's table, each policy and point. */
static void try_table(struct arena *arena, const struct grid *grid,
                      enum metric metric, bool paired, uint32_t n,
                      uint32_t groups, struct tried *tried)
{
    double all[2][4096], mean[2];

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = paired; p < grid->policy_count; p++) {
            uint32_t pool = grid->seed_count < 4096 ? grid->seed_count : 4096;
            struct rng rng;

            mean[0] = mean[1] = 0;
            for (uint32_t s = 0; s < pool; s++) {
                all[0][s] = grid_value(grid, t, p, s, metric);
                all[1][s] = paired ? grid_value(grid, t, 0, s, metric) : 0;
                mean[0] += all[0][s] / pool;
                mean[1] += all[1][s] / pool;
            }
            rng_init(&rng, 3, "groups", (uint64_t)t * 100 + p);
            for (uint32_t g = 0; g < groups; g++) {
                double x[SEEDS_MOST] = { 0 }, base[SEEDS_MOST] = { 0 };
                double truth = paired ? mean[0] / mean[1] - 1 : mean[0];

                for (uint32_t i = 0; i < n; i++) {
                    size_t s = rng_below(&rng, pool);
                    x[i] = all[0][s];
                    base[i] = all[1][s];
                }
                struct stats_delta d = stats_delta(x, base, n, 0.95);
                struct stats_mean m = stats_mean(x, n, 0.95);
                bool holds = paired ? d.percent_low <= 100 * truth &&
                                      100 * truth <= d.percent_high
                                    : m.low <= truth && truth <= m.high;
                double jobs = trust_jobs(grid, t, p);

                count_group(tried, holds,
                            student_holds(x, base, n, paired ? 1 + truth : 0,
                                          paired ? 0 : truth),
                            paired ? trust_pairs_text(arena, jobs, &d)
                                   : trust_text(arena, jobs, &m));
            }
        }
}

static int print_table(const char *path, const char *name, uint32_t groups)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct grid *grid = grid_from_folder(arena, path, &err);
    enum metric metric = metric_find(NULL, name);

    if (grid == NULL || metric == METRIC_COUNT) {
        print_error("%s, %s: no such results or metric\n", path, name);
        return 1;
    }
    for (int paired = 0; paired < 2; paired++)
        for (size_t i = 0; i < COUNT(seeds); i++) {
            struct tried t = { 0, 0, 0, 0, 0 };
            char label[96];

            snprintf(label, sizeof label, "%s%s", name,
                     paired ? ", paired" : "");
            try_table(arena, grid, metric, paired, seeds[i], groups, &t);
            print_row(label, true, seeds[i], t);
        }
    arena_free(arena);
    return 0;
}

static int print_all(int argc, char **argv)
{
    uint32_t groups = (uint32_t)strtoul(argv[1], NULL, 10);
    int bad = groups == 0;

    print_message("%-40s %-7s %2s  %5s  %5s  %5s\n", "what", "rows", "n", "t",
                  "held", "marked");
    for (size_t k = 0; argc == 2 && k < COUNT(world); k++)
        for (size_t i = 0; i < COUNT(seeds); i++)
            print_row(world[k].name, world[k].proof, seeds[i],
                      try_world(&world[k], seeds[i], groups));
    for (int i = 2; i + 1 < argc; i += 2)
        bad |= print_table(argv[i], argv[i + 1], groups);
    return bad;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_truth_or_are_marked),
        cmocka_unit_test(skewed_samples_have_longer_upper_sides),
        cmocka_unit_test(holm_multiplies_by_what_is_left),
        cmocka_unit_test(shape_has_the_moments_of_its_values),
    };

    if (argc > 1)
        return print_all(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
