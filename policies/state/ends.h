/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ends.h - when leases should end, and when GPUs will be free because of it.
 */
#ifndef POLICIES_STATE_ENDS_H
#define POLICIES_STATE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/plan.h"
#include "policies/state/state.h"

/* Sets the expected end of a live lease; forgets it before the lease goes. */
void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns);
void host_lease_unexpect(struct cs_host *host, uint32_t lease);
/* Sets or forgets the time when GPUs that belong to no lease become free.
 * number: names the entry; not below the capacity of leases. */
void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number,
                     uint32_t gpus);
void host_end_unexpect(struct cs_host *host, int64_t end_ns,
                       uint32_t number);
/* Returns the time from which `gpus` GPUs should be free, free_now being free
 * now, and sets *left_gpus to the GPUs that are free beyond them then;
 * CLOCK_NEVER_NS: never. */
int64_t host_ends_when(struct cs_host *host, int64_t now_ns,
                       uint32_t free_now, uint32_t gpus, uint32_t *left_gpus);
/* Returns the time, from_ns or later, from which `milli` thousandths of cores should be free
 * over all nodes, and sets *spare to those beyond them then; CLOCK_NEVER_NS and 0: never.
 * Nodes whose cores are not stated do not count. */
int64_t host_cores_when(struct cs_host *host, int64_t milli, int64_t from_ns, int64_t *spare);
/* A live lease comes to the ends by pool or goes from them, with its state and its
 * expected end of now: what changes one of these takes it away before and brings it
 * back.  Does nothing until host_pool_ends_when() was asked. */
void host_pool_ends_note(struct cs_host *host, uint32_t lease, bool comes);
/* Sets *at_ns to the time when one pool of the mask (0: all pools together) has so
 * many GPUs that are free or idle, free_gpus (< gpus) being free now; CLOCK_NEVER_NS:
 * never.  False: the mask has several pools, of which nothing is kept. */
bool host_pool_ends_when(const struct cs_host *host, uint32_t pool_mask, uint32_t free_gpus,
                         uint32_t gpus, int64_t *at_ns);

/* ---- GPUs that are held in parts: node * NODE_GPUS_MAX + number on it ---- */

/* Returns a GPU of which leases hold parts, and ID_NONE after the last.  *at: 0 at first. */
uint32_t host_next_part_gpu(const struct cs_host *host, uint32_t *at);
/* Returns the time from which such a part of it should be free; CLOCK_NEVER_NS: never. */
int64_t host_part_when(const struct cs_host *host, uint32_t gpu, struct cs_part part);
/* Returns the part of it that should be free by a time. */
struct cs_part host_part_by(const struct cs_host *host, uint32_t gpu, int64_t at_ns);
/* Is the part `needs` within the part `has`? */
static inline bool host_part_fits(struct cs_part has, struct cs_part needs)
{
    return has.milli >= needs.milli && has.mib >= needs.mib;
}

/* ---- on some groups of nodes: bit g is the g-th, UINT64_MAX all ---- */

/* Returns the GPUs of the groups that are wholly free, and may be leased under the cap. */
uint32_t host_groups_free(const struct cs_host *host, uint64_t groups);
/* As host_ends_when(), on the groups alone. */
int64_t host_groups_when(struct cs_host *host, uint64_t groups, uint32_t gpus,
                         uint32_t *left_gpus);
/* Returns how many GPUs of the groups should be free by a time. */
uint64_t host_groups_by(struct cs_host *host, uint64_t groups, int64_t at_ns);
/* As host_cores_when(), on the groups alone. */
int64_t host_groups_cores_when(struct cs_host *host, uint64_t groups, int64_t milli,
                               int64_t from_ns, int64_t *spare);
/* Returns how many GPUs of a live lease lie on the groups. */
uint32_t host_lease_gpus_on(const struct cs_host *host, uint32_t lease, uint64_t groups);

#endif
