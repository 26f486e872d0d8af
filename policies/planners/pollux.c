/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pollux.c - GPUs of nodes to jobs, so that the mean of their goodputs, each
 * over that of an equal share of the cluster, is largest.
 *
 * Qiao, Choe, Subramanya, Neiswanger, Ho, Zhang, Ganger and Xing, "Pollux:
 * Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI
 * 2021, section 4.2.  Every `interval` a genetic algorithm searches matrices of
 * jobs x nodes: children of two matrices (crossed at a job) are mutated (rows
 * fall back to what the job has, GPUs are dropped, free ones are given) and
 * repaired: no node has two jobs that span nodes (they would slow each other
 * down), no job more than `growth` times the most GPUs it has had, no node more
 * than it has; jobs with least attained service go first.  Fitness is the power
 * mean of speedups with exponent p = -1, and a job that would be restarted
 * counts (age - restarts x delay) / (age + delay) of its speedup.  The best
 * matrices of the last interval are the first of the next.  Jobs train with the
 * batch of the most goodput.
 *
 * Heterogeneous pools are nothing that it knows; here a job never spans two.
 * Their agents fit the law of goodput while a job runs; here it is known from
 * the start, and a first start counts in full.  Their NSGA-II also ranks by the
 * utilization on which they size the cluster, which is fixed here.  Links count
 * as within a node or between nodes.
 * Random numbers are of a generator that cs_random() seeds at each decision.
 *
 * Most jobs of a long queue have no GPUs in a matrix, so each has a list of those
 * that have some, and what is drawn for the others in vain is skipped; what a row
 * adds to the fitness depends on its pool, its GPUs and whether it spans nodes,
 * and is kept by these.  Both give the numbers of the plain search.
 * What cannot be resized or moved starts as it asks, when it fits.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy pollux_policy;

#define POOLS 32u
#define HOST_KINDS 2u           /* cores, host memory */
#define LEAST 1e-3              /* speedup of a job without GPUs, as theirs */
#define UNKNOWN UINT32_MAX
#define STEP UINT64_C(0x9e3779b97f4a7c15)       /* of the generator */

/* What is known of a job on a number of GPUs of a pool, on one node or on more.  It
 * holds for one interval: then the job's age and its fair share are others. */
struct pollux_known {
    double gain;                /* speedup; < 0: not looked at yet */
    bool spans;                 /* nodes */
    double term, stays;         /* of the fitness: moved there, or there now */
};

struct pollux_job {
    struct job_id id;
    double attained, age_s, fair;       /* GPU-s; s; speed of an equal share */
    double moved;               /* part of a speedup that a restart leaves */
    double each[HOST_KINDS];    /* per GPU */
    uint32_t restarts, cap, before;     /* cap: GPUs at most, by its growth;
                                   before: its row last time, or UINT32_MAX */
    bool runs, hosts;           /* hosts: it needs cores or memory */
    struct pollux_known *known; /* [pool][one node, more][GPUs] */
    uint32_t *below;            /* by GPUs: cs_size_below(); or UNKNOWN */
};

/* What a job has been through. */
struct pollux_seen {
    uint32_t restarts, largest; /* largest: most GPUs that it has had */
};

/* GPUs of nodes by job.  Those that are not in the list have none. */
struct pollux_matrix {
    uint8_t *row;               /* [job][node] */
    uint32_t *list, count;      /* jobs, in order */
};

