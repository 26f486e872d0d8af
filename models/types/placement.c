/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placement.c - sums over the shares of a placement.
 */
#include "models/types/placement.h"

#include <assert.h>
#include <stddef.h>

#define BITS_2(N) N, N + 1, N + 1, N + 2
#define BITS_4(N) BITS_2(N), BITS_2(N + 1), BITS_2(N + 1), BITS_2(N + 2)
#define BITS_6(N) BITS_4(N), BITS_4(N + 1), BITS_4(N + 1), BITS_4(N + 2)
const uint8_t mask_byte_count[256] = {
    BITS_6(0), BITS_6(1), BITS_6(1), BITS_6(2),
};

uint32_t placement_gpus(const struct placement *placement)
{
    assert(placement != NULL);
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < placement->share_count; i++)
        gpus += mask_count(placement->share[i].gpu_mask);
    return gpus;
}

uint64_t placement_core_milli(const struct placement *placement)
{
    assert(placement != NULL);
    uint64_t milli = 0;
    for (uint32_t i = 0; i < placement->share_count; i++)
        milli += placement->share[i].cores * UINT64_C(1000) +
                 placement->share[i].core_milli;
    return milli;
}

uint32_t placement_cores(const struct placement *placement)
{
    assert(placement != NULL);
    uint32_t cores = 0;
    for (uint32_t i = 0; i < placement->share_count; i++)
        cores += placement->share[i].cores;
    return cores;
}
