/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rng_test.c - streams, tables and the distributions drawn from them.
 *
 * Seeds are fixed, so a statistical test cannot fail by chance later: it
 * passed once at a level that a wrong law would not have passed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "sim/base/rng.h"
#include "sim/base/rng_gsl.h"

#define KS_COUNT 200000

static struct rng stream(const char *name, uint64_t replica)
{
    struct rng rng;
    rng_init(&rng, 2024, name, replica);
    return rng;
}

/* ---- streams ---- */

static void first_draws_are_the_known_ones(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "arrivals", 0);
    assert_int_equal(rng_u64(&rng), UINT64_C(0x35e6ec7dd520467f));
    assert_int_equal(rng_u64(&rng), UINT64_C(0x9f440d8d96ddf717));
    assert_true(rng_uniform(&rng) == 0x1.493c4c488d9f4p-1);
    assert_true(rng_exponential(&rng, 1) == 0x1.a116fb090d436p-3);
    assert_true(rng_normal(&rng, 0, 1) == 0x1.cde166f7e2e92p-3);
    assert_int_equal(rng_below(&rng, 1000), 595);
    assert_true(rng_at(1, 2, 3, 4) == 0x1.aab99a95d6799p-1);
    assert_int_equal(rng_hash_text("arrivals"), UINT64_C(0x3618514899316990));
}

/* sfc64 seeded by hand must give the published sequence: Doty-Humphrey's
 * recurrence, written here once more in its textbook form. */
static void generator_is_sfc64(void **state)
{
    (void)state;
    struct rng rng = {1, 2, 3, 1};
    uint64_t a = 1, b = 2, c = 3, counter = 1;
    for (int i = 0; i < 100; i++) {
        uint64_t tmp = a + b + counter++;
        a = b ^ (b >> 11);
        b = c + (c << 3);
        c = ((c << 24) | (c >> (64 - 24))) + tmp;
        assert_int_equal(rng_u64(&rng), tmp);
    }
}

static void streams_differ_in_seed_name_and_replica(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "ab", "ba", "", "arrivals"};
    uint64_t first[6 * 6 * 6];
    size_t count = 0;
    for (uint64_t seed = 0; seed < 6; seed++)
        for (size_t name = 0; name < 6; name++)
            for (uint64_t replica = 0; replica < 6; replica++) {
                struct rng rng;
                rng_init(&rng, seed, names[name], replica);
                first[count++] = rng_u64(&rng);
            }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(first[i], first[j]);
}

static void same_key_gives_the_same_stream(void **state)
{
    (void)state;
    struct rng a = stream("x", 3), b = stream("x", 3);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(rng_u64(&a), rng_u64(&b));
}

static double correlation(struct rng *a, struct rng *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (rng_uniform(a) - 0.5) * (rng_uniform(b) - 0.5);
    return sum * 12 / count;
}

static void neighbouring_streams_are_uncorrelated(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    for (uint64_t k = 0; k < 20; k++) {
        struct rng base, seed, name, replica;
        rng_init(&base, k, "n", k);
        rng_init(&seed, k + 1, "n", k);
        rng_init(&name, k, "m", k);
        rng_init(&replica, k, "n", k + 1);
        struct rng again = base;
        assert_true(fabs(correlation(&again, &seed, COUNT)) < 0.014);
        again = base;
        assert_true(fabs(correlation(&again, &name, COUNT)) < 0.014);
        again = base;
        assert_true(fabs(correlation(&again, &replica, COUNT)) < 0.014);
    }
}

static void every_bit_of_a_first_draw_is_fair_over_replicas(void **state)
{
    (void)state;
    int ones[64] = {0};
    for (uint64_t replica = 0; replica < 40000; replica++) {
        struct rng rng = stream("bits", replica);
        uint64_t bits = rng_u64(&rng);
        for (int i = 0; i < 64; i++)
            ones[i] += (int)(bits >> i & 1);
    }
    for (int i = 0; i < 64; i++)            /* 4.5 standard deviations */
        assert_true(abs(ones[i] - 20000) < 450);
}

