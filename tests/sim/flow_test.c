/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow_test.c - max-min fair rates against a slow oracle, and what follows.
 *
 * The oracle fills progressively and adds up everything anew in each round; it
 * shares no code and no trick with sim/share_*.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/flow/share.h"

#define LINK_MAX 128
#define FLOW_MAX 256
#define USE_MAX 6

/* What the test knows of the net, beside the net itself. */
struct mirror {
    struct flow_handle handle;
    struct flow_use use[USE_MAX];
    uint32_t use_count;
    double weight, rate_max, work;
    double rate;                        /* the oracle's */
    double finish_s;                    /* the oracle's */
    int64_t done_ns;
    bool on;
};

struct world {
    struct loop *loop;
    struct flow_net *net;
    struct rng rng;
    struct mirror flow[FLOW_MAX];
    uint32_t flow_count;
    double capacity[LINK_MAX];
    uint32_t link_count;
    uint32_t done_count;
};

static void world_open(struct world *world, const char *name, uint64_t replica)
{
    memset(world, 0, sizeof *world);
    world->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    world->net = flow_new(world->loop);
    rng_init(&world->rng, 1, name, replica);
}

static void world_close(struct world *world)
{
    flow_free(world->net);
    loop_free(world->loop);
}

static uint32_t below(struct world *world, uint32_t limit)
{
    return (uint32_t)rng_below(&world->rng, limit);
}

static void add_link(struct world *world, double capacity)
{
    assert_true(world->link_count < LINK_MAX);
    assert_int_equal(flow_link_add(world->net, capacity), world->link_count);
    world->capacity[world->link_count++] = capacity;
}

/* Some equal (ties), some awkward, some closed. */
static double random_capacity(struct world *world)
{
    switch (below(world, 8)) {
    case 0: return 0;
    case 1:
    case 2: return 10;
    case 3: return 10.0 / 3;
    case 4: return 1e9 * rng_uniform(&world->rng);
    default: return 100 * rng_uniform(&world->rng);
    }
}

static void on_done(void *self, uint64_t arg)
{
    struct world *world = self;

    assert_false(flow_alive(world->net, world->flow[arg].handle));
    assert_true(world->flow[arg].on);
    world->flow[arg].on = false;
    world->flow[arg].done_ns = loop_now_ns(world->loop);
    world->done_count++;
}

static void start(struct world *world, uint32_t i)
{
    struct mirror *flow = &world->flow[i];
    struct flow_spec spec = {
        .work = flow->work, .weight = flow->weight,
        .rate_max = flow->rate_max, .use = flow->use,
        .use_count = flow->use_count, .done = on_done, .self = world,
        .arg = i
    };

    flow->handle = flow_start(world->net, &spec);
    flow->on = true;
    assert_true(flow_alive(world->net, flow->handle));
}

/* A net for crowds, span CROWDED: two flows in three cross the first link, some
 * the next two, and all some of the others. */
#define CROWDED 0u
#define CROWDED_TWICE 1000u     /* half of these cross the second instead */
#define CROWDED_COUNT 3u

static bool is_crowded(uint32_t span)
{
    return span == CROWDED || span == CROWDED_TWICE;
}

static uint32_t crowded_link(struct world *world, uint32_t span)
{
    switch (below(world, 5)) {
    case 0:
    case 1: return span == CROWDED_TWICE ? below(world, 2) : 0;
    case 2: return 1 + below(world, CROWDED_COUNT - 1);
    default: return CROWDED_COUNT +
                    below(world, world->link_count - CROWDED_COUNT);
    }
}

static double crowded_capacity(struct world *world, uint32_t link)
{
    return link >= CROWDED_COUNT || below(world, 16) == 0
               ? random_capacity(world)
               : world->flow_count * (0.2 + 3 * rng_uniform(&world->rng));
}

/* Links near `home` only when span is smaller than the net. */
static void random_flow(struct world *world, uint32_t i, uint32_t span)
{
    struct mirror *flow = &world->flow[i];
    uint32_t home = below(world, world->link_count);
    uint32_t k, j;

    flow->work = 1 + 99 * rng_uniform(&world->rng);
    flow->weight = below(world, 2) ? 1 : 0.1 + 5 * rng_uniform(&world->rng);
    flow->rate_max = below(world, 2) ? (double)INFINITY
                                     : 20 * rng_uniform(&world->rng);
    flow->use_count = 0;
    for (k = 1 + below(world, USE_MAX - 1); k > 0; k--) {
        uint32_t link = is_crowded(span)
                            ? crowded_link(world, span)
                            : (home + below(world, span)) % world->link_count;

        for (j = 0; j < flow->use_count; j++)
            if (flow->use[j].link == link)
                break;
        if (j < flow->use_count)
            continue;
        flow->use[j].link = link;
        flow->use[j].per_unit =
            below(world, 2) ? 1 : 0.01 + 3 * rng_uniform(&world->rng);
        flow->use_count++;
    }
}

/* The oracle -------------------------------------------------------------- */

static double use_of(const struct mirror *flow, uint32_t link)
{
    for (uint32_t k = 0; k < flow->use_count; k++)
        if (flow->use[k].link == link)
            return flow->use[k].per_unit;
    return 0;
}

/* The level at which each link is full: what closed flows leave, over what open ones want. */
static void oracle_levels(const struct world *world, const bool *open, double *level)
{
    double left[LINK_MAX], demand[LINK_MAX] = { 0 };

    memcpy(left, world->capacity, world->link_count * sizeof left[0]);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];

        for (uint32_t k = 0; flow->on && k < flow->use_count; k++) {
            if (open[i])
                demand[flow->use[k].link] += flow->use[k].per_unit * flow->weight;
            else
                left[flow->use[k].link] -= flow->use[k].per_unit * flow->rate;
        }
    }
    for (uint32_t j = 0; j < world->link_count; j++)
        level[j] = demand[j] == 0 ? (double)INFINITY : fmax(left[j], 0) / demand[j];
}

