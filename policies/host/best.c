/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * best.c - finds, among the sites where a task could run, the one where its
 * phase ends soonest: for policies that forecast.
 */
#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/state/form.h"
#include "policies/state/gpus.h"
#include "policies/state/read.h"
#include "policies/state/state.h"

/* What phases.h says: the `max` of the role, or what the task asks for under
 * `grow: false`.  The role of a whole job is CS_ALL_ROLES, beyond any role of
 * the form: the answer is 0. */
uint32_t cs_most_gpus(const struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    const struct job_form *form = cs_request(host, task->job)->form;

    if (task->role >= form->role_count)
        return 0;
    return host->rules->no_growth ? task->gpus
                                  : form->role[task->role].gpus_max;
}

/* Adds the pools that a role may use, on GPUs and, if it may be there, on cores. */
static uint32_t pools_of_role(const struct cs_host *host, struct job_id id, uint32_t role)
{
    const struct host_form *form = host_job_form(host, id.i);
    const struct host_job_slot *job = host_job_at(host, id.i);
    const struct job_request *request = cs_request(host, id);
    const struct cs_want as_asked = { .role = role };
    uint32_t every = UINT32_MAX >> (32 - host->spec->pool_count), pools = 0;
    struct fit_want fit;

    assert(role < form->form->role_count);
    if (job_role_gpus(request, role) > 0 &&
        host_fit_want(host, job, role, &as_asked, &fit))
        pools = form->gpu_pools[role] & (fit.pool_mask ? fit.pool_mask : every);
    if (job_role_gpus(request, role) == 0 || host_may_use_cores(host, job, role))
        pools |= form->pool_mask[role] ? form->pool_mask[role] : every;
    return pools;
}

/* The union over the roles: a pool counts if at least one role may use it. */
uint32_t cs_task_pools(const struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    uint32_t pools = 0;

    assert(task->role == CS_ALL_ROLES);
    for (uint32_t r = 0; r < host_job_form(host, task->job.i)->form->role_count; r++)
        pools |= pools_of_role(host, task->job, r);
    return pools;
}

/* ---- groups of nodes ------------------------------------------------------- */

uint64_t cs_pool_groups(const struct cs_host *host, uint32_t pool_mask)
{
    return host_groups_of(host->spec, pool_mask, false, ID_NONE);
}

/* One option for each type that the role names, so that a caller can ask when
 * one type alone has room.  A type of which the cluster has no group gets no
 * option.  If there is no type, or there are more types than options, all
 * groups make one option, and a caller can no longer tell the types apart. */
void cs_role_reach(const struct cs_host *host, struct job_id id, uint32_t role,
                   struct cs_reach *out)
{
    const struct host_job_slot *job = host_job_at(host, id.i);
    const struct job_request *request = cs_request(host, id);
    const struct cs_want as_asked = { 0 };
    uint64_t all = 0;
    struct fit_want fit;

    *out = (struct cs_reach) { .gpus = job_role_gpus(request, role),
                               .gpu_milli = job_role_milli(request, role) };
    if (out->gpus == 0 || !host_fit_want(host, job, role, &as_asked, &fit))
        return;
    assert(CS_REACH_MAX > 0);
    for (uint32_t t = 0; t < fit.gpu_type_count; t++) {
        uint64_t groups = host_groups_of(host->spec, fit.pool_mask, true, fit.gpu_types[t]);
        all |= groups;
        if (groups == 0 || fit.gpu_type_count > CS_REACH_MAX)
            continue;
        out->option[out->count].groups = groups;
        out->option[out->count++].gpu_type = fit.gpu_types[t] + 1;
    }
    if (fit.gpu_type_count > 0 && fit.gpu_type_count <= CS_REACH_MAX)
        return;
    if (fit.gpu_type_count == 0)
        all = host_groups_of(host->spec, fit.pool_mask, true, ID_NONE);
    out->option[0].groups = all;
    out->count = all != 0;
}

