/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.h - where a role could run.
 */
#ifndef POLICIES_LEASES_SITES_H
#define POLICIES_LEASES_SITES_H

#include "policies/state/form.h"

struct arena;
struct cluster_spec;
struct role_spec;

/* Returns all sites that a role may use, in an order that depends on prices,
 * names of GPUs and numbers of nodes, not on the order of a list.  mask: the
 * pools allowed; 0: all.  Memory comes from the arena. */
struct host_sites host_sites_of(struct arena *arena,
                                const struct cluster_spec *spec,
                                const struct role_spec *role, uint32_t mask);

#endif
