/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_train_test.c - step times, by hand and against published iterations.
 *
 * None of the published rows here chose a constant of the law; those came
 * from other suites (see models/validation/README.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/laws/train.h"
#include "tests/aid/law_aids.h"

#define HDR_NODE_BPS (8.0 * 185e9 / 8.0)    /* 8 NICs of 185 Gb/s */

static struct train_shape small_shape(const struct llm *llm)
{
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .zero = 1, .recompute = RECOMPUTE_SELECTIVE,
        .sequence_tokens = 2048.0, .micro_batch = 1.0, .tp = 1, .pp = 1,
    };
    return shape;
}

struct korthikanti {
    const char *name;
    uint32_t pp, vp;
    double micro_batch, batch;
    double full_s, selective_s;
};

/* Korthikanti et al. 2022, table 5, TP 8 on A100-80.  175B and 530B ran with
 * three chunks a stage. */
static void iterations_match_korthikanti_table_5(void **state)
{
    static const struct korthikanti row[] = {
        { "gpt-22b", 1, 1, 4.0, 4.0, 1.42, 1.10 },
        { "gpt-3-175b", 8, 3, 1.0, 64.0, 18.13, 13.75 },
        { "gpt-530b", 35, 3, 1.0, 280.0, 49.05, 37.83 },
        { "gpt-1t", 64, 1, 1.0, 512.0, 94.42, 71.49 },
    };
    struct law_aids aids = law_aids_new();
    double sum = 0.0;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct gang gang = law_gang(&aids, "a100-80", 8 * row[i].pp,
                                    row[i].pp, HDR_NODE_BPS);
        struct train_shape shape =
            small_shape(catalogue_llm(aids.catalogue, row[i].name));
        shape.zero = 0;
        shape.tp = 8;
        shape.pp = row[i].pp;
        shape.vp = row[i].vp;
        shape.stack = STACK_MEGATRON;
        shape.sequence_parallel = true;
        shape.micro_batch = row[i].micro_batch;
        double selective = law_error(
            train_step(&shape, &gang, row[i].batch).step_s,
            row[i].selective_s);
        shape.recompute = RECOMPUTE_FULL;
        shape.sequence_parallel = false;
        double full = law_error(train_step(&shape, &gang, row[i].batch).step_s,
                                row[i].full_s);
        assert_true(selective < 0.06 && full < 0.06);
        sum += selective + full;
    }
    assert_true(sum / 8.0 < 0.04);
    law_aids_free(&aids);
}

struct narayanan {
    double params;
    uint32_t layers, hidden, heads, tp, pp, gpus;
    uint32_t vp;
    double micro_batch, batch, teraflops;
};

/* Narayanan et al. 2021, table 1: operations a second and GPU, recomputing
 * counted.  Micro batches and chunks of a stage: Megatron-LM 79a3bb6,
 * examples/sc21/run_table_1.sh. */
static void weak_scaling_matches_narayanan_table_1(void **state)
{
    static const struct narayanan row[] = {
        { 1.7e9, 24, 2304, 24, 1, 1, 32, 1, 16, 512, 137 },
        { 3.6e9, 30, 3072, 32, 2, 1, 64, 1, 16, 512, 138 },
        { 7.5e9, 36, 4096, 32, 4, 1, 128, 1, 16, 512, 142 },
        { 18.4e9, 40, 6144, 48, 8, 1, 256, 1, 8, 1024, 135 },
        { 39.1e9, 48, 8192, 64, 8, 2, 512, 1, 4, 1536, 138 },
        { 76.1e9, 60, 10240, 80, 8, 4, 1024, 3, 2, 1792, 140 },
        { 145.6e9, 80, 12288, 96, 8, 8, 1536, 2, 2, 2304, 148 },
        { 310.1e9, 96, 16384, 128, 8, 16, 1920, 2, 1, 2160, 155 },
        { 529.6e9, 105, 20480, 128, 8, 35, 2520, 3, 1, 2520, 163 },
        { 1008.0e9, 128, 25600, 160, 8, 64, 3072, 1, 1, 3072, 163 },
    };
    struct law_aids aids = law_aids_new();
    double sum = 0.0;

    (void)state;
    for (size_t i = 0; i < 10; i++) {
        const struct narayanan *r = &row[i];
        struct llm llm = {
            .name = "gpt", .layers = r->layers, .hidden = r->hidden,
            .heads = r->heads, .kv_heads = r->heads,
            .head_dim = r->hidden / r->heads, .ffn = 4 * r->hidden,
            .ffn_matrices = 2, .vocab = 51200, .kv_width = 2 * r->hidden,
            .params = r->params, .params_active = r->params,
        };
        struct gang gang = law_gang(&aids, "a100-80", r->gpus, r->gpus / 8,
                                    HDR_NODE_BPS);
        struct train_shape shape = small_shape(&llm);
        shape.zero = 0;
        shape.recompute = RECOMPUTE_FULL;
        shape.tp = r->tp;
        shape.pp = r->pp;
        shape.vp = r->vp;
        shape.micro_batch = r->micro_batch;
        shape.stack = STACK_MEGATRON;
        double h = r->hidden;
        double l = r->layers;
        double work = 96.0 * r->batch * 2048.0 * l * h * h *
                      (1.0 + 2048.0 / (6.0 * h) + 51200.0 / (16.0 * l * h));
        double step_s = train_step(&shape, &gang, r->batch).step_s;
        double error = law_error(work / step_s / r->gpus / 1e12,
                                 r->teraflops);
        assert_true(error < 0.09);
        sum += error;
    }
    assert_true(sum / 10.0 < 0.05);
    law_aids_free(&aids);
}

