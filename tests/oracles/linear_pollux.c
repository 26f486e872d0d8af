/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_pollux.c - an oracle: pollux that looks at
 * all rows of a matrix, and measures them anew.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy linear_pollux_policy;

#define POOLS 32u
#define HOST_KINDS 2u           /* cores, host memory */
#define LEAST 1e-3              /* speedup of a job without GPUs, as theirs */

struct pollux_job {
    struct job_id id;
    double attained, age_s, fair;
    uint32_t restarts, cap, before;     /* before: its row last time, or none */
    bool runs;
    double *speedup;               /* [pool][one node, more][GPUs]; < 0: unknown */
};

struct pollux {
    int64_t interval_ns, delay_ns;
    int64_t population, generations, growth, depth;
    double p;
    struct pollux_job *job;     /* of this interval */
    struct job_id *old_id;
    uint32_t *restarts, *largest, seen; /* by job number */
    uint32_t jobs, old_jobs, room, nodes, pools, gpus_max, kept;
    uint32_t pool_most;         /* GPUs of the largest pool */
    uint32_t *pool, *capacity;  /* by node */
    double *host, *host_left;   /* by node: cores, memory */
    uint8_t *state, *old, *now, *best;  /* [matrix][job][node]; now: held */
    double *fitness;
    struct cs_node_gpus *spot;
    double *speedups;
    uint32_t speedups_room, spots_room;
    uint64_t random;
};

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t pollux_next(struct pollux *px)
{
    uint64_t z = px->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t pollux_below(struct pollux *px, uint32_t n)
{
    return (uint32_t)((pollux_next(px) >> 32) * n >> 32);
}

static bool pollux_chance(struct pollux *px, double p)
{
    return (double)(pollux_next(px) >> 11) * 0x1p-53 < p;
}

/* ---- the jobs and nodes of an interval ----------------------------------- */

/* It can be moved, and a pool could hold its least size. */
static bool pollux_mine(const struct pollux *px, struct cs_host *host,
                        struct job_id id)
{
    return cs_can_move(host, id) && cs_size_least(host, id) <= px->pool_most;
}

static uint32_t pollux_doubled(uint32_t room, uint32_t need)
{
    while (room < need)
        room = room ? 2 * room : 16;
    return room;
}

/* Of a job by its number. */
static void pollux_note(struct pollux *px, struct cs_host *host, uint32_t i)
{
    uint32_t room = pollux_doubled(px->seen, i + 1);

    if (room == px->seen)
        return;
    uint32_t *restarts = cs_alloc(host, room, sizeof *restarts);
    uint32_t *largest = cs_alloc(host, room, sizeof *largest);
    if (px->seen) {
        memcpy(restarts, px->restarts, px->seen * sizeof *restarts);
        memcpy(largest, px->largest, px->seen * sizeof *largest);
    }
    px->restarts = restarts;
    px->largest = largest;
    px->seen = room;
}

static void pollux_room(struct pollux *px, struct cs_host *host, uint32_t jobs)
{
    uint32_t room = pollux_doubled(px->room, jobs);
    size_t matrix = (size_t)room * px->nodes;
    size_t all = 2 * (size_t)px->population * matrix;

    if (room == px->room)
        return;
    struct pollux_job *job = cs_alloc(host, room, sizeof *job);
    struct job_id *old_id = cs_alloc(host, room, sizeof *old_id);
    uint8_t *old = cs_alloc(host, all, 1);
    if (px->room) {
        memcpy(job, px->job, px->room * sizeof *job);
        memcpy(old_id, px->old_id, px->room * sizeof *old_id);
        memcpy(old, px->old, 2 * (size_t)px->population * px->room * px->nodes);
    }
    px->job = job;
    px->old_id = old_id;
    px->old = old;
    px->state = cs_alloc(host, all, 1);
    px->now = cs_alloc(host, matrix, 1);
    px->best = cs_alloc(host, matrix, 1);
    px->room = room;
}

static void pollux_add(struct pollux *px, struct cs_host *host,
                       struct job_id id)
{
    struct pollux_job *job;

    if (!pollux_mine(px, host, id))
        return;
    pollux_room(px, host, px->jobs + 1);
    pollux_note(px, host, id.i);
    job = &px->job[px->jobs++];
    memset(job, 0, sizeof *job);
    job->id = id;
    job->attained = cs_attained_gpu_s(host, id);
    job->age_s = 1e-9 * (double)(cs_now_ns(host) -
                                 cs_request(host, id)->submit_ns);
    job->restarts = px->restarts[id.i];
}

static bool pollux_first(const struct pollux_job *a, const struct pollux_job *b)
{
    if (a->attained != b->attained)
        return a->attained < b->attained;
    return a->id.i < b->id.i;
}

static void pollux_list(struct pollux *px, struct cs_host *host)
{
    px->jobs = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        pollux_add(px, host, cs_running(host, i));
    uint32_t running = px->jobs;
    for (uint32_t i = 0; i < cs_pending_count(host) &&
                         px->jobs - running < px->depth; i++)
        pollux_add(px, host, cs_task(host, cs_pending(host, i))->job);
    for (uint32_t i = 1; i < px->jobs; i++)
        for (uint32_t j = i; j > 0 && pollux_first(&px->job[j],
                                                   &px->job[j - 1]); j--) {
            struct pollux_job swap = px->job[j];
            px->job[j] = px->job[j - 1];
            px->job[j - 1] = swap;
        }
    memset(px->now, 0, (size_t)px->jobs * px->nodes);
    for (uint32_t n = 0; n < px->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        px->pool[n] = node.pool;
        px->capacity[n] = node.here ? node.free_gpus : 0;
        for (uint32_t j = 0; j < px->jobs; j++) {
            uint32_t gpus = cs_gpus_on(host, px->job[j].id, n);
            px->now[j * px->nodes + n] = (uint8_t)gpus;
            px->capacity[n] += gpus;
        }
    }
}

/* ---- speedups -------------------------------------------------------------- */

static double pollux_rate(struct pollux *px, struct cs_host *host,
                             const struct pollux_job *job, uint32_t pool,
                             uint32_t gpus, uint32_t nodes)
{
    double *speedup = &job->speedup[(pool * 2 + (nodes > 1)) * (px->gpus_max + 1) +
                                    gpus];

    if (*speedup < 0)
        *speedup = cs_speedup_on(host, job->id, pool, gpus, nodes > 1 ? 2 : 1);
    return *speedup;
}

/* Of an equal share: its GPUs packed, where they are fastest. */
static double pollux_fair(struct pollux *px, struct cs_host *host,
                          const struct pollux_job *job)
{
    uint32_t share = (cs_total_gpus(host, 0) + px->jobs - 1) / px->jobs;
    uint32_t gpus = cs_size_below(host, job->id, share ? share : 1);
    double best = 0;

    if (gpus == 0)
        gpus = cs_size_least(host, job->id);
    for (uint32_t n = 0; n < px->nodes; n++)
        if (n == 0 || px->pool[n] != px->pool[n - 1])
            best = fmax(best, cs_speedup_on(
                host, job->id, px->pool[n], gpus,
                gpus > 1 && cs_node(host, n).gpus < gpus ? 2 : 1));
    return best > 0 ? best : 1;
}

static void pollux_measure(struct pollux *px, struct cs_host *host)
{
    size_t row = (size_t)px->pools * 2 * (px->gpus_max + 1);

    if (px->jobs > px->speedups_room) {
        px->speedups_room = px->room;
        px->speedups = cs_alloc(host, px->room * row, sizeof *px->speedups);
    }
    for (size_t i = 0; i < px->jobs * row; i++)
        px->speedups[i] = -1;
    for (uint32_t j = 0; j < px->jobs; j++) {
        struct pollux_job *job = &px->job[j];
        uint32_t least = cs_size_least(host, job->id), now = 0;

        job->speedup = px->speedups + j * row;
        job->fair = pollux_fair(px, host, job);
        for (uint32_t n = 0; n < px->nodes; n++)
            now += px->now[j * px->nodes + n];
        job->runs = now > 0;
        if (now > px->largest[job->id.i])
            px->largest[job->id.i] = now;
        job->cap = (uint32_t)px->growth * px->largest[job->id.i];
        if (job->cap < least)
            job->cap = least;
        if (job->cap > px->gpus_max)
            job->cap = px->gpus_max;
        job->cap = cs_size_below(host, job->id, job->cap);
    }
}

static double pollux_speedup(struct pollux *px, struct cs_host *host,
                             const struct pollux_job *job, const uint8_t *row)
{
    uint32_t gpus = 0, nodes = 0, mask = 0;
    double speedup = INFINITY;

    for (uint32_t n = 0; n < px->nodes; n++)
        if (row[n] > 0) {
            gpus += row[n];
            nodes++;
            mask |= 1u << px->pool[n];
        }
    if (gpus == 0)
        return 0;
    for (uint32_t p = 0; p < px->pools; p++)
        if (mask >> p & 1)
            speedup = fmin(speedup, pollux_rate(px, host, job, p, gpus, nodes));
    return speedup / job->fair;
}

static double pollux_fitness(struct pollux *px, struct cs_host *host,
                             const uint8_t *state)
{
    double delay_s = 1e-9 * (double)px->delay_ns, sum = 0;

    for (uint32_t j = 0; j < px->jobs; j++) {
        const struct pollux_job *job = &px->job[j];
        const uint8_t *row = state + j * px->nodes;
        double gain = pollux_speedup(px, host, job, row);
        if (job->runs && memcmp(row, px->now + j * px->nodes, px->nodes) != 0)
            gain *= fmax(0, job->age_s - job->restarts * delay_s) /
                    (job->age_s + delay_s);
        sum += px->p == 0 ? log(fmax(gain, LEAST)) : pow(gain + LEAST, px->p);
    }
    return px->p == 0 ? exp(sum / px->jobs) : pow(sum / px->jobs, 1 / px->p);
}

/* ---- the search -------------------------------------------------------------- */

static void pollux_mutate(struct pollux *px, uint8_t *state)
{
    uint32_t nodes = px->nodes;

    for (uint32_t j = 0; j < px->jobs; j++) {
        uint8_t *row = state + j * nodes;
        if (pollux_chance(px, 0.1))
            memcpy(row, px->now + j * nodes, nodes);
        if (pollux_chance(px, 0.1))
            for (uint32_t n = 0; n < nodes; n++)
                if (row[n] > 0 && pollux_chance(px, 0.1))
                    row[n] = 0;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t used = 0, held = 0, pick;
        for (uint32_t j = 0; j < px->jobs; j++) {
            used += state[j * nodes + n];
            held += state[j * nodes + n] > 0;
        }
        if (used >= px->capacity[n])
            continue;
        /* One of all jobs, and one of those that are there. */
        pick = pollux_below(px, px->jobs);
        uint8_t *cell = &state[pick * nodes + n];
        *cell += (uint8_t)pollux_below(px, px->capacity[n] - *cell + 1);
        pick = held ? pollux_below(px, held) : 0;
        for (uint32_t j = 0; held > 0 && j < px->jobs; j++)
            if (state[j * nodes + n] > 0 && pick-- == 0) {
                cell = &state[j * nodes + n];
                if (*cell < px->capacity[n])
                    *cell += (uint8_t)pollux_below(px, px->capacity[n] -
                                                           *cell + 1);
                break;
            }
    }
}

/* At most so many GPUs, those of nodes from a random one on first. */
static void pollux_trim(struct pollux *px, uint8_t *row, uint32_t most)
{
    uint32_t from = pollux_below(px, px->nodes), left = most;

    for (uint32_t i = 0; i < px->nodes; i++) {
        uint8_t *cell = &row[(from + i) % px->nodes];
        if (*cell > left)
            *cell = (uint8_t)left;
        left -= *cell;
    }
}

static uint32_t pollux_sum(const struct pollux *px, const uint8_t *row)
{
    uint32_t gpus = 0;

    for (uint32_t n = 0; n < px->nodes; n++)
        gpus += row[n];
    return gpus;
}

/* Only the pool of which it has most: types do not mix. */
static void pollux_one_pool(const struct pollux *px, uint8_t *row)
{
    uint32_t gpus[POOLS] = { 0 }, best = 0;

    for (uint32_t n = 0; n < px->nodes; n++)
        gpus[px->pool[n]] += row[n];
    for (uint32_t p = 1; p < px->pools; p++)
        if (gpus[p] > gpus[best])
            best = p;
    for (uint32_t n = 0; n < px->nodes; n++)
        if (px->pool[n] != best)
            row[n] = 0;
}

/* Where it has a pace, in a size that it may have; else nothing. */
static void pollux_allow(struct pollux *px, struct cs_host *host,
                         const struct pollux_job *job, uint8_t *row)
{
    uint32_t gpus = pollux_sum(px, row), size;

    if (gpus == 0)
        return;
    if (px->pools > 1) {
        pollux_one_pool(px, row);
        gpus = pollux_sum(px, row);
    }
    size = gpus ? cs_size_below(host, job->id, gpus) : 0;
    if (size < gpus)
        pollux_trim(px, row, size);
    if (size > 0 && !(pollux_speedup(px, host, job, row) > 0))
        memset(row, 0, px->nodes);
}

/* Cores and host memory bound a row too; to be taken, once it is final. */
static void pollux_host(const struct pollux *px, const struct cs_host *host,
                        const struct pollux_job *job, uint8_t *row, bool take)
{
    const struct role_spec *role = &cs_request(host, job->id)->form->role[0];
    double each[HOST_KINDS] = { role->cores, (double)role->memory_bytes };

    for (uint32_t n = 0; n < px->nodes; n++)
        for (uint32_t k = 0; row[n] > 0 && k < HOST_KINDS; k++) {
            double *left = &px->host_left[n * HOST_KINDS + k];
            if (take)
                *left -= each[k] * row[n];
            else if (each[k] > 0 && each[k] * row[n] > *left)
                row[n] = (uint8_t)fmax(0, floor(*left / each[k]));
        }
}

static void pollux_repair(struct pollux *px, struct cs_host *host,
                          uint8_t *state, uint32_t *left, uint8_t *taken)
{
    uint32_t nodes = px->nodes;

    memcpy(left, px->capacity, nodes * sizeof *left);
    memset(taken, 0, nodes);
    memcpy(px->host_left, px->host, nodes * HOST_KINDS * sizeof *px->host);
    for (uint32_t j = 0; j < px->jobs; j++) {
        uint8_t *row = state + j * nodes;
        uint32_t on = 0;
        for (uint32_t n = 0; n < nodes; n++)
            on += row[n] > 0;
        for (uint32_t n = 0; on > 1 && n < nodes; n++)
            if (row[n] > 0 && taken[n])
                row[n] = 0;
        for (uint32_t n = 0; n < nodes; n++)
            if (row[n] > left[n])
                row[n] = (uint8_t)left[n];
        pollux_host(px, host, &px->job[j], row, false);
        pollux_trim(px, row, px->job[j].cap);
        pollux_allow(px, host, &px->job[j], row);
        pollux_host(px, host, &px->job[j], row, true);
        on = 0;
        for (uint32_t n = 0; n < nodes; n++)
            on += row[n] > 0;
        for (uint32_t n = 0; n < nodes; n++) {
            left[n] -= row[n];
            taken[n] |= on > 1 && row[n] > 0;
        }
    }
}

/* What was good last time, of the jobs that are still there. */
static void pollux_seed(struct pollux *px)
{
    size_t matrix = (size_t)px->jobs * px->nodes;
    size_t old = (size_t)px->old_jobs * px->nodes;

    for (uint32_t j = 0; j < px->jobs; j++) {
        uint32_t k = 0;
        while (k < px->old_jobs && px->old_id[k].i != px->job[j].id.i)
            k++;
        px->job[j].before = k < px->old_jobs ? k : UINT32_MAX;
    }
    memcpy(px->state, px->now, matrix);
    for (uint32_t m = 1; m < px->population; m++)
        for (uint32_t j = 0; j < px->jobs; j++) {
            uint8_t *row = px->state + m * matrix + j * px->nodes;
            uint32_t k = px->job[j].before;
            if (m <= px->kept && k != UINT32_MAX)
                memcpy(row, px->old + (m - 1) * old + k * px->nodes, px->nodes);
            else
                memcpy(row, px->now + j * px->nodes, px->nodes);
        }
}

/* The better of two at random. */
static uint32_t pollux_parent(struct pollux *px)
{
    uint32_t a = pollux_below(px, (uint32_t)px->population);
    uint32_t b = pollux_below(px, (uint32_t)px->population);

    return px->fitness[b] > px->fitness[a] ? b : a;
}

/* The best half of parents and children, in order; ties go to the first. */
static void pollux_select(struct pollux *px, size_t matrix, uint8_t *swap)
{
    uint32_t all = 2 * (uint32_t)px->population;

    for (uint32_t i = 0; i < px->population; i++) {
        uint32_t best = i;
        for (uint32_t k = i + 1; k < all; k++)
            if (px->fitness[k] > px->fitness[best])
                best = k;
        if (best == i)
            continue;
        double fitness = px->fitness[i];
        px->fitness[i] = px->fitness[best];
        px->fitness[best] = fitness;
        memcpy(swap, px->state + i * matrix, matrix);
        memcpy(px->state + i * matrix, px->state + best * matrix, matrix);
        memcpy(px->state + best * matrix, swap, matrix);
    }
}

static void pollux_search(struct pollux *px, struct cs_host *host,
                          uint32_t *left, uint8_t *taken)
{
    size_t matrix = (size_t)px->jobs * px->nodes;
    uint32_t count = (uint32_t)px->population;

    pollux_seed(px);
    for (uint32_t m = 0; m < count; m++) {
        uint8_t *state = px->state + m * matrix;
        pollux_repair(px, host, state, left, taken);
        px->fitness[m] = pollux_fitness(px, host, state);
    }
    for (int64_t g = 0; g < px->generations; g++) {
        for (uint32_t c = 0; c < count; c++) {
            const uint8_t *a = px->state + pollux_parent(px) * matrix;
            const uint8_t *b = px->state + pollux_parent(px) * matrix;
            uint8_t *child = px->state + (count + c) * matrix;
            size_t cut = (size_t)pollux_below(px, px->jobs + 1) * px->nodes;
            memcpy(child, a, cut);
            memcpy(child + cut, b + cut, matrix - cut);
            pollux_mutate(px, child);
            pollux_repair(px, host, child, left, taken);
            px->fitness[count + c] = pollux_fitness(px, host, child);
        }
        pollux_select(px, matrix, px->best);
    }
    memcpy(px->old, px->state, count * matrix);
    px->kept = count;
    px->old_jobs = px->jobs;
    for (uint32_t j = 0; j < px->jobs; j++)
        px->old_id[j] = px->job[j].id;
}

/* ---- what is done with it --------------------------------------------------- */

static void pollux_apply(struct pollux *px, struct cs_host *host)
{
    uint32_t count = 0, need = px->room * px->nodes;

    if (need > px->spots_room) {
        px->spot = cs_alloc(host, need, sizeof *px->spot);
        px->spots_room = need;
    }
    for (uint32_t j = 0; j < px->jobs; j++) {
        const uint8_t *row = px->state + j * px->nodes;
        struct job_id id = px->job[j].id;
        uint32_t first = count;
        for (uint32_t n = 0; n < px->nodes; n++)
            if (row[n] > 0)
                px->spot[count++] = (struct cs_node_gpus) { id, n, row[n] };
        if (count == first)
            px->spot[count++] = (struct cs_node_gpus) { id, 0, 0 };
        else if (px->job[j].attained > 0)
            px->restarts[id.i] += memcmp(row, px->now + j * px->nodes,
                                         px->nodes) != 0;
    }
    cs_set_node_gpus(host, px->spot, count);
}

/* Services, jobs of several roles, parts of a GPU, gangs that span pools: as
 * they ask. */
static void pollux_start_others(const struct pollux *px, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        if (!pollux_mine(px, host, cs_task(host, task)->job) &&
            cs_start(host, task) == CS_DONE)
            i--;
    }
}

