/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - the state of a service, for the files of this room only.
 *
 * The files in layers; none calls a later one: flight_queue.c, note.c (counters), backlog.c
 * (a mass that waits), least.c (the replica with the least to do), expire.c (requests that
 * gave up), batch.c and generate.c (how a replica works), mass.c, route.c, deliver.c
 * (requests to replicas), scale.c, service.c (arrivals, the coming and going of
 * replicas), sampled.c (a service that stands for a mass).  The calls in the other
 * direction are the function pointers `emptied` and `run`.
 */
#ifndef MODELS_SERVING_STATE_H
#define MODELS_SERVING_STATE_H

#include <assert.h>

#include "models/serving/flight_queue.h"
#include "models/serving/service.h"
#include "models/types/gang.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

enum replica_does { REPLICA_IDLE, REPLICA_WAITS, REPLICA_BATCH,
                    REPLICA_PREFILL, REPLICA_MIXED, REPLICA_DECODE };

struct replica {
    struct service *service;
    uint32_t number, place;     /* in service->replica; among the open ones, see least.c */
    enum serve_side side;       /* GPUs, or cores in their place */
    bool wanted, ready, draining;
    bool fresh;                 /* idle, and among those that start next */
    bool told_work;             /* the surroundings know that it works */
    struct replica *copied;     /* of a mass: its copy in the sample, and the other way */
    struct gang gang;           /* what it runs on; valid once `ready` */
    enum replica_does does;
    struct flight_queue queue;  /* in the order of arrival, see at_work */
    double *batch_s;            /* time of a pass, by number of requests */
    struct flight *batch;       /* SERVE_GENERATE: the batch */
    uint32_t at_work;           /* requests in the batch; for a pass they are
                                   the first of the queue */
    uint32_t admitted;          /* the last ones of the batch, whose prompts
                                   are not computed yet */
    uint32_t computed;          /* tokens computed of the first of those */
    uint32_t ends;              /* prompts that this iteration completes */
    uint32_t computed_then;     /* tokens computed of the next prompt then */
    uint32_t blocks_max, blocks;    /* of the KV cache, SERVE_BLOCK_TOKENS tokens each: that
                                       fit; in use */
    uint64_t freed, taken;      /* blocks: put behind the others that are free, and taken from
                                   the front of them, since it was ready; see blocks.c */
    uint32_t thrown;            /* waiting requests whose blocks may hold something */
    uint64_t load_tokens;       /* of all its requests */
    struct prefix_cache *cache; /* NULL: none */
    struct loop_handle event;   /* the end of what it `does`; none while idle */
    int64_t since_ns;           /* start of what it `does` */
    int64_t counted_ns;         /* up to when busy_s counts; a look of the autoscaler lies
                                   within what it does */
    uint32_t steps;             /* REPLICA_DECODE: steps until the event */
    double step_s, step_more_s; /* time of the first; increase per step */
    int64_t start_ns, ready_ns; /* asked for; began to take requests */
    double busy_s, busy_seen_s; /* at work since it was ready; of that, when last told */
    double able_per_s;          /* requests at most, of a mass; 0: not known yet */
};

/* A mass of requests that came evenly from one time to another. */
struct backlog_part {
    double from_s, until_s, requests;   /* seconds since the start; a mass is no whole number */
};

/* First come, first served: a ring of `room` parts, a power of two. */
struct backlog {
    struct backlog_part *part;  /* [room]; service_backlog_free() frees it */
    uint32_t head, count, room; /* head: index of the oldest part */
    double requests;            /* of all parts */
};

/* What a drawn request of a mass met, in seconds; tokens 0: a pass. */
struct mass_sample {
    double ttft_s, tpot_s, latency_s, tokens;
};

/* Requests that are counted and not simulated one by one: mass.c. */
struct service_mass {
    double prompt, output;      /* mean tokens */
    struct backlog backlog;     /* not served yet */
    double served, dropped;     /* in all */
    double per_s;               /* recent rate of service */
    double at_work;             /* requests in replicas that keep up */
    double every;               /* one of this number of requests is drawn */
    double due;                 /* fraction of a sample carried over; < 1 */
    double drop_due;            /* requests that the sample dropped, not counted yet */
    uint64_t samples, kept;     /* drawn and answered; of those, within the promises */
    double tokens;              /* of the samples */
    struct service *sampled;    /* passes: where they are simulated; else NULL */
    void (*run)(struct service *service, double per_s, uint64_t requests);  /* there */
    uint64_t early;             /* arrived, not dropped, in the warm-up */
};

