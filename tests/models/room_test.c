/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room_test.c - the index of free GPUs against plain scans.
 *
 * A want with `extra` (here: of nothing) is searched for without the index,
 * so that one and the same rule can be held against itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/gpu_index.h"
#include "models/cluster/reclaimable.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define NODES_MAX 700u
#define GROUPS 3u
#define HELD_MAX 400u

static const struct gpu_type type_a = { .name = "a", .index = 0 };
static const struct gpu_type type_b = { .name = "b", .index = 7 };

static uint32_t slow_next(const uint32_t *free, uint32_t nodes, uint32_t from,
                          uint64_t counts)
{
    for (uint32_t n = from; n < nodes; n++)
        if (free[n] > 0 && counts >> (free[n] - 1) & 1)
            return n;
    return GPU_INDEX_NONE;
}

static void next_is_what_a_scan_finds(void **state)
{
    static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 63, 64, 65, 500, 512,
                                      513, 5000 };
    (void)state;
    uint32_t found = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct arena *arena = arena_new(1 << 16);
        uint32_t nodes = sizes[s];
        uint32_t *had = calloc(nodes, sizeof *had);
        struct gpu_index room;
        struct rng rng;
        assert_non_null(had);
        rng_init(&rng, 1, "room", nodes);
        gpu_index_init(&room, arena, nodes, 64);
        for (uint32_t n = 0; n < nodes; n++)
            had[n] = 64;
        for (uint32_t i = 0; i < 4 * nodes + 200; i++) {
            uint32_t n = (uint32_t)rng_below(&rng, nodes);
            uint32_t now = rng_below(&rng, 4) ? 0
                                              : (uint32_t)rng_below(&rng, 65);
            gpu_index_set(&room, n, had[n], now);
            assert_int_equal(gpu_index_at(&room, n), now);
            had[n] = now;
            uint32_t from = (uint32_t)rng_below(&rng, nodes + 1);
            uint64_t counts = rng_below(&rng, 2)
                ? gpu_index_exactly((uint32_t)rng_below(&rng, 66))
                : gpu_index_from((uint32_t)rng_below(&rng, 66));
            uint32_t next = gpu_index_next(&room, from, counts);
            assert_int_equal(next, slow_next(had, nodes, from, counts));
            found += next != GPU_INDEX_NONE;
        }
        free(had);
        arena_free(arena);
    }
    assert_true(found > 1000);
}

struct world {
    struct arena *arena;
    struct rng rng;
    struct node_group group[GROUPS];
    struct cluster_spec spec;
    struct cluster *cluster;
    struct share nothing[NODES_MAX];
    struct reclaimable *spare;        /* of leases that are held, some idle */
    bool idle[HELD_MAX];
    struct share indexed[NODES_MAX], plain[NODES_MAX];
    struct placement held[HELD_MAX];
    uint32_t held_count;
};

static uint32_t draw(struct world *w, uint32_t below)
{
    return (uint32_t)rng_below(&w->rng, below);
}

/* Per GPU, nodes have as much of cores and memory as they have in another,
 * more, or next to none. */
static struct world *world_new(uint64_t seed)
{
    static const uint32_t gpus[] = { 1, 2, 4, 8, 8, 16, 64 };
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->arena = arena_new(1 << 16);
    rng_init(&w->rng, seed, "world", 0);
    w->spec = cluster_aid_new(w->group);
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t count = gpus[draw(w, 7)];
        w->group[g] = (struct node_group){
            .name = "g", .pool = g & 1,
            .node_count = 1 + draw(w, draw(w, 2) ? 230 : 20),
            .gpu = draw(w, 3) ? &type_a : &type_b, .gpus = count,
            .cores = count * draw(w, 5),
            .memory_bytes = (int64_t)count * draw(w, 9),
        };
        cluster_aid_count(&w->spec, &w->group[g]);
    }
    w->cluster = cluster_new(w->arena, &w->spec);
    return w;
}

static void world_free(struct world *w)
{
    arena_free(w->arena);
    free(w);
}

