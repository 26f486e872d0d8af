/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commit.c - `blocking: commit`, as RLScheduler does it (Zhang et al.,
 * SC 2020).
 *
 * What was chosen keeps its turn until it starts, and arrivals are let into
 * the queue one by one: the next one only while nothing waits or what was
 * chosen does not fit.  Of several that come at one instant the first is
 * therefore chosen before the others are seen, and all of them before the GPUs
 * of jobs that end then are given back, one job after another.
 *
 * With `backfill: true`, when it is found not to fit, the instant is noted at
 * which it would, were leases to end as expected; until it starts, others that
 * would end before that instant, and not at it, start in the order of
 * submission.  The instant is not looked at again, though it may come earlier
 * or later: EASY without a second thought.  There the jobs that run are sorted
 * by their expected ends when that instant is looked for, so that those that
 * then end at once give their GPUs back in that order.  Who starts is found by
 * an index (turns.c); where the policy's order moves and nobody knows how, all
 * is sorted anyway.
 *
 * A small example, with 8 GPUs and no backfill.  A and B come at one instant; a job X of 8
 * GPUs ends at the same instant.  The policy sees A alone and chooses it.  A does not fit,
 * as X's GPUs are not given back yet: A keeps its turn.  B is seen next, then X gives its
 * GPUs back, and A starts.  A policy that saw both might have chosen B.
 */
#include "policies/host/decide.h"

#include <assert.h>
#include <stdlib.h>

#include "models/jobs/job.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/full.h"
#include "policies/state/gpus.h"
#include "policies/state/job_slot.h"
#include "policies/state/queue.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/tops.h"
#include "policies/state/turn.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

/* One by one: only where decisions are made as things happen, and GPUs are
 * nothing but a count. */
static bool one_by_one(const struct cs_host *host)
{
    return !host_per_phase(host) && host->rules->round_ns == 0 &&
           host->rules->placement == PLACE_COUNT;
}

/* Returns the GPUs of a job, whose form has one role. */
static uint32_t gpus_of(const struct cs_host *host, uint32_t job)
{
    return job_role_gpus(&host_job_slot(host, job)->pub.request, 0);
}

/* Has a job ended whose GPUs are free again, all at once? */
static bool gives_back(const struct cs_host *host, uint32_t job)
{
    assert(host_job_slot(host, job)->pub.end_ns != CLOCK_NEVER_NS);
    const struct host_job_slot *slot = host_job_slot(host, job);

    return slot->pub.status == JOB_DONE && host_job_fixed(host, job) &&
           job_role_milli(&slot->pub.request, 0) == GPU_MILLI;
}

/* For qsort(): the smaller number first. */
static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    assert(left != NULL && right != NULL);
    return *a < *b ? -1 : *a > *b;
}

/* Did a job start after the choice of the task that keeps its turn now?  If
 * the choice and the start are at one instant, the times do not tell.  Then the
 * list of the jobs that started after that choice is searched. */
static bool is_late(struct cs_host *host, uint32_t job)
{
    int64_t start_ns = host_job_slot(host, job)->pub.start_ns;

    assert(start_ns != CLOCK_NEVER_NS && start_ns <= host_now(host));
    if (start_ns != host->turn->committed_ns)
        return start_ns > host->turn->committed_ns;
    if (host->turn->late_count == 0)
        return false;
    if (!host->turn->late_sorted)
        qsort(host->turn->late, host->turn->late_count, sizeof *host->turn->late, by_number);
    host->turn->late_sorted = true;
    return bsearch(&job, host->turn->late, host->turn->late_count, sizeof *host->turn->late,
                   by_number) != NULL;
}

/* Returns when the job at place i of `instant` was expected to end: its start
 * and its estimate.  The job has ended, and its GPUs are not given back yet. */
static int64_t expected_end(const struct cs_host *host, uint32_t i)
{
    const struct host_job_slot *job = host_job_slot(host, host->turn->instant[i]);

    assert(i >= host->turn->instant_came && i < host->turn->instant_count);
    return clock_after(job->pub.start_ns, job->estimate_ns);
}

/* For qsort(): jobs that started before the choice, by their expected end, then those
 * that are late; of equals, the one that stood first. */