/* Closes all that the level stops, by links and caps; true if any. */
static bool oracle_close(struct world *world, bool *open, double level,
                         const double *link_level)
{
    bool any = false;

    for (uint32_t i = 0; i < world->flow_count; i++) {
        struct mirror *flow = &world->flow[i];
        bool stops = flow->rate_max / flow->weight <= level;

        if (!open[i])
            continue;
        for (uint32_t k = 0; k < flow->use_count; k++)
            if (link_level[flow->use[k].link] <= level * (1 + 1e-14))
                stops = true;
        if (!stops)
            continue;
        flow->rate = fmin(level * flow->weight, flow->rate_max);
        open[i] = false;
        any = true;
    }
    return any;
}

static void oracle(struct world *world)
{
    bool open[FLOW_MAX];
    double link_level[LINK_MAX];
    bool any = false;

    for (uint32_t i = 0; i < world->flow_count; i++) {
        open[i] = world->flow[i].on;
        any = any || open[i];
    }
    while (any) {
        double level = (double)INFINITY;

        oracle_levels(world, open, link_level);
        for (uint32_t j = 0; j < world->link_count; j++)
            level = fmin(level, link_level[j]);
        for (uint32_t i = 0; i < world->flow_count; i++)
            if (open[i])
                level = fmin(level, world->flow[i].rate_max /
                                        world->flow[i].weight);
        any = oracle_close(world, open, level, link_level);
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12;
}

static void rates_equal_the_oracles(struct world *world)
{
    oracle(world);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];

        if (!flow->on)
            continue;
        if (!near(flow_rate(world->net, flow->handle), flow->rate))
            fail_msg("flow %u: rate %.17g, oracle %.17g", i,
                     flow_rate(world->net, flow->handle), flow->rate);
    }
}

/* Feasible, and every flow at its cap or held back by a full link on which no
 * flow has a higher level: Bertsekas & Gallager's condition. */
static void rates_are_max_min(struct world *world)
{
    struct flow_net *net = world->net;
    double load[LINK_MAX] = {0}, top[LINK_MAX] = {0};

    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];
        double rate = flow_rate(net, flow->handle);

        assert_true(rate <= flow->rate_max);
        for (uint32_t k = 0; flow->on && k < flow->use_count; k++) {
            uint32_t link = flow->use[k].link;

            load[link] += rate * flow->use[k].per_unit;
            top[link] = fmax(top[link], rate / flow->weight);
        }
    }
    for (uint32_t j = 0; j < world->link_count; j++) {
        assert_true(load[j] <= world->capacity[j] * (1 + 1e-9));
        assert_true(fabs(load[j] - flow_link_load(net, j)) <=
                    1e-9 * world->capacity[j]);
    }
    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];
        double rate = flow_rate(net, flow->handle);
        uint32_t link = flow_bottleneck(net, flow->handle);

        if (!flow->on)
            continue;
        if (link == UINT32_MAX) {
            assert_true(rate == flow->rate_max);
            continue;
        }
        assert_true(use_of(flow, link) > 0);
        assert_true(load[link] >= world->capacity[link] * (1 - 1e-9));
        assert_true(rate / flow->weight >= top[link] * (1 - 1e-9));
    }
}

/* One random change, most often a start, a stop, a cap or a capacity. */
static void change(struct world *world, uint32_t span)
{
    uint32_t i = below(world, world->flow_count);
    uint32_t j = below(world, world->link_count);
    struct mirror *flow = &world->flow[i];
    uint32_t what = below(world, 10);

    if (what == 0) {
        world->capacity[j] = is_crowded(span) ? crowded_capacity(world, j)
                                              : random_capacity(world);
        flow_link_set(world->net, j, world->capacity[j]);
    } else if (!flow->on) {
        random_flow(world, i, span);
        start(world, i);
    } else if (what == 1) {
        flow->rate_max = 20 * rng_uniform(&world->rng);
        flow_set_cap(world->net, flow->handle, flow->rate_max);
    } else {
        flow_stop(world->net, flow->handle);
        flow->on = false;
    }
}

static void churn(const char *name, uint32_t worlds, uint32_t links,
                  uint32_t flows, uint32_t span, uint32_t changes)
{
    struct world *world = malloc(sizeof *world);

    for (uint32_t w = 0; w < worlds; w++) {
        uint32_t link_count, batch;

        world_open(world, name, w);
        link_count = links > 8 ? links : 1 + below(world, links);
        world->flow_count = flows > 12 ? flows : 1 + below(world, flows);
        while (world->link_count < link_count)
            add_link(world, is_crowded(span)
                                ? crowded_capacity(world, world->link_count)
                                : random_capacity(world));
        for (uint32_t i = 0; i < world->flow_count; i++) {
            random_flow(world, i, span);
            start(world, i);
        }
        for (uint32_t c = 0; c < changes; c++) {
            rates_equal_the_oracles(world);
            rates_are_max_min(world);
            for (batch = 1 + below(world, 2) * below(world, 4); batch; batch--)
                change(world, span);
        }
        world_close(world);
    }
    free(world);
}

static void rates_in_small_nets_are_the_oracles_after_any_change(void **state)
{
    (void)state;
    churn("small", 3000, 6, 10, 6, 12);
}

/* Large enough for the ripple, local enough for it to be used ... */
static void rates_in_local_nets_are_the_oracles_after_any_change(void **state)
{
    (void)state;
    churn("local", 6, 100, 160, 4, 60);
}

/* ... and so coupled that it is given up for the whole component. */
static void rates_in_coupled_nets_are_the_oracles_after_any_change(void **state)
{
    (void)state;
    churn("coupled", 8, 50, 100, 50, 25);
    churn("star", 20, 9, 60, 9, 30);
}

