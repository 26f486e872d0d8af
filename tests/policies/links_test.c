/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * links_test.c - flows of unlike units on one link: what a phase counts in runs and a
 * copy in bytes must not decide who gets the link.
 *
 * `wide` trains over two nodes and is bound by their NICs.  `small` arrives later, on
 * the rest of a node, and loads its model over a NIC that wide fills.  What half of the
 * link takes is measured by another run, in which small is alone and has two NICs: no
 * figure of the product's laws stands here.  Then what is told to hold back training, step by
 * step: waits for data, exchanges that are late, or neither.
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
#include "tests/aid/family_aid.h"

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
static void run_placed(const char *placement, const char *mix, const char *times, int nics,
                       const char *fidelity)
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
             "policies: [{policy: fcfs, blocking: skip, placement: %s}]\n"
             "output: {plots: [], tables: [summary, jobs, phases]}\n", fidelity, nics, times,
             mix, placement);
    program_write(&program, "e.yaml", text);
    char *said;
    int status = program_say(&program, words, &said);
    if (status != 0)
        print_error("%s\n", said);
    free(said);
    assert_int_equal(status, 0);
}

static void run(const char *mix, const char *times, int nics, const char *fidelity)
{
    run_placed("pack", mix, times, nics, fidelity);
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

/* Seconds from the first start of a training phase to the last end of one; each job has
 * ten, of two steps. */
static double trained_s(int jobs)
{
    double from = INFINITY, until = 0;

    for (int n = 0; n < 10 * jobs; n++) {
        from = fmin(from, hand_phase(&program, "fcfs", "train", n, "start_s"));
        until = fmax(until, hand_phase(&program, "fcfs", "train", n, "end_s"));
    }
    return until - from;
}

/* Llama-3-8B with TP 8 over both nodes: a step of 16 sequences of 4096 tokens sums 4096 x
 * 4096 x 2 bytes in each of 32 layers, six times as it computes the forward pass again:
 * 16 x 32 x 6 x 33.55 MB = 103.1 GB leave each node.  A NIC of 25 Gb/s carries 2.8125 GB/s
 * (90% of 3.125): 36.65 s a step.  Two jobs share it, and compute meanwhile.  A job alone
 * computes between. */
static void tensor_parallel_jobs_share_a_nic(void **state)
{
    static const char both[] =
        "    - {recipe: sft, name: both, model: llama-3-8b, zero: 1, tp: 8, recompute: full,\n"
        "       sequence: 4096, batch: 16, micro_batch: 1, steps: 20, train: {gpus: 8}}\n";
    double nic_s = 20 * 16.0 * 32 * 6 * 4096 * 4096 * 2 / 2.8125e9;

    (void)state;
    run_placed("spread", both, "0s, 0s", 1, "fluid");
    assert_true(fabs(trained_s(2) / (2 * nic_s) - 1) < 1e-3);
    run_placed("spread", both, "0s", 1, "fluid");
    assert_true(trained_s(1) > nic_s && trained_s(1) < 1.2 * nic_s);
}

struct held {
    const char *by;             /* what is told */
    const char *arrival, *policy, *nics, *storage, *gpus, *images;
};

/* Of two jobs on four nodes each training phase is held back by that. */
static void is_held_back(const struct held *held)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t phases = 0;
    char text[1500];

    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\nfidelity: step\ncluster: {nodes: [{name: "
             "a, count: 4, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, "
             "memory: 2TB, nics: {%s}}], storage: {bandwidth: %s}}\nworkload: {arrival: {process: "
             "%s}, jobs: 2, mix: [{recipe: multimodal, model: qwen2.5-7b, batch: 64, sequence: "
             "1024, steps: 40, checkpoint_every: 0, zero: 3, train: {gpus: %s, cores: 16}, "
             "loader: {kind: image, size: 8e5, per_sequence: %s}}]}\npolicies: [%s]\n",
             held->nics, held->storage, held->arrival, held->gpus, held->images, held->policy);
    if (!world_open(&world, text))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    assert_true(family_run(&world, 0, &run));
    for (struct rows rows = rows_of(run.phases); rows_next(&rows); phases++)
        if (!rows_are(&rows, "bottleneck", held->by))
            fail_msg("%s, %s: not held back by %s: %.160s", held->nics, held->storage, held->by,
                     rows.line);
    assert_int_equal(phases, 20);
    family_drop(&run);
    world_close(&world);
}

/* 64 sequences of 16 pictures of 800 kB are 819 MB a step, or 51 MB at one picture.  Over 10 Gb/s
 * the gradients of a step take a minute, so that at 10 MB/s there are waits for data in the first
 * phase alone, and shorter ones; at 4 MB/s they are longer.  The second job comes ten hours after
 * the first one.  Spread over the same nodes at the same time, the last two exchange at once over
 * links that would be fast enough for one. */
static void a_step_waits_for_data_or_for_other_nodes(void **state)
{
#define APART "fixed, every: 10h"
#define SLOW_NIC "type: ethernet-10"
    static const struct held held[] = {
        { "gpu", APART, "fcfs", "type: ib-hdr", "40GB/s", "8", "1" },
        { "storage", APART, "fcfs", "type: ib-hdr", "100MB/s", "8", "16" },
        { "network", APART, "fcfs", SLOW_NIC, "40GB/s", "16", "1" },
        { "storage", APART, "fcfs", SLOW_NIC, "4MB/s", "16", "16" },
        { "network", APART, "fcfs", SLOW_NIC, "10MB/s", "16", "16" },
        { "gpu", APART, "{policy: fcfs, placement: spread}", "type: ib-ndr, count: 4", "40GB/s",
          "16", "1" },
        { "network", "all_at_once", "{policy: fcfs, placement: spread}", "type: ib-ndr, count: 4",
          "40GB/s", "16", "1" },
    };

    (void)state;
    for (size_t h = 0; h < sizeof held / sizeof *held; h++)
        is_held_back(&held[h]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_beside_a_phase_gets_half_of_a_link),
        cmocka_unit_test(a_copy_beside_bursts_gets_half_of_a_link),
        cmocka_unit_test(tensor_parallel_jobs_share_a_nic),
        cmocka_unit_test(a_step_waits_for_data_or_for_other_nodes),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
