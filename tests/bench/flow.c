/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow.c - probes of max-min fair sharing: 1000 flows on 1000 links.
 *
 * solve   each flow crosses 4 links drawn at random, which makes one giant
 *         component; every capacity changes, so every rate is solved anew:
 *         the solver alone, whose cost the goal was set for
 * full    the same through flow.h: changing the capacities, solving, and
 *         moving the finish of every flow
 * giant   the same net; one flow leaves and one arrives
 * local   a two-level tree, 20 leaves of 24 hosts, a link up and down for
 *         each host and leaf; nine flows in ten stay in their leaf, and one of
 *         those leaves and one arrives
 *
 * Asking for a rate solves; but for `solve`, the figures include starting,
 * stopping and moving the finishes of the flows whose rate changed.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/flow/share.h"
#include "tests/bench/probe.h"

#define FLOW_COUNT 1000u
#define LINK_COUNT 1000u
#define LEAF_COUNT 20u
#define HOST_COUNT 24u          /* in a leaf: 2 x 20 x 24 + 2 x 20 = 1000 */

struct sharing {
    struct rng rng;
    struct loop *loop;
    struct flow_net *net;
    struct flow_handle flow[FLOW_COUNT];
    uint64_t change_count, turn;
    double sum;
};

static void done(void *self, uint64_t arg)
{
    (void)self;
    (void)arg;
}

static struct flow_handle start(struct sharing *share, const uint32_t *link,
                                uint32_t count)
{
    struct flow_use use[4];
    assert(count <= 4);
    for (uint32_t i = 0; i < count; i++)
        use[i] = (struct flow_use){link[i], 1};
    const struct flow_spec spec = {
        .work = 1e12, .weight = 1, .rate_max = INFINITY,
        .use = use, .use_count = count, .done = done,
    };
    return flow_start(share->net, &spec);
}

static void draw_links(struct rng *rng, uint32_t link[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        link[i] = (uint32_t)rng_below(rng, LINK_COUNT);
        for (uint32_t j = 0; j < i; j++)
            if (link[j] == link[i])
                i--, j = i;
    }
}

static struct flow_handle start_random(struct sharing *share)
{
    uint32_t link[4];
    draw_links(&share->rng, link);
    return start(share, link, 4);
}

static uint32_t host_up(uint32_t leaf, uint32_t host)
{
    return 2 * (leaf * HOST_COUNT + host);
}

static uint32_t leaf_up(uint32_t leaf)
{
    return 2 * (LEAF_COUNT * HOST_COUNT + leaf);
}

static uint32_t below(struct sharing *share, uint32_t limit)
{
    return (uint32_t)rng_below(&share->rng, limit);
}

/* From a host to another in its leaf, or to one in the next leaves. */
static struct flow_handle start_tree(struct sharing *share, bool inside)
{
    uint32_t leaf = below(share, LEAF_COUNT);
    uint32_t host = below(share, HOST_COUNT);
    uint32_t step = 1 + below(share, HOST_COUNT - 1);
    if (inside) {
        uint32_t other = (host + step) % HOST_COUNT;
        uint32_t link[] = {host_up(leaf, host), host_up(leaf, other) + 1};
        return start(share, link, 2);
    }
    uint32_t far = (leaf + 1 + below(share, LEAF_COUNT - 1)) % LEAF_COUNT;
    uint32_t other = below(share, HOST_COUNT);
    uint32_t link[] = {host_up(leaf, host), leaf_up(leaf), leaf_up(far) + 1,
                       host_up(far, other) + 1};
    return start(share, link, 4);
}

static struct sharing *sharing_new(bool quick)
{
    struct sharing *share = calloc(1, sizeof *share);
    assert(share != NULL);
    rng_init(&share->rng, 1, "flows", 0);
    share->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    share->net = flow_new(share->loop);
    share->change_count = quick ? 50 : 500;
    return share;
}

static void *random_make(uint64_t size, bool quick)
{
    struct sharing *share = sharing_new(quick);
    (void)size;
    for (uint32_t i = 0; i < LINK_COUNT; i++)
        flow_link_add(share->net, 1e6 * (1 + rng_uniform(&share->rng)));
    for (uint32_t i = 0; i < FLOW_COUNT; i++)
        share->flow[i] = start_random(share);
    share->sum = flow_rate(share->net, share->flow[0]);
    return share;
}

