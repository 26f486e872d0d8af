/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe_test.c - trials at changed keys: the same as those of a run, each run
 * once, failures told.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "tests/aid/scratch.h"

static const char drawn[] =
    "experiment: drawn\n"
    "seeds: 3\n"
    "cluster: {nodes: [{name: gpu, count: 2, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 20/h}\n"
    "  jobs: 30\n"
    "  mix: [{recipe: trace, gpus: 4, duration: {lognormal: {mean: 900s, cv: 2}}}]\n"
    "policies: [fcfs, {policy: easy, name: backfill}, sjf]\n"
    "controls: [random]\n"
    "sweep: {workload.arrival.rate: [20/h, 40/h]}\n"
    "expect:\n"
    "  - {metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: 0%,\n"
    "     point: arrival.rate=40/h}\n";

struct world {
    struct arena *arena;
    struct scratch scratch;
    struct probe *probe;
    struct err err;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->arena = arena_new(1 << 16);
    scratch_open(&w->scratch);
    scratch_write(&w->scratch, "drawn.yaml", drawn);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    scratch_close(&w->scratch);
    arena_free(w->arena);
    free(w);
    return 0;
}

static void open_probe(struct world *w, const char *file, uint32_t threads)
{
    const struct probe_options options = { .threads = threads };

    w->probe = probe_open(w->arena, scratch_path(&w->scratch, file), &options, &w->err);
    if (w->probe == NULL)
        print_message("%s\n", w->err.text);
    assert_non_null(w->probe);
}

/* The folder that `clustersim run FILE --set SET` writes. */
static const struct grid *run_program(struct world *w, const char *file,
                                      const char *const *set)
{
    char path[256], dir[256];
    char *argv[12] = { "clustersim", "run", path, "-q", "-o", dir };
    FILE *null = fopen("/dev/null", "w");
    int argc = 6;

    snprintf(path, sizeof path, "%s", scratch_path(&w->scratch, file));
    snprintf(dir, sizeof dir, "%s", scratch_path(&w->scratch, "out"));
    for (; *set != NULL; set++) {
        argv[argc++] = "--set";
        argv[argc++] = (char *)(uintptr_t)*set;
    }
    assert_int_equal(cli_main(argc, argv, null, null), 0);
    fclose(null);
    const struct grid *grid = grid_from_folder(w->arena, dir, &w->err);
    assert_non_null(grid);
    return grid;
}

/* To the nine digits of the table.  Returns how many values it compared. */
static unsigned compare_seed(const struct grid *grid, uint32_t point,
                             uint32_t policy, uint32_t seed,
                             const struct probe_trial *trial)
{
    unsigned values = 0;

    assert_non_null(trial->value);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        double a = grid_value(grid, point, policy, seed, (enum metric)m);
        double b = trial->value[m];
        char text[2][40];

        snprintf(text[0], sizeof text[0], "%.9g", a);
        snprintf(text[1], sizeof text[1], "%.9g", b);
        if (!isfinite(a) && !isfinite(b))
            continue;
        if (fabs(a - b) > 1e-8 * fabs(a))
            assert_string_equal(text[0], text[1]);
        values++;
    }
    return values;
}

static void answer_is_what_a_run_with_set_writes(void **state)
{
    struct world *w = *state;
    static const char *const set[] = { "cluster.nodes.gpu.count=3",
                                       "policies.backfill.placement=count", NULL };
    static const struct experiment_setting setting[] = {
        { "cluster.nodes.gpu.count", "3" },
        { "policies.backfill.placement", "count" }
    };
    static const char *const policy[] = { "backfill", "sjf", "random" };
    const struct grid *grid = run_program(w, "drawn.yaml", set);
    struct probe_ask ask[6];
    struct probe_answer answer[6];
    unsigned values = 0;

    open_probe(w, "drawn.yaml", 2);
    for (unsigned i = 0; i < 6; i++)
        ask[i] = (struct probe_ask){ setting, 2, i < 3 ? NULL : "arrival.rate=40/h",
                                     policy[i % 3], 0, 3 };
    assert_true(probe_run(w->probe, ask, 6, answer, &w->err));
    for (unsigned i = 0; i < 6; i++) {
        assert_null(answer[i].unread);
        assert_false(answer[i].fixed);
        assert_int_equal(answer[i].failed, 0);
        for (uint32_t s = 0; s < 3; s++)
            values += compare_seed(grid, i / 3, grid_policy(grid, policy[i % 3]), s,
                                   answer[i].trial[s]);
    }
    assert_true(values > 18 * 20);
    assert_int_equal(probe_counts(w->probe).run, 18);
    assert_int_equal(probe_counts(w->probe).read, 2);
}

