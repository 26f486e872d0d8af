/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - one optimizer step, from its parts.
 *
 * Constants were chosen on vTrain single-node rows (A100, 699 iterations) and
 * llm-foundry rows (A100), and reported on the rest; models/README.md has the
 * errors.
 */
#include "models/train.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue.h"
#include "models/comm.h"
#include "models/compute.h"
#include "models/gang.h"

/* Share of the large-matrix rate that a whole model's matrices reach: 0.68 to
 * 0.70 of peak on A100, whose large matrices reach 0.84. */
#define MODEL_RATE 0.80
/* Causal attention per useful operation: FlashAttention-2 reaches about 0.7
 * of the matrix rate and computes 3.5 passes where 3 count (Dao 2023, arXiv
 * 2307.08691, figure 6), softer on small heads: a half. */
#define ATTENTION_RATE 0.5
/* Bytes of element-wise traffic of one forward pass, in units of hidden size,
 * counted: two norms (4 reads and writes), two residuals (6), the MLP's
 * activation (8), rotation (4), of 2 bytes each. */
#define ELEMENT_BYTES 44.0
/* Per vocabulary entry and token: 16-bit logits out and in, FP32 softmax,
 * gradient out and twice in. */
#define LOGIT_BYTES 16.0
/* An eager framework cannot launch one layer's pass faster: 3.7 to 8 ms for
 * forward, recompute and backward of Megatron-DeepSpeed (vTrain rows at the
 * floor), which is 1.1 ms for each of three to four passes and upward. */
#define LAYER_FLOOR_S 1.1e-3
/* Optimizer traffic per parameter: 4e-11 to 8e-11 s on A100 at 1,599 GB/s
 * (the same rows), the middle. */
#define OPTIMIZER_BYTES 96.0
/* 4-bit weights are expanded before use: 3,083 against 2,413 tokens/s
 * (torchtune, Llama-3.1-8B LoRA and QLoRA on one RTX 4090). */
#define QLORA_SLOWDOWN (3083.0 / 2413.0)

/* A pass without gradients packs sequences up to this many tokens (verl's
 * default log-probability limit per GPU). */
#define FORWARD_TOKENS 16384.0

/* The parts of one micro batch on one pipeline stage. */
struct micro {
    double compute_s;
    double comm_s;
    double launch_s;
    double total_s;
};

struct passes {
    double matrix;      /* in units of a forward pass */
    double attention;
    double layer;       /* launches and element-wise work */
    double exchanges;   /* collectives of activations per layer */
};

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

static double micro_compute_s(const struct train_shape *shape,
                              const struct gpu_type *gpu,
                              const struct passes *p, double tokens)
{
    const struct llm *llm = shape->llm;
    double split = (double)shape->tp * shape->pp;
    double width = (double)llm->hidden / shape->tp;
    double rate = MODEL_RATE * compute_size_efficiency(width, tokens) *
                  compute_sustained_flops(gpu, shape->precision);
    double matrix = compute_forward_flops(llm, tokens, 0.0);
    double attention = compute_forward_flops(llm, tokens,
                                             shape->sequence_tokens / 2.0) -
                       matrix;
    double sharded = shape->recompute == RECOMPUTE_SELECTIVE
                         ? 1.0 / shape->tp
                         : (10.0 + 24.0 / shape->tp) / 34.0;
    double bytes = tokens * llm->layers / shape->pp * ELEMENT_BYTES *
                   llm->hidden * p->layer * sharded +
                   tokens * LOGIT_BYTES * llm->vocab / split;
    double slow = shape->method == TRAIN_QLORA ? QLORA_SLOWDOWN : 1.0;

    return slow * (matrix * p->matrix +
                   attention * p->attention / ATTENTION_RATE) / split / rate +
           bytes / gpu->memory_bps_sustained;
}

/* Two all-reduces of the layer's activations in each direction (Shoeybi et
 * al. 2019, 1909.08053); experts besides send theirs out and back. */
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
                  comm_group_s(COMM_ALL_REDUCE, gang, shape->tp, bytes);
    }
    if (llm->experts_active > 0 && shape->zero < 3) {
        uint32_t n = gang->gpus / shape->pp;
        uint32_t group = n < llm->experts ? n : llm->experts;
        time_s += layers * p->exchanges *
                  comm_group_s(COMM_ALL_TO_ALL, gang, group,
                               bytes * llm->experts_active / shape->tp);
    }
    return time_s;
}

static double soft_max(double a, double b)
{
    return pow(pow(a, 4.0) + pow(b, 4.0), 0.25);
}

