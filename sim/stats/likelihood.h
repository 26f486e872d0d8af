/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * likelihood.h - distributions fitted to samples by maximum likelihood, and how
 * well they fit.
 *
 * The fit that has the least AIC (Akaike, IEEE Trans.  Autom.  Control 19,
 * 1974, 716) is the best: a parameter more must raise the log likelihood by
 * more than 1. Samples are arrays of the caller, sorted, and are not changed.
 * likelihood.c names the sources of each estimator.
 */
#ifndef SIM_STATS_LIKELIHOOD_H
#define SIM_STATS_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>

/* Families of positive distributions, the usual ones of run times and gaps. */
enum likelihood_family {
    LIKELIHOOD_EXPONENTIAL, LIKELIHOOD_LOGNORMAL, LIKELIHOOD_WEIBULL,
    LIKELIHOOD_GAMMA, LIKELIHOOD_PARETO, LIKELIHOOD_HYPEREXPONENTIAL,
    LIKELIHOOD_FAMILIES
};

struct likelihood {
    enum likelihood_family family;  /* what a, b and c mean */
    /* exponential: mean; lognormal: log mean, log sd; weibull, pareto: scale,
     * shape; gamma: shape, scale; hyperexponential: mean, mean, weight of the
     * first. */
    double a, b, c;
    double log_likelihood;      /* natural logarithm, of all samples */
    double aic;                 /* 2 x parameters - 2 log likelihood */
    double ks;                  /* Kolmogorov-Smirnov distance */
    double ad;                  /* Anderson-Darling A squared */
};

/* Returns the family's name as users write it; static text. */
const char *likelihood_name(enum likelihood_family family);
/* Fits a family to a sample, which is sorted and above 0.  False: the family
 * cannot fit it, such as a lognormal if all values are equal. */
bool likelihood_fit(enum likelihood_family family, const double *sample,
                    size_t count, struct likelihood *out);
/* Returns P(X <= x). */
double likelihood_cdf(const struct likelihood *fit, double x);
/* Fits all families; good[f]: family f fits.  Stores in *best the family of the
 * least AIC.  False: none fits. */
bool likelihood_best(const double *sample, size_t count,
                     struct likelihood out[LIKELIHOOD_FAMILIES],
                     bool good[LIKELIHOOD_FAMILIES], size_t *best);

#endif
