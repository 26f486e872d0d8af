/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment_test.c - experiment files: points, labels, trials, and what is
 * refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "tests/aid/scratch.h"

struct world {
    struct scratch scratch;
    struct err err;
};

static int setup(void **state)
{
    return scratch_state(state, sizeof(struct world));
}

static const struct experiment *read_with(struct world *w, const char *text,
                                          const struct experiment_options *options)
{
    memset(&w->err, 0, sizeof w->err);
    scratch_experiment(&w->scratch, text);
    return experiment_read(w->scratch.arena, scratch_path(&w->scratch, "e.yaml"), options,
                           &w->err);
}

static const struct experiment *read_experiment(struct world *w, const char *text)
{
    const struct experiment_options none = { 0 };

    return read_with(w, text, &none);
}

static const struct experiment *read_set(struct world *w, const char *text,
                                         const char *set)
{
    const struct experiment_options options = { .set = &set, .set_count = 1 };

    return read_with(w, text, &options);
}

static void defaults_are_one_seed_drained_and_all_tables(void **state)
{
    const struct experiment *s = read_experiment(*state,
                                                 "experiment: x\npolicies: [fcfs]\n");

    assert_non_null(s);
    assert_int_equal(s->seeds, 1);
    assert_int_equal(s->seed, 1);
    assert_true(s->until_ns == CLOCK_NEVER_NS && s->warmup_ns == 0);
    assert_int_equal(s->tables, EXPERIMENT_COMPARE | EXPERIMENT_JOBS | EXPERIMENT_PHASES |
                     EXPERIMENT_TIMELINE);
    assert_string_equal(s->dir, "out/x");
    assert_string_equal(s->point[0].label, "base");
    assert_int_equal(s->baseline, 0);
    assert_int_equal(s->plot_count, 8);
}

static void detail_is_of_the_first_seed_unless_more_is_asked_for(void **state)
{
    static const struct { const char *set; uint32_t seeds; } wanted[] = {
        { "description=x", 1 }, { "output.detail_seeds=2", 2 },
        { "output.detail_seeds=9", 3 }, { "output.detail_seeds=all", 3 },
    };
    static const char *const wrong[] = {
        "output.detail_seeds=0", "output.detail_seeds=-1",
        "output.detail_seeds=most", "output.detail_seeds=1.5"
    };
    const char *text = "experiment: x\nseeds: 3\npolicies: [fcfs]\n"
                       "output: {plots: []}\n";
    struct world *w = *state;

    for (size_t i = 0; i < 4; i++) {
        const struct experiment *s = read_set(w, text, wanted[i].set);

        assert_non_null(s);
        assert_int_equal(s->detail_seeds, wanted[i].seeds);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_null(read_set(w, text, wrong[i]));
        assert_non_null(strstr(w->err.text, "how many seeds, from 1 on, or "
                                            "all"));
    }
}

static void output_dir_is_beside_the_file_that_names_it(void **state)
{
    struct world *w = *state;
    const struct experiment *s = read_experiment(
        w, "experiment: x\npolicies: [fcfs]\noutput: {dir: r}\n");

    assert_non_null(s);
    assert_string_equal(s->dir, scratch_path(&w->scratch, "r"));
}

static void sweep_is_a_product_with_the_last_key_fastest(void **state)
{
    const struct experiment *s = read_experiment(
        *state, "experiment: x\npolicies: [fcfs, sjf]\nseeds: 3\nsweep:\n"
        "  cluster.nodes.gpu.count: [4, 5]\n"
        "  policies.fcfs.blocking: [strict, skip]\n");

    assert_non_null(s);
    assert_int_equal(s->point_count, 4);
    assert_string_equal(s->point[0].label,
                        "nodes.gpu.count=4 fcfs.blocking=strict");
    assert_string_equal(s->point[1].label,
                        "nodes.gpu.count=4 fcfs.blocking=skip");
    assert_string_equal(s->point[2].label,
                        "nodes.gpu.count=5 fcfs.blocking=strict");
    assert_int_equal(experiment_trial_count(s), 24);
    assert_ptr_equal(s->point[0].cluster, s->point[1].cluster);
    assert_ptr_not_equal(s->point[1].cluster, s->point[2].cluster);
    assert_ptr_equal(s->point[0].policy[1], s->point[3].policy[1]);
    assert_int_equal(s->point[1].policy[0]->rules.blocking, HOST_SKIP);
}

static void a_trace_says_what_policies_that_say_nothing_are_told(void **state)
{
    const struct experiment *s = read_experiment(
        *state, "experiment: x\npolicies: [sjf, {policy: easy, estimate: "
        "exact}]\nsweep:\n  workload.trace.estimate: [noisy, exact]\n");

    assert_non_null(s);
    assert_int_equal(s->point[0].policy[0]->rules.estimate, HOST_NOISY);
    assert_int_equal(s->point[0].policy[1]->rules.estimate, HOST_EXACT);
    assert_int_equal(s->point[1].policy[0]->rules.estimate, HOST_EXACT);
    assert_non_null(strstr(s->point[0].policy[0]->semantics,
                           "estimate=noisy"));
}

