/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - rows of training runs, and the law of train.h.
 *
 * What a row leaves out follows from its framework; Megatron-Bridge has
 * sequence parallelism beside tensor parallelism and a sharded optimizer.
 * Mixtures of experts are laid out in the row, and built in the catalogue.
 */
#include "experiments/calibrate/suites.h"

#include <math.h>
#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/laws/train.h"

/* NICs of a node, all, as measured over InfiniBand (Azure/azurehpc-health-
 * checks: 185 of 200, 375 of 400 Gb/s); what the row names comes first. */
#define NIC_SHARE (185.0 / 200.0)

struct fabric {
    const char *contains;       /* a piece of the row's text that names the network */
    double node_gbps;           /* Gbit/s of a node, one direction */
    uint32_t domain;            /* GPUs of one NVLink domain; 0: as the row */
};

/* An NVL72 domain has 400 Gb/s per GPU to the outside. */
static const struct fabric fabrics[] = {
    { "800Gbps/node", 800.0, 0 },
    { "1600 Gbps", 1600.0, 0 },
    { "HDR", 1600.0, 0 },
    { "NVL72", 64.0 * 400.0, 64 },
    { "H100", 3200.0, 0 },
    { "DGX IB", 3200.0, 0 },
};

/* Returns the gang of a row: bandwidth of a node by the name of its fabric, 8 NICs
 * of 200 Gb/s if the name says nothing. */
static struct gang train_gang(const struct calibrate_row *row,
                              const struct gpu_type *gpu)
{
    const char *name = row_text(row, "fabric");
    uint32_t per_node = row_count(row, "gpus_per_node", 8);
    uint32_t gpus = row_count(row, "gpus", 1);
    double gbps = 1600.0;

    for (size_t i = 0; i < sizeof fabrics / sizeof fabrics[0]; i++)
        if (strstr(name, fabrics[i].contains) != NULL) {
            gbps = fabrics[i].node_gbps;
            if (fabrics[i].domain > 0)
                per_node = fabrics[i].domain;
            break;
        }
    return row_gang(gpu, gpus, per_node, gbps * 1e9 / 8.0 * NIC_SHARE);
}

/* Makes a model from the row's architecture.  A gated MLP where the width is no
 * multiple of four times the hidden size and keys have heads of their own (Llama);
 * else GPT's, whose embeddings are tied.  Parameters are counted without biases
 * and norms.  False: the architecture is not in the row. */
static bool train_llm(const struct calibrate_row *row, struct llm *llm)
{
    double h = row_number(row, "hidden", 0.0);
    double l = row_number(row, "layers", 0.0);
    double v = row_number(row, "vocab", 0.0);

    const struct llm *known = row_llm(row);

    if (known != NULL && known->experts > 0 && h == 0.0) {
        *llm = *known;
        return true;
    }
    *llm = (struct llm){ .name = "row" };
    llm->hidden = (uint32_t)h;
    llm->layers = (uint32_t)l;
    llm->vocab = (uint32_t)v;
    llm->heads = row_count(row, "heads", 0);
    llm->kv_heads = row_count(row, "kv_heads", llm->heads);
    llm->ffn = row_count(row, "ffn", 4 * llm->hidden);
    if (llm->hidden == 0 || llm->layers == 0 || llm->heads == 0 ||
        llm->vocab == 0)
        return false;
    llm->head_dim = llm->hidden / llm->heads;
    llm->ffn_matrices = llm->ffn == 4 * llm->hidden ? 2 : 3;
    llm->kv_width = 2 * llm->kv_heads * llm->head_dim;
    llm->tied = llm->ffn_matrices == 2;
    llm->params = l * h * (2.0 * h + llm->kv_width +
                           (double)llm->ffn_matrices * llm->ffn) +
                  v * h * (llm->tied ? 1.0 : 2.0);
    llm->params_active = llm->params;
    return true;
}

/* Does the field contain the text? */
static bool has_part(const struct calibrate_row *row, const char *column,
                     const char *part)
{
    return strstr(row_text(row, column), part) != NULL;
}

