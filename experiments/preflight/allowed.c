/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.c - the pools, and the fewest GPUs, that a policy gives a role.
 */
#include "experiments/preflight/allowed.h"

#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"

/* A home confines; else the role's pool does, if it names one. */
uint32_t allowed_pools(const struct cluster_spec *spec, const struct host_policy *policy,
                       const struct job_request *request, uint32_t r)
{
    const struct role_spec *role = &request->form->role[r];
    enum host_home rule;
    uint32_t home = host_home_pool(spec, role, &rule);
    uint32_t pool = role->pool ? cluster_pool(spec, role->pool) : UINT32_MAX;

    if (home != UINT32_MAX && host_confines_role(policy, spec, request->form, r))
        return 1u << home;
    return pool == UINT32_MAX ? 0 : 1u << pool;
}

/* Returns the text that a key of a policy of the program has; NULL: it has no such key, or comes
 * from a file, where nobody knows what a key of that name does. */
static const char *text_of_key(const struct host_policy *policy, const char *key)
{
    const struct cs_policy *p = policy->policy;
    const char *text = NULL;

    if (registry_find(p->name) != p)
        return NULL;
    for (uint32_t i = 0; i < p->param_count && policy->params != NULL; i++)
        if (p->param[i].type == CS_PARAM_TEXT && strcmp(p->param[i].key, key) == 0)
            memcpy(&text, (const char *)policy->params + p->param[i].offset, sizeof text);
    return text;
}

/* Returns the pools to which the keys `spot` and `reserved` of a policy confine a role with
 * GPUs, as bits: both for the one that generates, the second for all others.  0: the policy
 * has no such keys, or the cluster no such pools. */
static uint32_t mask_of_keys(const struct cluster_spec *spec, const struct host_policy *policy,
                             const struct role_spec *role)
{
    const char *spot = text_of_key(policy, "spot"), *other = text_of_key(policy, "reserved");
    const char *generates = text_of_key(policy, "role");

    if (spot == NULL || other == NULL || generates == NULL || role->gpus == 0)
        return 0;
    uint32_t s = cluster_pool(spec, spot), o = cluster_pool(spec, other);
    if (s == UINT32_MAX || o == UINT32_MAX)
        return 0;
    return 1u << o | (strcmp(role->name, generates) == 0 ? 1u << s : 0);
}

bool allowed_by_keys(const struct cluster_spec *spec, const struct host_policy *policy,
                     const struct role_spec *role, uint32_t *mask)
{
    uint32_t keys = mask_of_keys(spec, policy, role);

    if (keys == 0)
        return true;
    *mask = *mask != 0 ? *mask & keys : keys;
    return *mask != 0;
}

bool allowed_by_rates(const struct cluster_spec *spec, const struct job_request *request,
                      uint32_t gpus, uint32_t *mask)
{
    uint32_t paced = 0;

    if (request->rates == NULL)
        return true;
    for (uint32_t p = 0; p < spec->pool_count; p++)
        if (speedup_of(request, p, gpus) > 0)
            paced |= 1u << p;
    *mask = *mask != 0 ? *mask & paced : paced;
    return *mask != 0;
}

/* Policies that stop and resize jobs start those of one role on fewer GPUs than they ask for; who
 * has a key `role` starts the others as they ask. */
uint32_t allowed_least_gpus(const struct host_policy *policy, const struct job_request *request,
                            uint32_t r)
{
    const struct role_spec *role = &request->form->role[r];
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, r), least = asked;
    uint32_t flags = policy->policy->flags, deals = CS_RESIZES | CS_PREEMPTS;
    const char *shrinks = text_of_key(policy, "role");

    if ((!(flags & CS_SHRINKS) &&
         ((flags & deals) != deals || request->form->role_count > 1)) ||
        (shrinks != NULL && strcmp(role->name, shrinks) != 0))
        return asked;
    if (scaling != NULL && r == 0)
        least = scaling->gpus_min;
    else if (role->gpus_min > 0)
        least = role->gpus_min;
    return least > 0 && least < asked ? least : asked;
}
