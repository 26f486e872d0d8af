/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_points.c - the points of an experiment: each is the whole tree with the swept
 * values in it, and has a cluster, a workload and its policies.
 *
 * What two points have in common is read once and shared: a cluster or a
 * workload is known by the hash of its part of the tree (find_twin), a policy
 * by its hash at the point before.  A million jobs of a trace are so in memory
 * once, however many points there are.
 */
#include "experiments/spec/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/begins.h"
#include "experiments/spec/choices.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/guests.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/sweep.h"
#include "experiments/spec/tree.h"
#include "experiments/spec/with.h"
#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "policies/host/host.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/registry/words.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/string_set.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* Returns the entry of a policy at a point, found again by name in the point's
 * tree; NULL: the sweep has renamed it. */
static const struct conf_node *find_policy_node(const struct conf_node *tree,
                                                const char *name)
{
    const struct conf_node *list = conf_get(tree, "policies");

    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);
        const char *text = experiment_entry_name(item);

        if (text != NULL && strcmp(text, name) == 0)
            return item;
    }
    return NULL;
}

/* Returns what the workload of a point says of estimates. */
static enum workload_estimate find_estimate(const struct experiment_point *point)
{
    return workload_estimate(point->workload);
}

/* Reads an entry.  What a trace says of estimates holds for policies that say
 * nothing.  A `then` at or after the end of the run is refused. */
static const struct host_policy *read_policy(struct reader *r,
                                             const struct experiment_point *point,
                                             const struct conf_node *node,
                                             struct err *err)
{
    static const char *const text[ESTIMATE_COUNT] = {
        [ESTIMATE_EXACT] = "exact", [ESTIMATE_REQUESTED] = "requested",
        [ESTIMATE_NOISY] = "noisy",
    };

    const struct host_policy *policy = host_policy_read_as(
        r->arena, node, text[find_estimate(point)], &r->guests, err);

    if (policy == NULL || policy->then == NULL || policy->then_ns < r->experiment->until_ns)
        return policy;
    err_set(err, ERR_RANGE, conf_pos(conf_find(node, "then.at")),
            "then must begin before until, where the run ends");
    return NULL;
}

/* Returns the pools of the cluster and the roles of the jobs, for checks of words
 * in a policy's keys. */
static struct host_names collect_names(struct arena *arena,
                                       const struct experiment_point *point)
{
    size_t pools = point->cluster->pool_count, roles = 0, count = 0;
    const char **pool = arena_alloc(arena, pools + 1, sizeof *pool), **role;

    memcpy(pool, point->cluster->pool_name, pools * sizeof *pool);
    for (size_t f = 0; f < workload_form_count(point->workload); f++)
        roles += workload_form(point->workload, f)->role_count;
    role = arena_alloc(arena, roles + 1, sizeof *role);
    for (size_t f = 0; f < workload_form_count(point->workload); f++) {
        const struct job_form *form = workload_form(point->workload, f);

        for (uint32_t i = 0; i < form->role_count; i++) {
            bool known = false;

            for (size_t k = 0; k < count; k++)
                known |= strcmp(role[k], form->role[i].name) == 0;
            if (!known)
                role[count++] = form->role[i].name;
        }
    }
    return (struct host_names){ pool, role };
}

/* Returns an earlier point with the same cluster (and the same workload, if
 * asked), or NULL.  A workload depends on its cluster, so it is never shared
 * without it. */
static const struct experiment_point *find_twin(const struct reader *r,
                                                const struct experiment_point *point,
                                                bool workload)
{
    for (size_t i = 0; i < r->known_count; i++)
        if (r->known[i]->cluster_hash == point->cluster_hash &&
            (!workload || r->known[i]->workload_hash == point->workload_hash))
            return r->known[i];
    return NULL;
}

/* False, with err, for a run until a time that comes before the first job of a
 * trace. */
static bool check_begin(const struct reader *r,
                        const struct experiment_point *point, struct err *err)
{
    int64_t begin_ns = workload_begin_ns(point->workload);

    if (begin_ns == 0 || r->experiment->until_ns > begin_ns)
        return true;
    err_set(err, ERR_RANGE, conf_pos(r->top.until),
            "until ends at %.9g s, before the first job of the trace comes, at "
            "%.9g s", clock_s_from_ns(r->experiment->until_ns),
            clock_s_from_ns(begin_ns));
    return err_hint(err, "With `origin: first` time 0 is its submission.");
}

