/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_places_test.c - keys of a policy that divide the pools: what has a place there runs, and
 * `validate` refuses the rest.  Each world is tried both ways.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/preflight/places.h"
#include "tests/aid/world.h"

#define NODE(NAME, TYPE, GPUS) \
    "    - {name: " NAME ", gpus: {type: " TYPE ", count: " GPUS "}, cpu: {type: epyc-7742, " \
    "sockets: 2}, memory: 1TB}\n"
#define TRACE(GPUS, MORE) "  mix:\n    - {recipe: trace, gpus: " GPUS ", duration: 100s" MORE "}\n"
#define GRPO(ROLES) \
    "  mix:\n    - {recipe: grpo, model: qwen2.5-0.5b, prompts: 16, prompt_tokens: 200, " \
    "response: {mean: 100, cv: 1, max: 512}, steps: 2, " ROLES "}\n"
#define INFER(GPUS) \
    "  mix:\n    - {recipe: batch-infer, model: qwen2.5-0.5b, prompts: 256, prompt_tokens: 300, " \
    "response: {mean: 100, cv: 1, max: 512}, steps: 3, infer: {gpus: " GPUS "}}\n"

struct told {
    uint32_t count;
    char text[4][256];
};

static void tell(void *self, const struct err *err)
{
    struct told *told = self;

    assert_true(told->count < 4);
    snprintf(told->text[told->count++], sizeof told->text[0], "%s", err->text);
}

/* Opens a world and asks for places.  Returns the mean JCT; said: NULL, or what is told of it, and
 * then nothing runs. */
static double try_world(const char *nodes, const char *workload, const char *policy,
                        const char *said)
{
    struct world world = { 0 };
    struct told told = { 0 };
    struct trial_result r = { 0 };
    char text[4096];
    int n = snprintf(text, sizeof text, "experiment: keys\ncluster:\n  nodes:\n%sworkload:\n"
                     "  arrival: {process: all_at_once}\n  jobs: 2\n%spolicies: [%s]\n", nodes,
                     workload, policy);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    assert_int_equal(places_check(world.arena, world.experiment, tell, &told), said != NULL);
    if (said != NULL && strstr(told.text[0], said) == NULL)
        fail_msg("%s", told.text[0]);
    bool done = world_run(&world, 0, NULL, NULL, &r) && r.value[METRIC_JOBS_DONE] == 2;
    if (done != (said == NULL))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
    return done ? r.value[METRIC_JCT_MEAN] : NAN;
}

/* Four GPUs are owned, four in the cloud. */
static void starburst_starts_a_job_in_one_of_two_parts(void **state)
{
    static const char nodes[] = NODE("own", "a100-80", "4") NODE("cloud", "a100-80", "4");

    (void)state;
    try_world(nodes, TRACE("4", ""), "starburst", NULL);
    try_world(nodes, TRACE("6", ""), "starburst",
              "in pool cloud alone or outside it (key cloud): it asks for 6 GPUs, and there are 4");
    try_world(nodes, GRPO("rollout: {gpus: 2}, train: {gpus: 2}"), "starburst", NULL);
    try_world(nodes, GRPO("rollout: {gpus: 4}, train: {gpus: 4}"), "starburst",
              "in pool cloud alone or outside it (key cloud)");
}

/* Rollouts borrow in `serve`, on two GPUs at least; all else stays outside. */
static void harvest_lends_to_rollouts_alone(void **state)
{
    static const char nodes[] = NODE("own", "a100-80", "4") NODE("serve", "a100-80", "8");
    static const char policy[] = "harvest";

    (void)state;
    try_world(nodes, GRPO("rollout: {gpus: 8}, train: {gpus: 4}"), policy, NULL);
    try_world(nodes, GRPO("rollout: {gpus: 12, min: 2}, train: {gpus: 4}"), policy, NULL);
    try_world(nodes, GRPO("rollout: {gpus: 12}, train: {gpus: 4}"), policy,
              "in pool serve alone or outside it (key from): it asks for 12 GPUs, and there are 8");
    try_world(nodes, TRACE("4", ""), policy, NULL);
    try_world(nodes, TRACE("8", ""), policy,
              "outside pool serve (key from): it asks for 8 GPUs, and there are 4");
    try_world(nodes, TRACE("1", ", role: {pool: serve}"), policy,
              "outside pool serve (key from): it asks for 1 GPUs, and there are 0");
}

/* The gang may lie in two of three pools.  It does as if the third had other GPUs. */
static void a_gang_may_lie_in_some_of_the_pools_of_its_type(void **state)
{
    static const char own[] = NODE("a", "a100-80", "4") NODE("b", "a100-80", "4");
    char alike[1024], other[1024];

    (void)state;
    snprintf(alike, sizeof alike, "%s%s", own, NODE("serve", "a100-80", "2"));
    snprintf(other, sizeof other, "%s%s", own, NODE("serve", "l40s", "2"));
    double alike_s = try_world(alike, INFER("8, types: [a100-80]"), "harvest", NULL);
    double other_s = try_world(other, INFER("8, types: [a100-80]"), "harvest", NULL);
    assert_true(other_s > 0);
    assert_true(alike_s == other_s);
}

/* A replica stands in the pool of the services, which needs GPUs of its type. */
static void harvest_has_replicas_in_one_pool(void **state)
{
    static const char workload[] =
        TRACE("1", ", role: {types: [a100-80]}")
        "  services:\n    - {name: chat, model: qwen2.5-0.5b, gpu: {tp: 1, types: [l40s]}, "
        "replicas: {min: 1, max: 1}, batch: 16, requests: {arrival: {process: poisson, rate: "
        "0.2/s}, prompt: {constant: 300}, output: {constant: 100}, for: 10min}}\n";

    (void)state;
    try_world(NODE("own", "a100-80", "1") NODE("serve", "l40s", "1"), workload, "harvest", NULL);
    try_world(NODE("own", "a100-80", "1") NODE("serve", "a100-80", "1") NODE("c", "l40s", "1"),
              workload, "harvest", "role gpu of chat has no place under policy harvest in pool "
              "serve (key from): it asks for 1 GPUs, and there are 0");
}

/* Lengths are known on three GPUs alone, though the policies start other jobs on fewer. */
static void jobs_of_one_size_have_rates_there_alone(void **state)
{
    static const char *const policy[] = { "advised", "sia", "las" };

    (void)state;
    for (int i = 0; i < 3; i++)
        try_world(NODE("a", "a100-80", "4"), TRACE("3", ", rates: {a100-80: 1}"), policy[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starburst_starts_a_job_in_one_of_two_parts),
        cmocka_unit_test(harvest_lends_to_rollouts_alone),
        cmocka_unit_test(a_gang_may_lie_in_some_of_the_pools_of_its_type),
        cmocka_unit_test(harvest_has_replicas_in_one_pool),
        cmocka_unit_test(jobs_of_one_size_have_rates_there_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
