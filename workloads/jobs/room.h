/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room.h - what one empty node of a group has for a role.
 */
#ifndef WORKLOADS_JOBS_ROOM_H
#define WORKLOADS_JOBS_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct node_group;
struct role_spec;

/* Is the group of that pool?  NULL: any pool. */
bool room_in_pool(const struct cluster_spec *cluster, const struct node_group *group,
                  const char *pool);
/* Returns the GPUs of one empty node that the role can use: all of them, or
 * fewer where its cores per GPU or its memory per GPU run out first. */
uint64_t room_gpus(const struct node_group *group, const struct role_spec *role);
/* May the role compute on the cores of one node of the group?  The rates of the
 * CPU must be known, and one node must have all the cores and the memory. */
bool room_computes(const struct role_spec *role, const struct node_group *group);

#endif
