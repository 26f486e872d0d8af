/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_dynamic.c - an oracle: each phase goes where it would be over first, by a list of all
 * places; each task is looked at in order, whatever is alike or too large.
 */
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_dynamic_policy;

struct plain_dynamic {
    bool lend, owners_first;    /* the parameters stand as in dynamic.c */
    double gain_min, lend_max, release_max;
};

/* One task that is looked at. */
struct look {
    struct cs_task of;
    struct task_id task;
    uint32_t home;
    bool comes_back;            /* the job has more than one role with GPUs */
    bool away, spares;          /* of the places looked at now */
    double best_s;              /* INFINITY: no place yet */
    bool held;                  /* the best is the lease that it holds */
    struct cs_want best;
};

static bool comes_back(const struct cs_host *host, struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    int roles = 0;

    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role[r].gpus > 0)
            roles++;
    return roles > 1;
}

/* Seconds until the phase is over at a place, with what is charged for it. */
static double over_s(const struct plain_dynamic *d, struct cs_host *host, const struct look *look,
                     const struct cs_forecast *f)
{
    double switch_s = f->switch_s, switches = 1;

    if (look->of.started && look->of.gpus > 0)
        switch_s = fmax(cs_switch_s(host, look->of.job, look->of.role), switch_s);
    if (look->of.held.i != ID_NONE)     /* it leaves a lease that is warm */
        switches = d->gain_min;
    if (look->away)                     /* it comes home again */
        switches += d->gain_min;
    return f->run_s + d->gain_min * f->evict_s + switches * switch_s;
}

/* One place: on free GPUs, and then in place of leases that have been idle for long enough. */
static void look_at(const struct plain_dynamic *d, struct cs_host *host, struct look *look,
                    struct cs_want want)
{
    struct cs_forecast f;

    for (int idle = 0; idle < 2; idle++) {
        want.take_idle = idle == 1;
        if (idle == 1) {
            if (look->spares || !cs_forecast(host, look->task, &want, &f))
                return;
            double rest_s = d->gain_min * (f.evict_s + f.switch_s) - f.run_s;
            want.idle_ns = rest_s > 0 ? (int64_t)(fmin(rest_s, 1e6) * 1e9) : 0;
        }
        if (cs_forecast(host, look->task, &want, &f)) {
            double s = over_s(d, host, look, &f);
            if (s < look->best_s) {
                look->best_s = s;
                look->best = want;
                look->held = false;
            }
        }
        if (idle == 1 && isinf(look->best_s))
            cs_wake_when_idle(host, want.idle_ns);
    }
}

static void look_in(const struct plain_dynamic *d, struct cs_host *host, struct look *look,
                    uint32_t pools, uint32_t gpus)
{
    uint32_t sites = cs_site_count(host, look->task);

    if (sites == 0)
        look_at(d, host, look, (struct cs_want) { .pool_mask = pools, .gpus = gpus });
    for (uint32_t s = 0; s < sites; s++) {
        struct cs_want want = { .gpus = gpus };
        if (cs_site(host, look->task, s, pools, &want))
            look_at(d, host, look, want);
    }
}

static void look_around(const struct plain_dynamic *d, struct cs_host *host, struct look *look)
{
    struct cs_forecast f;

    if (cs_forecast_held(host, look->task, &f)) {
        look->best_s = f.run_s;
        look->held = true;
    }
    look_in(d, host, look, look->home, 0);
    if (!d->lend || look->of.gpus == 0)
        return;
    look->away = look->spares = look->home != 0 && look->comes_back &&
                                cs_switch_loss(host, look->of.job) > d->release_max;
    if (look->home != 0)
        look_in(d, host, look, 0, 0);
    uint32_t most = cs_most_gpus(host, look->task);
    if (most > look->of.gpus && cs_pending_count(host) == 1)
        look_in(d, host, look, 0, most);
}

/* Does it let others go first? */
static bool gives_way(const struct plain_dynamic *d, const struct cs_host *host,
                      const struct look *look)
{
    return d->owners_first && look->home != 0 && look->comes_back &&
           (look->best.pool_mask | look->home) != look->home && cs_pending_count(host) > 1;
}

static bool better_waits(const struct plain_dynamic *d, struct cs_host *host,
                         const struct look *look)
{
    uint32_t home = look->home, gpus = look->of.gpus;

    if (home == 0 || gpus == 0)
        return false;
    double room_s = cs_room_in_s(host, home, gpus);
    /* Who stays at home, or finds room there once idle leases go, waits for nothing late. */
    if (room_s <= 0 && (!d->owners_first || (look->best.pool_mask | home) == home ||
                        cs_free_gpus(host, home) + cs_idle_gpus(host, home) >= gpus))
        return false;
    return room_s + (double)look->of.estimate_ns / 1e9 < look->best_s;
}

/* Returns whether the task gave way. */
static bool try_one(const struct plain_dynamic *d, struct cs_host *host, struct task_id task,
                    bool last)
{
    struct look look = { .of = *cs_task(host, task), .task = task, .best_s = INFINITY };

    if (look.of.gpus > 0 && !cs_settled(host, look.of.job) &&
        cs_switch_loss(host, look.of.job) > d->lend_max) {
        cs_settle(host, task);
        return false;
    }
    look.home = cs_home_pools(host, task, look.of.role);
    look.comes_back = comes_back(host, look.of.job);
    look_around(d, host, &look);
    if (isinf(look.best_s))
        return false;
    if (look.held) {
        cs_continue(host, task);
        return false;
    }
    if (!last && gives_way(d, host, &look))
        return true;
    if (!better_waits(d, host, &look))
        cs_start_want(host, task, &look.best);
    return false;
}

static bool try_all(const struct plain_dynamic *d, struct cs_host *host, bool last)
{
    bool gave_way = false;

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        gave_way |= try_one(d, host, task, last);
        i += i < cs_pending_count(host) && cs_pending(host, i).i == task.i;
    }
    return gave_way;
}

static void decide(void *self, struct cs_host *host)
{
    do {
        if (try_all(self, host, false))
            try_all(self, host, true);
    } while (cs_relieve_power(host));
}

static void note_idle(void *self, struct cs_host *host, struct lease_id id)
{
    const struct plain_dynamic *d = self;
    struct cs_lease lease = *cs_lease(host, id);

    if (lease.state != CS_LEASE_IDLE || cs_job_task(host, lease.job, lease.role).i != ID_NONE)
        return;
    if (lease.gpus == 0 && !cs_settled(host, lease.job))
        cs_release(host, id);
    if (lease.gpus > 0 && cs_switch_loss(host, lease.job) <= d->release_max)
        cs_release(host, id);
}

const struct cs_policy plain_dynamic_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dynamic",
    .summary = "each phase goes where it would be over first, looked at one by one",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS |
             CS_TAKES_OVER,
    .self_bytes = sizeof(struct plain_dynamic),
    .before = cs_by_priority,
    .decide = decide,
    .lease_idle = note_idle,
};
