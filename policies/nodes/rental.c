/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rental.c - one rented node, from its order to its end: the cluster returns it
 * when it is idle, or the provider reclaims it.
 *
 * A node is away, coming, here, or under notice.  Of a node that is away or
 * coming, all is blocked in the cluster.  Of a node under notice, the free part
 * is blocked at once, and each other part when its lease gives it back.  A blocked part
 * is taken from the cluster like a lease's, and its GPUs count as away in their pool.
 * Reclaims are drawn from the seed, per node and rental: the k-th rental of a
 * node has the same length under every policy.  rent.c decides how many nodes
 * are ordered.
 *
 * notice.c says what becomes of the state on a node that goes.
 */
#include "models/types/facts.h"
#include "policies/leases/idle.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/kept.h"
#include "policies/leases/power.h"
#include "policies/nodes/demand.h"
#include "policies/nodes/notice.h"
#include "policies/nodes/rental.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/full.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/pools.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define RECLAIM_STREAM 104      /* of rng_at, beside those of outages */
#define KEEP_MIN_NS CLOCK_NS_PER_S
#define AHEAD_KEEP_MIN_NS (60 * CLOCK_NS_PER_S)

/* Returns how the nodes of a group are rented; NULL: the node is owned. */
static const struct rent_spec *spec_of(const struct cs_host *host,
                                       uint32_t node)
{
    assert(node < host->spec->node_count);
    return cluster_group_of(host->spec, node)->rent;
}

/* Returns the counters of the group of a rented node. */
static struct rent_group *group_of(const struct cs_host *host, uint32_t node)
{
    const struct node_group *group = cluster_group_of(host->spec, node);

    assert(group->rent != NULL);
    return &host->nodes->rent->group[group - host->spec->group];
}

static const struct cs_lease *lease_of(const struct cs_host *host, uint32_t i)
{
    struct lease_id lease = { i };

    return cs_lease(host, lease);
}

/* ---- parts that nobody may lease ---- */

/* The counter of a node's pool: thousandths of GPUs that are away. */
static uint64_t *away_of(struct cs_host *host, uint32_t node)
{
    uint32_t pool = cluster_group_of(host->spec, node)->pool;

    assert(pool < host->spec->pool_count);
    return &host->pools->pool[pool].away_milli;
}

/* Blocks a part of a node; returns its GPUs, as a fraction.  All of the part must be
 * free. */
static double block_share(struct cs_host *host, const struct share *free)
{
    struct rent_node *node = &host->nodes->rent->node[free->node];
    struct placement part = { .share = (struct share *)free,
                              .share_count = 1 };

    assert(free->node < host->spec->node_count);
    assert(node->blocks <= node->block_room);
    if (node->blocks == node->block_room) {
        uint32_t room = node->block_room ? 2 * node->block_room : 1;
        node->block = arena_grow(host->parts.arena, node->block,
                                 node->block_room, room, sizeof *node->block);
        node->block_room = room;
    }
    cluster_take(host->cluster, &part);
    node->block[node->blocks++] = *free;
    *away_of(host, free->node) += share_milli(free);
    return share_milli(free) / (double)GPU_MILLI;
}

/* Blocks the free rest of each GPU of which a part is taken; returns the rests
 * together, in GPUs. */
static double block_parts(struct cs_host *host, uint32_t n)
{
    uint32_t gpus = cluster_group_of(host->spec, n)->gpus;
    double sum = 0;

    assert(gpus <= NODE_GPUS_MAX && host->cluster->parts != NULL);
    for (uint32_t g = 0; g < gpus; g++) {
        uint16_t left = cluster_left(host->cluster, n)[g];
        uint32_t mib = cluster_mib_left(host->cluster, n)[g];
        struct share part = { .node = n, .gpu_mask = UINT64_C(1) << g,
                              .gpu_milli = left,
                              .gpu_mib = mib == UINT32_MAX ? 0 : mib };
        if (left > 0 && left < GPU_MILLI)
            sum += block_share(host, &part);
    }
    return sum;
}

/* Blocks all that is free on a node; returns its GPUs, as a fraction. */
static double block_free(struct cs_host *host, uint32_t n)
{
    const struct cluster *cluster = host->cluster;

    assert(n < host->spec->node_count);
    struct share free = {
        .node = n, .gpu_mask = cluster->free_mask[n],
        .cores = cluster->free_cores[n],
        .memory_bytes = cluster->free_memory[n],
        .core_milli = cluster->parts ? cluster->parts->core_milli[n] : 0,
    };
    double gpus = block_share(host, &free);

    return cluster->parts ? gpus + block_parts(host, n) : gpus;
}

/* Gives all blocked parts of a node back to the cluster. */
static void unblock(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    while (node->blocks > 0) {
        struct share *share = &node->block[--node->blocks];
        struct placement part = { .share = share, .share_count = 1 };
        assert(share->node == n && *away_of(host, n) >= share_milli(share));
        cluster_release(host->cluster, &part);
        *away_of(host, n) -= share_milli(share);
    }
}

/* ---- states of a node ---- */

