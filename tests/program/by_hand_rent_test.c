/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand_rent_test.c - rented nodes, and nodes that fail, with one or two jobs, whose
 * times and bills are worked out by hand, from what the manual says.  The working stands
 * above each test, and no law of the product is called.
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

static double of(const char *column)
{
    return hand_cell(&program, "summary.csv", "fcfs", NULL, column);
}

static double job(const char *name, const char *column)
{
    return hand_cell(&program, "jobs.csv", "fcfs", name, column);
}

/* Runs jobs of known length on one rented node of 8 GPUs, which takes 4 min to start and
 * is kept idle for 10 min.  more: keys of the cluster, lines with an indent of two. */
static void rent(const char *price, const char *keys, const char *more, const char *jobs)
{
    char yaml[1500], csv[300];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: spot, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: %s,\n"
             "       rent: {start: 4min, keep: 10min%s}}\n%s"
             "workload:\n  trace: {file: jobs.csv, format: csv,\n"
             "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", price, keys, more);
    snprintf(csv, sizeof csv, "job,t,d,g\n%s", jobs);
    hand_run(&program, yaml, csv);
}

/* Ordered at 0 s, there at 240 s, done at 840 s: 14 min, 1 h, or 2 h at 10 USD/h, of which
 * the start and what is rounded up is rent.  A job that comes 599 s after the last ended
 * finds the node, 959 s or 16 min of it; one that comes after 601 s waits for a new one,
 * and two rentals of 15 and 5 min are paid. */
static void a_rental_is_billed_from_its_order_in_whole_units(void **state)
{
    (void)state;
    rent("10USD/h", ", billing: minute", "", "a,0,600,8\n");
    hand_near(job("a", "jct_s"), 840);
    hand_near(of("cost_usd"), 14 * 10 / 60.0);
    hand_near(of("cost_rent_usd"), 4 * 10 / 60.0);
    rent("10USD/h", ", billing: hour", "", "a,0,600,8\n");
    hand_near(of("cost_usd"), 10);
    rent("10USD/h", ", billing: hour, least: 2h", "", "a,0,600,8\n");
    hand_near(of("cost_usd"), 20);
    hand_near(of("cost_rent_usd"), 20 - 10 / 6.0);
    rent("10USD/h", ", billing: minute", "", "a,0,60,8\nb,899,60,8\n");
    hand_near(job("b", "wait_s") + 1, 1);
    hand_near(of("cost_usd"), 16 * 10 / 60.0);
    rent("10USD/h", ", billing: minute", "", "a,0,60,8\nb,901,60,8\n");
    hand_near(job("b", "wait_s"), 240);
    hand_near(of("cost_usd"), 20 * 10 / 60.0);
}

/* 5 min at 10 USD/h, 9 min at 20 USD/h. */
static void a_price_that_changes_is_paid_as_it_was(void **state)
{
    (void)state;
    rent("{unit: USD/h, points: [[0h, 10], [5min, 20]], after: hold}", ", billing: minute",
         "", "a,0,600,8\n");
    hand_near(of("cost_usd"), 5 * 10 / 60.0 + 9 * 20 / 60.0);
    hand_near(of("series_held_s"), 840 - 300);
}

#define GONE ", billing: minute, notice: 2min, available: {unit: nodes, points: " \
             "[[0s, 1], [500s, 0], [20min, 1]], after: hold}"

/* Notice at 500 s, gone at 620 s, there again at 1440 s.  The job has run for 380 s by
 * then: nothing is saved, or 300 s.  With on_notice it stops at 500 s and has 260 s.  Its
 * restart takes 30 s in each case. */
static void a_job_goes_on_from_what_it_saved_and_restarts(void **state)
{
    (void)state;
    rent("10USD/h", GONE, "", "a,0,600,8\n");
    hand_near(job("a", "end_s"), 1440 + 600);
    hand_near(of("gpu_lost_fraction"), 380.0 / (620 + 840));
    hand_near(of("cost_usd"), (11 + 14) * 10 / 60.0);
    rent("10USD/h", GONE, "  failures: {checkpoint: 100s, restart: 30s}\n", "a,0,600,8\n");
    hand_near(job("a", "end_s"), 1440 + 30 + 300);
    rent("10USD/h", GONE ", on_notice: save", "  failures: {checkpoint: 100s, "
         "restart: 30s}\n", "a,0,600,8\n");
    hand_near(job("a", "end_s"), 1440 + 30 + 340);
    hand_near(job("a", "interruptions"), 1);
}

/* As in by_hand_test.c: notice at 475 s, and 14 bytes for each of 7.616e9 parameters cross
 * 2 GB/s in 53.312 s.  Its 8 GPUs are held until then, from 240 s on.  The node is there
 * again at 1440 s; loading takes as long as saving, the process 34 s, the restart 30 s.
 * Whole seconds are billed.  That is so whether leases are for a job's life or for a
 * phase. */
