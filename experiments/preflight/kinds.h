/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.h - a request for every kind of job of a point, asked before any trial runs.
 */
#ifndef EXPERIMENTS_PREFLIGHT_KINDS_H
#define EXPERIMENTS_PREFLIGHT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct experiment;
struct experiment_point;
struct job_request;
struct workload_spec;

/* Returns a request for every kind of job of a point, each with the most GPUs that
 * it asks for, and stores their number.  The kinds of a trace are its forms, at
 * most 4,096 of them.  Memory comes from the arena. */
struct job_request *kinds_of_point(struct arena *arena, const struct experiment *experiment,
                                   const struct experiment_point *point, uint32_t *count);

/* Does a job of a point ask for a part of a GPU? */
bool kinds_have_parts(const struct experiment *experiment, const struct experiment_point *point);
/* Returns a request for the replicas of each service that has one side alone; *count: their
 * number. */
struct job_request *kinds_of_services(struct arena *arena, const struct workload_spec *workload,
                                      uint32_t *count);

#endif
