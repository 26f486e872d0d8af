/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal_steps.c - the next step of a job in a deal, asked for once of jobs that are alike.
 */
#include "policies/policy.h"
#include "policies/solve/deal.h"
#include "policies/solve/step_class.h"

/* The step from a size; a size that is no faster is none. */
static struct step_size find_step(struct cs_deal *deal, uint32_t i, struct step_size from)
{
    struct step_size to = { .class = NONE };

    to.gpus = deal->next_size(deal->host, deal->self, i, from.gpus, &to.speedup);
    if (!(to.speedup > from.speedup))
        to.gpus = 0;
    if (to.gpus > 0)
        to.class = find_class(&deal->classes, from.speedup, to.speedup);
    return to;
}

/* Returns the step of that number of a curve, from nothing on; those before it are
 * known. */
static struct step_size find_curve_step(struct cs_deal *deal,
                                        const struct deal_job *job, uint32_t number)
{
    struct deal_curve *curve = &deal->curve[job->curve];

    if (curve->epoch != deal->classes.epoch)
        curve->count = 0;
    curve->epoch = deal->classes.epoch;
    if (number < curve->count)
        return curve->step[number];
    struct step_size from = { 0 };
    if (number > 0)
        from = curve->step[number - 1];
    if (curve->count == curve->room)
        curve->step = cs_grow(deal->host, curve->step, &curve->room, curve->count,
                              sizeof *curve->step);
    uint32_t i = (uint32_t)(job - deal->job);
    return curve->step[curve->count++] = find_step(deal, i, from);
}

/* A job without a curve (NONE) is asked for each of its steps: no other is like it. */
void deal_begin_job(struct cs_deal *deal, struct deal_job *job,
                    const struct cs_deal_job *in)
{
    *job = (struct deal_job) { .left_s = in->left_s, .curve = in->curve };
    if (job->curve == NONE) {
        job->next = find_step(deal, (uint32_t)(job - deal->job), job->now);
        return;
    }
    if (job->curve >= deal->curve_room)
        deal->curve = cs_grow(deal->host, deal->curve, &deal->curve_room, job->curve,
                              sizeof *deal->curve);
    job->next = find_curve_step(deal, job, 0);
}

/* The step behind the one that may be taken next: what its class would then be. */
struct step_size deal_look_ahead(struct cs_deal *deal, const struct deal_job *job)
{
    return job->curve == NONE ? find_step(deal, (uint32_t)(job - deal->job), job->next)
                              : find_curve_step(deal, job, job->steps + 1);
}

/* The end moves only if there is a step behind: of a job that has its last size nobody asks. */
void deal_take_step(struct deal_job *job, struct step_size then)
{
    job->now = job->next;
    job->next = then;
    job->steps++;
    if (then.gpus > 0)
        job->end_s = job->left_s / job->now.speedup;
}
