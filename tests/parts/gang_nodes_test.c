/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gang_nodes_test.c - which nodes are rented for gangs, and that nodes which come at different
 * times wait for each other.  Times by hand: a node is there `start` after its order, and jobs of
 * known length need nothing else.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/preflight/places.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "tests/aid/world.h"
#include "workloads/source.h"

#define NODE(NAME, COUNT, GPUS, MORE) \
    "    - {name: " NAME ", count: " COUNT ", gpus: {type: a100-80, count: " GPUS "}, cpu: " \
    "{type: epyc-7742, sockets: 2}, memory: 1TB" MORE "}\n"
#define RENT(START) ", rent: {start: " START ", keep: 30s}"
#define JOB(NAME, GPUS) "    - {recipe: trace, name: " NAME ", gpus: " GPUS ", duration: 100s}\n"

static void no_error(void *self, const struct err *err)
{
    (void)self;
    fail_msg("%s", err->text);
}

static void count_error(void *self, const struct err *err)
{
    uint32_t *told = self;

    assert_non_null(strstr(err->text, "its roles start together"));
    ++*told;
}

static void no_place(void *self, const struct err *err)
{
    (void)self;
    assert_non_null(strstr(err->text, "which starts it on 4 GPUs"));
}

/* Opens an experiment for which `validate` says ok. */
static void open_world(struct world *world, const char *nodes, const char *jobs,
                       const char *mix, const char *policies)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: gangs\ncluster:\n  nodes:\n%sworkload:\n"
                     "  arrival: {process: all_at_once}\n  jobs: %s\n  mix:\n%s"
                     "policies: [%s]\n", nodes, jobs, mix, policies);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
    assert_int_equal(places_check(world->arena, world->experiment, no_error, NULL), 0);
}

/* Returns the mean JCT of one policy in one world. */
static double mean_jct(const char *nodes, const char *jobs, const char *mix, const char *policy)
{
    struct world world = { 0 };
    struct trial_result r;

    open_world(&world, nodes, jobs, mix, policy);
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s: %s", policy, world_error(&world));
    assert_true(r.value[METRIC_JOBS_DONE] == atof(jobs));
    world_close(&world);
    return r.value[METRIC_JCT_MEAN];
}

static void assert_time(double s, double by_hand_s)
{
    if (!(fabs(s - by_hand_s) < 1e-6))
        fail_msg("%.9f s, by hand %.9f s", s, by_hand_s);
}

/* Both nodes come at 300 s.  The job of four GPUs has one from 300 to 400 s, and so long the other
 * stands idle, longer than it is kept.  Then the job of eight has both. */
