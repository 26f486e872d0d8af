/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput_policy_test.c - pollux and sia in cases worked by hand; jobs whose
 * goodput is known run as long as the law says, under any policy; what the
 * shipped experiments state holds.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/catalogue/goodput.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/program.h"
#include "tests/aid/world.h"

#define HEAD "experiment: t\nseeds: 1\nuntil: drained\n"
#define CPU "cpu: {type: epyc-7742, sockets: 1}, memory: 64GB"
#define LINEAR "elastic: {min: 1, max: 4, scaling: linear}"
#define APPS_HEAD "name,time,application,num_replicas,batch_size\n"
#define SMALL "population: 20, generations: 10"

static void run(const char *cluster, const char *more, const char *trace,
                const char *csv, const char *policy, struct world_job *job,
                struct trial_result *result)
{
    struct world world = { 0 };
    char text[1500];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", csv);
    snprintf(text, sizeof text, HEAD "cluster: {nodes: [%s]%s}\nworkload: {trace: "
             "{file: jobs.csv, origin: file, %s}}\npolicies: [%s]\n", cluster,
             more, trace, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, result))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
}

/* Rows: job,submit,duration,gpus; GPUs of one node that are alike. */
static void run_plain(const char *policy, const char *rows, uint32_t gpus,
                      struct world_job *job)
{
    char cluster[100], csv[400];

    snprintf(cluster, sizeof cluster,
             "{name: n, count: 1, gpus: {type: generic, count: %u}}", gpus);
    snprintf(csv, sizeof csv, "job,submit,duration,gpus\n%s", rows);
    run(cluster, "", "format: csv, columns: {job: job, submit: submit, duration: "
        "duration, gpus: gpus}, " LINEAR, csv, policy, job, NULL);
}

static void run_apps(const char *cluster, const char *rows, const char *policy,
                     struct world_job *job, struct trial_result *result)
{
    char csv[900];

    snprintf(csv, sizeof csv,
             APPS_HEAD "%s", rows);
    run(cluster, "", "format: pollux, lengths: applications", csv, policy, job,
        result);
}

static bool about(double value, double expected, double within)
{
    if (fabs(value - expected) <= within)
        return true;
    print_message("found %.9g, expected %.9g\n", value, expected);
    return false;
}

/* Each begins with one of four GPUs.  After 60 s a second one counts 60 / 90 of
 * 2: more than 1, so each has two, and has done its 300 s after 60 + 240 / 2. */
static void two_alike_share_and_double_at_most(void **state)
{
    static const char *const policy[] = {
        "{policy: pollux, " SMALL "}", "{policy: sia}" };
    struct world_job job[2];

    (void)state;
    for (int p = 0; p < 2; p++) {
        run_plain(policy[p], "0,0,300,1\n1,0,300,1\n", 4, job);
        assert_true(about(job[0].end_s, 180, 1e-6));
        assert_true(about(job[1].end_s, 180, 1e-6));
    }
}

/* Were a restart to take 100 s, 60 / 160 of 2 is less than 1: after 60 s it
 * stays, after 120 s (120 / 220 of 2: 1.09) it takes the second. */
static void a_restart_must_be_worth_its_delay(void **state)
{
    static const char *const policy[] = {
        "{policy: pollux, restart: 100s, " SMALL "}",
        "{policy: sia, restart: 100s}" };
    struct world_job job[1];

    (void)state;
    for (int p = 0; p < 2; p++) {
        run_plain(policy[p], "0,0,300,1\n", 2, job);
        assert_true(about(job[0].end_s, 120 + 180 / 2.0, 1e-6));
    }
}

/* With one restart behind it at 120 s, a second one of 110 s is worth it when
 * (t - 110) / (t + 110) of 4 is more than 2: from the deal at 360 s on. */
static void a_second_restart_counts_the_first(void **state)
{
    static const char *const policy[] = {
        "{policy: pollux, restart: 110s, " SMALL "}",
        "{policy: sia, restart: 110s}" };
    struct world_job job[1];

    (void)state;
    for (int p = 0; p < 2; p++) {
        run_plain(policy[p], "0,0,1000,1\n", 4, job);
        if (!about(job[0].end_s, 360 + (1000 - 120 - 240 * 2) / 4.0, 1e-6))
            fail_msg("%s: %g", policy[p], job[0].end_s);
    }
}

/* Of three jobs on two GPUs two run; a third begins when one has ended, at the
 * next deal. */
