/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_harvest.c - an oracle: services keep their pool, and rollouts have what is left of
 * it, by the description of harvest.c.
 */
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_harvest_policy;

#define LENT_MAX 256u

struct plain_harvest {
    const char *from, *role;    /* parameters, as harvest.c has them */
    int64_t delay_ns;
    double reserve;
};

static uint32_t pool_of(const struct plain_harvest *h, const struct cs_host *host)
{
    uint32_t mask = 0;

    for (uint32_t p = cs_pool_count(host); p-- > 0;)
        mask = 2 * mask + (strcmp(cs_pool_name(host, p), h->from) == 0);
    return mask;
}

static bool goes_before(const void *self, const struct cs_host *host, struct task_id a,
                        struct task_id b)
{
    struct job_id x = cs_task(host, a)->job, y = cs_task(host, b)->job;
    int of_x = cs_serves(host, x) ? 0 : 1, of_y = cs_serves(host, y) ? 0 : 1;

    (void)self;
    return of_x < of_y || (of_x == of_y && x.i < y.i);
}

/* Seconds until it is over by the best of what a want leaves open; INFINITY: no room. */
static double over_in_s(struct cs_host *host, struct task_id task, struct cs_want *want)
{
    struct cs_forecast f;

    return cs_forecast_best(host, task, want, &f) ? f.run_s + f.switch_s + f.evict_s : INFINITY;
}

static bool begin(struct cs_host *host, struct task_id task, struct cs_want want)
{
    return over_in_s(host, task, &want) < INFINITY &&
           cs_start_want(host, task, &want) == CS_DONE;
}

/* All pools without that of services. */
static uint32_t elsewhere(const struct cs_host *host, uint32_t pool)
{
    return ((1u << cs_pool_count(host)) - 1) ^ pool;
}

/* The most that the role may have of what is left; 0: nothing. */
static uint32_t most_of_rest(const struct plain_harvest *h, struct cs_host *host,
                             struct task_id task, uint32_t pool)
{
    const struct cs_task *of = cs_task(host, task);
    const struct role_spec *role = &cs_request(host, of->job)->form->role[of->role];
    uint32_t unit = role->gpus_multiple > 1 ? role->gpus_multiple : 1;
    int64_t rest = (int64_t)cs_free_gpus(host, pool) + cs_idle_gpus(host, pool) -
                   (int64_t)ceil(h->reserve * cs_total_gpus(host, pool) - 1e-9);
    int64_t size = cs_most_gpus(host, task);

    if (rest < 0)
        rest = 0;
    while (size > 0 && (size > rest || size % unit != 0))
        size--;
    if (size > 0 && size >= role->gpus_min)
        return (uint32_t)size;
    return rest >= of->gpus ? of->gpus : 0;
}

/* The size to try after one that finds no room: the next smaller that the role may have,
 * at last what was asked for; 0: none. */
static uint32_t next_size(const struct cs_host *host, struct task_id task, uint32_t size)
{
    const struct cs_task *of = cs_task(host, task);
    const struct role_spec *role = &cs_request(host, of->job)->form->role[of->role];
    uint32_t unit = role->gpus_multiple > 1 ? role->gpus_multiple : 1;

    for (uint32_t n = size - 1; n >= role->gpus_min && n > 0; n--)
        if (n % unit == 0)
            return n;
    return of->gpus < size ? of->gpus : 0;
}

static bool begin_rollout(const struct plain_harvest *h, struct cs_host *host,
                          struct task_id task, uint32_t pool)
{
    uint32_t role = cs_task(host, task)->role;
    struct cs_want own = { .role = role, .pool_mask = elsewhere(host, pool), .take_idle = true };
    struct cs_want lent = { 0 };
    struct cs_forecast f;
    double held_s = cs_forecast_held(host, task, &f) ? f.run_s : INFINITY;
    double own_s = over_in_s(host, task, &own);
    double lent_s = INFINITY;

    for (uint32_t n = most_of_rest(h, host, task, pool); n > 0 && lent_s == INFINITY;
         n = next_size(host, task, n)) {
        lent = (struct cs_want) { .role = role, .pool_mask = pool, .take_idle = true, .gpus = n };
        lent_s = over_in_s(host, task, &lent);
    }

    if (lent_s < fmin(own_s, held_s))
        return cs_start_want(host, task, &lent) == CS_DONE;
    if (held_s < INFINITY)
        return cs_continue(host, task) == CS_DONE;
    return own_s < INFINITY && cs_start_want(host, task, &own) == CS_DONE;
}

