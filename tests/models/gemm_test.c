/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gemm_test.c - a matrix multiplication alone: start, ridge, formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/laws/gemm.h"
#include "tests/aid/law_aids.h"

static double time_of(const struct gpu_type *gpu, double m, double n, double k,
                      enum gemm_format format)
{
    struct gemm gemm = { m, n, k, format };

    return gemm_s(&gemm, gpu);
}

/* 4 us to start; then 2 m n k / 763 TFLOPS, or 2 n k / 3021 GB/s. */
static void limits_are_those_of_the_roofline(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct gpu_type *h100 = catalogue_gpu(aids.catalogue, "h100");
    double large = time_of(h100, 16384, 16384, 16384, GEMM_16) - 4e-6;
    double thin = time_of(h100, 1, 16384, 16384, GEMM_16) - 4e-6;

    (void)state;
    assert_true(fabs(large * 763e12 / (2 * pow(16384, 3)) - 1) < 0.002);
    assert_true(fabs(thin * 3021e9 / (2 * pow(16384, 2)) - 1) < 0.001);
    law_aids_free(&aids);
}

static void smaller_weights_stream_faster_and_start_later(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct gpu_type *h100 = catalogue_gpu(aids.catalogue, "h100");
    double n = 16384;

    (void)state;
    assert_true(time_of(h100, 1, n, n, GEMM_WEIGHTS4) <
                time_of(h100, 1, n, n, GEMM_WEIGHTS8));
    assert_true(time_of(h100, 1, n, n, GEMM_WEIGHTS8) <
                time_of(h100, 1, n, n, GEMM_16));
    /* Arithmetic stays in 16 bits: no gain where it decides. */
    assert_true(time_of(h100, n, n, n, GEMM_WEIGHTS4) >
                0.99 * time_of(h100, n, n, n, GEMM_16));
    assert_true(time_of(h100, 1, 1024, 1024, GEMM_WEIGHTS4) >
                time_of(h100, 1, 1024, 1024, GEMM_16));
    law_aids_free(&aids);
}

/* On a GPU of 1e12 operations and 1e9 bytes a second in every format: the root of the sum of the
 * squares of 2 m n k / 1e12 and of the bytes over 1e9, behind the start of the kernels.  Bytes of
 * a weight, and of what it is multiplied with: 2 and 2, 1 and 1, 9/16 and 9/16 (a scale of 8 bits
 * for 16 numbers of 4), 1 and 2, 1/2 and 2; the product is in 16 bits. */
static void a_product_moves_weights_activations_and_the_result(void **state)
{
    static const struct { enum gemm_format format; double start_s, weight, activation; } row[] = {
        { GEMM_16, 4e-6, 2, 2 }, { GEMM_FP8, 14e-6, 1, 1 }, { GEMM_FP8_BLOCK, 6e-6, 1, 1 },
        { GEMM_FP4, 11e-6, 0.5625, 0.5625 }, { GEMM_INT8, 9e-6, 1, 1 },
        { GEMM_WEIGHTS8, 14e-6, 1, 2 }, { GEMM_WEIGHTS4, 16e-6, 0.5, 2 },
    };
    static const double size[][3] = { { 1, 100, 100 }, { 3000, 20, 50 }, { 300, 500, 10000 } };
    struct gpu_type gpu = { .name = "plain", .memory_bps_sustained = 1e9 };

    (void)state;
    for (int p = 0; p < PRECISION_COUNT; p++)
        gpu.flops_sustained[p] = gpu.flops_peak[p] = 1e12;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
            double m = size[k][0], n = size[k][1], depth = size[k][2];
            double bytes = n * depth * row[i].weight + m * depth * row[i].activation + 2 * m * n;
            double s = row[i].start_s + sqrt(pow(2 * m * n * depth / 1e12, 2) +
                                             pow(bytes / 1e9, 2));
            assert_true(law_error(time_of(&gpu, m, n, depth, row[i].format), s) < 1e-9);
        }
}

/* Arithmetic in 8-bit integers: at the rate that the GPU has for it, or, where it has none, in 16
 * bits. */
static void a_gpu_without_int8_takes_what_it_has(void **state)
{
    struct gpu_type gpu = { .name = "plain", .memory_bps_sustained = 1e15 };

    (void)state;
    gpu.flops_sustained[PRECISION_BF16] = gpu.flops_peak[PRECISION_BF16] = 1e12;
    assert_true(law_error(time_of(&gpu, 1e3, 1e3, 1e3, GEMM_INT8), 9e-6 + 2e9 / 1e12) < 1e-6);
    gpu.flops_sustained[PRECISION_INT8] = gpu.flops_peak[PRECISION_INT8] = 4e12;
    assert_true(law_error(time_of(&gpu, 1e3, 1e3, 1e3, GEMM_INT8), 9e-6 + 2e9 / 4e12) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_roofline),
        cmocka_unit_test(a_product_moves_weights_activations_and_the_result),
        cmocka_unit_test(a_gpu_without_int8_takes_what_it_has),
        cmocka_unit_test(smaller_weights_stream_faster_and_start_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
