/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_keys.c - the key tables of `train:`, and its reading.
 */
#include "experiments/train/train_keys.h"

#include <stddef.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

static const struct conf_field train_field[] = {
    CONF_KEY("policy", CONF_TEXT, train_keys, policy_name, "learned",
             "which of `policies:` learns"),
    CONF_KEY("objective", CONF_TEXT, train_keys, objective_name, CONF_REQUIRED,
             "metric to make better"),
    CONF_KEY("population", CONF_INT, train_keys, population, "24",
             "weight vectors in a generation", .min = 2, .max = 100000),
    CONF_KEY("elite", CONF_INT, train_keys, elite, "6",
             "how many of them the next generation is drawn around",
             .min = 1, .max = 100000),
    CONF_KEY("generations", CONF_INT, train_keys, generations, "12", "how many",
             .min = 1, .max = 100000),
    CONF_KEY("spread", CONF_REAL, train_keys, spread, "1",
             "standard deviation of the first draw", .min = 1e-6, .max = 1e6),
    CONF_KEY("spread_min", CONF_REAL, train_keys, spread_min, "0.05",
             "it never falls below this", .max = 1e6),
    CONF_KEY("seeds", CONF_NODE, train_keys, seeds_node, CONF_ABSENT,
             "{from, count} of the seeds trained on; 1000 and 4 if not given"),
    CONF_KEY("held_out", CONF_NODE, train_keys, held_out_node, CONF_ABSENT,
             "{from, count} of the seeds judged on; 0 and 20 if not given"),
    CONF_KEY("weights", CONF_NODE, train_keys, weights, CONF_ABSENT,
             "map of initial weights"),
    CONF_KEY("features", CONF_NODE, train_keys, features, CONF_ABSENT,
             "list of weights that start at 0; its order says nothing"),
};
const struct conf_schema train_schema =
    CONF_SCHEMA("experiment.train", "how weights are learned", train_field);

static const struct conf_field seeds_field[] = {
    CONF_KEY("from", CONF_INT, train_seeds, from, CONF_REQUIRED, "first seed",
             .max = 4e9),
    CONF_KEY("count", CONF_INT, train_seeds, count, CONF_REQUIRED,
             "how many from there on", .min = 1, .max = 1e6),
};
const struct conf_schema train_seeds_schema =
    CONF_SCHEMA("experiment.train.seeds", "a range of seeds", seeds_field);

static bool read_seeds(const struct conf_node *node, struct train_seeds *seeds,
                       struct err *err)
{
    return node == NULL || conf_fill(node, &train_seeds_schema, seeds, err);
}

static bool seeds_overlap(const struct train_seeds *a,
                          const struct train_seeds *b)
{
    return a->from < b->from + b->count && b->from < a->from + a->count;
}

static bool read_keys(const struct experiment *experiment, struct train_keys *keys,
                      struct err *err)
{
    const struct conf_node *node = experiment->train;
    struct err_pos pos = { experiment->path, 0, 0 };

    if (node == NULL) {
        err_set(err, ERR_SCHEMA, pos, "the experiment has no key train");
        return err_hint(err, "`clustersim explain train` shows its keys.");
    }
    *keys = (struct train_keys){ .seeds = { 1000, 4 }, .held_out = { 0, 20 } };
    if (!conf_fill(node, &train_schema, keys, err) ||
        !read_seeds(keys->seeds_node, &keys->seeds, err) ||
        !read_seeds(keys->held_out_node, &keys->held_out, err))
        return false;
    if (keys->elite >= keys->population)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "elite must be smaller than population");
    if (seeds_overlap(&keys->seeds, &keys->held_out))
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "seeds and held_out must not overlap");
    return true;
}

static bool find_objective(const struct experiment *experiment, struct train_keys *keys,
                           struct err *err)
{
    const struct metric_set *metrics = experiment_metrics(experiment);

    keys->objective = metric_find(metrics, keys->objective_name);
    return (keys->objective != metric_count(metrics) &&
            metric_info(metrics, keys->objective)->better != 0) ||
           err_set(err, ERR_REFERENCE,
                   conf_pos(conf_get(experiment->train, "objective")),
                   "objective must be a metric that can be better or worse, "
                   "and is '%.60s'", keys->objective_name);
}

/* Whatever it learned would change nothing. */
static bool has_weights(const struct experiment *experiment, const struct train_keys *keys,
                        struct err *err)
{
    const struct cs_policy *table = experiment->point[0].policy[keys->policy]->policy;

