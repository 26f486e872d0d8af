/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handover.c - a policy begins: before the first arrival, or in the middle of a run, in
 * place of another one.
 *
 * Jobs, leases, tasks and what has happened stay as they are.  What depends on the policy
 * is made anew: its memory, the order of what waits and the indexes over it, deals, the
 * turn of `blocking: commit`, wake-ups.  So a policy that takes over finds what a
 * scheduler finds that is started again with another configuration: the queue and what
 * runs.  What its predecessor knew beside that is lost.
 */
#include "policies/host/decide.h"

#include <assert.h>
#include <string.h>

#include "policies/host/host.h"
#include "policies/leases/job.h"
#include "policies/policy.h"
#include "policies/state/deals.h"
#include "policies/state/decision.h"
#include "policies/state/full.h"
#include "policies/state/jobs.h"
#include "policies/state/news.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/terms.h"
#include "policies/state/tops.h"
#include "policies/state/turn.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/event/loop.h"

/* The memory of the policy begins as a copy of its parameters.  One byte more
 * than it asks for is allocated, so that a policy without memory has no NULL. */
bool host_policy_begin(struct cs_host *host, struct err *err)
{
    const struct cs_policy *policy = host->policy;

    assert(host->self == NULL);
    host->self = arena_alloc(host->parts.arena, 1, policy->self_bytes + 1);
    if (policy->self_bytes && host->parts.policy->params)
        memcpy(host->self, host->parts.policy->params, policy->self_bytes);
    if (policy->init && !policy->init(host->self, host)) {
        struct err_pos nowhere = { 0 };

        err_set(err, ERR_POLICY, nowhere, "policy %s: %s", policy->name,
                host->decision->why[0] ? host->decision->why : "init failed");
        if (host->decision->note[0])
            err_hint(err, "%s", host->decision->note);
        return false;
    }
    assert(policy->init == NULL || host->self != NULL);
    return true;
}

/* ---- the policy that goes ---- */

/* Takes the tasks of whole jobs back: their roles will ask one by one.  The order and the
 * indexes are still those of the policy that goes. */
static void drop_whole_jobs(struct cs_host *host)
{
    assert(!host_per_phase(host));
    for (EACH_JOB(j, host))
        host_job_drop_task(host, j);
}

/* Forgets what was to be told and when it was to be asked.  Rounds go on from where they
 * are counted.  The policy that comes has not decided yet. */
static void end_decisions(struct cs_host *host)
{
    struct host_decisions *decision = host->decision;

    assert(!decision->in_decide && !decision->held);
    loop_cancel(host->parts.loop, decision->decide_event);
    memset(&decision->decide_event, 0, sizeof decision->decide_event);
    for (uint32_t i = 0; i < decision->news_count; i++)
        if (decision->news[i].kind == NEWS_ENDED)
            host_job_note_gone(host, decision->news[i].id);
    decision->news_count = 0;
    decision->decided_ns = decision->solved_ns = decision->wake_ns = 0;
    decision->idle_decides = decision->vain_stops = 0;
    decision->handed_over++;
    decision->random_state = 0;     /* its predecessor may have drawn */
}

/* ---- the policy that comes ---- */

/* Empties all that stands in the order of a policy, or that only some policies ask for.
 * The memory that is left behind goes with the trial. */
static void begin_orders(struct cs_host *host)
{
    assert(!host->decision->in_decide);
    host_order_end(host);
    memset(host->deals, 0, sizeof *host->deals);
    memset(host->turn, 0, sizeof *host->turn);
    host->turn->committed = ID_NONE;
    host->turn->committed_ns = -1;
    for (EACH_JOB(j, host))
        host_job_leave_orders(host, j);
    host_full_forget(host);
    host_order_begin(host);
    host_tops_begin(host);
}

/* Lets all tasks wait again.  Where they stand, before() and the order in which they were
 * made decide. */
static void fill_orders(struct cs_host *host)
{
    for (uint32_t i = 0; i < host->tasks->count; i++)
        if (host->tasks->slot[i].live)
            host_order_insert(host, i);
}

/* Tells of the jobs that have not ended as if they came now, then of leases that are
 * idle. */
static void tell_all(struct cs_host *host)
{
    const struct host_list *held = host_held(host);

    assert(host->decision->news_count == 0);
    for (EACH_JOB(j, host))
        host_news_add(host, NEWS_SUBMITTED, j);
    for (uint32_t i = 0; i < held->count; i++) {
        struct lease_id lease = { held->item[i] };
        if (cs_lease(host, lease)->state == CS_LEASE_IDLE)
            host_news_add(host, NEWS_IDLE, lease.i);
    }
}

/* The order of the steps matters.  The predecessor's indexes are needed to take
 * tasks back, so they are emptied after that; the new policy's init may ask for
 * the order, so the order is made before it, and it is filled only once init
 * has succeeded. */
void host_hand_over(struct cs_host *host, const struct host_policy *next)
{
    bool split = !host_per_phase(host) && (next->policy->flags & CS_PER_PHASE);
    struct err err = { 0 };

    assert(split || !host_per_phase(host) || (next->policy->flags & CS_PER_PHASE));
    if (host->decision->failed)
        return;
    if (split)
        drop_whole_jobs(host);
    end_decisions(host);
    host_forget_rented(host);
    if (host->policy->fini)
        host->policy->fini(host->self);
    host->self = NULL;
    host->parts.policy = next;
    host->policy = next->policy;
    host->rules = &next->rules;
    begin_orders(host);
    if (!host_policy_begin(host, &err)) {
        cs_fail(host, "init failed");   /* unless it said more */
        host_order_keep(host);
        return;
    }
    fill_orders(host);
    if (split)
        for (EACH_JOB(j, host))
            host_job_advance(host, j);
    tell_all(host);
    host->hooks.wake(host);
}
