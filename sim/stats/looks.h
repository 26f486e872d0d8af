/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looks.h - samples that grow until what they say suffices.
 *
 * A run looks at its samples several times.  At each look it has half as many
 * again as at the look before, and all of them at the last one.  A rule that stops
 * as soon as an interval pleases needs a wider interval; this file says how much
 * wider.
 */
#ifndef SIM_STATS_LOOKS_H
#define SIM_STATS_LOOKS_H

#include <stdint.h>

enum looks_rule {
    LOOKS_NONE,         /* one look: nothing changes */
    LOOKS_WIDTH,        /* until the interval is narrow */
    LOOKS_DECIDED       /* until it lies on one side of a limit */
};

/* How many looks there are at most, from 1. */
uint32_t looks_count(enum looks_rule rule, uint32_t at_most);
/* Samples of a look, from 0; of the last: at_most. */
uint32_t looks_size(enum looks_rule rule, uint32_t at_most, uint32_t look);

/* The confidence that one interval must have for that of a whole run to be
 * `confidence`, from 0 to 1. */
double looks_confidence(enum looks_rule rule, uint32_t looks, double confidence);
/* The p-value of a whole run from that of its last look: below 1 - confidence
 * exactly where the interval above leaves the value out. */
double looks_p(enum looks_rule rule, uint32_t looks, double p);

#endif
