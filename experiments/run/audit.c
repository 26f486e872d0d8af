/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.c - conservation laws, checked on every trial.
 *
 * capacity  no GPU, core or byte of memory of a node is held twice; parts of a
 *           GPU add up to one GPU at most
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
 */
#include "experiments/run/audit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

#define LINKS_EVERY 64u         /* decisions between two looks at the links */
#define LINKS_AT_ONCE 1024u     /* ... of which all are met in turn */
#define RELATIVE 1e-9           /* sums of doubles in another order */

__extension__ typedef __int128 wide_ns;   /* jobs x nanoseconds */

/* What a placement holds of the nodes of one group. */
struct part {
    const struct node_group *group;
    uint64_t gpu_milli;
    int64_t core_milli;
};

struct audit_lease {
    int64_t taken_ns, busy_ns;          /* held and busy since */
    double busy;
    struct part whole;                  /* group NULL: of several groups */
};

/* What is known of jobs that came one after the other. */
#define JOBS_TOGETHER 1024u
struct audit_jobs {
    uint8_t state[JOBS_TOGETHER];       /* 1 submitted, 2 ended */
    uint32_t ended;
    struct audit_jobs *next;            /* spare */
};

struct audit {
    struct audit_parts parts;
    const struct cs_host *host;
    uint64_t *held_mask;        /* per node */
    bool *down;                 /* per node: out of service, or not rented */
    uint32_t *first_gpu;        /* per group: of all GPUs, its first */
    uint16_t *part;             /* per GPU: milli held in parts, or NULL */
    int64_t *held_cores;        /* thousandths */
    int64_t *held_memory;
    struct audit_lease *lease;  /* per lease slot */
    uint32_t lease_room;
    struct audit_jobs **jobs;   /* by number / JOBS_TOGETHER; NULL: all of
                                   them ended */
    struct audit_jobs *spare;   /* or NULL */
    uint32_t jobs_room;
    int64_t last_ns;
    uint64_t submitted, finished, decides;
    uint32_t next_link;         /* to look at */
    int64_t in_system;
    wide_ns area_ns, sojourn_ns;
    int64_t area_from_ns;
    double usd_leases, usd_jobs, joules_leases, joules_jobs;
    double flops_phases, flops_jobs;
    bool lost;                  /* a failure set a job back */
    uint64_t held_milli;        /* of all GPUs, by the facts of leases */
    bool pools_differ;          /* the host's counters once said otherwise */
    uint64_t count[AUDIT_CHECK_COUNT];
    char broken[200];
};

static void listen(struct audit *audit, struct journal *journal);

struct audit *audit_new(const struct audit_parts *parts)
{
    struct audit *audit = arena_alloc(parts->arena, 1, sizeof *audit);
    uint32_t nodes = parts->cluster->node_count;

    audit->parts = *parts;
    audit->held_mask = arena_alloc(parts->arena, nodes, sizeof(uint64_t));
    audit->down = arena_alloc(parts->arena, nodes, sizeof *audit->down);
    audit->held_cores = arena_alloc(parts->arena, nodes, sizeof(int64_t));
    audit->held_memory = arena_alloc(parts->arena, nodes, sizeof(int64_t));
    for (uint32_t n = 0; n < nodes; n++)
        audit->down[n] = cluster_group_of(parts->cluster, n)->rent != NULL;
    listen(audit, parts->journal);
    return audit;
}

void audit_watch(struct audit *audit, const struct cs_host *host)
{
    audit->host = host;
}

/* The first that is broken ends the run. */
static bool note_broken(struct audit *audit, enum audit_check kind,
                        const char *what, uint32_t subject)
{
    if (audit->broken[0])
        return false;
    snprintf(audit->broken, sizeof audit->broken, "%s: %s (number %u)",
             audit_check_name(kind), what, subject);
    loop_stop(audit->parts.loop);
    return false;
}

static inline bool check(struct audit *audit, enum audit_check kind,
                         bool holds, const char *what, uint32_t subject)
{
    audit->count[kind]++;
    return holds || note_broken(audit, kind, what, subject);
}

/* Checks the time of a fact; the audit that hears it. */
static inline struct audit *hears(void *self, const struct fact *fact)
{
    struct audit *audit = self;

    check(audit, AUDIT_TIME, fact->time_ns >= audit->last_ns,
          "a fact is earlier than the one before", fact->subject);
    audit->last_ns = fact->time_ns;
    return audit;
}

static uint64_t node_mask(const struct node_group *group)
{
    return group->gpus == 64 ? ~UINT64_C(0)
                             : (UINT64_C(1) << group->gpus) - 1;
}