bool host_rental_here(const struct cs_host *host, uint32_t n)
{
    assert(spec_of(host, n) != NULL);
    return host->nodes->rent->node[n].state == RENT_HERE;
}

void host_rental_block(struct cs_host *host, uint32_t n)
{
    assert(host->nodes->rent->node[n].state == RENT_AWAY);
    assert(host->nodes->rent->node[n].blocks == 0);
    block_free(host, n);
}

/* The node no longer counts as one of nodes_min that are kept idle. */
static void clear_kept(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    assert(!node->kept || group_of(host, n)->kept > 0);
    group_of(host, n)->kept -= node->kept;
    node->kept = false;
}

/* ---- the end of a rental ------------------------------------------------ */

/* Makes a node without leases away; cancels its events. */
static void end_rental(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);
    uint32_t first = cluster_group_of(host->spec, n)->first_node;
    double gpus = 0;

    assert(node->leases == 0 && node->state != RENT_AWAY);
    clear_kept(host, n);
    if (node->state == RENT_COMING)
        group->coming--;
    if (node->state == RENT_NOTICE)
        group->leaving--;
    if (node->state == RENT_HERE) {
        group->here--;
        group->idle--;
        gpus = block_free(host, n);
    }
    loop_cancel(host->parts.loop, node->event);
    loop_cancel(host->parts.loop, node->reclaim);
    loop_cancel(host->parts.loop, node->keep);
    node->state = RENT_AWAY;
    host->nodes->rent->leaving[n] = false;
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
    struct rent_node *node = &host->nodes->rent->node[n];

    assert(node->state != RENT_AWAY);
    host_notice_lose_leases(host, n);
    host_notice_lose_parked(host, n, within_ns);
    if (node->state != RENT_AWAY)       /* else the last lease ended it */
        end_rental(host, n);
}

/* The time of the notice is over. */
static void end_notice(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;

    (void)loop;
    assert(host->nodes->rent->node[n].state == RENT_NOTICE);
    take_node_away(host, n, spec_of(host, n)->on_notice == RENT_SAVE
                                ? spec_of(host, n)->notice_ns : HOST_SAVES_NOTHING);
}

/* ---- notice ------------------------------------------------------------- */

/* A node that nobody uses, and that keeps nothing, goes at once.  Else it stays for
 * notice_ns: its free GPUs are blocked, and with `on_notice: save` its leases save their
 * state meanwhile. */
void host_rental_notice(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);
    const struct rent_spec *spec = spec_of(host, n);

    if (node->state == RENT_COMING ||
        (node->leases == 0 && !host_notice_keeps(host, n))) {
        take_node_away(host, n, HOST_SAVES_NOTHING);
        return;
    }
    assert(node->state == RENT_HERE);
    loop_cancel(host->parts.loop, node->reclaim);
    loop_cancel(host->parts.loop, node->keep);
    clear_kept(host, n);
    node->state = RENT_NOTICE;
    group->here--;
    group->idle -= node->leases == 0;
    group->leaving++;
    host->nodes->rent->leaving[n] = true;
    host_idle_node_leaves(host, n);
    host_tell(host, FACT_RENT_NOTICE, n, 0, block_free(host, n));
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), spec->notice_ns),
                          LOOP_RANK_OUTAGE, end_notice, host, n);
    if (spec->on_notice == RENT_SAVE)
        host_notice_save(host, n);
    host->hooks.wake(host);
}

/* The provider takes the node back, if it is still here. */
static void reclaim_due(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    assert(arg < host->spec->node_count);
    if (host->nodes->rent->node[arg].state == RENT_HERE)
        host_rental_notice(host, (uint32_t)arg);
}

/* A rented node that fails does not come back: its leases and its parked state are
 * lost, and the rental ends. */
void host_rental_failed(struct cs_host *host, uint32_t n)
{
    enum rent_state state = host->nodes->rent->node[n].state;

    assert(n < host->spec->node_count);
    if (state == RENT_AWAY)
        return;
    for (uint32_t k = 0; k < cs_lease_count(host);) {
        const struct cs_lease *lease = lease_of(host, cs_lease_at(host, k).i);
        if (host_stands_on(lease, n)) {
            host_interrupt(host, lease->job.i);
            k = 0;
        } else {
            k++;
        }
    }
    host_notice_lose_parked(host, n, HOST_SAVES_NOTHING);
    if (host->nodes->rent->node[n].state != RENT_AWAY)
        end_rental(host, n);
}

/* ---- the beginning of a rental ------------------------------------------ */

static void arm_keep(struct cs_host *host, uint32_t n, int64_t least_ns);

/* Is there power under the cap for the tasks that waited at the last look? */
static bool has_power(const struct cs_host *host)
{
    double cap_w = host->spec->power_cap_w;

    assert(host->nodes->rent->drawn_mw >= 0);
    return cap_w <= 0 ||
           (double)(host->nodes->power_mw + host->nodes->rent->drawn_mw) <= 1000 * cap_w;
}

/* Is an idle node of a group kept for tasks to come?  It is not if tasks that wait lack the power
 * that it draws. */
