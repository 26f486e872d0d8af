/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.c - time integrals, whole nanoseconds all of them: what an episode's
 * rewards sum to is exact up to one rounding a step.
 *
 * The integral of the number of jobs in the system over time is the sum of
 * completion times (as in Little's law), so a potential of minus that integral
 * makes rewards sum to minus the total JCT, without waiting for jobs to end;
 * likewise for the jobs that wait.
 */
#include "experiments/env/score.h"

#include <assert.h>

#include "experiments/run/trial.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"

/* Adds the time since the last fact to the integrals. 128 bits: 10^9 ns/s x 10^9 s
 * x 10^6 jobs are beyond 64. */
static void pass_time(struct score *score, int64_t now_ns)
{
    score_ns passed = now_ns - score->last_ns;

    assert(passed >= 0 && score->waiting <= score->in_system);
    score->system_area += passed * score->in_system;
    score->waiting_area += passed * score->waiting;
    score->last_ns = now_ns;
}

/* Did the job start before?  One that did not was waiting until its end. */
static bool has_started(const struct score *score, struct job_id job)
{
    return host_job(score->host, job)->start_ns != CLOCK_NEVER_NS;
}

/* A fact on a job.  Replicas of services are no jobs of a user, and are left out. */
static void hear_fact(void *self, const struct fact *fact)
{
    struct score *score = self;
    struct job_id job = { fact->subject };

    if (cs_serves(score->host, job))
        return;
    pass_time(score, fact->time_ns);
    switch (fact->kind) {
    case FACT_JOB_SUBMIT:
        if (score->first_submit_ns == CLOCK_NEVER_NS)
            score->first_submit_ns = score->last_done_ns = fact->time_ns;
        score->in_system++;
        score->waiting++;
        break;
    case FACT_JOB_START:
        score->waiting--;
        break;
    default:
        score->in_system--;
        score->waiting -= !has_started(score, job);
        if (fact->object == JOB_DONE)
            score->last_done_ns = fact->time_ns;
        break;
    }
}

void score_begin(struct score *score, const struct trial *trial)
{
    *score = (struct score){ .host = trial_host(trial), .first_submit_ns = CLOCK_NEVER_NS };
    journal_listen(trial_journal(trial),
                   UINT64_C(1) << FACT_JOB_SUBMIT | UINT64_C(1) << FACT_JOB_START |
                       UINT64_C(1) << FACT_JOB_END, hear_fact, score);
}

static double to_seconds(score_ns ns)
{
    return (double)ns / (double)CLOCK_NS_PER_S;
}

/* The makespan counts from the first submission to now, and at the end to the last
 * job that was done. */
double score_now(const struct score *score, enum reward reward, bool over)
{
    score_ns now_ns = cs_now_ns(score->host), passed = now_ns - score->last_ns;

    assert(reward < REWARD_COUNT);
    switch (reward) {
    case REWARD_JCT:
        return -to_seconds(score->system_area + passed * score->in_system);
    case REWARD_WAIT:
        return -to_seconds(score->waiting_area + passed * score->waiting);
    default:
        if (score->first_submit_ns == CLOCK_NEVER_NS)
            return 0;
        return -to_seconds((over ? score->last_done_ns : now_ns) - score->first_submit_ns);
    }
}
