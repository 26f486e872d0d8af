/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.h - the time of one optimizer step, and of a forward-only pass.
 *
 * Compute by size-dependent efficiency, element-wise traffic by bandwidth, a
 * launch floor per layer, tensor-parallel collectives on the critical path,
 * keys and values that context parallelism exchanges (train_pass.c: gathered
 * before attention, or round a ring behind it), the 1F1B pipeline bubble
 * (p-1)/m (Narayanan et al. 2021, section 2.2), and the gradient exchange as
 * far as it is not hidden by the backward pass.
 */
#ifndef MODELS_LAWS_TRAIN_H
#define MODELS_LAWS_TRAIN_H

#include "models/laws/memory.h"

struct gang;

struct step_time {
    double step_s;
    double compute_s;           /* of one GPU, bubble left out */
    double comm_exposed_s;      /* waiting for links, all kinds */
    double bubble_s;
    double launch_s;            /* launches that compute does not cover */
    double optimizer_s;
    double flops;               /* model work of the step, no recompute */
    double mfu, hfu;            /* of the peak rate; hfu counts recompute */
    double inter_bytes_per_node;    /* over NICs per step, one direction */
    double busy_fraction;       /* compute_s / step_s */
};

/* GPUs that hold the model once and work on the same sequences. */
uint32_t train_replica_gpus(const struct train_shape *shape);

/* The gang must hold a multiple of tp*pp GPUs; a global batch that is no
 * multiple of the replicas is rounded up to full micro batches. */
struct step_time train_step(const struct train_shape *shape,
                            const struct gang *gang,
                            double global_batch_sequences);

/* One pass without gradients over `sequences` of `tokens`, data parallel in
 * replicas of the smallest tp that fits the weights. */
struct step_time forward_step(const struct llm *llm, enum precision precision,
                              const struct gang *gang, double sequences,
                              double tokens);

#endif
