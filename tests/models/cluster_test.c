/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_test.c - clusters read from YAML, and what is taken of them.
 *
 * Each fault of a file is met by its place, its kind and the words that a
 * user would look for.
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
#include "models/cluster/power.h"
#include "models/laws/phase.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"

struct world {
    struct arena *arena;
    const struct catalogue *catalogue;
    struct err err;
};

static int open_world(void **state)
{
    struct world *w = test_calloc(1, sizeof *w);
    w->arena = arena_new(1 << 16);
    w->catalogue = catalogue_load(w->arena, NULL, 0, &w->err);
    if (w->catalogue == NULL)
        print_error("%s\n", w->err.text);
    *state = w;
    return w->catalogue == NULL;
}

static int close_world(void **state)
{
    struct world *w = *state;
    arena_free(w->arena);
    test_free(w);
    return 0;
}

static const struct cluster_spec *read_text(struct world *w, const char *text)
{
    memset(&w->err, 0, sizeof w->err);
    const struct conf_node *conf =
        conf_parse(w->arena, "test.yaml", text, strlen(text), &w->err);
    if (conf == NULL)
        fail_msg("not YAML: %s", w->err.text);
    return cluster_read(w->arena, conf, w->catalogue, &w->err);
}

static const struct cluster_spec *read_good(struct world *w, const char *text)
{
    const struct cluster_spec *spec = read_text(w, text);
    if (spec == NULL)
        fail_msg("%u:%u: %s (%s)", w->err.pos.line, w->err.pos.col,
                 w->err.text, w->err.hint);
    return spec;
}

static void a_full_cluster_is_read_with_sustained_rates(void **state)
{
    struct world *w = *state;
    const struct cluster_spec *spec = read_good(w,
        "name: full\n"
        "nodes:\n"
        "  - name: dgx\n"
        "    count: 3\n"
        "    gpus: {type: a100-80, count: 8}\n"
        "    cpu: {type: epyc-7763, sockets: 2}\n"
        "    memory: 1TB\n"
        "    nvme: 4x3.84TB\n"
        "    nvme_type: nvme-gen4\n"
        "    nics: {type: ib-ndr, count: 8}\n"
        "    price: 20USD/h\n"
        "  - {name: cpu, count: 2, cpu: {type: epyc-7742}, cores: 48,\n"
        "     memory: 256GB, pool: side, price: on-demand}\n"
        "network: {leaf: 16 nodes, oversubscription: 2}\n"
        "storage: {bandwidth: 20GB/s}\n"
        "pue: 1.25\n"
        "carbon: 400gCO2/kWh\n");
    const struct gpu_type *a100 = catalogue_gpu(w->catalogue, "a100-80");
    const struct link_type *ndr = catalogue_link(w->catalogue, "ib-ndr");
    const struct link_type *ssd = catalogue_link(w->catalogue, "nvme-gen4");
    const struct node_group *dgx = &spec->group[0], *cpu = &spec->group[1];
    assert_string_equal(spec->name, "full");
    assert_int_equal(spec->node_count, 5);
    assert_int_equal(spec->gpu_count, 24);
    assert_int_equal(spec->core_count, 3 * 128 + 2 * 48);
    assert_int_equal(spec->leaf_nodes, 16);
    assert_true(spec->oversubscription == 2.0);
    assert_true(spec->storage_bps == 20e9);
    assert_true(spec->pue == 1.25 && spec->carbon_g_per_kwh == 400.0);
    assert_ptr_equal(dgx->gpu, a100);
    assert_true(dgx->nvlink_bps == a100->nvlink_bps);
    assert_true(dgx->pcie_bps == a100->pcie_bps);
    assert_true(dgx->nic_bps == 8 * ndr->bps_sustained);
    assert_true(dgx->nic_latency_s == ndr->latency_s);
    assert_true(dgx->nvme_bps == 4 * ssd->bps_sustained);
    assert_true(dgx->memory_bytes == 1000000000000);
    assert_true(dgx->usd_per_h == 20.0);
    assert_true(dgx->max_w > dgx->idle_w && dgx->idle_w > 0.0);
    assert_int_equal(cpu->first_node, 3);
    assert_null(cpu->gpu);
    assert_int_equal(cluster_pool(spec, "dgx"), dgx->pool);
    assert_int_equal(cluster_pool(spec, "side"), cpu->pool);
    assert_int_equal(cluster_pool(spec, "cpu"), UINT32_MAX);
    assert_ptr_equal(cluster_group_of(spec, 2), dgx);
    assert_ptr_equal(cluster_group_of(spec, 3), cpu);
}