static int by_end(const void *left, const void *right)
{
    const struct host_ended *a = left, *b = right;

    assert(a->late || b->late || (a->end_ns >= 0 && b->end_ns >= 0));
    if (a->late != b->late)
        return a->late ? 1 : -1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Those that have ended, from the i-th on, in the order in which they give
 * their GPUs back: as they were expected to end when the last choice was made,
 * then those that started since, as they did. */
static void order_ended(struct cs_host *host, uint32_t from)
{
    assert(from >= host->turn->instant_came);
    uint32_t count = from < host->turn->instant_count ? host->turn->instant_count - from
                                                : 0;

    if (!host->rules->backfill || count < 2)
        return;
    if (host->turn->ended_room < count) {
        host->turn->ended_room = 2 * count;
        assert(host->turn->ended_room >= count);
        host->turn->ended = arena_alloc(host->parts.arena, host->turn->ended_room,
                                  sizeof *host->turn->ended);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = host->turn->instant[from + i];
        bool late = is_late(host, job);
        host->turn->ended[i] = (struct host_ended) {
            .end_ns = late ? 0 : expected_end(host, from + i),
            .job = job, .place = i, .late = late,
        };
    }
    qsort(host->turn->ended, count, sizeof *host->turn->ended, by_end);
    for (uint32_t i = 0; i < count; i++)
        host->turn->instant[from + i] = host->turn->ended[i].job;
}

/* What came, then what ended, in host->turn->instant. */
static void note_instant(struct cs_host *host)
{
    uint32_t count = 0;

    host->turn->instant_came = host->turn->instant_next = host->turn->withheld_gpus = 0;
    host->turn->instant_chosen = false;
    if (host->decision->news_count > host->turn->instant_room) {
        host->turn->instant_room = 2 * host->decision->news_count;
        host->turn->instant = arena_alloc(host->parts.arena, host->turn->instant_room,
                                    sizeof *host->turn->instant);
    }
    for (uint32_t i = 0; i < host->decision->news_count && one_by_one(host); i++)
        if (host->decision->news[i].kind == NEWS_SUBMITTED &&
            host_job_slot(host, host->decision->news[i].id)->task != ID_NONE)
            host->turn->instant[count++] = host->decision->news[i].id;
    host->turn->instant_came = count;
    for (uint32_t i = 0; i < host->decision->news_count && one_by_one(host); i++) {
        uint32_t job = host->decision->news[i].id;
        if (host->decision->news[i].kind == NEWS_ENDED && gives_back(host, job)) {
            host->turn->instant[count++] = job;
            host->turn->withheld_gpus += gpus_of(host, job);
        }
    }
    host->turn->instant_count = count;
    order_ended(host, host->turn->instant_came);
    assert(host->turn->instant_came <= count);
}

void host_commit_news(struct cs_host *host)
{
    if (host->rules->blocking == HOST_COMMIT)
        note_instant(host);
}

/* Returns how many arrivals of this instant are not let into the queue yet. */
static uint32_t unseen(const struct cs_host *host)
{
    assert(host->turn->instant_came <= host->turn->instant_count);
    return host->turn->instant_next < host->turn->instant_came
        ? host->turn->instant_came - host->turn->instant_next : 0;
}

/* Returns the task of the i-th job that came at this instant; ID_NONE: it runs
 * already, or has ended. */
static uint32_t task_of(const struct cs_host *host, uint32_t i)
{
    assert(i < host->turn->instant_came);
    return host_job_slot(host, host->turn->instant[i])->task;
}

/* Returns the seq of the first task that is not seen yet.  All tasks from it on
 * are not seen. */
static uint64_t next_seq(const struct cs_host *host)
{
    return unseen(host) > 0 ? host->tasks->slot[task_of(host, host->turn->instant_next)].seq
                            : host->waiting->next_seq;
}

/* Is the task of an arrival that is not let into the queue yet? */
static bool comes_later(const struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count);
    return unseen(host) > 0 && host->tasks->slot[task].seq >= next_seq(host);
}

/* Returns the first task of the queue, by the policy's order, that the policy
 * has seen; ID_NONE: there is none.  Three shortcuts come before the search: an
 * index over moving keys, nothing unseen, and only one task seen, which is then
 * the last one that was let in. */
