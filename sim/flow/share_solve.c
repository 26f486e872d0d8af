/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_solve.c - which flows a change reaches.
 *
 * The component of the changed flows and links if it is small (SMALL_COUNT).
 * Otherwise a ripple: fill the flows held back by the changed links while all
 * others keep their rates; take in every flow that lost its bottleneck or takes
 * more than its share from a filled one; repeat until all have one.  If that
 * spreads, fill the whole component.  A crowd takes part in a ripple as one.  A
 * flow of it that may reach its cap, or another full link, leaves the crowd and
 * is solved on its own (share_crowd.c).
 *
 * Invariant: outside of share_solve, every flow that is not dirty is at its
 * cap, or its bottleneck is full and no flow there has a higher level.  Rates
 * left by a ripple agree with those of the whole component within 1e-9.
 */
#include "sim/containers/lazy_heap.h"
#include "sim/flow/share.h"
#include "sim/flow/share_parts.h"

#include <assert.h>
#include <math.h>

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
/* `own` of a link since it was chosen. */
#define NOT_FILLED (-1.0)

/* Proofs ------------------------------------------------------------------ */

/* Whether a component is small is asked at every change, and the answer is no
 * for most of the changes of a large net.  A search that has seen too many
 * flows therefore leaves its proof: the flows and links seen carry its stamp,
 * and so does the link it began at.  They are connected by those flows alone,
 * so the proof stands until one of them is dropped; other flows may come and go.
 * All of a proof's flows carry it while it stands: a proof that takes a flow from
 * another one withdraws that.  This function leaves a proof about the part of the
 * set that is being looked at. */
static void proof_leave(struct share *share)
{
    struct share_proof proof = {.stamp = ++share->proof_count};
    uint32_t i;

    for (i = share->part; i < share->set.count; i++)
        share_proof_withdraw(share, &share->flow[share->set.item[i]].proof);
    assert(share->set_link.count > share->part_link);
    proof.link = share->set_link.item[share->part_link];
    share->link[proof.link].proof_stamp = proof.stamp;
    for (i = share->part; i < share->set.count; i++)
        share->flow[share->set.item[i]].proof = proof;
    for (i = share->part_link; i < share->set_link.count; i++)
        share->link[share->set_link.item[i]].proof = proof;
}

/* Choosing what to fill --------------------------------------------------- */

/* Adds a link, and a flow with its links, to the set, once.  Not yet filled in
 * this ripple. */
static inline void choose_link(struct share *share, uint32_t id)
{
    struct share_link *link = &share->link[id];

    assert(id < share->link_count);
    if (link->chosen)
        return;
    link->chosen = true;
    link->own = NOT_FILLED;
    share_list_push(&share->set_link, id);
}

/* Puts a flow into the set that is to be solved, with its links, whose other
 * flows may follow. */
static void choose_new_flow(struct share *share, uint32_t slot)
{
    struct share_flow *flow = &share->flow[slot];
    const struct share_use *use = share_uses(share, flow);
    const struct share_use *end = use + flow->use_count;

    assert(flow->live && flow->use_count > 0);
    flow->chosen = true;
    share_list_push(&share->set, slot);
    for (; use < end; use++)
        choose_link(share, use->link);
}

/* Adds a flow to the set, once, with its links. */
static inline void choose_flow(struct share *share, uint32_t slot)
{
    assert(slot < share->flow_count);
    if (!share->flow[slot].chosen)
        choose_new_flow(share, slot);
}

/* Adds the flows of a link of the part, unless there are then too many.  The number of flows
 * is counted from the start of the part.  A link with more members than the limit is refused
 * before it is walked through. */
static bool choose_members(struct share *share, const struct share_link *link,
                           uint32_t flow_count_max)
{
    const struct share_member *member = share_members(share, link);
    uint32_t i;

    assert(link->chosen);
    if (link->member_count > flow_count_max)
        return false;
    for (i = 0; i < link->member_count; i++)
        choose_flow(share, member[i].flow);
    return share->set.count - share->part <= flow_count_max;
}

/* Adds all flows and links that are connected with the part's links.  False:
 * that is more than flow_count_max flows, and only some of it is chosen.  The list of links
 * grows while it is walked through: a search in breadth, without a queue of its own. */
