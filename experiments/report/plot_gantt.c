/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt.c - what every GPU does for a while, under two policies.
 *
 * One seed of the middle point; the baseline beside the other policy that is
 * cheapest per job there, or, if nothing costs anything, fastest.  Both panels
 * show the same window, as long as a number of mean runs, in which the less busy of
 * the two is busiest.
 *
 * Bars are written row by row as runs come, sorted by start.  A run that goes on with the bar
 * before it (add_bar) makes that bar longer; any other one ends it.
 */
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gantt.h"
#include "experiments/results/grid.h"
#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define COLOURS_MAX 24u         /* at most 32: bits of g->drawn */
#define TONES 3u                /* of a colour: neighbours differ */
#define HAIR 1500.0             /* of the window: less cannot be seen */
#define BAR_JOBS_MAX 2000u      /* whose names the file tells */

/* Returns the mean of a metric at the middle point; INFINITY: no trial has it,
 * so that it never is the least. */
static double find_mean(const struct plot_source *source,
                        uint32_t policy, enum metric metric)
{
    const struct grid *grid = source->grid;
    struct stats_mean m = grid_mean(grid, grid->point_count / 2, policy, metric, 0.95);

    return m.count > 0 ? m.mean : INFINITY;
}

/* Has the policy another cluster than the one that is drawn?  Its nodes would not
 * be those of the rows. */
static bool is_elsewhere(const struct gantt *g, uint32_t policy)
{
    const struct conf_node *map = g->source->cluster;
    const struct conf_node *list = map != NULL && conf_kind(map) == CONF_MAP
        ? conf_get(map, "not_of") : NULL;

    for (size_t i = 0; list != NULL && i < conf_count(list); i++)
        if (strcmp(conf_text(conf_item(list, i)),
                   g->source->grid->policy[policy]) == 0)
            return true;
    return false;
}

/* The baseline (or the first policy), and of the others on the same cluster the
 * one with the least cost of a job; where nothing costs anything, the least mean
 * completion time. */
static void choose_policies(struct gantt *g)
{
    const struct grid *grid = g->source->grid;
    enum metric metric = METRIC_JCT_MEAN;
    double best = INFINITY;

    g->side[0].policy =
        g->source->baseline == UINT32_MAX ? 0 : g->source->baseline;
    g->side[1].policy = UINT32_MAX;
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        double cost = find_mean(g->source, p, METRIC_COST_PER_JOB);

        if (isfinite(cost) && cost > 0)
            metric = METRIC_COST_PER_JOB;
    }
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        double mean = find_mean(g->source, p, metric);

        if (p == g->side[0].policy || is_elsewhere(g, p) ||
            (g->side[1].policy != UINT32_MAX && !(mean < best)))
            continue;
        g->side[1].policy = p;
        best = mean;
    }
}

/* A bar that the next run may go on with. */
struct bar {
    double from_to[2];          /* seconds */
    uint32_t rows, colour, tone;        /* colour 0: between two phases */
    uint32_t job;               /* of g->bar_job, from 1; 0: several, or not told */
};

/* Returns the number of a job's name in g->bar_job, from 1; 0: there are
 * BAR_JOBS_MAX names already. */
static uint32_t bar_job(struct gantt *g, const char *name)
{
    return g->bar_job.count < BAR_JOBS_MAX
        ? gantt_name(g, &g->bar_job, name) + 1 : 0;
}

/* Writes a bar, cut at the edges of the window.  False: nothing of it lies
 * within. */
static bool write_box(struct gantt *g, struct out *out, uint32_t first_row,
                    const struct bar *bar)
{
    double from = fmax(bar->from_to[0], g->start_s);
    double to = fmin(bar->from_to[1], g->end_s);

    if (!(from < to))
        return false;
    out_printf(out, "%u %u", first_row, first_row + bar->rows);
    plot_time(out, from);
    plot_time(out, to);
    out_printf(out, " %u %u %u\n", bar->colour, bar->tone, bar->job);
    return true;
}

/* Writes the time between two runs of one job on a GPU, in which nobody else used
 * it: it held the GPU and did not compute. */
