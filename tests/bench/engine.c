/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine.c - probes of the event loop, beside a bound and a plain heap.
 *
 * HOLD (Jones 1986) pops the earliest of N pending events and pushes it back
 * an exponential time later; each event updates its own entity of 64 bytes.
 * With cancels, N / 2 jobs have a completion and a kill timer each: one event
 * is a completion that runs, a timer cancelled and two events pushed.  Both
 * loops run the same callbacks on the same draws.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "tests/bench/probe.h"
#include "tests/oracles/heap4.h"

#define MEAN_NS 1e9
#define KILL_AFTER_NS INT64_C(4000000000)   /* four mean run times */
#define RING_COUNT 65536u

struct entity {
    struct world *world;
    struct loop_handle finish, timer;
    uint64_t run_count;
    uint64_t pad[4];
};

/* One of loop and heap is NULL. */
struct world {
    struct rng rng;
    struct loop *loop;
    struct heap4 *heap;
    struct entity *entity;
    uint64_t size;
    uint64_t left, stretch;     /* events */
    int64_t *ring;              /* M/M/1: when those in the queue came */
    uint32_t ring_from, ring_to;
    double sojourn_s;
};

static struct world *world_new(uint64_t size, uint64_t entity_count,
                               bool plain)
{
    struct world *world = calloc(1, sizeof *world);
    assert(world != NULL);
    rng_init(&world->rng, 1, "bench", size);
    world->size = size;
    if (plain)
        world->heap = heap4_new();
    else
        world->loop = loop_new((struct loop_limits){INT64_MAX, UINT64_MAX, NULL});
    world->entity = aligned_alloc(64, entity_count * sizeof *world->entity);
    assert(world->entity != NULL);
    memset(world->entity, 0, entity_count * sizeof *world->entity);
    for (uint64_t i = 0; i < entity_count; i++)
        world->entity[i].world = world;
    return world;
}

static void world_drop(void *self)
{
    struct world *world = self;
    loop_free(world->loop);
    heap4_free(world->heap);
    free(world->entity);
    free(world->ring);
    free(world);
}

/* Runs event_count events; the callbacks count them down. */
static void world_run(struct world *world, uint64_t event_count)
{
    world->left = event_count;
    if (world->loop != NULL)
        loop_run(world->loop);
    else
        heap4_run(world->heap, event_count);
}

static double world_stretch(void *self)
{
    struct world *world = self;
    double start = bench_cpu_ns();
    world_run(world, world->stretch);
    return (bench_cpu_ns() - start) / (double)world->stretch;
}

/* Two turns of every event before the first measurement; with cancels that is
 * as long as a timer runs, so that dead ones are as many as they get. */
static void world_warm(struct world *world, bool quick)
{
    world->stretch = quick ? 200000 : world->size > 100000 ? 300000 : 1000000;
    world_run(world, world->size * 2 + 100000);
}

static int64_t draw_ns(struct world *world)
{
    return (int64_t)rng_exponential(&world->rng, MEAN_NS);
}

static void count_down(struct world *world, struct loop *loop)
{
    if (--world->left == 0)
        loop_stop(loop);
}

/* ---- HOLD ---- */

static void hold_loop_fn(struct loop *loop, void *self, uint64_t arg)
{
    struct entity *entity = self;
    entity->run_count++;
    loop_at(loop, loop_now_ns(loop) + draw_ns(entity->world),
            LOOP_RANK_FINISH, hold_loop_fn, entity, arg);
    count_down(entity->world, loop);
}

static void hold_heap_fn(struct heap4 *heap, void *self, uint64_t arg)
{
    struct entity *entity = self;
    entity->run_count++;
    heap4_at(heap, heap4_now_ns(heap) + draw_ns(entity->world),
             LOOP_RANK_FINISH, hold_heap_fn, entity, arg);
}

static void *hold_make(uint64_t size, bool quick, bool plain)
{
    struct world *world = world_new(size, size, plain);
    for (uint64_t i = 0; i < size; i++) {
        int64_t time_ns = draw_ns(world);
        if (plain)
            heap4_at(world->heap, time_ns, LOOP_RANK_FINISH, hold_heap_fn,
                     &world->entity[i], i);
        else
            loop_at(world->loop, time_ns, LOOP_RANK_FINISH, hold_loop_fn,
                    &world->entity[i], i);
    }
    world_warm(world, quick);
    return world;
}

