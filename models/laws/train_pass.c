/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_pass.c - matrices by the rate that their size reaches, element-wise
 * work by bandwidth, exchanges of tensor, expert and context parallelism.
 *
 * Constants without a source of their own: see train.c.
 */
#include "models/laws/train_pass.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/laws/experts.h"
#include "models/types/gang.h"
#include "models/types/precision.h"

/* Share of the large-matrix rate that a whole model's matrices reach. */
#define MODEL_RATE 0.89
/* Bytes of element-wise traffic of one forward pass, in units of hidden size
 * and tokens: norms, residuals, activation functions, casts, by software. */
#define EAGER_ELEMENT 115.0
#define MEGATRON_ELEMENT 40.0
#define ENGINE_ELEMENT 75.0
/* Rate of causal attention per useful operation, as a share of the matrix
 * rate.  FlashAttention-2 uses no instructions newer than Ampere's, and
 * reaches no more on later GPUs (335 TFLOPS forward and backward on H100 at
 * best: Dao 2023, arXiv 2307.08691, section 4). */
#define EAGER_ATTENTION 0.40
#define EAGER_ATTENTION_FLOPS 1.45e14
#define ENGINE_ATTENTION 0.75
/* Attention whose scores go through memory: bytes for each score and pass. */
#define SCORE_BYTES 12.0
/* Per vocabulary entry and token: 16-bit logits out and in, FP32 softmax,
 * gradient out and twice in. */
#define LOGIT_BYTES 16.0
/* A framework cannot launch one layer's pass faster; collectives of tensor
 * parallelism are more to launch. */
#define EAGER_FLOOR_S 0.8e-3
#define MEGATRON_FLOOR_S 0.81e-3
#define MEGATRON_FLOOR_TP_S 0.08e-3
#define ENGINE_FLOOR_S 0.1e-3
/* Share of the passes behind which gradients and gathers travel. */
#define EAGER_OVERLAP 0.8
#define ENGINE_OVERLAP 0.9
/* A backward pass of attention, in units of a forward pass. */
#define BACKWARD 2.0
/* Share of tensor parallel exchanges hidden behind matrices. */
#define ENGINE_TP_OVERLAP 0.9
/* 4-bit weights are expanded before use: 3,083 against 2,413 tokens/s
 * (torchtune, Llama-3.1-8B LoRA and QLoRA on one RTX 4090). */
#define QLORA_SLOWDOWN (3083.0 / 2413.0)

struct train_software train_software(const struct train_shape *shape)
{
    assert(shape->stack < STACK_COUNT);
    switch (shape->stack) {
    case STACK_MEGATRON:
        return (struct train_software){ MEGATRON_ELEMENT, MEGATRON_FLOOR_S,
                                        MEGATRON_FLOOR_TP_S, 0.0, 0.0 };
    case STACK_ENGINE:
        return (struct train_software){ ENGINE_ELEMENT, ENGINE_FLOOR_S, 0.0,
                                        ENGINE_OVERLAP, ENGINE_TP_OVERLAP };
    case STACK_EAGER:
    case STACK_COUNT:
        break;
    }
    return (struct train_software){ EAGER_ELEMENT, EAGER_FLOOR_S,
                                    MEGATRON_FLOOR_TP_S, EAGER_OVERLAP, 0.0 };
}

/* Three passes of arithmetic: one forward, two backward (activations,
 * weights). Full recomputing adds a forward pass, selective only that of
 * attention. */
struct train_passes train_passes(const struct train_shape *shape)
{
    assert(shape->llm != NULL);
    struct train_passes p = { 3.0, 3.0, 3.0, 4.0 };

    if (shape->method != TRAIN_FULL) {
        p.matrix = 2.0; /* frozen weights need no gradient of their own */
    }
    if (shape->recompute == RECOMPUTE_FULL) {
        p.matrix += 1.0;
        p.attention += 1.0;
        p.layer += 1.0;
        p.exchanges += 2.0;
    }
    if (shape->recompute == RECOMPUTE_SELECTIVE) {
        p.attention += 1.0;
    }
    return p;
}

static double find_sized_rate(const struct gpu_type *gpu, enum precision precision,
                              double width, double tokens)
{
    assert(width > 0.0 && tokens > 0.0);
    return MODEL_RATE * compute_size_efficiency(width, tokens) *
           compute_sustained_flops(gpu, precision);
}

/* Returns the FLOPs per second that matrices of this shape reach. tp divides one side of each
 * of them: their size is taken as hidden / sqrt(tp). */
static double find_matrix_rate(const struct train_shape *shape,
                               const struct gpu_type *gpu,
                               enum precision precision, double tokens)
{
    assert(shape->tp > 0);
    assert(tokens > 0.0);
    return find_sized_rate(gpu, precision,
                           shape->llm->hidden / sqrt((double)shape->tp), tokens);
}

