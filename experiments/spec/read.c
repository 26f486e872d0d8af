/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - an experiment file: its top, its policies, its points.
 *
 * Order: load the file and the files it names into one tree; load policies from
 * files; apply --set; add controls; then read the top, the catalogue, names of
 * policies, and each point of the sweep, which is the whole tree with some
 * values replaced.
 *
 * What two points have in common is read once and shared: a cluster or a
 * workload is known by the hash of its part of the tree (find_twin), a policy
 * by its hash at the point before.  A million jobs of a trace are so in memory
 * once, however many points there are.
 *
 * Errors: conf_mend_read() reads again with a stock part in place of the one
 * that is wrong, so that several errors are found in one go. read_root() is
 * therefore called several times and starts from `empty` each time; what --set
 * and controls did to the tree is kept (r->set).
 */
#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/own/own_metrics.h"
#include "experiments/process/self.h"
#include "experiments/spec/choices.h"
#include "experiments/spec/controls.h"
#include "experiments/spec/guests.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/only.h"
#include "experiments/spec/point_label.h"
#include "experiments/spec/sweep.h"
#include "experiments/spec/tree.h"
#include "experiments/spec/with.h"
#include "models/catalogue/catalogue.h"
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
#include "sim/config/mend.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* A bound, so that points x policies x seeds stays a 32-bit number. */
#define POLICIES_MAX 1000u

/* Which keys of a `with:` change something at some point. */
struct acting {
    const struct conf_node *with;
    const char *word;           /* its key */
    bool *acts;                 /* by key */
};

struct reader {
    struct arena *arena;
    struct experiment *experiment;
    struct experiment_inputs inputs;
    const struct experiment_options *options;
    const struct conf_node *root;       /* with --set, before the sweep */
    int64_t file_seeds;                 /* as the file says, without --set */
    size_t file_policies;               /* without those of `controls:` */
    struct experiment_top top;
    struct experiment_point *point;
    const struct conf_node *swept;      /* map of the swept keys, or NULL */
    /* Those of which the cluster or the workload was read, not shared. */
    const struct experiment_point **known;
    size_t known_count, known_room;
    struct acting *acting;      /* each `with:` that was met */
    size_t acting_count, acting_room;
    struct conf_mend mend;
    struct experiment empty;                 /* the experiment before any reading */
    bool set;                           /* --set is in mend.root */
    struct registry_guests guests;      /* policies from files */
};

/* Files that it names are part of each trial's hash. */
static bool read_catalogue(struct reader *r, struct err *err)
{
    const struct conf_node *node = r->top.catalogue;

    r->experiment->catalogue = tree_catalogue(r->arena, node, err);
    if (r->experiment->catalogue == NULL)
        return false;
    r->experiment->catalogue_hash = node == NULL ? 0 : tree_hash(&r->inputs, node);
    return true;
}

/* Policies. */

/* Fills the names of the policies that are run, in the order of the file, and of
 * those that --only leaves out. */
static bool name_policies(struct reader *r, struct err *err)
{
    const struct conf_node *list = r->top.policies;
    size_t count = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
    const char **all = arena_alloc(r->arena, count + 1, sizeof *all);
    const char **kept = arena_alloc(r->arena, count + 1, sizeof *kept);
    const char **left = arena_alloc(r->arena, count + 1, sizeof *left);
    uint32_t lefts = 0;

    if (count == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(list),
                "policies must be a list of at least one policy");
        return err_hint(err, "Write policies: [fcfs]");
    }
    if (count > POLICIES_MAX)
        return err_set(err, ERR_RANGE, conf_pos(list),
                       "policies must be a list of at most %u, and has %zu",
                       POLICIES_MAX, count);
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);

        all[i] = experiment_entry_name(item);
        if (all[i] == NULL || all[i][0] == '\0' ||
            strpbrk(all[i], ",\"\n\t /") != NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(item),
                           "a policy must be a name or a map with the key "
                           "policy; names hold no blanks, commas or slashes");
        for (size_t j = 0; j < i; j++)
            if (strcmp(all[i], all[j]) == 0) {
                err_set(err, ERR_SCHEMA, conf_pos(item),
                        "two policies are called '%.60s'", all[i]);
                return err_hint(err, "Give one of them another `name:`.");
            }
        if (only_names(r->options->only, all[i])) {
            kept[r->experiment->policy_count++] = all[i];
            r->experiment->file_policy_count += i < r->file_policies;
        } else
            left[lefts++] = all[i];
    }
    r->experiment->policy_name = kept;
    r->experiment->left_out = left;
    return only_check(r->arena, r->options->only, all, r->experiment->path, err);
}

