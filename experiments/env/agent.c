/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * agent.c - a policy that decides nothing: its decisions stay open until
 * somebody outside the loop has made them.
 *
 * host_hold() stops the loop of the trial behind the decision; trial_go() then
 * returns TRIAL_ASKS, and the caller uses the host's functions as a policy
 * would.
 */
#include "experiments/env/agent.h"

#include "policies/host/host.h"
#include "policies/policy.h"

/* Holds the decision open.  If it cannot be held, the host only explains why a run
 * stands still and must hear a wish at once: it is the start of the oldest task. */
static void decide(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_pending_count(host) > 0 && !host_hold(host))
        (void)cs_start(host, cs_pending(host, 0));
}

const struct cs_policy agent_jobs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "agent", .summary = "decisions from outside, job by job",
    .flags = CS_ASKS_ESTIMATES, .decide = decide,
};

const struct cs_policy agent_phases_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "agent", .summary = "decisions from outside, phase by phase",
    .flags = CS_ASKS_ESTIMATES | CS_PER_PHASE, .decide = decide,
};
