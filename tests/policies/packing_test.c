/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing_test.c - two jobs on the same GPUs: paces change while they are
 * together and change back, a GPU is counted once, and no policy beats the
 * bounds by it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/pack.h"
#include "tests/aid/world.h"

/* ---- a policy that puts every job beside another where it can -------------- */

struct greedy {
    int64_t stop;               /* of so many decisions, one stops a job */
    uint32_t decides;
    bool wrong;
};

static bool found_beside(struct cs_host *host, struct task_id task)
{
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        if (cs_start_co_located(host, task, cs_running(host, i)) == CS_DONE)
            return true;
    return false;
}

/* Who is beside whom is told by both, and nobody by a third. */
static bool pairs_agree(const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i), with = cs_co_located(host, job);
        uint32_t milli = cs_lease(host, cs_role_lease(host, job, 0))
                             ->gpu_milli;
        if (with.i == ID_NONE ? milli != 1000
                              : milli != 500 ||
                                    cs_co_located(host, with).i != job.i)
            return false;
    }
    return true;
}

static void greedy_decide(void *self, struct cs_host *host)
{
    struct greedy *g = self;

    g->decides++;
    if (!pairs_agree(host))
        cs_fail(host, "jobs do not agree on who is beside whom");
    if (g->stop > 0 && g->decides % (uint32_t)g->stop == 0 &&
        cs_running_count(host) > 1)
        cs_stop(host, cs_running(host, g->decides % cs_running_count(host)));
    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (!found_beside(host, cs_pending(host, i)) &&
            cs_start(host, cs_pending(host, i)) != CS_DONE)
            i++;
    if (!pairs_agree(host))
        cs_fail(host, "jobs do not agree on who is beside whom now");
}

static const struct cs_policy greedy_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "greedy", .summary = "beside another where it can",
    .flags = CS_PREEMPTS | CS_PACKS, .self_bytes = sizeof(struct greedy),
    .decide = greedy_decide,
};

/* The same without the flag, and without a home of its own. */
static const struct cs_policy meek_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "meek", .summary = "asks without the flag",
    .flags = CS_PREEMPTS, .self_bytes = sizeof(struct greedy),
    .decide = greedy_decide,
};

static struct host_policy greedy(const struct greedy *params)
{
    struct host_policy policy = world_policy(&greedy_policy);

    policy.params = params;
    policy.rules.placement = PLACE_PACK;
    return policy;
}

/* ---- by hand ---------------------------------------------------------------- */

/* Jobs of a CSV on nodes of GPUs, with these keys beside. */
static bool open_jobs(struct world *world, const char *jobs, uint32_t nodes,
                      uint32_t gpus, const char *keys)
{
    char text[1024];

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "jobs.csv", jobs);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[{name: n, count: %u, price: %uUSD/h, gpus: {type: generic, "
             "count: %u}}]}\nworkload: {trace: {file: jobs.csv, format: csv, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus}%s}}\npolicies: [fcfs]\n", nodes, gpus, gpus, keys);
    return world_open(world, text);
}

static void assert_about(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fmax(1, fabs(expected))))
        fail_msg("found %.9g, expected %.9g", value, expected);
}

#define HEAD "job,submit,duration,gpus\n"

/* a alone for 50 s, beside b for 83.3 s at 0.6; then b alone for its other
 * half. */
static void speedups_fall_while_two_share_and_rise_when_one_goes(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct world_job job[2];
    struct trial_result result;

    (void)state;
    assert_true(open_jobs(&world, HEAD "0,0,100,1\n1,50,100,1\n", 1, 1,
                          ", packing: {trace: 0.6}"));
    assert_true(world_run(&world, 0, &policy, job, &result));
    assert_about(job[0].end_s, 50 + 50 / 0.6);
    assert_about(job[1].start_s, 50);
    assert_about(job[1].end_s, 100 + 50 / 0.6);
    /* The one GPU is at work all the time, and is paid for once. */
    assert_about(result.value[METRIC_GPU_UTILIZATION], 1);
    assert_about(result.value[METRIC_COST], (100 + 50 / 0.6) / 3600);
    assert_about(result.value[METRIC_HELD_COST], (100 + 50 / 0.6) / 3600);
    world_close(&world);
}

