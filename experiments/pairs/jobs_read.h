/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs_read.h - the jobs of a folder of results, trial by trial, for pairing.
 */
#ifndef EXPERIMENTS_PAIRS_JOBS_READ_H
#define EXPERIMENTS_PAIRS_JOBS_READ_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;

/* A job as its row of jobs.csv has it. */
struct job_row {
    const char *name;           /* by which jobs of two trials are paired */
    double submit_s, jct_s;     /* jct NAN: it did not end */
};

/* The jobs of one trial. */
struct trial_jobs {
    const char *point, *policy, *seed;  /* the trial's columns */
    struct job_row *job;        /* by name */
    size_t count, room;
};

/* The trials of a folder, in the order of jobs.csv. */
struct jobs_table {
    struct trial_jobs *trial;
    size_t count, room;         /* of `trial` */
    size_t replicas;            /* of services, left out: no jobs of a user */
};

/* Reads jobs.csv of a folder into `table`, which must be all 0; texts and arrays are of the
 * arena.  Jobs of a trial are sorted by name, then by submission: the order in which they
 * are paired.  False: err says why. */
bool jobs_read(struct arena *arena, const char *dir, struct jobs_table *table,
               struct err *err);
/* Returns the trial of that point, policy and seed, or NULL. */
const struct trial_jobs *jobs_trial(const struct jobs_table *table, const char *point,
                                    const char *policy, const char *seed);

#endif