/* May a role have GPUs of a group, as far as pools, types, memory, and the size of a pod say? */
static bool takes_group(const struct fit_want *fit, const struct node_group *group)
{
    bool named = fit->gpu_type_count == 0;

    if (group->gpus == 0 || group->gpu == NULL ||
        (fit->pool_mask != 0 && (fit->pool_mask >> group->pool & 1) == 0))
        return false;
    for (uint32_t t = 0; t < fit->gpu_type_count; t++)
        named |= fit->gpu_types[t] == group->gpu->index;
    assert(group->pool < 32);
    return named && cluster_gpu_mib(group) >= fit->gpu_mib &&
           (!fit->pod || group->gpus >= fit->gpus);
}

/* Returns how many GPUs of a node have the cores and the host memory that a role needs for
 * each: of 8 GPUs and 24 cores, at 6 cores a GPU, 4.  What a pod, or a part of a GPU, needs is
 * not counted by GPU. */
static uint64_t count_served(const struct node_group *group, const struct fit_want *fit)
{
    uint64_t gpus = group->gpus;

    assert(group->memory_bytes >= 0);
    if (fit->pod || fit->gpu_milli < GPU_MILLI)
        return gpus;
    if (fit->cores > 0 && group->cores / fit->cores < gpus)
        gpus = group->cores / fit->cores;
    if (fit->memory_bytes > 0 && (uint64_t)(group->memory_bytes / fit->memory_bytes) < gpus)
        gpus = (uint64_t)(group->memory_bytes / fit->memory_bytes);
    return gpus;
}

/* Returns what the nodes that are not rented draw at rest, milliwatts. */
static double owned_standby_mw(const struct cluster_spec *spec)
{
    double mw = 0;

    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent == NULL)
            mw += (double)power_standby_mw(spec, &spec->group[g]) * spec->group[g].node_count;
    assert(mw >= 0);
    return mw;
}

/* Could the cap let a role run on nodes of a group, if no other job ran?  What
 * a placement draws on each node is rounded to milliwatts, up or down.  As many
 * milliwatts as the role has GPUs, and one more, are therefore granted, so that
 * no role is refused by rounding alone. */
static bool has_power(const struct cluster_spec *spec, const struct node_group *group,
                      const struct fit_want *fit)
{
    double mw = (double)host_power_want_mw(spec, group, fit);

    assert(group->gpu != NULL);
    return spec->power_cap_w <= 0 ||
           owned_standby_mw(spec) + mw - fit->gpus - 1 <= 1000 * spec->power_cap_w;
}

/* Could the groups of the set that have GPUs of one type hold a role?  Under a power cap one of
 * them must suffice for what all its GPUs draw, which is the least if GPUs of other groups draw
 * more. */
static bool type_could_hold(const struct cluster_spec *spec, const struct fit_want *fit,
                            const struct gpu_type *type, uint64_t groups)
{
    uint64_t gpus = 0;
    bool powered = false;

    assert(type != NULL);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        if (group->gpu != type || !takes_group(fit, group) ||
            (groups != CS_ALL_GROUPS && !(g < 64 && groups >> g & 1)))
            continue;
        gpus += count_served(group, fit) * group->node_count;
        powered |= has_power(spec, group, fit);
    }
    return gpus > 0 && gpus >= fit->gpus && powered;
}

/* Could the groups hold a role where its want allows?  All GPUs of a gang are of one type, so
 * that each type is asked by itself.  A role that may be on cores always could. */
static bool could_hold(const struct cs_host *host, struct job_id id,
                       const struct cs_want *there, uint64_t groups)
{
    const struct cluster_spec *spec = host->spec;
    const struct host_job_slot *job = host_job_at(host, id.i);
    struct fit_want fit;

    assert(there->role < host_job_form(host, id.i)->form->role_count);
    if (job_role_gpus(cs_request(host, id), there->role) == 0 ||
        host_may_use_cores(host, job, there->role))
        return true;
    if (!host_fit_want(host, job, there->role, there, &fit))
        return false;
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].gpu != NULL &&
            type_could_hold(spec, &fit, spec->group[g].gpu, groups))
            return true;
    return false;
}

