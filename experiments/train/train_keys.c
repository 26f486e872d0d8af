/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_keys.c - the key tables of `train:`, and its reading.
 */
#include "experiments/train/train_keys.h"

#include <stddef.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/runner/race.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/point_label.h"
#include "experiments/train/train.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/weights.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

static const char *const method_names[] = { "cross_entropy", "evolution", NULL };

static const struct conf_field train_field[] = {
    CONF_KEY("policy", CONF_TEXT, train_keys, policy_name, "learned",
             "which of `policies:` learns"),
    CONF_KEY("objective", CONF_TEXT, train_keys, objective_name, CONF_REQUIRED,
             "metric to make better"),
    CONF_KEY("method", CONF_CHOICE, train_keys, method, "cross_entropy",
             "how: around an elite, weight by weight, or by evolution strategies, "
             "along the mean of mirrored pairs, by rank",
             .choices = method_names),
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
    CONF_KEY("rate", CONF_REAL, train_keys, rate, "1",
             "evolution: length of a step along the mean of all pairs",
             .min = 1e-6, .max = 1e6),
    CONF_KEY("cells", CONF_INT, train_keys, cells, "0",
             "points and seeds that a generation is tried on, drawn anew for each; "
             "0: all of them", .max = 100000),
    CONF_KEY("race", CONF_BOOL, train_keys, race, "false",
             "cross_entropy: all vectors of a generation are tried on two cells, the better "
             "half on two more, half of these on four more, and so on, but never fewer than "
             "elite"),
    CONF_KEY("validation", CONF_NODE, train_keys, validation_node, CONF_ABSENT,
             "points that are not trained on, and seeds: what decides when to "
             "stop and which weights are kept"),
    CONF_KEY("against", CONF_NODE, train_keys, against_node, CONF_ABSENT,
             "list of policies that the learned weights are set against at the end"),
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

static const struct conf_field validation_field[] = {
    CONF_KEY("points", CONF_NODE, train_validation, points_node, CONF_ABSENT,
             "list of words of labels: points that have one of them are not "
             "trained on; all points if not given"),
    CONF_KEY("seeds", CONF_NODE, train_validation, seeds_node, CONF_REQUIRED,
             "{from, count}"),
    CONF_KEY("every", CONF_INT, train_validation, every, "5",
             "generations between two validations", .min = 1, .max = 1e6),
    CONF_KEY("patience", CONF_INT, train_validation, patience, "4",
             "validations in a row without a better one that end the training",
             .min = 1, .max = 1e6),
};
const struct conf_schema train_validation_schema =
    CONF_SCHEMA("experiment.train.validation", "what the best weights are chosen by",
                validation_field);

/* Without the key the seeds stay as they were. */
static bool read_seeds(const struct conf_node *node, struct train_seeds *seeds,
                       struct err *err)
{
    return node == NULL || conf_fill(node, &train_seeds_schema, seeds, err);
}

/* Do two ranges share a seed?  Then a judgement would see what was trained on.  Ranges are
 * from `from` to before `from + count`. */
static bool seeds_overlap(const struct train_seeds *a,
                          const struct train_seeds *b)
{
    return a->from < b->from + b->count && b->from < a->from + a->count;
}

/* Which points are validated on, and not trained on. */
static bool hold_points(struct arena *arena, const struct experiment *experiment,
                        struct train_keys *keys, struct err *err)
{
    const struct conf_node *list = keys->validation.points_node;
    uint32_t held = 0;

    keys->is_held = arena_alloc(arena, experiment->point_count,
                                sizeof *keys->is_held);
    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);
        uint32_t before = held;

        if (conf_kind(item) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, conf_pos(item),
                           "a point must be words of its label");
        for (uint32_t p = 0; p < experiment->point_count; p++)
            if (point_label_has(experiment->point[p].label, conf_text(item))) {
                held += !keys->is_held[p];
                keys->is_held[p] = true;
            }
        if (held == before)
            return err_set(err, ERR_REFERENCE, conf_pos(item),
                           "no other point has '%.60s' in its label",
                           conf_text(item));
    }
    return held < experiment->point_count ||
           err_set(err, ERR_RANGE, conf_pos(list),
                   "no point is left to train on");
}

