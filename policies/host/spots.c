/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spots.c - cs_set_node_gpus() and its questions: a policy says on which nodes,
 * and with how many GPUs of each, a job continues.
 *
 * Each job whose GPUs change is stopped first; then all jobs are started.  So
 * jobs may exchange their places.  A stop and a start at one instant cost a
 * restart.
 */
#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/leases/goodput.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/state/read.h"
#include "policies/state/state.h"

uint32_t cs_gpus_on(const struct cs_host *host, struct job_id job,
                    uint32_t node)
{
    struct lease_id lease = cs_role_lease(host, job, 0);
    const struct placement *place;

    assert(node < host->spec->node_count);
    if (lease.i == ID_NONE)
        return 0;
    place = &cs_lease(host, lease)->placement;
    for (uint32_t s = 0; s < place->share_count; s++)
        if (place->share[s].node == node)
            return mask_count(place->share[s].gpu_mask);
    return 0;
}

/* Only a goodput tells speeds by the number of nodes; other jobs have the
 * speedup of the pool. */
double cs_speedup_on(struct cs_host *host, struct job_id id, uint32_t pool,
                     uint32_t gpus, uint32_t nodes)
{
    const struct goodput_job *goodput = cs_request(host, id)->goodput;
    struct goodput_shape shape = { gpus, nodes };

    assert(pool < host->spec->pool_count);
    assert(nodes >= 1 && nodes <= gpus);
    if (goodput == NULL)
        return cs_speedup(host, id, pool, gpus);
    if (!host_may_use(host, host_job_at(host, id.i), pool, gpus))
        return 0;
    return host_goodput_speedup(host, goodput, host_done_ns(host, host_job_at(host, id.i)),
                                pool, shape);
}

#define POOLS 32u               /* bits of a mask of them */

/* Has a pool that a job may use GPUs of two types?  Nodes of a pool count alike where a policy
 * names them, and a gang has one type. */
static bool meets_two_types(const struct cs_host *host, struct job_id id)
{
    uint32_t pools = host_role_pools(host, id.i, 0);
    const struct gpu_type *type[POOLS] = { NULL };

    assert(host->spec->pool_count <= POOLS);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (group->gpu == NULL || (pools != 0 && !(pools >> group->pool & 1)))
            continue;
        if (type[group->pool] != NULL && type[group->pool] != group->gpu)
            return true;
        type[group->pool] = group->gpu;
    }
    return false;
}

/* A job can move if it has one role on whole GPUs, is no service, runs in some pool at its least
 * size, and meets one type of GPU in each. */
bool cs_can_move(struct cs_host *host, struct job_id id)
{
    const struct job_request *request = cs_request(host, id);
    uint32_t least;

    if (request->form->role_count != 1 || cs_serves(host, id) ||
        job_role_milli(request, 0) < GPU_MILLI || meets_two_types(host, id))
        return false;
    least = cs_size_least(host, id);
    for (uint32_t p = 0; least > 0 && p < host->spec->pool_count; p++)
        if (cs_speedup(host, id, p, least) > 0)
            return true;
    return false;
}

/* What the cap leaves beside the nodes, over the power of a GPU and its cores
 * in the group of the pool where that is least: an upper bound. */
uint32_t cs_gpus_powered(const struct cs_host *host, struct job_id id, uint32_t pool)
{
    const struct cluster_spec *spec = host->spec;
    const struct role_spec *role = &cs_request(host, id)->form->role[0];
    double each_w = INFINITY;
    double left_mw = host_power_beside_nodes_mw(host->nodes, spec);

    assert(pool < spec->pool_count);
    if (spec->power_cap_w <= 0)
        return UINT32_MAX;
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].gpu != NULL && spec->group[g].pool == pool &&
            job_role_takes_type(role, spec->group[g].gpu->index))
            each_w = fmin(each_w, power_gpu_more_w(&spec->group[g]) +
                                      role->cores * power_core_more_w(&spec->group[g]));
    if (left_mw <= 0 || isinf(each_w))
        return 0;
    /* What a lease draws on a node is rounded to milliwatts. */
    return (uint32_t)fmin((left_mw + 0.5) / (1000 * spec->pue * each_w), spec->gpu_count);
}

/* Returns the number of entries of the first job of a list; checks that their
 * nodes rise.  count: > 0. */
static uint32_t count_of_job(const struct cs_node_gpus *spot, uint32_t count)
{
    uint32_t n = 1;

    assert(count > 0);
    while (n < count && spot[n].job.i == spot[0].job.i) {
        assert(spot[n].node > spot[n - 1].node);
        n++;
    }
    return n;
}

/* Does the job have exactly the GPUs of its `count` entries?  One of no GPUs lets it
 * wait, whatever node it names. */
static bool is_placed_at(const struct cs_host *host,
                         const struct cs_node_gpus *spot, uint32_t count)
{
    struct lease_id lease = cs_role_lease(host, spot->job, 0);

    assert(count > 0);
    if (lease.i == ID_NONE || spot->gpus == 0 ||
        cs_lease(host, lease)->placement.share_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (cs_gpus_on(host, spot->job, spot[i].node) != spot[i].gpus)
            return false;
    return true;
}

/* Starts a job that waits on exactly the GPUs of its `count` entries, if they
 * are free. */
static void start_at(struct cs_host *host, const struct cs_node_gpus *spot,
                     uint32_t count)
{
    assert(count > 0);
    struct cs_want want = { .spot = spot, .spot_count = count };
    struct task_id task = cs_job_task(host, spot->job, CS_ALL_ROLES);

    for (uint32_t i = 0; i < count; i++)
        want.gpus += spot[i].gpus;
    if (task.i != ID_NONE && want.gpus > 0)
        cs_start_want(host, task, &want);
}

/* The entries of one job stand together, with rising nodes. */
void cs_set_node_gpus(struct cs_host *host, const struct cs_node_gpus *spot,
                      uint32_t count)
{
    uint32_t n;

    assert(!host_per_phase(host));
    assert(spot != NULL || count == 0);
    for (uint32_t i = 0; i < count; i += n) {
        n = count_of_job(spot + i, count - i);
        if (cs_size_now(host, spot[i].job) > 0 &&
            !is_placed_at(host, spot + i, n))
            cs_stop(host, spot[i].job);
    }
    for (uint32_t i = 0; i < count; i += n) {
        n = count_of_job(spot + i, count - i);
        start_at(host, spot + i, n);
    }
}
