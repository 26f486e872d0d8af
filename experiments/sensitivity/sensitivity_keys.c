/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity_keys.c - the key tables of `sensitivity:`, and their reading.
 *
 * Two forms: a claim of `expect:`, with a verdict, or a metric of a policy,
 * without one.  The second is read as an expectation that always holds (limits
 * at infinity), so that all that follows knows one form.
 */
#include "experiments/sensitivity/sensitivity_keys.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/sensitivity/claim.h"
#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/sensitivity.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/stats/indices.h"

static const struct conf_field sensitivity_field[] = {
    CONF_KEY("claim", CONF_TEXT, sensitivity_keys, claim, CONF_ABSENT,
             "name of a claim of `expect:`; each expectation of that name is judged"),
    CONF_KEY("metric", CONF_TEXT, sensitivity_keys, metric, CONF_ABSENT,
             "without a claim: a column of summary.csv, for which there is no verdict"),
    CONF_KEY("policy", CONF_TEXT, sensitivity_keys, policy, CONF_ABSENT,
             "of the metric"),
    CONF_KEY("vs", CONF_TEXT, sensitivity_keys, versus, CONF_ABSENT,
             "policy that the metric is compared with, in percent"),
    CONF_KEY("point", CONF_TEXT, sensitivity_keys, point, CONF_ABSENT,
             "KEY=VALUE of the points, several with blanks; without it, all that the "
             "claim speaks of"),
    CONF_KEY("inputs", CONF_NODE, sensitivity_keys, inputs_node, CONF_REQUIRED,
             "map from a dotted key to its range, {from, to}, or to a list of words; "
             "tables have them in this order where nothing ranks them"),
    CONF_KEY("trajectories", CONF_INT, sensitivity_keys, trajectories, "8",
             "of elementary effects (Morris): each runs one set of inputs and one more "
             "for each input", .min = 2, .max = 1000),
    CONF_KEY("sobol", CONF_NODE, sensitivity_keys, sobol_node, CONF_ABSENT,
             "{inputs, samples}: indices of the inputs with the largest effects; 3 and "
             "64 if not given"),
    CONF_KEY("within", CONF_FRACTION, sensitivity_keys, within, "10%",
             "of the range of an input: how near the value is told at which it alone "
             "turns the verdict", .min = 0.0001, .max = 0.5),
    CONF_KEY("points", CONF_INT, sensitivity_keys, points, "3",
             "values of each input alone, between the ends, at which the verdict is "
             "judged", .min = 0, .max = 30),
};
const struct conf_schema sensitivity_schema =
    CONF_SCHEMA("experiment.sensitivity", "which inputs a verdict turns on",
                sensitivity_field);

static const struct conf_field sobol_field[] = {
    CONF_KEY("inputs", CONF_INT, sobol_keys, inputs, "3",
             "how many, by their effects; 0: none", .min = 0,
             .max = INDICES_INPUTS_MAX),
    CONF_KEY("samples", CONF_INT, sobol_keys, samples, "64",
             "rows of the quasi-random sequence; each runs two sets of inputs and one "
             "more for each input", .min = 8, .max = 65536),
};
const struct conf_schema sobol_schema =
    CONF_SCHEMA("experiment.sensitivity.sobol", "Sobol's indices", sobol_field);

/* False, with err, if the key names no policy of the experiment. */
static bool check_policy(const struct experiment *experiment,
                         const struct conf_node *map, const char *key, struct err *err)
{
    const struct conf_node *node = conf_get(map, key);
    const char *near;

    if (node == NULL)
        return true;
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        if (strcmp(experiment->policy_name[p], conf_text(node)) == 0)
            return true;
    near = conf_nearest(conf_text(node), experiment->policy_name);
    err_set(err, ERR_REFERENCE, conf_pos(node), "%s names '%.60s', which is not among "
            "the policies of the experiment", key, conf_text(node));
    return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
}

/* Makes the rows of a metric: an expectation that always holds, for its value, at
 * every point. */
