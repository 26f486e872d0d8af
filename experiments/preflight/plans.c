/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plans.c - GPUs that a plan counts together, and jobs for which they are not alike; parts of
 * GPUs that are counted as whole ones.
 *
 * A policy with the flag CS_ONE_KIND plans all GPUs as one kind.  One that promises starts
 * (CS_RESERVES, and is built in) tells apart at most 64 groups of nodes, and at most
 * CS_REACH_MAX types of GPU of a role (plan.h).  Nothing else would show that such a plan does
 * not hold.
 */
#include "experiments/preflight/plans.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/preflight/kinds.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/source.h"

#define GROUPS_MAX 64u          /* that a promise tells apart */
#define SHARERS 5u              /* policies that a hint names */
#define SHARERS_BYTES (SHARERS * 32u + 1)

/* Jobs that a policy meets, each kind once. */
struct meeting {
    const struct cluster_spec *cluster; /* of the point */
    const struct job_request *request;
    uint32_t count;
};

/* Returns whether a role may lie on a group of nodes.  Nodes without GPUs do
 * not matter to a role with GPUs. */
static bool may_use(const struct cluster_spec *cluster, const struct job_request *request,
                    uint32_t r, const struct node_group *group)
{
    const struct role_spec *role = &request->form->role[r];
    uint32_t gpus = job_role_gpus(request, r);

    assert(r < request->form->role_count);
    if (gpus > 0 && group->gpus == 0)
        return true;
    return (role->pool == NULL || cluster_pool(cluster, role->pool) == group->pool) &&
           (gpus == 0 ||
            (job_role_takes_type(role, group->gpu != NULL ? group->gpu->index : ID_NONE) &&
             (request->rates == NULL || speedup_of(request, group->pool, gpus) > 0)));
}

/* Returns a group of nodes that a role may not use; NULL: it may use all. */
static const struct node_group *find_barred(const struct cluster_spec *cluster,
                                            const struct job_request *request, uint32_t r)
{
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (!may_use(cluster, request, r, &cluster->group[g]))
            return &cluster->group[g];
    return NULL;
}

/* Returns whether a job of one role is as fast on the GPUs of both groups.
 * Laws and measured goodputs go by the type, stated lengths by the rates of the
 * pools. */
static bool is_alike(const struct job_request *request, const struct node_group *a,
                     const struct node_group *b)
{
    const struct job_form *form = request->form;
    uint32_t gpus = job_role_gpus(request, 0);

    assert(form->role_count == 1 && form->phase_count > 0);
    if (request->goodput != NULL || form->phase[0].law->kind != LAW_FIXED)
        return a->gpu == b->gpu;
    return request->rates == NULL ||
           speedup_of(request, a->pool, gpus) == speedup_of(request, b->pool, gpus);
}

/* Returns a group with GPUs on which a job of one role has another speed than on those of the
 * first one; NULL: there is none. */
static const struct node_group *find_unlike(const struct cluster_spec *cluster,
                                            const struct job_request *request,
                                            const struct node_group **first)
{
    *first = NULL;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];
        if (group->gpus == 0)
            continue;
        if (*first == NULL)
            *first = group;
        else if (!is_alike(request, *first, group))
            return group;
    }
    return NULL;
}

/* Returns whether a plan that counts all GPUs as one kind errs for a job; then
 * err says for which.  Rigid jobs of several roles have one size, and are
 * passed over.  has_ends: it plans when jobs end. */
static bool tell_kinds(const struct meeting *meeting, bool has_ends, const char *name,
                       struct err *err)
{
    assert(meeting->cluster->group_count > 0);
    for (uint32_t i = 0; i < meeting->count; i++) {
        const struct job_request *request = &meeting->request[i];
        const struct node_group *group, *first;
        const char *const *pool = meeting->cluster->pool_name;
        if (request->form->role_count != 1 || job_role_gpus(request, 0) == 0)
            continue;
        group = find_barred(meeting->cluster, request, 0);
        if (group != NULL)
            err_set(err, ERR_RANGE, err->pos, "policy %.60s plans all GPUs as one kind, and "
                    "%.60s may not use those of pool %.60s: jobs may wait beside idle GPUs",
                    name, request->form->name, pool[group->pool]);
        else if (has_ends && (group = find_unlike(meeting->cluster, request, &first)) != NULL)
            err_set(err, ERR_RANGE, err->pos, "policy %.60s plans all GPUs as one kind, and "
                    "%.60s has another speed on %.60s than on %.60s: jobs may end at other times "
                    "than planned", name, request->form->name, group->name, first->name);
        else
            continue;
        err_hint(err, "Policies that plan by pool: allox, gavel, sia.");
        return true;
    }
    return false;
}

/* Returns whether starts that are promised to a role may not hold; then err
 * says why. */
static bool tell_role(const struct meeting *meeting, const struct job_request *request,
                      uint32_t r, const char *name, struct err *err)
{
    const struct cluster_spec *cluster = meeting->cluster;
    const struct role_spec *role = &request->form->role[r];
    const struct node_group *barred = NULL;
    uint32_t types = job_role_gpus(request, r) > 0 ? role->gpu_type_count : 0;

    if (cluster->group_count > GROUPS_MAX)
        barred = find_barred(cluster, request, r);
    if (barred != NULL) {
        err_set(err, ERR_LIMIT, err->pos, "policy %.60s counts %u groups of nodes as one, as "
                "they are more than %u, and %.60s may not use %.60s: promised starts may not "
                "hold", name, cluster->group_count, GROUPS_MAX, request->form->name,
                barred->name);
        return err_hint(err, "Groups that are alike can be one with a larger `count`."), true;
    }
    if (types <= CS_REACH_MAX)
        return false;
    err_set(err, ERR_LIMIT, err->pos, "policy %.60s counts the %u types of GPU of role %.60s of "
            "%.60s as one, as they are more than %u: promised starts may not hold", name, types,
            role->name, request->form->name, CS_REACH_MAX);
    return err_hint(err, "Let jobs name at most %u types.", CS_REACH_MAX), true;
}