/* What an expert's matrices reach: each expert multiplies the tokens sent to it. */
static double find_expert_rate(const struct train_shape *shape,
                               const struct gang *gang,
                               const struct experts *experts, double tokens)
{
    assert(experts->routed > 0);
    assert(tokens > 0.0);
    struct experts_place place = experts_place(shape, gang->gpus);
    double width = experts_width(shape->llm, place.tp);
    double rows = tokens * place.ep * place.tp / shape->tp *
                  experts->active / experts->routed;

    return find_sized_rate(gang->gpu, shape->precision, width, fmax(1.0, rows));
}

/* Scores, softmax and their use, of all layers of one GPU, per pass. */
static double time_attention(const struct train_shape *shape,
                             const struct gpu_type *gpu, double tokens)
{
    assert(shape->tp > 0 && shape->pp > 0);
    assert(tokens > 0.0);
    const struct llm *llm = shape->llm;
    double split = (double)shape->tp * shape->pp;
    /* Scores that lie in memory are all computed, and masked then. */
    double half = shape->stack == STACK_MEGATRON
                      ? shape->sequence_tokens / 2.0
                      : compute_causal_tokens(llm, shape->sequence_tokens);
    double flops = tokens * (compute_forward_flops(llm, 1.0, half) -
                             compute_forward_flops(llm, 1.0, 0.0)) / split;

    double rate = find_matrix_rate(shape, gpu, PRECISION_BF16, tokens);

    if (shape->stack == STACK_ENGINE) {
        return flops / (ENGINE_ATTENTION * rate);
    }
    if (shape->stack == STACK_EAGER) {
        return flops / fmin(EAGER_ATTENTION * rate, EAGER_ATTENTION_FLOPS);
    }
    /* The masked half is computed too. */
    double scores = tokens * shape->sequence_tokens * llm->heads *
                    llm->layers / split;

    return 2.0 * flops / rate +
           scores * SCORE_BYTES / gpu->memory_bps_sustained;
}

double train_logits_s(const struct train_shape *shape,
                      const struct gpu_type *gpu,
                      const struct train_passes *p, double tokens)
{
    assert(shape->llm->vocab > 0);
    assert(tokens > 0.0);
    double entries = tokens * shape->llm->vocab / shape->tp;

    return 2.0 * entries * shape->llm->hidden * fmin(p->matrix, 3.0) /
               find_matrix_rate(shape, gpu, PRECISION_BF16, tokens) +
           entries * LOGIT_BYTES / gpu->memory_bps_sustained;
}

/* Routed experts: their matrices, and tokens copied to their place and back. */
static double time_experts(const struct train_shape *shape,
                           const struct gang *gang, const struct train_passes *p,
                           const struct experts *experts, double tokens)
{
    assert(tokens > 0.0);
    double split = (double)shape->tp * shape->pp;

    if (experts->routed == 0) {
        return 0.0;
    }
    return 2.0 * tokens * experts->params_active / split * p->matrix /
               find_expert_rate(shape, gang, experts, tokens) +
           experts_copy_s(shape->llm, tokens, gang->gpu->memory_bps_sustained) /
               split * p->layer;
}

/* All layers of one GPU, exchanges apart: matrices, experts, attention,
 * element-wise traffic. */
double train_layers_s(const struct train_shape *shape,
                      const struct gang *gang, const struct train_passes *p,
                      double tokens)
{
    assert(shape->pp > 0);
    assert(gang->gpu != NULL);
    assert(tokens > 0.0);
    const struct llm *llm = shape->llm;
    const struct gpu_type *gpu = gang->gpu;
    struct experts experts = experts_of(llm);
    double split = (double)shape->tp * shape->pp;
    double tables = (double)llm->vocab * llm->hidden * (llm->tied ? 1 : 2);
    double flops = 2.0 * tokens *
                   (llm->params_active - experts.params_active - tables) /
                   split;
    double slow = shape->method == TRAIN_QLORA ? QLORA_SLOWDOWN : 1.0;
    /* Outside of sequence parallelism norms and residuals are done by every
     * GPU of a tensor parallel group. */
    double sharded = shape->sequence_parallel
                         ? 1.0 / shape->tp
                         : (10.0 + 24.0 / shape->tp) / 34.0;
    double bytes = tokens * llm->layers / shape->pp *
                   train_software(shape).element_bytes *
                   llm->hidden * sharded;

    return slow * (flops * p->matrix /
                       find_matrix_rate(shape, gpu, shape->precision, tokens) +
                   time_experts(shape, gang, p, &experts, tokens) +
                   time_attention(shape, gpu, tokens) * p->attention) +
           bytes * p->layer / gpu->memory_bps_sustained;
}

