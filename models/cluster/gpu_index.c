/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_index.c - a tree of eights over the nodes of a group, see gpu_index.h.
 *
 * Every level is a whole number of eights, filled up with words that are 0,
 * so that no step needs to ask where the level ends.
 */
#include "models/cluster/gpu_index.h"

#include <assert.h>
#include <stddef.h>

#include "sim/base/arena.h"

#define FAN 8u

static uint64_t join(const uint64_t *eight)
{
    assert(eight != NULL);
    return eight[0] | eight[1] | eight[2] | eight[3] | eight[4] | eight[5] |
           eight[6] | eight[7];
}

void gpu_index_init(struct gpu_index *room, struct arena *arena, uint32_t node_count,
                    uint32_t gpus)
{
    assert(room != NULL && arena != NULL);
    assert(node_count > 0 && gpus <= NODE_GPUS_MAX);
    *room = (struct gpu_index){ .node_count = node_count };
    room->nodes_with[gpus] = node_count;
    uint32_t width = node_count;
    do {
        assert(room->level_count < GPU_INDEX_LEVELS_MAX);
        uint32_t blocks = width / FAN + (width % FAN != 0);
        uint64_t *word = arena_alloc(arena, (size_t)blocks * FAN,
                                     sizeof *word);
        for (uint32_t i = 0; i < width; i++)
            word[i] = gpu_index_exactly(gpus);
        room->level[room->level_count++] = word;
        width = width == 1 ? 0 : blocks;
    } while (width > 0);
}

void gpu_index_set(struct gpu_index *room, uint32_t node, uint32_t free_before,
                   uint32_t free_now)
{
    assert(node < room->node_count);
    assert(room->level[0][node] == gpu_index_exactly(free_before));
    if (free_before == free_now)
        return;
    room->nodes_with[free_before]--;
    room->nodes_with[free_now]++;
    uint64_t word = gpu_index_exactly(free_now);
    for (uint32_t l = 0; room->level[l][node] != word; l++) {
        room->level[l][node] = word;
        if (l + 1 == room->level_count)
            return;
        node /= FAN;
        word = join(&room->level[l][(size_t)node * FAN]);
    }
}

/* From a word that has one of the counts down to the first such node. */
static uint32_t descend(const struct gpu_index *room, uint32_t level, uint32_t at,
                        uint64_t counts)
{
    while (level > 0) {
        const uint64_t *word = room->level[--level];
        at *= FAN;
        while ((word[at] & counts) == 0)
            at++;
    }
    assert(at < room->node_count);
    return at;
}

uint32_t gpu_index_next(const struct gpu_index *room, uint32_t node, uint64_t counts)
{
    assert(room->level_count > 0);
    if (node >= room->node_count || (gpu_index_counts(room) & counts) == 0)
        return GPU_INDEX_NONE;
    for (uint32_t l = 0; l < room->level_count; l++, node /= FAN) {
        if (node % FAN == 0 && l + 1 < room->level_count)
            continue;           /* a whole eight is one word above */
        const uint64_t *word = room->level[l];
        uint32_t end = node - node % FAN + FAN;
        for (; node < end; node++)
            if ((word[node] & counts) != 0)
                return descend(room, l, node, counts);
    }
    return GPU_INDEX_NONE;
}
