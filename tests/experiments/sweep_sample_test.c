/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_sample_test.c - a sweep over a sample: its points, and that they are run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/scratch.h"
#include "tests/aid/search_aid.h"

#define KEYS \
    "  keys:\n" \
    "    workload.arrival.rate: {from: 10/h, to: 30/h}\n" \
    "    workload.jobs: {from: 20, to: 100}\n" \
    "    workload.mix.0.gpus: [2, 4, 8]\n"

static const struct experiment *read_experiment(struct search_world *w, const char *text,
                                                struct err *err)
{
    const struct experiment_options none = { 0 };

    search_write(w, text);
    return experiment_read(w->arena, scratch_path(&w->scratch, "e.yaml"), &none, err);
}

/* The first points of Sobol's sequence in three dimensions are (1/2, 1/2, 1/2),
 * (3/4, 1/4, 3/4), (1/4, 3/4, 1/4) and (3/8, 3/8, 5/8). */
static void sobol_points_are_those_of_the_sequence(void **state)
{
    static const char *const want[] = {
        "arrival.rate=20/h jobs=60 mix.0.gpus=4",
        "arrival.rate=25/h jobs=40 mix.0.gpus=8",
        "arrival.rate=15/h jobs=80 mix.0.gpus=2",
        "arrival.rate=17.5/h jobs=50 mix.0.gpus=4",
    };
    struct search_world *w = *state;
    struct err err = { 0 };
    const struct experiment *e = read_experiment(
        w, "sweep:\n  sample: sobol\n  points: 4\n" KEYS, &err);

    assert_non_null(e);
    assert_int_equal(e->point_count, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(e->point[i].label, want[i]);
}

static void points_of_a_sample_are_run(void **state)
{
    struct search_world *w = *state;
    const struct probe_options options = { .threads = 1 };
    const struct probe_ask ask[] = {
        { .point = "arrival.rate=25/h jobs=40 mix.0.gpus=8", .policy = "sjf",
          .seed_count = 1 },
        { .point = "arrival.rate=15/h jobs=80 mix.0.gpus=2", .policy = "sjf",
          .seed_count = 1 },
    };
    struct probe_answer answer[2];
    struct err err = { 0 };
    struct probe *probe;

    search_write(w, "sweep:\n  sample: sobol\n  points: 4\n" KEYS);
    probe = probe_open(w->arena, scratch_path(&w->scratch, "e.yaml"), &options, &err);
    assert_non_null(probe);
    assert_true(probe_run(probe, ask, 2, answer, &err));
    assert_true(answer[0].trial[0]->value[METRIC_JOBS] == 40);
    assert_true(answer[1].trial[0]->value[METRIC_JOBS] == 80);
}

static void latin_points_follow_the_seed(void **state)
{
    struct search_world *w = *state;
    struct err err = { 0 };
    const struct experiment *a, *b, *c;
    unsigned seen = 0;

    a = read_experiment(w, "sweep:\n  sample: latin\n  points: 8\n" KEYS, &err);
    b = read_experiment(w, "seed: 1\nsweep:\n  sample: latin\n  points: 8\n" KEYS, &err);
    c = read_experiment(w, "seed: 2\nsweep:\n  sample: latin\n  points: 8\n" KEYS, &err);
    assert_true(a != NULL && b != NULL && c != NULL);
    for (int i = 0; i < 8; i++) {
        double rate = atof(a->point[i].label + strlen("arrival.rate="));

        assert_string_equal(a->point[i].label, b->point[i].label);
        assert_string_not_equal(a->point[i].label, c->point[i].label);
        seen |= 1u << (int)((rate - 10) / 20 * 8);
    }
    assert_int_equal(seen, 0xff);
}

static void wrong_value_of_a_sample_is_found_in_the_file(void **state)
{
    struct search_world *w = *state;
    struct err err = { 0 };

    assert_null(read_experiment(w, "sweep:\n  sample: sobol\n  points: 3\n  keys:\n"
                                "    workload.jobs: {from: -20, to: 10}\n", &err));
    assert_int_equal(err.pos.line, 13);
    assert_int_equal(err.pos.col, 20);
    assert_non_null(strstr(err.text, "'jobs' must be from 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, search_setup, search_teardown)
        T(sobol_points_are_those_of_the_sequence),
        T(points_of_a_sample_are_run),
        T(latin_points_follow_the_seed),
        T(wrong_value_of_a_sample_is_found_in_the_file),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
