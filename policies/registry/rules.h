/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.h - entries of `policies:`: read once, shared by all trials.
 */
#ifndef POLICIES_REGISTRY_RULES_H
#define POLICIES_REGISTRY_RULES_H

#include <stdbool.h>

#include "sim/config/conf.h"

struct arena;
struct conf_node;
struct cs_policy;
struct err;
struct host_policy;
struct registry_guests;

/* The keys of an entry, of its `rounds:` and of its `preemption:`. */
extern const struct conf_schema host_rules_schema, host_rounds_schema,
    host_preemption_schema;
/* Returns the keys of an entry with those of a policy behind them, in the
 * arena. */
struct conf_schema host_policy_keys(struct arena *arena,
                                    const struct cs_policy *policy);

/* Are the parameters of a policy that is not built in sound: their names its own, and each
 * default a value of its type, within its bounds?  False: err says which one is not. */
bool host_guest_check(struct arena *arena, const struct cs_policy *policy, struct err *err);

/* Does the entry name a policy that there is, built in or a guest, and has a built-in one
 * all of its keys?  False: err says what is wrong, with the nearest name. */
bool rules_known(struct arena *arena, const struct conf_node *entry,
                 const struct registry_guests *guests, struct err *err);

/* Reads an entry without its `then`, as host_policy_read_as() does.  `written` are the keys of
 * it that must act; NULL: all.  For then.c. */
struct host_policy *rules_read_entry(struct arena *arena, const struct conf_node *conf,
                                     const struct conf_node *written, const char *estimate,
                                     const struct registry_guests *guests, struct err *err);

/* Reads an entry: a scalar (the name) or a map {policy: NAME, name:, rules,
 * params}.  Returns it in the arena; NULL: err says what is wrong. */
const struct host_policy *host_policy_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           struct err *err);
/* As host_policy_read(), with `estimate` where the entry names none, and with
 * policies that are not built in; guests may be NULL. */
const struct host_policy *host_policy_read_as(struct arena *arena,
                                              const struct conf_node *conf,
                                              const char *estimate,
                                              const struct registry_guests *guests,
                                              struct err *err);

/* Could a trial of it depend on which replica it is?  Told by what is
 * declared: a policy without CS_DRAWS that draws fails. */
bool host_policy_draws(const struct host_policy *policy);

#endif
