/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.c - see cores.h.
 *
 * Training counts operations as train.c does, with a backward pass of twice the
 * forward one (once for adapters: only gradients of activations; Hu et al. 2021)
 * and what is computed again.  No published run of training on CPUs states
 * enough to test this.
 */
#include "models/laws/cores.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"
#include "models/laws/memory.h"
#include "models/types/gang.h"

/* Share of the bandwidth of STREAM at which weights and caches are read.  The
 * geometric mean of two sources, one for each maker: 0.83 on an EPYC 9554
 * (Phi-4, four formats) and 0.47 on 22 cores of a Xeon 8481C (Llama-2 7B); the
 * other rows of models/validation/cores_throughput.csv test it. */
#define READ_SHARE 0.62

bool cores_can(const struct gang *gang, enum precision precision)
{
    assert(gang != NULL);
    return gang->gpus == 0 && gang->cpu != NULL && gang->cores > 0 &&
           gang->cpu->cores > 0 && gang->cpu->memory_bps_sustained > 0.0 &&
           compute_cpu_flops(gang->cpu, precision, gang->cores) > 0.0;
}

double cores_s(const struct gang *gang, enum precision precision, double flops,
               double bytes)
{
    assert(cores_can(gang, precision));
    assert(flops >= 0.0 && bytes >= 0.0);
    return compute_roofline_s(
        flops, compute_cpu_flops(gang->cpu, precision, gang->cores), bytes,
        READ_SHARE * compute_cpu_bps(gang->cpu, gang->cores));
}

/* Operations of a step: of the model, and those done again. */
static void count_flops(const struct train_shape *shape, double tokens,
                        double *model, double *again)
{
    const struct llm *llm = shape->llm;
    bool full = shape->method == TRAIN_FULL;
    double adapters = shape->lora_params > 0.0
                          ? shape->lora_params
                          : memory_lora_params(llm, 16.0);
    double weights = compute_forward_flops(llm, tokens, 0.0);
    double attended = compute_causal_tokens(llm, shape->sequence_tokens);
    double scores = compute_forward_flops(llm, tokens, attended) - weights;

    assert(tokens > 0.0);
    *model = weights * (full ? 3.0 : 2.0) + 3.0 * scores +
             (full ? 0.0 : 6.0 * tokens * adapters);
    *again = shape->recompute == RECOMPUTE_FULL ? weights + scores
             : shape->recompute == RECOMPUTE_SELECTIVE ? scores : 0.0;
}

/* On cores one process holds the whole model. */
struct memory_need cores_train_memory(const struct train_shape *shape)
{
    assert(shape != NULL && shape->llm != NULL);
    struct train_shape whole = *shape;

    whole.tp = whole.pp = 1;
    whole.vp = whole.cp = whole.ep = 0;
    whole.zero = 0;
    whole.on_host = false;
    return memory_train(&whole, 1);
}

/* Micro batches only divide the reading of weights; nothing is exchanged, as
 * all cores share one memory. */
struct step_time cores_train_step(const struct train_shape *shape,
                                  const struct gang *gang, double sequences)
{
    assert(shape != NULL && shape->llm != NULL && sequences > 0.0);
    struct memory_need need = cores_train_memory(shape);
    struct step_time step = { 0 };
    double size = fmin(shape->micro_batch, sequences);
    double count = ceil(sequences / size - 1e-9);
    double passes = shape->recompute == RECOMPUTE_FULL ? 3.0 : 2.0;
    double again;

    count_flops(shape, sequences * shape->sequence_tokens, &step.flops,
                &again);
    /* Weights are read once a pass; the optimizer reads and writes its states. */
    step.compute_s = cores_s(gang, shape->precision, step.flops + again,
                             count * passes * need.weights);
    step.optimizer_s = cores_s(gang, shape->precision, 0.0,
                               2.0 * (need.optimizer + need.gradients));
    step.step_s = step.compute_s + step.optimizer_s;
    step.busy_fraction = 1.0;
    return step;
}

struct step_time cores_forward_step(const struct llm *llm,
                                    enum precision precision,
                                    const struct gang *gang, double sequences,
                                    double tokens)
{
    assert(llm != NULL && sequences > 0.0 && tokens > 0.0);
    struct step_time step = { 0 };
    struct llm layers = *llm;

    /* A token only looks up one row of the table of words: no arithmetic is done with it. */
    layers.params -= compute_word_params(llm);
    layers.params_active -= compute_word_params(llm);
    step.flops = compute_forward_flops(&layers, sequences * tokens,
                                       compute_attended_tokens(llm, tokens));
    step.compute_s = cores_s(gang, precision, step.flops,
                             memory_weight_bytes(&layers, precision));
    step.step_s = step.compute_s;
    step.busy_fraction = 1.0;
    return step;
}

/* What host memory leaves beside the weights, in responses of that context. */
double cores_batch_max(const struct llm *llm, enum precision precision,
                       double context_tokens, double host_bytes)
{
    assert(llm != NULL && context_tokens > 0.0);
    double room = host_bytes - memory_weight_bytes(llm, precision);

    return floor(fmax(0.0, room) /
                 (compute_attended_tokens(llm, context_tokens) *
                  memory_kv_bytes_per_token(llm)));
}
