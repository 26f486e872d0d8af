/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - what a trial measures: a listener that adds up facts.
 */
#ifndef EXPERIMENTS_RUN_METRICS_H
#define EXPERIMENTS_RUN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/run/trial.h"
#include "sim/containers/demand_count.h"

struct arena;
struct cs_host;
struct fabric;
struct flow_net;
struct journal;
struct loop;
struct metrics;

struct metrics_parts {
    struct arena *arena;
    struct journal *journal;
    struct loop *loop;
    struct flow_net *net;
    struct fabric *fabric;
    const struct trial_spec *spec;
    const struct trial_tables *tables;
};

struct metrics *metrics_new(const struct metrics_parts *parts);
void metrics_watch(struct metrics *metrics, struct cs_host *host);
/* Of a trial without a host and its facts (trial_count.h): what it would be
 * asked, and what is told by hand. */
struct host_counts;
struct host_job;
struct metrics_count {
    uint32_t pending, running, working_gpus;
    uint32_t first_gpus;        /* of the first that waits; 0: none does */
    struct demand_count waits;
    const struct host_counts *counts;
};
void metrics_watch_count(struct metrics *metrics,
                         const struct metrics_count *count);
void metrics_count_submitted(struct metrics *metrics,
                             const struct host_job *job);
void metrics_count_started(struct metrics *metrics,
                           const struct host_job *job);
/* It held what it asks for from its start to now. */
void metrics_count_ended(struct metrics *metrics, const struct host_job *job);
/* All of an instant was told. */
void metrics_count_told(struct metrics *metrics);
/* From here on things count: the end of the warm-up. */
void metrics_begin(struct metrics *metrics);
/* At the end of the run, before the host is closed; when it was. */
int64_t metrics_stop(struct metrics *metrics);
void metrics_result(struct metrics *metrics, struct trial_result *result);
/* Once all of it is set: the metrics of the experiment's own. */
void metrics_own_result(const struct metrics *metrics, struct trial_result *result);
/* After that: do the causes of GPU time add up to all of it? */
bool metrics_gpus_add_up(const struct metrics *metrics);

#endif
