/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shown.h - the metrics beside the one that decides.  Private to experiments/decide.
 */
#ifndef EXPERIMENTS_DECIDE_SHOWN_H
#define EXPERIMENTS_DECIDE_SHOWN_H

#include <stdint.h>

#include "experiments/columns/metric.h"
#include "sim/stats/stats.h"

struct arena;
struct decision;

/* Returns the metrics of the table, in the arena: what decides, the conditions, and cost,
 * completion time and promises kept, each once. */
const enum metric *decide_shown(struct arena *arena, const struct decision *decision,
                                uint32_t *count);
/* Returns the mean of an option at a point; count 0: it has none. */
struct stats_mean decide_mean(const struct decision *decision,
                              uint32_t point, uint32_t option, enum metric metric);
/* Returns its difference to the first option, paired; count 0: nothing to compare. */
struct stats_delta decide_delta(const struct decision *decision,
                                uint32_t point, uint32_t option, enum metric metric);

#endif