/* ---- tables ---- */

/* Layers by 80 decimal digits of the formula in rng_table.awk, the tails being
 * the decimals of rng.c: limits rounded down, the rest to the nearest double. */
struct known_layer {
    unsigned i;
    uint64_t inside;
    double scale, density;
};

static const struct known_layer exponential_known[] = {
    {0, UINT64_C(0x1c5214272497c7), 0x1.164ec94bf5dc1p-50, 0x1.0000000000000p+0},
    {1, UINT64_C(0x00000000000000), 0x1.0589d8b5d411dp-57, 0x1.e0545e5881136p-1},
    {2, UINT64_C(0x137d5bd79c3182), 0x1.ad6b2495b4d2ep-57, 0x1.cd0a65081fff0p-1},
    {3, UINT64_C(0x186ef58e3f3c11), 0x1.19335a95b8dbbp-56, 0x1.be5007beb7b27p-1},
    {4, UINT64_C(0x1a9bb7320eb0ae), 0x1.522e6e54a2a75p-56, 0x1.b210f0ee67f2ap-1},
    {7, UINT64_C(0x1d1bfe2d5c3973), 0x1.decd8b76dbd99p-56, 0x1.95431c455aa39p-1},
    {20, UINT64_C(0x1f014b76ddd4a4), 0x1.c5f7bd78c3f89p-55, 0x1.48a6afb8ee069p-1},
    {64, UINT64_C(0x1fa3c91ace0683), 0x1.e65b483cf1044p-54, 0x1.8c0e704b75d39p-2},
    {128, UINT64_C(0x1fc2c23ce98046), 0x1.ab9c0df81657ap-53, 0x1.816525094e7e5p-3},
    {200, UINT64_C(0x1fbb84f23fe6a2), 0x1.6f88db1f42507p-52, 0x1.cfd83031e794ap-5},
    {254, UINT64_C(0x1dddf62bac0bb1), 0x1.bc39e51da71fcp-51, 0x1.fb20af78dfcb9p-11},
    {255, UINT64_C(0x1cdb4dd9e4e8c0), 0x1.ec9d9297ebb83p-51, 0x1.dc31c329f0b4bp-12},
};

static const struct known_layer normal_known[] = {
    {0, UINT64_C(0x1de67b004bdeca), 0x1.f493b7815d982p-52, 0x1.0000000000000p+0},
    {1, UINT64_C(0x00000000000000), 0x1.b8d0be3fdf753p-56, 0x1.f446ac979f080p-1},
    {2, UINT64_C(0x18117d31f78d91), 0x1.250af3c2c5bdfp-55, 0x1.eb7545b6ca90fp-1},
    {3, UINT64_C(0x1b46a9f57b0299), 0x1.57cb938443b84p-55, 0x1.e3f11e027f071p-1},
    {4, UINT64_C(0x1ca3ecfd83dddf), 0x1.801fce82fa72ap-55, 0x1.dd36fa704de90p-1},
    {7, UINT64_C(0x1e328e15f48959), 0x1.dac2f5a74728cp-55, 0x1.cbd33a8a72de6p-1},
    {20, UINT64_C(0x1f61f6ce31721c), 0x1.60231cfd97ef4p-54, 0x1.94291c21b7a42p-1},
    {64, UINT64_C(0x1fc821d33d5afd), 0x1.189a71a78da37p-53, 0x1.18c9b709b3c4cp-1},
    {128, UINT64_C(0x1fdbda1f2132ff), 0x1.890c35f47f72fp-53, 0x1.3b1507cf143abp-2},
    {200, UINT64_C(0x1fd8afea1e63fb), 0x1.0d3ea34aa3d32p-52, 0x1.c04d0680b1009p-4},
    {254, UINT64_C(0x1ecd8befe06058), 0x1.b981f3878fdb0p-52, 0x1.55f9f43c1b06fp-9},
    {255, UINT64_C(0x1e34b496663893), 0x1.d3bb48209ad33p-52, 0x1.4a605b6b9f70dp-10},
};

