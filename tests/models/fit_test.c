/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_test.c - placement rules against slow ones that share nothing with them.
 *
 * The oracles list the nodes, sort the list, and try; small random clusters.
 * Last, a strict FIFO of forty lines places the 480 jobs of a public trace
 * through fit_find and must meet two published simulators to the digit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define NODES 12
#define GROUPS 4

static const struct gpu_type type_a = { .name = "a", .index = 0 };
static const struct gpu_type type_b = { .name = "b", .index = 7 };

struct world {
    struct arena *arena;
    struct rng rng;
    struct node_group group[GROUPS];
    struct cluster_spec spec;
    struct cluster *cluster;
    struct share extra[NODES];
    struct share share[NODES];
    struct placement place;
};

static void world_open(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->arena = arena_new(1 << 16);
    rng_init(&w->rng, seed, "fit", 0);
    w->spec = cluster_aid_new(w->group);
}

static void world_close(struct world *w)
{
    arena_free(w->arena);
}

/* Nodes of one type without limits but their GPUs. */
static void world_plain(struct world *w, uint32_t nodes, uint32_t gpus)
{
    world_open(w, 1);
    w->group[0] = (struct node_group){ .name = "g", .node_count = nodes,
                                       .gpu = &type_a, .gpus = gpus,
                                       .cores = 64, .memory_bytes = 1000 };
    cluster_aid_count(&w->spec, &w->group[0]);
    w->cluster = cluster_new(w->arena, &w->spec);
}

static void take(struct world *w, uint32_t node, uint64_t mask)
{
    struct share share = { .node = node, .gpu_mask = mask };
    struct placement place = { .share = &share, .share_count = 1 };
    cluster_take(w->cluster, &place);
}

static void world_random(struct world *w, uint64_t seed)
{
    world_open(w, seed);
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t kind = (uint32_t)rng_below(&w->rng, 4);
        uint32_t gpus = 1 + (uint32_t)rng_below(&w->rng, 5);
        w->group[g] = (struct node_group){
            .name = "g", .pool = g & 1,
            .node_count = 1 + (uint32_t)rng_below(&w->rng, 3),
            .gpu = kind == 0 ? NULL : kind < 3 ? &type_a : &type_b,
            .gpus = kind == 0 ? 0 : gpus,
            .cores = 1 + (uint32_t)rng_below(&w->rng, 16),
            .memory_bytes = 10 + (int64_t)rng_below(&w->rng, 90),
        };
        cluster_aid_count(&w->spec, &w->group[g]);
    }
    w->cluster = cluster_new(w->arena, &w->spec);
    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        struct share share = {
            .node = n,
            .gpu_mask = w->cluster->free_mask[n] & rng_u64(&w->rng),
            .cores = (uint32_t)rng_below(&w->rng,
                                         w->cluster->free_cores[n] + 1),
            .memory_bytes = (int64_t)rng_below(
                &w->rng, (uint64_t)w->cluster->free_memory[n] + 1),
        };
        if (rng_below(&w->rng, 3) == 0)
            continue;
        struct placement place = { .share = &share, .share_count = 1 };
        cluster_take(w->cluster, &place);
        if (rng_below(&w->rng, 2) == 0)
            w->extra[n] = share;    /* an idle lease */
    }
}

static struct fit_want random_want(struct world *w)
{
    static const uint32_t types[] = { 7, 0, 3 };
    struct fit_want want = {
        .gpus = (uint32_t)rng_below(&w->rng, 9),
        .cores = (uint32_t)rng_below(&w->rng, 4),
        .memory_bytes = (int64_t)rng_below(&w->rng, 12),
        .gpu_types = types,
        .gpu_type_count = (uint32_t)rng_below(&w->rng, 4),
        .pool_mask = (uint32_t)rng_below(&w->rng, 4),
        .extra = rng_below(&w->rng, 2) ? w->extra : NULL,
    };
    if (want.gpus == 0) {
        want.cores = 1 + (uint32_t)rng_below(&w->rng, 30);
        want.memory_bytes = (int64_t)rng_below(&w->rng, 60);
    }
    return want;
}

