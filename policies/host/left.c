/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * left.c - cs_reallocate() without a look at every job, where keys move as said.
 *
 * The list is the one of deal.c: stably sorted by key, from deal to deal.
 * keys.c knows when neighbours in it may change places, so that a deal
 * costs the logarithm of the list for every job that overtakes others, starts
 * or stops.  Where lines have different slopes the list falls apart into the
 * lanes of lanes.c.  All jobs that were dealt are in one place at a time:
 * here, in the lanes or in the plain list of deal.c, which turn over to
 * each other all of them, in order.  Failures turn the deals over to
 * deal.c: with them what is left of a job may change while it waits.
 */
#include <assert.h>

#include "policies/host/keys.h"
#include "policies/rank.h"
#include "policies/state/deals.h"
#include "policies/state/nodes.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/policy.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/rank_tree.h"

static bool goes_before(void *owner, uint32_t a, uint32_t b)
{
    return host_keys_now(owner, a) < host_keys_now(owner, b);
}

/* ---- the list, up to date ---- */

static void add(struct cs_host *host, struct job_id job,
                rank_tree_before_fn *before)
{
    uint32_t i = host_keys_make(host, job);

    rank_tree_insert(host->deals->lefts, i, before);
}

/* Jobs that ended leave, first, since their keys may not be asked for; of those
 * that were started or stopped, by the last deal or by others, the line is
 * another. */
static void take_news(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->deals->left_endeds; k++) {
        rank_tree_remove(host->deals->lefts, host->deals->left_ended[k]);
        host->deals->left_spare[host->deals->left_spares++] = host->deals->left_ended[k];
    }
    host->deals->left_endeds = 0;
    for (uint32_t k = 0; k < host->deals->left_changeds; k++) {
        uint32_t i = host->deals->left_changed[k];
        if (host->deals->left[i].over)
            continue;
        if (host->deals->motion->still)
            rank_tree_remove(host->deals->lefts, i);
        host_keys_note(host, i);
        if (!host->deals->motion->still)
            rank_tree_touch(host->deals->lefts, i);
    }
    for (uint32_t k = 0; k < host->deals->left_changeds; k++)
        if (host->deals->motion->still && !host->deals->left[host->deals->left_changed[k]].over)
            rank_tree_insert(host->deals->lefts, host->deals->left_changed[k], goes_before);
    host->deals->left_changeds = 0;
}

/* ---- from one list to the other ---- */

/* Where jobs that run have lines of different slope they cross each other
 * without end, though it matters only who crosses one that waits: while few
 * wait, and there are no lanes, a look at all costs less. */
#define FEW_WAIT 2u             /* times those that run */
#define MANY_WAIT 6u

static bool worth_it(const struct cs_host *host)
{
    uint32_t running = cs_running_count(host);
    uint32_t waiting = host_order_count(host);

    if (!host->deals->left_crossing)
        return true;
    return waiting > (host->deals->lefts != NULL ? FEW_WAIT : MANY_WAIT) * running;
}

static void take_over(struct cs_host *host)
{
    if (host->deals->left_tree == NULL) {
        host->deals->left_tree = arena_alloc(host->parts.arena, 1,
                                      sizeof *host->deals->left_tree);
        rank_tree_init(host->deals->left_tree, host->parts.arena, host_keys_sum, host);
    }
    host->deals->lefts = host->deals->left_tree;
    host->deals->left_count = host->deals->left_spares = 0;
    for (uint32_t k = 0; k < host->deals->deals; k++) {
        struct job_id job = { host->deals->deal[k].job };
        if (!host_job_over(host, job.i))
            add(host, job, NULL);
    }
    host->deals->deals = 0;
}

static void turn_over(struct cs_host *host)
{
    take_news(host);
    uint32_t count = rank_tree_count(host->deals->lefts);
    uint32_t *list = host_list_room(host, count);

    rank_tree_list(host->deals->lefts, list);
    rank_tree_clear(host->deals->lefts);
    host_keys_hand_over(host, list, count);
    host->deals->lefts = NULL;
}