static void a_node_costs_its_gpus_and_the_cores_beyond_theirs(void **state)
{
    struct world *w = *state;
    const struct cluster_spec *spec = read_good(w,
        "nodes:\n"
        "  - {name: gpu, gpus: {type: h100, count: 8}, memory: 1TB,\n"
        "     cpu: {type: epyc-9654, sockets: 2}, price: reserved}\n"
        "  - {name: cpu, cpu: {type: epyc-7763}, memory: 1TB}\n"
        "  - {name: own, gpus: {type: a100-80, count: 1}, memory: 1TB,\n"
        "     cpu: {type: epyc-7763}, price: owned}\n");
    const struct price *h100 =
        catalogue_price_of(w->catalogue, "h100", PRICE_RESERVED);
    const struct price *core =
        catalogue_price_of(w->catalogue, "core", PRICE_RESERVED);
    assert_true(h100->cores > 0.0 && h100->cores < 24.0);
    assert_true(spec->group[0].usd_per_h ==
                8 * h100->usd_per_h +
                    (192 - 8 * h100->cores) * core->usd_per_h);
    core = catalogue_price_of(w->catalogue, "core", PRICE_ON_DEMAND);
    assert_true(spec->group[1].usd_per_h == 64 * core->usd_per_h);
    assert_true(spec->group[1].energy_included);
    assert_false(spec->group[2].energy_included);
}

/* Only GPUs fail, and the nodes that have them are rented, so that they are replaced: there is
 * nothing to repair.  One node of GPUs that is not rented is enough for it to be. */
static void repairs_need_nodes_that_come_back(void **state)
{
    static const char text[] =
        "failures: {gpu_mtbf: 90h, repair: 1h}\nnodes:\n"
        "  - {name: gpu, count: 2, gpus: {type: h100, count: 8}, memory: 1TB,\n"
        "     cpu: {type: epyc-9654}, price: 9USD/h, rent: {start: 5min}}\n"
        "  - {name: cpu, cpu: {type: epyc-7763}, memory: 1TB, price: 1USD/h}\n";
    struct world *w = *state;
    char more[900];

    assert_null(read_text(w, text));
    assert_non_null(strstr(w->err.text, "repair"));
    assert_non_null(strstr(w->err.text, "needs nodes that fail and are not rented"));
    snprintf(more, sizeof more, "%s  - {name: own, gpus: {type: h100, count: 8}, memory: 1TB,\n"
             "     cpu: {type: epyc-9654}, price: 9USD/h}\n", text);
    assert_non_null(read_good(w, more)->failures);
}

static void generic_gpus_need_nothing_but_their_number(void **state)
{
    struct world *w = *state;
    const struct cluster_spec *spec = read_good(w,
        "nodes: [{name: gpu, count: 8, gpus: {type: generic, count: 8}}]\n");
    const struct node_group *group = &spec->group[0];
    assert_int_equal(spec->gpu_count, 64);
    assert_int_equal(spec->core_count, 0);
    assert_string_equal(group->gpu->name, "generic");
    assert_int_equal(group->cores, CLUSTER_CORES_UNLIMITED);
    assert_true(group->memory_bytes == CLUSTER_MEMORY_UNLIMITED);
    assert_true(group->usd_per_h == 0.0 && group->max_w == 0.0);
    assert_true(power_gpu_w(group->gpu, 1.0) == 0.0);
    assert_true(spec->storage_bps == 0.0 && spec->leaf_nodes == 0);
    for (size_t i = 0; i < catalogue_gpu_count(w->catalogue); i++)
        assert_int_not_equal(catalogue_gpu_at(w->catalogue, i)->index,
                             group->gpu->index);
}

#define CPU "cpu: {type: epyc-7763}, memory: 1TB"

