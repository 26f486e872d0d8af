/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * agent.h - the policy whose decisions are made outside.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_AGENT_H
#define EXPERIMENTS_ENV_AGENT_H

#include <stdbool.h>

struct cs_policy;

/* Returns the table of an agent whose tasks are whole jobs, or phases of jobs; `stops`: it
 * may stop and resize what runs.  All are called "agent": one of them is the guest of an
 * experiment. */
const struct cs_policy *agent_policy(bool phases, bool stops);

#endif
