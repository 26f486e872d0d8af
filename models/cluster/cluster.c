/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.c - what a trial has taken of its cluster.
 *
 * Taking and releasing costs a few operations per share.  Both check each share
 * before they move it, so that the books can never go wrong unseen.  Parts of
 * GPUs and of cores are kept only once cluster_split() was asked for them: a
 * cluster of whole GPUs does not pay for what it has not.
 */
#include "models/cluster/cluster.h"
#include "models/cluster/reclaimable.h"
#include "models/types/placement.h"

#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"

/* A node's books after a change, and the indexes over them.  `mask`, `cores` and
 * `memory_bytes` are what is free now. */
static inline void note_free(struct cluster *cluster, uint32_t node, uint64_t mask,
                      uint32_t cores, int64_t memory_bytes)
{
    assert(node < cluster->spec->node_count);
    assert(memory_bytes >= 0);
    uint32_t g = cluster->group_of[node];
    const struct node_group *group = &cluster->spec->group[g];
    struct node_free before = {
        .gpu_mask = cluster->free_mask[node],
        .cores = cluster->free_cores[node],
        .memory_bytes = cluster->free_memory[node],
    };
    struct node_free now = {
        .gpu_mask = mask, .cores = cores, .memory_bytes = memory_bytes,
    };
    /* How many GPUs more are wholly free; of fewer, modulo 2^32, which the sums below undo. */
    uint32_t more = free_index_move(&cluster->index, g,
                                    node - group->first_node, node, &before,
                                    &now);

    /* What idle leases could give back depends on what is free beside them. */
    if (cluster->spares != NULL)
        reclaimable_note(cluster->spares, node, &now);
    cluster->free_mask[node] = mask;
    cluster->free_cores[node] = cores;
    cluster->free_memory[node] = memory_bytes;
    cluster->pool_free_gpus[group->pool] += more;
    cluster->free_gpus += more;
}

struct cluster *cluster_new(struct arena *arena,
                            const struct cluster_spec *spec)
{
    assert(arena != NULL && spec != NULL && spec->node_count > 0);
    struct cluster *cluster = arena_alloc(arena, 1, sizeof *cluster);
    uint32_t nodes = spec->node_count;
    *cluster = (struct cluster){
        .spec = spec, .arena = arena,
        .pool_releases = arena_alloc(arena, spec->pool_count + 1,
                                     sizeof *cluster->pool_releases),
        .pool_free_gpus = arena_alloc(arena, spec->pool_count + 1,
                                      sizeof *cluster->pool_free_gpus),
        .free_mask = arena_alloc(arena, nodes, sizeof *cluster->free_mask),
        .free_cores = arena_alloc(arena, nodes, sizeof *cluster->free_cores),
        .free_memory = arena_alloc(arena, nodes, sizeof *cluster->free_memory),
        .group_of = arena_alloc(arena, nodes, sizeof *cluster->group_of),
    };
    /* The index begins with all nodes free, as the masks below do. */
    free_index_init(&cluster->index, arena, spec);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        for (uint32_t i = 0; i < group->node_count; i++) {
            uint32_t node = group->first_node + i;
            cluster->free_mask[node] = cluster_all_gpus(group);
            cluster->free_cores[node] = group->cores;
            cluster->free_memory[node] = group->memory_bytes;
            cluster->group_of[node] = g;
        }
        cluster->pool_free_gpus[group->pool] += cluster->index.gpus[g];
        cluster->free_gpus += cluster->index.gpus[g];
    }
    assert(cluster->free_gpus == spec->gpu_count);
    return cluster;
}

/* ---- GPUs in parts ---- */

uint32_t cluster_gpu_mib(const struct node_group *group)
{
    assert(group != NULL);
    double bytes = group->gpu != NULL ? group->gpu->memory_bytes : 0.0;

    return bytes > 0.0 ? (uint32_t)(bytes / 1048576.0) : UINT32_MAX;
}

/* Sets the parts of a node from its masks: GPUs that are taken are taken
 * whole. */
