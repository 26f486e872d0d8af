/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_allox.c - an oracle: AlloX (Le, Sun, Chowdhury and Liu, EuroSys 2020) for few jobs of
 * one GPU.
 *
 * Each way to deal the jobs to the GPUs is looked at.  On a GPU the jobs run one after the other,
 * the shortest first, from the time at which it is free; the way of the least sum of ends is the
 * plan.  Who is first on a GPU that is free starts there.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_allox_policy;

#define JOBS_MAX 6u
#define GPUS_MAX 8u

struct plain_allox {
    double alpha;               /* the parameters stand first, as in allox.c */
    int64_t depth_max;
};

struct gpu {
    uint32_t pool;
    double busy_s;
};

struct plan {
    struct gpu gpu[GPUS_MAX];
    uint32_t gpus, jobs;
    struct task_id task[JOBS_MAX];
    double takes_s[JOBS_MAX][GPUS_MAX];         /* INFINITY: it cannot run there */
    uint32_t on[JOBS_MAX], best_on[JOBS_MAX];
    double best;
};

static void look_at_gpus(struct plan *plan, struct cs_host *host)
{
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        uint32_t idle = cs_free_gpus(host, 1u << p);
        for (uint32_t i = 0; i < cs_lease_count(host); i++) {
            struct lease_id id = cs_lease_at(host, i);
            int64_t more_ns = cs_lease(host, id)->expected_end_ns - cs_now_ns(host);
            assert(cs_lease(host, id)->gpus == 1);
            if (cs_lease_pools(host, id) == 1u << p)
                plan->gpu[plan->gpus++] = (struct gpu) { p, fmax(1e-3, 1e-9 * (double)more_ns) };
        }
        while (idle-- > 0)
            plan->gpu[plan->gpus++] = (struct gpu) { p, 0 };
        assert(plan->gpus <= GPUS_MAX);
    }
}

static void look_at_jobs(struct plan *plan, struct cs_host *host, uint32_t most)
{
    for (uint32_t i = 0; plan->jobs < most && i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        struct job_id job = cs_task(host, task)->job;
        bool runs = false;
        for (uint32_t g = 0; g < plan->gpus; g++) {
            double speed = cs_speedup(host, job, plan->gpu[g].pool, 1);
            plan->takes_s[plan->jobs][g] =
                speed > 0 ? 1e-9 * (double)cs_left_ns(host, job) / speed : INFINITY;
            runs |= speed > 0;
        }
        if (runs)
            plan->task[plan->jobs++] = task;
    }
}

/* The sum of the ends on one GPU; *first is set to the job that runs first, or JOBS_MAX. */
static double sum_ends(const struct plan *plan, const uint32_t *on, uint32_t gpu, uint32_t *first)
{
    bool ran[JOBS_MAX] = { false };
    double sum = 0, end = plan->gpu[gpu].busy_s;

    *first = JOBS_MAX;
    for (;;) {
        uint32_t next = JOBS_MAX;
        for (uint32_t j = 0; j < plan->jobs; j++)
            if (on[j] == gpu && !ran[j] &&
                (next == JOBS_MAX || plan->takes_s[j][gpu] < plan->takes_s[next][gpu]))
                next = j;
        if (next == JOBS_MAX)
            return sum;
        if (*first == JOBS_MAX)
            *first = next;
        ran[next] = true;
        end += plan->takes_s[next][gpu];
        sum += end;
    }
}

static void deal(struct plan *plan, uint32_t j)
{
    double sum = 0;
    uint32_t first;

    for (uint32_t g = 0; j < plan->jobs && g < plan->gpus; g++) {
        plan->on[j] = g;
        deal(plan, j + 1);
    }
    if (j < plan->jobs)
        return;
    for (uint32_t g = 0; g < plan->gpus; g++)
        sum += sum_ends(plan, plan->on, g, &first);
    if (sum >= plan->best)
        return;
    plan->best = sum;
    for (uint32_t i = 0; i < j; i++)
        plan->best_on[i] = plan->on[i];
}

static void decide(void *self, struct cs_host *host)
{
    const struct plain_allox *a = self;
    struct plan plan = { .best = INFINITY };
    double part = a->alpha * cs_pending_count(host);
    uint32_t most = 0;

    while (most < part - 1e-9 && most < a->depth_max)
        most++;
    assert(most <= JOBS_MAX);
    look_at_gpus(&plan, host);
    look_at_jobs(&plan, host, most);
    if (plan.jobs == 0 || plan.gpus == 0)
        return;
    deal(&plan, 0);
    for (uint32_t g = 0; g < plan.gpus; g++) {
        struct cs_want want = { .pool_mask = 1u << plan.gpu[g].pool };
        uint32_t first;
        sum_ends(&plan, plan.best_on, g, &first);
        if (first != JOBS_MAX && plan.gpu[g].busy_s == 0)
            cs_start_want(host, plan.task[first], &want);
    }
}

const struct cs_policy plain_allox_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof plain_allox_policy,
    .name = "allox", .summary = "AlloX by looking at all",
    .flags = CS_ASKS_ESTIMATES,
    .self_bytes = sizeof(struct plain_allox), .decide = decide,
};
