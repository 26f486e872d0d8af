/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_lengths.h - the distribution of the lengths of a rollout's responses,
 * or of the parts that one rollout makes: lognormal, cut at the maximum.
 */
#ifndef MODELS_LAWS_ROLLOUT_LENGTHS_H
#define MODELS_LAWS_ROLLOUT_LENGTHS_H

struct rollout_lengths {
    double log_mean, log_sd;    /* of the length before the cut */
    double cut_tokens;          /* the longest response */
    double max_tokens;          /* the longest part */
    double parts;               /* mean number of parts of a response */
    double carried_tokens;      /* mean tokens before a part */
};

/* Returns the distribution.  mean_tokens and cv describe the lengths before the
 * cut.  part_tokens: the longest part; 0: a response is one part. */
struct rollout_lengths rollout_lengths(double mean_tokens, double cv,
                                       double cut_tokens, double part_tokens);
/* Returns P(a part is longer than x tokens). */
double rollout_lengths_above(const struct rollout_lengths *lengths, double x);
/* Returns E[min(part, x)]. */
double rollout_lengths_mean(const struct rollout_lengths *lengths, double x);
/* Returns E[part^2]. */
double rollout_lengths_square(const struct rollout_lengths *lengths);
/* Returns P(a standard normal variable is at most z). */
double normal_cdf(double z);

#endif
