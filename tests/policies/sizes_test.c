/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_test.c - sizes and speeds of jobs as a policy asks for them: those that the owner's
 * curve gives by hand, for each size, and how questions about them fit together.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/resize.h"
#include "tests/aid/world.h"

#define MOST 20u
#define CPU "cpu: {type: epyc-7763, sockets: 2}, memory: 512GB"

/* By hand: the speed on g GPUs over that on one, at rates of pool a; 0: no size.  A table is
 * linear between two sizes. */
static double amdahl(uint32_t g)
{
    return 1 / (0.1 + 0.9 / g);
}

static double curve(int kind, uint32_t g)
{
    static const double table[] = { 0, 1, 1.9, 2.7, 3.5, 4.125, 4.75, 5.375, 6 };

    switch (kind) {
    case 0: return g >= 1 && g <= 12 ? g : 0;           /* linear, min 1, max 12 */
    case 1: return g >= 2 && g <= 9 ? amdahl(g) : 0;    /* min 2, max 9 */
    case 2: return g < 9 ? table[g] : 0;
    default: return g == 3 ? 3 : 0;                     /* it is not elastic */
    }
}

/* What each asks for, and its rate in pool b. */
static const uint32_t asks[] = { 4, 2, 2, 3 };
static const double rate_b[] = { 1.5, 0.5, 1, 2 };
static unsigned looked;

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static int kind_of(const struct cs_host *host, struct job_id job)
{
    return cs_request(host, job)->form->name[0] - 'a';
}

static void look_at(struct cs_host *host, struct job_id job)
{
    int kind = kind_of(host, job);
    double one = curve(kind, asks[kind]);
    uint32_t below = 0, above;

    assert_int_equal(cs_size_above(host, job, MOST), 0);
    assert_int_equal(cs_size_below(host, job, 0), 0);
    for (uint32_t g = 1; g <= MOST; g++) {
        double by_hand = curve(kind, g) / one, best = 0;
        below = by_hand > 0 ? g : below;
        for (above = g + 1; above <= MOST && !(curve(kind, above) > 0); above++)
            continue;
        above = above > MOST ? 0 : above;
        if (cs_size_below(host, job, g) != below || cs_size_above(host, job, g) != above)
            fail_msg("%c, %u GPUs: below %u, not %u; above %u, not %u", 'a' + kind, g,
                     cs_size_below(host, job, g), below, cs_size_above(host, job, g), above);
        for (uint32_t p = 0; p < 2; p++) {
            double want = p == 0 ? by_hand : by_hand * rate_b[kind];
            double speed = cs_speedup(host, job, p, g);
            if (!near(speed, want))
                fail_msg("%c, %u GPUs of pool %u: %g, not %g", 'a' + kind, g, p, speed, want);
            assert_true(near(cs_speedup_on(host, job, p, g, 1), want));
            best = fmax(best, want);
        }
        if (!near(cs_best_speedup(host, job, g), best))
            fail_msg("%c, %u GPUs: best %g, not %g", 'a' + kind, g,
                     cs_best_speedup(host, job, g), best);
    }
    assert_true(near(cs_best_speedup(host, job, 0), 0));
    assert_int_equal(cs_size_least(host, job), cs_size_above(host, job, 0));
    looked++;
}

/* Each job is looked at as it waits, and as it runs on what it asked for. */
static void decide(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        look_at(host, cs_task(host, cs_pending(host, i))->job);
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        look_at(host, job);
        assert_int_equal(cs_size_now(host, job), asks[kind_of(host, job)]);
    }
    while (cs_pending_count(host) > 0 &&
           cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        assert_int_equal(cs_size_now(host, cs_task(host, cs_pending(host, i))->job), 0);
}

static void sizes_and_speeds_are_those_of_the_owners_curve(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "looks", .summary = "looks at sizes", .flags = CS_PREEMPTS | CS_RESIZES,
        .decide = decide };
    static const char text[] =
        "experiment: t\nseeds: 1\nuntil: drained\n"
        "cluster: {nodes: [{name: a, count: 3, gpus: {type: generic, count: 8}}, {name: b, "
        "count: 3, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 40, mix: ["
        "{recipe: trace, name: a, gpus: 4, duration: 20min, rates: {a: 1, b: 1.5}, elastic: {min: "
        "1, max: 12, scaling: linear}}, {recipe: trace, name: b, gpus: 2, duration: 30min, rates: "
        "{a: 1, b: 0.5}, elastic: {min: 2, max: 9, scaling: {amdahl: 10%}}}, {recipe: trace, name: "
        "c, gpus: 2, duration: 10min, elastic: {min: 1, max: 8, scaling: {table: {1: 1, 2: 1.9, 4: "
        "3.5, 8: 6}}}}, {recipe: trace, name: d, gpus: 3, duration: 15min, rates: {a: 1, b: "
        "2}}]}\npolicies: [fcfs]\n";
    struct host_policy looks = world_policy(&policy);
    struct world world = { 0 };
    struct trial_tables tables = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    spec.policy = &looks;
    if (!trial_run(&spec, &tables, &result, &world.err))
        fail_msg("%s", world_error(&world));
    assert_true(looked > 200);
    world_close(&world);
}

