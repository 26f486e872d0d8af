/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_hint.c - what would make a training role fit into a GPU's memory.
 *
 * Remedies are tried by the law of memory itself, so that what a hint names fits.
 */
#include "workloads/jobs/memory_hint.h"

#include <math.h>
#include <stdio.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "sim/base/err.h"
#include "workloads/jobs/demand.h"

/* Returns the fewest GPUs, by doubling, with which the shape fits.  0: none do,
 * up to `most`. */
static uint32_t find_more_gpus(const struct train_shape *shape,
                               double other_bytes, uint32_t gpus, uint32_t most,
                               double gpu_bytes)
{
    for (uint32_t n = 2 * gpus; n <= most && n <= 1u << 20; n *= 2)
        if (memory_train(shape, n).total + other_bytes <= gpu_bytes)
            return n;
    return 0;
}

/* Returns the smallest tensor parallelism, by doubling, with which the shape
 * fits on the same GPUs, and which divides them and the heads of the model.  0:
 * none up to 8, the GPUs of a usual node. */
static uint32_t find_more_tp(const struct train_shape *shape, double other_bytes,
                             uint32_t gpus, double gpu_bytes)
{
    struct train_shape next = *shape;

    for (next.tp *= 2; next.tp * next.pp <= gpus && next.tp <= 8;
         next.tp *= 2)
        if (next.llm->heads % next.tp == 0 && gpus % (next.tp * next.pp) == 0 &&
            memory_train(&next, gpus).total + other_bytes <= gpu_bytes)
            return next.tp;
    return 0;
}

/* Hints for a net: fewer samples at a time, or its tables divided over more
 * GPUs. */
static void hint_net(const struct world *world,
                     const struct train_shape *shape, uint32_t gpus,
                     const struct gpu_type *gpu)
{
    struct train_shape next = *shape;
    uint32_t n;

    while (next.micro_batch > 1.0 &&
           memory_train(&next, gpus).total > gpu->memory_bytes)
        next.micro_batch = floor(next.micro_batch / 2.0);
    n = find_more_gpus(shape, 0.0, gpus, demand_gpus_max(world, NULL),
                       gpu->memory_bytes);
    if (memory_train(&next, gpus).total <= gpu->memory_bytes)
        err_hint(world->err, "It would fit with micro_batch: %g.",
                 next.micro_batch);
    else if (n > 0)
        err_hint(world->err, "It would fit with %u GPUs.", n);
}

/* `divided` is the shape with all states divided over data-parallel GPUs (ZeRO
 * stage 3). A cluster with more GPUs is not named where the remedy already fits
 * without computing activations again. */
void memory_hint_train(const struct world *world,
                       const struct train_shape *shape, double other_bytes,
                       uint32_t gpus, const struct gpu_type *gpu)
{
    double room = gpu->memory_bytes - other_bytes;

    if (shape->net != NULL) {
        hint_net(world, shape, gpus, gpu);
        return;
    }
    struct memory_remedy remedy = {0};
    struct train_shape divided = *shape;
    char more[64] = "", tensor[32] = "";
    uint32_t n, tp;

    if (room > 0.0)
        remedy = memory_remedy(shape, gpus, room);
    if (divided.zero < 3)
        divided.zero = 3;
    /* Not where ZeRO alone does it on the GPUs there are. */
    n = remedy.text != NULL && remedy.shape.recompute == shape->recompute
            ? 0
            : find_more_gpus(&divided, other_bytes, gpus,
                             demand_gpus_max(world, NULL), gpu->memory_bytes);
    tp = find_more_tp(shape, other_bytes, gpus, gpu->memory_bytes);
    if (n > 0)
        snprintf(more, sizeof more, "%s%u GPUs under zero: 3",
                 remedy.text != NULL ? "; or with " : "", n);
    if (tp > 0)
        snprintf(tensor, sizeof tensor, "%stp: %u",
                 remedy.text != NULL || n > 0 ? "; or with " : "", tp);
    if (remedy.text == NULL && n == 0 && tp == 0)
        err_hint(world->err, "No ZeRO stage, recomputation, micro batch, "
                             "LoRA or QLoRA makes it fit; it takes a "
                             "smaller model or larger GPUs.");
    else
        err_hint(world->err, "It would fit with %s%s%s.",
                 remedy.text != NULL ? remedy.text : "", more, tensor);
}
