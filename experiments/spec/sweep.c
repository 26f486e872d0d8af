/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.c - points by their number, and their labels.
 *
 * A product counts its points like digits: the last key changes fastest.  A
 * sample has a design u[point x keys] of numbers in [0, 1), mapped to values by
 * inputs.c; it is drawn from the experiment's seed, so that it is the same each
 * time.
 *
 * An example: keys a: [1, 2] and b: [x, y, z] make six points; point 4 (from 0) is a=2 b=y: 4 = 1
 * x 3 + 1.
 */
#include "experiments/spec/sweep.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "experiments/spec/inputs.h"
#include "experiments/spec/tree.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "sim/stats/sample.h"
#include "sim/text/paths.h"

#define POINTS_MAX 100000u

/* Returns "arrival.rate" for "workload.arrival.rate", unless another swept key
 * would then be called likewise: then the whole key. */
const char *sweep_label(const struct conf_node *sweep, size_t which)
{
    const char *key = conf_key(sweep, which), *dot = strchr(key, '.');

    for (size_t i = 0; i < conf_count(sweep); i++) {
        const char *other = strchr(conf_key(sweep, i), '.');

        if (dot != NULL && i != which && other != NULL &&
            strcmp(other, dot) == 0)
            return key;
    }
    return dot == NULL ? key : dot + 1;
}

/* Returns the text of a value in a label: a scalar itself, a map its `name`, else
 * its number in the list. */
static const char *value_label(struct arena *arena,
                               const struct conf_node *value, size_t index)
{
    const struct conf_node *name;

    if (conf_kind(value) == CONF_SCALAR)
        return conf_text(value);
    name = conf_kind(value) == CONF_MAP ? conf_get(value, "name") : NULL;
    if (name != NULL && conf_kind(name) == CONF_SCALAR)
        return conf_text(name);
    return text_format(arena, "#%zu", index + 1);
}

/* Counts the points of a product, and stops early where there are too many. */
static bool open_product(const struct conf_node *keys, uint32_t *count,
                         struct err *err)
{
    uint64_t points = 1;

    for (size_t i = 0; i < conf_count(keys); i++) {
        const char *key = conf_key(keys, i);
        const struct conf_node *list = conf_value(keys, i);

        if (!experiment_key_check(key, "a swept key", conf_key_pos(keys, i), err))
            return false;
        if (conf_kind(list) != CONF_LIST || conf_count(list) == 0)
            return err_set(err, ERR_SCHEMA, conf_pos(list),
                           "%.80s must be swept over a list of at least one "
                           "value", key);
        points *= conf_count(list);
        if (points > POINTS_MAX)
            return err_set(err, ERR_RANGE, conf_pos(keys),
                           "the sweep must have at most %u points, and has "
                           "at least %llu", POINTS_MAX,
                           (unsigned long long)points);
    }
    *count = (uint32_t)points;
    return true;
}

/* ---- samples ---- */

/* The keys of `sweep: {sample: ...}`. */
struct sweep_keys {
    int how;                    /* number in the list of samplings */
    int64_t points;             /* how many */
    const struct conf_node *keys;   /* a map: key, and its range or words */
};

enum { SAMPLE_SOBOL, SAMPLE_LATIN };
static const char *const sample_choices[] = { "sobol", "latin", NULL };

static const struct conf_field sweep_field[] = {
    CONF_KEY("sample", CONF_CHOICE, sweep_keys, how, CONF_REQUIRED,
             "points spread over the ranges of all keys together: Sobol's sequence, or "
             "a Latin hypercube", .choices = sample_choices),
    CONF_KEY("points", CONF_INT, sweep_keys, points, CONF_REQUIRED, "how many",
             .min = 1, .max = POINTS_MAX),
    CONF_KEY("keys", CONF_NODE, sweep_keys, keys, CONF_REQUIRED,
             "map from a dotted key to its range, {from, to}, or to a list of words; "
             "labels have them in this order"),
};

const struct conf_schema sweep_schema =
    CONF_SCHEMA("experiment.sweep", "a sample of points instead of their product",
                sweep_field);

/* Draws all points of a sample at once.  The seed decides a Latin hypercube; Sobol's
 * sequence is the same for every seed. */
