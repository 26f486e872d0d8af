/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand.h - can a role run anywhere on this cluster, and if not, why not.
 *
 * Asked when a workload is read, so that a job that could never start is an
 * error with a place, not a job that waits for ever.
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
struct train_shape;

/* What a workload is read against. */
struct world {
    struct arena *arena;
    const struct catalogue *catalogue;
    const struct cluster_spec *cluster;
    struct err *err;
};

/* A role and the place that asks for it, for messages. */
struct demand {
    const char *form;           /* name of the mix entry */
    struct err_pos pos;
    const struct conf_node *types;  /* as written; NULL: any */
    struct err_pos home;        /* of that key; no file: not written */
};

/* Fills gpu_types with those of the allowed types that the cluster has and
 * that hold gpu_memory_bytes.  False: err is set; then *best is the largest
 * allowed GPU if memory is what is missing (a hint may be added), or NULL. */
bool demand_types(const struct world *world, const struct demand *demand,
                  struct role_spec *role, const struct gpu_type **best);
/* Strikes off gpu_types what does not hold gpu_memory_bytes, which grew. */
bool demand_narrow(const struct world *world, const struct demand *demand,
                   struct role_spec *role);
/* GPUs, cores and memory: would it fit if the whole cluster were free?
 * For gpus_min; the rest of an elastic role is a wish. */
bool demand_place(const struct world *world, const struct demand *demand,
                  const struct role_spec *role);
/* Have all nodes that the role may run on drives of their own? */
bool demand_nvme(const struct world *world, const struct demand *demand,
                 const struct role_spec *role);
/* What would make a training role fit that GPU, as a hint. */
void demand_hint_train(const struct world *world,
                       const struct train_shape *shape, double other_bytes,
                       uint32_t gpus, const struct gpu_type *gpu);
/* The most GPUs of one type that the pool of the role (NULL: any) has. */
uint32_t demand_gpus_max(const struct world *world, const char *pool);

#endif
