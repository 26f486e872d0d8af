/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.c - a job from step to step: which of its phases is ready and starts
 * or asks for GPUs, and its end.
 *
 * A step is one run through the graph of phases.  A phase is ready when those
 * before it are done in this step.  With leases for a phase it then asks for its
 * role (a task); with leases for a job's life it starts on the lease that its role
 * has.
 */
#include "policies/leases/job.h"

#include <assert.h>

#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/leases/time.h"
#include "policies/phases.h"
#include "policies/state/deals.h"
#include "policies/state/decision.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/news.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

/* Makes the task of a phase that is ready, at the end of the queue by the policy's
 * order.  If the role holds a lease, the task may continue on it (held). */
static void task_for(struct cs_host *host, uint32_t j, uint32_t p)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const struct phase_spec *phase = &host_form_of(job)->phase[p];
    uint32_t i = host_task_make(host);
    const struct host_form *form = &host->forms->form[job->form];

    assert(p < host_form_of(job)->phase_count && job->pub.end_ns == CLOCK_NEVER_NS);
    host->tasks->slot[i].pub = (struct cs_task) {
        .job = { j }, .role = phase->role, .phase = p,
        .gpus = job_role_gpus(&job->pub.request, phase->role),
        .held = { job->lease[phase->role] },
        .submit_ns = job->pub.request.submit_ns, .ready_ns = host_now(host),
        .estimate_ns = form->fixed ? host_left_ns(host, job, false)
                                   : (int64_t)(form->phase_s[p] * phase->every * 1e9),
        .priority = job->pub.request.priority,
        .started = job->pub.start_ns != CLOCK_NEVER_NS,
        .gpu_milli = job_role_milli(&job->pub.request, phase->role),
    };
    host->tasks->slot[i].form = job->form;
    job->role_task[phase->role] = i;
    host_order_insert(host, i);
    host_task_waits(host, i, +1);
}

/* The event at which a job has waited long enough that its GPUs may lie
 * anywhere: the policy is asked again. */
static void relax(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    host->hooks.wake(host);
}

/* Makes the task of a whole job, with all its roles.  Under consolidation with
 * a limit of waiting, the policy is woken when the limit is reached. */
void host_task_job(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const struct job_request *request = &job->pub.request;
    uint32_t i = host_task_make(host), gpus = 0;

    assert(job->task == ID_NONE && job->leases == 0);
    for (uint32_t r = 0; r < request->form->role_count; r++)
        gpus += job_role_gpus(request, r);
    host->tasks->slot[i].seq = job->seq;
    host->tasks->slot[i].form = job->form;
    host->tasks->slot[i].pub = (struct cs_task) {
        .job = { j }, .role = CS_ALL_ROLES, .gpus = gpus,
        .held = { ID_NONE }, .submit_ns = request->submit_ns,
        .ready_ns = host_now(host),
        .estimate_ns = host_left_ns(host, job, false),
        .priority = request->priority,
        .started = job->pub.start_ns != CLOCK_NEVER_NS,
        .gpu_milli = job_role_milli(request, 0),
    };
    job->task = i;
    host_left_change(host, job->pub.request.id.i);
    if (host->rules->relax_ns > 0 &&
        host->rules->placement == PLACE_CONSOLIDATE)
        loop_at(host->parts.loop,
                clock_after(host_now(host), host->rules->relax_ns),
                LOOP_RANK_DECIDE, relax, host, 0);
    host_order_insert(host, i);
    host_task_waits(host, i, +1);
}

/* Starts a phase that is ready on the idle lease of its role, or makes a task for
 * it.  Nothing happens while the lease loads or runs another phase, or if the role
 * waits already: the end of that calls again. */
static void try_phase(struct cs_host *host, uint32_t j, uint32_t p)
{
    struct host_job_slot *job = host_job_slot(host, j);
    uint32_t role = host_form_of(job)->phase[p].role;
    uint32_t lease = job->lease[role];

    assert(p < host_form_of(job)->phase_count);
    if (lease != ID_NONE && host->leases->slot[lease].pub.state != CS_LEASE_IDLE)
        return;
    if (!host_per_phase(host)) {
        if (lease != ID_NONE)
            host_phase_start(host, lease, p);
        return;
    }
    if (job->role_task[role] == ID_NONE) {
        task_for(host, j, p);
        host->hooks.wake(host);
    }
}

