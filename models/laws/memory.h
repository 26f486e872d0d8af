/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h - how many bytes a role needs on each of its GPUs.
 *
 * Model states: bytes per parameter of ZeRO (Rajbhandari et al. 2020, arXiv
 * 1910.02054, section 3).  Activations: Korthikanti et al. 2022 (arXiv
 * 2205.05198, equations 1-6).  LoRA: Hu et al. 2021 (2106.09685).  4-bit
 * weights: Dettmers et al. 2023 (2305.14314).  KV cache: Kwon et al. 2023
 * (2309.06180).
 *
 * Functions return bytes per GPU where nothing else is said.
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

/* The software of a training run, as far as it decides the speed:
 * eager: PyTorch layer by layer, FlashAttention-2, gradients sent during the
 *   backward pass;
 * megatron: Megatron-LM to 2022: attention scores in memory, gradients sent
 *   after the last backward pass;
 * engine: fused kernels written for the GPU, CUDA graphs, tensor parallel
 *   exchanges hidden behind matrices (Transformer Engine, Megatron Core). */
enum train_stack { STACK_EAGER, STACK_MEGATRON, STACK_ENGINE, STACK_COUNT };
extern const char *const train_stack_choices[];

struct train_shape {
    const struct llm *llm;      /* what is trained; NULL: a net */
    const struct net *net;      /* instead of llm, see net.h; else NULL */
    enum train_method method;
    enum precision precision;   /* of working weights and activations */
    int zero;                   /* 0 to 3 */
    enum recompute recompute;
    double sequence_tokens;     /* of each sequence */
    double micro_batch;         /* sequences per replica at a time */
    uint32_t tp, pp;            /* at least 1 each */
    double lora_params;         /* 0: memory_lora_params at rank 16 */
    /* 0 or false is the usual value of these: */
    uint32_t vp;                /* interleaved chunks of a stage (0: 1) */
    uint32_t cp;                /* context parallel (0: 1) */
    uint32_t ep;                /* expert parallel (0: 1), see experts.h */
    bool sequence_parallel;     /* tp divides norms and residuals, too */
    enum train_stack stack;     /* software of the steps: launches and fused kernels */
    bool on_host;               /* the optimizer works there, see offload.h */
};

struct memory_need {            /* bytes per GPU */
    double weights, gradients, optimizer, activations;
    double gathered;            /* ZeRO-3: layers that are whole for a while */
    double kv, workspace;
    double total;               /* sum of the above */
};

/* Returns what training needs on a GPU of the first pipeline stage, which needs
 * most.  `gpus`: all GPUs of the role. */
struct memory_need memory_train(const struct train_shape *shape,
                                uint32_t gpus);
/* Returns what generation needs: a replica of tp GPUs with `batch` responses at
 * a time, each with context_tokens. */
struct memory_need memory_decode(const struct llm *llm,
                                 enum precision precision, uint32_t tp,
                                 double batch, double context_tokens);
/* Returns what a pass without gradients needs (reward, reference), over
 * `tokens` at a time. */
struct memory_need memory_forward(const struct llm *llm,
                                  enum precision precision, uint32_t tp,
                                  double tokens);

/* Returns the bytes of host memory for each GPU that an optimizer on the host
 * needs; 0 if it works on the GPU. */
double memory_host(const struct train_shape *shape, uint32_t gpus);

/* Returns the bytes of all weights of the model, on however many GPUs. */
double memory_weight_bytes(const struct llm *llm, enum precision precision);
/* Returns the KV cache of one token, all layers and heads, in 16 bits.  Of a context it takes
 * compute_attended_tokens(): a layer with a window keeps the last `window` tokens alone (vLLM's
 * manual, design/hybrid_kv_cache_manager; TensorRT-LLM has a pool for each window, features/kvcache
 * of its manual). */
double memory_kv_bytes_per_token(const struct llm *llm);
/* True: the model caches one latent vector in the place of the keys and values
 * of all heads (DeepSeek-V2, arXiv 2405.04434, section 2.1). */
bool memory_kv_is_latent(const struct llm *llm);
/* Returns into how many parts tensor parallelism divides the KV cache.  Heads
 * are divided, a head is not: with more ranks than heads some ranks hold the
 * same head.  A latent cache is whole on every rank. */
double memory_kv_parts(const struct llm *llm, uint32_t tp);
/* Returns the bytes of the keys and values of one token and layer on one of tp
 * GPUs in training.  There a latent vector is expanded to a key and a value of
 * each query head. */
double memory_kv_attended(const struct llm *llm, uint32_t tp);
/* Returns the bytes of a frozen copy of the weights.  It is laid out as the
 * trained weights are, experts included; ZeRO-3 divides it, too. */
double memory_frozen(const struct train_shape *shape, uint32_t gpus);
/* Returns the number of parameters of adapters on every linear layer. */
double memory_lora_params(const struct llm *llm, double rank);
/* Returns the share of these parameters that belongs to routed experts. */
double memory_lora_expert_share(const struct llm *llm);
/* Returns how many responses' KV caches fit beside the weights; 0: none. */
double memory_decode_batch_max(const struct llm *llm,
                               enum precision precision, uint32_t tp,
                               double context_tokens, double gpu_bytes);

/* Returns what an inference engine reserves on a GPU of gpu_bytes; the model
 * does not matter. */
double memory_serve_bytes(double gpu_bytes);

/* The first change that makes a training shape fit, tried in this order: ZeRO
 * 1 to 3, selective recompute, full recompute, micro batch 1, LoRA, QLoRA. */
struct memory_remedy {
    const char *text;           /* "zero: 3"; NULL: no change is enough */
    struct train_shape shape;   /* the shape that fits */
};
/* gpu_bytes: memory of each of the `gpus` GPUs. */
struct memory_remedy memory_remedy(const struct train_shape *shape,
                                   uint32_t gpus, double gpu_bytes);

#endif
