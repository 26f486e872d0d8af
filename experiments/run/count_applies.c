/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_applies.c - which trials may run without the host: their results are the same
 * because none of what the host adds can matter to them.
 */
#include "experiments/run/trial_count.h"

#include <assert.h>
#include <string.h>

#include "experiments/run/count_state.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "workloads/source.h"

/* Further down the queue an index is needed: the host has one. */
#define DEPTH_MAX 256

const void *count_param(const struct host_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->policy->param_count; i++)
        if (strcmp(policy->policy->param[i].key, key) == 0)
            return (const char *)policy->params +
                   policy->policy->param[i].offset;
    return NULL;
}

/* Is the policy first come, first served, or EASY with a bounded depth, on GPUs
 * that are a count, asked at every event?  Then this file gives the same results as
 * the host. */
static bool policy_applies(const struct host_policy *policy)
{
    const struct host_rules *rules = &policy->rules;
    bool plain = rules->blocking == HOST_STRICT &&
                 rules->placement == PLACE_COUNT && rules->round_ns == 0 &&
                 rules->tick_ns == 0 && rules->estimate != HOST_NOISY;
    const int64_t *depth;

    if (!plain || policy->weight_count > 0 || policy->then != NULL)
        return false;
    if (strcmp(policy->policy->name, "fcfs") == 0)
        return true;
    if (strcmp(policy->policy->name, "easy") != 0)
        return false;
    depth = count_param(policy, "depth_max");
    return depth != NULL && *depth <= DEPTH_MAX;
}

/* Is the cluster one group of GPUs that never fail and cost the same at all times?  Prices,
 * rented nodes and failures change over time, and only the host follows them. */
static bool cluster_applies(const struct cluster_spec *cluster)
{
    return cluster->group_count == 1 && cluster->group[0].gpus > 0 &&
           !cluster->group[0].billed_held && cluster->failures == NULL &&
           !cluster->rents && !cluster->priced && cluster->carbon == NULL &&
           !(cluster->power_cap_w > 0);
}

/* May a role use that type of GPU? */
static bool runs_on(const struct role_spec *role, const struct gpu_type *gpu)
{
    for (uint32_t i = 0; i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == gpu->index)
            return true;
    return role->gpu_type_count == 0;
}

/* Free GPUs bring all the cores and memory that a job may want beside them.  So a job that
 * finds enough GPUs finds all else.  Example: on nodes of 64 cores and 8 GPUs a role may ask
 * for 8 cores a GPU at most. */
static bool form_applies(const struct job_form *form,
                         const struct node_group *group)
{
    const struct role_spec *role = &form->role[0];

    return form->role_count == 1 && form->phase_count == 1 &&
           form->phase[0].law->kind == LAW_FIXED &&
           !(form->phase[0].law->seconds > 0) && !form->paced &&
           !role->pod &&
           role->cores <= group->cores / group->gpus &&
           role->memory_bytes <= group->memory_bytes / group->gpus &&
           runs_on(role, group->gpu) && !(role->load_bytes > 0) && !(role->save_bytes > 0) &&
           job_role_is_up_at_once(role);
}

/* Tables that list decisions need the host, as does a warm-up or an end before all jobs are
 * done. */
bool trial_count_applies(const struct trial_spec *spec,
                         const struct trial_tables *tables)
{
    bool listened = tables->decisions || (tables->timeline && spec->audit_full);

    if (listened || spec->warmup_ns > 0 || spec->by_step ||
        spec->until_ns != CLOCK_NEVER_NS ||
        workload_service_count(spec->workload) > 0 ||
        workload_form_count(spec->workload) == 0 ||
        workload_has_parts(spec->workload))
        return false;
    if (!cluster_applies(spec->cluster) || !policy_applies(spec->policy))
        return false;
    for (size_t i = 0; i < workload_form_count(spec->workload); i++)
        if (!form_applies(workload_form(spec->workload, i),
                          spec->cluster->group))
            return false;
    return true;
}
