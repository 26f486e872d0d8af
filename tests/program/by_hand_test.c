/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand_test.c - worlds of one or two nodes whose answer is worked out by hand,
 * from what the manual says.  The working stands above each test, and no law of the
 * product is called.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/by_hand.h"
#include "tests/aid/program.h"

static struct program program;

static void run(const char *yaml, const char *jobs)
{
    hand_run(&program, yaml, jobs);
}

static double cell(const char *table, const char *policy, const char *job, const char *column)
{
    return hand_cell(&program, table, policy, job, column);
}

static double phase(const char *policy, const char *name, int n, const char *column)
{
    return hand_phase(&program, policy, name, n, column);
}

/* A GPU brings 4 cores and 8 GB.  Half a GPU for an hour: 2 cores and 4 GB, so 7,200
 * core-seconds.  Two halves and a whole one for half an hour: of 256 GB for an hour
 * 4 + 4 + 8 / 2 GB are held. */
static void a_part_of_a_gpu_brings_its_part_of_cores_and_memory(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: generic, count: 2}, cores: 64,\n"
        "       memory: 256GB}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g},\n"
        "    role: {cores: 4, memory: 8GB}}\n"
        "policies: [fcfs, {policy: fcfs, name: best, placement: best_fit}]\n"
        "output: {plots: []}\n",
        "job,t,d,g\na,0,3600,0.5\nb,0,3600,0.5\nc,0,1800,1\n");
    const char *const policy[] = { "fcfs", "best" };
    for (int i = 0; i < 2; i++) {
        hand_near(cell("jobs.csv", policy[i], "a", "core_seconds"), 7200);
        hand_near(cell("jobs.csv", policy[i], "b", "core_seconds"), 7200);
        hand_near(cell("jobs.csv", policy[i], "c", "core_seconds"), 7200);
        hand_near(cell("summary.csv", policy[i], NULL, "memory_utilization"),
                  12.0 / 256);
    }
}

/* Two GPUs, first come first served.  a runs from 0 to 300 s on both, due at 400.  b waits
 * for it and ends at 500, due at 450: late.  c (900 s) runs from 300 s and is cut off at
 * 1000 s, due at 2000: it is not known whether it would be late.  d comes at 600 s, due at
 * 800, and is cut off, too: late.  So one of three kept its deadline. */
static void a_deadline_after_the_end_of_the_run_is_neither_kept_nor_missed(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\nuntil: 1000s\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: generic, count: 2}}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g, deadline: due}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n",
        "job,t,d,g,due\na,0,300,2,400\nb,50,200,1,450\nc,60,900,1,2000\n"
        "d,600,500,1,800\n");
    hand_near(cell("jobs.csv", "fcfs", "a", "deadline_met"), 1);
    hand_near(cell("jobs.csv", "fcfs", "b", "deadline_met"), 0);
    assert_true(isnan(cell("jobs.csv", "fcfs", "c", "deadline_met")));
    hand_near(cell("jobs.csv", "fcfs", "c", "deadline_s"), 2000);
    hand_near(cell("jobs.csv", "fcfs", "d", "deadline_met"), 0);
    hand_near(cell("summary.csv", "fcfs", NULL, "slo_attained_fraction"), 1.0 / 3);
    hand_near(cell("summary.csv", "fcfs", NULL, "slo_count"), 3);
}

/* The replay begins when the first job comes, at 100 s.  b and c are due at 90 and 100 s:
 * late as soon as they come.  a is due 300 s later. */
static void a_deadline_before_the_replay_begins_is_missed(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: generic, count: 2}}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g, deadline: due}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n",
        "job,t,d,g,due\na,100,50,1,400\nb,100,50,1,90\nc,100,50,1,100\n");
    hand_near(cell("jobs.csv", "fcfs", "a", "deadline_met"), 1);
    hand_near(cell("jobs.csv", "fcfs", "b", "deadline_met"), 0);
    hand_near(cell("jobs.csv", "fcfs", "c", "deadline_met"), 0);
    hand_near(cell("summary.csv", "fcfs", NULL, "slo_attained_fraction"), 1.0 / 3);
}

/* A job of 100 steps in runs of 10 saves after every second run, to a storage of 2 GB/s:
 * 14 bytes for each of 7.6e9 parameters, 53 s.  Its rented node is given notice at
 * notice_s, in the midst of the third or fourth run. */