/* Returns the number of a policy that is run, or UINT32_MAX. */
static uint32_t find_policy(const struct experiment *experiment, const char *name)
{
    for (uint32_t i = 0; i < experiment->policy_count; i++)
        if (strcmp(experiment->policy_name[i], name) == 0)
            return i;
    return UINT32_MAX;
}

/* `name` must be one of `policies:`, whether --only keeps it or not. */
static bool check_policy(struct reader *r, const char *name,
                         struct err_pos pos, const char *key, struct err *err)
{
    const struct conf_node *list = r->top.policies;
    size_t count = conf_count(list);
    const char **all = arena_alloc(r->arena, count + 1, sizeof *all);
    const char *near;

    for (size_t i = 0; i < count; i++) {
        all[i] = experiment_entry_name(conf_item(list, i));
        if (strcmp(all[i], name) == 0)
            return true;
    }
    near = conf_nearest(name, all);
    err_set(err, ERR_REFERENCE, pos, "%s names '%.60s', which is not among "
            "the %s of the experiment", key, name,
            r->experiment->decide.choice_count > 0 ? "options" : "policies");
    if (near != NULL)
        return err_hint(err, "Did you mean %s?", near);
    return err_hint(err, "The first of them is %s.", all[0]);
}

/* Without the key, the first policy, whether --only keeps it or not. */
static bool read_baseline(struct reader *r, struct err *err)
{
    const struct conf_node *first = conf_item(r->top.policies, 0);
    const char *name = r->top.baseline;

    if (name == NULL)
        name = experiment_entry_name(first);
    else if (!check_policy(r, name, conf_pos(conf_get(r->root, "baseline")),
                           "baseline", err))
        return false;
    r->experiment->baseline = find_policy(r->experiment, name);
    return true;
}

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

/* Points. */

static enum workload_estimate find_estimate(const struct experiment_point *point)
{
    return workload_estimate(point->workload);
}

/* Reads an entry.  What a trace says of estimates holds for policies that say
 * nothing. */
static const struct host_policy *read_policy(struct reader *r,
                                             const struct experiment_point *point,
                                             const struct conf_node *node,
                                             struct err *err)
{
    static const char *const text[ESTIMATE_COUNT] = {
        [ESTIMATE_EXACT] = "exact", [ESTIMATE_REQUESTED] = "requested",
        [ESTIMATE_NOISY] = "noisy",
    };

    return host_policy_read_as(r->arena, node, text[find_estimate(point)], &r->guests,
                               err);
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
    if (!with_check(with, word, r->swept, err))
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

/* A policy at a point, read anew unless it is as at the point before. */
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
    if (policy == NULL ||
        !host_words_check(r->arena, policy->policy, node, &names, err))
        return NULL;
    return policy;
}

/* Policies keep their number at all points.  Copies of a point share its arrays. */
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

/* Points are read in order, so that each may share with the one before. */
static bool read_points(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;

    struct sweep sweep;

    if (!sweep_open(r->arena, r->root, r->top.sweep, experiment->seed, &sweep, err))
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
    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct conf_node *tree =
            sweep_tree(&r->inputs, &sweep, i, &r->point[i].label, err);

        if (r->options->point != NULL)
            r->point[i].label = r->options->point;
        if (tree == NULL || !read_point(r, i, tree, err))
            return false;
    }
    /* A key may act at other points than the one that is asked for. */
    for (size_t i = 0; r->options->point == NULL && i < r->acting_count; i++)
        if (!with_acts(r->acting[i].with, r->acting[i].word, r->acting[i].acts, err))
            return false;
    return check_labels(r, err);
}

