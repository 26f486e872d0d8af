/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compute.c - floating-point work of a transformer, and the roofline.
 */
#include "models/laws/compute.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "models/catalogue/catalogue.h"

/* Half of the rate is reached at this width (times sqrt(rows/2048)), where
 * the width of matrices divided by tensor parallelism is the mean of both
 * sides: h / sqrt(tp).  Chosen with the constants of train.c. */
#define SIZE_HALF 130.0

double compute_forward_flops(const struct llm *llm, double tokens,
                             double attended_tokens)
{
    assert(llm && tokens >= 0.0 && attended_tokens >= 0.0);
    double attention = 4.0 * llm->layers * (double)llm->heads *
                       llm->head_dim * attended_tokens;

    return tokens * (2.0 * llm->params_active + attention);
}

/* Returns the mean over the layers: those with a window attend to `part` tokens, the others to
 * `whole`. */
static double mix_layers(const struct llm *llm, double whole, double part)
{
    assert(llm->window_layers <= llm->layers);
    double share = (double)llm->window_layers / llm->layers;

    assert(part <= whole);
    return (1.0 - share) * whole + share * part;
}

double compute_attended_tokens(const struct llm *llm, double context_tokens)
{
    assert(llm != NULL && context_tokens >= 0.0);
    if (llm->window == 0 || context_tokens <= llm->window)
        return context_tokens;
    return mix_layers(llm, context_tokens, llm->window);
}

/* Token i attends to min(i, window) tokens: up to the window, i; after it, the window. */
double compute_causal_tokens(const struct llm *llm, double tokens)
{
    assert(llm != NULL && tokens >= 0.0);
    double window = llm->window;

    if (llm->window == 0 || tokens <= window)
        return tokens / 2.0;
    return mix_layers(llm, tokens / 2.0, window - window * window / (2.0 * tokens));
}

/* The formats tried in turn when a GPU has no units for one. */
static const enum precision fallback[PRECISION_COUNT][3] = {
    [PRECISION_FP32] = { PRECISION_FP32, PRECISION_FP32, PRECISION_FP32 },
    [PRECISION_TF32] = { PRECISION_TF32, PRECISION_FP32, PRECISION_FP32 },
    [PRECISION_FP16] = { PRECISION_FP16, PRECISION_BF16, PRECISION_FP32 },
    [PRECISION_BF16] = { PRECISION_BF16, PRECISION_FP16, PRECISION_FP32 },
    [PRECISION_FP8] = { PRECISION_FP8, PRECISION_BF16, PRECISION_FP16 },
    [PRECISION_FP4] = { PRECISION_FP4, PRECISION_FP8, PRECISION_BF16 },
    /* Weight-only: the arithmetic stays in 16 bits. */
    [PRECISION_INT8] = { PRECISION_BF16, PRECISION_FP16, PRECISION_FP32 },
    [PRECISION_INT4] = { PRECISION_BF16, PRECISION_FP16, PRECISION_FP32 },
};

/* The rate of the first format in the list of fallbacks that the GPU has. */
static double find_rate(const double *rate, enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    for (int i = 0; i < 3; i++) {
        double found = rate[fallback[precision][i]];
        if (found > 0.0) {
            return found;
        }
    }
    return rate[PRECISION_FP32];
}

double compute_sustained_flops(const struct gpu_type *gpu,
                               enum precision precision)
{
    assert(gpu);
    return find_rate(gpu->flops_sustained, precision);
}

double compute_peak_flops(const struct gpu_type *gpu,
                          enum precision precision)
{
    assert(gpu);
    return find_rate(gpu->flops_peak, precision);
}

double compute_size_efficiency(double width, double rows)
{
    assert(width > 0.0 && rows > 0.0);
    double x = width * sqrt(rows / 2048.0);

    return x / (x + SIZE_HALF);
}

double compute_roofline_s(double flops, double flops_rate, double bytes,
                          double bps)
{
    assert(flops_rate > 0.0 && bps > 0.0);
    return fmax(flops / flops_rate, bytes / bps);
}

/* Encoders: TensorRT demoBERT 007c3470, BERT-Base on T4, A30 and A100 (63
 * rows); BERT-Large was left for testing.  Start of a step and of a layer's
 * kernels, rate as a share of the catalogue's INT8 rate (half of it in 16
 * bits), attention as a share of that, bytes of element-wise traffic in units
 * of hidden size, and how arithmetic and traffic overlap: a power mean. */
