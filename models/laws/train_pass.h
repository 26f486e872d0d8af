/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_pass.h - what the passes of one micro batch over the layers of a
 * pipeline stage take: between train_pass.c and train.c.
 */
#ifndef MODELS_LAWS_TRAIN_PASS_H
#define MODELS_LAWS_TRAIN_PASS_H

#include "models/laws/memory.h"

struct gang;
struct gpu_type;

/* What software makes of a GPU. */
struct train_software {
    double element_bytes;       /* per hidden size and token, of one pass */
    double floor_s, floor_tp_s; /* of launching one layer's pass */
    double overlap;             /* share of passes that hides gradients */
    double tp_overlap;          /* of tensor parallel exchanges, hidden */
};
struct train_software train_software(const struct train_shape *shape);

/* How often a micro batch goes through, in units of a forward pass. */
struct train_passes {
    double matrix;
    double attention;
    double layer;       /* launches and element-wise work */
    double exchanges;   /* collectives of activations per layer */
};
struct train_passes train_passes(const struct train_shape *shape);

/* Seconds of the layers of one stage, of all that is computed there; `tokens`
 * are those of one GPU. */
double train_layers_s(const struct train_shape *shape,
                      const struct gang *gang, const struct train_passes *p,
                      double tokens);
/* Output layer and loss, forward and back, where one stage has them. */
double train_logits_s(const struct train_shape *shape,
                      const struct gpu_type *gpu,
                      const struct train_passes *p, double tokens);
/* Exchanges of activations among the GPUs of a replica, but over the edges of
 * stages. */
double train_exchanges_s(const struct train_shape *shape,
                         const struct gang *gang,
                         const struct train_passes *p, double tokens);
/* The all-to-alls of one micro batch over the NICs of a node. */
double train_experts_bytes(const struct train_shape *shape,
                           const struct gang *gang, double tokens);
/* What context parallelism adds to one micro batch on one stage: exchanges of
 * keys and values as far as attention does not hide them; `tokens` are those
 * of one GPU. */
double train_context_s(const struct train_shape *shape,
                       const struct gang *gang, const struct train_passes *p,
                       double tokens);
/* The same exchanges over the NICs of a node; `tokens` are those of the micro
 * batch. */
double train_context_bytes(const struct train_shape *shape,
                           const struct gang *gang, double tokens);
/* What is launched takes at least floor_s: the larger of the two, softly. */
double train_launched_s(double work_s, double floor_s);

#endif
