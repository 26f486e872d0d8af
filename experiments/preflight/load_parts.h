/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_parts.h - the parts of an offered load while they are measured.  load.c has those of a
 * mix, load_trace.c those of a trace; load_parts.c has what both ask.
 */
#ifndef EXPERIMENTS_PREFLIGHT_LOAD_PARTS_H
#define EXPERIMENTS_PREFLIGHT_LOAD_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/preflight/load.h"
#include "models/jobs/job.h"

struct arena;
struct cluster;
struct phase_cache;
struct share;

/* What is measured for one policy at one point. */
struct reckoning {
    struct arena *arena;
    const struct experiment *experiment;
    const struct experiment_point *point;
    const struct host_policy *policy;       /* its rules say where a role may run */
    struct cluster *empty;      /* on which roles are placed, one at a time */
    struct phase_cache *plans;  /* what a phase takes on such a gang */
    struct share *share;        /* room for one placement */
    bool bare, has_bare[LOAD_POOLS];    /* nodes without GPUs: any, by pool */
    struct load load;
    double (*work)[LOAD_POOLS]; /* of a part: units per second if all of it is
                                   there; INFINITY: it cannot be */
    uint32_t room;              /* of load.part and of `work` */
};

/* Does the policy use cores alone for a role that may run on either? */
bool load_on_cores_alone(const struct host_policy *policy);
/* Returns the role as it counts: one that may run on either counts for GPUs,
 * unless the policy has cores alone. */
struct role_spec load_counted(const struct reckoning *r, const struct role_spec *role);
/* Returns the seconds of a phase in a pool on what its role asks for, averaged
 * over steps in which it does not run, on the fastest of its GPU types; INFINITY:
 * it has no room there.  Found by placing the role on the empty cluster. */
double load_phase_s(struct reckoning *r, const struct job_form *form, uint32_t p, uint32_t pool);
/* Adds a part; returns its work by pool, in units per second, INFINITY until it is known. */
double *load_add_part(struct reckoning *r, const char *form, const char *role, bool cores);
/* May the role run in that pool under the policy? */
bool load_can_be(const struct reckoning *r, const struct job_request *request, uint32_t role,
                 uint32_t pool);
/* Returns the speed of a job of known length in a pool where it can be, over that at which
 * its length was measured. */
double load_speed_in(const struct job_request *request, uint32_t pool);
/* Adds the parts of the jobs of a trace; sets load.known. */
void load_add_trace(struct reckoning *r);

#endif
