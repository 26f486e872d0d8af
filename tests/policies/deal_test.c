/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal_test.c - GPUs that are dealt by keys that move, against the same policies by a sort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/phases.h"
#include "policies/rank.h"
#include "tests/aid/meets.h"
#include "tests/aid/world.h"


static double left(const void *self, const struct cs_host *host,
                   struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job);
}

static void slow_srtf_decide(void *self, struct cs_host *host)
{
    (void)self;
    cs_reallocate(host, left);
}

/* Estimates that are too short end at 0, where many jobs are equal. */
static void srtf_starts_and_stops_what_a_sort_would(void **state)
{
    static const char *const fast[] = {
        "srtf", "srtf, preemption: {cost: 37s}", "srtf, tick: 10s",
        "srtf, rounds: {length: 30s}, preemption: {cost: 1s}",
        "srtf, estimate: noisy, noise: 1, preemption: {cost: 5s}",
    };
    static const struct cs_policy slow = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof slow,
        .name = "slow", .summary = "SRTF by a sort", .flags = CS_PREEMPTS,
        .decide = slow_srtf_decide,
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t f = 0; f < sizeof fast / sizeof *fast; f++)
            for (int r = 0; r < 3; r++)
                meets(&slow, NULL, fast[f], seed, meets_rule[r]);
}

/* ---- deals by keys that move ---- */

struct slow_deal {
    int64_t quantum_ns, end_ns;
    bool news;
    uint32_t free, waiting;     /* las: GPUs and jobs, after the last decision */
    int64_t dealt_ns;           /* las: when it last dealt */
    int64_t ran_ns[MEETS_JOBS];
};

static double attained(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return cs_attained_gpu_s(host, job);
}

static double service_left(const void *self, const struct cs_host *host,
                           struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job) * cs_job_gpus(host, job);
}

static double gpus_asked(const void *self, const struct cs_host *host,
                         struct job_id job)
{
    (void)self;
    return cs_job_gpus(host, job);
}

static double last_ran(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    const struct slow_deal *slow = self;

    (void)host;
    return (double)slow->ran_ns[job.i];
}

static void slow_news(void *self, struct cs_host *host, struct job_id job)
{
    struct slow_deal *slow = self;

    slow->news = true;
    slow->ran_ns[job.i] = cs_now_ns(host);
}

static void slow_las_decide(void *self, struct cs_host *host)
{
    struct slow_deal *slow = self;
    struct cs_filter fits = { .gpus_max = cs_free_gpus(host, 0),
                              .estimate_max_ns = INT64_MAX };
    int64_t now = cs_now_ns(host), quantum = slow->quantum_ns;
    bool failed = now != slow->dealt_ns && (cs_free_gpus(host, 0) != slow->free ||
                                            cs_pending_count(host) != slow->waiting);

    if (cs_pending_count(host) > 0 &&
        (slow->news || now % quantum == 0 ||
         (failed && walk_pending(host, 0, &fits) < cs_pending_count(host)))) {
        slow->dealt_ns = now;
        cs_reallocate(host, attained);
    }
    slow->news = false;
    slow->free = cs_free_gpus(host, 0);
    slow->waiting = cs_pending_count(host);
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, (now / quantum + 1) * quantum);
}

static void slow_srsf_decide(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) > 0)
        cs_reallocate(host, service_left);
}

static void slow_fewest_decide(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) > 0)
        cs_reallocate(host, gpus_asked);
}

/* Of those that were not tried, who has waited longest. */
static struct task_id next_turn(const struct slow_deal *slow,
                                const struct cs_host *host, int64_t after_ns,
                                uint32_t after_job)
{
    struct task_id best = { ID_NONE };
    int64_t best_ns = 0;
    uint32_t best_job = 0;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        uint32_t job = cs_task(host, task)->job.i;
        int64_t ran = slow->ran_ns[job];
        if ((ran > after_ns || (ran == after_ns && job > after_job)) &&
            (best.i == ID_NONE || ran < best_ns ||
             (ran == best_ns && job < best_job))) {
            best = task;
            best_ns = ran;
            best_job = job;
        }
    }
    return best;
}

