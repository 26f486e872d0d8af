/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_oracle_test.c - bytes per GPU, counted a second time.  Each parameter is counted on the
 * GPUs that hold it; the activations of a layer are those of Korthikanti et al. 2022, sections
 * 4.1 and 4.2.  Models, gangs and shapes are drawn at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "models/laws/memory.h"
#include "models/types/precision.h"
#include "tests/aid/law_world.h"

#define WORLDS 4000
#define CONTEXT (1.1 * 1073741824)
#define BUFFERS 0.365e9


/* Of experts, or of all else: parameters on one GPU, those trained, and how many GPUs hold
 * them alike. */
struct part { double params, trained, alike; };

static struct part part_of(const struct law_world *w, bool experts)
{
    const struct train_shape *shape = &w->shape;
    const struct llm *llm = &w->llm;
    double stage = (double)shape->tp * shape->pp, ranks = floor(w->gang.gpus / stage);
    double ep = law_most(1, shape->ep), tp = fmod(ranks, ep) == 0 ? shape->tp : 1;
    double split = experts ? ep * tp * shape->pp : stage;
    double both = 2.0 * llm->heads * llm->head_dim + 2.0 * llm->kv_heads * llm->head_dim +
                  4.0 * llm->hidden;
    double mlp = llm->ffn_matrices * ((double)llm->hidden + llm->ffn);
    double lora = 16.0 * llm->layers * (both + mlp * law_most(1, llm->experts));
    double own = 16.0 * llm->layers * mlp * w->routed / lora;
    struct part p = { .params = experts ? w->expert_params : llm->params - w->expert_params };

    p.trained = p.params;
    if (shape->method != TRAIN_FULL)
        p.trained = (shape->lora_params > 0 ? shape->lora_params : lora) *
                    (experts ? own : 1 - own);
    p.params /= split;
    p.trained /= split;
    p.alike = experts ? law_most(1, floor(w->gang.gpus / split)) : law_most(1, ranks);
    return p;
}

static void add_part(const struct law_world *w, struct part p, struct memory_need *need)
{
    const struct train_shape *shape = &w->shape;
    bool fp32 = shape->precision == PRECISION_FP32;
    double weight = shape->method == TRAIN_QLORA ? 4.89 / 8 : fp32 ? 4 : 2;
    double weights = p.params * weight + (shape->method == TRAIN_FULL ? 0 : 2 * p.trained);
    double gradients = p.trained * (fp32 || shape->tp * shape->pp > 1 ? 4 : 2);
    double adam = p.trained * (fp32 ? 8 : 12);

    need->weights += weights / (shape->zero == 3 ? p.alike : 1);
    need->gradients += gradients / (shape->zero >= 2 ? p.alike : 1) *
                       (shape->on_host ? law_least(1, 2.0 / w->llm.layers) : 1);
    need->optimizer += shape->on_host ? 0 : adam / (shape->zero >= 1 ? p.alike : 1);
}

/* Bytes that a layer of a micro batch keeps, with 16-bit elements. */
static double layer(const struct law_world *w, enum recompute recompute)
{
    const struct llm *llm = &w->llm;
    double rows = w->shape.sequence_tokens * w->shape.micro_batch, h = llm->hidden;
    double used = law_most(1, llm->experts_active), tp = w->shape.tp;
    /* The MLP keeps its input and inner tensors, for each expert that a token visits. */
    double inner = (llm->ffn_matrices == 3 ? 6 : 4) * used * llm->ffn + 2 * (used - 1) * h;
    double scores = 5 * llm->heads * w->shape.sequence_tokens;

    if (recompute == RECOMPUTE_FULL)
        return 2 * rows * h;
    if (recompute == RECOMPUTE_SELECTIVE)
        return rows * (18 * h + inner) / tp;
    return rows * (10 * h + (8 * h + inner + scores) / tp);
}

static double activations(const struct law_world *w)
{
    const struct train_shape *shape = &w->shape;
    double pp = shape->pp, cp = law_most(1, shape->cp), vp = law_most(1, shape->vp);
    double kept = w->llm.layers * layer(w, shape->recompute) / cp;

    if (vp > 1)
        kept += kept * (pp - 1) / (pp * vp);
    if (cp > 1) {
        bool latent = w->llm.kv_width < 2 * w->llm.kv_heads * w->llm.head_dim;
        double heads = law_most(1, (double)(latent ? w->llm.heads : w->llm.kv_heads) / shape->tp);
        double whole = 2 * 4 * heads * w->llm.head_dim * shape->sequence_tokens *
                       shape->micro_batch;
        kept += shape->stack == STACK_ENGINE ? 2 * whole / cp : whole;
    }
    if (shape->recompute == RECOMPUTE_FULL)
        kept += layer(w, RECOMPUTE_SELECTIVE);
    return kept * (shape->precision == PRECISION_FP32 ? 2 : 1);
}

