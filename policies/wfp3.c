/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wfp3.c - WFP3: highest (wait / estimate)^3 x GPUs first.
 *
 * Tang, Lan, Desai and Buettner (CLUSTER 2009), as Carastan-Santos and Camargo
 * (SC 2017) state it.  Favours wide jobs and those that have waited long for
 * what they ask.  Wait is from submission until now: a widespread simulator
 * takes it from a start time that is not set yet, which turns the order around.
 * All that came at one instant have waited 0 and go in order of arrival.
 */
#include "policies/policy.h"

extern const struct cs_policy wfp3_policy;

static double wfp3_score(const struct cs_host *host, struct ask_id id)
{
    const struct cs_ask *ask = cs_ask(host, id);
    int64_t wait_ns = cs_now_ns(host) - ask->submit_ns;
    int64_t run_ns = ask->estimate_ns > 0 ? ask->estimate_ns : 1;
    double ratio = (double)wait_ns / (double)run_ns;

    return ratio * ratio * ratio * ask->gpus;
}

static bool wfp3_before(const void *self, const struct cs_host *host,
                        struct ask_id a, struct ask_id b)
{
    (void)self;
    return wfp3_score(host, a) > wfp3_score(host, b);
}

const struct cs_policy wfp3_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "wfp3",
    .summary = "highest (wait / estimate)^3 x GPUs first",
    .flags = CS_ORDER_MOVES,
    .before = wfp3_before,
};
