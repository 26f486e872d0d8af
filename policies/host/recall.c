/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recall.c - cs_take_back(): leases that are taken back, now or after a delay;
 * and the nodes of the cluster as a policy may see them.
 *
 * If a phase ends at the instant of the recall, its end comes first, and it
 * counts as done.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/placement.h"
#include "policies/host/request.h"
#include "policies/known.h"
#include "policies/leases/job.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/nodes/rental.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/lease_slot.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

/* Takes a lease back: what runs is cut short and keeps what it can, state is saved,
 * and the job goes on with what is ready elsewhere. */
static void recall_now(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    uint32_t j = lease->pub.job.i;

    assert(i < host->leases->count);
    assert(lease->live && !lease->leaving);
    if (lease->running)
        host_phase_cut_keep(host, i);
    if (lease->pub.state == CS_LEASE_LOADING)
        host_drop(host, i);
    else
        host_leave(host, i);
    host_job_advance(host, j);
    host->hooks.wake(host);
}

/* The event of a recall with a delay: the time that the lease was given is
 * over. */
static void recall_due(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    recall_now(self, (uint32_t)arg);
}

/* Returns CS_DONE if the policy may take the lease back, else why not. */
static enum cs_verdict check_recall(const struct cs_host *host,
                                    struct lease_id id)
{
    uint32_t both = CS_PER_PHASE | CS_PREEMPTS;

    if ((host->policy->flags & both) != both)
        return CS_NOT_ALLOWED;
    if (!cs_lease_held(host, id) ||
        host->leases->slot[id.i].leaving)
        return CS_NOT_PENDING;
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    const struct job_form *form = cs_request(host, lease->pub.job)->form;
    assert(lease->phase < form->phase_count);
    if (phase_law_usual(&form->phase[lease->phase])->kind == LAW_SERVE &&
        lease->running)
        return CS_NOT_ALLOWED;
    return CS_DONE;
}

/* Three cases.  A lease that is idle, or a delay of 0, is taken back now.  If
 * an earlier recall is under way, the earlier time stands, and only the first
 * counts as a preemption.  Else an event is planned, which comes after the ends
 * of phases at its instant. */
enum cs_verdict cs_take_back(struct cs_host *host, struct lease_id id,
                             int64_t delay_ns)
{
    enum cs_verdict verdict = check_recall(host, id);

    if (verdict != CS_DONE)
        return host_answer(host, HOST_TAKE_BACK, (struct job_id) { ID_NONE },
                           CS_ALL_ROLES, verdict, NULL);
    struct host_lease_slot *lease = &host->leases->slot[id.i];
    struct job_id job = lease->pub.job;
    host_answer(host, HOST_TAKE_BACK, job, lease->pub.role, CS_DONE,
                &lease->pub.placement);
    int64_t at_ns = clock_after(host_now(host), delay_ns > 0 ? delay_ns : 0);
    assert(at_ns >= host_now(host));
    if (!loop_cancel(host->parts.loop, lease->recall)) {
        host_note_stop(host, job);
    } else if (lease->recall_ns < at_ns) {
        at_ns = lease->recall_ns;       /* an earlier recall stands */
    }
    if (at_ns == host_now(host) || lease->pub.state == CS_LEASE_IDLE) {
        recall_now(host, id.i);
        return CS_DONE;
    }
    lease->recall_ns = at_ns;
    lease->recall = loop_at(host->parts.loop, at_ns, LOOP_RANK_OUTAGE,
                            recall_due, host, id.i);
    return CS_DONE;
}

uint32_t cs_node_count(const struct cs_host *host)
{
    return host->spec->node_count;
}

/* `here` is false for a rented node that is not rented now. */
struct cs_node cs_node(const struct cs_host *host, uint32_t n)
{
    assert(n < host->spec->node_count);
    const struct node_group *group = cluster_group_of(host->spec, n);

    return (struct cs_node) {
        .pool = group->pool, .gpus = group->gpus,
        .free_gpus = mask_count(host->cluster->free_mask[n]),
        .cores = group->cores, .memory_bytes = (double)group->memory_bytes,
        .here = !host->spec->rents || group->rent == NULL ||
                host_rental_here(host, n),
    };
}
