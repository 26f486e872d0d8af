/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hybrid.c - a static plan by role, corrected by what switches have cost.
 *
 * The plan: a phase runs in the home of its role.  The correction: what a start
 * took beyond the phase itself is measured at each start and remembered by kind
 * of job and role as an exponential average, so that links that are full, and
 * state that lies on another node, count as they were and not as a law says.
 * The remembered switches of all roles, by a step of the job alone, decide as in
 * dynamic.c: a job holds the GPUs of all its roles for its life (above
 * lend_max), is lent to those that wait (between), or gives GPUs back between
 * phases (up to release_max).  A phase whose pool is full of work may borrow from
 * another as long as a reserve of that pool is not at work; what was borrowed is
 * given back as soon as the phase is over.
 */
#include <string.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy hybrid_policy;

/* Kinds of jobs whose switches are remembered; of more, the forecast counts. */
#define HYBRID_KINDS_MAX 64u

struct hybrid_kind {
    const struct job_form *form;
    double switch_s[FORM_ROLES_MAX];
};

/* A start whose cost is not measured yet. */
struct hybrid_start {
    bool is_new;
    double run_s;               /* forecast of its phase */
};

struct hybrid {
    double reserve, lend_max, release_max, memory;
    struct hybrid_kind kind[HYBRID_KINDS_MAX];
    uint32_t kinds, starts_max;
    struct hybrid_start *start; /* by seat of the job and role */
};

static const struct cs_param hybrid_param[] = {
    { .key = "reserve", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, reserve),
      .min = 0, .max = 1, .fallback = "20%",
      .help = "share of a pool's GPUs that is never lent" },
    { .key = "lend_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, lend_max),
      .min = 0, .max = 100, .fallback = "50%",
      .help = "a job whose switches take a larger part of a step keeps its "
              "GPUs for its life" },
    { .key = "release_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, release_max),
      .min = 0, .max = 100, .fallback = "5%",
      .help = "a job whose switches take no larger part of a step gives its "
              "GPUs back between phases" },
    { .key = "memory", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, memory),
      .min = 0, .max = 1, .fallback = "20%",
      .help = "weight of the newest switch in what is remembered of them" },
};

/* What is remembered of a job's kind; NULL: there are too many kinds.  A new
 * kind is what the laws say. */
static struct hybrid_kind *hybrid_kind_of(struct hybrid *hybrid,
                                          const struct cs_host *host,
                                          struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;

    for (uint32_t k = 0; k < hybrid->kinds; k++)
        if (hybrid->kind[k].form == form)
            return &hybrid->kind[k];
    if (hybrid->kinds == HYBRID_KINDS_MAX)
        return NULL;
    struct hybrid_kind *kind = &hybrid->kind[hybrid->kinds++];
    kind->form = form;
    for (uint32_t r = 0; r < form->role_count; r++)
        kind->switch_s[r] = cs_switch_s(host, job, r);
    return kind;
}

/* Switches of all roles with GPUs by a step of the job alone. */
static double hybrid_loss(struct hybrid *hybrid, const struct cs_host *host,
                          struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    const struct hybrid_kind *kind = hybrid_kind_of(hybrid, host, job);
    double step_s = cs_step_s(host, job), switch_s = 0;

    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role[r].gpus > 0)
            switch_s += kind ? kind->switch_s[r] : cs_switch_s(host, job, r);
    return step_s > 0 ? switch_s / step_s : 0;
}

static struct hybrid_start *hybrid_start_of(struct hybrid *hybrid,
                                            struct cs_host *host,
                                            struct job_id job, uint32_t role)
{
    uint32_t i = cs_slot(host, job) * FORM_ROLES_MAX + role;

    if (i >= hybrid->starts_max) {
        uint32_t more = 2 * (i + 1);
        struct hybrid_start *wide = cs_alloc(host, more, sizeof *wide);
        if (hybrid->starts_max > 0)
            memcpy(wide, hybrid->start, hybrid->starts_max * sizeof *wide);
        hybrid->start = wide;
        hybrid->starts_max = more;
    }
    return &hybrid->start[i];
}

/* Starts a phase there, to be measured if the job had been started before: its
 * first start loads from storage and starts processes, which no lending asks
 * for again. */
static enum cs_verdict hybrid_go(struct hybrid *hybrid, struct cs_host *host,
                                 struct task_id id, const struct cs_want *want,
                                 const struct cs_forecast *f)
{
    struct cs_task task = *cs_task(host, id);
    enum cs_verdict verdict = cs_start_want(host, id, want);

    if (verdict == CS_DONE)
        *hybrid_start_of(hybrid, host, task.job, task.role) =
            (struct hybrid_start) { .is_new = true, .run_s = f->run_s };
    return verdict;
}

/* Pools, other than the task's own, that can lend so many GPUs. */
static uint32_t hybrid_lenders(const struct hybrid *hybrid,
                               const struct cs_host *host, uint32_t home,
                               uint32_t gpus)
{
    uint32_t mask = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        uint32_t bit = 1u << p;
        double keep = hybrid->reserve * cs_total_gpus(host, bit);
        uint32_t spare = cs_free_gpus(host, bit) + cs_idle_gpus(host, bit);
        if (!(home & bit) && spare >= gpus + keep)
            mask |= bit;
    }
    return mask;
}

/* In place of idle leases.  Where switching costs more than the phase, only of
 * those that have been idle for the difference; see dynamic.c. */
static enum cs_alike hybrid_take(struct hybrid *hybrid, struct cs_host *host,
                                 struct task_id task, struct cs_want want)
{
    struct cs_forecast f;