/* Alone 200 s for both; together, at 0.5, the same, and at 0.4 later. */
static void gangs_of_as_many_gpus_share_all_of_them(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct world_job job[3];

    (void)state;
    assert_true(open_jobs(&world, HEAD "0,0,100,4\n1,0,100,4\n2,0,10,2\n", 2,
                          2, ", packing: {trace: 0.4}"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    assert_about(job[0].end_s, 250);
    assert_about(job[1].end_s, 250);
    assert_about(job[2].end_s, 260);    /* of another size: beside nobody */
    world_close(&world);
}

static void nobody_shares_without_a_stated_speedup(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct world_job job[2];
    struct trial_result result;

    (void)state;
    assert_true(open_jobs(&world, HEAD "0,0,100,1\n1,0,100,1\n", 1, 1, ""));
    assert_true(world_run(&world, 0, &policy, job, &result));
    assert_about(job[1].end_s, 200);
    assert_true(result.value[METRIC_REFUSED] > 0);
    world_close(&world);
}

static void a_policy_without_the_flag_may_not(void **state)
{
    struct host_policy policy = world_policy(&meek_policy);
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    assert_true(open_jobs(&world, HEAD "0,0,100,1\n1,0,100,1\n", 1, 1,
                          ", packing: {trace: 0.9}"));
    assert_true(world_run(&world, 0, &policy, job, NULL));
    assert_about(job[1].end_s, 200);
    world_close(&world);
}

/* Two jobs of 100 s of these rows, on a node of a GPU and twelve cores: when the second
 * ends. */
static double end_beside(const char *rows, const char *keys)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct world_job job[2];
    char text[1024];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", rows);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 1, "
             "cpu: {type: xeon-silver-4310, sockets: 1}, memory: 64GB, "
             "gpus: {type: generic, count: 1}}]}\nworkload: {trace: {file: "
             "jobs.csv, format: csv, packing: {trace: 0.8},"
             " columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus%s}}}\npolicies: [fcfs]\n", keys);
    if (!world_open(&world, text) ||
        !world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return job[1].end_s;
}

static void cores_are_not_shared(void **state)
{
    (void)state;
    assert_about(end_beside(HEAD "0,0,100,1\n1,0,100,1\n", "}, role: {cores: 6"), 125);
    assert_about(end_beside(HEAD "0,0,100,1\n1,0,100,1\n", "}, role: {cores: 7"), 200);
}

/* A pod states what it needs of a node, and its speed beside another is not known. */
static void pods_do_not_share(void **state)
{
    (void)state;
    assert_about(end_beside("job,submit,duration,gpus,cores\n0,0,100,1,2\n1,0,100,1,2\n",
                            ", cores: cores"), 200);
}

/* Nor does a job that loads weights: all hold the whole node, and each starts when the one
 * before it has ended. */
static void jobs_that_load_their_state_do_not_share(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct world_job job[8];

    (void)state;
    if (!world_open(
        &world, "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 1, gpus: {type: "
        "a100-80, count: 4}, cpu: {type: xeon-silver-4310, sockets: 2}, memory: 1TB}], storage: "
        "{bandwidth: 100GB/s}}\nworkload: {arrival: {process: poisson, rate: 1/s}, jobs: 8, "
        "mix: [{recipe: net, model: resnet-50, micro_batch: 256, batch: 1024, steps: 50, "
        "checkpoint_every: 0, train: {gpus: 4}, loader: {kind: image, size: 200000}}, {recipe: "
        "trace, gpus: 4, duration: 100s, packing: {net: 0.9}}]}\npolicies: [fcfs]\n") ||
        !world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 1; i < 8; i++)
        assert_about(job[i].start_s, job[i - 1].end_s);
    world_close(&world);
}

/* ---- Gavel's pairs ---------------------------------------------------------- */

static bool run_kinds(struct world *world, const char *pairs,
                      struct world_job *job)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    char text[1024], path[128];

    memset(world, 0, sizeof *world);
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "jobs.csv", "a\tc\t-n\t1\t1000\t0.0\t1\n"
                                   "b\tc\t-n\t1\t4000\t0.0\t1\n");
    snprintf(text, sizeof text,
             "{\"one\": {\"('a', 1)\": {\"null\": 1.0%s}, \"('b', 1)\": "
             "{\"null\": 4.0, \"('a', 1)\": [1.0, 0.5]}}}", pairs);
    world_write(world, "rates.json", text);
    bool ok = world_open(world, "experiment: t\nseeds: 1\ncluster: {nodes: "
        "[{name: one, count: 1, gpus: {type: generic, count: 1}}]}\n"
        "workload: {trace: {file: jobs.csv, format: gavel, lengths: "
        "rates.json, gpu_type: one, rates: lengths}}\npolicies: [fcfs]\n") &&
        world_run(world, 0, &policy, job, NULL);
    snprintf(path, sizeof path, "%s/rates.json", world->folder);
    unlink(path);
    return ok;
}

