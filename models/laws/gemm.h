/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gemm.h - the time of one matrix multiplication by a library's kernel.
 *
 * This is the roofline on which training, prefill and encoders build, plus the
 * start of a kernel.  It is tested against kernels that were measured one by
 * one.  Whole programs reach less (train.c, decode.c and compute.c say how
 * much).  No simulation calls it; `calibrate` does.
 *
 * Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
 */
#ifndef MODELS_LAWS_GEMM_H
#define MODELS_LAWS_GEMM_H

struct gpu_type;

/* Formats of the operands and of the arithmetic. */
enum gemm_format {
    GEMM_16,            /* BF16 or FP16 */
    GEMM_FP8,           /* one scale per tensor */
    GEMM_FP8_BLOCK,     /* one scale per block */
    GEMM_FP4,           /* NVFP4 */
    GEMM_INT8,          /* both operands in 8 bits (SmoothQuant) */
    GEMM_WEIGHTS8,      /* weights in 8 bits, arithmetic in 16 */
    GEMM_WEIGHTS4,      /* weights in 4 bits, arithmetic in 16 */
    GEMM_FORMAT_COUNT
};

struct gemm {
    double m, n, k;     /* (m x k) times (k x n): m tokens, k x n weights */
    enum gemm_format format;
};

/* Returns seconds on one GPU.  m, n and k are above 0. */
double gemm_s(const struct gemm *gemm, const struct gpu_type *gpu);

#endif
