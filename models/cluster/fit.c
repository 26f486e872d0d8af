/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - the placement rules, in a few passes over the nodes and no memory.
 *
 * Here are the rules that want one node or few, the order in which types are tried, and
 * which GPUs of a node are taken.  fit_seats.c has the passes over nodes, fit_pack.c the
 * rules that rank all nodes: pack and spread.
 */
#include "models/cluster/fit.h"
#include "models/cluster/fit_parts.h"
#include "models/types/placement.h"

#include <assert.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/gpu_index.h"
#include "models/cluster/reclaimable.h"

/* The free GPUs of the domain to take from next: of those that hold `count`
 * the fullest, else the roomiest; ties to the lowest.  For example, domains with 1, 3 and 4
 * free GPUs: for 3 it is the second, for 5 the third. */
static uint64_t next_domain(const struct node_group *group, uint64_t free,
                            uint32_t count)
{
    assert(free != 0);
    assert(count > 0);
    uint64_t found = 0;
    uint32_t found_free = 0;
    for (uint32_t i = 0; i * group->nvlink_domain < group->gpus; i++) {
        uint64_t mask = free & cluster_domain_gpus(group, i);
        uint32_t here = mask_count(mask);
        bool better = found_free < count ? here > found_free
                                         : here >= count && here < found_free;
        if (!better)
            continue;
        found = mask;
        found_free = here;
    }
    return found;
}

/* GPUs free now before those that must be taken back from someone.  Returns a mask of `count`
 * GPUs. */
static uint64_t lowest_gpus(const struct fit_hunt *hunt, uint32_t node,
                            uint32_t count)
{
    uint64_t now = hunt->cluster->free_mask[node], chosen = 0;
    if (count == mask_count(now))
        return now;
    uint64_t later = hunt->want->extra == NULL
                         ? 0 : hunt->want->extra[node].gpu_mask & ~now;
    const struct node_group *group =
        hunt->by_domain ? cluster_group_of(hunt->cluster->spec, node) : NULL;
    if (group != NULL && group->nvlink_domain > 0)
        while (now != 0 && count > 0) {
            uint64_t domain = next_domain(group, now, count);
            for (now &= ~domain; domain != 0 && count > 0; count--) {
                chosen |= domain & -domain;
                domain &= domain - 1;
            }
        }
    while (count > 0) {
        uint64_t *from = now != 0 ? &now : &later;
        assert(*from != 0);
        chosen |= *from & -*from;
        *from &= *from - 1;
        count--;
    }
    return chosen;
}

/* Turns units into GPUs, cores and memory.  Until then `cores` of a share counts its units. */
static void finish_placement(struct fit_hunt *hunt, struct placement *out)
{
    uint32_t units = 0;
    int64_t memory_left = hunt->want->memory_bytes;
    for (uint32_t i = 0; i < hunt->share_count; i++) {
        struct share *share = &hunt->share[i];
        uint32_t mine = share->cores;
        units += mine;
        if (hunt->type != NULL) {
            share->gpu_mask = lowest_gpus(hunt, share->node, mine);
            share->cores = mine * hunt->unit_cores;
            share->memory_bytes = mine * hunt->unit_memory;
            continue;
        }
        int64_t memory = fit_memory_of(hunt, mine);
        share->memory_bytes = memory < memory_left ? memory : memory_left;
        memory_left -= share->memory_bytes;
    }
    assert(units == hunt->units);
    out->share = hunt->share;
    out->share_count = hunt->share_count;
}

/* Counts units in group g, where each free GPU has the cores and the memory that it needs;
 * returns how many units are left.  The index passes over nodes without a free GPU. */
static uint32_t count_loose(struct fit_hunt *hunt, uint32_t g, uint32_t left)
{
    const struct node_group *group = &hunt->cluster->spec->group[g];
    const struct gpu_index *room = &hunt->index->room[g].room;
    uint32_t node = 0, looks = 0;
    for (; left > 0; node++, looks++) {
        node = gpu_index_next_any(room, node);
        if (node == GPU_INDEX_NONE)
            break;
        uint32_t take = gpu_index_at(room, node);
        take = take < left ? take : left;
        if (!fit_give_units(hunt, group->first_node + node, take))
            break;
        left -= take;
    }
    if (hunt->want->looks != NULL)
        *hunt->want->looks += looks;
    return left;
}

