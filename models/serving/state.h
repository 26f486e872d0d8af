/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - what a service knows, for its own files only.
 *
 * Files by floor, none calling upward: service_note (queues, what is counted),
 * service_batch and service_generate (how a replica works), service_route,
 * service_scale, service (arrivals, replicas).  What must go up goes through
 * `emptied`.
 */
#ifndef MODELS_SERVING_STATE_H
#define MODELS_SERVING_STATE_H

#include "models/types/gang.h"
#include "models/serving/service.h"
#include "sim/event/loop.h"
#include "sim/base/rng.h"

/* A request on its way; 32 bytes. */
struct flight {
    int64_t arrive_ns;
    uint32_t prompt_tokens, output_tokens;
    uint32_t made_tokens;       /* generated so far */
    uint32_t known_tokens;      /* of the prompt, that need no computing */
    int64_t ttft_us;            /* once made_tokens > 0 */
};

/* FIFO over a power of two of slots. */
struct flight_queue {
    struct flight *slot;
    uint32_t head, count, room;
};

enum replica_does { REPLICA_IDLE, REPLICA_WAITS, REPLICA_BATCH,
                    REPLICA_PREFILL, REPLICA_MIXED, REPLICA_DECODE };

struct replica {
    struct service *service;
    uint32_t number;
    enum serve_side side;
    bool wanted, ready, draining;
    struct gang gang;
    enum replica_does does;
    struct flight_queue queue;
    double *batch_s;            /* of a pass, by requests */
    struct flight *batch;       /* SERVE_GENERATE: at work */
    uint32_t at_work;           /* requests; of a pass, heads of the queue */
    uint32_t admitted;          /* of them, the last, whose prompt is not
                                   computed yet */
    uint32_t computed;          /* tokens of the first of those */
    uint32_t ends;              /* of those, by the end of this iteration */
    uint32_t computed_then;     /* ... and tokens of the next after them */
    uint32_t blocks_max, blocks;
    uint64_t load_tokens;       /* of all requests it has */
    struct prefix_cache *cache; /* NULL: it keeps none */
    struct loop_handle event;
    int64_t since_ns;           /* of what it does */
    uint32_t steps;             /* REPLICA_DECODE: until the event */
    double step_s, step_more_s; /* the first, and how much longer each next */
    int64_t start_ns, ready_ns;
    double busy_s, busy_seen_s;
};

/* Requests that are counted, not followed: mass.c. */
struct service_mass {
    double prompt, output;      /* mean tokens */
    double arrived, waiting;    /* in this tick, and left over */
    double served, dropped;     /* in all */
    double per_s;               /* served, of late */
    double due;                 /* samples, less than one */
    uint64_t samples, kept;
    uint64_t early;             /* came within the warm-up, not dropped by then */
};

struct service {
    struct service_parts parts;
    const struct service_spec *spec;
    struct replica **replica;   /* by number */
    uint32_t replicas, replica_room;
    uint32_t *live;             /* numbers of those wanted, ascending */
    uint32_t lives, live_room;
    uint32_t *open;             /* ... that are ready and not draining */
    uint32_t opens, open_room;
    uint32_t turn;              /* round robin */
    struct rng rng;
    struct flight_queue backlog;        /* nobody is there to serve */
    struct request next;
    bool more;                  /* next is valid */
    uint64_t in_service;        /* waiting or at work */
    struct service_mass mass;
    enum serve_side mode;       /* the side that serves */
    uint64_t seen;              /* requests, since the last look */
    uint32_t *wish;             /* ring: replicas that were enough, by look */
    uint32_t wishes, wish_at;
    void (*emptied)(struct service *service, struct replica *replica);
    int64_t first_ns, last_ns;
    struct service_result result;
};

static inline int64_t service_now(const struct service *service)
{
    return loop_now_ns(service->parts.loop);
}

/* note.c */
void flight_push(struct flight_queue *queue, const struct flight *flight);
void flight_push_front(struct flight_queue *queue,
                       const struct flight *flight);
struct flight flight_pop(struct flight_queue *queue);
struct flight flight_pop_last(struct flight_queue *queue);
void flight_free(struct flight_queue *queue);
void service_note_done(struct service *service, const struct flight *flight);
void service_note_dropped(struct service *service);
/* Has waited for longer than a request waits. */
bool service_gave_up(const struct service *service,
                     const struct flight *flight);
/* Adds the time that the replica was at work, up to now. */
void service_note_busy(struct replica *replica);

/* batch.c, generate.c: a request joins the queue of a replica
 * that is ready; all that it has leaves it for `out`. */
void service_batch_take(struct replica *replica, const struct flight *flight);
void service_batch_ready(struct replica *replica);
void service_generate_take(struct replica *replica,
                           const struct flight *flight);
void service_generate_ready(struct replica *replica, double host_bytes);
void service_generate_leave(struct replica *replica,
                            struct flight_queue *out);

/* route.c: NULL where none is open; request NULL: of which only the
 * lengths are known any more. */
struct replica *service_route(struct service *service,
                              const struct request *request);

/* mass.c: instead of arrivals one by one. */
void service_mass_begin(struct service *service);

/* scale.c: how many replicas of each side there should be now. */
void service_scale_begin(struct service *service);
void service_scale_wish(struct service *service, uint32_t want[SERVE_SIDES]);

#endif
