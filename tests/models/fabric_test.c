/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric_test.c - which links a placement crosses, and by how much.
 *
 * Two groups: 4 nodes of 8 fast GPUs behind leaf switches of 2 nodes, and 2
 * CPU nodes without NICs.  Amounts are computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define GBPS 1e9

static const struct gpu_type fast = {
    .name = "fast", .nvlink_bps = 200 * GBPS, .nvlink_latency_s = 3e-6,
    .pcie_bps = 25 * GBPS, .pcie_latency_s = 1e-5,
    .flops_sustained = { [PRECISION_BF16] = 250e12, [PRECISION_FP16] = 250e12 },
};
static const struct gpu_type slow = {
    .name = "slow", .pcie_bps = 12 * GBPS, .pcie_latency_s = 2e-5,
    .flops_sustained = { [PRECISION_BF16] = 100e12, [PRECISION_FP16] = 100e12 },
};
static const struct cpu_type cpu = { .name = "cpu", .core_speed = 0.8 };

static const struct node_group groups[] = {
    { .name = "train", .first_node = 0, .node_count = 4, .gpu = &fast,
      .gpus = 8, .cpu = &cpu, .cores = 64, .memory_bytes = 1000,
      .nvlink_bps = 200 * GBPS, .pcie_bps = 25 * GBPS, .nic_bps = 100 * GBPS,
      .nic_latency_s = 5e-6, .nvme_bps = 10 * GBPS },
    { .name = "cpu", .first_node = 4, .node_count = 2, .cpu = &cpu,
      .cores = 96, .memory_bytes = 1000 },
    { .name = "infer", .first_node = 6, .node_count = 1, .gpu = &slow,
      .gpus = 4, .cpu = &cpu, .cores = 32, .memory_bytes = 1000,
      .pcie_bps = 12 * GBPS, .nic_bps = 10 * GBPS, .nic_latency_s = 9e-6 },
};
static const char *const pools[] = { "all" };
static const struct cluster_spec spec = {
    .name = "test", .group = groups, .group_count = 3, .pool_name = pools,
    .pool_count = 1, .node_count = 7, .gpu_count = 36, .core_count = 480,
    .leaf_nodes = 2, .oversubscription = 4.0, .storage_bps = 20 * GBPS,
};

struct world {
    struct arena *arena;
    struct loop *loop;
    struct flow_net *net;
    struct fabric *fabric;
    struct flow_use use[64];
    uint32_t count;
};

static int open_world(void **state)
{
    struct world *w = test_calloc(1, sizeof *w);
    w->arena = arena_new(1 << 16);
    w->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    w->net = flow_new(w->loop);
    flow_link_add(w->net, 1.0);     /* links of others may come first */
    w->fabric = fabric_new(w->arena, &spec, w->net);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    flow_free(w->net);
    loop_free(w->loop);
    arena_free(w->arena);
    test_free(w);
    return 0;
}

/* A placement on the nodes of a set, `mask` of the GPUs of each. */
static struct placement on(struct share *share, uint32_t nodes, uint64_t mask)
{
    struct placement place = { .share = share };
    for (uint32_t n = 0; n < spec.node_count; n++)
        if (nodes >> n & 1)
            share[place.share_count++] =
                (struct share){ .node = n, .cores = 8, .gpu_mask = mask };
    return place;
}

/* What the path takes of a link; every entry is positive and in order. */
static double takes(const struct world *w, enum link_class kind, uint32_t node)
{
    uint32_t link = fabric_link(w->fabric, kind, node);
    double found = 0.0;
    for (uint32_t i = 0; i < w->count; i++) {
        assert_true(w->use[i].per_unit > 0.0);
        assert_true(i == 0 || w->use[i - 1].link < w->use[i].link);
        if (w->use[i].link == link)
            found = w->use[i].per_unit;
    }
    return found;
}

