/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guests.c - policies from files, loaded before the rest is read.
 */
#include "experiments/spec/guests.h"

#include "experiments/plugins/plugin.h"
#include "experiments/spec/experiment.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

struct guest_keys {
    bool isolate;
    double memory_bytes;
    int64_t event_limit_ns;
};

static const struct conf_field guests_field[] = {
    CONF_KEY("isolate", CONF_BOOL, guest_keys, isolate, "true",
             "each trial in a process of its own: a crash, an endless loop or too much "
             "memory ends that trial and no other"),
    CONF_KEY("event_limit", CONF_TIME, guest_keys, event_limit_ns, "60s",
             "wall time after which a trial that gets no event further is ended",
             .min = 1, .max = 1e6),
    CONF_KEY("memory", CONF_BYTES, guest_keys, memory_bytes, "4GB",
             "memory of such a process, this program's own included", .min = 1e8, .max = 1e15),
};
const struct conf_schema experiment_plugins_schema =
    CONF_SCHEMA("experiment.plugins", "how trials of policies from files run",
                guests_field);

bool guests_read(const struct conf_node *node, const struct registry_guests *guests,
                 struct trial_guest *out, struct err *err)
{
    struct guest_keys keys = { .isolate = true, .memory_bytes = 4e9,
                               .event_limit_ns = 60 * CLOCK_NS_PER_S };

    if (node != NULL && !conf_fill(node, &experiment_plugins_schema, &keys, err))
        return false;
    if (node != NULL && guests->count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(node), "key plugins has no effect: no "
                       "policy is from a file");
    if (node != NULL &&
        (!conf_acts(node, "event_limit", !keys.isolate, "needs `isolate: true`", err) ||
         !conf_acts(node, "memory", !keys.isolate, "needs `isolate: true`", err)))
        return false;
    *out = (struct trial_guest){ keys.isolate, keys.memory_bytes, keys.event_limit_ns };
    return true;
}

/* The scalar that says which policy an entry has; NULL: reading the entry says
 * why. */
static const struct conf_node *word_of(const struct conf_node *entry)
{
    if (conf_kind(entry) == CONF_MAP)
        entry = conf_get(entry, "policy");
    return entry != NULL && conf_kind(entry) == CONF_SCALAR ? entry : NULL;
}

static const struct registry_guest *load_guest(struct arena *arena,
                                               const struct conf_node *word,
                                               struct registry_guests *guests,
                                               struct err *err)
{
    const struct registry_guest *known = registry_guest(guests, conf_text(word));
    const char *path = path_beside(arena, conf_pos(word).file, conf_text(word));
    struct plugin plugin;

    if (known != NULL)
        return known;
    if (!plugin_load(arena, path, conf_pos(word), &plugin, err))
        return NULL;
    ARENA_ADD(arena, guests->item, guests->count, guests->room,
              (struct registry_guest){ conf_text(word), plugin.policy, plugin.hash });
    return &guests->item[guests->count - 1];
}

/* Returns the experiment with a name in the i-th entry. */
static const struct conf_node *name_entry(struct arena *arena,
                                          const struct conf_node *root, size_t i,
                                          const char *name, struct err *err)
{
    const struct conf_node *entry = conf_item(conf_get(root, "policies"), i);
    const char *place = text_format(arena, "policies.%zu", i);

    if (conf_kind(entry) == CONF_SCALAR) {
        const struct conf_node *map =
            conf_parse(arena, conf_pos(entry).file, "{}", 2, err);

        map = map == NULL ? NULL : conf_set(arena, map, "policy", entry,
                                            conf_pos(entry), err);
        root = map == NULL ? NULL : conf_set(arena, root, place, map, conf_pos(entry),
                                             err);
    } else if (conf_get(entry, "name") != NULL) {
        return root;
    }
    return root == NULL ? NULL
         : conf_set_text(arena, root, text_format(arena, "%s.name", place), name, err);
}

const struct conf_node *guests_load(struct arena *arena, const struct conf_node *root,
                                    struct registry_guests *guests, struct err *err)
{
    const struct conf_node *list =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;

    if (list == NULL || conf_kind(list) != CONF_LIST)
        return root;
    for (size_t i = 0; root != NULL && i < conf_count(list); i++) {
        const struct conf_node *word = word_of(conf_item(list, i));
        const struct registry_guest *guest;

        if (word == NULL || !plugin_is_file(conf_text(word)))
            continue;
        guest = load_guest(arena, word, guests, err);
        if (guest == NULL)
            return NULL;
        root = name_entry(arena, root, i, guest->policy->name, err);
    }
    return root;
}

uint64_t guests_hash(const struct registry_guests *guests,
                     const struct conf_node *entry, uint64_t hash)
{
    const struct conf_node *word = word_of(entry);
    const struct registry_guest *guest =
        word == NULL ? NULL : registry_guest(guests, conf_text(word));

    return guest == NULL ? hash : hash_u64(hash, guest->hash);
}