static uint32_t first_seen(struct cs_host *host)
{
    uint32_t count = host_order_count(host), left = unseen(host);

    if (left >= count)
        return ID_NONE;
    if (host->waiting->tops != NULL) {
        host_tops_see(host, next_seq(host));
        return host_tops_first(host, UINT32_MAX, false);
    }
    if (left == 0)
        return rank_tree_at(host->waiting->order, 0);
    if (left + 1 == count && host->turn->instant_next > 0 &&
        task_of(host, host->turn->instant_next - 1) != ID_NONE)
        return task_of(host, host->turn->instant_next - 1);
    return host_order_first(host, next_seq(host));
}

/* Returns the GPUs that are free and not withheld. */
static uint32_t room_now(const struct cs_host *host)
{
    uint32_t free = cs_free_gpus(host, 0);

    return free > host->turn->withheld_gpus ? free - host->turn->withheld_gpus : 0;
}

/* Does a task want more whole GPUs than `room`?  If that many are free in all, its form is
 * known to be full. */
static bool wants_more(struct cs_host *host, uint32_t i, uint32_t room)
{
    const struct host_task_slot *task = &host->tasks->slot[i];

    assert(task->live);
    if (task->pub.gpus <= room || task->pub.held.i != ID_NONE ||
        task->pub.gpu_milli < GPU_MILLI || host_task_gpus_min(host, i) <= room)
        return false;
    if (room == host_free_gpus(host, 0) && task->pub.role == CS_ALL_ROLES &&
        cs_request(host, task->pub.job)->form->role_count == 1)
        host_note_full(host, task->form, room + 1, GPU_MILLI);
    return true;
}

enum cs_verdict host_try(struct cs_host *host, uint32_t task, uint32_t room)
{
    const struct cs_policy *policy = host->policy;
    const struct cs_task *pub = &host->tasks->slot[task].pub;
    struct cs_want want = { .role = pub->role };
    struct task_id id = { task };

    assert(host->tasks->slot[task].live);
    if (!policy->place || pub->role == CS_ALL_ROLES || pub->held.i != ID_NONE)
        return wants_more(host, task, room) ? CS_NO_ROOM : cs_start(host, id);
    if (!policy->place(host->self, host, id, &want))
        return CS_NO_ROOM;
    assert(id.i < host->tasks->count);
    return cs_start_want(host, id, &want);
}

/* Tries to start a task; true: it started.  With backfill, jobs that start at the instant of
 * the choice but after it are noted: the choice did not know them (turn.h). */
static bool start(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    uint32_t job = host->tasks->slot[task].pub.job.i;

    if (host_try(host, task, room_now(host)) != CS_DONE)
        return false;
    if (!host->rules->backfill || host_now(host) != host->turn->committed_ns)
        return true;
    if (host->turn->late_count == host->turn->late_room) {
        uint32_t room = host->turn->late_room ? 2 * host->turn->late_room : 64;
        host->turn->late = arena_grow(host->parts.arena, host->turn->late,
                                host->turn->late_room, room, sizeof *host->turn->late);
        host->turn->late_room = room;
    }
    host->turn->late[host->turn->late_count++] = job;
    assert(host->turn->late_count <= host->turn->late_room);
    host->turn->late_sorted = false;
    return true;
}

/* Returns the key under which ends.c notes the expected end of the job at place
 * i of `instant`. Its lease has gone.  The key counts down from ID_NONE - 1,
 * where no number of a lease is. */
static uint32_t end_of(const struct cs_host *host, uint32_t i)
{
    assert(host->turn->instant[i] < ID_NONE / 2);
    return ID_NONE - 1 - host->turn->instant[i];
}

/* The first choice of an instant: no job counts as late any more.  Jobs that
 * ended at this instant and have not given their GPUs back are put in order,
 * and their expected ends are noted among those of the jobs that run: the task
 * that keeps its turn is promised a start as if they still ran. */
