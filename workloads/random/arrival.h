/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival.h - arrival processes: Poisson, bursty, gamma, diurnal, of a measured
 * rate, fixed times.  For sources of jobs and requests; arrival_read.h reads them.
 *
 * `struct arrival` is what the file states; trials share it.  A clock generates
 * the arrivals of one trial.  It draws from the streams "arrival" and
 * "arrival-state": another `rate` with the same seed stretches the same gaps,
 * and bursts stay at the same times.
 */
#ifndef WORKLOADS_RANDOM_ARRIVAL_H
#define WORKLOADS_RANDOM_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/rng.h"

struct time_series;

/* How things arrive.  The order is that of process_names in arrival_read.c. */
enum arrival_process {
    ARRIVAL_POISSON, ARRIVAL_BURSTY, ARRIVAL_GAMMA, ARRIVAL_DIURNAL,
    ARRIVAL_FIXED, ARRIVAL_ALL_AT_ONCE, ARRIVAL_SERIES,
    ARRIVAL_PROCESS_COUNT
};

/* A process as the file states it.  Members of other processes than its own are
 * 0. */
struct arrival {
    int process;                /* enum arrival_process */
    double rate_per_s;          /* mean, over long times */
    double cv;                  /* gamma: of the gaps */
    double amplitude;           /* diurnal: 0 to 1, relative to the mean */
    int64_t peak_ns, period_ns; /* diurnal: a time of the highest rate; its period */
    double high, low;           /* bursty: relative rates, as written */
    int64_t stay_high_ns, stay_low_ns;  /* bursty: mean stay in each state */
    int64_t every_ns;           /* fixed: the interval; 0: time_ns holds */
    const int64_t *time_ns;     /* fixed */
    size_t time_count;
    const struct time_series *rates;    /* series: arrivals per second */
    double peak_per_s;          /* series: the highest of them */
};

/* Returns the time from which nothing arrives any more: behind the last of fixed times,
 * or the last point of a series.  CLOCK_NEVER_NS: arrivals go on. */
int64_t arrival_end_ns(const struct arrival *arrival);

/* The arrivals of one trial, up to now. */
struct arrival_clock {
    const struct arrival *arrival;  /* the process, shared by all trials */
    struct rng gaps, states;    /* streams of their own: gaps between arrivals; bursty's states */
    int64_t now_ns;             /* time of the last arrival or candidate */
    int64_t state_end_ns;       /* bursty */
    bool high;                  /* bursty: the state; true in a burst */
    double wait_s;              /* gamma, counted: until the next arrival */
    uint64_t count;             /* arrivals so far */
};

/* Sets the clock before the first arrival. */
void arrival_start(struct arrival_clock *clock, const struct arrival *arrival,
                   uint64_t seed, uint32_t replica);
/* Returns the time of the next arrival, not before the last one;
 * CLOCK_NEVER_NS: there is none. */
int64_t arrival_next(struct arrival_clock *clock);
/* Returns how many arrive from the last call until until_ns, without generating
 * each.  Exact, except that a normal distribution stands for counts above a
 * hundred of independent arrivals.  Not for fixed times, and not together with
 * arrival_next(). */
uint64_t arrival_count(struct arrival_clock *clock, int64_t until_ns);
/* Returns how many arrive until then in the mean, over long times. */
double arrival_expected(const struct arrival *arrival, int64_t until_ns);
/* Returns the rate per second of a bursty process in a state, scaled so that
 * the mean is rate_per_s. */
double arrival_state_rate(const struct arrival *arrival, bool high);

#endif
