/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slots.h - jobs, tasks and leases of a trial, each in a slot with a number.
 *
 * A slot is kept while anything refers to it, and then serves another.  Pages
 * find the slots of jobs; those of jobs that ended are forgotten.
 */
#ifndef POLICIES_STATE_SLOTS_H
#define POLICIES_STATE_SLOTS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/cluster.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "models/types/gang.h"
#include "models/types/truth.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

#define HOST_SHARE_CLASSES 20u
#define HOST_NAME_BYTES 68u

/* A place that a role could go: one type of GPU in one pool, or in all. */
struct host_site {
    uint32_t pool, pool_mask;
    const struct gpu_type *gpu;
    double usd_per_h;           /* of a GPU, where it is cheapest */
};

struct host_sites {
    struct host_site *site;
    uint32_t count;             /* 0: a role without GPUs */
};

struct host_form {
    const struct job_form *form;
    uint32_t pool_mask[FORM_ROLES_MAX];     /* 0: any */
    uint32_t home_mask[FORM_ROLES_MAX];     /* 0: it has no home */
    struct host_sites sites[FORM_ROLES_MAX];
    uint32_t gpu_pools[FORM_ROLES_MAX];     /* that have GPUs it can use */
    double phase_s[FORM_PHASES_MAX];        /* at home, else where it is soonest
                                               over; as asked, links free */
    double step_s;                          /* longest path of a step */
    bool fixed;                             /* one phase of known length */
    struct host_speedup *speedup;                 /* of one role, by size and pool */
    uint32_t speedups, speedup_room;
    /* Of one role: so many GPUs, and so more, found no room when so many
     * releases had been made. */
    uint32_t full_gpus;
    uint64_t full_at;
};

struct host_speedup {
    uint32_t gpus, pool;
    uint32_t cores;             /* per GPU; 0: as asked */
    double speedup;
};

struct host_job_slot;
struct host_steps;              /* step.c */
struct host_rates;              /* goodput.c */

/* phase_start_ns and speedup lie together, in one line of the cache. */
struct host_lease_slot {
    struct cs_lease pub;
    struct host_job_slot *owner;    /* slot of pub.job, while it is live */
    int64_t phase_start_ns;
    double speedup;                 /* of a job of known length, speedup.h */
    double part;                    /* of part_phase: done before, on a lease
                                       in the place of which this one is */
    struct loop_handle event;       /* of loading or of the phase, where no
                                       link is crossed */
    uint32_t phase, part_phase;
    uint32_t share_room;            /* class of the share array */
    uint32_t place;                 /* among the leases */
    uint32_t beside;                /* lease on the same GPUs, or ID_NONE */
    uint32_t pool_mask;
    bool live, leaving, running, bursting, saving;
    uint8_t aged;                       /* of idle.c, where it is idle, */
    uint32_t idle_before, idle_next;    /* likewise */
    struct host_phase_run run;
    int64_t changed_ns;             /* joules are settled up to here */
    double busy_now;                /* busy fraction joules are counted at */
    double storage_bytes;           /* of shared storage, per run of its phase */
    struct loop_handle recall;      /* it is taken back then */
    int64_t recall_ns;
    int64_t load_from_ns;           /* loading or saving since */
    struct flow_handle flow;        /* of loading or of the phase */
    struct host_steps *steps;       /* NULL: none yet */
    struct gang gang;
};

/* Numbers in the order in which they came.  What leaves makes a hole, ID_NONE,
 * found by the place that its slot keeps; holes are closed when they are three
 * quarters of the list, or when the list is asked for. */
struct host_list {
    uint32_t *item, count, room, holes;
};

struct host_task_slot {
    struct cs_task pub;
    uint64_t seq;
    bool live;
};

/* What is asked of every job that runs comes first and fills a line of the
 * cache: with many jobs, what a decision costs is lines that are met. */
#define HOST_LINE_BYTES 64u
struct host_job_slot {
    int64_t estimate_ns;            /* of the whole job */
    int64_t done_ns;                /* recipe `trace`: run so far */
    int64_t penalty_ns;             /* owed at the next start */
    int64_t restart_until_ns;       /* of the restart that goes on */
    int64_t even_from_ns;           /* since then it runs, of known length and
                                       at the speedup that was stated; or
                                       CLOCK_NEVER_NS */
    uint32_t form;                  /* index into host->slots->form */
    uint32_t task;                   /* of the whole job, or ID_NONE */
    uint32_t left;                  /* its place in host->deals->left, or ID_NONE */
    uint32_t tenant;                /* ID_NONE: nobody asked */
    uint32_t phases_running;        /* a mask, of this step */
    uint32_t leases;                /* held now */

