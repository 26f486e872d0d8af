/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_fill.c - weighted max-min fair rates of one part of the net.
 *
 * Filling (Bertsekas & Gallager, Data Networks, 1992, section 6.5.2): the link
 * with the lowest level (capacity left / weight of its open flows) closes its
 * flows at that level; so does a flow's cap.  Closing flows never lowers the
 * level of another link, so links stand in a heap under a level that is too
 * low at worst: a stale top is put back with its present level, and no link is
 * ever searched for.
 *
 * Filling a whole component depends on its flows alone, not on how they came
 * to be there: keys are (level, cap before link, number), and the sums do not
 * show their order.
 *
 * A crowd of a link of the part is filled as one: by the flows of it that are
 * not in the part, its `rest`.  share_solve.c sees to it that they meet nothing
 * but their link.
 */
#include "sim/flow/share.h"
#include "sim/flow/share_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* At one level, caps close before links. */
enum { RANK_CAP, RANK_LINK };

/* The heap of levels ------------------------------------------------------ */

/* A level and its tie-break as one number: levels are not negative, so their
 * bits are in their order.  Comparing two is free of branches, which no
 * predictor could guess.  The bits of a double that is not negative, read as a whole number,
 * rise with its value. */
static inline share_key key_of(double level, uint32_t rank, uint32_t id)
{
    uint64_t bits;

    assert(level >= 0 && rank <= RANK_LINK);
    memcpy(&bits, &level, sizeof bits);
    return (share_key)bits << 64 | (share_key)rank << 32 | id;
}

/* The parts of a key: its level, whether it is about a cap or a link, and the
 * number of that flow or link. */
static inline double key_level(share_key key)
{
    uint64_t bits = (uint64_t)(key >> 64);
    double level;

    memcpy(&level, &bits, sizeof level);
    assert(level >= 0);
    return level;
}

/* RANK_CAP or RANK_LINK. */
static inline uint32_t key_rank(share_key key)
{
    return (uint32_t)(key >> 32);
}

/* The number of the flow (RANK_CAP) or of the link. */
static inline uint32_t key_id(share_key key)
{
    return (uint32_t)key;
}

/* The least of four; the heap ends in four keys that are greater than any.  Two independent
 * comparisons and one of their winners. */
static inline share_key *least_child(share_key *child)
{
    share_key *a = child + (child[1] < child[0]);
    share_key *b = child + 2 + (child[3] < child[2]);

    return *b < *a ? b : a;
}

/* Moves the key at a hole down to its place, in a heap of four children a
 * node. */
static inline void heap_sink(struct share *share, uint32_t hole)
{
    share_key *heap = share->heap;
    share_key key = heap[hole];
    size_t count = share->heap_count;
    size_t at = hole, first;
    share_key *child;

    assert(hole < count);
    while ((first = 4 * at + 1) < count) {
        child = least_child(heap + first);
        if (*child > key)
            break;
        heap[at] = *child;
        at = (size_t)(child - heap);
    }
    heap[at] = key;
}

/* Puts a key at the end of the heap, in no order yet. */
static void heap_append(struct share *share, share_key key)
{
    /* Room for the four keys at the end as well. */
    ARENA_REACH(NULL, share->heap, share->heap_room, share->heap_count + 4);
    share->heap[share->heap_count++] = key;
    assert(share->heap_count + 4 <= share->heap_room);
}

/* Orders the heap and closes it with four keys that are greater than any.  From the last node
 * that has children to the root, O(n). */
static void heap_order(struct share *share)
{
    uint32_t i;

    if (share->heap_count == 0)
        return;
    assert(share->heap_count + 4 <= share->heap_room);
    for (i = 0; i < 4; i++)
        share->heap[share->heap_count + i] = ~(share_key)0;
    for (i = (share->heap_count + 2) / 4; i-- > 0;)
        heap_sink(share, i);
}

/* Removes the least key. */
static void heap_pop(struct share *share)
{
    uint32_t last = share->heap_count - 1;

    assert(share->heap_count > 0);
    share->heap[0] = share->heap[last];
    share->heap[last] = ~(share_key)0;
    share->heap_count = last;
    if (last > 0)
        heap_sink(share, 0);
}

/* Filling ----------------------------------------------------------------- */

/* Returns the level at which what is left of a link would be full.  For example, 6 units left
 * and open flows with a demand of 3 units per level: the level 2.  Less than nothing left, by
 * rounding, is the level 0. */
static inline double link_level(const struct share_link *link)
{
    double left = share_sum_value(link->left);
    double demand = share_sum_value(link->demand);

    assert(demand > 0);
    return left > 0 ? left / demand : 0;
}

