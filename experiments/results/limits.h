/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * limits.h - told where a policy's own limit left something out: depth_max and
 * the like bound what a decision looks at, and so decide with the policy.
 */
#ifndef EXPERIMENTS_RESULTS_LIMITS_H
#define EXPERIMENTS_RESULTS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct grid;

/* Writes one sentence, without a full stop; false: no trial of that policy met a
 * limit.  `limits`: what the entry says of them, "depth_max: 60", or NULL. */
bool limits_say(const struct grid *grid, uint32_t policy, const char *limits,
                char *out, uint32_t out_bytes);

#endif
