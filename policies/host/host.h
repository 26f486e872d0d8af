/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.h - the scheduler around a policy: it owns jobs, tasks and leases, tasks
 * the policy, checks every answer, and tells the journal.
 *
 * Semantics that change what a policy's name means are keys of the host, the
 * same for every policy, and printed with every result: struct host_rules.
 */
#ifndef POLICIES_HOST_HOST_H
#define POLICIES_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/policy.h"

struct arena;
struct catalogue;
struct cluster_spec;
struct conf_node;
struct conf_schema;
struct err;
struct flow_net;
struct fabric;
struct gang;
struct job_truth;
struct journal;
struct loop;

/* HOST_COMMIT: strict, and what came first once stays first.  HOST_DROP: what
 * finds no room when it is first tried ends there. */
enum host_blocking { HOST_STRICT, HOST_SKIP, HOST_COMMIT, HOST_DROP };
enum host_estimate { HOST_EXACT, HOST_REQUESTED, HOST_NOISY };

/* Preemption: seconds lost at the restart, by GPUs of the job. */
struct host_cost_step {
    uint32_t gpus_max;          /* UINT32_MAX: more */
    int64_t cost_ns;
};
#define HOST_COST_STEPS_MAX 8u

struct host_rules {
    enum host_blocking blocking;
    bool backfill;              /* HOST_COMMIT: shorter jobs start meanwhile */
    enum place_rule placement;
    bool ties_shuffled;         /* nodes tie by an order drawn per trial */
    int64_t relax_ns;           /* placement: consolidate; 0: never */
    enum host_estimate estimate;
    double noise_cv;            /* HOST_NOISY: lognormal factor */
    int64_t round_ns;           /* decisions only at its multiples; 0: events */
    int64_t resolve_ns;         /* ... and so far apart at least, once one was
                                   made after time 0 */
    bool round_ends_early;      /* when all that runs has ended, see host.c */
    int64_t tick_ns;            /* ends are seen at the next tick: a job of
                                   known length takes one longer; 0: none */
    struct host_cost_step cost[HOST_COST_STEPS_MAX];
    uint32_t cost_count;
};

struct host_weight {
    const char *key;
    double value;
};

/* One entry of `policies:`: read once, shared by all trials. */
struct host_policy {
    const char *name;           /* in results; `name:` or the policy's own */
    const struct cs_policy *policy;
    struct host_rules rules;
    const void *params;         /* policy->self_bytes, params filled in */
    const struct host_weight *weight;
    uint32_t weight_count;
    const char *limits;         /* "depth_max: 60": of the policy; or NULL */
    const char *semantics;      /* "blocking=strict placement=count ..." */
};

/* An entry of `policies:`, and what lies below its keys. */
extern const struct conf_schema host_rules_schema, host_rounds_schema,
    host_preemption_schema;
/* The same with the keys of a policy behind them. */
struct conf_schema host_policy_keys(struct arena *arena,
                                    const struct cs_policy *policy);

/* A scalar (the name) or a map {policy: NAME, name:, rules, params}. */
const struct host_policy *host_policy_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           struct err *err);
/* The same, where an entry that says nothing of estimates means this. */
const struct host_policy *host_policy_read_as(struct arena *arena,
                                              const struct conf_node *conf,
                                              const char *estimate,
                                              struct err *err);

/* Could a trial of it depend on which replica it is?  Told by what is
 * declared: a policy without CS_DRAWS that draws fails. */
bool host_policy_draws(const struct host_policy *policy);

struct host_parts {
    struct arena *arena;        /* of the trial */
    struct loop *loop;
    struct flow_net *net;
    const struct cluster_spec *cluster;
    struct fabric *fabric;
    struct journal *journal;
    const struct host_policy *policy;
    uint64_t seed;
    uint32_t replica;
    bool by_step;               /* fidelity: step */
    const struct place_demand *demand;  /* placement: fgd; may be NULL */
    size_t demand_count;
    uint32_t vain_max;          /* 0: HOST_VAIN_MAX */
};

/* A run ends with its reason where so many decisions or stops in a row came to
 * nothing: it would never end. */
#define HOST_VAIN_MAX 1000000u

struct cs_host *host_new(const struct host_parts *parts, struct err *err);
void host_free(struct cs_host *host);                   /* accepts NULL */
void host_submit(struct cs_host *host, const struct job_request *request,
                 const struct job_truth *truth);
/* No job will be submitted any more. */
void host_submit_none(struct cs_host *host);
/* A replica of a service (LAW_SERVE): its job is done, now or before it ever
 * started. */
void host_serve_end(struct cs_host *host, struct job_id job);
/* Share of the time it is at work, of late and since its phase began; nothing
 * where no phase runs. */
void host_serve_busy(struct cs_host *host, struct job_id job, double recent,
                     double mean);
/* What a lease offers to the laws. */
const struct gang *host_gang(const struct cs_host *host,
                             struct lease_id lease);
/* Ends what still runs as JOB_UNFINISHED and tells so. */
void host_close(struct cs_host *host);
/* False if the policy failed: err says why. */
bool host_verdict(const struct cs_host *host, struct err *err);

/* The pool that a role has for its own, and why; UINT32_MAX: it has none. */
enum host_home { HOST_HOME_NONE, HOST_HOME_SAID, HOST_HOME_POOL,
                 HOST_HOME_NAME };
