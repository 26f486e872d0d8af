/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_gavel.h - an oracle: what Gavel (Narayanan, Santhanam, Kazhamiaka, Phanishayee and
 * Zaharia, OSDI 2020, section 4) promises to jobs that all came just now, by the simplex method
 * as textbooks have it.
 */
#ifndef TESTS_PLAIN_GAVEL_H
#define TESTS_PLAIN_GAVEL_H

#include <stdint.h>

#define GAVEL_JOBS 6u
#define GAVEL_POOLS 3u

enum plain_objective { PLAIN_MAX_MIN, PLAIN_MAKESPAN, PLAIN_FINISH_TIME };

struct plain_gavel {
    enum plain_objective objective;
    uint32_t jobs, pools;
    double speed[GAVEL_JOBS][GAVEL_POOLS];
    double gpus[GAVEL_JOBS], left_s[GAVEL_JOBS], cap[GAVEL_POOLS];
};

/* What a job's rate is divided by in the objective. */
double plain_gavel_need(const struct plain_gavel *g, uint32_t job);
/* Returns a job's rate if each pool is shared alike. */
double plain_gavel_equal(const struct plain_gavel *g, uint32_t job);
/* Finds the least quotient of a rate and its need that all jobs can have, and with it the largest
 * sum of rates over those of equal shares. */
void plain_gavel_solve(const struct plain_gavel *g, double *least, double *sum);

#endif