static bool choose_component(struct share *share, uint32_t flow_count_max)
{
    uint32_t i;

    assert(share->part_link <= share->set_link.count);
    for (i = share->part_link; i < share->set_link.count; i++)
        if (!choose_members(share, &share->link[share->set_link.item[i]],
                            flow_count_max))
            return false;
    return true;
}

/* Adds the component if it is small.  Where a proof says that it is large,
 * nothing is searched. */
static bool choose_small(struct share *share)
{
    uint32_t i;

    assert(share->part_link < share->set_link.count);   /* where to begin */
    for (i = share->part_link; i < share->set_link.count; i++) {
        const struct share_link *link = &share->link[share->set_link.item[i]];

        if (share_proof_stands(share, &link->proof))
            return false;
        if (!choose_members(share, link, SMALL_COUNT)) {
            if (share->set.count - share->part > SMALL_COUNT)
                proof_leave(share);
            return false;
        }
    }
    return true;
}

/* Members that are added to the set from here on are the part to be solved next. */
static void part_begin(struct share *share)
{
    share->part = share->set.count;
    share->part_link = share->set_link.count;
}

/* Takes the part out of the set again: it turned out to be too large. */
static void part_forget(struct share *share)
{
    uint32_t i;

    assert(share->part <= share->set.count && share->part_link <= share->set_link.count);
    for (i = share->part; i < share->set.count; i++)
        share->flow[share->set.item[i]].chosen = false;
    for (i = share->part_link; i < share->set_link.count; i++)
        share->link[share->set_link.item[i]].chosen = false;
    share->set.count = share->part;
    share->set_link.count = share->part_link;
}

/* Solves the component of one changed link at once if it is small.  True as well if the link
 * was solved with another one. */
static bool solve_small(struct share *share, uint32_t link)
{
    assert(link < share->link_count);
    if (share->link[link].chosen)
        return true;
    part_begin(share);
    choose_link(share, link);
    if (!choose_small(share)) {
        part_forget(share);
        return false;
    }
    share_fill(share, true);
    return true;
}

/* The ripple -------------------------------------------------------------- */

/* Whether the link keeps a crowd: from now on, if it should and may.  While a link waits, each
 * ripple that meets it takes one from its wait_count. */
static bool keeps_crowd(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];

    if (link->kept != SHARE_NONE)
        return true;
    if (link->member_count < SHARE_CROWD_MIN)
        return false;
    if (share->across[id].wait_count > 0) {
        share->across[id].wait_count--;
        return false;
    }
    share_crowd_new(share, id);
    assert(link->kept < share->crowd_count);
    share->new_crowd = true;
    return true;
}

/* Chooses the flows that a chosen link holds back at present.  A link that holds nobody back
 * has room, so that nobody gains by its change. */
static void ripple_begin(struct share *share)
{
    uint32_t link_count = share->set_link.count;
    uint32_t i, j;

    assert(share->part_link <= link_count);
    for (i = share->part_link; i < link_count; i++) {
        uint32_t id = share->set_link.item[i];
        const struct share_link *link = &share->link[id];
        const struct share_member *member = share_members(share, link);

        if (keeps_crowd(share, id) || link->held_count == 0)
            continue;           /* for the former, see crowd_begin */
        for (j = 0; j < link->member_count; j++)
            if (share->flow[member[j].flow].bottleneck == id)
                choose_flow(share, member[j].flow);
    }
}

/* Chooses the flows of crowds that cross a link. */
static void choose_crowd(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];
    const struct share_member *member = share_members(share, link);
    uint32_t i;

    assert(id < share->link_count);
    for (i = 0; i < link->member_count; i++)
        if (share->flow[member[i].flow].crowd != SHARE_NONE)
            choose_flow(share, member[i].flow);
}

/* Chooses the flows outside the crowd of a link that have a higher level, from
 * the top, count_max of them at most. */
