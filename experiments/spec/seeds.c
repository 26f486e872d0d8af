/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seeds.c - `seeds:`, a number of seeds or what they are to suffice for.
 */
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/keys.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/scan.h"

#define SEEDS_MOST 1000000

/* The keys of `seeds: {until: ...}`. */
struct seeds_keys {
    const char *until;          /* "±2%", "decided" */
    int64_t at_most;            /* seeds, even if `until` does not hold */
    const struct conf_node *of; /* a metric, or a list of them; NULL: the usual ones */
};

static const struct conf_field seeds_field[] = {
    CONF_KEY("until", CONF_TEXT, seeds_keys, until, CONF_REQUIRED,
             "\u00b12%: every difference to the baseline is known to that part of "
             "the baseline's mean; decided: no expectation is undecided"),
    CONF_KEY("at_most", CONF_INT, seeds_keys, at_most, CONF_REQUIRED,
             "seeds after which the run ends all the same",
             .min = 2, .max = SEEDS_MOST),
    CONF_KEY("of", CONF_NODE, seeds_keys, of, CONF_ABSENT,
             "list of the metrics that must be known to that width; those of "
             "expect if not given, or jct_mean_s and cost_usd"),
};

const struct conf_schema experiment_seeds_schema =
    CONF_SCHEMA("experiment.seeds", "how many seeds, by what they show",
                seeds_field);

/* Reads "±2%", "+-2%" or "2%" as 2. */
static bool read_width(const struct conf_node *node, double *percent,
                       struct err *err)
{
    const char *text = conf_text(node);
    size_t sign = strncmp(text, "\u00b1", 2) == 0 ||
                  strncmp(text, "+-", 2) == 0 ? 2 : 0;
    size_t bytes = strlen(text + sign);

    if (bytes < 2 || text[sign + bytes - 1] != '%' ||
        !scan_f64(text + sign, bytes - 1, percent)) {
        err_set(err, ERR_SCHEMA, conf_pos(node), "until of seeds must be a "
                "width such as \u00b12%%, or decided, found '%.40s'", text);
        return err_hint(err, "The key until of the experiment itself says how "
                        "long a trial runs.");
    }
    if (*percent > 0 && *percent < 100)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(node), "until of seeds must be "
                   "above 0%% and below 100%%, found '%.40s'", text);
}

/* Adds a metric once. */
static void add_metric(struct experiment_stop *stop, enum metric *list,
                       enum metric metric)
{
    for (uint32_t i = 0; i < stop->metric_count; i++)
        if (list[i] == metric)
            return;
    list[stop->metric_count++] = metric;
}

/* Fills the metrics that must be known to that width: those of `of`, or of the
 * expectations, or the two that every run has. */
static bool read_metrics(struct arena *arena, const struct conf_node *of,
                         struct experiment *experiment, struct err *err)
{
    struct experiment_stop *stop = &experiment->stop;
    enum metric *list = arena_alloc(arena, METRIC_ROOM, sizeof *list), metric;

    stop->metric = list;
    if (of != NULL && (conf_kind(of) != CONF_LIST || conf_count(of) == 0))
        return err_set(err, ERR_SCHEMA, conf_pos(of),
                       "of must be a list of metrics");
    for (size_t i = 0; of != NULL && i < conf_count(of); i++) {
        if (!experiment_metric(experiment, conf_item(of, i), &metric, err))
            return false;
        add_metric(stop, list, metric);
    }
    for (uint32_t i = 0; of == NULL && i < experiment->expect_count; i++)
        add_metric(stop, list, experiment->expect[i].metric);
    if (stop->metric_count > 0)
        return true;
    add_metric(stop, list, METRIC_JCT_MEAN);
    add_metric(stop, list, METRIC_COST);
    return true;
}

bool experiment_seeds(const struct conf_node *node,
                      struct experiment *experiment, struct err *err)
{
    static const struct conf_field number = {
        .key = "seeds", .type = CONF_INT, .min = 1, .max = SEEDS_MOST
    };
    struct experiment_stop *stop = &experiment->stop;
    struct seeds_keys keys = { 0 };
    int64_t seeds = 1;

    if (node != NULL && conf_kind(node) == CONF_MAP) {
        if (!conf_fill(node, &experiment_seeds_schema, &keys, err))
            return false;
        seeds = keys.at_most;
        stop->at_most = (uint32_t)seeds;
        stop->text = keys.until;
        stop->rule = strcmp(keys.until, "decided") == 0 ? LOOKS_DECIDED
                                                        : LOOKS_WIDTH;
        if (stop->rule == LOOKS_WIDTH &&
            !read_width(conf_get(node, "until"), &stop->percent, err))
            return false;
    } else if (node != NULL && !conf_read(node, &number, &seeds, err)) {
        return false;
    }
    experiment->seeds = (uint32_t)seeds;
    return true;
}

/* --seeds N takes the place of the whole rule, at_most included, since the user
 * has chosen a number. */
bool experiment_stop_read(struct arena *arena, const struct conf_node *node, bool chosen,
                          struct experiment *experiment, struct err *err)
{
    const struct experiment_stop none = { .rule = LOOKS_NONE };
    struct experiment_stop *stop = &experiment->stop;
    bool decided = stop->rule == LOOKS_DECIDED;

    if (stop->rule == LOOKS_NONE)
        return true;
    if (decided && experiment->expect_count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(node, "until")),
                       "until of seeds is decided, which needs `expect:`");
    if (!conf_acts(node, "of", decided, "needs a width in `until`", err))
        return false;
    if (!decided && !read_metrics(arena, conf_get(node, "of"), experiment, err))
        return false;
    if (chosen)
        *stop = none;
    return true;
}