/* Whether its own crowd is filled with the part. */
static bool has_rest(const struct share *share, uint32_t id)
{
    assert(id < share->link_count);
    const struct share_link *link = &share->link[id];

    return link->crowd != SHARE_NONE && link->crowd == link->kept &&
           share->across[id].rest_count > 0;
}

/* Sets the link that holds a flow back; SHARE_NONE: its cap does. */
static void set_bottleneck(struct share *share, struct share_flow *flow,
                           uint32_t bottleneck)
{
    assert(bottleneck == SHARE_NONE || bottleneck < share->link_count);
    if (flow->bottleneck != SHARE_NONE)
        share->link[flow->bottleneck].held_count--;
    if (bottleneck != SHARE_NONE)
        share->link[bottleneck].held_count++;
    flow->bottleneck = bottleneck;
}

/* Gives one open flow its rate and takes it off its links.  The level of the link that held it
 * is its own; a flow at its cap takes rate_max as it is, so that rounding does not change a
 * cap. */
static void close_flow(struct share *share, uint32_t slot, double level,
                       uint32_t bottleneck)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    double rate = bottleneck == SHARE_NONE ? flow->rate_max
                                           : level * flow->weight;
    uint32_t k;

    assert(flow->open);
    flow->open = false;
    flow->next = rate;
    flow->level = level;
    if (flow->bottleneck != bottleneck)
        set_bottleneck(share, flow, bottleneck);
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];

        assert(link->open_count > 0);
        link->open_count--;
        link->top = level;
        share_sum_add(&link->left, -(rate * use[k].per_unit));
        share_sum_add(&link->demand, -(flow->weight * use[k].per_unit));
    }
}

/* Does a flow use a link? */
static bool uses_link(const struct share *share, const struct share_flow *flow,
                      uint32_t link)
{
    assert(flow->live && link < share->link_count);
    const struct share_use *use = share_uses(share, flow);
    uint32_t k;

    for (k = 0; k < flow->use_count; k++)
        if (use[k].link == link)
            return true;
    return false;
}

/* Closes the flows of a link that are open: found among its members or in the
 * part, whichever are fewer.  Returns how many it closed.  Where the crowd's rest is open too,
 * it counts as one open flow that is not a member. */
static uint32_t close_flows(struct share *share, uint32_t id, double level)
{
    struct share_link *link = &share->link[id];
    const struct share_member *member = share_members(share, link);
    uint32_t part_count = share->set.count - share->part;
    bool search = part_count < link->member_count;
    uint32_t crowd = has_rest(share, id);
    uint32_t i, closed = 0;

    for (i = 0; link->open_count > crowd; i++) {
        uint32_t slot;

        assert(i < (search ? part_count : link->member_count));
        slot = search ? share->set.item[share->part + i] : member[i].flow;
        if (!share->flow[slot].open ||
            (search && !uses_link(share, &share->flow[slot], id)))
            continue;
        close_flow(share, slot, level, id);
        closed++;
    }
    assert(closed <= part_count);
    return closed;
}

/* A link is full at this level: closes its open flows, and its crowd's rest as
 * if it were one flow.  Returns how many it closed. */
static uint32_t close_link(struct share *share, uint32_t id, double level)
{
    struct share_link *link = &share->link[id];
    uint32_t closed = close_flows(share, id, level);

    assert(level >= 0);
    link->own = level;
    if (!has_rest(share, id))
        return closed;
    link->open_count--;
    share_sum_add(&link->left, -(level * share_sum_value(share->across[id].rest)));
    return closed + 1;
}

/* A flow of the part leaves the rest of its crowd.  Links that the
 * crowd crosses, but its own, had the rate of all its flows taken off: that of this one is put
 * back. */
static void take_from_rest(struct share *share, const struct share_flow *flow)
{
    const struct share_use *use = share_uses(share, flow);
    double rate = share_rate(share, flow);
    uint32_t k;

    assert(flow->crowd != SHARE_NONE && rate >= 0);
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];
        struct share_across *across = &share->across[use[k].link];

        assert(link->crowd == flow->crowd && across->rest_count > 0);
        share_sum_add(&across->rest, -(flow->weight * use[k].per_unit));
        across->rest_count--;
        if (share_has_guests(link))
            share_sum_add(&link->left, rate * use[k].per_unit);
    }
}

/* What the flows outside the part leave of the links of the part.  First the loads of all
 * flows are taken off the links' capacity, then those of the flows of the part are put back:
 * the part has few flows, and its links may have many. */
