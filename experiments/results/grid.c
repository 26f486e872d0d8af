/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid.c - one block of doubles, and names for its axes.
 *
 * A grid is filled in one of two ways.  A run puts its trials one by one, in the
 * order of the experiment (grid_new, grid_put, grid_end).  A folder is read from
 * summary.csv (grid_read.c).  Both end in the same grid, so that a verdict does not
 * depend on which way it came.
 *
 * A column that has one value for all trials has no array; put_value() makes it at
 * the first value that differs.  Where nothing is drawn, the one trial that was run
 * is copied to every seed.
 */
#include "experiments/results/grid.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/results/without.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/stats/looks.h"

/* Returns the place of a trial in a column.  Seeds vary fastest, then policies. */
static size_t cell(const struct grid *grid, uint32_t point, uint32_t policy,
                   uint32_t seed)
{
    assert(point < grid->point_count && policy < grid->policy_count);
    assert(seed < grid->seed_count);
    return ((size_t)point * grid->policy_count + policy) * grid->seed_count +
           seed;
}

/* Returns how many trials the grid has. */
static size_t count_cells(const struct grid *grid)
{
    return (size_t)grid->point_count * grid->policy_count * grid->seed_count;
}

void grid_begin(struct arena *arena, struct grid *grid)
{
    size_t pairs = (size_t)grid->point_count * grid->policy_count;

    grid->arena = arena;
    grid->fixed = arena_alloc(arena, pairs + 1, sizeof *grid->fixed);
    grid->without = arena_alloc(arena, pairs + 1, sizeof *grid->without);
    grid->failed = arena_alloc(arena, pairs + 1, sizeof *grid->failed);
    grid->present = arena_alloc(arena, count_cells(grid) + 1, sizeof *grid->present);
    grid->column = arena_alloc(arena, metric_count(grid->metrics), sizeof *grid->column);
}

/* Are both the same value to the last bit?  -0 and 0 are not; an empty value
 * equals an empty one. */
static bool same_value(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

/* Stores a value.  A column in which all trials had one value so far gets an
 * array at the first that differs. */
static void put_value(const struct grid *grid, unsigned metric, size_t at, double value)
{
    struct grid_column *column = &grid->column[metric];
    size_t cells = count_cells(grid);

    if (column->value == NULL && !column->begun)
        column->same = value;
    column->begun = true;
    if (column->value == NULL && same_value(column->same, value))
        return;
    if (column->value == NULL) {
        column->value = arena_alloc(grid->arena, cells, sizeof *column->value);
        for (size_t i = 0; i < cells; i++)
            column->value[i] = column->same;
    }
    column->value[at] = value;
}

/* Returns the value of a trial that is present. */
static double value_at(const struct grid *grid, unsigned metric, size_t at)
{
    const struct grid_column *column = &grid->column[metric];

    return column->value != NULL ? column->value[at] : column->begun ? column->same : NAN;
}

size_t grid_pair(const struct grid *grid, uint32_t point, uint32_t policy)
{
    assert(point < grid->point_count && policy < grid->policy_count);
    return (size_t)point * grid->policy_count + policy;
}

/* Where nothing is drawn, copies the one trial that was run to every seed. */
static void spread_fixed(struct grid *grid, size_t pair)
{
    uint32_t n = grid->seed_count;
    size_t from = pair * n, end = from + n;

    while (from < end && !grid->present[from])
        from++;
    if (!grid->fixed[pair] || from == end)
        return;
    for (size_t to = pair * n; to < end; to++) {
        grid->present[to] = true;
        for (unsigned m = 0; to != from && m < metric_count(grid->metrics); m++)
            put_value(grid, m, to, value_at(grid, m, from));
    }
}

void grid_set_stop(struct grid *grid, struct experiment_stop stop)
{
    grid->stop = stop;
    grid->confidence = 0;
    grid->confidence = grid_confidence(grid, 0.95);
}

/* The confidence of 0.95 is computed once and kept, as tables ask for it for
 * every cell. */
double grid_confidence(const struct grid *grid, double confidence)
{
    const struct experiment_stop *stop = &grid->stop;

    if (stop->rule == LOOKS_NONE)
        return confidence;
    if (confidence == 0.95 && grid->confidence > 0)
        return grid->confidence;
    return looks_confidence(
        stop->rule, looks_count(stop->rule, stop->at_most), confidence);
}

double grid_p_value(const struct grid *grid, double p)
{
    const struct experiment_stop *stop = &grid->stop;

    return stop->rule == LOOKS_NONE ? p
         : looks_p(stop->rule, looks_count(stop->rule, stop->at_most), p);
}

struct grid *grid_new(struct arena *arena, const struct metric_set *metrics,
                      const char *const *point, uint32_t point_count, const char *const *policy,
                      uint32_t policy_count, uint32_t seed_count)
{
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);
    uint32_t *seed = arena_alloc(arena, seed_count, sizeof *seed);

    for (uint32_t i = 0; i < seed_count; i++)
        seed[i] = i;
    *grid = (struct grid){
        .point = point, .point_count = point_count,
        .policy = policy, .policy_count = policy_count, .metrics = metrics,
        .seed = seed, .seed_count = seed_count
    };
    grid_begin(arena, grid);
    return grid;
}

