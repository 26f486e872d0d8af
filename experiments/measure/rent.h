/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.h - node-seconds of groups that are paid for only for a while: held
 * (`billing: held`) or rented (`rent:`), and what they cost.
 *
 * A node that is billed while held is rented when the first lease comes to it
 * and given back when the last has gone; it is billed whole, by the second.  A
 * rented one is paid from its order to its end, in the units of its group.
 */
#ifndef EXPERIMENTS_MEASURE_RENT_H
#define EXPERIMENTS_MEASURE_RENT_H

#include <stdint.h>

#include "experiments/measure/metrics.h"

struct rent;

/* Returns the accumulator, in the arena of the parts; NULL where all nodes are
 * paid for all the time; rent_watch() and rent_begin() accept that, and no group is
 * billed so that the others would be asked. */
struct rent *rent_new(const struct metrics_parts *parts);
/* Names the host, before the first lease. */
void rent_watch(struct rent *rent, const struct cs_host *host);
/* From here on it counts: the end of the warm-up. */
void rent_begin(struct rent *rent, int64_t now_ns);
/* Returns the node-seconds of a group since rent_begin(); the group must be billed
 * so. */
double rent_node_s(const struct rent *rent, uint32_t group, int64_t now_ns);
/* Returns their price, integrated over the time in which they were held or rented: what
 * they cost, without parts of units that were not used. */
double rent_used_usd(const struct rent *rent, uint32_t group, int64_t now_ns);
/* Returns what they cost; *unused_usd (NULL: not wanted) is the part that was paid
 * before nodes could be used, and for parts of units after they were given back. */
double rent_usd(const struct rent *rent, uint32_t group, int64_t now_ns,
                double *unused_usd);

#endif
