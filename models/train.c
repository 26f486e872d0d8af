/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - one optimizer step, from its parts.
 *
 * Constants without a source of their own were chosen on vTrain's single-node
 * rows of four models (h1024 and h2048 with 12 and 24 layers), llm-foundry's
 * 125M, 760M, 3B, 13B and 70B, and Megatron-Bridge's Llama-3-70B; the other
 * models and suites test them (models/README.md, `clustersim calibrate`).
 */
#include "models/train.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue.h"
#include "models/comm.h"
#include "models/compute.h"
#include "models/experts.h"
#include "models/gang.h"
#include "models/net.h"

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
/* Optimizer traffic per parameter. */
#define OPTIMIZER_BYTES 40.0
/* Outside of layers: data, loss, gradient norm, logging. */
#define STEP_FLOOR_S 7.5e-3
/* Share of the passes behind which gradients and gathers travel. */
#define EAGER_OVERLAP 0.8
#define ENGINE_OVERLAP 0.9
/* Share of tensor parallel exchanges hidden behind matrices. */
#define ENGINE_TP_OVERLAP 0.9
/* 4-bit weights are expanded before use: 3,083 against 2,413 tokens/s
 * (torchtune, Llama-3.1-8B LoRA and QLoRA on one RTX 4090). */
#define QLORA_SLOWDOWN (3083.0 / 2413.0)

/* A pass without gradients packs sequences up to this many tokens (verl's
 * default log-probability limit per GPU). */
#define FORWARD_TOKENS 16384.0

/* What software makes of a GPU. */
struct stack {
    double element_bytes;
    double floor_s, floor_tp_s;
    double overlap, tp_overlap;
};

static struct stack stack_of(const struct train_shape *shape)
{
    switch (shape->stack) {
    case STACK_MEGATRON:
        return (struct stack){ MEGATRON_ELEMENT, MEGATRON_FLOOR_S,
                               MEGATRON_FLOOR_TP_S, 0.0, 0.0 };
    case STACK_ENGINE:
        return (struct stack){ ENGINE_ELEMENT, ENGINE_FLOOR_S, 0.0,
                               ENGINE_OVERLAP, ENGINE_TP_OVERLAP };
    case STACK_EAGER:
    case STACK_COUNT:
        break;
    }
    return (struct stack){ EAGER_ELEMENT, EAGER_FLOOR_S, MEGATRON_FLOOR_TP_S,
                           EAGER_OVERLAP, 0.0 };
}

/* The parts of one micro batch on one pipeline stage. */
struct micro {
    double compute_s;
    double comm_s;
    double launch_s;
    double total_s;
    double logit_s;     /* more on the last stage than on the mean one */
};

struct passes {
    double matrix;      /* in units of a forward pass */
    double attention;
    double layer;       /* launches and element-wise work */
    double exchanges;   /* collectives of activations per layer */
};

static double at_least_one(uint32_t n)
{
    return n > 1 ? n : 1.0;
}

