/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_test.c - the plan of policies/host/plan.c against an array of instants, and the
 * policies that plan or deal by an index against their oracles where jobs fail,
 * nodes go, sizes are odd and times are short or alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/plan.h"
#include "policies/registry/registry.h"
#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/containers/rank_tree.h"
#include "tests/aid/world.h"

#define HORIZON_MAX 12000
#define NEVER INT64_MAX

/* ---- the plan alone ---- */

/* What is free at each instant; from the last one on nothing changes. */
struct instants {
    int64_t free[HORIZON_MAX + 1], last;
};

static int64_t slow_find(const struct instants *at, int64_t now, int64_t gpus,
                         int64_t run, int64_t before)
{
    for (int64_t t = now; t <= at->last && t < before; t++) {
        int64_t u = t;
        while (u <= at->last && u < before && u - t < run && at->free[u] >= gpus)
            u++;
        if (u > at->last || u - t >= run || u >= before)
            return t;
    }
    return before;
}

static void slow_take(struct instants *at, int64_t start, int64_t end, int64_t gpus)
{
    for (int64_t t = start; t <= at->last && t < end; t++)
        at->free[t] -= gpus;
}

static int64_t slow_least(const struct instants *at, int64_t start, int64_t end)
{
    int64_t least = at->free[start];

    for (int64_t t = start; t <= at->last && t < end; t++)
        least = at->free[t] < least ? at->free[t] : least;
    return least;
}

static int64_t some_time(struct rng *rng, int64_t now, int64_t span, uint32_t never_part)
{
    return rng_below(rng, never_part) == 0
               ? NEVER : now + (int64_t)rng_below(rng, (uint64_t)span);
}

/* sizes: jobs want 1 to so many GPUs.  Where the instants are many, so are the steps
 * and holes of the plan, and they lie in many blocks. */
static void plan_meets_the_array(uint64_t seed, uint32_t gpus, uint32_t sizes,
                                 int64_t last)
{
    static struct instants at;
    struct arena *arena = arena_new(1 << 12);
    struct cs_host host = { .parts = { .arena = arena } };
    struct cs_plan *plan = cs_plan_new(&host);
    int64_t now = 0;
    struct rng rng;

    rng_init(&rng, seed, "plan", 0);
    at.last = last;
    for (uint32_t round = 0; round < 1500; round++) {
        if (round == 0 || rng_below(&rng, (uint64_t)last) == 0 || now > last / 2) {
            now = (int64_t)rng_below(&rng, 20);
            cs_plan_clear(plan, now, gpus);
            for (int64_t t = 0; t <= last; t++)
                at.free[t] = gpus;
        }
        uint32_t want = 1 + (uint32_t)rng_below(&rng, sizes);
        int64_t run = 1, before = NEVER, start = NEVER;
        for (uint64_t looks = 1 + rng_below(&rng, 4); looks > 0; looks--) {
            run = 1 + (int64_t)rng_below(&rng, 60);
            before = some_time(&rng, now, last / 2, 3);
            start = slow_find(&at, now, want, run, before);
            assert_true(cs_plan_find(plan, want, run, before) == start);
            int64_t from = now + (int64_t)rng_below(&rng, (uint64_t)last / 2);
            int64_t to = rng_below(&rng, 9) == 0 ? NEVER : from + (run % 3 == 0 ? 9 * run : run);
            assert_int_equal(cs_plan_least(plan, from, to), slow_least(&at, from, to));
        }
        if (start < before && start + run < last) {
            cs_plan_take(plan, start, start + run, want);
            slow_take(&at, start, start + run, want);
        }
        if (last > 1000 || rng_below(&rng, 8) == 0) {   /* whatever comes of it */
            int64_t some = (int64_t)rng_below(&rng, sizes) - sizes / 2;
            start = some_time(&rng, now, last / 2, 50);
            int64_t end = rng_below(&rng, 2) == 0 ? clock_after(start, 1 + run % 5)
                              : some_time(&rng, now, last / 2, 50);
            start = start < last ? start : last;
            cs_plan_take(plan, start, end, some);
            slow_take(&at, start, end, some);
        }
        if (rng_below(&rng, 3) == 0) {
            now += (int64_t)rng_below(&rng, 4);
            cs_plan_forget(plan, now);
        }
    }
    arena_free(arena);
}

