/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt.c - what every GPU does for a while, under two policies.
 *
 * One seed of the middle point; the baseline beside the other policy that is
 * cheapest per job.  Both panels show the same window, as long as so many mean
 * runs, in which the less busy of the two is busiest.  Rows are GPUs, those
 * that ran something in either trial.
 */
#include <math.h>

#include "experiments/grid.h"
#include "experiments/out.h"
#include "experiments/plot_data.h"
#include "experiments/plot_gantt.h"
#include "experiments/stats.h"
#include "experiments/trial.h"
#include "sim/arena.h"

#define KINDS_MAX 12u

/* The baseline (or the first policy), and of the others the cheapest. */
static void choose_policies(struct gantt *g)
{
    const struct grid *grid = g->source->grid;
    double *x = arena_alloc(g->source->arena, grid->seed_count + 1,
                            sizeof *x);
    double best = INFINITY;

    g->side[0].policy =
        g->source->baseline == UINT32_MAX ? 0 : g->source->baseline;
    g->side[1].policy = UINT32_MAX;
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        struct stats_mean m;

        if (p == g->side[0].policy)
            continue;
        m = stats_mean(x, grid_samples(grid, 0, p, METRIC_COST_PER_JOB, x),
                       0.95);
        if (g->side[1].policy == UINT32_MAX ||
            (m.count > 0 && m.mean < best)) {
            g->side[1].policy = p;
            best = m.count > 0 ? m.mean : INFINITY;
        }
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

/* One GPU's runs in order: between two of the same job nobody else used it. */
static void put_gap(struct gantt *g, struct out *out, uint32_t row,
                    struct gantt_run *last, const struct gantt_run *next)
{
    double gap[2] = { last->end_s, next->start_s };

    if (last->job == next->job && last->job != GANTT_NO_JOB)
        put_box(g, out, row, 1, gap, 0);
    if (last->job != next->job || last->end_s < next->end_s)
        *last = *next;
}

static void put_gaps(struct gantt *g, struct out *out,
                     const struct gantt_side *side)
{
    struct gantt_run *last = arena_alloc(g->source->arena, g->rows + 1,
                                         sizeof *last);
    uint32_t first, end, node = 0;

    for (uint32_t r = 0; r < g->rows; r++)
        last[r] = side->edge[r].before;
    for (size_t i = 0; i < side->runs; i++) {
        const struct gantt_run *run = &side->run[i];
        const char *text = run->nodes;

        while (gantt_next_gpus(&text, &node, &first, &end))
            for (uint32_t gpu = first; gpu <= end && gpu < g->gpus[node];
                 gpu++)
                put_gap(g, out, g->row[node] + gpu,
                        &last[g->row[node] + gpu], run);
    }
    for (uint32_t r = 0; r < g->rows; r++)
        put_gap(g, out, r, &last[r], &side->edge[r].after);
    out_text(out, "NaN NaN NaN NaN NaN\n");
}

static void put_runs(struct gantt *g, struct out *out,
                     const struct gantt_side *side)
{
    uint32_t first, last, node = 0;

    for (size_t i = 0; i < side->runs; i++) {
        const struct gantt_run *run = &side->run[i];
        const char *text = run->nodes;
        double from_to[2] = { run->start_s, run->end_s };
        uint32_t kind = run->kind < KINDS_MAX ? run->kind : KINDS_MAX - 1;

        while (gantt_next_gpus(&text, &node, &first, &last))
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
        g->kind.name[KINDS_MAX - 1] = "other";
    plot_names(out, "kind", g->kind.name, kinds, 24);
    out_printf(out, "kinds = %u\nseed = %.9g\nleft = %u\nright = %u\n"
               "rows = %u\nrows_left_out = %u\nstart_s = %.9g\n"
               "end_s = %.9g\n", kinds, g->seed, g->side[0].policy + 1,
               g->side[1].policy == UINT32_MAX || g->side[1].count == 0
                   ? 0 : g->side[1].policy + 1,
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
    if (!gantt_read(g, sink, err))
        return sink->skip != NULL ? PLOT_SKIPPED : PLOT_FAILED;
    sink->skip = "phases.csv has no phase on a GPU at the middle point";
    if (g->rows == 0)
        return PLOT_SKIPPED;
    put_head(g, sink->head);
    out_text(sink->data, "# row_low row_high start_s end_s phase"
                         " (0: between two phases of one job)\n");
    for (unsigned side = 0; side < 2; side++) {
        out_printf(sink->data, "%s# policy %u: between phases\n",
                   side == 0 ? "" : "\n\n", side + 1);
        put_gaps(g, sink->data, &g->side[side]);
        out_printf(sink->data, "\n\n# policy %u: phases\n", side + 1);
        put_runs(g, sink->data, &g->side[side]);
    }
    return PLOT_MADE;
}
