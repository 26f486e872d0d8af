/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - a plan: how many GPUs are free over time, and the first time at
 * which a job fits.
 *
 * The plan is a list of steps by time (steps.h).  A level belongs to a number
 * of GPUs that a policy searched for.  It lists the holes: the longest
 * stretches of time in which a number of GPUs is free (holes.h).  So a search
 * looks at blocks of holes, and a reservation at blocks of steps and at the
 * holes that it opens or closes.
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

#include "policies/policy.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/holes.h"
#include "sim/containers/steps.h"

#define NEVER CLOCK_NEVER_NS
#define MANY (INT64_MAX / 2)      /* GPUs: more than there are */
#define LEVELS_MAX 32u
#define POWERS 32u

struct cs_plan {
    struct arena *arena;
    struct steps steps;
    struct holes *level[LEVELS_MAX + POWERS];
    int64_t level_gpus[LEVELS_MAX + POWERS];
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
    const struct steps *steps = &plan->steps;
    struct holes *level = arena_alloc(plan->arena, 1, sizeof *level);
    struct step_at step = { 0, 0 }, to = steps_end(steps);
    bool ends = true;

    holes_init(level, plan->arena, gpus);
    while (ends && steps_seek(steps, &step, to, gpus, MANY, true)) {
        int64_t start_ns = step_time_ns(steps, step);
        ends = steps_seek(steps, &step, to, gpus, MANY, false);
        holes_append(level, start_ns,
                     ends ? step_time_ns(steps, step) : NEVER);
    }
    assert(plan->levels < LEVELS_MAX + POWERS);
    plan->level_gpus[plan->levels] = gpus;
    plan->level[plan->levels++] = level;
    return level;
}

/* Returns the level of a number of GPUs, or of the power of two below it. */
static struct holes *level_of(struct cs_plan *plan, int64_t gpus)
{
    assert(gpus >= 0 && plan->steps.count > 0);
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level_gpus[i] == gpus)
            return plan->level[i];
    if (plan->levels < LEVELS_MAX || (gpus & (gpus - 1)) == 0)
        return make_level(plan, gpus);
    while ((gpus & (gpus - 1)) != 0)
        gpus &= gpus - 1;
    return level_of(plan, gpus);
}

/* Changes the holes of a level as the steps [from, to) are about to lose so
 * many GPUs (negative: to get them). */
static void cross_level(const struct steps *steps, struct holes *level,
                        struct step_at from, struct step_at to, int64_t gpus)
{
    int64_t low = smaller(level->gpus, level->gpus + gpus);
    int64_t high = larger(level->gpus, level->gpus + gpus);
    int64_t to_ns = to.at < steps->count ? step_time_ns(steps, to) : NEVER;
    bool ends = true;

    assert(low < high);
    while (ends && steps_seek(steps, &from, to, low, high, true)) {
        int64_t start_ns = step_time_ns(steps, from);
        ends = steps_seek(steps, &from, to, low, high, false);
        int64_t end_ns = ends ? step_time_ns(steps, from) : to_ns;
        if (gpus > 0)
            holes_close(level, start_ns, end_ns);
        else
            holes_open(level, start_ns, end_ns);
    }
}

/* ---- what policies call ---- */

struct cs_plan *cs_plan_new(struct cs_host *host)
{
    struct cs_plan *plan = cs_alloc(host, 1, sizeof *plan);

    assert(plan->levels == 0);
    plan->arena = host->parts.arena;
    steps_init(&plan->steps, plan->arena);
    return plan;
}

void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus)
{
    assert(plan != NULL && from_ns >= 0);
    steps_clear(&plan->steps, from_ns, gpus);
    for (uint32_t i = 0; i < plan->levels; i++) {
        holes_clear(plan->level[i]);
        if (plan->level[i]->gpus <= gpus)
            holes_append(plan->level[i], from_ns, NEVER);
    }
}

void cs_plan_forget(struct cs_plan *plan, int64_t now_ns)
{
    assert(plan->steps.count > 0);
    steps_forget(&plan->steps, now_ns);
    for (uint32_t i = 0; i < plan->levels; i++)
        holes_forget(plan->level[i], now_ns);
}

void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus)
{
    struct steps *steps = &plan->steps;
    int64_t least, most;

    assert(steps->count > 0 && start_ns >= 0);
    if (start_ns >= end_ns || gpus == 0)
        return;
    struct step_at from = steps_cut(steps, start_ns);
    struct step_at to = steps_cut_after(steps, end_ns, &from);
    steps_bound(steps, from, to, &least, &most);
    int64_t above = smaller(least, least - gpus), up_to = larger(most, most - gpus);
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level_gpus[i] > above && plan->level_gpus[i] <= up_to)
            cross_level(steps, plan->level[i], from, to, gpus);
    steps_add(steps, from, to, -gpus);
    steps_join(steps, to);
    steps_join(steps, from);
}

/* Returns the first time in a hole of fewer GPUs, [start, end), from which so
 * many GPUs are free long enough; NEVER: there is none. */
static int64_t find_within(const struct cs_plan *plan, int64_t start_ns,
                           int64_t end_ns, int64_t gpus, int64_t run_ns,
                           int64_t before_ns)
{
    const struct steps *steps = &plan->steps;
    struct step_at step = steps_find(steps, start_ns), all = steps_end(steps);
    bool ends = true;

    assert(start_ns < end_ns);
    while (ends && steps_seek(steps, &step, all, gpus, MANY, true)) {
        struct hole hole = { larger(step_time_ns(steps, step), start_ns), NEVER };
        if (hole.start_ns >= end_ns)
            return NEVER;
        ends = steps_seek(steps, &step, all, gpus, MANY, false);
        if (ends)
            hole.end_ns = step_time_ns(steps, step);
        if (hole_length(&hole) >= run_ns || hole.end_ns >= before_ns)
            return hole.start_ns;
    }
    return NEVER;
}

int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns)
{
    struct holes *level = level_of(plan, gpus);
    int64_t from_ns = 0;

    assert(run_ns >= 0);
    for (;;) {
        struct hole hole;
        if (!holes_find(level, from_ns, run_ns, before_ns, &hole))
            return before_ns;
        int64_t start_ns = hole.start_ns;
        if (level->gpus < gpus)
            start_ns = find_within(plan, start_ns, hole.end_ns, gpus, run_ns,
                                   before_ns);
        if (start_ns < before_ns)
            return start_ns;
        from_ns = clock_after(hole.start_ns, 1);
    }
}

int64_t cs_plan_least(const struct cs_plan *plan, int64_t start_ns, int64_t end_ns)
{
    const struct steps *steps = &plan->steps;

    assert(steps->count > 0 && start_ns < end_ns);
    return steps_least(steps, steps_find(steps, start_ns), end_ns);
}

int64_t cs_plan_find_from(struct cs_plan *plan, int64_t from_ns, uint32_t gpus,
                          int64_t run_ns)
{
    int64_t begin_ns = step_time_ns(&plan->steps, (struct step_at) { 0, 0 });

    assert(run_ns >= 0 && plan->steps.count > 0);
    from_ns = larger(from_ns, begin_ns);
    return from_ns == NEVER ? NEVER : find_within(plan, from_ns, NEVER, gpus, run_ns, NEVER);
}