/* Hosts have 1, a leaf's uplink 8 (three to one, as 24 hosts share it). */
static void *tree_make(uint64_t size, bool quick)
{
    struct sharing *share = sharing_new(quick);
    (void)size;
    for (uint32_t i = 0; i < LINK_COUNT; i++)
        flow_link_add(share->net,
                      i < leaf_up(0) ? 1e6 : HOST_COUNT / 3 * 1e6);
    for (uint32_t i = 0; i < FLOW_COUNT; i++)
        share->flow[i] = start_tree(share, i % 10 != 0);
    share->sum = flow_rate(share->net, share->flow[0]);
    share->change_count *= 10;
    return share;
}

/* ---- the solver alone ---- */

struct solving {
    struct share share;
    uint64_t change_count, turn;
};

static double solve_timed(struct share *share)
{
    double begin = bench_cpu_ns();
    share_solve(share);
    double spent_ns = bench_cpu_ns() - begin;
    for (uint32_t i = 0; i < share->set.count; i++)
        share_commit(share, share->set.item[i], SHARE_NONE);
    return spent_ns;
}

/* The net of random_make. */
static void *solve_make(uint64_t size, bool quick)
{
    struct solving *solving = calloc(1, sizeof *solving);
    struct rng rng;
    assert(solving != NULL && size == FLOW_COUNT);
    struct share *share = &solving->share;
    rng_init(&rng, 1, "flows", 0);
    solving->change_count = quick ? 50 : 500;
    share_init(share);
    for (uint32_t i = 0; i < LINK_COUNT; i++)
        share_link_add(share, 1e6 * (1 + rng_uniform(&rng)));
    for (uint32_t i = 0; i < FLOW_COUNT; i++) {
        uint32_t link[4], flow = share_add(share, 1, INFINITY, 4);
        draw_links(&rng, link);
        for (uint32_t k = 0; k < 4; k++)
            share_use(share, flow, k, link[k], 1);
        share_dirty(share, flow);
    }
    solve_timed(share);
    return solving;
}

static double solve_stretch(void *self)
{
    struct solving *solving = self;
    struct share *share = &solving->share;
    double spent_ns = 0;
    for (uint64_t i = 0; i < solving->change_count; i++) {
        double factor = solving->turn++ % 2 ? 1 / 1.25 : 1.25;
        for (uint32_t link = 0; link < LINK_COUNT; link++)
            share_link_set(share, link, share->link[link].capacity * factor);
        spent_ns += solve_timed(share);
    }
    return spent_ns / 1000 / (double)solving->change_count;
}

static void solve_drop(void *self)
{
    struct solving *solving = self;
    share_release(&solving->share);
    free(solving);
}

/* ---- through flow.h ---- */

static double full_stretch(void *self)
{
    struct sharing *share = self;
    double spent_ns = 0;
    for (uint64_t i = 0; i < share->change_count; i++) {
        double begin = bench_cpu_ns();
        double factor = share->turn++ % 2 ? 1 / 1.25 : 1.25;
        for (uint32_t link = 0; link < LINK_COUNT; link++)
            flow_link_set(share->net, link,
                          flow_link_capacity(share->net, link) * factor);
        share->sum += flow_rate(share->net, share->flow[0]);
        spent_ns += bench_cpu_ns() - begin;
    }
    return spent_ns / 1000 / (double)share->change_count;
}

static double giant_stretch(void *self)
{
    struct sharing *share = self;
    double begin = bench_cpu_ns();
    for (uint64_t i = 0; i < share->change_count; i++) {
        uint32_t k = below(share, FLOW_COUNT);
        flow_stop(share->net, share->flow[k]);
        share->flow[k] = start_random(share);
        share->sum += flow_rate(share->net, share->flow[k]);
    }
    return (bench_cpu_ns() - begin) / 1000 / (double)share->change_count;
}

static double local_stretch(void *self)
{
    struct sharing *share = self;
    double begin = bench_cpu_ns();
    for (uint64_t i = 0; i < share->change_count; i++) {
        uint32_t k = 10 * below(share, FLOW_COUNT / 10) + 1 + below(share, 9);
        flow_stop(share->net, share->flow[k]);
        share->flow[k] = start_tree(share, true);
        share->sum += flow_rate(share->net, share->flow[k]);
    }
    return (bench_cpu_ns() - begin) / 1000 / (double)share->change_count;
}

static void sharing_drop(void *self)
{
    struct sharing *share = self;
    flow_free(share->net);
    loop_free(share->loop);
    free(share);
}

const struct bench_probe_type bench_flow_solve = {solve_make, solve_stretch,
                                                  solve_drop};
const struct bench_probe_type bench_flow_full = {random_make, full_stretch,
                                                 sharing_drop};
const struct bench_probe_type bench_flow_giant = {random_make, giant_stretch,
                                                  sharing_drop};
const struct bench_probe_type bench_flow_local = {tree_make, local_stretch,
                                                  sharing_drop};
