/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - the placement rules, in a few passes over the nodes and no memory.
 *
 * A pass for GPUs that are free visits, by the index in gpu_index.h, only nodes
 * whose number of free GPUs is in a set that the rule names; the rule judges
 * every one it meets, so that the set may be too large and never too small.
 * Where cores and memory cannot limit (`loose`) that number says all, and sums
 * are taken over the numbers instead of the nodes.  A pass for cores passes
 * over nodes that have none free, by an index of the same kind.
 *
 * A unit is a GPU with its cores and memory, or, for a want without GPUs, a
 * core.  Every node that may hold the gang is a seat: units that are free,
 * units for which cores and memory suffice as well (cap), and all its units
 * (size).  Rules that would sort the nodes find the threshold of the sort by
 * bisection instead, and take what lies above it in node order; equal nodes
 * are therefore always taken lowest first.
 */
#include "models/cluster/fit.h"
#include "models/types/placement.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/capacity_index.h"
#include "models/cluster/cluster.h"
#include "models/cluster/gpu_index.h"
#include "models/cluster/reclaimable.h"

/* Of fewer nodes all are met at less cost than a few are found. */
#define ORDERED_NODES_MIN 32u

/* One search: what is looked for, and where. */
struct hunt {
    const struct cluster *cluster;
    const struct free_index *index; /* of what is free, or spare too */
    const struct fit_want *want;
    const struct gpu_type *type;    /* of the gang; NULL: cores only */
    bool bare_nodes;                /* cores only: nodes without GPUs */
    bool by_domain;                 /* pack: keep to NVLink domains */
    bool indexed;                   /* GPUs by index->room */
    bool loose;                     /* ... and each brings what it needs */
    bool cores_indexed;             /* cores by index->cores */
    uint32_t units;
    uint32_t unit_cores;
    int64_t unit_memory;
    struct share *share;            /* NULL: only whether it fits */
    uint32_t share_max, share_count;
};

/* A cursor over the nodes of a hunt. */
struct seat {
    uint32_t group, node;           /* node: of the next call */
    uint32_t at;                    /* the node this seat is */
    uint32_t free, cap, size;
};

/* May nodes of this group be used: its pool, its GPU type, or its CPU? */
static inline bool group_matches(const struct hunt *hunt,
                                 const struct node_group *group)
{
    uint32_t pools = hunt->want->pool_mask;
    if (pools != 0 && (pools >> group->pool & 1u) == 0)
        return false;
    if (hunt->type != NULL)
        return group->gpu == hunt->type;
    if (hunt->want->computes && !cluster_computes(group))
        return false;
    return !hunt->bare_nodes || group->gpus == 0;
}

/* Units for which `have` suffices, at most `units`. */
static uint32_t count_units(uint32_t units, int64_t have, int64_t per_unit)
{
    int64_t all;
    if (units == 0 || per_unit <= 0)
        return units;
    if (!__builtin_mul_overflow(per_unit, (int64_t)units, &all) && all <= have)
        return units;       /* mostly: spares a division */
    return have <= 0 ? 0 : (uint32_t)(have / per_unit);
}

/* Fills in what a node has: what is free now, with `extra`, or all of it. */
static void seat_fill(const struct hunt *hunt, const struct node_group *group,
                      struct seat *seat)
{
    uint32_t node = seat->at;
    uint64_t mask = hunt->cluster->free_mask[node];
    int64_t cores = hunt->cluster->free_cores[node];
    int64_t memory = hunt->cluster->free_memory[node];
    if (hunt->want->extra != NULL) {
        mask |= hunt->want->extra[node].gpu_mask;
        cores += hunt->want->extra[node].cores;
        memory += hunt->want->extra[node].memory_bytes;
    }
    seat->size = hunt->type != NULL ? group->gpus : group->cores;
    seat->free = hunt->type != NULL ? mask_count(mask)
                                    : (uint32_t)cores;
    assert(seat->free <= seat->size);
    seat->cap = count_units(seat->free, cores, hunt->unit_cores);
    seat->cap = count_units(seat->cap, memory, hunt->unit_memory);
}

