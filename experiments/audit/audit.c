/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.c - conservation laws, checked on every trial.
 *
 * capacity  no GPU, core or byte of memory of a node is held twice; parts of a
 *           GPU add up to one GPU at most; a lease lies in the pools and on the
 *           GPU types that its role asks for; what could be drawn at the meter is
 *           at most power_cap
 * states    every job is submitted once and ends once, in a counted state
 * work      a job that is done was given exactly the work it asks for; FLOPs
 *           of jobs are those of phases done, but for what failures lost
 * cost      what jobs are charged, in money and in energy, is the integral of
 *           what leases held
 * time      facts never run back
 * little    jobs in the system, integrated, equal their times in it (Little
 *           1961): a sum of whole nanoseconds, so equal to the last one
 * links     no link carries more than its capacity
 * gpus      what GPUs did, by cause, adds up to all of their time
 * figures   what is published, counted again (experiments/recount)
 *
 * Capacity, and the cost of leases, are in leases.c.
 */
#include "experiments/audit/audit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/audit/leases.h"
#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/flow/flow.h"

#define LINKS_EVERY 64u         /* decisions between two looks at the links */
#define LINKS_AT_ONCE 1024u     /* ... of which all are met in turn */

__extension__ typedef __int128 wide_ns;   /* jobs x nanoseconds */

/* What is known of jobs that came one after the other. */
#define JOBS_TOGETHER 1024u
/* A block of JOBS_TOGETHER states; state 0 is of a job that was not submitted yet. */
struct audit_jobs {
    uint8_t state[JOBS_TOGETHER];       /* 1 submitted, 2 ended */
    uint32_t ended;             /* of this block */
    struct audit_jobs *next;            /* spare */
};

/* The audit of one trial.  The two sums of Little's law are of whole nanoseconds in 128 bits,
 * where 2^32 jobs over 2^63 ns have room; so they are compared without a tolerance. */
struct audit {
    struct audit_parts parts;   /* what the trial gave */
    const struct cs_host *host; /* asked for what it claims, to be compared */
    struct audit_checks checks; /* shared with the books below */
    struct audit_leases *leases;    /* what is held of each node */
    struct audit_jobs **jobs;   /* by number / JOBS_TOGETHER; NULL: all of
                                   them ended */
    struct audit_jobs *spare;   /* or NULL */
    uint32_t jobs_room;
    uint64_t submitted, finished, decides;  /* facts heard so far */
    uint32_t next_link;         /* to look at */
    int64_t in_system;          /* jobs that came and have not ended */
    wide_ns area_ns, sojourn_ns;    /* integral of in_system; sum of times in it */
    int64_t area_from_ns;       /* up to when area_ns counts */
    double usd_jobs, joules_jobs;   /* what ended jobs were charged */
    double flops_phases, flops_jobs;    /* of phases that ended; of jobs that ended */
    bool lost;                  /* a failure set a job back */
    bool pools_differ;          /* the host's counters once said otherwise */
};

static void listen(struct audit *audit, struct journal *journal);

struct audit *audit_new(const struct audit_parts *parts)
{
    struct audit *audit = arena_alloc(parts->arena, 1, sizeof *audit);

    audit->parts = *parts;
    audit->checks.loop = parts->loop;
    audit->leases = audit_leases_new(parts, &audit->checks);
    listen(audit, parts->journal);
    return audit;
}

void audit_watch(struct audit *audit, const struct cs_host *host)
{
    audit->host = host;
    audit_leases_watch(audit->leases, host);
}

/* Counts a check, and stops the trial if it is the first that does not hold. */
static inline bool check(struct audit *audit, enum audit_check kind,
                         bool holds, const char *what, uint32_t subject)
{
    return audit_check(&audit->checks, kind, holds, what, subject);
}

/* Checks the time of a fact; the audit that hears it. */
static inline struct audit *hears(void *self, const struct fact *fact)
{
    struct audit *audit = self;

    audit_check_time(&audit->checks, fact);
    return audit;
}

/* The number of jobs in the system changes.  Its integral over time is compared with the
 * sum of all times in the system at the end (Little).  Example: 2 jobs for 5 s and then 1 job
 * for 3 s make 13 job-seconds. */