/* Both 1000 s alone; a runs at 0.5 beside b, b at 0.25 beside a: a is done
 * after 2000 s and b has half of it left. */
static void rates_of_pairs_are_read_and_used(void **state)
{
    struct world world;
    struct world_job job[2];

    (void)state;
    if (!run_kinds(&world, ", \"('b', 1)\": [0.5, 1.0]", job))
        fail_msg("%s", world_error(&world));
    assert_about(job[0].end_s, 2000);
    assert_about(job[1].end_s, 2500);
    world_close(&world);
}

/* [0, 0] is how Gavel's table says that two do not fit into the memory. */
static void pairs_of_zero_rates_are_kept_apart(void **state)
{
    struct world world;
    struct world_job job[2];

    (void)state;
    assert_true(run_kinds(&world, ", \"('b', 1)\": [0.0, 0.0]", job));
    assert_about(job[1].end_s, 2000);
    world_close(&world);
}

static void broken_pairs_are_refused_with_their_place(void **state)
{
    static const char *const broken[] = {
        ", \"('b', 1)\": 0.5", ", \"('b', 1)\": [0.5]",
        ", \"('b', 1)\": [0.5, -1.0]", ", \"('b', 1)\": [1, 2, 3]",
        ", \"('b', 1)\": [\"x\", 2]", ", \"b\": [1.0, 2.0]",
        ", \"('b', 0)\": [1.0, 2.0]" };
    struct world world;
    struct world_job job[2];

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_false(run_kinds(&world, broken[i], job));
        assert_true(world.err.pos.line == 1 && world.err.pos.col > 30);
        assert_non_null(strstr(world.err.pos.file, "rates.json"));
        world_close(&world);
    }
}

static void names_in_packing_must_be_jobs(void **state)
{
    struct world world = { 0 };

    (void)state;
    assert_false(open_jobs(&world, HEAD "0,0,100,1\n", 1, 1,
                           ", packing: {trade: 0.6}"));
    assert_non_null(strstr(world_error(&world), "packing names trade"));
    assert_string_equal(world.err.hint, "Did you mean trace?");
    world_close(&world);
}

/* ---- by lot ----------------------------------------------------------------- */

static void random_world(struct world *world, uint64_t seed, bool fails,
                         const char *policy)
{
    char text[2048];

    snprintf(text, sizeof text,
             "experiment: t\nseed: %llu\nseeds: 1\nuntil: drained\ncluster: "
             "{nodes: [{name: n, count: 2, price: 8USD/h, gpus: {type: "
             "generic, count: 4}}]%s}\nworkload:\n  arrival: {process: "
             "poisson, rate: 20/h}\n  jobs: 60\n  mix:\n"
             "    - {recipe: trace, name: a, duration: {exponential: {mean: "
             "%umin}}, gpus: {choice: {1: 4, 2: 2, 4: 1}}, packing: {a: 0.55,"
             " b: 0.9, c: 0.3}}\n"
             "    - {recipe: trace, name: b, duration: {exponential: {mean: "
             "40min}}, gpus: {choice: {1: 4, 2: 2, 4: 1}}, packing: {a: 0.8, "
             "b: 1.05}}\n"
             "    - {recipe: trace, name: c, duration: {exponential: {mean: "
             "10min}}, gpus: {choice: {1: 4, 8: 1}}, packing: {a: 0.7, c: "
             "0.99}}\n"
             "policies: [%s]\n", (unsigned long long)seed,
             fails ? ", failures: {gpu_mtbf: 60h, repair: 30min, "
                     "restart: 1min, job_mtbf: 2h}" : "",
             10 + (uint32_t)(seed % 50), policy);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void assert_no_bound_beaten(const struct trial_result *result)
{
    assert_true(result->value[METRIC_JOBS_DONE] == 60);
    assert_true(result->value[METRIC_JCT_MEAN] >=
                result->value[METRIC_JCT_BOUND]);
    assert_true(result->value[METRIC_MAKESPAN] >=
                result->value[METRIC_MAKESPAN_BOUND]);
    assert_true(result->value[METRIC_HELD_COST] >=
                result->value[METRIC_COST_BOUND]);
    assert_true(result->value[METRIC_GPU_UTILIZATION] <= 1 + 1e-9);
}

/* The audit of every trial checks that no GPU is held beyond its whole, that
 * work, cost and energy add up, and that no job is lost. */
static void shared_by_lot_nothing_is_lost_and_no_bound_is_beaten(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct greedy params = { .stop = (int64_t)(seed % 3) * 4 };
        struct host_policy policy = greedy(&params);
        struct world world = { 0 };
        struct trial_result result;

        random_world(&world, seed, seed % 2 == 0, "fcfs");
        if (!world_run(&world, 0, &policy, NULL, &result))
            fail_msg("seed %llu: %s", (unsigned long long)seed,
                     world_error(&world));
        assert_no_bound_beaten(&result);
        world_close(&world);
    }
}

