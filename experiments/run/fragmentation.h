/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fragmentation.h - how much of the GPUs is allocated when jobs that ask for so
 * much have arrived: a listener.
 */
#ifndef EXPERIMENTS_RUN_FRAGMENTATION_H
#define EXPERIMENTS_RUN_FRAGMENTATION_H

#include "experiments/run/metrics.h"

struct arrived;

struct arrived *arrived_new(const struct metrics_parts *parts);
void arrived_watch(struct arrived *arrived, const struct cs_host *host);
/* Before the host is closed. */
void arrived_stop(struct arrived *arrived);
/* The metrics of it, and its table if that is wanted. */
void arrived_result(struct arrived *arrived, struct trial_result *result);

#endif
