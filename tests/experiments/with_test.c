/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * with_test.c - a policy with keys of its own: it runs as in an experiment that
 * has these keys for all, the others run as without it, and all meet the same
 * jobs.
 *
 * The oracle is a second experiment in which --set changes the keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/scratch.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

static char program[4096];      /* its path */

/* Six GRPO jobs at three times the load that groups of 8 + 8 GPUs can do. */
static const char common[] =
    "seeds: 2\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: rollout, count: 2, gpus: {type: a100-80, count: 8},"
    " cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr, count: 8}}\n"
    "    - {name: train, count: 1, gpus: {type: a100-80, count: 8},"
    " cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr, count: 8}}\n"
    "    - {name: cpu, count: 1, cpu: {type: epyc-7763}, memory: 512GB}\n"
    "  storage: {bandwidth: 40GB/s}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 6/h}\n"
    "  jobs: 6\n"
    "  mix:\n"
    "    - {recipe: grpo, name: rl, model: llama-3.2-3b, zero: 3, recompute: full,"
    " micro_batch: 1, prompts: 64, responses: 8, prompt_tokens: 512,"
    " response: {mean: 1000, cv: 1, max: 4096},"
    " steps: {lognormal: {mean: 4, cv: 0.5}, min: 2, max: 9},"
    " reward: {on: cpu, core_time: 100ms}, checkpoint_every: 0,"
    " rollout: {gpus: 8, home: rollout}, train: {gpus: 8, home: train},"
    " data: {cores: 8, pool: cpu}}\n"
    "output: {tables: [summary, jobs], plots: []}\n";

/* Returns what the program says, to be freed, and its status. */
static char *run(struct scratch *scratch, const char *words, int *status)
{
    char command[8192];

    snprintf(command, sizeof command, "cd %s && '%s' %s >said 2>&1", scratch->dir,
             program, words);
    *status = WEXITSTATUS(system(command));
    return scratch_read(scratch, "said");
}

static void write_experiment(struct scratch *scratch, const char *name,
                             const char *more)
{
    char text[6144];

    snprintf(text, sizeof text, "experiment: e\n%s%s", common, more);
    scratch_write(scratch, name, text);
}

static void run_well(struct scratch *scratch, const char *words)
{
    int status;
    char *said = run(scratch, words, &status);

    if (status != 0)
        fail_msg("%s: status %d\n%s", words, status, said);
    free(said);
}

