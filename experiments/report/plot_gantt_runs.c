/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt_runs.c - reads phases.csv for a Gantt chart, without keeping it.
 *
 * First: how many runs there are, how long, on which GPUs, of which phases;
 * and up to WINDOWS_MAX starts of runs as windows to choose from.  Second: how
 * busy each window is, in whole numbers, so that equal windows compare equal
 * and the first of them is taken.  Third: the runs in that window.
 *
 * The text is read once.  What the second and third pass need of it goes to a spool.
 */
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gantt.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/spool.h"
#include "sim/stats/stats.h"
#include "sim/text/hash.h"

/* What a reader can tell apart on a page; chosen by eye. */
#define WINDOW_RUNS 40.0        /* length of the window in mean runs */
#define WINDOW_STAYS 8.0        /* or of mean stays of a job on a node */
#define WINDOWS_MAX 2048u       /* an even number */
#define SPOOL_BYTES ((size_t)1 << 18)   /* of runs that stay in memory */
#define BUSY_UNITS 1e6          /* of a GPU that is busy all the window */

/* Windows to choose from, all of one length, by their starts. */
struct windows {
    double *start_s;
    int64_t *busy[2];           /* differences, then the sums */
    uint32_t count;
    uint64_t stride;            /* runs a window */
    double length_s;
};

/* Of one node: the job that ran there last, and since when it did. */
struct stay {
    double start_s, end_s;
    uint64_t job;
    bool any;
};

/* The three passes over the runs. */
struct reader {
    struct gantt *g;
    struct stay *stay[2];       /* by node */
    struct windows windows;
    struct spool *spool;
    uint64_t index;             /* of the run at hand, in the third pass */
};

/* ---- the first pass ---- */

/* Keeps every stride-th start as a window; when there are too many, every other
 * one goes and the stride doubles. */
static void add_window(struct windows *w, uint64_t run, double start_s)
{
    if (run % w->stride != 0)
        return;
    if (w->count == WINDOWS_MAX) {      /* every other one goes */
        w->count /= 2;
        for (uint32_t i = 0; i < w->count; i++)
            w->start_s[i] = w->start_s[2 * i];
        w->stride *= 2;
        if (run % w->stride != 0)
            return;
    }
    w->start_s[w->count++] = start_s;
}

/* Adds a stay that has ended to the sums. */
static void end_stay(struct gantt_side *side, const struct stay *stay)
{
    side->stays += stay->any;
    side->stays_s += stay->any ? stay->end_s - stay->start_s : 0;
}

/* Extends the stay of a run's job on a node, or ends the stay of the job before
 * it.  A job that shares its node with others has stays that are cut short. */
static void add_stay(struct reader *reader, const struct gantt_row *run, uint64_t job,
                     uint32_t node)
{
    struct stay *stay = &reader->stay[run->side][node];

    if (!stay->any || stay->job != job) {
        end_stay(&reader->g->side[run->side], stay);
        *stay = (struct stay){ run->start_s, run->end_s, job, true };
    }
    stay->end_s = fmax(stay->end_s, run->end_s);
}

/* Offers the start of a run as that of a window.  Windows begin with runs of
 * the left side; those of the right side count only as long as the left one has
 * none. */
static void offer_window(struct reader *reader, const struct gantt_row *run)
{
    struct windows *w = &reader->windows;
    uint64_t left = reader->g->side[0].count;

    if (run->side == 1 && left == 0)
        add_window(w, reader->g->side[1].count, run->start_s);
    if (run->side == 0 && left == 0) {
        w->count = 0;
        w->stride = 1;
    }
    if (run->side == 0)
        add_window(w, left, run->start_s);
}

/* The first pass: extents, windows, stays, and GPUs by node. */
static void take_extent(void *self, const struct gantt_row *run)
{
    struct reader *reader = self;
    struct gantt *g = reader->g;
    struct gantt_side *side = &g->side[run->side];
    uint64_t job = hash_text(HASH_START, run->job);

    if (side->count == 0 || run->start_s < side->first_s)
        side->first_s = run->start_s;
    side->last_s = fmax(side->last_s, run->end_s);
    side->sum_s += run->end_s - run->start_s;
    offer_window(reader, run);
    side->count++;
    for (uint32_t p = 0; p < run->places; p++) {
        const struct gantt_place *at = &run->place[p];

        add_stay(reader, run, job, at->node);
        if (g->gpus[at->node] < at->last + 1u)
            g->gpus[at->node] = at->last + 1u;
        if (g->nodes < at->node + 1u)
            g->nodes = at->node + 1u;
    }
    gantt_put(reader->spool, run);
}

