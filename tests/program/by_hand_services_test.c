/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand_services_test.c - services of a few requests whose answers are worked out by
 * hand, from what the manual says.  The working stands above each test.
 *
 * A pass takes the times that the file states, so no law is needed.  A replica that is
 * wanted at 0 s serves before 70 s.
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

/* Runs a service of bert-base on a node of four T4 at 4 USD/h.  cluster: more of it, lines
 * with an indent of two; keys: more of the service, lines with an indent of six. */
static void serve_on(const char *cluster, const char *until, const char *keys,
                     const char *times)
{
    char yaml[1500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nuntil: %s\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: t4, count: 4},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB, price: 4USD/h}\n"
             "%sworkload:\n  services:\n    - name: cls\n      model: bert-base\n"
             "      gpu: {tp: 1, types: [t4], cores: 2}\n%s"
             "      requests: {arrival: {process: fixed, times: [%s]}, prompt: 100,\n"
             "        for: 1h}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", until, cluster, keys, times);
    hand_run(&program, yaml, NULL);
}

static void serve(const char *until, const char *keys, const char *times)
{
    serve_on("", until, keys, times);
}

static double of(const char *column)
{
    return hand_cell(&program, "services.csv", "fcfs", "cls", column);
}

/* A pass takes 0.5 s and 0.1 s a request.  The first request starts alone and is done at
 * 100.6 s; the other four start then and take 0.9 s.  Latencies 0.6, 1.4, 1.3, 1.2, 1.1;
 * three within 1.25 s; 3 of them in 1.5 s. */
static void a_free_replica_starts_and_the_rest_is_its_next_batch(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 4\n"
          "      times: {batch: 500ms, request: 100ms}\n      slo: {latency: 1.25s}\n",
          "100s, 100.1s, 100.2s, 100.3s, 100.4s");
    hand_near(of("latency_mean_s"), 1.12);
    hand_near(of("latency_p50_s"), 1.2);
    hand_near(of("latency_p95_s"), 1.4);
    hand_near(of("slo_attained_fraction"), 0.6);
    hand_near(of("goodput_per_s"), 2);
}

/* Batches of three that wait for 1 s: two start at 101 s and take 0.7 s, three are a full
 * batch at 102.2 s, which takes 0.8 s. */
static void a_batch_waits_until_it_is_full_or_the_delay_is_over(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 3\n"
          "      batch_delay: 1s\n      times: {batch: 500ms, request: 100ms}\n",
          "100s, 100.5s, 102s, 102.1s, 102.2s");
    hand_near(of("latency_mean_s"), (1.7 + 1.2 + 1.0 + 0.9 + 0.8) / 5);
    hand_near(of("latency_p95_s"), 1.7);
}

/* Four at once are one batch of 1 s; the fifth comes meanwhile and is in the next one. */
static void requests_of_one_instant_are_one_batch(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 4\n"
          "      times: {batch: 1s}\n", "100s, 100s, 100s, 100s, 100.5s");
    hand_near(of("latency_mean_s"), (4 * 1 + 1.5) / 5);
}

/* Five wait for the first replica.  They are all in its first batch: the last to come
 * waited four seconds less than the first.  In batches of two, with room for two to wait,
 * the fifth is dropped.  If the replica is up at T, the others take T + 9, T + 8, T + 17
 * and T + 16 s. */
static void a_replica_that_comes_up_takes_all_that_waits(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 8\n      queue: 2\n"
          "      times: {batch: 1s}\n", "1s, 2s, 3s, 4s, 5s");
    hand_near(of("done"), 5);
    hand_near(of("latency_p99_s") - of("latency_p50_s"), 2);
    hand_near(of("latency_p50_s"), of("latency_mean_s"));
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 2\n      queue: 2\n"
          "      times: {batch: 10s}\n", "1s, 2s, 3s, 4s, 5s");
    hand_near(of("dropped"), 1);
    hand_near(of("latency_p99_s") - of("latency_mean_s"),
              17 - (9 + 8 + 17 + 16) / 4.0);
}