#define ENCODER_STEP_S 0.125e-3
#define ENCODER_LAYER_S 29e-6
#define ENCODER_SHARE_8 1.17
#define ENCODER_SHARE_16 1.07
#define ENCODER_ATTENTION 0.48
#define ENCODER_ELEMENTS 8.0
#define ENCODER_OVERLAP 1.46

double compute_word_params(const struct llm *llm)
{
    assert(llm != NULL);
    return (double)llm->hidden * llm->vocab;
}

/* Per layer: matrices and attention against traffic of weights and
 * activations; they overlap, neither fully nor not at all. */
double compute_encoder_s(const struct llm *llm, enum precision precision,
                         const struct gpu_type *gpu, double sequences,
                         double tokens)
{
    assert(llm && gpu && sequences > 0.0 && tokens > 0.0);
    bool small = precision == PRECISION_INT8;
    double int8 = gpu->flops_sustained[PRECISION_INT8];
    double half = int8 > 0.0 ? int8 / 2.0
                             : compute_sustained_flops(gpu, PRECISION_FP16);
    double rate = small && int8 > 0.0 ? int8 * ENCODER_SHARE_8
                                      : half * ENCODER_SHARE_16;
    double rows = sequences * tokens;
    double h = llm->hidden;
    double weights = (llm->params - compute_word_params(llm)) / llm->layers;
    double bytes = small ? 1.0 : 2.0;
    double work_s = 2.0 * rows * weights / rate +
                    4.0 * rows * compute_attended_tokens(llm, tokens) * h /
                        (half * ENCODER_ATTENTION);
    double traffic_s = (weights + ENCODER_ELEMENTS * h * rows) * bytes /
                       gpu->memory_bps_sustained;
    double busy_s = pow(pow(work_s, ENCODER_OVERLAP) +
                        pow(traffic_s, ENCODER_OVERLAP),
                        1.0 / ENCODER_OVERLAP);

    return ENCODER_STEP_S + llm->layers * (ENCODER_LAYER_S + busy_s);
}

/* Cores share a socket's rate evenly.  4-bit weights compute as 8 bits. */
double compute_cpu_flops(const struct cpu_type *cpu, enum precision precision,
                         double cores)
{
    assert(cpu && cpu->cores > 0 && cores > 0.0);
    bool small = precision == PRECISION_INT8 || precision == PRECISION_INT4;
    bool half = precision == PRECISION_BF16 || precision == PRECISION_FP16;
    double socket_flops = small ? cpu->flops_int8 : cpu->flops_fp32;

    if (half && cpu->flops_bf16 > 0.0)
        socket_flops = cpu->flops_bf16;
    return socket_flops * (cores / cpu->cores);
}

/* assumption: half of a socket's cores draw all of its bandwidth. */
double compute_cpu_bps(const struct cpu_type *cpu, double cores)
{
    assert(cpu && cpu->cores > 0 && cores > 0.0);
    double sockets = cores / cpu->cores;

    return cpu->memory_bps_sustained *
           fmax(sockets, fmin(1.0, 2.0 * sockets));
}

double compute_cpu_forward_s(const struct llm *llm, enum precision precision,
                             const struct cpu_type *cpu, double cores,
                             double tokens, double attended_tokens)
{
    assert(llm && cpu && cpu->cores > 0 && cores > 0.0);
    double bytes = llm->params_active * precision_weight_bytes(precision);
    double flops = compute_forward_flops(llm, tokens, attended_tokens);

    return compute_roofline_s(flops, compute_cpu_flops(cpu, precision, cores),
                              bytes, compute_cpu_bps(cpu, cores));
}

/* What the socket's rates were worked out from: the weights of the layers. */
double compute_cpu_encoder_s(const struct llm *llm, enum precision precision,
                             const struct cpu_type *cpu, double cores,
                             double sequences, double tokens)
{
    assert(llm && sequences > 0.0 && tokens > 0.0);
    struct llm layers = *llm;

    layers.params_active -= compute_word_params(llm);
    return compute_cpu_forward_s(&layers, precision, cpu, cores,
                                 sequences * tokens,
                                 compute_attended_tokens(llm, tokens));
}
