/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reclaimable.c - an index that is told whenever either part of a sum changes.
 *
 * A node's resources here are those that are free plus those that may be taken
 * back.  The cluster tells of the first part (reclaimable_note), the owner of
 * the second (reclaimable_set); either way the index moves from the old sum to
 * the new one.
 */
#include "models/cluster/reclaimable.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"

/* GPUs are disjoint in both parts; cores and memory add up. */
static struct node_free sum_free(const struct node_free *free,
                                 const struct share *extra)
{
    assert(free != NULL && extra != NULL);
    return (struct node_free) {
        .gpu_mask = free->gpu_mask | extra->gpu_mask,
        .cores = free->cores + extra->cores,
        .memory_bytes = free->memory_bytes + extra->memory_bytes,
    };
}

/* Returns what is free of a node in the cluster, idle leases not counted. */
static struct node_free free_now(const struct cluster *cluster, uint32_t node)
{
    assert(node < cluster->spec->node_count);
    return (struct node_free) {
        .gpu_mask = cluster->free_mask[node],
        .cores = cluster->free_cores[node],
        .memory_bytes = cluster->free_memory[node],
    };
}

/* The free GPUs of a node have changed: the index follows. */
static void move_node(struct reclaimable *spare, uint32_t node,
                      const struct node_free *before, const struct node_free *now)
{
    assert(node < spare->cluster->spec->node_count);
    const struct cluster *cluster = spare->cluster;
    uint32_t g = cluster->group_of[node];

    free_index_move(&spare->index, g, node - cluster->spec->group[g].first_node,
                    node, before, now);
}

/* The index begins as if all were free, and is then moved to the present
 * state. */
struct reclaimable *reclaimable_new(struct arena *arena, struct cluster *cluster)
{
    assert(arena != NULL && cluster != NULL);
    struct reclaimable *spare = arena_alloc(arena, 1, sizeof *spare);
    const struct cluster_spec *spec = cluster->spec;

    spare->extra = arena_alloc(arena, spec->node_count, sizeof *spare->extra);
    spare->cluster = cluster;
    free_index_init(&spare->index, arena, spec);
    for (uint32_t node = 0; node < spec->node_count; node++) {
        const struct node_group *group =
            &spec->group[cluster->group_of[node]];
        struct node_free all = {
            .gpu_mask = cluster_all_gpus(group), .cores = group->cores,
            .memory_bytes = group->memory_bytes,
        };
        struct node_free now = free_now(cluster, node);
        spare->extra[node].node = node;
        move_node(spare, node, &all, &now);
    }
    spare->next = cluster->spares;
    cluster->spares = spare;
    return spare;
}

/* Moves the node in the index from what it would have free to what it would
 * have now. */
void reclaimable_set(struct reclaimable *spare, const struct share *share)
{
    uint32_t node = share->node;
    struct node_free free, before, now;

    assert(node < spare->cluster->spec->node_count);
    free = free_now(spare->cluster, node);
    before = sum_free(&free, &spare->extra[node]);
    now = sum_free(&free, share);
    move_node(spare, node, &before, &now);
    spare->extra[node] = *share;
}

void reclaimable_note(struct reclaimable *spare, uint32_t node,
                      const struct node_free *now)
{
    assert(now != NULL);
    for (; spare != NULL; spare = spare->next) {
        struct node_free free = free_now(spare->cluster, node);
        struct node_free before = sum_free(&free, &spare->extra[node]);
        struct node_free after = sum_free(now, &spare->extra[node]);
        move_node(spare, node, &before, &after);
    }
}
