/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_change.c - what would make a layout fit that does not: one change of
 * it at a time, the mildest of each kind, then the mildest sum of several.
 *
 * Kinds of changes are tried from harmless to costly: sharing of states (ZeRO,
 * recomputing, micro batch), other parallelism on the same GPUs, more GPUs,
 * shorter sequences, then another method of training.  Each is checked with the
 * memory law alone; only what fits is timed.
 */
#include "models/advise/advise.h"

#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/experts.h"
#include "models/laws/phase.h"
#include "models/laws/train.h"
#include "models/types/gang.h"

/* Shorter sequences are no remedy below this. assumption */
#define SEQUENCE_MIN 512.0

/* The search under way; `change` is the caller's, with room for
 * ADVISE_CHANGES_MAX. */
struct changing {
    const struct advise_task *task;
    const struct gang *gang;
    uint32_t gpus_per_node;
    struct advise_change *change;
    size_t count;
};

/* Are two layouts one in all that a change may touch? */
static bool same_shape(const struct train_shape *a,
                       const struct train_shape *b)
{
    assert(a != NULL && b != NULL);
    return a->method == b->method && a->zero == b->zero &&
           a->recompute == b->recompute && a->tp == b->tp && a->pp == b->pp &&
           a->ep == b->ep && a->cp == b->cp && a->vp == b->vp &&
           a->sequence_parallel == b->sequence_parallel &&
           a->micro_batch == b->micro_batch &&
           a->sequence_tokens == b->sequence_tokens;
}

/* Two remedies may lead to the same shape: it is offered once. */
static bool is_offered(const struct changing *c,
                       const struct train_shape *shape, uint32_t gpus)
{
    assert(c->count <= ADVISE_CHANGES_MAX);
    assert(gpus > 0);
    for (size_t i = 0; i < c->count; i++)
        if (c->change[i].gpus == gpus &&
            same_shape(&c->change[i].shape, shape))
            return true;
    return false;
}

/* Adds the change if it fits. */
static bool offer_change(struct changing *c, const struct train_shape *shape,
                         uint32_t gpus)
{
    struct gang gang = *c->gang;
    double bytes = advise_need(c->task, shape, gpus).total;
    assert(gpus > 0);
    if (bytes > gang.gpu->memory_bytes || c->count >= ADVISE_CHANGES_MAX)
        return false;
    if (is_offered(c, shape, gpus))
        return true;
    gang.cores = gang.cores / gang.gpus * gpus;
    gang.gpus = gpus;
    gang.nodes = (gpus - 1) / c->gpus_per_node + 1;
    c->change[c->count++] = (struct advise_change){
        .shape = *shape, .gpus = gpus, .bytes = bytes,
        .run_s = advise_train_s(c->task, shape, &gang),
    };
    return true;
}

/* What shares or drops state: no other GPU, no other result.  With a pipeline
 * ZeRO stops at stage 1. */
static void offer_sharing(struct changing *c, struct train_shape shape)
{
    assert(shape.llm != NULL);
    uint32_t split = train_replica_gpus(&shape);
    for (int zero = shape.zero + 1;
         zero <= (shape.pp > 1 ? 1 : 3) && c->gang->gpus > split; zero++) {
        struct train_shape next = shape;
        next.zero = zero;
        if (offer_change(c, &next, c->gang->gpus))
            break;
    }
    for (int r = (int)shape.recompute + 1; r <= RECOMPUTE_FULL; r++) {
        struct train_shape next = shape;
        next.recompute = (enum recompute)r;
        if (offer_change(c, &next, c->gang->gpus))
            break;
    }
    if (shape.micro_batch > 1.0) {
        double most = advise_micro_batch_max(c->task, &shape, c->gang->gpus,
                                             c->gang->gpu->memory_bytes);
        struct train_shape next = shape;
        next.micro_batch = most;
        if (most >= 1.0)
            offer_change(c, &next, c->gang->gpus);
    }
}

/* The least degree of each kind of parallelism that fits, then the least
 * number of GPUs, by doubling. */
