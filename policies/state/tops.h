/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tops.h - the first of what waits where its order moves with time, and what
 * waits in the order of submission, for backfill.
 */
#ifndef POLICIES_STATE_TOPS_H
#define POLICIES_STATE_TOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

/* the first of what waits for so many GPUs at most, where the
 * order is not kept; ID_NONE if there is none.  Startable: what is known to
 * find no room is put aside, and stays there until all comes back. */
void host_tops_begin(struct cs_host *host);
void host_tops_insert(struct cs_host *host, uint32_t task);
void host_tops_remove(struct cs_host *host, uint32_t task);
uint32_t host_tops_first(struct cs_host *host, uint32_t gpus_max,
                         bool startable);
void host_tops_aside(struct cs_host *host, uint32_t task);
void host_tops_back(struct cs_host *host);
/* A task that came is not seen yet; those before that one are. */
void host_tops_hide(struct cs_host *host, uint32_t task);
void host_tops_see(struct cs_host *host, uint64_t seq);
/* An instant before which the loser of two asks for as many GPUs cannot win. */
int64_t host_claim_stands_ns(const struct cs_host *host, uint32_t winner,
                             uint32_t loser);

/* what waits as it was submitted, for backfill.  A task comes or goes. */
void host_turns_insert(struct cs_host *host, uint32_t task);
void host_turns_remove(struct cs_host *host, uint32_t task);
/* A choice is made: tasks from this one on were not seen. */
void host_turns_commit(struct cs_host *host, uint64_t seq);
/* A search for those estimated to take no longer begins.  Of those for so many
 * GPUs at most, the first that was not tried yet, or ID_NONE.  It was tried. */
void host_turns_first(struct cs_host *host, int64_t most_ns);
uint32_t host_turns_next(struct cs_host *host, uint32_t gpus_max);
void host_turns_tried(struct cs_host *host, uint32_t task, int64_t most_ns);

#endif