/* ---- oracle: a list of nodes, and loops over it ---- */

struct room {
    uint32_t node, free, cap, size, given;
};

/* Nodes of that type (NULL: by cores; bare: only without GPUs). */
static uint32_t list_rooms(const struct world *w, const struct fit_want *want,
                           const struct gpu_type *type, int bare,
                           struct room *room)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        const struct node_group *group = cluster_group_of(&w->spec, n);
        if (want->pool_mask && !(want->pool_mask & 1u << group->pool))
            continue;
        if (type ? group->gpu != type : bare && group->gpus > 0)
            continue;
        const struct share *extra = want->extra ? &want->extra[n] : NULL;
        uint64_t mask = w->cluster->free_mask[n] | (extra ? extra->gpu_mask
                                                          : 0);
        uint32_t cores = w->cluster->free_cores[n] + (extra ? extra->cores
                                                            : 0);
        int64_t memory = w->cluster->free_memory[n] +
                         (extra ? extra->memory_bytes : 0);
        struct room r = { .node = n };
        r.size = type ? group->gpus : group->cores;
        r.free = type ? (uint32_t)__builtin_popcountll(mask) : cores;
        int64_t of = type ? 1 : want->cores;
        while (r.cap < r.free && (r.cap + 1) * want->memory_bytes <= memory * of &&
               (!type || (r.cap + 1) * want->cores <= cores))
            r.cap++;
        room[count++] = r;
    }
    return count;
}

static uint32_t total(const struct room *room, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += room[i].cap;
    return sum;
}

static int by_free(const void *a, const void *b)
{
    const struct room *x = a, *y = b;
    if (x->free != y->free)
        return x->free < y->free ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

static int by_node(const void *a, const void *b)
{
    const struct room *x = a, *y = b;
    return x->node < y->node ? -1 : 1;
}

static int by_room(const void *a, const void *b)
{
    const struct room *x = a, *y = b;
    if (x->cap != y->cap)
        return x->cap > y->cap ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

static int slow_single(struct room *room, uint32_t count, uint32_t units)
{
    for (uint32_t i = 0; i < count; i++)
        if (room[i].given == 0 && room[i].cap >= units) {
            room[i].given = units;
            return 1;
        }
    return 0;
}

/* Empty nodes of that size in node order, then the rest in the list's. */
static int slow_many(struct room *room, uint32_t count, uint32_t units,
                     uint32_t size, enum fit_rule rule)
{
    struct room same[NODES];
    uint32_t n = 0, whole = units / size;
    for (uint32_t i = 0; i < count; i++)
        if (room[i].size == size)
            same[n++] = room[i];
    qsort(same, n, sizeof *same, by_node);
    for (uint32_t i = 0; i < n && whole > 0; i++)
        if (same[i].cap == size) {
            same[i].given = size;
            whole--;
        }
    if (rule != FIT_FIRST)
        qsort(same, n, sizeof *same, rule == FIT_BEST ? by_free : by_room);
    if (whole > 0 ||
        (units % size > 0 && !slow_single(same, n, units % size)))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < n; k++)
            if (same[k].node == room[i].node)
                room[i].given = same[k].given;
    return 1;
}

static int slow_nodes(const struct world *w, struct room *room, uint32_t count,
                      uint32_t units, enum fit_rule rule)
{
    uint32_t tried[NODES], tries = 0;
    struct room copy[NODES];
    memcpy(copy, room, sizeof copy);
    if (rule != FIT_FIRST)
        qsort(copy, count, sizeof *copy, by_free);
    if (slow_single(copy, count, units)) {
        memcpy(room, copy, sizeof copy);
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = room[i].size, seen = 0;
        for (uint32_t k = 0; k < tries; k++)
            seen |= tried[k] == size;
        if (seen || size == 0 || size >= units)
            continue;
        tried[tries++] = size;
        if (slow_many(room, count, units, size, rule))
            return 1;
    }
    assert_true(w->spec.node_count <= NODES);
    return 0;
}

/* The fewest nodes whose caps reach `units`: all subsets. */
static uint32_t fewest_nodes(const struct room *room, uint32_t count,
                             uint32_t units)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t set = 0; set < 1u << count; set++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += set >> i & 1 ? room[i].cap : 0;
        uint32_t n = (uint32_t)__builtin_popcount(set);
        if (sum >= units && n < best)
            best = n;
    }
    return best;
}