static bool write_gap(struct gantt *g, struct out *out, uint32_t row,
                      struct gantt_run *last, const struct gantt_run *next)
{
    struct bar gap = { { last->end_s, next->start_s }, 1, 0, 0, 0 };
    bool put = false;

    if (last->job == next->job && last->job != GANTT_NO_JOB &&
        next->start_s - last->end_s >= (g->end_s - g->start_s) / HAIR) {
        gap.job = next->name == NULL ? 0 : bar_job(g, next->name);
        put = write_box(g, out, row, &gap);
    }
    if (last->job != next->job || last->end_s < next->end_s)
        *last = *next;
    return put;
}

/* Writes the gaps of a side, GPU by GPU; false: there are none.  Runs just outside
 * the window are the edges. */
static bool write_gaps(struct gantt *g, struct out *out,
                       const struct gantt_side *side)
{
    struct gantt_run *last = arena_alloc(g->source->arena, g->rows + 1,
                                         sizeof *last);
    bool any = false;

    for (uint32_t r = 0; r < g->rows; r++)
        last[r] = side->edge[r].before;
    for (size_t i = 0; i < side->runs; i++) {
        const struct gantt_run *run = &side->run[i];

        for (uint32_t p = 0; p < run->places; p++) {
            struct gantt_place at = run->place[p];
            uint32_t row = g->row[at.node];

            for (uint32_t gpu = at.first; gpu <= at.last && gpu < g->gpus[at.node]; gpu++)
                any = write_gap(g, out, row + gpu, &last[row + gpu], run) || any;
        }
    }
    for (uint32_t r = 0; r < g->rows; r++)
        any = write_gap(g, out, r, &last[r], &side->edge[r].after) || any;
    out_text(out, "NaN NaN NaN NaN NaN NaN NaN\n");
    return any;
}

/* Which job ran last on a GPU, and its tone there. */
struct toned {
    uint64_t job;
    uint32_t tone;
    bool any;
};

/* Returns the tone of a job on a GPU: it keeps its tone unless the job before it
 * there has the same. */
static uint32_t choose_tone(struct toned *last, uint64_t job)
{
    uint32_t tone = (uint32_t)(job % TONES);

    if (last->any && last->job == job)
        return last->tone;
    if (last->any && last->tone == tone)
        tone = (tone + 1) % TONES;
    *last = (struct toned){ job, tone, true };
    return tone;
}

/* Writes a bar that is complete, and notes its colour for the legend. */
static void put_bar(struct gantt *g, struct out *out, uint32_t row,
                    const struct bar *bar)
{
    if (bar->rows > 0 && write_box(g, out, row, bar))
        g->drawn |= 1u << (bar->colour - 1);
}

/* Joins a run to the bar before it if both have one colour, tone and height and no
 * visible gap between them: steps of weeks would be nothing but seams.  Moves of
 * bytes too short to be seen are left out. */
static void add_bar(struct gantt *g, struct out *out, struct bar *bars,
                    uint32_t row, const struct bar *next)
{
    struct bar *last = &bars[row];
    double hair = (g->end_s - g->start_s) / HAIR;

    if (g->shade[next->colour - 1] == GANTT_DARKEST &&
        next->from_to[1] - next->from_to[0] < hair)
        return;
    if (last->rows == next->rows && last->colour == next->colour &&
        last->tone == next->tone &&
        next->from_to[0] - last->from_to[1] < hair) {
        last->from_to[1] = fmax(last->from_to[1], next->from_to[1]);
        last->job = last->job == next->job ? last->job : 0;
        return;
    }
    put_bar(g, out, row, last);
    *last = *next;
}

/* Writes the bars of one side, row by row of GPUs.  Neighbouring rows of one run
 * are one bar, and runs that follow each other get another tone, so that their
 * border is seen. */
