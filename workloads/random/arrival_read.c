/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival_read.c - reads `arrival:`: its keys, and which of them a process has.
 */
#include "workloads/random/arrival_read.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/time_series.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/random/arrival.h"

/* The keys as the table fills them. */
struct keys {
    struct arrival arrival;     /* what the table fills in place */
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

/* Reads a list of times in ascending order; equal ones arrive together. */
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

/* Reads a measured rate.  Its mean stands for rate_per_s: over one round if it
 * repeats, else over its points; if that is 0, the last rate, which holds.  A
 * rate that is 0 everywhere is an error. */
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

/* Defaults that other processes do not use stay in the struct: the peak at
 * 14:00 and the period of a day. */
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
