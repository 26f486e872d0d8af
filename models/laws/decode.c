/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decode.c - generation on one replica: prefill and decode steps.
 *
 * One step of a replica costs the sum of reading weights, reading the KV
 * cache, arithmetic, tensor-parallel collectives and a constant of the
 * engine; this additive form with a KV rate of 0.95 of peak is a fit to 1,048
 * measured configurations (aiconfigurator silicon samples).
 */
#include "models/laws/decode.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/laws/cores.h"
#include "models/laws/experts.h"
#include "models/laws/memory.h"
#include "models/types/gang.h"

/* KV cache is read at this share of the peak bandwidth (the fit above). */
#define KV_RATE 0.95
/* The constants below without a source of their own were chosen on AccelMark's
 * A100-80, H100 and RTX 4090, Splitwise's Llama-2-70B, TensorRT-LLM 0.6's
 * LLaMA 7B, and aiconfigurator's silicon samples of Llama-3.1-70B; other
 * models and devices of these suites test them (models/validation/README.md). */
/* Share of the sustained bandwidth that a whole step reaches. */
#define WEIGHT_SHARE 0.975
/* Arithmetic overlaps with reading weights: half of it shows. */
#define MATH_SHARE 2.0
/* Host part of one engine step and of each response in it (sampling, block
 * tables); gaps between the kernels of a layer in a graph. */
#define STEP_S 2.2e-3
#define SEQUENCE_S 20e-6
#define LAYER_S 12e-6
/* Further kernels of a layer that scale activations to 8 or 4 bits. */
#define SCALE_S 6e-6
/* What a layer of experts adds to a step: routing, permutation and grouped kernels, and more
 * with tensor parallelism.  Chosen on aiconfigurator's silicon samples of DeepSeek-V3 and R1; four
 * other families test them (models/validation/README.md).  TensorRT-LLM fuses most of it. */
#define EXPERTS_LAYER_S 36e-6
#define EXPERTS_COMPILED_LAYER_S 8e-6
#define EXPERTS_TP_LAYER_S 35e-6
/* Times where the host launches every kernel: it overlaps with the GPU,
 * and either waits for the other now and then. */
#define EAGER_LAYER_S 0.345e-3
#define EAGER_SEQUENCE_S 0.3e-3
/* A prefill of an eager engine takes longer by each pair of tokens (a mask of
 * the whole batch, not divided by tensor parallelism), of this many tokens at once. */
#define EAGER_PAIR_S 1.2e-8
#define EAGER_TOKENS 4608.0
#define EAGER_PREFILL_LAYER_S 0.6e-3
/* A compiled host. */
#define COMPILED_STEP_S 0.75e-3
#define COMPILED_SEQUENCE_S 11.5e-6
/* Share of the rate that prefills reach on matrices of any size. */
#define PREFILL_SHARE 0.80
/* Share of tensor parallel exchanges that a fused all-reduce leaves. */
#define EXCHANGE_SHARE 0.65
/* Bytes of weights that a step reads.  The embedding table is looked up, not
 * streamed; the experts that nobody chose are not read. */
static double step_weight_bytes(const struct llm *llm,
                                enum precision precision, double batch)
{
    assert(llm != NULL);
    assert(batch > 0.0);
    double per = precision_weight_bytes(precision);
    double table = (double)llm->vocab * llm->hidden;
    double untied = llm->tied ? 0.0 : table;
    double idle = 0.0;

    if (llm->experts > llm->experts_active && llm->experts_active > 0) {
        double share = (double)llm->experts_active / llm->experts;
        double all = (llm->params - llm->params_active) / (1.0 - share);
        idle = all * pow(1.0 - share, batch);
    }
    /* The output layer stays in 16 bits. */
    double head = table * fmax(0.0, 2.0 - per);

    return (llm->params - untied - idle) * per + head;
}

/* Returns the seconds in which the GPUs of a replica exchange activations: two all-reduces a
 * layer, behind attention and behind the MLP, of 16-bit activations. */
static double time_exchange(const struct decode_replica *r, double tokens)
{
    assert(r->tp > 0);
    assert(tokens > 0.0);
    if (r->tp == 1) {
        return 0.0;
    }
    return 2.0 * r->llm->layers *
           comm_group_s(COMM_ALL_REDUCE, r->gang, r->tp,
                        2.0 * tokens * r->llm->hidden);
}

/* Launching takes one core; a gang of unknown cores has the fastest. */
static double slow_host(const struct gang *gang)
{
    assert(gang != NULL && gang->nodes > 0);
    return gang->cpu != NULL && gang->cpu->core_speed > 0.0
               ? 1.0 / gang->cpu->core_speed : 1.0;
}

