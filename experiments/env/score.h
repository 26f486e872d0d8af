/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.h - the potentials of rewards.def, of one trial.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_SCORE_H
#define EXPERIMENTS_ENV_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/env/plan.h"

struct trial;

__extension__ typedef __int128 score_ns;        /* jobs x nanoseconds */

struct score {
    const struct cs_host *host;
    score_ns system_area, waiting_area;   /* jobs x ns, up to `last_ns` */
    /* The last fact; the first submission (CLOCK_NEVER_NS: none yet); the last job that
     * was done, until then the first submission. */
    int64_t last_ns, first_submit_ns, last_done_ns;
    uint32_t in_system, waiting;        /* jobs */
};

/* Listens to a trial that has not begun to run. */
void score_begin(struct score *score, const struct trial *trial);
/* Returns the potential now, in seconds, at most 0.  over: the run has ended. */
double score_now(const struct score *score, enum reward reward, bool over);

#endif
