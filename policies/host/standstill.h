/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * standstill.h - the end of a standstill: nothing is at work, and tasks wait.
 */
#ifndef POLICIES_HOST_STANDSTILL_H
#define POLICIES_HOST_STANDSTILL_H

#include "policies/state/state.h"

/* Follows whether something is at work.  Called after each decision. */
void host_standstill_follow(struct cs_host *host);

#endif
