/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c - a count per size, and a bit per count that is not 0. */
#include "sim/containers/waits.h"

#include <assert.h>

static uint32_t class_of(uint32_t gpus)
{
    uint32_t class = 32;

    if (gpus <= class)
        return gpus;
    for (; gpus > 63; gpus >>= 1)
        class++;
    return class + 1;
}

void waits_add(struct waits *waits, uint32_t gpus, int sign)
{
    uint32_t class = class_of(gpus);

    assert(sign > 0 || waits->count[class] > 0);
    waits->count[class] += sign > 0 ? 1u : UINT32_MAX;
    if (waits->count[class] == 0)
        waits->classes &= ~(UINT64_C(1) << class);
    else
        waits->classes |= UINT64_C(1) << class;
}

uint32_t waits_least(const struct waits *waits)
{
    return waits_least_but(waits, 0);
}

uint32_t waits_least_but(const struct waits *waits, uint32_t gpus)
{
    uint64_t classes = waits->classes;
    uint32_t class = class_of(gpus);

    if (gpus > 0 && waits->count[class] == 1)
        classes &= ~(UINT64_C(1) << class);
    class = 0;

    if (classes == 0)
        return 0;
    for (; !(classes & 1); classes >>= 1)
        class++;
    return class <= 32 ? class : 32u << (class - 33);
}
