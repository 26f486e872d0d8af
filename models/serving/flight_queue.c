/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flight_queue.c - a ring of requests that wait.
 *
 * Its room is a power of two, so that a place is a mask and not a remainder.  It owns its
 * slots; flight_free() returns them.  Requests come in order, but for those that a failure or a
 * shutdown of a replica sends on: thousands at one instant, each older than thousands that
 * wait.  They stand at the end until somebody looks, and are then merged at once.
 */
#include "models/serving/flight_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"

/* Doubles the ring and puts its requests at the front. */
static void grow_queue(struct flight_queue *queue)
{
    assert(queue->count == queue->room);
    uint32_t room = queue->room ? 2 * queue->room : 16;
    struct flight *slot = arena_resize_own(NULL, room, sizeof *slot);

    for (uint32_t i = 0; i < queue->count; i++)
        slot[i] = queue->slot[(queue->head + i) & (queue->room - 1)];
    free(queue->slot);
    queue->slot = slot;
    queue->head = 0;
    queue->room = room;
}

/* The room is a power of two, so that a mask wraps the index around. */
static void push_last(struct flight_queue *queue, const struct flight *flight)
{
    assert(queue->count <= queue->room);
    assert(flight != NULL);
    if (queue->count == queue->room)
        grow_queue(queue);
    queue->slot[(queue->head + queue->count++) & (queue->room - 1)] = *flight;
}

/* Returns the i-th, from 0. */
static struct flight *flight_at(const struct flight_queue *queue, uint32_t i)
{
    assert(i < queue->count);
    return &queue->slot[(queue->head + i) & (queue->room - 1)];
}

/* A merge of two runs from the end, so that what is young moves once. */
void flight_settle(struct flight_queue *queue)
{
    uint32_t late = queue->late, at = queue->count - late, stay = queue->stay;

    assert(late <= queue->count);
    queue->late = queue->stay = 0;
    if (late == 0)
        return;
    assert(stay <= at);
    struct flight *run = arena_resize_own(NULL, late, sizeof *run);
    for (uint32_t i = 0; i < late; i++)
        run[i] = *flight_at(queue, at + i);
    while (late > 0) {
        const struct flight *before = at > stay ? flight_at(queue, at - 1) : NULL;
        bool passes = before != NULL && before->made_tokens == 0 &&
                      before->arrive_ns > run[late - 1].arrive_ns;
        *flight_at(queue, at + late - 1) = passes ? *before : run[late - 1];
        at -= passes;
        late -= !passes;
    }
    free(run);
}

/* Only one that is sent on finds younger requests before it: it passes them, later, with all
 * that are sent on at that time. */
bool flight_insert(struct flight_queue *queue, uint32_t stay, const struct flight *flight)
{
    uint32_t count = queue->count;

    assert(stay <= count);
    if (queue->late > 0 && flight_at(queue, count - 1)->arrive_ns > flight->arrive_ns)
        flight_settle(queue);
    const struct flight *last = count > stay ? flight_at(queue, count - 1) : NULL;
    bool passes = queue->late == 0 && last != NULL && last->made_tokens == 0 &&
                  last->arrive_ns > flight->arrive_ns;
    bool first = count == 0 || (passes && stay == 0 && flight_at(queue, 0)->made_tokens == 0 &&
                                flight_at(queue, 0)->arrive_ns > flight->arrive_ns);
    if (passes)
        queue->stay = stay;
    queue->late += passes || queue->late > 0;
    push_last(queue, flight);
    return first;
}

void flight_push_front(struct flight_queue *queue,
                       const struct flight *flight)
{
    assert(queue->count <= queue->room);
    assert(flight != NULL);
    flight_settle(queue);
    if (queue->count == queue->room)
        grow_queue(queue);
    queue->head = (queue->head - 1) & (queue->room - 1);
    queue->slot[queue->head] = *flight;
    queue->count++;
}

struct flight flight_pop(struct flight_queue *queue)
{
    assert(queue->count > 0);
    flight_settle(queue);
    struct flight flight = queue->slot[queue->head];

    queue->head = (queue->head + 1) & (queue->room - 1);
    queue->count--;
    return flight;
}

struct flight flight_pop_last(struct flight_queue *queue)
{
    assert(queue->count > 0);
    flight_settle(queue);
    queue->count--;
    return queue->slot[(queue->head + queue->count) & (queue->room - 1)];
}

void flight_free(struct flight_queue *queue)
{
    free(queue->slot);
    memset(queue, 0, sizeof *queue);
}
