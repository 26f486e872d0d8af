/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_experts_test.c - expert parallelism, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/advise/advise.h"
#include "models/laws/experts.h"
#include "models/laws/phase.h"
#include "models/laws/train.h"
#include "tests/aid/law_aids.h"

static struct train_shape shape_of(const struct law_aids *aids,
                                   const char *name, uint32_t ep)
{
    struct train_shape shape = {
        .llm = catalogue_llm(aids->catalogue, name), .method = TRAIN_FULL,
        .precision = PRECISION_BF16, .recompute = RECOMPUTE_SELECTIVE,
        .sequence_tokens = 4096.0, .micro_batch = 1.0, .tp = 1, .pp = 1,
        .ep = ep,
    };
    return shape;
}

/* Mixtral: 32 layers of 8 experts of 3 x 4096 x 14336.  DeepSeek-V3: 58 of 61
 * layers have 256 routed experts of 3 x 7168 x 2048 beside a shared one. */
static void experts_follow_from_all_and_active_parameters(void **state)
{
    struct law_aids aids = law_aids_new();
    struct experts m = experts_of(catalogue_llm(aids.catalogue,
                                                "mixtral-8x7b"));
    struct experts d = experts_of(catalogue_llm(aids.catalogue,
                                                "deepseek-v3"));
    struct experts none = experts_of(catalogue_llm(aids.catalogue,
                                                   "llama-3-8b"));

    (void)state;
    assert_int_equal(m.routed, 8);
    assert_int_equal(m.active, 2);
    assert_true(law_error(m.params, 32.0 * 8 * 3 * 4096 * 14336) < 1e-3);
    assert_true(law_error(m.layers, 32.0) < 1e-3);
    assert_int_equal(d.routed, 256);
    assert_int_equal(d.active, 8);
    assert_true(law_error(d.layers, 58.0) < 0.01);
    assert_true(law_error(d.params_active, d.params / 32.0) < 1e-12);
    assert_int_equal(none.routed, 0);
    assert_true(none.params == 0.0);
    law_aids_free(&aids);
}

/* Mixtral on 8 GPUs, no ZeRO: 16 bytes of states for each of the 1.6e9
 * shared parameters and of an eighth of the 45.1e9 of experts. */
static void memory_divides_experts_and_nothing_else(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape all = shape_of(&aids, "mixtral-8x7b", 1);
    struct train_shape split = shape_of(&aids, "mixtral-8x7b", 8);
    double experts = experts_of(all.llm).params;
    double shared = all.llm->params - experts;

    (void)state;
    struct memory_need a = memory_train(&all, 8);
    struct memory_need s = memory_train(&split, 8);
    assert_true(law_error(a.weights + a.gradients + a.optimizer,
                          16.0 * all.llm->params) < 1e-9);
    assert_true(law_error(s.weights + s.gradients + s.optimizer,
                          16.0 * (shared + experts / 8.0)) < 1e-9);
    assert_true(a.activations == s.activations);
    /* Under ZeRO-3 states are an eighth of all either way; what is gathered
     * for a layer is less. */
    all.zero = split.zero = 3;
    a = memory_train(&all, 8);
    s = memory_train(&split, 8);
    assert_true(law_error(a.optimizer, s.optimizer) < 1e-9);
    assert_true(law_error(a.gathered, 2.0 * 2.0 * all.llm->params / 32) <
                1e-9);
    assert_true(law_error(s.gathered,
                          2.0 * 2.0 * (shared + experts / 8.0) / 32) < 1e-9);
    law_aids_free(&aids);
}

/* Two nodes of 8 GPUs, experts over all 16: of each of the 4 exchanges of a
 * layer (dispatch and combine, forward and back) half leaves the node: 8 GPUs
 * x 4096 tokens x 2 experts x 4096 x 2 bytes.  Shared gradients go round a
 * ring of 2 nodes: their bytes once.  Those of experts stay. */
static void tokens_and_shared_gradients_cross_nodes(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(&aids, "mixtral-8x7b", 16);
    struct gang gang = law_gang(&aids, "h100", 16, 2, 8 * 375e9 / 8.0);
    struct llm wide = *shape.llm;

    (void)state;
    wide.experts = 16;  /* as many as GPUs; parameters stay as they are */
    wide.experts_active = 4;
    shape.llm = &wide;
    struct experts e = experts_of(&wide);
    double sent = e.layers * 4.0 * 0.5 * 8.0 * 4096.0 * 4.0 * 4096.0 * 2.0;
    double gradients = 2.0 * (wide.params - e.params) * 2.0 * 0.5;
    assert_true(law_error(train_step(&shape, &gang, 16.0).inter_bytes_per_node,
                          sent + gradients) < 1e-6);
    /* A fused dispatcher sends a token once to each node that has any of its
     * 4 experts: 2 (1 - 1/16) of 4 copies. */
    shape.stack = STACK_ENGINE;
    assert_true(law_error(train_step(&shape, &gang, 16.0).inter_bytes_per_node,
                          sent * 1.875 / 4.0 + gradients) < 1e-6);
    shape.stack = STACK_EAGER;
    /* Experts within a node: no token leaves it, their gradients do. */
    shape.ep = 8;
    gradients = 2.0 * (wide.params - e.params + e.params) * 2.0 * 0.5;
    assert_true(law_error(train_step(&shape, &gang, 16.0).inter_bytes_per_node,
                          gradients) < 1e-6);
    law_aids_free(&aids);
}

