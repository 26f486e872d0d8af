/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_steps.c - a rollout in the engine of services, on a clock of its own.
 *
 * A rollout crosses no link that others share, so nothing outside can change
 * it and it can be played to its end at once.  Prompts come all at time 0; in
 * parts, those of the rounds before come with what they have made as prompt.
 */
#include "models/serving/rollout_steps.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/serving/service.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define ARENA_BLOCK_BYTES ((size_t)1 << 16)
/* Prompts are computed beside decoding, up to this number of tokens a step in all: what vLLM
 * takes by default where throughput counts (max_num_batched_tokens). */
#define CHUNK_TOKENS 8192u
#define SLOTS_MAX 1e6

struct player {
    const struct rollout_shape *shape;  /* of the caller */
    struct service *service;
    struct gang gang;           /* of one replica */
    struct gpu_type gpu;        /* of the gang: a copy, less the bytes that are reserved */
    struct rng rng;             /* of the lengths */
    double left;                /* responses of this round */
    double round;               /* in which they began, counted back */
};

/* A lognormal of the stated mean and variation, cut at the longest response. */
static double draw_length(struct player *p)
{
    assert(p != NULL);
    const struct rollout_shape *s = p->shape;
    double var = log1p(s->response_cv * s->response_cv);
    double length = exp(log(s->response_mean_tokens) - var / 2.0 +
                        sqrt(var) * rng_normal(&p->rng, 0.0, 1.0));

    return fmin(fmax(1.0, round(length)), s->response_max_tokens);
}

/* Responses to a prompt share its computing; each does its part, so that all
 * replicas do as much. */
static uint32_t count_known(const struct rollout_shape *s)
{
    return (uint32_t)(s->prompt_tokens -
                      ceil(s->prompt_tokens / fmax(1.0,
                                                   s->responses_per_prompt)));
}

/* Of responses that began some rounds ago, those that are not done, with
 * the part that is due now. */
static bool next_response(void *self, struct request *out)
{
    assert(self != NULL && out != NULL);
    struct player *p = self;
    const struct rollout_shape *s = p->shape;
    bool parts = s->part_tokens > 0.0;

    for (;;) {
        if (p->left < 1.0) {
            p->round++;
            p->left = s->responses;
            if (!parts || p->round * s->part_tokens >= s->response_max_tokens)
                return false;
        }
        p->left--;
        double before = p->round * s->part_tokens;
        double length = draw_length(p) - before;
        if (length < 1.0)
            continue;
        if (parts)
            length = fmin(length, s->part_tokens);
        *out = (struct request){
            .prompt_tokens = (uint32_t)(s->prompt_tokens + before),
            .output_tokens = (uint32_t)length,
            .known_tokens = p->round < 1.0 ? count_known(s) : 0,
        };
        return true;
    }
}

/* Replicas are ready at once: weights are in place. */
static void start_replica(void *self, uint32_t replica, enum serve_side side)
{
    struct player *p = self;

    (void)side;
    service_ready(p->service, replica, &p->gang, 0.0);
}

/* No more than there are responses, and parts of earlier ones. */
static uint32_t count_slots(const struct rollout_shape *shape)
{
    assert(shape->responses > 0.0);
    double most = shape->responses;

    if (shape->part_tokens > 0.0)
        most *= ceil(shape->response_max_tokens / shape->part_tokens);
    if (shape->concurrency_max > 0.0)
        most = fmin(most, shape->concurrency_max);
    return (uint32_t)fmin(most, SLOTS_MAX);
}

/* A service whose replicas are those of the rollout, all there from the
 * beginning; its scaling never looks. */
static struct service_spec spec_of(const struct rollout_shape *shape,
                                   const struct gang *gang)
{
    assert(shape->llm != NULL);
    assert(gang->gpus >= shape->tp);
    static const char form;     /* there must be one; nobody looks at it */
    uint32_t replicas = gang->gpus / shape->tp;

    if (replicas > shape->responses)
        replicas = (uint32_t)shape->responses;
    return (struct service_spec){
        .name = "rollout", .batch_max = count_slots(shape),
        .chunk_tokens = CHUNK_TOKENS,
        .side[SERVE_GPU] = {
            .form = (const struct job_form *)(const void *)&form,
            .law = {.kind = SERVE_GENERATE, .llm = shape->llm, .precision = shape->precision,
                    .tp = shape->tp, .ahead = shape->ahead},
            .min = replicas, .max = replicas},
        .scaling = {SERVE_RATE, 1e9, INT64_C(3600000000000), 0},
    };
}

double rollout_steps_s(const struct rollout_shape *shape,
                       const struct gang *gang, uint64_t seed)
{
    assert(shape != NULL && gang != NULL && gang->gpu != NULL);
    assert(shape->tp > 0 && gang->gpus >= shape->tp);
    struct player player = {.shape = shape, .gang = *gang, .gpu = *gang->gpu,
                            .left = shape->responses};
    struct service_spec spec = spec_of(shape, gang);
    struct service_ops ops = {.start = start_replica, .self = &player};
    struct arena *arena = arena_new(ARENA_BLOCK_BYTES);
    struct loop *loop =
        loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    struct service_parts parts = {arena, loop, &spec, &ops, next_response, &player, 1,
                                  0, NULL};

    player.gang.gpus = shape->tp;
    player.gang.gpu = &player.gpu;
    player.gpu.memory_bytes -= shape->reserved_bytes;
    rng_init(&player.rng, seed, "lengths", 0);
    player.service = service_new(&parts);
    service_begin(player.service);
    loop_run(loop);
    double s = service_close(player.service)->span_s;
    service_free(player.service);
    loop_free(loop);
    arena_free(arena);
    return s;
}
