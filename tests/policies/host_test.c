/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_test.c - the host against an oracle, against policies that break every
 * rule, and against what must hold in any world.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/phases.h"
#include "policies/registry/registry.h"
#include "policies/registry/table.h"
#include "policies/registry/rules.h"
#include "policies/state/jobs.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "tests/oracles/oracle.h"
#include "policies/resize.h"
#include "tests/aid/world.h"

#define JOBS 120

static void agree(enum oracle_rule rule, const char *policy)
{
    struct world_job job[JOBS];
    struct oracle_job expect[JOBS];
    struct trial_result result;

    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct world world = { 0 };
        world_random_jobs(seed, job, JOBS);
        assert_true(world_trace(&world, 2, 8, job, JOBS, policy));
        assert_true(world_run(&world, 0, NULL, job, &result));
        oracle_run(rule, 16, job, JOBS, expect);
        for (uint32_t i = 0; i < JOBS; i++) {
            assert_int_equal((int64_t)job[i].end_s, expect[i].end);
            assert_int_equal((int64_t)job[i].start_s, expect[i].start);
        }
        world_close(&world);
    }
}

static void fcfs_strict_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_FIFO, "[{policy: fcfs, placement: count}]");
}

static void fcfs_skip_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_SKIP, "[{policy: fcfs, placement: count, blocking: skip}]");
}

static void sjf_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_SJF, "[{policy: sjf, placement: count}]");
}

static void srtf_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_SRTF, "[{policy: srtf, placement: count}]");
}

static void easy_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_EASY, "[{policy: easy, placement: count}]");
}

static void fcfs_never_overtakes_under_any_placement(void **state)
{
    const char *rules[] = { "count", "first_fit", "best_fit", "pack",
                            "spread" };
    struct world_job job[JOBS];
    char policy[80];

    (void)state;
    for (uint64_t seed = 20; seed < 23; seed++)
        for (int r = 0; r < 5; r++) {
            struct world world = { 0 };
            world_random_jobs(seed, job, JOBS);
            snprintf(policy, sizeof policy, "[{policy: fcfs, placement: %s}]",
                     rules[r]);
            assert_true(world_trace(&world, 4, 4, job, JOBS, policy));
            assert_true(world_run(&world, 0, NULL, job, NULL));
            for (uint32_t i = 1; i < JOBS; i++)
                assert_true(job[i].start_s >= job[i - 1].start_s);
            world_close(&world);
        }
}

static void scaling_all_times_scales_all_ends(void **state)
{
    struct world_job one[JOBS], three[JOBS];
    struct world a = { 0 }, b = { 0 };

    (void)state;
    world_random_jobs(7, one, JOBS);
    for (uint32_t i = 0; i < JOBS; i++) {
        three[i] = one[i];
        three[i].submit_s *= 3;
        three[i].duration_s *= 3;
    }
    assert_true(world_trace(&a, 2, 8, one, JOBS, "[easy]"));
    assert_true(world_trace(&b, 2, 8, three, JOBS, "[easy]"));
    assert_true(world_run(&a, 0, NULL, one, NULL));
    assert_true(world_run(&b, 0, NULL, three, NULL));
    for (uint32_t i = 0; i < JOBS; i++)
        assert_true(three[i].end_s == 3 * one[i].end_s);
    world_close(&a);
    world_close(&b);
}

static void a_table_with_nothing_but_a_name_is_fcfs(void **state)
{
    static const struct cs_policy bare = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof bare,
        .name = "bare", .summary = "nothing",
    };
    struct host_policy policy = world_policy(&bare);
    struct world_job a[JOBS], b[JOBS];
    struct world world = { 0 };

    (void)state;
    world_random_jobs(3, a, JOBS);
    memcpy(b, a, sizeof a);
    assert_true(world_trace(&world, 2, 8, a, JOBS,
                            "[{policy: fcfs, placement: count}]"));
    assert_true(world_run(&world, 0, NULL, a, NULL));
    assert_true(world_run(&world, 0, &policy, b, NULL));
    for (uint32_t i = 0; i < JOBS; i++)
        assert_true(a[i].end_s == b[i].end_s);
    world_close(&world);
}

/* Wrong in every way a policy can be, with a stated probability. */
struct chaos {
    uint32_t calls;
};

