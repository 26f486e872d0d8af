/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - power that nodes draw, under a cap.
 */
#ifndef POLICIES_LEASES_POWER_H
#define POLICIES_LEASES_POWER_H

#include "policies/state/state.h"

/* a node comes or goes, a lease does; is what a placement could
 * draw, on top of more_mw, to which it is added, within the cap? */
void host_power_begin(struct cs_host *host);
void host_power_node(struct cs_host *host, uint32_t node, bool comes);
void host_power_lease(struct cs_host *host, const struct placement *placement,
                      bool taken);
bool host_power_allows(const struct cs_host *host,
                       const struct placement *placement, int64_t *more_mw);

/* The same where one lease becomes two. */
bool host_power_allows_beside(const struct cs_host *host,
                              const struct placement *before,
                              const struct placement *one,
                              const struct placement *two);

#endif
