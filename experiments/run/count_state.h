/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_state.h - all that a trial in which GPUs are a count keeps while it runs.
 *
 * For three files alone: trial_count.c opens and closes it, count_events.c runs it, and
 * count_applies.c reads the policy's parameters.  Jobs and leases lie in slots, which are
 * used again, so memory follows what is in the system.  All arrays are of the arena.
 */
#ifndef EXPERIMENTS_RUN_COUNT_STATE_H
#define EXPERIMENTS_RUN_COUNT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/measure/metrics.h"
#include "policies/host/host.h"
#include "workloads/jobs/birth.h"

/* A name of up to 23 bytes is kept in the job itself; a longer one goes to the arena. */
#define NAME_BYTES 24u

__extension__ typedef __int128 wide;    /* GPUs or jobs x nanoseconds */

/* A job that waits or runs.  Times in ns; CLOCK_NEVER_NS: no deadline, not started. */
struct count_job {
    int64_t submit_ns, duration_ns, estimate_ns, deadline_ns, start_ns;
    const struct job_form *form;    /* of the workload: names the job, and its cores per GPU */
    const char *name;           /* NULL: by number */
    const char *tenant;         /* of the workload; NULL: none */
    int64_t limit_ns;           /* 0: none */
    int32_t priority;           /* for rows of jobs alone: no policy of this trial reads it */
    char name_room[NAME_BYTES]; /* "": `name` points elsewhere */
    uint32_t id, gpus;          /* id: counts jobs from 0 as they come */
};

/* A job that runs, and when it should end. */
struct count_lease {
    uint32_t job;               /* slot; ID_NONE: not in use */
    int64_t end_ns;             /* by the estimate; CLOCK_NEVER_NS: beyond all times */
};

/* The books that are kept twice, in whole numbers, so that sums must be equal to the last
 * unit. */
struct count_audit {
    uint64_t count[AUDIT_CHECK_COUNT];  /* checks made, by kind */
    uint64_t submitted, ended;  /* jobs; at the end they must be equal */
    int64_t last_ns;            /* up to when the integrals below count */
    wide held, charged;         /* GPU-nanoseconds: integral of the GPUs held; sum of what
                                   jobs that ended are charged */
    wide in_system, sojourn;    /* job-nanoseconds: integral of the jobs in the system; sum
                                   of the times that jobs were in it */
    const char *broken;         /* NULL: nothing is */
    enum audit_check kind;      /* of the check that `broken` tells */
    uint32_t subject;           /* its job's id, or 0 */
};

/* The trial itself; it lives on the stack of trial_count_run(). */
struct count_trial {
    const struct trial_spec *spec; /* of the caller */
    const struct node_group *group; /* the only one of the cluster */
    double gpu_w;               /* watts of one that works */
    struct arena *arena;        /* of the trial: freed at its end */
    struct loop *loop;          /* of the trial: freed at its end */
    struct source *source;      /* gives the jobs in the order in which they come */
    struct metrics *metrics;    /* told of each arrival, start and end */
    struct recount *recount;    /* the second book of the same facts */
    struct job_birth next;      /* the job that comes next */
    bool source_failed, decide_due; /* err says why; a decision is scheduled */
    struct err *err;            /* of the caller; set by the first failure */
    struct count_audit audit;   /* checked as the run goes and at its end */
    struct host_counts counts;  /* what the host would count: decisions, ends */
    struct metrics_count now;           /* what waits and runs */
    int64_t depth_max;          /* of EASY; 0: first come, first served */
    bool unreserved;            /* EASY without a reservation for the first */
    uint32_t free_gpus;         /* of the whole cluster */
    struct host_job told;       /* made anew for each fact */

    struct count_job *job;      /* slots */
    uint32_t *job_spare, job_spares, jobs, job_room;    /* job_spare: slots to use again */
    uint32_t *queue;                    /* slots, from first to end */
    uint32_t first, end, queue_room;    /* indices in queue; first == end: nobody waits */
    struct count_lease *lease;  /* slots, as those of jobs */
    uint32_t *lease_spare, lease_spares, leases, lease_room;    /* leases: slots ever used */
    struct count_places *places;        /* of leases; NULL: nobody asked */
    struct timeline *timeline;          /* or NULL */
    struct calendar *ends;                  /* of leases; NULL: nobody asked */
};

/* Returns the value of a parameter of the policy; NULL: it has none of that name. */
const void *count_param(const struct host_policy *policy, const char *key);

/* Counts a check of the audit; the first that does not hold stops the run, and is
 * told at its end. */
void count_check(struct count_trial *trial, enum audit_check kind, bool holds,
                 const char *what, uint32_t subject);
/* Takes the first job of the source, and schedules its arrival.  All other events follow
 * from it. */
void count_begin(struct count_trial *trial);
/* Returns the number of the first job that waits; there is one. */
uint32_t count_first_waiting(const struct count_trial *trial);

#endif
