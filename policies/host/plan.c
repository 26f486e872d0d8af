/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - how many GPUs a plan leaves free over time, and where a job
 * finds room in it.
 *
 * The plan is a list of steps, in a tree by time.  For every number of GPUs
 * that was asked for there is a level: the stretches of time, as long as can
 * be, in which so many are free, its holes; in a tree by time that knows the
 * longest of each subtree.  So the first hole that is long enough is found in
 * the logarithm of their number, and what is taken or given back costs that for
 * every step it changes, and level that the step crosses by it.
 *
 * Beyond LEVELS_MAX numbers of GPUs the levels are powers of two: what is long
 * enough there is looked at step by step.
 *
 * Invariants: steps rise in time, no two neighbours are alike; holes rise in
 * time and do not touch.
 */
#include <assert.h>

#include "policies/plan.h"
#include "policies/state/state.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

#define NONE RANK_TREE_NONE
#define NEVER CLOCK_NEVER_NS
#define LEVELS_MAX 32u
#define POWERS 32u

struct step {                   /* so many are free from then on */
    int64_t time_ns, free;
    uint32_t before, after;
};

struct hole {
    int64_t start_ns, end_ns;
    int64_t longest_ns, last_ns;        /* of its subtree; its last end */
};

struct level {
    int64_t gpus;
    struct rank_tree tree;
    struct hole *hole;
    uint32_t holes, room;
    uint32_t *spare, spares;
};