static void chaos_wrong(struct cs_host *host)
{
    struct task_id nowhere = { 123456789 };
    struct lease_id nothing = { 987654321 };
    struct job_id nobody = { 55555555 };
    struct cs_want want = { .gpus = 3, .role = 5 };

    assert_int_equal(cs_start(host, nowhere), CS_NOT_PENDING);
    assert_int_equal(cs_start_want(host, nowhere, &want), CS_NOT_PENDING);
    assert_int_equal(cs_continue(host, nowhere), CS_NOT_PENDING);
    assert_int_equal(cs_release(host, nothing), CS_NOT_PENDING);
    assert_int_equal(cs_stop(host, nobody), CS_NOT_PENDING);
    if (cs_pending_count(host) > 0) {
        struct task_id task = cs_pending(host, 0);
        assert_int_equal(cs_start_want(host, task, &want), CS_BAD_SHAPE);
        assert_int_equal(cs_start_wants(host, task, &want, 7), CS_BAD_SHAPE);
    }
}

static void chaos_decide(void *self, struct cs_host *host)
{
    struct chaos *chaos = self;

    chaos->calls++;
    if (cs_random(host) < 0.5)
        chaos_wrong(host);
    if (cs_running_count(host) > 0 && cs_random(host) < 0.1)
        cs_stop(host, cs_running(host, cs_running_count(host) - 1));
    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (cs_start(host, cs_pending(host, i)) != CS_DONE)
            i++;
}

static const struct cs_policy chaos_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof chaos_policy,
    .name = "chaos", .summary = "wrong at random",
    .flags = CS_PREEMPTS | CS_DRAWS,
    .self_bytes = sizeof(struct chaos), .decide = chaos_decide,
};

static void a_policy_that_is_wrong_changes_nothing_but_counters(void **state)
{
    struct host_policy policy = world_policy(&chaos_policy);
    struct world_job job[JOBS];
    struct trial_result result;

    (void)state;
    for (uint64_t seed = 40; seed < 46; seed++) {
        struct world world = { 0 };
        world_random_jobs(seed, job, JOBS);
        assert_true(world_trace(&world, 2, 8, job, JOBS, "[fcfs]"));
        if (!world_run(&world, 0, &policy, job, &result))
            fail_msg("%s", world_error(&world));
        assert_true(result.value[METRIC_JOBS_DONE] == JOBS);
        assert_true(result.value[METRIC_REFUSED] > 0);
        assert_true(result.value[METRIC_PREEMPTIONS] > 0);
        for (uint32_t i = 0; i < JOBS; i++)
            assert_true(job[i].end_s >=
                        (double)(job[i].submit_s + job[i].duration_s));
        world_close(&world);
    }
}

static void forbidden_decide(void *self, struct cs_host *host)
{
    struct lease_id lease = cs_lease_at(host, 0);
    struct cs_want idle = { .take_idle = true };

    (void)self;
    if (cs_running_count(host) > 0)
        assert_int_equal(cs_stop(host, cs_running(host, 0)), CS_NOT_ALLOWED);
    if (cs_lease_count(host) > 0)
        assert_int_equal(cs_release(host, lease), CS_NOT_ALLOWED);
    while (cs_pending_count(host) > 0) {
        assert_int_equal(cs_start_want(host, cs_pending(host, 0), &idle),
                         CS_NOT_ALLOWED);
        if (cs_start(host, cs_pending(host, 0)) != CS_DONE)
            return;
    }
}

static void what_the_table_does_not_claim_is_not_allowed(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "meek", .summary = "asks for what it may not",
        .decide = forbidden_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[3] = { { 0, 10, 4, 0, 0 }, { 0, 10, 4, 0, 0 },
                                { 5, 10, 16, 0, 0 } };
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 3, "[fcfs]"));
    assert_true(world_run(&world, 0, &policy, job, &result));
    assert_true(result.value[METRIC_REFUSED] >= 5);
    assert_true(job[2].end_s == 20);
    world_close(&world);
}

