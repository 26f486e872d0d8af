/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * applications.h - jobs of a trace that name an application of the catalogue.
 *
 * Jobs with the same application, GPUs and batch share one form and goodput.
 * They are made while the file is checked; trials only look them up.
 */
#ifndef WORKLOADS_REPLAY_APPLICATIONS_H
#define WORKLOADS_REPLAY_APPLICATIONS_H

#include "models/catalogue/goodput.h"
#include "models/jobs/job.h"
#include "workloads/jobs/demand.h"

struct applications;

/* What jobs of one application, size and batch share. */
struct application_job {
    struct goodput_job goodput;
    const struct job_form *form;
};

/* Returns an empty set in the world's arena.  `base`: the form of jobs that request
 * GPUs only; it is copied. */
struct applications *applications_new(const struct world *world,
                                      const struct job_form *base);
/* Returns the job of that application, GPUs and batch; makes it if it is new.  NULL:
 * there is no such application, or it cannot run like this in the cluster. */
const struct application_job *applications_job(struct applications *all,
                                               const struct world *world,
                                               const char *name, uint32_t gpus,
                                               uint32_t batch);

#endif
