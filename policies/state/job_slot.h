/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_slot.h - jobs, found by number through pages.
 *
 * A job keeps its slot until the policy has had a chance to decide on its end;
 * then the slot serves another job.  A page serves other jobs once all its jobs
 * are forgotten.
 */
#ifndef POLICIES_STATE_JOB_SLOT_H
#define POLICIES_STATE_JOB_SLOT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/types/truth.h"
#include "policies/state/state.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

#define HOST_NAME_BYTES 48u

/* What is kept of a role that spans nodes, or that has to see new weights; see
 * policies/leases/kept.h. */
struct host_kept {
    struct share *share;        /* its nodes, in ascending order */
    uint32_t nodes, room;
    uint32_t owed_from;         /* role whose weights it has not seen */
    double owed_bytes;          /* 0: it has seen all */
};

/* The fields that a decision reads of every job that runs come first and fill
 * one line of the cache: with many jobs a decision costs the lines it reads. */
#define HOST_LINE_BYTES 64u
/* What the host knows of a job.  `pub` is for listeners; all else is the host's own. */
struct host_job_slot {
    int64_t estimate_ns;            /* of the whole job, on what it asked for */
    int64_t done_ns;                /* of a known length: in phases that ended */
    int64_t penalty_ns;             /* owed at the next start */
    int64_t restart_until_ns;       /* of the restart that goes on */
    int64_t even_from_ns;           /* since then it runs, of known length and
                                       at the speedup that was stated; or
                                       CLOCK_NEVER_NS */
    uint32_t form;                  /* index into host->forms->form */
    uint32_t task;                   /* of the whole job, or ID_NONE */
    uint32_t left;                  /* its place in host->deals->left, or ID_NONE */
    uint32_t tenant;                /* ID_NONE: nobody asked */
    uint32_t phases_running;        /* a mask, of this step */
    uint32_t leases;                /* held now */

    uint32_t lease[FORM_ROLES_MAX];     /* of each role, or ID_NONE */
    uint32_t role_task[FORM_ROLES_MAX]; /* that waits, or ID_NONE; CS_PER_PHASE alone */
    uint32_t phases_done;           /* a mask, of this step */
    uint32_t place;                 /* among the running */
    uint64_t seq;                   /* of its submission, among jobs and tasks */
    struct host_job pub;        /* what the journal's listeners are shown */
    struct job_truth truth;     /* length and outcome; a policy without CS_CLAIRVOYANT is never
                                   told */
    uint32_t home[FORM_ROLES_MAX];  /* first node that keeps a role's state */
    struct host_kept *kept_more;    /* by role; NULL: no more is kept */
    double stopped_part;            /* of training that was stopped: done */
    double kept;                /* of a rollout that was cut short: by the
                                   responses that were done */
    double saved_work_s, saved_gpu_s, saved_flops;  /* at the last checkpoint */
    int64_t gap_ns, gap_from_ns;    /* to its next interruption; < 0: none
                                       drawn yet */
    struct loop_handle gap_event;   /* the next interruption, while the job runs */
    uint32_t stopped_phase, kept_phase; /* of stopped_part and of `kept` */
    uint32_t saved_step;            /* where an interrupted job goes on */
    uint32_t gaps;                  /* drawn so far; failures of nodes do not count */
    char name[HOST_NAME_BYTES];     /* pub.request.name, if it is short */
    uint32_t seat;                  /* cs_slot() */
    uint16_t curve;                 /* 1 + its index, sizes.c; 0: not asked yet, or none */
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

struct host_jobs {
    struct host_job_page **page;    /* by number / HOST_JOB_PAGE; NULL: all
                                       its jobs are forgotten */
    uint32_t count, page_capacity;  /* count: jobs submitted so far */
    uint32_t pages_gone;            /* of the first ones: all their jobs are forgotten */
    struct host_job_page *free_page;    /* to use again */
    struct host_job_slot **free;    /* slots that serve no job */
    uint32_t free_count, free_capacity;
    uint32_t *gone, gone_count, gone_capacity;  /* ended, and the policy knows */
    struct host_kept **free_kept;   /* kept_more of jobs that are forgotten */
    uint32_t free_kept_count, free_kept_capacity;
    uint32_t *free_seat, free_seat_count, seat_capacity;
    uint32_t seat_count;        /* seats ever given: all are below it */
};

/* Every job of the same page is forgotten. */
static inline bool host_job_page_gone(const struct cs_host *host, uint32_t job)
{
    assert(job < host->jobs->count);
    return host->jobs->page[job / HOST_JOB_PAGE] == NULL;
}

/* Returns the slot of a job that is not forgotten.  It stays where it is as long as the
 * job is known. */
static inline struct host_job_slot *host_job_slot(const struct cs_host *host,
                                                  uint32_t job)
{
    assert(!host_job_page_gone(host, job));
    struct host_job_slot *slot =
        host->jobs->page[job / HOST_JOB_PAGE]->slot[job % HOST_JOB_PAGE];

    assert(slot != NULL);
    return slot;
}

/* Has the job ended?  True of one that is forgotten. */
static inline bool host_job_over(const struct cs_host *host, uint32_t job)
{
    const struct host_job_slot *slot;

    if (host_job_page_gone(host, job))
        return true;
    slot = host->jobs->page[job / HOST_JOB_PAGE]->slot[job % HOST_JOB_PAGE];
    return slot == NULL || slot->pub.end_ns != CLOCK_NEVER_NS;
}

static inline const struct job_form *host_form_of(
    const struct host_job_slot *job)
{
    assert(job->pub.request.form != NULL);
    return job->pub.request.form;
}

#endif
