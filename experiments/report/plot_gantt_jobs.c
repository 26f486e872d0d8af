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
#include <string.h>

#include "experiments/results/grid.h"
#include "sim/base/arena.h"
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

/* A job that is drawn, in a hash table.  The table has a power of two of slots, and most
 * slots are empty: few jobs of a table of millions are drawn. */
struct job_of {
    uint64_t job;               /* GANTT_NO_JOB: an empty slot */
    uint32_t kind;              /* NO_KIND: jobs.csv does not say */
};

/* The hash table, with linear probing. */
struct jobs {
    struct gantt *g;
    struct job_of *slot;
    size_t mask;                /* slots - 1 */
};

/* Returns the slot of a job, or the empty one where it would stand. */
static struct job_of *find_slot(const struct jobs *jobs, uint64_t job)
{
    size_t at = (size_t)job & jobs->mask;

    while (jobs->slot[at].job != job && jobs->slot[at].job != GANTT_NO_JOB)
        at = (at + 1) & jobs->mask;
    return &jobs->slot[at];
}

/* Puts the jobs that are drawn into slots, four or more for each run. */
static void list_jobs(struct gantt *g, struct jobs *jobs)
{
    size_t runs = g->side[0].runs + g->side[1].runs, slots = 64;

    while (slots < 4 * runs)
        slots *= 2;
    jobs->g = g;
    jobs->slot = arena_alloc(g->source->arena, slots, sizeof *jobs->slot);
    jobs->mask = slots - 1;
    for (size_t i = 0; i < slots; i++)
        jobs->slot[i].job = GANTT_NO_JOB;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < g->side[s].runs; i++) {
            uint64_t job = g->side[s].run[i].job;

            *find_slot(jobs, job) = (struct job_of){ job, NO_KIND };
        }
}

/* Notes the kind of a job that is drawn. */
static void take_kind(void *self, const struct plot_job *row)
{
    struct jobs *jobs = self;
    struct gantt *g = jobs->g;
    struct job_of *found;

    if (row->seed != g->seed || row->point != g->source->grid->point_count / 2)
        return;
    found = find_slot(jobs, hash_text(HASH_START, row->name));
    if (found->job != GANTT_NO_JOB)
        found->kind = gantt_name(g, &g->job_kind, row->kind);
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

/* Gives each run its colour.  Kind by kind, so that the colours of one kind
 * stand together in the legend.  A folder without jobs.csv has bars without
 * kinds. */
bool gantt_find_kinds(struct gantt *g, struct err *err)
{
    struct plot_sink none = { NULL, NULL, NULL };
    struct jobs jobs;

    list_jobs(g, &jobs);
    if (!plot_jobs_read(g->source, take_kind, &jobs, &none, err) && none.skip == NULL)
        return false;
    for (uint32_t k = 0; k < g->job_kind.count + 1; k++)
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < g->side[s].runs; i++) {
                struct gantt_run *run = &g->side[s].run[i];
                uint32_t kind = find_slot(&jobs, run->job)->kind;

                if (kind == k || (kind == NO_KIND && k == g->job_kind.count))
                    run->colour = find_colour(g, kind, run->kind);
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

/* A run of the same job on the same rows makes the block longer; any other run
 * ends it, which writes its name, and begins a new one. */
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

/* At the end the last block of each row is written too. */
void gantt_put_labels(struct gantt *g, const struct gantt_side *side,
                      struct gantt_kinds *label, struct out *data)
{
    struct block *block = arena_alloc(g->source->arena, g->rows + 1,
                                      sizeof *block);

    for (size_t i = 0; i < side->runs; i++)
        for (uint32_t p = 0; p < side->run[i].places; p++) {
            struct gantt_place at = side->run[i].place[p];
            uint32_t row = g->row[at.node] + at.first;

            if (at.last < g->gpus[at.node])
                extend_block(g, &block[row], &side->run[i], row,
                             at.last - at.first + 1u, label, data);
        }
    for (uint32_t r = 0; r < g->rows; r++)
        write_block(g, &block[r], label, data);
    out_text(data, "-1 -1 1\n");        /* outside; gnuplot 5.4 dies of labels at NaN alone */
}
