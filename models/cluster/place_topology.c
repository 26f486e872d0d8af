/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_topology.c - a gang as close together as it goes: in one NVLink
 * domain, else on one node, else on the nodes of one rack, else anywhere.
 *
 * At each level the place with the fewest free GPUs that holds the gang, the
 * first of equals.  A rack is what stands under one leaf switch; without leaf
 * switches there is none.  Levels that Philly's scheduler tries in this order
 * (Jeon et al., ATC 2019), which also waits for a better one; this does not.
 */
#include "models/cluster/place_parts.h"

#include <assert.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/types/placement.h"

/* The nodes [first, end) that hold the gang by pack, if they do. */
static bool fit_within(const struct cluster *cluster, const struct fit_want *want,
                       uint32_t first, uint32_t end, struct share *share,
                       uint32_t share_max, struct placement *out)
{
    struct fit_want here = *want;

    assert(first < end && end <= cluster->spec->node_count);
    here.node_first = first;
    here.node_end = end;
    return fit_find(cluster, FIT_PACK, &here, share, share_max, out);
}

/* Is the group of the type that is tried, and does the want allow it? */
static bool may_use(const struct cluster *cluster, const struct fit_want *want, uint32_t g)
{
    const struct node_group *group = &cluster->spec->group[g];

    return group->gpu != NULL && group->gpu->index == want->gpu_types[0] &&
           fit_allows(want, g, group->pool);
}

/* Free GPUs of a node, or of the domain of it that holds the gang and has the
 * fewest; 0: it holds too few. */
static uint32_t count_closest(const struct cluster *cluster,
                              const struct fit_want *want, uint32_t node,
                              bool domain)
{
    assert(node < cluster->spec->node_count);
    const struct node_group *group =
        &cluster->spec->group[cluster->group_of[node]];
    uint64_t free_mask = cluster->free_mask[node];
    uint32_t best = 0, each = group->nvlink_domain;

    if ((int64_t)want->cores * want->gpus > cluster->free_cores[node] ||
        want->memory_bytes * want->gpus > cluster->free_memory[node])
        return 0;
    if (!domain || each == 0)
        return mask_count(free_mask) >= want->gpus ? mask_count(free_mask)
                                                   : 0;
    for (uint32_t i = 0; i * each < group->gpus; i++) {
        uint32_t here = mask_count(free_mask & cluster_domain_gpus(group, i));
        if (here >= want->gpus && (best == 0 || here < best))
            best = here;
    }
    return best;
}

/* One node, or one NVLink domain of it: the one with the fewest free GPUs. */
static bool place_on_node(const struct cluster *cluster,
                          const struct fit_want *want, bool domain,
                          struct share *share, struct placement *out)
{
    assert(share != NULL && out != NULL);
    const struct cluster_spec *spec = cluster->spec;
    uint32_t found = UINT32_MAX, least = UINT32_MAX;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        if (!may_use(cluster, want, g) || group->gpus < want->gpus)
            continue;
        for (uint32_t i = 0; i < group->node_count; i++) {
            uint32_t node = group->first_node + i;
            uint32_t gpus = count_closest(cluster, want, node, domain);
            if (gpus == 0 || gpus >= least)
                continue;
            found = node;
            least = gpus;
        }
    }
    return found != UINT32_MAX &&
           fit_within(cluster, want, found, found + 1, share, 1, out);
}

/* Free GPUs of the type in the nodes [first, end). */
static uint32_t count_free(const struct cluster *cluster,
                           const struct fit_want *want, uint32_t first,
                           uint32_t end)
{
    assert(first <= end);
    uint32_t gpus = 0;

    for (uint32_t node = first; node < end; node++)
        if (may_use(cluster, want, cluster->group_of[node]))
            gpus += mask_count(cluster->free_mask[node]);
    return gpus;
}

/* The rack with the fewest free GPUs that holds the gang by pack. */
static bool place_in_rack(const struct cluster *cluster,
                          const struct fit_want *want, struct share *share,
                          uint32_t share_max, struct placement *out)
{
    assert(share_max > 0);
    uint32_t each = cluster->spec->leaf_nodes, found = UINT32_MAX;
    uint32_t nodes = cluster->spec->node_count, least = UINT32_MAX;

    for (uint32_t first = 0; each > 0 && first < nodes; first += each) {
        uint32_t end = first + each < nodes ? first + each : nodes;
        uint32_t gpus = count_free(cluster, want, first, end);
        if (gpus < want->gpus || gpus >= least ||
            !fit_within(cluster, want, first, end, share, share_max, out))
            continue;
        found = first;
        least = gpus;
    }
    if (found == UINT32_MAX)
        return false;
    return fit_within(cluster, want, found,
                      found + each < nodes ? found + each : nodes, share,
                      share_max, out);
}

/* From the closest to the farthest: one NVLink domain, one node, one rack, anywhere. */
static bool place_type(const struct cluster *cluster,
                       const struct fit_want *want, struct share *share,
                       uint32_t share_max, struct placement *out)
{
    return place_on_node(cluster, want, true, share, out) ||
           place_on_node(cluster, want, false, share, out) ||
           place_in_rack(cluster, want, share, share_max, out) ||
           fit_find(cluster, FIT_PACK, want, share, share_max, out);
}

bool place_topology(const struct cluster *cluster,
                    const struct fit_want *want, struct share *share,
                    uint32_t share_max, struct placement *out)
{
    const struct cluster_spec *spec = cluster->spec;
    struct fit_want one = *want;

    assert(want->gpus > 0 && want->extra == NULL);
    one.gpu_type_count = 1;
    for (uint32_t t = 0; t < want->gpu_type_count; t++) {
        one.gpu_types = &want->gpu_types[t];
        if (place_type(cluster, &one, share, share_max, out))
            return true;
    }
    for (uint32_t g = 0; want->gpu_type_count == 0 && g < spec->group_count;
         g++) {
        if (spec->group[g].gpu == NULL ||
            (g > 0 && spec->group[g].gpu == spec->group[g - 1].gpu))
            continue;
        one.gpu_types = &spec->group[g].gpu->index;
        if (place_type(cluster, &one, share, share_max, out))
            return true;
    }
    return false;
}