/* ---- the second pass ---- */

/* Do jobs have one phase again and again?  Then it is their stays that a reader
 * wants to see. */
static bool has_one_phase(const struct gantt *g)
{
    uint32_t phases = 0;

    for (uint32_t k = 0; k < g->kind.count; k++)
        phases += gantt_shade(g->kind.name[k]) != GANTT_DARKEST;
    return phases < 2;
}

/* Sets the length of the windows: WINDOW_RUNS mean runs, or WINDOW_STAYS mean
 * stays where jobs repeat one phase; at most the span of the side. */
static void set_length(struct reader *reader)
{
    struct gantt *g = reader->g;
    struct windows *w = &reader->windows;
    struct gantt_side *side = &g->side[g->side[0].count == 0];

    w->length_s = WINDOW_RUNS * side->sum_s / (double)side->count;
    for (uint32_t n = 0; n < g->nodes; n++)
        end_stay(side, &reader->stay[side - g->side][n]);
    if (has_one_phase(g) && side->stays > 0)
        w->length_s = fmax(w->length_s, WINDOW_STAYS * side->stays_s /
                                            (double)side->stays);
    w->length_s = fmin(w->length_s, side->last_s - side->first_s);
    /* Equal numbers are the same bytes in either order. */
    qsort(w->start_s, w->count, sizeof *w->start_s, stats_order);
    for (int s = 0; s < 2; s++)
        w->busy[s] = arena_alloc(g->source->arena, WINDOWS_MAX + 1,
                                 sizeof *w->busy[s]);
}

/* Returns how many windows begin at or before `at`, or, if `ended`, end by then. */
static uint32_t windows_by(const struct windows *w, double at, bool ended)
{
    const double length_s = ended ? w->length_s : 0, *start_s = w->start_s;
    uint32_t left = w->count;

    /* Without a branch that no processor could foresee: it is asked twice a run. */
    while (left > 0) {
        uint32_t half = left / 2;

        start_s += start_s[half] + length_s <= at ? left - half : 0;
        left = half;
    }
    return (uint32_t)(start_s - w->start_s);
}

/* The second pass: adds a run to the windows in which it starts, with all of
 * its time.  Only two numbers change: the first of these windows and the one
 * behind the last; choose_window() sums them up.  O(log windows) a run. */
static void take_busy(void *self, const struct gantt_row *run)
{
    struct windows *w = &((struct reader *)self)->windows;
    double part = (run->end_s - run->start_s) * run->gpus / w->length_s;
    int64_t busy = llround(fmin(part, 1e9) * BUSY_UNITS);

    w->busy[run->side][windows_by(w, run->start_s, true)] += busy;
    w->busy[run->side][windows_by(w, run->start_s, false)] -= busy;
}

/* Chooses the window whose less busy side is busiest; of equal ones the first.
 * If one side has no runs, the other alone counts. */
static void choose_window(struct gantt *g, struct windows *w)
{
    double end_s = g->side[g->side[0].count == 0].last_s;
    int64_t sum[2] = { 0, 0 }, best = -1;

    for (uint32_t i = 0; i < w->count; i++) {
        int64_t busy;

        for (int s = 0; s < 2; s++)
            sum[s] += w->busy[s][i];
        busy = sum[0] < sum[1] ? sum[0] : sum[1];
        if (g->side[0].count == 0 || g->side[1].count == 0)
            busy = sum[0] + sum[1];
        if (busy > best && w->start_s[i] + w->length_s <= end_s) {
            best = busy;
            g->start_s = w->start_s[i];
        }
    }
    g->end_s = g->start_s + w->length_s;
}

/* Chooses the rows and makes the edges, which are by row, empty. */
static void find_rows(struct gantt *g)
{
    gantt_choose_rows(g);
    for (int s = 0; s < 2; s++) {
        g->side[s].edge = arena_alloc(g->source->arena, g->rows + 1,
                                      sizeof *g->side[s].edge);
        for (uint32_t r = 0; r < g->rows; r++)
            g->side[s].edge[r].before.job = g->side[s].edge[r].after.job =
                GANTT_NO_JOB;
    }
}