/* llm-foundry (MPT-7B is 32 x 4096 like Llama-2-7B): 64 x A100-40, full
 * recomputing, micro batch 18: 10.06 s; 128 x H100, none, micro batch 6:
 * 1.17 s.  One constant for both generations is too slow on the first and too
 * fast on the second. */
static void sharded_7b_steps_are_within_a_fifth_of_llm_foundry(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue,
                                                         "llama-2-7b"));
    struct gang a100 = law_gang(&aids, "a100-40", 64, 8, HDR_NODE_BPS);
    struct gang h100 = law_gang(&aids, "h100", 128, 16, 8.0 * 375e9 / 8.0);

    (void)state;
    shape.zero = 3;
    shape.micro_batch = 6.0;
    assert_true(law_error(train_step(&shape, &h100, 768.0).step_s, 1.1731) <
                0.20);
    shape.micro_batch = 18.0;
    shape.recompute = RECOMPUTE_FULL;
    assert_true(law_error(train_step(&shape, &a100, 1152.0).step_s,
                          10.0584) < 0.20);
    law_aids_free(&aids);
}

/* Parts add up, and 1F1B's bubble is p - 1 of the micro batches: with m of
 * them (p - 1) / m of their time.  Beside it stages wait for the last, which
 * has the output layer: a twentieth of a stage of twelve layers. */
static void parts_of_a_step_add_up(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue,
                                                         "gpt-3-175b"));
    struct gang gang = law_gang(&aids, "a100-80", 64, 8, HDR_NODE_BPS);

    (void)state;
    shape.tp = 8;
    shape.pp = 8;
    struct step_time t = train_step(&shape, &gang, 64.0);
    double parts = t.compute_s + t.comm_exposed_s + t.bubble_s + t.launch_s +
                   t.optimizer_s;
    assert_true(law_error(parts, t.step_s) < 1e-12);
    double busy = t.step_s - t.bubble_s - t.optimizer_s;
    assert_true(t.bubble_s > busy * 7.0 / 64.0 * 0.99);
    assert_true(t.bubble_s < busy * (7.0 / 64.0 + 0.05));
    assert_true(t.mfu > 0.0 && t.mfu <= t.hfu && t.hfu < 1.0);
    assert_true(t.busy_fraction > 0.0 && t.busy_fraction < 1.0);
    law_aids_free(&aids);
}

/* GPT 22B, 4 sequences of 2048 on 8 A100: 72 B s L h^2 (1 + s/6h + V/12Lh) =
 * 1.1437e15 operations; in the 1.10 s of Korthikanti et al., table 5, 41.6% of
 * 8 x 312e12 (they print 41.5%).  Full recomputation makes it 96 B s L h^2 (1
 * + s/6h + V/16Lh); selective adds one forward pass of scores and their use,
 * 4 B s^2 h a layer: 72 B s L h^2 (1 + 2s/9h + V/12Lh). */