static void pollux_decide(void *self, struct cs_host *host)
{
    struct pollux *px = self;
    int64_t now = cs_now_ns(host);

    pollux_start_others(px, host);
    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, (now / px->interval_ns + 1) * px->interval_ns);
    if (now % px->interval_ns != 0)
        return;
    pollux_list(px, host);
    if (px->jobs == 0)
        return;
    px->random = (uint64_t)(cs_random(host) * 0x1p52);
    pollux_measure(px, host);
    pollux_search(px, host, px->capacity + px->nodes,
                  (uint8_t *)(px->capacity + 2 * px->nodes));
    pollux_apply(px, host);
}

static bool pollux_init(void *self, struct cs_host *host)
{
    struct pollux *px = self;
    uint32_t all[POOLS] = { 0 };

    px->nodes = cs_node_count(host);
    px->pools = cs_pool_count(host);
    for (uint32_t n = 0; n < px->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        px->gpus_max += node.gpus;
        all[node.pool] += node.gpus;
        if (all[node.pool] > px->pool_most)
            px->pool_most = all[node.pool];
    }
    px->pool = cs_alloc(host, px->nodes, sizeof *px->pool);
    px->capacity = cs_alloc(host, 3 * (size_t)px->nodes, sizeof *px->capacity);
    px->host = cs_alloc(host, px->nodes * HOST_KINDS, sizeof *px->host);
    px->host_left = cs_alloc(host, px->nodes * HOST_KINDS,
                             sizeof *px->host_left);
    for (uint32_t n = 0; n < px->nodes; n++) {
        px->host[n * HOST_KINDS] = cs_node(host, n).cores;
        px->host[n * HOST_KINDS + 1] = cs_node(host, n).memory_bytes;
    }
    px->fitness = cs_alloc(host, 2 * (size_t)px->population,
                           sizeof *px->fitness);
    pollux_room(px, host, 1);
    return px->nodes > 0;
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct pollux, interval_ns), 1, 1e6,
      "60s", "GPUs are dealt at its multiples" },
    { "p", CS_PARAM_REAL, offsetof(struct pollux, p), -10, 1, "-1",
      "exponent of the mean of speedups; less is fairer" },
    { "restart", CS_PARAM_TIME, offsetof(struct pollux, delay_ns), 0, 1e5,
      "30s", "what the policy takes a restart for" },
    { "growth", CS_PARAM_INT, offsetof(struct pollux, growth), 1, 1e6, "2",
      "a job may have so many times the most GPUs that it has had" },
    { "population", CS_PARAM_INT, offsetof(struct pollux, population), 2, 1e4,
      "100", "matrices of the genetic algorithm" },
    { "generations", CS_PARAM_INT, offsetof(struct pollux, generations), 1,
      1e5, "100", "of the genetic algorithm, at each deal" },
    { "depth", CS_PARAM_INT, offsetof(struct pollux, depth), 1, 1e5, "256",
      "jobs that a deal looks at, beside those that run" },
};

const struct cs_policy linear_pollux_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "pollux",
    .summary = "elastic: GPUs and batches for the most goodput of all",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES | CS_DRAWS,
    .param_count = sizeof params / sizeof params[0], .param = params,
    .self_bytes = sizeof(struct pollux), .init = pollux_init,
    .decide = pollux_decide,
};
