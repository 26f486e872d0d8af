/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sia.c - a GPU type and a number of GPUs to each job, by an integer program.
 *
 * Jayaram Subramanya, Arfeen, Lin, Qiao, Jia and Ganger, "Sia: Heterogeneity-
 * aware, goodput-optimized ML-cluster scheduling", SOSP 2023, section 3.  A
 * configuration is a number of GPUs of a pool: 1, 2, 4 ... on a node, or whole
 * nodes.
 * Every `interval` each job has at most one, so that the sum of (goodput over
 * that of its least one, times that one's GPUs)^p is best (least, with p < 0)
 * and of `idle` for each job that has none; a pool has no more GPUs than it has.
 * A configuration other than the present one counts (age - restarts x delay) /
 * (age + delay) of its goodput.  A job begins with its least number of GPUs and
 * at most doubles it (`growth`) at each deal.  Then GPUs are placed, the largest
 * jobs first, on whole nodes or within one; a job that keeps its configuration keeps its
 * GPUs, unless others then find no place.  Jobs train with the batch of the most
 * goodput.
 *
 * Jobs whose configurations and utilities are equal are one in the program, which
 * then says how many of them get each configuration: first those that run, then
 * the oldest.
 *
 * Their agents learn goodputs while a job runs, and those on other types from a
 * short profile; here they are known from the start.  Utilities are not rounded.
 * What cannot be resized or moved starts as it asks, when it fits.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/due.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy sia_policy;

#define POOLS 32u
#define HOST_KINDS 2u           /* cores, host memory */
#define CLIP 3000.0             /* utilities are cut there, as theirs */

struct sia_config {
    uint32_t pool, gpus, nodes; /* GPUs in all; nodes 0: there is none */
};

struct sia_job {
    struct job_id id;           /* its number */
    struct sia_config now, next; /* what it holds; what it is to have */
    double age_s;               /* since it was submitted */
    uint32_t restarts, first, count;    /* columns */
    uint32_t like, members;     /* the first job that is alike; of that: how many */
    double each[HOST_KINDS];            /* per GPU */
    uint32_t seat, seats;       /* GPUs to be: its entries in sia->seat */
    bool placed;                /* it has its seats */
};

/* What is known of a job from its submission on. */
struct sia_past {
    uint32_t restarts;          /* times that it had run and was moved */
    uint32_t pools;             /* where the program may deal its least size to it, a mask;
                                 * 0: it starts as it asks */
};

/* GPUs of a node, for one job. */
struct sia_seat {
    uint32_t node, gpus;        /* the node's number; how many */
};

struct sia {
    /* parameters; delay_ns: `restart` */
    int64_t interval_ns, delay_ns, growth, depth, nodes_max;
    double p, idle;             /* parameters */
    struct sia_job *job;
    struct sia_past *past;      /* by job number */
    uint32_t seen;              /* room of `past` */
    uint32_t others;            /* jobs here that the program may not deal to */
    /* jobs of this deal and room for them; nodes and pools of the cluster; columns of the
     * program and room for them */
    uint32_t jobs, room, nodes, pools, columns, column_room;
    struct sia_config *config;  /* by column */
    double *gain, *x, *value, *limit, *bound; /* of the program: utility, answer and bound by
                                               * column; numbers of the matrix; bounds by row */
    uint32_t *row, *column;     /* of the program: where each number of the matrix stands */
    uint32_t *kind, kinds;      /* the first job of each kind */
    uint32_t *pool, *capacity, *left;   /* by node */
    /* By node, cores and memory: without what others hold; still left. */
    double *host, *host_left;
    double most_host[POOLS][HOST_KINDS]; /* of `host`, of one node */
    uint32_t node_most[POOLS], most[POOLS];     /* largest nodes, how many */
    uint32_t node_gpus[POOLS], whole[POOLS], total[POOLS]; /* in this deal: the most GPUs of a
                                                            * node, nodes that have these, GPUs
                                                            * in all */
    struct cs_node_gpus *spot;  /* scratch: what the host is asked for */
    uint32_t spot_room;         /* entries of `spot` */
    struct sia_seat *seat;              /* job by job, as they are placed */
    uint32_t seats, seat_room;  /* of `seat` */
    uint64_t *with_left;        /* [GPUs][word]: a bit for each node that has this number left */
    uint32_t words;             /* of 64 nodes each */
};

/* ---- the jobs and nodes of a deal ------------------------------------------- */

/* Do as many nodes of a pool serve a job, when they are empty, with so many GPUs on each and the
 * cores and the memory for these?  O(nodes), until there are enough. */
static bool sia_has_nodes(const struct sia *sia, struct cs_host *host, struct job_id id,
                          uint32_t pool, uint32_t gpus, uint32_t nodes)
{
    const struct role_spec *role = &cs_request(host, id)->form->role[0];

    for (uint32_t n = 0; n < sia->nodes && nodes > 0; n++) {
        struct cs_node node = cs_node(host, n);
        nodes -= node.pool == pool && node.gpus >= gpus &&
                 node.cores >= (double)role->cores * gpus &&
                 node.memory_bytes >= (double)role->memory_bytes * gpus;
    }
    return nodes == 0;
}

/* Returns the pools, a mask, where an empty cluster has a configuration of a job's least size:
 * on one node, or on whole nodes of those with the most GPUs.  0: the job cannot be moved, or
 * there is none.  The answer stays with the job. */
static uint32_t sia_find_pools(const struct sia *sia, struct cs_host *host, struct job_id id)
{
    uint32_t pools = 0, least;

    if (!cs_can_move(host, id))
        return 0;
    least = cs_size_least(host, id);
    for (uint32_t p = 0; p < sia->pools; p++) {
        uint32_t node = sia->node_most[p];
        uint32_t nodes = least <= node || node == 0 ? 1 : least / node;
        if (node > 0 && (nodes == 1 || least % node == 0) &&
            cs_speedup_on(host, id, p, least, nodes) > 0 &&
            sia_has_nodes(sia, host, id, p, least / nodes, nodes))
            pools |= UINT32_C(1) << p;
    }
    return pools;
}

/* Notes where the program may deal to the job. */
static void sia_job_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct sia *sia = self;

    sia->past = cs_grow(host, sia->past, &sia->seen, id.i, sizeof *sia->past);
    sia->past[id.i].pools = sia_find_pools(sia, host, id);
    sia->others += sia->past[id.i].pools == 0;
}

