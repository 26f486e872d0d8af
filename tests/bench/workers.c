/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workers.c - probe of replications on two threads against one.
 *
 * Replications of M/M/16 at load 0.9 are taken from a counter; each leaves its
 * digest at its own index, so what they say together does not depend on who
 * ran them.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "tests/bench/probe.h"

#define REPLICA_COUNT 32u
#define SERVER_COUNT 16u

struct work {
    atomic_uint next;
    uint64_t event_count;
    uint64_t digest[REPLICA_COUNT];
};

struct station {
    struct rng rng;
    uint64_t waiting, serving;
};

static int64_t draw_ns(struct rng *rng, double mean_ns)
{
    return (int64_t)rng_exponential(rng, mean_ns);
}

static void leave(struct loop *loop, void *self, uint64_t arg);

static void serve(struct loop *loop, struct station *station, uint64_t arg)
{
    loop_at(loop, loop_now_ns(loop) + draw_ns(&station->rng, 14.4e9),
            LOOP_RANK_FINISH, leave, station, arg);
}

static void leave(struct loop *loop, void *self, uint64_t arg)
{
    struct station *station = self;
    if (station->waiting > 0) {
        station->waiting--;
        serve(loop, station, arg + 1);
    } else {
        station->serving--;
    }
}

static void arrive(struct loop *loop, void *self, uint64_t arg)
{
    struct station *station = self;
    loop_at(loop, loop_now_ns(loop) + draw_ns(&station->rng, 1e9),
            LOOP_RANK_ARRIVAL, arrive, station, arg + 1);
    if (station->serving < SERVER_COUNT) {
        station->serving++;
        serve(loop, station, arg);
    } else {
        station->waiting++;
    }
}

static uint64_t replicate(uint64_t replica, uint64_t event_count)
{
    struct station station = {.waiting = 0};
    struct loop *loop = loop_new((struct loop_limits){INT64_MAX, event_count, NULL});
    rng_init(&station.rng, 1, "workers", replica);
    loop_at(loop, 0, LOOP_RANK_ARRIVAL, arrive, &station, 0);
    loop_run(loop);
    uint64_t digest = loop_digest(loop);
    loop_free(loop);
    return digest;
}

static void *worker(void *self)
{
    struct work *work = self;
    for (;;) {
        unsigned replica = atomic_fetch_add(&work->next, 1);
        if (replica >= REPLICA_COUNT)
            return NULL;
        work->digest[replica] = replicate(replica, work->event_count);
    }
}

/* Wall time: that is what a second worker is for. */
static double run_work(struct work *work, unsigned worker_count)
{
    pthread_t thread;
    double start = bench_clock_ns(CLOCK_MONOTONIC);
    atomic_store(&work->next, 0);
    bool second = worker_count > 1 &&
                  pthread_create(&thread, NULL, worker, work) == 0;
    worker(work);
    if (second)
        pthread_join(thread, NULL);
    return bench_clock_ns(CLOCK_MONOTONIC) - start;
}

static void *workers_make(uint64_t size, bool quick)
{
    struct work *work = calloc(1, sizeof *work);
    (void)size;
    assert(work != NULL);
    work->event_count = quick ? 200000 : 500000;
    return work;
}

/* How many times faster two are than one; 0 if they did other things. */
static double workers_stretch(void *self)
{
    struct work *work = self;
    uint64_t digest[REPLICA_COUNT];
    double one_ns = run_work(work, 1);
    for (size_t i = 0; i < REPLICA_COUNT; i++)
        digest[i] = work->digest[i];
    double two_ns = run_work(work, 2);
    for (size_t i = 0; i < REPLICA_COUNT; i++)
        if (digest[i] != work->digest[i])
            return 0;
    return one_ns / two_ns;
}

const struct bench_probe_type bench_workers = {workers_make, workers_stretch,
                                               free};
