/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * space.c - the keys of `tune:`, and candidates drawn from them.
 *
 * Every dimension is one coordinate in [0, 1): a list of choices is cut into
 * equal parts, a range is mapped linearly or by its logarithm (quantity_at).
 * Candidates are all combinations where the budget allows, else the points of a
 * Sobol sequence, which fills the cube more evenly than random points (Sobol',
 * 1967).  The same experiment thus has the same candidates on every machine.
 *
 * Example: `over:` has policies.dlas.demotion as a list of two values and
 * policies.dlas.limit_1 as {from: 1h, to: 9h}.  As one of them is a range, candidates
 * are points of the sequence, and the point (0.5, 0.5) is the second value with 5 h.
 */
#include "experiments/tune/space.h"

#include <math.h>
#include <string.h>

#include "experiments/tune/tune.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/stats/sample.h"
#include "sim/text/paths.h"

/* More splits than any budget can race; pools in a split. */
#define SPLITS_MAX 10000u
#define POOLS_MAX 8u
#define RANGE_STEP 0.001        /* values of a range are rounded to a tenth of it */

/* The map `tune:` as it is read. */
struct tune_keys {
    const char *metric, *point; /* name; label, or NULL */
    int64_t seeds, judge, budget;
    const struct conf_node *over;   /* a map: key, and a list or a range */
};

static const struct conf_field tune_field[] = {
    CONF_KEY("metric", CONF_TEXT, tune_keys, metric, CONF_REQUIRED,
             "metric to make better, a column of summary.csv"),
    CONF_KEY("point", CONF_TEXT, tune_keys, point, CONF_ABSENT,
             "label of the point that is tuned for; without it, the mean over all "
             "points, each in parts of the untuned entry's value there"),
    CONF_KEY("seeds", CONF_INT, tune_keys, seeds, "8",
             "training seeds that the last candidates have, apart from those of the "
             "experiment", .min = 1, .max = 10000),
    CONF_KEY("judge", CONF_INT, tune_keys, judge, "12",
             "seeds that judge the best candidate against the untuned entry, apart "
             "from all others", .min = 2, .max = 10000),
    CONF_KEY("budget", CONF_INT, tune_keys, budget, "200",
             "trials on training seeds for each policy, the same for all",
             .min = 4, .max = 1e7),
    CONF_KEY("over", CONF_NODE, tune_keys, over, CONF_REQUIRED,
             "map of what may vary: a dotted key (policies.NAME. workload. cluster.) "
             "to a list of values or {from, to, log}; another word to a list of maps "
             "of such keys, or to {nodes, keep, least}: splits of nodes"),
};
const struct conf_schema tune_schema =
    CONF_SCHEMA("experiment.tune", "how policies are tuned", tune_field);

/* ---- splits of nodes ---------------------------------------------------- */

/* A split being made: weight of the nodes is kept, in nodes or in USD/h. */
struct split {
    struct arena *arena;
    const char *name[POOLS_MAX];
    double weight[POOLS_MAX];   /* of one node: 1, or its price */
    size_t pools;
    uint32_t least;             /* nodes of a pool at least */
    struct space_choice *choice;    /* the splits so far */
    size_t count, room;
};

/* Returns the group of nodes of that name; NULL: there is none. */
static const struct node_group *find_group(const struct cluster_spec *cluster,
                                           const char *name)
{
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].name != NULL &&
            strcmp(cluster->group[g].name, name) == 0)
            return &cluster->group[g];
    return NULL;
}

/* Gives nodes to `pool` and to those behind it, `rest` of weight left, and adds a
 * choice for each way.  The last pool gets what the others leave, as many whole
 * nodes as fit; 1e-9 forgives rounding of prices.  False: there are more than
 * SPLITS_MAX. */
