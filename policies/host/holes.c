/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.c - the stretches of time in which so many GPUs are free, in a tree by
 * time.
 */
#include "policies/host/holes.h"

#include <assert.h>
#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define NONE HOLE_NONE
#define NEVER CLOCK_NEVER_NS

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t host_hole_length(const struct hole *hole)
{
    assert(hole->start_ns < hole->end_ns);
    return hole->end_ns == NEVER ? NEVER : hole->end_ns - hole->start_ns;
}

/* Sums of a subtree, for the tree: its longest hole, and the end of its last one.
 * They let host_holes_find() skip subtrees without a hole that is long enough. */
static void sum_holes(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    struct holes *holes = owner;
    struct hole *hole = &holes->hole[item];

    hole->longest_ns = host_hole_length(hole);
    hole->last_ns = hole->end_ns;
    if (left != NONE)
        hole->longest_ns = larger(hole->longest_ns,
                                  holes->hole[left].longest_ns);
    if (right != NONE) {
        hole->longest_ns = larger(hole->longest_ns,
                                  holes->hole[right].longest_ns);
        hole->last_ns = holes->hole[right].last_ns;
    }
}

void host_holes_init(struct holes *holes, struct arena *arena, int64_t gpus)
{
    assert(gpus >= 0);
    *holes = (struct holes) { .arena = arena, .gpus = gpus };
    rank_tree_init(&holes->tree, arena, sum_holes, holes);
}

void host_holes_clear(struct holes *holes)
{
    assert(holes->spares <= holes->count);
    rank_tree_clear(&holes->tree);
    holes->count = holes->spares = 0;
}

/* Returns a hole that is not in the tree yet.  Entries of dropped holes are used
 * again, so memory follows the most holes at a time. */
static uint32_t make_hole(struct holes *holes, int64_t start_ns,
                          int64_t end_ns)
{
    uint32_t i;

    assert(start_ns < end_ns);
    if (holes->spares > 0) {
        i = holes->spare[--holes->spares];
    } else {
        if (holes->count == holes->room) {
            uint32_t room = holes->room > 0 ? 2 * holes->room : 64;
            holes->hole = arena_grow(holes->arena, holes->hole, holes->room,
                                     room, sizeof *holes->hole);
            holes->spare = arena_grow(holes->arena, holes->spare, holes->room,
                                      room, sizeof *holes->spare);
            holes->room = room;
        }
        i = holes->count++;
    }
    holes->hole[i].start_ns = start_ns;
    holes->hole[i].end_ns = end_ns;
    return i;
}

/* Takes a hole out of the tree; its entry is free for another. */
static void drop_hole(struct holes *holes, uint32_t i)
{
    assert(i < holes->count && holes->spares < holes->count);
    rank_tree_remove(&holes->tree, i);
    holes->spare[holes->spares++] = i;
}

void host_holes_append(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    uint32_t root = holes->tree.root;

    assert(root == NONE || holes->hole[root].last_ns < start_ns);
    rank_tree_insert(&holes->tree, make_hole(holes, start_ns, end_ns), NULL);
}

/* Returns the last hole that starts at a time or before it, and sets *later to
 * the first that starts after it; NONE: there is none. */
static uint32_t find_hole_at(const struct holes *holes, int64_t time_ns,
                             uint32_t *later)
{
    uint32_t at = holes->tree.root, found = NONE;

    *later = NONE;
    while (at != NONE) {
        const struct rank_tree_node *node = &holes->tree.node[at];
        bool by_then = holes->hole[at].start_ns <= time_ns;
        if (by_then)
            found = at;
        else
            *later = at;
        at = by_then ? node->right : node->left;
    }
    assert(found == NONE || found != *later);
    return found;
}

/* Returns the earliest hole; NONE: there is none.  O(log n). */
static uint32_t find_leftmost(const struct holes *holes)
{
    uint32_t at = holes->tree.root;

    assert(at == NONE || at < holes->count);
    while (at != NONE && holes->tree.node[at].left != NONE)
        at = holes->tree.node[at].left;
    return at;
}

