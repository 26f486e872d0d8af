/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls.c - adds the random floor and the ablations that `controls:` names.
 *
 * A control that switches a part off is made for each policy that has the part
 * and has it switched on.
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

/* key NULL: the control is the policy of that name. */
static const struct control {
    const char *name, *key, *off;
} controls[] = {
    { "random", NULL, NULL },
    { "no_growth", "grow", "false" },
    { "no_lending", "lend", "false" },
};
#define CONTROLS (sizeof controls / sizeof controls[0])

const char *controls_part(unsigned i)
{
    for (size_t c = 0; c < CONTROLS; c++)
        if (controls[c].key != NULL && i-- == 0)
            return controls[c].name;
    return NULL;
}

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
            "controls must be a list of: random, no_growth, no_lending");
    near = conf_kind(word) == CONF_SCALAR
               ? conf_nearest(conf_text(word), names) : NULL;
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    return NULL;
}

/* Returns the policy of an entry, or NULL: reading the entry says why. */
static const struct cs_policy *find_policy(const struct conf_node *entry)
{
    if (conf_kind(entry) == CONF_MAP)
        entry = conf_get(entry, "policy");
    if (entry == NULL || conf_kind(entry) != CONF_SCALAR)
        return NULL;
    return registry_find(conf_text(entry));
}

/* Has the policy this key, of its own or of the host? */
static bool has_key(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->param_count; i++)
        if (strcmp(policy->param[i].key, key) == 0)
            return true;
    return strcmp(key, "grow") == 0 && policy_accepts_key(policy, key);
}

/* Is the part there, and not yet off? */
static bool can_switch_off(const struct conf_node *entry,
                           const struct control *control)
{
    const struct cs_policy *policy = find_policy(entry);
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
        text = text_format(arena, "{policy: %s}", conf_text(entry));
        map = conf_parse(arena, conf_pos(entry).file, text, strlen(text), err);
    }
    text = text_format(arena, "%s-%s", conf_text(name), control->name);
    if (map != NULL)
        map = conf_set_text(arena, map, "name", text, err);
    if (map != NULL)
        map = conf_set_text(arena, map, control->key, control->off, err);
    return map;
}

/* Returns the policies with what one control adds; NULL: err says why. */
static const struct conf_node *add_control(struct arena *arena,
                                           const struct conf_node *policies,
                                           const struct conf_node *word,
                                           struct err *err)
{
    const struct control *control = find_control(word, err);
    const struct conf_node *all = policies;

    if (control == NULL)
        return NULL;
    if (control->key == NULL)
        return conf_append(arena, policies, word);
    for (size_t i = 0; i < conf_count(policies); i++) {
        const struct conf_node *entry = conf_item(policies, i);

        if (!can_switch_off(entry, control))
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

const struct conf_node *controls_add(struct arena *arena,
                                     const struct conf_node *root,
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
            add_control(arena, own, conf_item(words, i), err);

        if (more == NULL)
            return NULL;
        for (size_t j = conf_count(own); j < conf_count(more); j++)
            all = conf_append(arena, all, conf_item(more, j));
    }
    return conf_set(arena, root, "policies", all, conf_pos(words), err);
}
