/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.c - a list of samples: what had arrived, and what was allocated then.
 *
 * A sample is taken when an instant is over in which jobs arrived.  On 8 GPUs,
 * jobs that ask for 3, 3 and 2 GPUs make the samples 38%, 75% and 100%; each
 * holds the part of the GPUs that was under lease after the jobs of its instant
 * were placed or dropped.
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

/* What was under lease when the jobs so far had asked for `percent` of all
 * GPUs, rounded to a whole number. */
struct sample {
    int percent;
    double allocated;           /* of all GPUs */
};

/* The samples of a trial, in the order of time, so that `percent` rises. */
struct arrivals {
    struct arena *arena;
    double all_gpus, asked_gpus; /* asked_gpus: by all jobs so far */
    bool due;                   /* one came at this instant */
    struct sample *sample;      /* [count] */
    uint32_t count, room;
};

/* Only policies that drop a job that does not fit are measured so: `blocking:
 * drop`. */
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

/* Adds what a job asks for.  The sample is taken later, when its instant is
 * over. */
void arrivals_job(struct arrivals *arrivals, const struct job_request *request)
{
    for (uint32_t r = 0; arrivals != NULL && r < request->form->role_count; r++) {
        arrivals->asked_gpus += job_role_amount(request, r);
        arrivals->due = true;
    }
}

/* Several jobs of one instant make one sample. */
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

/* Returns the mean of what was under lease over all samples from `least` to
 * `most` percent.  NAN: there are none. */
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

/* Where no sample is at 100%, those at 99% and 101% stand for it. */
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