static bool split_nodes(struct split *split, size_t pool, double rest, uint32_t *nodes)
{
    double most = floor(rest / split->weight[pool] + 1e-9);

    if (pool + 1 < split->pools) {
        for (nodes[pool] = split->least; nodes[pool] <= most; nodes[pool]++)
            if (!split_nodes(split, pool + 1, rest - nodes[pool] * split->weight[pool],
                             nodes))
                return false;
        return true;
    }
    if (most < split->least)
        return true;
    nodes[pool] = (uint32_t)most;
    struct experiment_setting *set =
        arena_alloc(split->arena, split->pools, sizeof *set);
    for (size_t i = 0; i < split->pools; i++)
        set[i] = (struct experiment_setting){
            text_format(split->arena, "cluster.nodes.%s.count", split->name[i]),
            text_format(split->arena, "%u", nodes[i])
        };
    ARENA_ADD(split->arena, split->choice, split->count, split->room,
              (struct space_choice){ set, split->pools });
    return split->count <= SPLITS_MAX;
}

/* The map of a dimension that splits nodes.  Example: {nodes: [a, b], keep:
 * count} of 3 a and 1 b gives (1, 3), (2, 2) and (3, 1). */
struct split_keys {
    const struct conf_node *nodes;
    int keep;                   /* number in keep_choices: nodes, or their price */
    int64_t least;
};

static const char *const keep_choices[] = { "count", "price", NULL };
static const struct conf_field split_field[] = {
    CONF_KEY("nodes", CONF_NODE, split_keys, nodes, CONF_REQUIRED,
             "list of names of `nodes`, of which the last gets what is left"),
    CONF_KEY("keep", CONF_CHOICE, split_keys, keep, "count",
             "what stays the same: nodes in all, or at most their price",
             .choices = keep_choices),
    CONF_KEY("least", CONF_INT, split_keys, least, "1", "nodes of each",
             .max = 1e6),
};
const struct conf_schema tune_split_schema =
    CONF_SCHEMA("experiment.tune.over.split", "splits of nodes", split_field);

/* Reads {nodes, keep, least} into choices.  Prices that follow a series are
 * refused: there is no one price to keep. */
static bool read_split(struct arena *arena, const struct experiment *experiment,
                       const struct conf_node *map, struct space_dimension *dimension,
                       struct err *err)
{
    struct split_keys keys = { 0 };
    struct split split = { .arena = arena };
    uint32_t nodes[POOLS_MAX];
    double all = 0;

    if (!conf_fill(map, &tune_split_schema, &keys, err))
        return false;
    if (conf_kind(keys.nodes) != CONF_LIST || conf_count(keys.nodes) < 2 ||
        conf_count(keys.nodes) > POOLS_MAX)
        return err_set(err, ERR_SCHEMA, conf_pos(keys.nodes),
                       "nodes must be a list of 2 to %u names", POOLS_MAX);
    split.pools = conf_count(keys.nodes);
    split.least = (uint32_t)keys.least;
    for (size_t i = 0; i < split.pools; i++) {
        const struct conf_node *item = conf_item(keys.nodes, i);
        const struct node_group *group = conf_kind(item) != CONF_SCALAR ? NULL
            : find_group(experiment->point[0].cluster, conf_text(item));

        if (group == NULL)
            return err_set(err, ERR_REFERENCE, conf_pos(item),
                           "there are no nodes '%.60s' in the cluster",
                           conf_kind(item) == CONF_SCALAR ? conf_text(item) : "");
        split.name[i] = group->name;
        split.weight[i] = keys.keep == 0 ? 1 : group->usd_per_h;
        if (!(split.weight[i] > 0))
            return err_set(err, ERR_RANGE, conf_pos(item), "keep: price needs a price "
                           "that does not change, and nodes '%.60s' have none",
                           group->name);
        all += split.weight[i] * group->node_count;
    }
    if (!split_nodes(&split, 0, all, nodes))
        return err_set(err, ERR_RANGE, conf_pos(map), "there must be at most %u splits",
                       SPLITS_MAX);
    dimension->choice = split.choice;
    dimension->choice_count = split.count;
    return true;
}

