/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resample.c - a list of jobs drawn anew for each seed: job by job, until it
 * asks for a share of the cluster, or by blocks of days.
 *
 * By blocks (Kunsch 1989; the blocks do not overlap, as in Carlstein 1986): the
 * list is cut into days, weeks or any length of time, as many of them are drawn
 * with replacement as there are, and put one behind the other.  Within a block
 * jobs keep their order, distances and sizes, so that bursts and nights stay.
 *
 * Job by job, as the simulator of FGD makes its arrivals (Weng et al., ATC 2023): the list
 * is shuffled; then jobs are drawn from it with replacement and appended until
 * the next would exceed the bound.  That test counts one GPU of the next job,
 * not all it asks for.  A list that exceeds the bound by itself loses jobs at
 * random until it does not.
 */
#include "workloads/replay/resample.h"

#include <assert.h>
#include <stdio.h>

#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* The keys of `resample:` as they are written. */
struct keys {
    double until;               /* requested GPUs over those of the cluster */
    int64_t every_ns, block_ns;
    bool stay;
};

static const struct conf_field fields[] = {
    CONF_KEY("block", CONF_TIME, keys, block_ns, CONF_ABSENT,
             "blocks of this length are drawn with replacement, as many as the "
             "trace has: 1d keeps days whole, 7d weeks", .min = 1, .max = 9e8),
    CONF_KEY("until", CONF_FRACTION, keys, until, CONF_ABSENT,
             "GPUs that the jobs ask for, by all GPUs of the cluster, as 130%",
             .min = 0.001, .max = 100),
    CONF_KEY("every", CONF_TIME, keys, every_ns, "1s",
             "time from one arrival to the next", .min = 1e-9, .max = 1e6),
    CONF_KEY("stay", CONF_BOOL, keys, stay, "true",
             "jobs stay until all have come; false: for their run time"),
};
const struct conf_schema resample_schema =
    CONF_SCHEMA("workload.trace.resample",
                "a list drawn anew for each seed", fields);

/* Either `block` or `until` must be there.  Keys of drawing job by job have no
 * meaning beside `block`. */
static bool check_way(const struct conf_node *conf, struct err *err)
{
    static const char *const apart[] = {"until", "every", "stay"};
    bool block = conf_get(conf, "block") != NULL;

    for (size_t i = 0; block && i < COUNT(apart); i++)
        if (conf_get(conf, apart[i]) != NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, apart[i])),
                           "%s has no meaning beside block: jobs keep their "
                           "times", apart[i]);
    if (block || conf_get(conf, "until") != NULL)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(conf), "block or until is missing: what "
            "is drawn anew");
    return err_hint(err, "`resample: {block: 1d}` draws whole days.");
}

bool resample_read(const struct conf_node *conf, uint32_t cluster_gpus,
                   struct resample *out, struct err *err)
{
    struct keys keys = {0};

    if (!conf_fill(conf, &resample_schema, &keys, err) ||
        !check_way(conf, err))
        return false;
    out->block_ns = keys.block_ns;
    if (keys.block_ns > 0)
        return true;
    if (cluster_gpus == 0)
        return err_set(err, ERR_RANGE, conf_pos(conf),
                       "resample counts GPUs, and the cluster has none");
    out->until_milli = keys.until * cluster_gpus * GPU_MILLI;
    out->every_ns = keys.every_ns;
    out->stay = keys.stay;
    return true;
}

/* Returns the number of the block that row i stands in, from 0 on. */
static uint32_t block_of(const struct resample *how, const struct row *list,
                         size_t i)
{
    return (uint32_t)((list[i].submit_ns - list[0].submit_ns) /
                      how->block_ns);
}

/* A last block counts if it is at least nine tenths of a block long.  Jobs of a
 * shorter one are never drawn. */
bool resample_count(struct resample *how, const struct row *list,
                    size_t count, struct err_pos pos, uint64_t *unused,
                    struct err *err)
{
    int64_t span_ns = list[count - 1].submit_ns - list[0].submit_ns;
    int64_t blocks = span_ns / how->block_ns;

    blocks += span_ns % how->block_ns >= how->block_ns / 10 * 9;
    if (blocks < 2) {
        err_set(err, ERR_RANGE, pos, "block must go into the trace twice at "
                "least, which is %.6g s long", (double)span_ns / 1e9);
        return err_hint(err, "Of few blocks, all that is drawn looks alike: "
                             "ten or more are better.");
    }
    if (blocks > 1000000)
        return err_set(err, ERR_RANGE, pos, "block goes into the trace %lld "
                       "times; at most 1000000", (long long)blocks);
    how->blocks = (uint32_t)blocks;
    *unused = 0;
    while (block_of(how, list, count - 1 - *unused) >= how->blocks)
        ++*unused;
    return true;
}

/* Returns the GPUs of a job, in thousandths. */
static double count_milli(const struct row *row)
{
    return (double)row->gpus *
           (double)(row->gpu_milli > 0 ? row->gpu_milli : GPU_MILLI);
}

/* Returns the thousandths of one GPU that the job takes; 0 if it takes none. */
static double device_milli(const struct row *row)
{
    return row->gpus == 0 ? 0.0 : count_milli(row) / (double)row->gpus;
}

/* The rows that are drawn, by their place in the sorted list, in the order of
 * the new submissions. */
struct picks {
    struct arena *arena;
    uint32_t *pick;             /* [count]: indices into the list of jobs */
    size_t count, room;
};

/* Appends a job of the list, by index. */
static void add_pick(struct picks *picks, uint32_t i)
{
    ARENA_ADD(picks->arena, picks->pick, picks->count, picks->room, i);
}

/* Picks all jobs once, in random order (Fisher and Yates). Returns the GPUs
 * that they ask for, in thousandths. */
