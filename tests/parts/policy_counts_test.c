/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy_counts_test.c - what the ground under policies keeps beside what it is kept of: where a
 * role could run, by a walk over groups of nodes; numbers of rented nodes, by a walk over nodes
 * and leases at each decision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/sites.h"
#include "policies/nodes/rental.h"
#include "policies/policy.h"
#include "tests/aid/family_aid.h"

/* ---- sites ----------------------------------------------------------------------- */

#define POOLS 4u
#define TYPES 3u
#define CPU ", cpu: {type: epyc-7742, sockets: 2}, memory: 1TB"

static const char *const gpu_name[TYPES] = { "l40s", "a100-40", "t4" };

/* A site beside the one that is to be found: its type or NULL, pools, and price. */
struct spot {
    const char *gpu;
    uint32_t pool, mask;
    double usd_per_h;
};

static bool stands_before(const struct spot *a, const struct spot *b)
{
    if (a->usd_per_h != b->usd_per_h)
        return a->usd_per_h < b->usd_per_h;
    int order = strcmp(a->gpu, b->gpu);
    return order != 0 ? order < 0 : a->pool < b->pool;
}

/* The least price of an hour of a pool's GPU of a type; < 0: it has none. */
static double least_usd(const struct cluster_spec *spec, uint32_t pool, uint32_t type)
{
    double least = -1;

    for (const struct node_group *g = spec->group; g < spec->group + spec->group_count; g++) {
        if (g->pool != pool || g->gpu == NULL || strcmp(g->gpu->name, gpu_name[type]) != 0)
            continue;
        double usd = g->usd_per_h / g->gpus;
        least = least < 0 || usd < least ? usd : least;
    }
    return least;
}

/* Pools by type, the cheapest first; a union for each type that several pools have, in the order
 * of their first ones; pools with enough cores, the cheapest first. */
static uint32_t list_spots(const struct cluster_spec *spec, uint32_t types, uint32_t mask,
                           uint32_t cores, struct spot *spot)
{
    uint32_t count = 0, singles;

    for (uint32_t p = 0; p < spec->pool_count; p++)
        for (uint32_t t = 0; t < TYPES; t++) {
            struct spot next = { gpu_name[t], p, 1u << p, least_usd(spec, p, t) };
            uint32_t at = count;
            if (next.usd_per_h < 0 || !(types >> t & 1) || (mask != 0 && !(mask >> p & 1)))
                continue;
            for (; at > 0 && stands_before(&next, &spot[at - 1]); at--)
                spot[at] = spot[at - 1];
            spot[at] = next;
            count++;
        }
    singles = count;
    for (uint32_t i = 0; i < singles; i++) {
        struct spot all = spot[i];
        bool first = true;
        for (uint32_t k = 0; k < singles; k++)
            if (strcmp(spot[k].gpu, all.gpu) == 0) {
                first &= k >= i;
                all.mask |= spot[k].mask;
            }
        if (first && all.mask != spot[i].mask)
            spot[count++] = all;
    }
    singles = count;
    for (uint32_t p = 0; cores > 0 && p < spec->pool_count; p++)
        for (uint32_t g = 0; g < spec->group_count; g++) {
            const struct node_group *group = &spec->group[g];
            uint32_t at = count;
            if (group->pool != p || group->cores < cores || (mask != 0 && !(mask >> p & 1)))
                continue;
            struct spot next = { NULL, p, 1u << p, group->gpus > 0 ? 0
                                     : group->usd_per_h * cores / group->cores };
            for (; at > singles && next.usd_per_h < spot[at - 1].usd_per_h; at--)
                spot[at] = spot[at - 1];
            spot[at] = next;
            count++;
            break;              /* by the first group of the pool */
        }
    return count;
}

/* Few prices, so that some are alike; pools come in any order. */
static void draw_groups(struct rng *rng, char *text, size_t room)
{
    size_t n = (size_t)snprintf(text, room, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                                "{nodes: [");
    uint32_t groups = 1 + (uint32_t)rng_below(rng, 9);

    for (uint32_t g = 0; g < groups; g++) {
        uint32_t gpus = 1u << rng_below(rng, 3);
        n += (size_t)snprintf(text + n, room - n, "%s{name: g%u, pool: p%u, count: 2, price: "
                              "%uUSD/h" CPU, g > 0 ? ", " : "", g,
                              (uint32_t)rng_below(rng, POOLS),
                              gpus * (1 + (uint32_t)rng_below(rng, 3)));
        if (g == 0 || rng_below(rng, 4) > 0)
            n += (size_t)snprintf(text + n, room - n, ", gpus: {type: %s, count: %u}",
                                  gpu_name[rng_below(rng, TYPES)], gpus);
        n += (size_t)snprintf(text + n, room - n, "}");
    }
    snprintf(text + n, room - n, "]}\nworkload: {arrival: {process: all_at_once}, jobs: 1, mix: "
             "[{recipe: trace, gpus: 1, duration: 10s}]}\npolicies: [fcfs]\n");
}

