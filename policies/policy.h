/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h - how to write a scheduling policy: the only header one needs.
 *
 * A policy fills in struct cs_policy.  Only name is required; an op left NULL
 * has the default said above it, so a policy of nothing but a name is strict
 * first come, first served with leases for a job's whole life.  The host owns
 * the jobs and the cluster: what a policy asks for is checked at once, and a
 * refused request changes nothing but a counter.
 *
 * Words.  A job has roles (groups of resources its phases run on).  A task is
 * what waits for resources: a whole job with all its roles, or, for a policy
 * with CS_PER_PHASE, one role whose phase is ready to run.  A lease is what a
 * role was given.  Between phases a lease of a CS_PER_PHASE policy is idle:
 * it may be kept (its role's next phase then starts without a switch), let go
 * with cs_release(), or taken over by starting another ask on its GPUs.
 *
 * A policy keeps its state in self, which the host allocates, zeroed, and
 * frees.  It has no globals, no clock and no random numbers but cs_random();
 * the build checks that its object file calls nothing else (see README.md).
 *
 * The order of calls at one instant: all news, in the order it happened, then
 * decide once.  No op is called from within another.
 */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "sim/base/clock.h"     /* clock_after: a sum of times */

#define CS_POLICY_ABI_MAJOR 1u  /* a policy built for another is refused    */
#define CS_POLICY_ABI_MINOR 7u  /* members are only ever added, at the end */
#define CS_ALL_ROLES UINT32_MAX

struct cs_host;

enum cs_verdict {
    CS_DONE,
    CS_NOT_PENDING,     /* the task is not waiting, the lease is not held */
    CS_NO_ROOM,         /* what was asked for is not free */
    CS_BAD_SHAPE,       /* the placement does not meet the demand */
    CS_NOT_IDLE,        /* the lease is at work */
    CS_NOT_ALLOWED,     /* a flag that the table does not carry */
    CS_VERDICT_COUNT
};

enum cs_policy_flags {
    CS_PER_PHASE     = 1u << 0, /* tasks are roles of ready phases, not jobs */
    CS_PREEMPTS      = 1u << 1, /* may call cs_stop() */
    CS_CLAIRVOYANT   = 1u << 2, /* calls cs_true_left_ns(); marks the results */
    CS_ORDER_MOVES   = 1u << 3, /* before() changes with time: sorted anew at
                                   each decision, not only when a task comes */
    CS_ASKS_BLOCKING = 1u << 4, /* its own decide heeds cs_skips(): without it
                                   `blocking` means nothing to that decide */
    CS_RESIZES       = 1u << 5, /* may call cs_resize() and cs_move() */
    CS_PACKS         = 1u << 6, /* may call cs_start_co_located() */
    CS_TUNES_BATCHES = 1u << 7, /* since 1.6: jobs whose goodput is known run
                                   at the batch of the most goodput, else at
                                   their own */
    CS_ORDER_AT_NEWS = 1u << 8, /* since 1.6: before() knows a job once its
                                   job_submitted was called, and stands still
                                   from then on */
    CS_RESERVES      = 1u << 9, /* since 1.7: its own decide starts in the order
                                   of before(), and others only where they do
                                   not delay the first: GPUs that it leaves
                                   free for that reason are told as such */
    CS_DRAWS         = 1u << 10, /* since 1.7: may call cs_random(); without it
                                   seeds may be taken for copies */
    CS_SOLVES        = 1u << 11, /* since 1.7: it asks cs_may_solve() before it
                                   plans anew; `resolve_at_most_every` stops
                                   that, and not its rounds */
    CS_ASKS_ESTIMATES = 1u << 12, /* since 1.7: what it does depends on
                                   estimates of run times: `estimate` acts */
    CS_ASKS_WEIGHTS  = 1u << 13, /* since 1.7: it calls cs_weight() */
    /* Since 1.7: what results say of it; they change nothing. */
    CS_HOMES         = 1u << 14, /* asks for the home pools of roles */
    CS_FORECASTS     = 1u << 15, /* takes the site where it is soonest over: the
                                   order of `types:` says nothing to it */
    CS_GROWS         = 1u << 16, /* may start roles on more GPUs than asked */
    CS_SHRINKS       = 1u << 17, /* may start roles on fewer */
    CS_CONFINES      = 1u << 18  /* starts a role that has a home nowhere else */
};

enum cs_param_type {
    CS_PARAM_INT,               /* int64_t */
    CS_PARAM_REAL,              /* double */
    CS_PARAM_FRACTION,          /* double, "20%" or 0.2 */
    CS_PARAM_TIME,              /* int64_t ns, "90s" */
    CS_PARAM_BOOL,              /* bool */
    CS_PARAM_TEXT,              /* const char * */
    CS_PARAM_CHOICE             /* int: which of the words of the table's `words` */
};

/* A key that an experiment may set beside `policy:`; filled in before init. */
struct cs_param {
    const char *key;
    enum cs_param_type type;
    size_t offset;              /* into self */
    double min, max;            /* both 0: no range */
    const char *fallback;       /* as the user would write it */
    const char *help;
};

/* What a parameter may say: words with a blank between, for CS_PARAM_CHOICE; for
 * CS_PARAM_TEXT a name of the experiment, CS_A_POOL or CS_A_ROLE, maybe beside
 * words.  Anything else is an error of the input. */
#define CS_A_POOL "(pool)"
#define CS_A_ROLE "(role)"
struct cs_words {
    const char *key, *words;
};

/* A key that acts only where another, of the policy or of the host, says so: the
 * policy's own, or `estimate`, `preemption` and the like.  What is needed is
 * "KEY: VALUE VALUE" (one of these) or "KEY: not VALUE"; a key that is absent and
 * has no default is "none", a map or a list is "set". */
struct cs_need {
    const char *key, *needs;
};

/* What waits.  Good until the op returns. */
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

/* GPUs of a node for a job. */
struct cs_node_gpus {
    struct job_id job;
    uint32_t node, gpus;
};

/* Where a task could go.  Zeroed: as its owner asked, by the rule that the
 * experiment named under `placement:`. */
struct cs_want {
    uint32_t role;              /* of an ask for a whole job: which of them */
    uint32_t gpus;              /* 0: as asked */
    uint32_t pool_mask;         /* bit p: pool p; 0: as asked */
    bool take_idle;             /* idle leases count as free */
    int64_t idle_ns;            /* ... those that have been idle so long */
    uint32_t cores;             /* since 1.4: per GPU; 0: as asked */
    uint32_t first_node, node_count;    /* since 1.5: of a role with GPUs, only
                                   on these; node_count 0: any */
    const struct cs_node_gpus *spot; /* since 1.6: exactly these, by node; gpus is */
    uint32_t spot_count;        /* their sum.  0: as the rule finds them */
    uint32_t gpu_type;          /* since 1.7: 1 + its index in the catalogue;
                                   0: as asked, in the order of `types:` */
};

/* What a start would bring and cost, by the laws that rule the simulation
 * and with free links: what a profiled system would know beforehand. */
struct cs_forecast {
    double run_s;               /* the phase on that lease */
    double switch_s;            /* loading, starting */
    double evict_s;             /* what idle leases in the way lose: saving
                                   now, loading again later */
    double usd;                 /* the GPUs' price for all of it */
    uint32_t gpus;
};

struct cs_line {
    double claim, per_ns;       /* now, and what a nanosecond adds to it */
};

struct cs_policy {
    uint32_t abi_major;         /* CS_POLICY_ABI_MAJOR; always first */
    uint32_t size_bytes;        /* sizeof(struct cs_policy), as built */
    const char *name;           /* [a-z][a-z0-9-]*, what a user writes */
    const char *summary;        /* one line */
    uint32_t flags;             /* CS_* flags */
    uint32_t param_count;
    const struct cs_param *param;
    size_t self_bytes;

    /* Called once before the first arrival.  False ends the trial; say why
     * with cs_fail().  Default: true. */
    bool (*init)(void *self, struct cs_host *host);

    /* Should a go before b?  Must be a strict order; ties fall back to the
     * order in which tasks were made.  Default: no preference. */
    bool (*before)(const void *self, const struct cs_host *host,
                   struct task_id a, struct task_id b);

    /* Where to look for room for a task, in the default decide.  False: not
     * now.  Default: *want stays as it is. */
    bool (*place)(void *self, struct cs_host *host, struct task_id task,
                  struct cs_want *want);

    /* Start and stop.  Called when something changed, and at times asked for
     * with cs_wake_at().  Default: start the pending in order of before;
     * the first that does not fit ends it (`blocking: strict`) or is passed
     * over (`blocking: skip`). */
    void (*decide)(void *self, struct cs_host *host);

    /* News.  Defaults: nothing. */
    void (*job_submitted)(void *self, struct cs_host *host, struct job_id job);
    void (*job_ended)(void *self, struct cs_host *host, struct job_id job);
    void (*lease_idle)(void *self, struct cs_host *host,
                       struct lease_id lease);

    /* What to show of the state when a trial fails, through cs_note().
     * Default: nothing. */
    void (*dump)(const void *self, struct cs_host *host);

    void (*fini)(void *self);

    /* Since 1.6.  For before() with CS_ORDER_MOVES and the default decide: of
     * two asks for as many GPUs, the one with the larger claim goes before, and
     * claims move along lines.  Then nothing is sorted.  Default: none. */
    void (*line)(const void *self, const struct cs_host *host,
                 struct task_id task, struct cs_line *out);

    /* Since 1.7.  Why a job could never start on so many GPUs in all, whatever
     * else runs; NULL: nothing is known against it.  Asked before any trial:
     * self holds the parameters and nothing else.  Default: NULL. */
    const char *(*never)(const void *self, const struct job_request *request,
                         uint32_t gpus);

    /* Since 1.7.  Which keys act is told by the table: `blocking` and `backfill`
     * act on the default decide, `preemption` where CS_PREEMPTS or CS_RESIZES
     * stand, and so on (README.md); here, what each needs.  Default: nothing. */
    uint32_t need_count;
    const struct cs_need *need;

    /* Since 1.7.  Parameters that bound what a decision looks at, by their keys
     * with a blank between.  Where one of them left something out, say so with
     * cs_limit_reached(): it is told at the end of the run.  Default: none. */
    const char *limits;

    /* Since 1.7.  Of each CS_PARAM_CHOICE, and of texts that are names.
     * Default: any text. */
    uint32_t words_count;
    const struct cs_words *words;
};

/* Questions.  Pointers stay good until the op returns; a job that has ended may
 * be asked about until the decide after its job_ended has returned. */
int64_t cs_now_ns(const struct cs_host *host);
uint32_t cs_pending_count(const struct cs_host *host);
struct task_id cs_pending(const struct cs_host *host, uint32_t i);/* in order */
const struct cs_task *cs_task(const struct cs_host *host, struct task_id task);
/* For before(): the higher priority, of two alike the older job. */
static inline bool cs_by_priority(const void *self, const struct cs_host *host,
                                  struct task_id a, struct task_id b)
{
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    (void)self;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->job.i < y->job.i;
}
uint32_t cs_lease_count(const struct cs_host *host);
struct lease_id cs_lease_at(const struct cs_host *host, uint32_t i);
                                                /* by id: oldest first */
const struct cs_lease *cs_lease(const struct cs_host *host,
                                struct lease_id lease);
const struct job_request *cs_request(const struct cs_host *host,
                                     struct job_id job);
/* Jobs that hold leases, in the order they first did. */
uint32_t cs_running_count(const struct cs_host *host);
struct job_id cs_running(const struct cs_host *host, uint32_t i);
/* The task of a whole job, or of a role that waits; ID_NONE if none does. */
struct task_id cs_job_task(const struct cs_host *host, struct job_id job,
                           uint32_t role);
struct lease_id cs_role_lease(const struct cs_host *host, struct job_id job,
                              uint32_t role);   /* or ID_NONE */
/* Without those of nodes that are out of service.  Free are GPUs that are so
 * wholly: a job that asks for a part of one may fit where none is. */
uint32_t cs_total_gpus(const struct cs_host *host, uint32_t pool_mask);
uint32_t cs_free_gpus(const struct cs_host *host, uint32_t pool_mask);
/* Held by idle leases: what `take_idle` adds to the free. */
uint32_t cs_idle_gpus(const struct cs_host *host, uint32_t pool_mask);
uint32_t cs_pool_count(const struct cs_host *host);
const char *cs_pool_name(const struct cs_host *host, uint32_t pool);
uint32_t cs_lease_pools(const struct cs_host *host, struct lease_id lease);
/* What is left of a job by the estimate, with the restart it owes; of a phase
 * if the task is for one. */
int64_t cs_left_ns(const struct cs_host *host, struct job_id job);
int64_t cs_true_left_ns(const struct cs_host *host, struct job_id job);
/* False if there is no room now. */
bool cs_forecast_held(struct cs_host *host, struct task_id task,
                      struct cs_forecast *out);     /* on its idle lease */
bool cs_forecast(struct cs_host *host, struct task_id task,
                 const struct cs_want *want, struct cs_forecast *out);
/* The pool of the task's role, as a mask; 0: none.  It is what `home:` of the
 * role says, else its `pool:`, else the pool that bears the role's name. */
uint32_t cs_home_pools(const struct cs_host *host, struct task_id task,
                       uint32_t role);
/* Seconds until so many GPUs of these pools should be free; INFINITY. */
double cs_room_in_s(const struct cs_host *host, uint32_t pool_mask,
                    uint32_t gpus);
/* Earliest start of a gang of so many GPUs when the leases end as expected. */
int64_t cs_earliest_ns(struct cs_host *host, uint32_t gpus,
                       uint32_t *spare_gpus);

/* Requests. */
enum cs_verdict cs_start(struct cs_host *host, struct task_id task);
/* For one role (cs_task.role, or an ask for a job of one role). */
enum cs_verdict cs_start_want(struct cs_host *host, struct task_id task,
                              const struct cs_want *want);
/* For a whole job: one want per role of its form. */
enum cs_verdict cs_start_wants(struct cs_host *host, struct task_id task,
                               const struct cs_want *want, uint32_t count);
/* Only a ready phase's own idle lease: run where it already is. */
enum cs_verdict cs_continue(struct cs_host *host, struct task_id task);
enum cs_verdict cs_release(struct cs_host *host, struct lease_id idle);
/* Preempts: progress is kept, of training its whole steps; the cost is what
 * saving its state takes and `preemption: {cost: }`, at its next start; the
 * job's task is pending again at its old place in the order. */
enum cs_verdict cs_stop(struct cs_host *host, struct job_id job);
void cs_wake_at(struct cs_host *host, int64_t time_ns);
void cs_fail(struct cs_host *host, const char *why);

/* Tools. */
bool cs_skips(const struct cs_host *host);      /* `blocking: skip` */
/* Zeroed, good to the end of the trial; never freed singly. */
void *cs_alloc(struct cs_host *host, size_t count, size_t item_bytes);
double cs_random(struct cs_host *host);         /* [0, 1), stream "policy";
                                                   needs CS_DRAWS */
void cs_note(struct cs_host *host, const char *text);
/* The weights that `weights:` names: `count` numbers by key; 0 if absent. */
double cs_weight(const struct cs_host *host, const char *key);

/* Since 1.1.  GPUs of all roles of a job, as its owner asked. */
uint32_t cs_job_gpus(const struct cs_host *host, struct job_id job);
/* GPU-seconds that a job has held so far, loading included; of one that has
 * ended, all that it held. */
double cs_attained_gpu_s(const struct cs_host *host, struct job_id job);
/* Deals all GPUs anew: every job that has not ended, in order of key (lowest
 * first; ties keep their order of the last deal, new jobs come last), takes
 * what it asked for if so many are left, counted over the cluster.  Those that
 * run and were left out are stopped, then those that wait and were not are
 * started.  For policies that preempt and lease to whole jobs. */
typedef double cs_key_fn(const void *self, const struct cs_host *host,
                         struct job_id job);
void cs_reallocate(struct cs_host *host, cs_key_fn *key);
/* The jobs of the last deal, in its order. */
uint32_t cs_reallocated_count(const struct cs_host *host);
struct job_id cs_reallocated(const struct cs_host *host, uint32_t i);

/* Since 1.2.  Of all nodes. */
uint32_t cs_total_cores(const struct cs_host *host);
double cs_total_memory_bytes(const struct cs_host *host);

/* Since 1.3.  The first from the i-th on, in order, of what waits for at most
 * gpus_max GPUs and is estimated to take no longer than estimate_max_ns, or
 * wants no more than gpus_any_estimate; cs_pending_count() if there is none.
 * An index, so that a long queue need not be walked. */
struct cs_filter {
    uint32_t gpus_max, gpus_any_estimate;
    int64_t estimate_max_ns;
    bool startable;             /* without what is known already to find no
                                   room with cs_start() at this instant */
};
/* cs_reallocate() by cs_left_ns(): cs_reallocate_moving(), below. */
void cs_reallocate_left(struct cs_host *host);
uint32_t cs_find_pending(struct cs_host *host, uint32_t i,
                         const struct cs_filter *filter);

/* Since 1.4.  Leases that change while they work.  Training goes on from the
 * last optimizer step that is complete, a job of known length from where it is.
 * What it costs: the role's state is saved over PCIe, read where it goes on
 * (over the network from another node), the process starts anew, and what
 * `preemption: {cost: }` says.  The lease ends; its role has another.  A
 * resized lease stays in its pools; both may end on other GPUs.  CS_NO_ROOM:
 * not so many are free, its own included, or (cs_move) nowhere else.  Idle
 * leases of CS_PER_PHASE policies are not moved: start the task instead. */
enum cs_verdict cs_resize(struct cs_host *host, struct lease_id lease,
                          uint32_t gpus);
enum cs_verdict cs_move(struct cs_host *host, struct lease_id lease,
                        const struct cs_want *want);    /* take_idle: ignored */
/* How fast a job of one role would run on so many GPUs of a pool, over what its
 * owner asked for (for a trace job: where its length was measured); 0: it
 * cannot.  cs_left_ns() over it is what is left there. */
double cs_speedup(struct cs_host *host, struct job_id job, uint32_t pool,
                  uint32_t gpus);
/* The same with so many cores per GPU, for jobs whose loader needs them. */
double cs_speedup_cores(struct cs_host *host, struct job_id job, uint32_t pool,
                        uint32_t gpus, uint32_t cores);
/* Of its first nodes with GPUs; 0 where cores do not matter. */
uint32_t cs_pool_cores_per_gpu(const struct cs_host *host, uint32_t pool);
/* Cores per GPU that a job of one role holds now; 0: none. */
uint32_t cs_cores_now(const struct cs_host *host, struct job_id job);
/* Where the pace is most; 1 for a job of several roles, which has one size, all
 * it asked for. */
double cs_best_speedup(struct cs_host *host, struct job_id job, uint32_t gpus);
/* Sizes that a job may have, of one role those that cs_resize() may bring: the largest one up to
 * gpus, or 0; the smallest; the smallest above gpus, or 0. */
uint32_t cs_size_below(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
uint32_t cs_size_least(const struct cs_host *host, struct job_id job);
uint32_t cs_size_above(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
/* GPUs that a job holds now. */
uint32_t cs_size_now(const struct cs_host *host, struct job_id job);
/* Gives jobs so many GPUs each, 0 of them if they are to wait: some
 * are stopped, some shrink, some start, some grow, in that order and each in
 * that of the list.  What finds no room to start takes the largest smaller size
 * that does, and else stays as it is. */
struct cs_size {
    struct job_id job;
    uint32_t gpus;
};
void cs_set_sizes(struct cs_host *host, const struct cs_size *size,
                  uint32_t count);
/* USD of a GPU-hour where the pool's is cheapest. */
double cs_pool_usd_per_h(const struct cs_host *host, uint32_t pool);

/* Maximizes the sum of gain[c] x[c] over 0 <= x[c] <= most[c] (NULL: no bound),
 * the sum of value[e] x[column[e]] of row r being at most limit[r].  False: no x
 * does that, or the sum has no bound. */
struct cs_lp {
    uint32_t columns, rows, entries;
    const double *gain, *most, *limit;
    const uint32_t *row, *column;       /* of an entry; a pair at most once */
    const double *value;
    double *x;                          /* the answer */
    bool whole;                         /* since 1.6: x are whole numbers, most
                                   NULL: 0 or 1; the best
                                   but for a ten-thousandth, or that was found
                                   in so many nodes of branch and bound */
    uint32_t nodes_max;         /* since 1.7; 0: 2,000 */
    bool *cut;                  /* since 1.7; set: the nodes did not suffice */
};
bool cs_linear_program(const struct cs_lp *lp);
/* Gives every row a column of its own, so that the sum of the costs
 * cost[row * columns + column] is least; columns >= rows. */
void cs_assign(uint32_t rows, uint32_t columns, const double *cost,
               uint32_t *column);

/* Since 1.5.  Takes a lease back after so long, or as soon as its phase is
 * over: what runs then is cut short, a rollout keeping the responses that are
 * done, state is saved as by cs_release().  For CS_PER_PHASE policies with
 * CS_PREEMPTS. */
enum cs_verdict cs_take_back(struct cs_host *host, struct lease_id lease,
                             int64_t delay_ns);
struct cs_node {
    uint32_t pool, gpus, free_gpus, cores;
    double memory_bytes;        /* of the host */
    bool here;                  /* false: not rented now */
};
uint32_t cs_node_count(const struct cs_host *host);
struct cs_node cs_node(const struct cs_host *host, uint32_t node);
/* Seconds of a phase on what its role asked for, links free. */
double cs_phase_s(const struct cs_host *host, struct job_id job,
                  uint32_t phase);
/* Is the job a replica of a service? */
bool cs_serves(const struct cs_host *host, struct job_id job);

/* Since 1.6.  cs_reallocate() where the key of a job that waits stands still until it
 * starts: the same answer, found without a look at every job.  A policy calls
 * one of the two, with the same motion each time but for `anew`. */
struct cs_moving_key {
    cs_key_fn *key;
    cs_key_fn *per_ns;          /* what a nanosecond adds to the key of a job
                                   that runs; NAN: to be looked at each time */
    bool rises;                 /* as a rule keys rise, not fall: for speed */
    bool exact;                 /* keys are whole numbers: no rounding */
    bool still;                 /* per_ns is 0, no two keys are ever equal */
    bool anew;                  /* all keys may be others */
    cs_key_fn *sorted;          /* the key where all are sorted after all, with
                                   failures and ticks; NULL: the same */
};
void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion);
/* The key of a job is another, though it neither started nor stopped. */
void cs_reallocate_note(struct cs_host *host, struct job_id job);
/* A plan: how many GPUs are free over time, to reserve them.  What it costs grows
 * with the logarithm of what is planned.  A time of INT64_MAX is never. */
struct cs_plan;
struct cs_plan *cs_plan_new(struct cs_host *host);
/* So many are free, from then on; before anything else. */
void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus);
/* The plan begins now: the past is no longer looked at. */
void cs_plan_forget(struct cs_plan *plan, int64_t now_ns);
/* Takes GPUs out of it for a time, or puts them back (negative). */
void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus);
/* The earliest time at which so many stay free for so long, or until
 * `before_ns`; that if there is none before. */
