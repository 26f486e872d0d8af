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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_roofline),
        cmocka_unit_test(smaller_weights_stream_faster_and_start_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