/* One job fewer may be outside of the program. */
static void sia_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct sia *sia = self;

    (void)host;
    sia->others -= sia->past[id.i].pools == 0;
}

/* Makes room for `jobs` jobs.  Nothing is kept from before. */
static void sia_room(struct sia *sia, struct cs_host *host, uint32_t jobs)
{
    if (jobs < sia->room)
        return;
    sia->job = cs_grow(host, sia->job, &sia->room, jobs, sizeof *sia->job);
    sia->kind = cs_alloc(host, sia->room, sizeof *sia->kind);
    sia->limit = cs_alloc(host, sia->room + POOLS, sizeof *sia->limit);
}

/* Makes room for one more configuration, a column of the program.  Configurations and
 * their gains are kept. */
static void sia_column_room(struct sia *sia, struct cs_host *host)
{
    uint32_t room = sia->column_room;

    if (sia->columns < room)
        return;
    sia->config = cs_grow(host, sia->config, &sia->column_room, sia->columns,
                          sizeof *sia->config);
    sia->gain = cs_grow(host, sia->gain, &room, sia->columns, sizeof *sia->gain);
    sia->x = cs_alloc(host, room, sizeof *sia->x);
    sia->bound = cs_alloc(host, room, sizeof *sia->bound);
    sia->value = cs_alloc(host, 2 * (size_t)room, sizeof *sia->value);
    sia->row = cs_alloc(host, 2 * (size_t)room, sizeof *sia->row);
    sia->column = cs_alloc(host, 2 * (size_t)room, sizeof *sia->column);
}

/* Adds a job to those of this round, if the policy can deal with it. */
static void sia_add_job(struct sia *sia, struct cs_host *host, struct job_id id)
{
    struct sia_job *job;

    if (sia->past[id.i].pools == 0)
        return;
    sia_room(sia, host, sia->jobs + 1);
    job = &sia->job[sia->jobs++];
    memset(job, 0, sizeof *job);
    job->id = id;
    job->age_s = 1e-9 * (double)(cs_now_ns(host) -
                                 cs_request(host, id)->submit_ns);
    job->restarts = sia->past[id.i].restarts;
    job->each[0] = cs_request(host, id)->form->role[0].cores;
    job->each[1] = (double)cs_request(host, id)->form->role[0].memory_bytes;
}

