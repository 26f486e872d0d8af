/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_queues.h - an oracle: where and when jobs start, and when they end, under fair-share (Kay
 * and Lauder 1988), drf (Ghodsi et al., NSDI 2011), quota (as queues of YARN and Kueue) and
 * starburst (Luo et al., ATC 2024), by their descriptions.
 *
 * A pool is one node with a type of GPU of its own; all nodes go out of service at once.  Of a
 * test program that includes it once.
 */
#ifndef TESTS_PLAIN_QUEUES_H
#define TESTS_PLAIN_QUEUES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS 14u
#define POOLS 3u
#define TENANTS 4u              /* the last one: of none */
#define OUTAGES 3u
#define NOWHERE UINT32_MAX
#define NEAR 1e-7               /* seconds, or GPU-seconds, that are the same */

enum kind { FAIR_SHARE, DRF, QUOTA, STARBURST, KINDS };
enum { GPUS, CORES, MEMORY, RESOURCES };        /* memory in GiB */
enum wait { NONE, CONSTANT, RUNTIME, COMPUTE, INFINITE };

struct job {
    double submit_s, length_s, asks[RESOURCES];
    uint32_t types;             /* a bit for each pool that it may use; 0: all */
    uint32_t tenant, priority;
    double left_s, owed_s;      /* owed: before it goes on */
    double had_gpu_s, ready_s;  /* ready: since then it waits */
    uint32_t pool, turn;        /* NOWHERE: it waits; turn: which start of all was the last */
    double start_s, end_s;      /* -1: not yet */
};

struct plain {
    enum kind kind;
    double now_s, alarm_s;
    bool skips, reclaims;
    double quota[TENANTS], budget_s, factor, stop_s, restart_s;
    enum wait wait;
    uint32_t pools, cloud, jobs, came, ended, turns, outages, over;
    double has[POOLS][RESOURCES], down_s[2 * OUTAGES];
    struct job job[JOBS];
};

static bool waits(const struct plain *p, const struct job *job)
{
    return job < p->job + p->came && job->end_s < 0 && job->pool == NOWHERE;
}

static bool may_use(const struct job *job, uint32_t pool)
{
    return job->types == 0 || (job->types >> pool & 1u) > 0;
}

/* ---- time ---- */

static double next_s(const struct plain *p)
{
    double at_s = p->alarm_s;

    if (p->came < p->jobs)
        at_s = fmin(at_s, p->job[p->came].submit_s);
    if (p->over < 2 * p->outages)
        at_s = fmin(at_s, p->down_s[p->over]);
    for (const struct job *job = p->job; job < p->job + p->came; job++)
        if (job->pool != NOWHERE)
            at_s = fmin(at_s, p->now_s + job->owed_s + job->left_s);
    return at_s;
}

static void pass_time(struct plain *p, double to_s)
{
    for (struct job *job = p->job; job < p->job + p->came; job++) {
        double s = to_s - p->now_s, paid_s = fmin(job->owed_s, s);
        if (job->pool == NOWHERE)
            continue;
        job->owed_s -= paid_s;
        job->left_s -= s - paid_s;
        job->had_gpu_s += s * job->asks[GPUS];
    }
    p->now_s = to_s;
}

static void end_jobs(struct plain *p)
{
    for (struct job *job = p->job; job < p->job + p->came; job++) {
        if (job->pool == NOWHERE || job->owed_s > NEAR || job->left_s > NEAR)
            continue;
        job->pool = NOWHERE;
        job->end_s = p->now_s;
        p->ended++;
    }
}

static void lose_nodes(struct plain *p)
{
    for (struct job *job = p->job; job < p->job + p->came; job++) {
        if (job->pool == NOWHERE)
            continue;
        job->pool = NOWHERE;
        job->left_s = job->length_s;
        job->owed_s = p->restart_s;
        job->ready_s = p->now_s;
    }
}

/* ---- room ---- */

