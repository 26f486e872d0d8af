/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.h - jobs that may go on cores, where a plan counts GPUs; and the cores of a
 * promise.
 *
 * Cores are counted over nodes together, in thousandths.  Nodes whose cores are not stated
 * do not count, nor do nodes that are out of service.
 */
#ifndef POLICIES_CORES_H
#define POLICIES_CORES_H

#include <stdint.h>
#include <string.h>

#include "policies/policy.h"

/* Starts a waiting whole job with its first role on cores.  Only the first role of a job may
 * have this choice.  CS_NO_ROOM: too few cores are free. */
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

/* Returns the thousandths of cores that a waiting job asks for with its GPUs. */
static inline int64_t cs_task_core_milli(const struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    const struct job_form *form = cs_request(host, task->job)->form;
    int64_t milli = 0;

    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];
        uint32_t gpus = form->role_count == 1 ? task->gpus : role->gpus;
        milli += role->pod ? role->core_milli
                 : gpus > 0 ? (int64_t)gpus * task->gpu_milli * role->cores
                            : INT64_C(1000) * role->cores;
    }
    return milli;
}

/* Returns the first time, from_ns or later, at which `milli` thousandths of cores should be
 * free if leases end as the host expects, and stores in *spare how many more are free then.
 * INT64_MAX, and 0 in *spare: never.  The first question makes a calendar of ends, which is
 * kept from then on. */
int64_t cs_cores_free_ns(struct cs_host *host, int64_t milli, int64_t from_ns,
                         int64_t *spare);

/* As cs_cores_free_ns(), but counts only the cores of the nodes in these groups (plan.h). */
int64_t cs_groups_cores_ns(struct cs_host *host, uint64_t groups, int64_t milli,
                           int64_t from_ns, int64_t *spare);

/* Does the first role of a job, which has just been started, hold GPUs?  On cores it holds
 * none. */
static inline bool cs_holds_gpus(const struct cs_host *host, struct job_id job)
{
    struct lease_id lease = cs_role_lease(host, job, 0);

    return lease.i == ID_NONE || cs_lease(host, lease)->gpus > 0;
}

#endif
