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

/* Makes the tournaments if the policy's order moves along lines and its decisions are the
 * default ones; else waiting->tops stays NULL, and all that waits is kept sorted. */
void host_tops_begin(struct cs_host *host);
/* A task begins to wait, or waits no more.  One that is aside or hidden may go, too. */
void host_tops_insert(struct cs_host *host, uint32_t task);
void host_tops_remove(struct cs_host *host, uint32_t task);
/* Returns a task that needs at most gpus_max GPUs; of several, the one that before() puts
 * first now.  ID_NONE: there is none.  startable: tasks that are known to find no room do
 * not count. */
uint32_t host_tops_first(struct cs_host *host, uint32_t gpus_max,
                         bool startable);
/* Puts a task that found no room aside, so that host_tops_first() tells another one;
 * all of them come back at the end of the decision. */
void host_tops_aside(struct cs_host *host, uint32_t task);
void host_tops_back(struct cs_host *host);
/* With `blocking: commit`: a task that came is hidden until tasks up to its seq are
 * seen.  see(): those with a lower seq play from now on. */
void host_tops_hide(struct cs_host *host, uint32_t task);
void host_tops_see(struct cs_host *host, uint64_t seq);
/* Returns an instant before which the loser of two tasks for as many GPUs cannot win;
 * CLOCK_NEVER_NS: it never can.  After `now`, so that each game is played once at most
 * in an instant. */
int64_t host_claim_stands_ns(const struct cs_host *host, uint32_t winner,
                             uint32_t loser);

/* For backfill, what waits in the order of submission: a task comes, or goes. */
void host_turns_insert(struct cs_host *host, uint32_t task);
void host_turns_remove(struct cs_host *host, uint32_t task);
/* A choice is made: tasks of this seq and later ones were not seen. */
void host_turns_commit(struct cs_host *host, uint64_t seq);
/* Begins a search for tasks that are estimated to take most_ns at most.  next() returns
 * the first of them that asks for at most gpus_max GPUs and was not tried yet, or
 * ID_NONE; tried() says that it was, with the same most_ns. */
void host_turns_first(struct cs_host *host, int64_t most_ns);
uint32_t host_turns_next(struct cs_host *host, uint32_t gpus_max);
void host_turns_tried(struct cs_host *host, uint32_t task, int64_t most_ns);

#endif
