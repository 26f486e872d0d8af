/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seasonal.c - a level and a season, smoothed exponentially; the Poisson quantile.
 *
 * The Poisson's is found by adding probabilities from 0 on.  Above a mean of
 * NORMAL_FROM, where exp(-mean) nears the smallest doubles, the normal law with a
 * continuity correction serves; the error is then below one unit or so.
 */
#include "sim/stats/seasonal.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#define NORMAL_FROM 400.0       /* mean above which a Poisson is near a normal */

/* The first season is over: splits it into its mean and the rest. */
static void begin_seasons(struct seasonal *s)
{
    double sum = 0;

    assert(s->seen == s->slots && s->slots > 0);
    for (uint32_t i = 0; i < s->slots; i++)
        sum += s->season[i];
    s->level = sum / s->slots;
    for (uint32_t i = 0; i < s->slots; i++)
        s->season[i] -= s->level;
}

/* The additive Holt-Winters method without trend; the first season only sets
 * the slots, as its level is not yet known. */
void seasonal_add(struct seasonal *s, double value)
{
    double a = s->level_weight, g = s->season_weight, before = s->level;

    assert(a >= 0 && a <= 1 && g >= 0 && g <= 1);
    if (s->slots > 0 && s->seen >= s->slots) {
        double *season = &s->season[s->seen % s->slots];
        s->level = a * (value - *season) + (1 - a) * before;
        *season = g * (value - before) + (1 - g) * *season;
        s->seen++;
        return;
    }
    s->level = s->seen == 0 ? value : a * value + (1 - a) * before;
    if (s->slots > 0)
        s->season[s->seen] = value;
    s->seen++;
    if (s->slots > 0 && s->seen == s->slots)
        begin_seasons(s);
}

double seasonal_at(const struct seasonal *s, uint64_t ahead)
{
    assert(ahead >= 1);
    if (s->slots == 0 || s->seen < s->slots)
        return s->level;
    return s->level + s->season[(s->seen + ahead - 1) % s->slots];
}

/* The least n of which P(N <= n) reaches the share: by summation, and for a
 * large mean by the normal approximation with a correction of half. */
double seasonal_poisson_most(double mean, double share)
{
    assert(mean >= 0 && share >= 0 && share < 1);
    if (mean > NORMAL_FROM && share > 0)
        return fmax(0, ceil(mean + sqrt(mean) *
                            gsl_cdf_ugaussian_Pinv(share) - 0.5));
    double part = exp(-mean), sum = part, n = 0;
    while (sum < share && part > 0) {
        n++;
        part *= mean / n;
        sum += part;
    }
    return n;
}
