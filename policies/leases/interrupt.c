/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interrupt.c - jobs that lose their leases: to a failure, or to a node that goes.
 *
 * Interruptions that no hardware causes are drawn for each job and count the time that
 * it runs: the k-th gap of a job has the same length under every policy.
 *
 * An interrupted job loses its progress since its last save and all state on
 * its nodes.  A suspended one keeps its progress.  Both wait again at their old place
 * in the order.
 */
#include "policies/leases/interrupt.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/leases/job.h"
#include "policies/leases/kept.h"
#include "policies/leases/phase.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/job_slot.h"
#include "policies/state/news.h"
#include "policies/state/read.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define JOB_STREAM 103          /* the first stream of rng_at(); the k-th gap has
                                   this + 1000 k */

/* Sets a job back to what it saved; returns the GPU-seconds that it held since then, or
 * since an interruption that came later: they were for nothing.  The cluster may have no
 * `failures`: then its rented nodes were taken away. */
static double roll_back_job(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const struct outage_spec *f = host->spec->failures;
    int64_t every = f != NULL ? f->checkpoint_ns : 0, kept = 0;
    double lost = job->pub.gpu_seconds - job->saved_gpu_s;

    assert(job->done_ns >= 0 && every >= 0);
    assert(job->pub.step >= job->saved_step);
    if (host_job_fixed(host, j)) {
        if (every > 0)
            kept = job->done_ns / every * every;
        job->pub.work_lost_s += clock_s_from_ns(job->done_ns - kept) *
                                job_role_amount(&job->pub.request, 0);
        job->done_ns = kept;
    } else {
        job->pub.work_lost_s += job->pub.work_done_s - job->pub.work_lost_s -
                                job->saved_work_s;
        job->pub.step = job->saved_step;
        job->pub.flops = job->saved_flops;
    }
    if (cs_serves(host, job->pub.request.id))
        lost = 0;               /* what it answered stays answered */
    job->kept = 0;              /* `lost` includes it */
    job->saved_gpu_s = job->pub.gpu_seconds;
    job->stopped_part = 0;
    job->phases_done = 0;
    job->saving = false;        /* its step is not over: the checkpoint does not count */
    return lost;
}

/* Takes the tasks of an interrupted job out of the queue, and forgets the state
 * that nodes keep of it and the weights that it owes. */
static void drop_tasks(struct cs_host *host, struct host_job_slot *job)
{
    assert(job->leases == 0);
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++) {
        if (job->role_task[r] != ID_NONE)
            host_task_drop(host, job->role_task[r]);
        job->role_task[r] = ID_NONE;
        job->home[r] = ID_NONE;
        host_kept_owe(host, job, r, r, 0);
    }
    if (job->task != ID_NONE)
        host_task_drop(host, job->task);
    job->task = ID_NONE;
}

/* Makes the tasks of a job without leases again: those of its ready phases, or
 * the one for all of it. */
static void requeue_job(struct cs_host *host, uint32_t j)
{
    assert(host_job_slot(host, j)->leases == 0);
    if (host_per_phase(host))
        host_job_advance(host, j);
    else
        host_task_job(host, j);
    host->hooks.wake(host);
}

void host_note_interruption(struct cs_host *host, uint32_t j)
{
    struct host_job *job = &host_job_slot(host, j)->pub;

    assert(job->end_ns == CLOCK_NEVER_NS);
    host->counts.interruptions++;
    job->interruptions++;
    assert(job->interruptions <= host->counts.interruptions);
}

/* What was left of an earlier restart is dropped: the new one is a whole one. */
void host_owe_restart(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(job->penalty_ns >= 0);
    job->penalty_ns = host->spec->failures != NULL ? host->spec->failures->restart_ns : 0;
    job->restart_until_ns = 0;
}

void host_tell_cut(struct cs_host *host, uint32_t j, double lost)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(isfinite(lost) && lost >= 0);
    job->saved_gpu_s += lost;   /* a failure that follows does not lose it again */
    host_tell(host, FACT_JOB_INTERRUPT, j, 0, lost);
}

void host_interrupt(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    host_note_interruption(host, j);
    host_job_drop(host, j);
    drop_tasks(host, job);
    double lost = roll_back_job(host, j);
    host_owe_restart(host, j);
    assert(isfinite(lost));
    host_tell(host, FACT_JOB_INTERRUPT, j, 1, lost);
    requeue_job(host, j);
}

/* Returns the GPU-seconds for nothing if all leases of a job end now. */
static double lost_by_stop(const struct cs_host *host, const struct host_job_slot *job)
{
    double lost = 0;

    assert(job->leases > 0);
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        if (job->lease[r] != ID_NONE)
            lost += host_vain_gpu_s(host, job->lease[r]);
    return lost;
}

/* What its leases held in vain is asked before they end. */
void host_suspend(struct cs_host *host, uint32_t j, bool restarts)
{
    struct host_job_slot *job = host_job_slot(host, j);
    double lost = lost_by_stop(host, job);

    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    host_note_interruption(host, j);
    host_job_drop(host, j);
    if (restarts)
        host_owe_restart(host, j);
    host_tell_cut(host, j, lost);
    requeue_job(host, j);
}

bool host_stands_on(const struct cs_lease *lease, uint32_t node)
{
    assert(lease->placement.share_count > 0);
    for (uint32_t s = 0; s < lease->placement.share_count; s++)
        if (lease->placement.share[s].node == node)
            return true;
    return false;
}

/* The event of a failure that is the job's own and no node's. */
static void interrupt_job(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_job_slot *job = host_job_slot(host, (uint32_t)arg);

    (void)loop;
    assert(job->leases > 0);
    job->gap_ns = -1;           /* its next gap is drawn at its next start */
    host_interrupt(host, (uint32_t)arg);
}

/* While the job runs, its gap counts down; when it stops, the rest of the gap
 * is kept for its next start.  Gaps are exponential (a Poisson process), of
 * mean job_mtbf; -1: none is drawn yet. */
void host_interrupt_ran(struct cs_host *host, uint32_t j, bool runs)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const struct outage_spec *f = host->spec->failures;

    if (f == NULL || f->job_mtbf_ns == 0)
        return;
    assert(f->job_mtbf_ns > 0);
    if (!runs) {
        if (loop_cancel(host->parts.loop, job->gap_event))
            job->gap_ns -= host_now(host) - job->gap_from_ns;
        assert(job->gap_ns >= -1);
        return;
    }
    if (job->gap_ns < 0) {
        double u = 1 - rng_at(host->parts.seed, job->pub.request.id.i,
                              host->parts.replica,
                              JOB_STREAM + (uint64_t)job->gaps++ * 1000);
        double s = -log(u) * clock_s_from_ns(f->job_mtbf_ns);
        job->gap_ns = s < 1e9 ? clock_ns_for_work(s, 1.0) : CLOCK_NEVER_NS;
    }
    job->gap_from_ns = host_now(host);
    if (job->gap_ns != CLOCK_NEVER_NS)
        job->gap_event =
            loop_at(host->parts.loop, clock_after(host_now(host), job->gap_ns),
                    LOOP_RANK_OUTAGE, interrupt_job, host, j);
}
