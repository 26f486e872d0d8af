/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.h - joules of every node group, from what its GPUs and cores did.
 */
#ifndef EXPERIMENTS_MEASURE_ENERGY_H
#define EXPERIMENTS_MEASURE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/measure/metrics.h"

struct energy;

/* Returns the accumulator, in the arena of the parts. */
struct energy *energy_new(const struct metrics_parts *parts);
/* Names the host, before the first lease. */
void energy_watch(struct energy *energy, const struct cs_host *host);
/* By hand, without a host: GPUs of group 0 are busy from now on, or idle. */
void energy_count(struct energy *energy, int64_t now_ns, uint32_t gpus,
                  bool start);
/* From here on it counts: the end of the warm-up. */
void energy_begin(struct energy *energy, int64_t now_ns);

/* Returns the joules of a group since then: its GPUs, sockets and the rest of its
 * nodes, without PUE. core_s is given the core-seconds of work, if not NULL. */
double energy_group_j(struct energy *energy, uint32_t group, int64_t now_ns,
                      double *core_s);

#endif