#define ANY_COUNT UINT64_MAX    /* of free GPUs, see gpu_index.h */

/* The next node of a group from seat->node on; an index passes over those
 * whose number of free GPUs is not in `counts`. */
static uint32_t node_next(const struct hunt *hunt, const struct seat *seat,
                          uint64_t counts)
{
    const struct node_group *group = &hunt->cluster->spec->group[seat->group];
    uint32_t node = seat->node > group->first_node
                        ? seat->node - group->first_node : 0;
    if (hunt->indexed)
        node = gpu_index_next(&hunt->index->room[seat->group].room, node,
                              counts);
    else if (hunt->want->node_first > group->first_node + node)
        node = hunt->want->node_first - group->first_node;
    if (hunt->cores_indexed && node < group->node_count)
        node = gpu_index_next(&hunt->index->cores[seat->group], node,
                              gpu_index_from(1));
    if (hunt->want->node_end > 0 &&
        group->first_node + node >= hunt->want->node_end)
        return UINT32_MAX;
    return node < group->node_count ? group->first_node + node : UINT32_MAX;
}

/* Moves to the next node that may be used at all; false: past the last. */
static bool seat_next(const struct hunt *hunt, struct seat *seat,
                      uint64_t counts)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (; seat->group < spec->group_count; seat->group++) {
        const struct node_group *group = &spec->group[seat->group];
        if (!group_matches(hunt, group))
            continue;
        uint32_t node = node_next(hunt, seat, counts);
        if (node != UINT32_MAX) {
            if (hunt->want->looks != NULL)
                ++*hunt->want->looks;
            seat->at = node;
            seat->node = node + 1;
            seat_fill(hunt, group, seat);
            return true;
        }
    }
    return false;
}

/* Puts units of a node into the result, which stays in node order. */
static inline bool give_units(struct hunt *hunt, uint32_t node, uint32_t units)
{
    assert(units > 0 && units <= hunt->units);
    if (hunt->share == NULL)
        return true;
    if (hunt->share_count == hunt->share_max)
        return false;
    uint32_t i = hunt->share_count++;
    for (; i > 0 && hunt->share[i - 1].node > node; i--)
        hunt->share[i] = hunt->share[i - 1];
    assert(i == 0 || hunt->share[i - 1].node < node);
    /* The mask holds no GPUs yet: finish() chooses them.  Cores hold units
     * until then. */
    hunt->share[i] = (struct share){ .node = node, .cores = units };
    return true;
}

/* The free GPUs of the domain to take from next: of those that hold `count`
 * the fullest, else the roomiest; ties to the lowest. */
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

/* GPUs free now before those that must be taken back from someone. */
static uint64_t lowest_gpus(const struct hunt *hunt, uint32_t node,
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

/* Units become GPUs, cores and memory. */
static void finish_placement(struct hunt *hunt, struct placement *out)
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
        int64_t memory = mine * hunt->unit_memory;
        share->memory_bytes = memory < memory_left ? memory : memory_left;
        memory_left -= share->memory_bytes;
    }
    assert(units == hunt->units);
    out->share = hunt->share;
    out->share_count = hunt->share_count;
}

/* Of one group where each free GPU brings what it needs; returns how many
 * units are left. */
static uint32_t count_loose(struct hunt *hunt, uint32_t g, uint32_t left)
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
        if (!give_units(hunt, group->first_node + node, take))
            break;
        left -= take;
    }
    if (hunt->want->looks != NULL)
        *hunt->want->looks += looks;
    return left;
}