/* ---- other dimensions --------------------------------------------------- */

/* Is the name a dotted key of the experiment, or the free name of a bundle? */
static bool is_key(const char *name)
{
    return strchr(name, '.') != NULL || strcmp(name, "workload") == 0 ||
           strcmp(name, "cluster") == 0;
}

bool space_is_of_another(const char *key, const char *policy)
{
    const char *of = key + strlen("policies.");
    size_t bytes = strlen(policy);

    return strncmp(key, "policies.", strlen("policies.")) == 0 &&
           (strncmp(of, policy, bytes) != 0 || of[bytes] != '.');
}

/* False, with err, if a key of a policy names none that there is: a slip in a name
 * would make a dimension without effect. */
static bool check_policy_of(const struct experiment *experiment, const char *key,
                            struct err_pos pos, struct err *err)
{
    if (strncmp(key, "policies.", strlen("policies.")) != 0)
        return true;
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        if (!space_is_of_another(key, experiment->policy_name[p]))
            return true;
    err_set(err, ERR_REFERENCE, pos, "a tuned key must be policies.NAME.KEY, and '%.80s' "
            "names no policy of the experiment", key);
    return err_hint(err, "The first one is policies.%.60s.", experiment->policy_name[0]);
}

/* False, with err, unless the key may be tuned.  `fidelity` may not: it changes
 * what is measured, not what is better. */
static bool check_key(const struct experiment *experiment, const char *key,
                      struct err_pos pos, struct err *err)
{
    if (strcmp(key, "fidelity") == 0)
        return err_set(err, ERR_SCHEMA, pos, "a tuned key must be of a policy, the "
                       "workload or the cluster, and is 'fidelity'");
    return experiment_key_check(key, "a tuned key", pos, err) &&
           check_policy_of(experiment, key, pos, err);
}

/* Reads a map of several keys that change together, as one choice. */
static bool read_bundle(struct arena *arena, const struct experiment *experiment,
                        const char *name, const struct conf_node *map,
                        struct space_choice *choice, struct err *err)
{
    struct experiment_setting *set;

    if (conf_kind(map) != CONF_MAP) {
        err_set(err, ERR_SCHEMA, conf_pos(map), "a choice of %.60s must be a map of "
                "dotted keys", name);
        return err_hint(err, "Write each key from the top of the file, as "
                        "policies.fcfs.%.60s or cluster.nodes.a.count.", name);
    }
    set = arena_alloc(arena, conf_count(map) + 1, sizeof *set);
    for (size_t i = 0; i < conf_count(map); i++) {
        if (!check_key(experiment, conf_key(map, i), conf_key_pos(map, i), err))
            return false;
        set[i] = (struct experiment_setting){ conf_key(map, i),
                                              conf_flow(arena, conf_value(map, i)) };
    }
    *choice = (struct space_choice){ set, conf_count(map) };
    return true;
}

/* Reads a list: of values of a key, or of bundles. */
static bool read_choices(struct arena *arena, const struct experiment *experiment,
                         const struct conf_node *list,
                         struct space_dimension *dimension, struct err *err)
{
    size_t count = conf_count(list);
    struct space_choice *choice = arena_alloc(arena, count + 1, sizeof *choice);

    if (count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(list), "%.80s must be a list of at least "
                       "one value", dimension->name);
    for (size_t i = 0; i < count; i++) {
        struct experiment_setting *set;

        if (!is_key(dimension->name)) {
            if (!read_bundle(arena, experiment, dimension->name,
                             conf_item(list, i), &choice[i], err))
                return false;
            continue;
        }
        set = arena_alloc(arena, 1, sizeof *set);
        *set = (struct experiment_setting){ dimension->name,
                                            conf_flow(arena, conf_item(list, i)) };
        choice[i] = (struct space_choice){ set, 1 };
    }
    dimension->choice = choice;
    dimension->choice_count = count;
    return true;
}

