/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.c - the blocks of a replica's KV cache: who holds how many, and what is left in those
 * of a request that was thrown out.
 *
 * Free blocks are taken in the order in which they were freed, the last block of a request first,
 * and keep what they hold until then, so that the request finds the others when it comes back
 * (vLLM, design/prefix_caching of its manual: its engine does so by default).  Places in this
 * order are counted from when the replica was ready: `freed` is the place of the next block that is
 * freed, `taken` that of the next that is taken.  Prompts in work do not reserve their next token,
 * so that `taken` may be a few blocks ahead.
 */
#include "models/serving/blocks.h"

#include <assert.h>

#include "models/serving/flight_queue.h"
#include "models/serving/serve.h"
#include "models/serving/state.h"

uint32_t service_blocks(const struct replica *r, uint32_t tokens)
{
    assert(r->service != NULL);
    return serve_blocks(&r->service->spec->side[r->side].law, tokens);
}

void service_blocks_begin(struct replica *r)
{
    assert(r->blocks_max > 0 || r->blocks == 0);
    r->freed = r->blocks_max;
    r->taken = 0;
    r->thrown = 0;
}

/* All of a request are free: its first block is behind the others. */
void service_blocks_free(struct replica *r, struct flight *flight)
{
    assert(flight->held > 0);
    flight->freed_at = r->freed;
    r->freed += flight->held;
}

void service_blocks_grow(struct replica *r, struct flight *flight, uint32_t tokens)
{
    uint32_t held = service_blocks(r, tokens);

    assert(flight->held > 0);
    if (held <= flight->held)
        return;
    r->taken += held - flight->held;
    flight->held = held;
}

void service_blocks_throw(struct replica *r, struct flight *flight, bool computed)
{
    service_blocks_free(r, flight);
    flight->known_tokens = 0;
    flight->held = computed ? flight->held : 0;
    r->thrown += flight->held > 0;
    assert(r->thrown <= r->queue.count + 1);
}

uint32_t service_blocks_kept(const struct replica *r, struct flight *flight, uint32_t tokens)
{
    assert(tokens > 0);
    uint32_t whole = (tokens - 1) / SERVE_BLOCK_TOKENS;
    uint64_t end = flight->freed_at + flight->held;

    if (flight->held == 0)
        return 0;
    uint64_t from = r->taken > flight->freed_at ? r->taken : flight->freed_at;
    uint64_t left = from < end ? end - from : 0;
    uint32_t kept = left < whole ? (uint32_t)left : whole;

    flight->known_tokens = kept * SERVE_BLOCK_TOKENS;
    return kept;
}

/* Blocks that are taken from between others: those behind come up, those before stay. */
static void close_up(struct replica *r, const struct flight *flight, uint32_t kept)
{
    const struct flight_queue *queue = &r->queue;
    uint32_t left = r->thrown;

    assert(left <= queue->count);
    for (uint32_t i = 0; left > 0 && i < queue->count; i++) {
        struct flight *other = &queue->slot[(queue->head + i) & (queue->room - 1)];

        if (other->held == 0)
            continue;
        left--;
        if (other->freed_at < flight->freed_at)
            other->freed_at += kept;
    }
}

void service_blocks_take(struct replica *r, struct flight *flight, uint32_t kept,
                         uint32_t tokens)
{
    uint32_t held = service_blocks(r, tokens);

    assert(kept <= held);
    if (flight->held > 0) {
        r->thrown--;
        close_up(r, flight, kept);
    }
    flight->held = held;
    r->blocks += held;
    r->taken += held;
}

void service_blocks_forget(struct replica *r)
{
    assert(r->queue.count <= r->queue.room);
    flight_settle(&r->queue);
    for (uint32_t i = 0; i < r->queue.count; i++)
        r->queue.slot[(r->queue.head + i) & (r->queue.room - 1)].held = 0;
    r->thrown = 0;
}

void service_blocks_lose(struct replica *r)
{
    assert(r->at_work == 0 || r->batch != NULL);
    service_blocks_forget(r);
    for (uint32_t i = 0; i < r->at_work; i++)
        r->batch[i].held = 0;
}