static void begin_choices(struct cs_host *host)
{
    uint32_t first = host->turn->instant_next > host->turn->instant_came
        ? host->turn->instant_next : host->turn->instant_came;

    assert(first >= host->turn->instant_came);
    if (!host->rules->backfill || host->turn->instant_chosen)
        return;
    host->turn->instant_chosen = true;
    order_ended(host, first);
    for (uint32_t i = first; i < host->turn->instant_count; i++)
        host_end_expect(host, expected_end(host, i), end_of(host, i),
                        gpus_of(host, host->turn->instant[i]));
}

/* Stores in *reach the nodes that a task of one role may use.  False: GPUs of all nodes count, as
 * for roles without GPUs, on parts of one, or on any node that has some. */
static bool has_reach(const struct cs_host *host, const struct cs_task *task,
                      struct cs_reach *reach)
{
    uint64_t all = host_groups_of(host->spec, 0, true, ID_NONE);

    assert(task->job.i != ID_NONE);
    if (cs_request(host, task->job)->form->role_count > 1)
        return false;
    cs_role_reach(host, task->job, 0, reach);
    for (uint32_t i = 0; i < reach->count; i++)
        if (reach->option[i].groups == all)
            return false;
    return reach->count > 0 && reach->gpu_milli == GPU_MILLI;
}

/* Returns the time from which a task would have its GPUs, if all that runs ends as expected: on
 * the nodes that it may use, where that is first.  For 0 GPUs it is now, though the task that
 * keeps its turn may wait for cores. */
static int64_t expected_room(struct cs_host *host, const struct cs_task *task)
{
    assert(host->turn->committed != ID_NONE);
    struct cs_reach reach;
    uint32_t spare;

    if (!has_reach(host, task, &reach))
        return host_ends_when(host, host_now(host), room_now(host), task->gpus, &spare);
    int64_t first_ns = CLOCK_NEVER_NS;
    for (uint32_t i = 0; i < reach.count; i++) {
        int64_t at_ns = host_groups_when(host, reach.option[i].groups, task->gpus, &spare);
        first_ns = at_ns < first_ns ? at_ns : first_ns;
    }
    return first_ns;
}

/* Would a task that starts now end before the one that keeps its turn begins? */
static bool ends_in_time(const struct cs_host *host, uint32_t task)
{
    assert(host->turn->committed != ID_NONE);
    return host->tasks->slot[task].pub.estimate_ns <
           host->turn->committed_until_ns - host_now(host);
}

/* Does task `a`, which stands before `b` in the order now, go before it among
 * those that backfill?  The earlier submission goes first.  Of one instant,
 * those that were there at the choice keep the order that they have now, and
 * those that came after it follow by number. */
static bool stays_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    const struct host_task_slot *x = &host->tasks->slot[a], *y = &host->tasks->slot[b];
    int64_t first = host_job_slot(host, x->pub.job.i)->pub.request.submit_ns;
    int64_t other = host_job_slot(host, y->pub.job.i)->pub.request.submit_ns;

    assert(first <= host_now(host) && other <= host_now(host));

    if (first != other)
        return first < other;
    return y->seq < host->turn->committed_seq ? x->seq < host->turn->committed_seq
        : x->seq < y->seq;
}

/* Lists in host->waiting->list the tasks that would end in time, in the order
 * of submission, by insertion; returns their number. */
static uint32_t list_short(struct cs_host *host)
{
    assert(host->waiting->list_capacity >= host_order_count(host));
    uint32_t count = 0;

    for (uint32_t i = 0; i < host_order_count(host); i++) {
        uint32_t task = rank_tree_at(host->waiting->order, i), k;
        if (task == host->turn->committed || !ends_in_time(host, task))
            continue;
        for (k = count++; k > 0 && !stays_before(host, host->waiting->list[k - 1], task);
             k--)
            host->waiting->list[k] = host->waiting->list[k - 1];
        host->waiting->list[k] = task;
    }
    return count;
}

