/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words.h - what a parameter of a policy may say, where that is words or a
 * name of the experiment (`words` of its table, policy.h).
 */
#ifndef POLICIES_REGISTRY_WORDS_H
#define POLICIES_REGISTRY_WORDS_H

#include <stdbool.h>

struct arena;
struct conf_node;
struct cs_policy;
struct err;

/* The words of a parameter, the list ending with NULL; names as CS_A_POOL are
 * among them as they stand.  NULL: any text will do. */
const char *const *host_words(struct arena *arena,
                              const struct cs_policy *policy, const char *key);

/* Names that an experiment has; both lists end with NULL. */
struct host_names {
    const char *const *pool, *const *role;
};
/* False: a parameter of the entry names what is neither a pool or role of the
 * experiment nor a word of the parameter, and err says which. */
bool host_words_check(struct arena *arena, const struct cs_policy *policy,
                      const struct conf_node *entry,
                      const struct host_names *names, struct err *err);

#endif
