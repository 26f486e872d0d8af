/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service.h - a service in a trial: requests arrive, are routed to replicas,
 * wait in queues and are served in batches; replicas start and stop.
 *
 * Every request is simulated.  The service requests replicas through
 * service_ops; its caller tells it when a replica is ready and when it is lost.
 * It knows no policy.  If a replica is lost, its requests start again on
 * others.
 *
 * Replicas work in batches.  An encoder's pass starts when its batch is full,
 * or when the first request has waited for the batch delay.  Generation batches
 * continuously (Yu et al. 2022, Orca): a waiting prompt is admitted when the KV
 * cache has blocks for it; admitted prompts are computed first, then all
 * requests decode together.  When no blocks are left, the request that came
 * last is preempted and computed again later (Kwon et al. 2023).  All decode
 * steps between two changes of the batch are one event.
 */
#ifndef MODELS_SERVING_SERVICE_H
#define MODELS_SERVING_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/serving/request.h"
#include "models/serving/serve.h"
#include "sim/stats/tally.h"

struct arena;
struct gang;
struct loop;
struct service;

/* What a service asks of its surroundings; `self` is handed to each call. */
struct service_ops {
    /* Request a replica, or stop one.  The number of a replica is not used
     * twice.  `stop` and `busy` may be NULL. */
    void (*start)(void *self, uint32_t replica, enum serve_side side);
    void (*stop)(void *self, uint32_t replica);
    /* A replica works from now on for this share of time, 0 or 1 unless requests are a
     * mass, and did so for `mean` since it was ready. */
    void (*busy)(void *self, uint32_t replica, double share, double mean);
    void *self;
};

/* Requests that are counted and not simulated one by one. */
struct service_mass_source {
    /* Returns how many arrive from the last call until until_ns. */
    uint64_t (*count)(void *source, int64_t until_ns);
    /* Draws the lengths of one of them. */
    void (*draw)(void *source, struct request *out);
    int64_t until_ns;           /* the last arrival */
    double expected;            /* how many arrive until then, in the mean */
    double gap_cv;              /* spread of the gaps between them over their mean */
};

struct service_parts {
    struct arena *arena;        /* of the trial; the service lies in it */
    struct loop *loop;
    const struct service_spec *spec;    /* shared by all trials */
    const struct service_ops *ops;  /* called back; must outlive the service */
    request_next_fn *next;      /* gives the requests of `source` */
    void *source;
    uint64_t seed;              /* SERVE_RANDOM */
    int64_t warmup_ns;          /* requests before this are served, but not
                                   measured */
    const struct service_mass_source *mass;     /* if spec->aggregate_ns is
                                                   set; else NULL */
};

/* Returns a service in the arena of `parts`, which are copied; what they point to
 * must outlive it.  service_free() returns the memory of its queues. */
struct service *service_new(const struct service_parts *parts);
void service_free(struct service *service);             /* accepts NULL */
/* Requests as a mass that are answered in passes: a sample of them is simulated one by one.
 * To be called before service_begin(). */
void service_sample(struct service *service);
/* Schedules the first request and requests the first replicas.  To be called
 * once, at time 0. */
void service_begin(struct service *service);
/* A replica can work from now on.  host_bytes: memory of a replica on cores. */
void service_ready(struct service *service, uint32_t replica,
                   const struct gang *gang, double host_bytes);
/* A replica has lost its lease; ignored if it was stopped before. */
void service_lost(struct service *service, uint32_t replica);

struct service_side_result {
    double replica_s;           /* time from request to stop of all replicas */
    double busy_s;              /* of that, time at work */
    uint32_t most, starts;      /* replicas at one time; started in all */
};

/* requests = done + dropped + refused + unfinished. */
struct service_result {
    uint64_t requests, done, dropped, refused, unfinished;
    uint64_t rerouted, recomputed;  /* sent on from a lost replica; preempted for want of blocks */
    uint64_t measured;          /* requests that arrived after the warm-up */
    uint64_t answered;          /* of those */
    uint64_t in_slo;            /* of those, answered within all promises */
    uint64_t open;              /* measured, not answered at the end of the run, and not
                                   yet late; as a mass: 0 */
    double tokens;              /* generated for measured requests */
    double prompt_tokens;       /* of requests that a replica took on arrival */
    double known_tokens;        /* of those, found in its prefix cache */
    double span_s;              /* first measured arrival to the last answer */
    struct tally ttft, tpot, latency;           /* seconds */
    struct quantile *ttft_q, *tpot_q, *latency_q;   /* of the same, in the arena of the trial */
    struct service_side_result side[SERVE_SIDES];
};
/* Returns how many requests arrived plus how many were answered, so far. */
uint64_t service_traffic(const struct service *service);
/* Returns the result at the end of the run; it belongs to the service. */
const struct service_result *service_close(struct service *service);

#endif
