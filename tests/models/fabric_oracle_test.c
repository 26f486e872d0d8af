/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric_oracle_test.c - bytes over every link, added up in a ledger of (class, node, switch).
 * Clusters, placements and demands come by lot; the product's lists must be sorted, name no link
 * twice, and have the ledger's sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/types/placement.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"
#include "sim/event/loop.h"

#define WORLDS 3000
#define NODES 9
#define LINKS 400

static const struct gpu_type type = { .name = "t", .pcie_bps = 1e9 };

struct world {
    struct arena *arena;
    struct loop *loop;
    struct flow_net *net;
    struct rng rng;
    struct node_group group[3];
    struct cluster_spec spec;
    struct fabric *fabric;
    struct share a[NODES], b[NODES];
    struct placement from, to;
    double ledger[LINKS];
    struct flow_use use[LINKS];
};

static uint32_t below(struct world *w, uint32_t limit)
{
    return (uint32_t)rng_below(&w->rng, limit);
}

static double some(struct world *w)
{
    return below(w, 3) == 0 ? 0 : 1 + below(w, 1000);
}

static void draw_placement(struct world *w, struct share *share, struct placement *out)
{
    *out = (struct placement){ .share = share };
    while (out->share_count == 0)
        for (uint32_t n = 0; n < w->spec.node_count; n++) {
            uint32_t gpus = cluster_group_of(&w->spec, n)->gpus;
            if (below(w, 3) > 0)
                continue;
            share[out->share_count++] = (struct share){
                .node = n, .cores = 1, .gpu_mask = below(w, 1u << gpus) };
        }
}

static void open_world(struct world *w, uint32_t seed)
{
    static const char *const pools[] = { "p" };

    memset(w, 0, sizeof *w);
    w->arena = arena_new(1 << 14);
    w->loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    w->net = flow_new(w->loop);
    rng_init(&w->rng, seed, "fabric", 0);
    flow_link_add(w->net, 1.0);
    w->spec = (struct cluster_spec){ .name = "f", .group = w->group, .pool_name = pools,
                                     .pool_count = 1, .oversubscription = 2.0,
                                     .leaf_nodes = below(w, 4), .storage_bps = some(w) };
    for (uint32_t g = 0; g < 3; g++) {
        uint32_t gpus = 4 * below(w, 3);
        w->group[g] = (struct node_group){
            .name = "g", .node_count = 1 + below(w, 3),
            .gpus = gpus, .gpu = gpus ? &type : NULL, .cores = 8, .memory_bytes = 100,
            .pcie_bps = some(w), .nic_bps = some(w), .nvme_bps = some(w),
            .nvme_access_bytes = some(w), .wan_bps = some(w),
            .pcie_switches = gpus ? 2 * below(w, 3) : 0, .pcie_uplink_bps = 1 + some(w) };
        cluster_aid_count(&w->spec, &w->group[g]);
    }
    w->fabric = fabric_new(w->arena, &w->spec, w->net);
    draw_placement(w, w->a, &w->from);
    draw_placement(w, w->b, &w->to);
}

static void close_world(struct world *w)
{
    flow_free(w->net);
    loop_free(w->loop);
    arena_free(w->arena);
}

/* ---- the ledger ---- */

static void enter(struct world *w, enum link_class kind, uint32_t node, uint32_t more,
                  double amount)
{
    uint32_t link = fabric_link(w->fabric, kind, node);

    if (link == UINT32_MAX)
        return;
    assert_true(link + more < LINKS);
    assert_int_equal(fabric_class(w->fabric, link + more), kind);
    w->ledger[link + more] += amount;
}

static double bits(uint64_t mask)
{
    double n = 0;

    for (; mask; mask >>= 1)
        n += (double)(mask & 1);
    return n;
}