static struct fit_want random_want(struct world *w)
{
    static const uint32_t types[] = { 7, 0 };
    struct fit_want want = {
        .gpus = 1 + draw(w, draw(w, 4) ? 8 : 200),
        .cores = draw(w, 2) ? 0 : draw(w, 4),
        .memory_bytes = draw(w, 2) ? 0 : draw(w, 8),
        .gpu_types = types, .gpu_type_count = draw(w, 3),
        .pool_mask = draw(w, 4),
    };
    return want;
}

static void keep(struct world *w, const struct placement *place)
{
    if (w->held_count == HELD_MAX)
        return;
    struct placement *held = &w->held[w->held_count++];
    held->share_count = place->share_count;
    held->share = arena_alloc(w->arena, place->share_count,
                              sizeof *held->share);
    memcpy(held->share, place->share,
           place->share_count * sizeof *held->share);
    cluster_take(w->cluster, held);
}

/* What a phase on cores alone would take: it leaves GPUs without. */
static void keep_cores(struct world *w)
{
    uint32_t n = draw(w, w->spec.node_count);
    struct share share = {
        .node = n, .cores = draw(w, w->cluster->free_cores[n] + 1),
        .memory_bytes = (int64_t)rng_below(
            &w->rng, (uint64_t)w->cluster->free_memory[n] + 1),
    };
    struct placement place = { &share, 1 };
    keep(w, &place);
}

static void give_back(struct world *w)
{
    if (w->held_count == 0)
        return;
    uint32_t i = draw(w, w->held_count);
    cluster_release(w->cluster, &w->held[i]);
    w->held[i] = w->held[--w->held_count];
}

static void assert_same(const struct placement *a, const struct placement *b)
{
    assert_int_equal(a->share_count, b->share_count);
    for (uint32_t i = 0; i < a->share_count; i++) {
        assert_int_equal(a->share[i].node, b->share[i].node);
        assert_int_equal(a->share[i].cores, b->share[i].cores);
        assert_true(a->share[i].gpu_mask == b->share[i].gpu_mask);
        assert_true(a->share[i].memory_bytes == b->share[i].memory_bytes);
    }
}

static void by_index_and_by_scan_every_rule_finds_the_same(void **state)
{
    (void)state;
    uint32_t fits = 0, fails = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct world *w = world_new(seed);
        for (uint32_t step = 0; step < 400; step++) {
            enum fit_rule rule = (enum fit_rule)draw(w, FIT_RULE_COUNT);
            struct fit_want want = random_want(w);
            struct placement indexed, plain;
            bool fit = fit_find(w->cluster, rule, &want, w->indexed,
                                NODES_MAX, &indexed);
            want.extra = w->nothing;
            assert_int_equal(fit, fit_find(w->cluster, rule, &want, w->plain,
                                           NODES_MAX, &plain));
            fits += fit;
            fails += !fit;
            if (fit)
                assert_same(&indexed, &plain);
            if (fit && draw(w, 3) > 0)
                keep(w, &indexed);
            if (seed % 3 == 0 && draw(w, 8) == 0)
                keep_cores(w);
            if (draw(w, 3) == 0)
                give_back(w);
        }
        while (w->held_count > 0)
            give_back(w);
        for (uint32_t g = 0; g < GROUPS; g++) {
            const struct gpu_index *room = &w->cluster->index.room[g].room;
            assert_int_equal(room->nodes_with[w->group[g].gpus],
                             w->group[g].node_count);
            assert_int_equal(w->cluster->index.room[g].short_nodes, 0);
        }
        world_free(w);
    }
    assert_true(fits > 5000 && fails > 5000);
}

/* ---- what is spare ---- */

static void set_idle(struct world *w, uint32_t held, bool idle)
{
    const struct placement *place = &w->held[held];

    for (uint32_t s = 0; s < place->share_count; s++) {
        struct share sum = w->spare->extra[place->share[s].node];
        const struct share *share = &place->share[s];
        sum.gpu_mask = idle ? sum.gpu_mask | share->gpu_mask
                            : sum.gpu_mask & ~share->gpu_mask;
        sum.cores += idle ? share->cores : 0u - share->cores;
        sum.memory_bytes += idle ? share->memory_bytes
                                 : -share->memory_bytes;
        reclaimable_set(w->spare, &sum);
    }
    w->idle[held] = idle;
}

