/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_assign.c - a tool for policies that match: the assignment of rows to
 * columns of the least cost.
 *
 * The Hungarian method by shortest augmenting paths (Kuhn 1955; Jonker and
 * Volgenant 1987): rows enter one by one, each along a path of least reduced
 * cost to a column that is free; duals keep all reduced costs at least 0.
 * Equal paths: the lowest column.  Rows^2 x columns steps.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "sim/arena.h"

#define NONE UINT32_MAX

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
static uint32_t search(struct matching *m, uint32_t row)
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

static void enter(struct matching *m, uint32_t row)
{
    uint32_t end = search(m, row);
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
        enter(&m, r);
    for (uint32_t c = 0; c < columns; c++)
        if (m.row_of[c] != NONE)
            column[m.row_of[c]] = c;
    arena_free(arena);
}
