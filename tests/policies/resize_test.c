/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resize_test.c - leases that change while they work: what a job of known
 * length gains and pays, whole steps that training keeps, rates by pool, and
 * no work lost or made whatever a policy, a failure or an instant does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/phases.h"
#include "policies/resize.h"
#include "tests/aid/world.h"

/* ---- a policy that does what a script says ----------------------------- */

struct act {
    double at_s;
    uint32_t job, gpus;         /* gpus 0: move */
    uint32_t pool_mask;
    enum cs_verdict verdict;    /* the answer that is expected */
};

static const struct act *script;        /* ends with at_s < 0 */
#define STOP UINT32_MAX         /* for gpus: stop it; it starts again at once */
static uint32_t first_gpus;             /* of all jobs at their start; 0: asked */
static uint32_t first_pools;

struct scripted {
    uint32_t next;
};

static void act(struct cs_host *host, const struct act *a)
{
    struct job_id job = { a->job };
    struct lease_id lease = cs_role_lease(host, job, 0);
    struct cs_want want = { .pool_mask = a->pool_mask };
    enum cs_verdict verdict = a->gpus == STOP ? cs_stop(host, job)
                              : a->gpus ? cs_resize(host, lease, a->gpus)
                                        : cs_move(host, lease, &want);

    if (verdict != a->verdict)
        fail_msg("at %g s: %s, expected %s", a->at_s,
                 host_verdict_name(verdict), host_verdict_name(a->verdict));
}

static void scripted_decide(void *self, struct cs_host *host)
{
    struct scripted *s = self;
    struct cs_want want = { .gpus = first_gpus, .pool_mask = first_pools };

    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (cs_start_want(host, cs_pending(host, i), &want) != CS_DONE)
            i++;
    while (script[s->next].at_s >= 0 &&
           script[s->next].at_s * 1e9 <= (double)cs_now_ns(host))
        act(host, &script[s->next++]);
    if (script[s->next].at_s >= 0)
        cs_wake_at(host, (int64_t)(script[s->next].at_s * 1e9));
}

static const struct cs_policy scripted_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof scripted_policy,
    .name = "scripted", .summary = "what the test says",
    .flags = CS_PREEMPTS | CS_RESIZES,
    .self_bytes = sizeof(struct scripted), .decide = scripted_decide,
};

static void open_jobs(struct world *world, const char *rows,
                      const char *nodes, const char *keys)
{
    char text[2048], csv[1024];

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    snprintf(csv, sizeof csv, "job,submit,duration,gpus\n%s", rows);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [%s]}\n"
             "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus}%s}}\npolicies: [fcfs]\n", nodes, keys);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

#define NODES_8 "{name: n, count: 2, gpus: {type: generic, count: 4}}"
#define LINEAR ", elastic: {min: 1, max: 8, scaling: linear}"

