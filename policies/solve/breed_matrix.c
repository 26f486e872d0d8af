/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed_matrix.c - the rows of a matrix.
 */
#include "policies/policy.h"
#include "policies/solve/breed.h"

void breed_make_room(struct cs_breed *b, struct breed_matrix *m, uint32_t rows,
                     uint32_t cells)
{
    if (rows >= m->room) {
        uint32_t room = m->room;
        m->job = cs_grow(b->host, m->job, &room, rows, sizeof *m->job);
        m->end = cs_grow(b->host, m->end, &m->room, rows, sizeof *m->end);
    }
    if (cells >= m->cell_room)
        m->cell = cs_grow(b->host, m->cell, &m->cell_room, cells, sizeof *m->cell);
}

void breed_append(struct breed_matrix *m, uint32_t job, const struct cs_cell *cell,
                  uint32_t count)
{
    uint32_t at = breed_cell_count(m);

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        m->cell[at + i] = cell[i];
    m->job[m->count] = job;
    m->end[m->count++] = at + count;
}

uint32_t breed_find_row(const struct breed_matrix *m, uint32_t job)
{
    uint32_t from = 0, to = m->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (m->job[middle] < job)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}