static void saving_takes_its_time_under_all_leases(void **state)
{
    static const char *const policy[] = { "fcfs", "dynamic" };

    (void)state;
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: spot, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h,\n"
             "       rent: {start: 4min, keep: 10min, notice: 2min, on_notice: save,\n"
             "         billing: second, available: {unit: nodes,\n"
             "           points: [[0h, 1], [475s, 0], [20min, 1]], after: hold}}}\n"
             "  storage: {bandwidth: 2GB/s}\n  failures: {restart: 30s}\n"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: sft, name: s, model: qwen2.5-7b, zero: 3, batch: 64,\n"
             "       sequence: 2048, micro_batch: 1, recompute: full, steps: 100,\n"
             "       checkpoint_every: 20, train: {gpus: 8, cores: 8}}\n"
             "policies: [fcfs, dynamic]\noutput: {plots: []}\n", NULL);
    for (int p = 0; p < 2; p++) {
        double end = hand_cell(&program, "jobs.csv", policy[p], NULL, "end_s");

        hand_near(hand_cell(&program, "jobs.csv", policy[p], NULL, "gpu_seconds"),
                  8 * (475 + 53.312 - 240 + end - 1440));
        hand_near(hand_phase(&program, policy[p], "train", 3, "start_s"),
                  1440 + 53.312 + 34 + 30);
        hand_near(hand_cell(&program, "summary.csv", policy[p], NULL, "cost_usd"),
                  (529 + ceil(end - 1200)) * 10 / 3600);
    }
}

/* A DPO job gives the GPUs of its rented node back while it generates, and its training
 * state stays in the node's memory.  Undisturbed it takes `whole`.  Notice comes at 140 s,
 * in a rollout, and the node is there again at 210 s.  If nothing is saved, all is lost
 * when the notice of 10 s is over, and the job begins anew; without notice at once, also
 * if it wants to save.  Saved in time, only the load is late. */
static double park(unsigned seed, const char *failures, const char *keys, const char *points)
{
    char yaml[1700];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nseed: %u\ncluster:\n  nodes:\n"
             "    - {name: rollout, count: 1, gpus: {type: l40s, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}\n"
             "    - {name: train, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h,\n"
             "       rent: {start: 10s, keep: 1h, billing: second, %s,\n"
             "         available: {unit: nodes, points: [%s], after: hold}}}\n"
             "  storage: {bandwidth: 20GB/s, transfer: 0.02USD/GB}\n%s"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: dpo, name: d, model: qwen2.5-1.5b, prompts: 64,\n"
             "       prompt_tokens: 256, response: {mean: 512, cv: 0.5, max: 2048},\n"
             "       steps: 6, checkpoint_every: 100, micro_batch: 1, recompute: full,\n"
             "       rollout: {gpus: 8, types: [l40s]},\n"
             "       train: {gpus: 8, types: [a100-80]}}\n"
             "policies: [{policy: dynamic, name: fcfs, release_max: 100%%,\n"
             "  lend_max: 100%%, lend: false}]\noutput: {plots: []}\n", seed, keys, points,
             failures);
    hand_run(&program, yaml, NULL);
    return hand_cell(&program, "jobs.csv", "fcfs", NULL, "end_s");
}

static double parked(const char *keys, const char *points)
{
    return park(1, "", keys, points);
}

/* One of the two nodes fails at 140 s, in a rollout, and is back at 141 s; which one it is
 * follows from the seed.  Nothing is saved yet, so the job begins anew: at 140 s where the state
 * of training was parked on the node that failed; where the rollout ran there at 141 s, and the
 * other node, which takes 10 s to start, is rented still. */
static void state_parked_on_a_node_that_fails_is_lost(void **state)
{
    static const char fault[] = "  failures: {trace: {file: f.csv, servers: 2}}\n";
    unsigned trained = 0, seeds = 6;

    (void)state;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        double whole = park(seed, "", "notice: 10s", "[0s, 1]");
        program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,140,1\ns,141,0\n");
        double end = park(seed, fault, "notice: 10s", "[0s, 1]");
        bool there = end > 135 + whole;
        if (there)
            hand_near(end, 140 + whole);
        else                            /* some weights are read in other company */
            assert_true(fabs(end - (141 - 10 + whole)) < 0.01);
        hand_near(job(NULL, "interruptions"), 1);
        trained += there;
    }
    assert_true(trained > 0 && trained < seeds);
}

