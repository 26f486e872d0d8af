/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * supply.c - how many nodes the provider has: `available`, a series over time.
 *
 * When fewer can be rented than are here or coming, it reclaims nodes that are drawn
 * at random.  While no job is left and none is to come, no change is scheduled.
 */
#include "policies/nodes/supply.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "policies/nodes/rental.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define CHOICE_STREAM 105       /* of rng_at, beside that of reclaims */

/* Rounds down: a part of a node is none.  All nodes of a group without a series can be had. */
uint32_t host_supply_at(const struct node_group *group, int64_t at_ns)
{
    const struct time_series *available = group->rent != NULL
                                         ? group->rent->available : NULL;

    assert(at_ns >= 0);
    if (available == NULL)
        return group->node_count;
    double nodes = time_series_at(available, at_ns);
    assert(nodes >= 0);
    return nodes < group->node_count ? (uint32_t)nodes : group->node_count;
}

/* Draws a node of a group at random: one that is coming, else one that is
 * here. */
static uint32_t draw_node(struct cs_host *host, uint32_t g)
{
    struct host_rent *rent = host->rent;
    const struct node_group *group = &host->spec->group[g];
    enum rent_state state = rent->group[g].coming > 0 ? RENT_COMING
                                                      : RENT_HERE;
    uint32_t among = state == RENT_COMING ? rent->group[g].coming
                                          : rent->group[g].here;
    double u = rng_at(host->parts.seed, rent->choices++, host->parts.replica,
                      CHOICE_STREAM);
    uint32_t k = (uint32_t)(u * among), n = group->first_node;

    assert(among > 0 && k < among);
    for (; rent->node[n].state != state || k > 0; n++)
        k -= rent->node[n].state == state;
    assert(n - group->first_node < group->node_count);
    return n;
}

static void handle_change(struct loop *loop, void *self, uint64_t arg);

/* One event at a time: that of an earlier plan is cancelled, and the next change of any series
 * gets one. */
void host_supply_follow(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        if (spec == NULL || spec->available == NULL)
            continue;
        int64_t at = time_series_next_ns(spec->available, host_now(host));
        assert(at > host_now(host));
        if (at < next)
            next = at;
    }
    loop_cancel(host->parts.loop, host->rent->change);
    if (next != CLOCK_NEVER_NS && host_goes_on(host->decision))
        host->rent->change =
            loop_at(host->parts.loop, next, LOOP_RANK_OUTAGE, handle_change,
                    host, 0);
}

/* Each node is drawn anew, as the numbers have changed. */
void host_supply_reclaim(struct cs_host *host)
{
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        const struct rent_group *group = &host->rent->group[g];
        if (spec == NULL || spec->available == NULL)
            continue;
        assert(group->here + group->coming <= host->spec->node_count);
        while (group->here + group->coming >
               host_supply_at(&host->spec->group[g], host_now(host)))
            host_rental_notice(host, draw_node(host, g));
    }
    host_supply_follow(host);
    host->hooks.wake(host);
}

/* A series of prices or supply changes now. */
static void handle_change(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    assert(host->rent != NULL);
    if (host_goes_on(host->decision))
        host_supply_reclaim(host);
}
