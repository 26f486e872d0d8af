/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed_repair.c - makes a matrix one that may be, row by row in the order of the list,
 * each by what the rows before it left, and adds up its fitness.
 *
 * No node has two jobs that span nodes, since they would slow each other down; no job has
 * more than its most, GPUs of two pools, or a size that it may not have; no node gives more
 * GPUs, cores or memory than it has.
 */
#include <math.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/solve/breed.h"

#define POOLS 32u
#define LEAST 1e-3              /* gain of a job without GPUs, as in Pollux's simulator */

/* Returns what a gain adds to the mean that is maximized: by its exponent p, of which 0
 * is the geometric mean.  LEAST keeps a gain of 0 finite. */
static double term_of(const struct cs_breed *b, double gain)
{
    return b->asks.p == 0 ? log(fmax(gain, LEAST)) : pow(gain + LEAST, b->asks.p);
}

/* Reads a row with its gifts into b->row.  Returns its cells. */
static uint32_t read_row(struct cs_breed *b, uint32_t job, const struct cs_cell *cell,
                         uint32_t count)
{
    uint32_t gift = b->gift_first[job], n = 0;

    if (gift == BREED_NONE) {
        for (; n < count; n++)
            b->row[n] = cell[n];
        return n;
    }
    for (uint32_t i = 0; i < count || gift != BREED_NONE;)
        if (gift == BREED_NONE || (i < count && cell[i].node < b->gift[gift].cell.node)) {
            b->row[n++] = cell[i++];
        } else {
            b->row[n++] = b->gift[gift].cell;
            gift = b->gift[gift].next;
        }
    b->gift_first[job] = BREED_NONE;
    return n;
}

/* Bounds a row by the GPUs that are left.  Returns its GPUs. */
static uint32_t bound_gpus(struct cs_breed *b, uint32_t count)
{
    bool spans = count > 1;
    uint32_t gpus = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct cs_cell *cell = &b->row[i];
        uint32_t most = spans && b->taken[cell->node] ? 0 : b->left[cell->node];
        if (cell->gpus > most)
            cell->gpus = most;
        gpus += cell->gpus;
    }
    return gpus;
}

/* Bounds a row by the cores and the memory that its nodes have left.  Returns its
 * GPUs. */
static uint32_t bound_hosts(struct cs_breed *b, const double *each, uint32_t count)
{
    uint32_t gpus = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct cs_cell *cell = &b->row[i];
        const double *left = b->host_left + (size_t)cell->node * CS_BREED_HOST;
        for (uint32_t k = 0; k < CS_BREED_HOST; k++)
            if (each[k] > 0 && each[k] * cell->gpus > left[k])
                cell->gpus = (uint32_t)fmax(0, floor(left[k] / each[k]));
        gpus += cell->gpus;
    }
    return gpus;
}

/* Takes the cores and the memory of a row. */
static void take_hosts(struct cs_breed *b, const double *each, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < CS_BREED_HOST; k++)
            if (each[k] > 0)
                b->host_left[(size_t)b->row[i].node * CS_BREED_HOST + k] -=
                    each[k] * b->row[i].gpus;
}

/* Trims a row to `most` GPUs; those of node `from` and of the nodes after it, in a circle,
 * are kept first. */
static void trim_row(struct cs_breed *b, uint32_t count, uint32_t from, uint32_t most)
{
    uint32_t first = 0;

    while (first < count && b->row[first].node < from)
        first++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = first + i < count ? first + i : first + i - count;
        if (b->row[at].gpus > most)
            b->row[at].gpus = most;
        most -= b->row[at].gpus;
    }
}

/* Keeps only the GPUs of the pool of which the row has most: types do not mix.  Returns
 * how many they are. */
static uint32_t keep_one_pool(struct cs_breed *b, uint32_t count)
{
    uint32_t gpus[POOLS] = { 0 }, best = 0;

    for (uint32_t i = 0; i < count; i++)
        gpus[b->node[b->row[i].node].pool] += b->row[i].gpus;
    for (uint32_t p = 1; p < b->pools; p++)
        if (gpus[p] > gpus[best])
            best = p;
    for (uint32_t i = 0; i < count; i++)
        if (b->node[b->row[i].node].pool != best)
            b->row[i].gpus = 0;
    return gpus[best];
}

/* Drops the cells that have become 0.  Returns how many are left. */
static uint32_t drop_empty(struct cs_breed *b, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (b->row[i].gpus > 0)
            b->row[kept++] = b->row[i];
    return kept;
}

