/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_times.c - run times by GPU type become rates, of which a job has one in
 * each pool: that is how the host asks how fast it is.
 *
 * Neighbours with equal rates share them, so that a trace whose types differ by
 * one factor takes no memory.
 */
#include "workloads/replay/run_times.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/speedup.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/speedup_keys.h"

/* The columns of run times, and the rates of the row that is read. */
struct run_times {
    const struct conf_node *map;    /* pool or type of GPU, and its column */
    uint32_t pools, count, pool_mask; /* of the cluster; entries of the map; pools
                                         that some entry names */
    uint32_t *mask;             /* of each entry */
    size_t *at;                 /* its column, of the open file */
    double *rate;               /* of the row under way, by pool */
    const struct job_rates **last; /* rates of the row before, to be shared if they
                                      are equal */
};

const struct run_times *run_times_read(const struct world *world,
                                       const struct conf_node *map)
{
    struct run_times *times = arena_alloc(world->arena, 1, sizeof *times);

    if (conf_kind(map) != CONF_MAP || conf_count(map) == 0) {
        err_set(world->err, ERR_SCHEMA, conf_pos(map),
                "run_times must be a map of pools or GPU types, such as "
                "{a100-80: run_a100_s, v100-32: run_v100_s}");
        return NULL;
    }
    times->map = map;
    times->count = (uint32_t)conf_count(map);
    times->pools = world->cluster->pool_count;
    times->mask = arena_alloc(world->arena, times->count, sizeof *times->mask);
    times->at = arena_alloc(world->arena, times->count, sizeof *times->at);
    times->rate = arena_alloc(world->arena, times->pools, sizeof *times->rate);
    times->last = arena_alloc(world->arena, 1, sizeof *times->last);
    for (uint32_t i = 0; i < times->count; i++) {
        times->mask[i] = speedup_pools_key(world, "run_times", map, i,
                                           &times->pool_mask);
        if (times->mask[i] == 0)
            return NULL;
        if (conf_kind(conf_value(map, i)) == CONF_SCALAR)
            continue;
        err_set(world->err, ERR_SCHEMA, conf_pos(conf_value(map, i)),
                "run_times.%s must be the name of a column",
                conf_key(map, i));
        return NULL;
    }
    return times;
}

uint32_t run_times_pools(const struct run_times *times)
{
    return times->pool_mask;
}

bool run_times_find(const struct run_times *times, const struct csv *csv,
                    struct err *err)
{
    for (uint32_t i = 0; i < times->count; i++) {
        const struct conf_node *name = conf_value(times->map, i);
        char list[120];
        const char *near;

        times->at[i] = csv_find(csv, conf_text(name));
        if (times->at[i] != ROW_NO_COLUMN)
            continue;
        csv_list(csv, list, sizeof list);
        err_set(err, ERR_REFERENCE, conf_pos(name),
                "run_times names column %.40s, which the trace does not have: "
                "its columns are %s", conf_text(name), list);
        near = conf_nearest(conf_text(name), csv_names(csv));
        return near == NULL ? false
                            : err_hint(err, "The nearest column is %s.", near);
    }
    return true;
}

/* Reads the rates of the row into times->rate. */
static bool read_rates(const struct run_times *times, const struct csv *csv,
                       int64_t duration_ns, struct err *err)
{
    memset(times->rate, 0, times->pools * sizeof *times->rate);
    for (uint32_t i = 0; i < times->count; i++) {
        int64_t run_ns;

        if (csv_field(csv, times->at[i])->bytes == 0)
            continue;
        if (!row_seconds(csv, times->at[i], &run_ns, err))
            return false;
        if (run_ns <= 0)
            return row_fault(csv, times->at[i], ERR_RANGE,
                             "greater than 0, or empty: the job cannot run "
                             "there", err);
        for (uint32_t p = 0; p < times->pools; p++)
            if (times->mask[i] >> p & 1)
                times->rate[p] = (double)duration_ns / (double)run_ns;
    }
    return true;
}

/* A rate is the duration of the row over its run time in the pool: 2 where it
 * runs half as long. */
bool run_times_row(const struct run_times *times, struct arena *arena,
                   const struct csv *csv, struct row *row, struct err *err)
{
    size_t bytes = times->pools * sizeof *times->rate;
    struct job_rates *rates;
    double *rate;

    assert(times->count > 0);
    if (row->duration_ns <= 0)
        return true;            /* it is no job, or one of unknown_run_time */
    if (!read_rates(times, csv, row->duration_ns, err))
        return false;
    row->rate_known = 1.0;
    row->rates = *times->last;
    if (row->rates != NULL && memcmp(row->rates->rate, times->rate, bytes) == 0)
        return true;
    rates = arena_alloc(arena, 1, sizeof *rates);
    rate = arena_alloc(arena, times->pools, sizeof *rate);
    memcpy(rate, times->rate, bytes);
    *rates = (struct job_rates){.pool_count = times->pools, .rate = rate};
    for (uint32_t p = 0; p < times->pools; p++)
        rates->pool_mask |= (uint32_t)(rate[p] > 0.0) << p;
    *times->last = row->rates = rates;
    return true;
}
