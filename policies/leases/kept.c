/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.c - nodes that keep a role's state, and weights that it has not seen yet.
 *
 * Most roles stand on one node and owe nothing: of them home[] alone is stored.
 *
 * A role whose lease was given back finds its state where it was: it then wakes up, rather than
 * starts a process.  Weights that other roles of the job have trained meanwhile are owed to it,
 * in bytes, and must reach it before its next phase; owed_from is the role that has them.
 */
#include "policies/leases/kept.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "policies/leases/cost.h"
#include "policies/policy.h"
#include "policies/state/job_slot.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"

/* Returns room for what is kept of all roles of a job, empty: that of a job that is
 * forgotten, if there is any. */
static struct host_kept *make_room(struct cs_host *host)
{
    struct host_jobs *jobs = host->jobs;

    assert(jobs->free_kept_count <= jobs->free_kept_capacity);
    if (jobs->free_kept_count == 0)
        return arena_alloc(host->parts.arena, FORM_ROLES_MAX, sizeof(struct host_kept));
    struct host_kept *kept = jobs->free_kept[--jobs->free_kept_count];
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        kept[r].nodes = 0, kept[r].owed_bytes = 0;
    assert(kept->room == 0 || kept->share != NULL);
    return kept;
}

/* Returns what is kept of a role beyond home[]; the first time of a job it is made. */
static struct host_kept *more_of(struct cs_host *host, struct host_job_slot *job,
                                 uint32_t role)
{
    assert(role < FORM_ROLES_MAX);
    if (job->kept_more == NULL)
        job->kept_more = make_room(host);
    return &job->kept_more[role];
}

/* The shares are stored with their nodes alone: which GPUs kept the state does
 * not matter. */
void host_kept_put(struct cs_host *host, struct host_job_slot *job, uint32_t role,
                   const struct placement *placement)
{
    uint32_t nodes = placement->share_count;

    assert(nodes > 0);
    job->home[role] = placement->share[0].node;
    if (nodes == 1 && job->kept_more == NULL)
        return;
    struct host_kept *more = more_of(host, job, role);
    if (nodes > more->room) {
        more->share = arena_grow(host->parts.arena, more->share, more->room, nodes,
                                 sizeof *more->share);
        more->room = nodes;
    }
    more->nodes = nodes;
    memset(more->share, 0, nodes * sizeof *more->share);
    for (uint32_t s = 0; s < nodes; s++)
        more->share[s].node = placement->share[s].node;
}

/* On one node the answer lies in `one`, on several in what the job keeps. */
struct placement host_kept_from(const struct host_job_slot *job, uint32_t role,
                                struct share *one)
{
    assert(role < FORM_ROLES_MAX && job->home[role] != ID_NONE);
    if (job->kept_more != NULL && job->kept_more[role].nodes > 1)
        return (struct placement) { .share = job->kept_more[role].share,
                                    .share_count = job->kept_more[role].nodes };
    *one = (struct share) { .node = job->home[role] };
    return (struct placement) { .share = one, .share_count = 1 };
}

/* Does the node keep state of the role?  False too if no node does. */
bool host_kept_on(const struct host_job_slot *job, uint32_t role, uint32_t node)
{
    struct share one;

    assert(node != ID_NONE);
    if (job->home[role] == ID_NONE)
        return false;
    struct placement from = host_kept_from(job, role, &one);
    for (uint32_t s = 0; s < from.share_count; s++)
        if (from.share[s].node == node)
            return true;
    return false;
}

/* Only a job that ever owed, or kept state on several nodes, needs memory for
 * it. */
void host_kept_owe(struct cs_host *host, struct host_job_slot *job, uint32_t role,
                   uint32_t from, double bytes)
{
    assert(bytes >= 0 && from < FORM_ROLES_MAX);
    if (!(bytes > 0) && job->kept_more == NULL)
        return;
    struct host_kept *more = more_of(host, job, role);
    more->owed_bytes = bytes;
    more->owed_from = from;
}

/* Returns the bytes of new weights that the role is owed, and stores the role that has them.
 * 0: none are owed, and *from stays as it was. */
double host_kept_owed(const struct host_job_slot *job, uint32_t role, uint32_t *from)
{
    assert(role < FORM_ROLES_MAX);
    if (job->kept_more == NULL || !(job->kept_more[role].owed_bytes > 0))
        return 0;
    if (from != NULL)
        *from = job->kept_more[role].owed_from;
    return job->kept_more[role].owed_bytes;
}

struct host_standing host_standing_of(const struct cs_host *host, uint32_t job,
                                      uint32_t role)
{
    assert(role < FORM_ROLES_MAX);
    return (struct host_standing) {
        .woken = host_role_home(host, job, role) != ID_NONE,
        .first = host_job_is_new(host, job), .owed_bytes = host_role_owed(host, job, role),
    };
}

/* State of a role that holds a lease is not parked: it is lost or saved with the lease. */
bool host_parked_on(const struct cs_host *host, uint32_t j, uint32_t node)
{
    const struct host_job_slot *job = host_job_slot(host, j);
    const struct job_form *form = host_form_of(job);

    assert(node != ID_NONE && form->role_count <= FORM_ROLES_MAX);
    if (job->pub.end_ns != CLOCK_NEVER_NS)
        return false;
    for (uint32_t r = 0; r < form->role_count; r++)
        if (job->lease[r] == ID_NONE && host_kept_on(job, r, node) &&
            form->role[r].save_bytes > 0)
            return true;
    return false;
}

/* If one node of several is lost, all of the state is: each node has a part of
 * it. */
void host_forget_home(struct cs_host *host, uint32_t j, uint32_t role,
                      uint32_t node)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(role < host_form_of(job)->role_count);
    if (host_kept_on(job, role, node))
        job->home[role] = ID_NONE;
}

/* As host_forget_home(), for all roles of a job that hold no lease. */
void host_forget_parked(struct cs_host *host, uint32_t j, uint32_t node)
{
    struct host_job_slot *job = host_job_slot(host, j);

    assert(node < host->spec->node_count);
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        if (job->lease[r] == ID_NONE && host_kept_on(job, r, node))
            job->home[r] = ID_NONE;
}
