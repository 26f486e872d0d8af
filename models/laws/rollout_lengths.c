/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_lengths.c - lognormal lengths, cut at the maximum, whole or in parts.
 *
 * A response is taken up in the middle as often as it has parts: the k-th part
 * is as long as what the whole is beyond k parts, at most one part.
 */
#include "models/laws/rollout_lengths.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

/* By erfc(), whose tails are exact; the constant is the square root of 1/2. */
double normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

/* P(a whole response is longer than x tokens). */
static double whole_survival(const struct rollout_lengths *lengths, double x)
{
    assert(lengths->log_sd >= 0.0);
    if (x <= 0.0) {
        return 1.0;
    }
    if (x >= lengths->cut_tokens) {
        return 0.0;
    }
    if (lengths->log_sd <= 0.0) {
        return log(x) < lengths->log_mean ? 1.0 : 0.0;
    }
    return normal_cdf((lengths->log_mean - log(x)) / lengths->log_sd);
}

/* The lengths are those of parts.  The part behind k whole ones is longer than x if the
 * response is longer than k parts and x tokens. */
double rollout_lengths_above(const struct rollout_lengths *lengths, double x)
{
    assert(lengths != NULL);
    double sum = 0.0;

    if (x <= 0.0) {
        return 1.0;
    }
    if (x >= lengths->max_tokens) {
        return 0.0;
    }
    for (double from = 0.0; from < lengths->cut_tokens;
         from += lengths->max_tokens) {
        sum += whole_survival(lengths, from + x);
    }
    return sum / lengths->parts;
}

/* E[min(L, x)] = the integral of survival from 0 to x, for x <= cut. */
static double whole_mean_below(const struct rollout_lengths *lengths, double x)
{
    double m = lengths->log_mean;
    double s = lengths->log_sd;

    if (x <= 0.0) {
        return 0.0;
    }
    x = fmin(x, lengths->cut_tokens);
    if (s <= 0.0) {
        return fmin(exp(m), x);
    }
    double z = (log(x) - m) / s;

    return exp(m + s * s / 2.0) * normal_cdf(z - s) + x * normal_cdf(-z);
}

double rollout_lengths_mean(const struct rollout_lengths *lengths, double x)
{
    assert(lengths != NULL);
    assert(x >= 0.0);
    double sum = 0.0;

    x = fmin(fmax(x, 0.0), lengths->max_tokens);
    for (double from = 0.0; from < lengths->cut_tokens;
         from += lengths->max_tokens) {
        sum += whole_mean_below(lengths, from + x) -
               whole_mean_below(lengths, from);
    }
    return sum / lengths->parts;
}

/* E[min(L, cut)^2] of the whole response. */
static double whole_square(const struct rollout_lengths *lengths)
{
    double m = lengths->log_mean;
    double s = lengths->log_sd;
    double x = lengths->cut_tokens;

    if (s <= 0.0) {
        double l = fmin(exp(m), x);
        return l * l;
    }
    double z = (log(x) - m) / s;

    return exp(2.0 * m + 2.0 * s * s) * normal_cdf(z - 2.0 * s) +
           x * x * normal_cdf(-z);
}

/* The square of a length is the sum of the squares of its parts of P tokens
 * and, for each part k after the first, of 2 P times what is beyond k P:
 * (P + r)^2 = P^2 + r^2 + 2 P r.  So the sum over the parts has a closed form. */
double rollout_lengths_square(const struct rollout_lengths *lengths)
{
    assert(lengths->max_tokens > 0.0);
    assert(lengths->max_tokens <= lengths->cut_tokens);
    double mean = whole_mean_below(lengths, lengths->cut_tokens);
    double beyond = 0.0;

    for (double from = lengths->max_tokens; from < lengths->cut_tokens;
         from += lengths->max_tokens) {
        beyond += mean - whole_mean_below(lengths, from);
    }
    return (whole_square(lengths) - 2.0 * lengths->max_tokens * beyond) /
           lengths->parts;
}

/* Sets how many parts a response has on average, and how many tokens were made
 * before the mean part began. */
static void fit_parts(struct rollout_lengths *lengths, double part_tokens)
{
    assert(part_tokens > 0.0);
    double before = 0.0;

    lengths->max_tokens = part_tokens;
    lengths->parts = 0.0;
    for (double from = 0.0; from < lengths->cut_tokens; from += part_tokens) {
        double reached = whole_survival(lengths, from);
        lengths->parts += reached;
        before += reached * from;
    }
    lengths->carried_tokens = before / lengths->parts;
}

struct rollout_lengths rollout_lengths(double mean_tokens, double cv,
                                       double cut_tokens, double part_tokens)
{
    assert(mean_tokens >= 1.0 && cv >= 0.0 && cut_tokens >= 1.0);
    double variance = log(1.0 + cv * cv);
    struct rollout_lengths lengths = {
        .log_mean = log(mean_tokens) - variance / 2.0,
        .log_sd = sqrt(variance), .cut_tokens = cut_tokens,
        .max_tokens = cut_tokens, .parts = 1.0,
    };

    if (part_tokens > 0.0 && part_tokens < cut_tokens) {
        fit_parts(&lengths, part_tokens);
    }
    return lengths;
}
