/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * then_test.c - `then` of an entry, in worlds of a few jobs that are worked out by hand:
 * when it acts, and what goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

/* Runs jobs on one node of eight GPUs under one entry. */
static void run(const char *entry, struct world_job *job, size_t jobs)
{
    struct world world = { .folder = "" };

    if (!world_trace(&world, 1, 8, job, (uint32_t)jobs, entry) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", entry, world_error(&world));
    world_close(&world);
}

static void assert_time(double is, double wanted)
{
    assert_true(is > wanted - 1e-6 && is < wanted + 1e-6);
}

/* The second job waits for all GPUs and blocks the third, until the queue may be passed
 * over: at that instant the third starts, though nothing happens then. */
static void a_rule_changes_at_its_instant(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 1200, 3600, 2, 0, 0 } };

    (void)state;
    run("[{policy: fcfs, then: {at: 2h, blocking: skip}}]", job, COUNT(job));
    assert_time(job[2].start_s, 7200);
    assert_time(job[1].start_s, 36000);
    run("[{policy: fcfs}]", job, COUNT(job));
    assert_time(job[2].start_s, 39600);
}

/* optimus would decide at 7800 s, its interval, and hrrn not before the last job comes: its rule
 * puts the third job before the second from 7440 s on, where (t - 600) / 3600 is as much as
 * (t - 7250) / 100. */
static void nobody_is_asked_at_the_times_of_the_policy_that_went(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 7250, 100, 2, 0, 0 }, { 9000, 3600, 8, 0, 0 } };

    (void)state;
    run("[{policy: optimus, interval: 600s, then: {at: 7300s, policy: hrrn}}]", job,
        COUNT(job));
    assert_time(job[0].start_s, 0);
    assert_time(job[2].start_s, 9000);
    assert_time(job[1].start_s, 36000);
}

/* Of the second job, which was chosen, nothing changes: the third may pass it from 7200 s on,
 * since it ends before 36000 s. */
static void backfill_may_begin_later(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 1200, 3600, 2, 0, 0 } };

    (void)state;
    run("[{policy: fcfs, blocking: commit, then: {at: 2h, backfill: true}}]", job, COUNT(job));
    assert_time(job[2].start_s, 7200);
    assert_time(job[1].start_s, 36000);
}

/* The last job has a decision at the round of 7260 s, the first in the third hour.  Its
 * successor decides at the first round that it has, and not an hour later. */
static void what_comes_has_not_solved_yet(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 1200, 3600, 2, 0, 0 }, { 7210, 3600, 8, 0, 0 } };

    (void)state;
    run("[{policy: fcfs, rounds: {length: 60s, resolve_at_most_every: 1h}, then: {at: 7300s, "
        "blocking: skip}}]", job, COUNT(job));
    assert_time(job[2].start_s, 7320);
}

/* A job starts at the next round: of 100 s before 350 s, and of what `then` says after it. */
static void rounds_are_of_another_length_from_then_on(void **state)
{
    static const struct { const char *then; int64_t round_s; } row[] = {
        { "rounds: {length: 250s}", 250 }, { "rounds: {length: 40s}", 40 },
        { "blocking: skip", 100 },
    };
    enum { JOBS = 20 };

    (void)state;
    for (size_t k = 0; k < COUNT(row); k++) {
        struct world_job job[JOBS] = { { 0, 0, 0, 0, 0 } };
        char entry[128];
        for (int i = 0; i < JOBS; i++)
            job[i] = (struct world_job){ 17 + 47 * i, 10, 1, 0, 0 };
        snprintf(entry, sizeof entry, "[{policy: fcfs, rounds: {length: 100s}, then: {at: 350s, "
                 "%s}}]", row[k].then);
        run(entry, job, JOBS);
        for (int i = 0; i < JOBS; i++) {
            int64_t at = job[i].submit_s, start = (at + 99) / 100 * 100;
            if (start > 350)
                start = ((at > 350 ? at : 350) + row[k].round_s - 1) / row[k].round_s *
                        row[k].round_s;
            if (job[i].start_s != (double)start)
                fail_msg("%s: job of %lld s starts at %g s, not %lld s", row[k].then,
                         (long long)at, job[i].start_s, (long long)start);
        }
    }
}

