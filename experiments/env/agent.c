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

/* One that may change what runs is asked where nothing waits, too. */
static void decide_all(void *self, struct cs_host *host)
{
    bool waits = cs_pending_count(host) > 0;

    (void)self;
    if ((waits || cs_running_count(host) > 0) && !host_hold(host) && waits)
        (void)cs_start(host, cs_pending(host, 0));
}

#define AGENT(SUMMARY, DECIDE, FLAGS) \
    { .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy), \
      .name = "agent", .summary = SUMMARY, .flags = CS_ASKS_ESTIMATES | (FLAGS), \
      .decide = DECIDE }

const struct cs_policy *agent_policy(bool phases, bool stops)
{
    static const struct cs_policy table[2][2] = {
        { AGENT("decisions from outside, job by job", decide, 0),
          AGENT("decisions from outside, job by job, of what runs, too", decide_all,
                CS_PREEMPTS | CS_RESIZES) },
        { AGENT("decisions from outside, phase by phase", decide, CS_PER_PHASE),
          AGENT("decisions from outside, phase by phase, of what runs, too", decide_all,
                CS_PER_PHASE | CS_PREEMPTS | CS_RESIZES) },
    };

    return &table[phases][stops];
}