/* The map of a dimension that is a range. */
struct range_keys {
    const struct conf_node *from, *to;
    bool log;                   /* spaced by ratios */
};

static const struct conf_field range_field[] = {
    CONF_KEY("from", CONF_NODE, range_keys, from, CONF_REQUIRED,
             "one end, with its unit"),
    CONF_KEY("to", CONF_NODE, range_keys, to, CONF_REQUIRED,
             "the other end, in the same unit"),
    CONF_KEY("log", CONF_BOOL, range_keys, log, "false",
             "values are spread by ratios"),
};
const struct conf_schema tune_range_schema =
    CONF_SCHEMA("experiment.tune.over.range", "values of a key", range_field);

/* Reads entry `i` of `over:`, whose kind says which form it has. */
static bool read_dimension(struct arena *arena, const struct experiment *experiment,
                           const struct conf_node *over, size_t i,
                           struct space_dimension *dimension, struct err *err)
{
    const struct conf_node *value = conf_value(over, i);
    struct range_keys range = { 0 };

    dimension->name = conf_key(over, i);
    dimension->pos = conf_key_pos(over, i);
    dimension->node = value;
    if (is_key(dimension->name) &&
        !check_key(experiment, dimension->name, conf_key_pos(over, i), err))
        return false;
    switch (conf_kind(value)) {
    case CONF_LIST: return read_choices(arena, experiment, value, dimension,
                                         err);
    case CONF_MAP: break;
    case CONF_SCALAR:
        return err_set(err, ERR_SCHEMA, conf_pos(value), "%.80s must be a list of values, "
                       "or a map that says which", dimension->name);
    }
    if (!is_key(dimension->name))
        return read_split(arena, experiment, value, dimension, err);
    return conf_fill(value, &tune_range_schema, &range, err) &&
           quantity_range_read(range.from, range.to, range.log, &dimension->range, err);
}

/* ---- all ---------------------------------------------------------------- */

/* Is `point` a label of the sweep, or not given? */
static bool find_point(const struct experiment *experiment, struct space *space,
                       struct err *err)
{
    const struct conf_node *node = conf_get(experiment->tune, "point");

    for (uint32_t p = 0; space->point != NULL && p < experiment->point_count; p++)
        if (strcmp(experiment->point[p].label, space->point) == 0)
            return true;
    if (space->point == NULL)
        return true;
    err_set(err, ERR_REFERENCE, conf_pos(node), "point is '%.80s', which is no point of "
            "the sweep", space->point);
    return err_hint(err, "The first one is '%.100s'.", experiment->point[0].label);
}

/* The metric must have a better side, or there is nothing to search for. */
static bool find_metric(const struct experiment *experiment,
                        struct space *space, struct err *err)
{
    const struct conf_node *node = conf_get(experiment->tune, "metric");

    if (!experiment_metric(experiment, node, &space->metric, err))
        return false;
    space->info = metric_info(experiment_metrics(experiment), space->metric);
    if (space->info->better != 0)
        return true;
    return err_set(err, ERR_REFERENCE, conf_pos(node),
                   "metric must be one that can be better or worse, and is '%.60s'",
                   space->info->name);
}

bool space_read(struct arena *arena, const struct experiment *experiment,
                struct space *space, struct err *err)
{
    struct tune_keys keys = { 0 };
    struct err_pos nowhere = { experiment->path, 0, 0 };

