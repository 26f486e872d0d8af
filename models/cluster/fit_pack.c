/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_pack.c - pack and spread: the placement rules that rank all nodes.
 *
 * Rules that would sort the nodes find the threshold of the sort by bisection
 * instead, from sums over all seats, and take what lies above it in node order;
 * equal nodes are therefore always taken lowest first.  Where many nodes have
 * cores and memory that limit, pack walks an index of nodes by capacity.
 */
#include "models/cluster/fit_parts.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/capacity_index.h"
#include "models/cluster/gpu_index.h"

/* On fewer nodes a visit to all of them costs less than a search for some. */
#define ORDERED_NODES_MIN 32u

/* What one pass over the seats sums up. */
struct survey {
    uint64_t cap, cap_above, level_sum; /* sums: of caps; of those above the threshold; of all,
                                         * cut down to it */
    /* the largest cap and number of free units; the least cap from cap_min on; seats with more
     * free than the threshold */
    uint32_t cap_max, free_max, cap_min_holding, seats_above;
};

/* Adds `count` equal seats. */
static void add_seats(struct survey *sum, const struct fit_seat *seat,
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
    struct fit_seat seat[KINDS_MAX]; /* one of each kind, in a hash table */
    uint32_t seats[KINDS_MAX];  /* 0: the slot is empty */
    uint32_t count;             /* kinds that differ */
    bool known;                 /* false: no pass was made, or too many differ */
};

/* Counts a seat; false: there is no slot left for its kind.  Open addressing: the next slot
 * that is empty or of this kind. */
static bool count_kind(struct seat_kinds *kinds, const struct fit_seat *seat)
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
static void look_at_kinds(const struct fit_hunt *hunt, struct seat_kinds *kinds)
{
    struct fit_seat seat = { 0 };

    kinds->count = 0;
    memset(kinds->seats, 0, sizeof kinds->seats);
    kinds->known = !hunt->loose;
    while (kinds->known && fit_seat_next(hunt, &seat, FIT_ANY_COUNT))
        kinds->known = count_kind(kinds, &seat);
}

/* Sums for a threshold: caps above it, caps cut down to it, seats with a cap
 * of at least `cap_min` and more than `threshold` free. */
static struct survey survey_seats(const struct fit_hunt *hunt,
                                  const struct seat_kinds *kinds, uint32_t threshold,
                                  uint32_t cap_min)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    struct survey sum = { .cap_min_holding = UINT32_MAX };
    struct fit_seat seat = { 0 };
    for (uint32_t i = 0; kinds->known && i < KINDS_MAX; i++)
        if (kinds->seats[i] > 0)
            add_seats(&sum, &kinds->seat[i], kinds->seats[i], threshold, cap_min);
    while (!hunt->loose && !kinds->known && fit_seat_next(hunt, &seat, FIT_ANY_COUNT))
        add_seats(&sum, &seat, 1, threshold, cap_min);
    for (uint32_t i = 0; hunt->loose && i < spec->group_count; i++) {
        if (!fit_group_matches(hunt, &spec->group[i]))
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

/* Returns the index of nodes by capacity for this hunt, up to date.  NULL: the
 * search visits the nodes instead, because they are few or because GPUs alone
 * limit. */
static struct capacity_index *find_index(const struct fit_hunt *hunt)
{
    struct capacity_unit unit = { hunt->type != NULL, hunt->unit_cores,
                              hunt->unit_memory, hunt->memory_rest,
                              hunt->memory_parts };
    struct capacity_index *caps;
    struct fit_seat seat;

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
        fit_seat_fill(hunt, group, &seat);
        capacity_set(caps, seat.at, seat.cap);
    }
    return caps;
}

/* The least cap from `cap_min` on, or (most) the largest below it; 0: none. */
static uint32_t next_cap(const struct fit_hunt *hunt, struct capacity_index *caps,
                         uint64_t cap_min, bool most)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint32_t found = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!fit_group_matches(hunt, &spec->group[g]))
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
static bool give_caps(struct fit_hunt *hunt, struct capacity_index *caps,
                      uint64_t cap_min, uint64_t cap_max, uint32_t skip,
                      uint32_t nodes, uint32_t units)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!fit_group_matches(hunt, &spec->group[g]))
            continue;
        uint32_t end = capacity_from(caps, g, cap_max + 1);
        uint32_t place = capacity_from(caps, g, cap_min);
        uint32_t passed = end - place < skip ? end - place : skip;
        skip -= passed;
        for (place += passed; place < end && nodes > 0; place++, nodes--) {
            uint32_t node = capacity_node(caps, g, place);
            if (!fit_give_units(hunt, node, units > 0 ? units : capacity_cap(caps, node)))
                return false;
        }
    }
    return true;
}

/* Sums the capacities of all nodes, and counts those of exactly `cap`.  O(groups x log n). */
static uint64_t cap_total(const struct fit_hunt *hunt, struct capacity_index *caps,
                          uint64_t *nodes, uint32_t cap)
{
    const struct cluster_spec *spec = hunt->cluster->spec;
    uint64_t total = 0;
    *nodes = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (!fit_group_matches(hunt, &spec->group[g]))
            continue;
        total += capacity_total(caps, g);
        *nodes += capacity_from(caps, g, (uint64_t)cap + 1) -
                  capacity_from(caps, g, cap);
    }
    return total;
}

/* As fit_pack(), from the largest cap down. */
static bool pack_ordered(struct fit_hunt *hunt, struct capacity_index *caps)
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
 * 1..t; the rest goes to the tightest seat that holds it.  For example, 20 units and seats
 * with 8, 8, 6 and 4: t is 6, as the two roomier seats have 16 and 16 < 20; 4 are left, which
 * go to the seat with 4. */
bool fit_pack(struct fit_hunt *hunt)
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
    struct fit_seat seat = { 0 };
    while (fit_seat_next(hunt, &seat,
                         !hunt->loose ? FIT_ANY_COUNT
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
        if (take > 0 && !fit_give_units(hunt, seat.at, take))
            return false;
    }
    return true;
}

/* Rounds of one unit for every seat that has one left: `level` rounds are
 * full, in the last one the emptiest seats are served.  For example, 7 units on seats with 4,
 * 2 and 2: two rounds are 6, and the last unit goes to the first seat. */
bool fit_spread(struct fit_hunt *hunt)
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
    uint32_t rest =
        hunt->units - (uint32_t)survey_seats(hunt, &kinds, level, 0).level_sum;
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
    struct fit_seat seat = { 0 };
    while (left > 0 &&
           fit_seat_next(hunt, &seat,
                         !hunt->indexed || level > 0
                             ? FIT_ANY_COUNT
                             : gpu_index_from(bar + 1) |
                                   (at_bar > 0 ? gpu_index_exactly(bar) : 0))) {
        uint32_t take = seat.cap < level ? seat.cap : level;
        if (seat.cap > level && seat.free > bar)
            take++;
        else if (seat.cap > level && seat.free == bar && at_bar > 0) {
            take++;
            at_bar--;
        }
        if (take > 0 && !fit_give_units(hunt, seat.at, take))
            return false;
        left -= take;
    }
    return true;
}