/* Any free units, lowest nodes first. */
static bool fit_count(struct hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint32_t left = hunt->units;
    struct seat seat = { 0 };
    for (uint32_t g = 0; hunt->loose && g < spec->group_count; g++)
        if (group_matches(hunt, &spec->group[g]))
            left = count_loose(hunt, g, left);
    if (hunt->loose)
        return left == 0;
    while (left > 0 && seat_next(hunt, &seat, ANY_COUNT)) {
        uint32_t take = seat.cap < left ? seat.cap : left;
        if (take > 0 && !give_units(hunt, seat.at, take))
            return false;
        left -= take;
    }
    return left == 0;
}

/* The first seat for `units` together, UINT32_MAX if there is none, or (best)
 * the one with the fewest free; the first `skip` empty ones of that size are
 * spoken for.  size 0: any that could. */
static uint32_t find_seat(const struct hunt *hunt, bool best, uint32_t units,
                          uint32_t size, uint32_t skip, uint64_t counts)
{
    uint32_t found = UINT32_MAX, found_free = UINT32_MAX;
    struct seat seat = { 0 };
    while (seat_next(hunt, &seat, counts)) {
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
static uint64_t find_counts(const struct hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t counts = 0;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (group_matches(hunt, &spec->group[i]))
            counts |= gpu_index_counts(&hunt->index->room[i].room);
    return counts;
}

/* By an index the best is looked for among nodes of one number of free GPUs
 * at a time, from the least. */
static uint32_t find_one_node(const struct hunt *hunt, bool best, uint32_t units,
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

/* Fewer nodes are empty than `whole`: known without a look at any. */
static bool has_too_few_empty(const struct hunt *hunt, uint32_t size,
                              uint32_t whole)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t empty = 0;
    if (!hunt->indexed)
        return false;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (group_matches(hunt, &spec->group[i]) &&
            spec->group[i].gpus == size)
            empty += hunt->index->room[i].room.nodes_with[size];
    return empty < whole;
}

/* The first with the most free. */
static uint32_t find_roomiest(const struct hunt *hunt, uint32_t units,
                              uint32_t size, uint32_t skip)
{
    assert(units > 0);
    uint32_t found = UINT32_MAX;
    for (uint32_t u = size; u >= units && found == UINT32_MAX; u--)
        found = find_seat(hunt, false, u, size, skip, gpu_index_from(u));
    return found;
}

/* floor(units/size) empty nodes of that size, and one for the remainder. */
static bool take_nodes(struct hunt *hunt, enum fit_rule rule, uint32_t size)
{
    assert(size > 0 && size < hunt->units);
    uint32_t whole = hunt->units / size, rest = hunt->units % size;
    hunt->share_count = 0;
    uint32_t left = whole, rest_node = UINT32_MAX;
    uint64_t empty = gpu_index_exactly(size);
    struct seat seat = { 0 };
    if (has_too_few_empty(hunt, size, whole))
        return false;
    while (left > 0 && seat_next(hunt, &seat, empty))
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
    seat = (struct seat){ 0 };
    for (left = whole; left > 0 && seat_next(hunt, &seat, empty);)
        if (seat.size == size && seat.cap == size) {
            if (!give_units(hunt, seat.at, size))
                return false;
            left--;
        }
    return rest == 0 || give_units(hunt, rest_node, rest);
}

/* Units of a whole node of the group. */
static uint32_t group_size(const struct hunt *hunt,
                           const struct node_group *group)
{
    return hunt->type != NULL ? group->gpus : group->cores;
}

/* Did an earlier group of the hunt have nodes of this size? */
static bool size_seen(const struct hunt *hunt, uint32_t before, uint32_t size)
{
    const struct node_group *group = hunt->cluster->spec->group;
    for (uint32_t i = 0; i < before; i++)
        if (group_matches(hunt, &group[i]) &&
            group_size(hunt, &group[i]) == size)
            return true;
    return false;
}

/* first_fit, best_fit and helios: one node if one holds the gang, else whole
 * empty nodes of one size, and one for the remainder. */
static bool fit_nodes(struct hunt *hunt, enum fit_rule rule)
{
    uint32_t node = find_one_node(hunt, rule != FIT_FIRST, hunt->units, 0, 0);
    if (node != UINT32_MAX)
        return give_units(hunt, node, hunt->units);
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        if (!group_matches(hunt, &spec->group[i]))
            continue;
        uint32_t size = group_size(hunt, &spec->group[i]);
        if (size > 0 && size < hunt->units && !size_seen(hunt, i, size) &&
            take_nodes(hunt, rule, size))
            return true;
    }
    return false;
}

/* What one pass over the seats sums up. */
struct survey {
    uint64_t cap, cap_above, level_sum;
    uint32_t cap_max, free_max, cap_min_holding, seats_above;
};

/* Adds so many seats that are alike. */
static void add_seats(struct survey *sum, const struct seat *seat,
                      uint64_t count, uint32_t threshold, uint32_t cap_min)
{
    sum->cap += count * seat->cap;
    sum->level_sum += count * (seat->cap < threshold ? seat->cap : threshold);
    if (seat->cap > threshold)
        sum->cap_above += count * seat->cap;
    if (seat->cap > sum->cap_max)
        sum->cap_max = seat->cap;
    if (seat->free > sum->free_max)
        sum->free_max = seat->free;
    if (seat->cap >= cap_min && seat->cap > 0 &&
        seat->cap < sum->cap_min_holding)
        sum->cap_min_holding = seat->cap;
    if (seat->cap >= cap_min && seat->free > threshold)
        sum->seats_above += (uint32_t)count;
}

/* The seats of a hunt by what they have: most nodes are like many others, so that
 * one pass over them serves for all sums. */
#define KINDS_MAX 64u           /* a power of two */

struct seat_kinds {
    struct seat seat[KINDS_MAX];
    uint32_t seats[KINDS_MAX];  /* 0: the slot is empty */
    uint32_t count;
    bool known;                 /* false: no pass was made, or too many differ */
};

/* Counts a seat; false: there is no slot left for its kind. */
static bool count_kind(struct seat_kinds *kinds, const struct seat *seat)
{
    uint32_t i = (seat->cap * 7 + seat->free) % KINDS_MAX;

    while (kinds->seats[i] > 0 && (kinds->seat[i].cap != seat->cap ||
                                   kinds->seat[i].free != seat->free))
        i = (i + 1) % KINDS_MAX;
    if (kinds->seats[i]++ > 0)
        return true;
    kinds->seat[i] = *seat;
    return ++kinds->count < KINDS_MAX;
}

/* Looks at all seats once; where GPUs alone limit, the index says as much. */
static void look_at_kinds(const struct hunt *hunt, struct seat_kinds *kinds)
{
    struct seat seat = { 0 };

    kinds->count = 0;
    memset(kinds->seats, 0, sizeof kinds->seats);
    kinds->known = !hunt->loose;
    while (kinds->known && seat_next(hunt, &seat, ANY_COUNT))
        kinds->known = count_kind(kinds, &seat);
}

/* Sums for a threshold: caps above it, caps cut down to it, seats with a cap
 * of at least `cap_min` and more than `threshold` free. */
static struct survey survey_seats(const struct hunt *hunt, const struct seat_kinds *kinds,
                                  uint32_t threshold, uint32_t cap_min)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    struct survey sum = { .cap_min_holding = UINT32_MAX };
    struct seat seat = { 0 };
    for (uint32_t i = 0; kinds->known && i < KINDS_MAX; i++)
        if (kinds->seats[i] > 0)
            add_seats(&sum, &kinds->seat[i], kinds->seats[i], threshold, cap_min);
    while (!hunt->loose && !kinds->known && seat_next(hunt, &seat, ANY_COUNT))
        add_seats(&sum, &seat, 1, threshold, cap_min);
    for (uint32_t i = 0; hunt->loose && i < spec->group_count; i++) {
        if (!group_matches(hunt, &spec->group[i]))
            continue;
        for (uint32_t f = 1; f <= spec->group[i].gpus; f++) {
            uint32_t nodes = hunt->index->room[i].room.nodes_with[f];
            seat.free = seat.cap = f;
            if (nodes > 0)
                add_seats(&sum, &seat, nodes, threshold, cap_min);
        }
    }
    return sum;
}

