/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_test.c - from laws and gangs to rates: hand-computed bounds, what
 * must never happen, and a cache that answers as if it were not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/phase.h"
#include "models/laws/phase_cache.h"
#include "models/laws/train.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

/* Round figures near an A100; the laws' own tests use real ones. */
static const struct gpu_type gpu = {
    .name = "gpu", .memory_bytes = 80e9, .memory_bps = 2e12,
    .memory_bps_sustained = 1.7e12,
    .flops_peak = { [PRECISION_FP16] = 312e12, [PRECISION_BF16] = 312e12 },
    .flops_sustained = { [PRECISION_FP16] = 250e12,
                         [PRECISION_BF16] = 250e12 },
    .nvlink_bps = 230e9, .nvlink_latency_s = 3e-6, .pcie_bps = 25e9,
    .pcie_latency_s = 1e-5, .tdp_w = 400, .idle_w = 50,
};
static const struct gpu_type generic = { .name = "generic", .index = 1 };
static const struct cpu_type cpu = { .name = "cpu", .cores = 64,
                                     .core_speed = 0.5 };
static const struct llm llm = {
    .name = "7b", .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32,
    .head_dim = 128, .ffn = 11008, .ffn_matrices = 3, .vocab = 32000,
    .context_tokens = 4096, .kv_width = 8192, .params = 6.7e9,
    .params_active = 6.7e9,
};

static struct gang gang_of(uint32_t gpus, uint32_t nodes, uint32_t cores)
{
    return (struct gang){
        .gpu = gpus > 0 ? &gpu : NULL, .gpus = gpus, .nodes = nodes,
        .intra_bps = 230e9, .intra_latency_s = 3e-6, .inter_bps = 100e9,
        .inter_latency_s = 5e-6, .cores = cores, .cpu = &cpu,
    };
}

static struct phase_law train_law(void)
{
    return (struct phase_law){
        .kind = LAW_TRAIN, .sequences = 64, .repeats = 2,
        .train = { .llm = &llm, .method = TRAIN_LORA,
                   .precision = PRECISION_BF16, .zero = 1,
                   .recompute = RECOMPUTE_SELECTIVE, .sequence_tokens = 1024,
                   .micro_batch = 2, .tp = 1, .pp = 1 },
    };
}

static struct phase_law rollout_law(void)
{
    return (struct phase_law){
        .kind = LAW_ROLLOUT,
        .rollout = { .llm = &llm, .precision = PRECISION_BF16, .tp = 1,
                     .responses = 256, .responses_per_prompt = 4,
                     .prompt_tokens = 256, .response_mean_tokens = 400,
                     .response_cv = 0.8, .response_max_tokens = 2048 },
    };
}

static void an_unfed_training_phase_takes_its_steps(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    struct gang gang = gang_of(8, 1, 64);
    struct step_time step = train_step(&law.train, &gang, 64);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(plan.rate_max == 1.0 / (2.0 * step.step_s));
    assert_true(plan.gpu_busy_fraction == step.busy_fraction);
    assert_true(plan.flops == 2.0 * step.flops);
    assert_string_equal(plan.bottleneck, "gpu");
    assert_true(plan.rates.network_bytes == 0.0);
    assert_true(plan.rates.core_s == 0.0);
    assert_true(phase_seconds(&law, &gang, 0.5) == 1.0 / plan.rate_max);
}

static void several_nodes_demand_the_network(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    law.train.method = TRAIN_FULL;
    struct gang gang = gang_of(16, 2, 64);
    struct step_time step = train_step(&law.train, &gang, 64);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(step.inter_bytes_per_node > 0.0);
    assert_true(plan.rates.network_bytes == 2.0 * step.inter_bytes_per_node);
    gang.inter_bps = 1e8;               /* a NIC of 1 Gb/s, nearly */
    assert_string_equal(phase_plan(&law, &gang, 0.5).bottleneck, "network");
}

/* 128 items of 10 core-seconds on 8 cores of half speed, one worker a GPU:
 * 8 x 0.5 / 10 = 0.4 items a second, 320 s. */
static void a_starved_training_phase_runs_at_the_speedup_of_its_cores(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    law.item = (struct loader_item){ .core_s = 10, .storage_bytes = 1000,
                                     .gpu_bytes = 2000 };
    struct gang gang = gang_of(8, 1, 8);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(fabs(1.0 / plan.rate_max - 320.0) < 1e-9);
    assert_string_equal(plan.bottleneck, "cpu");
    assert_true(plan.rates.core_s == 128 * 10 / 0.5);
    assert_true(plan.rates.storage_bytes == 128e3);
    assert_true(plan.rates.pcie_bytes == 256e3);
    /* The GPUs do the same work in more time. */
    law.item = (struct loader_item){ 0 };
    struct phase_plan unfed = phase_plan(&law, &gang, 0.5);
    assert_true(fabs(plan.gpu_busy_fraction / plan.rate_max -
                     unfed.gpu_busy_fraction / unfed.rate_max) < 1e-9);
}

