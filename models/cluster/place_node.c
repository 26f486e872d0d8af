/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_node.c - the search for one node by score: every node with room is looked at.
 *
 * A score depends on a node's books and on what is asked of it, and between two jobs of a
 * kind few nodes change: scores are kept by kind and node, with the number of changes of
 * the node (cluster_parts.version) they hold for.  The nodes with room for a kind stand in
 * a tournament by score, which plays again for the nodes that have changed since its last
 * search; a kind beyond the memory for that looks at each node.
 */
#include "models/cluster/place_parts.h"

#include <assert.h>
#include <stddef.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/containers/winners.h"

#define NONE UINT32_MAX
#define ASIDE_MAX 32u           /* winners without room for the rest of a want */

bool place_tasks_alike(const struct place_task *a, const struct place_task *b)
{
    assert(a != NULL && b != NULL);
    return a->core_milli == b->core_milli && a->gpus == b->gpus &&
           a->gpu_milli == b->gpu_milli;
}

/* Returns what `gpus` GPUs of a want request of one node. */
static struct place_task task_of(const struct fit_want *want, uint32_t gpus)
{
    assert(want != NULL);
    struct place_task task = {
        .core_milli = want->core_milli, .gpus = gpus,
        .gpu_milli = want->gpu_milli > 0 ? want->gpu_milli : GPU_MILLI,
    };

    /* A part of a GPU needs that part of the cores of a whole one. */
    if (!want->pod)
        task.core_milli = (int64_t)want->cores *
                         (want->gpus > 0 ? gpus * task.gpu_milli : 1000);
    if (gpus == 0)
        task.gpu_milli = 0;
    return task;
}

/* Scores of such tasks, from the first time on. */
static struct kept_task *keep_task(struct placer *placer, const struct place_task *task)
{
    assert(task != NULL);
    uint32_t i = 0;

    while (i < placer->kept_count &&
           !place_tasks_alike(&placer->kept[i].task, task))
        i++;
    if (i < placer->kept_count)
        return &placer->kept[i];
    if (i >= placer->kept_max)
        return NULL;
    if (placer->kept == NULL)
        placer->kept = arena_alloc(placer->parts.arena, placer->kept_max,
                                   sizeof *placer->kept);
    placer->kept[i].task = *task;
    placer->kept[i].cell =
        arena_alloc(placer->parts.arena,
                    placer->parts.cluster->spec->node_count,
                    sizeof *placer->kept[i].cell);
    placer->kept_count++;
    return &placer->kept[i];
}

/* Does the placement that is being put together have the node already? */
static bool is_chosen(const struct place_search *search, uint32_t node)
{
    for (uint32_t i = 0; i < search->chosen; i++)
        if (search->placer->chosen[i] == node)
            return true;
    return false;
}

/* Is there a GPU on the node that has the part free that the task asks for, and gpu_mib of
 * its memory? */
static bool has_part(const struct place_search *search, uint32_t node, uint32_t gpu_mib)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    uint32_t gpus = cluster->spec->group[cluster->group_of[node]].gpus;
    const uint16_t *left = cluster_left(cluster, node);
    const uint32_t *mib = cluster_mib_left(cluster, node);

    for (uint32_t g = 0; g < gpus; g++)
        if (left[g] >= search->task.gpu_milli && mib[g] >= gpu_mib)
            return true;
    return false;
}

/* May a node be used as far as rankings know: pool, size, type, cores and GPUs? */
static bool is_ranked(const struct place_search *search, uint32_t node)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    uint32_t g = cluster->group_of[node];
    const struct node_group *group = &cluster->spec->group[g];

    if (!fit_allows(search->want, g, group->pool) ||
        (search->gpus_exact != 0 && group->gpus != search->gpus_exact))
        return false;
    if (search->task.gpus > 0 &&
        (group->gpus < search->task.gpus ||
         !(search->types >> search->placer->type_of_group[g] & 1)))
        return false;
    if (cluster_core_milli(cluster, node) < search->task.core_milli)
        return false;
    return search->task.gpus == 0 ||
           (search->task.gpu_milli == GPU_MILLI
                ? mask_count(cluster->free_mask[node]) >= search->task.gpus
                : has_part(search, node, 0));
}

/* May a node that is ranked be used: memory, that of a part of a GPU, and no other part of
 * the gang is there? */
static bool has_rest(const struct place_search *search, uint32_t node)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    bool part = search->task.gpus > 0 && search->task.gpu_milli < GPU_MILLI;

    assert(!part || search->task.gpus == 1);
    return cluster->free_memory[node] >= search->memory_bytes &&
           (!part || search->want->gpu_mib == 0 ||
            has_part(search, node, search->want->gpu_mib)) &&
           !is_chosen(search, node);
}

