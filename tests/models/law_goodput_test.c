/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_goodput_test.c - Pollux' law of goodput: by hand, against measured steps
 * that chose no constant, and as a job's known length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/application.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "tests/aid/law_aids.h"

static const struct application *app_of(const struct law_aids *aids,
                                        const char *name)
{
    const struct application *app = catalogue_application(aids->catalogue,
                                                          name);
    assert_non_null(app);
    return app;
}

/* 0.1 + 0.001 x 100 = 0.2 s of gradient, 0.3 + 0.01 x (4 - 2) = 0.32 s of
 * synchronizing between nodes: with gamma 2 sqrt(0.04 + 0.1024) = 0.37736 s;
 * two batches accumulated before it 0.4 s more. */
static void a_step_is_as_worked_by_hand(void **state)
{
    struct goodput_speed speed = { .gpu = "t4", .alpha_c = 0.1,
        .beta_c = 0.001, .alpha_r = 0.05, .alpha_n = 0.3, .beta_n = 0.01,
        .gamma = 2, .local_max = 400 };
    struct goodput_shape four = { 4, 2 }, one = { 1, 1 };

    (void)state;
    assert_true(law_error(goodput_step_s(&speed, four, 100, 0), 0.37736) < 1e-4);
    assert_true(law_error(goodput_step_s(&speed, four, 100, 2), 0.77736) < 1e-4);
    assert_true(law_error(goodput_step_s(&speed, one, 100, 0), 0.2) < 1e-9);
    speed.gamma = 1;            /* no overlap: their sum */
    assert_true(law_error(goodput_step_s(&speed, four, 100, 0), 0.52) < 1e-9);
}

/* phi 300 at 100 samples and 1200 at 400: 600 at 200, halfway in the
 * logarithms.  (600 + 100) / (600 + 200) = 0.875. */
static void efficiency_is_as_worked_by_hand(void **state)
{
    struct application app = { .batch_first = 100, .batch_max = 400,
        .noise = { .spans = 2, .batches = 2, .until = { 0.5, 1 },
                   .batch = { 100, 400 }, .scale = { 300, 1200, 1, 1 } } };

    (void)state;
    assert_true(law_error(goodput_efficiency(&app, 0, 200), 0.875) < 1e-9);
    assert_true(law_error(goodput_efficiency(&app, 0, 100), 1) < 1e-12);
    assert_true(law_error(goodput_efficiency(&app, 1, 400), 101.0 / 401) < 1e-9);
    assert_int_equal(goodput_span(&app, 0.2), 0);
    assert_int_equal(goodput_span(&app, 0.5), 1);
    assert_int_equal(goodput_span(&app, 1), 1);
}

/* 4096 samples on 2 GPUs that hold 1024: two parts of 1024.  More than the
 * first batch on one GPU is accumulated once at least. */
static void batches_are_split_as_memory_tasks(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct application *app = app_of(&aids, "cifar10");
    const struct goodput_speed *t4 = goodput_speed_of(app, "t4");
    struct goodput_shape two = { 2, 1 }, one = { 1, 1 }, many = { 256, 64 };
    struct goodput_batch at = goodput_of(app, t4, two, 5, 4096);

    (void)state;
    assert_int_equal(at.local, 1024);
    assert_int_equal(at.accumulated, 1);
    assert_true(at.samples == 4096);
    at = goodput_of(app, t4, one, 5, 256);
    assert_int_equal(at.local, 128);
    assert_int_equal(at.accumulated, 1);
    assert_int_equal(goodput_of(app, t4, one, 5, 128).accumulated, 0);
    assert_true(goodput_of(app, t4, two, 5, 64).goodput == 0);  /* too small */
    assert_true(goodput_best(app, t4, many, 5).goodput == 0);   /* 256 x 32 */
    assert_null(goodput_speed_of(app, "h100"));
    law_aids_free(&aids);
}

/* Noise grows as a job goes on: so does the batch of the most goodput, which
 * is never outside of its limits, nor beaten by the first one. */