static void compare_sites(struct world *world, struct rng *rng)
{
    const struct cluster_spec *spec = experiment_trial_spec(world->experiment, 0).cluster;
    uint32_t types = 1 + (uint32_t)rng_below(rng, (1u << TYPES) - 1), allowed = 0, numbers[TYPES];
    uint32_t cores = rng_below(rng, 2) == 0 ? 0 : 32 * (1 + (uint32_t)rng_below(rng, 5));
    uint32_t mask = rng_below(rng, 2) == 0 ? 0 : 1 + (uint32_t)rng_below(rng, (1u << POOLS) - 1);
    struct spot spot[3 * POOLS * TYPES];

    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t g = 0; g < spec->group_count; g++)
            if ((types >> t & 1) && spec->group[g].gpu != NULL &&
                strcmp(spec->group[g].gpu->name, gpu_name[t]) == 0) {
                numbers[allowed++] = spec->group[g].gpu->index;
                break;
            }
    if (allowed == 0)
        return;
    struct role_spec role = { .gpus = 1, .gpu_types = numbers, .gpu_type_count = allowed,
                              .on_cores = { .cores = cores } };
    struct host_sites sites = host_sites_of(world->arena, spec, &role, mask);
    assert_int_equal(sites.count, list_spots(spec, types, mask, cores, spot));
    for (uint32_t i = 0; i < sites.count; i++) {
        const struct host_site *site = &sites.site[i];
        assert_int_equal(site->pool_mask, spot[i].mask);
        assert_int_equal(site->pool, spot[i].pool);
        assert_true(site->usd_per_h == spot[i].usd_per_h);
        assert_true((site->gpu == NULL) == (spot[i].gpu == NULL));
        if (site->gpu != NULL)
            assert_string_equal(site->gpu->name, spot[i].gpu);
    }
}

static void a_role_may_go_where_a_walk_over_nodes_says(void **state)
{
    struct rng rng;
    char text[3000];

    (void)state;
    rng_init(&rng, 2, "sites", 0);
    for (int i = 0; i < 120; i++) {
        struct world world = { 0 };
        draw_groups(&rng, text, sizeof text);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        for (int k = 0; k < 12; k++)
            compare_sites(&world, &rng);
        world_close(&world);
    }
}

/* ---- rented nodes ---------------------------------------------------------------- */

/* One test, one thread: what was seen. */
static struct {
    uint32_t decisions, under_notice, idle, kept, coming;
    int64_t since_ns[8];        /* by node: seen idle, and not kept, from then on; -1: it is not */
} seen;

static uint32_t count_leases(const struct cs_host *host, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < cs_lease_count(host); k++)
        count += host_stands_on(cs_lease(host, cs_lease_at(host, k)), node);
    return count;
}

/* An idle node goes after its time, if it is not kept, nodes are not rented ahead, and no task
 * that waits needs it; whether one does is looked at once a minute. */
static void look_at_idle(const struct cs_host *host, uint32_t n)
{
    const struct rent_node *node = &host->rent->node[n];
    const struct rent_spec *spec = host_rental_spec(host, n);
    int64_t keep_ns = spec->keep_ns > 60 * CLOCK_NS_PER_S ? spec->keep_ns : 60 * CLOCK_NS_PER_S;
    bool goes = node->state == RENT_HERE && node->leases == 0 && !node->kept;

    assert_true(n < sizeof seen.since_ns / sizeof *seen.since_ns);
    if (!goes || spec->spare > 0 || spec->scale != RENT_QUEUE ||
        host_rental_group(host, n)->wanted > 0)
        seen.since_ns[n] = -1;
    else if (seen.since_ns[n] < 0)
        seen.since_ns[n] = cs_now_ns(host);
    else
        assert_true(cs_now_ns(host) - seen.since_ns[n] <= keep_ns);
}