/* All at once, on GPUs that hold two each without loss: twice as fast as what
 * GPUs to themselves allow, and the bound knows. */
static void the_bound_counts_on_sharing(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    assert_true(open_jobs(&world, HEAD "0,0,100,1\n1,0,100,1\n2,0,100,1\n"
                          "3,0,100,1\n", 1, 2, ", packing: {trace: 1}"));
    assert_true(world_run(&world, 0, &policy, NULL, &result));
    assert_about(result.value[METRIC_MAKESPAN], 100);
    assert_about(result.value[METRIC_MAKESPAN_GAP], 0);
    assert_about(result.value[METRIC_GAP], 0);
    world_close(&world);
}

/* ---- policies that pack ------------------------------------------------------- */

/* Jobs of `jobs` under a policy of the registry, on one node of so many GPUs. */
static void run_named(const char *policy, const char *jobs, uint32_t gpus,
                      const char *packing, struct world_job *job,
                      struct trial_result *result)
{
    struct world world = { 0 };
    char text[1024];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", jobs);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[{name: n, count: 1, gpus: {type: generic, count: %u}}]}\n"
             "workload: {trace: {file: jobs.csv, format: csv, columns: {job: "
             "job, submit: submit, duration: duration, gpus: gpus}%s}}\n"
             "policies: [{policy: %s}]\n", gpus, packing, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, result))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* Alone in turns both end after 2000 s, at 0.8 beside each other after 1250. */
static void gavel_packs_two_where_that_beats_turns(void **state)
{
    struct world_job job[2];
    struct trial_result result;

    (void)state;
    run_named("gavel, packing: true, round: 10s",
              HEAD "0,0,1000,1\n1,0,1000,1\n", 1, ", packing: {trace: 0.8}",
              job, &result);
    assert_about(job[0].end_s, 1250);
    assert_about(job[1].end_s, 1250);
    assert_true(result.value[METRIC_PREEMPTIONS] == 0);
}

static void gavel_leaves_two_apart_where_turns_do_as_well(void **state)
{
    struct world_job job[2];

    (void)state;
    run_named("gavel, packing: true, round: 10s",
              HEAD "0,0,1000,1\n1,0,1000,1\n", 1, ", packing: {trace: 0.5}",
              job, NULL);
    assert_about(fmax(job[0].end_s, job[1].end_s), 2000);
    assert_true(fmin(job[0].end_s, job[1].end_s) > 1980);
}

/* Three of 1000 s on one GPU: two are together at any time, each pair a third
 * of it, so each runs two thirds of the time at 0.9. */
static void gavel_gives_every_pair_its_share_of_time(void **state)
{
    struct world_job job[3];

    (void)state;
    run_named("gavel, packing: true, round: 10s",
              HEAD "0,0,1000,1\n1,0,1000,1\n2,0,1000,1\n", 1,
              ", packing: {trace: 0.9}", job, NULL);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(job[i].end_s - 1000 / 0.9 * 3 / 2) < 31);
}

/* Twelve make 66 pairs, and two are together at any time: 12,000 s at 1.8. */
static void gavel_pairs_each_of_many_with_each(void **state)
{
    struct world_job job[12];
    char jobs[400] = HEAD;

    (void)state;
    for (int i = 0; i < 12; i++)
        sprintf(jobs + strlen(jobs), "%d,0,1000,1\n", i);
    run_named("gavel, packing: true, round: 10s", jobs, 1, ", packing: {trace: 0.9}", job, NULL);
    for (int i = 0; i < 12; i++)
        assert_true(fabs(job[i].end_s - 12000 / 1.8) < 121);
}

#define NODE "cpu: {type: epyc-7742, sockets: 1}, memory: 500GB"

/* On n both take twice their time, and on m they may not run: 2500 s beside each other, and 4000 s
 * in turns. */
static void gavel_packs_by_what_a_pool_loses(void **state)
{
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,m,n,gpus,duration\n0,0,,2000,1,1000\n"
                                    "1,0,,2000,1,1000\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: "
                    "m, count: 1, gpus: {type: v100-32, count: 1}, " NODE "}, {name: n, count: 1, "
                    "gpus: {type: a100-80, count: 1}, " NODE "}]}\nworkload: {trace: {file: "
                    "jobs.csv, format: csv, columns: {job: job, submit: submit, duration: "
                    "duration, gpus: gpus}, run_times: {v100-32: m, a100-80: n}, packing: {trace: "
                    "0.8}}}\npolicies: [{policy: gavel, packing: true, round: 10s}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    assert_about(job[0].end_s, 2500);
    assert_about(job[1].end_s, 2500);
    world_close(&world);
}

