/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * small_homes_test.c - jobs whose roles have no room at once, or no room in their homes:
 * policies that lease for a phase run them, and say where.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/preflight/defaults.h"
#include "experiments/preflight/places.h"
#include "tests/aid/world.h"

#define NODE(NAME, COUNT, GPUS) \
    "    - {name: " NAME ", count: " COUNT ", gpus: {type: a100-80, count: " GPUS "}, cpu: " \
    "{type: epyc-7742, sockets: 2}, memory: 1TB}\n"

/* Steps are short and processes start anew, so that switches are dear: by themselves these jobs
 * would hold all their GPUs for life. */
static void open_jobs(struct world *world, const char *nodes, const char *jobs,
                      const char *roles, const char *policies)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: homes\ncluster:\n  nodes:\n%sworkload:\n"
                     "  arrival: {process: all_at_once}\n  jobs: %s\n  mix:\n"
                     "    - {recipe: grpo, model: qwen2.5-0.5b, prompts: 16, prompt_tokens: 200, "
                     "response: {mean: 100, cv: 1, max: 512}, steps: 3, %s}\npolicies: [%s]\n",
                     nodes, jobs, roles, policies);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static double mean_jct(struct world *world, uint32_t policy, double jobs)
{
    struct trial_result r;

    if (!world_run(world, policy, NULL, NULL, &r))
        fail_msg("policy %u: %s", policy, world_error(world));
    assert_true(r.value[METRIC_JOBS_DONE] == jobs);
    return r.value[METRIC_JCT_MEAN];
}

/* Each phase takes all eight GPUs, so that one follows the other whatever the policy is: no
 * policy is faster than `random`, which takes what is free, by more than the first millisecond. */
static void roles_that_have_no_room_at_once_take_turns(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, NODE("dgx", "1", "8"), "1",
              "rollout: {gpus: 8, start: process}, train: {gpus: 8, start: process}",
              "random, dynamic, hybrid, advised");
    double alone_s = mean_jct(&world, 0, 1);
    assert_true(alone_s > 100);
    for (uint32_t p = 1; p < 4; p++)
        assert_true(fabs(mean_jct(&world, p, 1) - alone_s) < 1e-3);
    world_close(&world);
}

/* A job of 4 GPUs and 100 s, where two nodes of one pool have unlike GPUs; then six of them on the
 * three nodes: three run at a time, each on one type, so the mean is 150 s.  Of the two nodes
 * `pollux` made one gang, whose energy was counted as that of one type. */
static void a_pool_of_two_types_has_no_gang_of_both(void **state)
{
#define TYPED(NAME, POOL, TYPE) "{name: " NAME ", pool: " POOL ", count: 1, gpus: {type: " TYPE \
    ", count: 4}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}"
    char text[1000];

    (void)state;
    for (int jobs = 1; jobs <= 6; jobs += 5) {
        struct world world = { 0 };

        snprintf(text, sizeof text, "experiment: types\nuntil: drained\ncluster: {nodes: ["
                 TYPED("a", "p1", "h100") ", " TYPED("b", "p2", "a100-80") ", "
                 TYPED("c", "p2", "h100") "]}\nworkload: {arrival: {process: all_at_once}, jobs: "
                 "%d, mix: [{recipe: trace, gpus: 4, duration: 100s}]}\npolicies: [pollux]\n",
                 jobs);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_true(fabs(mean_jct(&world, 0, jobs) - (jobs == 1 ? 100 : 150)) < 1e-6);
        world_close(&world);
    }
}

/* Also where the node is the home of both. */
static void one_home_for_both_roles_may_hold_one_of_them(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, NODE("dgx", "1", "8") NODE("other", "1", "4"), "2",
              "rollout: {gpus: 8, start: process, home: dgx}, "
              "train: {gpus: 8, start: process, home: dgx}",
              "dynamic, hybrid, advised");
    for (uint32_t p = 0; p < 3; p++)
        mean_jct(&world, p, 2);
    world_close(&world);
}

