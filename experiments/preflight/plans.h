/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plans.h - what the plan of a policy does not tell apart, though its jobs do.
 */
#ifndef EXPERIMENTS_PREFLIGHT_PLANS_H
#define EXPERIMENTS_PREFLIGHT_PLANS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct experiment;

/* Does a policy, or the one that takes over from it, plan GPUs as alike that are not alike for
 * a kind of job that it meets, or count parts of GPUs as whole ones, at some point?  If so,
 * returns true, and err says which, of the first such point, and what would help. */
bool plans_warn(const struct experiment *experiment, uint32_t policy, struct err *err);

#endif
