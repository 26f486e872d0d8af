/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival.c - when jobs arrive.
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
#include <stdio.h>
#include <string.h>

#include "models/cluster/time_series.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"

#define TWO_PI 6.283185307179586

/* The keys as the table fills them. */
struct keys {
    struct arrival arrival;
    const struct conf_node *burst, *times, *rates;
};

static const char *const process_names[] = {
    "poisson", "bursty", "gamma", "diurnal", "fixed", "all_at_once", "series",
    NULL
};

/* Ranges of times are in seconds; 100 years is longer than any experiment. */
#define TIME_MAX_S 3.2e9
#define TIME_MIN_S 1e-9

static const struct conf_field arrival_fields[] = {
    CONF_KEY("process", CONF_CHOICE, keys, arrival.process, CONF_REQUIRED,
             "how jobs arrive", .choices = process_names),
    CONF_KEY("rate", CONF_FREQUENCY, keys, arrival.rate_per_s, CONF_ABSENT,
             "mean arrivals per time: poisson, bursty, gamma, diurnal",
             .min = 1e-12, .max = 1e9),
    CONF_KEY("cv", CONF_REAL, keys, arrival.cv, CONF_ABSENT,
             "gamma: standard deviation of the gaps over their mean",
             .min = 1e-3, .max = 1e3),
    CONF_KEY("amplitude", CONF_FRACTION, keys, arrival.amplitude, CONF_ABSENT,
             "diurnal: swing of the rate around its mean", .max = 1),
    CONF_KEY("peak", CONF_TIME, keys, arrival.peak_ns, CONF_ABSENT,
             "diurnal: when in the period the rate is highest; default 14h",
             .max = TIME_MAX_S),
    CONF_KEY("period", CONF_TIME, keys, arrival.period_ns, CONF_ABSENT,
             "diurnal: default 24h", .min = TIME_MIN_S, .max = TIME_MAX_S),
    CONF_KEY("burst", CONF_NODE, keys, burst, CONF_ABSENT,
             "bursty: the two states"),
    CONF_KEY("times", CONF_NODE, keys, times, CONF_ABSENT,
             "fixed: list of times, ascending"),
    CONF_KEY("every", CONF_TIME, keys, arrival.every_ns, CONF_ABSENT,
             "fixed: one arrival at 0s and one after each such time",
             .min = TIME_MIN_S, .max = TIME_MAX_S),
    CONF_KEY("rates", CONF_NODE, keys, rates, CONF_ABSENT,
             "series: the rate over time, {file: load.csv, unit: /s}"),
};
const struct conf_schema arrival_schema =
    CONF_SCHEMA("workload.arrival", "when jobs arrive", arrival_fields);

static const struct conf_field burst_fields[] = {
    CONF_KEY("high", CONF_REAL, arrival, high, CONF_REQUIRED,
             "rate in a burst, relative to `low`; both are scaled so that the "
             "mean is `rate`", .max = 1e9),
    CONF_KEY("low", CONF_REAL, arrival, low, CONF_REQUIRED,
             "rate between bursts, relative to `high`", .max = 1e9),
    CONF_KEY("stay_high", CONF_TIME, arrival, stay_high_ns, CONF_REQUIRED,
             "mean length of a burst (exponential)",
             .min = TIME_MIN_S, .max = TIME_MAX_S),
    CONF_KEY("stay_low", CONF_TIME, arrival, stay_low_ns, CONF_REQUIRED,
             "mean time between bursts (exponential)",
             .min = TIME_MIN_S, .max = TIME_MAX_S),
};
const struct conf_schema arrival_burst_schema =
    CONF_SCHEMA("workload.arrival.burst",
                "two states of a bursty process (MMPP)", burst_fields);

/* Keys beside `process` that a process needs and may have. */
static const struct {
    const char *needs[3], *may[3];
} process_keys[ARRIVAL_PROCESS_COUNT] = {
    [ARRIVAL_POISSON] = {{"rate"}, {NULL}},
    [ARRIVAL_BURSTY] = {{"rate", "burst"}, {NULL}},
    [ARRIVAL_GAMMA] = {{"rate", "cv"}, {NULL}},
    [ARRIVAL_DIURNAL] = {{"rate", "amplitude"}, {"peak", "period"}},
    [ARRIVAL_FIXED] = {{NULL}, {"times", "every"}},
    [ARRIVAL_ALL_AT_ONCE] = {{NULL}, {NULL}},
    [ARRIVAL_SERIES] = {{"rates"}, {NULL}},
};