/* Most of the flows on a few links, so that these keep crowds. */
static void rates_in_crowded_nets_are_the_oracles_after_any_change(void **state)
{
    (void)state;
    churn("crowded", 8, 24, 110, CROWDED, 60);
    churn("crowded twice", 4, 12, 180, CROWDED_TWICE, 30);
}

/* Order and history -------------------------------------------------------- */

static void shuffle(struct world *world, uint32_t *order, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = below(world, i), kept = order[i - 1];

        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Starts the same flows by another path: shuffled, some stopped and started
 * again, with rates asked for in between. */
static void same_by_another_path(const struct world *from, struct world *to,
                                 uint32_t round)
{
    uint32_t order[FLOW_MAX], i;

    world_open(to, "another path", round);
    for (i = 0; i < from->link_count; i++)
        add_link(to, from->capacity[i]);
    memcpy(to->flow, from->flow, sizeof to->flow);
    to->flow_count = from->flow_count;
    for (i = 0; i < to->flow_count; i++)
        order[i] = i;
    shuffle(to, order, to->flow_count);
    for (i = 0; i < to->flow_count; i++) {
        start(to, order[i]);
        if (below(to, 4) == 0)
            flow_rate(to->net, to->flow[order[i]].handle);
        if (below(to, 4) == 0) {
            uint32_t again = order[below(to, i + 1)];

            flow_stop(to->net, to->flow[again].handle);
            start(to, again);
        }
    }
}

static void rates_in_small_components_do_not_depend_on_history(void **state)
{
    struct world *a = malloc(sizeof *a), *b = malloc(sizeof *b);

    (void)state;
    for (uint32_t w = 0; w < 2000; w++) {
        world_open(a, "history", w);
        for (uint32_t j = 1 + below(a, 8); j > 0; j--)
            add_link(a, random_capacity(a));
        a->flow_count = 1 + below(a, 24);
        for (uint32_t i = 0; i < a->flow_count; i++) {
            random_flow(a, i, a->link_count);
            start(a, i);
        }
        same_by_another_path(a, b, w);
        for (uint32_t i = 0; i < a->flow_count; i++) {
            double x = flow_rate(a->net, a->flow[i].handle);
            double y = flow_rate(b->net, b->flow[i].handle);

            assert_memory_equal(&x, &y, sizeof x);
            assert_int_equal(flow_bottleneck(a->net, a->flow[i].handle),
                             flow_bottleneck(b->net, b->flow[i].handle));
        }
        world_close(a);
        world_close(b);
    }
    free(a);
    free(b);
}

/* part[l] becomes the least link connected with link l. */
static void find_parts(const struct world *world, uint32_t *part)
{
    for (uint32_t l = 0; l < world->link_count; l++)
        part[l] = l;
    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];

        for (uint32_t k = 1; flow->on && k < flow->use_count; k++) {
            uint32_t a = part[flow->use[0].link], b = part[flow->use[k].link];

            for (uint32_t l = 0; l < world->link_count; l++)
                if (part[l] == (a > b ? a : b))
                    part[l] = a < b ? a : b;
        }
    }
}

/* The flows of a part; if they are few, their rates are to the bit those of a
 * net without others. */
static uint32_t check_part(struct world *world, const uint32_t *part,
                           uint32_t which, struct world *alone)
{
    uint32_t count = 0;

    world_open(alone, "alone", which);
    for (uint32_t l = 0; l < world->link_count; l++)
        add_link(alone, world->capacity[l]);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        if (!world->flow[i].on || part[world->flow[i].use[0].link] != which)
            continue;
        alone->flow[i] = world->flow[i];
        start(alone, i);
        count++;
    }
    for (uint32_t i = 0; count <= 24 && i < world->flow_count; i++) {
        double x, y;

        if (!alone->flow[i].on)
            continue;
        x = flow_rate(world->net, world->flow[i].handle);
        y = flow_rate(alone->net, alone->flow[i].handle);
        assert_memory_equal(&x, &y, sizeof x);
    }
    world_close(alone);
    return count;
}

/* Nets near the size at which parts grow together and come asunder. */
static void rates_are_exact_as_soon_as_a_component_is_small(void **state)
{
    struct world *world = malloc(sizeof *world);
    struct world *alone = malloc(sizeof *alone);
    uint32_t part[LINK_MAX], small_count = 0, large_count = 0;

    (void)state;
    for (uint32_t w = 0; w < 30; w++) {
        world_open(world, "asunder", w);
        world->flow_count = 130;
        while (world->link_count < 40)
            add_link(world, 1 + 99 * rng_uniform(&world->rng));
        for (uint32_t c = 0; c < 300; c++) {
            change(world, 3);
            if (below(world, 3) > 0)
                continue;
            find_parts(world, part);
            for (uint32_t l = 0; l < world->link_count; l++) {
                uint32_t count = check_part(world, part, l, alone);

                small_count += count > 1 && count <= 24;
                large_count += count > 24;
            }
        }
        world_close(world);
    }
    assert_true(small_count > 1000 && large_count > 1000);
    free(world);
    free(alone);
}

static void rates_in_large_components_forget_history_to_1e_9(void **state)
{
    struct world *a = malloc(sizeof *a), *b = malloc(sizeof *b);

    (void)state;
    for (uint32_t w = 0; w < 40; w++) {
        world_open(a, "long history", w);
        while (a->link_count < 100)
            add_link(a, random_capacity(a));
        a->flow_count = 180;
        for (uint32_t i = 0; i < a->flow_count; i++) {
            random_flow(a, i, w % 2 ? 3 : 100);
            start(a, i);
        }
        same_by_another_path(a, b, w);
        for (uint32_t i = 0; i < a->flow_count; i++)
            assert_true(near(flow_rate(a->net, a->flow[i].handle),
                             flow_rate(b->net, b->flow[i].handle)));
        world_close(a);
        world_close(b);
    }
    free(a);
    free(b);
}

/* Time --------------------------------------------------------------------- */

