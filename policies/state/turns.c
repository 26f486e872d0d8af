/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.c - what waits in the order of submission, for the backfill of
 * commit.c.
 *
 * Tasks that were submitted at one instant stand in two parts.  Those that were seen when the
 * last choice was made stand in the policy's order of now; behind them stand those that were
 * not, as they came.  So at each choice some take other places: until then they are also in a
 * list of their own, in the order in which they came.
 *
 * One order holds all tasks, by GPUs and then by turn, so that a policy need
 * only tell how the claims of tasks for as many GPUs move (line(), see tops.h).
 * Tasks that may go on cores stand in front, by GPUs too.  A search goes on in the
 * part of each number of GPUs; which of the tasks that it finds is first is decided
 * by turn_before().
 *
 * Kept from the first backfill on.
 */
#include <assert.h>

#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/tops.h"
#include "policies/state/turn.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

#define NONE ORDER_NONE
#define NEEDS_GPUS 0x80000000u  /* added to ranks: more than a task's GPUs */

struct turns_part {             /* tasks of one rank, in one backfill */
    uint32_t rank, gpus_min;
    uint32_t passed;            /* how many of them need not be tried */
    uint32_t task;              /* the next to try, or NONE */
};

/* All tasks that wait, in two orders.  unseen: those that came after the last
 * choice, in the order in which they came. */
struct host_turns {
    struct order all;
    struct order unseen;
    struct turns_part *part;    /* scratch, as is the next */
    uint32_t parts, part_room;
    uint32_t *seen, seen_room;  /* tasks that take another place */
};

/* Had the task come when the last choice was made? */
static bool is_seen(const struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count);
    return host->tasks->slot[task].seq < host->turn->committed_seq;
}

/* Returns when a task's job was submitted. */
static int64_t submitted_ns(const struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].pub.submit_ns <= host_now(host));
    return host->tasks->slot[task].pub.submit_ns;
}

/* ---- the order of two tasks ---- */

/* In the order of submission. owner: the host. */
static bool came_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;

    return host->tasks->slot[a].seq < host->tasks->slot[b].seq;
}

/* Does task a go before task b, among tasks for as many GPUs or others? */
static bool turn_before(struct cs_host *host, uint32_t a, uint32_t b)
{
    int64_t first = submitted_ns(host, a), other = submitted_ns(host, b);
    bool a_seen = is_seen(host, a), b_seen = is_seen(host, b);

    if (first != other)
        return first < other;
    if (a_seen != b_seen)
        return a_seen;
    return a_seen ? host_task_before(host, a, b) : came_before(host, a, b);
}

/* Returns the rank of a task's part: its GPUs, with NEEDS_GPUS added if it
 * cannot go on cores, so that tasks that may go on cores stand in front of all
 * others. */
static uint32_t rank_of(const struct cs_host *host, uint32_t task)
{
    uint32_t gpus = host->tasks->slot[task].pub.gpus;

    assert(gpus < NEEDS_GPUS);
    return host_task_gpus_min(host, task) > 0 ? NEEDS_GPUS + gpus : gpus;
}

/* By rank, then by turn: those of one rank are a part of the order. owner: the host. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    uint32_t rank = rank_of(host, a), other = rank_of(host, b);

    return rank != other ? rank < other : turn_before(host, a, b);
}

/* Returns until when task a, right before task b, stays there; now: no longer.
 * Only tasks of one rank and one instant that were both seen can change places. */
static int64_t stands_ns(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;

    if (rank_of(host, a) != rank_of(host, b) ||
        submitted_ns(host, a) != submitted_ns(host, b) ||
        !is_seen(host, a) || !is_seen(host, b))
        return CLOCK_NEVER_NS;
    if (host_task_before(host, b, a))
        return host_now(host);
    return host_claim_stands_ns(host, a, b);
}

/* ---- what comes and goes ---- */

/* Restores the order, where it moves with time. */
static void refresh(struct cs_host *host)
{
    assert(host->waiting->turns != NULL);
    if (host->waiting->tops != NULL)
        order_refresh(&host->waiting->turns->all, host_now(host));
}

/* Puts a task at its place among all.  The order must be up to date (refresh()), as its
 * neighbours are compared with it. */
static void insert(struct cs_host *host, uint32_t task)
{
    assert(!order_holds(&host->waiting->turns->all, task));
    order_insert(&host->waiting->turns->all, task, host_task_item(host, task),
                 stands_before);
}

void host_turns_insert(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    refresh(host);
    insert(host, task);
    if (!is_seen(host, task))
        order_insert(&host->waiting->turns->unseen, task,
                     host_task_item(host, task), came_before);
}

void host_turns_remove(struct cs_host *host, uint32_t task)
{
    if (order_holds(&host->waiting->turns->all, task))
        order_remove(&host->waiting->turns->all, task);
    if (order_holds(&host->waiting->turns->unseen, task))
        order_remove(&host->waiting->turns->unseen, task);
    assert(!order_holds(&host->waiting->turns->all, task));
}

/* Makes both orders with the tasks that wait. */
static void begin(struct cs_host *host)
{
    assert(host->waiting->turns == NULL);
    static const struct order_rules
        still = { stands_before, NULL, ORDER_SPANS },
        moving = { stands_before, stands_ns, ORDER_MOVES },
        plain = { came_before, NULL, 0 };
    struct arena *arena = host->parts.arena;
    struct host_turns *turns = arena_alloc(arena, 1, sizeof *turns);

    host->waiting->turns = turns;
    order_init(&turns->all, order_store_new(arena),
               host->waiting->tops != NULL ? &moving : &still, host);
    order_init(&turns->unseen, order_store_new(arena), &plain, host);
    for (uint32_t i = 0; i < host_order_count(host); i++)
        host_turns_insert(host, rank_tree_at(host->waiting->order, i));
    assert(order_count(&turns->all) == host_order_count(host));
}

