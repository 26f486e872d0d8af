/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls.c - adds the random floor and the ablations that `controls:` names.
 *
 * A comparison says little without knowing what makes the difference.  A
 * control that switches a part off is made for each policy that has the part
 * and has it switched on.  `colocated` is one policy more: first come, first
 * served, of jobs whose groups generate and train in turn.
 *
 * Works on the tree, before anything is read: a control is an entry of
 * `policies:` as a user could have written it, so all checks and messages hold
 * for it too.
 *
 * An example.  controls: [random, no_lending] beside policies: [fcfs, dynamic] gives policies:
 * [fcfs, dynamic, random, {policy: dynamic, name: dynamic-no_lending, lend: false}].
 */
#include "experiments/spec/controls.h"

#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* All controls.  key: the key of a policy that is set to `off`; NULL: the
 * control is a policy of its own. */
static const struct control {
    const char *name, *key, *off;
    bool layout;                /* it has another layout of the jobs */
} controls[] = {
    { "random", NULL, NULL, false },
    { "no_growth", "grow", "false", false },
    { "no_lending", "lend", "false", false },
    { "colocated", NULL, NULL, true },
};
#define CONTROLS (sizeof controls / sizeof controls[0])

const char *controls_part(unsigned i)
{
    for (size_t c = 0; c < CONTROLS; c++)
        if (controls[c].key != NULL && i-- == 0)
            return controls[c].name;
    return NULL;
}

/* Returns the control that the word names; NULL, with err: it is none. */
static const struct control *find_control(const struct conf_node *word,
                                          struct err *err)
{
    const char *names[CONTROLS + 1] = { NULL };
    const char *near;

    for (size_t i = 0; i < CONTROLS; i++) {
        names[i] = controls[i].name;
        if (conf_kind(word) == CONF_SCALAR &&
            strcmp(conf_text(word), names[i]) == 0)
            return &controls[i];
    }
    err_set(err, ERR_SCHEMA, conf_pos(word),
            "controls must be a list of: random, no_growth, no_lending, colocated");
    near = conf_kind(word) == CONF_SCALAR
               ? conf_nearest(conf_text(word), names) : NULL;
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    return NULL;
}

/* Returns the policy of an entry, or NULL: reading the entry says why. */
static const struct cs_policy *find_policy(const struct conf_node *entry,
                                           const struct registry_guests *guests)
{
    const struct registry_guest *guest;

    if (conf_kind(entry) == CONF_MAP)
        entry = conf_get(entry, "policy");
    if (entry == NULL || conf_kind(entry) != CONF_SCALAR)
        return NULL;
    guest = registry_guest(guests, conf_text(entry));
    return guest != NULL ? guest->policy : registry_find(conf_text(entry));
}

/* Has the policy this key, of its own or of the host? */
static bool has_key(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->param_count; i++)
        if (strcmp(policy->param[i].key, key) == 0)
            return true;
    return strcmp(key, "grow") == 0 && policy_accepts_key(policy, key);
}

/* Has the policy of an entry the part, and has the entry not switched it off
 * itself? */
static bool can_switch_off(const struct conf_node *entry,
                           const struct control *control,
                           const struct registry_guests *guests)
{
    const struct cs_policy *policy = find_policy(entry, guests);
    const struct conf_node *said =
        conf_kind(entry) == CONF_MAP ? conf_get(entry, control->key) : NULL;

    if (policy == NULL || !has_key(policy, control->key))
        return false;
    return said == NULL || conf_kind(said) != CONF_SCALAR ||
           strcmp(conf_text(said), control->off) != 0;
}

/* Returns the entry, with the part off, under a name of its own. */
static const struct conf_node *switch_off(struct arena *arena,
                                          const struct conf_node *entry,
                                          const struct control *control,
                                          struct err *err)
{
    const struct conf_node *map = entry, *name = entry;
    const char *text;

    if (conf_kind(entry) == CONF_MAP) {
        name = conf_get(entry, "name");
        if (name == NULL || conf_kind(name) != CONF_SCALAR)
            name = conf_get(entry, "policy");
    } else {
        map = conf_map_of(arena, "policy", entry);
    }
    text = text_format(arena, "%s-%s", conf_text(name), control->name);
    if (map != NULL)
        map = conf_set_text(arena, map, "name", text, err);
    if (map != NULL)
        map = conf_set_text(arena, map, control->key, control->off, err);
    return map;
}

/* Returns the keys of a rollout that remain where the GPUs that train also
 * generate: "{tp: 2}". */
static const char *replica_keys(struct arena *arena, const struct conf_node *rollout)
{
    static const char *const kept[] = { "tp", "precision", "concurrency", "async_scheduling" };
    const char *text = "";

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const struct conf_node *value = conf_get(rollout, kept[i]);

        if (value != NULL)
            text = text_format(arena, "%s%s%s: %s", text, text[0] == '\0' ? "" : ", ",
                               kept[i], conf_flow(arena, value));
    }
    return text_format(arena, "{%s}", text);
}

