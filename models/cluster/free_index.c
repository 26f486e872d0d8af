/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * free_index.c - indexes by free GPUs (gpu_index.h) and cores, group by group.
 *
 * Only the beginning is here, when all is free; changes are in line, in
 * free_index.h, as they belong to the hottest path of a run.
 */
#include "models/cluster/free_index.h"

#include <assert.h>
#include <stddef.h>

#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"

/* Nodes without GPUs have no index by GPUs; its node_count stays 0. */
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