/* To or from GPUs by where they stand; between host memory and NICs or drives evenly. */
static void enter_pcie(struct world *w, const struct share *share, double gpus, double host)
{
    const struct node_group *group = cluster_group_of(&w->spec, share->node);
    uint32_t switches = group->pcie_switches, each = switches ? group->gpus / switches : 0;

    if (switches == 0)
        enter(w, FABRIC_PCIE, share->node, 0, gpus);
    for (uint32_t i = 0; i < switches; i++) {
        uint64_t mine = share->gpu_mask >> i * each & ((UINT64_C(1) << each) - 1);
        double part = share->gpu_mask ? bits(mine) / bits(share->gpu_mask) : 1.0 / switches;
        enter(w, FABRIC_PCIE, share->node, i, fmax(gpus * part, host / switches));
    }
}

static void compare(struct world *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct flow_use *use = &w->use[i];
        assert_true(i == 0 || use->link > w->use[i - 1].link);
        assert_true(fabs(use->per_unit - w->ledger[use->link]) <=
                    1e-9 * w->ledger[use->link]);
        assert_true(use->per_unit > 0);
        w->ledger[use->link] = 0;
    }
    for (uint32_t link = 0; link < LINKS; link++)
        assert_true(w->ledger[link] == 0);
}

static bool holds(const struct placement *place, uint32_t node)
{
    for (uint32_t i = 0; i < place->share_count; i++)
        if (place->share[i].node == node)
            return true;
    return false;
}

/* Do these nodes stand under more than one leaf switch? */
static bool leaves(const struct world *w, const struct placement *a, const struct placement *b)
{
    uint32_t each = w->spec.leaf_nodes, seen = UINT32_MAX;
    bool more = false;

    for (uint32_t n = 0; each > 0 && n < w->spec.node_count; n++)
        if (holds(a, n) || holds(b, n)) {
            more |= seen != UINT32_MAX && seen != n / each;
            seen = n / each;
        }
    return more;
}

static void a_phase_uses_what_its_nodes_do(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world w;
        open_world(&w, seed);
        struct demand_rates r = { .core_s = some(&w), .pcie_bytes = some(&w),
                                  .network_bytes = some(&w), .storage_bytes = some(&w),
                                  .nvme_bytes = some(&w), .nvme_reads = some(&w) };
        double n = w.from.share_count;
        bool far = leaves(&w, &w.from, &w.from);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t node = w.a[i].node;
            const struct node_group *group = cluster_group_of(&w.spec, node);
            double stored = w.spec.storage_bps > 0 ? r.storage_bytes / n : 0;
            double others = n > 1 ? r.network_bytes : 0;
            enter(&w, FABRIC_CPU, node, 0, r.core_s / n);
            enter_pcie(&w, &w.a[i], r.pcie_bytes / n,
                       r.nvme_bytes / n + (group->nic_bps > 0 ? stored : 0));
            enter(&w, FABRIC_NIC, node, 0, stored + others);
            enter(&w, FABRIC_NVME, node, 0,
                  (r.nvme_bytes + r.nvme_reads * group->nvme_access_bytes) / n);
            enter(&w, FABRIC_UPLINK, node, 0, stored + (far ? others : 0));
            enter(&w, FABRIC_STORAGE, node, 0, stored);
            enter(&w, FABRIC_WAN, node, 0, stored);
        }
        compare(&w, fabric_uses(w.fabric, &w.from, &r, w.use));
        close_world(&w);
    }
}