static void training_needs_what_its_parameters_and_layers_do(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "memory", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        struct memory_need need = memory_train(&w.shape, w.gang.gpus), e = { 0 };
        struct part rest = part_of(&w, false), experts = part_of(&w, true);
        add_part(&w, rest, &e);
        add_part(&w, experts, &e);
        double rows = w.shape.sequence_tokens * w.shape.micro_batch;
        e.workspace = CONTEXT + (w.gang.gpus > 1 ? BUFFERS : 0) +
                      (w.shape.pp == 1 ? 4 * rows * w.llm.vocab / w.shape.tp : 0);
        /* ZeRO-3: of two layers what tp and ep leave on a GPU, whole. */
        double whole = (rest.params + experts.params) * w.shape.pp;
        double weight = w.shape.method == TRAIN_QLORA ? 4.89 / 8
                        : w.shape.precision == PRECISION_FP32 ? 4 : 2;
        e.gathered = w.shape.zero == 3 ? 2 * weight * whole / w.llm.layers : 0;
        e.activations = activations(&w);
        law_same("weights", i, need.weights, e.weights);
        law_same("gradients", i, need.gradients, e.gradients);
        law_same("optimizer", i, need.optimizer, e.optimizer);
        law_same("activations", i, need.activations, e.activations);
        law_same("gathered", i, need.gathered, e.gathered);
        law_same("workspace", i, need.workspace, e.workspace);
        law_same("total", i, need.total, e.weights + e.gradients + e.optimizer + e.activations +
                                         e.gathered + e.workspace);
        assert_true(need.kv == 0.0);
    }
}

/* 18 bytes of host memory for a trained parameter; a frozen copy as the trained one. */
static void hosts_and_frozen_copies_hold_what_is_theirs(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "memory", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        struct part rest = part_of(&w, false), experts = part_of(&w, true);
        bool divided = w.shape.zero >= 1, thrice = w.shape.zero == 3;
        double host = 18 * (rest.trained / (divided ? rest.alike : 1) +
                            experts.trained / (divided ? experts.alike : 1));
        double frozen = rest.params / (thrice ? rest.alike : 1) +
                        experts.params / (thrice ? experts.alike : 1);
        law_same("host", i, memory_host(&w.shape, w.gang.gpus), w.shape.on_host ? host : 0);
        law_same("frozen", i, memory_frozen(&w.shape, w.gang.gpus),
             frozen * precision_weight_bytes(w.shape.precision));
    }
}

static void serving_needs_weights_and_a_cache(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "memory", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        const struct llm *llm = &w.llm;
        enum precision precision = w.shape.precision;
        double tp = w.shape.tp, tokens = w.shape.sequence_tokens;
        bool latent = llm->kv_width < 2 * llm->kv_heads * llm->head_dim;
        double weights = llm->params * precision_weight_bytes(precision) / tp;
        double one = 2.0 * llm->layers * llm->kv_width * law_attended(llm, tokens) /
                     (latent ? 1 : law_least(tp, llm->kv_heads));
        struct memory_need need = memory_decode(llm, precision, w.shape.tp, w.batch, tokens);
        law_same("weights", i, need.weights, weights);
        law_same("kv", i, need.kv, w.batch * one);
        law_same("decode", i, need.total, weights + w.batch * one + 3.5e9);
        double room = 0.9 * w.gpu.memory_bytes - weights - 3.5e9;
        assert_true(memory_decode_batch_max(llm, precision, w.shape.tp, tokens,
                                            w.gpu.memory_bytes) ==
                    (room > 0 ? floor(room / one) : 0));
        need = memory_forward(llm, precision, w.shape.tp, tokens);
        double acts = 2 * tokens * (2 * llm->hidden + llm->ffn_matrices * llm->ffn / tp);
        double work = CONTEXT + (tp > 1 ? BUFFERS : 0) + 4 * tokens * llm->vocab / tp;
        law_same("forward acts", i, need.activations, acts);
        law_same("forward work", i, need.workspace, work);
        law_same("forward", i, need.total, weights + acts + work);
        law_same("serve", i, memory_serve_bytes(w.gpu.memory_bytes), 0.9 * w.gpu.memory_bytes);
    }
}

/* The mildest first: a larger ZeRO, then more recomputing, one sequence, adapters, 4 bits; what
 * is chosen already is never taken back. */
static void a_remedy_is_the_first_that_fits_and_takes_nothing_back(void **state)
{
    struct law_world w;
    struct rng rng;
    uint32_t found = 0;

    (void)state;
    rng_init(&rng, 4, "memory", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        struct train_shape next = w.shape, *at = &next;
        struct memory_remedy r = memory_remedy(&w.shape, w.gang.gpus, w.gpu.memory_bytes);
        bool fits = false;
        for (int rung = 0; rung < 8 && !fits; rung++) {
            at->zero = (int)law_most(at->zero, law_least(rung + 1, 3));
            at->recompute = (enum recompute)law_most(at->recompute,
                                                          law_least(law_most(rung - 2, 0), 2));
            at->micro_batch = rung >= 5 ? 1 : at->micro_batch;
            at->method = (enum train_method)law_most(at->method, law_most(rung - 5, 0));
            fits = memory_train(at, w.gang.gpus).total <= w.gpu.memory_bytes;
        }
        assert_true((r.text != NULL) == fits);
        found += fits;
        if (!fits)
            continue;
        assert_int_equal(r.shape.zero, at->zero);
        assert_int_equal(r.shape.recompute, at->recompute);
        assert_int_equal(r.shape.method, at->method);
        assert_true(r.shape.micro_batch == at->micro_batch);
    }
    assert_true(found > WORLDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_needs_what_its_parameters_and_layers_do),
        cmocka_unit_test(hosts_and_frozen_copies_hold_what_is_theirs),
        cmocka_unit_test(serving_needs_weights_and_a_cache),
        cmocka_unit_test(a_remedy_is_the_first_that_fits_and_takes_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
