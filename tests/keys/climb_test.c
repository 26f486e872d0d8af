/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * climb_test.c - searches of GPUs by node that begin with a climb find plans at least as good
 * as generations alone, and break no rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "policies/policy.h"
#include "policies/solve.h"
#include "sim/base/rng.h"
#include "tests/aid/world.h"

#define JOBS 60u
#define NODES 24u
#define POOLS 2u
#define NODE_GPUS 4u

/* A search of jobs that are drawn.  Of each, `share` of the work needs one GPU, and sizes are
 * multiples of `least`. */
struct case_of {
    struct rng rng;
    struct cs_breed_node node[NODES];
    struct cs_breed_job job[JOBS];
    struct cs_cell now[JOBS][2];
    double share[JOBS], faster[JOBS];
    uint32_t least[JOBS];
    double p;
};

#define CASES 60u

static uint32_t size_of(struct cs_host *host, void *self, uint32_t job, uint32_t gpus)
{
    const struct case_of *of = self;

    (void)host;
    return gpus - gpus % of->least[job];
}

static double gain_of(struct cs_host *host, void *self, uint32_t job, uint32_t pool,
                      uint32_t gpus, bool spans)
{
    const struct case_of *of = self;
    double pace = 1 / (of->share[job] + (1 - of->share[job]) / gpus);

    (void)host;
    return pace * (pool == 1 ? of->faster[job] : 1) * (spans ? 0.8 : 1);
}

/* Draws jobs, a third of which hold a GPU or two of a node, and leave room there. */
static void draw_case(struct case_of *of, uint64_t seed)
{
    static const double exponent[] = { -1, -1, -4, 0, 0.5 };

    *of = (struct case_of) { .p = exponent[seed % 5] };
    rng_init(&of->rng, seed, "climb", 0);
    for (uint32_t n = 0; n < NODES; n++)
        of->node[n] = (struct cs_breed_node) { n >= NODES / 2, NODE_GPUS, { 16, 64 } };
    for (uint32_t j = 0; j < JOBS; j++) {
        of->least[j] = 1 + (uint32_t)rng_below(&of->rng, 2);
        of->share[j] = 0.4 * rng_uniform(&of->rng);
        of->faster[j] = 0.5 + 2 * rng_uniform(&of->rng);
        of->job[j] = (struct cs_breed_job) {
            .id = j, .most = of->least[j] * (1 + (uint32_t)rng_below(&of->rng, 8)),
            .moved = rng_uniform(&of->rng),
            .each = { (double)rng_below(&of->rng, 7), (double)rng_below(&of->rng, 20) },
            .now = of->now[j],
        };
        if (j % 3 == 0 && j < NODES) {
            of->now[j][0] = (struct cs_cell) { j, of->least[j] };
            of->job[j].now_count = 1;
        }
    }
}

/* Does the job hold what the answer gives it? */
static bool stays(const struct cs_breed_job *job)
{
    bool same = job->now_count > 0 && job->cell_count == job->now_count;

    for (uint32_t i = 0; same && i < job->cell_count; i++)
        same = job->cell[i].node == job->now[i].node && job->cell[i].gpus == job->now[i].gpus;
    return same;
}

/* The gain of a job by its answer; `faults` counts rules of one job that are broken. */
static double gain_of_answer(struct case_of *of, uint32_t j, uint32_t *faults)
{
    const struct cs_breed_job *job = &of->job[j];
    uint32_t gpus = 0;

    for (uint32_t i = 0; i < job->cell_count; i++) {
        gpus += job->cell[i].gpus;
        *faults += job->cell[i].gpus == 0 || (i > 0 && job->cell[i].node <= job->cell[i - 1].node);
        *faults += of->node[job->cell[i].node].pool != of->node[job->cell[0].node].pool;
    }
    *faults += gpus % of->least[j] != 0 || gpus > job->most;
    if (gpus == 0)
        return 0;
    double gain = gain_of(NULL, of, j, of->node[job->cell[0].node].pool, gpus,
                          job->cell_count > 1);
    return job->now_count > 0 && !stays(job) ? gain * job->moved : gain;
}

