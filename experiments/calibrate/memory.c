/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - measured bytes, and the laws of memory.h.
 */
#include "experiments/calibrate/suites.h"

#include <stdio.h>
#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "models/laws/transfer.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

/* Does the field contain the text? */
static bool has_part(const struct calibrate_row *row, const char *column,
                     const char *part)
{
    return strstr(row_text(row, column), part) != NULL;
}

/* Returns the value in bytes; 0 for another unit, which makes the row refused. */
static double row_bytes(const struct calibrate_row *row)
{
    const char *unit = row_text(row, "unit");
    double value = row_number(row, "value", 0.0);

    return value * (strcmp(unit, "GiB") == 0  ? GIB
                    : strcmp(unit, "GB") == 0 ? 1e9
                    : strcmp(unit, "TB") == 0 ? 1e12 : 0.0);
}

/* Names of Korthikanti et al. (Reducing activation recomputation in large
 * transformer models, MLSys 2023, table 3), the catalogue's, and the interleaving
 * that they used. */
struct megatron {
    const char *published, *ours;
    uint32_t vp;                /* chunks of a stage in that paper */
};

static const struct megatron megatron[] = {
    { "GPT 22B", "gpt-22b", 1 }, { "GPT 175B", "gpt-3-175b", 3 },
    { "GPT 530B", "gpt-530b", 3 }, { "GPT 1T", "gpt-1t", 1 },
};

/* Figure 1 of that paper: states, and activations with or without selective
 * recomputation, of one GPU of the first stage. */
const char *calibrate_memory_fig1(const struct calibrate_row *row,
                                  double *measured, double *predicted)
{
    struct train_shape shape = {
        .precision = PRECISION_FP16,
        .sequence_tokens = row_number(row, "seq", 0.0),
        .micro_batch = row_number(row, "mbs", 0.0), .tp = 1, .pp = 1,
    };
    struct memory_need need;

    if (!has_part(row, "item", "Korthikanti"))
        return calibrate_not_mine;
    for (size_t i = 0; i < sizeof megatron / sizeof megatron[0]; i++)
        if (row_is(row, "model", megatron[i].published)) {
            shape.llm = catalogue_llm(row->catalogue, megatron[i].ours);
            shape.vp = megatron[i].vp;
        }
    if (shape.llm == NULL)
        return "the model is not in the catalogue";
    if (sscanf(row_text(row, "zero_or_parallel"), "tp%u pp%u", &shape.tp,
               &shape.pp) != 2 || shape.tp == 0 || shape.pp == 0)
        return "the layout is not in the row";
    if (has_part(row, "quantity", "selective")) {
        shape.recompute = RECOMPUTE_SELECTIVE;
        shape.sequence_parallel = true;
    }
    need = memory_train(&shape, row_count(row, "gpus", 1));
    *measured = row_bytes(row);
    *predicted = has_part(row, "quantity", "activations")
                     ? need.activations
                     : need.weights + need.gradients + need.optimizer;
    return NULL;
}

/* Size of a file of llama.cpp: the simulator's own formats, and the bits of a
 * weight in the blocks of the others (ggml, definitions of block_q6_K and so on). */
static const char *predict_file(const struct calibrate_row *row,
                                double *predicted)
{
    static const struct {
        const char *published, *ours;
        double bits;
    } format[] = {
        { "F16", "fp16", 0.0 }, { "F32", "fp32", 0.0 },
        { "Q8_0", "int8", 0.0 }, { "Q4_K_M", "int4", 0.0 },
        { "Q4_K_S", NULL, 4.5 }, { "Q6_K", NULL, 6.5625 },
        { "Q5_K_M", NULL, 5.5 }, { "Q3_K_S", NULL, 3.4375 },
        { "Q2_K", NULL, 2.625 },
    };
    const struct llm *llm = row_llm(row);
    enum precision precision;

    if (llm == NULL)
        return "the model is not in the catalogue";
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++) {
        if (!row_is(row, "precision", format[i].published))
            continue;
        *predicted = format[i].ours != NULL &&
                             row_precision(format[i].ours, &precision)
                         ? memory_weight_bytes(llm, precision)
                         : llm->params * format[i].bits / 8.0;
        return NULL;
    }
    return "no such weight format in the simulator";
}

/* DeepSpeed's estimates are of states alone: 2 bytes a gradient, no layers.  So
 * the model is a T5 whose shape does not matter, with the row's number of
 * parameters. */
static const char *predict_states(const struct calibrate_row *row,
                                  double *predicted)
{
    struct llm llm = {
        .name = "t5", .layers = 24, .hidden = 1024, .heads = 32,
        .kv_heads = 32, .head_dim = 128, .ffn = 16384, .ffn_matrices = 2,
        .vocab = 32128, .kv_width = 8192,
        .params = row_number(row, "params_b", 0.0) * 1e9,
    };
    struct train_shape shape = {
        .llm = &llm, .precision = PRECISION_FP16, .sequence_tokens = 1.0,
        .micro_batch = 1.0, .tp = 1, .pp = 1,
        .zero = has_part(row, "method", "ZeRO-3") ? 3 : 2,
    };
    struct memory_need need;

    if (has_part(row, "method", "param+opt"))
        return "offloaded parameters are not modelled";
    llm.params_active = llm.params;
    need = memory_train(&shape, row_count(row, "gpus", 1));
    *predicted = need.weights;
    if (!has_part(row, "method", "offload"))
        *predicted += need.gradients + need.optimizer;
    return NULL;
}

/* A checkpoint follows from the number of parameters alone. */
static const char *predict_checkpoint(const struct calibrate_row *row,
                                      double *predicted)
{
    struct llm llm = { .name = "row", .layers = 1 };
    struct train_shape shape = {
        .llm = &llm, .precision = PRECISION_BF16, .tp = 1, .pp = 1,
    };

    llm.params = row_number(row, "params_b", 0.0) * 1e9;
    llm.params_active = llm.params;
    *predicted = transfer_checkpoint_bytes(&shape);
    return NULL;
}

/* What the row is of (`item`) tells which law predicts it. */
const char *calibrate_memory_other(const struct calibrate_row *row,
                                   double *measured, double *predicted)
{
    const struct gpu_type *gpu = row_gpu(row, "gpu");

    *measured = row_bytes(row);
    if (has_part(row, "item", "Korthikanti"))
        return calibrate_not_mine;
    if (has_part(row, "item", "llama.cpp"))
        return predict_file(row, predicted);
    if (has_part(row, "item", "DeepSpeed"))
        return predict_states(row, predicted);
    if (has_part(row, "item", "checkpoint"))
        return predict_checkpoint(row, predicted);
    if (has_part(row, "item", "vLLM peak")) {
        if (gpu == NULL)
            return "the GPU is not in the catalogue";
        *predicted = memory_serve_bytes(gpu->memory_bytes);
        return NULL;
    }
    return "no law for this quantity";
}
