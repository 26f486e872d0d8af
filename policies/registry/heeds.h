/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heeds.h - which keys of an entry of `policies:` act on its policy.
 *
 * A policy says so in its table, by ops, flags and needs (policy.h).  A key
 * that would change nothing is an error of the input, and semantics that are
 * printed hold those that act, alone.
 */
#ifndef POLICIES_REGISTRY_HEEDS_H
#define POLICIES_REGISTRY_HEEDS_H

#include <stdbool.h>

struct conf_node;
struct conf_schema;
struct cs_policy;
struct err;

/* Can a key of host_rules_schema, or a parameter, act on the policy, under some
 * values of its other keys? */
bool policy_accepts_key(const struct cs_policy *policy, const char *key);
/* The same for a value of a key that has choices. */
bool policy_accepts_value(const struct cs_policy *policy, const char *key,
                          const char *value);
/* What the policy states that a key of it needs ("wait: constant"), or NULL. */
const char *policy_key_needs(const struct cs_policy *policy, const char *key);
/* An entry as it is filled from: `schema` has the keys of the host and those of
 * the policy. */
struct heeds {
    const struct cs_policy *policy;
    const struct conf_schema *schema;
    const struct conf_node *entry;      /* with what a preset adds */
};
/* What an entry says of a key: its value, else its default, "none" where there
 * is neither, "set" for a map or a list. */
const char *heeds_said(const struct heeds *heeds, const char *key);
/* Does the key act, with the others of the entry as they are? */
bool heeds_acts(const struct heeds *heeds, const char *key);
/* False: a key that was written does nothing, and err says which and why. */
bool heeds_check(const struct heeds *heeds, const struct conf_node *written,
                 struct err *err);

#endif