/* ---- pack ---- */

/* Returns the index of nodes by capacity for this hunt, up to date.  NULL: the
 * search visits the nodes instead, because they are few or because GPUs alone
 * limit. */
static struct capacity_index *find_index(const struct hunt *hunt)
{
    struct capacity_unit unit = { hunt->type != NULL, hunt->unit_cores,
                              hunt->unit_memory };
    struct capacity_index *caps;
    struct seat seat;

    if (hunt->loose || (!hunt->indexed && !hunt->cores_indexed) ||
        hunt->want->node_first > 0 || hunt->want->node_end > 0 ||
        hunt->cluster->spec->node_count < ORDERED_NODES_MIN)
        return NULL;
    caps = capacity_of(hunt->index->caps, &unit);
    while (caps != NULL && (seat.at = capacity_stale(caps)) != UINT32_MAX) {
        const struct node_group *group =
            &hunt->cluster->spec->group[hunt->cluster->group_of[seat.at]];
        if (hunt->want->looks != NULL)
            ++*hunt->want->looks;
        seat_fill(hunt, group, &seat);
        capacity_set(caps, seat.at, seat.cap);
    }
    return caps;
}

/* The least cap from `cap_min` on, or (most) the largest below it; 0: none. */
static uint32_t next_cap(const struct hunt *hunt, struct capacity_index *caps,
                         uint64_t cap_min, bool most)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint32_t found = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!group_matches(hunt, &spec->group[g]))
            continue;
        uint32_t place = capacity_from(caps, g, cap_min);
        if (most ? place == 0 : place == capacity_count(caps, g))
            continue;
        uint32_t cap = capacity_cap(caps, capacity_node(caps, g, place - most));
        if (found == 0 || (most ? cap > found : cap < found))
            found = cap;
    }
    return found;
}

