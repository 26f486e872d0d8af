/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dynamic.c - leases per phase: what a role does not use now is lent to
 * whoever waits, when the time gained exceeds the cost of switching.
 *
 * For every waiting phase, by priority and then by the age of its job, the
 * policy compares when it would be over: on the lease it still holds, in its
 * own pool, on each type of GPU in each other pool (thrown-out idle leases are
 * charged what they lose), with more GPUs if nobody else waits, or by waiting
 * for its own pool.  Idle
 * leases are left alone for a while where switching is dear.  The
 * forecast contains the links that weights and gradients cross, so bandwidth
 * enters the decision.  Needs good forecasts; switches cost GPU time.
 */
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy dynamic_policy;

struct dynamic {
    bool lend;
    double gain_min;
};

static const struct cs_param dynamic_param[] = {
    { .key = "lend", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct dynamic, lend), .fallback = "true",
      .help = "may a phase use GPUs outside the pool of its role" },
    { .key = "gain_min", .type = CS_PARAM_REAL,
      .offset = offsetof(struct dynamic, gain_min),
      .min = 0, .max = 100, .fallback = "1.0",
      .help = "seconds gained per second of switching, at least" },
};

struct dynamic_choice {
    struct cs_want want;
    double over_s;              /* from now until the phase has run */
    bool found, held;
    bool holds;                 /* it has an idle lease */
    bool room;                  /* there would be, were no idle lease spared */
};

/* Roles that found no room in this decision, idle leases included: what follows
 * takes room only, so that others of the kind need not look again. */
#define DYNAMIC_FULL_MAX 16u

struct dynamic_full {
    const struct job_form *form[DYNAMIC_FULL_MAX];
    uint32_t role[DYNAMIC_FULL_MAX], gpus[DYNAMIC_FULL_MAX], count;
};

/* Takes the want if it is over earlier; switching is charged at gain_min. */
static void dynamic_consider(const struct dynamic *dynamic,
                             struct cs_host *host, struct task_id task,
                             struct cs_want want,
                             struct dynamic_choice *best)
{
    struct cs_forecast f;

    if (!cs_forecast(host, task, &want, &f))
        return;
    double over = f.run_s + f.switch_s +
                  dynamic->gain_min * f.evict_s;
    if (best->holds)            /* leaving a warm lease must pay */
        over += (dynamic->gain_min - 1) * f.switch_s;
    if (best->found && over >= best->over_s)
        return;
    best->want = want;
    best->over_s = over;
    best->found = true;
    best->held = false;
}

/* On free GPUs, then on those of idle leases too: a search that may take idle
 * ones does not prefer the free, and nobody is thrown out for nothing.  Where
 * switching costs more than the phase itself, a lease is thrown out only when
 * it has been idle for the difference: whoever comes back sooner finds it (as
 * who rents skis until renting has cost as much as buying, Karlin et al.
 * 1988).  So dear switches are seldom, and no lease is safe for ever. */
static void dynamic_consider_both(const struct dynamic *dynamic,
                                  struct cs_host *host, struct task_id task,
                                  struct cs_want want,
                                  struct dynamic_choice *best)
{
    struct cs_forecast f;

    want.take_idle = false;
    dynamic_consider(dynamic, host, task, want, best);
    want.take_idle = true;
    if (!cs_forecast(host, task, &want, &f))
        return;
    best->room = true;
    double rest_s =
        dynamic->gain_min * (f.switch_s + f.evict_s) - f.run_s;
    if (rest_s > 0)
        want.idle_ns = (int64_t)((rest_s < 1e6 ? rest_s : 1e6) * 1e9);
    dynamic_consider(dynamic, host, task, want, best);
    if (!best->found)
        cs_wake_when_idle(host, want.idle_ns);
}

/* On every site within those pools, or with `pools` 0 on all; of roles without
 * GPUs, wherever there are cores. */
static void dynamic_consider_sites(const struct dynamic *dynamic,
                                   struct cs_host *host, struct task_id task,
                                   struct cs_want want,
                                   struct dynamic_choice *best)
{
    uint32_t pools = want.pool_mask, count = cs_site_count(host, task);

