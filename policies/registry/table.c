/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - checks the table of a policy, member by member.
 */
#include "policies/registry/table.h"

#include <stdint.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "sim/base/err.h"

#define SELF_BYTES_MAX (1u << 30)

static const struct err_pos nowhere = { 0 };

/* Bytes that a value of the type takes in self; 0: there is no such type. */
static size_t param_bytes(enum cs_param_type type)
{
    switch (type) {
    case CS_PARAM_INT:
    case CS_PARAM_TIME: return sizeof(int64_t);
    case CS_PARAM_REAL:
    case CS_PARAM_FRACTION: return sizeof(double);
    case CS_PARAM_BOOL: return sizeof(bool);
    case CS_PARAM_TEXT: return sizeof(const char *);
    case CS_PARAM_CHOICE: return sizeof(int);
    }
    return 0;
}

/* Is the key among the first `count` parameters? */
static bool is_param(const struct cs_policy *policy, uint32_t count, const char *key,
                     size_t key_bytes)
{
    for (uint32_t i = 0; i < count; i++)
        if (strlen(policy->param[i].key) == key_bytes &&
            memcmp(policy->param[i].key, key, key_bytes) == 0)
            return true;
    return false;
}

/* Does the table list words for the key? */
static bool has_words(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->words_count; i++)
        if (strcmp(policy->words[i].key, key) == 0)
            return true;
    return false;
}

/* Checks one parameter of a table.  Its bytes must lie inside of `self`: the host
 * writes them there, and a wrong offset would write over memory of its own. */
static bool check_param(const struct cs_policy *policy, uint32_t i, struct err *err)
{
    const struct cs_param *param = &policy->param[i];
    size_t bytes = param_bytes(param->type);
    const char *wrong = NULL;

    if (param->key == NULL || param->key[0] < 'a' || param->key[0] > 'z' ||
        param->key[strspn(param->key, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return err_set(err, ERR_POLICY, nowhere, "policy %s: key of param[%u] must match "
                       "[a-z][a-z0-9_]*", policy->name, i);
    if (is_param(policy, i, param->key, strlen(param->key)))
        wrong = "stands there twice";
    else if (bytes == 0)
        wrong = "has a type that is none of enum cs_param_type";
    else if (bytes > policy->self_bytes || param->offset > policy->self_bytes - bytes)
        wrong = "lies outside of self: see its offset and self_bytes";
    else if (param->help == NULL)
        wrong = "has no help";
    else if (!(param->min <= param->max))
        wrong = "has a min above its max, or one that is no number";
    else if (param->type == CS_PARAM_CHOICE && !has_words(policy, param->key))
        wrong = "is a choice without words";
    return wrong == NULL || err_set(err, ERR_POLICY, nowhere, "policy %s: param %.60s %s",
                                    policy->name, param->key, wrong);
}

/* Checks that each need and each list of words has both of its texts, and that limits name
 * parameters. */
static bool check_lists(const struct cs_policy *policy, struct err *err)
{
    const char *at = policy->limits != NULL ? policy->limits : "";

    for (uint32_t i = 0; i < policy->need_count; i++)
        if (policy->need[i].key == NULL || policy->need[i].needs == NULL)
            return err_set(err, ERR_POLICY, nowhere, "policy %s: need[%u] lacks a text",
                           policy->name, i);
    for (uint32_t i = 0; i < policy->words_count; i++)
        if (policy->words[i].key == NULL || policy->words[i].words == NULL)
            return err_set(err, ERR_POLICY, nowhere, "policy %s: words[%u] lacks a text",
                           policy->name, i);
    while (*at != '\0') {
        size_t bytes = strcspn(at, " ");

        if (!is_param(policy, policy->param_count, at, bytes))
            return err_set(err, ERR_POLICY, nowhere, "policy %s: limits names '%.*s', "
                           "which is no key of param", policy->name, (int)bytes, at);
        at += bytes + (at[bytes] == ' ');
    }
    return true;
}

/* Names are written into files, columns and file names: small letters, digits
 * and -. */
static bool is_valid_name(const char *name)
{
    if (!name || name[0] < 'a' || name[0] > 'z')
        return false;
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* Checks the members that are needed, and that each count above 0 has its list:
 * it would be read through NULL. */
static bool check_members(const struct cs_policy *policy, struct err *err)
{
    const char *name = policy->name;

    if (!policy->summary)
        return err_set(err, ERR_POLICY, nowhere, "policy %s: member summary is empty", name);
    if (policy->self_bytes > SELF_BYTES_MAX)
        return err_set(err, ERR_POLICY, nowhere, "policy %s: member self_bytes is %zu, at "
                       "most %u; cs_alloc() has more", name, policy->self_bytes,
                       SELF_BYTES_MAX);
    if (policy->param_count > 0 && (!policy->param || !policy->self_bytes))
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: params without member param or self_bytes", name);
    if ((policy->need_count > 0 && !policy->need) ||
        (policy->words_count > 0 && !policy->words))
        return err_set(err, ERR_POLICY, nowhere, "policy %s: need_count without member "
                       "need, or words_count without words", name);
    return true;
}

/* The version comes first: under another one, the members lie elsewhere. */
bool table_check(const struct cs_policy *policy, struct err *err)
{
    const char *name = policy->name ? policy->name : "(none)";

    if (policy->abi_major != CS_POLICY_ABI_MAJOR)
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: abi %u, this program has %u", name,
                       policy->abi_major, CS_POLICY_ABI_MAJOR);
    if (policy->size_bytes != sizeof *policy)
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: member size_bytes is %u, expected %zu: it was built "
                       "with the headers of another release", name, policy->size_bytes,
                       sizeof *policy);
    if (!is_valid_name(policy->name))
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: member name must match [a-z][a-z0-9-]*", name);
    if (!check_members(policy, err))
        return false;
    for (uint32_t i = 0; i < policy->param_count; i++)
        if (!check_param(policy, i, err))
            return false;
    return check_lists(policy, err);
}
