/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gemm.h - the time of one matrix multiplication alone, as a library's kernel.
 *
 * The roofline that training, prefills and encoders build on, with the start
 * of a kernel: tested against kernels that were measured one by one.  Whole
 * programs reach less (train.c, decode.c and compute.c say how much), and no
 * simulation calls this.
 *
 * Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
 */
#ifndef MODELS_LAWS_GEMM_H
#define MODELS_LAWS_GEMM_H

struct gpu_type;

/* What stands in the operands, and what is computed with. */
enum gemm_format {
    GEMM_16,            /* BF16 or FP16 */
    GEMM_FP8,           /* one scale a tensor */
    GEMM_FP8_BLOCK,     /* one scale a block */
    GEMM_FP4,           /* NVFP4 */
    GEMM_INT8,          /* 8 bits both sides (SmoothQuant) */
    GEMM_WEIGHTS8,      /* weights in 8 bits, arithmetic in 16 */
    GEMM_WEIGHTS4,      /* the same in 4 bits */
    GEMM_FORMAT_COUNT
};

struct gemm {
    double m, n, k;     /* (m x k) times (k x n): m tokens, k x n weights */
    enum gemm_format format;
};

/* Seconds on one GPU, all of them above 0. */
double gemm_s(const struct gemm *gemm, const struct gpu_type *gpu);

#endif
