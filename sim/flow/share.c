/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share.c - the net that is shared: links, flows, and how much each flow takes of
 * what.
 *
 * A flow knows its links, a link its flows, each the place of the other, so
 * that a flow comes and goes at the cost of its links, however many others
 * cross them.  Runs of uses and of members lie in two arrays and are recycled.
 * Whatever is changed is put into a list: share_solve.c works that off.
 */
#include "sim/flow/share_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"

/* Pools ------------------------------------------------------------------- */

/* Returns the least n with 2^n >= count. */
static uint32_t log2_up(uint32_t count)
{
    uint32_t n = 0;

    assert(count <= UINT32_C(1) << 31);
    while ((UINT32_C(1) << n) < count)
        n++;
    assert(n < 32);
    return n;
}

/* Returns the offset of a run of 2^size_log2 items.  A free run of this size is used again;
 * else it is cut from the end of the pool.  The first bytes of a free run hold the link to the
 * next one. */
static uint32_t pool_take(struct share_pool *pool, uint32_t size_log2)
{
    uint32_t offset, next;
    uint32_t size = UINT32_C(1) << size_log2;

    assert(size_log2 < 32 && pool->item_bytes >= sizeof next);
    if (pool->free[size_log2] != 0) {
        offset = pool->free[size_log2] - 1;
        memcpy(&next, pool->items + offset * pool->item_bytes, sizeof next);
        pool->free[size_log2] = next;
        return offset;
    }
    if (pool->room - pool->used < size)
        pool->items = arena_reach_u32(NULL, pool->items, &pool->room,
                                      pool->used + size - 1, pool->item_bytes);
    offset = pool->used;
    pool->used += size;
    assert(pool->used <= pool->room);
    return offset;
}

/* A run is free for others of its size.  Runs are not joined: they are of few sizes, which are
 * asked for again. */
static void pool_give(struct share_pool *pool, uint32_t offset,
                      uint32_t size_log2)
{
    assert(offset < pool->used && size_log2 < 32);
    memcpy(pool->items + offset * pool->item_bytes, &pool->free[size_log2],
           sizeof pool->free[0]);
    pool->free[size_log2] = offset + 1;
}

/* Links and flows --------------------------------------------------------- */

/* The first item of the pool of uses is never given back. */
void share_init(struct share *share)
{
    memset(share, 0, sizeof *share);
    share->uses.item_bytes = sizeof(struct share_use);
    share->members.item_bytes = sizeof(struct share_member);
    /* So that the uses of a flow without any still have an address. */
    pool_take(&share->uses, 0);
    assert(share->uses.used == 1);
}

/* The struct itself stays the caller's. */
void share_release(struct share *share)
{
    uint32_t i;

    assert(share->live_count <= share->flow_count);
    free(share->flow);
    free(share->free_flow.item);
    free(share->link);
    free(share->across);
    free(share->uses.items);
    free(share->members.items);
    free(share->dirty_flow.item);
    free(share->dirty_link.item);
    free(share->set.item);
    free(share->set_link.item);
    free(share->heap);
    for (i = 0; i < share->crowd_count; i++) {
        lazy_heap_release(&share->crowd[i].above);
        lazy_heap_release(&share->crowd[i].limit);
    }
    free(share->crowd);
    free(share->free_crowd.item);
}

/* Notes once that a link changed: the next solution looks at it. */
static void link_dirty(struct share *share, uint32_t link)
{
    assert(link < share->link_count);
    if (share->link[link].dirty)
        return;
    share->link[link].dirty = true;
    share_list_push(&share->dirty_link, link);
}

/* `across` is beside `link`: two arrays of one room. */
uint32_t share_link_add(struct share *share, double capacity)
{
    struct share_link *link;
    uint32_t room = share->link_room;

    assert(capacity >= 0 && isfinite(capacity));
    assert(share->link_count < SHARE_NONE - 1);
    ARENA_REACH(NULL, share->link, share->link_room, share->link_count);
    ARENA_REACH(NULL, share->across, room, share->link_count);
    share->across[share->link_count] = (struct share_across){.count = 0};
    link = &share->link[share->link_count];
    memset(link, 0, sizeof *link);
    link->capacity = capacity;
    link->kept = SHARE_NONE;
    link->crowd = SHARE_NONE;
    link->member = pool_take(&share->members, 0);
    assert(link->member < share->members.used);
    return share->link_count++;
}

/* Nothing is solved again if the capacity stays. */
void share_link_set(struct share *share, uint32_t link, double capacity)
{
    assert(link < share->link_count);
    assert(capacity >= 0 && isfinite(capacity));
    if (share->link[link].capacity == capacity)
        return;
    share->link[link].capacity = capacity;
    link_dirty(share, link);
}

/* Slots are used again, but keep their stamp, which tells old entries of heaps
 * from new ones. */
