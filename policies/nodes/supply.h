/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * supply.h - how many nodes the provider has.
 */
#ifndef POLICIES_NODES_SUPPLY_H
#define POLICIES_NODES_SUPPLY_H

#include <stdint.h>

struct cs_host;
struct node_group;

/* Returns the number of nodes of a group that exist at a time: all, or as many
 * as can be rented then. */
uint32_t host_supply_at(const struct node_group *group, int64_t at_ns);
/* Schedules the next change of the number of nodes that can be rented. */
void host_supply_follow(struct cs_host *host);
/* Reclaims the nodes that can no longer be rented, and follows the supply from now on. */
void host_supply_reclaim(struct cs_host *host);

#endif
