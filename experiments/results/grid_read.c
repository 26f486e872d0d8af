/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid_read.c - a grid from a results folder, in two passes over summary.csv: the
 * first finds the names of points, policies and seeds, the second the values.
 */
#include "experiments/results/grid.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/stop_file.h"
#include "experiments/results/without.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

/* A list of names without repetition, in the order of the file, and a hash
 * table that finds them. */
struct names {
    const char **item;          /* [count] */
    uint32_t count, room;
    uint32_t last;              /* that was added or found */
    uint32_t *slot, slots;      /* 1 + the item of a hash; at most half are in use */
};

/* Returns the slot of a name, or the free slot where it belongs. */
static uint32_t *slot_of(const struct names *names, const char *name)
{
    uint32_t at = (uint32_t)hash_text(HASH_START, name) & (names->slots - 1);

    while (names->slot[at] != 0 && strcmp(names->item[names->slot[at] - 1], name) != 0)
        at = (at + 1) & (names->slots - 1);
    return &names->slot[at];
}

/* Doubles the hash table of names, and puts all names into it again. */
static void more_slots(struct arena *arena, struct names *names)
{
    names->slots = names->slots == 0 ? 64 : 2 * names->slots;
    names->slot = arena_alloc(arena, names->slots, sizeof *names->slot);
    for (uint32_t i = 0; i < names->count; i++)
        *slot_of(names, names->item[i]) = i + 1;
}

/* Returns the number of a name, and adds it if it is new.  The name of the row
 * before is tried first, since rows come in the order of trials. */
static uint32_t names_add(struct arena *arena, struct names *names,
                          const char *name)
{
    uint32_t *slot;

    if (names->count > 0 && strcmp(names->item[names->last], name) == 0)
        return names->last;
    if (2 * names->count >= names->slots)
        more_slots(arena, names);
    slot = slot_of(names, name);
    if (*slot == 0) {
        ARENA_ADD(arena, names->item, names->count, names->room, arena_text(arena, name));
        *slot = names->count;
    }
    return names->last = *slot - 1;
}

/* Columns of summary.csv; SIZE_MAX: the file does not have it. */
struct columns {
    size_t point, policy, seed, fixed, without, metric[METRIC_ROOM];
};

/* Finds the columns of a summary.  A metric that is not there (SIZE_MAX) was not
 * known when the folder was written. */
static bool find_columns(const struct csv *in, const struct metric_set *metrics,
                         struct columns *c, struct err *err)
{
    if (!csv_need_column(in, "point", &c->point, err) ||
        !csv_need_column(in, "policy", &c->policy, err) ||
        !csv_need_column(in, "seed", &c->seed, err))
        return false;
    /* SIZE_MAX: the table was written by a version that did not have it. */
    c->fixed = csv_find(in, "deterministic");
    c->without = csv_find(in, "without");
    for (unsigned m = 0; m < metric_count(metrics); m++)
        c->metric[m] = csv_find(in, metric_info(metrics, (enum metric)m)->name);
    return true;
}

/* Returns the first column that nothing is read from: of a newer or an older program, or a metric
 * whose metrics.csv is not there.  NULL: there is none. */
static const char *find_stray(struct arena *arena, const struct csv *in,
                              const struct columns *c, unsigned metrics)
{
    for (size_t i = 0; i < csv_columns(in); i++) {
        bool read = i == c->point || i == c->policy || i == c->seed || i == c->fixed ||
                    i == c->without;

        for (unsigned m = 0; m < metrics && !read; m++)
            read = c->metric[m] == i;
        if (!read)
            return arena_text(arena, csv_names(in)[i]);
    }
    return NULL;
}

/* Names of points, policies and seeds. */
struct axes {
    struct names point, policy, seed;
};

/* Reads the names of points, policies and seeds, in the order in which they first
 * stand in the file. */
static bool read_axes(struct arena *arena, const char *path,
                      struct axes *axes, struct err *err)
{
    struct csv *in = csv_open(arena, path, CSV_TABLE, err);
    enum csv_step step = CSV_ERROR;
    struct columns c;

    if (in != NULL && find_columns(in, NULL, &c, err))
        while ((step = csv_next(in, err)) == CSV_ROW) {
            names_add(arena, &axes->point, csv_text(in, c.point));
            names_add(arena, &axes->policy, csv_text(in, c.policy));
            names_add(arena, &axes->seed, csv_text(in, c.seed));
        }
    csv_close(in);
    return step == CSV_END;
}

/* Gives the grid its axes; seeds are numbers. */
static void set_axes(struct arena *arena, const struct axes *axes,
                     struct grid *grid)
{
    uint32_t *number = arena_alloc(arena, axes->seed.count + 1,
                                   sizeof *number);

    for (uint32_t i = 0; i < axes->seed.count; i++)
        for (const char *p = axes->seed.item[i]; *p >= '0' && *p <= '9'; p++)
            number[i] = number[i] * 10 + (uint32_t)(*p - '0');
    grid->point = axes->point.item;
    grid->point_count = axes->point.count;
    grid->policy = axes->policy.item;
    grid->policy_count = axes->policy.count;
    grid->seed = number;
    grid->seed_count = axes->seed.count;
}

