/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heeds.c - which keys act on which policy.
 *
 * What follows from a policy's table stands in table[]; what depends on values,
 * in needs: those of keys of the host below, those of a policy in its table.
 * tests/keys_test.c shows by experiment that both are so.
 */
#include "policies/registry/heeds.h"

#include <stdio.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "sim/config/conf.h"
#include "sim/base/err.h"

#define WORD_BYTES 64u

/* An op or a flag must be there, or must not. */
struct heed {
    const char *key;
    bool default_decide;        /* enough by itself */
    uint32_t any_flag;          /* ... or one of these; 0 and no default
                                   decide: every policy */
    uint32_t no_flag;           /* and none of these */
};

static const struct heed table[] = {
    { "blocking", true, CS_ASKS_BLOCKING, 0 },
    { "backfill", true, 0, 0 },
    { "relax_after", false, 0, CS_PER_PHASE },
    { "estimate", true, CS_ASKS_ESTIMATES, 0 },
    { "noise", true, CS_ASKS_ESTIMATES, 0 },
    { "preemption", false, CS_PREEMPTS | CS_RESIZES, CS_PER_PHASE },
    { "weights", false, CS_ASKS_WEIGHTS, 0 },
};
#define HEEDS (sizeof table / sizeof table[0])

/* Of keys of the host: what another key must say.  `idle`: the value that says
 * what is so anyway, and is allowed. */
static const struct {
    const char *key, *idle, *needs;
} host_needs[] = {
    { "backfill", "false", "blocking: commit" },
    { "relax_after", "0s", "placement: consolidate" },
    { "ties", "lowest", "placement: not random" },
    { "noise", NULL, "estimate: noisy" },
};
#define HOST_NEEDS (sizeof host_needs / sizeof host_needs[0])

static bool table_allows(const struct cs_policy *policy, const char *key)
{
    for (size_t i = 0; i < HEEDS; i++) {
        const struct heed *heed = &table[i];
        bool all = !heed->default_decide && heed->any_flag == 0;

        if (strcmp(heed->key, key) != 0)
            continue;
        return (policy->flags & heed->no_flag) == 0 &&
               (all || (heed->default_decide && policy->decide == NULL) ||
                (policy->flags & heed->any_flag) != 0);
    }
    return true;
}

bool policy_accepts_key(const struct cs_policy *policy, const char *key)
{
    return table_allows(policy, key);
}

/* What its own decide asks is cs_skips(): yes or no. */
bool policy_accepts_value(const struct cs_policy *policy, const char *key,
                          const char *value)
{
    if (!policy_accepts_key(policy, key))
        return false;
    return strcmp(key, "blocking") != 0 || policy->decide == NULL ||
           strcmp(value, "strict") == 0 || strcmp(value, "skip") == 0;
}

const char *policy_key_needs(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->need_count; i++)
        if (strcmp(policy->need[i].key, key) == 0)
            return policy->need[i].needs;
    return NULL;
}

/* ---- what a key needs of others ---- */

const char *heeds_said(const struct heeds *heeds, const char *key)
{
    const struct conf_node *value = conf_get(heeds->entry, key);
    const char *fallback = NULL;

    if (value != NULL)
        return conf_kind(value) == CONF_SCALAR ? conf_text(value) : "set";
    for (size_t i = 0; i < heeds->schema->count; i++)
        if (strcmp(heeds->schema->fields[i].key, key) == 0)
            fallback = heeds->schema->fields[i].fallback;
    return fallback == NULL || fallback[0] == '\0' ? "none" : fallback;
}

/* "KEY: VALUE VALUE" or "KEY: not VALUE". */
static bool is_met(const struct heeds *heeds, const char *needs)
{
    const char *colon = strchr(needs, ':'), *at = colon + 2, *value;
    bool turned = strncmp(at, "not ", 4) == 0;
    char key[WORD_BYTES];

    snprintf(key, sizeof key, "%.*s", (int)(colon - needs), needs);
    value = heeds_said(heeds, key);
    if (turned)
        at += 4;
    while (*at != '\0') {
        size_t bytes = strcspn(at, " ");

        if (strlen(value) == bytes && strncmp(value, at, bytes) == 0)
            return !turned;
        at += bytes + (at[bytes] == ' ');
    }
    return turned;
}

/* Of estimates alone what the host makes of them: backfill under commit. */
static bool host_tasks_estimates(const struct heeds *heeds)
{
    return heeds->policy->decide == NULL &&
           strcmp(heeds_said(heeds, "backfill"), "true") == 0 &&
           strcmp(heeds_said(heeds, "blocking"), "commit") == 0;
}

