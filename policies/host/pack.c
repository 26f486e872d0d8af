/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.c - two jobs on the same GPUs, each slower than alone.
 *
 * Two co-located jobs each hold half of every GPU.  So GPU-seconds, cost,
 * energy and utilization count a GPU once, in equal halves, whatever speed each
 * job has.  When a job joins or leaves, the lease of the other is replaced at
 * the same instant, at no cost: neither job stops, so nothing is saved.  Each
 * job takes cores and host memory of its own.
 *
 * A job can share its GPUs if it has one role and one phase of known length,
 * and nothing to load.  Both jobs must have the same number of GPUs, the file
 * must say how fast both are then (speedup_beside()), and the memory that both
 * state must fit on a GPU.
 *
 * Invariant: two co-located leases name each other in `beside`.  When one ends,
 * the other has whole GPUs and its full speed again.
 */
#include "policies/host/pack.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/types/placement.h"
#include "policies/host/request.h"
#include "policies/host/view.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/pack.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/deals.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/read.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"

#define HALF (GPU_MILLI / 2)

static const struct job_id nobody = { ID_NONE };

/* Can the job share its GPUs with any other? */
static bool can_share(const struct cs_host *host,
                      const struct host_job_slot *job)
{
    const struct role_spec *role = &host_form_of(job)->role[0];

    return host_job_fixed(host, job->pub.request.id.i) &&
           job->pub.request.goodput == NULL &&
           host_form_of(job)->role_count == 1 && !role->pod &&
           job_role_milli(&job->pub.request, 0) == GPU_MILLI &&
           !(role->load_bytes > 0) && !(role->save_bytes > 0) &&
           job_role_is_up_at_once(role);
}

/* Has a GPU of the group the memory for both jobs?  What is not stated needs none. */
static bool holds_both(const struct node_group *group, const struct host_job_slot *job,
                       const struct host_job_slot *other)
{
    double mib = (double)job->pub.request.gpu_mib + (double)other->pub.request.gpu_mib;
    double has = group->gpu != NULL ? group->gpu->memory_bytes / 1048576.0 : 0;

    assert(mib >= 0);
    return !(has > 0) || mib <= has;
}

/* Returns a job's speedup while the other holds the same GPUs: the least over
 * the placement's pools.  0: not known, or memory is short. */
static double speedup_with(const struct cs_host *host,
                           const struct host_job_slot *job,
                           const struct host_job_slot *other,
                           const struct placement *placement)
{
    uint32_t gpus = placement_gpus(placement);
    double speedup = INFINITY;

    assert(placement->share_count > 0 && gpus > 0);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct node_group *group =
            cluster_group_of(host->spec, placement->share[i].node);
        if (!holds_both(group, job, other))
            return 0;
        speedup = fmin(speedup, speedup_beside(&job->pub.request,
                                               &other->pub.request,
                                               group->pool, gpus));
    }
    return speedup;
}

/* Copies a placement into share[], with `milli` thousandths of each GPU; 0:
 * whole GPUs.  The result points into share[]. */
static struct placement copy_with(struct share *share,
                                  const struct placement *of, uint32_t milli)
{
    assert(milli == 0 || milli == HALF);
    assert(share != of->share);
    for (uint32_t i = 0; i < of->share_count; i++) {
        share[i] = of->share[i];
        share[i].gpu_milli = (uint16_t)milli;
    }
    return (struct placement) { share, of->share_count };
}

/* Returns half of each of the first job's GPUs, with the cores and the host
 * memory that the second job's role wants for its GPUs.  The result points into
 * share[]. */
static struct placement second_half(struct share *share,
                                    const struct placement *first,
                                    const struct role_spec *role)
{
    for (uint32_t i = 0; i < first->share_count; i++) {
        uint32_t gpus = mask_count(first->share[i].gpu_mask);
        assert(gpus > 0);
        share[i] = (struct share) {
            .node = first->share[i].node,
            .gpu_mask = first->share[i].gpu_mask, .gpu_milli = HALF,
            .cores = role->cores * gpus,
            .memory_bytes = role->memory_bytes * gpus,
        };
    }
    return (struct placement) { share, first->share_count };
}

/* Are the cores and the memory of a half free?  Its GPUs are left out, since
 * they are shared.  scratch: room for half->share_count shares. */