/* False, with err, if nodes are rented by forecast and the run has no end: they
 * are ordered while there is no job, too, so it would never drain. */
static bool check_forecast(const struct reader *r,
                           const struct experiment_point *point,
                           const struct conf_node *cluster, struct err *err)
{
    const struct cluster_spec *spec = point->cluster;
    bool ends = r->experiment->until_ns != CLOCK_NEVER_NS;

    for (uint32_t g = 0; g < spec->group_count && !ends; g++)
        if (spec->group[g].rent != NULL &&
            spec->group[g].rent->scale == RENT_FORECAST) {
            err_set(err, ERR_RANGE, conf_pos(cluster),
                    "scale: forecast of the nodes %s needs `until` with a time",
                    spec->group[g].name);
            return err_hint(err, "The forecast rents nodes without jobs too, so a "
                                 "run until drained would not end. A `warmup` "
                                 "leaves out the time in which it learns.");
        }
    return true;
}

/* Reads the cluster and the workload of a tree, or shares those of an earlier point. */
static bool read_world(struct reader *r, struct experiment_point *point,
                       const struct conf_node *tree, struct err *err)
{
    const struct conf_node *cluster = conf_get(tree, "cluster");
    const struct conf_node *workload = conf_get(tree, "workload");
    const struct experiment_point *same;

    point->cluster_hash = tree_hash(&r->inputs, cluster);
    point->workload_hash = tree_hash(&r->inputs, workload);
    same = find_twin(r, point, false);
    point->cluster = same != NULL ? same->cluster
        : cluster_read(r->arena, cluster, r->experiment->catalogue, err);
    if (point->cluster == NULL)
        return false;
    same = find_twin(r, point, true);
    point->workload = same != NULL ? same->workload
        : workload_read(r->arena, workload, r->experiment->catalogue,
                        point->cluster, err);
    if (point->workload == NULL)
        return false;
    if (same == NULL)
        ARENA_ADD(r->arena, r->known, r->known_count, r->known_room, point);
    return check_forecast(r, point, cluster, err) &&
           check_begin(r, point, err);
}

/* Returns the marks of a `with:`, by key, made at its first point. */
static bool *find_acts(struct reader *r, const struct conf_node *with, const char *word)
{
    for (size_t i = 0; i < r->acting_count; i++)
        if (r->acting[i].with == with)
            return r->acting[i].acts;
    bool *acts = arena_alloc(r->arena, conf_count(with) + 1, sizeof *acts);
    ARENA_ADD(r->arena, r->acting, r->acting_count, r->acting_room,
              (struct acting){ with, word, acts });
    return acts;
}

/* Adds to a RANGE error that it is so under one policy: what does not fit stands
 * in a place that other policies read without error. */
static void hint_with(const struct conf_node *policy, const char *word, struct err *err)
{
    const struct err told = *err;

    if (told.kind != ERR_RANGE)
        return;
    err->hint[0] = '\0';
    err_hint(err, "%s%sThis follows from the `%s` of %s %.60s.", told.hint,
             told.hint[0] == '\0' ? "" : " ", word,
             strcmp(word, "set") == 0 ? "option" : "policy", experiment_entry_name(policy));
}

/* Returns the point as a policy meets it: the point itself, or, with a `with:`, a
 * copy with its own cluster and workload, whose jobs are checked to be those of
 * the others. */
static struct experiment_point *meet_point(struct reader *r, uint32_t index,
                                           const struct conf_node *tree,
                                           const struct conf_node *node, struct err *err)
{
    struct experiment_point *point = &r->point[index], *own;
    const struct conf_node *with =
        conf_kind(node) == CONF_MAP ? conf_get(node, "with") : NULL;

    if (with == NULL)
        return point;
    const char *word = choices_word(r->experiment, experiment_entry_name(node));
    if (!with_check(&r->inputs, tree, with, word, r->swept, err))
        return NULL;
    const struct conf_node *changed =
        with_tree(&r->inputs, tree, with, find_acts(r, with, word), err);
    own = arena_alloc(r->arena, 1, sizeof *own);
    *own = *point;
    if (changed == NULL)
        return NULL;
    if (!read_world(r, own, changed, err)) {
        hint_with(node, word, err);
        return NULL;
    }
    if (!with_keeps_jobs(&r->inputs, tree, with, word, err))
        return NULL;
    return own->workload == point->workload ||
           with_draws_alike(point->workload, own->workload, r->experiment->seed,
                            conf_pos(with), word, err) ? own : NULL;
}