/* Is the key one of up to three names? */
static bool is_among(const char *key, const char *const names[3])
{
    for (size_t i = 0; i < 3 && names[i] != NULL; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

/* Adds names to a list with commas; returns its length. */
static int list_names(char *out, size_t room, int used, const char *const names[3])
{
    for (size_t i = 0; i < 3 && names[i] != NULL; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%s", used > 0 ? ", " : "",
                         names[i]);
    assert(used >= 0 && (size_t)used < room);
    return used;
}

/* Says which keys a process has beside `process`.  Returns false. */
static bool refuse_key(struct err *err, struct err_pos pos, const char *key, int process)
{
    char has[128] = "";
    int used = list_names(has, sizeof has, 0, process_keys[process].needs);

    used = list_names(has, sizeof has, used, process_keys[process].may);
    err_set(err, ERR_SCHEMA, pos, "%s has no meaning for process %s", key,
            process_names[process]);
    return used > 0 ? err_hint(err, "Process %s has: %s.", process_names[process], has)
                    : err_hint(err, "Process %s has no other keys.", process_names[process]);
}

/* Every key has a meaning in the process, and no needed key is missing. */
static bool check_keys(const struct conf_node *conf, int process,
                       struct err *err)
{
    const char *name = process_names[process];

    for (size_t i = 0; i < conf_count(conf); i++) {
        const char *key = conf_key(conf, i);

        if (strcmp(key, "process") != 0 &&
            !is_among(key, process_keys[process].needs) &&
            !is_among(key, process_keys[process].may))
            return refuse_key(err, conf_key_pos(conf, i), key, process);
    }
    for (size_t i = 0; i < 3; i++) {
        const char *key = process_keys[process].needs[i];

        if (key != NULL && conf_get(conf, key) == NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(conf),
                           "%s is missing: process %s needs it", key, name);
    }
    if (process == ARRIVAL_FIXED && (conf_get(conf, "times") == NULL) ==
                                        (conf_get(conf, "every") == NULL))
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "process fixed takes either times or every");
    return true;
}

/* A list of times that does not go down; equal ones arrive together. */
static bool read_times(struct arena *arena, const struct conf_node *list,
                       struct arrival *out, struct err *err)
{
    const struct conf_field field = {
        .key = "times", .type = CONF_TIME, .max = TIME_MAX_S};
    size_t count = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
    int64_t *time;

    if (count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "times must be a list of times, such as [0s, 10s]");
    time = arena_alloc(arena, count, sizeof *time);
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);

        if (!conf_read(item, &field, &time[i], err))
            return false;
        if (i > 0 && time[i] < time[i - 1])
            return err_set(err, ERR_RANGE, conf_pos(item),
                           "times must ascend, found %s after %s",
                           conf_text(item),
                           conf_text(conf_item(list, i - 1)));
    }
    out->time_ns = time;
    out->time_count = count;
    return true;
}

/* A measured rate, by which something arrives.  Its mean over a round, or over the
 * points, stands for the rate. */
static bool read_rates(struct arena *arena, const struct conf_node *conf,
                       struct arrival *out, struct err *err)
{
    const struct time_series *rates = time_series_read(arena, conf, "/s", err);
    double top = 0.0, area, last;
    int64_t end_ns;

    if (rates == NULL)
        return false;
    for (uint32_t i = 0; i < rates->count; i++)
        top = fmax(top, rates->value[i]);
    if (top <= 0.0)
        return err_set(err, ERR_RANGE, conf_pos(conf),
                       "rates are 0 everywhere: nothing arrives");
    end_ns = rates->repeat_ns > 0 ? rates->repeat_ns
                                  : rates->time_ns[rates->count - 1];
    area = end_ns > 0 ? time_series_area(rates, 0, end_ns) : 0.0;
    last = rates->hold ? rates->value[rates->count - 1] : 0.0;
    if (area <= 0.0 && last <= 0.0) {
        err_set(err, ERR_RANGE, conf_pos(conf),
                "nothing arrives: rates are 0 from the begin of the run to "
                "their last point, behind which there are none");
        return err_hint(err, "With `repeat: 24h` they begin anew, with `after: hold` "
                             "the last one stays.");
    }
    out->rates = rates;
    out->peak_per_s = top;
    out->rate_per_s = area > 0.0 ? area / clock_s_from_ns(end_ns) : last;
    return true;
}

