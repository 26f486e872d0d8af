/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.h - recorded failures: which server of a trace was out of service,
 * from when until when.
 *
 * The file has a series for each server (`clustersim import faults`).  The
 * value is the number of faults that the server has; at 0 it works.  A server
 * that never failed is not in the file; so the number of servers is a key.
 */
#ifndef MODELS_CLUSTER_FAULTS_H
#define MODELS_CLUSTER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;

/* One time that a server was down. */
struct fault {
    int64_t down_ns, up_ns;     /* in time of the run; up_ns is CLOCK_NEVER_NS
                                   if it is never repaired */
    uint32_t server;
};

struct faults {
    struct fault *fault;        /* sorted by down_ns, then server */
    uint32_t count;
    uint32_t servers;           /* in all, with those that never fail */
    double per_node_s;          /* mean rate per second until the last fault */
};

extern const struct conf_schema faults_schema;

/* Returns the failures in the arena; NULL: *err says what is wrong.  nodes: of
 * the cluster, at most as many as servers. */
const struct faults *faults_read(struct arena *arena,
                                 const struct conf_node *conf,
                                 uint32_t nodes, struct err *err);

#endif