struct shape {
    const struct rng_layer *layer;
    const double *density;
    const struct known_layer *known;
    size_t known_count;
    double (*formula)(double x);
};

static double exponential_density(double x)
{
    return exp(-x);
}

static double normal_density(double x)
{
    return exp(-0.5 * x * x);
}

static void layers_are_the_known_ones(const struct shape *shape)
{
    for (size_t k = 0; k < shape->known_count; k++) {
        const struct known_layer *known = &shape->known[k];
        const struct rng_layer *layer = &shape->layer[known->i];
        assert_true(layer->inside == known->inside);
        assert_true(layer->scale == known->scale);
        assert_true(shape->density[known->i] == known->density);
    }
}

/* All layers, to what products and exp may be off by on any processor. */
static void layers_equal_formula(const struct shape *shape)
{
    const struct rng_layer *layer = shape->layer;
    double x_last = 0, area = layer[0].scale * 0x1p53 * shape->density[255];
    assert_true(shape->density[0] == 1 && layer[1].inside == 0);
    for (int i = 1; i < 256; i++) {
        double x = layer[i].scale * 0x1p53, f = shape->density[i];
        double off = fabs((double)layer[i].inside - x_last / x * 0x1p53);
        assert_true(off <= 4);
        assert_true(fabs(shape->formula(x) - f) <= (x * x + 4) * 0x1p-52 * f);
        assert_true(fabs(x * (shape->density[i - 1] - f) - area) <= 1e-14);
        x_last = x;
    }
    double sure = x_last / (layer[0].scale * 0x1p53) * 0x1p53;
    assert_true(fabs((double)layer[0].inside - sure) <= 4);
}

static void ziggurat_tables_equal_their_formula(void **state)
{
    (void)state;
    const struct shape shape[] = {
        {rng_exponential_layer, rng_exponential_density, exponential_known,
         sizeof exponential_known / sizeof exponential_known[0],
         exponential_density},
        {rng_normal_layer, rng_normal_density, normal_known,
         sizeof normal_known / sizeof normal_known[0], normal_density},
    };
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        layers_are_the_known_ones(&shape[i]);
        layers_equal_formula(&shape[i]);
    }
}

/* ---- laws: Kolmogorov and Smirnov's distance from GSL's functions ---- */

typedef double draw_fn(struct rng *rng);
typedef double law_fn(double x);

static int order_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);   /* equal values are interchangeable */
}

/* sqrt(n) D; 1.63 is the 1 % point of its law (Kolmogorov 1933). */
static double ks_distance(draw_fn *draw, law_fn *law, const char *name)
{
    struct rng rng = stream(name, 0);
    double *x = malloc(KS_COUNT * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < KS_COUNT; i++)
        x[i] = draw(&rng);
    qsort(x, KS_COUNT, sizeof *x, order_doubles);
    double worst = 0;
    for (size_t i = 0; i < KS_COUNT; i++) {
        double p = law(x[i]);
        double low = p - (double)i / KS_COUNT;
        double high = (double)(i + 1) / KS_COUNT - p;
        worst = fmax(worst, fmax(low, high));
    }
    free(x);
    return worst * sqrt(KS_COUNT);
}

static double draw_exponential(struct rng *rng)
{
    return rng_exponential(rng, 3);
}

static double law_exponential(double x)
{
    return gsl_cdf_exponential_P(x, 3);
}

static double draw_normal(struct rng *rng)
{
    return rng_normal(rng, 5, 2);
}

static double law_normal(double x)
{
    return gsl_cdf_gaussian_P(x - 5, 2);
}

static double draw_lognormal(struct rng *rng)
{
    return rng_lognormal(rng, 1, 0.7);
}