struct service {
    struct service_parts parts; /* what service_new() was given */
    const struct service_spec *spec;    /* parts.spec, for short */
    struct replica **replica;   /* by number */
    uint32_t replicas, replica_room;    /* ever asked for: numbers are not used twice */
    uint32_t *live;             /* numbers of requested replicas, ascending */
    uint32_t lives, live_room;
    uint32_t *open;             /* of those, ready and not draining */
    uint32_t opens, open_room;
    uint32_t turn;              /* round robin: requests routed so far; may wrap around */
    uint64_t *least;            /* the tournament of loads; 0 leaves: none */
    uint32_t leaves, least_room;    /* leaves: a power of two, at least `opens` */
    bool closed;                /* its result is final */
    bool gathers;               /* requests are handed out, no replica starts yet */
    uint32_t *fresh;            /* numbers of the replicas that start after that */
    uint32_t freshes, fresh_room;
    struct rng rng;             /* the route SERVE_RANDOM, and samples of a mass */
    struct flight_queue backlog;        /* while no replica is open */
    int64_t expire_ns;          /* none that waits gives up before this */
    struct request next;        /* the one that arrives next */
    bool more;                  /* `next` is valid */
    uint64_t in_service;        /* waiting or at work */
    struct service_mass mass;   /* of use if spec->aggregate_ns is set */
    enum serve_side mode;       /* the side that serves */
    uint64_t seen;              /* requests since the last scaling */
    uint32_t *wish;             /* ring: replicas that were enough, by scaling
                                   interval */
    uint32_t wishes, wish_at;   /* slots of `wish`; intervals so far */
    /* Called when a replica has no request left. */
    void (*emptied)(struct service *service, struct replica *replica);
    int64_t first_ns, last_ns;  /* first measured arrival; last answer */
    struct service_result result;   /* counted as the run goes; final once `closed` */
};

static inline int64_t service_now(const struct service *service)
{
    return loop_now_ns(service->parts.loop);
}

/* note.c */
void service_note_done(struct service *service, const struct flight *flight);
void service_note_dropped(struct service *service);
/* The run ends before the request is answered. */
void service_note_left(struct service *service, const struct flight *flight);
/* True: the request has waited for longer than timeout_ns. */
bool service_gave_up(const struct service *service,
                     const struct flight *flight);
/* Adds the time that the replica worked, up to now. */
void service_note_busy(struct replica *replica);
/* Tells the surroundings if it began or ended to work; must follow each change of `does`. */
void service_note_work(struct replica *replica);

/* least.c.  _load: what a ready replica has to do: tokens, where they are known
 * and the route asks for them, else requests.  _note_load: its load may have changed;
 * must be called before the next request is routed.  _note_open: a replica opened or
 * closed.  _least: the open replica with the least load, the first of equals. */
uint64_t service_load(const struct replica *replica);
void service_note_load(struct replica *replica);
void service_note_open(struct service *service);
struct replica *service_least(struct service *service);

/* batch.c, generate.c.  _take: adds a request to the queue of a ready replica; an idle
 * one does not start.  _start: an idle replica with a queue begins.  _leave: moves all its
 * requests to `out`. */
void service_batch_take(struct replica *replica, const struct flight *flight);
void service_batch_start(struct replica *replica);
void service_batch_ready(struct replica *replica);
void service_generate_take(struct replica *replica,
                           const struct flight *flight);
void service_generate_start(struct replica *replica);
void service_generate_ready(struct replica *replica, double host_bytes);
void service_generate_leave(struct replica *replica,
                            struct flight_queue *out);

/* route.c: returns the replica for a request; NULL: none is open.  `request` is
 * NULL for a request that is routed again: its prefix is not known any more. */
struct replica *service_route(struct service *service,
                              const struct request *request);

/* deliver.c.  _begin_deliver, _end_deliver: stand about all calls of _deliver of one
 * instant; the second starts the replicas that were idle, and then drops what waits
 * beyond the limit of a queue.  _deliver: hands a request to a replica, or to the backlog
 * where none is open; `request` is NULL where it is sent on.  _generates: does the replica
 * generate tokens, or answer in passes? */
bool service_generates(const struct replica *replica);
void service_begin_deliver(struct service *service);
void service_deliver(struct service *service, struct flight *flight,
                     const struct request *request);
void service_end_deliver(struct service *service);

/* expire.c: drops all that have waited for longer than `timeout`.  To be called before
 * requests are handed out, replicas are counted, or the run ends. */
void service_drop_expired(struct service *service);

/* mass.c: starts the ticks that replace single arrivals. */
void service_mass_begin(struct service *service);
/* Counts what was answered, in tokens and within the promises, once the run is over. */
void service_mass_end(struct service *service);

/* backlog.c.  Times are seconds since the start. */
void service_backlog_add(struct backlog *backlog, double from_s, double until_s,
                         double requests);
/* Returns when the request came that has `ahead` requests before it. */
double service_backlog_came_s(const struct backlog *backlog, double ahead);
/* Takes those off that came first. */
void service_backlog_take(struct backlog *backlog, double requests);
/* Takes off those that came before a time; returns how many. */
double service_backlog_expire(struct backlog *backlog, double before_s);
/* Takes off the last ones, until `most` are left; returns how many. */
double service_backlog_cut(struct backlog *backlog, double most);
void service_backlog_free(struct backlog *backlog);

/* service.c: asks for a replica of a side, and returns it; takes no more requests to one,
 * which stops when those at work are answered. */
struct replica *service_add(struct service *service, enum serve_side side);
void service_drain(struct replica *replica);

/* scale.c: stores in want[] how many replicas of each side there should be. */
void service_scale_begin(struct service *service);
void service_scale_wish(struct service *service, uint32_t want[SERVE_SIDES]);

/* Was a promise kept?  0 promises nothing. */
static inline bool service_keeps(double seconds, int64_t promised_ns)
{
    assert(promised_ns >= 0);
    return promised_ns == 0 || seconds <= clock_s_from_ns(promised_ns);
}

#endif