/* Has an entry of a mix its own GPUs to generate on? */
static bool is_apart(const struct conf_node *item)
{
    const struct conf_node *rollout =
        conf_kind(item) == CONF_MAP ? conf_get(item, "rollout") : NULL;
    const struct conf_node *layout =
        rollout != NULL ? conf_get(item, "layout") : NULL;

    return rollout != NULL && conf_kind(rollout) == CONF_MAP &&
           (layout == NULL || conf_kind(layout) != CONF_SCALAR ||
            strcmp(conf_text(layout), "colocated") != 0);
}

/* Returns the keys of `with:` that give all such entries one group of GPUs; "":
 * there is none.  Items are named by their number, since several may share a
 * recipe. */
static const char *colocate_keys(struct arena *arena, const struct conf_node *root)
{
    const struct conf_node *workload = conf_get(root, "workload");
    const struct conf_node *mix = workload != NULL && conf_kind(workload) == CONF_MAP
        ? conf_get(workload, "mix") : NULL;
    const char *text = "";

    for (size_t i = 0; mix != NULL && conf_kind(mix) == CONF_LIST &&
                       i < conf_count(mix); i++) {
        const struct conf_node *item = conf_item(mix, i);

        if (is_apart(item))
            text = text_format(arena, "%s%sworkload.mix.%zu.layout: colocated, "
                               "workload.mix.%zu.rollout: %s", text,
                               text[0] == '\0' ? "" : ", ", i, i,
                               replica_keys(arena, conf_get(item, "rollout")));
    }
    return text;
}

/* Returns the policies with the control `colocated`.  NULL, with err, if the
 * experiment has nothing to colocate: such a control would repeat fcfs. */
static const struct conf_node *add_colocated(struct arena *arena,
                                             const struct conf_node *root,
                                             const struct conf_node *word,
                                             struct err *err)
{
    const char *keys = colocate_keys(arena, root), *text;
    const struct conf_node *entry;

    if (keys[0] == '\0') {
        err_set(err, ERR_SCHEMA, conf_pos(word),
                "the control colocated changes no job: none of workload.mix has "
                "a rollout of its own");
        err_hint(err, "If the sweep brings the workload, write an entry of "
                 "policies that has the layout in `with`.");
        return NULL;
    }
    text = text_format(arena, "{policy: fcfs, name: colocated, blocking: skip, "
                       "with: {%s}}", keys);
    entry = conf_parse(arena, "control colocated", text, strlen(text), err);
    return entry == NULL ? NULL
                         : conf_append(arena, conf_get(root, "policies"), entry);
}

/* Returns the policies of `root` with what one control adds; NULL: err says
 * why. */
static const struct conf_node *add_control(struct arena *arena,
                                           const struct conf_node *root,
                                           const struct conf_node *word,
                                           const struct registry_guests *guests,
                                           struct err *err)
{
    const struct control *control = find_control(word, err);
    const struct conf_node *policies = conf_get(root, "policies"), *all = policies;

    if (control == NULL)
        return NULL;
    if (control->layout)
        return add_colocated(arena, root, word, err);
    if (control->key == NULL)
        return conf_append(arena, policies, word);
    for (size_t i = 0; i < conf_count(policies); i++) {
        const struct conf_node *entry = conf_item(policies, i);

        if (!can_switch_off(entry, control, guests))
            continue;
        entry = switch_off(arena, entry, control, err);
        if (entry == NULL)
            return NULL;
        all = conf_append(arena, all, entry);
    }
    if (all != policies)
        return all;
    err_set(err, ERR_SCHEMA, conf_pos(word),
            "the control %s changes none of the policies: none has `%s`, or it "
            "is `%s` already", control->name, control->key, control->off);
    err_hint(err, "Leave it out, or name a policy that has the key: see "
             "`clustersim explain POLICY`.");
    return NULL;
}

/* Controls stand behind the file's own policies, in the order of `controls:`.
 * Each control looks at the file's policies alone, so that no control is made
 * of a control. */
const struct conf_node *controls_add(struct arena *arena,
                                     const struct conf_node *root,
                                     const struct registry_guests *guests,
                                     struct err *err)
{
    const struct conf_node *own = NULL, *words = NULL, *all;

    if (conf_kind(root) == CONF_MAP) {
        own = conf_get(root, "policies");
        words = conf_get(root, "controls");
    }
    if (words == NULL || own == NULL || conf_kind(own) != CONF_LIST)
        return root;
    if (conf_kind(words) != CONF_LIST || conf_count(words) == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(words),
                "controls must be a list of at least one control");
        err_hint(err, "Write controls: [random]");
        return NULL;
    }
    all = own;
    for (size_t i = 0; i < conf_count(words); i++) {
        const struct conf_node *more =
            add_control(arena, root, conf_item(words, i), guests, err);

        if (more == NULL)
            return NULL;
        for (size_t j = conf_count(own); j < conf_count(more); j++)
            all = conf_append(arena, all, conf_item(more, j));
    }
    return conf_set(arena, root, "policies", all, conf_pos(words), err);
}
