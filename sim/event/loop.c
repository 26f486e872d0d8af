/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.c - the event loop over the queue of queue.h.
 *
 * An event's record is freed before its callback runs, so a handle has expired
 * by the time anyone can use it, and the callback's own push takes the record
 * that is still in the cache.
 *
 * The loop adds to the queue: the clock, the limits, the count and the digest
 * of events, and a call when an instant is over. It holds no model state.
 */
#include "sim/event/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/digest.h"
#include "sim/event/queue.h"

#define EVENTS_BETWEEN_LOOKS 4096u      /* at limits.stop */

/* The clock of a trial.  The digest is a hash of all events so far, by which
 * two runs can be compared. */
struct loop {
    struct loop_clock clock;    /* the first: loop_now_ns() */
    struct loop_limits limits;  /* until_ns can be moved by loop_until() */
    uint64_t event_count;       /* events begun */
    uint64_t digest;
    bool stopped;               /* loop_stop() was called; loop_run() clears it */
    struct {
        loop_over_fn *call;     /* NULL: nobody asked */
        void *self;
    } over[LOOP_OVER_MAX];
    struct loop_pulse *pulse;   /* or NULL */
    struct queue queue;         /* events to come */
};

struct loop *loop_new(struct loop_limits limits)
{
    assert(limits.until_ns >= 0);
    struct loop *loop = arena_resize_own(NULL, 1, sizeof *loop);
    memset(loop, 0, sizeof *loop);
    loop->limits = limits;
    queue_init(&loop->queue);
    return loop;
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    assert(loop->queue.live_count <= loop->queue.record_room);
    queue_clear(&loop->queue);
    free(loop);
}

void loop_pulse(struct loop *loop, struct loop_pulse *pulse)
{
    assert(loop != NULL);
    loop->pulse = pulse;
}

struct loop_handle loop_at(struct loop *loop, int64_t time_ns,
                           enum loop_rank rank, loop_fn *fn, void *self,
                           uint64_t arg)
{
    assert(time_ns >= loop->clock.now_ns);
    assert((unsigned)rank < LOOP_RANK_COUNT);
    assert(fn != NULL);
    return queue_push(&loop->queue, (uint64_t)time_ns, (uint32_t)rank, fn,
                      self, arg);
}

bool loop_cancel(struct loop *loop, struct loop_handle handle)
{
    assert(handle.generation != 0 || handle.slot == 0);
    return queue_cancel(&loop->queue, handle);
}

/* Does limits.stop ask for an end?  It is read once in EVENTS_BETWEEN_LOOKS
 * events, since another thread or a signal handler writes it.  Another thread may set it at
 * any time, hence the atomic load; nothing else is read that depends on it, so relaxed order
 * is enough. */
static bool is_called_off(const struct loop *loop)
{
    assert(loop->event_count <= loop->limits.event_count_max);
    return loop->limits.stop &&
           loop->event_count % EVENTS_BETWEEN_LOOKS == 0 &&
           __atomic_load_n(loop->limits.stop, __ATOMIC_RELAXED);
}

void loop_until(struct loop *loop, int64_t until_ns)
{
    assert(until_ns >= loop->clock.now_ns);
    loop->limits.until_ns = until_ns;
}

void loop_when_over(struct loop *loop, loop_over_fn *over, void *self)
{
    uint32_t i = 0;

    assert(over != NULL);
    while (i < LOOP_OVER_MAX && loop->over[i].call != NULL)
        i++;
    assert(i < LOOP_OVER_MAX);
    loop->over[i].call = over;
    loop->over[i].self = self;
}

/* An instant is over.  Those who asked are called in the order in which they asked. */
static inline void tell_over(const struct loop *loop)
{
    for (uint32_t i = 0; i < LOOP_OVER_MAX && loop->over[i].call != NULL; i++)
        loop->over[i].call(loop->over[i].self);
}

/* One turn: peek, check what may end the run, pop, move the clock, call. The
 * limits are checked before the pop, so that an event which may not run stays
 * in the queue and a later loop_run() begins with it.  An instant is over when the next event
 * has a later time: this is told before the limit of time is looked at.  It is not told where
 * no event is left. */
enum loop_end loop_run(struct loop *loop)
{
    struct queue *queue = &loop->queue;
    uint64_t until_ns = (uint64_t)loop->limits.until_ns;
    assert(loop->clock.now_ns >= 0 && loop->limits.until_ns >= loop->clock.now_ns);
    while (!loop->stopped) {
        struct queue_entry entry;
        if (!queue_peek(queue, &entry))
            return LOOP_DRAINED;
        if ((int64_t)entry.time_ns > loop->clock.now_ns)
            tell_over(loop);
        if (entry.time_ns > until_ns) {
            loop->clock.now_ns = (int64_t)until_ns;
            return LOOP_TIME_LIMIT;
        }
        if (loop->event_count >= loop->limits.event_count_max)
            return LOOP_EVENT_LIMIT;
        if (is_called_off(loop))
            return LOOP_CALLED_OFF;
        struct queue_record record = queue->record[queue_slot(&entry)];
        queue_pop(queue, &entry);
        queue_fetch_ahead(queue);
        assert((int64_t)entry.time_ns >= loop->clock.now_ns && record.fn != NULL);
        loop->clock.now_ns = (int64_t)entry.time_ns;
        loop->event_count++;
        if (loop->pulse != NULL)
            *loop->pulse = (struct loop_pulse){ loop->event_count, loop->clock.now_ns };
        loop->digest = digest_event(loop->digest, entry.time_ns,
                                    queue_rank(&entry), record.arg);
        record.fn(loop, record.self, record.arg);
    }
    loop->stopped = false;
    return LOOP_STOPPED;
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
}

uint64_t loop_event_count(const struct loop *loop)
{
    assert(loop->event_count <= loop->limits.event_count_max);
    return loop->event_count;
}

uint64_t loop_pending_count(const struct loop *loop)
{
    assert(loop->queue.live_count <= loop->queue.record_room);
    return loop->queue.live_count;
}

size_t loop_held_bytes(const struct loop *loop)
{
    return queue_held_bytes(&loop->queue);
}

uint64_t loop_digest(const struct loop *loop)
{
    return loop->digest;
}