void grid_set(struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed,
              enum metric metric, double value)
{
    size_t at = cell(grid, point, policy, seed);

    grid->present[at] = true;
    put_value(grid, metric, at, value);
}

void grid_put(struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed,
              const double *value)
{
    unsigned count = metric_count(grid->metrics);
    double known[METRIC_ROOM];

    if (value == NULL) {
        grid->failed[grid_pair(grid, point, policy)]++;
        return;
    }
    memcpy(known, value, count * sizeof *known);
    metric_blank_unknown(known);
    for (unsigned m = 0; m < count; m++)
        grid_set(grid, point, policy, seed, (enum metric)m, known[m]);
}

void grid_end(struct grid *grid, uint32_t point, uint32_t policy, bool fixed)
{
    size_t pair = grid_pair(grid, point, policy);

    grid->fixed[pair] = fixed;
    spread_fixed(grid, pair);
}

struct grid *grid_of_experiment(struct arena *arena, const struct experiment *experiment)
{
    const char **point = arena_alloc(arena, experiment->point_count, sizeof *point);
    struct grid *grid;

    for (uint32_t i = 0; i < experiment->point_count; i++)
        point[i] = experiment->point[i].label;
    grid = grid_new(arena, experiment_metrics(experiment), point,
                    experiment->point_count, experiment->policy_name,
                    experiment->policy_count, experiment->seeds);
    grid_set_stop(grid, experiment->stop);
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            grid->without[grid_pair(grid, t, p)] = without_of(experiment, t, p);
    return grid;
}

double grid_value(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed, enum metric metric)
{
    size_t at = cell(grid, point, policy, seed);

    return grid->present[at] ? value_at(grid, metric, at) : NAN;
}

bool grid_lacks(const struct grid *grid, enum metric metric)
{
    return grid->column[metric].lacks;
}

bool grid_present(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed)
{
    return grid->present[cell(grid, point, policy, seed)];
}

bool grid_fixed(const struct grid *grid, uint32_t point, uint32_t policy)
{
    return grid->fixed != NULL && grid->fixed[grid_pair(grid, point, policy)];
}

uint32_t grid_run_count(const struct grid *grid, uint32_t point,
                        uint32_t policy)
{
    uint32_t n = grid_fixed(grid, point, policy) ? 1 : grid->seed_count;
    uint32_t count = 0;

    for (uint32_t s = 0; s < n; s++)
        count += grid_present(grid, point, policy, s);
    return count;
}

/* Are both the same number, or both empty? */
static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* A column without an array is the same for all trials, so it need not be
 * looked at. */
bool grid_alike(const struct grid *grid, uint32_t point, uint32_t policy)
{
    uint32_t n = grid->seed_count;
    size_t first;

    if (grid_fixed(grid, point, policy))
        return true;
    if (n < 2)
        return false;
    first = cell(grid, point, policy, 0);
    for (unsigned m = 0; m < metric_count(grid->metrics); m++)
        for (uint32_t s = 1; grid->column[m].value != NULL && s < n; s++)
            if (!equal(value_at(grid, m, first), value_at(grid, m, first + s)))
                return false;
    for (uint32_t s = 0; s < n; s++)
        if (!grid->present[first + s])
            return false;
    return true;
}

uint32_t grid_failed(const struct grid *grid, uint32_t point,
                     uint32_t policy)
{
    return grid->failed == NULL ? 0
                                : grid->failed[grid_pair(grid, point, policy)];
}

uint32_t grid_samples(const struct grid *grid, uint32_t point,
                      uint32_t policy, enum metric metric, double *out)
{
    size_t first = cell(grid, point, policy, 0);

    for (uint32_t s = 0; s < grid->seed_count; s++)
        out[s] = grid->present[first + s] ? value_at(grid, metric, first + s) : NAN;
    return grid->seed_count > 1 && grid_alike(grid, point, policy)
        ? 1 : grid->seed_count;
}

struct stats_mean grid_mean(const struct grid *grid, uint32_t point, uint32_t policy,
                            enum metric metric, double confidence)
{
    double *x = arena_resize_own(NULL, (size_t)grid->seed_count + 1, sizeof *x);
    uint32_t n = grid_samples(grid, point, policy, metric, x);
    struct stats_mean mean = stats_mean(x, n, confidence);

    free(x);
    return mean;
}

/* Returns the place of a name in a list; UINT32_MAX: it is not there. */
static uint32_t find(const char *const *names, uint32_t count,
                     const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return UINT32_MAX;
}

uint32_t grid_policy(const struct grid *grid, const char *name)
{
    return find(grid->policy, grid->policy_count, name);
}

uint32_t grid_point(const struct grid *grid, const char *label)
{
    return find(grid->point, grid->point_count, label);
}

uint32_t grid_point_near(const struct grid *grid, const char *label, uint32_t near)
{
    for (uint32_t t = near; t < grid->point_count && t - near < 2; t++)
        if (strcmp(grid->point[t], label) == 0)
            return t;
    return grid_point(grid, label);
}

uint32_t grid_seed(const struct grid *grid, uint32_t number)
{
    if (number < grid->seed_count && grid->seed[number] == number)
        return number;          /* as seeds mostly stand */
    for (uint32_t i = 0; i < grid->seed_count; i++)
        if (grid->seed[i] == number)
            return i;
    return UINT32_MAX;
}
