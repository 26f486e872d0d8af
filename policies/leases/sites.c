/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.c - where a role could go: pools and types of GPU, one by one.
 *
 * A forecast of one place among many is a forecast of the first that some list
 * happens to name.  So that no list decides, a policy that forecasts looks at
 * each site of a role and takes the one where the phase is over soonest; of
 * equals the first in an order that follows from prices, the names of GPUs and
 * the numbers of nodes.
 */
#include "policies/leases/sites.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/state/form.h"
#include "policies/state/state.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"

/* The first of the three names that is the name of a pool counts. */
uint32_t host_home_pool(const struct cluster_spec *spec,
                        const struct role_spec *role, enum host_home *rule)
{
    static const enum host_home rules[] = { HOST_HOME_SAID, HOST_HOME_POOL,
                                            HOST_HOME_NAME };
    const char *const name[] = { role->home, role->pool, role->name };

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        uint32_t pool = name[i] ? cluster_pool(spec, name[i]) : UINT32_MAX;
        if (pool == UINT32_MAX)
            continue;
        assert(pool < spec->pool_count);
        *rule = rules[i];
        return pool;
    }
    *rule = HOST_HOME_NONE;
    return UINT32_MAX;
}

/* Policies of the program that lend have a parameter for it, and confine if it is off.  What a
 * parameter of that name means in a policy from a file nobody knows: it has CS_CONFINES. */
bool host_confines(const struct host_policy *policy)
{
    const struct cs_policy *p = policy->policy;

    assert(p != NULL);
    if (p->flags & CS_CONFINES)
        return true;
    for (uint32_t i = 0; !policy->guest && i < p->param_count && policy->params != NULL; i++)
        if (p->param[i].type == CS_PARAM_BOOL && strcmp(p->param[i].key, "lend") == 0) {
            bool lend;
            memcpy(&lend, (const char *)policy->params + p->param[i].offset, sizeof lend);
            return !lend;
        }
    return false;
}

/* Are two of the homes of a form's roles with GPUs not the same? */
static bool has_two_homes(const struct cluster_spec *spec, const struct job_form *form)
{
    uint32_t first = UINT32_MAX;
    enum host_home rule;

    assert(form->role_count <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t home = form->role[r].gpus > 0 ? host_home_pool(spec, &form->role[r], &rule)
                                               : UINT32_MAX;
        if (first == UINT32_MAX)
            first = home;
        else if (home != UINT32_MAX && home != first)
            return true;
    }
    return false;
}

bool host_confines_role(const struct host_policy *policy, const struct cluster_spec *spec,
                        const struct job_form *form, uint32_t r)
{
    assert(r < form->role_count);
    return host_confines(policy) &&
           (!(policy->policy->flags & CS_CONFINES_PAIRS) ||
            (form->role[r].gpus > 0 && has_two_homes(spec, form)));
}

bool host_role_fits(const struct cluster *cluster, enum place_rule rule,
                    const struct role_spec *role, uint32_t pools, struct share *share,
                    struct placement *out)
{
    const struct fit_want on_gpus = {
        .gpus = role->gpus, .cores = role->cores, .memory_bytes = role->memory_bytes,
        .gpu_types = role->gpu_types, .gpu_type_count = role->gpu_type_count,
        .pool_mask = pools,
    };
    const struct fit_want on_cores = {
        .cores = role->on_cores.cores, .memory_bytes = role->on_cores.memory_bytes,
        .computes = true, .pool_mask = pools,
    };
    uint32_t nodes = cluster->spec->node_count;

    assert(role->gpus > 0);
    return fit_find(cluster, place_fit_rule(rule), &on_gpus, share, nodes, out) ||
           (job_role_chooses(role) &&
            fit_find(cluster, place_fit_rule(rule), &on_cores, share, nodes, out));
}

/* Returns the price of a GPU an hour, where its group is cheapest. */
static double gpu_usd_per_h(const struct node_group *group)
{
    assert(group->gpus > 0);
    return cluster_node_least_usd_per_h(group) / group->gpus;
}

/* Orders sites: the cheapest first, then by the name of the GPU, then by the
 * pool that the cluster's nodes name first, so that what a pool is called
 * changes nothing. */
static int compare(const struct host_site *a, const struct host_site *b)
{
    assert(a->gpu != NULL && b->gpu != NULL);
    if (a->usd_per_h != b->usd_per_h)
        return a->usd_per_h < b->usd_per_h ? -1 : 1;
    int order = strcmp(a->gpu->name, b->gpu->name);
    assert(a->usd_per_h == b->usd_per_h);
    if (order == 0 && a->pool != b->pool)
        order = a->pool < b->pool ? -1 : 1;
    return order;
}

/* May a role use the GPUs of a group?  mask: the pools allowed; 0: all. */
static bool may_use(const struct role_spec *role, uint32_t mask,
                    const struct node_group *group)
{
    assert(group->pool < 32);
    return group->gpu && group->gpus > 0 &&
           job_role_takes_type(role, group->gpu->index) &&
           (mask == 0 || mask >> group->pool & 1);
}

