/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_times.c - sums, digests and quantiles of the times of jobs.
 */
#include "experiments/measure/job_times.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/trial_spec.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/stats/shape.h"
#include "sim/stats/tally.h"

#define BOUND_S 10.0            /* of the bounded slowdown, Feitelson 2001 */

/* Exact sums: a mean must not depend on the order of its addends. */
__extension__ typedef __int128 wide_ns;

/* Sums and digests over jobs that count, of those done unless it says
 * otherwise. */
struct job_times {
    const struct trial_spec *spec;
    wide_ns jct_sum, wait_sum;  /* in ns */
    wide_ns lost_sum;           /* up to `until`, of jobs that were not done */
    struct tally slowdown, bounded;         /* JCT over the run time; over BOUND_S, if
                                               that is more */
    struct shape run_time;      /* alone, of jobs done */
    struct quantile *jct_q, *wait_q;        /* digests: quantiles of any number of jobs */
    uint64_t jobs, done, failed, steps, deadlines, in_time;
    int64_t first_submit_ns, last_end_ns;   /* of jobs that count */
};

struct job_times *job_times_new(struct arena *arena, const struct trial_spec *spec)
{
    struct job_times *times = arena_alloc(arena, 1, sizeof *times);

    times->spec = spec;
    times->jct_q = quantile_new(arena);
    times->wait_q = quantile_new(arena);
    times->first_submit_ns = CLOCK_NEVER_NS;
    return times;
}

void job_times_submitted(struct job_times *times, int64_t now)
{
    if (now < times->first_submit_ns)
        times->first_submit_ns = now;
    times->jobs++;
}

/* Returns the larger of two numbers that are not NAN; fmax() would be a call. */
static double most(double a, double b)
{
    return a > b ? a : b;
}

/* A job that is not done adds the time up to the horizon to the restricted
 * mean.  One that was cut off before its deadline counts neither as late nor as
 * in time. */
void job_times_ended(struct job_times *times, const struct host_job *job,
                     enum job_status status, int64_t now)
{
    int64_t submit = job->request.submit_ns;

    if (status == JOB_DONE && now > times->last_end_ns)
        times->last_end_ns = now;
    times->steps += job_steps_done(job->request.form, job->step);
    if (job->request.deadline_ns != CLOCK_NEVER_NS && job->request.deadline_ns != 0 &&
        (status != JOB_UNFINISHED || now >= job->request.deadline_ns)) {
        times->deadlines++;
        times->in_time += status == JOB_DONE && now <= job->request.deadline_ns;
    }
    times->failed += status == JOB_FAILED;
    if (status != JOB_DONE) {
        times->lost_sum += (wide_ns)times->spec->until_ns - submit;
        return;
    }
    double jct = clock_s_from_ns(now - submit);
    double wait = clock_s_from_ns(job->start_ns - submit);
    times->done++;
    times->jct_sum += (wide_ns)(now - submit);
    times->wait_sum += (wide_ns)(job->start_ns - submit);
    quantile_add(times->jct_q, jct);
    quantile_add(times->wait_q, wait);
    if (job->ideal_s > 0) {
        tally_add(&times->slowdown, jct / job->ideal_s);
        shape_add(&times->run_time, job->ideal_s);
    }
    tally_add(&times->bounded, most(1, jct / most(BOUND_S, job->ideal_s)));
}

uint64_t job_times_done(const struct job_times *times)
{
    return times->done;
}

/* Returns the mean of `count` times, in seconds, from their exact sum in ns: the
 * same for any order of the addends. */
static double mean_s(wide_ns sum, uint64_t count)
{
    if (count == 0)
        return 0;
    wide_ns whole = sum / (wide_ns)count, rest = sum % (wide_ns)count;
    return ((double)whole + (double)rest / (double)count) / 1e9;
}

/* Jain's index of the samples: (sum)^2 / (n x sum of squares). */
static double jain_of(const struct tally *tally)
{
    double square = tally->mean * tally->mean;

    if (tally->count == 0 || !(square > 0))
        return NAN;
    return square / (square + tally->square_sum / (double)tally->count);
}

/* Returns the mean over jobs of which some may not be done.  A run that should have
 * drained and did not has none: nothing says how long its jobs would have taken. */
static double restricted_mean(const struct job_times *times)
{
    bool drained = times->spec->until_ns == CLOCK_NEVER_NS;
    wide_ns sum = times->jct_sum + times->lost_sum;

    return times->jobs == 0 || (drained && times->done < times->jobs)
               ? NAN : mean_s(sum, times->jobs);
}

/* Sets the metrics of jobs.  Means over no job are NAN.  Where no job had a deadline, all
 * deadlines count as met. */
void job_times_result(struct job_times *times, double *value)
{
    value[METRIC_JOBS] = (double)times->jobs;
    value[METRIC_JOBS_DONE] = (double)times->done;
    value[METRIC_JOBS_FAILED] = (double)times->failed;
    if (times->last_end_ns > 0)
        value[METRIC_MAKESPAN] =
            clock_s_from_ns(times->last_end_ns - times->first_submit_ns);
    value[METRIC_JCT_MEAN] = mean_s(times->jct_sum, times->done);
    value[METRIC_JCT_P50] = quantile_at(times->jct_q, 0.5);
    value[METRIC_JCT_P95] = quantile_at(times->jct_q, 0.95);
    value[METRIC_JCT_P99] = quantile_at(times->jct_q, 0.99);
    value[METRIC_WAIT_MEAN] = mean_s(times->wait_sum, times->done);
    value[METRIC_WAIT_P99] = quantile_at(times->wait_q, 0.99);
    value[METRIC_SLOWDOWN] = times->slowdown.mean;
    value[METRIC_BOUNDED_SLOWDOWN] = times->bounded.mean;
    value[METRIC_SLOWDOWN_JAIN] = jain_of(&times->slowdown);
    value[METRIC_RUN_TIME_CV] = shape_cv(&times->run_time);
    value[METRIC_RUN_TIME_SKEWNESS] = shape_skewness(&times->run_time);
    value[METRIC_SLO] =
        times->deadlines ? (double)times->in_time / (double)times->deadlines : 1;
    value[METRIC_SLO_COUNT] = (double)times->deadlines;
    value[METRIC_STEPS_DONE] = (double)times->steps;
    value[METRIC_JCT_RESTRICTED] = restricted_mean(times);
}
