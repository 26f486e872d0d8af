/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt.c - what every GPU does for a while, under two policies.
 *
 * One seed of the middle point; the baseline beside the other policy that is
 * cheapest per job.  Both panels show the same window, as long as so many mean
 * runs, in which the less busy of the two is busiest.  Rows are GPUs, those
 * that ran something in either trial.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns.h"
#include "experiments/grid.h"
#include "experiments/out.h"
#include "experiments/paths.h"
#include "experiments/plot_data.h"
#include "experiments/read_csv.h"
#include "experiments/stats.h"
#include "experiments/trial.h"
#include "sim/arena.h"
#include "sim/rng.h"

#define WINDOW_RUNS 40.0        /* length of the window in mean runs */
#define WINDOWS_TRIED 1000u
#define ROWS_MAX 128u
#define NODES_MAX 65536u
#define KINDS_MAX 12u

struct run {
    double start_s, end_s;
    const char *nodes;          /* "3:0-7 5:0+2" */
    uint32_t kind, job, index, gpus;
};

struct runs {
    struct run *item;
    size_t count, room;
};

struct names {
    const char **item;
    uint32_t count, room;
    uint32_t *slot;             /* hashed: 1 + the index, 0 is free */
    size_t slots;               /* a power of two */
};

struct gantt {
    const struct plot_source *source;
    uint32_t policy[2];
    double seed;                /* NAN: not met yet */
    struct runs runs[2];
    struct names kind, job;
    double start_s, end_s;      /* the window */
    uint32_t *row, *gpus;       /* by node: first row, GPUs seen */
    uint32_t nodes, rows, rows_left_out;
};

/* The slot of a name, or the free one where it would go. */
static size_t name_slot(const struct names *names, const char *name)
{
    size_t i = rng_hash_text(name) & (names->slots - 1);

    while (names->slot[i] != 0 &&
           strcmp(names->item[names->slot[i] - 1], name) != 0)
        i = (i + 1) & (names->slots - 1);
    return i;
}

/* Twice the room, and twice as many slots as there is room for names. */
static void names_grow(struct arena *arena, struct names *names)
{
    uint32_t room = names->room == 0 ? 64 : 2 * names->room;

    names->item = arena_grow(arena, names->item, names->room, room,
                             sizeof *names->item);
    names->room = room;
    names->slots = 2 * (size_t)room;
    names->slot = arena_alloc(arena, names->slots, sizeof *names->slot);
    for (uint32_t i = 0; i < names->count; i++)
        names->slot[name_slot(names, names->item[i])] = i + 1;
}

static uint32_t name_index(struct arena *arena, struct names *names,
                           const char *name)
{
    if (names->count == names->room)
        names_grow(arena, names);
    size_t slot = name_slot(names, name);

    if (names->slot[slot] == 0) {
        names->item[names->count] = arena_text(arena, name);
        names->slot[slot] = ++names->count;
    }
    return names->slot[slot] - 1;
}

/* The next run of GPUs in a placement: node, first and last; false: no more.
 * *node is the node of the last call, for the parts after a plus sign. */
static bool next_gpus(const char **text, uint32_t *node, uint32_t *first,
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
        return *node < NODES_MAX && *first <= *last && *last < 64;
    }
}

enum column {
    C_POINT, C_POLICY, C_SEED, C_JOB, C_PHASE, C_START, C_END, C_GPUS, C_NODES,
    C_COUNT
};
static const char *const column_name[C_COUNT] = {
    "point", "policy", "seed", "job", "phase", "start_s", "end_s", "gpus",
    "nodes"
};

static void keep_run(struct gantt *g, const struct csv_in *in,
                     const size_t *c, unsigned side, const double *value)
{
    struct arena *arena = g->source->arena;
    struct runs *runs = &g->runs[side];

    if (runs->count == runs->room) {
        size_t room = runs->room * 2 + 1024;

        runs->item = arena_grow(arena, runs->item, runs->room, room,
                                sizeof *runs->item);
        runs->room = room;
    }
    runs->item[runs->count] = (struct run){
        .start_s = value[C_START], .end_s = value[C_END],
        .nodes = arena_text(arena, csv_in_field(in, c[C_NODES])),
        .kind = name_index(arena, &g->kind, csv_in_field(in, c[C_PHASE])),
        .job = name_index(arena, &g->job, csv_in_field(in, c[C_JOB])),
        .index = (uint32_t)runs->count, .gpus = (uint32_t)value[C_GPUS]
    };
    runs->count++;
}

