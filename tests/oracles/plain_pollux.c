/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_pollux.c - an oracle: the genetic algorithm of Pollux (Qiao et al., OSDI
 * 2021, section 4.2) over whole matrices, each measured anew.
 *
 * As results are the same bytes on each machine, the order in which numbers are
 * drawn is part of the rule.  For a child: two and two to choose parents (the
 * better of each pair), one where they are crossed; two for each job (does it
 * fall back, does it lose GPUs), and one for each node of those that lose; for
 * each node with free GPUs a job, how many it gets, and the same for a job that is
 * there.  For each job of a repair: the node from which it is trimmed, and a
 * second one where its size is not allowed.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_pollux_policy;

#define JOBS_MAX 64u
#define NODES_MAX 8u
#define POPULATION_MAX 16u
#define NO_GPUS 1e-3            /* added to all speedups: the mean is not 0 */

struct matrix {
    uint32_t gpus[JOBS_MAX][NODES_MAX];
    double fitness;
};

struct candidate {
    struct job_id id;
    double service, age_s, equal_speed;
    uint32_t now[NODES_MAX], most, number;      /* number: of the last deal, or past it */
    bool holds;
};

struct history {                /* of a job */
    uint32_t restarts, most;
};

struct plain_pollux {
    int64_t interval_ns, restart_ns;    /* the parameters stand as in pollux.c */
    int64_t population, generations, growth, depth;
    double p;
    struct candidate *job, *last;
    uint32_t jobs, lasts, nodes, all_gpus, largest_pool;
    struct cs_node *node;
    uint32_t *capacity;
    struct history *history;
    struct matrix *world;       /* the first half lives on */
    struct matrix *old;
    uint64_t seed;
};

/* ---- numbers (splitmix64, Steele, Lea and Flood 2014) ---- */

