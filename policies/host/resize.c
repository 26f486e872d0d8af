/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resize.c - leases that get more GPUs, fewer GPUs, or other GPUs while their
 * job runs.
 *
 * A change is a checkpoint and a restart, as in Optimus (EuroSys 2018), Gavel
 * (OSDI 2020) and Pollux (OSDI 2021): no job is changed in place.  The search
 * for the new GPUs counts the lease's own as free.  They are taken at once.
 * The job keeps its progress, except the optimizer step that was cut.  A
 * change happens as a whole or not at all.
 */
#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/host/request.h"
#include "policies/known.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/leases/time.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/state/deals.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

static const struct job_id no_job = { ID_NONE };

/* Returns the cores that a placement has for each of its GPUs, rounded down; 0
 * without GPUs. */
static uint32_t cores_per_gpu(const struct placement *placement)
{
    uint32_t gpus = placement_gpus(placement);

    assert(placement->share_count > 0);
    return gpus ? placement_cores(placement) / gpus : 0;
}

/* Are both the same GPUs and the same numbers of cores, share by share?  Then a
 * move would only cost a restart. */
static bool is_same_placement(const struct placement *a,
                              const struct placement *b)
{
    bool same = a->share_count == b->share_count;

    assert(a->share_count > 0 && b->share_count > 0);
    for (uint32_t i = 0; same && i < a->share_count; i++)
        same = a->share[i].node == b->share[i].node &&
               a->share[i].gpu_mask == b->share[i].gpu_mask &&
               a->share[i].cores == b->share[i].cores;
    return same;
}

/* Finds another placement for a lease as if its own GPUs were free.  False: there
 * is none, or only the one that it has.  Nothing is taken; `looks`: no random number is
 * drawn either.  On a node that is being taken away its own GPUs are not free for it. */
static bool find_other_place(struct cs_host *host,
                             const struct host_lease_slot *lease,
                             const struct cs_want *want, bool looks,
                             struct placement *out)
{
    const struct host_job_slot *job = host_job_slot(host, lease->pub.job.i);
    bool (*find)(struct cs_host *, const struct host_job_slot *, uint32_t,
                 const struct cs_want *, struct placement *) = looks ? host_look : host_find;

    assert(lease->live && want->role == lease->pub.role);
    if (host_on_leaving_node(host->nodes, &lease->pub.placement))
        return find(host, job, lease->pub.role, want, out);
    cluster_release(host->cluster, &lease->pub.placement);
    bool found = find(host, job, lease->pub.role, want, out);
    cluster_take(host->cluster, &lease->pub.placement);
    return found && !is_same_placement(out, &lease->pub.placement);
}

/* Returns CS_DONE if a lease may change to that number of GPUs, else why not: it is
 * leaving; it serves, shares its GPUs, or is idle between phases; or its role
 * cannot have that size. */
static enum cs_verdict may_change(const struct cs_host *host,
                                  const struct host_lease_slot *lease,
                                  uint32_t gpus)
{
    const struct host_job_slot *job = host_job_slot(host, lease->pub.job.i);

    assert(lease->live && gpus > 0);
    if (lease->leaving)
        return CS_NOT_PENDING;
    if (host_form_of(job)->phase[0].law->kind == LAW_SERVE ||
        lease->beside != ID_NONE ||
        (host_per_phase(host) && lease->pub.state == CS_LEASE_IDLE))
        return CS_NOT_ALLOWED;
    return host_shape_ok(host, job, lease->pub.role, gpus) ? CS_DONE
                                                           : CS_BAD_SHAPE;
}

/* Replaces lease i by one at another placement.  What its phase has done is kept as
 * far as a stop would keep it, and the job owes a restart, as after a stop. */
static void change_lease(struct cs_host *host, uint32_t i,
                         const struct placement *place)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = host_job_slot(host, lease->pub.job.i);

    assert(lease->live && place->share_count > 0);
    if (lease->running) {
        uint32_t phase = lease->phase;
        double part = host_phase_pause(host, i);
        lease->part = part;
        lease->part_phase = phase;
    }
    job->penalty_ns = clock_after(job->penalty_ns,
                                  host_stop_cost_ns(host->rules, lease->pub.gpus));
    host_regrant(host, i, place);
}

/* Moves a lease to the GPUs wanted, if it may and they are free; answers the
 * request. */
