/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * with.c - which keys a policy may have to itself, and proof that its jobs are
 * those of the other policies.
 *
 * Two checks.  By the tree: with each key set, the workload may differ only in
 * keys that say how a job runs, not what it is (may_differ).  By the draws: the
 * jobs of seed 0 of both workloads are drawn side by side and compared, since
 * keys of the cluster can change jobs too (a trace may skip what does not fit).
 */
#include "experiments/spec/with.h"

#include <stdio.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "experiments/spec/tree.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* Longer than any path of keys; a longer one is cut. */
#define PATH_BYTES 160u

/* ---- the keys ----------------------------------------------------------- */

/* Is `key` the other, or above it in the tree? */
static bool covers(const char *key, const char *other)
{
    size_t bytes = strlen(key);

    return strncmp(key, other, bytes) == 0 &&
           (other[bytes] == '\0' || other[bytes] == '.');
}

/* False, with err, unless the key is of the workload or the cluster. */
static bool check_key(const struct conf_node *with, const char *word, size_t i,
                      struct err *err)
{
    const char *key = conf_key(with, i);

    if (covers("workload", key) || covers("cluster", key))
        return true;
    err_set(err, ERR_SCHEMA, conf_key_pos(with, i),
            "a key of %s must begin with workload. or cluster., and is "
            "'%.80s'", word, key);
    return err_hint(err, "Keys of the policy itself stand beside `with`.");
}

bool with_check(struct experiment_inputs *inputs, const struct conf_node *tree,
                const struct conf_node *with, const char *word,
                const struct conf_node *sweep, struct err *err)
{
    if (conf_kind(with) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(with), "%s must be a map "
                       "from a key of the cluster or the workload to a value", word);
    for (size_t i = 0; i < conf_count(with); i++) {
        const char *key = conf_key(with, i);

        if (!check_key(with, word, i, err))
            return false;
        for (size_t j = 0; j < i; j++)
            if (tree_replaces(inputs, tree, key, conf_key(with, j)))
                return err_set(err, ERR_SCHEMA, conf_key_pos(with, j),
                               "'%.80s' is without effect: '%.80s' comes later "
                               "and replaces it", conf_key(with, j), key);
        for (size_t j = 0; sweep != NULL && conf_kind(sweep) == CONF_MAP &&
                           j < conf_count(sweep); j++) {
            if (!tree_replaces(inputs, tree, key, conf_key(sweep, j)))
                continue;
            err_set(err, ERR_SCHEMA, conf_key_pos(with, i), "'%.80s' of %s "
                    "replaces what the sweep sets, '%.80s': all points of this "
                    "policy would be alike there", key, word, conf_key(sweep, j));
            return err_hint(err, "Sweep policies.NAME.with, or leave one of "
                            "the two out.");
        }
    }
    return true;
}

bool with_acts(const struct conf_node *with, const char *word, const bool *acts,
               struct err *err)
{
    for (size_t i = 0; i < conf_count(with); i++) {
        if (acts[i])
            continue;
        err_set(err, ERR_SCHEMA, conf_key_pos(with, i), "'%.80s' of %s "
                EXPERIMENT_IDLE_WITH, conf_key(with, i), word);
        return err_hint(err, "Leave it out.");
    }
    return true;
}

/* ---- which may differ --------------------------------------------------- */

/* How a job runs, and not what it is: keys of an entry of `mix`. */
static const char *const entry_keys[] = {
    "layout", "schedule", "offload", "zero", "tp", "pp", "vp", "cp", "ep",
    "micro_batch", "recompute", NULL
};
static const char *const entry_roles[] = {
    "rollout", "train", "data", "infer", "role", NULL
};
static const char *const role_keys[] = {
    "gpus", "min", "max", "pool", "home", "types", "cores", "memory", "start",
    "tp", "concurrency", NULL
};
static const char *const service_keys[] = {
    "gpu", "cpu", "replicas", "cpu_replicas", "scaling", "route", "batch",
    "batch_delay", "chunk", "prefix_cache", NULL
};

/* Is the word, of `bytes` bytes and not ended, one of the list? */
static bool is_among(const char *word, size_t bytes, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], word, bytes) == 0)
            return true;
    return false;
}

/* Returns what stands behind the first step of a path, or NULL. */
static const char *next_step(const char *path)
{
    const char *dot = strchr(path, '.');

    return dot == NULL ? NULL : dot + 1;
}

