/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_hybrid.c - an oracle: a static plan by role with two corrections, each task looked at in
 * order and in both passes, whatever is alike; what was forecast is kept by job for ever.
 */
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_hybrid_policy;

#define JOBS_MAX 1000u

struct note {                   /* what the lease of a role is said to take */
    int64_t from_ns;
    double said_s;              /* 0: it is not to be compared */
};

struct plain_hybrid {
    double reserve, lend_max, release_max;      /* the parameters stand as in hybrid.c */
    double mean_error;          /* below 0: no phase has been compared */
    struct note (*note)[FORM_ROLES_MAX];        /* by job */
};

static bool begin(void *self, struct cs_host *host)
{
    struct plain_hybrid *h = self;

    h->mean_error = -1;
    h->note = cs_alloc(host, JOBS_MAX, sizeof *h->note);
    return true;
}

/* So much longer than it was said to take may a phase be. */
static double longer(const struct plain_hybrid *h)
{
    return h->mean_error < 0 ? 1 : 1 + 2 * h->mean_error;
}

/* Other pools than home that could give so many GPUs, free or idle, and keep the reserve. */
static uint32_t could_lend(const struct plain_hybrid *h, const struct cs_host *host, uint32_t home,
                           uint32_t gpus)
{
    uint32_t pools = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        double spare = (double)cs_free_gpus(host, 1u << p) + cs_idle_gpus(host, 1u << p);
        double kept = ceil(h->reserve * cs_total_gpus(host, 1u << p) - 1e-9);
        if ((home >> p & 1) == 0 && spare - kept >= gpus)
            pools += 1u << p;
    }
    return pools;
}

static bool start_noted(struct plain_hybrid *h, struct cs_host *host, struct task_id task,
                        const struct cs_want *want, double said_s)
{
    struct cs_task of = *cs_task(host, task);

    if (cs_start_want(host, task, want) != CS_DONE)
        return false;
    h->note[of.job.i][of.role] = (struct note) { cs_now_ns(host), said_s };
    return true;
}

/* In place of leases that have been idle for as long as switching costs more than the phase. */
static void start_on_idle(struct plain_hybrid *h, struct cs_host *host, struct task_id task,
                          uint32_t pools)
{
    struct cs_want want = { .pool_mask = pools, .take_idle = true };
    struct cs_forecast f;

    if (!cs_forecast_best(host, task, &want, &f))
        return;
    double dear_s = fmin(f.switch_s + f.evict_s - f.run_s, 1e6);
    want.idle_ns = dear_s > 0 ? (int64_t)(dear_s * 1e9) : 0;
    if (!start_noted(h, host, task, &want, 0) && want.idle_ns > 0)
        cs_wake_when_idle(host, want.idle_ns);
}

/* The first pass: at home, unless another pool is better by more than forecasts are wrong. */
static void serve_owner(struct plain_hybrid *h, struct cs_host *host, struct task_id task,
                        uint32_t home)
{
    struct cs_task of = *cs_task(host, task);
    struct cs_want at_home = { .pool_mask = home }, away = { 0 };
    struct cs_forecast here, there;

    if (cs_forecast_best(host, task, &at_home, &here)) {
        double here_s = here.run_s + here.switch_s;
        bool may_leave = home != 0 && of.gpus > 0 && h->mean_error >= 0 &&
                         cs_switch_loss(host, of.job) <= h->release_max;
        away.pool_mask = may_leave ? could_lend(h, host, home, of.gpus) : 0;
        if (away.pool_mask != 0 && cs_forecast_best(host, task, &away, &there) &&
            longer(h) * (there.run_s + 2 * there.switch_s) < here_s) {
            at_home = away;
            here_s = there.switch_s + there.run_s;
        }
        if (start_noted(h, host, task, &at_home, here_s))
            return;
    }
    start_on_idle(h, host, task, home);
}

/* The second pass: elsewhere, if the phase is over there before its home would have run it. */
static void serve_borrower(struct plain_hybrid *h, struct cs_host *host, struct task_id task,
                           uint32_t home)
{
    struct cs_task of = *cs_task(host, task);
    uint32_t lenders = could_lend(h, host, home, of.gpus);
    struct cs_want free_ones = { .pool_mask = lenders };
    struct cs_want idle_ones = { .pool_mask = lenders, .take_idle = true };
    struct cs_forecast f;

    if (home == 0 || of.gpus == 0 || lenders == 0)
        return;
    double at_home_s = cs_room_in_s(host, home, of.gpus) + (double)of.estimate_ns / 1e9;
    bool is_free = cs_forecast_best(host, task, &free_ones, &f);
    if (!is_free && !cs_forecast_best(host, task, &idle_ones, &f))
        return;
    if (longer(h) * (f.evict_s + f.switch_s + f.run_s) >= at_home_s)
        return;
    if (is_free)
        start_noted(h, host, task, &free_ones, f.switch_s + f.run_s);
    else
        start_on_idle(h, host, task, idle_ones.pool_mask);
}

static void try_one(struct plain_hybrid *h, struct cs_host *host, struct task_id task, int pass)
{
    struct cs_task of = *cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, of.role);

    if (of.held.i != ID_NONE) {
        cs_continue(host, task);
    } else if (of.gpus > 0 && !cs_settled(host, of.job) &&
               cs_switch_loss(host, of.job) > h->lend_max) {
        if (pass == 1)
            cs_settle(host, task);      /* what it prepares is not compared */
    } else if (pass == 1) {
        serve_owner(h, host, task, home);
    } else {
        serve_borrower(h, host, task, home);
    }
}

static void decide(void *self, struct cs_host *host)
{
    do {
        for (int pass = 1; pass <= 2; pass++)
            for (uint32_t i = 0; i < cs_pending_count(host);) {
                struct task_id task = cs_pending(host, i);
                try_one(self, host, task, pass);
                i += i < cs_pending_count(host) && cs_pending(host, i).i == task.i;
            }
    } while (cs_relieve_power(host));
}

static void note_idle(void *self, struct cs_host *host, struct lease_id id)
{
    struct cs_lease lease = *cs_lease(host, id);
    struct plain_hybrid *h = self;

    if (lease.state != CS_LEASE_IDLE)
        return;
    struct note *note = &h->note[lease.job.i][lease.role];
    double took_s = (double)(cs_now_ns(host) - note->from_ns) / 1e9;
    if (lease.gpus > 0 && note->said_s > 0 && took_s > 0) {
        double error = fabs(1 - note->said_s / took_s);
        h->mean_error += h->mean_error < 0 ? 1 + error : (error - h->mean_error) / 5;
    }
    *note = (struct note) { 0, 0 };
    uint32_t home = cs_role_homes(host, lease.job, lease.role);
    bool waits = cs_job_task(host, lease.job, lease.role).i != ID_NONE;
    bool goes = !waits && !cs_settled(host, lease.job);
    if (lease.gpus > 0)
        goes = (home != 0 && (cs_lease_pools(host, id) & home) == 0) ||
               (!waits && cs_switch_loss(host, lease.job) <= h->release_max);
    if (goes)
        cs_release(host, id);
}

const struct cs_policy plain_hybrid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "hybrid",
    .summary = "a static plan by role, corrected, looked at one by one",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_TAKES_OVER,
    .self_bytes = sizeof(struct plain_hybrid),
    .init = begin,
    .before = cs_by_priority,
    .lease_idle = note_idle,
    .decide = decide,
};