static void count_group(const struct cs_host *host, uint32_t g, uint32_t *usable)
{
    const struct node_group *spec = &host->spec->group[g];
    const struct rent_group *group = &host->rent->group[g];
    struct rent_group walk = { 0 };
    bool is_away = false;

    for (uint32_t n = spec->first_node; n < spec->first_node + spec->node_count; n++) {
        const struct rent_node *node = &host->rent->node[n];
        bool here = node->state == RENT_HERE;
        look_at_idle(host, n);
        walk.here += here;
        walk.coming += node->state == RENT_COMING;
        walk.leaving += node->state == RENT_NOTICE;
        walk.idle += here && node->leases == 0;
        walk.kept += node->kept;
        *usable += here ? spec->gpus : 0;
        is_away |= node->state == RENT_AWAY;
        if (is_away)
            assert_true(group->first_away <= n - spec->first_node);
        assert_int_equal(node->leases, count_leases(host, n));
        assert_int_equal(host->rent->leaving[n], node->state == RENT_NOTICE);
        assert_true(!node->kept || (here && node->leases == 0));
        assert_true(here || node->state == RENT_NOTICE || node->leases == 0);
    }
    assert_int_equal(group->here, walk.here);
    assert_int_equal(group->coming, walk.coming);
    assert_int_equal(group->leaving, walk.leaving);
    assert_int_equal(group->idle, walk.idle);
    assert_int_equal(group->kept, walk.kept);
    seen.under_notice += walk.leaving;
    seen.idle += walk.idle;
    seen.kept += walk.kept;
    seen.coming += walk.coming;
}

/* All that is free can be leased: nodes that are here, without what is held there. */
static void count_nodes(struct cs_host *host)
{
    uint32_t usable = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        count_group(host, g, &usable);
    for (uint32_t k = 0; k < cs_lease_count(host); k++) {
        const struct placement *place = &cs_lease(host, cs_lease_at(host, k))->placement;
        for (uint32_t s = 0; s < place->share_count; s++) {
            uint32_t n = place->share[s].node;
            if (host_rental_here(host, n))
                usable -= (uint32_t)__builtin_popcountll(place->share[s].gpu_mask);
        }
    }
    assert_int_equal(cs_free_gpus(host, 0), usable);
    seen.decisions++;
}

static void count_and_start(void *self, struct cs_host *host)
{
    (void)self;
    count_nodes(host);
    for (uint32_t i = 0; i < cs_pending_count(host);)
        if (cs_start(host, cs_pending(host, i)) != CS_DONE)
            i++;
    count_nodes(host);
}

#define GPUS "gpus: {type: a100-80, count: 4}" CPU ", nics: {type: ib-hdr}, price: 9USD/h"

#define STEPS "available: {unit: nodes, points: [[0h, 5], [10min, 1], [20min, 4], [40min, 2]], " \
    "after: hold}"

static void rented_nodes_are_counted_as_by_a_walk(void **state)
{
    static const struct cs_policy whole = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "counts", .summary = "counts rented nodes", .decide = count_and_start };
    static const char *const rent[] = {
        "start: 40s, keep: 60s", "start: 0s, keep: 0s, spare: 1",
        "start: 40s, keep: 60s, min: 2, reclaim: 8min, notice: 30s",
        "start: 20s, keep: 90s, reclaim: 6min, notice: 45s, on_notice: save",
        "start: 40s, keep: 60s, min: 1, notice: 20s, " STEPS,
        "start: 30s, scale: always, reclaim: 10min, notice: 0s",
    };
    static const char *const failures[] = {
        "", ", failures: {node_mtbf: 1h, restart: 20s}",
    };
    char text[3000];

    (void)state;
    memset(&seen, 0, sizeof seen);
    for (size_t r = 0; r < sizeof rent / sizeof *rent; r++)
        for (size_t f = 0; f < sizeof failures / sizeof *failures; f++) {
            struct host_policy counts = world_policy(&whole);
            struct world world = { 0 };
            snprintf(text, sizeof text,
                     "experiment: t\nseeds: 2\nuntil: drained\ncluster: {nodes: [{name: cloud, "
                     "count: 5, " GPUS ", rent: {%s}}, {name: late, count: 3, " GPUS ", rent: "
                     "{start: 10s, keep: 5s, wait: 1min}}]%s}\n"
                     "workload: {arrival: {process: gamma, rate: 60/h, cv: 3}, jobs: 60, mix: "
                     "[{recipe: trace, gpus: {choice: {1: 3, 2: 1, 4: 1, 8: 1}}, duration: "
                     "{exponential: {mean: 5min}}}]}\npolicies: [fcfs]\n", rent[r], failures[f]);
            if (!world_open(&world, text))
                fail_msg("%s", world_error(&world));
            for (uint32_t t = 0; t < 2; t++) {
                memset(seen.since_ns, -1, sizeof seen.since_ns);
                if (!world_run(&world, t, &counts, NULL, NULL))
                    fail_msg("%s: %s", rent[r], world_error(&world));
            }
            world_close(&world);
        }
    assert_true(seen.decisions > 1000 && seen.under_notice > 0 && seen.idle > 0);
    assert_true(seen.kept > 0 && seen.coming > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_may_go_where_a_walk_over_nodes_says),
        cmocka_unit_test(rented_nodes_are_counted_as_by_a_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
