/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h - how to write a scheduling policy.
 *
 * A policy fills in struct cs_policy.  Only `name` is required; an op that is
 * NULL has the default said above it.  The host owns the jobs and the cluster.
 * It checks each request at once; a refused one changes only a counter.
 *
 * Words.  A job has roles: groups of resources that its phases run on.  A task
 * is what waits for resources: a whole job with all its roles, or, for a policy
 * with CS_PER_PHASE, one role whose phase is ready to run.  A lease is what a
 * role was given.  A pool is a named group of nodes.
 *
 * A policy keeps its state in `self`, which the host allocates, zeroed, and
 * frees.  It has no globals, no clock and no random numbers but cs_random();
 * the build checks that its object file calls nothing else (README.md).
 *
 * At one instant the host calls the ops for news, in the order in which things
 * happened, then decide once.  No op is called from within another.
 *
 * More for policies of one kind: phases.h (leases for a phase), resize.h (jobs
 * that change size or place), pack.h (two jobs on the same GPUs), rank.h (GPUs
 * by a key), order.h (lists of their own), plan.h (reservations), solve.h
 * (linear programs, assignments), params.h (keys that a user may set), known.h
 * (does a number that was kept still name a job or a lease?).
 */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "sim/base/clock.h"     /* clock_after: a sum of times */

/* A policy that was built for another major number is refused.  Within one
 * major number members are only added, at the end. */
#define CS_POLICY_ABI_MAJOR 2u
#define CS_POLICY_ABI_MINOR 14u
#define CS_ALL_ROLES UINT32_MAX

struct cs_host;
struct cs_line;
struct cs_need;
struct cs_param;
struct cs_want;
struct cs_weights;
struct cs_words;

/* ---- the table ----------------------------------------------------------- */

/* What a policy does.  The host refuses requests whose flag is not set. */
enum cs_policy_flags {
    CS_PER_PHASE      = 1u << 0,   /* tasks are roles of ready phases, not jobs */
    CS_PREEMPTS       = 1u << 1,   /* may call cs_stop() */
    CS_CLAIRVOYANT    = 1u << 2,   /* may call cs_true_left_ns(); results say so */
    CS_RESIZES        = 1u << 3,   /* may call cs_resize() and cs_move() */
    CS_PACKS          = 1u << 4,   /* may call cs_start_co_located() */
    CS_TAKES_OVER     = 1u << 22,  /* may begin in the middle of a run (`then`): init
                                     and job_submitted find leases and older jobs */
    CS_TUNES_BATCHES  = 1u << 5,   /* known goodput: a job runs at its best batch */
    CS_DRAWS          = 1u << 6,   /* may call cs_random(); else seeds may be copies */
    /* How its order stands: before() */
    CS_ORDER_MOVES    = 1u << 7,   /* changes with time: tasks are sorted anew at
                                     each decision, not only when one comes */
    CS_ORDER_AT_NEWS  = 1u << 8,   /* stands still from its job_submitted on */
    /* Which keys of its entry act on it */
    CS_ASKS_BLOCKING  = 1u << 9,   /* `blocking`: its own decide calls cs_skips() */
    CS_ASKS_ESTIMATES = 1u << 10,  /* `estimate`: it depends on estimates */
    CS_ASKS_WEIGHTS   = 1u << 11,  /* `weights`: it calls cs_weight() */
    CS_SOLVES         = 1u << 12,  /* `resolve_at_most_every`: cs_may_solve() */
    CS_ASKS_PRIORITY  = 1u << 21,  /* `priority` of jobs: the larger goes first */
    /* What results say of it; these change nothing */
    CS_RESERVES       = 1u << 13,  /* starts in the order of before(), and others
                                     only where they do not delay the first: GPUs
                                     left free for that are counted as such */
    CS_HOMES          = 1u << 14,  /* calls cs_home_pools() */
    CS_FORECASTS      = 1u << 15,  /* takes the site where a phase is soonest
                                     over: the order of `types:` does not act */
    CS_GROWS          = 1u << 16,  /* may start roles on more GPUs than asked */
    CS_SHRINKS        = 1u << 17,  /* may start roles on fewer */
    CS_RELIEVES       = 1u << 28,  /* on fewer under a power cap: cs_relieve_power() */
    CS_CONFINES       = 1u << 18,  /* starts a role that has a home only there */
    CS_CONFINES_PAIRS = 1u << 27,  /* so, but only if the job has homes in two pools */
    /* What it is not able to do: `validate` refuses such jobs */
    CS_ONE_ROLE       = 1u << 19,  /* deals jobs of one role alone */
    CS_NEEDS_GPUS     = 1u << 20,  /* starts no job that computes on cores alone */
    CS_WHOLE_GPUS     = 1u << 23,  /* deals no part of a GPU */
    CS_ONE_POOL       = 1u << 26,  /* spreads no gang over pools */
    /* What it leaves out: `validate` and the run say so */
    CS_ONE_KIND       = 1u << 24,  /* plans all GPUs as if each job might use them */
    CS_COUNTS_WHOLE   = 1u << 25,  /* counts a part of a GPU as a whole one */
};