static void utilization_follows_its_definitions(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, HDR_NODE_BPS);
    struct train_shape shape =
        small_shape(catalogue_llm(aids.catalogue, "gpt-22b"));
    double s = 2048.0, h = 6144.0, l = 48.0, v = 51200.0;
    double base = 4.0 * s * l * h * h;
    double model = 72.0 * base * (1.0 + s / (6.0 * h) + v / (12.0 * l * h));
    double full = 96.0 * base * (1.0 + s / (6.0 * h) + v / (16.0 * l * h));
    double part = 72.0 * base *
                  (1.0 + 2.0 * s / (9.0 * h) + v / (12.0 * l * h));
    double peak = 8.0 * 312e12;

    (void)state;
    shape.tp = 8;
    shape.micro_batch = 4.0;
    shape.stack = STACK_MEGATRON;
    struct step_time t = train_step(&shape, &gang, 4.0);
    assert_true(law_error(t.flops, model) < 1e-3);
    assert_true(law_error(t.flops / (1.10 * peak), 0.415) < 0.005);
    assert_true(law_error(t.mfu, model / (t.step_s * peak)) < 1e-3);
    assert_true(law_error(t.hfu, part / (t.step_s * peak)) < 1e-3);
    shape.recompute = RECOMPUTE_FULL;
    t = train_step(&shape, &gang, 4.0);
    assert_true(law_error(t.mfu, model / (t.step_s * peak)) < 1e-3);
    assert_true(law_error(t.hfu, full / (t.step_s * peak)) < 1e-3);
    shape.recompute = RECOMPUTE_NONE;
    t = train_step(&shape, &gang, 4.0);
    assert_true(t.hfu == t.mfu);
    law_aids_free(&aids);
}

/* LoRA: 2N forward, 2N back to activations, and 6 of each adapter weight. */
static void frozen_weights_have_no_gradient_to_count(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");
    struct gang gang = law_gang(&aids, "a100-80", 1, 1, 0.0);
    struct train_shape shape = small_shape(llm);
    double scores = 12.0 * 32.0 * 4096.0 * 2048.0;

    (void)state;
    shape.method = TRAIN_LORA;
    struct step_time t = train_step(&shape, &gang, 1.0);
    double hand = 2048.0 * (4.0 * llm->params +
                            6.0 * memory_lora_params(llm, 16.0) + scores);
    assert_true(law_error(t.flops, hand) < 1e-9);
    law_aids_free(&aids);
}

static void steps_shorten_with_gpus_and_bandwidth(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue,
                                                         "llama-2-13b"));
    double last = 1e18;

    (void)state;
    for (uint32_t gpus = 8; gpus <= 256; gpus *= 2) {
        struct gang slow = law_gang(&aids, "a100-80", gpus, gpus / 8, 3e9);
        struct gang fast = law_gang(&aids, "a100-80", gpus, gpus / 8,
                                    HDR_NODE_BPS);
        double slow_s = train_step(&shape, &slow, 256.0).step_s;
        double fast_s = train_step(&shape, &fast, 256.0).step_s;
        assert_true(fast_s <= slow_s);
        assert_true(fast_s < last);
        assert_true(train_step(&shape, &fast, 512.0).step_s > fast_s);
        last = fast_s;
    }
    law_aids_free(&aids);
}

static void adapters_train_faster_and_send_less(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue,
                                                         "qwen2.5-7b"));
    struct gang gang = law_gang(&aids, "a100-80", 16, 2, HDR_NODE_BPS);

    (void)state;
    struct step_time full = train_step(&shape, &gang, 64.0);
    shape.method = TRAIN_LORA;
    struct step_time lora = train_step(&shape, &gang, 64.0);
    shape.method = TRAIN_QLORA;
    struct step_time qlora = train_step(&shape, &gang, 64.0);
    assert_true(lora.step_s < full.step_s);
    assert_true(lora.step_s > 0.6 * full.step_s);
    assert_true(qlora.step_s > lora.step_s);
    assert_true(lora.inter_bytes_per_node <
                0.02 * full.inter_bytes_per_node);
    law_aids_free(&aids);
}

/* 1024 sequences of 1024 tokens of a 7.6B: 2 x 7.6e9 x 2^20 = 1.6e16 and a
 * little attention, over 8 x 0.86 x 262e12: 9.0 s, and less than a training
 * step over the same. */
static void forward_passes_cost_a_third_of_training(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "qwen2.5-7b");
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);
    struct train_shape shape = small_shape(llm);

    (void)state;
    shape.sequence_tokens = 1024.0;
    shape.micro_batch = 8.0;
    double forward = forward_step(llm, PRECISION_BF16, &gang, 1024.0,
                                  1024.0).step_s;
    double training = train_step(&shape, &gang, 1024.0).step_s;
    assert_true(forward > 9.0 && forward < 12.0);
    assert_true(forward > 0.28 * training && forward < 0.40 * training);
    law_aids_free(&aids);
}

