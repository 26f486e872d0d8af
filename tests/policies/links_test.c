/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * links_test.c - flows of unlike units on one link: what a phase counts in runs and a
 * copy in bytes must not decide who gets the link.
 *
 * `wide` trains over two nodes and is bound by their NICs.  `small` arrives later, on
 * the rest of a node, and loads its model over a NIC that wide fills.  What half of the
 * link takes is measured by another run, in which small is alone and has two NICs: no
 * figure of the product's laws stands here.
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

#include "tests/aid/program.h"

#define WIDE \
    "    - {recipe: sft, name: wide, model: qwen2.5-7b, zero: 1, recompute: selective,\n" \
    "       sequence: 512, batch: 12, micro_batch: 1, steps: 200, train: {gpus: 12}}\n"
#define SMALL \
    "    - {recipe: lora, name: small, model: qwen2.5-7b, sequence: 512, batch: 16,\n" \
    "       steps: 20, train: {gpus: 4}}\n"

static struct program program;

/* Completion time of the job of a kind, which must be the only one, in seconds. */
static double jct_of(const char *kind)
{
    char *text = program_read(program_path(&program, "out/jobs.csv")), wanted[32];
    double jct = NAN;

    assert_non_null(text);
    snprintf(wanted, sizeof wanted, ",%s,", kind);
    char *at = strstr(text, wanted);
    assert_non_null(at);
    assert_null(strstr(at + 1, wanted));
    assert_int_equal(sscanf(at + strlen(wanted), "%*f,%*f,%*f,%*f,%lf", &jct), 1);
    free(text);
    return jct;
}

/* Runs jobs of `mix` at `times` on nodes of `nics` NICs.  With this seed the first job is the
 * wide one, where the mix has both kinds. */
static void run(const char *mix, const char *times, int nics, const char *fidelity)
{
    char text[4096];
    const char *words[] = { "run", program_path(&program, "e.yaml"), "-q", "-o",
                            program_path(&program, "out"), NULL };

    snprintf(text, sizeof text,
             "experiment: e\nseed: 6\nseeds: 1\nfidelity: %s\ncluster:\n  nodes:\n"
             "    - {name: gpu, count: 2, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB,\n"
             "       nics: {type: ethernet-25, count: %d}}\n"
             "  storage: {bandwidth: 40GB/s}\n"
             "workload:\n  arrival: {process: fixed, times: [%s]}\n  mix:\n%s"
             "policies: [{policy: fcfs, blocking: skip}]\n"
             "output: {plots: [], tables: [summary, jobs]}\n", fidelity, nics, times, mix);
    program_write(&program, "e.yaml", text);
    char *said;
    int status = program_say(&program, words, &said);
    if (status != 0)
        print_error("%s\n", said);
    free(said);
    assert_int_equal(status, 0);
}

/* free: the part of wide's time in which its link is free at most. */
static void check_halves(const char *fidelity, double free_part)
{
    run(SMALL, "300s", 1, fidelity);
    double alone = jct_of("small");
    run(SMALL, "300s", 2, fidelity);
    double half = alone - jct_of("small");      /* half of what its bytes take */
    run(WIDE, "0s", 1, fidelity);
    double wide = jct_of("wide");
    run(WIDE SMALL, "0s, 300s", 1, fidelity);

    assert_true(half > 2);
    assert_true(jct_of("small") - alone < 2.001 * half);
    assert_true(jct_of("small") - alone > (1.999 - 2 * free_part) * half);
    /* Small took half of the link for as long as its bytes take on half. */
    assert_true(jct_of("wide") - wide > 1.8 * half);
    assert_true(jct_of("wide") - wide < 2.01 * half);
}

static void a_copy_beside_a_phase_gets_half_of_a_link(void **state)
{
    (void)state;
    check_halves("fluid", 0);
}

static void a_copy_beside_bursts_gets_half_of_a_link(void **state)
{
    (void)state;
    check_halves("step", 0.05);      /* no burst while a step computes */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_beside_a_phase_gets_half_of_a_link),
        cmocka_unit_test(a_copy_beside_bursts_gets_half_of_a_link),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
