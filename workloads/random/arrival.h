/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival.h - when jobs arrive: Poisson, bursty, gamma, diurnal, fixed times.
 *
 * An arrival is what the file says, shared by trials; a clock is one trial's
 * walk along it.  The streams are "arrival" and "arrival-state": a change of
 * `rate` under the same seed stretches the same gaps and leaves bursts where
 * they were.
 */
#ifndef WORKLOADS_RANDOM_ARRIVAL_H
#define WORKLOADS_RANDOM_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/conf.h"
#include "sim/base/rng.h"

struct arena;

enum arrival_process {
    ARRIVAL_POISSON, ARRIVAL_BURSTY, ARRIVAL_GAMMA, ARRIVAL_DIURNAL,
    ARRIVAL_FIXED, ARRIVAL_ALL_AT_ONCE, ARRIVAL_PROCESS_COUNT
};

struct arrival {
    int process;                /* enum arrival_process */
    double rate_per_s;          /* mean, over long times */
    double cv;                  /* gamma: of the gaps */
    double amplitude;           /* diurnal: 0 to 1, of the mean */
    int64_t peak_ns, period_ns;
    double high, low;           /* bursty: rates as written, any scale */
    int64_t stay_high_ns, stay_low_ns;
    int64_t every_ns;           /* fixed; 0: times */
    const int64_t *time_ns;     /* fixed */
    size_t time_count;
};

bool arrival_read(struct arena *arena, const struct conf_node *conf,
                  struct arrival *out, struct err *err);
extern const struct conf_schema arrival_schema, arrival_burst_schema;

struct arrival_clock {
    const struct arrival *arrival;
    struct rng gaps, states;
    int64_t now_ns;             /* of the last arrival, or of a candidate */
    int64_t state_end_ns;       /* bursty */
    bool high;
    uint64_t count;             /* arrivals so far */
};

void arrival_start(struct arrival_clock *clock, const struct arrival *arrival,
                   uint64_t seed, uint32_t replica);
/* The next arrival, never before the last; CLOCK_NEVER_NS: there is none. */
int64_t arrival_next(struct arrival_clock *clock);
/* How many arrive up to that time, beyond those told already, without telling
 * each: exact for processes whose arrivals are independent, up to a normal law
 * for more than a hundred; gamma by the central limit of its gaps.  Not for
 * fixed times, nor mixed with arrival_next. */
uint64_t arrival_count(struct arrival_clock *clock, int64_t until_ns);
/* Rate of a bursty process in a state, scaled to the mean rate. */
double arrival_state_rate(const struct arrival *arrival, bool high);

#endif
