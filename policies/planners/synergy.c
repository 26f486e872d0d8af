/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * synergy.c - cores to the jobs whose loaders need them, without which others
 * are as fast.
 *
 * Mohan, Phanishayee, Kulkarni and Chidambaram, "Looking Beyond GPUs for DNN
 * Scheduling on Multi-Tenant Clusters", OSDI 2022 (Synergy-TUNE).  A job's
 * demand is the least number of cores per GPU with which it is as fast as with
 * any (within `loss`), which they profile and the laws tell here.  In order of
 * arrival a job is given GPUs with its demand; where that finds no room, with
 * its part of the node, cores over GPUs; and where others hold more than their
 * part on a node with enough free GPUs, or on several that have enough together,
 * these are brought back to it.  Nobody is slower than on its part.
 *
 * Host memory is left as asked: what it would gain, the page cache, is no part
 * of the laws' pace on a new lease.  A job keeps its cores until it ends or is
 * brought back, while theirs are dealt anew every round; to bring one back
 * costs a restart here.
 */
#include <math.h>

#include "policies/params.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy synergy_policy;

#define POOLS 32u

struct synergy {
    double loss;                /* part of the best pace */
    int64_t cores_max;          /* per GPU that are looked at */
    uint32_t part[POOLS];       /* cores per GPU of a pool */
};

/* Notes the cores that a GPU of each pool has by its share of the node. */
static bool synergy_init(void *self, struct cs_host *host)
{
    struct synergy *s = self;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        s->part[p] = cs_pool_cores_per_gpu(host, p);
    return true;
}

/* Returns the least cores per GPU with which a job is within `loss` of its best
 * pace in a pool; 0: it cannot run there.  Paces are those of a job alone, with at
 * most as many cores as one node has for it.  If the last core that is looked at still brings
 * half of what a core can bring, more cores may be worth their price.  For example, paces of
 * 0.5, 0.9, 1.0 and 1.0 with 1 to 4 cores: the demand is 3 with a loss of 1%, and 2 with 10%. */
static uint32_t synergy_demand(const struct synergy *s, struct cs_host *host,
                               struct job_id job, uint32_t pool,
                               uint32_t gpus)
{
    uint32_t most = 0, demand;
    double best = 0;

    for (uint32_t c = 1; c <= s->cores_max; c++) {
        double speedup = cs_speedup_cores(host, job, pool, gpus, c);
        if (!(speedup > 0))
            break;
        if (c == s->cores_max && speedup > best * (1 + 0.5 / c))
            cs_limit_reached(host);
        most = c;
        best = fmax(best, speedup);
    }
    for (demand = 1; demand < most; demand++)
        if (cs_speedup_cores(host, job, pool, gpus, demand) >=
            best * (1 - s->loss))
            break;
    return most > 0 ? demand : 0;
}

/* Pools that are alike for a job: it has the same demand and the same part in each, and is
 * as fast with its demand. */
struct synergy_pools {
    uint32_t mask;              /* bit p: pool p */
    uint32_t demand, part;      /* cores per GPU */
};

/* Returns the pools that are like one, itself and later ones.  Pools that were tried are
 * passed over as one, which spares searches that fail for the same reason. */
static struct synergy_pools synergy_find_alike(const struct synergy *s,
                                               struct cs_host *host, struct job_id job,
                                               uint32_t pool, uint32_t gpus)
{
    uint32_t demand = synergy_demand(s, host, job, pool, gpus), part = s->part[pool];
    struct synergy_pools alike = { 1u << pool, demand, part };

    for (uint32_t q = pool + 1; demand > 0 && q < cs_pool_count(host); q++)
        if (s->part[q] == part &&
            cs_speedup_cores(host, job, q, gpus, demand) ==
                cs_speedup_cores(host, job, pool, gpus, demand) &&
            synergy_demand(s, host, job, q, gpus) == demand)
            alike.mask |= 1u << q;
    return alike;
}

/* Where others may have to give cores back: one node, or all. */
struct synergy_place {
    uint32_t first_node, node_count;    /* 0: all nodes of the pools */
};

/* Does a job hold GPUs of that node, or, of all nodes, of one where some are free? */
static bool synergy_is_in_the_way(const struct cs_host *host, struct job_id job,
                                  const struct synergy_place *place)
{
    if (place->node_count > 0)
        return cs_gpus_on(host, job, place->first_node) > 0;
    for (uint32_t n = 0; n < cs_node_count(host); n++)
        if (cs_node(host, n).free_gpus > 0 && cs_gpus_on(host, job, n) > 0)
            return true;
    return false;
}