static void choose_above(struct share *share, const struct share_link *link,
                         double level, uint32_t count_max)
{
    struct lazy_heap *above = &share->crowd[link->kept].above;
    const struct lazy_heap_item *top;

    assert(link->kept != SHARE_NONE);
    while (count_max-- > 0 &&
           (top = lazy_heap_top(above, share_holds, share)) != NULL &&
           -top->key > level) {
        choose_flow(share, top->id);
        lazy_heap_pop(above);
    }
}

/* A link that keeps a crowd is filled for the first time in this ripple: chooses
 * what must be filled with it. */
static void crowd_begin(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];
    double level;

    assert(link->chosen);
    if (link->kept == SHARE_NONE || link->held_count == 0)
        return;
    level = share->crowd[link->kept].level;
    choose_above(share, link, level > 0 ? level * (1 - SHARE_TOLERANCE) : -1,
                 UINT32_MAX);
    if (link->member_count < SHARE_CROWD_LEAST)
        choose_crowd(share, id);
}

/* After filling: chooses what the new level of a crowd meets.  Flows above it are
 * chosen a few at a time: each that comes down makes room for the others. */
static void crowd_check(struct share *share, const struct share_link *link)
{
    struct lazy_heap *limit = &share->crowd[link->kept].limit;
    const struct lazy_heap_item *top;
    uint32_t count = share->set.count - share->part;

    assert(link->kept != SHARE_NONE);
    if (link->own < INFINITY)
        choose_above(share, link, link->own * (1 + SHARE_TOLERANCE),
                     count < 16 ? 16 : count);
    else if (link->over)
        choose_above(share, link, 0, count < 16 ? 16 : count);
    while (link->own < INFINITY && link->crowd == link->kept &&
           (top = lazy_heap_top(limit, share_holds, share)) != NULL &&
           top->key <= link->own) {
        if (share_is_link(top))
            choose_crowd(share, top->id);
        else
            choose_flow(share, top->id);
        lazy_heap_pop(limit);
    }
}

/* After filling a link crossed by the crowd of another, which was filled as if
 * nothing but its own link could hold it back. */
static void guests_check(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];
    const struct share_crowd *crowd = &share->crowd[link->crowd];
    const struct share_link *host = &share->link[crowd->link];
    const struct share_across *across = &share->across[id];
    double left = share_sum_value(link->left);

    assert(share_has_guests(link));
    if (across->rest_count == 0)
        return;
    if (host->chosen && host->own != NOT_FILLED)
        left -= (host->own - crowd->level) * share_sum_value(across->rest);
    if (link->own < INFINITY || left < -link->capacity * SHARE_TOLERANCE)
        choose_crowd(share, id);
}

/* After filling: chooses the other flows of a link that lost it as their
 * bottleneck, or that hold more of it than the flows it now holds back. */
static void ripple_link(struct share *share, uint32_t id)
{
    const struct share_link *link = &share->link[id];
    const struct share_member *member = share_members(share, link);
    double slack = link->capacity * SHARE_TOLERANCE;
    double lost_level = link->top * (1 - SHARE_TOLERANCE);
    double greedy_level = link->own * (1 + SHARE_TOLERANCE);
    uint32_t i;

    assert(link->chosen);
    if (share_has_guests(link))
        guests_check(share, id);
    if (link->kept != SHARE_NONE) {
        crowd_check(share, link);
        return;
    }
    if (share_sum_value(link->left) > slack)
        lost_level = INFINITY;      /* no longer full */
    if (share_link_load(share, link) < link->capacity - slack &&
        link->own == INFINITY && !link->over)
        return;                     /* nobody's bottleneck, before or after */
    for (i = 0; i < link->member_count; i++) {
        const struct share_flow *flow = &share->flow[member[i].flow];

        if (flow->chosen || flow->crowd != SHARE_NONE)
            continue;           /* for the latter, see guests_check */
        if (flow->level > greedy_level || (link->over && flow->rate > 0) ||
            (flow->bottleneck == id && flow->level < lost_level))
            choose_flow(share, member[i].flow);
    }
}

/* Solves what changed and what it touches; false: that is too much, or takes too long.  Each
 * round fills the part anew with the flows that the round before has added.  It ends when a
 * round adds none. */