int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns);
/* What waits by tenant, for policies without before().  Tenants are numbered as
 * they came; jobs without one are those of one.  ID_NONE: no more. */
uint32_t cs_tenant(struct cs_host *host, struct job_id job);
uint32_t cs_tenant_count(struct cs_host *host);
struct task_id cs_tenant_first(struct cs_host *host, uint32_t tenant);
struct task_id cs_tenant_next(const struct cs_host *host, struct task_id task);
/* The first of its tenant, from that one on, for at most so many GPUs and not
 * known to find no room at this instant. */
struct task_id cs_tenant_fits(struct cs_host *host, struct task_id task,
                              uint32_t gpus_max);
/* What a second adds to cs_attained_gpu_s() of a job: the GPUs it holds. */
double cs_attained_per_s(const struct cs_host *host, struct job_id job);
/* What a nanosecond adds to cs_left_ns() of a job that runs; NAN: unknown. */
double cs_left_per_ns(const struct cs_host *host, struct job_id job);

/* Since 1.6.  Starts a job on the GPUs that another holds: of as many GPUs,
 * both of one role and one phase of known length, and both of a pace that is
 * known then (`rates: lengths`, `packing:`).  Each holds half of every GPU
 * until one goes; the other has them whole again.  CS_BAD_SHAPE: these two
 * cannot be together there; CS_NO_ROOM: two are there already, or cores or
 * memory are short.  Not on nodes that are rented.  For leases of a job's
 * life; what is shared cannot be resized or moved. */