static uint32_t given_to(const struct placement *place, uint32_t node,
                         int gpus)
{
    for (uint32_t i = 0; i < place->share_count; i++)
        if (place->share[i].node == node)
            return gpus ? (uint32_t)__builtin_popcountll(
                              place->share[i].gpu_mask)
                        : place->share[i].cores;
    return 0;
}

static void check_pack(const struct world *w, const struct room *room,
                       uint32_t count, uint32_t units)
{
    assert_int_equal(w->place.share_count, fewest_nodes(room, count, units));
}

/* Nobody has two more than a node that could have taken one; and the last
 * round went to the emptiest. */
static void check_spread(const struct world *w, const struct room *room,
                         uint32_t count, int gpus)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = given_to(&w->place, room[i].node, gpus);
        most = x > most ? x : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = given_to(&w->place, room[i].node, gpus);
        if (x < room[i].cap)
            assert_true(x + 1 >= most);
        if (x >= room[i].cap || x == most)
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (given_to(&w->place, room[k].node, gpus) == most)
                assert_true(room[k].free > room[i].free ||
                            (room[k].free == room[i].free &&
                             room[k].node < room[i].node));
    }
}

static void check_same(const struct world *w, const struct room *room,
                       uint32_t count, int gpus)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(given_to(&w->place, room[i].node, gpus),
                         room[i].given);
}

/* What the oracle says for one type; checks the placement when both agree. */
static int oracle_type(const struct world *w, enum fit_rule rule,
                       const struct fit_want *want,
                       const struct gpu_type *type, int bare, int found)
{
    struct room room[NODES];
    memset(room, 0, sizeof room);
    uint32_t units = type ? want->gpus : want->cores;
    uint32_t count = list_rooms(w, want, type, bare, room);
    bool whole = rule == FIT_FIRST || rule == FIT_BEST || rule == FIT_HELIOS;
    int fits = whole ? slow_nodes(w, room, count, units, rule)
                     : total(room, count) >= units;
    if (!fits)
        return 0;
    assert_true(found);
    if (whole)
        check_same(w, room, count, type != NULL);
    if (rule == FIT_PACK)
        check_pack(w, room, count, units);
    if (rule == FIT_SPREAD)
        check_spread(w, room, count, type != NULL);
    return 1;
}

static int oracle(const struct world *w, enum fit_rule rule,
                  const struct fit_want *want, int found)
{
    if (want->gpus == 0)
        return oracle_type(w, rule, want, NULL, 1, found) ||
               oracle_type(w, rule, want, NULL, 0, found);
    for (uint32_t i = 0; i < want->gpu_type_count; i++) {
        const struct gpu_type *type = want->gpu_types[i] == 0   ? &type_a
                                      : want->gpu_types[i] == 7 ? &type_b
                                                                : NULL;
        if (type && oracle_type(w, rule, want, type, 0, found))
            return 1;
    }
    if (want->gpu_type_count > 0)
        return 0;
    for (uint32_t g = 0; g < GROUPS; g++)
        if (w->group[g].gpu &&
            oracle_type(w, rule, want, w->group[g].gpu, 0, found))
            return 1;
    return 0;
}

