/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal.h - the parts of a deal by steps: deal_steps.c finds the next step of a job,
 * deal_levels.c deals whole levels of steps, and deal.c the others one by one.
 */
#ifndef POLICIES_SOLVE_DEAL_H
#define POLICIES_SOLVE_DEAL_H

#include "policies/solve.h"
#include "policies/solve/step_class.h"

/* A size and the speed on it; gpus 0: none. */
struct step_size {
    uint32_t gpus;
    uint32_t class;             /* of the step to it; NONE: not known */
    double speedup;             /* over that on the GPUs that the job asked for */
};

/* A job of a deal.  `now` and `next` are what it has and its next step, which is no
 * step if next.gpus is 0. */
struct deal_job {
    struct step_size now, next;
    double left_s;              /* to its end at speed 1 */
    double end_s;               /* time to the end, of a job with GPUs and a step */
    uint32_t curve;
    uint32_t steps;             /* that it has taken */
};

struct deal_key {
    double key;
    uint32_t job, step;
    bool chosen;
};

/* Steps of jobs that are alike, as far as they were asked for. */
struct deal_curve {
    struct step_size *step;
    uint32_t count, room, epoch;
};

struct cs_deal {
    struct cs_host *host;
    cs_next_size *next_size;    /* called with `self`: the next larger size of a job */
    void *self;
    struct step_classes classes;
    struct deal_curve *curve;
    uint32_t curve_room;
    struct deal_job *job;       /* in the order of submission */
    uint32_t count, room;
    uint32_t *next, *child;     /* of a job, in lists and heaps */
    struct deal_key *key;
    uint32_t *won;              /* the job that won against all before it, in turn */
};

static inline uint32_t step_of(const struct deal_job *job)
{
    return job->next.gpus - job->now.gpus;
}

/* Sets up a job without GPUs, and its first step. */
void deal_begin_job(struct cs_deal *deal, struct deal_job *job,
                    const struct cs_deal_job *in);
/* Returns the step of a number of a curve, from nothing on; those before it are known.  `job`
 * is one of the curve, and goes to next_size(). */
struct step_size deal_curve_step(struct cs_deal *deal, cs_next_size *next_size, uint32_t number,
                                 uint32_t job, uint32_t at);
/* Finds the least set of classes that stand above all others of `live`; false: there are
 * circles. */
bool deal_find_top(const struct cs_deal *deal, struct class_set *top);
/* Returns the step after the next one. */
struct step_size deal_look_ahead(struct cs_deal *deal, const struct deal_job *job);
/* The job takes its next step; `then` is the one after it. */
void deal_take_step(struct deal_job *job, struct step_size then);
/* Deals level by level as long as that can be; returns what is left of the room.  Jobs
 * have no GPUs yet, and all classes are known. */
uint64_t deal_levels(struct cs_deal *deal, uint64_t room);

#endif
