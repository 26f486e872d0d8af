/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_lengths.h - how long the responses of a rollout are, or the parts of
 * them that it makes: lognormal, cut at the maximum.
 */
#ifndef MODELS_LAWS_ROLLOUT_LENGTHS_H
#define MODELS_LAWS_ROLLOUT_LENGTHS_H

struct rollout_lengths {
    double log_mean, log_sd;    /* of the length before the cut */
    double cut_tokens;          /* no response is longer */
    double max_tokens;          /* of what this rollout makes of one */
    double parts;               /* a response has on average */
    double carried_tokens;      /* made before, by mean part */
};

/* Mean and cv are those before the cut; part_tokens is at most of one response
 * in one rollout, 0: all of it. */
struct rollout_lengths rollout_lengths(double mean_tokens, double cv,
                                       double cut_tokens, double part_tokens);
/* P(a part is longer than x). */
double rollout_lengths_above(const struct rollout_lengths *lengths, double x);
/* E[min(part, x)]. */
double rollout_lengths_mean(const struct rollout_lengths *lengths, double x);
/* E[part^2]. */
double rollout_lengths_square(const struct rollout_lengths *lengths);

#endif
