/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decode.h - generation on one replica: prefill and decode steps.
 *
 * A decode step reads the weights and the KV cache once for the whole batch
 * (Pope et al. 2022, arXiv 2211.05102); replicas batch continuously (Yu et al.
 * 2022, Orca).  All functions return seconds.  rollout.h has many responses on
 * many replicas.
 */
#ifndef MODELS_LAWS_DECODE_H
#define MODELS_LAWS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/precision.h"

struct gang;
struct llm;

/* How an engine launches work on the GPU. */
enum decode_engine {
    DECODE_GRAPHS,      /* CUDA graphs, host in Python: vLLM */
    DECODE_WAVES,       /* as GRAPHS, prompts before responses: SGLang */
    DECODE_EAGER,       /* layer by layer: vLLM of 2023 */
    DECODE_COMPILED,    /* host in C++: TensorRT-LLM */
    DECODE_KV8,         /* as COMPILED, KV cache in 8 bits */
    DECODE_UNGROUPED    /* as COMPILED, before 2024: each query head reads its
                           own copy of the shared keys and values */
};

/* A replica runs on tp GPUs of the gang; the gang has at least tp.  `ahead` counts with
 * GRAPHS and WAVES alone: vLLM does so from release 0.14 (its notes: "async scheduling enabled
 * by default").  false is the host of earlier releases. */
struct decode_replica {
    const struct llm *llm;
    enum precision precision;   /* of weights and activations; the KV cache has 16 bits */
    const struct gang *gang;    /* good as long as the replica is asked about */
    uint32_t tp;
    enum decode_engine engine;  /* whose overheads count */
    bool ahead;                 /* the host prepares the next step while the GPU works */
};

/* What a replica whose host does not work ahead is called in results: the host's part of a step
 * and of each response in it are those of decode.c. */
#define DECODE_HOST_WAITS "false: each step waits for its host, 2.2 ms and 20 us a response"

/* Time of one decode step of `batch` responses; context_tokens is their mean
 * context. */
double decode_step_s(const struct decode_replica *replica, double batch,
                     double context_tokens);
/* Time of prompts that are computed beside decoding: decoding has read the
 * weights already. */
double decode_prefill_s(const struct decode_replica *replica, double prompts,
                        double prompt_tokens);
/* Time of a pass over prompts alone, from its start to the first tokens.  It
 * includes reading the weights and the host's time per pass. */
double decode_first_token_s(const struct decode_replica *replica,
                            double prompts, double prompt_tokens);
/* Mean time between two tokens of a response in the steady state: there are
 * always `concurrency` requests, each with that prompt and output. */
double decode_served_step_s(const struct decode_replica *replica,
                            double concurrency, double prompt_tokens,
                            double output_tokens);

/* Share of a prompt's time alone that it adds to decoding steps beside it:
 * prompts compute while decoding reads memory.  Chosen on the rows of the
 * served suite of decode.c. */
#define DECODE_PREFILL_SEEN 0.78

#endif
