/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compute.h - floating-point work of a transformer, and the roofline.
 *
 * Work: 2 operations per active parameter and token, plus attention over what
 * each token attends (Narayanan et al. 2021, arXiv 2104.04473, equation 3;
 * Kaplan et al. 2020, 2001.08361, table 1).  Time: the larger of operations
 * over rate and bytes over bandwidth (Williams et al. 2009, roofline).
 */
#ifndef MODELS_LAWS_COMPUTE_H
#define MODELS_LAWS_COMPUTE_H

#include "models/types/precision.h"

struct cpu_type;
struct gpu_type;
struct llm;

/* Of one forward pass over tokens that each attend attended_tokens. */
double compute_forward_flops(const struct llm *llm, double tokens,
                             double attended_tokens);
/* What the matrix units sustain, for weights of that precision: weight-only
 * formats and formats the GPU lacks fall back to what it computes them in. */
double compute_sustained_flops(const struct gpu_type *gpu,
                               enum precision precision);
double compute_peak_flops(const struct gpu_type *gpu,
                          enum precision precision);
/* Share of the sustained rate that matrices of that size reach: x/(x+x0) with
 * x = width sqrt(rows / 2048). */
double compute_size_efficiency(double width, double rows);
double compute_roofline_s(double flops, double flops_rate, double bytes,
                          double bps);
/* Latency of an encoder (BERT) in an engine of fused kernels, every token
 * attending all of its sequence; INT8 is computed in INT8. */
double compute_encoder_s(const struct llm *llm, enum precision precision,
                         const struct gpu_type *gpu, double sequences,
                         double tokens);
/* Forward pass of a small model on cores of one CPU type. */
double compute_cpu_forward_s(const struct llm *llm, enum precision precision,
                             const struct cpu_type *cpu, double cores,
                             double tokens);

#endif
