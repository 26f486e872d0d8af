/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power_cap_test.c - what can never run under a power cap is refused when the workload is
 * read, with what it would draw; what just fits is accepted, and runs.
 *
 * Watts by hand, PUE 1.  An A100 draws 63 W idle and 400 W at most, so 337 W more.  An EPYC
 * 7742 draws 68 W and 225 W, so 157 W more for its 64 cores.  Beside them a node draws 181.5 W
 * for each GPU and 60 W for each socket.  So the node of eight A100 below stands by with
 * 8 x 244.5 + 128 = 2,084 W; one of two with 2 x 244.5 + 128 = 617 W.  A T4 draws 10 W idle
 * and 70 W at most: two of them stand by with 2 x 191.5 + 128 = 511 W, each 60 W more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "models/cluster/place.h"
#include "tests/aid/world.h"

#define CPU "cpu: {type: epyc-7742, sockets: 1}, memory: 1TB"
#define A100(NAME, COUNT, GPUS) "{name: " NAME ", count: " COUNT ", gpus: {type: a100-80, " \
    "count: " GPUS "}, " CPU "}"
#define RENTED(COUNT) "{name: spot, count: " COUNT ", gpus: {type: a100-80, count: 2}, " CPU \
    ", price: 1USD/h, rent: {start: 60s}}"
#define T4 "{name: t, count: 1, gpus: {type: t4, count: 2}, " CPU "}"
#define CORES "{name: c, count: 2, " CPU "}"
#define IN_POOL(NAME, GPU, CPU) "{name: " NAME ", pool: p, count: 1, " GPU \
    "cpu: {type: " CPU ", sockets: 1}, memory: 1TB}"
#define WHOLE "recipe: trace, duration: 100s, "
#define LORA "recipe: lora, model: qwen2.5-1.5b, batch: 32, sequence: 1024, steps: 1, "
#define ENCODE "recipe: batch-infer, model: bert-large, prompts: 64, prompt_tokens: 128, steps: 1, "

static bool opens_jobs(struct world *world, const char *nodes, const char *cap, int jobs,
                       const char *entry, const char *policy)
{
    char text[2048];

    memset(world, 0, sizeof *world);
    snprintf(text, sizeof text,
             "experiment: t\ncluster:\n  nodes: [%s]\n  pue: 1\n  power_cap: %s\n"
             "workload:\n  arrival: {process: all_at_once}\n  jobs: %d\n"
             "  mix:\n    - {%s}\npolicies: [%s]\n", nodes, cap, jobs, entry, policy);
    return world_open(world, text);
}

static bool opens(struct world *world, const char *nodes, const char *cap, const char *entry,
                  const char *policy)
{
    return opens_jobs(world, nodes, cap, 1, entry, policy);
}

/* The least cap that lets each job run: one watt less is refused at its place. */
static void the_least_cap_lets_a_job_run(void **state)
{
    static const struct { const char *nodes, *cap, *less, *entry; } row[] = {
        /* 2,084 + 8 x 337 */
        { A100("n", "1", "8"), "4780W", "4779W", WHOLE "gpus: 8" },
        /* 2,084 + 337, and a half of it */
        { A100("n", "1", "8"), "2421W", "2420W", WHOLE "gpus: 1" },
        { A100("n", "1", "8"), "2253W", "2252W", WHOLE "gpus: 0.5" },
        /* Jobs of 1 and of 8 GPUs: the cap must allow the largest job. */
        { A100("n", "1", "8"), "4780W", "4779W", WHOLE "gpus: {choice: {1: 9, 8: 1}}" },
        /* A policy may give it two: 2,084 + 2 x 337. */
        { A100("n", "1", "8"), "2758W", "2757W",
          WHOLE "gpus: 8, elastic: {min: 2, max: 8, scaling: linear}" },
        /* Four cores each: 2,084 + 2 x (337 + 4 / 64 x 157) = 2,777.6 */
        { A100("n", "1", "8"), "2778W", "2777W", WHOLE "gpus: 2, role: {cores: 4}" },
        /* Of two types the thriftier, 617 + 511 + 2 x 60; or that which the role names,
         * 617 + 511 + 2 x 337. */
        { A100("n", "1", "2") ", " T4, "1248W", "1247W", WHOLE "gpus: 2" },
        { A100("n", "1", "2") ", " T4, "1802W", "1801W",
          WHOLE "gpus: 2, role: {types: [a100-80]}" },
        /* One rented node: 617 + 337.  Two, of which one stands by beside the owned one:
         * 2 x 617 + 4 x 337. */
        { RENTED("3"), "954W", "953W", WHOLE "gpus: 1" },
        { A100("n", "1", "2") ", " RENTED("3"), "2582W", "2581W", WHOLE "gpus: 4" },
        /* Of a recipe: 2,084 + 4 x (337 + 8 / 64 x 157) = 3,510.5, or from two on
         * 2,084 + 2 x 356.625 = 2,797.25 */
        { A100("n", "1", "8"), "3511W", "3510W", LORA "train: {gpus: 4, cores: 8}" },
        { A100("n", "1", "8"), "2798W", "2797W", LORA "train: {gpus: 4, min: 2, cores: 8}" },
        /* On cores of one of two nodes: 2 x 128 + 32 / 64 x 157 = 334.5 */
        { CORES, "335W", "334W", ENCODE "infer: {types: [cpu], cpu: {cores: 32}}" },
    };
    struct trial_result r;
    struct world world;

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (!opens(&world, row[i].nodes, row[i].cap, row[i].entry, "fcfs"))
            fail_msg("row %zu: %s | %s", i, world_error(&world), world.err.hint);
        if (strstr(row[i].entry, "elastic") == NULL && strstr(row[i].entry, "min:") == NULL &&
            strstr(row[i].entry, "choice") == NULL &&
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("row %zu: %s", i, world_error(&world));
        world_close(&world);
        if (opens(&world, row[i].nodes, row[i].less, row[i].entry, "fcfs"))
            fail_msg("row %zu is accepted under %s", i, row[i].less);
        if (strstr(world.err.text, "can never run") == NULL ||
            strstr(world.err.text, "power_cap") == NULL)
            fail_msg("row %zu: %s", i, world.err.text);
        world_close(&world);
    }
}