static struct passes count_passes(const struct train_shape *shape)
{
    struct passes p = { 3.0, 3.0, 3.0, 4.0 };

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

static double sized_rate(const struct gpu_type *gpu, enum precision precision,
                         double width, double tokens)
{
    return MODEL_RATE * compute_size_efficiency(width, tokens) *
           compute_sustained_flops(gpu, precision);
}

/* What matrices of this shape reach. */
static double matrix_rate(const struct train_shape *shape,
                          const struct gpu_type *gpu,
                          enum precision precision, double tokens)
{
    return sized_rate(gpu, precision,
                      shape->llm->hidden / sqrt((double)shape->tp), tokens);
}

/* What an expert's matrices reach: h x ffn, of which a dense model's, h x 4h,
 * count as of width h; each expert multiplies the tokens sent to it. */
static double expert_rate(const struct train_shape *shape,
                          const struct gang *gang,
                          const struct experts *experts, double tokens)
{
    struct experts_place place = experts_place(shape, gang->gpus);
    double width = sqrt((double)shape->llm->hidden * shape->llm->ffn / 4.0 /
                        place.tp);
    double rows = tokens * place.ep * place.tp / shape->tp *
                  experts->active / experts->routed;

    return sized_rate(gang->gpu, shape->precision, width, fmax(1.0, rows));
}

/* Scores, softmax and their use, of all layers of one GPU, per pass. */
static double attention_s(const struct train_shape *shape,
                          const struct gpu_type *gpu, double tokens)
{
    const struct llm *llm = shape->llm;
    double split = (double)shape->tp * shape->pp;
    double half = shape->sequence_tokens / 2.0;
    double flops = tokens * (compute_forward_flops(llm, 1.0, half) -
                             compute_forward_flops(llm, 1.0, 0.0)) / split;

    double rate = matrix_rate(shape, gpu, PRECISION_BF16, tokens);

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

/* Output layer and loss, forward and back, where one stage has them. */
static double logits_s(const struct train_shape *shape,
                       const struct gpu_type *gpu, const struct passes *p,
                       double tokens)
{
    double entries = tokens * shape->llm->vocab / shape->tp;

    return 2.0 * entries * shape->llm->hidden * fmin(p->matrix, 3.0) /
               matrix_rate(shape, gpu, PRECISION_BF16, tokens) +
           entries * LOGIT_BYTES / gpu->memory_bps_sustained;
}

/* Routed experts: their matrices, and tokens copied to their place for each
 * expert and back, each copy read and written in 16 bits. */
static double experts_s(const struct train_shape *shape,
                        const struct gang *gang, const struct passes *p,
                        const struct experts *experts, double tokens)
{
    double split = (double)shape->tp * shape->pp;

    if (experts->routed == 0) {
        return 0.0;
    }
    return 2.0 * tokens * experts->params_active / split * p->matrix /
               expert_rate(shape, gang, experts, tokens) +
           8.0 * tokens * experts->active * shape->llm->hidden *
               experts->layers / split * p->layer /
               gang->gpu->memory_bps_sustained;
}

static double layers_s(const struct train_shape *shape,
                       const struct gang *gang, const struct passes *p,
                       double tokens)
{
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
                   stack_of(shape).element_bytes *
                   llm->hidden * sharded;

    return slow * (flops * p->matrix /
                       matrix_rate(shape, gpu, shape->precision, tokens) +
                   experts_s(shape, gang, p, &experts, tokens) +
                   attention_s(shape, gpu, tokens) * p->attention) +
           bytes * p->layer / gpu->memory_bps_sustained;
}

/* Of n equally likely places, those that at least one of k experts is at. */
static double distinct(double n, double k)
{
    return n * (1.0 - pow(1.0 - 1.0 / n, k));
}

/* Copies of a token that travel: one for each expert; between nodes, fused
 * dispatchers send one to each node, which passes it on (DeepSeek-V3, arXiv
 * 2412.19437, section 3.2.2). */
static double copies_sent(const struct train_shape *shape,
                          const struct gang *gang,
                          const struct experts *experts,
                          const struct experts_place *place)
{
    uint32_t local = comm_gpus_per_node(gang) / place->tp;
    double k = experts->active;

    if (shape->stack != STACK_ENGINE || gang->nodes == 1 ||
        local >= place->ep || local == 0) {
        return k;
    }
    return distinct(ceil((double)place->ep / local), k);
}

/* Tokens sent to experts on other GPUs and back, in every pass (dispatch and
 * combine: half an exchange of p each way).  An expert divided by tensor
 * parallelism works on the tokens of its whole group, which gathers them and
 * scatters the sum: an all-reduce, in place of the one behind the MLP. */
static double experts_comm_s(const struct train_shape *shape,
                             const struct gang *gang, const struct passes *p,
                             double bytes)
{
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gang->gpus);
    double layers = experts.layers / shape->pp;
    double sent = bytes * experts.active;

    if (experts.routed == 0 || place.ep == 1) {
        return 0.0;
    }
    double time_s = comm_strided_s(COMM_ALL_TO_ALL, gang, place.ep, place.tp,
                                   bytes / shape->tp *
                                       copies_sent(shape, gang, &experts,
                                                   &place));

    if (shape->tp > 1) {
        double open = 1.0 - stack_of(shape).tp_overlap;
        double whole = place.tp > 1 ? comm_group_s(COMM_ALL_REDUCE, gang,
                                                   shape->tp, sent) : 0.0;
        time_s += 0.5 * open * (whole - comm_group_s(COMM_ALL_REDUCE, gang,
                                                     shape->tp, bytes));
    }
    return layers * p->exchanges * time_s;
}

/* The all-to-alls of one micro batch over the NICs of a node. */
static double experts_inter_bytes(const struct train_shape *shape,
                                  const struct gang *gang, double tokens)
{
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gang->gpus);
    double bytes = precision_activation_bytes(shape->precision) * tokens /
                   at_least_one(shape->cp) * shape->llm->hidden / shape->tp;

