/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * standstill_test.c - runs in which nothing is at work and tasks wait: the host makes room for one
 * of them, and what has no room at all is told before.
 *
 * PUE is 1.  A node of eight A100 and two EPYC 7742 stands by with 2,212 W, one of a single A100
 * with 501 W (models/cluster/power.c); each GPU adds 337 W at full load.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/preflight/places.h"
#include "tests/aid/world.h"

#define NODE(NAME, COUNT, GPUS, KEYS) "{name: " NAME ", count: " COUNT ", gpus: {type: a100-80, " \
    "count: " GPUS "}, cpu: {type: epyc-7742, sockets: 2}, memory: 2TB" KEYS "}"
#define RENT ", rent: {start: 100s, keep: 60s}"
#define TRACE(GPUS) "{recipe: trace, gpus: " GPUS ", duration: 100s}"
#define STEPS(ROLLOUT, TRAIN) "{recipe: dpo, model: qwen2.5-1.5b, method: lora, steps: 3, " \
    "prompts: 64, prompt_tokens: 200, response: {mean: 200, cv: 1, max: 1000}, rollout: {" \
    ROLLOUT "}, train: {" TRAIN "}}"

struct told {
    char text[300];             /* the first */
    uint32_t count;
};

static void tell(void *self, const struct err *err)
{
    struct told *told = self;

    if (told->count++ == 0)
        snprintf(told->text, sizeof told->text, "%s", err->text);
}

/* Runs one job of that kind; returns what was told of it before.  *runs: does it end? */
static struct told try_run(const char *nodes, const char *keys, const char *kind,
                           const char *policy, bool *runs, struct world_job *job)
{
    struct world world = { .vain_max = 10000 };
    struct told told = { .count = 0 };
    char text[3000];

    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [%s], "
             "pue: 1%s}\nworkload: {arrival: {process: all_at_once}, jobs: 1, mix: [%s]}\n"
             "policies: [%s]\n", nodes, keys, kind, policy);
    *runs = world_open(&world, text);
    if (*runs) {
        places_check(world.arena, world.experiment, tell, &told);
        *runs = world_run(&world, 0, NULL, job, NULL);
    } else
        tell(&told, &world.err);        /* it is refused under any policy */
    world_close(&world);
    return told;
}

/* As try_run(); fails unless the run ends well (`runs`), or does not. */
static struct told run(const char *nodes, const char *keys, const char *kind, const char *policy,
                       bool runs, struct world_job *job)
{
    bool ends;
    struct told told = try_run(nodes, keys, kind, policy, &ends, job);

    if (ends != runs)
        fail_msg("%s: told %u: %s", policy, told.count, told.text);
    return told;
}

/* 9 GPUs are 2212 + 501 + 9 x 337 = 5746 W on a node of eight and one of one, and more on two of
 * eight.  Under 5745 W that is told.  Under 5746 W nodes of the first group, where the gang fits,
 * lack power: after 600 s and twice the 100 s that a node takes to come, those of the place do. */
static void a_gang_gets_the_nodes_that_the_cap_allows(void **state)
{
    const char *nodes = NODE("a", "2", "8", RENT) ", " NODE("b", "1", "1", RENT);
    struct world_job job[1];

    (void)state;
    struct told told = run(nodes, ", power_cap: 5745W", TRACE("9"), "fcfs", false, job);
    assert_int_equal(told.count, 1);
    assert_non_null(strstr(told.text, "draws at least 5746 W, and power_cap is 5745 W"));
    told = run(nodes, ", power_cap: 5746W", TRACE("9"), "fcfs", true, job);
    assert_int_equal(told.count, 0);
    assert_true(job[0].start_s == 900 && job[0].end_s == 1000);
}

/* Four GPUs each of pool p, with fewer cores, and of q are owned, and q rents a node of four.  Six
 * GPUs are free at once, but in two pools, and synergy wants one.  At 600 s + 2 x 100 s the host
 * finds that the place of six is here already, and orders the node of the place in one pool. */
static void a_policy_gets_its_nodes_in_one_pool(void **state)
{
    struct world_job job[1];
    struct told told = run(NODE("a", "1", "4", ", cores: 16, pool: p") ", "
                           NODE("b", "1", "4", ", pool: q" RENT) ", "
                           NODE("c", "1", "4", ", pool: q"), "", TRACE("6"), "synergy", true, job);

    (void)state;
    assert_int_equal(told.count, 0);
    assert_true(job[0].start_s == 900 && job[0].end_s == 1000);
}