/* Nodes with caps from one to another, as many as `nodes` at most, the first
 * `skip` left out: `units` of each, or (0) all that it has room for. */
static bool give_caps(struct hunt *hunt, struct capacity_index *caps, uint64_t cap_min,
                      uint64_t cap_max, uint32_t skip, uint32_t nodes,
                      uint32_t units)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!group_matches(hunt, &spec->group[g]))
            continue;
        uint32_t end = capacity_from(caps, g, cap_max + 1);
        uint32_t place = capacity_from(caps, g, cap_min);
        uint32_t passed = end - place < skip ? end - place : skip;
        skip -= passed;
        for (place += passed; place < end && nodes > 0; place++, nodes--) {
            uint32_t node = capacity_node(caps, g, place);
            if (!give_units(hunt, node, units > 0 ? units : capacity_cap(caps, node)))
                return false;
        }
    }
    return true;
}

/* Sums the capacities of all nodes, and counts those of exactly `cap`. */
static uint64_t cap_total(const struct hunt *hunt, struct capacity_index *caps,
                          uint64_t *nodes, uint32_t cap)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t total = 0;
    *nodes = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!group_matches(hunt, &spec->group[g]))
            continue;
        total += capacity_total(caps, g);
        *nodes += capacity_from(caps, g, (uint64_t)cap + 1) -
                  capacity_from(caps, g, cap);
    }
    return total;
}

