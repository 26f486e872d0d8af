/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assign.c - a tool for policies that match: the assignment of rows to
 * columns of the least cost.
 *
 * The Hungarian method by shortest augmenting paths (Kuhn 1955; Jonker and
 * Volgenant 1987): rows enter one by one, each along a path of least reduced
 * cost to a column that is free; duals keep all reduced costs at least 0.
 * Equal paths: the lowest column.  Rows^2 x columns steps.
 *
 * Of machines whose places cost more and more only those that are taken and the
 * first that is free can be on a shortest path, and of machines that are alike,
 * places and all, the first: cs_assign_places() looks at no others, and gives what
 * cs_assign() gives on the matrix of all places.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/solve.h"
#include "sim/base/arena.h"

#define NONE UINT32_MAX

/* ---- any costs ------------------------------------------------------------ */

/* A matching under construction: rows entered so far are matched at least cost,
 * and all reduced costs are at least 0. */
struct matching {
    uint32_t rows, columns;
    const double *cost;
    double *u, *v;              /* duals of rows and columns */
    uint32_t *row_of;           /* of a column, or NONE */
    uint32_t *before;           /* column that comes before on the path */
    double *way;                /* least reduced cost to a column */
    bool *done;
};

/* The free column that ends the shortest path from a row; path in before. */
static uint32_t find_path(struct matching *m, uint32_t row)
{
    uint32_t at = NONE, next;

    for (uint32_t c = 0; c < m->columns; c++) {
        m->way[c] = INFINITY;
        m->done[c] = false;
        m->before[c] = NONE;
    }
    for (;;) {
        uint32_t r = at == NONE ? row : m->row_of[at];
        double so_far = at == NONE ? 0 : m->way[at];
        next = NONE;
        for (uint32_t c = 0; c < m->columns; c++) {
            if (m->done[c])
                continue;
            double way = so_far + m->cost[(size_t)r * m->columns + c] -
                         m->u[r] - m->v[c];
            if (way < m->way[c]) {
                m->way[c] = way;
                m->before[c] = at;
            }
            if (next == NONE || m->way[c] < m->way[next])
                next = c;
        }
        assert(next != NONE);
        m->done[next] = true;
        at = next;
        if (m->row_of[at] == NONE)
            return at;
    }
}

/* Matches one more row: adapts the duals of all columns on the way, then moves
 * the rows along the path. */
static void enter_row(struct matching *m, uint32_t row)
{
    uint32_t end = find_path(m, row);
    double length = m->way[end];

    m->u[row] += length;
    for (uint32_t c = 0; c < m->columns; c++)
        if (m->done[c] && c != end) {
            m->v[c] -= length - m->way[c];
            m->u[m->row_of[c]] += length - m->way[c];
        }
    while (m->before[end] != NONE) {
        m->row_of[end] = m->row_of[m->before[end]];
        end = m->before[end];
    }
    m->row_of[end] = row;
}

void cs_assign(uint32_t rows, uint32_t columns, const double *cost,
               uint32_t *column)
{
    struct arena *arena = arena_new(0);
    struct matching m = {
        .rows = rows, .columns = columns, .cost = cost,
        .u = arena_alloc(arena, (size_t)rows + 1, sizeof *m.u),
        .v = arena_alloc(arena, columns, sizeof *m.v),
        .row_of = arena_alloc(arena, columns, sizeof *m.row_of),
        .before = arena_alloc(arena, columns, sizeof *m.before),
        .way = arena_alloc(arena, columns, sizeof *m.way),
        .done = arena_alloc(arena, columns, sizeof *m.done),
    };

    assert(columns >= rows && columns > 0);
    for (uint32_t c = 0; c < columns; c++)
        m.row_of[c] = NONE;
    for (uint32_t r = 0; r < rows; r++)
        enter_row(&m, r);
    for (uint32_t c = 0; c < columns; c++)
        if (m.row_of[c] != NONE)
            column[m.row_of[c]] = c;
    arena_free(arena);
}

/* ---- places of machines ----------------------------------------------------- */

/* A place that a path may use. */
struct place {
    uint32_t machine, column, row;      /* row: that has it, or NONE */
    double k;                   /* 1: the last of its machine */
    double v, way;
    uint32_t before;            /* on the path, or NONE */
    bool done;
};

