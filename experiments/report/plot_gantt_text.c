/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt_text.c - the runs of phases.csv as numbers.
 *
 * A run in the spool is the numbers of a struct gantt_row, its places, its name, and what is
 * missing to the next multiple of 8 bytes.
 */
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gantt.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/spool.h"
#include "sim/text/csv.h"

/* The columns of phases.csv that are read. */
enum column {
    C_POINT, C_POLICY, C_SEED, C_JOB, C_PHASE, C_START, C_END, C_GPUS, C_NODES,
    C_COUNT
};
static const char *const column_name[C_COUNT] = {
    "point", "policy", "seed", "job", "phase", "start_s", "end_s", "gpus",
    "nodes"
};

/* One reading of the table. */
struct text {
    struct gantt *g;
    struct plot_trial trial;    /* of the row at hand */
    struct gantt_place *place;  /* its own */
    uint32_t places, room;
    gantt_row_fn *take;
    void *self;
};

/* Reads digits that stand at p, and moves it behind them.  Returns their value, at most
 * GANTT_NODES_MAX: nothing that is larger can be shown. */
static uint32_t read_number(const char **p)
{
    uint32_t value = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++)
        if (value < GANTT_NODES_MAX)
            value = value * 10 + (uint32_t)(**p - '0');
    return value < GANTT_NODES_MAX ? value : GANTT_NODES_MAX;
}

/* Reads "3:0-7 5:0+2": a blank begins another node, "+" joins runs of GPUs of one node.  A
 * node without GPUs is passed over.  Ends where something else stands, and returns that. */
static const char *read_places(struct text *text, const char *p)
{
    uint32_t node = 0, first, last;

    text->places = 0;
    for (;;) {
        bool same_node = *p == '+';

        while (*p == ' ' || *p == '+')
            p++;
        if (*p < '0' || *p > '9')
            return p;
        if (!same_node) {
            node = read_number(&p);
            if (*p != ':')
                continue;
            p++;
        }
        first = last = read_number(&p);
        if (*p == '-') {
            p++;
            last = read_number(&p);
        }
        if (node >= GANTT_NODES_MAX || first > last || last >= 64)
            return p;
        ARENA_ADD(text->g->source->arena, text->place, text->places, text->room,
                  (struct gantt_place){ (uint16_t)node, (uint8_t)first, (uint8_t)last });
    }
}

/* Takes a row if it is of the middle point, of a policy of the chart, and of
 * the first seed that was met; others are passed over, and so are runs without
 * GPUs or time. */
static bool read_row(struct text *text, const struct csv *in, const size_t *c,
                     struct err *err)
{
    struct gantt *g = text->g;
    const struct plot_trial *trial = &text->trial;
    struct gantt_row run = { .places = 0 };
    const char *rest;

    if (!plot_find_trial(g->source, in, &c[C_POINT], &text->trial, err))
        return false;
    if (trial->point != g->source->grid->point_count / 2 || trial->policy == UINT32_MAX ||
        (trial->policy != g->side[0].policy && trial->policy != g->side[1].policy))
        return true;
    if (!csv_number(in, c[C_START], &run.start_s, err) ||
        !csv_number(in, c[C_END], &run.end_s, err) ||
        !csv_number(in, c[C_GPUS], &run.gpus, err))
        return false;
    if (isnan(g->seed))
        g->seed = trial->seed;
    if (trial->seed != g->seed || !(run.gpus > 0) || !(run.end_s > run.start_s))
        return true;
    rest = read_places(text, csv_text(in, c[C_NODES]));
    run.cut = *rest != '\0' && strstr(rest, "...") != NULL;
    run.place = text->place;
    run.places = text->places;
    run.side = trial->policy == g->side[1].policy;
    run.kind = gantt_name(g, &g->kind, csv_text(in, c[C_PHASE]));
    run.job = csv_text(in, c[C_JOB]);
    run.job_bytes = (uint32_t)csv_field(in, c[C_JOB])->bytes + 1;
    text->take(text->self, &run);
    return true;
}

/* Reads phases.csv once, row by row, and hands on what the chart shows; rows of other
 * trials are passed over.  A row that cannot be read ends it: err is set. */
bool gantt_read_text(struct gantt *g, gantt_row_fn *take, void *self,
                     struct plot_sink *sink, struct err *err)
{
    struct text text = { .g = g, .take = take, .self = self };
    size_t column[C_COUNT];
    struct csv *in = plot_open(g->source, csv_phases.file, column_name, column, C_COUNT,
                               sink, err);
    enum csv_step step;

    if (in == NULL)
        return false;
    plot_cut(in, column, C_COUNT);
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!read_row(&text, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    return step == CSV_END;
}

/* ---- the spool ---- */

#define ALIGNED 8u
#define HEAD_BYTES offsetof(struct gantt_row, place)    /* the numbers */

_Static_assert(HEAD_BYTES == 3 * sizeof(double) + 3 * sizeof(uint32_t) +
               2 * sizeof(uint16_t), "there is no padding between them");
_Static_assert(HEAD_BYTES % ALIGNED == 0, "places stand where they may");

/* Returns the bytes of what follows the head, up to a multiple of ALIGNED. */
static size_t count_rest(const struct gantt_row *row)
{
    size_t bytes = row->places * sizeof *row->place + row->job_bytes;

    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* The numbers, then the places, then the name: what gantt_get_all() takes apart
 * again. */
void gantt_put(struct spool *spool, const struct gantt_row *row)
{
    size_t bytes = HEAD_BYTES + count_rest(row);
    size_t place_bytes = row->places * sizeof *row->place;
    char *to = spool_reserve(spool, bytes);

    memcpy(to, row, HEAD_BYTES);
    if (place_bytes > 0)
        memcpy(to + HEAD_BYTES, row->place, place_bytes);
    memcpy(to + HEAD_BYTES + place_bytes, row->job, row->job_bytes);
    spool_put(spool, bytes, bytes);
}

/* Takes the rows apart that gantt_put() put together.  Places and the name stand in
 * the reader's memory, and are good until the next row. */
bool gantt_get_all(const struct gantt *g, const struct spool *spool, gantt_row_fn *take,
                   void *self, struct err *err)
{
    struct err_pos pos = { g->source->dir, 0, 0 };
    struct spool_reader *reader = spool_read(spool, g->source->arena);

    while (spool_has_more(reader)) {
        struct gantt_row row;
        const char *from = spool_take(reader, HEAD_BYTES);

        if (from != NULL) {
            memcpy(&row, from, HEAD_BYTES);
            from = spool_take(reader, count_rest(&row));
        }
        if (from == NULL)
            return err_set(err, ERR_IO, pos, "a temporary file cannot be read: %s",
                           strerror(errno));
        row.place = (const struct gantt_place *)(const void *)from;
        row.job = from + row.places * sizeof *row.place;
        take(self, &row);
    }
    return true;
}
