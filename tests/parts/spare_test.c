/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spare_test.c - the indexes of what is free, and of what is free together with what idle leases
 * could give back, against a walk over all nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/reclaimable.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define NODES 90
#define GROUPS 3

static const struct gpu_type type = { .name = "a" };

struct world {
    struct node_group group[GROUPS];
    struct cluster_spec spec;
    struct cluster *cluster;
    struct reclaimable *spare[2];
    struct share taken[NODES], extra[2][NODES];
};

static uint32_t count(uint64_t mask)
{
    uint32_t n = 0;

    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

/* What a node has free; of a set also what it may take back there. */
static struct node_free free_of(const struct world *w, uint32_t node, int set)
{
    const struct node_group *group = cluster_group_of(&w->spec, node);
    const struct share *taken = &w->taken[node];
    struct node_free free = { cluster_all_gpus(group) & ~taken->gpu_mask,
                              group->cores - taken->cores,
                              group->memory_bytes - taken->memory_bytes };

    if (set >= 0) {
        free.gpu_mask |= w->extra[set][node].gpu_mask;
        free.cores += w->extra[set][node].cores;
        free.memory_bytes += w->extra[set][node].memory_bytes;
    }
    return free;
}

/* Classes of cores: none, 1, 2 and 3, 4 to 7 ... */
static uint32_t class_of(uint32_t cores)
{
    uint32_t class = 0;

    while (cores >= 1u << class && class < 20)
        class++;
    return class;
}

static void check_index(const struct world *w, const struct free_index *index, int set)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        const struct node_group *group = &w->group[g];
        const struct group_index *room = &index->room[g];
        uint32_t gpus = 0, shorts = 0, with[65] = { 0 }, classes[21] = { 0 };
        for (uint32_t at = 0; at < group->node_count; at++) {
            struct node_free free = free_of(w, group->first_node + at, set);
            uint32_t here = count(free.gpu_mask);
            gpus += here;
            with[here]++;
            classes[class_of(free.cores)]++;
            assert_int_equal(gpu_index_at(&index->cores[g], at), class_of(free.cores));
            if (group->gpus == 0)
                continue;
            assert_int_equal(gpu_index_at(&room->room, at), here);
            /* Fewer cores or less memory to each free GPU than the whole node has. */
            shorts += here * (group->cores / group->gpus) > free.cores ||
                      here * (group->memory_bytes / group->gpus) > free.memory_bytes;
        }
        assert_int_equal(index->gpus[g], gpus);
        for (uint32_t c = 0; c < 21; c++)
            assert_int_equal(index->cores[g].nodes_with[c], classes[c]);
        if (group->gpus == 0)
            continue;
        assert_int_equal(room->short_nodes, shorts);
        for (uint32_t n = 0; n <= group->gpus; n++)
            assert_int_equal(room->room.nodes_with[n], with[n]);
    }
}

static void open_world(struct world *w, struct arena *arena, struct rng *rng)
{
    *w = (struct world){ .spec = { .node_count = 0 } };
    w->spec = cluster_aid_new(w->group);
    for (uint32_t g = 0; g < GROUPS; g++) {
        w->group[g] = (struct node_group){
            .name = "g", .node_count = 1 + (uint32_t)rng_below(rng, g == 0 ? 70 : 9),
            .gpu = g < 2 ? &type : NULL, .gpus = g < 2 ? 1 + (uint32_t)rng_below(rng, 8) : 0,
            .cores = 1 + (uint32_t)rng_below(rng, 200),
            .memory_bytes = 1 + (int64_t)rng_below(rng, 1000),
        };
        cluster_aid_count(&w->spec, &w->group[g]);
    }
    w->cluster = cluster_new(arena, &w->spec);
}

static struct share draw_share(struct rng *rng, const struct node_free *most, uint32_t node)
{
    return (struct share){
        .node = node, .gpu_mask = most->gpu_mask & rng_u64(rng),
        .cores = (uint32_t)rng_below(rng, (uint64_t)most->cores + 1),
        .memory_bytes = (int64_t)rng_below(rng, (uint64_t)most->memory_bytes + 1),
    };
}

/* A node is taken in part, or comes back whole; what idle leases hold of it is part of what is
 * taken. */
static void change_node(struct world *w, struct rng *rng)
{
    uint32_t node = (uint32_t)rng_below(rng, w->spec.node_count);
    struct share *taken = &w->taken[node], none = { .node = node };
    struct placement p = { taken, 1 };
    bool has = taken->gpu_mask != 0 || taken->cores > 0 || taken->memory_bytes > 0;

    for (int set = 0; set < 2 && w->spare[set] != NULL; set++) {
        reclaimable_set(w->spare[set], &none);
        w->extra[set][node] = none;
    }
    if (has) {
        cluster_release(w->cluster, &p);
        *taken = none;
        return;
    }
    struct node_free free = free_of(w, node, -1);
    *taken = draw_share(rng, &free, node);
    cluster_take(w->cluster, &p);
    for (int set = 0; set < 2 && w->spare[set] != NULL; set++) {
        struct node_free held = { taken->gpu_mask, taken->cores, taken->memory_bytes };
        w->extra[set][node] = draw_share(rng, &held, node);
        reclaimable_set(w->spare[set], &w->extra[set][node]);
    }
}

/* Sets of idle leases begin in the middle, one after the other. */
static void indexes_are_those_of_a_walk(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct arena *arena = arena_new(0);
        struct world w;
        struct rng rng;
        rng_init(&rng, seed, "spare", 0);
        open_world(&w, arena, &rng);
        for (int turn = 0; turn < 300; turn++) {
            if (turn == 40 || turn == 120)
                w.spare[turn > 40] = reclaimable_new(arena, w.cluster);
            change_node(&w, &rng);
            check_index(&w, &w.cluster->index, -1);
            for (int set = 0; set < 2 && w.spare[set] != NULL; set++)
                check_index(&w, &w.spare[set]->index, set);
        }
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_are_those_of_a_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