struct pollux {
    int64_t interval_ns, delay_ns;
    int64_t population, generations, growth, depth;
    double p;
    struct pollux_job *job;     /* of this interval */
    struct job_id *old_id;
    struct pollux_seen *seen;   /* by job number */
    uint32_t seen_room;
    uint32_t jobs, old_jobs, room, nodes, pools, gpus_max, kept;
    uint32_t pool_most;         /* GPUs of the largest pool */
    uint32_t *pool, *capacity;  /* by node */
    double *host, *host_left;   /* by node: cores, memory */
    uint8_t *state, *old, *now; /* [matrix][job][node]; now: held */
    struct pollux_matrix *matrix;       /* parents, then children */
    double *fitness;
    uint32_t *lists, *spare;    /* of the matrices; one more */
    uint32_t *holder, holders;  /* jobs that hold GPUs now */
    double none, *none_sum;     /* term of a job without GPUs; of so many */
    /* By node, of the matrix at work: GPUs used and left, jobs that have some,
     * whether one of them spans nodes. */
    uint32_t *used, *left, *held;
    uint8_t *taken;
    struct cs_node_gpus *spot;
    struct pollux_known *known;
    uint32_t *below;
    uint32_t known_room, spots_room;
    uint64_t random;
};

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t pollux_draw(struct pollux *px)
{
    uint64_t z = px->random += STEP;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Moves the generator on as if that many numbers had been drawn, in one step: its
 * state is a counter. */
static void pollux_skip(struct pollux *px, uint64_t numbers)
{
    px->random += numbers * STEP;
}

/* Draws a whole number below n, from the upper half of a word by multiplication
 * (Lemire 2019, without the rejection: the bias is below n / 2^32). */
static uint32_t pollux_draw_below(struct pollux *px, uint32_t n)
{
    return (uint32_t)((pollux_draw(px) >> 32) * n >> 32);
}

/* Draws true with probability p, from the 53 bits that a double holds. */
static bool pollux_draw_chance(struct pollux *px, double p)
{
    return (double)(pollux_draw(px) >> 11) * 0x1p-53 < p;
}

/* ---- the jobs and nodes of an interval ----------------------------------- */

/* May the search deal to this job?  It must be one that can be moved, and a pool
 * must be able to hold its least size. */
static bool pollux_can_deal(const struct pollux *px, struct cs_host *host,
                            struct job_id id)
{
    return cs_can_move(host, id) && cs_size_least(host, id) <= px->pool_most;
}

/* Makes room for `jobs` jobs.  The allocations of the last decision are kept; the
 * states of the search are not, since they are drawn anew. */
static void pollux_room(struct pollux *px, struct cs_host *host, uint32_t jobs)
{
    size_t half = (size_t)px->population, bytes = 2 * half * px->nodes;
    uint32_t old_room = px->room, id_room = px->room;

    if (jobs < px->room)
        return;
    px->job = cs_grow(host, px->job, &px->room, jobs, sizeof *px->job);
    px->old_id = cs_grow(host, px->old_id, &id_room, jobs, sizeof *px->old_id);
    px->old = cs_grow(host, px->old, &old_room, jobs, bytes);
    uint32_t room = px->room;
    size_t matrix = (size_t)room * px->nodes, all = 2 * half * matrix;
    px->state = cs_alloc(host, all, 1);
    px->now = cs_alloc(host, matrix, 1);
    px->lists = cs_alloc(host, (2 * half + 1) * room, sizeof *px->lists);
    px->holder = cs_alloc(host, room, sizeof *px->holder);
    px->none_sum = cs_alloc(host, (size_t)room + 1, sizeof *px->none_sum);
}

/* Adds a job to those of this interval, if the policy can deal with it. */
static void pollux_add_job(struct pollux *px, struct cs_host *host,
                           struct job_id id)
{
    const struct role_spec *role = &cs_request(host, id)->form->role[0];
    struct pollux_job *job;

    if (!pollux_can_deal(px, host, id))
        return;
    pollux_room(px, host, px->jobs + 1);
    px->seen = cs_grow(host, px->seen, &px->seen_room, id.i, sizeof *px->seen);
    job = &px->job[px->jobs++];
    memset(job, 0, sizeof *job);
    job->id = id;
    job->attained = cs_attained_gpu_s(host, id);
    job->age_s = 1e-9 * (double)(cs_now_ns(host) -
                                 cs_request(host, id)->submit_ns);
    job->restarts = px->seen[id.i].restarts;
    job->each[0] = role->cores;
    job->each[1] = (double)role->memory_bytes;
    job->hosts = job->each[0] > 0 || job->each[1] > 0;
}

/* Order of the jobs: least attained GPU time first, then the older one. */
static bool goes_first(const struct pollux_job *a, const struct pollux_job *b)
{
    if (a->attained != b->attained)
        return a->attained < b->attained;
    return a->id.i < b->id.i;
}

/* Lists the jobs that run and the first `depth` that wait, those with the
 * least attained service first, and reads who holds what.  An insertion sort,
 * over `depth` jobs and those that run. */
static void pollux_list_jobs(struct pollux *px, struct cs_host *host)
{
    px->jobs = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        pollux_add_job(px, host, cs_running(host, i));
    uint32_t running = px->jobs;
    uint32_t i = 0;
    for (; i < cs_pending_count(host) && px->jobs - running < px->depth; i++)
        pollux_add_job(px, host, cs_task(host, cs_pending(host, i))->job);
    if (i < cs_pending_count(host))
        cs_limit_reached(host);
    for (i = 1; i < px->jobs; i++)
        for (uint32_t j = i; j > 0 && goes_first(&px->job[j],
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

/* Returns the speed of a job on an equal share of the cluster: that many GPUs,
 * packed, in the pool where they are fastest; 1 if it can run nowhere. */
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

/* What a job's speedup adds to the sum of the power mean.  With p = 0 that
 * mean is the geometric one.  LEAST keeps the term of a job without GPUs
 * finite. */
static double pollux_term(const struct pollux *px, double gain)
{
    return px->p == 0 ? log(fmax(gain, LEAST)) : pow(gain + LEAST, px->p);
}

/* Nothing is known of the jobs at the start of an interval.  none_sum[n] is
 * the sum of n terms of jobs without GPUs, added one by one, so that sums have
 * the bits of the plain search. */
static void pollux_forget(struct pollux *px, struct cs_host *host)
{
    size_t sizes = px->gpus_max + 1, row = px->pools * 2 * sizes;

    if (px->jobs > px->known_room) {
        px->known_room = px->room;
        px->known = cs_alloc(host, px->room * row, sizeof *px->known);
        px->below = cs_alloc(host, px->room * sizes, sizeof *px->below);
    }
    for (size_t i = 0; i < px->jobs * row; i++)
        px->known[i].gain = -1;
    for (size_t i = 0; i < px->jobs * sizes; i++)
        px->below[i] = UNKNOWN;
    for (uint32_t j = 0; j < px->jobs; j++) {
        px->job[j].known = px->known + j * row;
        px->job[j].below = px->below + j * sizes;
    }
    px->none = pollux_term(px, 0);
    px->none_sum[0] = 0;
    for (uint32_t j = 0; j < px->jobs; j++)
        px->none_sum[j + 1] = px->none_sum[j] + px->none;
}

/* Sets what the search needs of each job: the speed of its fair share, what a
 * restart would leave of a speedup, and its largest size. */
static void pollux_measure(struct pollux *px, struct cs_host *host)
{
    double delay_s = 1e-9 * (double)px->delay_ns;

    pollux_forget(px, host);
    px->holders = 0;
    for (uint32_t j = 0; j < px->jobs; j++) {
        struct pollux_job *job = &px->job[j];
        uint32_t least = cs_size_least(host, job->id), now = 0;

        job->fair = pollux_fair(px, host, job);
        for (uint32_t n = 0; n < px->nodes; n++)
            now += px->now[j * px->nodes + n];
        job->runs = now > 0;
        job->moved = fmax(0, job->age_s - job->restarts * delay_s) /
                     (job->age_s + delay_s);
        if (now > 0)
            px->holder[px->holders++] = j;
        if (now > px->seen[job->id.i].largest)
            px->seen[job->id.i].largest = now;
        job->cap = (uint32_t)px->growth * px->seen[job->id.i].largest;
        if (job->cap < least)
            job->cap = least;
        if (job->cap > px->gpus_max)
            job->cap = px->gpus_max;
        job->cap = cs_size_below(host, job->id, job->cap);
    }
}

/* Returns what is known of a row that has GPUs, all of one pool; asks the laws when
 * it is met for the first time in an interval. */
static const struct pollux_known *pollux_known(
    const struct pollux *px, struct cs_host *host,
    const struct pollux_job *job, const uint8_t *row, uint32_t gpus)
{
    uint32_t nodes = 0, last = 0, count = px->nodes;

    for (uint32_t n = 0; n < count; n++) {
        nodes += row[n] > 0;
        last = row[n] > 0 ? n : last;
    }
    uint32_t pool = px->pool[last];
    struct pollux_known *known =
        &job->known[(pool * 2 + (nodes > 1)) * (px->gpus_max + 1) + gpus];
    if (known->gain < 0) {
        double speedup = cs_speedup_on(host, job->id, pool, gpus,
                                       nodes > 1 ? 2 : 1);
        known->gain = speedup / job->fair;
        known->spans = nodes > 1;
        known->stays = pollux_term(px, known->gain);
        known->term = pollux_term(px, job->runs ? known->gain * job->moved
                                                : known->gain);
    }
    return known;
}

/* ---- the search -------------------------------------------------------------- */

/* Returns the GPUs that job j has on each node, in a matrix. */
static uint8_t *pollux_row(const struct pollux *px,
                           const struct pollux_matrix *m, uint32_t j)
{
    return m->row + (size_t)j * px->nodes;
}

/* Mutates one row: it may fall back to what the job has now, and lose the GPUs of
 * single nodes. */
static void pollux_mutate_row(struct pollux *px, uint8_t *row, uint32_t j)
{
    if (pollux_draw_chance(px, 0.1))
        memcpy(row, px->now + (size_t)j * px->nodes, px->nodes);
    if (pollux_draw_chance(px, 0.1))
        for (uint32_t n = 0; n < px->nodes; n++)
            if (row[n] > 0 && pollux_draw_chance(px, 0.1))
                row[n] = 0;
}

/* A row that has no GPUs and holds none now stays so, whatever is drawn. */
static void pollux_mutate_rows(struct pollux *px, struct pollux_matrix *m)
{
    uint32_t *list = px->spare, count = 0, i = 0, h = 0, next = 0;

    while (i < m->count || h < px->holders) {
        uint32_t a = i < m->count ? m->list[i] : UINT32_MAX;
        uint32_t b = h < px->holders ? px->holder[h] : UINT32_MAX;
        uint32_t j = a < b ? a : b;
        i += a == j;
        h += b == j;
        pollux_skip(px, 2 * (uint64_t)(j - next));
        pollux_mutate_row(px, pollux_row(px, m, j), j);
        list[count++] = j;
        next = j + 1;
    }
    pollux_skip(px, 2 * (uint64_t)(px->jobs - next));
    px->spare = m->list;
    m->list = list;
    m->count = count;
}

/* Adds a job to a matrix's list, which stays in order, unless it is there. */
static void pollux_insert(struct pollux_matrix *m, uint32_t j)
{
    uint32_t at = m->count;

    while (at > 0 && m->list[at - 1] > j)
        at--;
    if (at > 0 && m->list[at - 1] == j)
        return;
    memmove(m->list + at + 1, m->list + at, (m->count - at) * sizeof *m->list);
    m->list[at] = j;
    m->count++;
}

/* Free GPUs of a node: to one of all jobs, and to one of those there. */
static void pollux_mutate_node(struct pollux *px, struct pollux_matrix *m,
                               uint32_t n)
{
    uint32_t capacity = px->capacity[n], pick = pollux_draw_below(px, px->jobs);
    uint8_t *cell = pollux_row(px, m, pick) + n;

    pollux_insert(m, pick);
    *cell += (uint8_t)pollux_draw_below(px, capacity - *cell + 1);
    if (px->held[n] == 0)
        return;
    pick = pollux_draw_below(px, px->held[n]);
    for (uint32_t i = 0; i < m->count; i++) {
        cell = pollux_row(px, m, m->list[i]) + n;
        if (*cell == 0 || pick-- > 0)
            continue;
        if (*cell < capacity)
            *cell += (uint8_t)pollux_draw_below(px, capacity - *cell + 1);
        return;
    }
}

/* Mutates all rows, then gives free GPUs of each node away.  Counts by node
 * are those from before anything is given; what is given beyond a node's GPUs
 * is taken away by the repair. */
static void pollux_mutate(struct pollux *px, struct pollux_matrix *m)
{
    uint32_t nodes = px->nodes, *used = px->used, *held = px->held;

    pollux_mutate_rows(px, m);
    memset(used, 0, nodes * sizeof *used);
    memset(held, 0, nodes * sizeof *held);
    for (uint32_t i = 0; i < m->count; i++) {
        const uint8_t *row = pollux_row(px, m, m->list[i]);
        for (uint32_t n = 0; n < nodes; n++) {
            used[n] += row[n];
            held[n] += row[n] > 0;
        }
    }
    for (uint32_t n = 0; n < nodes; n++)
        if (used[n] < px->capacity[n])
            pollux_mutate_node(px, m, n);
}

/* Trims a row to `most` GPUs; those of node `from` and of the nodes after it, in a
 * circle, are kept first. */
static void pollux_trim(const struct pollux *px, uint8_t *row, uint32_t from,
                        uint32_t most)
{
    for (uint32_t i = 0, left = most; i < px->nodes; i++) {
        uint8_t *cell = &row[(from + i) % px->nodes];
        if (*cell > left)
            *cell = (uint8_t)left;
        left -= *cell;
    }
}

/* Returns the GPUs of a row. */
static uint32_t pollux_count_gpus(const struct pollux *px, const uint8_t *row)
{
    uint32_t gpus = 0;

    for (uint32_t n = 0; n < px->nodes; n++)
        gpus += row[n];
    return gpus;
}

/* Keeps only the GPUs of the pool of which the row has most: types do not mix. */
static void pollux_keep_one_pool(const struct pollux *px, uint8_t *row)
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

/* Makes a row one that the job may have: in one pool, of an allowed size, with a
 * speed.  NULL: there is none, and the row is empty or of no use. */
static const struct pollux_known *pollux_allow(struct pollux *px,
                                               struct cs_host *host,
                                               const struct pollux_job *job,
                                               uint8_t *row, uint32_t gpus)
{
    const struct pollux_known *known;

    if (px->pools > 1) {
        pollux_keep_one_pool(px, row);
        gpus = pollux_count_gpus(px, row);
    }
    uint32_t *size = &job->below[gpus];
    if (*size == UNKNOWN)
        *size = cs_size_below(host, job->id, gpus);
    if (*size < gpus)
        pollux_trim(px, row, pollux_draw_below(px, px->nodes), *size);
    if (*size == 0)
        return NULL;
    known = pollux_known(px, host, job, row, *size);
    if (known->gain > 0)
        return known;
    memset(row, 0, px->nodes);
    return NULL;
}

/* Bounds a row by the cores and host memory that its nodes have left; with `take`,
 * once the row is final, takes them. */
static void pollux_bound_hosts(const struct pollux *px, const struct pollux_job *job,
                               uint8_t *row, bool take)
{
    for (uint32_t k = 0; k < HOST_KINDS; k++)
        for (uint32_t n = 0; job->each[k] > 0 && n < px->nodes; n++) {
            double *left = &px->host_left[n * HOST_KINDS + k];
            double each = job->each[k];
            if (take)
                *left -= each * row[n];
            else if (each * row[n] > *left)
                row[n] = (uint8_t)fmax(0, floor(*left / each));
        }
}

/* Returns on how many nodes a row has GPUs.  In one pass without branches: it is
 * asked for in every repair. */
static uint32_t pollux_count_nodes(const struct pollux *px, const uint8_t *row)
{
    uint32_t nodes = 0, count = px->nodes;

    for (uint32_t n = 0; n < count; n++)
        nodes += row[n] > 0;
    return nodes;
}

/* Repairs one row by what the rows before it left: GPUs, nodes without a spanning
 * job, cores and memory, the job's growth, an allowed size.  NULL: it has no GPUs
 * then.  It always draws one number. */
static const struct pollux_known *pollux_repair_row(
    struct pollux *px, struct cs_host *host, const struct pollux_job *job,
    uint8_t *row)
{
    const struct pollux_known *known = NULL;
    bool spans = pollux_count_nodes(px, row) > 1;
    uint32_t gpus = 0, from, nodes = px->nodes, *left = px->left;
    uint8_t *taken = px->taken;

    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t most = spans && taken[n] ? 0 : left[n];
        if (row[n] > most)
            row[n] = (uint8_t)most;
        gpus += row[n];
    }
    if (job->hosts) {
        pollux_bound_hosts(px, job, row, false);
        gpus = pollux_count_gpus(px, row);
    }
    from = pollux_draw_below(px, px->nodes);
    if (gpus > job->cap) {
        pollux_trim(px, row, from, job->cap);
        gpus = job->cap;
    }
    if (gpus > 0)
        known = pollux_allow(px, host, job, row, gpus);
    if (known == NULL)
        return NULL;
    if (job->hosts)
        pollux_bound_hosts(px, job, row, true);
    for (uint32_t n = 0; n < nodes; n++) {
        left[n] -= row[n];
        taken[n] |= known->spans && row[n] > 0;
    }
    return known;
}

/* Returns the sum with the terms of jobs `from` to before `to`, which have no
 * GPUs; from the first job on it is known. */
static double pollux_add_none(const struct pollux *px, double sum,
                              uint32_t from, uint32_t to)
{
    if (from == 0)
        return px->none_sum[to];
    for (uint32_t j = from; j < to; j++)
        sum += px->none;
    return sum;
}

/* Repairs a matrix, the jobs with least service first, and returns its fitness.
 * One number is drawn for a row without GPUs too, to trim nothing. */
static double pollux_repair(struct pollux *px, struct cs_host *host,
                            struct pollux_matrix *m)
{
    uint32_t nodes = px->nodes, kept = 0, next = 0, summed = 0;
    double sum = 0;

    memcpy(px->left, px->capacity, nodes * sizeof *px->left);
    memset(px->taken, 0, nodes);
    memcpy(px->host_left, px->host, nodes * HOST_KINDS * sizeof *px->host);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t j = m->list[i];
        const struct pollux_job *job = &px->job[j];
        uint8_t *row = pollux_row(px, m, j);
        pollux_skip(px, j - next);
        next = j + 1;
        const struct pollux_known *known = pollux_repair_row(px, host, job,
                                                             row);
        if (known == NULL)
            continue;
        m->list[kept++] = j;
        bool stays = job->runs &&
                     memcmp(row, px->now + (size_t)j * nodes, nodes) == 0;
        sum = pollux_add_none(px, sum, summed, j);
        sum += stays ? known->stays : known->term;
        summed = j + 1;
    }
    pollux_skip(px, px->jobs - next);
    m->count = kept;
    sum = pollux_add_none(px, sum, summed, px->jobs) / px->jobs;
    return px->p == 0 ? exp(sum) : pow(sum, 1 / px->p);
}

/* Fills the first parents: what is held now, then the best of the last interval
 * with the rows of jobs that are still there; the rest is what is held now. */
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
    memset(px->state + px->population * matrix, 0, px->population * matrix);
}

/* Matrices and their lists; the second half are to be children. */
static void pollux_begin(struct pollux *px)
{
    uint32_t all = 2 * (uint32_t)px->population;
    size_t matrix = (size_t)px->jobs * px->nodes;

    pollux_seed(px);
    px->spare = px->lists + (size_t)all * px->room;
    for (uint32_t i = 0; i < all; i++) {
        struct pollux_matrix *m = &px->matrix[i];
        m->row = px->state + i * matrix;
        m->list = px->lists + (size_t)i * px->room;
        m->count = 0;
        for (uint32_t j = 0; j < px->jobs && i < px->population; j++)
            if (pollux_count_nodes(px, pollux_row(px, m, j)) > 0)
                m->list[m->count++] = j;
    }
}

/* The better of two at random. */
static const struct pollux_matrix *pollux_draw_parent(struct pollux *px)
{
    uint32_t a = pollux_draw_below(px, (uint32_t)px->population);
    uint32_t b = pollux_draw_below(px, (uint32_t)px->population);

    return &px->matrix[px->fitness[b] > px->fitness[a] ? b : a];
}

/* A child gets one row of a parent, which has GPUs. */
static void pollux_inherit(const struct pollux *px, struct pollux_matrix *child,
                           const struct pollux_matrix *parent, uint32_t j)
{
    memcpy(pollux_row(px, child, j), pollux_row(px, parent, j), px->nodes);
    child->list[child->count++] = j;
}

/* Rows of one up to the cut, of the other from there. */
static void pollux_cross(const struct pollux *px, struct pollux_matrix *child,
                         const struct pollux_matrix *a,
                         const struct pollux_matrix *b, uint32_t cut)
{
    for (uint32_t i = 0; i < child->count; i++)
        memset(pollux_row(px, child, child->list[i]), 0, px->nodes);
    child->count = 0;
    for (uint32_t i = 0; i < a->count && a->list[i] < cut; i++)
        pollux_inherit(px, child, a, a->list[i]);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->list[i] >= cut)
            pollux_inherit(px, child, b, b->list[i]);
}