/* ---- the third pass ---- */

/* For qsort(): by start, then by place in the file. */
static int compare_starts(const void *a, const void *b)
{
    const struct gantt_run *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Keeps a run that the chart shows, with copies of its places and of its name. */
static void keep_run(struct gantt *g, struct gantt_side *side,
                     const struct gantt_run *run, const struct gantt_row *row)
{
    struct arena *arena = g->source->arena;
    struct gantt_place *place = arena_alloc(arena, row->places, sizeof *place);

    if (side->runs == side->room) {
        size_t room = side->room * 2 + 1024;

        side->run = arena_grow(arena, side->run, side->room, room, sizeof *side->run);
        side->room = room;
    }
    side->run[side->runs] = *run;
    side->run[side->runs].name = arena_text(arena, row->job);
    side->run[side->runs++].place = memcpy(place, row->place,
                                           row->places * sizeof *place);
}

/* Takes a run outside the window for the edge of a GPU, if none is nearer. */
static void take_edge(struct gantt_edge *edge, const struct gantt_run *run, bool early,
                      bool late)
{
    if (early && (edge->before.job == GANTT_NO_JOB ||
                  compare_starts(&edge->before, run) < 0))
        edge->before = *run;
    if (late && (edge->after.job == GANTT_NO_JOB ||
                 compare_starts(&edge->after, run) > 0))
        edge->after = *run;
}

/* Is a GPU of the run shown? */
static bool is_shown(const struct gantt *g, const struct gantt_row *row)
{
    for (uint32_t p = 0; p < row->places; p++)
        if (row->place[p].first < g->gpus[row->place[p].node])
            return true;
    return false;
}

/* The third pass: keeps the runs in the window, and of each GPU the last before it
 * and the first after it. */
static void take_run(void *self, const struct gantt_row *row)
{
    struct reader *reader = self;
    struct gantt *g = reader->g;
    struct gantt_side *side = &g->side[row->side];
    bool early = row->end_s <= g->start_s, late = row->start_s >= g->end_s;
    struct gantt_run run = { .start_s = row->start_s, .end_s = row->end_s,
                             .places = row->places, .kind = row->kind,
                             .index = reader->index++ };

    if (!early && !late && row->cut)
        g->cut = true;
    if (!is_shown(g, row))
        return;
    run.job = hash_text(HASH_START, row->job);
    for (uint32_t p = 0; (early || late) && p < row->places; p++) {
        const struct gantt_place *at = &row->place[p];

        for (uint32_t gpu = at->first; gpu <= at->last && gpu < g->gpus[at->node]; gpu++)
            take_edge(&side->edge[g->row[at->node] + gpu], &run, early, late);
    }
    if (!early && !late)
        keep_run(g, side, &run, row);
}

/* The three passes.  Memory is that of the runs in the window, whatever the
 * length of the table. */
bool gantt_read(struct gantt *g, struct plot_sink *sink, struct err *err)
{
    struct arena *arena = g->source->arena;
    struct reader reader = { .g = g, .windows.stride = 1,
                             .spool = spool_new(arena, SPOOL_BYTES) };

    g->row = arena_alloc(arena, GANTT_NODES_MAX, sizeof *g->row);
    g->gpus = arena_alloc(arena, GANTT_NODES_MAX, sizeof *g->gpus);
    reader.windows.start_s = arena_alloc(arena, WINDOWS_MAX, sizeof(double));
    for (int s = 0; s < 2; s++)
        reader.stay[s] = arena_alloc(arena, GANTT_NODES_MAX,
                                     sizeof *reader.stay[s]);
    gantt_cluster_read(g);
    if (!gantt_read_text(g, take_extent, &reader, sink, err))
        return false;
    if (g->side[0].count + g->side[1].count == 0)
        return true;
    set_length(&reader);
    if (!gantt_get_all(g, reader.spool, take_busy, &reader, err))
        return false;
    choose_window(g, &reader.windows);
    find_rows(g);
    if (!gantt_get_all(g, reader.spool, take_run, &reader, err))
        return false;
    for (int s = 0; s < 2; s++)
        if (g->side[s].runs > 1)
            qsort(g->side[s].run, g->side[s].runs, sizeof(struct gantt_run),
                  compare_starts);
    return true;
}