static int64_t core_milli(const struct share *share)
{
    return (int64_t)share->cores * 1000 + share->core_milli;
}

/* Milli held in parts, of the GPUs of a node. */
static uint16_t *parts_of(struct audit *audit, uint32_t node)
{
    const struct cluster_spec *spec = audit->parts.cluster;
    const struct node_group *group = cluster_group_of(spec, node);

    if (audit->part == NULL) {
        uint32_t gpus = 0;
        audit->part = arena_alloc(audit->parts.arena, spec->gpu_count,
                                  sizeof *audit->part);
        audit->first_gpu = arena_alloc(audit->parts.arena, spec->group_count,
                                       sizeof *audit->first_gpu);
        for (uint32_t g = 0; g < spec->group_count; g++) {
            audit->first_gpu[g] = gpus;
            gpus += spec->group[g].gpus * spec->group[g].node_count;
        }
    }
    return &audit->part[audit->first_gpu[group - spec->group] +
                        (node - group->first_node) * group->gpus];
}

/* A GPU that is held in parts stands in held_mask as well; false: it was
 * held whole, or has no such part left. */
static bool take_parts(struct audit *audit, const struct share *share)
{
    uint64_t held = audit->held_mask[share->node];
    uint16_t *part = parts_of(audit, share->node);
    bool free = true;

    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++) {
        if (!(share->gpu_mask >> g & 1))
            continue;
        free = free && (part[g] > 0 || !(held >> g & 1)) &&
               part[g] + share->gpu_milli <= (int)GPU_MILLI;
        part[g] = (uint16_t)(part[g] + share->gpu_milli);
    }
    return free;
}

/* Those of its GPUs of which parts are still held. */
static uint64_t drop_parts(struct audit *audit, const struct share *share)
{
    uint16_t *part = parts_of(audit, share->node);
    uint64_t still = 0;

    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++) {
        if (!(share->gpu_mask >> g & 1))
            continue;
        check(audit, AUDIT_CAPACITY, part[g] >= share->gpu_milli,
              "a part of a GPU is given back that was not held",
              share->node);
        part[g] = (uint16_t)(part[g] - share->gpu_milli);
        if (part[g] > 0)
            still |= UINT64_C(1) << g;
    }
    return still;
}

/* What it holds from share *i on, of one group; *i goes to the first share of
 * another one. */
static struct part next_part(const struct audit *audit,
                             const struct placement *place, uint32_t *i)
{
    const struct node_group *group =
        cluster_group_of(audit->parts.cluster, place->share[*i].node);
    uint32_t end = group->first_node + group->node_count;
    struct part part = { .group = group };

    for (; *i < place->share_count && place->share[*i].node < end; ++*i) {
        part.gpu_milli += share_milli(&place->share[*i]);
        part.core_milli += core_milli(&place->share[*i]);
    }
    return part;
}

/* A share more of a lease: while all are of one group, their sum is kept. */
static inline void add_share(struct part *whole,
                             const struct node_group *group,
                             const struct share *share, uint64_t milli, bool first)
{
    if (first)
        whole->group = group;
    else if (whole->group != group)
        whole->group = NULL;
    whole->gpu_milli += milli;
    whole->core_milli += core_milli(share);
}

/* Cores and memory of a node are held: no more than it has. */
static void hold_host(struct audit *audit, const struct node_group *group,
                      const struct share *share)
{
    int64_t *cores = &audit->held_cores[share->node];
    int64_t *memory = &audit->held_memory[share->node];

    *cores += core_milli(share);
    *memory += share->memory_bytes;
    if (*cores > (int64_t)group->cores * 1000 || *memory > group->memory_bytes)
        note_broken(audit, AUDIT_CAPACITY,
                    "more cores or memory held than the node has", share->node);
}

static inline bool takes_host(const struct share *share)
{
    return share->cores != 0 || share->core_milli != 0 || share->memory_bytes != 0;
}

static inline bool takes_parts(const struct share *share)
{
    return share->gpu_milli > 0 && share->gpu_milli < GPU_MILLI;
}

#define CHECKS_OF_SHARE 3u      /* its GPUs, its node, its cores and memory */

static void hold_share(struct audit *audit, const struct node_group *group,
                       const struct share *share)
{
    uint64_t *held = &audit->held_mask[share->node];
    bool part = takes_parts(share);
    bool free = (share->gpu_mask & ~node_mask(group)) == 0 &&
                (part ? take_parts(audit, share) : (share->gpu_mask & *held) == 0);

    if (!free)
        note_broken(audit, AUDIT_CAPACITY,
                    part ? "a GPU of the node is held beyond the whole of it"
                         : "a GPU of the node is held twice", share->node);
    if (audit->down[share->node])
        note_broken(audit, AUDIT_CAPACITY,
                    "a node that is out of service is leased", share->node);
    *held |= share->gpu_mask;
    if (takes_host(share))
        hold_host(audit, group, share);
    audit->count[AUDIT_CAPACITY] += CHECKS_OF_SHARE;
}

