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
 *
 * A search of more jobs than `climb` begins with a climb.  Its default, 64, was chosen on drawn
 * jobs on 128 and 256 GPUs: mean completion is 1.7% and 8.7% shorter than with generations alone,
 * and 12% on 384 GPUs, which were kept aside.  Of fewer jobs generations alone find more: by 0.7%
 * on 64 GPUs, and by 3% to 4% in three of four of Pollux' own workloads (1, 3 and 6; 2: no sign).
 *
 * The search is cs_breed_gpus(); cs_random() seeds its numbers at each decision.
 * What cannot be resized or moved starts as it asks, when it fits.
 */
#include <math.h>

#include "policies/due.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy pollux_policy;

#define POOLS 32u

struct pollux_job {
    struct job_id id;           /* its number */
    double attained, age_s, fair;       /* GPU-s; s; speed of an equal share */
    uint32_t gpus;              /* that it holds */
};

/* What is known of a job from its submission on, and what it has been through. */
struct pollux_seen {
    uint32_t restarts, largest; /* largest: most GPUs that it has had */
    bool dealt;                 /* may the search deal to it? */
};

/* Nodes of one pool that follow one another. */
struct pollux_run {
    uint32_t pool, gpus;        /* gpus: of the first node */
};

struct pollux {
    int64_t interval_ns, delay_ns; /* parameters `interval` and `restart` */
    int64_t population, generations, growth, depth; /* parameters */
    double p;                   /* parameter: exponent of the mean */
    int64_t climb;              /* parameter: a search of more jobs begins with a climb */
    struct pollux_job *job, *spare;     /* of this interval, in order */
    struct cs_breed_job *ask;   /* of each job: what the search is told, and its answer */
    struct pollux_seen *seen;   /* by job number */
    struct cs_cell *now;        /* what is held, job by job */
    struct cs_node_gpus *spot;  /* scratch: what the host is asked for */
    struct cs_breed_node *node; /* of each node: what may be dealt */
    struct pollux_run *run;     /* runs of nodes of one pool */
    struct cs_breed *breed;     /* the search, with its best matrices */
    uint32_t jobs, job_room, spare_room, ask_room, seen_room, now_room, spot_room;
    uint32_t nodes, runs, gpus_max; /* nodes, runs of them, and GPUs that there can be */
    uint32_t others;            /* jobs here that the search may not deal to */
    uint32_t pool_most;         /* GPUs of the largest pool */
};

/* ---- the jobs and nodes of an interval ----------------------------------- */

/* Returns the GPUs of the pool that have the cores and the memory which a job asks for with each,
 * on empty nodes.  O(nodes). */
static uint32_t pollux_count_served(const struct pollux *px, struct cs_host *host,
                                    struct job_id id, uint32_t pool)
{
    const struct role_spec *role = &cs_request(host, id)->form->role[0];
    double each[CS_BREED_HOST] = { role->cores, (double)role->memory_bytes };
    uint32_t sum = 0;

    for (uint32_t n = 0; n < px->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        double have[CS_BREED_HOST] = { node.cores, node.memory_bytes }, gpus = node.gpus;
        for (uint32_t k = 0; k < CS_BREED_HOST; k++)
            if (each[k] > 0)
                gpus = fmin(gpus, floor(have[k] / each[k]));
        sum += node.pool == pool ? (uint32_t)gpus : 0;
    }
    return sum;
}

/* May the search deal to this job?  It must be one that can be moved, and a pool
 * must be able to hold its least size.  The answer stays with the job. */
static bool pollux_find_deal(const struct pollux *px, struct cs_host *host,
                            struct job_id id)
{
    uint32_t least = cs_size_least(host, id);

    if (!cs_can_move(host, id) || least > px->pool_most)
        return false;
    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (pollux_count_served(px, host, id, p) >= least)
            return true;
    return false;
}

/* Notes whether the search may deal to the job.  `others` counts the jobs that it may not deal
 * to; they run beside it. */
static void pollux_job_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct pollux *px = self;

    px->seen = cs_grow(host, px->seen, &px->seen_room, id.i, sizeof *px->seen);
    px->seen[id.i].dealt = pollux_find_deal(px, host, id);
    px->others += !px->seen[id.i].dealt;
}

/* What the search dealt is found out anew in each interval: only `others` must be corrected. */
static void pollux_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct pollux *px = self;

    (void)host;
    px->others -= !px->seen[id.i].dealt;
}

/* Adds a job to those of this interval, if the policy can deal with it. */
static void pollux_add_job(struct pollux *px, struct cs_host *host,
                           struct job_id id)
{
    if (!px->seen[id.i].dealt)
        return;
    px->job = cs_grow(host, px->job, &px->job_room, px->jobs, sizeof *px->job);
    px->job[px->jobs++] = (struct pollux_job) {
        .id = id,
        .attained = cs_attained_gpu_s(host, id),
        .age_s = 1e-9 * (double)(cs_now_ns(host) -
                                 cs_request(host, id)->submit_ns),
    };
}