static double end_of_one(const char *rows, const char *nodes, const char *keys,
                         const struct act *acts, int64_t cost_s)
{
    struct host_policy policy = world_policy(&scripted_policy);
    struct world world = { 0 };
    struct world_job job[8];

    policy.rules.cost_count = cost_s > 0;
    policy.rules.cost[0] = (struct host_cost_step) {
        UINT32_MAX, cost_s * CLOCK_NS_PER_S };
    script = acts;
    open_jobs(&world, rows, nodes, keys);
    if (!world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return job[0].end_s;
}

static void a_job_that_grows_does_the_rest_faster(void **state)
{
    const struct act acts[] = { { 20, 0, 4, 0, CS_DONE }, { .at_s = -1 } };

    (void)state;
    assert_true(end_of_one("0,0,100,2\n", NODES_8, LINEAR, acts, 0) == 60);
}

/* 20 s, 7 s of restart, then 80 s of work at twice the pace. */
static void a_resize_costs_what_a_restart_costs(void **state)
{
    const struct act acts[] = { { 20, 0, 4, 0, CS_DONE }, { .at_s = -1 } };

    (void)state;
    assert_true(end_of_one("0,0,100,2\n", NODES_8, LINEAR, acts, 7) == 67);
}

/* The second resize cuts the restart of the first, of which 3 s were left. */
static void a_resize_within_a_restart_owes_both(void **state)
{
    const struct act acts[] = {
        { 20, 0, 4, 0, CS_DONE }, { 24, 0, 2, 0, CS_DONE }, { .at_s = -1 }
    };

    (void)state;
    assert_true(end_of_one("0,0,100,2\n", NODES_8, LINEAR, acts, 7) == 114);
}

/* Amdahl with half of it serial: 2 GPUs speed up by 4/3, 1 by 1. */
static void a_job_that_shrinks_goes_on_by_its_rule(void **state)
{
    const struct act acts[] = { { 30, 0, 1, 0, CS_DONE }, { .at_s = -1 } };
    double end = end_of_one("0,0,90,2\n", NODES_8, ", elastic: {min: 1, max: "
                            "8, scaling: {amdahl: 0.5}}", acts, 0);

    (void)state;
    assert_true(end > 110 - 1e-6 && end < 110 + 1e-6);
}

/* From 1 to 2.5 between 2 (1) and 4 (2): 3 GPUs gain 1.5. */
static void a_table_is_linear_between_its_rows(void **state)
{
    const struct act acts[] = {
        { 10, 0, 3, 0, CS_DONE }, { 30, 0, 5, 0, CS_BAD_SHAPE },
        { .at_s = -1 }
    };

    (void)state;
    assert_true(end_of_one("0,0,100,2\n", NODES_8, ", elastic: {min: 1, max: "
                           "8, scaling: {table: {2: 1, 4: 2}}}", acts, 0) ==
                70);
}

static void what_may_not_change_is_refused_and_changes_nothing(void **state)
{
    const struct act rigid[] = {
        { 10, 0, 4, 0, CS_BAD_SHAPE }, { 20, 0, 2, 0, CS_BAD_SHAPE },
        { 30, 0, 0, 2, CS_NO_ROOM }, { .at_s = -1 }
    };
    const struct act full[] = {
        { 10, 0, 8, 0, CS_NO_ROOM }, { 20, 0, 9, 0, CS_BAD_SHAPE },
        { .at_s = -1 }
    };

    (void)state;
    assert_true(end_of_one("0,0,100,2\n", NODES_8, "", rigid, 9) == 100);
    assert_true(end_of_one("0,0,100,2\n1,0,200,2\n", NODES_8, LINEAR, full,
                           9) == 100);
}

/* The wake-up of the resize, the end of job 1 and what was asked for fall
 * together: ends come first, so its GPUs are there. */
static void an_end_at_the_instant_of_a_resize_comes_first(void **state)
{
    const struct act acts[] = { { 50, 0, 8, 0, CS_DONE }, { .at_s = -1 } };
    const struct act late[] = { { 100, 0, 8, 0, CS_NOT_PENDING },
                                { .at_s = -1 } };

    (void)state;
    assert_true(end_of_one("0,0,100,4\n1,0,50,4\n", NODES_8, LINEAR, acts,
                           0) == 75);
    assert_true(end_of_one("0,0,100,4\n1,0,150,4\n", NODES_8, LINEAR, late,
                           0) == 100);
}

#define MIXED                                                                \
    "{name: fast, count: 1, gpus: {type: generic, count: 4}}, {name: slow, " \
    "count: 1, gpus: {type: generic, count: 4}}"

/* 40 s at a quarter of the pace, then 90 s at the whole. */
static void a_job_that_moves_has_the_rate_of_the_pool(void **state)
{
    const struct act acts[] = { { 40, 0, 0, 1, CS_DONE },
                                { 50, 0, 0, 1, CS_NO_ROOM },
                                { .at_s = -1 } };

    (void)state;
    first_pools = 2;
    assert_true(end_of_one("0,0,100,2\n", MIXED, ", rates: {fast: 1, slow: "
                           "0.25}", acts, 0) == 130);
    first_pools = 0;
}

/* 3 cores a GPU: 8 cores of a node are enough for 2 of its 4 GPUs, and for 3 not; on two nodes
 * for 4.  So a resize to 3 is refused, and one to 2 or 4 brings its cores: linear, from 40 s on,
 * the 60 s that are left take 30 or 15. */
static void a_resize_takes_the_cores_of_each_gpu(void **state)
{
    static const struct { uint32_t gpus; enum cs_verdict verdict; double end_s; } row[] = {
        { 2, CS_DONE, 70 }, { 4, CS_DONE, 55 }, { 5, CS_NO_ROOM, 100 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct act acts[] = { { 40, 0, row[i].gpus, 0, row[i].verdict }, { .at_s = -1 } };
        double end = end_of_one("0,0,100,1\n", "{name: n, count: 2, gpus: {type: generic, count: "
                                "4}, cores: 8}", ", role: {cores: 3}" LINEAR, acts, 0);
        if (end != row[i].end_s)
            fail_msg("%u GPUs: ends at %g s, not at %g", row[i].gpus, end, row[i].end_s);
    }
}

static void a_pool_without_a_rate_is_never_used(void **state)
{
    const struct act acts[] = { { 40, 0, 0, 2, CS_NO_ROOM },
                                { .at_s = -1 } };

    (void)state;
    assert_true(end_of_one("0,0,100,4\n1,0,10,4\n", MIXED, ", rates: {fast: "
                           "1}", acts, 0) == 100);
}

/* 3600 steps of a kind at 10 steps/s on v100 and 2.5 on k80; 2 GPUs make 18 on
 * v100.  1000 steps there, 1000 on k80 in 400 s, then the other 1600 by two. */
static void gavels_rates_are_by_kind_type_and_size(void **state)
{
    const struct act acts[] = { { 100, 0, 0, 2, CS_DONE },
                                { 500, 0, 0, 1, CS_DONE },
                                { 500, 0, 2, 0, CS_DONE },
                                { 510, 0, 4, 0, CS_BAD_SHAPE },
                                { .at_s = -1 } };
    struct host_policy policy = world_policy(&scripted_policy);
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    script = acts;
    first_pools = 1;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "LM (b 5)\tc\t-n\t1\t3600\t0.0\t1\n");
    world_write(&world, "rates.json",
                "{\"k80\": {\"('LM (b 5)', 1)\": {\"null\": 2.5}}, \"v100\": "
                "{\"('LM (b 5)', 1)\": {\"null\": 10.0, \"('LM (b 5)', 1)\": "
                "[1.0, 1.0]}, \"('LM (b 5)', 2)\": {\"null\": 18.0}}}");
    assert_true(world_open(
        &world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                "[{name: v100, count: 1, gpus: {type: generic, count: 4}}, "
                "{name: k80, count: 1, gpus: {type: generic, count: 4}}]}\n"
                "workload: {trace: {file: jobs.csv, format: gavel, lengths: "
                "rates.json, gpu_type: v100, rates: lengths, elastic: {min: 1, "
                "max: 4, scaling: rates}}}\npolicies: [fcfs]\n"));
    if (!world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s > 500 + 1600 / 18.0 - 1e-6 &&
                job[0].end_s < 500 + 1600 / 18.0 + 1e-6);
    first_pools = 0;
    char path[128];
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    unlink(path);
    world_close(&world);
}

/* ---- training ------------------------------------------------------------ */

#define TRAINING                                                             \
    "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: a, "  \
    "count: 4, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, "     \
    "sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 8}}], storage: "  \
    "{bandwidth: 20GB/s}}\n%sworkload: {arrival: {process: all_at_once}, "   \
    "jobs: 1, mix: [{recipe: lora, model: llama-3.1-8b, recompute: full, "   \
    "batch: 64, sequence: 2048, micro_batch: 2, steps: 200, train: {gpus: "  \
    "8, min: 4, max: 16, types: [a100-80]}}]}\npolicies: [fcfs]\n"

static double train_end(const struct act *acts, const char *fidelity,
                        struct trial_result *result)
{
    struct host_policy policy = world_policy(&scripted_policy);
    struct world world = { 0 };
    struct world_job job[1];
    char text[1200];

    policy.rules.placement = PLACE_PACK;
    script = acts;
    snprintf(text, sizeof text, TRAINING, fidelity);
    if (!world_open(&world, text) ||
        !world_run(&world, 0, &policy, job, result))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return job[0].end_s;
}

static void training_keeps_its_whole_steps_and_pays_for_the_switch(void **state)
{
    static const char *const fidelity[] = { "", "fidelity: step\n" };
    const struct act none[] = { { .at_s = -1 } };
    const struct act grow[] = { { 400, 0, 16, 0, CS_DONE }, { .at_s = -1 } };
    const struct act twice[] = { { 400, 0, 16, 0, CS_DONE },
                                 { 400.5, 0, 8, 0, CS_DONE },
                                 { .at_s = -1 } };
    struct trial_result r;

    (void)state;
    for (int f = 0; f < 2; f++) {
        double rigid = train_end(none, fidelity[f], &r);
        double grown = train_end(grow, fidelity[f], &r);
        double back = train_end(twice, fidelity[f], &r);
        double steps_s = rigid - 400;

        /* Sixteen GPUs take more than half as long as eight; the switch, a
         * start of a process among it, takes seconds. */
        assert_true(grown < rigid - 0.3 * steps_s + 60);
        assert_true(grown > 400 + steps_s / 2);
        /* There and back: what is lost is a step and the switch. */
        assert_true(back > rigid && back < rigid + 120);
        assert_true(r.value[METRIC_JOBS_DONE] == 1);
    }
}

/* The state lies on 8 GPUs.  It is saved over their eight links, whether the job is at once to
 * have 16 GPUs, or first 4 and, in the midst of saving, 16: on the 4 it has loaded nothing.  So
 * both end at the same time.  4 GPUs have half the links. */
static void a_lease_that_moves_again_saves_over_the_links_of_its_state(void **state)
{
    static const char *const fidelity[] = { "", "fidelity: step\n" };
    const struct act once[] = { { 400, 0, 16, 0, CS_DONE }, { .at_s = -1 } };
    const struct act again[] = { { 400, 0, 4, 0, CS_DONE },
                                 { 400.0005, 0, 16, 0, CS_DONE },
                                 { .at_s = -1 } };
    const struct act twice[] = { { 400, 0, 4, 0, CS_DONE },
                                 { 400.0005, 0, 8, 0, CS_DONE },
                                 { 400.001, 0, 16, 0, CS_DONE },
                                 { .at_s = -1 } };

    (void)state;
    for (int f = 0; f < 2; f++) {
        double end = train_end(once, fidelity[f], NULL);

        assert_true(fabs(train_end(again, fidelity[f], NULL) - end) < 1e-6);
        assert_true(fabs(train_end(twice, fidelity[f], NULL) - end) < 1e-6);
    }
}

/* Stopped twice, and started on what it had at the next look. */
static void training_that_is_stopped_keeps_its_whole_steps(void **state)
{
    static const char *const fidelity[] = { "", "fidelity: step\n" };
    const struct act none[] = { { .at_s = -1 } };
    const struct act stops[] = { { 400, 0, STOP, 0, CS_DONE },
                                 { 401, 0, 16, 0, CS_DONE },
                                 { 402, 0, STOP, 0, CS_DONE },
                                 { 403, 0, 8, 0, CS_BAD_SHAPE },
                                 { .at_s = -1 } };

    (void)state;
    for (int f = 0; f < 2; f++) {
        double rigid = train_end(none, fidelity[f], NULL);
        double stopped = train_end(stops, fidelity[f], NULL);

        /* A run of the graph is a tenth of the job: that is not done again. */
        assert_true(stopped > rigid + 3 && stopped < rigid + 100);
    }
}

/* ---- anything, at any time ------------------------------------------------ */

static void chaos_start(struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct job_id job = cs_task(host, task)->job;
        struct cs_want want = { .gpus = cs_size_below(
            host, job, 1 + (uint32_t)(cs_random(host) * 16)) };

        if (cs_random(host) < 0.3)
            want.gpus = 0;
        if (cs_start_want(host, task, &want) != CS_DONE &&
            cs_start(host, task) != CS_DONE)
            i++;
    }
}

