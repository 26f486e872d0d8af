/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput_batch_test.c - batches of applications that change theirs, drawn by a seed, against
 * counting: the smallest whole number that is enough, found by trying one after another; and
 * jobs on pools, against sums over their spans.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"

#define SPANS 3
#define POOLS 3

static double draw(struct rng *rng, double from, double to)
{
    return from + (to - from) * rng_uniform(rng);
}

static struct goodput_speed draw_speed(struct rng *rng, const char *gpu)
{
    return (struct goodput_speed){
        .gpu = gpu, .alpha_c = draw(rng, 0.01, 0.2), .beta_c = draw(rng, 1e-4, 1e-2),
        .alpha_r = draw(rng, 0, 0.2), .beta_r = draw(rng, 0, 0.01),
        .alpha_n = draw(rng, 0.1, 0.4), .beta_n = draw(rng, 0, 0.02),
        .gamma = draw(rng, 1, 8), .local_max = 1 + (uint32_t)rng_below(rng, 200),
    };
}

/* Batches from 8 to some thousand samples; noise of three spans at one to three batches. */
static struct application draw_app(struct rng *rng, struct goodput_speed *speed)
{
    struct application app = {
        .work = draw(rng, 1e5, 1e6), .batch_first = 8u << rng_below(rng, 5),
        .local_min = 1 + (uint32_t)rng_below(rng, 12),
        .gpus_max = rng_below(rng, 2) ? 0 : 1 + (uint32_t)rng_below(rng, 12),
        .speed = speed, .speed_count = 2,
        .noise = { .spans = SPANS, .batches = 1 + (uint32_t)rng_below(rng, 3),
                   .until = { 0.2, 0.7, 1 } },
    };

    app.batch_max = app.batch_first * (1 + (uint32_t)rng_below(rng, 40));
    speed[0] = draw_speed(rng, "one");
    speed[1] = draw_speed(rng, "two");
    for (uint32_t b = 0; b < app.noise.batches; b++)
        app.noise.batch[b] = (b + 1) * (b + 1) * draw(rng, 10, 30);
    for (uint32_t i = 0; i < SPANS * app.noise.batches; i++)
        app.noise.scale[i] = draw(rng, 5, 5000);
    return app;
}

/* phi between two batches lies on a straight line of logarithms. */
static double plain_noise(const struct application *app, uint32_t span, double batch)
{
    uint32_t n = app->noise.batches;
    const double *at = app->noise.batch, *phi = app->noise.scale + span * n;

    for (uint32_t b = 0; b + 1 < n; b++)
        if (batch >= at[b] && batch <= at[b + 1])
            return exp(log(phi[b]) + (log(phi[b + 1]) - log(phi[b])) *
                       (log(batch) - log(at[b])) / (log(at[b + 1]) - log(at[b])));
    return batch < at[0] ? phi[0] : phi[n - 1];
}

static double plain_step_s(const struct goodput_speed *speed, struct goodput_shape shape,
                           double local, double parts)
{
    double more = shape.gpus > 2 ? shape.gpus - 2.0 : 0;
    double grad = speed->alpha_c + speed->beta_c * local;
    double sync = shape.gpus == 1 ? 0 : shape.nodes == 1 ? speed->alpha_r + speed->beta_r * more
                                                         : speed->alpha_n + speed->beta_n * more;

    return (parts - 1) * grad +
           pow(pow(grad, speed->gamma) + pow(sync, speed->gamma), 1 / speed->gamma);
}

/* The smallest whole number of which `each` times is `all` or more, but for rounding. */
static uint32_t enough(double all, double each)
{
    uint32_t n = 0;

    while (n * each < all - 1e-8 * each)
        n++;
    return n;
}

static struct goodput_batch plain_of(const struct application *app,
                                     const struct goodput_speed *speed,
                                     struct goodput_shape shape, uint32_t span, double samples)
{
    struct goodput_batch none = { 0 }, out = { 0 };
    uint32_t local = enough(samples, shape.gpus), parts = enough(local, speed->local_max);