static bool make_metric_rows(struct arena *arena, const struct experiment *experiment,
                             struct sensitivity_keys *keys, struct err *err)
{
    const struct conf_node *map = experiment->sensitivity;
    struct experiment_expect *e = arena_alloc(arena, 1, sizeof *e);
    struct judge_row *row = arena_alloc(arena, experiment->point_count, sizeof *row);

    if (keys->metric == NULL || keys->policy == NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(map), "a sensitivity needs a claim, or a "
                "metric and a policy");
        return err_hint(err, "Write claim: NAME, of an item of `expect:`.");
    }
    *e = (struct experiment_expect){
        .policy = keys->policy,
        .versus = keys->versus, .low = -INFINITY, .high = INFINITY,
        .percent = keys->versus != NULL, .confidence = 0.95
    };
    if (!experiment_metric(experiment, conf_get(map, "metric"), &e->metric, err))
        return false;
    if (!check_policy(experiment, map, "policy", err) ||
        !check_policy(experiment, map, "vs", err))
        return false;
    for (uint32_t p = 0; p < experiment->point_count; p++)
        row[p] = (struct judge_row){
            e, experiment->point[p].label,
            metric_info(experiment_metrics(experiment), e->metric)->name,
            experiment->point_count == 1 ? "" : experiment->point[p].label
        };
    keys->row = row;
    keys->row_count = experiment->point_count;
    return true;
}

/* Finds the rows of a claim; the keys of the other form must not stand beside it. */
static bool find_claim_rows(struct arena *arena, const struct experiment *experiment,
                            struct sensitivity_keys *keys, struct err *err)
{
    const struct conf_node *map = experiment->sensitivity;

    if (keys->metric != NULL || keys->policy != NULL || keys->versus != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(map), "a sensitivity has either a "
                       "claim, or a metric and a policy");
    if (!claim_check(arena, experiment, keys->claim, conf_get(map, "claim"), err))
        return false;
    keys->row = judge_rows(arena, experiment, keys->claim, NULL, &keys->row_count);
    return true;
}

/* Drops rows at points that are not asked for; at least one must be left. */
static bool keep_points(struct arena *arena, const struct experiment *experiment,
                        struct sensitivity_keys *keys, struct err *err)
{
    struct judge_row *kept = arena_alloc(arena, keys->row_count + 1, sizeof *kept);
    size_t count = 0;

    for (size_t r = 0; r < keys->row_count; r++)
        if (keys->point == NULL || point_label_has(keys->row[r].point, keys->point))
            kept[count++] = keys->row[r];
    keys->row = kept;
    keys->row_count = count;
    if (count > 0)
        return true;
    err_set(err, ERR_REFERENCE, conf_pos(experiment->sensitivity), "point '%.80s' is no "
            "point at which something is judged", keys->point == NULL ? "" : keys->point);
    return err_hint(err, "The first point is '%.100s'.", experiment->point[0].label);
}

bool sensitivity_keys_read(struct arena *arena, const struct experiment *experiment,
                           struct sensitivity_keys *keys, struct err *err)
{
    const struct conf_node *map = experiment->sensitivity;
    struct err_pos pos = { experiment->path, 0, 0 };

    if (map == NULL) {
        err_set(err, ERR_SCHEMA, pos, "the experiment has no key sensitivity");
        return err_hint(err, "`clustersim explain sensitivity` shows its keys.");
    }
    *keys = (struct sensitivity_keys){ .sobol = { 3, 64 } };
    if (!conf_fill(map, &sensitivity_schema, keys, err) ||
        (keys->sobol_node != NULL &&
         !conf_fill(keys->sobol_node, &sobol_schema, &keys->sobol, err)))
        return false;
    keys->input = inputs_read(arena, keys->inputs_node, &keys->input_count, err);
    return keys->input != NULL &&
           (keys->claim != NULL ? find_claim_rows(arena, experiment, keys, err)
                                : make_metric_rows(arena, experiment, keys, err)) &&
           keep_points(arena, experiment, keys, err);
}

bool sensitivity_check(struct arena *arena, const struct experiment *experiment,
                       struct err *err)
{
    struct sensitivity_keys keys;

    return experiment->sensitivity == NULL ||
           sensitivity_keys_read(arena, experiment, &keys, err);
}
