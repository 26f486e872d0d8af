/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block.c - parts of rented nodes that nobody may lease.
 *
 * A blocked part is taken from the cluster like a lease's, and its GPUs count as away in
 * their pool.
 */
#include "policies/nodes/rental.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "policies/state/pools.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"

const struct rent_spec *host_rental_spec(const struct cs_host *host, uint32_t node)
{
    assert(node < host->spec->node_count);
    return cluster_group_of(host->spec, node)->rent;
}

struct rent_group *host_rental_group(const struct cs_host *host, uint32_t node)
{
    const struct node_group *group = cluster_group_of(host->spec, node);

    assert(group->rent != NULL);
    return &host->rent->group[group - host->spec->group];
}

/* The counter of a node's pool: thousandths of GPUs that are away. */
static uint64_t *away_of(struct cs_host *host, uint32_t node)
{
    uint32_t pool = cluster_group_of(host->spec, node)->pool;

    assert(pool < host->spec->pool_count);
    return &host->pools->pool[pool].away_milli;
}

/* The part is remembered as it is, so that it can be given back exactly. */
double host_rental_block_share(struct cs_host *host, const struct share *free)
{
    struct rent_node *node = &host->rent->node[free->node];
    struct placement part = { .share = (struct share *)free,
                              .share_count = 1 };

    assert(free->node < host->spec->node_count);
    assert(node->blocks <= node->block_room);
    if (node->blocks == node->block_room) {
        uint32_t room = node->block_room ? 2 * node->block_room : 1;
        node->block = arena_grow(host->parts.arena, node->block,
                                 node->block_room, room, sizeof *node->block);
        node->block_room = room;
    }
    cluster_take(host->cluster, &part);
    node->block[node->blocks++] = *free;
    *away_of(host, free->node) += share_milli(free);
    return share_milli(free) / (double)GPU_MILLI;
}

/* Blocks the free rest of each GPU of which a part is taken; returns the rests
 * together, in GPUs.  A GPU of which nothing is left, or all, is none of these. */
static double block_parts(struct cs_host *host, uint32_t n)
{
    uint32_t gpus = cluster_group_of(host->spec, n)->gpus;
    double sum = 0;

    assert(gpus <= NODE_GPUS_MAX && host->cluster->parts != NULL);
    for (uint32_t g = 0; g < gpus; g++) {
        uint16_t left = cluster_left(host->cluster, n)[g];
        uint32_t mib = cluster_mib_left(host->cluster, n)[g];
        struct share part = { .node = n, .gpu_mask = UINT64_C(1) << g,
                              .gpu_milli = left,
                              .gpu_mib = mib == UINT32_MAX ? 0 : mib };
        if (left > 0 && left < GPU_MILLI)
            sum += host_rental_block_share(host, &part);
    }
    return sum;
}

/* Whole GPUs, cores and memory first; with them all cores of the node, so that parts of GPUs
 * need none. */
double host_rental_block_free(struct cs_host *host, uint32_t n)
{
    const struct cluster *cluster = host->cluster;

    assert(n < host->spec->node_count);
    struct share free = cluster_free_share(cluster, n);
    double gpus = host_rental_block_share(host, &free);

    return cluster->parts ? gpus + block_parts(host, n) : gpus;
}

/* Gives the parts of a blocked node back, the last one first: the reverse of the order in
 * which they were taken. */
void host_rental_unblock(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->rent->node[n];

    while (node->blocks > 0) {
        struct share *share = &node->block[--node->blocks];
        struct placement part = { .share = share, .share_count = 1 };
        assert(share->node == n && *away_of(host, n) >= share_milli(share));
        cluster_release(host->cluster, &part);
        *away_of(host, n) -= share_milli(share);
    }
}

void host_rental_block(struct cs_host *host, uint32_t n)
{
    assert(host->rent->node[n].state == RENT_AWAY);
    assert(host->rent->node[n].blocks == 0);
    host_rental_block_free(host, n);
}