static double free_of(const struct plain *p, uint32_t pool, uint32_t what)
{
    double has = p->over % 2 == 1 ? 0 : p->has[pool][what];

    for (const struct job *job = p->job; job < p->job + p->came; job++)
        has -= job->pool == pool ? job->asks[what] : 0;
    return has;
}

static bool start_in(struct plain *p, struct job *job, uint32_t pool)
{
    for (uint32_t what = 0; what < RESOURCES; what++)
        if (!may_use(job, pool) || job->asks[what] > free_of(p, pool, what))
            return false;
    job->pool = pool;
    job->turn = ++p->turns;
    if (job->start_s < 0)
        job->start_s = p->now_s;
    return true;
}

/* In the first pool with room, but not in one of them. */
static bool start_outside(struct plain *p, struct job *job, uint32_t pool_not)
{
    for (uint32_t pool = 0; pool < p->pools; pool++)
        if (pool != pool_not && start_in(p, job, pool))
            return true;
    return false;
}

/* ---- fair-share, drf ---- */

/* What a tenant's jobs have had, or the largest share that they hold. */
static double claim_of(const struct plain *p, uint32_t tenant)
{
    double had_gpu_s = 0, most = 0;

    for (const struct job *job = p->job; job < p->job + p->came; job++)
        had_gpu_s += job->tenant == tenant ? job->had_gpu_s : 0;
    for (uint32_t what = 0; what < RESOURCES; what++) {
        double held = 0, all = 0;
        for (const struct job *job = p->job; job < p->job + p->came; job++)
            if (job->tenant == tenant && job->pool != NOWHERE)
                held += job->asks[what];
        for (uint32_t pool = 0; pool < p->pools; pool++)
            all += p->has[pool][what];
        most = fmax(most, held / all);
    }
    return p->kind == DRF ? most : had_gpu_s;
}

/* The first job of all of a tenant. */
static uint32_t first_of(const struct plain *p, uint32_t tenant)
{
    uint32_t j = 0;

    while (p->job[j].tenant != tenant)
        j++;
    return j;
}

/* The oldest job of the tenant that claims least.  Of equal claims drf takes the tenant that came
 * first, and fair-share the older job. */
static struct job *next_job(struct plain *p, const bool *out)
{
    struct job *best = NULL;

    for (struct job *job = p->job; job < p->job + p->came; job++) {
        if (!waits(p, job) || out[job - p->job])
            continue;
        double less = best ? claim_of(p, job->tenant) - claim_of(p, best->tenant) : -1;
        if (less < -1e-9 || (p->kind == DRF && less < 1e-9 &&
                             first_of(p, job->tenant) < first_of(p, best->tenant)))
            best = job;
    }
    return best;
}

/* What finds no room ends the decision or is passed over; drf passes over the tenant, whose jobs
 * go in their order. */
static void serve_tenants(struct plain *p)
{
    bool out[JOBS] = { false };
    struct job *job;

    while ((job = next_job(p, out)) != NULL) {
        if (start_outside(p, job, NOWHERE))
            continue;
        if (!p->skips)
            return;
        for (uint32_t j = 0; j < p->jobs; j++)
            out[j] |= &p->job[j] == job || (p->kind == DRF && p->job[j].tenant == job->tenant);
    }
}

/* ---- quota ---- */

static double held_by(const struct plain *p, uint32_t tenant, const bool *without)
{
    double gpus = 0;

    for (uint32_t j = 0; j < p->came; j++)
        if (p->job[j].tenant == tenant && p->job[j].pool != NOWHERE && !without[j])
            gpus += p->job[j].asks[GPUS];
    return gpus;
}

/* Jobs of tenants above their quota in the pools that it may use, those that began last first,
 * until there is room; none if that makes none. */