static void the_best_batch_grows_with_progress(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct application *app = app_of(&aids, "cifar10");
    const struct goodput_speed *t4 = goodput_speed_of(app, "t4");
    struct goodput_shape shape = { 8, 2 };
    double first = goodput_best(app, t4, shape, 0).samples;
    double last = goodput_best(app, t4, shape, app->noise.spans - 1).samples;

    (void)state;
    assert_true(last > 4 * first);
    for (size_t i = 0; i < catalogue_application_count(aids.catalogue); i++)
        for (uint32_t g = 1; g <= 64; g++) {
            const struct application *any =
                catalogue_application_at(aids.catalogue, i);
            const struct goodput_speed *speed = goodput_speed_of(any, "t4");
            struct goodput_shape at = { g, (g + 3) / 4 };
            struct goodput_batch best = goodput_best(any, speed, at, 0);
            if (best.goodput == 0)
                continue;
            assert_true(best.samples >= any->batch_first &&
                        best.samples <= any->batch_max);
            assert_true(best.local >= any->local_min &&
                        best.local <= speed->local_max);
            assert_true(best.goodput >= 0.999 *
                        goodput_of(any, speed, at, 0, any->batch_first).goodput);
        }
    law_aids_free(&aids);
}

struct errors {
    double sum[2];
    size_t count[2];            /* fitted, held out */
};

static void add_row(const struct law_aids *aids, struct csv *csv,
                    struct errors *errors)
{
    static const char *const column[] = { "model", "gpu", "gpus", "nodes",
                                          "local_batch", "step_s", "use" };
    const char *text[7];

    for (int c = 0; c < 7; c++)
        text[c] = csv_field(csv, csv_find(csv, column[c]))->text;
    const struct goodput_speed *speed =
        goodput_speed_of(app_of(aids, text[0]), text[1]);
    struct goodput_shape shape = { (uint32_t)atoi(text[2]),
                                   (uint32_t)atoi(text[3]) };
    bool held = strcmp(text[6], "held") == 0;

    assert_non_null(speed);
    errors->sum[held] += law_error(
        goodput_step_s(speed, shape, atof(text[4]), 0), atof(text[5]));
    errors->count[held]++;
}

/* The measurements themselves scatter by a tenth between like placements. */
static void steps_are_near_those_that_were_held_out(void **state)
{
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);
    struct errors errors = { { 0 }, { 0 } };
    struct err err = { 0 };
    struct csv *csv = csv_open(arena, "models/validation/goodput_steps.csv",
                               CSV_COMMA, &err);

    (void)state;
    assert_non_null(csv);
    while (csv_next(csv, &err) == CSV_ROW)
        add_row(&aids, csv, &errors);
    csv_close(csv);
    double fit = errors.sum[0] / (double)errors.count[0];
    double held = errors.sum[1] / (double)errors.count[1];
    if (errors.count[1] < 300 || !(fit < 0.09) || !(held < 0.105))
        fail_msg("mean errors: %.3f of %zu fitted, %.3f of %zu held out", fit,
                 errors.count[0], held, errors.count[1]);
    arena_free(arena);
    law_aids_free(&aids);
}

/* grad_var / grad_sqr x first batch of runs at batches between those whose noise
 * the catalogue has: validation-3200 of imagenet, -64 of yolov3, -96 of bert, at
 * epochs 8, 20, 45, 83; 4, 15, 34, 48; 1, 2. */
static void efficiency_is_near_batches_that_were_held_out(void **state)
{
    static const struct {
        const char *app;
        double batch, epochs, epoch, sqr, var;
    } row[] = {
        { "imagenet", 3200, 90, 8, 0.1471, 5.855 },
        { "imagenet", 3200, 90, 20, 0.128, 6.243 },
        { "imagenet", 3200, 90, 45, 0.1245, 21.66 },
        { "imagenet", 3200, 90, 83, 0.06072, 40.05 },
        { "yolov3", 64, 50, 4, 981.3, 27599 },
        { "yolov3", 64, 50, 15, 355.9, 18073 },
        { "yolov3", 64, 50, 34, 147.7, 17674 },
        { "yolov3", 64, 50, 48, 16.48, 15730 },
        { "bert", 96, 2, 1, 3.307e13, 6.08e15 },
        { "bert", 96, 2, 2, 6.129e10, 3.425e13 },
    };
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct application *app = app_of(&aids, row[i].app);
        double phi = row[i].var / row[i].sqr * app->batch_first;
        double measured = (phi + app->batch_first) / (phi + row[i].batch);
        uint32_t span = goodput_span(app, (row[i].epoch - 0.5) / row[i].epochs);
        if (law_error(goodput_efficiency(app, span, row[i].batch), measured) >
            0.05)
            fail_msg("%s at epoch %g: %g, measured %g", row[i].app,
                     row[i].epoch, goodput_efficiency(app, span, row[i].batch),
                     measured);
    }
    law_aids_free(&aids);
}

