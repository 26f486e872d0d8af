/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide.c - when the policy is asked, what it is told first, and what starts
 * where it leaves that to the host.
 *
 * Invariant: decide is called at most once for the news of an instant, after
 * all of it; when rounds are asked for, only at their boundaries, and no
 * oftener than `resolve_at_most_every`.
 *
 * An instant goes like this: events (arrivals, ends, failures) call host_wake(),
 * which schedules one decision behind all events of the instant; decide_event()
 * tells the policy the news, lets it decide, and then rents nodes, looks for a
 * policy that turns in circles, and sets the wake-up that the policy asked for.  A
 * policy that is another program may hold the decision (host_hold): the loop stops,
 * and host_resume() goes on.
 */
#include "policies/host/decide.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/host/standstill.h"
#include "policies/leases/idle.h"
#include "policies/leases/job.h"
#include "policies/nodes/rent.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/gpus.h"
#include "policies/state/news.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/tops.h"
#include "policies/state/waiting.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"
#include "sim/event/loop.h"

static void decide_event(struct loop *loop, void *self, uint64_t arg);

/* Returns the earliest time of the next decision by `resolve_at_most_every`: 0 before the
 * first one, and for a policy that solves, which may be asked in every round. */
static int64_t resolve_time(const struct cs_host *host)
{
    assert(host->decision->decided_ns <= host_now(host));
    if (host->decision->decided_ns == 0 || host->policy->flags & CS_SOLVES)
        return 0;
    return clock_after(host->decision->decided_ns, host->rules->resolve_ns);
}

/* A round ends early when all that runs has ended, and the next begins then or
 * with the next arrival.  Where nothing runs and `resolve_at_most_every` lets
 * nothing start, Gavel's simulator looks again at the next arrival; after the
 * last one it starts at once. */
static int64_t idle_decision_time(struct cs_host *host, int64_t at)
{
    if (!host->decision->submits_over && at < resolve_time(host))
        return CLOCK_NEVER_NS;
    assert(at >= host->decision->round_from_ns);
    host->decision->round_from_ns = at;
    return at;
}

/* Returns the earliest instant, not before `at`, at which the policy may be asked:
 * `at` itself without rounds, else the next boundary of a round.  CLOCK_NEVER_NS:
 * not before something else happens. */
static int64_t decision_time(struct cs_host *host, int64_t at)
{
    int64_t round = host->rules->round_ns;

    assert(at >= host_now(host) && round >= 0);
    if (round <= 0)
        return at;
    if (host->rules->round_ends_early && cs_running_count(host) == 0)
        return idle_decision_time(host, at);
    if (at < resolve_time(host))
        at = resolve_time(host);
    return clock_after(host->decision->round_from_ns,
                       clock_tick_from(at - host->decision->round_from_ns, round));
}

/* Four cases plan nothing: the run is closing, the policy is deciding now, a
 * decision is planned already, or no decision may come before something else
 * happens.  With rounds that end early a planned decision is cancelled first,
 * as the round is over at once when nothing runs. */
void host_wake(struct cs_host *host)
{
    int64_t at;

    /* What a policy does while it decides, it knows of. */
    if (host->decision->closing || host->decision->in_decide)
        return;
    if (host->rules->round_ends_early && cs_running_count(host) == 0) {
        loop_cancel(host->parts.loop, host->decision->decide_event);
        memset(&host->decision->decide_event, 0, sizeof host->decision->decide_event);
    }
    if (host->decision->decide_event.generation != 0)
        return;
    at = decision_time(host, host_now(host));
    assert(at >= host_now(host));
    if (at < CLOCK_NEVER_NS)
        host->decision->decide_event = loop_at(host->parts.loop, at, LOOP_RANK_DECIDE,
                                     decide_event, host, 0);
}

/* The wake-up that a policy asked for by cs_wake_at(); not of one that another has taken
 * over from since. */
static void wake_later(struct loop *loop, void *self, uint64_t arg)
{
    const struct cs_host *host = self;

    (void)loop;
    if (arg == host->decision->handed_over)
        host_wake(self);
}

/* A task waits: all indexes that are kept learn of it. */
static void task_made(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    if (host->waiting->tops != NULL && host->rules->blocking == HOST_COMMIT)
        host_tops_hide(host, task);
    else if (host->waiting->tops != NULL)
        host_tops_insert(host, task);
    if (host->waiting->tenants != NULL)
        host_tenants_insert(host, task);
    if (host->waiting->turns != NULL)
        host_turns_insert(host, task);
    if (host->waiting->kinds != NULL)
        host_kinds_insert(host, task);
    if (host->waiting->turned != NULL)
        host_turned_add(host, host->tasks->slot[task].pub.job.i);
}

/* A task waits no more, by the same indexes. */
static void task_gone(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    if (host->waiting->tops != NULL)
        host_tops_remove(host, task);
    if (host->waiting->tenants != NULL)
        host_tenants_remove(host, task);
    if (host->waiting->turns != NULL)
        host_turns_remove(host, task);
    if (host->waiting->kinds != NULL)
        host_kinds_remove(host, task);
    if (host->waiting->turned != NULL)
        host_turned_add(host, host->tasks->slot[task].pub.job.i);
}

