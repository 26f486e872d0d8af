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

#include "policies/registry/registry.h"
#include "tests/aid/meets.h"
#include "tests/aid/world.h"

/* ---- one question after the other ---- */

struct probe {
    uint32_t asked, found;
};

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
        uint32_t slow = walk_pending(host, from, &filter);
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
    struct world_job job[MEETS_JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world world = { 0 };
        world_random_jobs(seed, job, MEETS_JOBS);
        assert_true(world_trace(&world, 2, 8, job, MEETS_JOBS, "[fcfs]"));
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
            meets(&slow, &all, "easy", seed, meets_rule[r]);
            meets(&slow, &four, "easy, depth_max: 4", seed, meets_rule[r]);
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
            meets(&slow, NULL, "fcfs, blocking: skip", seed, meets_rule[r]);
}

static void qssf_is_in_order_once_its_news_are_told(void **state)
{
    struct cs_policy slow = *registry_find("qssf");

    (void)state;
    slow.flags = CS_ORDER_MOVES;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int r = 0; r < 5; r++)
            meets(&slow, NULL, r % 2 == 0 ? "qssf" : "qssf, blocking: skip",
                  seed, meets_rule[r]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_answers_what_a_walk_finds),
        cmocka_unit_test(easy_starts_what_a_walk_would_start),
        cmocka_unit_test(skipping_starts_what_a_walk_would_start),
        cmocka_unit_test(qssf_is_in_order_once_its_news_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
