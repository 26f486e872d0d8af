/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * laws.c - what the laws cost a trial: the rate of a phase that is asked
 * for again, the step of a layout never seen, and a rollout's plan.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/loader.h"
#include "models/laws/phase.h"
#include "models/laws/phase_cache.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/bench/probe.h"

#define TURN 2000u
#define ROLLOUTS_PER_TURN 20u

struct world {
    struct arena *arena;
    struct phase_cache *cache;
    struct gang gang;
    struct phase_law train, rollout;
    double sum;                 /* so that nothing is left out */
};

static void *make(uint64_t size, bool quick)
{
    struct world *w = calloc(1, sizeof *w);
    struct err err = { 0 };

    (void)size;
    (void)quick;
    assert(w);
    w->arena = arena_new(1 << 20);
    const struct catalogue *catalogue = catalogue_load(w->arena, NULL, 0,
                                                       &err);
    assert(catalogue);
    const struct llm *llm = catalogue_llm(catalogue, "llama-3-8b");
    w->gang = (struct gang) {
        .gpu = catalogue_gpu(catalogue, "a100-80"), .gpus = 16, .nodes = 2,
        .cores = 96, .intra_bps = 2.4e11, .inter_bps = 1.8e11,
        .intra_latency_s = 3e-6, .inter_latency_s = 1e-5,
    };
    w->train = (struct phase_law) {
        .kind = LAW_TRAIN, .sequences = 64, .repeats = 10,
        .item = loader_item(LOADER_TEXT, 2048),
        .train = { .llm = llm, .precision = PRECISION_BF16, .zero = 1,
                   .tp = 2, .pp = 2, .vp = 1, .cp = 1, .micro_batch = 1,
                   .sequence_tokens = 2048 },
    };
    w->rollout = (struct phase_law) {
        .kind = LAW_ROLLOUT, .repeats = 1,
        .rollout = { .llm = llm, .precision = PRECISION_BF16, .tp = 1,
                     .responses = 512, .responses_per_prompt = 8,
                     .prompt_tokens = 300, .response_mean_tokens = 800,
                     .response_cv = 1, .response_max_tokens = 4096 },
    };
    w->cache = phase_cache_new(w->arena);
    return w;
}

static double again(void *self)
{
    struct world *w = self;
    double from = bench_cpu_ns();

    for (uint32_t k = 0; k < TURN; k++) {
        const struct phase_law *law = k % 2 ? &w->train : &w->rollout;
        w->sum += phase_cache_plan(w->cache, law, &w->gang,
                                   (double)k / TURN).rate_max;
    }
    return (bench_cpu_ns() - from) / TURN;
}

static double step(void *self)
{
    struct world *w = self;
    double from = bench_cpu_ns();

    for (uint32_t k = 0; k < TURN; k++) {
        w->train.train.sequence_tokens = 1024 + k;
        w->sum += phase_plan(&w->train, &w->gang, 0.5).rate_max;
    }
    return (bench_cpu_ns() - from) / TURN;
}

static double rollout(void *self)
{
    struct world *w = self;
    double from = bench_cpu_ns();

    for (uint32_t k = 0; k < ROLLOUTS_PER_TURN; k++) {
        w->rollout.rollout.response_mean_tokens = 500 + k;
        w->sum += phase_plan(&w->rollout, &w->gang, 0.5).rate_max;
    }
    return (bench_cpu_ns() - from) / 1e3 / ROLLOUTS_PER_TURN;
}

static void drop(void *self)
{
    struct world *w = self;

    assert(isfinite(w->sum));
    arena_free(w->arena);
    free(w);
}

const struct bench_probe_type bench_law_again = { make, again, drop };
const struct bench_probe_type bench_law_step = { make, step, drop };
const struct bench_probe_type bench_law_rollout = { make, rollout, drop };
