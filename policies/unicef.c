/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unicef.c - UNICEF: highest wait / (log2(GPUs) x estimate) first.
 *
 * Tang, Lan, Desai and Buettner (CLUSTER 2009), as Carastan-Santos and Camargo
 * (SC 2017) state it: fast turnaround for small jobs.  For one GPU the
 * logarithm is 0 and the score without bound, so jobs of one GPU (or none) go
 * before all others, by wait / estimate.  Wide jobs suffer.
 */
#include <math.h>

#include "policies/policy.h"

extern const struct cs_policy unicef_policy;

/* wait / estimate, to be divided by log2 of the GPUs. */
static double unicef_ratio(const struct cs_host *host,
                           const struct cs_ask *ask)
{
    int64_t run_ns = ask->estimate_ns > 0 ? ask->estimate_ns : 1;

    return (double)(cs_now_ns(host) - ask->submit_ns) / (double)run_ns;
}

static bool unicef_before(const void *self, const struct cs_host *host,
                          struct ask_id a, struct ask_id b)
{
    const struct cs_ask *x = cs_ask(host, a), *y = cs_ask(host, b);
    double of_x = unicef_ratio(host, x), of_y = unicef_ratio(host, y);

    (void)self;
    if ((x->gpus > 1) != (y->gpus > 1))
        return x->gpus <= 1;
    if (x->gpus <= 1)
        return of_x > of_y;
    return of_x / log2(x->gpus) > of_y / log2(y->gpus);
}

const struct cs_policy unicef_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "unicef",
    .summary = "highest wait / (log2(GPUs) x estimate) first",
    .flags = CS_ORDER_MOVES,
    .before = unicef_before,
};
