/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * morris.h - elementary effects: which of many inputs move an output at all.
 *
 * Morris (Technometrics 33, 1991, 161): trajectories through a grid of levels, in
 * which each step changes one input.  Campolongo, Cariboni and Saltelli (Environ.
 * Modell. Softw. 22, 2007, 1509): ranked by the mean of absolute effects.  An
 * effect is the change of the output over the step, both over the whole range of
 * the input, which is [0, 1] here.
 */
#ifndef SIM_STATS_MORRIS_H
#define SIM_STATS_MORRIS_H

#include <stddef.h>

struct arena;
struct rng;

struct morris {
    size_t inputs, trajectories, points;    /* points: trajectories x (inputs + 1) */
    double *u;                  /* by point and input */
    size_t *moved;              /* by point: the input that its step changed;
                                   SIZE_MAX at the start of a trajectory */
};

struct morris_effect {
    double mean, mean_absolute, spread;     /* spread: standard deviation, NAN of one */
    size_t count;
};

/* Draws trajectories; memory comes from the arena. */
struct morris morris_draw(struct arena *arena, struct rng *rng, size_t inputs,
                          size_t trajectories);
/* Fills effect[inputs] from the outputs y[points].  A step with an output that is
 * not finite has no effect and is not counted. */
void morris_effects(const struct morris *design, const double *y,
                    struct morris_effect *effect);

#endif
