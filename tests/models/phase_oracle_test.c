/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_oracle_test.c - the plan of a phase, worked out a second time.
 *
 * A step takes what the law of training says, which has an oracle of its own.  What a loader
 * adds to it, and every other kind of phase, is written down here from models/README.md and the
 * headers of the laws.  Gangs, loaders and data come by lot, so that each stage is the slowest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "models/laws/cores.h"
#include "models/laws/phase.h"
#include "models/laws/train.h"
#include "tests/aid/law_world.h"

#define WORLDS 2000

static double between(struct rng *rng, double low, double high)
{
    return low * pow(high / low, rng_uniform(rng));
}

/* What is not in the memory of a node: a cache of one node for a part of what is read. */
static double missed(const struct phase_law *law, const struct gang *gang, bool items)
{
    double cached = law->cache_bytes * law_most(1, gang->gpus) / gang->nodes /
                    law->dataset_bytes;
    double rest = 1 - cached;

    if (law->dataset_bytes == 0)
        return 1;
    if (cached >= 1)
        return 0;
    if (law->cache == LOADER_CACHE_KEEP)
        return rest;
    if (!items)
        return 1 - 0.18 * cached;
    /* 0.6 of what the order of last use misses beyond that. */
    return rest - 0.6 * rest * log(rest) / gang->nodes;
}

static void same_reads(uint32_t at, const struct phase_law *law, const struct gang *gang,
                       const struct demand_rates *rates, double bytes, double reads)
{
    double miss = missed(law, gang, reads > 0);
    bool shared = law->from == LOADER_FROM_STORAGE, local = law->from == LOADER_FROM_NVME;

    law_same("storage_bytes", at, rates->storage_bytes, shared ? bytes * miss : 0);
    law_same("nvme_bytes", at, rates->nvme_bytes, local ? bytes * miss : 0);
    law_same("nvme_reads", at, rates->nvme_reads, local ? reads * miss : 0);
}

static void draw_data(struct rng *rng, struct phase_law *law)
{
    law->from = (enum loader_from)rng_below(rng, 3);
    law->cache = (enum loader_cache)rng_below(rng, 2);
    law->dataset_bytes = rng_below(rng, 3) == 0 ? 0 : between(rng, 1e10, 1e13);
    law->cache_bytes = rng_below(rng, 4) == 0 ? 0 : between(rng, 1e9, 1e12);
}

/* A loader whose parts take about as long as the step, each above or below it. */
static void draw_loader(struct rng *rng, const struct law_world *w, double step_s,
                        struct phase_law *law)
{
    double item_s = step_s / w->batch, wide = rng_below(rng, 2) == 0 ? 0.01 : 1;

    law->item = (struct loader_item){
        .core_s = between(rng, 0.1, 10) * item_s * w->gang.cores * wide,
        .storage_bytes = between(rng, 1, 1e6),
        .gpu_bytes = between(rng, 0.1, 10) * item_s * w->gang.gpus * w->gpu.pcie_bps * wide,
        .reads = LAW_ONE(rng, 0, 1),
        .handover_s = LAW_ONE(rng, 0, 1) * item_s * w->gang.cores * wide,
        .collect_s = LAW_ONE(rng, 0, 1) * between(rng, 0.1, 10) * item_s * w->gang.gpus * wide,
    };
    law->loader_workers = LAW_ONE(rng, 0, 1, 4);
    law->remote = rng_below(rng, 3) == 0;
    law->pageable = rng_below(rng, 3) == 0;
    if (rng_below(rng, 2) == 0) {
        law->epoch_items = between(rng, 1, 100) * w->batch;
        law->worker_start_s = LAW_ONE(rng, 0, 1) * between(rng, 0.1, 10) * step_s;
    }
    draw_data(rng, law);
}

/* Seconds of one run: on the GPUs alone, of the loader alone, of both. */
struct fed { double work, gpu, cpu, slots, feed, run; const char *slow; };

static struct fed feed(const struct law_world *w, const struct phase_law *law, double step_s)
{
    const struct loader_item *item = &law->item;
    double runs = law_most(1, law->repeats), items = law->sequences * runs;
    double gpus = w->gang.gpus, speed = w->cpu.core_speed;
    /* A lease without cores is fed by one for each GPU. */
    double cores = w->gang.cores > 0 ? w->gang.cores : gpus, mine = cores / gpus;
    double workers = law->loader_workers > 0 ? law->loader_workers : floor(mine);
    double slot = w->gpu.pcie_bps * (law->remote ? 0.31 : 1), at_a_time, core_s;
    struct fed t = { .work = step_s * runs };