static void none_is_lost_where_gpus_are_too_few(void **state)
{
    static const char *const policy[] = {
        "{policy: pollux, " SMALL "}", "{policy: sia}" };
    struct world_job job[3];

    (void)state;
    for (int p = 0; p < 2; p++) {
        run_plain(policy[p], "0,0,90,1\n1,0,90,1\n2,0,90,1\n", 2, job);
        for (int j = 0; j < 3; j++)
            if (!(job[j].end_s >= 45 && job[j].end_s <= 270))
                fail_msg("%s: job %d ends at %g", policy[p], j, job[j].end_s);
    }
}

/* One that waits is looked at, however many run. */
static void a_deal_looks_at_so_many_beside_those_that_run(void **state)
{
    static const char *const policy[] = {
        "{policy: pollux, depth: 1, " SMALL "}", "{policy: sia, depth: 1}" };
    struct world_job job[2];

    (void)state;
    for (int p = 0; p < 2; p++) {
        run_plain(policy[p], "0,0,300,1\n1,10,300,1\n", 4, job);
        assert_true(about(job[0].start_s, 0, 1e-6));
        assert_true(about(job[1].start_s, 60, 1e-6));
    }
}

#define T4_4 "{name: t4, count: 4, gpus: {type: t4, count: 4}, " CPU "}"
#define A100_8 "{name: a100, count: 1, gpus: {type: a100-40, count: 8}, " CPU "}"

#define SPEED "{alpha_c_s: 0.1, beta_c_s: 0.01, alpha_r_s: 0, beta_r_s: 0, alpha_n_s: 0, " \
    "beta_n_s: 0, gamma: 1, local_max: "

/* A batch of 13 on one GPU would be two of 7 on a T4, which takes 12 at once, and 8 are the
 * least: such a job needs an A100.  There is one, which the first has; the second waits for
 * it, and the third, of 12, has the T4 at once, for 30 s and 1200 samples, 12 in 0.22 s. */