/* Order of the jobs: least attained GPU time first, then the older one.  No two jobs are
 * equal, so the order does not depend on the sort. */
static bool goes_first(const struct pollux_job *a, const struct pollux_job *b)
{
    if (a->attained != b->attained)
        return a->attained < b->attained;
    return a->id.i < b->id.i;
}

/* Merges two sorted runs of jobs, which end where the other begins and at `end`. */
static void pollux_merge(struct pollux_job *out, const struct pollux_job *in,
                         uint32_t begin, uint32_t middle, uint32_t end)
{
    uint32_t a = begin, b = middle;

    for (uint32_t i = begin; i < end; i++)
        out[i] = b == end || (a < middle && goes_first(&in[a], &in[b])) ? in[a++] : in[b++];
}

/* Sorts the jobs: a merge sort.  O(n log n).  The two arrays change their roles after each
 * pass, so nothing is copied back. */
static void pollux_sort_jobs(struct pollux *px, struct cs_host *host)
{
    px->spare = cs_grow(host, px->spare, &px->spare_room, px->jobs, sizeof *px->spare);
    for (uint32_t width = 1; width < px->jobs; width *= 2) {
        for (uint32_t begin = 0; begin < px->jobs; begin += 2 * width) {
            uint32_t left = px->jobs - begin;
            pollux_merge(px->spare, px->job, begin, begin + (width < left ? width : left),
                         begin + (2 * width < left ? 2 * width : left));
        }
        struct pollux_job *sorted = px->spare;
        uint32_t room = px->spare_room;
        px->spare = px->job;
        px->spare_room = px->job_room;
        px->job = sorted;
        px->job_room = room;
    }
}

/* Lists the jobs that run and the first `depth` that wait, those with the
 * least attained service first. */
static void pollux_list_jobs(struct pollux *px, struct cs_host *host)
{
    uint32_t running, i = 0;

    px->jobs = 0;
    for (; i < cs_running_count(host); i++)
        pollux_add_job(px, host, cs_running(host, i));
    running = px->jobs;
    for (i = 0; i < cs_pending_count(host) && px->jobs - running < px->depth; i++)
        pollux_add_job(px, host, cs_task(host, cs_pending(host, i))->job);
    if (i < cs_pending_count(host))
        cs_limit_reached(host);
    pollux_sort_jobs(px, host);
}

/* Takes off the cores and the memory that jobs hold which the search does not deal to, such as
 * services.  O(leases). */
static void pollux_take_others(struct pollux *px, const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (px->seen[lease->job.i].dealt)
            continue;
        for (uint32_t s = 0; s < lease->placement.share_count; s++) {
            const struct share *share = &lease->placement.share[s];
            px->node[share->node].host[0] -= share->cores + share->core_milli / 1000.0;
            px->node[share->node].host[1] -= (double)share->memory_bytes;
        }
    }
}

/* Reads what nodes may give: what is free there and what the jobs hold.  What jobs hold is
 * added by pollux_read_held(). */
static void pollux_read_nodes(struct pollux *px, struct cs_host *host)
{
    for (uint32_t n = 0; n < px->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        px->node[n].gpus = node.here ? node.free_gpus : 0;
        px->node[n].host[0] = node.cores;
        px->node[n].host[1] = node.memory_bytes;
    }
    if (px->others > 0)
        pollux_take_others(px, host);
}

/* Reads what a job holds.  `held`: cells of the jobs before it.  Returns them with
 * its own. */
static uint32_t pollux_read_held(struct pollux *px, struct cs_host *host, uint32_t j,
                                 uint32_t held)
{
    struct lease_id lease = cs_role_lease(host, px->job[j].id, 0);
    uint32_t begin = held;

    if (lease.i != ID_NONE) {
        const struct placement *place = &cs_lease(host, lease)->placement;
        px->now = cs_grow(host, px->now, &px->now_room, held + place->share_count,
                          sizeof *px->now);
        for (uint32_t s = 0; s < place->share_count; s++) {
            uint32_t node = place->share[s].node;
            uint32_t gpus = cs_gpus_on(host, px->job[j].id, node);
            if (gpus == 0)
                continue;
            px->now[held++] = (struct cs_cell) { node, gpus };
            px->node[node].gpus += gpus;
            px->job[j].gpus += gpus;
        }
    }
    px->ask[j].now_count = held - begin;
    return held;
}

/* ---- speedups -------------------------------------------------------------- */

/* Returns the speed of a job on an equal share of the cluster: that many GPUs,
 * packed, in the pool where they are fastest; 1 if it can run nowhere.  For example, 16 GPUs
 * and 5 jobs: a share of 4 GPUs, rounded up. */