struct cs_plan {
    struct arena *arena;
    struct rank_tree tree;
    struct step *step;
    uint32_t first, steps, room;
    uint32_t *spare, spares;
    struct level *level[LEVELS_MAX + POWERS];
    uint32_t levels;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the holes of a level ---- */

static int64_t length(const struct hole *hole)
{
    return hole->end_ns == NEVER ? NEVER : hole->end_ns - hole->start_ns;
}

static void sum_holes(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    struct level *level = owner;
    struct hole *hole = &level->hole[item];

    hole->longest_ns = length(hole);
    hole->last_ns = hole->end_ns;
    if (left != NONE)
        hole->longest_ns = larger(hole->longest_ns,
                                  level->hole[left].longest_ns);
    if (right != NONE) {
        hole->longest_ns = larger(hole->longest_ns,
                                  level->hole[right].longest_ns);
        hole->last_ns = level->hole[right].last_ns;
    }
}

static uint32_t hole_make(struct cs_plan *plan, struct level *level,
                          int64_t start_ns, int64_t end_ns)
{
    uint32_t i;

    if (level->spares > 0) {
        i = level->spare[--level->spares];
    } else {
        if (level->holes == level->room) {
            uint32_t room = level->room > 0 ? 2 * level->room : 64;
            level->hole = arena_grow(plan->arena, level->hole, level->room,
                                     room, sizeof *level->hole);
            level->spare = arena_grow(plan->arena, level->spare, level->room,
                                      room, sizeof *level->spare);
            level->room = room;
        }
        i = level->holes++;
    }
    level->hole[i].start_ns = start_ns;
    level->hole[i].end_ns = end_ns;
    return i;
}

static void hole_drop(struct level *level, uint32_t i)
{
    rank_tree_remove(&level->tree, i);
    level->spare[level->spares++] = i;
}

/* The last hole that starts by then, and the first that starts later. */
static uint32_t hole_at(const struct level *level, int64_t time_ns,
                        uint32_t *later)
{
    uint32_t at = level->tree.root, found = NONE;

    *later = NONE;
    while (at != NONE) {
        const struct rank_tree_node *node = &level->tree.node[at];
        bool by_then = level->hole[at].start_ns <= time_ns;
        if (by_then)
            found = at;
        else
            *later = at;
        at = by_then ? node->right : node->left;
    }
    return found;
}

static uint32_t leftmost(const struct level *level)
{
    uint32_t at = level->tree.root;

    while (at != NONE && level->tree.node[at].left != NONE)
        at = level->tree.node[at].left;
    return at;
}

/* So many are no longer free from t to u. */
static void lower(struct cs_plan *plan, struct level *level, int64_t t,
                  int64_t u)
{
    uint32_t later, i = hole_at(level, t, &later);

    assert(i != NONE && level->hole[i].end_ns >= u);
    bool from_start = level->hole[i].start_ns == t;
    bool to_end = level->hole[i].end_ns == u;
    if (from_start && to_end) {
        hole_drop(level, i);
    } else if (to_end) {
        level->hole[i].end_ns = t;
        rank_tree_touch(&level->tree, i);
    } else if (from_start) {
        level->hole[i].start_ns = u;
        rank_tree_touch(&level->tree, i);
    } else {
        uint32_t rest = hole_make(plan, level, level->hole[i].start_ns, t);
        level->hole[i].start_ns = u;
        rank_tree_insert_at(&level->tree, rest, i);     /* below it: both sums */
    }
}

/* They are now. */
static void raise_to(struct cs_plan *plan, struct level *level, int64_t t,
                     int64_t u)
{
    uint32_t later, i = hole_at(level, t, &later);
    bool joins = i != NONE && level->hole[i].end_ns == t;
    bool meets = later != NONE && level->hole[later].start_ns == u;

    assert(i == NONE || level->hole[i].end_ns <= t);
    if (joins && meets) {
        u = level->hole[later].end_ns;
        hole_drop(level, later);
    }
    if (joins) {
        level->hole[i].end_ns = u;
        rank_tree_touch(&level->tree, i);
    } else if (meets) {
        level->hole[later].start_ns = t;
        rank_tree_touch(&level->tree, later);
    } else {
        i = hole_make(plan, level, t, u);
        if (later != NONE)
            rank_tree_insert_at(&level->tree, i, later);
        else
            rank_tree_insert(&level->tree, i, NULL);
    }
}

/* The first hole from a time on that is so long, or lasts until `before_ns`. */
static uint32_t hole_first(const struct level *level, uint32_t at,
                           int64_t from_ns, int64_t run_ns, int64_t before_ns)
{
    while (at != NONE && (level->hole[at].longest_ns >= run_ns ||
                          level->hole[at].last_ns >= before_ns)) {
        const struct hole *hole = &level->hole[at];
        if (hole->start_ns >= from_ns) {
            uint32_t found = hole_first(level, level->tree.node[at].left,
                                        from_ns, run_ns, before_ns);
            if (found != NONE)
                return found;
            if (length(hole) >= run_ns || hole->end_ns >= before_ns)
                return at;
        }
        at = level->tree.node[at].right;
    }
    return NONE;
}

/* ---- levels ---- */

static struct level *level_make(struct cs_plan *plan, int64_t gpus)
{
    struct level *level = arena_alloc(plan->arena, 1, sizeof *level);

    level->gpus = gpus;
    rank_tree_init(&level->tree, plan->arena, sum_holes, level);
    for (uint32_t i = plan->first; i != NONE;) {
        int64_t start_ns = plan->step[i].time_ns;
        bool free = plan->step[i].free >= gpus;
        while (i != NONE && (plan->step[i].free >= gpus) == free)
            i = plan->step[i].after;
        int64_t end_ns = i == NONE ? NEVER : plan->step[i].time_ns;
        if (free)
            rank_tree_insert(&level->tree,
                             hole_make(plan, level, start_ns, end_ns), NULL);
    }
    assert(plan->levels < LEVELS_MAX + POWERS);
    plan->level[plan->levels++] = level;
    return level;
}

/* The one of so many GPUs, or of the power of two below. */
static struct level *level_of(struct cs_plan *plan, int64_t gpus)
{
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level[i]->gpus == gpus)
            return plan->level[i];
    if (plan->levels < LEVELS_MAX || (gpus & (gpus - 1)) == 0)
        return level_make(plan, gpus);
    while ((gpus & (gpus - 1)) != 0)
        gpus &= gpus - 1;
    return level_of(plan, gpus);
}

