/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hybrid.c - a static plan by role, corrected by what was measured.
 *
 * The plan: a phase runs in the home of its role.  First correction: the
 * switches of all roles, as measured so far (cs_switch_s), by a step of the job
 * alone, decide as in dynamic.c: a job holds the GPUs of all its roles for its
 * life, is lent to those that wait, or gives GPUs back between phases (up to
 * release_max).  Owners are served before borrowers.
 * A phase whose pool is full of work may borrow from another as long as a
 * reserve of that pool is not at work; what was borrowed is given back as soon
 * as the phase is over.  There is no reserve by default: 20% and 35% of a pool
 * made JCT longer or left it as it was on all training seeds (900 to 906, of
 * dpo_vs_static and of the worlds with cheap switches).
 *
 * Second correction: where a job gives GPUs back between phases, a phase leaves
 * a home that has room, if GPUs of another pool are forecast to end it sooner by
 * more than forecasts have been wrong.  A phase that starts on free GPUs is timed
 * to its end and set against its forecast; the mean error is an exponential
 * average, and the gain must be above GAIN_ERRORS of it.  Until a phase has
 * ended nothing leaves home for that reason.  So where forecasts are bad, the
 * plan stays.
 */
#include <math.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy hybrid_policy;

/* If errors are normally distributed, about 95% of them exceed the forecast by less than two mean
 * absolute errors: 1.645 standard deviations are 2.06 of these. */
#define GAIN_ERRORS 2.0
/* Weight of the newest error, as of the newest switch (cs_switch_s). */
#define ERROR_WEIGHT 0.2

/* What a lease of a role was forecast to take, to be compared when its phase ends. */
struct hybrid_start {
    int64_t start_ns;           /* when the lease began */
    double forecast_s;          /* 0: nothing to compare */
};

struct hybrid {
    double reserve, lend_max, release_max; /* parameters: shares */
    double error;               /* mean of |1 - forecast / true|; NAN: none yet */
    struct hybrid_start *start; /* by cs_slot() and role */
    uint32_t slots;             /* entries of `start`, FORM_ROLES_MAX numbers each */
};

static const struct cs_param hybrid_param[] = {
    { .key = "reserve", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, reserve),
      .min = 0, .max = 1, .fallback = "0%",
      .help = "share of a pool's GPUs that is never lent" },
    { .key = "lend_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, lend_max),
      .min = 0, .max = 100, .fallback = "50%",
      .help = "a job whose switches would take a larger part of a step keeps "
              "its GPUs for its life" },
    { .key = "release_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct hybrid, release_max),
      .min = 0, .max = 100, .fallback = "10%",
      .help = "a job whose switches take no larger part of a step gives its "
              "GPUs back between phases" },
};

/* No phase has ended yet, so that nothing is known of the error of forecasts (NAN). */
static bool hybrid_init(void *self, struct cs_host *host)
{
    struct hybrid *hybrid = self;

    (void)host;
    hybrid->error = NAN;
    return true;
}

/* The entry of a job's role, by slot; room grows with the largest slot. */
static struct hybrid_start *hybrid_start_of(struct hybrid *hybrid,
                                            struct cs_host *host,
                                            struct job_id job, uint32_t role)
{
    uint32_t slot = cs_slot(host, job);

    hybrid->start = cs_grow(host, hybrid->start, &hybrid->slots, slot,
                            FORM_ROLES_MAX * sizeof *hybrid->start);
    return &hybrid->start[(size_t)slot * FORM_ROLES_MAX + role];
}

/* Forgets what was forecast for all roles of a job, so that nothing of it is
 * timed.  It is called for a new job, which may have the slot of one that failed
 * within a phase, and for a job that is settled. */
static void hybrid_forget(void *self, struct cs_host *host, struct job_id job)
{
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        hybrid_start_of(self, host, job, r)->forecast_s = 0;
}

/* Starts a phase by the want and notes its forecast, in seconds until it is over.
 * In place of idle leases nothing is noted: their saving is in the measured time
 * but not in the forecast, and the comparison would be unfair. */
