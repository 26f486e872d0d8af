/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service.c - arrivals, the coming and going of replicas, results.
 *
 * One event is pending for the next request, one for the next decision how many
 * replicas there should be, one for each replica at work.  Nothing is pending
 * once the last request is answered and the last replica let go.
 */
#include "models/serving/service.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/serving/blocks.h"
#include "models/serving/flight_queue.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

/* ---- lists of numbers, ascending --------------------------------------- */

/* Inserts a number; the list stays ascending, so that ties go to the lowest. */
static void list_add(struct service *s, uint32_t **list, uint32_t *count,
                     uint32_t *room, uint32_t number)
{
    assert(*count <= *room);
    uint32_t i = (*count)++;

    ARENA_REACH(s->parts.arena, *list, *room, i);
    /* From the end: numbers are given in order, so that mostly nothing moves. */
    for (; i > 0 && (*list)[i - 1] > number; i--)
        (*list)[i] = (*list)[i - 1];
    (*list)[i] = number;
}

/* Takes a number out of a list and keeps the order of the others. */
static void list_remove(uint32_t *list, uint32_t *count, uint32_t number)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *count; i++)
        if (list[i] != number)
            list[kept++] = list[i];
    *count = kept;
}

/* ---- requests ----------------------------------------------------------- */

/* Hands out what waited until a replica was open, between _begin_ and _end_deliver. */
static void deliver_backlog(struct service *s)
{
    for (uint32_t n = s->opens > 0 ? s->backlog.count : 0; n > 0; n--) {
        struct flight flight = flight_pop(&s->backlog);

        service_deliver(s, &flight, NULL);
    }
}

/* Requests that wait are handed out, less those that have given up meanwhile. */
static void hand_out_backlog(struct loop *loop, void *self, uint64_t arg)
{
    struct service *s = self;

    (void)loop;
    (void)arg;
    service_drop_expired(s);
    service_begin_deliver(s);
    deliver_backlog(s);
    service_end_deliver(s);
}

/* The backlog is handed out once all that opens or is lost at this instant has done so:
 * replicas that open together share it, and nothing is sent to one that is lost, too. */
static void plan_hand_out(struct service *s)
{
    if (s->backlog.count > 0)
        loop_at(s->parts.loop, service_now(s), LOOP_RANK_ARRIVAL, hand_out_backlog, s, 0);
}

/* Takes the next request of the source; requests come in order of time. */
static void fetch_request(struct service *s)
{
    s->more = s->parts.next(s->parts.source, &s->next);
    assert(!s->more || s->next.arrive_ns >= service_now(s));
}

/* Takes all requests of this instant, and plans the next arrival. */
static void accept_requests(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    assert(((struct service *)self)->more);
    struct service *s = self;

    (void)arg;
    /* What waited came before: it is handed out first, into the same batches. */
    service_drop_expired(s);
    service_begin_deliver(s);
    deliver_backlog(s);
    do {
        struct flight flight = {
            .arrive_ns = s->next.arrive_ns,
            .prompt_tokens = s->next.prompt_tokens,
            .output_tokens = s->next.output_tokens
        };
        s->result.requests++;
        /* Requests of the warm-up count as requests, but span and promises begin behind it. */
        if (s->next.arrive_ns >= s->parts.warmup_ns && s->result.measured++ == 0)
            s->first_ns = s->next.arrive_ns;
        s->seen++;
        s->in_service++;
        service_deliver(s, &flight, &s->next);
        fetch_request(s);
    } while (s->more && s->next.arrive_ns == loop_now_ns(loop));
    service_end_deliver(s);
    if (s->more)
        loop_at(loop, s->next.arrive_ns, LOOP_RANK_ARRIVAL, accept_requests, s, 0);
}

/* ---- replicas ----------------------------------------------------------- */

/* It works once service_ready() says so. */
struct replica *service_add(struct service *s, enum serve_side side)
{
    assert(side < SERVE_SIDES);
    assert(s->spec->side[side].form != NULL);
    uint32_t n = s->replicas++;
    struct replica *r = arena_alloc(s->parts.arena, 1, sizeof *r);
    struct service_side_result *result = &s->result.side[side];