static const struct {
    const char *text;
    enum err_kind kind;
    uint32_t line;
    const char *says, *hint;
} fault[] = {
    { "nodes:\n- {name: a, gpus: {type: a100-8, count: 8}, " CPU "}\n",
      ERR_REFERENCE, 2, "unknown gpu type 'a100-8'", "a100-80" },
    { "nodes:\n- {name: a, gpus: {type: generik, count: 8}}\n",
      ERR_REFERENCE, 2, "'generik'", "generic" },
    { "nodes:\n- {name: a, cpu: {type: epyc-7764}, memory: 1TB}\n",
      ERR_REFERENCE, 2, "unknown cpu type 'epyc-7764'", "epyc-77" },
    { "nodes:\n- {name: a, " CPU ",\n   nics: {type: ib-nrd}}\n",
      ERR_REFERENCE, 3, "unknown link type 'ib-nrd'", "ib-ndr" },
    { "nodes:\n- {name: a, " CPU ",\n   nics: {type: pcie4}}\n",
      ERR_REFERENCE, 3, "InfiniBand", "" },
    { "nodes:\n- {name: a, gpus: {type: h100, count: 65}, " CPU "}\n",
      ERR_RANGE, 2, "65", "" },
    { "nodes:\n- {name: a, gpus: {type: h100, count: 8}}\n",
      ERR_SCHEMA, 2, "cpu is missing", "clustersim list cpus" },
    { "nodes:\n- {name: a, cpu: {type: epyc-7763}}\n",
      ERR_SCHEMA, 2, "memory is missing", "memory: 1TB" },
    { "nodes:\n- {name: a, " CPU ",\n   cores: 65}\n",
      ERR_RANGE, 3, "at most 64", "" },
    { "nodes:\n- {name: a, " CPU ",\n   nvme: lots}\n",
      ERR_SCHEMA, 3, "4x3.84TB, found 'lots'", "" },
    { "nodes:\n- {name: a, " CPU ",\n   nvme: 1.5x3TB}\n",
      ERR_SCHEMA, 3, "1.5x3TB", "" },
    { "nodes:\n- {name: a, " CPU ",\n   nvme: 1x3}\n",
      ERR_SCHEMA, 3, "1x3", "" },
    { "nodes:\n- {name: a, " CPU ", nvme: 1x3TB,\n   nvme_type: pcie4}\n",
      ERR_REFERENCE, 3, "nvme_type must be a disk", "" },
    { "nodes:\n- {name: a, " CPU ",\n   price: ondemand}\n",
      ERR_SCHEMA, 3, "found 'ondemand'", "on-demand" },
    { "nodes:\n- {name: a, " CPU ",\n   price: 5}\n",
      ERR_SCHEMA, 3, "price", "" },
    { "nodes:\n- {name: a, gpus: {type: ascend-910b, count: 8}, " CPU "}",
      ERR_REFERENCE, 2, "no on-demand price of ascend-910b", "price: 2" },
    { "nodes:\n- {name: a, gpus: {type: generic, count: 8},\n"
      "   price: spot}\n",
      ERR_REFERENCE, 3, "no spot price of generic", "price: 2" },
    { "nodes:\n- {name: a, " CPU "}\n- {name: a, " CPU "}\n",
      ERR_SCHEMA, 3, "two groups", "" },
    { "nodes: []\n", ERR_SCHEMA, 1, "at least one group", "" },
    { "nodes: 8\n", ERR_SCHEMA, 1, "list", "" },
    { "name: x\n", ERR_SCHEMA, 1, "nodes", "" },
    { "nodes:\n- {name: a, " CPU ", colour: red}\n", ERR_SCHEMA, 2,
      "colour", "" },
    { "nodes:\n- {name: a, count: 600000, " CPU ", price: 1USD/h}\n"
      "- {name: b, count: 600000, gpus: {type: generic, count: 1}}\n",
      ERR_RANGE, 3, "1000000 nodes", "" },
    { "nodes:\n- {name: a, " CPU "}\nnetwork: {leaf: many}\n",
      ERR_SCHEMA, 3, "found 'many'", "" },
    { "nodes:\n- {name: a, " CPU "}\nnetwork: {leaf: 2.5 nodes}\n",
      ERR_SCHEMA, 3, "found '2.5 nodes'", "" },
    { "nodes:\n- {name: a, " CPU "}\n"
      "network: {leaf: 4, oversubscription: 0.5}\n",
      ERR_RANGE, 3, "oversubscription", "" },
    { "nodes:\n- {name: a, " CPU "}\ncarbon: 400\n",
      ERR_SCHEMA, 3, "found '400'", "" },
    { "nodes:\n- {name: a, " CPU "}\nstorage: {bandwidth: 20}\n",
      ERR_SCHEMA, 3, "bandwidth", "" },
};