static bool is_ahead(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->nodes->rent->group[g];
    double spare = (double)group->idle + group->coming -
                   host_rental_whole(group->wanted);
    uint32_t ahead = host_demand_ahead(host, g);

    assert(group->idle > 0);
    return ahead > 0 && spare <= ahead && has_power(host);
}

/* The time for which an idle node is kept is over.  It stays on if tasks are
 * expected (forecast or spare; none is when the run could end) or if the group would
 * have fewer than nodes_min; else its rental ends. */
static void end_keep(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;
    struct rent_node *node = &host->nodes->rent->node[n];
    const struct rent_spec *spec = spec_of(host, n);
    const struct rent_group *group = group_of(host, n);

    (void)loop;
    if (node->state != RENT_HERE || node->leases > 0)
        return;
    assert(!node->kept && group->idle > group->kept);
    if (host_goes_on(host->decision) &&
        is_ahead(host, (uint32_t)(group - host->nodes->rent->group))) {
        arm_keep(host, n, AHEAD_KEEP_MIN_NS);
        return;
    }
    if (group->here + group->coming > spec->nodes_min) {
        host_notice_lose_parked(host, n, CLOCK_NEVER_NS);
        end_rental(host, n);
    } else {
        node->kept = true;
        group_of(host, n)->kept++;
    }
}

/* Schedules the end of an idle node's rental.  It comes after the decision of
 * its instant, which may place another lease on the node. */
static void arm_keep(struct cs_host *host, uint32_t n, int64_t least_ns)
{
    const struct rent_spec *spec = spec_of(host, n);
    int64_t keep = spec->keep_ns > least_ns ? spec->keep_ns : least_ns;

    assert(host->nodes->rent->node[n].leases == 0);
    if (spec->scale != RENT_ALWAYS)
        host->nodes->rent->node[n].keep =
            loop_at(host->parts.loop, clock_after(host_now(host), keep),
                    LOOP_RANK_SETTLE, end_keep, host, n);
}

/* If the group of a node has more nodes than nodes_min, schedules the end of
 * those that were kept. */
static void release_kept(struct cs_host *host, uint32_t near)
{
    const struct node_group *spec = cluster_group_of(host->spec, near);
    const struct rent_group *group = group_of(host, near);

    if (group->here + group->coming <= spec->rent->nodes_min)
        return;
    for (uint32_t n = spec->first_node; group->kept > 0; n++) {
        assert(n - spec->first_node < spec->node_count);
        if (host->nodes->rent->node[n].kept) {
            clear_kept(host, n);
            arm_keep(host, n, KEEP_MIN_NS);
        }
    }
}

/* Draws when the provider reclaims a node; 1e9 s and more: never. */
static void arm_reclaim(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    int64_t mtbf = spec_of(host, n)->reclaim_mtbf_ns;

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
                                LOOP_RANK_OUTAGE, reclaim_due, host, n);
}

/* The node is here: it is unblocked and counted, its time idle begins, and the
 * provider may take it back from now on. */
static void begin_rental(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);

    assert(node->state == RENT_AWAY || node->state == RENT_COMING);
    if (node->state == RENT_COMING)
        group->coming--;
    node->state = RENT_HERE;
    group->here++;
    group->idle++;
    unblock(host, n);
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

/* A node is paid for from its order on, and is there after start_ns. */
void host_rental_order(struct cs_host *host, uint32_t n, int64_t start_ns)
{
    struct rent_node *node = &host->nodes->rent->node[n];

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
    group_of(host, n)->coming++;
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), start_ns),
                          LOOP_RANK_FINISH, finish_start, host, n);
}

/* Counts the leases on each rented node of a placement.  Without leases a node is
 * idle, and its time to be kept begins; one under notice that keeps nothing goes with its
 * last lease. */
void host_rental_held(struct cs_host *host, uint32_t lease, bool is_taken)
{
    const struct cs_lease *held = lease_of(host, lease);
    const struct placement *place = &held->placement;

    assert(held->role < FORM_ROLES_MAX && place->share_count > 0);
    for (uint32_t s = 0; s < place->share_count; s++) {
        uint32_t n = place->share[s].node;
        struct rent_node *node = &host->nodes->rent->node[n];
        if (spec_of(host, n) == NULL)
            continue;
        if (is_taken) {
            assert(node->state == RENT_HERE);
            if (node->leases++ == 0) {
                group_of(host, n)->idle--;
                clear_kept(host, n);
                loop_cancel(host->parts.loop, node->keep);
            }
            continue;
        }
        assert(node->leases > 0);
        node->leases--;
        if (node->state == RENT_HERE && node->leases == 0) {
            group_of(host, n)->idle++;
            arm_keep(host, n, KEEP_MIN_NS);
        }
        if (node->state != RENT_NOTICE)
            continue;
        if (!host_lease_parks(host, lease))
            host_forget_home(host, held->job.i, held->role, n);
        host_tell(host, FACT_RENT_TAKEN, n, 0,
                  block_share(host, &place->share[s]));
        if (node->leases == 0 && !host_notice_keeps(host, n))
            end_rental(host, n);
    }
}