/* One at a time, 1 s each, one may wait: the third is dropped.  With a timeout of 1.5 s
 * the third and the
 * fourth have waited for longer when their turn comes, the fifth for 1.3 s. */
static void what_cannot_wait_is_dropped(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 1\n      queue: 1\n"
          "      times: {batch: 1s}\n      slo: {latency: 1.25s}\n",
          "100s, 100.1s, 100.2s, 101.5s");
    hand_near(of("dropped"), 1);
    hand_near(of("latency_mean_s"), (1 + 1.9 + 1.5) / 3);
    hand_near(of("slo_attained_fraction"), 1.0 / 4);
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 1\n"
          "      timeout: 1.5s\n      times: {batch: 1s}\n",
          "100s, 100.1s, 100.2s, 100.3s, 100.7s");
    hand_near(of("dropped"), 2);
    hand_near(of("latency_mean_s"), (1 + 1.9 + 2.3) / 3);
}

/* Passes of 10 s, 25 s promised.  At 150 s the third request is at work and two have come
 * just now: nobody knows of these three.  At 138.5 s the fourth and fifth have waited for
 * 26.5 and 25.5 s: late. */
static void a_request_cut_off_before_it_is_late_is_neither_kept_nor_missed(void **state)
{
    static const char keys[] =
        "      replicas: {min: 1, max: 1}\n      batch: 1\n"
        "      times: {batch: 10s}\n      slo: {latency: 25s}\n";

    (void)state;
    serve("150s", keys, "100s, 110s, 145s, 146s, 147s");
    hand_near(of("unfinished"), 3);
    hand_near(of("slo_attained_fraction"), 1);
    serve("138.5s", keys, "100s, 110s, 111s, 112s, 113s");
    hand_near(of("done"), 3);
    hand_near(of("slo_attained_fraction"), 3.0 / 5);
    hand_near(hand_cell(&program, "summary.csv", "fcfs", NULL, "slo_count"), 5);
    hand_near(hand_cell(&program, "summary.csv", "fcfs", NULL, "slo_attained_fraction"),
              3.0 / 5);
}

/* A T4 draws 10 W, and 70 W at work: three passes of 7 s, whenever the autoscaler looks,
 * and one of 7 s of which `until` leaves 2 s. */
static void energy_is_that_of_the_work(void **state)
{
    static const char keys[] = "      replicas: {min: 1, max: 1}\n      batch: 1\n"
                               "      times: {batch: 7s}\n";

    (void)state;
    serve("drained", keys, "100s, 112s, 112s");
    hand_near(of("energy_kwh"), (of("gpu_hours") * 3600 * 10 + 21 * 60) / 3.6e6);
    serve("114s", keys, "100s, 112s, 112s");
    hand_near(of("energy_kwh"), (114 * 10 + 9 * 60) / 3.6e6);
    hand_near(of("gpu_replica_utilization"), 9.0 / 114);
    hand_near(hand_cell(&program, "summary.csv", "fcfs", NULL, "gpu_utilization"),
              9.0 / 114 / 4);
}

/* Two requests a replica, a look each 10 s, fewer after 20 s.  At 110 s five are there, so
 * two replicas more are wanted.  One answers all, 30 s each: 130, 160, .. 250 s.  At 150 s
 * two were enough for three looks, so the newest, which still loads, goes; the second goes
 * at 210 s; the first at 250 s, when all is answered. */
static void replicas_follow_the_looks_of_the_autoscaler(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 3}\n      batch: 1\n"
          "      scaling: {signal: concurrency, target: 2, interval: 10s, down: 20s}\n"
          "      times: {batch: 30s}\n", "100s, 101s, 102s, 103s, 104s");
    hand_near(of("gpu_replica_starts"), 3);
    hand_near(of("gpu_replica_hours"), (250 + 100 + 40) / 3600.0);
    hand_near(of("gpu_replica_utilization"), 150.0 / 390);
    hand_near(of("latency_p95_s"), 146);
    hand_near(hand_cell(&program, "jobs.csv", "fcfs", "cls-1", "end_s"), 210);
    hand_near(of("cost_usd"), 390.0 / 3600);
}

