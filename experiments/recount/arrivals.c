/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.c - a list of samples: what had arrived, and what was allocated then.
 */
#include "experiments/recount/arrivals.h"

#include <assert.h>
#include <math.h>

#include "experiments/recount/judge.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"

#define PERCENT_MAX 1000        /* of later arrivals nothing is said */

struct sample {
    int percent;
    double allocated;           /* of all GPUs */
};

struct arrivals {
    struct arena *arena;
    double all_gpus, asked_gpus;
    bool due;                   /* one came at this instant */
    struct sample *sample;
    uint32_t count, room;
};

struct arrivals *arrivals_new(struct arena *arena, const struct trial_spec *spec)
{
    struct arrivals *arrivals;

    if (spec->policy->rules.blocking != HOST_DROP || spec->cluster->gpu_count == 0)
        return NULL;
    arrivals = arena_alloc(arena, 1, sizeof *arrivals);
    arrivals->arena = arena;
    arrivals->all_gpus = spec->cluster->gpu_count;
    return arrivals;
}

void arrivals_job(struct arrivals *arrivals, const struct job_request *request)
{
    for (uint32_t r = 0; arrivals != NULL && r < request->form->role_count; r++) {
        arrivals->asked_gpus += job_role_amount(request, r);
        arrivals->due = true;
    }
}

void arrivals_over(struct arrivals *arrivals, int64_t held_milli)
{
    double percent;

    if (arrivals == NULL || !arrivals->due)
        return;
    arrivals->due = false;
    percent = round(100 * arrivals->asked_gpus / arrivals->all_gpus);
    if (percent <= PERCENT_MAX)
        ARENA_ADD(arrivals->arena, arrivals->sample, arrivals->count, arrivals->room,
                  (struct sample){ (int)percent,
                                   (double)held_milli / 1000 / arrivals->all_gpus });
}

/* Mean over the samples of some percents; NAN: there are none. */
static double mean_of(const struct arrivals *arrivals, int least, int most)
{
    double sum = 0, count = 0;

    for (uint32_t i = 0; i < arrivals->count; i++)
        if (arrivals->sample[i].percent >= least && arrivals->sample[i].percent <= most) {
            sum += arrivals->sample[i].allocated;
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

void arrivals_judge(const struct arrivals *arrivals, struct judge *judge)
{
    double at, last;

    assert(judge != NULL);
    if (arrivals == NULL || arrivals->count == 0) {
        judge_metric(judge, METRIC_AT_100, NAN, 0);
        judge_metric(judge, METRIC_AT_LAST, NAN, 0);
        return;
    }
    at = mean_of(arrivals, 100, 100);
    last = arrivals->sample[arrivals->count - 1].percent;
    judge_metric(judge, METRIC_AT_100, isnan(at) ? mean_of(arrivals, 99, 101) : at, 0);
    judge_metric(judge, METRIC_AT_LAST, mean_of(arrivals, (int)last, (int)last), 0);
}