static void a_plan_finds_what_a_walk_over_instants_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        plan_meets_the_array(seed, 4, 5, 400);
        plan_meets_the_array(seed, 24, 16, 400);
        plan_meets_the_array(seed, 100, 60, 400);       /* more than have levels */
        plan_meets_the_array(seed, 1000, 900, 400);
        plan_meets_the_array(seed, 8, 12, HORIZON_MAX);
        plan_meets_the_array(seed, 60, 70, HORIZON_MAX);
    }
}

/* Steps of many blocks, again and again: blocks that are emptied are used again. */
static void a_plan_that_is_cleared_takes_no_more_memory(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct cs_host host = { .parts = { .arena = arena } };
    struct cs_plan *plan = cs_plan_new(&host);
    size_t first = 0;

    (void)state;
    for (int round = 0; round < 40; round++) {
        cs_plan_clear(plan, 0, 8);
        for (int64_t i = 0; i < 500; i++) {
            cs_plan_take(plan, 10 * i, 10 * i + 5, 8);
            assert_true(cs_plan_find(plan, 1, 6, NEVER) > 10 * i);
        }
        if (round == 1)
            first = arena_used_bytes(arena);
        if (round > 1)
            assert_int_equal(arena_used_bytes(arena), first);
    }
    arena_free(arena);
}

/* By hand: one GPU is free, taken in [10, 100), and put back bit by bit.  A search keeps what
 * it learned of 30 to 100; what comes back after it counts all the same, at either end. */
static void what_comes_back_is_found_after_a_search_in_vain(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct cs_host host = { .parts = { .arena = arena } };
    struct cs_plan *plan = cs_plan_new(&host);

    (void)state;
    cs_plan_clear(plan, 0, 1);
    cs_plan_take(plan, 10, 100, 1);
    assert_int_equal(cs_plan_find(plan, 1, 20, 90), 90);
    assert_int_equal(cs_plan_find(plan, 1, 20, 60), 60);
    cs_plan_take(plan, 10, 11, -1);
    assert_int_equal(cs_plan_find(plan, 1, 20, 11), 0);     /* [0, 11) lasts until 11 */
    assert_int_equal(cs_plan_find(plan, 1, 11, 60), 0);
    assert_int_equal(cs_plan_find(plan, 1, 12, 100), 100);
    assert_int_equal(cs_plan_find(plan, 1, 12, 60), 60);
    cs_plan_take(plan, 99, 100, -1);
    assert_int_equal(cs_plan_find(plan, 1, 12, 100), 99);
    assert_int_equal(cs_plan_find(plan, 1, 12, 99), 99);
    cs_plan_take(plan, 40, 70, -1);
    assert_int_equal(cs_plan_find(plan, 1, 30, 90), 40);
    assert_int_equal(cs_plan_find(plan, 1, 31, 90), 90);
    cs_plan_take(plan, 41, 42, 1);                          /* [42, 70) is left */
    assert_int_equal(cs_plan_find(plan, 1, 28, 90), 42);
    assert_int_equal(cs_plan_find(plan, 1, 29, 90), 90);
    cs_plan_take(plan, 41, 42, -1);
    assert_int_equal(cs_plan_find(plan, 1, 30, 90), 40);
    arena_free(arena);
}

/* By hand: one GPU is taken in [10, 100) and in [101, 200).  Its last instant before 100 comes
 * back, which lasts until 100, though no run of 30 ends there. */
