/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds_test.c - policies that try one of what is alike: how many searches and
 * how much time a backlog costs them.  What they decide is met by
 * naive_world_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policies/phases.h"
#include "policies/registry/registry.h"
#include "tests/aid/family_aid.h"

#define POLICIES \
    "dynamic, {policy: dynamic, name: a, gain_min: 5}, " \
    "{policy: dynamic, name: b, lend: false}, " \
    "{policy: dynamic, name: c, placement: spread}, " \
    "{policy: dynamic, name: d, placement: random}, " \
    "{policy: dynamic, name: e, placement: consolidate}"
#define OTHERS \
    ", hybrid, {policy: hybrid, name: f, reserve: 0, placement: best_fit}, " \
    "{policy: hybrid, name: g, placement: random}, " \
    "elastic-hybrid, {policy: elastic-hybrid, name: h, placement: spread}"
#define SIZES "min: 4, max: 16, types: "
#define ROLES(start) \
    "rollout: {gpus: 8, " SIZES "[l40s, a100-80], start: " start "}, " \
    "train: {gpus: 8, " SIZES "[a100-80, l40s], start: " start "}, " \
    "data: {cores: 40}"
#define MIX_PHASES \
    "{recipe: dpo, name: dpo, share: 0.4, model: qwen2.5-7b, method: lora, " \
    "recompute: full, zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, " \
    "response: {mean: 200, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [1, 4]}, " \
    ROLES("wake") "}, " \
    "{recipe: grpo, name: grpo, share: 0.2, model: llama-2-13b, " \
    "method: lora, recompute: full, zero: 2, prompts: 32, " \
    "prompt_tokens: 256, response: {mean: 300, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: 2, " \
    ROLES("process") "}"
#define MIX \
    MIX_PHASES ", " \
    "{recipe: trace, name: known, share: 0.4, " \
    "duration: {lognormal: {mean: 60s, cv: 2}}, gpus: {choice: {1: 1, 4: 1, 12: 1}}}"
#define NODES \
    "nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: 8}, " \
    "cpu: {type: epyc-7763}, memory: 512GB, nics: {type: ethernet-100}, " \
    "price: 10USD/h}, {name: train, count: 2, gpus: {type: a100-80, count: " \
    "8}, cpu: {type: epyc-7742}, memory: 512GB, nics: {type: ib-hdr}, " \
    "price: 20USD/h}]"

static void open_mix(struct world *world, const char *more, const char *mix,
                     uint32_t jobs, const char *policies)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: kinds\nseeds: 1\nuntil: drained\n"
                     "cluster: {" NODES "%s}\nworkload: {arrival: {process: "
                     "poisson, rate: 400/h}, jobs: %u, mix: [%s]}\n"
                     "policies: [%s]\n", more, jobs, mix, policies);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

/* Nodes that searches for room look at, by job: 40 or 320 of them wait. */
static void searches_of_a_job_do_not_grow_with_the_backlog(void **state)
{
    double seen[2][64] = { { 0 } };
    uint32_t trials = 0;

    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        struct world world = { 0 };
        uint32_t jobs = n == 0 ? 40 : 320;
        open_mix(&world, "", MIX_PHASES, jobs, POLICIES OTHERS);
        trials = experiment_trial_count(world.experiment);
        assert_in_range(trials, 1, 64);
        for (uint32_t t = 0; t < trials; t++) {
            struct trial_spec spec = experiment_trial_spec(world.experiment, t);
            struct trial_tables none = { 0 };
            struct trial_result result;
            if (!trial_run(&spec, &none, &result, &world.err))
                fail_msg("%s", world_error(&world));
            seen[n][t] = (double)result.nodes_seen / jobs;
        }
        world_close(&world);
    }
    for (uint32_t t = 0; t < trials; t++) {
        assert_true(seen[1][t] <= 2 * seen[0][t] + 64);
    }
}

/* Of a job under dynamic, on so many nodes; some searches may take GPUs of idle
 * leases, and some need cores alone. */
static double searched(uint32_t nodes)
{
    struct world world = { 0 };
    struct trial_tables none = { 0 };
    struct trial_result result;
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: nodes\nseeds: 1\nuntil: drained\n"
                     "cluster: {nodes: [{name: rollout, count: %u, gpus: "
                     "{type: l40s, count: 8}, cpu: {type: epyc-7763}, memory: "
                     "512GB, nics: {type: ethernet-100}, price: 10USD/h}]}\n"
                     "workload: {arrival: {process: poisson, rate: 400/h}, "
                     "jobs: 200, mix: [" MIX_PHASES "]}\n"
                     "policies: [dynamic]\n", nodes);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    if (!trial_run(&spec, &none, &result, &world.err))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return (double)result.nodes_seen;
}

