/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terms.h - what the host is given and what it tells: rules, counters, jobs,
 * phases that run.
 */
#ifndef POLICIES_STATE_TERMS_H
#define POLICIES_STATE_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "policies/policy.h"

struct arena;
struct cluster_spec;
struct fabric;
struct flow_net;
struct journal;
struct loop;

/* What happens when the first task of the order finds no room.  HOST_STRICT: all
 * others wait behind it.  HOST_SKIP: others may start.  HOST_COMMIT: as strict, and it
 * stays the first, also if the order changes.  HOST_DROP: its job is dropped. */
enum host_blocking { HOST_STRICT, HOST_SKIP, HOST_COMMIT, HOST_DROP };
/* What policies are told of the length of a job: the truth, the limit that its owner
 * asked for, or the truth times a random factor. */
enum host_estimate { HOST_EXACT, HOST_REQUESTED, HOST_NOISY };

/* Preemption: seconds lost at the restart, by GPUs of the job. */
struct host_cost_step {
    uint32_t gpus_max;          /* UINT32_MAX: more */
    int64_t cost_ns;
};
#define HOST_COST_STEPS_MAX 8u

/* What roles that may run on GPUs or on cores are allowed to use. */
enum host_hardware { HOST_ANY_HARDWARE, HOST_GPUS_ALONE, HOST_CORES_ALONE };

/* The rules of an entry of `policies:` that are the host's and not the policy's.  Read
 * once and shared by all trials. */
struct host_rules {
    enum host_blocking blocking;    /* key `blocking` */
    bool backfill;              /* HOST_COMMIT: shorter jobs start meanwhile */
    enum place_rule placement;  /* key `placement` */
    bool ties_shuffled;         /* nodes tie by an order drawn per trial */
    bool no_growth;             /* no role gets more GPUs than it asks for */
    enum host_hardware hardware;    /* of roles that may run on either */
    int64_t relax_ns;           /* placement: consolidate; 0: never */
    enum host_estimate estimate;    /* key `estimate` */
    double noise_cv;            /* HOST_NOISY: lognormal factor */
    int64_t round_ns;           /* decisions only at its multiples; 0: events */
    int64_t resolve_ns;         /* ... and so far apart at least, once one was
                                   made after time 0 */
    bool round_ends_early;      /* when all that runs has ended, see decide.c */
    int64_t tick_ns;            /* ends are seen at the next tick: a job of
                                   known length takes one longer; 0: none */
    struct host_cost_step cost[HOST_COST_STEPS_MAX];    /* `preemption: {cost: }`, by rising
                                                           gpus_max */
    uint32_t cost_count;        /* 0: a restart costs nothing more */
};

/* An entry of `weights:`: a number, or a list of them. */
struct host_weight {
    const char *key;            /* as the file has it */
    double value;               /* 0 where `list` is set */
    const double *list;         /* NULL: a number */
    uint32_t count;             /* of the list */
};

/* Policies that stop, resize or pack jobs deal GPUs, as others say that they do, and know
 * no cores. */
#define HOST_DEALERS (CS_PREEMPTS | CS_RESIZES | CS_PACKS | CS_NEEDS_GPUS)
static inline enum host_hardware host_hardware(const struct cs_policy *policy,
                                               const struct host_rules *rules)
{
    return policy->flags & HOST_DEALERS ? HOST_GPUS_ALONE : rules->hardware;
}

/* One entry of `policies:`: read once, shared by all trials. */
struct host_policy {
    const char *name;           /* in results; `name:` or the policy's own */
    const struct cs_policy *policy; /* the table of its code */
    bool guest;                 /* not built in: nobody vouches for its code */
    struct host_rules rules;    /* the keys of the entry that are the host's */
    const void *params;         /* policy->self_bytes, params filled in */
    const struct host_weight *weight;   /* [weight_count], of the key `weights` */
    uint32_t weight_count;
    const char *limits;         /* "depth_max: 60": of the policy; or NULL */
    const struct host_policy *then;     /* takes over at then_ns; NULL: none does */
    int64_t then_ns;            /* since the start; no use without `then` */
    const char *semantics;      /* "blocking=strict placement=count ..." */
};