/* Returns how many of n equally likely places at least one of k experts is at, in the mean. */
static double count_distinct(double n, double k)
{
    assert(n > 0.0);
    return n * (1.0 - pow(1.0 - 1.0 / n, k));
}

/* Copies of a token that travel: one for each expert; between nodes, fused
 * dispatchers send one to each node, which passes it on (DeepSeek-V3, arXiv
 * 2412.19437, section 3.2.2). */
static double count_copies(const struct train_shape *shape,
                           const struct gang *gang,
                           const struct experts *experts,
                           const struct experts_place *place)
{
    assert(experts->routed > 0);
    assert(place->ep > 0);
    uint32_t local = comm_gpus_per_node(gang) / place->tp;
    double k = experts->active;

    if (shape->stack != STACK_ENGINE || gang->nodes == 1 ||
        local >= place->ep || local == 0) {
        return k;
    }
    return count_distinct(ceil((double)place->ep / local), k);
}

/* Tokens sent to experts on other GPUs and back, in every pass (dispatch and
 * combine: half an exchange of p each way).  An expert divided by tensor
 * parallelism works on the tokens of its whole group, which gathers them and
 * scatters the sum: an all-reduce, in place of the one behind the MLP. */
static double time_experts_exchange(const struct train_shape *shape,
                                    const struct gang *gang,
                                    const struct train_passes *p, double bytes)
{
    assert(bytes >= 0.0);
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gang->gpus);
    double layers = experts.layers / shape->pp;
    double sent = bytes * experts.active;

    if (experts.routed == 0 || place.ep == 1) {
        return 0.0;
    }
    double time_s = comm_strided_s(COMM_ALL_TO_ALL, gang, place.ep, place.tp,
                                   bytes / shape->tp *
                                       count_copies(shape, gang, &experts,
                                                    &place));

    if (shape->tp > 1) {
        double open = 1.0 - train_software(shape).tp_overlap;
        double whole = place.tp > 1 ? comm_group_s(COMM_ALL_REDUCE, gang,
                                                   shape->tp, sent) : 0.0;
        time_s += 0.5 * open * (whole - comm_group_s(COMM_ALL_REDUCE, gang,
                                                     shape->tp, bytes));
    }
    return layers * p->exchanges * time_s;
}

/* Bytes that an all-reduce among the GPUs of a tensor parallel group sends over the NICs
 * of a node; 0 where one node holds the group. */
static double count_reduced(const struct train_shape *shape, const struct gang *gang,
                            double bytes)
{
    assert(bytes >= 0.0);
    return comm_strided_inter_bytes(COMM_ALL_REDUCE, gang, shape->tp, 1, bytes);
}

/* As time_experts_exchange() counts them, those that leave the node. */
static double count_experts_bytes(const struct train_shape *shape, const struct gang *gang,
                                  const struct train_passes *p, double bytes)
{
    assert(bytes >= 0.0);
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gang->gpus);

    if (experts.routed == 0 || place.ep == 1) {
        return 0.0;
    }
    double sent = bytes / shape->tp * count_copies(shape, gang, &experts, &place);
    double whole = place.tp > 1 ? count_reduced(shape, gang, bytes * experts.active) : 0.0;

    return experts.layers / shape->pp * p->exchanges *
           (comm_strided_inter_bytes(COMM_ALL_TO_ALL, gang, place.ep, place.tp, sent) +
            0.5 * (whole - count_reduced(shape, gang, bytes)));
}

/* As train_exchanges_s() counts them: what is hidden behind matrices crosses NICs, too. */
double train_exchanges_bytes(const struct train_shape *shape, const struct gang *gang,
                             const struct train_passes *p, double tokens)
{
    assert(gang->nodes > 0);
    assert(tokens > 0.0);
    double bytes = precision_activation_bytes(shape->precision) * tokens * shape->llm->hidden;

    return (double)shape->llm->layers / shape->pp * p->exchanges *
               count_reduced(shape, gang, bytes) +
           count_experts_bytes(shape, gang, p, bytes);
}

/* Two all-reduces of the layer's activations in each direction (Shoeybi et
 * al. 2019, 1909.08053), and what experts add. */
double train_exchanges_s(const struct train_shape *shape,
                         const struct gang *gang,
                         const struct train_passes *p, double tokens)
{
    assert(shape->tp > 0);
    assert(gang->gpus > 0);
    assert(tokens > 0.0);
    const struct llm *llm = shape->llm;
    double bytes = precision_activation_bytes(shape->precision) * tokens *
                   llm->hidden;
    double layers = (double)llm->layers / shape->pp;
    double time_s = 0.0;

    if (shape->tp > 1) {
        time_s += layers * p->exchanges *
                  (1.0 - train_software(shape).tp_overlap) *
                  comm_group_s(COMM_ALL_REDUCE, gang, shape->tp, bytes);
    }
    return time_s + time_experts_exchange(shape, gang, p, bytes);
}