/* Reads how the model was laid out; what the row leaves out follows from its
 * framework.  False: the precision is unknown. */
static bool train_shape(const struct calibrate_row *row,
                        const struct llm *llm, struct train_shape *shape)
{
    bool bridge = has_part(row, "framework", "Bridge");
    bool early = has_part(row, "framework", "Megatron-LM") ||
                 has_part(row, "framework", "Megatron-DeepSpeed");

    *shape = (struct train_shape){
        .llm = llm,
        .method = has_part(row, "model", "LoRA") ? TRAIN_LORA : TRAIN_FULL,
        .sequence_tokens = row_number(row, "seq", 0.0),
        .micro_batch = row_number(row, "mbs", 0.0),
        .tp = row_count(row, "tp", 1), .pp = row_count(row, "pp", 1),
        .cp = row_count(row, "cp", 1), .vp = row_count(row, "vp", 1),
        .ep = row_count(row, "ep", 1),
        .stack = bridge ? STACK_ENGINE : early ? STACK_MEGATRON : STACK_EAGER,
        .sequence_parallel = bridge || has_part(row, "act_ckpt", "seqpar"),
        .zero = bridge ? 1 : 0,
    };
    if (has_part(row, "act_ckpt", "selective"))
        shape->recompute = RECOMPUTE_SELECTIVE;
    if (has_part(row, "act_ckpt", "full") || has_part(row, "act_ckpt", "True"))
        shape->recompute = RECOMPUTE_FULL;
    if (has_part(row, "zero", "FULL_SHARD") || has_part(row, "zero", "FSDP"))
        shape->zero = 3;
    if (has_part(row, "zero", "SHARD_GRAD_OP"))
        shape->zero = 2;
    return row_precision(row_text(row, "precision"), &shape->precision);
}

/* Returns the time of a step from a row's teraflops a GPU, which stand for
 * Megatron's count of operations, recomputing included (Narayanan et al.,
 * Efficient large-scale language model training on GPU clusters, SC 2021, equation
 * 3). */
static double counted_s(const struct calibrate_row *row,
                        const struct llm *llm, double batch)
{
    double h = llm->hidden, l = llm->layers;
    double s = row_number(row, "seq", 0.0);
    double flops = 96.0 * batch * s * l * h * h *
                   (1.0 + s / (6.0 * h) + llm->vocab / (16.0 * l * h));

    return flops / (row_number(row, "tflops_per_gpu", NAN) * 1e12 *
                    row_number(row, "gpus", NAN));
}

const char *calibrate_train_experts(const struct calibrate_row *row,
                                    double *measured, double *predicted)
{
    return row_number(row, "ep", 0.0) >= 1.0
               ? calibrate_train(row, measured, predicted)
               : calibrate_not_mine;
}

/* The measured time of a step: as stated, else from samples a second, else from
 * teraflops. */
const char *calibrate_train(const struct calibrate_row *row, double *measured,
                            double *predicted)
{
    const struct gpu_type *gpu = row_gpu(row, "gpu");
    double batch = row_number(row, "gbs", 0.0);
    struct train_shape shape;
    struct llm llm;
    struct gang gang;

    if (!train_llm(row, &llm))
        return "the architecture is not in the row";
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (!train_shape(row, &llm, &shape))
        return "the precision is unknown";
    if (!(shape.micro_batch > 0.0 && batch > 0.0))
        return "the micro batch is not published";
    if (!(shape.sequence_tokens > 0.0))
        return "the length of sequences is not in the row";
    gang = train_gang(row, gpu);
    if (gang.gpus < (double)shape.tp * shape.pp * shape.cp)
        return "the layout needs more GPUs than there are";
    *measured = row_number(row, "iter_s",
                           row_number(row, "samples_s", 0.0) > 0.0
                               ? batch / row_number(row, "samples_s", NAN)
                               : counted_s(row, &llm, batch));
    *predicted = train_step(&shape, &gang, batch).step_s;
    return NULL;
}
