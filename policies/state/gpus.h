/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpus.h - how many GPUs are free, and how small the parts are that jobs ask for.
 */
#ifndef POLICIES_STATE_GPUS_H
#define POLICIES_STATE_GPUS_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct cs_host;

/* Returns the GPUs that are wholly free in the pools (0: all), whatever a power cap says. */
uint32_t host_free_gpus(const struct cs_host *host, uint32_t pool_mask);
/* Has a job asked for a part of a GPU? */
bool host_has_parts(const struct cs_host *host);
/* Returns how many GPUs a task may want that is tried while `room` are free: if none is, a
 * part of one may find room on a GPU that is partly taken. */
uint32_t host_gpus_to_try(const struct cs_host *host, uint32_t room);
/* Are nodes rented while the trial runs? */
bool host_rents(const struct cs_host *host);
/* Returns the groups of the pools of a mask (0: all) for which `gpus` holds alike and, if it
 * does, that have GPUs of the type (ID_NONE: any).  More than 64 are not told apart. */
uint64_t host_groups_of(const struct cluster_spec *spec, uint32_t pool_mask, bool gpus,
                        uint32_t type);

#endif