const struct breed_known *breed_know(struct cs_breed *b, uint32_t j, uint32_t pool, bool spans,
                                     uint32_t gpus)
{
    struct breed_job *job = &b->job[j];
    struct breed_known *known =
        &job->known[(size_t)(pool * 2 + spans) * (job->ask->most + 1) + gpus];

    if (known->gain < 0) {
        double gain = b->asks.gain(b->host, b->asks.self, j, pool, gpus, spans);
        known->gain = gain > 0 ? gain : 0;
        known->stays = term_of(b, gain);
        known->term = term_of(b, job->ask->now_count > 0 ? gain * job->ask->moved : gain);
    }
    return known;
}

uint32_t breed_size(struct cs_breed *b, uint32_t j, uint32_t gpus)
{
    uint32_t *size = &b->job[j].size[gpus];

    if (*size == BREED_NONE)
        *size = b->asks.size(b->host, b->asks.self, j, gpus);
    return *size;
}

/* Repairs the row.  NULL: nothing of it is left.  It always draws one number, and a second
 * one where the size is not allowed. */
static const struct breed_known *repair_row(struct cs_breed *b, uint32_t j, uint32_t *count)
{
    const struct breed_job *job = &b->job[j];
    uint32_t gpus = bound_gpus(b, *count);

    if (job->hosts)
        gpus = bound_hosts(b, job->ask->each, *count);
    uint32_t from = breed_draw_below(b, b->nodes);
    if (gpus > job->ask->most) {
        trim_row(b, *count, from, job->ask->most);
        gpus = job->ask->most;
    }
    if (gpus == 0)
        return NULL;
    if (b->pools > 1)
        gpus = keep_one_pool(b, *count);
    uint32_t size = breed_size(b, j, gpus);
    if (size < gpus)
        trim_row(b, *count, breed_draw_below(b, b->nodes), size);
    if (size == 0)
        return NULL;
    *count = drop_empty(b, *count);
    const struct breed_known *known =
        breed_know(b, j, b->node[b->row[*count - 1].node].pool, *count > 1, size);
    return known->gain > 0 ? known : NULL;
}

/* Takes what the row has from what is left. */
static void take_row(struct cs_breed *b, const struct breed_job *job, uint32_t count)
{
    bool spans = count > 1;

    if (job->hosts)
        take_hosts(b, job->ask->each, count);
    for (uint32_t i = 0; i < count; i++) {
        b->left[b->row[i].node] -= b->row[i].gpus;
        b->taken[b->row[i].node] |= spans;
    }
}

/* Does the job hold just this? */
static bool holds_row(const struct cs_breed *b, const struct cs_breed_job *job, uint32_t count)
{
    if (job->now_count == 0 || job->now_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (b->row[i].node != job->now[i].node || b->row[i].gpus != job->now[i].gpus)
            return false;
    return true;
}

/* Gives all nodes back whole. */
static void begin_repair(struct cs_breed *b)
{
    for (uint32_t n = 0; n < b->nodes; n++) {
        b->left[n] = b->node[n].gpus;
        b->taken[n] = false;
        for (uint32_t k = 0; k < CS_BREED_HOST; k++)
            b->host_left[(size_t)n * CS_BREED_HOST + k] = b->node[n].host[k];
    }
    b->none = term_of(b, 0);
}

double breed_repair(struct cs_breed *b, struct breed_matrix *to,
                    const struct breed_matrix *from)
{
    uint32_t rows = from->count, r = 0, begin = 0;
    double sum = 0;

    begin_repair(b);
    breed_make_room(b, to, b->jobs, breed_cell_count(from) + b->gifts);
    to->count = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        uint32_t count = 0;
        if (r < rows && from->job[r] == j) {
            uint32_t end = from->end[r++];
            count = read_row(b, j, from->cell + begin, end - begin);
            begin = end;
        } else if (b->gift_first[j] != BREED_NONE) {
            count = read_row(b, j, NULL, 0);
        }
        if (count == 0) {
            breed_skip(b, 1);
            sum += b->none;
            continue;
        }
        const struct breed_known *known = repair_row(b, j, &count);
        if (known == NULL) {
            sum += b->none;
            continue;
        }
        take_row(b, &b->job[j], count);
        breed_append(to, j, b->row, count);
        sum += holds_row(b, b->job[j].ask, count) ? known->stays : known->term;
    }
    b->gifts = 0;
    sum /= b->jobs;
    return b->asks.p == 0 ? exp(sum) : pow(sum, 1 / b->asks.p);
}
