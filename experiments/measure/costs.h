/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * costs.h - what a trial costs: money by cause, joules, and carbon.
 */
#ifndef EXPERIMENTS_MEASURE_COSTS_H
#define EXPERIMENTS_MEASURE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

struct costs;
struct cs_host;
struct host_job;
struct metrics_parts;
struct trial_result;

/* Returns the accumulator, in the arena of the parts; it listens to the journal. */
struct costs *costs_new(const struct metrics_parts *parts);
/* Names the host, before the first event. */
void costs_watch(struct costs *costs, const struct cs_host *host);
/* From here on it counts: the end of the warm-up. */
void costs_begin(struct costs *costs, int64_t now_ns);
/* By hand, without a host: a job has GPUs of group 0 from now on (`start`), or no
 * longer. */
void costs_count(struct costs *costs, int64_t now_ns, uint32_t gpus,
                 bool start);
/* Adds what a job held, when it has ended. */
void costs_charge(struct costs *costs, const struct host_job *job);
/* A job came, or ended.  While there is none, changes of the carbon intensity are not
 * waited for: that time is counted when the next job comes, if one does. */
void costs_job_came(struct costs *costs, int64_t now_ns);
void costs_job_ended(struct costs *costs, int64_t now_ns);

/* Returns what METRIC_COST would be, in USD, if the run ended now; looks at each
 * node. */
double costs_until(struct costs *costs, int64_t now_ns);

/* Stores the metrics of all until the end of the run, but the cost of a job;
 * core_s is given the core-seconds of work. */
void costs_result(struct costs *costs, int64_t end_ns,
                  struct trial_result *result, double *core_s);
/* After that: do the causes of the cost add up to all of it? */
bool costs_add_up(const struct trial_result *result);

#endif