/* Scores: above a mean of 0.95 tiny, above 0.85 medium, below jumbo; two of
 * medium add up to 2. */
static void lucid_packs_by_sharing_scores(void **state)
{
    static const char two[] = HEAD "0,0,100,1\n1,0,100,1\n";
    struct world_job job[2];

    (void)state;
    run_named("lucid", two, 1, ", packing: {trace: 0.9}", job, NULL);
    assert_about(job[1].end_s, 100 / 0.9);
    run_named("lucid", two, 1, ", packing: {trace: 0.8}", job, NULL);
    assert_about(job[1].end_s, 200);
    run_named("lucid, score_max: 4", two, 1, ", packing: {trace: 0.8}", job,
              NULL);
    assert_about(job[1].end_s, 125);
    run_named("lucid, packs: never", two, 1, ", packing: {trace: 0.9}", job,
              NULL);
    assert_about(job[1].end_s, 200);
}

static void lucid_gives_gpus_of_their_own_while_there_are_some(void **state)
{
    struct world_job job[2];

    (void)state;
    run_named("lucid", HEAD "0,0,100,1\n1,0,100,1\n", 2,
              ", packing: {trace: 0.9}", job, NULL);
    assert_about(job[1].end_s, 100);
    run_named("lucid, packs: always", HEAD "0,0,100,1\n1,0,100,1\n", 2,
              ", packing: {trace: 0.9}", job, NULL);
    assert_about(job[1].end_s, 100 / 0.9);
}

/* The second would hold back the first for long: more than twice its length. */
static void lucid_puts_no_long_job_beside_a_short_one(void **state)
{
    struct world_job job[2];

    (void)state;
    run_named("lucid", HEAD "0,0,100,1\n1,0,201,1\n", 1,
              ", packing: {trace: 0.9}", job, NULL);
    assert_about(job[1].start_s, 100);
    run_named("lucid", HEAD "0,0,100,1\n1,0,200,1\n", 1,
              ", packing: {trace: 0.9}", job, NULL);
    assert_about(job[1].start_s, 0);
}