#define TWO_POOLS \
    "nodes:\n- {name: slow, count: 4, gpus: {type: t4, count: 4}, cpu: {type: " \
    "epyc-7742, sockets: 1}, memory: 100GB}\n- {name: fast, count: 1, gpus: " \
    "{type: a100-40, count: 8}, cpu: {type: epyc-7742, sockets: 1}, memory: " \
    "100GB}\n- {name: odd, count: 1, gpus: {type: h100, count: 8}, cpu: " \
    "{type: epyc-7742, sockets: 1}, memory: 100GB}\n"

static const struct cluster_spec *cluster_of(const struct law_aids *aids, struct arena *arena,
                                             const char *text)
{
    struct err err = { 0 };
    const struct conf_node *conf = conf_parse(arena, "test", text, strlen(text), &err);
    const struct cluster_spec *cluster =
        conf ? cluster_read(arena, conf, aids->catalogue, &err) : NULL;

    if (cluster == NULL)
        fail_msg("%s", err.text);
    return cluster;
}

static const struct cluster_spec *two_pools(const struct law_aids *aids,
                                            struct arena *arena)
{
    return cluster_of(aids, arena, TWO_POOLS);
}

/* Groups of one pool count as nodes of the smallest size and GPUs of the slowest type, in any
 * order; with one type of which no times are known, none are.  Without GPUs a group says
 * nothing. */
static void a_pool_of_several_types_has_the_slowest(void **state)
{
    static const struct {
        const char *type[3];
        uint32_t gpus[3], node;
        const char *speed;
    } row[] = {
        { { "t4", "a100-40" }, { 4, 8 }, 4, "t4" }, { { "a100-40", "t4" }, { 8, 4 }, 4, "t4" },
        { { "a100-40", "t4" }, { 2, 4 }, 2, "t4" }, { { "a100-40", "a100-40" }, { 8, 2 }, 2,
                                                      "a100-40" },
        { { "t4", "h100" }, { 4, 8 }, 4, NULL }, { { "h100", "t4" }, { 8, 4 }, 4, NULL },
        { { "t4", "h100", "a100-40" }, { 4, 8, 2 }, 2, NULL },
        { { "a100-40", "t4", "a100-40" }, { 8, 4, 8 }, 4, "t4" },
    };
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);
    const struct application *app = app_of(&aids, "cifar10");

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[600] = "nodes:\n- {name: c, pool: p, count: 1, cores: 8, memory: 1GB}\n";
        for (int g = 0; g < 3 && row[i].type[g] != NULL; g++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "- {name: n%d, pool: p, "
                     "count: 1, gpus: {type: %s, count: %u}, cpu: {type: epyc-7742, sockets: 1}, "
                     "memory: 1GB}\n", g, row[i].type[g], row[i].gpus[g]);
        struct goodput_pools pools = goodput_pools_of(arena, app, cluster_of(&aids, arena, text));
        assert_int_equal(pools.pool_count, 1);
        assert_int_equal(pools.node_gpus[0], row[i].node);
        assert_ptr_equal(pools.speed[0],
                         row[i].speed ? goodput_speed_of(app, row[i].speed) : NULL);
    }
    arena_free(arena);
    law_aids_free(&aids);
}

/* As asked the pace is 1 in every span; elsewhere it is the ratio of goodputs;
 * where the application is not known it is 0. */
