/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenant_words.c - texts of a policy that name tenants, and the GPUs that each has.
 *
 * Such a text is a list of pairs, as "a=16 b=25% 'my team'=4".  quotas.h reads the amounts, for
 * the policy; here the names are compared with the tenants of the workload, so that a misspelt
 * name is found before the run.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/quotas.h"
#include "policies/registry/words.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Takes the next "NAME=..." of a text, writes a NUL behind the name, and
 * returns it; *at moves behind the pair.  Names with blanks or = stand in
 * single quotes.  Words without = are passed over.  NULL: there is none left. */
static const char *next_named(char **at)
{
    while (**at != '\0') {
        bool quoted = **at == '\'';
        char *name = *at + quoted, *end = name + strcspn(name, quoted ? "'" : "= ");
        const char *behind = end + (quoted && *end != '\0');
        bool pair = *behind == '=';

        *at += (size_t)(behind - *at) + strcspn(behind, " ");
        *at += **at != '\0';
        *end = '\0';
        if (pair)
            return name;
    }
    return NULL;
}

/* Returns the tenant that was probably meant by a name that is none: one that the text does
 * not name besides; NULL: none is near. */
static const char *find_meant(struct arena *arena, const char *text, const char *name,
                              const char *const *tenants)
{
    size_t count = 0, left = 0, named = 0;
    char *at = arena_text(arena, text);
    const char **rest, **other, *next;

    while (tenants[count] != NULL)
        count++;
    rest = arena_alloc(arena, count + 1, sizeof *rest);
    other = arena_alloc(arena, strlen(text) / 2 + 2, sizeof *other);
    while ((next = next_named(&at)) != NULL)
        other[named++] = next;
    for (size_t i = 0; i < count; i++)
        if (!host_is_listed(other, tenants[i]))
            rest[left++] = tenants[i];
    return conf_nearest(name, rest);
}

/* Sets the error of a name that is no tenant.  Returns false. */
static bool refuse_tenant(const struct cs_policy *policy, const char *key,
                          const struct conf_node *value, const char *name, const char *near,
                          const char *const *tenants, struct err *err)
{
    char all[160];

    host_list_write(tenants, all, sizeof all);
    err_set(err, ERR_REFERENCE, conf_pos(value), "'%s' of policy %s names '%.60s', and no "
            "job or service is of that tenant; tenants: %s", key, policy->name, name, all);
    if (near != NULL)
        err_hint(err, "Did you mean '%s'?", near);
    return false;
}

/* A name that is no tenant is an error only if it looks like a slip: a tenant
 * with a name near to it is not named.  A tenant that other points of a sweep
 * have is none. */
bool host_tenants_check(struct arena *arena, const struct cs_policy *policy,
                        const struct conf_node *entry, const char *const *tenants,
                        struct err *err)
{
    for (uint32_t i = 0; i < policy->param_count; i++) {
        const struct cs_param *param = &policy->param[i];
        const struct conf_node *value = conf_kind(entry) == CONF_MAP
            ? conf_get(entry, param->key) : NULL;
        const char *name, *near;

        if (value == NULL || !host_names_tenants(policy, param->key))
            continue;
        char *at = arena_text(arena, conf_text(value));
        while ((name = next_named(&at)) != NULL) {
            near = host_is_listed(tenants, name)
                       ? NULL : find_meant(arena, conf_text(value), name, tenants);
            if (near != NULL || tenants[0] == NULL)
                return refuse_tenant(policy, param->key, value, name, near, tenants, err);
        }
    }
    return true;
}

/* For a warning: unlike host_tenants_check() it also tells a name that is near to no tenant.  It
 * reads the parameters as they were filled, defaults too. */
const char *host_tenants_absent(struct arena *arena, const struct host_policy *policy,
                                const char *const *tenants, const char **key)
{
    for (uint32_t i = 0; i < policy->policy->param_count; i++) {
        const struct cs_param *param = &policy->policy->param[i];
        const char *name;

        if (param->type != CS_PARAM_TEXT || !host_names_tenants(policy->policy, param->key))
            continue;
        const char *text = *(const char *const *)(const void *)
                           ((const char *)policy->params + param->offset);
        char *at = arena_text(arena, text != NULL ? text : "");
        while ((name = next_named(&at)) != NULL)
            if (!host_is_listed(tenants, name)) {
                *key = param->key;
                return name;
            }
    }
    return NULL;
}

/* Sets the error of a pair that cannot be read, or is above what there can be.  `entry`: the text
 * from that pair on, of which the message shows the first word.  Returns false. */
static bool refuse_quota(const struct cs_policy *policy, const char *key,
                         const struct conf_node *value, enum cs_quota_fault fault,
                         const char *entry, struct err *err)
{
    int bytes = (int)strcspn(entry, entry[0] == '\'' ? "" : " ");
    struct err_pos pos = conf_pos(value);

    bytes = bytes > 60 ? 60 : bytes;
    if (fault == CS_QUOTAS_TWICE)
        return err_set(err, ERR_RANGE, pos, "'%s' of policy %s names a tenant twice, the second "
                       "time in '%.*s'", key, policy->name, bytes, entry);
    if (fault == CS_QUOTAS_ABOVE)
        return err_set(err, ERR_RANGE, pos, "a share in '%s' of policy %s must be at most 100%% "
                       "of all GPUs, found '%.*s'", key, policy->name, bytes, entry);
    if (fault == CS_QUOTAS_MANY)
        return err_set(err, ERR_RANGE, pos, "'%s' of policy %s must name at most %u tenants, "
                       "found one more, '%.*s'", key, policy->name, CS_QUOTAS_MAX, bytes, entry);
    err_set(err, ERR_RANGE, pos, "'%s' of policy %s must be GPUs or a share of each tenant, "
            "found '%.*s'", key, policy->name, bytes, entry);
    return err_hint(err, "Write \"a=16 b=25%%\", for example; a name with blanks in quotes: "
                    "\"'my team'=4\".");
}

/* The amounts are only read here to refuse them at their place; the policy reads them again. */
bool host_quotas_check(const struct cs_policy *policy, const struct conf_node *entry,
                       struct err *err)
{
    struct cs_quota quota[CS_QUOTAS_MAX];
    uint32_t count;

    for (uint32_t i = 0; i < policy->words_count; i++) {
        const char *key = policy->words[i].key, *at;
        const struct conf_node *value = conf_kind(entry) == CONF_MAP
            ? conf_get(entry, key) : NULL;

        if (value == NULL || strcmp(policy->words[i].words, CS_GPUS_OF_TENANTS) != 0)
            continue;
        at = conf_text(value);
        enum cs_quota_fault fault = cs_quotas_read(&at, quota, &count);
        if (fault != CS_QUOTAS_GOOD)
            return refuse_quota(policy, key, value, fault, at, err);
    }
    return true;
}
