/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * need.c - which groups of nodes suit a role, how many of their nodes it takes, and the
 * power that it draws there.
 */
#include "policies/nodes/need.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/leases/lease.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "policies/state/terms.h"

bool host_need_scales(const struct node_group *group)
{
    assert(group->node_count > 0);
    return group->rent != NULL && group->rent->scale != RENT_ALWAYS;
}

/* Is there a group without GPUs in the pools of the mask (0: in any)?  Roles
 * without GPUs go there first. */
static bool has_bare_nodes(const struct cs_host *host, uint32_t mask)
{
    assert(host->spec->pool_count <= 32);
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].gpus == 0 &&
            (mask == 0 || mask >> host->spec->group[g].pool & 1))
            return true;
    return false;
}

/* Returns the pools in which the file, or a policy that confines roles to their homes, has a role
 * of a job; 0: any. */
static uint32_t own_pools(const struct cs_host *host, struct job_id job, uint32_t r)
{
    const struct job_form *form = cs_request(host, job)->form;

    assert(r < form->role_count);
    uint32_t home = host_confines_role(host->parts.policy, host->spec, form, r)
                        ? cs_role_homes(host, job, r) : 0;
    return home != 0 ? home : host_role_pools(host, job.i, r);
}

uint32_t host_need_pools(const struct cs_host *host, struct job_id job, uint32_t r)
{
    uint32_t own = own_pools(host, job, r), said = host_role_rented(host, job.i, r);

    assert(host->spec->pool_count <= 32);
    return own == 0 || said == 0 || (own & said) == 0 ? own | said : own & said;
}

/* A policy that confines roles, to their homes or as it says itself, starts them nowhere else, so
 * that nodes of other pools would be rented in vain.  A role without GPUs suits a group with GPUs
 * only if no bare group is in its pools. */
bool host_need_suits(const struct cs_host *host, uint32_t g, struct job_id job, uint32_t r)
{
    const struct job_request *request = cs_request(host, job);
    const struct node_group *group = &host->spec->group[g];
    const struct role_spec *role = &request->form->role[r];
    uint32_t mask = own_pools(host, job, r), said = host_role_rented(host, job.i, r);

    assert(r < request->form->role_count);
    if ((mask != 0 && !(mask >> group->pool & 1)) || (said != 0 && !(said >> group->pool & 1)))
        return false;
    if (job_role_gpus(request, r) == 0)
        return group->gpus == 0 || !has_bare_nodes(host, mask);
    return group->gpus > 0 &&
           job_role_takes_type(role, group->gpu != NULL ? group->gpu->index : ID_NONE);
}

/* Returns how many GPUs of one node have the cores and the host memory that a
 * role needs per GPU.  For example, 8 GPUs, 64 cores and 16 cores per GPU: 4 GPUs are served. */
static int64_t count_gpus_served(const struct node_group *group,
                                 const struct role_spec *role)
{
    int64_t gpus = group->gpus;

    assert(group->memory_bytes >= 0);
    if (role->cores > 0 && group->cores / role->cores < gpus)
        gpus = group->cores / role->cores;
    if (role->memory_bytes > 0 &&
        group->memory_bytes / role->memory_bytes < gpus)
        gpus = group->memory_bytes / role->memory_bytes;
    return gpus;
}

/* For example, 12 GPUs on nodes that serve 8 are 1.5, and so 2 nodes; 2 GPUs are 0.25.  A pod
 * is one container: it cannot be split over nodes. */
double host_need_nodes(const struct node_group *group, const struct job_request *request,
                       uint32_t r)
{
    assert(group->cores > 0);
    const struct role_spec *role = &request->form->role[r];
    double gpus = job_role_amount(request, r), nodes;
    double cores = role->pod ? (double)role->core_milli / 1000
                              : role->cores;

    if (gpus > 0 && !role->pod) {       /* cores and memory are per GPU */
        nodes = gpus / (double)count_gpus_served(group, role);
        return nodes > 1 ? ceil(nodes) : nodes;
    }
    nodes = fmax(cores / group->cores,
                 (double)role->memory_bytes / (double)group->memory_bytes);
    if (gpus > 0)
        nodes = fmax(nodes, gpus / group->gpus);
    if (nodes <= 1)
        return nodes;
    return role->pod ? INFINITY : ceil(nodes);
}

