/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival.c - draws when jobs arrive.
 *
 * Bursty is a Markov-modulated Poisson process of two states (Fischer and
 * Meier-Hellstern 1993), begun in its stationary law and drawn by the change
 * of time: a gap is a unit exponential used up at the rate of the state of
 * the moment, so that states and gaps come from streams of their own.
 * Diurnal is a Poisson process of rate r (1 + a cos 2 pi (t - peak) / period),
 * drawn by thinning (Lewis and Shedler 1979).  Gamma is a renewal process.
 * A measured rate is a Poisson process too, drawn by the change of time.
 * Gaps are added up in whole nanoseconds.
 */
#include "workloads/random/arrival.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/cluster/time_series.h"
#include "sim/base/clock.h"

#define TWO_PI 6.283185307179586

/* The relative rates `high` and `low` are scaled by the mean that they would
 * give, weighted by the time in each state.  With high 9, low 1, and as long in
 * either, the mean is 5: bursts have 9 / 5 of rate_per_s. */
double arrival_state_rate(const struct arrival *a, bool high)
{
    double in_high = (double)a->stay_high_ns, in_low = (double)a->stay_low_ns;
    double mean = (a->high * in_high + a->low * in_low) / (in_high + in_low);

    assert(mean > 0.0);
    return a->rate_per_s * (high ? a->high : a->low) / mean;
}

/* Adds seconds to a time; CLOCK_NEVER_NS where it does not fit. */
static int64_t add_seconds(int64_t time_ns, double s)
{
    int64_t gap_ns;

    return clock_ns_from_s(s, &gap_ns) ? clock_after(time_ns, gap_ns)
                                       : CLOCK_NEVER_NS;
}

/* Begins a state at `now` and draws how long it lasts. */
static void enter_state(struct arrival_clock *clock, bool high, int64_t now)
{
    const struct arrival *a = clock->arrival;
    double stay_s = (double)(high ? a->stay_high_ns : a->stay_low_ns) / 1e9;

    clock->high = high;
    clock->state_end_ns = add_seconds(now, rng_exponential(&clock->states, stay_s));
}

/* Gaps and states have streams of their own, so that another rate stretches
 * the gaps and leaves bursts where they are.  A bursty process begins in a state
 * drawn by the time that it spends there. */
void arrival_start(struct arrival_clock *clock, const struct arrival *arrival,
                   uint64_t seed, uint32_t replica)
{
    assert(clock != NULL && arrival != NULL);
    memset(clock, 0, sizeof *clock);
    clock->arrival = arrival;
    rng_init(&clock->gaps, seed, "arrival", replica);
    rng_init(&clock->states, seed, "arrival-state", replica);
    if (arrival->process == ARRIVAL_BURSTY) {
        double in_high = (double)arrival->stay_high_ns;
        double all = in_high + (double)arrival->stay_low_ns;

        enter_state(clock, rng_uniform(&clock->states) < in_high / all, 0);
    }
}

/* Draws a unit exponential and goes through the states until it is used up: a
 * second in a state uses up the rate of that state.  A state that never ends
 * with a rate of 0 has no next arrival. */