    if (local == 0)
        return none;
    if (shape.gpus == 1 && samples > app->batch_first && parts == 1 && local >= 2 * app->local_min)
        parts = 2;
    out.accumulated = parts - 1;
    out.local = enough(local, parts);
    while (out.local * shape.gpus * parts > app->batch_max)
        out.local--;
    if (out.local < app->local_min || out.local > speed->local_max)
        return (struct goodput_batch){ .accumulated = out.accumulated };
    out.samples = out.local * shape.gpus * parts;
    if (out.samples < app->batch_first)
        return out;
    double phi = plain_noise(app, span, out.samples);
    out.goodput = out.samples / plain_step_s(speed, shape, out.local, parts) *
                  (phi + app->batch_first) / (phi + out.samples);
    return out;
}

static void are_alike(struct goodput_batch found, struct goodput_batch expected, size_t k)
{
    if (found.accumulated != expected.accumulated || found.local != expected.local ||
        found.samples != expected.samples ||
        !(fabs(found.goodput - expected.goodput) <= 1e-9 * expected.goodput))
        fail_msg("case %zu: %u + 1 parts of %u, %g samples, %g; expected %u, %u, %g, %g", k,
                 found.accumulated, found.local, found.samples, found.goodput,
                 expected.accumulated, expected.local, expected.samples, expected.goodput);
}

static struct goodput_shape draw_shape(struct rng *rng)
{
    struct goodput_shape shape = { 1 + (uint32_t)rng_below(rng, rng_below(rng, 2) ? 3 : 20), 1 };

    shape.nodes = 1 + (uint32_t)rng_below(rng, shape.gpus);
    return shape;
}

static void batches_are_those_that_counting_gives(void **state)
{
    int can = 0, parts = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 6, "batches", 0);
    for (size_t k = 0; k < 4000; k++) {
        struct goodput_speed speed[2];
        struct application app = draw_app(&rng, speed);
        struct goodput_shape shape = draw_shape(&rng);
        uint32_t span = (uint32_t)rng_below(&rng, SPANS);
        double samples = rng_below(&rng, 4) ? (double)rng_below(&rng, 2 * app.batch_max)
                                            : draw(&rng, 0, app.batch_max);
        if (rng_below(&rng, 3) == 0)
            samples = app.batch_first;
        struct goodput_batch b = plain_of(&app, &speed[0], shape, span, samples);
        are_alike(goodput_of(&app, &speed[0], shape, span, samples), b, k);
        can += b.goodput > 0;
        parts += b.goodput > 0 && b.accumulated > 0;
        assert_true(fabs(goodput_noise_scale(&app, span, samples + 1) -
                         plain_noise(&app, span, samples + 1)) <
                    1e-9 * plain_noise(&app, span, samples + 1));
    }
    assert_true(can > 800 && parts > 200);
    struct goodput_speed speed[2];
    struct application app = draw_app(&rng, speed);
    assert_true(goodput_of(&app, speed, (struct goodput_shape){ 0, 0 }, 0, 8).goodput == 0);
}

/* Of 50 batches evenly spaced in their logarithms, the first of the highest goodput. */
static struct goodput_batch plain_best(const struct application *app,
                                       const struct goodput_speed *speed,
                                       struct goodput_shape shape, uint32_t span)
{
    double first = app->local_min * shape.gpus;
    struct goodput_batch best = { 0 };

    first = first > app->batch_first ? first : app->batch_first;
    for (int i = 0; first <= app->batch_max && i < 50; i++) {
        double samples = exp(log(first) + (log(app->batch_max) - log(first)) * i / 49);
        struct goodput_batch b = plain_of(app, speed, shape, span, samples);
        if (b.goodput > best.goodput * (1 + 1e-12))
            best = b;
    }
    return best;
}

static void the_best_of_50_batches_is_taken(void **state)
{
    int can = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, "batches", 0);
    for (size_t k = 0; k < 600; k++) {
        struct goodput_speed speed[2];
        struct application app = draw_app(&rng, speed);
        struct goodput_shape shape = draw_shape(&rng);
        uint32_t span = (uint32_t)rng_below(&rng, SPANS);
        struct goodput_batch b = plain_best(&app, &speed[1], shape, span);
        are_alike(goodput_best(&app, &speed[1], shape, span), b, k);
        can += b.goodput > 0;
    }
    assert_true(can > 200);
}

