/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - one optimizer step, from its parts: micro batches (train_pass.c),
 * the pipeline, the exchange of gradients, the optimizer.
 *
 * Constants without a source of their own were chosen on vTrain's single-node
 * rows of four models (h1024 and h2048 with 12 and 24 layers), llm-foundry's
 * 125M, 760M, 3B, 13B and 70B, and Megatron-Bridge's Llama-3-70B; the other
 * models and suites test them (models/validation, `clustersim calibrate`).
 */
#include "models/laws/train.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/laws/cores.h"
#include "models/laws/experts.h"
#include "models/laws/net.h"
#include "models/laws/offload.h"
#include "models/laws/train_pass.h"
#include "models/types/gang.h"
#include "models/types/precision.h"

/* Optimizer traffic per parameter, bytes read and written by one update. */
#define OPTIMIZER_BYTES 40.0
/* Outside of layers: data, loss, gradient norm, logging. */
#define STEP_FLOOR_S 7.5e-3

/* The parts of one micro batch on one pipeline stage. */
struct micro {
    double compute_s;           /* of its GPUs, kernels back to back */
    double comm_s;              /* collectives within a replica, and hops between stages */
    double launch_s;            /* kernel launches that compute does not cover */
    double total_s;
    double logit_s;     /* more on the last stage than on the mean one */
};

static double at_least_one(uint32_t n)
{
    return n > 1 ? n : 1.0;
}

/* Launches overlap with work: the larger of the two, softly. */
static void add_launches(const struct train_shape *shape, double passes,
                         struct micro *m)
{
    assert(passes > 0.0);
    assert(shape->pp > 0);
    struct train_software stack = train_software(shape);
    double layer_s = stack.floor_s +
                     (shape->tp > 1 ? stack.floor_tp_s : 0.0);
    double floor_s = layer_s * passes * shape->llm->layers / shape->pp;
    double work_s = m->compute_s + m->comm_s;

    m->total_s = train_launched_s(work_s, floor_s);
    m->launch_s = m->total_s - work_s;
}

/* `tokens` of one micro batch; context parallelism divides them. */
static struct micro micro_time(const struct train_shape *shape, const struct gang *gang,
                               const struct train_passes *p, double tokens)
{
    assert(shape->tp > 0 && shape->pp > 0);
    assert(gang->gpu != NULL);
    assert(tokens > 0.0);
    double mine = tokens / at_least_one(shape->cp);
    double logit_s = train_logits_s(shape, gang->gpu, p, mine);
    struct micro m;

    m.compute_s = train_layers_s(shape, gang, p, mine) + logit_s / shape->pp;
    m.logit_s = logit_s - logit_s / shape->pp;
    m.comm_s = train_exchanges_s(shape, gang, p, mine) +
               train_context_s(shape, gang, p, mine);
    add_launches(shape, p->layer, &m);
    if (shape->pp > 1) {
        double bytes = 2.0 * mine * shape->llm->hidden / shape->tp;
        uint32_t stride = gang->gpus / shape->pp;
        /* Activations go to the next stage, their gradients come back. */
        double ways = p->layer > 1.0 ? 2.0 : 1.0;
        double hop_s = ways * at_least_one(shape->vp) *
                       comm_strided_s(COMM_P2P, gang, 2, stride, bytes);
        m.comm_s += hop_s;
        m.total_s += hop_s;
    }
    return m;
}

/* Returns how many parameters are trained: all, or those of the adapters; by
 * default adapters of rank 16. */
static double trained_params(const struct train_shape *shape)
{
    assert(shape->llm != NULL);
    if (shape->method == TRAIN_FULL) {
        return shape->llm->params;
    }
    return shape->lora_params > 0.0 ? shape->lora_params
                                    : memory_lora_params(shape->llm, 16.0);
}

/* Megatron sums gradients in FP32 where the model is divided, as memory.c
 * counts them. */