/* Puts a task at the place that it now has by the policy's order, and among the
 * turns, if they are kept. */
static void order_again(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    host_order_again(host, task);
    if (host->waiting->turns != NULL) {
        host_turns_remove(host, task);
        host_turns_insert(host, task);
    }
}

/* Calls the policy's function for one piece of news.  A lease that became idle and
 * has gone meanwhile is not told.  With CS_ORDER_AT_NEWS the policy may have
 * changed the place of the new job in the order. */
static void tell_policy(struct cs_host *host, const struct host_news *news)
{
    const struct cs_policy *policy = host->policy;
    struct job_id job = { news->id };
    struct lease_id lease = { news->id };

    assert(host->decision->in_decide);
    if (news->kind == NEWS_SUBMITTED && policy->job_submitted)
        policy->job_submitted(host->self, host, job);
    if (news->kind == NEWS_SUBMITTED && policy->flags & CS_ORDER_AT_NEWS &&
        cs_job_task(host, job, CS_ALL_ROLES).i != ID_NONE)
        order_again(host, cs_job_task(host, job, CS_ALL_ROLES).i);
    if (news->kind == NEWS_ENDED && policy->job_ended)
        policy->job_ended(host->self, host, job);
    if (news->kind == NEWS_IDLE && policy->lease_idle &&
        host_lease_live(host, lease.i))
        policy->lease_idle(host->self, host, lease);
}

/* Returns the first task from the i-th on for which a start could succeed; ID_NONE: none.
 * Tasks of whole jobs that want more GPUs than are free (`room`) are passed over at once. */
static uint32_t next_to_try(struct cs_host *host, uint32_t *i, uint32_t room)
{
    bool skips = !host_per_phase(host) && host->rules->blocking == HOST_SKIP;
    struct cs_filter filter = { .gpus_max = room, .estimate_max_ns = INT64_MAX,
                                .startable = true };

    if (host->waiting->tops != NULL)
        return host_tops_first(host, skips ? host_gpus_to_try(host, room) : UINT32_MAX, skips);
    if (skips)
        *i = cs_find_pending(host, *i, &filter);
    return rank_tree_at(host->waiting->order, *i);
}

/* The task does not fit, and blocking allows to try the next one: with moving keys
 * it is set aside until the decision is over, else the index moves on. */
static void pass_over(struct cs_host *host, uint32_t task, uint32_t *i)
{
    assert(host->rules->blocking == HOST_SKIP);
    if (host->waiting->tops != NULL)
        host_tops_aside(host, task);
    else
        ++*i;
}

/* Starts tasks in the policy's order.  At the first that does not fit: HOST_SKIP
 * goes on behind it, HOST_DROP drops the job, and any other rule ends the decision. */
static void serve_in_order(struct cs_host *host)
{
    uint32_t i = 0, task, room = cs_free_gpus(host, 0);

    for (; (task = next_to_try(host, &i, room)) != ID_NONE; room = cs_free_gpus(host, 0)) {
        struct job_id job = host->tasks->slot[task].pub.job;
        assert(host->tasks->slot[task].live);
        if (host_try(host, task, room) == CS_DONE)
            continue;           /* it left the order: i is the next */
        if (host->rules->blocking == HOST_DROP) {
            host_job_end(host, job.i, JOB_DROPPED);
            continue;
        }
        if (host->rules->blocking != HOST_SKIP)
            return;
        pass_over(host, task, &i);
    }
}

/* Decides for a policy that has an order and no function `decide`. */
static void decide_default(struct cs_host *host)
{
    assert(host->policy->decide == NULL);
    serve_in_order(host);
    if (host->waiting->tops != NULL)
        host_tops_back(host);
}

/* Fails the trial after vain_max decisions in a row without news, leases or
 * requests that were carried out.  A policy that wakes itself for ever, or nodes
 * that are rented and given back for ever, would not let a run end. */
static void note_idle(struct cs_host *host, bool news, uint64_t decisions)
{
    assert(host->counts.decisions >= decisions);
    char why[120];

    if (news || cs_lease_count(host) > 0 ||
        host->counts.decisions != decisions)
        host->decision->idle_decides = 0;
    else if (++host->decision->idle_decides >= host->parts.vain_max) {
        snprintf(why, sizeof why, "nothing runs, and nothing came of %u "
                 "decisions: what waits can never start", host->decision->idle_decides);
        cs_fail(host, why);
    }
}

void host_decide(struct cs_host *host)
{
    host->decision->in_decide = true;
    if (host->policy->decide)
        host->policy->decide(host->self, host);
    else if (host->rules->blocking == HOST_COMMIT)
        host_commit_decide(host);
    else
        decide_default(host);
    host->decision->in_decide = host->decision->held;
}

/* Ends a decision.  Nodes are rented or given back, a policy that does nothing
 * is counted, and the wake-up that the policy asked for is set. */