/* Jobs of one form: those for as much have one curve, and a half and a quarter have not. */
static void look_at_curves(void *self, struct cs_host *host)
{
    uint32_t of[3] = { ID_NONE, ID_NONE, ID_NONE };

    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        uint32_t kind = task->gpu_milli == 250 ? 0 : task->gpu_milli == 500 ? 1 : 2;
        uint32_t number = cs_curve(host, task->job);
        assert_int_not_equal(number, ID_NONE);
        if (of[kind] != ID_NONE)
            assert_int_equal(number, of[kind]);
        looked += of[kind] != ID_NONE;
        of[kind] = number;
    }
    for (uint32_t k = 0; k < 3; k++)
        assert_true(of[k] == ID_NONE || of[k] != of[(k + 1) % 3]);
    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void jobs_for_as_much_have_one_curve(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "looks", .summary = "looks at curves", .decide = look_at_curves };
    struct host_policy looks = world_policy(&policy);
    struct world world = { 0 };

    (void)state;
    looked = 0;
    looks.rules.placement = PLACE_FIRST_FIT;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: "
                    "a, count: 1, gpus: {type: generic, count: 2}}]}\nworkload: {arrival: "
                    "{process: all_at_once}, jobs: 30, mix: [{recipe: trace, gpus: {choice: "
                    "{0.25: 1, 0.5: 1, 1: 1}}, duration: 1min}]}\npolicies: [fcfs]\n") ||
        !world_run(&world, 0, &looks, NULL, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(looked > 27);
    world_close(&world);
}

/* ---- what may change behind a policy's back ---- */

static unsigned steady;

static void ask_steady(void *self, struct cs_host *host)
{
    (void)self;
    while (cs_pending_count(host) > 0) {
        struct task_id task = cs_pending(host, 0);
        steady += cs_is_steady(host, cs_task(host, task)->job);
        looked++;
        if (cs_start(host, task) != CS_DONE)
            return;
    }
}

/* Two jobs of known length of one role, where nothing fails and nothing is rented. */
static void only_jobs_that_nothing_else_changes_are_steady(void **state)
{
    static const struct {
        const char *node, *more, *job;
        unsigned steady;
    } at[] = {
        { "", "", "recipe: trace, gpus: 1, duration: 1min", 2 },
        { "", "", "recipe: trace, gpus: 1, duration: 1min, elastic: {min: 1, max: 2, scaling: "
                  "linear}", 2 },
        { "", ", failures: {job_mtbf: 1000h, restart: 7s}", "recipe: trace, gpus: 1, duration: "
              "1min", 0 },
        { ", price: 1USD/h, rent: {start: 1s, keep: 1h}", "", "recipe: trace, gpus: 1, duration: "
          "1min", 0 },
    };
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "asks", .summary = "asks what is steady", .decide = ask_steady };
    struct host_policy looks = world_policy(&policy);
    char text[900];

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct world world = { 0 };
        looked = steady = 0;
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                 "[{name: a, count: 1, gpus: {type: generic, count: 4}%s}]%s}\nworkload: "
                 "{arrival: {process: all_at_once}, jobs: 2, mix: [{%s}]}\npolicies: [fcfs]\n",
                 at[i].node, at[i].more, at[i].job);
        if (!world_open(&world, text) || !world_run(&world, 0, &looks, NULL, NULL))
            fail_msg("%s", world_error(&world));
        assert_true(looked >= 2);
        assert_int_equal(steady, at[i].steady);
        world_close(&world);
    }
}

/* ---- jobs of several roles, and groups of nodes ---- */

static const char kinds_of_nodes[] =
    "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: ["
    "{name: a, count: 2, pool: x, gpus: {type: a100-80, count: 8}, " CPU "}, "
    "{name: b, count: 2, pool: y, gpus: {type: l40s, count: 8}, " CPU "}, "
    "{name: c, count: 2, pool: y, gpus: {type: a100-80, count: 4}, " CPU "}, "
    "{name: d, count: 2, pool: z, " CPU "}]}\n"
    "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 30, mix: ["
    "{recipe: trace, name: a, gpus: 2, duration: 5min, role: {types: [l40s]}}, "
    "{recipe: trace, name: b, gpus: 2, duration: 5min, role: {types: [a100-80]}}, "
    "{recipe: trace, name: c, gpus: 2, duration: 5min, role: {pool: y}}, "
    "{recipe: trace, name: d, gpus: 2, duration: 5min, role: {types: [l40s, a100-80], pool: y}}, "
    "{recipe: trace, name: e, gpus: 2, duration: 5min, role: {types: [a100-80], pool: y}}, "
    "{recipe: trace, name: f, gpus: 2, duration: 5min}, "
    "{recipe: lora, name: g, model: qwen2.5-1.5b, batch: 8, sequence: 512, steps: 3, data: {cores: "
    "4, pool: z}, train: {gpus: 4, min: 2, max: 8, types: [l40s]}}]}\n"
    "policies: [fcfs]\n";

