/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_test.c - PCIe switches and NVLink domains inside a node, from YAML
 * to rates: what two GPUs share, and what a gang loses between domains.
 *
 * Without the keys nothing may change: a node with a switch for every GPU, or
 * with one domain of all GPUs, is the yardstick.
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
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/laws/phase.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "sim/event/loop.h"

struct world {
    struct arena *arena;
    const struct catalogue *catalogue;
    const struct cluster_spec *spec;
    struct loop *loop;
    struct flow_net *net;
    struct fabric *fabric;
    struct flow_use use[256];
    struct share share[8];
    struct err err;
};

static int open_world(void **state)
{
    struct world *w = test_calloc(1, sizeof *w);

    w->arena = arena_new(1 << 16);
    w->catalogue = catalogue_load(w->arena, NULL, 0, &w->err);
    *state = w;
    return w->catalogue == NULL;
}

static void drop_links(struct world *w)
{
    flow_free(w->net);
    if (w->loop != NULL)
        loop_free(w->loop);
    w->net = NULL;
    w->loop = NULL;
}

static int close_world(void **state)
{
    struct world *w = *state;

    drop_links(w);
    arena_free(w->arena);
    test_free(w);
    return 0;
}

/* Four nodes of eight A100s; `keys` are those of the group, as "pcie: ...". */
static bool read_keys(struct world *w, const char *type, const char *keys)
{
    char text[512];

    memset(&w->err, 0, sizeof w->err);
    snprintf(text, sizeof text,
             "nodes:\n  - name: n\n    count: 4\n"
             "    gpus: {type: %s, count: 8}\n"
             "    cpu: {type: epyc-7742, sockets: 2}\n    memory: 1TB\n"
             "    nvme: 4x1.9TB\n    nics: {type: ib-hdr, count: 2}\n"
             "    price: 1USD/h\n    %s\n"
             "storage: {bandwidth: 1000GB/s}\n", type, keys);
    const struct conf_node *conf =
        conf_parse(w->arena, "test.yaml", text, strlen(text), &w->err);
    assert_non_null(conf);
    w->spec = cluster_read(w->arena, conf, w->catalogue, &w->err);
    return w->spec != NULL;
}

static void open_links(struct world *w, const char *keys)
{
    if (!read_keys(w, "a100-80", keys))
        fail_msg("%s", w->err.text);
    drop_links(w);
    w->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    w->net = flow_new(w->loop);
    w->fabric = fabric_new(w->arena, w->spec, w->net);
}

static struct placement on(struct world *w, uint32_t nodes, uint64_t mask)
{
    struct placement place = { .share = w->share, .share_count = nodes };

    for (uint32_t n = 0; n < nodes; n++)
        w->share[n] = (struct share){ .node = n, .cores = 8,
                                      .gpu_mask = mask };
    return place;
}

static void nothing(void *self, uint64_t arg)
{
    (void)self;
    (void)arg;
}

/* A copy between host memory and the GPUs of a mask, of one unit a byte. */
static struct flow_handle copy(struct world *w, uint64_t mask)
{
    struct placement place = on(w, 1, mask);
    struct demand_rates rates = { .pcie_bytes = 1 };
    struct flow_spec flow = {
        .work = 1e18, .weight = 1, .rate_max = INFINITY, .use = w->use,
        .use_count = fabric_uses(w->fabric, &place, &rates, w->use),
        .done = nothing,
    };

    return flow_start(w->net, &flow);
}

static double slot_bps(const struct world *w)
{
    return w->spec->group[0].pcie_bps;
}

/* ---- PCIe switches ---------------------------------------------------- */

static void two_gpus_behind_one_switch_load_at_half_the_rate(void **state)
{
    struct world *w = *state;

    open_links(w, "pcie: {switches: 4}");
    struct flow_handle a = copy(w, 1u << 0);
    assert_true(flow_rate(w->net, a) == slot_bps(w));
    struct flow_handle other = copy(w, 1u << 2);    /* another switch */
    assert_true(flow_rate(w->net, a) == slot_bps(w));
    struct flow_handle b = copy(w, 1u << 1);        /* the same one */
    assert_true(flow_rate(w->net, a) == slot_bps(w) / 2);
    assert_true(flow_rate(w->net, b) == slot_bps(w) / 2);
    assert_true(flow_rate(w->net, other) == slot_bps(w));
}

static void a_second_uplink_gives_both_gpus_their_slot(void **state)
{
    struct world *w = *state;

    open_links(w, "pcie: {switches: 4, uplinks: 2}");
    struct flow_handle a = copy(w, 1u << 0), b = copy(w, 1u << 1);
    assert_true(flow_rate(w->net, a) == slot_bps(w));
    assert_true(flow_rate(w->net, b) == slot_bps(w));
}

/* One lease on both GPUs of a switch, and on one GPU of another: the shared
 * uplink sets the pace of the whole. */
