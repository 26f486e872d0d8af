/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carry.c - checks what a request names, then calls the host.
 *
 * The host trusts a policy to name jobs, roles and pools that are there, and
 * asserts it; a program is not trusted, so all is checked here first.  A
 * request that makes no sense ends the trial; one that is only refused (no
 * room, a job that has ended meanwhile) gets a verdict, which the program hears
 * with the next message.
 *
 * Verbs from EXEC_earliest on are questions: their "verdict" is the answer.
 */
#include "experiments/exec/carry.h"

#include <assert.h>
#include <stdio.h>

#include "experiments/exec/answer.h"
#include "experiments/exec/guest.h"
#include "experiments/exec/line.h"
#include "experiments/exec/news.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "policies/policy.h"

/* Flags that a program must have declared for a verb; whether its number is a job. */
static const uint32_t needs[] = {
#define VERB(NAME, OF, NEEDS, TAKES) NEEDS,
#include "experiments/exec/verbs.def"
#undef VERB
};
/* What the number of a verb is: that of a job, or anything else (a time, GPUs). */
enum { OF_JOB, OF_NUMBER };
static const int of[] = {
#define VERB(NAME, OF, NEEDS, TAKES) OF_##OF,
#include "experiments/exec/verbs.def"
#undef VERB
};

/* ---- what is named is there ---- */

/* Does the mask name pools that there are?  A mask of 0 is all pools. */
static bool pools_exist(const struct cs_host *host, uint32_t mask)
{
    uint32_t count = cs_pool_count(host);

    return count >= 32 || mask >> count == 0;
}

/* Are all wanted pools there?  Other keys of a want are judged by the host. */
static bool wants_make_sense(const struct cs_host *host, const struct exec_request *q,
                             char *why, size_t why_bytes)
{
    uint32_t count = q->role_wants > 0 ? q->role_wants : q->wants;

    for (uint32_t i = 0; i < count; i++)
        if (!pools_exist(host, q->want[i].pool_mask)) {
            snprintf(why, why_bytes, "wants pools %u, a mask of more than the %u that "
                     "there are", q->want[i].pool_mask, cs_pool_count(host));
            return false;
        }
    return true;
}

/* Is it a job that is known, with that role?  One that has ended is no fault: it
 * may have ended since the program last heard. */
static bool makes_sense(const struct exec *exec, const struct cs_host *host,
                        const struct exec_request *q, char *why, size_t why_bytes)
{
    struct job_id job = { (uint32_t)q->number };
    const char *verb = answer_verb(q->verb);

    if (of[q->verb] != OF_JOB)
        return wants_make_sense(host, q, why, why_bytes);
    if (q->number >= exec->job_count) {
        snprintf(why, why_bytes, "names job %lld in `%s`, and it was told of no such job",
                 (long long)q->number, verb);
        return false;
    }
    if (!news_job_lives(exec, q->number))
        return true;
    if (q->role != CS_ALL_ROLES && q->role >= cs_request(host, job)->form->role_count) {
        snprintf(why, why_bytes, "names role %u of job %u in `%s`, and the job has %u",
                 q->role, job.i, verb, cs_request(host, job)->form->role_count);
        return false;
    }
    if (q->verb == EXEC_start && q->role != CS_ALL_ROLES &&
        (exec->guest->table.flags & CS_PER_PHASE) == 0 &&
        cs_request(host, job)->form->role_count > 1) {
        snprintf(why, why_bytes, "asks to start role %u of job %u alone, which needs the flag "
                 "per_phase", q->role, job.i);
        return false;
    }
    return wants_make_sense(host, q, why, why_bytes);
}

/* ---- requests ---- */

/* Returns the task that a request names; per phase it must name a role.  ID_NONE: it does not
 * wait, or no role is named. */
static struct task_id find_task(const struct exec *exec, const struct cs_host *host,
                                const struct exec_request *q)
{
    struct job_id job = { (uint32_t)q->number };
    bool phases = (exec->guest->table.flags & CS_PER_PHASE) != 0;

    if (phases && q->role == CS_ALL_ROLES)
        return (struct task_id){ ID_NONE };
    return cs_job_task(host, job, phases ? q->role : CS_ALL_ROLES);
}

/* Returns the lease of the role, or none. */
static struct lease_id find_lease(const struct cs_host *host, const struct exec_request *q)
{
    struct job_id job = { (uint32_t)q->number };

    return q->role == CS_ALL_ROLES ? (struct lease_id){ ID_NONE }
                                   : cs_role_lease(host, job, q->role);
}