static void parts_fill(struct cluster *cluster, uint32_t node)
{
    assert(node < cluster->spec->node_count);
    struct cluster_parts *parts = cluster->parts;
    uint32_t g = cluster->group_of[node];
    const struct node_group *group = &cluster->spec->group[g];
    uint32_t first = parts->first_gpu[g] +
                     (node - group->first_node) * group->gpus;

    parts->version[node] = 1;
    for (uint32_t i = 0; i < group->gpus; i++) {
        bool is_free = cluster->free_mask[node] >> i & 1;
        parts->left[first + i] = is_free ? GPU_MILLI : 0;
        parts->mib_left[first + i] = is_free ? cluster_gpu_mib(group) : 0;
    }
}

/* Made only when a request needs it, with the cluster's present state. */
void cluster_split(struct cluster *cluster)
{
    const struct cluster_spec *spec = cluster->spec;
    struct arena *arena = cluster->arena;
    struct cluster_parts *parts;
    uint32_t nodes = spec->node_count, gpus = 0, most = 0;

    if (cluster->parts != NULL)
        return;
    parts = arena_alloc(arena, 1, sizeof *parts);
    parts->first_gpu = arena_alloc(arena, spec->group_count,
                                   sizeof *parts->first_gpu);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        parts->first_gpu[g] = gpus;
        gpus += spec->group[g].node_count * spec->group[g].gpus;
        if (spec->group[g].gpus > most)
            most = spec->group[g].gpus;
    }
    assert(gpus == spec->gpu_count);
    /* One item more than GPUs, so that a cluster without any has an address, too. */
    parts->left = arena_alloc(arena, gpus + 1, sizeof *parts->left);
    parts->mib_left = arena_alloc(arena, gpus + 1, sizeof *parts->mib_left);
    parts->core_milli = arena_alloc(arena, nodes, sizeof *parts->core_milli);
    parts->version = arena_alloc(arena, nodes, sizeof *parts->version);
    parts->changed = arena_alloc(arena, nodes, sizeof *parts->changed);
    /* Sizes from 1 to the GPUs of the largest node, and index 0 for parts of a GPU. */
    parts->kind_count = most + 1;
    parts->kinds = arena_alloc(arena, (size_t)nodes * parts->kind_count,
                               sizeof *parts->kinds);
    cluster->parts = parts;
    for (uint32_t node = 0; node < nodes; node++)
        parts_fill(cluster, node);
}

/* Returns the number of a node's first GPU in the arrays by GPU. */
static uint32_t find_first_gpu(const struct cluster *cluster, uint32_t node)
{
    uint32_t g = cluster->group_of[node];
    const struct node_group *group = &cluster->spec->group[g];

    assert(cluster->parts != NULL && node < cluster->spec->node_count);
    return cluster->parts->first_gpu[g] +
           (node - group->first_node) * group->gpus;
}

const uint16_t *cluster_left(const struct cluster *cluster, uint32_t node)
{
    assert(cluster->parts != NULL);
    assert(node < cluster->spec->node_count);
    return &cluster->parts->left[find_first_gpu(cluster, node)];
}

const uint32_t *cluster_mib_left(const struct cluster *cluster, uint32_t node)
{
    assert(cluster->parts != NULL);
    assert(node < cluster->spec->node_count);
    return &cluster->parts->mib_left[find_first_gpu(cluster, node)];
}

uint32_t cluster_part_max(const struct cluster *cluster)
{
    if (cluster->parts == NULL)
        return 0;
    /* From the highest word down: its highest bit is the largest rest. */
    for (uint32_t w = GPU_MILLI / 64 + 1; w-- > 0;) {
        uint64_t bits = cluster->parts->has_left[w];
        /* Index 0 counts GPUs that are whole or wholly taken. */
        if (w == 0)
            bits &= ~UINT64_C(1);
        if (bits != 0)
            return w * 64 + 63 - (uint32_t)__builtin_clzll(bits);
    }
    return 0;
}

int64_t cluster_core_milli(const struct cluster *cluster, uint32_t node)
{
    assert(node < cluster->spec->node_count);
    int64_t milli = (int64_t)cluster->free_cores[node] * GPU_MILLI;

    return cluster->parts == NULL ? milli
                                  : milli + cluster->parts->core_milli[node];
}