/* Returns the index of the largest fitness from `from` to before `to`, the first of
 * equals. */
static uint32_t pollux_find_best(const struct pollux *px, uint32_t from, uint32_t to)
{
    double most = px->fitness[from];
    uint32_t best = from;

    for (uint32_t k = from + 1; k < to; k++)
        if (px->fitness[k] > most) {
            most = px->fitness[k];
            best = k;
        }
    return best;
}

/* Moves the best half of parents and children to the front, in order; ties go to
 * the first.  After the first selection parents are in order already (in_order),
 * so that a pass over the children suffices for each place. */
static void pollux_select(struct pollux *px, bool in_order)
{
    uint32_t count = (uint32_t)px->population;
    uint32_t child = pollux_find_best(px, count, 2 * count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = in_order ? i : pollux_find_best(px, i, count);
        if (px->fitness[child] > px->fitness[best])
            best = child;
        struct pollux_matrix matrix = px->matrix[i];
        double fitness = px->fitness[i];
        px->matrix[i] = px->matrix[best];
        px->fitness[i] = px->fitness[best];
        px->matrix[best] = matrix;
        px->fitness[best] = fitness;
        if (best == child)
            child = pollux_find_best(px, count, 2 * count);
    }
}

/* The genetic algorithm.  It leaves the best matrix in matrix[0], and keeps
 * all parents for the next interval. */