static void trials_count_seeds_fastest_then_policies(void **state)
{
    const struct experiment *s = read_experiment(
        *state, "experiment: x\npolicies: [fcfs, sjf]\nseeds: 3\nsweep:\n"
        "  cluster.nodes.gpu.count: [4, 5]\n");
    struct experiment_trial t;

    assert_non_null(s);
    t = experiment_trial(s, 10);
    assert_int_equal(t.point, 1);
    assert_int_equal(t.policy, 1);
    assert_int_equal(t.seed, 1);
    assert_int_equal(experiment_trial_spec(s, 10).replica, 1);
    assert_string_equal(experiment_trial_spec(s, 10).policy->name, "sjf");
}

static void trial_hash_changes_with_what_goes_in_and_nothing_else(void **state)
{
    struct world *w = *state;
    static const char text[] = "experiment: x\npolicies: [fcfs, sjf]\n";
    const struct experiment *a = read_experiment(w, text);
    const struct experiment *b = read_set(w, text, "policies.sjf.placement=count");
    const struct experiment *c = read_set(w, text, "seed=2");
    const struct experiment *d = read_set(w, text, "output.plots=[]");

    assert_true(a != NULL && b != NULL && c != NULL && d != NULL);
    assert_true(experiment_trial_hash(a, 0) == experiment_trial_hash(b, 0));
    assert_true(experiment_trial_hash(a, 1) != experiment_trial_hash(b, 1));
    assert_true(experiment_trial_hash(a, 0) != experiment_trial_hash(a, 1));
    assert_true(experiment_trial_hash(a, 0) != experiment_trial_hash(c, 0));
    assert_true(experiment_trial_hash(a, 0) == experiment_trial_hash(d, 0));
}

static void changed_trace_file_changes_the_hash(void **state)
{
    struct world *w = *state;
    const struct experiment_options none = { 0 };
    const struct experiment *a = read_experiment(w, "experiment: x\npolicies: [fcfs]\n"),
        *b;

    scratch_write(&w->scratch, "jobs.csv",
                  "job,submit,duration,gpus\n0,0,10,1\n");
    b = experiment_read(w->scratch.arena, scratch_path(&w->scratch, "e.yaml"), &none,
                        &w->err);
    assert_true(a != NULL && b != NULL);
    assert_int_equal(a->input_count, 3);
    assert_true(experiment_trial_hash(a, 0) != experiment_trial_hash(b, 0));
}

static void only_keeps_the_named_policies(void **state)
{
    const struct experiment_options options = { .only = "sjf" };
    const struct experiment *s = read_with(
        *state, "experiment: x\npolicies: [fcfs, sjf]\n", &options);

    assert_non_null(s);
    assert_int_equal(s->policy_count, 1);
    assert_string_equal(s->policy_name[0], "sjf");
    assert_int_equal(s->baseline, UINT32_MAX);
}

static void expectations_read_percent_time_and_number(void **state)
{
    const struct experiment *s = read_experiment(
        *state, "experiment: x\npolicies: [fcfs, sjf]\nexpect:\n"
        "  - {metric: cost_usd, policy: sjf, vs: fcfs, between: [-10%, 5]}\n");

    assert_null(s);     /* a percentage and a number */
    s = read_experiment(
        *state, "experiment: x\npolicies: [fcfs, sjf]\nexpect:\n"
        "  - {metric: cost_usd, policy: sjf, vs: fcfs, at_most: -10%}\n"
        "  - {metric: jct_mean_s, policy: sjf, at_least: 2h}\n"
        "  - {metric: gpu_utilization, policy: sjf, between: [30%, 0.9]}\n");
    if (s == NULL)
        fail_msg("%s", ((struct world *)*state)->err.text);
    assert_true(s->expect[0].percent && s->expect[0].high == -10);
    assert_true(!s->expect[1].percent && s->expect[1].low == 7200);
    assert_true(isinf(s->expect[1].high));
    assert_true(!s->expect[2].percent && fabs(s->expect[2].low - 0.3) < 1e-12);
}