/* Time of the parts that one replica's host adds to the GPU's work. */
static double add_host(const struct decode_replica *r, double work_s,
                       double batch)
{
    assert(work_s >= 0.0);
    assert(batch > 0.0);
    switch (r->engine) {
    case DECODE_EAGER:
        return hypot(work_s, EAGER_LAYER_S * r->llm->layers *
                             slow_host(r->gang)) +
               STEP_S + EAGER_SEQUENCE_S * batch;
    case DECODE_COMPILED:
    case DECODE_KV8:
    case DECODE_UNGROUPED:
        return work_s + COMPILED_STEP_S +
               COMPILED_SEQUENCE_S * batch;
    case DECODE_GRAPHS:
    case DECODE_WAVES:
        break;
    }
    return r->ahead ? work_s : work_s + STEP_S + SEQUENCE_S * batch;
}

/* How often a cached element is read, in units of 16 bits. */
static double find_cache_factor(const struct decode_replica *r)
{
    assert(r->llm != NULL);
    assert(r->gang->gpu != NULL);
    switch (r->engine) {
    case DECODE_KV8:
        return 0.5;
    case DECODE_UNGROUPED:
        return (r->precision == PRECISION_FP8 ? 0.5 : 1.0) *
               r->llm->heads / r->llm->kv_heads;
    case DECODE_GRAPHS:
    case DECODE_WAVES:
    case DECODE_EAGER:
    case DECODE_COMPILED:
        break;
    }
    return 1.0;
}

/* Gaps between kernels, which an eager host has in its own part; formats below
 * 16 bits scale activations first. */
static double time_gaps(const struct decode_replica *r)
{
    assert(r->llm != NULL);
    bool scaled = r->precision == PRECISION_FP8 ||
                  r->precision == PRECISION_FP4;

    if (r->engine == DECODE_EAGER) {
        return 0.0;
    }
    return (LAYER_S + (scaled ? SCALE_S : 0.0)) * r->llm->layers;
}

/* Does the engine run a compiled host, whose kernels are fused? */
static bool is_compiled(enum decode_engine engine)
{
    return engine == DECODE_COMPILED || engine == DECODE_KV8 || engine == DECODE_UNGROUPED;
}

/* What the layers of experts add to the gaps of a step; an eager host hides it. */
static double time_expert_layers(const struct decode_replica *r)
{
    assert(r->llm != NULL && r->tp > 0);
    double layer_s = is_compiled(r->engine) ? EXPERTS_COMPILED_LAYER_S : EXPERTS_LAYER_S;

    if (r->engine == DECODE_EAGER) {
        return 0.0;
    }
    return experts_of(r->llm).layers *
           (layer_s + (r->tp > 1 ? EXPERTS_TP_LAYER_S : 0.0));
}

/* Has a replica all that its time depends on: a model, a gang, and GPUs for
 * its tp? */
static bool is_complete(const struct decode_replica *r)
{
    assert(r != NULL && r->gang != NULL);
    return r != NULL && r->llm != NULL && r->gang != NULL && r->tp > 0 &&
           (r->gang->gpu != NULL ? r->gang->gpus >= r->tp
                                 : cores_can(r->gang, r->precision));
}

/* One token for each response: weights and cache are read, which bounds a
 * small batch; arithmetic, gaps, the exchange of tensor parallel ranks and the
 * host are added. */
double decode_step_s(const struct decode_replica *r, double batch,
                     double context_tokens)
{
    assert(is_complete(r));
    assert(batch > 0.0 && context_tokens >= 0.0);
    const struct gpu_type *gpu = r->gang->gpu;
    double attended = compute_attended_tokens(r->llm, context_tokens);

    if (gpu == NULL)
        return cores_s(r->gang, r->precision,
                       compute_forward_flops(r->llm, batch, attended),
                       step_weight_bytes(r->llm, r->precision, batch) +
                           batch * attended *
                               memory_kv_bytes_per_token(r->llm));
    double weight_s = step_weight_bytes(r->llm, r->precision, batch) / r->tp /
                      (WEIGHT_SHARE * gpu->memory_bps_sustained);
    double kv_s = batch * attended * memory_kv_bytes_per_token(r->llm) /
                  memory_kv_parts(r->llm, r->tp) /
                  (KV_RATE * gpu->memory_bps) * find_cache_factor(r);
    double math_s = compute_forward_flops(r->llm, batch, 0.0) / r->tp /
                    (MATH_SHARE * compute_sustained_flops(gpu, r->precision));

    return add_host(r, weight_s + kv_s + math_s + time_gaps(r) + time_expert_layers(r) +
                           EXCHANGE_SHARE * time_exchange(r, batch), batch);
}

