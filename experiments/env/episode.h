/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * episode.h - one trial, from decision to decision.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_EPISODE_H
#define EXPERIMENTS_ENV_EPISODE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/env/look.h"
#include "experiments/env/score.h"
#include "experiments/run/trial.h"
#include "policies/policy.h"

struct plan;

/* Where what is seen is written. */
struct episode_view {
    float *observation;
    uint8_t *mask;
};

struct episode {
    const struct plan *plan;
    struct trial_spec spec;
    struct trial_tables tables;
    struct trial *trial;        /* NULL: none goes on */
    struct look look;
    struct score score;
    uint64_t seed, steps;
    double earned, paid;        /* the score now, and at the last step */
    bool begun, over, truncated;
    bool done;                  /* the result is that of a trial that ended well */
    struct trial_result result;
};

/* Drops the trial that went on, if any, begins the one that the seed names, and
 * runs it to its first choice, or to its end if there is none.  The result of the
 * last episode that ended stays readable.  False: err says why. */
bool episode_begin(struct episode *episode, const struct plan *plan, uint64_t seed,
                   const struct episode_view *view, struct err *err);
/* Frees the trial that goes on; none: does nothing. */
void episode_drop(struct episode *episode);
/* Has it ended before its first choice, and no step has told so? */
bool episode_waits(const struct episode *episode);
/* Carries out an action, below shape.actions, and runs to the next choice.
 * *verdict: the host's, CS_DONE for a wait.  False: the trial failed, and err says
 * why. */
bool episode_act(struct episode *episode, uint32_t action, const struct episode_view *view,
                 enum cs_verdict *verdict, struct err *err);
/* Returns what was earned since this was asked last, in seconds. */
double episode_pay(struct episode *episode);

#endif
