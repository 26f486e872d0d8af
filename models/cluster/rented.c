/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rented.c - the keys of rented nodes, and what a rental is billed.
 *
 * Ordering and returning nodes is the host's (policies/nodes/rental.c).  Here the
 * file is read and checked: a key that could have no effect beside the others is
 * refused.
 */
#include "models/cluster/rented.h"

#include <assert.h>
#include <stddef.h>

#include "models/cluster/time_series.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define DAY_S 86400.0
#define SLOTS_MAX 100000        /* slots of a season: bounds the memory */

/* The keys of `rented:` as they are written; times in ns. */
struct rented_keys {
    int64_t min, start_ns, keep_ns, wait_ns, least_ns, notice_ns, mtbf_ns;
    int64_t spare, slot_ns, season_ns;
    double level_weight, season_weight, ready;
    int scale, billing, on_notice;
    const struct conf_node *available;
};

static const char *const scale_choices[] = { "queue", "always", "forecast", NULL };
static const char *const notice_choices[] = { "work", "save", NULL };
static const char *const billing_choices[] = { "second", "minute", "hour",
                                               NULL };
static const int64_t billing_s[] = { 1, 60, 3600 };

static const struct conf_field rented_fields[] = {
    CONF_KEY("start", CONF_TIME, rented_keys, start_ns, CONF_REQUIRED,
             "from order to use; paid for", .max = DAY_S),
    CONF_KEY("min", CONF_INT, rented_keys, min, "0",
             "nodes that are rented all the time", .max = 1e6),
    CONF_KEY("scale", CONF_CHOICE, rented_keys, scale, "queue",
             "queue: nodes are ordered for asks that wait; always: as many as "
             "can be had, up to count; forecast: as queue, and ahead of the jobs "
             "that are forecast to come "
             "(Holt-Winters, additive, no trend; from past arrivals alone)",
             .choices = scale_choices),
    CONF_KEY("spare", CONF_INT, rented_keys, spare, "0",
             "of scale: queue: nodes that start or are idle beyond what waits",
             .max = 1e6),
    CONF_KEY("slot", CONF_TIME, rented_keys, slot_ns, "1h",
             "of scale: forecast: arrivals are counted by slots of this length",
             .min = 60, .max = 100 * DAY_S),
    CONF_KEY("season", CONF_TIME, rented_keys, season_ns, "24h",
             "of scale: forecast: after this time demand is alike again; 0s: the "
             "level alone is followed", .max = 1000 * DAY_S),
    CONF_KEY("level_weight", CONF_FRACTION, rented_keys, level_weight, "5%",
             "of scale: forecast: weight of the last slot in the level "
             "(assumption)", .max = 1),
    CONF_KEY("season_weight", CONF_FRACTION, rented_keys, season_weight, "20%",
             "of scale: forecast: weight of the last season in the season "
             "(assumption)", .max = 1),
    CONF_KEY("ready", CONF_FRACTION, rented_keys, ready, "90%",
             "of scale: forecast: probability that the nodes ahead suffice for "
             "the jobs that come while a node starts (assumption)", .max = 0.9999),
    CONF_KEY("wait", CONF_TIME, rented_keys, wait_ns, "0s",
             "how long an ask waits before nodes are ordered for it",
             .max = 100 * DAY_S),
    CONF_KEY("keep", CONF_TIME, rented_keys, keep_ns, "10min",
             "time without a lease after which a node is given back, 1s at least (assumption: "
             "the default of Kubernetes' cluster autoscaler)",
             .max = 100 * DAY_S),
    CONF_KEY("billing", CONF_CHOICE, rented_keys, billing, "second",
             "each rental is billed in whole seconds, minutes or hours",
             .choices = billing_choices),
    CONF_KEY("least", CONF_TIME, rented_keys, least_ns, "60s",
             "least time that each rental is billed for (AWS and GCP: a minute)", .max = DAY_S),
    CONF_KEY("reclaim", CONF_TIME, rented_keys, mtbf_ns, CONF_ABSENT,
             "spot: mean time until a rented node is taken away",
             .min = 1, .max = 1e10),
    CONF_KEY("available", CONF_NODE, rented_keys, available, CONF_ABSENT,
             "nodes that can be had, over time; those beyond are taken away"),
    CONF_KEY("notice", CONF_TIME, rented_keys, notice_ns, "2min",
             "warning before a node is taken away (AWS: 2min; Azure and GCP: "
             "30s)", .max = DAY_S),
    CONF_KEY("on_notice", CONF_CHOICE, rented_keys, on_notice, "work",
             "what jobs do then: work on until the end and lose what is not "
             "saved, or save at once", .choices = notice_choices),
};
const struct conf_schema rented_schema =
    CONF_SCHEMA("cluster.nodes[].rent",
                "nodes that are rented when they are needed", rented_fields);

/* A notice is given only where nodes are taken away. */
static bool check_notice(const struct conf_node *conf,
                         const struct rented_keys *keys, struct err *err)
{
    assert(keys != NULL && err != NULL);
    bool kept = keys->mtbf_ns == 0 && keys->available == NULL;

    return conf_acts(conf, "notice", kept,
                     "needs nodes that are taken away, by reclaim or "
                     "available", err) &&
           conf_acts(conf, "on_notice", kept,
                     "needs nodes that are taken away, by reclaim or "
                     "available", err);
}