static int64_t next_bursty(struct arrival_clock *clock)
{
    double need = rng_exponential(&clock->gaps, 1.0);
    int64_t now = clock->now_ns;

    for (;;) {
        double rate = arrival_state_rate(clock->arrival, clock->high);
        double left_s = (double)(clock->state_end_ns - now) / 1e9;

        if (rate > 0.0 && (need <= rate * left_s ||
                           clock->state_end_ns == CLOCK_NEVER_NS))
            return add_seconds(now, need / rate);
        if (clock->state_end_ns == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        need -= rate * left_s;
        now = clock->state_end_ns;
        enter_state(clock, !clock->high, now);
    }
}

/* Thinning: candidates come at the highest rate of the day, and each is kept
 * with the probability rate / highest. */
static int64_t next_diurnal(struct arrival_clock *clock)
{
    const struct arrival *a = clock->arrival;
    double top = a->rate_per_s * (1.0 + a->amplitude);
    int64_t now = clock->now_ns;

    for (;;) {
        double phase, rate, u;

        now = add_seconds(now, rng_exponential(&clock->gaps, 1.0 / top));
        if (now == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        phase = (double)((now - a->peak_ns) % a->period_ns) /
                (double)a->period_ns;
        rate = a->rate_per_s * (1.0 + a->amplitude * cos(TWO_PI * phase));
        u = rng_uniform(&clock->gaps);
        if (u * top < rate)
            return now;
    }
}

/* Behind the last of fixed times is 1 ns later.  A series that repeats, or
 * holds its last rate, has no end. */
int64_t arrival_end_ns(const struct arrival *arrival)
{
    const struct time_series *rates = arrival->rates;

    if (arrival->time_count > 0)
        return clock_after(arrival->time_ns[arrival->time_count - 1], 1);
    return rates == NULL || rates->repeat_ns > 0 || rates->hold
               ? CLOCK_NEVER_NS : rates->time_ns[rates->count - 1];
}

/* As next_bursty(), with the rates of a series in the place of states. */
static int64_t next_series(struct arrival_clock *clock)
{
    const struct time_series *rates = clock->arrival->rates;
    double need = rng_exponential(&clock->gaps, 1.0);
    int64_t now = clock->now_ns, end = arrival_end_ns(clock->arrival);

    while (now < end) {
        double rate = time_series_at(rates, now);
        int64_t until = time_series_next_ns(rates, now);
        double span_s = clock_s_from_ns(until - now);

        assert(until > now);
        if (rate > 0.0 && (until == CLOCK_NEVER_NS || need <= rate * span_s))
            return add_seconds(now, need / rate);
        if (until == CLOCK_NEVER_NS)
            break;
        need -= rate * span_s;
        now = until;
    }
    return CLOCK_NEVER_NS;
}

/* Returns the next of the times that are listed, or the next multiple of
 * `every` from 0 on. */
static int64_t next_fixed(const struct arrival_clock *clock)
{
    const struct arrival *a = clock->arrival;

    if (a->every_ns == 0)
        return clock->count < a->time_count ? a->time_ns[clock->count]
                                            : CLOCK_NEVER_NS;
    if (clock->count == 0)
        return 0;
    return clock_after(clock->now_ns, a->every_ns);
}

/* Draws the seconds of `count` gaps together.  A gap is gamma with shape 1 /
 * cv^2, and a sum of such gaps is a gamma of the sum of their shapes, so one
 * draw is enough. */
static double draw_gaps(struct arrival_clock *clock, double count)
{
    const struct arrival *a = clock->arrival;
    double square = a->cv * a->cv;

    return rng_gamma(&clock->gaps, count / square, square) / a->rate_per_s;
}

/* Once it returned CLOCK_NEVER_NS it does so for ever. */
int64_t arrival_next(struct arrival_clock *clock)
{
    const struct arrival *a = clock->arrival;
    int64_t next = CLOCK_NEVER_NS;

    if (clock->now_ns == CLOCK_NEVER_NS)
        return CLOCK_NEVER_NS;
    switch ((enum arrival_process)a->process) {
    case ARRIVAL_POISSON:
        next = add_seconds(clock->now_ns,
                           rng_exponential(&clock->gaps, 1.0) / a->rate_per_s);
        break;
    case ARRIVAL_GAMMA:
        next = add_seconds(clock->now_ns,
                           draw_gaps(clock, 1.0));
        break;
    case ARRIVAL_BURSTY:
        next = next_bursty(clock);
        break;
    case ARRIVAL_DIURNAL:
        next = next_diurnal(clock);
        break;
    case ARRIVAL_FIXED:
        next = next_fixed(clock);
        break;
    case ARRIVAL_ALL_AT_ONCE:
        next = 0;
        break;
    case ARRIVAL_SERIES:
        next = next_series(clock);
        break;
    case ARRIVAL_PROCESS_COUNT:
        break;
    }
    assert(next >= clock->now_ns);
    clock->now_ns = next;
    clock->count++;
    return next;
}

/* ---- many at once ------------------------------------------------------- */

/* Draws a Poisson count.  It counts unit exponentials until their sum passes
 * the mean; above a mean of 100, where that is slow, a normal distribution of
 * the same mean and variance is near enough. */
static uint64_t draw_poisson(struct rng *rng, double mean)
{
    uint64_t n = 0;

    if (mean > 100.0)
        return (uint64_t)fmax(0.0, round(rng_normal(rng, mean, sqrt(mean))));
    for (double sum = rng_exponential(rng, 1.0); sum < mean;
         sum += rng_exponential(rng, 1.0))
        n++;
    return n;
}

/* Draws the sum of as many gaps as are likely in the rest of the span.  If it
 * leads beyond the end, the arrival that is last within it is searched by
 * halves: the middle of a sum of gamma gaps is a beta of it.  Moves wait_s on to
 * a later arrival; returns how many lie before that one. */
static uint64_t skip_gaps(struct arrival_clock *clock, double span_s)
{
    double cv = clock->arrival->cv, each = 1.0 / (cv * cv);
    double many = fmax(1.0, floor((span_s - clock->wait_s) *
                                  clock->arrival->rate_per_s));
    double from_s = clock->wait_s, to_s = from_s + draw_gaps(clock, many);
    uint64_t low = 0, high = (uint64_t)many;

    while (to_s > span_s && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        double at_s = from_s + (to_s - from_s) *
                                   rng_beta(&clock->gaps, each * (double)(middle - low),
                                            each * (double)(high - middle));
        if (at_s <= span_s)
            low = middle, from_s = at_s;
        else
            high = middle, to_s = at_s;
    }
    clock->wait_s = to_s;
    return high - 1;
}

/* Counts the arrivals of a renewal process within a span.  The gap that reaches
 * beyond the span goes on in the next: wait_s keeps what is left of it. */
static uint64_t count_gamma(struct arrival_clock *clock, double span_s)
{
    uint64_t n = 0;

    if (clock->wait_s <= 0.0)
        clock->wait_s = draw_gaps(clock, 1.0);
    while (clock->wait_s <= span_s)
        n += 1 + skip_gaps(clock, span_s);
    clock->wait_s -= span_s;
    return n;
}

/* The integral of the rate over a span: r t, and the integral of the cosine,
 * which is a difference of sines. */
static double integrate_diurnal(const struct arrival *a, int64_t from_ns,
                                int64_t until_ns)
{
    double period_s = clock_s_from_ns(a->period_ns);
    double from = (double)((from_ns - a->peak_ns) % a->period_ns) /
                  (double)a->period_ns * TWO_PI;
    double span_s = clock_s_from_ns(until_ns - from_ns);

    return a->rate_per_s *
           (span_s + a->amplitude * period_s / TWO_PI *
                         (sin(from + TWO_PI * span_s / period_s) -
                          sin(from)));
}

/* The integral of the rate over a span, through the states that lie in it.  It
 * moves the state on, but not now_ns. */
static double integrate_bursty(struct arrival_clock *clock, int64_t until_ns)
{
    double mean = 0.0;
    int64_t now = clock->now_ns;

    while (now < until_ns) {
        int64_t end = clock->state_end_ns < until_ns ? clock->state_end_ns
                                                     : until_ns;
        mean += arrival_state_rate(clock->arrival, clock->high) *
                clock_s_from_ns(end - now);
        now = end;
        if (now == clock->state_end_ns)
            enter_state(clock, !clock->high, now);
    }
    return mean;
}

/* The integral of a measured rate over a span, up to the end of the series. */
static double integrate_series(const struct arrival *a, int64_t from_ns,
                               int64_t until_ns)
{
    int64_t end_ns = arrival_end_ns(a);

    if (until_ns > end_ns)
        until_ns = end_ns;
    return from_ns < until_ns ? time_series_area(a->rates, from_ns, until_ns)
                              : 0.0;
}

double arrival_expected(const struct arrival *a, int64_t until_ns)
{
    assert(until_ns >= 0);
    return a->process == ARRIVAL_SERIES ? integrate_series(a, 0, until_ns)
                                        : a->rate_per_s * clock_s_from_ns(until_ns);
}

/* Draws how many arrive by then, without drawing each: for the aggregate of
 * services. */
uint64_t arrival_count(struct arrival_clock *clock, int64_t until_ns)
{
    const struct arrival *a = clock->arrival;
    double span_s = clock_s_from_ns(until_ns - clock->now_ns);
    uint64_t n = 0;

    assert(until_ns >= clock->now_ns);
    switch ((enum arrival_process)a->process) {
    case ARRIVAL_POISSON:
        n = draw_poisson(&clock->gaps, a->rate_per_s * span_s);
        break;
    case ARRIVAL_GAMMA:
        n = count_gamma(clock, span_s);
        break;
    case ARRIVAL_DIURNAL:
        n = draw_poisson(&clock->gaps, integrate_diurnal(a, clock->now_ns, until_ns));
        break;
    case ARRIVAL_BURSTY:
        n = draw_poisson(&clock->gaps, integrate_bursty(clock, until_ns));
        break;
    case ARRIVAL_SERIES:
        n = draw_poisson(&clock->gaps, integrate_series(a, clock->now_ns,
                                                        until_ns));
        break;
    case ARRIVAL_FIXED:
    case ARRIVAL_ALL_AT_ONCE:
    case ARRIVAL_PROCESS_COUNT:
        assert(!"the reader refuses these");
    }
    clock->now_ns = until_ns;
    clock->count += n;
    return n;
}
