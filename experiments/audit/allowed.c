/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.c - where a role may run, by what its request says.
 */
#include "experiments/audit/allowed.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/types/ids.h"
#include "models/types/placement.h"

#define BYTES_PER_MIB 1048576.0

/* Returns why a role may hold nothing of a group of nodes, or NULL: it may.  gpus: it holds
 * GPUs there. */
static const char *forbidden_on(const struct cluster_spec *cluster,
                                const struct job_request *request, uint32_t role,
                                const struct node_group *group, bool gpus)
{
    const struct role_spec *spec = &request->form->role[role];
    double bytes = group->gpu != NULL ? group->gpu->memory_bytes : 0;

    if (spec->pool != NULL && strcmp(spec->pool, cluster->pool_name[group->pool]) != 0)
        return "a lease lies in another pool than its role asks for";
    if (request->rates != NULL && !(request->rates->pool_mask >> group->pool & 1))
        return "a lease lies in a pool where its job has no rate";
    if (!gpus)
        return NULL;
    if (!job_role_takes_type(spec, group->gpu != NULL ? group->gpu->index : ID_NONE))
        return "a lease holds GPUs of a type that its role does not ask for";
    if (role == 0 && request->gpu_mib > 0 && bytes > 0 &&
        bytes < request->gpu_mib * BYTES_PER_MIB)
        return "a lease holds GPUs with less memory than its job asks for";
    return NULL;
}

const char *audit_forbidden(const struct cluster_spec *cluster,
                            const struct job_request *request, uint32_t role,
                            const struct placement *placement)
{
    const struct node_group *last = NULL;
    const char *why = NULL;
    bool gpus = false;

    assert(role < request->form->role_count);
    for (uint32_t s = 0; s < placement->share_count && why == NULL; s++) {
        const struct share *share = &placement->share[s];
        const struct node_group *group = cluster_group_of(cluster, share->node);

        gpus = gpus || share->gpu_mask != 0;
        if (group != last)
            why = forbidden_on(cluster, request, role, group, share->gpu_mask != 0);
        last = group;
    }
    if (why == NULL && !gpus && job_role_gpus(request, role) > 0 &&
        request->form->role[role].on_cores.cores == 0)
        return "a lease is on cores alone, and its role needs GPUs";
    return why;
}