static void pollux_search(struct pollux *px, struct cs_host *host)
{
    size_t matrix = (size_t)px->jobs * px->nodes;
    uint32_t count = (uint32_t)px->population;

    pollux_begin(px);
    for (uint32_t i = 0; i < count; i++)
        px->fitness[i] = pollux_repair(px, host, &px->matrix[i]);
    for (int64_t g = 0; g < px->generations; g++) {
        for (uint32_t c = 0; c < count; c++) {
            const struct pollux_matrix *a = pollux_draw_parent(px);
            const struct pollux_matrix *b = pollux_draw_parent(px);
            struct pollux_matrix *child = &px->matrix[count + c];
            pollux_cross(px, child, a, b, pollux_draw_below(px, px->jobs + 1));
            pollux_mutate(px, child);
            px->fitness[count + c] = pollux_repair(px, host, child);
        }
        pollux_select(px, g > 0);
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(px->old + i * matrix, px->matrix[i].row, matrix);
    px->kept = count;
    px->old_jobs = px->jobs;
    for (uint32_t j = 0; j < px->jobs; j++)
        px->old_id[j] = px->job[j].id;
}

/* ---- what is done with it --------------------------------------------------- */

/* Hands the best matrix to the host in one call, a job without GPUs as zero,
 * and counts a restart for each job that had run and moves. */
static void pollux_apply(struct pollux *px, struct cs_host *host)
{
    uint32_t count = 0, need = px->room * px->nodes;

    if (need > px->spots_room) {
        px->spot = cs_alloc(host, need, sizeof *px->spot);
        px->spots_room = need;
    }
    for (uint32_t j = 0; j < px->jobs; j++) {
        const uint8_t *row = pollux_row(px, &px->matrix[0], j);
        struct job_id id = px->job[j].id;
        uint32_t first = count;
        for (uint32_t n = 0; n < px->nodes; n++)
            if (row[n] > 0)
                px->spot[count++] = (struct cs_node_gpus) { id, n, row[n] };
        if (count == first)
            px->spot[count++] = (struct cs_node_gpus) { id, 0, 0 };
        else if (px->job[j].attained > 0)
            px->seen[id.i].restarts += memcmp(row, px->now + j * px->nodes,
                                         px->nodes) != 0;
    }
    cs_set_node_gpus(host, px->spot, count);
}

/* Starts what the search does not deal to, as it asks: services, jobs of several
 * roles, parts of a GPU, gangs that span pools. */
static void pollux_start_others(const struct pollux *px, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        if (!pollux_can_deal(px, host, cs_task(host, task)->job) &&
            cs_start(host, task) == CS_DONE)
            i--;
    }
}