/* As fit_pack(), from the largest cap down. */
static bool pack_ordered(struct hunt *hunt, struct capacity_index *caps)
{
    uint64_t above = 0, nodes;
    uint32_t t = next_cap(hunt, caps, UINT64_MAX, true), tight;
    if (cap_total(hunt, caps, &nodes, t) < hunt->units)
        return false;
    while (above + nodes * t < hunt->units) {
        above += nodes * t;
        t = next_cap(hunt, caps, t, true);
        cap_total(hunt, caps, &nodes, t);
    }
    uint32_t left = hunt->units - (uint32_t)above;
    uint32_t whole = (left - 1) / t;
    left -= whole * t;
    tight = next_cap(hunt, caps, left, false);
    assert(tight >= left && tight <= t);
    return (above == 0 || give_caps(hunt, caps, (uint64_t)t + 1,
                                    UINT32_MAX, 0, UINT32_MAX, 0)) &&
           (whole == 0 || give_caps(hunt, caps, t, t, 0, whole, 0)) &&
           give_caps(hunt, caps, tight, tight, tight == t ? whole : 0, 1,
                     left);
}

/* Whole are all seats roomier than t, and as many with t as leave a rest of
 * 1..t; the rest goes to the tightest seat that holds it. */
static bool fit_pack(struct hunt *hunt)
{
    struct capacity_index *caps = find_index(hunt);
    if (caps != NULL)
        return pack_ordered(hunt, caps);
    struct seat_kinds kinds;
    look_at_kinds(hunt, &kinds);
    struct survey sum = survey_seats(hunt, &kinds, 0, 0);
    if (sum.cap < hunt->units)
        return false;
    uint32_t low = 0, high = sum.cap_max;   /* above `high` is too little */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (survey_seats(hunt, &kinds, middle, 0).cap_above < hunt->units)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t t = high;
    assert(t > 0);
    uint32_t left = hunt->units - (uint32_t)survey_seats(hunt, &kinds, t, 0).cap_above;
    uint32_t whole = (left - 1) / t;
    left -= whole * t;
    uint32_t tight = survey_seats(hunt, &kinds, 0, left).cap_min_holding;
    assert(tight <= t);
    struct seat seat = { 0 };
    while (seat_next(hunt, &seat,
                     !hunt->loose ? ANY_COUNT
                                  : gpu_index_from(t + 1) |
                                        (whole > 0 ? gpu_index_exactly(t) : 0) |
                                        (left > 0 ? gpu_index_exactly(tight) : 0))) {
        uint32_t take = 0;
        if (seat.cap > t)
            take = seat.cap;
        else if (seat.cap == t && whole > 0) {
            take = t;
            whole--;
        } else if (seat.cap == tight && left > 0) {
            take = left;
            left = 0;
        }
        if (take > 0 && !give_units(hunt, seat.at, take))
            return false;
    }
    return true;
}

/* Rounds of one unit for every seat that has one left: `level` rounds are
 * full, in the last one the emptiest seats are served. */
static bool fit_spread(struct hunt *hunt)
{
    struct seat_kinds kinds;
    look_at_kinds(hunt, &kinds);
    struct survey sum = survey_seats(hunt, &kinds, 0, 0);
    if (sum.cap < hunt->units)
        return false;
    uint32_t low = 0, high = sum.cap_max - 1;
    while (low < high) {            /* the largest level that is not enough */
        uint32_t middle = low + (high - low + 1) / 2;
        if (survey_seats(hunt, &kinds, middle, 0).level_sum < hunt->units)
            low = middle;
        else
            high = middle - 1;
    }
    uint32_t level = low;
    uint32_t rest = hunt->units - (uint32_t)survey_seats(hunt, &kinds, level, 0).level_sum;
    /* The least number of free units with no more than `rest` seats above. */
    uint32_t bar = 0, top = sum.free_max;
    while (bar < top) {
        uint32_t middle = bar + (top - bar) / 2;
        if (survey_seats(hunt, &kinds, middle, level + 1).seats_above <= rest)
            top = middle;
        else
            bar = middle + 1;
    }
    uint32_t at_bar = rest - survey_seats(hunt, &kinds, bar, level + 1).seats_above;
    uint32_t left = hunt->units;
    struct seat seat = { 0 };
    while (left > 0 &&
           seat_next(hunt, &seat,
                     !hunt->indexed || level > 0
                         ? ANY_COUNT
                         : gpu_index_from(bar + 1) |
                               (at_bar > 0 ? gpu_index_exactly(bar) : 0))) {
        uint32_t take = seat.cap < level ? seat.cap : level;
        if (seat.cap > level && seat.free > bar)
            take++;
        else if (seat.cap > level && seat.free == bar && at_bar > 0) {
            take++;
            at_bar--;
        }
        if (take > 0 && !give_units(hunt, seat.at, take))
            return false;
        left -= take;
    }
    return true;
}

