/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turned.c - jobs that came, started or wait again, for policies that keep
 * lists of their own: what changed is told, so that they need not look at all
 * that runs.
 *
 * Kept from the first question on.  A job is told of as often as it turned.
 */
#include <assert.h>

#include "policies/rank.h"
#include "policies/state/jobs.h"
#include "policies/state/state.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"

/* Jobs that turned since the policy was told of all. */
struct host_turned {
    uint32_t *job, count, room;
    uint32_t told;              /* how many of them */
};

void host_turned_add(struct cs_host *host, uint32_t job)
{
    struct host_turned *turned = host->waiting->turned;

    assert(turned != NULL && job < host_jobs_submitted(host));
    if (turned->count == turned->room) {
        uint32_t room = turned->room > 0 ? 2 * turned->room : 64;
        turned->job = arena_grow(host->parts.arena, turned->job,
                                 turned->room, room, sizeof *turned->job);
        turned->room = room;
    }
    turned->job[turned->count++] = job;
    assert(turned->told <= turned->count);
}

/* Jobs that have ended meanwhile are passed over.  After the last one the list
 * is empty. */
struct job_id cs_turned(struct cs_host *host)
{
    struct job_id none = { ID_NONE };

    assert(!host_per_phase(host));
    if (host->waiting->turned == NULL)
        host->waiting->turned = arena_alloc(host->parts.arena, 1,
                                   sizeof *host->waiting->turned);
    struct host_turned *turned = host->waiting->turned;
    while (turned->told < turned->count) {
        struct job_id job = { turned->job[turned->told++] };
        if (!host_job_ended(host, job.i))
            return job;
        assert(turned->told <= turned->count);
    }
    turned->told = turned->count = 0;
    return none;
}
