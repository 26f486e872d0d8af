/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_cores_test.c - language models on cores, against sums by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/laws/cores.h"
#include "models/laws/decode.h"
#include "models/laws/phase.h"
#include "models/laws/rollout.h"
#include "tests/aid/law_aids.h"

/* One socket of a Xeon 8480+: 240 GB/s, of which models read 0.62; 5.2 TF in
 * FP32, 10.5 in 16 bits, 21 in INT8. */
#define BPS (0.62 * 240e9)

static struct gang cores_of(const struct law_aids *aids, uint32_t cores)
{
    return (struct gang){
        .nodes = 1, .cores = cores,
        .cpu = catalogue_cpu(aids->catalogue, "xeon-platinum-8480+"),
    };
}

/* A token of one response reads all weights (6.74e9, of which 0.131e9 are a
 * table that is looked up) and 256 tokens of cache, 0.524 MB each. */
static void decoding_reads_weights_and_cache(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");
    struct gang gang = cores_of(&aids, 56);
    struct decode_replica replica = { .llm = llm, .precision = PRECISION_BF16, .gang = &gang,
                                      .tp = 1, .engine = DECODE_GRAPHS };
    double bytes = 2.0 * (6.738e9 - 32000.0 * 4096.0) + 256.0 * 524288.0;

    (void)state;
    assert_true(law_error(decode_step_s(&replica, 1.0, 256.0), bytes / BPS) <
                0.01);
    /* Half of the socket's cores draw all of its bandwidth. */
    gang = cores_of(&aids, 28);
    assert_true(law_error(decode_step_s(&replica, 1.0, 256.0), bytes / BPS) <
                0.01);
    gang = cores_of(&aids, 14);
    assert_true(law_error(decode_step_s(&replica, 1.0, 256.0),
                          2.0 * bytes / BPS) < 0.01);
    /* Of many responses the arithmetic decides: 2 x 6.74e9 a token. */
    gang = cores_of(&aids, 56);
    assert_true(law_error(decode_step_s(&replica, 512.0, 1.0),
                          512.0 * 2.0 * 6.738e9 / 10.5e12) < 0.01);
    law_aids_free(&aids);
}

/* 64 sequences of 512 tokens: 2 x N x tokens, attention aside. */
static void passes_take_the_rate_of_their_precision(void **state)
{
    static const struct { enum precision precision; double rate; } row[] = {
        { PRECISION_FP32, 5.2e12 }, { PRECISION_BF16, 10.5e12 },
        { PRECISION_FP16, 10.5e12 }, { PRECISION_INT8, 21e12 },
    };
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct gang gang = cores_of(&aids, 56);
        double s = cores_forward_step(llm, row[i].precision, &gang, 64.0,
                                      512.0).step_s;

        assert_true(law_error(s, 2.0 * 6.738e9 * 32768.0 / row[i].rate) < 0.02);
    }
    law_aids_free(&aids);
}

/* BERT-base has 109e6 parameters, of which 30,522 x 768 = 23,440,896 are words that are looked
 * up.  A token costs 2 x 85,559,104 operations in the layers, and 4 x 12 x 768 x 128 for the 128
 * tokens that it attends to: 175,836,800; 64 x 128 of them take 1.44045e12.  One sequence of
 * one token reads 85,559,104 weights of 2 bytes, at 0.62 of the bandwidth. */
static void an_encoder_looks_its_words_up(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "bert-base");
    struct gang gang = cores_of(&aids, 56);

    (void)state;
    assert_true(law_error(cores_forward_step(llm, PRECISION_BF16, &gang, 64.0, 128.0).step_s,
                          1.44045e12 / 10.5e12) < 0.001);
    assert_true(law_error(cores_forward_step(llm, PRECISION_BF16, &gang, 1.0, 1.0).step_s,
                          85559104.0 * 2.0 / BPS) < 0.001);
    law_aids_free(&aids);
}

/* Full training takes three passes of arithmetic, four with recomputing;
 * adapters two, and three. */
