/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand.h - checks that a role can run somewhere on the cluster.
 *
 * The checks run when a workload is read.  So a job that could never start is
 * an error with a place in the file, not a job that waits for ever.  Functions
 * that return bool return false if the check fails; then *world->err is set.
 */
#ifndef WORKLOADS_JOBS_DEMAND_H
#define WORKLOADS_JOBS_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct catalogue;
struct cluster_spec;
struct conf_node;
struct gpu_type;
struct role_spec;

/* What a reader of a workload needs. */
struct world {
    struct arena *arena;        /* what is read lives there */
    const struct catalogue *catalogue;  /* where models and GPUs are looked up */
    const struct cluster_spec *cluster; /* on which its jobs must be able to run */
    struct err *err;            /* of the caller: the first error */
};

/* Where a role is written, for messages. */
struct demand {
    const char *form;           /* name of the mix entry */
    struct err_pos pos;
    const struct conf_node *types;  /* as written; NULL: any */
    struct err_pos home;        /* of the key `home`; no file: not written */
};

/* Fills role->gpu_types with the allowed types that the cluster has and whose
 * memory holds gpu_memory_bytes.  If it fails for lack of memory, *best is the
 * largest allowed GPU, and the caller may add a hint; else *best is NULL. */
bool demand_types(const struct world *world, const struct demand *demand,
                  struct role_spec *role, const struct gpu_type **best);
/* Removes the types from gpu_types that do not hold gpu_memory_bytes, after it
 * grew. */
bool demand_narrow(const struct world *world, const struct demand *demand,
                   struct role_spec *role);
/* Checks that gpus_min GPUs with their cores and memory fit if the whole
 * cluster is free. */
bool demand_room(const struct world *world, const struct demand *demand,
                 const struct role_spec *role);
/* As demand_room(), and checks that the power cap allows them. */
bool demand_place(const struct world *world, const struct demand *demand,
                  const struct role_spec *role);
/* Checks that all nodes that the role may use have drives. */
bool demand_nvme(const struct world *world, const struct demand *demand,
                 const struct role_spec *role);
/* Returns the largest number of GPUs of one type in the pool (NULL: in the
 * whole cluster). */
uint32_t demand_gpus_max(const struct world *world, const char *pool);

#endif
