/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_sent_on_test.c - requests that a failure sends on, worked out by hand.
 *
 * Two nodes of one T4 have a replica each, and one of them fails.  The requests come in
 * pairs, one for each replica, so that it does not matter which node that is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/aid/by_hand.h"
#include "tests/aid/program.h"

static struct program program;

/* Passes take 10 s.  One node fails at `fails_s`, for longer than the requests take. */
static void serve(int fails_s, const char *seed, const char *keys, const char *times)
{
    char yaml[1500], faults[100];

    snprintf(faults, sizeof faults, "series,time_s,value\ns,0,0\ns,%d,1\ns,900,0\n", fails_s);
    program_write(&program, "f.csv", faults);
    snprintf(yaml, sizeof yaml,
             "experiment: e\nseed: %s\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
             "    - {name: a, count: 2, gpus: {type: t4, count: 1},\n"
             "       cpu: {type: epyc-7742, sockets: 1}, memory: 256GB, price: 4USD/h}\n"
             "  failures: {trace: {file: f.csv, servers: 2}, restart: 0s}\n"
             "workload:\n  services:\n    - name: cls\n      model: bert-base\n"
             "      gpu: {tp: 1, types: [t4], cores: 2}\n      replicas: {min: 2, max: 2}\n"
             "      times: {batch: 10s}\n%s"
             "      requests: {arrival: {process: fixed, times: [%s]}, prompt: 100,\n"
             "        for: 1h}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", seed, keys, times);
    hand_run(&program, yaml, NULL);
}

static double of(const char *column)
{
    return hand_cell(&program, "services.csv", "fcfs", "cls", column);
}

/* Both replicas have a request of 100 s at work and one of 101 s that waits, when one of them
 * fails at 109 s.  The other is done at 110 s; what was at work elsewhere has waited for longer
 * than 9.5 s then, and the two of 101 s are the next batch, which ends at 120 s. */
static void what_is_sent_on_gives_up_in_its_turn(void **state)
{
    (void)state;
    serve(109, "1", "      batch: 2\n      timeout: 9.5s\n", "100s, 100s, 101s, 101s");
    hand_near(of("rerouted"), 2);
    hand_near(of("dropped"), 1);
    hand_near(of("done"), 3);
    hand_near(of("latency_p99_s"), 19);
    hand_near(of("latency_mean_s"), (10 + 19 + 19) / 3.0);
}

/* Batches wait for 5 s.  One replica waits with a request of 100 s, the other with one of 103 s,
 * and one of them fails at 104 s: the first of the batch has then waited for 5 s at 105 s,
 * whichever of the two replicas that was.  Seeds say which node fails. */
static void a_batch_waits_for_the_first_that_came(void **state)
{
    static const char *const seeds[] = { "1", "2", "3", "4", "5", "6" };

    (void)state;
    for (int i = 0; i < 6; i++) {
        serve(104, seeds[i], "      batch: 4\n      batch_delay: 5s\n", "100s, 103s");
        hand_near(of("rerouted"), 1);
        hand_near(of("done"), 2);
        hand_near(of("latency_mean_s"), (15 + 12) / 2.0);
    }
}

/* Passes of one request.  At 109 s a failure sends on those of 100 s and 101 s; the other replica
 * is done with its own of 100 s at 110 s, and takes the one of 100 s and the two of 101 s. */
static void what_came_first_is_answered_first(void **state)
{
    (void)state;
    serve(109, "1", "      batch: 1\n", "100s, 100s, 101s, 101s");
    hand_near(of("rerouted"), 2);
    hand_near(of("latency_mean_s"), (10 + 20 + 29 + 39) / 4.0);
    hand_near(of("latency_p50_s"), 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_on_gives_up_in_its_turn),
        cmocka_unit_test(a_batch_waits_for_the_first_that_came),
        cmocka_unit_test(what_came_first_is_answered_first),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
