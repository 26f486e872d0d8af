/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rented.c - the keys of rented nodes, and what a rental is billed.
 */
#include "models/cluster/rented.h"

#include <assert.h>
#include <stddef.h>

#include "models/cluster/time_series.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define DAY_S 86400.0

struct rented_keys {
    int64_t min, start_ns, keep_ns, wait_ns, least_ns, notice_ns, mtbf_ns;
    int scale, billing, on_notice;
    const struct conf_node *available;
};

static const char *const scale_choices[] = { "queue", "always", NULL };
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
             "can be had, up to count; min, wait and keep then say nothing",
             .choices = scale_choices),
    CONF_KEY("wait", CONF_TIME, rented_keys, wait_ns, "0s",
             "an ask waits so long until nodes are ordered for it",
             .max = 100 * DAY_S),
    CONF_KEY("keep", CONF_TIME, rented_keys, keep_ns, "10min",
             "a node without a lease is given back after so long (assumption: "
             "the default of Kubernetes' cluster autoscaler)",
             .max = 100 * DAY_S),
    CONF_KEY("billing", CONF_CHOICE, rented_keys, billing, "second",
             "each rental is billed in whole seconds, minutes or hours",
             .choices = billing_choices),
    CONF_KEY("least", CONF_TIME, rented_keys, least_ns, "60s",
             "and for so long at least (AWS and GCP: a minute)", .max = DAY_S),
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

static bool rented_acts(const struct conf_node *conf,
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

bool rented_read(struct arena *arena, const struct conf_node *conf,
                 uint32_t count, struct rent_spec *spec, struct err *err)
{
    struct rented_keys keys = { 0 };

    assert(conf != NULL && spec != NULL);
    if (!conf_fill(conf, &rented_schema, &keys, err))
        return false;
    if (!rented_acts(conf, &keys, err))
        return false;
    if (keys.min > (int64_t)count)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "min")),
                       "min must be at most the %u nodes of the group, found "
                       "%lld", count, (long long)keys.min);
    *spec = (struct rent_spec) {
        .nodes_min = (uint32_t)keys.min,
        .scale = keys.scale == 1 ? RENT_ALWAYS : RENT_QUEUE,
        .start_ns = keys.start_ns, .keep_ns = keys.keep_ns,
        .wait_ns = keys.wait_ns, .least_ns = keys.least_ns,
        .unit_ns = billing_s[keys.billing] * CLOCK_NS_PER_S,
        .notice_ns = keys.notice_ns,
        .on_notice = keys.on_notice == 1 ? RENT_SAVE : RENT_WORK,
        .reclaim_mtbf_ns = keys.mtbf_ns,
    };
    if (keys.available == NULL)
        return true;
    spec->available = time_series_read(arena, keys.available, "nodes", err);
    return spec->available != NULL;
}

int64_t rented_billed_ns(const struct rent_spec *spec, int64_t rented_ns)
{
    assert(spec != NULL && rented_ns >= 0 && spec->unit_ns > 0);
    if (rented_ns < spec->least_ns)
        rented_ns = spec->least_ns;
    return clock_tick_from(rented_ns, spec->unit_ns);
}
