/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * due.h - for policies that act at multiples of a time of their own.
 */
#ifndef POLICIES_DUE_H
#define POLICIES_DUE_H

#include "policies/policy.h"

/* Is this decision the first one at or after a multiple of the interval (> 0)?  Without
 * rounds and ticks it is at the multiple itself, if the policy asked for that time by
 * cs_wake_at(). */
bool cs_is_due(const struct cs_host *host, int64_t interval_ns);

#endif
