/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words.h - the values that a text parameter of a policy may have: words, or
 * names of the experiment's pools and roles (`words` of its table, policy.h).
 */
#ifndef POLICIES_REGISTRY_WORDS_H
#define POLICIES_REGISTRY_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct conf_node;
struct cs_policy;
struct host_policy;
struct err;

/* Returns the words of a parameter, ending with NULL; CS_A_POOL and CS_A_ROLE
 * are not replaced.  Memory comes from the arena.  NULL: any text will do. */
const char *const *host_words(struct arena *arena,
                              const struct cs_policy *policy, const char *key);

/* The names of an experiment; both lists end with NULL. */
struct host_names {
    const char *const *pool, *const *role;
};
/* Checks each text parameter of an entry.  False: one is neither a word of the
 * parameter nor a name that it may be; err says which. */
bool host_words_check(struct arena *arena, const struct cs_policy *policy,
                      const struct conf_node *entry,
                      const struct host_names *names, struct err *err);
/* Is a parameter a text of names of tenants? */
bool host_names_tenants(const struct cs_policy *policy, const char *key);
/* Has the list, which ends with NULL, the word? */
bool host_is_listed(const char *const *list, const char *word);
/* Writes a list with commas between. */
void host_list_write(const char *const *list, char *out, size_t room);

/* ---- tenant_words.c ---- */

/* Checks each text of an entry that gives tenants GPUs (CS_GPUS_OF_TENANTS).  False: one
 * cannot be read, and err says which part of it. */
bool host_quotas_check(const struct cs_policy *policy, const struct conf_node *entry,
                       struct err *err);
/* Checks the names of tenants in each text parameter of an entry (CS_FOR_TENANTS); the
 * list ends with NULL.  False: one is not in the list, and near to one there that is not
 * named, or the list is empty; err says which.  What is not "NAME=..." is left to the
 * policy. */
bool host_tenants_check(struct arena *arena, const struct cs_policy *policy,
                        const struct conf_node *entry, const char *const *tenants,
                        struct err *err);
/* Returns the first tenant in a text parameter of a policy that is not in the list, and sets
 * *key to the parameter; NULL: there is none. */
const char *host_tenants_absent(struct arena *arena, const struct host_policy *policy,
                                const char *const *tenants, const char **key);

#endif
