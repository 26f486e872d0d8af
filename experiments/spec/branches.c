/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * branches.c - turns an experiment into one policy and its branches.
 *
 * Works on the tree before anything else is read, as options and controls do: a branch is
 * an entry of `policies:` as a user could have written it, so that all checks and messages
 * hold for it too.
 *
 * An example.  `clustersim fork --at 14h --set lend=false` on policies: [dynamic] reads as if the
 * file said policies: [dynamic, {policy: dynamic, name: "lend=false", then: {at: 14h, lend:
 * false}}].
 */
#include "experiments/spec/branches.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "experiments/spec/keys.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

static const struct err_pos command_line = { NULL, 0, 0 };

/* Returns the names of the policies, with commas between. */
static const char *list_names(struct arena *arena, const struct conf_node *list)
{
    const char *text = "";

    for (size_t i = 0; i < conf_count(list); i++) {
        const char *name = experiment_entry_name(conf_item(list, i));

        text = text_format(arena, "%s%s%.60s", text, i == 0 ? "" : ", ",
                           name == NULL ? "?" : name);
    }
    return text;
}

/* Returns the entry that is forked, as a map; NULL: err says why. */
static const struct conf_node *find_entry(struct arena *arena, const struct conf_node *list,
                                          const char *policy, struct err *err)
{
    const struct conf_node *entry = NULL;

    for (size_t i = 0; i < conf_count(list); i++) {
        const char *name = experiment_entry_name(conf_item(list, i));

        if (name != NULL && (policy == NULL ? conf_count(list) == 1
                                            : strcmp(name, policy) == 0))
            entry = conf_item(list, i);
    }
    if (entry == NULL) {
        if (policy == NULL)
            err_set(err, ERR_USAGE, command_line, "the experiment has %zu policies, and one "
                    "of them runs until the fork: name it by --only", conf_count(list));
        else
            err_set(err, ERR_USAGE, command_line, "--only names '%.60s', which is not among "
                    "the policies of the experiment", policy);
        err_hint(err, "They are %.300s.", list_names(arena, list));
        return NULL;
    }
    if (conf_kind(entry) == CONF_MAP && conf_get(entry, "then") != NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(conf_get(entry, "then")), "policy %.60s has `then` "
                "already, and is forked once", experiment_entry_name(entry));
        return NULL;
    }
    if (conf_kind(entry) == CONF_MAP)
        return entry;
    return conf_map_of(arena, "policy", entry);
}

/* ---- what a branch sets ---- */

/* Returns the key of the policy that a word means: "policies.static.lend" and "lend" are
 * one.  NULL, with err: it is a key of something that cannot change. */
static const char *own_key(struct arena *arena, const char *key, const char *policy,
                           struct err *err)
{
    static const char *const root[] = { "cluster", "workload", "seed", "seeds", "until",
                                        "warmup", "sweep", "fidelity" };
    const char *own = text_format(arena, "policies.%s.", policy);

    if (strncmp(key, own, strlen(own)) == 0)
        return key + strlen(own);
    for (size_t i = 0; i < sizeof root / sizeof root[0]; i++) {
        size_t bytes = strlen(root[i]);

        if (strncmp(key, root[i], bytes) != 0 || (key[bytes] != '\0' && key[bytes] != '.'))
            continue;
        err_set(err, ERR_USAGE, command_line, "--set: '%.80s' cannot change while a trial runs, "
                "only keys of its policy can", key);
        err_hint(err, "`clustersim explain POLICY` lists them; `policy=NAME` lets another one "
                 "take over.");
        return NULL;
    }
    return key;
}

/* Returns the map {at: TIME}; NULL: err says that it is no time. */
static const struct conf_node *read_at(struct arena *arena, const char *at, struct err *err)
{
    const struct conf_field field = { .key = "--at", .type = CONF_TIME, .max = 1e9 };
    const char *text = "{at: 0s}";
    const struct conf_node *then = conf_parse(arena, "--set", text, strlen(text), err);
    const struct conf_node *time = then == NULL ? NULL
        : conf_parse(arena, "--at", at, strlen(at), err);
    int64_t ns;

    if (time != NULL && conf_read(time, &field, &ns, err))
        return conf_set(arena, then, "at", time, conf_pos(time), err);
    err->kind = ERR_USAGE;
    err->pos = command_line;
    return NULL;
}

