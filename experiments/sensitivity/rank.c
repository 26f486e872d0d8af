/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.c - elementary effects of all inputs, and indices of the few.
 *
 * First a cheap screening of all inputs: Morris (Factorial sampling plans for
 * preliminary computational experiments, Technometrics 33, 1991), with mu* of
 * Campolongo et al. (2007), of r (k + 1) points.  Then, for the few inputs with
 * the largest effects, Sobol's indices from N (k + 2) points
 * (sim/stats/indices.h), with intervals by the bootstrap.
 *
 * A point at which the output is not known makes unknown all that needs it: a
 * mean over the points that are left would be of easier worlds.
 *
 * Designs are drawn from the experiment's seed, so that a repeated search asks
 * for the same trials.
 */
#include "experiments/sensitivity/finding.h"

#include <math.h>

#include "experiments/probe/probe.h"
#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/sensitivity_keys.h"
#include "experiments/spec/inputs.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/indices.h"
#include "sim/stats/morris.h"
#include "sim/text/paths.h"

/* Outputs at points of the cube [0, 1]^k of some inputs; NAN where not known. */
struct outputs {
    double *y;
    const char *why;            /* of the first that is not known; NULL: all are */
};

/* Runs all points, u[p * count + i] being what is drawn of input i at point p, which
 * becomes the place of its value in the range.  The reason told is the first one, without
 * the values of all inputs: these would be long. */
static bool judge_points(struct findings *f, const struct input *input, uint32_t count,
                         double *u, size_t points, struct outputs *out,
                         struct err *err)
{
    struct judge_query *query = arena_alloc(f->arena, points, sizeof *query);
    struct judge_answer *answer = arena_alloc(f->arena, points, sizeof *answer);
    uint32_t lost = 0;

    for (size_t p = 0; p < points; p++)
        query[p] = (struct judge_query){
            f->row->expect, f->row->point,
            inputs_draw(f->arena, input, count, u + p * count), count
        };
    if (!judge_run(f->arena, f->probe, query, points, answer, err))
        return false;
    *out = (struct outputs){ .y = arena_alloc(f->arena, points, sizeof(double)) };
    for (size_t p = 0; p < points; p++) {
        out->y[p] = answer[p].value;
        f->trials += answer[p].trials;
        lost += answer[p].why != NULL;
        if (out->why == NULL)
            out->why = answer[p].why;
    }
    if (lost > 0)
        out->why = text_format(f->arena, "not known at %u of %zu sets of inputs: %s",
                               lost, points, out->why);
    return true;
}

/* Does `a` go before `b`?  The larger effect first; what is not known last; else
 * the order of the file (the sort is stable). */
static bool goes_first(const struct finding *a, const struct finding *b)
{
    double x = a->effect.mean_absolute, y = b->effect.mean_absolute;

    return isnan(y) ? !isnan(x) : x > y;
}

/* Insertion sort, by effect: inputs are few. */
static void rank_findings(struct findings *f)
{
    for (uint32_t i = 0; i < f->keys->input_count; i++) {
        uint32_t at = i;

        for (; at > 0 && goes_first(&f->finding[i], &f->finding[f->by_rank[at - 1]]);
             at--)
            f->by_rank[at] = f->by_rank[at - 1];
        f->by_rank[at] = i;
    }
    for (uint32_t i = 0; i < f->keys->input_count; i++)
        f->finding[f->by_rank[i]].rank = i + 1;
}

/* An input of which one step is not known has no effect: NAN, and why.  A step is as long
 * as that between the values that were run: of two words it is the whole range. */
bool find_effects(struct findings *f, struct err *err)
{
    uint32_t count = f->keys->input_count;
    struct morris_effect *effect = arena_alloc(f->arena, count, sizeof *effect);
    struct morris design;
    struct outputs out;
    struct rng rng;

    rng_init(&rng, probe_experiment(f->probe)->seed, "sensitivity", 0);
    design = morris_draw(f->arena, &rng, count, (size_t)f->keys->trajectories);
    if (!judge_points(f, f->keys->input, count, design.u, design.points, &out, err))
        return false;
    morris_effects(&design, out.y, effect);
    for (uint32_t i = 0; i < count; i++) {
        struct finding *finding = &f->finding[i];

        finding->effect = effect[i];
        if (effect[i].count == design.trajectories)
            continue;
        finding->effect = (struct morris_effect){ NAN, NAN, NAN, effect[i].count };
        finding->why = out.why;
    }
    rank_findings(f);
    return true;
}

/* The first inputs by rank with an effect above 0; an input without effect has no
 * share of the variance.  All others stay at base. */
bool find_indices(struct findings *f, struct err *err)
{
    uint32_t count = 0, most = (uint32_t)f->keys->sobol.inputs;
    struct input *input = arena_alloc(f->arena, f->keys->input_count, sizeof *input);
    struct indices_design design;
    struct indices *index;
    struct outputs out;
    struct rng rng;

    while (count < most && count < f->keys->input_count &&
           f->finding[f->by_rank[count]].effect.mean_absolute > 0) {
        input[count] = *f->finding[f->by_rank[count]].input;
        count++;
    }
    if (count == 0)
        return true;
    design = indices_draw(f->arena, count, (size_t)f->keys->sobol.samples);
    if (!judge_points(f, input, count, design.u, design.points, &out, err))
        return false;
    for (uint32_t i = 0; out.why != NULL && i < count; i++)
        f->finding[f->by_rank[i]].why = out.why;
    if (out.why != NULL)
        return true;
    index = arena_alloc(f->arena, count, sizeof *index);
    rng_init(&rng, probe_experiment(f->probe)->seed, "sensitivity.bootstrap", 0);
    indices_of(f->arena, &rng, &design, out.y, index);
    for (uint32_t i = 0; i < count; i++)
        f->finding[f->by_rank[i]].index = index[i];
    return true;
}