static bool solve_ripple(struct share *share)
{
    assert(share->part <= share->set.count && share->part_link <= share->set_link.count);
    uint32_t set_max = share->live_count / RIPPLE_PART;
    uint32_t begun = share->part_link;
    uint32_t round, i, link_count, set_count;

    if (set_max < RIPPLE_MIN)
        set_max = RIPPLE_MIN;
    ripple_begin(share);
    for (round = 0; round < RIPPLE_ROUND_MAX; round++) {
        for (; begun < share->set_link.count; begun++)
            crowd_begin(share, share->set_link.item[begun]);
        set_count = share->set.count;
        link_count = share->set_link.count;
        if (set_count - share->part > set_max)
            return false;
        share_fill(share, false);
        for (i = share->part_link; i < link_count; i++)
            ripple_link(share, share->set_link.item[i]);
        if (share->set.count == set_count)
            return true;
    }
    return false;
}

/* Solving ----------------------------------------------------------------- */

/* Solves all small components that changed; true: there was nothing else. */
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
    assert(share->set.count <= share->flow_count);
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
    assert(share->set.count <= share->flow_count);
}

/* Chooses all that is not solved yet, which costs less than to follow the links.
 * It walks over flows, not over links: a large cluster has far more links.  Flows without
 * links are never solved, so they are left out. */
static void choose_all(struct share *share)
{
    uint32_t i;

    for (i = 0; i < share->flow_count; i++)
        if (share->flow[i].live && share->flow[i].use_count > 0)
            choose_flow(share, i);
    assert(share->set.count <= share->flow_count);
}

/* Keeps the crowds' accounts: a ripple that succeeded (good) adds credit, one that
 * failed takes it, unless it failed because a crowd was new.  For example, a crowd with the
 * credit 8 survives one failure, and needs eight successes before it survives the next one. */
static void crowds_pay(struct share *share, bool good)
{
    bool excused = share->new_crowd;
    uint32_t i;

    share->new_crowd = false;
    for (i = share->part_link; i < share->set_link.count && !excused; i++) {
        uint32_t id = share->set_link.item[i];
        uint32_t kept = share->link[id].kept;
        struct share_crowd *crowd;

        if (kept == SHARE_NONE)
            continue;
        crowd = &share->crowd[kept];
        assert(kept < share->crowd_count && crowd->credit <= SHARE_CREDIT_MAX);
        if (good)
            crowd->credit += crowd->credit < SHARE_CREDIT_MAX;
        else if (crowd->credit < SHARE_CREDIT_FAIL)
            share->across[id].wait_count = SHARE_CROWD_WAIT;
        else
            crowd->credit -= SHARE_CREDIT_FAIL;
    }
}

/* Solves what is in no small component.  Where a large share of the net has changed, the
 * ripple is not tried.  If it fails, its choice stays, and all that is connected is added. */
static void solve_large(struct share *share)
{
    assert(share_is_dirty(share));
    uint32_t dirty_count = share->dirty_flow.count + share->dirty_link.count;
    uint32_t most = share->live_count / ALL_PART;

    part_begin(share);
    choose_dirty(share);
    if (dirty_count <= most && solve_ripple(share)) {
        crowds_pay(share, true);
        return;
    }
    if (dirty_count > most || !choose_component(share, most))
        choose_all(share);
    crowds_pay(share, false);
    share_fill(share, true);
}

/* Only what was marked is unmarked: the cost is that of the set, not of the
 * net. */
static void unmark_all(struct share *share)
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
    assert(!share_is_dirty(share));
}

/* Have more than one in ALL_PART of all flows and links changed?  Then filling all of them costs
 * less than a search for the components that changed. */
static bool most_is_dirty(const struct share *share)
{
    return share->dirty_flow.count + share->dirty_link.count >
           (share->flow_count + share->link_count) / ALL_PART;
}

/* Marks are taken off at the end, so that nothing of one solution is seen by
 * the next but rates, crowds and proofs. */
void share_solve(struct share *share)
{
    share->set.count = 0;
    share->set_link.count = 0;
    if (most_is_dirty(share)) {
        part_begin(share);
        choose_all(share);
        share_fill(share, true);
    } else if (!solve_each_small(share)) {
        solve_large(share);
    }
    unmark_all(share);
    assert(!share_is_dirty(share));
}
