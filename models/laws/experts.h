/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experts.h - the routed experts of a mixture of experts, and which GPUs hold
 * them in a layout.
 *
 * Expert parallelism of degree ep divides the routed experts of a layer among
 * ep data parallel ranks; tokens are sent to their experts and back (Lepikhin
 * et al. 2020, arXiv 2006.16668, section 3.2).  Attention, shared experts and
 * tables stay replicated: their gradients are summed over all data parallel
 * ranks.  The gradient of an expert is summed over the ranks that hold it.
 *
 * assumption: tokens are spread evenly over experts.
 */
#ifndef MODELS_LAWS_EXPERTS_H
#define MODELS_LAWS_EXPERTS_H

#include <stdint.h>

struct llm;
struct train_shape;

struct experts {
    uint32_t routed;            /* experts per layer; 0: the model is dense */
    uint32_t active;            /* of those, used by one token */
    double layers;              /* layers with experts */
    double params;              /* in all routed experts of all layers */
    double params_active;       /* of those, used by one token */
};

/* Returns the counts of a model.  The size of an expert follows from all
 * parameters less the active ones: the difference is the experts that a token
 * does not use. */
struct experts experts_of(const struct llm *llm);

/* Returns the width that the matrices of one expert count as, in tp parts: h x ffn, of which
 * a dense model's, h x 4h, count as of width h (compute_size_efficiency()). */
double experts_width(const struct llm *llm, uint32_t tp);

/* Returns the time to copy the tokens of one pass to their experts and back, in s: each copy is
 * read and written in 16 bits, at `bps` bytes a second. */
double experts_copy_s(const struct llm *llm, double tokens, double bps);

struct experts_place {
    uint32_t ep;                /* parts of the set of experts; at least 1 */
    uint32_t tp;                /* parts of one expert */
    uint32_t replicas;          /* GPUs that hold the same part */
};

/* Returns how `gpus` GPUs divide the experts.  Tensor parallelism divides an
 * expert too, unless ep is so large that it spans tensor parallel groups. */
struct experts_place experts_place(const struct train_shape *shape,
                                   uint32_t gpus);

/* Returns the number of which a layout needs a multiple of GPUs: tp x pp x the
 * least common multiple of cp and ep, as ep must divide the data and context
 * parallel ranks. */
uint32_t experts_gang(const struct train_shape *shape);

#endif