    ARENA_REACH(s->parts.arena, s->replica, s->replica_room, n);
    r->service = s;
    r->number = n;
    r->side = side;
    r->wanted = true;
    r->start_ns = service_now(s);
    s->replica[n] = r;
    list_add(s, &s->live, &s->lives, &s->live_room, n);
    result->starts++;
    /* Those that drain count, too: they hold their GPUs still. */
    uint32_t now = 0;
    for (uint32_t i = 0; i < s->lives; i++)
        now += s->replica[s->live[i]]->side == side;
    result->most = now > result->most ? now : result->most;
    s->parts.ops->start(s->parts.ops->self, n, side);
    return r;
}

/* Returns the share of time for which a replica works from now on.  A mass has no
 * requests that begin and end: there it is what it was since the last look. */
static double find_share(const struct replica *r, double up_s)
{
    double recent_s = clock_s_from_ns(r->service->spec->scaling.interval_ns);

    if (r->service->spec->aggregate_ns == 0)
        return r->does >= REPLICA_BATCH ? 1 : 0;
    /* A replica that is younger than the interval had less time to work in. */
    recent_s = up_s < recent_s ? up_s : recent_s;
    return recent_s > 0 ? (r->busy_s - r->busy_seen_s) / recent_s : 0;
}

/* Reports how busy a replica is, and was since it was ready. */
static void tell_busy(struct replica *r)
{
    const struct service_ops *ops = r->service->parts.ops;
    double up_s = clock_s_from_ns(service_now(r->service) - r->ready_ns);

    if (!r->ready)
        return;
    service_note_busy(r);
    if (ops->busy != NULL)
        ops->busy(ops->self, r->number, find_share(r, up_s),
                  up_s > 0 ? r->busy_s / up_s : 0);
    r->busy_seen_s = r->busy_s;
}

/* It works no more: what it did is counted, what it had is in `out`. */
static void close_replica(struct replica *r, struct flight_queue *out)
{
    assert(r->wanted);
    assert(out != NULL);
    struct service *s = r->service;

    /* An idle replica has no event: then this does nothing. */
    loop_cancel(s->parts.loop, r->event);
    if (r->ready) {
        service_note_busy(r);
        s->result.side[r->side].busy_s += r->busy_s;
    }
    /* Those of the batch come first: flight_insert() orders by arrival, behind equals. */
    if (r->batch != NULL)
        service_generate_leave(r, out);
    while (r->queue.count > 0) {
        struct flight flight = flight_pop(&r->queue);
        flight_insert(out, 0, &flight);
    }
    list_remove(s->open, &s->opens, r->number);
    service_note_open(s);
    r->ready = false;
    r->does = REPLICA_IDLE;
    r->told_work = false;
    r->busy_s = r->busy_seen_s = 0;
    r->load_tokens = 0;
    r->at_work = 0;
    r->batch = NULL;
}

/* The replica is not wanted any more: its time is counted and its lease given
 * back. */
static void stop_replica(struct replica *r)
{
    struct service *s = r->service;
    struct flight_queue none = { 0 };

    tell_busy(r);
    close_replica(r, &none);
    assert(none.count == 0);
    flight_free(&none);
    flight_free(&r->queue);
    r->wanted = false;
    s->result.side[r->side].replica_s +=
        clock_s_from_ns(service_now(s) - r->start_ns);
    list_remove(s->live, &s->lives, r->number);
    if (s->parts.ops->stop != NULL)
        s->parts.ops->stop(s->parts.ops->self, r->number);
}

/* In the middle of its own event, a replica must not be closed: soon. */
static void stop_replica_soon(struct loop *loop, void *self, uint64_t arg)
{
    struct replica *r = self;

    (void)loop;
    (void)arg;
    if (r->wanted && r->draining && r->queue.count == 0 && r->at_work == 0)
        stop_replica(r);
}

/* A replica that drains has no request left: it is stopped after the present
 * event. */
static void note_emptied(struct service *s, struct replica *r)
{
    assert(r->queue.count == 0);
    if (r->draining)
        loop_at(s->parts.loop, service_now(s), LOOP_RANK_ARRIVAL, stop_replica_soon,
                r, 0);
}

/* What waits there goes to others, where there are any. */
static void hand_over_queue(struct replica *r)
{
    assert(r->wanted && r->draining);
    uint32_t stay = r->batch == NULL ? r->at_work : 0;
    struct flight_queue waiting = { 0 };

    if (r->service->opens == 0)
        return;
    if (r->batch != NULL)
        service_blocks_forget(r);
    while (r->queue.count > stay) {
        struct flight last = flight_pop_last(&r->queue);
        r->load_tokens -= r->batch == NULL ? 0 : last.prompt_tokens +
                                                 last.output_tokens;
        flight_push_front(&waiting, &last);
    }
    service_begin_deliver(r->service);
    /* All are off before the first is handed out, so that they keep their order. */
    while (waiting.count > 0) {
        struct flight flight = flight_pop(&waiting);
        service_deliver(r->service, &flight, NULL);
    }
    service_end_deliver(r->service);
    flight_free(&waiting);
}