/* Further time of prompts because their experts' matrices are small and each multiplies only
 * the tokens sent to it, where `rate` is what the other matrices reach; and the copies of tokens
 * to experts and back.  0: a dense model. */
static double time_prompt_experts(const struct decode_replica *r, double tokens, double rate)
{
    assert(rate > 0.0);
    struct experts experts = experts_of(r->llm);
    const struct gpu_type *gpu = r->gang->gpu;

    if (experts.routed == 0 || tokens <= 0.0) {
        return 0.0;
    }
    double rows = fmax(1.0, tokens * experts.active / experts.routed);
    double own = PREFILL_SHARE *
                 compute_size_efficiency(experts_width(r->llm, r->tp), rows) *
                 compute_sustained_flops(gpu, r->precision);

    return (2.0 * tokens * experts.params_active * fmax(0.0, 1.0 / own - 1.0 / rate) +
            experts_copy_s(r->llm, tokens, gpu->memory_bps_sustained)) / r->tp;
}

/* Bound by arithmetic; an eager engine waits for its host at short prompts, as
 * the root of the sum of squares, and has attention that grows with the square
 * of the length. */
double decode_prefill_s(const struct decode_replica *r, double prompts,
                        double prompt_tokens)
{
    assert(is_complete(r));
    assert(prompts >= 0.0 && prompt_tokens >= 0.0);
    double tokens = prompts * prompt_tokens;
    double attended = compute_causal_tokens(r->llm, prompt_tokens);

    if (r->gang->gpu == NULL)
        return cores_s(r->gang, r->precision,
                       compute_forward_flops(r->llm, tokens, attended), 0.0);
    double width = r->llm->hidden / sqrt((double)r->tp);
    double rate = PREFILL_SHARE *
                  compute_size_efficiency(width, fmax(1.0, tokens)) *
                  compute_sustained_flops(r->gang->gpu, r->precision);
    double math_s = compute_forward_flops(r->llm, tokens, attended) / r->tp / rate;
    double work_s = math_s + time_prompt_experts(r, tokens, rate) + time_exchange(r, tokens);

    if (r->engine != DECODE_EAGER) {
        return work_s;
    }
    return hypot(work_s, EAGER_PREFILL_LAYER_S * r->llm->layers *
                         slow_host(r->gang)) +
           EAGER_PAIR_S * tokens * fmin(tokens, EAGER_TOKENS);
}

/* Arithmetic overlaps with reading weights; an eager prefill has its host's
 * part already. */
double decode_first_token_s(const struct decode_replica *r, double prompts,
                            double prompt_tokens)
{
    assert(is_complete(r) && prompts > 0.0);
    double work_s = decode_prefill_s(r, prompts, prompt_tokens);

    if (r->engine == DECODE_EAGER)
        return work_s;
    return hypot(work_s, decode_step_s(r, prompts, 0.0));
}

/* While one response grows by its output, each of the others is replaced once,
 * and its prompt is computed in between.  Chunks of prompts beside decoding
 * hide some of it.  Where prompts come first, requests run in waves, and one
 * sees on average that half of its wave's prompts that come after its own. */
#define WAVE_SEEN (1.0 / 2.0)

/* Requests beyond what the KV cache holds wait, and slow no step. */
double decode_served_step_s(const struct decode_replica *r,
                            double concurrency, double prompt_tokens,
                            double output_tokens)
{
    assert(is_complete(r) && concurrency > 0.0 && output_tokens > 0.0);
    double context = prompt_tokens + output_tokens / 2.0;
    double held = memory_decode_batch_max(r->llm, r->precision, r->tp, context,
                                          r->gang->gpu->memory_bytes) /
                  (r->engine == DECODE_KV8 ? 0.5 : 1.0);
    double seen = r->engine == DECODE_WAVES ? WAVE_SEEN : DECODE_PREFILL_SEEN;

    /* Others wait in the queue, where no token is between tokens. */
    concurrency = fmin(concurrency, fmax(1.0, held));
    double step_s = decode_step_s(r, concurrency, context);
    double prefill_s = decode_prefill_s(r, 1.0, prompt_tokens);

    return step_s + seen * fmax(0.0, concurrency - 1.0) * prefill_s /
                        output_tokens;
}