/* What the cap refuses on one group of nodes runs on another one of the same pool, which draws
 * less: each rule looks there.  GPUs: on two T4, as above, with 1,248 W.  32 cores: an EPYC 7763
 * draws 84 W and 280 W, so two nodes stand by with 128 + 144 W, and the cores add 98 W there and
 * 78.5 W on the 7742. */
static void another_group_of_the_pool_is_tried(void **state)
{
    static const struct { const char *nodes, *cap, *entry; } row[] = {
        { IN_POOL("n", "gpus: {type: a100-80, count: 2}, ", "epyc-7742") ", "
          IN_POOL("t", "gpus: {type: t4, count: 2}, ", "epyc-7742"), "1248W", WHOLE "gpus: 2" },
        { IN_POOL("n", "gpus: {type: a100-80, count: 2}, ", "epyc-7742") ", "
          IN_POOL("t", "gpus: {type: t4, count: 2}, ", "epyc-7742"), "1248W",
          WHOLE "gpus: 2, role: {types: [a100-80, t4]}" },
        { IN_POOL("m", "", "epyc-7763") ", " IN_POOL("c", "", "epyc-7742"), "351W",
          ENCODE "infer: {types: [cpu], cpu: {cores: 32}}" },
    };
    char policies[256];
    struct trial_result r;
    struct world world;

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int p = 0; p < PLACE_RULE_COUNT; p++) {
            const char *name = place_info((enum place_rule)p)->name;
            snprintf(policies, sizeof policies, "{policy: fcfs, placement: %s}", name);
            if (!opens(&world, row[i].nodes, row[i].cap, row[i].entry, policies) ||
                !world_run(&world, 0, NULL, NULL, &r) ||
                r.status_count[JOB_DONE] != 1)
                fail_msg("row %zu, %s: %s", i, name, world_error(&world));
            world_close(&world);
        }
}

/* Two jobs of 100 s run beside each other if the cap allows both, else one after the other. */
static void a_second_job_waits_for_power(void **state)
{
    static const struct { const char *nodes, *cap, *entry; int end_s; } row[] = {
        /* 2,084 + 2 x 337 */
        { A100("n", "1", "8"), "2758W", WHOLE "gpus: 1", 100 },
        { A100("n", "1", "8"), "2757W", WHOLE "gpus: 1", 200 },
        /* With four cores each, 2,084 + 2 x 346.8125 = 2,777.625: power for two GPUs is there. */
        { A100("n", "1", "8"), "2778W", WHOLE "gpus: 1, role: {cores: 4}", 100 },
        { A100("n", "1", "8"), "2777W", WHOLE "gpus: 1, role: {cores: 4}", 200 },
        /* Four cores a GPU, too: 2,084 + 4 x 346.8125 = 3,471.25 */
        { A100("n", "1", "8"), "3472W", WHOLE "gpus: 2, role: {cores: 4}", 100 },
        { A100("n", "1", "8"), "3471W", WHOLE "gpus: 2, role: {cores: 4}", 200 },
        /* Half a GPU and two cores each: 2,084 + 2 x (168.5 + 2 / 64 x 157) = 2,430.8125 */
        { A100("n", "1", "8"), "2431W", WHOLE "gpus: 0.5, role: {cores: 4}", 100 },
        { A100("n", "1", "8"), "2430W", WHOLE "gpus: 0.5, role: {cores: 4}", 200 },
        /* The first on T4, the second on A100: 1,128 + 2 x 60 + 2 x 337 = 1,922; else both
         * on T4. */
        { IN_POOL("t", "gpus: {type: t4, count: 2}, ", "epyc-7742") ", "
          IN_POOL("n", "gpus: {type: a100-80, count: 2}, ", "epyc-7742"), "1922W",
          WHOLE "gpus: 2", 100 },
        { IN_POOL("t", "gpus: {type: t4, count: 2}, ", "epyc-7742") ", "
          IN_POOL("n", "gpus: {type: a100-80, count: 2}, ", "epyc-7742"), "1921W",
          WHOLE "gpus: 2", 200 },
    };
    struct trial_result r;
    struct world world;

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!opens_jobs(&world, row[i].nodes, row[i].cap, 2, row[i].entry, "fcfs") ||
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("row %zu: %s", i, world_error(&world));
        if (r.end_ns != row[i].end_s * INT64_C(1000000000))
            fail_msg("row %zu ends after %g s", i, (double)r.end_ns / 1e9);
        world_close(&world);
    }
}

