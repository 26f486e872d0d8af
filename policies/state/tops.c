/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tops.c - the first task, where the order of what waits moves with time.
 *
 * Such an order need not be known: only its first that fits is served.  For
 * every form and number of GPUs the tasks play a tournament.  A policy tells the line on
 * which a task's claim rises or falls; so of every game it is known until when
 * its result stands, and a subtree is played again when the first of these
 * times in it has come: a kinetic tournament (Basch, Guibas and Hershberger,
 * 1999).  Lines only tell when to look: a game is decided by before().  The
 * winners for each number of GPUs are compared at each decision.  With
 * `commit` arrivals are hidden until they are seen.
 *
 * An example.  Tasks A and B for 1 GPU have claims 10 and 4, which rise by 1 and 3 a second.
 * A wins their game, and the result stands for (10 - 4) / (3 - 1) = 3 s.  Until then nothing of
 * this subtree is played again; after it B wins.
 */
#include "policies/state/tops.h"

#include <assert.h>
#include <math.h>

#include "policies/phases.h"
#include "policies/state/full.h"
#include "policies/state/gpus.h"
#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

/* Two claims that differ by less than this part of their size may differ by
 * rounding alone. */
#define NEAR 1e-12
#define NONE ID_NONE

struct tournament {             /* of asks of a form for one number of GPUs */
    uint32_t form, gpu_milli;
    uint32_t gpus, room;        /* leaves are best[room] and on */
    uint32_t gpus_min;          /* what they need at least: none if they may go on cores */
    uint32_t *best;             /* the winner here; NONE: there was no match */
    int64_t *until_ns;          /* ... and all games below stand until then */
    uint32_t *spare, spares, used;
};

/* Where a task plays.  tournament: NONE while it is aside or hidden. */
struct tops_place {
    uint32_t tournament, leaf;
};

/* All tournaments of a trial. */
struct host_tops {
    struct tournament *tournament;
    uint32_t count, room;
    struct tops_place *place;   /* by ask */
    uint32_t place_room;
    uint32_t *aside, asides, aside_room;
    struct rank_tree fresh;         /* not seen yet, as they came */
};

/* Do two tasks have equal claims at all times? */
static bool alike(const struct cs_task *a, const struct cs_task *b)
{
    return a->submit_ns == b->submit_ns && a->estimate_ns == b->estimate_ns &&
           a->priority == b->priority;
}

/* The time at which two lines meet, if the loser's rises faster; at least a
 * nanosecond from now. */
int64_t host_claim_stands_ns(const struct cs_host *host, uint32_t winner,
                             uint32_t loser)
{
    struct task_id w = { winner }, l = { loser };
    struct cs_line of_w = { 0, 0 }, of_l = { 0, 0 };
    int64_t now = host_now(host);

    assert(winner != loser && host->policy->line != NULL);
    if (alike(&host->tasks->slot[winner].pub, &host->tasks->slot[loser].pub))
        return CLOCK_NEVER_NS;
    host->policy->line(host->self, host, w, &of_w);
    host->policy->line(host->self, host, l, &of_l);
    if (of_w.per_ns == 0 && of_l.per_ns == 0)
        return CLOCK_NEVER_NS;
    double apart = of_w.claim - of_l.claim -
                   NEAR * (fabs(of_w.claim) + fabs(of_l.claim));
    double closing = of_l.per_ns - of_w.per_ns;
    if (!(apart > 0))
        return clock_after(now, 1);
    if (closing <= 0 || apart / closing > 4e18)
        return CLOCK_NEVER_NS;
    assert(closing > 0 && apart > 0);
    int64_t wait = (int64_t)(apart / closing);
    return clock_after(now, wait > 0 ? wait : 1);
}

/* Plays the game of inner node n again.  The result stands until the claims of the two may
 * cross, or until a result below may change. */
static void play(const struct cs_host *host, struct tournament *t, uint32_t n)
{
    uint32_t a = t->best[2 * n], b = t->best[2 * n + 1];
    int64_t until = t->until_ns[2 * n] < t->until_ns[2 * n + 1]
                        ? t->until_ns[2 * n] : t->until_ns[2 * n + 1];

    assert(n > 0 && n < t->room);
    t->best[n] = a == NONE ? b : a;
    if (a != NONE && b != NONE) {
        bool first = host_task_before(host, a, b);
        int64_t stands = host_claim_stands_ns(host, first ? a : b,
                                              first ? b : a);
        t->best[n] = first ? a : b;
        until = stands < until ? stands : until;
    }
    t->until_ns[n] = until;
}

