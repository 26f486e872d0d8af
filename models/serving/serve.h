/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.h - the specification of a service: how replicas work, how requests are
 * routed, which latencies are promised, and when replicas are added.  It does
 * not change after reading; trials share it.
 *
 * A replica is a job (with a form of its own).  So any policy can place, refuse
 * or stop it, it loads its weights over the links of the cluster, and its cost
 * is accounted as for any lease.
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
    SERVE_ENCODE,               /* one forward pass of an encoder or a net */
    SERVE_FIXED                 /* stated seconds per batch and per request */
};

struct serve_law {
    enum serve_law_kind kind;
    const struct llm *llm;      /* what it serves; NULL: `net`, or SERVE_FIXED */
    const struct net *net;      /* SERVE_ENCODE of a net; else NULL */
    enum precision precision;   /* of weights and activations */
    uint32_t tp;                /* GPUs of a replica */
    double prompt_tokens;       /* SERVE_ENCODE: of every request */
    double batch_s, request_s;  /* SERVE_FIXED */
    double kv_tokens;           /* SERVE_GENERATE: room of the KV cache of a replica on GPUs,
                                   as its engine reports it; 0: by the memory law */
    bool ahead;                 /* SERVE_GENERATE: its host works ahead of the GPU, see decode.h */
};

/* Which replica gets a request. */
enum serve_route {
    SERVE_ROUND_ROBIN, SERVE_RANDOM, SERVE_SHORTEST_QUEUE,
    SERVE_LEAST_LOADED,
    SERVE_PREFIX                /* to a replica that has the prompt's prefix */
};

enum serve_signal {             /* what decides the number of replicas */
    SERVE_CONCURRENCY,          /* requests in the service, per replica */
    SERVE_RATE,                 /* requests per second and replica */
    SERVE_UTILIZATION           /* share of time in which a replica works */
};

/* When replicas are started and stopped; the target is in the signal's own
 * unit. */
struct serve_scaling {
    enum serve_signal signal;   /* what is compared with `target` */
    double target;
    int64_t interval_ns;        /* between two looks */
    int64_t down_ns;            /* replicas stop after fewer were enough for
                                   this long */
};

struct serve_side_spec {
    const struct job_form *form;        /* NULL: the service has no such side */
    struct serve_law law;
    uint32_t min, max;          /* replicas */
};

struct service_spec {
    const char *name;           /* as results call it */
    const char *tenant;         /* NULL: none */
    int32_t priority;           /* of its replicas */
    struct serve_side_spec side[SERVE_SIDES];
    enum serve_route route;     /* which replica gets a request */
    uint32_t batch_max;         /* most requests in a replica's batch */
    int64_t batch_delay_ns;     /* longest wait of a batch to fill; 0: none */
    uint32_t chunk_tokens;      /* prompt tokens per iteration, beside decoding;
                                   0: prompts are computed whole, and decoding
                                   waits */
    uint32_t queue_max;         /* longest queue of a replica; 0: no limit */
    int64_t timeout_ns;         /* a request that waits longer is dropped; 0:
                                   never */
    int64_t ttft_ns, tpot_ns, latency_ns;       /* promised; 0: no promise */
    struct serve_scaling scaling;
    double cpu_below_per_s;     /* with both sides: rate below which CPU
                                   replicas serve */
    double gpu_above_per_s;     /* ... and above which GPU replicas serve */
    double cache_share;         /* of the KV cache, kept for prefixes */
    int64_t aggregate_ns;       /* tick in which requests are counted as a mass;
                                   0: each request is simulated */
    bool one_step;              /* every decode step is an event */
};

/* Functions ending in _s return seconds. */

/* Time of a batch; not for SERVE_GENERATE. */
double serve_batch_s(const struct serve_law *law, const struct gang *gang,
                     uint32_t requests);
/* SERVE_GENERATE: time of computing `prompts` prompts together, and of one
 * decode step of a batch with that mean context. */
double serve_prefill_s(const struct serve_law *law, const struct gang *gang,
                       double prompts, double prompt_tokens);
double serve_step_s(const struct serve_law *law, const struct gang *gang,
                    double batch, double context_tokens);
/* Time of an iteration that computes chunk_tokens tokens of prompts, each
 * prompt_tokens long, and one decode step of `batch` responses (0: none). */
double serve_mixed_s(const struct serve_law *law, const struct gang *gang,
                     double batch, double context_tokens,
                     double chunk_tokens, double prompt_tokens);

/* Returns how many blocks of SERVE_BLOCK_TOKENS a replica's KV cache has (Kwon
 * et al. 2023, PagedAttention).  host_bytes: host memory of a replica on
 * cores. */
#define SERVE_BLOCK_TOKENS 16u
double serve_blocks_max(const struct serve_law *law, const struct gang *gang,
                        double host_bytes);
/* Returns the blocks that a context of `tokens` takes, the last one perhaps partly.  A block has
 * the tokens of all layers; where some keep a window alone, a context takes fewer blocks. */
uint32_t serve_blocks(const struct serve_law *law, uint32_t tokens);

#endif