static void hear_take(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    struct lease_id id = { fact->subject };
    const struct placement *place = &cs_lease(audit->host, id)->placement;

    ARENA_REACH(audit->parts.arena, audit->lease, audit->lease_room, id.i);
    struct audit_lease *lease = &audit->lease[id.i];
    *lease = (struct audit_lease) { .taken_ns = fact->time_ns,
                                    .busy_ns = fact->time_ns };
    for (uint32_t i = 0; i < place->share_count; i++) {
        const struct share *share = &place->share[i];
        const struct node_group *group =
            cluster_group_of(audit->parts.cluster, share->node);
        uint64_t milli = share_milli(share);

        add_share(&lease->whole, group, share, milli, i == 0);
        audit->held_milli += milli;
        hold_share(audit, group, share);
    }
}

/* Next part of a lease from share *i on. */
static inline struct part lease_part(const struct audit *audit, uint32_t lease,
                                     const struct placement *place, uint32_t *i)
{
    if (audit->lease[lease].whole.group == NULL)
        return next_part(audit, place, i);
    *i = place->share_count;
    return audit->lease[lease].whole;
}

/* What a lease cost, from the file's prices. */
static double usd_of(const struct audit *audit, uint32_t lease, int64_t to_ns)
{
    struct lease_id id = { lease };
    const struct placement *place = &cs_lease(audit->host, id)->placement;
    int64_t from_ns = audit->lease[lease].taken_ns;
    double usd = 0;

    if (audit->parts.cluster->unpriced)
        return 0;
    for (uint32_t i = 0; i < place->share_count;) {
        struct part part = lease_part(audit, lease, place, &i);
        const struct node_group *group = part.group;
        double held = group->gpus ? (double)part.gpu_milli / group->gpus
                                  : (double)part.core_milli;
        double of = group->gpus ? GPU_MILLI : 1000.0 * group->cores;
        if (of > 0)
            usd += cluster_node_usd(group, from_ns, to_ns) * held / of;
    }
    return usd;
}

/* Of all GPUs of a lease, so busy. */
static double watts_of(const struct audit *audit, uint32_t lease, double busy)
{
    struct lease_id id = { lease };
    const struct placement *place = &cs_lease(audit->host, id)->placement;
    double watts = 0;

    for (uint32_t i = 0; i < place->share_count;) {
        struct part part = lease_part(audit, lease, place, &i);
        if (part.group->gpu != NULL)
            watts += power_gpu_w(part.group->gpu, busy) *
                     (double)part.gpu_milli / GPU_MILLI;
    }
    return watts;
}

/* Joules of a lease since its GPUs last changed what they do. */
static void change_busy(struct audit *audit, const struct fact *fact,
                        double busy)
{
    struct audit_lease *lease = &audit->lease[fact->subject];
    int64_t ns = fact->time_ns - lease->busy_ns;

    if (ns > 0)
        audit->joules_leases += clock_s_from_ns(ns) *
                                watts_of(audit, fact->subject, lease->busy);
    lease->busy_ns = fact->time_ns;
    lease->busy = busy < 0 ? 0 : busy > 1 ? 1 : busy;
}

static void hear_drop(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    struct lease_id id = { fact->subject };
    const struct placement *place = &cs_lease(audit->host, id)->placement;

    change_busy(audit, fact, 0);
    for (uint32_t i = 0; i < place->share_count; i++) {
        const struct share *share = &place->share[i];
        uint64_t *held = &audit->held_mask[share->node];
        check(audit, AUDIT_CAPACITY,
              (share->gpu_mask & *held) == share->gpu_mask,
              "a GPU is given back that was not held", share->node);
        *held &= ~share->gpu_mask;
        audit->held_milli -= share_milli(share);
        if (takes_parts(share))
            *held |= drop_parts(audit, share);
        if (!takes_host(share))
            continue;
        audit->held_cores[share->node] -= core_milli(share);
        audit->held_memory[share->node] -= share->memory_bytes;
    }
    audit->usd_leases += usd_of(audit, id.i, fact->time_ns);
}

static void population(struct audit *audit, int64_t now, int change)
{
    audit->area_ns += (wide_ns)audit->in_system *
                      (now - audit->area_from_ns);
    audit->area_from_ns = now;
    audit->in_system += change;
}

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

