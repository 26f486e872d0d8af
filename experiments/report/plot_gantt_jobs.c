/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt_jobs.c - whose bars those of a Gantt chart are.
 *
 * A kind of job has a hue, a phase its lightness; kinds stand in jobs.csv.
 * Where a job holds the same GPUs long enough for its name to be read, the
 * name stands on them once.
 */
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gantt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/text/csv.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define LABEL_CHARACTERS 12
/* More names than a reader reads; gnuplot slows with each. */
#define LABELS_MAX 600u
#define CHARACTER_PX 7.5        /* of small letters, and of the panels */
#define LETTER_PX 13.0
#define PANELS_PX 1090.0
#define NO_KIND UINT32_MAX

struct job_of {
    uint64_t job;
    uint32_t kind;              /* NO_KIND: jobs.csv does not say */
};

/* For qsort(): by the number of the job. */
static int compare_jobs(const void *a, const void *b)
{
    const struct job_of *x = a, *y = b;

    return (x->job > y->job) - (x->job < y->job);
}

/* Returns the jobs that are drawn, each once, sorted by hash; stores their number. */
static struct job_of *list_jobs(struct gantt *g, size_t *count)
{
    size_t runs = g->side[0].runs + g->side[1].runs, kept = 0;
    struct job_of *job = arena_alloc(g->source->arena, runs + 1, sizeof *job);

    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < g->side[s].runs; i++)
            job[kept++] = (struct job_of){ g->side[s].run[i].job, NO_KIND };
    if (kept > 0)
        qsort(job, kept, sizeof *job, compare_jobs);
    *count = 0;
    for (size_t i = 0; i < kept; i++)
        if (*count == 0 || job[*count - 1].job != job[i].job)
            job[(*count)++] = job[i];
    return job;
}

enum kind_column { K_POINT, K_SEED, K_JOB, K_KIND, K_COUNT };
static const char *const kind_name[K_COUNT] = {
    "point", "seed", "job", "kind"
};

/* Only jobs of the trials that are drawn. */
static bool read_kind(struct gantt *g, struct job_of *job, size_t count,
                      const struct csv *in, const size_t *c,
                      struct err *err)
{
    const struct grid *grid = g->source->grid;
    struct job_of key = { hash_text(HASH_START, csv_text(in, c[K_JOB])),
                          NO_KIND }, *found;
    double seed;

    if (!csv_number(in, c[K_SEED], &seed, err))
        return false;
    if (seed != g->seed || grid_point(grid, csv_text(in, c[K_POINT])) !=
                               grid->point_count / 2)
        return true;
    found = bsearch(&key, job, count, sizeof *job, compare_jobs);
    if (found != NULL)
        found->kind = gantt_name(g, &g->job_kind,
                                 csv_text(in, c[K_KIND]));
    return true;
}

/* Reads the kind of each drawn job.  A folder without jobs.csv has bars without
 * kinds. */
static bool read_kinds(struct gantt *g, struct job_of *job, size_t count,
                       struct err *err)
{
    struct plot_sink none = { NULL, NULL, NULL };
    size_t column[K_COUNT];
    struct csv *in;
    enum csv_step step;

