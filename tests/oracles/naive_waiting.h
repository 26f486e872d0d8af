/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_waiting.h - what waits, by a walk over the queue at each question: in place of
 * tournaments (policies/state/tops.c), of the parts of a backfill (turns.c) and of the lists
 * and trees of tenants (tenants.c).  And each deal by the plain list of policies/host/deal.c, in
 * place of lists that move (left.c, lanes.c).
 */
#include <assert.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/rank.h"
#include "policies/state/jobs.h"
#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/tops.h"
#include "policies/state/turn.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"

static const struct host_task_slot *naive_slot(const struct cs_host *host, uint32_t task)
{
    return &host->tasks->slot[task];
}

/* ---- no tournaments: the queue is kept in order ---- */

void host_tops_begin(struct cs_host *host)
{
    (void)host;
}

void host_tops_insert(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
    assert(false);
}

void host_tops_remove(struct cs_host *host, uint32_t task)
{
    host_tops_insert(host, task);
}

uint32_t host_tops_first(struct cs_host *host, uint32_t gpus_max, bool startable)
{
    (void)startable;
    host_tops_insert(host, gpus_max);
    return ID_NONE;
}

void host_tops_aside(struct cs_host *host, uint32_t task)
{
    host_tops_insert(host, task);
}

void host_tops_back(struct cs_host *host)
{
    host_tops_insert(host, 0);
}

void host_tops_hide(struct cs_host *host, uint32_t task)
{
    host_tops_insert(host, task);
}

void host_tops_see(struct cs_host *host, uint64_t seq)
{
    host_tops_insert(host, (uint32_t)seq);
}

/* ---- backfill in the order of submission ---- */

static uint64_t naive_tried[4096];      /* the seq of tasks; one thread */
static uint32_t naive_trieds;
static int64_t naive_most_ns;

void host_turns_insert(struct cs_host *host, uint32_t task)
{
    host_tops_insert(host, task);
}

void host_turns_remove(struct cs_host *host, uint32_t task)
{
    host_tops_insert(host, task);
}

void host_turns_commit(struct cs_host *host, uint64_t seq)
{
    host->turn->committed_seq = seq;
}

void host_turns_first(struct cs_host *host, int64_t most_ns)
{
    (void)host;
    naive_trieds = 0;
    naive_most_ns = most_ns;
}

void host_turns_tried(struct cs_host *host, uint32_t task, int64_t most_ns)
{
    assert(naive_most_ns == most_ns);
    assert(naive_trieds < sizeof naive_tried / sizeof *naive_tried);
    naive_tried[naive_trieds++] = naive_slot(host, task)->seq;
}

/* Of one instant, those that had come when the last choice was made, by the policy's order,
 * then the others, as they came. */
static bool naive_turn_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    const struct host_task_slot *x = naive_slot(host, a), *y = naive_slot(host, b);
    bool x_new = x->seq >= host->turn->committed_seq, y_new = y->seq >= host->turn->committed_seq;

    if (x->pub.submit_ns != y->pub.submit_ns)
        return x->pub.submit_ns < y->pub.submit_ns;
    if (x_new || y_new)
        return y_new && (!x_new || x->seq < y->seq);
    return host_task_before(host, a, b);
}

uint32_t host_turns_next(struct cs_host *host, uint32_t gpus_max)
{
    uint32_t found = ID_NONE;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        uint32_t task = cs_pending(host, i).i, k = 0;
        while (k < naive_trieds && naive_tried[k] != naive_slot(host, task)->seq)
            k++;
        if (k == naive_trieds && host_task_gpus_min(host, task) <= gpus_max &&
            naive_slot(host, task)->pub.estimate_ns <= naive_most_ns &&
            (found == ID_NONE || naive_turn_before(host, task, found)))
            found = task;
    }
    return found;
}

/* ---- tenants ---- */

struct host_tenants {
    uint32_t count;
    const char *name[64];
};

static uint32_t naive_tenant(struct cs_host *host, uint32_t job)
{
    struct host_tenants *all = host->waiting->tenants;
    const char *name;
    uint32_t t = 0;

    host_job_tenant(host, job, &name);
    while (t < all->count && strcmp(all->name[t], name) != 0)
        t++;
    assert(t < sizeof all->name / sizeof *all->name);
    if (t == all->count)
        all->name[all->count++] = arena_text(host->parts.arena, name);
    return t;
}

void host_tenants_insert(struct cs_host *host, uint32_t task)
{
    naive_tenant(host, naive_slot(host, task)->pub.job.i);
}

void host_tenants_remove(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
}

static void naive_tenants_begin(struct cs_host *host)
{
    if (host->waiting->tenants != NULL)
        return;
    host->waiting->tenants = arena_alloc(host->parts.arena, 1, sizeof *host->waiting->tenants);
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        host_tenants_insert(host, cs_pending(host, i).i);
}

uint32_t cs_tenant(struct cs_host *host, struct job_id job)
{
    naive_tenants_begin(host);
    return naive_tenant(host, job.i);
}

uint32_t cs_tenant_count(struct cs_host *host)
{
    naive_tenants_begin(host);
    return host->waiting->tenants->count;
}

/* The first task of a tenant, from a seq on, that needs so many GPUs at most. */
static struct task_id naive_of_tenant(const struct cs_host *host, uint32_t tenant, uint64_t from,
                                      uint32_t gpus_max)
{
    struct task_id found = { ID_NONE };

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        uint32_t task = cs_pending(host, i).i;
        if (naive_tenant((struct cs_host *)host, naive_slot(host, task)->pub.job.i) == tenant &&
            naive_slot(host, task)->seq >= from && host_task_gpus_min(host, task) <= gpus_max &&
            (found.i == ID_NONE || naive_slot(host, task)->seq < naive_slot(host, found.i)->seq))
            found.i = task;
    }
    return found;
}

struct task_id cs_tenant_first(struct cs_host *host, uint32_t tenant)
{
    naive_tenants_begin(host);
    return naive_of_tenant(host, tenant, 0, UINT32_MAX);
}

struct task_id cs_tenant_next(const struct cs_host *host, struct task_id task)
{
    uint32_t tenant = naive_tenant((struct cs_host *)host, naive_slot(host, task.i)->pub.job.i);

    return naive_of_tenant(host, tenant, naive_slot(host, task.i)->seq + 1, UINT32_MAX);
}

struct task_id cs_tenant_fits(struct cs_host *host, struct task_id task, uint32_t gpus_max)
{
    if (task.i == ID_NONE)
        return task;
    naive_tenants_begin(host);
    return naive_of_tenant(host, naive_tenant(host, naive_slot(host, task.i)->pub.job.i),
                           naive_slot(host, task.i)->seq, gpus_max);
}

/* ---- deals: all jobs are sorted at each ---- */

void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion)
{
    cs_reallocate(host, motion->sorted != NULL ? motion->sorted : motion->key);
}

void cs_reallocate_note(struct cs_host *host, struct job_id job)
{
    (void)host;
    (void)job;
}
