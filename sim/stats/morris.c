/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * morris.c - trajectories of elementary effects.
 *
 * Levels 0, 1/3, 2/3, 1 and a step of 2/3, Morris' own choice of an even number of
 * levels p with the step p / (2 (p - 1)), by which all levels are as likely.
 */
#include "sim/stats/morris.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define LEVELS_BELOW 2u         /* from which a step up stays in [0, 1] */
#define LEVEL (1.0 / 3.0)
#define STEP (2.0 / 3.0)

/* Fills order[] with 0 to count - 1 in random order (Fisher and Yates). */
static void shuffle_inputs(struct rng *rng, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i), kept = order[i - 1];

        assert(j < i);
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* One trajectory, from its first point on. */
static void draw_one(struct rng *rng, size_t inputs, size_t *order, double *u,
                     size_t *moved)
{
    shuffle_inputs(rng, order, inputs);
    moved[0] = SIZE_MAX;
    for (size_t i = 0; i < inputs; i++)
        u[i] = LEVEL * (double)rng_below(rng, LEVELS_BELOW) +
               STEP * (double)rng_below(rng, 2);
    for (size_t s = 1; s <= inputs; s++) {
        size_t input = order[s - 1];
        double *here = u + s * inputs;
        const double *before = u + (s - 1) * inputs;

        for (size_t i = 0; i < inputs; i++)
            here[i] = before[i];
        here[input] += here[input] < 0.5 ? STEP : -STEP;
        assert(here[input] > -0.01 && here[input] < 1.01);
        moved[s] = input;
    }
}

struct morris morris_draw(struct arena *arena, struct rng *rng, size_t inputs,
                          size_t trajectories)
{
    struct morris design = { .inputs = inputs, .trajectories = trajectories,
                             .points = trajectories * (inputs + 1) };
    size_t *order = arena_alloc(arena, inputs, sizeof *order);

    assert(inputs > 0 && trajectories > 0);
    design.u = arena_alloc(arena, design.points * inputs, sizeof *design.u);
    design.moved = arena_alloc(arena, design.points, sizeof *design.moved);
    for (size_t t = 0; t < trajectories; t++)
        draw_one(rng, inputs, order, design.u + t * (inputs + 1) * inputs,
                 design.moved + t * (inputs + 1));
    return design;
}

/* The effect of the step that led to a point. */
static double effect_at(const struct morris *design, const double *y, size_t point)
{
    const double *u = design->u + point * design->inputs;
    const double *before = design->u + (point - 1) * design->inputs;
    size_t input = design->moved[point];

    assert(point > 0 && point < design->points && input < design->inputs);
    return (y[point] - y[point - 1]) / (u[input] - before[input]);
}

/* Two passes for each input: the mean first, then the spread about it. */
void morris_effects(const struct morris *design, const double *y,
                    struct morris_effect *effect)
{
    assert(design->inputs > 0 && design->points > design->inputs);
    for (size_t i = 0; i < design->inputs; i++) {
        struct morris_effect e = { .spread = NAN };
        double squares = 0;

        for (size_t p = 0; p < design->points; p++) {
            double d = design->moved[p] == i ? effect_at(design, y, p) : NAN;

            if (!isfinite(d))
                continue;
            e.count++;
            e.mean += d;
            e.mean_absolute += fabs(d);
        }
        e.mean = e.count > 0 ? e.mean / (double)e.count : NAN;
        e.mean_absolute = e.count > 0 ? e.mean_absolute / (double)e.count : NAN;
        for (size_t p = 0; p < design->points; p++) {
            double d = design->moved[p] == i ? effect_at(design, y, p) : NAN;

            if (isfinite(d))
                squares += (d - e.mean) * (d - e.mean);
        }
        if (e.count > 1)
            e.spread = sqrt(squares / (double)(e.count - 1));
        effect[i] = e;
    }
}
