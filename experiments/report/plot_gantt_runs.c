/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt_runs.c - reads phases.csv for a Gantt chart, without keeping it.
 *
 * First: how many runs there are, how long, on which GPUs, of which phases;
 * and up to WINDOWS_MAX starts of runs as windows to choose from.  Second: how
 * busy each window is, in whole numbers, so that equal windows compare equal
 * and the first of them is taken.  Third: the runs in that window.
 */
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gantt.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/csv.h"
#include "sim/text/hash.h"

/* What a reader can tell apart on a page; chosen by eye. */
#define WINDOW_RUNS 40.0        /* length of the window in mean runs */
#define WINDOW_STAYS 8.0        /* or of mean stays of a job on a node */
#define WINDOWS_MAX 2048u       /* an even number */
#define BUSY_UNITS 1e6          /* of a GPU that is busy all the window */

enum column {
    C_POINT, C_POLICY, C_SEED, C_JOB, C_PHASE, C_START, C_END, C_GPUS, C_NODES,
    C_COUNT
};
static const char *const column_name[C_COUNT] = {
    "point", "policy", "seed", "job", "phase", "start_s", "end_s", "gpus",
    "nodes"
};

/* "+" joins runs of GPUs of one node, a blank begins another node. */
bool gantt_next_gpus(const char **text, uint32_t *node, uint32_t *first,
                     uint32_t *last)
{
    const char *p = *text;
    char *end;

    for (;;) {
        bool same_node = *p == '+';

        while (*p == ' ' || *p == '+')
            p++;
        if (*p < '0' || *p > '9')
            return false;
        *first = (uint32_t)strtoul(p, &end, 10);
        if (!same_node) {
            *node = *first;
            if (*end != ':') {          /* a node without GPUs */
                p = end;
                continue;
            }
            *first = (uint32_t)strtoul(end + 1, &end, 10);
        }
        *last = *end == '-' ? (uint32_t)strtoul(end + 1, &end, 10) : *first;
        *text = end;
        return *node < GANTT_NODES_MAX && *first <= *last && *last < 64;
    }
}

/* Rows of one trial, whose kinds are all known after the first pass. */
struct row {
    unsigned side;
    double start_s, end_s, gpus;
    const char *nodes, *job;
    uint32_t kind;
    uint64_t index;
};

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

