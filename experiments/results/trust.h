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

struct arena;
struct grid;

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

#endif