static enum cs_verdict hybrid_start_as(struct hybrid *hybrid,
                                       struct cs_host *host,
                                       struct task_id task,
                                       const struct cs_want *want,
                                       const struct cs_forecast *f)
{
    struct job_id job = cs_task(host, task)->job;
    uint32_t role = cs_task(host, task)->role;
    enum cs_verdict verdict = cs_start_want(host, task, want);

    if (verdict == CS_DONE)
        *hybrid_start_of(hybrid, host, job, role) = (struct hybrid_start) {
            .start_ns = cs_now_ns(host),
            .forecast_s = want->take_idle ? 0 : f->switch_s + f->run_s
        };
    return verdict;
}

/* A phase has ended on this lease: compares how long it took with its forecast, and
 * moves the mean error by ERROR_WEIGHT.  Each forecast counts once. */
static void hybrid_learn(struct hybrid *hybrid, struct cs_host *host,
                         const struct cs_lease *lease)
{
    struct hybrid_start *start =
        hybrid_start_of(hybrid, host, lease->job, lease->role);
    double true_s = (double)(cs_now_ns(host) - start->start_ns) / 1e9;

    if (start->forecast_s > 0 && true_s > 0) {
        double error = fabs(1 - start->forecast_s / true_s);
        hybrid->error = isnan(hybrid->error) ? error
            : hybrid->error + ERROR_WEIGHT * (error - hybrid->error);
    }
    start->forecast_s = 0;
}

/* Returns the factor by which a phase may take longer than its forecast; at least
 * 1, and exactly 1 before any phase has ended. */
static double hybrid_margin(const struct hybrid *hybrid)
{
    return isnan(hybrid->error) ? 1 : 1 + GAIN_ERRORS * hybrid->error;
}

/* Returns the pools, as a mask, that can lend `gpus` GPUs: all but the home, where
 * free and idle GPUs exceed that by the reserve.  0: no pool can. */
static uint32_t hybrid_lenders(const struct hybrid *hybrid,
                               const struct cs_host *host, uint32_t home,
                               uint32_t gpus)
{
    uint32_t mask = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        uint32_t bit = 1u << p;
        uint32_t keep = cs_share_up(hybrid->reserve, cs_total_gpus(host, bit));
        uint32_t spare = cs_free_gpus(host, bit) + cs_idle_gpus(host, bit);
        if (!(home & bit) && spare >= keep && spare - keep >= gpus)
            mask |= bit;
    }
    return mask;
}

/* Starts a phase in place of idle leases.  Where switching costs more than the
 * phase, only leases that have been idle for the difference may go (dynamic.c says
 * why); if none has, the host is asked to wake the policy when one could.  Returns
 * which tasks need not be tried after this one. */
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
    if (hybrid_start_as(hybrid, host, task, &want, &f) != CS_DONE &&
        want.idle_ns > 0)
        cs_wake_when_idle(host, want.idle_ns);
    return CS_ALIKE_AS_LONG;
}

/* Is a phase forecast to end sooner on the free GPUs of another pool, and by more than the
 * error of forecasts?  True: *want and *f are those of that pool.
 *
 * The switch counts twice, since the next phase of the role comes home again.
 * False as long as no phase has ended, because the error is not known then. */
static bool hybrid_leaves(const struct hybrid *hybrid, struct cs_host *host,
                          struct task_id task, uint32_t home,
                          struct cs_want *want, struct cs_forecast *f)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want away = {
        .pool_mask = hybrid_lenders(hybrid, host, home, pub->gpus),
    };
    struct cs_forecast g;

    if (!home || isnan(hybrid->error) || pub->gpus == 0 || !away.pool_mask ||
        cs_switch_loss(host, pub->job) > hybrid->release_max ||
        !cs_forecast_best(host, task, &away, &g))
        return false;
    /* The next phase of the role comes home again. */
    if ((g.run_s + 2 * g.switch_s) * hybrid_margin(hybrid) >=
        f->run_s + f->switch_s)
        return false;
    *want = away;
    *f = g;
    return true;
}

