/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - what a trial measures: a listener that adds up facts.
 */
#ifndef EXPERIMENTS_METRICS_H
#define EXPERIMENTS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/trial.h"

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
/* From here on things count: the end of the warm-up. */
void metrics_begin(struct metrics *metrics);
/* At the end of the run, before the host is closed; when it was. */
int64_t metrics_stop(struct metrics *metrics);
void metrics_result(struct metrics *metrics, struct trial_result *result);
/* After that: do the causes of GPU time and of cost add up to all of it? */
bool metrics_gpus_add_up(const struct metrics *metrics);
bool metrics_cost_adds_up(const struct trial_result *result);

#endif
