/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.c - a replica that answers batches in one pass.
 *
 * Requests of the batch at work stay at the head of the queue until it is
 * over: so a replica that is lost has them all in one place.
 */
#include <assert.h>

#include "models/serving/flight_queue.h"
#include "models/serving/serve.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

static void finish_batch(struct loop *loop, void *self, uint64_t arg);
static void end_wait(struct loop *loop, void *self, uint64_t arg);

/* Starts a pass over the first batch_max requests of the queue. */
static void start_batch(struct replica *r)
{
    assert(r->ready);
    assert(r->at_work == 0 && r->queue.count > 0);
    struct service *s = r->service;
    uint32_t most = s->spec->batch_max;

    flight_settle(&r->queue);
    r->at_work = r->queue.count < most ? r->queue.count : most;
    r->does = REPLICA_BATCH;
    r->since_ns = r->counted_ns = service_now(s);
    service_note_work(r);
    r->event = loop_at(s->parts.loop, clock_after(r->since_ns,
                       clock_ns_for_work(r->batch_s[r->at_work], 1)),
                       LOOP_RANK_FINISH, finish_batch, r, 0);
}

/* Full, or its first has waited long enough: go; else wait for that. */
static void continue_batch(struct replica *r)
{
    assert(r->ready && r->at_work == 0);
    struct service *s = r->service;
    int64_t due;

    flight_settle(&r->queue);
    while (r->queue.count > 0 &&
           service_gave_up(s, &r->queue.slot[r->queue.head])) {
        flight_pop(&r->queue);
        service_note_dropped(s);
    }
    if (r->queue.count == 0) {
        r->does = REPLICA_IDLE;
        service_note_work(r);
        return;
    }
    due = clock_after(r->queue.slot[r->queue.head].arrive_ns,
                      s->spec->batch_delay_ns);
    if (r->queue.count >= s->spec->batch_max || due <= service_now(s)) {
        start_batch(r);
        return;
    }
    r->does = REPLICA_WAITS;
    service_note_work(r);
    r->event = loop_at(s->parts.loop, due, LOOP_RANK_FINISH, end_wait, r, 0);
}

/* The batch delay is over: the pass starts with the requests that there are. */
static void end_wait(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    struct replica *r = self;

    (void)loop;
    (void)arg;
    continue_batch(r);
    service_note_load(r);
    if (r->queue.count == 0)            /* all had given up */
        r->service->emptied(r->service, r);
}

/* A pass is over: its requests are answered, and the next pass begins. */
static void finish_batch(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    assert(((struct replica *)self)->at_work > 0);
    struct replica *r = self;
    struct service *s = r->service;

    (void)loop;
    (void)arg;
    service_note_busy(r);
    for (; r->at_work > 0; r->at_work--) {
        struct flight flight = flight_pop(&r->queue);
        service_note_done(s, &flight);
    }
    continue_batch(r);
    service_note_load(r);
    if (r->queue.count == 0)
        s->emptied(s, r);
}

/* An idle replica starts its batch, or begins to wait for others. */
void service_batch_start(struct replica *r)
{
    assert(r->ready && r->does == REPLICA_IDLE);
    continue_batch(r);
}

/* A request that fills the batch for which a replica waits starts it at once.  One that is
 * sent on and comes first has waited for longer than the wait was planned for: the replica
 * looks again when all requests of the instant are handed out. */
void service_batch_take(struct replica *r, const struct flight *flight)
{
    assert(r->ready);
    assert(flight->prompt_tokens > 0);
    bool first = flight_insert(&r->queue, r->at_work, flight);

    if (r->does == REPLICA_WAITS && r->queue.count >= r->service->spec->batch_max) {
        loop_cancel(r->service->parts.loop, r->event);
        start_batch(r);
    } else if (r->does == REPLICA_WAITS && first) {
        loop_cancel(r->service->parts.loop, r->event);
        r->does = REPLICA_IDLE;
    }
    service_note_load(r);
}

/* The law is evaluated once for each size of a batch. */
void service_batch_ready(struct replica *r)
{
    assert(r->ready);
    assert(r->service->spec->batch_max > 0);
    struct service *s = r->service;
    const struct serve_law *law = &s->spec->side[r->side].law;

    r->batch_s = arena_alloc(s->parts.arena, s->spec->batch_max + 1,
                             sizeof *r->batch_s);
    for (uint32_t n = 1; n <= s->spec->batch_max; n++)
        r->batch_s[n] = serve_batch_s(law, &r->gang, n);
}
