/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * precision.h - number formats, and the bytes of a weight in each.
 *
 * INT4 and INT8 mean weight-only quantization unless a law says otherwise: the
 * weights that are read from memory are smaller, but the matrix units still
 * compute in 16 bits (calibration of llama.cpp and TensorRT-LLM: decode speed
 * follows 1/bytes, saturated throughput does not).
 */
#ifndef MODELS_TYPES_PRECISION_H
#define MODELS_TYPES_PRECISION_H

#include <stdbool.h>

enum precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_FP16,
    PRECISION_BF16,
    PRECISION_FP8,
    PRECISION_INT8,
    PRECISION_INT4,
    PRECISION_FP4,              /* with block scales: NVFP4, MXFP4 */
    PRECISION_COUNT
};

/* Names in the order of the enum, "fp32" first; NULL ends the list. */
extern const char *const precision_choices[];

/* Returns the name, a static string. */
const char *precision_name(enum precision precision);
/* Stores the format of that name in *out.  False: there is no such name, and
 * *out is unchanged. */
bool precision_find(const char *name, enum precision *out);
/* Returns the bytes of one stored weight, with its part of the scales and zero
 * points of its group. */
double precision_weight_bytes(enum precision precision);
/* Returns the bytes of one activation or KV-cache element in a model whose
 * weights have that format. */
double precision_activation_bytes(enum precision precision);

#endif
