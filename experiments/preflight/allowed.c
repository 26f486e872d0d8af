/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.c - the pools, and the fewest GPUs, that a policy gives a role.
 */
#include "experiments/preflight/allowed.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
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

/* Is a job of known length of one size? */
static bool is_rigid(const struct job_form *form)
{
    return form->scaling == NULL && form->phase_count == 1 &&
           form->phase[0].law->kind == LAW_FIXED;
}

/* Returns the fewest GPUs that a role may have, at most as many as it asks for. */
static uint32_t least_size(const struct job_request *request, uint32_t r)
{
    const struct role_spec *role = &request->form->role[r];
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, r), least = asked;

    if (is_rigid(request->form))
        return asked;
    if (scaling != NULL && r == 0)
        least = scaling->gpus_min;
    else if (role->gpus_min > 0)
        least = role->gpus_min;
    return least > 0 && least < asked ? least : asked;
}

/* Policies that stop and resize jobs start those of one role on fewer GPUs than they ask for; who
 * has a key `role` starts the others as they ask.  Weights may advise against fewer GPUs for ever,
 * and without them nothing advises: such a policy must have the GPUs that a role asks for. */
uint32_t allowed_least_gpus(const struct host_policy *policy, const struct job_request *request,
                            uint32_t r)
{
    const struct role_spec *role = &request->form->role[r];
    uint32_t asked = job_role_gpus(request, r);
    uint32_t flags = policy->policy->flags, deals = CS_RESIZES | CS_PREEMPTS;
    const char *shrinks = text_of_key(policy, "role");

    if ((((flags & CS_SHRINKS) == 0 || (flags & CS_ASKS_WEIGHTS) != 0) &&
         ((flags & deals) != deals || request->form->role_count > 1)) ||
        (shrinks != NULL && strcmp(role->name, shrinks) != 0))
        return asked;
    return least_size(request, r);
}

/* Returns the pool that a key of a policy names, as a bit; 0: it has no such key, or the cluster
 * no such pool. */
static uint32_t pool_of_key(const struct cluster_spec *spec, const struct host_policy *policy,
                            const char *key)
{
    const char *text = text_of_key(policy, key);
    uint32_t pool = text != NULL ? cluster_pool(spec, text) : UINT32_MAX;

    return pool == UINT32_MAX ? 0 : 1u << pool;
}

/* Returns all pools of a cluster but these. */
static uint32_t all_but(const struct cluster_spec *spec, uint32_t pools)
{
    return (uint32_t)((1ull << spec->pool_count) - 1) & ~pools;
}

/* Is it a replica of a service? */
static bool serves(const struct job_form *form)
{
    return form->phase[0].law->kind == LAW_SERVE;
}

/* `cloud`: first all roles with GPUs outside that pool, then all in it. */
uint32_t allowed_turns(const struct cluster_spec *spec, const struct host_policy *policy)
{
    return pool_of_key(spec, policy, "cloud") != 0 ? 2 : 1;
}

/* Finds the ways that keys of a policy leave.  `spot` and `reserved` have the role that generates
 * in both, and all others with GPUs in the second.  `from` has replicas on GPUs in it, the role
 * that borrows outside it as it asks, or in it alone, also on fewer GPUs, and all others outside
 * it. */
static uint32_t ways_of_keys(const struct cluster_spec *spec, const struct host_policy *policy,
                             const struct job_request *request, uint32_t r, uint32_t turn,
                             struct allowed_way way[ALLOWED_WAYS])
{
    const struct role_spec *role = &request->form->role[r];
    const char *named = text_of_key(policy, "role");
    bool is_named = named != NULL && role->gpus > 0 && strcmp(role->name, named) == 0;
    uint32_t spot = pool_of_key(spec, policy, "spot"), from = pool_of_key(spec, policy, "from");
    uint32_t reserved = pool_of_key(spec, policy, "reserved");
    uint32_t cloud = pool_of_key(spec, policy, "cloud");

    way[0] = (struct allowed_way) { 0, allowed_least_gpus(policy, request, r) };
    if (named != NULL && spot != 0 && reserved != 0 && role->gpus > 0)
        way[0].pools = reserved | (is_named ? spot : 0);
    if (cloud != 0 && role->gpus > 0)
        way[0].pools = turn == 0 ? all_but(spec, cloud) : cloud;
    if (named == NULL || from == 0)
        return 1;
    way[1] = (struct allowed_way) { from, way[0].gpus };
    if (serves(request->form)) {
        way[0].pools = role->gpus > 0 ? from : 0;
        return 1;
    }
    way[0] = (struct allowed_way) { all_but(spec, from), job_role_gpus(request, r) };
    return is_named && way[0].pools != 0 ? 2 : 1;
}

/* Keeps the pools of *mask (0: all) in which a job with measured rates makes progress on that
 * number of GPUs.  False: they leave none. */
static bool narrow_by_rates(const struct cluster_spec *spec, const struct job_request *request,
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

uint32_t allowed_ways(const struct cluster_spec *spec, const struct host_policy *policy,
                      const struct job_request *request, uint32_t r, uint32_t turn,
                      struct allowed_way way[ALLOWED_WAYS])
{
    uint32_t by_key = ways_of_keys(spec, policy, request, r, turn, way), count = 0;
    uint32_t home = allowed_pools(spec, policy, request, r);

    for (uint32_t i = 0; i < by_key; i++) {
        struct allowed_way one = way[i];
        if (home != 0 && one.pools != 0 && (home & one.pools) == 0)
            continue;
        one.pools = one.pools != 0 && home != 0 ? one.pools & home : one.pools | home;
        if (one.gpus == 0 || narrow_by_rates(spec, request, one.gpus, &one.pools))
            way[count++] = one;
    }
    return count;
}

void allowed_tell_key(const struct cluster_spec *spec, const struct host_policy *policy,
                      const struct job_request *request, uint32_t r, char *out, size_t room)
{
    const char *key = pool_of_key(spec, policy, "cloud") != 0 ? "cloud" : "from";
    struct allowed_way way[ALLOWED_WAYS];
    bool both = allowed_turns(spec, policy) > 1 ||
                ways_of_keys(spec, policy, request, r, 0, way) > 1;

    out[0] = '\0';
    if (pool_of_key(spec, policy, key) != 0 && serves(request->form) && !both)
        snprintf(out, room, " in pool %.30s (key %s)", text_of_key(policy, key), key);
    else if (pool_of_key(spec, policy, key) != 0)
        snprintf(out, room, both ? " in pool %.30s alone or outside it (key %s)"
                                 : " outside pool %.30s (key %s)", text_of_key(policy, key), key);
}

uint32_t allowed_powered_gpus(const struct host_policy *policy, const struct job_request *request,
                              uint32_t r)
{
    return policy->policy->flags & CS_RELIEVES ? least_size(request, r)
                                               : allowed_least_gpus(policy, request, r);
}