bool arrival_read(struct arena *arena, const struct conf_node *conf,
                  struct arrival *out, struct err *err)
{
    struct keys keys = {0};

    assert(conf != NULL && out != NULL);
    keys.arrival.peak_ns = 14 * 3600 * CLOCK_NS_PER_S;
    keys.arrival.period_ns = 24 * 3600 * CLOCK_NS_PER_S;
    if (!conf_fill(conf, &arrival_schema, &keys, err) ||
        !check_keys(conf, keys.arrival.process, err))
        return false;
    if (keys.burst != NULL) {
        if (!conf_fill(keys.burst, &arrival_burst_schema, &keys.arrival,
                       err))
            return false;
        if (keys.arrival.high <= keys.arrival.low)
            return err_set(err, ERR_RANGE, conf_pos(keys.burst),
                           "high must be above low, found %g and %g",
                           keys.arrival.high, keys.arrival.low);
    }
    if (keys.times != NULL &&
        !read_times(arena, keys.times, &keys.arrival, err))
        return false;
    if (keys.rates != NULL &&
        !read_rates(arena, keys.rates, &keys.arrival, err))
        return false;
    *out = keys.arrival;
    return true;
}

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

/* Walks from state to state until the unit exponential is used up. */
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

/* Candidates come at the highest rate; each is kept with the probability rate
 * / highest. */
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

int64_t arrival_end_ns(const struct arrival *arrival)
{
    const struct time_series *rates = arrival->rates;

    if (arrival->time_count > 0)
        return clock_after(arrival->time_ns[arrival->time_count - 1], 1);
    return rates == NULL || rates->repeat_ns > 0 || rates->hold
               ? CLOCK_NEVER_NS : rates->time_ns[rates->count - 1];
}

/* Walks from rate to rate until the unit exponential is used up. */
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

/* Given times, or multiples of a period from 0 on. */
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

/* Once it returned CLOCK_NEVER_NS it does so for ever. */
int64_t arrival_next(struct arrival_clock *clock)
{
    const struct arrival *a = clock->arrival;
    int64_t next = CLOCK_NEVER_NS;
    double square = a->cv * a->cv;

    if (clock->now_ns == CLOCK_NEVER_NS)
        return CLOCK_NEVER_NS;
    switch ((enum arrival_process)a->process) {
    case ARRIVAL_POISSON:
        next = add_seconds(clock->now_ns,
                           rng_exponential(&clock->gaps, 1.0) / a->rate_per_s);
        break;
    case ARRIVAL_GAMMA:
        next = add_seconds(clock->now_ns,
                           rng_gamma(&clock->gaps, 1.0 / square, square) /
                               a->rate_per_s);
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

/* A whole number around a mean, of that variance. */
static uint64_t draw_normal_count(struct rng *rng, double mean, double variance)
{
    double n = round(mean + sqrt(variance) * rng_normal(rng, 0.0, 1.0));

    return n > 0.0 ? (uint64_t)n : 0;
}

/* Counts unit exponentials up to the mean; above 100 a normal count. */
static uint64_t draw_poisson(struct rng *rng, double mean)
{
    uint64_t n = 0;

    if (mean > 100.0)
        return draw_normal_count(rng, mean, mean);
    for (double sum = rng_exponential(rng, 1.0); sum < mean;
         sum += rng_exponential(rng, 1.0))
        n++;
    return n;
}

/* The integral of the rate of a day. */
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

/* The integral of the rate of a bursty process, through its states. */
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

/* The integral of a measured rate, as long as there is one. */
static double integrate_series(const struct arrival *a, int64_t from_ns,
                               int64_t until_ns)
{
    int64_t end_ns = arrival_end_ns(a);

    if (until_ns > end_ns)
        until_ns = end_ns;
    return from_ns < until_ns ? time_series_area(a->rates, from_ns, until_ns)
                              : 0.0;
}

/* Draws how many arrive by then, without drawing each: for the aggregate of
 * services.  Gamma gaps are counted by the normal law of a renewal process. */
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
        n = draw_normal_count(&clock->gaps, a->rate_per_s * span_s,
                              a->rate_per_s * span_s * a->cv * a->cv);
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
