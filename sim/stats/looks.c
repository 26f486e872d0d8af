/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looks.c - the price of looking more than once.
 *
 * LOOKS_DECIDED: Pocock's test (Biometrika 64, 1977, 191), which rejects at the
 * same level at every look.  The level is such that by chance alone the chance of
 * a rejection at any look is what is wanted; the interval is then the repeated one
 * of Jennison and Turnbull (J. R. Stat. Soc. B 51, 1989, 305), which holds
 * whenever one stops.  The chance is that of a normal walk, integrated look by look
 * (Armitage, McPherson and Rowe, J. R. Stat. Soc. A 132, 1969, 235): as samples
 * grow by a constant factor, so does each statistic follow from the one before,
 * z' = rho z + sqrt(1 - rho^2) e.
 *
 * LOOKS_WIDTH: that the interval is narrow says that the spread was small by
 * chance, not where the mean is (Chow and Robbins, Ann. Math. Stat. 36, 1965,
 * 457), and costs less: nothing is integrated.
 *
 * Both are told a SHARE of the chance that may be wrong, for few samples are
 * skewed and their spread is small by chance.  SHARE and the least samples were
 * chosen (among 0.4, 0.6 and 1, and 8, 12, 18 and 27) on runs of normal and
 * exponential values, of an M/M/1 at 0.7 and of pairs of them, so that no run is
 * wrong more often than one look at 20 samples is.  tests/sim/looks_test.c measures
 * other runs.
 */
#include "sim/stats/looks.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stddef.h>

#define SHARE 0.6               /* of 1 - confidence */
#define WIDTH_LEAST 8u          /* samples of the first look */
#define DECIDED_LEAST 18u
#define SMALL_P 1e-14           /* below, looks overlap no more */
#define POINTS_MOST 96u         /* 10 a standard error, up to SMALL_P */

/* The samples of the look before one of this size: two thirds, rounded up. */
static uint32_t size_before(uint32_t size)
{
    uint64_t before = (2 * (uint64_t)size + 2) / 3;

    assert(before <= size || size == 0);
    return (uint32_t)before;
}

uint32_t looks_count(enum looks_rule rule, uint32_t at_most)
{
    uint32_t least = rule == LOOKS_DECIDED ? DECIDED_LEAST : WIDTH_LEAST;
    uint32_t count = 1;

    assert(at_most > 0);
    for (uint32_t n = size_before(at_most); rule != LOOKS_NONE && n >= least;
         n = size_before(n))
        count++;
    return count;
}

uint32_t looks_size(enum looks_rule rule, uint32_t at_most, uint32_t look)
{
    uint32_t size = at_most;

    for (uint32_t k = looks_count(rule, at_most); k > look + 1; k--)
        size = size_before(size);
    assert(size > 0 && size <= at_most);
    return size;
}

/* The part of a normal walk that no look rejected yet, by its statistic. */
struct walk {
    uint32_t points;            /* odd */
    double step;
    double density[POINTS_MOST + 1], next[POINTS_MOST + 1];
    double move[POINTS_MOST + 1][POINTS_MOST + 1];  /* from, to */
};

/* Samples grow by 3/2 between looks: rho = sqrt(2/3), tau = sqrt(1 - rho^2). */
static const double rho = 0.816496580927726, tau = 0.5773502691896258;

static double normal_density(double z)
{
    return gsl_ran_ugaussian_pdf(z);
}

/* Returns the weight of a point in Simpson's rule over the grid. */
static double simpson_weight(const struct walk *walk, uint32_t i)
{
    assert(i < walk->points && walk->points % 2 == 1);
    double parts = i == 0 || i + 1 == walk->points ? 1 : i % 2 == 1 ? 4 : 2;

    return parts * walk->step / 3;
}

/* The first look: the density of a standard normal on a grid from -limit to
 * limit, and the densities of the moves from each point to each. */
static void walk_begin(struct walk *walk, double limit)
{
    uint32_t half = (uint32_t)ceil(5 * limit);

    assert(limit > 0);
    walk->points = 2 * half + 1;
    assert(walk->points <= POINTS_MOST + 1);
    walk->step = limit / half;
    for (uint32_t i = 0; i < walk->points; i++) {
        double z = -limit + walk->step * i;

        walk->density[i] = normal_density(z);
        for (uint32_t k = 0; k < walk->points; k++)
            walk->move[i][k] =
                normal_density((-limit + walk->step * k - rho * z) / tau) / tau;
    }
}

/* Returns the chance that this look is the first that rejects. */
static double walk_look(struct walk *walk, double limit)
{
    double out = 0;

    for (uint32_t k = 0; k < walk->points; k++)
        walk->next[k] = 0;
    for (uint32_t i = 0; i < walk->points; i++) {
        double z = -limit + walk->step * i;
        double part = simpson_weight(walk, i) * walk->density[i];

        out += part * (gsl_cdf_ugaussian_Q((limit - rho * z) / tau) +
                       gsl_cdf_ugaussian_Q((limit + rho * z) / tau));
        for (uint32_t k = 0; k < walk->points; k++)
            walk->next[k] += part * walk->move[i][k];
    }
    for (uint32_t k = 0; k < walk->points; k++)
        walk->density[k] = walk->next[k];
    assert(out >= 0);
    return out;
}

/* The chance that any of the looks has a p-value below p. */
static double any_below(uint32_t looks, double p)
{
    struct walk walk;
    double limit, sum = p;

    assert(looks > 0 && p >= 0);
    if (p < SMALL_P || p >= 1)
        return fmin(1, looks * p);
    limit = gsl_cdf_ugaussian_Qinv(p / 2);
    if (limit < 0.2)
        return 1;
    walk_begin(&walk, limit);
    for (uint32_t k = 1; k < looks; k++)
        sum += walk_look(&walk, limit);
    return fmin(1, sum);
}

double looks_p(enum looks_rule rule, uint32_t looks, double p)
{
    assert(looks > 0);
    if (rule == LOOKS_NONE || looks == 1 || !isfinite(p))
        return p;
    return fmin(1, (rule == LOOKS_WIDTH ? p : any_below(looks, p)) / SHARE);
}

/* Bisects the level of each look between what Bonferroni would give and what a
 * single look has. */
double looks_confidence(enum looks_rule rule, uint32_t looks, double confidence)
{
    double wanted = SHARE * (1 - confidence), low = wanted / looks, high = wanted;

    assert(confidence > 0 && confidence < 1 && looks > 0);
    if (rule == LOOKS_NONE || looks == 1)
        return confidence;
    if (rule == LOOKS_WIDTH)
        return 1 - wanted;
    for (unsigned i = 0; i < 40; i++) {
        double p = (low + high) / 2;

        *(any_below(looks, p) < wanted ? &low : &high) = p;
    }
    assert(1 - low >= confidence);
    return 1 - low;
}
