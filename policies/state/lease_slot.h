/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lease_slot.h - leases, each in a slot with a number.  The slot of a lease
 * that is gone serves another one.
 */
#ifndef POLICIES_STATE_LEASE_SLOT_H
#define POLICIES_STATE_LEASE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/gang.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

#define HOST_SHARE_CLASSES 20u

struct host_job_slot;
struct host_steps;              /* step.c */

/* phase_start_ns and speedup lie together, in one line of the cache. */
struct host_lease_slot {
    struct cs_lease pub;        /* what cs_lease() shows */
    struct host_job_slot *owner;    /* slot of pub.job, while the lease is live */
    int64_t phase_start_ns;     /* while `running` */
    double speedup;                 /* of a job of known length, speedup.h */
    double part;                    /* of part_phase: done on an earlier lease,
                                       0 to 1 */
    struct loop_handle event;       /* end of loading, or of a phase that
                                       crosses no link */
    uint32_t phase, part_phase; /* of the form: on it now; that `part` is of */
    uint32_t share_class;           /* its shares: an array of 2^share_class */
    uint32_t place;                 /* in the list of held leases */
    uint32_t beside;                /* lease on the same GPUs, or ID_NONE */
    uint32_t pool_mask;         /* pools of its nodes; never 0 */
    /* live: the slot serves a lease.  leaving: state is copied before it ends, and nothing
     * starts on it.  running: a phase runs on it.  bursting: it is counted in
     * life->bursts.  saving: it took over from another lease, whose state is copied
     * before this one loads. */
    bool live, leaving, running, bursting, saving;
    bool parks;                 /* its job is stopped: its state stays in the memory of its
                                   nodes, also of one under notice */
    uint8_t aged;                       /* idle.c: the ages that it has */
    uint32_t idle_before, idle_next;    /* idle.c: leases in the list, ID_NONE */
    struct host_phase_run run;  /* while `running`, and as its end is told */
    int64_t changed_ns;             /* joules are counted up to here */
    double busy_now;                /* busy fraction at which joules count */
    double storage_bytes;           /* of shared storage, per run of its phase */
    struct loop_handle recall;      /* when it is taken back */
    int64_t recall_ns;          /* that time, while recall is planned */
    int64_t load_from_ns;           /* start of loading or saving */
    int64_t restart_ns;             /* what the restart of its job takes of it, once its
                                       bytes are loaded */
    int64_t restart_until_ns;       /* end of that; 0: it did not begin */
    int64_t paid_ns;                /* until when its money has a cause */
    double lost_gpu_s;              /* GPU-seconds for nothing: a phase that was cut */
    struct flow_handle flow;        /* of loading, saving or the phase */
    double copy_usd;                /* paid ahead for a byte of what it loads or saves */
    struct host_steps *steps;       /* NULL: none yet */
    struct gang gang;           /* its GPUs for the laws, made at the grant */
};

struct host_leases {
    struct host_lease_slot *slot;   /* [capacity]; it moves when it grows */
    uint32_t count, capacity;
    uint32_t *free, free_count;     /* numbers of slots that are not live */
    struct share *free_share[HOST_SHARE_CLASSES];   /* lists of arrays to use again, by
                                                       share_class */
};

#endif
