/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.h - what an agent sees of a trial, and what it may do.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_LOOK_H
#define EXPERIMENTS_ENV_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/env/plan.h"
#include "experiments/env/running.h"
#include "experiments/env/tenants.h"
#include "policies/policy.h"

struct arena;
struct cluster_spec;
struct job_form;
struct trial;
struct trial_spec;

/* What decides whether a task fits somewhere.  Tasks of a shape have one answer. */
struct look_shape {
    const struct job_form *form;    /* of the jobs that have the shape */
    uint32_t role, gpus, milli, mib; /* of its form; asked for: GPUs, thousandths of each, GPU
                                        memory in MiB */
    uint32_t job;               /* ID_NONE: the shape is of any job */
    uint32_t rows;              /* that have it */
    uint64_t turn, fits;        /* the answer of that turn, a bit a choice */
};

/* What stays the same of a task; found by the slot of the task. */
struct look_task {
    int64_t ready_ns;           /* when the task was made; told apart from others */
    uint32_t job, role, phase, shape, tenant;   /* numbers; shape: in look.shape, tenant: in
                                                   look.tenants */
    bool known;                 /* false: no task of this slot has been read yet */
};

/* Rows of tasks, array by array: all of them are looked at in each step. */
struct look_rows {
    struct task_id *task;       /* in the host's order */
    uint32_t *shape, *tenant;   /* as in struct look_task */
    int64_t *ready_ns;          /* for the time waited, which each step writes anew */
    uint64_t *fits;             /* bit c: it could start by choice c; only of tasks
                                   that hold a lease */
    float *number;              /* [TASK_FEATURES], but for what changes with time */
    bool *held;                 /* the task's role holds an idle lease: it can only go on there */
};

struct look {
    const struct plan *plan;    /* of the caller; as are trial, cluster and host */
    const struct trial *trial;
    const struct cluster_spec *cluster;
    struct cs_host *host;       /* asked for what waits, fits and is free */
    struct arena *arena;        /* of the caller; the arrays below lie in it */
    struct tenants tenants;     /* their numbers in the observation */
    struct running running;     /* the rows of what runs (running.h) */
    double gpus;                /* of the cluster */
    uint32_t place_gpus[PLAN_PLACES_MAX];   /* in all; place 0: the cluster's */
    bool shape_of_job;          /* where jobs alike may differ in what fits */
    struct look_task *task;     /* [task_room], by the host's slot of the task */
    struct look_shape *shape;   /* [shape_count], in the order in which they were met */
    uint32_t task_room, shape_count, shape_room;
    uint64_t turn;              /* counts looks; an answer of another turn is old */
    /* The rows are still the first that wait, unless `stale`, which lasts. */
    struct look_rows row;       /* [plan->shape.rows] */
    uint32_t rows;              /* in use, at most plan->shape.rows */
    bool stale;
    bool may_wait;
    float place[PLAN_PLACES_MAX * PLACE_FEATURES], clock[CLOCK_FEATURES];   /* all from 0 to 1 */
};

/* Begins to look at a trial that has not run yet.  Memory comes from the arena,
 * which lives as long as the trial. */
void look_begin(struct look *look, const struct plan *plan, struct arena *arena,
                const struct trial *trial, const struct trial_spec *spec);
/* Looks anew, while a decision is held.  False: nothing that waits could start, and nothing
 * that runs could be stopped or resized, so there is no choice. */
bool look_anew(struct look *look);
/* Tells it that the task of a row was started: later rows move up by one. */
void look_started(struct look *look, uint32_t row);
/* Looks anew at the end of a trial: nothing is left to do. */
void look_end(struct look *look);
/* Writes what was seen: shape.floats numbers, and shape.actions bytes of 0 or 1. */
void look_write(const struct look *look, float *observation, uint8_t *mask);
/* Returns how to ask the host for the task of a row at a place and in a size (a choice,
 * below shape.choices), filled into *want; NULL: as the owner of the job asks. */
const struct cs_want *look_want(const struct look *look, uint32_t row, uint32_t choice,
                                struct cs_want *want);

#endif
