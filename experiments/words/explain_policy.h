/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_policy.h - what a policy is, and its keys.
 */
#ifndef EXPERIMENTS_WORDS_EXPLAIN_POLICY_H
#define EXPERIMENTS_WORDS_EXPLAIN_POLICY_H

#include <stdio.h>

struct cs_param;
struct cs_policy;

/* Prints summary, leases, where it starts a role, its keys, and the keys of semantics that
 * act on it. */
void explain_policy(FILE *out, const struct cs_policy *policy);
/* Prints one key of a policy: type, words, range, default, help, and what it needs. */
void explain_param(FILE *out, const struct cs_policy *policy, const struct cs_param *param);

#endif
