/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.c - searches for a place by score: every node with room is looked at.
 *
 * A score depends on a node's books and on what is asked of it, and between
 * two jobs of a kind few nodes change: scores are kept by kind and node, with
 * the number of changes of the node (cluster_parts.version) they hold for.
 */
#include "models/cluster/place.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/place_topology.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define TYPICAL_SHARE 0.95      /* of all jobs; Weng et al., ATC 2023 */
#define MEMORY_CELLS (1u << 24) /* scores that are kept: 192 MiB at most */
#define TASKS_KEPT 512u         /* kinds of tasks with kept scores, at most */
#define TYPES_MAX 64u           /* GPU types: bits of a mask */

struct cell {                   /* score of a node for a kind of ask */
    uint32_t version;           /* of the node; 0: none yet */
    int32_t score;
    uint32_t gpu;
};

struct kept_task {
    struct place_task task;
    struct cell *cell;          /* per node */
};

/* What a placement rule keeps between two decisions of a trial; no memory is
 * freed before its arena. */
struct placer {
    struct placer_parts parts;
    const struct place_info *info;
    struct place_world world;
    uint32_t *order;            /* of nodes, for ties; NULL: by number */
    uint32_t *type_of_group;
    struct rng rng;             /* placement: random */
    struct kept_task *kept;
    uint32_t kept_count, kept_max;
    uint32_t *chosen;           /* nodes that a gang takes whole */
};

/* Types that the cluster has, numbered in the order of groups. */
static void number_types(struct placer *placer)
{
    const struct cluster_spec *spec = placer->parts.cluster->spec;
    uint32_t count = 0;

    placer->type_of_group = arena_alloc(placer->parts.arena,
                                        spec->group_count,
                                        sizeof *placer->type_of_group);
    for (uint32_t i = 0; i < spec->group_count; i++) {
        uint32_t j = 0;
        while (j < i && spec->group[j].gpu != spec->group[i].gpu)
            j++;
        placer->type_of_group[i] =
            j < i ? placer->type_of_group[j]
                  : count < TYPES_MAX - 1 ? count++ : TYPES_MAX - 1;
    }
}

/* Finds the largest node, by which scores are scaled.  Unlimited cores do not
 * count. */
static void measure_nodes(struct placer *placer)
{
    const struct cluster_spec *spec = placer->parts.cluster->spec;
    struct place_world *world = &placer->world;

    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct node_group *group = &spec->group[i];
        double cores = group->cores * 1000.0, gpus = group->gpus * 1000.0;
        if (group->cores != CLUSTER_CORES_UNLIMITED &&
            cores > world->core_milli_max)
            world->core_milli_max = cores;
        if (gpus > world->gpu_milli_max)
            world->gpu_milli_max = gpus;
    }
}

/* Returns the mask of types of the cluster that a list of catalogue indexes
 * names; no list: all. */
static uint64_t type_mask(const struct placer *placer, const uint32_t *types,
                          uint32_t count)
{
    assert(placer != NULL);
    const struct cluster_spec *spec = placer->parts.cluster->spec;
    uint64_t mask = 0;

    if (count == 0)
        return UINT64_MAX;
    for (uint32_t i = 0; i < spec->group_count; i++)
        for (uint32_t t = 0; spec->group[i].gpu != NULL && t < count; t++)
            if (spec->group[i].gpu->index == types[t])
                mask |= UINT64_C(1) << placer->type_of_group[i];
    return mask;
}

/* Do two tasks ask the same of one node, so that their scores are one? */
static bool tasks_alike(const struct place_task *a, const struct place_task *b)
{
    assert(a != NULL && b != NULL);
    return a->core_milli == b->core_milli && a->gpus == b->gpus &&
           a->gpu_milli == b->gpu_milli;
}

/* The kinds of the workload, those that ask alike as one; of these the
 * typical ones. */
static void find_kinds(struct placer *placer)
{
    size_t demands = placer->parts.demand_count;
    struct place_kind *kind =
        arena_alloc(placer->parts.arena, demands + 1, sizeof *kind);
    uint32_t count = 0;

    for (size_t i = 0; i < demands; i++) {
        const struct place_demand *demand = &placer->parts.demand[i];
        uint64_t mask = type_mask(placer, demand->gpu_types,
                                  demand->gpu_type_count);
        uint32_t k = 0;
        while (k < count && (kind[k].type_mask != mask ||
                             !tasks_alike(&kind[k].task, &demand->task)))
            k++;
        if (k == count)
            kind[count++] = (struct place_kind){ demand->task, mask, 0.0 };
        kind[k].weight += (double)demand->jobs;
    }
    placer->world.kind = kind;
    placer->world.kind_count = place_typical(kind, count, TYPICAL_SHARE);
}