static bool read_row(struct gantt *g, const struct csv_in *in,
                     const size_t *c, struct err *err)
{
    const struct grid *grid = g->source->grid;
    uint32_t policy = grid_policy(grid, csv_in_field(in, c[C_POLICY]));
    double value[C_COUNT];

    if (grid_point(grid, csv_in_field(in, c[C_POINT])) !=
            grid->point_count / 2 ||
        (policy != g->policy[0] && policy != g->policy[1]))
        return true;
    for (int i = C_SEED; i <= C_GPUS; i++)
        if (i != C_JOB && i != C_PHASE &&
            !csv_in_number(in, c[i], &value[i], err))
            return false;
    if (isnan(g->seed))
        g->seed = value[C_SEED];
    if (value[C_SEED] == g->seed && value[C_GPUS] > 0 &&
        value[C_END] > value[C_START])
        keep_run(g, in, c, policy == g->policy[1], value);
    return true;
}

static bool read_runs(struct gantt *g, struct plot_sink *sink,
                      struct err *err)
{
    size_t column[C_COUNT];
    struct csv_in *in = plot_open(g->source, csv_phases.file, column_name,
                                  column, C_COUNT, sink, err);
    enum csv_step step;

    if (in == NULL)
        return false;
    while ((step = csv_in_next(in, err)) == CSV_ROW)
        if (!read_row(g, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_in_close(in);
    return step == CSV_END;
}

static int by_start(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The baseline (or the first policy), and of the others the cheapest. */
static void choose_policies(struct gantt *g)
{
    const struct grid *grid = g->source->grid;
    double *x = arena_alloc(g->source->arena, grid->seed_count + 1,
                            sizeof *x);
    double best = INFINITY;

    g->policy[0] = g->source->baseline == UINT32_MAX ? 0
                                                     : g->source->baseline;
    g->policy[1] = UINT32_MAX;
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        struct stats_mean m;

        if (p == g->policy[0])
            continue;
        grid_samples(grid, 0, p, METRIC_COST_PER_JOB, x);
        m = stats_mean(x, grid->seed_count, 0.95);
        if (g->policy[1] == UINT32_MAX || (m.count > 0 && m.mean < best)) {
            g->policy[1] = p;
            best = m.count > 0 ? m.mean : INFINITY;
        }
    }
}

/* GPU-seconds of the runs that start in a window. */
static double busy_in(const struct runs *runs, double from_s, double length)
{
    size_t low = 0, high = runs->count;
    double busy = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (runs->item[middle].start_s < from_s)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < runs->count && runs->item[low].start_s < from_s + length;
         low++)
        busy += (runs->item[low].end_s - runs->item[low].start_s) *
                runs->item[low].gpus;
    return busy;
}

/* What the less busy of the two does in a window. */
static double both_busy(const struct gantt *g, double from_s, double length)
{
    double left = busy_in(&g->runs[0], from_s, length);
    double right = busy_in(&g->runs[1], from_s, length);

    if (g->runs[0].count == 0 || g->runs[1].count == 0)
        return left + right;
    return fmin(left, right);
}

static void choose_window(struct gantt *g)
{
    const struct runs *runs = &g->runs[g->runs[0].count == 0];
    double end = 0, sum = 0, best = -1, window;
    size_t every = runs->count / WINDOWS_TRIED + 1;

    for (size_t i = 0; i < runs->count; i++) {
        sum += runs->item[i].end_s - runs->item[i].start_s;
        end = fmax(end, runs->item[i].end_s);
    }
    window = fmin(WINDOW_RUNS * sum / (double)runs->count,
                  end - runs->item[0].start_s);
    for (size_t i = 0; i < runs->count; i += every) {
        double start = runs->item[i].start_s;
        double busy = both_busy(g, start, window);

        if (busy > best && start + window <= end) {
            best = busy;
            g->start_s = start;
        }
    }
    g->end_s = g->start_s + window;
}

static void find_rows(struct gantt *g)
{
    struct arena *arena = g->source->arena;
    uint32_t first, last, node = 0;

    g->row = arena_alloc(arena, NODES_MAX, sizeof *g->row);
    g->gpus = arena_alloc(arena, NODES_MAX, sizeof *g->gpus);
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < g->runs[side].count; i++) {
            const char *text = g->runs[side].item[i].nodes;

            while (next_gpus(&text, &node, &first, &last)) {
                if (g->gpus[node] < last + 1)
                    g->gpus[node] = last + 1;
                if (g->nodes < node + 1)
                    g->nodes = node + 1;
            }
        }
    for (uint32_t n = 0; n < g->nodes; n++) {
        if (g->rows + g->gpus[n] > ROWS_MAX) {
            g->rows_left_out += g->gpus[n];
            g->gpus[n] = 0;
        }
        g->row[n] = g->rows;
        g->rows += g->gpus[n];
    }
}

static void put_box(struct gantt *g, struct out *out, uint32_t first_row,
                    uint32_t rows, const double *from_to, int kind)
{
    double from = fmax(from_to[0], g->start_s);
    double to = fmin(from_to[1], g->end_s);

    if (!(from < to))
        return;
    out_printf(out, "%u %u", first_row, first_row + rows);
    plot_real(out, from);
    plot_real(out, to);
    out_printf(out, " %d\n", kind);
}