/* The table of a policy: a constant, good until the last trial has ended.  A
 * function that is NULL has the default that stands above it.  `self` has
 * self_bytes bytes, zeroed but for the parameters, which the host has set; each
 * trial has one.  The host owns it, from init to fini. */
struct cs_policy {
    uint32_t abi_major;         /* CS_POLICY_ABI_MAJOR; always first */
    uint32_t size_bytes;        /* sizeof(struct cs_policy), as built */
    const char *name;           /* [a-z][a-z0-9-]*, what a user writes */
    const char *summary;        /* one line */
    uint32_t flags;             /* enum cs_policy_flags */
    uint32_t param_count;
    const struct cs_param *param;       /* params.h */
    size_t self_bytes;

    /* Called once before the first arrival.  False ends the trial; say why
     * with cs_fail().  Default: true. */
    bool (*init)(void *self, struct cs_host *host);

    /* Should a go before b?  Must be a strict order; ties fall back to the
     * order in which tasks were made.  Default: no preference. */
    bool (*before)(const void *self, const struct cs_host *host,
                   struct task_id a, struct task_id b);

    /* Where should the default decide look for room for a task?  False: not to
     * be started now.  Default: *want stays as it is. */
    bool (*place)(void *self, struct cs_host *host, struct task_id task,
                  struct cs_want *want);

    /* Starts and stops.  Called when something changed, and at times that
     * cs_wake_at() named.  Default: starts pending tasks in the order of
     * before(); the first that does not fit ends it (`blocking: strict`) or is
     * passed over (`blocking: skip`). */
    void (*decide)(void *self, struct cs_host *host);

    /* News.  Defaults: nothing. */
    void (*job_submitted)(void *self, struct cs_host *host, struct job_id job);
    void (*job_ended)(void *self, struct cs_host *host, struct job_id job);
    void (*lease_idle)(void *self, struct cs_host *host, struct lease_id lease);

    /* What to show of the state when a trial fails, through cs_note().
     * Default: nothing. */
    void (*dump)(const void *self, struct cs_host *host);
    void (*fini)(void *self);

    /* For before() with CS_ORDER_MOVES and the default decide: of two tasks
     * for as many GPUs, the one with the larger claim goes first, and claims
     * grow along lines, so that nothing is sorted.  Default: none. */
    void (*line)(const void *self, const struct cs_host *host,
                 struct task_id task, struct cs_line *out);

    /* Why a job could never start on `gpus` GPUs in all, whatever else runs;
     * NULL: nothing is known against it.  Asked before any trial: self holds
     * the parameters and nothing else.  Default: NULL. */
    const char *(*never)(const void *self, const struct job_request *request,
                         uint32_t gpus);

    uint32_t need_count;
    const struct cs_need *need;         /* what each key needs to act */
    /* Keys of parameters that bound what a decision looks at, with a blank between;
     * NULL: none.  Where one left something out, call cs_limit_reached(). */
    const char *limits;
    uint32_t words_count;
    const struct cs_words *words;       /* what each text may say */
    /* With CS_ASKS_WEIGHTS: keys of `weights:`; of lists (a network's parameters)
     * all, if any, must be there.  None: any key, one number. */
    uint32_t weights_count;
    const struct cs_weights *weights;
    /* Keys of the works that it follows, with a blank between, as `clustersim cite`
     * knows them; those that it does not know are passed over.  NULL: none. */
    const char *cites;
};
struct cs_line {
    double claim, per_ns;       /* now, and what a nanosecond adds to it */
};

/* ---- questions ------------------------------------------------------------
 * Pointers stay good until the op returns.  A job that has ended may be asked
 * about until the decide after its job_ended has returned.  ID_NONE: none. */

