/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expire.c - requests that have waited for longer than the timeout.
 *
 * They leave before anything looks at a queue, so that they take no room there and
 * count as no load.  Queues are looked at only if the oldest of them may have given
 * up: that instant is kept.
 */
#include <assert.h>
#include <stdint.h>

#include "models/serving/flight_queue.h"
#include "models/serving/state.h"
#include "sim/base/clock.h"

/* How many at the front of a replica's queue never give up: those of the pass at work, or
 * those that were thrown out of a full KV cache in the middle of their answer. */
static uint32_t count_begun(struct replica *r)
{
    uint32_t begun = r->batch == NULL ? r->at_work : 0;

    flight_settle(&r->queue);
    assert(begun <= r->queue.count);
    for (; r->batch != NULL && begun < r->queue.count; begun++)
        if (r->queue.slot[(r->queue.head + begun) & (r->queue.room - 1)].made_tokens == 0)
            break;
    return begun;
}

/* Drops the oldest of a queue that gave up, behind `work` requests that never do, and
 * returns when the next one gives up. */
static int64_t drop_oldest(struct service *s, struct replica *r, struct flight_queue *queue,
                           uint32_t work)
{
    assert(work <= queue->count);
    uint32_t gone = 0, mask = queue->room - 1;

    flight_settle(queue);
    while (work + gone < queue->count) {
        struct flight *oldest = &queue->slot[(queue->head + work + gone) & mask];

        if (!service_gave_up(s, oldest))
            break;
        if (r != NULL && r->batch != NULL)
            r->load_tokens -= oldest->prompt_tokens + oldest->output_tokens;
        service_note_dropped(s);
        gone++;
    }
    for (uint32_t i = work; gone > 0 && i-- > 0;)       /* those that were begun stay */
        queue->slot[(queue->head + gone + i) & mask] =
            queue->slot[(queue->head + i) & mask];
    queue->head = queue->room > 0 ? (queue->head + gone) & mask : 0;
    queue->count -= gone;
    if (gone > 0 && r != NULL)
        service_note_load(r);
    return work < queue->count
               ? clock_after(queue->slot[(queue->head + work) & mask].arrive_ns,
                             s->spec->timeout_ns)
               : INT64_MAX;
}

void service_drop_expired(struct service *s)
{
    int64_t now = service_now(s), next;

    if (s->spec->timeout_ns == 0 || s->spec->aggregate_ns > 0 || now <= s->expire_ns)
        return;
    /* The least of all queues: until then no queue need be looked at. */
    s->expire_ns = drop_oldest(s, NULL, &s->backlog, 0);
    for (uint32_t i = 0; i < s->lives; i++) {
        struct replica *r = s->replica[s->live[i]];

        next = drop_oldest(s, r, &r->queue, count_begun(r));
        s->expire_ns = next < s->expire_ns ? next : s->expire_ns;
    }
    next = clock_after(now, s->spec->timeout_ns);       /* of a request that comes now */
    s->expire_ns = next < s->expire_ns ? next : s->expire_ns;
}
