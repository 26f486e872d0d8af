/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.h - nodes that were out of service, rented, or not there.
 */
#ifndef EXPERIMENTS_RECOUNT_NODES_H
#define EXPERIMENTS_RECOUNT_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct fact;
struct nodes;

/* Of a group of nodes, from the warm-up to the end of the run. */
struct nodes_sum {
    double usd, unused_usd;     /* rented, or paid for while held */
    double used_usd;            /* without parts of units */
    double node_s;
};

/* Returns the book of a cluster whose nodes are all in service, in the arena; rented
 * ones are not there yet. */
struct nodes *nodes_new(struct arena *arena, const struct cluster_spec *cluster);
/* A fact of a node.  inside: jobs are in the system; else it is entered when the next
 * job comes (nodes_job), or at the end if it is of the run. */
void nodes_fact(struct nodes *nodes, const struct fact *fact, int64_t inside);
void nodes_job(struct nodes *nodes);
/* A lease that begins (+1) or ends (-1) on a node that is paid for while held. */
void nodes_lease(struct nodes *nodes, uint32_t node, int64_t now_ns, int change);
/* Thousandths of GPUs that no lease can have, now. */
int64_t nodes_gone_milli(const struct nodes *nodes);

/* After it only the next two are asked. */
void nodes_close(struct nodes *nodes, int64_t from_ns, int64_t end_ns);
/* Thousandths of GPUs x ns that were out of service; paid for and not usable; not
 * rented. */
__int128_t nodes_down(const struct nodes *nodes);
__int128_t nodes_starting(const struct nodes *nodes);
__int128_t nodes_away(const struct nodes *nodes);
struct nodes_sum nodes_group(const struct nodes *nodes, uint32_t group);

#endif