static void state_parked_on_a_node_goes_with_it(void **state)
{
    static const char gone[] = "[0s, 1], [140s, 0], [200s, 1]";
    double whole = parked("notice: 10s", "[0s, 1]"), usd = of("cost_transfer_usd");

    (void)state;
    hand_near(job(NULL, "interruptions") + 1, 1);
    hand_near(parked("notice: 10s", gone), 150 + whole);
    hand_near(job(NULL, "interruptions"), 1);
    hand_near(parked("notice: 0s", gone), 140 + whole);
    hand_near(parked("notice: 0s, on_notice: save", gone), 140 + whole);
    assert_true(parked("notice: 1s, on_notice: save", gone) < 140 + whole);  /* 13 ms would do */
    assert_true(parked("notice: 10s, on_notice: save", gone) < 140 + whole);
    hand_near(job(NULL, "interruptions") + 1, 1);
    /* The adapter of rank 16 has 28 x (2 x 16 x 3072 + 2 x 16 x 1792 + 3 x 16 x 10496) parameters
     * of 14 bytes.  It is saved, and loaded again, as are 1,543,714,304 weights of two bytes; what
     * else the job reads meanwhile is less than 0.1%. */
    double adapter = 14 * 28 * 16.0 * (2 * 3072 + 2 * 1792 + 3 * 10496);
    double again = 0.02e-9 * (2 * adapter + 2 * 1543714304.0);
    assert_true(fabs(of("cost_transfer_usd") - usd - again) < 0.001 * again);
}

/* Two jobs begin at 20 and 60 s, on a rented node and on an owned one; `whole` is the time
 * of the second, which nothing disturbs.  Notice of the rented node comes at 400 s.  At 450 s
 * a third job comes, las stops the first, and its state lies in the memory of a node that
 * is gone at 700 s.  So the first begins anew when the third has ended, and the rented node
 * is paid for from 0 to 700 s.  Its reads cost transfer once: the second time it loads on
 * the owned node. */
static void state_of_a_stopped_job_goes_with_its_node(void **state)
{
    double whole;

    (void)state;
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 36USD/h,\n"
             "       rent: {start: 10s, scale: always, billing: second,\n"
             "         notice: 300s, available: {unit: nodes,\n"
             "           points: [[0s, 1], [400s, 0]], after: hold}}}\n"
             "    - {name: b, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 0USD/h}\n"
             "workload:\n  arrival: {process: fixed, times: [20s, 60s, 450s]}\n  jobs: 3\n"
             "  mix:\n    - {recipe: sft, model: qwen2.5-1.5b, batch: 64, sequence: 2048,\n"
             "       zero: 3, steps: 400, checkpoint_every: 1000, train: {gpus: 8}}\n"
             "policies: [{policy: las, name: fcfs, placement: first_fit}]\n"
             "output: {plots: []}\n", NULL);
    whole = job("1", "jct_s");
    hand_near(job("0", "preemptions"), 1);
    hand_near(job("0", "interruptions"), 1);
    hand_near(job("2", "end_s"), 60 + 2 * whole);
    hand_near(job("0", "end_s"), 60 + 3 * whole);
    hand_near(of("cost_usd"), 7);
}

/* Generates without state on a rented node that starts in 10 s and goes 20 s after notice,
 * for which `gone` has the times.  Weights of 2 x 7.616e9 bytes cross 2 GB/s in 7.616 s, and
 * the process starts in 64 s: undisturbed, it generates from 81.616 s on. */
static void generate(const char *gone, const char *fault)
{
    char yaml[1500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: spot, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h,\n"
             "       rent: {start: 10s, keep: 1h, notice: 20s, billing: second,\n"
             "         available: {unit: nodes, points: [[0h, 1], %s], after: hold}}}\n"
             "  storage: {bandwidth: 2GB/s}\n"
             "  failures: {trace: {file: f.csv, servers: 1}, restart: 60s}\n"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: batch-infer, name: s, model: qwen2.5-7b, prompts: 20000,\n"
             "       prompt_tokens: 512, response: {mean: 512, cv: 0.5, max: 2048},\n"
             "       steps: 1, infer: {gpus: 8, cores: 8}}\n"
             "policies: [fcfs, dynamic]\noutput: {plots: []}\n", gone);
    program_write(&program, "f.csv", fault);
    hand_run(&program, yaml, NULL);
}

static double infer(const char *policy, int n, const char *column)
{
    return hand_phase(&program, policy, "infer", n, column);
}

static double under(const char *policy, const char *column)
{
    return hand_cell(&program, "summary.csv", policy, NULL, column);
}

/* The node fails at 50 s, in the load of the job: 40 s were for nothing.  Another one is there
 * from 60 s on.  The job loads for 7.616 s, and its restart of 60 s goes on from then until
 * 127.616 s.  Notice comes at 90 s, and the node goes at 110 s, when 17.616 s of the restart are
 * left and 50 s more were for nothing.  There is a node again from 1000 s on, and the job holds
 * it from 1010 s on: it loads, its process starts, and the rest of the restart is waited for. */
static void the_rest_of_a_restart_is_owed_where_the_node_goes(void **state)
{
    static const char *const policy[] = { "fcfs", "dynamic" };

    (void)state;
    generate("[90s, 0], [1000s, 1]", "series,time_s,value\ns,0,0\ns,50,1\ns,55,0\n");
    for (int p = 0; p < 2; p++) {
        hand_near(infer(policy[p], 0, "start_s"), 1010 + 7.616 + 64 + 17.616);
        hand_near(under(policy[p], "gpu_lost_fraction"),
                  (40 + 50) / (110 + infer(policy[p], 0, "end_s") - 1000));
        hand_near(under(policy[p], "interruptions"), 2);
    }
}