/* One search at each multiple of the interval; the generator is seeded by one
 * number of the host, so that a search is a function of that. */
static void pollux_decide(void *self, struct cs_host *host)
{
    struct pollux *px = self;
    int64_t now = cs_now_ns(host);

    pollux_start_others(px, host);
    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, px->interval_ns));
    if (now % px->interval_ns != 0)
        return;
    pollux_list_jobs(px, host);
    if (px->jobs == 0)
        return;
    px->random = (uint64_t)(cs_random(host) * 0x1p52);
    pollux_measure(px, host);
    pollux_search(px, host);
    pollux_apply(px, host);
}

/* Makes what depends on nodes alone; nodes that are not here yet are
 * counted. */
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
    px->capacity = cs_alloc(host, px->nodes, sizeof *px->capacity);
    px->left = cs_alloc(host, px->nodes, sizeof *px->left);
    px->used = cs_alloc(host, px->nodes, sizeof *px->used);
    px->held = cs_alloc(host, px->nodes, sizeof *px->held);
    px->taken = cs_alloc(host, px->nodes, sizeof *px->taken);
    px->host = cs_alloc(host, px->nodes * HOST_KINDS, sizeof *px->host);
    px->host_left = cs_alloc(host, px->nodes * HOST_KINDS,
                             sizeof *px->host_left);
    for (uint32_t n = 0; n < px->nodes; n++) {
        px->host[n * HOST_KINDS] = cs_node(host, n).cores;
        px->host[n * HOST_KINDS + 1] = cs_node(host, n).memory_bytes;
    }
    px->fitness = cs_alloc(host, 2 * (size_t)px->population,
                           sizeof *px->fitness);
    px->matrix = cs_alloc(host, 2 * (size_t)px->population,
                          sizeof *px->matrix);
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

const struct cs_policy pollux_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "pollux",
    .cites = "qiao2021pollux",
    .summary = "elastic: GPUs and batches for the most goodput of all",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES | CS_DRAWS,
    .param_count = sizeof params / sizeof params[0], .param = params,
    .self_bytes = sizeof(struct pollux), .init = pollux_init,
    .decide = pollux_decide, .limits = "depth",
};