static bool take_back(struct plain *p, struct job *asks)
{
    double free[POOLS];
    bool stop[JOBS] = { false };
    uint32_t before = UINT32_MAX, room = NOWHERE;

    for (uint32_t pool = 0; pool < p->pools; pool++)
        free[pool] = free_of(p, pool, GPUS);
    while (room == NOWHERE) {
        uint32_t last = JOBS;
        for (uint32_t j = 0; j < p->came; j++)
            if (p->job[j].pool != NOWHERE && p->job[j].turn < before &&
                (last == JOBS || p->job[j].turn > p->job[last].turn))
                last = j;
        if (last == JOBS)
            return false;
        struct job *job = &p->job[last];
        before = job->turn;
        if (!may_use(asks, job->pool) ||
            held_by(p, job->tenant, stop) <= p->quota[job->tenant])
            continue;
        stop[last] = true;
        free[job->pool] += job->asks[GPUS];
        if (free[job->pool] >= asks->asks[GPUS])
            room = job->pool;
    }
    for (uint32_t j = 0; j < p->came; j++)
        if (stop[j]) {
            p->job[j].pool = NOWHERE;
            p->job[j].owed_s += p->stop_s;
        }
    return start_outside(p, asks, NOWHERE);
}

/* By priority, then first come: who is within its quota, and, if none of these waits, all. */
static void serve_quotas(struct plain *p)
{
    static const bool none[JOBS];
    bool missed = false;

    for (int pass = 0; pass < 2 && !missed; pass++)
        for (uint32_t priority = 3; priority-- > 0;)
            for (struct job *job = p->job; job < p->job + p->came; job++) {
                bool within = held_by(p, job->tenant, none) + job->asks[GPUS] <=
                              p->quota[job->tenant];
                if (!waits(p, job) || job->priority != priority || (pass == 0 && !within))
                    continue;
                missed |= !start_outside(p, job, NOWHERE) && pass == 0 &&
                          !(p->reclaims && take_back(p, job));
            }
}

/* ---- starburst ---- */

/* When it may go to the cloud; before all time: no pool that is owned could hold it. */
static double leaves_s(const struct plain *p, const struct job *job)
{
    double run_s = job->owed_s + job->left_s;

    for (uint32_t pool = 0; pool < p->pools; pool++) {
        if (pool == p->cloud || !may_use(job, pool) || job->asks[GPUS] > p->has[pool][GPUS])
            continue;
        switch (p->wait) {
        case NONE: return job->ready_s;
        case CONSTANT: return job->ready_s + p->budget_s;
        case RUNTIME: return job->ready_s + p->factor * run_s;
        case COMPUTE: return job->ready_s + p->factor * run_s * job->asks[GPUS];
        default: return INFINITY;
        }
    }
    return -1;
}

/* Whose budget was spent while it waited goes there, though owned GPUs may come free just then. */
static void serve_bursts(struct plain *p)
{
    bool open = true;

    for (struct job *job = p->job; job < p->job + p->came; job++)
        if (waits(p, job) && p->now_s > job->ready_s && p->now_s >= leaves_s(p, job) - NEAR)
            start_in(p, job, p->cloud);
    p->alarm_s = INFINITY;
    for (struct job *job = p->job; job < p->job + p->came; job++) {
        if (!waits(p, job) || (open && start_outside(p, job, p->cloud)))
            continue;
        double at_s = leaves_s(p, job);
        if (at_s <= p->now_s + NEAR && start_in(p, job, p->cloud))
            continue;
        if (at_s > p->now_s + NEAR)
            p->alarm_s = fmin(p->alarm_s, at_s);
        open = open && p->skips;
    }
}

/* Jobs end, nodes go or come back, jobs come, and one decision follows. */
static void run_plain(struct plain *p)
{
    double at_s;

    while (p->ended < p->jobs && (at_s = next_s(p)) < INFINITY) {
        pass_time(p, at_s);
        end_jobs(p);
        while (p->over < 2 * p->outages && p->down_s[p->over] <= p->now_s)
            if (++p->over % 2 == 1)
                lose_nodes(p);
        while (p->came < p->jobs && p->job[p->came].submit_s <= p->now_s)
            p->came++;
        if (p->kind == QUOTA)
            serve_quotas(p);
        else if (p->kind == STARBURST)
            serve_bursts(p);
        else
            serve_tenants(p);
    }
}

#endif
