/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_queue_test.c - what the indexes answer against what a walk finds, and
 * policies that use them against the same policies without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/phases.h"
#include "policies/rank.h"
#include "policies/registry/registry.h"
#include "tests/aid/world.h"

#define JOBS 200

static const char *const rules[] = { "count", "first_fit", "best_fit", "pack",
                                     "spread" };

/* ---- one question after the other ---- */

struct probe {
    uint32_t asked, found;
};

static uint32_t walk(const struct cs_host *host, uint32_t i,
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

static int64_t walk_earliest(const struct cs_host *host, uint32_t gpus,
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

static void task_for_room(struct cs_host *host)
{
    uint32_t spare = 0, slow_spare = 0;
    uint32_t gpus = (uint32_t)(cs_random(host) * 24);
    int64_t slow = walk_earliest(host, gpus, &slow_spare);

    assert_true(cs_earliest_ns(host, gpus, &spare) == slow);
    if (slow != CLOCK_NEVER_NS)
        assert_int_equal(spare, slow_spare);
}

static void probe_decide(void *self, struct cs_host *host)
{
    struct probe *probe = self;

    for (int q = 0; q < 8; q++) {
        uint32_t pending = cs_pending_count(host);
        uint32_t from = (uint32_t)(cs_random(host) * (pending + 1));
        struct cs_filter filter = {
            .gpus_max = (uint32_t)(cs_random(host) * 10),
            .gpus_any_estimate = (uint32_t)(cs_random(host) * 5),
            .estimate_max_ns = (int64_t)(cs_random(host) * 6e11) - 1000,
        };
        uint32_t slow = walk(host, from, &filter);
        assert_int_equal(cs_find_pending(host, from, &filter), slow);
        probe->asked++;
        probe->found += slow < pending;
        task_for_room(host);
    }
    if (cs_running_count(host) > 0 && cs_random(host) < 0.2)
        cs_stop(host, cs_running(host, cs_running_count(host) / 2));
    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (cs_random(host) < 0.7 ||
            cs_start(host, cs_pending(host, i)) != CS_DONE)
            i++;
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, cs_now_ns(host) + 10 * CLOCK_NS_PER_S);
}

static void probe_fini(void *self)
{
    const struct probe *probe = self;

    assert_true(probe->asked > 1000 && probe->found > probe->asked / 20);
    assert_true(probe->found < probe->asked);
}

static bool probe_before(const void *self, const struct cs_host *host,
                         struct task_id a, struct task_id b)
{
    (void)self;
    return cs_task(host, a)->estimate_ns < cs_task(host, b)->estimate_ns;
}

static const struct cs_policy probe_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof probe_policy,
    .name = "probe", .summary = "asks, and walks",
    .flags = CS_PREEMPTS | CS_DRAWS,
    .self_bytes = sizeof(struct probe), .decide = probe_decide,
    .fini = probe_fini, .before = probe_before,
};

static void an_index_answers_what_a_walk_finds(void **state)
{
    struct host_policy policy = world_policy(&probe_policy);
    struct world_job job[JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world world = { 0 };
        world_random_jobs(seed, job, JOBS);
        assert_true(world_trace(&world, 2, 8, job, JOBS, "[fcfs]"));
        if (!world_run(&world, 0, &policy, job, NULL))
            fail_msg("%s", world_error(&world));
        world_close(&world);
    }
}

/* ---- whole policies ---- */

/* As cs_start(), without what is remembered of searches that failed. */
static bool start(struct cs_host *host, uint32_t i)
{
    struct cs_want as_asked = { 0 };
    return cs_start_wants(host, cs_pending(host, i), &as_asked, 1) == CS_DONE;
}

struct slow_easy {
    int64_t depth_max;
};

static void slow_easy_decide(void *self, struct cs_host *host)
{
    const struct slow_easy *easy = self;
    uint32_t spare = 0, i = 1;

    while (cs_pending_count(host) > 0 && start(host, 0))
        continue;
    if (cs_pending_count(host) < 2)
        return;
    const struct cs_task *head = cs_task(host, cs_pending(host, 0));
    int64_t in_time =
        walk_earliest(host, head->gpus, &spare) - cs_now_ns(host);
    for (int64_t look = easy->depth_max;
         look > 0 && i < cs_pending_count(host) && cs_free_gpus(host, 0) > 0;
         look--) {
        struct cs_task task = *cs_task(host, cs_pending(host, i));
        bool ends = task.estimate_ns <= in_time;
        if (task.gpus > cs_free_gpus(host, 0) ||
            !(ends || task.gpus <= spare) || !start(host, i)) {
            i++;
            continue;
        }
        if (!ends)
            spare -= task.gpus;
    }
}

static void slow_skip_decide(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (!start(host, i))
            i++;
}

