/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * standstill.c - the end of a standstill: nothing is at work, and tasks wait.
 *
 * How many nodes are rented follows from counts of all tasks that wait (policies/nodes), which
 * know no places.  So nodes may stand by that no task can use, and take the power, or the GPUs, of
 * those that would let one run; or idle leases may be in the way.  After a while in which nothing
 * was at work, the host makes room for one task: it takes the idle leases back, one after the
 * other, and then rents the nodes of a place for the first task that has one (empty.h), and no
 * others, until something is at work.  A policy that does not start the task there gets the nodes
 * of the next one.
 *
 * If no task has started at the end, all is rented as ever, and the next attempt comes after twice
 * the time.  So a run that can never go on still ends in its error.
 */
#include "policies/host/standstill.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "policies/host/empty.h"
#include "policies/nodes/rent.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/stand.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

/* The shortest standstill: ten minutes, the longest time in which autoscalers give idle nodes back
 * by default (Kubernetes: scale-down-unneeded-time). */
#define STAND_MIN_NS (600 * CLOCK_NS_PER_S)
/* Tasks that are tried in an attempt, and doublings of the time between attempts: 2^16 times ten
 * minutes are more than a year. */
#define STAND_TASKS_MAX 16u
#define STAND_DOUBLINGS_MAX 16u

/* Is a lease of a job, not of a service, at work?  Sets *idle to the one that has been idle for
 * longest, none: ID_NONE. */
static bool is_at_work(const struct cs_host *host, struct lease_id *idle)
{
    int64_t since_ns = CLOCK_NEVER_NS;

    assert(idle != NULL);
    idle->i = ID_NONE;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (cs_serves(host, lease->job))
            continue;
        if (lease->state != CS_LEASE_IDLE)
            return true;
        if (lease->idle_since_ns < since_ns) {
            since_ns = lease->idle_since_ns;
            *idle = id;
        }
    }
    return false;
}

/* Returns the first task from the k-th on that is of a job, not of a service; ID_NONE: none is. */
static uint32_t next_task(const struct cs_host *host, uint32_t k)
{
    assert(host->stand != NULL);
    while (k < cs_pending_count(host) &&
           cs_serves(host, cs_task(host, cs_pending(host, k))->job))
        k++;
    return k < cs_pending_count(host) ? k : ID_NONE;
}

/* Returns how long nothing must have been at work: longer than it takes to rent nodes twice. */
static int64_t find_patience(const struct cs_host *host)
{
    int64_t longest = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *rent = host->spec->group[g].rent;
        int64_t ns = rent == NULL ? 0 : clock_after(rent->start_ns, rent->wait_ns);
        longest = ns > longest ? ns : longest;
    }
    assert(host->stand->attempts <= STAND_DOUBLINGS_MAX);
    return clock_after(STAND_MIN_NS, clock_after(longest, longest)) <<
           host->stand->attempts;
}

/* Rents the nodes of the next task that has a place on others than those that are here.  False:
 * none has. */
static bool rent_next(struct cs_host *host)
{
    struct host_stand *stand = host->stand;
    struct arena *arena = arena_new(1 << 12);
    bool *node = arena_alloc(arena, host->spec->node_count, sizeof *node), found = false;

    assert(stand->acts);
    while (!found && stand->next < STAND_TASKS_MAX &&
           (stand->next = next_task(host, stand->next)) != ID_NONE) {
        const struct cs_task *task = cs_task(host, cs_pending(host, stand->next));
        found = host_empty_find(host, task, stand->one_pool, node) &&
                host_rent_only(host, node);
        stand->next += stand->one_pool;
        stand->one_pool = !stand->one_pool;
    }
    arena_free(arena);
    return found;
}

/* Gives one idle lease back; the policy is asked again. */
static bool release_idle(struct cs_host *host)
{
    struct lease_id idle;

    if (is_at_work(host, &idle) || idle.i == ID_NONE || !host_per_phase(host) ||
        cs_release(host, idle) != CS_DONE)
        return false;
    host->stand->acts = true;
    host->hooks.wake(host);
    return true;
}

/* Takes the next step: idle leases go, or nodes of a place come.  The policy is asked again after
 * each. */
static void take_step(struct cs_host *host)
{
    struct host_stand *stand = host->stand;
    struct lease_id idle;

    if (is_at_work(host, &idle) || next_task(host, 0) == ID_NONE)
        return;
    stand->acts = true;
    if (release_idle(host))
        return;
    if (host->rent != NULL && rent_next(host)) {
        host->hooks.wake(host);
        return;
    }
    stand->acts = stand->one_pool = false;
    stand->next = 0;
    stand->attempts += stand->attempts < STAND_DOUBLINGS_MAX;
    assert(stand->attempts > 0);
    host_rent_as_ever(host);
}

static void plan_step(struct cs_host *host);

/* Nothing was at work for a while.  Where the attempt is over, the next one is planned with the
 * next decision: if none comes, the run is over. */
static void end_patience(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    host->stand->look = (struct loop_handle) { 0 };
    assert(host->stand->look.generation == 0);
    take_step(host);
    if (host->stand->acts)
        plan_step(host);
}

/* Plans the next step: policies that decide in rounds need time to see the nodes of the last. */
static void plan_step(struct cs_host *host)
{
    struct host_stand *stand = host->stand;
    int64_t ns = stand->acts ? STAND_MIN_NS << stand->attempts : find_patience(host);

    if (stand->look.generation != 0 || (stand->acts && host_rent_comes(host)))
        return;
    assert(ns > 0);
    stand->look = loop_at(host->parts.loop, clock_after(host_now(host), ns), LOOP_RANK_SETTLE,
                          end_patience, host, 0);
}

/* Work goes on, or no task waits any more. */
static void end_standstill(struct cs_host *host)
{
    struct host_stand *stand = host->stand;

    assert(host->stand != NULL);
    loop_cancel(host->parts.loop, stand->look);
    *stand = (struct host_stand) { .acts = false };
    host_rent_as_ever(host);
}

/* Without rented nodes nothing but idle leases under a power cap can be in the way for ever. */
void host_standstill_follow(struct cs_host *host)
{
    struct lease_id idle;

    if (!host->spec->rents && (host->spec->power_cap_w <= 0 || !host_per_phase(host)))
        return;
    assert(host->stand != NULL);
    if (is_at_work(host, &idle) || next_task(host, 0) == ID_NONE)
        end_standstill(host);
    else if (!host->stand->acts || !release_idle(host))
        plan_step(host);
}
