/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guests.c - policies from files and programs, loaded before the rest is read.
 *
 * An entry that names a file (.c, .so) or has `exec:` becomes an entry with a
 * policy and a name as any other; the table behind the name is the guest's.  A
 * file is compiled and loaded once, however many entries name it.  Loading
 * comes first since a policy's own keys are known only from its table.
 */
#include "experiments/spec/guests.h"

#include <string.h>

#include "experiments/exec/exec.h"
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

/* What an entry with `exec:` has as its policy: this, and the command. */
#define EXEC_WORD "exec:"

/* The keys of `plugins:`. */
struct guest_keys {
    bool isolate;               /* each trial in a process of its own */
    double memory_bytes;        /* of such a process at most, this program included */
    int64_t event_limit_ns;     /* wall time without a new event, then it is ended */
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

/* A program always has a process of its own, so that `isolate: false` is
 * refused if one is among the policies. */
bool guests_read(const struct conf_node *node, const struct registry_guests *guests,
                 struct trial_guest *out, struct err *err)
{
    struct guest_keys keys = { .isolate = true, .memory_bytes = 4e9,
                               .event_limit_ns = 60 * CLOCK_NS_PER_S };

    if (node != NULL && !conf_fill(node, &experiment_plugins_schema, &keys, err))
        return false;
    if (node != NULL && guests->count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(node), "key plugins has no effect: no "
                       "policy is from a file or a program");
    if (node != NULL &&
        (!conf_acts(node, "event_limit", !keys.isolate, "needs `isolate: true`", err) ||
         !conf_acts(node, "memory", !keys.isolate, "needs `isolate: true`", err)))
        return false;
    for (size_t i = 0; i < guests->count; i++) {
        if (!exec_is(guests->item[i].policy))
            continue;
        if (!keys.isolate)
            return err_set(err, ERR_SCHEMA, conf_pos(conf_get(node, "isolate")), "isolate "
                           "must be true, since a policy is a program: it ends with the "
                           "process of its trial");
        exec_set_limit(guests->item[i].policy, keys.event_limit_ns);
    }
    *out = (struct trial_guest){ .apart = keys.isolate, .memory_bytes = keys.memory_bytes,
                                 .event_limit_ns = keys.event_limit_ns,
                                 .time_limit_ns = CLOCK_NEVER_NS };
    return true;
}

static const struct conf_field limits_field[] = {
    CONF_KEY("event", CONF_TIME, trial_guest, event_limit_ns, CONF_ABSENT,
             "wall time after which a trial that gets no event further is ended",
             .min = 1, .max = 1e6),
    CONF_KEY("time", CONF_TIME, trial_guest, time_limit_ns, CONF_ABSENT,
             "wall time after which a trial is ended", .min = 1, .max = 1e7),
    CONF_KEY("memory", CONF_BYTES, trial_guest, memory_bytes, CONF_ABSENT,
             "memory that a trial may have, this program's own included", .min = 1e8,
             .max = 1e15),
};
const struct conf_schema experiment_trial_limits_schema =
    CONF_SCHEMA("experiment.trial_limits", "what one trial may take: each has a process of "
                "its own, and one that takes more fails alone", limits_field);

/* Limits for a trial of a built-in policy.  For other policies `plugins` has
 * limits, except that of the time in all, which is read here for both. */
bool guests_read_limits(const struct conf_node *node, struct trial_processes *out,
                        struct err *err)
{
    struct trial_guest limits = { .event_limit_ns = CLOCK_NEVER_NS,
                                  .time_limit_ns = CLOCK_NEVER_NS };

    out->built_in = limits;
    if (node == NULL)
        return true;
    if (!conf_fill(node, &experiment_trial_limits_schema, &limits, err))
        return false;
    if (conf_count(node) == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(node), "trial_limits needs event, time or "
                       "memory");
    limits.apart = true;
    out->guest.time_limit_ns = limits.time_limit_ns;
    out->built_in = limits;
    return true;
}

/* Returns the scalar that says which policy an entry has; NULL: reading the entry
 * says why. */
static const struct conf_node *entry_word(const struct conf_node *entry)
{
    if (conf_kind(entry) == CONF_MAP)
        entry = conf_get(entry, "policy");
    return entry != NULL && conf_kind(entry) == CONF_SCALAR ? entry : NULL;
}

/* Returns the guest of a file, which is compiled and loaded at its first entry.
 * The path is relative to the file that has the entry. */
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

/* ---- programs ---- */

/* Returns the command of `exec:` as one text: words of a list in quotation marks.
 * NULL, with err: a word has both kinds of marks, or it is no list of words. */
static const char *read_command(struct arena *arena, const struct conf_node *exec,
                                struct err *err)
{
    const char *command = "";