/* 50 s end on the profiler; 300 s leave it after 100 s for the other pool. */
static void lucid_profiles_jobs_on_nodes_of_their_own_first(void **state)
{
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", HEAD "0,0,50,1\n1,0,300,1\n");
    if (!world_open(&world,
            "experiment: t\nseeds: 1\ncluster: {nodes: [{name: main, count: "
            "1, gpus: {type: generic, count: 1}}, {name: try, count: 1, gpus: "
            "{type: generic, count: 1}}]}\nworkload: {trace: {file: jobs.csv,"
            " format: csv, columns: {job: job, submit: submit, duration: "
            "duration, gpus: gpus}}}\npolicies: [{policy: lucid, profiler: "
            "try, profile: 100s}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_about(job[0].end_s, 50);
    assert_about(job[1].start_s, 50);
    assert_about(job[1].end_s, 350);
    world_close(&world);
}

/* The profiler has a V100.  Job 0 is for an A100 alone: it cannot be profiled, and starts on the
 * other pool at once.  Job 1, for more GPUs, is profiled at once: it does not wait behind job 0. */
static void lucid_profiles_no_job_that_may_not_use_the_profiler(void **state)
{
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,types\n0,0,500,1,A100\n1,0,50,2,\n");
    if (!world_open(&world,
            "experiment: t\nseeds: 1\ncluster: {nodes: [{name: try, count: 1, gpus: {type: "
            "v100-32, count: 2}, cpu: {type: epyc-7742, sockets: 2}, memory: 500GB}, {name: main, "
            "count: 1, gpus: {type: a100-80, count: 1}, cpu: {type: epyc-7742, sockets: 2}, "
            "memory: 500GB}]}\n"
            "workload: {trace: {file: jobs.csv, format: csv, columns: {job: job, submit: submit, "
            "duration: duration, gpus: gpus, gpu_types: types}}}\npolicies: [{policy: lucid, "
            "profiler: try, profile: 100s}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].start_s == 0 && job[1].start_s == 0);
    world_close(&world);
}

/* The profiler has two V100, the other pool an A100.  Job 0 is for a V100 alone and job 1 for two
 * GPUs: they run on the profiler to their ends, 500 s, and 300 s after that, as two are free then.
 * Job 2 leaves it after 100 s for the A100. */
static void lucid_leaves_on_the_profiler_who_may_run_nowhere_else(void **state)
{
    struct world world = { 0 };
    struct world_job job[3];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,types\n0,0,500,1,V100\n"
                                    "1,0,300,2,\n2,0,300,1,\n");
    if (!world_open(&world,
            "experiment: t\nseeds: 1\ncluster: {nodes: [{name: try, count: 1, gpus: {type: "
            "v100-32, count: 2}, cpu: {type: epyc-7742, sockets: 2}, memory: 500GB}, {name: main, "
            "count: 1, gpus: {type: a100-80, count: 1}, cpu: {type: epyc-7742, sockets: 2}, "
            "memory: 500GB}]}\n"
            "workload: {trace: {file: jobs.csv, format: csv, columns: {job: job, submit: submit, "
            "duration: duration, gpus: gpus, gpu_types: types}}}\npolicies: [{policy: lucid, "
            "profiler: try, profile: 100s}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].start_s == 0 && job[0].end_s == 500);
    assert_true(job[1].start_s == 500 && job[1].end_s == 800);
    assert_true(job[2].start_s == 0 && job[2].end_s == 300);
    world_close(&world);
}

/* Nothing shares a rented GPU.  Two jobs of 720 s take turns there in rounds of 360 s, as if
 * packing were off: they end at 1,080 and at 1,440 s, and nothing is asked for that is refused.  On
 * a GPU that is owned both run at 0.9 from 0 on, and end at 800 s. */
static void gavel_plans_no_pairs_on_rented_nodes(void **state)
{
    static const struct { const char *rent; double end_s[2]; } on[] = {
        { ", rent: {start: 60s, min: 1}", { 1080, 1440 } }, { "", { 800, 800 } },
    };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct world_job job[2];
        struct trial_result result;
        char text[1024];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", HEAD "0,0,720,1\n1,0,720,1\n");
        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, count: 1, "
                 "gpus: {type: generic, count: 1}, price: 1USD/h%s}]}\nworkload: {trace: {file: "
                 "jobs.csv, format: csv, columns: {job: job, submit: submit, duration: duration, "
                 "gpus: gpus}, packing: {trace: 0.9}}}\npolicies: [{policy: gavel, packing: true}]"
                 "\n", on[i].rent);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, &result))
            fail_msg("%s", world_error(&world));
        assert_about(job[0].end_s, on[i].end_s[0]);
        assert_about(job[1].end_s, on[i].end_s[1]);
        assert_true(result.value[METRIC_REFUSED] == 0);
        world_close(&world);
    }
}

#define TYPED(name, type, gpus) \
    "{name: " name ", count: 1, gpus: {type: " type ", count: " gpus "}, cpu: {type: epyc-7742, " \
    "sockets: 2}, memory: 500GB}"

/* Two GPUs are outside the profiler, but of two types, and a gang has one: it runs on the profiler
 * to its end. */
static void lucid_leaves_on_the_profiler_a_gang_without_a_type_elsewhere(void **state)
{
    struct world_job job[1] = { { .duration_s = 300, .gpus = 2 } };
    struct world world = { 0 };

    (void)state;
    if (!world_trace_on(&world, "nodes: [" TYPED("try", "v100-32", "2") ", "
                        TYPED("main", "a100-80", "1") ", " TYPED("other", "t4", "1") "]", job, 1,
                        "[{policy: lucid, profiler: try, profile: 100s}]", 1) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].start_s == 0 && job[0].end_s == 300);
    world_close(&world);
}

/* A replica has a GPU like those of the profiler elsewhere: it begins there, and answers as it
 * does without a profiler.  A move after 100 s would make requests wait. */
static void lucid_profiles_no_replica_of_a_service(void **state)
{
    struct world world = { 0 };
    struct trial_result r[2];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    if (!world_open(&world,
            "experiment: t\nseeds: 1\ncluster: {nodes: [" TYPED("try", "a100-80", "1") ", "
            TYPED("main", "a100-80", "1") "], storage: {bandwidth: 10GB/s}}\n"
            "workload:\n  services:\n    - name: chat\n      model: qwen2.5-7b\n"
            "      gpu: {tp: 1, types: [a100-80], cores: 4}\n      replicas: {min: 1, max: 1}\n"
            "      requests:\n        arrival: {process: fixed, every: 1s}\n"
            "        prompt: 100\n        output: 10\n        for: 10min\n"
            "      slo: {ttft: 2s, tpot: 50ms}\n"
            "policies: [lucid, {policy: lucid, name: b, profiler: try, profile: 100s}]\n") ||
        !world_run(&world, 0, NULL, NULL, &r[0]) || !world_run(&world, 1, NULL, NULL, &r[1]))
        fail_msg("%s", world_error(&world));
    assert_true(r[0].value[METRIC_SLO] > 0.8);
    assert_true(r[0].value[METRIC_SLO] == r[1].value[METRIC_SLO]);
    world_close(&world);
}