static bool fits_beside(const struct cs_host *host, struct share *scratch,
                        const struct placement *half)
{
    assert(scratch != half->share);
    for (uint32_t i = 0; i < half->share_count; i++) {
        assert(half->share[i].gpu_milli == HALF);
        scratch[i] = half->share[i];
        scratch[i].gpu_mask = 0;
        scratch[i].gpu_milli = 0;
    }
    struct placement rest = { scratch, half->share_count };
    return cluster_can_take(host->cluster, &rest);
}

/* Are the GPU type and the pool of a group among those wanted? */
static bool suits_group(const struct fit_want *want,
                        const struct node_group *group)
{
    bool typed = want->gpu_type_count == 0;

    assert(group->pool < 32);
    for (uint32_t t = 0; t < want->gpu_type_count; t++)
        typed |= group->gpu != NULL &&
                 group->gpu->index == want->gpu_types[t];
    return typed && (want->pool_mask == 0 ||
                     (want->pool_mask >> group->pool & 1));
}

/* Could the job have asked for exactly these GPUs?  Never on rented nodes. */
static bool suits_placement(const struct cs_host *host,
                            const struct host_job_slot *job,
                            const struct placement *place)
{
    struct cs_want as_asked = { 0 };
    struct fit_want want;

    assert(place->share_count > 0);
    if (!host_fit_want(host, job, 0, &as_asked, &want))
        return false;
    for (uint32_t i = 0; i < place->share_count; i++) {
        const struct node_group *group =
            cluster_group_of(host->spec, place->share[i].node);
        if (group->rent != NULL || !suits_group(&want, group))
            return false;
    }
    return want.gpus == placement_gpus(place);
}

/* Replaces lease i by another of the same job on the same GPUs; returns its
 * number.  speedup: 0 as for a lease of its own. */
static uint32_t replace_lease(struct cs_host *host, uint32_t i,
                              const struct placement *place, double speedup)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = host_job_slot(host, lease->pub.job.i);

    assert(lease->live && job->lease[0] == i);
    assert(isfinite(speedup) && speedup >= 0);
    if (lease->running)
        host_phase_cut(host, i);
    return host_regrant_at(host, i, place, speedup);
}

/* Called when the other lease on its GPUs has ended.  Its halves become whole GPUs; cores and host
 * memory stay as they were. */
void host_pack_alone(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct placement whole = copy_with(host->life->scratch,
                                       &lease->pub.placement, 0);

    assert(lease->live && lease->beside == ID_NONE);
    assert(lease->pub.gpu_milli == HALF);
    replace_lease(host, i, &whole, 0);
}

/* Finds the lease of job `runs` that a task could share GPUs with; returns
 * CS_DONE and sets *lease, or returns why it may not. */
static enum cs_verdict find_partner(const struct cs_host *host,
                                    const struct cs_task *task,
                                    struct job_id runs, uint32_t *lease)
{
    const struct host_job_slot *job = host_job_slot(host, task->job.i);

    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    if (task->role != CS_ALL_ROLES)
        return CS_NOT_ALLOWED;
    if (runs.i >= host->jobs->count || host_job_over(host, runs.i) ||
        host_job_slot(host, runs.i)->lease[0] == ID_NONE)
        return CS_NOT_PENDING;
    const struct host_job_slot *first = host_job_slot(host, runs.i);
    const struct placement *place;
    *lease = first->lease[0];
    assert(*lease < host->leases->count &&
           host->leases->slot[*lease].live);
    place = &host->leases->slot[*lease].pub.placement;
    if (!can_share(host, job) || !can_share(host, first) ||
        !suits_placement(host, job, place) ||
        !(speedup_with(host, first, job, place) > 0) ||
        !(speedup_with(host, job, first, place) > 0))
        return CS_BAD_SHAPE;
    return host->leases->slot[*lease].beside == ID_NONE ? CS_DONE : CS_NO_ROOM;
}

/* Starts a task on the GPUs of lease `first`, if cores, memory and power allow
 * it; answers the request. */
