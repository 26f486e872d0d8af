/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link.c - probes of one full link that thousands of flows share.
 *
 * A storage, an uplink: n flows of exponential work cross it; whenever one
 * ends, another begins at that instant, so that n stay.  One unit is an end and
 * a beginning: both change the rate of every flow that the link holds back.
 *
 * link    the link is all that they cross
 * own     each crosses one of its own, too, which is wide
 * caps    the same, and each has a cap between half the fair share and twice
 *         it, so that caps are met and left all the time
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "tests/bench/probe.h"

struct crossing {
    struct rng rng;
    struct loop *loop;
    struct flow_net *net;
    bool own, caps;
    uint64_t end_count, end_count_max, stretch_count;
};

static void start_next(void *self, uint64_t arg);

/* The fair share is 1 unit of work a second. */
static void start(struct crossing *crossing, uint32_t i)
{
    const struct flow_use use[] = {{0, 1}, {i + 1, 1}};
    struct rng *rng = &crossing->rng;
    const struct flow_spec spec = {
        .work = rng_exponential(rng, 1) + 1e-3, .weight = 1,
        .rate_max = crossing->caps ? 0.5 + 1.5 * rng_uniform(rng)
                                   : (double)INFINITY,
        .use = use, .use_count = crossing->own ? 2 : 1,
        .done = start_next, .self = crossing, .arg = i,
    };
    flow_start(crossing->net, &spec);
}

static void start_next(void *self, uint64_t arg)
{
    struct crossing *crossing = self;
    start(crossing, (uint32_t)arg);
    if (++crossing->end_count == crossing->end_count_max)
        loop_stop(crossing->loop);
}

static double crossing_stretch(void *self)
{
    struct crossing *crossing = self;
    double begin = bench_cpu_ns();
    crossing->end_count = 0;
    crossing->end_count_max = crossing->stretch_count;
    loop_run(crossing->loop);
    assert(crossing->end_count == crossing->end_count_max);
    return (bench_cpu_ns() - begin) / 1000 / (double)crossing->end_count;
}

static void *crossing_make(uint64_t size, bool quick, bool own, bool caps)
{
    struct crossing *crossing = calloc(1, sizeof *crossing);
    assert(crossing != NULL);
    rng_init(&crossing->rng, 1, "crossing", 0);
    crossing->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX,
                                                   NULL});
    crossing->net = flow_new(crossing->loop);
    crossing->own = own;
    crossing->caps = caps;
    crossing->stretch_count = quick || size >= 10000 ? 100 : 1000;
    flow_link_add(crossing->net, (double)size);
    for (uint32_t i = 0; i < size; i++)
        flow_link_add(crossing->net, 10);
    for (uint32_t i = 0; i < size; i++)
        start(crossing, i);
    crossing_stretch(crossing);
    return crossing;
}

static void *link_make(uint64_t size, bool quick)
{
    return crossing_make(size, quick, false, false);
}

static void *own_make(uint64_t size, bool quick)
{
    return crossing_make(size, quick, true, false);
}

static void *caps_make(uint64_t size, bool quick)
{
    return crossing_make(size, quick, true, true);
}

static void crossing_drop(void *self)
{
    struct crossing *crossing = self;
    flow_free(crossing->net);
    loop_free(crossing->loop);
    free(crossing);
}

const struct bench_probe_type bench_flow_link = {link_make, crossing_stretch,
                                                 crossing_drop};
const struct bench_probe_type bench_flow_own = {own_make, crossing_stretch,
                                                crossing_drop};
const struct bench_probe_type bench_flow_caps = {caps_make, crossing_stretch,
                                                 crossing_drop};
