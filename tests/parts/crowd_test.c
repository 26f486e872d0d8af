/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crowd_test.c - every policy with more jobs at once than its lists begin with room for: each job
 * ends, after its own time at least, and GPUs are never given twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/world.h"

#define JOBS 400u
#define NODES 6u
#define PER_NODE 8u

/* Three crowds: all at once, in two waves, and one a minute. */
static void draw_crowd(int crowd, struct world_job *job)
{
    struct rng rng;

    rng_init(&rng, (uint64_t)crowd, "crowd", 0);
    for (uint32_t i = 0; i < JOBS; i++)
        job[i] = (struct world_job){ .submit_s = crowd == 0 ? 0 : crowd == 1 ? 600 * (i % 2)
                                                                             : 60 * i,
                                     .duration_s = 10 + (int64_t)rng_below(&rng, 300),
                                     .gpus = 1u << rng_below(&rng, 4) };
    if (crowd != 1)
        return;
    struct world_job copy[JOBS];        /* a trace is in the order of submission */
    memcpy(copy, job, sizeof copy);
    for (uint32_t i = 0; i < JOBS; i++)
        job[i] = copy[i < JOBS / 2 ? 2 * i : 2 * (i - JOBS / 2) + 1];
}

/* Does a policy give GPUs to whole jobs, from their start to their end? */
static bool holds(const struct cs_policy *policy)
{
    return !(policy->flags & CS_PREEMPTS);
}

/* Work that was done by the end of all is no more than all GPUs can do; of jobs that hold what
 * they asked for, no instant has more than there are. */
static void check_crowd(const struct cs_policy *policy, const struct world_job *job)
{
    double last_s = 0, work = 0, first_s = 1e18;

    for (uint32_t i = 0; i < JOBS; i++) {
        if (!(job[i].start_s >= (double)job[i].submit_s) || !(job[i].end_s > job[i].start_s))
            fail_msg("%s: job %u came at %lld s, ran from %g to %g s", policy->name, i,
                     (long long)job[i].submit_s, job[i].start_s, job[i].end_s);
        if (job[i].end_s - job[i].start_s < (double)job[i].duration_s - 1e-6)
            fail_msg("%s: job %u of %lld s took %g s", policy->name, i,
                     (long long)job[i].duration_s, job[i].end_s - job[i].start_s);
        work += (double)(job[i].duration_s * job[i].gpus);
        last_s = job[i].end_s > last_s ? job[i].end_s : last_s;
        first_s = job[i].start_s < first_s ? job[i].start_s : first_s;
    }
    assert_true(work <= (last_s - first_s) * NODES * PER_NODE + 1e-6);
    for (uint32_t i = 0; holds(policy) && i < JOBS; i++) {
        uint32_t gpus = 0;
        for (uint32_t k = 0; k < JOBS; k++)
            if (job[k].start_s <= job[i].start_s && job[k].end_s > job[i].start_s)
                gpus += job[k].gpus;
        if (gpus > NODES * PER_NODE)
            fail_msg("%s: %u GPUs at %g s", policy->name, gpus, job[i].start_s);
    }
}

static void every_policy_serves_a_crowd(void **state)
{
    uint32_t ran = 0, policies = 0;

    (void)state;
    for (; registry_at(policies) != NULL; policies++)
        for (int crowd = 0; crowd < 3; crowd++) {
            const struct cs_policy *policy = registry_at(policies);
            struct world_job job[JOBS];
            struct world world = { 0 };
            char text[80];

            draw_crowd(crowd, job);
            snprintf(text, sizeof text, "[%s]", policy->name);
            /* Some need two pools, several roles, or keys of their own, and say so. */
            if (!world_trace(&world, NODES, PER_NODE, job, JOBS, text)) {
                assert_true(world_error(&world)[0] != '\0');
                world_close(&world);
                continue;
            }
            if (world_run(&world, 0, NULL, job, NULL)) {
                check_crowd(policy, job);
                ran++;
            } else {
                assert_true(strstr(world_error(&world), policy->name) != NULL);
            }
            world_close(&world);
        }
    if (ran < 2 * policies)
        fail_msg("%u of %u policies ran", ran / 3, policies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_serves_a_crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