/* Undisturbed, it generates from 81.616 s on for `whole`.  The node goes at 181.616 s, and
 * the job holds it again from 1010 s on.  With leases for a job's life all of the first 100 s
 * are lost.  With leases for a phase the responses that are done are kept: lost is by how
 * much both times together are longer than `whole`. */
static void what_a_rollout_loses_with_its_node_is_told(void **state)
{
    static const char calm[] = "series,time_s,value\ns,0,0\n";
    double whole, all, lost;

    (void)state;
    generate("[1h, 1]", calm);
    hand_near(infer("fcfs", 0, "start_s"), 81.616);
    whole = infer("fcfs", 0, "end_s") - 81.616;
    generate("[161.616s, 0], [1000s, 1]", calm);
    hand_near(infer("fcfs", 0, "end_s"), 181.616);
    hand_near(infer("fcfs", 1, "start_s"), 1081.616);
    hand_near(infer("fcfs", 1, "end_s"), 1081.616 + whole);
    all = 181.616 + infer("fcfs", 1, "end_s") - 1000;
    hand_near(under("fcfs", "gpu_lost_fraction"), 100 / all);
    lost = 100 + infer("dynamic", 1, "end_s") - 1081.616 - whole;
    assert_true(lost > 1 && lost < 90);
    all = 181.616 + infer("dynamic", 1, "end_s") - 1000;
    hand_near(under("dynamic", "gpu_lost_fraction"), lost / all);
}

/* A fault of a node: out of service from 450 to 550 s, and once more from 580 to 600 s.
 * The job saved 400 of its 600 s.  It restarts for 60 s: from 550 s it ends at 810 s; if
 * the second fault comes in its restart, at 860 s. */
static void a_fault_sets_a_job_back_to_its_checkpoint(void **state)
{
    static const char yaml[] =
        "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
        "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}\n"
        "  failures: {trace: {file: f.csv, servers: 1}, checkpoint: 100s,\n"
        "    restart: 60s}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n";

    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,450,1\ns,550,0\n");
    hand_run(&program, yaml, "job,t,d,g\na,0,600,8\n");
    hand_near(job("a", "end_s"), 810);
    hand_near(of("gpu_down_fraction"), 100.0 / 810);
    hand_near(of("gpu_switch_fraction"), 60.0 / 810);
    hand_near(of("gpu_lost_fraction"), 50.0 / 810);
    hand_near(of("useful_gpu_s"), 4800);
    hand_near(of("cost_usd"), 810 * 10 / 3600.0);
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,450,1\ns,550,0\n"
                  "s,580,1\ns,600,0\n");
    hand_run(&program, yaml, "job,t,d,g\na,0,600,8\n");
    hand_near(job("a", "end_s"), 860);
    hand_near(job("a", "interruptions"), 2);
}

/* One node of 8 GPUs that is out of service from 130 to 200 s and from 220 to 240 s, and a
 * warm-up. */
static void fail_twice(const char *warmup, const char *failures, const char *workload,
                       const char *jobs)
{
    char yaml[1200];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nwarmup: %s\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}\n"
             "  failures: {trace: {file: f.csv, servers: 1}%s}\n"
             "workload:\n  %s\npolicies: [fcfs]\noutput: {plots: []}\n",
             warmup, failures, workload);
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,130,1\ns,200,0\n"
                  "s,220,1\ns,240,0\n");
    hand_run(&program, yaml, jobs);
}

#define TWICE_AS_FAST "trace: {file: jobs.csv, format: csv, run_times: {a100-80: fast},\n" \
    "    columns: {job: job, submit: t, duration: d, gpus: g}}"

/* A job of 600 s on 4 GPUs runs at twice its speed, and saves every 100 s of its length.
 * At 130 s it has done 260 s and goes back to 200 s, which it had done at 100 s: 30 s of 4
 * GPUs are lost, not 60 s.  It restarts for 60 s from 200 s on, of which 20 s are lost at
 * 220 s; from 240 s on it restarts again, and runs 400 s / 2: it ends at 500 s.  If the
 * warm-up ends at 110 s, 20 s of the first 30 s count; at 210 s, 10 s of the second 20 s
 * alone.
 *
 * Training that saves nothing holds 8 GPUs from 0 to 130 s and from 200 to 220 s. */