static struct fit_want wider_want(struct world *w)
{
    struct fit_want want = random_want(w);

    if (draw(w, 3) > 0)
        return want;
    want.gpus = 0;
    want.cores = 1 + draw(w, draw(w, 2) ? 40 : 600);
    want.memory_bytes = draw(w, 2) ? 0 : draw(w, 900);
    return want;
}

static void take_or_give_back(struct world *w, const struct placement *found)
{
    uint32_t i = w->held_count;

    if (found != NULL && draw(w, 3) > 0 &&
        cluster_can_take(w->cluster, found)) {
        keep(w, found);
        if (i < w->held_count) {
            w->idle[i] = false;
            if (draw(w, 2))
                set_idle(w, i, true);
        }
    }
    if (w->held_count == 0 || draw(w, 3) > 0)
        return;
    i = draw(w, w->held_count);
    if (draw(w, 2)) {
        set_idle(w, i, !w->idle[i]);
        return;
    }
    if (w->idle[i])
        set_idle(w, i, false);
    cluster_release(w->cluster, &w->held[i]);
    w->held[i] = w->held[--w->held_count];
    w->idle[i] = w->idle[w->held_count];
}

static void what_is_spare_is_found_by_index_as_by_a_scan(void **state)
{
    uint32_t fits = 0, fails = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct world *w = world_new(seed);
        w->spare = reclaimable_new(w->arena, w->cluster);
        for (uint32_t step = 0; step < 300; step++) {
            enum fit_rule rule = draw(w, 2)
                                     ? FIT_PACK
                                     : (enum fit_rule)draw(w, FIT_RULE_COUNT);
            struct fit_want want = wider_want(w);
            struct placement indexed, plain;
            bool spares = draw(w, 4) > 0, fit;
            want.spare = spares ? w->spare : NULL;
            want.extra = spares ? w->spare->extra : NULL;
            fit = fit_find(w->cluster, rule, &want, w->indexed, NODES_MAX,
                           &indexed);
            want.spare = NULL;
            if (!spares)
                want.extra = w->nothing;
            assert_int_equal(fit, fit_find(w->cluster, rule, &want, w->plain,
                                           NODES_MAX, &plain));
            if (fit)
                assert_same(&indexed, &plain);
            fits += fit;
            fails += !fit;
            take_or_give_back(w, fit ? &indexed : NULL);
        }
        world_free(w);
    }
    assert_true(fits > 3000 && fails > 3000);
}

/* An index that left out nodes short of cores would find no room here. */
static void a_node_short_of_cores_is_passed_over_for_the_next(void **state)
{
    (void)state;
    struct world *w = world_new(1);
    w->group[0] = (struct node_group){ .name = "g", .node_count = 20,
                                       .gpu = &type_a, .gpus = 8,
                                       .cores = 16, .memory_bytes = 8 };
    w->spec.group_count = 1;
    w->spec.node_count = 20;
    w->spec.gpu_count = 160;
    w->cluster = cluster_new(w->arena, &w->spec);
    for (uint32_t n = 0; n < 19; n++) {
        struct share share = { .node = n, .cores = 15, .gpu_mask = 1 };
        struct placement place = { &share, 1 };
        cluster_take(w->cluster, &place);
    }
    assert_int_equal(w->cluster->index.room[0].short_nodes, 19);
    for (enum fit_rule rule = FIT_COUNT; rule < FIT_RULE_COUNT; rule++) {
        struct fit_want want = { .gpus = 2, .cores = 2 };
        struct placement place;
        assert_true(fit_find(w->cluster, rule, &want, w->indexed, NODES_MAX,
                             &place));
        assert_int_equal(place.share_count, 1);
        assert_int_equal(place.share[0].node, 19);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_is_what_a_scan_finds),
        cmocka_unit_test(by_index_and_by_scan_every_rule_finds_the_same),
        cmocka_unit_test(what_is_spare_is_found_by_index_as_by_a_scan),
        cmocka_unit_test(a_node_short_of_cores_is_passed_over_for_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