/* Together at 0.8 both end after 125 s.  At 0.4 they are tried for a quantum,
 * in which 24 s of each are done, and take turns for the other 152 s. */
static void time_slice_tries_two_together_and_parts_those_that_lose(
    void **state)
{
    static const char two[] = HEAD "0,0,100,1\n1,0,100,1\n";
    struct world_job job[2];

    (void)state;
    run_named("time-slice, packing: true", two, 1, ", packing: {trace: 0.8}",
              job, NULL);
    assert_about(job[0].end_s, 125);
    assert_about(job[1].end_s, 125);
    run_named("time-slice, packing: true", two, 1, ", packing: {trace: 0.4}",
              job, NULL);
    assert_about(fmax(job[0].end_s, job[1].end_s), 212);
    run_named("time-slice", two, 1, ", packing: {trace: 0.8}", job, NULL);
    assert_about(fmax(job[0].end_s, job[1].end_s), 200);
}

/* The first is alone for 10 s; its other 990 s take 1,237.5 s at 0.8.  By then the second
 * has done as many, and does its last 10 s alone.  Nobody waits, so nobody is stopped. */
static void time_slice_leaves_a_good_pair_together(void **state)
{
    struct world_job job[2];

    (void)state;
    run_named("time-slice, packing: true, quantum: 60s, preemption: {cost: 30s}",
              HEAD "0,0,1000,1\n1,10,1000,1\n", 1, ", packing: {trace: 0.8}", job, NULL);
    assert_about(job[0].end_s, 1247.5);
    assert_about(job[1].end_s, 1257.5);
}

/* One GPU: the job of a whole one finds no room beside a half, which a second half does. */
static void a_half_starts_behind_a_whole_that_waits(void **state)
{
    static const char *const policy[] = { "fcfs, blocking: skip", "dynamic", "advised",
                                          "hybrid" };
    struct world_job job[3];

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        run_named(policy[p], HEAD "0,0,100,0.5\n1,1,100,1\n2,2,50,0.5\n", 1, "", job, NULL);
        if (job[2].start_s != 2 || job[2].end_s != 52 || job[1].start_s != 100)
            fail_msg("%s: starts at %g s", policy[p], job[2].start_s);
    }
}

/* The second job runs on GPUs of m alone, which are taken, the third on those of n. */
static void a_job_with_other_rates_starts_behind_one_that_waits(void **state)
{
    static const char *const policy[] = { "dynamic", "advised", "hybrid" };

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        struct world world = { 0 };
        struct world_job job[3];
        char text[1024];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", "job,submit,m,n,gpus,duration\n0,0,1000,,1,1000\n"
                    "1,1,500,,1,500\n2,2,,100,1,100\n");
        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: m, "
                 "count: 1, gpus: {type: v100-32, count: 1}, cpu: {type: epyc-7742, sockets: "
                 "1}, memory: 500GB}, {name: n, count: 1, gpus: {type: a100-80, count: 1}, "
                 "cpu: {type: epyc-7742, sockets: 1}, memory: 500GB}]}\nworkload: {trace: "
                 "{file: jobs.csv, format: csv, columns: {job: job, submit: submit, "
                 "duration: duration, gpus: gpus}, run_times: {v100-32: m, a100-80: n}}}\n"
                 "policies: [%s]\n", policy[p]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s", world_error(&world));
        if (job[2].start_s != 2 || job[2].end_s != 102 || job[1].start_s != 1000)
            fail_msg("%s: starts at %g s", policy[p], job[2].start_s);
        world_close(&world);
    }
}

static void policies_that_pack_beat_no_bound(void **state)
{
    static const char *const policy[] = {
        "{policy: gavel, packing: true, round: 60s}",
        "{policy: gavel, packing: true, objective: makespan, round: 60s}",
        "{policy: gavel, packing: true, objective: finish-time, round: 5min}",
        "{policy: gavel, packing: true, objective: cost, round: 5min}",
        "lucid", "{policy: lucid, packs: always, score_max: 4}",
        "{policy: time-slice, packing: true, quantum: 5min}",
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 35; seed++) {
        struct world world = { 0 };
        struct trial_result result;

        random_world(&world, seed, seed % 2 == 0,
                     policy[seed % (sizeof policy / sizeof policy[0])]);
        if (!world_run(&world, 0, NULL, NULL, &result))
            fail_msg("seed %llu: %s", (unsigned long long)seed,
                     world_error(&world));
        assert_no_bound_beaten(&result);
        world_close(&world);
    }
}