/* The same gang with slower NICs pays for experts over nodes, and not for
 * experts inside one. */
static void experts_over_nodes_wait_for_nics(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape inside = shape_of(&aids, "qwen3-30b-a3b", 8);
    struct train_shape across = shape_of(&aids, "qwen3-30b-a3b", 64);
    struct gang fast = law_gang(&aids, "h100", 64, 8, 8 * 375e9 / 8.0);
    struct gang slow = law_gang(&aids, "h100", 64, 8, 375e9 / 8.0);

    (void)state;
    double in = train_step(&inside, &slow, 512.0).comm_exposed_s -
                train_step(&inside, &fast, 512.0).comm_exposed_s;
    double out = train_step(&across, &slow, 512.0).comm_exposed_s -
                 train_step(&across, &fast, 512.0).comm_exposed_s;
    assert_true(out > 2.0 * in);
    law_aids_free(&aids);
}

/* Divided over 8 GPUs an expert multiplies the tokens of all 8 at once, which
 * is quicker than an eighth of them on each; but tokens travel. */
static void divided_experts_compute_faster_and_wait_longer(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(&aids, "mixtral-8x7b", 8);
    struct gang gang = law_gang(&aids, "h100", 8, 1, 0.0);

    (void)state;
    struct step_time m = train_step(&shape, &gang, 64.0);
    shape.ep = 1;   /* not that it would fit */
    struct step_time whole = train_step(&shape, &gang, 64.0);
    assert_true(m.compute_s < whole.compute_s);
    assert_true(m.compute_s > 0.8 * whole.compute_s);
    assert_true(m.flops == whole.flops);
    assert_true(m.comm_exposed_s > whole.comm_exposed_s);
    law_aids_free(&aids);
}

/* 235B with 16 bytes a parameter does not fit 64 x 80 GB with every expert on
 * every GPU but for ZeRO-3; the search divides experts instead. */
static void advice_divides_experts(void **state)
{
    struct law_aids aids = law_aids_new();
    struct phase_law law = {
        .kind = LAW_TRAIN, .sequences = 512, .repeats = 1,
        .train = shape_of(&aids, "qwen3-235b-a22b", 1),
    };
    struct advise_task task = { &law, 4096.0, 0.0, NULL };
    struct gang gang = law_gang(&aids, "h100", 64, 8, 8 * 375e9 / 8.0);

    (void)state;
    gang.cores = 64;
    struct advise_layout best = advise_train(&task, &gang, 8);
    assert_true(best.fit_count > 0);
    assert_true(best.shape.ep > 1);
    assert_int_equal(128 % best.shape.ep, 0);
    assert_int_equal(64 / (best.shape.tp * best.shape.pp) % best.shape.ep, 0);
    best.shape.ep = 1;
    assert_true(advise_train_s(&task, &best.shape, &gang) > best.run_s ||
                advise_need(&task, &best.shape, 64).total >
                    gang.gpu->memory_bytes);
    law_aids_free(&aids);
}

static void gangs_hold_whole_groups(void **state)
{
    struct train_shape shape = { .tp = 2, .pp = 3, .cp = 4, .ep = 6 };

    (void)state;
    assert_int_equal(experts_gang(&shape), 2 * 3 * 12);
    shape.ep = 0;
    assert_int_equal(experts_gang(&shape), 2 * 3 * 4);
    shape.cp = 0;
    assert_int_equal(experts_gang(&shape), 2 * 3);
}

/* Of 32 GPUs two stages have 16 each.  With tp 2 they are 8 data parallel ranks: 8 is a multiple
 * of ep 4, so experts are cut by tp as well, and 16 / (4 x 2) GPUs hold the same part; of ep 16,
 * which is not among 8 ranks, each expert is whole, and there is one of each.  A gang too small
 * for ep holds one, too. */
static void experts_are_placed_as_worked_by_hand(void **state)
{
    static const struct { uint32_t gpus, tp, pp, ep, of, parts, replicas; } row[] = {
        { 32, 1, 1, 0, 1, 1, 32 }, { 32, 1, 1, 1, 1, 1, 32 }, { 32, 1, 1, 8, 8, 1, 4 },
        { 32, 2, 2, 4, 4, 2, 2 }, { 32, 2, 2, 16, 16, 1, 1 }, { 32, 4, 1, 2, 2, 4, 4 },
        { 1, 1, 1, 8, 8, 1, 1 }, { 8, 8, 1, 8, 8, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct train_shape shape = { .tp = row[i].tp, .pp = row[i].pp, .ep = row[i].ep };
        struct experts_place place = experts_place(&shape, row[i].gpus);

        assert_int_equal(place.ep, row[i].of);
        assert_int_equal(place.tp, row[i].parts);
        assert_int_equal(place.replicas, row[i].replicas);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts_follow_from_all_and_active_parameters),
        cmocka_unit_test(experts_are_placed_as_worked_by_hand),
        cmocka_unit_test(memory_divides_experts_and_nothing_else),
        cmocka_unit_test(tokens_and_shared_gradients_cross_nodes),
        cmocka_unit_test(experts_over_nodes_wait_for_nics),
        cmocka_unit_test(divided_experts_compute_faster_and_wait_longer),
        cmocka_unit_test(advice_divides_experts),
        cmocka_unit_test(gangs_hold_whole_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