/* On the nodes of the file, all of them empty: failures and rental are not looked at. */
bool cs_could_hold(const struct cs_host *host, struct job_id id, uint32_t role,
                   uint32_t pool_mask)
{
    return could_hold(host, id, &(struct cs_want) { .role = role, .pool_mask = pool_mask },
                      CS_ALL_GROUPS);
}

bool cs_groups_could_hold(const struct cs_host *host, struct job_id id, uint32_t role,
                          uint64_t groups)
{
    return could_hold(host, id, &(struct cs_want) { .role = role }, groups);
}

/* For a role on GPUs: the groups of all its options.  For a role without GPUs,
 * or one that may run on cores instead: all groups of its pools, since their
 * nodes have cores. */
uint64_t cs_job_groups(const struct cs_host *host, struct job_id id)
{
    const struct host_form *form = host_job_form(host, id.i);
    uint64_t groups = 0;

    for (uint32_t r = 0; r < form->form->role_count; r++) {
        struct cs_reach reach;
        cs_role_reach(host, id, r, &reach);
        for (uint32_t i = 0; i < reach.count; i++)
            groups |= reach.option[i].groups;
        if (reach.count == 0 || form->form->role[r].on_cores.cores > 0)
            groups |= cs_pool_groups(host, form->pool_mask[r]);
    }
    assert(form->form->role_count > 0);
    return groups;
}

uint32_t cs_site_count(const struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);

    if (task->role == CS_ALL_ROLES)
        return 0;
    assert(task->role < FORM_ROLES_MAX);
    return host_job_form(host, task->job.i)->sites[task->role].count;
}

/* Returns the pools of a site that are among `pools` (0: all); 0: it lies outside them, or in one
 * of them alone, which is a site of its own. */
static uint32_t pools_within(const struct host_site *site, uint32_t pools)
{
    uint32_t within = pools != 0 ? site->pool_mask & pools : site->pool_mask;

    assert(site->pool_mask != 0);
    return within == site->pool_mask || (within & (within - 1)) != 0 ? within : 0;
}

/* A site is refused if it lies outside `pools`, if the role may not run
 * on that hardware, or if it is on cores and the want is larger than the task. */
bool cs_site(const struct cs_host *host, struct task_id id, uint32_t i,
             uint32_t pools, struct cs_want *want)
{
    const struct cs_task *task = cs_task(host, id);

    assert(i < cs_site_count(host, id));
    const struct host_form *kept = host_job_form(host, task->job.i);
    const struct host_site *site = &kept->sites[task->role].site[i];

    uint32_t within = pools_within(site, pools);

    if (within == 0 ||
        !host_hardware_ok(host, &kept->form->role[task->role],
                          site->gpu == NULL) ||
        (site->gpu == NULL && want->gpus > task->gpus))
        return false;           /* cores do not grow */
    want->pool_mask = within;
    want->gpu_type = site->gpu == NULL ? CS_ON_CORES : site->gpu->index + 1;
    assert(want->pool_mask != 0 && want->gpu_type > 0);
    return true;
}

/* Tries every site.  A later site wins only if it is faster, so that of equal
 * ones the first stays.  A task without sites (on cores, or a whole job) is
 * forecast where its want says. */
bool cs_forecast_best(struct cs_host *host, struct task_id id,
                      struct cs_want *want, struct cs_forecast *out)
{
    uint32_t pools = want->pool_mask, count = cs_site_count(host, id);
    double least_s = INFINITY;
    bool found = false;

    if (count == 0)             /* cores, or a whole job */
        return cs_forecast(host, id, want, out);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_want there = *want;
        struct cs_forecast f;
        if (!cs_site(host, id, i, pools, &there) ||
            !cs_forecast(host, id, &there, &f))
            continue;
        double s = f.run_s + f.switch_s + f.evict_s;
        assert(s >= 0);
        if (found && s >= least_s)
            continue;
        *want = there;
        *out = f;
        least_s = s;
        found = true;
    }
    return found;
}