static double gradient_bytes(const struct train_shape *shape)
{
    assert(shape != NULL);
    return shape->stack == STACK_MEGATRON && shape->tp * shape->pp > 1 ? 4.0
                                                                       : 2.0;
}

/* Parameters per GPU that `n` GPUs, `stride` apart, hold alike. */
struct shared_part {
    double base, trained;       /* all of them; those that are trained */
    uint32_t n, stride;
};

/* ZeRO-3 gathers the weights in both passes of every micro batch besides. */
static double part_exchange_s(const struct train_shape *shape,
                              const struct gang *gang,
                              const struct shared_part *part,
                              double micro_batches, double *inter_bytes)
{
    assert(part->n > 0 && part->stride > 0);
    assert(micro_batches > 0.0);
    assert(inter_bytes != NULL);
    double gradient = part->trained * gradient_bytes(shape);
    double base = part->base *
                  (shape->method == TRAIN_QLORA
                       ? precision_weight_bytes(PRECISION_INT4) : 2.0);
    double gathers = shape->zero >= 3 ? 2.0 * micro_batches : 0.0;
    enum comm_op op = shape->zero >= 3 ? COMM_REDUCE_SCATTER
                                       : COMM_ALL_REDUCE;
    uint32_t n = part->n;
    uint32_t stride = part->stride;

    if (n <= 1 || part->base <= 0.0) {
        return 0.0;
    }
    *inter_bytes += comm_strided_inter_bytes(op, gang, n, stride, gradient) +
                    gathers * comm_strided_inter_bytes(COMM_ALL_GATHER, gang,
                                                       n, stride, base);
    return comm_strided_s(op, gang, n, stride, gradient) +
           gathers * comm_strided_s(COMM_ALL_GATHER, gang, n, stride, base);
}

/* Bytes and time of the data-parallel exchange of one step: experts that are
 * divided over data parallel ranks are held alike by fewer. */
static double exchange_s(const struct train_shape *shape,
                         const struct gang *gang, double micro_batches,
                         double *inter_bytes)
{
    assert(gang->gpus > 0 && gang->nodes > 0);
    assert(micro_batches > 0.0);
    assert(inter_bytes != NULL);
    double split = (double)shape->tp * shape->pp;
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gang->gpus);
    struct shared_part all = { shape->llm->params / split,
                               trained_params(shape) / split,
                               (uint32_t)(gang->gpus / split), shape->tp };

    *inter_bytes = 0.0;
    if (place.ep == 1) {
        return part_exchange_s(shape, gang, &all, micro_batches, inter_bytes);
    }
    double held = (double)place.ep * place.tp;
    double trained = shape->method == TRAIN_FULL
                         ? experts.params
                         : trained_params(shape) *
                               memory_lora_expert_share(shape->llm);
    struct shared_part own = { experts.params / held / shape->pp,
                               trained / held / shape->pp, place.replicas,
                               place.ep * place.tp };

    all.base -= experts.params / split;
    all.trained -= trained / split;
    return part_exchange_s(shape, gang, &all, micro_batches, inter_bytes) +
           part_exchange_s(shape, gang, &own, micro_batches, inter_bytes);
}

/* Activations and their gradients that leave a node for other stages, in the busier
 * direction.  Each GPU at an edge sends its part of what it works on; there are as many as
 * the node has, or as a stage has.  A node with stages on both sides sends activations to
 * one and gradients to the other.  Where there are two nodes or two stages, each sends to
 * one side alone, but for chunks of a stage (vp), of which the first follows on the last. */
static double edge_bytes(const struct train_shape *shape, const struct gang *gang,
                         const struct train_passes *p, double tokens)
{
    assert(shape->pp > 0);
    assert(tokens > 0.0);
    if (shape->pp == 1 || gang->nodes == 1) {
        return 0.0;
    }
    double at_edge = fmin(comm_gpus_per_node(gang), (double)gang->gpus / shape->pp);
    double sides = 2.0 * at_least_one(shape->vp) -
                   (shape->pp == 2 || gang->nodes == 2 ? 1.0 : 0.0);

    /* Without gradients each stage sends to the next alone. */
    if (p->layer <= 1.0)
        sides = at_least_one(shape->vp);

    return sides * at_edge * precision_activation_bytes(shape->precision) * tokens /
           at_least_one(shape->cp) / shape->tp * shape->llm->hidden;
}