/* Starts or asks for all phases of the step that are ready.  Phases that are not
 * due in this step (every n-th) count as done.  True: the step is complete. */
static bool advance_step(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const struct job_form *form = host_form_of(job);
    uint32_t all = (1u << form->phase_count) - 1;

    assert(form->phase_count > 0 && form->phase_count <= FORM_PHASES_MAX);
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (!phase_due(&form->phase[p], job->pub.step,
                       job->pub.request.steps))
            job->phases_done |= 1u << p;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        uint32_t bit = 1u << p, after = form->phase[p].after_mask;
        if (!((job->phases_done | job->phases_running) & bit) &&
            (after & job->phases_done) == after)
            try_phase(host, j, p);
    }
    return job->phases_done == all;
}

/* The step in which a checkpoint was taken is over.  A job that is interrupted from
 * now on goes on from here: step, work and cost so far are noted. */
static void checkpointed(const struct cs_host *host,
                         struct host_job_slot *job)
{
    assert(job->saving && job->pub.step >= job->saved_step);
    job->saving = false;
    job->saved_step = job->pub.step;
    job->saved_work_s = job->pub.work_done_s - job->pub.work_lost_s;
    job->saved_gpu_s = host_attained_gpu_s(host, job);
    job->saved_flops = job->pub.flops;
}

/* Looks at four things: steps since the last save, a part that a stop kept,
 * phases of the role that are done in this step, and what a lease of the role
 * has done of a phase. */
bool host_job_unchanged(const struct cs_host *host, uint32_t j, uint32_t role)
{
    const struct host_job_slot *job = host_job_slot(host, j);
    const struct job_form *form = host_form_of(job);
    uint32_t i = job->lease[role];

    assert(job->pub.step >= job->saved_step);
    if (job->pub.step > job->saved_step ||
        (job->stopped_part > 0 && form->phase[job->stopped_phase].role == role))
        return false;
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].role == role && (job->phases_done >> p & 1) &&
            phase_due(&form->phase[p], job->pub.step, job->pub.request.steps))
            return false;
    if (i == ID_NONE)
        return true;
    const struct host_lease_slot *lease = &host->leases->slot[i];
    return !(lease->part > 0) &&
           !(lease->running && form->phase[lease->phase].law->kind == LAW_TRAIN &&
             host_phase_keeps(host, i));
}

/* Goes on to the next step as often as steps are complete: a step in which nothing
 * is due is over at once. */
void host_job_advance(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(!host_job_over(host, j));
    while (!host->decision->failed && advance_step(host, j)) {
        job->pub.step++;
        job->phases_done = 0;
        if (job->saving)
            checkpointed(host, job);
        if (job->pub.step >= job->pub.request.steps) {
            host_job_end(host, j, JOB_DONE);
            return;
        }
    }
}

/* The lease is idle now.  If it was wanted back (cs_take_back) it leaves, and the
 * policy is not told of it; the job goes on in both cases. */
void host_phase_over(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    uint32_t j = lease->pub.job.i;
    struct host_job_slot *job = host_job_slot(host, j);

    assert(lease->live && lease->owner == job);
    host_phase_done(host, i);
    job->phases_done |= 1u << lease->phase;
    if (lease->run.phase->kind == PHASE_CHECKPOINT)
        job->saving = true;
    if (loop_cancel(host->parts.loop, lease->recall))
        host_leave(host, i);    /* it was wanted back */
    else
        host_news_add(host, NEWS_IDLE, i);
    host_job_advance(host, j);
    host->hooks.wake(host);
}

/* Returns the lease on which a replica of a service runs; ID_NONE: none. */
static uint32_t serving(const struct cs_host *host,
                        const struct host_job_slot *job)
{
    uint32_t lease = job->lease[0];

    assert(host_form_of(job)->phase[0].law->kind == LAW_SERVE);
    return lease != ID_NONE && host->leases->slot[lease].running ? lease : ID_NONE;
}

/* recent: the fraction of busy time since the last call, which energy follows.
 * mean: since the phase began, which phases.csv shows. */