static void a_batch_that_waits_stops_no_smaller_one(void **state)
{
    struct world world = { 0 };
    struct world_job job[3];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "cat.yaml", "applications:\n  toy: {label: toy, work: 1200, batch: 12, "
                "batch_max: 48, local_min: 8, restart: 30s,\n    speeds: {t4: " SPEED
                "12}, a100-40: " SPEED "48}}, noise: {until: [1], 12: [1e9], 48: [1e9]}, "
                "source: test}\n");
    world_write(&world, "jobs.csv", APPS_HEAD "0,0,toy,1,13\n1,0,toy,1,13\n2,0,toy,1,12\n");
    if (!world_open(&world, HEAD "catalogue: cat.yaml\ncluster: {nodes: ["
                    "{name: t4, count: 1, gpus: {type: t4, count: 1}, " CPU "}, "
                    "{name: a100, count: 1, gpus: {type: a100-40, count: 1}, " CPU "}]}\n"
                    "workload: {trace: {file: jobs.csv, origin: file, format: pollux, lengths: "
                    "applications}}\n"
                    "policies: [{policy: fcfs, blocking: skip, placement: first_fit}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    assert_true(about(job[2].end_s, 30 + 100 * 0.22, 0.01));
    assert_true(about(job[1].end_s, 2 * job[0].end_s, 1e-6 * job[0].end_s));
}

/* Alone, as asked: the restart of its first GPUs, and what the law says. */
static void a_job_as_asked_takes_what_the_law_says(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct application *app = catalogue_application(aids.catalogue,
                                                          "bert");
    struct goodput_shape shape = { 2, 1 };
    struct world_job job[1];
    double s = 30, from = 0;

    (void)state;
    for (uint32_t k = 0; k < app->noise.spans; k++) {
        s += app->work * (app->noise.until[k] - from) /
             goodput_of(app, goodput_speed_of(app, "t4"), shape, k, 24).goodput;
        from = app->noise.until[k];
    }
    run_apps(T4_4, "0,0,bert,2,24\n", "{policy: fcfs}", job, NULL);
    assert_true(about(job[0].end_s, s, 1e-6 * s));
    law_aids_free(&aids);
}

/* One GPU, shortest time left first.  The long job is stopped by a short one at 500 s, and goes
 * on 30 s after its end.  A second short one that comes in that very instant stops it again,
 * before it did anything: it ends later by that one and one restart more, and no sooner. */
static void a_job_that_is_stopped_as_it_goes_on_has_done_nothing(void **state)
{
    static const char one[] = "{name: n, count: 1, gpus: {type: t4, count: 1}, " CPU "}";
    static const char rows[] = "0,0,bert,1,12\n1,500,cifar10,1,128\n";
    struct world_job before[2], job[3];
    char more[200];

    (void)state;
    run_apps(one, rows, "{policy: srtf}", before, NULL);
    assert_true(before[0].end_s > before[1].end_s + 30);
    double again_s = before[1].end_s + 30, takes_s = before[1].end_s - 500;
    snprintf(more, sizeof more, "%s2,%.9f,cifar10,1,128\n", rows, again_s);
    run_apps(one, more, "{policy: srtf}", job, NULL);
    assert_true(about(job[1].end_s, before[1].end_s, 1e-6));
    assert_true(about(job[2].end_s, again_s + takes_s, 1e-6));
    assert_true(about(job[0].end_s, before[0].end_s + takes_s + 30, 1e-6));
}

#define SIX \
    "0,0,bert,2,24\n1,10,cifar10,4,512\n2,20,deepspeech2,1,20\n" \
    "3,700,bert,1,12\n4,900,ncf,1,32768\n5,1500,cifar10,1,128\n"

/* Stopped, resized or moved: the audit of the trial holds, every job is done,
 * nothing beats the bound, and a second run says the same. */
static void every_policy_brings_such_jobs_to_their_end(void **state)
{
    static const char *const policy[] = {
        "{policy: fcfs}", "{policy: srtf}", "{policy: optimus, interval: 60s}",
        "{policy: afs}", "{policy: themis}", "{policy: gavel}",
        "{policy: las}", "{policy: dlas}",
        "{policy: dlas, name: t, semantics: pollux}",
        "{policy: pollux, " SMALL "}", "{policy: sia}",
        "{policy: pollux, preemption: {cost: 45s}, " SMALL "}",
        "{policy: sia, placement: spread, p: 0.5}" };
    struct world_job job[6], again[6];
    struct trial_result result;

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof *policy; p++) {
        run_apps(T4_4 ", " A100_8, SIX, policy[p], job, &result);
        run_apps(T4_4 ", " A100_8, SIX, policy[p], again, NULL);
        assert_int_equal(result.status_count[JOB_DONE], 6);
        for (int j = 0; j < 6; j++)
            assert_true(job[j].end_s == again[j].end_s);
        if (!(result.value[METRIC_GAP] >= 0))
            fail_msg("%s: gap %g", policy[p], result.value[METRIC_GAP]);
    }
}

/* Nodes fail and jobs are interrupted: dlas has no news of that, and yet starts
 * them again; so do the others. */
static void interrupted_jobs_go_on(void **state)
{
    static const char *const policy[] = {
        "{policy: dlas}", "{policy: pollux, " SMALL "}", "{policy: sia}" };
    struct trial_result result;

    (void)state;
    for (int p = 0; p < 3; p++) {
        char csv[900];
        snprintf(csv, sizeof csv, APPS_HEAD "%s", SIX);
        run(T4_4, ", failures: {restart: 100s, repair: 20min, job_mtbf: 2h, "
            "node_mtbf: 5h, checkpoint: 10min}",
            "format: pollux, lengths: applications", csv, policy[p], NULL,
            &result);
        assert_int_equal(result.status_count[JOB_DONE], 6);
    }
}

/* Batches of the most goodput, and more GPUs: both matter. */
static void tuned_batches_end_sooner(void **state)
{
    struct trial_result own, pollux, sia;
    struct world_job job[6];

    (void)state;
    run_apps(T4_4, SIX, "{policy: optimus, interval: 60s}", job, &own);
    run_apps(T4_4, SIX, "{policy: pollux, " SMALL "}", job, &pollux);
    run_apps(T4_4, SIX, "{policy: sia}", job, &sia);
    assert_true(pollux.value[METRIC_JCT_MEAN] < own.value[METRIC_JCT_MEAN]);
    assert_true(sia.value[METRIC_JCT_MEAN] < own.value[METRIC_JCT_MEAN]);
}

/* ---- a policy that looks at what pollux and sia are not to do --------------- */

struct spots_try {
    uint32_t step;
};