/* Jobs that run, and the first `depth` that wait, in the queue's order. */
static void sia_list_jobs(struct sia *sia, struct cs_host *host)
{
    sia->jobs = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        sia_add_job(sia, host, cs_running(host, i));
    uint32_t running = sia->jobs;
    uint32_t i = 0;
    for (; i < cs_pending_count(host) && sia->jobs - running < sia->depth; i++)
        sia_add_job(sia, host, cs_task(host, cs_pending(host, i))->job);
    if (i < cs_pending_count(host))
        cs_limit_reached(host);
}

/* The GPUs that a job holds; NULL: none. */
static const struct placement *sia_placement(const struct cs_host *host, struct job_id id)
{
    struct lease_id lease = cs_role_lease(host, id, 0);

    return lease.i == ID_NONE ? NULL : &cs_lease(host, lease)->placement;
}

/* Counts what a job holds now, which its nodes have for the listed jobs. */
static void sia_read_job(struct sia *sia, const struct cs_host *host, struct sia_job *job)
{
    const struct placement *place = sia_placement(host, job->id);

    for (uint32_t s = 0; place != NULL && s < place->share_count; s++) {
        uint32_t node = place->share[s].node, gpus = cs_gpus_on(host, job->id, node);
        sia->capacity[node] += gpus;
        job->now.gpus += gpus;
        job->now.nodes += gpus > 0;
        if (gpus > 0)
            job->now.pool = sia->pool[node];
    }
}

/* Takes off what jobs hold that the program does not deal to, such as services.  O(leases). */
static void sia_take_others(struct sia *sia, const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (sia->past[lease->job.i].pools != 0)
            continue;
        for (uint32_t s = 0; s < lease->placement.share_count; s++) {
            const struct share *share = &lease->placement.share[s];
            double *has = &sia->host[(size_t)share->node * HOST_KINDS];
            has[0] -= share->cores + share->core_milli / 1000.0;
            has[1] -= (double)share->memory_bytes;
        }
    }
}

/* Counts the cores and the memory that each node has for the listed jobs, and by pool the most
 * that one node has. */
static void sia_read_hosts(struct sia *sia, const struct cs_host *host)
{
    for (uint32_t n = 0; n < sia->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        sia->host[n * HOST_KINDS] = node.cores;
        sia->host[n * HOST_KINDS + 1] = node.memory_bytes;
    }
    if (sia->others > 0)
        sia_take_others(sia, host);
    memset(sia->most_host, 0, sizeof sia->most_host);
    for (uint32_t n = 0; n < sia->nodes; n++)
        for (uint32_t k = 0; k < HOST_KINDS; k++)
            sia->most_host[sia->pool[n]][k] = fmax(sia->most_host[sia->pool[n]][k],
                                                   sia->host[n * HOST_KINDS + k]);
}

/* Counts what each node has for the listed jobs, free GPUs and those that they
 * hold; what each job holds now; and by pool the most that one node has, and how
 * many nodes have that. */
static void sia_read_nodes(struct sia *sia, struct cs_host *host)
{
    memset(sia->node_gpus, 0, sizeof sia->node_gpus);
    memset(sia->whole, 0, sizeof sia->whole);
    memset(sia->total, 0, sizeof sia->total);
    for (uint32_t n = 0; n < sia->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        sia->pool[n] = node.pool;
        sia->capacity[n] = node.here ? node.free_gpus : 0;
    }
    sia_read_hosts(sia, host);
    for (uint32_t j = 0; j < sia->jobs; j++)
        sia_read_job(sia, host, &sia->job[j]);
    for (uint32_t n = 0; n < sia->nodes; n++) {
        uint32_t pool = sia->pool[n], gpus = sia->capacity[n];
        sia->total[pool] += gpus;
        if (gpus > sia->node_gpus[pool]) {
            sia->node_gpus[pool] = gpus;
            sia->whole[pool] = 0;
        }
        sia->whole[pool] += gpus > 0 && gpus == sia->node_gpus[pool];
    }
}