/* A job of 4 GPUs has no other size: nodes that a want names must have 4 in all. */
static void names_decide(void *self, struct cs_host *host)
{
    static const struct { uint32_t gpus, of[2], count; } bad[] = {
        { 0, { 1, 0 }, 1 }, { 0, { 0, 0 }, 1 }, { 0, { 4, 0 }, 2 }, { 0, { 4, 1 }, 2 },
        { 4, { 2, 0 }, 1 }, { 2, { 2, 2 }, 2 }, { 0, { UINT32_MAX, 5 }, 2 },
    };
    struct cs_node_gpus spot[2] = { { { 0 }, 0, 0 }, { { 0 }, 1, 0 } };
    struct cs_want want = { .spot = spot };
    struct cs_forecast forecast;

    (void)self;
    if (cs_pending_count(host) == 0)
        return;
    struct task_id task = cs_pending(host, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        want.gpus = bad[i].gpus;
        want.spot_count = bad[i].count;
        spot[0].gpus = bad[i].of[0];
        spot[1].gpus = bad[i].of[1];
        assert_false(cs_forecast(host, task, &want, &forecast));
        assert_int_equal(cs_start_want(host, task, &want), CS_BAD_SHAPE);
    }
    want.gpus = 0;
    spot[0].gpus = 1;
    spot[1].gpus = 3;
    assert_int_equal(cs_start_want(host, task, &want), CS_DONE);
    assert_int_equal(cs_lease(host, cs_lease_at(host, 0))->gpus, 4);
}

