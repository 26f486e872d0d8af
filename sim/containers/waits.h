/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waits.h - how many GPUs the smallest of those that wait for them wants.
 *
 * Sizes up to 32 are counted one by one, larger ones by powers of two.
 */
#ifndef SIM_CONTAINERS_WAITS_H
#define SIM_CONTAINERS_WAITS_H

#include <stdint.h>

#define WAITS_CLASSES 60u

struct waits {
    uint32_t count[WAITS_CLASSES];
    uint64_t classes;           /* bit c: some are of class c */
};

/* One more that wants so many, or (sign -1) one less. */
void waits_add(struct waits *waits, uint32_t gpus, int sign);
/* The least wanted, rounded down to a power of two above 32; 0: none wait. */
uint32_t waits_least(const struct waits *waits);
/* The same of all but one that wants so many (0: of all). */
uint32_t waits_least_but(const struct waits *waits, uint32_t gpus);

#endif
