/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rental.c - one rented node, from its order on: it comes, is idle or leased, and goes
 * back when it was idle for as long as it is kept.
 *
 * A node is away, coming, here, or under notice.  Of a node that is away or
 * coming, all is blocked in the cluster.  Of a node under notice, the free part
 * is blocked at once, and each other part when its lease gives it back.
 * Reclaims are drawn from the seed, per node and rental: the k-th rental of a
 * node has the same length under every policy.
 */
#include "policies/nodes/rental.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/leases/idle.h"
#include "policies/leases/kept.h"
#include "policies/leases/power.h"
#include "policies/nodes/demand.h"
#include "policies/nodes/notice.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define RECLAIM_STREAM 104      /* of rng_at, beside those of outages */
/* KEEP_MIN_NS: an idle node is kept for a second at least, so that a lease that follows at
 * once finds it.  NEEDED_KEEP_MIN_NS: a node
 * that is kept for tasks is looked at once a minute at most. */
#define KEEP_MIN_NS CLOCK_NS_PER_S
#define NEEDED_KEEP_MIN_NS (60 * CLOCK_NS_PER_S)

bool host_rental_here(const struct cs_host *host, uint32_t n)
{
    assert(host_rental_spec(host, n) != NULL);
    return host->rent->node[n].state == RENT_HERE;
}

/* ---- idle nodes -------------------------------------------------------- */

static void arm_keep(struct cs_host *host, uint32_t n, int64_t least_ns);

/* Is there power under the cap for the tasks that waited at the last look? */
static bool has_power(const struct cs_host *host)
{
    double cap_w = host->spec->power_cap_w;

    assert(host->rent->drawn_mw >= 0);
    return cap_w <= 0 ||
           (double)(host->nodes->power_mw + host->rent->drawn_mw) <= 1000 * cap_w;
}

/* Would an idle node of a group be ordered again at once, for tasks that wait or are to come?  A
 * gang waits until all its nodes are here: if the first went before the last comes, they would
 * never meet.  It would not if tasks that wait lack the power that it draws.  Idle and coming nodes
 * beyond those that waiting tasks need are spare; it is kept as long as these are no more than
 * the nodes to be ahead. */
static bool is_needed(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->rent->group[g];
    double spare = (double)group->idle + group->coming -
                   host_rental_whole(group->wanted);
    uint32_t ahead = host_demand_ahead(host, g);

    assert(group->idle > 0);
    return (ahead > 0 || group->wanted > 0) && spare <= ahead && has_power(host);
}

/* The time for which an idle node is kept is over.  It stays on if tasks that wait need it, if
 * some are expected (forecast or spare; none is when the run could end) or if the group would
 * have fewer than nodes_min; else its rental ends. */
static void end_keep(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;
    struct rent_node *node = &host->rent->node[n];
    const struct rent_spec *spec = host_rental_spec(host, n);
    const struct rent_group *group = host_rental_group(host, n);

    (void)loop;
    if (node->state != RENT_HERE || node->leases > 0)
        return;
    assert(!node->kept && group->idle > group->kept);
    if (host_goes_on(host->decision) &&
        (node->meant || is_needed(host, (uint32_t)(group - host->rent->group)))) {
        arm_keep(host, n, NEEDED_KEEP_MIN_NS);
        return;
    }
    if (group->here + group->coming > spec->nodes_min) {
        host_notice_lose_parked(host, n, CLOCK_NEVER_NS);
        host_rental_end(host, n);
    } else {
        node->kept = true;
        host_rental_group(host, n)->kept++;
    }
}

/* Schedules the end of an idle node's rental.  It comes after the decision of
 * its instant, which may place another lease on the node. */
static void arm_keep(struct cs_host *host, uint32_t n, int64_t least_ns)
{
    const struct rent_spec *spec = host_rental_spec(host, n);
    int64_t keep = spec->keep_ns > least_ns ? spec->keep_ns : least_ns;

    assert(host->rent->node[n].leases == 0);
    if (spec->scale != RENT_ALWAYS)
        host->rent->node[n].keep =
            loop_at(host->parts.loop, clock_after(host_now(host), keep),
                    LOOP_RANK_SETTLE, end_keep, host, n);
}

/* If the group of a node has more nodes than nodes_min, schedules the end of
 * those that were kept.  `near`: a node of the group.  O(nodes of the group). */
static void release_kept(struct cs_host *host, uint32_t near)
{
    const struct node_group *spec = cluster_group_of(host->spec, near);
    const struct rent_group *group = host_rental_group(host, near);

    if (group->here + group->coming <= spec->rent->nodes_min)
        return;
    for (uint32_t n = spec->first_node; group->kept > 0; n++) {
        assert(n - spec->first_node < spec->node_count);
        if (host->rent->node[n].kept) {
            host_rental_clear_kept(host, n);
            arm_keep(host, n, KEEP_MIN_NS);
        }
    }
}

