/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.c - measured matrix multiplications, and the law of gemm.h.
 *
 * Rows are of AIConfigurator's silicon data: m x n x k, a format, a latency.
 * Names of formats are theirs: "sq" is SmoothQuant in 8-bit integers, "_wo" are
 * weights alone.
 */
#include "experiments/calibrate/suites.h"

#include "experiments/calibrate/row.h"
#include "models/laws/gemm.h"

/* Compares seconds of one matrix product of m x n x k; rows state microseconds. */
const char *calibrate_kernel(const struct calibrate_row *row,
                             double *measured, double *predicted)
{
    static const struct { const char *name; enum gemm_format format; } is[] = {
        { "bfloat16", GEMM_16 }, { "fp8", GEMM_FP8 },
        { "fp8_block", GEMM_FP8_BLOCK }, { "nvfp4", GEMM_FP4 },
        { "sq", GEMM_INT8 }, { "int8_wo", GEMM_WEIGHTS8 },
        { "int4_wo", GEMM_WEIGHTS4 },
    };
    const struct gpu_type *gpu = row_gpu(row, "system");
    struct gemm gemm = {
        row_number(row, "m", 0.0), row_number(row, "n", 0.0),
        row_number(row, "k", 0.0), GEMM_16
    };

    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (!(gemm.m > 0.0 && gemm.n > 0.0 && gemm.k > 0.0))
        return "the shape is not in the row";
    *measured = row_number(row, "latency_us", 0.0) * 1e-6;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++)
        if (row_is(row, "dtype", is[i].name)) {
            gemm.format = is[i].format;
            *predicted = gemm_s(&gemm, gpu);
            return NULL;
        }
    return "the format is unknown";
}