/* The pool `train` has two GPUs, the role asks for four: eight jobs at twelve GPUs. */
static void a_home_that_is_too_small_is_none(void **state)
{
    static const char said[] = "any pool (train, it bears the role's name, has no room for it)";
    struct world world = { 0 };
    uint32_t rows, told = 0;

    (void)state;
    open_jobs(&world, NODE("train", "1", "2") NODE("rollout", "3", "4"), "8",
              "rollout: {gpus: 4, start: process}, train: {gpus: 4, start: process}",
              "dynamic, hybrid, advised");
    for (uint32_t p = 0; p < 3; p++)
        mean_jct(&world, p, 8);
    const struct default_row *row = defaults_of(world.arena, world.experiment, &rows);
    for (uint32_t i = 0; i < rows; i++) {
        told += strcmp(row[i].key, "home of train") == 0 && strcmp(row[i].value, said) == 0;
        assert_true(strcmp(row[i].key, "home of rollout") != 0 ||
                    strcmp(row[i].value, "rollout (it bears the role's name)") == 0);
    }
    assert_int_equal(told, 3);
    world_close(&world);
}

/* Nor may a home have other GPUs than those that the role may use. */
static void a_home_of_other_types_is_none(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, NODE("train", "1", "8")
              "    - {name: rollout, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7742, "
              "sockets: 2}, memory: 1TB}\n", "2",
              "rollout: {gpus: 4, start: process, types: [a100-80]}, "
              "train: {gpus: 4, start: process, types: [a100-80]}",
              "dynamic, hybrid, advised");
    for (uint32_t p = 0; p < 3; p++)
        mean_jct(&world, p, 2);
    world_close(&world);
}

/* What may not leave its home has no place, which `validate` says. */
static void who_confines_roles_keeps_such_a_home(void **state)
{
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_jobs(&world, NODE("train", "1", "2") NODE("rollout", "3", "4"), "1",
              "rollout: {gpus: 4, start: process}, train: {gpus: 4, start: process}",
              "{policy: dynamic, lend: false}");
    assert_false(world_run(&world, 0, NULL, NULL, &r));
    assert_int_equal(world.err.kind, ERR_POLICY);
    world_close(&world);
}

/* Nodes are rented for tasks that wait.  The pool of `train` is empty until its phase is ready,
 * which comes after the first rollout: to wait for both pools would be to wait for ever. */
static void a_home_that_is_rented_is_not_waited_for(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, NODE("rollout", "1", "8")
              "    - {name: train, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7742, "
              "sockets: 2}, memory: 1TB, rent: {start: 48s}}\n", "2",
              "rollout: {gpus: 8, start: process}, train: {gpus: 4, start: process}",
              "dynamic, hybrid, advised");
    for (uint32_t p = 0; p < 3; p++)
        mean_jct(&world, p, 2);
    world_close(&world);
}

/* What places_check() tells. */
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

/* `min: 1` lets policies that shrink roles start on two GPUs of four; these start jobs of two
 * roles as they were asked for, so that none ever starts. */
static void who_does_not_shrink_roles_has_no_place_for_them(void **state)
{
    static const char *const policy[] = { "synergy", "sia", "pollux" };
    struct world world = { 0 };
    struct told told = { 0 };

    (void)state;
    open_jobs(&world, NODE("a", "1", "2") NODE("b", "1", "2"), "1",
              "rollout: {gpus: 2, min: 1, pool: a}, train: {gpus: 4, min: 1, pool: b}",
              "synergy, sia, pollux, elastic-hybrid");
    assert_int_equal(places_check(world.arena, world.experiment, tell, &told), 3);
    for (int p = 0; p < 3; p++) {
        assert_non_null(strstr(told.text[p], policy[p]));
        assert_non_null(strstr(told.text[p], "asks for 4 GPUs, and there are 2 that it may use"));
    }
    world_close(&world);
}

