/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experts.h - the routed experts of a mixture, and where a layout holds them.
 *
 * Expert parallelism of degree ep gives every GPU of a group of ep data
 * parallel ranks 1/ep of the routed experts of its layers; tokens travel to
 * them and back (Lepikhin et al. 2020, arXiv 2006.16668, section 3.2).
 * Attention, shared experts and tables stay replicated, so that their
 * gradients are summed over all data parallel ranks, and an expert's over
 * those that hold the same ones.
 *
 * Tokens are taken to spread evenly over experts.
 */
#ifndef MODELS_LAWS_EXPERTS_H
#define MODELS_LAWS_EXPERTS_H

#include <stdint.h>

struct llm;
struct train_shape;

struct experts {
    uint32_t routed;            /* of a layer; 0: the model is dense */
    uint32_t active;            /* of those, per token */
    double layers;              /* layers that have them */
    double params;              /* of all routed experts of all layers */
    double params_active;       /* of those that work on one token */
};

/* What an expert does not share with the rest, found from all and active
 * parameters: their difference is the experts that a token does not use. */
struct experts experts_of(const struct llm *llm);

struct experts_place {
    uint32_t ep;                /* parts of the set of experts; at least 1 */
    uint32_t tp;                /* parts of one expert */
    uint32_t replicas;          /* GPUs that hold the same part */
};

/* Experts are divided by tensor parallelism too, unless ep needs those GPUs
 * itself (it then spans tensor parallel groups). */
struct experts_place experts_place(const struct train_shape *shape,
                                   uint32_t gpus);

/* GPUs come in multiples of this: tp x pp x the least number that both cp and
 * ep divide, as ep must divide the data and context parallel ranks. */
uint32_t experts_gang(const struct train_shape *shape);

#endif