/* Each shape of want looks at each node once, to begin with. */
static void searches_for_idle_GPUs_do_not_grow_with_the_nodes(void **state)
{
    double few = searched(40), many = searched(400);

    (void)state;
    assert_true(many < 2 * few + 400 * 40);
}

/* ---- whole jobs ---- */

/* Tries each job that waits, in order, in the homes of its roles. */
static void walk_homes(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct job_id job = cs_task(host, task)->job;
        uint32_t roles = cs_request(host, job)->form->role_count;
        struct cs_want want[FORM_ROLES_MAX] = { { 0 } };
        for (uint32_t r = 0; r < roles; r++) {
            want[r].role = r;
            want[r].pool_mask = cs_home_pools(host, task, r);
        }
        i += cs_start_wants(host, task, want, roles) != CS_DONE;
    }
}

static const char *const places[] = {
    "best_fit", "spread", "consolidate", "random", "first_fit",
};

static void open_static(struct world *world, const char *placement,
                        const char *more, const char *mix, uint32_t jobs)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: kinds\nseeds: 2\nuntil: drained\n"
                     "cluster: {" NODES "%s}\nworkload: {arrival: {process: "
                     "poisson, rate: 400/h}, jobs: %u, mix: [%s]}\n"
                     "policies: [{policy: static, blocking: skip, placement: "
                     "%s}]\n", more, jobs, mix, placement);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void static_skips_as_a_walk_over_all_jobs_would(void **state)
{
    struct cs_policy walk = *registry_find("static");

    (void)state;
    walk.decide = walk_homes;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        struct world world = { 0 };
        open_static(&world, places[p],
                    p == 0 ? ", power_cap: 30kW"
                    : p == 1 ? ", failures: {node_mtbf: 4h, repair: 10m, "
                               "restart: 30s}" : "", MIX, 60);
        for (uint32_t t = 0; t < experiment_trial_count(world.experiment);
             t++) {
            struct trial_spec spec = experiment_trial_spec(world.experiment,
                                                           t);
            struct host_policy slow = *spec.policy;
            struct family_run a, b;
            slow.policy = &walk;
            assert_true(family_run_spec(&spec, &a, &world.err));
            spec.policy = &slow;
            assert_true(family_run_spec(&spec, &b, &world.err));
            assert_int_equal(a.result.event_count, b.result.event_count);
            assert_true(a.result.digest == b.result.digest);
            assert_string_equal(a.jobs, b.jobs);
            family_drop(&a);
            family_drop(&b);
        }
        world_close(&world);
    }
}

/* Nodes that searches look at, by job, where 40 or 320 wait.  Those of rollout
 * have room as a rule, and those of train then have not. */
static void static_tries_one_of_what_is_alike(void **state)
{
    static const char mix[] = "{recipe: dpo, name: dpo, share: 1, model: "
        "qwen2.5-7b, method: lora, recompute: full, zero: 2, prompts: 64, "
        "pairs: 1, prompt_tokens: 256, response: {mean: 200, cv: 1, max: "
        "1024}, reward: {on: cpu, core_time: 100ms}, steps: 2, "
        "rollout: {gpus: 4, " SIZES "[l40s]}, "
        "train: {gpus: 8, " SIZES "[a100-80]}, data: {cores: 4}}";
    double seen[2];

    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        struct world world = { 0 };
        uint32_t jobs = n == 0 ? 40 : 320;
        open_static(&world, "best_fit", "", mix, jobs);
        struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
        struct trial_tables none = { 0 };
        struct trial_result result;
        if (!trial_run(&spec, &none, &result, &world.err))
            fail_msg("%s", world_error(&world));
        seen[n] = (double)result.nodes_seen / jobs;
        world_close(&world);
    }
    assert_true(seen[0] > 0 && seen[1] < 2 * seen[0]);
}

/* ---- comparisons ---- */

static uint32_t compared;

static bool count_before(const void *self, const struct cs_host *host, struct task_id a,
                         struct task_id b)
{
    compared++;
    return cs_by_priority(self, host, a, b);
}