/* ---- the program -------------------------------------------------------------- */

/* Are they as many GPUs on as many nodes of one pool? */
static bool is_same_config(struct sia_config a, struct sia_config b)
{
    return a.nodes == b.nodes && a.gpus == b.gpus && a.pool == b.pool;
}

/* Adds a column if the job may have that size, the laws give it a pace there, and the power cap
 * lets it run. */
static void sia_offer_config(struct sia *sia, struct cs_host *host,
                             struct sia_job *job, struct sia_config config)
{
    double speedup;

    if (cs_size_below(host, job->id, config.gpus) != config.gpus ||
        config.gpus > cs_gpus_powered(host, job->id, config.pool))
        return;
    speedup = cs_speedup_on(host, job->id, config.pool, config.gpus, config.nodes);
    if (!(speedup > 0))
        return;
    sia_column_room(sia, host);
    sia->config[sia->columns] = config;
    sia->gain[sia->columns++] = speedup;
    job->count++;
}

/* Returns the GPUs of a node of that pool for which the largest amount of cores
 * and memory that one has there suffices. */
static uint32_t sia_fits(const struct sia *sia, const struct sia_job *job,
                         uint32_t pool)
{
    double most = sia->node_gpus[pool];

    for (uint32_t k = 0; k < HOST_KINDS; k++)
        if (job->each[k] > 0)
            most = fmin(most, floor(sia->most_host[pool][k] / job->each[k]));
    return (uint32_t)most;
}

/* Offers a job its configurations: in each pool powers of two on a node, and its
 * own least size; then whole nodes, of which the number doubles from 16 on, so that
 * large clusters have few columns.  A job that waits gets its least size, in pools whose nodes
 * can hold it.  For example, nodes of 8 GPUs and a job of at most 32: 1, 2
 * and 4 GPUs on a node, then 1, 2, 3 and 4 nodes. */
static void sia_offer_configs(struct sia *sia, struct cs_host *host,
                              struct sia_job *job)
{
    uint32_t least = cs_size_least(host, job->id);
    uint32_t most = (uint32_t)sia->growth * job->now.gpus;

    if (most < least)
        most = least;
    job->first = sia->columns;
    job->count = 0;
    for (uint32_t p = 0; p < sia->pools; p++) {
        uint32_t node = sia->node_gpus[p], step = 1;
        uint32_t fits = sia_fits(sia, job, p);
        if (job->now.nodes == 0 && !(sia->past[job->id.i].pools >> p & 1))
            continue;
        for (uint32_t g = 1; g < node && g <= most && g <= fits; g++)
            if ((g & (g - 1)) == 0 || g == least)
                sia_offer_config(sia, host, job, (struct sia_config) { p, g, 1 });
        for (uint32_t n = 1; node <= fits && n <= sia->whole[p] &&
                             n * node <= most; n += step) {
            sia_offer_config(sia, host, job, (struct sia_config) { p, n * node, n });
            step = n >= 16 ? n : 1;
        }
        /* Nodes of its least size, if the steps passed over them. */
        uint32_t own = node > 0 && least % node == 0 ? least / node : 0;
        if (own > 16 && (own & (own - 1)) != 0 && node <= fits && own <= sia->whole[p])
            sia_offer_config(sia, host, job, (struct sia_config) { p, least, own });
    }
}

/* Turns a job's speeds into the utilities of the program: over the speed of its
 * least configuration and times its GPUs, less what a change costs, to the power p
 * (section 3).  The program maximizes; with p < 0 a small power is good, so what
 * it spares of `idle` counts.  For example, p = -0.5 and idle 1.1: 4 GPUs that are 3 times as
 * fast as one count 3^-0.5 = 0.58, and spare 1.1 - 0.58 = 0.52; one GPU counts 1 and spares
 * 0.1. */