static void chaos_change(struct cs_host *host)
{
    for (uint32_t n = 0; n < 2 && cs_lease_count(host) > 0; n++) {
        struct lease_id lease = cs_lease_at(
            host, (uint32_t)(cs_random(host) * cs_lease_count(host)));
        struct job_id job = cs_lease(host, lease)->job;
        struct cs_want want = { .pool_mask = (uint32_t)(cs_random(host) * 4) };
        uint32_t pool = (uint32_t)(cs_random(host) * 2);
        double speedup = cs_speedup(host, job, pool, cs_lease(host, lease)->gpus);

        assert_true(speedup >= 0 && speedup < 1e3);
        if (cs_random(host) < 0.1)
            cs_stop(host, job);
        else if (cs_random(host) < 0.5)
            cs_move(host, lease, &want);
        else
            cs_resize(host, lease, (uint32_t)(cs_random(host) * 17));
    }
}

struct chaos {
    uint32_t changes;
};

static void chaos_decide(void *self, struct cs_host *host)
{
    struct chaos *chaos = self;

    chaos_start(host);
    if (chaos->changes < 400 && ++chaos->changes)
        chaos_change(host);
    else
        return;
    cs_wake_at(host, cs_now_ns(host) + (int64_t)(cs_random(host) * 60e9) + 1);
}

