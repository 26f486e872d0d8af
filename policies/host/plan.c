/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - a plan: how many GPUs are free over time, and the first time at
 * which a job fits.
 *
 * The plan is a list of steps by time (steps.h).  A hole of a number of GPUs is a stretch of
 * time in which that number is free.  A level belongs to a number of GPUs that a policy searched
 * for.  It has bounds: no hole that starts before a time is as long as a run time.  Each
 * search makes one, and the next search for as long a hole goes on from there.  GPUs that
 * are taken make holes shorter, and all bounds still hold.  GPUs that are put back make a hole
 * longer, and each bound that it breaks is set back to its start.  A level also knows a gap,
 * a time without a hole: nothing that is planned to start there can begin a little sooner.
 *
 * There are at most LEVELS_MAX levels for any number of GPUs, and more for
 * powers of two alone.  A search for another number takes the bounds of the next
 * lower power of two.
 *
 * Invariant: steps rise in time, and no two neighbours have the same number of
 * free GPUs.
 *
 * An example with 8 GPUs.  6 are taken in [0, 10) and 4 in [10, 20): the steps are 2 free from
 * 0, 4 from 10 and 8 from 20.  A search for 3 GPUs for 15 s finds 10, and notes the bound "no
 * hole of 3 GPUs that is 15 s long starts before 10".  A search for 3 GPUs for 18 s begins at
 * 10.  If the 6 GPUs are put back, the hole of 3 GPUs begins at 0, and the bound is set to 0.
 */
#include "policies/plan.h"

#include <assert.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/steps.h"

#define NEVER CLOCK_NEVER_NS
/* Levels of any number of GPUs; levels of powers of two beyond those; bounds of
 * a level.  A search that fails to find its level looks at all of them. */
#define LEVELS_MAX 32u
#define POWERS 32u
#define BOUNDS_MAX 64u

struct level {
    struct stretch gap;         /* has no hole; a search met it last */
    uint32_t bounds;            /* each hole that starts before from_ns[i] */
    int64_t run_ns[BOUNDS_MAX]; /* is shorter than run_ns[i]; both rise */
    int64_t from_ns[BOUNDS_MAX];
};

struct cs_plan {
    struct steps steps;         /* GPUs that are free, over time */
    int64_t level_gpus[LEVELS_MAX + POWERS];
    struct level level[LEVELS_MAX + POWERS];
    uint32_t levels;            /* of level_gpus and of `level` */
    uint8_t level_guess[64];    /* by a hash of the GPUs: the level that was looked for last */
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- levels and their bounds ---- */

/* Returns the level of a number of GPUs, or of the power of two below it. */
static uint32_t level_of(struct cs_plan *plan, int64_t gpus)
{
    assert(gpus >= 0 && plan->steps.count > 0);
    uint8_t *guess = &plan->level_guess[(uint64_t)gpus * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (*guess < plan->levels && plan->level_gpus[*guess] == gpus)
        return *guess;
    for (uint32_t i = 0; i < plan->levels; i++)
        if (plan->level_gpus[i] == gpus)
            return *guess = (uint8_t)i;
    if (plan->levels < LEVELS_MAX || (gpus & (gpus - 1)) == 0) {
        assert(plan->levels < LEVELS_MAX + POWERS);
        plan->level_gpus[plan->levels] = gpus;
        return plan->levels++;
    }
    while ((gpus & (gpus - 1)) != 0)
        gpus &= gpus - 1;
    return level_of(plan, gpus);
}

/* Returns how many bounds of a level are of a run time or a shorter one.  No branch depends on
 * a comparison: the processor could not predict it. */
static uint32_t count_bounds(const struct level *level, int64_t run_ns)
{
    uint32_t found = 0;

    assert(level->bounds <= BOUNDS_MAX);
    for (uint32_t count = level->bounds; count > 0;) {
        uint32_t half = (count + 1) / 2;
        found += level->run_ns[found + half - 1] <= run_ns ? half : 0;
        count -= half;
    }
    return found;
}

/* Returns the time before which no hole starts that is as long as a run time. */
static int64_t bound_from(const struct level *level, int64_t run_ns)
{
    uint32_t i = count_bounds(level, run_ns);

    return i > 0 ? level->from_ns[i - 1] : 0;
}

/* No hole that is as long as a run time starts before from_ns.  If there is no room for another
 * bound, it takes the place of the one whose run time is nearest. */
static void note_bound(struct level *level, int64_t run_ns, int64_t from_ns)
{
    uint32_t i = count_bounds(level, run_ns), full = BOUNDS_MAX;

    assert(i == 0 || level->from_ns[i - 1] <= from_ns);
    if (i > 0 && level->run_ns[i - 1] == run_ns) {
        i--;
    } else if (level->bounds == full) {
        i -= i == full || (i > 0 && run_ns - level->run_ns[i - 1] < level->run_ns[i] - run_ns);
    } else {
        uint32_t later = level->bounds++ - i;
        memmove(&level->run_ns[i + 1], &level->run_ns[i], later * sizeof *level->run_ns);
        memmove(&level->from_ns[i + 1], &level->from_ns[i], later * sizeof *level->from_ns);
    }
    level->run_ns[i] = run_ns;
    level->from_ns[i] = from_ns;
    while (++i < level->bounds && level->from_ns[i] < from_ns)
        level->from_ns[i] = from_ns;
}

/* Sets the bounds of a level back that no longer hold: steps from there on, before end_ns, have
 * got more GPUs. */
static void break_bounds(const struct steps *steps, struct level *level, int64_t gpus,
                         struct step_at from, int64_t end_ns)
{
    struct stretch hole;

    assert(step_time_ns(steps, from) < end_ns);
    if (step_time_ns(steps, from) < level->gap.end_ns && end_ns > level->gap.start_ns)
        level->gap = (struct stretch) { 0, 0 };
    while (steps_stretch(steps, &from, gpus, &hole) && hole.start_ns < end_ns) {
        int64_t length_ns = hole.end_ns < NEVER ? hole.end_ns - hole.start_ns : NEVER;
        for (uint32_t i = count_bounds(level, length_ns);
             i > 0 && level->from_ns[i - 1] > hole.start_ns; i--)
            level->from_ns[i - 1] = hole.start_ns;
        if (hole.end_ns >= end_ns)
            break;
    }
}

/* ---- what policies call ---- */

struct cs_plan *cs_plan_new(struct cs_host *host)
{
    struct cs_plan *plan = cs_alloc(host, 1, sizeof *plan);

    assert(plan->levels == 0);
    steps_init(&plan->steps, host->parts.arena);
    return plan;
}

void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus)
{
    assert(plan != NULL && from_ns >= 0);
    steps_clear(&plan->steps, from_ns, gpus);
    for (uint32_t i = 0; i < plan->levels; i++)
        plan->level[i] = (struct level) { .bounds = 0 };
}

void cs_plan_forget(struct cs_plan *plan, int64_t now_ns)
{
    assert(plan->steps.count > 0);
    steps_forget(&plan->steps, now_ns);
}

/* GPUs that are taken break no bound.  If some are put back, only levels are
 * looked at whose number of GPUs was not free all the time before, and may be
 * free now. */
void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus)
{
    struct steps *steps = &plan->steps;

    assert(steps->count > 0 && start_ns >= 0);
    if (start_ns >= end_ns || gpus == 0)
        return;
    struct step_change change = steps_change(steps, start_ns, end_ns, -gpus);
    for (uint32_t i = 0; gpus < 0 && i < plan->levels; i++)
        if (plan->level_gpus[i] > change.least && plan->level_gpus[i] <= change.most - gpus)
            break_bounds(steps, &plan->level[i], plan->level_gpus[i], change.from, end_ns);
}