/* a on 2 + 1 GPUs of nodes 1 and 3, then both change places with b. */
static void try_decide(void *self, struct cs_host *host)
{
    struct spots_try *try = self;
    struct job_id a = { 0 }, b = { 1 };
    const struct cs_node_gpus one[] = { { a, 1, 2 }, { a, 3, 1 }, { b, 0, 3 } };
    const struct cs_node_gpus two[] = { { a, 0, 3 }, { b, 1, 2 }, { b, 3, 1 } };

    if (cs_now_ns(host) == 0 && cs_pending_count(host) == 2) {
        cs_set_node_gpus(host, one, 3);
        assert_int_equal(cs_gpus_on(host, a, 1), 2);
        assert_int_equal(cs_gpus_on(host, a, 3), 1);
        assert_int_equal(cs_gpus_on(host, a, 0), 0);
        assert_int_equal(cs_gpus_on(host, b, 0), 3);
        cs_wake_at(host, INT64_C(100000000000));
    } else if (try->step++ == 0 && cs_now_ns(host) > 0) {
        assert_true(cs_speedup_on(host, a, 0, 3, 2) <=
                    cs_speedup_on(host, a, 0, 3, 1) * 1.0001);
        cs_set_node_gpus(host, two, 3);
        assert_int_equal(cs_gpus_on(host, a, 0), 3);
        assert_int_equal(cs_gpus_on(host, b, 1), 2);
        assert_int_equal(cs_gpus_on(host, b, 3), 1);
    }
}

static const struct cs_policy try_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "try", .summary = "spots", .self_bytes = sizeof(struct spots_try),
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES, .decide = try_decide,
};

static void jobs_change_places_and_lie_where_they_are_put(void **state)
{
    struct world world = { 0 };
    struct world_job job[2];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "name,time,application,num_replicas,"
                "batch_size\n0,0,bert,3,36\n1,0,bert,3,36\n");
    assert_true(world_open(&world, HEAD "cluster: {nodes: [" T4_4 "]}\nworkload: "
                           "{trace: {file: jobs.csv, origin: file, format: "
                           "pollux, lengths: applications}}\npolicies: [fcfs]\n"));
    const struct host_policy policy = world_policy(&try_policy);

    if (!world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s > 100 && job[1].end_s > 100);
    world_close(&world);
}

/* Two jobs of 500 s on nodes 0 and 1; at 100 s both are to wait, which entries of no GPUs
 * on node 0 say. */
static void wait_decide(void *self, struct cs_host *host)
{
    const struct cs_node_gpus start[] = { { { 0 }, 0, 1 }, { { 1 }, 1, 1 } };
    const struct cs_node_gpus wait[] = { { { 0 }, 0, 0 }, { { 1 }, 0, 0 } };
    struct spots_try *try = self;

    switch (try->step++) {
    case 0:
        cs_set_node_gpus(host, start, 2);
        cs_wake_at(host, INT64_C(100000000000));
        return;
    case 1:
        cs_set_node_gpus(host, wait, 2);
        assert_int_equal(cs_pending_count(host), 2);
        cs_wake_at(host, INT64_C(200000000000));
        return;
    default:
        while (cs_pending_count(host) > 0 &&
               cs_start(host, cs_pending(host, 0)) == CS_DONE)
            continue;
    }
}

/* Both wait from 100 s to 200 s: 500 s of work end at 600 s. */
static void an_entry_of_no_gpus_lets_a_job_of_any_node_wait(void **state)
{
    struct world world = { 0 };
    struct world_job job[2];
    struct cs_policy waits = try_policy;

    (void)state;
    waits.decide = wait_decide;
    const struct host_policy policy = world_policy(&waits);
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus\n0,0,500,1\n1,0,500,1\n");
    if (!world_open(&world, HEAD "cluster: {nodes: [{name: n, count: 2, gpus: {type: "
                    "generic, count: 1}}]}\nworkload: {trace: {file: jobs.csv, origin: "
                    "file, format: csv, columns: {job: job, submit: submit, duration: "
                    "duration, gpus: gpus}}}\npolicies: [fcfs]\n") ||
        !world_run(&world, 0, &policy, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s == 600 && job[1].end_s == 600);
    world_close(&world);
}

/* ---- shipped ------------------------------------------------------------------- */

static void workload_6_is_near_what_polluxs_simulator_prints(void **state)
{
    const char *shared = getenv("SHARED");
    char here[300], path[600], set[700];
    const char *more[] = { "--set", set, NULL };

    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s%s%s/traces/pollux/simulator/workloads/"
             "workload-6.csv", shared && shared[0] == '/' ? "" : here,
             shared && shared[0] == '/' ? "" : "/",
             shared ? shared : "../shared");
    if (access(path, R_OK) != 0) {
        print_message("skip: %s is not there\n", path);
        skip();
    }
    snprintf(set, sizeof set, "workload.trace.file=%s", path);
    assert_int_equal(program_experiment(*state, "experiments/conformance/"
                                        "pollux_w6.yaml", "w6", more), 0);
    char *check = program_result(*state, "w6", "summary.csv"), cell[64];
    static const struct { const char *policy; double published, within; } row[] = {
        { "pollux", 2446.13, 0.10 }, { "optimus", 5301.875, 0.01 },
        { "tiresias", 3469.69375, 0.05 } };
    for (size_t i = 0; i < 3; i++) {
        assert_true(csv_cell(check, row[i].policy, NULL, "jct_mean_s", cell,
                             sizeof cell));
        assert_true(about(strtod(cell, NULL), row[i].published,
                          row[i].within * row[i].published));
    }
    free(check);
}

