/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * precision.c - the table of number formats.
 *
 * A 4-bit weight counts 4.89 bits: the file of Llama-3.1-8B in Q4_K_M is
 * 4.58 GiB for 8.03e9 parameters, scales and 16-bit tables included
 * (llama.cpp, quantize README).  INT8 is 7.95 GiB for the same model, 8.5
 * bits.
 */
#include "models/types/precision.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct row {
    double weight_bytes;
    double activation_bytes;
};

static const struct row table[PRECISION_COUNT] = {
    [PRECISION_FP32] = { 4.0, 4.0 },
    [PRECISION_TF32] = { 4.0, 4.0 },
    [PRECISION_FP16] = { 2.0, 2.0 },
    [PRECISION_BF16] = { 2.0, 2.0 },
    [PRECISION_FP8] = { 1.0, 2.0 },
    [PRECISION_INT8] = { 8.5 / 8.0, 2.0 },
    [PRECISION_INT4] = { 4.89 / 8.0, 2.0 },
    /* NVFP4: an 8-bit scale for 16 weights. */
    [PRECISION_FP4] = { 4.5 / 8.0, 2.0 },
};

const char *const precision_choices[] = {
    "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "int4", "fp4",
    NULL
};

const char *precision_name(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return precision_choices[precision];
}

bool precision_find(const char *name, enum precision *out)
{
    assert(name && out);
    for (int i = 0; i < PRECISION_COUNT; i++) {
        if (strcmp(name, precision_choices[i]) == 0) {
            *out = (enum precision)i;
            return true;
        }
    }
    return false;
}

double precision_weight_bytes(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return table[precision].weight_bytes;
}

double precision_activation_bytes(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return table[precision].activation_bytes;
}