/* The rows of a policy in a table, its name put out; to be freed. */
static char *rows_of(struct scratch *scratch, const char *table, const char *policy)
{
    char *csv = scratch_read(scratch, table), name[64];
    char *out = calloc(1, strlen(csv) + 1);

    snprintf(name, sizeof name, ",%s,", policy);
    for (char *line = strtok(csv, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *at = strstr(line, name);

        if (at == NULL || at != strchr(line, ','))
            continue;
        strcat(out, at + strlen(name));
        strcat(out, "\n");
    }
    free(csv);
    return out;
}

static void assert_rows(struct scratch *scratch, const char *table,
                        const char *policy, const char *other_table,
                        const char *other)
{
    char *left = rows_of(scratch, table, policy);
    char *right = rows_of(scratch, other_table, other);

    assert_true(strlen(left) > 20);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

/* The colocated control has the 8 GPUs of the trainer, where a split job has 8 + 8: told. With
 * 16 of its own there is nothing to tell. */
static void other_gpus_of_a_layout_are_told(void **state)
{
    struct scratch *scratch = *state;
    int status;
    char *said;

    write_experiment(scratch, "e.yaml", "policies: [static]\ncontrols: [colocated]\n");
    said = run(scratch, "validate e.yaml", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "  job rl under colocated: GPUs: 8 in all, 16 elsewhere\n"));
    free(said);
    write_experiment(scratch, "w.yaml",
        "policies: [static, {policy: fcfs, with: {workload.mix.rl.layout: colocated,"
        " workload.mix.rl.rollout: {}, workload.mix.rl.train: {gpus: 16}}}]\n");
    said = run(scratch, "validate w.yaml", &status);
    assert_int_equal(status, 0);
    assert_null(strstr(said, "elsewhere"));
    free(said);
}

static void each_policy_runs_as_if_its_keys_were_those_of_all(void **state)
{
    struct scratch *scratch = *state;

    write_experiment(scratch, "e.yaml",
        "policies:\n"
        "  - {policy: static, blocking: skip}\n"
        "  - {policy: fcfs, name: turns, with: {workload.mix.*.layout: colocated,"
        " workload.mix.rl.rollout: {}}}\n"
        "  - {policy: fcfs, name: larger, with: {cluster.nodes.train.count: 2,"
        " workload.mix.rl.train.gpus: 4}}\n"
        "  - {policy: fcfs, name: ahead, with: {workload.mix.rl.schedule: one-step-off}}\n");
    write_experiment(scratch, "all.yaml", "policies: [static, fcfs]\n");
    run_well(scratch, "e.yaml -o d");
    run_well(scratch, "all.yaml -o a --set policies.static.blocking=skip");
    run_well(scratch, "all.yaml -o b --only fcfs --set "
             "workload.mix.rl.layout=colocated --set 'workload.mix.rl.rollout={}'");
    run_well(scratch, "all.yaml -o c --only fcfs --set cluster.nodes.train.count=2 "
             "--set workload.mix.rl.train.gpus=4");
    run_well(scratch, "all.yaml -o f --only fcfs --set workload.mix.rl.schedule=one-step-off");
    assert_rows(scratch, "d/jobs.csv", "static", "a/jobs.csv", "static");
    assert_rows(scratch, "d/jobs.csv", "turns", "b/jobs.csv", "fcfs");
    assert_rows(scratch, "d/jobs.csv", "larger", "c/jobs.csv", "fcfs");
    assert_rows(scratch, "d/summary.csv", "static", "a/summary.csv", "static");
    assert_rows(scratch, "d/summary.csv", "turns", "b/summary.csv", "fcfs");
    assert_rows(scratch, "d/summary.csv", "larger", "c/summary.csv", "fcfs");
    assert_rows(scratch, "d/jobs.csv", "ahead", "f/jobs.csv", "fcfs");
    assert_rows(scratch, "d/summary.csv", "ahead", "f/summary.csv", "fcfs");
}

static void a_sweep_acts_on_what_with_leaves_alone(void **state)
{
    struct scratch *scratch = *state;

    write_experiment(scratch, "e.yaml",
        "policies: [{policy: fcfs, name: turns, with: {workload.mix.rl.layout: "
        "colocated, workload.mix.rl.rollout: {}}}]\n"
        "sweep: {workload.arrival.rate: [1/h, 9/h]}\n");
    write_experiment(scratch, "all.yaml", "policies: [fcfs]\n"
        "sweep: {workload.arrival.rate: [1/h, 9/h]}\n");
    run_well(scratch, "e.yaml -o d");
    run_well(scratch, "all.yaml -o b --set workload.mix.rl.layout=colocated "
             "--set 'workload.mix.rl.rollout={}'");
    assert_rows(scratch, "d/summary.csv", "turns", "b/summary.csv", "fcfs");
}

static void the_control_colocated_is_fcfs_on_one_group(void **state)
{
    struct scratch *scratch = *state;

    write_experiment(scratch, "e.yaml", "policies: [static]\n"
                     "controls: [colocated]\n");
    write_experiment(scratch, "all.yaml",
                     "policies: [{policy: fcfs, blocking: skip}]\n");
    run_well(scratch, "e.yaml -o d --set 'workload.mix.rl.rollout="
             "{gpus: 8, home: rollout, tp: 2}'");
    run_well(scratch, "all.yaml -o b --set workload.mix.rl.layout=colocated "
             "--set 'workload.mix.rl.rollout={tp: 2}'");
    assert_rows(scratch, "d/summary.csv", "colocated", "b/summary.csv", "fcfs");
    run_well(scratch, "e.yaml -o d");
    run_well(scratch, "all.yaml -o b --set workload.mix.rl.layout=colocated "
             "--set 'workload.mix.rl.rollout={}'");
    assert_rows(scratch, "d/summary.csv", "colocated", "b/summary.csv", "fcfs");
}

/* A line of the output that begins with blanks and the word, or NULL. */
static const char *line_of(const char *text, const char *head, const char *word)
{
    text = strstr(text, head);
    return text == NULL ? NULL : strstr(text, word);
}

static void what_is_told_before_a_run_is_of_the_policy_that_meets_it(void **state)
{
    struct scratch *scratch = *state;
    int status;
    char *said, *path;

    write_experiment(scratch, "e.yaml",
        "policies: [fcfs, {policy: fcfs, name: wide, with: "
        "{cluster.nodes.rollout.count: 5}}]\n");
    said = run(scratch, "validate e.yaml", &status);
    assert_int_equal(status, 0);
    assert_non_null(line_of(said, "life (fcfs)", "16 GPUs"));
    assert_non_null(line_of(said, "life (wide)", "40 GPUs"));
    assert_null(line_of(said, "life (wide)", "16 GPUs"));
    free(said);
    run_well(scratch, "e.yaml -o d");
    path = scratch_read(scratch, "d/provenance.json");
    assert_non_null(strstr(path, "\"not_of\": [\"wide\"]"));
    assert_non_null(strstr(path, "\"with cluster.nodes.rollout.count\", "
                                 "\"value\": \"5\""));
    free(path);
}

static void a_role_without_a_place_under_with_is_reported(void **state)
{
    struct scratch *scratch = *state;
    int status;
    char *said;

    write_experiment(scratch, "e.yaml",
        "policies: [static, {policy: fcfs, name: wide, with: "
        "{workload.mix.rl.rollout: {gpus: 16}, workload.mix.rl.train: {gpus: 16}}}]\n");
    said = run(scratch, "validate e.yaml", &status);
    assert_int_equal(status, 3);
    assert_non_null(strstr(said, "train of rl has no place under policy wide"));
    assert_null(strstr(said, "policy static"));
    free(said);
}

/* Drawn from the two workloads, field by field. */
static void every_policy_meets_the_same_jobs(void **state)
{
    struct scratch *scratch = *state;
    struct arena *arena = arena_new(0);
    struct experiment_options options = { 0 };
    struct err err = { 0 };
    unsigned jobs = 0;

    write_experiment(scratch, "e.yaml",
        "policies: [static, {policy: fcfs, with: {workload.mix.rl.layout: colocated,"
        " workload.mix.rl.rollout: {}, workload.mix.rl.train: {gpus: 4, min: 4},"
        " cluster.nodes.cpu.count: 3}}]\n");
    const struct experiment *e =
        experiment_read(arena, scratch_path(scratch, "e.yaml"), &options, &err);
    assert_non_null(e);
    const struct experiment_point *point = &e->point[0];
    assert_ptr_equal(point->met[0], point);
    assert_ptr_not_equal(point->met[1]->workload, point->workload);
    for (uint32_t seed = 0; seed < 5; seed++) {
        struct source *a = source_open(arena, point->workload, e->seed, seed);
        struct source *b = source_open(arena, point->met[1]->workload, e->seed, seed);
        struct job_birth left, right;

        while (source_next(a, &left, &err) == SOURCE_JOB) {
            assert_int_equal(source_next(b, &right, &err), SOURCE_JOB);
            assert_true(left.request.submit_ns == right.request.submit_ns);
            assert_int_equal(left.request.steps, right.request.steps);
            assert_true(left.truth.seed == right.truth.seed);
            jobs++;
        }
        assert_int_equal(source_next(b, &right, &err), SOURCE_END);
    }
    assert_int_equal(jobs, 30);
    arena_free(arena);
}

/* A trace leaves out what the cluster has no room for. */
static void a_cluster_that_drops_jobs_of_the_trace_is_refused(void **state)
{
    struct scratch *scratch = *state;
    int status;
    char *said;

    scratch_write(scratch, "jobs.csv", "job,submit,duration,gpus\n"
                  "a,0,100,2\nb,10,100,16\nc,20,100,2\n");
    scratch_write(scratch, "e.yaml", "experiment: e\n"
        "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n"
        "workload: {trace: {file: jobs.csv, format: csv, skip: "
        "{larger_than_cluster: true}, columns: {job: job, submit: submit, "
        "duration: duration, gpus: gpus}}}\n"
        "policies: [fcfs, {policy: fcfs, name: few, with: {cluster.nodes.n.count: 1}}]\n");
    said = run(scratch, "validate e.yaml", &status);
    if (status != 3 || strstr(said, "with changes job 1 of seed 0") == NULL)
        fail_msg("status %d\n%s", status, said);
    free(said);
}

/* Two nodes: `--set` of what is swept is refused, also where an item is called by its
 * number or all of them are swept, and acts on one where only the other is swept. */
static void set_is_refused_where_the_sweep_replaces_it(void **state)
{
    static const struct {
        const char *words, *says;
    } refused[] = {
        { "cluster.nodes.a.count=3", "the sweep sets 'cluster.nodes.a.count'" },
        { "cluster.nodes.0.count=3", "the sweep sets 'cluster.nodes.a.count'" },
        { "cluster.nodes.b.gpus.count=4", "the sweep sets 'cluster.nodes.*.gpus.count'" },
    };
    static const char *const good[] = { "cluster.nodes.b.count=3", "seeds=2",
                                        "'sweep={cluster.nodes.0.count: [3]}'" };
    struct scratch *scratch = *state;
    char words[200];
    int status;

    scratch_write(scratch, "e.yaml", "experiment: e\n"
        "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}},\n"
        "  {name: b, count: 2, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: all_at_once}, jobs: 1,\n"
        "  mix: [{recipe: trace, gpus: 1, duration: 1h}]}\npolicies: [fcfs]\n"
        "sweep: {cluster.nodes.a.count: [1, 2], cluster.nodes.*.gpus.count: [4, 8]}\n");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(words, sizeof words, "e.yaml -q --set %s", refused[i].words);
        char *said = run(scratch, words, &status);
        if (status != 3 || strstr(said, refused[i].says) == NULL)
            fail_msg("%s: status %d\n%s", words, status, said);
        free(said);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(words, sizeof words, "e.yaml -o good --set %s", good[i]);
        run_well(scratch, words);
    }
}

