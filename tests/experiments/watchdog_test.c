/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watchdog_test.c - a run that gets nowhere ends and names the job, the role,
 * the pools and the reason; a long run that gets somewhere does not end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "experiments/preflight/places.h"
#include "policies/policy.h"
#include "tests/aid/world.h"

#define DAY_S INT64_C(86400)
#define DAY_NS (DAY_S * CLOCK_NS_PER_S)

static void open_keys(struct world *world, const char *keys,
                      const char *cluster, const struct world_job *job,
                      uint32_t jobs, const char *policies)
{
    char csv[4096], text[3072];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus,tenant\n");

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    for (uint32_t i = 0; i < jobs; i++)
        n += (size_t)sprintf(csv + n, "j%u,%lld,%lld,%u,\n", i,
                             (long long)job[i].submit_s,
                             (long long)job[i].duration_s, job[i].gpus);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text, "experiment: t\n%scluster: {%s}\n" WORLD_TRACE
             "policies: %s\n", keys, cluster, policies);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

/* It ends within the time allowed and an eighth, and says these words. */
static void stops(const char *keys, const char *cluster,
                  const struct world_job *job, uint32_t jobs,
                  const char *policies, double after_days, const char *what,
                  const char *why)
{
    struct world world = { 0 };
    struct trial_result r;
    double days;

    open_keys(&world, keys, cluster, job, jobs, policies);
    assert_false(world_run(&world, 0, NULL, NULL, &r));
    if (strstr(world.err.text, what) == NULL ||
        strstr(world.err.hint, why) == NULL)
        fail_msg("%s | %s", world.err.text, world.err.hint);
    assert_int_equal(world.err.kind, ERR_POLICY);
    assert_int_equal(err_exit_status(world.err.kind), 5);
    days = (double)r.end_ns / (double)DAY_NS;
    if (days < after_days || days > 2.2 * after_days)
        fail_msg("ended after %g days", days);
    world_close(&world);
}

static void goes_on(const char *keys, const char *cluster,
                    const struct world_job *job, uint32_t jobs,
                    const char *policies, double end_s)
{
    struct world world = { 0 };
    struct trial_result r;

    open_keys(&world, keys, cluster, job, jobs, policies);
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_JOBS_DONE] == jobs);
    if (fabs((double)r.end_ns / 1e9 - end_s) > 1e-6 * end_s)
        fail_msg("ended after %.9g s", (double)r.end_ns / 1e9);
    world_close(&world);
}

#define OWN(COUNT) \
    "{name: own, count: " #COUNT ", gpus: {type: generic, count: 8}}"

/* ---- runs that get nowhere ------------------------------------------------ */

static void a_job_too_large_for_what_can_be_had_ends_the_run(void **state)
{
    struct world_job job[] = { { .duration_s = 3600, .gpus = 8 },
                               { .duration_s = 3600, .gpus = 32 } };

    (void)state;
    stops("", "nodes: [" OWN(2) ", {name: spot, count: 2, gpus: {type: "
          "generic, count: 8}, rent: {start: 5min, reclaim: 8h, scale: "
          "always, available: {unit: nodes, after: hold, points: [[0h, 1]]}}}]",
          job, 2, "[{policy: fcfs, placement: first_fit}]", 365,
          "nothing moved for 365 days, 1 of 2 jobs left; job j1 waits since "
          "0 s for 32 GPUs of role gpus",
          "The empty cluster has no room for it: own has 16 GPUs, spot has 16 "
          "GPUs, 8 of nodes that can be had now.");
}

static void a_job_that_reclaims_never_let_end_ends_the_run(void **state)
{
    struct world_job job = { .duration_s = 10 * DAY_S, .gpus = 160 };
    static const char *const policy[] = { "[fcfs]", "[dynamic]", "[las]" };

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof *policy; i++)
        stops("", "nodes: [{name: spot, count: 20, gpus: {type: generic, "
              "count: 8}, rent: {start: 5min, reclaim: 8h, notice: 2min, "
              "on_notice: work}}]", &job, 1, policy[i], 365,
              "1 of 1 jobs left; job j0 was interrupted",
              "Failures and reclaims set it back faster than it proceeds");
}

