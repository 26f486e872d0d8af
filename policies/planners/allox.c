/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allox.c - which GPU a job waits for, by a matching that makes the sum of
 * completion times least.
 *
 * Le, Sun, Chowdhury and Liu, "AlloX: Compute Allocation in Hybrid Clusters",
 * EuroSys 2020.  On machines that are not alike the mean completion time is
 * least for the matching of jobs to (machine, k), the k-th place from the end,
 * where job j on machine i costs k times its time there (Bruno, Coffman and
 * Sethi 1974), and here, as a machine may be busy still, the time until it is
 * free.  A job whose turn is the first on a machine that is free starts there;
 * others wait, if need be beside an idle GPU.  Nothing is preempted.
 *
 * A machine is a GPU.  A job of g GPUs counts as one that is g times as long,
 * and starts when g are free: the paper's jobs have one.  Its fairness knob is
 * alpha: only that share of the waiting, the oldest, are matched.  A job that can
 * run nowhere now, as nodes are out of service or not rented, is not matched.  A power
 * cap is no part of the matching.
 */
#include <assert.h>
#include <math.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy allox_policy;

#define NOWHERE 1e15            /* seconds of a job where it cannot run */

struct machine {
    uint32_t pool;              /* its number */
    bool free;                  /* it runs nothing now */
    uint32_t last;              /* k of the job that goes first; 0: none */
    uint32_t task;              /* of that job: index in the queue's order */
};

struct allox {
    double alpha;               /* parameter: share of the waiting jobs that are matched */
    int64_t depth_max, cells_max; /* parameters: jobs, and jobs x places, at most */
    struct machine *machine;    /* a GPU each, pool by pool */
    uint32_t machines, room;    /* GPUs of now; entries that there is room for */
    uint32_t *pool;             /* by machine, as the matching wants it */
    double *free_s;             /* by machine: from now */
    double *time_s;             /* [job][pool]: GPU-seconds, or NOWHERE */
    uint32_t *row;              /* by job: index in the queue's order */
    uint32_t *column;           /* by job: machine x places + place, the answer */
    struct task_id *first;      /* tasks that start now; pools: in machine[] */
};

/* Adds a machine of a pool that is free in free_s seconds; 0: now. */
static void add_machine(struct allox *a, uint32_t pool, double free_s)
{
    assert(a->machines < a->room);
    a->pool[a->machines] = pool;
    a->free_s[a->machines] = free_s;
    a->machine[a->machines++] = (struct machine) {
        .pool = pool, .free = !(free_s > 0) };
}

/* The GPUs of a pool, those that are held until their leases should end. */
static void add_machines(struct allox *a, struct cs_host *host, uint32_t pool)
{
    uint32_t total = cs_total_gpus(host, 1u << pool), begin = a->machines;
    int64_t now = cs_now_ns(host);

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        double s = 1e-9 * (double)(lease->expected_end_ns - now);
        if (!(cs_lease_pools(host, id) >> pool & 1))
            continue;
        for (uint32_t g = 0; g < lease->gpus; g++)
            if (a->machines - begin < total)
                add_machine(a, pool, fmax(s, 1e-3));
    }
    while (a->machines - begin < total)
        add_machine(a, pool, 0);
}

/* Lists all GPUs that there are, pool by pool.  Arrays grow only when nodes
 * come, and old ones stay with the host until the run ends.  Under a power cap each pool
 * could have all that it lets run, so pools have more together than the cluster. */
static void find_machines(struct allox *a, struct cs_host *host)
{
    uint32_t all = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        all += cs_total_gpus(host, 1u << p);
    if (all > a->room) {
        a->machine = cs_alloc(host, all, sizeof *a->machine);
        a->pool = cs_alloc(host, all, sizeof *a->pool);
        a->free_s = cs_alloc(host, all, sizeof *a->free_s);
        a->room = all;
    }
    a->machines = 0;
    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        add_machines(a, host, p);
}

/* Returns how many places of each machine the matching may use, from the end.
 * With few jobs it is one for each job, which is exact.  Else it is what keeps
 * jobs x places within cells_max, but on all machines together at least twice as
 * many places as jobs.  For example, 60 jobs, 100 GPUs and 400 000 cells: 66 places a GPU
 * would be allowed, so each GPU has the 60 that are exact. */
static uint32_t count_places(const struct allox *a, uint32_t jobs)
{
    uint32_t most = (uint32_t)a->cells_max / jobs / a->machines;
    uint32_t enough = (2 * jobs + a->machines - 1) / a->machines + 1;

    if (most >= jobs || enough >= jobs)
        return jobs;
    return most > enough ? most : enough;
}

/* Returns the GPU-seconds that a job has left in a pool; NOWHERE, which no matching
 * takes where there is another pool, if it cannot run there. */
static double time_there(struct cs_host *host, const struct cs_task *task,
                         uint32_t pool)
{
    double speedup = cs_speedup(host, task->job, pool, task->gpus);

    if (!(speedup > 0) || task->gpus > cs_total_gpus(host, 1u << pool))
        return NOWHERE;
    return 1e-9 * (double)cs_left_ns(host, task->job) / speedup * task->gpus;
}

/* Notes how long the oldest jobs take in each pool, up to `most` of them.  Jobs that can run
 * in no pool now, as nodes are away, are passed over: the others do not wait for them. */