/* What was started waits no more, as the program knows by the verdict. */
static enum cs_verdict start_task(struct exec *exec, struct cs_host *host,
                                  const struct exec_request *q)
{
    struct task_id task = find_task(exec, host, q);
    struct exec_task known = { (uint32_t)q->number, CS_ALL_ROLES };
    enum cs_verdict verdict = CS_NOT_PENDING;

    if (task.i == ID_NONE)
        return verdict;
    known.role = cs_task(host, task)->role;
    if (q->verb == EXEC_continue)
        verdict = cs_continue(host, task);
    else if (q->verb == EXEC_settle)
        verdict = cs_settle(host, task);
    else if (q->role_wants > 0)
        verdict = cs_start_wants(host, task, q->want, q->role_wants);
    else if (q->wants)
        verdict = cs_start_want(host, task, &q->want[0]);
    else
        verdict = cs_start(host, task);
    if (verdict == CS_DONE)
        news_forget(exec, known);
    return verdict;
}

/* A lease before a phase is ready is for one role, so the request must name it. */
static enum cs_verdict prepare_role(struct cs_host *host, const struct exec_request *q)
{
    struct job_id job = { (uint32_t)q->number };
    struct cs_want want = q->want[0];

    want.role = q->role;
    return q->role == CS_ALL_ROLES ? CS_BAD_SHAPE : cs_prepare(host, job, &want);
}

/* Only the candidate that was told last can be said to be tried, and once. */
static enum cs_verdict tell_tried(struct exec *exec, struct cs_host *host,
                                  const struct exec_request *q)
{
    struct task_id task = find_task(exec, host, q);

    if (task.i == ID_NONE || exec->candidate.i != task.i)
        return CS_NOT_PENDING;
    exec->candidate.i = ID_NONE;
    cs_tried(host, task, (enum cs_alike)q->alike);
    return CS_DONE;
}

/* Releases the lease of a role, or takes it back after the delay.  CS_NOT_PENDING: the
 * role has no lease, or no role is named. */
static enum cs_verdict act_on_lease(struct cs_host *host, const struct exec_request *q)
{
    struct lease_id lease = find_lease(host, q);

    if (lease.i == ID_NONE)
        return CS_NOT_PENDING;
    return q->verb == EXEC_release ? cs_release(host, lease)
                                   : cs_take_back(host, lease, q->delay_ns);
}

/* Carries out a request whose names were checked, whose flag is declared, and whose job
 * lives. */
static enum cs_verdict carry_request(struct exec *exec, struct cs_host *host,
                                     const struct exec_request *q)
{
    struct job_id job = { (uint32_t)q->number };

    switch (q->verb) {
    case EXEC_start:
    case EXEC_continue:
    case EXEC_settle:
        return start_task(exec, host, q);
    case EXEC_stop:
        return cs_stop(host, job);
    case EXEC_prepare:
        return prepare_role(host, q);
    case EXEC_anew:
        cs_try_anew(host);
        return CS_DONE;
    case EXEC_tried:
        return tell_tried(exec, host, q);
    case EXEC_wake_at:
        cs_wake_at(host, q->number);
        return CS_DONE;
    case EXEC_wake_when_idle:
        cs_wake_when_idle(host, q->number);
        return CS_DONE;
    default:
        return act_on_lease(host, q);
    }
}

/* ---- questions ---- */

/* Writes the forecast of a start, or a verdict as text if there is none. */
static void tell_forecast(const struct exec *exec, struct cs_host *host,
                          const struct exec_request *q, struct line *out)
{
    struct task_id task = find_task(exec, host, q);
    struct cs_forecast f;
    bool found = task.i != ID_NONE &&
                 (q->verb == EXEC_forecast_held
                      ? cs_forecast_held(host, task, &f)
                      : cs_forecast(host, task, &q->want[0], &f));

    if (!found) {
        line_text(out, host_verdict_name(task.i == ID_NONE ? CS_NOT_PENDING : CS_NO_ROOM));
        return;
    }
    line_raw(out, "{");
    line_real_of(out, "run_s", f.run_s);
    line_real_of(out, "switch_s", f.switch_s);
    line_real_of(out, "evict_s", f.evict_s);
    line_real_of(out, "usd", f.usd);
    line_int_of(out, "gpus", f.gpus);
    line_raw(out, "}");
}

/* Writes the places at which the task could start. */
static void tell_sites(struct cs_host *host, struct task_id task, struct line *out)
{
    line_raw(out, ",\"sites\":[");
    for (uint32_t i = 0; i < cs_site_count(host, task); i++) {
        struct cs_want want = { 0 };

        if (!cs_site(host, task, i, 0, &want))
            continue;
        line_item(out);
        line_raw(out, "{");
        line_int_of(out, "pools", want.pool_mask);
        line_int_of(out, "gpu_type", want.gpu_type);
        line_raw(out, "}");
    }
    line_raw(out, "]");
}

/* What a policy per phase may know of a role; with its sites and most GPUs if it
 * waits. */