static void a_job_that_failures_never_let_end_ends_the_run(void **state)
{
    struct world_job job = { .duration_s = 1000 * DAY_S, .gpus = 2 };

    (void)state;
    stops("", "nodes: [" OWN(1) "], failures: {node_mtbf: 240h, repair: "
          "10min}", &job, 1, "[fcfs]", 365, "job j0 was interrupted",
          "checkpoints nearer to each other");
}

static void the_key_says_how_long_nothing_may_move(void **state)
{
    struct world_job job = { .duration_s = 1000 * DAY_S, .gpus = 2 };

    (void)state;
    stops("stalled_after: 40d\n", "nodes: [" OWN(1) "], failures: "
          "{node_mtbf: 12h, repair: 10min}", &job, 1, "[fcfs]", 40,
          "nothing moved for 40 days", "set it back");
}

/* A series that changes for ever is no movement. */
static void a_series_keeps_no_run_alive(void **state)
{
    struct world_job job = { .duration_s = 3600, .gpus = 32 };

    (void)state;
    stops("", "nodes: [{name: spot, count: 4, gpus: {type: generic, count: 8}, "
          "rent: {start: 5min, keep: 1h, available: {unit: nodes, repeat: "
          "24h, points: [[0h, 1], [12h, 3]]}}}]",
          &job, 1, "[{policy: fcfs, placement: first_fit}]", 365,
          "job j0 waits since 0 s for 32 GPUs",
          "of nodes that can be had now");
}

static void wakes_decide(void *self, struct cs_host *host)
{
    (void)self;
    cs_wake_at(host, cs_now_ns(host) + DAY_NS);
}

static void a_policy_that_never_tasks_is_named(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table,
        .name = "sleeper", .summary = "wakes", .decide = wakes_decide,
    };
    struct host_policy policy = world_policy(&table);
    struct world_job job = { .duration_s = 10, .gpus = 4 };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_keys(&world, "", "nodes: [" OWN(1) "]", &job, 1, "[fcfs]");
    assert_false(world_run(&world, 0, &policy, NULL, &r));
    assert_non_null(strstr(world.err.text, "nothing moved for 365 days, 1 of "
                                           "1 jobs left; job j0 waits"));
    assert_non_null(strstr(world.err.hint,
                           "the policy does not ask to start it"));
    world_close(&world);
}

/* ---- roles, pools and what they lack -------------------------------------- */

#define DPO(ROLLOUT, TRAIN) \
    "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n" \
    "    - {recipe: dpo, model: qwen2.5-1.5b, method: lora, steps: 3, " \
    "prompts: 64, prompt_tokens: 200, response: {mean: 200, cv: 1, max: " \
    "1000}, rollout: {" ROLLOUT "}, train: {" TRAIN "}}\n"

static void waits_for_ever(const char *nodes, const char *mix,
                           const char *policy, const char *what,
                           const char *why)
{
    struct world world = { 0 };
    char text[2048];

    snprintf(text, sizeof text, "experiment: t\ncluster: {nodes: [%s]}\n%s"
             "policies: [%s]\n", nodes, mix, policy);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    assert_false(world_run(&world, 0, NULL, NULL, NULL));
    if (strstr(world.err.text, what) == NULL ||
        strstr(world.err.hint, why) == NULL)
        fail_msg("%s | %s", world.err.text, world.err.hint);
    world_close(&world);
}

#define NODE(NAME, GPUS) \
    "{name: " NAME ", count: 1, gpus: {type: a100-80, count: " GPUS "}, cpu: " \
    "{type: epyc-7742, sockets: 2}, memory: 2TB}"

static void roles_that_do_not_fit_together_are_told(void **state)
{
    (void)state;
    waits_for_ever(NODE("dgx", "8"), DPO("gpus: 6", "gpus: 4"), "fcfs",
                   "job 0 waits since 0 s for 4 GPUs of role train",
                   "but not beside the job's other roles: dgx has 8 GPUs.");
}

static void where_a_policy_looks_in_vain_is_told(void **state)
{
    (void)state;
    waits_for_ever(NODE("train", "4") ", " NODE("rollout", "8"),
                   DPO("gpus: 4", "gpus: 8"), "static",
                   "job 0 waits since 0 s for 8 GPUs of role train",
                   "The policy looks for room where the empty cluster has "
                   "none: train has 4 GPUs, rollout is not its pool.");
}