    want.take_idle = true;
    if (!cs_forecast_best(host, task, &want, &f))
        return CS_ALIKE_ALL;
    double rest_s = f.switch_s + f.evict_s - f.run_s;
    if (rest_s > 0)
        want.idle_ns = (int64_t)((rest_s < 1e6 ? rest_s : 1e6) * 1e9);
    if (hybrid_go(hybrid, host, task, &want, &f) != CS_DONE &&
        want.idle_ns > 0)
        cs_wake_at(host, clock_after(cs_now_ns(host), want.idle_ns));
    return CS_ALIKE_AS_LONG;
}

/* These two try to start a phase, and say what need not be tried if that
 * failed.  In its own pool: on free GPUs, else in place of an idle lease. */
static enum cs_alike hybrid_own(struct hybrid *hybrid, struct cs_host *host,
                                struct task_id task, uint32_t home)
{
    struct cs_want want = { .pool_mask = home };
    struct cs_forecast f;

    if (cs_forecast_best(host, task, &want, &f) &&
        hybrid_go(hybrid, host, task, &want, &f) == CS_DONE)
        return CS_ALIKE_NONE;
    want = (struct cs_want) { .pool_mask = home };
    return hybrid_take(hybrid, host, task, want);
}

/* Borrowing pays if the phase is over before its own pool has room. */
static enum cs_alike hybrid_borrow(struct hybrid *hybrid, struct cs_host *host,
                                   struct task_id task, uint32_t home)
{
    const struct cs_task *pub = cs_task(host, task);
    double own_s;
    struct cs_want want = {
        .pool_mask = hybrid_lenders(hybrid, host, home, pub->gpus),
    };
    struct cs_forecast f;

    if (!want.pool_mask)
        return CS_ALIKE_ALL;
    own_s = cs_room_in_s(host, home, pub->gpus) +
            (double)pub->estimate_ns / 1e9;
    if (!cs_forecast_best(host, task, &want, &f)) {  /* nothing is free */
        want.take_idle = true;
        if (!cs_forecast_best(host, task, &want, &f))
            return CS_ALIKE_ALL;
    }
    if (f.run_s + f.switch_s + f.evict_s >= own_s)
        return CS_ALIKE_AS_LONG;
    if (want.take_idle)
        return hybrid_take(hybrid, host, task, want);
    hybrid_go(hybrid, host, task, &want, &f);
    return CS_ALIKE_AS_LONG;
}

/* What the last start took beyond its phase goes into the average. */
static void hybrid_learn(struct hybrid *hybrid, struct cs_host *host,
                         const struct cs_lease *lease)
{
    struct hybrid_start *start =
        hybrid_start_of(hybrid, host, lease->job, lease->role);
    struct hybrid_kind *kind = hybrid_kind_of(hybrid, host, lease->job);
    double took_s = (double)(cs_now_ns(host) - lease->since_ns) / 1e9;

    if (start->is_new && kind)
        kind->switch_s[lease->role] += hybrid->memory *
            (took_s - start->run_s - kind->switch_s[lease->role]);
    start->is_new = false;
}

/* Borrowed GPUs go back at once; one's own where having them back costs little.
 * A job that waits for its GPUs holds no cores. */
static void hybrid_lease_idle(void *self, struct cs_host *host,
                              struct lease_id id)
{
    const struct cs_lease *lease = cs_lease(host, id);
    struct hybrid *hybrid = self;

    if (lease->state != CS_LEASE_IDLE)
        return;
    if (lease->gpus > 0)
        hybrid_learn(hybrid, host, lease);
    uint32_t home = cs_role_homes(host, lease->job, lease->role);
    bool is_away = home && lease->gpus > 0 &&
                   !(cs_lease_pools(host, id) & home);
    bool is_asked =
        cs_job_task(host, lease->job, lease->role).i != ID_NONE;

    if (is_away ||
        (!is_asked && (lease->gpus == 0
                           ? !cs_settled(host, lease->job)
                           : hybrid_loss(hybrid, host, lease->job) <=
                                 hybrid->release_max)))
        cs_release(host, id);
}

static enum cs_alike hybrid_try(struct hybrid *hybrid, struct cs_host *host,
                                struct task_id task, bool owners)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);

    if (pub->held.i != ID_NONE) {
        cs_continue(host, task);
        return CS_ALIKE_NONE;
    }
    if (pub->gpus > 0 && !cs_settled(host, pub->job) &&
        hybrid_loss(hybrid, host, pub->job) > hybrid->lend_max) {
        if (owners)
            cs_settle(host, task);
        return CS_ALIKE_NONE;
    }
    if (owners)
        return hybrid_own(hybrid, host, task, home);
    if (home && pub->gpus > 0)
        return hybrid_borrow(hybrid, host, task, home);
    return CS_ALIKE_ALL;
}

static void hybrid_decide(void *self, struct cs_host *host)
{
    for (int owners = 1; owners >= 0; owners--) {
        struct task_id task;
        cs_try_anew(host);
        while ((task = cs_next_candidate(host)).i != ID_NONE)
            cs_tried(host, task, hybrid_try(self, host, task, owners));
    }
}

const struct cs_policy hybrid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "hybrid",
    .summary = "a static plan by role, corrected by what switches have cost",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS,
    .self_bytes = sizeof(struct hybrid),
    .param = hybrid_param,
    .param_count = sizeof hybrid_param / sizeof hybrid_param[0],
    .before = cs_by_priority,
    .lease_idle = hybrid_lease_idle,
    .decide = hybrid_decide,
};