static void write_runs(struct gantt *g, struct out *out,
                       const struct gantt_side *side)
{
    struct toned *last = arena_alloc(g->source->arena, g->rows + 1,
                                     sizeof *last);
    struct bar *bars = arena_alloc(g->source->arena, g->rows + 1,
                                   sizeof *bars);

    for (size_t i = 0; i < side->runs; i++) {
        const struct gantt_run *run = &side->run[i];
        struct bar bar = { { run->start_s, run->end_s }, 0, 1 +
                           (run->colour < COLOURS_MAX ? run->colour
                                                      : COLOURS_MAX - 1), 0,
                           bar_job(g, run->name) };

        for (uint32_t p = 0; p < run->places; p++) {
            struct gantt_place at = run->place[p];
            uint32_t row = g->row[at.node] + at.first;

            if (at.last >= g->gpus[at.node])
                continue;
            for (uint32_t r = row; r <= row + at.last - at.first; r++)
                bar.tone = r == row ? choose_tone(&last[r], run->job)
                                    : (last[r] = last[row], bar.tone);
            bar.rows = at.last - at.first + 1u;
            add_bar(g, out, bars, row, &bar);
        }
    }
    for (uint32_t r = 0; r < g->rows; r++)
        put_bar(g, out, r, &bars[r]);
    out_text(out, "NaN NaN NaN NaN NaN NaN NaN\n");
}

/* Writes the pools that nodes next to each other are in, if there are several. */
static void write_pools(struct gantt *g, struct out *out)
{
    uint32_t spans = 0, last = UINT32_MAX;
    const char **name = arena_alloc(g->source->arena, g->rows + 1,
                                    sizeof *name);
    uint32_t *row = arena_alloc(g->source->arena, g->rows + 2, sizeof *row);

    for (uint32_t n = 0; n < g->nodes && g->cluster.pool.count > 1; n++) {
        uint32_t pool = gantt_node_pool(g, n);

        if (g->gpus[n] == 0 || pool == last || pool == UINT32_MAX)
            continue;
        name[spans] = g->cluster.pool.name[pool];
        row[spans++] = g->row[n];
        last = pool;
    }
    out_printf(out, "pools = %u\n", spans);
    if (spans == 0)
        return;
    row[spans] = g->rows;
    plot_names(out, "pool", name, spans, 20);
    out_printf(out, "array pool_row[%u]\n", spans + 1);
    for (uint32_t s = 0; s <= spans; s++)
        out_printf(out, "pool_row[%u] = %u\n", s + 1, row[s]);
}

/* "64 of 256 of pool gen, 64 of 96 of pool train": what rows were chosen, if not
 * all. */
static void write_chosen(const struct gantt *g, struct out *out)
{
    const struct gantt_cluster *cluster = &g->cluster;
    const char *text = "";

    for (uint32_t p = 0; p < cluster->pool.count; p++)
        text = text_format(g->source->arena, "%s%s%u of %u of pool %s", text,
                           p == 0 ? "" : ", ", cluster->shown[p],
                           cluster->gpus[p], cluster->pool.name[p]);
    out_text(out, "chosen = ");
    plot_quote(out, cluster->pool.count > 1 ? text : "", 400);
    out_text(out, "\n");
}

/* Writes the names of the nodes that have rows, and where their rows begin. */
static void write_nodes(struct gantt *g, struct out *out)
{
    const char **name = arena_alloc(g->source->arena, g->rows + 1,
                                    sizeof *name);
    uint32_t nodes = 0;

    for (uint32_t n = 0; n < g->nodes; n++)
        if (g->gpus[n] > 0)
            name[nodes++] = gantt_node_name(g, n);
    plot_names(out, "node", name, nodes, 24);
    out_printf(out, "nodes = %u\narray node_row[%u]\n", nodes, nodes + 1);
    nodes = 0;
    for (uint32_t n = 0; n < g->nodes; n++)
        if (g->gpus[n] > 0)
            out_printf(out, "node_row[%u] = %u\n", ++nodes, g->row[n]);
    out_printf(out, "node_row[%u] = %u\n", nodes + 1, g->rows);
}

/* Writes the colours of the legend, and which of them occur.  Colours beyond
 * COLOURS_MAX share the last one, "other". */