/* `spot-rollout` trains in the pool `reserved` alone, on as many GPUs as the role asks for, and
 * generates there or in `spot`, also on fewer. */
static void who_names_pools_has_places_there_alone(void **state)
{
    static const char nodes[] = NODE("s", "1", "2") NODE("t", "1", "4") NODE("other", "1", "8");
    static const char policy[] = "{policy: spot-rollout, spot: s, reserved: t}";
    static const struct {
        const char *roles, *said;       /* NULL: all have a place */
    } tried[] = {
        { "rollout: {gpus: 8, min: 2}, train: {gpus: 4}", NULL },
        { "rollout: {gpus: 8}, train: {gpus: 4}",
          "role rollout of grpo has no place under policy spot-rollout: it asks for 8 GPUs, "
          "and there are 6 that it may use" },
        { "rollout: {gpus: 2}, train: {gpus: 8, min: 1}",
          "role train of grpo has no place under policy spot-rollout: it asks for 8 GPUs, "
          "and there are 4 that it may use" },
        { "rollout: {gpus: 2}, train: {gpus: 4, pool: other}",
          "role train of grpo has no place under policy spot-rollout: it asks for 4 GPUs, "
          "and there are 0 that it may use" },
    };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct world world = { 0 };
        struct told told = { 0 };

        open_jobs(&world, nodes, "1", tried[i].roles, policy);
        assert_int_equal(places_check(world.arena, world.experiment, tell, &told),
                         tried[i].said != NULL);
        if (tried[i].said != NULL)
            assert_string_equal(told.text[0], tried[i].said);
        else
            mean_jct(&world, 0, 1);
        world_close(&world);
    }
}

/* The job takes 6 cores and 16 GB beside each of 8 GPUs; the owned node has 16 cores, or 64 GB.
 * First come, first served starts it in the other pool at once, and so does who knows that
 * waiting for owned GPUs is in vain. */
static void gpus_without_their_cores_or_memory_are_not_waited_for(void **state)
{
    static const char *const node[] = { "cores: 16, memory: 1TB", "memory: 64GB" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        char text[2048];
        snprintf(text, sizeof text,
                 "experiment: owned\ncluster:\n  nodes:\n"
                 "    - {name: own, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742}, %s}\n"
                 "    - {name: cloud, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742}, "
                 "memory: 1TB, billing: held}\nworkload:\n  arrival: {process: all_at_once}\n"
                 "  jobs: 1\n  mix:\n    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, "
                 "sequence: 512, steps: 20, train: {gpus: 8}}\n"
                 "policies: [fcfs, {policy: starburst, wait: infinite}]\n", node[i]);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_true(mean_jct(&world, 0, 1) == mean_jct(&world, 1, 1));
        world_close(&world);
    }
}

/* Eight GPUs are there, four in each pool.  A gang of eight starts in both, and not where the
 * pace of a pool is what counts; one of four has a place under each policy. */
static void who_spreads_no_gang_over_pools_has_no_place_for_it(void **state)
{
    static const char *const policy[] = { "gavel", "allox" };

    (void)state;
    for (int gpus = 4; gpus <= 8; gpus += 4) {
        struct world world = { 0 };
        struct told told = { 0 };
        char text[1024];
        snprintf(text, sizeof text,
                 "experiment: gangs\ncluster:\n  nodes:\n%sworkload:\n"
                 "  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
                 "    - {recipe: trace, gpus: %d, duration: 100s}\n"
                 "policies: [fcfs, gavel, allox]\n",
                 NODE("a", "1", "4") NODE("b", "1", "4"), gpus);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_int_equal(places_check(world.arena, world.experiment, tell, &told),
                         gpus == 8 ? 2 : 0);
        for (uint32_t p = 0; p < told.count; p++) {
            assert_non_null(strstr(told.text[p], policy[p]));
            assert_non_null(strstr(told.text[p], "does not find 8 GPUs with their cores and "
                                                 "memory together in one pool"));
        }
        mean_jct(&world, 0, 1);
        for (uint32_t p = 1; gpus == 4 && p < 3; p++)
            mean_jct(&world, p, 1);
        world_close(&world);
    }
}

