/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - what a trial measures: a listener that adds up facts.
 */
#ifndef EXPERIMENTS_MEASURE_METRICS_H
#define EXPERIMENTS_MEASURE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/measure/result.h"
#include "experiments/spec/trial_spec.h"
#include "sim/containers/demand_count.h"

struct arena;
struct cs_host;
struct fabric;
struct flow_net;
struct journal;
struct loop;
struct metrics;
struct placement;

/* What a trial gives to its measures; all must live as long as the trial. */
struct metrics_parts {
    struct arena *arena;        /* of all books */
    struct journal *journal;    /* tells the facts that are measured */
    struct loop *loop;          /* the clock */
    struct flow_net *net;       /* how busy links, GPUs and cores are */
    struct fabric *fabric;      /* which link of the net is what */
    const struct trial_spec *spec;
    const struct trial_tables *tables;  /* where rows go */
};

/* Returns the accumulator, in the arena of the parts; it listens to the journal
 * from now on. */
struct metrics *metrics_new(const struct metrics_parts *parts);
/* Tells which host the facts are of, before the first of them. */
void metrics_watch(struct metrics *metrics, struct cs_host *host);
struct host_counts;
struct host_job;
/* A trial without a host (trial_count.h) has no facts: it keeps these counters, which
 * are read at each of the calls below, and tells by them what happened. */
struct metrics_count {
    uint32_t pending, running, working_gpus;
    uint32_t first_gpus;        /* of the first that waits; 0: none does */
    struct demand_count waits;  /* GPUs that tasks ask for */
    const struct host_counts *counts;
};
/* Watches such counters in the place of a host; they must live as long. */
void metrics_watch_count(struct metrics *metrics,
                         const struct metrics_count *count);
/* A job came; a job started on what it asks for. */
void metrics_count_submitted(struct metrics *metrics,
                             const struct host_job *job);
void metrics_count_started(struct metrics *metrics,
                           const struct host_job *job);
/* The job was done; it held what it asks for from its start to now, on those GPUs (NULL: no
 * rows of phases are wanted). */
void metrics_count_ended(struct metrics *metrics, const struct host_job *job,
                         const struct placement *at);
/* All that happened at this instant was told. */
void metrics_count_told(struct metrics *metrics);
/* From here on things count: the end of the warm-up. */
void metrics_begin(struct metrics *metrics);
/* Stops at the end of the run, before the host is closed; returns the simulated
 * time of the end, in ns. */
int64_t metrics_stop(struct metrics *metrics);
/* Stores all built-in metrics of the trial. */
void metrics_result(struct metrics *metrics, struct trial_result *result);
/* Stores the metrics of the experiment's own, once all others are set. */
void metrics_own_result(const struct metrics *metrics, struct trial_result *result);
/* After that: do the causes of GPU time add up to all of it? */
bool metrics_gpus_add_up(const struct metrics *metrics);

#endif
