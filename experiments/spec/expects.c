/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expects.c - reads what is expected of a metric: `expect:`, and the conditions of
 * `keep:`.
 */
#include "experiments/spec/expects.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* The keys of an expectation, and of a condition, which has fewer. */
struct expect_keys {
    const char *claim, *metric, *policy, *versus, *versus_point, *point;
    const struct conf_node *at_most, *at_least, *between;   /* limits; NULL: not given */
    double confidence;          /* 0 to 1 */
};

static const struct conf_field expect_field[] = {
    CONF_KEY("claim", CONF_TEXT, expect_keys, claim, CONF_ABSENT,
             "name of the claim, for the verdict"),
    CONF_KEY("metric", CONF_TEXT, expect_keys, metric, CONF_REQUIRED,
             "a column of summary.csv"),
    CONF_KEY("policy", CONF_TEXT, expect_keys, policy, CONF_REQUIRED,
             "policy that is judged"),
    CONF_KEY("vs", CONF_TEXT, expect_keys, versus, CONF_ABSENT,
             "policy it is compared with, seed by seed"),
    CONF_KEY("vs_point", CONF_TEXT, expect_keys, versus_point, CONF_ABSENT,
             "KEY=VALUE: compared with the point of that value, all else "
             "alike"),
    CONF_KEY("point", CONF_TEXT, expect_keys, point, CONF_ABSENT,
             "KEY=VALUE of the points judged, several with blanks; without it, "
             "all"),
    CONF_KEY("at_most", CONF_NODE, expect_keys, at_most, CONF_ABSENT,
             "upper limit; with vs or vs_point, -10% means of the other's "
             "mean"),
    CONF_KEY("at_least", CONF_NODE, expect_keys, at_least, CONF_ABSENT,
             "lower limit"),
    CONF_KEY("between", CONF_NODE, expect_keys, between, CONF_ABSENT,
             "[lower, upper]"),
    CONF_KEY("confidence", CONF_FRACTION, expect_keys, confidence, "0.95",
             "of the interval that must lie inside the limits",
             .min = 0.5, .max = 0.9999),
};

const struct conf_schema experiment_expect_schema =
    CONF_SCHEMA("experiment.expect[]",
                "what is expected of the results", expect_field);

static const struct conf_field keep_field[] = {
    CONF_KEY("metric", CONF_TEXT, expect_keys, metric, CONF_REQUIRED,
             "a column of summary.csv"),
    CONF_KEY("at_most", CONF_NODE, expect_keys, at_most, CONF_ABSENT, "upper limit"),
    CONF_KEY("at_least", CONF_NODE, expect_keys, at_least, CONF_ABSENT, "lower limit"),
    CONF_KEY("between", CONF_NODE, expect_keys, between, CONF_ABSENT, "[lower, upper]"),
};

const struct conf_schema experiment_keep_schema =
    CONF_SCHEMA("experiment.decide.keep[]",
                "a condition that an option must keep", keep_field);

/* ---- limits ---- */

/* False, with err, for a percentage of nothing, or a fraction that nothing can reach. */
static bool check_limit(const struct conf_node *node, const struct expect_limits_of *of,
                        bool percent, double limit, struct err *err)
{
    bool fraction = strcmp(of->unit, "fraction") == 0;

    if (percent && !of->compares && !fraction) {
        err_set(err, ERR_RANGE, conf_pos(node), "%s has no percentage without "
                "something to compare it with, found '%.40s'", of->name,
                conf_text(node));
        return err_hint(err, of->compare_with == NULL
                                 ? "Write a number: a condition is not compared with another "
                                   "option."
                                 : "Add %s, or write a number.", of->compare_with);
    }
    if (percent || !fraction || fabs(limit) <= 1 || of->above_one)
        return true;
    err_set(err, ERR_RANGE, conf_pos(node), "%s is a fraction from 0 to 1, "
            "found '%.40s'", of->name, conf_text(node));
    return err_hint(err, "A percentage has its mark: %.10g%%.", limit);
}

/* Reads a limit: a number in the unit, a time where the unit is seconds, or a
 * percentage, which sets *percent.  A percentage of a fraction that is not
 * compared becomes the fraction. */
static bool read_limit(const struct conf_node *node, const char *key,
                       const struct expect_limits_of *of, double *limit, bool *percent,
                       struct err *err)
{
    const struct conf_field as_number = {
        .key = key, .type = CONF_FRACTION
    }, as_time = { .key = key, .type = CONF_TIME };
    const char *text = conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
    size_t bytes = strlen(text);
    int64_t ns;

    *percent = bytes > 0 && text[bytes - 1] == '%';
    if (bytes > 0 && strchr("smhdwn", text[bytes - 1]) != NULL && strcmp(of->unit, "s") == 0) {
        if (text[0] == '-')
            return err_set(err, ERR_RANGE, conf_pos(node), "a time below 0 is a number of "
                           "seconds without a unit, such as -3600, found '%.40s'", text);
        if (!conf_read(node, &as_time, &ns, err))
            return false;
        *limit = clock_s_from_ns(ns);
        return true;
    }
    if (!conf_read(node, &as_number, limit, err) ||
        !check_limit(node, of, *percent, *limit, err))
        return false;
    *percent = *percent && of->compares;
    if (*percent)
        *limit *= 100;
    return true;
}

/* Reads `between: [low, high]`.  Both limits are numbers or both are
 * percentages. */
static bool read_between(const struct conf_node *node, const struct expect_limits_of *of,
                         struct experiment_expect *e, struct err *err)
{
    bool other;

