/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_crowd.c - crowds: the many flows that one full link holds back.
 *
 * They have one level, so a change of it costs as much for thousands as for
 * one: a link's load is that of the flows outside, plus level x demand of the
 * crowd's flows that cross it.  What a new level may break is kept in two
 * heaps: the caps of the crowd's flows and the levels at which other links they
 * cross would be full (`limit`), met when the level rises; and the levels of
 * the link's flows outside (`above`), met when it falls.
 *
 * Invariant: the flows of a crowd have its link as their bottleneck.  Whatever
 * else they cross holds nobody back and is crossed by no other crowd: so what
 * such a link carries depends on one level, and nobody's rate on what it
 * carries.
 * Invariant: each flow outside that crosses a link with a crowd stands in its
 * `above`, and each link that a crowd's flows cross, in `limit`.
 *
 * The source of the idea is fair queueing's virtual time (Demers, Keshav &
 * Shenker 1989), which flow.c keeps for each crowd.
 */
#include "sim/containers/lazy_heap.h"
#include "sim/flow/share.h"
#include "sim/flow/share_parts.h"

#include <assert.h>
#include <math.h>

/* What an item is about: item.tail. */
#define ABOUT_FLOW 0
#define ABOUT_LINK 1

/* The owner's stamp rises whenever its items get out of date. */
bool share_holds(const void *self, const struct lazy_heap_item *item)
{
    const struct share *share = self;

    assert(item->id < (share_is_link(item) ? share->link_count : share->flow_count));
    if (share_is_link(item))
        return share->across[item->id].stamp == item->stamp;
    return share->flow[item->id].stamp == item->stamp;
}

/* Puts a flow into one of a crowd's heaps. */
static void push_flow(struct share *share, struct lazy_heap *heap, double key,
                      uint32_t slot)
{
    assert(slot < share->flow_count && share->flow[slot].live);
    struct lazy_heap_item item = {key, ABOUT_FLOW, slot, share->flow[slot].stamp};

    lazy_heap_push(heap, item, share_holds, share);
}

/* A crowd without flows, for a link all of whose flows are still outside.  Its level is the
 * lowest of the flows that the link holds back at present; 0 if it holds back none.  All its
 * flows outside go into `above`, keyed by minus their level: the highest comes first. */
void share_crowd_new(struct share *share, uint32_t id)
{
    struct share_link *link = &share->link[id];
    const struct share_member *member = share_members(share, link);
    struct share_crowd *crowd;
    double level = INFINITY;
    uint32_t i;

    assert(link->kept == SHARE_NONE);
    if (share->free_crowd.count > 0) {
        link->kept = share->free_crowd.item[--share->free_crowd.count];
    } else {
        ARENA_REACH(NULL, share->crowd, share->crowd_room,
                    share->crowd_count);
        link->kept = share->crowd_count++;
    }
    crowd = &share->crowd[link->kept];
    *crowd = (struct share_crowd){.link = id, .credit = SHARE_CREDIT_FAIL};
    for (i = 0; i < link->member_count; i++) {
        const struct share_flow *flow = &share->flow[member[i].flow];

        if (flow->crowd != SHARE_NONE)
            continue;           /* of another link */
        push_flow(share, &crowd->above, -flow->level, member[i].flow);
        if (flow->bottleneck == id)
            level = fmin(level, flow->level);
    }
    crowd->level = isfinite(level) ? level : 0;
    assert(crowd->level >= 0);
}

/* A link gives its crowd up. */
static void crowd_free(struct share *share, struct share_link *link)
{
    assert(link->kept != SHARE_NONE && link->crowd != link->kept);
    struct share_crowd *crowd = &share->crowd[link->kept];

    lazy_heap_release(&crowd->above);
    lazy_heap_release(&crowd->limit);
    share_list_push(&share->free_crowd, link->kept);
    link->kept = SHARE_NONE;
}

/* Puts the solved levels of crowds in force, and gives up those that became
 * small or did not pay.  A link whose level is infinite closed no flow, so that its crowd
 * keeps its level. */
