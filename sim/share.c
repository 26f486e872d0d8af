/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share.c - weighted max-min fair rates by filling, on as few flows as will do.
 *
 * Filling (Bertsekas & Gallager, Data Networks, 1992, section 6.5.2): the link
 * with the lowest level (capacity left / weight of its open flows) closes its
 * flows at that level; so does a flow's cap.  Closing flows never lowers the
 * level of another link, so links stand in a heap under a level that is too
 * low at worst: a stale top is put back with its present level, and no link is
 * ever searched for.
 *
 * Which flows to fill: the component of the changed flows and links if it is
 * small (SMALL_COUNT).  Otherwise a ripple: fill the flows held back by the
 * changed links while all others keep their rates; take in every flow that
 * lost its bottleneck or takes more than its share from a filled one; repeat
 * until all have one.  If that spreads, fill the whole component.
 *
 * Invariant: outside of share_solve, every flow that is not dirty is at its
 * cap, or its bottleneck is full and no flow there has a higher level.
 *
 * Filling a whole component depends on its flows alone, not on how they came
 * to be there: keys are (level, cap before link, number), and the sums do not
 * show their order.  Rates left by a ripple agree with it within 1e-9.
 */
#include "sim/share.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Components up to here are filled whole: as cheap as a ripple, and exact. */
#define SMALL_COUNT 24u
/* A ripple over more than max(RIPPLE_MIN, live / RIPPLE_PART) flows, or of more
 * rounds, is dearer than filling all (measured: random and fat-tree nets). */
#define RIPPLE_MIN 48u
#define RIPPLE_PART 12u
#define RIPPLE_ROUND_MAX 12u
/* A component of more than live / ALL_PART is not followed to its end: filling
 * the whole net is as right and costs less. */
#define ALL_PART 4u
/* Levels and loads that differ by less are the same to a ripple. */
#define TOLERANCE 1e-13

/* At one level, caps close before links. */
enum { RANK_CAP, RANK_LINK };

/* Arrays ------------------------------------------------------------------ */

static void *grown(void *items, uint32_t *room, size_t item_bytes)
{
    uint32_t new_room = *room == 0 ? 16 : *room * 2;
    void *bigger;

    assert(new_room > *room && item_bytes > 0);
    bigger = realloc(items, new_room * item_bytes);
    assert(bigger != NULL);
    *room = new_room;
    return bigger;
}

static inline void list_push(struct share_list *list, uint32_t item)
{
    if (list->count == list->room)
        list->item = grown(list->item, &list->room, sizeof *list->item);
    list->item[list->count++] = item;
}

static uint32_t log2_up(uint32_t count)
{
    uint32_t n = 0;

    assert(count <= UINT32_C(1) << 31);
    while ((UINT32_C(1) << n) < count)
        n++;
    return n;
}

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
    while (pool->room - pool->used < size)
        pool->items = grown(pool->items, &pool->room, pool->item_bytes);
    offset = pool->used;
    pool->used += size;
    return offset;
}

static void pool_give(struct share_pool *pool, uint32_t offset,
                      uint32_t size_log2)
{
    assert(offset < pool->used && size_log2 < 32);
    memcpy(pool->items + offset * pool->item_bytes, &pool->free[size_log2],
           sizeof pool->free[0]);
    pool->free[size_log2] = offset + 1;
}

/* Proofs ------------------------------------------------------------------ */

/* Whether a component is small is asked at every change, and the answer is no
 * for most of the changes of a large net.  A search that has seen too many
 * flows therefore leaves its proof: the flows and links seen carry its stamp,
 * and so does the link it began at.  They are connected by those flows alone,
 * so the proof stands until one of them is dropped, whoever else comes or
 * goes.  All of a proof's flows carry it while it stands: a proof that takes a
 * flow from another takes its place. */
static inline bool proof_stands(const struct share *share,
                                const struct share_proof *proof)
{
    return proof->stamp != 0 &&
           share->link[proof->link].proof_stamp == proof->stamp;
}

static void proof_withdraw(struct share *share, const struct share_proof *proof)
{
    if (proof_stands(share, proof))
        share->link[proof->link].proof_stamp = 0;
}

