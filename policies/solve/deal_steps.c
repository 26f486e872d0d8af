/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal_steps.c - the next step of a job in a deal, asked for once of jobs that are alike.
 */
#include "policies/policy.h"
#include "policies/solve/deal.h"
#include "policies/solve/step_class.h"

/* The step from a size; a size that is no faster is none. */
static struct step_size find_step(struct cs_deal *deal, cs_next_size *next_size, uint32_t i,
                                  struct step_size from)
{
    struct step_size to = { .class = NONE };

    to.gpus = next_size(deal->host, deal->self, i, from.gpus, &to.speedup);
    if (!(to.speedup > from.speedup))
        to.gpus = 0;
    if (to.gpus > 0)
        to.class = find_class(&deal->classes, from.speedup, to.speedup);
    return to;
}

/* The curve's steps are asked for anew where classes were forgotten. */
struct step_size deal_curve_step(struct cs_deal *deal, cs_next_size *next_size, uint32_t number,
                                 uint32_t job, uint32_t at)
{
    struct deal_curve *curve = &deal->curve[number];

    if (curve->epoch != deal->classes.epoch)
        curve->count = 0;
    curve->epoch = deal->classes.epoch;
    if (at < curve->count)
        return curve->step[at];
    struct step_size from = { 0 };
    if (at > 0)
        from = curve->step[at - 1];
    if (curve->count == curve->room)
        curve->step = cs_grow(deal->host, curve->step, &curve->room, curve->count,
                              sizeof *curve->step);
    return curve->step[curve->count++] = find_step(deal, next_size, job, from);
}

/* The step of that number of a job, which has a curve. */
static struct step_size find_curve_step(struct cs_deal *deal, const struct deal_job *job,
                                        uint32_t number)
{
    return deal_curve_step(deal, deal->next_size, job->curve, (uint32_t)(job - deal->job),
                           number);
}

/* A job without a curve (NONE) is asked for each of its steps: no other is like it. */
void deal_begin_job(struct cs_deal *deal, struct deal_job *job,
                    const struct cs_deal_job *in)
{
    *job = (struct deal_job) { .left_s = in->left_s, .curve = in->curve };
    if (job->curve == NONE) {
        job->next = find_step(deal, deal->next_size, (uint32_t)(job - deal->job), job->now);
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
    if (job->curve != NONE)
        return find_curve_step(deal, job, job->steps + 1);
    return find_step(deal, deal->next_size, (uint32_t)(job - deal->job), job->next);
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
