/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.h - jobs that may go on cores, where a plan counts GPUs.
 */
#ifndef POLICIES_CORES_H
#define POLICIES_CORES_H

#include <string.h>

#include "policies/policy.h"

/* Starts a waiting job with its first role, the only one that has a choice, on cores.
 * CS_NO_ROOM: too few are free. */
static inline enum cs_verdict cs_start_on_cores(struct cs_host *host, struct task_id id)
{
    uint32_t roles = cs_request(host, cs_task(host, id)->job)->form->role_count;
    struct cs_want want[FORM_ROLES_MAX];

    memset(want, 0, sizeof want);
    want[0].gpu_type = CS_ON_CORES;
    for (uint32_t r = 0; r < roles; r++)
        want[r].role = r;
    return cs_start_wants(host, id, want, roles);
}

/* Does the first role of a job that was started just now hold GPUs?  On cores it holds
 * none. */
static inline bool cs_holds_gpus(const struct cs_host *host, struct job_id job)
{
    struct lease_id lease = cs_role_lease(host, job, 0);

    return lease.i == ID_NONE || cs_lease(host, lease)->gpus > 0;
}

#endif
