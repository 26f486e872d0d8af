/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heeds.h - which keys of an entry of `policies:` act on its policy.
 *
 * A policy says so in its table, by ops, flags and needs (policy.h).  A key
 * that would change nothing is an error of the input.  Printed semantics list
 * only the keys that act.
 */
#ifndef POLICIES_REGISTRY_HEEDS_H
#define POLICIES_REGISTRY_HEEDS_H

#include <stdbool.h>

struct conf_node;
struct conf_schema;
struct cs_policy;
struct err;

/* Can a key of host_rules_schema, or a parameter, act on the policy for some
 * values of the other keys? */
bool policy_accepts_key(const struct cs_policy *policy, const char *key);
/* Can that value of a key with choices act on the policy? */
bool policy_accepts_value(const struct cs_policy *policy, const char *key,
                          const char *value);
/* Returns what a key needs to act, as the policy's table states it ("wait:
 * constant"), or NULL. */
const char *policy_key_needs(const struct cs_policy *policy, const char *key);
/* An entry of `policies:`; `schema` has the keys of the host and those of the
 * policy. */
struct heeds {
    const struct cs_policy *policy; /* the table of the entry's policy */
    const struct conf_schema *schema;
    const struct conf_node *entry;      /* with the keys of its preset */
};
/* Returns the value of a key in an entry, else its default, else "none"; "set"
 * for a map or a list. */
const char *heeds_said(const struct heeds *heeds, const char *key);
/* Does the key act, given the other keys of the entry? */
bool heeds_acts(const struct heeds *heeds, const char *key);
/* Checks that each key of `written` acts, or says what is so anyway.  False:
 * err says which key does nothing, and why. */
bool heeds_check(const struct heeds *heeds, const struct conf_node *written,
                 struct err *err);

#endif
