/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution.h - random values: draws, bounds and means.  For sources of jobs and
 * requests, and for checks of what they can draw; distribution_read.h has how a workload
 * file writes them.  Values are in base units: times in seconds, memory in bytes.
 */
#ifndef WORKLOADS_RANDOM_DISTRIBUTION_H
#define WORKLOADS_RANDOM_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng;

/* Kinds of distributions, in the order of their keys. */
enum distribution_kind {
    DISTRIBUTION_CONSTANT, DISTRIBUTION_UNIFORM, DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_LOGNORMAL, DISTRIBUTION_WEIBULL, DISTRIBUTION_GAMMA,
    DISTRIBUTION_PARETO, DISTRIBUTION_HYPEREXPONENTIAL, DISTRIBUTION_CHOICE,
    DISTRIBUTION_EMPIRICAL,
    DISTRIBUTION_KIND_COUNT
};

/* A distribution, as its readers fill it.  Arrays are in the arena of the
 * reader. */
struct distribution {
    enum distribution_kind kind;    /* which of the members count */
    double a, b;                /* parameters, see distribution.c */
    double min, max;            /* clamps; -INFINITY, INFINITY: none */
    const double *sample;       /* empirical, choice; means of a
                                   hyperexponential */
    const double *weight;       /* of each sample, > 0, sum 1;
                                   NULL: empirical */
    size_t sample_count;
};

/* Returns a draw in base units, clamped to min and max. */
double distribution_draw(const struct distribution *distribution,
                         struct rng *rng);
/* Returns the least value that a draw can have, for range checks. */
double distribution_least(const struct distribution *distribution);
/* Returns the largest value that a draw can have, or INFINITY. */
double distribution_most(const struct distribution *distribution);
/* True: every draw is a number of GPUs: whole, or below 1 in thousandths. */
bool distribution_gpus(const struct distribution *distribution);
/* Returns the mean before clamping; INFINITY for a Pareto of shape <= 1. */
double distribution_mean(const struct distribution *distribution);
/* Returns the mean of what is drawn, min and max counted; INFINITY as above, without max. */
double distribution_clamped_mean(const struct distribution *distribution);

#endif