static void plain_flow(struct world *world, uint32_t i, double work)
{
    struct mirror *flow = &world->flow[i];

    flow->work = work;
    flow->weight = 1;
    flow->rate_max = (double)INFINITY;
    flow->use_count = 1;
    flow->use[0] = (struct flow_use){0, 1};
    if (world->flow_count <= i)
        world->flow_count = i + 1;
}

static void start_event(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    start(self, (uint32_t)arg);
}

static void start_at(struct world *world, uint32_t i, double at_s)
{
    int64_t at_ns = 0;

    assert_true(clock_ns_from_s(at_s, &at_ns));
    loop_at(world->loop, at_ns, LOOP_RANK_ARRIVAL, start_event, world, i);
}

static void two_flows_share_one_link_as_processor_sharing_says(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "ps", 0);
    add_link(&world, 10);
    plain_flow(&world, 0, 10);
    plain_flow(&world, 1, 30);
    plain_flow(&world, 2, 5);
    /* 0-2 s: 5 each; then flow 1 alone but for flow 2 from 3 to 4 s. */
    start_at(&world, 0, 0);
    start_at(&world, 1, 0);
    start_at(&world, 2, 3);
    assert_int_equal(loop_run(world.loop), LOOP_DRAINED);
    assert_int_equal(world.flow[0].done_ns, INT64_C(2000000000));
    assert_int_equal(world.flow[2].done_ns, INT64_C(4000000000));
    assert_int_equal(world.flow[1].done_ns, INT64_C(4500000000));
    assert_true(near(flow_link_area(world.net, 0), 45));
    assert_true(flow_link_load(world.net, 0) == 0);
    world_close(&world);
}

/* One counts in runs of 4e9 units, one in units, and one needs another link more. */
static void dominant_weights_divide_links_whatever_the_units(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "dominant", 0);
    add_link(&world, 12);
    add_link(&world, 4);
    world.flow[0] = (struct mirror){ .use = { { 0, 4e9 } }, .use_count = 1 };
    world.flow[1] = (struct mirror){ .use = { { 0, 1 } }, .use_count = 1 };
    world.flow[2] = (struct mirror){ .use = { { 0, 6 }, { 1, 8 } }, .use_count = 2 };
    world.flow_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        world.flow[i].work = 1000;
        world.flow[i].rate_max = INFINITY;
        world.flow[i].weight = 0;
        start(&world, i);
    }
    /* Level x: x 12 + x 12 + x (4 / 8) 6 of the first link = 12. */
    double x = 12.0 / 27;
    assert_true(fabs(4e9 * flow_rate(world.net, world.flow[0].handle) - 12 * x) < 1e-9);
    assert_true(fabs(flow_rate(world.net, world.flow[1].handle) - 12 * x) < 1e-9);
    assert_true(fabs(8 * flow_rate(world.net, world.flow[2].handle) - 4 * x) < 1e-9);
    world_close(&world);
}

static void weights_coefficients_and_caps_divide_a_link(void **state)
{
    struct world world;
    double rate[3];

    (void)state;
    world_open(&world, "divide", 0);
    add_link(&world, 12);
    for (uint32_t i = 0; i < 3; i++)
        plain_flow(&world, i, 1);
    world.flow[0].weight = 2;
    world.flow[1].use[0].per_unit = 4;
    world.flow[2].rate_max = 1.5;
    for (uint32_t i = 0; i < 3; i++)
        start(&world, i);
    for (uint32_t i = 0; i < 3; i++)
        rate[i] = flow_rate(world.net, world.flow[i].handle);
    /* Level v: 2 v + 4 v + 1.5 = 12, v = 1.75. */
    assert_true(near(rate[0], 3.5));
    assert_true(near(rate[1], 1.75));
    assert_true(rate[2] == 1.5);
    assert_int_equal(flow_bottleneck(world.net, world.flow[0].handle), 0);
    assert_int_equal(flow_bottleneck(world.net, world.flow[2].handle),
                     UINT32_MAX);
    world_close(&world);
}

static void a_cap_that_ties_with_a_full_link_is_the_bottleneck(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "tie", 0);
    add_link(&world, 8);
    plain_flow(&world, 0, 1);
    plain_flow(&world, 1, 1);
    world.flow[0].rate_max = 4;
    start(&world, 0);
    start(&world, 1);
    assert_true(flow_rate(world.net, world.flow[0].handle) == 4);
    assert_true(flow_rate(world.net, world.flow[1].handle) == 4);
    assert_int_equal(flow_bottleneck(world.net, world.flow[0].handle),
                     UINT32_MAX);
    assert_int_equal(flow_bottleneck(world.net, world.flow[1].handle), 0);
    world_close(&world);
}

static void capacity_event(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;

    (void)loop;
    flow_link_set(world->net, 0, (double)arg);
}

static void a_flow_on_a_closed_link_waits_and_goes_on_where_it_was(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "closed", 0);
    add_link(&world, 2);
    plain_flow(&world, 0, 10);
    start_at(&world, 0, 0);
    loop_at(world.loop, CLOCK_NS_PER_S, LOOP_RANK_OUTAGE, capacity_event,
            &world, 0);
    loop_at(world.loop, 100 * CLOCK_NS_PER_S, LOOP_RANK_OUTAGE,
            capacity_event, &world, 4);
    loop_run(world.loop);
    assert_int_equal(world.flow[0].done_ns, 102 * CLOCK_NS_PER_S);
    assert_true(near(flow_link_area(world.net, 0), 10));
    world_close(&world);
}

static void a_flow_on_a_link_closed_for_good_leaves_no_event(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "for good", 0);
    add_link(&world, 0);
    plain_flow(&world, 0, 10);
    start(&world, 0);
    assert_int_equal(loop_run(world.loop), LOOP_DRAINED);
    assert_int_equal(world.done_count, 0);
    assert_true(flow_rate(world.net, world.flow[0].handle) == 0);
    assert_true(flow_left(world.net, world.flow[0].handle) == 10);
    assert_true(flow_stop(world.net, world.flow[0].handle) == 10);
    world_close(&world);
}

