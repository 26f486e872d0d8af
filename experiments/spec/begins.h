/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * begins.h - does a policy begin on a cluster?  Private to experiments/spec.
 */
#ifndef EXPERIMENTS_SPEC_BEGINS_H
#define EXPERIMENTS_SPEC_BEGINS_H

#include <stdbool.h>

struct cluster_spec;
struct conf_node;
struct err;
struct host_policy;

/* Lets a built-in policy begin on the cluster, without jobs, and the policy that takes over
 * from it too.  False: one of them refuses, by its own words in err, at the key of its entry
 * that they begin with, or else at the entry.  Policies that are not built in are not called.
 * O(nodes) for a policy that looks at the cluster as it begins. */
bool begins_check(const struct host_policy *policy, const struct conf_node *entry,
                  const struct cluster_spec *cluster, struct err *err);

#endif