static void a_lease_crosses_switches_in_proportion_to_its_gpus(void **state)
{
    struct world *w = *state;
    struct demand_rates rates = { .pcie_bytes = 3 };

    open_links(w, "pcie: {switches: 4}");
    struct placement place = on(w, 1, 0x7);
    uint32_t first = fabric_link(w->fabric, FABRIC_PCIE, 0);
    assert_int_equal(fabric_link_count(w->fabric, FABRIC_PCIE, 0), 4);
    assert_int_equal(fabric_uses(w->fabric, &place, &rates, w->use), 2);
    assert_int_equal(w->use[0].link, first);
    assert_int_equal(w->use[1].link, first + 1);
    assert_true(fabs(w->use[0].per_unit - 2) < 1e-12);
    assert_true(fabs(w->use[1].per_unit - 1) < 1e-12);
    assert_int_equal(fabric_class(w->fabric, first + 3), FABRIC_PCIE);
    const struct node_group *group = &w->spec->group[0];
    assert_true(fabric_pcie_bps(group, 0x7) == 1.5 * slot_bps(w));
    assert_true(fabric_pcie_bps(group, 0x5) == 2 * slot_bps(w));
    assert_true(fabric_pcie_bps(group, 0) == 0);
}

/* What NICs bring in runs up, what GPUs are given runs down: the larger. */
static void opposite_directions_of_an_uplink_do_not_add_up(void **state)
{
    struct world *w = *state;
    struct demand_rates rates = { .pcie_bytes = 8, .storage_bytes = 16 };

    open_links(w, "pcie: {switches: 4}");
    struct placement place = on(w, 1, 0x3);
    uint32_t count = fabric_uses(w->fabric, &place, &rates, w->use);
    uint32_t first = fabric_link(w->fabric, FABRIC_PCIE, 0), seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (fabric_class(w->fabric, w->use[i].link) != FABRIC_PCIE)
            continue;
        seen++;
        assert_true(w->use[i].per_unit ==
                    (w->use[i].link == first ? 8 : 16 / 4.0));
    }
    assert_int_equal(seen, 4);
}

static void a_switch_for_every_gpu_is_as_good_as_none(void **state)
{
    struct world *w = *state;
    double rate[2];

    for (int i = 0; i < 2; i++) {
        open_links(w, i == 0 ? "" : "pcie: {switches: 8}");
        struct flow_handle flow[8];
        for (uint32_t g = 0; g < 8; g++)
            flow[g] = copy(w, 1u << g);
        rate[i] = flow_rate(w->net, flow[5]);
        assert_true(fabs(rate[i] / slot_bps(w) - 1) < 1e-12);
        assert_true(fabric_pcie_bps(&w->spec->group[0], 0x3f) ==
                    6 * slot_bps(w));
    }
}

/* Bytes are conserved whatever the switches: their uses add up to the copy. */
static void uses_of_switches_add_up_and_stay_within_their_maximum(void **state)
{
    struct world *w = *state;
    static const char *const keys[] = { "pcie: {switches: 1}",
                                        "pcie: {switches: 2, uplinks: 3}",
                                        "pcie: {switches: 8}" };
    struct rng rng;

    rng_init(&rng, 7, "topology", 0);
    for (int i = 0; i < 300; i++) {
        open_links(w, keys[i % 3]);
        uint32_t nodes = 1 + (uint32_t)rng_below(&rng, 4);
        struct placement place = on(w, nodes, 1 + rng_below(&rng, 255));
        struct demand_rates rates = { .pcie_bytes = 40 };
        uint32_t count = fabric_uses(w->fabric, &place, &rates, w->use);
        double sum = 0;
        for (uint32_t u = 0; u < count; u++)
            sum += w->use[u].per_unit;
        assert_true(fabs(sum - 40) < 1e-9);
        rates = (struct demand_rates){ .pcie_bytes = 40, .core_s = 1,
                                       .nvme_bytes = 1, .network_bytes = 1,
                                       .storage_bytes = 1 };
        count = fabric_uses(w->fabric, &place, &rates, w->use);
        assert_true(count <= fabric_use_max(w->fabric, nodes));
        for (uint32_t u = 1; u < count; u++)
            assert_true(w->use[u - 1].link < w->use[u].link);
    }
}

/* ---- NVLink domains --------------------------------------------------- */

static struct gang gang_of(struct world *w, uint32_t nodes, uint64_t mask)
{
    struct placement place = on(w, nodes, mask);

    return fabric_gang(w->spec, &place);
}

static void a_gang_inside_a_domain_has_nvlink_and_across_has_pcie(void **state)
{
    struct world *w = *state;

    open_links(w, "nvlink: {domain: 4}");
    const struct gpu_type *gpu = w->spec->group[0].gpu;
    assert_true(gang_of(w, 1, 0x0f).intra_bps == gpu->nvlink_bps);
    assert_true(gang_of(w, 1, 0xa0).intra_bps == gpu->nvlink_bps);
    assert_true(gang_of(w, 1, 0x18).intra_bps == gpu->pcie_bps);
    assert_true(gang_of(w, 1, 0x18).intra_latency_s ==
                gpu->pcie_latency_s);
    /* One domain in each node is enough, though not the same one. */
    struct placement place = on(w, 2, 0x0f);
    w->share[1].gpu_mask = 0xf0;
    assert_true(fabric_gang(w->spec, &place).intra_bps == gpu->nvlink_bps);
    w->share[1].gpu_mask = 0x3c;
    assert_true(fabric_gang(w->spec, &place).intra_bps == gpu->pcie_bps);
    open_links(w, "nvlink: {domain: 0}");
    assert_true(gang_of(w, 1, 0x18).intra_bps == gpu->nvlink_bps);
}