/* Rates count from the first request that is measured: the one of 102 s is answered at
 * 103 s. */
static void a_warm_up_has_no_part_in_rates(void **state)
{
    (void)state;
    serve("drained\nwarmup: 100.5s", "      replicas: {min: 1, max: 1}\n      batch: 1\n"
          "      times: {batch: 1s}\n", "100s, 102s");
    hand_near(of("requests"), 2);       /* in the warm-up too, as explain says */
    hand_near(of("done"), 2);
    hand_near(of("latency_mean_s"), 1);
    hand_near(of("goodput_per_s"), 1);
}

/* Two may wait.  The third fills the batch of three, which starts: it does not wait.  In
 * batches of four it is one too many; the two start at 100.7 s. */
static void a_request_that_fills_the_batch_does_not_wait(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 3\n      queue: 2\n"
          "      batch_delay: 700ms\n      times: {batch: 1s}\n", "100s, 100.1s, 100.2s");
    hand_near(of("done"), 3);
    hand_near(of("latency_mean_s"), (1.2 + 1.1 + 1.0) / 3);
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 4\n      queue: 2\n"
          "      batch_delay: 700ms\n      times: {batch: 1s}\n", "100s, 100.1s, 100.2s");
    hand_near(of("dropped"), 1);
    hand_near(of("latency_mean_s"), (1.7 + 1.6) / 2);
}

/* Passes of 10 s, one may wait, for 1 s: the second gives up at 101.1 s, so there is room
 * for the third, which waits for 0.5 s.  At 105 s nobody waits any more: the first is
 * unfinished.  At 110 s a look at the requests in the service finds one, not four. */
static void who_gave_up_takes_no_room(void **state)
{
    static const char keys[] = "      replicas: {min: 1, max: 4}\n      batch: 1\n"
                               "      queue: 3\n      timeout: 1s\n"
                               "      scaling: {target: 1, interval: 11s, down: 0s}\n"
                               "      times: {batch: 10s}\n";

    (void)state;
    serve("drained", "      replicas: {min: 1, max: 1}\n      batch: 1\n      queue: 1\n"
          "      timeout: 1s\n      times: {batch: 10s}\n", "100s, 100.1s, 109.5s");
    hand_near(of("dropped"), 1);
    hand_near(of("latency_mean_s"), (10 + 10.5) / 2);
    serve("105s", "      replicas: {min: 1, max: 1}\n      batch: 1\n      timeout: 1s\n"
          "      slo: {latency: 20s}\n      times: {batch: 10s}\n", "100s, 100.1s");
    hand_near(of("dropped"), 1);
    hand_near(of("unfinished"), 1);
    hand_near(of("slo_attained_fraction"), 0);
    serve("drained", keys, "105s, 105s, 105s, 105s");
    hand_near(of("gpu_replica_starts"), 1);
    hand_near(of("dropped"), 3);
}

/* Two replicas, passes of 10 s: the first request, at 99 s, comes in the warm-up.  The second
 * is done at 110 s.  The third waits until 109 s and may still keep its promise at 115 s, so it
 * is not judged; both came when the warm-up ended, and not in it. */
static void what_comes_as_the_warm_up_ends_counts(void **state)
{
    (void)state;
    serve("115s\nwarmup: 100s", "      replicas: {min: 2, max: 2}\n      batch: 1\n"
          "      slo: {latency: 20s}\n      times: {batch: 10s}\n", "99s, 100s, 100s");
    hand_near(of("unfinished"), 1);
    hand_near(of("latency_mean_s"), 10);
    hand_near(of("slo_attained_fraction"), 1);
}

