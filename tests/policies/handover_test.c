/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handover_test.c - another policy takes over in the middle of a run: what came before
 * is the same, all jobs are done, and one that takes over before the first job does what
 * it does alone.
 *
 * The oracle is the trial of one policy alone.  All trials are audited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/table.h"

/* Whole jobs at 1.5 times the load: the queue is never empty for long. */
static const char whole[] =
    "experiment: x\nseeds: 2\nuntil: drained\n"
    "cluster: {nodes: [{name: n, count: 4, gpus: {type: generic, count: 8}}]}\n"
    "workload: {arrival: {process: poisson, rate: 40/h}, jobs: 120, mix: ["
    "{recipe: trace, name: s, share: 5, gpus: 2, duration: {exponential: {mean: 20min}}}, "
    "{recipe: trace, name: m, share: 3, gpus: 8, duration: {exponential: {mean: 1h}}}, "
    "{recipe: trace, name: l, share: 1, gpus: 16, duration: {exponential: {mean: 2h}}}]}\n"
    "policies: [fcfs]\n";

#define ROLES(start) \
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: " \
    start "}, train: {gpus: 8, min: 4, max: 16, types: [a100-80, l40s], " \
    "start: " start "}, data: {cores: 40}"
static const char phases[] =
    "experiment: x\nseeds: 2\nuntil: drained\n"
    "cluster: models/clusters/mixed_64.yaml\n"
    "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 30, mix: ["
    "{recipe: dpo, name: dpo, share: 2, model: qwen2.5-7b, method: lora, "
    "recompute: full, zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, "
    "response: {mean: 200, cv: 1, max: 1024}, reward: {on: cpu, core_time: "
    "100ms}, steps: {uniform: [10, 40]}, " ROLES("wake") "}, "
    "{recipe: grpo, name: grpo, share: 1, model: llama-2-13b, method: lora, "
    "recompute: full, zero: 2, prompts: 32, prompt_tokens: 256, response: "
    "{mean: 300, cv: 1, max: 1024}, reward: {on: cpu, core_time: 100ms}, "
    "steps: 12, " ROLES("process") "}, "
    "{recipe: lora, name: lora, model: llama-3.1-8b, recompute: full, batch: 64, sequence: "
    "2048, micro_batch: 1, steps: {uniform: [20, 100]}, train: {gpus: 4, min: 2, max: 8, "
    "types: [l40s, a100-80]}}]}\n"
    "policies: [dynamic]\n";

struct world {
    struct arena *arena;
    const struct experiment *experiment;
};

/* What a trial came to: all rows of its jobs, and more. */
struct seen {
    char *jobs, *decisions;
    struct trial_result result;
};

static struct world open_world(const char *text)
{
    struct experiment_options options = { .text = text };
    struct world world = { .arena = arena_new(0) };
    struct err err = { 0 };

    world.experiment = experiment_read(world.arena, "x.yaml", &options, &err);
    if (world.experiment == NULL)
        fail_msg("%s", err.text);
    return world;
}

static const struct host_policy *read_entry(const struct world *world, const char *text)
{
    struct err err = { 0 };
    const struct conf_node *node = conf_parse(world->arena, "entry", text, strlen(text), &err);
    const struct host_policy *policy = node == NULL ? NULL
        : host_policy_read(world->arena, node, &err);

    if (policy == NULL)
        fail_msg("%s: %s", text, err.text);
    return policy;
}

static char *copy_rows(const struct table *table)
{
    size_t bytes;
    const char *text = table_bytes(table, &bytes);
    char *out = calloc(bytes + 1, 1);

    memcpy(out, text, bytes);
    return out;
}

/* Runs `from`, and from then_ns on `to`; NULL: `from` alone.  The rows call it "x". */
static struct seen run(const struct world *world, uint32_t seed, const struct host_policy *from,
                       int64_t then_ns, const struct host_policy *to)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, seed);
    struct trial_tables tables = {
        .jobs = table_new(csv_jobs.columns, csv_jobs.count),
        .decisions = table_new(csv_decisions.columns, csv_decisions.count),
        .tenants = table_new(csv_tenants.columns, csv_tenants.count),
    };
    struct host_policy policy = *from;
    struct seen seen = { 0 };
    struct err err = { 0 };

    policy.name = "x";
    policy.then = to;
    policy.then_ns = then_ns;
    spec.policy = &policy;
    spec.by_host = spec.audit_full = true;
    if (!trial_run(&spec, &tables, &seen.result, &err))
        fail_msg("%s, then %s at %lld: %s; %s", from->policy->name,
                 to == NULL ? "-" : to->policy->name, (long long)then_ns, err.text, err.hint);
    seen.jobs = copy_rows(tables.jobs);
    seen.decisions = copy_rows(tables.decisions);
    table_free(tables.jobs);
    table_free(tables.decisions);
    table_free(tables.tenants);
    return seen;
}