static void *hold_make_loop(uint64_t size, bool quick)
{
    return hold_make(size, quick, false);
}

static void *hold_make_heap(uint64_t size, bool quick)
{
    return hold_make(size, quick, true);
}

/* ---- with cancels ---- */

static void finish_loop_fn(struct loop *loop, void *self, uint64_t arg);

/* The job is killed and starts again. */
static void timer_loop_fn(struct loop *loop, void *self, uint64_t arg)
{
    struct entity *entity = self;
    loop_cancel(loop, entity->finish);
    entity->timer = (struct loop_handle){0, 0};
    finish_loop_fn(loop, entity, arg);
}

static void finish_loop_fn(struct loop *loop, void *self, uint64_t arg)
{
    struct entity *entity = self;
    int64_t now_ns = loop_now_ns(loop);
    loop_cancel(loop, entity->timer);
    entity->run_count++;
    entity->finish = loop_at(loop, now_ns + draw_ns(entity->world),
                             LOOP_RANK_FINISH, finish_loop_fn, entity, arg);
    entity->timer = loop_at(loop, now_ns + KILL_AFTER_NS, LOOP_RANK_OUTAGE,
                            timer_loop_fn, entity, arg);
    count_down(entity->world, loop);
}

static void finish_heap_fn(struct heap4 *heap, void *self, uint64_t arg);

static void timer_heap_fn(struct heap4 *heap, void *self, uint64_t arg)
{
    struct entity *entity = self;
    heap4_cancel(heap, entity->finish);
    entity->timer = (struct loop_handle){0, 0};
    finish_heap_fn(heap, entity, arg);
}

static void finish_heap_fn(struct heap4 *heap, void *self, uint64_t arg)
{
    struct entity *entity = self;
    int64_t now_ns = heap4_now_ns(heap);
    heap4_cancel(heap, entity->timer);
    entity->run_count++;
    entity->finish = heap4_at(heap, now_ns + draw_ns(entity->world),
                              LOOP_RANK_FINISH, finish_heap_fn, entity, arg);
    entity->timer = heap4_at(heap, now_ns + KILL_AFTER_NS, LOOP_RANK_OUTAGE,
                             timer_heap_fn, entity, arg);
}

static void *cancel_make(uint64_t size, bool quick, bool plain)
{
    struct world *world = world_new(size, size / 2, plain);
    world->left = UINT64_MAX;
    for (uint64_t i = 0; i < size / 2; i++) {
        if (plain)
            finish_heap_fn(world->heap, &world->entity[i], i);
        else
            finish_loop_fn(world->loop, &world->entity[i], i);
    }
    world_warm(world, quick);
    return world;
}

static void *cancel_make_loop(uint64_t size, bool quick)
{
    return cancel_make(size, quick, false);
}

static void *cancel_make_heap(uint64_t size, bool quick)
{
    return cancel_make(size, quick, true);
}

/* ---- M/M/1, load 0.9: customers, their sojourn times summed ---- */

static void customer_came(struct world *world, int64_t now_ns)
{
    world->ring[world->ring_to++ % RING_COUNT] = now_ns;
    assert(world->ring_to - world->ring_from < RING_COUNT);
}

static void customer_went(struct world *world, int64_t now_ns)
{
    int64_t came_ns = world->ring[world->ring_from++ % RING_COUNT];
    world->sojourn_s += (double)(now_ns - came_ns) * 1e-9;
}

static int64_t service_ns(struct world *world)
{
    return (int64_t)rng_exponential(&world->rng, 0.9 * MEAN_NS);
}

static void serve_loop_fn(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;
    customer_went(world, loop_now_ns(loop));
    if (world->ring_from != world->ring_to)
        loop_at(loop, loop_now_ns(loop) + service_ns(world),
                LOOP_RANK_FINISH, serve_loop_fn, world, arg);
    count_down(world, loop);
}

static void arrive_loop_fn(struct loop *loop, void *self, uint64_t arg)
{
    struct world *world = self;
    int64_t now_ns = loop_now_ns(loop);
    loop_at(loop, now_ns + draw_ns(world), LOOP_RANK_ARRIVAL, arrive_loop_fn,
            world, arg);
    customer_came(world, now_ns);
    if (world->ring_to - world->ring_from == 1)
        loop_at(loop, now_ns + service_ns(world), LOOP_RANK_FINISH,
                serve_loop_fn, world, arg);
    count_down(world, loop);
}