static enum cs_verdict start_beside(struct cs_host *host, struct task_id id,
                                    uint32_t first)
{
    struct job_id joins = cs_task(host, id)->job;
    struct host_job_slot *job = host_job_slot(host, joins.i);
    struct host_job_slot *other =
        host_job_slot(host, host->leases->slot[first].pub.job.i);
    const struct placement *place = &host->leases->slot[first].pub.placement;
    uint32_t nodes = host->spec->node_count;
    struct placement mine = second_half(host->life->scratch, place,
                                        &host_form_of(job)->role[0]);
    struct placement its = copy_with(host->life->scratch + nodes, place, HALF);
    double speedup = speedup_with(host, job, other, place);
    double its_speedup = speedup_with(host, other, job, place);

    assert(host->leases->slot[first].beside == ID_NONE);
    assert(place->share_count <= nodes && speedup > 0 && its_speedup > 0);
    if (!fits_beside(host, host->life->scratch + 2 * nodes, &mine) ||
        !host_power_allows_beside(host->nodes, host->cluster, place, &its, &mine))
        return host_answer(host, HOST_START, joins, 0, CS_NO_ROOM, NULL);
    cluster_split(host->cluster);
    host_task_drop(host, id.i);
    job->task = ID_NONE;
    host_left_change(host, job->pub.request.id.i);
    host_answer(host, HOST_START, joins, 0, CS_DONE, &mine);
    first = replace_lease(host, first, &its, its_speedup);
    uint32_t second = host_grant_at(host, joins.i, 0, &mine, speedup);
    host->leases->slot[first].beside = second;
    host->leases->slot[second].beside = first;
    return CS_DONE;
}

enum cs_verdict cs_start_co_located(struct cs_host *host, struct task_id id,
                                    struct job_id runs)
{
    uint32_t lease = ID_NONE;

    if (!(host->policy->flags & CS_PACKS))
        return host_answer(host, HOST_START, nobody, CS_ALL_ROLES,
                           CS_NOT_ALLOWED, NULL);
    if (!host_task_live(host, id))
        return host_answer(host, HOST_START, nobody, CS_ALL_ROLES,
                           CS_NOT_PENDING, NULL);
    const struct cs_task *task = cs_task(host, id);
    enum cs_verdict verdict = find_partner(host, task, runs, &lease);

    if (verdict == CS_DONE)
        return start_beside(host, id, lease);
    return host_answer(host, HOST_START, task->job, CS_ALL_ROLES, verdict,
                       NULL);
}

/* Does a GPU of the pool, not on a rented node, have the memory for both? */
static bool pool_holds_both(const struct cs_host *host, uint32_t pool,
                            const struct host_job_slot *job,
                            const struct host_job_slot *other)
{
    bool holds = false;

    assert(pool < host->spec->pool_count);
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        holds |= host->spec->group[g].pool == pool && host->spec->group[g].rent == NULL &&
                 holds_both(&host->spec->group[g], job, other);
    return holds;
}

/* Asks for the GPUs as the jobs ask for them: a job that was resized has
 * another speedup. */
double cs_speedup_co_located(struct cs_host *host, struct job_id id,
                             struct job_id other, uint32_t pool)
{
    assert(id.i < host->jobs->count && other.i < host->jobs->count &&
           pool < host->spec->pool_count);
    const struct host_job_slot *job = host_job_slot(host, id.i);
    const struct host_job_slot *with = host_job_slot(host, other.i);
    uint32_t gpus = job_role_gpus(&job->pub.request, 0);

    if (id.i == other.i || !can_share(host, job) || !can_share(host, with) ||
        gpus != job_role_gpus(&with->pub.request, 0) || gpus == 0 ||
        !pool_holds_both(host, pool, job, with))
        return 0;
    return speedup_beside(&job->pub.request, &with->pub.request, pool, gpus);
}

/* A job that shares has one role, so that role 0 tells. */
struct job_id cs_co_located(const struct cs_host *host, struct job_id id)
{
    struct lease_id lease = cs_role_lease(host, id, 0);

    if (lease.i == ID_NONE || host->leases->slot[lease.i].beside == ID_NONE)
        return nobody;
    uint32_t other = host->leases->slot[lease.i].beside;
    assert(host->leases->slot[other].beside == lease.i);
    return host->leases->slot[other].pub.job;
}

uint32_t cs_share_score(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    const struct host_job_slot *job = host_job_slot(host, id.i);

    return can_share(host, job) ? speedup_share_class(&job->pub.request)
                            : SHARE_NEVER;
}