static void forget(struct seen *seen)
{
    free(seen->jobs);
    free(seen->decisions);
}

static bool takes_over(const struct host_policy *from, const struct host_policy *to)
{
    return (to->policy->flags & CS_TAKES_OVER) &&
           !((from->policy->flags & CS_PER_PHASE) && !(to->policy->flags & CS_PER_PHASE));
}

/* An entry of each policy that may take over; some need keys. */
static const char *entry_of(const char *name)
{
    static char text[96];

    if (strcmp(name, "learned") == 0)
        return "{policy: learned, weights: policies/weights/dpo.yaml}";
    if (strcmp(name, "static") == 0 || strcmp(name, "hrrn") == 0)
        snprintf(text, sizeof text, "{policy: %s, blocking: skip}", name);
    else
        snprintf(text, sizeof text, "{policy: %s}", name);
    return text;
}

#define ENTRIES 64u
struct entries {
    const struct host_policy *item[ENTRIES];
    size_t count;
};

/* Returns those that may take over, and three that may only go before. */
static struct entries read_entries(const struct world *world)
{
    static const char *const more[] = {
        "{policy: sjf, blocking: commit, backfill: true}",
        "{policy: dlas}", "{policy: gittins}" };
    struct entries all = { .count = 0 };

    for (size_t i = 0; registry_at(i) != NULL; i++)
        if (registry_at(i)->flags & CS_TAKES_OVER)
            all.item[all.count++] = read_entry(world, entry_of(registry_at(i)->name));
    assert_true(all.count > 20);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        all.item[all.count++] = read_entry(world, more[i]);
    return all;
}

/* At a time before the first arrival, so that jobs and decisions are those of the second
 * alone. */
static void before_the_first_job_it_is_as_alone_in(const char *text)
{
    struct world world = open_world(text);
    struct entries all = read_entries(&world);

    for (size_t b = 0; b < all.count; b++) {
        struct seen alone = run(&world, 0, all.item[b], 0, NULL);

        for (size_t a = b % 3; a < all.count; a += 3) {
            if ((a + b) % 3 != 0 || !takes_over(all.item[a], all.item[b]))
                continue;
            struct seen seen = run(&world, 0, all.item[a], 1, all.item[b]);

            if (strcmp(seen.jobs, alone.jobs) != 0 ||
                strcmp(seen.decisions, alone.decisions) != 0)
                fail_msg("%s after %s is another", all.item[b]->policy->name,
                         all.item[a]->policy->name);
            forget(&seen);
        }
        forget(&alone);
    }
    arena_free(world.arena);
}

static void before_the_first_job_it_is_as_alone(void **state)
{
    (void)state;
    before_the_first_job_it_is_as_alone_in(whole);
    before_the_first_job_it_is_as_alone_in(phases);
}

/* Policies that keep nothing of jobs, and whose order stands still. */
static void one_that_begins_again_goes_on_as_before_in(const char *text)
{
    static const char *const name[] = {
        "fcfs", "sjf", "ljf", "f1", "edf", "srtf", "srsf", "fewest-gpus", "easy", "drf",
        "quota", "static", "dynamic", "elastic-hybrid", "learned", "advised" };
    struct world world = open_world(text);

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const struct host_policy *policy = read_entry(&world, entry_of(name[i]));
        struct seen alone = run(&world, 0, policy, 0, NULL);
        int64_t end_ns = alone.result.end_ns;

        for (int k = 1; k < 6; k++) {
            struct seen seen = run(&world, 0, policy, end_ns / 6 * k, policy);

            if (strcmp(seen.jobs, alone.jobs) != 0)
                fail_msg("%s is another after %d of 6", name[i], k);
            forget(&seen);
        }
        forget(&alone);
    }
    arena_free(world.arena);
}

static void one_that_begins_again_goes_on_as_before(void **state)
{
    (void)state;
    one_that_begins_again_goes_on_as_before_in(whole);
    one_that_begins_again_goes_on_as_before_in(phases);
}