/* What waits for a replica is served when it is up, and not when replicas are counted next. */
static void a_replica_that_is_up_waits_for_no_look(void **state)
{
    static const char *const interval[] = { "1s", "7s", "1h" };
    double latency_s[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        char keys[200];
        snprintf(keys, sizeof keys, "      replicas: {min: 1, max: 1}\n      batch: 1\n      "
                 "times: {batch: 1s}\n      scaling: {interval: %s}\n", interval[i]);
        serve("drained", keys, "0.5s");
        latency_s[i] = of("latency_mean_s");
    }
    assert_true(latency_s[0] < 70);
    hand_near(latency_s[1], latency_s[0]);
    hand_near(latency_s[2], latency_s[0]);
}

/* Two replicas that open at one instant share what waited for them, one request each. */
static void replicas_that_open_together_share_what_waits(void **state)
{
    (void)state;
    serve("drained", "      replicas: {min: 2, max: 2}\n      batch: 1\n"
          "      times: {batch: 10s}\n", "1s, 1s");
    hand_near(of("latency_p99_s"), of("latency_mean_s"));
    hand_near(of("gpu_replica_utilization") * of("gpu_replica_hours") * 3600, 20);
}

/* The node fails at 105 s with both replicas, three requests begun or waiting: each begins
 * anew once.  It is back at 165 s, and both replicas then take as long to start as at 0 s:
 * T, which is when a request of 1 s is at work.  Two end together, the third 10 s later. */
static void what_fails_together_is_sent_on_once(void **state)
{
    static const char keys[] = "      replicas: {min: 2, max: 2}\n      batch: 1\n"
                               "      times: {batch: 10s}\n";

    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\ns,0,0\ns,105,1\ns,165,0\n");
    serve("drained", keys, "1s");
    double start_s = of("latency_mean_s") - 9;
    serve_on("  failures: {trace: {file: f.csv, servers: 1}, restart: 0s}\n", "drained", keys,
             "100s, 100s, 100s");
    hand_near(of("rerouted"), 3);
    hand_near(of("latency_mean_s"), 165 + start_s + (10 + 10 + 20) / 3.0 - 100);
}

/* A look counts the requests of its instant, whenever the one before them came: three in
 * 10 s are two replicas more than one at 0.1 a second, until the next look. */
static void a_look_comes_after_the_requests_of_its_instant(void **state)
{
    static const char *const times[] = { "101s, 102s, 110s, 125s", "99s, 110s, 110s, 110s, 125s" };
    static const char keys[] =
        "      replicas: {min: 1, max: 4}\n      batch: 1\n      times: {batch: 1s}\n"
        "      scaling: {signal: rate, target: 0.1, interval: 10s, down: 0s}\n";

    (void)state;
    for (int i = 0; i < 2; i++) {
        serve("drained", keys, times[i]);
        hand_near(of("gpu_replicas_max"), 3);
        hand_near(of("gpu_replica_hours"), (130 + 2 * 10) / 3600.0);
    }
}

/* Runs a service that generates so many tokens for one request. */
static void generate(int tokens)
{
    char yaml[1000];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: t4, count: 1},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB}\n"
             "workload:\n  services:\n    - name: cls\n      model: qwen2.5-0.5b\n"
             "      gpu: {tp: 1, types: [t4], cores: 2}\n"
             "      requests: {arrival: {process: fixed, times: [200s]}, prompt: 100,\n"
             "        output: %d, for: 1h}\npolicies: [fcfs]\noutput: {plots: []}\n", tokens);
    hand_run(&program, yaml, NULL);
}

/* An answer of one token is there with its first; a second one takes what two take less
 * that. */
static void a_first_token_is_known_to_the_nanosecond(void **state)
{
    (void)state;
    generate(1);
    double first_s = of("ttft_mean_s");
    hand_near(of("latency_mean_s"), first_s);
    generate(2);
    hand_near(of("ttft_mean_s"), first_s);
    hand_near(of("tpot_mean_s"), of("latency_mean_s") - first_s);
}

