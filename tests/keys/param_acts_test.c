/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * param_acts_test.c - each parameter of each policy changes the jobs of a small world.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/params.h"
#include "tests/aid/key_worlds.h"

/* Another value for every parameter, beside keys that it may need. */
static const struct {
    const char *policy, *value, *beside;
} parameter[] = {
    { "afs", "interval: 1h", "" },
    { "allox", "alpha: 20%", "" }, { "allox", "depth_max: 1", "" },
    { "co-execution", "slowdown: 8", "" }, { "co-execution", "memory: 1%", "" },
    { "co-execution", "jobs_max: 1", "slowdown: 8" },
    { "dlas", "limit_1: 60s", "" }, { "dlas", "limit_2: 4000s", "" },
    { "dlas", "demotion: tiresias", "" }, { "dlas", "service: time", "" },
    { "dlas", "promotion: 1", "limit_1: 60s" },
    { "dynamic", "lend: false", "" }, { "dynamic", "gain_min: 100", "" },
    { "dynamic", "lend_max: 0", "release_max: 0" },
    { "dynamic", "release_max: 0", "" }, { "dynamic", "owners_first: true", "" },
    { "easy", "reservation: none", "" }, { "easy", "depth_max: 1", "" },
    { "elasticflow", "slot: 5s", "" }, { "elasticflow", "slots_max: 1", "" },
    { "elasticflow", "slack: 90%", "" },
    { "gavel", "objective: makespan", "" }, { "gavel", "packing: true", "" },
    { "gavel", "round: 60s", "" },
    { "gittins", "quantum: 60s", "" },
    { "harvest", "from: train", "" }, { "harvest", "role: train", "" },
    { "harvest", "reserve: 100%", "" },
    { "hybrid", "reserve: 100%", "" },
    { "hybrid", "lend_max: 0", "release_max: 0" },
    { "hybrid", "release_max: 0", "" },
    { "las", "quantum: 30s", "" },
    { "advised", "encoder: none", ADVISED }, { "advised", "depth: 1", ADVISED },
    { "advised", "owners_first: false", ADVISED },
    { "learned", "depth_max: 1", "weights: {age: 1, gpus: 2, switch: -3}" },
    { "lucid", "packs: always", "score_max: 4" }, { "lucid", "score_max: 4", "packs: always" },
    { "lucid", "gpus_max: 1", "packs: always, score_max: 4" }, { "lucid", "profiler: b", "" },
    { "lucid", "profile: 10s", "profiler: b" },
    { "optimus", "interval: 60s", "" },
    { "pollux", "interval: 600s", "population: 8, generations: 5" },
    { "pollux", "p: -5", "population: 8, generations: 5" },
    { "pollux", "restart: 1000s", "population: 8, generations: 5" },
    { "pollux", "growth: 8", "population: 8, generations: 5" },
    { "pollux", "population: 16", "generations: 5" },
    { "pollux", "generations: 9", "population: 8" },
    { "pollux", "depth: 1", "population: 8, generations: 5" },
    { "pollux", "climb: 0", "population: 8, generations: 5" },
    { "quota", "quotas: \"x=4 y=20 z=4\"", "" },
    { "quota", "borrow: false", "quotas: \"x=12 y=12 z=4\"" },
    { "quota", "reclaim: false", "quotas: \"x=12 y=12 z=4\"" },
    { "shockwave", "round: 600s", "" }, { "shockwave", "window: 2", "" },
    { "shockwave", "k: 0", "" }, { "shockwave", "lambda: 1", "" },
    { "shockwave", "rho_max: 30", "" },
    { "sia", "interval: 600s", "" }, { "sia", "p: -5", "" },
    { "sia", "idle: 0", "" }, { "sia", "restart: 1000s", "" },
    { "sia", "growth: 8", "" }, { "sia", "depth: 1", "" },
    { "sia", "nodes_max: 1", "" },
    { "spot-rollout", "spot: rollout", "" }, { "spot-rollout", "role: train", "" },
    { "spot-rollout", "reserved: rollout", "" },
    { "starburst", "cloud: a", "cloud: b" }, { "starburst", "wait: none", "cloud: b" },
    { "starburst", "budget: 1min", "cloud: b, wait: constant" },
    { "starburst", "factor: 10", "cloud: b" },
    { "static", "share_max: 10%", "" },
    { "synergy", "loss: 50%", "" }, { "synergy", "cores_max: 2", "" },
    { "themis", "lease: 60s", "" }, { "themis", "f: 10%", "" },
    { "themis", "sizes_max: 1", "" },
    { "time-slice", "quantum: 600s", "" }, { "time-slice", "packing: true", "" },
    { "unicef", "wait: unset", "" }, { "wfp3", "wait: unset", "" },
};
#define PARAMETERS (sizeof parameter / sizeof parameter[0])

/* Not shown here: worlds in which they act are larger than these. */
static const struct {
    const char *policy, *key, *why;
} elsewhere[] = {
    { "harvest", "delay", "acts where a service wants back what is borrowed: "
      "rl_policy_test.c" },
    { "allox", "cells_max", "acts where most jobs of many are best on few GPUs: "
      "hetero_policy_test.c" },
    { "elastic-hybrid", "gain_min", "acts where another size becomes better for "
      "a lease that is held, which no test shows yet" },
};

static bool is_tried(const char *policy, const char *key)
{
    size_t bytes = strlen(key);

    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(elsewhere[i].policy, policy) == 0 &&
            strcmp(elsewhere[i].key, key) == 0)
            return true;

    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameter[i].policy, policy) == 0 &&
            strncmp(parameter[i].value, key, bytes) == 0 &&
            parameter[i].value[bytes] == ':')
            return true;
    return false;
}

static void every_parameter_acts(void **state)
{
    const struct cs_policy *policy;
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < policy->param_count; k++)
            if (!is_tried(policy->name, policy->param[k].key)) {
                print_message("%s: %s is not tried\n", policy->name,
                              policy->param[k].key);
                wrong++;
            }
    for (size_t i = 0; i < PARAMETERS; i++) {
        bool twice = strncmp(parameter[i].value, parameter[i].beside,
                             strcspn(parameter[i].value, ":") + 1) == 0;
        struct err err;
        const struct host_policy *with =
            key_entry(parameter[i].policy, twice ? "" : parameter[i].beside,
                       parameter[i].value, &err);
        const struct host_policy *without = with == NULL ? NULL :
            key_entry(parameter[i].policy, parameter[i].beside, "", &err);

        if (without == NULL)
            fail_msg("%s, %s: %s", parameter[i].policy, parameter[i].value,
                     err.text);
        if (key_differ(without, with))
            continue;
        print_message("%s: %s changes nothing\n", parameter[i].policy,
                      parameter[i].value);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_acts),
    };
    return cmocka_run_group_tests(tests, key_worlds_open, key_worlds_close);
}