static void tell_about(const struct exec *exec, struct cs_host *host,
                       const struct exec_request *q, struct line *out)
{
    struct job_id job = { (uint32_t)q->number };
    struct task_id task = find_task(exec, host, q);

    if (q->role == CS_ALL_ROLES) {
        line_text(out, host_verdict_name(CS_BAD_SHAPE));
        return;
    }
    line_raw(out, "{");
    line_int_of(out, "home", cs_role_homes(host, job, q->role));
    line_real_of(out, "switch_s", cs_switch_s(host, job, q->role));
    line_real_of(out, "switch_loss", cs_switch_loss(host, job));
    line_key(out, "settled");
    line_raw(out, cs_settled(host, job) ? "true" : "false");
    if (task.i != ID_NONE) {
        line_int_of(out, "most_gpus", cs_most_gpus(host, task));
        tell_sites(host, task, out);
    }
    line_raw(out, "}");
}

/* Tells the next candidate among the tasks of phases, or null. */
static void tell_next(struct exec *exec, struct cs_host *host, struct line *out)
{
    struct task_id task = cs_next_candidate(host);

    exec->candidate = task;
    if (task.i == ID_NONE) {
        line_raw(out, "null");
        return;
    }
    line_raw(out, "{");
    line_int_of(out, "job", cs_task(host, task)->job.i);
    line_int_of(out, "role", cs_task(host, task)->role);
    line_raw(out, "}");
}

/* Writes when that many GPUs are free, and what is then left over.  As cs_earliest_ns() has
 * it: over all nodes. */
static void tell_earliest(struct cs_host *host, uint32_t gpus, struct line *out)
{
    uint32_t spare = 0;
    int64_t at_ns = cs_earliest_ns(host, gpus, &spare);

    line_raw(out, "{");
    line_int_of(out, "at_ns", at_ns);
    line_int_of(out, "spare", spare);
    line_raw(out, "}");
}

/* Writes the answer as a value of JSON.  Of the trial nothing changes; exec->candidate
 * is the answer to `next`. */
static void answer_question(struct exec *exec, struct cs_host *host,
                            const struct exec_request *q, struct line *out)
{
    struct job_id job = { (uint32_t)q->number };
    uint32_t gpus = q->number > UINT32_MAX ? UINT32_MAX : (uint32_t)q->number;

    switch (q->verb) {
    case EXEC_earliest:
        tell_earliest(host, gpus, out);
        return;
    case EXEC_room_in:
        line_real(out, cs_room_in_s(host, q->want[0].pool_mask, gpus));
        return;
    case EXEC_left:
        line_int(out, cs_left_ns(host, job));
        return;
    case EXEC_attained:
        line_real(out, cs_attained_gpu_s(host, job));
        return;
    case EXEC_about:
        tell_about(exec, host, q, out);
        return;
    case EXEC_next:
        tell_next(exec, host, out);
        return;
    case EXEC_snapshot:
        news_write_snapshot(exec, host, out);
        return;
    default:
        tell_forecast(exec, host, q, out);
    }
}

/* ---- the list ---- */

/* Carries out one request and writes its verdict.  False: it was refused, as a question
 * never is: a word in the place of its answer says what it lacks.  exec->candidate is
 * forgotten by what may change candidates. */
static bool carry_one(struct exec *exec, struct cs_host *host,
                      const struct exec_request *q)
{
    struct line *out = &exec->verdicts;
    enum cs_verdict verdict = CS_DONE;

    assert(q->verb < EXEC_VERB_COUNT);
    if (out->used > 0)
        line_raw(out, ",");
    if ((needs[q->verb] & ~exec->guest->table.flags) != 0)
        verdict = CS_NOT_ALLOWED;
    else if (of[q->verb] == OF_JOB && !news_job_lives(exec, q->number))
        verdict = CS_NOT_PENDING;
    else if (q->verb >= EXEC_earliest) {
        answer_question(exec, host, q, out);
        return true;
    } else
        verdict = carry_request(exec, host, q);
    /* A wish to be asked later changes no candidate. */
    if (verdict == CS_DONE && q->verb != EXEC_wake_at && q->verb != EXEC_wake_when_idle)
        exec->candidate.i = ID_NONE;
    line_text(out, host_verdict_name(verdict));
    return verdict == CS_DONE || q->verb >= EXEC_earliest;
}

/* Stops at the first refusal, unless `skip` was asked for: later requests often
 * rest on earlier ones. */
bool carry_out(struct exec *exec, struct cs_host *host, bool *refused, char *why,
               size_t why_bytes)
{
    const struct exec_answer *answer = &exec->answer;

    *refused = false;
    for (uint32_t i = 0; i < answer->count; i++) {
        if (!makes_sense(exec, host, &answer->request[i], why, why_bytes))
            return false;
        if (carry_one(exec, host, &answer->request[i]))
            continue;
        *refused = true;
        if (!answer->skip)
            break;
    }
    return true;
}

