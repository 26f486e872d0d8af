/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lp_choices.c - programs of choices, by their steps.
 *
 * By parts, the best answer takes the steps of all choices, the steepest first, until no unit
 * is left (Sinha and Zoltners, "The multiple-choice knapsack problem", Operations Research
 * 1979).  Its sum bounds that of whole numbers.  Whole steps alone come near to it where there
 * are many choices: no more is lost than a part of one step.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "policies/solve/lp_choices.h"

#define LEFT_OUT_MAX 32u        /* steps of which each may be left out */

/* Reads the columns; false: they are none of choices. */
static bool read_columns(const struct cs_lp *lp, struct lp_choices *of)
{
    uint32_t common = lp->rows - 1;

    for (uint32_t c = 0; c < lp->columns; c++) {
        uint32_t e = 2 * c;
        if (lp->column[e] != c || lp->column[e + 1] != c || lp->row[e] >= common ||
            lp->row[e + 1] != common || lp->value[e] != 1 || !(lp->value[e + 1] > 0) ||
            lp->most[c] != lp->limit[lp->row[e]])
            return false;
        of->row[c] = lp->row[e];
        of->units[c] = lp->value[e + 1];
        if (c > 0 && (of->row[c] < of->row[c - 1] || (of->row[c] == of->row[c - 1] &&
                                                      of->units[c] <= of->units[c - 1])))
            return false;
    }
    return true;
}

/* Returns the step of a choice from one of its columns, or from none, to a later one. */
static struct lp_step step_to(const struct cs_lp *lp, const struct lp_choices *of,
                                  uint32_t from, uint32_t to)
{
    double gain = from == LP_NONE ? 0 : lp->gain[from];
    double units = of->units[to] - (from == LP_NONE ? 0 : of->units[from]);

    return (struct lp_step) { (lp->gain[to] - gain) / units, units, of->row[to], from,
                                  to };
}

/* Lists the steps of the choice whose columns are [first, end): those of the concave hull
 * of its gains. */
static void list_steps(const struct cs_lp *lp, struct lp_choices *of, uint32_t first,
                       uint32_t end)
{
    struct lp_step *step = &of->step[of->steps];
    uint32_t count = 0;

    for (uint32_t c = first; c < end; c++) {
        while (count > 0 &&
               step_to(lp, of, step[count - 1].from, c).slope >= step[count - 1].slope)
            count--;
        struct lp_step next =
            step_to(lp, of, count > 0 ? step[count - 1].to : LP_NONE, c);
        if (next.slope > 0)
            step[count++] = next;
    }
    of->steps += count;
}

/* The steepest first; the rest is by column, so that the order does not depend on the sort. */
static int compare_steps(const void *a, const void *b)
{
    const struct lp_step *x = a, *y = b;

    if (x->slope != y->slope)
        return x->slope > y->slope ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

bool lp_read_choices(const struct cs_lp *lp, struct arena *arena, struct lp_choices *of)
{
    of->steps = 0;
    if (lp->most == NULL || lp->rows < 2 || lp->entries != 2 * lp->columns)
        return false;
    for (uint32_t r = 0; r < lp->rows; r++)
        if (!(lp->limit[r] >= 0))
            return false;
    of->row = arena_alloc(arena, lp->columns, sizeof *of->row);
    of->units = arena_alloc(arena, lp->columns, sizeof *of->units);
    of->step = arena_alloc(arena, lp->columns, sizeof *of->step);
    if (!read_columns(lp, of))
        return false;
    for (uint32_t first = 0, end; first < lp->columns; first = end) {
        for (end = first + 1; end < lp->columns && of->row[end] == of->row[first]; end++)
            continue;
        list_steps(lp, of, first, end);
    }
    qsort(of->step, of->steps, sizeof *of->step, compare_steps);
    return true;
}

/* Returns the best sum by parts, which whole numbers never exceed. */
static double bound_sum(const struct cs_lp *lp, const struct lp_choices *of)
{
    double left = lp->limit[lp->rows - 1], sum = 0;

    for (uint32_t i = 0; i < of->steps && left > 0; i++) {
        const struct lp_step *step = &of->step[i];
        double units = fmin(left, step->units * lp->limit[step->row]);
        sum += step->slope * units;
        left -= units;
    }
    return sum;
}

/* Takes whole steps, all but one (LP_NONE: all), as far as units are left, each as often as its
 * choice has the column that the step leaves: a choice that did not take a step takes none of
 * those that follow it.  Returns the first step that did not fit wholly. */
static uint32_t take_steps(const struct cs_lp *lp, const struct lp_choices *of, uint32_t without)
{
    double left = lp->limit[lp->rows - 1];
    uint32_t first = of->steps;

    for (uint32_t c = 0; c < lp->columns; c++)
        lp->x[c] = 0;
    for (uint32_t i = 0; i < of->steps && left > 0; i++) {
        const struct lp_step *step = &of->step[i];
        double have = floor(step->from == LP_NONE ? lp->limit[step->row] : lp->x[step->from]);
        double times = i == without ? 0 : fmin(have, floor(left / step->units));
        if (times < have && i < first)
            first = i;
        if (step->from != LP_NONE)
            lp->x[step->from] -= times;
        lp->x[step->to] += times;
        left -= times * step->units;
    }
    return first;
}

/* Is the sum of the answer within that part of the bound? */
static bool is_near(const struct cs_lp *lp, double bound, double gap)
{
    double sum = 0;

    for (uint32_t c = 0; c < lp->columns; c++)
        sum += lp->gain[c] * lp->x[c];
    return bound - sum <= gap * fabs(sum);
}

/* Units may be left that no step fills.  Then one of the last steps that fit is left out, so
 * that others can fill what it leaves. */
bool lp_take_choices(const struct cs_lp *lp, const struct lp_choices *of, double gap)
{
    double bound = bound_sum(lp, of);
    uint32_t first = take_steps(lp, of, LP_NONE);
    bool near = is_near(lp, bound, gap);

    assert(gap >= 0);
    for (uint32_t i = 1; !near && i <= first && i <= LEFT_OUT_MAX; i++) {
        take_steps(lp, of, first - i);
        near = is_near(lp, bound, gap);
    }
    return near;
}