static void an_idle_node_waits_for_one_that_is_in_use(void **state)
{
    struct world_job job[2] = { { .duration_s = 100, .gpus = 4 },
                                { .duration_s = 100, .gpus = 8 } };
    struct world world = { 0 };

    (void)state;
    if (!world_trace_on(&world, "nodes: [{name: a, count: 2, gpus: {type: generic, count: 4}, "
                        "rent: {start: 300s, keep: 30s}}]", job, 2, "[fcfs]", 1) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_time(job[0].end_s, 400);
    assert_time(job[1].end_s, 500);
    world_close(&world);
}

/* The second node comes 240 s after the first, which is kept for 30 s. */
static void nodes_of_two_groups_wait_for_each_other(void **state)
{
    (void)state;
    assert_time(mean_jct(NODE("a", "1", "4", RENT("60s")) NODE("b", "1", "4", RENT("300s")), "1",
                         JOB("x", "8"), "fcfs"), 400);
}

/* Four GPUs are owned, so that two nodes of two are ordered at once. */
static void nodes_are_rented_beside_owned_gpus(void **state)
{
    (void)state;
    assert_time(mean_jct(NODE("own", "1", "4", "") NODE("b", "3", "2", RENT("60s")), "1",
                         JOB("x", "8"), "fcfs"), 160);
}

/* Ten GPUs: group d could hold them alone.  Without it, four are owned, `always` has two from the
 * beginning, and group b, the first that is ordered, has two; the rest comes from group c, 100 s
 * after the order. */
static void a_gang_takes_groups_in_their_order(void **state)
{
    (void)state;
    assert_time(mean_jct(NODE("own", "1", "4", "")
                         NODE("always", "1", "2", ", rent: {start: 1h, scale: always}")
                         NODE("b", "1", "2", RENT("60s")) NODE("c", "2", "2", RENT("100s"))
                         NODE("d", "2", "8", RENT("7s") ", pool: other"),
                         "1", "    - {recipe: trace, gpus: 10, duration: 100s}\n", "fcfs"),
                107);
    assert_time(mean_jct(NODE("own", "1", "4", "")
                         NODE("always", "1", "2", ", rent: {start: 1h, scale: always}")
                         NODE("b", "1", "2", RENT("60s")) NODE("c", "2", "2", RENT("100s")),
                         "1", "    - {recipe: trace, gpus: 10, duration: 100s}\n", "fcfs"),
                200);
}

#define SFT(ROLE) \
    "    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 20, " \
    "train: {" ROLE "}}\n"

/* Roles start in the pool `train` alone, so no node of the first group is rented for them: the run
 * is that of a cluster without it. */
static void no_node_is_rented_outside_a_home(void **state)
{
    static const char *const policy[] = { "static", "{policy: dynamic, lend: false}" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        double with_s = mean_jct(NODE("a", "2", "4", RENT("60s")) NODE("train", "2", "4",
                                 RENT("60s")), "2", SFT("gpus: 4"), policy[i]);
        double alone_s = mean_jct(NODE("train", "2", "4", RENT("60s")), "2", SFT("gpus: 4"),
                                  policy[i]);
        assert_time(with_s, alone_s);
    }
}

/* Jobs of no rollouts start outside the pool of services, or in the reserved pool: the first group
 * of the file is not theirs. */
static void no_node_is_rented_outside_the_pools_of_a_key(void **state)
{
    static const char *const policy[] = { "{policy: harvest, from: a}",
                                          "{policy: spot-rollout, spot: a, reserved: b}" };

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_time(mean_jct(NODE("a", "2", "4", RENT("60s")) NODE("b", "2", "4", RENT("80s")),
                             "1", JOB("x", "8"), policy[i]), 180);
}

/* Nodes are ordered 20 s after the job came.  By then `dynamic` has taken over, and the first group
 * of the file may hold the job: it starts at 80 s. */
static void a_policy_that_takes_over_rents_in_all_pools(void **state)
{
    (void)state;
    assert_time(mean_jct(NODE("a", "2", "4", ", rent: {start: 60s, wait: 20s}")
                         NODE("b", "2", "4", ", rent: {start: 80s, wait: 20s}"), "1",
                         JOB("x", "8"),
                         "{policy: harvest, from: a, then: {at: 10s, policy: dynamic}}"), 180);
}

/* The role asks for 12 GPUs and may have two, and there are never 12: one node is rented for two
 * GPUs.  afs then deals it all four, as on a node that is owned, 60 s later. */
static void a_gang_for_which_all_nodes_are_too_few_counts_with_its_least(void **state)
{
    (void)state;
    double owned_s = mean_jct(NODE("a", "1", "4", ""), "1", SFT("gpus: 12, min: 2"), "afs");
    double rented_s = mean_jct(NODE("a", "2", "4", RENT("60s")), "1", SFT("gpus: 12, min: 2"),
                               "afs");

    assert_true(owned_s > 0);
    assert_time(rented_s, owned_s + 60);
}

/* Returns what a cluster of two nodes draws while all GPUs and cores of the only kind of job are at
 * full load, in watts. */
static double full_load_w(const struct world *world)
{
    const struct cluster_spec *cluster = world->experiment->point[0].cluster;
    const struct node_group *group = &cluster->group[0];
    const struct job_form *form = workload_form(world->experiment->point[0].workload, 0);
    double w = 2 * (double)power_standby_mw(cluster, group) / 1000;

    assert_true(form->role_count > 1);
    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];
        double cores = role->gpus > 0 ? (double)role->gpus * role->cores : role->cores;
        w += cluster->pue * (role->gpus * power_gpu_more_w(group) +
                             cores * power_core_more_w(group));
    }
    return w;
}