/* Returns the latency of one request with such a prompt. */
static double answer_s(const char *prompt)
{
    char yaml[1000];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: t4, count: 1},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB, price: 4USD/h}\n"
             "workload:\n  services:\n    - name: cls\n      model: bert-base\n"
             "      precision: fp16\n      gpu: {tp: 1, types: [t4], cores: 2}\n"
             "      requests: {arrival: {process: fixed, times: [100s]}, prompt: %s,\n"
             "        for: 1h}\npolicies: [fcfs]\noutput: {plots: []}\n", prompt);
    hand_run(&program, yaml, NULL);
    return of("latency_mean_s");
}

/* A pass takes the time of the mean prompt, after `min` and `max`: all of the first have 400
 * tokens.  Half of the second have 10 and half 400, which are 205; min(x, 400) of an
 * exponential has the mean 400 (1 - 1/e) = 252.848, between passes of 252 and of 253. */
static void a_pass_counts_the_mean_of_prompts_that_are_drawn(void **state)
{
    (void)state;
    hand_near(answer_s("{uniform: [0, 100], min: 400}"), answer_s("400"));
    hand_near(answer_s("{choice: {10: 0.5, 4000: 0.5}, max: 400}"), answer_s("205"));
    double cut_s = answer_s("{exponential: {mean: 400}, max: 400}");
    assert_true(cut_s > answer_s("252") && cut_s < answer_s("253"));
}

/* ---- beside jobs ----------------------------------------------------------- */

/* Runs jobs of a CSV beside a service of the tenant s on two T4.  Its first replica has one of
 * them from 0 s to 4000 s.  Twenty passes of 1 s, asked for at 100 s, want a second replica, which
 * is let go before 200 s, as all are answered. */
static void serve_beside(const char *policies, const char *jobs)
{
    char yaml[2000], times[300] = "";

    for (int i = 0; i < 20; i++)
        strcat(times, "100s, ");
    strcat(times, "4000s");
    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: t4, count: 2},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB}\n"
             "workload:\n  services:\n    - name: cls\n      tenant: s\n"
             "      model: bert-base\n"
             "      gpu: {tp: 1, types: [t4], cores: 2}\n      replicas: {min: 1, max: 2}\n"
             "      batch: 1\n      times: {batch: 1s}\n"
             "      scaling: {target: 1, interval: 15s, down: 30s}\n"
             "      requests: {arrival: {process: fixed, times: [%s]}, prompt: 100, for: 2h}\n"
             "  trace: {file: jobs.csv, columns: {job: job, submit: t, duration: run, gpus: n,\n"
             "          tenant: u}}\n"
             "policies: [%s]\noutput: {plots: []}\n", times, policies);
    hand_run(&program, yaml, jobs);
}

/* Job 1 has the other T4 until 1000 s, so that the second replica never starts.  Job 2 comes at
 * 300 s.  Nobody waits before it, so it starts at 1000 s. */
static void a_replica_that_was_let_go_holds_no_reservation(void **state)
{
    (void)state;
    serve_beside("conservative, easy", "job,t,run,n,u\n1,0,1000,1,s\n2,300,100,1,s\n");
    for (int i = 0; i < 2; i++) {
        const char *policy = i == 0 ? "conservative" : "easy";
        assert_true(isnan(hand_cell(&program, "jobs.csv", policy, "cls-1", "start_s")));
        assert_true(hand_cell(&program, "jobs.csv", policy, "cls-1", "end_s") < 200);
        hand_near(hand_cell(&program, "jobs.csv", policy, "2", "start_s"), 1000);
    }
}

/* Of s a job of 1000 s has ended, of t one of 700 s.  At 2000 s a job of each waits, and that of t
 * goes first: the replica that never ran is no job of 0 s. */
