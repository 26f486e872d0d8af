/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_topology_test.c - the closest place that holds a gang, against a plain search: domains,
 * then nodes, then racks, of each the one with the fewest free GPUs, the first of equals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/place_parts.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define WORLDS 6000
#define NODES 12

static const struct gpu_type type_a = { .name = "a", .index = 3 };
static const struct gpu_type type_b = { .name = "b", .index = 5 };

struct world {
    struct arena *arena;
    struct rng rng;
    struct node_group group[3];
    struct cluster_spec spec;
    struct cluster *cluster;
    struct fit_want want;
    struct share share[NODES];
    struct placement place;
};

static uint32_t below(struct world *w, uint32_t limit)
{
    return (uint32_t)rng_below(&w->rng, limit);
}

static void open_world(struct world *w, uint32_t seed)
{
    static const uint32_t types[4][2] = { { 3, 5 }, { 5, 3 }, { 3, 3 }, { 5, 5 } };

    memset(w, 0, sizeof *w);
    w->arena = arena_new(1 << 14);
    rng_init(&w->rng, seed, "close", 0);
    w->spec = cluster_aid_new(w->group);
    w->spec.leaf_nodes = 2 * below(w, 3);
    for (uint32_t g = 0; g < 3; g++) {
        struct node_group *group = &w->group[g];
        uint32_t gpus = below(w, 6) == 0 ? 0 : below(w, 2) ? 8 : 4;
        *group = (struct node_group){
            .name = "g", .pool = below(w, 2), .node_count = 1 + below(w, 4), .gpus = gpus,
            .gpu = gpus == 0 ? NULL : below(w, 3) ? &type_a : &type_b,
            .nvlink_domain = gpus > 0 ? 2 * below(w, 3) : 0, .cores = 16, .memory_bytes = 100,
        };
        cluster_aid_count(&w->spec, group);
    }
    w->cluster = cluster_new(w->arena, &w->spec);
    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        struct share share = { .node = n, .gpu_mask = w->cluster->free_mask[n] &
                                                     rng_u64(&w->rng) & rng_u64(&w->rng),
                               .cores = below(w, 9), .memory_bytes = below(w, 60) };
        struct placement place = { &share, 1 };
        if (share.gpu_mask != 0)
            cluster_take(w->cluster, &place);
    }
    w->want = (struct fit_want){ .gpus = 1 + below(w, below(w, 2) ? 6 : 20),
                                 .cores = below(w, 4), .memory_bytes = below(w, 20),
                                 .gpu_types = types[below(w, 4)],
                                 .gpu_type_count = below(w, 3), .pool_mask = below(w, 4) };
}

static bool usable(const struct world *w, uint32_t node, const struct gpu_type *type)
{
    const struct node_group *group = cluster_group_of(&w->spec, node);

    return group->gpu == type &&
           (w->want.pool_mask == 0 || (w->want.pool_mask & 1u << group->pool));
}

static uint32_t free_gpus(const struct world *w, uint32_t node, uint32_t first, uint32_t count)
{
    uint32_t sum = 0;

    for (uint32_t g = first; g < first + count; g++)
        sum += w->cluster->free_mask[node] >> g & 1;
    return sum;
}

/* The node, by its fullest part of `each` GPUs (0: all of it) that holds the gang; -1: none. */
static int closest_node(const struct world *w, const struct gpu_type *type, bool domains)
{
    const struct fit_want *want = &w->want;
    uint32_t least = UINT32_MAX;
    int found = -1;

    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        const struct node_group *group = cluster_group_of(&w->spec, n);
        uint32_t each = domains && group->nvlink_domain ? group->nvlink_domain : group->gpus;
        if (!usable(w, n, type) ||
            (int64_t)want->gpus * want->cores > w->cluster->free_cores[n] ||
            want->gpus * want->memory_bytes > w->cluster->free_memory[n])
            continue;
        for (uint32_t first = 0; first + each <= group->gpus; first += each) {
            uint32_t here = free_gpus(w, n, first, each);
            if (here < want->gpus || here >= least)
                continue;
            least = here;
            found = (int)n;
        }
    }
    return found;
}

static bool pack(struct world *w, const struct gpu_type *type, uint32_t first, uint32_t end,
                 struct share *share, struct placement *place)
{
    struct fit_want want = w->want;

    want.gpu_types = &type->index;
    want.gpu_type_count = 1;
    want.node_first = first;
    want.node_end = end;
    return fit_find(w->cluster, FIT_PACK, &want, share, NODES, place);
}

static bool search_type(struct world *w, const struct gpu_type *type)
{
    uint32_t rack = w->spec.leaf_nodes, nodes = w->spec.node_count, least = UINT32_MAX;
    int node = closest_node(w, type, true);

    node = node < 0 ? closest_node(w, type, false) : node;
    if (node >= 0)
        return pack(w, type, (uint32_t)node, (uint32_t)node + 1, w->share, &w->place);
    uint32_t found = nodes;
    for (uint32_t first = 0; rack > 0 && first < nodes; first += rack) {
        uint32_t end = first + rack > nodes ? nodes : first + rack, sum = 0;
        for (uint32_t n = first; n < end; n++)
            sum += usable(w, n, type) ? free_gpus(w, n, 0, 64) : 0;
        if (sum < least && pack(w, type, first, end, w->share, &w->place)) {
            least = sum;
            found = first;
        }
    }
    if (found == nodes)
        return pack(w, type, 0, nodes, w->share, &w->place);
    return pack(w, type, found, found + rack > nodes ? nodes : found + rack, w->share,
                &w->place);
}

/* Types in the order of the want, or as groups lie. */
static bool search(struct world *w)
{
    for (uint32_t t = 0; t < w->want.gpu_type_count; t++)
        if (search_type(w, w->want.gpu_types[t] == 3 ? &type_a : &type_b))
            return true;
    for (uint32_t g = 0; w->want.gpu_type_count == 0 && g < w->spec.group_count; g++)
        if (w->group[g].gpu != NULL && search_type(w, w->group[g].gpu))
            return true;
    return false;
}

static void gangs_lie_where_a_plain_search_puts_them(void **state)
{
    uint32_t placed = 0, spread = 0;

    (void)state;
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct share share[NODES];
        struct placement place = { 0 };
        struct world w;
        open_world(&w, i);
        bool found = place_topology(w.cluster, &w.want, share, NODES, &place);
        assert_true(found == search(&w));
        if (found) {
            assert_int_equal(place.share_count, w.place.share_count);
            for (uint32_t s = 0; s < place.share_count; s++) {
                assert_int_equal(place.share[s].node, w.place.share[s].node);
                assert_true(place.share[s].gpu_mask == w.place.share[s].gpu_mask);
            }
            spread += place.share_count > 1;
            placed++;
        }
        arena_free(w.arena);
    }
    assert_true(placed > WORLDS / 4 && spread > WORLDS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_lie_where_a_plain_search_puts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