struct last {
    double end_s;
    uint32_t job;
};

/* GPUs between two phases of the same job: nobody else used them. */
static void put_gaps(struct gantt *g, struct out *out, const struct runs *runs)
{
    struct last *last = arena_alloc(g->source->arena, ROWS_MAX + 1,
                                    sizeof *last);
    uint32_t first, end, node = 0;

    for (size_t i = 0; i < ROWS_MAX; i++)
        last[i].job = UINT32_MAX;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->item[i];
        const char *text = run->nodes;

        while (next_gpus(&text, &node, &first, &end))
            for (uint32_t gpu = first; gpu <= end; gpu++) {
                struct last *at;
                double gap[2] = { 0, run->start_s };

                if (gpu >= g->gpus[node])
                    break;
                at = &last[g->row[node] + gpu];
                gap[0] = at->end_s;
                if (at->job == run->job)
                    put_box(g, out, g->row[node] + gpu, 1, gap, 0);
                if (at->job != run->job || at->end_s < run->end_s)
                    *at = (struct last){ run->end_s, run->job };
            }
    }
    out_text(out, "NaN NaN NaN NaN NaN\n");
}

static void put_runs(struct gantt *g, struct out *out, const struct runs *runs)
{
    uint32_t first, last, node = 0;

    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->item[i];
        const char *text = run->nodes;
        double from_to[2] = { run->start_s, run->end_s };
        uint32_t kind = run->kind < KINDS_MAX ? run->kind : KINDS_MAX - 1;

        while (next_gpus(&text, &node, &first, &last))
            if (last < g->gpus[node])
                put_box(g, out, g->row[node] + first, last - first + 1,
                        from_to, (int)kind + 1);
    }
    out_text(out, "NaN NaN NaN NaN NaN\n");
}

/* Colours are the phases' own where the template knows their names. */
static void put_head(struct gantt *g, struct out *out)
{
    uint32_t kinds = g->kind.count < KINDS_MAX ? g->kind.count : KINDS_MAX;
    uint32_t nodes = 0;

    if (g->kind.count > KINDS_MAX)
        g->kind.item[KINDS_MAX - 1] = "other";
    plot_names(out, "kind", g->kind.item, kinds, 24);
    out_printf(out, "kinds = %u\nseed = %.9g\nleft = %u\nright = %u\n"
               "rows = %u\nrows_left_out = %u\nstart_s = %.9g\n"
               "end_s = %.9g\n", kinds, g->seed, g->policy[0] + 1,
               g->policy[1] == UINT32_MAX || g->runs[1].count == 0
                   ? 0 : g->policy[1] + 1,
               g->rows, g->rows_left_out, g->start_s, g->end_s);
    plot_put_unit(out, plot_time_unit((g->end_s - g->start_s) / 3));
    for (uint32_t n = 0; n < g->nodes; n++)
        nodes += g->gpus[n] > 0;
    out_printf(out, "nodes = %u\narray node[%u]\narray node_row[%u]\n", nodes,
               nodes + 1, nodes + 1);
    nodes = 0;
    for (uint32_t n = 0; n < g->nodes; n++)
        if (g->gpus[n] > 0) {
            nodes++;
            out_printf(out, "node[%u] = 'node %u'; node_row[%u] = %u\n",
                       nodes, n, nodes, g->row[n]);
        }
    out_printf(out, "node_row[%u] = %u\n", nodes + 1, g->rows);
}

enum plot_made plot_make_gantt(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    struct gantt *g = arena_alloc(source->arena, 1, sizeof *g);

    g->source = source;
    g->seed = NAN;
    choose_policies(g);
    if (!read_runs(g, sink, err))
        return sink->skip != NULL ? PLOT_SKIPPED : PLOT_FAILED;
    sink->skip = "phases.csv has no phase on a GPU at the middle point";
    for (unsigned side = 0; side < 2; side++)
        if (g->runs[side].count > 1)
            qsort(g->runs[side].item, g->runs[side].count, sizeof(struct run),
                  by_start);
    if (g->runs[0].count + g->runs[1].count == 0)
        return PLOT_SKIPPED;
    choose_window(g);
    find_rows(g);
    if (g->rows == 0)
        return PLOT_SKIPPED;
    put_head(g, sink->head);
    out_text(sink->data, "# row_low row_high start_s end_s phase"
                         " (0: between two phases of one job)\n");
    for (unsigned side = 0; side < 2; side++) {
        out_printf(sink->data, "%s# policy %u: between phases\n",
                   side == 0 ? "" : "\n\n", side + 1);
        put_gaps(g, sink->data, &g->runs[side]);
        out_printf(sink->data, "\n\n# policy %u: phases\n", side + 1);
        put_runs(g, sink->data, &g->runs[side]);
    }
    return PLOT_MADE;
}
