/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * precision.h - number formats: bytes of a weight, and which rate computes it.
 *
 * INT4 and INT8 weights are weight-only quantization unless a law says
 * otherwise: they shrink what is read, while the matrix units still work in
 * 16 bits (calibration of llama.cpp and TensorRT-LLM: decode speed follows
 * 1/bytes, saturated throughput does not).
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

/* "fp32" ... in the order of the enum, ends with NULL: for CONF_CHOICE. */
extern const char *const precision_choices[];

const char *precision_name(enum precision precision);
bool precision_find(const char *name, enum precision *out);
/* Of one stored weight, scales and zero points of 4-bit groups included. */
double precision_weight_bytes(enum precision precision);
/* Of one activation or KV-cache element computed beside such weights. */
double precision_activation_bytes(enum precision precision);

#endif