void share_levels(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->set_link.count; i++) {
        uint32_t id = share->set_link.item[i];
        assert(id < share->link_count);
        struct share_link *link = &share->link[id];

        if (link->kept == SHARE_NONE)
            continue;
        if (isfinite(link->own))
            share->crowd[link->kept].level = link->own;
        if (link->member_count < SHARE_CROWD_LEAST ||
            share->across[id].wait_count > 0) {
            assert(link->crowd != link->kept);
            crowd_free(share, link);
        }
    }
}

/* A flow may join the crowd of its bottleneck if its other links hold nobody
 * back and are crossed by no other crowd (the invariant above). */
uint32_t share_joins(const struct share *share, uint32_t slot)
{
    const struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    uint32_t k, crowd;

    if (flow->bottleneck == SHARE_NONE)
        return SHARE_NONE;
    crowd = share->link[flow->bottleneck].kept;
    if (crowd == SHARE_NONE)
        return SHARE_NONE;
    for (k = 0; k < flow->use_count; k++) {
        const struct share_link *link = &share->link[use[k].link];

        if (use[k].link != flow->bottleneck && link->held_count > 0)
            return SHARE_NONE;
        if (link->crowd != SHARE_NONE && link->crowd != crowd)
            return SHARE_NONE;
    }
    assert(crowd < share->crowd_count);
    return crowd;
}

/* Puts the solved rate of a flow in force that is in no crowd.  The load of a link changes by
 * the new rate less the old one.  A flow that crosses a link with a crowd goes into its
 * `above`. */
static void commit_outside(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    uint32_t k;

    assert(flow->next >= 0 && isfinite(flow->next));
    for (k = 0; k < flow->use_count && flow->next != flow->rate; k++) {
        struct share_link *link = &share->link[use[k].link];
        struct share_sum load = link->load;

        share_sum_add(&load, flow->next * use[k].per_unit);
        share_sum_add(&load, -(flow->rate * use[k].per_unit));
        link->load = load;
    }
    flow->rate = flow->next;
    for (k = 0; k < flow->use_count && share_has_crowds(share); k++) {
        const struct share_link *link = &share->link[use[k].link];

        if (link->kept != SHARE_NONE)
            push_flow(share, &share->crowd[link->kept].above, -flow->level, slot);
    }
}

/* Puts a flow into a crowd, which has its level.  Its rate moves from the links' loads to the
 * crowd's demand, and its cap, if it has one, to the crowd's `limit`. */
static void commit_inside(struct share *share, uint32_t slot, uint32_t crowd)
{
    assert(crowd < share->crowd_count);
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    uint32_t k;

    assert(flow->level == share->crowd[crowd].level);
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];
        struct share_across *across = &share->across[use[k].link];

        assert(link->crowd == SHARE_NONE || link->crowd == crowd);
        if (flow->rate > 0)
            share_sum_add(&link->load, -(flow->rate * use[k].per_unit));
        share_sum_add(&across->demand, flow->weight * use[k].per_unit);
        link->crowd = crowd;
        across->count++;
    }
    flow->crowd = crowd;
    flow->rate = 0;
    if (isfinite(flow->level_max))
        push_flow(share, &share->crowd[crowd].limit, flow->level_max, slot);
}

/* The new stamp makes the flow's items in the crowds' heaps invalid. */
void share_commit(struct share *share, uint32_t slot, uint32_t crowd)
{
    struct share_flow *flow = &share->flow[slot];

    assert(flow->live && flow->crowd == SHARE_NONE);
    flow->stamp++;
    if (crowd == SHARE_NONE)
        commit_outside(share, slot);
    else
        commit_inside(share, slot, crowd);
}

/* Computes anew, for each solved link that a crowd of another link crosses, at
 * which level of the crowd it would be full.  For example, a link of 10 with a load of 4 that
 * a crowd crosses with a demand of 3 is full at the level 2. */
void share_limits(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->set_link.count; i++) {
        uint32_t id = share->set_link.item[i];
        const struct share_link *link = &share->link[id];
        struct share_across *across = &share->across[id];
        struct lazy_heap_item item = {.tail = ABOUT_LINK, .id = id};

        if (!share_has_guests(link))
            continue;
        assert(across->count > 0);
        item.key = fmax(0, link->capacity - share_sum_value(link->load)) /
                   share_sum_value(across->demand);
        item.stamp = ++across->stamp;
        lazy_heap_push(&share->crowd[link->crowd].limit, item, share_holds, share);
    }
}