/* Has some point the words of `point`, and some those of `vs_point`? */
static bool check_point(const struct experiment *experiment,
                        const struct experiment_expect *e, struct err *err)
{
    bool found = e->point == NULL, other = e->versus_point == NULL;

    for (uint32_t p = 0; p < experiment->point_count; p++) {
        const char *label = experiment->point[p].label;

        found = found || point_label_has(label, e->point);
        other = other || point_label_has(label, e->versus_point);
    }
    if (found && other)
        return true;
    err_set(err, ERR_REFERENCE, found ? e->versus_point_pos : e->point_pos,
            "%s is '%.80s', which is no point of the sweep",
            found ? "vs_point" : "point", found ? e->versus_point : e->point);
    return err_hint(err, "The first one is '%.100s'.", experiment->point[0].label);
}

/* Names of policies and points in `expect:`; keys.c has checked the rest. */
static bool check_expects(struct reader *r, struct err *err)
{
    const struct experiment *experiment = r->experiment;

    for (uint32_t i = 0; i < experiment->expect_count; i++) {
        const struct experiment_expect *e = &experiment->expect[i];

        if (!check_policy(r, e->policy, e->policy_pos, "policy", err) ||
            (e->versus != NULL &&
             !check_policy(r, e->versus, e->versus_pos, "vs", err)))
            return false;
        if (e->versus != NULL && e->versus_point == NULL &&
            strcmp(e->versus, e->policy) == 0) {
            err_set(err, ERR_RANGE, e->versus_pos, "vs names %.60s, the "
                    "policy that is judged: the two never differ", e->versus);
            return err_hint(err, "Name another policy, or leave vs out and "
                            "give the limit as a number.");
        }
        if (!check_point(experiment, e, err))
            return false;
    }
    return true;
}

/* Returns the seeds that the file asks for, before --set changes them; what is
 * wrong with them is told later. */
static int64_t read_file_seeds(const struct conf_node *root)
{
    const struct conf_node *node =
        conf_kind(root) == CONF_MAP ? conf_get(root, "seeds") : NULL;
    if (node != NULL && conf_kind(node) == CONF_MAP)
        node = conf_get(node, "at_most");
    const char *text = node != NULL && conf_kind(node) == CONF_SCALAR
                           ? conf_text(node) : "1";
    int64_t seeds;

    return scan_i64(text, strlen(text), &seeds) ? seeds : 1;
}

/* An interpreter that is told of forks must run apart: it cannot run in several
 * threads of this process. */
static bool read_guests(struct reader *r, struct err *err)
{
    struct trial_guest *guest = &r->experiment->guest;

    if (!guests_read(r->top.plugins, &r->guests, guest, err))
        return false;
    guest->fork = r->options->fork;
    return guest->fork == NULL || guest->apart || r->options->guest_count == 0 ||
           err_set(err, ERR_SCHEMA, conf_pos(conf_get(r->top.plugins, "isolate")),
                   "isolate must be true, since policies of an interpreter are among "
                   "the experiment's");
}

/* Reads all but the points.  The order matters: seeds before output
 * (detail_seeds), own metrics before expect. */
static bool read_top(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;

    if (!experiment_top_read(r->root, &r->top, err))
        return false;
    if (r->options->point != NULL)
        r->top.sweep = r->top.expect = NULL;
    if (r->top.name[0] == '\0' || strpbrk(r->top.name, "/\n\t\"") != NULL ||
        r->top.name[0] == '.')
        return err_set(err, ERR_RANGE,
                       conf_pos(conf_get(r->root, "experiment")),
                       "experiment must be a name that can be a folder's: no "
                       "slash, no quotation mark, no dot in front");
    experiment->name = r->top.name;
    experiment->description = r->top.description;
    experiment->seed = (uint64_t)r->top.seed;
    experiment->own = own_metrics_read(r->arena, r->top.metrics, err);
    if (experiment->own == NULL || !experiment_seeds(r->top.seeds, experiment, err))
        return false;
    if (r->options->seeds != 0)
        experiment->seeds = r->options->seeds;
    experiment->option.fewer_seeds = experiment->seeds < r->file_seeds;
    experiment->warmup_ns = r->top.warmup_ns;
    experiment->stalled_ns = r->top.stalled_ns;
    experiment->event_count_max = (uint64_t)r->top.event_count_max;
    experiment->train = r->top.train;
    experiment->border = r->top.border;
    experiment->sensitivity = r->top.sensitivity;
    experiment->tune = r->top.tune;
    experiment->tuned = r->top.tuned;
    experiment->tree = r->root;
    if (!experiment_until(r->top.until, &experiment->until_ns, err))
        return false;
    if (!conf_acts(r->root, "stalled_after", experiment->until_ns != CLOCK_NEVER_NS,
                   "needs `until: drained`", err))
        return false;
    if (experiment->warmup_ns >= experiment->until_ns)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(r->root, "warmup")),
                       "warmup must end before until does");
    if (!read_guests(r, err) ||
        !experiment_output(r->arena, r->top.output, experiment, err) ||
        !experiment_expects(r->arena, r->top.expect, experiment, err) ||
        !experiment_stop_read(r->arena, r->top.seeds, experiment, err) ||
        !choices_read(r->arena, r->top.options, r->top.decide, experiment, err))
        return false;
    if (r->options->dir != NULL)
        experiment->dir = r->options->dir;
    return true;
}