    t.gpu = t.work;
    if (law->pageable)
        t.gpu += items * item->gpu_bytes / gpus / (slot * 5.5 / 11.5);
    at_a_time = workers == 0 ? law_least(mine, 1) : law_least(workers, mine);
    core_s = item->core_s + (workers == 0 ? 0 : item->handover_s);
    t.cpu = items / gpus * core_s / (at_a_time * speed);
    if (workers > 0)
        t.cpu = law_most(t.cpu, items / gpus * item->collect_s);
    t.slots = items * item->gpu_bytes / gpus / slot;
    t.feed = law_most(t.cpu, t.slots);
    t.run = law_most(t.gpu, t.feed);
    t.slow = t.cpu > t.slots ? "cpu" : "pcie";
    if (law->epoch_items > 0 && workers > 0) {
        double wait = items / law->epoch_items *
                      (workers * law->worker_start_s +
                       law->sequences / gpus * (item->core_s + item->handover_s) / speed);
        t.gpu += wait;
        t.feed += wait;
        t.run += wait;
    }
    return t;
}

static void a_fed_step_takes_the_time_of_its_slowest_part(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "phases", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        w.cpu.core_speed = between(&rng, 0.5, 2);
        w.gang.cores = rng_below(&rng, 8) == 0 ? 0 : w.gang.gpus * LAW_ONE(&rng, 1, 3, 8) / 2 + 1;
        w.shape.on_host = false;
        if (w.gang.gpus % train_replica_gpus(&w.shape) != 0)
            continue;
        struct phase_law law = { .kind = LAW_TRAIN, .train = w.shape, .sequences = w.batch,
                                 .repeats = LAW_ONE(&rng, 0, 1, 3) };
        struct step_time step = train_step(&w.shape, &w.gang, w.batch);
        double runs = law_most(1, law.repeats), items = w.batch * runs;

        draw_loader(&rng, &w, step.step_s, &law);
        if (!phase_can_run(&law, &w.gang))
            continue;           /* too few GPUs for its experts */
        struct phase_plan plan = phase_plan(&law, &w.gang, 0.5);
        struct fed t = feed(&w, &law, step.step_s);
        law_same("run", i, 1 / plan.rate_max, t.run);
        law_same("gpu", i, 1 / plan.gpu_rate, t.gpu);
        law_same("feed", i, 1 / plan.feed_rate, t.feed);
        law_same("busy", i, plan.gpu_busy_fraction, step.busy_fraction * t.work / t.run);
        law_same("mfu", i, plan.mfu, step.mfu * t.work / t.run);
        law_same("hfu", i, plan.hfu, step.hfu * t.work / t.run);
        law_same("flops", i, plan.flops, step.flops * runs);
        law_same("core_s", i, plan.rates.core_s, items * law.item.core_s / w.cpu.core_speed);
        law_same("pcie_bytes", i, plan.rates.pcie_bytes, items * law.item.gpu_bytes);
        law_same("network_bytes", i, plan.rates.network_bytes, step.inter_bytes_per_node * runs);
        same_reads(i, &law, &w.gang, &plan.rates, items * law.item.storage_bytes,
                   items * law.item.reads);
        assert_string_equal(plan.feed_bottleneck, t.slow);
        if (t.feed > t.gpu)
            assert_string_equal(plan.bottleneck, t.slow);
        law_same("seconds", i, phase_seconds(&law, &w.gang, 0.5), t.run);
    }
}

/* On cores nothing overlaps: a batch is prepared by all of them, then computed on. */
static void a_step_on_cores_prepares_and_then_computes(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "phases", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        w.cpu.core_speed = between(&rng, 0.5, 2);
        w.cpu.flops_fp32 = w.cpu.flops_int8 = 1e12;
        w.gang = (struct gang){ .nodes = 1, .cores = LAW_ONE(&rng, 1, 7, 64), .cpu = &w.cpu };
        w.shape.on_host = false;
        w.shape.tp = w.shape.pp = w.shape.cp = w.shape.ep = 1;
        struct phase_law law = { .kind = LAW_TRAIN, .train = w.shape, .sequences = w.batch,
                                 .repeats = LAW_ONE(&rng, 0, 1, 3),
                                 .item = { .core_s = between(&rng, 0.01, 100),
                                           .storage_bytes = 1e6, .reads = LAW_ONE(&rng, 0, 1) } };
        draw_data(&rng, &law);
        if (!phase_can_run(&law, &w.gang))
            continue;
        struct step_time step = train_step(&w.shape, &w.gang, w.batch);
        double runs = law_most(1, law.repeats), items = w.batch * runs;
        double s = step.step_s * runs + items * law.item.core_s / w.cpu.core_speed /
                                            w.gang.cores;
        struct phase_plan plan = phase_plan(&law, &w.gang, 0.5);
        law_same("run", i, 1 / plan.rate_max, s);
        law_same("gpu", i, 1 / plan.gpu_rate, s);
        law_same("core_s", i, plan.rates.core_s, s * w.gang.cores);
        law_same("flops", i, plan.flops, step.flops * runs);
        same_reads(i, &law, &w.gang, &plan.rates, items * 1e6, items * law.item.reads);
        assert_true(isinf(plan.feed_rate) && plan.gpu_busy_fraction == 0);
    }
}