/* Jobs a[] start and end by both at the same times. */
static void agrees(const struct cs_policy *slow, const void *params,
                   const char *fast, uint64_t seed, const char *rule,
                   struct world_job *a)
{
    struct host_policy policy = world_policy(slow);
    struct world_job b[JOBS];
    struct world world = { .tenants = 3 + 20 * ((uint32_t)seed % 3) };
    char text[200];

    memcpy(b, a, sizeof b);
    snprintf(text, sizeof text, "[{policy: %s, placement: %s}]", fast, rule);
    /* Many run and few wait, or the reverse. */
    assert_true(world_trace(&world, seed % 2 ? 4 : 11, 4, a, JOBS, text));
    if (!world_run(&world, 0, NULL, a, NULL))
        fail_msg("%s: %s", text, world_error(&world));
    policy.params = params;
    policy.rules = experiment_trial_spec(world.experiment, 0).policy->rules;
    if (!world_run(&world, 0, &policy, b, NULL))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < JOBS; i++)
        if (a[i].start_s < b[i].start_s || a[i].start_s > b[i].start_s ||
            a[i].end_s < b[i].end_s || a[i].end_s > b[i].end_s)
            fail_msg("%s: job %u from %g to %g, not from %g to %g", text, i,
                     a[i].start_s, a[i].end_s, b[i].start_s, b[i].end_s);
    world_close(&world);
}

static void meets(const struct cs_policy *slow, const void *params,
                  const char *fast, uint64_t seed, const char *rule)
{
    struct world_job job[JOBS];

    world_random_jobs(seed, job, JOBS);
    for (uint32_t i = 0; i < JOBS; i++) {
        job[i].submit_s /= 3;           /* a queue */
        if (seed % 3 == 0)              /* of odd sizes, in whole minutes */
            job[i].gpus = 1 + (job[i].gpus + i) % 9;
        if (seed % 3 == 0)
            job[i].duration_s = 60 * (1 + job[i].duration_s / 40);
    }
    agrees(slow, params, fast, seed, rule, job);
}

static void easy_starts_what_a_walk_would_start(void **state)
{
    static const struct cs_policy slow = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof slow,
        .name = "slow", .summary = "EASY by a walk",
        .self_bytes = sizeof(struct slow_easy), .decide = slow_easy_decide,
    };
    static const struct slow_easy all = { 1000000000 }, four = { 4 };

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int r = 0; r < 5; r++) {
            meets(&slow, &all, "easy", seed, rules[r]);
            meets(&slow, &four, "easy, depth_max: 4", seed, rules[r]);
        }
}

static void skipping_starts_what_a_walk_would_start(void **state)
{
    static const struct cs_policy slow = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof slow,
        .name = "slow", .summary = "skips by a walk",
        .decide = slow_skip_decide,
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int r = 0; r < 5; r++)
            meets(&slow, NULL, "fcfs, blocking: skip", seed, rules[r]);
}

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
                meets(&slow, NULL, fast[f], seed, rules[r]);
}

/* ---- deals by keys that move ---- */

struct slow_deal {
    int64_t quantum_ns, end_ns;
    bool news;
    int64_t ran_ns[JOBS];
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

    if (cs_pending_count(host) > 0 &&
        (slow->news || now % quantum == 0 ||
         walk(host, 0, &fits) < cs_pending_count(host)))
        cs_reallocate(host, attained);
    slow->news = false;
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
            meets(&slow, &start, fast, seed, rules[m % 5]);
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
    struct world_job job[JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (size_t f = 0; f < sizeof fast / sizeof *fast; f++) {
            world_random_jobs(seed, job, JOBS);
            for (uint32_t i = 0; i < JOBS; i++) {
                job[i].submit_s = 60 * (job[i].submit_s / 180);
                job[i].duration_s = 60 * (1 + job[i].duration_s / 40);
            }
            agrees(&slow, NULL, fast[f], seed, rules[f], job);
        }
}

/* The same policies with their order sorted at each decision. */
static void a_tournament_serves_what_a_sort_would(void **state)
{
    static const char *const fast[] = {
        "hrrn", "wfp3", "unicef", "wfp3, wait: unset", "unicef, wait: offset",
    };
    static const char *const blocking[] = {
        "strict", "skip", "commit", "drop", "commit, backfill: true",
    };
    static const int wait[] = { 0, 0, 0, 1, 1 };    /* which of its words */
    char text[120];

    (void)state;
    for (size_t p = 0; p < 5; p++) {
        char name[16];
        sscanf(fast[p], "%15[a-z0-9]", name);
        struct cs_policy slow = *registry_find(name);
        slow.line = NULL;
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t b = 0; b < 5; b++) {
                struct world_job job[JOBS];
                snprintf(text, sizeof text, "%s, blocking: %s", fast[p],
                         blocking[b]);
                meets(&slow, &wait[p], text, seed, rules[b]);
                world_random_jobs(seed, job, JOBS);     /* many at once */
                for (uint32_t i = 0; i < JOBS; i++) {
                    job[i].submit_s = 900 * (job[i].submit_s / 900);
                    job[i].duration_s = 60 * (1 + job[i].duration_s / 60);
                }
                agrees(&slow, &wait[p], text, seed, rules[b], job);
            }
    }
}