static double exposed(const struct train_shape *shape,
                      const struct gang *gang, double batch)
{
    return train_step(shape, gang, batch).comm_exposed_s;
}

/* Sixteen nodes of eight H100 with 370 GB/s a node; Llama-3-8B with TP 8
 * across each node, one sequence of 131,072 tokens over CP 16.  Of each layer
 * a GPU has one head of 128 for keys and one for values: 131072 x 2 x 128 x 2
 * = 67.1 MB gathered, 15/16 of it from other nodes at 370 / 8 GB/s: 1.36 ms,
 * and 15 x 9.7 us.  Three such exchanges a layer (forward, backward, and
 * gradients back), 32 layers: 0.145 s.  Round a ring, a block of 8192 tokens
 * takes 0.10 ms, while attention over it computes 4 x 4096 x 8192 x 65536 / 8
 * / 16 = 69e9 operations, 0.15 ms at most of the sustained rate: what is left
 * is the last hop of the gradients and the sums, under 1 ms a layer. */
static void context_parallelism_pays_for_keys_and_values(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue,
                                                         "llama-3-8b"));
    struct gang gang = law_gang(&aids, "h100", 128, 16, 370e9);

    (void)state;
    shape.recompute = RECOMPUTE_NONE;
    shape.sequence_tokens = 131072.0;
    shape.tp = 8;
    shape.cp = 16;
    shape.method = TRAIN_LORA;          /* hardly any gradients to sum */
    /* As many tokens on each GPU, whole sequences: nothing to exchange. */
    struct train_shape whole = shape;
    whole.cp = 1;
    whole.sequence_tokens = 8192.0;
    double gathered = exposed(&shape, &gang, 1.0) -
                      exposed(&whole, &gang, 16.0);
    assert_true(law_error(gathered,
                          32.0 * 3.0 * (67.1e6 * 15.0 / 16.0 / 46.25e9 +
                                        15.0 * 9.7e-6)) < 0.02);
    shape.stack = whole.stack = STACK_ENGINE;
    double ring = exposed(&shape, &gang, 1.0) - exposed(&whole, &gang, 16.0);
    assert_true(ring > 32.0 * 0.9e-4 && ring < 32.0 * 1e-3);
    /* All of it is on the NICs: eight GPUs a node. */
    double bytes = train_step(&shape, &gang, 1.0).inter_bytes_per_node -
                   train_step(&whole, &gang, 16.0).inter_bytes_per_node;
    assert_true(law_error(bytes, 32.0 * 3.0 * 8.0 * 67.1e6 * 15.0 / 16.0) <
                0.01);
    /* A network ten times slower hides no longer behind a block: 0.91 ms a
     * hop forward, less 0.15, and twice that back. */
    gang.inter_bps = 37e9;
    assert_true(exposed(&shape, &gang, 1.0) - exposed(&whole, &gang, 16.0) >
                32.0 * 15.0 * (0.75e-3 + 1.5e-3));
    law_aids_free(&aids);
}

/* Llama 3 405B (arXiv 2407.21783, table 4), TP 8, PP 16, eight chunks a stage
 * (one layer each, section 3.3.2), no recomputing, 16,384 H100 with one 400
 * Gb/s port each: TFLOP/s a GPU of 8,192 tokens with CP 1, and of 131,072 with
 * CP 16.  No constant was chosen on these rows.  How operations were counted
 * is not said; with the masked half left out the law is off by one factor at
 * both lengths, so what is left of it is not the exchange. */