/* Finds the first hole from a time on that is as long as a run time or lasts until before_ns,
 * which is later.  Returns its start, or before_ns. */
static int64_t find_hole(struct steps *steps, int64_t from_ns, int64_t gpus, int64_t run_ns,
                         int64_t before_ns)
{
    struct step_at step = steps_find(steps, from_ns);
    struct stretch hole;

    assert(from_ns < before_ns);
    while (steps_stretch(steps, &step, gpus, &hole) && hole.start_ns < before_ns)
        if (hole.end_ns >= before_ns || hole.end_ns - hole.start_ns >= run_ns)
            return hole.start_ns;
    return before_ns;
}

/* Returns the start of the hole that lasts until a time; that time if there is none, and *gap
 * is the time without a hole around it. */
static int64_t find_end(struct steps *steps, int64_t gpus, int64_t before_ns,
                        struct stretch *gap)
{
    struct step_at step = steps_find(steps, before_ns - 1);

    if (step_time_ns(steps, step) >= before_ns)
        return before_ns;
    if (step_free(steps, step) >= gpus)
        return steps_since(steps, step, gpus);
    gap->start_ns = step_time_ns(steps, step);
    gap->end_ns = steps_until(steps, step, gpus);
    return before_ns;
}

/* Two cases.  If the bounds say that no hole of that length starts before
 * before_ns, the hole that lasts until before_ns is all that is left to find.
 * Else the steps are searched from the bound on, and what is found becomes a
 * bound.  Only a level of exactly that number of GPUs may note what was found:
 * a hole of more GPUs says nothing of holes of fewer. */
int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns)
{
    uint32_t l = level_of(plan, gpus);
    struct level *level = &plan->level[l];
    int64_t from_ns = bound_from(level, run_ns), start_ns;
    struct stretch gap = level->gap;

    assert(run_ns >= 0);
    if (from_ns >= before_ns) {
        if (before_ns > gap.start_ns && before_ns <= gap.end_ns)
            return before_ns;
        start_ns = find_end(&plan->steps, gpus, before_ns, &gap);
        if (plan->level_gpus[l] == gpus)
            level->gap = gap;
        return start_ns;
    }
    start_ns = find_hole(&plan->steps, from_ns, gpus, run_ns, before_ns);
    if (plan->level_gpus[l] == gpus)
        note_bound(level, run_ns, start_ns >= from_ns ? start_ns : before_ns);
    return start_ns;
}

int64_t cs_plan_least(const struct cs_plan *plan, int64_t start_ns, int64_t end_ns)
{
    assert(plan->steps.count > 0 && start_ns < end_ns);
    return steps_least(&plan->steps, start_ns, end_ns);
}

/* Goes from hole to hole, and no bound helps it: callers use it where they ask
 * once. */
int64_t cs_plan_find_from(struct cs_plan *plan, int64_t from_ns, uint32_t gpus,
                          int64_t run_ns)
{
    struct steps *steps = &plan->steps;
    int64_t begin_ns = step_time_ns(steps, (struct step_at) { 0, 0 });
    struct stretch hole;

    assert(run_ns >= 0 && steps->count > 0);
    from_ns = larger(from_ns, begin_ns);
    if (from_ns == NEVER)
        return NEVER;
    struct step_at step = steps_find(steps, from_ns);
    while (steps_stretch(steps, &step, gpus, &hole)) {
        int64_t start_ns = larger(hole.start_ns, from_ns);
        if (hole.end_ns == NEVER || hole.end_ns - start_ns >= run_ns)
            return start_ns;
    }
    return NEVER;
}
