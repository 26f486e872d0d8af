/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handover.h - a policy begins, or takes over from another one.
 */
#ifndef POLICIES_HOST_HANDOVER_H
#define POLICIES_HOST_HANDOVER_H

#include <stdbool.h>

#include "policies/state/state.h"

struct err;
struct host_policy;

/* Makes the memory of the host's policy, with its parameters in it, and calls init.
 * False: init failed, and err says why, in the words of cs_fail() and cs_note() if
 * it used them. */
bool host_policy_begin(struct cs_host *host, struct err *err);

#endif
