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
 * first that is free can be on a shortest path; of machines without a taken place only
 * those that are free first, by kind, up to what sums are rounded by; and of such that
 * are free at one time the first.  cs_assign_places() looks at no others, and gives what
 * cs_assign() gives on the matrix of all places.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/solve.h"
#include "sim/base/arena.h"

#define NONE UINT32_MAX
#define NEVER_S 1e14            /* of a time that no row is to take */

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

/* The machines of a kind that rows may come to: one more than there are rows, by the
 * time at which they are free, of equals by number. */
struct firsts {
    uint32_t *machine;
    uint32_t count;
    uint32_t untaken;           /* those before it have taken places */
};

struct places {
    const struct cs_places *in;
    double *u, *v;              /* duals of rows and columns */
    uint32_t *row_of;           /* of a column */
    uint32_t *taken;            /* of a machine: its first places */
    struct place *place;        /* in order of columns */
    uint32_t count;
    struct firsts *first;       /* by kind */
    double close_s;             /* far above what sums are rounded by */
    uint32_t *open, opens;      /* machines that are looked at */
    uint32_t *used, useds;      /* machines with taken places, in order */
    bool all;                   /* all machines are looked at */
};

/* Do two machines cost the same at every place?  Then one of them need be
 * looked at. */
static bool is_alike(const struct cs_places *in, uint32_t a, uint32_t b)
{
    return in->kind[a] == in->kind[b] && in->free_s[a] == in->free_s[b];
}

/* Is machine a free before b, or as early and of a lower number? */
static bool is_earlier(const struct cs_places *in, uint32_t a, uint32_t b)
{
    return in->free_s[a] != in->free_s[b] ? in->free_s[a] < in->free_s[b] : a < b;
}