/* Reads one trial.  False, with err: a field is no number, or the trial stands
 * there twice.  *near: the point of the row before. */
static bool read_row(struct grid *grid, const struct csv *in,
                     const struct columns *c, uint32_t *near, struct err *err)
{
    double number, fixed = 0;
    uint32_t seed, point, policy;

    if (!csv_number(in, c->seed, &number, err) ||
        (c->fixed != SIZE_MAX && !csv_number(in, c->fixed, &fixed, err)))
        return false;
    seed = isfinite(number) && number >= 0 && number < UINT32_MAX
         ? grid_seed(grid, (uint32_t)number) : UINT32_MAX;
    if (seed == UINT32_MAX)
        return err_set(err, ERR_RANGE, csv_pos(in, c->seed),
                       "seed must be a whole number");
    point = *near = grid_point_near(grid, csv_text(in, c->point), *near);
    policy = grid_policy(grid, csv_text(in, c->policy));
    if (grid_present(grid, point, policy, seed))
        return err_set(err, ERR_SCHEMA, csv_pos(in, c->point),
                       "the row repeats a point, policy and seed");
    if (fixed == 1)
        grid->fixed[grid_pair(grid, point, policy)] = true;
    if (c->without != SIZE_MAX)
        grid->without[grid_pair(grid, point, policy)] = without_read(csv_text(in, c->without));
    for (unsigned m = 0; m < metric_count(grid->metrics); m++) {
        number = NAN;
        if (c->metric[m] != SIZE_MAX && !csv_number(in, c->metric[m], &number, err))
            return false;
        grid_set(grid, point, policy, seed, (enum metric)m, number);
    }
    return true;
}

/* Reads failures.csv, if it is there.  `grid` NULL: only the names of its points and
 * policies. */
static bool read_failures(struct arena *arena, const char *dir,
                          struct axes *axes, struct grid *grid,
                          struct err *err)
{
    const char *path = path_join(arena, dir, "failures.csv");
    enum csv_step step = CSV_ERROR;
    struct csv *in;
    size_t point, policy, seed;

    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in != NULL && csv_need_column(in, "point", &point, err) &&
        csv_need_column(in, "policy", &policy, err) &&
        csv_need_column(in, "seed", &seed, err))
        while ((step = csv_next(in, err)) == CSV_ROW) {
            uint32_t t = names_add(arena, &axes->point,
                                   csv_text(in, point));
            uint32_t p = names_add(arena, &axes->policy,
                                   csv_text(in, policy));

            names_add(arena, &axes->seed, csv_text(in, seed));
            if (grid != NULL)
                grid_put(grid, t, p, 0, NULL);
        }
    csv_close(in);
    return step == CSV_END;
}

/* Reads all trials into a grid whose axes are known: the second pass over the file. */
static bool read_values(struct arena *arena, const char *path,
                        struct grid *grid, struct err *err)
{
    struct csv *in = csv_open(arena, path, CSV_TABLE, err);
    enum csv_step step = CSV_ERROR;
    uint32_t near = 0;
    struct columns c;

    if (in != NULL && find_columns(in, grid->metrics, &c, err)) {
        for (unsigned m = 0; m < metric_count(grid->metrics); m++)
            grid->column[m].lacks = c.metric[m] == SIZE_MAX;
        grid->stray = find_stray(arena, in, &c, metric_count(grid->metrics));
        while ((step = csv_next(in, err)) == CSV_ROW)
            if (!read_row(grid, in, &c, &near, err)) {
                step = CSV_ERROR;
                break;
            }
    }
    csv_close(in);
    return step == CSV_END;
}

bool grid_is_there(struct arena *arena, const char *dir, struct err *err)
{
    struct err_pos pos = { dir, 0, 0 };

    if (path_is_file(dir))
        return err_set(err, ERR_IO, pos,
                       "no results folder: it is a file");
    if (!path_is_folder(dir) ||
        path_is_file(path_join(arena, dir, csv_summary.file)))
        return true;            /* what cannot be read says why */
    err_set(err, ERR_IO, pos, "no results folder: there is no %s in it",
            csv_summary.file);
    if (path_is_folder(path_join(arena, dir, ".trials")))
        return err_hint(err, "Its trials are not put together: run their "
                        "experiment with -o %.150s --resume.", dir);
    return false;
}

struct grid *grid_from_folder(struct arena *arena, const char *dir,
                              struct err *err)
{
    const char *path = path_join(arena, dir, csv_summary.file);
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);
    struct experiment_stop stop;
    struct axes axes = { .seed = { .count = 0 } };

    if (!grid_is_there(arena, dir, err) ||
        !read_axes(arena, path, &axes, err) ||
        !read_failures(arena, dir, &axes, NULL, err) ||
        !stop_read(arena, dir, &stop, err) || !own_read(arena, dir, grid, err))
        return NULL;
    grid_set_stop(grid, stop);
    set_axes(arena, &axes, grid);
    grid_begin(arena, grid);
    if (!read_values(arena, path, grid, err) ||
        !read_failures(arena, dir, &axes, grid, err))
        return NULL;
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            grid_end(grid, t, p, grid_fixed(grid, t, p));
    return grid;
}