/* Shares in node order, one type, no more than asked, all of it there. */
static void check_placement(struct world *w, const struct fit_want *want)
{
    const struct gpu_type *type = NULL;
    int64_t memory = 0;
    for (uint32_t i = 0; i < w->place.share_count; i++) {
        const struct share *share = &w->place.share[i];
        const struct node_group *group =
            cluster_group_of(&w->spec, share->node);
        memory += share->memory_bytes;
        if (want->pool_mask)
            assert_true(want->pool_mask & 1u << group->pool);
        if (want->gpus == 0) {
            assert_true(share->gpu_mask == 0 && share->cores > 0);
            continue;
        }
        uint32_t gpus = (uint32_t)__builtin_popcountll(share->gpu_mask);
        assert_true(gpus > 0);
        assert_int_equal(share->cores, gpus * want->cores);
        assert_int_equal(share->memory_bytes, gpus * want->memory_bytes);
        assert_true(type == NULL || type == group->gpu);
        type = group->gpu;
    }
    assert_int_equal(placement_gpus(&w->place), want->gpus);
    if (want->gpus == 0) {
        assert_int_equal(placement_cores(&w->place), want->cores);
        assert_int_equal(memory, want->memory_bytes);
    }
    if (want->extra == NULL)
        cluster_take(w->cluster, &w->place);
}

static void rules_agree_with_slow_ones_on_random_clusters(void **state)
{
    (void)state;
    uint32_t fits = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct world w;
        world_random(&w, seed);
        struct fit_want want = random_want(&w);
        enum fit_rule rule = (enum fit_rule)(seed % FIT_RULE_COUNT);
        int found = fit_find(w.cluster, rule, &want, w.share, NODES, &w.place);
        assert_int_equal(found, oracle(&w, rule, &want, found));
        if (found) {
            check_placement(&w, &want);
            fits++;
        }
        world_close(&w);
    }
    assert_in_range(fits, 1000, 3000);
}

static void nothing_is_written_to_the_answer_when_nothing_fits(void **state)
{
    (void)state;
    struct world w;
    world_plain(&w, 2, 4);
    struct fit_want want = { .gpus = 9 };
    struct placement before = { .share = NULL, .share_count = 77 };
    for (int rule = 0; rule < FIT_RULE_COUNT; rule++) {
        w.place = before;
        assert_false(fit_find(w.cluster, (enum fit_rule)rule, &want, w.share,
                              NODES, &w.place));
        assert_int_equal(w.place.share_count, 77);
        assert_null(w.place.share);
    }
    want.gpus = 8;      /* fits, but not in one share */
    assert_false(fit_find(w.cluster, FIT_COUNT, &want, w.share, 1, &w.place));
    world_close(&w);
}

/* By each rule, nodes of 4 GPUs of which 0 to 3 are taken: as many shares as the placement has are
 * enough for it, and one less is not; without an answer nothing is written. */
static void a_placement_needs_room_for_each_of_its_shares(void **state)
{
    enum { LOTS = 5, SIZE = 4 };
    uint32_t many = 0;

    (void)state;
    for (int taken = 0; taken < 1 << 2 * LOTS; taken += 37)
        for (int rule = 0; rule < FIT_RULE_COUNT; rule++) {
            struct world w;
            world_plain(&w, LOTS, SIZE);
            for (uint32_t n = 0; n < LOTS; n++) {
                struct share part = { .node = n, .gpu_mask = (1u << (taken >> 2 * n & 3)) - 1 };
                if (part.gpu_mask != 0)
                    cluster_take(w.cluster, &(struct placement){ &part, 1 });
            }
            for (uint32_t gpus = 1; gpus <= LOTS * SIZE; gpus++) {
                const struct fit_want want = { .gpus = gpus };
                struct placement out;
                if (!fit_find(w.cluster, (enum fit_rule)rule, &want, w.share, NODES, &w.place))
                    continue;
                uint32_t needs = w.place.share_count;
                assert_true(placement_gpus(&w.place) == gpus && needs <= LOTS);
                assert_true(fit_find(w.cluster, (enum fit_rule)rule, &want, w.share, needs, &out));
                assert_true(out.share_count == needs && placement_gpus(&out) == gpus);
                out.share_count = 77;
                for (uint32_t room = 0; room < needs; room++)
                    assert_false(fit_find(w.cluster, (enum fit_rule)rule, &want, w.share, room,
                                          &out));
                assert_int_equal(out.share_count, 77);
                many += needs > 1;
            }
            world_close(&w);
        }
    assert_true(many > 500);
}