/* All keys are others: merge sort, stable. */
static void sort_anew(struct cs_host *host)
{
    uint32_t count = rank_tree_count(host->deals->lefts);
    uint32_t *from, *to;

    if (count == 0)
        return;
    from = host_list_room(host, 2 * count);
    to = from + count;
    rank_tree_list(host->deals->lefts, from);
    for (uint32_t i = 0; i < count; i++)
        host_keys_note(host, from[i]);
    for (uint64_t width = 1; width < count; width *= 2) {
        uint32_t out = 0;
        for (uint64_t low = 0; low < count; low += 2 * width) {
            uint64_t middle = low + width < count ? low + width : count;
            uint64_t high = middle + width < count ? middle + width : count;
            uint64_t i = low, j = middle;
            while (i < middle || j < high) {
                bool second = i == middle ||
                    (j < high && host->deals->left[from[j]].key <
                                     host->deals->left[from[i]].key);
                to[out++] = second ? from[j++] : from[i++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    rank_tree_reorder(host->deals->lefts, from);
}

static void refresh(struct cs_host *host)
{
    take_news(host);
    if (host->deals->motion->anew)
        sort_anew(host);
    else
        host_keys_overtake(host, host->deals->lefts);
    for (; host->deals->deal_seen < host->slots->job_count; host->deals->deal_seen++) {
        struct job_id job = { host->deals->deal_seen };
        if (!host_job_over(host, job.i))
            add(host, job, goes_before);
    }
}

/* ---- the deal ---- */

/* Jobs of a subtree that wait, or that run, in order. */
static void pick(struct cs_host *host, uint32_t item, bool runs)
{
    if (item == RANK_TREE_NONE)
        return;
    const struct rank_tree_node *node = &host->deals->lefts->node[item];
    uint32_t running = host->deals->left_sum[item].running;
    if ((runs ? running : node->count - running) == 0)
        return;
    pick(host, node->left, runs);
    if (host->deals->left[item].runs == runs && runs)
        host->deals->left_stop[host->deals->left_stops++] = item;
    else if (host->deals->left[item].runs == runs)
        host->deals->left_start[host->deals->left_starts++] = item;
    pick(host, node->right, runs);
}

/* In order, who fits into the room takes his; returns what is left of it. */
static uint64_t deal(struct cs_host *host, uint32_t item, uint64_t room)
{
    if (item == RANK_TREE_NONE)
        return room;
    const struct host_left_sum *all = &host->deals->left_sum[item];
    const struct host_left *entry = &host->deals->left[item];
    if (all->gpus <= room) {
        pick(host, item, false);
        return room - all->gpus;
    }
    if (all->gpus_min > room) {
        pick(host, item, true);
        return room;
    }
    room = deal(host, host->deals->lefts->node[item].left, room);
    bool fits = entry->gpus <= room;
    if (fits)
        room -= entry->gpus;
    if (fits && !entry->runs)
        host->deals->left_start[host->deals->left_starts++] = item;
    if (!fits && entry->runs)
        host->deals->left_stop[host->deals->left_stops++] = item;
    return deal(host, host->deals->lefts->node[item].right, room);
}

void cs_reallocate_note(struct cs_host *host, struct job_id job)
{
    host_left_change(host, host_job_slot(host, job.i));
}

/* In lanes, where these are of use and the jobs are of that kind? */
static bool in_lanes(struct cs_host *host, bool plain)
{
    bool may = plain && host->deals->left_crossing && !host->deals->motion->still &&
               !host->deals->motion->anew && host->nodes->rent == NULL;

    if (host_lanes_open(host))
        return host_lanes_refresh(host, may);
    if (!host_lanes_due(host, may))
        return false;
    if (host->deals->lefts != NULL)
        turn_over(host);
    return host_lanes_begin(host);
}

void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion)
{
    assert(!host_per_phase(host) && motion->key != NULL);
    bool plain = host->spec->failures == NULL && host->rules->tick_ns == 0;
    host->deals->motion = motion;
    if (in_lanes(host, plain)) {
        host_lanes_deal(host);
        return;
    }
    bool worth = plain && worth_it(host);
    if (host->deals->lefts == NULL && worth)
        take_over(host);
    else if (host->deals->lefts != NULL && !worth)
        turn_over(host);
    if (!worth) {
        cs_reallocate(host, motion->sorted != NULL ? motion->sorted : motion->key);
        return;
    }
    refresh(host);
    host->deals->left_stops = host->deals->left_starts = 0;
    deal(host, host->deals->lefts->root, cs_total_gpus(host, 0));
    host_keys_carry_out(host);
}

/* ---- by what is left ---- */

static double left_key(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job);
}

static double left_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    return cs_left_per_ns(host, job);
}

void cs_reallocate_left(struct cs_host *host)
{
    static const struct cs_moving_key motion = {
        .key = left_key, .per_ns = left_per_ns, .exact = true
    };

    cs_reallocate_moving(host, &motion);
}