static void fill_around(struct share *share)
{
    uint32_t i, k;

    assert(share->part_link <= share->set_link.count);
    for (i = share->part_link; i < share->set_link.count; i++) {
        uint32_t id = share->set_link.item[i];
        struct share_link *link = &share->link[id];
        struct share_across *across = &share->across[id];

        share_sum_add(&link->left, -link->load.hi);
        share_sum_add(&link->left, -link->load.lo);
        if (link->crowd == SHARE_NONE)
            continue;
        across->rest = across->demand;
        across->rest_count = across->count;
        if (share_has_guests(link))
            share_sum_add(&link->left, -(share->crowd[link->crowd].level *
                                         share_sum_value(across->rest)));
    }
    for (i = share->part; i < share->set.count; i++) {
        const struct share_flow *flow = &share->flow[share->set.item[i]];
        const struct share_use *use = share_uses(share, flow);

        if (flow->crowd != SHARE_NONE)
            take_from_rest(share, flow);
        if (flow->rate == 0)
            continue;
        for (k = 0; k < flow->use_count; k++)
            share_sum_add(&share->link[use[k].link].left,
                          flow->rate * use[k].per_unit);
    }
}

/* Puts every flow of the part on its links, and its cap into the heap. */
static void fill_open(struct share *share)
{
    uint32_t i, k;

    for (i = share->part; i < share->set.count; i++) {
        struct share_flow *flow = &share->flow[share->set.item[i]];
        const struct share_use *use = share_uses(share, flow);

        assert(!flow->open && flow->chosen);
        flow->open = true;
        for (k = 0; k < flow->use_count; k++) {
            struct share_link *link = &share->link[use[k].link];

            link->open_count++;
            share_sum_add(&link->demand, flow->weight * use[k].per_unit);
        }
        if (flow->level_max < INFINITY)
            heap_append(share, key_of(flow->level_max, RANK_CAP,
                                      share->set.item[i]));
    }
}

/* Returns how many crowds are to be closed beside the flows. */
static uint32_t fill_begin(struct share *share, bool whole)
{
    uint32_t i, crowd_count = 0;

    share->heap_count = 0;
    for (i = share->part_link; i < share->set_link.count; i++) {
        struct share_link *link = &share->link[share->set_link.item[i]];

        link->left = (struct share_sum){link->capacity, 0};
        link->demand = (struct share_sum){0, 0};
        link->open_count = 0;
        link->top = 0;
        link->own = INFINITY;
        if (link->crowd != SHARE_NONE)
            share->across[share->set_link.item[i]].rest_count = 0;
    }
    /* Flows outside of the part keep their rates: these are taken off the capacity first. */
    if (!whole)
        fill_around(share);
    fill_open(share);
    for (i = share->part_link; i < share->set_link.count; i++) {
        uint32_t id = share->set_link.item[i];
        struct share_link *link = &share->link[id];

        /* Flows outside of the part exceed the capacity by more than rounding. */
        link->over = share_sum_value(link->left) <
                     -link->capacity * SHARE_TOLERANCE;
        if (has_rest(share, id)) {
            share_sum_add(&link->demand, share->across[id].rest.hi);
            share_sum_add(&link->demand, share->across[id].rest.lo);
            link->open_count++;
            crowd_count++;
        }
        if (link->open_count > 0)
            heap_append(share, key_of(link_level(link), RANK_LINK, id));
    }
    heap_order(share);
    assert(crowd_count <= share->set_link.count);
    return crowd_count;
}

/* Closes the flow whose cap is on top, or the flows of the link on top unless
 * its level is out of date; returns how many it closed.  A level in the heap may be too low,
 * since flows of the link were closed meanwhile; such a link is put back. */
static inline uint32_t fill_step(struct share *share, share_key top)
{
    uint32_t id = key_id(top);
    double level;

    assert(id < (key_rank(top) == RANK_CAP ? share->flow_count
                                           : share->link_count));
    if (key_rank(top) == RANK_CAP) {
        heap_pop(share);
        if (!share->flow[id].open)
            return 0;
        close_flow(share, id, key_level(top), SHARE_NONE);
        return 1;
    }
    if (share->link[id].open_count == 0) {
        heap_pop(share);
        return 0;
    }
    level = link_level(&share->link[id]);
    if (level > key_level(top)) {
        share->heap[0] = key_of(level, RANK_LINK, id);
        heap_sink(share, 0);
        return 0;
    }
    heap_pop(share);
    return close_link(share, id, level);
}

/* Each step closes at least one flow, or puts a stale link back with a higher
 * level. */
void share_fill(struct share *share, bool whole)
{
    assert(share->part <= share->set.count && share->part_link <= share->set_link.count);
    uint32_t open_count = share->set.count - share->part;

    open_count += fill_begin(share, whole);
    while (open_count > 0) {
        uint32_t closed;

        assert(share->heap_count > 0);
        closed = fill_step(share, share->heap[0]);
        assert(closed <= open_count);
        open_count -= closed;
    }
}