static void faults_are_told_with_their_place_and_a_way_out(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        if (read_text(w, fault[i].text) != NULL)
            fail_msg("accepted: %s", fault[i].text);
        if (w->err.kind != fault[i].kind || w->err.pos.line != fault[i].line ||
            strstr(w->err.text, fault[i].says) == NULL ||
            strstr(w->err.hint, fault[i].hint) == NULL)
            fail_msg("%s: kind %d line %u: %s (%s)", fault[i].text,
                     (int)w->err.kind, w->err.pos.line, w->err.text,
                     w->err.hint);
    }
}

static void more_than_32_pools_are_refused(void **state)
{
    struct world *w = *state;
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "nodes:\n");
    for (int i = 0; i < 33; i++) {
        if (i == 32)
            read_good(w, text);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "- {name: g%d, gpus: {type: generic, "
                                 "count: 1}}\n", i);
    }
    assert_null(read_text(w, text));
    assert_int_equal(w->err.kind, ERR_RANGE);
    assert_int_equal(w->err.pos.line, 34);
}

static void sample_clusters_are_read(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *path;
        uint32_t gpus, cores;
    } row[] = {
        { "models/clusters/mixed_64.yaml", 64, 8 * 96 + 128 },
        { "models/clusters/dgx_a100_8.yaml", 64, 8 * 128 },
        { "models/clusters/cpu_only.yaml", 0, 4 * 80 },
        { "models/clusters/generic_64.yaml", 64, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct conf_node *conf =
            conf_load(w->arena, row[i].path, &w->err);
        assert_non_null(conf);
        const struct cluster_spec *spec =
            cluster_read(w->arena, conf, w->catalogue, &w->err);
        if (spec == NULL)
            fail_msg("%s: %s", row[i].path, w->err.text);
        assert_int_equal(spec->gpu_count, row[i].gpus);
        assert_int_equal(spec->core_count, row[i].cores);
    }
}

/* Leases taken and given back in any order; the books stay balanced. */
static void take_and_release_restore_the_cluster(void **state)
{
    struct world *w = *state;
    const struct cluster_spec *spec = read_good(w,
        "nodes:\n"
        "- {name: a, count: 3, gpus: {type: h100, count: 8}, " CPU "}\n"
        "- {name: b, count: 2, gpus: {type: generic, count: 64}}\n");
    struct cluster *cluster = cluster_new(w->arena, spec);
    struct share share[40];
    struct placement held[40];
    uint32_t count = 0, gpus = 0;
    struct rng rng;
    rng_init(&rng, 1, "cluster", 0);
    for (int i = 0; i < 5000; i++) {
        if (count == 40 || (count > 0 && rng_below(&rng, 2))) {
            uint32_t k = (uint32_t)rng_below(&rng, count);
            gpus -= placement_gpus(&held[k]);
            cluster_release(cluster, &held[k]);
            share[k] = share[--count];      /* held[] keeps its pointers */
        } else {
            uint32_t n = (uint32_t)rng_below(&rng, 5);
            share[count] = (struct share){
                .node = n, .cores = (uint32_t)rng_below(&rng, 10),
                .gpu_mask = cluster->free_mask[n] & rng_u64(&rng) &
                            rng_u64(&rng),
                .memory_bytes = (int64_t)rng_below(&rng, 1000),
            };
            held[count] = (struct placement){ &share[count], 1 };
            if (!cluster_can_take(cluster, &held[count]))
                continue;
            cluster_take(cluster, &held[count]);
            gpus += placement_gpus(&held[count++]);
        }
        assert_int_equal(cluster->free_gpus, spec->gpu_count - gpus);
        assert_int_equal(cluster->free_gpus, cluster->index.gpus[0] +
                                                 cluster->index.gpus[1]);
    }
    while (count > 0)
        cluster_release(cluster, &held[--count]);
    struct cluster *fresh = cluster_new(w->arena, spec);
    for (uint32_t n = 0; n < spec->node_count; n++) {
        assert_true(cluster->free_mask[n] == fresh->free_mask[n]);
        assert_int_equal(cluster->free_cores[n], fresh->free_cores[n]);
        assert_true(cluster->free_memory[n] == fresh->free_memory[n]);
    }
}

