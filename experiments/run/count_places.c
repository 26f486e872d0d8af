/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_places.c - a bit for each free GPU, and a bit for each node with one.
 *
 * Invariant: a node before `first_word` words of `some` has no free GPU.
 */
#include "experiments/run/count_places.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"

/* GPUs of a node.  A bit of the mask for each. */
struct part {
    uint64_t mask;
    uint32_t node;              /* of the cluster; a part has no mask of 0 */
};

/* What a lease has; its storage stays with its number. */
struct held {
    struct part *part;          /* [parts], by rising node */
    uint32_t parts, room;
};

/* The GPUs of one group, which are free or held by leases. */
struct count_places {
    struct arena *arena;        /* of the trial */
    const struct node_group *group; /* the only one with GPUs */
    uint64_t *free;             /* by node */
    uint64_t *some;             /* bit n: node n has a free GPU */
    uint32_t first_word;        /* words of `some` before it are 0 */
    struct held *held;          /* by lease */
    uint32_t room;              /* of `held` */
    struct placement at;        /* of the last answer */
    uint32_t share_room;        /* of at.share */
};

struct count_places *count_places_new(struct arena *arena, const struct node_group *group)
{
    struct count_places *places = arena_alloc(arena, 1, sizeof *places);
    uint32_t nodes = group->node_count;

    assert(group->gpus > 0 && group->gpus <= NODE_GPUS_MAX);
    places->arena = arena;
    places->group = group;
    places->free = arena_alloc(arena, nodes, sizeof *places->free);
    places->some = arena_alloc(arena, nodes / 64 + 1, sizeof *places->some);
    for (uint32_t n = 0; n < nodes; n++) {
        places->free[n] = UINT64_MAX >> (64 - group->gpus);
        places->some[n / 64] |= UINT64_C(1) << n % 64;
    }
    return places;
}

/* Returns the first node with a free GPU; there is one. */
static uint32_t find_node(struct count_places *places)
{
    while (places->some[places->first_word] == 0) {
        places->first_word++;
        assert(places->first_word <= places->group->node_count / 64);
    }
    return places->first_word * 64 +
           (uint32_t)__builtin_ctzll(places->some[places->first_word]);
}

/* Returns the lowest `count` bits that are set.  Each step clears the lowest bit of `rest`
 * that is set; the bits that are cleared are the answer.  Example: the lowest 2 of 0b1101 are
 * 0b0101. */
static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
    uint64_t rest = mask;

    if (count == mask_count(mask))
        return mask;
    for (uint32_t i = 0; i < count; i++)
        rest &= rest - 1;
    return mask & ~rest;
}

/* Nodes are filled in their order, and a node's GPUs in theirs.  Example: with 3 free GPUs on
 * node 0 and 8 on node 1, a lease of 5 takes all 3 of node 0 and the first 2 of node 1. */
void count_places_take(struct count_places *places, uint32_t lease, uint32_t gpus)
{
    ARENA_REACH(places->arena, places->held, places->room, lease);
    struct held *held = &places->held[lease];

    assert(held->parts == 0);
    while (gpus > 0) {
        uint32_t node = find_node(places), free = mask_count(places->free[node]);
        uint32_t took = free < gpus ? free : gpus;
        uint64_t mask = lowest_bits(places->free[node], took);

        ARENA_ADD(places->arena, held->part, held->parts, held->room,
                  (struct part){ mask, node });
        places->free[node] &= ~mask;
        if (places->free[node] == 0)
            places->some[node / 64] &= ~(UINT64_C(1) << node % 64);
        gpus -= took;
    }
}

const struct placement *count_places_of(struct count_places *places, uint32_t lease)
{
    const struct held *held = &places->held[lease];
    struct placement *at = &places->at;

    assert(lease < places->room && held->parts > 0);
    at->share_count = 0;
    while (at->share_count < held->parts) {
        const struct part *part = &held->part[at->share_count];

        ARENA_ADD(places->arena, at->share, at->share_count, places->share_room,
                  (struct share){ .node = places->group->first_node + part->node,
                                  .gpu_mask = part->mask });
    }
    return at;
}

void count_places_drop(struct count_places *places, uint32_t lease)
{
    struct held *held = &places->held[lease];

    for (uint32_t i = 0; i < held->parts; i++) {
        uint32_t node = held->part[i].node;

        assert((places->free[node] & held->part[i].mask) == 0);
        places->free[node] |= held->part[i].mask;
        places->some[node / 64] |= UINT64_C(1) << node % 64;
        if (places->first_word > node / 64)
            places->first_word = node / 64;
    }
    held->parts = 0;
}
