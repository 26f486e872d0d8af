/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed.c - GPUs of nodes to jobs, so that the power mean of their gains is largest: the
 * genetic algorithm of Qiao et al. (Pollux, OSDI 2021, section 4.2).
 *
 * The first parents are what is held now and the best matrices of the last search.  In each
 * generation as many children as parents are made of two parents each, the better of two
 * drawn ones twice, are mutated (breed_child.c) and repaired (breed_repair.c), and the
 * better half of parents and children lives on.
 *
 * With many jobs each child loses GPUs of some job, so that generations alone find little.  Then
 * a climb (breed_climb.c) makes one of the first parents, parents are few, and the search ends
 * when generations gain nothing any more.
 */
#include <string.h>

#include "policies/policy.h"
#include "policies/solve/breed.h"

/* In the 60 cases of tests/keys/climb_test.c 1 to 15 idle generations come to the same gains, and
 * 4 to 30 parents to gains that chance decides. */
#define MANY_PARENTS 8u         /* of a search of many jobs, at most */
#define IDLE_MAX 5u             /* its generations that gain nothing, in a row */
#define LEAST_GAIN 1e-3         /* of a generation, that it counts as gain */

struct cs_breed *cs_make_breed(struct cs_host *host, const struct cs_breed_asks *asks)
{
    struct cs_breed *b = cs_alloc(host, 1, sizeof *b);

    b->host = host;
    b->asks = *asks;
    b->brood.climb_above = UINT32_MAX;
    b->matrix = cs_alloc(host, 2 * (size_t)asks->population, sizeof *b->matrix);
    b->fitness = cs_alloc(host, 2 * (size_t)asks->population, sizeof *b->fitness);
    return b;
}

void cs_climb_above(struct cs_breed *breed, uint32_t jobs)
{
    breed->brood.climb_above = jobs;
}

/* ---- jobs and nodes of a search ---- */

/* Sets the nodes of this search; scratch by node grows with them and is kept. */
static void set_nodes(struct cs_breed *b, const struct cs_breed_node *node, uint32_t nodes)
{
    b->node = node;
    b->nodes = nodes;
    b->pools = 1;
    for (uint32_t n = 0; n < nodes; n++)
        if (node[n].pool >= b->pools)
            b->pools = node[n].pool + 1;
    if (nodes <= b->node_room)
        return;
    b->node_room = nodes;
    b->used = cs_alloc(b->host, nodes, sizeof *b->used);
    b->users = cs_alloc(b->host, nodes, sizeof *b->users);
    b->column = cs_alloc(b->host, nodes, sizeof *b->column);
    b->gift = cs_alloc(b->host, nodes, sizeof *b->gift);
    b->left = cs_alloc(b->host, nodes, sizeof *b->left);
    b->taken = cs_alloc(b->host, nodes, sizeof *b->taken);
    b->host_left = cs_alloc(b->host, nodes * CS_BREED_HOST, sizeof *b->host_left);
    b->row = cs_alloc(b->host, nodes, sizeof *b->row);
}

/* Returns the place in the last list of the job of that id. */
static uint32_t find_before(const struct cs_breed *b, uint32_t id)
{
    return id < b->place_room && b->place[id] > 0 ? b->place[id] - 1 : BREED_NONE;
}

/* Links a job with what the last search left of it, found by its id. */
static void set_job(struct cs_breed *b, uint32_t j, const struct cs_breed_job *ask)
{
    struct breed_job *job = &b->job[j];

    job->ask = ask;
    job->before = find_before(b, ask->id);
    job->hosts = false;
    for (uint32_t k = 0; k < CS_BREED_HOST; k++)
        job->hosts |= ask->each[k] > 0;
    b->gift_first[j] = BREED_NONE;
    if (ask->now_count > 0)
        b->held[b->helds++] = j;
}

/* Nothing is known of the jobs at the start of a search: their ages and shares are
 * others. */
