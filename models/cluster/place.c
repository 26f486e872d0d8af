/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.c - a trial's searches for a place: which rule looks, and how a gang by score
 * goes on several nodes.
 */
#include "models/cluster/place.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/place_parts.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define TYPICAL_SHARE 0.95      /* of all jobs; Weng et al., ATC 2023 */
#define MEMORY_CELLS (1u << 24) /* scores that are kept: 192 MiB at most */
#define RANKED_CELLS (1u << 23) /* nodes in rankings: 160 MiB at most */
#define TASKS_KEPT 512u         /* kinds of tasks with kept scores, at most */
#define RANKINGS_MAX 1024u      /* kinds of tasks with a ranking, at most */
#define TYPES_MAX 64u           /* GPU types: bits of a mask */

/* Returns the number of a group's type, the next one if no group before has the type. */
static uint32_t number_type(struct placer *placer, uint32_t group)
{
    const struct cluster_spec *spec = placer->parts.cluster->spec;

    assert(group < spec->group_count);
    for (uint32_t j = 0; j < group; j++)
        if (spec->group[j].gpu == spec->group[group].gpu)
            return placer->type_of_group[j];
    if (placer->type_count < TYPES_MAX)
        placer->type_count++;
    return placer->type_count - 1;
}

/* Numbers the types that the cluster has, in the order of groups.  Those beyond 64 share
 * the last number. */
static void number_types(struct placer *placer)
{
    const struct cluster_spec *spec = placer->parts.cluster->spec;
    struct arena *arena = placer->parts.arena;

    placer->type_of_group = arena_alloc(arena, spec->group_count,
                                        sizeof *placer->type_of_group);
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct gpu_type *gpu = spec->group[i].gpu;
        placer->type_of_group[i] = number_type(placer, i);
        if (gpu != NULL && gpu->index >= placer->type_bits)
            placer->type_bits = gpu->index + 1;
    }
    placer->type_bit = arena_alloc(arena, placer->type_bits, sizeof *placer->type_bit);
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (spec->group[i].gpu != NULL)
            placer->type_bit[spec->group[i].gpu->index] |=
                UINT64_C(1) << placer->type_of_group[i];
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
 * names; no list: all.  Types that the cluster has not are in no mask. */
static uint64_t type_mask(const struct placer *placer, const uint32_t *types,
                          uint32_t count)
{
    assert(placer != NULL);
    uint64_t mask = 0;

    if (count == 0)
        return UINT64_MAX;
    for (uint32_t t = 0; t < count; t++)
        if (types[t] < placer->type_bits)
            mask |= placer->type_bit[types[t]];
    return mask;
}

/* The kinds of the workload, those that ask alike as one; of these the
 * typical ones.  O(demands x kinds): a workload has few kinds of jobs. */
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
                             !place_tasks_alike(&kind[k].task, &demand->task)))
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
    placer->place_of = arena_alloc(placer->parts.arena, nodes, sizeof *placer->place_of);
    for (uint32_t i = 0; i < nodes; i++)
        placer->place_of[placer->order[i]] = i;
}

/* Returns how many items with a number for each node fit into `cells` cells. */
static uint32_t items_max(uint32_t cells, uint32_t nodes, uint32_t most)
{
    assert(nodes > 0);
    return cells / nodes < most ? cells / nodes : most;
}

struct placer *placer_new(const struct placer_parts *parts)
{
    struct arena *arena = parts->arena;
    struct placer *placer = arena_alloc(arena, 1, sizeof *placer);
    uint32_t nodes = parts->cluster->spec->node_count;

    assert((unsigned)parts->rule < PLACE_RULE_COUNT && nodes > 0);
    placer->parts = *parts;
    placer->info = place_info(parts->rule);
    /* Memory is bounded: on a large cluster fewer tasks and rankings are kept, not larger ones. */
    placer->kept_max = items_max(MEMORY_CELLS, nodes, TASKS_KEPT);
    placer->rankings_max = items_max(RANKED_CELLS, nodes, RANKINGS_MAX);
    number_types(placer);
    measure_nodes(placer);
    if (parts->rule == PLACE_FGD)
        find_kinds(placer);
    if (parts->shuffled)
        shuffle_nodes(placer);
    /* Now, as all is free: leases by size (gpu_clustering) are counted from here on, and a
     * node that is away before the first search must not come back as one lease too few. */
    if (place_goes_by_score(parts->rule))
        cluster_split(parts->cluster);
    rng_init(&placer->rng, parts->seed, "placement", parts->replica);
    return placer;
}

/* ---- one search ---- */

/* Places a request that lies on one node; false: none has room. */
static bool place_on_node(struct place_search *search, struct share *share,
                          struct placement *out)
{
    uint32_t gpu = 0, node;

    place_aim(search, search->want->gpus);
    node = place_find_node(search, &gpu);
    if (node == UINT32_MAX)
        return false;
    place_give_share(search, node, gpu, share);
    *out = (struct placement){ share, 1 };
    return true;
}

/* For qsort(): by number of the node. */
static int compare_nodes(const void *left, const void *right)
{
    const struct share *a = left, *b = right;

    return a->node < b->node ? -1 : a->node > b->node;
}

/* Whole nodes of one size, and one for the remainder, each by its score.  gpus_exact and
 * chosen keep the search to empty nodes of that size that are not taken yet by this gang. */
static bool place_on_nodes(struct place_search *search, uint32_t size,
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
        place_aim(search, i < whole ? size : rest);
        node = place_find_node(search, &gpu);
        if (node == UINT32_MAX)
            return false;
        search->placer->chosen[search->chosen++] = node;
        place_give_share(search, node, gpu, &share[count++]);
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

/* Places a gang on GPUs of search->types.  A gang of several nodes has one type there. */
static bool place_on_types(struct place_search *search, struct share *share,
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
 * those it names that has room.  `chosen` has room for every node, and is made once. */
static bool place_by_score(struct placer *placer, const struct fit_want *want,
                           struct share *share, uint32_t share_max,
                           struct placement *out)
{
    assert(share != NULL && share_max > 0);
    const struct cluster *cluster = placer->parts.cluster;
    struct place_search search = { .placer = placer, .want = want };
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
    for (uint32_t t = 0; count == 0 && t < placer->type_count; t++) {
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

/* With `random` each search draws numbers; after one that fails the stream is as it was
 * before. */
bool placer_find(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out)
{
    assert(want != NULL && out != NULL);
    placer->before = placer->rng;

    if (find_place(placer, want, share, share_max, out))
        return true;
    placer_refuse(placer);
    return false;
}

void placer_refuse(struct placer *placer)
{
    placer->rng = placer->before;
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
