/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * empty.h - the cluster of a trial as if no job ran: has it room for a task?
 */
#ifndef POLICIES_HOST_EMPTY_H
#define POLICIES_HOST_EMPTY_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"
#include "policies/state/state.h"

struct arena;
struct fit_want;
struct share;

/* All nodes that can be rented now are here, and nothing is leased. */
struct host_empty {
    struct arena *arena;        /* all of it lies there; host_empty_end() frees it */
    struct cluster *cluster;    /* all nodes, less those that cannot be rented now */
    struct placer *placer;      /* by the trial's rule and seed */
    struct share *share;        /* by role and node */
    int64_t idle_mw, more_mw;   /* milliwatts: drawn without the task; added by it */
    bool capped;                /* the last task has room, but power_cap forbids it */
};

/* host_empty_end() frees what host_empty_begin() allocates. */
void host_empty_begin(struct host_empty *empty, const struct cs_host *host);
void host_empty_end(struct host_empty *empty);
/* Returns the first role of a task that finds no room, the roles before it
 * being placed; *fit says what it needs.  ID_NONE: all roles find room; under a power cap
 * idle_mw, more_mw and capped are set.  wants: by role of the task; NULL: the least that the
 * task may get. */
uint32_t host_empty_lacks(struct host_empty *empty, const struct cs_host *host,
                          const struct cs_task *task,
                          const struct cs_want *wants, struct fit_want *fit);

/* Finds places for all roles of a task on nodes that are here or could be rented now, beside the
 * services that run, by the rule of the placement, in the pools of the policy and under the power
 * cap: as its owner asks, else on the fewest GPUs that it may have.  one_pool: no role is spread
 * over several pools.  Sets node[] of the rented nodes among them, by number.  False: there is no
 * such place. */
bool host_empty_find(const struct cs_host *host, const struct cs_task *task, bool one_pool,
                     bool *node);

#endif
