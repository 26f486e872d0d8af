/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room.c - what one empty node of a group has for a role: GPUs as its cores and its memory
 * allow, or cores that compute.
 */
#include "workloads/jobs/room.h"

#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"

bool room_in_pool(const struct cluster_spec *cluster, const struct node_group *group,
                  const char *pool)
{
    return pool == NULL ||
           strcmp(cluster->pool_name[group->pool], pool) == 0;
}

uint64_t room_gpus(const struct node_group *group, const struct role_spec *role)
{
    uint64_t units = group->gpus;

    if (role->cores > 0 && group->cores / role->cores < units)
        units = group->cores / role->cores;
    if (role->memory_bytes > 0 &&
        (uint64_t)(group->memory_bytes / role->memory_bytes) < units)
        units = (uint64_t)(group->memory_bytes / role->memory_bytes);
    return units;
}

bool room_computes(const struct role_spec *role, const struct node_group *group)
{
    const struct role_cores *need = &role->on_cores;

    return need->cores > 0 && cluster_computes(group) &&
           group->cores >= need->cores && group->memory_bytes >= need->memory_bytes;
}