    if (!path_is_file(path_join(g->source->arena, g->source->dir,
                                csv_jobs.file)))
        return true;
    in = plot_open(g->source, csv_jobs.file, kind_name, column, K_COUNT,
                   &none, err);
    if (in == NULL)
        return false;
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!read_kind(g, job, count, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    return step == CSV_END;
}

/* Returns the colour of a kind of job in a phase, made at its first use.  Moves of
 * state are one colour for all kinds. */
static uint32_t find_colour(struct gantt *g, uint32_t kind, uint32_t phase)
{
    const char *name = g->kind.name[phase];
    uint32_t colour, known = g->colour.count, room = g->colour.room;

    if (g->job_kind.count > 1 && gantt_shade(name) == GANTT_DARKEST)
        name = "moving state";          /* black for every job */
    else if (kind != NO_KIND && g->job_kind.count > 1)
        name = text_format(g->source->arena, "%s: %s",
                           g->job_kind.name[kind], name);
    colour = gantt_name(g, &g->colour, name);
    if (g->colour.room > room) {
        g->hue = arena_grow(g->source->arena, g->hue, room, g->colour.room,
                            sizeof *g->hue);
        g->shade = arena_grow(g->source->arena, g->shade, room,
                              g->colour.room, sizeof *g->shade);
    }
    if (colour == known) {
        g->hue[colour] = kind == NO_KIND ? 0 : kind;
        g->shade[colour] = gantt_shade(g->kind.name[phase]);
    }
    return colour;
}

/* Kind by kind, so that colours of one kind stand together in the legend. */
bool gantt_find_kinds(struct gantt *g, struct err *err)
{
    size_t count;
    struct job_of *job = list_jobs(g, &count);

    if (!read_kinds(g, job, count, err))
        return false;
    for (uint32_t k = 0; k < g->job_kind.count + 1; k++)    /* kind by kind */
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < g->side[s].runs; i++) {
                struct job_of key = { g->side[s].run[i].job, NO_KIND };
                uint32_t kind = ((struct job_of *)bsearch(
                    &key, job, count, sizeof *job, compare_jobs))->kind;

                if (kind == k || (kind == NO_KIND && k == g->job_kind.count))
                    g->side[s].run[i].colour =
                        find_colour(g, kind, g->side[s].run[i].kind);
            }
    return true;
}

/* A job on the same GPUs of one node, phase after phase. */
struct block {
    double start_s, end_s;
    uint64_t job;
    const char *name;
    uint32_t row, rows;
};

/* Writes a job's name in the middle of its block, if it is wide and high enough
 * for the letters.  Long names are cut at their front, since they differ at their
 * end. */
static void write_block(struct gantt *g, const struct block *block,
                        struct gantt_kinds *label, struct out *data)
{
    double from = fmax(block->start_s, g->start_s);
    double to = fmin(block->end_s, g->end_s);
    double panel = g->side[1].count > 0 && g->side[0].count > 0
        ? PANELS_PX / 2 : PANELS_PX;
    double width = (to - from) / (g->end_s - g->start_s) * panel;
    const char *name = block->rows > 0 ? block->name : "";
    size_t chars = strlen(name);

    if (chars > LABEL_CHARACTERS) {     /* names differ at their end */
        name += chars - 6;
        while ((*name & 0xc0) == 0x80)          /* a letter stays whole */
            name--;
        name = text_format(g->source->arena, "\u2026%s", name);
        chars = 7;
    }
    if (block->rows == 0 || label->count >= LABELS_MAX ||
        width < CHARACTER_PX * (double)chars + 6 ||
        block->rows * gantt_row_px(g) < LETTER_PX)
        return;
    plot_time(data, (from + to) / 2);
    out_printf(data, " %g %u\n", block->row + block->rows / 2.,
               gantt_name(g, label, name) + 1);
}

/* A run of the job on the same rows continues its block, another one ends it. */
static void extend_block(struct gantt *g, struct block *block,
                         const struct gantt_run *run, uint32_t row, uint32_t rows,
                         struct gantt_kinds *label, struct out *data)
{
    if (block->rows == rows && block->job == run->job) {
        block->end_s = fmax(block->end_s, run->end_s);
        return;
    }
    write_block(g, block, label, data);
    *block = (struct block){ run->start_s, run->end_s, run->job, run->name,
                             row, rows };
}

void gantt_put_labels(struct gantt *g, const struct gantt_side *side,
                      struct gantt_kinds *label, struct out *data)
{
    struct block *block = arena_alloc(g->source->arena, g->rows + 1,
                                      sizeof *block);
    uint32_t first, last, node = 0;

    for (size_t i = 0; i < side->runs; i++) {
        const char *text = side->run[i].nodes;

        while (gantt_next_gpus(&text, &node, &first, &last))
            if (last < g->gpus[node])
                extend_block(g, &block[g->row[node] + first], &side->run[i],
                             g->row[node] + first, last - first + 1, label, data);
    }
    for (uint32_t r = 0; r < g->rows; r++)
        write_block(g, &block[r], label, data);
    out_text(data, "-1 -1 1\n");        /* outside; gnuplot 5.4 dies of labels at NaN alone */
}
