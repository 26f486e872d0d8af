/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle.c - leases that are idle: since when, where, and an index over what
 * they hold together with what is free.
 *
 * They stand in a list, the longest idle first.  Searches that may take
 * all of them use one index (models/cluster/reclaimable.h).  Searches that spare leases which
 * were idle for less than some time use others, each of which holds the first of the list
 * up to some lease, and moves along it as time goes on: one for each of the
 * first few times that are asked for, and then whichever is nearest.  So a
 * search looks at no lease, and at no node that has too little.
 *
 * Kept from the first search on that may take idle leases.
 *
 * An example.  Leases a, b and c have been idle for 90, 40 and 10 s.  A search that spares
 * leases idle for less than 30 s uses the index of this age: a and b are in it, and its `last`
 * is b.  25 s later c has been idle for 35 s: the index moves on to c, and adds c's GPUs.
 */
#include "policies/leases/idle.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/reclaimable.h"
#include "policies/state/lease_slot.h"
#include "policies/state/nodes.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define NONE ID_NONE

/* A share of an idle lease's placement, by its number. */
struct idle_share {
    uint32_t lease, share;
};

/* The shares of idle leases that lie on one node. */
struct idle_node {
    struct idle_share *here;
    uint32_t count, room;
};

/* Leases that have been idle for some time. */
#define AGES 8u
struct idle_age {
    struct reclaimable *spare;
    int64_t idle_ns;            /* as it was asked for last */
    uint32_t last;              /* those up to it are in; NONE: none */
    uint8_t bit;                /* of lease->aged, of those that are */
};

struct host_idle {
    struct reclaimable *all;
    struct idle_age age[AGES];
    uint32_t ages;
    struct idle_node *node;
    uint32_t first, last;       /* leases */
    uint32_t *found, found_room;        /* scratch: leases in the way */
};

/* Could another job take the GPUs of a live lease over?  Not while it saves its
 * state to leave. */
static bool is_idle(const struct host_lease_slot *lease)
{
    assert(lease->live);
    return lease->pub.state == CS_LEASE_IDLE && !lease->leaving;
}

/* ---- what is spare of a node ---- */

/* Sets in an index what idle leases hold of a node: those of one age, by its
 * bit in lease->aged; 0: all.  Nothing counts on a node under notice. */
static void sum_node(struct cs_host *host, struct reclaimable *spare, uint8_t bit,
                     uint32_t n)
{
    assert(n < host->spec->node_count);
    const struct idle_node *node = &host->nodes->idle->node[n];
    struct share sum = { .node = n };
    bool leaves = host->nodes->leaving != NULL && host->nodes->leaving[n];

    for (uint32_t i = 0; i < node->count && !leaves; i++) {
        const struct host_lease_slot *lease =
            &host->leases->slot[node->here[i].lease];
        const struct share *share =
            &lease->pub.placement.share[node->here[i].share];
        if (bit != 0 && !(lease->aged & bit))
            continue;
        assert(share->node == n);
        sum.gpu_mask |= share->gpu_mask;
        sum.cores += share->cores;
        sum.memory_bytes += share->memory_bytes;
    }
    reclaimable_set(spare, &sum);
}

/* Sums the nodes of a lease again, after the lease came to an index or left it. */
static void sum_lease(struct cs_host *host, struct reclaimable *spare, uint8_t bit,
                      uint32_t lease)
{
    assert(lease < host->leases->count);
    const struct placement *place = &host->leases->slot[lease].pub.placement;

    for (uint32_t s = 0; s < place->share_count; s++)
        sum_node(host, spare, bit, place->share[s].node);
}

void host_idle_node_leaves(struct cs_host *host, uint32_t node)
{
    assert(host->nodes->leaving != NULL && host->nodes->leaving[node]);
    struct host_idle *idle = host->nodes->idle;

    if (idle == NULL)
        return;
    sum_node(host, idle->all, 0, node);
    for (uint32_t i = 0; i < idle->ages; i++)
        sum_node(host, idle->age[i].spare, idle->age[i].bit, node);
}

/* Notes that a share of an idle lease lies on a node. */
static void node_add(struct cs_host *host, uint32_t n, uint32_t lease,
                     uint32_t share)
{
    struct idle_node *node = &host->nodes->idle->node[n];

    if (node->count == node->room) {
        uint32_t room = node->room > 0 ? 2 * node->room : 4;
        node->here = arena_grow(host->parts.arena, node->here, node->count,
                                room, sizeof *node->here);
        node->room = room;
    }
    node->here[node->count++] = (struct idle_share) { lease, share };
    assert(node->count <= node->room);
}