/* Moves a machine down a heap, whose root is the latest. */
static void sink_machine(const struct cs_places *in, uint32_t *heap, uint32_t count,
                         uint32_t hole)
{
    uint32_t item = heap[hole], child;

    while ((child = 2 * hole + 1) < count) {
        if (child + 1 < count && is_earlier(in, heap[child], heap[child + 1]))
            child++;
        if (!is_earlier(in, item, heap[child]))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = item;
}

/* Adds a machine to the earliest of its kind, of which at most `most` are kept. */
static void add_first(const struct cs_places *in, struct firsts *first, uint32_t most,
                      uint32_t machine)
{
    if (first->count < most) {
        first->machine[first->count++] = machine;
        for (uint32_t i = first->count == most ? most / 2 : 0; i-- > 0;)
            sink_machine(in, first->machine, most, i);
    } else if (is_earlier(in, machine, first->machine[0])) {
        first->machine[0] = machine;
        sink_machine(in, first->machine, most, 0);
    }
}

/* Sorts the earliest machines of a kind, the earliest first. */
static void sort_first(const struct cs_places *in, struct firsts *first)
{
    for (uint32_t i = first->count / 2; i-- > 0;)
        sink_machine(in, first->machine, first->count, i);
    for (uint32_t end = first->count; end-- > 1;) {
        uint32_t last = first->machine[0];
        first->machine[0] = first->machine[end];
        first->machine[end] = last;
        sink_machine(in, first->machine, end, 0);
    }
}

/* Bounds what sums of costs and duals may be rounded by, as long as no row is at a
 * place where it takes NEVER_S or longer. */
static double find_close_s(const struct cs_places *in)
{
    double most_s = 1, free_s = 0;

    for (size_t i = 0; i < (size_t)in->rows * in->kinds; i++)
        if (in->time_s[i] < NEVER_S)
            most_s = fmax(most_s, in->time_s[i]);
    for (uint32_t m = 0; m < in->machines; m++)
        free_s = fmax(free_s, in->free_s[m]);
    return 1e-14 * (in->rows + 1) * (in->rows * most_s + free_s);
}

/* Finds the earliest machines of each kind.  If one that is left out is later by less
 * than sums are rounded by, all are looked at. */
static void find_firsts(struct places *p, struct arena *arena)
{
    const struct cs_places *in = p->in;
    uint32_t most = in->rows + 1 < in->machines ? in->rows + 1 : in->machines;

    for (uint32_t k = 0; k < in->kinds; k++)
        p->first[k].machine = arena_alloc(arena, most, sizeof *p->first[k].machine);
    for (uint32_t m = 0; m < in->machines; m++)
        add_first(in, &p->first[in->kind[m]], most, m);
    for (uint32_t k = 0; k < in->kinds; k++)
        sort_first(in, &p->first[k]);
    for (uint32_t m = 0; m < in->machines; m++) {
        const struct firsts *first = &p->first[in->kind[m]];
        double last_s = in->free_s[first->machine[first->count - 1]];
        p->all |= in->free_s[m] > last_s && in->free_s[m] <= last_s + p->close_s;
    }
}

/* Opens a machine, unless it is open; they stand in order. */
static void open_machine(struct places *p, uint32_t machine)
{
    uint32_t at = p->opens;

    while (at > 0 && p->open[at - 1] > machine)
        at--;
    if (at > 0 && p->open[at - 1] == machine)
        return;
    for (uint32_t i = p->opens++; i > at; i--)
        p->open[i] = p->open[i - 1];
    p->open[at] = machine;
}

/* Opens, of the machines of a kind without taken places, those that are free first. */
static void open_firsts(struct places *p, struct firsts *first)
{
    const double *free_s = p->in->free_s;

    while (first->untaken < first->count && p->taken[first->machine[first->untaken]] > 0)
        first->untaken++;
    uint32_t at = first->untaken;
    for (uint32_t i = at; i < first->count; i++) {
        uint32_t m = first->machine[i];
        if (free_s[m] > free_s[first->machine[at]] + p->close_s)
            break;
        if (p->taken[m] == 0 && (i == at || free_s[m] != free_s[first->machine[i - 1]] ||
                                 p->taken[first->machine[i - 1]] > 0))
            open_machine(p, m);
    }
}

/* Lists the places of a machine that a shortest path may use: those that are taken, and
 * the first free one, unless it is passed over. */
static void list_places(struct places *p, uint32_t machine, bool passes)
{
    uint32_t places = p->in->places, end = p->taken[machine] + !passes;

    for (uint32_t k = 0; k < end && k < places; k++) {
        uint32_t column = machine * places + k;
        p->place[p->count++] = (struct place) {
            .machine = machine, .column = column, .k = k + 1, .way = INFINITY,
            .row = p->row_of[column], .v = p->v[column], .before = NONE };
    }
}

/* Lists the places that a shortest path may use, in the order of columns. */
static void open_places(struct places *p)
{
    p->count = 0;
    if (p->all) {
        for (uint32_t m = 0; m < p->in->machines; m++)
            list_places(p, m, m > 0 && is_alike(p->in, m, m - 1) &&
                                  p->taken[m] == p->taken[m - 1]);
        return;
    }
    p->opens = p->useds;
    for (uint32_t i = 0; i < p->useds; i++)
        p->open[i] = p->used[i];
    for (uint32_t k = 0; k < p->in->kinds; k++)
        open_firsts(p, &p->first[k]);
    for (uint32_t i = 0; i < p->opens; i++)
        list_places(p, p->open[i], false);
}

/* A path ends at a free place of the machine, which is taken from now on.  `used` lists the
 * machines with a taken place, ascending. */
static void take_place(struct places *p, uint32_t machine)
{
    uint32_t at = p->useds;

    if (p->taken[machine]++ > 0)
        return;
    for (; at > 0 && p->used[at - 1] > machine; at--)
        p->used[at] = p->used[at - 1];
    p->used[at] = machine;
    p->useds++;
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
    if (!p->all && !(p->place[end].way < NEVER_S)) {
        p->all = true;
        open_places(p);
        end = search_places(p, row);
    }
    double length = p->place[end].way;

    p->u[row] += length;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct place *place = &p->place[i];
        if (!place->done || i == end)
            continue;
        p->v[place->column] -= length - place->way;
        p->u[place->row] += length - place->way;
    }
    take_place(p, p->place[end].machine);
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
        .first = arena_alloc(arena, in->kinds, sizeof *p.first),
        .close_s = find_close_s(in),
        .open = arena_alloc(arena, in->machines, sizeof *p.open),
        .used = arena_alloc(arena, in->rows, sizeof *p.used),
    };

    assert(columns >= in->rows && columns > 0);
    for (uint32_t c = 0; c < columns; c++)
        p.row_of[c] = NONE;
    find_firsts(&p, arena);
    for (uint32_t r = 0; r < in->rows; r++)
        enter_places(&p, r);
    for (uint32_t c = 0; c < columns; c++)
        if (p.row_of[c] != NONE)
            column[p.row_of[c]] = c;
    arena_free(arena);
}