static void an_idle_link_may_change_its_capacity(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "idle", 0);
    add_link(&world, 1);
    add_link(&world, 1);
    flow_link_set(world.net, 0, 5);
    assert_int_equal(loop_run(world.loop), LOOP_DRAINED);
    assert_true(flow_link_capacity(world.net, 0) == 5);
    assert_true(flow_link_load(world.net, 0) == 0);
    assert_true(flow_link_area(world.net, 0) == 0);
    assert_int_equal(flow_link_count(world.net), 2);
    plain_flow(&world, 0, 10);
    start(&world, 0);
    loop_run(world.loop);
    assert_int_equal(world.flow[0].done_ns, 2 * CLOCK_NS_PER_S);
    world_close(&world);
}

static void a_flow_without_links_runs_at_its_cap_unsolved(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "unshared", 0);
    plain_flow(&world, 0, 10);
    world.flow[0].use_count = 0;
    world.flow[0].rate_max = 4;
    start(&world, 0);
    assert_true(flow_rate(world.net, world.flow[0].handle) == 4);
    assert_int_equal(loop_pending_count(world.loop), 1);
    flow_set_cap(world.net, world.flow[0].handle, 5);
    loop_run(world.loop);
    assert_int_equal(world.flow[0].done_ns, 2 * CLOCK_NS_PER_S);
    assert_int_equal(loop_event_count(world.loop), 1);
    world_close(&world);
}

static void a_handle_is_safe_after_its_flow_is_gone(void **state)
{
    struct world world;
    struct flow_handle none = {0, 0}, old;

    (void)state;
    world_open(&world, "handle", 0);
    add_link(&world, 1);
    assert_false(flow_alive(world.net, none));
    plain_flow(&world, 0, 8);
    start(&world, 0);
    old = world.flow[0].handle;
    assert_false(flow_alive(world.net, none));
    assert_true(flow_stop(world.net, old) == 8);
    start(&world, 0);
    assert_int_equal(world.flow[0].handle.slot, old.slot);
    assert_false(flow_alive(world.net, old));
    assert_true(flow_stop(world.net, old) == 0);
    assert_true(flow_rate(world.net, old) == 0);
    assert_true(flow_left(world.net, old) == 0);
    assert_true(flow_rate(world.net, world.flow[0].handle) == 1);
    world_close(&world);
}

static void note_arg(void *self, uint64_t arg)
{
    *(uint64_t *)self = arg;
}

/* The second flow is given to another one before it ends. */
static void a_flow_ends_for_whom_it_was_given_to(void **state)
{
    struct world world;
    uint64_t ended = 0;
    struct flow_use use = { .link = 0, .per_unit = 1 };
    struct flow_spec spec = { .work = 8, .rate_max = INFINITY, .use = &use, .use_count = 1,
                              .done = note_arg, .self = &ended, .arg = 5 };

    (void)state;
    world_open(&world, "given", 0);
    add_link(&world, 1);
    struct flow_handle flow = flow_start(world.net, &spec);
    loop_run(world.loop);
    assert_int_equal(ended, 5);
    flow_set_arg(world.net, flow, 9);           /* it has ended: nothing happens */
    flow = flow_start(world.net, &spec);
    flow_set_arg(world.net, flow, 7);
    loop_run(world.loop);
    assert_int_equal(ended, 7);
    world_close(&world);
}

static void changes_at_one_instant_are_solved_once(void **state)
{
    struct world world;

    (void)state;
    world_open(&world, "batch", 0);
    add_link(&world, 10);
    for (uint32_t i = 0; i < 100; i++) {
        plain_flow(&world, i, 1);
        start(&world, i);
    }
    assert_int_equal(loop_pending_count(world.loop), 1);
    loop_run(world.loop);
    assert_int_equal(world.done_count, 100);
    /* One settle, a hundred finishes; nobody is left to settle for. */
    assert_true(loop_event_count(world.loop) <= 102);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(world.flow[i].done_ns, 10 * CLOCK_NS_PER_S);
    world_close(&world);
}

/* Random arrivals, against a simulation in doubles that asks the oracle. */
static void oracle_times(struct world *world, const double *arrive_s)
{
    double left[FLOW_MAX], now_s = 0;
    uint32_t open_count = world->flow_count, i;
    bool gone[FLOW_MAX] = {false};

    for (i = 0; i < world->flow_count; i++) {
        left[i] = world->flow[i].work;
        world->flow[i].on = false;
    }
    while (open_count > 0) {
        double step_s = (double)INFINITY;

        for (i = 0; i < world->flow_count; i++)
            world->flow[i].on = !gone[i] && arrive_s[i] <= now_s;
        oracle(world);
        for (i = 0; i < world->flow_count; i++) {
            if (world->flow[i].on && world->flow[i].rate > 0)
                step_s = fmin(step_s, left[i] / world->flow[i].rate);
            else if (!gone[i] && arrive_s[i] > now_s)
                step_s = fmin(step_s, arrive_s[i] - now_s);
        }
        if (step_s == (double)INFINITY)
            break;
        for (i = 0; i < world->flow_count; i++) {
            double done = world->flow[i].rate * step_s;

            if (!world->flow[i].on)
                continue;
            left[i] -= done;
            if (left[i] <= 1e-9 * world->flow[i].work && done > 0) {
                gone[i] = true;
                open_count--;
                world->flow[i].finish_s = now_s + step_s;
            }
        }
        now_s += step_s;
    }
    for (i = 0; i < world->flow_count; i++)
        world->flow[i].on = false;
}

