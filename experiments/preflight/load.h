/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.h - the offered load of each pool: the work that arrives per second over
 * the work that the pool can do per second.  Above 1, the queue grows as long
 * as jobs come.
 *
 * Work is GPU-seconds on the number of GPUs that is asked for, with free links,
 * and core-seconds of the cores that a role holds.  A policy that leases for a
 * phase is charged for the phases; one that leases for a job's life, for its
 * whole run time.  For a mix, the work is the mean of many draws.  For a trace,
 * it is what the file says, over the time from its first job to its last.
 *
 * The work of a role that may use several pools is divided so that the largest
 * load is as small as possible.  If the policy confines roles to their home,
 * there is no such choice.  Not counted: services, failures, switches between
 * jobs, memory, and the cores of jobs of known length that have GPUs.
 */
#ifndef EXPERIMENTS_PREFLIGHT_LOAD_H
#define EXPERIMENTS_PREFLIGHT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct host_policy;
struct experiment;
struct experiment_point;

#define LOAD_POOLS 32u

/* The load of one role of one kind of job. */
struct load_part {
    const char *form, *role;    /* names */
    bool cores;                 /* no GPUs: its work is core-seconds */
    double cores_per_gpu;       /* that it holds beside its GPUs */
    double rho[LOAD_POOLS];     /* load of each pool, 0 to 1 and more */
    double rho_cores[LOAD_POOLS];       /* load of the cores, by a role with
                                           GPUs */
};

/* By pool of the cluster.  rho and rho_cores: load of GPUs, of cores. */
struct load {
    bool known;                 /* false: no job comes, or at no known rate */
    struct load_part *part;
    uint32_t part_count;
    double gpus[LOAD_POOLS], cores[LOAD_POOLS];     /* by pool */
    double rho[LOAD_POOLS], rho_cores[LOAD_POOLS];
    double most;                /* the largest load of all pools */
    uint32_t most_pool;         /* the pool that has it */
};

/* Have two policies the same load at every point?  Then one of them stands for both. */
bool load_alike(const struct host_policy *a, const struct host_policy *b);
/* Returns the load of a point under a policy; arrays in the arena.  Reads a trace
 * through, so it takes as long as that. */
struct load load_of(struct arena *arena, const struct experiment *experiment,
                    const struct experiment_point *point,
                    const struct host_policy *policy);
/* Says how long the policy leases: "leases for a phase". */
const char *load_manner(const struct host_policy *policy);

#endif
