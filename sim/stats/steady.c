/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady.c - growth of a queue, and the end of a warm-up.
 *
 * A queue is stable if the number in the system over time goes to 0 (El-Taha and
 * Stidham, Sample-Path Analysis of Queueing Systems, 1999); above a load of 1 it
 * grows by a constant rate.  But a run begins empty, so any queue grows at first.
 * The slowest to end that is the queue at a load of 1, which grows by the root of
 * time (a reflected Brownian motion): its quarters are as the integrals of that,
 * and the last grows by 1 - (27^.5 - 8^.5) / (8 - 27^.5) = 15.5% of itself.  Constant growth
 * has 28.6%.  Runs are independent, so a one-sided t test of the mean over them
 * decides (Law, Simulation Modeling and Analysis, 5th ed., 9.4).
 *
 * Where a run claims a steady state, its beginning must not differ from its end.
 * In a reversible process first and last quarter have one distribution, given the
 * whole, so the same test over runs decides.
 *
 * MSER-5: White, Simulation 69, 1997, 323; White, Cobb and Spratt, Winter
 * Simulation Conference 2000, 755.  Of means of five, as many are left out as
 * make the standard error of the rest least.  A minimum in the second half says
 * that the run is too short (Hoad, Robinson and Davies, J. Oper. Res. Soc. 61,
 * 2010, 1607).
 */
#include "sim/stats/steady.h"

#include <assert.h>
#include <math.h>

/* See above: what the last quarter has beyond the growth of a queue at a load
 * of 1. */
double steady_growth(const double quarter[4])
{
    double before = sqrt(27) - sqrt(8), last = 8 - sqrt(27);
    double growth = quarter[3] - quarter[2] -
                    (1 - before / last) * quarter[3];

    for (unsigned i = 0; i < 4; i++)
        assert(!(quarter[i] < 0));      /* a number in the system */
    return quarter[0] < quarter[1] && quarter[1] < quarter[2]
        ? growth : fmin(growth, 0);
}

double steady_filling(const double quarter[4])
{
    double sum = quarter[0] + quarter[1] + quarter[2] + quarter[3];

    assert(!(sum < 0));
    return sum > 0 ? 4 * (quarter[3] - quarter[0]) / sum : 0;
}

#define BATCH 5u                /* values, as in MSER-5 */

/* Of BATCH values, from number batch x BATCH on. */
static double batch_mean(const double *value, size_t batch)
{
    double sum = 0;

    for (size_t i = 0; i < BATCH; i++)
        sum += value[batch * BATCH + i];
    return sum / BATCH;
}

/* squares / n^2 is the squared standard error of the mean of what is kept.
 * The last five batches are always kept: fewer have no spread to judge
 * by. */
size_t steady_after(const double *value, size_t count)
{
    size_t batches = count / BATCH, least_at = 0;
    double n = 0, mean = 0, squares = 0, least = INFINITY;

    assert(value != NULL || count == 0);
    if (count < STEADY_LEAST)
        return STEADY_NONE;
    /* From the end: one batch more is kept in each step. */
    for (size_t b = batches; b-- > 0;) {
        double x = batch_mean(value, b), off = x - mean;

        n++;
        mean += off / n;
        squares += off * (x - mean);
        if (n > BATCH && squares / (n * n) <= least) {
            least = squares / (n * n);
            least_at = b;
        }
    }
    assert(least_at < batches && least < INFINITY);
    return 2 * least_at > batches ? STEADY_NONE : least_at * BATCH;
}