/* Was it in the system?  It is no more. */
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
                  RELATIVE * fmax(1, due),
              "a job is done with another amount of work than it asks for",
              id.i);
}

static void hear_down(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    check(audit, AUDIT_CAPACITY, audit->held_mask[fact->subject] == 0,
          "a node goes out of service, or back to its owner, with GPUs held",
          fact->subject);
    audit->down[fact->subject] = true;
}

static void look_at_links(struct audit *audit)
{
    struct flow_net *net = audit->parts.net;
    uint32_t links = flow_link_count(net);
    uint32_t left = links < LINKS_AT_ONCE ? links : LINKS_AT_ONCE;

    for (; left > 0; left--) {
        uint32_t l = audit->next_link < links ? audit->next_link : 0;
        check(audit, AUDIT_LINKS,
              flow_link_load(net, l) <=
                  flow_link_capacity(net, l) * (1 + RELATIVE),
              "a link carries more than its capacity", l);
        audit->next_link = l + 1;
    }
}

/* Do the host's counters hold what leases hold? */
static void look_at_pools(struct audit *audit)
{
    uint64_t milli = 0;

    for (uint32_t p = 0; p < audit->parts.cluster->pool_count; p++)
        milli += host_pool_now(audit->host, p)->allocated_milli;
    audit->pools_differ |= milli != audit->held_milli;
}

static void hear_lease_busy(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    change_busy(audit, fact, fact->amount);
}

static void hear_phase(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    struct lease_id id = { fact->subject };

    if (fact->amount > 0)
        audit->flops_phases += host_phase_run(audit->host, id)->flops;
}

static void hear_interrupt(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    audit->lost = true;
}

static void hear_up(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    audit->down[fact->subject] = false;
}

static void hear_notice(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    audit->down[fact->subject] = true;
}

static void hear_decide(void *self, const struct fact *fact)
{
    struct audit *audit = hears(self, fact);
    if (audit->decides++ % LINKS_EVERY != 0)
        return;
    look_at_links(audit);
    look_at_pools(audit);
}

/* Of all else only the time is checked. */
static void hear_other(void *self, const struct fact *fact)
{
    (void)hears(self, fact);
}

static void listen(struct audit *audit, struct journal *journal)
{
    static journal_fn *const hear[FACT_KIND_COUNT] = {
        [FACT_JOB_SUBMIT] = hear_submit, [FACT_JOB_END] = hear_end,
        [FACT_LEASE_TAKE] = hear_take, [FACT_LEASE_DROP] = hear_drop,
        [FACT_LEASE_BUSY] = hear_lease_busy, [FACT_DECIDE] = hear_decide,
        [FACT_NODE_DOWN] = hear_down, [FACT_NODE_UP] = hear_up,
        [FACT_RENT_UP] = hear_up, [FACT_RENT_NOTICE] = hear_notice,
        [FACT_RENT_END] = hear_down, [FACT_PHASE_END] = hear_phase,
        [FACT_JOB_INTERRUPT] = hear_interrupt,
    };

    for (uint32_t kind = 0; kind < FACT_KIND_COUNT; kind++)
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
    double larger = fmax(audit->usd_jobs, audit->usd_leases);

    for (uint32_t n = 0; n < audit->parts.cluster->node_count; n++)
        check(audit, AUDIT_CAPACITY, audit->held_mask[n] == 0,
              "GPUs are held when all jobs have ended", n);
    check(audit, AUDIT_STATES,
          audit->submitted == audit->finished && audit->in_system == 0,
          "not every job that was submitted ended once", 0);
    check(audit, AUDIT_LITTLE, audit->area_ns == audit->sojourn_ns,
          "jobs in the system do not add up to their times in it", 0);
    check(audit, AUDIT_COST,
          fabs(audit->usd_jobs - audit->usd_leases) <=
              RELATIVE * fmax(1, larger),
          "jobs are charged something else than leases cost", 0);
    larger = fmax(audit->joules_jobs, audit->joules_leases);
    check(audit, AUDIT_COST,
          fabs(audit->joules_jobs - audit->joules_leases) <=
              RELATIVE * fmax(1, larger),
          "jobs are said to use other energy than their leases do", 0);
    larger = RELATIVE * fmax(1, audit->flops_phases);
    check(audit, AUDIT_WORK,
          audit->flops_jobs <= audit->flops_phases + larger &&
              (audit->lost ||
               audit->flops_jobs >= audit->flops_phases - larger),
          "jobs are said to have done other FLOPs than their phases", 0);
    memcpy(count, audit->count, sizeof audit->count);
    if (!audit->broken[0])
        return true;
    return err_set(err, ERR_BUG, nowhere, "the audit failed: %s",
                   audit->broken);
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
