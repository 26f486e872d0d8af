/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_count.c - a count per size, and a bit per count that is not 0.
 *
 * The least size is the lowest bit.  Classes: 0 to 32 are the sizes themselves;
 * class 33 holds 33 to 63, and class 33 + k the sizes from 2^(k + 5) to
 * 2^(k + 6) - 1.  A size above 32 is answered rounded down to 2^(k + 5).
 */
#include "sim/containers/demand_count.h"

#include <assert.h>

/* Returns the class of a size: itself up to 32, above that one class a power of two.  For
 * example 40 is in class 33, 64 and 127 are in class 34, 128 is in class 35. */
static uint32_t class_of(uint32_t gpus)
{
    uint32_t class = 32;

    if (gpus <= class)
        return gpus;
    for (; gpus > 63; gpus >>= 1)
        class++;
    assert(class + 1 < 64);
    return class + 1;
}

/* A bit of `classes` says that a class is not empty, so that the least is
 * found without a walk. */
void demand_count_add(struct demand_count *waits, uint32_t gpus, int sign)
{
    uint32_t class = class_of(gpus);

    assert(sign == 1 || sign == -1);
    assert(sign > 0 || waits->count[class] > 0);
    assert((waits->count[class] > 0) == (waits->classes >> class & 1));
    waits->count[class] += sign > 0 ? 1u : UINT32_MAX;
    if (waits->count[class] == 0)
        waits->classes &= ~(UINT64_C(1) << class);
    else
        waits->classes |= UINT64_C(1) << class;
}

uint32_t demand_count_least(const struct demand_count *waits)
{
    return demand_count_least_but(waits, 0);
}

/* Sizes above 32 are classes of powers of two, of which the lower bound is
 * returned: never more than the least that waits.  The class of the one that is left out
 * counts only if it has another task.  For example, with tasks of 2, 2 and 5 GPUs without one
 * of 2 the least is 2; without the one of 5 it is 2 as well. */
uint32_t demand_count_least_but(const struct demand_count *waits, uint32_t gpus)
{
    uint64_t classes = waits->classes;
    uint32_t class = class_of(gpus);

    assert(gpus == 0 || waits->count[class] > 0);
    if (gpus > 0 && waits->count[class] == 1)
        classes &= ~(UINT64_C(1) << class);
    class = 0;

    if (classes == 0)
        return 0;
    for (; !(classes & 1); classes >>= 1)
        class++;
    return class <= 32 ? class : 32u << (class - 33);
}
