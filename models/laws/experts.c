/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experts.c - counts of experts, from a model's parameters.
 *
 * Catalogues state parameters in all and per token.  Their difference belongs
 * to the experts that a token does not use, so the parameters of all routed
 * experts follow from it, and with them the number of layers that have experts.
 */
#include "models/laws/experts.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"

/* What is known of a model of experts is total and active parameters.  Their
 * difference is the experts that a token leaves out, from which follow all
 * experts' parameters and how many layers have experts. */
struct experts experts_of(const struct llm *llm)
{
    assert(llm && llm->experts >= llm->experts_shared);
    struct experts e = { 0 };
    double one = (double)llm->ffn_matrices * llm->hidden * llm->ffn;

    if (llm->experts == 0 || llm->experts_active <= llm->experts_shared) {
        return e;
    }
    e.routed = llm->experts - llm->experts_shared;
    e.active = llm->experts_active - llm->experts_shared;
    assert(e.active <= e.routed && one > 0.0);
    e.params = llm->layers * one * e.routed;
    if (e.routed > e.active) {
        e.params = (llm->params - llm->params_active) * e.routed /
                   (e.routed - e.active);
    }
    e.params = fmin(e.params, llm->params);
    e.layers = fmin(e.params / (one * e.routed), llm->layers);
    e.params_active = e.params * e.active / e.routed;
    return e;
}

double experts_width(const struct llm *llm, uint32_t tp)
{
    assert(llm != NULL && llm->hidden > 0 && llm->ffn > 0);
    assert(tp > 0);
    return sqrt((double)llm->hidden * llm->ffn / 4.0 / tp);
}

double experts_copy_s(const struct llm *llm, double tokens, double bps)
{
    assert(llm != NULL && tokens >= 0.0 && bps > 0.0);
    struct experts experts = experts_of(llm);

    return 8.0 * tokens * experts.active * llm->hidden * experts.layers / bps;
}

/* Expert parallelism takes its ranks from the data parallel ones; tensor
 * parallelism within experts only where both divide the stage. */
struct experts_place experts_place(const struct train_shape *shape,
                                   uint32_t gpus)
{
    assert(shape && shape->tp > 0 && shape->pp > 0 && gpus > 0);
    uint32_t ep = shape->ep > 1 ? shape->ep : 1;
    uint32_t stage = gpus / shape->pp;
    uint32_t tp = stage / shape->tp % ep == 0 ? shape->tp : 1;
    uint32_t held = stage / (ep * tp);

    return (struct experts_place){ ep, tp, held > 0 ? held : 1 };
}

/* Euclid's algorithm. */
static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    assert(a > 0 || b > 0);
    while (b > 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least common multiple of cp and ep, times the GPUs of one copy. */
uint32_t experts_gang(const struct train_shape *shape)
{
    assert(shape && shape->tp > 0 && shape->pp > 0);
    uint32_t cp = shape->cp > 1 ? shape->cp : 1;
    uint32_t ep = shape->ep > 1 ? shape->ep : 1;

    return shape->tp * shape->pp * (cp / common_divisor(cp, ep) * ep);
}