/* May a node be used at all? */
static bool has_room(const struct place_search *search, uint32_t node)
{
    assert(node < search->placer->parts.cluster->spec->node_count);
    return is_ranked(search, node) && has_rest(search, node);
}

/* Fills what a scoring function may see of a node: what is free on it, and which leases it has
 * by size. */
static void view_node(const struct placer *placer, uint32_t node,
                      struct place_node *out)
{
    assert(node < placer->parts.cluster->spec->node_count);
    const struct cluster *cluster = placer->parts.cluster;
    const struct cluster_parts *parts = cluster->parts;
    uint32_t g = cluster->group_of[node];

    *out = (struct place_node){
        .core_milli = cluster_core_milli(cluster, node),
        .gpus = cluster->spec->group[g].gpus,
        .gpu_type = placer->type_of_group[g],
        .left = cluster_left(cluster, node),
        .kinds = &parts->kinds[(size_t)node * parts->kind_count],
        .kind_count = parts->kind_count,
    };
}

/* Returns the score of a node with room, from the memory if the node is
 * unchanged. */
static int32_t score_node(const struct place_search *search, uint32_t node,
                          uint32_t *gpu)
{
    struct placer *placer = search->placer;
    uint32_t version = placer->parts.cluster->parts->version[node];
    struct cell *cell = search->kept != NULL ? &search->kept->cell[node]
                                             : NULL;
    struct place_node seen;

    if (cell == NULL || cell->version != version) {
        view_node(placer, node, &seen);
        int32_t found = placer->info->score(&placer->world, &seen,
                                            &search->task, gpu);
        if (cell == NULL)
            return found;
        *cell = (struct cell){ version, found, *gpu };
    }
    *gpu = cell->gpu;
    return cell->score;
}

/* ---- the best node ---- */

/* Returns the node with the highest score, the first of equals, by a look at each node;
 * NONE: none has room. */
static uint32_t scan_nodes(const struct place_search *search, uint32_t *gpu)
{
    const struct placer *placer = search->placer;
    uint32_t nodes = placer->parts.cluster->spec->node_count;
    uint32_t found = NONE, its_gpu = 0;
    int32_t best = 0;

    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t node = placer->order != NULL ? placer->order[i] : i;
        if (!has_room(search, node))
            continue;
        int32_t now = score_node(search, node, &its_gpu);
        if (found != NONE && now <= best)
            continue;
        found = node;
        best = now;
        *gpu = its_gpu;
    }
    return found;
}

/* Returns the ranking for what is searched; NULL: there is no memory for one. */
static struct ranking *keep_ranking(const struct place_search *search)
{
    struct placer *placer = search->placer;
    struct ranking *ranking = search->kept != NULL ? search->kept->ranking : NULL;

    while (ranking != NULL && (ranking->types != search->types ||
                               ranking->pool_mask != search->want->pool_mask ||
                               ranking->groups_out != search->want->groups_out ||
                               ranking->gpus_exact != search->gpus_exact))
        ranking = ranking->next;
    if (ranking != NULL || search->kept == NULL || placer->rankings >= placer->rankings_max)
        return ranking;
    ranking = arena_alloc(placer->parts.arena, 1, sizeof *ranking);
    *ranking = (struct ranking) { .types = search->types,
                                  .groups_out = search->want->groups_out,
                                  .pool_mask = search->want->pool_mask,
                                  .gpus_exact = search->gpus_exact,
                                  .seen = UINT64_MAX,
                                  .next = search->kept->ranking };
    winners_init(&ranking->nodes, placer->parts.arena,
                 placer->parts.cluster->spec->node_count);
    search->kept->ranking = ranking;
    placer->rankings++;
    assert(placer->rankings <= placer->rankings_max);
    return ranking;
}

/* Ranks a node anew. */
static void rank_node(const struct place_search *search, struct ranking *ranking,
                      uint32_t node)
{
    const struct placer *placer = search->placer;
    uint32_t at = placer->place_of != NULL ? placer->place_of[node] : node, gpu;

    assert(node < ranking->nodes.count);
    if (is_ranked(search, node))
        winners_put(&ranking->nodes, at, score_node(search, node, &gpu));
    else
        winners_drop(&ranking->nodes, at);
}

/* Ranks the nodes that have changed since the last search, or all. */
static void catch_up(const struct place_search *search, struct ranking *ranking)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    const struct cluster_parts *parts = cluster->parts;
    uint32_t nodes = cluster->spec->node_count;

    if (ranking->seen == UINT64_MAX || parts->changes - ranking->seen > nodes)
        for (uint32_t node = 0; node < nodes; node++)
            rank_node(search, ranking, node);
    else
        for (uint64_t i = ranking->seen; i < parts->changes; i++)
            rank_node(search, ranking, parts->changed[i % nodes]);
    ranking->seen = parts->changes;
    assert(ranking->nodes.count == nodes);
}