/* Plays the games of a subtree again whose results no longer stand. */
static void play_again(const struct cs_host *host, struct tournament *t,
                       uint32_t n)
{
    assert(n > 0 && n < 2 * t->room);
    if (t->until_ns[n] > host_now(host))
        return;
    assert(n < t->room);
    play_again(host, t, 2 * n);
    play_again(host, t, 2 * n + 1);
    play(host, t, n);
}

/* Puts a task (NONE: none) on a leaf and plays all games above it. */
static void set_leaf(const struct cs_host *host, struct tournament *t,
                     uint32_t leaf, uint32_t task)
{
    uint32_t n = t->room + leaf;

    assert(leaf < t->room && n < 2 * t->room);
    t->best[n] = task;
    while ((n /= 2) > 0)
        play(host, t, n);
}

/* Doubles the leaves of a tournament. */
static void grow(struct cs_host *host, struct tournament *t)
{
    struct arena *arena = host->parts.arena;
    uint32_t old = t->room, room = old > 0 ? 2 * old : 16;
    uint32_t *best = arena_alloc(arena, 2 * (size_t)room, sizeof *best);
    int64_t *until = arena_alloc(arena, 2 * (size_t)room, sizeof *until);

    assert(room > old);
    for (uint32_t i = 0; i < room; i++) {
        best[room + i] = i < old ? t->best[old + i] : NONE;
        until[room + i] = CLOCK_NEVER_NS;
    }
    t->spare = arena_grow(arena, t->spare, old, room, sizeof *t->spare);
    t->best = best;
    t->until_ns = until;
    t->room = room;
    for (uint32_t n = room - 1; n > 0; n--)
        play(host, t, n);
    assert(t->room > old);
}

/* Returns the tournament of a task; makes it if there is none.  The tasks of one are known
 * to find no room together. */
static struct tournament *tournament_of(struct cs_host *host, uint32_t number)
{
    struct host_tops *tops = host->waiting->tops;
    const struct host_task_slot *task = &host->tasks->slot[number];

    assert(task->live);
    for (uint32_t i = 0; i < tops->count; i++)
        if (tops->tournament[i].gpus == task->pub.gpus &&
            tops->tournament[i].form == task->form &&
            tops->tournament[i].gpu_milli == task->pub.gpu_milli)
            return &tops->tournament[i];
    if (tops->count == tops->room) {
        uint32_t room = tops->room > 0 ? 2 * tops->room : 16;
        tops->tournament = arena_grow(host->parts.arena, tops->tournament,
                                      tops->room, room,
                                      sizeof *tops->tournament);
        tops->room = room;
    }
    tops->tournament[tops->count] = (struct tournament){
        .form = task->form, .gpus = task->pub.gpus, .gpu_milli = task->pub.gpu_milli,
        .gpus_min = host_task_gpus_min(host, number),
    };
    return &tops->tournament[tops->count++];
}

/* Makes room in the table of places for all tasks. */
static void place_room(struct cs_host *host)
{
    struct host_tops *tops = host->waiting->tops;

    if (tops->place_room < host->tasks->capacity) {
        tops->place = arena_grow(host->parts.arena, tops->place,
                                 tops->place_room, host->tasks->capacity,
                                 sizeof *tops->place);
        tops->place_room = host->tasks->capacity;
    }
    assert(tops->place_room >= host->tasks->capacity);
}

/* O(log of the leaves): all games on the way to the root are played. */
void host_tops_insert(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    struct host_tops *tops = host->waiting->tops;
    struct tournament *t = tournament_of(host, task);

    place_room(host);
    if (t->spares == 0 && t->used == t->room)
        grow(host, t);
    uint32_t leaf = t->spares > 0 ? t->spare[--t->spares] : t->used++;
    assert(leaf < t->room && t->best[t->room + leaf] == NONE);
    tops->place[task] = (struct tops_place) {
        (uint32_t)(t - tops->tournament), leaf
    };
    set_leaf(host, t, leaf, task);
}

