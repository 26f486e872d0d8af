/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed_child.c - a child of two matrices: rows of one up to a cut and of the other from
 * there.  Then rows fall back to what the job holds now, and lose GPUs of single nodes.  Last,
 * free GPUs of each node go to a job drawn from all, and to one that has GPUs there.
 */
#include <string.h>

#include "policies/policy.h"
#include "policies/solve/breed.h"

/* A walk over the rows of two matrices, one up to the cut and the other from there. */
struct crossing {
    const struct breed_matrix *m[2];
    uint32_t at[2], end[2];
};

/* Appends a row as it is mutated: it may be what the job holds, and single nodes drop
 * out. */
static void append_mutated(struct cs_breed *b, uint32_t job, const struct cs_cell *cell,
                           uint32_t count)
{
    struct breed_matrix *m = &b->child;
    uint32_t begin = breed_cell_count(m), at = begin;

    if (breed_draw_tenth(b)) {
        cell = b->job[job].ask->now;
        count = b->job[job].ask->now_count;
    }
    if (!breed_draw_tenth(b)) {
        breed_append(m, job, cell, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!breed_draw_tenth(b))
            m->cell[at++] = cell[i];
    if (at == begin)
        return;
    m->job[m->count] = job;
    m->end[m->count++] = at;
}

/* Crosses two matrices and mutates the rows.  A row without GPUs, of a job that holds none
 * now, stays so whatever is drawn. */
static void cross(struct cs_breed *b, const struct breed_matrix *x,
                  const struct breed_matrix *y, uint32_t cut)
{
    struct crossing c = { { x, y }, { 0, breed_find_row(y, cut) },
                          { breed_find_row(x, cut), y->count } };
    uint32_t side = 0, h = 0, next = 0;

    b->child.count = 0;
    for (;;) {
        side += side == 0 && c.at[0] == c.end[0];
        const struct breed_matrix *m = c.m[side];
        uint32_t row = c.at[side];
        uint32_t mine = row < c.end[side] ? m->job[row] : BREED_NONE;
        uint32_t held = h < b->helds ? b->held[h] : BREED_NONE;
        uint32_t job = mine < held ? mine : held;
        if (job == BREED_NONE)
            break;
        breed_skip(b, 2 * (uint64_t)(job - next));
        next = job + 1;
        h += job == held;
        if (job == mine) {
            uint32_t begin = breed_begin_of(m, row);
            append_mutated(b, job, m->cell + begin, m->end[row] - begin);
            c.at[side]++;
        } else {
            append_mutated(b, job, NULL, 0);
        }
    }
    breed_skip(b, 2 * (uint64_t)(b->jobs - next));
}

/* Counts the GPUs and jobs of each node, into `used` and `users`.  False: no node has free GPUs. */
static bool count_used(struct cs_breed *b)
{
    const struct breed_matrix *m = &b->child;
    uint32_t cells = breed_cell_count(m);
    bool any = false;

    memset(b->used, 0, b->nodes * sizeof *b->used);
    memset(b->users, 0, b->nodes * sizeof *b->users);
    for (uint32_t i = 0; i < cells; i++) {
        b->used[m->cell[i].node] += m->cell[i].gpus;
        b->users[m->cell[i].node]++;
    }
    for (uint32_t n = 0; n < b->nodes; n++)
        any |= b->used[n] < b->node[n].gpus;
    return any;
}

/* Lists the cells of each node with free GPUs, in the order of jobs: a sort by counting.  Before
 * the second loop column[n] is where the list of node n begins, and behind it where it ends. */
static void list_columns(struct cs_breed *b)
{
    const struct breed_matrix *m = &b->child;
    uint32_t sum = 0;

    for (uint32_t n = 0; n < b->nodes; n++) {
        b->column[n] = sum;
        sum += b->used[n] < b->node[n].gpus ? b->users[n] : 0;
    }
    for (uint32_t r = 0, i = 0; r < m->count; r++)
        for (; i < m->end[r]; i++) {
            uint32_t n = m->cell[i].node;
            if (b->used[n] >= b->node[n].gpus)
                continue;
            b->entry[b->column[n]] = i;
            b->entry_job[b->column[n]++] = m->job[r];
        }
}

/* Draws how many more GPUs of a node a job gets that has `gpus` of them: 0 to all others. */
static uint32_t draw_gift(struct cs_breed *b, uint32_t node, uint32_t gpus)
{
    return breed_draw_below(b, b->node[node].gpus - gpus + 1);
}

/* Puts a cell into the list of gifts, behind the others of its job.  A gift is a new cell; it
 * cannot stand in the matrix before all nodes are done, as rows lie one behind the other. */
static void add_gift(struct cs_breed *b, uint32_t job, uint32_t node, uint32_t gpus)
{
    uint32_t i = b->gifts++;

    b->gift[i] = (struct breed_gift){ { node, gpus }, BREED_NONE };
    if (b->gift_first[job] == BREED_NONE)
        b->gift_first[job] = i;
    else
        b->gift[b->gift_last[job]].next = i;
    b->gift_last[job] = i;
}

/* Gives free GPUs of a node away: first to a job that is drawn from all jobs, then to one
 * that is drawn from those that have GPUs of the node. */
static void give_node(struct cs_breed *b, uint32_t n)
{
    uint32_t users = b->users[n], *job = b->entry_job + (b->column[n] - users);
    const uint32_t *entry = b->entry + (b->column[n] - users);
    struct cs_cell *cell = b->child.cell;
    uint32_t pick = breed_draw_below(b, b->jobs), at = 0, gift = 0;

    while (at < users && job[at] < pick)
        at++;
    bool there = at < users && job[at] == pick;
    if (there)
        cell[entry[at]].gpus += draw_gift(b, n, cell[entry[at]].gpus);
    else
        gift = draw_gift(b, n, 0);
    if (users > 0) {
        uint32_t k = breed_draw_below(b, users);
        uint32_t *gpus = gift > 0 && k == at ? &gift :
                         &cell[entry[gift > 0 && k > at ? k - 1 : k]].gpus;
        if (*gpus < b->node[n].gpus)
            *gpus += draw_gift(b, n, *gpus);
    }
    if (gift > 0)
        add_gift(b, pick, n, gift);
}

void breed_make_child(struct cs_breed *b, const struct breed_matrix *x,
                      const struct breed_matrix *y, uint32_t cut)
{
    uint32_t held = 0, room = b->entry_room;

    for (uint32_t h = 0; h < b->helds; h++)
        held += b->job[b->held[h]].ask->now_count;
    uint32_t cells = breed_cell_count(x) + breed_cell_count(y) + held;
    breed_make_room(b, &b->child, b->jobs, cells);
    b->entry_job = cs_grow(b->host, b->entry_job, &room, cells,
                           sizeof *b->entry_job);
    b->entry = cs_grow(b->host, b->entry, &b->entry_room, cells, sizeof *b->entry);
    cross(b, x, y, cut);
    if (!count_used(b))
        return;
    list_columns(b);
    for (uint32_t n = 0; n < b->nodes; n++)
        if (b->used[n] < b->node[n].gpus)
            give_node(b, n);
}