/* Of the part of the set that is being looked at. */
static void proof_leave(struct share *share)
{
    struct share_proof proof = {.stamp = ++share->proof_count};
    uint32_t i;

    for (i = share->part; i < share->set.count; i++)
        proof_withdraw(share, &share->flow[share->set.item[i]].proof);
    assert(share->set_link.count > share->part_link);
    proof.link = share->set_link.item[share->part_link];
    share->link[proof.link].proof_stamp = proof.stamp;
    for (i = share->part; i < share->set.count; i++)
        share->flow[share->set.item[i]].proof = proof;
    for (i = share->part_link; i < share->set_link.count; i++)
        share->link[share->set_link.item[i]].proof = proof;
}

/* Links and flows --------------------------------------------------------- */

void share_init(struct share *share)
{
    memset(share, 0, sizeof *share);
    share->uses.item_bytes = sizeof(struct share_use);
    share->members.item_bytes = sizeof(struct share_member);
    /* So that the uses of a flow without any still have an address. */
    pool_take(&share->uses, 0);
}

void share_release(struct share *share)
{
    free(share->flow);
    free(share->free_flow.item);
    free(share->link);
    free(share->uses.items);
    free(share->members.items);
    free(share->dirty_flow.item);
    free(share->dirty_link.item);
    free(share->set.item);
    free(share->set_link.item);
    free(share->heap);
}

static inline struct share_member *members_of(const struct share *share,
                                              const struct share_link *link)
{
    return (struct share_member *)(void *)share->members.items + link->member;
}

static void link_dirty(struct share *share, uint32_t link)
{
    assert(link < share->link_count);
    if (share->link[link].dirty)
        return;
    share->link[link].dirty = true;
    list_push(&share->dirty_link, link);
}

uint32_t share_link_add(struct share *share, double capacity)
{
    struct share_link *link;

    assert(capacity >= 0 && isfinite(capacity));
    assert(share->link_count < SHARE_NONE - 1);
    if (share->link_count == share->link_room)
        share->link = grown(share->link, &share->link_room,
                            sizeof *share->link);
    link = &share->link[share->link_count];
    memset(link, 0, sizeof *link);
    link->capacity = capacity;
    link->member = pool_take(&share->members, 0);
    return share->link_count++;
}

void share_link_set(struct share *share, uint32_t link, double capacity)
{
    assert(link < share->link_count);
    assert(capacity >= 0 && isfinite(capacity));
    if (share->link[link].capacity == capacity)
        return;
    share->link[link].capacity = capacity;
    link_dirty(share, link);
}

uint32_t share_add(struct share *share, double weight, double rate_max,
                   uint32_t use_count)
{
    struct share_flow *flow;
    uint32_t slot;

    assert(weight > 0 && isfinite(weight) && rate_max >= 0);
    if (share->free_flow.count > 0) {
        slot = share->free_flow.item[--share->free_flow.count];
    } else {
        if (share->flow_count == share->flow_room)
            share->flow = grown(share->flow, &share->flow_room,
                                sizeof *share->flow);
        slot = share->flow_count++;
    }
    flow = &share->flow[slot];
    memset(flow, 0, sizeof *flow);
    flow->weight = weight;
    flow->rate_max = rate_max;
    flow->level_max = rate_max / weight + 0.0;     /* not -0 */
    flow->bottleneck = SHARE_NONE;
    flow->live = true;
    flow->use_count = use_count;
    if (use_count > 0)
        flow->use = pool_take(&share->uses, log2_up(use_count));
    share->live_count++;
    return slot;
}

void share_use(struct share *share, uint32_t flow, uint32_t k, uint32_t link,
               double per_unit)
{
    struct share_link *to = &share->link[link];
    struct share_member *member = members_of(share, to);
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
}

/* Takes the flow off one of its links; the last member fills its place. */
static void use_drop(struct share *share, const struct share_flow *flow,
                     const struct share_use *use)
{
    struct share_link *link = &share->link[use->link];
    struct share_member *member = members_of(share, link);
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

void share_drop(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    uint32_t k;

    assert(slot < share->flow_count && flow->live && !flow->chosen);
    proof_withdraw(share, &flow->proof);
    for (k = 0; k < flow->use_count; k++)
        use_drop(share, flow, share_uses(share, flow) + k);
    if (flow->use_count > 0)
        pool_give(&share->uses, flow->use, log2_up(flow->use_count));
    flow->live = false;
    flow->dirty = false;
    share->live_count--;
    list_push(&share->free_flow, slot);
}

void share_dirty(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];

    assert(slot < share->flow_count && flow->live && flow->use_count > 0);
    if (flow->dirty)
        return;
    flow->dirty = true;
    list_push(&share->dirty_flow, slot);
}

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

