/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_world.c - models, gangs and shapes by lot. */
#include "tests/aid/law_world.h"

#include <math.h>

uint32_t law_world_one(struct rng *rng, const uint32_t *values, uint32_t n)
{
    return values[rng_below(rng, n)];
}

/* Log-uniform between both. */
static double between(struct rng *rng, double low, double high)
{
    return low * pow(high / low, rng_uniform(rng));
}

static void draw_llm(struct rng *rng, struct law_world *world)
{
    struct llm *llm = &world->llm;
    double layers = LAW_ONE(rng, 4, 8, 16, 32);

    *llm = (struct llm){
        .name = "drawn", .layers = (uint32_t)layers, .hidden = LAW_ONE(rng, 512, 2048, 8192),
        .heads = LAW_ONE(rng, 8, 16, 64), .kv_heads = LAW_ONE(rng, 1, 4, 8),
        .head_dim = LAW_ONE(rng, 64, 128), .ffn = LAW_ONE(rng, 1024, 4096, 28672),
        .ffn_matrices = LAW_ONE(rng, 2, 3), .vocab = LAW_ONE(rng, 1000, 50000, 128256),
        .tied = rng_below(rng, 2) == 0,
    };
    bool latent = rng_below(rng, 4) == 0;
    llm->kv_width = latent ? llm->head_dim + 1 : 2 * llm->kv_heads * llm->head_dim;
    if (llm->kv_width > 2 * llm->kv_heads * llm->head_dim)
        llm->kv_width = 2 * llm->kv_heads * llm->head_dim;
    double matrix = (double)llm->ffn_matrices * llm->hidden * llm->ffn;
    double dense = layers * (matrix + 4.0 * llm->hidden * llm->hidden) +
                   2.0 * llm->vocab * llm->hidden;

    llm->window = LAW_ONE(rng, 0, 0, 128, 3000);
    llm->window_layers = llm->window > 0 ? llm->layers / LAW_ONE(rng, 1, 2, 4) : 0;
    world->expert_layers = world->expert_params = 0.0;
    world->routed = world->routed_active = 0;
    llm->params = llm->params_active = dense;
    if (rng_below(rng, 2) == 0)
        return;
    world->routed = LAW_ONE(rng, 8, 64);
    world->routed_active = LAW_ONE(rng, 1, 2, 4);
    world->expert_layers = layers - LAW_ONE(rng, 0, 1, 3);
    world->expert_params = world->expert_layers * matrix * world->routed;
    llm->experts_shared = LAW_ONE(rng, 0, 1);
    llm->experts = world->routed + llm->experts_shared;
    llm->experts_active = world->routed_active + llm->experts_shared;
    llm->params += world->expert_params;
    llm->params_active += world->expert_params * world->routed_active / world->routed;
}

/* Layer by layer. */
double law_attended(const struct llm *llm, double context)
{
    double sum = 0;

    for (uint32_t i = 0; i < llm->layers; i++)
        sum += i < llm->window_layers ? law_least(context, llm->window) : context;
    return sum / llm->layers;
}

/* Token by token, each in the middle of its place. */
double law_causal(const struct llm *llm, double tokens)
{
    double all = 0, part = 0;

    for (double i = 0.5; i < tokens; i++) {
        all += i;
        part += law_least(i, llm->window);
    }
    return (all * (llm->layers - llm->window_layers) + part * llm->window_layers) /
           llm->layers / tokens;
}

static void draw_gang(struct rng *rng, struct law_world *world)
{
    struct gpu_type *gpu = &world->gpu;
    uint32_t nodes = LAW_ONE(rng, 1, 2, 4, 16);

    *gpu = (struct gpu_type){
        .name = "drawn", .nvlink = "drawn", .pcie = "drawn",
        .memory_bytes = between(rng, 1e10, 2e11), .memory_bps = 4e12,
        .memory_bps_sustained = between(rng, 1e11, 1e13),
        .nvlink_bps = rng_below(rng, 3) > 0 ? 1e11 : 0.0,
        .pcie_bps = between(rng, 1e9, 1e11),
    };
    for (int i = 0; i < PRECISION_COUNT; i++) {
        gpu->flops_sustained[i] = between(rng, 1e13, 1e15);
        gpu->flops_peak[i] = 2.0 * gpu->flops_sustained[i];
    }
    world->cpu = (struct cpu_type){ .name = "drawn", .cores = 64,
                                    .memory_bps_sustained = between(rng, 1e11, 1e12) };
    world->gang = (struct gang){
        .gpu = gpu, .gpus = nodes * 8, .nodes = nodes,
        .intra_bps = between(rng, 1e9, 1e12), .intra_latency_s = between(rng, 1e-6, 1e-4),
        .inter_bps = between(rng, 1e9, 1e12), .inter_latency_s = between(rng, 1e-6, 1e-4),
        .cores = LAW_ONE(rng, 16, 64, 256), .cpu = &world->cpu,
    };
}

static void draw_shape(struct rng *rng, struct law_world *world)
{
    struct train_shape *shape = &world->shape;
    uint32_t left = world->gang.gpus;

    *shape = (struct train_shape){
        .llm = &world->llm, .method = (enum train_method)rng_below(rng, 3),
        .precision = LAW_ONE(rng, PRECISION_FP32, PRECISION_BF16, PRECISION_BF16,
                             PRECISION_FP8),
        .zero = (int)rng_below(rng, 4), .recompute = (enum recompute)rng_below(rng, 3),
        .sequence_tokens = LAW_ONE(rng, 1, 300, 2048, 65536),
        .micro_batch = LAW_ONE(rng, 1, 2, 5),
        .lora_params = rng_below(rng, 2) == 0 ? 0.0 : 1e7,
        .vp = LAW_ONE(rng, 0, 1, 3), .sequence_parallel = rng_below(rng, 2) == 0,
        .stack = (enum train_stack)rng_below(rng, STACK_COUNT),
        .on_host = rng_below(rng, 4) == 0,
    };
    do
        shape->tp = LAW_ONE(rng, 1, 1, 2, 4, 8, 16);
    while (left % shape->tp != 0);
    left /= shape->tp;
    do
        shape->pp = LAW_ONE(rng, 1, 1, 2, 4);
    while (left % shape->pp != 0);
    left /= shape->pp;
    do
        shape->cp = LAW_ONE(rng, 0, 1, 2, 8);
    while (shape->cp > 1 && left % shape->cp != 0);
    if (world->routed > 0)
        shape->ep = LAW_ONE(rng, 0, 1, 2, 8);
    if (shape->ep > 1 && left * shape->tp % shape->ep != 0)
        shape->ep = 1;
    world->batch = LAW_ONE(rng, 1, 24, 100, 1000);
}

void law_world_draw(struct rng *rng, struct law_world *world)
{
    draw_llm(rng, world);
    draw_gang(rng, world);
    draw_shape(rng, world);
}
