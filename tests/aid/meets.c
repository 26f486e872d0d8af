/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * meets.c - a policy against a slow one that decides alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/meets.h"

const char *const meets_rule[5] = { "count", "first_fit", "best_fit", "pack", "spread" };

uint32_t walk_pending(const struct cs_host *host, uint32_t i,
                     const struct cs_filter *filter)
{
    for (; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        if (task->gpus <= filter->gpus_max &&
            (task->estimate_ns <= filter->estimate_max_ns ||
             task->gpus <= filter->gpus_any_estimate))
            return i;
    }
    return i;
}

int64_t walk_earliest(const struct cs_host *host, uint32_t gpus,
                             uint32_t *spare)
{
    int64_t at = cs_now_ns(host);

    for (;;) {
        int64_t next = INT64_MAX;
        uint32_t free = cs_free_gpus(host, 0);
        for (uint32_t i = 0; i < cs_lease_count(host); i++) {
            const struct cs_lease *lease =
                cs_lease(host, cs_lease_at(host, i));
            if (lease->expected_end_ns <= at)
                free += lease->gpus;
            else if (lease->expected_end_ns < next)
                next = lease->expected_end_ns;
        }
        if (free >= gpus) {
            *spare = free - gpus;
            return at;
        }
        if (next == INT64_MAX)
            return CLOCK_NEVER_NS;
        at = next;
    }
}

void agrees(const struct cs_policy *slow, const void *params,
                   const char *fast, uint64_t seed, const char *rule,
                   struct world_job *a)
{
    struct host_policy policy = world_policy(slow);
    struct world_job b[MEETS_JOBS];
    struct world world = { .tenants = 3 + 20 * ((uint32_t)seed % 3) };
    char text[200];

    memcpy(b, a, sizeof b);
    snprintf(text, sizeof text, "[{policy: %s, placement: %s}]", fast, rule);
    /* Many run and few wait, or the reverse. */
    assert_true(world_trace(&world, seed % 2 ? 4 : 11, 4, a, MEETS_JOBS, text));
    if (!world_run(&world, 0, NULL, a, NULL))
        fail_msg("%s: %s", text, world_error(&world));
    policy.params = params;
    policy.rules = experiment_trial_spec(world.experiment, 0).policy->rules;
    if (!world_run(&world, 0, &policy, b, NULL))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < MEETS_JOBS; i++)
        if (a[i].start_s < b[i].start_s || a[i].start_s > b[i].start_s ||
            a[i].end_s < b[i].end_s || a[i].end_s > b[i].end_s)
            fail_msg("%s: job %u from %g to %g, not from %g to %g", text, i,
                     a[i].start_s, a[i].end_s, b[i].start_s, b[i].end_s);
    world_close(&world);
}

void meets(const struct cs_policy *slow, const void *params,
                  const char *fast, uint64_t seed, const char *rule)
{
    struct world_job job[MEETS_JOBS];

    world_random_jobs(seed, job, MEETS_JOBS);
    for (uint32_t i = 0; i < MEETS_JOBS; i++) {
        job[i].submit_s /= 3;           /* a queue */
        if (seed % 3 == 0)              /* of odd sizes, in whole minutes */
            job[i].gpus = 1 + (job[i].gpus + i) % 9;
        if (seed % 3 == 0)
            job[i].duration_s = 60 * (1 + job[i].duration_s / 40);
    }
    agrees(slow, params, fast, seed, rule, job);
}
