/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.c - what a request costs: a small model in batches of passes,
 * and a language model that generates.
 *
 * Replicas are ready at once and stay; requests come as a Poisson process at
 * half of what the replicas could do, every one simulated.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/serving/serve.h"
#include "models/serving/service.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "tests/bench/probe.h"

#define PASSES_PER_TURN 2000000u
#define ANSWERS_PER_TURN 20000u

struct world {
    struct arena *arena;
    struct loop *loop;
    struct service *service;
    struct service_spec spec;
    struct service_ops ops;
    struct gang gang;
    struct rng rng;
    double gap_s, now_s;
    uint64_t left;              /* requests of this turn */
    bool generates;
};

static bool next(void *self, struct request *out)
{
    struct world *w = self;

    w->now_s += rng_exponential(&w->rng, w->gap_s);
    *out = (struct request) { .arrive_ns = (int64_t)(w->now_s * 1e9),
                              .prompt_tokens = 512 };
    if (w->generates)
        out->output_tokens = 1 + (uint32_t)rng_exponential(&w->rng, 199);
    if (w->left-- <= 1)
        loop_stop(w->loop);
    return true;
}

static void start(void *self, uint32_t replica, enum serve_side side)
{
    struct world *w = self;

    (void)side;
    service_ready(w->service, replica, &w->gang, 0);
}

static const struct job_form *any_form(void)
{
    static const char some = 0;

    return (const struct job_form *)(const void *)&some;    /* not looked at */
}

static struct world *make(const char *gpu, const char *llm, bool generates,
                          uint32_t replicas)
{
    struct world *w = calloc(1, sizeof *w);
    struct err err = { 0 };

    assert(w);
    w->arena = arena_new(1 << 20);
    const struct catalogue *catalogue = catalogue_load(w->arena, NULL, 0,
                                                       &err);
    assert(catalogue);
    w->generates = generates;
    w->gang = (struct gang) { .gpu = catalogue_gpu(catalogue, gpu),
                              .gpus = 1, .nodes = 1, .intra_bps = 1e10 };
    w->spec = (struct service_spec) {
        .name = "bench", .route = SERVE_SHORTEST_QUEUE,
        .batch_max = generates ? 64 : 32, .chunk_tokens = 2048, .batch_delay_ns = 2000000,
        .scaling = { SERVE_RATE, 1e9, INT64_C(60) * CLOCK_NS_PER_S, 0 },
    };
    w->spec.side[SERVE_GPU] = (struct serve_side_spec) {
        .form = any_form(), .min = replicas, .max = replicas,
        .law = { .kind = generates ? SERVE_GENERATE : SERVE_ENCODE,
                 .llm = catalogue_llm(catalogue, llm),
                 .precision = generates ? PRECISION_BF16 : PRECISION_INT8, .tp = 1,
                 .prompt_tokens = 128 },
    };
    /* Half of what batches of the largest size would do. */
    w->gap_s = generates ? 0.25 / replicas
                         : 2 * serve_batch_s(&w->spec.side[SERVE_GPU].law,
                                             &w->gang, 32) / 32 / replicas;
    w->loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    w->ops = (struct service_ops) { .start = start, .self = w };
    rng_init(&w->rng, 1, "bench", 0);
    struct service_parts parts = { w->arena, w->loop, &w->spec, &w->ops, next,
                                   w, 1, 0, NULL };
    w->left = UINT64_MAX;
    w->service = service_new(&parts);
    service_begin(w->service);
    return w;
}

static void *make_passes(uint64_t size, bool quick)
{
    (void)quick;
    return make("t4", "bert-base", false, (uint32_t)size);
}

static void *make_answers(uint64_t size, bool quick)
{
    (void)quick;
    return make("l40s", "llama-3-8b", true, (uint32_t)size);
}

static double stretch(void *self)
{
    struct world *w = self;
    uint64_t requests = w->generates ? ANSWERS_PER_TURN : PASSES_PER_TURN;
    double from = bench_cpu_ns();

    w->left = requests;
    loop_run(w->loop);
    return (bench_cpu_ns() - from) / (double)requests;
}

static void drop(void *self)
{
    struct world *w = self;

    service_free(w->service);
    loop_free(w->loop);
    arena_free(w->arena);
    free(w);
}

const struct bench_probe_type bench_serve_pass = {make_passes, stretch, drop};
const struct bench_probe_type bench_serve_answer = {make_answers, stretch,
                                                    drop};