void service_drain(struct replica *r)
{
    assert(r->wanted && !r->draining);
    r->draining = true;
    list_remove(r->service->open, &r->service->opens, r->number);
    service_note_open(r->service);
    hand_over_queue(r);
    if (!r->ready || (r->queue.count == 0 && r->at_work == 0))
        stop_replica(r);
}

/* Returns the replica that is stopped first: one that cannot work yet, else the one with the
 * least to do; the newest of equals.  NULL: there is none. */
static struct replica *least_needed(struct service *s, enum serve_side side)
{
    assert(side < SERVE_SIDES);
    struct replica *best = NULL;
    uint64_t least = UINT64_MAX;

    for (uint32_t i = s->lives; i-- > 0;) {
        struct replica *r = s->replica[s->live[i]];
        /* One that still starts has 0; one that is ready and idle, 1. */
        uint64_t has = r->ready ? 1 + (uint64_t)r->queue.count + r->at_work
                                : 0;
        if (r->side == side && !r->draining && has < least) {
            best = r;
            least = has;
        }
    }
    return best;
}

/* Starts or drains replicas until a side has `want`. */
static void scale_to(struct service *s, enum serve_side side, uint32_t want)
{
    assert(side < SERVE_SIDES);
    uint32_t have = 0;

    for (uint32_t i = 0; i < s->lives; i++)
        have += s->replica[s->live[i]]->side == side &&
                !s->replica[s->live[i]]->draining;
    for (; have < want; have++)
        service_add(s, side);
    /* Those that drain already are not counted, so each call drains another one. */
    for (; have > want; have--)
        service_drain(least_needed(s, side));
}

/* The decision of each interval, after the requests of its instant.  Once nothing can
 * come any more, all replicas stop. */
static void adjust_replicas(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    struct service *s = self;
    uint32_t want[SERVE_SIDES];

    /* A request of this instant is not taken yet: look once more, behind it. */
    if (s->spec->aggregate_ns == 0 && s->more && s->next.arrive_ns == loop_now_ns(loop)) {
        loop_at(loop, loop_now_ns(loop), LOOP_RANK_ARRIVAL, adjust_replicas, s, arg);
        return;
    }
    hand_out_backlog(loop, s, arg);
    /* Work up to now, for the signal; what a replica does goes on as it was. */
    for (uint32_t i = 0; i < s->lives; i++)
        if (s->replica[s->live[i]]->ready)
            service_note_busy(s->replica[s->live[i]]);
    if (!s->more && s->in_service == 0) {
        scale_to(s, SERVE_GPU, 0);
        scale_to(s, SERVE_CPU, 0);
        return;
    }
    /* The wish compares busy_s with busy_seen_s, which tell_busy() sets: wish first. */
    service_scale_wish(s, want);
    for (uint32_t i = 0; i < s->lives; i++)
        tell_busy(s->replica[s->live[i]]);
    /* A side that starts serves later; service_scale_wish() keeps the other side until then. */
    scale_to(s, SERVE_GPU, want[SERVE_GPU]);
    scale_to(s, SERVE_CPU, want[SERVE_CPU]);
    s->seen = 0;
    loop_at(loop, clock_after(loop_now_ns(loop), s->spec->scaling.interval_ns),
            LOOP_RANK_ARRIVAL, adjust_replicas, s, 0);
}

/* ---- from above --------------------------------------------------------- */

struct service *service_new(const struct service_parts *parts)
{
    struct service *s = arena_alloc(parts->arena, 1, sizeof *s);

    assert(parts->loop && parts->spec && parts->ops && parts->next);
    assert(parts->spec->batch_max > 0);
    s->parts = *parts;
    s->spec = parts->spec;
    s->emptied = note_emptied;
    s->result.ttft_q = quantile_new(parts->arena);
    s->result.tpot_q = quantile_new(parts->arena);
    s->result.latency_q = quantile_new(parts->arena);
    rng_init(&s->rng, parts->seed, "routing", 0);
    service_scale_begin(s);
    return s;
}

