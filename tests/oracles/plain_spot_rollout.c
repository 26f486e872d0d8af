/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_spot_rollout.c - an oracle: a list of all places and sizes of a rollout, of which the one
 * that is over first is taken.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_spot_rollout_policy;

#define PLACES_MAX 200u

struct plain_spot {             /* the parameters stand as in spot_rollout.c */
    const char *spot, *role, *reserved;
};

struct place {
    struct cs_want want;        /* of no GPUs: the lease that it holds */
    double over_s;
};

struct places {
    struct place at[PLACES_MAX];
    uint32_t count;
};

static void add_place(struct places *places, struct cs_host *host, struct task_id task,
                      struct cs_want want)
{
    struct cs_forecast f;

    if (places->count == PLACES_MAX || !cs_forecast_best(host, task, &want, &f))
        return;
    places->at[places->count].want = want;
    places->at[places->count++].over_s = f.evict_s + f.switch_s + f.run_s;
}

/* All sizes in some pools: from the largest 8 less each time, from 8 on the half, down to the
 * least; what the role does not accept is rounded down. */
static void add_sizes(struct places *places, struct cs_host *host, struct task_id task,
                      uint32_t pools)
{
    struct cs_task of = *cs_task(host, task);
    const struct role_spec *role = &cs_request(host, of.job)->form->role[of.role];
    uint32_t size = cs_most_gpus(host, task);

    while (size > 0 && size >= role->gpus_min) {
        struct cs_want want = { .role = of.role, .pool_mask = pools, .gpus = size,
                                .take_idle = true };
        if (size != of.gpus && role->gpus_multiple > 1)
            want.gpus = size / role->gpus_multiple * role->gpus_multiple;
        if (want.gpus > 0)
            add_place(places, host, task, want);
        size = size <= 8 ? size / 2 : size - 8;
    }
}

/* Of places that are over as soon, the lease that it holds goes first, then the reserved GPUs as
 * asked for, then spot instances, and then both together. */
static bool start_rollout(const struct plain_spot *s, struct cs_host *host, struct task_id task)
{
    struct cs_task of = *cs_task(host, task);
    uint32_t reserved = cs_pools_named(host, s->reserved), spot = cs_pools_named(host, s->spot);
    struct places places = { .count = 0 };
    struct cs_forecast f;

    if (cs_forecast_held(host, task, &f))
        places.at[places.count++] = (struct place) { .over_s = f.run_s };
    uint32_t held = places.count;
    add_place(&places, host, task, (struct cs_want) { .role = of.role, .pool_mask = reserved,
                                                      .take_idle = true });
    add_sizes(&places, host, task, spot);
    add_sizes(&places, host, task, spot | reserved);
    uint32_t best = 0;
    for (uint32_t i = 1; i < places.count; i++)
        if (places.at[i].over_s < places.at[best].over_s)
            best = i;
    if (places.count == 0)
        return false;
    return (best < held ? cs_continue(host, task)
                        : cs_start_want(host, task, &places.at[best].want)) == CS_DONE;
}

static bool start_other(const struct plain_spot *s, struct cs_host *host, struct task_id task)
{
    struct cs_task of = *cs_task(host, task);
    struct places places = { .count = 0 };
    struct cs_want want = { .role = of.role, .take_idle = true };

    if (of.held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    want.pool_mask = of.gpus > 0 ? cs_pools_named(host, s->reserved) : 0;
    add_place(&places, host, task, want);
    return places.count == 1 && cs_start_want(host, task, &places.at[0].want) == CS_DONE;
}

static void decide(void *self, struct cs_host *host)
{
    const struct plain_spot *s = self;
    uint32_t i = 0;

    while (i < cs_pending_count(host)) {
        struct task_id task = cs_pending(host, i);
        struct cs_task of = *cs_task(host, task);
        const struct role_spec *role = &cs_request(host, of.job)->form->role[of.role];
        bool rolls_out = of.gpus > 0 && cs_same_text(role->name, s->role);
        i += rolls_out ? !start_rollout(s, host, task) : !start_other(s, host, task);
    }
}

static void submitted(void *self, struct cs_host *host, struct job_id job)
{
    const struct plain_spot *s = self;
    const struct job_form *form = cs_request(host, job)->form;

    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t pools = cs_pools_named(host, s->reserved);
        if (cs_same_text(form->role[r].name, s->role))
            pools |= cs_pools_named(host, s->spot);
        if (form->role[r].gpus > 0)
            cs_rent_in(host, job, r, pools);
    }
}

const struct cs_policy plain_spot_rollout_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "spot-rollout",
    .summary = "the best of a list of all places and sizes",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_FORECASTS | CS_GROWS | CS_SHRINKS,
    .self_bytes = sizeof(struct plain_spot),
    .before = cs_by_priority,
    .decide = decide,
    .job_submitted = submitted,
};