/* Any free units, lowest nodes first. */
static bool fit_count(struct fit_hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint32_t left = hunt->units;
    struct fit_seat seat = { 0 };
    for (uint32_t g = 0; hunt->loose && g < spec->group_count; g++)
        if (fit_group_matches(hunt, &spec->group[g]))
            left = count_loose(hunt, g, left);
    if (hunt->loose)
        return left == 0;
    while (left > 0 && fit_seat_next(hunt, &seat, FIT_ANY_COUNT)) {
        uint32_t take = seat.cap < left ? seat.cap : left;
        if (take > 0 && !fit_give_units(hunt, seat.at, take))
            return false;
        left -= take;
    }
    return left == 0;
}

/* The first seat for `units` together, UINT32_MAX if there is none, or (best)
 * the one with the fewest free; the first `skip` empty ones of that size are
 * spoken for.  size 0: any that could. */
static uint32_t find_seat(const struct fit_hunt *hunt, bool best, uint32_t units,
                          uint32_t size, uint32_t skip, uint64_t counts)
{
    uint32_t found = UINT32_MAX, found_free = UINT32_MAX;
    struct fit_seat seat = { 0 };
    while (fit_seat_next(hunt, &seat, counts)) {
        if (size != 0 && seat.size != size)
            continue;
        if (skip > 0 && seat.cap == seat.size) {
            skip--;
            continue;
        }
        if (seat.cap < units || seat.free >= found_free)
            continue;
        found = seat.at;
        found_free = seat.free;
        if (!best || seat.free == units)
            break;          /* none can be better */
    }
    return found;
}

/* Numbers of free GPUs that nodes of the hunt have. */
static uint64_t find_counts(const struct fit_hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t counts = 0;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (fit_group_matches(hunt, &spec->group[i]))
            counts |= gpu_index_counts(&hunt->index->room[i].room);
    return counts;
}

/* By an index the best is looked for among nodes of one number of free GPUs
 * at a time, from the least. */
static uint32_t find_one_node(const struct fit_hunt *hunt, bool best, uint32_t units,
                              uint32_t size, uint32_t skip)
{
    assert(units > 0);
    if (!hunt->indexed || !best)
        return find_seat(hunt, best, units, size, skip, gpu_index_from(units));
    uint64_t left = find_counts(hunt) & gpu_index_from(units);
    while (left != 0) {
        uint64_t counts = left & -left;
        uint32_t found = find_seat(hunt, false, units, size, skip, counts);
        if (found != UINT32_MAX)
            return found;
        left &= left - 1;
    }
    return UINT32_MAX;
}

/* Fewer nodes are empty than `whole`: known without a look at any.  False as well where the
 * index does not know. */
static bool has_too_few_empty(const struct fit_hunt *hunt, uint32_t size,
                              uint32_t whole)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t empty = 0;
    if (!hunt->indexed)
        return false;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (fit_group_matches(hunt, &spec->group[i]) &&
            spec->group[i].gpus == size)
            empty += hunt->index->room[i].room.nodes_with[size];
    return empty < whole;
}

/* Returns the first seat of those with the most free units, at least `units`; UINT32_MAX:
 * none. */
static uint32_t find_roomiest(const struct fit_hunt *hunt, uint32_t units,
                              uint32_t size, uint32_t skip)
{
    assert(units > 0);
    uint32_t found = UINT32_MAX;
    for (uint32_t u = size; u >= units && found == UINT32_MAX; u--)
        found = find_seat(hunt, false, u, size, skip, gpu_index_from(u));
    return found;
}

/* floor(units/size) empty nodes of that size, and one for the remainder.  For example, 20 GPUs
 * on nodes of 8: two empty nodes, and one with at least 4 free GPUs, which must not be one of
 * these two. */