/* On a V100 of 32,768 MiB a job of 20,000 takes none of 20,000 beside it, and one of
 * 12,768: these two run at 0.8 until 125 s.  The third has the GPU to itself then.  On two
 * GPUs each, the memory is that of each. */
static void two_share_if_the_memory_of_a_gpu_holds_both(void **state)
{
    struct greedy params = { 0 };
    struct host_policy policy = greedy(&params);

    (void)state;
    for (int gpus = 1; gpus <= 2; gpus++) {
        struct world world = { .folder = "/tmp/clustersim-test-XXXXXX" };
        struct world_job job[3];
        char text[600];
        assert_non_null(mkdtemp(world.folder));
        snprintf(text, sizeof text, "job,submit,duration,gpus,mib\n0,0,100,%d,20000\n"
                 "1,0,100,%d,20000\n2,0,100,%d,12768\n", gpus, gpus, gpus);
        world_write(&world, "jobs.csv", text);
        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 1, "
                 "gpus: {type: v100-32, count: %d}, cpu: {type: epyc-7763, sockets: 1}, "
                 "memory: 128GB}]}\nworkload: {trace: {file: jobs.csv, columns: {job: job, "
                 "submit: submit, duration: duration, gpus: gpus, gpu_memory_mib: mib}, "
                 "packing: {trace: 0.8}}}\npolicies: [fcfs]\n", gpus);
        assert_true(world_open(&world, text));
        assert_true(world_run(&world, 0, &policy, job, NULL));
        assert_about(job[0].end_s, 125);
        assert_about(job[1].start_s, 125);
        assert_about(job[1].end_s, 225);
        assert_about(job[2].start_s, 0);
        assert_about(job[2].end_s, 125);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_share_if_the_memory_of_a_gpu_holds_both),
        cmocka_unit_test(speedups_fall_while_two_share_and_rise_when_one_goes),
        cmocka_unit_test(gangs_of_as_many_gpus_share_all_of_them),
        cmocka_unit_test(nobody_shares_without_a_stated_speedup),
        cmocka_unit_test(a_policy_without_the_flag_may_not),
        cmocka_unit_test(cores_are_not_shared),
        cmocka_unit_test(pods_do_not_share),
        cmocka_unit_test(jobs_that_load_their_state_do_not_share),
        cmocka_unit_test(rates_of_pairs_are_read_and_used),
        cmocka_unit_test(pairs_of_zero_rates_are_kept_apart),
        cmocka_unit_test(broken_pairs_are_refused_with_their_place),
        cmocka_unit_test(names_in_packing_must_be_jobs),
        cmocka_unit_test(
            shared_by_lot_nothing_is_lost_and_no_bound_is_beaten),
        cmocka_unit_test(the_bound_counts_on_sharing),
        cmocka_unit_test(gavel_packs_two_where_that_beats_turns),
        cmocka_unit_test(gavel_leaves_two_apart_where_turns_do_as_well),
        cmocka_unit_test(gavel_gives_every_pair_its_share_of_time),
        cmocka_unit_test(gavel_pairs_each_of_many_with_each),
        cmocka_unit_test(gavel_packs_by_what_a_pool_loses),
        cmocka_unit_test(lucid_packs_by_sharing_scores),
        cmocka_unit_test(lucid_gives_gpus_of_their_own_while_there_are_some),
        cmocka_unit_test(lucid_puts_no_long_job_beside_a_short_one),
        cmocka_unit_test(lucid_profiles_jobs_on_nodes_of_their_own_first),
        cmocka_unit_test(lucid_profiles_no_job_that_may_not_use_the_profiler),
        cmocka_unit_test(lucid_leaves_on_the_profiler_who_may_run_nowhere_else),
        cmocka_unit_test(lucid_leaves_on_the_profiler_a_gang_without_a_type_elsewhere),
        cmocka_unit_test(lucid_profiles_no_replica_of_a_service),
        cmocka_unit_test(gavel_plans_no_pairs_on_rented_nodes),
        cmocka_unit_test(
            time_slice_tries_two_together_and_parts_those_that_lose),
        cmocka_unit_test(time_slice_leaves_a_good_pair_together),
        cmocka_unit_test(a_half_starts_behind_a_whole_that_waits),
        cmocka_unit_test(a_job_with_other_rates_starts_behind_one_that_waits),
        cmocka_unit_test(policies_that_pack_beat_no_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
