/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walks_test.c - policies that keep lists of their own, against what they did by walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/family_aid.h"
#include "tests/aid/meets.h"
#include "tests/aid/world.h"

/* ---- policies that keep lists of their own ---- */

extern const struct cs_policy plain_conservative_policy, plain_dlas_policy,
    plain_fair_share_policy, plain_gittins_policy, plain_qssf_policy;

static void policies_do_what_they_did_by_walks(void **state)
{
    static const char *const more[] = {
        "", ", tick: 10s", ", estimate: noisy, noise: 1",
        ", estimate: requested", ", blocking: skip",
        ", rounds: {length: 30s}",
    };
    /* The parameters come first in what a policy keeps. */
    static const struct {
        int64_t time_ns[2];
        int word[2];
        int64_t count;
        char rest[500];
    } none = { { 0 }, { 0 }, 0, "" },
      limits = { { 300000000000, 900000000000 }, { 0, 0 },
                 0, "" },
      theirs = { { 300000000000, 900000000000 }, { 1, 0 },
                 0, "" },
      times = { { 300000000000, 900000000000 }, { 0, 1 }, 2,
                "" },
      knob = { { 300000000000, 900000000000 }, { 1, 0 }, 4,
               "" };
    const struct {
        const struct cs_policy *slow;
        const void *params;
        const char *fast;
    } pair[] = {
        { &plain_conservative_policy, &none, "conservative" },
        { &plain_dlas_policy, &limits, "dlas, limit_1: 300s, limit_2: 900s" },
        { &plain_dlas_policy, &theirs, "dlas, limit_1: 300s, limit_2: 900s, "
                                        "demotion: tiresias" },
        { &plain_dlas_policy, &times, "dlas, limit_1: 300s, limit_2: 900s, "
                                       "service: time, promotion: 2" },
        { &plain_dlas_policy, &knob, "dlas, limit_1: 300s, limit_2: 900s, "
                                      "demotion: tiresias, promotion: 4" },
        { &plain_fair_share_policy, &none, "fair-share" },
    };
    char text[160];

    (void)state;
    for (size_t p = 0; p < sizeof pair / sizeof *pair; p++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
                assert_true(pair[p].slow->self_bytes <= sizeof none);
                if (!world_accepts(pair[p].fast, more[m]))
                    continue;
                snprintf(text, sizeof text, "%s%s", pair[p].fast, more[m]);
                meets(pair[p].slow, pair[p].params, text, seed,
                      meets_rule[m % 5]);
                if (!(pair[p].slow->flags & CS_PREEMPTS))
                    continue;
                snprintf(text, sizeof text, "%s%s, preemption: {cost: %ds}",
                         pair[p].fast, more[m], m % 2 == 0 ? 20 : 37);
                meets(pair[p].slow, pair[p].params, text, seed,
                      meets_rule[(m + 1) % 5]);
            }
}

/* No two lengths are in a ratio of small numbers, and restarts take 41 s: where two indexes are
 * equal, as with restarts of 37 s at 222,000 s, rounding would decide. */
static void gittins_goes_by_the_index_as_it_is_defined(void **state)
{
    static const char *const more[] = {
        "", ", preemption: {cost: 41s}",
        ", rounds: {length: 30s}",
    };
    static const int64_t quantum[300] = { 600000000000 };
    char text[160];

    (void)state;
    assert_true(plain_gittins_policy.self_bytes <= sizeof quantum);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            struct world_job job[MEETS_JOBS];
            world_random_jobs(seed, job, MEETS_JOBS);
            for (uint32_t i = 0; i < MEETS_JOBS; i++) {
                job[i].submit_s *= 20;
                job[i].duration_s = 60 * job[i].duration_s + 7 * i;
            }
            snprintf(text, sizeof text, "gittins, quantum: 600s%s", more[m]);
            agrees(&plain_gittins_policy, quantum, text, seed, meets_rule[m], job);
        }
}

/* Predictions by tenant and size, by tenant, and of all: seeds have 3, 23 and 43 tenants. */
static void qssf_predicts_by_what_a_walk_over_the_ended_finds(void **state)
{
    static const char *const more[] = {
        "", ", tick: 10s", ", blocking: skip", ", rounds: {length: 30s}",
    };
    static const int64_t none[300];
    char text[160];

    (void)state;
    assert_true(plain_qssf_policy.self_bytes <= sizeof none);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            snprintf(text, sizeof text, "qssf%s", more[m]);
            if (world_accepts("qssf", more[m]))
                meets(&plain_qssf_policy, none, text, seed, meets_rule[m]);
        }
}

/* ---- co-execution ---- */

extern const struct cs_policy plain_co_execution_policy;

/* What the oracle keeps begins with the parameters. */
struct knobs {
    double slowdown, memory;
    int64_t jobs_max;
};

#define NODE(name, count, gpu, memory) \
    "{name: " name ", count: " count ", gpus: {type: " gpu ", count: 8}, cpu: {type: " \
    "epyc-7763, sockets: 2}, memory: " memory ", nics: {type: ib-hdr}, price: 20USD/h}"
#define CORES(count) \
    "{name: cpu, count: " count ", cpu: {type: epyc-7763}, memory: 256GB, nics: {type: " \
    "ethernet-100}}"
#define ROLES(from, to, gpus, more) \
    "rollout: {gpus: " gpus ", home: " from more "}, train: {gpus: 8, home: " to more \
    "}, data: {cores: 40}"