/* Draws the order in which equal nodes are taken, once per trial (Fisher and
 * Yates). */
static void shuffle_nodes(struct placer *placer)
{
    uint32_t nodes = placer->parts.cluster->spec->node_count;
    struct rng rng;

    rng_init(&rng, placer->parts.seed, "ties", placer->parts.replica);
    placer->order = arena_alloc(placer->parts.arena, nodes,
                                sizeof *placer->order);
    for (uint32_t i = 0; i < nodes; i++)
        placer->order[i] = i;
    for (uint32_t i = nodes; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(&rng, i), node = placer->order[j];
        placer->order[j] = placer->order[i - 1];
        placer->order[i - 1] = node;
    }
}

/* Scores of nodes are kept by kind of task, as many as fit into
 * MEMORY_CELLS. */
struct placer *placer_new(const struct placer_parts *parts)
{
    struct arena *arena = parts->arena;
    struct placer *placer = arena_alloc(arena, 1, sizeof *placer);
    uint32_t nodes = parts->cluster->spec->node_count;

    assert((unsigned)parts->rule < PLACE_RULE_COUNT && nodes > 0);
    placer->parts = *parts;
    placer->info = place_info(parts->rule);
    placer->kept_max = MEMORY_CELLS / nodes;
    if (placer->kept_max > TASKS_KEPT)
        placer->kept_max = TASKS_KEPT;
    number_types(placer);
    measure_nodes(placer);
    if (parts->rule == PLACE_FGD)
        find_kinds(placer);
    if (parts->shuffled)
        shuffle_nodes(placer);
    rng_init(&placer->rng, parts->seed, "placement", parts->replica);
    return placer;
}

/* ---- one search ---- */

struct search {
    struct placer *placer;
    const struct fit_want *want;
    struct place_task task;       /* of one node */
    int64_t memory_bytes;
    uint64_t types;             /* mask of the types that may be used */
    uint32_t gpus_exact;        /* nodes of so many GPUs only; 0: any */
    const struct kept_task *kept;        /* NULL: not kept */
    uint32_t chosen;            /* of placer->chosen, spoken for */
};

/* Returns what `gpus` GPUs of a want request of one node. */
static struct place_task task_of(const struct fit_want *want, uint32_t gpus)
{
    assert(want != NULL);
    struct place_task task = {
        .core_milli = want->core_milli, .gpus = gpus,
        .gpu_milli = want->gpu_milli > 0 ? want->gpu_milli : GPU_MILLI,
    };

    /* Of a part of a GPU, that part of what a GPU brings with it. */
    if (!want->pod)
        task.core_milli = (int64_t)want->cores *
                         (want->gpus > 0 ? gpus * task.gpu_milli : 1000);
    if (gpus == 0)
        task.gpu_milli = 0;
    return task;
}

/* Scores of such tasks, from the first time on. */
static const struct kept_task *keep_task(struct placer *placer,
                                         const struct place_task *task)
{
    assert(task != NULL);
    uint32_t i = 0;

    while (i < placer->kept_count &&
           !tasks_alike(&placer->kept[i].task, task))
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
static bool is_chosen(const struct search *search, uint32_t node)
{
    for (uint32_t i = 0; i < search->chosen; i++)
        if (search->placer->chosen[i] == node)
            return true;
    return false;
}

/* Has a node the GPUs, or the part of one, that the task asks for? */
static bool has_gpus(const struct search *search, uint32_t node)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    uint32_t need = search->task.gpus;

    if (search->task.gpu_milli == GPU_MILLI)
        return mask_count(cluster->free_mask[node]) >= need;
    const uint16_t *left = cluster_left(cluster, node);
    const uint32_t *mib = cluster_mib_left(cluster, node);
    uint32_t gpus =
        cluster->spec->group[cluster->group_of[node]].gpus;
    for (uint32_t g = 0; g < gpus && need > 0; g++)
        need -= left[g] >= search->task.gpu_milli &&
                mib[g] >= search->want->gpu_mib;
    return need == 0;
}