static void what_comes_back_at_the_end_of_a_gap_is_found(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct cs_host host = { .parts = { .arena = arena } };
    struct cs_plan *plan = cs_plan_new(&host);

    (void)state;
    cs_plan_clear(plan, 0, 1);
    cs_plan_take(plan, 10, 100, 1);
    cs_plan_take(plan, 101, 200, 1);
    assert_int_equal(cs_plan_find(plan, 1, 30, 150), 150);
    assert_int_equal(cs_plan_find(plan, 1, 30, 100), 100);
    cs_plan_take(plan, 99, 100, -1);
    assert_int_equal(cs_plan_find(plan, 1, 30, 100), 99);
    assert_int_equal(cs_plan_find(plan, 1, 30, 99), 99);
    arena_free(arena);
}

/* ---- whole policies ---- */

#define JOBS 150

extern const struct cs_policy plain_conservative_policy, plain_dlas_policy,
    plain_fair_share_policy, plain_gittins_policy;

/* Many come at once, many are as short as can be or alike, of any size. */
static void awkward_jobs(uint64_t seed, struct world_job *job)
{
    struct rng rng;
    int64_t at = 0;

    rng_init(&rng, seed, "awkward", 0);
    for (uint32_t i = 0; i < JOBS; i++) {
        if (rng_below(&rng, 8) == 0)
            at += (int64_t)rng_below(&rng, 900);
        uint64_t kind = rng_below(&rng, 4);
        job[i] = (struct world_job) {
            .submit_s = at,
            .duration_s = kind == 0 ? 1 : kind == 1 ? 60
                          : 1 + (int64_t)rng_below(&rng, 300),
            .gpus = 1 + (uint32_t)rng_below(&rng, 11),
        };
    }
}

static void both_agree(const struct cs_policy *slow, const void *params,
                       const char *fast, uint64_t seed, const char *more)
{
    struct host_policy policy = world_policy(slow);
    struct world_job a[JOBS], b[JOBS];
    struct world world = { .tenants = 15 * ((uint32_t)seed % 3) };
    char text[200], cluster[240];

    awkward_jobs(seed, a);
    memcpy(b, a, sizeof a);
    snprintf(text, sizeof text, "[{policy: %s, placement: count}]", fast);
    snprintf(cluster, sizeof cluster, "nodes: [{name: n, count: 6, gpus: "
             "{type: generic, count: 2}}]%s", more);
    if (!world_trace_on(&world, cluster, a, JOBS, text, 1))
        fail_msg("%s", world_error(&world));
    if (!world_run(&world, 0, NULL, a, NULL))
        fail_msg("%s", world_error(&world));
    policy.params = params;
    policy.rules = experiment_trial_spec(world.experiment, 0).policy->rules;
    if (!world_run(&world, 0, &policy, b, NULL))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < JOBS; i++)
        if (a[i].start_s != b[i].start_s || a[i].end_s != b[i].end_s)
            fail_msg("%s%s: seed %d: job %u", fast, more, (int)seed, i);
    world_close(&world);
}