static double law_lognormal(double x)
{
    return gsl_cdf_lognormal_P(x, 1, 0.7);
}

static double draw_weibull(struct rng *rng)
{
    return rng_weibull(rng, 2, 0.8);
}

static double law_weibull(double x)
{
    return gsl_cdf_weibull_P(x, 2, 0.8);
}

static double draw_pareto(struct rng *rng)
{
    return rng_pareto(rng, 2, 1.5);
}

static double law_pareto(double x)
{
    return gsl_cdf_pareto_P(x, 1.5, 2);
}

static double draw_gamma(struct rng *rng)
{
    return rng_gamma(rng, 2.5, 4);
}

static double law_gamma(double x)
{
    return gsl_cdf_gamma_P(x, 2.5, 4);
}

static double draw_beta(struct rng *rng)
{
    return rng_beta(rng, 0.11, 0.33);
}

static double law_beta(double x)
{
    return gsl_cdf_beta_P(x, 0.11, 0.33);
}

static double law_uniform(double x)
{
    return x;
}

static double rng_uniform_draw(struct rng *rng)
{
    return rng_uniform(rng);
}

static double draw_wrapped(struct rng *rng)
{
    gsl_rng wrapped;
    rng_gsl_wrap(rng, &wrapped);
    return gsl_ran_exponential(&wrapped, 3);
}

static void draws_follow_their_laws(void **state)
{
    (void)state;
    assert_true(ks_distance(rng_uniform_draw, law_uniform, "uniform") < 1.63);
    assert_true(ks_distance(draw_exponential, law_exponential, "exp") < 1.63);
    assert_true(ks_distance(draw_normal, law_normal, "normal") < 1.63);
    assert_true(ks_distance(draw_lognormal, law_lognormal, "log") < 1.63);
    assert_true(ks_distance(draw_weibull, law_weibull, "weibull") < 1.63);
    assert_true(ks_distance(draw_pareto, law_pareto, "pareto") < 1.63);
    assert_true(ks_distance(draw_gamma, law_gamma, "gamma") < 1.63);
    assert_true(ks_distance(draw_beta, law_beta, "beta") < 1.63);
    assert_true(ks_distance(draw_wrapped, law_exponential, "gsl") < 1.63);
}

/* The distance must see a wrong law, or the test above shows nothing. */
static void wrong_law_is_seen(void **state)
{
    (void)state;
    assert_true(ks_distance(draw_exponential, law_gamma, "exp") > 10);
    assert_true(ks_distance(draw_normal, law_exponential, "normal") > 10);
}

static void exponential_has_its_moments_and_tail(void **state)
{
    (void)state;
    enum { COUNT = 4000000 };
    struct rng rng = stream("moments", 0);
    double sum = 0, squares = 0;
    int beyond = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = rng_exponential(&rng, 1);
        assert_true(x >= 0);
        sum += x;
        squares += x * x;
        beyond += x > 8;        /* past the start of the tail, 7.697 */
    }
    double mean = sum / COUNT, expected = COUNT * exp(-8.0);
    assert_true(fabs(mean - 1) < 4.0 / sqrt(COUNT));
    assert_true(fabs(squares / COUNT - 2) < 4 * sqrt(20.0 / COUNT));
    assert_true(fabs(beyond - expected) < 4 * sqrt(expected));
}

static void normal_has_its_moments_and_tails(void **state)
{
    (void)state;
    enum { COUNT = 4000000 };
    struct rng rng = stream("moments", 1);
    double sum = 0, squares = 0, fourth = 0;
    int above = 0, below = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = rng_normal(&rng, 0, 1);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        above += x > 3.8;       /* past the start of the tail, 3.654 */
        below += x < -3.8;
    }
    double expected = COUNT * gsl_cdf_ugaussian_Q(3.8);
    assert_true(fabs(sum / COUNT) < 4 / sqrt(COUNT));
    assert_true(fabs(squares / COUNT - 1) < 4 * sqrt(2.0 / COUNT));
    assert_true(fabs(fourth / COUNT - 3) < 4 * sqrt(96.0 / COUNT));
    assert_true(fabs(above - expected) < 4 * sqrt(expected));
    assert_true(fabs(below - expected) < 4 * sqrt(expected));
}

