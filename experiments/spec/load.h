/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.h - the offered load of each pool: the work that arrives in a second over
 * what the pool can do in one.  Above 1 a queue grows as long as jobs come.
 *
 * Work is GPU-seconds, and core-seconds of the cores that a role holds, on as
 * many GPUs as asked, links free: of a policy that leases for a phase that of its phases, of
 * one that leases for a job's life all the time that the job takes.  Of a mix it
 * is the mean of many draws, of a trace what the file says, over the time from
 * its first job to its last.  A role that may use several pools is divided so
 * that the fullest of them is as empty as can be; a policy that goes nowhere but
 * home has no such choice.  Services, failures, switches, memory, and cores of
 * jobs of known length that have GPUs are not in it.
 */
#ifndef EXPERIMENTS_SPEC_LOAD_H
#define EXPERIMENTS_SPEC_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct host_policy;
struct experiment;
struct experiment_point;

#define LOAD_POOLS 32u

/* What one role of one kind of job brings. */
struct load_part {
    const char *form, *role;
    bool cores;                 /* it has no GPUs: its work is core-seconds */
    double cores_per_gpu;       /* that it holds beside its GPUs */
    double rho[LOAD_POOLS];     /* by pool, of what that pool can do */
    double rho_cores[LOAD_POOLS];       /* of a role with GPUs: of cores */
};

struct load {
    bool known;                 /* false: jobs come at no rate, or not at all */
    struct load_part *part;
    uint32_t part_count;
    double gpus[LOAD_POOLS], cores[LOAD_POOLS];     /* by pool */
    double rho[LOAD_POOLS], rho_cores[LOAD_POOLS];
    double most;                /* of all pools */
    uint32_t most_pool;
};

/* Do two policies have the same load at every point? */
bool load_alike(const struct host_policy *a, const struct host_policy *b);
struct load load_of(struct arena *arena, const struct experiment *experiment,
                    const struct experiment_point *point,
                    const struct host_policy *policy);
/* How the policy holds what it is given, in words: "leases for a phase". */
const char *load_manner(const struct host_policy *policy);

#endif