void share_commit(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    uint32_t k;

    assert(flow->live && flow->next >= 0 && isfinite(flow->next));
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];
        struct share_sum load = link->load;

        share_sum_add(&load, flow->next * use[k].per_unit);
        share_sum_add(&load, -(flow->rate * use[k].per_unit));
        link->load = load;
    }
    flow->rate = flow->next;
}

/* The heap of levels ------------------------------------------------------ */

/* A level and its tie-break as one number: levels are not negative, so their
 * bits are in their order.  Comparing two is free of branches, which no
 * predictor could guess. */
static inline share_key key_of(double level, uint32_t rank, uint32_t id)
{
    uint64_t bits;

    memcpy(&bits, &level, sizeof bits);
    return (share_key)bits << 64 | (share_key)rank << 32 | id;
}

static inline double key_level(share_key key)
{
    uint64_t bits = (uint64_t)(key >> 64);
    double level;

    memcpy(&level, &bits, sizeof level);
    return level;
}

static inline uint32_t key_rank(share_key key)
{
    return (uint32_t)(key >> 32);
}

static inline uint32_t key_id(share_key key)
{
    return (uint32_t)key;
}

/* The least of four; the heap ends in four keys that are greater than any. */
static inline share_key *least_child(share_key *child)
{
    share_key *a = child + (child[1] < child[0]);
    share_key *b = child + 2 + (child[3] < child[2]);

    return *b < *a ? b : a;
}

static inline void heap_sink(struct share *share, uint32_t hole)
{
    share_key *heap = share->heap;
    share_key key = heap[hole];
    size_t count = share->heap_count;
    size_t at = hole, first;
    share_key *child;

    while ((first = 4 * at + 1) < count) {
        child = least_child(heap + first);
        if (*child > key)
            break;
        heap[at] = *child;
        at = (size_t)(child - heap);
    }
    heap[at] = key;
}

static void heap_append(struct share *share, share_key key)
{
    /* Room for the four keys at the end as well. */
    if (share->heap_count + 4 >= share->heap_room)
        share->heap = grown(share->heap, &share->heap_room,
                            sizeof *share->heap);
    share->heap[share->heap_count++] = key;
}

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

static inline double link_level(const struct share_link *link)
{
    double left = share_sum_value(link->left);
    double demand = share_sum_value(link->demand);

    assert(demand > 0);
    return left > 0 ? left / demand : 0;
}

/* Gives one open flow its rate and takes it off its links. */
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
    flow->bottleneck = bottleneck;
    for (k = 0; k < flow->use_count; k++) {
        struct share_link *link = &share->link[use[k].link];

        link->open_count--;
        link->top = level;
        share_sum_add(&link->left, -(rate * use[k].per_unit));
        share_sum_add(&link->demand, -(flow->weight * use[k].per_unit));
    }
}

static uint32_t close_link(struct share *share, uint32_t id, double level)
{
    struct share_link *link = &share->link[id];
    const struct share_member *member = members_of(share, link);
    uint32_t i, closed = 0;

    assert(level >= 0);
    link->own = level;
    for (i = 0; link->open_count > 0; i++) {
        assert(i < link->member_count);
        if (share->flow[member[i].flow].open) {
            close_flow(share, member[i].flow, level, id);
            closed++;
        }
    }
    return closed;
}

