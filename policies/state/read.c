/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - questions about jobs and leases.
 *
 * Functions cs_... are for policies; their contracts are in policy.h.  Functions host_... are for
 * parts of the host that must not change what they read, and for the audit and the metrics.  A
 * question about a job that was forgotten is a fault of the caller: cs_job_known() tells.
 */
#include "policies/state/read.h"

#include <assert.h>

#include "models/jobs/job.h"
#include "policies/known.h"
#include "policies/phases.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/jobs.h"
#include "policies/state/lease_slot.h"
#include "policies/state/state.h"

uint32_t host_jobs_submitted(const struct cs_host *host)
{
    assert(host->jobs->count <= host->jobs->page_capacity * HOST_JOB_PAGE);
    return host->jobs->count;
}

bool host_job_ended(const struct cs_host *host, uint32_t job)
{
    assert(job < host->jobs->count);
    return host_job_over(host, job);
}

/* A page whose jobs are all forgotten is passed over in one step. */
uint32_t host_next_job(const struct cs_host *host, uint32_t from)
{
    uint32_t first = host->jobs->pages_gone * HOST_JOB_PAGE, j = from < first ? first : from;

    while (j < host->jobs->count && host_job_over(host, j))
        j = host_job_page_gone(host, j) ? (j / HOST_JOB_PAGE + 1) * HOST_JOB_PAGE : j + 1;
    assert(j >= from);
    return j < host->jobs->count ? j : ID_NONE;
}

uint32_t cs_job_count(const struct cs_host *host)
{
    return host_jobs_submitted(host);
}

/* A job is forgotten after the policy has decided on its end; its slot then
 * serves another. */
bool cs_job_known(const struct cs_host *host, struct job_id job)
{
    assert(host->jobs->pages_gone * HOST_JOB_PAGE <= host->jobs->count);
    return job.i < host->jobs->count && !host_job_page_gone(host, job.i) &&
           host->jobs->page[job.i / HOST_JOB_PAGE]->slot[job.i % HOST_JOB_PAGE] != NULL;
}

bool cs_lease_held(const struct cs_host *host, struct lease_id lease)
{
    assert(host->leases->count <= host->leases->capacity);
    return lease.i < host->leases->count && host->leases->slot[lease.i].live;
}

/* Slots that were ever used: lease numbers are below it. */
uint32_t cs_lease_room(const struct cs_host *host)
{
    assert(host->leases->count <= host->leases->capacity);
    return host->leases->count;
}

const struct job_request *cs_request(const struct cs_host *host,
                                     struct job_id job)
{
    assert(job.i < host->jobs->count);
    return &host_job_slot(host, job.i)->pub.request;
}

struct task_id cs_job_task(const struct cs_host *host, struct job_id id,
                           uint32_t role)
{
    assert(id.i < host->jobs->count);
    const struct host_job_slot *job = host_job_slot(host, id.i);
    struct task_id task = { role == CS_ALL_ROLES ? job->task
                                               : job->role_task[role] };
    return task;
}

struct lease_id cs_role_lease(const struct cs_host *host, struct job_id job,
                              uint32_t role)
{
    assert(job.i < host->jobs->count && role < FORM_ROLES_MAX);
    struct lease_id lease = { host_job_slot(host, job.i)->lease[role] };
    return lease;
}

const struct cs_lease *cs_lease(const struct cs_host *host,
                                struct lease_id lease)
{
    assert(lease.i < host->leases->count);
    return &host->leases->slot[lease.i].pub;
}

uint32_t cs_lease_pools(const struct cs_host *host, struct lease_id lease)
{
    assert(lease.i < host->leases->count);
    assert(host->leases->slot[lease.i].pool_mask != 0);
    return host->leases->slot[lease.i].pool_mask;
}

uint32_t cs_slot(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    assert(host_job_slot(host, id.i)->seat < host->jobs->seat_count);
    return host_job_slot(host, id.i)->seat;
}

uint32_t cs_job_gpus(const struct cs_host *host, struct job_id id)
{
    const struct job_request *request = cs_request(host, id);
    uint32_t gpus = 0;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        gpus += job_role_gpus(request, r);
    assert(request->form->role_count <= FORM_ROLES_MAX);
    return gpus;
}

double cs_phase_s(const struct cs_host *host, struct job_id id, uint32_t phase)
{
    const struct host_job_slot *job = host_job_slot(host, id.i);

    assert(phase < host_form_of(job)->phase_count);
    assert(host->forms->form[job->form].phase_s[phase] >= 0);
    return host->forms->form[job->form].phase_s[phase];
}

/* For parts of the host that only read a slot. */
const struct host_job_slot *host_job_at(const struct cs_host *host,
                                        uint32_t job)
{
    return host_job_slot(host, job);
}

const struct host_job *host_job_known(const struct cs_host *host,
                                      uint32_t job)
{
    assert(job < host->jobs->count);
    return &host_job_slot(host, job)->pub;
}

const struct host_form *host_job_form(const struct cs_host *host,
                                      uint32_t job)
{
    uint32_t form = host_job_slot(host, job)->form;

    assert(form < host->forms->count);
    return &host->forms->form[form];
}

/* A part of a step that was stopped counts as begun. */
bool host_job_is_new(const struct cs_host *host, uint32_t job)
{
    const struct host_job_slot *slot = host_job_slot(host, job);

    assert(slot->stopped_part >= 0);
    return slot->pub.step == 0 && !(slot->stopped_part > 0);
}

/* The room for what is kept by role is made when something is kept first: most jobs have none. */
double host_role_owed(const struct cs_host *host, uint32_t job, uint32_t role)
{
    const struct host_job_slot *slot = host_job_slot(host, job);

    assert(role < host_form_of(slot)->role_count);
    assert(slot->kept_more == NULL || slot->kept_more[role].owed_bytes >= 0);
    return slot->kept_more != NULL ? slot->kept_more[role].owed_bytes : 0;
}

/* The first of the nodes that keep the state of the role; ID_NONE: no node does. */
uint32_t host_role_home(const struct cs_host *host, uint32_t job,
                        uint32_t role)
{
    const struct host_job_slot *slot = host_job_slot(host, job);

    assert(role < host_form_of(slot)->role_count);
    return slot->home[role];
}

/* As `pool` of the role says; 0: any. */
uint32_t host_role_pools(const struct cs_host *host, uint32_t job, uint32_t role)
{
    const struct host_form *form = host_job_form(host, job);

    assert(role < form->form->role_count);
    return form->pool_mask[role];
}

uint32_t host_role_rented(const struct cs_host *host, uint32_t job, uint32_t role)
{
    const struct host_form *form = host_job_form(host, job);

    assert(role < form->form->role_count);
    return form->rent_mask[role];
}

uint32_t host_job_leases(const struct cs_host *host, uint32_t job)
{
    assert(host_job_slot(host, job)->leases <= host->leases->count);
    return host_job_slot(host, job)->leases;
}

/* Fixed: one phase whose length is known, and does not follow from a law. */
bool host_job_fixed(const struct cs_host *host, uint32_t job)
{
    return host_job_form(host, job)->fixed;
}

bool host_lease_runs(const struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count && host->leases->slot[lease].live);
    return host->leases->slot[lease].running;
}

bool host_lease_leaves(const struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count && host->leases->slot[lease].live);
    return host->leases->slot[lease].leaving;
}