/* Is a group of the type of group g, and does it suit a role?  `scales`: and are its nodes ordered
 * for tasks, or (false) is it owned, or rented all the time? */
static bool is_alike(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t g,
                     uint32_t other, bool scales)
{
    const struct node_group *group = &host->spec->group[other];

    assert(host->spec->group[g].gpu != NULL);
    return group->gpu == host->spec->group[g].gpu && host_need_scales(group) == scales &&
           host_need_suits(host, other, job, r);
}

/* Returns the free GPUs of owned nodes of the type of group g that suit a role, and have the cores
 * and the memory for it when they are empty.  `all`: those that are not free, too. */
static uint32_t count_owned_gpus(const struct cs_host *host, struct job_id job, uint32_t r,
                                 uint32_t g, bool all)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];
    uint32_t gpus = 0;

    assert(r < FORM_ROLES_MAX);
    for (uint32_t o = 0; o < host->spec->group_count; o++) {
        const struct node_group *group = &host->spec->group[o];
        uint32_t most = (uint32_t)count_gpus_served(group, role);
        if (!is_alike(host, job, r, g, o, false))
            continue;
        for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++) {
            uint32_t free = mask_count(host->cluster->free_mask[n]);
            gpus += all || free > most ? most : free;
        }
    }
    return gpus;
}

/* A gang is tried on rented and owned nodes together only if that spares rented ones. */
double host_need_beside(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t g,
                        double nodes)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];
    uint32_t asked = job_role_gpus(cs_request(host, job), r);

    assert(nodes >= 0);
    if (nodes <= 1 || role->pod || host->spec->group[g].gpu == NULL)
        return 0;
    uint32_t owned = count_owned_gpus(host, job, r, g, false);
    double left = asked > owned ? asked - owned : 0;
    double beside = ceil(left / (double)count_gpus_served(&host->spec->group[g], role));
    return beside < nodes ? beside : 0;
}

bool host_need_one_group(const struct cs_host *host, struct job_id job, uint32_t r)
{
    const struct job_request *request = cs_request(host, job);

    assert(r < request->form->role_count);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (host_need_suits(host, g, job, r) &&
            host_need_nodes(group, request, r) <= group->node_count)
            return true;
    }
    return false;
}

/* For example, 14 GPUs, of which 4 are free on owned nodes; group a has one node of 8, group b
 * three of 4: one node of a, and half a node of b. */
bool host_need_spread(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t gpus,
                      uint32_t g, double *nodes)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];
    uint32_t owned = count_owned_gpus(host, job, r, g, false);
    int64_t left = gpus > owned ? gpus - owned : 0;

    assert(gpus > 0 && host_need_scales(&host->spec->group[g]));
    if (count_owned_gpus(host, job, r, g, true) >= gpus)
        return false;
    for (uint32_t k = 0; k < host->spec->group_count; k++) {
        const struct node_group *group = &host->spec->group[k];
        int64_t served = count_gpus_served(group, role), take = served * group->node_count;
        nodes[k] = 0;
        if (!is_alike(host, job, r, g, k, true) || served == 0)
            continue;
        take = take < left ? take : left;
        left -= take;
        nodes[k] = (double)take / (double)served;
        if (nodes[k] > 1)
            nodes[k] = ceil(nodes[k]);
        assert(nodes[k] <= group->node_count && left >= 0);
    }
    return left == 0;
}

uint32_t host_need_least(const struct cs_host *host, struct job_id job, uint32_t r)
{
    assert(r < cs_request(host, job)->form->role_count);
    return host_lease_least_gpus(host, host_job_at(host, job.i), r);
}

int64_t host_need_draw_mw(const struct cs_host *host, struct job_id job, uint32_t r, bool least,
                          uint32_t g)
{
    assert(g < host->spec->group_count);
    return host_lease_draw_mw(host, host_job_at(host, job.i), r, least, &host->spec->group[g]);
}
