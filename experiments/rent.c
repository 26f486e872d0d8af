/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.c - leases on each node, and a gauge of nodes in use per group.
 */
#include "experiments/rent.h"

#include <assert.h>

#include "models/cluster.h"
#include "models/facts.h"
#include "models/placement.h"
#include "policies/host.h"
#include "sim/arena.h"
#include "sim/journal.h"
#include "sim/tally.h"

struct rent {
    const struct cluster_spec *spec;
    const struct cs_host *host;
    struct gauge *used;         /* per group, nodes */
    uint32_t *leases;           /* per node */
};

static void hear(void *self, const struct fact *fact)
{
    struct rent *rent = self;
    struct lease_id id = { fact->subject };
    const struct placement *place = &cs_lease(rent->host, id)->placement;

    for (uint32_t i = 0; i < place->share_count; i++) {
        uint32_t node = place->share[i].node;
        const struct node_group *group = cluster_group_of(rent->spec, node);
        struct gauge *used = &rent->used[group - rent->spec->group];

        if (!group->billed_held)
            continue;
        if (fact->kind == FACT_LEASE_TAKE && rent->leases[node]++ == 0)
            gauge_set(used, fact->time_ns, used->level + 1);
        if (fact->kind != FACT_LEASE_DROP)
            continue;
        assert(rent->leases[node] > 0);
        if (--rent->leases[node] == 0)
            gauge_set(used, fact->time_ns, used->level - 1);
    }
}

struct rent *rent_new(const struct metrics_parts *parts)
{
    const struct cluster_spec *spec = parts->spec->cluster;
    struct rent *rent = NULL;

    for (uint32_t g = 0; g < spec->group_count && rent == NULL; g++)
        if (spec->group[g].billed_held)
            rent = arena_alloc(parts->arena, 1, sizeof *rent);
    if (rent == NULL)
        return NULL;
    rent->spec = spec;
    rent->used = arena_alloc(parts->arena, spec->group_count,
                             sizeof *rent->used);
    rent->leases = arena_alloc(parts->arena, spec->node_count,
                               sizeof *rent->leases);
    journal_listen(parts->journal, UINT64_C(1) << FACT_LEASE_TAKE |
                                       UINT64_C(1) << FACT_LEASE_DROP,
                   hear, rent);
    return rent;
}

void rent_watch(struct rent *rent, const struct cs_host *host)
{
    if (rent != NULL)
        rent->host = host;
}

void rent_begin(struct rent *rent, int64_t now_ns)
{
    for (uint32_t g = 0; rent != NULL && g < rent->spec->group_count; g++) {
        struct gauge *used = &rent->used[g];

        *used = (struct gauge){ now_ns, now_ns, used->level, 0 };
    }
}

double rent_node_s(const struct rent *rent, uint32_t group, int64_t now_ns)
{
    assert(rent != NULL && group < rent->spec->group_count);
    assert(rent->spec->group[group].billed_held);
    return gauge_area(&rent->used[group], now_ns);
}
