/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prepare.c - what a policy may do for a role before its phase is ready: grant
 * it a lease, and know what taking that lease away each time would cost.
 */
#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/jobs/job.h"
#include "policies/host/decide.h"
#include "policies/host/request.h"
#include "policies/leases/lease.h"
#include "policies/leases/time.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/form.h"
#include "policies/state/jobs.h"
#include "policies/state/read.h"
#include "policies/state/state.h"

/* The checks come in this order: the job, the flag of the policy, the shape,
 * whether the role holds a lease or already asks for one, and room. */
enum cs_verdict cs_prepare(struct cs_host *host, struct job_id id,
                           const struct cs_want *want)
{
    struct placement place;
    struct job_id none = { ID_NONE };
    uint32_t role = want->role;

    if (id.i >= host_jobs_submitted(host) || host_job_ended(host, id.i))
        return host_answer(host, HOST_START, none, CS_ALL_ROLES,
                           CS_NOT_PENDING, NULL);
    if (!(host->policy->flags & CS_PER_PHASE))
        return host_answer(host, HOST_START, id, CS_ALL_ROLES, CS_NOT_ALLOWED,
                           NULL);
    const struct host_job_slot *job = host_job_at(host, id.i);
    if (role >= cs_request(host, id)->form->role_count ||
        !host_want_ok(host, job, role, want))
        return host_answer(host, HOST_START, id, CS_ALL_ROLES, CS_BAD_SHAPE,
                           NULL);
    if (cs_role_lease(host, id, role).i != ID_NONE ||
        cs_job_task(host, id, role).i != ID_NONE)
        return host_answer(host, HOST_START, id, role, CS_NOT_PENDING, NULL);
    if (!host_find(host, job, role, want, &place))
        return host_answer(host, HOST_START, id, role, CS_NO_ROOM, NULL);
    host_answer(host, HOST_START, id, role, CS_DONE, &place);
    host_grant(host, id.i, role, &place);
    assert(cs_role_lease(host, id, role).i != ID_NONE);
    return CS_DONE;
}

/* May nodes of these pools be rented?  0: all pools. */
static bool is_rented(const struct cluster_spec *spec, uint32_t pools)
{
    assert(spec->pool_count <= 32);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL && (pools == 0 || pools >> spec->group[g].pool & 1))
            return true;
    return false;
}

/* Is there room in the homes of all roles at once?  Roles of one home add up.  Nodes are
 * rented for tasks that wait, of which only `role` has one: it does not wait for nodes of
 * other roles, which nobody would order. */
static bool have_homes(const struct cs_host *host, struct job_id id, uint32_t role)
{
    const struct job_form *form = cs_request(host, id)->form;

    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t home = cs_role_homes(host, id, r), gpus = 0;
        bool rented = is_rented(host->spec, home);
        for (uint32_t q = 0; q < form->role_count; q++)
            if (cs_role_homes(host, id, q) == home && (!rented || q == role))
                gpus += job_role_gpus(cs_request(host, id), q);
        if (form->role[r].gpus > 0 && cs_free_gpus(host, home) < gpus)
            return false;
    }
    return true;
}

/* Starts the task in the home of its role, and prepares all other roles in
 * theirs.  Homes are looked at first, so that no job gets a lease for one role
 * and waits for the others.  A role that cannot be prepared after all asks for
 * its lease when its phase is ready. */
enum cs_verdict cs_settle(struct cs_host *host, struct task_id id)
{
    struct cs_task task = *cs_task(host, id);
    const struct job_form *form = cs_request(host, task.job)->form;
    struct cs_want want = { .role = task.role };

    if (!have_homes(host, task.job, task.role))
        return CS_NO_ROOM;
    want.pool_mask = cs_role_homes(host, task.job, task.role);
    enum cs_verdict verdict = cs_start_want(host, id, &want);
    for (uint32_t r = 0; verdict == CS_DONE && r < form->role_count; r++) {
        if (form->role[r].gpus == 0 ||
            cs_role_lease(host, task.job, r).i != ID_NONE ||
            cs_job_task(host, task.job, r).i != ID_NONE)
            continue;
        want.role = r;
        want.pool_mask = cs_role_homes(host, task.job, r);
        cs_prepare(host, task.job, &want);
    }
    return verdict;
}

/* A job with fewer than two roles on GPUs has nothing to settle. */
bool cs_settled(const struct cs_host *host, struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;
    uint32_t roles = 0;

    assert(form->role_count > 0);
    for (uint32_t r = 0; r < form->role_count; r++) {
        roles += form->role[r].gpus > 0;
        if (form->role[r].gpus > 0 && cs_role_lease(host, id, r).i != ID_NONE)
            return true;
    }
    return roles < 2;
}

/* What was measured in this run counts first (switch_s of the form).  Before
 * that: the bytes to load and to save, through the slowest host links of the
 * groups in the role's home, with the role's GPUs packed on as few nodes as
 * possible. */
double cs_switch_s(const struct cs_host *host, struct job_id id, uint32_t role)
{
    const struct job_request *request = cs_request(host, id);
    const struct role_spec *spec = &request->form->role[role];
    uint32_t gpus = job_role_gpus(request, role);
    uint32_t home = cs_role_homes(host, id, role);
    double least_bps = INFINITY;

    assert(role < request->form->role_count);
    double met_s = host_job_form(host, id.i)->switch_s[role];
    if (met_s > 0)
        return met_s;
    for (uint32_t g = 0; g < host->spec->group_count && gpus > 0; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (group->gpus == 0 || (home && !(home >> group->pool & 1)))
            continue;
        uint32_t here = gpus < group->gpus ? gpus : group->gpus;
        assert(here > 0 && here <= 64);
        double bps = fabric_pcie_bps(group, UINT64_MAX >> (64 - here)) * gpus / here;
        least_bps = fmin(least_bps, bps);
    }
    /* Where nothing is copied, least_bps may be INFINITY or 0: a generic GPU has no speed. */
    double bytes = spec->load_bytes + spec->save_bytes;
    return (bytes > 0 ? bytes / least_bps : 0) + spec->wake_s;
}

/* The seconds of one switch of each role on GPUs, over the seconds of a step:
 * 0.1 means that a step with these switches takes a tenth longer.  0: the
 * length of a step is not known, or the job switches anyway. */
double cs_switch_loss(const struct cs_host *host, struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;
    double step_s = host_job_form(host, id.i)->step_s, switch_s = 0;

    if (!host_job_form(host, id.i)->settles)
        return 0;

    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role[r].gpus > 0)
            switch_s += cs_switch_s(host, id, r);
    assert(switch_s >= 0);
    return step_s > 0 ? switch_s / step_s : 0;
}
