/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rental.h - what rental.c and rent.c know of rented nodes, and
 * nobody else: how many a group has in each state, and which they are.
 *
 * Invariant: a node that may be leased is RENT_HERE; of any other all that is
 * free is blocked in the cluster.
 */
#ifndef POLICIES_HOST_RENTAL_H
#define POLICIES_HOST_RENTAL_H

#include "models/cluster/rented.h"
#include "policies/state/state.h"

enum rent_state { RENT_AWAY, RENT_COMING, RENT_HERE, RENT_NOTICE };

struct rent_node {
    enum rent_state state;
    uint32_t leases;
    uint32_t rentals;           /* so far, for the draws */
    bool kept;
    struct loop_handle event;   /* it comes, or is taken at last */
    struct loop_handle reclaim, keep;
    struct share *block;        /* none of it may be leased */
    uint32_t blocks, block_room;
};

struct rent_group {
    uint32_t first_away;        /* no node before it is away */
    uint32_t here, coming, leaving;
    uint32_t idle;              /* of those here, without a lease */
    uint32_t kept;              /* of those, for as long as they are needed to
                                   make up the least that is kept */
    uint32_t room;              /* nodes that could be ordered now */
    double wanted;              /* nodes, for what waits */
};

struct host_rent {
    struct rent_node *node;
    struct rent_group *group;
    bool *leaving;              /* per node: under notice */
    struct loop_handle change;  /* of what can be had */
    struct loop_handle look;    /* at what will have waited enough */
    uint64_t choices;
};

/* From now on it may not be leased, as nothing of it was taken. */
void host_rental_block(struct cs_host *host, uint32_t node);
/* A node that is away comes, after start_ns; 0: at once. */
void host_rental_order(struct cs_host *host, uint32_t node, int64_t start_ns);
/* Its owner wants a node that is here or coming. */
void host_rental_notice(struct cs_host *host, uint32_t node);

/* is a rented node there, and may be leased? */
bool host_rental_here(const struct cs_host *host, uint32_t node);
/* A lease came to rented nodes or went; one of them failed. */
void host_rental_held(struct cs_host *host, uint32_t lease, bool taken);
void host_rental_failed(struct cs_host *host, uint32_t node);

#endif