/* May a node be used at all: pool, size, type, cores, memory and GPUs? */
static bool has_room(const struct search *search, uint32_t node)
{
    const struct cluster *cluster = search->placer->parts.cluster;
    uint32_t g = cluster->group_of[node], pools = search->want->pool_mask;
    const struct node_group *group = &cluster->spec->group[g];

    if ((pools != 0 && !(pools >> group->pool & 1)) ||
        (search->gpus_exact != 0 && group->gpus != search->gpus_exact))
        return false;
    if (search->task.gpus > 0 &&
        (group->gpus < search->task.gpus ||
         !(search->types >> search->placer->type_of_group[g] & 1)))
        return false;
    return cluster_core_milli(cluster, node) >= search->task.core_milli &&
           cluster->free_memory[node] >= search->memory_bytes &&
           (search->task.gpus == 0 || has_gpus(search, node)) &&
           !is_chosen(search, node);
}

/* What a scoring function may see of a node. */
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
static int32_t score_node(const struct search *search, uint32_t node,
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

/* The node with the highest score, the first of equals; UINT32_MAX: none. */
static uint32_t best_node(const struct search *search, uint32_t *gpu)
{
    const struct placer *placer = search->placer;
    uint32_t nodes = placer->parts.cluster->spec->node_count;
    uint32_t found = UINT32_MAX, its_gpu = 0;
    int32_t best = 0;

    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t node = placer->order != NULL ? placer->order[i] : i;
        if (!has_room(search, node))
            continue;
        int32_t now = score_node(search, node, &its_gpu);
        if (found != UINT32_MAX && now <= best)
            continue;
        found = node;
        best = now;
        *gpu = its_gpu;
    }
    return found;
}

/* Uniformly among the nodes with room, by one pass: the k-th met takes the
 * place of the one before with probability 1/k (reservoir sampling). */