#define JOB(recipe, name, model, roles) \
    "{recipe: " recipe ", name: " name ", model: " model ", method: lora, recompute: full, " \
    "zero: 2, prompts: 32, prompt_tokens: 256, response: {mean: 250, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [1, 4]}, " roles "}"

static const char two_pools[] =
    "nodes: [" NODE("a", "3", "l40s", "384GB") ", " NODE("b", "3", "a100-80", "384GB")
    ", " CORES("1") "]";
static const char uneven[] =
    "nodes: [" NODE("a", "2", "l40s", "384GB") ", " NODE("b", "2", "a100-80", "768GB")
    ", " CORES("1") "]";
static const char three_pools[] =
    "nodes: [" NODE("a", "2", "l40s", "384GB") ", " NODE("b", "2", "a100-80", "384GB")
    ", " NODE("c", "2", "h100", "384GB") "]";

static const char mix[] =
    JOB("dpo", "dpo", "qwen2.5-7b", "pairs: 1, " ROLES("a", "b", "8", "")) ", "
    JOB("grpo", "large", "llama-2-13b", ROLES("a", "b", "16", "")) ", "
    JOB("grpo", "small", "qwen2.5-7b", ROLES("a", "b", "4", ""));
/* Pool b is the second of some jobs and the first of others; one has no two homes. */
static const char chain[] =
    JOB("grpo", "ab", "qwen2.5-7b", ROLES("a", "b", "8", "")) ", "
    JOB("grpo", "bc", "llama-2-13b", ROLES("b", "c", "8", "")) ", "
    JOB("dpo", "cb", "qwen2.5-7b", "pairs: 1, " ROLES("c", "b", "4", "")) ", "
    JOB("grpo", "any", "qwen2.5-7b", "rollout: {gpus: 4}, train: {gpus: 4}, data: {cores: 8}");

/* Opens the world in which one policy runs; false: the program does not accept it. */
static void open_world(struct world *world, const char *cluster, const char *more,
                       const char *jobs, const char *policy)
{
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "experiment: groups\nseeds: 2\nuntil: drained\ncluster: {%s%s}\n"
                     "workload: {arrival: {process: poisson, rate: 300/h}, jobs: 60, mix: "
                     "[%s]}\npolicies: [%s]\n", cluster, more, jobs, policy);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void same_text(const char *a, const char *b, const char *what, const char *where)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_true(strlen(a) > 200);
    if (strcmp(a, b) != 0)
        fail_msg("%s differ: %s", what, where);
}

static void both_have_the_same_rows(struct world *world, const struct knobs *knobs,
                                    const char *where)
{
    struct knobs *params = calloc(1, plain_co_execution_policy.self_bytes);

    assert_non_null(params);
    *params = *knobs;
    for (uint32_t t = 0; t < experiment_trial_count(world->experiment); t++) {
        struct trial_spec spec = experiment_trial_spec(world->experiment, t);
        struct host_policy plain = *spec.policy;
        struct family_run fast, slow;
        if (!family_run_spec(&spec, &fast, &world->err))
            fail_msg("%s: %s", where, world_error(world));
        plain.policy = &plain_co_execution_policy;
        plain.params = params;
        spec.policy = &plain;
        if (!family_run_spec(&spec, &slow, &world->err))
            fail_msg("the plain rule, %s: %s", where, world_error(world));
        same_text(fast.decisions, slow.decisions, "decisions", where);
        same_text(fast.phases, slow.phases, "phases", where);
        same_text(fast.jobs, slow.jobs, "jobs", where);
        family_drop(&fast);
        family_drop(&slow);
    }
    free(params);
}

static void groups_are_those_of_the_plain_rule(void **state)
{
    static const struct {
        struct knobs knobs;
        const char *policy;
    } entry[] = {
        { { 1, 0.8, 5 }, "co-execution" },
        { { 1.5, 0.12, 5 }, "{policy: co-execution, slowdown: 1.5, memory: 12%}" },
        { { 4, 0.8, 2 }, "{policy: co-execution, slowdown: 4, jobs_max: 2}" },
        { { 1, 0.08, 9 }, "{policy: co-execution, memory: 8%, jobs_max: 9, placement: spread}" },
        { { 1, 0.8, 1 }, "{policy: co-execution, jobs_max: 1, placement: random}" },
        { { 2, 0.8, 4 }, "{policy: co-execution, slowdown: 2, jobs_max: 4}" },
    };
    static const struct {
        const char *cluster, *more, *jobs;
    } place[] = {
        { two_pools, "", mix }, { uneven, "", mix }, { three_pools, "", chain },
        { two_pools, ", failures: {node_mtbf: 4h, repair: 10m, restart: 30s}", mix },
        { three_pools, ", power_cap: 34kW", chain }, { two_pools, ", power_cap: 31kW", mix },
    };
    char where[120];

    (void)state;
    for (size_t p = 0; p < sizeof place / sizeof *place; p++)
        for (size_t e = 0; e < sizeof entry / sizeof *entry; e++) {
            struct world world = { 0 };
            snprintf(where, sizeof where, "world %zu, %s", p, entry[e].policy);
            open_world(&world, place[p].cluster, place[p].more, place[p].jobs,
                       entry[e].policy);
            both_have_the_same_rows(&world, &entry[e].knobs, where);
            world_close(&world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_do_what_they_did_by_walks),
        cmocka_unit_test(qssf_predicts_by_what_a_walk_over_the_ended_finds),
        cmocka_unit_test(gittins_goes_by_the_index_as_it_is_defined),
        cmocka_unit_test(groups_are_those_of_the_plain_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