static void forget_known(struct cs_breed *b)
{
    uint32_t sizes = 0, kinds = 2 * b->pools;

    for (uint32_t j = 0; j < b->jobs; j++)
        sizes += b->job[j].ask->most + 1;
    if (sizes > b->size_room) {
        b->size_room = 2 * sizes;
        b->size = cs_alloc(b->host, b->size_room, sizeof *b->size);
        b->known = cs_alloc(b->host, 2 * (size_t)b->pools * b->size_room, sizeof *b->known);
    }
    for (uint32_t i = 0; i < sizes; i++)
        b->size[i] = BREED_NONE;
    for (size_t i = 0; i < (size_t)kinds * sizes; i++)
        b->known[i].gain = -1;
    sizes = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        b->job[j].known = b->known + (size_t)kinds * sizes;
        b->job[j].size = b->size + sizes;
        sizes += b->job[j].ask->most + 1;
    }
}

/* Sets the jobs of this search, and forgets the gains that were asked for in the
 * last. */
static void set_jobs(struct cs_breed *b, const struct cs_breed_job *job, uint32_t count)
{
    uint32_t room = b->gift_room;

    b->job = cs_grow(b->host, b->job, &b->job_room, count, sizeof *b->job);
    b->gift_first = cs_grow(b->host, b->gift_first, &room, count, sizeof *b->gift_first);
    b->gift_last = cs_grow(b->host, b->gift_last, &b->gift_room, count,
                           sizeof *b->gift_last);
    b->held = cs_grow(b->host, b->held, &b->held_room, count, sizeof *b->held);
    b->jobs = count;
    b->helds = 0;
    for (uint32_t j = 0; j < count; j++)
        set_job(b, j, &job[j]);
    forget_known(b);
}

/* ---- the first parents ---- */

/* Sets `to` to the rows that jobs have in a matrix of the last search (NULL: none of
 * it); what was not in that search has what it holds now. */
static void take_over(struct cs_breed *b, struct breed_matrix *to,
                      const struct breed_matrix *old)
{
    uint32_t cells = old != NULL ? breed_cell_count(old) : 0;

    for (uint32_t h = 0; h < b->helds; h++)
        cells += b->job[b->held[h]].ask->now_count;
    breed_make_room(b, to, b->jobs, cells);
    for (uint32_t k = 0; old != NULL && k < b->olds; k++)
        b->row_of[k] = BREED_NONE;
    for (uint32_t r = 0; old != NULL && r < old->count; r++)
        b->row_of[old->job[r]] = r;
    to->count = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        const struct breed_job *job = &b->job[j];
        if (old == NULL || job->before == BREED_NONE) {
            breed_append(to, j, job->ask->now, job->ask->now_count);
        } else if (b->row_of[job->before] != BREED_NONE) {
            uint32_t row = b->row_of[job->before], begin = breed_begin_of(old, row);
            breed_append(to, j, old->cell + begin, old->end[row] - begin);
        }
    }
}

/* A sort of parents moves matrices by their structs: rows and cells stay where they are. */
static void swap_matrices(struct cs_breed *b, uint32_t x, uint32_t y)
{
    struct breed_matrix matrix = b->matrix[x];
    double fitness = b->fitness[x];

    b->matrix[x] = b->matrix[y];
    b->fitness[x] = b->fitness[y];
    b->matrix[y] = matrix;
    b->fitness[y] = fitness;
}

/* Makes the first parents: what is held, then all but the last of the old parents. */
static void make_parents(struct cs_breed *b)
{
    uint32_t count = b->brood.parents;

    for (uint32_t i = 0; i < count; i++)
        take_over(b, &b->matrix[count + i],
                  i == 0 || i > b->brood.old_parents ? NULL : &b->matrix[i - 1]);
    for (uint32_t i = 0; i < count; i++) {
        swap_matrices(b, i, count + i);
        b->fitness[i] = breed_repair(b, &b->matrix[i], &b->matrix[i]);
    }
}

/* Keeps which jobs were in this search, for the next one. */
static void keep_list(struct cs_breed *b)
{
    for (uint32_t k = 0; k < b->olds; k++)
        b->place[b->old_id[k]] = 0;
    b->olds = b->jobs;
    b->brood.old_parents = b->brood.parents;
    b->old_id = cs_grow(b->host, b->old_id, &b->old_room, b->jobs, sizeof *b->old_id);
    b->row_of = cs_grow(b->host, b->row_of, &b->row_room, b->jobs, sizeof *b->row_of);
    for (uint32_t j = 0; j < b->jobs; j++) {
        uint32_t id = b->job[j].ask->id;
        b->place = cs_grow(b->host, b->place, &b->place_room, id, sizeof *b->place);
        b->place[id] = j + 1;
        b->old_id[j] = id;
    }
}

