/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notice.c - the state on a rented node that goes: saved to the shared storage, or lost.
 *
 * What is lost, on GPUs or parked in memory, sets its job back to what it saved.  A role
 * that saves nothing (generation) loses its lease and the running phase; its job
 * continues.
 *
 * With leases for a phase, saving is a flow, and the other roles of the job go on.  With
 * leases for a job's life all of it stops: its leases are held, and paid for, until the
 * state has been copied over free links.
 */
#include "policies/nodes/notice.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/leases/cost.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/job.h"
#include "policies/leases/kept.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/state/jobs.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/read.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

/* Returns a lease by its number. */
static const struct cs_lease *lease_of(const struct cs_host *host, uint32_t i)
{
    struct lease_id lease = { i };

    return cs_lease(host, lease);
}

/* ---- lost --------------------------------------------------------------- */

/* Cuts the phase on a lease, if one runs.  saves: training keeps whole steps; else a
 * rollout keeps the responses that are done.  Returns the GPU-seconds that were for
 * nothing: of what the phase has held, the share of its work that is lost; all that a lease
 * has held which loads.  For example, a phase that held 100 GPU-seconds and loses a quarter of
 * its work was in vain for 25. */
static double cut_phase(struct cs_host *host, uint32_t i, bool saves)
{
    const struct host_job *job = host_job_known(host, lease_of(host, i)->job.i);
    double done_s = job->work_done_s, lost_s = job->work_lost_s;
    double gpu_s = host_vain_gpu_s(host, i);

    if (!saves && host_lease_runs(host, i))
        host_phase_cut_keep(host, i);
    else if (saves && !host_keep_steps(host, i) && host_lease_runs(host, i))
        host_phase_cut(host, i);
    done_s = job->work_done_s - done_s;
    lost_s = job->work_lost_s - lost_s;
    assert(done_s >= 0);        /* lost_s may be below 0 by rounding */
    return done_s > 0 ? gpu_s * fmax(0, fmin(1, lost_s / done_s)) : gpu_s;
}

/* Drops a lease; its job continues and asks for the phase again. */
static void lose_lease(struct cs_host *host, uint32_t i)
{
    uint32_t j = lease_of(host, i)->job.i;

    assert(host_per_phase(host));
    host_note_interruption(host, j);
    double lost = cut_phase(host, i, false);
    host_drop(host, i);
    host_tell_cut(host, j, lost);
    host_job_advance(host, j);
}

/* Lease i stands on a node that goes.  Its job is interrupted if it had state
 * on it that is not saved, or is stopped; else it loses the lease alone.  `saved`: what is
 * there is on the storage too.  A job without anything to save is stopped, and waits again. */
static void lose_state(struct cs_host *host, uint32_t i, bool saved)
{
    const struct cs_lease *lease = lease_of(host, i);
    const struct job_form *form = cs_request(host, lease->job)->form;
    bool fixed = host_job_fixed(host, lease->job.i);
    uint32_t j = lease->job.i;

    assert(lease->role < form->role_count);
    if ((form->role[lease->role].save_bytes > 0 || fixed) && !saved)
        host_interrupt(host, j);
    else if (host_per_phase(host) && !fixed)
        lose_lease(host, i);
    else
        host_suspend(host, j, false);
}

/* Losing one lease may end others of the same job, so the walk begins again. */
void host_notice_lose_leases(struct cs_host *host, uint32_t n)
{
    assert(n < host->spec->node_count);
    for (uint32_t k = 0; k < cs_lease_count(host);) {
        uint32_t i = cs_lease_at(host, k).i;
        if (host_stands_on(lease_of(host, i), n)) {
            lose_state(host, i, false);
            k = 0;              /* the job's other leases are gone too */
        } else {
            k++;
        }
    }
}

/* ---- parked ------------------------------------------------------------- */

/* Goes over all jobs, O(jobs): asked only when a node is to go. */
bool host_notice_keeps(const struct cs_host *host, uint32_t n)
{
    assert(n < host->spec->node_count);
    for (EACH_JOB(j, host))
        if (host_parked_on(host, j, n))
            return true;
    return false;
}

/* Could the state that a job has parked on a node be copied within that time, over free
 * links?  If so, the copy is paid for.  Roles are copied one after the other.  False as well
 * if nothing may be saved (within_ns below 0). */
static bool store_parked(struct cs_host *host, uint32_t j, uint32_t n, int64_t within_ns)
{
    const struct host_job_slot *job = host_job_at(host, j);
    struct job_id id = { j };
    const struct job_form *form = cs_request(host, id)->form;
    double s = 0, usd = 0;
    struct share one;

    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];
        if (cs_role_lease(host, id, r).i != ID_NONE || !host_kept_on(job, r, n) ||
            !(role->save_bytes > 0) || host_job_unchanged(host, j, r))
            continue;
        struct placement at = host_kept_from(job, r, &one);
        s += host_store_s(host->spec, role, &at);
        usd += host_transfer_usd(host->spec, &at, role->save_bytes);
    }
    assert(s >= 0 && usd >= 0);
    if (within_ns < 0 || s > clock_s_from_ns(within_ns))
        return false;
    host_job_pay_transfer(host, j, usd);
    return true;
}