static const struct cs_policy chaos_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof chaos_policy,
    .name = "chaos", .summary = "resizes and moves at random",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_DRAWS,
    .self_bytes = sizeof(struct chaos),
    .decide = chaos_decide,
};

static void holds(struct world *world, uint64_t seed)
{
    struct host_policy policy = world_policy(&chaos_policy);
    struct trial_spec spec = experiment_trial_spec(world->experiment, 0);
    struct trial_tables none = { 0 };
    struct trial_result one, two;

    policy.rules.placement = spec.policy->rules.placement;
    policy.rules.cost_count = seed % 2;
    policy.rules.cost[0] = (struct host_cost_step) {
        UINT32_MAX, 3 * CLOCK_NS_PER_S };
    spec.policy = &policy;
    if (!trial_run(&spec, &none, &one, &world->err))
        fail_msg("world %u: %s", (unsigned)seed, world_error(world));
    assert_true(one.value[METRIC_JOBS_DONE] == one.value[METRIC_JOBS]);
    assert_false(one.value[METRIC_JCT_BOUND] > one.value[METRIC_JCT_MEAN]);
    assert_false(one.value[METRIC_MAKESPAN_BOUND] >
                 one.value[METRIC_MAKESPAN]);
    assert_true(trial_run(&spec, &none, &two, &world->err));
    assert_true(one.digest == two.digest);
}