void host_serve_busy(struct cs_host *host, struct job_id id, double recent,
                     double mean)
{
    assert(recent >= 0 && mean >= 0);
    uint32_t lease = host_job_over(host, id.i)
        ? ID_NONE : serving(host, host_job_slot(host, id.i));

    if (lease == ID_NONE)
        return;
    host_lease_busy(host, lease, recent);
    host->leases->slot[lease].run.busy_fraction =
        host->leases->slot[lease].pub.gpus ? mean : 0;
}

void host_serve_end(struct cs_host *host, struct job_id id)
{
    if (host_job_over(host, id.i))
        return;
    struct host_job_slot *job = host_job_slot(host, id.i);
    uint32_t lease = serving(host, job);

    assert(job->pub.step == 0);
    if (lease != ID_NONE)
        host_phase_off(host, lease, true);
    job->pub.work_done_s += 1;          /* its one phase, however long */
    job->pub.step = 1;
    host_job_end(host, id.i, JOB_DONE);
}

/* Ends a lease and the phase on it, and returns its GPUs. */
static uint32_t drop_one(struct cs_host *host, uint32_t lease)
{
    assert(host->leases->slot[lease].live);
    uint32_t gpus = host->leases->slot[lease].pub.gpus;

    if (host->leases->slot[lease].running)
        host_phase_cut(host, lease);
    host_drop(host, lease);
    return gpus;
}

/* Ends all leases of a job, and returns their GPUs.  Leases that are saving their
 * state belong to no role any more, and are found among all that are held. */
uint32_t host_job_drop(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);
    uint32_t gpus = 0;

    for (uint32_t r = host_form_of(job)->role_count; r-- > 0;)
        if (job->lease[r] != ID_NONE)
            gpus += drop_one(host, job->lease[r]);
    /* State that is being saved belongs to no role any more. */
    if (job->leases == 0)
        return gpus;
    for (uint32_t k = host_held(host)->count; k-- > 0 && job->leases > 0;) {
        uint32_t lease = host_held(host)->item[k];
        if (host->leases->slot[lease].pub.job.i == j)
            gpus += drop_one(host, lease);
    }
    assert(job->leases == 0);
    return gpus;
}

/* The order matters: tasks go before leases.  A task that waits to continue on a lease
 * would ask for a new one when that lease ends. */
void host_job_end(struct cs_host *host, uint32_t j, enum job_status status)
{
    struct host_job_slot *job = host_job_slot(host, j);
    uint32_t roles = host_form_of(job)->role_count;

    for (uint32_t r = 0; r < roles; r++) {
        if (job->role_task[r] != ID_NONE)
            host_task_drop(host, job->role_task[r]);
        job->role_task[r] = ID_NONE;
    }
    if (job->task != ID_NONE)
        host_task_drop(host, job->task);
    job->task = ID_NONE;
    host_job_drop(host, j);
    host_left_end(host, job);
    job->pub.status = status;
    host->counts.ended[status]++;
    job->pub.end_ns = host_now(host);
    host->decision->jobs_left--;
    host_tell(host, FACT_JOB_END, j, status, 0);
    host_news_add(host, NEWS_ENDED, j);
    host->hooks.wake(host);
    assert(job->leases == 0 && job->task == ID_NONE);
}

/* A service is a job of one phase, whose law is LAW_SERVE. */
bool cs_serves(const struct cs_host *host, struct job_id id)
{
    const struct job_form *form = host_form_of(host_job_slot(host, id.i));

    assert(form->phase_count > 0);
    return form->phase[0].law->kind == LAW_SERVE;
}

/* A job keeps the part of one phase at most: that of a second role is left with
 * its lease, and lost. */
bool host_keep_steps(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    uint32_t phase = lease->phase;
    bool pauses = lease->running && !host->forms->form[job->form].fixed &&
                  host_form_of(job)->phase[phase].law->kind == LAW_TRAIN;

    if (pauses) {
        lease->part = host_phase_pause(host, i);
        lease->part_phase = phase;
    }
    assert(lease->part >= 0 && lease->part <= 1);
    if (lease->part > 0 && !(job->stopped_part > 0)) {
        job->stopped_part = lease->part;
        job->stopped_phase = lease->part_phase;
        lease->part = 0;
    }
    return pauses;
}