/* The counterpart of node_add(); the order of the others may change. */
static void node_remove(struct cs_host *host, uint32_t n, uint32_t lease)
{
    struct idle_node *node = &host->nodes->idle->node[n];
    uint32_t i = 0;

    while (i < node->count && node->here[i].lease != lease)
        i++;
    assert(i < node->count);
    node->here[i] = node->here[--node->count];
}

/* ---- the list ---- */

bool host_lease_live(const struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count);
    return host->leases->slot[lease].live;
}

bool host_lease_parks(const struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count);
    return host->leases->slot[lease].parks;
}

void host_idle_add(struct cs_host *host, uint32_t i)
{
    struct host_idle *idle = host->nodes->idle;
    struct host_lease_slot *lease = &host->leases->slot[i];
    const struct placement *place = &lease->pub.placement;

    if (idle == NULL)
        return;
    assert(is_idle(lease));
    lease->idle_before = idle->last;
    lease->idle_next = NONE;
    lease->aged = 0;
    if (idle->last != NONE) {
        assert(host->leases->slot[idle->last].pub.idle_since_ns <=
               lease->pub.idle_since_ns);
        host->leases->slot[idle->last].idle_next = i;
    } else {
        idle->first = i;
    }
    idle->last = i;
    for (uint32_t s = 0; s < place->share_count; s++)
        node_add(host, place->share[s].node, i, s);
    sum_lease(host, idle->all, 0, i);
}

void host_idle_remove(struct cs_host *host, uint32_t i)
{
    struct host_idle *idle = host->nodes->idle;
    struct host_lease_slot *lease = &host->leases->slot[i];
    const struct placement *place = &lease->pub.placement;
    uint32_t before = lease->idle_before, next = lease->idle_next;

    if (idle == NULL)
        return;
    assert(before != i && next != i);
    if (before != NONE)
        host->leases->slot[before].idle_next = next;
    else
        idle->first = next;
    if (next != NONE)
        host->leases->slot[next].idle_before = before;
    else
        idle->last = before;
    for (uint32_t s = 0; s < place->share_count; s++)
        node_remove(host, place->share[s].node, i);
    sum_lease(host, idle->all, 0, i);
    for (uint32_t k = 0; k < idle->ages; k++) {
        struct idle_age *age = &idle->age[k];
        if (age->last == i)
            age->last = before;
        if (lease->aged & age->bit)
            sum_lease(host, age->spare, age->bit, i);
    }
    lease->aged = 0;
}

/* Puts the leases that are idle now into the list, the longest idle first, by
 * an insertion sort. */
static void collect(struct cs_host *host)
{
    const struct host_list *held = host_held(host);
    uint32_t *list = host_list_scratch(host, held->count), count = 0;

    for (uint32_t i = 0; i < held->count; i++) {
        uint32_t lease = held->item[i], k = count++;
        int64_t since_ns = host->leases->slot[lease].pub.idle_since_ns;
        if (!is_idle(&host->leases->slot[lease])) {
            count--;
            continue;
        }
        for (; k > 0 &&
               host->leases->slot[list[k - 1]].pub.idle_since_ns > since_ns; k--)
            list[k] = list[k - 1];
        list[k] = lease;
    }
    assert(count <= held->count);
    for (uint32_t i = 0; i < count; i++)
        host_idle_add(host, list[i]);
}

/* Returns the index; makes it at the first question. */
static struct host_idle *keep(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;

    if (host->nodes->idle != NULL)
        return host->nodes->idle;
    host->nodes->idle = arena_alloc(arena, 1, sizeof *host->nodes->idle);
    host->nodes->idle->first = host->nodes->idle->last = NONE;
    host->nodes->idle->node = arena_alloc(arena, host->spec->node_count,
                                   sizeof *host->nodes->idle->node);
    host->nodes->idle->all = reclaimable_new(arena, host->cluster);
    collect(host);
    assert(host->nodes->idle->ages == 0);
    return host->nodes->idle;
}

/* ---- what may be asked ---- */

/* Returns how far two times are apart. */
static int64_t apart(int64_t a, int64_t b)
{
    assert(a >= 0 && b >= 0);
    return a > b ? a - b : b - a;
}

/* Returns the age whose time is nearest to the one that is asked for, and gives
 * it that time.  A new one is made if the nearest is off by more than a
 * sixteenth, as long as there are fewer than AGES. */
static struct idle_age *nearest(struct cs_host *host, int64_t idle_ns)
{
    struct host_idle *idle = host->nodes->idle;
    struct idle_age *found = NULL;