static void sia_weigh_configs(struct sia *sia, const struct sia_job *job)
{
    double least = INFINITY, gpus = 1, delay_s = 1e-9 * (double)sia->delay_ns;
    double keeps = fmax(0, job->age_s - job->restarts * delay_s) /
                   (job->age_s + delay_s);

    for (uint32_t c = job->first; c < job->first + job->count; c++)
        if (sia->gain[c] < least) {
            least = sia->gain[c];
            gpus = sia->config[c].gpus;
        }
    for (uint32_t c = job->first; c < job->first + job->count; c++) {
        double gain = gpus * sia->gain[c] / least;
        if (job->now.nodes > 0 && !is_same_config(sia->config[c], job->now))
            gain *= fmax(keeps, 1e-6);
        gain = fmin(pow(gain, sia->p), CLIP);
        sia->gain[c] = sia->p < 0 ? sia->idle - gain : sia->idle + gain;
    }
}

/* Have two jobs the same configurations with the same gains?  Then one set of
 * columns of the program serves both, with a larger bound. */
static bool are_alike(const struct sia *sia, const struct sia_job *a,
                      const struct sia_job *b)
{
    bool alike = a->count == b->count;

    for (uint32_t i = 0; alike && i < a->count; i++)
        alike = sia->gain[a->first + i] == sia->gain[b->first + i] &&
                is_same_config(sia->config[a->first + i],
                               sia->config[b->first + i]);
    return alike;
}

/* Merges the last job into the kind that it is like, and gives its columns back; or
 * makes it the first of a new kind.  Kinds are compared one by one: O(kinds). */
static void sia_merge_job(struct sia *sia, uint32_t j)
{
    struct sia_job *job = &sia->job[j];

    for (uint32_t k = 0; k < sia->kinds; k++) {
        struct sia_job *first = &sia->job[sia->kind[k]];
        if (!are_alike(sia, first, job))
            continue;
        first->members++;
        job->like = sia->kind[k];
        sia->columns = job->first;
        return;
    }
    sia->kind[sia->kinds++] = j;
    job->like = j;
    job->members = 1;
}

/* Solves the integer program: a row for each kind, which has at most one
 * configuration for each of its jobs, and a row for each pool's GPUs.  False: there
 * is no answer, and all stays as it is.  Branch and bound ends after nodes_max nodes with the
 * best answer so far; the host then notes that a limit was reached. */
static bool sia_solve(struct sia *sia, struct cs_host *host)
{
    bool cut = false;
    struct cs_lp lp = {
        .columns = sia->columns, .rows = sia->kinds + sia->pools,
        .gain = sia->gain, .most = sia->bound, .limit = sia->limit,
        .row = sia->row, .column = sia->column, .value = sia->value,
        .x = sia->x, .whole = true,
    };

    for (uint32_t k = 0; k < sia->kinds; k++) {
        const struct sia_job *job = &sia->job[sia->kind[k]];
        sia->limit[k] = job->members;
        for (uint32_t c = job->first; c < job->first + job->count; c++) {
            uint32_t e = lp.entries;
            sia->bound[c] = job->members;
            sia->row[e] = k;
            sia->row[e + 1] = sia->kinds + sia->config[c].pool;
            sia->column[e] = sia->column[e + 1] = c;
            sia->value[e] = 1;
            sia->value[e + 1] = sia->config[c].gpus;
            lp.entries += 2;
        }
    }
    for (uint32_t p = 0; p < sia->pools; p++)
        sia->limit[sia->kinds + p] = sia->total[p];
    lp.nodes_max = (uint32_t)sia->nodes_max;
    lp.cut = &cut;
    bool solved = sia->columns > 0 && cs_linear_program(&lp);
    if (cut)
        cs_limit_reached(host);
    return solved;
}

/* Deals the program's answer to the jobs of each kind, in the list's order: jobs
 * that run come first.  A job that is dealt none stops, or waits on. */
static void sia_share_out(struct sia *sia)
{
    for (uint32_t j = 0; j < sia->jobs; j++) {
        const struct sia_job *first = &sia->job[sia->job[j].like];
        uint32_t c = first->first, end = c + first->count;

        while (c < end && sia->x[c] < 0.5)
            c++;
        if (c == end)
            continue;
        sia->x[c] -= 1;
        sia->job[j].next = sia->config[c];
    }
}

/* ---- places --------------------------------------------------------------------- */