void host_tops_remove(struct cs_host *host, uint32_t task)
{
    assert(task < host->waiting->tops->place_room);
    struct host_tops *tops = host->waiting->tops;
    struct tops_place *place = &tops->place[task];

    if (task < tops->fresh.room && tops->fresh.node[task].count > 0)
        rank_tree_remove(&tops->fresh, task);
    if (place->tournament == NONE)      /* it is aside, or was not seen */
        return;
    struct tournament *t = &tops->tournament[place->tournament];
    assert(t->best[t->room + place->leaf] == task);
    set_leaf(host, t, place->leaf, NONE);
    t->spare[t->spares++] = place->leaf;
    place->tournament = NONE;
}

/* In the order of submission. owner: the host. */
static bool came_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;

    assert(a < host->tasks->count && b < host->tasks->count);
    return host->tasks->slot[a].seq < host->tasks->slot[b].seq;
}

void host_tops_hide(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    place_room(host);
    host->waiting->tops->place[task].tournament = NONE;
    rank_tree_insert(&host->waiting->tops->fresh, task, came_before);
}

void host_tops_see(struct cs_host *host, uint64_t seq)
{
    struct host_tops *tops = host->waiting->tops;
    uint32_t task;

    assert(tops != NULL);
    while ((task = rank_tree_at(&tops->fresh, 0)) != RANK_TREE_NONE &&
           host->tasks->slot[task].seq < seq) {
        rank_tree_remove(&tops->fresh, task);
        host_tops_insert(host, task);
    }
}

void host_tops_aside(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    struct host_tops *tops = host->waiting->tops;

    host_tops_remove(host, task);
    if (tops->asides == tops->aside_room) {
        uint32_t room = tops->aside_room > 0 ? 2 * tops->aside_room : 64;
        tops->aside = arena_grow(host->parts.arena, tops->aside,
                                 tops->aside_room, room,
                                 sizeof *tops->aside);
        tops->aside_room = room;
    }
    tops->aside[tops->asides++] = task;
}

void host_tops_back(struct cs_host *host)
{
    struct host_tops *tops = host->waiting->tops;

    for (uint32_t i = 0; i < tops->asides; i++)
        if (host->tasks->slot[tops->aside[i]].live)
            host_tops_insert(host, tops->aside[i]);
    tops->asides = 0;
}

/* Has a search for a whole job of this form, which asked for as much or less, failed since
 * the last release? */
static bool known_full(const struct cs_host *host, uint32_t i)
{
    assert(host->tasks->slot[i].live);
    const struct host_task_slot *task = &host->tasks->slot[i];

    return host_known_full(host, task->form, task->pub.gpus, task->pub.gpu_milli);
}

/* A tournament is not played at all if its tasks need too many GPUs, or are
 * known to find no room. */
uint32_t host_tops_first(struct cs_host *host, uint32_t gpus_max,
                         bool startable)
{
    uint32_t first = NONE;

    for (uint32_t i = 0; i < host->waiting->tops->count; i++) {
        struct tournament *t = &host->waiting->tops->tournament[i];
        if (t->gpus_min > gpus_max || t->room == 0 ||
            (startable && t->best[1] != NONE && known_full(host, t->best[1])))
            continue;
        play_again(host, t, 1);
        if (t->best[1] != NONE &&
            (first == NONE || host_task_before(host, t->best[1], first)))
            first = t->best[1];
    }
    assert(first == NONE || host_task_gpus_min(host, first) <= gpus_max);
    return first;
}

/* A policy that decides or places itself may ask for the whole order, and so do
 * nodes that are rented: there it is kept sorted instead. */
void host_tops_begin(struct cs_host *host)
{
    assert(host->waiting->tops == NULL);
    const struct cs_policy *policy = host->policy;

    if (policy->before == NULL || policy->line == NULL ||
        policy->decide != NULL || policy->place != NULL ||
        !(policy->flags & CS_ORDER_MOVES) || host_per_phase(host) ||
        host_rents(host))
        return;
    host->waiting->tops = arena_alloc(host->parts.arena, 1, sizeof *host->waiting->tops);
    rank_tree_init(&host->waiting->tops->fresh, host->parts.arena, NULL, host);
}