/* May two policies differ in this key of the workload?  An item of a list is one
 * step, its name or number. */
static bool may_differ(const char *path)
{
    const char *item = next_step(path);
    const char *key = item == NULL ? NULL : next_step(item);
    const char *role_key = key == NULL ? NULL : next_step(key);
    size_t bytes = key == NULL ? 0 : strcspn(key, ".");

    if (strcmp(path, "name") == 0)
        return true;
    if (key == NULL)
        return false;
    if (covers("services", path))
        return is_among(key, bytes, service_keys);
    if (!covers("mix", path))
        return false;
    if (is_among(key, bytes, entry_keys))
        return true;
    return is_among(key, bytes, entry_roles) && role_key != NULL &&
           is_among(role_key, strcspn(role_key, "."), role_keys);
}

/* ---- one workload beside another ---------------------------------------- */

/* What is looked at, below `workload`. */
struct path {
    char text[PATH_BYTES];
};

static bool are_alike(struct path *path, const struct conf_node *all,
                      const struct conf_node *own);

/* Compares the parts behind one more step.  If they differ, the path is left as
 * it is, for the message. */
static bool is_step_alike(struct path *path, const char *step,
                          const struct conf_node *all, const struct conf_node *own)
{
    size_t bytes = strlen(path->text);
    bool same;

    snprintf(path->text + bytes, sizeof path->text - bytes, "%s%s",
             bytes > 0 ? "." : "", step);
    same = are_alike(path, all, own);
    if (same)
        path->text[bytes] = '\0';
    return same;
}

/* Compares the keys of both maps; a map that is not there has none. */
static bool are_maps_alike(struct path *path, const struct conf_node *all,
                           const struct conf_node *own)
{
    for (size_t i = 0; own != NULL && i < conf_count(own); i++) {
        const char *key = conf_key(own, i);

        if (!is_step_alike(path, key, all == NULL ? NULL : conf_get(all, key),
                           conf_value(own, i)))
            return false;
    }
    for (size_t i = 0; all != NULL && i < conf_count(all); i++) {
        const char *key = conf_key(all, i);

        if ((own == NULL || conf_get(own, key) == NULL) &&
            !is_step_alike(path, key, conf_value(all, i), NULL))
            return false;
    }
    return true;
}

/* Returns the text at a key of an item; NULL: the item is no map, or has no such text. */
static const char *find_text(const struct conf_node *item, const char *key)
{
    const struct conf_node *name =
        conf_kind(item) == CONF_MAP ? conf_get(item, key) : NULL;

    return name != NULL && conf_kind(name) == CONF_SCALAR ? conf_text(name)
                                                          : NULL;
}

/* Compares items by their place.  In the path they are called by their name,
 * recipe or number. */
static bool are_lists_alike(struct path *path, const struct conf_node *all,
                            const struct conf_node *own)
{
    if (conf_count(all) != conf_count(own))
        return false;
    for (size_t i = 0; i < conf_count(own); i++) {
        const char *step = find_text(conf_item(own, i), "name");
        char number[24];

        if (step == NULL)
            step = find_text(conf_item(own, i), "recipe");
        snprintf(number, sizeof number, "%zu", i);
        if (step == NULL || strchr(step, '.') != NULL)
            step = number;
        if (!is_step_alike(path, step, conf_item(all, i), conf_item(own, i)))
            return false;
    }
    return true;
}

/* Is the part a map?  A part that is not there (NULL) counts as an empty map. */
static bool is_map(const struct conf_node *node)
{
    return node == NULL || conf_kind(node) == CONF_MAP;
}

/* Are two parts of the workload alike, but for what may differ? */
static bool are_alike(struct path *path, const struct conf_node *all,
                      const struct conf_node *own)
{
    if (all == own || may_differ(path->text))
        return true;
    if (is_map(all) && is_map(own))
        return are_maps_alike(path, all, own);
    if (all == NULL || own == NULL || conf_kind(all) != conf_kind(own))
        return false;
    if (conf_kind(own) == CONF_LIST)
        return are_lists_alike(path, all, own);
    return strcmp(conf_text(all), conf_text(own)) == 0;
}

/* False, with err at `pos`: the trees differ in what the jobs are. */
static bool check_jobs(const struct conf_node *all, const struct conf_node *own,
                       struct err_pos pos, const char *word, struct err *err)
{
    struct path path = { "" };

