/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.h - where a role could go.
 */
#ifndef POLICIES_LEASES_SITES_H
#define POLICIES_LEASES_SITES_H

#include "policies/state/state.h"

/* all that a role may use, in an order that no list decides. */
struct host_sites host_sites_of(struct cs_host *host,
                                const struct role_spec *role, uint32_t mask);

#endif