/* The number of trials must be a 32-bit number with room for marks. */
static bool read_checked(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;
    const struct experiment_options *options = r->options;

    if (!read_top(r, err) || !read_catalogue(r, err) ||
        !name_policies(r, err) || !read_baseline(r, err) ||
        !read_points(r, err) || !check_expects(r, err))
        return false;
    if ((uint64_t)experiment->point_count * experiment->policy_count * experiment->seeds >
        UINT32_MAX / 2)
        return err_set(err, ERR_RANGE, conf_pos(r->root),
                       "the experiment must have at most %u trials, and has "
                       "%llu", UINT32_MAX / 2,
                       (unsigned long long)experiment->point_count *
                       experiment->policy_count * experiment->seeds);
    return options->check == NULL || options->check(r->arena, experiment, err);
}

/* Asks for tables that only some workloads and policies fill. */
static void add_tables(struct experiment *experiment)
{
    for (uint32_t i = 0; i < experiment->point_count; i++)
        if (workload_service_count(experiment->point[i].workload) > 0)
            experiment->tables |= EXPERIMENT_SERVICES;
    for (uint32_t i = 0; i < experiment->point_count; i++)
        for (uint32_t p = 0; p < experiment->policy_count; p++)
            if (experiment->point[i].policy[p]->rules.blocking == HOST_DROP)
                experiment->tables |= EXPERIMENT_ARRIVED;
}

/* Returns the `seed` of a tree that was read before; what is wrong with it is told
 * elsewhere. */
static uint64_t read_seed(const struct conf_node *root)
{
    const struct conf_node *node = conf_get(root, "seed");
    const char *text = node != NULL ? conf_text(node) : "1";
    int64_t seed;

    return scan_i64(text, strlen(text), &seed) ? (uint64_t)seed : 1;
}

/* Returns the tree of the point that the options name, with their settings. */
static const struct conf_node *make_one_point(struct reader *r,
                                              const struct conf_node *root,
                                              struct err *err)
{
    const struct experiment_options *options = r->options;
    const struct conf_node *tree = NULL;
    const char *label = "";
    struct sweep sweep;

    if (!sweep_open(r->arena, root, conf_get(root, "sweep"), read_seed(root), &sweep, err))
        return NULL;
    for (uint32_t i = 0; i < sweep.count && strcmp(label, options->point) != 0;
         i++) {
        tree = sweep_tree(&r->inputs, &sweep, i, &label, err);
        if (tree == NULL)
            return NULL;
    }
    assert(strcmp(label, options->point) == 0);
    for (size_t i = 0; tree != NULL && i < options->setting_count; i++)
        tree = tree_set(&r->inputs, tree, options->setting[i].key, NULL,
                        options->setting[i].text, err);
    return tree == NULL ? NULL : tree_graft(&r->inputs, tree, err);
}

static size_t count_policies(const struct conf_node *root)
{
    const struct conf_node *list =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;

    return list != NULL && conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
}

/* Returns the experiment with the policies that the options name: a word that is
 * the name of one of the file's entries stands for that entry. */
static const struct conf_node *choose_policies(struct reader *r,
                                               const struct conf_node *root,
                                               struct err *err)
{
    const struct conf_node *given =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;
    const struct conf_node *list;