static void known_lengths_are_those_of_what_was_asked_for(void **state)
{
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);
    const struct application *app = app_of(&aids, "cifar10");
    struct goodput_pools pools = goodput_pools_of(arena, app,
                                                  two_pools(&aids, arena));
    struct goodput_job job;
    double s = 0;

    (void)state;
    assert_true(goodput_job_make(app, &pools, 8, 1024, &job));
    assert_false(goodput_job_make(app, &pools, 64, 1024, &(struct goodput_job)
                                  { 0 }));      /* 16 samples a GPU */
    for (uint32_t k = 0; k < app->noise.spans; k++) {
        struct goodput_shape packed = goodput_packed(&job, 0, 8);
        double part = app->noise.until[k] - (k ? app->noise.until[k - 1] : 0);
        assert_int_equal(packed.nodes, 2);
        assert_true(law_error(goodput_speedup(&job, 0, packed, k, false), 1) < 1e-6);
        assert_true(goodput_speedup(&job, 0, packed, k, true) > 0.99);
        assert_true(goodput_speedup(&job, 1, goodput_packed(&job, 1, 8), k, false) >
                    2);
        assert_true(goodput_speedup(&job, 2, goodput_packed(&job, 2, 8), k, true) ==
                    0);
        s += app->work * part /
             goodput_of(app, job.speed[0], packed, k, 1024).goodput;
    }
    assert_true(law_error(1e-9 * (double)goodput_job_ns(&job), s) < 1e-6);
    assert_int_equal(goodput_gpus_max(&job, false), 32);
    assert_int_equal(goodput_gpus_max(&job, true), 128);
    arena_free(arena);
    law_aids_free(&aids);
}

/* A span whose known time is less than a nanosecond has no pace; those beside it keep theirs. */
static void a_span_that_takes_no_time_has_no_pace(void **state)
{
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);
    const struct application *app = app_of(&aids, "cifar10");
    struct goodput_pools pools = goodput_pools_of(arena, app, two_pools(&aids, arena));
    struct goodput_job job;

    (void)state;
    assert_true(goodput_job_make(app, &pools, 8, 1024, &job) && app->noise.spans > 2);
    struct goodput_shape packed = goodput_packed(&job, 0, 8);
    for (uint32_t k = 0; k + 1 < app->noise.spans; k++) {
        struct goodput_job none = job;
        none.end_ns[k] = k > 0 ? job.end_ns[k - 1] : 0;
        assert_true(goodput_speedup(&none, 0, packed, k, false) == 0);
        assert_true(goodput_speedup(&none, 0, packed, k, true) == 0);
        /* The time goes to the next span, whose pace it multiplies. */
        double more = (double)(none.end_ns[k + 1] - none.end_ns[k]) /
                      (double)(job.end_ns[k + 1] - job.end_ns[k]);
        assert_true(law_error(goodput_speedup(&none, 0, packed, k + 1, false), more) < 1e-6);
    }
    arena_free(arena);
    law_aids_free(&aids);
}

/* An application that is not split further has a pace up to its most GPUs and none beyond;
 * gpus_max 0: there is no limit but batches. */
static void beyond_its_most_gpus_an_application_has_no_pace(void **state)
{
    static const uint32_t most[] = { 1, 2, 5, 0 };
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        struct application app = *app_of(&aids, "cifar10");
        app.gpus_max = most[i];
        struct goodput_pools pools = goodput_pools_of(arena, &app, two_pools(&aids, arena));
        struct goodput_job job;
        assert_true(goodput_job_make(&app, &pools, 1, 128, &job));
        for (uint32_t g = 1; g <= 8; g++)
            for (uint32_t k = 0; k < 2 * app.noise.spans; k++) {
                double pace = goodput_speedup(&job, k % 2, goodput_packed(&job, k % 2, g), k / 2,
                                              true);
                if ((pace > 0) != (most[i] == 0 || g <= most[i]))
                    fail_msg("at most %u: %g on %u", most[i], pace, g);
            }
        assert_true(most[i] == 0 || goodput_gpus_max(&job, true) == most[i]);
    }
    arena_free(arena);
    law_aids_free(&aids);
}