static const char *const any_placement[] = { "count", "first_fit", "best_fit",
                                             "pack", "spread" };

static void any_resize_of_known_lengths_conserves_work(void **state)
{
    static const char *const scaling[] = {
        "linear", "{amdahl: 0.1}", "{table: {1: 1, 2: 1.9, 8: 5, 16: 8}}" };

    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++) {
        struct world world = { 0 };
        char text[2048];

        snprintf(text, sizeof text,
                 "experiment: t\nseed: %u\nseeds: 1\nuntil: drained\ncluster: "
                 "{nodes: [{name: a, count: 2, gpus: {type: generic, count: "
                 "8}, price: 2USD/h}, {name: b, count: 2, gpus: {type: generic, "
                 "count: 8}%s}]%s}\nworkload: {arrival: {process: poisson, rate: "
                 "90/h}, jobs: 40, mix: [{recipe: trace, gpus: {choice: {0.5: 2, 1: 3, "
                 "2: 1, 4: 1, 8: 1}}, duration: {exponential: {mean: 5m}}, "
                 "elastic: {min: 1, max: 16, scaling: %s}%s}]}\npolicies: "
                 "[{policy: fcfs, placement: %s}]\n", (unsigned)seed + 1,
                 seed % 4 < 2 ? "" : ", rent: {start: 30s, keep: 1min, "
                 "reclaim: 8min, notice: 40s}", seed % 3 ? "" : ", failures: "
                 "{node_mtbf: 2h, repair: 3m, restart: 20s, checkpoint: 60s}",
                 scaling[seed % 3],
                 seed % 2 ? ", rates: {a: 1, b: 0.3}" : "",
                 any_placement[seed % 5]);
        if (!world_open(&world, text))
            fail_msg("world %u: %s", (unsigned)seed, world_error(&world));
        holds(&world, seed);
        world_close(&world);
    }
}

