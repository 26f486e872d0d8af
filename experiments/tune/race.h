/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * race.h - successive halving: of candidates the best, by a budget of trials.
 * Private to experiments/tune.
 *
 * Jamieson and Talwalkar (Non-stochastic best arm identification and hyperparameter
 * optimization, AISTATS 2016): after each round the worse half of the candidates goes,
 * and those that are left get twice the trials, so that each round costs as much as the
 * one before.  The first round has RACE_FIRST_SEEDS seeds of each candidate, the last
 * one all.  All have the same seeds, so that candidates are compared on the same jobs.
 * Candidate 0, the entry as it is, never goes.
 */
#ifndef EXPERIMENTS_TUNE_RACE_H
#define EXPERIMENTS_TUNE_RACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define RACE_FIRST_SEEDS 2u     /* of every candidate in the first round, if there are
                                   so many */

struct race {
    uint32_t candidates;
    uint32_t seeds;             /* the most that a candidate gets */
    /* Runs seeds below `seeds` of the listed candidates, most of which ran before, and
     * stores a score of each, smaller being better; INFINITY: it is out.  False: err. */
    bool (*score)(void *self, const uint32_t *candidate, uint32_t count, uint32_t seeds,
                  double *score, struct err *err);
    void *self;
};

/* Returns how many candidates may race if at most so many pulls are spent: seeds of a
 * candidate. */
uint32_t race_most(uint32_t pulls, uint32_t seeds);
/* Stores the best candidate, the first of those with the best score, and the pulls
 * that were spent.  False: `score` failed. */
bool race_run(const struct race *race, uint32_t *best, uint32_t *spent, struct err *err);

#endif