/* Does a share take a part of a GPU, which others may share? */
static inline bool is_part(const struct share *share)
{
    return share->gpu_milli > 0 && share->gpu_milli < GPU_MILLI;
}

/* Returns all cores of a share in thousandths. */
static int64_t core_milli_of(const struct share *share)
{
    assert(share->core_milli < 1000);
    return (int64_t)share->cores * 1000 + share->core_milli;
}

/* Are parts of its GPUs free, as large as the share wants? */
static bool parts_free(const struct cluster *cluster, const struct share *share)
{
    uint64_t mask = share->gpu_mask;

    if (cluster->parts == NULL ||
        (mask & ~cluster_all_gpus(cluster_group_of(cluster->spec,
                                                   share->node))))
        return false;
    const uint16_t *left = cluster_left(cluster, share->node);
    const uint32_t *mib = cluster_mib_left(cluster, share->node);
    /* Each GPU must have the part in thousandths and in memory. */
    for (uint32_t g = 0; mask != 0; g++, mask >>= 1)
        if ((mask & 1) && (left[g] < share->gpu_milli ||
                           mib[g] < share->gpu_mib))
            return false;
    return true;
}

/* Are the GPUs, or the parts of them, that the share wants free? */
static inline bool gpus_free(const struct cluster *cluster,
                             const struct share *share)
{
    assert(share->node < cluster->spec->node_count);
    return is_part(share)
               ? parts_free(cluster, share)
               : (share->gpu_mask & ~cluster->free_mask[share->node]) == 0;
}

/* Counts a GPU more (1) or less (-1) of those with `left` free thousandths.  GPUs that are
 * wholly free, or wholly taken, count at 0, which nobody reads. */
static void count_left(struct cluster_parts *parts, uint32_t left, int sign)
{
    uint32_t i = left % GPU_MILLI;
    uint64_t bit = UINT64_C(1) << i % 64;

    parts->with_left[i] += (uint32_t)sign;
    parts->has_left[i / 64] = parts->with_left[i] != 0 ? parts->has_left[i / 64] | bit
                                                       : parts->has_left[i / 64] & ~bit;
    assert(left <= GPU_MILLI);
}

/* Takes parts of GPUs (sign -1), or gives them back.  Each GPU of the share gives or gets the
 * same part, in thousandths of a GPU.  free_mask: the GPUs of the node that were wholly free
 * before.  Returns those that are wholly free now. */
static uint64_t parts_move(struct cluster *cluster, const struct share *share,
                           int sign, uint64_t free_mask)
{
    struct cluster_parts *parts = cluster->parts;
    uint32_t first = find_first_gpu(cluster, share->node);
    uint32_t whole_mib = cluster_gpu_mib(
        &cluster->spec->group[cluster->group_of[share->node]]);
    uint32_t milli = is_part(share) ? share->gpu_milli : GPU_MILLI;

    for (uint32_t g = 0; share->gpu_mask >> g != 0; g++) {
        uint16_t *left = &parts->left[first + g];
        uint32_t *mib = &parts->mib_left[first + g];
        if (!(share->gpu_mask >> g & 1))
            continue;
        count_left(parts, *left, -1);
        *left = (uint16_t)(sign < 0 ? *left - milli : *left + milli);
        assert(*left <= GPU_MILLI);
        count_left(parts, *left, 1);
        /* A part takes the MiB that it states; a whole GPU takes all of its memory. */
        if (whole_mib != UINT32_MAX && is_part(share))
            *mib = sign < 0 ? *mib - share->gpu_mib : *mib + share->gpu_mib;
        else
            *mib = sign < 0 && !is_part(share) ? 0 : whole_mib;
        assert(*mib <= whole_mib);
        free_mask = *left == GPU_MILLI ? free_mask | UINT64_C(1) << g
                                       : free_mask & ~(UINT64_C(1) << g);
        /* A shift by 64 bits is undefined, so the last GPU ends the loop here. */
        if (g == NODE_GPUS_MAX - 1)
            break;
    }
    return free_mask;
}

/* A share of a node is taken (sign -1) or comes back, where GPUs and cores may
 * be taken in parts. */