/* False: a key of another `scale` is written. */
static bool check_scale(const struct conf_node *conf,
                        const struct rented_keys *keys, struct err *err)
{
    static const char *const forecast[] = { "slot", "season", "level_weight",
                                            "season_weight", "ready" };

    assert(conf != NULL && keys != NULL);
    for (size_t i = 0; i < sizeof forecast / sizeof *forecast; i++)
        if (!conf_acts(conf, forecast[i], keys->scale != RENT_FORECAST,
                       "needs `scale: forecast`", err))
            return false;
    return conf_acts(conf, "spare", keys->scale != RENT_QUEUE,
                     "needs `scale: queue`", err) &&
           conf_acts(conf, "season_weight", keys->season_ns == 0,
                     "needs a `season`", err);
}

/* Reads how demand is forecast.  A season must be a whole number of slots.  False: *err is
 * set. */
static bool read_forecast(const struct conf_node *conf,
                          const struct rented_keys *keys,
                          struct rent_forecast *out, struct err *err)
{
    int64_t slots = keys->season_ns / keys->slot_ns;
    const struct conf_node *at = conf_get(conf, "season");

    if (keys->scale != RENT_FORECAST)
        return true;
    if (at == NULL)
        at = conf_get(conf, "slot");
    if (keys->season_ns % keys->slot_ns != 0 || slots > SLOTS_MAX)
        return err_set(err, ERR_RANGE, conf_pos(at),
                       "season must be a whole number of slots, at most %d, "
                       "found %.9g s of %.9g s", SLOTS_MAX,
                       clock_s_from_ns(keys->season_ns),
                       clock_s_from_ns(keys->slot_ns));
    *out = (struct rent_forecast) {
        .slot_ns = keys->slot_ns, .slots = (uint32_t)slots,
        .level_weight = keys->level_weight,
        .season_weight = keys->season_weight, .ready = keys->ready,
    };
    return true;
}

/* Nodes that are rented by no queue are not ordered for an ask, and none is given back. */
static bool check_always(const struct conf_node *conf, const struct rented_keys *keys,
                         struct err *err)
{
    static const char needs[] = "needs `scale: queue` or `scale: forecast`";
    bool always = keys->scale == RENT_ALWAYS;

    assert(conf != NULL && keys != NULL);
    return conf_acts(conf, "min", always, needs, err) &&
           conf_acts(conf, "wait", always, needs, err) &&
           conf_acts(conf, "keep", always, needs, err);
}

/* Refuses keys of coming and going where all nodes are rented all the time, and a `spare` of
 * more nodes than come and go. */
static bool check_elastic(const struct conf_node *conf,
                          const struct rented_keys *keys, uint32_t count,
                          struct err *err)
{
    int64_t rest = (int64_t)count - keys->min;

    assert(conf != NULL && keys != NULL && rest >= 0);
    if (keys->spare > rest)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "spare")),
                       "spare must be at most the %lld nodes of the group beyond "
                       "min, found %lld", (long long)rest, (long long)keys->spare);
    return conf_acts(conf, "scale", rest == 0,
                     "needs `min` below the nodes of the group", err);
}

bool rented_read(struct arena *arena, const struct conf_node *conf,
                 uint32_t count, struct rent_spec *spec, struct err *err)
{
    struct rented_keys keys = { 0 };

    assert(conf != NULL && spec != NULL);
    if (!conf_fill(conf, &rented_schema, &keys, err))
        return false;
    if (!check_notice(conf, &keys, err) || !check_scale(conf, &keys, err) ||
        !check_always(conf, &keys, err))
        return false;
    if (keys.min > (int64_t)count)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "min")),
                       "min must be at most the %u nodes of the group, found "
                       "%lld", count, (long long)keys.min);
    if (!check_elastic(conf, &keys, count, err))
        return false;
    *spec = (struct rent_spec) {
        .nodes_min = (uint32_t)keys.min,
        .scale = (enum rent_scale)keys.scale, .spare = (uint32_t)keys.spare,
        .start_ns = keys.start_ns, .keep_ns = keys.keep_ns,
        .wait_ns = keys.wait_ns, .least_ns = keys.least_ns,
        .unit_ns = billing_s[keys.billing] * CLOCK_NS_PER_S,
        .notice_ns = keys.notice_ns,
        .on_notice = keys.on_notice == 1 ? RENT_SAVE : RENT_WORK,
        .reclaim_mtbf_ns = keys.mtbf_ns,
    };
    if (!read_forecast(conf, &keys, &spec->forecast, err))
        return false;
    if (keys.available == NULL)
        return true;
    spec->available = time_series_read(arena, keys.available, "nodes", err);
    return spec->available != NULL;
}

/* At least `least`, then up to the next whole unit. */
int64_t rented_billed_ns(const struct rent_spec *spec, int64_t rented_ns)
{
    assert(spec != NULL && rented_ns >= 0 && spec->unit_ns > 0);
    if (rented_ns < spec->least_ns)
        rented_ns = spec->least_ns;
    return clock_tick_from(rented_ns, spec->unit_ns);
}