static void time_lost_is_what_was_held_since_the_last_save(void **state)
{
    static const char saves[] = ", checkpoint: 100s, restart: 60s",
        job_600[] = "job,t,d,g,fast\na,0,600,4,300\n",
        sft[] = "arrival: {process: fixed, times: [0s]}\n  mix:\n"
                "    - {recipe: sft, model: qwen2.5-7b, zero: 3, batch: 64, sequence: 2048,\n"
                "       recompute: full, steps: 40, checkpoint_every: 1000,\n"
                "       train: {gpus: 8, cores: 8}}";
    double end_s;

    (void)state;
    fail_twice("0s", saves, TWICE_AS_FAST, job_600);
    hand_near(job("a", "end_s"), 500);
    hand_near(of("gpu_lost_fraction"), (30 + 20) * 4.0 / (500 * 8));
    fail_twice("110s", saves, TWICE_AS_FAST, job_600);
    hand_near(of("gpu_lost_fraction"), (20 + 20) * 4.0 / ((500 - 110) * 8));
    fail_twice("210s", saves, TWICE_AS_FAST, job_600);
    hand_near(of("gpu_lost_fraction"), 10 * 4.0 / ((500 - 210) * 8));
    fail_twice("0s", "", sft, NULL);
    end_s = job(NULL, "end_s");
    hand_near(of("gpu_lost_fraction"), (130 + 20) / end_s);
    fail_twice("110s", "", sft, NULL);
    hand_near(of("gpu_lost_fraction"), (20 + 20) / (end_s - 110));
}

/* Nodes of 10 GPUs.  2, 4, 3 and 1 tenths of a node, which floating point adds up to a
 * little more than 1, take one of two nodes.  3, 6 and 1, a little less than 1, fill the only
 * node of a group, so that a job of 10 GPUs takes that of the next one.  All run from 240 to
 * 840 s; a node is paid for from 0 s on. */
static void parts_of_nodes_add_up_to_whole_nodes(void **state)
{
    static const char *const jobs[] = {
        "job,t,d,g\na,0,600,2\nb,0,600,4\nc,0,600,3\nd,0,600,1\n",
        "job,t,d,g\na,0,600,3\nb,0,600,6\nc,0,600,1\ne,0,600,10\n" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        char yaml[1000];
        const char *node = "gpus: {type: a100-80, count: 10}, memory: 1TB, price: 10USD/h,\n"
                           "       cpu: {type: epyc-7742, sockets: 2},\n"
                           "       rent: {start: 4min, billing: second}}\n";

        snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
                 "    - {name: a, count: %d, %s    - {name: b, count: 1, %s"
                 "workload:\n  trace: {file: jobs.csv, format: csv,\n"
                 "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
                 "policies: [fcfs]\noutput: {plots: []}\n", 2 - i, node, node);
        hand_run(&program, yaml, jobs[i]);
        hand_near(of("makespan_s"), 840);
        hand_near(of("cost_usd"), (i + 1) * 840 * 10 / 3600.0);
    }
}

/* Out of service from 450 to 550 s of 1000 s: a tenth.  No job is left by then, or none has
 * come yet; one that comes at 500 s waits until 550 s.  A fault of before 200 s, when the
 * only job comes, counts in the same way where jobs are drawn, whose time begins at 0 s. */
static void nodes_fail_while_there_are_no_jobs(void **state)
{
    static const struct {
        const char *workload, *faults;
        double start_s;
    } worlds[] = {
        { "{process: fixed, times: [0s]}", "s,450,1\ns,550,0\n", 0 },
        { "{process: fixed, times: [500s]}", "s,450,1\ns,550,0\n", 550 },
        { "{process: fixed, times: [200s]}", "s,50,1\ns,150,0\n", 200 },
        { "{process: fixed, times: [0s, 600s]}", "s,450,1\ns,550,0\n", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        char yaml[1000], faults[100];

        snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\nuntil: 1000s\ncluster:\n"
                 "  nodes: [{name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
                 "    cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}]\n"
                 "  failures: {trace: {file: f.csv, servers: 1}}\nworkload:\n"
                 "  arrival: %s\n  mix: [{recipe: trace, gpus: 8, duration: 100s}]\n"
                 "policies: [fcfs]\noutput: {plots: []}\n", worlds[i].workload);
        snprintf(faults, sizeof faults, "series,time_s,value\ns,0,0\n%s", worlds[i].faults);
        program_write(&program, "f.csv", faults);
        hand_run(&program, yaml, NULL);
        hand_near(job(NULL, "start_s") + 1, worlds[i].start_s + 1);
        hand_near(of("gpu_down_fraction"), 0.1);
        hand_near(of("gpu_idle_empty_fraction"), i == 1 ? 0.8 : 0.9 - of("gpu_busy_fraction"));
    }
}

/* Two nodes at 4 USD/h that take 60 s to start, of which one is to spare: both are ordered
 * at 0 s.  The job runs on one from 60 to 160 s, where the run ends: 2 x 160 s.  With a
 * second job at 1000 s there are two idle nodes at 180 s, when the `keep` of the second one
 * is over for the second time: it goes.  The first one stays for the job at 1000 s.  Then the
 * second one is ordered again, and the run ends at 1100 s: 1100 + 180 + 100 s.  Some 100
 * events do for both. */
