/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service.h - what a service should run on: for every GPU type and division of
 * the model, and for cores, the fewest replicas that keep the promise at the
 * service's highest rate, and their cost.
 *
 * A candidate is simulated request by request (models/serving/service.h), with
 * the replicas there from the start; so the laws are those of a trial.
 */
#ifndef EXPERIMENTS_ADVISE_SERVICE_H
#define EXPERIMENTS_ADVISE_SERVICE_H

#include <stdio.h>

#include "experiments/advise/advise.h"

struct out;
struct service_entry;

/* Share of the requests that must be answered as promised. */
#define ADVISE_ATTAINED 0.99

/* One candidate.  Times are in s, at the 99th percentile of requests after the
 * warm-up. */
struct advise_service_row {
    const char *name;           /* GPU type, CPU type, or group of nodes */
    const struct advise_place *place;   /* NULL: cores */
    uint32_t tp;                /* GPUs of a replica; 0: on cores */
    uint32_t cores;             /* of a replica on cores */
    uint32_t replicas;          /* 0: no number keeps the promise */
    uint32_t most;              /* that were tried at most */
    double usd_per_h;           /* of all replicas; NAN: no price is known */
    double ttft_p99_s, tpot_p99_s, latency_p99_s;
    double attained, busy_fraction; /* requests within all promises; time at work */
    double usd_per_million;     /* answers at the highest rate */
    double alone_s;             /* replicas 0: mean time of a request alone */
    double missing_bytes;       /* replicas 0: what it lacks; else 0 */
    bool pareto;                /* none is both cheaper and faster */
};

struct advise_service {
    const struct advise_world *world;
    const struct conf_node *conf;       /* the entry */
    const struct service_entry *entry;  /* of the workload */
    double peak_per_s;          /* 0: requests of a file */
    struct advise_service_row *row;     /* by cost, or by latency */
    size_t row_count;
};

/* Reads the services of a workload's file, not searched yet; returns their
 * number.  0: none, or err is set. */
size_t advise_services_read(const struct advise_world *world,
                            const char *path, struct advise_service **out,
                            struct err *err);
/* Fills the rows, in order of cost or, by_time, of latency.  Simulates each candidate, so it
 * takes seconds.  False: err says why (the service promises nothing). */
bool advise_service_search(struct advise_service *service, bool by_time,
                           struct err *err);
/* service_plan.c: the experiment that runs the first row; NULL: there is none,
 * or too many requests would come before its replicas are up. */
char *advise_service_plan(const struct advise_service *service);

/* files.c: as advise_plot. */
bool advise_service_plot(struct arena *arena, const char *path,
                         const struct advise_service *service,
                         struct err *err);

/* service_print.c: the first `top` rows, then what did not keep the promise and why. */
void advise_service_print(FILE *file, const struct advise_service *service,
                          uint32_t top);
/* As advise_csv_new and advise_csv. */
struct sheet *advise_service_csv_new(void);
void advise_service_csv(struct sheet *sheet,
                        const struct advise_service *service);

#endif
