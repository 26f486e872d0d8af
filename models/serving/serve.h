/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.h - what a service is: how its replicas work, who gets a request, what
 * is promised, and when replicas are added.  Read-only, shared by trials.
 *
 * A replica is a job of its own (form below), so that any policy places,
 * refuses or stops it, it loads its weights over the links there are, and what
 * it costs is accounted as for any lease.
 */
#ifndef MODELS_SERVING_SERVE_H
#define MODELS_SERVING_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/precision.h"

struct gang;
struct job_form;
struct llm;
struct net;

enum serve_side { SERVE_GPU, SERVE_CPU, SERVE_SIDES };

enum serve_law_kind {
    SERVE_GENERATE,             /* prefill and decode, models/laws/decode.h */
    SERVE_ENCODE,               /* one forward pass: an encoder's, a net's */
    SERVE_FIXED                 /* seconds of a batch and of each request */
};

struct serve_law {
    enum serve_law_kind kind;
    const struct llm *llm;
    const struct net *net;      /* SERVE_ENCODE of no transformer, or NULL */
    enum precision precision;
    uint32_t tp;
    double prompt_tokens;       /* SERVE_ENCODE: of every request */
    double batch_s, request_s;  /* SERVE_FIXED */
};

enum serve_route {
    SERVE_ROUND_ROBIN, SERVE_RANDOM, SERVE_SHORTEST_QUEUE,
    SERVE_LEAST_LOADED,
    SERVE_PREFIX                /* where the beginning of the prompt is known */
};

enum serve_signal {             /* what replicas are counted by */
    SERVE_CONCURRENCY,          /* requests in the service, per replica */
    SERVE_RATE,                 /* requests per second and replica */
    SERVE_UTILIZATION           /* share of the time a replica is at work */
};

struct serve_scaling {
    enum serve_signal signal;
    double target;
    int64_t interval_ns;
    int64_t down_ns;            /* replicas go when fewer were enough so long */
};

struct serve_side_spec {
    const struct job_form *form;        /* NULL: the service has no such side */
    struct serve_law law;
    uint32_t min, max;          /* replicas */
};

struct service_spec {
    const char *name;
    const char *tenant;         /* NULL: none */
    int32_t priority;           /* of its replicas */
    struct serve_side_spec side[SERVE_SIDES];
    enum serve_route route;
    uint32_t batch_max;         /* requests at work in a replica */
    int64_t batch_delay_ns;     /* how long a batch waits to fill up; 0: not */
    uint32_t chunk_tokens;      /* of prompts, beside decoding; 0: prompts are
                                   computed whole, before decoding goes on */
    uint32_t queue_max;         /* waiting in a replica; 0: no limit */
    int64_t timeout_ns;         /* waiting so long, a request goes; 0: never */
    int64_t ttft_ns, tpot_ns, latency_ns;       /* promised; 0: not */
    struct serve_scaling scaling;
    double cpu_below_per_s;     /* both sides: the CPU one below this rate */
    double gpu_above_per_s;     /* ... and the GPU one above this */
    double cache_share;         /* of the KV cache, for beginnings of prompts */
    int64_t aggregate_ns;       /* requests as a mass, in ticks so long; 0:
                                   one by one */
    bool one_step;              /* every decode step is an event */
};

/* Seconds of a batch; SERVE_GENERATE has none. */
double serve_batch_s(const struct serve_law *law, const struct gang *gang,
                     uint32_t requests);
/* SERVE_GENERATE: of prompts together, and of a step of the batch. */
double serve_prefill_s(const struct serve_law *law, const struct gang *gang,
                       double prompts, double prompt_tokens);
double serve_step_s(const struct serve_law *law, const struct gang *gang,
                    double batch, double context_tokens);
/* Of an iteration that computes so many tokens of prompts of that length
 * beside a decoding batch (0: none). */
double serve_mixed_s(const struct serve_law *law, const struct gang *gang,
                     double batch, double context_tokens,
                     double chunk_tokens, double prompt_tokens);

/* Blocks of SERVE_BLOCK_TOKENS of KV cache that a replica holds (Kwon et al.
 * 2023, PagedAttention); host_bytes: of a replica on cores. */
#define SERVE_BLOCK_TOKENS 16u
double serve_blocks_max(const struct serve_law *law, const struct gang *gang,
                        double host_bytes);

#endif