static void the_shipped_experiment_shows_what_tuning_gains(void **state)
{
    char cell[64];
    double jct[3];
    static const char *const policy[] = { "optimus", "pollux", "sia" };

    assert_int_equal(program_experiment(*state, "experiments/goodput.yaml", "gp",
                                        NULL), 0);
    char *summary = program_result(*state, "gp", "summary.csv");
    for (int p = 0; p < 3; p++) {
        assert_true(csv_cell(summary, policy[p], NULL, "jct_mean_s", cell,
                             sizeof cell));
        jct[p] = strtod(cell, NULL);
    }
    assert_true(jct[1] < 0.5 * jct[0] && jct[2] < jct[1]);
    free(summary);
}

/* A job of 8 GPUs and more takes 8 cores for each, of which the node has as many
 * as for 8: more GPUs there are no place, whatever is free. */
static void cores_bound_what_a_node_can_give(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world,
                    "experiment: t\nseeds: 1\nuntil: 1d\ncluster:\n  nodes:\n"
                    "    - {name: n, count: 2, gpus: {type: h100, count: 32}, "
                    "cpu: {type: epyc-7763, sockets: 1}, memory: 256GB, nics: "
                    "{type: ib-hdr, count: 1}}\n  storage: {bandwidth: "
                    "20GB/s}\nworkload:\n  arrival: {process: all_at_once}\n"
                    "  jobs: 2\n  mix:\n    - {recipe: pretrain, name: p, share: "
                    "1, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: "
                    "300, train: {gpus: 8, min: 1, max: 16, cores: 8}}\n"
                    "policies: [{policy: pollux, population: 10, generations: "
                    "5}, sia]\n"))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < 2; i++) {
        if (!world_run(&world, i, NULL, NULL, &result))
            fail_msg("%s", world_error(&world));
        assert_true(result.value[METRIC_JOBS_DONE] == 2);
    }
    world_close(&world);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH_PROGRAM(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_alike_share_and_double_at_most),
        cmocka_unit_test(a_restart_must_be_worth_its_delay),
        cmocka_unit_test(a_second_restart_counts_the_first),
        cmocka_unit_test(cores_bound_what_a_node_can_give),
        cmocka_unit_test(none_is_lost_where_gpus_are_too_few),
        cmocka_unit_test(a_deal_looks_at_so_many_beside_those_that_run),
        cmocka_unit_test(a_batch_that_waits_stops_no_smaller_one),
        cmocka_unit_test(a_job_as_asked_takes_what_the_law_says),
        cmocka_unit_test(a_job_that_is_stopped_as_it_goes_on_has_done_nothing),
        cmocka_unit_test(every_policy_brings_such_jobs_to_their_end),
        cmocka_unit_test(interrupted_jobs_go_on),
        cmocka_unit_test(tuned_batches_end_sooner),
        cmocka_unit_test(jobs_change_places_and_lie_where_they_are_put),
        cmocka_unit_test(an_entry_of_no_gpus_lets_a_job_of_any_node_wait),
        WITH_PROGRAM(workload_6_is_near_what_polluxs_simulator_prints),
        WITH_PROGRAM(the_shipped_experiment_shows_what_tuning_gains),
    };

    program_open(&program, argc > 0 ? argv[0] : "");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
