/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - a plan: how many GPUs are free over time, and the first time at
 * which a job fits.
 *
 * The plan is a list of steps in a tree by time.  A level belongs to a number
 * of GPUs that a policy searched for.  It lists the holes: the longest
 * stretches of time in which so many GPUs are free (holes.h).  So a search
 * costs the logarithm of the number of holes.  A reservation costs that for
 * each step that it changes and each level that the step crosses.
 *
 * There are at most LEVELS_MAX levels for any number of GPUs, and more for
 * powers of two alone.  A search for another number takes the level of the next
 * lower power of two, and looks through its holes step by step.
 *
 * Invariant: steps rise in time, and no two neighbours have the same number of
 * free GPUs.
 */
#include "policies/plan.h"

#include <assert.h>

#include "policies/host/holes.h"
#include "policies/policy.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

#define NONE RANK_TREE_NONE
#define NEVER CLOCK_NEVER_NS
#define LEVELS_MAX 32u
#define POWERS 32u

struct step {
    int64_t time_ns;
    int64_t free;               /* GPUs, from time_ns to the next step */
    uint32_t before, after;
};

struct cs_plan {
    struct arena *arena;
    struct rank_tree tree;
    struct step *step;
    uint32_t first, steps, room;
    uint32_t *spare, spares;
    struct holes *level[LEVELS_MAX + POWERS];
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

/* ---- levels ---- */

/* Makes the level of a number of GPUs from the steps. */
static struct holes *make_level(struct cs_plan *plan, int64_t gpus)
{
    struct holes *level = arena_alloc(plan->arena, 1, sizeof *level);

    host_holes_init(level, plan->arena, gpus);
    for (uint32_t i = plan->first; i != NONE;) {
        int64_t start_ns = plan->step[i].time_ns;
        bool free = plan->step[i].free >= gpus;
        while (i != NONE && (plan->step[i].free >= gpus) == free)
            i = plan->step[i].after;
        int64_t end_ns = i == NONE ? NEVER : plan->step[i].time_ns;
        if (free)
            host_holes_append(level, start_ns, end_ns);
    }
    assert(plan->levels < LEVELS_MAX + POWERS);
    plan->level[plan->levels++] = level;
    return level;
}

/* Returns the level of a number of GPUs, or of the power of two below it. */
static struct holes *level_of(struct cs_plan *plan, int64_t gpus)
{
    assert(gpus >= 0 && plan->first != NONE);
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level[i]->gpus == gpus)
            return plan->level[i];
    if (plan->levels < LEVELS_MAX || (gpus & (gpus - 1)) == 0)
        return make_level(plan, gpus);
    while ((gpus & (gpus - 1)) != 0)
        gpus &= gpus - 1;
    return level_of(plan, gpus);
}

/* ---- steps ---- */

/* Returns the last step at a time or before it, else the first step. */
static uint32_t find_step(const struct cs_plan *plan, int64_t time_ns)
{
    uint32_t at = plan->tree.root, found = plan->first;

    while (at != NONE) {
        const struct rank_tree_node *node = &plan->tree.node[at];
        bool by_then = plan->step[at].time_ns <= time_ns;
        if (by_then)
            found = at;
        at = by_then ? node->right : node->left;
    }
    assert(found < plan->steps);
    return found;
}

/* Order of the tree: by time. */
static bool is_sooner(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_plan *plan = owner;

    return plan->step[a].time_ns < plan->step[b].time_ns;
}

/* Adds a step after another one; NONE: the plan is empty. */
static uint32_t make_step(struct cs_plan *plan, int64_t time_ns, int64_t free,
                          uint32_t before)
{
    uint32_t i, after = before == NONE ? NONE : plan->step[before].after;

    assert(before == NONE || plan->step[before].time_ns < time_ns);
    assert(after == NONE || time_ns < plan->step[after].time_ns);
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
    rank_tree_insert(&plan->tree, i, is_sooner);
    return i;
}

/* Takes a step out of list and tree; its entry is free for another. */
static void drop_step(struct cs_plan *plan, uint32_t i)
{
    const struct step *step = &plan->step[i];

    assert(i < plan->steps && plan->spares < plan->steps);
    if (step->before != NONE)
        plan->step[step->before].after = step->after;
    else
        plan->first = step->after;
    if (step->after != NONE)
        plan->step[step->after].before = step->before;
    rank_tree_remove(&plan->tree, i);
    plan->spare[plan->spares++] = i;
}