static void population(struct audit *audit, int64_t now, int change)
{
    audit->area_ns += (wide_ns)audit->in_system *
                      (now - audit->area_from_ns);
    audit->area_from_ns = now;
    audit->in_system += change;
}

/* Makes the states of the next JOBS_TOGETHER jobs.  A block whose jobs have all ended is
 * used again, so that memory follows the jobs in the system. */
static void begin_jobs(struct audit *audit, uint32_t block)
{
    ARENA_REACH(audit->parts.arena, audit->jobs, audit->jobs_room, block);
    struct audit_jobs *jobs = audit->spare;
    if (jobs != NULL)
        audit->spare = jobs->next;
    else
        jobs = arena_alloc(audit->parts.arena, 1, sizeof *jobs);
    memset(jobs, 0, sizeof *jobs);
    audit->jobs[block] = jobs;
}

/* Was it in the system?  It is no more.  A block whose last job ends goes to the spare ones.
 * A job of such a block that ends again is found out, as the block is gone. */
static bool leaves(struct audit *audit, uint32_t job)
{
    uint32_t block = job / JOBS_TOGETHER;
    struct audit_jobs *jobs =
        job < audit->submitted ? audit->jobs[block] : NULL;

    if (jobs == NULL || jobs->state[job % JOBS_TOGETHER] != 1)
        return false;
    jobs->state[job % JOBS_TOGETHER] = 2;
    if (++jobs->ended == JOBS_TOGETHER) {
        jobs->next = audit->spare;
        audit->spare = jobs;
        audit->jobs[block] = NULL;
    }
    return true;
}

/* Jobs are numbered by submission: another number is a job that came twice, or was lost. */
static void hear_submit(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    uint32_t job = fact->subject;

    if (!check(audit, AUDIT_STATES, job == audit->submitted,
               "a job is submitted out of its turn", job))
        return;
    if (job % JOBS_TOGETHER == 0)
        begin_jobs(audit, job / JOBS_TOGETHER);
    audit->jobs[job / JOBS_TOGETHER]->state[job % JOBS_TOGETHER] = 1;
    audit->submitted++;
    population(audit, fact->time_ns, +1);
}

/* A job that is done must have done its work: what it did, less what failures lost, is
 * what it asked for. */
static void hear_end(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    struct job_id id = { fact->subject };
    const struct host_job *job = host_job(audit->host, id);
    double due = job->work_due_s;

    check(audit, AUDIT_STATES, leaves(audit, id.i),
          "a job ends that was not in the system", id.i);
    audit->finished++;
    population(audit, fact->time_ns, -1);
    audit->sojourn_ns += (wide_ns)(fact->time_ns -
                                     job->request.submit_ns);
    audit->usd_jobs += job->usd;
    audit->joules_jobs += job->joules;
    audit->flops_jobs += job->flops;
    if (fact->object == JOB_DONE)
        check(audit, AUDIT_WORK,
              fabs(job->work_done_s - job->work_lost_s - due) <=
                  AUDIT_RELATIVE * fmax(1, due),
              "a job is done with another amount of work than it asks for",
              id.i);
}

/* Looks at LINKS_AT_ONCE links at most, and goes on behind them the next time: a net of
 * many links must not make each look expensive. */
static void look_at_links(struct audit *audit)
{
    struct flow_net *net = audit->parts.net;
    uint32_t links = flow_link_count(net);
    uint32_t left = links < LINKS_AT_ONCE ? links : LINKS_AT_ONCE;

    for (; left > 0; left--) {
        uint32_t l = audit->next_link < links ? audit->next_link : 0;
        check(audit, AUDIT_LINKS,
              flow_link_load(net, l) <=
                  flow_link_capacity(net, l) * (1 + AUDIT_RELATIVE),
              "a link carries more than its capacity", l);
        audit->next_link = l + 1;
    }
}

/* Do the host's counters hold what leases hold?  The result is only noted here; audit_causes()
 * makes a check of it at the end. */
static void look_at_pools(struct audit *audit)
{
    uint64_t milli = 0;

    for (uint32_t p = 0; p < audit->parts.cluster->pool_count; p++)
        milli += host_pool_now(audit->host, p)->allocated_milli;
    audit->pools_differ |= milli != audit_leases_milli(audit->leases);
}