/* Decisions are 1000 s apart from the first one after 350 s on, which is at 400 s. */
static void decisions_are_far_apart_from_then_on(void **state)
{
    struct world_job job[] = { { 10, 10, 1, 0, 0 }, { 110, 10, 1, 0, 0 }, { 360, 10, 1, 0, 0 },
                               { 450, 10, 1, 0, 0 }, { 1450, 10, 1, 0, 0 } };
    static const double start_s[] = { 100, 200, 400, 1400, 2400 };

    (void)state;
    run("[{policy: fcfs, rounds: {length: 100s}, then: {at: 350s, rounds: {length: 100s, "
        "resolve_at_most_every: 1000s}}}]", job, COUNT(job));
    for (size_t j = 0; j < COUNT(job); j++)
        assert_time(job[j].start_s, start_s[j]);
}

/* las stops the first job for the second at 7300 s, when it begins, and turns back at its quantum
 * after 14600 s, when both have had as much: the second is not over at 17300 s.  Its own times
 * count, though optimus wanted to be asked at 7800 s. */
static void the_policy_that_comes_is_asked_at_its_times(void **state)
{
    struct world_job job[] = { { 0, 36000, 8, 0, 0 }, { 6500, 10000, 8, 0, 0 } };

    (void)state;
    run("[{policy: optimus, interval: 600s, then: {at: 7300s, policy: las, quantum: 700s}}]", job,
        COUNT(job));
    assert_time(job[1].start_s, 7300);
    assert_true(job[1].end_s > 17600);
}

/* The estimate acts up to the change, though nothing asks for it afterwards: the third job would
 * end behind the start that is promised to the second, at 36000 s, until nothing is promised. */
static void a_key_may_act_up_to_then_alone(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 1200, 50000, 2, 0, 0 } };

    (void)state;
    run("[{policy: easy, estimate: requested, then: {at: 1h, reservation: none}}]", job,
        COUNT(job));
    assert_time(job[2].start_s, 3600);
    run("[{policy: easy, estimate: requested}]", job, COUNT(job));
    assert_time(job[1].start_s, 36000);
    assert_time(job[2].start_s, 39600);
}

/* Another policy keeps what all policies have: here the third may pass the second. */
static void keys_of_all_policies_go_on(void **state)
{
    struct world_job job[] = { { 0, 36000, 6, 0, 0 }, { 600, 3600, 8, 0, 0 },
                               { 2400, 3600, 2, 0, 0 } };

    (void)state;
    run("[{policy: fcfs, blocking: skip, then: {at: 30min, policy: ljf}}]", job, COUNT(job));
    assert_time(job[2].start_s, 2400);
    run("[{policy: fcfs, blocking: skip, then: {at: 30min, policy: ljf, blocking: strict}}]",
        job, COUNT(job));
    assert_time(job[2].start_s, 39600);
}

/* A job that is stopped by the second policy pays what the entry says, or what `then`
 * says. */
static void the_cost_of_a_stop_goes_on(void **state)
{
    struct world_job job[] = { { 0, 36000, 8, 0, 0 }, { 7200, 600, 8, 0, 0 } };

    (void)state;
    run("[{policy: srtf, preemption: {cost: 600s}, then: {at: 1h, policy: srsf}}]", job,
        COUNT(job));
    assert_time(job[1].end_s, 7800);
    assert_time(job[0].end_s, 36000 + 600 + 600);
    run("[{policy: srtf, preemption: {cost: 600s}, then: {at: 1h, preemption: {cost: 60s}}}]",
        job, COUNT(job));
    assert_time(job[0].end_s, 36000 + 600 + 60);
}

/* The second job has had nothing: a policy that goes by that must know it at once. */
static void one_that_takes_over_is_told_of_all_jobs(void **state)
{
    struct world_job job[] = { { 0, 36000, 8, 0, 0 }, { 3600, 36000, 8, 0, 0 } };

    (void)state;
    run("[{policy: fcfs, then: {at: 7201s, policy: las}}]", job, COUNT(job));
    assert_time(job[1].start_s, 7201);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_changes_at_its_instant),
        cmocka_unit_test(nobody_is_asked_at_the_times_of_the_policy_that_went),
        cmocka_unit_test(rounds_are_of_another_length_from_then_on),
        cmocka_unit_test(decisions_are_far_apart_from_then_on),
        cmocka_unit_test(the_policy_that_comes_is_asked_at_its_times),
        cmocka_unit_test(backfill_may_begin_later),
        cmocka_unit_test(what_comes_has_not_solved_yet),
        cmocka_unit_test(keys_of_all_policies_go_on),
        cmocka_unit_test(a_key_may_act_up_to_then_alone),
        cmocka_unit_test(the_cost_of_a_stop_goes_on),
        cmocka_unit_test(one_that_takes_over_is_told_of_all_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