/* Returns how many parameters each GPU updates. tp and pp divide all of them.  Without ZeRO,
 * groups of experts divide the experts further; ZeRO divides everything among the replicas. */
static double updated_params(const struct train_shape *shape,
                             const struct gang *gang)
{
    assert(gang->gpus > 0);
    double split = (double)shape->tp * shape->pp;
    double params = trained_params(shape) / split;
    struct experts_place place = experts_place(shape, gang->gpus);

    if (shape->zero == 0 && place.ep > 1) {
        double share = shape->method == TRAIN_FULL
                           ? experts_of(shape->llm).params /
                                 shape->llm->params
                           : memory_lora_expert_share(shape->llm);
        params *= 1.0 - share * (1.0 - split / shape->pp / place.ep /
                                           place.tp);
    }
    if (shape->zero >= 1) {
        params /= fmax(1.0, floor(gang->gpus / split));
    }
    return params;
}

/* Returns the seconds of the host's work that backward passes do not hide.  They are two thirds
 * of a micro batch.  The host adds up gradients behind all but the last pass, and updates the
 * weights behind the last one. */
static double optimizer_s(const struct train_shape *shape,
                          const struct gang *gang, double count,
                          const struct micro *m)
{
    assert(gang->gpu->memory_bps_sustained > 0.0);
    assert(count >= 1.0);
    double params = updated_params(shape, gang);
    double backward_s = m->total_s * 2.0 / 3.0;

    if (!shape->on_host) {
        return params * OPTIMIZER_BYTES / gang->gpu->memory_bps_sustained;
    }
    return (count - 1.0) * offload_exposed_s(offload_add_s(gang, params),
                                             backward_s) +
           offload_exposed_s(offload_update_s(gang, params), backward_s);
}

/* MFU by its definition: 6N + 12 L H Q T operations a token, whatever the
 * kernels leave out of the masked half (Chowdhery et al. 2022, arXiv
 * 2204.02311, appendix B); of adapters 4N, as frozen weights have no gradient,
 * and 6 of each of their own.  HFU counts what is computed again besides
 * (Korthikanti et al. 2022, appendix A): of full recomputation one forward
 * pass of all layers, but not of the output layer; of selective, the scores
 * and their use. */
static void add_utilization(const struct train_shape *shape,
                            const struct gang *gang, double tokens,
                            struct step_time *step)
{
    assert(step->step_s > 0.0);
    assert(tokens > 0.0);
    const struct llm *llm = shape->llm;
    bool full = shape->method == TRAIN_FULL;
    double tables = (double)llm->vocab * llm->hidden * (llm->tied ? 1 : 2);
    double weights = compute_forward_flops(llm, tokens, 0.0);
    double attended = compute_attended_tokens(llm, shape->sequence_tokens);
    double scores = compute_forward_flops(llm, tokens, attended) - weights;
    double peak = gang->gpus *
                  compute_peak_flops(gang->gpu, shape->precision);
    double again = 0.0;

    step->flops = weights * (full ? 3.0 : 2.0) + 3.0 * scores;
    if (!full) {
        step->flops += 6.0 * tokens * trained_params(shape);
    }
    if (shape->recompute == RECOMPUTE_FULL) {
        again = weights - 2.0 * tokens * tables;
    }
    if (shape->recompute != RECOMPUTE_NONE) {
        again += scores;
    }
    step->mfu = step->flops / (step->step_s * peak);
    step->hfu = (step->flops + again) / (step->step_s * peak);
    step->busy_fraction = step->compute_s / step->step_s;
}

uint32_t train_replica_gpus(const struct train_shape *shape)
{
    assert(shape && shape->tp > 0 && shape->pp > 0);
    return shape->tp * shape->pp * (shape->cp > 1 ? shape->cp : 1);
}