static void decision_over(struct cs_host *host)
{
    struct host_decisions *decision = host->decision;

    assert(!decision->held && !decision->in_decide);
    host_rent_scale(host);
    if (!decision->closing && !decision->failed)
        host_standstill_follow(host);
    note_idle(host, decision->had_news, decision->done_before);
    if (decision->wake_ns > host_now(host)) {
        loop_at(host->parts.loop, decision->wake_ns, LOOP_RANK_DECIDE, wake_later, host,
                decision->handed_over);
        decision->wake_ns = 0;
    }
}

/* A decision that is made only to explain a standstill cannot be held: nobody
 * would resume it. */
bool host_hold(struct cs_host *host)
{
    assert(host->decision->in_decide && !host->decision->held);
    if (host->decision->tries != NULL)
        return false;
    host->decision->held = true;
    loop_stop(host->parts.loop);
    return true;
}

bool host_holds(const struct cs_host *host)
{
    assert(!host->decision->held || host->decision->in_decide);
    return host->decision->held;
}

void host_resume(struct cs_host *host)
{
    assert(host->decision->held && host->decision->in_decide);
    host->decision->held = host->decision->in_decide = false;
    decision_over(host);
}

/* One decision.  Tells all news first, then lets the policy decide.  While it does,
 * in_decide keeps its own requests from waking it again: it knows of them. */
static void decide_event(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    assert(!host->decision->held && !host->decision->in_decide);
    host->decision->done_before = host->counts.decisions;
    host->decision->had_news = host->decision->news_count > 0;
    memset(&host->decision->decide_event, 0, sizeof host->decision->decide_event);
    host->decision->in_decide = true;
    host_jobs_forget(host);
    for (uint32_t i = 0; i < host->decision->news_count; i++) {
        tell_policy(host, &host->decision->news[i]);
        if (host->decision->news[i].kind == NEWS_ENDED)
            host_job_note_gone(host, host->decision->news[i].id);
    }
    host_commit_news(host);
    host->decision->news_count = 0;
    if (host->policy->before && host->policy->flags & CS_ORDER_MOVES &&
        host->waiting->tops == NULL)
        host_order_sort(host);
    host->decision->decided_ns = host_now(host);
    host->counts.decide++;
    host->decision->limited = false;
    host_tell(host, FACT_DECIDE, 0, 0, host_order_count(host));
    host_decide(host);
    if (!host->decision->held)
        decision_over(host);
}

void host_decide_begin(struct cs_host *host)
{
    assert(host->waiting->order == NULL && host->hooks.wake == NULL);
    host->hooks.wake = host_wake;
    host->hooks.task_made = task_made;
    host->hooks.task_gone = task_gone;
    host_order_begin(host);
}

void cs_tried(struct cs_host *host, struct task_id task, enum cs_alike alike)
{
    if (!host_kinds_tried(host, task, alike))
        cs_fail(host, "says of a task that it was tried (cs_tried), and cs_next_candidate "
                      "did not tell that one last");
}

/* Stores the tasks of a job that wait; returns how many there are. */
static uint32_t list_tasks(const struct cs_host *host, struct job_id job, uint32_t *task)
{
    uint32_t roles = host_per_phase(host) ? cs_request(host, job)->form->role_count : 1;
    uint32_t count = 0;

    assert(roles <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < roles; r++) {
        struct task_id id = cs_job_task(host, job, host_per_phase(host) ? r : CS_ALL_ROLES);
        if (id.i != ID_NONE)
            task[count++] = id.i;
    }
    return count;
}

/* All tasks of the job that wait are tried again, though they are alike with
 * tasks that failed. */
void cs_wake(struct cs_host *host, struct job_id job)
{
    uint32_t task[FORM_ROLES_MAX], count = list_tasks(host, job, task);

    assert(count <= FORM_ROLES_MAX);
    for (uint32_t k = 0; k < count; k++)
        host_kinds_wake(host, task[k]);
}

uint32_t cs_next_freed(struct cs_host *host)
{
    assert(host->cluster != NULL);
    return cluster_next_freed(host->cluster);
}

/* Tasks at rest (that failed and wait for a change) are in no index of kinds:
 * they are neither taken out nor put back. */
void cs_reorder(struct cs_host *host, struct job_id job)
{
    uint32_t task[FORM_ROLES_MAX], count = list_tasks(host, job, task);
    bool rests[FORM_ROLES_MAX];

    assert(count <= FORM_ROLES_MAX);
    if (!host_per_phase(host) || host->policy->before == NULL ||
        host->policy->flags & CS_ORDER_MOVES) {
        cs_fail(host, "calls cs_reorder without before() or CS_PER_PHASE, or with "
                      "CS_ORDER_MOVES");
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        rests[k] = host->waiting->kinds == NULL || host_kinds_rests(host, task[k]);
        if (!rests[k])
            host_kinds_remove(host, task[k]);
    }
    host_order_anew(host, task, count);
    for (uint32_t k = 0; k < count; k++)
        if (!rests[k])
            host_kinds_insert(host, task[k]);
}