enum cs_verdict cs_start_co_located(struct cs_host *host, struct task_id task,
                                    struct job_id runs);
/* As cs_speedup() of what a job asked for, while the other holds the same GPUs of
 * that pool; 0: they cannot. */
double cs_speedup_co_located(struct cs_host *host, struct job_id job,
                             struct job_id other, uint32_t pool);
/* The job on the same GPUs, or ID_NONE. */
struct job_id cs_co_located(const struct cs_host *host, struct job_id job);
/* How much it suffers by that: 0 tiny, 1 medium, 2 jumbo; 3: nothing is known
 * (models/jobs/speedup.h). */
uint32_t cs_share_score(const struct cs_host *host, struct job_id job);

/* Epochs of a job whose batch size may change as it trains (models/jobs/regimes.h):
 * those that are done, and how many it had with each batch size, the present
 * one included.  What is to come is for a policy to guess.  False: nothing is
 * said of its epochs. */
#define CS_MODES_MAX 8u
struct cs_epochs {
    uint32_t count, done;       /* whole epochs */
    uint32_t modes;             /* batch sizes that it may have */
    const double *epoch_s;      /* of each, on what the job asks for */
    uint32_t seen[CS_MODES_MAX];
};
bool cs_epochs(const struct cs_host *host, struct job_id job,
               struct cs_epochs *out);

