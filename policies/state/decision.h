/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decision.h - when the policy decides next, what it is told then, and how a
 * trial fails.
 */
#ifndef POLICIES_STATE_DECISION_H
#define POLICIES_STATE_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/event/loop.h"

/* Something that the policy is told before its next decision. */
struct host_news {
    enum { NEWS_SUBMITTED, NEWS_ENDED, NEWS_IDLE } kind;
    uint32_t id;                /* of the job; of the lease for NEWS_IDLE */
};

/* What the policy asked for the first job that it tried to start. */
struct host_tries {
    uint32_t job;               /* ID_NONE: it tried none */
    enum cs_verdict verdict;    /* of that request */
    struct cs_want want[FORM_ROLES_MAX];
    uint32_t wants;             /* 0: as the job's owner asked */
};

/* When the policy decides, what it has asked for, and how the trial stands. */
struct host_decisions {
    uint32_t jobs_left;             /* submitted, not ended */
    struct host_news *news;     /* [news_count], in the order in which it happened */
    uint32_t news_count, news_room;
    struct loop_handle decide_event;    /* the planned decision; all zero: none is */
    int64_t decided_ns;             /* last decision; at time 0 there was
                                       none, as in Gavel's simulator */
    bool limited;                   /* cs_limit_reached() was called in this decision */
    int64_t solved_ns;              /* when cs_may_solve() last said yes; 0: not yet */
    int64_t round_from_ns;          /* rounds are counted from here */
    bool submits_over;          /* no job will come any more */
    bool lasts;                     /* the run goes on while no job is left */
    int64_t wake_ns;                /* earliest wake-up asked for */
    uint32_t handed_over;           /* how often: a policy's wake-ups go with it */
    uint32_t idle_decides;      /* in a row: no news, nothing held or done */
    uint32_t vain_stops;        /* in a row: nothing was saved, no phase ended */
    uint64_t random_state;          /* numbers that cs_random() has drawn */
    host_decision_fn *decision_fn;  /* told of each request; NULL: nobody listens */
    void *decision_self;
    struct host_tries *tries;   /* NULL: nobody asked */
    uint64_t done_before;           /* requests carried out before this decision */
    bool had_news;                  /* this decision */
    bool held;                      /* it goes on until host_resume() */
    bool failed, closing, in_decide;    /* cs_fail(); host_close(); the policy decides */
    char why[200];                  /* of cs_fail(), once it failed */
    char note[1200];                /* of cs_note() */
};

/* Does the run go on from now, because a job is left or the caller says so (host_lasts)?
 * Else nothing may be scheduled that would keep it from ending. */
static inline bool host_goes_on(const struct host_decisions *decision)
{
    return decision->jobs_left > 0 || decision->lasts;
}

#endif
