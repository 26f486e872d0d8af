/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.h - what every pool did, interval by interval.
 */
#ifndef EXPERIMENTS_MEASURE_TIMELINE_H
#define EXPERIMENTS_MEASURE_TIMELINE_H

#include "experiments/measure/metrics.h"

struct timeline;

/* Returns the writer, in the arena of the parts.  Attach it only if the table was
 * asked for. */
struct timeline *timeline_new(const struct metrics_parts *parts);
/* Names the host and begins the first interval, of a trace with its first job; before the first
 * event. */
void timeline_watch(struct timeline *timeline, struct cs_host *host);
/* Watches counters in the place of a host (metrics.h); they must live as long.  Each job that
 * comes is then told. */
void timeline_watch_count(struct timeline *timeline, const struct metrics_count *count);
void timeline_job_came(struct timeline *timeline);
/* False: the user's step gives more intervals than a table should have, and the
 * run was stopped for it; err says so. */
bool timeline_fits(const struct timeline *timeline, struct err *err);
/* Writes the rows of a run that ended then. */
void timeline_close(struct timeline *timeline, int64_t end_ns);

#endif