static void check_times_and_areas(struct world *world)
{
    double area[LINK_MAX] = {0};

    for (uint32_t i = 0; i < world->flow_count; i++) {
        const struct mirror *flow = &world->flow[i];
        double delivered = flow->work -
            flow_left(world->net, flow->on ? flow->handle
                                           : (struct flow_handle){0, 0});

        if (!flow->on && fabs(clock_s_from_ns(flow->done_ns) -
                              flow->finish_s) > 1e-6)
            fail_msg("flow %u ends at %.9f, oracle %.9f", i,
                     clock_s_from_ns(flow->done_ns), flow->finish_s);
        if (flow->on)
            assert_true(flow->finish_s == 0);
        for (uint32_t k = 0; k < flow->use_count; k++)
            area[flow->use[k].link] += delivered * flow->use[k].per_unit;
    }
    for (uint32_t j = 0; j < world->link_count; j++)
        /* Each end is rounded up by less than 1 ns at no more than the
         * link's capacity. */
        assert_true(fabs(flow_link_area(world->net, j) - area[j]) <=
                    1e-9 * area[j] +
                        1e-9 * world->capacity[j] * world->flow_count * 2);
}

/* Flows come within the first seconds, and the links stay as they are. */
static void run_times(struct world *world, uint32_t span)
{
    double arrive_s[FLOW_MAX];

    for (uint32_t i = 0; i < world->flow_count; i++) {
        random_flow(world, i, span);
        world->flow[i].rate_max += 0.1;
        arrive_s[i] = below(world, 4);
    }
    oracle_times(world, arrive_s);
    for (uint32_t i = 0; i < world->flow_count; i++)
        start_at(world, i, arrive_s[i]);
    assert_int_equal(loop_run(world->loop), LOOP_DRAINED);
    check_times_and_areas(world);
}

static void flows_end_when_the_oracles_do_and_all_work_is_done(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    for (uint32_t w = 0; w < 600; w++) {
        world_open(world, "times", w);
        for (uint32_t j = 1 + below(world, 6); j > 0; j--)
            add_link(world, below(world, 12) == 0
                                ? 0 : 1 + 50 * rng_uniform(&world->rng));
        world->flow_count = 1 + below(world, 14);
        run_times(world, world->link_count);
        world_close(world);
    }
    free(world);
}

static void flows_of_a_crowd_end_when_the_oracles_do(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    for (uint32_t w = 0; w < 4; w++) {
        world_open(world, "crowd times", w);
        world->flow_count = 140;
        while (world->link_count < 20)
            add_link(world, crowded_capacity(world, world->link_count) + 1);
        run_times(world, CROWDED);
        world_close(world);
    }
    free(world);
}

/* Of n flows that begin together on a link, the one with the k-th least work
 * ends (work - the last one's) x (n - k) / capacity after the last one.  Ends
 * are rounded up, and until then the others go on as if there were one more:
 * that puts each of them off by 1 / (n - k) ns at most.  What each carries over
 * its own link is all its work. */
static void a_crowd_ends_to_nanoseconds_as_processor_sharing_says(void **state)
{
    struct world *world = malloc(sizeof *world);
    const uint32_t n = LINK_MAX - 1;
    long double end_s = 0, late_ns, late_ns_max = 1.01L;

    (void)state;
    world_open(world, "crowd", 0);
    for (uint32_t l = 0; l <= n; l++)
        add_link(world, l == 0 ? 1000 : 1e6);
    for (uint32_t i = 0; i < n; i++) {
        plain_flow(world, i, 100 + i + rng_uniform(&world->rng));
        world->flow[i].use_count = 2;
        world->flow[i].use[1] = (struct flow_use){i + 1, 1};
        start(world, i);
    }
    assert_int_equal(loop_run(world->loop), LOOP_DRAINED);
    for (uint32_t i = 0; i < n; i++) {
        double work = world->flow[i].work;

        end_s += (work - (i > 0 ? (long double)world->flow[i - 1].work : 0)) *
                 (n - i) / 1000;
        late_ns = (long double)world->flow[i].done_ns - end_s * 1e9L;
        assert_true(late_ns > -0.01L && late_ns < late_ns_max);
        late_ns_max += 1.0L / (n - i);
        assert_true(fabs(flow_link_area(world->net, i + 1) - work) <
                    1e-12 * work + 1e-9 * 1000);
    }
    world_close(world);
    free(world);
}

/* The first to end closes the link; all others are due at that instant, some
 * of them out of the crowd by then. */
static void on_done_close(void *self, uint64_t arg)
{
    struct world *world = self;

    on_done(self, arg);
    flow_link_set(world->net, 0, 0);
    for (uint32_t i = 0; i < world->flow_count; i += 10)
        flow_set_cap(world->net, world->flow[i].handle, 1e-6);
    for (uint32_t i = 0; i < world->flow_count; i++)
        flow_rate(world->net, world->flow[i].handle);
}

static void what_is_due_in_a_crowd_ends_though_its_link_closes(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    for (uint32_t w = 0; w < 50; w++) {
        /* Whole seconds, but for rounding: 3 at the first capacity, 4 at the
         * next, 6 at the last. */
        uint32_t capacity[] = {1 + w, 1 + w * 7 % 50, 1 + w * 13 % 50};
        double work = (3 * capacity[0] + 4 * capacity[1] + 6 * capacity[2]) /
                      100.0;

        world_open(world, "due", w);
        add_link(world, capacity[0]);
        for (uint32_t i = 0; i < 100; i++) {
            struct flow_spec spec = {
                .work = work, .weight = 1, .rate_max = (double)INFINITY,
                .use = &(struct flow_use){0, 1}, .use_count = 1,
                .done = on_done_close, .self = world, .arg = i
            };

            plain_flow(world, i, work);
            world->flow[i].handle = flow_start(world->net, &spec);
            world->flow[i].on = true;
        }
        for (uint32_t i = 1; i < 3; i++)
            loop_at(world->loop, (i == 1 ? 3 : 7) * CLOCK_NS_PER_S,
                    LOOP_RANK_OUTAGE, capacity_event, world, capacity[i]);
        assert_int_equal(loop_run(world->loop), LOOP_DRAINED);
        assert_int_equal(world->done_count, 100);
        assert_int_equal(loop_now_ns(world->loop), world->flow[0].done_ns);
        world_close(world);
    }
    free(world);
}