/* Two owned nodes of eight GPUs and of one stand by with 2713 W.  The rollout on three GPUs adds
 * 1011 W, and while its lease is idle, the 1011 W of the training go beyond 4.7 kW.  Policies that
 * leave idle leases to the host get them back. */
static void an_idle_lease_gives_its_power_back(void **state)
{
    static const char *const policy[] = { "{policy: harvest, from: p}", "hybrid", "dynamic" };

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        struct world_job job[1];
        struct told told = run(NODE("n", "1", "8", "") ", " NODE("p", "1", "1", ""),
                               ", power_cap: 4700W", STEPS("gpus: 3", "gpus: 3"), policy[p], true,
                               job);
        assert_int_equal(told.count, 0);
        assert_true(job[0].end_s > 0);
    }
}

/* The rollout may use both pools, and would take a, which is the only one that the training may
 * use. */
static void a_role_leaves_the_only_pool_of_another(void **state)
{
    static const char *const policy[] = { "fcfs", "static", "conservative", "easy", "las", "drf" };
    const char *nodes = NODE("a", "1", "4", "") ", " NODE("b", "1", "8", "");

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        struct world_job job[1];
        struct told told = run(nodes, "", STEPS("gpus: 4", "gpus: 4, pool: a"), policy[p], true,
                               job);
        assert_int_equal(told.count, 0);
        assert_true(job[0].start_s == 0);
        told = run(nodes, "", STEPS("gpus: 9", "gpus: 4, pool: a"), policy[p], false, job);
        assert_int_equal(told.count, 1);
    }
}

/* Two GPUs on one of two rented nodes are 2212 + 2 x 337 = 2886 W, and one on each 5098 W.  Where
 * the rule spreads, the job has one node to run on, and no other comes. */
static void a_rule_that_spreads_has_fewer_nodes(void **state)
{
    struct world_job job[1];
    const char *policy = "{policy: fcfs, placement: spread}";

    (void)state;
    struct told told = run(NODE("a", "2", "8", RENT), ", power_cap: 2886W", TRACE("2"), policy,
                           true, job);
    assert_int_equal(told.count, 0);
    assert_true(job[0].start_s == 100 && job[0].end_s == 200);
    told = run(NODE("a", "2", "8", RENT), ", power_cap: 2885W", TRACE("2"), policy, false, job);
    assert_int_equal(told.count, 1);
}

#define H100 "{name: h, count: 1, gpus: {type: h100, count: 4}, cpu: {type: epyc-7742, sockets: " \
    "2}, memory: 2TB}"

/* Under any cap a job runs if and only if nothing was told of it before. */
static void what_is_told_does_not_run_and_else_it_runs(void **state)
{
    static const struct { const char *nodes, *kind, *policy; int from_w, to_w; } row[] = {
        /* A node that is kept stands by whatever the place. */
        { H100 ", " NODE("a", "1", "4", "") ", " NODE("b", "1", "1", ", rent: {start: 100s, keep: "
          "60s, min: 1}"), TRACE("3"), "fcfs", 2900, 5600 },
        /* Roles together, over owned nodes and a part of each rented group. */
        { NODE("a", "3", "4", RENT) ", " NODE("b", "1", "2", "") ", " NODE("c", "2", "2", RENT),
          STEPS("gpus: 5", "gpus: 3"), "static", 2500, 8500 },
        /* Owned GPUs of another type draw less than those that stand first. */
        { H100 ", " NODE("a", "1", "8", ", rent: {start: 100s, keep: 60s, spare: 1}"), TRACE("4"),
          "easy", 2500, 7000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int cap_w = row[i].from_w; cap_w <= row[i].to_w; cap_w += 150) {
            struct world_job job[1];
            char cap[40];
            bool runs;
            snprintf(cap, sizeof cap, ", power_cap: %dW", cap_w);
            struct told told = try_run(row[i].nodes, cap, row[i].kind, row[i].policy, &runs, job);
            if (runs != (told.count == 0))
                fail_msg("%zu, %d W: %s, told %u: %s", i, cap_w, runs ? "runs" : "stalls",
                         told.count, told.text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_gets_the_nodes_that_the_cap_allows),
        cmocka_unit_test(a_policy_gets_its_nodes_in_one_pool),
        cmocka_unit_test(an_idle_lease_gives_its_power_back),
        cmocka_unit_test(a_role_leaves_the_only_pool_of_another),
        cmocka_unit_test(a_rule_that_spreads_has_fewer_nodes),
        cmocka_unit_test(what_is_told_does_not_run_and_else_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