/* Sets what a node has left. */
static void sia_set_left(struct sia *sia, uint32_t node, uint32_t gpus)
{
    uint64_t bit = UINT64_C(1) << node % 64;

    sia->with_left[(size_t)sia->left[node] * sia->words + node / 64] &= ~bit;
    sia->with_left[(size_t)gpus * sia->words + node / 64] |= bit;
    sia->left[node] = gpus;
}

/* Returns the node of a job's pool that has least left of those that have enough
 * (best fit), of equals the first; UINT32_MAX: none.  Bits are looked at 64 nodes at a time,
 * so the search is O(GPUs of a node x nodes / 64), but for nodes of other pools. */
static uint32_t sia_find_node(const struct sia *sia, const struct sia_job *job,
                              uint32_t gpus)
{
    for (uint32_t left = gpus; left <= sia->node_gpus[job->next.pool]; left++)
        for (uint32_t w = 0; w < sia->words; w++) {
            uint64_t word = sia->with_left[(size_t)left * sia->words + w];
            for (; word != 0; word &= word - 1) {
                uint32_t n = 64 * w + (uint32_t)__builtin_ctzll(word);
                if (sia->pool[n] == job->next.pool &&
                    sia->host_left[n * HOST_KINDS] >= job->each[0] * gpus &&
                    sia->host_left[n * HOST_KINDS + 1] >= job->each[1] * gpus)
                    return n;
            }
        }
    return UINT32_MAX;
}

/* Gives GPUs of a node to the job that is being placed, with its cores and memory for
 * each. */
static void sia_take(struct sia *sia, struct cs_host *host, struct sia_job *job,
                     uint32_t node, uint32_t gpus)
{
    if (sia->seats == sia->seat_room)
        sia->seat = cs_grow(host, sia->seat, &sia->seat_room, sia->seats,
                            sizeof *sia->seat);
    sia->seat[sia->seats++] = (struct sia_seat) { node, gpus };
    job->seats++;
    sia_set_left(sia, node, sia->left[node] - gpus);
    for (uint32_t k = 0; k < HOST_KINDS; k++)
        sia->host_left[node * HOST_KINDS + k] -= job->each[k] * gpus;
}

/* Gives back what a job was given last: GPUs, cores and memory. */
static void sia_give_back(struct sia *sia, struct sia_job *job)
{
    struct sia_seat seat = sia->seat[--sia->seats];

    job->seats--;
    sia_set_left(sia, seat.node, sia->left[seat.node] + seat.gpus);
    for (uint32_t k = 0; k < HOST_KINDS; k++)
        sia->host_left[seat.node * HOST_KINDS + k] += job->each[k] * seat.gpus;
}

/* Places a job on as many nodes as its configuration says, alike on each, or
 * takes all back. */
static bool sia_place_job(struct sia *sia, struct cs_host *host, struct sia_job *job)
{
    uint32_t node, each = job->next.gpus / job->next.nodes;

    job->seat = sia->seats;
    while (job->seats < job->next.nodes &&
           (node = sia_find_node(sia, job, each)) != UINT32_MAX)
        sia_take(sia, host, job, node, each);
    job->placed = job->seats == job->next.nodes;
    while (!job->placed && job->seats > 0)
        sia_give_back(sia, job);
    assert(job->placed || sia->seats == job->seat);
    return job->placed;
}

/* A job that keeps its configuration keeps its GPUs.  Its nodes have them: capacity counts
 * what the listed jobs hold. */
static void sia_keep_place(struct sia *sia, struct cs_host *host, struct sia_job *job)
{
    const struct placement *place = sia_placement(host, job->id);

    job->seat = sia->seats;
    for (uint32_t s = 0; s < place->share_count; s++) {
        uint32_t node = place->share[s].node, gpus = cs_gpus_on(host, job->id, node);
        if (gpus > 0)
            sia_take(sia, host, job, node, gpus);
    }
    job->placed = true;
}

/* All nodes have what the listed jobs may use. */
static void sia_clear_places(struct sia *sia)
{
    memset(sia->with_left, 0,
           (size_t)(NODE_GPUS_MAX + 1) * sia->words * sizeof *sia->with_left);
    for (uint32_t n = 0; n < sia->nodes; n++) {
        sia->left[n] = sia->capacity[n];
        sia_set_left(sia, n, sia->capacity[n]);
    }
    memcpy(sia->host_left, sia->host,
           sia->nodes * HOST_KINDS * sizeof *sia->host);
    sia->seats = 0;
}