static void ends_of_a_crowd_at_one_instant_are_solved_once(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    world_open(world, "once", 0);
    add_link(world, 10);
    for (uint32_t i = 0; i < 100; i++) {
        plain_flow(world, i, 1);
        start(world, i);
    }
    loop_at(world->loop, CLOCK_NS_PER_S, LOOP_RANK_OUTAGE, capacity_event,
            world, 9);
    assert_int_equal(loop_run(world->loop), LOOP_DRAINED);
    assert_int_equal(world->done_count, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(world->flow[i].done_ns, 11 * CLOCK_NS_PER_S);
    /* The ends, the change, and settling after the starts, the change, and the
     * ends. */
    assert_in_range(loop_event_count(world->loop), 103, 104);
    world_close(world);
    free(world);
}

static void stop_next_event(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;

    (void)loop;
    flow_stop(world->net, world->flow[arg].handle);
}

/* Ends and this stop have one rank; the stop was pushed first. */
static void a_flow_stopped_at_its_end_hands_it_to_no_other(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    world_open(world, "hand", 0);
    add_link(world, 101);
    loop_at(world->loop, 10 * CLOCK_NS_PER_S, LOOP_RANK_FINISH,
            stop_next_event, world, 0);
    for (uint32_t i = 0; i < 101; i++) {
        plain_flow(world, i, i == 0 ? 15 : 17);
        start(world, i);
    }
    loop_at(world->loop, 5 * CLOCK_NS_PER_S, LOOP_RANK_OUTAGE, capacity_event,
            world, 202);
    loop_run(world->loop);
    for (uint32_t i = 1; i < 101; i++)
        assert_int_equal(world->flow[i].done_ns,
                         INT64_C(10000000000) + 990099010);
    assert_int_equal(world->done_count, 100);
    world_close(world);
    free(world);
}

static void stop_all_event(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;

    (void)loop;
    (void)arg;
    for (uint32_t i = 0; i < world->flow_count; i++)
        assert_true(near(flow_stop(world->net, world->flow[i].handle), 9));
}

static void a_crowd_that_is_stopped_leaves_no_event(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    world_open(world, "stop", 0);
    add_link(world, 100);
    for (uint32_t i = 0; i < 100; i++) {
        plain_flow(world, i, 10);
        start(world, i);
    }
    loop_at(world->loop, CLOCK_NS_PER_S, LOOP_RANK_OUTAGE, stop_all_event,
            world, 0);
    assert_int_equal(loop_run(world->loop), LOOP_DRAINED);
    assert_int_equal(loop_now_ns(world->loop), CLOCK_NS_PER_S);
    assert_true(near(flow_link_area(world->net, 0), 100));
    world_close(world);
    free(world);
}

/* Two hundred flows on the first link, each on one of a hundred others. */
static void open_pairs(struct world *world, double capacity, double own,
                       double rate_max)
{
    world_open(world, "pairs", 0);
    for (uint32_t l = 0; l <= 100; l++)
        add_link(world, l == 0 ? capacity : own);
    for (uint32_t i = 0; i < 200; i++) {
        plain_flow(world, i, 100);
        world->flow[i].rate_max = rate_max;
        world->flow[i].use_count = 2;
        world->flow[i].use[1] = (struct flow_use){1 + i / 2, 1};
        start(world, i);
    }
    rates_equal_the_oracles(world);
}

static void a_link_whose_flows_are_at_their_caps_may_lose_capacity(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    open_pairs(world, 1000, 1000, 2);
    for (double capacity = 1000; capacity > 1; capacity *= 0.9) {
        world->capacity[0] = capacity;
        flow_link_set(world->net, 0, capacity);
        rates_equal_the_oracles(world);
        rates_are_max_min(world);
    }
    world_close(world);
    free(world);
}

/* Links that flows of both cross, and that hold nobody back. */
static void two_crowds_may_meet_on_a_link(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    world_open(world, "meet", 0);
    for (uint32_t l = 0; l < 52; l++)
        add_link(world, l < 2 ? 200 + l : 30);
    for (uint32_t i = 0; i < 200; i++) {
        plain_flow(world, i, 100);
        world->flow[i].use_count = 2;
        world->flow[i].use[0].link = i % 2;
        world->flow[i].use[1] = (struct flow_use){2 + i / 4, 1};
        start(world, i);
    }
    for (uint32_t turn = 0; turn < 30; turn++) {
        uint32_t i = below(world, 200);

        rates_equal_the_oracles(world);
        rates_are_max_min(world);
        flow_stop(world->net, world->flow[i].handle);
        start(world, i);
    }
    world_close(world);
    free(world);
}

/* The level rises past what another link can take, in the instant in which that
 * one is changed, too. */
static void a_crowd_fills_a_link_that_changes_with_its_own(void **state)
{
    struct world *world = malloc(sizeof *world);

    (void)state;
    open_pairs(world, 100, 10, (double)INFINITY);
    for (uint32_t turn = 0; turn < 12; turn++) {
        world->capacity[0] = turn % 2 ? 100 : 140 + turn;
        world->capacity[turn + 1] = 1.2 + turn * 0.01;
        flow_link_set(world->net, 0, world->capacity[0]);
        flow_link_set(world->net, turn + 1, world->capacity[turn + 1]);
        rates_equal_the_oracles(world);
        rates_are_max_min(world);
    }
    world_close(world);
    free(world);
}

/* Cost -------------------------------------------------------------------- */

static void settle_share(struct share *share)
{
    uint32_t i;

    share_solve(share);
    for (i = 0; i < share->set.count; i++)
        if (share->flow[share->set.item[i]].crowd != SHARE_NONE)
            share_leave(share, share->set.item[i]);
    share_levels(share);
    for (i = 0; i < share->set.count; i++)
        share_commit(share, share->set.item[i],
                     share_joins(share, share->set.item[i]));
    share_limits(share);
}

static uint32_t add_sharer(struct share *share, double rate_max, uint32_t own)
{
    uint32_t flow = share_add(share, 1, rate_max, 2);

    share_use(share, flow, 0, 0, 1);
    share_use(share, flow, 1, own, 1);
    share_dirty(share, flow);
    return flow;
}

/* Half of them have caps, and at the fair share, 1, half of these are met. */
static void a_change_on_a_full_link_of_thousands_is_solved_for_few(void **state)
{
    const uint32_t n = 3000;
    uint32_t *flow = malloc(n * sizeof *flow), i;
    struct share share;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "few", 0);
    share_init(&share);
    for (i = 0; i <= n; i++)
        share_link_add(&share, i == 0 ? n : 5);
    for (i = 0; i < n; i++)
        flow[i] = add_sharer(&share, i % 2 ? 2 * rng_uniform(&rng)
                                           : (double)INFINITY, i + 1);
    settle_share(&share);
    for (uint32_t turn = 0; turn < 300; turn++) {
        i = (uint32_t)rng_below(&rng, n);
        share_drop(&share, flow[i]);
        flow[i] = add_sharer(&share, i % 2 ? 2 * rng_uniform(&rng)
                                           : (double)INFINITY, i + 1);
        settle_share(&share);
        if (turn > 1)           /* the first two make the crowd */
            assert_in_range(share.set.count, 1, 64);
        assert_true(fabs(share_link_load(&share, &share.link[0]) - n) <
                    1e-9 * n);
    }
    share_link_set(&share, 0, n * 1.0001);
    settle_share(&share);
    assert_in_range(share.set.count, 0, 64);
    share_release(&share);
    free(flow);
}

