/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * agent.h - the policy whose decisions are made outside.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_AGENT_H
#define EXPERIMENTS_ENV_AGENT_H

struct cs_policy;

/* Tasks are whole jobs, or phases of jobs.  Both are called "agent": one of them is the
 * guest of an experiment. */
extern const struct cs_policy agent_jobs_policy, agent_phases_policy;

#endif