uint32_t host_home_pool(const struct cluster_spec *spec,
                        const struct role_spec *role, enum host_home *rule);

/* What listeners may look at. */
struct host_counts {
    uint64_t ended[JOB_STATUS_COUNT];   /* jobs, by their status */
    uint64_t decide, preemptions, refused, interruptions, resizes, moves;
    uint64_t verdict[CS_VERDICT_COUNT];
    uint64_t decisions;         /* requests that were carried out */
    uint64_t nodes_seen;        /* by searches for room */
    uint64_t tasks_seen;         /* by searches of the queue */
    uint64_t limited;           /* decisions: cs_limit_reached() */
};
const struct host_counts *host_counts(const struct cs_host *host);

struct host_job {
    struct job_request request;
    int64_t start_ns, end_ns;   /* start: of its first lease with GPUs, if it
                                   asks for any; CLOCK_NEVER_NS: not yet */
    enum job_status status;
    uint32_t preemptions;
    uint32_t interruptions;     /* by failures */
    uint32_t step;              /* steps done */
    double gpu_seconds;         /* held */
    double core_seconds;
    double usd;                 /* of what it held; of that: */
    double usd_compute, usd_switch;     /* at work; loading, saving */
    double usd_transfer;        /* beside it: storage, of rented nodes */
    double joules;
    double work_due_s, work_done_s;     /* GPU-seconds of running phases: what
                                   the truth tasks and what was delivered */
    double work_lost_s;         /* of the latter, by failures: done again */
    double ideal_s;             /* alone on what it asks for */
    const char *gpu_type;       /* of its last GPU lease, or NULL */
};
/* Of one that has ended: while that is told, and until the policy has had a
 * chance to decide on it; then it is forgotten. */
const struct host_job *host_job(const struct cs_host *host, struct job_id id);
/* What no policy knows of it; as long as host_job(). */
const struct job_truth *host_job_truth(const struct cs_host *host,
                                       struct job_id id);
/* Jobs that have not ended, and the first of them. */
uint32_t host_unfinished(const struct cs_host *host, uint32_t *first);
uint32_t host_job_count(const struct cs_host *host);    /* submitted */
/* What they have held up to now. */
double host_held_usd(const struct cs_host *host);

/* The phase that runs on a lease, while FACT_PHASE_* is told. */
struct host_phase_run {
    struct job_id job;
    const struct phase_spec *phase;
    struct lease_id lease;
    int64_t start_ns;
    double rate;                /* runs per second, the last one */
    double rate_max;
    double busy_fraction;
    double tail_fraction;
    double mfu, hfu;            /* at rate_max */
    const char *bottleneck;
    uint32_t step;
    bool shares_bursts;         /* exchanges gradients over a link on which
                                   another lease does so too */
};
const struct host_phase_run *host_phase_run(const struct cs_host *host,
                                            struct lease_id lease);
/* Of a phase that ran so long: how much of it the GPUs were at work. */
double host_busy_s(const struct host_phase_run *run, bool done, double s);

/* GPUs by what they do now, per pool: for gauges. */
struct host_pool_now {
    uint32_t gpus, allocated, busy, loading, idle_leased;
    uint64_t allocated_milli;   /* GPUs in thousandths, parts as such */
    double utilized;            /* GPUs x busy fraction of their phase */
    uint32_t cores_allocated;
    uint32_t down;              /* GPUs of nodes that are out of service */
    uint64_t away_milli;        /* of nodes not rented, or under notice */
};
void host_pool_now(const struct cs_host *host, uint32_t pool,
                   struct host_pool_now *out);
/* Thousandths of GPUs. */
int64_t host_pool_free_milli(const struct cs_host *host, uint32_t pool);
uint32_t host_running(const struct cs_host *host);
uint32_t host_pending(const struct cs_host *host);
/* Submitted and not ended. */
uint32_t host_jobs_left(const struct cs_host *host);
/* GPUs of the least of what waits for GPUs and could use a pool: exact up to
 * 32, above that the power of two below; 0: nothing does. */
uint32_t host_pool_waits(const struct cs_host *host, uint32_t pool);
/* The same of what is held back behind the first in the order: the policy
 * starts nothing before it, and it wants more GPUs than are free.  free_milli:
 * thousandths of GPUs by pool.  0: nothing is. */
uint32_t host_pool_behind(struct cs_host *host, uint32_t pool,
                          const int64_t *free_milli);

const char *cs_verdict_name(enum cs_verdict verdict);
enum host_action { HOST_START, HOST_CONTINUE, HOST_RELEASE, HOST_STOP,
                   HOST_RESIZE, HOST_MOVE, HOST_TAKE_BACK, HOST_ACTION_COUNT };
const char *host_action_name(enum host_action action);

/* Every request a policy makes, carried out or refused: for decisions.csv. */
struct host_decision {
    int64_t time_ns;
    uint64_t seq;
    enum host_action action;
    struct job_id job;
    uint32_t role;              /* CS_ALL_ROLES */
    enum cs_verdict verdict;
    struct placement placement; /* empty if refused; of the first role */
    uint32_t pending, free_gpus;
};
typedef void host_decision_fn(void *self, const struct host_decision *d);
void host_on_decision(struct cs_host *host, host_decision_fn *fn, void *self);

#endif
