/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * planner_room_test.c - jobs for which planners looked in vain, beside services, over pools, over
 * many nodes; and jobs that take longer to start than their turn lasts, of which is warned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/preflight/turns.h"
#include "tests/aid/world.h"

#define NODES(NAME, COUNT, GPUS, KEYS) "{name: " NAME ", count: " COUNT ", gpus: {type: " \
    "a100-80, count: " GPUS "}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB" KEYS "}"

/* Reads a world of jobs of one kind that come at once. */
static void read_world(struct world *world, const char *nodes, const char *kind, uint32_t jobs,
                       const char *more, const char *policy)
{
    char text[3000];

    *world = (struct world){ .arena = NULL };
    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: 1h\ncluster: {nodes: [%s]}\n"
             "workload: {arrival: {process: all_at_once}, jobs: %u, mix: [%s]%s}\npolicies: [%s]\n",
             nodes, jobs, kind, more, policy);
    if (!world_open(world, text))
        fail_msg("%s: %s", policy, world_error(world));
}

static void run_jobs(const char *nodes, const char *kind, uint32_t jobs, const char *more,
                     const char *policy, struct world_job *job)
{
    struct world world;

    read_world(&world, nodes, kind, jobs, more, policy);
    if (!world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
}

/* Two nodes of four GPUs and 16 cores.  A service has one GPU with four cores of one of them for
 * half an hour, which leaves three GPUs and 12 cores.  Each job takes two GPUs and all 16 cores, so
 * that both run on the other node: the first until 100 s, the second from the next round on, at
 * 120 s.  When the cores of the service counted as free, it waited for the node of the service. */
static void cores_of_services_are_not_free(void **state)
{
    static const char *const policy[] = { "sia", "pollux" };
    const char *service = ", services: [{name: chat, model: qwen2.5-0.5b, priority: 10, gpu: {tp: "
        "1, types: [a100-80], cores: 4}, replicas: {min: 1, max: 1}, batch: 16, requests: "
        "{arrival: {process: poisson, rate: 0.2/s}, prompt: {lognormal: {mean: 300, cv: 0.7}, max: "
        "2000}, output: {lognormal: {mean: 100, cv: 0.7}, max: 500}, for: 30min}}]";

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        struct world_job job[3];        /* one of them is the replica */
        double last_s = 0;
        run_jobs(NODES("a", "1", "4", ", cores: 16") ", " NODES("b", "1", "4", ", cores: 16"),
                 "{recipe: trace, gpus: 2, duration: 100s, role: {cores: 8}}", 2, service,
                 policy[p], job);
        for (int i = 0; i < 3; i++)
            if (job[i].end_s == job[i].start_s + 100 && job[i].start_s > last_s)
                last_s = job[i].start_s;
        if (last_s != 120)
            fail_msg("%s: %g s", policy[p], last_s);
    }
}

/* Two pools of two nodes of four GPUs.  With 300 GB for each GPU a node of 1 TB serves three, and a
 * pool six: eight are in no pool, and start over both, as they ask. */
static void memory_counts_where_a_pool_is_asked(void **state)
{
    struct world_job job[1];

    (void)state;
    run_jobs(NODES("a", "2", "4", ", pool: p") ", " NODES("b", "2", "4", ", pool: q"),
             "{recipe: trace, gpus: 8, duration: 100s, role: {memory: 300GB}}", 1, "", "pollux",
             job);
    assert_true(job[0].start_s == 0 && job[0].end_s == 100);
}

/* A gang of 31 GPUs on 16 nodes of two: no search by chance gives it all of them at once. */
static void a_gang_of_many_nodes_starts_on_an_empty_cluster(void **state)
{
    struct world_job job[1];

    (void)state;
    run_jobs(NODES("a", "16", "2", ""), "{recipe: trace, gpus: 31, duration: 100s}", 1, "",
             "pollux", job);
    assert_true(job[0].start_s == 0 && job[0].end_s == 100);
}

struct told {
    char text[300];             /* the last */
    uint32_t count;
};

static void tell(void *self, const struct err *err)
{
    struct told *told = self;

    told->count++;
    snprintf(told->text, sizeof told->text, "%s", err->text);
}

/* A trainer that starts in 70 s, and turns of one minute (the default), 70 s and 71 s.  A policy
 * without turns is not told. */
static void a_start_longer_than_a_turn_is_told(void **state)
{
    static const struct { const char *policy; uint32_t told; } row[] = {
        { "time-slice", 1 }, { "{policy: time-slice, quantum: 70s}", 1 },
        { "{policy: time-slice, quantum: 71s}", 0 }, { "{policy: las, quantum: 5s}", 1 },
        { "fcfs", 0 }, { "{policy: fcfs, blocking: skip}", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world;
        struct told told = { .count = 0 };
        read_world(&world, NODES("a", "1", "4", ""), "{recipe: sft, model: qwen2.5-0.5b, batch: "
                   "64, sequence: 512, steps: 20, train: {gpus: 2, process_start: 70s}}", 3, "",
                   row[i].policy);
        turns_warn(world.experiment, tell, &told);
        world_close(&world);
        if (told.count != row[i].told)
            fail_msg("%s: %u told: %s", row[i].policy, told.count, told.text);
        if (i == 0)
            assert_non_null(strstr(told.text, "stops jobs after 60 s (quantum) if others wait, and "
                                              "role train of sft takes 70 s to start"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_of_services_are_not_free),
        cmocka_unit_test(memory_counts_where_a_pool_is_asked),
        cmocka_unit_test(a_gang_of_many_nodes_starts_on_an_empty_cluster),
        cmocka_unit_test(a_start_longer_than_a_turn_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