/* ---- policies that keep lists of their own ---- */

extern const struct cs_policy plain_conservative_policy, plain_dlas_policy,
    plain_fair_share_policy, plain_gittins_policy;

static void policies_do_what_they_did_by_walks(void **state)
{
    static const char *const more[] = {
        "", ", tick: 10s", ", estimate: noisy, noise: 1",
        ", estimate: requested", ", blocking: skip",
        ", rounds: {length: 30s}",
    };
    /* The parameters come first in what a policy keeps. */
    static const struct {
        int64_t time_ns[2];
        int word[2];
        int64_t count;
        char rest[500];
    } none = { { 0 }, { 0 }, 0, "" },
      limits = { { 300000000000, 900000000000 }, { 0, 0 },
                 0, "" },
      theirs = { { 300000000000, 900000000000 }, { 1, 0 },
                 0, "" },
      times = { { 300000000000, 900000000000 }, { 0, 1 }, 2,
                "" },
      knob = { { 300000000000, 900000000000 }, { 1, 0 }, 4,
               "" };
    const struct {
        const struct cs_policy *slow;
        const void *params;
        const char *fast;
    } pair[] = {
        { &plain_conservative_policy, &none, "conservative" },
        { &plain_dlas_policy, &limits, "dlas, limit_1: 300s, limit_2: 900s" },
        { &plain_dlas_policy, &theirs, "dlas, limit_1: 300s, limit_2: 900s, "
                                        "demotion: tiresias" },
        { &plain_dlas_policy, &times, "dlas, limit_1: 300s, limit_2: 900s, "
                                       "service: time, promotion: 2" },
        { &plain_dlas_policy, &knob, "dlas, limit_1: 300s, limit_2: 900s, "
                                      "demotion: tiresias, promotion: 4" },
        { &plain_fair_share_policy, &none, "fair-share" },
    };
    char text[160];

    (void)state;
    for (size_t p = 0; p < sizeof pair / sizeof *pair; p++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
                assert_true(pair[p].slow->self_bytes <= sizeof none);
                if (!world_accepts(pair[p].fast, more[m]))
                    continue;
                snprintf(text, sizeof text, "%s%s", pair[p].fast, more[m]);
                meets(pair[p].slow, pair[p].params, text, seed,
                      rules[m % 5]);
                if (!(pair[p].slow->flags & CS_PREEMPTS))
                    continue;
                snprintf(text, sizeof text, "%s%s, preemption: {cost: %ds}",
                         pair[p].fast, more[m], m % 2 == 0 ? 20 : 37);
                meets(pair[p].slow, pair[p].params, text, seed,
                      rules[(m + 1) % 5]);
            }
}

/* No two lengths are in a ratio of small numbers: where two indexes are equal,
 * rounding would decide. */
static void gittins_goes_by_the_index_as_it_is_defined(void **state)
{
    static const char *const more[] = {
        "", ", preemption: {cost: 37s}",
        ", rounds: {length: 30s}",
    };
    static const int64_t quantum[300] = { 600000000000 };
    char text[160];

    (void)state;
    assert_true(plain_gittins_policy.self_bytes <= sizeof quantum);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            struct world_job job[JOBS];
            world_random_jobs(seed, job, JOBS);
            for (uint32_t i = 0; i < JOBS; i++) {
                job[i].submit_s *= 20;
                job[i].duration_s = 60 * job[i].duration_s + 7 * i;
            }
            snprintf(text, sizeof text, "gittins, quantum: 600s%s", more[m]);
            agrees(&plain_gittins_policy, quantum, text, seed, rules[m], job);
        }
}

static void qssf_is_in_order_once_its_news_are_told(void **state)
{
    struct cs_policy slow = *registry_find("qssf");

    (void)state;
    slow.flags = CS_ORDER_MOVES;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int r = 0; r < 5; r++)
            meets(&slow, NULL, r % 2 == 0 ? "qssf" : "qssf, blocking: skip",
                  seed, rules[r]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_answers_what_a_walk_finds),
        cmocka_unit_test(easy_starts_what_a_walk_would_start),
        cmocka_unit_test(skipping_starts_what_a_walk_would_start),
        cmocka_unit_test(srtf_starts_and_stops_what_a_sort_would),
        cmocka_unit_test(moving_keys_deal_as_a_sort_would),
        cmocka_unit_test(stopped_jobs_that_owe_tie_as_in_a_sort),
        cmocka_unit_test(a_tournament_serves_what_a_sort_would),
        cmocka_unit_test(policies_do_what_they_did_by_walks),
        cmocka_unit_test(gittins_goes_by_the_index_as_it_is_defined),
        cmocka_unit_test(qssf_is_in_order_once_its_news_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