static void reclaim(const char *notice_s, const char *notice)
{
    char yaml[1500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: spot, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h,\n"
             "       rent: {start: 4min, keep: 10min, notice: %s, on_notice: save,\n"
             "         available: {unit: nodes, points: [[0h, 1], [%s, 0], [20min, 1]],\n"
             "           after: hold}}}\n"
             "  storage: {bandwidth: 2GB/s, transfer: 0.02USD/GB}\n"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: sft, name: s, model: qwen2.5-7b, zero: 3, batch: 64,\n"
             "       sequence: 2048, micro_batch: 1, recompute: full, steps: 100,\n"
             "       checkpoint_every: 20, train: {gpus: 8, cores: 8}}\n"
             "policies: [fcfs, dynamic]\noutput: {plots: []}\n", notice, notice_s);
    run(yaml, NULL);
}

/* Of the third run 8 whole steps are done at 475 s.  A notice of 2 min is time enough to
 * save them: 2 of 10 are left.  Seven copies of 106.6 GB, of which one is the saved one, and
 * the weights of the first load, 15.2 GB, cross the line at 0.02 USD/GB.  At 485 s the
 * fourth run has done no step: after 2 min of
 * notice the next save comes one run after the job is back, after 1 s, in which nothing
 * can be saved, two runs, as the third is lost.  All this under leases for a job's life
 * and for a phase alike. */
static void a_notice_saves_whole_steps_if_it_is_long_enough(void **state)
{
    static const char *const policy[] = { "fcfs", "dynamic" };

    (void)state;
    for (int p = 0; p < 2; p++) {
        reclaim("475s", "2min");
        double all = phase(policy[p], "train", 0, "end_s") -
                     phase(policy[p], "train", 0, "start_s");
        hand_near(floor((475 - phase(policy[p], "train", 2, "start_s")) / (all / 10)), 8);
        hand_near(phase(policy[p], "train", 3, "end_s") -
                      phase(policy[p], "train", 3, "start_s"), 0.2 * all);
        assert_float_equal((float)cell("summary.csv", policy[p], NULL, "cost_transfer_usd"),
                           (float)((7 * 14 + 2) * 7.6156e9 * 0.02e-9), 0.01f);
        reclaim("485s", "2min");
        hand_near(phase(policy[p], "checkpoint", 1, "start_s") -
                      phase(policy[p], "train", 4, "start_s"), all);
        reclaim("485s", "1s");
        hand_near(phase(policy[p], "checkpoint", 1, "start_s") -
                      phase(policy[p], "train", 4, "start_s"), 2 * all);
    }
}

/* A replica answers in 1 s each and fails at 300 s, half a second into the third request;
 * its node is back at 320 s.  It answers that request and all others again: what it did
 * before was not for nothing, so no GPU time is lost. */
static void a_replica_that_fails_loses_no_answers(void **state)
{
    (void)state;
    program_write(&program, "f.csv",
                  "series,time_s,value\ns,0,0\ns,300,1\ns,320,0\ns,100000,0\n");
    run("experiment: e\nseeds: 1\nuntil: 600s\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: t4, count: 1},\n"
        "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB}\n"
        "  failures: {trace: {file: f.csv, servers: 1}, restart: 60s}\n"
        "workload:\n  services:\n    - name: cls\n      model: bert-base\n"
        "      gpu: {tp: 1, types: [t4], cores: 2}\n      replicas: {min: 1, max: 1}\n"
        "      batch: 1\n      times: {batch: 0ms, request: 1s}\n"
        "      requests:\n        arrival: {process: fixed, times: [100s, 200s, 299.5s, "
        "310s, 500s]}\n        prompt: 100\n        for: 1h\n"
        "      slo: {latency: 1s}\n"
        "policies: [fcfs]\noutput: {plots: []}\n", NULL);
    hand_near(cell("summary.csv", "fcfs", NULL, "interruptions"), 1);
    hand_near(cell("summary.csv", "fcfs", NULL, "requests_done"), 5);
    hand_near(cell("summary.csv", "fcfs", NULL, "slo_attained_fraction"), 3.0 / 5);
    hand_near(cell("summary.csv", "fcfs", NULL, "gpu_down_fraction"), 20.0 / 600);
    hand_near(cell("summary.csv", "fcfs", NULL, "gpu_lost_fraction"), 0);
}

