/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news_jobs.c - jobs that came, with their forms, and jobs that ended.
 *
 * A form is what jobs of a kind have in common.  It is told once, with its first
 * job, and has the number of its place in exec->form.
 */
#include "experiments/exec/news_parts.h"

#include <assert.h>

#include "experiments/exec/guest.h"
#include "experiments/exec/line.h"
#include "models/jobs/job.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* What a role needs; only what differs from a plain role. */
static void write_role(struct line *out, const struct cs_host *host, struct job_id job,
                       uint32_t r)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];

    line_item(out);
    line_raw(out, "{");
    line_text_of(out, "name", role->name);
    line_int_of(out, "gpus", role->gpus);
    if (role->gpus_max != role->gpus || role->gpus_min != role->gpus) {
        line_int_of(out, "min", role->gpus_min);
        line_int_of(out, "max", role->gpus_max);
        line_int_of(out, "multiple", role->gpus_multiple);
    }
    if (role->cores > 0)
        line_int_of(out, "cores", role->cores);
    if (job_role_chooses(role))
        line_int_of(out, "on_cores", role->on_cores.cores);
    if (cs_role_homes(host, job, r) != 0)
        line_int_of(out, "home", cs_role_homes(host, job, r));
    line_raw(out, "}");
}

/* Returns the number of a form, or form_count if it was not told yet.  Forms are compared by
 * address.  O(forms told). */
static uint32_t find_form(const struct exec *exec, const struct job_form *form)
{
    uint32_t i = exec->form_count;

    while (i > 0 && exec->form[i - 1] != form)      /* late ones are asked for most */
        i--;
    return i == 0 ? exec->form_count : i - 1;
}

/* What jobs of a form have in common is told once, with their first job. */
static void write_form(struct exec *exec, const struct cs_host *host, struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    struct line *out = &exec->out;

    assert(find_form(exec, form) == exec->form_count);
    line_item(out);
    line_raw(out, "{");
    line_int_of(out, "form", exec->form_count);
    line_text_of(out, "name", form->name != NULL ? form->name : "");
    line_text_of(out, "recipe", form->recipe != NULL ? form->recipe : "");
    line_key(out, "roles");
    line_raw(out, "[");
    for (uint32_t r = 0; r < form->role_count; r++)
        write_role(out, host, job, r);
    line_raw(out, "]");
    line_key(out, "phases");
    line_raw(out, "[");
    for (uint32_t p = 0; p < form->phase_count; p++) {
        line_item(out);
        line_raw(out, "{");
        line_text_of(out, "name", form->phase[p].name != NULL ? form->phase[p].name : "");
        line_text_of(out, "kind", phase_kind_name(form->phase[p].kind));
        line_int_of(out, "role", form->phase[p].role);
        line_int_of(out, "after", form->phase[p].after_mask);
        line_raw(out, "}");
    }
    line_raw(out, "]}");
}

/* Tells the forms that the submitted jobs need and the program has not. */
static void write_forms(struct exec *exec, const struct cs_host *host)
{
    bool open = false;

    for (uint32_t i = 0; i < exec->submitted.count; i++) {
        struct job_id job = { exec->submitted.item[i] };
        const struct job_form *form = cs_request(host, job)->form;

        if (find_form(exec, form) < exec->form_count)
            continue;
        if (!open) {
            line_key(&exec->out, "forms");
            line_raw(&exec->out, "[");
        }
        open = true;
        write_form(exec, host, job);
        ARENA_ADD(NULL, exec->form, exec->form_count, exec->form_room, form);
    }
    if (open)
        line_raw(&exec->out, "]");
}

/* What is a job's own.  Keys with their usual value are left out; it is submitted now, unless
 * said. */
static void write_job(struct exec *exec, const struct cs_host *host, uint32_t i)
{
    struct job_id job = { i };
    const struct job_request *request = cs_request(host, job);
    struct line *out = &exec->out;

    assert(find_form(exec, request->form) < exec->form_count);
    line_item(out);
    line_raw(out, "{");
    line_int_of(out, "job", i);
    line_int_of(out, "form", find_form(exec, request->form));
    if (request->submit_ns != cs_now_ns(host))
        line_int_of(out, "submit_ns", request->submit_ns);
    if (request->gpus > 0 && request->gpus != request->form->role[0].gpus)
        line_int_of(out, "gpus", request->gpus);
    if (request->name != NULL)
        line_text_of(out, "name", request->name);
    if (request->tenant != NULL)
        line_text_of(out, "tenant", request->tenant);
    if (request->limit_ns > 0)
        line_int_of(out, "limit_ns", request->limit_ns);
    if (request->deadline_ns != CLOCK_NEVER_NS)
        line_int_of(out, "deadline_ns", request->deadline_ns);
    if (request->priority != 0)
        line_int_of(out, "priority", request->priority);
    if (request->steps != 1)
        line_int_of(out, "steps", request->steps);
    line_raw(out, "}");
}

void news_put_jobs(struct exec *exec, const struct cs_host *host)
{
    write_forms(exec, host);
    line_key(&exec->out, "jobs");
    line_raw(&exec->out, "[");
    for (uint32_t i = 0; i < exec->submitted.count; i++)
        write_job(exec, host, exec->submitted.item[i]);
    line_raw(&exec->out, "]");
    exec->submitted.count = 0;
}

/* Writes the jobs that have ended.  The program drops all their tasks, so that they are
 * counted out of what it knows to wait. */
void news_put_ended(struct exec *exec)
{
    line_key(&exec->out, "ended");
    line_raw(&exec->out, "[");
    for (uint32_t i = 0; i < exec->ended.count; i++) {
        uint32_t job = exec->ended.item[i];

        line_item(&exec->out);
        line_int(&exec->out, job);
        for (uint32_t bits = exec->job[job] & ~EXEC_LIVES; bits != 0; bits &= bits - 1)
            exec->waits--;
        exec->job[job] = 0;
    }
    line_raw(&exec->out, "]");
    exec->ended.count = 0;
}
