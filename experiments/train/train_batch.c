/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_batch.c - candidates on cells: a batch of trials, and their scores.
 *
 * All candidates meet the same cells (common random numbers), and a score is the
 * objective relative to that of the initial weights on the same cell, so that
 * points of different load weigh alike.
 */
#include <assert.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/training.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/scan.h"
#include "sim/text/table.h"

double train_as_written(double value)
{
    char text[32];
    size_t bytes = table_format_real(value, text);
    bool ok = scan_f64(text, bytes, &value);

    assert(ok);
    (void)ok;
    return value;
}

/* Makes the weights of a policy from a vector: a number, or a list, for each group of keys. */
static struct host_weight *list_weights(struct training *t, const double *weight)
{
    struct host_weight *list =
        arena_alloc(t->arena, t->keys.group_count, sizeof *list);

    for (uint32_t g = 0; g < t->keys.group_count; g++) {
        const struct train_group *group = &t->keys.group[g];

        list[g] = (struct host_weight) { .key = group->key };
        if (group->list) {
            list[g].list = weight + group->first;
            list[g].count = group->count;
        } else {
            list[g].value = weight[group->first];
        }
    }
    return list;
}

/* The weights are rounded as the file will have them, and copied.  The policy of each point is
 * that of the experiment, with these weights. */
struct candidate train_candidate(struct training *t, const double *weight,
                                 uint32_t index)
{
    uint32_t points = t->experiment->point_count;
    struct candidate c = { .index = index, .number = t->keys.policy };
    struct host_policy *policy = arena_alloc(t->arena, points, sizeof *policy);

    c.weight = arena_alloc(t->arena, t->keys.weight_count, sizeof *c.weight);
    for (uint32_t i = 0; i < t->keys.weight_count; i++)
        c.weight[i] = train_as_written(weight[i]);
    c.policy = arena_alloc(t->arena, points, sizeof *c.policy);
    struct host_weight *list = list_weights(t, c.weight);
    for (uint32_t p = 0; p < points; p++) {
        policy[p] = *t->experiment->point[p].policy[t->keys.policy];
        policy[p].weight = list;
        policy[p].weight_count = t->keys.group_count;
        c.policy[p] = &policy[p];
    }
    return c;
}

/* Makes a candidate of another policy of the experiment, to be compared with: it keeps the
 * weights of its entry. */
struct candidate train_rival(struct training *t, uint32_t number)
{
    uint32_t points = t->experiment->point_count;
    struct candidate c = { .number = number };

    c.policy = arena_alloc(t->arena, points, sizeof *c.policy);
    for (uint32_t p = 0; p < points; p++)
        c.policy[p] = t->experiment->point[p].policy[number];
    return c;
}

/* Trials of a batch: candidate by candidate, cell by cell. */
static struct trial_spec batch_spec(void *self, uint32_t index,
                                    uint32_t *tables)
{
    const struct training *t = self;
    const struct experiment *e = t->experiment;
    const struct candidate *c = &t->batch[index / t->batch_cells];
    const struct train_cell *cell = &t->batch_cell[index % t->batch_cells];
    struct trial_spec spec = experiment_trial_spec(
        e, (cell->point * e->policy_count + c->number) * e->seeds);

    *tables = 0;
    spec.policy = c->policy[cell->point];
    spec.replica = cell->seed;
    return spec;
}

/* In the arena; nothing is set but the number of cells, and zeros. */
struct outcome train_outcome(struct arena *arena, uint32_t count, uint32_t cells)
{
    size_t trials = (size_t)count * cells;

    return (struct outcome){
        .cells = cells,
        .value = arena_alloc(arena, trials, sizeof(double)),
        .undone = arena_alloc(arena, trials, sizeof(double)),
        .unanswered = arena_alloc(arena, trials, sizeof(double)),
        .excused = arena_alloc(arena, trials, sizeof(double))
    };
}

void train_copy_outcome(struct outcome *o, uint32_t to, const struct outcome *other,
                        uint32_t from)
{
    o->value[to] = other->value[from];
    o->undone[to] = other->undone[from];
    o->unanswered[to] = other->unanswered[from];
    o->excused[to] = other->excused[from];
}