static void training_counts_its_passes(void **state)
{
    static const struct {
        enum train_method method;
        enum recompute recompute;
        double passes;
    } row[] = {
        { TRAIN_FULL, RECOMPUTE_NONE, 3.0 }, { TRAIN_FULL, RECOMPUTE_FULL, 4.0 },
        { TRAIN_LORA, RECOMPUTE_NONE, 2.0 }, { TRAIN_LORA, RECOMPUTE_FULL, 3.0 },
    };
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");
    struct gang gang = cores_of(&aids, 56);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct train_shape shape = {
            .llm = llm, .method = row[i].method, .precision = PRECISION_BF16,
            .recompute = row[i].recompute, .sequence_tokens = 256.0,
            .micro_batch = 8.0, .tp = 2, .pp = 2, .zero = 3,
        };
        double pass_s = 2.0 * 6.738e9 * 8192.0 / 10.5e12;
        struct step_time step = train_step(&shape, &gang, 32.0);

        assert_true(law_error(step.compute_s, row[i].passes * pass_s) < 0.06);
        assert_true(step.optimizer_s > 0.0);
        assert_true(step.mfu == 0.0);
        /* Nothing is divided on one node: states of all parameters. */
        assert_true(cores_train_memory(&shape).total > 2.0 * 6.7e9);
    }
    law_aids_free(&aids);
}

static void a_rollout_on_cores_is_one_engine_in_host_memory(void **state)
{
    struct law_aids aids = law_aids_new();
    struct rollout_shape shape = {
        .llm = catalogue_llm(aids.catalogue, "qwen2.5-1.5b"),
        .precision = PRECISION_BF16, .tp = 1, .responses = 256.0,
        .responses_per_prompt = 1.0, .prompt_tokens = 100.0,
        .response_mean_tokens = 100.0, .response_cv = 0.5,
        .response_max_tokens = 400.0, .host_bytes = 100e9,
    };
    struct phase_law law = { .kind = LAW_ROLLOUT, .rollout = shape };
    struct gang gang = cores_of(&aids, 56);
    double roomy_s = phase_seconds(&law, &gang, 0.5);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);

    (void)state;
    assert_true(roomy_s > 0.0 && roomy_s < 1e6);
    assert_true(law_error(plan.rates.core_s, 56.0 * roomy_s) < 1e-9);
    assert_true(plan.gpu_busy_fraction == 0.0 && plan.mfu == 0.0);
    assert_string_equal(plan.bottleneck, "cpu");
    /* Room for four responses: the weights are read far more often. */
    law.rollout.host_bytes = memory_weight_bytes(shape.llm, PRECISION_BF16) +
                             4.5 * 300.0 *
                                 memory_kv_bytes_per_token(shape.llm);
    assert_true(phase_seconds(&law, &gang, 0.5) > 4.0 * roomy_s);
    assert_true(cores_batch_max(shape.llm, PRECISION_BF16, 300.0,
                                law.rollout.host_bytes) == 4.0);
    law_aids_free(&aids);
}

/* What a loader takes of the cores is not there for the model. */
static void preparing_and_computing_take_turns(void **state)
{
    struct law_aids aids = law_aids_new();
    struct phase_law law = {
        .kind = LAW_TRAIN, .sequences = 8.0, .repeats = 10,
        .train = { .llm = catalogue_llm(aids.catalogue, "qwen2.5-0.5b"),
                   .method = TRAIN_LORA, .precision = PRECISION_BF16,
                   .sequence_tokens = 256.0, .micro_batch = 8.0, .tp = 1,
                   .pp = 1 },
    };
    struct gang gang = cores_of(&aids, 56);
    double alone_s = phase_seconds(&law, &gang, 0.5);

    (void)state;
    law.item.core_s = 70.0;             /* a sequence; 80 of them: 5,600 */
    assert_true(law_error(phase_seconds(&law, &gang, 0.5),
                          alone_s + 5600.0 / 56.0 / 1.05) < 1e-9);
    law_aids_free(&aids);
}

static void without_a_rate_nothing_runs(void **state)
{
    struct law_aids aids = law_aids_new();
    struct cpu_type dumb = { .name = "dumb", .cores = 8 };
    struct phase_law law = {
        .kind = LAW_FORWARD, .sequences = 1.0,
        .train = { .llm = catalogue_llm(aids.catalogue, "bert-base"),
                   .precision = PRECISION_FP32, .sequence_tokens = 128.0 },
    };
    struct gang gang = cores_of(&aids, 8);

    (void)state;
    assert_true(phase_can_run(&law, &gang));
    gang.cpu = &dumb;
    assert_false(phase_can_run(&law, &gang));
    gang.cpu = NULL;
    assert_false(phase_can_run(&law, &gang));
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_reads_weights_and_cache),
        cmocka_unit_test(passes_take_the_rate_of_their_precision),
        cmocka_unit_test(an_encoder_looks_its_words_up),
        cmocka_unit_test(training_counts_its_passes),
        cmocka_unit_test(a_rollout_on_cores_is_one_engine_in_host_memory),
        cmocka_unit_test(preparing_and_computing_take_turns),
        cmocka_unit_test(without_a_rate_nothing_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