static uint32_t list_jobs(struct allox *a, struct cs_host *host, uint32_t most)
{
    uint32_t jobs = 0, pools = cs_pool_count(host);

    for (uint32_t i = 0; jobs < most && i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        double least = NOWHERE, *time_s = &a->time_s[(size_t)jobs * pools];
        if (cs_request(host, task->job)->form->role_count != 1)
            cs_fail(host, "jobs that are matched must have one role");
        for (uint32_t p = 0; p < pools; p++) {
            time_s[p] = time_there(host, task, p);
            least = fmin(least, time_s[p]);
        }
        if (least < NOWHERE)
            a->row[jobs++] = i;
    }
    return jobs;
}

/* Solves the matching of the jobs that are listed, and notes for each machine the job with
 * the largest k there: it is the first to run.  A machine that has a job in its last place
 * might have more jobs with more places; if none has, more places change nothing.  Column c
 * stands for machine c / k_max and place c % k_max, counted from the end. */
static void match_jobs(struct allox *a, struct cs_host *host, uint32_t jobs)
{
    uint32_t k_max = count_places(a, jobs), pools = cs_pool_count(host);
    struct cs_places places_of = {
        .rows = jobs, .machines = a->machines, .places = k_max,
        .kinds = pools, .time_s = a->time_s, .kind = a->pool,
        .free_s = a->free_s,
    };

    cs_assign_places(&places_of, a->column);
    for (uint32_t j = 0; j < jobs; j++) {
        struct machine *m = &a->machine[a->column[j] / k_max];
        uint32_t k = a->column[j] % k_max + 1;
        if (k > m->last) {
            m->last = k;
            m->task = a->row[j];
        }
        if (k == k_max && k_max < jobs)
            cs_limit_reached(host);
    }
}

/* Those that are first on a free machine are taken out of the queue's order
 * before any starts, because a start changes the order.  True: one was refused.  The arrays by
 * job have room for depth_max, and are made once. */
static bool start_firsts(struct allox *a, struct cs_host *host)
{
    bool refused = false;
    uint32_t waiting = cs_pending_count(host), firsts = 0, jobs;

    if (waiting == 0 || cs_free_gpus(host, 0) == 0)
        return false;
    jobs = cs_share_up(a->alpha, waiting);
    if (jobs > a->depth_max)
        cs_limit_reached(host);
    jobs = jobs < a->depth_max ? jobs : (uint32_t)a->depth_max;
    if (!a->column) {
        a->column = cs_alloc(host, (size_t)a->depth_max, sizeof *a->column);
        a->row = cs_alloc(host, (size_t)a->depth_max, sizeof *a->row);
        a->first = cs_alloc(host, (size_t)a->depth_max, sizeof *a->first);
        a->time_s = cs_alloc(host, (size_t)a->depth_max * cs_pool_count(host),
                             sizeof *a->time_s);
    }
    find_machines(a, host);
    jobs = list_jobs(a, host, jobs);
    if (a->machines == 0 || jobs == 0)
        return false;
    match_jobs(a, host, jobs);
    for (uint32_t m = 0; m < a->machines; m++)
        if (a->machine[m].last > 0 && a->machine[m].free) {
            a->machine[firsts] = a->machine[m];
            a->first[firsts++] = cs_pending(host, a->machine[m].task);
        }
    for (uint32_t i = 0; i < firsts; i++) {
        struct cs_want want = { .pool_mask = 1u << a->machine[i].pool };
        refused |= cs_start_want(host, a->first[i], &want) != CS_DONE;
    }
    return refused;
}

/* Starts what waits wherever it may run.  A start changes the queue's order, so it is gone
 * through from the front again. */
static void start_anywhere(struct cs_host *host)
{
    uint32_t k = 0;

    assert(cs_lease_count(host) == 0);
    while (k < cs_pending_count(host))
        k = cs_start(host, cs_pending(host, k)) == CS_DONE ? 0 : k + 1;
}

/* The matching counts as if all GPUs were the thriftiest.  So a power cap may never allow a job
 * where it is matched, but in another pool: it starts there when nothing runs. */
static void allox_decide(void *self, struct cs_host *host)
{
    bool refused = start_firsts(self, host);

    if (refused && cs_lease_count(host) == 0)
        start_anywhere(host);
}

static const struct cs_param params[] = {
    { "alpha", CS_PARAM_FRACTION, offsetof(struct allox, alpha), 0.001, 1,
      "100%", "share of the waiting jobs, from the oldest, that are matched" },
    { "depth_max", CS_PARAM_INT, offsetof(struct allox, depth_max), 1, 1000,
      "60", "jobs matched at most: time grows with its square and more" },
    { "cells_max", CS_PARAM_INT, offsetof(struct allox, cells_max), 1, 4e9,
      "400000", "jobs x places on GPUs at most; each GPU has two for a job on average" },
};

const struct cs_policy allox_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "allox",
    .cites = "le2020allox",
    .flags = CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_ONE_POOL | CS_NEEDS_GPUS | CS_WHOLE_GPUS,
    .summary = "matches jobs to places on GPUs: least sum of completion times",
    .param_count = 3, .param = params, .self_bytes = sizeof(struct allox),
    .decide = allox_decide, .limits = "depth_max cells_max",
};
