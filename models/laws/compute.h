/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compute.h - floating-point work of a transformer, and the roofline.
 *
 * Work: 2 operations per active parameter and token, plus attention to the
 * tokens that each token attends to (Narayanan et al. 2021, arXiv 2104.04473,
 * equation 3; Kaplan et al. 2020, 2001.08361, table 1).  Time: the larger of
 * operations over rate and bytes over bandwidth (Williams et al. 2009,
 * roofline).
 */
#ifndef MODELS_LAWS_COMPUTE_H
#define MODELS_LAWS_COMPUTE_H

#include "models/types/precision.h"

struct cpu_type;
struct gpu_type;
struct llm;

/* Returns the operations of one forward pass over `tokens` tokens, each of
 * which attends to `attended_tokens`. */
double compute_forward_flops(const struct llm *llm, double tokens,
                             double attended_tokens);
/* Returns the tokens to which a token with a context of that many attends, as the mean of the
 * layers: layers with a window attend to its last `window` tokens alone (Beltagy et al. 2020, arXiv
 * 2004.05150, section 3.1; Jiang et al. 2023, Mistral 7B, arXiv 2310.06825, section 2). */
double compute_attended_tokens(const struct llm *llm, double context_tokens);
/* Returns the same as the mean of all tokens of a sequence of that length, each of which attends
 * to those before it. */
double compute_causal_tokens(const struct llm *llm, double tokens);
/* Returns the rate that large matrices reach, in operations per second, for
 * weights of that precision.  Weight-only formats, and formats that the GPU
 * does not have, get the rate of the format in which it computes them. */
double compute_sustained_flops(const struct gpu_type *gpu,
                               enum precision precision);
/* Returns the peak rate of the datasheet, with the same fallback. */
double compute_peak_flops(const struct gpu_type *gpu,
                          enum precision precision);
/* Returns the share of the sustained rate that matrices of this size reach, in
 * [0,1): x/(x+x0) with x = width sqrt(rows / 2048). */
double compute_size_efficiency(double width, double rows);
/* Returns seconds: the larger of flops / flops_rate and bytes / bps. */
double compute_roofline_s(double flops, double flops_rate, double bytes,
                          double bps);
/* Returns the parameters of the table of words, in which a pass only looks up. */
double compute_word_params(const struct llm *llm);
/* Returns the seconds of a batch of `sequences`, `tokens` long each, through an
 * encoder (BERT) in an engine with fused kernels.  Every token attends to its
 * whole sequence; INT8 is computed in INT8. */
double compute_encoder_s(const struct llm *llm, enum precision precision,
                         const struct gpu_type *gpu, double sequences,
                         double tokens);
/* Returns the rate of `cores` cores of one CPU type for weights of that
 * precision, in operations per second, and the bandwidth of their memory in
 * bytes per second. */
double compute_cpu_flops(const struct cpu_type *cpu, enum precision precision,
                         double cores);
double compute_cpu_bps(const struct cpu_type *cpu, double cores);
/* Returns the seconds of a forward pass over the `tokens` tokens of a batch, each
 * of which attends to `attended_tokens` of its own sequence, on `cores` cores of
 * one CPU type. */
double compute_cpu_forward_s(const struct llm *llm, enum precision precision,
                             const struct cpu_type *cpu, double cores,
                             double tokens, double attended_tokens);
/* Returns the seconds of a batch of `sequences`, `tokens` long each, through an
 * encoder there: as compute_encoder_s(), every token attends to its whole
 * sequence, and words are looked up, not computed. */
double compute_cpu_encoder_s(const struct llm *llm, enum precision precision,
                             const struct cpu_type *cpu, double cores,
                             double sequences, double tokens);

#endif
