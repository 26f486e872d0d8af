/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heeds.c - which keys act on which policy.
 *
 * table[] says which ops and flags of a policy let a key act.  host_needs[]
 * says which values of other keys it needs; a policy's own table says that for
 * its parameters.  tests/keys/keys_test.c shows by experiment that both are true.
 *
 * An example: `noise: 0.3` for fcfs.  table[] lets `noise` act under the default decide only
 * where estimates are used; fcfs uses them to backfill alone, so find_unmet() answers "backfill:
 * true", and the key is refused with that reason.
 */
#include "policies/registry/heeds.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define WORD_BYTES 64u

/* A key acts if the policy has the default decide (default_decide) or one of
 * any_flag, and none of no_flag.  Without default_decide and any_flag, it acts
 * on every policy. */
struct heed {
    const char *key;            /* of an entry of `policies:` */
    bool default_decide;
    uint32_t any_flag, no_flag;
};

static const struct heed table[] = {
    { "blocking", true, CS_ASKS_BLOCKING, 0 },
    { "backfill", true, 0, 0 },
    { "relax_after", false, 0, CS_PER_PHASE },
    { "estimate", true, CS_ASKS_ESTIMATES, 0 },
    { "noise", true, CS_ASKS_ESTIMATES, 0 },
    { "preemption", false, CS_PREEMPTS | CS_RESIZES, CS_PER_PHASE },
    { "weights", false, CS_ASKS_WEIGHTS, 0 },
    { "grow", false, CS_GROWS, 0 },
    { "hardware", false, 0, HOST_DEALERS },
};
#define HEEDS (sizeof table / sizeof table[0])

/* What another key must say so that a key of the host acts.  `idle`: a value
 * that changes nothing and is allowed anyway; NULL: none. */
static const struct {
    const char *key, *idle, *needs;
} host_needs[] = {
    { "backfill", "false", "blocking: commit" },
    { "relax_after", "0s", "placement: consolidate" },
    { "ties", "lowest", "placement: not random" },
    { "noise", NULL, "estimate: noisy" },
};
#define HOST_NEEDS (sizeof host_needs / sizeof host_needs[0])

/* May the key act on the policy by table[]?  Keys that are not in it act on
 * every policy. */
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

/* `blocking` alone has values that depend on the policy: one with a decide of
 * its own asks cs_skips(), which tells `strict` from `skip` and knows no other. */
bool policy_accepts_value(const struct cs_policy *policy, const char *key,
                          const char *value)
{
    if (!policy_accepts_key(policy, key))
        return false;
    return strcmp(key, "blocking") != 0 || policy->decide == NULL ||
           strcmp(value, "strict") == 0 || strcmp(value, "skip") == 0;
}

/* Returns the first need of that key in the policy's table, of which there may
 * be several. */
const char *policy_key_needs(const struct cs_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->need_count; i++)
        if (strcmp(policy->need[i].key, key) == 0)
            return policy->need[i].needs;
    return NULL;
}

/* ---- what a key needs of other keys ---- */

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

/* Does the entry say what is needed?  needs: "KEY: VALUE VALUE", of which one
 * must be said, or "KEY: not VALUE", which must not be.  Example: "placement: not
 * random" is met by `placement: count`. */
static bool is_met(const struct heeds *heeds, const char *needs)
{
    assert(strchr(needs, ':') != NULL);
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

/* Does the host itself use estimates: to backfill under `blocking: commit`? */
static bool host_uses_estimates(const struct heeds *heeds)
{
    return heeds->policy->decide == NULL &&
           strcmp(heeds_said(heeds, "backfill"), "true") == 0 &&
           strcmp(heeds_said(heeds, "blocking"), "commit") == 0;
}

/* Returns a need of the policy's table that the entry does not meet, or
 * NULL. */
static const char *find_unmet_of_policy(const struct heeds *heeds,
                                        const char *key)
{
    const struct cs_policy *policy = heeds->policy;

    for (uint32_t i = 0; i < policy->need_count; i++)
        if (strcmp(policy->need[i].key, key) == 0 &&
            !is_met(heeds, policy->need[i].needs))
            return policy->need[i].needs;
    return NULL;
}

/* Returns what the key needs and the entry does not say, or NULL: the key acts.
 * Estimates are a case of their own, since the host may use them where the
 * policy does not. */
static const char *find_unmet(const struct heeds *heeds, const char *key)
{
    bool estimates = strcmp(key, "estimate") == 0 || strcmp(key, "noise") == 0;
    const char *needs = NULL;

    if (!estimates)
        needs = find_unmet_of_policy(heeds, key);
    else if (!host_uses_estimates(heeds))
        needs = heeds->policy->flags & CS_ASKS_ESTIMATES
            ? find_unmet_of_policy(heeds, "estimate") : "backfill: true";
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
    return policy_accepts_key(heeds->policy, key) &&
           find_unmet(heeds, key) == NULL;
}

/* Is the value of the key one that changes nothing and is allowed anyway, as
 * `backfill: false`? */
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

/* Reports a key that can never act on the policy, with the keys that can.
 * Returns false. */
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

/* Reports a key that does not act beside the other keys of the entry, with what
 * it needs.  "KEY: none" and "KEY: not none" need a key to be absent or
 * present.  Returns false. */
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

/* Reports a value of `blocking` that a policy with a decide of its own cannot
 * know. */
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
        needs = find_unmet(heeds, key);
        if (needs == NULL || is_idle(written, key))
            continue;
        return refuse_here(policy, key, needs, conf_key_pos(written, i), err);
    }
    return true;
}