/* A role that asks for 8 GPUs and may have 2: who counts speeds has it run there, too.  afs
 * gives it all four GPUs at once, as optimus does; the others begin with fewer. */
static void a_role_that_asks_for_more_than_there_is_has_what_there_is(void **state)
{
    struct world world = { 0 };
    char text[1024];

    (void)state;
    snprintf(text, sizeof text,
             "experiment: wide\ncluster:\n  nodes:\n%sworkload:\n"
             "  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
             "    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 20, "
             "train: {gpus: 8, min: 2}}\npolicies: [optimus, afs, sia, pollux]\n",
             NODE("a", "1", "4"));
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    double jct_s = mean_jct(&world, 0, 1);
    assert_true(jct_s > 0);
    assert_true(mean_jct(&world, 1, 1) == jct_s);
    for (uint32_t p = 2; p < 4; p++)
        assert_true(mean_jct(&world, p, 1) >= jct_s);
    world_close(&world);
}

/* Two pools of four GPUs, and a gang that trains on eight: first come, first served starts it in
 * both, and whoever counts speeds or cores pool by pool gives it the same GPUs. */
static void a_gang_that_several_pools_hold_together_runs_there(void **state)
{
    struct world world = { 0 };
    char text[1024];

    (void)state;
    snprintf(text, sizeof text,
             "experiment: gangs\ncluster:\n  nodes:\n%sworkload:\n"
             "  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
             "    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 20, "
             "train: {gpus: 8}}\npolicies: [fcfs, afs, synergy]\n",
             NODE("a", "1", "4") NODE("b", "1", "4"));
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    double jct_s = mean_jct(&world, 0, 1);
    assert_true(jct_s > 0);
    for (uint32_t p = 1; p < 3; p++)
        assert_true(mean_jct(&world, p, 1) == jct_s);
    world_close(&world);
}

/* Nodes without GPUs bear the name of a role.  The job has no homes in two pools, so that
 * `co-execution` takes it where there is room, as `dynamic` does, and `static` does not. */
static void one_home_confines_no_job_of_co_execution(void **state)
{
    struct world world = { 0 };
    struct told told = { 0 };

    (void)state;
    open_jobs(&world, NODE("cloud", "2", "4") "    - {name: rollout, cpu: {type: epyc-7742}, "
              "memory: 1TB}\n", "1", "rollout: {gpus: 4}, train: {gpus: 4}",
              "co-execution, dynamic, static");
    assert_int_equal(places_check(world.arena, world.experiment, tell, &told), 1);
    assert_non_null(strstr(told.text[0], "under policy static in pool rollout"));
    for (uint32_t p = 0; p < 2; p++)
        mean_jct(&world, p, 1);
    world_close(&world);
}

/* The job takes 6 cores and 22.9 GB beside each GPU.  No node has these for as many GPUs as it asks
 * for, so no configuration of sia is its size: it starts as it asks, on several nodes, as under
 * first come, first served.  In the third world the node with the GPUs lacks cores, and those
 * with cores lack GPUs. */