static bool open_sample(struct arena *arena, const struct conf_node *node,
                        uint64_t seed, struct sweep *sweep, struct err *err)
{
    struct sweep_keys keys = { 0 };
    struct rng rng;
    double *u;

    if (!conf_fill(node, &sweep_schema, &keys, err))
        return false;
    sweep->input = inputs_read(arena, keys.keys, &sweep->input_count, err);
    if (sweep->input == NULL)
        return false;
    if (sweep->input_count > SAMPLE_DIMENSIONS_MAX)
        return err_set(err, ERR_RANGE, conf_pos(keys.keys), "a sample must have at most "
                       "%u keys, and has %u", SAMPLE_DIMENSIONS_MAX,
                       sweep->input_count);
    sweep->keys = keys.keys;
    sweep->count = (uint32_t)keys.points;
    u = arena_alloc(arena, (size_t)sweep->count * sweep->input_count, sizeof *u);
    rng_init(&rng, seed, "sweep", 0);
    if (keys.how == SAMPLE_SOBOL)
        sample_sobol(u, sweep->count, sweep->input_count);
    else
        sample_latin(&rng, u, sweep->count, sweep->input_count);
    sweep->u = u;
    return true;
}

bool sweep_open(struct arena *arena, const struct conf_node *root,
                const struct conf_node *node, uint64_t seed, struct sweep *sweep,
                struct err *err)
{
    *sweep = (struct sweep){ .root = root, .keys = node, .count = 1 };
    if (node == NULL)
        return true;
    if (conf_kind(node) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "sweep must be a map from a key to a list of values");
    if (conf_get(node, "sample") != NULL)
        return open_sample(arena, node, seed, sweep, err);
    return open_product(node, &sweep->count, err);
}

/* Returns the number of the first swept key from `from` on that replaces all that `key`
 * sets, or the number of swept keys. */
static size_t find_replacing(struct experiment_inputs *inputs, const struct sweep *sweep,
                             const char *key, size_t from)
{
    size_t count = sweep->keys == NULL ? 0 : conf_count(sweep->keys);

    while (from < count &&
           !tree_replaces(inputs, sweep->root, conf_key(sweep->keys, from), key))
        from++;
    return from;
}

bool sweep_check(struct experiment_inputs *inputs, const struct sweep *sweep,
                 const char *const *set, size_t set_count, struct err *err)
{
    const struct conf_node *keys = sweep->keys;
    size_t count = keys == NULL ? 0 : conf_count(keys);

    for (size_t i = 0; i < count; i++) {
        size_t by = find_replacing(inputs, sweep, conf_key(keys, i), i + 1);

        if (by < count)
            return err_set(err, ERR_SCHEMA, conf_key_pos(keys, i), "'%.80s' is without "
                           "effect: '%.80s' comes later and replaces it",
                           conf_key(keys, i), conf_key(keys, by));
    }
    for (size_t i = 0; i < set_count; i++) {
        const char *key = text_format(inputs->arena, "%.*s", (int)strcspn(set[i], "="),
                                      set[i]);
        size_t by = find_replacing(inputs, sweep, key, 0);

        if (by == count)
            continue;
        err_set(err, ERR_SCHEMA, conf_key_pos(keys, by), "--set %.80s is without effect: "
                "the sweep sets '%.80s'", key, conf_key(keys, by));
        return err_hint(err, "Leave it out, or set the sweep: "
                             "--set 'sweep={%.80s: [A, B]}'.", key);
    }
    return true;
}

/* ---- points ---- */

/* Returns the value of a key at a point; *which: its number in the list. */
static const struct conf_node *find_value(struct arena *arena, const struct sweep *sweep,
                                          uint32_t index, size_t key, size_t *which)
{
    const struct conf_node *value = conf_value(sweep->keys, key);
    uint32_t below = 1;

    *which = 0;
    if (sweep->input != NULL) {
        double u = sweep->u[(size_t)index * sweep->input_count + key];

        return conf_scalar_at(arena, value, input_draw(arena, &sweep->input[key], &u));
    }
    for (size_t i = key + 1; i < conf_count(sweep->keys); i++)
        below *= (uint32_t)conf_count(conf_value(sweep->keys, i));
    *which = index / below % conf_count(value);
    return conf_item(value, *which);
}

const struct conf_node *sweep_tree(struct experiment_inputs *inputs,
                                   const struct sweep *sweep, uint32_t index,
                                   const char **label, struct err *err)
{
    const struct conf_node *tree = sweep->root, *keys = sweep->keys;

    assert(index < sweep->count);
    *label = NULL;
    for (size_t i = 0; keys != NULL && i < conf_count(keys); i++) {
        const struct conf_node *value;
        const char *word;
        size_t which;

        value = find_value(inputs->arena, sweep, index, i, &which);
        tree = tree_set(inputs, tree, conf_key(keys, i), value, NULL, err);
        if (tree == NULL)
            return NULL;
        word = text_format(inputs->arena, "%s=%s", sweep_label(keys, i),
                           value_label(inputs->arena, value, which));
        *label = *label == NULL
                     ? word
                     : text_format(inputs->arena, "%s %s", *label, word);
    }
    if (*label == NULL)
        *label = "base";
    return tree_graft(inputs, tree, err);
}