/* Returns the map {at: ...} with the keys of one --set; NULL: err says why. */
static const struct conf_node *read_set(struct arena *arena,
                                        const struct experiment_branches *branches,
                                        const char *policy, const char *set, struct err *err)
{
    const char *equals = strchr(set, '='), *key;
    const struct conf_node *then = read_at(arena, branches->at, err), *map;

    if (then == NULL)
        return NULL;
    if (set[0] != '{') {
        if (equals == NULL || equals == set) {
            err_set(err, ERR_USAGE, command_line,
                    "--set needs KEY=VALUE or {KEY: VALUE, ..}, and got '%.80s'", set);
            return NULL;
        }
        key = own_key(arena, text_format(arena, "%.*s", (int)(equals - set), set), policy, err);
        return key == NULL ? NULL : conf_set_text(arena, then, key, equals + 1, err);
    }
    map = conf_parse(arena, "--set", set, strlen(set), err);
    for (size_t i = 0; map != NULL && conf_kind(map) == CONF_MAP && i < conf_count(map); i++) {
        key = own_key(arena, conf_key(map, i), policy, err);
        then = key == NULL ? NULL
             : conf_set(arena, then, key, conf_value(map, i), conf_pos(map), err);
        if (then == NULL)
            return NULL;
    }
    return map == NULL ? NULL : then;
}

/* Returns what a branch sets as one word: "lend=false+reserve=0.2".  Names of
 * policies hold no blanks, commas or slashes, so that these are left out or
 * replaced. */
static const char *branch_name(struct arena *arena, const struct conf_node *then)
{
    const char *text = "";
    char *name;

    for (size_t i = 0; i < conf_count(then); i++)
        if (strcmp(conf_key(then, i), "at") != 0)
            text = text_format(arena, "%s%s%s=%s", text, text[0] == '\0' ? "" : "+",
                               conf_key(then, i), conf_flow(arena, conf_value(then, i)));
    name = arena_alloc(arena, strlen(text) + 1, 1);
    for (size_t i = 0, n = 0; text[i] != '\0'; i++)
        if (text[i] != ' ' && text[i] != '"')
            name[n++] = text[i] == ',' || text[i] == '/' ? '_' : text[i];
    return name;
}

/* Returns the entry as branch `i` has it; NULL: err says why. */
static const struct conf_node *make_branch(struct arena *arena, const struct conf_node *entry,
                                           const struct experiment_branches *branches,
                                           size_t i, struct err *err)
{
    const struct conf_node *then = read_set(arena, branches, experiment_entry_name(entry),
                                            branches->set[i], err);

    if (then == NULL)
        return NULL;
    entry = conf_set(arena, entry, "name",
                     conf_scalar_at(arena, entry, branch_name(arena, then)), conf_pos(entry),
                     err);
    return entry == NULL ? NULL
                         : conf_set(arena, entry, "then", then, conf_pos(then), err);
}

/* ---- the experiment ---- */

/* Returns the experiment without the keys that speak of other policies. */
static const struct conf_node *leave_out(struct arena *arena, const struct conf_node *root)
{
    static const char *const out[] = { "expect", "controls", "options", "decide", "tuned",
                                       "tune", "train", "border", "sensitivity", "baseline" };
    const struct conf_node *all = NULL;

    for (size_t i = 0; i < conf_count(root); i++) {
        bool stays = true;

        for (size_t k = 0; k < sizeof out / sizeof out[0]; k++)
            stays &= strcmp(conf_key(root, i), out[k]) != 0;
        if (stays)
            all = conf_take(arena, all, root, i);
    }
    return all;
}

/* False, with err, if the sweep changes keys of policies: it would change the
 * past of one branch alone. */
static bool check_sweep(const struct conf_node *root, struct err *err)
{
    const struct conf_node *sweep = conf_get(root, "sweep");

    for (size_t i = 0; sweep != NULL && conf_kind(sweep) == CONF_MAP && i < conf_count(sweep);
         i++)
        if (strncmp(conf_key(sweep, i), "policies", 8) == 0) {
            err_set(err, ERR_SCHEMA, conf_key_pos(sweep, i), "the experiment sweeps "
                    "'%.80s', and branches have one past", conf_key(sweep, i));
            return err_hint(err, "Set it in the entry, and fork once for each value.");
        }
    return true;
}

const struct conf_node *branches_open(struct arena *arena, const struct conf_node *root,
                                      const struct experiment_branches *branches,
                                      struct err *err)
{
    const struct conf_node *list, *entry, *all;

    if (conf_kind(root) != CONF_MAP || conf_get(root, "policies") == NULL ||
        conf_kind(conf_get(root, "policies")) != CONF_LIST)
        return root;            /* reading it says what is wrong */
    assert(branches->count > 0);
    list = conf_get(root, "policies");
    entry = find_entry(arena, list, branches->policy, err);
    if (entry == NULL || !check_sweep(root, err))
        return NULL;
    all = conf_parse(arena, conf_pos(list).file, "[]", 2, err);
    all = all == NULL ? NULL : conf_append(arena, all, entry);
    for (size_t i = 0; all != NULL && i < branches->count; i++) {
        const struct conf_node *branch = make_branch(arena, entry, branches, i, err);

        all = branch == NULL ? NULL : conf_append(arena, all, branch);
    }
    if (all == NULL)
        return NULL;
    return conf_set(arena, leave_out(arena, root), "policies", all, conf_pos(list), err);
}