static void offer_parallel(struct changing *c, struct train_shape shape,
                           uint32_t gpus_max)
{
    assert(shape.llm != NULL);
    assert(gpus_max > 0);
    const struct llm *llm = shape.llm;
    struct train_shape next = shape;
    uint32_t gpus = c->gang->gpus;
    for (next.tp = 2 * shape.tp; next.tp <= c->gpus_per_node; next.tp *= 2)
        if (llm->heads % next.tp == 0 && gpus % experts_gang(&next) == 0 &&
            offer_change(c, &next, gpus))
            break;
    next = shape;
    for (next.pp = 2 * shape.pp; next.pp <= ADVISE_PP_MAX; next.pp *= 2)
        if (llm->layers % next.pp == 0 && gpus % experts_gang(&next) == 0 &&
            offer_change(c, &next, gpus))
            break;
    next = shape;
    for (next.cp = shape.cp > 1 ? 2 * shape.cp : 2;
         c->task->longest_tokens / next.cp >= ADVISE_CP_TOKENS_MIN;
         next.cp *= 2)
        if (gpus % train_replica_gpus(&next) == 0 && offer_change(c, &next, gpus))
            break;
    next = shape;
    next.sequence_parallel = shape.tp > 1;
    if (next.sequence_parallel && !shape.sequence_parallel)
        offer_change(c, &next, gpus);
    next = shape;
    next.zero = shape.pp > 1 ? 1 : 3;
    for (uint32_t n = 2 * gpus; n <= gpus_max; n *= 2)
        if (offer_change(c, &next, n))
            break;
}

/* Experts over more GPUs, as far as both they and the ranks divide. */
static void offer_experts(struct changing *c, struct train_shape shape)
{
    assert(shape.llm != NULL);
    uint32_t routed = experts_of(shape.llm).routed;
    uint32_t ranks = c->gang->gpus / (shape.tp * shape.pp);
    struct train_shape next = shape;
    for (next.ep = shape.ep > 1 ? 2 * shape.ep : 2;
         routed > 0 && next.ep <= ranks; next.ep *= 2)
        if (routed % next.ep == 0 && ranks % next.ep == 0 &&
            offer_change(c, &next, c->gang->gpus))
            break;
}

/* What changes the training itself: shorter sequences, or a method that trains
 * fewer weights (LoRA, QLoRA). */
static void offer_less(struct changing *c, struct train_shape shape)
{
    assert(shape.llm != NULL);
    struct train_shape next = shape;
    for (next.sequence_tokens /= 2.0; next.sequence_tokens >= SEQUENCE_MIN;
         next.sequence_tokens /= 2.0)
        if (offer_change(c, &next, c->gang->gpus))
            break;
    for (int m = (int)shape.method + 1; m <= TRAIN_QLORA; m++) {
        next = shape;
        next.method = (enum train_method)m;
        if (offer_change(c, &next, c->gang->gpus))
            break;
    }
}

/* All of it together, method by method: the mildest sum that fits. */
static void offer_sums(struct changing *c, struct train_shape shape)
{
    assert(shape.llm != NULL);
    shape.micro_batch = 1.0;
    if (c->gang->gpus > train_replica_gpus(&shape))
        shape.zero = shape.pp > 1 ? 1 : 3;
    for (int m = (int)shape.method; m <= TRAIN_QLORA; m++)
        for (int r = (int)shape.recompute; r <= RECOMPUTE_FULL; r++) {
            struct train_shape next = shape;
            next.method = (enum train_method)m;
            next.recompute = (enum recompute)r;
            if (offer_change(c, &next, c->gang->gpus))
                return;
        }
}

/* Fewer samples at a time, or more GPUs: tables are divided over them. */
static void offer_net(struct changing *c, struct train_shape shape,
                      uint32_t gpus_max)
{
    assert(shape.net != NULL);
    assert(gpus_max > 0);
    struct train_shape next = shape;
    next.micro_batch = advise_micro_batch_max(c->task, &shape, c->gang->gpus,
                                              c->gang->gpu->memory_bytes);
    if (next.micro_batch >= 1.0)
        offer_change(c, &next, c->gang->gpus);
    for (uint32_t n = 2 * c->gang->gpus; n <= gpus_max; n *= 2)
        if (offer_change(c, &shape, n))
            break;
}

/* The mildest kinds come first, which change no result and need no other GPUs.  Nets
 * have changes of their own. */
size_t advise_changes(const struct advise_task *task, const struct gang *gang,
                      uint32_t gpus_per_node, uint32_t gpus_max,
                      struct advise_change *change)
{
    assert(task != NULL && gang != NULL && gang->gpu != NULL);
    assert(gpus_per_node > 0 && change != NULL);
    struct changing c = { task, gang, gpus_per_node, change, 0 };
    if (task->law->train.net != NULL) {
        offer_net(&c, task->law->train, gpus_max);
        return c.count;
    }
    offer_sharing(&c, task->law->train);
    offer_parallel(&c, task->law->train, gpus_max);
    offer_experts(&c, task->law->train);
    offer_less(&c, task->law->train);
    offer_sums(&c, task->law->train);
    return c.count;
}