    if (experts.routed == 0 || place.ep == 1) {
        return 0.0;
    }
    bytes *= copies_sent(shape, gang, &experts, &place);
    return experts.layers / shape->pp * count_passes(shape).exchanges *
           comm_strided_inter_bytes(COMM_ALL_TO_ALL, gang, place.ep, place.tp,
                                    bytes);
}

/* Two all-reduces of the layer's activations in each direction (Shoeybi et
 * al. 2019, 1909.08053), and what experts add. */
static double micro_comm_s(const struct train_shape *shape,
                           const struct gang *gang, const struct passes *p,
                           double tokens)
{
    const struct llm *llm = shape->llm;
    double bytes = precision_activation_bytes(shape->precision) * tokens *
                   llm->hidden;
    double layers = (double)llm->layers / shape->pp;
    double time_s = 0.0;

    if (shape->tp > 1) {
        time_s += layers * p->exchanges *
                  (1.0 - stack_of(shape).tp_overlap) *
                  comm_group_s(COMM_ALL_REDUCE, gang, shape->tp, bytes);
    }
    return time_s + experts_comm_s(shape, gang, p, bytes);
}

static double soft_max(double a, double b)
{
    double ratio = a > b ? b / a : a / b;
    double fourth = ratio * ratio * ratio * ratio;

    return fmax(a, b) * sqrt(sqrt(1.0 + fourth));
}

/* Launches overlap with work: the larger of the two, softly. */
static void add_launches(const struct train_shape *shape, double passes,
                         struct micro *m)
{
    struct stack stack = stack_of(shape);
    double layer_s = stack.floor_s +
                     (shape->tp > 1 ? stack.floor_tp_s : 0.0);
    double floor_s = layer_s * passes * shape->llm->layers / shape->pp;
    double work_s = m->compute_s + m->comm_s;

    m->total_s = soft_max(work_s, floor_s);
    m->launch_s = m->total_s - work_s;
}

/* `tokens` of one micro batch; context parallelism divides them. */
static struct micro micro_time(const struct train_shape *shape,
                               const struct gang *gang, double tokens)
{
    struct passes p = count_passes(shape);
    double mine = tokens / at_least_one(shape->cp);
    double logit_s = logits_s(shape, gang->gpu, &p, mine);
    struct micro m;

    m.compute_s = layers_s(shape, gang, &p, mine) + logit_s / shape->pp;
    m.logit_s = logit_s - logit_s / shape->pp;
    m.comm_s = micro_comm_s(shape, gang, &p, mine);
    add_launches(shape, p.layer, &m);
    if (shape->pp > 1) {
        double bytes = 2.0 * mine * shape->llm->hidden / shape->tp;
        uint32_t stride = gang->gpus / shape->pp;
        double hop_s = 2.0 * at_least_one(shape->vp) *
                       comm_strided_s(COMM_P2P, gang, 2, stride, bytes);
        m.comm_s += hop_s;
        m.total_s += hop_s;
    }
    return m;
}

static double trained_params(const struct train_shape *shape)
{
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
    return shape->stack == STACK_MEGATRON && shape->tp * shape->pp > 1 ? 4.0
                                                                       : 2.0;
}

/* Parameters per GPU that `n` GPUs, `stride` apart, hold alike. */
struct shared_part {
    double base, trained;
    uint32_t n, stride;
};

