/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric_links_test.c - the links of clusters drawn by a seed, one by one: how many a node has of
 * each class, how wide they are, and whose they are; and which clusters fail.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/fabric.h"
#include "models/laws/outage.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "tests/aid/cluster_aid.h"

#define GROUPS 3
#define NONE UINT32_MAX

static const struct gpu_type type = { .name = "a" };

/* Each thing of a node may be missing: then it has no such link. */
static struct node_group draw_group(struct rng *rng)
{
    struct node_group g = { .name = "g", .node_count = 1 + (uint32_t)rng_below(rng, 5),
                            .gpus = (uint32_t)rng_below(rng, 3) * 4, .memory_bytes = 100 };

    g.gpu = g.gpus > 0 ? &type : NULL;
    g.cores = rng_below(rng, 3) ? 1 + (uint32_t)rng_below(rng, 64) : CLUSTER_CORES_UNLIMITED;
    g.pcie_bps = g.gpus > 0 ? 25e9 : 0;
    g.pcie_switches = g.gpus > 0 ? (uint32_t)rng_below(rng, 3) : 0;
    g.pcie_uplink_bps = g.pcie_switches > 0 ? 30e9 : 0;
    g.nic_bps = rng_below(rng, 3) ? 1e9 * (double)(1 + rng_below(rng, 50)) : 0;
    g.nvme_bps = rng_below(rng, 2) ? 3e9 : 0;
    g.wan_bps = rng_below(rng, 2) ? 1e8 * (double)(1 + rng_below(rng, 9)) : 0;
    return g;
}

static double width_of(const struct cluster_spec *spec, const struct node_group *g, int kind,
                       uint32_t node)
{
    double sum = 0;
    uint32_t leaf;

    switch (kind) {
    case FABRIC_CPU: return g->cores == CLUSTER_CORES_UNLIMITED ? 0 : g->cores;
    case FABRIC_PCIE: return g->pcie_switches > 0 ? 30e9 : g->gpus * 25e9;
    case FABRIC_NIC: return g->nic_bps;
    case FABRIC_NVME: return g->nvme_bps;
    case FABRIC_STORAGE: return spec->storage_bps;
    case FABRIC_WAN: return g->wan_bps;
    default: break;
    }
    if (spec->leaf_nodes == 0)
        return 0;
    leaf = node / spec->leaf_nodes;
    for (uint32_t n = 0; n < spec->node_count; n++)
        if (n / spec->leaf_nodes == leaf)
            sum += cluster_group_of(spec, n)->nic_bps;
    return sum / spec->oversubscription;
}

/* Who shares a link: nobody, those below a leaf, those of a group, or all. */
static uint32_t sharers_of(const struct cluster_spec *spec, int kind, uint32_t node)
{
    if (kind == FABRIC_STORAGE)
        return 0;
    if (kind == FABRIC_WAN)
        return cluster_group_of(spec, node)->first_node;
    return kind == FABRIC_UPLINK && spec->leaf_nodes > 0 ? node / spec->leaf_nodes : node;
}

static void check_class(const struct fabric *fabric, const struct cluster_spec *spec,
                        struct flow_net *net, int kind)
{
    enum link_class class = (enum link_class)kind;

    for (uint32_t node = 0; node < spec->node_count; node++) {
        const struct node_group *g = cluster_group_of(spec, node);
        double width = width_of(spec, g, kind, node);
        uint32_t link = fabric_link(fabric, class, node);
        uint32_t links = width > 0 ? 1 : 0;
        assert_true((link != NONE) == (width > 0));
        if (kind == FABRIC_PCIE && width > 0 && g->pcie_switches > 0)
            links = g->pcie_switches;
        assert_int_equal(fabric_link_count(fabric, class, node), links);
        for (uint32_t i = 0; i < links; i++) {
            assert_int_equal(fabric_class(fabric, link + i), class);
            assert_true(fabs(flow_link_capacity(net, link + i) - width) <= 1e-9 * width);
        }
        for (uint32_t other = 0; other < node && links > 0; other++)
            assert_true((fabric_link(fabric, class, other) == link) ==
                        (sharers_of(spec, kind, other) == sharers_of(spec, kind, node)));
    }
}

static void each_node_has_the_links_of_its_parts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct loop *loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
        struct flow_net *net = flow_new(loop);
        struct arena *arena = arena_new(0);
        struct node_group group[GROUPS];
        struct cluster_spec spec = cluster_aid_new(group);
        struct rng rng;
        rng_init(&rng, seed, "links", 0);
        for (int g = 0; g < GROUPS; g++) {
            group[g] = draw_group(&rng);
            cluster_aid_count(&spec, &group[g]);
        }
        spec.leaf_nodes = (uint32_t)rng_below(&rng, 5);
        spec.oversubscription = 1.0 + (double)rng_below(&rng, 3);
        spec.storage_bps = rng_below(&rng, 2) ? 20e9 : 0;
        for (uint64_t n = rng_below(&rng, 3); n > 0; n--)
            flow_link_add(net, 1.0);            /* of others, before */
        const struct fabric *fabric = fabric_new(arena, &spec, net);
        for (int kind = 0; kind < FABRIC_CLASS_COUNT; kind++)
            check_class(fabric, &spec, net, kind);
        arena_free(arena);
        flow_free(net);
        loop_free(loop);
    }
}

/* Any of them alone is enough, and none is not. */
static void a_cluster_fails_by_each_of_its_failures(void **state)
{
    static const struct { int64_t gpu, node, leaf, job; bool recorded, fails; } row[] = {
        { 0, 0, 0, 0, false, false }, { 9, 0, 0, 0, false, true }, { 0, 9, 0, 0, false, true },
        { 0, 0, 9, 0, false, true }, { 0, 0, 0, 9, false, true }, { 0, 0, 0, 0, true, true },
        { 9, 0, 0, 9, true, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct outage_spec failures = {
            .gpu_mtbf_ns = row[i].gpu, .node_mtbf_ns = row[i].node, .switch_mtbf_ns = row[i].leaf,
            .job_mtbf_ns = row[i].job,
            .recorded = row[i].recorded ? (const void *)&type : NULL,
        };
        struct cluster_spec spec = { .failures = &failures };
        assert_true(cluster_fails(&spec) == row[i].fails);
    }
    assert_false(cluster_fails(&(struct cluster_spec){ .failures = NULL }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_has_the_links_of_its_parts),
        cmocka_unit_test(a_cluster_fails_by_each_of_its_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
