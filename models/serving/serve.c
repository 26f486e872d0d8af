/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.c - the laws of a replica: one place where serving meets decode.h,
 * compute.h and net.h.
 *
 * On cores, a step of generation reads weights and KV cache or computes its tokens,
 * whichever takes longer, as in rollouts (cores.h).
 */
#include "models/serving/serve.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"
#include "models/laws/decode.h"
#include "models/laws/memory.h"
#include "models/laws/net.h"
#include "models/types/gang.h"

double serve_batch_s(const struct serve_law *law, const struct gang *gang,
                     uint32_t requests)
{
    assert(law != NULL && gang != NULL && requests > 0);
    if (law->kind == SERVE_FIXED)
        return law->batch_s + requests * law->request_s;
    assert(law->kind == SERVE_ENCODE);
    if (law->net != NULL && gang->gpu != NULL)
        return net_pass_s(law->net, law->precision, gang->gpu, requests);
    if (law->net != NULL)
        return net_cpu_pass_s(law->net, law->precision, gang->cpu,
                              gang->cores, requests);
    if (gang->gpu != NULL)
        return compute_encoder_s(law->llm, law->precision, gang->gpu,
                                 requests, law->prompt_tokens);
    return compute_cpu_encoder_s(law->llm, law->precision, gang->cpu,
                                 gang->cores, requests, law->prompt_tokens);
}

static struct decode_replica replica_of(const struct serve_law *law,
                                        const struct gang *gang)
{
    assert(law->llm != NULL && law->tp > 0);
    return (struct decode_replica){ .llm = law->llm, .precision = law->precision,
                                    .gang = gang, .tp = law->tp, .engine = DECODE_GRAPHS,
                                    .ahead = law->ahead };
}

double serve_prefill_s(const struct serve_law *law, const struct gang *gang,
                       double prompts, double prompt_tokens)
{
    assert(law->kind == SERVE_GENERATE);
    struct decode_replica replica = replica_of(law, gang);

    if (gang->gpu == NULL)
        return fmax(decode_prefill_s(&replica, prompts, prompt_tokens),
                    decode_step_s(&replica, prompts, 0.0));
    return decode_first_token_s(&replica, prompts, prompt_tokens);
}

double serve_step_s(const struct serve_law *law, const struct gang *gang,
                    double batch, double context_tokens)
{
    assert(law->kind == SERVE_GENERATE);
    struct decode_replica replica = replica_of(law, gang);

    return decode_step_s(&replica, batch, context_tokens);
}

/* A decoding step with a chunk of prompts in it, which reads the weights for both: part
 * of the prompts' arithmetic hides behind that. */
double serve_mixed_s(const struct serve_law *law, const struct gang *gang,
                     double batch, double context_tokens,
                     double chunk_tokens, double prompt_tokens)
{
    double prompts = chunk_tokens / prompt_tokens;

    assert(prompt_tokens > 0.0);
    if (!(batch > 0.0))
        return serve_prefill_s(law, gang, prompts, prompt_tokens);
    struct decode_replica replica = replica_of(law, gang);
    double prompts_s = decode_prefill_s(&replica, prompts, prompt_tokens);
    double step_s = serve_step_s(law, gang, batch, context_tokens);

    /* No more of them hides than the step is long. */
    return fmax(prompts_s, step_s + DECODE_PREFILL_SEEN * prompts_s);
}

/* GPUs: what weights and work buffers leave of the share that an engine takes.
 * Cores: what weights leave of the host memory. */
double serve_blocks_max(const struct serve_law *law, const struct gang *gang,
                        double host_bytes)
{
    const double block = SERVE_BLOCK_TOKENS;

    assert(law->kind == SERVE_GENERATE);
    if (gang->gpu != NULL && law->kv_tokens > 0.0)
        return floor(law->kv_tokens / block);
    if (gang->gpu != NULL)
        return memory_decode_batch_max(law->llm, law->precision, law->tp,
                                       block, gang->gpu->memory_bytes);
    double room = host_bytes - memory_weight_bytes(law->llm, law->precision);
    return floor(fmax(0.0, room) /
                 (block * memory_kv_bytes_per_token(law->llm)));
}

uint32_t serve_blocks(const struct serve_law *law, uint32_t tokens)
{
    const struct llm *llm = law->llm;

    assert(law->kind == SERVE_GENERATE);
    if (tokens <= llm->window || llm->window == 0)
        return (tokens + SERVE_BLOCK_TOKENS - 1) / SERVE_BLOCK_TOKENS;
    uint64_t kept = (uint64_t)(llm->layers - llm->window_layers) * tokens +
                    (uint64_t)llm->window_layers * llm->window;
    uint64_t block = (uint64_t)llm->layers * SERVE_BLOCK_TOKENS;

    return (uint32_t)((kept + block - 1) / block);
}
