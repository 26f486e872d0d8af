/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.h - can an interval over the seeds be trusted?
 *
 * It cannot where few jobs or few seeds decide the mean: their absence from a
 * sample is not seen in it.  Of jobs: shape_few() of the run times of all seeds.
 * Of seeds: skewness over sqrt(seeds), the skew of a struct stats_mean, from TRUST_SEEDS_LEAST
 * seeds on; of fewer, chance alone skews a sample as much.
 */
#ifndef EXPERIMENTS_RESULTS_TRUST_H
#define EXPERIMENTS_RESULTS_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/columns/metric.h"

struct arena;
struct grid;
struct stats_delta;
struct stats_mean;

#define TRUST_SEEDS_LEAST 10u
/* Of 2,000 normal samples of 10 none is above 0.5; of M/M/1 queues at a load of
 * 0.9, one sample of 10 in ten is above 0.6. */
#define TRUST_SEEDS_MOST 0.6

/* How much few jobs decide, at a point under a policy; 0: no more than they
 * may, or not known. */
double trust_jobs(const struct grid *grid, uint32_t point, uint32_t policy);
/* Does `skew`, of that many seeds, exceed the bound? */
bool trust_seeds_few(double skew, double seeds);
/* Returns "" for an interval that can be trusted, else "jobs 0.25", "seeds 0.71"
 * or both: skewness over the root of their number. */
const char *trust_text(struct arena *arena, double jobs, double skew,
                       double seeds);
/* Returns trust_text() of a difference.  Below TRUST_SEEDS_LEAST pairs it adds
 * "5 pairs": of five pairs, 89 to 95% of the intervals hold the truth, and no sample
 * shows which. */
const char *trust_pairs_text(struct arena *arena, double jobs, double skew,
                             double pairs);

/* What equal seeds leave open.  Their interval has no width, though what is rare may not
 * have come up.  With a probability of 1 - confidence or more, nothing is seen
 * - of a count, in n seeds, if on average up to -log(1 - confidence) / n come in a seed, as
 *   of a Poisson process (3 / n, the rule of three);
 * - of a fraction, in n seeds or of n requests, if a share of up to 1 - (1 - confidence)^(1/n)
 *   of them are otherwise (Clopper and Pearson's bound, one-sided).  Each may then be
 *   anything: 0 to 1, and -1 to 1 of a difference. */
struct trust_equal {
    double below, above;        /* by how much the mean may differ from the value, from 0 on */
    double share;               /* of seeds or requests that may be otherwise */
};
/* Returns it for a count or a fraction; value: the same in all `n` of them, n > 0. */
struct trust_equal trust_equal(const struct metric_info *info, double value, bool difference,
                               double n, double confidence);
/* Returns of how many jobs or requests, in all seeds, slo_attained_fraction is all or none;
 * 0 of another metric, of a fraction between, and where that was not counted. */
double trust_events(const struct grid *grid, uint32_t point, uint32_t policy,
                    enum metric metric);
/* Returns the two-sided p-value of a difference that is the same in all `n` seeds: below
 * 1 - confidence exactly where the interval that they leave open excludes 0. */
double trust_equal_p(const struct metric_info *info, double difference, double n);
/* Does the experiment say how many it is: what came, and of a count of what was done, where
 * all jobs are done? */
bool trust_count_given(const struct grid *grid, uint32_t point, uint32_t policy,
                       enum metric metric);

/* A policy at a point of a grid. */
struct trust_side {
    const struct grid *grid;
    uint32_t point, policy;
};
/* Is a value that is the same in all seeds known for a reason: nothing is drawn on either
 * side, the experiment says it, or it is of another kind than counts and fractions?  `b`
 * may be `a`. */
bool trust_is_known(const struct trust_side *a, const struct trust_side *b, enum metric metric);
/* Sets the interval that equal seeds leave open where theirs has no width, though the value
 * is not known for a reason; another mean stays as it is.  confidence: as grid_confidence()
 * gives it. */
void trust_widen_mean(const struct trust_side *side, enum metric metric, double confidence,
                      struct stats_mean *mean);
/* Does the same for the paired difference of `side` to `base`, with its percentage, of a
 * mean of `base_mean`, and its p-value. */
void trust_widen_delta(const struct trust_side *side, const struct trust_side *base,
                       enum metric metric, double base_mean, double confidence,
                       struct stats_delta *delta);

#endif