/* Asking must not change what happens. */
static void look_event(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;

    (void)arg;
    for (uint32_t i = 0; i < world->flow_count; i++) {
        flow_rate(world->net, world->flow[i].handle);
        flow_left(world->net, world->flow[i].handle);
    }
    if (loop_now_ns(loop) < 20 * CLOCK_NS_PER_S)
        loop_at(loop, loop_now_ns(loop) + 77777777, LOOP_RANK_SAMPLE,
                look_event, world, 0);
}

static void looking_at_a_flow_does_not_move_its_end(void **state)
{
    struct world world[2];

    (void)state;
    for (uint32_t looked = 0; looked < 2; looked++) {
        struct world *at = &world[looked];

        world_open(at, "look", 0);
        for (uint32_t j = 0; j < 4; j++)
            add_link(at, 3 + rng_uniform(&at->rng));
        at->flow_count = 12;
        for (uint32_t i = 0; i < at->flow_count; i++) {
            random_flow(at, i, 4);
            at->flow[i].rate_max += 0.1;
            start_at(at, i, i * 0.5);
        }
        if (looked)
            loop_at(at->loop, 0, LOOP_RANK_FINISH, look_event, at, 0);
        loop_run(at->loop);
    }
    for (uint32_t i = 0; i < world[0].flow_count; i++)
        assert_int_equal(world[0].flow[i].done_ns, world[1].flow[i].done_ns);
    world_close(&world[0]);
    world_close(&world[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_flows_share_one_link_as_processor_sharing_says),
        cmocka_unit_test(weights_coefficients_and_caps_divide_a_link),
        cmocka_unit_test(dominant_weights_divide_links_whatever_the_units),
        cmocka_unit_test(a_cap_that_ties_with_a_full_link_is_the_bottleneck),
        cmocka_unit_test(
            a_flow_on_a_closed_link_waits_and_goes_on_where_it_was),
        cmocka_unit_test(a_flow_on_a_link_closed_for_good_leaves_no_event),
        cmocka_unit_test(an_idle_link_may_change_its_capacity),
        cmocka_unit_test(a_flow_without_links_runs_at_its_cap_unsolved),
        cmocka_unit_test(a_handle_is_safe_after_its_flow_is_gone),
        cmocka_unit_test(a_flow_ends_for_whom_it_was_given_to),
        cmocka_unit_test(changes_at_one_instant_are_solved_once),
        cmocka_unit_test(rates_in_small_nets_are_the_oracles_after_any_change),
        cmocka_unit_test(rates_in_local_nets_are_the_oracles_after_any_change),
        cmocka_unit_test(
            rates_in_coupled_nets_are_the_oracles_after_any_change),
        cmocka_unit_test(
            rates_in_crowded_nets_are_the_oracles_after_any_change),
        cmocka_unit_test(rates_in_small_components_do_not_depend_on_history),
        cmocka_unit_test(rates_are_exact_as_soon_as_a_component_is_small),
        cmocka_unit_test(rates_in_large_components_forget_history_to_1e_9),
        cmocka_unit_test(flows_end_when_the_oracles_do_and_all_work_is_done),
        cmocka_unit_test(flows_of_a_crowd_end_when_the_oracles_do),
        cmocka_unit_test(a_crowd_ends_to_nanoseconds_as_processor_sharing_says),
        cmocka_unit_test(what_is_due_in_a_crowd_ends_though_its_link_closes),
        cmocka_unit_test(ends_of_a_crowd_at_one_instant_are_solved_once),
        cmocka_unit_test(a_flow_stopped_at_its_end_hands_it_to_no_other),
        cmocka_unit_test(two_crowds_may_meet_on_a_link),
        cmocka_unit_test(a_crowd_that_is_stopped_leaves_no_event),
        cmocka_unit_test(
            a_link_whose_flows_are_at_their_caps_may_lose_capacity),
        cmocka_unit_test(a_crowd_fills_a_link_that_changes_with_its_own),
        cmocka_unit_test(
            a_change_on_a_full_link_of_thousands_is_solved_for_few),
        cmocka_unit_test(looking_at_a_flow_does_not_move_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
