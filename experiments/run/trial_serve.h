/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_serve.h - the services of a trial: between their requests, which come
 * from the workload, and their replicas, which are jobs of the host.
 */
#ifndef EXPERIMENTS_RUN_TRIAL_SERVE_H
#define EXPERIMENTS_RUN_TRIAL_SERVE_H

#include "experiments/run/trial.h"

struct arena;
struct cs_host;
struct journal;
struct loop;
struct table;
struct trial_serve;

/* What a trial gives to its services; all must live as long as the trial. */
struct trial_serve_parts {
    struct arena *arena;
    struct loop *loop;          /* services and the host share it */
    struct journal *journal;    /* tells which replica got or lost its lease */
    const struct trial_spec *spec;  /* its workload names the services */
};

/* Returns the services of a trial, not begun; the caller frees them.  NULL where
 * the workload has no services. */
struct trial_serve *trial_serve_new(const struct trial_serve_parts *parts);
void trial_serve_free(struct trial_serve *serve);       /* accepts NULL */
/* Begins: replicas are asked for and requests come; before the loop runs. */
void trial_serve_begin(struct trial_serve *serve, struct cs_host *host);
/* After the run.  False: requests were lost on their way here (their file cannot
 * be read), and err says why. */
bool trial_serve_verdict(const struct trial_serve *serve, struct err *err);
/* Returns arrivals plus answers of all services so far.  The sum grows while services
 * make progress. */
uint64_t trial_serve_requests(const struct trial_serve *serve);
/* Stops the services after the run, before the host is closed. */
void trial_serve_stop(struct trial_serve *serve);
/* After the host was closed: the metrics of services, and their rows if table
 * is not NULL. */
void trial_serve_result(struct trial_serve *serve, struct table *table,
                        struct trial_result *result);

#endif