static enum cs_verdict change_to(struct cs_host *host,
                                 enum host_action action, struct lease_id id,
                                 const struct cs_want *want)
{
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    struct job_id job = lease->pub.job;
    uint32_t role = lease->pub.role;

    assert(action == HOST_RESIZE || action == HOST_MOVE);
    enum cs_verdict verdict = may_change(host, lease, want->gpus);
    struct placement place;

    if (verdict == CS_DONE && !find_other_place(host, lease, want, false, &place))
        verdict = CS_NO_ROOM;
    if (verdict != CS_DONE)
        return host_answer(host, action, job, role, verdict, NULL);
    host->counts.resizes += action == HOST_RESIZE;
    host->counts.moves += action == HOST_MOVE;
    host_answer(host, action, job, role, CS_DONE, &place);
    change_lease(host, id.i, &place);
    return CS_DONE;
}

/* Returns a want of that number of GPUs, in the pools of the lease and with as
 * many cores for each GPU as it has now. */
static struct cs_want want_of_size(const struct host_lease_slot *lease, uint32_t gpus)
{
    assert(lease->pub.placement.share_count > 0);
    return (struct cs_want){ .role = lease->pub.role, .gpus = gpus,
                             .pool_mask = lease->pool_mask,
                             .cores = cores_per_gpu(&lease->pub.placement) };
}

/* 0 GPUs and the size that it has are refused as bad shapes: a policy should
 * stop the job, or not ask. */
enum cs_verdict cs_resize(struct cs_host *host, struct lease_id id,
                          uint32_t gpus)
{
    if (!(host->policy->flags & CS_RESIZES) || !cs_lease_held(host, id))
        return host_answer(host, HOST_RESIZE, no_job, CS_ALL_ROLES,
                           cs_lease_held(host, id) ? CS_NOT_ALLOWED : CS_NOT_PENDING,
                           NULL);
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    struct cs_want want = want_of_size(lease, gpus);
    if (gpus == 0 || gpus == lease->pub.gpus)
        return host_answer(host, HOST_RESIZE, lease->pub.job, lease->pub.role,
                           CS_BAD_SHAPE, NULL);
    return change_to(host, HOST_RESIZE, id, &want);
}

bool host_could_resize(struct cs_host *host, struct lease_id id, uint32_t gpus)
{
    if (!(host->policy->flags & CS_RESIZES) || !cs_lease_held(host, id))
        return false;
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    struct cs_want want = want_of_size(lease, gpus);
    struct placement place;

    return gpus > 0 && gpus != lease->pub.gpus && may_change(host, lease, gpus) == CS_DONE &&
           find_other_place(host, lease, &want, true, &place);
}

/* gpus of the want: 0 for the sum of its spots, or without spots the size that
 * the lease has. */
enum cs_verdict cs_move(struct cs_host *host, struct lease_id id,
                        const struct cs_want *want)
{
    if (!(host->policy->flags & CS_RESIZES) || !cs_lease_held(host, id))
        return host_answer(host, HOST_MOVE, no_job, CS_ALL_ROLES,
                           cs_lease_held(host, id) ? CS_NOT_ALLOWED : CS_NOT_PENDING,
                           NULL);
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    assert(want != NULL);
    struct cs_want to = *want;
    to.role = lease->pub.role;
    for (uint32_t i = 0; want->gpus == 0 && i < want->spot_count; i++)
        to.gpus += want->spot[i].gpus;
    if (to.gpus == 0)
        to.gpus = lease->pub.gpus;
    if (lease->pub.gpus == 0 || want->gpu_type == CS_ON_CORES || want->take_idle ||
        !host_want_ok(host, host_job_slot(host, lease->pub.job.i), to.role, &to))
        return host_answer(host, HOST_MOVE, lease->pub.job, lease->pub.role,
                           CS_BAD_SHAPE, NULL);
    return change_to(host, HOST_MOVE, id, &to);
}

/* 0 for a job of several roles: the laws of a size hold for one role. */
double cs_speedup(struct cs_host *host, struct job_id id, uint32_t pool,
                  uint32_t gpus)
{
    assert(id.i < host->jobs->count && pool < host->spec->pool_count);
    const struct host_job_slot *job = host_job_slot(host, id.i);

    if (host_form_of(job)->role_count != 1 || gpus == 0)
        return 0;
    return host_speedup(host, job, pool, gpus, 0);
}

double cs_speedup_cores(struct cs_host *host, struct job_id id, uint32_t pool,
                        uint32_t gpus, uint32_t cores)
{
    assert(id.i < host->jobs->count && pool < host->spec->pool_count);
    const struct host_job_slot *job = host_job_slot(host, id.i);

    if (host_form_of(job)->role_count != 1 || gpus == 0 || cores == 0)
        return 0;
    return host_speedup(host, job, pool, gpus, cores);
}