/* Tries to start a phase for the owner of a pool: on free GPUs at home, or
 * elsewhere if hybrid_leaves() says so; else in place of an idle lease at home.
 * Returns which tasks need not be tried if it failed. */
static enum cs_alike hybrid_own(struct hybrid *hybrid, struct cs_host *host,
                                struct task_id task, uint32_t home)
{
    struct cs_want want = { .pool_mask = home };
    struct cs_forecast f;

    if (cs_forecast_best(host, task, &want, &f)) {
        hybrid_leaves(hybrid, host, task, home, &want, &f);
        if (hybrid_start_as(hybrid, host, task, &want, &f) == CS_DONE)
            return CS_ALIKE_NONE;
    }
    want = (struct cs_want) { .pool_mask = home };
    return hybrid_take(hybrid, host, task, want);
}

/* Tries to start a phase on GPUs of another pool.  Borrowing pays only if the phase
 * is over, with the margin of error, before its own pool has room and has run it.
 * Returns which tasks need not be tried after this one. */
static enum cs_alike hybrid_borrow(struct hybrid *hybrid,
                                   struct cs_host *host, struct task_id task,
                                   uint32_t home)
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
    if ((f.run_s + f.switch_s + f.evict_s) * hybrid_margin(hybrid) >= own_s)
        return CS_ALIKE_AS_LONG;
    if (want.take_idle)
        return hybrid_take(hybrid, host, task, want);
    hybrid_start_as(hybrid, host, task, &want, &f);
    return CS_ALIKE_AS_LONG;
}

/* A phase is over.  Borrowed GPUs are given back at once; GPUs of the home pool
 * only if having them back costs little (release_max) and no phase of the role
 * waits already.  A job that waits for its GPUs holds no cores either. */
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
                           : cs_switch_loss(host, lease->job) <=
                                 hybrid->release_max)))
        cs_release(host, id);
}

/* Tries one task.  `owners`: the first pass, in which tasks start at home; else the
 * second, in which they borrow.  A job whose switches are dear is settled in the
 * first pass: it then holds the GPUs of all its roles for its life. */
static enum cs_alike hybrid_try(struct hybrid *hybrid,
                                struct cs_host *host, struct task_id task,
                                bool owners)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);

    if (pub->held.i != ID_NONE) {
        cs_continue(host, task);
        return CS_ALIKE_NONE;
    }
    if (pub->gpus > 0 && !cs_settled(host, pub->job) &&
        cs_switch_loss(host, pub->job) > hybrid->lend_max) {
        if (owners) {
            hybrid_forget(hybrid, host, pub->job);
            cs_settle(host, task);
        }
        return CS_ALIKE_NONE;
    }
    if (owners)
        return hybrid_own(hybrid, host, task, home);
    if (home && pub->gpus > 0)
        return hybrid_borrow(hybrid, host, task, home);
    return CS_ALIKE_ALL;
}

/* Serves owners before borrowers, so that nobody borrows what an owner waits for. */
static void hybrid_try_all(struct hybrid *self, struct cs_host *host)
{
    for (int owners = 1; owners >= 0; owners--) {
        struct task_id task;
        cs_try_anew(host);
        while ((task = cs_next_candidate(host)).i != ID_NONE)
            cs_tried(host, task, hybrid_try(self, host, task, owners));
    }
}

/* Where the power cap holds tasks back, the host makes room, and all are tried again. */
static void hybrid_decide(void *self, struct cs_host *host)
{
    do
        hybrid_try_all(self, host);
    while (cs_relieve_power(host));
}

const struct cs_policy hybrid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "hybrid",
    .summary = "a static plan by role, corrected by what was measured",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_TAKES_OVER |
             CS_RELIEVES,
    .self_bytes = sizeof(struct hybrid),
    .param = hybrid_param,
    .param_count = sizeof hybrid_param / sizeof hybrid_param[0],
    .init = hybrid_init,
    .before = cs_by_priority,
    .job_submitted = hybrid_forget,
    .lease_idle = hybrid_lease_idle,
    .decide = hybrid_decide,
};