static double pollux_fair(const struct pollux *px, struct cs_host *host,
                          const struct pollux_job *job)
{
    uint32_t share = (cs_total_gpus(host, 0) + px->jobs - 1) / px->jobs;
    uint32_t gpus = cs_size_below(host, job->id, share ? share : 1);
    double best = 0;

    if (gpus == 0)
        gpus = cs_size_least(host, job->id);
    for (uint32_t r = 0; r < px->runs; r++)
        best = fmax(best, cs_speedup_on(host, job->id, px->run[r].pool, gpus,
                                        gpus > 1 && px->run[r].gpus < gpus ? 2 : 1));
    return best > 0 ? best : 1;
}

/* Returns how many GPUs a job may have: `growth` times the most that it has had.  A job that
 * has had no GPUs yet may have its least size. */
static uint32_t pollux_most(struct pollux *px, struct cs_host *host,
                            const struct pollux_job *job)
{
    struct pollux_seen *seen = &px->seen[job->id.i];
    uint32_t least = cs_size_least(host, job->id), most;

    if (job->gpus > seen->largest)
        seen->largest = job->gpus;
    most = (uint32_t)px->growth * seen->largest;
    if (most < least)
        most = least;
    return cs_size_below(host, job->id, most < px->gpus_max ? most : px->gpus_max);
}

/* Sets what the search needs of each job.  `now` may move while it grows, so the pointers into
 * it are set at the end. */
static void pollux_measure(struct pollux *px, struct cs_host *host)
{
    double delay_s = 1e-9 * (double)px->delay_ns;
    uint32_t held = 0;

    px->ask = cs_grow(host, px->ask, &px->ask_room, px->jobs, sizeof *px->ask);
    px->now = cs_grow(host, px->now, &px->now_room, held, sizeof *px->now);
    pollux_read_nodes(px, host);
    for (uint32_t j = 0; j < px->jobs; j++) {
        struct pollux_job *job = &px->job[j];
        const struct role_spec *role = &cs_request(host, job->id)->form->role[0];

        held = pollux_read_held(px, host, j, held);
        job->fair = pollux_fair(px, host, job);
        px->ask[j].id = job->id.i;
        px->ask[j].most = pollux_most(px, host, job);
        px->ask[j].moved = fmax(0, job->age_s - px->seen[job->id.i].restarts * delay_s) /
                           (job->age_s + delay_s);
        px->ask[j].each[0] = role->cores;
        px->ask[j].each[1] = (double)role->memory_bytes;
    }
    held = 0;
    for (uint32_t j = 0; j < px->jobs; j++) {
        px->ask[j].now = px->now + held;
        held += px->ask[j].now_count;
    }
}

/* For cs_breed_asks: sizes by the batches that the job may have. */
static uint32_t pollux_size(struct cs_host *host, void *self, uint32_t job, uint32_t gpus)
{
    const struct pollux *px = self;

    return cs_size_below(host, px->job[job].id, gpus);
}

/* For cs_breed_asks: the speedup at the progress of now over that of a fair share.  A
 * place on several nodes counts as one on two.  What the power cap never lets run gains
 * nothing: it would be asked for, and refused, again and again. */
static double pollux_gain(struct cs_host *host, void *self, uint32_t job, uint32_t pool,
                          uint32_t gpus, bool spans)
{
    const struct pollux *px = self;

    if (gpus > cs_gpus_powered(host, px->job[job].id, pool))
        return 0;
    return cs_speedup_on(host, px->job[job].id, pool, gpus, spans ? 2 : 1) /
           px->job[job].fair;
}

/* ---- what is done with it --------------------------------------------------- */

/* Does a job get other GPUs than it holds? */
static bool pollux_moves(const struct cs_breed_job *ask)
{
    if (ask->cell_count != ask->now_count)
        return true;
    for (uint32_t i = 0; i < ask->cell_count; i++)
        if (ask->cell[i].node != ask->now[i].node || ask->cell[i].gpus != ask->now[i].gpus)
            return true;
    return false;
}

/* Hands the answers to the host in one call, a job without GPUs as zero,
 * and counts a restart for each job that had run and moves. */
static void pollux_apply(struct pollux *px, struct cs_host *host)
{
    uint32_t count = 0;

    for (uint32_t j = 0; j < px->jobs; j++) {
        const struct cs_breed_job *ask = &px->ask[j];
        struct job_id id = px->job[j].id;
        px->spot = cs_grow(host, px->spot, &px->spot_room, count + ask->cell_count,
                           sizeof *px->spot);
        for (uint32_t i = 0; i < ask->cell_count; i++)
            px->spot[count++] = (struct cs_node_gpus) { id, ask->cell[i].node,
                                                        ask->cell[i].gpus };
        if (ask->cell_count == 0)
            px->spot[count++] = (struct cs_node_gpus) { id, 0, 0 };
        else if (px->job[j].attained > 0)
            px->seen[id.i].restarts += pollux_moves(ask);
    }
    cs_set_node_gpus(host, px->spot, count);
}