static bool take_nodes(struct fit_hunt *hunt, enum fit_rule rule, uint32_t size)
{
    assert(size > 0 && size < hunt->units);
    uint32_t whole = hunt->units / size, rest = hunt->units % size;
    hunt->share_count = 0;
    uint32_t left = whole, rest_node = UINT32_MAX;
    uint64_t empty = gpu_index_exactly(size);
    struct fit_seat seat = { 0 };
    if (has_too_few_empty(hunt, size, whole))
        return false;
    while (left > 0 && fit_seat_next(hunt, &seat, empty))
        if (seat.size == size && seat.cap == size)
            left--;
    if (left > 0)
        return false;
    if (rest > 0) {
        rest_node = rule == FIT_HELIOS
                        ? find_roomiest(hunt, rest, size, whole)
                        : find_one_node(hunt, rule == FIT_BEST, rest, size, whole);
        if (rest_node == UINT32_MAX)
            return false;
    }
    seat = (struct fit_seat){ 0 };
    for (left = whole; left > 0 && fit_seat_next(hunt, &seat, empty);)
        if (seat.size == size && seat.cap == size) {
            if (!fit_give_units(hunt, seat.at, size))
                return false;
            left--;
        }
    return rest == 0 || fit_give_units(hunt, rest_node, rest);
}

/* Units of a whole node of the group. */
static uint32_t group_size(const struct fit_hunt *hunt,
                           const struct node_group *group)
{
    return hunt->type != NULL ? group->gpus : group->cores;
}

/* Did an earlier group of the hunt have nodes of this size? */
static bool size_seen(const struct fit_hunt *hunt, uint32_t before, uint32_t size)
{
    const struct node_group *group = hunt->cluster->spec->group;
    for (uint32_t i = 0; i < before; i++)
        if (fit_group_matches(hunt, &group[i]) &&
            group_size(hunt, &group[i]) == size)
            return true;
    return false;
}

/* first_fit, best_fit and helios: one node if one holds the gang, else whole
 * empty nodes of one size, and one for the remainder. */
static bool fit_nodes(struct fit_hunt *hunt, enum fit_rule rule)
{
    uint32_t node = find_one_node(hunt, rule != FIT_FIRST, hunt->units, 0, 0);
    if (node != UINT32_MAX)
        return fit_give_units(hunt, node, hunt->units);
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        if (!fit_group_matches(hunt, &spec->group[i]))
            continue;
        uint32_t size = group_size(hunt, &spec->group[i]);
        if (size > 0 && size < hunt->units && !size_seen(hunt, i, size) &&
            take_nodes(hunt, rule, size))
            return true;
    }
    return false;
}

/* May an index be used, and does it say all?  `loose`: each free GPU brings its part of cores
 * and memory, and the request wants no more than that. */
static void choose_passes(struct fit_hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    const struct fit_want *want = hunt->want;
    bool known = want->extra == NULL || want->spare != NULL;
    hunt->indexed = known && hunt->type != NULL && want->node_end == 0;
    hunt->cores_indexed = known && hunt->type == NULL;
    hunt->loose = hunt->indexed;
    for (uint32_t i = 0; hunt->loose && i < spec->group_count; i++) {
        const struct group_index *room = &hunt->index->room[i];
        if (!fit_group_matches(hunt, &spec->group[i]))
            continue;
        hunt->loose = (hunt->unit_cores == 0 && hunt->unit_memory == 0) ||
                      (room->short_nodes == 0 &&
                       hunt->unit_cores <= room->cores_per_gpu &&
                       hunt->unit_memory <= room->memory_per_gpu);
    }
}

/* Searches GPUs of one type, or cores.  False before any pass if the groups of that type have
 * too few free GPUs. */
static bool fit_type(struct fit_hunt *hunt, enum fit_rule rule)
{
    assert(rule < FIT_RULE_COUNT);
    hunt->share_count = 0;
    choose_passes(hunt);
    if (hunt->indexed) {
        const struct cluster_spec *spec = hunt->cluster->spec;
        uint64_t free = 0;
        for (uint32_t i = 0; i < spec->group_count; i++)
            if (fit_group_matches(hunt, &spec->group[i]))
                free += hunt->index->gpus[i];
        if (free < hunt->units)
            return false;
    }
    switch (rule) {
    case FIT_COUNT:
        return fit_count(hunt);
    case FIT_FIRST:
    case FIT_BEST:
    case FIT_HELIOS:
        return fit_nodes(hunt, rule);
    case FIT_PACK:
        return fit_pack(hunt);
    case FIT_SPREAD:
        return fit_spread(hunt);
    case FIT_RULE_COUNT:
        break;
    }
    return false;
}

/* The type with that catalogue index if a group has it, else NULL. */
static const struct gpu_type *type_held(const struct cluster_spec *spec,
                                        uint32_t index)
{
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (spec->group[i].gpu != NULL && spec->group[i].gpu->index == index)
            return spec->group[i].gpu;
    return NULL;
}