    if (count == 0)
        dynamic_consider_both(dynamic, host, task, want, best);
    for (uint32_t i = 0; i < count; i++)
        if (cs_site(host, task, i, pools, &want))
            dynamic_consider_both(dynamic, host, task, want, best);
}

static struct dynamic_choice dynamic_choose(const struct dynamic *dynamic,
                                            struct cs_host *host,
                                            struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);
    struct dynamic_choice best = { .found = false };
    struct cs_want want = { .pool_mask = home };
    struct cs_forecast f;

    if (cs_forecast_held(host, task, &f))
        best = (struct dynamic_choice) {
            .over_s = f.run_s, .found = true, .held = true, .holds = true
        };
    dynamic_consider_sites(dynamic, host, task, want, &best);
    if (!dynamic->lend || pub->gpus == 0)
        return best;
    want.pool_mask = 0;
    if (home)
        dynamic_consider_sites(dynamic, host, task, want, &best);
    if (cs_pending_count(host) == 1 && cs_most_gpus(host, task) > pub->gpus) {
        want.gpus = cs_most_gpus(host, task);
        dynamic_consider_sites(dynamic, host, task, want, &best);
    }
    return best;
}

/* Would the phase be over earlier if it waited for its own pool? */
static bool dynamic_waits(struct cs_host *host, struct task_id task,
                          const struct dynamic_choice *best)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);
    double wait = cs_room_in_s(host, home, pub->gpus);

    return home && pub->gpus > 0 && wait > 0 &&
           wait + (double)pub->estimate_ns / 1e9 < best->over_s;
}

static bool dynamic_is_full(const struct dynamic_full *full,
                            const struct cs_host *host,
                            const struct cs_task *task)
{
    const struct job_form *form = cs_request(host, task->job)->form;

    for (uint32_t k = 0; task->held.i == ID_NONE && k < full->count; k++)
        if (full->form[k] == form && full->role[k] == task->role &&
            full->gpus[k] == task->gpus)
            return true;
    return false;
}

static void dynamic_note_full(struct dynamic_full *full,
                              const struct cs_host *host,
                              const struct cs_task *task)
{
    uint32_t k = full->count;

    if (k == DYNAMIC_FULL_MAX)
        return;
    full->form[k] = cs_request(host, task->job)->form;
    full->role[k] = task->role;
    full->gpus[k] = task->gpus;
    full->count++;
}

/* More than is free or idle: those that hold an idle lease want no more. */
static bool dynamic_too_large(const struct cs_host *host,
                              const struct cs_task *task)
{
    uint32_t gpus = cs_free_gpus(host, 0) + cs_idle_gpus(host, 0);

    return task->gpus > (gpus > 0 ? gpus : 1);
}

/* Starts it, or says what the same answer would be given to. */
static void dynamic_try(const struct dynamic *dynamic, struct cs_host *host,
                        struct task_id task, struct dynamic_full *full)
{
    struct dynamic_choice best = dynamic_choose(dynamic, host, task);
    enum cs_alike alike = CS_ALIKE_NONE;
    enum cs_verdict verdict = CS_NO_ROOM;

    if (best.found && best.held)
        verdict = cs_continue(host, task);
    else if (best.found && !dynamic_waits(host, task, &best))
        verdict = cs_start_want(host, task, &best.want);
    else
        alike = best.found || best.room ? CS_ALIKE_AS_LONG : CS_ALIKE_ALL;
    if (alike == CS_ALIKE_ALL)
        dynamic_note_full(full, host, cs_task(host, task));
    if (verdict != CS_DONE)
        cs_tried(host, task, alike);
}

static void dynamic_decide(void *self, struct cs_host *host)
{
    struct dynamic_full full = { .count = 0 };
    struct task_id task;

    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE)
        if (dynamic_too_large(host, cs_task(host, task)) ||
            dynamic_is_full(&full, host, cs_task(host, task)))
            cs_tried(host, task, CS_ALIKE_ALL);
        else
            dynamic_try(self, host, task, &full);
}

const struct cs_policy dynamic_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dynamic",
    .summary = "leases per phase, idle GPUs lent where switching pays",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS,
    .self_bytes = sizeof(struct dynamic),
    .param = dynamic_param,
    .param_count = sizeof dynamic_param / sizeof dynamic_param[0],
    .before = cs_by_priority,
    .decide = dynamic_decide,
};