/* What it does, and what the one that takes over from it does. */
static inline uint32_t host_policy_flags(const struct host_policy *policy)
{
    return policy->policy->flags | (policy->then != NULL ? policy->then->policy->flags : 0);
}

/* What a host is made of.  All pointers are the trial's and live as long as the host. */
struct host_parts {
    struct arena *arena;        /* of the trial */
    struct loop *loop;          /* the trial's events */
    struct flow_net *net;       /* flows over the links of `fabric` */
    const struct cluster_spec *cluster; /* shared by all trials */
    struct fabric *fabric;      /* the links of this trial */
    struct journal *journal;    /* told of every fact */
    const struct host_policy *policy;   /* the entry that begins */
    uint64_t seed;              /* of the experiment; replica: which of its seeds */
    uint32_t replica;
    bool by_step;               /* fidelity: step */
    const struct place_demand *demand;  /* placement: fgd; may be NULL */
    size_t demand_count;
    uint32_t vain_max;          /* 0: HOST_VAIN_MAX */
};

/* So many decisions or stops in a row that came to nothing end a run, with the reason:
 * it would never end by itself. */
#define HOST_VAIN_MAX 1000000u
/* The bound of stops, per job that waits or runs: if all jobs had this number of turns and
 * saved nothing, none of them gets anywhere. */
#define HOST_VAIN_TURNS 1000u

/* Why a role has a pool of its own. */
enum host_home { HOST_HOME_NONE, HOST_HOME_SAID, HOST_HOME_POOL,
                 HOST_HOME_NAME };

/* Counters since the host was made. */
struct host_counts {
    uint64_t ended[JOB_STATUS_COUNT];   /* jobs, by their status */
    uint64_t decide, preemptions, refused, interruptions, resizes, moves;
    uint64_t verdict[CS_VERDICT_COUNT]; /* requests, by their answer */
    uint64_t decisions;         /* requests that were carried out */
    uint64_t nodes_seen;        /* by searches for room */
    uint64_t tasks_seen;         /* by searches of the queue */
    uint64_t limited;           /* decisions: cs_limit_reached() */
};

/* A job, as listeners of the journal see it.  It is charged when a lease ends;
 * what its leases hold now is not in the sums yet. */
struct host_job {
    struct job_request request;         /* as its owner submitted it */
    int64_t start_ns, end_ns;   /* start: of its first lease with GPUs, if it
                                   asks for any; CLOCK_NEVER_NS: not yet */
    enum job_status status;     /* final once the job has ended */
    uint32_t preemptions;       /* by cs_stop() */
    uint32_t interruptions;     /* by failures */
    uint32_t step;              /* steps done */
    double gpu_seconds;         /* held by leases that have ended */
    double core_seconds;        /* likewise */
    double usd;                 /* price of what it held; of that: */
    double usd_compute, usd_switch, usd_wait;   /* at work; loading, saving; neither */
    double usd_transfer;        /* beside it: storage, of rented nodes */
    double joules;              /* of GPUs and cores that it held */
    double work_due_s, work_done_s;     /* what the truth asks for, and what was
                                   delivered: GPU-seconds of a known length, else
                                   runs of phases */
    double work_lost_s;         /* of the latter: cut off or lost, and done again */
    double flops;               /* model FLOPs of phases that are done, without
                                   what failures lost */
    double ideal_s;             /* seconds it takes, alone on what it asks for */
    const char *gpu_type;       /* of its last GPU lease, or NULL */
};