/* Adds the site of a group's pool and type, at its place in the order. */
static void add_site(struct host_sites *sites, const struct node_group *group)
{
    struct host_site site = {
        .pool = group->pool, .pool_mask = 1u << group->pool,
        .gpu = group->gpu, .usd_per_h = gpu_usd_per_h(group),
    };
    uint32_t i = 0;

    while (i < sites->count && (sites->site[i].pool != site.pool ||
                                sites->site[i].gpu != site.gpu))
        i++;
    if (i < sites->count) {
        site.usd_per_h = fmin(site.usd_per_h, sites->site[i].usd_per_h);
        sites->count--;         /* taken out, to go in at its place */
        memmove(&sites->site[i], &sites->site[i + 1],
                (sites->count - i) * sizeof site);
    }
    for (i = sites->count++;
         i > 0 && compare(&site, &sites->site[i - 1]) < 0; i--)
        sites->site[i] = sites->site[i - 1];
    sites->site[i] = site;
    assert(i < sites->count);
}

/* Adds, behind the others, a site for each type of GPU that several pools have:
 * a gang may lie in all of them. */
static void add_unions(struct host_sites *sites)
{
    uint32_t singles = sites->count;

    for (uint32_t i = 0; i < singles; i++) {
        struct host_site all = sites->site[i];
        bool first = true;
        for (uint32_t k = 0; k < singles; k++) {
            if (sites->site[k].gpu != all.gpu)
                continue;
            first &= k >= i;
            all.pool_mask |= sites->site[k].pool_mask;
        }
        if (first && all.pool_mask != sites->site[i].pool_mask)
            sites->site[sites->count++] = all;
    }
    assert(sites->count <= 2 * singles);
}

/* Returns the price an hour of the cores that a role asks for, on a node of the
 * group.  Nodes with GPUs are paid by the GPU: their cores cost nothing. */
static double cores_usd_per_h(const struct node_group *group, uint32_t cores)
{
    assert(group->cores > 0);
    return group->gpus > 0 ? 0
                           : cluster_node_least_usd_per_h(group) * cores /
                                 group->cores;
}

/* Adds the cores of a group's pool, behind the sites of GPUs, the cheapest
 * first; the first group of a pool counts. */
static void add_cores(struct host_sites *sites, const struct role_spec *role,
                      uint32_t mask, const struct node_group *group)
{
    struct host_site site = { .pool = group->pool,
                              .pool_mask = 1u << group->pool };
    uint32_t i = sites->count;

    assert(group->pool < 32);
    if (group->cores < role->on_cores.cores || !cluster_computes(group) ||
        (mask != 0 && !(mask >> group->pool & 1)))
        return;
    site.usd_per_h = cores_usd_per_h(group, role->on_cores.cores);
    for (uint32_t k = 0; k < sites->count; k++)
        if (sites->site[k].gpu == NULL && sites->site[k].pool == site.pool)
            return;             /* by the first group of the pool */
    for (; i > 0 && sites->site[i - 1].gpu == NULL &&
           sites->site[i - 1].usd_per_h > site.usd_per_h; i--)
        sites->site[i] = sites->site[i - 1];
    sites->site[i] = site;
    sites->count++;
}

/* At most a site for each pool and type, one union for each type, and one for
 * the cores of each pool. */
struct host_sites host_sites_of(struct arena *arena,
                                const struct cluster_spec *spec,
                                const struct role_spec *role, uint32_t mask)
{
    struct host_sites sites = {
        .site = arena_alloc(arena, 3 * (size_t)spec->group_count,
                            sizeof *sites.site),
    };

    for (uint32_t g = 0; role->gpus > 0 && g < spec->group_count; g++)
        if (may_use(role, mask, &spec->group[g]))
            add_site(&sites, &spec->group[g]);
    add_unions(&sites);
    for (uint32_t g = 0; job_role_chooses(role) && g < spec->group_count; g++)
        add_cores(&sites, role, mask, &spec->group[g]);
    assert(sites.count <= 3 * spec->group_count);
    return sites;
}

/* A home that can never hold the role would only be waited for. */
uint32_t cs_role_homes(const struct cs_host *host, struct job_id job,
                       uint32_t role)
{
    const struct host_form *form = host_job_form(host, job.i);

    if (role >= form->form->role_count)
        return 0;
    return form->home_holds >> role & 1 || host_confines(host->parts.policy)
               ? form->home_mask[role] : 0;
}

void cs_rent_in(struct cs_host *host, struct job_id job, uint32_t role, uint32_t pool_mask)
{
    const struct host_form *form = host_job_form(host, job.i);

    assert(role < form->form->role_count);
    host->forms->form[form - host->forms->form].rent_mask[role] = pool_mask;
}

void host_forget_rented(struct cs_host *host)
{
    struct host_forms *forms = host->forms;

    assert(forms->count <= forms->capacity);
    for (uint32_t f = 0; f < forms->count; f++)
        memset(forms->form[f].rent_mask, 0, sizeof forms->form[f].rent_mask);
}
