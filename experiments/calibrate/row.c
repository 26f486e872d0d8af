/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row.c - published names, and the catalogue's.
 *
 * Fields are found by the name of their column in every row: data sets have
 * different columns, and a missing one reads as empty.
 */
#include "experiments/calibrate/row.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/text/csv.h"
#include "sim/text/scan.h"

const char *row_text(const struct calibrate_row *row, const char *column)
{
    size_t at = csv_find(row->in, column);

    return at == SIZE_MAX ? "" : csv_text(row->in, at);
}

bool row_is(const struct calibrate_row *row, const char *column,
            const char *text)
{
    return strcmp(row_text(row, column), text) == 0;
}

/* An empty field, or one that is no number, is `fallback`. */
double row_number(const struct calibrate_row *row, const char *column,
                  double fallback)
{
    const char *text = row_text(row, column);
    double value;

    return scan_f64(text, strlen(text), &value) ? value : fallback;
}

/* Numbers below 1 are not counts; nor are those beyond 1e9. */
uint32_t row_count(const struct calibrate_row *row, const char *column,
                   uint32_t fallback)
{
    double value = row_number(row, column, 0.0);

    return value >= 1.0 && value < 1e9 ? (uint32_t)value : fallback;
}

/* The word stands at the start of the notes or behind a blank; digits follow one blank. */
uint32_t row_noted(const struct calibrate_row *row, const char *word, uint32_t fallback)
{
    const char *notes = row_text(row, "notes"), *at = notes;
    size_t bytes = strlen(word);

    for (; (at = strstr(at, word)) != NULL; at += bytes)
        if ((at == notes || at[-1] == ' ') && at[bytes] == ' ' &&
            isdigit((unsigned char)at[bytes + 1])) {
            unsigned long count = strtoul(at + bytes + 1, NULL, 10);

            return count >= 1 && count < 1000000000 ? (uint32_t)count : fallback;
        }
    return fallback;
}

/* A published name, and that of the catalogue. */
struct alias {
    const char *published, *ours;
};

/* Names that the catalogue does not know, because they say too little, and what
 * they are in these files; the 16 GB part computes as the 32 GB one.  All
 * others are `aliases` of the catalogue. */
static const struct alias gpu_alias[] = {
    { "a100_sxm", "a100-80" }, { "V100-SXM2-16GB", "v100-32" },
};

/* Returns our name for a published one, or the name itself. */
static const char *find_alias(const struct alias *alias, size_t count,
                              const char *published)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(alias[i].published, published) == 0)
            return alias[i].ours;
    return published;
}

const struct gpu_type *row_gpu(const struct calibrate_row *row,
                               const char *column)
{
    const char *name = find_alias(gpu_alias,
                                  sizeof gpu_alias / sizeof gpu_alias[0],
                                  row_text(row, column));

    return catalogue_gpu(row->catalogue, name);
}

const struct llm *row_llm(const struct calibrate_row *row)
{
    return catalogue_llm(row->catalogue, row_text(row, "model"));
}

static const struct alias net_alias[] = {
    { "ResNet50 v1.5", "resnet-50" }, { "3D U-Net", "unet-3d" },
    { "DLRM small", "dlrm-mlperf" }, { "DLRM large", "dlrm-mlperf" },
};

const struct net *row_net(const struct calibrate_row *row)
{
    const char *name = find_alias(net_alias,
                                  sizeof net_alias / sizeof net_alias[0],
                                  row_text(row, "model"));

    return catalogue_net(row->catalogue, name);
}

static const struct alias precision_alias[] = {
    { "", "bf16" }, { "amp_bf16", "bf16" }, { "amp_fp8", "fp8" },
    { "fp16 AMP", "fp16" }, { "AMP", "fp16" },
    { "MXFP8", "fp8" }, { "NVFP4", "fp4" }, { "f16", "fp16" },
    { "q4_0", "int4" }, { "Q4_K_M", "int4" }, { "F16", "fp16" },
    { "bfloat16", "bf16" }, { "half", "fp16" },
};

/* Case does not matter: "BF16" and "bf16" are published. */
bool row_precision(const char *text, enum precision *out)
{
    const char *name = find_alias(precision_alias,
                                  sizeof precision_alias /
                                      sizeof precision_alias[0], text);

    for (int i = 0; i < PRECISION_COUNT; i++)
        if (strcasecmp(name, precision_choices[i]) == 0) {
            *out = (enum precision)i;
            return true;
        }
    return false;
}

/* 9.7 us: one message over InfiniBand, as the catalogue's links have it. */
#define INTER_LATENCY_S 9.7e-6

/* NVLink within a node where the GPU has it, else PCIe. */
struct gang row_gang(const struct gpu_type *gpu, uint32_t gpus,
                     uint32_t per_node, double inter_bps)
{
    assert(gpu != NULL && gpus > 0 && per_node > 0);
    bool nvlink = gpu->nvlink_bps > 0.0;
    struct gang gang = {
        .gpu = gpu, .gpus = gpus, .nodes = (gpus + per_node - 1) / per_node,
        .intra_bps = nvlink ? gpu->nvlink_bps : gpu->pcie_bps,
        .intra_latency_s = nvlink ? gpu->nvlink_latency_s
                                  : gpu->pcie_latency_s,
        .inter_bps = inter_bps, .inter_latency_s = INTER_LATENCY_S,
    };

    return gang;
}

bool row_ahead(const struct calibrate_row *row, const struct llm *llm)
{
    const char *framework = row_text(row, "framework");
    unsigned minor, patch;

    if (sscanf(framework, "vllm 0.%u", &minor) == 1 || sscanf(framework, "vLLM 0.%u", &minor) == 1)
        return minor >= 14;
    if (sscanf(framework, "sglang 0.%u.%u", &minor, &patch) == 2)
        return minor > 5 || (minor == 5 && patch >= 9);
    return strncmp(framework, "vllm nightly", 12) == 0 ||
           (strncmp(framework, "sglang", 6) == 0 && llm->experts > 0);
}
