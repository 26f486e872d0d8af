/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taken_test.c - what is taken of nodes, in whole GPUs and in parts, against plain books: one
 * number for each GPU, in thousandths, and one for its memory; and nodes by capacity, against a
 * sorted list.
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
#include "models/cluster/place.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define NODES 9
#define HELD 12
#define UNKNOWN UINT32_MAX

/* Groups of 4 GPUs of 16 GiB, 64 and 3 GPUs of which no memory is known, and none. */
struct world {
    struct gpu_type small, plain;
    struct node_group group[4];
    struct cluster_spec spec;
    struct arena *arena;
    struct cluster *cluster;
    /* the plain books */
    uint32_t milli[NODES][64], mib[NODES][64], kinds[NODES][65];
    int64_t core_milli[NODES], memory[NODES];
    bool freed[NODES], split;
    uint64_t releases, pool_releases[2];
    struct placement held[HELD];
    struct share share[HELD][3];
};

static const struct node_group *group_of(const struct world *w, uint32_t node)
{
    return &w->group[node < 3 ? 0 : node < 4 ? 1 : node < 6 ? 2 : 3];
}

static void open_books(struct world *w)
{
    *w = (struct world){ .small = { .name = "small", .memory_bytes = 16 * 1073741824.0 },
                         .plain = { .name = "plain" }, .arena = arena_new(0) };
    w->group[0] = (struct node_group){ .name = "a", .node_count = 3, .gpu = &w->small, .gpus = 4,
                                       .cores = 16, .memory_bytes = 1000 };
    w->group[1] = (struct node_group){ .name = "b", .pool = 1, .node_count = 1, .gpu = &w->plain,
                                       .gpus = 64, .cores = 70, .memory_bytes = 100 };
    w->group[2] = (struct node_group){ .name = "c", .pool = 1, .node_count = 2, .gpu = &w->plain,
                                       .gpus = 3, .cores = 5, .memory_bytes = 600 };
    w->group[3] = (struct node_group){ .name = "d", .node_count = 3, .cores = 9,
                                       .memory_bytes = 50 };
    w->spec = cluster_aid_new(w->group);
    for (int g = 0; g < 4; g++)
        cluster_aid_count(&w->spec, &w->group[g]);
    w->cluster = cluster_new(w->arena, &w->spec);
    for (uint32_t n = 0; n < NODES; n++) {
        w->core_milli[n] = group_of(w, n)->cores * 1000;
        w->memory[n] = group_of(w, n)->memory_bytes;
        for (uint32_t g = 0; g < group_of(w, n)->gpus; g++) {
            w->milli[n][g] = 1000;
            w->mib[n][g] = n < 3 ? 16384 : UNKNOWN;
        }
    }
}

/* A few GPUs of a node, whole or in part, with some of the rest; mostly no more than is free. */
static struct share draw_share(const struct world *w, struct rng *rng, uint32_t node, bool parts)
{
    const struct node_group *group = group_of(w, node);
    struct share share = { .node = node, .cores = (uint32_t)rng_below(rng, 4) };

    for (uint32_t g = 0; g < group->gpus; g++)
        if (rng_below(rng, group->gpus) < 2)
            share.gpu_mask |= UINT64_C(1) << g;
    if (group->gpus == 64 && rng_below(rng, 2))
        share.gpu_mask |= UINT64_C(1) << 63;
    share.memory_bytes = (int64_t)rng_below(rng, 40);
    if (rng_below(rng, 3) == 0)
        share.cores = 0, share.memory_bytes = 0;
    if (parts && rng_below(rng, 2)) {
        share.core_milli = (uint16_t)rng_below(rng, 1000);
        if (share.gpu_mask != 0 && rng_below(rng, 4)) {
            static const uint16_t part[] = { 1, 63, 64, 65, 250, 500, 999, 1000 };
            share.gpu_milli = part[rng_below(rng, 8)];
            share.gpu_mib = node < 3 && share.gpu_milli < 1000
                                ? (uint32_t)rng_below(rng, 16384) : 0;
        }
    }
    return share;
}

static bool is_part(const struct share *share)
{
    return share->gpu_milli != 0 && share->gpu_milli != 1000;
}