/* ---- generations ---- */

/* Draws the better of two parents. */
static const struct breed_matrix *draw_parent(struct cs_breed *b)
{
    uint32_t x = breed_draw_below(b, b->brood.parents);
    uint32_t y = breed_draw_below(b, b->brood.parents);

    return &b->matrix[b->fitness[y] > b->fitness[x] ? y : x];
}

/* Returns the index of the largest fitness from `from` to before `to`, the first of
 * equals. */
static uint32_t find_best(const struct cs_breed *b, uint32_t from, uint32_t to)
{
    uint32_t best = from;

    for (uint32_t k = from + 1; k < to; k++)
        if (b->fitness[k] > b->fitness[best])
            best = k;
    return best;
}

/* Moves the best half of parents and children to the front, in order; ties go to the
 * first.  After the first selection parents are in order already (in_order), so that a pass
 * over the children suffices for each place. */
static void select_best(struct cs_breed *b, bool in_order)
{
    uint32_t count = b->brood.parents;
    uint32_t child = find_best(b, count, 2 * count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = in_order ? i : find_best(b, i, count);
        if (b->fitness[child] > b->fitness[best])
            best = child;
        swap_matrices(b, i, best);
        if (best == child)
            child = find_best(b, count, 2 * count);
    }
}

/* Makes a child for each parent, and lets the best of both live on. */
static void breed_generation(struct cs_breed *b, bool in_order)
{
    for (uint32_t c = b->brood.parents; c < 2 * b->brood.parents; c++) {
        const struct breed_matrix *x = draw_parent(b), *y = draw_parent(b);
        breed_make_child(b, x, y, breed_draw_below(b, b->jobs + 1));
        b->fitness[c] = breed_repair(b, &b->matrix[c], &b->child);
    }
    select_best(b, in_order);
}

/* Makes the last of the first parents one to which a climb comes from the best of them. */
static void climb_from_best(struct cs_breed *b)
{
    uint32_t count = b->brood.parents;

    breed_climb(b, &b->matrix[count], &b->matrix[find_best(b, 0, count)]);
    b->fitness[count] = breed_repair(b, &b->matrix[count], &b->matrix[count]);
    swap_matrices(b, count - 1, count);
}

/* Sets the answers: the rows of the best matrix. */
static void set_answers(const struct cs_breed *b, struct cs_breed_job *job)
{
    const struct breed_matrix *best = &b->matrix[0];

    for (uint32_t j = 0; j < b->jobs; j++)
        job[j].cell_count = 0;
    for (uint32_t r = 0; r < best->count; r++) {
        uint32_t begin = breed_begin_of(best, r);
        job[best->job[r]].cell = best->cell + begin;
        job[best->job[r]].cell_count = best->end[r] - begin;
    }
}

void cs_breed_gpus(struct cs_breed *b, struct cs_breed_job *job, uint32_t count,
                   const struct cs_breed_node *node, uint32_t nodes, uint64_t seed)
{
    bool many = count > b->brood.climb_above;
    uint32_t idle = 0, gpus = 0;

    for (uint32_t n = 0; n < nodes; n++)
        gpus += node[n].gpus;
    b->random = seed;
    b->brood.parents =
        many && b->asks.population > MANY_PARENTS ? MANY_PARENTS : b->asks.population;
    set_nodes(b, node, nodes);
    set_jobs(b, job, count);
    make_parents(b);
    if (many && gpus > 0)
        climb_from_best(b);
    double best = b->fitness[find_best(b, 0, b->brood.parents)];
    /* Without GPUs all matrices are empty, whatever is drawn. */
    for (uint32_t g = 0; gpus > 0 && g < b->asks.generations && idle < IDLE_MAX; g++) {
        breed_generation(b, g > 0);
        idle = many && b->fitness[0] <= best * (1 + LEAST_GAIN) ? idle + 1 : 0;
        best = b->fitness[0];
    }
    keep_list(b);
    set_answers(b, job);
}