static void setting_of_a_swept_key_is_another_value_of_it(void **state)
{
    struct world *w = *state;
    static const char *const none[] = { NULL };
    static const struct experiment_setting rate = { "workload.arrival.rate", "40/h" };
    const struct probe_ask ask = { &rate, 1, "arrival.rate=20/h", "sjf", 1, 2 };
    const struct grid *grid = run_program(w, "drawn.yaml", none);
    struct probe_answer answer;

    open_probe(w, "drawn.yaml", 1);
    assert_true(probe_run(w->probe, &ask, 1, &answer, &w->err));
    compare_seed(grid, 1, grid_policy(grid, "sjf"), 1, answer.trial[0]);
    compare_seed(grid, 1, grid_policy(grid, "sjf"), 2, answer.trial[1]);
    assert_true(answer.trial[0]->value[METRIC_JCT_MEAN] !=
                grid_value(grid, 0, grid_policy(grid, "sjf"), 1, METRIC_JCT_MEAN));
}

static void nothing_runs_twice(void **state)
{
    struct world *w = *state;
    const struct probe_ask first[] = { { NULL, 0, NULL, "fcfs", 0, 2 },
                                       { NULL, 0, NULL, "fcfs", 1, 3 } };
    const struct probe_ask again = { NULL, 0, NULL, "fcfs", 2, 4 };
    struct probe_answer answer[2], more;

    open_probe(w, "drawn.yaml", 2);
    assert_true(probe_run(w->probe, first, 2, answer, &w->err));
    assert_int_equal(probe_counts(w->probe).run, 4);
    assert_ptr_equal(answer[0].trial[1], answer[1].trial[0]);
    assert_true(probe_run(w->probe, &again, 1, &more, &w->err));
    assert_int_equal(probe_counts(w->probe).run, 6);
    assert_ptr_equal(answer[1].trial[2], more.trial[1]);
    assert_true(more.trial[2]->value[METRIC_JCT_MEAN] !=
                more.trial[3]->value[METRIC_JCT_MEAN]);
}

static void killed_search_goes_on_in_its_folder(void **state)
{
    struct world *w = *state;
    const struct probe_ask ask = { NULL, 0, NULL, "sjf", 0, 3 };
    const struct probe_options options = { .threads = 1 };
    char file[256], dir[256];
    struct probe_answer a, b;
    struct results results;
    uint32_t hashes;

    snprintf(file, sizeof file, "%s", scratch_path(&w->scratch, "drawn.yaml"));
    snprintf(dir, sizeof dir, "%s", scratch_path(&w->scratch, "kept"));
    assert_true(results_open(w->arena, dir, &results, &w->err));
    w->probe = probe_open(w->arena, file, &options, &w->err);
    probe_keep(w->probe, results.store);
    assert_true(probe_run(w->probe, &ask, 1, &a, &w->err));
    struct probe *next = probe_open(w->arena, file, &options, &w->err);
    probe_keep(next, results.store);
    assert_true(probe_run(next, &ask, 1, &b, &w->err));
    assert_int_equal(probe_counts(next).run, 0);
    assert_int_equal(probe_counts(next).recalled, 3);
    for (int s = 0; s < 3; s++)
        assert_memory_equal(a.trial[s]->value, b.trial[s]->value,
                            METRIC_COUNT * sizeof(double));
    uint64_t *hash = probe_hashes(next, w->arena, &hashes);
    assert_int_equal(hashes, 3);
    assert_true(results_drop(&results, hash, hashes));
    assert_false(folder_holds(results.dir, ".trials"));
    results_close(&results);
}