/* 8,000 GPU-seconds on A100.  The cap lets five of them run, 2,084 + 5 x 337 = 3,769 W, so that the
 * job takes 1,600 s at least, or two, 2,084 + 511 + 2 x 337 = 3,269 W, beside T4 of which it would
 * let more run; it begins with one.  2,084 + 2 x 337 = 2,758 W let two run, to the watt. */
static void pollux_grows_a_job_no_further_than_the_cap(void **state)
{
    static const struct { const char *nodes, *cap; int least_s, most_s; } row[] = {
        { A100("n", "1", "8"), "4000W", 1600, 4000 },
        { A100("n", "1", "8") ", " T4, "3300W", 4000, 8000 },
        { A100("n", "1", "8"), "2758W", 4000, 8000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct world world = { 0 };
        struct world_job job[1];
        char text[1024];

        snprintf(text, sizeof text, "experiment: t\nuntil: 9000s\ncluster: {nodes: [%s], pue: 1, "
                 "power_cap: %s}\nworkload: {arrival: {process: all_at_once}, jobs: 1, mix: "
                 "[{recipe: trace, duration: 1000s, gpus: 8, elastic: {min: 1, max: 8, scaling: "
                 "linear}, role: {types: [a100-80]}}]}\npolicies: [pollux]\n", row[i].nodes,
                 row[i].cap);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s", world_error(&world));
        if (!(job[0].end_s >= row[i].least_s && job[0].end_s < row[i].most_s))
            fail_msg("row %zu ends at %g s", i, job[0].end_s);
        world_close(&world);
    }
}

/* 4 x 2,084 + 8 x 337 = 11,032 W: eight of 32 GPUs may run, in any of four pools.  Twenty jobs of
 * 100 s on a GPU each take three turns. */
static void allox_lists_the_gpus_of_all_pools(void **state)
{
    struct world world = { 0 };
    struct world_job job[20];

    (void)state;
    assert_true(world_open(&world, "experiment: t\ncluster: {nodes: [" A100("a", "1", "8") ", "
                           A100("b", "1", "8") ", " A100("c", "1", "8") ", " A100("d", "1", "8")
                           "], pue: 1, power_cap: 11100W}\nworkload: {arrival: {process: "
                           "all_at_once}, jobs: 20, mix: [{recipe: trace, duration: 100s, gpus: "
                           "1}]}\npolicies: [allox]\n"));
    if (!world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 0; i < 20; i++)
        assert_true(job[i].end_s == 100 || job[i].end_s == 200 || job[i].end_s == 300);
    world_close(&world);
}

/* The owned node has two A100, the cloud two T4: 617 + 511 W at rest.  Under 1,802 W two GPUs run
 * on the owned node, 2 x 337 W more, to the watt, and the second job waits for it.  Under 1,801 W
 * they never do, so no job waits for its budget of an hour: the first goes to the cloud at once,
 * the second when that is free.  The same in parts of GPUs: half an A100 draws 168.5 W more. */
static void no_job_waits_for_owned_gpus_that_have_no_power(void **state)
{
    static const struct { const char *cap, *gpus; double second_s; } row[] = {
        { "1802W", "2", 200 }, { "1801W", "2", 200 },
        { "1297W", "0.5", 200 }, { "1296W", "0.5", 100 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char entry[120];
        struct world world;
        struct world_job job[2];

        snprintf(entry, sizeof entry, WHOLE "gpus: %s", row[i].gpus);
        if (!opens_jobs(&world, A100("n", "1", "2") ", {name: cloud, count: 1, gpus: {type: t4, "
                        "count: 2}, " CPU "}", row[i].cap, 2, entry,
                        "{policy: starburst, wait: constant, budget: 1h}") ||
            !world_run(&world, 0, NULL, job, NULL))
            fail_msg("row %zu: %s | %s", i, world_error(&world), world.err.hint);
        if (job[0].end_s != 100 || job[1].end_s != row[i].second_s)
            fail_msg("row %zu: %g and %g s", i, job[0].end_s, job[1].end_s);
        world_close(&world);
    }
}

/* 2,084 + 4 x 356.625 - 2,084 = 1,426.5 W, of 1,000 W that are left. */
/* Nodes of two A100 and of two T4, which is slower: 617 + 511 W at rest, and a job of both GPUs
 * adds 2 x 337 W or 2 x 60 W.  Under 1,802 W it may run on the A100; under 1,801 W never there, so
 * that it must not wait for them. */
static void planners_take_the_gpus_that_a_cap_allows(void **state)
{
    static const char *const policy[] = { "allox", "gavel", "gavel, objective: makespan", "sia" };
    static const struct { const char *cap; bool fast; } row[] = {
        { "1802W", true }, { "1801W", false }, { "1248W", false },
    };
    double fast_s = 0;
    const size_t rows = sizeof row / sizeof row[0];

    (void)state;
    for (size_t i = 0; i < rows * sizeof policy / sizeof policy[0]; i++) {
        const char *cap = row[i % rows].cap;
        bool fast = row[i % rows].fast;
        struct world world;
        struct world_job job[2];
        char one[80];

        snprintf(one, sizeof one, "{policy: %s}", policy[i / rows]);
        if (!opens_jobs(&world, A100("n", "1", "2") ", " T4, cap, 2,
                        LORA "train: {gpus: 2, cores: 0, types: [a100-80, t4]}", one) ||
            !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s, %s: %s | %s", one, cap, world_error(&world), world.err.hint);
        double first_s = fmin(job[0].end_s, job[1].end_s);
        fast_s = i == 0 ? first_s : fast_s;     /* of an A100 */
        if (job[0].end_s < 0 || job[1].end_s < 0 || (!fast && first_s <= fast_s))
            fail_msg("%s, %s: %g and %g s", one, cap, job[0].end_s, job[1].end_s);
        world_close(&world);
    }
}

static void the_message_says_what_it_would_draw(void **state)
{
    struct world world;

    (void)state;
    assert_false(opens(&world, A100("n", "1", "8"), "3084W", LORA "train: {gpus: 4, cores: 8}",
                       "fcfs"));
    if (strstr(world.err.text, "role train of lora can never run: power_cap of the cluster is "
               "3084 W, nodes that stand by draw 2084 W, and the role draws at least 1426 W "
               "more") == NULL ||
        strstr(world.err.hint, "at least 3511W") == NULL)
        fail_msg("%s | %s", world.err.text, world.err.hint);
    world_close(&world);
    assert_false(opens(&world, A100("n", "1", "8"), "3084W", WHOLE "gpus: 3", "fcfs"));
    if (strstr(world.err.text, "jobs of trace ask for up to 3 GPUs and can never run: power_cap "
               "allows at most 2 GPUs") == NULL)
        fail_msg("%s", world.err.text);
    world_close(&world);
}

/* Rows of a trace, of which 2,758 W let two GPUs run. */
static void rows_of_a_trace_are_judged(void **state)
{
    struct world_job job[] = { { 0, 100, 2, 0, 0 }, { 0, 100, 3, 0, 0 } };
    struct world world;

    (void)state;
    for (uint32_t count = 1; count <= 2; count++) {
        memset(&world, 0, sizeof world);
        assert_int_equal(world_trace_on(&world, "nodes: [" A100("n", "1", "8") "], pue: 1, "
                                        "power_cap: 2758W", job, count, "[fcfs]", 1),
                         count == 1);
        if (count == 2 && strstr(world.err.text, "job asks for 3 GPUs and can never run: "
                                 "power_cap allows at most 2 GPUs") == NULL)
            fail_msg("%s", world.err.text);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_cap_lets_a_job_run),
        cmocka_unit_test(another_group_of_the_pool_is_tried),
        cmocka_unit_test(a_second_job_waits_for_power),
        cmocka_unit_test(pollux_grows_a_job_no_further_than_the_cap),
        cmocka_unit_test(allox_lists_the_gpus_of_all_pools),
        cmocka_unit_test(planners_take_the_gpus_that_a_cap_allows),
        cmocka_unit_test(no_job_waits_for_owned_gpus_that_have_no_power),
        cmocka_unit_test(the_message_says_what_it_would_draw),
        cmocka_unit_test(rows_of_a_trace_are_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
