/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale_wish_test.c - how many replicas a service wishes, drawn by a seed look after look, against
 * the rule of the autoscaler written as its documentation has it: enough for the signal, rounded
 * up; the most of the window; within the limits; one where requests are there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/jobs/job.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

#define MOST 12                 /* replicas */
#define LOOKS 60

struct world {
    struct arena *arena;
    struct rng rng;
    struct service_spec spec;
    struct service service;
    struct replica replica[MOST], *by_number[MOST];
    uint32_t live[MOST], open[MOST];
    double wish[LOOKS];         /* of each look, before its limits */
};

static const struct job_form form;

/* A service of one side, or of both. */
static void open_world(struct world *w, uint64_t seed)
{
    static const double targets[] = { 0.3, 1, 2.5, 8 };

    memset(w, 0, sizeof *w);
    w->arena = arena_new(0);
    rng_init(&w->rng, seed, "wish", 0);
    w->spec.scaling = (struct serve_scaling){
        .signal = (enum serve_signal)rng_below(&w->rng, 3),
        .target = targets[rng_below(&w->rng, 4)],
        .interval_ns = (1 + (int64_t)rng_below(&w->rng, 20)) * CLOCK_NS_PER_S,
    };
    w->spec.scaling.down_ns = (int64_t)rng_below(&w->rng, 4) * w->spec.scaling.interval_ns +
                              (int64_t)rng_below(&w->rng, 2) * CLOCK_NS_PER_S / 2;
    uint64_t sides = 1 + rng_below(&w->rng, 3);
    for (int i = 0; i < SERVE_SIDES; i++) {
        struct serve_side_spec *side = &w->spec.side[i];
        side->form = sides >> i & 1 ? &form : NULL;
        side->min = (uint32_t)rng_below(&w->rng, 3);
        side->max = side->min + (uint32_t)rng_below(&w->rng, 9);
    }
    w->spec.cpu_below_per_s = 2;
    w->spec.gpu_above_per_s = 5;
    w->service = (struct service){ .parts = { .arena = w->arena }, .spec = &w->spec,
                                   .replica = w->by_number, .live = w->live, .open = w->open };
    service_scale_begin(&w->service);
}

/* Replicas of both sides, some ready, some of these open, with some seconds of work. */
static void draw_state(struct world *w)
{
    struct service *s = &w->service;

    s->lives = s->opens = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        struct replica *r = &w->replica[i];
        *r = (struct replica){ .number = i, .side = (enum serve_side)rng_below(&w->rng, 2),
                               .ready = rng_below(&w->rng, 3) > 0 };
        w->by_number[i] = r;
        if (w->spec.side[r->side].form == NULL || rng_below(&w->rng, 2))
            continue;
        r->draining = rng_below(&w->rng, 4) == 0;
        r->busy_seen_s = (double)rng_below(&w->rng, 100);
        r->busy_s = r->busy_seen_s + (double)rng_below(&w->rng, 10);
        s->live[s->lives++] = i;
        if (r->ready && !r->draining && rng_below(&w->rng, 3))
            s->open[s->opens++] = i;
    }
    s->seen = rng_below(&w->rng, 2) ? rng_below(&w->rng, 200) : 0;
    s->in_service = rng_below(&w->rng, 2) ? rng_below(&w->rng, 30) : 0;
    s->mass.at_work = rng_below(&w->rng, 4) ? 0 : 3.25;
    s->backlog.count = (uint32_t)rng_below(&w->rng, 3) / 2;
}

/* Not rounded; work that waits counts as that of one replica more. */
static double enough(const struct world *w)
{
    const struct service *s = &w->service;
    double interval_s = clock_s_from_ns(w->spec.scaling.interval_ns), busy_s = 0;
    double target = w->spec.scaling.target;

    if (w->spec.scaling.signal == SERVE_RATE)
        return (double)s->seen / interval_s / target;
    if (w->spec.scaling.signal == SERVE_CONCURRENCY)
        return ((double)s->in_service + s->mass.at_work) / target;
    for (uint32_t i = 0; i < s->lives; i++)
        if (w->replica[s->live[i]].ready)
            busy_s += w->replica[s->live[i]].busy_s - w->replica[s->live[i]].busy_seen_s;
    return busy_s / interval_s / target + (s->backlog.count > 0);
}

/* Which side serves: of two, by the rate, and where that is between the thresholds as before. */
static int side_of(const struct world *w, int before)
{
    double per_s = (double)w->service.seen / clock_s_from_ns(w->spec.scaling.interval_ns);
    bool gpu = w->spec.side[SERVE_GPU].form != NULL, cpu = w->spec.side[SERVE_CPU].form != NULL;

    if (!gpu || !cpu)
        return gpu ? SERVE_GPU : SERVE_CPU;
    return per_s > 5 ? SERVE_GPU : per_s < 2 ? SERVE_CPU : before;
}

static uint32_t plain_wish(struct world *w, int look, int side)
{
    /* A window of 2.5 intervals holds this look and two before it. */
    int back = (int)(w->spec.scaling.down_ns / w->spec.scaling.interval_ns);
    double most = 0, n = ceil(enough(w) - 1e-9);
    const struct serve_side_spec *limits = &w->spec.side[side];

    w->wish[look] = w->service.backlog.count > 0 && n < 1 ? 1 : n;
    for (int i = look; i >= 0 && i >= look - back; i--)
        most = fmax(most, w->wish[i]);
    most = fmin(fmax(most, limits->min), limits->max);
    return most < 1 && w->service.in_service > 0 && limits->max > 0 ? 1 : (uint32_t)most;
}

/* The other side keeps its replicas until one that can take over is open. */
static uint32_t plain_other(const struct world *w, int side)
{
    uint32_t count = 0;

    if (w->spec.side[SERVE_GPU].form == NULL || w->spec.side[SERVE_CPU].form == NULL)
        return 0;
    for (uint32_t i = 0; i < w->service.opens; i++)
        if ((int)w->replica[w->open[i]].side == side)
            return 0;
    for (uint32_t i = 0; i < w->service.lives; i++)
        count += (int)w->replica[w->live[i]].side != side && !w->replica[w->live[i]].draining;
    return count;
}

static void wishes_are_those_of_the_autoscaler(void **state)
{
    int sides[2] = { 0 }, kept = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;
        open_world(&w, seed);
        int side = w.spec.side[SERVE_CPU].form != NULL ? SERVE_CPU : SERVE_GPU;
        assert_int_equal(w.service.mode, side);
        for (int look = 0; look < LOOKS; look++) {
            uint32_t want[SERVE_SIDES] = { 77, 77 };
            draw_state(&w);
            side = side_of(&w, side);
            uint32_t mine = plain_wish(&w, look, side), other = plain_other(&w, side);
            service_scale_wish(&w.service, want);
            assert_int_equal(w.service.mode, side);
            if (want[side] != mine || want[1 - side] != other)
                fail_msg("seed %u, look %d: %u and %u, expected %u and %u", (unsigned)seed, look,
                         want[side], want[1 - side], mine, other);
            sides[side]++;
            kept += other > 0;
        }
        arena_free(w.arena);
    }
    assert_true(sides[0] > 2000 && sides[1] > 2000 && kept > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_are_those_of_the_autoscaler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