/* Checks what an entry gives tenants, and what it gives them from `then` on. */
static bool check_quotas(const struct host_policy *policy, const struct conf_node *entry,
                         struct err *err)
{
    return host_quotas_check(policy->policy, entry, err) &&
           (policy->then == NULL ||
            host_quotas_check(policy->then->policy, conf_get(entry, "then"), err));
}

/* Returns a policy at a point.  It is read anew unless its keys are those of
 * the point before.  Words and quotas are checked at each point, as pools and
 * roles may differ; whether it begins is asked where it or the cluster is new. */
static const struct host_policy *read_policy_at(struct reader *r, uint32_t index, uint32_t p,
                                                const struct experiment_point *met,
                                                const struct conf_node *node, uint64_t hash,
                                                struct err *err)
{
    const struct experiment_point *last = index > 0 ? &r->point[index - 1] : NULL;
    const struct host_names names = collect_names(r->arena, met);
    const struct host_policy *policy;

    if (last != NULL && last->policy_hash[p] == hash &&
        find_estimate(last->met[p]) == find_estimate(met))
        policy = last->policy[p];
    else
        policy = read_policy(r, met, node, err);
    if (policy == NULL || !host_words_check(r->arena, policy->policy, node, &names, err) ||
        !check_quotas(policy, node, err))
        return NULL;
    if ((last == NULL || policy != last->policy[p] || met->cluster != last->met[p]->cluster) &&
        !begins_check(policy, node, met->cluster, err))
        return NULL;
    if (last == NULL || policy != last->policy[p])
        ARENA_ADD(r->arena, r->entry, r->entry_count, r->entry_room,
                  (struct read_entry){ policy, node });
    return policy;
}

/* Reads the policies of a point, which keep their number at all points.  Copies
 * of the point, for policies with a `with:`, share its arrays. */
static bool read_point_policies(struct reader *r, uint32_t index,
                                const struct conf_node *tree, struct err *err)
{
    uint32_t count = r->experiment->policy_count;
    const struct host_policy **policy = arena_alloc(r->arena, count, sizeof *policy);
    struct experiment_point **met = arena_alloc(r->arena, count, sizeof *met);
    uint64_t *hash = arena_alloc(r->arena, count, sizeof *hash);

    for (uint32_t p = 0; p < count; p++) {
        const struct conf_node *node = find_policy_node(tree, r->experiment->policy_name[p]);

        if (node == NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(r->top.sweep),
                           "a sweep must not rename the policy '%.60s'",
                           r->experiment->policy_name[p]);
        hash[p] = guests_hash(&r->guests, node, tree_hash(&r->inputs, node));
        met[p] = meet_point(r, index, tree, node, err);
        if (met[p] == NULL)
            return false;
        policy[p] = read_policy_at(r, index, p, met[p], node, hash[p], err);
        if (policy[p] == NULL)
            return false;
    }
    r->point[index].policy = policy;
    r->point[index].policy_hash = hash;
    r->point[index].met = (const struct experiment_point *const *)met;
    for (uint32_t p = 0; p < count; p++) {
        met[p]->policy = policy;
        met[p]->policy_hash = hash;
        met[p]->met = r->point[index].met;
    }
    return true;
}

/* Reads one point of the sweep. */
static bool read_point(struct reader *r, uint32_t index,
                       const struct conf_node *tree, struct err *err)
{
    struct experiment_point *point = &r->point[index];

    return read_world(r, point, tree, err) &&
           experiment_by_step(conf_get(tree, "fidelity"), &point->by_step, err) &&
           read_point_policies(r, index, tree, err);
}