static struct micro micro_time(const struct train_shape *shape,
                               const struct gang *gang, double tokens)
{
    struct passes p = count_passes(shape);
    struct micro m;

    m.compute_s = micro_compute_s(shape, gang->gpu, &p, tokens);
    m.comm_s = micro_comm_s(shape, gang, &p, tokens);
    /* Launches overlap with work: the larger of the two, softly. */
    double floor_s = LAYER_FLOOR_S * p.layer * shape->llm->layers / shape->pp;
    double work_s = m.compute_s + m.comm_s;
    m.total_s = soft_max(work_s, floor_s);
    m.launch_s = m.total_s - work_s;
    if (shape->pp > 1) {
        double bytes = 2.0 * tokens * shape->llm->hidden / shape->tp;
        uint32_t stride = gang->gpus / shape->pp;
        double hop_s = 2.0 * comm_strided_s(COMM_P2P, gang, 2, stride, bytes);
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

/* Bytes and time of the data-parallel exchange of one step.  ZeRO-3 gathers
 * the weights in both passes of every micro batch besides. */
static double exchange_s(const struct train_shape *shape,
                         const struct gang *gang, double micro_batches,
                         double *inter_bytes)
{
    double split = (double)shape->tp * shape->pp;
    uint32_t dp = (uint32_t)(gang->gpus / split);
    double gradient = trained_params(shape) / split * 2.0;
    double base = shape->llm->params / split *
                  (shape->method == TRAIN_QLORA
                       ? precision_weight_bytes(PRECISION_INT4) : 2.0);
    double gathers = shape->zero >= 3 ? 2.0 * micro_batches : 0.0;

    *inter_bytes = 0.0;
    if (dp <= 1) {
        return 0.0;
    }
    enum comm_op op = shape->zero >= 3 ? COMM_REDUCE_SCATTER
                                       : COMM_ALL_REDUCE;
    uint32_t tp = shape->tp;

    *inter_bytes = comm_strided_inter_bytes(op, gang, dp, tp, gradient) +
                   gathers * comm_strided_inter_bytes(COMM_ALL_GATHER, gang,
                                                      dp, tp, base);
    return comm_strided_s(op, gang, dp, tp, gradient) +
           gathers * comm_strided_s(COMM_ALL_GATHER, gang, dp, tp, base);
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

    if (shape->zero >= 1) {
        params /= fmax(1.0, floor(gang->gpus / split));
    }
    return params * OPTIMIZER_BYTES / gang->gpu->memory_bps_sustained;
}

static void add_utilization(const struct train_shape *shape,
                            const struct gang *gang, double tokens,
                            struct step_time *step)
{
    struct passes p = count_passes(shape);
    double attended = shape->sequence_tokens / 2.0;
    double forward = compute_forward_flops(shape->llm, tokens, attended);
    double useful = shape->method == TRAIN_FULL ? 3.0 : 2.0;
    double peak = gang->gpus *
                  compute_peak_flops(gang->gpu, shape->precision);

    step->flops = forward * useful;
    step->mfu = step->flops / (step->step_s * peak);
    step->hfu = forward * fmax(p.matrix, useful) / (step->step_s * peak);
    step->busy_fraction = step->compute_s / step->step_s;
}

struct step_time train_step(const struct train_shape *shape,
                            const struct gang *gang,
                            double global_batch_sequences)
{
    assert(shape && shape->llm && gang && gang->gpu && gang->gpus > 0);
    assert(shape->tp > 0 && shape->pp > 0);
    assert(gang->gpus >= shape->tp * shape->pp);
    assert(global_batch_sequences > 0.0 && shape->micro_batch > 0.0);
    struct step_time step = { 0 };
    double dp = floor((double)gang->gpus / ((double)shape->tp * shape->pp));
    double per_replica = ceil(global_batch_sequences / dp - 1e-9);
    double size = fmin(shape->micro_batch, per_replica);
    double count = ceil(per_replica / size - 1e-9);
    struct micro m = micro_time(shape, gang, size * shape->sequence_tokens);
    double dp_s = exchange_s(shape, gang, count, &step.inter_bytes_per_node);

    step.inter_bytes_per_node += count *
        edge_bytes(shape, gang, size * shape->sequence_tokens);
    /* ZeRO-3 hides behind all computing, the rest behind the last backward
     * pass (two thirds of a micro batch). */
    double cover_s = shape->zero >= 3 ? count * m.total_s
                                      : m.total_s * 2.0 / 3.0;

    step.compute_s = count * m.compute_s;
    step.launch_s = count * m.launch_s;
    step.bubble_s = (shape->pp - 1.0) * m.total_s;
    step.optimizer_s = optimizer_s(shape, gang);
    step.comm_exposed_s = count * m.comm_s + fmax(0.0, dp_s - cover_s);
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
    double compute_s = micro_compute_s(&shape, gang->gpu, &p,
                                       packed * tokens);
    double comm_s = micro_comm_s(&shape, gang, &p, packed * tokens);
    double total_s = soft_max(compute_s + comm_s,
                              LAYER_FLOOR_S * llm->layers);

    step.compute_s = count * compute_s;
    step.comm_exposed_s = count * comm_s;
    step.launch_s = count * (total_s - compute_s - comm_s);
    step.step_s = count * total_s;
    step.flops = compute_forward_flops(llm, sequences * tokens, tokens / 2.0);
    step.mfu = step.flops / (step.step_s * gang->gpus *
                             compute_peak_flops(gang->gpu, precision));
    step.hfu = step.mfu;
    step.busy_fraction = step.compute_s / step.step_s;
    return step;
}