static void slow_turns_decide(void *self, struct cs_host *host)
{
    struct slow_deal *slow = self;
    int64_t now = cs_now_ns(host), after_ns = -1;
    uint32_t after_job = 0;
    struct task_id task;

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        slow->ran_ns[cs_running(host, i).i] = now;
    if (now >= slow->end_ns)
        cs_reallocate(host, last_ran);
    while (now < slow->end_ns && cs_free_gpus(host, 0) > 0) {
        task = next_turn(slow, host, after_ns, after_job);
        if (task.i == ID_NONE)
            break;
        after_job = cs_task(host, task)->job.i;
        after_ns = slow->ran_ns[after_job];
        cs_start(host, task);
    }
    if (cs_pending_count(host) == 0) {
        slow->end_ns = now;
        return;
    }
    if (now >= slow->end_ns)
        slow->end_ns = now + slow->quantum_ns;
    cs_wake_at(host, slow->end_ns);
}

static void deals_agree(const char *name,
                        void (*decide)(void *, struct cs_host *),
                        int64_t quantum_s)
{
    static const char *const more[] = {
        "", ", preemption: {cost: 37s}", ", tick: 10s",
        ", preemption: {cost: 1s}", ", preemption: {cost: 20s}",
        ", estimate: noisy, noise: 1, preemption: {cost: 1s}",
    };
    struct cs_policy slow = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof slow,
        .name = "slow", .summary = "by a sort", .flags = CS_PREEMPTS,
        .self_bytes = sizeof(struct slow_deal), .decide = decide,
        .job_submitted = slow_news, .job_ended = slow_news,
    };
    struct slow_deal start = { .quantum_ns = quantum_s * 1000000000 };
    char fast[160], quantum[40] = "";

    if (quantum_s > 0)
        snprintf(quantum, sizeof quantum, ", quantum: %llds",
                 (long long)quantum_s);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            if (!world_accepts(name, more[m]))
                continue;
            snprintf(fast, sizeof fast, "%s%s%s", name, quantum, more[m]);
            meets(&slow, &start, fast, seed, meets_rule[m % 5]);
        }
}

static void moving_keys_deal_as_a_sort_would(void **state)
{
    (void)state;
    deals_agree("las", slow_las_decide, 600);
    deals_agree("las", slow_las_decide, 60);
    deals_agree("srsf", slow_srsf_decide, 0);
    deals_agree("fewest-gpus", slow_fewest_decide, 0);
    deals_agree("time-slice", slow_turns_decide, 60);
}

/* All times are whole minutes, and so is what a restart costs: who was stopped
 * and owes for it is as far from its end as others that wait. */
static void stopped_jobs_that_owe_tie_as_in_a_sort(void **state)
{
    static const char *const fast[] = {
        "srsf, preemption: {cost: 60s}", "srsf, preemption: {cost: 120s}",
        "srsf, preemption: {cost: 300s}",
    };
    static const struct cs_policy slow = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof slow,
        .name = "slow", .summary = "SRSF by a sort", .flags = CS_PREEMPTS,
        .decide = slow_srsf_decide,
    };
    struct world_job job[MEETS_JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (size_t f = 0; f < sizeof fast / sizeof *fast; f++) {
            world_random_jobs(seed, job, MEETS_JOBS);
            for (uint32_t i = 0; i < MEETS_JOBS; i++) {
                job[i].submit_s = 60 * (job[i].submit_s / 180);
                job[i].duration_s = 60 * (1 + job[i].duration_s / 40);
            }
            agrees(&slow, NULL, fast[f], seed, meets_rule[f], job);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srtf_starts_and_stops_what_a_sort_would),
        cmocka_unit_test(moving_keys_deal_as_a_sort_would),
        cmocka_unit_test(stopped_jobs_that_owe_tie_as_in_a_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
