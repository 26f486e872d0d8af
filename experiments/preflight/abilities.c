/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * abilities.c - jobs that a policy is not able to run, by flags.
 *
 * A policy's table says in flags what it needs (CS_ONE_ROLE, CS_NEEDS_GPUS, CS_WHOLE_GPUS)
 * and what it does (HOST_DEALERS: it deals GPUs, or stops, resizes or packs jobs).  Such jobs
 * are found before any trial, where they would wait until the run counts as stalled, or end
 * it.  So are tenants that a policy names and that have no jobs.  What plans leave out: plans.h.
 */
#include "experiments/preflight/abilities.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/preflight/plans.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/words.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/source.h"

/* Some forty names; a longer list is cut, as it is a hint. */
#define NAMES_BYTES 320u

/* Writes the names of all policies without any of the flags. */
static void list_without(uint32_t flags, char *out, size_t room)
{
    size_t used = 0;

    assert(room > 0);
    out[0] = '\0';
    for (uint32_t i = 0; registry_at(i) != NULL && used < room; i++)
        if (!(registry_at(i)->flags & flags))
            used += (size_t)snprintf(out + used, room - used, "%s%s",
                                     used > 0 ? ", " : "", registry_at(i)->name);
}

/* Always true, with err: the job can never start, and which policies start it. */
static bool refuse(const struct job_request *request, const char *name,
                   const char *why, uint32_t flag, struct err *err)
{
    char names[NAMES_BYTES];

    list_without(flag, names, sizeof names);
    err_set(err, ERR_RANGE, request->form->role[0].pos,
            "%.60s can never start under policy %.60s: %s", request->form->name, name,
            why);
    err_hint(err, "Policies that start it: %s.", names);
    return true;
}

/* Does the job compute on cores alone: by its role, or as a pod of a trace? */
static bool is_on_cores(const struct job_request *request)
{
    const struct role_spec *role = &request->form->role[0];

    if (role->on_cores.cores > 0)
        return role->gpus == 0;
    return role->pod && job_role_gpus(request, 0) == 0;
}

bool abilities_bar(const struct host_policy *policy, const char *name,
                   const struct job_request *request, struct err *err)
{
    const struct job_form *form = request->form;
    uint32_t flags = policy->policy->flags;
    char why[100];

    assert(form->role_count > 0);
    if (flags & CS_ONE_ROLE && form->role_count > 1) {
        snprintf(why, sizeof why, "it deals jobs of one role, and this one has %u",
                 form->role_count);
        return refuse(request, name, why, CS_ONE_ROLE, err);
    }
    if (flags & CS_NEEDS_GPUS && is_on_cores(request))
        return refuse(request, name, "it deals GPUs, and this job computes on cores "
                      "alone", CS_NEEDS_GPUS, err);
    if (flags & CS_WHOLE_GPUS && job_role_milli(request, 0) < GPU_MILLI)
        return refuse(request, name, "it deals whole GPUs, and this job asks for a part "
                      "of one", CS_WHOLE_GPUS, err);
    return false;
}

/* Returns the first form with a role that may compute on cores or on GPUs, and
 * that role's name; NULL: there is none. */
static const struct job_form *find_choice(const struct experiment_point *point,
                                          const char **role)
{
    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);

        for (uint32_t r = 0; r < form->role_count; r++)
            if (job_role_chooses(&form->role[r])) {
                *role = form->role[r].name;
                return form;
            }
    }
    return NULL;
}

/* Returns the tenants of jobs and services at any point, some more than once; NULL ends the
 * list. */
static const char *const *list_tenants(struct arena *arena,
                                       const struct experiment *experiment)
{
    const char **tenant = NULL, *name;
    size_t count = 0, room = 0;

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct workload_spec *workload = experiment->point[i].workload;
        if (i > 0 && workload == experiment->point[i - 1].workload)
            continue;
        for (size_t k = 0; (name = workload_tenant(workload, k)) != NULL; k++)
            ARENA_ADD(arena, tenant, count, room, name);
    }
    ARENA_ADD(arena, tenant, count, room, NULL);
    assert(tenant != NULL);
    return tenant;
}

/* Returns a tenant of none of the list that a policy names at some point, and the key that
 * names it; NULL: there is none. */
static const char *find_absent(struct arena *arena, const struct experiment *experiment,
                               uint32_t p, const char *const *tenants, const char **key)
{
    const char *absent = NULL;

    assert(p < experiment->policy_count);
    for (uint32_t i = 0; i < experiment->point_count && absent == NULL; i++)
        for (const struct host_policy *policy = experiment->point[i].policy[p];
             policy != NULL && absent == NULL; policy = policy->then)
            absent = host_tenants_absent(arena, policy, tenants, key);
    return absent;
}

/* Tenants without jobs may be in a slice of a trace; their share is nobody's. */
static void warn_of_tenants(const struct experiment *experiment, uint32_t p,
                            void (*tell)(void *self, const struct err *err), void *self)
{
    struct err_pos pos = { experiment->path, 0, 0 };
    struct arena *arena = arena_new(0);
    const char *key, *absent = find_absent(arena, experiment, p,
                                           list_tenants(arena, experiment), &key);
    struct err err = { 0 };

    if (absent != NULL) {
        err_set(&err, ERR_REFERENCE, pos, "'%s' of policy %.60s names '%.60s', and no "
                "job or service is of that tenant", key, experiment->policy_name[p], absent);
        err_hint(&err, "What it owns is lent to others, where the policy lends.");
        tell(self, &err);
    }
    arena_free(arena);
}

/* Returns the first form, of any point, with a role that may compute on cores or on GPUs, of
 * which a policy uses the GPUs alone, and that role's name; NULL: there is none. */
static const struct job_form *find_one_sided(const struct experiment *experiment, uint32_t p,
                                             const char **role)
{
    const struct job_form *form = NULL;

    assert(p < experiment->policy_count);
    for (uint32_t i = 0; i < experiment->point_count && form == NULL; i++)
        if (experiment->point[i].policy[p]->policy->flags & HOST_DEALERS)
            form = find_choice(experiment->point[i].met[p], role);
    return form;
}

void abilities_warn(const struct experiment *experiment,
                    void (*tell)(void *self, const struct err *err), void *self)
{
    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        struct err_pos pos = { experiment->path, 0, 0 };
        char names[NAMES_BYTES];
        struct err err = { 0 }, plan = { 0 };
        const char *role = "";
        const struct job_form *form = find_one_sided(experiment, p, &role);

        if (plans_warn(experiment, p, &plan))
            tell(self, &plan);
        warn_of_tenants(experiment, p, tell, self);
        if (form == NULL)
            continue;
        list_without(HOST_DEALERS, names, sizeof names);
        err_set(&err, ERR_RANGE, pos, "policy %.60s uses the GPUs alone of role %s of "
                "%.60s, which may run on cores too: it deals GPUs, or stops, resizes or "
                "packs jobs",
                experiment->policy_name[p], role, form->name);
        err_hint(&err, "Policies that use both: %s.", names);
        tell(self, &err);
    }
}