    if (conf_kind(node) != CONF_LIST || conf_count(node) != 2)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "between must be a list of two: [lower, upper]");
    if (!read_limit(conf_item(node, 0), "between", of, &e->low, &e->percent, err) ||
        !read_limit(conf_item(node, 1), "between", of, &e->high, &other, err))
        return false;
    if (other != e->percent)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "between must have two percentages or two numbers");
    if (e->low > e->high)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "between has its lower limit above its upper one");
    return true;
}

/* The map must have exactly one of the three forms.  A side without a limit is
 * infinite. */
bool expect_limits_read(const struct conf_node *map, const struct expect_limits_of *of,
                        struct experiment_expect *e, struct err *err)
{
    const struct conf_node *at_most = conf_get(map, "at_most");
    const struct conf_node *at_least = conf_get(map, "at_least");
    const struct conf_node *between = conf_get(map, "between");
    int given = (at_most != NULL) + (at_least != NULL) + (between != NULL);

    e->low = -INFINITY;
    e->high = INFINITY;
    if (given != 1)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "%s needs one of at_most, at_least and between, and has %d",
                       of->compare_with == NULL ? "a condition" : "an expectation", given);
    if (at_most != NULL)
        return read_limit(at_most, "at_most", of, &e->high, &e->percent, err);
    if (at_least != NULL)
        return read_limit(at_least, "at_least", of, &e->low, &e->percent, err);
    return read_between(between, of, e, err);
}

/* Reads the limits of a metric.  The gaps to a bound are fractions that may be
 * above 1. */
static bool read_limits(const struct conf_node *map, const struct metric_set *metrics,
                        bool keeps, struct experiment_expect *e, struct err *err)
{
    const struct metric_info *info = metric_info(metrics, e->metric);
    const struct expect_limits_of of = {
        .name = info->name, .unit = info->unit, .compare_with = keeps ? NULL : "vs: POLICY",
        .compares = e->versus != NULL || e->versus_point != NULL,
        .above_one = e->metric == METRIC_GAP || e->metric == METRIC_MAKESPAN_GAP
    };

    return expect_limits_read(map, &of, e, err);
}

/* ---- expectations and conditions ---- */

bool experiment_metric(const struct experiment *experiment,
                       const struct conf_node *node, enum metric *metric,
                       struct err *err)
{
    const struct metric_set *metrics = experiment_metrics(experiment);
    unsigned count = metric_count(metrics);
    const struct conf_field field = { .key = "metric", .type = CONF_TEXT };
    const char *names[METRIC_ROOM + 1], *name, *near;

    if (!conf_read(node, &field, &name, err))
        return false;
    *metric = metric_find(metrics, name);
    if (*metric != count)
        return true;
    for (unsigned m = 0; m < count; m++)
        names[m] = metric_info(metrics, (enum metric)m)->name;
    names[count] = NULL;
    near = conf_nearest(name, names);
    err_set(err, ERR_REFERENCE, conf_pos(node), "there is no metric '%.60s'",
            name);
    if (near != NULL)
        return err_hint(err, "Did you mean %s?", near);
    return err_hint(err, "`clustersim list metrics` shows them all.");
}

/* Reads one entry of `expect:`.  What is not written of vs, point and vs_point has the
 * position of the entry, for messages. */
static bool read_expect(const struct experiment *experiment,
                        const struct conf_node *map, struct experiment_expect *e,
                        struct err *err)
{
    struct expect_keys keys = { 0 };

    if (!conf_fill(map, &experiment_expect_schema, &keys, err))
        return false;
    e->claim = keys.claim;
    e->policy = keys.policy;
    e->versus = keys.versus;
    e->versus_point = keys.versus_point;
    e->point = keys.point;
    e->confidence = keys.confidence;
    e->pos = conf_pos(map);
    e->policy_pos = conf_pos(conf_get(map, "policy"));
    e->versus_pos = keys.versus == NULL ? e->pos
                                        : conf_pos(conf_get(map, "vs"));
    e->point_pos = keys.point == NULL ? e->pos
                                      : conf_pos(conf_get(map, "point"));
    e->versus_point_pos = keys.versus_point == NULL
                              ? e->pos : conf_pos(conf_get(map, "vs_point"));
    return experiment_metric(experiment, conf_get(map, "metric"), &e->metric, err) &&
           read_limits(map, experiment_metrics(experiment), false, e, err);
}

bool experiment_expects(struct arena *arena, const struct conf_node *node,
                        struct experiment *experiment, struct err *err)
{
    struct experiment_expect *expect;

    if (node == NULL)
        return true;
    if (conf_kind(node) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(node), "expect must be a list");
    expect = arena_alloc(arena, conf_count(node) + 1, sizeof *expect);
    for (size_t i = 0; i < conf_count(node); i++) {
        if (!read_expect(experiment, conf_item(node, i), &expect[i], err))
            return false;
        /* A flag must not turn an interval into a value that holds alone. */
        expect[i].seeds_min = experiment->option.fewer_seeds ? 2 : 0;
    }
    experiment->expect = expect;
    experiment->expect_count = (uint32_t)conf_count(node);
    return true;
}

bool experiment_keep_read(const struct experiment *experiment, const struct conf_node *map,
                          struct experiment_keep *keep, struct err *err)
{
    struct expect_keys keys = { 0 };
    struct experiment_expect e = { 0 };

    if (!conf_fill(map, &experiment_keep_schema, &keys, err) ||
        !experiment_metric(experiment, conf_get(map, "metric"), &e.metric, err) ||
        !read_limits(map, experiment_metrics(experiment), true, &e, err))
        return false;
    *keep = (struct experiment_keep){ e.metric, e.low, e.high };
    return true;
}