static void wrong_files_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text, *part, *hint;
    } wrong[] = {
        { "experiment: x\n", "policies", "" },
        { "experiment: x/y\npolicies: [fcfs]\n", "slash", "" },
        { "experiment: x\npolicies: []\n", "at least one policy", "" },
        { "experiment: x\npolicies: [fcfs, fcfs]\n", "two policies", "name" },
        { "experiment: x\npolicies: [fcsf]\n", "fcsf", "fcfs" },
        { "experiment: x\npolicies: [fcfs]\nbaseline: sjf\n", "baseline",
          "fcfs" },
        { "experiment: x\npolicies: [fcfs]\nuntil: soon\n", "until",
          "drained" },
        { "experiment: x\npolicies: [fcfs]\nuntil: 1h\nwarmup: 2h\n",
          "warmup", "" },
        { "experiment: x\npolicies: [fcfs]\nsweep: {seed: [1, 2]}\n",
          "swept key", "" },
        { "experiment: x\npolicies: [fcfs]\nsweep: {workload.x: 1}\n",
          "must be swept over", "" },
        { "experiment: x\npolicies: [fcfs]\nsweep:\n"
          "  cluster.nodes.gpu.count: [4, 4]\n", "two points", "" },
        { "experiment: x\npolicies: [fcfs]\noutput: {tables: [job]}\n",
          "tables", "" },
        { "experiment: x\npolicies: [fcfs]\ncatalogue: {a: b}\n",
          "catalogue", "" },
        { "experiment: x\npolicies: [fcfs]\nexpect:\n"
          "  - {metric: jct_maen_s, policy: fcfs, at_most: 1}\n",
          "jct_maen_s", "jct_mean_s" },
        { "experiment: x\npolicies: [fcfs]\nexpect:\n"
          "  - {metric: jct_mean_s, policy: fcsf, at_most: 1}\n",
          "fcsf", "fcfs" },
        { "experiment: x\npolicies: [fcfs]\nexpect:\n"
          "  - {metric: jct_mean_s, policy: fcfs}\n", "one of at_most", "" },
        { "experiment: x\npolicies: [fcfs]\nexpect:\n"
          "  - {metric: jct_mean_s, policy: fcfs, between: [2, 1]}\n",
          "above", "" },
        { "experiment: x\npolicies: [fcfs]\nexpect:\n  - {metric: "
          "jct_mean_s, policy: fcfs, at_most: 1, point: y}\n", "no point",
          "base" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (read_experiment(w, wrong[i].text) != NULL)
            fail_msg("accepted: %s", wrong[i].text);
        if (strstr(w->err.text, wrong[i].part) == NULL ||
            strstr(w->err.hint, wrong[i].hint) == NULL)
            fail_msg("%s -> %s (%s)", wrong[i].text, w->err.text,
                     w->err.hint);
        assert_non_null(w->err.pos.file);
        assert_true(w->err.pos.line > 0);
    }
}

static void missing_cluster_file_is_located_where_it_is_named(void **state)
{
    struct world *w = *state;
    const struct experiment_options none = { 0 };

    scratch_write(&w->scratch, "e.yaml", "experiment: x\npolicies: [fcfs]\n"
                  "seeds: 1\ncluster: no.yaml\nworkload: {}\n");
    assert_null(experiment_read(w->scratch.arena, scratch_path(&w->scratch, "e.yaml"),
                                &none, &w->err));
    assert_int_equal(w->err.kind, ERR_IO);
    assert_int_equal(w->err.pos.line, 4);
    assert_non_null(strstr(w->err.text, "no.yaml', which is not there"));
    /* The empty workload is told beside it. */
    assert_non_null(w->err.next);
    assert_int_equal(w->err.next->pos.line, 5);
    assert_null(w->err.next->next);
}

static void error_in_the_cluster_file_is_located_there(void **state)
{
    struct world *w = *state;

    assert_null(read_set(w, "experiment: x\npolicies: [fcfs]\n",
                         "workload.trace.file=none.csv"));
    scratch_write(&w->scratch, "bad.yaml", "nodes:\n  - {name: gpu, cuont: 4}"
                  "\n");
    assert_null(read_set(w, "experiment: x\npolicies: [fcfs]\nsweep:\n"
                         "  cluster: [bad.yaml]\n", "seed=1"));
    assert_non_null(strstr(w->err.pos.file, "bad.yaml"));
    assert_int_equal(w->err.pos.line, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_one_seed_drained_and_all_tables),
        TEST(detail_is_of_the_first_seed_unless_more_is_asked_for),
        TEST(output_dir_is_beside_the_file_that_names_it),
        TEST(sweep_is_a_product_with_the_last_key_fastest),
        TEST(a_trace_says_what_policies_that_say_nothing_are_told),
        TEST(trials_count_seeds_fastest_then_policies),
        TEST(trial_hash_changes_with_what_goes_in_and_nothing_else),
        TEST(changed_trace_file_changes_the_hash),
        TEST(only_keeps_the_named_policies),
        TEST(expectations_read_percent_time_and_number),
        TEST(wrong_files_are_refused_with_the_reason),
        TEST(missing_cluster_file_is_located_where_it_is_named),
        TEST(error_in_the_cluster_file_is_located_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