static void move_parts(struct cluster *cluster, const struct share *share,
                       int sign)
{
    struct cluster_parts *parts = cluster->parts;
    uint32_t node = share->node, kind;
    uint64_t mask = parts_move(cluster, share, sign,
                               cluster->free_mask[node]);
    int64_t cores = cluster_core_milli(cluster, node) +
                    sign * core_milli_of(share);

    assert(cores >= 0);
    parts->core_milli[node] = (uint16_t)(cores % 1000);
    parts->version[node]++;
    /* A ring with room for the newest changes.  A reader that has missed more of them than there
     * are nodes looks at all nodes. */
    parts->changed[parts->changes++ % cluster->spec->node_count] = node;
    /* A lease counts once on each of its nodes, by what it holds there. */
    kind = is_part(share) ? 0 : mask_count(share->gpu_mask);
    if (share->gpu_mask != 0)
        parts->kinds[(size_t)node * parts->kind_count + kind] =
            (uint16_t)(parts->kinds[(size_t)node * parts->kind_count + kind] -
                       sign);
    note_free(cluster, node, mask, (uint32_t)(cores / 1000),
              cluster->free_memory[node] + sign * share->memory_bytes);
}

/* Takes a share of a node (sign -1), or gives it back (sign 1). */
static void move_any(struct cluster *cluster, const struct share *share, int sign)
{
    uint32_t node = share->node, cores = cluster->free_cores[node];
    uint64_t mask = cluster->free_mask[node];

    if (cluster->parts != NULL) {
        move_parts(cluster, share, sign);
        return;
    }
    assert(!is_part(share) && share->core_milli == 0);
    assert(sign > 0 || cores >= share->cores);
    note_free(cluster, node,
              sign < 0 ? mask & ~share->gpu_mask : mask | share->gpu_mask,
              sign < 0 ? cores - share->cores : cores + share->cores,
              cluster->free_memory[node] + sign * share->memory_bytes);
}

/* Are GPUs all that is taken of the node, and of the share?  Such a share needs no books but
 * those of GPUs: a node of which only GPUs are taken cannot be short of cores. */
static inline bool is_bare(const struct cluster *cluster,
                           const struct node_group *group,
                           const struct share *share)
{
    return share->cores == 0 && share->memory_bytes == 0 &&
           share->core_milli == 0 && share->gpu_mask != 0 &&
           cluster->free_cores[share->node] == group->cores &&
           cluster->free_memory[share->node] == group->memory_bytes &&
           cluster->parts == NULL && cluster->spares == NULL;
}

/* Does what move_any() does, in fewer steps, for a share that is_bare(). */
static inline void move_bare(struct cluster *cluster, const struct share *share,
                             uint32_t g, int sign)
{
    const struct node_group *group = &cluster->spec->group[g];
    uint32_t node = share->node, gpus = mask_count(share->gpu_mask);
    uint32_t more = sign < 0 ? 0u - gpus : gpus;

    assert(!is_part(share));
    free_index_move_gpus(&cluster->index, g, node - group->first_node, node,
                         more);
    cluster->free_mask[node] ^= share->gpu_mask;
    cluster->pool_free_gpus[group->pool] += more;
    cluster->free_gpus += more;
}

/* Are the cores that the share wants free? */
static inline bool cores_free(const struct cluster *cluster,
                              const struct share *share)
{
    /* Whole cores can be compared without the thousandths. */
    if (cluster->parts == NULL && share->core_milli == 0)
        return share->cores <= cluster->free_cores[share->node];
    return core_milli_of(share) <= cluster_core_milli(cluster, share->node);
}

/* Is the i-th share free, and on a node after those before it?  Shares stand in the order of
 * their nodes, so that no node has two. */
static inline bool can_take_share(const struct cluster *cluster,
                                  const struct placement *placement, uint32_t i)
{
    const struct share *share = &placement->share[i];

    return share->node < cluster->spec->node_count &&
           (i == 0 || share[-1].node < share->node) &&
           gpus_free(cluster, share) && cores_free(cluster, share) &&
           share->memory_bytes >= 0 &&
           share->memory_bytes <= cluster->free_memory[share->node];
}

bool cluster_can_take(const struct cluster *cluster,
                      const struct placement *placement)
{
    assert(cluster != NULL && placement != NULL);
    for (uint32_t i = 0; i < placement->share_count; i++)
        if (!can_take_share(cluster, placement, i))
            return false;
    return true;
}