/* May an index be used, and does it say all? */
static void choose_passes(struct hunt *hunt)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    const struct fit_want *want = hunt->want;
    bool known = want->extra == NULL || want->spare != NULL;
    hunt->indexed = known && hunt->type != NULL && want->node_end == 0;
    hunt->cores_indexed = known && hunt->type == NULL;
    hunt->loose = hunt->indexed;
    for (uint32_t i = 0; hunt->loose && i < spec->group_count; i++) {
        const struct group_index *room = &hunt->index->room[i];
        if (!group_matches(hunt, &spec->group[i]))
            continue;
        hunt->loose = (hunt->unit_cores == 0 && hunt->unit_memory == 0) ||
                      (room->short_nodes == 0 &&
                       hunt->unit_cores <= room->cores_per_gpu &&
                       hunt->unit_memory <= room->memory_per_gpu);
    }
}

/* Of one GPU type (or none): false before any pass if the free GPUs of its
 * groups are too few. */
static bool fit_type(struct hunt *hunt, enum fit_rule rule)
{
    assert(rule < FIT_RULE_COUNT);
    hunt->share_count = 0;
    choose_passes(hunt);
    if (hunt->indexed) {
        const struct cluster_spec *spec = hunt->cluster->spec;
        uint64_t free = 0;
        for (uint32_t i = 0; i < spec->group_count; i++)
            if (group_matches(hunt, &spec->group[i]))
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
static bool fit_gpus(struct hunt *hunt, enum fit_rule rule)
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
static bool fit_whole(struct hunt *hunt)
{
    hunt->share_count = 0;
    uint32_t node = find_one_node(hunt, true, hunt->units, 0, 0);
    assert(hunt->type == NULL);
    return node != UINT32_MAX && give_units(hunt, node, hunt->units);
}

/* Cores: first on nodes without GPUs, so that GPUs do not lose their cores. */
static bool fit_cores(struct hunt *hunt, enum fit_rule rule)
{
    const struct fit_want *want = hunt->want;
    hunt->units = want->cores;
    hunt->unit_cores = 1;
    /* Rounded up, so that no node is given more memory than it has. */
    hunt->unit_memory =
        (want->memory_bytes + want->cores - 1) / (int64_t)want->cores;
    for (int pass = 0; pass < 2; pass++) {
        hunt->bare_nodes = pass == 0;
        if (want->computes ? fit_whole(hunt) : fit_type(hunt, rule))
            return true;
    }
    return false;
}

/* Says what a unit is, and starts the search for it. */
static bool fit_any(struct hunt *hunt, enum fit_rule rule)
{
    const struct fit_want *want = hunt->want;
    assert(want->gpus > 0 || want->cores > 0);
    assert(want->memory_bytes >= 0);
    if (want->gpus == 0)
        return fit_cores(hunt, rule);
    hunt->units = want->gpus;
    hunt->unit_cores = want->cores;
    hunt->unit_memory = want->memory_bytes;
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
    struct hunt hunt = { .cluster = cluster, .want = want, .share = share,
                         .index = want->spare != NULL ? &want->spare->index
                                                      : &cluster->index,
                         .share_max = share_max,
                         .by_domain = rule == FIT_PACK };
    if (!fit_any(&hunt, rule))
        return false;
    finish_placement(&hunt, out);
    return true;
}
