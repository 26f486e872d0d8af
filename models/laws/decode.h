/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decode.h - generation on one replica: prefill and decode steps.
 *
 * A decode step reads the weights and the KV cache once, whatever the batch
 * (Pope et al. 2022, arXiv 2211.05102); replicas batch continuously (Yu et al.
 * 2022, Orca).  A rollout, which is many responses on many replicas, is in
 * rollout.h.
 */
#ifndef MODELS_LAWS_DECODE_H
#define MODELS_LAWS_DECODE_H

#include <stdint.h>

#include "models/types/precision.h"

struct gang;
struct llm;

/* How an engine gives work to the GPU. */
enum decode_engine {
    DECODE_GRAPHS,      /* captured kernels, a Python host: vLLM */
    DECODE_WAVES,       /* the same, prompts before responses: SGLang */
    DECODE_EAGER,       /* layer by layer: vLLM of 2023 */
    DECODE_COMPILED,    /* a compiled host: TensorRT-LLM */
    DECODE_KV8,         /* the same, the KV cache in 8 bits */
    DECODE_UNGROUPED    /* the same before 2024: grouped heads read apart */
};

/* tp GPUs of a gang that holds at least so many. */
struct decode_replica {
    const struct llm *llm;
    enum precision precision;
    const struct gang *gang;
    uint32_t tp;
    enum decode_engine engine;
};

/* One step of a batch; context_tokens is the mean context in flight. */
double decode_step_s(const struct decode_replica *replica, double batch,
                     double context_tokens);
/* What prompts take beside decoding, which reads the weights for both. */
double decode_prefill_s(const struct decode_replica *replica, double prompts,
                        double prompt_tokens);
/* A pass of prompts and nothing else, from its start to the first tokens: the
 * weights are read once more, and the host has its part, as in any pass. */
double decode_first_token_s(const struct decode_replica *replica,
                            double prompts, double prompt_tokens);
/* Mean time between tokens of a response where new prompts keep coming:
 * `concurrency` requests at once, each of that prompt and output. */
double decode_served_step_s(const struct decode_replica *replica,
                            double concurrency, double prompt_tokens,
                            double output_tokens);

/* Of the time that chunks of prompts take alone, beside decoding: they compute
 * while decoding reads memory.  Chosen on the rows of decode.c's served suite. */
#define DECODE_PREFILL_SEEN 0.78

#endif