/* The largest number of GPUs below one that a job is to have and that has no place
 * yet; 0: there is none.  O(jobs), once for each size. */
static uint32_t sia_next_size(const struct sia *sia, uint32_t below)
{
    uint32_t size = 0;

    for (uint32_t j = 0; j < sia->jobs; j++) {
        const struct sia_job *job = &sia->job[j];
        if (job->next.nodes > 0 && !job->placed && job->next.gpus < below &&
            job->next.gpus > size)
            size = job->next.gpus;
    }
    return size;
}

/* Places all jobs, the largest first; with `keep`, those whose configuration stays
 * keep their GPUs.  False: a job found no place, and might if none were kept.  Of one size, in
 * the list's order. */
static bool sia_place_all(struct sia *sia, struct cs_host *host, bool keep)
{
    bool all = true, kept = false;
    uint32_t size = UINT32_MAX;

    sia_clear_places(sia);
    for (uint32_t j = 0; j < sia->jobs; j++) {
        struct sia_job *job = &sia->job[j];
        job->placed = false;
        job->seats = 0;
        if (keep && job->next.nodes > 0 && is_same_config(job->next, job->now))
            sia_keep_place(sia, host, job);
        kept |= job->placed;
    }
    while ((size = sia_next_size(sia, size)) > 0)
        for (uint32_t j = 0; j < sia->jobs; j++) {
            struct sia_job *job = &sia->job[j];
            if (job->next.nodes > 0 && !job->placed && job->next.gpus == size)
                all &= sia_place_job(sia, host, job);
        }
    return all || !kept;
}

/* Sorts what a job is to have by node, and compares it with what it has. */
static bool sia_moves(const struct sia *sia, const struct cs_host *host,
                      const struct sia_job *job)
{
    const struct placement *place = sia_placement(host, job->id);
    struct sia_seat *seat = sia->seat == NULL ? NULL : sia->seat + job->seat;
    uint32_t at = 0;

    for (uint32_t i = 1; i < job->seats; i++)
        for (uint32_t k = i; k > 0 && seat[k].node < seat[k - 1].node; k--) {
            struct sia_seat was = seat[k];
            seat[k] = seat[k - 1];
            seat[k - 1] = was;
        }
    for (uint32_t s = 0; place != NULL && s < place->share_count; s++) {
        uint32_t node = place->share[s].node, gpus = cs_gpus_on(host, job->id, node);
        if (gpus == 0)
            continue;
        if (at == job->seats || seat[at].node != node || seat[at].gpus != gpus)
            return true;
        at++;
    }
    return at < job->seats;
}

/* Hands the placement to the host in one call, and counts a restart for each
 * job that had run and moves. */
static void sia_apply(struct sia *sia, struct cs_host *host)
{
    uint32_t count = 0, most = sia->seats + sia->jobs;

    if (most > sia->spot_room)
        sia->spot = cs_grow(host, sia->spot, &sia->spot_room, most, sizeof *sia->spot);
    for (uint32_t j = 0; j < sia->jobs; j++) {
        struct sia_job *job = &sia->job[j];
        bool moves = sia_moves(sia, host, job);
        for (uint32_t i = 0; i < job->seats; i++) {
            struct sia_seat seat = sia->seat[job->seat + i];
            sia->spot[count++] = (struct cs_node_gpus) { job->id, seat.node, seat.gpus };
        }
        if (job->seats == 0)
            sia->spot[count++] = (struct cs_node_gpus) { job->id, 0, 0 };
        else if (moves && cs_attained_gpu_s(host, job->id) > 0)
            sia->past[job->id.i].restarts++;
    }
    cs_set_node_gpus(host, sia->spot, count);
}

/* Starts what the program does not deal to, as it asks: services, jobs of several
 * roles, parts of a GPU, other gangs.  Where no such job is here, nothing is looked at. */
static void sia_start_others(const struct sia *sia, struct cs_host *host)
{
    for (uint32_t i = 0; sia->others > 0 && i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        if (sia->past[cs_task(host, task)->job.i].pools == 0 &&
            cs_start(host, task) == CS_DONE)
            i--;
    }
}