    if (table->flags & CS_ASKS_WEIGHTS)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(experiment->train),
            "policy %.60s asks for no weights, so there is nothing to learn",
            keys->policy_name);
    return err_hint(err, "Of the built-in policies `learned` does; one of your own calls "
                         "cs_weight().");
}

static bool find_policy(const struct experiment *experiment, struct train_keys *keys,
                        struct err *err)
{
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        if (strcmp(experiment->policy_name[p], keys->policy_name) == 0) {
            keys->policy = p;
            return has_weights(experiment, keys, err);
        }
    return err_set(err, ERR_REFERENCE, conf_pos(experiment->train),
                   "policy '%.60s' is not among the policies of the "
                   "experiment", keys->policy_name);
}

static void add_weight(struct train_keys *keys, const char *name, double value)
{
    size_t i = keys->weight_count++;

    /* By name: draws must not hang on the order of the list. */
    for (; i > 0 && strcmp(name, keys->weight_name[i - 1]) < 0; i--) {
        keys->weight_name[i] = keys->weight_name[i - 1];
        keys->weight[i] = keys->weight[i - 1];
    }
    keys->weight_name[i] = name;
    keys->weight[i] = value;
}

static bool map_weights(struct train_keys *keys, struct err *err)
{
    const struct conf_node *map = keys->weights;

    for (size_t i = 0; map != NULL && i < conf_count(map); i++) {
        const struct conf_field field = { .key = conf_key(map, i),
                                          .type = CONF_REAL };
        double value;

        if (!conf_read(conf_value(map, i), &field, &value, err))
            return false;
        add_weight(keys, conf_key(map, i), value);
    }
    return true;
}

static bool list_features(struct train_keys *keys, struct err *err)
{
    const struct conf_node *list = keys->features;

    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        if (conf_kind(conf_item(list, i)) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, conf_pos(conf_item(list, i)),
                           "a feature must be a name");
        add_weight(keys, conf_text(conf_item(list, i)), 0);
    }
    return true;
}

/* Initial weights: of `train:`, or those the policy has in `policies:`. */
static bool read_weights(struct arena *arena, const struct experiment *experiment,
                         struct train_keys *keys, struct err *err)
{
    const struct host_policy *policy = experiment->point[0].policy[keys->policy];
    const struct conf_node *map = keys->weights, *list = keys->features;
    size_t room = policy->weight_count;

    if (map != NULL && conf_kind(map) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "weights must be a map from name to number");
    if (list != NULL && conf_kind(list) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "features must be a list of names");
    room += map != NULL ? conf_count(map) : 0;
    room += list != NULL ? conf_count(list) : 0;
    keys->weight_name = arena_alloc(arena, room + 1,
                                    sizeof *keys->weight_name);
    keys->weight = arena_alloc(arena, room + 1, sizeof *keys->weight);
    if (!map_weights(keys, err) || !list_features(keys, err))
        return false;
    if (map == NULL && list == NULL)
        for (uint32_t i = 0; i < policy->weight_count; i++)
            add_weight(keys, policy->weight[i].key, policy->weight[i].value);
    return keys->weight_count > 0 ||
           err_set(err, ERR_SCHEMA, conf_pos(experiment->train),
                   "there is nothing to learn: give weights or features");
}

/* Seeds that are copies would judge on what was trained on. */
static bool seeds_differ(const struct experiment *experiment,
                         const struct train_keys *keys, struct err *err)
{
    for (uint32_t t = 0; t < experiment->point_count; t++)
        if (experiment_draws(experiment, t, keys->policy))
            return true;
    err_set(err, ERR_RANGE, conf_pos(experiment->train), "held_out must differ "
            "from what is trained on, and nothing is drawn here: all seeds "
            "are alike");
    return err_hint(err, "Of a trace, `resample: {block: 1d}` draws other "
                         "days for each seed.");
}

bool train_keys_read(struct arena *arena, const struct experiment *experiment,
                     struct train_keys *keys, struct err *err)
{
    return read_keys(experiment, keys, err) && find_objective(experiment, keys, err) &&
           find_policy(experiment, keys, err) && seeds_differ(experiment, keys, err) &&
           read_weights(arena, experiment, keys, err);
}

bool train_check(struct arena *arena, const struct experiment *experiment,
                 struct err *err)
{
    struct train_keys keys;

    return experiment->train == NULL || train_keys_read(arena, experiment, &keys, err);
}