/* Reads `validation:`.  Its seeds must be others than those of training and of the last
 * test: a seed that chose the weights says nothing about how they do on new ones. */
static bool read_validation(struct arena *arena, const struct experiment *experiment,
                            struct train_keys *keys, struct err *err)
{
    const struct conf_node *node = keys->validation_node;
    struct train_validation *v = &keys->validation;

    if (node != NULL && (!conf_fill(node, &train_validation_schema, v, err) ||
                         !read_seeds(v->seeds_node, &v->seeds, err)))
        return false;
    if (node != NULL && v->points_node != NULL &&
        conf_kind(v->points_node) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(v->points_node),
                       "points must be a list");
    if (node != NULL && (seeds_overlap(&keys->seeds, &v->seeds) ||
                         seeds_overlap(&keys->held_out, &v->seeds)))
        return err_set(err, ERR_RANGE, conf_pos(node), "seeds of validation must "
                       "not overlap with those of training or held_out");
    if (node != NULL && v->every > keys->generations)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(node, "every") != NULL
                                                    ? conf_get(node, "every") : node),
                       "every must be at most generations, or nothing is validated: it is %d, "
                       "and generations %d", (int)v->every, (int)keys->generations);
    return hold_points(arena, experiment, keys, err);
}

/* Does a race have cells for a second round?  Else it would drop nothing.  RACE_FIRST_SEEDS
 * cells are run by all vectors in the first round. */
static bool check_race(const struct experiment *experiment, const struct train_keys *keys,
                       struct err *err)
{
    int64_t cells = 0;

    for (uint32_t p = 0; p < experiment->point_count; p++)
        cells += keys->is_held[p] ? 0 : keys->seeds.count;
    if (keys->cells > 0)
        cells = keys->cells;
    if (!keys->race || cells > RACE_FIRST_SEEDS)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(conf_get(experiment->train, "race")),
                   "race: the first round takes %u cells, and a generation has %d, so that "
                   "nothing can be saved", RACE_FIRST_SEEDS, (int)cells);
}

/* Reads the rivals: policies of the experiment, each once. */
static bool read_against(struct arena *arena, const struct experiment *experiment,
                         struct train_keys *keys, struct err *err)
{
    const struct conf_node *list = keys->against_node;

    keys->against = arena_alloc(arena, experiment->policy_count,
                                sizeof *keys->against);
    if (list != NULL && conf_kind(list) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(list), "against must be a list");
    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);
        uint32_t p = 0;

        while (p < experiment->policy_count &&
               (conf_kind(item) != CONF_SCALAR ||
                strcmp(experiment->policy_name[p], conf_text(item)) != 0))
            p++;
        if (p == experiment->policy_count || i >= experiment->policy_count)
            return err_set(err, ERR_REFERENCE, conf_pos(item), "against must name "
                           "policies of the experiment, each once");
        keys->against[keys->against_count++] = p;
    }
    return true;
}

/* Reads `train:` but for what needs the policies.  Defaults: 4 seeds from 1000 to
 * train on, and 20 from 0 to judge. */
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
    if (keys->method == TRAIN_CROSS_ENTROPY && keys->elite >= keys->population)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "elite must be smaller than population");
    if (keys->method == TRAIN_EVOLUTION && keys->population % 2 != 0)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "population must be even: vectors are drawn in pairs");
    if (keys->race && keys->method == TRAIN_EVOLUTION)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(node, "race")),
                       "race: evolution compares the two vectors of a pair, so that none can "
                       "drop out; race needs method: cross_entropy");
    if (seeds_overlap(&keys->seeds, &keys->held_out))
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "seeds and held_out must not overlap");
    return true;
}

/* Finds the metric that is made better.  One without a better side cannot be one. */
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

