/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_count.h - the smallest number of GPUs that a waiting task requests.
 *
 * Sizes up to 32 have a counter each; larger ones share one for each power of
 * two.
 */
#ifndef SIM_CONTAINERS_DEMAND_COUNT_H
#define SIM_CONTAINERS_DEMAND_COUNT_H

#include <stdint.h>

#define DEMAND_COUNT_CLASSES 60u

/* All zero: no task waits. The owner holds it; O(1) for every operation. */
struct demand_count {
    uint32_t count[DEMAND_COUNT_CLASSES];
    uint64_t classes;           /* bit c: count[c] > 0 */
};

/* Adds a task that requests `gpus` (sign 1), or removes one (sign -1). */
void demand_count_add(struct demand_count *waits, uint32_t gpus, int sign);
/* Returns the smallest request, rounded down to a power of two above 32; 0: no
 * task waits. */
uint32_t demand_count_least(const struct demand_count *waits);
/* Returns the smallest request of all tasks but one that requests `gpus`, which
 * must be counted (0: leave out none). */
uint32_t demand_count_least_but(const struct demand_count *waits, uint32_t gpus);

#endif