    if (experiment->tune == NULL) {
        err_set(err, ERR_SCHEMA, nowhere, "the experiment has no key tune");
        return err_hint(err, "`clustersim explain tune` shows its keys.");
    }
    if (!conf_fill(experiment->tune, &tune_schema, &keys, err))
        return false;
    *space = (struct space){ .seeds = (uint32_t)keys.seeds, .judge = (uint32_t)keys.judge,
                             .budget = (uint32_t)keys.budget, .point = keys.point };
    if (!find_metric(experiment, space, err) ||
        !find_point(experiment, space, err))
        return false;
    if (conf_kind(keys.over) != CONF_MAP || conf_count(keys.over) == 0 ||
        conf_count(keys.over) > SAMPLE_DIMENSIONS_MAX)
        return err_set(err, ERR_SCHEMA, conf_pos(keys.over),
                       "over must be a map of 1 to %u keys", SAMPLE_DIMENSIONS_MAX);
    space->dimension_count = conf_count(keys.over);
    space->dimension = arena_alloc(arena, space->dimension_count,
                                   sizeof *space->dimension);
    for (size_t i = 0; i < space->dimension_count; i++)
        if (!read_dimension(arena, experiment, keys.over, i, &space->dimension[i], err))
            return false;
    return true;
}

bool space_concerns(const struct space_dimension *dimension, const char *policy)
{
    if (dimension->choice == NULL)
        return !space_is_of_another(dimension->name, policy);
    for (size_t i = 0; i < dimension->choice_count; i++)
        for (size_t k = 0; k < dimension->choice[i].count; k++)
            if (!space_is_of_another(dimension->choice[i].set[k].key, policy))
                return true;
    return false;
}

/* In double, since a product of 40 lists can pass any integer; compared, never
 * used as an exact number beyond UINT32_MAX. */
uint32_t space_count(const struct space *space, const char *policy)
{
    double count = 1;

    for (size_t i = 0; i < space->dimension_count; i++) {
        const struct space_dimension *dimension = &space->dimension[i];

        if (space_concerns(dimension, policy))
            count *= dimension->choice == NULL ? INFINITY
                                               : (double)dimension->choice_count;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

struct settings {
    struct experiment_setting *set;
    size_t count, room;
};

/* Adds what a dimension sets at a place from 0 to 1, leaving out keys of other
 * policies. */
static void add_settings(struct arena *arena, const struct space_dimension *dimension,
                         double place, const char *policy, struct settings *out)
{
    const struct space_choice *choice;

    if (dimension->choice == NULL) {
        const char *text = quantity_at(arena, &dimension->range, &place, RANGE_STEP);

        ARENA_ADD(arena, out->set, out->count, out->room,
                  (struct experiment_setting){ dimension->name, text });
        return;
    }
    choice = &dimension->choice[(size_t)(place * (double)dimension->choice_count)];
    for (size_t k = 0; k < choice->count; k++)
        if (!space_is_of_another(choice->set[k].key, policy))
            ARENA_ADD(arena, out->set, out->count, out->room, choice->set[k]);
}

/* All combinations are counted like digits, the first dimension fastest, and taken
 * in the middle of their part.  A Sobol point has a coordinate for every
 * dimension, also those that do not concern the policy, so that all policies meet
 * the same points. */
struct space_choice *space_draw(struct arena *arena, const struct space *space,
                                const char *policy, uint32_t count)
{
    uint32_t all = space_count(space, policy);
    size_t dimensions = space->dimension_count;
    struct space_choice *out = arena_alloc(arena, count + 1, sizeof *out);
    double *u = arena_alloc(arena, (size_t)count * dimensions + 1, sizeof *u);

    sample_sobol(u, count, dimensions);
    for (uint32_t c = 0; c < count; c++) {
        struct settings set = { NULL, 0, 0 };
        uint32_t left = c;

        for (size_t i = 0; i < dimensions; i++) {
            const struct space_dimension *dimension = &space->dimension[i];
            double place = u[c * dimensions + i];

            if (!space_concerns(dimension, policy))
                continue;
            if (all <= count) {         /* one by one */
                place = ((double)(left % dimension->choice_count) + 0.5) /
                        (double)dimension->choice_count;
                left /= (uint32_t)dimension->choice_count;
            }
            add_settings(arena, dimension, place, policy, &set);
        }
        out[c] = (struct space_choice){ set.set, set.count };
    }
    return out;
}