static void sia_starts_as_asked_what_no_node_has_cores_for(void **state)
{
    static const char cores[] = "    - {name: a, count: 2, gpus: {type: a100-80, count: 8}, cpu: "
                                "{type: epyc-7742}, memory: 1TB, cores: 16}\n";
    static const char memory[] = "    - {name: a, count: 2, gpus: {type: a100-80, count: 8}, cpu: "
                                 "{type: epyc-7742}, memory: 128GB}\n";
    static const char mixed[] = NODE("a", "2", "2")
        "    - {name: b, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7742}, memory: 1TB, "
        "cores: 12, pool: a}\n";
    static const struct { const char *nodes; int gpus; } tried[] = {
        { cores, 4 }, { memory, 8 }, { mixed, 4 },
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world world = { 0 };
        char text[1024];
        snprintf(text, sizeof text,
                 "experiment: cores\ncluster:\n  nodes:\n%sworkload:\n"
                 "  arrival: {process: all_at_once}\n  jobs: 3\n  mix:\n"
                 "    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 20, "
                 "train: {gpus: %d}}\npolicies: [fcfs, sia]\n", tried[i].nodes, tried[i].gpus);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        assert_true(mean_jct(&world, 1, 3) == mean_jct(&world, 0, 3));
        world_close(&world);
    }
}

/* The pool a has a node with enough GPUs and one with enough cores, b has both on one. */
static void sia_deals_where_a_node_has_gpus_and_cores(void **state)
{
    struct world world = { 0 };

    (void)state;
    static const char text[] =
        "experiment: cores\ncluster:\n  nodes:\n" NODE("a", "1", "2")
        "    - {name: c, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7742}, memory: 1TB, "
        "cores: 12, pool: a}\n" NODE("b", "1", "4")
        "workload:\n  arrival: {process: all_at_once}\n  jobs: 3\n  mix:\n"
        "    - {recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 20, "
        "train: {gpus: 4}}\npolicies: [sia]\n";
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    assert_true(mean_jct(&world, 0, 3) > 0);
    world_close(&world);
}

/* Only advice makes `advised` take fewer GPUs than a role asks for, and weights need never give
 * it: its place is that of `dynamic`.  Nodes of 16 cores serve 2 GPUs each, at 6 cores a GPU. */
static void advised_has_no_place_on_fewer_gpus(void **state)
{
    struct world world = { 0 };
    struct told told = { 0 };

    (void)state;
    open_jobs(&world, "    - {name: a, count: 3, gpus: {type: a100-80, count: 8}, cpu: {type: "
              "epyc-7742}, memory: 1TB, cores: 16}\n", "1",
              "rollout: {gpus: 8, min: 6}, train: {gpus: 2}", "dynamic, advised, elastic-hybrid");
    assert_int_equal(places_check(world.arena, world.experiment, tell, &told), 2);
    for (int p = 0; p < 2; p++)
        assert_non_null(strstr(told.text[p], "does not find 8 GPUs with their cores"));
    mean_jct(&world, 2, 1);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_that_have_no_room_at_once_take_turns),
        cmocka_unit_test(a_pool_of_two_types_has_no_gang_of_both),
        cmocka_unit_test(one_home_for_both_roles_may_hold_one_of_them),
        cmocka_unit_test(a_home_that_is_too_small_is_none),
        cmocka_unit_test(a_home_of_other_types_is_none),
        cmocka_unit_test(who_confines_roles_keeps_such_a_home),
        cmocka_unit_test(a_home_that_is_rented_is_not_waited_for),
        cmocka_unit_test(who_does_not_shrink_roles_has_no_place_for_them),
        cmocka_unit_test(who_names_pools_has_places_there_alone),
        cmocka_unit_test(gpus_without_their_cores_or_memory_are_not_waited_for),
        cmocka_unit_test(who_spreads_no_gang_over_pools_has_no_place_for_it),
        cmocka_unit_test(a_role_that_asks_for_more_than_there_is_has_what_there_is),
        cmocka_unit_test(a_gang_that_several_pools_hold_together_runs_there),
        cmocka_unit_test(one_home_confines_no_job_of_co_execution),
        cmocka_unit_test(sia_starts_as_asked_what_no_node_has_cores_for),
        cmocka_unit_test(sia_deals_where_a_node_has_gpus_and_cores),
        cmocka_unit_test(advised_has_no_place_on_fewer_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
