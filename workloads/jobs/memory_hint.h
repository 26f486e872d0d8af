/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_hint.h - what would make a training role fit into a GPU's memory.  For readers of
 * roles, after demand_types() refused one.
 */
#ifndef WORKLOADS_JOBS_MEMORY_HINT_H
#define WORKLOADS_JOBS_MEMORY_HINT_H

#include <stdint.h>

struct gpu_type;
struct train_shape;
struct world;

/* Adds a hint to *world->err: a change with which a training role of that many GPUs would
 * fit that GPU.  `other_bytes`: what lies on each GPU beside the training state. */
void memory_hint_train(const struct world *world,
                       const struct train_shape *shape, double other_bytes,
                       uint32_t gpus, const struct gpu_type *gpu);

#endif