/* cs_speedup() at its progress now, on GPUs that lie on so many nodes: more than
 * one only matters to jobs whose goodput is known. */
double cs_speedup_on(struct cs_host *host, struct job_id job, uint32_t pool,
                     uint32_t gpus, uint32_t nodes);
/* GPUs of a node that a job of one role holds. */
uint32_t cs_gpus_on(const struct cs_host *host, struct job_id job,
                    uint32_t node);
/* Gives each job of the list exactly its GPUs: spots of a job stand together, in
 * the order of nodes; one of 0 GPUs lets it wait.  What lies elsewhere is
 * stopped, then all is started, in the order of the list; what finds no room
 * waits.  Jobs that are not in the list stay as they are. */
void cs_set_node_gpus(struct cs_host *host, const struct cs_node_gpus *spot,
                      uint32_t count);

/* Since 1.6.  What waits, one after the other, for policies whose
 * order stands still: cs_next_candidate() is the first in order that was not tried
 * since cs_try_anew(), or ID_NONE.  After cs_tried() it is another: if the task
 * was not started, it is passed over, and what is alike too until a request is
 * carried out.  Alike are tasks that hold no lease and to which cs_forecast(),
 * cs_start_want() and cs_start_wants() give one answer to one want; CS_ALIKE_AS_LONG: and which are
 * estimated to take as long. */