/* ZeRO-3 gathers the weights in both passes of every micro batch besides. */
static double part_exchange_s(const struct train_shape *shape,
                              const struct gang *gang,
                              const struct shared_part *part,
                              double micro_batches, double *inter_bytes)
{
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

/* Activations forward and gradients back over a stage's edge; each node is
 * taken to hold one edge that crosses nodes. */
static double edge_bytes(const struct train_shape *shape,
                         const struct gang *gang, double tokens)
{
    if (shape->pp == 1 || gang->nodes == 1) {
        return 0.0;
    }
    return 2.0 * precision_activation_bytes(shape->precision) * tokens *
           shape->llm->hidden;
}

static double optimizer_s(const struct train_shape *shape,
                          const struct gang *gang)
{
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
    return params * OPTIMIZER_BYTES / gang->gpu->memory_bps_sustained;
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
    const struct llm *llm = shape->llm;
    bool full = shape->method == TRAIN_FULL;
    double tables = (double)llm->vocab * llm->hidden * (llm->tied ? 1 : 2);
    double weights = compute_forward_flops(llm, tokens, 0.0);
    double scores = compute_forward_flops(llm, tokens,
                                          shape->sequence_tokens) - weights;
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
    double cover_s = shape->zero >= 3 ? count * m->total_s
                                      : m->total_s * 2.0 / 3.0;

    return fmax(0.0, exchange - stack_of(shape).overlap * cover_s);
}

struct step_time train_step(const struct train_shape *shape,
                            const struct gang *gang,
                            double global_batch_sequences)
{
    assert(shape && (shape->llm || shape->net) && gang && gang->gpu);
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
    struct micro m = micro_time(shape, gang, size * shape->sequence_tokens);
    double dp_s = exchange_s(shape, gang, count, &step.inter_bytes_per_node);

    double tokens = size * shape->sequence_tokens;

    step.inter_bytes_per_node += count *
        (edge_bytes(shape, gang, tokens) +
         experts_inter_bytes(shape, gang, tokens));
    step.compute_s = count * m.compute_s;
    step.launch_s = count * m.launch_s + STEP_FLOOR_S;
    /* Of (p - 1) / v micro batches, and of waiting for the last stage. */
    step.bubble_s = (shape->pp - 1.0) / at_least_one(shape->vp) * m.total_s +
                    count * m.logit_s;
    step.optimizer_s = optimizer_s(shape, gang);
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
    uint32_t tp = 1;

    while (tp * 2 <= gang->gpus &&
           memory_forward(llm, precision, tp, tokens).total >
               gang->gpu->memory_bytes) {
        tp *= 2;
    }
    return tp;
}

struct step_time forward_step(const struct llm *llm, enum precision precision,
                              const struct gang *gang, double sequences,
                              double tokens)
{
    assert(llm && gang && gang->gpu && gang->gpus > 0);
    assert(sequences > 0.0 && tokens > 0.0);
    struct train_shape shape = {
        .llm = llm, .precision = precision, .sequence_tokens = tokens,
        .micro_batch = 1.0, .pp = 1,
        .tp = forward_tp(llm, precision, gang, tokens),
    };
    struct step_time step = { 0 };
    struct passes p = { 1.0, 1.0, 1.0, 2.0 };
    double replicas = fmax(1.0, floor((double)gang->gpus / shape.tp));
    double each = ceil(sequences / replicas - 1e-9);
    double packed = fmin(each, fmax(1.0, floor(FORWARD_TOKENS / tokens)));
    double count = ceil(each / packed - 1e-9);
    double compute_s = layers_s(&shape, gang, &p, packed * tokens) +
                       logits_s(&shape, gang->gpu, &p, packed * tokens);
    double comm_s = micro_comm_s(&shape, gang, &p, packed * tokens);
    double total_s = soft_max(compute_s + comm_s,
                              EAGER_FLOOR_S * llm->layers);

    step.compute_s = count * compute_s;
    step.comm_exposed_s = count * comm_s;
    step.launch_s = count * (total_s - compute_s - comm_s);
    step.step_s = count * total_s;
    step.flops = compute_forward_flops(llm, sequences * tokens, tokens);
    step.mfu = step.flops / (step.step_s * gang->gpus *
                             compute_peak_flops(gang->gpu, precision));
    step.hfu = step.mfu;
    step.busy_fraction = step.compute_s / step.step_s;
    return step;
}