/* The span lies within one hole, which disappears, becomes shorter at one end, or
 * is cut in two. */
void host_holes_close(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    uint32_t later, i = find_hole_at(holes, start_ns, &later);

    assert(start_ns < end_ns);
    assert(i != NONE && holes->hole[i].end_ns >= end_ns);
    bool from_start = holes->hole[i].start_ns == start_ns;
    bool to_end = holes->hole[i].end_ns == end_ns;
    if (from_start && to_end) {
        drop_hole(holes, i);
    } else if (to_end) {
        holes->hole[i].end_ns = start_ns;
        rank_tree_touch(&holes->tree, i);
    } else if (from_start) {
        holes->hole[i].start_ns = end_ns;
        rank_tree_touch(&holes->tree, i);
    } else {
        uint32_t rest = make_hole(holes, holes->hole[i].start_ns, start_ns);
        holes->hole[i].start_ns = end_ns;
        /* Inserted below i, so that both sums are made again. */
        rank_tree_insert_at(&holes->tree, rest, i);
    }
}

/* The span lies between holes.  It is joined with those that it touches, so that no
 * two holes touch. */
void host_holes_open(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    uint32_t later, i = find_hole_at(holes, start_ns, &later);
    bool joins = i != NONE && holes->hole[i].end_ns == start_ns;
    bool meets = later != NONE && holes->hole[later].start_ns == end_ns;

    assert(start_ns < end_ns);
    assert(i == NONE || holes->hole[i].end_ns <= start_ns);
    if (joins && meets) {
        end_ns = holes->hole[later].end_ns;
        drop_hole(holes, later);
    }
    if (joins) {
        holes->hole[i].end_ns = end_ns;
        rank_tree_touch(&holes->tree, i);
    } else if (meets) {
        holes->hole[later].start_ns = start_ns;
        rank_tree_touch(&holes->tree, later);
    } else {
        i = make_hole(holes, start_ns, end_ns);
        if (later != NONE)
            rank_tree_insert_at(&holes->tree, i, later);
        else
            rank_tree_insert(&holes->tree, i, NULL);
    }
}

/* The past has no room for anything: holes that are over go, and the one that lasts
 * begins now. */
void host_holes_forget(struct holes *holes, int64_t now_ns)
{
    struct hole *hole = holes->hole;
    uint32_t at;

    assert(now_ns >= 0);
    while ((at = find_leftmost(holes)) != NONE && hole[at].end_ns <= now_ns)
        drop_hole(holes, at);
    if (at != NONE && hole[at].start_ns < now_ns) {
        hole[at].start_ns = now_ns;
        rank_tree_touch(&holes->tree, at);
    }
}

/* host_holes_find() in a subtree: the earliest hole that starts at from_ns or later
 * and is long enough, or lasts until before_ns.  A subtree is entered only if its
 * sums allow one, so it is O(log n) but for holes that start too early. */
static uint32_t find_below(const struct holes *holes, uint32_t at,
                           int64_t from_ns, int64_t run_ns, int64_t before_ns)
{
    while (at != NONE && (holes->hole[at].longest_ns >= run_ns ||
                          holes->hole[at].last_ns >= before_ns)) {
        const struct hole *hole = &holes->hole[at];
        if (hole->start_ns >= from_ns) {
            uint32_t found = find_below(holes, holes->tree.node[at].left,
                                        from_ns, run_ns, before_ns);
            if (found != NONE)
                return found;
            if (host_hole_length(hole) >= run_ns || hole->end_ns >= before_ns)
                return at;
        }
        at = holes->tree.node[at].right;
    }
    return NONE;
}

uint32_t host_holes_find(const struct holes *holes, int64_t from_ns,
                         int64_t run_ns, int64_t before_ns)
{
    uint32_t found = find_below(holes, holes->tree.root, from_ns, run_ns,
                                before_ns);

    assert(found == NONE || holes->hole[found].start_ns >= from_ns);
    return found;
}