    assert(idle_ns > 0 && idle->ages <= AGES);
    for (uint32_t i = 0; i < idle->ages; i++)
        if (found == NULL || apart(idle->age[i].idle_ns, idle_ns) <
                                 apart(found->idle_ns, idle_ns))
            found = &idle->age[i];
    if (idle->ages < AGES &&
        (found == NULL || apart(found->idle_ns, idle_ns) > idle_ns / 16)) {
        found = &idle->age[idle->ages];
        *found = (struct idle_age) {
            .spare = reclaimable_new(host->parts.arena, host->cluster),
            .last = NONE, .bit = (uint8_t)(1u << idle->ages),
        };
        idle->ages++;
    }
    found->idle_ns = idle_ns;
    return found;
}

/* A lease begins to be of an age, or no longer is. */
static void turn(struct cs_host *host, const struct idle_age *age,
                 uint32_t lease)
{
    assert(host->leases->slot[lease].live);
    host->leases->slot[lease].aged ^= age->bit;
    sum_lease(host, age->spare, age->bit, lease);
}

/* Moves the nearest age to the leases that have been idle for idle_ns, and
 * returns it.  Only leases between its last position and the new one are
 * turned. */
static struct idle_age *move(struct cs_host *host, int64_t idle_ns)
{
    struct idle_age *age = nearest(host, idle_ns);
    const struct host_lease_slot *lease = host->leases->slot;
    int64_t since_ns = host_now(host) - idle_ns;
    uint32_t last = age->last, next;

    for (; last != NONE && lease[last].pub.idle_since_ns > since_ns;
         last = lease[last].idle_before)
        turn(host, age, last);
    while ((next = last == NONE ? host->nodes->idle->first : lease[last].idle_next) !=
               NONE && lease[next].pub.idle_since_ns <= since_ns) {
        turn(host, age, next);
        last = next;
    }
    age->last = last;
    assert(last == NONE || lease[last].pub.idle_since_ns <= since_ns);
    return age;
}

const struct reclaimable *host_idle_spare(struct cs_host *host, int64_t idle_ns)
{
    struct host_idle *idle = keep(host);

    if (idle_ns <= 0)
        return idle->all;
    return move(host, idle_ns)->spare;
}

int64_t host_idle_next_ns(struct cs_host *host, int64_t idle_ns)
{
    struct host_idle *idle = keep(host);
    uint32_t last, next;

    if (idle_ns <= 0)
        return CLOCK_NEVER_NS;
    last = move(host, idle_ns)->last;
    assert(last == NONE || host->leases->slot[last].live);
    next = last == NONE ? idle->first : host->leases->slot[last].idle_next;
    return next == NONE ? CLOCK_NEVER_NS
                        : clock_after(host->leases->slot[next].pub.idle_since_ns,
                                      idle_ns);
}

/* Adds a lease to those that were found, which are sorted by its place among
 * all; does nothing if it is there.  Returns their number. */
static uint32_t note(struct cs_host *host, uint32_t count, uint32_t lease)
{
    assert(host->leases->slot[lease].live);
    struct host_idle *idle = host->nodes->idle;
    uint32_t k = count;

    while (k > 0 &&
           host->leases->slot[idle->found[k - 1]].place > host->leases->slot[lease].place)
        k--;
    if (k > 0 && idle->found[k - 1] == lease)
        return count;
    if (count == idle->found_room) {
        uint32_t room = count > 0 ? 2 * count : 64;
        idle->found = arena_grow(host->parts.arena, idle->found, count, room,
                                 sizeof *idle->found);
        idle->found_room = room;
    }
    for (uint32_t i = count; i > k; i--)
        idle->found[i] = idle->found[i - 1];
    idle->found[k] = lease;
    return count + 1;
}

uint32_t host_idle_in_the_way(struct cs_host *host,
                              const struct placement *placement,
                              bool whole_node, const uint32_t **found)
{
    uint32_t count = 0;

    assert(placement->share_count > 0);
    keep(host);
    for (uint32_t s = 0; s < placement->share_count; s++) {
        const struct share *share = &placement->share[s];
        const struct idle_node *node = &host->nodes->idle->node[share->node];
        for (uint32_t i = 0; i < node->count; i++) {
            const struct host_lease_slot *lease =
                &host->leases->slot[node->here[i].lease];
            const struct share *its =
                &lease->pub.placement.share[node->here[i].share];
            if (whole_node || (its->gpu_mask & share->gpu_mask))
                count = note(host, count, node->here[i].lease);
        }
    }
    *found = host->nodes->idle->found;
    return count;
}
