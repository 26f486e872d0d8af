/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * running.h - jobs that run, as an agent sees them, and what it may do to them.  Private
 * to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_RUNNING_H
#define EXPERIMENTS_ENV_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/env/plan.h"
#include "policies/policy.h"

struct arena;
struct tenants;

/* Rows of jobs, those that got GPUs first at the front. */
struct running {
    const struct plan *plan;
    struct cs_host *host;
    struct tenants *tenants;
    double gpus;                /* of the cluster */
    uint32_t rows;
    struct job_id *job;         /* [plan->shape.running_rows] */
    uint64_t *may;              /* bit 0: stop it; bit k: change it to plan->size[k] */
    float *number;              /* [RUNNING_FEATURES] of each row */
};

/* Memory comes from the arena; without rows (plan->shape.running_rows is 0), all
 * of this does nothing. */
void running_begin(struct running *running, const struct plan *plan, struct arena *arena,
                   struct cs_host *host, struct tenants *tenants, double gpus);
/* Looks anew while a decision is held; `waits`: something waits, for which a job may be
 * stopped.  False: nothing can be done to any of them. */
bool running_see(struct running *running, bool waits);
/* At the end of a trial: nothing runs. */
void running_end(struct running *running);
/* Writes the numbers, and a byte of the mask for each action. */
void running_write(const struct running *running, float *out, uint8_t *mask);
/* Stops the job of a row (end 0), or changes it to plan->size[end]. */
enum cs_verdict running_act(struct running *running, uint32_t row, uint32_t end);

#endif
