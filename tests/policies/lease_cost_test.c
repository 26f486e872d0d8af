/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lease_cost_test.c - what a placement costs, takes to load and may draw, by hand.
 *
 * Behind the shares of each placement lies one that is not part of it, on a node that is dear,
 * slow and hot: who reads too many of them gets another figure.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/leases/cost.h"
#include "policies/leases/power.h"
#include "policies/state/nodes.h"
#include "policies/state/terms.h"

#define S INT64_C(1000000000)

/* Nodes 0 and 1 have four GPUs, 2 and 3 have none, 4 is the one behind. */
struct aid {
    struct gpu_type gpu, hot;
    struct node_group group[3];
    struct cluster_spec spec;
    struct cluster cluster;
    uint64_t free_mask[5];
    struct share share[4];
    struct placement place;
    struct host_nodes nodes;
};

static const struct rent_spec *any_rent(void)
{
    static const char some[64];
    return (const void *)some;          /* is only compared with NULL */
}

static void make(struct aid *aid)
{
    *aid = (struct aid) {
        .gpu = { .idle_w = 50, .tdp_w = 300 }, .hot = { .idle_w = 100, .tdp_w = 700 },
        .group = {
            { .first_node = 0, .node_count = 2, .gpus = 4, .cores = 32, .pcie_bps = 10e9,
              .nic_bps = 5e9, .usd_per_h = 8, .idle_w = 200, .max_w = 520 },
            { .first_node = 2, .node_count = 2, .cores = 16, .nic_bps = 1e9, .usd_per_h = 2,
              .rent = any_rent(), .idle_w = 100, .max_w = 180 },
            { .first_node = 4, .node_count = 1, .gpus = 8, .cores = 8, .pcie_bps = 1e6,
              .nic_bps = 5e6, .wan_bps = 1e6, .usd_per_h = 100, .rent = any_rent(),
              .idle_w = 10, .max_w = 90 },
        },
        .spec = { .group_count = 3, .node_count = 5, .pue = 1.25, .rents = true,
                  .transfer_usd_per_byte = 1e-9 },
        .share = {
            { .node = 0, .gpu_mask = 3, .cores = 8, .core_milli = 500 },
            { .node = 1, .gpu_mask = 1, .gpu_milli = 500, .cores = 2 },
            { .node = 2, .cores = 4, .core_milli = 800 },
            { .node = 4, .gpu_mask = 255, .cores = 8 },
        },
    };
    aid->group[0].gpu = &aid->gpu;
    aid->group[2].gpu = &aid->hot;
    aid->spec.group = aid->group;
    aid->place = (struct placement) { aid->share, 3 };
    aid->cluster.spec = &aid->spec;
    aid->cluster.free_mask = aid->free_mask;
}

/* 2.5 of 4 GPUs at 8 USD an hour, and 4.8 of 16 cores at 2 USD. */
static void a_lease_pays_for_its_part_of_each_node(void **state)
{
    struct aid aid;

    (void)state;
    make(&aid);
    assert_float_equal(host_gpu_usd_per_h(&aid.spec, &aid.place, 0), 5.6, 1e-12);
    assert_float_equal(host_lease_usd(&aid.spec, &aid.place, 100 * S, 1900 * S), 2.8, 1e-12);
    aid.place = (struct placement) { aid.share + 1, 1 };        /* half a GPU alone */
    assert_float_equal(host_gpu_usd_per_h(&aid.spec, &aid.place, 0), 1, 1e-12);
    aid.place = (struct placement) { aid.share + 2, 1 };        /* cores alone */
    assert_float_equal(host_gpu_usd_per_h(&aid.spec, &aid.place, 0), 0.6, 1e-12);
    aid.group[1].cores = 0;             /* unlimited ones have no part */
    assert_float_equal(host_gpu_usd_per_h(&aid.spec, &aid.place, 0), 0, 0);
    aid.spec.unpriced = true;
    assert_float_equal(host_lease_usd(&aid.spec, &aid.place, 0, 1800 * S), 0, 0);
}

/* One of three shares lies on a rented node, and pays for a third of the bytes. */
static void rented_nodes_pay_for_what_crosses_their_line(void **state)
{
    struct aid aid;

    (void)state;
    make(&aid);
    assert_float_equal(host_transfer_usd(&aid.spec, &aid.place, 6e9), 2, 1e-12);
    assert_float_equal(host_transfer_usd(&aid.spec, &aid.place, 0), 0, 0);
    aid.place.share_count = 2;
    assert_float_equal(host_transfer_usd(&aid.spec, &aid.place, 6e9), 0, 0);
    aid.place = (struct placement) { aid.share + 2, 2 };
    assert_float_equal(host_transfer_usd(&aid.spec, &aid.place, 6e9), 6, 1e-12);
    aid.spec.rents = false;
    assert_float_equal(host_transfer_usd(&aid.spec, &aid.place, 6e9), 0, 0);
}