static unsigned count_parts(const char *text, const char *part)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Three groups of nodes have three prices, and one of them another under `owned`. */
static void a_price_that_policies_share_is_told_once(void **state)
{
    struct scratch *scratch = *state;
    char *made;

    write_experiment(scratch, "e.yaml",
        "policies:\n"
        "  - {policy: static, blocking: skip}\n"
        "  - {policy: static, name: larger, with: {cluster.nodes.train.count: 2}}\n"
        "  - {policy: static, name: owned, with: {cluster.nodes.train.price: owned}}\n");
    run_well(scratch, "e.yaml -o d");
    made = scratch_read(scratch, "d/provenance.json");
    assert_int_equal(count_parts(made, "\"tier\": "), 4);
    assert_int_equal(count_parts(made, "\"price\": \"a100-80-on-demand\""), 2);
    assert_int_equal(count_parts(made, "\"price\": \"core-on-demand\""), 1);
    assert_int_equal(count_parts(made, "\"price\": \"a100-80-owned\""), 1);
    free(made);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(each_policy_runs_as_if_its_keys_were_those_of_all),
        TEST(other_gpus_of_a_layout_are_told),
        TEST(a_sweep_acts_on_what_with_leaves_alone),
        TEST(the_control_colocated_is_fcfs_on_one_group),
        TEST(what_is_told_before_a_run_is_of_the_policy_that_meets_it),
        TEST(a_role_without_a_place_under_with_is_reported),
        TEST(every_policy_meets_the_same_jobs),
        TEST(a_price_that_policies_share_is_told_once),
        TEST(set_is_refused_where_the_sweep_replaces_it),
        TEST(a_cluster_that_drops_jobs_of_the_trace_is_refused),
    };

    (void)argc;
    scratch_program(program, sizeof program, argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
