/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape.c - central moments of a stream.
 *
 * One pass: P. Pebay, Formulas for robust, one-pass parallel computation of
 * covariances and arbitrary-order statistical moments, SAND2008-6212, 2008.
 * By Berry and Esseen's theorem, what a mean is off the normal law is bounded by
 * the third moment over the second to the power of 1.5, over sqrt(count).
 */
#include "sim/stats/shape.h"

#include <assert.h>
#include <math.h>

#define EQUAL 1e-18             /* variance over mean^2 that is rounding */

void shape_add(struct shape *shape, double value)
{
    double n = shape->count + 1, off = value - shape->mean, by = off / n;
    double square = off * by * (n - 1);

    assert(isfinite(value));
    shape->cubes += square * by * (n - 2) - 3 * by * shape->squares;
    shape->squares += square;
    shape->mean += by;
    shape->count = n;
    assert(square >= 0);                /* so that squares never fall */
}

/* Is there no spread beyond rounding, so that no shape can be told?  Also without
 * samples. */
static int is_flat(const struct shape *shape)
{
    assert(shape->count >= 0 && shape->squares >= 0);
    return !(shape->count > 0) ||
           shape->squares <= EQUAL * shape->count * shape->mean * shape->mean;
}

double shape_cv(const struct shape *shape)
{
    if (is_flat(shape))
        return 0;
    assert(shape->mean != 0);
    return sqrt(shape->squares / shape->count) / fabs(shape->mean);
}

double shape_skewness(const struct shape *shape)
{
    if (is_flat(shape))
        return 0;
    return sqrt(shape->count) * shape->cubes /
           (shape->squares * sqrt(shape->squares));
}

/* Sums of powers of a sample of mean 1 follow from its cv and skewness. */
void shape_pool(struct shape *into, double count, double cv, double skewness)
{
    assert(count >= 0 && cv >= 0);
    assert(isfinite(cv) && isfinite(skewness));
    into->mean = 1;
    into->count += count;
    into->squares += count * cv * cv;
    into->cubes += count * skewness * cv * cv * cv;
}

double shape_few(const struct shape *shape)
{
    double skewness = shape_skewness(shape);
    double few = shape->count > 0 ? skewness / sqrt(shape->count) : 0;

    return skewness > SHAPE_SKEWNESS_MOST && few > SHAPE_FEW_MOST ? few : 0;
}
