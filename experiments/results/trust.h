/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.h - can an interval over the seeds be trusted?
 *
 * It cannot where few jobs or few seeds decide the mean: their absence from a
 * sample is not seen in it.  For jobs this is told by shape_few() of the run times of all seeds.
 * For seeds it is told by skewness over sqrt(seeds), the skew of a struct stats_mean, from
 * TRUST_SEEDS_LEAST seeds on; chance alone skews a smaller sample as much.
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
/* Returns "" for an interval that can be trusted or has no width, else, apart by semicolons,
 * - "jobs 0.25" and "seeds 0.71": skewness over the root of their number;
 * - "equal seeds": it takes the cases of a seed as independent (struct trust_open). */
const char *trust_text(struct arena *arena, double jobs, const struct stats_mean *mean);
/* Returns the same of a difference.  Below TRUST_SEEDS_LEAST pairs it adds "5 pairs": of five
 * pairs, 89 to 95% of the intervals hold the truth, and no sample shows which. */
const char *trust_pairs_text(struct arena *arena, double jobs, const struct stats_delta *delta);

/* What equal seeds leave open.  Their interval has no width, though what is rare may not
 * have come up.  With a probability of 1 - confidence or more, nothing is seen
 * - of a count, in n seeds, if on average up to -log(1 - confidence) / n come in a seed, as
 *   of a Poisson process (3 / n, the rule of three);
 * - of a fraction, in n seeds or n cases, if a share of up to 1 - (1 - confidence)^(1/n)
 *   of them are otherwise (Clopper and Pearson's bound, one-sided).  Each may then be
 *   anything: 0 to 1, and -1 to 1 of a difference.
 * Cases are the jobs with a deadline, or the requests, of all seeds (slo_count), where
 * slo_attained_fraction is 0 or 1 in all of them.  A difference of two such policies is of
 * pairs: both meet the same cases, so there are as many pairs as the policy with fewer has
 * cases.  Where one side alone is equal in all seeds, the interval of the difference holds
 * every mean that it may have, beside the interval of the other side, each with half the
 * chance to err (Bonferroni).
 * Nothing is left open
 * - where nothing is drawn, or what the metric counts cannot happen (without.h);
 * - of what came, and of a count of what was done where all jobs are done;
 * - of a measured fraction that is neither 0 nor 1, such as a utilization: seeds do not have
 *   it alike by chance;
 * - of other figures, such as prices, times, and fractions that are no share of a whole. */
struct trust_open {
    uint32_t seeds;             /* equal ones that leave the interval open; 0: it is open for
                                   no such reason */
    bool half;                  /* of a difference: they are equal on one side alone */
    bool cases;                 /* it is by cases, as if they were independent, and */
    double share;               /* ... of other seeds this share may differ; then the mean ... */
    double below, above;        /* ... may be lower or higher by, and of a difference */
    double percent_below, percent_above;    /* ... the percentage */
};

/* A policy at a point of a grid: one side of a comparison. */
struct trust_side {
    const struct grid *grid;
    uint32_t point, policy;
};
/* Is it a share of a whole, so that it lies from 0 to 1? */
bool trust_is_share(const struct metric_info *info, enum metric metric);
/* Cuts the interval of a percentage at -100, unless the metric may be below 0: figures that
 * are not cannot fall by more. */
void trust_cut_percent(const struct metric_info *info, enum metric metric,
                       struct stats_delta *delta);
/* Returns the mean of a metric over the seeds and its interval: that of the samples, or what
 * equal seeds leave open.  It is the same in all tables, charts and verdicts.  Seeds that
 * are alike in every metric count as one, except where they leave something open.
 * Both ends are values that the metric may have: 0 to 1 of a share, 0 or more of counts and
 * times, unless it is of the experiment's own.
 * confidence: as experiments say it; seeds that were stopped by a rule make it larger
 * (grid_confidence()).  open: NULL, or set. */
struct stats_mean trust_mean(const struct grid *grid, uint32_t point, uint32_t policy,
                             enum metric metric, double confidence, struct trust_open *open);
/* Returns the paired difference of `side` to `base` likewise, with its percentage and p-value,
 * which is below 1 - confidence exactly where the interval excludes 0.  Of a metric that is
 * not below 0, the percentage is not below -100.  The grids have the
 * same seeds in the same places.  Means that are not over all jobs are compared, too: the
 * caller must ask survivors.h first. */
struct stats_delta trust_delta(const struct trust_side *side, const struct trust_side *base,
                               enum metric metric, double confidence, struct trust_open *open);

#endif
