/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.c - what a trial has taken of its cluster.
 *
 * Taking and releasing costs a few operations per share.  Both check every
 * share before they change anything, so that the books can never go wrong
 * unseen.
 */
#include "models/cluster.h"
#include "models/placement.h"

#include <assert.h>
#include <string.h>

#include "sim/arena.h"

const struct node_group *cluster_group_search(const struct cluster_spec *spec,
                                              uint32_t node)
{
    assert(spec != NULL && node < spec->node_count);
    uint32_t low = 0, high = spec->group_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (spec->group[middle].first_node <= node)
            low = middle;
        else
            high = middle - 1;
    }
    assert(node - spec->group[low].first_node < spec->group[low].node_count);
    return &spec->group[low];
}

/* GPUs first, first + 1 ... of a node that has `all` of them. */
static uint64_t gpu_range(uint32_t first, uint32_t count, uint32_t all)
{
    assert(all <= NODE_GPUS_MAX && count > 0);
    uint64_t mask = 0;
    for (uint32_t g = first; g < first + count && g < all; g++)
        mask |= UINT64_C(1) << g;
    return mask;
}

uint64_t cluster_switch_gpus(const struct node_group *group, uint32_t i)
{
    assert(group != NULL && i < group->pcie_switches);
    assert(group->gpus % group->pcie_switches == 0);
    uint32_t each = group->gpus / group->pcie_switches;
    return gpu_range(i * each, each, group->gpus);
}

uint64_t cluster_domain_gpus(const struct node_group *group, uint32_t i)
{
    assert(group != NULL && i <= NODE_GPUS_MAX && group->gpus > 0);
    uint32_t each = group->nvlink_domain > 0 ? group->nvlink_domain
                                             : group->gpus;
    return gpu_range(i * each, each, group->gpus);
}

uint32_t cluster_pool(const struct cluster_spec *spec, const char *name)
{
    assert(spec != NULL && name != NULL);
    for (uint32_t i = 0; i < spec->pool_count; i++)
        if (strcmp(spec->pool_name[i], name) == 0)
            return i;
    return UINT32_MAX;
}

static uint64_t all_gpus(uint32_t gpus)
{
    assert(gpus <= NODE_GPUS_MAX);
    return gpus == 64 ? UINT64_MAX : (UINT64_C(1) << gpus) - 1;
}

static void group_room_init(struct group_room *room, struct arena *arena,
                            const struct node_group *group)
{
    if (group->gpus == 0)
        return;
    assert(group->node_count > 0);
    room_init(&room->room, arena, group->node_count, group->gpus);
    room->cores_per_gpu = group->cores / group->gpus;
    room->memory_per_gpu = group->memory_bytes / group->gpus;
}

static bool is_short(const struct group_room *room, uint32_t gpus,
                     uint32_t cores, int64_t memory_bytes)
{
    return (uint64_t)gpus * room->cores_per_gpu > cores ||
           gpus * room->memory_per_gpu > memory_bytes;
}

/* A node's books after a change, and the index over them. */
static void note_free(struct cluster *cluster, uint32_t node, uint64_t mask,
                      uint32_t cores, int64_t memory_bytes)
{
    uint32_t g = cluster->group_of[node];
    struct group_room *room = &cluster->room[g];
    uint32_t before = mask_count(cluster->free_mask[node]);
    uint32_t now = mask_count(mask);

    if (room->room.node_count > 0) {
        room_set(&room->room, node - cluster->spec->group[g].first_node,
                 before, now);
        room->short_nodes -= is_short(room, before, cluster->free_cores[node],
                                      cluster->free_memory[node]);
        room->short_nodes += is_short(room, now, cores, memory_bytes);
        assert(room->short_nodes <= room->room.node_count);
    }
    cluster->free_mask[node] = mask;
    cluster->free_cores[node] = cores;
    cluster->free_memory[node] = memory_bytes;
    cluster->group_free_gpus[g] += now - before;
    cluster->free_gpus += now - before;
}

struct cluster *cluster_new(struct arena *arena,
                            const struct cluster_spec *spec)
{
    assert(arena != NULL && spec != NULL && spec->node_count > 0);
    struct cluster *cluster = arena_alloc(arena, 1, sizeof *cluster);
    uint32_t nodes = spec->node_count;
    *cluster = (struct cluster){
        .spec = spec,
        .free_mask = arena_alloc(arena, nodes, sizeof *cluster->free_mask),
        .free_cores = arena_alloc(arena, nodes, sizeof *cluster->free_cores),
        .free_memory = arena_alloc(arena, nodes, sizeof *cluster->free_memory),
        .group_of = arena_alloc(arena, nodes, sizeof *cluster->group_of),
        .group_free_gpus = arena_alloc(arena, spec->group_count,
                                       sizeof *cluster->group_free_gpus),
        .room = arena_alloc(arena, spec->group_count, sizeof *cluster->room),
    };
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        group_room_init(&cluster->room[g], arena, group);
        for (uint32_t i = 0; i < group->node_count; i++) {
            uint32_t node = group->first_node + i;
            cluster->free_mask[node] = all_gpus(group->gpus);
            cluster->free_cores[node] = group->cores;
            cluster->free_memory[node] = group->memory_bytes;
            cluster->group_of[node] = g;
        }
        cluster->group_free_gpus[g] = group->gpus * group->node_count;
        cluster->free_gpus += cluster->group_free_gpus[g];
    }
    assert(cluster->free_gpus == spec->gpu_count);
    return cluster;
}

bool cluster_can_take(const struct cluster *cluster,
                      const struct placement *placement)
{
    assert(cluster != NULL && placement != NULL);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        uint32_t node = share->node;
        if (node >= cluster->spec->node_count ||
            (i > 0 && placement->share[i - 1].node >= node))
            return false;
        if ((share->gpu_mask & ~cluster->free_mask[node]) != 0 ||
            share->cores > cluster->free_cores[node] ||
            share->memory_bytes < 0 ||
            share->memory_bytes > cluster->free_memory[node])
            return false;
    }
    return true;
}

void cluster_take(struct cluster *cluster, const struct placement *placement)
{
    assert(cluster_can_take(cluster, placement));
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        uint32_t node = share->node;
        note_free(cluster, node, cluster->free_mask[node] & ~share->gpu_mask,
                  cluster->free_cores[node] - share->cores,
                  cluster->free_memory[node] - share->memory_bytes);
    }
}

/* Gives back no more than was taken: to a node, its whole is the bound. */
static void release_share(struct cluster *cluster, const struct share *share)
{
    uint32_t node = share->node;
    assert(node < cluster->spec->node_count);
    const struct node_group *group =
        &cluster->spec->group[cluster->group_of[node]];
    assert((share->gpu_mask & cluster->free_mask[node]) == 0);
    assert((share->gpu_mask & ~all_gpus(group->gpus)) == 0);
    assert(share->cores <= group->cores - cluster->free_cores[node]);
    assert(share->memory_bytes >= 0 &&
           share->memory_bytes <=
               group->memory_bytes - cluster->free_memory[node]);
    note_free(cluster, node, cluster->free_mask[node] | share->gpu_mask,
              cluster->free_cores[node] + share->cores,
              cluster->free_memory[node] + share->memory_bytes);
}

void cluster_release(struct cluster *cluster,
                     const struct placement *placement)
{
    assert(cluster != NULL && placement != NULL);
    cluster->releases++;
    for (uint32_t i = 0; i < placement->share_count; i++)
        release_share(cluster, &placement->share[i]);
    assert(cluster->free_gpus <= cluster->spec->gpu_count);
}