/* One deal at each multiple of the interval; only jobs outside the program
 * start between them. */
static void sia_decide(void *self, struct cs_host *host)
{
    struct sia *sia = self;
    int64_t now = cs_now_ns(host);

    sia_start_others(sia, host);
    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, sia->interval_ns));
    if (!cs_is_due(host, sia->interval_ns))
        return;
    sia_list_jobs(sia, host);
    sia_read_nodes(sia, host);
    sia->columns = sia->kinds = 0;
    for (uint32_t j = 0; j < sia->jobs; j++) {
        sia_offer_configs(sia, host, &sia->job[j]);
        sia_weigh_configs(sia, &sia->job[j]);
        sia_merge_job(sia, j);
    }
    if (sia->jobs == 0 || !sia_solve(sia, host))
        return;
    sia_share_out(sia);
    if (!sia_place_all(sia, host, true))
        sia_place_all(sia, host, false);
    sia_apply(sia, host);
}

/* Makes what depends on nodes alone.  Nodes that come later are known from the
 * start, as nodes that are not here. */
static bool sia_init(void *self, struct cs_host *host)
{
    struct sia *sia = self;

    sia->nodes = cs_node_count(host);
    sia->pools = cs_pool_count(host);
    sia->pool = cs_alloc(host, sia->nodes, sizeof *sia->pool);
    sia->capacity = cs_alloc(host, sia->nodes, sizeof *sia->capacity);
    sia->left = cs_alloc(host, sia->nodes, sizeof *sia->left);
    sia->words = (sia->nodes + 63) / 64;
    sia->with_left = cs_alloc(host, (size_t)(NODE_GPUS_MAX + 1) * sia->words,
                              sizeof *sia->with_left);
    sia->host = cs_alloc(host, sia->nodes * HOST_KINDS, sizeof *sia->host);
    sia->host_left = cs_alloc(host, sia->nodes * HOST_KINDS,
                              sizeof *sia->host_left);
    for (uint32_t n = 0; n < sia->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        /* Counts, by pool, the nodes that have the most GPUs: a larger one begins anew. */
        if (node.gpus > sia->node_most[node.pool])
            sia->most[node.pool] = 0;
        if (node.gpus >= sia->node_most[node.pool]) {
            sia->node_most[node.pool] = node.gpus;
            sia->most[node.pool]++;
        }
    }
    sia_room(sia, host, 1);
    if (sia->p != 0)
        return true;
    cs_fail(host, "p must not be 0");
    cs_note(host, "It is an exponent: -0.5, the default, is fairer than 1.");
    return false;
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct sia, interval_ns), 1, 1e6,
      "60s", "GPUs are dealt at its multiples" },
    { "p", CS_PARAM_REAL, offsetof(struct sia, p), -10, 1, "-0.5",
      "exponent of utilities; less is fairer, not 0" },
    { "idle", CS_PARAM_REAL, offsetof(struct sia, idle), 0, 100, "1.1",
      "what a job without GPUs costs the sum; above 1, so that none need wait" },
    { "restart", CS_PARAM_TIME, offsetof(struct sia, delay_ns), 0, 1e5, "30s",
      "what the policy takes a restart for" },
    { "growth", CS_PARAM_INT, offsetof(struct sia, growth), 1, 1e6, "2",
      "ratio of the GPUs that a deal may give a job to those that it has" },
    { "depth", CS_PARAM_INT, offsetof(struct sia, depth), 1, 1e5, "256",
      "jobs that a deal looks at, beside those that run" },
    { "nodes_max", CS_PARAM_INT, offsetof(struct sia, nodes_max), 1, 1e9, "2000",
      "of branch and bound, in which a deal's program is solved" },
};

const struct cs_policy sia_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "sia",
    .cites = "subramanya2023sia",
    .summary = "elastic, for mixed GPUs: types, sizes, batches by goodput",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES,
    .param_count = sizeof params / sizeof params[0], .param = params,
    .self_bytes = sizeof(struct sia), .init = sia_init, .decide = sia_decide,
    .job_submitted = sia_job_submitted, .job_ended = sia_job_ended,
    .limits = "depth nodes_max",
};