struct places {
    const struct cs_places *in;
    double *u, *v;              /* duals of rows and columns */
    uint32_t *row_of;           /* of a column */
    uint32_t *taken;            /* of a machine: its first places */
    struct place *place;        /* in order of columns */
    uint32_t count;
};

/* Do two machines cost the same at every place?  Then one of them need be
 * looked at. */
static bool is_alike(const struct cs_places *in, uint32_t a, uint32_t b)
{
    return in->kind[a] == in->kind[b] && in->free_s[a] == in->free_s[b];
}

/* Lists the places that a shortest path may use: those that are taken, and the
 * first free one of each machine, but of neighbours that are alike only the
 * first. */
static void open_places(struct places *p)
{
    const struct cs_places *in = p->in;

    p->count = 0;
    for (uint32_t m = 0; m < in->machines; m++) {
        bool again = m > 0 && is_alike(in, m, m - 1) &&
                     p->taken[m] == p->taken[m - 1];
        uint32_t end = p->taken[m] + !again;
        for (uint32_t k = 0; k < end && k < in->places; k++) {
            uint32_t column = m * in->places + k;
            p->place[p->count++] = (struct place) {
                .machine = m, .column = column, .k = k + 1, .way = INFINITY,
                .row = p->row_of[column], .v = p->v[column], .before = NONE };
        }
    }
}

/* As find_path(): the free place that ends the shortest path from a row. */
static uint32_t search_places(struct places *p, uint32_t row)
{
    const struct cs_places *in = p->in;
    uint32_t at = NONE, next;

    for (;;) {
        uint32_t r = at == NONE ? row : p->place[at].row;
        double so_far = at == NONE ? 0 : p->place[at].way, u = p->u[r];
        const double *time_s = in->time_s + (size_t)r * in->kinds;
        next = NONE;
        for (uint32_t i = 0; i < p->count; i++) {
            struct place *place = &p->place[i];
            uint32_t m = place->machine;
            if (place->done)
                continue;
            double cost = place->k * time_s[in->kind[m]] + in->free_s[m];
            double way = so_far + cost - u - place->v;
            if (way < place->way) {
                place->way = way;
                place->before = at;
            }
            if (next == NONE || place->way < p->place[next].way)
                next = i;
        }
        assert(next != NONE);
        p->place[next].done = true;
        at = next;
        if (p->place[at].row == NONE)
            return at;
    }
}

/* As enter_row(), on the places of machines. */
static void enter_places(struct places *p, uint32_t row)
{
    open_places(p);
    uint32_t end = search_places(p, row);
    double length = p->place[end].way;

    p->u[row] += length;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct place *place = &p->place[i];
        if (!place->done || i == end)
            continue;
        p->v[place->column] -= length - place->way;
        p->u[place->row] += length - place->way;
    }
    p->taken[p->place[end].machine]++;
    while (p->place[end].before != NONE) {
        uint32_t before = p->place[end].before;
        p->row_of[p->place[end].column] = p->place[before].row;
        end = before;
    }
    p->row_of[p->place[end].column] = row;
}

void cs_assign_places(const struct cs_places *in, uint32_t *column)
{
    struct arena *arena = arena_new(0);
    uint32_t columns = in->machines * in->places;
    struct places p = {
        .in = in,
        .u = arena_alloc(arena, (size_t)in->rows + 1, sizeof *p.u),
        .v = arena_alloc(arena, columns, sizeof *p.v),
        .row_of = arena_alloc(arena, columns, sizeof *p.row_of),
        .taken = arena_alloc(arena, in->machines, sizeof *p.taken),
        .place = arena_alloc(arena, in->rows + in->machines, sizeof *p.place),
    };

    assert(columns >= in->rows && columns > 0);
    for (uint32_t c = 0; c < columns; c++)
        p.row_of[c] = NONE;
    for (uint32_t r = 0; r < in->rows; r++)
        enter_places(&p, r);
    for (uint32_t c = 0; c < columns; c++)
        if (p.row_of[c] != NONE)
            column[p.row_of[c]] = c;
    arena_free(arena);
}
