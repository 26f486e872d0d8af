/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale_test.c - what a run looks at and keeps, by counts: nodes per job,
 * tasks per decision, bytes, none of which may grow with the size of a world.
 * No time is judged here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"

#define JOBS 600

/* Ten seconds apart, each a hundred long or so: few run, none waits. */
static void sparse_jobs(struct world_job *job, uint32_t jobs)
{
    for (uint32_t i = 0; i < jobs; i++)
        job[i] = (struct world_job) {
            .submit_s = 10 * (int64_t)i, .duration_s = 60 + i % 80,
            .gpus = 1u << i % 4,
        };
}

static struct trial_result run(uint32_t nodes, struct world_job *job,
                               uint32_t jobs, const char *policy)
{
    struct world world = { 0 };
    struct trial_result result;

    assert_true(world_trace(&world, nodes, 8, job, jobs, policy));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    struct trial_tables none = { 0 };
    spec.by_host = true;
    if (!trial_run(&spec, &none, &result, &world.err))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    assert_int_equal(result.status_count[JOB_DONE], jobs);
    return result;
}

static void a_search_for_room_looks_at_few_nodes_of_many(void **state)
{
    static const char *const rules[] = { "count", "first_fit", "best_fit",
                                         "pack", "spread" };
    struct world_job job[JOBS];

    (void)state;
    sparse_jobs(job, JOBS);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        char policy[64];
        snprintf(policy, sizeof policy, "[{policy: fcfs, placement: %s}]",
                 rules[r]);
        uint64_t small = run(64, job, JOBS, policy).nodes_seen;
        uint64_t large = run(8192, job, JOBS, policy).nodes_seen;
        assert_in_range(small, JOBS, 8 * JOBS);
        assert_true(large <= 2 * small);
        assert_true(large <= 8 * JOBS);
    }
}

/* All at once, for a cluster that is full from the first instant on. */
static void a_backfill_looks_at_few_tasks_of_many(void **state)
{
    static struct world_job job[8 * JOBS];
    double seen[2];

    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        uint32_t jobs = n == 0 ? JOBS : 8 * JOBS;
        struct rng rng;
        rng_init(&rng, 1, "scale", 0);
        for (uint32_t i = 0; i < jobs; i++)
            job[i] = (struct world_job) {
                .duration_s = 100 + (int64_t)rng_below(&rng, 1000),
                .gpus = 1u << rng_below(&rng, 4),
            };
        struct trial_result result =
            run(4, job, jobs, "[{policy: easy, placement: count}]");
        seen[n] = (double)result.tasks_seen / jobs;
    }
    assert_true(seen[0] > 1);           /* it searches the queue at all */
    assert_true(seen[1] < 2 * seen[0]); /* 8 times as many wait */
    assert_true(seen[1] < 200);
}

/* More than bounds are kept for: what is kept of jobs that ended would
 * show. */
static void memory_does_not_grow_with_the_jobs_of_a_file(void **state)
{
    const uint32_t jobs = 101000, more = jobs + 49000;
    struct world_job *job = calloc(more, sizeof *job);

    (void)state;
    assert_non_null(job);
    sparse_jobs(job, more);
    uint64_t once = run(16, job, jobs,
                        "[{policy: srtf, placement: count}]").arena_bytes;
    uint64_t later = run(16, job, more,
                         "[{policy: srtf, placement: count}]").arena_bytes;
    free(job);
    assert_true(later >= once);
    /* Less than a byte a job: addresses of blocks. */
    assert_true(later - once < more - jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_for_room_looks_at_few_nodes_of_many),
        cmocka_unit_test(a_backfill_looks_at_few_tasks_of_many),
        cmocka_unit_test(memory_does_not_grow_with_the_jobs_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
