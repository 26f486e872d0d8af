/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tournament_test.c - orders that move, against the same policies sorted at each decision.  Turns
 * of jobs with equal keys, against a list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/registry/registry.h"
#include "tests/aid/meets.h"
#include "tests/aid/world.h"

/* A tournament starts what a policy starts whose order is sorted at each decision. */
static void a_tournament_serves_what_a_sort_would(void **state)
{
    static const char *const fast[] = {
        "hrrn", "wfp3", "unicef", "wfp3, wait: unset", "unicef, wait: offset",
        "unicef, wait: unset",
    };
    static const char *const blocking[] = {
        "strict", "skip", "commit", "drop", "commit, backfill: true",
    };
    static const int wait[] = { 0, 0, 0, 1, 1, 2 };    /* which of its words */
    char text[120];

    (void)state;
    for (size_t p = 0; p < 6; p++) {
        char name[16];
        sscanf(fast[p], "%15[a-z0-9]", name);
        struct cs_policy slow = *registry_find(name);
        slow.line = NULL;
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t b = 0; b < 5; b++) {
                struct world_job job[MEETS_JOBS];
                snprintf(text, sizeof text, "%s, blocking: %s", fast[p],
                         blocking[b]);
                meets(&slow, &wait[p], text, seed, meets_rule[b]);
                world_random_jobs(seed, job, MEETS_JOBS);     /* many at once */
                for (uint32_t i = 0; i < MEETS_JOBS; i++) {
                    job[i].submit_s = 900 * (job[i].submit_s / 900);
                    job[i].duration_s = 60 * (1 + job[i].duration_s / 60);
                }
                agrees(&slow, &wait[p], text, seed, meets_rule[b], job);
            }
    }
}

/* ---- turns ---- */

#define TURN_JOBS 40u
#define TURN_GPUS 4u

/* The list of jobs that came, by hand: what waits before what runs, each by the time since which
 * it does so. */
struct turns {
    uint32_t job[TURN_JOBS], since[TURN_JOBS], jobs, count;
};

static struct turns turns;
static uint32_t stops;                  /* over all decisions */

static bool waits(const struct cs_host *host, uint32_t job)
{
    return cs_job_task(host, (struct job_id) { job }, CS_ALL_ROLES).i != ID_NONE;
}

static double key_of_all(const void *self, const struct cs_host *host, struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 7.0;
}

static void note_turn(void *self, struct cs_host *host, struct job_id job)
{
    (void)self;
    (void)host;
    turns.since[job.i] = turns.count++;
    turns.job[turns.jobs++] = job.i;
}

static void drop_turn(void *self, struct cs_host *host, struct job_id job)
{
    uint32_t i = 0;

    (void)self;
    (void)host;
    while (turns.job[i] != job.i)
        i++;
    for (turns.jobs--; i < turns.jobs; i++)
        turns.job[i] = turns.job[i + 1];
}

static bool turn_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    return waits(host, a) != waits(host, b) ? waits(host, a) : turns.since[a] < turns.since[b];
}

/* Sorts by exchanges of neighbours, takes what fits, and compares. */
static void take_turns(void *self, struct cs_host *host)
{
    uint32_t room = TURN_GPUS;
    bool take[TURN_JOBS], waited[TURN_JOBS];

    for (uint32_t n = 0; n < turns.jobs; n++)
        for (uint32_t i = 0; i + 1 < turns.jobs; i++)
            if (turn_before(host, turns.job[i + 1], turns.job[i])) {
                uint32_t job = turns.job[i];
                turns.job[i] = turns.job[i + 1];
                turns.job[i + 1] = job;
            }
    for (uint32_t i = 0; i < turns.jobs; i++) {
        uint32_t gpus = cs_job_gpus(host, (struct job_id) { turns.job[i] });
        take[i] = gpus <= room;
        room -= take[i] ? gpus : 0;
        waited[i] = waits(host, turns.job[i]);
    }
    (void)self;
    cs_reallocate(host, key_of_all);
    for (int starts = 0; starts < 2; starts++)
        for (uint32_t i = 0; i < turns.jobs; i++) {
            assert_int_equal(waits(host, turns.job[i]), !take[i]);
            if (take[i] == waited[i] && take[i] == starts) {
                turns.since[turns.job[i]] = turns.count++;
                stops += !starts;
            }
        }
}

/* Of equal keys, jobs take turns: what was stopped goes behind what waits longer. */
static void jobs_of_equal_keys_take_turns(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "turns", .summary = "equal keys", .flags = CS_PREEMPTS, .self_bytes = 1,
        .job_submitted = note_turn, .job_ended = drop_turn, .decide = take_turns,
    };
    struct host_policy policy = world_policy(&table);
    struct rng rng;

    (void)state;
    policy.rules.tick_ns = 60 * INT64_C(1000000000);
    stops = 0;
    rng_init(&rng, 1, "turns", 0);
    for (int i = 0; i < 10; i++) {
        struct world_job job[TURN_JOBS];
        struct world world = { 0 };
        turns = (struct turns){ .count = 0 };
        for (uint32_t j = 0; j < TURN_JOBS; j++)
            job[j] = (struct world_job){ 20 * (int64_t)j, 50 + (int64_t)rng_below(&rng, 500),
                                         1 + (uint32_t)rng_below(&rng, TURN_GPUS), 0, 0 };
        assert_true(world_trace(&world, 1, TURN_GPUS, job, TURN_JOBS, "[fcfs]"));
        if (!world_run(&world, 0, &policy, job, NULL))
            fail_msg("%s", world_error(&world));
        world_close(&world);
    }
    assert_true(stops > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tournament_serves_what_a_sort_would),
        cmocka_unit_test(jobs_of_equal_keys_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
