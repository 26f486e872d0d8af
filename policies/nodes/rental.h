/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rental.h - rented nodes: the state of each, and how many nodes of a group are
 * in each state.  Of block.c, reclaim.c and rental.c.  `node`: a number of the cluster.
 *
 * Invariant: a node that may be leased is RENT_HERE.  Of any other node, all
 * that is free is blocked in the cluster.
 */
#ifndef POLICIES_NODES_RENTAL_H
#define POLICIES_NODES_RENTAL_H

#include <math.h>

#include "models/cluster/rented.h"
#include "policies/state/state.h"

/* Away: not rented.  Coming: ordered, and not there yet.  Here: may be leased.  Notice: the
 * provider takes it back soon. */
enum rent_state { RENT_AWAY, RENT_COMING, RENT_HERE, RENT_NOTICE };

struct rent_node {
    enum rent_state state;
    uint32_t leases;            /* that stand on it */
    uint32_t rentals;           /* so far; selects the random draws */
    bool kept;                  /* idle, and kept as one of nodes_min */
    bool meant;                 /* rented to end a standstill (host_rent_only) */
    struct loop_handle event;   /* the node comes, or its notice ends */
    struct loop_handle reclaim, keep; /* the provider takes it back; its time idle is over */
    struct share *block;        /* parts that nobody may lease */
    uint32_t blocks, block_room; /* of `block` */
};

struct rent_group {
    uint32_t first_away;        /* no node of the group before it is away; an index in the
                                 * group */
    uint32_t here, coming, leaving; /* nodes in these states; leaving: under notice */
    uint32_t idle;              /* here, and without a lease */
    uint32_t kept;              /* idle, and kept as one of nodes_min */
    uint32_t room;              /* nodes that could be ordered now */
    uint32_t planned;           /* nodes to be ordered now for waiting tasks */
    double wanted;              /* nodes that waiting tasks need */
    uint32_t planned_before;    /* both before the task that is counted */
    double wanted_before;
    struct host_demand *demand; /* NULL: nothing is forecast */
};

struct host_rent {
    struct rent_node *node;     /* by number */
    struct rent_group *group;   /* by index; of owned groups all zero */
    bool *leaving;              /* per node: under notice */
    struct loop_handle change;  /* the number that can be rented changes */
    struct loop_handle look;    /* another task has waited long enough, or
                                   the forecast is looked at */
    bool forecasts;             /* a group is rented by forecast */
    bool only_meant;            /* nothing else is rented now */
    uint64_t choices;           /* so far; selects the random draws */
    /* Milliwatts under a power cap: owned nodes that stand by; nodes that are planned and
       not ordered yet; the waiting tasks that were counted, once they run. */
    int64_t owned_mw, planned_mw, drawn_mw;
    int64_t planned_mw_before, drawn_mw_before; /* the last two before the task that is counted */
    double *parts;              /* scratch: nodes of each group for a gang */
};

/* Returns how a node is rented; NULL: it is owned. */
const struct rent_spec *host_rental_spec(const struct cs_host *host, uint32_t node);
/* Returns the counters of the group of a rented node. */
struct rent_group *host_rental_group(const struct cs_host *host, uint32_t node);

/* Blocks a part of a node, all of which is free, or all that is free on a node; returns its
 * GPUs, as a fraction. */
double host_rental_block_share(struct cs_host *host, const struct share *free);
double host_rental_block_free(struct cs_host *host, uint32_t node);
/* Gives all blocked parts of a node back to the cluster. */
void host_rental_unblock(struct cs_host *host, uint32_t node);
/* Blocks a node that is away and that nobody has leased, at the start. */
void host_rental_block(struct cs_host *host, uint32_t node);
/* Orders a node that is away: it comes after start_ns; 0: at once. */
void host_rental_order(struct cs_host *host, uint32_t node, int64_t start_ns);
/* The node no longer counts as one of nodes_min that are kept idle. */
void host_rental_clear_kept(struct cs_host *host, uint32_t node);
/* Makes a node without leases away; cancels its events. */
void host_rental_end(struct cs_host *host, uint32_t node);
/* The provider reclaims a node that is here or coming.  A node with leases goes
 * when its notice ends, any other at once. */
void host_rental_notice(struct cs_host *host, uint32_t node);
/* An event: the provider takes back the node with that number, if it is still here. */
void host_rental_reclaim_due(struct loop *loop, void *host, uint64_t node);

/* Sums of parts of nodes are wrong by less than this: a fifth, two fifths, three
 * tenths and a tenth of a node are added up to a little more than one. */
#define HOST_RENTAL_SLACK 1e-9
/* Returns how many whole nodes a sum of parts of nodes takes. */
static inline double host_rental_whole(double nodes)
{
    return nodes > 1 ? ceil(nodes - HOST_RENTAL_SLACK) : ceil(nodes);
}

/* Is a rented node here, so that it may be leased? */
bool host_rental_here(const struct cs_host *host, uint32_t node);
/* A lease was taken (taken) or given back (!taken); counts it on each rented
 * node that it stands on.  lease: live. */
void host_rental_held(struct cs_host *host, uint32_t lease, bool taken);
/* A node failed: its leases and its parked state are lost, and it is away. */
void host_rental_failed(struct cs_host *host, uint32_t node);

#endif
