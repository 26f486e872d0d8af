/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide.h - when the policy is asked, and what waits for it.
 */
#ifndef POLICIES_HOST_DECIDE_H
#define POLICIES_HOST_DECIDE_H

#include "policies/state/state.h"

/* Makes the order, empty, and sets the hooks by which others wake the policy and
 * tell of tasks that wait. */
void host_decide_begin(struct cs_host *host);
/* Plans the next decision, if none is planned. */
void host_wake(struct cs_host *host);
/* The policy decides, now. */
void host_decide(struct cs_host *host);

#endif
