/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit_power_test.c - what the audit adds up of nodes and leases, beside watts by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/audit/power.h"
#include "models/catalogue/catalogue.h"
#include "models/types/placement.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

#define PUE 1.25

/* Two nodes of 4 GPUs and 64 cores; two without cores that are told of; two of cores alone, one
 * core each; one rented. */
struct world {
    struct gpu_type gpu;
    struct node_group group[4];
    struct cluster_spec cluster;
    struct audit_power power;
};

static const struct { uint32_t nodes, gpus, cores; double idle_w, max_w; } groups[] = {
    { 2, 4, 64, 200, 520 }, { 2, 2, 0, 90, 90 }, { 2, 0, 1, 50, 110 }, { 1, 8, 32, 300, 400 },
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->gpu = (struct gpu_type){ .name = "g", .idle_w = 60, .tdp_w = 400 };
    w->cluster = cluster_aid_new(w->group);
    w->cluster.pue = PUE;
    for (int g = 0; g < 4; g++) {
        w->group[g] = (struct node_group){ .name = "n", .node_count = groups[g].nodes,
            .gpu = groups[g].gpus > 0 ? &w->gpu : NULL, .gpus = groups[g].gpus,
            .cores = groups[g].cores, .idle_w = groups[g].idle_w, .max_w = groups[g].max_w,
            .rent = g == 3 ? (const void *)groups : NULL };     /* nobody looks into it */
        cluster_aid_count(&w->cluster, &w->group[g]);
    }
    audit_power_begin(&w->power, &w->cluster);
}

/* Nodes that are not rented stand by: 2 x (200 + 4 x 60) + 2 x (90 + 2 x 60) + 2 x 50 W. */
#define BEGIN_UW ((int64_t)(1e6 * PUE * (880 + 420 + 100)))

static void nodes_stand_by_unless_they_are_rented(void **state)
{
    static struct world w;

    (void)state;
    begin(&w);
    assert_true(w.power.micro_w == BEGIN_UW && w.power.items == 6);
    audit_power_node(&w.power, 6, true);        /* rented: 300 + 8 x 60 W */
    assert_true(w.power.micro_w == BEGIN_UW + (int64_t)(1e6 * PUE * 780) && w.power.items == 7);
    audit_power_node(&w.power, 6, false);
    assert_true(w.power.micro_w == BEGIN_UW && w.power.items == 6);
    audit_power_node(&w.power, 0, false);
    assert_true(w.power.micro_w == BEGIN_UW - (int64_t)(1e6 * PUE * 440) && w.power.items == 5);
}

/* GPUs that are held draw 340 W more, parts of them that part; cores, their share of what the
 * node's processors draw more at full load. */
static double watts_of(uint32_t node, const struct share *share)
{
    static const int group_of[] = { 0, 0, 1, 1, 2, 2, 3 };
    int g = group_of[node];
    double gpus = 0, cores = share->cores + share->core_milli / 1000.0;

    for (uint64_t bit = 1; bit <= share->gpu_mask; bit <<= 1)
        gpus += share->gpu_mask & bit ? share->gpu_milli == 0 ? 1 : share->gpu_milli / 1000.0 : 0;
    return PUE * (340 * gpus + (groups[g].cores == 0 ? 0 : cores / groups[g].cores *
                                (groups[g].max_w - groups[g].idle_w)));
}

static void leases_add_what_they_take_and_take_it_off(void **state)
{
    static struct world w;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct share share[20];
        struct placement placement[20];
        struct rng rng;
        double sum = 0;
        rng_init(&rng, seed, "power", 0);
        begin(&w);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t node = (uint32_t)rng_below(&rng, 7);
            uint32_t gpus = w.group[node < 4 ? node / 2 : node < 6 ? 2 : 3].gpus;
            share[i] = (struct share){ .node = node, .cores = (uint32_t)rng_below(&rng, 9),
                .core_milli = (uint16_t)(250 * rng_below(&rng, 4)),
                .gpu_mask = gpus == 0 ? 0 : rng_below(&rng, 1u << gpus),
                .gpu_milli = (uint16_t)(rng_below(&rng, 2) * 300) };
            placement[i] = (struct placement){ &share[i], 1 };
            sum += watts_of(node, &share[i]);
            audit_power_lease(&w.power, &placement[i], true);
            assert_true(w.power.items == 7 + i);
            if (fabs((double)(w.power.micro_w - BEGIN_UW) - 1e6 * sum) > 1 + i)
                fail_msg("seed %llu: %lld uW more, expected %.0f", (unsigned long long)seed,
                         (long long)(w.power.micro_w - BEGIN_UW), 1e6 * sum);
        }
        for (uint32_t i = 0; i < 20; i++)
            audit_power_lease(&w.power, &placement[i], false);
        assert_true(w.power.micro_w == BEGIN_UW && w.power.items == 6);
    }
}

/* 1,750 W with 6 items: each may have been rounded by half a milliwatt, and a little. */
static void a_cap_forgives_what_the_host_rounds(void **state)
{
    static struct world w;

    (void)state;
    begin(&w);
    w.cluster.power_cap_w = 1750;
    assert_true(audit_power_holds(&w.power));
    w.cluster.power_cap_w = 1750 - 0.0029;
    assert_true(audit_power_holds(&w.power));
    w.cluster.power_cap_w = 1750 - 0.0031;
    assert_false(audit_power_holds(&w.power));
    w.cluster.power_cap_w = 2000;
    assert_true(audit_power_holds(&w.power));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_stand_by_unless_they_are_rented),
        cmocka_unit_test(leases_add_what_they_take_and_take_it_off),
        cmocka_unit_test(a_cap_forgives_what_the_host_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
