/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_loads_test.c - replicas that load their weights at one time, over links that they
 * share, worked out by hand.
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

#define SERVICE(name, model, gpu) \
    "    - {name: " name ", model: " model ", gpu: {tp: 1, types: [" gpu "], cores: 2},\n" \
    "       replicas: {min: 1, max: 1}, batch: 1, times: {batch: 1s}, requests: {arrival:\n" \
    "         {process: fixed, times: [0s]}, prompt: 100, for: 1h}}\n"

static struct program program;

/* Two replicas on one node and one on another, each node with a NIC of 1.125 GB/s. */
static void load(const char *storage)
{
    char yaml[2500];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: t4, count: 2}, cpu: {type: epyc-7742,\n"
             "       sockets: 1}, memory: 256GB, nics: {type: ethernet-10}}\n"
             "    - {name: b, count: 1, gpus: {type: l40s, count: 1}, cpu: {type: epyc-7742,\n"
             "       sockets: 1}, memory: 256GB, nics: {type: ethernet-10}}\n"
             "  storage: {bandwidth: %s}\nworkload:\n  services:\n"
             SERVICE("one", "bert-base, precision: int8", "t4")
             SERVICE("two", "bert-large, precision: int8", "t4")
             SERVICE("three", "bert-large, precision: fp16", "l40s")
             "policies: [fcfs]\noutput: {plots: []}\n", storage);
    hand_run(&program, yaml, NULL);
}

/* Seconds of the load: an engine takes 64 s to start, and a pass 1 s. */
static double load_s(const char *service)
{
    return hand_cell(&program, "services.csv", "fcfs", service, "latency_mean_s") - 65;
}

/* A storage of 100 GB/s never limits: one and two share a NIC until one is done, then two has it
 * alone, as three has its own.  That tells their bytes, in GB.  At 1.8 GB/s three has what the
 * NIC of the others leaves, 0.675 GB/s; once one is done, two and three have 0.9 GB/s each, less
 * than a NIC; what then remains has a NIC alone.  At 0.18 GB/s storage alone limits. */
static void loads_share_storage_and_nics(void **state)
{
    (void)state;
    load("100GB/s");
    double one = load_s("one") * 1.125 / 2, two = load_s("two") * 1.125 - one;
    double three = load_s("three") * 1.125;
    assert_true(fabs(three - 0.67) < 1e-3);             /* 335 million of two bytes */

    load("1.8GB/s");
    double first_s = one / 0.5625, second_s = first_s + (two - one) / 0.9;
    double left = three - 0.675 * first_s - (two - one);
    assert_true(fabs(load_s("one") - first_s) < 2e-7);
    assert_true(fabs(load_s("two") - second_s) < 2e-7);
    assert_true(fabs(load_s("three") - second_s - left / 1.125) < 2e-7);

    load("0.18GB/s");
    assert_true(fabs(load_s("one") - one / 0.06) < 2e-6);
    assert_true(fabs(load_s("two") - (one / 0.06 + (two - one) / 0.09)) < 2e-6);
    assert_true(fabs(load_s("three") - (one + two + three) / 0.18) < 2e-6);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_share_storage_and_nics),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