static void training_across_nvlink_domains_is_slower(void **state)
{
    struct world *w = *state;

    open_links(w, "nvlink: {domain: 4}");
    struct phase_law law = {
        .kind = LAW_TRAIN, .sequences = 64, .repeats = 1,
        .train = { .llm = catalogue_llm(w->catalogue, "qwen2.5-7b"),
                   .method = TRAIN_FULL, .precision = PRECISION_BF16,
                   .zero = 3, .recompute = RECOMPUTE_SELECTIVE,
                   .sequence_tokens = 1024, .micro_batch = 1, .tp = 1,
                   .pp = 1 },
    };
    assert_non_null(law.train.llm);
    struct gang one = gang_of(w, 1, 0x0f), two = gang_of(w, 1, 0x3c);
    struct phase_plan fast = phase_plan(&law, &one, 0.5);
    struct phase_plan slow = phase_plan(&law, &two, 0.5);
    assert_true(slow.rate_max < 0.9 * fast.rate_max);
    assert_string_equal(slow.bottleneck, "pcie");
}

/* Where a gang of that many GPUs goes with those of `taken` gone. */
static uint64_t placed(struct world *w, enum fit_rule rule, uint64_t taken,
                       uint32_t gpus)
{
    struct cluster *cluster = cluster_new(w->arena, w->spec);
    struct share share[8];
    struct placement place = { .share = share };
    struct fit_want want = { .gpus = gpus };

    for (uint32_t n = 0; n < 4; n++)
        share[n] = (struct share){ .node = n,
                                   .gpu_mask = n == 0 ? taken : 0xff };
    place.share_count = 4;
    cluster_take(cluster, &place);
    assert_true(fit_find(cluster, rule, &want, share, 8, &place));
    assert_int_equal(place.share_count, 1);
    return place.share[0].gpu_mask;
}

static void pack_takes_the_fullest_domain_that_holds_the_gang(void **state)
{
    struct world *w = *state;

    open_links(w, "nvlink: {domain: 4}");
    assert_int_equal(placed(w, FIT_PACK, 0x03, 2), 0x0c);
    assert_int_equal(placed(w, FIT_PACK, 0x01, 4), 0xf0);
    assert_int_equal(placed(w, FIT_PACK, 0x01, 3), 0x0e);
    assert_int_equal(placed(w, FIT_PACK, 0x07, 5), 0xf8);
    assert_int_equal(placed(w, FIT_PACK, 0x33, 3), 0x4c);
    /* The other rules keep to the lowest, as does pack without the key. */
    assert_int_equal(placed(w, FIT_BEST, 0x01, 4), 0x1e);
    assert_int_equal(placed(w, FIT_FIRST, 0x01, 4), 0x1e);
    open_links(w, "");
    assert_int_equal(placed(w, FIT_PACK, 0x01, 4), 0x1e);
}

/* ---- faults ----------------------------------------------------------- */

static void faults_are_located_and_say_what_divides(void **state)
{
    static const struct { const char *type, *keys, *says; } row[] = {
        { "a100-80", "pcie: {switches: 3}", "divide the 8 GPUs" },
        { "a100-80", "pcie: {switches: 0}", "switches" },
        { "a100-80", "pcie: {uplinks: 2}", "switches" },
        { "a100-80", "pcie: {switch: 2}", "switch" },
        { "a100-80", "nvlink: {domain: 3}", "divide the 8 GPUs" },
        { "a100-80", "nvlink: {domain: 16}", "divide the 8 GPUs" },
        { "l40s", "nvlink: {domain: 2}", "which l40s are not" },
        { "generic", "pcie: {switches: 2}", "slots of generic" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_false(read_keys(w, row[i].type, row[i].keys));
        if (strstr(w->err.text, row[i].says) == NULL)
            fail_msg("%s: %s", row[i].keys, w->err.text);
        assert_int_equal(w->err.pos.line, 10);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, \
                                                   close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_gpus_behind_one_switch_load_at_half_the_rate),
        TEST(a_second_uplink_gives_both_gpus_their_slot),
        TEST(a_lease_crosses_switches_in_proportion_to_its_gpus),
        TEST(opposite_directions_of_an_uplink_do_not_add_up),
        TEST(a_switch_for_every_gpu_is_as_good_as_none),
        TEST(uses_of_switches_add_up_and_stay_within_their_maximum),
        TEST(a_gang_inside_a_domain_has_nvlink_and_across_has_pcie),
        TEST(training_across_nvlink_domains_is_slower),
        TEST(pack_takes_the_fullest_domain_that_holds_the_gang),
        TEST(faults_are_located_and_say_what_divides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
