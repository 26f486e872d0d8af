/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pools.h - counters of each pool.
 */
#ifndef POLICIES_STATE_POOLS_H
#define POLICIES_STATE_POOLS_H

#include <stdint.h>

struct demand_count;
struct host_pool_now;

/* Arrays by pool. */
struct host_pools {
    struct host_pool_now *pool; /* [pool_count of the cluster] */
    struct demand_count *waits;       /* per pool */
};

#endif