enum cs_alike { CS_ALIKE_NONE, CS_ALIKE_AS_LONG, CS_ALIKE_ALL };
void cs_try_anew(struct cs_host *host);
struct task_id cs_next_candidate(struct cs_host *host);
void cs_tried(struct cs_host *host, struct task_id task, enum cs_alike alike);

/* The next of the jobs that came, started to hold what they asked for or wait
 * again since this was first asked, in that order, some more than once, without
 * those that have ended; ID_NONE: no more, for now.  For leases of a job's
 * life. */
struct job_id cs_turned(struct cs_host *host);
/* A small number of the job's own until the decide after its job_ended has
 * returned; then another has it: for what a policy keeps of jobs. */
uint32_t cs_slot(const struct cs_host *host, struct job_id job);

/* Sorts jobs by key, lowest first; ties keep their order. */
void cs_sort(struct cs_host *host, struct job_id *job, uint32_t count,
             cs_key_fn *key);

/* Since 1.7.  Where an ask for one role could go: each type of GPU that it may
 * use in each pool, then in all pools that have it; cheapest first, then by the
 * name of the GPU, then by node, so that the order of `types:` does not decide.  None of a
 * role without GPUs.  cs_site() fills pool_mask and gpu_type of a want; false:
 * the site is not within those pools (0: any). */
