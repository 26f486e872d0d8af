/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.h - failures as they were recorded: when which server of a trace was
 * out of service, and until when.
 *
 * The file is a series per server (`clustersim import faults`), whose value is
 * how many faults the server has; 0 is well.  A server that never failed is not
 * in the file, so that its number is a key of its own.
 */
#ifndef MODELS_CLUSTER_FAULTS_H
#define MODELS_CLUSTER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;

struct fault {
    int64_t down_ns, up_ns;     /* of the run; up: CLOCK_NEVER_NS if it never
                                   came back */
    uint32_t server;
};

struct faults {
    struct fault *fault;        /* by down_ns, then server */
    uint32_t count;
    uint32_t servers;           /* those that never fail included */
    double per_node_s;          /* mean rate, to the last of them */
};

extern const struct conf_schema faults_schema;

/* NULL: err says why; nodes: of the cluster, no more than servers. */
const struct faults *faults_read(struct arena *arena,
                                 const struct conf_node *conf,
                                 uint32_t nodes, struct err *err);

#endif