/* Starts what fits and ends in time, by a look at all that waits. */
static void backfill_by_walk(struct cs_host *host)
{
    assert(host->turn->committed != ID_NONE);
    host_list_scratch(host, host_order_count(host));
    uint32_t count = list_short(host);
    /* Jobs that were not seen at the last choice stand at the end of the list. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t task = host->waiting->list[i];
        if (comes_later(host, task))
            break;
        if (host_task_gpus_min(host, task) <= host_gpus_to_try(host, room_now(host)))
            start(host, task);
    }
}

/* Starts what fits and ends in time, by the index of turns.c. */
static void backfill_in_turn(struct cs_host *host)
{
    assert(host->turn->committed != ID_NONE);
    int64_t most_ns = host->turn->committed_until_ns - host_now(host) - 1;
    uint32_t task;

    host_turns_first(host, most_ns);
    while ((task = host_turns_next(host, host_gpus_to_try(host, room_now(host)))) !=
               ID_NONE && !comes_later(host, task)) {
        if (task != host->turn->committed)
            start(host, task);
        host_turns_tried(host, task, most_ns);
    }
}

/* Starts tasks behind the one that keeps its turn, if they do not delay it. */
static void backfill(struct cs_host *host)
{
    bool moves = host->policy->before && host->policy->flags & CS_ORDER_MOVES;

    assert(host->turn->committed_until_ns >= 0 || !host->rules->backfill);

    if (!host->rules->backfill ||
        (host_gpus_to_try(host, room_now(host)) == 0 && !host->waiting->has_cores))
        return;
    if (moves && host->waiting->tops == NULL)
        backfill_by_walk(host);
    else
        backfill_in_turn(host);
}

/* Takes one step within the instant: the next arrival is seen, or the next job
 * gives its GPUs back.  False: there is neither.  An arrival that ends in time
 * may backfill at once.  Tasks that were tried before it need not be tried
 * again, as an arrival frees nothing. */
static bool step(struct cs_host *host)
{
    uint32_t i = host->turn->instant_next, task;

    if (i >= host->turn->instant_count)
        return false;
    task = i < host->turn->instant_came ? task_of(host, i) : ID_NONE;
    host->turn->instant_next++;
    assert(host->turn->instant_next <= host->turn->instant_count);
    if (i >= host->turn->instant_came) {
        host->turn->withheld_gpus -= gpus_of(host, host->turn->instant[i]);
        if (host->turn->instant_chosen)
            host_end_unexpect(host, expected_end(host, i), end_of(host, i));
    } else if (host->turn->committed != ID_NONE && host->rules->backfill &&
               task != ID_NONE && ends_in_time(host, task)) {
        start(host, task);
    }
    return true;
}

/* A task that does not fit keeps its turn from now on; others may backfill. */
static void choose(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live && host->turn->committed == ID_NONE);
    host->turn->committed = task;
    host->turn->committed_ns = host_now(host);
    host->turn->late_count = 0;
    begin_choices(host);
    host_turns_commit(host, next_seq(host));
    if (host->rules->backfill)
        host->turn->committed_until_ns =
            expected_room(host, &host->tasks->slot[task].pub);
    backfill(host);
    assert(host->turn->committed == task);
}

/* Tries to start the task that keeps its turn.  True: it has started, or it is
 * gone, and no task keeps its turn now.  False: it still waits. */
static bool turn_over(struct cs_host *host)
{
    assert(host->turn->committed == ID_NONE || host->turn->committed < host->tasks->count);
    uint32_t task = host->turn->committed;

    if (task != ID_NONE && host->tasks->slot[task].live && !start(host, task))
        return false;
    host->turn->committed = ID_NONE;
    return true;
}

/* Goes on until nothing more can be done at this instant.  While no task keeps
 * its turn, the first one that was seen is tried; if it does not fit, it is
 * chosen.  While one keeps its turn, arrivals and freed GPUs come one by one.
 * Backfilling is repeated after every job that gives GPUs back, since only that
 * makes room. */
void host_commit_decide(struct cs_host *host)
{
    assert(host->rules->blocking == HOST_COMMIT);
    if (!turn_over(host) && host->turn->instant_count == 0)
        backfill(host);
    for (;;) {
        uint32_t task = host->turn->committed;
        bool released = host->turn->instant_next >= host->turn->instant_came;
        assert(host->turn->instant_next <= host->turn->instant_count);
        if (task == ID_NONE) {
            task = first_seen(host);
            if (task == ID_NONE && !step(host))
                return;
            if (task != ID_NONE && !start(host, task))
                choose(host, task);
        } else {
            if (!step(host))
                return;
            if (!turn_over(host) && released)
                backfill(host);
        }
    }
}