/* The cap allows each role: 3,451 W, and 4 x 526 W for its GPUs; not both at once. */
static void a_cap_of_power_is_told(void **state)
{
    struct world world = { 0 };

    (void)state;
    if (!world_open(&world, "experiment: t\ncluster: {nodes: [" NODE("dgx", "8") "], power_cap: "
                    "6500W}\n" DPO("gpus: 4", "gpus: 4") "policies: [fcfs]\n"))
        fail_msg("%s", world_error(&world));
    assert_false(world_run(&world, 0, NULL, NULL, NULL));
    if (strstr(world.err.hint, "has room for it, but power_cap is 6500 W, "
                               "nodes that stand by draw 3451 W") == NULL)
        fail_msg("%s | %s", world.err.text, world.err.hint);
    world_close(&world);
}

/* What places_check() tells first, and how often. */
struct told {
    char text[300];
    uint32_t count;
};

static void tell(void *self, const struct err *err)
{
    struct told *told = self;

    if (told->count++ == 0)
        snprintf(told->text, sizeof told->text, "%s", err->text);
}

/* PUE 1.  The node stands by with 8 x (63 + 181.5) + 2 x (68 + 60) = 2,212 W.  Two roles of four
 * GPUs draw 8 x 337 W more, their 6 cores a GPU and the 8 cores of the data 56 x 157 / 64 W:
 * 5,045.4 W together, and one alone 3,618.9 W.  A policy that leases for a phase runs the job. */