static double shuffle_jobs(struct picks *picks, const struct row *list,
                           size_t count, struct rng *rng)
{
    double asked = 0.0;

    for (size_t i = 0; i < count; i++) {
        add_pick(picks, (uint32_t)i);
        asked += count_milli(&list[i]);
    }
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i);
        uint32_t other = picks->pick[j];
        picks->pick[j] = picks->pick[i - 1];
        picks->pick[i - 1] = other;
    }
    return asked;
}

/* Returns where each block begins in the list, and behind the last block where
 * it ends. */
static size_t *block_starts(const struct resample *how, struct arena *arena,
                            const struct row *list, size_t count)
{
    size_t *start = arena_alloc(arena, how->blocks + 1, sizeof *start);
    size_t i = 0;

    for (uint32_t b = 0; b <= how->blocks; b++) {
        while (i < count && block_of(how, list, i) < b)
            i++;
        start[b] = i;
    }
    return start;
}

/* Draws as many blocks as the list has.  Of each job it keeps the new place of
 * its block, and how often that block was drawn before, from which its name is
 * made. */
static struct resampled draw_blocks(const struct resample *how,
                                    struct arena *arena,
                                    const struct row *list, size_t count,
                                    struct rng *rng)
{
    const size_t *start = block_starts(how, arena, list, count);
    uint32_t *block = arena_alloc(arena, how->blocks, sizeof *block);
    uint32_t *times = arena_alloc(arena, how->blocks, sizeof *times);
    uint32_t *pick, *place, *again;
    size_t jobs = 0, n = 0;

    /* A trace of some jobs has some in every draw, in time. */
    while (jobs == 0)
        for (uint32_t k = 0; k < how->blocks; k++) {
            block[k] = (uint32_t)rng_below(rng, how->blocks);
            jobs += start[block[k] + 1] - start[block[k]];
        }
    pick = arena_alloc(arena, jobs, sizeof *pick);
    place = arena_alloc(arena, jobs, sizeof *place);
    again = arena_alloc(arena, jobs, sizeof *again);
    for (uint32_t k = 0; k < how->blocks; k++) {
        uint32_t b = block[k];

        for (size_t i = start[b]; i < start[b + 1]; i++, n++) {
            pick[n] = (uint32_t)i;
            place[n] = k;
            again[n] = times[b];
        }
        times[b]++;
    }
    return (struct resampled){how, list, count, pick, n, place, again};
}

/* Job by job: jobs are taken from the shuffled list at random while it exceeds
 * the bound; then jobs are added until the next would. */
struct resampled resample_draw(const struct resample *how,
                               struct arena *arena, const struct row *list,
                               size_t count, uint64_t seed,
                               uint32_t replica)
{
    struct picks picks = {.arena = arena};
    struct rng rng;
    double asked;

    assert((how->until_milli > 0.0 || how->blocks > 0) && count > 0 &&
           count < UINT32_MAX);
    rng_init(&rng, seed, "resample", replica);
    if (how->block_ns > 0)
        return draw_blocks(how, arena, list, count, &rng);
    ARENA_REACH(arena, picks.pick, picks.room, count);
    asked = shuffle_jobs(&picks, list, count, &rng);
    while (asked > how->until_milli && picks.count > 1) {
        size_t i = (size_t)rng_below(&rng, picks.count);
        asked -= count_milli(&list[picks.pick[i]]);
        picks.count--;
        for (; i < picks.count; i++)
            picks.pick[i] = picks.pick[i + 1];
    }
    /* Without a job that asks for GPUs there would be no end. */
    while (picks.count >= count && asked > 0.0) {
        uint32_t i = (uint32_t)rng_below(&rng, count);
        if (asked + device_milli(&list[i]) > how->until_milli)
            break;
        asked += count_milli(&list[i]);
        add_pick(&picks, i);
    }
    return (struct resampled){how, list, count, picks.pick, picks.count,
                              NULL, NULL};
}

/* A job that is drawn again is called NAME+1, NAME+2 and so on, so that names
 * stay unique. */
static void name_again(struct row *row, struct arena *arena, size_t times)
{
    char name[200];

    if (times == 0 || row->name == NULL)
        return;
    snprintf(name, sizeof name, "%.160s+%zu", row->name, times);
    row->name = arena_text(arena, name);
}

/* Returns a job of a block that was moved.  Its submission and deadline move by
 * whole blocks. */
static struct row moved_row(const struct resampled *drawn,
                            struct arena *arena, size_t i)
{
    const struct resample *how = drawn->how;
    struct row row = drawn->list[drawn->pick[i]];
    int64_t blocks = (int64_t)drawn->place[i] -
                     block_of(how, drawn->list, drawn->pick[i]);
    int64_t later_ns = blocks * how->block_ns;

    row.submit_ns = clock_after(row.submit_ns, later_ns);
    row.deadline_ns = clock_after(row.deadline_ns, later_ns);
    name_again(&row, arena, drawn->again[i]);
    return row;
}

/* Drawn job by job, the i-th job comes at i times the interval; if jobs stay,
 * it lasts until the last has come.  Deadlines of the file have no meaning
 * there. */
struct row resampled_row(const struct resampled *drawn, struct arena *arena,
                         size_t i)
{
    struct row row;

    assert(i < drawn->count);
    if (drawn->place != NULL)
        return moved_row(drawn, arena, i);
    row = drawn->list[drawn->pick[i]];
    row.submit_ns = (int64_t)i * drawn->how->every_ns;
    row.deadline_ns = INT64_MAX;
    if (drawn->how->stay)
        row.duration_ns = (int64_t)(drawn->count - i) * drawn->how->every_ns;
    if (i >= drawn->list_count)
        name_again(&row, arena, i - drawn->list_count + 1);
    return row;
}
