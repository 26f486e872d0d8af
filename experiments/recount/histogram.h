/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * histogram.h - counts of samples by their first five bits: what a quantile of many
 * samples is checked by.
 *
 * Bins are of equal width within a power of two, 32 to each.  So a bin is at
 * most 1/32 of its samples wide: 100 s and 101 s are in one bin, from 100 s to
 * 102 s.
 */
#ifndef EXPERIMENTS_RECOUNT_HISTOGRAM_H
#define EXPERIMENTS_RECOUNT_HISTOGRAM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HISTOGRAM_FROM 4096u    /* samples; below, rows are looked at */
#define HISTOGRAM_BITS 5
#define HISTOGRAM_LEAST (-32)   /* exponent of two */
#define HISTOGRAM_BINS (72u << HISTOGRAM_BITS)

/* Counts by histogram_bin(). */
struct histogram {
    uint64_t count;             /* of all bins */
    uint32_t bin[HISTOGRAM_BINS];
};

/* Returns the bin of a sample: its exponent and the first bits behind it.  The first
 * bin has all below 2^HISTOGRAM_LEAST, the last all that is too large. */
static inline uint32_t histogram_bin(double sample)
{
    uint64_t bits, least = (uint64_t)(1023 + HISTOGRAM_LEAST) << HISTOGRAM_BITS;

    memcpy(&bits, &sample, sizeof bits);
    bits >>= 52 - HISTOGRAM_BITS;
    bits = bits < least ? 0 : bits - least;
    return bits < HISTOGRAM_BINS ? (uint32_t)bits : HISTOGRAM_BINS - 1;
}

/* Adds a sample that is not negative. */
static inline void histogram_add(struct histogram *histogram, double sample)
{
    histogram->count++;
    histogram->bin[histogram_bin(sample)]++;
}

/* Could v be the quantile p, by all but the digest's error? */
static inline bool histogram_holds(const struct histogram *histogram, double v, double p)
{
    double below = 0, n = (double)histogram->count;
    uint32_t at = histogram_bin(v);

    if (!(v >= 0))
        return false;
    for (uint32_t b = 0; b + 1 < at; b++)
        below += histogram->bin[b];
    double upto = below + (at > 0 ? histogram->bin[at - 1] : 0) + histogram->bin[at] +
                  (at + 1 < HISTOGRAM_BINS ? histogram->bin[at + 1] : 0);
    return below <= (p + 0.002) * n && upto >= (p - 0.002) * n;
}

#endif