static void policies_meet_their_oracles_where_things_fail(void **state)
{
    static const char *const cluster[] = {
        "", ", failures: {job_mtbf: 10min, restart: 7s}",
        ", failures: {node_mtbf: 2h, repair: 10min, restart: 20s}",
    };
    static const char *const more[] = {
        "", ", estimate: noisy, noise: 1", ", tick: 10s",
    };
    static const struct {
        int64_t time_ns[2];
        int word[2];
        int64_t count;
        char rest[1800];
    } none = { { 0 }, { 0 }, 0, "" },
      limits = { { 300000000000, 900000000000 }, { 0, 0 },
                 0, "" },
      knob = { { 300000000000, 900000000000 }, { 0, 1 }, 3,
               "" },
      quantum = { { 60000000000 }, { 0 }, 0, "" };
    const struct {
        const struct cs_policy *slow;
        const void *params;
        const char *fast;
    } pair[] = {
        { &plain_conservative_policy, &none, "conservative" },
        { &plain_dlas_policy, &limits, "dlas, limit_1: 300s, limit_2: 900s" },
        { &plain_dlas_policy, &knob, "dlas, limit_1: 300s, limit_2: 900s, "
                                      "service: time, promotion: 3" },
        { &plain_fair_share_policy, &none, "fair-share" },
        { &plain_fair_share_policy, &none, "fair-share, blocking: skip" },
        { &plain_gittins_policy, &quantum, "gittins, quantum: 60s" },
    };
    char text[160];

    (void)state;
    for (size_t p = 0; p < sizeof pair / sizeof *pair; p++)
        for (uint64_t seed = 1; seed <= 2; seed++)
            for (size_t k = 0; k < 9; k++) {
                assert_true(pair[p].slow->self_bytes <= sizeof none);
                if (!world_accepts(pair[p].fast, more[k % 3]))
                    continue;
                snprintf(text, sizeof text, "%s%s", pair[p].fast,
                         more[k % 3]);
                both_agree(pair[p].slow, pair[p].params, text, seed,
                           cluster[k / 3]);
            }
}

/* Rows of equal jobs that come at once and ask for up to 30 times their length. */
static void rows_of_jobs(uint64_t seed, char *csv, struct world_job *job)
{
    struct rng rng;
    int64_t at = 0;
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus,limit\n");

    rng_init(&rng, seed, "rows", 0);
    for (uint32_t i = 0, row = 0, gpus = 0, limit = 0; i < JOBS; i++, row--) {
        if (row == 0) {
            row = 1 + (uint32_t)rng_below(&rng, 24);
            gpus = rng_below(&rng, 4) == 0 ? 8 + (uint32_t)rng_below(&rng, 5)
                                           : 1 + (uint32_t)rng_below(&rng, 3);
            limit = 60u << rng_below(&rng, 4);
            at += (int64_t)rng_below(&rng, 90);
        }
        uint32_t run = limit / (1 + (uint32_t)rng_below(&rng, 30));
        n += (size_t)sprintf(csv + n, "%u,%d,%u,%u,%u\n", i, (int)at, run, gpus, limit);
        job[i] = (struct world_job) { .submit_s = at };
    }
}

static void rows_of_equal_jobs_start_as_one_by_one(void **state)
{
    struct host_policy policy = world_policy(&plain_conservative_policy);
    static char csv[JOBS * 60];

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world = { 0 };
        struct world_job a[JOBS], b[JOBS];
        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        rows_of_jobs(seed, csv, a);
        memcpy(b, a, sizeof a);
        world_write(&world, "jobs.csv", csv);
        if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\n"
                        "cluster: {nodes: [{name: n, count: 6, gpus: {type: generic, "
                        "count: 2}}]}\nworkload: {trace: {file: jobs.csv, format: csv, origin: "
                        "file, estimate: requested, columns: {job: job, submit: submit, "
                        "duration: duration, gpus: gpus, limit: limit}}}\n"
                        "policies: [{policy: conservative, placement: count}]\n") ||
            !world_run(&world, 0, NULL, a, NULL))
            fail_msg("%s", world_error(&world));
        policy.rules = experiment_trial_spec(world.experiment, 0).policy->rules;
        if (!world_run(&world, 0, &policy, b, NULL))
            fail_msg("%s", world_error(&world));
        for (uint32_t i = 0; i < JOBS; i++)
            if (a[i].start_s != b[i].start_s || a[i].end_s != b[i].end_s)
                fail_msg("seed %d: job %u", (int)seed, i);
        world_close(&world);
    }
}