static void what_is_not_there_cannot_be_taken(void **state)
{
    struct world *w = *state;
    const struct cluster_spec *spec = read_good(w,
        "nodes: [{name: a, count: 2, gpus: {type: h100, count: 8}, "
        CPU "}]\n");
    struct cluster *cluster = cluster_new(w->arena, spec);
    struct share share[2] = { { .node = 0, .gpu_mask = 0x1 },
                              { .node = 1, .gpu_mask = 0x1 } };
    struct placement two = { share, 2 };
    assert_true(cluster_can_take(cluster, &two));
    share[1].gpu_mask = 0x100;                  /* a ninth GPU */
    assert_false(cluster_can_take(cluster, &two));
    share[1] = (struct share){ .node = 1, .cores = 65 };
    assert_false(cluster_can_take(cluster, &two));
    share[1] = (struct share){ .node = 1, .memory_bytes = 1000000000001 };
    assert_false(cluster_can_take(cluster, &two));
    share[1] = (struct share){ .node = 0, .gpu_mask = 0x2 };
    assert_false(cluster_can_take(cluster, &two));      /* a node twice */
    share[1] = (struct share){ .node = 2, .gpu_mask = 0x2 };
    assert_false(cluster_can_take(cluster, &two));      /* no such node */
    struct placement one = { share, 1 };
    cluster_take(cluster, &one);
    assert_false(cluster_can_take(cluster, &one));
}

static void schemas_are_all_listed(void **state)
{
    (void)state;
    size_t count = 0;
    const struct conf_schema *const *schema = cluster_schemas(&count);
    assert_int_equal(count, 13);
    for (size_t i = 0; i < count; i++) {
        assert_true(strncmp(schema[i]->name, "cluster", 7) == 0 ||
                    strcmp(schema[i]->name, "time_series") == 0);
        for (size_t k = 0; k < schema[i]->count; k++)
            assert_non_null(schema[i]->fields[k].help);
    }
}

/* An H100 has PCIe 5, 52 GB/s a slot.  An EPYC 7763 offers PCIe 4, 24 GB/s, an EPYC 9654 PCIe
 * 5, and a T4, PCIe 3, is no faster there: 12.15 GB/s.  Eight H100 save 192 GB in 1 s over
 * slots of 24 GB/s; a switch has one uplink of that rate. */
static void a_slot_is_as_fast_as_its_slower_end(void **state)
{
    static const struct { const char *gpu, *cpu; double bps; } row[] = {
        { "h100", "epyc-7763", 24e9 }, { "h100", "epyc-9654", 52e9 },
        { "t4", "epyc-9654", 12.15e9 },
    };
    struct phase_law law = { .kind = LAW_CHECKPOINT, .storage_bytes = 192e9 };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "nodes:\n- {name: a, gpus: {type: %s, count: 8}, cpu: {type: "
                 "%s}, memory: 1TB, price: 1USD/h, pcie: {switches: 2}}\n", row[i].gpu, row[i].cpu);
        const struct cluster_spec *spec = read_good(*state, text);
        struct share share = { .node = 0, .gpu_mask = 0xff };
        struct placement place = { .share = &share, .share_count = 1 };
        struct gang gang = fabric_gang(spec, &place);

        assert_true(spec->group[0].pcie_bps == row[i].bps);
        assert_true(spec->group[0].pcie_uplink_bps == row[i].bps);
        double s = 1 / phase_plan(&law, &gang, 0.5).rate_max;
        assert_true(fabs(s / (24e9 / row[i].bps) - 1) < 1e-12);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, \
                                                   close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slot_is_as_fast_as_its_slower_end),
        TEST(a_full_cluster_is_read_with_sustained_rates),
        TEST(a_node_costs_its_gpus_and_the_cores_beyond_theirs),
        TEST(repairs_need_nodes_that_come_back), TEST(generic_gpus_need_nothing_but_their_number),
        TEST(faults_are_told_with_their_place_and_a_way_out),
        TEST(more_than_32_pools_are_refused),
        TEST(sample_clusters_are_read),
        TEST(take_and_release_restore_the_cluster),
        TEST(what_is_not_there_cannot_be_taken),
        TEST(schemas_are_all_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
