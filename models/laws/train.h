/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.h - the time of one optimizer step, and of a forward-only pass.
 *
 * A step is the sum of:
 *  - compute, at an efficiency that depends on the size of the matrices, and
 *    element-wise traffic at the bandwidth of the memory, with a floor for
 *    launching a layer;
 *  - collectives of tensor parallelism that compute does not hide;
 *  - keys and values that context parallelism exchanges (train_pass.c: gathered
 *    before attention, or in a ring while attention computes);
 *  - the 1F1B pipeline bubble (p-1)/m (Narayanan et al. 2021, section 2.2);
 *  - the part of the gradient exchange that the backward pass does not hide;
 *  - the optimizer.
 */
#ifndef MODELS_LAWS_TRAIN_H
#define MODELS_LAWS_TRAIN_H

#include "models/laws/memory.h"

struct gang;

struct step_time {
    double step_s;              /* of one optimizer step */
    double compute_s;           /* of one GPU, without the bubble */
    double comm_exposed_s;      /* waiting for collectives of all kinds */
    double bubble_s;            /* of a pipeline: a GPU waits for other stages */
    double launch_s;            /* launches that compute does not cover */
    double optimizer_s;         /* update of the weights; on the host, what backward
                                   passes do not hide of it */
    double flops;               /* operations of the model, no recompute */
    double mfu, hfu;            /* share of the peak; hfu counts recompute */
    double inter_bytes_per_node;    /* per step, over NICs, one direction */
    double busy_fraction;       /* compute_s / step_s */
};

/* Returns tp x pp x cp: the GPUs that hold the model once and work on the same
 * sequences. */
uint32_t train_replica_gpus(const struct train_shape *shape);

/* Returns the time of one optimizer step.  The number of GPUs of the gang must
 * be a multiple of tp*pp.  A global batch that is not a multiple of the
 * replicas is rounded up to full micro batches. */
struct step_time train_step(const struct train_shape *shape,
                            const struct gang *gang,
                            double global_batch_sequences);

/* A pass without gradients packs sequences up to this many tokens (verl's
 * default log-probability limit per GPU). */
#define FORWARD_TOKENS 16384.0

/* Returns the time of one pass without gradients over `sequences`, `tokens`
 * long each.  The gang is divided into replicas of the smallest tp whose memory
 * holds the weights. */
struct step_time forward_step(const struct llm *llm, enum precision precision,
                              const struct gang *gang, double sequences,
                              double tokens);

/* Returns the time of the same where the model is divided as for training, in tensor parallel
 * parts and pipeline stages, `micro_batch` sequences at a time: reference policies and critics on
 * the GPUs of a trainer (the bubble of a pipeline of forward passes: Huang et al. 2019, GPipe,
 * arXiv 1811.06965, section 2.3).  ZeRO-3's gathers are not in it. */
struct step_time forward_divided_step(const struct train_shape *shape, const struct gang *gang,
                                      double sequences);

#endif