/* Returns how many bytes of the rows were decided before a time: their fourth column. */
static size_t bytes_before(const char *rows, int64_t at_ns)
{
    const char *line = rows;
    double t_s;

    while (*line != '\0' && sscanf(line, "%*[^,],%*[^,],%*[^,],%lf", &t_s) == 1 &&
           t_s < 1e-9 * (double)at_ns - 1e-6)
        line = strchr(line, '\n') + 1;
    return (size_t)(line - rows);
}

/* Each takes over from a third of the others: all jobs are done, all checks of the audit hold,
 * and the past is the same. */
static void two_share_the_past_and_do_all_jobs_in(const char *text)
{
    struct world world = open_world(text);
    struct entries all = read_entries(&world);
    unsigned others = 0, tried = 0;

    for (size_t a = 0; a < all.count; a++) {
        struct seen alone = run(&world, 1, all.item[a], 0, NULL);

        for (size_t b = 0; b < all.count; b++) {
            int64_t at_ns = alone.result.end_ns / 16 * (int64_t)(1 + (a + b) % 12);

            if ((a + b) % 3 != 0 || !takes_over(all.item[a], all.item[b]))
                continue;
            struct seen seen = run(&world, 1, all.item[a], at_ns, all.item[b]);
            size_t past = bytes_before(alone.decisions, at_ns);

            assert_true(seen.result.value[METRIC_JOBS_DONE] ==
                        alone.result.value[METRIC_JOBS_DONE]);
            assert_true(past > 0 && bytes_before(seen.decisions, at_ns) == past);
            assert_memory_equal(seen.decisions, alone.decisions, past);
            others += strcmp(seen.jobs, alone.jobs) != 0;
            tried++;
            forget(&seen);
        }
        forget(&alone);
    }
    assert_true(others > tried / 2);
    arena_free(world.arena);
}

static void two_share_the_past_and_do_all_jobs(void **state)
{
    (void)state;
    two_share_the_past_and_do_all_jobs_in(whole);
    two_share_the_past_and_do_all_jobs_in(phases);
}

static void one_that_comes_after_the_end_changes_nothing(void **state)
{
    struct world world = open_world(phases);
    const struct host_policy *from = read_entry(&world, "{policy: static, blocking: skip}");
    const struct host_policy *to = read_entry(&world, "{policy: dynamic}");
    struct seen alone = run(&world, 0, from, 0, NULL);
    struct seen seen = run(&world, 0, from, alone.result.end_ns + 1, to);

    (void)state;
    assert_int_equal(seen.result.digest, alone.result.digest);
    assert_int_equal(seen.result.end_ns, alone.result.end_ns);
    assert_memory_equal(seen.result.value, alone.result.value, sizeof seen.result.value);
    forget(&seen);
    forget(&alone);
    arena_free(world.arena);
}

static bool refuse_silently(void *self, struct cs_host *host)
{
    (void)self, (void)host;
    return false;
}

static bool refuse_aloud(void *self, struct cs_host *host)
{
    (void)self;
    cs_fail(host, "finds no prices");
    return false;
}

static void decide_nothing(void *self, struct cs_host *host)
{
    (void)self, (void)host;
}

/* A policy that cannot begin ends the trial when it takes over, for its own reason if it gives
 * one. */
static void one_that_cannot_begin_ends_the_trial(void **state)
{
    static const char *const why[] = { "policy refuses: init failed",
                                       "policy refuses: finds no prices" };
    struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "refuses", .summary = "cannot begin", .decide = decide_nothing,
    };
    struct world world = open_world(whole);
    struct host_policy from = *read_entry(&world, "fcfs"), to = from;

    (void)state;
    from.name = to.name = "x";
    to.policy = &table;
    from.then = &to;
    from.then_ns = 3600 * CLOCK_NS_PER_S;
    for (int i = 0; i < 4; i++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
        struct trial_tables none = { 0 };
        struct trial_result result;
        struct err err = { 0 };

        table.init = i % 2 == 0 ? refuse_silently : refuse_aloud;
        table.flags = i < 2 ? 0 : CS_PER_PHASE;
        spec.policy = &from;
        spec.by_host = true;
        assert_false(trial_run(&spec, &none, &result, &err));
        if (strstr(err.text, why[i % 2]) == NULL)
            fail_msg("%s", err.text);
    }
    arena_free(world.arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_job_it_is_as_alone),
        cmocka_unit_test(one_that_begins_again_goes_on_as_before),
        cmocka_unit_test(two_share_the_past_and_do_all_jobs),
        cmocka_unit_test(one_that_comes_after_the_end_changes_nothing),
        cmocka_unit_test(one_that_cannot_begin_ends_the_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
