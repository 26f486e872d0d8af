/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * life.h - what leases and phases work with.
 */
#ifndef POLICIES_STATE_LIFE_H
#define POLICIES_STATE_LIFE_H

#include <stdint.h>

struct flow_use;
struct host_rates;
struct host_steps;
struct phase_cache;
struct share;

/* Scratch, and what is kept from one phase to the next. */
struct host_life {
    struct phase_cache *plans;  /* of the laws' answers by law and gang */
    struct host_steps *steps_spare; /* a list, to use again */
    struct host_rates *rates;       /* of jobs whose goodput is known */
    struct share *scratch;          /* node_count shares, for placer_find */
    struct flow_use *uses, *more_uses;  /* links of two placements each */
    uint32_t *bursts;               /* by link: training that exchanges
                                       gradients over it */
};

#endif