static void seeds_that_are_copies_are_one_trial(void **state)
{
    struct world *w = *state;
    const struct probe_ask ask = { NULL, 0, NULL, "fcfs", 2, 3 };
    struct probe_answer answer;

    scratch_experiment(&w->scratch, "experiment: x\npolicies: [fcfs]\nseeds: 5\n");
    open_probe(w, "e.yaml", 2);
    assert_true(probe_run(w->probe, &ask, 1, &answer, &w->err));
    assert_true(answer.fixed);
    assert_int_equal(probe_counts(w->probe).run, 1);
    assert_ptr_equal(answer.trial[0], answer.trial[2]);
    assert_true(answer.trial[0]->value[METRIC_JOBS_DONE] == 40);
}

static void what_fails_is_told_and_stops_nothing(void **state)
{
    struct world *w = *state;
    static const struct experiment_setting few = { "event_count_max", "3" },
        wrong = { "cluster.nodes.gpu.count", "0" };
    const struct probe_ask ask[] = { { &few, 1, NULL, "fcfs", 0, 2 },
                                     { &wrong, 1, NULL, "fcfs", 0, 2 },
                                     { NULL, 0, NULL, "fcfs", 0, 2 } };
    struct probe_answer answer[3];

    open_probe(w, "drawn.yaml", 2);
    assert_true(probe_run(w->probe, ask, 3, answer, &w->err));
    assert_int_equal(answer[0].failed, 2);
    assert_null(answer[0].trial[1]->value);
    assert_int_equal(answer[0].trial[1]->failure->kind, ERR_LIMIT);
    assert_non_null(answer[1].unread);
    assert_int_equal(answer[1].unread->kind, ERR_RANGE);
    assert_non_null(strstr(answer[1].unread->text, "'count' must be from 1"));
    assert_null(answer[1].trial);
    assert_int_equal(answer[2].failed, 0);
    assert_non_null(answer[2].trial[1]->value);
}

/* More different settings than are held in memory at once. */
static void many_settings_do_not_depend_on_threads(void **state)
{
    struct world *w = *state;
    enum { N = 70 };
    static struct experiment_setting setting[N];
    static char text[N][16];
    struct probe_ask ask[N];
    struct probe_answer one[N], four[N];

    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "%d", i + 2);
        setting[i] = (struct experiment_setting){ "workload.jobs", text[i] };
        ask[i] = (struct probe_ask){ &setting[i], 1, NULL, "sjf", 0, 1 };
    }
    open_probe(w, "drawn.yaml", 1);
    assert_true(probe_run(w->probe, ask, N, one, &w->err));
    open_probe(w, "drawn.yaml", 4);
    assert_true(probe_run(w->probe, ask, N, four, &w->err));
    for (int i = 0; i < N; i++) {
        assert_true(one[i].trial[0]->value[METRIC_JOBS] == i + 2);
        assert_memory_equal(one[i].trial[0]->value, four[i].trial[0]->value,
                            METRIC_COUNT * sizeof(double));
    }
}

/* Means over the jobs that are done, if none is: there is none, and it is not 0. */
static void without_a_job_that_is_done_nothing_is_its_mean(void **state)
{
    static const enum metric of_jobs[] = {
        METRIC_JCT_MEAN, METRIC_WAIT_MEAN, METRIC_WAIT_P99, METRIC_MAKESPAN,
        METRIC_SLOWDOWN, METRIC_COST_PER_JOB
    };
    double value[METRIC_COUNT] = { 0 };

    (void)state;
    value[METRIC_JOBS_DONE] = 1;
    metric_blank_unknown(value);
    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++)
        assert_true(value[of_jobs[i]] == 0);
    value[METRIC_JOBS_DONE] = 0;
    metric_blank_unknown(value);
    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++)
        assert_true(isnan(value[of_jobs[i]]));
    assert_true(value[METRIC_COST] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(answer_is_what_a_run_with_set_writes),
        T(setting_of_a_swept_key_is_another_value_of_it),
        T(nothing_runs_twice),
        T(killed_search_goes_on_in_its_folder),
        T(seeds_that_are_copies_are_one_trial),
        T(what_fails_is_told_and_stops_nothing),
        T(many_settings_do_not_depend_on_threads),
#undef T
        cmocka_unit_test(without_a_job_that_is_done_nothing_is_its_mean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
