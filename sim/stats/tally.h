/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tally.h - what a run measures: a tally of samples, a gauge over time, and
 * quantiles of a stream in bounded memory.
 *
 * Tallies and gauges are plain values: zero-initialized is empty, copying is
 * allowed.  Merging is done in trial order, for addition of doubles does not
 * commute in the last bits.
 */
#ifndef SIM_STATS_TALLY_H
#define SIM_STATS_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct quantile;

struct tally {
    uint64_t count;
    double mean, square_sum, min, max;      /* Welford 1962 */
};

struct gauge {
    int64_t from_ns, last_ns;
    double level, area;         /* area is level x seconds since from_ns */
};

void tally_add(struct tally *tally, double sample);
void tally_merge(struct tally *into, const struct tally *from);
double tally_sd(const struct tally *tally);
/* Half width of Student's t interval of the mean; INFINITY below 2 samples. */
double tally_ci_half(const struct tally *tally, double confidence);

void gauge_set(struct gauge *gauge, int64_t now_ns, double level);
/* Mean level from from_ns to until_ns; 0 for an empty span. */
double gauge_mean(const struct gauge *gauge, int64_t until_ns);
double gauge_area(const struct gauge *gauge, int64_t until_ns);

/* Quantiles of a stream: exact (the smallest sample x with at least p of the
 * samples <= x) up to QUANTILE_EXACT_MAX samples, a merging t-digest
 * (Dunning & Ertl 2019) beyond; error and memory are stated in tally.c and
 * pinned by a test at 10 million samples. */
#define QUANTILE_EXACT_MAX 4096u
struct quantile *quantile_new(struct arena *arena);
void quantile_add(struct quantile *quantile, double sample);
double quantile_at(struct quantile *quantile, double p);    /* 0 if empty */
uint64_t quantile_count(const struct quantile *quantile);

#endif