/* The NICs have 5 + 5 + 1 GB/s, the slots of three GPUs 30 GB/s. */
static void a_state_is_stored_over_the_slowest_link(void **state)
{
    struct role_spec role = { .save_bytes = 66e9 };
    struct aid aid;

    (void)state;
    make(&aid);
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 6, 1e-9);
    aid.spec.storage_bps = 12e9;
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 6, 1e-9);
    aid.spec.storage_bps = 4e9;
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 16.5, 1e-9);
    aid.group[0].wan_bps = 3e9;
    aid.group[1].wan_bps = 5e9;
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 22, 1e-9);
    make(&aid);
    aid.group[0].nic_bps = aid.group[1].nic_bps = 0;            /* never limit */
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 2.2, 1e-9);
    make(&aid);
    aid.place = (struct placement) { aid.share + 2, 1 };        /* no slot */
    assert_float_equal(host_store_s(&aid.spec, &role, &aid.place), 66, 1e-9);
}

static void a_role_loads_what_it_lacks_and_then_begins(void **state)
{
    struct role_spec role = { .load_bytes = 66e9, .start_s = 7, .wake_s = 3 };
    const struct host_standing none = { 0 }, first = { .first = true },
        owes = { .owed_bytes = 12e9 }, woken = { .woken = true },
        woken_owes = { .woken = true, .owed_bytes = 5e9 },
        woken_first = { .woken = true, .first = true };
    struct aid aid;

    (void)state;
    make(&aid);
    role.on_cores.load_bytes = 5e9;
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 6 + 7, 1e-9);
    /* By PCIe alone; what is owed comes by the narrowest NIC, beside it. */
    assert_float_equal(host_switch_s(&aid.spec, &role, woken, &aid.place), 2.2 + 3, 1e-9);
    assert_float_equal(host_switch_s(&aid.spec, &role, woken_owes, &aid.place), 5 + 3, 1e-9);
    assert_float_equal(host_switch_s(&aid.spec, &role, owes, &aid.place), 12 + 7, 1e-9);
    role.first_bytes = 33e9;
    assert_float_equal(host_switch_s(&aid.spec, &role, first, &aid.place), 3 + 7, 1e-9);
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 6 + 7, 1e-9);
    assert_float_equal(host_switch_s(&aid.spec, &role, woken_first, &aid.place), 2.2 + 3, 1e-9);
    /* Three copies of 11 of 66 GB each come from elsewhere: half of it. */
    role.copy_bytes = 11e9;
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 3 + 7, 1e-9);
    aid.place = (struct placement) { aid.share + 2, 1 };
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 5 + 7, 1e-9);
    role.on_cores.cores = 4;            /* a process of its own there */
    role.on_cores.start_s = 2;
    role.on_cores.wake_s = 1;
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 5 + 2, 1e-9);
    assert_float_equal(host_switch_s(&aid.spec, &role, woken, &aid.place), 1, 1e-9);
    role.on_cores.cores = 0;
    aid.place = (struct placement) { aid.share + 1, 1 };        /* half a GPU: 11 of 66 GB */
    assert_float_equal(host_switch_s(&aid.spec, &role, none, &aid.place), 6.6 + 7, 1e-9);
    aid.place = (struct placement) { aid.share + 2, 1 };
    aid.group[1].nic_bps = 0;           /* nothing limits it */
    assert_float_equal(host_switch_s(&aid.spec, &role, owes, &aid.place), 7, 1e-9);
}

static void gpus_work_as_long_as_a_phase_would_alone(void **state)
{
    struct host_phase_run run = { .busy_fraction = 0.5, .rate_max = 0.1, .part = 1 };

    (void)state;
    assert_float_equal(host_busy_s(&run, 20), 5, 1e-12);
    assert_float_equal(host_busy_s(&run, 4), 2, 1e-12);
    run.part = 0.3;                     /* alone in 3 s */
    assert_float_equal(host_busy_s(&run, 20), 1.5, 1e-12);
    run.part = INFINITY;
    assert_float_equal(host_busy_s(&run, 20), 10, 1e-12);
    run.part = 1;
    run.busy_fraction = 1.5;
    assert_float_equal(host_busy_s(&run, 20), 10, 1e-12);
    run.rate_max = 0;
    assert_float_equal(host_busy_s(&run, 20), 20, 1e-12);
    run.busy_fraction = -1;
    assert_float_equal(host_busy_s(&run, 20), 0, 0);
}

/* A GPU draws 250 W more at work, a core 10 W, on nodes without GPUs 5 W; all times 1.25:
 * 2 GPUs and 8.5 cores 731.25 W, half a GPU and 2 cores 181.25 W, 4.8 cores 30 W. */
