/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deliver.c - requests to replicas.
 *
 * All requests of an instant are handed out before an idle replica starts, so that
 * they are in one batch: those that came at once, those that waited for the first
 * replica, and those that are sent on from one that is lost or drains.
 */
#include <assert.h>

#include "models/serving/flight_queue.h"
#include "models/serving/prefix_cache.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"

bool service_generates(const struct replica *r)
{
    assert(r->side < SERVE_SIDES);
    return r->service->spec->side[r->side].law.kind == SERVE_GENERATE;
}

/* What of the prompt the replica need not compute; the last token it must. */
static uint32_t known_tokens(struct service *s, struct replica *r,
                             const struct request *request)
{
    assert(r->ready);
    uint32_t known = request->known_tokens;

    s->result.prompt_tokens += request->prompt_tokens;
    if (r->cache != NULL && request->prefix.count > 0) {
        uint32_t found = prefix_cache_use(r->cache, &request->prefix);

        known = found > known ? found : known;
        if (known >= request->prompt_tokens)
            known = request->prompt_tokens - 1;
    }
    s->result.known_tokens += known;
    return known;
}

/* Returns how long the queue may be; requests of the pass at work do not wait. */
static uint32_t queue_room(const struct replica *r)
{
    uint32_t most = r->service->spec->queue_max;

    return most == 0 ? UINT32_MAX : most + (r->batch == NULL ? r->at_work : 0);
}

/* Starts one more request the batch for which a replica waits?  Then nothing waits. */
static bool fills_batch(const struct replica *r)
{
    return r->does == REPLICA_WAITS && r->queue.count + 1 >= r->service->spec->batch_max;
}

/* Drops what waits beyond the limit of the queue, the last first. */
static void drop_excess(struct replica *r)
{
    uint32_t most = queue_room(r);

    assert(r->ready);
    while (r->queue.count > most) {
        struct flight last = flight_pop_last(&r->queue);

        if (service_generates(r))
            r->load_tokens -= last.prompt_tokens + last.output_tokens;
        service_note_dropped(r->service);
    }
}

/* An idle replica starts when all requests of the instant are handed out. */
static void note_fresh(struct replica *r)
{
    struct service *s = r->service;

    assert(s->gathers);
    if (r->fresh || r->does != REPLICA_IDLE || r->queue.count == 0)
        return;
    r->fresh = true;
    ARENA_ADD(s->parts.arena, s->fresh, s->freshes, s->fresh_room, r->number);
}

void service_begin_deliver(struct service *s)
{
    assert(!s->gathers && s->freshes == 0);
    s->gathers = true;
}

void service_end_deliver(struct service *s)
{
    assert(s->gathers);
    s->gathers = false;
    for (uint32_t i = 0; i < s->freshes; i++) {
        struct replica *r = s->replica[s->fresh[i]];

        r->fresh = false;
        if (service_generates(r))
            service_generate_start(r);
        else
            service_batch_start(r);
        drop_excess(r);
        service_note_load(r);
    }
    s->freshes = 0;
}

void service_deliver(struct service *s, struct flight *flight,
                     const struct request *request)
{
    assert(flight->prompt_tokens > 0 && s->gathers);
    struct replica *r = service_route(s, request);

    if (r == NULL) {
        flight_insert(&s->backlog, 0, flight);
        return;
    }
    /* One that has made tokens is sent on, and is never refused; an idle replica starts at once. */
    if (r->does != REPLICA_IDLE && flight->made_tokens == 0 &&
        r->queue.count >= queue_room(r) && !fills_batch(r)) {
        service_note_dropped(s);
        return;
    }
    if (service_generates(r)) {
        flight->known_tokens = request != NULL ? known_tokens(s, r, request)
                                               : 0;
        service_generate_take(r, flight);
    } else {
        service_batch_take(r, flight);
    }
    note_fresh(r);
}
