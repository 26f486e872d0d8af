/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gemm.c - the start of a kernel, and the roofline.
 *
 * A kernel takes its start, and then arithmetic and traffic at once: their root
 * of squares, which is the larger of the two away from the ridge.
 */
#include "models/laws/gemm.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"

/* A number format of a matrix product: what a weight and an activation take,
 * and in which the arithmetic is done. */
struct format {
    double start_s;             /* of all kernels that it takes */
    double weight_bytes, activation_bytes;
    enum precision arithmetic;  /* whose sustained FLOPs of the GPU count */
};

/* Starts were chosen on the kernels of TensorRT-LLM 1.0 on A100, H100, B200
 * and RTX PRO 6000 (ai-dynamo/aiconfigurator 095f58a51, operator tables):
 * formats that scale activations first, or unpack weights, start more than one
 * kernel.  NVFP4 keeps a scale of 8 bits for 16 elements. */
static const struct format formats[GEMM_FORMAT_COUNT] = {
    [GEMM_16] = { 4e-6, 2.0, 2.0, PRECISION_BF16 },
    [GEMM_FP8] = { 14e-6, 1.0, 1.0, PRECISION_FP8 },
    [GEMM_FP8_BLOCK] = { 6e-6, 1.0, 1.0, PRECISION_FP8 },
    [GEMM_FP4] = { 11e-6, 0.5625, 0.5625, PRECISION_FP4 },
    [GEMM_INT8] = { 9e-6, 1.0, 1.0, PRECISION_INT8 },
    [GEMM_WEIGHTS8] = { 14e-6, 1.0, 2.0, PRECISION_BF16 },
    [GEMM_WEIGHTS4] = { 16e-6, 0.5, 2.0, PRECISION_BF16 },
};

/* Arithmetic in 8-bit integers; where a GPU has none, in what it has. */
static double find_rate(const struct gpu_type *gpu, enum precision arithmetic)
{
    assert(gpu != NULL);
    assert(arithmetic < PRECISION_COUNT);
    double int8 = gpu->flops_sustained[PRECISION_INT8];

    return arithmetic == PRECISION_INT8 && int8 > 0.0
               ? int8 : compute_sustained_flops(gpu, arithmetic);
}

double gemm_s(const struct gemm *gemm, const struct gpu_type *gpu)
{
    assert(gemm && gpu && gemm->format < GEMM_FORMAT_COUNT);
    assert(gemm->m > 0.0 && gemm->n > 0.0 && gemm->k > 0.0);
    const struct format *f = &formats[gemm->format];
    double work_s = 2.0 * gemm->m * gemm->n * gemm->k /
                    find_rate(gpu, f->arithmetic);
    double bytes = gemm->n * gemm->k * f->weight_bytes +
                   gemm->m * gemm->k * f->activation_bytes +
                   gemm->m * gemm->n * 2.0;

    /* Near the ridge both limits show. */
    return f->start_s + hypot(work_s, bytes / gpu->memory_bps_sustained);
}
