/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sets.h - places for all roles of a job on a cluster where no other job runs, under the power
 * cap, over sets of rented nodes.
 *
 * validate asks so whether a job can run at all, and the host where it can when nothing runs: what
 * has a place here has one in a run whose other nodes are given back.
 */
#ifndef POLICIES_LEASES_SETS_H
#define POLICIES_LEASES_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/fit.h"
#include "models/jobs/job.h"

struct arena;
struct cluster;
struct cluster_spec;
struct host_nodes;
struct placer;
struct placer_parts;

/* Ways in which a policy would have a role, tried in this order. */
#define SETS_WAYS 4u

struct sets_role {
    struct fit_want way[SETS_WAYS];
    uint32_t ways;              /* 0: it needs nothing */
};

struct sets {
    /* The cluster has nothing on it but what stays; placer: over it. */
    struct cluster *cluster;
    struct placer *placer;
    struct share *share;        /* room for roles times nodes */
    struct host_nodes *nodes;   /* what owned nodes and all that stays draw */
    uint32_t *kept;             /* by group: rented nodes that stand by in any case (sets_keep) */
    bool one_pool;              /* no gang is spread over pools */
    uint32_t roles;             /* at most FORM_ROLES_MAX */
    struct sets_role role[FORM_ROLES_MAX];
    /* Found: */
    struct placement place[FORM_ROLES_MAX];     /* by role */
    uint32_t lacks;             /* the first role without a place */
    double draws_mw;            /* what the cluster draws in the thriftiest places that lack
                                   power; INFINITY: there are no places */
    /* Inside. */
    bool capped;                /* in this try the cap counts */
    int64_t more_mw;            /* of the roles that have a place in this try */
    bool *used;                 /* scratch, by node: all false */
    uint32_t *standing;         /* scratch, by group: nodes beyond those that are kept */
    uint32_t *limit;            /* by group: free nodes that this try may use */
    struct share *out;          /* by node: what is taken out beyond the limit, */
    bool *is_out;               /* if something is */
};

/* Returns a search on an empty cluster, in the arena: with the rule, the seed, the replica and the
 * demand of `parts`, whose cluster is not read. */
struct sets *sets_new(struct arena *arena, const struct cluster_spec *spec,
                      const struct placer_parts *parts);
/* So many rented nodes of group g stand by in any case.  Once for a group. */
void sets_keep(struct sets *sets, uint32_t g, uint32_t count);
/* Finds places for all roles together, with regard to the power cap if `capped`; the cluster is as
 * before.  False: `lacks` or, if `capped`, draws_mw says why. */
bool sets_find(struct sets *sets, bool capped);

#endif