/* Does a backward pass follow the forward one?  Without gradients each part is passed once. */
static bool goes_back(const struct train_passes *p)
{
    return p->layer > 1.0;
}

/* How often a micro batch gathers keys and values: once in every forward pass
 * over attention, and once more in the backward pass. */
static double count_gathers(const struct train_passes *p)
{
    return goes_back(p) ? p->attention - BACKWARD + 1.0 : p->attention;
}

/* Keys and values gathered whole before attention, and the sum of their
 * gradients scattered behind it, on the critical path (Llama 3, arXiv
 * 2407.21783, section 3.3.2). */
static double time_gathered_context(const struct train_shape *shape,
                                    const struct gang *gang,
                                    const struct train_passes *p, double tokens)
{
    assert(shape->cp > 1);
    assert(tokens > 0.0);
    double bytes = tokens * shape->cp *
                   memory_kv_attended(shape->llm, shape->tp);

    double gathers_s = count_gathers(p) * comm_strided_s(COMM_ALL_GATHER, gang, shape->cp,
                                                         shape->tp, bytes);

    if (!goes_back(p))
        return gathers_s;
    return gathers_s +
           comm_strided_s(COMM_REDUCE_SCATTER, gang, shape->cp, shape->tp,
                          bytes);
}

/* Blocks of keys and values that go round a ring while attention works on the
 * block before (Liu et al. 2023, arXiv 2310.01889, section 3): what attention
 * over one block does not cover shows.  Their gradients go along in the
 * backward pass, and one hop further, behind which nothing is left to compute.
 * Each block's part of the sum is read, added to and written. */
static double time_ring_context(const struct train_shape *shape,
                                const struct gang *gang,
                                const struct train_passes *p, double tokens)
{
    assert(shape->cp > 1);
    assert(tokens > 0.0);
    const struct llm *llm = shape->llm;
    double bytes = tokens * memory_kv_attended(llm, shape->tp);
    double hops = shape->cp - 1.0;
    double block_s = time_attention(shape, gang->gpu, tokens) * shape->pp /
                     llm->layers / shape->cp;
    double one_s = comm_strided_s(COMM_P2P, gang, shape->cp, shape->tp, bytes);
    double two_s = comm_strided_s(COMM_P2P, gang, shape->cp, shape->tp,
                                  2.0 * bytes);
    double outputs = 2.0 * tokens * llm->heads * llm->head_dim / shape->tp;
    double forward = goes_back(p) ? p->attention - BACKWARD : p->attention;
    double merged = 3.0 * hops * (forward * outputs + outputs + bytes);

    if (!goes_back(p))
        return hops * fmax(0.0, one_s - block_s) +
               3.0 * hops * outputs / gang->gpu->memory_bps_sustained;
    return forward * hops * fmax(0.0, one_s - block_s) +
           hops * fmax(0.0, two_s - BACKWARD * block_s) + one_s +
           merged / gang->gpu->memory_bps_sustained;
}

/* Every rank has one early and one late part of each sequence, so that the
 * masked halves add up to equal work (Llama 3, the same section). */
double train_context_s(const struct train_shape *shape,
                       const struct gang *gang, const struct train_passes *p,
                       double tokens)
{
    assert(gang != NULL);
    assert(tokens > 0.0);
    double layers = (double)shape->llm->layers / shape->pp;

    if (shape->cp <= 1) {
        return 0.0;
    }
    return layers * (shape->stack == STACK_ENGINE
                         ? time_ring_context(shape, gang, p, tokens)
                         : time_gathered_context(shape, gang, p, tokens));
}

/* Keys and values forward, and their gradients back: both forms of context
 * parallelism move as much. */
double train_context_bytes(const struct train_shape *shape, const struct gang *gang,
                           const struct train_passes *p, double tokens)
{
    assert(gang->nodes > 0);
    assert(tokens > 0.0);
    double bytes = tokens * memory_kv_attended(shape->llm, shape->tp);

    if (shape->cp <= 1) {
        return 0.0;
    }
    return (double)shape->llm->layers / shape->pp *
           (count_gathers(p) + (goes_back(p) ? 1.0 : 0.0)) *
           comm_strided_inter_bytes(COMM_ALL_GATHER, gang, shape->cp,
                                    shape->tp, bytes);
}

/* Launches overlap with work: the fourth-power mean of both, so that only
 * near-equal parts add. */
double train_launched_s(double work_s, double floor_s)
{
    assert(work_s >= 0.0);
    assert(floor_s >= 0.0);
    double ratio = work_s > floor_s ? floor_s / work_s : work_s / floor_s;
    double fourth = ratio * ratio * ratio * ratio;

    return fmax(work_s, floor_s) * sqrt(sqrt(1.0 + fourth));
}