/* The phase that runs on a lease.  Complete while FACT_PHASE_END is told. */
struct host_phase_run {
    struct job_id job;
    const struct phase_spec *phase; /* of the job's form */
    struct lease_id lease;
    int64_t start_ns;           /* on this lease: loading is over */
    double rate;                /* runs per second, measured at the end; 0: cut short */
    double rate_max;            /* `rate` if the links were free */
    double part;                /* of a whole run, what this lease did; set at the end */
    double busy_fraction;       /* of the time at rate_max: GPUs compute */
    double tail_fraction;       /* ... wait for the longest responses */
    double mfu, hfu;            /* FLOPs utilization of model, hardware, at rate_max */
    double flops;               /* model FLOPs of a whole run of the phase */
    const char *bottleneck;     /* the slowest resource; "": not known */
    uint32_t step;              /* of the job, from 0 */
    bool shares_bursts;         /* exchanges gradients over a link on which
                                   another lease does so too */
};

/* What the GPUs of a pool do now: for gauges. */
struct host_pool_now {
    uint32_t gpus, allocated, idle_leased;  /* all; held by leases; held by idle ones */
    uint64_t allocated_milli;   /* GPUs in thousandths, parts as such; of these: */
    uint64_t loading_milli, busy_milli;
    double utilized;            /* GPUs x busy fraction of their phase */
    uint32_t down;              /* GPUs of nodes that are out of service */
    uint64_t away_milli;        /* of nodes not rented, or under notice */
};

enum host_action { HOST_START, HOST_CONTINUE, HOST_RELEASE, HOST_STOP,
                   HOST_RESIZE, HOST_MOVE, HOST_TAKE_BACK, HOST_ACTION_COUNT };

/* A request of a policy that was carried out, or refused for another reason than want of
 * room: for decisions.csv. */
struct host_decision {
    int64_t time_ns;            /* when it was made */
    uint64_t seq;               /* counts requests from 1, those without room left out */
    enum host_action action;
    struct job_id job;
    uint32_t role;              /* or CS_ALL_ROLES */
    enum cs_verdict verdict;
    struct placement placement; /* empty if refused; of the first role */
    uint32_t pending, free_gpus;    /* tasks that wait, and GPUs, at that time */
};
typedef void host_decision_fn(void *self, const struct host_decision *d);

/* Ends the job of a replica of a service (LAW_SERVE) as done, also if it never
 * started. */
void host_serve_end(struct cs_host *host, struct job_id job);
/* Says which part of the time a replica is at work, 0 to 1: of late, for its power, and
 * since its phase began, for its GPU time.  Without effect while no phase runs. */
void host_serve_busy(struct cs_host *host, struct job_id job, double recent,
                     double mean);
/* Forgets where nodes are rented for roles alone, as a policy said by cs_rent_in(). */
void host_forget_rented(struct cs_host *host);
/* Does the policy start a role with a home only at its home? */
bool host_confines(const struct host_policy *policy);
/* Does it start role r of such jobs in its home alone, if it has one? */
bool host_confines_role(const struct host_policy *policy, const struct cluster_spec *spec,
                        const struct job_form *form, uint32_t r);
/* Returns the pool that is the home of a role, and stores why; UINT32_MAX: none is. */
uint32_t host_home_pool(const struct cluster_spec *spec,
                        const struct role_spec *role, enum host_home *rule);
/* Finds room in these pools (0: in all) for the GPUs that the owner of a role asks for, or for
 * its cores, if it may compute on them.  False: there is none.  share: room for the nodes of
 * the cluster, which *out points to. */
bool host_role_fits(const struct cluster *cluster, enum place_rule rule,
                    const struct role_spec *role, uint32_t pools, struct share *share,
                    struct placement *out);
/* Returns the GPUs of the smallest task that waits and could use a pool: exact up to 32,
 * above that the power of two below; 0: no such task waits. */
uint32_t host_pool_waits(const struct cs_host *host, uint32_t pool);
/* Returns for how many of the s seconds that a phase ran its GPUs were at work. */
double host_busy_s(const struct host_phase_run *run, double s);

#endif