/* No size or batch beats what goodput_least_with() says. */
static void nothing_beats_the_least(void **state)
{
    struct law_aids aids = law_aids_new();
    struct arena *arena = arena_new(0);
    const struct application *app = app_of(&aids, "bert");
    struct goodput_pools pools = goodput_pools_of(arena, app,
                                                  two_pools(&aids, arena));
    struct goodput_job job;
    struct goodput_least least;
    double gpu_s, s;

    (void)state;
    for (int k = 0; k < (int)GOODPUT_SPANS_MAX; k++)
        least.sample_s[k] = least.sample_gpu_s[k] = INFINITY;
    assert_true(goodput_job_make(app, &pools, 4, 48, &job));
    goodput_least_with(&job, 24, true, &least);
    goodput_least_with(&job, 24, false, &least);
    s = goodput_least_s(&job, &least, &gpu_s);
    assert_true(s > 0 && gpu_s >= s && gpu_s < 24 * s);
    for (uint32_t g = 1; g <= 24; g++)
        for (uint32_t p = 0; p < 2; p++) {
            double all = 0;
            for (uint32_t k = 0; k < app->noise.spans; k++) {
                int64_t from = k ? job.end_ns[k - 1] : 0;
                all += 1e-9 * (double)(job.end_ns[k] - from) /
                       goodput_speedup(&job, p, goodput_packed(&job, p, g), k, true);
            }
            assert_true(all > 0.999999 * s && g * all > 0.999999 * gpu_s);
        }
    arena_free(arena);
    law_aids_free(&aids);
}

/* Noise of 1 at 100 samples: the efficiency of M is 101 / (1 + M), so that more than one must
 * have brings less.  8 GPUs of at least 32 samples each make 256, though 100 are enough for the
 * application; of 2 GPUs 100 are.  Where at most 255 or 99 are allowed there is none. */
static void the_least_batch_is_that_of_job_and_gpus(void **state)
{
    struct goodput_speed speed = { .gpu = "t4", .alpha_c = 0.1, .beta_c = 0.001, .gamma = 1,
                                   .local_max = 1000 };
    struct application app = { .batch_first = 100, .batch_max = 4000, .local_min = 32,
        .noise = { .spans = 1, .batches = 2, .until = { 1 }, .batch = { 100, 4000 },
                   .scale = { 1, 1 } } };
    struct goodput_shape eight = { 8, 1 }, two = { 2, 1 };

    (void)state;
    assert_true(goodput_best(&app, &speed, eight, 0).samples == 256);
    assert_true(goodput_best(&app, &speed, two, 0).samples == 100);
    app.batch_max = 256;
    assert_true(goodput_best(&app, &speed, eight, 0).samples == 256);
    app.batch_max = 255;
    assert_true(goodput_best(&app, &speed, eight, 0).goodput == 0);
    app.batch_max = 100;
    assert_true(goodput_best(&app, &speed, two, 0).samples == 100);
}

/* 1 to 32 types of GPUs. */
static void speeds_are_of_one_to_32_types(void **state)
{
    static const char one[] = ": {alpha_c_s: 0.1, beta_c_s: 0.01, local_max: 4}\n";
    struct arena *arena = arena_new(1 << 16);

    (void)state;
    for (int types = 0; types <= 33; types++) {
        struct application app = { .batch_first = 1 };
        struct err err = { 0 };
        char text[4000] = "{}";
        size_t at = 0;

        for (int i = 0; i < types; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "t%d%s", i, one);
        const struct conf_node *map = conf_parse(arena, "a.yaml", text, strlen(text), &err);
        assert_non_null(map);
        bool ok = application_read_speeds(arena, map, &app, &err);
        if (ok != (types >= 1 && types <= 32))
            fail_msg("%d types: %s", types, err.text);
        if (!ok)
            assert_non_null(strstr(err.text, "a map of 1 to 32 GPU types"));
        else
            assert_int_equal(app.speed_count, types);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_as_worked_by_hand),
        cmocka_unit_test(efficiency_is_as_worked_by_hand),
        cmocka_unit_test(batches_are_split_as_memory_tasks),
        cmocka_unit_test(a_pool_of_several_types_has_the_slowest),
        cmocka_unit_test(the_least_batch_is_that_of_job_and_gpus),
        cmocka_unit_test(speeds_are_of_one_to_32_types),
        cmocka_unit_test(the_best_batch_grows_with_progress),
        cmocka_unit_test(steps_are_near_those_that_were_held_out),
        cmocka_unit_test(efficiency_is_near_batches_that_were_held_out),
        cmocka_unit_test(known_lengths_are_those_of_what_was_asked_for),
        cmocka_unit_test(a_span_that_takes_no_time_has_no_pace),
        cmocka_unit_test(beyond_its_most_gpus_an_application_has_no_pace),
        cmocka_unit_test(nothing_beats_the_least),
    };
    return cmocka_run_group_tests_name("law_goodput", tests, NULL, NULL);
}
