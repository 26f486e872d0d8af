/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renewal.c - the renewal equation on a grid, ends in the middle of a step.
 *
 * The equation (Cox, Renewal Theory, 1962, chapter 4): the expected number of
 * ends by time t is the probability that the first life is over plus, for each
 * moment at which it ended, the ends that followed.  On a grid of RENEWAL_GRID
 * steps it is solved from the front, in O(RENEWAL_GRID^2).
 */
#include "models/laws/renewal.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

void renewal_init(struct renewal *r, renewal_survival_fn *survival,
                  const void *self, double horizon)
{
    assert(r && survival && horizon > 0.0);
    r->survival = survival;
    r->self = self;
    r->step = horizon / RENEWAL_GRID;
    for (int k = 0; k <= RENEWAL_GRID; k++) {
        r->alive[k] = survival(self, k * r->step);
    }
    r->ends[0] = 0.0;
    for (int k = 1; k <= RENEWAL_GRID; k++) {
        double first = r->alive[0] - r->alive[1];
        double sum = 1.0 - r->alive[k] + first * r->ends[k - 1] / 2.0;

        for (int j = 2; j <= k; j++) {
            sum += (r->alive[j - 1] - r->alive[j]) *
                   (r->ends[k - j] + r->ends[k - j + 1]) / 2.0;
        }
        r->ends[k] = sum / (1.0 - first / 2.0);
    }
}

/* Linear between grid points; the horizon where that number of ends never comes. */
double renewal_time(const struct renewal *r, double ends)
{
    assert(r && ends >= 0.0);
    int k = 1;

    while (k < RENEWAL_GRID && r->ends[k] < ends) {
        k++;
    }
    double more = r->ends[k] - r->ends[k - 1];
    double part = more > 0.0 ? (ends - r->ends[k - 1]) / more : 1.0;

    return (k - 1 + fmin(fmax(part, 0.0), 1.0)) * r->step;
}

/* A life that is younger than `since` began at the end of another: the sum over those
 * ends of value(age at `since`), and value(since) for the first. */
typedef double value_fn(const struct renewal *r, double age, double x);

/* Sums a value over the age of the process: `since` after a start that is certain,
 * weighted by how likely the last renewal was that long ago.  Midpoints of a grid,
 * the last cell in part. */
static double sum_over_ages(const struct renewal *r, double since, double x,
                            value_fn *value)
{
    assert(since >= 0.0);
    assert(x >= 0.0);
    assert(value != NULL);
    double sum = value(r, since, x);

    for (int k = 1; k <= RENEWAL_GRID && (k - 1) * r->step < since; k++) {
        double from = (k - 1) * r->step;
        double part = fmin(1.0, (since - from) / r->step);
        double at = from + part * r->step / 2.0;

        sum += part * (r->ends[k] - r->ends[k - 1]) *
               value(r, since - at, x);
    }
    return sum;
}

/* P(an item that began `age` ago still lives, x later). */
static double is_alive(const struct renewal *r, double age, double x)
{
    return r->survival(r->self, age + x);
}

/* A value_fn: the age of a life, 0 if it has ended by then. */
static double age_alive(const struct renewal *r, double age, double x)
{
    (void)x;
    return age * r->survival(r->self, age);
}

/* A value_fn: the integral of age_alive() over ages from 0 to `age`, by trapezoids of the
 * grid. */
static double age_area(const struct renewal *r, double age, double x)
{
    assert(age >= 0.0);
    assert(x >= 0.0);
    double sum = 0.0, h = r->step;
    int k = 1;

    (void)x;
    for (; k <= RENEWAL_GRID && k * h <= age; k++) {
        sum += h * ((k - 1) * h * r->alive[k - 1] + k * h * r->alive[k]) / 2.0;
    }
    double from = (k - 1) * h;
    return sum + (age - from) * (from * r->alive[k - 1] +
                                 age * r->survival(r->self, age)) / 2.0;
}

double renewal_alive(const struct renewal *r, double since, double x)
{
    assert(r && since >= 0.0 && x >= 0.0);
    return fmin(1.0, sum_over_ages(r, since, x, is_alive));
}

double renewal_age(const struct renewal *r, double since)
{
    assert(r && since >= 0.0);
    return sum_over_ages(r, since, 0.0, age_alive);
}

double renewal_mean_age(const struct renewal *r, double since)
{
    assert(r && since > 0.0);
    return sum_over_ages(r, since, 0.0, age_area) / since;
}