/* What of the exchange the passes do not hide.  ZeRO-3 hides behind all
 * computing, the rest behind the last backward pass (two thirds of a micro
 * batch). */
static double exposed_s(const struct train_shape *shape, double exchange,
                        double count, const struct micro *m)
{
    assert(exchange >= 0.0);
    assert(count > 0.0);
    double cover_s = shape->zero >= 3 ? count * m->total_s
                                      : m->total_s * 2.0 / 3.0;

    return fmax(0.0, exchange - train_software(shape).overlap * cover_s);
}

/* Micro batches one after another, and what the pipeline, the exchange and the
 * optimizer add that these do not hide.  A global batch that does not divide
 * makes the largest replica's time. */
struct step_time train_step(const struct train_shape *shape,
                            const struct gang *gang,
                            double global_batch_sequences)
{
    assert(shape && (shape->llm || shape->net) && gang);
    if (gang->gpus == 0) {
        return cores_train_step(shape, gang, global_batch_sequences);
    }
    assert(gang->gpu);
    if (shape->net != NULL) {
        return net_train_step(shape, gang, global_batch_sequences);
    }
    assert(gang->gpus > 0 && shape->tp > 0 && shape->pp > 0);
    assert(global_batch_sequences > 0.0 && shape->micro_batch > 0.0);
    struct step_time step = { 0 };
    uint32_t dp = gang->gpus / train_replica_gpus(shape);
    assert(dp > 0);
    double per_replica = ceil(global_batch_sequences / dp - 1e-9);
    double size = fmin(shape->micro_batch, per_replica);
    double count = ceil(per_replica / size - 1e-9);
    struct train_passes passes = train_passes(shape);
    struct micro m = micro_time(shape, gang, &passes, size * shape->sequence_tokens);
    double dp_s = exchange_s(shape, gang, count, &step.inter_bytes_per_node);
    double tokens = size * shape->sequence_tokens;

    step.inter_bytes_per_node += count *
        (edge_bytes(shape, gang, &passes, tokens) +
         train_exchanges_bytes(shape, gang, &passes, tokens / at_least_one(shape->cp)) +
         train_context_bytes(shape, gang, &passes, tokens));
    step.compute_s = count * m.compute_s;
    step.launch_s = count * m.launch_s + STEP_FLOOR_S;
    /* Of (p - 1) / v micro batches, and of waiting for the last stage. */
    step.bubble_s = (shape->pp - 1.0) / at_least_one(shape->vp) * m.total_s +
                    count * m.logit_s;
    step.optimizer_s = optimizer_s(shape, gang, count, &m);
    step.comm_exposed_s = count * m.comm_s +
                          exposed_s(shape, dp_s, count, &m);
    step.step_s = step.compute_s + step.launch_s + step.bubble_s +
                  step.optimizer_s + step.comm_exposed_s;
    add_utilization(shape, gang,
                    global_batch_sequences * shape->sequence_tokens, &step);
    return step;
}

/* The smallest power of two of GPUs whose memory holds the pass. */
static uint32_t forward_tp(const struct llm *llm, enum precision precision,
                           const struct gang *gang, double tokens)
{
    assert(gang->gpus > 0);
    assert(tokens > 0.0);
    uint32_t tp = 1;

    while (tp * 2 <= gang->gpus &&
           memory_forward(llm, precision, tp, tokens).total >
               gang->gpu->memory_bytes) {
        tp *= 2;
    }
    return tp;
}

/* A forward pass alone, as for log probabilities: on the least tensor
 * parallelism that holds it, the rest of the gang being replicas; short
 * sequences are packed. */
