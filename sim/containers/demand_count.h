/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_count.h - how many GPUs the smallest of those that wait for them wants.
 *
 * Sizes up to 32 are counted one by one, larger ones by powers of two.
 */
#ifndef SIM_CONTAINERS_DEMAND_COUNT_H
#define SIM_CONTAINERS_DEMAND_COUNT_H

#include <stdint.h>

#define DEMAND_COUNT_CLASSES 60u

struct demand_count {
    uint32_t count[DEMAND_COUNT_CLASSES];
    uint64_t classes;           /* bit c: some are of class c */
};

/* One more that wants so many, or (sign -1) one less. */
void demand_count_add(struct demand_count *waits, uint32_t gpus, int sign);
/* The least wanted, rounded down to a power of two above 32; 0: none wait. */
uint32_t demand_count_least(const struct demand_count *waits);
/* The same of all but one that wants so many (0: of all). */
uint32_t demand_count_least_but(const struct demand_count *waits, uint32_t gpus);

#endif