static void roles_that_exceed_a_cap_together_are_refused(void **state)
{
    static const struct { const char *cap, *policy; uint32_t told; } row[] = {
        { "5045W", "[fcfs, easy, static]", 3 }, { "5046W", "[fcfs, easy, static]", 0 },
        { "5045W", "[dynamic, hybrid]", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world = { 0 };
        struct told told = { .count = 0 };
        char text[2048];

        snprintf(text, sizeof text, "experiment: t\ncluster: {nodes: [" NODE("dgx", "8") "], pue: "
                 "1, power_cap: %s}\n" DPO("gpus: 4", "gpus: 4") "policies: %s\n", row[i].cap,
                 row[i].policy);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        places_check(world.arena, world.experiment, tell, &told);
        assert_int_equal(told.count, row[i].told);
        if (told.count > 0)
            assert_string_equal(told.text, "dpo can never start under policy fcfs: its roles "
                                "start together, the cluster then draws at least 5046 W, and "
                                "power_cap is 5045 W");
        world_close(&world);
    }
}

/* PUE 1.  The node stands by with 2,212 W, and 8 GPUs add 8 x 337 W: 4,908 W.  The cap lets five
 * run, 3,897 W.  `afs`, `sia` and `pollux` start the job on fewer than it asks for, `fcfs` and
 * `synergy` do not. */
static void a_job_that_is_never_started_smaller_is_told_of_the_cap(void **state)
{
    static const struct { const char *cap, *policy; uint32_t told; bool ends; } row[] = {
        { "4000W", "fcfs", 1, false }, { "4907W", "fcfs", 1, false }, { "4908W", "fcfs", 0, true },
        { "4000W", "afs", 0, true }, { "4000W", "sia", 0, true }, { "4000W", "pollux", 0, true },
        { "4000W", "synergy", 1, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world = { 0 };
        struct told told = { .count = 0 };
        char text[1024];

        snprintf(text, sizeof text, "experiment: t\ncluster: {nodes: [" NODE("dgx", "8") "], pue: "
                 "1, power_cap: %s}\nworkload: {arrival: {process: all_at_once}, jobs: 1, mix: "
                 "[{recipe: trace, gpus: 8, duration: 100s, elastic: {min: 2, max: 8, scaling: "
                 "linear}}]}\npolicies: [%s]\n", row[i].cap, row[i].policy);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        places_check(world.arena, world.experiment, tell, &told);
        assert_int_equal(told.count, row[i].told);
        if (i == 0)
            assert_string_equal(told.text, "role gpus of trace can never start under policy fcfs, "
                                "which starts it on 8 GPUs: the cluster then draws at least 4908 "
                                "W, and power_cap is 4000 W");
        assert_int_equal(world_run(&world, 0, NULL, NULL, NULL), row[i].ends);
        if (!row[i].ends && (strstr(world.err.hint, "power_cap is") == NULL ||
                             strstr(world.err.hint, "nodes that stand by draw 2212 W, and what it "
                                    "asks for would draw 2696 W more") == NULL))
            fail_msg("row %zu: %s | %s", i, world.err.text, world.err.hint);
        world_close(&world);
    }
}

/* Each pool lacks something else; the one that would do cannot be had in full. */
static void each_pool_says_what_it_lacks(void **state)
{
    (void)state;
    waits_for_ever("{name: spot, count: 2, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, "
                   "sockets: 2}, memory: 2TB, nics: {type: ib-hdr, count: 8}, price: 1USD/h, rent: "
                   "{start: 5min, available: {unit: nodes, after: hold, points: [[0h, 1]]}}}, "
                   "{name: thin, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
                   "xeon-silver-4310, sockets: 1}, memory: 2TB, nics: {type: ib-hdr, count: 8}}, "
                   "{name: low, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, "
                   "sockets: 2}, memory: 120GB}, "
                   "{name: old, count: 1, gpus: {type: t4, count: 4}, cpu: {type: epyc-7742, "
                   "sockets: 2}, memory: 2TB}, "
                   "{name: cpu, count: 1, cpu: {type: epyc-7742, sockets: 2}, memory: 2TB}",
                   "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
                   "    - {recipe: lora, model: qwen2.5-1.5b, recompute: full, batch: 32, "
                   "sequence: 1024, micro_batch: 1, steps: 10, train: {gpus: 16, types: "
                   "[a100-80], cores: 5, memory: 50GB}}\n", "fcfs",
                   "job 0 waits since 0 s for 16 GPUs of role train",
                   "The empty cluster has no room for it: spot has 16 GPUs, 8 of nodes that can be "
                   "had now, thin has cores and memory for 2 of its 8 GPUs, low has cores and "
                   "memory for 2 of its 8 GPUs, old has no GPU of its types, cpu has no GPUs.");
}

/* The rented node is not ordered before the run is taken for stuck. */
static void what_is_free_and_what_is_rented_is_told(void **state)
{
    struct world_job job = { .duration_s = 10, .gpus = 16 };

    (void)state;
    stops("stalled_after: 10d\n", "nodes: [" OWN(1) ", {name: spot, count: 1, gpus: "
          "{type: generic, count: 8}, rent: {start: 5min, wait: 100d}}]", &job, 1,
          "[{policy: fcfs, placement: consolidate}]", 10,
          "job j0 waits since 0 s for 16 GPUs of role gpus",
          "but no more than 8 GPUs of its pools are free now. Of rented group spot 0 of 1 nodes "
          "are here.");
}

/* ---- long runs that get somewhere ----------------------------------------- */

static void a_job_of_200_days_is_not_stopped(void **state)
{
    struct world_job job = { .duration_s = 200 * DAY_S, .gpus = 4 };

    (void)state;
    goes_on("stalled_after: 10d\n", "nodes: [" OWN(1) "]", &job, 1, "[easy]",
            200 * DAY_S);
    goes_on("stalled_after: 10d\n", "nodes: [" OWN(1) "]", &job, 1,
            "[dynamic]", 200 * DAY_S);
}

/* Three steps of 64 samples that a reward of 36,000 s on one core judges, no more than eight at a
 * time: 80 h each at least, within which no other phase of the job can end. */
static void a_phase_that_runs_is_movement(void **state)
{
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\nstalled_after: 1d\n"
                    "cluster: {nodes: [" NODE("a", "8") "], storage: {bandwidth: 20GB/s}}\n"
                    "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: grpo, "
                    "name: g, model: qwen2.5-1.5b, recompute: full, micro_batch: 1, prompts: 16, "
                    "responses: 4, prompt_tokens: 512, response: {mean: 400, cv: 1, max: 4096}, "
                    "reward: {on: cpu, core_time: 36000s}, steps: 3, data: {cores: 8}, rollout: "
                    "{gpus: 4}, train: {gpus: 4}}]}\npolicies: [dynamic]\n"))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_JOBS_DONE] == 1);
    assert_true((double)r.end_ns / 1e9 > 3 * 64 / 8 * 36000.0);
    world_close(&world);
}