static void links_have_the_capacities_of_the_cluster(void **state)
{
    struct world *w = *state;
    static const struct {
        enum link_class kind;
        uint32_t node;
        double capacity;
    } row[] = {
        { FABRIC_CPU, 0, 64 }, { FABRIC_CPU, 4, 96 },
        { FABRIC_PCIE, 3, 200 * GBPS }, { FABRIC_PCIE, 6, 48 * GBPS },
        { FABRIC_NIC, 1, 100 * GBPS }, { FABRIC_NVME, 2, 10 * GBPS },
        { FABRIC_UPLINK, 0, 50 * GBPS }, { FABRIC_UPLINK, 3, 50 * GBPS },
        { FABRIC_UPLINK, 6, 2.5 * GBPS }, { FABRIC_STORAGE, 5, 20 * GBPS },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t link = fabric_link(w->fabric, row[i].kind, row[i].node);
        assert_int_not_equal(link, UINT32_MAX);
        assert_true(flow_link_capacity(w->net, link) == row[i].capacity);
        assert_int_equal(fabric_class(w->fabric, link), row[i].kind);
    }
}

static void a_link_without_capacity_is_left_out(void **state)
{
    struct world *w = *state;
    assert_int_equal(fabric_link(w->fabric, FABRIC_PCIE, 4), UINT32_MAX);
    assert_int_equal(fabric_link(w->fabric, FABRIC_NIC, 5), UINT32_MAX);
    assert_int_equal(fabric_link(w->fabric, FABRIC_NVME, 4), UINT32_MAX);
    assert_int_equal(fabric_link(w->fabric, FABRIC_UPLINK, 4), UINT32_MAX);
    /* 7 CPUs, 5 PCIe, 5 NICs, 4 NVMe, 3 uplinks, storage, and a stranger */
    assert_int_equal(flow_link_count(w->net), 7 + 5 + 5 + 4 + 3 + 1 + 1);
}

static void one_node_crosses_its_nic_for_storage_only(void **state)
{
    struct world *w = *state;
    struct share share[8];
    struct placement one = on(share, 1u << 1, 0xff);
    struct demand_rates rates = { .core_s = 3, .storage_bytes = 5,
                                  .pcie_bytes = 7, .network_bytes = 11 };
    w->count = fabric_uses(w->fabric, &one, &rates, w->use);
    assert_int_equal(w->count, 5);
    assert_true(takes(w, FABRIC_CPU, 1) == 3);
    assert_true(takes(w, FABRIC_PCIE, 1) == 7);
    assert_true(takes(w, FABRIC_NIC, 1) == 5);
    assert_true(takes(w, FABRIC_UPLINK, 1) == 5);
    assert_true(takes(w, FABRIC_STORAGE, 1) == 5);
    rates = (struct demand_rates){ .network_bytes = 11 };
    assert_int_equal(fabric_uses(w->fabric, &one, &rates, w->use), 0);
}

static void traffic_inside_a_leaf_spares_the_uplink(void **state)
{
    struct world *w = *state;
    struct share share[8];
    struct placement two = on(share, 0x3, 0xff);
    struct demand_rates rates = { .network_bytes = 10 };
    w->count = fabric_uses(w->fabric, &two, &rates, w->use);
    assert_int_equal(w->count, 2);
    assert_true(takes(w, FABRIC_NIC, 0) == 10);
    two = on(share, 0x6, 0xff);         /* nodes 1 and 2: two leaves */
    w->count = fabric_uses(w->fabric, &two, &rates, w->use);
    assert_int_equal(w->count, 4);
    assert_true(takes(w, FABRIC_UPLINK, 1) == 10);
    assert_true(takes(w, FABRIC_UPLINK, 2) == 10);
}

static void demands_of_a_leaf_meet_in_one_use_of_its_uplink(void **state)
{
    struct world *w = *state;
    struct share share[8];
    struct placement four = on(share, 0xf, 0xff);
    struct demand_rates rates = { .core_s = 4, .storage_bytes = 8,
                                  .network_bytes = 10 };
    w->count = fabric_uses(w->fabric, &four, &rates, w->use);
    assert_int_equal(w->count, 4 + 4 + 2 + 1);
    assert_true(takes(w, FABRIC_CPU, 2) == 1);
    assert_true(takes(w, FABRIC_NIC, 2) == 2 + 10);
    assert_true(takes(w, FABRIC_UPLINK, 2) == 2 * (2 + 10));
    assert_true(takes(w, FABRIC_STORAGE, 2) == 8);
}