/* A trial that fails makes NAN of its cell; only what ends the batch as a whole is an error. */
bool train_run_batch(struct training *t, const struct candidate *batch,
                     uint32_t count, const struct train_cell *cell,
                     uint32_t cells, struct outcome *o, struct err *err)
{
    uint32_t trials = count * cells;
    struct arena *scratch = arena_new((size_t)1 << 16);
    struct runner_trial *trial = runner_trials(scratch, trials, true);
    const struct runner_plan plan = {
        .count = trials, .arena = scratch, .threads = t->options->threads,
        .progress = t->options->progress, .spec = batch_spec, .self = t
    };
    bool ok;

    t->batch = batch;
    t->batch_cell = cell;
    t->batch_cells = cells;
    t->trials += trials;
    *o = train_outcome(t->arena, count, cells);
    ok = runner_run(&plan, trial, err);
    for (uint32_t i = 0; ok && i < trials; i++) {
        bool done = trial[i].state == RUNNER_DONE;
        const double *v = trial[i].result->value;

        o->value[i] = done ? v[t->keys.objective] : NAN;
        o->undone[i] = done ? v[METRIC_JOBS] - v[METRIC_JOBS_DONE] : NAN;
        o->unanswered[i] = done ? metric_unanswered(v) : NAN;
        o->excused[i] = done ? metric_unanswered_excused(
            v, t->experiment->until_ns != CLOCK_NEVER_NS) : NAN;
        if (!done && o->first.kind == ERR_NONE)
            o->first = *trial[i].err;
    }
    arena_free(scratch);
    return ok;
}

/* Point by point, and of each point seed by seed. */
uint32_t train_all_cells(struct training *t, const struct train_seeds *seeds,
                         bool held, struct train_cell **cell)
{
    uint32_t count = 0;

    *cell = arena_alloc(t->arena, t->experiment->point_count *
                                      (size_t)seeds->count, sizeof **cell);
    for (uint32_t p = 0; p < t->experiment->point_count; p++)
        for (int64_t s = 0; t->keys.is_held[p] == held && s < seeds->count; s++)
            (*cell)[count++] = (struct train_cell) {
                .point = p, .seed = (uint32_t)(seeds->from + s) };
    return count;
}

/* Returns the value over that of the initial weights, or the other way round where more is
 * better: less is better.  Quotients would turn the order of values below 0 round: there
 * it is 1 less what is gained, in parts of the initial value.  For example, 90 over 110 of a
 * cost is 0.82; of a rate, of which more is better, 1.22.  From -10 to -12, of which less is
 * better: 1 - 0.2 = 0.8. */
static double compare_values(double value, double initial, int better)
{
    if (value == initial)
        return 1;
    if (value < 0 || initial < 0)
        return 1 - better * (value - initial) / fabs(initial);
    return better < 0 ? value / initial : initial / value;
}

/* The mean over cells of what candidate i did, over what the reference did there; less is
 * better.  A candidate that left more undone than the reference has UNDONE_SCORE and more.
 * INFINITY: a trial failed, or has no value. */
double train_score(const struct training *t, const struct outcome *o, uint32_t i,
                   const struct outcome *reference, uint32_t cells)
{
    const double *value = o->value + (size_t)i * o->cells;
    const double *undone = o->undone + (size_t)i * o->cells;
    const double *unanswered = o->unanswered + (size_t)i * o->cells;
    int better = metric_info(experiment_metrics(t->experiment),
                             t->keys.objective)->better;
    double sum = 0, left = 0;

    assert(cells <= o->cells && cells <= reference->cells);
    for (uint32_t k = 0; k < cells; k++) {
        double ratio = compare_values(value[k], reference->value[k], better);

        left += fmax(0, undone[k] - reference->undone[k]);
        left += unanswered[k] - reference->unanswered[k] > reference->excused[k]
            ? unanswered[k] - reference->unanswered[k] : 0;
        if (isnan(undone[k]) || !isfinite(ratio))
            return INFINITY;
        sum += ratio;
    }
    return left > 0 ? UNDONE_SCORE + left : sum / cells;
}