/* A phase that ran to its end adds the FLOPs that it says it did. */
static void hear_phase(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    struct lease_id id = { fact->subject };

    if (fact->amount > 0)
        audit->flops_phases += host_phase_run(audit->host, id)->flops;
}

/* From now on jobs may have done fewer FLOPs than their phases.  Without a failure both sums
 * of FLOPs must be equal; with one, those of jobs may be less. */
static void hear_interrupt(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    audit->lost = true;
}

/* Links and counters of pools are looked at in every LINKS_EVERYth decision alone. */
static void hear_decide(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    if (audit->decides++ % LINKS_EVERY != 0)
        return;
    look_at_links(audit);
    look_at_pools(audit);
}

/* Hears all facts that no other function hears: only their times are checked. */
static void hear_other(void *self, const struct fact *fact)
{
    (void)hears(self, fact);
}

/* Kinds that leases.c hears are left to it, so that the time of each fact is checked once. */
static void listen(struct audit *audit, struct journal *journal)
{
    static journal_fn *const hear[FACT_KIND_COUNT] = {
        [FACT_JOB_SUBMIT] = hear_submit, [FACT_JOB_END] = hear_end,
        [FACT_DECIDE] = hear_decide, [FACT_PHASE_END] = hear_phase,
        [FACT_JOB_INTERRUPT] = hear_interrupt,
    };

    for (uint32_t kind = 0; kind < FACT_KIND_COUNT; kind++)
        if (!(AUDIT_LEASES_HEARS >> kind & 1))
            journal_listen(journal, UINT64_C(1) << kind,
                           hear[kind] != NULL ? hear[kind] : hear_other, audit);
}

void audit_causes(struct audit *audit, bool gpus, bool cost)
{
    check(audit, AUDIT_GPUS, gpus && !audit->pools_differ,
          "what GPUs did does not add up to all of their time", 0);
    check(audit, AUDIT_COST, cost,
          "the causes of cost do not add up to all of it", 0);
}

bool audit_close(struct audit *audit, uint64_t count[AUDIT_CHECK_COUNT],
                 struct err *err)
{
    struct err_pos nowhere = { 0 };
    double usd_leases, joules_leases, larger;

    audit_leases_close(audit->leases, &usd_leases, &joules_leases);
    check(audit, AUDIT_STATES,
          audit->submitted == audit->finished && audit->in_system == 0,
          "not every job that was submitted ended once", 0);
    check(audit, AUDIT_LITTLE, audit->area_ns == audit->sojourn_ns,
          "jobs in the system do not add up to their times in it", 0);
    larger = fmax(audit->usd_jobs, usd_leases);
    check(audit, AUDIT_COST,
          fabs(audit->usd_jobs - usd_leases) <=
              AUDIT_RELATIVE * fmax(1, larger),
          "jobs are charged something else than leases cost", 0);
    larger = fmax(audit->joules_jobs, joules_leases);
    check(audit, AUDIT_COST,
          fabs(audit->joules_jobs - joules_leases) <=
              AUDIT_RELATIVE * fmax(1, larger),
          "jobs are said to use other energy than their leases do", 0);
    larger = AUDIT_RELATIVE * fmax(1, audit->flops_phases);
    check(audit, AUDIT_WORK,
          audit->flops_jobs <= audit->flops_phases + larger &&
              (audit->lost ||
               audit->flops_jobs >= audit->flops_phases - larger),
          "jobs are said to have done other FLOPs than their phases", 0);
    memcpy(count, audit->checks.count, sizeof audit->checks.count);
    if (audit->checks.broken == NULL)
        return true;
    return err_set(err, ERR_BUG, nowhere, "the audit failed: %s: %s (number %u)",
                   audit_check_name(audit->checks.kind), audit->checks.broken,
                   audit->checks.subject);
}

const char *audit_check_name(enum audit_check kind)
{
    static const char *const name[AUDIT_CHECK_COUNT] = {
        "capacity", "states", "work", "cost", "time", "little", "links", "gpus",
        "figures",
    };
    assert((unsigned)kind < AUDIT_CHECK_COUNT);
    return name[kind];
}
