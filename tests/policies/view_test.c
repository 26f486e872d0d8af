/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view_test.c - what a policy is told, against what it can count by itself: GPUs by pool from
 * nodes, room to come from leases, attained time by adding up, lists by looking.
 *
 * A policy that starts and stops by lot asks at every decision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "policies/policy.h"
#include "policies/rank.h"
#include "tests/aid/world.h"

#define JOBS 64

struct watcher {
    struct rng rng;
    uint64_t asked, stopped, waits;     /* waits: room that was to come */
    double gpu_s[JOBS];
    int64_t left_ns[JOBS], looked_ns;   /* of those that ran at the end of the last look; 0 */
};

static struct watcher last;             /* of the run that ended */

static uint32_t free_of(const struct cs_host *host, uint32_t mask, bool all)
{
    uint32_t sum = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        struct cs_node node = cs_node(host, n);
        assert_true(node.free_gpus <= node.gpus);
        if (mask == 0 || (mask >> node.pool & 1))
            sum += all ? node.gpus : node.free_gpus;
    }
    return sum;
}

/* GPUs of leases in these pools that are idle or expected to be over by then. */
static uint32_t back_by(const struct cs_host *host, uint32_t mask, int64_t at)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (mask == 0 || (cs_lease_pools(host, id) & mask))
            sum += lease->state == CS_LEASE_IDLE || lease->expected_end_ns <= at ? lease->gpus
                                                                                 : 0;
    }
    return sum;
}

/* The first end of a lease by which that many GPUs are back; now if they are. */
static double room_in_s(const struct cs_host *host, uint32_t mask, uint32_t gpus)
{
    int64_t now = cs_now_ns(host), best = INT64_MAX;
    uint32_t free = free_of(host, mask, false);

    if (free >= gpus || free + back_by(host, mask, now) >= gpus)
        return 0;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        int64_t end = cs_lease(host, cs_lease_at(host, i))->expected_end_ns;
        if (end > now && end < best && free + back_by(host, mask, end) >= gpus)
            best = end;
    }
    return best == INT64_MAX ? INFINITY : (double)(best - now) / 1e9;
}

static void look_at_pools(struct watcher *w, const struct cs_host *host)
{
    uint32_t masks = 1u << cs_pool_count(host);

    for (uint32_t mask = 0; mask < masks; mask++) {
        uint32_t total = free_of(host, mask, true);
        assert_int_equal(cs_free_gpus(host, mask), free_of(host, mask, false));
        assert_int_equal(cs_total_gpus(host, mask), total);
        for (uint32_t gpus = 1; gpus <= total + 1; gpus += 3) {
            double found = cs_room_in_s(host, mask, gpus), s = room_in_s(host, mask, gpus);
            if (isinf(s) ? !isinf(found) : fabs(found - s) > 1e-9 * (1 + s))
                fail_msg("%u GPUs of pools %x in %.9g s, expected %.9g", gpus, mask, found, s);
            w->waits += isfinite(s) && s > 0;
        }
    }
}

/* Leases lie by age; a job runs from its first lease on, in that order. */
static void look_at_leases(struct watcher *w, const struct cs_host *host)
{
    uint32_t running = 0, of_job[JOBS] = { 0 };
    int64_t before = 0;

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        assert_true(lease->since_ns >= before && lease->since_ns <= cs_now_ns(host));
        before = lease->since_ns;
        assert_true(cs_role_lease(host, lease->job, lease->role).i == cs_lease_at(host, i).i);
        running += of_job[lease->job.i]++ == 0;
    }
    assert_int_equal(cs_running_count(host), running);
    for (uint32_t i = 0; i < running; i++) {
        struct job_id id = cs_running(host, i);
        assert_true(of_job[id.i] > 0);
        of_job[id.i] = 0;
    }
    assert_int_equal(cs_running(host, running).i, ID_NONE);
    assert_int_equal(cs_lease_at(host, cs_lease_count(host)).i, ID_NONE);
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct job_id id = cs_task(host, cs_pending(host, i))->job;
        assert_true(fabs(cs_attained_gpu_s(host, id) - w->gpu_s[id.i]) <
                    1e-6 * (1 + w->gpu_s[id.i]));
    }
}

/* Stops a job; what its leases had held is what it has attained since they began. */
static void stop(struct watcher *w, struct cs_host *host, struct job_id id)
{
    double held = 0;

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (lease->job.i == id.i)
            held += lease->gpus * (double)(cs_now_ns(host) - lease->since_ns) / 1e9;
    }
    assert_true(fabs(cs_attained_gpu_s(host, id) - w->gpu_s[id.i] - held) <
                1e-6 * (1 + held));
    if (cs_stop(host, id) != CS_DONE)
        return;
    w->gpu_s[id.i] += held;
    w->stopped++;
}

static void watch(void *self, struct cs_host *host)
{
    struct watcher *w = self;

    if (w->asked++ == 0)
        rng_init(&w->rng, 5, "watch", 0);
    look_at_pools(w, host);
    look_at_leases(w, host);
    for (uint32_t i = 0; i < cs_pending_count(host);)
        i += rng_below(&w->rng, 4) == 0 ||
             cs_start(host, cs_pending(host, i)) != CS_DONE;
    look_at_pools(w, host);
    if (cs_running_count(host) > 0 && w->stopped < 100 && rng_below(&w->rng, 3) == 0) {
        uint32_t i = (uint32_t)rng_below(&w->rng, cs_running_count(host));
        stop(w, host, cs_running(host, i));
        look_at_pools(w, host);
    }
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, cs_now_ns(host) + 60000000000);
    last = *w;
}

/* What is left of a job that runs falls as fast as it is said to. */
static void look_at_left(struct watcher *w, const struct cs_host *host)
{
    double past_ns = (double)(cs_now_ns(host) - w->looked_ns);

    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        if (w->left_ns[job.i] > 0)
            assert_true((double)cs_left_ns(host, job) ==
                        (double)w->left_ns[job.i] + past_ns * cs_left_per_ns(host, job));
    }
}

static void note_left(struct watcher *w, const struct cs_host *host)
{
    memset(w->left_ns, 0, sizeof w->left_ns);
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        w->left_ns[cs_running(host, i).i] = cs_left_ns(host, cs_running(host, i));
    w->looked_ns = cs_now_ns(host);
}

static void look_and_watch(void *self, struct cs_host *host)
{
    look_at_left(self, host);
    watch(self, host);
    note_left(self, host);
}

static const struct cs_policy table = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "watcher", .summary = "asks", .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct watcher), .decide = look_and_watch,
};

static void a_policy_is_told_what_it_can_count(void **state)
{
    struct host_policy policy = world_policy(&table);
    struct world world = { 0 };
    struct world_job job[JOBS] = { { 0 } };
    struct trial_result result;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "jobs", 0);
    for (uint32_t i = 0; i < 40; i++)
        job[i] = (struct world_job){ .submit_s = 50 * (int64_t)i,
                                     .duration_s = 100 + (int64_t)rng_below(&rng, 900),
                                     .gpus = 1 + (uint32_t)rng_below(&rng, 12) };
    assert_true(world_trace_on(&world, "nodes: [{name: a, count: 2, gpus: {type: generic, "
                               "count: 8}}, {name: b, count: 1, gpus: {type: generic, count: "
                               "4}}, {name: c, count: 2, gpus: {type: generic, count: 2}}]",
                               job, 40, "[fcfs]", 1));
    if (!world_run(&world, 0, &policy, job, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 40);
    assert_true(last.waits > 500 && last.stopped > 5);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_told_what_it_can_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
