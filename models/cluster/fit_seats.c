/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_seats.c - passes over the nodes that may hold a gang.
 *
 * A pass for GPUs that are free visits, by the index in gpu_index.h, only nodes
 * whose number of free GPUs is in a set that the rule names; the rule judges
 * every one it meets, so that the set may be too large and never too small.
 * A pass for cores passes over nodes that have none free, by an index of the same
 * kind.
 */
#include "models/cluster/fit_parts.h"

#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/gpu_index.h"
#include "models/types/placement.h"

/* Units for which `have` suffices, at most `units`. */
static uint32_t count_units(uint32_t units, int64_t have, int64_t per_unit)
{
    int64_t all;
    if (units == 0 || per_unit <= 0)
        return units;
    if (!__builtin_mul_overflow(per_unit, (int64_t)units, &all) && all <= have)
        return units;       /* mostly: spares a division */
    return have <= 0 ? 0 : (uint32_t)(have / per_unit);
}

/* Memory is rounded up once for all units of a node, so that whole bytes may hold one unit
 * less. */
uint32_t fit_count_memory(const struct fit_hunt *hunt, uint32_t units, int64_t have)
{
    units = count_units(units, have, hunt->unit_memory);
    while (units > 0 && fit_memory_of(hunt, units) > have)
        units--;            /* parts of bytes: mostly of one unit */
    return units;
}

void fit_seat_fill(const struct fit_hunt *hunt, const struct node_group *group,
                   struct fit_seat *seat)
{
    uint32_t node = seat->at;
    uint64_t mask = hunt->cluster->free_mask[node];
    int64_t cores = hunt->cluster->free_cores[node];
    int64_t memory = hunt->cluster->free_memory[node];
    if (hunt->want->extra != NULL) {
        mask |= hunt->want->extra[node].gpu_mask;
        cores += hunt->want->extra[node].cores;
        memory += hunt->want->extra[node].memory_bytes;
    }
    seat->size = hunt->type != NULL ? group->gpus : group->cores;
    seat->free = hunt->type != NULL ? mask_count(mask)
                                    : (uint32_t)cores;
    assert(seat->free <= seat->size);
    seat->cap = count_units(seat->free, cores, hunt->unit_cores);
    seat->cap = fit_count_memory(hunt, seat->cap, memory);
}

/* The next node of a group from seat->node on; an index passes over those
 * whose number of free GPUs is not in `counts`.  UINT32_MAX: the group has no more. */
static uint32_t node_next(const struct fit_hunt *hunt, const struct fit_seat *seat,
                          uint64_t counts)
{
    const struct node_group *group = &hunt->cluster->spec->group[seat->group];
    uint32_t node = seat->node > group->first_node
                        ? seat->node - group->first_node : 0;
    if (hunt->indexed)
        node = gpu_index_next(&hunt->index->room[seat->group].room, node,
                              counts);
    else if (hunt->want->node_first > group->first_node + node)
        node = hunt->want->node_first - group->first_node;
    if (hunt->cores_indexed && node < group->node_count)
        node = gpu_index_next(&hunt->index->cores[seat->group], node,
                              gpu_index_from(1));
    if (hunt->want->node_end > 0 &&
        group->first_node + node >= hunt->want->node_end)
        return UINT32_MAX;
    return node < group->node_count ? group->first_node + node : UINT32_MAX;
}

bool fit_seat_next(const struct fit_hunt *hunt, struct fit_seat *seat,
                   uint64_t counts)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (; seat->group < spec->group_count; seat->group++) {
        const struct node_group *group = &spec->group[seat->group];
        if (!fit_group_matches(hunt, group))
            continue;
        uint32_t node = node_next(hunt, seat, counts);
        if (node != UINT32_MAX) {
            if (hunt->want->looks != NULL)
                ++*hunt->want->looks;
            seat->at = node;
            seat->node = node + 1;
            fit_seat_fill(hunt, group, seat);
            return true;
        }
    }
    return false;
}

bool fit_give_units(struct fit_hunt *hunt, uint32_t node, uint32_t units)
{
    assert(units > 0 && units <= hunt->units);
    if (hunt->share == NULL)
        return true;
    if (hunt->share_count == hunt->share_max)
        return false;
    uint32_t i = hunt->share_count++;
    for (; i > 0 && hunt->share[i - 1].node > node; i--)
        hunt->share[i] = hunt->share[i - 1];
    assert(i == 0 || hunt->share[i - 1].node < node);
    /* The mask holds no GPUs yet: fit.c chooses them.  Cores hold units
     * until then. */
    hunt->share[i] = (struct share){ .node = node, .cores = units };
    return true;
}
