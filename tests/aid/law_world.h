/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_world.h - a model, a gang and a shape of training by lot, with every rate set: for
 * oracles of the laws.  Links have names that no table of measurements has.
 */
#ifndef TESTS_LAW_WORLD_H
#define TESTS_LAW_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "models/types/gang.h"
#include "sim/base/rng.h"

struct law_world {
    struct llm llm;
    struct gpu_type gpu;
    struct cpu_type cpu;
    struct gang gang;
    struct train_shape shape;
    double batch;               /* sequences of a step */
    /* Of routed experts, as the model was made of them. */
    double expert_layers, expert_params;    /* params: of all of them */
    uint32_t routed, routed_active;         /* 0: dense */
};

/* Fills *world; its parts point to each other, so it must stay where it is. */
void law_world_draw(struct rng *rng, struct law_world *world);

/* Returns one of n values, each as likely. */
uint32_t law_world_one(struct rng *rng, const uint32_t *values, uint32_t n);
#define LAW_ONE(rng, ...)                                                                     \
    law_world_one(rng, (const uint32_t[]){ __VA_ARGS__ },                                     \
                  (uint32_t)(sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)))

/* Return the tokens to which a token with that context attends, and those of all tokens of a
 * sequence, on average. */
double law_attended(const struct llm *llm, double context);
double law_causal(const struct llm *llm, double tokens);

static inline double law_most(double a, double b) { return a > b ? a : b; }
static inline double law_least(double a, double b) { return a < b ? a : b; }

/* What is found is expected, but for rounding: 1e-9 of it. */
static inline void law_same(const char *what, uint32_t at, double found, double expected)
{
    if (fabs(found - expected) > 1e-9 * fabs(expected))
        fail_msg("world %u: %s: %.12g, expected %.12g", at, what, found, expected);
}

#endif