/* One reading of the table; `take` is what this pass does with a row. */
struct reader {
    struct gantt *g;
    struct stay *stay[2];       /* by node */
    struct windows windows;
    void (*take)(struct reader *reader, const struct row *row);
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

/* Extends the stay of the row's job on a node, or ends the stay of the job before
 * it.  A job that shares its node with others has stays that are cut short. */
static void add_stay(struct reader *reader, const struct row *row,
                     uint32_t node)
{
    uint64_t job = hash_text(HASH_START, row->job);
    struct stay *stay = &reader->stay[row->side][node];

    if (!stay->any || stay->job != job) {
        end_stay(&reader->g->side[row->side], stay);
        *stay = (struct stay){ row->start_s, row->end_s, job, true };
    }
    stay->end_s = fmax(stay->end_s, row->end_s);
}

/* The first pass: extents, windows, stays, and GPUs by node. */
static void take_extent(struct reader *reader, const struct row *row)
{
    struct gantt *g = reader->g;
    struct gantt_side *side = &g->side[row->side];
    const char *text = row->nodes;
    uint32_t first, last, node = 0;

    if (side->count == 0 || row->start_s < side->first_s)
        side->first_s = row->start_s;
    side->last_s = fmax(side->last_s, row->end_s);
    side->sum_s += row->end_s - row->start_s;
    /* Windows begin with runs of the left side, if it has any. */
    if (row->side == 1 && g->side[0].count == 0)
        add_window(&reader->windows, side->count, row->start_s);
    if (row->side == 0 && side->count == 0) {
        reader->windows.count = 0;
        reader->windows.stride = 1;
    }
    if (row->side == 0)
        add_window(&reader->windows, side->count, row->start_s);
    side->count++;
    while (gantt_next_gpus(&text, &node, &first, &last)) {
        add_stay(reader, row, node);
        if (g->gpus[node] < last + 1)
            g->gpus[node] = last + 1;
        if (g->nodes < node + 1)
            g->nodes = node + 1;
    }
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

/* The length of the window, in mean runs or in mean stays, at most the whole run. */
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
    uint32_t low = 0, high = w->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double from = w->start_s[middle] + (ended ? w->length_s : 0);

        if (from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The second pass: a run counts in the windows in which it starts, with all of its
 * time.  Differences at two places, summed up later: O(log windows) a run. */
static void take_busy(struct reader *reader, const struct row *row)
{
    struct windows *w = &reader->windows;
    double part = (row->end_s - row->start_s) * row->gpus / w->length_s;
    int64_t busy = llround(fmin(part, 1e9) * BUSY_UNITS);

    w->busy[row->side][windows_by(w, row->start_s, true)] += busy;
    w->busy[row->side][windows_by(w, row->start_s, false)] -= busy;
}

/* The window whose less busy side is busiest; equal ones: the first. */
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

/* Rows are known only now, and edges are by row. */
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

/* Keeps a run that the chart shows, with copies of its texts. */
static void keep_run(struct gantt *g, struct gantt_side *side,
                     const struct gantt_run *run, const struct row *row)
{
    if (side->runs == side->room) {
        size_t room = side->room * 2 + 1024;

        side->run = arena_grow(g->source->arena, side->run, side->room, room,
                               sizeof *side->run);
        side->room = room;
    }
    side->run[side->runs] = *run;
    side->run[side->runs].name = arena_text(g->source->arena, row->job);
    side->run[side->runs++].nodes = arena_text(g->source->arena, row->nodes);
}

/* The third pass: keeps the runs in the window, and of each GPU the last before it
 * and the first after it. */
static void take_run(struct reader *reader, const struct row *row)
{
    struct gantt *g = reader->g;
    struct gantt_side *side = &g->side[row->side];
    struct gantt_run run = { row->start_s, row->end_s, NULL,
                             hash_text(HASH_START, row->job), NULL, row->kind,
                             0, row->index };
    bool drawn = false, early = row->end_s <= g->start_s;
    bool late = row->start_s >= g->end_s;
    uint32_t first, last, node = 0;

    for (const char *text = row->nodes;
         gantt_next_gpus(&text, &node, &first, &last);)
        for (uint32_t gpu = first; gpu <= last && gpu < g->gpus[node];
             gpu++) {
            struct gantt_edge *edge = &side->edge[g->row[node] + gpu];

            drawn = true;
            if (early && (edge->before.job == GANTT_NO_JOB ||
                          compare_starts(&edge->before, &run) < 0))
                edge->before = run;
            if (late && (edge->after.job == GANTT_NO_JOB ||
                         compare_starts(&edge->after, &run) > 0))
                edge->after = run;
        }
    if (drawn && !early && !late)
        keep_run(g, side, &run, row);
    if (!early && !late && strstr(row->nodes, "...") != NULL)
        g->cut = true;
}

/* ---- all of them ---- */

/* Rows of other points, policies and seeds are passed over. */
static bool read_row(struct reader *reader, const struct csv *in,
                     const size_t *c, uint64_t index, struct err *err)
{
    struct gantt *g = reader->g;
    const struct grid *grid = g->source->grid;
    uint32_t policy = grid_policy(grid, csv_text(in, c[C_POLICY]));
    double value[C_COUNT];

    if (grid_point(grid, csv_text(in, c[C_POINT])) !=
            grid->point_count / 2 ||
        policy == UINT32_MAX ||
        (policy != g->side[0].policy && policy != g->side[1].policy))
        return true;
    for (int i = C_SEED; i <= C_GPUS; i++)
        if (i != C_JOB && i != C_PHASE &&
            !csv_number(in, c[i], &value[i], err))
            return false;
    if (isnan(g->seed))
        g->seed = value[C_SEED];
    if (value[C_SEED] != g->seed || !(value[C_GPUS] > 0) ||
        !(value[C_END] > value[C_START]))
        return true;
    struct row row = {
        policy == g->side[1].policy, value[C_START], value[C_END],
        value[C_GPUS], csv_text(in, c[C_NODES]),
        csv_text(in, c[C_JOB]),
        gantt_name(g, &g->kind, csv_text(in, c[C_PHASE])), index
    };
    reader->take(reader, &row);
    return true;
}

/* Reads phases.csv once, and shows each row to `take`.  False, with err or with a
 * reason in the sink why there is no chart. */
static bool read_pass(struct reader *reader,
                      void (*take)(struct reader *, const struct row *),
                      struct plot_sink *sink, struct err *err)
{
    size_t column[C_COUNT];
    struct csv *in = plot_open(reader->g->source, csv_phases.file,
                                  column_name, column, C_COUNT, sink, err);
    enum csv_step step;

    if (in == NULL)
        return false;
    reader->take = take;
    for (uint64_t i = 0; (step = csv_next(in, err)) == CSV_ROW; i++)
        if (!read_row(reader, in, column, i, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    return step == CSV_END;
}

/* Memory is that of the window's runs, not of the table. */
bool gantt_read(struct gantt *g, struct plot_sink *sink, struct err *err)
{
    struct arena *arena = g->source->arena;
    struct reader reader = { .g = g, .windows.stride = 1 };

    g->row = arena_alloc(arena, GANTT_NODES_MAX, sizeof *g->row);
    g->gpus = arena_alloc(arena, GANTT_NODES_MAX, sizeof *g->gpus);
    reader.windows.start_s = arena_alloc(arena, WINDOWS_MAX, sizeof(double));
    for (int s = 0; s < 2; s++)
        reader.stay[s] = arena_alloc(arena, GANTT_NODES_MAX,
                                     sizeof *reader.stay[s]);
    gantt_cluster_read(g);
    if (!read_pass(&reader, take_extent, sink, err))
        return false;
    if (g->side[0].count + g->side[1].count == 0)
        return true;
    set_length(&reader);
    if (!read_pass(&reader, take_busy, sink, err))
        return false;
    choose_window(g, &reader.windows);
    find_rows(g);
    if (!read_pass(&reader, take_run, sink, err))
        return false;
    for (int s = 0; s < 2; s++)
        if (g->side[s].runs > 1)
            qsort(g->side[s].run, g->side[s].runs, sizeof(struct gantt_run),
                  compare_starts);
    return true;
}
