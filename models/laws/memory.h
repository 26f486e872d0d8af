/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h - how many bytes a role needs on each of its GPUs.
 *
 * States by the bytes-per-parameter count of ZeRO (Rajbhandari et al. 2020,
 * arXiv 1910.02054, section 3), activations by Korthikanti et al. 2022
 * (arXiv 2205.05198, equations 1-6), LoRA by Hu et al. 2021 (2106.09685),
 * 4-bit weights by Dettmers et al. 2023 (2305.14314), KV cache by Kwon et al.
 * 2023 (2309.06180).
 */
#ifndef MODELS_LAWS_MEMORY_H
#define MODELS_LAWS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/types/precision.h"

struct llm;
struct net;

enum train_method { TRAIN_FULL, TRAIN_LORA, TRAIN_QLORA };
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
extern const char *const train_method_choices[];    /* "full" "lora" "qlora" */
extern const char *const recompute_choices[];   /* "none" "selective" "full" */

/* The software of a training run, as far as its speed differs:
 * eager: PyTorch layer by layer, FlashAttention-2, gradients sent meanwhile;
 * megatron: Megatron-LM to 2022: attention scores in memory, gradients sent
 *   after the last backward pass;
 * engine: fused kernels written for the GPU, launches as graphs, tensor
 *   parallel exchanges behind matrices (Transformer Engine, Megatron Core). */
enum train_stack { STACK_EAGER, STACK_MEGATRON, STACK_ENGINE, STACK_COUNT };
extern const char *const train_stack_choices[];

struct train_shape {
    const struct llm *llm;
    const struct net *net;      /* instead of llm, see net.h; else NULL */
    enum train_method method;
    enum precision precision;   /* of the working copy and the activations */
    int zero;                   /* 0 to 3 */
    enum recompute recompute;
    double sequence_tokens;
    double micro_batch;         /* sequences per GPU group at a time */
    uint32_t tp, pp;            /* at least 1 each */
    double lora_params;         /* 0: memory_lora_params at rank 16 */
    /* 0 or false of what follows is what most runs have. */
    uint32_t vp;                /* interleaved chunks of a stage (0: 1) */
    uint32_t cp;                /* context parallel (0: 1) */
    uint32_t ep;                /* expert parallel (0: 1), see experts.h */
    bool sequence_parallel;     /* norms and residuals divided by tp too */
    enum train_stack stack;
};

struct memory_need {            /* bytes per GPU */
    double weights, gradients, optimizer, activations;
    double gathered;            /* layers whole for a while under ZeRO-3 */
    double kv, workspace;
    double total;
};

/* On the first pipeline stage, which holds most. */
struct memory_need memory_train(const struct train_shape *shape,
                                uint32_t gpus);
/* `batch` responses in flight per replica, each at context_tokens. */
struct memory_need memory_decode(const struct llm *llm,
                                 enum precision precision, uint32_t tp,
                                 double batch, double context_tokens);
/* A pass without gradients over `tokens` at a time: reward, reference. */
struct memory_need memory_forward(const struct llm *llm,
                                  enum precision precision, uint32_t tp,
                                  double tokens);

double memory_weight_bytes(const struct llm *llm, enum precision precision);
double memory_kv_bytes_per_token(const struct llm *llm);
/* One latent vector stands for the keys and values of all heads (DeepSeek-V2,
 * arXiv 2405.04434, section 2.1). */
bool memory_kv_is_latent(const struct llm *llm);
/* Parts that tensor parallelism makes of a KV cache: heads are divided and no
 * further, so that more ranks hold copies; every rank holds a latent cache
 * whole. */
double memory_kv_parts(const struct llm *llm, uint32_t tp);
/* Bytes of the keys and values of one token and layer on one of tp GPUs, as
 * training attends to them: a latent vector is expanded to a key and a value
 * of each query head. */
double memory_kv_attended(const struct llm *llm, uint32_t tp);
/* Bytes on each GPU of a frozen copy of the trained model's weights, laid out
 * as the trained ones are, experts included; ZeRO-3 divides it too. */
double memory_frozen(const struct train_shape *shape, uint32_t gpus);
/* Trainable parameters of adapters on every linear layer. */
double memory_lora_params(const struct llm *llm, double rank);
/* The share of them that stands beside routed experts. */
double memory_lora_expert_share(const struct llm *llm);
/* The most responses whose KV cache fits beside the weights; 0: none. */
double memory_decode_batch_max(const struct llm *llm,
                               enum precision precision, uint32_t tp,
                               double context_tokens, double gpu_bytes);

/* What an inference engine takes of a device, whatever it serves. */
double memory_serve_bytes(double gpu_bytes);

/* The mildest change that makes a training shape fit, in a fixed order:
 * ZeRO 1..3, selective, then full recompute, micro batch 1, LoRA, QLoRA. */
struct memory_remedy {
    const char *text;           /* "zero: 3" or NULL: none of them */
    struct train_shape shape;   /* the shape that fits */
};
struct memory_remedy memory_remedy(const struct train_shape *shape,
                                   uint32_t gpus, double gpu_bytes);

#endif