static void a_copy_leaves_once_and_arrives_whole_at_every_node(void **state)
{
    struct world *w = *state;
    struct share share[8], other[8];
    struct placement from = on(share, 0x3, 0xff), to = on(other, 0xc, 0xff);
    w->count = fabric_uses_copies(w->fabric, &from, &to, 12, w->use);
    assert_int_equal(w->count, 4 + 4 + 2);
    assert_true(takes(w, FABRIC_PCIE, 0) == 6);
    assert_true(takes(w, FABRIC_NIC, 0) == 6);
    assert_true(takes(w, FABRIC_NIC, 3) == 12);
    assert_true(takes(w, FABRIC_UPLINK, 0) == 12);
    assert_true(takes(w, FABRIC_UPLINK, 2) == 24);
}

static void bytes_that_move_leave_as_many_as_arrive(void **state)
{
    struct world *w = *state;
    struct rng rng;
    rng_init(&rng, 3, "between", 0);
    for (int i = 0; i < 500; i++) {
        struct share share[8], other[8];
        uint32_t a = 1 + (uint32_t)rng_below(&rng, 15);
        uint32_t b = 1 + (uint32_t)rng_below(&rng, 15);
        struct placement from = on(share, a, 1), to = on(other, b, 1);
        w->count = fabric_uses_between(w->fabric, &from, &to, 60, w->use);
        assert_true(w->count <=
                    fabric_use_max(w->fabric,
                                   from.share_count + to.share_count));
        double out = 0.0, in = 0.0;
        for (uint32_t n = 0; n < 4; n++) {
            double nic = takes(w, FABRIC_NIC, n);
            if (b >> n & 1 && !(a >> n & 1))
                in += nic;
            else
                out += nic;
            if (b >> n & 1)
                assert_true(fabs(takes(w, FABRIC_PCIE, n) -
                                 60.0 / to.share_count) < 1e-9);
        }
        assert_true(fabs(out - in) < 1e-9);
        assert_true(fabs(in - 60.0 * __builtin_popcount(b & ~a) /
                                  to.share_count) < 1e-9);
    }
}

static void nodes_in_both_cost_pcie_only(void **state)
{
    struct world *w = *state;
    struct share share[8];
    struct placement here = on(share, 0x3, 0xf);
    w->count = fabric_uses_copies(w->fabric, &here, &here, 12, w->use);
    assert_int_equal(w->count, 2);
    assert_true(takes(w, FABRIC_PCIE, 0) == 12);
}

static void uses_are_positive_sorted_and_within_their_maximum(void **state)
{
    struct world *w = *state;
    struct rng rng;
    rng_init(&rng, 1, "uses", 0);
    for (int i = 0; i < 500; i++) {
        struct share share[8];
        struct placement place =
            on(share, 1 + (uint32_t)rng_below(&rng, 127), 1);
        struct demand_rates rates = {
            .core_s = (double)rng_below(&rng, 2),
            .storage_bytes = (double)rng_below(&rng, 3),
            .pcie_bytes = (double)rng_below(&rng, 2),
            .network_bytes = (double)rng_below(&rng, 2),
        };
        w->count = fabric_uses(w->fabric, &place, &rates, w->use);
        assert_true(w->count <= fabric_use_max(w->fabric, place.share_count));
        takes(w, FABRIC_CPU, 0);
    }
}

static void a_gang_is_as_fast_as_its_slowest_part(void **state)
{
    (void)state;
    struct share share[8];
    struct placement place = on(share, 0x1, 0xf);
    struct gang gang = fabric_gang(&spec, &place);
    assert_ptr_equal(gang.gpu, &fast);
    assert_int_equal(gang.gpus, 4);
    assert_int_equal(gang.nodes, 1);
    assert_int_equal(gang.cores, 8);
    assert_true(gang.intra_bps == 200 * GBPS);
    assert_true(gang.intra_latency_s == 3e-6);
    place = on(share, 0x3, 0xff);
    gang = fabric_gang(&spec, &place);
    assert_true(gang.inter_bps == 100 * GBPS);      /* one leaf */
    assert_true(gang.inter_latency_s == 5e-6);
    place = on(share, 0x6, 0xff);
    gang = fabric_gang(&spec, &place);
    assert_true(gang.inter_bps == 50 * GBPS);       /* one of two NICs below each leaf, 4:1 */
    place = on(share, 0xf, 0xff);
    gang = fabric_gang(&spec, &place);
    assert_true(gang.inter_bps == 25 * GBPS);       /* both of them */
    place = on(share, 0x41, 0xf);
    gang = fabric_gang(&spec, &place);
    assert_ptr_equal(gang.gpu, &slow);
    assert_true(gang.intra_bps == 12 * GBPS);
    assert_true(gang.inter_bps == 2.5 * GBPS);
    assert_true(gang.inter_latency_s == 9e-6);
}