/* The sample of a mass has a clock of its own. */
void service_free(struct service *s)
{
    for (struct service *sampled; s != NULL; s = sampled) {
        sampled = s->mass.sampled;
        for (uint32_t i = 0; i < s->replicas; i++)
            flight_free(&s->replica[i]->queue);
        flight_free(&s->backlog);
        service_backlog_free(&s->mass.backlog);
        if (sampled != NULL)
            loop_free(sampled->parts.loop);
    }
}

void service_begin(struct service *s)
{
    assert(s->replicas == 0);
    const struct serve_side_spec *side = &s->spec->side[s->mode];

    if (s->spec->aggregate_ns > 0) {
        service_mass_begin(s);
    } else {
        fetch_request(s);
        if (!s->more)
            return;
        loop_at(s->parts.loop, s->next.arrive_ns, LOOP_RANK_ARRIVAL, accept_requests,
                s, 0);
    }
    scale_to(s, s->mode, side->min);
    loop_at(s->parts.loop,
            clock_after(service_now(s), s->spec->scaling.interval_ns),
            LOOP_RANK_ARRIVAL,
            adjust_replicas, s, 0);
}

/* A replica that is no longer wanted when it is ready takes no requests. */
void service_ready(struct service *s, uint32_t number,
                   const struct gang *gang, double host_bytes)
{
    struct replica *r = s->replica[number];

    assert(number < s->replicas);
    /* Its lease may come after it was given up: the news is late, not wrong. */
    if (!r->wanted || r->draining || r->ready)
        return;
    r->ready = true;
    r->gang = *gang;
    /* Another gang may serve at another speed, and is another replica to the sample. */
    r->able_per_s = 0.0;
    r->copied = NULL;
    r->ready_ns = r->since_ns = r->counted_ns = service_now(s);
    if (service_generates(r))
        service_generate_ready(r, host_bytes);
    else
        service_batch_ready(r);
    list_add(s, &s->open, &s->opens, &s->open_room, number);
    service_note_open(s);
    plan_hand_out(s);
}

/* Its requests begin again elsewhere: what they had generated is lost. */
void service_lost(struct service *s, uint32_t number)
{
    struct flight_queue left = { 0 };
    struct replica *r = s->replica[number];

    assert(number < s->replicas);
    /* One that was not ready had no requests: it is waited for as before. */
    if (!r->wanted || !r->ready || s->closed)
        return;
    close_replica(r, &left);
    if (r->draining)            /* nobody waits for it to come back */
        note_emptied(s, r);
    while (left.count > 0) {
        struct flight flight = flight_pop(&left);
        flight.made_tokens = 0;
        s->result.rerouted++;
        flight_insert(&s->backlog, 0, &flight);
    }
    flight_free(&left);
    s->expire_ns = 0;           /* they may be older than all that wait */
    plan_hand_out(s);
}

uint64_t service_traffic(const struct service *service)
{
    assert(service != NULL);
    return service->result.requests + service->result.done;
}

/* The end of the run cuts off the requests of a queue. */
static void cut_off(struct service *s, const struct flight_queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++)
        service_note_left(s, &queue->slot[(queue->head + i) & (queue->room - 1)]);
}

/* Replicas that still live are counted up to now.  Every request is measured
 * as answered, refused or unfinished. */
const struct service_result *service_close(struct service *s)
{
    struct service_result *result = &s->result;

    service_drop_expired(s);
    for (uint32_t i = 0; i < s->lives; i++) {
        struct replica *r = s->replica[s->live[i]];

        /* As close_replica() does, but the requests stay, and are counted as unfinished. */
        tell_busy(r);
        cut_off(s, &r->queue);
        for (uint32_t k = 0; r->batch != NULL && k < r->at_work; k++)
            service_note_left(s, &r->batch[k]);
        result->side[r->side].busy_s += r->busy_s;
        result->side[r->side].replica_s +=
            clock_s_from_ns(service_now(s) - r->start_ns);
    }
    cut_off(s, &s->backlog);
    s->closed = true;           /* leases that end now take nothing any more */
    result->unfinished = s->in_service;
    if (s->spec->aggregate_ns > 0)
        service_mass_end(s);
    result->span_s = s->last_ns > s->first_ns
                   ? clock_s_from_ns(s->last_ns - s->first_ns) : 0;
    assert(result->requests == result->done + result->dropped +
                               result->refused + result->unfinished);
    return result;
}