/* A task: what waits. */
struct cs_task {
    struct job_id job;
    uint32_t role;              /* CS_ALL_ROLES: the whole job */
    uint32_t phase;             /* of the form; 0 for a whole job */
    uint32_t gpus;              /* wanted, of all roles asked for */
    struct lease_id held;       /* idle lease of this role, or ID_NONE */
    int64_t submit_ns;          /* of the job */
    int64_t ready_ns;           /* when the task was made */
    int64_t estimate_ns;        /* of what is left, as `estimate:` says */
    int32_t priority;
    bool started;               /* the job has held a lease before */
    uint32_t gpu_milli;         /* below 1000: that part of its one GPU */
};

enum cs_lease_state { CS_LEASE_LOADING, CS_LEASE_BUSY, CS_LEASE_IDLE };

struct cs_lease {
    struct job_id job;
    uint32_t role;
    uint32_t gpus;
    enum cs_lease_state state;
    int64_t since_ns;           /* granted */
    int64_t idle_since_ns;      /* in CS_LEASE_IDLE */
    int64_t expected_end_ns;    /* of job or phase; by the estimate */
    struct placement placement;
    uint32_t gpu_milli;         /* below 1000: that part of its one GPU */
};

struct cs_node {
    uint32_t pool, gpus, free_gpus, cores;
    double memory_bytes;        /* of the host */
    bool here;                  /* false: not rented now */
};

/* Passes tasks that need at most gpus_max GPUs (a task that may go on cores needs none), and
 * that are estimated to take at most estimate_max_ns or need at most gpus_any_estimate
 * GPUs.  startable: without tasks that are known to have no room now; a part of a GPU, which
 * may share one, passes even with a gpus_max of 0. */
struct cs_filter {
    uint32_t gpus_max, gpus_any_estimate;
    int64_t estimate_max_ns;
    bool startable;
};

int64_t cs_now_ns(const struct cs_host *host);

/* How many tasks wait, and the i-th of them, in order from 0. */
uint32_t cs_pending_count(const struct cs_host *host);
struct task_id cs_pending(const struct cs_host *host, uint32_t i);
const struct cs_task *cs_task(const struct cs_host *host, struct task_id task);
/* The place in the order, from `i` on, of the first task that passes the filter;
 * cs_pending_count() if none does.  An index: a long queue is not walked. */
uint32_t cs_find_pending(struct cs_host *host, uint32_t i, const struct cs_filter *filter);
bool cs_skips(const struct cs_host *host);      /* `blocking: skip` */

/* Jobs.  Running: they hold leases, in the order in which they first did. */
uint32_t cs_running_count(const struct cs_host *host);
struct job_id cs_running(const struct cs_host *host, uint32_t i);
const struct job_request *cs_request(const struct cs_host *host, struct job_id job);
/* The task of a whole job (CS_ALL_ROLES) or of a role; the lease of a role. */
struct task_id cs_job_task(const struct cs_host *host, struct job_id job, uint32_t role);
struct lease_id cs_role_lease(const struct cs_host *host, struct job_id job, uint32_t role);
/* GPUs of all roles of a job, as its owner asked. */
uint32_t cs_job_gpus(const struct cs_host *host, struct job_id job);
/* GPU-seconds that a job has held so far, loading included. */
double cs_attained_gpu_s(const struct cs_host *host, struct job_id job);
/* What is left of a job by the estimate, with the restart that it owes; of a
 * phase if the task is for one. */
int64_t cs_left_ns(const struct cs_host *host, struct job_id job);
int64_t cs_true_left_ns(const struct cs_host *host, struct job_id job);
/* Is the job a replica of a service? */
bool cs_serves(const struct cs_host *host, struct job_id job);
/* A small number of the job's own, for what a policy keeps of jobs.  Another
 * job gets it once this one can no longer be asked about. */
uint32_t cs_slot(const struct cs_host *host, struct job_id job);

/* Leases, oldest first. */
uint32_t cs_lease_count(const struct cs_host *host);
struct lease_id cs_lease_at(const struct cs_host *host, uint32_t i);
const struct cs_lease *cs_lease(const struct cs_host *host, struct lease_id lease);
uint32_t cs_lease_pools(const struct cs_host *host, struct lease_id lease); /* a mask */

/* The cluster.  A pool mask of 0 means all pools.  Nodes out of service count in the
 * number of nodes and in totals of cores and memory alone.  GPUs that a power cap does not
 * let run count neither as free nor in the total.  Free GPUs are wholly free: a job that
 * asks for a part of one may fit where none is. */