/* What the flows outside the part leave of the links of the part. */
static void fill_around(struct share *share)
{
    uint32_t i, k;

    for (i = share->part_link; i < share->set_link.count; i++) {
        struct share_link *link = &share->link[share->set_link.item[i]];

        share_sum_add(&link->left, -link->load.hi);
        share_sum_add(&link->left, -link->load.lo);
    }
    for (i = share->part; i < share->set.count; i++) {
        const struct share_flow *flow = &share->flow[share->set.item[i]];
        const struct share_use *use = share_uses(share, flow);

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

static void fill_begin(struct share *share, bool whole)
{
    uint32_t i;

    share->heap_count = 0;
    for (i = share->part_link; i < share->set_link.count; i++) {
        struct share_link *link = &share->link[share->set_link.item[i]];

        link->left = (struct share_sum){link->capacity, 0};
        link->demand = (struct share_sum){0, 0};
        link->open_count = 0;
        link->top = 0;
        link->own = INFINITY;
    }
    if (!whole)
        fill_around(share);
    fill_open(share);
    for (i = share->part_link; i < share->set_link.count; i++) {
        uint32_t id = share->set_link.item[i];
        struct share_link *link = &share->link[id];

        link->spare = share_sum_value(link->left);
        if (link->open_count > 0)
            heap_append(share, key_of(link_level(link), RANK_LINK, id));
    }
    heap_order(share);
}

/* Closes the flow whose cap is on top, or the flows of the link on top unless
 * its level is out of date; returns how many it closed. */
static inline uint32_t fill_step(struct share *share, share_key top)
{
    uint32_t id = key_id(top);
    double level;

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

static void fill(struct share *share, bool whole)
{
    uint32_t open_count = share->set.count - share->part;

    fill_begin(share, whole);
    while (open_count > 0) {
        assert(share->heap_count > 0);
        open_count -= fill_step(share, share->heap[0]);
    }
}

/* Choosing what to fill --------------------------------------------------- */

static inline void choose_link(struct share *share, uint32_t id)
{
    struct share_link *link = &share->link[id];

    if (link->chosen)
        return;
    link->chosen = true;
    list_push(&share->set_link, id);
}

static void choose_new_flow(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    const struct share_use *end = use + flow->use_count;

    assert(flow->live && flow->use_count > 0);
    flow->chosen = true;
    list_push(&share->set, slot);
    for (; use < end; use++)
        choose_link(share, use->link);
}

static inline void choose_flow(struct share *share, uint32_t slot)
{
    if (!share->flow[slot].chosen)
        choose_new_flow(share, slot);
}

/* Adds the flows of a link of the part, unless there are then too many. */
static bool choose_members(struct share *share, const struct share_link *link,
                           uint32_t flow_count_max)
{
    const struct share_member *member = members_of(share, link);
    uint32_t i;

    if (link->member_count > flow_count_max)
        return false;
    for (i = 0; i < link->member_count; i++)
        choose_flow(share, member[i].flow);
    return share->set.count - share->part <= flow_count_max;
}

/* Adds whatever is connected with the part's links; false, with some of it
 * chosen, when that is more than so many flows. */
static bool choose_component(struct share *share, uint32_t flow_count_max)
{
    uint32_t i;

    for (i = share->part_link; i < share->set_link.count; i++)
        if (!choose_members(share, &share->link[share->set_link.item[i]],
                            flow_count_max))
            return false;
    return true;
}

/* The same for a small one, which is not looked for where there is proof. */
static bool choose_small(struct share *share)
{
    uint32_t i;

    for (i = share->part_link; i < share->set_link.count; i++) {
        const struct share_link *link = &share->link[share->set_link.item[i]];

        if (proof_stands(share, &link->proof))
            return false;
        if (!choose_members(share, link, SMALL_COUNT)) {
            if (share->set.count - share->part > SMALL_COUNT)
                proof_leave(share);
            return false;
        }
    }
    return true;
}

/* What is added to the set from here on is the part to be solved next. */
static void part_begin(struct share *share)
{
    share->part = share->set.count;
    share->part_link = share->set_link.count;
}

static void part_forget(struct share *share)
{
    uint32_t i;

    for (i = share->part; i < share->set.count; i++)
        share->flow[share->set.item[i]].chosen = false;
    for (i = share->part_link; i < share->set_link.count; i++)
        share->link[share->set_link.item[i]].chosen = false;
    share->set.count = share->part;
    share->set_link.count = share->part_link;
}

/* Solves the component of one changed link at once if it is small. */
static bool solve_small(struct share *share, uint32_t link)
{
    if (share->link[link].chosen)
        return true;
    part_begin(share);
    choose_link(share, link);
    if (!choose_small(share)) {
        part_forget(share);
        return false;
    }
    fill(share, true);
    return true;
}

/* The ripple -------------------------------------------------------------- */

/* Chooses the flows that a chosen link holds back at present. */
static void ripple_begin(struct share *share)
{
    uint32_t link_count = share->set_link.count;
    uint32_t i, j;

    for (i = share->part_link; i < link_count; i++) {
        uint32_t id = share->set_link.item[i];
        const struct share_link *link = &share->link[id];
        const struct share_member *member = members_of(share, link);

        for (j = 0; j < link->member_count; j++)
            if (share->flow[member[j].flow].bottleneck == id)
                choose_flow(share, member[j].flow);
    }
}

/* After filling: chooses the other flows of a link that lost it as their
 * bottleneck, or that hold more of it than the flows it now holds back. */
static void ripple_link(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];
    const struct share_member *member = members_of(share, link);
    double slack = link->capacity * TOLERANCE;
    double lost_level = link->top * (1 - TOLERANCE);
    double greedy_level = link->own * (1 + TOLERANCE);
    bool over = link->spare < -slack;
    uint32_t i;

    if (share_sum_value(link->left) > slack)
        lost_level = INFINITY;      /* no longer full */
    if (share_sum_value(link->load) < link->capacity - slack &&
        link->own == INFINITY && !over)
        return;                     /* nobody's bottleneck, before or after */
    for (i = 0; i < link->member_count; i++) {
        const struct share_flow *flow = &share->flow[member[i].flow];

        if (flow->chosen)
            continue;
        if (flow->level > greedy_level || (over && flow->rate > 0) ||
            (flow->bottleneck == id && flow->level < lost_level))
            choose_flow(share, member[i].flow);
    }
}

static bool ripple(struct share *share)
{
    uint32_t set_max = share->live_count / RIPPLE_PART;
    uint32_t round, i, link_count, set_count;

    if (set_max < RIPPLE_MIN)
        set_max = RIPPLE_MIN;
    ripple_begin(share);
    for (round = 0; round < RIPPLE_ROUND_MAX; round++) {
        set_count = share->set.count;
        link_count = share->set_link.count;
        if (set_count - share->part > set_max)
            return false;
        fill(share, false);
        for (i = share->part_link; i < link_count; i++)
            ripple_link(share, share->set_link.item[i]);
        if (share->set.count == set_count)
            return true;
    }
    return false;
}

/* Solving ----------------------------------------------------------------- */

/* Whether that was all. */
static bool solve_each_small(struct share *share)
{
    bool all = true;
    uint32_t i;

    for (i = 0; i < share->dirty_link.count; i++)
        all &= solve_small(share, share->dirty_link.item[i]);
    for (i = 0; i < share->dirty_flow.count; i++) {
        const struct share_flow *flow = &share->flow[share->dirty_flow.item[i]];

        /* The slot may be free by now, or twice in the list. */
        if (flow->dirty && !flow->chosen)
            all &= solve_small(share, share_uses(share, flow)->link);
    }
    return all;
}

/* Chooses what changed and was not in a small component. */
static void choose_dirty(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->dirty_link.count; i++)
        choose_link(share, share->dirty_link.item[i]);
    for (i = 0; i < share->dirty_flow.count; i++)
        if (share->flow[share->dirty_flow.item[i]].dirty)
            choose_flow(share, share->dirty_flow.item[i]);
}

/* All that is not solved yet: sooner done than following the links. */
static void choose_all(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->link_count; i++)
        if (share->link[i].member_count > 0)
            choose_link(share, i);
    for (i = 0; i < share->flow_count; i++) {
        struct share_flow *flow = &share->flow[i];

        if (!flow->live || flow->use_count == 0 || flow->chosen)
            continue;
        flow->chosen = true;
        list_push(&share->set, i);
    }
}