/* ---- jobs ---- */

struct drawn {
    struct goodput_speed speed[2];
    struct application app;
    const struct goodput_speed *of[POOLS];
    uint32_t node_gpus[POOLS];
    struct goodput_pools pools;
};

/* Pools of nodes of 1 to 8 GPUs, or of no GPUs; on some the application cannot run. */
static void draw_pools(struct rng *rng, struct drawn *d)
{
    d->app = draw_app(rng, d->speed);
    for (uint32_t p = 0; p < POOLS; p++) {
        uint64_t which = rng_below(rng, 3);
        d->of[p] = which < 2 ? &d->speed[which] : NULL;
        d->node_gpus[p] = (uint32_t)rng_below(rng, 9);
    }
    d->pools = (struct goodput_pools){ d->of, d->node_gpus, POOLS };
}

static double plain_rate(const struct drawn *d, uint32_t pool, struct goodput_shape shape,
                         uint32_t span, uint32_t batch)
{
    if (d->of[pool] == NULL || (d->app.gpus_max > 0 && shape.gpus > d->app.gpus_max))
        return 0;
    return batch > 0 ? plain_of(&d->app, d->of[pool], shape, span, batch).goodput
                     : plain_best(&d->app, d->of[pool], shape, span).goodput;
}

static struct goodput_shape plain_packed(const struct drawn *d, uint32_t pool, uint32_t gpus)
{
    uint32_t nodes = d->node_gpus[pool] == 0 ? 1 : enough(gpus, d->node_gpus[pool]);

    return (struct goodput_shape){ gpus, nodes };
}

/* Seconds of each span: its work by the pace of the first pool that can run it as asked. */
static bool plain_ends(const struct drawn *d, uint32_t gpus, uint32_t batch, double *end_s)
{
    static const double part[] = { 0.2, 0.5, 0.3 };

    for (uint32_t s = 0; s < SPANS; s++) {
        double rate = 0;
        for (uint32_t p = 0; p < POOLS && rate == 0; p++)
            rate = plain_rate(d, p, plain_packed(d, p, gpus), s, batch);
        if (rate == 0)
            return false;
        end_s[s] = (s > 0 ? end_s[s - 1] : 0) + part[s] * d->app.work / rate;
    }
    return true;
}

/* Lower bounds: the least over sizes, pools, and one node or two. */
static void check_least(const struct drawn *d, const struct goodput_job *job, bool tunes)
{
    static const double part[] = { 0.2, 0.5, 0.3 };
    struct goodput_least least;
    double s = 0, gpu_s = 0, all_gpu_s;
    uint32_t most = tunes ? d->app.batch_max / d->app.local_min : job->batch / d->app.local_min;

    if (d->app.gpus_max > 0 && d->app.gpus_max < most)
        most = d->app.gpus_max;
    most = most > job->gpus ? most : job->gpus;
    assert_int_equal(goodput_gpus_max(job, tunes), most);
    most = most < 9 ? most : 9;
    for (uint32_t i = 0; i < SPANS; i++) {
        double best_s = (double)INFINITY, best_gpu_s = (double)INFINITY;
        least.sample_s[i] = least.sample_gpu_s[i] = (double)INFINITY;
        for (uint32_t p = 0; p < POOLS; p++)
            for (uint32_t g = 1; g <= most; g++)
                for (uint32_t nodes = 1; nodes <= 2 && nodes <= g; nodes++) {
                    double rate = plain_rate(d, p, (struct goodput_shape){ g, nodes }, i,
                                             tunes ? 0 : job->batch);
                    best_s = rate > 0 ? fmin(best_s, 1 / rate) : best_s;
                    best_gpu_s = rate > 0 ? fmin(best_gpu_s, g / rate) : best_gpu_s;
                }
        s += part[i] * d->app.work * best_s;
        gpu_s += part[i] * d->app.work * best_gpu_s;
    }
    goodput_least_with(job, 9, tunes, &least);
    double all_s = goodput_least_s(job, &least, &all_gpu_s);
    assert_true(all_s == s || fabs(all_s - s) < 1e-9 * s);
    assert_true(all_gpu_s == gpu_s || fabs(all_gpu_s - gpu_s) < 1e-9 * gpu_s);
}