static bool fits(const struct world *w, const struct share *share)
{
    for (uint32_t g = 0; g < 64; g++)
        if ((share->gpu_mask >> g & 1) &&
            (w->milli[share->node][g] < (is_part(share) ? share->gpu_milli : 1000u) ||
             w->mib[share->node][g] < share->gpu_mib))
            return false;
    return share->cores * 1000 + share->core_milli <= w->core_milli[share->node] &&
           share->memory_bytes <= w->memory[share->node];
}

static void move(struct world *w, const struct share *share, int sign)
{
    uint32_t n = share->node, gpus = 0;
    uint32_t part = is_part(share) ? share->gpu_milli : 1000;

    for (uint32_t g = 0; g < 64; g++) {
        if (!(share->gpu_mask >> g & 1))
            continue;
        gpus++;
        w->milli[n][g] += sign > 0 ? part : 0u - part;
        if (!is_part(share))
            w->mib[n][g] = sign > 0 ? (n < 3 ? 16384 : UNKNOWN) : 0;
        else if (n < 3)
            w->mib[n][g] += sign > 0 ? share->gpu_mib : 0u - share->gpu_mib;
    }
    if (gpus > 0)
        w->kinds[n][is_part(share) ? 0 : gpus] += sign > 0 ? 0u - 1 : 1;
    w->core_milli[n] += sign * (int64_t)(share->cores * 1000 + share->core_milli);
    w->memory[n] += sign * share->memory_bytes;
}

static void check_parts(const struct world *w, uint32_t n)
{
    const struct node_group *group = group_of(w, n);
    const struct cluster_parts *parts = w->cluster->parts;

    for (uint32_t g = 0; g < group->gpus; g++) {
        assert_int_equal(cluster_left(w->cluster, n)[g], w->milli[n][g]);
        /* What is left of a GPU that is taken whole has no memory that anybody could ask for. */
        if (w->milli[n][g] > 0)
            assert_int_equal(cluster_mib_left(w->cluster, n)[g], w->mib[n][g]);
    }
    assert_int_equal(parts->kind_count, 65);
    for (uint32_t k = 0; k < 65; k++)
        assert_int_equal(parts->kinds[n * 65 + k], w->kinds[n][k]);
}

static void check_books(const struct world *w)
{
    uint32_t gpus = 0, in_pool[2] = { 0 }, most = 0;

    for (uint32_t n = 0; n < NODES; n++) {
        uint64_t mask = 0;
        for (uint32_t g = 0; g < group_of(w, n)->gpus; g++) {
            mask |= (uint64_t)(w->milli[n][g] == 1000) << g;
            gpus += w->milli[n][g] == 1000;
            in_pool[group_of(w, n)->pool] += w->milli[n][g] == 1000;
            if (w->milli[n][g] < 1000 && w->milli[n][g] > most)
                most = w->milli[n][g];
        }
        assert_true(w->cluster->free_mask[n] == mask);
        assert_int_equal(w->cluster->free_cores[n], w->core_milli[n] / 1000);
        assert_int_equal(cluster_core_milli(w->cluster, n), w->core_milli[n]);
        assert_int_equal(w->cluster->free_memory[n], w->memory[n]);
        if (w->split)
            check_parts(w, n);
    }
    assert_int_equal(w->cluster->free_gpus, gpus);
    assert_int_equal(cluster_part_max(w->cluster), most);
    assert_int_equal(w->cluster->releases, w->releases);
    for (int p = 0; p < 2; p++) {
        assert_int_equal(w->cluster->pool_free_gpus[p], in_pool[p]);
        assert_int_equal(w->cluster->pool_releases[p], w->pool_releases[p]);
    }
}

/* Three nodes in two may stand in any order: then nothing can be taken. */
static void try_take(struct world *w, struct rng *rng, int at)
{
    struct placement p = { w->share[at], 1 + (uint32_t)rng_below(rng, 3) };
    bool can = true;

    for (uint32_t i = 0; i < p.share_count; i++) {
        p.share[i] = draw_share(w, rng, (uint32_t)rng_below(rng, NODES), w->split);
        can = can && fits(w, &p.share[i]) && (i == 0 || p.share[i - 1].node < p.share[i].node);
    }
    assert_true(cluster_can_take(w->cluster, &p) == can);
    if (!can)
        return;
    cluster_take(w->cluster, &p);
    for (uint32_t i = 0; i < p.share_count; i++)
        move(w, &p.share[i], -1);
    w->held[at] = p;
}