/* Leases of rollouts there by age, the youngest first, as far as they may be listed. */
static uint32_t list_lent(struct cs_host *host, uint32_t pool, struct lease_id *out)
{
    uint32_t count = 0;

    for (uint32_t i = cs_lease_count(host); i > 0 && count < LENT_MAX; i--) {
        struct lease_id id = cs_lease_at(host, i - 1);
        if (cs_lease(host, id)->gpus > 0 && !cs_serves(host, cs_lease(host, id)->job) &&
            (cs_lease_pools(host, id) & pool))
            out[count++] = id;
    }
    return count;
}

/* How many of the youngest must go, so that the replica fits and all that were promised
 * GPUs have them; 0: even all of them do not help. */
static uint32_t fewest_to_go(struct cs_host *host, struct task_id task,
                             const struct cs_want *want, const struct lease_id *lent,
                             uint32_t count, uint32_t promised)
{
    uint32_t all = cs_free_gpus(host, want->pool_mask);

    for (uint32_t n = 1; n <= count; n++) {
        all += cs_lease(host, lent[n - 1])->gpus;
        if (promised <= all && cs_fits_without_leases(host, task, want, lent, n))
            return n;
    }
    return 0;
}

static bool begin_replica(const struct plain_harvest *h, struct cs_host *host,
                          struct task_id task, uint32_t pool, uint32_t *promised)
{
    const uint32_t gpus = cs_task(host, task)->gpus;
    struct cs_want want = { .role = cs_task(host, task)->role,
                            .pool_mask = gpus > 0 ? pool : 0 };
    struct lease_id lent[LENT_MAX];
    uint32_t go;

    if (begin(host, task, want))
        return true;
    go = gpus == 0 ? 0 : fewest_to_go(host, task, &want, lent, list_lent(host, pool, lent),
                                      *promised + gpus);
    if (go == 0)
        return false;
    const int64_t patience = h->delay_ns - (cs_now_ns(host) - cs_task(host, task)->ready_ns);
    if (patience > 0) {
        cs_wake_at(host, cs_now_ns(host) + patience);
    } else {
        while (go > 0)
            cs_take_back(host, lent[--go], 0);
        if (begin(host, task, want))
            return true;
    }
    *promised += gpus;
    return false;
}

static void decide(void *self, struct cs_host *host)
{
    const struct plain_harvest *h = self;
    uint32_t pool = pool_of(h, host), promised = 0, i = 0;

    while (i < cs_pending_count(host)) {
        struct task_id task = cs_pending(host, i);
        const struct cs_task *of = cs_task(host, task);
        const char *role = cs_request(host, of->job)->form->role[of->role].name;
        struct cs_want want = { .role = of->role, .pool_mask = elsewhere(host, pool),
                                .take_idle = true };
        bool went;
        if (cs_serves(host, of->job))
            went = begin_replica(h, host, task, pool, &promised);
        else if (of->gpus > 0 && promised == 0 && strcmp(role, h->role) == 0)
            went = begin_rollout(h, host, task, pool);
        else if (of->held.i != ID_NONE)
            went = cs_continue(host, task) == CS_DONE;
        else
            went = begin(host, task, want);
        i += went ? 0 : 1;
    }
}

static void submitted(void *self, struct cs_host *host, struct job_id job)
{
    const struct plain_harvest *h = self;
    const struct job_form *form = cs_request(host, job)->form;
    uint32_t pool = pool_of(h, host);

    for (uint32_t r = 0; r < form->role_count; r++) {
        bool gpus = form->role[r].gpus > 0;
        uint32_t pools = cs_serves(host, job) ? (gpus ? pool : 0) : elsewhere(host, pool);
        if (!cs_serves(host, job) && gpus && strcmp(form->role[r].name, h->role) == 0)
            pools = 0;
        cs_rent_in(host, job, r, pools);
    }
}

static void lease_idle(void *self, struct cs_host *host, struct lease_id id)
{
    const struct cs_lease *lease = cs_lease(host, id);

    if (lease->gpus > 0 && lease->state == CS_LEASE_IDLE && !cs_serves(host, lease->job) &&
        (cs_lease_pools(host, id) & pool_of(self, host)) != 0)
        cs_release(host, id);
}

const struct cs_policy plain_harvest_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "harvest",
    .summary = "rollouts on what services leave, by its description",
    .flags = CS_PER_PHASE | CS_PREEMPTS | CS_FORECASTS | CS_GROWS | CS_SHRINKS,
    .self_bytes = sizeof(struct plain_harvest),
    .before = goes_before,
    .decide = decide,
    .job_submitted = submitted,
    .lease_idle = lease_idle,
};
