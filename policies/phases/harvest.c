/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * harvest.c - services keep their pool; what they do not use generates, and is
 * given back when they need it.
 *
 * After ROSE, which runs rollouts on serving GPUs.  Replicas of services go
 * first, in the pool named by `from`.  A rollout (the phases of the role named
 * by `role`) takes its own GPUs, or, if it would be over sooner, free GPUs of that
 * pool.  It borrows as many as find room, and no more than its `max`.  When a replica
 * has waited for `delay`, rollouts there are taken back: those that began last, as many
 * as make room for it, and none if that does not help.  They keep the responses that
 * are done, and go on elsewhere.  A replica that finds room before stops none.  All
 * other phases run in their own pool.  A `reserve` of the pool is never borrowed.
 */
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy harvest_policy;

/* The parameters and a list; all else is read from the host at each decision. */
struct harvest {
    const char *from, *role;    /* parameters: names of a pool and of a role */
    int64_t delay_ns;           /* parameter */
    double reserve;             /* parameter: a share of the pool */
    struct lease_id *take;      /* to be taken back; of one call */
    uint32_t take_room;
};

static const struct cs_param harvest_param[] = {
    { .key = "from", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct harvest, from), .fallback = "serve",
      .help = "pool of the services" },
    { .key = "role", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct harvest, role), .fallback = "rollout",
      .help = "role whose phases may borrow" },
    { .key = "delay", .type = CS_PARAM_TIME,
      .offset = offsetof(struct harvest, delay_ns), .max = 86400,
      .fallback = "0s",
      .help = "longest time that a replica waits for its GPUs, before "
              "the weights of the service are loaded" },
    { .key = "reserve", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct harvest, reserve), .min = 0, .max = 1,
      .fallback = "0%", .help = "share of the pool that is never borrowed" },
};

/* Replicas of services go before all other jobs; among both the older goes first. */
static bool harvest_before(const void *self, const struct cs_host *host,
                           struct task_id a, struct task_id b)
{
    struct job_id x = cs_task(host, a)->job, y = cs_task(host, b)->job;
    bool s = cs_serves(host, x), t = cs_serves(host, y);

    (void)self;
    return s != t ? s : x.i < y.i;
}

/* Returns all pools but those of a mask. */
static uint32_t harvest_all_but(const struct cs_host *host, uint32_t mask)
{
    uint32_t all = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        all |= 1u << p;
    return all & ~mask;
}

/* Returns how many GPUs of the pool of the services rollouts may have now: the free
 * and the idle ones, less the reserve. */
static uint32_t harvest_spare(const struct harvest *harvest,
                              const struct cs_host *host, uint32_t serve)
{
    uint32_t spare = cs_free_gpus(host, serve) + cs_idle_gpus(host, serve);
    uint32_t keep = cs_share_up(harvest->reserve, cs_total_gpus(host, serve));

    return spare > keep ? spare - keep : 0;
}

/* Returns the most GPUs that a role can use of `spare`: at most `most`, a multiple
 * of what the role needs, and not below its least.  If there is no such number,
 * what was asked for, if that fits; else 0. */
static uint32_t harvest_size(const struct role_spec *role, uint32_t asked,
                             uint32_t most, uint32_t spare)
{
    uint32_t multiple = role->gpus_multiple ? role->gpus_multiple : 1;

    if (most > spare)
        most = spare;
    most -= most % multiple;
    if (most >= role->gpus_min && most > 0)
        return most;
    return asked <= spare ? asked : 0;
}

/* Sets *want and *f for the most GPUs of the pool, at most `spare`, on which a rollout
 * finds room now; false: there is no such number. */
static bool harvest_lend(struct cs_host *host, struct task_id task, uint32_t serve,
                         uint32_t spare, struct cs_want *want, struct cs_forecast *f)
{
    const struct cs_task *pub = cs_task(host, task);
    const struct role_spec *role =
        &cs_request(host, pub->job)->form->role[pub->role];
    uint32_t gpus = harvest_size(role, pub->gpus, cs_most_gpus(host, task), spare);

    while (gpus > 0) {
        *want = (struct cs_want) { .role = pub->role, .gpus = gpus, .pool_mask = serve,
                                   .take_idle = true };
        if (cs_forecast_best(host, task, want, f))
            return true;
        gpus = harvest_size(role, pub->gpus, gpus - 1, gpus - 1);
    }
    return false;
}

/* Starts a rollout where it is over first: on the lease that it holds, in its own
 * pools, or on what the services do not use.  False: it waits on. */
static bool harvest_rollout(const struct harvest *harvest,
                            struct cs_host *host, struct task_id task,
                            uint32_t serve)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want own = { .role = pub->role,
                           .pool_mask = harvest_all_but(host, serve),
                           .take_idle = true };
    struct cs_want lent = { 0 };
    struct cs_forecast f;
    double held_s = 1e300, own_s = 1e300, lent_s = 1e300;

    if (cs_forecast_held(host, task, &f))
        held_s = f.run_s;
    if (cs_forecast_best(host, task, &own, &f))
        own_s = f.run_s + f.switch_s + f.evict_s;
    if (harvest_lend(host, task, serve, harvest_spare(harvest, host, serve), &lent, &f))
        lent_s = f.run_s + f.switch_s + f.evict_s;
    if (lent_s < own_s && lent_s < held_s)
        return cs_start_want(host, task, &lent) == CS_DONE;
    if (held_s < 1e300)
        return cs_continue(host, task) == CS_DONE;
    return own_s < 1e300 && cs_start_want(host, task, &own) == CS_DONE;
}

/* Lists the leases of rollouts in the pool, the one that began last first, until `gpus`
 * GPUs would be free without them and the task would fit.  Returns how many; 0: it does
 * not help to take them back.  Leases of services stay. */