/* More kinds of nodes than are counted: nodes of 100 to 1 free cores, of which the
 * emptiest get one more.  Rounds of one core for each node that has one left. */
static void nodes_that_all_differ_are_spread_over_like_others(void **state)
{
    enum { MANY = 100 };
    struct share share[MANY];
    uint32_t given[MANY] = { 0 };
    struct world w;

    (void)state;
    world_open(&w, 1);
    w.group[0] = (struct node_group){ .name = "g", .node_count = MANY, .cores = MANY,
                                      .memory_bytes = 1000 };
    cluster_aid_count(&w.spec, &w.group[0]);
    w.cluster = cluster_new(w.arena, &w.spec);
    for (uint32_t i = 1; i < MANY; i++) {
        struct share taken = { .node = i, .cores = i };
        cluster_take(w.cluster, &(struct placement){ .share = &taken, .share_count = 1 });
    }
    for (uint32_t cores = 1; cores <= MANY * (MANY + 1) / 2; cores++) {
        /* The next core goes to the emptiest node of those with the fewest. */
        uint32_t next = MANY;
        for (uint32_t i = 0; i < MANY; i++)
            if (given[i] < MANY - i && (next == MANY || given[i] < given[next]))
                next = i;
        given[next]++;
        if (cores % 97 != 0 && cores > 2 * MANY)
            continue;
        const struct fit_want want = { .cores = cores };
        assert_true(fit_find(w.cluster, FIT_SPREAD, &want, share, MANY, &w.place));
        uint32_t at = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            if (given[i] == 0)
                continue;
            assert_true(at < w.place.share_count);
            assert_int_equal(share[at].node, i);
            assert_int_equal(share[at++].cores, given[i]);
        }
        assert_int_equal(at, w.place.share_count);
    }
    world_close(&w);
}

static void lowest_free_gpus_of_a_node_are_taken_first(void **state)
{
    (void)state;
    struct world w;
    world_plain(&w, 1, 8);
    take(&w, 0, 0x35);
    struct fit_want want = { .gpus = 2 };
    assert_true(fit_find(w.cluster, FIT_COUNT, &want, w.share, 1, &w.place));
    assert_int_equal(w.share[0].gpu_mask, 0x0a);
    world_close(&w);
}

static void free_gpus_go_before_those_of_idle_leases(void **state)
{
    (void)state;
    struct world w;
    world_plain(&w, 1, 4);
    take(&w, 0, 0x3);
    w.extra[0].gpu_mask = 0x3;
    struct fit_want want = { .gpus = 3, .extra = w.extra };
    assert_true(fit_find(w.cluster, FIT_FIRST, &want, w.share, 1, &w.place));
    assert_int_equal(w.share[0].gpu_mask, 0xd);
    world_close(&w);
}

static void best_fit_takes_the_fullest_node_that_holds_the_gang(void **state)
{
    (void)state;
    struct world w;
    world_plain(&w, 4, 8);
    take(&w, 0, 0x0f);      /* 4 free */
    take(&w, 1, 0x3f);      /* 2 free */
    take(&w, 2, 0x3f);      /* 2 free */
    struct fit_want want = { .gpus = 2 };
    assert_true(fit_find(w.cluster, FIT_BEST, &want, w.share, 4, &w.place));
    assert_int_equal(w.share[0].node, 1);
    assert_true(fit_find(w.cluster, FIT_FIRST, &want, w.share, 4, &w.place));
    assert_int_equal(w.share[0].node, 0);
    want.gpus = 10;         /* node 3 whole, and 2 more */
    assert_true(fit_find(w.cluster, FIT_BEST, &want, w.share, 4, &w.place));
    assert_int_equal(w.place.share_count, 2);
    assert_int_equal(w.share[0].node, 1);
    assert_int_equal(w.share[1].node, 3);
    world_close(&w);
}

