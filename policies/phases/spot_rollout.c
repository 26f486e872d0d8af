/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spot_rollout.c - generation on instances that can be taken away, training on
 * GPUs that cannot.
 *
 * After RLBoost (arXiv 2510.19225).  Rollouts take what there is in the pool
 * named by `spot`, alone or with the pool of their training, which waits for
 * them anyway: from the role's `min` to its `max`, if they are over sooner than
 * on what they hold.  Without spot instances a job generates where it trains.  A lease that goes
 * with its node costs the responses that are not done; the rollout goes on with
 * what is there then.  Between rollouts a job keeps its instances.
 */
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy spot_rollout_policy;

struct spot {
    const char *pool, *role, *other; /* parameters: the names of `spot`, `role` and `reserved` */
};

static const struct cs_param spot_param[] = {
    { .key = "spot", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct spot, pool), .fallback = "spot",
      .help = "pool of the instances that can be taken away" },
    { .key = "role", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct spot, role), .fallback = "rollout",
      .help = "role whose phases run there" },
    { .key = "reserved", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct spot, other), .fallback = "train",
      .help = "pool of all that cannot be taken away: training, and rollouts "
              "where that is sooner" },
};

/* Looks for the number of GPUs, within the pools, at which the phase is over
 * soonest.  Sizes go from the role's largest down in steps of 8, below 8 by halves,
 * rounded to what the role accepts: neighbouring sizes differ little, and each
 * costs a forecast.
 *
 * True: *want and *than_s are the best, which is over sooner than *than_s was (in
 * seconds from now).  False: both are as they were. */
static bool spot_best(struct cs_host *host, struct task_id task, uint32_t pools,
                      struct cs_want *want, double *than_s)
{
    const struct cs_task *pub = cs_task(host, task);
    const struct role_spec *role =
        &cs_request(host, pub->job)->form->role[pub->role];
    uint32_t step = role->gpus_multiple ? role->gpus_multiple : 1;
    uint32_t free = cs_free_gpus(host, pools) + cs_idle_gpus(host, pools);
    struct cs_forecast f;
    bool found = false;

    for (uint32_t g = cs_most_gpus(host, task); g >= role->gpus_min && g > 0;
         g = g > 8 ? g - 8 : g / 2) {
        struct cs_want try = { .role = pub->role, .pool_mask = pools,
                               .gpus = g == pub->gpus ? g : g - g % step,
                               .take_idle = true };
        if (try.gpus == 0 || try.gpus > free ||
            !cs_forecast_best(host, task, &try, &f) ||
            f.run_s + f.switch_s + f.evict_s >= *than_s)
            continue;
        *want = try;
        *than_s = f.run_s + f.switch_s + f.evict_s;
        found = true;
    }
    return found;
}

/* Starts a rollout where it is over first: on the lease that it holds, on reserved
 * GPUs, on spot instances, or on both kinds together.  False: it waits on. */
static bool spot_generate(const struct spot *self, struct cs_host *host,
                          struct task_id task, uint32_t spot)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want best = { 0 }, other = { .role = pub->role,
                                           .take_idle = true };
    struct cs_forecast f;
    double held_s = 1e300, else_s = 1e300, spot_s;

    if (cs_forecast_held(host, task, &f))
        held_s = f.run_s;
    other.pool_mask = cs_pools_named(host, self->other);
    if (cs_forecast_best(host, task, &other, &f))
        else_s = f.run_s + f.switch_s + f.evict_s;
    spot_s = held_s < else_s ? held_s : else_s;
    bool found = spot_best(host, task, spot, &best, &spot_s);
    found |= spot_best(host, task, spot | other.pool_mask, &best, &spot_s);
    if (found)
        return cs_start_want(host, task, &best) == CS_DONE;
    if (held_s < 1e300 && held_s <= else_s)
        return cs_continue(host, task) == CS_DONE;
    return else_s < 1e300 && cs_start_want(host, task, &other) == CS_DONE;
}

/* Starts any other phase on reserved GPUs, or continues its lease there.  A role
 * without GPUs may go to any pool.  False: it waits on. */
static bool spot_other(const struct spot *self, struct cs_host *host,
                       struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want want = { .role = pub->role, .take_idle = true };
    struct cs_forecast f;

    if (pub->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    if (pub->gpus > 0)
        want.pool_mask = cs_pools_named(host, self->other);
    return cs_forecast_best(host, task, &want, &f) &&
           cs_start_want(host, task, &want) == CS_DONE;
}

/* Phases that generate go to the spot pool, all others to the reserved one. */
static void spot_decide(void *self, struct cs_host *host)
{
    const struct spot *spot = self;
    uint32_t mask = cs_pools_named(host, spot->pool);

    if (mask == 0 || cs_pools_named(host, spot->other) == 0) {
        cs_fail(host, "the cluster lacks a pool named by `spot` or "
                      "`reserved`");
        return;
    }
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        const struct cs_task *pub = cs_task(host, task);
        const struct job_form *form = cs_request(host, pub->job)->form;
        bool generates = pub->gpus > 0 &&
                         cs_same_text(form->role[pub->role].name, spot->role);
        if (!(generates ? spot_generate(spot, host, task, mask)
                        : spot_other(spot, host, task)))
            i++;
    }
}

/* Nodes are rented for roles where they start. */
static void spot_submitted(void *self, struct cs_host *host, struct job_id id)
{
    const struct spot *spot = self;
    const struct job_form *form = cs_request(host, id)->form;
    uint32_t other = cs_pools_named(host, spot->other), mask = cs_pools_named(host, spot->pool);

    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role[r].gpus > 0)
            cs_rent_in(host, id, r, cs_same_text(form->role[r].name, spot->role) ? other | mask
                                                                                 : other);
}

static const struct cs_words words[] = {
    { "spot", CS_A_POOL },
    { "role", CS_A_ROLE },
    { "reserved", CS_A_POOL },
};

const struct cs_policy spot_rollout_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "spot-rollout",
    .cites = "wu2025rlboost",
    .summary = "rollouts on spot instances, training on others",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_FORECASTS | CS_GROWS | CS_SHRINKS,
    .self_bytes = sizeof(struct spot),
    .param = spot_param,
    .param_count = sizeof spot_param / sizeof spot_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .before = cs_by_priority,
    .decide = spot_decide,
    .job_submitted = spot_submitted,
};
