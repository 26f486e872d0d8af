/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpus.c - counts GPUs, and finds the nodes that have them; the parts of GPUs that jobs ask for
 * are remembered by their least.
 */
#include "policies/state/gpus.h"

#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "policies/state/terms.h"
#include "policies/state/waiting.h"

bool host_has_parts(const struct cs_host *host)
{
    assert(host->waiting != NULL);
    return host->waiting->has_parts;
}

uint32_t host_free_gpus(const struct cs_host *host, uint32_t pool_mask)
{
    uint32_t gpus = 0;

    assert(host->spec->pool_count > 0 && host->spec->pool_count <= 32);
    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (pool_mask == 0 || pool_mask >> p & 1)
            gpus += host->cluster->pool_free_gpus[p];
    return gpus;
}

/* If no whole GPU may be leased, tasks of one GPU are still tried where a part
 * may fit on a GPU. */
uint32_t host_gpus_to_try(const struct cs_host *host, uint32_t room)
{
    bool shares = host->waiting->has_parts &&
                  cluster_part_max(host->cluster) >= host->waiting->part_least;

    assert(host->waiting->part_least < GPU_MILLI);
    shares |= host->waiting->has_parts && host_free_gpus(host, 0) > 0;
    if (room == 0)
        return shares;
    if (!host_per_phase(host)) {
        uint32_t capped = host_gpus_capped(host->nodes, host->spec->power_cap_w);
        room = capped < room ? capped : room;
    }
    return room == 0 ? shares : room;
}

bool host_rents(const struct cs_host *host)
{
    assert(host->nodes != NULL);
    return host->rent != NULL;
}

/* All groups, as far as `gpus` lets them count, are CS_ALL_GROUPS, so that
 * questions about them need no calendar of their own. */
uint64_t host_groups_of(const struct cluster_spec *spec, uint32_t pool_mask, bool gpus,
                        uint32_t type)
{
    uint64_t groups = 0;
    bool all = true;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        if (gpus && group->gpus == 0)
            continue;
        if ((pool_mask == 0 || pool_mask >> group->pool & 1) &&
            (type == ID_NONE || (group->gpu != NULL && group->gpu->index == type)))
            groups |= g < 64 ? UINT64_C(1) << g : 0;
        else
            all = false;
    }
    assert(spec->group_count > 0);
    return all || spec->group_count > 64 ? CS_ALL_GROUPS : groups;
}