static void nodes_that_are_named_have_what_the_job_may_have(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "names", .summary = "names nodes", .decide = names_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[1] = { { 0, 10, 4, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 1, "[fcfs]"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    assert_true(job[0].end_s == 10);
    world_close(&world);
}

/* On two nodes of 8 GPUs, a job of 4 moves to the node that is named, in either way. */
static void moves_decide(void *self, struct cs_host *host)
{
    struct cs_node_gpus spot[2] = { { { 0 }, 1, 4 }, { { 0 }, 0, 1 } };
    struct cs_want want = { .spot = spot, .spot_count = 1 };

    (void)self;
    if (cs_pending_count(host) == 0)
        return;
    assert_int_equal(cs_start(host, cs_pending(host, 0)), CS_DONE);
    uint32_t there = cs_lease(host, cs_lease_at(host, 0))->placement.share[0].node;
    spot[0].node = 1 - there;
    spot[0].gpus = 2;
    assert_int_equal(cs_move(host, cs_lease_at(host, 0), &want), CS_BAD_SHAPE);
    spot[0].gpus = 4;
    assert_int_equal(cs_move(host, cs_lease_at(host, 0), &want), CS_DONE);
    assert_int_equal(cs_lease(host, cs_lease_at(host, 0))->placement.share[0].node, 1 - there);
    want = (struct cs_want){ .first_node = there, .node_count = 1 };
    assert_int_equal(cs_move(host, cs_lease_at(host, 0), &want), CS_DONE);
    assert_int_equal(cs_lease(host, cs_lease_at(host, 0))->placement.share[0].node, there);
    want = (struct cs_want){ .gpu_type = CS_ON_CORES };
    assert_int_equal(cs_move(host, cs_lease_at(host, 0), &want), CS_BAD_SHAPE);
    want = (struct cs_want){ .take_idle = true };
    assert_int_equal(cs_move(host, cs_lease_at(host, 0), &want), CS_BAD_SHAPE);
}

static void a_job_moves_to_the_nodes_that_are_named(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "moves",
        .summary = "moves a job", .flags = CS_RESIZES, .decide = moves_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[1] = { { 0, 10, 4, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 1, "[{policy: fcfs, placement: first_fit}]"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    assert_true(job[0].end_s == 10);
    world_close(&world);
}

static void fails_decide(void *self, struct cs_host *host)
{
    (void)self;
    cs_note(host, "gave up at the first decision");
    cs_fail(host, "no idea what to do");
}

static void a_policy_that_fails_ends_the_trial_with_its_reason(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "quitter", .summary = "fails", .decide = fails_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[1] = { { 0, 10, 4, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 1, "[fcfs]"));
    assert_false(world_run(&world, 0, &policy, NULL, NULL));
    assert_int_equal(world.err.kind, ERR_POLICY);
    assert_string_equal(world.err.text, "policy quitter: no idea what to do");
    assert_non_null(strstr(world.err.hint, "gave up"));
    world_close(&world);
}

static void wakes_decide(void *self, struct cs_host *host)
{
    (void)self;
    cs_wake_at(host, cs_now_ns(host) + CLOCK_NS_PER_S);
}

static void a_run_in_which_no_decision_comes_to_anything_ends(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "sleeper", .summary = "wakes", .decide = wakes_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[1] = { { 0, 10, 4, 0, 0 } };
    struct world world = { .vain_max = 1000 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 1, "[fcfs]"));
    assert_false(world_run(&world, 0, &policy, NULL, NULL));
    assert_int_equal(world.err.kind, ERR_POLICY);
    assert_non_null(strstr(world.err.text, "came of 1000 decisions"));
    world_close(&world);
}

static void starts_and_wakes_decide(void *self, struct cs_host *host)
{
    if (cs_pending_count(host) > 0)
        cs_start(host, cs_pending(host, 0));
    wakes_decide(self, host);
}

/* No job waits, and none runs: the words must not speak of one. */
static void decisions_in_vain_between_jobs_are_told_of_without_a_job(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "sleepless", .summary = "wakes", .decide = starts_and_wakes_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[2] = { { 0, 10, 4, 0, 0 }, { 100000, 10, 4, 0, 0 } };
    struct world world = { .vain_max = 1000 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 2, "[fcfs]"));
    assert_false(world_run(&world, 0, &policy, NULL, NULL));
    assert_int_equal(world.err.kind, ERR_POLICY);
    assert_non_null(strstr(world.err.text, "came of 1000 decisions"));
    assert_non_null(strstr(world.err.text, "all jobs that came have ended"));
    assert_non_null(strstr(world.err.hint, "The policy is called by its own wake-ups"));
    world_close(&world);
}

/* A turn as long as what a restart costs: nobody ever gets anywhere. */
static void a_run_in_which_all_stops_are_in_vain_ends(void **state)
{
    struct world_job job[2] = { { 0, 1000, 1, 0, 0 }, { 0, 1000, 1, 0, 0 } };
    struct world world = { .vain_max = 1000 };

    (void)state;
    assert_int_equal(HOST_VAIN_MAX, 1000000);
    assert_true(world_trace(&world, 1, 1, job, 2,
                            "[{policy: time-slice, quantum: 60s, "
                            "preemption: {cost: 60s}}, {name: longer, "
                            "policy: time-slice, quantum: 61s, "
                            "preemption: {cost: 60s}}]"));
    assert_false(world_run(&world, 0, NULL, NULL, NULL));
    assert_int_equal(world.err.kind, ERR_POLICY);
    assert_non_null(strstr(world.err.text, "1000 stops in a row"));
    if (!world_run(&world, 1, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s > 2000 && job[1].end_s > 2000);
    world_close(&world);
}

/* The message says which phase keeps nothing, to its end, however long names are. */
static void a_stop_in_vain_names_the_phase_that_keeps_nothing(void **state)
{
    struct world world = { .vain_max = 1000 };

    (void)state;
    assert_true(world_open(&world, "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, "
                           "count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
                           "epyc-7742, sockets: 2}, memory: 1TB}], storage: {bandwidth: "
                           "20GB/s}}\nworkload:\n  arrival: {process: fixed, times: [0s, "
                           "1s]}\n  mix:\n    - {recipe: batch-infer, name: "
                           "inference-of-llama-3.1-8b-every-night, model: llama-3.1-8b, "
                           "prompts: 200000, prompt_tokens: 500, response: {mean: 2000, cv: "
                           "1, max: 4096}, steps: 2, infer: {gpus: 8}}\n"
                           "policies: [{policy: time-slice, quantum: 10s}]\n"));
    assert_false(world_run(&world, 0, NULL, NULL, NULL));
    assert_non_null(strstr(world.err.text, "(a longer quantum may help)"));
    assert_non_null(strstr(world.err.hint, "Phase infer of inference-of-llama-3.1-8b-every-night"));
    assert_non_null(strstr(world.err.hint, "keeps nothing if it is stopped."));
    world_close(&world);
}

/* As people who come from elsewhere write it; what is offered can be read. */
static void what_others_call_a_policy_is_translated(void **state)
{
    static const char *const word[][2] = {
        { "FIFO", "fcfs" }, { "backfill", "easy" },
        { "EASY-backfill", "easy" }, { "SRPT", "srtf" },
        { "tiresias", "{policy: dlas, semantics: tiresias}" },
        { "round_robin", "time-slice" }, { "Helios", "qssf" },
        { "pai", "{policy: fcfs, semantics: pai}" },
        { "accasim", "{policy: fcfs, semantics: accasim}" },
        { "FGD", "{policy: fcfs, semantics: fgd}" },
        { "RLScheduler", "{policy: f1, semantics: rlscheduler}" },
        { "max-min", "gavel" }, { "MLFQ", "dlas" },
    };
    struct arena *arena = arena_new(1 << 16);

    (void)state;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        struct err err = { 0 };
        const char *meant = registry_meant(word[i][0]);

        assert_non_null(meant);
        assert_string_equal(meant, word[i][1]);
        assert_null(registry_find(word[i][0]));
        const struct conf_node *conf = conf_parse(arena, "policy", meant,
                                                  strlen(meant), &err);
        assert_non_null(conf);
        assert_non_null(host_policy_read(arena, conf, &err));
    }
    assert_null(registry_meant("wurzel"));
    assert_null(registry_meant("a-name-that-is-much-too-long-for-any-of-them"));
    arena_free(arena);
}

static void a_table_says_which_member_is_wrong(void **state)
{
    struct cs_policy table = {
        .abi_major = 3, .size_bytes = sizeof table, .name = "new",
        .summary = "from the future",
    };
    struct err err = { 0 };

    (void)state;
    assert_false(table_check(&table, &err));
    assert_string_equal(err.text, "policy new: abi 3, this program has 2");
    table.abi_major = CS_POLICY_ABI_MAJOR;
    table.name = "Big Name";
    memset(&err, 0, sizeof err);
    assert_false(table_check(&table, &err));
    assert_non_null(strstr(err.text, "member name"));
    table.name = "fine";
    table.summary = NULL;
    memset(&err, 0, sizeof err);
    assert_false(table_check(&table, &err));
    assert_non_null(strstr(err.text, "member summary is empty"));
}

/* Limits that hold for no number would end the program where they are told. */
static void limits_of_a_parameter_are_numbers_in_order(void **state)
{
    static const struct { double min, max; bool fine; } limit[] = {
        { 0, 0, true }, { -INFINITY, 5, true }, { 5, INFINITY, true }, { 5, 5, true },
        { NAN, 5, false }, { 5, NAN, false }, { 6, 5, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++) {
        const struct cs_param param = { "depth", CS_PARAM_INT, 0, limit[i].min, limit[i].max,
                                        "5", "a number" };
        const struct cs_policy table = {
            .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "limits",
            .summary = "has a parameter", .param = &param, .param_count = 1, .self_bytes = 8,
        };
        struct err err = { 0 };

        assert_int_equal(table_check(&table, &err), limit[i].fine);
        assert_true(limit[i].fine || strstr(err.text, "param depth has a min above") != NULL);
    }
}

struct once {
    int64_t last_ns;
    uint32_t news;
};

static void once_submitted(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct once *once = self;

    (void)job;
    assert_true(cs_now_ns(host) != once->last_ns);
    once->news++;
}

static void once_decide(void *self, struct cs_host *host)
{
    struct once *once = self;

    assert_true(cs_now_ns(host) > once->last_ns);
    once->last_ns = cs_now_ns(host);
    while (cs_pending_count(host) > 0 &&
           cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void the_policy_is_asked_once_an_instant_after_all_news(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "once", .summary = "counts instants",
        .self_bytes = sizeof(struct once), .decide = once_decide,
        .job_submitted = once_submitted,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[JOBS];
    struct world world = { 0 };

    (void)state;
    world_random_jobs(9, job, JOBS);
    for (uint32_t i = 0; i < JOBS; i++)     /* time 0 is last_ns at first */
        job[i].submit_s++;
    assert_true(world_trace(&world, 2, 8, job, JOBS, "[fcfs]"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    world_close(&world);
}

/* A walk over the jobs that have not ended finds those that a look at each job finds. */
static void walk_decide(void *self, struct cs_host *host)
{
    uint32_t *most = self, next = host_next_job(host, 0);

    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
    for (uint32_t j = 0; j < host_jobs_submitted(host); j++) {
        if (host_job_ended(host, j))
            continue;
        assert_int_equal(next, j);
        next = host_next_job(host, j + 1);
        *most = j > *most ? j : *most;
    }
    assert_int_equal(next, ID_NONE);
}

/* Jobs by the thousand, of which a few are long: pages are forgotten before, between and
 * behind those that are known. */
static void a_walk_over_jobs_misses_none(void **state)
{
    enum { MANY = 2600 };
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "walk", .summary = "looks at all jobs",
        .self_bytes = sizeof(uint32_t), .decide = walk_decide,
    };
    struct host_policy policy = world_policy(&table);
    static struct world_job job[MANY];
    struct world world = { 0 };

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        job[i] = (struct world_job){ 3 * i + 1, i == 700 || i == 1900 ? 2000 : 2, 1, 0, 0 };
    assert_true(world_trace(&world, 1, 8, job, MANY, "[fcfs]"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    assert_true(job[700].end_s == 3 * 700 + 1 + 2000);
    world_close(&world);
}

static void preemption_costs_what_its_key_says(void **state)
{
    /* The second job is shorter and takes all GPUs at 10; the first goes on
     * at 20 with 90 s left, pays 30 s for its 8 GPUs first, ends at 140. */
    struct world_job job[2] = { { 0, 100, 8, 0, 0 }, { 10, 10, 8, 0, 0 } };
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(
        &world, 1, 8, job, 2,
        "[{policy: srtf, placement: count, preemption: {cost: {1gpu: 7s, "
        "8gpu: 30s, more: 60s}}}]"));
    assert_true(world_run(&world, 0, NULL, job, &result));
    assert_true(job[1].end_s == 20);
    assert_true(job[0].end_s == 140);
    assert_true(result.value[METRIC_PREEMPTIONS] == 1);
    world_close(&world);
}

static void rounds_decide_only_at_their_boundaries(void **state)
{
    struct world_job job[3] = { { 1, 10, 8, 0, 0 }, { 2, 10, 8, 0, 0 },
                                { 95, 10, 8, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(
        &world, 1, 8, job, 3,
        "[{policy: fcfs, placement: count, rounds: {length: 60s}}]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_true(job[0].start_s == 60 && job[0].end_s == 70);
    assert_true(job[1].start_s == 120);
    assert_true(job[2].start_s == 180);
    world_close(&world);
}

/* The first decision, at 1 s, is the last one until 1,921 s, unless nothing runs when the last
 * job comes.  a ends at 101 s; b is not the last to come, and c is. */
static void the_last_arrival_begins_a_round_where_nothing_runs(void **state)
{
    static const char policy[] = "[{policy: fcfs, placement: count, rounds: {length: 360s, "
                                 "resolve_at_most_every: 1920s, end_early: true}}]";
    struct world_job two[2] = { { 1, 100, 2, 0, 0 }, { 500, 50, 1, 0, 0 } };
    struct world_job three[3] = { { 1, 100, 2, 0, 0 }, { 500, 50, 1, 0, 0 }, { 900, 9, 1, 0, 0 } };
    struct world world = { 0 }, more = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 2, two, 2, policy));
    assert_true(world_run(&world, 0, NULL, two, NULL));
    assert_true(two[0].start_s == 1 && two[0].end_s == 101);
    assert_true(two[1].start_s == 500);
    world_close(&world);
    assert_true(world_trace(&more, 1, 2, three, 3, policy));
    assert_true(world_run(&more, 0, NULL, three, NULL));
    assert_true(three[1].start_s == 900 && three[2].start_s == 900);
    world_close(&more);
}

/* What owners asked for: 50 and 40 s. */
static void estimates_decide(void *self, struct cs_host *host)
{
    (void)self;
    while (cs_pending_count(host) > 0) {
        const struct cs_task *task = cs_task(host, cs_pending(host, 0));
        assert_int_equal(task->role, 0);
        assert_int_equal(task->estimate_ns, (task->job.i == 0 ? 50 : 40) * CLOCK_NS_PER_S);
        assert_int_equal(cs_start(host, cs_pending(host, 0)), CS_DONE);
    }
}

static void the_role_of_a_job_of_known_length_is_estimated_by_its_owner(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "reads",
        .summary = "reads estimates", .flags = CS_PER_PHASE, .decide = estimates_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job[2];
    struct world world = { 0 };

    (void)state;
    policy.rules.estimate = HOST_REQUESTED;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,limit\n0,0,10,1,50\n1,5,30,1,40\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, "
                    "count: 1, gpus: {type: generic, count: 2}}]}\nworkload: {trace: {file: "
                    "jobs.csv, format: csv, origin: file, estimate: requested, columns: {job: "
                    "job, submit: submit, duration: duration, gpus: gpus, limit: limit}}}\n"
                    "policies: [fcfs]\n") ||
        !world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s == 10 && job[1].end_s == 35);
    world_close(&world);
}

static void a_timeline_changes_no_result(void **state)
{
    struct world_job job[2] = { { 0, 100, 8, 0, 0 }, { 10, 60, 8, 0, 0 } };
    struct trial_tables tables = { .timeline_step_ns = 3600000000000 };
    struct trial_result plain, sampled;
    struct world world = { 0 };
    size_t bytes;

    (void)state;
    assert_true(world_trace(&world, 1, 8, job, 2, "[fcfs]"));
    assert_true(world_run(&world, 0, NULL, NULL, &plain));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    tables.timeline = table_new(csv_timeline.columns, csv_timeline.count);
    assert_true(trial_run(&spec, &tables, &sampled, &world.err));
    assert_memory_equal(plain.value, sampled.value, sizeof plain.value);
    assert_int_equal(sampled.end_ns, 160 * CLOCK_NS_PER_S);
    assert_true(sampled.value[METRIC_GPU_ALLOCATED] == 1);
    /* One interval, cut where the run ended: all GPUs were held in it. */
    assert_non_null(strstr(table_bytes(tables.timeline, &bytes),
                           ",0,0,n,8,8,8,"));
    table_free(tables.timeline);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fcfs_strict_agrees_with_the_oracle),
        cmocka_unit_test(fcfs_skip_agrees_with_the_oracle),
        cmocka_unit_test(sjf_agrees_with_the_oracle),
        cmocka_unit_test(srtf_agrees_with_the_oracle),
        cmocka_unit_test(easy_agrees_with_the_oracle),
        cmocka_unit_test(fcfs_never_overtakes_under_any_placement),
        cmocka_unit_test(scaling_all_times_scales_all_ends),
        cmocka_unit_test(a_table_with_nothing_but_a_name_is_fcfs),
        cmocka_unit_test(a_policy_that_is_wrong_changes_nothing_but_counters),
        cmocka_unit_test(what_the_table_does_not_claim_is_not_allowed),
        cmocka_unit_test(nodes_that_are_named_have_what_the_job_may_have),
        cmocka_unit_test(a_job_moves_to_the_nodes_that_are_named),
        cmocka_unit_test(a_policy_that_fails_ends_the_trial_with_its_reason),
        cmocka_unit_test(a_run_in_which_no_decision_comes_to_anything_ends),
        cmocka_unit_test(decisions_in_vain_between_jobs_are_told_of_without_a_job),
        cmocka_unit_test(a_run_in_which_all_stops_are_in_vain_ends),
        cmocka_unit_test(a_stop_in_vain_names_the_phase_that_keeps_nothing),
        cmocka_unit_test(a_table_says_which_member_is_wrong),
        cmocka_unit_test(limits_of_a_parameter_are_numbers_in_order),
        cmocka_unit_test(what_others_call_a_policy_is_translated),
        cmocka_unit_test(the_policy_is_asked_once_an_instant_after_all_news),
        cmocka_unit_test(a_walk_over_jobs_misses_none),
        cmocka_unit_test(preemption_costs_what_its_key_says),
        cmocka_unit_test(rounds_decide_only_at_their_boundaries),
        cmocka_unit_test(the_last_arrival_begins_a_round_where_nothing_runs),
        cmocka_unit_test(the_role_of_a_job_of_known_length_is_estimated_by_its_owner),
        cmocka_unit_test(a_timeline_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
