/* SPDX-License-Identifier: GPL-3.0-or-later */
/* free_index.c - indexes by free GPUs (gpu_index.h) and cores, group by group. */
#include "models/cluster/free_index.h"

#include <assert.h>
#include <stddef.h>

#include "models/cluster/capacity_index.h"
#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"

static void group_room_init(struct group_index *room, struct arena *arena,
                            const struct node_group *group)
{
    if (group->gpus == 0)
        return;
    assert(group->node_count > 0);
    gpu_index_init(&room->room, arena, group->node_count, group->gpus);
    room->cores_per_gpu = group->cores / group->gpus;
    room->memory_per_gpu = group->memory_bytes / group->gpus;
}

static bool is_short(const struct group_index *room, uint32_t gpus,
                     const struct node_free *node)
{
    assert(node != NULL);
    return (uint64_t)gpus * room->cores_per_gpu > node->cores ||
           gpus * room->memory_per_gpu > node->memory_bytes;
}

uint32_t free_index_cores_class(uint32_t cores)
{
    return cores == 0 ? 0 : 32 - (uint32_t)__builtin_clz(cores);
}

void free_index_init(struct free_index *index, struct arena *arena,
                     const struct cluster_spec *spec)
{
    assert(spec->group_count > 0);
    index->room = arena_alloc(arena, spec->group_count, sizeof *index->room);
    index->cores = arena_alloc(arena, spec->group_count,
                               sizeof *index->cores);
    index->gpus = arena_alloc(arena, spec->group_count, sizeof *index->gpus);
    index->caps = capacity_book_new(arena, spec);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        group_room_init(&index->room[g], arena, group);
        gpu_index_init(&index->cores[g], arena, group->node_count,
                       free_index_cores_class(group->cores));
        index->gpus[g] = group->gpus * group->node_count;
    }
}

void free_index_move(struct free_index *index,
                     const struct cluster_spec *spec, uint32_t g,
                     uint32_t node, const struct node_free *before,
                     const struct node_free *now)
{
    uint32_t at = node - spec->group[g].first_node;
    uint32_t gpus_before = mask_count(before->gpu_mask);
    uint32_t gpus = mask_count(now->gpu_mask);
    struct group_index *room = &index->room[g];

    assert(g < spec->group_count && at < spec->group[g].node_count);
    if (room->room.node_count > 0) {
        gpu_index_set(&room->room, at, gpus_before, gpus);
        room->short_nodes -= is_short(room, gpus_before, before);
        room->short_nodes += is_short(room, gpus, now);
        assert(room->short_nodes <= room->room.node_count);
    }
    gpu_index_set(&index->cores[g], at, free_index_cores_class(before->cores),
                  free_index_cores_class(now->cores));
    index->gpus[g] += gpus - gpus_before;
    capacity_note(index->caps, node);
}