static void a_replica_that_never_ran_predicts_nothing(void **state)
{
    (void)state;
    serve_beside("qssf", "job,t,run,n,u\n1,0,1000,1,s\n2,10,700,1,t\n3,1600,300,1,u\n"
                         "4,1750,100,1,s\n5,1800,100,1,t\n");
    assert_true(isnan(hand_cell(&program, "jobs.csv", "qssf", "cls-1", "start_s")));
    hand_near(hand_cell(&program, "jobs.csv", "qssf", "3", "start_s"), 1700);
    hand_near(hand_cell(&program, "jobs.csv", "qssf", "5", "start_s"), 2000);
    hand_near(hand_cell(&program, "jobs.csv", "qssf", "4", "start_s"), 2100);
}

/* ---- GPUs lent to rollouts ----------------------------------------------- */

/* Runs services beside GRPO jobs that all start at 0 s, under `harvest`, at once, after 30 s
 * and after an hour.  The nodes of the services: `count` of `gpus` A100; a gang keeps to one.
 * A pass takes 10 s, alone; 60 requests at 200 s are seen by the look at 210 s, which wants
 * as many replicas of `chat` as there may be.  A rollout takes minutes. */
static void lend(const char *count, const char *gpus, const char *services, const char *jobs,
                 const char *rollout)
{
    char yaml[3000], times[400] = "0s";

    for (int i = 0; i < 60; i++)
        strcat(times, ", 200s");
    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: serve, count: %s, gpus: {type: a100-80, count: %s},\n"
             "       cpu: {type: epyc-7763, sockets: 2}, memory: 1TB}\n"
             "    - {name: train, count: 3, gpus: {type: h100, count: 2},\n"
             "       cpu: {type: epyc-7763, sockets: 2}, memory: 1TB}\n"
             "  storage: {bandwidth: 20GB/s}\nworkload:\n  services:\n%s"
             "      batch: 1\n      times: {batch: 10s}\n"
             "      requests: {arrival: {process: fixed, times: [%s]}, prompt: 500, for: 1h}\n"
             "      scaling: {signal: concurrency, target: 1, interval: 15s}\n"
             "  arrival: {process: all_at_once}\n  jobs: %s\n  mix:\n"
             "    - {recipe: grpo, share: 1, model: qwen2.5-7b, method: lora, zero: 3,\n"
             "       recompute: full, micro_batch: 1, prompts: 64, responses: 8,\n"
             "       response: {mean: 3000, cv: 1, max: 16384}, prompt_tokens: 512,\n"
             "       reward: {on: cpu, core_time: 20ms}, steps: 2, checkpoint_every: 0,\n"
             "       rollout: {gpus: %s, types: [a100-80]}, train: {gpus: 2, types: [h100]},\n"
             "       data: {cores: 8}}\n"
             "policies:\n  - {policy: harvest, name: now, placement: first_fit}\n"
             "  - {policy: harvest, name: late, placement: first_fit, delay: 30s}\n"
             "  - {policy: harvest, name: patient, placement: first_fit, delay: 1h}\n"
             "output: {tables: [summary, jobs, phases], plots: []}\n", count, gpus, services,
             times, jobs, rollout);
    hand_run(&program, yaml, NULL);
}

#define CHAT(TP, MAX) "    - name: chat\n      model: qwen2.5-7b\n" \
    "      gpu: {tp: " TP ", types: [a100-80], cores: 4}\n" \
    "      replicas: {min: 1, max: " MAX "}\n"

static double job(const char *policy, const char *name, const char *column)
{
    return hand_cell(&program, "jobs.csv", policy, name, column);
}

/* Two nodes of three.  A replica has two GPUs of the first, the rollout two of the second:
 * one is free on each, and the second replica needs two of one node.  The rollout goes. */
static void what_is_lent_goes_back_where_free_gpus_lie_apart(void **state)
{
    (void)state;
    lend("2", "3", CHAT("2", "2"), "1", "2");
    hand_near(job("now", "chat-1", "submit_s"), 210);
    hand_near(job("now", "chat-1", "wait_s") + 1, 1);
    hand_near(job("late", "chat-1", "wait_s"), 30);
    hand_near(job("now", "1", "preemptions"), 1);
    hand_near(job("late", "1", "preemptions"), 1);
}

