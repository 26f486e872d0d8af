/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_aid.h - clusters that tests put together group by group.
 */
#ifndef TESTS_CLUSTER_AID_H
#define TESTS_CLUSTER_AID_H

#include "models/cluster/cluster.h"

/* Returns a cluster of two pools without a group yet; `group` has room for those that come. */
static inline struct cluster_spec cluster_aid_new(struct node_group *group)
{
    static const char *const pools[] = { "p", "q" };

    return (struct cluster_spec){ .name = "test", .group = group, .pool_name = pools,
                                  .pool_count = 2, .oversubscription = 1.0 };
}

/* Counts the next of the groups, whose nodes stand behind those before it. */
static inline void cluster_aid_count(struct cluster_spec *spec, struct node_group *group)
{
    spec->group_count++;
    group->first_node = spec->node_count;
    spec->node_count += group->node_count;
    spec->gpu_count += group->node_count * group->gpus;
    spec->core_count += group->node_count * group->cores;
}

#endif