static void below_is_in_range_and_even(void **state)
{
    (void)state;
    struct rng rng = stream("below", 0);
    int count[7] = {0};
    for (int i = 0; i < 700000; i++) {
        uint64_t n = rng_below(&rng, 7);
        assert_true(n < 7);
        count[n]++;
    }
    for (int i = 0; i < 7; i++)             /* 4 standard deviations */
        assert_true(abs(count[i] - 100000) < 1172);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(rng_below(&rng, 1), 0);
    /* Two thirds of 2^64: a modulus would give the lower half twice. */
    uint64_t limit = UINT64_MAX / 3 * 2;
    int low = 0;
    for (int i = 0; i < 100000; i++)
        low += rng_below(&rng, limit) < limit / 2;
    assert_true(abs(low - 50000) < 640);
}

static void pick_follows_weights_and_never_takes_zero(void **state)
{
    (void)state;
    struct rng rng = stream("pick", 0);
    const double weight[] = {0, 1, 0, 3, 0};
    int count[5] = {0};
    for (int i = 0; i < 400000; i++)
        count[rng_pick(&rng, weight, 5)]++;
    assert_int_equal(count[0] + count[2] + count[4], 0);
    assert_true(abs(count[1] - 100000) < 1100);
}

static void keyed_uniforms_are_uniform_and_independent(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    double sum = 0, product = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        double u = rng_at(7, 1, i, 0), v = rng_at(7, 1, i + 1, 0);
        assert_true(u >= 0 && u < 1);
        sum += u;
        product += (u - 0.5) * (v - 0.5);
    }
    assert_true(fabs(sum / COUNT - 0.5) < 4 * sqrt(1.0 / 12 / COUNT));
    assert_true(fabs(product * 12 / COUNT) < 0.014);
    assert_true(rng_at(7, 1, 2, 3) == rng_at(7, 1, 2, 3));
    assert_true(rng_at(7, 1, 2, 3) != rng_at(7, 2, 1, 3));
    assert_true(rng_at(7, 1, 2, 3) != rng_at(7, 1, 3, 2));
    assert_true(rng_at(7, 1, 2, 3) != rng_at(8, 1, 2, 3));
}

static void gsl_draws_move_the_wrapped_stream(void **state)
{
    (void)state;
    struct rng rng = stream("gsl", 0), twin = rng;
    gsl_rng wrapped;
    rng_gsl_wrap(&rng, &wrapped);
    assert_true(gsl_rng_uniform(&wrapped) == rng_uniform(&twin));
    assert_true(gsl_rng_get(&wrapped) == rng_u64(&twin));
    assert_memory_equal(&rng, &twin, sizeof rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_draws_are_the_known_ones),
        cmocka_unit_test(generator_is_sfc64),
        cmocka_unit_test(streams_differ_in_seed_name_and_replica),
        cmocka_unit_test(same_key_gives_the_same_stream),
        cmocka_unit_test(neighbouring_streams_are_uncorrelated),
        cmocka_unit_test(every_bit_of_a_first_draw_is_fair_over_replicas),
        cmocka_unit_test(ziggurat_tables_equal_their_formula),
        cmocka_unit_test(draws_follow_their_laws),
        cmocka_unit_test(wrong_law_is_seen),
        cmocka_unit_test(exponential_has_its_moments_and_tail),
        cmocka_unit_test(normal_has_its_moments_and_tails),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(pick_follows_weights_and_never_takes_zero),
        cmocka_unit_test(keyed_uniforms_are_uniform_and_independent),
        cmocka_unit_test(gsl_draws_move_the_wrapped_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
