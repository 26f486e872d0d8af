/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * relieve.c - the end of a standstill under a power cap: idle GPUs draw power that what
 * waits may lack.
 *
 * Example: all leases are idle, they draw what the cap allows, and the next phase waits for
 * GPUs of another type.  No event is to come, and the run would stand still.  The lease that
 * was idle for longest is given back, which frees its power.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/state.h"

/* Are GPUs free that a power cap does not let run? */
static bool has_capped_gpus(const struct cs_host *host)
{
    uint64_t free = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++)
        free += cs_node(host, n).free_gpus;
    assert(cs_free_gpus(host, 0) <= free);
    return cs_free_gpus(host, 0) < free;
}

/* Does something wait for power? */
static bool lacks_power(struct cs_host *host)
{
    assert(cs_pending_count(host) > 0);
    if (has_capped_gpus(host))
        return true;
    for (uint32_t k = 0; k < cs_pending_count(host); k++)
        if (host_is_capped(host, cs_pending(host, k)))
            return true;
    return false;
}

/* Has a lease been idle for longer than another?  One of GPUs goes before one of cores. */
static bool goes_before(const struct cs_lease *lease, const struct cs_lease *other)
{
    assert(lease->state == CS_LEASE_IDLE && other->state == CS_LEASE_IDLE);
    if ((lease->gpus > 0) != (other->gpus > 0))
        return lease->gpus > 0;
    return lease->idle_since_ns < other->idle_since_ns;
}

/* False: a lease is at work.  Else sets the lease to give back first; none: there is none. */
static bool find_idle(const struct cs_host *host, struct lease_id *first)
{
    assert(first != NULL);
    first->i = ID_NONE;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (lease->state != CS_LEASE_IDLE)
            return false;
        if (first->i == ID_NONE || goes_before(lease, cs_lease(host, *first)))
            *first = id;
    }
    return true;
}

/* Starts the first task that finds room as its owner asks.  A task of one role
 * that finds none is tried with one GPU fewer each time. */
static bool start_as_asked(struct cs_host *host)
{
    assert(cs_pending_count(host) > 0);
    for (uint32_t k = 0; k < cs_pending_count(host); k++) {
        struct task_id id = cs_pending(host, k);
        if (cs_start(host, id) == CS_DONE)
            return true;
        const struct cs_task *task = cs_task(host, id);
        struct cs_want want = { .role = task->role, .gpus = task->gpus };
        while (task->role != CS_ALL_ROLES && want.gpus > 1) {
            want.gpus--;
            if (cs_start_want(host, id, &want) == CS_DONE)
                return true;
        }
    }
    return false;
}

/* One lease or one task at a call: policies decide again after each call that
 * did something.  Nothing is done while a lease is at work, as its end frees
 * power. */
bool cs_relieve_power(struct cs_host *host)
{
    struct lease_id first;

    assert(host != NULL);
    if (host->spec->power_cap_w <= 0 || cs_pending_count(host) == 0 ||
        !find_idle(host, &first) || !lacks_power(host))
        return false;
    return first.i != ID_NONE ? cs_release(host, first) == CS_DONE : start_as_asked(host);
}