void host_notice_lose_parked(struct cs_host *host, uint32_t n, int64_t within_ns)
{
    assert(n < host->spec->node_count);
    for (EACH_JOB(j, host)) {
        if (host_parked_on(host, j, n) &&
            !store_parked(host, j, n, within_ns))
            host_interrupt(host, j);
        host_forget_parked(host, j, n);
    }
}

/* ---- saved -------------------------------------------------------------- */

/* Must state of a lease be copied, as its node goes?  A lease that loads has no state of its
 * own yet; what was saved and has not changed since need not be copied again. */
static bool is_stored(const struct cs_host *host, uint32_t i)
{
    const struct cs_lease *lease = lease_of(host, i);
    const struct job_form *form = cs_request(host, lease->job)->form;

    return lease->state != CS_LEASE_LOADING && form->role[lease->role].save_bytes > 0 &&
           host_on_leaving_node(host->nodes, &lease->placement) &&
           !host_job_unchanged(host, lease->job.i, lease->role);
}

/* Returns how long the state of a job with leases for its life takes to the shared
 * storage, over free links; 0: nothing need be copied. */
static double store_s(const struct cs_host *host, uint32_t j)
{
    struct job_id id = { j };
    const struct job_form *form = cs_request(host, id)->form;
    double s = 0;

    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t i = cs_role_lease(host, id, r).i;
        if (i != ID_NONE && is_stored(host, i))
            s += host_store_s(host->spec, &form->role[r], &lease_of(host, i)->placement);
    }
    assert(s >= 0);
    return s;
}

/* The state of a job is copied: its leases end. */
static void stored(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    assert(host_lease_leaves(host, (uint32_t)arg));
    host_suspend(host, lease_of(host, (uint32_t)arg)->job.i, true);
}

/* A job with leases for its life stops.  Whole steps are kept, and its leases are held
 * for s seconds, in which state is copied; the copy is paid for. */
static void store_job(struct cs_host *host, uint32_t j, double s)
{
    struct job_id id = { j };
    const struct job_form *form = cs_request(host, id)->form;

    assert(s > 0 && !host_per_phase(host));
    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t i = cs_role_lease(host, id, r).i;
        if (i == ID_NONE)
            continue;
        if (is_stored(host, i))
            host_job_pay_transfer(host, j,
                                  host_transfer_usd(host->spec, &lease_of(host, i)->placement,
                                                    form->role[r].save_bytes));
        host_note_vain(host, i, cut_phase(host, i, true));
        host_lease_hold(host, i, s, stored);
    }
}

/* A job with leases for its life, and with state on node n, which is under notice, stops
 * and saves it, unless the notice is too short.  One of known length saves at once. */
static void save_life(struct cs_host *host, uint32_t j, uint32_t n)
{
    int64_t notice_ns = cluster_group_of(host->spec, n)->rent->notice_ns;
    double s = host_job_fixed(host, j) ? 0 : store_s(host, j);

    assert(s >= 0);
    if (s > clock_s_from_ns(notice_ns))
        return;
    if (s > 0)
        store_job(host, j, s);
    else
        host_suspend(host, j, true);
}

/* The node of lease i is under notice: a job with state there stops and saves
 * it.  A role that saves nothing runs until the notice ends, and so does a job whose
 * state would not be saved by then.  With leases for a phase, a lease that loads is lost at
 * once: what it loads is on the storage.  A running phase is cut, and the lease stays while
 * its state is copied. */
static void save_lease(struct cs_host *host, uint32_t i, uint32_t n)
{
    const struct cs_lease *lease = lease_of(host, i);
    const struct job_form *form = cs_request(host, lease->job)->form;
    uint32_t j = lease->job.i;

    assert(lease->role < form->role_count);
    if (host_lease_leaves(host, i))
        return;
    if (host_job_fixed(host, j) ||
        (!host_per_phase(host) && form->role[lease->role].save_bytes > 0)) {
        save_life(host, j, n);
        return;
    }
    if (host_per_phase(host) && lease->state == CS_LEASE_LOADING) {
        lose_state(host, i, true);
        return;
    }
    if (!(form->role[lease->role].save_bytes > 0))
        return;
    host_note_interruption(host, j);
    host_owe_restart(host, j);
    double lost = cut_phase(host, i, true);
    if (host_job_unchanged(host, j, lease->role))
        host_drop(host, i);
    else
        host_leave(host, i);
    host_tell_cut(host, j, lost);
    host_job_advance(host, j);
}

/* Saving a lease may end it and others, so the walk begins again after every change;
 * leases that need nothing are stepped over. */
void host_notice_save(struct cs_host *host, uint32_t n)
{
    uint32_t done = 0;          /* the leases before it need nothing more */

    assert(host->nodes->leaving[n]);
    while (done < cs_lease_count(host)) {
        uint32_t i = cs_lease_at(host, done).i, count = cs_lease_count(host);
        if (host_stands_on(lease_of(host, i), n))
            save_lease(host, i, n);
        if (cs_lease_count(host) == count && cs_lease_at(host, done).i == i)
            done++;
        else
            done = 0;
    }
}