/* A gang on any nodes with NICs, alone: a law computes with the rate that its narrowest link
 * leaves to the bytes of each node, and no link holds it back besides. */
static void a_law_sees_the_links_that_a_gang_has_alone(void **state)
{
    struct world *w = *state;
    struct share share[8];

    for (uint32_t nodes = 3; nodes < 128; nodes++) {
        struct placement place = on(share, nodes & 0x4f, 1);    /* 4 and 5 have none */
        struct demand_rates rates = { .network_bytes = 1 };
        double least = INFINITY;

        if (place.share_count < 2)
            continue;
        w->count = fabric_uses(w->fabric, &place, &rates, w->use);
        for (uint32_t i = 0; i < w->count; i++)
            least = fmin(least, flow_link_capacity(w->net, w->use[i].link) /
                                    w->use[i].per_unit);
        assert_true(fabs(fabric_gang(&spec, &place).inter_bps / least - 1) < 1e-12);
    }
}

static void cores_alone_are_a_gang_without_gpu(void **state)
{
    (void)state;
    struct share share[8];
    struct placement place = on(share, 0x30, 0);
    struct gang gang = fabric_gang(&spec, &place);
    assert_null(gang.gpu);
    assert_ptr_equal(gang.cpu, &cpu);
    assert_int_equal(gang.cores, 16);
    assert_true(gang.inter_bps > 0.0);
}

static void mark(void *self, uint64_t arg)
{
    struct world *w = self;
    *(int64_t *)(uintptr_t)arg = loop_now_ns(w->loop);
}

/* Two nodes read 40 GB each through a storage of 20 GB/s: 4 s; with twice the
 * storage the uplinks of 50 GB/s do not yet count. */
static void twice_the_bandwidth_never_slows(void **state)
{
    struct world *w = *state;
    int64_t end_ns[2] = { 0 };
    for (int round = 0; round < 2; round++) {
        struct share share[8];
        struct placement place = on(share, 0x6, 0xff);
        struct demand_rates rates = { .storage_bytes = 80 * GBPS };
        struct flow_spec flow = {
            .work = 1, .weight = 1, .rate_max = INFINITY, .use = w->use,
            .use_count = fabric_uses(w->fabric, &place, &rates, w->use),
            .done = mark, .self = w, .arg = (uintptr_t)&end_ns[round],
        };
        int64_t start_ns = loop_now_ns(w->loop);
        flow_start(w->net, &flow);
        loop_run(w->loop);
        end_ns[round] -= start_ns;
        flow_link_set(w->net, fabric_link(w->fabric, FABRIC_STORAGE, 0),
                      40 * GBPS);
    }
    assert_int_equal(end_ns[0], 4 * CLOCK_NS_PER_S);
    assert_int_equal(end_ns[1], 2 * CLOCK_NS_PER_S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, \
                                                   close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(links_have_the_capacities_of_the_cluster),
        TEST(a_link_without_capacity_is_left_out),
        TEST(one_node_crosses_its_nic_for_storage_only),
        TEST(traffic_inside_a_leaf_spares_the_uplink),
        TEST(demands_of_a_leaf_meet_in_one_use_of_its_uplink),
        TEST(a_copy_leaves_once_and_arrives_whole_at_every_node),
        TEST(bytes_that_move_leave_as_many_as_arrive),
        TEST(nodes_in_both_cost_pcie_only),
        TEST(uses_are_positive_sorted_and_within_their_maximum),
        TEST(a_gang_is_as_fast_as_its_slowest_part),
        TEST(a_law_sees_the_links_that_a_gang_has_alone),
        TEST(cores_alone_are_a_gang_without_gpu),
        TEST(twice_the_bandwidth_never_slows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
