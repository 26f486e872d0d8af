/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - load, graft, set, hash.
 *
 * A tree (struct conf_node) is never changed: setting a value gives a new root
 * that shares all other nodes.  So a thousand points of a sweep cost a thousand
 * paths, not a thousand trees.
 *
 * A scalar is taken for a file that the experiment depends on when it holds a
 * dot or a slash and a regular file of that name stands beside the file that
 * says it.  So traces and weights are found without knowing their keys; a word
 * that happens to be a file's name does no harm but one more run.
 */
#include "experiments/spec/tree.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

/* Hashes a file once, and lists it among the inputs.  False: it cannot be read. */
static bool add_input(struct experiment_inputs *inputs, const char *path,
                      uint64_t *hash)
{
    for (size_t i = 0; i < inputs->count; i++) {
        if (strcmp(inputs->item[i].path, path) != 0)
            continue;
        *hash = inputs->item[i].hash;
        return true;
    }
    if (!hash_file(path, hash))
        return false;
    ARENA_REACH(inputs->arena, inputs->item, inputs->room, inputs->count);
    inputs->item[inputs->count].path = arena_text(inputs->arena, path);
    inputs->item[inputs->count++].hash = *hash;
    return true;
}

/* Returns the root if it is a map; else NULL, with err. root NULL: err says why
 * already. */
static const struct conf_node *check_map(const struct conf_node *root, struct err *err)
{
    if (root == NULL || conf_kind(root) == CONF_MAP)
        return root;
    err_set(err, ERR_SCHEMA, conf_pos(root), "the file must hold a map of "
            "keys, and holds a %s",
            conf_kind(root) == CONF_LIST ? "list" : "single value");
    return NULL;
}

const struct conf_node *tree_load(struct experiment_inputs *inputs,
                                  const char *path, struct err *err)
{
    const struct conf_node *root = conf_load(inputs->arena, path, err);
    uint64_t hash;

    if (root != NULL && path_is_file(path))
        (void)add_input(inputs, path, &hash);
    return check_map(root, err);
}

const struct conf_node *tree_parse(struct experiment_inputs *inputs, const char *path,
                                   const char *text, struct err *err)
{
    return check_map(conf_parse(inputs->arena, path, text, strlen(text), err), err);
}

const struct conf_node *tree_unwrap(const struct conf_node *root,
                                    const char *key)
{
    const struct conf_node *inner = conf_get(root, key);

    if (conf_count(root) == 1 && inner != NULL &&
        conf_kind(inner) == CONF_MAP)
        return inner;
    return root;
}

/* Replaces `key: FILE` by what the file holds. */
static const struct conf_node *graft_file(struct experiment_inputs *inputs,
                                          const struct conf_node *root,
                                          const char *key, struct err *err)
{
    const struct conf_node *value = conf_get(root, key), *inner;
    const char *path;
    struct err_pos pos;

    if (value == NULL || conf_kind(value) != CONF_SCALAR)
        return root;
    pos = conf_pos(value);
    path = path_beside(inputs->arena, pos.file, conf_text(value));
    if (!path_check_named(path, key, pos, err))
        return NULL;
    inner = tree_load(inputs, path, err);
    if (inner == NULL)
        return NULL;
    return conf_set(inputs->arena, root, key, tree_unwrap(inner, key), pos,
                    err);
}

const struct conf_node *tree_graft(struct experiment_inputs *inputs,
                                   const struct conf_node *root,
                                   struct err *err)
{
    root = graft_file(inputs, root, "cluster", err);
    return root == NULL ? NULL : graft_file(inputs, root, "workload", err);
}

/* Replaces the i-th of `policies`, a word, by {policy: WORD}, which nobody wrote. */
static const struct conf_node *replace_word(struct arena *arena, const struct conf_node *root,
                                            const struct conf_node *item, size_t i,
                                            struct err *err)
{
    const char *path = text_format(arena, "policies.%zu", i);
    const char *text = text_format(arena, "{policy: %s}", conf_text(item));
    const struct conf_node *map = conf_parse(arena, text_format(arena, "--set %s", path), text,
                                             strlen(text), err);

    assert(conf_kind(item) == CONF_SCALAR);
    return map == NULL ? NULL : conf_set(arena, root, path, map, conf_pos(map), err);
}

/* For `policies.NAME.key` where the list has only `- NAME`: replaces the word
 * by a map, so that a key can be set in it. */