uint32_t share_add(struct share *share, double weight, double rate_max,
                   uint32_t use_count)
{
    struct share_flow *flow;
    uint32_t slot, stamp = 0;

    assert(weight > 0 && isfinite(weight) && rate_max >= 0);
    if (share->free_flow.count > 0) {
        slot = share->free_flow.item[--share->free_flow.count];
        stamp = share->flow[slot].stamp;
    } else {
        ARENA_REACH(NULL, share->flow, share->flow_room, share->flow_count);
        slot = share->flow_count++;
    }
    flow = &share->flow[slot];
    memset(flow, 0, sizeof *flow);
    flow->weight = weight;
    flow->rate_max = rate_max;
    flow->level_max = rate_max / weight + 0.0;     /* not -0 */
    flow->bottleneck = SHARE_NONE;
    flow->crowd = SHARE_NONE;
    flow->stamp = stamp;
    flow->live = true;
    flow->use_count = use_count;
    if (use_count > 0)
        flow->use = pool_take(&share->uses, log2_up(use_count));
    share->live_count++;
    assert(slot < share->flow_count && share->live_count <= share->flow_count);
    return slot;
}

/* The flow becomes the link's last member.  A full run of members moves to one
 * of twice the size. */
void share_use(struct share *share, uint32_t flow, uint32_t k, uint32_t link,
               double per_unit)
{
    struct share_link *to = &share->link[link];
    struct share_member *member = share_members(share, to);
    struct share_use *use;
    uint32_t place = to->member_count;
    uint32_t run;

    assert(link < share->link_count && k < share->flow[flow].use_count);
    assert(per_unit > 0 && isfinite(per_unit));
    assert(place == 0 || member[place - 1].flow != flow);   /* link twice */
    if (place == UINT32_C(1) << to->member_room_log2) {
        run = pool_take(&share->members, to->member_room_log2 + 1);
        member = (struct share_member *)(void *)share->members.items;
        memcpy(member + run, member + to->member, place * sizeof *member);
        pool_give(&share->members, to->member, to->member_room_log2);
        to->member = run;
        to->member_room_log2++;
        member += run;
    }
    member[place].flow = flow;
    member[place].use = share->flow[flow].use + k;
    to->member_count++;
    use = share_uses(share, &share->flow[flow]) + k;
    use->link = link;
    use->place = place;
    use->per_unit = per_unit;
    assert(to->member_count <= UINT32_C(1) << to->member_room_log2);
}

/* Takes the flow off one of its links; the last member fills its place.  The flow itself is
 * not told.  A link without members gets the load 0 exactly, whatever rounding has left. */
static void use_drop(struct share *share, const struct share_flow *flow,
                     const struct share_use *use)
{
    struct share_link *link = &share->link[use->link];
    struct share_member *member = share_members(share, link);
    struct share_use *all = (struct share_use *)(void *)share->uses.items;

    assert(link->member_count > use->place);
    assert(&share->flow[member[use->place].flow] == flow);
    link->member_count--;
    member[use->place] = member[link->member_count];
    all[member[use->place].use].place = use->place;
    if (link->member_count == 0)
        link->load = (struct share_sum){0, 0};
    else if (flow->rate > 0)
        share_sum_add(&link->load, -(flow->rate * use->per_unit));
    if (link->member_count > 0)     /* else nobody is left to gain by it */
        link_dirty(share, use->link);
}

/* Its rate is 0 then, until it is committed. */
void share_leave(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    uint32_t k;

    assert(flow->crowd != SHARE_NONE && flow->rate == 0);
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];
        struct share_across *across = &share->across[use[k].link];

        assert(link->crowd == flow->crowd && across->count > 0);
        share_sum_add(&across->demand, -(flow->weight * use[k].per_unit));
        if (--across->count > 0)
            continue;
        link->crowd = SHARE_NONE;
        across->demand = (struct share_sum){0, 0};
        across->stamp++;
    }
    flow->crowd = SHARE_NONE;
}

/* The links' loads fall and they become dirty, so that the next solution
 * shares out what the flow held. */
void share_drop(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    uint32_t k;

    assert(slot < share->flow_count && flow->live && !flow->chosen);
    share_proof_withdraw(share, &flow->proof);
    if (flow->crowd != SHARE_NONE)
        share_leave(share, slot);
    if (flow->bottleneck != SHARE_NONE)
        share->link[flow->bottleneck].held_count--;
    assert(share->live_count > 0);
    flow->stamp++;
    for (k = 0; k < flow->use_count; k++)
        use_drop(share, flow, share_uses(share, flow) + k);
    if (flow->use_count > 0)
        pool_give(&share->uses, flow->use, log2_up(flow->use_count));
    flow->live = false;
    flow->dirty = false;
    share->live_count--;
    share_list_push(&share->free_flow, slot);
}

void share_dirty(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];

    assert(slot < share->flow_count && flow->live && flow->use_count > 0);
    if (flow->dirty)
        return;
    flow->dirty = true;
    share_list_push(&share->dirty_flow, slot);
}

/* The next solution decides on the rate; a flow without uses is left to flow.c. */
void share_cap(struct share *share, uint32_t slot, double rate_max)
{
    struct share_flow *flow = &share->flow[slot];

    assert(slot < share->flow_count && flow->live && rate_max >= 0);
    flow->rate_max = rate_max;
    flow->level_max = rate_max / flow->weight + 0.0;
    if (flow->use_count > 0)
        share_dirty(share, slot);
}

bool share_is_dirty(const struct share *share)
{
    return share->dirty_flow.count > 0 || share->dirty_link.count > 0;
}
