/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout.h - a rollout: the time of many responses on all replicas of a gang,
 * with the long tail of their lengths.
 *
 * Response lengths are lognormal, cut at the maximum.  A rollout ends when its
 * longest response ends: while prompts wait, slots are refilled; then the batch
 * drains, and each step (decode.h) serves fewer responses.
 *
 * With part_tokens a response is made in parts over several rollouts (partial
 * rollout, Kimi k1.5, arXiv 2501.12599).  In the steady state a rollout works
 * on one part of every unfinished response, each in a slot.  The prompt and the
 * earlier parts are computed again first, because the weights have changed.
 *
 * A plan is made once per shape and gang (microseconds); a draw costs a few
 * table look-ups.  u in [0,1) sets the longest of n responses to the quantile
 * u^(1/n), so that equal u give comparable rollouts under every policy.
 */
#ifndef MODELS_LAWS_ROLLOUT_H
#define MODELS_LAWS_ROLLOUT_H

#include <stdint.h>

#include "models/laws/rollout_lengths.h"
#include "models/types/precision.h"

struct gang;
struct llm;

struct rollout_shape {
    const struct llm *llm;
    enum precision precision;
    uint32_t tp;
    double responses;           /* of the whole rollout, all replicas */
    double responses_per_prompt;    /* they share one prefill; at least 1 */
    double prompt_tokens;
    double response_mean_tokens;    /* before the cut at the maximum */
    double response_cv;         /* coefficient of variation of the length */
    double response_max_tokens;
    double concurrency_max;     /* per replica; 0: as many as memory holds */
    double part_tokens;         /* most tokens of a response in one rollout, the
                                   rest follows in the next; 0: no limit */
    double reserved_bytes;      /* of each GPU; not available to the rollout */
    double host_bytes;          /* on cores: of the engine, weights and cache */
};

struct rollout_time {
    double total_s;
    double prefill_s, decode_s; /* parts of total_s */
    double tail_s;              /* from 90% of the responses done to the end */
    double tail_idle_fraction;  /* idle share of all slots' time */
    double tokens;              /* generated */
    double longest_tokens;
    double busy_fraction;       /* mean GPU load, for power.h */
};

#define ROLLOUT_GRID 64
#define ROLLOUT_FINISH_GRID 128

/* Row i of each array is the state x_tokens[i] tokens after the drain began. */
struct rollout_plan {
    uint32_t replicas;
    double slots;               /* responses in flight, all replicas */
    double responses;           /* or parts of responses */
    struct rollout_lengths lengths;
    double mean_tokens;         /* after the cut, of a part */
    double tokens;
    double prefill_s;
    double steady_s;            /* decoding while slots are refilled */
    double tail_from_s;         /* drain time at which 90% are done; < 0: before
                                   the drain */
    double load;                /* of a decoding GPU, for power.h */
    double x_tokens[ROLLOUT_GRID + 1];
    double fresh[ROLLOUT_GRID + 1];     /* share of lengths above x */
    double alive[ROLLOUT_GRID + 1];     /* share of slots still at work */
    double drain_s[ROLLOUT_GRID + 1];   /* time since the drain began */
    double slot_s[ROLLOUT_GRID + 1];    /* busy seconds of a mean slot */
    double replica_s[ROLLOUT_GRID + 1]; /* busy seconds of a mean replica */
    /* P(all responses are done), at evenly spaced drain times. */
    double finish_from_s, finish_to_s;
    double finish[ROLLOUT_FINISH_GRID + 1];
};

/* Fills *plan.  The gang must have at least tp GPUs. */
void rollout_plan_init(struct rollout_plan *plan,
                       const struct rollout_shape *shape,
                       const struct gang *gang);
/* Returns the rollout whose longest response has quantile u. */
struct rollout_time rollout_draw(const struct rollout_plan *plan, double u);
/* Returns what is left of a rollout that stops after at_s seconds and keeps its
 * finished responses: a rollout of the unfinished ones from their begin.  Their
 * lengths have the distribution of the whole, given that they are longer than
 * what was reached. */
struct rollout_shape rollout_rest(const struct rollout_shape *shape,
                                  const struct gang *gang, double at_s);
/* Returns the mean tokens of a whole response, cut at the maximum. */
double rollout_response_tokens(const struct rollout_shape *shape);
/* Returns rollout_draw() of rollout_plan_init(). */
struct rollout_time rollout_time(const struct rollout_shape *shape,
                                 const struct gang *gang, double u);

#endif