static void no_leased_cores_count_as_one_for_each_gpu(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    law.item = (struct loader_item){ .core_s = 10 };
    struct gang eight = gang_of(8, 1, 8), none = gang_of(8, 1, 0);
    assert_true(phase_plan(&law, &eight, 0.5).rate_max ==
                phase_plan(&law, &none, 0.5).rate_max);
}

static void a_forward_pass_is_faster_than_a_training_step(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    struct gang gang = gang_of(8, 1, 64);
    double train_s = phase_seconds(&law, &gang, 0.5);
    law.kind = LAW_FORWARD;
    double forward_s = phase_seconds(&law, &gang, 0.5);
    assert_true(forward_s > 0.0 && forward_s < train_s);
}

static void a_rollout_lasts_longer_for_a_longer_longest_response(void **state)
{
    (void)state;
    struct phase_law law = rollout_law();
    struct gang gang = gang_of(4, 1, 64);
    double last = 0.0;
    for (int i = 0; i < 10; i++) {
        struct phase_plan plan = phase_plan(&law, &gang, i / 10.0);
        assert_true(1.0 / plan.rate_max >= last);
        last = 1.0 / plan.rate_max;
        assert_true(plan.tail_fraction >= 0.0 && plan.tail_fraction < 1.0);
        assert_true(plan.gpu_busy_fraction > 0.0 &&
                    plan.gpu_busy_fraction <= 1.0);
        /* 2 operations a parameter and token, and some for attention. */
        double tokens = 256 / 4 * 256.0 + 256 * 400.0;
        assert_true(plan.flops > 2 * 6e9 * tokens * 0.7 &&
                    plan.flops < 2 * 7e9 * tokens * 1.5);
    }
    assert_true(last > phase_seconds(&law, &gang, 0.0));
}

/* 640 core-seconds of reference cores on 64 cores of half speed: 20 s. */
static void cpu_work_divides_by_leased_cores(void **state)
{
    (void)state;
    struct phase_law law = { .kind = LAW_CPU, .core_s = 640,
                             .storage_bytes = 5e9 };
    struct gang gang = gang_of(0, 1, 64);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(fabs(1.0 / plan.rate_max - 20.0) < 1e-12);
    assert_true(plan.rates.core_s == 1280 && plan.rates.storage_bytes == 5e9);
    assert_true(plan.gpu_busy_fraction == 0.0);
    assert_string_equal(plan.bottleneck, "cpu");
    law.core_s = 0;
    assert_true(isinf(phase_plan(&law, &gang, 0.5).rate_max));
}

/* 14 GB through 4 slots of 25 GB/s: 0.14 s; through one NIC of 10 GB/s where
 * the trainer stands on two nodes: 1.4 s. */
static void a_sync_goes_through_its_narrowest_link(void **state)
{
    (void)state;
    struct phase_law law = { .kind = LAW_SYNC, .bytes = 14e9 };
    struct gang one = gang_of(4, 1, 8), two = gang_of(8, 2, 8);
    assert_true(fabs(phase_seconds(&law, &one, 0.5) - 0.14) < 1e-12);
    assert_string_equal(phase_plan(&law, &one, 0.5).bottleneck, "pcie");
    two.inter_bps = 10e9;
    assert_true(fabs(phase_seconds(&law, &two, 0.5) - 1.4) < 1e-12);
    assert_string_equal(phase_plan(&law, &two, 0.5).bottleneck, "network");
}

static void a_checkpoint_demands_storage_and_pcie(void **state)
{
    (void)state;
    struct phase_law law = { .kind = LAW_CHECKPOINT, .storage_bytes = 1e11 };
    struct gang gang = gang_of(8, 2, 8);
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(fabs(1.0 / plan.rate_max - 0.5) < 1e-12);   /* 200 GB/s */
    assert_true(plan.rates.storage_bytes == 1e11);
    assert_true(plan.rates.pcie_bytes == 1e11);
}

static void a_fixed_phase_takes_its_seconds_and_all_of_its_gpus(void **state)
{
    (void)state;
    struct phase_law law = { .kind = LAW_FIXED, .seconds = 8 };
    struct gang gang = gang_of(8, 1, 0);
    gang.gpu = &generic;
    struct phase_plan plan = phase_plan(&law, &gang, 0.5);
    assert_true(plan.rate_max == 0.125 && plan.gpu_busy_fraction == 1.0);
}

static void a_gang_that_cannot_compute_has_rate_zero(void **state)
{
    (void)state;
    struct phase_law train = train_law(), rollout = rollout_law();
    struct gang none = gang_of(0, 1, 8), only_counts = gang_of(8, 1, 8);
    struct gang few = gang_of(2, 1, 8);
    only_counts.gpu = &generic;
    train.train.tp = rollout.rollout.tp = 4;
    const struct gang *gangs[] = { &none, &only_counts, &few };
    for (int i = 0; i < 3; i++) {
        assert_true(phase_plan(&train, gangs[i], 0.5).rate_max == 0.0);
        assert_true(phase_plan(&rollout, gangs[i], 0.5).rate_max == 0.0);
        assert_true(isinf(phase_seconds(&train, gangs[i], 0.5)));
    }
}

