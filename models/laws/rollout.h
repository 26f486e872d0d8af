/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout.h - a rollout: responses on all replicas of a gang, and the long tail
 * of their lengths.
 *
 * Response lengths are lognormal, cut at the maximum, and a rollout ends when
 * its longest response ends: first slots are refilled, then the batch drains
 * and each step (decode.h) serves fewer responses.
 *
 * With part_tokens a rollout takes responses up in the middle (partial rollout,
 * Kimi k1.5, arXiv 2501.12599): in the steady state it works on the parts of
 * all responses that are under way, each part a slot; prompt and earlier parts
 * are computed again first, because weights have changed.
 *
 * A plan is made once per shape and gang (microseconds); a draw costs a few
 * table look-ups.  u in [0,1) sets the longest of n responses to the quantile
 * u^(1/n), so equal u give comparable rollouts under every policy.
 */
#ifndef MODELS_LAWS_ROLLOUT_H
#define MODELS_LAWS_ROLLOUT_H

#include <stdint.h>

#include "models/types/precision.h"
#include "models/laws/rollout_lengths.h"

struct gang;
struct llm;

struct rollout_shape {
    const struct llm *llm;
    enum precision precision;
    uint32_t tp;
    double responses;           /* of the whole rollout, all replicas */
    double responses_per_prompt;    /* share one prefill; at least 1 */
    double prompt_tokens;
    double response_mean_tokens;    /* before the cut at the maximum */
    double response_cv;
    double response_max_tokens;
    double concurrency_max;     /* per replica; 0: what memory holds */
    double part_tokens;         /* of a response in one rollout at most: the
                                   rest follows in the next; 0: all */
    double reserved_bytes;      /* of each GPU, kept for others */
};

struct rollout_time {
    double total_s;
    double prefill_s, decode_s;
    double tail_s;              /* from 90% of the responses done to the end */
    double tail_idle_fraction;  /* idle share of batch slots over the whole */
    double tokens;              /* generated */
    double longest_tokens;
    double busy_fraction;       /* mean GPU load as power sees it */
};

#define ROLLOUT_GRID 64
#define ROLLOUT_FINISH_GRID 128

/* Row i of each array belongs to x_i tokens after the drain began. */
struct rollout_plan {
    uint32_t replicas;
    double slots;               /* responses in flight, all replicas */
    double responses;           /* or parts of them */
    struct rollout_lengths lengths;
    double mean_tokens;         /* after the cut, of a part */
    double tokens;
    double prefill_s;
    double steady_s;            /* decoding while slots are refilled */
    double tail_from_s;         /* drain time at 90% done; < 0: earlier */
    double load;                /* of a decoding GPU, as power sees it */
    double x_tokens[ROLLOUT_GRID + 1];
    double fresh[ROLLOUT_GRID + 1];     /* share of lengths above x */
    double alive[ROLLOUT_GRID + 1];     /* share of slots still at work */
    double drain_s[ROLLOUT_GRID + 1];   /* time gone by */
    double slot_s[ROLLOUT_GRID + 1];    /* busy seconds of a mean slot */
    double replica_s[ROLLOUT_GRID + 1]; /* busy seconds of a mean replica */
    /* Drain times, evenly from the first by the second: P(all are done). */
    double finish_from_s, finish_to_s;
    double finish[ROLLOUT_FINISH_GRID + 1];
};

/* The gang must hold at least tp GPUs. */
void rollout_plan_init(struct rollout_plan *plan,
                       const struct rollout_shape *shape,
                       const struct gang *gang);
struct rollout_time rollout_draw(const struct rollout_plan *plan, double u);
/* What is left of a rollout after so many seconds if the responses that are
 * done are kept: those that are not, begun anew.  Their lengths are what those
 * of the whole are beyond the one that was reached. */
struct rollout_shape rollout_rest(const struct rollout_shape *shape,
                                  const struct gang *gang, double at_s);
/* Both at once. */
struct rollout_time rollout_time(const struct rollout_shape *shape,
                                 const struct gang *gang, double u);

#endif