/* What is_bare() takes nothing but GPUs, so nothing else need be free. */
void cluster_take(struct cluster *cluster, const struct placement *placement)
{
    assert(cluster != NULL && placement != NULL);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        assert(share->node < cluster->spec->node_count);
        uint32_t g = cluster->group_of[share->node];

        if (!is_bare(cluster, &cluster->spec->group[g], share)) {
            assert(can_take_share(cluster, placement, i));
            move_any(cluster, share, -1);
            continue;
        }
        assert(i == 0 || share[-1].node < share->node);
        assert((share->gpu_mask & ~cluster->free_mask[share->node]) == 0);
        move_bare(cluster, share, g, -1);
    }
}

/* Gives back no more than was taken: to a node, its whole is the bound. */
static inline void release_share(struct cluster *cluster, const struct share *share)
{
    uint32_t node = share->node;
    assert(node < cluster->spec->node_count);
    uint32_t g = cluster->group_of[node];
    const struct node_group *group = &cluster->spec->group[g];

    assert((share->gpu_mask & cluster->free_mask[node]) == 0);
    assert((share->gpu_mask & ~cluster_all_gpus(group)) == 0);
    if (is_bare(cluster, group, share)) {
        move_bare(cluster, share, g, +1);
        return;
    }
    assert(cluster->parts != NULL
               ? core_milli_of(share) <= (int64_t)group->cores * 1000 -
                                             cluster_core_milli(cluster, node)
               : share->cores <= group->cores - cluster->free_cores[node]);
    assert(share->memory_bytes >= 0 &&
           share->memory_bytes <=
               group->memory_bytes - cluster->free_memory[node]);
    move_any(cluster, share, +1);
}

/* Counts a release for the node's pool: searches that failed there may succeed
 * now. */
static void count_release(struct cluster *cluster, uint32_t node)
{
    assert(node < cluster->spec->node_count);
    cluster->pool_releases[cluster->spec->group[cluster->group_of[node]].pool]++;
}

void cluster_untake(struct cluster *cluster, const struct placement *placement)
{
    for (uint32_t i = 0; i < placement->share_count; i++)
        release_share(cluster, &placement->share[i]);
    assert(cluster->free_gpus <= cluster->spec->gpu_count);
}

/* Each release gives searches that failed another chance, so they are counted;
 * cluster_untake() is none. */
void cluster_release(struct cluster *cluster,
                     const struct placement *placement)
{
    assert(cluster != NULL && placement != NULL);
    cluster->releases++;
    /* With one pool the number of all releases is that of the pool. */
    for (uint32_t i = 0; i < placement->share_count && cluster->spec->pool_count > 1; i++)
        count_release(cluster, placement->share[i].node);
    cluster_untake(cluster, placement);
    cluster_note_freed(cluster, placement);
}

void cluster_note_freed(struct cluster *cluster, const struct placement *placement)
{
    struct cluster_freed *freed = cluster->freed;

    for (uint32_t i = 0; freed != NULL && i < placement->share_count; i++) {
        uint32_t node = placement->share[i].node;
        assert(node < cluster->spec->node_count);
        if (freed->is_in[node])
            continue;
        freed->is_in[node] = true;
        freed->node[freed->count++] = node;
    }
}

/* The first call begins the notes, and finds none.  Nodes are told in no order. */
uint32_t cluster_next_freed(struct cluster *cluster)
{
    uint32_t nodes = cluster->spec->node_count;

    if (cluster->freed == NULL) {
        cluster->freed = arena_alloc(cluster->arena, 1, sizeof *cluster->freed);
        cluster->freed->node = arena_alloc(cluster->arena, nodes, sizeof *cluster->freed->node);
        cluster->freed->is_in = arena_alloc(cluster->arena, nodes, sizeof *cluster->freed->is_in);
    }
    struct cluster_freed *freed = cluster->freed;
    if (freed->count == 0)
        return UINT32_MAX;
    uint32_t node = freed->node[--freed->count];
    assert(freed->is_in[node]);
    freed->is_in[node] = false;
    return node;
}