uint32_t cs_site_count(const struct cs_host *host, struct task_id task);
bool cs_site(const struct cs_host *host, struct task_id task, uint32_t i,
             uint32_t pools, struct cs_want *want);
/* cs_forecast() of the site within want->pool_mask where the phase is over
 * soonest, switching and evicting included: the first of equals.  The want then
 * names it. */
bool cs_forecast_best(struct cs_host *host, struct task_id task,
                      struct cs_want *want, struct cs_forecast *out);
/* cs_home_pools() of a role that waits for nothing. */
uint32_t cs_role_homes(const struct cs_host *host, struct job_id job,
                       uint32_t role);

/* Asks again when the next lease will have been idle for so long. */
void cs_wake_when_idle(struct cs_host *host, int64_t idle_ns);

/* Can cs_set_node_gpus() give it GPUs?  Of one role, whole GPUs, no service. */
bool cs_can_move(struct cs_host *host, struct job_id job);

/* cs_assign() where columns are places of machines, machine by machine, and the
 * k-th place of machine m costs row r k x time_s[r x kinds + kind[m]] + free_s[m]:
 * the same answer, found without a matrix. */
struct cs_places {
    uint32_t rows, machines, places;    /* of a machine */
    uint32_t kinds;
    const double *time_s;               /* none below 0 */
    const uint32_t *kind;               /* by machine, below kinds */
    const double *free_s;               /* by machine */
};
void cs_assign_places(const struct cs_places *places, uint32_t *column);

/* Since 1.7.  May a policy with CS_SOLVES plan anew, by `rounds:
 * {resolve_at_most_every: }`?  True is remembered as the time of a plan. */
bool cs_may_solve(struct cs_host *host);
/* In this decision a parameter of `limits` left out what could have mattered. */
void cs_limit_reached(struct cs_host *host);
/* `rounds: {length: }`: decide is called at boundaries of such rounds alone; 0:
 * there are none. */
int64_t cs_round_ns(const struct cs_host *host);

#endif