/* Returns the step that begins at a time; makes it if there is none. */
static uint32_t cut_at(struct cs_plan *plan, int64_t time_ns)
{
    uint32_t at = find_step(plan, time_ns);

    assert(plan->step[at].time_ns <= time_ns);
    return plan->step[at].time_ns == time_ns
               ? at : make_step(plan, time_ns, plan->step[at].free, at);
}

/* Drops a step (NONE: none) that has as many free GPUs as the one before. */
static void join_before(struct cs_plan *plan, uint32_t i)
{
    assert(i == NONE || i < plan->steps);
    if (i != NONE && plan->step[i].before != NONE &&
        plan->step[i].free == plan->step[plan->step[i].before].free)
        drop_step(plan, i);
}

/* Would a step that loses so many GPUs open or close a hole of the level? */
static bool crosses_level(const struct step *step, const struct holes *level,
                          int64_t gpus)
{
    assert(gpus != 0);
    return (step->free >= level->gpus) != (step->free - gpus >= level->gpus);
}

/* Changes the holes of a level as the steps [from, to) are about to lose so
 * many GPUs (negative: to get them). */
static void cross_level(struct cs_plan *plan, struct holes *level,
                        uint32_t from, uint32_t to, int64_t gpus)
{
    const struct step *step = plan->step;

    assert(from != to);
    for (uint32_t i = from; i != to;) {
        int64_t start_ns = step[i].time_ns;
        if (!crosses_level(&step[i], level, gpus)) {
            i = step[i].after;
            continue;
        }
        while (i != to && crosses_level(&step[i], level, gpus))
            i = step[i].after;
        int64_t end_ns = i == NONE ? NEVER : step[i].time_ns;
        if (gpus > 0)
            host_holes_close(level, start_ns, end_ns);
        else
            host_holes_open(level, start_ns, end_ns);
    }
}

/* ---- what policies call ---- */

struct cs_plan *cs_plan_new(struct cs_host *host)
{
    struct cs_plan *plan = cs_alloc(host, 1, sizeof *plan);

    assert(plan->levels == 0 && plan->steps == 0);
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
    plan->first = make_step(plan, from_ns, gpus, NONE);
    for (uint32_t i = 0; i < plan->levels; i++) {
        host_holes_clear(plan->level[i]);
        if (plan->level[i]->gpus <= gpus)
            host_holes_append(plan->level[i], from_ns, NEVER);
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
        drop_step(plan, plan->first);
    }
    step[plan->first].time_ns = larger(step[plan->first].time_ns, now_ns);
    for (uint32_t i = 0; i < plan->levels; i++)
        host_holes_forget(plan->level[i], now_ns);
}

void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus)
{
    assert(plan->first != NONE && start_ns >= 0);
    if (start_ns >= end_ns || gpus == 0)
        return;
    uint32_t from = cut_at(plan, start_ns);
    uint32_t to = end_ns < NEVER ? cut_at(plan, end_ns) : NONE;
    struct step *step = plan->step;
    int64_t least = step[from].free, most = least;
    for (uint32_t i = from; i != to; i = step[i].after) {
        least = smaller(least, step[i].free);
        most = larger(most, step[i].free);
    }
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level[i]->gpus > smaller(least, least - gpus) &&
            plan->level[i]->gpus <= larger(most, most - gpus))
            cross_level(plan, plan->level[i], from, to, gpus);
    for (uint32_t i = from; i != to; i = step[i].after)
        step[i].free -= gpus;
    join_before(plan, to);
    join_before(plan, from);
}

/* Returns the first time in a hole of fewer GPUs, [start, end), from which so
 * many GPUs are free long enough; NEVER: there is none. */
static int64_t find_within(const struct cs_plan *plan, int64_t start_ns,
                           int64_t end_ns, int64_t gpus, int64_t run_ns,
                           int64_t before_ns)
{
    const struct step *step = plan->step;
    uint32_t i = find_step(plan, start_ns);

    assert(start_ns < end_ns);
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
        if (host_hole_length(&hole) >= run_ns || hole.end_ns >= before_ns)
            return hole.start_ns;
    }
    return NEVER;
}

int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns)
{
    const struct holes *level = level_of(plan, gpus);
    int64_t from_ns = 0;

    assert(run_ns >= 0);
    for (;;) {
        uint32_t at = host_holes_find(level, from_ns, run_ns, before_ns);
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