/* What the policy states and the entry lacks, or NULL. */
static const char *unmet_of_policy(const struct heeds *heeds, const char *key)
{
    const struct cs_policy *policy = heeds->policy;

    for (uint32_t i = 0; i < policy->need_count; i++)
        if (strcmp(policy->need[i].key, key) == 0 &&
            !is_met(heeds, policy->need[i].needs))
            return policy->need[i].needs;
    return NULL;
}

/* What is missing so that the key acts, or NULL. */
static const char *unmet(const struct heeds *heeds, const char *key)
{
    bool estimates = strcmp(key, "estimate") == 0 || strcmp(key, "noise") == 0;
    const char *needs = NULL;

    if (!estimates)
        needs = unmet_of_policy(heeds, key);
    else if (!host_tasks_estimates(heeds))
        needs = heeds->policy->flags & CS_ASKS_ESTIMATES
            ? unmet_of_policy(heeds, "estimate") : "backfill: true";
    if (needs != NULL)
        return needs;
    for (size_t i = 0; i < HOST_NEEDS; i++)
        if (strcmp(host_needs[i].key, key) == 0 &&
            !is_met(heeds, host_needs[i].needs))
            return host_needs[i].needs;
    return NULL;
}

bool heeds_acts(const struct heeds *heeds, const char *key)
{
    return policy_accepts_key(heeds->policy, key) && unmet(heeds, key) == NULL;
}

/* Does it only say what is so anyway? */
static bool is_idle(const struct conf_node *entry, const char *key)
{
    const struct conf_node *value = conf_get(entry, key);

    for (size_t i = 0; i < HOST_NEEDS; i++)
        if (strcmp(host_needs[i].key, key) == 0 && host_needs[i].idle != NULL &&
            conf_kind(value) == CONF_SCALAR &&
            strcmp(conf_text(value), host_needs[i].idle) == 0)
            return true;
    return false;
}

static bool refuse_key(const struct heeds *heeds, const char *key,
                       struct err_pos pos, struct err *err)
{
    char list[160];
    size_t n = 0;

    for (size_t i = 0; i < heeds->schema->count && n < sizeof list; i++) {
        const char *other = heeds->schema->fields[i].key;

        if (strcmp(other, "policy") != 0 && table_allows(heeds->policy, other))
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                                  n == 0 ? "" : ", ", other);
    }
    err_set(err, ERR_SCHEMA, pos, "key '%.60s' does nothing with policy %s",
            key, heeds->policy->name);
    return err_hint(err, "Keys that act on it: %s.", list);
}

/* "it needs `wait: constant`"; for keys that need only be there, or not be. */
static bool refuse_here(const struct cs_policy *policy, const char *key,
                        const char *needs, struct err_pos pos, struct err *err)
{
    int word = (int)strcspn(needs, ":");
    const char *value = needs + word + 2;

    if (strcmp(value, "none") == 0) {
        err_set(err, ERR_SCHEMA, pos, "key '%.60s' does nothing here with "
                "policy %s: `%.*s` stands in its place", key, policy->name,
                word, needs);
        return err_hint(err, "Leave one of the two out.");
    }
    if (strcmp(value, "not none") == 0)
        err_set(err, ERR_SCHEMA, pos, "key '%.60s' does nothing here with "
                "policy %s: it needs the key %.*s", key, policy->name, word,
                needs);
    else
        err_set(err, ERR_SCHEMA, pos, "key '%.60s' does nothing here with "
                "policy %s: it needs `%s`", key, policy->name, needs);
    return err_hint(err, "Set what it needs, or leave '%s' out.", key);
}

static bool refuse_value(const struct cs_policy *policy, const char *key,
                         const struct conf_node *value, struct err *err)
{
    err_set(err, ERR_SCHEMA, conf_pos(value), "'%s' of policy %s must be one of "
            "strict, skip, found '%.60s'", key, policy->name,
            conf_text(value));
    return err_hint(err, "The others act where the host decides, as for fcfs "
                    "or sjf.");
}

bool heeds_check(const struct heeds *heeds, const struct conf_node *written,
                 struct err *err)
{
    const struct cs_policy *policy = heeds->policy;

    for (size_t i = 0; i < conf_count(written); i++) {
        const char *key = conf_key(written, i), *needs;
        const struct conf_node *value = conf_value(written, i);

        if (!policy_accepts_key(policy, key))
            return refuse_key(heeds, key, conf_key_pos(written, i), err);
        if (conf_kind(value) == CONF_SCALAR &&
            !policy_accepts_value(policy, key, conf_text(value)))
            return refuse_value(policy, key, value, err);
        needs = unmet(heeds, key);
        if (needs == NULL || is_idle(written, key))
            continue;
        return refuse_here(policy, key, needs, conf_key_pos(written, i), err);
    }
    return true;
}