static void preprocessing_takes_its_core_seconds_and_reads_what_it_misses(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "phases", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        w.cpu.core_speed = between(&rng, 0.5, 2);
        w.gang.gpus = LAW_ONE(&rng, 0, 0, 3) * w.gang.nodes;
        w.gang.cores = LAW_ONE(&rng, 0, 1, 16) * w.gang.nodes;
        bool cpu = rng_below(&rng, 2) == 0;
        if (!cpu)
            w.gang.cpu = NULL;
        struct phase_law law = { .kind = LAW_CPU, .core_s = LAW_ONE(&rng, 0, 1, 500),
                                 .storage_bytes = 3e9, .reads = LAW_ONE(&rng, 0, 1) * 40 };
        draw_data(&rng, &law);
        double core_s = law.core_s / (cpu ? w.cpu.core_speed : 1);
        double cores = w.gang.cores > 0 ? w.gang.cores : w.gang.gpus > 0 ? w.gang.gpus : 1;
        struct phase_plan plan = phase_plan(&law, &w.gang, 0.5);
        law_same("seconds", i, 1 / plan.rate_max, core_s / cores);
        law_same("core_s", i, plan.rates.core_s, core_s);
        assert_string_equal(plan.bottleneck, law.core_s > 0 ? "cpu" : "storage");
        same_reads(i, &law, &w.gang, &plan.rates, law.storage_bytes, law.reads);
    }
}

/* Operations of tokens that attend to a mean context: two a parameter, and scores and their
 * use. */
static double operations(const struct llm *llm, double tokens, double context)
{
    return tokens * (2 * llm->params_active +
                     4.0 * llm->layers * llm->heads * llm->head_dim * context);
}

/* MFU of a rollout: each prompt is computed once, for all of its responses, over half of itself
 * on the mean; each token of a response over the prompt and half of its response. */
static void a_rollout_counts_prompts_once_and_all_tokens(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, "phases", 0);
    for (uint32_t i = 0; i < 40; i++) {
        law_world_draw(&rng, &w);
        w.gpu.memory_bytes = 1e13;
        struct phase_law law = { .kind = LAW_ROLLOUT };
        struct rollout_plan rollout;

        law.rollout = (struct rollout_shape){
            .llm = &w.llm, .precision = PRECISION_BF16, .tp = LAW_ONE(&rng, 1, 2, 8),
            .responses = 192, .responses_per_prompt = LAW_ONE(&rng, 1, 4, 8),
            .prompt_tokens = LAW_ONE(&rng, 64, 1000), .response_mean_tokens = 400,
            .response_cv = 0.8, .response_max_tokens = 2048 };
        rollout_plan_init(&rollout, &law.rollout, &w.gang);
        struct rollout_time time = rollout_draw(&rollout, 0.3);
        struct phase_plan plan = phase_plan(&law, &w.gang, 0.3);
        double prompts = 192 / law.rollout.responses_per_prompt;
        double length = law.rollout.prompt_tokens, mean = time.tokens / 192;
        double all = operations(&w.llm, prompts * length, law_causal(&w.llm, length)) +
                     operations(&w.llm, time.tokens, law_attended(&w.llm, length + mean / 2));
        double peak = w.gang.gpus * w.gpu.flops_peak[PRECISION_BF16];
        law_same("seconds", i, 1 / plan.rate_max, time.total_s);
        law_same("flops", i, plan.flops, all);
        law_same("mfu", i, plan.mfu, all / time.total_s / peak);
        assert_true(plan.hfu == plan.mfu && plan.gpu_busy_fraction == time.busy_fraction);
        assert_true(plan.tail_fraction == time.tail_idle_fraction);
    }
}

/* Two nodes of 4 GPUs each, slots of 10 GB/s, NICs of 8 GB/s a node, NVLink of 100 GB/s; no
 * time goes by before the first byte. */
static const struct gpu_type plain = { .name = "plain", .nvlink = "plain", .pcie = "plain",
                                       .nvlink_bps = 100e9, .pcie_bps = 10e9 };

static struct gang plain_gang(uint32_t gpus, uint32_t nodes)
{
    return (struct gang){ .gpu = &plain, .gpus = gpus, .nodes = nodes, .intra_bps = 100e9,
                          .inter_bps = 8e9 };
}

