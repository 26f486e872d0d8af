/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * form.h - what the host knows of each job form: pools, sites and times of its
 * roles and phases.  Made when the first job of the form comes; a form stays
 * until the trial ends.
 */
#ifndef POLICIES_STATE_FORM_H
#define POLICIES_STATE_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "policies/state/state.h"

struct gpu_type;
struct job_rates;

/* A place where a role could run: one type of GPU, in one pool or in several, or
 * the cores of a pool. */
struct host_site {
    uint32_t pool, pool_mask;   /* one of its pools, and all of them */
    const struct gpu_type *gpu; /* NULL: cores in the place of GPUs */
    double usd_per_h;           /* of one GPU, where it is cheapest; of the
                                   cores asked for */
};

/* The sites of a role, in the order of sites.c. */
struct host_sites {
    struct host_site *site;     /* [count], in the arena of the trial */
    uint32_t count;             /* 0: a role without GPUs */
};

/* Progress on other GPUs than the job asked for, over that on those. */
struct host_speedup {
    uint32_t gpus, pool;        /* what it runs on, in place of what it asked for */
    uint32_t cores;             /* per GPU; 0: as asked */
    double speedup;             /* 0: it cannot run there */
};

/* The best speedup of a job of one role on each number of GPUs, of jobs that ask for
 * as much and have the same rates; made when it is asked for. */
struct host_curve {
    const struct job_rates *rates;  /* of its jobs; NULL: none */
    double rate_known;          /* as in struct job_request */
    uint32_t asked, milli, least, most; /* GPUs: what they ask for, a part of one in
                                   thousandths; and the range of `speedup` */
    uint32_t number;            /* among those of all forms */
    double *speedup;            /* by size from `least` on; NAN: not asked yet; below 0:
                                   no size of these jobs */
};

/* What is known of one form.  Arrays by role or by phase, in the order of the
 * form. */
struct host_form {
    const struct job_form *form;    /* of the workload, shared by all trials */
    uint32_t pool_mask[FORM_ROLES_MAX];     /* 0: any pool */
    uint32_t home_mask[FORM_ROLES_MAX];     /* 0: it has no home */
    uint32_t rent_mask[FORM_ROLES_MAX];     /* where nodes are rented for it; 0: any pool */
    uint32_t home_holds;        /* bit r: the home of role r, when it is empty, has room for
                                   what its owner asks for */
    bool settles;               /* the empty cluster has room for all roles with GPUs at
                                   once, each in its home */
    struct host_sites sites[FORM_ROLES_MAX];    /* where a role may run, for forecasts */
    uint32_t gpu_pools[FORM_ROLES_MAX];     /* pools with GPUs that it can use */
    /* Seconds at home, else where the phase ends soonest; with the GPUs that
     * the owner asked for, all links free.  Per step: of a phase that runs in each
     * n-th step, the n-th part. */
    double phase_s[FORM_PHASES_MAX];
    double step_s;                          /* seconds of the longest path of a step */
    double switch_s[FORM_ROLES_MAX];        /* what later starts of a role took,
                                               an exponential average; 0: there
                                               was none */
    bool fixed;                             /* one phase of known length */
    struct host_speedup *speedup;           /* of one role, by size and pool */
    uint32_t speedups, speedup_capacity;
    struct host_curve *curve;               /* sizes.c */
    uint32_t curves, curve_room;
    /* At release number full_at of its pools a search for full_size thousandths of GPUs
     * failed.  full_size 0: no search has failed yet. */
    uint64_t full_size, full_at;
    uint32_t part_least;        /* thousandths of a GPU, below a whole one, that a job of
                                   the form asked for at least; 0: none did */
    /* At release capped_at of the cluster the power cap refused n GPUs: bit n - 1. */
    uint64_t capped, capped_at;
};

/* All forms, in the order in which their first jobs came. */
struct host_forms {
    struct host_form *form;     /* [count]; it moves when a form is added */
    uint32_t count, capacity;
    uint32_t curve_count;       /* of all forms */
};
/* Returns the form of a job that has not been forgotten. */
const struct host_form *host_job_form(const struct cs_host *host,
                                      uint32_t job);

#endif