static void write_colours(struct gantt *g, struct out *out)
{
    uint32_t colours = g->colour.count < COLOURS_MAX ? g->colour.count
                                                     : COLOURS_MAX;

    if (g->colour.count > COLOURS_MAX)
        g->colour.name[COLOURS_MAX - 1] = "other";
    plot_names(out, "kind", g->colour.name, colours, 36);
    out_printf(out, "kinds = %u\narray hue[%u]\narray shade[%u]\n", colours,
               colours, colours);
    out_text(out, "present = '");
    for (uint32_t c = 0, shown = 0; c < colours; c++)
        if (g->drawn >> c & 1)
            out_printf(out, "%s%u", shown++ == 0 ? "" : " ", c + 1);
    out_text(out, "'\n");
    for (uint32_t c = 0; c < colours; c++)
        out_printf(out, "hue[%u] = %u; shade[%u] = %u\n", c + 1,
                   g->hue[c] + 1, c + 1, g->shade[c]);
}

/* Returns the time that the axis counts from, the same for both sides. */
static double find_zero(const struct gantt *g)
{
    double first = INFINITY, last = 0;

    for (int s = 0; s < 2; s++)
        if (g->side[s].count > 0) {
            first = fmin(first, g->side[s].first_s);
            last = fmax(last, g->side[s].last_s);
        }
    return plot_zero(first, last);
}

/* Writes all that the template must know of the chart. */
static void write_head(struct gantt *g, struct out *out,
                       const struct gantt_kinds *label, bool gaps)
{
    const char *none = "";

    write_colours(g, out);
    out_printf(out, "seed = %.9g\nleft = %u\nright = %u\nrows = %u\n"
               "row_px = %g\nrows_left_out = %u\ncut = %d\ngaps = %d\n"
               "zero_s = %.15g\nstart_s = %.15g\nend_s = %.15g\n", g->seed,
               g->side[0].policy + 1,
               g->side[1].policy == UINT32_MAX || g->side[1].count == 0
                   ? 0 : g->side[1].policy + 1,
               g->rows, gantt_row_px(g), g->rows_left_out, g->cut, gaps,
               find_zero(g), g->start_s, g->end_s);
    plot_put_unit(out, plot_time_unit((g->end_s - g->start_s) / 3));
    write_chosen(g, out);
    write_pools(g, out);
    write_nodes(g, out);
    out_printf(out, "labels = %u\n", label->count);
    plot_names(out, "job_name", label->count > 0 ? label->name : &none,
               label->count > 0 ? label->count : 1, 16);
    plot_names(out, "bar_job", g->bar_job.count > 0 ? g->bar_job.name : &none,
               g->bar_job.count > 0 ? g->bar_job.count : 1, 40);
}

/* Writes two blocks of data a side and the labels: gaps come before the bars,
 * so that they lie under them. */
enum plot_made plot_make_gantt(const struct plot_source *source,
                               struct plot_sink *sink, struct err *err)
{
    struct gantt *g = arena_alloc(source->arena, 1, sizeof *g);
    struct gantt_kinds label = { NULL, 0, 0 };
    bool gaps = false;

    g->source = source;
    g->seed = NAN;
    choose_policies(g);
    if (!gantt_read(g, sink, err))
        return sink->skip != NULL ? PLOT_SKIPPED : PLOT_FAILED;
    sink->skip = "phases.csv has no phase on a GPU at the middle point";
    if (g->rows == 0)
        return PLOT_SKIPPED;
    if (!gantt_find_kinds(g, err))
        return PLOT_FAILED;
    out_text(sink->data, "# row_low row_high start_s end_s colour tone job"
                         " (colour 0: between two phases of one job; job 0: several)\n");
    for (unsigned side = 0; side < 2; side++) {
        out_printf(sink->data, "%s# policy %u: between phases\n",
                   side == 0 ? "" : "\n\n", side + 1);
        gaps = write_gaps(g, sink->data, &g->side[side]) || gaps;
        out_printf(sink->data, "\n\n# policy %u: phases\n", side + 1);
        write_runs(g, sink->data, &g->side[side]);
        out_printf(sink->data, "\n\n# policy %u: time_s, row and number of "
                   "the names of jobs\n", side + 1);
        gantt_put_labels(g, &g->side[side], &label, sink->data);
    }
    write_head(g, sink->head, &label, gaps);
    return PLOT_MADE;
}
