/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - the host in parts.
 *
 * Each part has a header of its own, which only the files that work with the
 * part include.  What must go up to a file that is called later goes through
 * struct host_hooks.
 */
#ifndef POLICIES_STATE_STATE_H
#define POLICIES_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/event/loop.h"

struct cluster;
struct placer;
struct host_decisions;
struct host_deals;
struct host_forms;
struct host_jobs;
struct host_leases;
struct host_life;
struct host_nodes;
struct host_pools;
struct host_rent;
struct host_stand;
struct host_tasks;
struct host_turn;
struct host_waiting;

struct host_hooks {
    /* Plans a decision, if none is planned. */
    void (*wake)(struct cs_host *host);
    /* A lease is loaded, and idle. */
    void (*lease_ready)(struct cs_host *host, uint32_t lease);
    /* The phase on a lease has run to its end, and still is on it. */
    void (*phase_over)(struct cs_host *host, uint32_t lease);
    /* A job got its first lease (runs), or gave back its last. */
    void (*ran)(struct cs_host *host, uint32_t job, bool runs);
    /* The other on its GPUs has gone. */
    void (*alone)(struct cs_host *host, uint32_t lease);
    /* Where nodes are rented: a lease came to them or went, a node failed. */
    void (*held)(struct cs_host *host, uint32_t lease, bool taken);
    void (*rented_failed)(struct cs_host *host, uint32_t node);
    /* For indexes over tasks. */
    void (*task_made)(struct cs_host *host, uint32_t task);
    void (*task_gone)(struct cs_host *host, uint32_t task);
};

struct cs_host {
    struct host_parts parts;    /* what host_new() was given */
    struct host_hooks hooks;
    const struct cs_policy *policy;     /* the one that decides now, with its rules */
    const struct host_rules *rules;
    const struct cluster_spec *spec;    /* parts.cluster, for short */
    struct cluster *cluster;            /* what is free */
    struct placer *placer;              /* finds room in it, by the rule `placement` */
    void *self;                         /* the policy's memory */
    struct host_counts counts;

    struct host_jobs *jobs;             /* job_slot.h */
    struct host_forms *forms;           /* form.h */
    struct host_tasks *tasks;           /* task_slot.h */
    struct host_leases *leases;         /* lease_slot.h */
    struct host_waiting *waiting;       /* waiting.h */
    struct host_deals *deals;           /* deals.h */
    struct host_turn *turn;             /* turn.h */
    struct host_stand *stand;           /* stand.h */
    struct host_decisions *decision;    /* decision.h */
    struct host_life *life;             /* life.h */
    struct host_nodes *nodes;           /* nodes.h */
    struct host_rent *rent;             /* policies/nodes/rental.h; NULL: nothing is rented */
    struct host_pools *pools;           /* pools.h */
};

static inline int64_t host_now(const struct cs_host *host)
{
    return loop_now_ns(host->parts.loop);
}

static inline bool host_per_phase(const struct cs_host *host)
{
    return (host->policy->flags & CS_PER_PHASE) != 0;
}

#endif