static void enter_move(struct world *w, double bytes, bool copies)
{
    double only_from = 0, only_to = 0;

    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        only_from += holds(&w->from, n) && !holds(&w->to, n);
        only_to += holds(&w->to, n) && !holds(&w->from, n);
    }
    double taken = copies ? bytes : bytes / w->to.share_count;
    double sent = (copies ? (only_to > 0 ? bytes : 0) : taken * only_to) /
                  (only_from > 0 ? only_from : w->from.share_count);
    bool far = leaves(w, &w->from, &w->to);
    for (uint32_t n = 0; n < w->spec.node_count; n++) {
        bool in = holds(&w->to, n), out = holds(&w->from, n);
        double nic = in && out ? (only_from > 0 ? 0 : sent) : in ? taken : out ? sent : 0;
        enter(w, FABRIC_NIC, n, 0, nic);
        if (far)
            enter(w, FABRIC_UPLINK, n, 0, nic);
    }
    for (uint32_t i = 0; i < w->to.share_count; i++)
        enter_pcie(w, &w->b[i], taken, 0);
    for (uint32_t i = 0; i < w->from.share_count; i++)
        if (!holds(&w->to, w->a[i].node))
            enter_pcie(w, &w->a[i], sent, 0);
}

static void state_leaves_its_nodes_and_reaches_others(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world w;
        open_world(&w, seed);
        enter_move(&w, 1000, false);
        compare(&w, fabric_uses_between(w.fabric, &w.from, &w.to, 1000, w.use));
        enter_move(&w, 1000, true);
        compare(&w, fabric_uses_copies(w.fabric, &w.from, &w.to, 1000, w.use));
        close_world(&w);
    }
}

/* Each pair of a sender and a taker moves as much; a pair on one node moves nothing. */
static void every_sender_sends_to_every_taker(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world w;
        open_world(&w, seed);
        bool zero_copy = below(&w, 2) == 0, placed = below(&w, 4) > 0;
        static const struct placement none;
        const struct placement *to = placed ? &w.to : &none;
        double pair = 1000.0 / w.from.share_count / (placed ? to->share_count : 1);
        bool far = leaves(&w, &w.from, to);
        for (uint32_t n = 0; n < w.spec.node_count; n++) {
            double out = 0, in = 0;
            for (uint32_t i = 0; holds(&w.from, n) && i < to->share_count; i++)
                out += to->share[i].node != n ? pair : 0;
            for (uint32_t i = 0; holds(to, n) && i < w.from.share_count; i++)
                in += w.from.share[i].node != n ? pair : 0;
            if (holds(&w.from, n) && !placed)
                out = pair;
            struct share host = { .node = n };
            for (uint32_t i = 0; i < w.from.share_count; i++)
                host = w.a[i].node == n ? w.a[i] : host;
            if (!zero_copy)
                enter_pcie(&w, &host, 0, fmax(in, out));
            enter(&w, FABRIC_NIC, n, 0, fmax(in, out));
            if (far)
                enter(&w, FABRIC_UPLINK, n, 0, fmax(in, out));
        }
        compare(&w, fabric_uses_send(w.fabric, &w.from, placed ? to : NULL, 1000, zero_copy,
                                     w.use, 0));
        close_world(&w);
    }
}

/* GPUs copy at their own rate, or as those do that share a switch's uplink with the most. */
static void gpus_copy_at_the_pace_of_the_fullest_switch(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world w;
        open_world(&w, seed);
        for (uint32_t i = 0; i < w.from.share_count; i++) {
            const struct node_group *group = cluster_group_of(&w.spec, w.a[i].node);
            double gpus = bits(w.a[i].gpu_mask), each = group->pcie_bps;
            uint32_t wide = group->pcie_switches ? group->gpus / group->pcie_switches : 0;
            for (uint32_t s = 0; s < group->pcie_switches; s++) {
                double here = bits(w.a[i].gpu_mask >> s * wide & ((UINT64_C(1) << wide) - 1));
                if (here > 0)
                    each = fmin(each, group->pcie_uplink_bps / here);
            }
            assert_true(fabs(fabric_pcie_bps(group, w.a[i].gpu_mask) - gpus * each) <=
                        1e-9 * gpus * each);
        }
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_uses_what_its_nodes_do),
        cmocka_unit_test(state_leaves_its_nodes_and_reaches_others),
        cmocka_unit_test(every_sender_sends_to_every_taker),
        cmocka_unit_test(gpus_copy_at_the_pace_of_the_fullest_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