/* Some start, some stop, and who came before some number is asked. */
static void task_who_came_before(void *self, struct cs_host *host)
{
    uint32_t *asked = self;

    for (int q = 0; q < 8; q++) {
        uint64_t seq = (uint64_t)(cs_random(host) * (double)host->waiting->next_seq);
        uint32_t slow = ID_NONE;
        for (uint32_t i = host_order_count(host); i-- > 0;)
            if (host->tasks->slot[rank_tree_at(host->waiting->order, i)].seq < seq)
                slow = rank_tree_at(host->waiting->order, i);
        assert_int_equal(host_order_first(host, seq), slow);
        *asked += slow != ID_NONE && slow != rank_tree_at(host->waiting->order, 0);
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

static void some_were_asked(void *self)
{
    const uint32_t *asked = self;

    assert_true(*asked > 100);
}

static void who_came_before_is_who_a_walk_finds(void **state)
{
    struct cs_policy probe = *registry_find("sjf");
    struct host_policy policy = world_policy(&probe);
    struct world_job job[JOBS];
    struct world world = { 0 };

    (void)state;
    probe.flags |= CS_PREEMPTS | CS_DRAWS;
    probe.self_bytes = sizeof(uint32_t);
    probe.decide = task_who_came_before;
    probe.fini = some_were_asked;
    awkward_jobs(1, job);
    assert_true(world_trace(&world, 6, 2, job, JOBS, "[fcfs]"));
    if (!world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

static bool as_they_came(const void *self, const struct cs_host *host,
                         struct task_id a, struct task_id b)
{
    (void)self, (void)host, (void)a, (void)b;
    return false;
}

/* Orders that are said to move are walked along. */
static void a_backfill_of_what_was_submitted_meets_a_walk(void **state)
{
    static const char *const names[] = { "fcfs", "sjf", "f1", "ljf", "qssf" };
    static const char *const cluster[] = {
        "", ", failures: {job_mtbf: 10min, restart: 7s}",
        ", failures: {node_mtbf: 2h, repair: 10min, restart: 20s}",
    };
    static const char *const more[] = {
        "", ", estimate: noisy, noise: 1", ", rounds: {length: 30s}",
    };
    char text[160];

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct cs_policy slow = *registry_find(names[n]);
        slow.flags &= ~(uint32_t)CS_ORDER_AT_NEWS;
        slow.flags |= CS_ORDER_MOVES;
        if (slow.before == NULL)
            slow.before = as_they_came;
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t k = 0; k < 9; k++) {
                snprintf(text, sizeof text, "%s, blocking: commit, backfill: "
                         "true%s", names[n], more[k % 3]);
                both_agree(&slow, NULL, text, seed, cluster[k / 3]);
            }
    }
}

/* A node fails every ten days, and all is lost. */
static void a_job_that_failures_never_let_end_ends_the_run(void **state)
{
    struct world_job job = { .duration_s = 100000000, .gpus = 2 };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace_on(&world, "nodes: [{name: n, count: 1, gpus: "
                               "{type: generic, count: 2}}], failures: "
                               "{node_mtbf: 240h, repair: 10min}", &job, 1,
                               "[{policy: fcfs, placement: count}]", 1));
    assert_false(world_run(&world, 0, NULL, &job, NULL));
    assert_non_null(strstr(world_error(&world), "nothing moved for 365 days, "
                           "1 of 1 jobs left; job 0 was interrupted"));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_finds_what_a_walk_over_instants_finds),
        cmocka_unit_test(a_plan_that_is_cleared_takes_no_more_memory),
        cmocka_unit_test(what_comes_back_is_found_after_a_search_in_vain),
        cmocka_unit_test(what_comes_back_at_the_end_of_a_gap_is_found),
        cmocka_unit_test(policies_meet_their_oracles_where_things_fail),
        cmocka_unit_test(rows_of_equal_jobs_start_as_one_by_one),
        cmocka_unit_test(who_came_before_is_who_a_walk_finds),
        cmocka_unit_test(a_backfill_of_what_was_submitted_meets_a_walk),
        cmocka_unit_test(a_job_that_failures_never_let_end_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
