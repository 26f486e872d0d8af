/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * relieve.c - the end of a standstill under a power cap: idle GPUs draw power that what
 * waits may lack.
 */
#include <assert.h>

#include "policies/phases.h"
#include "policies/policy.h"

/* Are GPUs free that a power cap does not let run? */
static bool lacks_power(const struct cs_host *host)
{
    uint64_t free = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++)
        free += cs_node(host, n).free_gpus;
    assert(cs_free_gpus(host, 0) <= free);
    return cs_free_gpus(host, 0) < free;
}

/* False: a lease is at work.  Else sets the lease of GPUs that has been idle for longest; none:
 * there is none. */
static bool find_idle(const struct cs_host *host, struct lease_id *first)
{
    assert(first != NULL);
    first->i = ID_NONE;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (lease->state != CS_LEASE_IDLE)
            return false;
        if (lease->gpus > 0 &&
            (first->i == ID_NONE ||
             lease->idle_since_ns < cs_lease(host, *first)->idle_since_ns))
            *first = id;
    }
    return true;
}

/* Starts the first task that finds room as its owner asks, wherever the cap allows it. */
static bool start_as_asked(struct cs_host *host)
{
    assert(cs_pending_count(host) > 0);
    for (uint32_t k = 0; k < cs_pending_count(host); k++)
        if (cs_start(host, cs_pending(host, k)) == CS_DONE)
            return true;
    return false;
}

bool cs_relieve_power(struct cs_host *host)
{
    struct lease_id first;

    assert(host != NULL);
    if (cs_pending_count(host) == 0 || !find_idle(host, &first) || !lacks_power(host))
        return false;
    return first.i != ID_NONE ? cs_release(host, first) == CS_DONE : start_as_asked(host);
}