/* ---- the beginning of a rental ----------------------------------------- */

/* Draws when the provider reclaims a node; 1e9 s and more: never.  Exponential with the mean
 * reclaim_mtbf_ns; 0: it never reclaims. */
static void arm_reclaim(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];
    int64_t mtbf = host_rental_spec(host, n)->reclaim_mtbf_ns;

    if (mtbf == 0)
        return;
    double u = 1 - rng_at(host->parts.seed, n, host->parts.replica,
                          RECLAIM_STREAM + (uint64_t)node->rentals * 1000);
    double s = -log(u) * clock_s_from_ns(mtbf);
    assert(mtbf > 0 && s >= 0);
    if (s < 1e9)
        node->reclaim = loop_at(host->parts.loop,
                                clock_after(host_now(host),
                                           clock_ns_for_work(s, 1.0)),
                                LOOP_RANK_OUTAGE, host_rental_reclaim_due, host, n);
}

/* The node is here: it is unblocked and counted, its time idle begins, and the
 * provider may take it back from now on. */
static void begin_rental(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];
    struct rent_group *group = host_rental_group(host, n);

    assert(node->state == RENT_AWAY || node->state == RENT_COMING);
    if (node->state == RENT_COMING)
        group->coming--;
    node->state = RENT_HERE;
    group->here++;
    group->idle++;
    host_rental_unblock(host, n);
    host_tell(host, FACT_RENT_UP, n, 0,
              cluster_group_of(host->spec, n)->gpus);
    arm_keep(host, n, KEEP_MIN_NS);
    arm_reclaim(host, n);
    release_kept(host, n);
    host->hooks.wake(host);
}

/* A node that was ordered has started. */
static void finish_start(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    assert(arg < UINT32_MAX);
    begin_rental(self, (uint32_t)arg);
}

/* A node is paid for from its order on, and is there after start_ns.  `rentals` counts them,
 * since it selects the draw of the reclaim. */
void host_rental_order(struct cs_host *host, uint32_t n, int64_t start_ns)
{
    struct rent_node *node = &host->rent->node[n];

    assert(node->state == RENT_AWAY && start_ns >= 0);
    node->rentals++;
    host_power_node(host->nodes, host->spec, n, true);
    host_tell(host, FACT_RENT_ORDER, n, 0,
              cluster_group_of(host->spec, n)->gpus);
    if (start_ns == 0) {
        begin_rental(host, n);
        return;
    }
    node->state = RENT_COMING;
    host_rental_group(host, n)->coming++;
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), start_ns),
                          LOOP_RANK_FINISH, finish_start, host, n);
}

/* ---- leases ------------------------------------------------------------ */

/* Counts the leases on each rented node of a placement.  Without leases a node is
 * idle, and its time to be kept begins; one under notice that keeps nothing goes with its
 * last lease. */
void host_rental_held(struct cs_host *host, uint32_t lease, bool is_taken)
{
    const struct cs_lease *held = cs_lease(host, (struct lease_id) { lease });
    const struct placement *place = &held->placement;

    assert(held->role < FORM_ROLES_MAX && place->share_count > 0);
    for (uint32_t s = 0; s < place->share_count; s++) {
        uint32_t n = place->share[s].node;
        struct rent_node *node = &host->rent->node[n];
        if (host_rental_spec(host, n) == NULL)
            continue;
        if (is_taken) {
            assert(node->state == RENT_HERE);
            /* It works, and is no longer one of the idle nodes that stay only for `min`. */
            if (node->leases++ == 0) {
                host_rental_group(host, n)->idle--;
                host_rental_clear_kept(host, n);
                loop_cancel(host->parts.loop, node->keep);
            }
            continue;
        }
        assert(node->leases > 0);
        node->leases--;
        if (node->state == RENT_HERE && node->leases == 0) {
            host_rental_group(host, n)->idle++;
            arm_keep(host, n, KEEP_MIN_NS);
        }
        if (node->state != RENT_NOTICE)
            continue;
        /* A job that was stopped keeps its state here until the node goes. */
        if (!host_lease_parks(host, lease))
            host_forget_home(host, held->job.i, held->role, n);
        host_tell(host, FACT_RENT_TAKEN, n, 0,
                  host_rental_block_share(host, &place->share[s]));
        if (node->leases == 0 && !host_notice_keeps(host, n))
            host_rental_end(host, n);
    }
}
