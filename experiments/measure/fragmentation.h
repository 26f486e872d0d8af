/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fragmentation.h - the fragmentation curve, a listener: how much of the GPUs is
 * allocated when the jobs that have arrived ask for 1%, 2% ... of them (Weng et al.,
 * USENIX ATC 2023).
 */
#ifndef EXPERIMENTS_MEASURE_FRAGMENTATION_H
#define EXPERIMENTS_MEASURE_FRAGMENTATION_H

#include "experiments/measure/metrics.h"

struct arrived;

/* Returns the listener, in the arena of the parts; NULL: jobs that do not fit wait, or
 * there is no GPU. */
struct arrived *arrived_new(const struct metrics_parts *parts);
/* Names the host, before the first job; accepts NULL, as do the next two. */
void arrived_watch(struct arrived *arrived, const struct cs_host *host);
/* Ends the curve; before the host is closed. */
void arrived_stop(struct arrived *arrived);
/* Stores the metrics of the curve, and writes its rows if that table is wanted. */
void arrived_result(struct arrived *arrived, struct trial_result *result);

#endif
