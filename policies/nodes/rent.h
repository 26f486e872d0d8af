/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.h - how many nodes are ordered, and when.
 */
#ifndef POLICIES_NODES_RENT_H
#define POLICIES_NODES_RENT_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/state/state.h"

/* Orders the nodes that are rented from the beginning.  Does nothing if no
 * group has `rent`.  Memory comes from the trial's arena. */
void host_rent_begin(struct cs_host *host);
/* A job was submitted: its demand is counted.  If it is the only one, the changes of
 * what can be rented are followed again. */
void host_rent_wake(struct cs_host *host, struct job_id job);
/* Follows what can be rented from now on, also while no job is left. */
void host_rent_follow(struct cs_host *host);
/* Orders nodes for the tasks that wait.  Called after each decision. */
void host_rent_scale(struct cs_host *host);
/* Orders the nodes of meant[], by number, and gives back all others without leases but those that
 * are always kept; nothing else is ordered until host_rent_as_ever().  False: they are here
 * already, and no others. */
bool host_rent_only(struct cs_host *host, const bool *meant);
void host_rent_as_ever(struct cs_host *host);
/* Is a node on its way that host_rent_only() has ordered? */
bool host_rent_comes(const struct cs_host *host);

#endif