static uint32_t harvest_choose(struct harvest *harvest, struct cs_host *host,
                               struct task_id task, const struct cs_want *want,
                               uint32_t gpus)
{
    uint32_t room = cs_free_gpus(host, want->pool_mask), count = 0;

    for (uint32_t i = cs_lease_count(host); i-- > 0;) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (!(cs_lease_pools(host, id) & want->pool_mask) || lease->gpus == 0 ||
            cs_serves(host, lease->job))
            continue;
        harvest->take = cs_grow(host, harvest->take, &harvest->take_room, count,
                                sizeof *harvest->take);
        harvest->take[count++] = id;
        room += lease->gpus;
        if (room >= gpus && cs_fits_without_leases(host, task, want, harvest->take, count))
            return count;
    }
    return 0;
}

/* Starts a task within the want where it is over soonest; false: it cannot start
 * now. */
static bool harvest_start(struct cs_host *host, struct task_id task,
                          struct cs_want want)
{
    struct cs_forecast f;

    return cs_forecast_best(host, task, &want, &f) &&
           cs_start_want(host, task, &want) == CS_DONE;
}

/* Starts a replica of a service in its pool.  Without room there, rollouts are taken back
 * once it has waited for the delay, if it would then have room, beside the replicas before
 * it in this decision that wait for what is taken back; *wanted adds up their GPUs. */
static bool harvest_replica(struct harvest *harvest, struct cs_host *host,
                            struct task_id task, uint32_t serve, uint32_t *wanted)
{
    struct cs_want want = { .role = cs_task(host, task)->role,
                            .pool_mask = serve };
    uint32_t gpus = cs_task(host, task)->gpus, count;
    int64_t due_ns = clock_after(cs_task(host, task)->ready_ns, harvest->delay_ns);
    bool due = cs_now_ns(host) >= due_ns;

    if (gpus == 0)
        want.pool_mask = 0;
    if (harvest_start(host, task, want))
        return true;
    if (gpus == 0)
        return false;
    count = harvest_choose(harvest, host, task, &want, *wanted + gpus);
    if (count > 0 && !due)
        cs_wake_at(host, due_ns);
    for (uint32_t i = 0; due && i < count; i++)
        cs_take_back(host, harvest->take[i], 0);
    if (count > 0 && due && harvest_start(host, task, want))
        return true;
    if (count > 0)
        *wanted += gpus;
    return false;
}

/* All other phases run outside the pool of the services. */
static bool harvest_other(struct cs_host *host, struct task_id task,
                          uint32_t serve)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want want = { .role = pub->role,
                            .pool_mask = harvest_all_but(host, serve),
                            .take_idle = true };


    if (pub->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    return harvest_start(host, task, want);
}

/* Goes through the queue once, services first.  As soon as a replica waits for what will be
 * taken back, no rollout borrows in this decision: it would be taken back at once. */
static void harvest_decide(void *self, struct cs_host *host)
{
    struct harvest *harvest = self;
    uint32_t serve = cs_pools_named(host, harvest->from), wanted = 0;

    if (serve == 0) {
        cs_fail(host, "the cluster has no pool of the name `from`");
        return;
    }
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        const struct cs_task *pub = cs_task(host, task);
        const struct job_form *form = cs_request(host, pub->job)->form;
        bool done;
        if (cs_serves(host, pub->job))
            done = harvest_replica(harvest, host, task, serve, &wanted);
        else if (pub->gpus > 0 && wanted == 0 &&
                 cs_same_text(form->role[pub->role].name, harvest->role))
            done = harvest_rollout(harvest, host, task, serve);
        else
            done = harvest_other(host, task, serve);
        if (!done)
            i++;
    }
}

/* What was borrowed goes back when its phase is over. */
static void harvest_lease_idle(void *self, struct cs_host *host,
                               struct lease_id id)
{
    const struct harvest *harvest = self;
    uint32_t serve = cs_pools_named(host, harvest->from);
    const struct cs_lease *lease = cs_lease(host, id);

    if (lease->state == CS_LEASE_IDLE && lease->gpus > 0 &&
        (cs_lease_pools(host, id) & serve) && !cs_serves(host, lease->job))
        cs_release(host, id);
}

/* Nodes are rented for roles where they start: replicas in the pool of the services, all others but
 * rollouts outside it. */
static void harvest_submitted(void *self, struct cs_host *host, struct job_id id)
{
    const struct harvest *harvest = self;
    uint32_t serve = cs_pools_named(host, harvest->from);
    const struct job_form *form = cs_request(host, id)->form;

    for (uint32_t r = 0; r < form->role_count; r++)
        if (cs_serves(host, id) && form->role[r].gpus > 0)
            cs_rent_in(host, id, r, serve);
        else if (!cs_serves(host, id) &&
                 !(form->role[r].gpus > 0 && cs_same_text(form->role[r].name, harvest->role)))
            cs_rent_in(host, id, r, harvest_all_but(host, serve));
}

static const struct cs_words words[] = {
    { "from", CS_A_POOL },
    { "role", CS_A_ROLE },
};

const struct cs_policy harvest_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "harvest",
    .summary = "rollouts on what services do not use, given back in time",
    .flags = CS_PER_PHASE | CS_PREEMPTS | CS_FORECASTS | CS_GROWS |
             CS_SHRINKS,
    .self_bytes = sizeof(struct harvest),
    .param = harvest_param,
    .param_count = sizeof harvest_param / sizeof harvest_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .before = harvest_before,
    .decide = harvest_decide,
    .job_submitted = harvest_submitted,
    .lease_idle = harvest_lease_idle,
};
