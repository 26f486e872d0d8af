/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * note.c - queues of requests, and what is counted when one ends.
 *
 * A queue is a ring whose room is a power of two, so that a place is a mask and
 * not a remainder.  It owns its slots; flight_free() returns them.  Requests that
 * arrived in the warm-up are served and counted as done, but never measured.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/stats/tally.h"

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

/* Latency is from arrival to the last token; TTFT to the first, TPOT the mean
 * between tokens.  A pass without tokens has one latency for all three. */
static void measure_request(struct service *service,
                            const struct flight *flight)
{
    assert(flight->arrive_ns <= service_now(service));
    const struct service_spec *spec = service->spec;
    struct service_result *result = &service->result;
    double latency_s = clock_s_from_ns(service_now(service) -
                                       flight->arrive_ns);
    double ttft_s = flight->made_tokens > 0 ? clock_s_from_ns(flight->ttft_ns)
                                            : latency_s;
    double tpot_s = 0;

    result->answered++;
    tally_add(&result->latency, latency_s);
    quantile_add(result->latency_q, latency_s);
    if (flight->made_tokens > 0) {
        tally_add(&result->ttft, ttft_s);
        quantile_add(result->ttft_q, ttft_s);
        result->tokens += flight->made_tokens;
    }
    if (flight->made_tokens > 1) {
        tpot_s = (latency_s - ttft_s) / (flight->made_tokens - 1);
        tally_add(&result->tpot, tpot_s);
        quantile_add(result->tpot_q, tpot_s);
    }
    result->in_slo += service_keeps(latency_s, spec->latency_ns) &&
                      service_keeps(ttft_s, spec->ttft_ns) &&
                      service_keeps(tpot_s, spec->tpot_ns);
    service->last_ns = service_now(service);
}

/* May a request that is not answered now still keep all promises? */
static bool may_keep(const struct service *service, const struct flight *flight)
{
    const struct service_spec *spec = service->spec;
    double age_s = clock_s_from_ns(service_now(service) - flight->arrive_ns);
    double ttft_s = flight->made_tokens > 0 ? clock_s_from_ns(flight->ttft_ns) : age_s;
    double tpot_s = flight->made_tokens > 0 && flight->output_tokens > 1
                        ? (age_s - ttft_s) / (flight->output_tokens - 1) : 0;

    assert(age_s >= 0);
    return service_keeps(age_s, spec->latency_ns) && service_keeps(ttft_s, spec->ttft_ns) &&
           service_keeps(tpot_s, spec->tpot_ns);
}

void service_note_left(struct service *service, const struct flight *flight)
{
    assert(service->in_service > 0);
    if (flight->arrive_ns >= service->parts.warmup_ns && may_keep(service, flight))
        service->result.open++;
}

void service_note_done(struct service *service, const struct flight *flight)
{
    assert(service->in_service > 0);
    if (flight->arrive_ns >= service->parts.warmup_ns)
        measure_request(service, flight);
    service->result.done++;
    service->in_service--;
}

void service_note_dropped(struct service *service)
{
    assert(service->in_service > 0);
    service->result.dropped++;
    service->in_service--;
}

bool service_gave_up(const struct service *service,
                     const struct flight *flight)
{
    assert(flight->arrive_ns <= service_now(service));
    return service->spec->timeout_ns > 0 && flight->made_tokens == 0 &&
           service_now(service) - flight->arrive_ns >
               service->spec->timeout_ns;
}

void service_note_busy(struct replica *replica)
{
    assert(replica->since_ns <= service_now(replica->service));
    int64_t now = service_now(replica->service);

    if (replica->does >= REPLICA_BATCH)
        replica->busy_s += clock_s_from_ns(now - replica->since_ns);
    replica->since_ns = now;
}

void service_note_work(struct replica *replica)
{
    const struct service_ops *ops = replica->service->parts.ops;
    bool works = replica->does >= REPLICA_BATCH;
    double up_s;

    if (works == replica->told_work || ops->busy == NULL)
        return;
    replica->told_work = works;
    up_s = clock_s_from_ns(service_now(replica->service) - replica->ready_ns);
    ops->busy(ops->self, replica->number, works ? 1 : 0,
              up_s > 0 ? replica->busy_s / up_s : 0);
}
