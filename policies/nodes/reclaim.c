/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reclaim.c - how a rental ends: the provider reclaims the node, with a notice, or the
 * node fails.
 *
 * notice.c says what becomes of the state on a node that goes.
 */
#include "policies/nodes/rental.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "policies/leases/idle.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/power.h"
#include "policies/nodes/notice.h"
#include "policies/policy.h"
#include "policies/state/full.h"
#include "policies/state/news.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

void host_rental_clear_kept(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];

    assert(!node->kept || host_rental_group(host, n)->kept > 0);
    host_rental_group(host, n)->kept -= node->kept;
    node->kept = false;
}

/* Its counters, its events and its power end with it; all of it is blocked.  Waiting tasks may
 * now order it again. */
void host_rental_end(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];
    struct rent_group *group = host_rental_group(host, n);
    uint32_t first = cluster_group_of(host->spec, n)->first_node;
    double gpus = 0;

    assert(node->leases == 0 && node->state != RENT_AWAY);
    host_rental_clear_kept(host, n);
    if (node->state == RENT_COMING)
        group->coming--;
    if (node->state == RENT_NOTICE)
        group->leaving--;
    if (node->state == RENT_HERE) {
        group->here--;
        group->idle--;
        gpus = host_rental_block_free(host, n);
    }
    loop_cancel(host->parts.loop, node->event);
    loop_cancel(host->parts.loop, node->reclaim);
    loop_cancel(host->parts.loop, node->keep);
    node->state = RENT_AWAY;
    host->rent->leaving[n] = false;
    host_power_node(host->nodes, host->spec, n, false);
    if (host->spec->power_cap_w > 0)
        host_full_forget(host);         /* power comes free, though no GPU does */
    if (n - first < group->first_away)
        group->first_away = n - first;
    host_tell(host, FACT_RENT_END, n, 0, gpus);
    host->hooks.wake(host);
}

/* The node goes now: its leases are lost, then what is parked on it and could not be
 * saved within within_ns, then the rental ends, unless the last lease ended it. */
static void take_node_away(struct cs_host *host, uint32_t n, int64_t within_ns)
{
    struct rent_node *node = &host->rent->node[n];

    assert(node->state != RENT_AWAY);
    host_notice_lose_leases(host, n);
    host_notice_lose_parked(host, n, within_ns);
    if (node->state != RENT_AWAY)       /* else the last lease ended it */
        host_rental_end(host, n);
}

/* The time of the notice is over. */
static void end_notice(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;

    (void)loop;
    assert(host->rent->node[n].state == RENT_NOTICE);
    take_node_away(host, n, host_rental_spec(host, n)->on_notice == RENT_SAVE
                                ? host_rental_spec(host, n)->notice_ns : HOST_SAVES_NOTHING);
}

/* A node that nobody uses, and that keeps nothing, goes at once.  Else it stays for
 * notice_ns: its free GPUs are blocked, and with `on_notice: save` its leases save their
 * state meanwhile. */
void host_rental_notice(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];
    struct rent_group *group = host_rental_group(host, n);
    const struct rent_spec *spec = host_rental_spec(host, n);

    if (node->state == RENT_COMING ||
        (node->leases == 0 && !host_notice_keeps(host, n))) {
        take_node_away(host, n, HOST_SAVES_NOTHING);
        return;
    }
    assert(node->state == RENT_HERE);
    loop_cancel(host->parts.loop, node->reclaim);
    loop_cancel(host->parts.loop, node->keep);
    host_rental_clear_kept(host, n);
    node->state = RENT_NOTICE;
    group->here--;
    group->idle -= node->leases == 0;
    group->leaving++;
    host->rent->leaving[n] = true;
    host_idle_node_leaves(host, n);
    host_tell(host, FACT_RENT_NOTICE, n, 0, host_rental_block_free(host, n));
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), spec->notice_ns),
                          LOOP_RANK_OUTAGE, end_notice, host, n);
    if (spec->on_notice == RENT_SAVE)
        host_notice_save(host, n);
    host->hooks.wake(host);
}

void host_rental_reclaim_due(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    assert(arg < host->spec->node_count);
    if (host->rent->node[arg].state == RENT_HERE)
        host_rental_notice(host, (uint32_t)arg);
}

/* A rented node that fails does not come back: its leases and its parked state are
 * lost, and the rental ends.  There is no notice: nothing can be saved. */
void host_rental_failed(struct cs_host *host, uint32_t n)
{
    enum rent_state state = host->rent->node[n].state;

    assert(n < host->spec->node_count);
    if (state == RENT_AWAY)
        return;
    for (uint32_t k = 0; k < cs_lease_count(host);) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, k));
        if (host_stands_on(lease, n)) {
            host_interrupt(host, lease->job.i);
            k = 0;
        } else {
            k++;
        }
    }
    host_notice_lose_parked(host, n, HOST_SAVES_NOTHING);
    if (host->rent->node[n].state != RENT_AWAY)
        host_rental_end(host, n);
}