/* Asks for no candidates. */
static void start_in_order(void *self, struct cs_host *host)
{
    (void)self;
    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        ;
}

/* Where all are of one kind, a task is compared as it takes its place among what waits, and
 * not once more: neither in its kind nor to find the first of it. */
static void candidates_of_one_kind_are_compared_where_they_wait_alone(void **state)
{
    struct cs_policy table[2] = { *registry_find("dynamic"), *registry_find("dynamic") };
    struct world_job job[500];
    uint32_t count[2];

    (void)state;
    for (uint32_t i = 0; i < 500; i++)
        job[i] = (struct world_job) { i / 100, 1000 + i, 1, 0, 0 };
    table[1].decide = start_in_order;
    for (uint32_t p = 0; p < 2; p++) {
        struct world world = { .folder = "" };
        assert_true(world_trace(&world, 2, 8, job, 500, "[dynamic]"));
        table[p].before = count_before;
        struct host_policy policy = *experiment_trial_spec(world.experiment, 0).policy;
        policy.policy = &table[p];
        compared = 0;
        if (!world_run(&world, 0, &policy, NULL, NULL))
            fail_msg("%s", world_error(&world));
        count[p] = compared;
        world_close(&world);
    }
    assert_true(count[1] > 500);
    assert_int_equal(count[0], count[1]);
}

/* An order by lot. */
static bool lot_before(const void *self, const struct cs_host *host, struct task_id a,
                       struct task_id b)
{
    (void)self;
    return cs_task(host, a)->job.i * 7919 % 311 < cs_task(host, b)->job.i * 7919 % 311;
}

/* Each is tried alone, in order; then the first starts, if it may. */
static void check_candidates(void *self, struct cs_host *host)
{
    (void)self;
    cs_try_anew(host);
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_next_candidate(host);
        assert_int_equal(task.i, cs_pending(host, i).i);
        cs_tried(host, task, CS_ALIKE_NONE);
    }
    assert_int_equal(cs_next_candidate(host).i, UINT32_MAX);
    if (cs_pending_count(host) > 0)
        (void)cs_start(host, cs_pending(host, 0));
}

/* Of three kinds, which come between others of theirs and of other kinds. */
static void candidates_come_in_the_order_of_what_waits(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "check",
        .summary = "checks candidates", .before = lot_before, .decide = check_candidates,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[300];
    struct world world = { .folder = "" };

    (void)state;
    for (uint32_t i = 0; i < 300; i++)
        job[i] = (struct world_job) { i * 2 / 3, 2 + i % 5, 1 + i / 3 % 3, 0, 0 };
    assert_true(world_trace(&world, 1, 4, job, 300, "[fcfs]"));
    if (!world_run(&world, 0, &policy, NULL, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* Starts the first task between the telling of the second and the word that this was tried. */
static void start_between(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) < 2)
        return;
    cs_try_anew(host);
    cs_tried(host, cs_next_candidate(host), CS_ALIKE_NONE);
    struct task_id second = cs_next_candidate(host);
    assert_int_equal(second.i, cs_pending(host, 1).i);
    assert_int_equal(cs_start(host, cs_pending(host, 0)), CS_DONE);
    assert_int_equal(second.i, cs_pending(host, 0).i);
    cs_tried(host, second, CS_ALIKE_NONE);
    assert_int_equal(cs_next_candidate(host).i, UINT32_MAX);
}

static void a_candidate_stands_while_others_start(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "between", .summary = "starts others", .decide = start_between,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[2] = { { 0, 10, 1, 0, 0 }, { 0, 10, 1, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 2, job, 2, "[fcfs]"));
    assert_false(world_run(&world, 0, &policy, NULL, NULL));    /* the second waits for ever */
    assert_null(strstr(world.err.text, "cs_tried"));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_of_a_job_do_not_grow_with_the_backlog),
        cmocka_unit_test(searches_for_idle_GPUs_do_not_grow_with_the_nodes),
        cmocka_unit_test(static_skips_as_a_walk_over_all_jobs_would),
        cmocka_unit_test(static_tries_one_of_what_is_alike),
        cmocka_unit_test(candidates_of_one_kind_are_compared_where_they_wait_alone),
        cmocka_unit_test(candidates_come_in_the_order_of_what_waits),
        cmocka_unit_test(a_candidate_stands_while_others_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