/* Of the first group of the pool with GPUs; 0: its cores are not limited. */
uint32_t cs_pool_cores_per_gpu(const struct cs_host *host, uint32_t pool)
{
    assert(pool < host->spec->pool_count);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (group->pool == pool && group->gpus > 0)
            return group->cores == CLUSTER_CORES_UNLIMITED
                       ? 0 : group->cores / group->gpus;
    }
    return 0;
}

uint32_t cs_cores_now(const struct cs_host *host, struct job_id id)
{
    struct lease_id lease = cs_role_lease(host, id, 0);

    assert(lease.i == ID_NONE || host->leases->slot[lease.i].live);
    return lease.i == ID_NONE
               ? 0 : cores_per_gpu(&cs_lease(host, lease)->placement);
}

/* Does the job have several roles?  Then it has one size only. */
static bool is_whole(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    return host_form_of(host_job_slot(host, id.i))->role_count != 1;
}

/* ---- sizes -------------------------------------------------------------- */

/* A job of several roles has all of its GPUs or none. */
uint32_t cs_size_now(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    const struct host_job_slot *job = host_job_slot(host, id.i);

    if (job->lease[0] == ID_NONE)
        return 0;
    assert(host->leases->slot[job->lease[0]].pub.job.i == id.i);
    return host_form_of(job)->role_count != 1 ? cs_job_gpus(host, id)
                                              : host->leases->slot[job->lease[0]].pub.gpus;
}

/* Changes one job from size `now` to its new size, which is another one: stops
 * it, starts it, or resizes it.  A job that waits and finds no room is tried
 * with its next smaller size, down to the least. */
static void set_size(struct cs_host *host, const struct cs_size *size,
                     uint32_t now)
{
    struct cs_want want = { .gpus = size->gpus };
    struct task_id task = cs_job_task(host, size->job, CS_ALL_ROLES);

    assert(size->gpus != now);
    if (size->gpus == 0)
        cs_stop(host, size->job);
    else if (is_whole(host, size->job) && task.i != ID_NONE)
        cs_start(host, task);
    else if (now > 0)
        cs_resize(host, cs_role_lease(host, size->job, 0), size->gpus);
    else if (task.i != ID_NONE)
        while (want.gpus > 0 &&
               cs_start_want(host, task, &want) == CS_NO_ROOM)
            want.gpus = cs_size_below(host, size->job, want.gpus - 1);
}

/* Copies those of the list whose size is to change, and returns how many.  ID_NONE:
 * a job has several roles. */
static uint32_t list_changes(struct cs_host *host, const struct cs_size *size,
                             uint32_t count)
{
    struct host_deals *deals = host->deals;
    uint32_t changes = 0;

    assert(size != NULL || count == 0);
    for (uint32_t i = 0; i < count; i++) {
        if (host_form_of(host_job_slot(host, size[i].job.i))->role_count != 1)
            return ID_NONE;
        if (cs_size_now(host, size[i].job) == size[i].gpus)
            continue;
        if (changes == deals->resized_room)
            deals->resized = cs_grow(host, deals->resized, &deals->resized_room,
                                     changes, sizeof *deals->resized);
        deals->resized[changes++] = size[i];
    }
    return changes;
}

/* In four turns over the list: stops, then jobs that shrink, then starts, then
 * jobs that grow.  GPUs are thus freed before they are asked for.  The size of
 * each job is read again in every turn: a job stands in the list once, and no
 * change of one job changes another's size. */
void cs_set_sizes(struct cs_host *host, const struct cs_size *size,
                  uint32_t count)
{
    enum { STOP, SHRINK, START, GROW, TURNS };

    assert(!host_per_phase(host));
    uint32_t changes = list_changes(host, size, count);
    if (changes == ID_NONE) {
        cs_fail(host, "jobs that are resized must have one role");
        return;
    }
    const struct cs_size *change = host->deals->resized;
    for (int turn = STOP; turn < TURNS; turn++)
        for (uint32_t i = 0; i < changes; i++) {
            uint32_t now = cs_size_now(host, change[i].job), to = change[i].gpus;
            int due = now == 0 ? START : to == 0 ? STOP
                                       : to < now ? SHRINK : GROW;
            if (due == turn && to != now)
                set_size(host, &change[i], now);
        }
}

/* ---- prices -------------------------------------------------------------- */

/* The cheapest group counts; 0: the pool has no GPUs, or they cost nothing. */
double cs_pool_usd_per_h(const struct cs_host *host, uint32_t pool)
{
    double least = INFINITY;

    assert(pool < host->spec->pool_count);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (group->pool == pool && group->gpus > 0)
            least = fmin(least, cluster_node_usd_per_h(group, host_now(host)) /
                                group->gpus);
    }
    return isfinite(least) ? least : 0;
}
