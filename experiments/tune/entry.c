/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entry.c - see the header.
 *
 * A policy stands in `policies:` as a word or as a map; tuned keys come as
 * "policies.NAME.KEY" or as keys of the workload and the cluster, which belong
 * into the `with` of the entry.  Two uses: as settings of a probe, and as YAML
 * for tuned.yaml.  In the first, relative paths must be found from the current
 * folder; in the second they stay as the file has them.
 *
 * Where a choice sets a key twice, the last one counts.
 */
#include "experiments/tune/entry.h"

#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Returns the name that results have: `name`, else `policy`. */
static const char *entry_name(const struct conf_node *entry)
{
    const struct conf_node *name = entry;

    if (conf_kind(entry) == CONF_MAP) {
        name = conf_get(entry, "name");
        if (name == NULL)
            name = conf_get(entry, "policy");
    }
    return conf_text(name);
}

const struct conf_node *entry_find(const struct experiment *experiment,
                                   const char *policy)
{
    const struct conf_node *list = conf_get(experiment->tree, "policies");

    for (size_t i = 0; i < conf_count(list); i++)
        if (strcmp(entry_name(conf_item(list, i)), policy) == 0)
            return conf_item(list, i);
    return NULL;
}

/* Returns the key below "policies.NAME.", or NULL: it is of the cluster or the workload.
 * Keys of other policies are not in a choice any more (space_draw()). */
static const char *own_key(const char *key, const char *policy)
{
    size_t before = strlen("policies.");

    if (strncmp(key, "policies.", before) != 0 ||
        strncmp(key + before, policy, strlen(policy)) != 0)
        return NULL;
    return key + before + strlen(policy) + 1;
}

/* Returns a value as YAML.  `from_here`: a text that names a file beside the
 * experiment becomes a path from the current folder, since settings of a probe
 * have no file of their own. */
static const char *write_value(struct arena *arena, const struct conf_node *value,
                               bool from_here)
{
    if (from_here && conf_kind(value) == CONF_SCALAR) {
        const char *path = path_beside(arena, conf_pos(value).file, conf_text(value));

        if (path_is_file(path))
            return conf_flow(arena, conf_scalar_at(arena, value, path));
    }
    return conf_flow(arena, value);
}

/* Does the choice set that key? */
static bool is_set(const struct space_choice *choice, const char *key)
{
    for (size_t i = 0; i < choice->count; i++)
        if (strcmp(choice->set[i].key, key) == 0)
            return true;
    return false;
}

/* Is setting `i` overruled by a later one of the same key? */
static bool is_replaced(const struct space_choice *choice, size_t i)
{
    struct space_choice later = { choice->set + i + 1, choice->count - i - 1 };

    return is_set(&later, choice->set[i].key);
}

/* Returns the map of `with` as YAML: what the entry has, but for keys that the
 * choice sets, and then these.  NULL: there is none. */
static const char *write_with(struct arena *arena, const struct conf_node *entry,
                              const char *policy, const struct space_choice *choice,
                              bool from_here)
{
    const struct conf_node *with =
        conf_kind(entry) == CONF_MAP ? conf_get(entry, "with") : NULL;
    const char *text = "", *comma = "";

    for (size_t i = 0; with != NULL && i < conf_count(with); i++) {
        if (is_set(choice, conf_key(with, i)))
            continue;
        text = text_format(arena, "%s%s%s: %s", text, comma, conf_key(with, i),
                           write_value(arena, conf_value(with, i), from_here));
        comma = ", ";
    }
    for (size_t i = 0; i < choice->count; i++) {
        if (own_key(choice->set[i].key, policy) != NULL || is_replaced(choice, i))
            continue;
        text = text_format(arena, "%s%s%s: %s", text, comma, choice->set[i].key,
                           choice->set[i].text);
        comma = ", ";
    }
    return text[0] == '\0' ? NULL : text_format(arena, "{%s}", text);
}

/* `with` is set as a whole, since a setting can replace a key but not merge into a
 * map. */
struct space_choice entry_settings(struct arena *arena, const struct conf_node *entry,
                                   const char *policy,
                                   const struct space_choice *choice)
{
    struct experiment_setting *set = arena_alloc(arena, choice->count + 1, sizeof *set);
    const char *with = write_with(arena, entry, policy, choice, true);
    bool any = false;
    size_t count = 0;

    for (size_t i = 0; i < choice->count; i++) {
        any |= own_key(choice->set[i].key, policy) == NULL;
        if (own_key(choice->set[i].key, policy) != NULL && !is_replaced(choice, i))
            set[count++] = choice->set[i];
    }
    if (any)
        set[count++] = (struct experiment_setting){
            text_format(arena, "policies.%s.with", policy), with
        };
    return (struct space_choice){ set, count };
}

/* A bare word becomes a map first: only a map can have keys. */
const char *entry_text(struct arena *arena, const struct conf_node *entry,
                       const char *policy, const struct space_choice *choice,
                       struct err *err)
{
    const char *with = write_with(arena, entry, policy, choice, false);

    if (conf_kind(entry) != CONF_MAP && choice->count > 0)
        entry = conf_map_of(arena, "policy", entry);
    for (size_t i = 0; entry != NULL && i < choice->count; i++) {
        const char *key = own_key(choice->set[i].key, policy);

        if (key != NULL)
            entry = conf_set_text(arena, entry, key, choice->set[i].text, err);
    }
    if (entry != NULL && with != NULL && choice->count > 0)
        entry = conf_set_text(arena, entry, "with", with, err);
    return entry == NULL ? NULL : conf_flow(arena, entry);
}