static void serve_heap_fn(struct heap4 *heap, void *self, uint64_t arg)
{
    struct world *world = self;
    customer_went(world, heap4_now_ns(heap));
    if (world->ring_from != world->ring_to)
        heap4_at(heap, heap4_now_ns(heap) + service_ns(world),
                 LOOP_RANK_FINISH, serve_heap_fn, world, arg);
}

static void arrive_heap_fn(struct heap4 *heap, void *self, uint64_t arg)
{
    struct world *world = self;
    int64_t now_ns = heap4_now_ns(heap);
    heap4_at(heap, now_ns + draw_ns(world), LOOP_RANK_ARRIVAL,
             arrive_heap_fn, world, arg);
    customer_came(world, now_ns);
    if (world->ring_to - world->ring_from == 1)
        heap4_at(heap, now_ns + service_ns(world), LOOP_RANK_FINISH,
                 serve_heap_fn, world, arg);
}

static void *mm1_make(bool quick, bool plain)
{
    struct world *world = world_new(1, 1, plain);
    world->ring = malloc(RING_COUNT * sizeof *world->ring);
    assert(world->ring != NULL);
    if (plain)
        heap4_at(world->heap, 0, LOOP_RANK_ARRIVAL, arrive_heap_fn, world, 0);
    else
        loop_at(world->loop, 0, LOOP_RANK_ARRIVAL, arrive_loop_fn, world, 0);
    world_warm(world, quick);
    return world;
}

static void *mm1_make_loop(uint64_t size, bool quick)
{
    (void)size;
    return mm1_make(quick, false);
}

static void *mm1_make_heap(uint64_t size, bool quick)
{
    (void)size;
    return mm1_make(quick, true);
}

/* Two events a customer. */
static double mm1_stretch(void *self)
{
    return 2 * world_stretch(self);
}

/* ---- bytes, and the bound ---- */

static double bytes_stretch(void *self)
{
    const struct world *world = self;
    return (double)loop_held_bytes(world->loop) / (double)world->size;
}

struct bound {
    struct rng rng;
    uint64_t size, count, at;
    double sum;
    struct entity *entity;
};

static void *bound_make(uint64_t size, bool quick)
{
    struct bound *bound = calloc(1, sizeof *bound);
    assert(bound != NULL);
    rng_init(&bound->rng, 1, "bound", size);
    bound->size = size;
    bound->count = quick ? 200000 : 1000000;
    bound->entity = aligned_alloc(64, size * sizeof *bound->entity);
    assert(bound->entity != NULL);
    memset(bound->entity, 0, size * sizeof *bound->entity);
    return bound;
}

/* Each address needs the last load and the last draw. */
static double bound_stretch(void *self)
{
    struct bound *bound = self;
    struct rng rng = bound->rng;
    uint64_t at = bound->at;
    double sum = 0, start = bench_cpu_ns();
    for (uint64_t i = 0; i < bound->count; i++) {
        double x = rng_exponential(&rng, 1);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        sum += x;
        uint64_t low = (bits ^ bound->entity[at].run_count++) & UINT32_MAX;
        at = low * bound->size >> 32;
    }
    double ns = (bench_cpu_ns() - start) / (double)bound->count;
    bound->rng = rng;
    bound->at = at;
    bound->sum += sum;          /* used, so that it is computed */
    return ns;
}

static void bound_drop(void *self)
{
    struct bound *bound = self;
    free(bound->entity);
    free(bound);
}

const struct bench_probe_type bench_bound = {bound_make, bound_stretch,
                                             bound_drop};
const struct bench_probe_type bench_hold_loop = {hold_make_loop,
                                                 world_stretch, world_drop};
const struct bench_probe_type bench_hold_heap = {hold_make_heap,
                                                 world_stretch, world_drop};
const struct bench_probe_type bench_cancel_loop = {cancel_make_loop,
                                                   world_stretch, world_drop};
const struct bench_probe_type bench_cancel_heap = {cancel_make_heap,
                                                   world_stretch, world_drop};
const struct bench_probe_type bench_mm1_loop = {mm1_make_loop, mm1_stretch,
                                                world_drop};
const struct bench_probe_type bench_mm1_heap = {mm1_make_heap, mm1_stretch,
                                                world_drop};
const struct bench_probe_type bench_bytes = {hold_make_loop, bytes_stretch,
                                             world_drop};