static void a_node_to_spare_does_not_keep_the_run_alive(void **state)
{
    static const char yaml[] =
        "experiment: e\nseeds: 1\nevent_count_max: 1000\ncluster:\n  nodes:\n"
        "    - {name: a, count: 2, gpus: {type: a100-80, count: 8},\n"
        "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 4USD/h,\n"
        "       rent: {start: 60s, keep: 60s, spare: 1}}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n";

    (void)state;
    hand_run(&program, yaml, "job,t,d,g\na,0,100,8\n");
    hand_near(job("a", "end_s"), 160);
    hand_near(of("rented_nodes_mean"), 2);
    hand_near(of("cost_usd"), 2 * 160 * 4 / 3600.0);
    hand_run(&program, yaml, "job,t,d,g\na,0,100,8\nb,1000,100,8\n");
    hand_near(job("b", "start_s"), 1000);
    hand_near(of("makespan_s"), 1100);
    hand_near(of("cost_usd"), (1100 + 180 + 100) * 4 / 3600.0);
}

/* A node that is always kept costs 10 USD/h.  From 300 to 500 s none can be rented: notice
 * is 0 s, and the node is gone.  The job runs from 0 to 100 s; the next node is ordered at
 * 500 s.  Of 1000 s 800 s are paid for, whether or not another job comes at 900 s. */
static void what_can_be_rented_changes_while_there_are_no_jobs(void **state)
{
    static const char *const jobs[] = { "job,t,d,g\na,0,100,8\n",
                                        "job,t,d,g\na,0,100,8\nb,900,10,8\n" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        hand_run(&program,
                 "experiment: e\nseeds: 1\nuntil: 1000s\ncluster:\n  nodes:\n"
                 "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
                 "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h,\n"
                 "       rent: {start: 1s, min: 1, billing: second, notice: 0s, available:\n"
                 "         {unit: nodes, points: [[0s, 1], [300s, 0], [500s, 1]],\n"
                 "          after: hold}}}\n"
                 "workload:\n  trace: {file: jobs.csv, format: csv,\n"
                 "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
                 "policies: [fcfs]\noutput: {plots: []}\n", jobs[i]);
        hand_near(of("cost_usd"), 800 * 10 / 3600.0);
    }
}

/* A PPO job trains a policy and a critic of 7.616e9 parameters each, and saves 14 bytes for
 * each parameter of both to a storage of 2 GB/s: 106.624 s.  Both nodes fail in the second
 * rollout, at 215 s, and are back at 225 s.  Then the trainer loads what was saved and the
 * reference, 2 bytes a parameter, while the engine loads as much as the reference: in all 32
 * bytes, 121.856 s; and its process takes 34 s. */
static void a_critic_is_saved_and_loaded_again(void **state)
{
    double load_s = 32 * 7.616e9 / 2e9;

    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,215,1\ns,225,0\n"
                  "u,0,0\nu,215,1\nu,225,0\n");
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 2, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB,\n"
             "       nics: {type: ib-hdr, count: 8}}\n"
             "  storage: {bandwidth: 2GB/s}\n"
             "  failures: {trace: {file: f.csv, servers: 2}}\n"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: ppo, name: p, model: qwen2.5-7b, method: full, prompts: 8,\n"
             "       prompt_tokens: 512, response: {mean: 1000, cv: 0.5, max: 2000},\n"
             "       zero: 3, micro_batch: 1, recompute: full, steps: 2, checkpoint_every: 1,\n"
             "       train: {gpus: 8, cores: 1}, rollout: {gpus: 8, cores: 1},\n"
             "       data: {cores: 8}, reward: {core_time: 1s}}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", NULL);
    hand_near(hand_phase(&program, "fcfs", "checkpoint", 0, "end_s") -
              hand_phase(&program, "fcfs", "checkpoint", 0, "start_s"),
              2 * 14 * 7.616e9 / 2e9);
    hand_near(hand_phase(&program, "fcfs", "reference", 1, "start_s"), 225 + 34 + load_s);
}

/* Both nodes fail at 415 s, in the third step of a GRPO job whose leases are for its life,
 * and are back at 515 s.  Its roles start together, as at 0 s, and each takes the restart
 * of 60 s behind its load: data, which loads nothing, works at 575 s, and the rollout as
 * long after 575 s as the first one after 0 s.  The first two steps were saved. */
static void roles_that_start_together_restart_behind_their_loads(void **state)
{
    double load;

    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\na,0,0\na,415,1\na,515,0\n"
                  "b,0,0\nb,415,1\nb,515,0\n");
    hand_run(&program,
             "experiment: e\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
             "    - {name: train, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 20USD/h}\n"
             "    - {name: rollout, count: 1, gpus: {type: l40s, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}\n"
             "  storage: {bandwidth: 10GB/s}\n"
             "  failures: {trace: {file: f.csv, servers: 2}, restart: 60s}\n"
             "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
             "    - {recipe: grpo, name: g, model: qwen2.5-7b, steps: 3,\n"
             "       checkpoint_every: 2, prompts: 64, responses: 8, prompt_tokens: 300,\n"
             "       response: {mean: 800, cv: 1, max: 4096},\n"
             "       train: {gpus: 8, types: [a100-80]},\n"
             "       rollout: {gpus: 8, types: [l40s]}}\n"
             "policies: [static]\noutput: {plots: []}\n", NULL);
    load = hand_phase(&program, "static", "rollout", 0, "start_s");
    assert_true(load > 1);
    hand_near(hand_phase(&program, "static", "data", 3, "start_s"), 515 + 60);
    hand_near(hand_phase(&program, "static", "rollout", 3, "start_s"), 515 + 60 + load);
    hand_near(hand_cell(&program, "jobs.csv", "static", NULL, "interruptions"), 1);
}