/* The power mean of gains, of which each is raised by a thousandth. */
static double mean_of_gains(struct case_of *of, uint32_t *faults)
{
    double sum = 0;

    for (uint32_t j = 0; j < JOBS; j++) {
        double gain = gain_of_answer(of, j, faults);
        sum += of->p == 0 ? log(fmax(gain, 1e-3)) : pow(gain + 1e-3, of->p);
    }
    return of->p == 0 ? exp(sum / JOBS) : pow(sum / JOBS, 1 / of->p);
}

/* Counts nodes that give more than they have, or to two jobs that span nodes. */
static uint32_t count_overfull(const struct case_of *of)
{
    uint32_t faults = 0;

    for (uint32_t n = 0; n < NODES; n++) {
        double used[3] = { 0 };
        uint32_t spans = 0;
        for (uint32_t j = 0; j < JOBS; j++)
            for (uint32_t i = 0; i < of->job[j].cell_count; i++) {
                if (of->job[j].cell[i].node != n)
                    continue;
                used[0] += of->job[j].cell[i].gpus;
                used[1] += of->job[j].each[0] * of->job[j].cell[i].gpus;
                used[2] += of->job[j].each[1] * of->job[j].cell[i].gpus;
                spans += of->job[j].cell_count > 1;
            }
        faults += used[0] > NODE_GPUS || used[1] > 16 || used[2] > 64 || spans > 1;
    }
    return faults;
}

/* Searches a case, with a climb or without one.  Returns the mean of gains. */
static double search_case(struct cs_host *host, struct case_of *of, uint64_t seed, bool climbs)
{
    uint32_t faults = 0;

    draw_case(of, seed);
    struct cs_breed_asks asks = { .self = of, .size = size_of, .gain = gain_of,
                                  .population = 30, .generations = 40, .p = of->p };
    struct cs_breed *breed = cs_make_breed(host, &asks);
    if (climbs)
        cs_climb_above(breed, JOBS - 1);
    cs_breed_gpus(breed, of->job, JOBS, of->node, NODES, seed);
    double fitness = mean_of_gains(of, &faults);
    assert_int_equal(faults + count_overfull(of), 0);

    /* The next search begins with the parents of this one, and comes no lower. */
    cs_breed_gpus(breed, of->job, JOBS, of->node, NODES, seed + 1);
    assert_true(mean_of_gains(of, &faults) >= fitness * (1 - 1e-9));
    assert_int_equal(faults + count_overfull(of), 0);
    return fitness;
}

/* Where no node has GPUs, no job has any, and generations without end are not bred. */
static void search_nothing(struct cs_host *host, struct case_of *of)
{
    draw_case(of, 1);
    struct cs_breed_asks asks = { .self = of, .size = size_of, .gain = gain_of,
                                  .population = 2, .generations = UINT32_MAX, .p = -1 };
    struct cs_breed *breed = cs_make_breed(host, &asks);
    for (uint32_t n = 0; n < NODES; n++)
        of->node[n].gpus = 0;
    for (uint32_t j = 0; j < JOBS; j++)
        of->job[j].now_count = 0;
    cs_breed_gpus(breed, of->job, JOBS, of->node, NODES, 1);
    for (uint32_t j = 0; j < JOBS; j++)
        assert_int_equal(of->job[j].cell_count, 0);
}

/* Of 60 cases none is worse by a climb. */
static void search_all(void *self, struct cs_host *host)
{
    bool *searched = self;
    struct case_of of;

    for (uint64_t seed = 0; seed < CASES && !*searched; seed++) {
        double without = search_case(host, &of, seed, false);
        double with = search_case(host, &of, seed, true);
        print_message("seed %d: %.6g by generations, %.6g by a climb\n", (int)seed, without,
                      with);
        if (!(with >= without))
            fail_msg("seed %d: %.9g, and %.9g without a climb", (int)seed, with, without);
    }
    search_nothing(host, &of);
    *searched = true;
    if (cs_pending_count(host) > 0)
        cs_start(host, cs_pending(host, 0));
}

static const struct cs_policy search_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "search", .summary = "searches of drawn jobs", .self_bytes = sizeof(bool),
    .decide = search_all,
};

static void a_climb_finds_no_worse_plans_than_generations(void **state)
{
    const struct world_job job[] = { { 0, 60, 1, 0, 0 } };
    struct world_job out[1];
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 4, job, 1, "[fcfs]"));
    const struct host_policy policy = world_policy(&search_policy);
    if (!world_run(&world, 0, &policy, out, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(out[0].end_s == 60);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_climb_finds_no_worse_plans_than_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
