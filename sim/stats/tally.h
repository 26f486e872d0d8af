/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tally.h - measurements of a run: a tally of samples, a gauge over time, and
 * quantiles of a stream in bounded memory.
 *
 * Tallies and gauges are plain values: all zero is empty, and they may be
 * copied.
 */
#ifndef SIM_STATS_TALLY_H
#define SIM_STATS_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct quantile;

struct tally {
    uint64_t count;             /* of values */
    double mean, square_sum, min, max;      /* Welford 1962 */
};

/* A level over time, such as GPUs in use. */
struct gauge {
    int64_t from_ns, last_ns;
    double level, area;         /* area is level x seconds since from_ns */
};

/* Adds a sample, which must be finite.  tally_sd() returns the standard deviation, by
 * count - 1; 0 below two. */
void tally_add(struct tally *tally, double sample);
double tally_sd(const struct tally *tally);

/* Sets the level from now_ns on, which is not before the last change. */
void gauge_set(struct gauge *gauge, int64_t now_ns, double level);
/* Returns the mean level from from_ns to until_ns; 0 for an empty span. */
double gauge_mean(const struct gauge *gauge, int64_t until_ns);
/* Returns the integral of the level, in level x seconds. */
double gauge_area(const struct gauge *gauge, int64_t until_ns);

/* Quantiles of a stream.  Up to QUANTILE_EXACT_MAX samples they are exact: the
 * smallest sample x with at least p of the samples <= x.  Beyond, a merging
 * t-digest (Dunning & Ertl 2019); quantile.c states its error and memory, and a
 * test checks both at 10 million samples. */
#define QUANTILE_EXACT_MAX 4096u
struct quantile *quantile_new(struct arena *arena);
void quantile_add(struct quantile *quantile, double sample);
double quantile_at(struct quantile *quantile, double p);    /* 0 if empty */
uint64_t quantile_count(const struct quantile *quantile);

#endif