/* ---- the steps ---- */

/* The last step that is not after a time. */
static uint32_t step_at(const struct cs_plan *plan, int64_t time_ns)
{
    uint32_t at = plan->tree.root, found = plan->first;

    while (at != NONE) {
        const struct rank_tree_node *node = &plan->tree.node[at];
        bool by_then = plan->step[at].time_ns <= time_ns;
        if (by_then)
            found = at;
        at = by_then ? node->right : node->left;
    }
    return found;
}

static bool sooner(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_plan *plan = owner;

    return plan->step[a].time_ns < plan->step[b].time_ns;
}

static uint32_t step_make(struct cs_plan *plan, int64_t time_ns, int64_t free,
                          uint32_t before)
{
    uint32_t i, after = before == NONE ? NONE : plan->step[before].after;

    if (plan->spares > 0) {
        i = plan->spare[--plan->spares];
    } else {
        if (plan->steps == plan->room) {
            uint32_t room = plan->room > 0 ? 2 * plan->room : 64;
            plan->step = arena_grow(plan->arena, plan->step, plan->room, room,
                                    sizeof *plan->step);
            plan->spare = arena_grow(plan->arena, plan->spare, plan->room,
                                     room, sizeof *plan->spare);
            plan->room = room;
        }
        i = plan->steps++;
    }
    plan->step[i] = (struct step) { time_ns, free, before, after };
    if (before != NONE)
        plan->step[before].after = i;
    if (after != NONE)
        plan->step[after].before = i;
    rank_tree_insert(&plan->tree, i, sooner);
    return i;
}

static void step_drop(struct cs_plan *plan, uint32_t i)
{
    const struct step *step = &plan->step[i];

    if (step->before != NONE)
        plan->step[step->before].after = step->after;
    else
        plan->first = step->after;
    if (step->after != NONE)
        plan->step[step->after].before = step->before;
    rank_tree_remove(&plan->tree, i);
    plan->spare[plan->spares++] = i;
}

/* The step that begins at a time, made if need be. */
static uint32_t cut(struct cs_plan *plan, int64_t time_ns)
{
    uint32_t at = step_at(plan, time_ns);

    return plan->step[at].time_ns == time_ns
               ? at : step_make(plan, time_ns, plan->step[at].free, at);
}

/* A step that does not step goes. */
static void join(struct cs_plan *plan, uint32_t i)
{
    if (i != NONE && plan->step[i].before != NONE &&
        plan->step[i].free == plan->step[plan->step[i].before].free)
        step_drop(plan, i);
}

static bool changes(const struct step *step, const struct level *level,
                    int64_t gpus)
{
    return (step->free >= level->gpus) != (step->free - gpus >= level->gpus);
}

/* The steps [from, to) are about to lose so many GPUs: what does that make of
 * the holes of a level? */
static void cross(struct cs_plan *plan, struct level *level, uint32_t from,
                  uint32_t to, int64_t gpus)
{
    const struct step *step = plan->step;

    for (uint32_t i = from; i != to;) {
        int64_t start_ns = step[i].time_ns;
        if (!changes(&step[i], level, gpus)) {
            i = step[i].after;
            continue;
        }
        while (i != to && changes(&step[i], level, gpus))
            i = step[i].after;
        int64_t end_ns = i == NONE ? NEVER : step[i].time_ns;
        if (gpus > 0)
            lower(plan, level, start_ns, end_ns);
        else
            raise_to(plan, level, start_ns, end_ns);
    }
}

/* ---- what policies call ---- */

struct cs_plan *cs_plan_new(struct cs_host *host)
{
    struct cs_plan *plan = cs_alloc(host, 1, sizeof *plan);

    plan->arena = host->parts.arena;
    plan->first = NONE;
    rank_tree_init(&plan->tree, plan->arena, NULL, plan);
    return plan;
}