/* The built-in policies that ask for weights: "`learned`, `advised`". */
static const char *list_learners(struct arena *arena)
{
    const struct cs_policy *table;
    const char *list = "";

    for (size_t i = 0; (table = registry_at(i)) != NULL; i++)
        if (table->flags & CS_ASKS_WEIGHTS)
            list = text_format(arena, "%s%s`%s`", list, list[0] == '\0' ? "" : ", ",
                               table->name);
    return list;
}

/* Does the policy read weights?  Whatever another one learned would change nothing.  False:
 * err is set. */
static bool has_weights(struct arena *arena, const struct experiment *experiment,
                        const struct train_keys *keys, struct err *err)
{
    const struct cs_policy *table = experiment->point[0].policy[keys->policy]->policy;

    if (table->flags & CS_ASKS_WEIGHTS)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(experiment->train),
            "policy %.60s asks for no weights, so there is nothing to learn",
            keys->policy_name);
    return err_hint(err, "Of the built-in policies these do: %s. One of your own calls "
                         "cs_weight().", list_learners(arena));
}

/* Finds the policy that learns, which must be one of the experiment and take
 * weights. */
static bool find_policy(struct arena *arena, const struct experiment *experiment,
                        struct train_keys *keys, struct err *err)
{
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        if (strcmp(experiment->policy_name[p], keys->policy_name) == 0) {
            keys->policy = p;
            return has_weights(arena, experiment, keys, err);
        }
    return err_set(err, ERR_REFERENCE, conf_pos(experiment->train),
                   "policy '%.60s' is not among the policies of the "
                   "experiment", keys->policy_name);
}

/* A group of weights.  By key: draws must not hang on the order of the list. */
static void add_group(struct train_keys *keys, const char *key, uint32_t count,
                      bool list)
{
    size_t i = keys->group_count++;

    for (; i > 0 && strcmp(key, keys->group[i - 1].key) < 0; i--)
        keys->group[i] = keys->group[i - 1];
    keys->group[i] = (struct train_group) { .key = key, .count = count,
                                            .list = list };
    keys->weight_count += count;
}

/* The weights of a group, to be filled in once all groups are known.  The key must be one of
 * them. */
static double *weights_of(struct train_keys *keys, const char *key)
{
    uint32_t g = 0;

    while (strcmp(keys->group[g].key, key) != 0)
        g++;
    return keys->weight + keys->group[g].first;
}

/* Gives each key its place in the vector of weights: in the order of the keys,
 * without gaps.  For example, keys a, b and c with 1, 3 and 1 weights begin at 0, 1 and 4. */
static void place_groups(struct arena *arena, struct train_keys *keys)
{
    uint32_t first = 0;

    keys->weight = arena_alloc(arena, keys->weight_count + 1,
                               sizeof *keys->weight);
    for (uint32_t g = 0; g < keys->group_count; g++) {
        keys->group[g].first = first;
        first += keys->group[g].count;
    }
}

/* Adds a key, if it is one of the policy that learns, and is not there yet: a file with a key
 * twice could not be read. */
static bool add_key(struct arena *arena, struct train_keys *keys,
                    const struct cs_policy *table, const char *key,
                    struct err_pos pos, struct err *err)
{
    if (!weights_know(arena, table, key, pos, err))
        return false;
    for (uint32_t g = 0; g < keys->group_count; g++)
        if (strcmp(keys->group[g].key, key) == 0)
            return err_set(err, ERR_SCHEMA, pos, "'%.60s' is given twice", key);
    add_group(keys, key, 1, false);
    return true;
}

/* Lists the keys of the vector: those of `weights:` and of `features:`. */
static bool list_keys(struct arena *arena, struct train_keys *keys,
                      const struct cs_policy *table, struct err *err)
{
    const struct conf_node *map = keys->weights, *list = keys->features;

    for (size_t i = 0; map != NULL && i < conf_count(map); i++)
        if (!add_key(arena, keys, table, conf_key(map, i), conf_key_pos(map, i), err))
            return false;
    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        if (conf_kind(item) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, conf_pos(item), "a feature must be a name");
        if (!add_key(arena, keys, table, conf_text(item), conf_pos(item), err))
            return false;
    }
    return true;
}