/* The running job there that holds most beyond its part of those pools. */
static struct job_id synergy_richest(const struct cs_host *host,
                                     const struct synergy_pools *pools,
                                     const struct synergy_place *place)
{
    struct job_id best = { ID_NONE };
    uint32_t most = pools->part;

    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        struct lease_id lease = cs_role_lease(host, job, 0);
        if (lease.i == ID_NONE || (cs_lease_pools(host, lease) & ~pools->mask) != 0 ||
            cs_cores_now(host, job) <= most || !synergy_is_in_the_way(host, job, place))
            continue;
        most = cs_cores_now(host, job);
        best = job;
    }
    return best;
}

/* Starts a job after the richest jobs there are brought back to their parts, one by one.
 * Nobody is, where there would be no room for it even without them.  It ends, because each
 * move leaves one rich job less. */
static bool synergy_start_at(struct cs_host *host, struct task_id id, struct cs_want want,
                             const struct synergy_pools *pools, struct synergy_place place)
{
    struct cs_want back = { .pool_mask = pools->mask, .cores = pools->part };
    struct job_id rich;

    want.first_node = place.first_node;
    want.node_count = place.node_count;
    if (!cs_has_gpus_for(host, id, &want))
        return false;
    do {
        rich = synergy_richest(host, pools, &place);
        if (rich.i == ID_NONE ||
            cs_move(host, cs_role_lease(host, rich, 0), &back) != CS_DONE)
            return false;
    } while (cs_start_want(host, id, &want) != CS_DONE);
    return true;
}

/* Tries a job in pools that are alike: with its demand; then with no more than its part;
 * then with that on the first node with enough free GPUs where the others are brought back
 * to their parts, or on all nodes, where no node has as many GPUs free. */
static bool synergy_start_in(struct cs_host *host, struct task_id id,
                             const struct synergy_pools *pools)
{
    const struct cs_task *task = cs_task(host, id);
    struct cs_want want = { .pool_mask = pools->mask, .gpus = task->gpus };
    uint32_t demand = pools->demand, part = pools->part;

    if (demand == 0 || cs_free_gpus(host, pools->mask) < task->gpus)
        return false;
    want.cores = demand;
    if (part == 0)              /* cores do not matter there */
        want.cores = 0;
    if (cs_start_want(host, id, &want) == CS_DONE)
        return true;
    want.cores = demand < part ? demand : part;
    if (part == 0)
        return false;
    if (cs_start_want(host, id, &want) == CS_DONE)
        return true;
    for (uint32_t n = 0; n < cs_node_count(host); n++)
        if (synergy_start_at(host, id, want, pools, (struct synergy_place) { n, 1 }))
            return true;
    return synergy_start_at(host, id, want, pools, (struct synergy_place) { 0, 0 });
}

/* Could one pool alone hold a job of one role? */
static bool synergy_fits_a_pool(const struct cs_host *host, struct job_id job)
{
    bool fits = false;

    for (uint32_t p = 0; p < cs_pool_count(host) && !fits; p++)
        fits = cs_could_hold(host, job, 0, 1u << p);
    return fits;
}

/* Tries the pools in their order, those that are alike as one.  Jobs of several roles, and
 * gangs that only several pools hold together, take what they ask for. */
static bool synergy_start(const struct synergy *s, struct cs_host *host,
                          struct task_id id)
{
    struct job_id job = cs_task(host, id)->job;
    uint32_t gpus = cs_task(host, id)->gpus, tried = 0;

    if (cs_request(host, job)->form->role_count > 1 || !synergy_fits_a_pool(host, job))
        return cs_start(host, id) == CS_DONE;
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        if ((tried >> p & 1) != 0)
            continue;
        struct synergy_pools pools = synergy_find_alike(s, host, job, p, gpus);
        if (synergy_start_in(host, id, &pools))
            return true;
        tried |= pools.mask;
    }
    return false;
}

/* In order of arrival; the first that finds no room ends it, unless others may
 * pass. */
static void synergy_decide(void *self, struct cs_host *host)
{
    struct synergy *s = self;

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        if (synergy_start(s, host, cs_pending(host, i)))
            continue;
        if (!cs_skips(host))
            return;
        i++;
    }
}

static const struct cs_param params[] = {
    { "loss", CS_PARAM_FRACTION, offsetof(struct synergy, loss), 0, 0.5, "1%",
      "pace that a job may lose by having its demand alone" },
    { "cores_max", CS_PARAM_INT, offsetof(struct synergy, cores_max), 2, 4096, "256",
      "cores per GPU that are looked at" },
};

const struct cs_policy synergy_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "synergy",
    .cites = "mohan2022synergy",
    .summary = "first come, first served; cores to the jobs that need them",
    .flags = CS_RESIZES | CS_ASKS_BLOCKING | CS_NEEDS_GPUS | CS_COUNTS_WHOLE,
    .param_count = 2, .param = params,
    .self_bytes = sizeof(struct synergy), .init = synergy_init,
    .decide = synergy_decide, .limits = "cores_max",
};
