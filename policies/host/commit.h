/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commit.h - `blocking: commit`.
 */
#ifndef POLICIES_HOST_COMMIT_H
#define POLICIES_HOST_COMMIT_H

#include "policies/state/state.h"

/* `blocking: commit`.  Before news are forgotten; a decision. */
void host_commit_news(struct cs_host *host);
void host_commit_decide(struct cs_host *host);
/* Starts a task as the policy places it, where so many GPUs are free. */
enum cs_verdict host_try(struct cs_host *host, uint32_t task, uint32_t room);


#endif
