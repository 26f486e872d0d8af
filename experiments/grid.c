/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid.c - one block of doubles, and names for its axes.
 */
#include "experiments/grid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns.h"
#include "experiments/paths.h"
#include "experiments/read_csv.h"
#include "experiments/runner.h"
#include "experiments/study.h"
#include "sim/arena.h"

static size_t cell(const struct grid *grid, uint32_t point, uint32_t policy,
                   uint32_t seed)
{
    assert(point < grid->point_count && policy < grid->policy_count);
    assert(seed < grid->seed_count);
    return ((size_t)point * grid->policy_count + policy) * grid->seed_count +
           seed;
}

static void grid_storage(struct arena *arena, struct grid *grid)
{
    size_t cells = (size_t)grid->point_count * grid->policy_count *
                   grid->seed_count;

    grid->present = arena_alloc(arena, cells + 1, sizeof *grid->present);
    grid->value = arena_alloc(arena, cells * METRIC_COUNT + 1,
                              sizeof *grid->value);
    for (size_t i = 0; i < cells * METRIC_COUNT; i++)
        grid->value[i] = NAN;
}

/* Times of jobs, where no job was done, are not zero but unknown. */
static void blank_unknown(double *value)
{
    static const enum metric of_jobs[] = {
        METRIC_JCT_MEAN, METRIC_JCT_P50, METRIC_JCT_P95, METRIC_JCT_P99,
        METRIC_SLOWDOWN, METRIC_BOUNDED_SLOWDOWN, METRIC_COST_PER_JOB
    };

    if (value[METRIC_JOBS_DONE] > 0)
        return;
    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++)
        value[of_jobs[i]] = NAN;
}

struct grid *grid_from_trials(struct arena *arena, const struct study *study,
                              const struct runner_trial *trial)
{
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);
    const char **point = arena_alloc(arena, study->point_count, sizeof *point);
    uint32_t *seed = arena_alloc(arena, study->seeds, sizeof *seed);

    for (uint32_t i = 0; i < study->point_count; i++)
        point[i] = study->point[i].label;
    for (uint32_t i = 0; i < study->seeds; i++)
        seed[i] = i;
    *grid = (struct grid){
        .point = point, .point_count = study->point_count,
        .policy = study->policy_name, .policy_count = study->policy_count,
        .seed = seed, .seed_count = study->seeds
    };
    grid_storage(arena, grid);
    for (uint32_t i = 0; i < study_trial_count(study); i++) {
        if (trial[i].state != RUNNER_DONE)
            continue;
        grid->present[i] = true;        /* cells are in trial order */
        memcpy(grid->value + (size_t)i * METRIC_COUNT, trial[i].result.value,
               sizeof trial[i].result.value);
        blank_unknown(grid->value + (size_t)i * METRIC_COUNT);
    }
    return grid;
}

/* Reading summary.csv: first who is there, then the numbers. */

struct names {
    const char **item;
    uint32_t count, room;
};

static uint32_t names_add(struct arena *arena, struct names *names,
                          const char *name)
{
    for (uint32_t i = names->count; i-- > 0;)   /* mostly the last one */
        if (strcmp(names->item[i], name) == 0)
            return i;
    if (names->count == names->room) {
        uint32_t room = names->room == 0 ? 16 : names->room * 2;

        names->item = arena_grow(arena, names->item, names->count, room,
                                 sizeof *names->item);
        names->room = room;
    }
    names->item[names->count] = arena_text(arena, name);
    return names->count++;
}

struct columns {
    size_t point, policy, seed, metric[METRIC_COUNT];
};

/* Columns that came later than the first ones may be absent. */
static bool metric_column(const struct csv_in *in, enum metric metric,
                          size_t *column, struct err *err)
{
    const char *name = metric_info(metric)->name;
    struct err older = { 0 };

    if (metric <= METRIC_RESIZES)
        return csv_in_column(in, name, column, err);
    if (!csv_in_column(in, name, column, &older))
        *column = SIZE_MAX;
    return true;
}