static void give_back(struct world *w, struct rng *rng, int at)
{
    const struct placement *p = &w->held[at];
    bool tried = rng_below(rng, 3) == 0;

    if (tried)
        cluster_untake(w->cluster, p);
    else
        cluster_release(w->cluster, p);
    w->releases += !tried;
    for (uint32_t i = 0; i < p->share_count; i++) {
        move(w, &p->share[i], 1);
        w->pool_releases[group_of(w, p->share[i].node)->pool] += !tried;
        w->freed[p->share[i].node] = w->freed[p->share[i].node] || !tried;
    }
    w->held[at].share_count = 0;
}

/* Each node that came free since the last question, once. */
static void check_freed(struct world *w)
{
    uint32_t node;

    while ((node = cluster_next_freed(w->cluster)) != UINT32_MAX) {
        assert_true(node < NODES && w->freed[node]);
        w->freed[node] = false;
    }
    for (uint32_t n = 0; n < NODES; n++)
        assert_false(w->freed[n]);
}

static void run_turns(struct world *w, struct rng *rng, int turns)
{
    for (int t = 0; t < turns; t++) {
        int at = (int)rng_below(rng, HELD);
        if (w->held[at].share_count > 0)
            give_back(w, rng, at);
        else
            try_take(w, rng, at);
        check_books(w);
        if (rng_below(rng, 5) == 0)
            check_freed(w);
    }
}

static void books_are_those_of_each_gpu(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world *w = malloc(sizeof *w);
        struct rng rng;
        rng_init(&rng, seed, "taken", 0);
        open_books(w);
        assert_int_equal(cluster_next_freed(w->cluster), UINT32_MAX);
        run_turns(w, &rng, seed % 2 ? 800 : 0);
        for (int at = 0; at < HELD; at++)
            if (w->held[at].share_count > 0)
                give_back(w, &rng, at);
        cluster_split(w->cluster);
        cluster_split(w->cluster);
        w->split = true;
        check_books(w);
        run_turns(w, &rng, 2500);
        arena_free(w->arena);
        free(w);
    }
}

/* GPUs that are taken when parts begin are taken whole. */
static void parts_begin_with_what_is_taken(void **state)
{
    struct share share = { .node = 1, .gpu_mask = 0x5, .cores = 3 };
    struct placement p = { &share, 1 };
    struct world *w = malloc(sizeof *w);

    (void)state;
    open_books(w);
    cluster_take(w->cluster, &p);
    cluster_split(w->cluster);
    for (uint32_t g = 0; g < 4; g++) {
        assert_int_equal(cluster_left(w->cluster, 1)[g], g % 2 ? 1000 : 0);
        assert_int_equal(cluster_mib_left(w->cluster, 1)[g], g % 2 ? 16384 : 0);
        assert_int_equal(cluster_left(w->cluster, 0)[g], 1000);
    }
    assert_int_equal(cluster_core_milli(w->cluster, 1), 13000);
    arena_free(w->arena);
    free(w);
}

/* A node that was away before the first search, and is back, holds no lease: of two idle nodes
 * the first is taken, by the rule that puts leases of one size together, too. */
static void a_node_that_was_away_counts_as_idle(void **state)
{
    struct world *w = malloc(sizeof *w);
    struct share away = { .node = 1, .gpu_mask = 0xf }, found[NODES];
    struct placement p = { &away, 1 }, out;

    (void)state;
    open_books(w);
    struct placer *placer = placer_new(&(struct placer_parts){
        .arena = w->arena, .cluster = w->cluster, .rule = PLACE_GPU_CLUSTERING });
    cluster_take(w->cluster, &p);
    cluster_release(w->cluster, &p);
    assert_true(placer_find(placer, &(struct fit_want){ .gpus = 4 }, found, NODES, &out));
    assert_int_equal(out.share_count, 1);
    assert_int_equal(found[0].node, 0);
    arena_free(w->arena);
    free(w);
}

/* ---- capacities ---- */

/* Nodes of a group with room, by capacity and number. */
static uint32_t sort_nodes(const uint32_t *cap, const struct node_group *group, uint32_t *node)
{
    uint32_t count = 0;

    for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++) {
        if (cap[n] == 0)
            continue;
        uint32_t at = count++;
        for (; at > 0 && cap[node[at - 1]] > cap[n]; at--)
            node[at] = node[at - 1];
        node[at] = n;
    }
    return count;
}