static void solve_large(struct share *share)
{
    uint32_t dirty_count = share->dirty_flow.count + share->dirty_link.count;
    uint32_t most = share->live_count / ALL_PART;

    part_begin(share);
    choose_dirty(share);
    if (dirty_count <= most && ripple(share))
        return;
    if (dirty_count > most || !choose_component(share, most))
        choose_all(share);
    fill(share, true);
}

static void unmark(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->set.count; i++)
        share->flow[share->set.item[i]].chosen = false;
    for (i = 0; i < share->set_link.count; i++)
        share->link[share->set_link.item[i]].chosen = false;
    for (i = 0; i < share->dirty_link.count; i++)
        share->link[share->dirty_link.item[i]].dirty = false;
    for (i = 0; i < share->dirty_flow.count; i++)
        share->flow[share->dirty_flow.item[i]].dirty = false;
    share->dirty_link.count = 0;
    share->dirty_flow.count = 0;
}

/* Of this much, filling all costs less than looking for small components. */
static bool most_is_dirty(const struct share *share)
{
    return share->dirty_flow.count + share->dirty_link.count >
           (share->flow_count + share->link_count) / ALL_PART;
}

void share_solve(struct share *share)
{
    share->set.count = 0;
    share->set_link.count = 0;
    if (most_is_dirty(share)) {
        part_begin(share);
        choose_all(share);
        fill(share, true);
    } else if (!solve_each_small(share)) {
        solve_large(share);
    }
    unmark(share);
    assert(!share_is_dirty(share));
}
