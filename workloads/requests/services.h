/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services.h - `services:` of a workload: specifications of services.
 */
#ifndef WORKLOADS_REQUESTS_SERVICES_H
#define WORKLOADS_REQUESTS_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/serving/request.h"
#include "models/serving/serve.h"
#include "sim/base/err.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"

struct arena;
struct conf_node;
struct conf_schema;
struct request_trace_spec;
struct world;

/* A service as its file has it.  It is read once and shared by all trials; each
 * opens a request_source of its own. */
struct service_entry {
    struct service_spec spec;   /* what models/serving works by */
    struct arrival arrival;     /* of requests */
    int64_t for_ns;             /* the last arrives before this time */
    struct distribution prompt, output; /* tokens */
    bool generates;             /* requests have output */
    uint32_t prefix_tokens, prefix_count;       /* prefixes of prompts; count 0:
                                   no prompts share one */
    double *prefix_below;       /* [k]: sum of the weights 0 to k */
    const struct request_trace_spec *trace;     /* replaces all of these; NULL:
                                   they are drawn */
    bool start_said[SERVE_SIDES];   /* the file says what a new replica takes to start */
    bool ahead_said;            /* the file has `async_scheduling` */
    struct err_pos sized_at;    /* the first written key of scaling that says how many
                                   replicas are wanted; file NULL: none is */
};

/* Returns an array of all services of a list, and its length in *count; NULL:
 * *world->err is set. */
struct service_entry *services_read(const struct world *world,
                                    const struct conf_node *list,
                                    size_t *count);

extern const struct conf_schema service_schema, service_requests_schema,
    service_slo_schema, service_scaling_schema, service_replicas_schema,
    service_switch_schema, service_times_schema, service_prefix_schema;

#endif