static void long_sequences_are_as_far_off_as_short_ones(void **state)
{
    static const struct { uint32_t gpus, cp; double tokens, batch, tflops; }
    row[] = {
        { 8192, 1, 8192.0, 2048.0, 430.0 },
        { 16384, 1, 8192.0, 2048.0, 400.0 },
        { 16384, 16, 131072.0, 128.0, 380.0 },
    };
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-3.1-405b");
    double ratio[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct train_shape shape = small_shape(llm);
        struct gang gang = law_gang(&aids, "h100", row[i].gpus,
                                    row[i].gpus / 8, 370e9);

        shape.recompute = RECOMPUTE_NONE;
        shape.sequence_tokens = row[i].tokens;
        shape.tp = 8;
        shape.pp = 16;
        shape.vp = 8;
        shape.cp = row[i].cp;
        shape.stack = STACK_ENGINE;
        shape.sequence_parallel = true;
        struct step_time step = train_step(&shape, &gang, row[i].batch);
        double tokens = row[i].batch * row[i].tokens;
        double causal = 3.0 * tokens *
                        (2.0 * llm->params + 2.0 * llm->layers *
                                                 (double)llm->hidden *
                                                 row[i].tokens);
        double tflops = causal / step.step_s / row[i].gpus / 1e12;

        ratio[i] = tflops / row[i].tflops;
        printf("405B, %u H100, %.0f tokens, CP %u: %.1f%% MFU; masked half "
               "left out %.0f TFLOP/s, published %.0f\n", row[i].gpus,
               row[i].tokens, row[i].cp, 100.0 * step.mfu, tflops,
               row[i].tflops);
        assert_true(ratio[i] > 1.1 && ratio[i] < 1.3);
    }
    assert_true(law_error(ratio[2], ratio[1]) < 0.03);
    law_aids_free(&aids);
}

/* Llama-3-8B (32 layers, hidden 4096) in micro batches of one sequence of 2048 tokens: what a
 * GPU works on is 2048 x 4096 x 2 = 16.8 MB.  Gradients of adapters are left out: they are
 * the same for any number of sequences, so the difference of two batches has none.
 * Tensor parallelism over two nodes of four: four all-reduces a layer, 128, each of which
 * sends 2 x 1/2 of 16.8 MB from node to node: 2.15 GB for each sequence.  Within a node: 0.
 * Two stages of eight GPUs, eight replicas: for each sequence of each of them activations go
 * one way and gradients the other, 8 x 16.8 MB at once.  Four stages of TP 4 on two nodes of
 * eight: one replica crosses in the middle, 16.8 MB.  In two chunks a stage it crosses there
 * twice, and gradients come back once the same way.  Four stages of eight, TP 8, on four
 * nodes: those between send activations and gradients, 2 x 16.8 MB. */
static void what_leaves_a_node_is_counted(void **state)
{
    static const struct {
        uint32_t gpus, nodes, tp, pp, vp;
        double replicas, parts;
    } row[] = {
        { 8, 2, 8, 1, 1, 1, 128 }, { 16, 2, 8, 1, 1, 2, 0 }, { 16, 2, 1, 2, 1, 8, 8 },
        { 16, 2, 4, 4, 1, 1, 1 }, { 16, 2, 4, 4, 2, 1, 3 }, { 32, 4, 8, 4, 1, 1, 2 },
    };
    struct law_aids aids = law_aids_new();
    struct train_shape shape = small_shape(catalogue_llm(aids.catalogue, "llama-3-8b"));

    (void)state;
    shape.method = TRAIN_LORA;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct gang gang = law_gang(&aids, "a100-80", row[i].gpus, row[i].nodes, HDR_NODE_BPS);
        shape.tp = row[i].tp;
        shape.pp = row[i].pp;
        shape.vp = row[i].vp;
        double few = train_step(&shape, &gang, 4 * row[i].replicas).inter_bytes_per_node;
        double many = train_step(&shape, &gang, 9 * row[i].replicas).inter_bytes_per_node;
        double parts = (many - few) / 5 / (2048.0 * 4096 * 2);
        if (fabs(parts - row[i].parts) > 1e-6 * row[i].parts + 1e-9)
            fail_msg("row %zu: %.9g parts leave a node, expected %g", i, parts, row[i].parts);
    }
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_match_korthikanti_table_5),
        cmocka_unit_test(weak_scaling_matches_narayanan_table_1),
        cmocka_unit_test(sharded_7b_steps_are_within_a_fifth_of_llm_foundry),
        cmocka_unit_test(parts_of_a_step_add_up),
        cmocka_unit_test(utilization_follows_its_definitions),
        cmocka_unit_test(frozen_weights_have_no_gradient_to_count),
        cmocka_unit_test(steps_shorten_with_gpus_and_bandwidth),
        cmocka_unit_test(adapters_train_faster_and_send_less),
        cmocka_unit_test(context_parallelism_pays_for_keys_and_values),
        cmocka_unit_test(what_leaves_a_node_is_counted),
        cmocka_unit_test(long_sequences_are_as_far_off_as_short_ones),
        cmocka_unit_test(forward_passes_cost_a_third_of_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