/* What 20 steps with a checkpoint after each five pay for transfers, on a node of four GPUs that
 * goes: its notice of 2 min comes at that time, and another one is there from 1500 s on. */
static double transfers_under(const char *policy, int notice_s, const char *on_notice)
{
    char yaml[1500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 4},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 1TB, price: 36USD/h,\n"
             "       rent: {start: 4min, keep: 10min, notice: 2min, on_notice: %s,\n"
             "              available: {unit: nodes, after: hold,\n"
             "                          points: [[0s, 1], [%ds, 0], [1500s, 1]]}}}\n"
             "  storage: {bandwidth: 1GB/s, transfer: 0.1USD/GB}\n"
             "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
             "    - {recipe: sft, model: qwen2.5-1.5b, zero: 3, batch: 64, sequence: 2048,\n"
             "       steps: 20, checkpoint_every: 5, train: {gpus: 4}}\n"
             "policies: [%s]\noutput: {plots: []}\n", on_notice, notice_s, policy);
    hand_run(&program, yaml, NULL);
    assert_true(hand_cell(&program, "summary.csv", policy, NULL, "interruptions") == 1);
    return hand_cell(&program, "summary.csv", policy, NULL, "cost_transfer_usd");
}

static double transfers_with_notice_at(int notice_s, const char *on_notice)
{
    return transfers_under("fcfs", notice_s, on_notice);
}

/* The storage is the narrowest link of a checkpoint, and it writes for 21 s.  A node that goes
 * 12 s later within the last one wrote 12 GB more.  Over PCIe alone all of it took 0.3 s, and
 * was paid for in both. */
static void a_checkpoint_that_is_cut_pays_for_what_it_wrote(void **state)
{
    double early = transfers_with_notice_at(270, "work");

    (void)state;
    assert_true(hand_phase(&program, "fcfs", "checkpoint", 3, "start_s") < 390);
    assert_true(hand_phase(&program, "fcfs", "checkpoint", 3, "end_s") == 390);
    hand_near(transfers_with_notice_at(282, "work") - early, 12 * 0.1);
    assert_true(hand_phase(&program, "fcfs", "checkpoint", 3, "end_s") == 402);
}

/* The first load begins at 240 s and takes 3 s.  A notice stops it, as there is nothing to save:
 * a second later it has read 1 GB more. */
static void a_load_that_is_cut_pays_for_what_it_read(void **state)
{
    double early = transfers_with_notice_at(241, "save");

    (void)state;
    hand_near(transfers_with_notice_at(242, "save") - early, 0.1);
}

/* 1,543,714,304 parameters: 2 bytes of each are loaded at first, 14 are written by each of four
 * checkpoints, and loaded after an interruption.  Tokens of 22 steps and what else is small are
 * below 0.1 GB.  The first step runs from 277.1 to 279.2 s, the checkpoint after the fifth to
 * 309.1 s.  A notice within the first step, or the sixth, finds nothing to save: the weights, or
 * the checkpoint, are loaded again.  One within the second step saves the first. */
static void a_notice_saves_nothing_where_nothing_was_done(void **state)
{
    static const char *const policy[] = { "fcfs", "dynamic" };
    static const struct { int notice_s, bytes; } row[] = {
        { 278, 2 + 2 + 4 * 14 }, { 280, 2 + 14 + 14 + 4 * 14 }, { 310, 2 + 14 + 4 * 14 },
    };

    (void)state;
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
            double usd = transfers_under(policy[p], row[i].notice_s, "save");
            double more = usd / 0.1 - 1.543714304 * row[i].bytes;

            if (more < 0 || more > 0.1)
                fail_msg("%s, %d s: %g USD", policy[p], row[i].notice_s, usd);
        }
}

/* What a job pays for transfers that trains on images from the storage, on a node that goes, less
 * what its phases read: the storage is the narrowest link of all eleven of them, of which a notice
 * cuts one.  The job saves its state, and goes on with another node. */
static double transfers_beside_phases(int notice_s)
{
    double phases_s = 0;
    char yaml[1500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 4},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 1TB, price: 36USD/h,\n"
             "       rent: {start: 4min, keep: 10min, notice: 15min, on_notice: save,\n"
             "              available: {unit: nodes, after: hold,\n"
             "                          points: [[0s, 1], [%ds, 0], [3000s, 1]]}}}\n"
             "  storage: {bandwidth: 51.2MB/s, transfer: 0.1USD/GB}\n"
             "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
             "    - {recipe: multimodal, model: qwen2.5-1.5b, zero: 3, batch: 64,\n"
             "       sequence: 2048, steps: 20, checkpoint_every: 20,\n"
             "       loader: {kind: image, size: 4000000, per_sequence: 2},\n"
             "       train: {gpus: 4, cores: 16}}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", notice_s);
    hand_run(&program, yaml, NULL);
    assert_true(of("interruptions") == 1);
    assert_true(hand_phase(&program, "fcfs", "train", 5, "end_s") == notice_s);
    for (int n = 0; n < 11; n++)
        phases_s += hand_phase(&program, "fcfs", "train", n, "end_s") -
                    hand_phase(&program, "fcfs", "train", n, "start_s");
    return of("cost_transfer_usd") - 0.0512 * 0.1 * phases_s;
}

