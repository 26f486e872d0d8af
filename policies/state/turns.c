/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.c - what waits in the order of submission, for the backfill of
 * commit.c, with an index over GPUs and estimates.
 *
 * Of what was submitted at one instant those that were seen when the last
 * choice was made stand in the policy's order, and behind them those that were
 * not, as they came.  So at each choice some take other places: they are in a
 * second tree, by the order in which they came, until then.
 *
 * Kept from the first backfill on, where the policy's order stands still.
 */
#include <assert.h>

#include "policies/state/tops.h"
#include "policies/state/waiting.h"
#include "policies/state/turn.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/rank_tree.h"

#define NONE RANK_TREE_NONE

struct host_turns {
    struct rank_tree all, unseen;
    struct host_task_sum *sum;   /* of `all` */
    uint32_t room;
    uint32_t *seen, seen_room;  /* scratch: who takes another place */
};

static bool is_in(const struct rank_tree *ranks, uint32_t task)
{
    return task < ranks->room && ranks->node[task].count > 0;
}

static void sum_turns(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    struct cs_host *host = owner;

    host_sum_tasks(host, host->waiting->turns->sum, item, left, right);
}

static bool stays_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    const struct host_task_slot *x = &host->slots->task[a], *y = &host->slots->task[b];
    int64_t first = host_job_slot(host, x->pub.job.i)->pub.request.submit_ns;
    int64_t other = host_job_slot(host, y->pub.job.i)->pub.request.submit_ns;
    bool x_seen = x->seq < host->turn->committed_seq;
    bool y_seen = y->seq < host->turn->committed_seq;

    if (first != other)
        return first < other;
    if (x_seen != y_seen)
        return x_seen;
    return x_seen ? host_task_before(host, a, b) : x->seq < y->seq;
}

static bool came_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;

    return host->slots->task[a].seq < host->slots->task[b].seq;
}

void host_turns_insert(struct cs_host *host, uint32_t task)
{
    struct host_turns *turns = host->waiting->turns;

    if (turns->room < host->slots->task_room) {
        turns->sum = arena_grow(host->parts.arena, turns->sum, turns->room,
                                host->slots->task_room, sizeof *turns->sum);
        turns->room = host->slots->task_room;
    }
    rank_tree_insert(&turns->all, task, stays_before);
    if (host->slots->task[task].seq >= host->turn->committed_seq)
        rank_tree_insert(&turns->unseen, task, came_before);
}

void host_turns_remove(struct cs_host *host, uint32_t task)
{
    if (is_in(&host->waiting->turns->all, task))
        rank_tree_remove(&host->waiting->turns->all, task);
    if (is_in(&host->waiting->turns->unseen, task))
        rank_tree_remove(&host->waiting->turns->unseen, task);
}

void host_turns_begin(struct cs_host *host)
{
    struct host_turns *turns = arena_alloc(host->parts.arena, 1,
                                           sizeof *turns);

    assert(host->waiting->turns == NULL);
    host->waiting->turns = turns;
    rank_tree_init(&turns->all, host->parts.arena, sum_turns, host);
    rank_tree_init(&turns->unseen, host->parts.arena, NULL, host);
    for (uint32_t i = 0; i < host_order_count(host); i++)
        host_turns_insert(host, rank_tree_at(host->waiting->order, i));
}

static void note_seen(struct cs_host *host, uint32_t count, uint32_t task)
{
    struct host_turns *turns = host->waiting->turns;

    if (count == turns->seen_room) {
        uint32_t room = count > 0 ? 2 * count : 64;
        turns->seen = arena_grow(host->parts.arena, turns->seen, count, room,
                                 sizeof *turns->seen);
        turns->seen_room = room;
    }
    turns->seen[count] = task;
}

/* First all of them leave: the others are in order before and after. */
void host_turns_commit(struct cs_host *host, uint64_t seq)
{
    struct host_turns *turns = host->waiting->turns;
    uint32_t count = 0, task;

    assert(seq >= host->turn->committed_seq);
    while ((task = rank_tree_at(&turns->unseen, 0)) != NONE &&
           host->slots->task[task].seq < seq) {
        host_turns_remove(host, task);
        note_seen(host, count++, task);
    }
    host->turn->committed_seq = seq;
    for (uint32_t i = 0; i < count; i++)
        rank_tree_insert(&turns->all, turns->seen[i], stays_before);
}

uint32_t host_turns_next(struct cs_host *host, uint32_t *place,
                         const struct cs_filter *filter)
{
    struct host_turns *turns = host->waiting->turns;

    *place = host_find_task(host, &turns->all, turns->sum, *place, filter);
    return rank_tree_at(&turns->all, *place);
}
