/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_synergy.c - an oracle: the tuning of cores of Synergy (Mohan, Phanishayee, Kulkarni and
 * Chidambaram, OSDI 2022, section 4.3) where GPUs of several nodes may be taken as one and host
 * memory is never short.  Pools whose names begin with the same letter have GPUs of one type,
 * and a job is on one type.
 *
 * Who waits longest is first.  It is given its demand; if that fails, no more than its part; and
 * then, if enough GPUs are free on one node, those who hold more than their part there give back
 * one by one, the richest first.  Where no node has as many, but those of one type have together,
 * all do whose nodes have free GPUs.
 */
#include <assert.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_synergy_policy;

#define MOST_CORES 32u          /* of a node */
#define ANY_NODE UINT32_MAX

struct plain_synergy {
    double loss;                /* the parameter stands first, as in synergy.c */
};

/* What a job has from cores in one pool, or in all that are alike. */
struct offer {
    uint32_t pools;             /* a mask; 0: it cannot run there */
    uint32_t demand, part;      /* cores per GPU */
    double speed;               /* with the demand */
};

static struct offer look_at_pool(const struct plain_synergy *s, struct cs_host *host,
                                 struct job_id job, uint32_t gpus, uint32_t pool)
{
    struct offer offer = { .part = cs_pool_cores_per_gpu(host, pool) };
    double speed[MOST_CORES + 1], best = 0;

    for (uint32_t c = 1; c <= MOST_CORES; c++) {
        speed[c] = cs_speedup_cores(host, job, pool, gpus, c);
        best = speed[c] > best ? speed[c] : best;
    }
    if (best == 0)
        return offer;
    offer.pools = 1u << pool;
    do
        offer.speed = speed[++offer.demand];
    while (offer.speed < best * (1 - s->loss));
    return offer;
}

static bool holds_more(const struct cs_host *host, struct job_id job, const struct offer *offer,
                       uint32_t node)
{
    struct lease_id lease = cs_role_lease(host, job, 0);
    bool there = node != ANY_NODE && cs_gpus_on(host, job, node) > 0;

    for (uint32_t n = 0; node == ANY_NODE && n < cs_node_count(host); n++)
        there |= cs_node(host, n).free_gpus > 0 && cs_gpus_on(host, job, n) > 0;
    return there && lease.i != ID_NONE &&
           (cs_lease_pools(host, lease) | offer->pools) == offer->pools &&
           cs_cores_now(host, job) > offer->part;
}

/* The richest give back until the job starts. */
static bool start_with_theirs(struct cs_host *host, struct task_id task, struct cs_want want,
                              const struct offer *offer, uint32_t node)
{
    struct cs_want back = { .pool_mask = offer->pools, .cores = offer->part };

    if (node != ANY_NODE) {
        want.first_node = node;
        want.node_count = 1;
    }
    for (;;) {
        struct job_id rich = { ID_NONE };
        for (uint32_t i = cs_running_count(host); i-- > 0;) {
            struct job_id job = cs_running(host, i);
            if (holds_more(host, job, offer, node) &&
                (rich.i == ID_NONE || cs_cores_now(host, job) >= cs_cores_now(host, rich)))
                rich = job;
        }
        if (rich.i == ID_NONE ||
            cs_move(host, cs_role_lease(host, rich, 0), &back) != CS_DONE)
            return false;
        if (cs_start_want(host, task, &want) == CS_DONE)
            return true;
    }
}

/* The most free GPUs of one type. */
static uint32_t most_free(const struct cs_host *host, uint32_t pools)
{
    uint32_t most = 0;

    for (char first = 'a'; first <= 'z'; first++) {
        uint32_t free = 0;
        for (uint32_t p = 0; p < cs_pool_count(host); p++)
            if ((pools >> p & 1) != 0 && cs_pool_name(host, p)[0] == first)
                free += cs_free_gpus(host, 1u << p);
        most = free > most ? free : most;
    }
    return most;
}

static bool take(struct cs_host *host, struct task_id task, uint32_t gpus,
                 const struct offer *offer)
{
    struct cs_want want = { .pool_mask = offer->pools, .gpus = gpus, .cores = offer->demand };
    bool one_has_room = false;

    if (gpus > most_free(host, offer->pools))
        return false;
    if (cs_start_want(host, task, &want) == CS_DONE)
        return true;
    if (want.cores > offer->part)
        want.cores = offer->part;
    if (cs_start_want(host, task, &want) == CS_DONE)
        return true;
    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        struct cs_node node = cs_node(host, n);
        if ((1u << node.pool & offer->pools) == 0 || node.free_gpus < gpus)
            continue;
        one_has_room = true;
        if (start_with_theirs(host, task, want, offer, n))
            return true;
    }
    return !one_has_room && start_with_theirs(host, task, want, offer, ANY_NODE);
}

static bool start(const struct plain_synergy *s, struct cs_host *host, struct task_id task)
{
    struct offer offer[32];
    struct job_id job = cs_task(host, task)->job;
    uint32_t gpus = cs_task(host, task)->gpus, pools = cs_pool_count(host);

    for (uint32_t p = 0; p < pools; p++)
        offer[p] = look_at_pool(s, host, job, gpus, p);
    for (uint32_t p = 0; p < pools; p++) {
        if (offer[p].pools == 0)
            continue;
        for (uint32_t q = p + 1; q < pools; q++)
            if (offer[q].pools != 0 && offer[q].demand == offer[p].demand &&
                offer[q].part == offer[p].part && offer[q].speed == offer[p].speed) {
                offer[p].pools |= offer[q].pools;
                offer[q].pools = 0;
            }
        if (take(host, task, gpus, &offer[p]))
            return true;
    }
    return false;
}

static void decide(void *self, struct cs_host *host)
{
    uint32_t passed = 0;

    while (passed < cs_pending_count(host)) {
        bool started = start(self, host, cs_pending(host, passed));
        if (!started && !cs_skips(host))
            return;
        passed += !started;
    }
}

const struct cs_policy plain_synergy_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof plain_synergy_policy,
    .name = "synergy", .summary = "Synergy-TUNE from its description",
    .flags = CS_RESIZES | CS_ASKS_BLOCKING | CS_NEEDS_GPUS,
    .self_bytes = sizeof(struct plain_synergy), .decide = decide,
};