    if (r->options->policies == NULL)
        return root;
    root = conf_set_text(r->arena, root, "policies", r->options->policies, err);
    list = root == NULL ? NULL : conf_get(root, "policies");
    for (size_t i = 0; given != NULL && list != NULL && conf_kind(given) == CONF_LIST &&
                       conf_kind(list) == CONF_LIST && i < conf_count(list); i++) {
        const struct conf_node *word = conf_item(list, i);

        for (size_t k = 0; conf_kind(word) == CONF_SCALAR && k < conf_count(given); k++) {
            const char *name = experiment_entry_name(conf_item(given, k));

            if (name != NULL && strcmp(name, conf_text(word)) == 0)
                root = conf_set(r->arena, root, text_format(r->arena, "policies.%zu", i),
                                conf_item(given, k), conf_pos(word), err);
        }
    }
    return root;
}

/* Reads a tree; called by conf_mend_read(), with parts replaced, until no new
 * error is found. */
static bool read_root(void *self, const struct conf_node *root,
                      struct err *err)
{
    struct reader *r = self;
    bool chosen = r->options->policies != NULL;

    *r->experiment = r->empty;
    r->top = (struct experiment_top){ 0 };
    r->root = root;
    if (!r->set) {
        r->file_seeds = read_file_seeds(root);
        r->root = guests_load(r->arena, root, &r->guests, err);
        if (r->root != NULL && chosen)  /* among options, where there are any */
            r->root = choices_open(r->arena, r->root, err);
        if (r->root != NULL)
            r->root = choose_policies(r, r->root, err);
        if (r->root != NULL)
            r->root = tree_sets(&r->inputs, r->root, r->options->set,
                                r->options->set_count, err);
        if (r->root != NULL)            /* those that --set brings */
            r->root = guests_load(r->arena, r->root, &r->guests, err);
        if (r->root != NULL && !chosen)
            r->root = choices_open(r->arena, r->root, err);
        r->file_policies = r->root != NULL ? count_policies(r->root) : 0;
        if (r->root != NULL)
            r->root = controls_add(r->arena, r->root, &r->guests, err);
        if (r->root != NULL && r->options->point != NULL)
            r->root = make_one_point(r, r->root, err);
        if (r->root == NULL)
            return false;
        r->set = true;
        r->mend.root = r->root;
    }
    return read_checked(r, err);
}

/* False, with err, for what `clustersim FILE` is given by mistake: a part of an
 * experiment. */
static bool check_experiment(const struct conf_node *root, const char *path,
                             struct err *err)
{
    static const char *const of_workload[] = { "trace", "mix", "services" };
    const char *part = conf_get(root, "nodes") != NULL ? "cluster" : NULL;

    for (size_t i = 0; i < sizeof of_workload / sizeof of_workload[0]; i++)
        if (part == NULL && conf_get(root, of_workload[i]) != NULL)
            part = "workload";
    if (part == NULL || conf_get(root, "experiment") != NULL ||
        conf_get(root, "policies") != NULL)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(root), "the file is a %s, not an "
            "experiment", part);
    return err_hint(err, "An experiment names it, `%s: %.120s`, beside its "
                    "policies; `clustersim validate` reads it alone.", part,
                    path);
}

const struct experiment *experiment_read(struct arena *arena, const char *path,
                                         const struct experiment_options *options,
                                         struct err *err)
{
    struct reader r = {
        .arena = arena, .options = options,
        .mend = { .arena = arena, .ground = "cluster",
                  .ground_words = tree_ground_words },
    };
    struct experiment *experiment = arena_alloc(arena, 1, sizeof *experiment);

    r.experiment = experiment;
    r.inputs.arena = arena;
    r.empty.path = arena_text(arena, path);
    r.empty.program_hash = options->program_hash;
    if (r.empty.program_hash == 0 &&
        (self_open_name() == NULL || !hash_file(self_open_name(), &r.empty.program_hash)))
        r.empty.program_hash = 0;
    for (size_t i = 0; i < options->guest_count; i++)
        ARENA_ADD(arena, r.guests.item, r.guests.count, r.guests.room, options->guest[i]);
    r.mend.root = options->text == NULL
        ? tree_load(&r.inputs, r.empty.path, err)
        : tree_parse(&r.inputs, r.empty.path, options->text, err);
    if (r.mend.root == NULL ||
        !check_experiment(r.mend.root, r.empty.path, err))
        return NULL;
    r.mend.stock = tree_stock(arena);
    if (!conf_mend_read(&r.mend, read_root, &r, err))
        return NULL;
    add_tables(experiment);
    experiment->input = r.inputs.item;
    experiment->input_count = r.inputs.count;
    return experiment;
}