/* One node of 128 cores: a replica has 4, the rollout 122.  Two GPUs are free for a second
 * replica, and 2 cores. */
static void what_is_lent_goes_back_where_cores_are_short(void **state)
{
    (void)state;
    lend("1", "4", CHAT("1", "2"), "1", "1, cores: 122");
    hand_near(job("now", "chat-1", "wait_s") + 1, 1);
    hand_near(job("late", "chat-1", "wait_s"), 30);
}

/* One node of four: a replica and three rollouts.  Two more replicas take the GPUs of the
 * two that began last, and the first rollout goes on. */
static void no_more_goes_back_than_replicas_take(void **state)
{
    static const char *const policy[] = { "now", "late" };

    (void)state;
    lend("1", "4", CHAT("1", "3"), "3", "1");
    for (int p = 0; p < 2; p++) {
        hand_near(job(policy[p], "chat-1", "wait_s") + 1, 1 + 30 * p);
        hand_near(job(policy[p], "chat-2", "wait_s") + 1, 1 + 30 * p);
        hand_near(job(policy[p], "1", "preemptions") + 1, 1);
        hand_near(job(policy[p], "2", "preemptions"), 1);
        hand_near(job(policy[p], "3", "preemptions"), 1);
    }
}

/* One node of three: a replica and two rollouts, of which one ends before the hour is over.
 * The second replica has its GPU then, and nothing is stopped, then or later. */
static void a_replica_that_finds_room_stops_nothing(void **state)
{
    (void)state;
    lend("1", "3", CHAT("1", "2"), "2", "1");
    double first = hand_phase(&program, "patient", "rollout", 0, "end_s");
    double second = hand_phase(&program, "patient", "rollout", 1, "end_s");

    assert_true(first > 240 && second > 240 && fmin(first, second) < 3810);
    hand_near(job("patient", "chat-1", "start_s"), fmin(first, second));
    for (int j = 1; j <= 2; j++)
        hand_near(job("patient", j == 1 ? "1" : "2", "preemptions") + 1, 1);
    hand_near(job("late", "chat-1", "wait_s"), 30);
}

/* Two nodes of three, and a replica of two GPUs on each: the rollouts of one GPU have what
 * is left.  A third replica of two finds no room without them, and they go on. */
static void nothing_goes_back_where_that_does_not_help(void **state)
{
    static const char services[] =
        "    - name: aside\n      model: qwen2.5-7b\n"
        "      gpu: {tp: 2, types: [a100-80], cores: 4}\n"
        "      replicas: {min: 1, max: 1}\n      batch: 1\n      times: {batch: 1s}\n"
        "      requests: {arrival: {process: fixed, every: 10s}, prompt: 500, for: 1h}\n";
    char both[1000];

    (void)state;
    snprintf(both, sizeof both, "%s%s", services, CHAT("2", "2"));
    lend("2", "3", both, "2", "1");
    for (int i = 0; i < 4; i++)
        hand_near(job(i < 2 ? "now" : "late", i % 2 ? "2" : "3", "preemptions") + 1, 1);
    assert_true(isnan(job("now", "chat-1", "start_s")));
}

/* Two nodes of three.  The rollout has four GPUs, one of the first node and three of the
 * second, or less: any number from one on.  Taken back at 210 s, it finds one GPU on each
 * node, and two only where a gang may lie on both.  It goes on with one, at once. */
static void a_rollout_borrows_what_finds_room(void **state)
{
    (void)state;
    lend("2", "3", CHAT("2", "2"), "1", "2, min: 1, max: 6");
    hand_near(job("now", "chat-1", "wait_s") + 1, 1);
    hand_near(hand_phase(&program, "now", "rollout", 0, "gpus"), 4);
    hand_near(hand_phase(&program, "now", "rollout", 0, "end_s"), 210);
    hand_near(hand_phase(&program, "now", "rollout", 1, "gpus"), 1);
    assert_true(hand_phase(&program, "now", "rollout", 1, "start_s") < 215);
}