    if (conf_kind(exec) == CONF_SCALAR)
        return conf_text(exec);
    for (size_t i = 0; conf_kind(exec) == CONF_LIST && i < conf_count(exec); i++) {
        const struct conf_node *word = conf_item(exec, i);
        const char *text = conf_kind(word) == CONF_SCALAR ? conf_text(word) : "\"\'";
        const char *quote = strchr(text, '"') != NULL ? "'" : "\"";

        if (strchr(text, quote[0]) != NULL) {
            command = "";
            break;
        }
        command = text_format(arena, "%s%s%s%s%s", command, i == 0 ? "" : " ", quote, text,
                              quote);
    }
    if (command[0] != '\0')
        return command;
    err_set(err, ERR_SCHEMA, conf_pos(exec), "exec must be a program and its arguments: one "
            "text, or a list of words");
    return NULL;
}

/* Returns the folder of the file that names the program, where it will run. */
static const char *find_folder(struct arena *arena, const struct conf_node *exec)
{
    const char *file = conf_pos(exec).file;
    const char *slash = file == NULL ? NULL : strrchr(file, '/');

    return slash == NULL ? "." : text_format(arena, "%.*s", (int)(slash - file) + 1, file);
}

/* Returns the guest of a program, which is started at its first entry.  It is
 * known by its command as written. */
static const struct registry_guest *load_program(struct arena *arena,
                                                 const struct conf_node *exec,
                                                 const char *command,
                                                 struct registry_guests *guests,
                                                 struct err *err)
{
    const char *written = text_format(arena, EXEC_WORD "%s", command);
    const struct registry_guest *known = registry_guest(guests, written);
    const struct cs_policy *policy;
    uint64_t hash;

    if (known != NULL)
        return known;
    policy = exec_load(arena, command, find_folder(arena, exec), conf_pos(exec), &hash, err);
    if (policy == NULL)
        return NULL;
    ARENA_ADD(arena, guests->item, guests->count, guests->room,
              (struct registry_guest){ written, policy, hash });
    return &guests->item[guests->count - 1];
}

/* Gives the i-th entry, which has `exec:`, the policy that its program is. */
static const struct conf_node *set_program(struct arena *arena,
                                           const struct conf_node *root, size_t i,
                                           struct registry_guests *guests,
                                           const struct registry_guest **guest,
                                           struct err *err)
{
    const struct conf_node *entry = conf_item(conf_get(root, "policies"), i);
    const struct conf_node *exec = conf_get(entry, "exec");
    const struct conf_node *policy = conf_get(entry, "policy");
    const char *place = text_format(arena, "policies.%zu", i), *command;

    if (policy != NULL && (conf_kind(policy) != CONF_SCALAR ||
                           strncmp(conf_text(policy), EXEC_WORD, strlen(EXEC_WORD)) != 0)) {
        err_set(err, ERR_SCHEMA, conf_pos(policy), "keys policy and exec exclude each other");
        return NULL;
    }
    command = read_command(arena, exec, err);
    *guest = command == NULL ? NULL : load_program(arena, exec, command, guests, err);
    if (*guest == NULL)
        return NULL;
    root = conf_set(arena, root, text_format(arena, "%s.exec", place),
                    conf_scalar_at(arena, exec, command), conf_pos(exec), err);
    return root == NULL ? NULL
         : conf_set(arena, root, text_format(arena, "%s.policy", place),
                    conf_scalar_at(arena, exec, (*guest)->written), conf_pos(exec), err);
}

/* Returns the experiment with a name in the i-th entry. */
static const struct conf_node *name_entry(struct arena *arena,
                                          const struct conf_node *root, size_t i,
                                          const char *name, struct err *err)
{
    const struct conf_node *entry = conf_item(conf_get(root, "policies"), i);
    const char *place = text_format(arena, "policies.%zu", i);

    if (conf_kind(entry) == CONF_SCALAR) {
        root = conf_set(arena, root, place, conf_map_of(arena, "policy", entry),
                        conf_pos(entry), err);
    } else if (conf_get(entry, "name") != NULL) {
        return root;
    }
    return root == NULL ? NULL
         : conf_set_text(arena, root, text_format(arena, "%s.name", place), name, err);
}

/* Entries are gone through by number, since the tree changes when a name is
 * set. */
const struct conf_node *guests_load(struct arena *arena, const struct conf_node *root,
                                    struct registry_guests *guests, struct err *err)
{
    const struct conf_node *list =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;

    if (list == NULL || conf_kind(list) != CONF_LIST)
        return root;
    for (size_t i = 0; root != NULL && i < conf_count(list); i++) {
        const struct conf_node *entry = conf_item(list, i), *word = entry_word(entry);
        const struct registry_guest *guest = NULL;

        if (conf_kind(entry) == CONF_MAP && conf_get(entry, "exec") != NULL)
            root = set_program(arena, root, i, guests, &guest, err);
        else if (word != NULL && plugin_is_file(conf_text(word)))
            guest = load_guest(arena, word, guests, err);
        else
            continue;
        if (guest == NULL || root == NULL)
            return NULL;
        root = name_entry(arena, root, i, guest->policy->name, err);
    }
    return root;
}

uint64_t guests_hash(const struct registry_guests *guests,
                     const struct conf_node *entry, uint64_t hash)
{
    const struct conf_node *word = entry_word(entry);
    const struct registry_guest *guest =
        word == NULL ? NULL : registry_guest(guests, conf_text(word));

    return guest == NULL ? hash : hash_u64(hash, guest->hash);
}
