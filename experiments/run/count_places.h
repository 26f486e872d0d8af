/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_places.h - which GPUs a lease has where GPUs are a count: any, in node order, as
 * `placement: count` gives them on a cluster of one group.
 */
#ifndef EXPERIMENTS_RUN_COUNT_PLACES_H
#define EXPERIMENTS_RUN_COUNT_PLACES_H

#include <stdint.h>

#include "models/types/placement.h"

struct arena;
struct count_places;
struct node_group;

/* Returns all GPUs of the group, free. */
struct count_places *count_places_new(struct arena *arena, const struct node_group *group);
/* The lease, which has no GPUs, takes `gpus` of the free ones; at least these are free. */
void count_places_take(struct count_places *places, uint32_t lease, uint32_t gpus);
/* Returns what the lease has, good until the next call. */
const struct placement *count_places_of(struct count_places *places, uint32_t lease);
/* All GPUs of the lease are free again; its number may be used for another one. */
void count_places_drop(struct count_places *places, uint32_t lease);

#endif