/* Returns the node with the highest score, the first of equals; NONE: none has room. */
static uint32_t best_node(const struct place_search *search, uint32_t *gpu)
{
    const struct placer *placer = search->placer;
    struct ranking *ranking = keep_ranking(search);
    uint32_t aside[ASIDE_MAX], asides = 0, found = NONE, at;

    if (ranking == NULL)
        return scan_nodes(search, gpu);
    catch_up(search, ranking);
    while ((at = winners_first(&ranking->nodes)) != NONE && found == NONE &&
           asides < ASIDE_MAX) {
        uint32_t node = placer->order != NULL ? placer->order[at] : at;
        if (has_rest(search, node))
            found = node;
        else
            winners_drop(&ranking->nodes, aside[asides++] = at);
    }
    for (uint32_t i = 0; i < asides; i++)
        winners_put(&ranking->nodes, aside[i], ranking->nodes.score[aside[i]]);
    if (found == NONE)
        return at == NONE ? NONE : scan_nodes(search, gpu);
    *gpu = search->kept->cell[found].gpu;
    return found;
}

/* ---- the place on it ---- */

/* Uniformly among the nodes with room, by one pass: the k-th met takes the
 * place of the one before with probability 1/k (reservoir sampling). */
static uint32_t random_node(const struct place_search *search, uint32_t *gpu)
{
    struct placer *placer = search->placer;
    const struct cluster *cluster = placer->parts.cluster;
    uint32_t found = NONE;
    uint64_t met = 0;

    for (uint32_t node = 0; node < cluster->spec->node_count; node++)
        if (has_room(search, node) && rng_below(&placer->rng, ++met) == 0)
            found = node;
    if (found == NONE || search->task.gpu_milli == GPU_MILLI ||
        search->task.gpus == 0)
        return found;
    const uint16_t *left = cluster_left(cluster, found);
    const uint32_t *mib = cluster_mib_left(cluster, found);
    uint32_t gpus = cluster->spec->group[cluster->group_of[found]].gpus;
    met = 0;
    for (uint32_t g = 0; g < gpus; g++)
        if (left[g] >= search->task.gpu_milli &&
            mib[g] >= search->want->gpu_mib &&
            rng_below(&placer->rng, ++met) == 0)
            *gpu = g;
    return found;
}

/* Scores do not know of memory on a GPU: if the one they name lacks it, the
 * fullest that does not. */
static uint32_t find_part(const struct place_search *search, uint32_t node,
                          uint32_t gpu)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    const uint16_t *left = cluster_left(cluster, node);
    const uint32_t *mib = cluster_mib_left(cluster, node);
    uint32_t gpus = cluster->spec->group[cluster->group_of[node]].gpus;
    uint32_t found = gpu, milli = search->task.gpu_milli;

    if (left[gpu] >= milli && mib[gpu] >= search->want->gpu_mib)
        return gpu;
    for (uint32_t g = 0, best = UINT32_MAX; g < gpus; g++)
        if (left[g] >= milli && mib[g] >= search->want->gpu_mib &&
            left[g] < best) {
            best = left[g];
            found = g;
        }
    assert(left[found] >= milli);
    return found;
}

void place_give_share(const struct place_search *search, uint32_t node, uint32_t gpu,
                      struct share *out)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    uint64_t free_mask = cluster->free_mask[node], mask = 0;

    *out = (struct share){
        .node = node,
        .cores = (uint32_t)(search->task.core_milli / 1000),
        .core_milli = (uint16_t)(search->task.core_milli % 1000),
        .memory_bytes = search->memory_bytes,
    };
    if (search->task.gpus > 0 && search->task.gpu_milli < GPU_MILLI) {
        out->gpu_mask = UINT64_C(1) << find_part(search, node, gpu);
        out->gpu_milli = (uint16_t)search->task.gpu_milli;
        out->gpu_mib = search->want->gpu_mib;
        return;
    }
    for (uint32_t i = 0; i < search->task.gpus; i++) {
        assert(free_mask != 0);
        mask |= free_mask & -free_mask;
        free_mask &= free_mask - 1;
    }
    out->gpu_mask = mask;
}

uint32_t place_find_node(const struct place_search *search, uint32_t *gpu)
{
    return search->placer->parts.rule == PLACE_RANDOM
               ? random_node(search, gpu) : best_node(search, gpu);
}

void place_aim(struct place_search *search, uint32_t gpus)
{
    assert(search != NULL);
    const struct fit_want *want = search->want;

    search->task = task_of(want, gpus);
    search->memory_bytes = want->memory_bytes;
    if (!want->pod && want->gpus > 0)
        search->memory_bytes = want->memory_bytes *
                               (gpus * search->task.gpu_milli) / GPU_MILLI;
    search->kept = keep_task(search->placer, &search->task);
}