static void check_caps(struct capacity_index *caps, const struct cluster_spec *spec,
                       const uint32_t *cap)
{
    for (uint32_t g = 0; g < spec->group_count; g++) {
        uint32_t node[64], count = sort_nodes(cap, &spec->group[g], node);
        uint64_t total = 0;
        assert_int_equal(capacity_count(caps, g), count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(capacity_node(caps, g, i), node[i]);
            total += cap[node[i]];
        }
        assert_int_equal(capacity_total(caps, g), total);
        for (uint64_t least = 0; least < 8; least++) {
            uint32_t place = 0;
            while (place < count && cap[node[place]] < least)
                place++;
            assert_int_equal(capacity_from(caps, g, least), place);
        }
    }
    for (uint32_t n = 0; n < spec->node_count; n++)
        assert_int_equal(capacity_cap(caps, n), cap[n]);
}

/* Nodes that an index must look at again: all at first, then those that changed; all again
 * when more changes came than four for each node. */
static void nodes_stand_by_capacity(void **state)
{
    struct node_group group[3] = { { .node_count = 40 }, { .node_count = 1 }, { .node_count = 7 } };
    struct arena *arena = arena_new(0);
    struct cluster_spec spec = cluster_aid_new(group);
    uint32_t cap[48] = { 0 };
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, "caps", 0);
    for (int g = 0; g < 3; g++)
        cluster_aid_count(&spec, &group[g]);
    struct capacity_book *book = capacity_book_new(arena, &spec);
    capacity_note(book, 3);             /* nobody asked yet */
    struct capacity_index *caps = capacity_of(book, &(struct capacity_unit){ .gpu = true });
    assert_ptr_equal(capacity_of(book, &(struct capacity_unit){ .gpu = true }), caps);
    for (int turn = 0; turn < 400; turn++) {
        uint32_t changes = turn % 40 == 39 ? 200 : (uint32_t)rng_below(&rng, 9), n, looks = 0;
        bool dirty[48] = { false };
        for (uint32_t i = 0; turn > 0 && i < changes; i++) {
            n = (uint32_t)rng_below(&rng, 48);
            cap[n] = (uint32_t)rng_below(&rng, 7);
            capacity_note(book, n);
            dirty[n] = true;
        }
        for (; (n = capacity_stale(caps)) != UINT32_MAX; looks++) {
            capacity_set(caps, n, cap[n]);
            dirty[n] = false;
        }
        for (n = 0; n < 48; n++)
            assert_false(dirty[n]);
        assert_true(turn == 0 || changes > 192 ? looks >= 48 : looks <= 200);
        check_caps(caps, &spec, cap);
    }
    arena_free(arena);
}

/* Each part of a unit tells it from others; of more than 64 there is no index. */
static void each_unit_has_an_index_of_its_own(void **state)
{
    static const struct capacity_unit unit[] = {
        { .gpu = false }, { .gpu = true }, { .cores = 1 }, { .memory_bytes = 1 },
        { .memory_rest = 1 }, { .memory_parts = 1 },
    };
    struct node_group group[1] = { { .node_count = 2 } };
    struct arena *arena = arena_new(0);
    struct cluster_spec spec = cluster_aid_new(group);
    struct capacity_index *caps[6];

    (void)state;
    cluster_aid_count(&spec, &group[0]);
    struct capacity_book *book = capacity_book_new(arena, &spec);
    for (int i = 0; i < 6; i++) {
        caps[i] = capacity_of(book, &unit[i]);
        for (int k = 0; k < i; k++)
            assert_ptr_not_equal(caps[i], caps[k]);
    }
    for (uint32_t i = 6; i < 70; i++) {
        struct capacity_unit more = { .cores = i };
        assert_true((capacity_of(book, &more) != NULL) == (i < 64));
    }
    for (int i = 0; i < 6; i++)
        assert_ptr_equal(capacity_of(book, &unit[i]), caps[i]);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(books_are_those_of_each_gpu),
        cmocka_unit_test(parts_begin_with_what_is_taken),
        cmocka_unit_test(a_node_that_was_away_counts_as_idle),
        cmocka_unit_test(nodes_stand_by_capacity),
        cmocka_unit_test(each_unit_has_an_index_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