/* Requests come each second up to 300 s and wait for 13 s at most; the service looks each 15 s.
 * It asks for a replica at 15 s and takes it back at 315 s, as the last request is gone at 312 s.
 * Decisions are made each 360 s, so it never starts.  The job comes at 800 s and runs from
 * 1080 s to 1180 s.  Four GPUs are free while something waits for 300 + 280 s of 1180 s. */
static void gpus_are_free_while_a_replica_waits_that_never_starts(void **state)
{
    (void)state;
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster: {nodes: [{name: a, gpus: {type: l40s, count: 4}, "
             "cpu: {type: epyc-7763}, memory: 1TB}]}\nworkload:\n"
             "  arrival: {process: fixed, times: [800s]}\n"
             "  mix: [{recipe: trace, gpus: 4, duration: 100s}]\n"
             "  services:\n    - {name: cls, model: bert-base, gpu: {tp: 1}, replicas: {min: 0}, "
             "timeout: 13s, requests: {arrival: {process: fixed, every: 1s}, for: 5min, "
             "prompt: 100}}\n"
             "policies: [gavel]\noutput: {plots: []}\n", NULL);
    hand_near(hand_cell(&program, "summary.csv", "gavel", NULL, "gpu_idle_queued_fraction"),
              580.0 / 1180);
    hand_near(hand_cell(&program, "summary.csv", "gavel", NULL, "gpu_idle_empty_fraction"),
              500.0 / 1180);
    hand_near(hand_cell(&program, "summary.csv", "gavel", NULL, "gpu_busy_fraction"),
              100.0 / 1180);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_replica_starts_and_the_rest_is_its_next_batch),
        cmocka_unit_test(a_batch_waits_until_it_is_full_or_the_delay_is_over),
        cmocka_unit_test(requests_of_one_instant_are_one_batch),
        cmocka_unit_test(a_replica_that_comes_up_takes_all_that_waits),
        cmocka_unit_test(what_cannot_wait_is_dropped),
        cmocka_unit_test(a_request_cut_off_before_it_is_late_is_neither_kept_nor_missed),
        cmocka_unit_test(energy_is_that_of_the_work),
        cmocka_unit_test(replicas_follow_the_looks_of_the_autoscaler),
        cmocka_unit_test(a_warm_up_has_no_part_in_rates),
        cmocka_unit_test(a_request_that_fills_the_batch_does_not_wait),
        cmocka_unit_test(who_gave_up_takes_no_room),
        cmocka_unit_test(what_comes_as_the_warm_up_ends_counts),
        cmocka_unit_test(a_replica_that_is_up_waits_for_no_look),
        cmocka_unit_test(replicas_that_open_together_share_what_waits),
        cmocka_unit_test(what_fails_together_is_sent_on_once),
        cmocka_unit_test(a_look_comes_after_the_requests_of_its_instant),
        cmocka_unit_test(a_first_token_is_known_to_the_nanosecond),
        cmocka_unit_test(a_pass_counts_the_mean_of_prompts_that_are_drawn),
        cmocka_unit_test(a_replica_that_was_let_go_holds_no_reservation),
        cmocka_unit_test(a_replica_that_never_ran_predicts_nothing),
        cmocka_unit_test(what_is_lent_goes_back_where_free_gpus_lie_apart),
        cmocka_unit_test(what_is_lent_goes_back_where_cores_are_short),
        cmocka_unit_test(no_more_goes_back_than_replicas_take),
        cmocka_unit_test(a_rollout_borrows_what_finds_room),
        cmocka_unit_test(a_replica_that_finds_room_stops_nothing),
        cmocka_unit_test(nothing_goes_back_where_that_does_not_help),
        cmocka_unit_test(gpus_are_free_while_a_replica_waits_that_never_starts),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