static void an_arrival_after_years_is_waited_for(void **state)
{
    struct world_job job[] = {
        { .duration_s = 10, .gpus = 1 },
        { .submit_s = 1500 * DAY_S, .duration_s = 10, .gpus = 1 }
    };

    (void)state;
    goes_on("stalled_after: 10d\n", "nodes: [" OWN(1) "]", job, 2, "[dynamic]",
            1500.0 * DAY_S + 10);
}

/* Each holds the GPUs for six hours in turn: no phase runs from one look to the
 * next, and what a job has done grows all the same. */
static void jobs_that_take_turns_move(void **state)
{
    struct world_job job[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        job[i] = (struct world_job) { .duration_s = 100 * DAY_S, .gpus = 8 };
    goes_on("stalled_after: 20d\n", "nodes: [" OWN(1) "]", job, 4,
            "[{policy: time-slice, quantum: 6h}]", 400 * DAY_S);
}

/* Set back often, but it keeps what it saved. */
static void a_job_that_saves_moves(void **state)
{
    struct world_job job = { .duration_s = 300 * DAY_S, .gpus = 8 };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_keys(&world, "stalled_after: 10d\n", "nodes: [" OWN(1) "], failures: "
              "{node_mtbf: 12h, repair: 10min, checkpoint: 1h}", &job, 1,
              "[fcfs]");
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_INTERRUPTIONS] > 300);
    world_close(&world);
}

static void a_repair_of_half_a_year_is_waited_for(void **state)
{
    struct world_job job = { .duration_s = 30 * DAY_S, .gpus = 8 };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_keys(&world, "seed: 2\n", "nodes: [" OWN(1) "], failures: {node_mtbf: "
              "480h, repair: 200d, checkpoint: 1h}", &job, 1, "[fcfs]");
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_INTERRUPTIONS] > 0);
    assert_true(r.value[METRIC_MAKESPAN] > 230.0 * DAY_S);
    world_close(&world);
}

static void a_run_until_a_time_is_never_stopped(void **state)
{
    struct world_job job = { .duration_s = 1000 * DAY_S, .gpus = 2 };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_keys(&world, "until: 900d\n", "nodes: [" OWN(1)
              "], failures: {node_mtbf: 12h, repair: 10min}", &job, 1,
              "[fcfs]");
    if (!world_run(&world, 0, NULL, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_int_equal(r.end_ns, 900 * DAY_NS);
    assert_true(r.value[METRIC_JOBS_DONE] == 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_too_large_for_what_can_be_had_ends_the_run),
        cmocka_unit_test(a_job_that_reclaims_never_let_end_ends_the_run),
        cmocka_unit_test(a_job_that_failures_never_let_end_ends_the_run),
        cmocka_unit_test(the_key_says_how_long_nothing_may_move),
        cmocka_unit_test(a_series_keeps_no_run_alive),
        cmocka_unit_test(a_policy_that_never_tasks_is_named),
        cmocka_unit_test(roles_that_do_not_fit_together_are_told),
        cmocka_unit_test(where_a_policy_looks_in_vain_is_told),
        cmocka_unit_test(a_cap_of_power_is_told),
        cmocka_unit_test(roles_that_exceed_a_cap_together_are_refused),
        cmocka_unit_test(a_job_that_is_never_started_smaller_is_told_of_the_cap),
        cmocka_unit_test(each_pool_says_what_it_lacks),
        cmocka_unit_test(what_is_free_and_what_is_rented_is_told),
        cmocka_unit_test(a_job_of_200_days_is_not_stopped),
        cmocka_unit_test(a_phase_that_runs_is_movement),
        cmocka_unit_test(an_arrival_after_years_is_waited_for),
        cmocka_unit_test(jobs_that_take_turns_move),
        cmocka_unit_test(a_job_that_saves_moves),
        cmocka_unit_test(a_repair_of_half_a_year_is_waited_for),
        cmocka_unit_test(a_run_until_a_time_is_never_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