    uint32_t lease[FORM_ROLES_MAX];
    uint32_t role_task[FORM_ROLES_MAX];      /* CS_PER_PHASE */
    uint32_t phases_done;           /* a mask, of this step */
    uint32_t place;                 /* among the running */
    uint64_t seq;
    struct host_job pub;
    struct job_truth truth;
    uint32_t home[FORM_ROLES_MAX];  /* node that keeps a role's state */
    double stopped_part;            /* of training that was stopped: done */
    double kept;                /* of a rollout that was cut short: by the
                                   responses that were done */
    double saved_work_s, saved_gpu_s, saved_flops;
    int64_t gap_ns, gap_from_ns;    /* to its next interruption; < 0: none
                                       drawn yet */
    struct loop_handle gap_event;
    uint32_t stopped_phase, kept_phase;
    uint32_t saved_step;            /* where an interrupted job goes on */
    char name[HOST_NAME_BYTES];     /* pub.request.name, if it is short */
    uint32_t seat;                  /* cs_slot() */
    bool saving;                    /* a checkpoint was taken in this step */
};
_Static_assert(offsetof(struct host_job_slot, lease) == HOST_LINE_BYTES &&
                   sizeof(struct host_job_slot) % HOST_LINE_BYTES == 0,
               "what is asked of jobs that run is one line of each");

/* The slots of jobs that came one after the other.  A slot that is given back
 * serves the next job that comes, which finds it in the cache.  A page serves
 * others once all its jobs are forgotten: a large one, since what finds pages
 * is never given back. */
#define HOST_JOB_PAGE 512u
struct host_job_page {
    struct host_job_slot *slot[HOST_JOB_PAGE];  /* NULL: the job is to come,
                                                   or forgotten */
    uint32_t gone;                  /* forgotten */
    struct host_job_page *next;     /* spare */
};

/* Growing arrays, and numbers that are free again. */
struct host_slots {
    struct host_form *form;
    uint32_t form_count, form_room;
    struct host_job_page **job;     /* by number / HOST_JOB_PAGE; NULL: all
                                   its jobs are forgotten */
    uint32_t job_count, job_page_room;
    struct host_job_page *job_page_spare;
    struct host_job_slot **job_spare;
    uint32_t job_spares, job_spare_room;
    uint32_t *gone, gones, gone_room;   /* ended, and the policy knows */
    uint32_t *seat_spare, seat_spares, seat_room, seats;
    struct host_lease_slot *lease;
    uint32_t lease_count, lease_room;
    uint32_t *lease_spare, lease_spares;
    struct host_task_slot *task;
    uint32_t task_count, task_room;
    uint32_t *task_spare, task_spares;
    struct share *share_spare[HOST_SHARE_CLASSES];
};

/* slots and lists. */
void host_lists_begin(struct cs_host *host);
/* Without holes, good until one leaves. */
const struct host_list *host_held(const struct cs_host *host);
const struct host_list *host_running_list(const struct cs_host *host);
struct host_job_slot *host_job_make(struct cs_host *host);
/* Jobs that ended are forgotten at the next decision but one: first all that
 * are due, then what comes now is noted. */
void host_jobs_forget(struct cs_host *host);
void host_job_note_gone(struct cs_host *host, uint32_t job);
uint32_t host_task_make(struct cs_host *host);
void host_task_drop(struct cs_host *host, uint32_t task);
/* Counts a task, sign +1 or -1, among what waits for each pool. */
void host_task_waits(struct cs_host *host, uint32_t task, int sign);
uint32_t host_lease_make(struct cs_host *host);
void host_lease_unmake(struct cs_host *host, uint32_t lease);
void host_running_add(struct cs_host *host, uint32_t job);
void host_running_remove(struct cs_host *host, uint32_t job);
void host_placement_keep(struct cs_host *host, struct host_lease_slot *lease,
                         const struct placement *placement);
void host_tell(struct cs_host *host, enum fact_kind kind, uint32_t subject,
               uint32_t object, double amount);
/* A job that has ended leaves the list of cs_reallocate_moving() at the next deal; of
 * one that started or waits again the key moves otherwise. */
void host_left_end(struct cs_host *host, struct host_job_slot *job);
void host_left_change(struct cs_host *host, const struct host_job_slot *job);
void host_news_add(struct cs_host *host, int kind, uint32_t id);
/* Adds to a lease's GPUs in the counters of their pools; sign +1 or -1. */
void host_pools_add(struct cs_host *host, const struct host_lease_slot *lease,
                    int sign);
/* A lease in those counters gets that state and busy fraction. */
void host_pools_move(struct cs_host *host, struct host_lease_slot *lease,
                     enum cs_lease_state state, double busy);

#endif