static void cores_go_to_nodes_without_gpus_first(void **state)
{
    (void)state;
    struct world w;
    world_plain(&w, 2, 8);
    w.group[1] = (struct node_group){ .name = "cpu", .node_count = 1,
                                      .cores = 32, .memory_bytes = 1000 };
    cluster_aid_count(&w.spec, &w.group[1]);
    w.cluster = cluster_new(w.arena, &w.spec);
    struct fit_want want = { .cores = 32, .memory_bytes = 10 };
    assert_true(fit_find(w.cluster, FIT_COUNT, &want, w.share, 4, &w.place));
    assert_int_equal(w.share[0].node, 2);
    assert_int_equal(w.share[0].memory_bytes, 10);
    cluster_take(w.cluster, &w.place);
    assert_true(fit_find(w.cluster, FIT_COUNT, &want, w.share, 4, &w.place));
    assert_int_equal(w.share[0].node, 0);
    world_close(&w);
}

/* Two tasks of 24 cores and 128 GB share a node of 48 and 256 GB: a core's part is 5333333333 1/3
 * bytes, and 24 of them are 128 GB to the byte; 24 x 5333333334 would be 16 bytes more, and only
 * 23 cores of the second would have room.  48 cores with 256 GB then lie on two nodes that are
 * half free, 128 GB each, and a byte more lies nowhere: half of it, rounded up, is too much. */
static void cores_share_memory_to_the_byte(void **state)
{
    static const enum fit_rule rule[] = { FIT_FIRST, FIT_BEST, FIT_COUNT, FIT_PACK, FIT_SPREAD };
    const int64_t half = INT64_C(128000000000);

    (void)state;
    for (size_t k = 0; k < sizeof rule / sizeof rule[0]; k++) {
        struct world w;
        world_plain(&w, 2, 0);
        w.group[0].gpu = NULL;
        w.group[0].cores = 48;
        w.group[0].memory_bytes = 2 * half;
        w.cluster = cluster_new(w.arena, &w.spec);
        struct fit_want want = { .cores = 24, .memory_bytes = half, .node_end = 1 };
        for (int i = 0; i < 2; i++) {
            assert_true(fit_find(w.cluster, rule[k], &want, w.share, 4, &w.place));
            assert_int_equal(w.place.share_count, 1);
            assert_int_equal(w.share[0].node, 0);
            assert_int_equal(w.share[0].memory_bytes, half);
            if (i == 0)
                cluster_take(w.cluster, &w.place);
        }
        want.node_first = 1, want.node_end = 2;
        assert_true(fit_find(w.cluster, rule[k], &want, w.share, 4, &w.place));
        cluster_take(w.cluster, &w.place);
        want = (struct fit_want){ .cores = 48, .memory_bytes = 2 * half };
        if (k >= 2) {           /* the others take one node, or whole ones */
            assert_true(fit_find(w.cluster, rule[k], &want, w.share, 4, &w.place));
            assert_int_equal(w.place.share_count, 2);
            assert_int_equal(w.share[0].memory_bytes, half);
            assert_int_equal(w.share[1].memory_bytes, half);
        }
        want.memory_bytes++;
        assert_false(fit_find(w.cluster, rule[k], &want, w.share, 4, &w.place));
        world_close(&w);
    }
}

/* ---- strict FIFO on 8 nodes of 8 GPUs, one second at a time ---- */

#define JOBS 480

struct trace_job {
    uint32_t gpus;
    int64_t submit_s, duration_s, end_s;    /* end: INT64_MAX, not started */
    struct share share[8];
    struct placement place;
};

