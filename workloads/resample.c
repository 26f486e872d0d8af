/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resample.c - a list of jobs drawn anew for each seed, until it asks for so
 * much of the cluster.
 *
 * As the simulator of FGD makes its arrivals (Weng et al., ATC 2023): the list
 * is shuffled; then jobs are drawn from it with replacement and appended until
 * the next would exceed the bound.  That test counts one GPU of the next job,
 * not all it asks for.  A list that exceeds the bound by itself loses jobs at
 * random until it does not.
 */
#include "workloads/resample.h"

#include <assert.h>
#include <stdio.h>

#include "models/placement.h"
#include "sim/arena.h"
#include "sim/conf.h"
#include "sim/err.h"
#include "sim/rng.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

struct keys {
    double until;
    int64_t every_ns;
    bool stay;
};

#define KEY(NAME, TYPE, MEMBER, MIN, MAX, FALLBACK, HELP) \
    {NAME, TYPE, offsetof(struct keys, MEMBER), MIN, MAX, FALLBACK, NULL, \
     HELP}
static const struct conf_field fields[] = {
    KEY("until", CONF_FRACTION, until, 0.001, 100, NULL,
        "GPUs that the jobs ask for, by all GPUs of the cluster, as 130%"),
    KEY("every", CONF_TIME, every_ns, 1e-9, 1e6, "1s",
        "time from one arrival to the next"),
    KEY("stay", CONF_BOOL, stay, 0, 0, "true",
        "jobs stay until all have come; false: for their run time"),
};
const struct conf_schema resample_schema = {
    "workload.trace.resample", "a list drawn anew for each seed", fields,
    COUNT(fields)};

bool resample_read(const struct conf_node *conf, uint32_t cluster_gpus,
                   struct resample *out, struct err *err)
{
    struct keys keys = {0};

    if (!conf_fill(conf, &resample_schema, &keys, err))
        return false;
    if (cluster_gpus == 0)
        return err_set(err, ERR_RANGE, conf_pos(conf),
                       "resample counts GPUs, and the cluster has none");
    out->until_milli = keys.until * cluster_gpus * GPU_MILLI;
    out->every_ns = keys.every_ns;
    out->stay = keys.stay;
    return true;
}

static double milli_of(const struct row *row)
{
    return (double)row->gpus *
           (double)(row->gpu_milli > 0 ? row->gpu_milli : GPU_MILLI);
}

/* What one GPU of the job takes. */
static double device_milli(const struct row *row)
{
    return row->gpus == 0 ? 0.0 : milli_of(row) / (double)row->gpus;
}

struct picks {
    struct arena *arena;
    uint32_t *pick;
    size_t count, room;
};

static void add(struct picks *picks, uint32_t i)
{
    if (picks->count == picks->room) {
        picks->pick = arena_grow(picks->arena, picks->pick, picks->room,
                                 2 * picks->room, sizeof *picks->pick);
        picks->room *= 2;
    }
    picks->pick[picks->count++] = i;
}

static double shuffle(struct picks *picks, const struct row *list,
                      size_t count, struct rng *rng)
{
    double asked = 0.0;

    for (size_t i = 0; i < count; i++) {
        add(picks, (uint32_t)i);
        asked += milli_of(&list[i]);
    }
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i);
        uint32_t other = picks->pick[j];
        picks->pick[j] = picks->pick[i - 1];
        picks->pick[i - 1] = other;
    }
    return asked;
}

struct resampled resample_draw(const struct resample *how,
                               struct arena *arena, const struct row *list,
                               size_t count, uint64_t seed,
                               uint32_t replica)
{
    struct picks picks = {arena, NULL, 0, count + 1};
    struct rng rng;
    double asked;

    assert(how->until_milli > 0.0 && count > 0 && count < UINT32_MAX);
    rng_init(&rng, seed, "resample", replica);
    picks.pick = arena_alloc(arena, picks.room, sizeof *picks.pick);
    asked = shuffle(&picks, list, count, &rng);
    while (asked > how->until_milli && picks.count > 1) {
        size_t i = (size_t)rng_below(&rng, picks.count);
        asked -= milli_of(&list[picks.pick[i]]);
        picks.count--;
        for (; i < picks.count; i++)
            picks.pick[i] = picks.pick[i + 1];
    }
    /* Without a job that asks for GPUs there would be no end. */
    while (picks.count >= count && asked > 0.0) {
        uint32_t i = (uint32_t)rng_below(&rng, count);
        if (asked + device_milli(&list[i]) > how->until_milli)
            break;
        asked += milli_of(&list[i]);
        add(&picks, i);
    }
    return (struct resampled){how, list, count, picks.pick, picks.count};
}

struct row resampled_row(const struct resampled *drawn, struct arena *arena,
                         size_t i)
{
    struct row row = drawn->list[drawn->pick[i]];
    char name[200];

    assert(i < drawn->count);
    row.submit_ns = (int64_t)i * drawn->how->every_ns;
    row.deadline_ns = INT64_MAX;
    if (drawn->how->stay)
        row.duration_ns = (int64_t)(drawn->count - i) * drawn->how->every_ns;
    if (i >= drawn->list_count && row.name != NULL) {
        snprintf(name, sizeof name, "%.160s+%zu", row.name,
                 i - drawn->list_count + 1);
        row.name = arena_text(arena, name);
    }
    return row;
}