/* Returns whether this is so for any role of any job. */
static bool tell_promises(const struct meeting *meeting, const char *name, struct err *err)
{
    for (uint32_t i = 0; i < meeting->count; i++)
        for (uint32_t r = 0; r < meeting->request[i].form->role_count; r++)
            if (tell_role(meeting, &meeting->request[i], r, name, err))
                return true;
    return false;
}

/* Names the first few of the built-in policies that start parts of GPUs and count them. */
static void list_sharers(char *list, size_t room)
{
    const struct cs_policy *policy;
    uint32_t named = 0;
    size_t used = 0;

    assert(room >= SHARERS_BYTES);
    list[0] = '\0';
    for (size_t i = 0; named < SHARERS && (policy = registry_at(i)) != NULL; i++) {
        if (policy->flags & (CS_COUNTS_WHOLE | CS_WHOLE_GPUS | CS_ONE_ROLE))
            continue;
        used += (size_t)snprintf(list + used, room - used, "%s%.30s", named > 0 ? ", " : "",
                                 policy->name);
        named++;
    }
}

/* Returns whether jobs ask for parts of GPUs that the policy counts as whole
 * ones; then err says so. */
static bool tell_parts(const struct experiment *experiment, const struct experiment_point *point,
                       const char *name, struct err *err)
{
    char list[SHARERS_BYTES];

    assert(name != NULL);
    if (!kinds_have_parts(experiment, point))
        return false;
    list_sharers(list, sizeof list);
    err_set(err, ERR_RANGE, err->pos, "policy %.60s counts a part of a GPU as a whole one, and "
            "jobs ask for parts: they may wait beside GPUs with room", name);
    return err_hint(err, "Policies that count parts: %s.", list), true;
}

/* Returns whether a plan does not fit the jobs that it meets; then err says
 * why.  A policy that counts parts of GPUs as whole ones deals GPUs, and plans
 * no ends. */
static bool tell_plans(const struct experiment *experiment, const struct experiment_point *met,
                       uint32_t flags, bool promises, const char *name, struct err *err)
{
    struct arena *arena = arena_new(0);
    struct meeting meeting = { .cluster = met->cluster };

    meeting.request = kinds_of_point(arena, experiment, met, &meeting.count);
    assert(promises || flags & CS_ONE_KIND);
    bool has_ends = !(flags & CS_COUNTS_WHOLE);
    bool told = (flags & CS_ONE_KIND && tell_kinds(&meeting, has_ends, name, err)) ||
                (promises && tell_promises(&meeting, name, err));
    arena_free(arena);
    return told;
}

/* Returns whether there are pools, or types of GPU, that jobs can tell apart. */
static bool is_mixed(const struct cluster_spec *cluster)
{
    const struct gpu_type *gpu = NULL;

    assert(cluster->group_count > 0);
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];
        if (group->pool != cluster->group[0].pool ||
            (gpu != NULL && group->gpu != NULL && group->gpu != gpu))
            return true;
        gpu = group->gpu != NULL ? group->gpu : gpu;
    }
    return false;
}

/* Returns whether a promise may count together what its jobs tell apart.  Rows
 * of a trace name no more types than its form. */
static bool may_merge(const struct experiment_point *point)
{
    if (point->cluster->group_count > GROUPS_MAX)
        return true;
    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);
        for (uint32_t r = 0; r < form->role_count; r++)
            if (form->role[r].gpu_type_count > CS_REACH_MAX)
                return true;
    }
    return false;
}

/* Returns whether both points give a policy the same jobs and the same cluster. */
static bool is_same(const struct experiment_point *a, const struct experiment_point *b)
{
    return a->workload_hash == b->workload_hash && a->cluster_hash == b->cluster_hash;
}

/* A point that differs from the last one in nothing that matters here is passed
 * over. */
bool plans_warn(const struct experiment *experiment, uint32_t p, struct err *err)
{
    bool told = false;

    assert(p < experiment->policy_count);
    err->pos = (struct err_pos){ experiment->path, 0, 0 };
    for (uint32_t i = 0; i < experiment->point_count && !told; i++) {
        const struct experiment_point *met = experiment->point[i].met[p];
        const struct host_policy *policy = experiment->point[i].policy[p];
        uint32_t flags = host_policy_flags(policy);
        const char *name = experiment->policy_name[p];
        bool mixed = is_mixed(met->cluster);
        bool promises = mixed && flags & CS_RESERVES && !policy->guest && may_merge(met);
        if (i > 0 &&
            experiment->point[i].policy_hash[p] == experiment->point[i - 1].policy_hash[p] &&
            is_same(met, experiment->point[i - 1].met[p]))
            continue;
        told = (flags & CS_COUNTS_WHOLE && tell_parts(experiment, met, name, err)) ||
               ((promises || (mixed && flags & CS_ONE_KIND)) &&
                tell_plans(experiment, met, flags, promises, name, err));
    }
    return told;
}