/* Fills the vector with the weights that were written. */
static bool map_weights(struct train_keys *keys, struct err *err)
{
    const struct conf_node *map = keys->weights;

    for (size_t i = 0; map != NULL && i < conf_count(map); i++) {
        const struct conf_field field = { .key = conf_key(map, i),
                                          .type = CONF_REAL };

        if (!conf_read(conf_value(map, i), &field,
                       weights_of(keys, field.key), err))
            return false;
    }
    return true;
}

/* Sets the lists of weights that the policy declares: as its entry has them; a list that it lacks
 * is drawn. */
static void take_lists(struct arena *arena, const struct experiment *experiment,
                       struct train_keys *keys)
{
    const struct host_policy *policy = experiment->point[0].policy[keys->policy];
    const struct cs_policy *table = policy->policy;
    struct rng rng;

    for (uint32_t i = 0; i < table->weights_count; i++)
        add_group(keys, table->weights[i].key, table->weights[i].count, true);
    place_groups(arena, keys);
    rng_init(&rng, experiment->seed, "train", UINT32_MAX);
    for (uint32_t i = 0; i < table->weights_count; i++) {
        double *weight = weights_of(keys, table->weights[i].key);

        for (uint32_t k = 0; k < table->weights[i].count; k++)
            weight[k] = table->weights[i].spread > 0
                      ? rng_normal(&rng, 0, table->weights[i].spread) : 0;
    }
    for (uint32_t i = 0; i < policy->weight_count; i++)
        memcpy(weights_of(keys, policy->weight[i].key), policy->weight[i].list,
               policy->weight[i].count * sizeof(double));
}

/* Does it learn lists of its own, and not numbers by key? */
static bool learns_lists(const struct cs_policy *table)
{
    return table->weights_count > 0 && table->weights[0].count > 0;
}

/* Initial weights: of `train:`, or those the policy has in `policies:`. */
static bool read_weights(struct arena *arena, const struct experiment *experiment,
                         struct train_keys *keys, struct err *err)
{
    const struct host_policy *policy = experiment->point[0].policy[keys->policy];
    const struct conf_node *map = keys->weights, *list = keys->features;
    bool lists = learns_lists(policy->policy);
    size_t room = policy->weight_count + policy->policy->weights_count;

    if (map != NULL && conf_kind(map) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "weights must be a map from name to number");
    if (list != NULL && conf_kind(list) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "features must be a list of names");
    if (lists && (map != NULL || list != NULL))
        return err_set(err, ERR_SCHEMA, conf_pos(map != NULL ? map : list),
                       "policy %.60s says itself which weights it has",
                       policy->policy->name);
    room += map != NULL ? conf_count(map) : 0;
    room += list != NULL ? conf_count(list) : 0;
    keys->group = arena_alloc(arena, room + 1, sizeof *keys->group);
    if (lists) {
        take_lists(arena, experiment, keys);
        return true;
    }
    if (!list_keys(arena, keys, policy->policy, err))
        return false;
    if (map == NULL && list == NULL)
        for (uint32_t i = 0; i < policy->weight_count; i++)
            add_group(keys, policy->weight[i].key, 1, false);
    place_groups(arena, keys);
    if (map == NULL && list == NULL)
        for (uint32_t i = 0; i < policy->weight_count; i++)
            *weights_of(keys, policy->weight[i].key) = policy->weight[i].value;
    if (!map_weights(keys, err))
        return false;
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
           find_policy(arena, experiment, keys, err) && seeds_differ(experiment, keys, err) &&
           read_validation(arena, experiment, keys, err) &&
           check_race(experiment, keys, err) &&
           read_against(arena, experiment, keys, err) &&
           read_weights(arena, experiment, keys, err);
}

bool train_check(struct arena *arena, const struct experiment *experiment,
                 struct err *err)
{
    struct train_keys keys;

    return experiment->train == NULL || train_keys_read(arena, experiment, &keys, err);
}