static int read_trace(struct trace_job *job)
{
    const char *shared = getenv("SHARED");
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/conformance/c480.csv",
             shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        printf("skip: %s is not there\n", path);
        return 0;
    }
    int count = -1;         /* the header line */
    for (; fgets(line, sizeof line, file) != NULL && count < JOBS; count++) {
        long gpus, submit, duration;
        if (count < 0)
            continue;
        assert_int_equal(3, sscanf(line, "%*d,%ld,%ld,%*d,%*[^,],%ld,", &gpus,
                                   &submit, &duration));
        job[count] = (struct trace_job){ .gpus = (uint32_t)gpus,
                                         .submit_s = submit,
                                         .duration_s = duration,
                                         .end_s = INT64_MAX };
    }
    fclose(file);
    return count;
}

static int64_t next_instant(const struct trace_job *job, int64_t now)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < JOBS; i++) {
        if (job[i].submit_s > now && job[i].submit_s < next)
            next = job[i].submit_s;
        if (job[i].end_s > now && job[i].end_s < next)
            next = job[i].end_s;
    }
    return next;
}

static void run_strict(struct world *w, struct trace_job *job,
                       enum fit_rule rule)
{
    int head = 0;
    for (int64_t now = 0; now < INT64_MAX; now = next_instant(job, now)) {
        for (int i = 0; i < head; i++)
            if (job[i].end_s == now)
                cluster_release(w->cluster, &job[i].place);
        for (; head < JOBS && job[head].submit_s <= now; head++) {
            struct fit_want want = { .gpus = job[head].gpus };
            if (!fit_find(w->cluster, rule, &want, job[head].share, 8,
                          &job[head].place))
                break;
            cluster_take(w->cluster, &job[head].place);
            job[head].end_s = now + job[head].duration_s;
        }
    }
    assert_int_equal(head, JOBS);
}

static void strict_fifo_meets_published_simulators(void **state)
{
    (void)state;
    static const struct {
        enum fit_rule rule;
        const char *jct;
        int64_t makespan_s;
    } row[] = {
        { FIT_COUNT, "10539.5729", 165443 },    /* Tiresias, Helios ... */
        { FIT_FIRST, "27235.5312", 204965 },    /* Starburst */
        { FIT_BEST, "26316.0687", 201759 },     /* Helios consolidate */
    };
    static struct trace_job job[JOBS];
    for (int r = 0; r < 3; r++) {
        struct world w;
        if (read_trace(job) != JOBS)
            skip();
        world_plain(&w, 8, 8);
        run_strict(&w, job, row[r].rule);
        double sum = 0.0;
        int64_t makespan_s = 0;
        char text[32];
        for (int i = 0; i < JOBS; i++) {
            sum += (double)(job[i].end_s - job[i].submit_s);
            if (job[i].end_s > makespan_s)
                makespan_s = job[i].end_s;
        }
        snprintf(text, sizeof text, "%.4f", sum / JOBS);
        assert_string_equal(text, row[r].jct);
        assert_int_equal(makespan_s, row[r].makespan_s);
        assert_int_equal(w.cluster->free_gpus, 64);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_agree_with_slow_ones_on_random_clusters),
        cmocka_unit_test(a_placement_needs_room_for_each_of_its_shares),
        cmocka_unit_test(nothing_is_written_to_the_answer_when_nothing_fits),
        cmocka_unit_test(nodes_that_all_differ_are_spread_over_like_others),
        cmocka_unit_test(lowest_free_gpus_of_a_node_are_taken_first),
        cmocka_unit_test(free_gpus_go_before_those_of_idle_leases),
        cmocka_unit_test(best_fit_takes_the_fullest_node_that_holds_the_gang),
        cmocka_unit_test(cores_go_to_nodes_without_gpus_first),
        cmocka_unit_test(cores_share_memory_to_the_byte),
        cmocka_unit_test(strict_fifo_meets_published_simulators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
