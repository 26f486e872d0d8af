/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_index.c - rows of bits over the nodes of a group, see gpu_index.h.
 *
 * Invariant: a bit of level l + 1 is set exactly if the word of level l that it
 * stands for is not 0.  So a search climbs until it finds a bit behind its place
 * and descends to the node, at most twice the number of levels.
 */
#include "models/cluster/gpu_index.h"

#include <assert.h>
#include <stddef.h>

#include "sim/base/arena.h"

#define BIT(node) (UINT64_C(1) << (node) % GPU_INDEX_WORD)

/* Each level has a sixty-fourth of the words of the level below. */
void gpu_index_init(struct gpu_index *room, struct arena *arena, uint32_t node_count,
                    uint32_t gpus)
{
    assert(room != NULL && arena != NULL);
    assert(node_count > 0 && gpus <= NODE_GPUS_MAX);
    *room = (struct gpu_index){ .node_count = node_count, .rows = gpus + 1,
                                .counts = gpu_index_exactly(gpus) };
    room->nodes_with[gpus] = node_count;
    room->free = arena_alloc(arena, node_count, sizeof *room->free);
    for (uint32_t node = 0; node < node_count; node++)
        room->free[node] = (uint8_t)gpus;
    uint32_t width = node_count, words;
    do {
        assert(room->level_count < GPU_INDEX_LEVELS_MAX);
        words = width / GPU_INDEX_WORD + (width % GPU_INDEX_WORD != 0);
        uint64_t *word = arena_alloc(arena, (size_t)words * room->rows,
                                     sizeof *word);
        for (uint32_t i = 0; gpus > 0 && i < width; i++) {
            word[i / GPU_INDEX_WORD * room->rows] |= BIT(i);
            word[i / GPU_INDEX_WORD * room->rows + gpus] |= BIT(i);
        }
        room->words[room->level_count] = words;
        room->level[room->level_count++] = word;
        width = words;
    } while (words > 1);
}

/* Climbs until a word that was not 0 before: above it nothing changes. */
void gpu_index_rise(struct gpu_index *room, uint32_t row, uint32_t word)
{
    for (uint32_t l = 1; l < room->level_count; l++) {
        uint64_t *above =
            &room->level[l][word / GPU_INDEX_WORD * room->rows + row];
        uint64_t before = *above;

        *above = before | BIT(word);
        if (before != 0)
            return;
        word /= GPU_INDEX_WORD;
    }
    room->counts |= gpu_index_exactly(row);
}

/* Climbs until a word that still has a bit. */
void gpu_index_fall(struct gpu_index *room, uint32_t row, uint32_t word)
{
    for (uint32_t l = 1; l < room->level_count; l++) {
        uint64_t *above =
            &room->level[l][word / GPU_INDEX_WORD * room->rows + row];

        *above &= ~BIT(word);
        if (*above != 0)
            return;
        word /= GPU_INDEX_WORD;
    }
    room->counts &= ~gpu_index_exactly(row);
}

/* The bits of 64 nodes, or of what stands for them above, in rows of a set;
 * of all the rows there are: row 0. */
static inline uint64_t join_rows(const struct gpu_index *room, uint32_t level,
                                 uint32_t word, uint64_t counts)
{
    const uint64_t *row = &room->level[level][(size_t)word * room->rows];
    uint64_t bits = 0;

    if (counts == room->counts)
        return row[0];
    for (; counts != 0; counts &= counts - 1)
        bits |= row[__builtin_ctzll(counts) + 1];
    return bits;
}

/* Goes up until a word has a bit behind the node, then down by the lowest
 * bits: O(log n) words.  For example, node 70 of 200 and no node of that word behind it: level
 * 1 says which of the words 2, 3 ... has one, and its lowest bit is the node. */
uint32_t gpu_index_next(const struct gpu_index *room, uint32_t node, uint64_t counts)
{
    assert(room->level_count > 0);
    counts &= room->counts;
    if (node >= room->node_count || counts == 0)
        return GPU_INDEX_NONE;
    for (uint32_t l = 0; l < room->level_count; l++) {
        if (node / GPU_INDEX_WORD >= room->words[l])
            return GPU_INDEX_NONE;
        uint64_t bits = join_rows(room, l, node / GPU_INDEX_WORD, counts) &
                        UINT64_MAX << node % GPU_INDEX_WORD;
        node /= GPU_INDEX_WORD;
        if (bits == 0) {
            node++;
            continue;
        }
        for (;; bits = join_rows(room, l, node, counts)) {
            node = node * GPU_INDEX_WORD + (uint32_t)__builtin_ctzll(bits);
            if (l-- == 0)
                break;
        }
        assert(node < room->node_count);
        return node;
    }
    return GPU_INDEX_NONE;
}