static struct phase_law random_law(struct rng *rng)
{
    switch (rng_below(rng, 5)) {
    case 0:
        return rollout_law();
    case 1:
        return (struct phase_law){ .kind = LAW_CPU, .core_s = 100 };
    case 2:
        return (struct phase_law){ .kind = LAW_SYNC, .bytes = 1e10 };
    default: {
        struct phase_law law = train_law();
        law.train.method = (enum train_method)rng_below(rng, 3);
        law.train.zero = (int)rng_below(rng, 4);
        law.item.core_s = (double)rng_below(rng, 3);
        law.item.gpu_bytes = 1e6 * (double)rng_below(rng, 3000);
        return law;
    }
    }
}

static void twice_the_links_or_cores_never_slow_a_phase(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "phase", 0);
    for (int i = 0; i < 400; i++) {
        struct phase_law law = random_law(&rng);
        uint32_t nodes = 1 + (uint32_t)rng_below(&rng, 4);
        struct gang gang = gang_of(8 * nodes, nodes, 16 * nodes);
        gang.inter_bps = pow(10.0, 8 + 4 * rng_uniform(&rng));
        struct gang more = gang;
        struct gpu_type wide = gpu;
        switch (rng_below(&rng, 4)) {
        case 0: more.inter_bps *= 2; break;
        case 1: more.intra_bps *= 2; break;
        case 2: more.cores *= 2; break;
        default: wide.pcie_bps *= 2; more.gpu = &wide; break;
        }
        assert_true(phase_seconds(&law, &more, 0.5) <=
                    phase_seconds(&law, &gang, 0.5) * (1 + 1e-12));
    }
}

static void the_cache_answers_as_if_it_were_not_there(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct phase_cache *cache = phase_cache_new(arena);
    struct rng rng;
    rng_init(&rng, 2, "phase", 0);
    static struct phase_law law[8];
    for (int i = 0; i < 8; i++)
        law[i] = random_law(&rng);
    for (int i = 0; i < 3000; i++) {
        const struct phase_law *l = &law[rng_below(&rng, 8)];
        uint32_t nodes = 1 + (uint32_t)rng_below(&rng, 3);
        struct gang gang = gang_of(nodes * (1 + (uint32_t)rng_below(&rng, 8)),
                                   nodes, 16);
        double u = rng_uniform(&rng);
        struct phase_plan a = phase_plan(l, &gang, u);
        struct phase_plan b = phase_cache_plan(cache, l, &gang, u);
        assert_true(a.rate_max == b.rate_max && a.flops == b.flops);
        assert_true(a.gpu_busy_fraction == b.gpu_busy_fraction);
        assert_true(a.tail_fraction == b.tail_fraction);
        assert_string_equal(a.bottleneck, b.bottleneck);
        assert_memory_equal(&a.rates, &b.rates, sizeof a.rates);
    }
    assert_in_range(phase_cache_count(cache), 100, 8 * 3 * 8);
    arena_free(arena);
}

/* 16 sequences of 1,024 tokens at a time go through four stages.  Where the gang does not hold
 * whole replicas, a pass is one of as few GPUs as hold it. */
static void a_pass_is_divided_as_its_law_says(void **state)
{
    (void)state;
    struct phase_law law = train_law();
    struct gang gang = gang_of(8, 1, 64);
    law.kind = LAW_FORWARD;
    law.repeats = 1;
    law.train.sequence_tokens = 1024.0;
    law.train.tp = 1;
    law.train.pp = 4;
    struct train_shape shape = law.train;
    shape.micro_batch = 16.0;
    struct step_time step = forward_divided_step(&shape, &gang, law.sequences);
    assert_true(fabs(phase_seconds(&law, &gang, 0.5) / step.step_s - 1.0) < 1e-9);
    law.train.pp = 3;
    step = forward_step(law.train.llm, law.train.precision, &gang, law.sequences, 1024.0);
    assert_true(fabs(phase_seconds(&law, &gang, 0.5) / step.step_s - 1.0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_is_divided_as_its_law_says),
        cmocka_unit_test(an_unfed_training_phase_takes_its_steps),
        cmocka_unit_test(several_nodes_demand_the_network),
        cmocka_unit_test(
            a_starved_training_phase_runs_at_the_speedup_of_its_cores),
        cmocka_unit_test(no_leased_cores_count_as_one_for_each_gpu),
        cmocka_unit_test(a_forward_pass_is_faster_than_a_training_step),
        cmocka_unit_test(a_rollout_lasts_longer_for_a_longer_longest_response),
        cmocka_unit_test(cpu_work_divides_by_leased_cores),
        cmocka_unit_test(a_sync_goes_through_its_narrowest_link),
        cmocka_unit_test(a_checkpoint_demands_storage_and_pcie),
        cmocka_unit_test(a_fixed_phase_takes_its_seconds_and_all_of_its_gpus),
        cmocka_unit_test(a_gang_that_cannot_compute_has_rate_zero),
        cmocka_unit_test(twice_the_links_or_cores_never_slow_a_phase),
        cmocka_unit_test(the_cache_answers_as_if_it_were_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
