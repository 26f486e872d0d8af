/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * race.h - successive halving: of candidates the best, by a budget of trials.
 *
 * Jamieson and Talwalkar (Non-stochastic best arm identification and hyperparameter
 * optimization, AISTATS 2016): after each round the worse half of the candidates is dropped,
 * and those that are left get twice the trials, so that each round costs as much as the
 * one before.  The first round has RACE_FIRST_SEEDS seeds of each candidate, the last
 * one all.  All have the same seeds, so that candidates are compared on the same jobs.
 * Candidate 0, the entry as it is, is never dropped.
 */
#ifndef EXPERIMENTS_RUNNER_RACE_H
#define EXPERIMENTS_RUNNER_RACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define RACE_FIRST_SEEDS 2u     /* of each candidate in the first round; a race of
                                   fewer seeds has these */

struct race {
    uint32_t candidates;        /* numbered from 0 */
    uint32_t seeds;             /* the most that a candidate gets */
    uint32_t keep;              /* least number of candidates that stay; 0 is 1 */
    /* Runs seeds below `seeds` of the listed candidates, most of which ran before, and
     * stores a score of each, smaller being better; INFINITY: it is out.  False: err. */
    bool (*score)(void *self, const uint32_t *candidate, uint32_t count, uint32_t seeds,
                  double *score, struct err *err);
    void *self;
};

/* Returns how many candidates may race if at most `pulls` pulls (seeds of a
 * candidate) are spent, of `seeds` seeds each at the end, and `keep` is 0; at least 1. */
uint32_t race_most(uint32_t pulls, uint32_t seeds);
/* Stores the best candidate, the first of those with the best score, and the pulls
 * that were spent.  With one candidate nothing is run.  False: `score` failed, and
 * err is as it left it. */
bool race_run(const struct race *race, uint32_t *best, uint32_t *spent, struct err *err);

#endif