uint32_t cs_total_gpus(const struct cs_host *host, uint32_t pool_mask);
uint32_t cs_free_gpus(const struct cs_host *host, uint32_t pool_mask);
uint32_t cs_pool_count(const struct cs_host *host);
const char *cs_pool_name(const struct cs_host *host, uint32_t pool);
uint32_t cs_node_count(const struct cs_host *host);
struct cs_node cs_node(const struct cs_host *host, uint32_t node);
uint32_t cs_total_cores(const struct cs_host *host);
double cs_total_memory_bytes(const struct cs_host *host);
/* Returns the seconds until `gpus` GPUs of these pools should be free; INFINITY: never. */
double cs_room_in_s(const struct cs_host *host, uint32_t pool_mask, uint32_t gpus);
/* Returns the earliest start of a gang of `gpus` GPUs if leases end as expected, and
 * stores in *spare_gpus how many more are free then. */
int64_t cs_earliest_ns(struct cs_host *host, uint32_t gpus, uint32_t *spare_gpus);

/* Rounds.  cs_round_ns: decide is called only at multiples of it; 0: after every
 * event.  cs_may_solve: may a policy with CS_SOLVES plan anew?  If true, the host
 * takes this instant as the time of a plan. */
int64_t cs_round_ns(const struct cs_host *host);
bool cs_may_solve(struct cs_host *host);

/* ---- requests: carried out or refused before the call returns ------------ */

enum cs_verdict {
    CS_DONE,
    CS_NOT_PENDING,     /* the task is not waiting, the lease is not held */
    CS_NO_ROOM,         /* what was asked for is not free */
    CS_BAD_SHAPE,       /* the placement does not meet the demand */
    CS_NOT_IDLE,        /* the lease is at work */
    CS_NOT_ALLOWED,     /* a flag that the table does not carry */
    CS_VERDICT_COUNT
};

/* GPUs of a node for a job. */
struct cs_node_gpus {
    struct job_id job;
    uint32_t node, gpus;
};

/* Where a task could go.  Zeroed: as its owner asked, by the rule `placement:`. */
struct cs_want {
    uint32_t role;              /* which role of a whole job */
    uint32_t gpus;              /* 0: as asked */
    uint32_t pool_mask;         /* bit p: pool p; 0: as asked */
    bool take_idle;             /* idle leases count as free */
    int64_t idle_ns;            /* ... those that have been idle for this time */
    uint32_t cores;             /* per GPU; 0: as asked */
    uint32_t first_node, node_count;    /* a role with GPUs goes only on
                                   these nodes; node_count 0: on any */
    const struct cs_node_gpus *spot; /* exactly these, by node, none of 0 GPUs; */
    uint32_t spot_count;        /* gpus is their sum or 0.  0: by the rule */
    uint32_t gpu_type;          /* 1 + its index in the catalogue; CS_ON_CORES;
                                   0: as asked, in the order of `types:` */
};
/* On cores in the place of GPUs, where role_spec.on_cores says on how many. */
#define CS_ON_CORES UINT32_MAX

enum cs_verdict cs_start(struct cs_host *host, struct task_id task);
/* For one role: cs_task.role, or the task of a job of one role. */
enum cs_verdict cs_start_want(struct cs_host *host, struct task_id task,
                              const struct cs_want *want);
/* For a whole job: one want for each role of its form. */
enum cs_verdict cs_start_wants(struct cs_host *host, struct task_id task,
                               const struct cs_want *want, uint32_t count);
/* Preempts.  Progress is kept, of training its whole steps; the next start
 * costs what saving the state takes and `preemption: {cost: }`.  The job's task
 * is pending again at its old place in the order. */
enum cs_verdict cs_stop(struct cs_host *host, struct job_id job);
void cs_wake_at(struct cs_host *host, int64_t time_ns);     /* decide then, too */
void cs_fail(struct cs_host *host, const char *why);        /* ends the trial */

/* ---- tools ---------------------------------------------------------------- */

/* Returns zeroed memory, which the host frees with the trial. */
void *cs_alloc(struct cs_host *host, size_t count, size_t item_bytes);
/* Makes *room, the number of items that an array holds, larger than `need`, and
 * returns the array; NULL at first.  Items are kept, new ones are zeroed; pointers
 * to them are not good any more. */
void *cs_grow(struct cs_host *host, void *array, uint32_t *room, uint32_t need,
              size_t item_bytes);
/* A number in [0, 1), from the stream "policy" of the seed.  Needs CS_DRAWS. */
double cs_random(struct cs_host *host);
void cs_note(struct cs_host *host, const char *text);       /* from dump() */
/* The number that `weights:` gives a key; 0 if absent. */
double cs_weight(const struct cs_host *host, const char *key);
/* Tells the host that a parameter of `limits` left out what could have mattered now. */
void cs_limit_reached(struct cs_host *host);

#endif