/* Bit g: group g of the file. */
static const uint64_t groups_by_hand[] = { 2, 1 | 4, 2 | 4, 2 | 4, 4, 1 | 2 | 4, 2 | 8 };
static unsigned looked_at[7];

/* A job of several roles has one size: what it asks for. */
static void look_at_groups(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct job_id job = cs_task(host, cs_pending(host, i))->job;
        int kind = kind_of(host, job);
        if (cs_job_groups(host, job) != groups_by_hand[kind])
            fail_msg("%c: groups %llx", 'a' + kind,
                     (unsigned long long)cs_job_groups(host, job));
        looked_at[kind]++;
        uint32_t whole = cs_job_gpus(host, job);
        assert_int_equal(whole, kind == 6 ? 4 : 2);
        for (uint32_t g = 0; kind == 6 && g <= 9; g++) {
            assert_int_equal(cs_size_below(host, job, g), g >= whole ? whole : 0);
            assert_int_equal(cs_size_above(host, job, g), g < whole ? whole : 0);
            assert_true(cs_best_speedup(host, job, g) == (g == whole));
        }
    }
    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void groups_and_sizes_are_those_of_all_roles(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "looks", .summary = "looks at groups", .decide = look_at_groups };
    struct host_policy looks = world_policy(&policy);
    struct world world = { 0 };

    (void)state;
    if (!world_open(&world, kinds_of_nodes) || !world_run(&world, 0, &looks, NULL, NULL))
        fail_msg("%s", world_error(&world));
    for (int kind = 0; kind < 7; kind++)
        assert_true(looked_at[kind] > 0);
    world_close(&world);
}

/* ---- sites ---- */

/* Pools x and y have GPUs and cores; z and w have cores alone, in several groups. */
static const char cores_beside_gpus[] =
    "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: ["
    "{name: a, count: 1, pool: x, gpus: {type: l40s, count: 8}, " CPU "}, "
    "{name: b, count: 1, pool: y, gpus: {type: l40s, count: 4}, " CPU "}, "
    "{name: c, count: 2, pool: z, " CPU "}, {name: d, count: 1, pool: z, cpu: {type: epyc-7742, "
    "sockets: 1}, memory: 1TB}, {name: e, count: 2, pool: y, " CPU "}, "
    "{name: f, count: 1, pool: w, " CPU "}, {name: g, count: 1, pool: w, " CPU "}]}\n"
    "workload: {arrival: {process: all_at_once}, jobs: 2, mix: [{recipe: batch-infer, name: a, "
    "model: bert-large, prompts: 64, prompt_tokens: 128, steps: 1, infer: {gpus: 2, types: [l40s, "
    "cpu], cpu: {cores: 32}}}]}\npolicies: [fcfs]\n";

/* A role that may go on cores has a site for each pool with its type of GPU, one for both, and
 * behind them one for each pool with enough cores, however many groups the pool has.  A site is
 * within pools if all of its own are among them. */
static void look_at_sites(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        uint32_t gpus = 0, cores = 0, count = cs_site_count(host, task);
        if (cs_task(host, task)->gpus == 0)
            continue;
        assert_int_equal(count, 3 + 4);
        for (uint32_t s = 0; s < count; s++) {
            struct cs_want want = { .role = cs_task(host, task)->role };
            assert_true(cs_site(host, task, s, 0, &want));
            assert_true((want.gpu_type == CS_ON_CORES) == (s >= 3));
            uint32_t *seen = s < 3 ? &gpus : &cores;
            assert_false(*seen >> want.pool_mask & 1);
            *seen |= 1u << want.pool_mask;
            for (uint32_t pools = 1; pools < 16; pools++) {
                struct cs_want there = { .role = want.role };
                assert_true(cs_site(host, task, s, pools, &there) ==
                            ((want.pool_mask & ~pools) == 0));
            }
        }
        assert_int_equal(gpus, 1u << 1 | 1u << 2 | 1u << 3);
        assert_int_equal(cores, 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8);
        looked++;
    }
    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void a_role_has_one_site_for_each_place(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "looks", .summary = "looks at sites", .flags = CS_PER_PHASE,
        .decide = look_at_sites };
    struct host_policy looks = world_policy(&policy);
    struct world world = { 0 };

    (void)state;
    looked = 0;
    if (!world_open(&world, cores_beside_gpus) || !world_run(&world, 0, &looks, NULL, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(looked >= 2);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_speeds_are_those_of_the_owners_curve),
        cmocka_unit_test(jobs_for_as_much_have_one_curve),
        cmocka_unit_test(only_jobs_that_nothing_else_changes_are_steady),
        cmocka_unit_test(groups_and_sizes_are_those_of_all_roles),
        cmocka_unit_test(a_role_has_one_site_for_each_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