static void a_lease_counts_what_it_could_draw(void **state)
{
    struct aid aid;
    int64_t more_mw = 1000;

    (void)state;
    make(&aid);
    host_power_lease(&aid.nodes, &aid.cluster, &aid.place, true);
    assert_int_equal(aid.nodes.power_mw, 731250 + 181250 + 30000);
    aid.nodes.power_mw += 5;
    host_power_lease(&aid.nodes, &aid.cluster, &aid.place, false);
    assert_int_equal(aid.nodes.power_mw, 5);
    /* One of the two GPUs is leased already: 418.75 W are left of the first share. */
    aid.free_mask[0] = 1;
    aid.nodes.power_mw = 1000000 - 1000 - (418750 + 181250 + 30000);
    assert_true(host_power_allows(&aid.nodes, &aid.cluster, &aid.place, &more_mw));
    assert_int_equal(more_mw, 1000);    /* no cap */
    aid.spec.power_cap_w = 1000;
    assert_true(host_power_allows(&aid.nodes, &aid.cluster, &aid.place, &more_mw));
    assert_int_equal(more_mw, 631000);
    more_mw = 1001;
    assert_false(host_power_allows(&aid.nodes, &aid.cluster, &aid.place, &more_mw));
}

/* 362.5 + 312.5 W become that and 156.25 + 12.5 W. */
static void a_lease_that_becomes_two_counts_the_difference(void **state)
{
    struct share before[3] = { { .node = 0, .gpu_mask = 1, .cores = 4 },
                               { .node = 1, .gpu_mask = 1 }, { .node = 4, .cores = 1 } };
    struct share two[3] = { { .node = 0, .gpu_mask = 1, .gpu_milli = 500 },
                            { .node = 1, .cores = 1 }, { .node = 4, .gpu_mask = 255 } };
    struct placement was = { before, 2 }, one = { before, 2 }, other = { two, 2 };
    struct aid aid;

    (void)state;
    make(&aid);
    aid.nodes.power_mw = 1000000 - 168750;
    aid.spec.power_cap_w = 1000;
    assert_true(host_power_allows_beside(&aid.nodes, &aid.cluster, &was, &one, &other));
    aid.nodes.power_mw++;
    assert_false(host_power_allows_beside(&aid.nodes, &aid.cluster, &was, &one, &other));
    aid.spec.power_cap_w = 0;
    assert_true(host_power_allows_beside(&aid.nodes, &aid.cluster, &was, &one, &other));
}

/* Standing by, nodes draw 1.25 * (200 + 4 * 50) = 500 W, 125 W and 1012.5 W. */
static void nodes_count_while_they_are_there(void **state)
{
    struct aid aid;

    (void)state;
    make(&aid);
    host_power_begin(&aid.nodes, &aid.spec);            /* rented ones are not there */
    assert_int_equal(aid.nodes.power_mw, 1000000);
    assert_int_equal(aid.nodes.gpu_least_mw, 0);
    host_power_node(&aid.nodes, &aid.spec, 4, true);
    assert_int_equal(aid.nodes.power_mw, 2012500);
    host_power_node(&aid.nodes, &aid.spec, 3, true);
    host_power_node(&aid.nodes, &aid.spec, 4, false);
    assert_int_equal(aid.nodes.power_mw, 1125000);
    assert_int_equal(aid.nodes.standby_mw, 1125000);
    aid.spec.power_cap_w = 1200;
    assert_true(host_power_beside_nodes_mw(&aid.nodes, &aid.spec) == 75000);
    aid.nodes.power_mw = aid.nodes.standby_mw = 0;
    aid.spec.power_cap_w = 1375;
    host_power_begin(&aid.nodes, &aid.spec);
    assert_int_equal(aid.nodes.gpu_least_mw, 312500 - 1);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 9), 3);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 3), 3);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 2), 2);
    /* A core of a node without GPUs adds 1.25 * 80 / 16 W, a GPU 1.25 * 250 W. */
    assert_int_equal(host_power_unit_mw(&aid.spec, &aid.group[1]), 6250);
    assert_int_equal(host_power_unit_mw(&aid.spec, &aid.group[0]), 312500);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 1, 3), 2);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 125000, 3), 2);
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 125001, 3), 1);
    aid.nodes.power_mw++;
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 3), 2);
    aid.nodes.power_mw = 1375001;
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 3), 0);
    aid.spec.power_cap_w = 0;
    assert_int_equal(host_power_nodes(&aid.nodes, &aid.spec, &aid.group[1], 0, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_pays_for_its_part_of_each_node),
        cmocka_unit_test(rented_nodes_pay_for_what_crosses_their_line),
        cmocka_unit_test(a_state_is_stored_over_the_slowest_link),
        cmocka_unit_test(a_role_loads_what_it_lacks_and_then_begins),
        cmocka_unit_test(gpus_work_as_long_as_a_phase_would_alone),
        cmocka_unit_test(a_lease_counts_what_it_could_draw),
        cmocka_unit_test(a_lease_that_becomes_two_counts_the_difference),
        cmocka_unit_test(nodes_count_while_they_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
