/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide.h - how a policy begins, when it is asked, what waits for it, and decisions that
 * are the host's own.
 */
#ifndef POLICIES_HOST_DECIDE_H
#define POLICIES_HOST_DECIDE_H

#include <stdbool.h>

#include "policies/state/state.h"

struct err;

/* Makes the order, empty, and sets the hooks by which others wake the policy and
 * tell of tasks that wait. */
void host_decide_begin(struct cs_host *host);
/* Plans the next decision, if none is planned. */
void host_wake(struct cs_host *host);
/* The policy decides, now. */
void host_decide(struct cs_host *host);

/* ---- handover.c ---- */

/* Makes the memory of the host's policy, with its parameters in it, and calls init.
 * False: init failed, and err says why, in the words of cs_fail() and cs_note() if
 * it used them. */
bool host_policy_begin(struct cs_host *host, struct err *err);

/* ---- commit.c ---- */

/* For `blocking: commit`.  news(): notes what came and ended at this instant, and must be
 * called before the news are forgotten; it does nothing under another rule.  decide(): a
 * decision. */
void host_commit_news(struct cs_host *host);
void host_commit_decide(struct cs_host *host);
/* Starts a task where place() of the policy says, else as it asks.  room: free GPUs that
 * it may use; a task for more is answered without a search. */
enum cs_verdict host_try(struct cs_host *host, uint32_t task, uint32_t room);

#endif