static void any_resize_of_training_conserves_work(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct world world = { 0 };
        char text[2048];

        snprintf(text, sizeof text,
                 "experiment: t\nseed: %u\nseeds: 1\nuntil: drained\n%s"
                 "cluster: {nodes: [{name: a, count: 2, gpus: {type: a100-80, "
                 "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: "
                 "1536GB, nics: {type: ethernet-100}}, {name: b, count: 1, "
                 "gpus: {type: l40s, count: 8}, cpu: {type: epyc-7763, "
                 "sockets: 2}, memory: 1536GB, nics: {type: ethernet-100}%s}], "
                 "storage: {bandwidth: 2GB/s}%s}\nworkload: {arrival: "
                 "{process: poisson, rate: 60/h}, jobs: 10, mix: [{recipe: "
                 "sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, "
                 "checkpoint_every: 50, steps: {uniform: [50, 900]}, train: "
                 "{gpus: 4, min: 1, max: 16, start: wake}}]}\npolicies: "
                 "[{policy: fcfs, placement: %s}]\n", (unsigned)seed + 1,
                 seed % 4 == 1 ? "fidelity: step\n" : "",
                 seed % 4 < 2 ? "" : ", rent: {start: 30s, keep: 1min, "
                 "reclaim: 8min, notice: 40s, on_notice: save}",
                 seed % 3 ? "" : ", failures: {node_mtbf: 1h, repair: 3m, "
                 "restart: 20s}", any_placement[1 + seed % 4]);
        if (!world_open(&world, text))
            fail_msg("world %u: %s", (unsigned)seed, world_error(&world));
        holds(&world, seed);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_grows_does_the_rest_faster),
        cmocka_unit_test(a_resize_costs_what_a_restart_costs),
        cmocka_unit_test(a_resize_within_a_restart_owes_both),
        cmocka_unit_test(a_job_that_shrinks_goes_on_by_its_rule),
        cmocka_unit_test(a_table_is_linear_between_its_rows),
        cmocka_unit_test(
            what_may_not_change_is_refused_and_changes_nothing),
        cmocka_unit_test(an_end_at_the_instant_of_a_resize_comes_first),
        cmocka_unit_test(a_job_that_moves_has_the_rate_of_the_pool),
        cmocka_unit_test(a_resize_takes_the_cores_of_each_gpu),
        cmocka_unit_test(a_pool_without_a_rate_is_never_used),
        cmocka_unit_test(gavels_rates_are_by_kind_type_and_size),
        cmocka_unit_test(
            training_keeps_its_whole_steps_and_pays_for_the_switch),
        cmocka_unit_test(
            a_lease_that_moves_again_saves_over_the_links_of_its_state),
        cmocka_unit_test(training_that_is_stopped_keeps_its_whole_steps),
        cmocka_unit_test(any_resize_of_known_lengths_conserves_work),
        cmocka_unit_test(any_resize_of_training_conserves_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
