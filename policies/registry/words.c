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
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

const char *const *host_words(struct arena *arena,
                              const struct cs_policy *policy, const char *key)
{
    const char *words = NULL, **list;
    size_t count = 0;

    for (uint32_t i = 0; i < policy->words_count; i++)
        if (strcmp(policy->words[i].key, key) == 0)
            words = policy->words[i].words;
    if (words == NULL)
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

static bool refuse_word(const struct cs_policy *policy, const char *key,
                        const struct conf_node *value,
                        const char *const *list, struct err *err)
{
    const char *near = conf_nearest(conf_text(value), list);
    char all[160] = "";
    size_t used = 0;

    for (size_t i = 0; list[i] != NULL && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                 i == 0 ? "" : ", ", list[i]);
    err_set(err, ERR_REFERENCE, conf_pos(value),
            "'%s' of policy %s must be one of %s, found '%.60s'", key,
            policy->name, used > 0 ? all : "none, as there are none",
            conf_text(value));
    if (near != NULL)
        return err_hint(err, "Did you mean '%s'?", near);
    return err_hint(err, "These are what the cluster and the jobs have.");
}

bool host_words_check(struct arena *arena, const struct cs_policy *policy,
                      const struct conf_node *entry,
                      const struct host_names *names, struct err *err)
{
    for (uint32_t i = 0; i < policy->param_count; i++) {
        const struct cs_param *param = &policy->param[i];
        const struct conf_node *value = conf_kind(entry) == CONF_MAP
            ? conf_get(entry, param->key) : NULL;
        const char *const *list;
        bool found = false;

        if (param->type != CS_PARAM_TEXT || value == NULL)
            continue;
        list = host_words(arena, policy, param->key);
        if (list == NULL)
            continue;
        list = list_allowed(arena, list, names);
        for (size_t k = 0; list[k] != NULL; k++)
            found |= strcmp(list[k], conf_text(value)) == 0;
        if (!found)
            return refuse_word(policy, param->key, value, list, err);
    }
    return true;
}
