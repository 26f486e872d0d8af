/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words.c - the words that a text parameter may be.
 */
#include "policies/registry/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Such a text is a list of names or of pairs, which tenant_words.c reads, and no single word. */
bool host_names_tenants(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->words_count; i++)
        if (strcmp(policy->words[i].key, key) == 0)
            return strcmp(policy->words[i].words, CS_FOR_TENANTS) == 0 ||
                   strcmp(policy->words[i].words, CS_GPUS_OF_TENANTS) == 0;
    return false;
}

/* A list of words stands in the table as one text with blanks between. */
const char *const *host_words(struct arena *arena,
                              const struct cs_policy *policy, const char *key)
{
    const char *words = NULL, **list;
    size_t count = 0;

    for (uint32_t i = 0; i < policy->words_count; i++)
        if (strcmp(policy->words[i].key, key) == 0)
            words = policy->words[i].words;
    if (words == NULL || host_names_tenants(policy, key))
        return NULL;
    list = arena_alloc(arena, strlen(words) + 2, sizeof *list);
    for (char *at = arena_text(arena, words); *at != '\0';) {
        size_t bytes = strcspn(at, " ");
        bool last = at[bytes] == '\0';

        at[bytes] = '\0';
        list[count++] = at;
        at += bytes + !last;
    }
    return list;
}

/* Returns a list of the first list's texts and then the second's. */
static const char *const *join_lists(struct arena *arena,
                                     const char *const *first,
                                     const char *const *second)
{
    size_t a = 0, b = 0;
    const char **list;

    while (first[a] != NULL)
        a++;
    while (second[b] != NULL)
        b++;
    list = arena_alloc(arena, a + b + 1, sizeof *list);
    memcpy(list, first, a * sizeof *list);
    memcpy(list + a, second, b * sizeof *list);
    return list;
}

/* Returns all values of a parameter: its words, with the experiment's names for
 * CS_A_POOL and CS_A_ROLE. */
static const char *const *list_allowed(struct arena *arena,
                                       const char *const *words,
                                       const struct host_names *names)
{
    static const char *const none[] = { NULL };
    const char *const *list = none;

    for (size_t i = 0; words[i] != NULL; i++) {
        const char *const one[] = { words[i], NULL };

        if (strcmp(words[i], CS_A_POOL) == 0)
            list = join_lists(arena, list, names->pool);
        else if (strcmp(words[i], CS_A_ROLE) == 0)
            list = join_lists(arena, list, names->role);
        else
            list = join_lists(arena, list, one);
    }
    return list;
}

/* "a, b, c"; cut off where the room ends, as lists of pools may be long. */
void host_list_write(const char *const *list, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "%s",
                                   list[0] == NULL ? "none, as there are none" : "");

    for (size_t i = 0; list[i] != NULL && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s",
                                 i == 0 ? "" : ", ", list[i]);
}

/* Reports a parameter that the entry does not say, and whose default is no name
 * of this cluster.  Returns false. */
static bool refuse_default(const struct cs_policy *policy,
                           const struct cs_param *param,
                           const struct conf_node *entry,
                           const char *const *list, struct err *err)
{
    char all[160];

    host_list_write(list, all, sizeof all);
    if (param->fallback[0] == '\0')
        err_set(err, ERR_REFERENCE, conf_pos(entry), "policy %s needs the key "
                "'%s', which must be one of %s", policy->name, param->key, all);
    else
        err_set(err, ERR_REFERENCE, conf_pos(entry), "'%s' of policy %s must be one "
                "of %s, and is not set: its default is '%s'", param->key,
                policy->name, all, param->fallback);
    return err_hint(err, "Write `{policy: %s, %s: ...}` with one of them.",
                    policy->name, param->key);
}

/* Sets the error of a word that is not in the list, with the nearest one.  Returns
 * false. */
static bool refuse_word(const struct cs_policy *policy, const char *key,
                        const struct conf_node *value,
                        const char *const *list, struct err *err)
{
    const char *near = conf_nearest(conf_text(value), list);
    char all[160];

    host_list_write(list, all, sizeof all);
    err_set(err, ERR_REFERENCE, conf_pos(value),
            "'%s' of policy %s must be one of %s, found '%.60s'", key,
            policy->name, all, conf_text(value));
    if (near != NULL)
        return err_hint(err, "Did you mean '%s'?", near);
    return err_hint(err, "These are what the cluster and the jobs have.");
}

/* The list ends with NULL. Letters count as they are written. */
bool host_is_listed(const char *const *list, const char *word)
{
    size_t i = 0;

    while (list[i] != NULL && strcmp(list[i], word) != 0)
        i++;
    return list[i] != NULL;
}

/* Checks a text that the entry says, or (not `said`) a default that names a pool;
 * one that names a role may be of jobs that other points have. */
static bool check_text(struct arena *arena, const struct cs_policy *policy,
                       const struct cs_param *param, const struct conf_node *entry,
                       const struct host_names *names, bool said, struct err *err)
{
    const struct conf_node *value = conf_kind(entry) == CONF_MAP
        ? conf_get(entry, param->key) : NULL;
    const char *const *words, *const *list;

    if (param->type != CS_PARAM_TEXT || said != (value != NULL))
        return true;
    words = host_words(arena, policy, param->key);
    if (words == NULL || (!said && !host_is_listed(words, CS_A_POOL)))
        return true;
    list = list_allowed(arena, words, names);
    if (host_is_listed(list, said ? conf_text(value) : param->fallback))
        return true;
    return said ? refuse_word(policy, param->key, value, list, err)
                : refuse_default(policy, param, entry, list, err);
}

/* What the entry says is checked before defaults, so that a wrong word is
 * reported first. */
bool host_words_check(struct arena *arena, const struct cs_policy *policy,
                      const struct conf_node *entry,
                      const struct host_names *names, struct err *err)
{
    for (int said = 1; said >= 0; said--)
        for (uint32_t i = 0; i < policy->param_count; i++)
            if (!check_text(arena, policy, &policy->param[i], entry, names, said, err))
                return false;
    return true;
}