/* Keeps a task that takes another place as the count-th. */
static void note_seen(struct cs_host *host, uint32_t count, uint32_t task)
{
    struct host_turns *turns = host->waiting->turns;

    assert(count <= turns->seen_room);
    if (count == turns->seen_room) {
        uint32_t room = count > 0 ? 2 * count : 64;
        turns->seen = arena_grow(host->parts.arena, turns->seen, count, room,
                                 sizeof *turns->seen);
        turns->seen_room = room;
    }
    turns->seen[count] = task;
}

/* Tasks that are seen from now on may take other places.  All of them leave
 * before the first one comes back: the tasks that stay are then in order all
 * the time. */
void host_turns_commit(struct cs_host *host, uint64_t seq)
{
    struct host_turns *turns = host->waiting->turns;
    uint32_t count = 0, task;

    assert(seq >= host->turn->committed_seq);
    if (turns == NULL) {
        host->turn->committed_seq = seq;
        return;
    }
    refresh(host);
    while ((task = rank_tree_first(&turns->unseen.tree)) != NONE &&
           host->tasks->slot[task].seq < seq) {
        host_turns_remove(host, task);
        note_seen(host, count++, task);
    }
    host->turn->committed_seq = seq;
    for (uint32_t i = 0; i < count; i++)
        insert(host, turns->seen[i]);
    assert(order_count(&turns->unseen) <= order_count(&turns->all));
}

/* ---- searches ---- */

/* Is a task in the parts up to that rank?  Such tasks stand in front. */
static bool ranks_up_to(void *owner, uint32_t task, uint32_t rank)
{
    const struct cs_host *host = owner;

    assert(host->tasks->slot[task].live);
    return rank_of(host, task) <= rank;
}

/* Returns how many tasks are in the parts up to that rank. */
static uint32_t count_up_to(const struct host_turns *turns, uint32_t rank)
{
    return order_front(&turns->all, ranks_up_to, rank, NULL);
}

/* Returns the place of the first task from `place` on that is short enough and needs no
 * more than the part's GPUs.  One that needs none passes the filter with any span. */
static uint32_t find_short(struct cs_host *host, const struct turns_part *part,
                           uint32_t place, int64_t most_ns)
{
    struct order *all = &host->waiting->turns->all;
    struct order_filter filter = { .gpus_max = part->gpus_min,
                                   .span_max_ns = most_ns };
    uint32_t task;

    do {
        place = host_search(host, all, place, &filter);
        task = rank_tree_at(&all->tree, place);
    } while (task != NONE && host->tasks->slot[task].pub.estimate_ns > most_ns && ++place);
    return place;
}

/* Finds the next task to try of a part, and what is passed over for good. */
static void look(struct cs_host *host, struct turns_part *part,
                 int64_t most_ns)
{
    struct host_turns *turns = host->waiting->turns;
    uint32_t begin_at = part->rank > 0 ? count_up_to(turns, part->rank - 1)
                                       : 0;
    uint32_t place = find_short(host, part, begin_at + part->passed, most_ns);

    assert(begin_at + part->passed <= order_count(&turns->all));
    part->task = rank_tree_at(&turns->all.tree, place);
    if (part->task != NONE && rank_of(host, part->task) != part->rank)
        part->task = NONE;      /* of the next part on cores */
    if (part->task != NONE)
        part->passed = place - begin_at;
    assert(part->task == NONE || place < order_count(&turns->all));
}

/* Finds the parts, one for each rank that occurs, and the first task to try of
 * each. */
void host_turns_first(struct cs_host *host, int64_t most_ns)
{
    uint32_t task, place = 0;

    if (host->waiting->turns == NULL)
        begin(host);
    struct host_turns *turns = host->waiting->turns;
    refresh(host);
    turns->parts = 0;
    while ((task = rank_tree_at(&turns->all.tree, place)) != NONE) {
        struct turns_part part = { .rank = rank_of(host, task),
                                   .gpus_min = host_task_gpus_min(host, task) };
        if (turns->parts == turns->part_room) {
            uint32_t room = turns->parts > 0 ? 2 * turns->parts : 16;
            turns->part = arena_grow(host->parts.arena, turns->part,
                                     turns->parts, room, sizeof *turns->part);
            turns->part_room = room;
        }
        look(host, &part, most_ns);
        turns->part[turns->parts++] = part;
        place = count_up_to(turns, part.rank);
    }
    assert(turns->parts <= turns->part_room);
}

uint32_t host_turns_next(struct cs_host *host, uint32_t gpus_max)
{
    const struct host_turns *turns = host->waiting->turns;
    uint32_t found = ID_NONE;

    /* Parts stand by the GPUs that they need. */
    for (uint32_t i = 0; i < turns->parts && turns->part[i].gpus_min <= gpus_max;
         i++) {
        uint32_t task = turns->part[i].task;
        if (task != NONE &&
            (found == ID_NONE || turn_before(host, task, found)))
            found = task;
    }
    assert(found == ID_NONE || host_task_gpus_min(host, found) <= gpus_max);
    return found;
}

/* If the task has started it has left the order, and the place of the next one
 * is its own. */
void host_turns_tried(struct cs_host *host, uint32_t task, int64_t most_ns)
{
    assert(host->waiting->turns->parts > 0);
    struct host_turns *turns = host->waiting->turns;
    uint32_t i = 0;

    while (turns->part[i].task != task)
        i++;
    assert(i < turns->parts);
    turns->part[i].passed += order_holds(&turns->all, task);
    look(host, &turns->part[i], most_ns);
}