/* Starts what the search does not deal to, as it asks: services, jobs of several roles, parts of a
 * GPU, gangs that span pools, pools of two types of GPU.  Where no such job is here, nothing is
 * looked at. */
static void pollux_start_others(const struct pollux *px, struct cs_host *host)
{
    for (uint32_t i = 0; px->others > 0 && i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        if (!px->seen[cs_task(host, task)->job.i].dealt && cs_start(host, task) == CS_DONE)
            i--;
    }
}

/* Starts the first job that finds room on its least size in one pool.  Of a gang that spans many
 * nodes the search may never find enough GPUs at once, as less of it gains nothing: where it has
 * left the cluster without a job, the gang has room. */
static void pollux_start_one(const struct pollux *px, struct cs_host *host)
{
    for (uint32_t j = 0; j < px->jobs; j++) {
        struct task_id task = cs_job_task(host, px->job[j].id, CS_ALL_ROLES);
        struct cs_want want = { .gpus = cs_size_least(host, px->job[j].id) };
        for (uint32_t p = 0; task.i != ID_NONE && p < cs_pool_count(host); p++) {
            want.pool_mask = 1u << p;
            if (cs_start_want(host, task, &want) == CS_DONE)
                return;
        }
    }
}

/* One search at each multiple of the interval; its generator is seeded by one
 * number of the host, so that a search is a function of that. */
static void pollux_decide(void *self, struct cs_host *host)
{
    struct pollux *px = self;
    int64_t now = cs_now_ns(host);

    pollux_start_others(px, host);
    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, px->interval_ns));
    if (!cs_is_due(host, px->interval_ns))
        return;
    pollux_list_jobs(px, host);
    if (px->jobs == 0)
        return;
    pollux_measure(px, host);
    cs_breed_gpus(px->breed, px->ask, px->jobs, px->node, px->nodes,
                  (uint64_t)(cs_random(host) * 0x1p52));
    pollux_apply(px, host);
    if (cs_running_count(host) == 0)
        pollux_start_one(px, host);
}

/* Makes what depends on nodes alone; nodes that are not here yet are
 * counted. */
static bool pollux_init(void *self, struct cs_host *host)
{
    struct pollux *px = self;
    struct cs_breed_asks asks = {
        .self = px, .size = pollux_size, .gain = pollux_gain,
        .population = (uint32_t)px->population, .generations = (uint32_t)px->generations,
        .p = px->p
    };
    uint32_t all[POOLS] = { 0 };

    px->nodes = cs_node_count(host);
    px->node = cs_alloc(host, px->nodes, sizeof *px->node);
    px->run = cs_alloc(host, px->nodes, sizeof *px->run);
    px->breed = cs_make_breed(host, &asks);
    cs_climb_above(px->breed, (uint32_t)px->climb);
    for (uint32_t n = 0; n < px->nodes; n++) {
        struct cs_node node = cs_node(host, n);
        px->node[n] = (struct cs_breed_node) { .pool = node.pool,
                                               .host = { node.cores, node.memory_bytes } };
        px->gpus_max += node.gpus;
        all[node.pool] += node.gpus;
        if (all[node.pool] > px->pool_most)
            px->pool_most = all[node.pool];
        if (n == 0 || px->run[px->runs - 1].pool != node.pool)
            px->run[px->runs++] = (struct pollux_run) { node.pool, node.gpus };
    }
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
      "ratio of the GPUs that a job may have to the most that it has had" },
    { "population", CS_PARAM_INT, offsetof(struct pollux, population), 2, 1e4,
      "100", "matrices of the genetic algorithm" },
    { "generations", CS_PARAM_INT, offsetof(struct pollux, generations), 1,
      1e5, "100", "of the genetic algorithm, at each deal" },
    { "depth", CS_PARAM_INT, offsetof(struct pollux, depth), 1, 1e5, "256",
      "jobs that a deal looks at, beside those that run" },
    { "climb", CS_PARAM_INT, offsetof(struct pollux, climb), 0, 1e6, "64",
      "jobs of a deal above which it begins with a climb, and ends where nothing is gained" },
};

const struct cs_policy pollux_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "pollux",
    .cites = "qiao2021pollux",
    .summary = "elastic: GPUs and batches for the most goodput of all",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES | CS_DRAWS,
    .param_count = sizeof params / sizeof params[0], .param = params,
    .self_bytes = sizeof(struct pollux), .init = pollux_init,
    .decide = pollux_decide, .job_submitted = pollux_job_submitted,
    .job_ended = pollux_job_ended, .limits = "depth",
};