struct step_time forward_step(const struct llm *llm, enum precision precision,
                              const struct gang *gang, double sequences,
                              double tokens)
{
    assert(llm && gang && sequences > 0.0 && tokens > 0.0);
    if (gang->gpus == 0) {
        return cores_forward_step(llm, precision, gang, sequences, tokens);
    }
    assert(gang->gpu);
    struct train_shape shape = {
        .llm = llm, .precision = precision, .sequence_tokens = tokens,
        .micro_batch = 1.0, .pp = 1,
        .tp = forward_tp(llm, precision, gang, tokens),
    };
    struct train_software stack = train_software(&shape);
    struct step_time step = { 0 };
    /* One forward pass; a layer exchanges activations twice, behind attention and behind the
     * MLP. */
    struct train_passes p = { 1.0, 1.0, 1.0, 2.0 };
    /* GPUs beyond whole replicas stay idle.  The slowest replica has the rounded-up share. */
    double replicas = fmax(1.0, floor((double)gang->gpus / shape.tp));
    double each = ceil(sequences / replicas - 1e-9);
    double packed = fmin(each, fmax(1.0, floor(FORWARD_TOKENS / tokens)));
    double count = ceil(each / packed - 1e-9);
    double compute_s = train_layers_s(&shape, gang, &p, packed * tokens) +
                       train_logits_s(&shape, gang->gpu, &p, packed * tokens);
    double comm_s = train_exchanges_s(&shape, gang, &p, packed * tokens);
    double total_s = train_launched_s(compute_s + comm_s,
                                      stack.floor_s * llm->layers);

    step.compute_s = count * compute_s;
    step.comm_exposed_s = count * comm_s;
    step.inter_bytes_per_node =
        count * train_exchanges_bytes(&shape, gang, &p, packed * tokens);
    step.launch_s = count * (total_s - compute_s - comm_s);
    step.step_s = count * total_s;
    step.flops = compute_forward_flops(llm, sequences * tokens,
                                       compute_attended_tokens(llm, tokens));
    step.mfu = step.flops / (step.step_s * gang->gpus *
                             compute_peak_flops(gang->gpu, precision));
    /* Nothing is recomputed in a pass without gradients. */
    step.hfu = step.mfu;
    step.busy_fraction = step.compute_s / step.step_s;
    return step;
}

/* One forward pass of micro batches through the stages: a stage waits at the beginning and at the
 * end for the others, once each. */
struct step_time forward_divided_step(const struct train_shape *shape, const struct gang *gang,
                                      double sequences)
{
    assert(shape && shape->llm && gang && gang->gpu && sequences > 0.0);
    assert(shape->tp > 0 && shape->pp > 0 && shape->micro_batch > 0.0);
    struct train_passes p = { 1.0, 1.0, 1.0, 2.0 };
    struct step_time step = { 0 };
    double replicas = fmax(1.0, floor((double)gang->gpus / train_replica_gpus(shape)));
    double each = ceil(sequences / replicas - 1e-9);
    double size = fmin(each, shape->micro_batch);
    double count = ceil(each / size - 1e-9);
    double tokens = size * shape->sequence_tokens;
    struct micro m = micro_time(shape, gang, &p, tokens);

    step.compute_s = count * m.compute_s;
    step.launch_s = count * m.launch_s;
    step.comm_exposed_s = count * m.comm_s;
    step.bubble_s = (shape->pp - 1.0) / at_least_one(shape->vp) * m.total_s + count * m.logit_s;
    step.step_s = step.compute_s + step.launch_s + step.comm_exposed_s + step.bubble_s;
    step.inter_bytes_per_node = count *
        (edge_bytes(shape, gang, &p, tokens) +
         train_exchanges_bytes(shape, gang, &p, tokens / at_least_one(shape->cp)) +
         train_context_bytes(shape, gang, &p, tokens));
    step.flops = compute_forward_flops(shape->llm, sequences * shape->sequence_tokens,
                                       compute_attended_tokens(shape->llm,
                                                               shape->sequence_tokens));
    step.mfu = step.flops / (step.step_s * gang->gpus *
                             compute_peak_flops(gang->gpu, shape->precision));
    step.hfu = step.mfu;
    step.busy_fraction = step.compute_s / step.step_s;
    return step;
}