/* For qsort(): by the bytes. */
static int compare_texts(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;

    return strcmp(*left, *right);   /* equal ones are found, then refused */
}

/* Labels name points in tables, so two must not be alike.  Sorted, equal ones
 * stand side by side. */
static bool check_labels(struct reader *r, struct err *err)
{
    uint32_t count = r->experiment->point_count;
    const char **label = arena_alloc(r->arena, count, sizeof *label);

    for (uint32_t i = 0; i < count; i++)
        label[i] = r->point[i].label;
    qsort(label, count, sizeof *label, compare_texts);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(label[i - 1], label[i]) == 0)
            return err_set(err, ERR_SCHEMA, conf_pos(r->top.sweep),
                           "two points of the sweep are '%.100s'", label[i]);
    return true;
}

/* Checks the tenants that an entry names, and those that it names from `then` on. */
static bool check_entry(struct reader *r, const struct read_entry *entry,
                        const char *const *tenants, struct err *err)
{
    const struct host_policy *policy = entry->policy;

    return host_tenants_check(r->arena, policy->policy, entry->node, tenants, err) &&
           (policy->then == NULL ||
            host_tenants_check(r->arena, policy->then->policy, conf_get(entry->node, "then"),
                               tenants, err));
}

/* Checks the tenants that policies name against those of all workloads: a
 * tenant may have jobs at some points alone. */
static bool check_tenants(struct reader *r, struct err *err)
{
    struct string_set names = { 0 };
    const char **tenant = NULL, *name;
    size_t count = 0, room = 0;
    bool is_new;

    for (size_t k = 0; k < r->known_count; k++)
        for (size_t i = 0; (name = workload_tenant(r->known[k]->workload, i)) != NULL; i++) {
            is_new = false;
            if (name[0] != '\0')
                name = string_set_keep(&names, r->arena, name, &is_new);
            if (is_new)
                ARENA_ADD(r->arena, tenant, count, room, name);
        }
    ARENA_ADD(r->arena, tenant, count, room, NULL);
    for (size_t i = 0; i < r->entry_count; i++)
        if (!check_entry(r, &r->entry[i], tenant, err))
            return false;
    return true;
}

/* Notes the swept keys with their names in labels, in the order of the labels. */
static void note_swept(struct arena *arena, struct experiment *experiment,
                       const struct conf_node *keys)
{
    size_t count = keys == NULL ? 0 : conf_count(keys);
    struct experiment_swept *swept = arena_alloc(arena, count + 1, sizeof *swept);

    for (size_t i = 0; i < count; i++)
        swept[i] = (struct experiment_swept){ conf_key(keys, i), sweep_label(keys, i) };
    experiment->swept = swept;
    experiment->swept_count = (uint32_t)count;
}

/* Points are read in order, so that each may share what it has in common with
 * the one before. */
bool reader_points(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;
    struct sweep sweep;

    if (!sweep_open(r->arena, r->root, r->top.sweep, experiment->seed, &sweep, err) ||
        !sweep_check(&r->inputs, &sweep, r->options->set, r->options->set_count, err))
        return false;
    experiment->point_count = sweep.count;
    r->swept = sweep.keys;
    note_swept(r->arena, experiment, sweep.keys);
    r->point = arena_alloc(r->arena, experiment->point_count, sizeof *r->point);
    experiment->point = r->point;
    r->known = NULL;
    r->known_count = r->known_room = 0;
    r->acting = NULL;
    r->acting_count = r->acting_room = 0;
    r->entry = NULL;
    r->entry_count = r->entry_room = 0;
    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct conf_node *tree =
            sweep_tree(&r->inputs, &sweep, i, &r->point[i].label, err);

        if (r->options->point != NULL)
            r->point[i].label = r->options->point;
        if (tree == NULL || !read_point(r, i, tree, err))
            return false;
    }
    /* A key may act at other points than the one that is asked for. */
    if (r->options->point == NULL && !check_tenants(r, err))
        return false;
    for (size_t i = 0; r->options->point == NULL && i < r->acting_count; i++)
        if (!with_acts(r->acting[i].with, r->acting[i].word, r->acting[i].acts, err))
            return false;
    return check_labels(r, err);
}