static uint64_t draw_bits(struct plain_pollux *x)
{
    x->seed += 0x9e3779b97f4a7c15u;
    uint64_t bits = (x->seed ^ (x->seed >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

static uint32_t draw_below(struct plain_pollux *x, uint32_t n)
{
    return (uint32_t)((n * (draw_bits(x) >> 32)) >> 32);
}

static bool draw_tenth(struct plain_pollux *x)
{
    return ldexp((double)(draw_bits(x) >> 11), -53) < 0.1;
}

/* ---- what is measured ---- */

static bool init_world(void *self, struct cs_host *host)
{
    struct plain_pollux *x = self;
    uint32_t pool[32] = { 0 };

    x->nodes = cs_node_count(host);
    assert(x->nodes <= NODES_MAX && x->population <= POPULATION_MAX);
    x->node = cs_alloc(host, NODES_MAX, sizeof *x->node);
    x->capacity = cs_alloc(host, NODES_MAX, sizeof *x->capacity);
    x->job = cs_alloc(host, JOBS_MAX, sizeof *x->job);
    x->last = cs_alloc(host, JOBS_MAX, sizeof *x->last);
    x->history = cs_alloc(host, 1000, sizeof *x->history);
    x->world = cs_alloc(host, 2 * POPULATION_MAX, sizeof *x->world);
    x->old = cs_alloc(host, POPULATION_MAX, sizeof *x->old);
    for (uint32_t n = 0; n < x->nodes; n++) {
        x->node[n] = cs_node(host, n);
        x->all_gpus += x->node[n].gpus;
        pool[x->node[n].pool] += x->node[n].gpus;
        if (pool[x->node[n].pool] > x->largest_pool)
            x->largest_pool = pool[x->node[n].pool];
    }
    return true;
}

static bool is_movable(const struct plain_pollux *x, struct cs_host *host, struct job_id id)
{
    return cs_can_move(host, id) && cs_size_least(host, id) <= x->largest_pool;
}

/* The fastest place for an equal part of the cluster. */
static double measure_equal(const struct plain_pollux *x, struct cs_host *host,
                            struct job_id id)
{
    double part = ceil(cs_total_gpus(host, 0) / (double)x->jobs), best = 0;
    uint32_t gpus = cs_size_below(host, id, (uint32_t)fmax(part, 1));

    if (gpus == 0)
        gpus = cs_size_least(host, id);
    for (uint32_t n = 0; n < x->nodes; n++) {
        bool first = true;
        for (uint32_t m = 0; m < n; m++)
            first &= x->node[m].pool != x->node[n].pool;
        bool one = gpus <= x->node[n].gpus || gpus == 1;
        if (first)
            best = fmax(best, cs_speedup_on(host, id, x->node[n].pool, gpus, one ? 1 : 2));
    }
    return best > 0 ? best : 1;
}

static void add_job(struct plain_pollux *x, struct cs_host *host, struct job_id id)
{
    struct candidate new = {
        .id = id, .service = cs_attained_gpu_s(host, id),
        .age_s = 1e-9 * (double)(cs_now_ns(host) - cs_request(host, id)->submit_ns),
    };
    uint32_t at = 0;

    if (!is_movable(x, host, id))
        return;
    assert(x->jobs < JOBS_MAX && id.i < 1000);
    while (at < x->jobs && (x->job[at].service < new.service ||
                            (x->job[at].service <= new.service && x->job[at].id.i < id.i)))
        at++;
    memmove(&x->job[at + 1], &x->job[at], (x->jobs++ - at) * sizeof new);
    x->job[at] = new;
}

static void look_at_job(struct plain_pollux *x, struct cs_host *host, struct candidate *job)
{
    struct history *history = &x->history[job->id.i];
    uint32_t held = 0, least = cs_size_least(host, job->id);

    for (uint32_t n = 0; n < x->nodes; n++) {
        job->now[n] = cs_gpus_on(host, job->id, n);
        x->capacity[n] += job->now[n];
        held += job->now[n];
    }
    job->holds = held > 0;
    job->equal_speed = measure_equal(x, host, job->id);
    if (held > history->most)
        history->most = held;
    job->most = history->most * (uint32_t)x->growth;
    job->most = job->most < least ? least : job->most;
    job->most = cs_size_below(host, job->id,
                              job->most < x->all_gpus ? job->most : x->all_gpus);
    job->number = 0;
    while (job->number < x->lasts && x->last[job->number].id.i != job->id.i)
        job->number++;
}

static void look_at_all(struct plain_pollux *x, struct cs_host *host)
{
    x->jobs = 0;
    for (uint32_t r = 0; r < cs_running_count(host); r++)
        add_job(x, host, cs_running(host, r));
    for (uint32_t w = 0, most = x->jobs + (uint32_t)x->depth;
         w < cs_pending_count(host) && x->jobs < most; w++)
        add_job(x, host, cs_task(host, cs_pending(host, w))->job);
    for (uint32_t n = 0; n < x->nodes; n++) {
        x->node[n] = cs_node(host, n);
        x->capacity[n] = x->node[n].here ? x->node[n].free_gpus : 0;
    }
    for (uint32_t j = 0; j < x->jobs; j++)
        look_at_job(x, host, &x->job[j]);
}

struct shape {                  /* of the GPUs of a job */
    uint32_t gpus, nodes, pool;
};

static struct shape shape_of(const struct plain_pollux *x, const uint32_t *row)
{
    struct shape shape = { 0, 0, 0 };

    for (uint32_t n = 0; n < x->nodes; n++)
        if (row[n] > 0) {
            shape.gpus += row[n];
            shape.nodes++;
            shape.pool = x->node[n].pool;
        }
    return shape;
}

static double speedup_of(const struct plain_pollux *x, struct cs_host *host,
                         const struct candidate *job, const uint32_t *row)
{
    struct shape shape = shape_of(x, row);

    if (shape.gpus == 0)
        return 0;
    return cs_speedup_on(host, job->id, shape.pool, shape.gpus, shape.nodes > 1 ? 2 : 1) /
           job->equal_speed;
}

static double measure_matrix(const struct plain_pollux *x, struct cs_host *host,
                             struct matrix *m)
{
    double sum = 0, delay_s = 1e-9 * (double)x->restart_ns;

    for (uint32_t j = 0; j < x->jobs; j++) {
        const struct candidate *job = &x->job[j];
        double lost_s = x->history[job->id.i].restarts * delay_s;
        double speedup = speedup_of(x, host, job, m->gpus[j]);
        if (job->holds && memcmp(m->gpus[j], job->now, x->nodes * sizeof *job->now) != 0)
            speedup *= fmax(job->age_s - lost_s, 0) / (job->age_s + delay_s);
        sum += x->p == 0 ? log(fmax(speedup, NO_GPUS)) : pow(speedup + NO_GPUS, x->p);
    }
    return x->p == 0 ? exp(sum / x->jobs) : pow(sum / x->jobs, 1 / x->p);
}

/* ---- the search ---- */

static void drop_gpus(struct plain_pollux *x, struct matrix *m)
{
    for (uint32_t j = 0; j < x->jobs; j++) {
        if (draw_tenth(x))
            memcpy(m->gpus[j], x->job[j].now, sizeof m->gpus[j]);
        if (draw_tenth(x))
            for (uint32_t n = 0; n < x->nodes; n++)
                if (m->gpus[j][n] > 0 && draw_tenth(x))
                    m->gpus[j][n] = 0;
    }
}

static void give_some(struct plain_pollux *x, uint32_t *cell, uint32_t node)
{
    if (*cell < x->capacity[node])
        *cell += draw_below(x, x->capacity[node] - *cell + 1);
}

static void use_free_gpus(struct plain_pollux *x, struct matrix *m)
{
    for (uint32_t n = 0; n < x->nodes; n++) {
        uint32_t used = 0, users = 0, j;
        for (j = 0; j < x->jobs; j++) {
            used += m->gpus[j][n];
            users += m->gpus[j][n] > 0;
        }
        if (used >= x->capacity[n])
            continue;
        give_some(x, &m->gpus[draw_below(x, x->jobs)][n], n);
        if (users == 0)
            continue;
        uint32_t after = draw_below(x, users);
        for (j = 0; m->gpus[j][n] == 0 || after > 0; j++)
            after -= m->gpus[j][n] > 0;
        give_some(x, &m->gpus[j][n], n);
    }
}

/* Keeps so many GPUs, from a node that is drawn on, round about. */
static void trim(struct plain_pollux *x, uint32_t *row, uint32_t keep)
{
    for (uint32_t n = draw_below(x, x->nodes), k = 0; k < x->nodes; k++, n++) {
        uint32_t *cell = &row[n % x->nodes];
        *cell = *cell < keep ? *cell : keep;
        keep -= *cell;
    }
}

/* One pool, the one with most; a size that it may have; at a speed above 0. */
static void make_legal(struct plain_pollux *x, struct cs_host *host,
                       const struct candidate *job, uint32_t *row)
{
    uint32_t pool[32] = { 0 }, most = 0, gpus = shape_of(x, row).gpus;

    for (uint32_t n = 0; n < x->nodes; n++)
        pool[x->node[n].pool] += row[n];
    for (uint32_t p = 0; p < 32; p++)
        most = pool[p] > pool[most] ? p : most;
    for (uint32_t n = 0; n < x->nodes; n++)
        row[n] = x->node[n].pool == most ? row[n] : 0;
    uint32_t size = gpus > 0 ? cs_size_below(host, job->id, pool[most]) : 0;
    if (gpus > 0 && size < pool[most])
        trim(x, row, size);
    if (!(speedup_of(x, host, job, row) > 0))
        memset(row, 0, x->nodes * sizeof *row);
}

/* Cores and memory, of which there is less than GPUs need. */
static void bound_by_host(const struct plain_pollux *x, const struct role_spec *role,
                          double (*left)[2], uint32_t *row)
{
    double each[2] = { role->cores, (double)role->memory_bytes };

    for (uint32_t n = 0; n < x->nodes; n++)
        for (int k = 0; k < 2; k++)
            while (row[n] > 0 && each[k] > 0 && each[k] * row[n] > left[n][k])
                row[n]--;
}

/* Jobs in order, each on what is left; of those that span nodes, one on a node. */
static void repair(struct plain_pollux *x, struct cs_host *host, struct matrix *m)
{
    double left[NODES_MAX][2];
    uint32_t free[NODES_MAX];
    bool spanned[NODES_MAX] = { false };

    for (uint32_t n = 0; n < x->nodes; n++) {
        free[n] = x->capacity[n];
        left[n][0] = x->node[n].cores;
        left[n][1] = x->node[n].memory_bytes;
    }
    for (uint32_t j = 0; j < x->jobs; j++) {
        const struct role_spec *role = &cs_request(host, x->job[j].id)->form->role[0];
        uint32_t *row = m->gpus[j], nodes = shape_of(x, row).nodes;
        for (uint32_t n = 0; n < x->nodes; n++) {
            row[n] = nodes > 1 && spanned[n] ? 0 : row[n];
            row[n] = row[n] < free[n] ? row[n] : free[n];
        }
        bound_by_host(x, role, left, row);
        trim(x, row, x->job[j].most);
        make_legal(x, host, &x->job[j], row);
        nodes = shape_of(x, row).nodes;
        for (uint32_t n = 0; n < x->nodes; n++) {
            free[n] -= row[n];
            spanned[n] |= nodes > 1 && row[n] > 0;
            left[n][0] -= (double)role->cores * row[n];
            left[n][1] -= (double)role->memory_bytes * row[n];
        }
    }
    m->fitness = measure_matrix(x, host, m);
}

static const struct matrix *choose_parent(struct plain_pollux *x)
{
    const struct matrix *a = &x->world[draw_below(x, (uint32_t)x->population)];
    const struct matrix *b = &x->world[draw_below(x, (uint32_t)x->population)];

    return b->fitness > a->fitness ? b : a;
}

static void make_child(struct plain_pollux *x, struct cs_host *host, struct matrix *child)
{
    const struct matrix *a = choose_parent(x), *b = choose_parent(x);
    uint32_t cut = draw_below(x, x->jobs + 1);

    for (uint32_t j = 0; j < x->jobs; j++)
        memcpy(child->gpus[j], j < cut ? a->gpus[j] : b->gpus[j], sizeof *child->gpus);
    drop_gpus(x, child);
    use_free_gpus(x, child);
    repair(x, host, child);
}

/* Each place from the first on goes to the best of those that have none yet. */
static void survive(struct plain_pollux *x)
{
    for (int64_t place = 0; place < x->population; place++) {
        struct matrix *best = &x->world[place], old = *best;
        for (struct matrix *m = best; m < x->world + 2 * x->population; m++)
            best = m->fitness > best->fitness ? m : best;
        x->world[place] = *best;
        *best = old;
    }
}

static void search(struct plain_pollux *x, struct cs_host *host)
{
    for (uint32_t m = 0; m < x->population; m++)
        for (uint32_t j = 0; j < x->jobs; j++) {
            const struct candidate *job = &x->job[j];
            bool was = m > 0 && job->number < x->lasts;
            memcpy(x->world[m].gpus[j], was ? x->old[m - 1].gpus[job->number] : job->now,
                   sizeof job->now);
        }
    for (uint32_t m = 0; m < x->population; m++)
        repair(x, host, &x->world[m]);
    for (int64_t g = 0; g < x->generations; g++) {
        for (int64_t c = x->population; c < 2 * x->population; c++)
            make_child(x, host, &x->world[c]);
        survive(x);
    }
    memcpy(x->old, x->world, (size_t)x->population * sizeof *x->old);
    memcpy(x->last, x->job, x->jobs * sizeof *x->last);
    x->lasts = x->jobs;
}

static void carry_out(struct plain_pollux *x, struct cs_host *host)
{
    struct cs_node_gpus spot[JOBS_MAX * NODES_MAX];
    uint32_t count = 0;

    for (uint32_t j = 0; j < x->jobs; j++) {
        const uint32_t *row = x->world[0].gpus[j];
        bool other = false;
        if (shape_of(x, row).gpus == 0)
            spot[count++] = (struct cs_node_gpus) { x->job[j].id, 0, 0 };
        for (uint32_t n = 0; n < x->nodes; n++) {
            other |= row[n] != x->job[j].now[n];
            if (row[n] > 0)
                spot[count++] = (struct cs_node_gpus) { x->job[j].id, n, row[n] };
        }
        if (other && shape_of(x, row).gpus > 0 && x->job[j].service > 0)
            x->history[x->job[j].id.i].restarts++;
    }
    cs_set_node_gpus(host, spot, count);
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_pollux *x = self;
    int64_t past_ns = cs_now_ns(host) % x->interval_ns;

    for (uint32_t w = 0; w < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, w);
        if (is_movable(x, host, cs_task(host, task)->job) || cs_start(host, task) != CS_DONE)
            w++;
    }
    if (cs_pending_count(host) == 0 && cs_running_count(host) == 0)
        return;
    cs_wake_at(host, cs_now_ns(host) + x->interval_ns - past_ns);
    if (past_ns > 0)
        return;
    look_at_all(x, host);
    if (x->jobs == 0)
        return;
    x->seed = (uint64_t)ldexp(cs_random(host), 52);
    search(x, host);
    carry_out(x, host);
}

const struct cs_policy plain_pollux_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "pollux",
    .summary = "the genetic algorithm of Pollux over whole matrices",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES | CS_DRAWS,
    .self_bytes = sizeof(struct plain_pollux),
    .init = init_world,
    .decide = decide,
};