static const struct conf_node *open_policy(struct experiment_inputs *inputs,
                                           const struct conf_node *root,
                                           const char *path, struct err *err)
{
    const struct conf_node *list = conf_get(root, "policies");
    const char *name = path + strlen("policies.");
    size_t bytes = strcspn(name, ".");

    if (strncmp(path, "policies.", strlen("policies.")) != 0 ||
        list == NULL || conf_kind(list) != CONF_LIST)
        return root;
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        if (conf_kind(item) == CONF_SCALAR &&
            strlen(conf_text(item)) == bytes &&
            memcmp(conf_text(item), name, bytes) == 0)
            return replace_word(inputs->arena, root, item, i, err);
    }
    return root;
}

/* For `output.plots` where there is no `output:` yet: adds an empty map first. */
static const struct conf_node *open_map(struct experiment_inputs *inputs,
                                        const struct conf_node *root,
                                        const char *path, struct err *err)
{
    const char *first = text_format(inputs->arena, "%.*s",
                                    (int)strcspn(path, "."), path);

    if (conf_get(root, first) != NULL)
        return root;
    return conf_set_text(inputs->arena, root, first, "{}", err);
}

/* A path with dots may lead into a file that is only named so far, so that
 * files are grafted first. */
const struct conf_node *tree_set(struct experiment_inputs *inputs,
                                 const struct conf_node *root,
                                 const char *path,
                                 const struct conf_node *value,
                                 const char *text, struct err *err)
{
    if (strchr(path, '.') != NULL) {
        root = tree_graft(inputs, root, err);
        if (root != NULL)
            root = open_map(inputs, root, path, err);
        if (root != NULL)
            root = open_policy(inputs, root, path, err);
    }
    if (root == NULL)
        return NULL;
    if (value == NULL)
        return conf_set_text(inputs->arena, root, path, text, err);
    return conf_set(inputs->arena, root, path, value, conf_pos(value), err);
}

const struct conf_node *tree_sets(struct experiment_inputs *inputs,
                                  const struct conf_node *root,
                                  const char *const *set, size_t count,
                                  struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(set[i], '=');

        if (equals == NULL || equals == set[i]) {
            err_set(err, ERR_USAGE, nowhere,
                    "--set needs KEY=VALUE, and got '%.80s'", set[i]);
            return NULL;
        }
        root = tree_set(inputs, root,
                        text_format(inputs->arena, "%.*s",
                                    (int)(equals - set[i]), set[i]),
                        NULL, equals + 1, err);
        if (root == NULL)
            return NULL;
    }
    return tree_graft(inputs, root, err);
}

bool tree_replaced(const char *const *set, size_t count, const char *key)
{
    size_t bytes = strlen(key);

    for (size_t i = 0; i < count; i++)
        if (strncmp(set[i], key, bytes) == 0 && (set[i][bytes] == '=' || set[i][bytes] == '.'))
            return set[i][bytes] == '=';
    return false;
}

/* Have two trees the same keys and values, in the same order? */
static bool is_same(const struct conf_node *a, const struct conf_node *b)
{
    if (a == b)
        return true;
    if (conf_kind(a) != conf_kind(b))
        return false;
    if (conf_kind(a) == CONF_SCALAR)
        return strcmp(conf_text(a), conf_text(b)) == 0;
    if (conf_count(a) != conf_count(b))
        return false;
    for (size_t i = 0; i < conf_count(a); i++) {
        bool list = conf_kind(a) == CONF_LIST;

        if (!list && strcmp(conf_key(a, i), conf_key(b, i)) != 0)
            return false;
        if (!is_same(list ? conf_item(a, i) : conf_value(a, i),
                     list ? conf_item(b, i) : conf_value(b, i)))
            return false;
    }
    return true;
}

/* Sets both keys, `other` first, and compares the tree with one that has `key`
 * alone: if they are the same, nothing of `other` is left.  A path that leads
 * nowhere is reported where it is set. */
bool tree_replaces(struct experiment_inputs *inputs, const struct conf_node *root,
                   const char *key, const char *other)
{
    struct err err = { 0 };
    const struct conf_node *alone = tree_set(inputs, root, key, NULL, "after", &err);
    const struct conf_node *both =
        alone == NULL ? NULL : tree_set(inputs, root, other, NULL, "before", &err);

    if (both != NULL)
        both = tree_set(inputs, both, key, NULL, "after", &err);
    return both != NULL && is_same(both, alone);
}