/* Twice, at 0 s and at 1000 s: 6 of 8 GPUs are taken for 100 s, the next job waits for all 8,
 * and of two small ones behind it the first is the only one that depth_max lets be looked
 * at.  At 10 s it is done, and the other one is looked at.  So a decision is limited at each
 * of the two times, of which one is in the warm-up. */
static void decisions_of_the_warmup_are_not_counted_as_limited(void **state)
{
    static const char *const policy[] = { "counted", "placed" };

    (void)state;
    for (int warmup = 0; warmup < 2; warmup++) {
        char yaml[700];

        snprintf(yaml, sizeof yaml,
                 "experiment: e\nseeds: 1\nwarmup: %s\ncluster:\n  nodes:\n"
                 "    - {name: a, count: 1, gpus: {type: generic, count: 8}, cores: 64,\n"
                 "       memory: 256GB}\n"
                 "workload:\n  trace: {file: jobs.csv, format: csv,\n"
                 "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
                 "policies:\n"
                 "  - {policy: easy, name: counted, placement: count, depth_max: 1}\n"
                 "  - {policy: easy, name: placed, placement: first_fit, depth_max: 1}\n"
                 "output: {plots: []}\n", warmup ? "500s" : "0s");
        run(yaml, "job,t,d,g\na,0,100,6\nb,0,100,8\nc,0,10,1\nd,0,10,1\n"
                  "e,1000,100,6\nf,1000,100,8\ng,1000,10,1\nh,1000,10,1\n");
        for (int p = 0; p < 2; p++)
            hand_near(cell("summary.csv", policy[p], NULL, "decisions_limited"),
                      warmup ? 1 : 2);
    }
}

/* At half speed 100 s of its 600 s take 200 s.  At 350 s it has done 175 s and saved 100 s: 150 s
 * were for nothing.  The node is back at 400 s, and what is left takes 1000 s. */
static void a_slow_job_saves_after_so_much_of_its_length(void **state)
{
    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,350,1\ns,400,0\n");
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
        "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}\n"
        "  failures: {trace: {file: f.csv, servers: 1}, checkpoint: 100s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: trace, gpus: 8, duration: 600s, rates: {a: 0.5}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n", NULL);
    hand_near(cell("jobs.csv", "fcfs", "0", "end_s"), 1400);
    hand_near(cell("summary.csv", "fcfs", NULL, "gpu_lost_fraction"), 150.0 / 1400);
}

/* Rounds of 15 steps, a tenth of 150; of 1, 5, 7 and 10, as 20 is no multiple of 11 to 15.  Of
 * rounds of 7, 21 are the nearest to 150 steps. */
static void steps_are_counted_and_not_rounds(void **state)
{
    static const struct { const char *every; int steps; } want[] = {
        { "0", 150 }, { "1", 150 }, { "5", 150 }, { "7", 147 }, { "20", 150 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char yaml[900];

        snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
                 "    - {name: a, count: 1, gpus: {type: a100-80, count: 1},\n"
                 "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}\n"
                 "  storage: {bandwidth: 10GB/s}\n"
                 "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
                 "    - {recipe: lora, model: qwen2.5-0.5b, batch: 8, sequence: 1024, steps: 150,\n"
                 "       checkpoint_every: %s, train: {gpus: 1}}\n"
                 "policies: [fcfs]\noutput: {plots: []}\n", want[i].every);
        run(yaml, NULL);
        hand_near(cell("summary.csv", "fcfs", NULL, "steps_done"), want[i].steps);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_gpu_brings_its_part_of_cores_and_memory),
        cmocka_unit_test(a_notice_saves_whole_steps_if_it_is_long_enough),
        cmocka_unit_test(a_replica_that_fails_loses_no_answers),
        cmocka_unit_test(a_deadline_after_the_end_of_the_run_is_neither_kept_nor_missed),
        cmocka_unit_test(decisions_of_the_warmup_are_not_counted_as_limited),
        cmocka_unit_test(a_deadline_before_the_replay_begins_is_missed),
        cmocka_unit_test(a_slow_job_saves_after_so_much_of_its_length),
        cmocka_unit_test(steps_are_counted_and_not_rounds),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