static void check_job(const struct drawn *d, struct rng *rng, const struct goodput_job *job,
                      const double *end_s)
{
    assert_int_equal(goodput_job_ns(job), job->end_ns[SPANS - 1]);
    for (uint32_t s = 0; s < SPANS; s++) {
        double from_s = s > 0 ? end_s[s - 1] : 0;
        assert_true(fabs(clock_s_from_ns(job->end_ns[s]) - end_s[s]) < 1e-9 * end_s[s] + 1e-9);
        assert_int_equal(goodput_job_span(job, job->end_ns[s] - 1), s);
        assert_int_equal(goodput_job_span(job, job->end_ns[s]), s < 2 ? s + 1 : 2);
        for (uint32_t p = 0; p < POOLS; p++) {
            struct goodput_shape shape = draw_shape(rng), packed;
            bool tunes = rng_below(rng, 2);
            double rate = plain_rate(d, p, shape, s, tunes ? 0 : job->batch);
            double work = d->app.work * (double[]){ 0.2, 0.5, 0.3 }[s];
            double pace = rate * (end_s[s] - from_s) / work;
            assert_true(fabs(goodput_speedup(job, p, shape, s, tunes) - pace) < 1e-6 * pace + 1e-9);
            packed = goodput_packed(job, p, shape.gpus);
            assert_int_equal(packed.gpus, shape.gpus);
            assert_int_equal(packed.nodes, plain_packed(d, p, shape.gpus).nodes);
        }
    }
    for (uint32_t g = 0; g < 12; g++)
        for (int tunes = 0; tunes < 2; tunes++) {
            bool ok = false;
            for (uint32_t p = 0; g > 0 && p < POOLS; p++)
                ok = ok || plain_rate(d, p, plain_packed(d, p, g), 0, tunes ? 0 : job->batch) > 0;
            assert_true(goodput_size_ok(job, g, tunes) == ok);
        }
    check_least(d, job, false);
    check_least(d, job, true);
}

static void jobs_take_what_their_spans_take(void **state)
{
    int made = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 8, "batches", 0);
    for (size_t k = 0; k < 120; k++) {
        struct drawn d;
        struct goodput_job job;
        double end_s[SPANS];
        draw_pools(&rng, &d);
        uint32_t gpus = 1 + (uint32_t)rng_below(&rng, 8);
        uint32_t batch = d.app.batch_first + (uint32_t)rng_below(&rng, d.app.batch_max);
        bool can = plain_ends(&d, gpus, batch, end_s);
        assert_true(goodput_job_make(&d.app, &d.pools, gpus, batch, &job) == can);
        made += can;
        if (can)
            check_job(&d, &rng, &job, end_s);
    }
    assert_true(made > 20);
}

/* An application's GPUs may have any of their names. */
static void speeds_are_found_by_the_name_of_the_catalogue(void **state)
{
    static const char text[] =
        "applications:\n  mine:\n    work: 1e6\n    batch: 8\n    batch_max: 64\n    local_min: 1\n"
        "    source: me\n    noise: {until: [1], 8: [100]}\n    speeds:\n"
        "      NVIDIA A100-SXM4-80GB: {alpha_c_s: 0.1, beta_c_s: 0.01, local_max: 4}\n";
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct conf_node *own = conf_parse(arena, "own.yaml", text, strlen(text), &err);

    (void)state;
    assert_non_null(own);
    const struct catalogue *c = catalogue_read(arena, &own, 1, &err);
    if (c == NULL)
        fail_msg("%s (%s)", err.text, err.hint);
    const struct application *app = catalogue_application(c, "mine");
    assert_non_null(app);
    assert_non_null(goodput_speed_of(app, "a100-80"));
    assert_null(goodput_speed_of(app, "a100-40"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_those_that_counting_gives),
        cmocka_unit_test(the_best_of_50_batches_is_taken),
        cmocka_unit_test(jobs_take_what_their_spans_take),
        cmocka_unit_test(speeds_are_found_by_the_name_of_the_catalogue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