static uint32_t random_node(const struct search *search, uint32_t *gpu)
{
    struct placer *placer = search->placer;
    const struct cluster *cluster = placer->parts.cluster;
    uint32_t found = UINT32_MAX;
    uint64_t met = 0;

    for (uint32_t node = 0; node < cluster->spec->node_count; node++)
        if (has_room(search, node) && rng_below(&placer->rng, ++met) == 0)
            found = node;
    if (found == UINT32_MAX || search->task.gpu_milli == GPU_MILLI ||
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
static uint32_t find_part(const struct search *search, uint32_t node,
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

/* Writes the share of a node: one part of a GPU, or the lowest whole GPUs that
 * are free. */
static void give_share(const struct search *search, uint32_t node, uint32_t gpu,
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

/* Returns the node that the rule chooses, and on it the GPU of a part; UINT32_MAX:
 * none has room. */
static uint32_t find_node(const struct search *search, uint32_t *gpu)
{
    return search->placer->parts.rule == PLACE_RANDOM
               ? random_node(search, gpu) : best_node(search, gpu);
}

/* Sets what one node must hold: `gpus` GPUs of the gang, with their part of
 * its memory. */
static void aim_search(struct search *search, uint32_t gpus)
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

/* Places a request that lies on one node; false: none has room. */
static bool place_on_node(struct search *search, struct share *share,
                          struct placement *out)
{
    uint32_t gpu = 0, node;

    aim_search(search, search->want->gpus);
    node = find_node(search, &gpu);
    if (node == UINT32_MAX)
        return false;
    give_share(search, node, gpu, share);
    *out = (struct placement){ share, 1 };
    return true;
}

/* For qsort(): by number of the node. */
static int compare_nodes(const void *left, const void *right)
{
    const struct share *a = left, *b = right;

    return a->node < b->node ? -1 : a->node > b->node;
}

/* Whole nodes of one size, and one for the remainder, each by its score. */
static bool place_on_nodes(struct search *search, uint32_t size,
                           struct share *share, uint32_t share_max,
                           struct placement *out)
{
    uint32_t whole = search->want->gpus / size;
    uint32_t rest = search->want->gpus % size, count = 0, gpu = 0, node;

    if (whole + (rest > 0) > share_max)
        return false;
    search->gpus_exact = size;
    search->chosen = 0;
    for (uint32_t i = 0; i < whole + (rest > 0); i++) {
        aim_search(search, i < whole ? size : rest);
        node = find_node(search, &gpu);
        if (node == UINT32_MAX)
            return false;
        search->placer->chosen[search->chosen++] = node;
        give_share(search, node, gpu, &share[count++]);
    }
    qsort(share, count, sizeof *share, compare_nodes);
    *out = (struct placement){ share, count };
    return true;
}

/* Did an earlier group have nodes of the same size? */
static bool size_seen(const struct cluster_spec *spec, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (spec->group[i].gpus == spec->group[before].gpus)
            return true;
    return false;
}

/* Of the types of search->types, which is one for a gang of several nodes. */
static bool place_on_types(struct search *search, struct share *share,
                           uint32_t share_max, struct placement *out)
{
    const struct cluster_spec *spec = search->placer->parts.cluster->spec;

    search->gpus_exact = search->chosen = 0;
    if (place_on_node(search, share, out))
        return true;
    for (uint32_t i = 0; !search->want->pod && i < spec->group_count; i++) {
        uint32_t size = spec->group[i].gpus;
        if (size > 0 && size < search->want->gpus && !size_seen(spec, i) &&
            place_on_nodes(search, size, share, share_max, out))
            return true;
    }
    return false;
}

/* A pod takes any of its types by score; a gang has one type, the first of
 * those it names that has room. */
static bool place_by_score(struct placer *placer, const struct fit_want *want,
                           struct share *share, uint32_t share_max,
                           struct placement *out)
{
    assert(share != NULL && share_max > 0);
    const struct cluster *cluster = placer->parts.cluster;
    struct search search = { .placer = placer, .want = want };
    uint32_t count = want->gpu_type_count;

    if (placer->chosen == NULL)
        placer->chosen = arena_alloc(placer->parts.arena,
                                     cluster->spec->node_count,
                                     sizeof *placer->chosen);
    search.types = type_mask(placer, want->gpu_types, count);
    if (want->pod || want->gpus == 0)
        return place_on_types(&search, share, share_max, out);
    for (uint32_t t = 0; t < count; t++) {
        search.types = type_mask(placer, &want->gpu_types[t], 1);
        if (place_on_types(&search, share, share_max, out))
            return true;
    }
    for (uint32_t t = 0; count == 0 && t < TYPES_MAX; t++) {
        search.types = UINT64_C(1) << t;
        if (place_on_types(&search, share, share_max, out))
            return true;
    }
    return false;
}

enum fit_rule place_fit_rule(enum place_rule rule)
{
    assert(rule < PLACE_RULE_COUNT);
    switch (rule) {
    case PLACE_COUNT: return FIT_COUNT;
    case PLACE_FIRST_FIT: return FIT_FIRST;
    case PLACE_PACK: case PLACE_TOPOLOGY: return FIT_PACK;
    case PLACE_SPREAD: return FIT_SPREAD;
    case PLACE_HELIOS: return FIT_HELIOS;
    default: return FIT_BEST;
    }
}

bool place_goes_by_score(enum place_rule rule)
{
    assert(rule < PLACE_RULE_COUNT);
    return rule > PLACE_SPREAD && rule < PLACE_CONSOLIDATE;
}

bool place_is_monotone(enum place_rule rule)
{
    assert(rule < PLACE_RULE_COUNT);
    return rule != PLACE_CONSOLIDATE;
}

/* Chooses the search: by score for pods, parts of GPUs and rules with a score;
 * else that of fit.h or place_topology.h. */
static bool find_place(struct placer *placer, const struct fit_want *want,
                       struct share *share, uint32_t share_max,
                       struct placement *out)
{
    struct cluster *cluster = placer->parts.cluster;
    enum place_rule rule = placer->parts.rule;
    bool part = want->gpu_milli > 0 && want->gpu_milli < GPU_MILLI;

    assert(share_max > 0 && out != NULL);
    if (want->pod || part) {
        assert(!part || want->gpus == 1);
        cluster_split(cluster);
        return place_by_score(placer, want, share, share_max, out);
    }
    if (rule == PLACE_CONSOLIDATE && want->relaxed)
        rule = PLACE_PACK;
    if (rule == PLACE_TOPOLOGY && want->gpus > 0 && want->extra == NULL)
        return place_topology(cluster, want, share, share_max, out);
    if (!place_goes_by_score(rule) || want->gpus == 0 || want->extra != NULL)
        return fit_find(cluster, place_fit_rule(rule), want, share,
                        share_max, out);
    cluster_split(cluster);
    return place_by_score(placer, want, share, share_max, out);
}

bool placer_find(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out)
{
    assert(want != NULL && out != NULL);
    struct rng before = placer->rng;

    if (find_place(placer, want, share, share_max, out))
        return true;
    placer->rng = before;
    return false;
}

bool placer_look(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out)
{
    assert(want != NULL && out != NULL);
    struct rng before = placer->rng;
    bool found = find_place(placer, want, share, share_max, out);

    placer->rng = before;
    return found;
}