static bool find_columns(const struct csv_in *in, struct columns *c,
                         struct err *err)
{
    if (!csv_in_column(in, "point", &c->point, err) ||
        !csv_in_column(in, "policy", &c->policy, err) ||
        !csv_in_column(in, "seed", &c->seed, err))
        return false;
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (!metric_column(in, (enum metric)m, &c->metric[m], err))
            return false;
    return true;
}

static bool read_axes(struct arena *arena, const char *path,
                      struct grid *grid, struct err *err)
{
    struct names point = { 0 }, policy = { 0 }, seed = { 0 };
    struct csv_in *in = csv_in_open(arena, path, err);
    enum csv_step step = CSV_ERROR;
    struct columns c;
    uint32_t *number;

    if (in != NULL && find_columns(in, &c, err))
        while ((step = csv_in_next(in, err)) == CSV_ROW) {
            names_add(arena, &point, csv_in_field(in, c.point));
            names_add(arena, &policy, csv_in_field(in, c.policy));
            names_add(arena, &seed, csv_in_field(in, c.seed));
        }
    csv_in_close(in);
    if (step != CSV_END)
        return false;
    number = arena_alloc(arena, seed.count + 1, sizeof *number);
    for (uint32_t i = 0; i < seed.count; i++)
        for (const char *p = seed.item[i]; *p >= '0' && *p <= '9'; p++)
            number[i] = number[i] * 10 + (uint32_t)(*p - '0');
    grid->point = point.item;
    grid->point_count = point.count;
    grid->policy = policy.item;
    grid->policy_count = policy.count;
    grid->seed = number;
    grid->seed_count = seed.count;
    return true;
}

static bool read_row(struct grid *grid, const struct csv_in *in,
                     const struct columns *c, struct err *err)
{
    double number;
    uint32_t seed;
    size_t at;

    if (!csv_in_number(in, c->seed, &number, err))
        return false;
    seed = isfinite(number) && number >= 0 && number < UINT32_MAX
         ? grid_seed(grid, (uint32_t)number) : UINT32_MAX;
    if (seed == UINT32_MAX)
        return err_set(err, ERR_RANGE, csv_in_pos(in),
                       "seed must be a whole number");
    at = cell(grid, grid_point(grid, csv_in_field(in, c->point)),
              grid_policy(grid, csv_in_field(in, c->policy)), seed);
    if (grid->present[at])
        return err_set(err, ERR_SCHEMA, csv_in_pos(in),
                       "the row repeats a point, policy and seed");
    grid->present[at] = true;
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (c->metric[m] != SIZE_MAX &&
            !csv_in_number(in, c->metric[m],
                           &grid->value[at * METRIC_COUNT + m], err))
            return false;
    return true;
}

struct grid *grid_from_folder(struct arena *arena, const char *dir,
                              struct err *err)
{
    const char *path = path_join(arena, dir, csv_summary.file);
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);
    enum csv_step step = CSV_ERROR;
    struct columns c;
    struct csv_in *in;

    if (!read_axes(arena, path, grid, err))
        return NULL;
    grid_storage(arena, grid);
    in = csv_in_open(arena, path, err);
    if (in != NULL && find_columns(in, &c, err))
        while ((step = csv_in_next(in, err)) == CSV_ROW)
            if (!read_row(grid, in, &c, err)) {
                step = CSV_ERROR;
                break;
            }
    csv_in_close(in);
    return step == CSV_END ? grid : NULL;
}

double grid_value(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed, enum metric metric)
{
    return grid->value[cell(grid, point, policy, seed) * METRIC_COUNT +
                       metric];
}

bool grid_present(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed)
{
    return grid->present[cell(grid, point, policy, seed)];
}

void grid_samples(const struct grid *grid, uint32_t point, uint32_t policy,
                  enum metric metric, double *out)
{
    for (uint32_t s = 0; s < grid->seed_count; s++)
        out[s] = grid_value(grid, point, policy, s, metric);
}

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

uint32_t grid_seed(const struct grid *grid, uint32_t number)
{
    for (uint32_t i = 0; i < grid->seed_count; i++)
        if (grid->seed[i] == number)
            return i;
    return UINT32_MAX;
}