void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus)
{
    assert(plan != NULL && from_ns >= 0);
    rank_tree_clear(&plan->tree);
    plan->steps = plan->spares = 0;
    plan->first = step_make(plan, from_ns, gpus, NONE);
    for (uint32_t i = 0; i < plan->levels; i++) {
        struct level *level = plan->level[i];
        rank_tree_clear(&level->tree);
        level->holes = level->spares = 0;
        if (level->gpus <= gpus)
            rank_tree_insert(&level->tree,
                             hole_make(plan, level, from_ns, NEVER), NULL);
    }
}

static void forget_holes(struct level *level, int64_t now_ns)
{
    struct hole *hole = level->hole;
    uint32_t at;

    while ((at = leftmost(level)) != NONE && hole[at].end_ns <= now_ns)
        hole_drop(level, at);
    if (at != NONE && hole[at].start_ns < now_ns) {
        hole[at].start_ns = now_ns;
        rank_tree_touch(&level->tree, at);
    }
}

void cs_plan_forget(struct cs_plan *plan, int64_t now_ns)
{
    struct step *step = plan->step;

    assert(plan->first != NONE);
    for (;;) {
        uint32_t next = step[plan->first].after;
        if (next == NONE || step[next].time_ns > now_ns)
            break;
        step_drop(plan, plan->first);
    }
    step[plan->first].time_ns = larger(step[plan->first].time_ns, now_ns);
    for (uint32_t i = 0; i < plan->levels; i++)
        forget_holes(plan->level[i], now_ns);
}

void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus)
{
    if (start_ns >= end_ns || gpus == 0)
        return;
    uint32_t from = cut(plan, start_ns);
    uint32_t to = end_ns < NEVER ? cut(plan, end_ns) : NONE;
    struct step *step = plan->step;
    int64_t least = step[from].free, most = least;
    for (uint32_t i = from; i != to; i = step[i].after) {
        least = smaller(least, step[i].free);
        most = larger(most, step[i].free);
    }
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level[i]->gpus > smaller(least, least - gpus) &&
            plan->level[i]->gpus <= larger(most, most - gpus))
            cross(plan, plan->level[i], from, to, gpus);
    for (uint32_t i = from; i != to; i = step[i].after)
        step[i].free -= gpus;
    join(plan, to);
    join(plan, from);
}

/* In a hole of fewer GPUs: so many, step by step. */
static int64_t find_within(const struct cs_plan *plan, int64_t start_ns,
                           int64_t end_ns, int64_t gpus, int64_t run_ns,
                           int64_t before_ns)
{
    const struct step *step = plan->step;
    uint32_t i = step_at(plan, start_ns);

    while (i != NONE && step[i].time_ns < end_ns) {
        if (step[i].free < gpus) {
            i = step[i].after;
            continue;
        }
        struct hole hole = { larger(step[i].time_ns, start_ns), NEVER, 0, 0 };
        while (i != NONE && step[i].free >= gpus)
            i = step[i].after;
        if (i != NONE)
            hole.end_ns = step[i].time_ns;
        if (length(&hole) >= run_ns || hole.end_ns >= before_ns)
            return hole.start_ns;
    }
    return NEVER;
}

int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns)
{
    const struct level *level = level_of(plan, gpus);
    int64_t from_ns = 0;

    for (;;) {
        uint32_t at = hole_first(level, level->tree.root, from_ns, run_ns,
                                 before_ns);
        if (at == NONE || level->hole[at].start_ns >= before_ns)
            return before_ns;
        const struct hole *hole = &level->hole[at];
        int64_t start_ns = hole->start_ns;
        if (level->gpus < gpus)
            start_ns = find_within(plan, start_ns, hole->end_ns, gpus, run_ns,
                                   before_ns);
        if (start_ns < before_ns)
            return start_ns;
        from_ns = clock_after(hole->start_ns, 1);
    }
}