bool tree_is_no_experiment(const struct conf_node *root, const char *key, struct err *err)
{
    assert(root != NULL);
    if (conf_kind(root) != CONF_MAP || conf_get(root, "experiment") == NULL)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(root), "the file is an experiment, not a %s", key);
    return err_hint(err, "Name the file of its `%s:`, or write what stands there to a file.", key);
}

const struct conf_node *tree_part(struct experiment_inputs *inputs,
                                  const char *path, const char *key,
                                  struct err *err)
{
    const struct conf_node *root = tree_load(inputs, path, err);

    if (root == NULL || !tree_is_no_experiment(root, key, err))
        return NULL;
    if (conf_get(root, "advise") == NULL)
        return tree_unwrap(root, key);
    root = tree_graft(inputs, root, err);
    return root == NULL ? NULL : conf_get(root, key);
}

/* Adds a scalar to a hash, and the bytes of the file if it names one.  1, 2 and
 * 3 tell scalars, lists and maps apart. */
static uint64_t hash_scalar(struct experiment_inputs *inputs,
                            const struct conf_node *node, uint64_t hash)
{
    const char *text = conf_text(node), *path;
    uint64_t file;

    hash = hash_text(hash_u64(hash, 1), text);
    if (strpbrk(text, "./") == NULL)
        return hash;
    path = path_beside(inputs->arena, conf_pos(node).file, text);
    if (path_is_file(path) && add_input(inputs, path, &file))
        hash = hash_u64(hash, file);
    return hash;
}

/* Adds a tree to a hash, keys in their order: another order makes another
 * experiment in some tables. */
static uint64_t hash_node(struct experiment_inputs *inputs,
                          const struct conf_node *node, uint64_t hash)
{
    size_t count;

    if (conf_kind(node) == CONF_SCALAR)
        return hash_scalar(inputs, node, hash);
    count = conf_count(node);
    hash = hash_u64(hash_u64(hash, conf_kind(node) == CONF_LIST ? 2 : 3),
                    count);
    for (size_t i = 0; i < count; i++) {
        if (conf_kind(node) == CONF_LIST) {
            hash = hash_node(inputs, conf_item(node, i), hash);
            continue;
        }
        hash = hash_text(hash, conf_key(node, i));
        hash = hash_node(inputs, conf_value(node, i), hash);
    }
    return hash;
}

uint64_t tree_hash(struct experiment_inputs *inputs, const struct conf_node *node)
{
    return hash_node(inputs, node, HASH_START);
}

const char *const tree_ground_words[] = { "cluster", "role ", NULL };

/* Nodes large enough for any job that a file with an error may ask for. */
#define STOCK_NODES(type) \
    "{name: stock-" type ", count: 64, gpus: {type: " type ", count: 8}, " \
    "cpu: {type: epyc-7742, sockets: 8}, memory: 8TB, nvme: 8x8TB, " \
    "price: 1USD/h}, "

const struct conf_node *tree_stock(struct arena *arena)
{
    static const char text[] =
        "experiment: stock\n"
        "advise: stock\n"
        "cluster: {nodes: ["
        STOCK_NODES("a100-80") STOCK_NODES("a100-40") STOCK_NODES("h100")
        STOCK_NODES("h200") STOCK_NODES("l40s") STOCK_NODES("t4")
        STOCK_NODES("v100-32") STOCK_NODES("a10")
        "{name: generic, count: 64, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: poisson, rate: 1/h}, jobs: 1, mix: "
        "[{recipe: trace, gpus: 1, duration: 1h}]}\n"
        "policies: [fcfs]\n"
        "seeds: 1\n";
    struct err err = { 0 };

    return conf_parse(arena, "stock", text, sizeof text - 1, &err);
}

const struct catalogue *tree_catalogue(struct arena *arena,
                                       const struct conf_node *node, struct err *err)
{
    size_t count = node == NULL ? 0
                 : conf_kind(node) == CONF_LIST ? conf_count(node) : 1;
    const char **path = arena_alloc(arena, count + 1, sizeof *path);

    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item =
            conf_kind(node) == CONF_LIST ? conf_item(node, i) : node;

        if (conf_kind(item) != CONF_SCALAR) {
            err_set(err, ERR_SCHEMA, conf_pos(item),
                    "catalogue must be a file or a list of files");
            return NULL;
        }
        path[i] = path_beside(arena, conf_pos(item).file, conf_text(item));
        if (!path_check_named(path[i], "catalogue", conf_pos(item), err))
            return NULL;
    }
    return catalogue_load(arena, path, count, err);
}