static void same_plan(const struct phase_law *law, const struct gang *gang, double seconds,
                      const char *bottleneck)
{
    struct phase_plan plan = phase_plan(law, gang, 0.5);

    law_same("seconds", 0, 1 / plan.rate_max, seconds);
    assert_string_equal(plan.bottleneck, bottleneck);
}

/* 80 GB over the slots of the fullest node: 4 of one node, 3 of one that has 3 of 5 GPUs; the
 * NICs of 8 GB/s are narrower, but one node sends nothing over them. */
static void weights_are_sent_over_the_narrower_of_slots_and_nics(void **state)
{
    struct phase_law law = { .kind = LAW_SYNC, .bytes = 80e9 };
    struct gang one = plain_gang(4, 1), two = plain_gang(8, 2), odd = plain_gang(5, 2);

    (void)state;
    same_plan(&law, &one, 2, "pcie");           /* 80 / (4 x 10) */
    same_plan(&law, &two, 10, "network");       /* 80 / 8 */
    odd.inter_bps = 30e9;                       /* as wide as the slots: they are named */
    same_plan(&law, &odd, 80.0 / 30, "pcie");
    odd.inter_bps = 29e9;
    same_plan(&law, &odd, 80.0 / 29, "network");
}

/* 80 GB out of 4 slots of one node, of 8 of two; one without GPUs copies nothing. */
static void a_checkpoint_leaves_by_the_slots_of_all_nodes(void **state)
{
    struct phase_law law = { .kind = LAW_CHECKPOINT, .storage_bytes = 80e9 };
    struct gang one = plain_gang(4, 1), two = plain_gang(8, 2), none = { .nodes = 2, .cores = 8 };

    (void)state;
    same_plan(&law, &one, 2, "pcie");
    same_plan(&law, &two, 1, "pcie");
    assert_true(phase_plan(&law, &two, 0.5).rates.storage_bytes == 80e9);
    assert_true(phase_plan(&law, &two, 0.5).rates.pcie_bytes == 80e9);
    assert_true(phase_plan(&law, &none, 0.5).rates.pcie_bytes == 0);
    assert_true(phase_plan(&law, &none, 0.5).rates.storage_bytes == 80e9);
    law.storage_bytes = 9;      /* 9 B over 40 GB/s: less than a nanosecond, which is no time */
    assert_true(isinf(phase_plan(&law, &one, 0.5).rate_max));
    law.storage_bytes = 80;     /* 2 ns */
    same_plan(&law, &one, 2e-9, "pcie");
}

/* Each GPU moves 20 GB over its slot of 10 GB/s in 2 s, half a second is stated, and replicas of
 * 2 GPUs gather 60 GB of weights: of 30 GB in each GPU's part 3/4 come from the other 3 GPUs. */
static void a_reload_moves_bytes_and_gathers_shards(void **state)
{
    struct phase_law law = { .kind = LAW_RELOAD, .bytes = 20e9, .seconds = 0.5 };
    struct gang gang = plain_gang(4, 1), two = plain_gang(8, 2);

    (void)state;
    same_plan(&law, &gang, 2.5, "pcie");
    assert_true(phase_plan(&law, &gang, 0.5).rates.pcie_bytes == 4 * 20e9);
    law.gather_bytes = 60e9;
    law.engine_tp = 4;          /* each replica is the whole gang: nothing to gather */
    same_plan(&law, &gang, 2.5, "pcie");
    law.engine_tp = 2;
    same_plan(&law, &gang, 2.5 + 30e9 * 3 / 4 / 100e9, "pcie");
    assert_true(phase_plan(&law, &gang, 0.5).rates.network_bytes == 0);
    /* Two nodes: 4 rings between them, each with 30/4 GB of which half crosses, at a quarter of
     * 8 GB/s: 7.5 / 2 / 2 = 1.875 s.  15 GB leave a node. */
    same_plan(&law, &two, 2.5 + 1.875 + 30e9 * 3 / 4 / 100e9, "network");
    assert_true(phase_plan(&law, &two, 0.5).rates.network_bytes == 15e9);
    assert_true(phase_plan(&law, &two, 0.5).rates.pcie_bytes == 8 * 20e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fed_step_takes_the_time_of_its_slowest_part),
        cmocka_unit_test(a_step_on_cores_prepares_and_then_computes),
        cmocka_unit_test(preprocessing_takes_its_core_seconds_and_reads_what_it_misses),
        cmocka_unit_test(a_rollout_counts_prompts_once_and_all_tokens),
        cmocka_unit_test(weights_are_sent_over_the_narrower_of_slots_and_nics),
        cmocka_unit_test(a_checkpoint_leaves_by_the_slots_of_all_nodes),
        cmocka_unit_test(a_reload_moves_bytes_and_gathers_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
