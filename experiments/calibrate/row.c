/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row.c - published names, and the catalogue's.
 */
#include "experiments/calibrate/row.h"

#include <assert.h>
#include <math.h>
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

double row_number(const struct calibrate_row *row, const char *column,
                  double fallback)
{
    const char *text = row_text(row, column);
    double value;

    return scan_f64(text, strlen(text), &value) ? value : fallback;
}

uint32_t row_count(const struct calibrate_row *row, const char *column,
                   uint32_t fallback)
{
    double value = row_number(row, column, 0.0);

    return value >= 1.0 && value < 1e9 ? (uint32_t)value : fallback;
}

struct alias {
    const char *published, *ours;
};

static const struct alias gpu_alias[] = {
    { "A100-SXM4-80GB", "a100-80" }, { "A100-SXM4-40GB", "a100-40" },
    { "A100-80GB", "a100-80" }, { "a100_sxm", "a100-80" },
    { "H100-SXM-80GB", "h100" }, { "H100 SXM", "h100" },
    { "h100_sxm", "h100" }, { "H200-SXM", "h200" }, { "H200", "h200" },
    { "h200_sxm", "h200" }, { "B200 SXM", "b200" }, { "b200_sxm", "b200" },
    { "B300", "b300" }, { "b300_sxm", "b300" }, { "GB200 SXM", "gb200" },
    { "gb200", "gb200" }, { "GB300", "gb300" }, { "gb300", "gb300" },
    { "T4", "t4" }, { "L4", "l4" }, { "A30", "a30" }, { "L40S", "l40s" },
    { "l40s", "l40s" }, { "RTX 3090", "rtx-3090" },
    { "RTX 4090", "rtx-4090" }, { "H20-3e", "h20-3e" },
    { "V100S-PCIe-32GB", "v100s" }, { "V100S-32GB", "v100s" },
    { "V100-SXM3-32GB", "v100-32" }, { "V100-SXM2-32GB", "v100-32" },
    { "V100-SXM2-16GB", "v100-32" }, { "Ascend 910B2", "ascend-910b" },
    { "rtx_pro_6000_server", "rtx-pro-6000" },
    { "RTX PRO 6000", "rtx-pro-6000" }, { "b60", "arc-pro-b60" },
    { "A4500", "rtx-a4500" }, { "RTX A6000", "rtx-a6000" },
    { "A40", "a40" }, { "RTX 6000 Ada", "rtx-6000-ada" },
    { "A100-PCIe-80GB", "a100-pcie" },
};

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