    if (are_alike(&path, conf_get(all, "workload"), conf_get(own, "workload")))
        return true;
    err_set(err, ERR_SCHEMA, pos, "%s changes the jobs themselves "
            "(workload.%.100s), and all policies must meet the same", word, path.text);
    return err_hint(err, "A policy may have its own hardware and layout of the "
                    "jobs: GPUs, types and pools of roles, layout, schedule, tp, zero.");
}

/* Sets key `i` of `with` in the tree, and reads files that it names. */
static const struct conf_node *set_key(struct experiment_inputs *inputs,
                                       const struct conf_node *tree,
                                       const struct conf_node *with, size_t i,
                                       struct err *err)
{
    tree = tree_set(inputs, tree, conf_key(with, i), conf_value(with, i), NULL, err);
    return tree == NULL ? NULL : tree_graft(inputs, tree, err);
}

/* Keys are set one after the other, so that the message stands at the one that
 * changes the jobs. */
bool with_keeps_jobs(struct experiment_inputs *inputs, const struct conf_node *tree,
                     const struct conf_node *with, const char *word, struct err *err)
{
    const struct conf_node *own = tree;

    for (size_t i = 0; i < conf_count(with); i++) {
        own = set_key(inputs, own, with, i, err);
        if (own == NULL ||
            !check_jobs(tree, own, conf_pos(conf_value(with, i)), word, err))
            return false;
    }
    return true;
}

/* A key acts if it changes the hash of the cluster or of the workload. */
const struct conf_node *with_tree(struct experiment_inputs *inputs,
                                  const struct conf_node *tree,
                                  const struct conf_node *with, bool *acts,
                                  struct err *err)
{
    const struct conf_node *own = tree;

    for (size_t i = 0; i < conf_count(with); i++) {
        const struct conf_node *before = own;

        own = set_key(inputs, own, with, i, err);
        if (own == NULL)
            return NULL;
        acts[i] |= tree_hash(inputs, conf_get(own, "cluster")) !=
                       tree_hash(inputs, conf_get(before, "cluster")) ||
                   tree_hash(inputs, conf_get(own, "workload")) !=
                       tree_hash(inputs, conf_get(before, "workload"));
    }
    return own;
}

/* ---- the jobs themselves ------------------------------------------------ */

/* Returns the rounds that a job has, without those that its layout adds. */
static uint32_t count_steps(const struct job_birth *birth)
{
    return birth->request.steps - birth->request.form->lag;
}

/* Are two jobs alike in what comes, when, and how much work it is?  Their
 * phases may differ. */
static bool are_births_alike(const struct job_birth *a, const struct job_birth *b)
{
    return a->request.submit_ns == b->request.submit_ns &&
           strcmp(a->request.form->name, b->request.form->name) == 0 &&
           strcmp(a->request.form->recipe, b->request.form->recipe) == 0 &&
           a->request.limit_ns == b->request.limit_ns &&
           a->request.deadline_ns == b->request.deadline_ns &&
           a->request.priority == b->request.priority &&
           a->request.gpus == b->request.gpus &&
           count_steps(a) == count_steps(b) &&
           a->truth.duration_ns == b->truth.duration_ns &&
           a->truth.seed == b->truth.seed;
}

/* Draws the first WITH_DRAWN jobs of both workloads and compares them.  Policies are
 * compared in pairs, which holds only while all of them meet the same jobs. */
bool with_draws_alike(const struct workload_spec *all,
                      const struct workload_spec *own, uint64_t seed,
                      struct err_pos pos, const char *word, struct err *err)
{
    struct arena *arena = arena_new(0);
    struct source *left = source_open(arena, all, seed, 0);
    struct source *right = source_open(arena, own, seed, 0);
    struct job_birth a, b;
    struct err ignored = { 0 };
    uint32_t job = 0;
    bool same = true;

    for (bool more = true; more && same && job < WITH_DRAWN; job++) {
        more = source_next(left, &a, &ignored) == SOURCE_JOB;
        same = (source_next(right, &b, &ignored) == SOURCE_JOB) == more &&
               (!more || are_births_alike(&a, &b));
    }
    arena_free(arena);
    if (same)
        return true;
    err_set(err, ERR_SCHEMA, pos, "%s changes job %u of seed 0, and all "
            "policies must meet the same jobs", word, job - 1);
    return err_hint(err, "Jobs that the cluster has no room for are left out "
                    "by `skip` of a trace: it must keep their GPUs.");
}
