/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_pass.h - the time of the passes of one micro batch over the layers of a
 * pipeline stage.  For train.c only.
 */
#ifndef MODELS_LAWS_TRAIN_PASS_H
#define MODELS_LAWS_TRAIN_PASS_H

#include "models/laws/memory.h"

struct gang;
struct gpu_type;

/* How well a stack uses a GPU. */
struct train_software {
    double element_bytes;       /* of one pass, per hidden size and token */
    double floor_s, floor_tp_s; /* least time to launch one layer's pass */
    double overlap;             /* share of the passes that hides gradients */
    double tp_overlap;          /* hidden share of tensor parallel exchanges */
};
struct train_software train_software(const struct train_shape *shape);

/* How often a micro batch passes each part, in units of a forward pass. */
struct train_passes {
    double matrix;
    double attention;
    double layer;       /* launches and element-wise work */
    double exchanges;   /* collectives of activations per layer */
};
struct train_passes train_passes(const struct train_shape *shape);

/* Returns the seconds of compute of the layers of one stage.  `tokens`: of one
 * GPU. */
double train_layers_s(const struct train_shape *shape,
                      const struct gang *gang, const struct train_passes *p,
                      double tokens);
/* Returns the seconds of the output layer and the loss, forward and backward,
 * on the stage that has them. */
double train_logits_s(const struct train_shape *shape,
                      const struct gpu_type *gpu,
                      const struct train_passes *p, double tokens);
/* Returns the seconds in which the GPUs of a replica exchange activations,
 * without those sent from stage to stage.  `tokens`: of one GPU. */
double train_exchanges_s(const struct train_shape *shape,
                         const struct gang *gang,
                         const struct train_passes *p, double tokens);
/* Returns the bytes of these exchanges over the NICs of a node. */
double train_exchanges_bytes(const struct train_shape *shape, const struct gang *gang,
                             const struct train_passes *p, double tokens);
/* Returns the seconds that context parallelism adds to one micro batch on one
 * stage: the part of the exchange of keys and values that attention does not
 * hide.  `tokens`: of one GPU. */
double train_context_s(const struct train_shape *shape,
                       const struct gang *gang, const struct train_passes *p,
                       double tokens);
/* Returns the bytes of these exchanges over the NICs of a node.  `tokens`: of
 * the micro batch. */
double train_context_bytes(const struct train_shape *shape, const struct gang *gang,
                           const struct train_passes *p, double tokens);
/* Returns a smooth maximum of work_s and floor_s: work that is launched takes
 * at least floor_s. */
double train_launched_s(double work_s, double floor_s);

#endif
