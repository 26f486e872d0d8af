/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - names of an experiment: of its policies, and those that `baseline:` and
 * `expect:` give of policies and points.
 *
 * A name that --only leaves out is still a name of the file, so that a part of an
 * experiment is refused for the same reasons as the whole.
 */
#include "experiments/spec/reader.h"

#include <string.h>

#include "experiments/spec/experiment.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/only.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/mend.h"

/* A bound, so that points x policies x seeds stays a 32-bit number. */
#define POLICIES_MAX 1000u

/* False, with err, if an entry before number i has its name.  The error stands
 * at the later entry; but if the earlier one was guessed from a misspelt word,
 * it stands there. */
static bool check_twice(const struct conf_node *list, const char *const *all, size_t i,
                        struct err *err)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(all[i], all[j]) != 0)
            continue;
        err_set(err, ERR_SCHEMA, conf_pos(conf_item(list, conf_is_guessed(conf_item(list, j))
                                                              ? j : i)),
                "two policies are called '%.60s'", all[i]);
        return err_hint(err, "Give one of them another `name:`.");
    }
    return true;
}

bool reader_names(struct reader *r, struct err *err)
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

        if (!experiment_entry_key(item, err))
            return false;
        all[i] = experiment_entry_name(item);
        if (all[i] == NULL || all[i][0] == '\0' ||
            strpbrk(all[i], ",\"\n\t /") != NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(item),
                           "a policy must be a name or a map with the key "
                           "policy; names hold no blanks, commas or slashes");
        if (!check_twice(list, all, i, err))
            return false;
        if (only_names(r->options->only, all[i])) {
            kept[r->experiment->policy_count++] = all[i];
            /* Entries from file_policies on are what `controls:` added. */
            r->experiment->file_policy_count += i < r->file_policies;
        } else
            left[lefts++] = all[i];
    }
    r->experiment->policy_name = kept;
    r->experiment->left_out = left;
    /* Checked last, when all names are known: the message lists them. */
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

/* False, with err, unless the name is one of `policies:`, whether --only keeps
 * it or not. */
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

bool reader_baseline(struct reader *r, struct err *err)
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

/* Was the sweep, or a key of it, taken out because it is wrong?  Then its
 * points are not known, and no name of a point can be checked. */
static bool lacks_sweep(const struct reader *r)
{
    return r->top.sweep == NULL ? conf_is_hurt(r->root) : conf_is_hurt(r->top.sweep);
}

bool reader_expects(struct reader *r, struct err *err)
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
        if (!lacks_sweep(r) && !check_point(experiment, e, err))
            return false;
    }
    return true;
}