/* A phase of two steps is cut in its first one, of which nothing is kept, and in its second one:
 * its first one is not read again.  The state is saved and loaded either way. */
static void a_phase_that_goes_on_pays_for_its_rest_alone(void **state)
{
    double first = transfers_beside_phases(395), second = transfers_beside_phases(400);

    (void)state;
    assert_true(hand_phase(&program, "fcfs", "train", 6, "end_s") -
                    hand_phase(&program, "fcfs", "train", 6, "start_s") <
                0.6 * (hand_phase(&program, "fcfs", "train", 0, "end_s") -
                       hand_phase(&program, "fcfs", "train", 0, "start_s")));
    hand_near(second, first);
}

/* The GPU-seconds at work of steps that wait for images from the storage, on a node that fails
 * at that time.  share: of the time of a whole step. */
static double work_of_a_node_that_fails_at(int fails_s, double *share)
{
    char csv[100];

    snprintf(csv, sizeof csv, "series,time_s,value\n0,0,0\n0,%d,1\n0,%d,0\n0,1000000,0\n",
             fails_s, fails_s + 20);
    program_write(&program, "f.csv", csv);
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 4}, price: 10USD/h,\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 1TB}\n"
             "  storage: {bandwidth: 50MB/s}\n"
             "  failures: {trace: {file: f.csv, servers: 1}, restart: 60s}\n"
             "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
             "    - {recipe: multimodal, model: qwen2.5-1.5b, zero: 3, batch: 64,\n"
             "       sequence: 2048, steps: 4, checkpoint_every: 2,\n"
             "       loader: {kind: image, size: 4194304, per_sequence: 2},\n"
             "       train: {gpus: 4, cores: 16}}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", NULL);
    assert_true(hand_phase(&program, "fcfs", "train", 0, "end_s") == fails_s);
    *share = hand_phase(&program, "fcfs", "train", 1, "gpu_utilization");
    return 4 * of("gpu_busy_fraction") * of("makespan_s");
}

/* All else is the same, 4 s later: the GPUs are at work in a step that is cut as they are in one
 * that is not, a third of its time.  As if its links were free they were at work nearly always. */
static void a_step_that_is_cut_works_as_others_do(void **state)
{
    double share, early = work_of_a_node_that_fails_at(97, &share);
    double late = work_of_a_node_that_fails_at(101, &share);

    (void)state;
    assert_true(share > 0.3 && share < 0.35);
    if (fabs(late - early - 4 * 4 * share) > 1e-5)
        fail_msg("%.9g for %.9g", late - early, 4 * 4 * share);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rental_is_billed_from_its_order_in_whole_units),
        cmocka_unit_test(a_price_that_changes_is_paid_as_it_was),
        cmocka_unit_test(a_job_goes_on_from_what_it_saved_and_restarts),
        cmocka_unit_test(saving_takes_its_time_under_all_leases),
        cmocka_unit_test(state_parked_on_a_node_goes_with_it),
        cmocka_unit_test(state_parked_on_a_node_that_fails_is_lost),
        cmocka_unit_test(state_of_a_stopped_job_goes_with_its_node),
        cmocka_unit_test(the_rest_of_a_restart_is_owed_where_the_node_goes),
        cmocka_unit_test(what_a_rollout_loses_with_its_node_is_told),
        cmocka_unit_test(parts_of_nodes_add_up_to_whole_nodes),
        cmocka_unit_test(nodes_fail_while_there_are_no_jobs),
        cmocka_unit_test(a_node_to_spare_does_not_keep_the_run_alive),
        cmocka_unit_test(what_can_be_rented_changes_while_there_are_no_jobs),
        cmocka_unit_test(a_critic_is_saved_and_loaded_again),
        cmocka_unit_test(a_fault_sets_a_job_back_to_its_checkpoint),
        cmocka_unit_test(time_lost_is_what_was_held_since_the_last_save),
        cmocka_unit_test(roles_that_start_together_restart_behind_their_loads),
        cmocka_unit_test(a_checkpoint_that_is_cut_pays_for_what_it_wrote),
        cmocka_unit_test(a_load_that_is_cut_pays_for_what_it_read),
        cmocka_unit_test(a_notice_saves_nothing_where_nothing_was_done),
        cmocka_unit_test(a_phase_that_goes_on_pays_for_its_rest_alone),
        cmocka_unit_test(a_step_that_is_cut_works_as_others_do),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
