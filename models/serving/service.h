/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service.h - a service in a trial: requests come, are routed to replicas,
 * wait, are served in batches, and replicas come and go.
 *
 * Every request is simulated.  The service asks for replicas through ops and
 * is told when one can work, with what, and when it is lost; it knows no
 * policy.  A request whose replica is lost begins anew elsewhere.
 *
 * Replicas work in batches.  Passes of an encoder wait for a batch to fill or
 * for the first of it to have waited for the delay.  Generation batches
 * continuously (Yu et al. 2022, Orca): waiting prompts are admitted when the
 * KV cache has blocks for them and are computed first, then all decode
 * together; when blocks run out, the request that came last is thrown out and
 * computed again later (Kwon et al. 2023).  Between two changes of the batch
 * all decode steps are one event.
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

struct service_ops {
    /* A replica is wanted, or no longer; numbers are never used again.  Only
     * `start` must be there. */
    void (*start)(void *self, uint32_t replica, enum serve_side side);
    void (*stop)(void *self, uint32_t replica);
    /* Share of the time it was at work, of late and since it was ready. */
    void (*busy)(void *self, uint32_t replica, double recent, double mean);
    void *self;
};

/* Requests as a mass: how many came since the last question, and what one of
 * them is like (its lengths). */
struct service_mass_source {
    uint64_t (*count)(void *source, int64_t until_ns);
    void (*draw)(void *source, struct request *out);
    int64_t until_ns;           /* no more come after */
};

struct service_parts {
    struct arena *arena;
    struct loop *loop;
    const struct service_spec *spec;
    const struct service_ops *ops;
    request_next_fn *next;      /* of requests */
    void *source;
    uint64_t seed;              /* SERVE_RANDOM */
    int64_t warmup_ns;          /* what arrives before it is served, and not
                                   measured */
    const struct service_mass_source *mass;     /* where spec->aggregate_ns is
                                   set; else NULL */
};

struct service *service_new(const struct service_parts *parts);
void service_free(struct service *service);             /* accepts NULL */
/* Schedules the first request and the first replicas; once, at time 0. */
void service_begin(struct service *service);
/* host_bytes: memory of a replica on cores. */
void service_ready(struct service *service, uint32_t replica,
                   const struct gang *gang, double host_bytes);
/* Nothing happens where the replica is not there or was stopped. */
void service_lost(struct service *service, uint32_t replica);

struct service_side_result {
    double replica_s;           /* held by replicas that were wanted */
    double busy_s;              /* at work */
    uint32_t most, starts;
};

/* requests = done + dropped + refused + unfinished. */
struct service_result {
    uint64_t requests, done, dropped, refused, unfinished;
    uint64_t rerouted, recomputed;
    uint64_t measured;          /* requests that came after the warm-up */
    uint64_t answered;          /* of them */
    uint64_t in_slo;            /* of them, answered as promised */
    double tokens;              /* generated for those measured */
    double prompt_tokens;       /* of all that came to a replica at once */
    double known_tokens;        /* of those, that it had computed before */
    double span_s;              /* from the first of them to the last answer */
    struct tally ttft, tpot, latency;           /* seconds */
    struct quantile *ttft_q, *tpot_q, *latency_q;
    struct service_side_result side[SERVE_SIDES];
};
/* Requests that came and requests that were answered, so far. */
uint64_t service_traffic(const struct service *service);
/* At the end of the run. */
const struct service_result *service_close(struct service *service);

#endif