/* Both nodes are needed at a time, whether they are rented when they are needed or always. */
static void roles_that_start_together_lack_power_or_run(void **state)
{
    static const char *const rent[] = { RENT("60s"), ", rent: {start: 60s, scale: always}" };
    static const char mix[] =
        "    - {recipe: grpo, model: qwen2.5-0.5b, prompts: 16, prompt_tokens: 200, response: "
        "{mean: 100, cv: 1, max: 512}, steps: 2, rollout: {gpus: 4}, train: {gpus: 4}}\n";

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct world world = { 0 };
        struct trial_result r;
        uint32_t told = 0;
        char text[2048], nodes[512], cap[64];
        snprintf(nodes, sizeof nodes, NODE("a", "2", "4", "%s"), rent[i / 2]);
        open_world(&world, nodes, "1", mix, "fcfs");
        snprintf(cap, sizeof cap, "%.0fW", ceil(full_load_w(&world)) + (i % 2 == 0 ? 1 : -20));
        world_close(&world);
        snprintf(text, sizeof text, "experiment: cap\ncluster:\n  power_cap: %s\n  nodes:\n%s"
                 "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n%s"
                 "policies: [fcfs]\n", cap, nodes, mix);
        memset(&world, 0, sizeof world);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_int_equal(places_check(world.arena, world.experiment, count_error, &told), i % 2);
        assert_int_equal(told, i % 2);
        assert_true(world_run(&world, 0, NULL, NULL, &r) == (i % 2 == 0));
        world_close(&world);
    }
}

/* The cap allows three of the four GPUs that the role asks for, and it may have one.  Who relieves
 * the cap runs it on three; first come, first served never starts it. */
static void who_relieves_the_cap_starts_on_fewer_gpus(void **state)
{
    static const char *const policy[] = { "dynamic", "hybrid", "co-execution", "fcfs" };
    struct world world = { 0 };
    char text[2048];

    (void)state;
    open_world(&world, NODE("a", "1", "4", ""), "1", SFT("gpus: 4, min: 1"), "fcfs");
    const struct cluster_spec *cluster = world.experiment->point[0].cluster;
    const struct node_group *group = &cluster->group[0];
    const struct role_spec *role = &workload_form(world.experiment->point[0].workload, 0)->role[0];
    double cap_w = (double)power_standby_mw(cluster, group) / 1000 + 3 * cluster->pue *
                   (power_gpu_more_w(group) + role->cores * power_core_more_w(group));
    world_close(&world);
    for (int p = 0; p < 4; p++) {
        struct trial_result r;
        bool runs = p < 3;
        snprintf(text, sizeof text, "experiment: cap\ncluster:\n  power_cap: %.0fW\n  nodes:\n%s"
                 "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n%s"
                 "policies: [%s]\n", ceil(cap_w) + 1, NODE("a", "1", "4", ""),
                 SFT("gpus: 4, min: 1"), policy[p]);
        memset(&world, 0, sizeof world);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_int_equal(places_check(world.arena, world.experiment, no_place, NULL), !runs);
        assert_true(world_run(&world, 0, NULL, NULL, &r) == runs);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_node_waits_for_one_that_is_in_use),
        cmocka_unit_test(nodes_of_two_groups_wait_for_each_other),
        cmocka_unit_test(nodes_are_rented_beside_owned_gpus),
        cmocka_unit_test(a_gang_takes_groups_in_their_order),
        cmocka_unit_test(no_node_is_rented_outside_a_home),
        cmocka_unit_test(no_node_is_rented_outside_the_pools_of_a_key),
        cmocka_unit_test(a_policy_that_takes_over_rents_in_all_pools),
        cmocka_unit_test(roles_that_start_together_lack_power_or_run),
        cmocka_unit_test(who_relieves_the_cap_starts_on_fewer_gpus),
        cmocka_unit_test(a_gang_for_which_all_nodes_are_too_few_counts_with_its_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