/* Was this GPU type tried for an earlier group? */
static bool type_before(const struct cluster_spec *spec, uint32_t before,
                        const struct gpu_type *type)
{
    for (uint32_t i = 0; i < before; i++)
        if (spec->group[i].gpu == type)
            return true;
    return false;
}

/* One type after the other: those that the want prefers, else in the order of
 * groups. */
static bool fit_gpus(struct fit_hunt *hunt, enum fit_rule rule)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    const struct fit_want *want = hunt->want;
    for (uint32_t i = 0; i < want->gpu_type_count; i++) {
        hunt->type = type_held(spec, want->gpu_types[i]);
        if (hunt->type != NULL && fit_type(hunt, rule))
            return true;
    }
    if (want->gpu_type_count > 0)
        return false;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        hunt->type = spec->group[i].gpu;
        if (hunt->type != NULL && !type_before(spec, i, hunt->type) &&
            fit_type(hunt, rule))
            return true;
    }
    return false;
}

/* All cores on one node, by a pass without an index. */
static bool fit_whole(struct fit_hunt *hunt)
{
    hunt->share_count = 0;
    uint32_t node = find_one_node(hunt, true, hunt->units, 0, 0);
    assert(hunt->type == NULL);
    return node != UINT32_MAX && fit_give_units(hunt, node, hunt->units);
}

/* The greatest common divisor, so that equal parts look alike.  Euclid's algorithm. */
static uint32_t find_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The cores of a node have their part of the memory, to the byte.  For example, 10 bytes for 4
 * cores are 2 bytes each and 2/4 = 1/2 of a byte more. */
static void share_memory(struct fit_hunt *hunt)
{
    const struct fit_want *want = hunt->want;
    uint32_t rest = (uint32_t)(want->memory_bytes % want->cores);
    uint32_t divisor = find_divisor(want->cores, rest);
    hunt->unit_memory = want->memory_bytes / want->cores;
    hunt->memory_rest = rest / divisor;
    hunt->memory_parts = want->cores / divisor;
}

uint32_t fit_cores_max(const struct fit_want *want, uint32_t cores, int64_t memory_bytes)
{
    assert(want != NULL && want->gpus == 0 && want->cores > 0);
    struct fit_hunt hunt = { .want = want };
    share_memory(&hunt);
    return fit_count_memory(&hunt, cores, memory_bytes);
}

/* Cores: first on nodes without GPUs, so that GPUs do not lose their cores.  First pass: nodes
 * without GPUs; second: any. */
static bool fit_cores(struct fit_hunt *hunt, enum fit_rule rule)
{
    const struct fit_want *want = hunt->want;
    hunt->units = want->cores;
    hunt->unit_cores = 1;
    share_memory(hunt);
    for (int pass = 0; pass < 2; pass++) {
        hunt->bare_nodes = pass == 0;
        if (want->computes ? fit_whole(hunt) : fit_type(hunt, rule))
            return true;
    }
    return false;
}

/* Says what a unit is, and starts the search for it. */
static bool fit_any(struct fit_hunt *hunt, enum fit_rule rule)
{
    const struct fit_want *want = hunt->want;
    assert(want->gpus > 0 || want->cores > 0);
    assert(want->memory_bytes >= 0);
    if (want->gpus == 0)
        return fit_cores(hunt, rule);
    hunt->units = want->gpus;
    hunt->unit_cores = want->cores;
    hunt->unit_memory = want->memory_bytes;
    hunt->memory_parts = 1;
    return fit_gpus(hunt, rule);
}

/* Looks for a placement by the free GPUs, or by those that would be free with
 * `spare`. */
bool fit_find(const struct cluster *cluster, enum fit_rule rule,
              const struct fit_want *want, struct share *share,
              uint32_t share_max, struct placement *out)
{
    assert(cluster != NULL && want != NULL && share != NULL && out != NULL);
    assert(want->spare == NULL || want->spare->extra == want->extra);
    struct fit_hunt hunt = { .cluster = cluster, .want = want, .share = share,
                         .index = want->spare != NULL ? &want->spare->index
                                                      : &cluster->index,
                         .share_max = share_max,
                         .by_domain = rule == FIT_PACK };
    if (!fit_any(&hunt, rule))
        return false;
    finish_placement(&hunt, out);
    return true;
}
