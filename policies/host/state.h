/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - what a host knows, for its own files only.
 *
 * Files by floor, none calling upward: host_queue (what waits, when leases
 * end), host_state (slots, lists, pools),
 * host_sites (where a role could go), host_time (estimates, forecasts),
 * host_step (phases step by step), host_power (a cap), host_idle (idle leases),
 * host_lease (take, load, drop), host_phase (phases on leases), host_job (jobs
 * from step to step), host_outage (failures), host_rental (a rented node, from
 * order to end), host_rent (how many are), host_view (what a policy may ask), host_best (the
 * best of its sites), host_request
 * (what it may request), host_resize (leases that change while they work),
 * host_recall (leases that are taken back), host_pack (two jobs on the same
 * GPUs), host_epochs (what is known of changing batch sizes), host_keys
 * (keys that move), host_lanes (jobs by size, likewise), host_deal, host_left,
 * host_tops, host_tenants, host_turned, host_sort, host_kinds (tools), host_lp,
 * host_assign (tools that know no host), host (arrivals, decisions), host_stall
 * (why nothing moves).
 * What must go up goes through struct host_hooks.
 */
#ifndef POLICIES_HOST_STATE_H
#define POLICIES_HOST_STATE_H

#include <assert.h>
#include <stddef.h>

#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "models/types/gang.h"
#include "models/laws/phase.h"
#include "models/laws/phase_cache.h"
#include "models/types/truth.h"
#include "policies/host/host.h"
#include "sim/containers/demand_count.h"
#include "sim/base/clock.h"
#include "sim/flow/flow.h"
#include "sim/event/loop.h"
#include "sim/containers/rank_tree.h"

#define HOST_SHARE_CLASSES 20u
#define HOST_NAME_BYTES 20u

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

/* phase_start_ns and pace lie together, in one line of the cache. */
struct host_lease_slot {
    struct cs_lease pub;
    int64_t phase_start_ns;
    double speedup;                    /* of a job of known length, pace.h */
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

struct host_steps;              /* step.c */
struct host_rates;              /* goodput.c */

/* Numbers in the order in which they came.  What leaves makes a hole, ID_NONE,
 * found by the place that its slot keeps; holes are closed when they are half
 * of the list, or when the list is asked for. */
struct host_list {
    uint32_t *item, count, room, holes;
};

struct host_task_slot {
    struct cs_task pub;
    uint64_t seq;
    bool live;
};

/* Of tasks in a subtree: the shortest estimate (see queue.c) of those for
 * 2^(c-1) to 2^c - 1 GPUs, the last class being for all that are larger; and
 * which came first. */
#define HOST_GPU_CLASSES 12u
struct host_task_sum {
    uint32_t bound[HOST_GPU_CLASSES];
    uint64_t first_seq;
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
                                       at the pace that was said; or
                                       CLOCK_NEVER_NS */
    uint32_t form;                  /* index into host->form */
    uint32_t task;                   /* of the whole job, or ID_NONE */
    uint32_t left;                  /* its place in host->left, or ID_NONE */
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
    double saved_work_s, saved_gpu_s;
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

/* Jobs that came one after the other.  A block serves others once all its jobs
 * are forgotten: small ones, since some jobs run for long.  So does the page
 * that finds them: a large one, since what finds pages is never given back. */
#define HOST_JOB_BLOCK 8u
#define HOST_JOB_PAGE 512u
struct host_job_page {
    struct host_job_slot *block[HOST_JOB_PAGE / HOST_JOB_BLOCK];
    uint8_t gone[HOST_JOB_PAGE / HOST_JOB_BLOCK];   /* forgotten, by block */
    uint32_t blocks_gone;
    struct host_job_page *next;     /* spare */
};

struct host_news {
    enum { NEWS_SUBMITTED, NEWS_ENDED, NEWS_IDLE } kind;
    uint32_t id;
};

struct host_line {              /* a key that moves; NAN: unknown how */
    double key, per_ns;
    int64_t at_ns;
};
struct host_left {              /* the same where keys move */
    uint32_t job, gpus;
    double key, per_ns;         /* then, and how it moves; NAN: unknown */
    int64_t at_ns;
    bool runs, changed, over;
    struct host_line line, before;      /* since it started or stopped, and
                                           before that; */
    int64_t changed_ns, came_ns;        /* when it did, and first was dealt */
    double next_key;            /* once it did, in this deal */
    struct rank_tree *tree;         /* of lanes.c: where it is */
};
struct host_left_sum {          /* over a subtree */
    uint64_t gpus;
    int64_t cross_ns;           /* before it no job overtakes the one before
                                   it in the list */
    uint32_t gpus_min, running;
    uint32_t first, last;
};

struct host_deal {              /* a job that has not ended, in deal.c */
    uint32_t job, gpus;
    double key;
    bool take;
    uint64_t since;             /* it waits, or runs: counts up */
};

struct host_ended {             /* a job, in commit.c */
    int64_t end_ns;             /* as it was expected */
    uint32_t job, place;
    bool late;
};

/* What the policy asked for the first job that it tried to start. */
struct host_tries {
    uint32_t job;               /* ID_NONE: it tried none */
    enum cs_verdict verdict;
    struct cs_want want[FORM_ROLES_MAX];
    uint32_t wants;             /* 0: as the job's owner asked */
};

struct host_hooks {
    void (*wake)(struct cs_host *host);
    void (*lease_ready)(struct cs_host *host, uint32_t lease);
    void (*phase_over)(struct cs_host *host, uint32_t lease);
    void (*ran)(struct cs_host *host, uint32_t job, bool runs);
    /* The other on its GPUs has gone. */
    void (*alone)(struct cs_host *host, uint32_t lease);
    /* Where nodes are rented: a lease came to them or went, a node failed. */
    void (*held)(struct cs_host *host, uint32_t lease, bool taken);
    void (*rented_failed)(struct cs_host *host, uint32_t node);
    /* For indexes over tasks. */
    void (*task_made)(struct cs_host *host, uint32_t task);
    void (*task_gone)(struct cs_host *host, uint32_t task);
};

struct cs_host {
    struct host_parts parts;
    struct host_hooks hooks;
    const struct cs_policy *policy;
    const struct host_rules *rules;
    const struct cluster_spec *spec;
    struct cluster *cluster;
    struct placer *placer;
    void *self;
    struct host_counts counts;
    struct host_pool_now *pool;
    struct demand_count *waits;       /* per pool */

    struct host_outage *outage;     /* NULL: nothing fails */
    struct host_rent *rent;         /* NULL: nothing is rented */
    int64_t power_mw;               /* that could be drawn now, by a cap */
    const bool *leaving;            /* per node, likewise: no new leases */
    uint32_t jobs_left;             /* submitted, not ended */

    struct phase_cache *plans;
    struct host_steps *steps_spare;
    struct host_rates *rates;       /* of jobs whose goodput is known */
    struct host_form *form;
    uint32_t form_count, form_room;
    struct host_job_page **job;     /* by number / HOST_JOB_PAGE; NULL: all
                                   its jobs are forgotten */
    uint32_t job_count, job_page_room;
    struct host_job_page *job_page_spare;
    struct host_job_slot **job_spare;   /* blocks */
    uint32_t job_spares, job_spare_room;
    uint32_t *gone, gones, gone_room;   /* ended, and the policy knows */
    uint32_t *seat_spare, seat_spares, seat_room, seats;
    struct host_lease_slot *lease;
    uint32_t lease_count, lease_room;
    uint32_t *lease_spare, lease_spares;
    struct host_task_slot *task;
    uint32_t task_count, task_room;
    uint32_t *task_spare, task_spares;

    struct rank_tree *order;            /* tasks that wait */
    struct host_task_sum *task_sum;   /* by ask, once it is asked for */
    uint32_t task_sum_room;
    struct host_tops *tops;         /* NULL: the order is kept sorted */
    struct host_tenants *tenants;   /* NULL: nobody asked */
    struct host_turns *turns;       /* likewise */
    struct host_moving *moving;     /* likewise */
    struct host_kinds *kinds;       /* likewise */
    struct host_turned *turned;     /* likewise */
    struct host_sorted *sort;       /* scratch */
    uint32_t sort_room;
    struct calendar *ends;              /* of leases, as expected; NULL likewise */
    uint32_t *list, list_room;      /* scratch */
    struct host_list *held;         /* leases, oldest first */
    struct host_list *running;      /* jobs with leases */
    struct host_deal *deal;         /* in the order of the last deal */
    uint32_t deals, deal_room, deal_seen;
    uint64_t deal_since;
    struct host_deal *deal_spare;   /* to sort with */
    uint32_t deal_spare_room;
    struct rank_tree *left_tree;        /* the same for cs_reallocate_moving(); */
    struct rank_tree *lefts;            /* NULL: the one above is in use */
    struct host_lanes *lanes;       /* or these */
    const struct cs_moving_key *motion;
    struct host_left *left;
    struct host_left_sum *left_sum;
    uint32_t left_count, left_room;
    uint32_t *left_spare, left_spares;
    uint32_t *left_ended, left_endeds, left_ended_room;
    uint32_t *left_changed, left_changeds, left_changed_room;
    uint32_t *left_look, left_looks;
    double left_per_ns;             /* of the first that ran, and were others */
    bool left_sloped, left_crossing;        /* of another slope? */
    uint32_t *left_stop, left_stops, *left_start, left_starts;
    struct host_news *news;
    uint32_t news_count, news_room;

    bool has_parts;                 /* a job asked for a part of a GPU */
    struct share *scratch;          /* node_count shares, for placer_find */
    struct host_idle *idle;         /* NULL: nobody asked */
    struct flow_use *uses;
    uint32_t *bursts;               /* by link: training that exchanges
                                       gradients over it */
    struct share *share_spare[HOST_SHARE_CLASSES];
    struct loop_handle decide_event;
    int64_t decided_ns;             /* last decision; at time 0 there was
                                       none, as in Gavel's simulator */
    bool limited;                   /* this decision was */
    int64_t solved_ns;              /* likewise, by cs_may_solve() */
    int64_t round_from_ns;          /* rounds are counted from here */
    bool submits_over;
    uint32_t committed;             /* ask that keeps its turn, or ID_NONE */
    int64_t committed_until_ns;     /* others end before it: backfill */
    uint64_t committed_seq;         /* tasks from this one on came later */
    int64_t committed_ns;           /* when it was chosen; backfill */
    uint32_t *late, late_count, late_room;  /* jobs that started then, but
                                       after it was chosen; */
    bool late_sorted;               /* they are so by number */
    uint32_t *instant, instant_room;    /* jobs that came, then that ended, */
    uint32_t instant_came, instant_count;   /* at this instant, */
    uint32_t instant_next;          /* so many of them seen; */
    uint32_t withheld_gpus;         /* of those that are not */
    bool instant_chosen;            /* there was a choice at this instant */
    struct host_ended *ended;       /* scratch */
    uint32_t ended_room;
    int64_t wake_ns;                /* earliest wake-up asked for */
    uint64_t next_seq;
    uint32_t idle_decides;      /* in a row: no news, nothing held or done */
    uint32_t vain_stops;        /* in a row: nothing was saved, no phase ended */
    uint64_t random_state;
    host_decision_fn *decision_fn;
    void *decision_self;
    struct host_tries *tries;   /* NULL: nobody asked */
    bool failed, closing, in_decide;
    char why[200];
    char note[400];
};

static inline struct host_job_slot *host_job_block(const struct cs_host *host,
                                                   uint32_t job)
{
    const struct host_job_page *page = host->job[job / HOST_JOB_PAGE];

    assert(job < host->job_count);
    return page == NULL ? NULL
                        : page->block[job % HOST_JOB_PAGE / HOST_JOB_BLOCK];
}

static inline struct host_job_slot *host_job_slot(const struct cs_host *host,
                                                  uint32_t job)
{
    struct host_job_slot *block = host_job_block(host, job);

    assert(block != NULL);
    return &block[job % HOST_JOB_BLOCK];
}

static inline bool host_job_over(const struct cs_host *host, uint32_t job)
{
    const struct host_job_slot *block = host_job_block(host, job);

    return block == NULL ||
           block[job % HOST_JOB_BLOCK].pub.end_ns != CLOCK_NEVER_NS;
}

static inline const struct job_form *host_form_of(
    const struct host_job_slot *job)
{
    return job->pub.request.form;
}

static inline bool host_per_phase(const struct cs_host *host)
{
    return (host->policy->flags & CS_PER_PHASE) != 0;
}

/* queue.c: what waits, in order; when leases end. */
void host_order_begin(struct cs_host *host);
uint32_t host_order_count(const struct cs_host *host);
void host_order_insert(struct cs_host *host, uint32_t task);
void host_order_sort(struct cs_host *host);
/* A task of which before() says something else now. */
void host_order_again(struct cs_host *host, uint32_t task);
/* Answers to cs_find_pending() and cs_earliest_ns(). */
uint32_t host_order_find(struct cs_host *host, uint32_t from,
                         const struct cs_filter *filter);
/* The same in another tree of tasks that keeps such sums. */
uint32_t host_find_task(struct cs_host *host, const struct rank_tree *ranks,
                        const struct host_task_sum *sum, uint32_t from,
                        const struct cs_filter *filter);
void host_sum_tasks(const struct cs_host *host, struct host_task_sum *of,
                    uint32_t item, uint32_t left, uint32_t right);
/* The first in order that came before; ID_NONE. */
uint32_t host_order_first(struct cs_host *host, uint64_t seq);
int64_t host_ends_room(struct cs_host *host, int64_t now_ns, uint32_t free_now,
                       uint32_t gpus, uint32_t *spare_gpus);
void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns);
void host_lease_unexpect(struct cs_host *host, uint32_t lease);
/* The same for GPUs of no lease; the number is none of a lease. */
void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number,
                     uint32_t gpus);
void host_end_unexpect(struct cs_host *host, int64_t end_ns,
                       uint32_t number);
bool host_task_before(const struct cs_host *host, uint32_t a, uint32_t b);
/* Room for so many in host->list, which stays good until the next call. */
uint32_t *host_list_room(struct cs_host *host, uint32_t count);
/* tenants.c: a task comes or goes. */
void host_tenants_insert(struct cs_host *host, uint32_t task);
void host_tenants_remove(struct cs_host *host, uint32_t task);
/* turned.c: a job waits, or does so no more. */
void host_turned_add(struct cs_host *host, uint32_t job);

/* kinds.c: the same; a task lost the lease that it held. */
void host_kinds_insert(struct cs_host *host, uint32_t task);
void host_kinds_remove(struct cs_host *host, uint32_t task);
void host_kinds_again(struct cs_host *host, uint32_t task);
/* tops.c: the first of what waits for so many GPUs at most, where the
 * order is not kept; ID_NONE if there is none.  Startable: what is known to
 * find no room is put aside, and stays there until all comes back. */
void host_tops_begin(struct cs_host *host);
void host_tops_insert(struct cs_host *host, uint32_t task);
void host_tops_remove(struct cs_host *host, uint32_t task);
uint32_t host_tops_first(struct cs_host *host, uint32_t gpus_max,
                         bool startable);
void host_tops_aside(struct cs_host *host, uint32_t task);
void host_tops_back(struct cs_host *host);
/* A task that came is not seen yet; those before that one are. */
void host_tops_hide(struct cs_host *host, uint32_t task);
void host_tops_see(struct cs_host *host, uint64_t seq);
/* An instant before which the loser of two asks for as many GPUs cannot win. */
int64_t host_claim_stands_ns(const struct cs_host *host, uint32_t winner,
                             uint32_t loser);
/* keys.c: entries of host->left, and lists of them, trees of which keep
 * host->left_sum.  The key that the policy gives now. */
double host_keys_now(struct cs_host *host, uint32_t entry);
/* Of a job that starts now or waits again: its key and its line. */
void host_keys_note(struct cs_host *host, uint32_t entry);
/* An entry for a job, in no list. */
uint32_t host_keys_make(struct cs_host *host, struct job_id job);
void host_keys_sum(void *owner, uint32_t item, uint32_t left, uint32_t right);
/* In order again after some time, a list of which nobody started or stopped. */
void host_keys_overtake(struct cs_host *host, struct rank_tree *tree);
/* All that there are, in order, become the list of deal.c. */
void host_keys_hand_over(struct cs_host *host, const uint32_t *list,
                         uint32_t count);
/* Stops and starts what host->left_stop and host->left_start name. */
void host_keys_carry_out(struct cs_host *host);
/* lanes.c: all jobs that are dealt in lanes.  Are they? */
bool host_lanes_open(const struct cs_host *host);
/* If not: is it time to try, where it may be? */
bool host_lanes_due(struct cs_host *host, bool may);
/* Takes over the list of deal.c, or leaves it there: false. */
bool host_lanes_begin(struct cs_host *host);
/* If open: up to date but for jobs that came; or turned over to deal.c,
 * where it may no longer be or jobs do not fit: false. */
bool host_lanes_refresh(struct cs_host *host, bool may);
void host_lanes_deal(struct cs_host *host);
/* turns.c: what waits as it was submitted.  A task comes or goes. */
void host_turns_begin(struct cs_host *host);
void host_turns_insert(struct cs_host *host, uint32_t task);
void host_turns_remove(struct cs_host *host, uint32_t task);
/* A choice is made: tasks from this one on were not seen. */
void host_turns_commit(struct cs_host *host, uint64_t seq);
/* The first from a place on that passes, or ID_NONE; the place where it is. */
uint32_t host_turns_next(struct cs_host *host, uint32_t *place,
                         const struct cs_filter *filter);
/* moving.c: the same where the order moves and tasks are in tournaments. */
void host_moving_begin(struct cs_host *host);
void host_moving_insert(struct cs_host *host, uint32_t task);
void host_moving_remove(struct cs_host *host, uint32_t task);
void host_moving_commit(struct cs_host *host, uint64_t seq);
/* A search for those estimated to take no longer begins.  Of those for so many
 * GPUs at most, the first that was not tried yet, or ID_NONE.  It was tried. */
void host_moving_first(struct cs_host *host, int64_t most_ns);
uint32_t host_moving_next(struct cs_host *host, uint32_t gpus_max);
void host_moving_tried(struct cs_host *host, uint32_t task, int64_t most_ns);
/* commit.c: `blocking: commit`.  Before news are forgotten; a decision. */
void host_commit_news(struct cs_host *host);
void host_commit_decide(struct cs_host *host);
/* Starts a task as the policy places it, where so many GPUs are free. */
enum cs_verdict host_try(struct cs_host *host, uint32_t task, uint32_t room);
/* Since the last release, a job of that form and so many GPUs found no room
 * (as asked for, all its roles at once); is that known? */
void host_note_full(struct cs_host *host, uint32_t form, uint32_t gpus);
bool host_known_full(const struct cs_host *host, uint32_t form,
                     uint32_t gpus);

/* state.c: slots and lists. */
void host_lists_begin(struct cs_host *host);
/* Without holes, good until one leaves. */
const struct host_list *host_held(const struct cs_host *host);
const struct host_list *host_running_list(const struct cs_host *host);
int64_t host_now(const struct cs_host *host);
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

/* step.c: training step by step, where that was asked for. */
bool host_steps_apply(const struct cs_host *host,
                      const struct phase_law *law);
void host_steps_start(struct cs_host *host, uint32_t lease,
                      const struct phase_law *law,
                      const struct phase_plan *plan, double part);
/* Nothing happens where no steps are taken. */
void host_steps_stop(struct cs_host *host, uint32_t lease);
/* Steps of the run that are done, as a part of it. */
double host_steps_part(const struct cs_host *host, uint32_t lease);
void host_steps_drop(struct cs_host *host, uint32_t lease);

/* rental.c: is a rented node there, and may be leased? */
bool host_rental_here(const struct cs_host *host, uint32_t node);
/* A lease came to rented nodes or went; one of them failed. */
void host_rental_held(struct cs_host *host, uint32_t lease, bool taken);
void host_rental_failed(struct cs_host *host, uint32_t node);

/* outage.c: failures. */
void host_outage_begin(struct cs_host *host);
/* A job came: failures are due again. */
void host_outage_wake(struct cs_host *host);
/* A job took its first lease, or gave back its last. */
void host_outage_ran(struct cs_host *host, uint32_t job, bool runs);
/* A job goes back to what it saved and waits again at its old place. */
void host_interrupt(struct cs_host *host, uint32_t job);
/* The same, but all it did is kept; what it held is dropped. */
void host_suspend(struct cs_host *host, uint32_t job);
bool host_stands_on(const struct host_lease_slot *lease, uint32_t node);
/* A role's state waits in the memory of that node for its next lease. */
bool host_parked_on(const struct host_job_slot *job, uint32_t node);

/* power.c: a node comes or goes, a lease does; is what a placement could
 * draw, on top of more_mw, to which it is added, within the cap? */
void host_power_begin(struct cs_host *host);
void host_power_node(struct cs_host *host, uint32_t node, bool comes);
void host_power_lease(struct cs_host *host, const struct placement *placement,
                      bool taken);
bool host_power_allows(const struct cs_host *host,
                       const struct placement *placement, int64_t *more_mw);

/* The same where one lease becomes two. */
bool host_power_allows_beside(const struct cs_host *host,
                              const struct placement *before,
                              const struct placement *one,
                              const struct placement *two);

/* pack.c: a lease has its GPUs to itself again. */
void host_pack_alone(struct cs_host *host, uint32_t lease);

/* rent.c: how many nodes are rented. */
void host_rent_begin(struct cs_host *host);
/* A job came: the pools are looked after again. */
void host_rent_wake(struct cs_host *host);
/* After each decision: orders nodes for what waits. */
void host_rent_scale(struct cs_host *host);
/* Nodes of a group that exist now: all, or as many as can be rented. */
uint32_t host_rent_had(const struct cs_host *host, uint32_t group);

/* time.c: how long things take. */
uint32_t host_form_index(struct cs_host *host, const struct job_form *form);
void host_estimate(struct cs_host *host, struct host_job_slot *job);
/* GPUs of a lease, as parts of one count. */
static inline double host_lease_amount(const struct host_lease_slot *lease)
{
    return (double)((uint64_t)lease->pub.gpus * lease->pub.gpu_milli) /
           GPU_MILLI;
}

/* GPU-seconds held so far. */
double host_attained_gpu_s(const struct cs_host *host,
                           const struct host_job_slot *job);
/* What is owed of restarts, of the one that goes on and of the next. */
int64_t host_restart_ns(const struct cs_host *host,
                        const struct host_job_slot *job);
int64_t host_left_ns(const struct cs_host *host,
                     const struct host_job_slot *job, bool truth);
/* Progress of a job of one role on so many GPUs of a pool over that on what it
 * asked for; 0: it cannot run there. */
double host_speedup(struct cs_host *host, const struct host_job_slot *job,
                    uint32_t pool, uint32_t gpus, uint32_t cores);
/* The same of the GPUs of a placement. */
double host_speedup_on(struct cs_host *host, const struct host_job_slot *job,
                       const struct placement *placement);
/* Of a job on a lease, from now on. */
int64_t host_lease_left_ns(const struct cs_host *host,
                           const struct host_job_slot *job,
                           const struct host_lease_slot *lease);
/* Of its known length: what has passed by now. */
int64_t host_done_ns(const struct cs_host *host,
                     const struct host_job_slot *job);
/* On a lease, from what is done when its phase began: known length that passes
 * in so much time, and the time that so much more of it takes. */
int64_t host_known_ns(const struct cs_host *host,
                      const struct host_job_slot *job,
                      const struct host_lease_slot *lease, int64_t ran_ns);
int64_t host_ran_ns(const struct cs_host *host,
                    const struct host_job_slot *job,
                    const struct host_lease_slot *lease, int64_t from_ns,
                    int64_t known_ns);

/* sites.c: all that a role may use, in an order that no list decides. */
struct host_sites host_sites_of(struct cs_host *host,
                                const struct role_spec *role, uint32_t mask);

/* goodput.c: jobs whose goodput is known. */
struct goodput_job;
struct goodput_shape;
void host_goodput_init(struct cs_host *host);
/* When so much of its known length has passed. */
double host_goodput_speedup(const struct cs_host *host,
                            const struct goodput_job *job, int64_t done_ns,
                            uint32_t pool, struct goodput_shape shape);
bool host_goodput_ok(const struct cs_host *host,
                     const struct host_job_slot *job, uint32_t gpus);
uint32_t host_goodput_gpus_max(const struct cs_host *host,
                               const struct host_job_slot *job);
/* Pools where it can run on so many, as a mask. */
uint32_t host_goodput_pools(const struct cs_host *host,
                            const struct goodput_job *job, uint32_t gpus);
double host_goodput_on(const struct cs_host *host,
                       const struct goodput_job *job, int64_t done_ns,
                       const struct placement *place);
int64_t host_goodput_ran_ns(const struct cs_host *host,
                            const struct goodput_job *job,
                            const struct placement *place, int64_t from_ns,
                            int64_t to_ns);
int64_t host_goodput_known_ns(const struct cs_host *host,
                              const struct goodput_job *job,
                              const struct placement *place, int64_t from_ns,
                              int64_t ran_ns);
/* False: no pool is left. */
bool host_fit_want(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   const struct cs_want *want, struct fit_want *out);
bool host_shape_ok(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   uint32_t gpus);
double host_gpu_usd_per_h(const struct cs_host *host,
                          const struct placement *placement);
/* What a lease costs between two times. */
double host_lease_usd(const struct cs_host *host,
                      const struct host_lease_slot *lease, int64_t from_ns,
                      int64_t to_ns);
/* Of bytes between a placement and the shared storage. */
double host_transfer_usd(const struct cs_host *host,
                         const struct placement *placement, double bytes);
double host_switch_s(const struct cs_host *host,
                     const struct host_job_slot *job, uint32_t role,
                     const struct placement *placement,
                     const struct gang *gang);

/* idle.c: a lease becomes idle, or is so no more; a node is under notice:
 * what is idle there may not be taken over. */
void host_idle_add(struct cs_host *host, uint32_t lease);
void host_idle_remove(struct cs_host *host, uint32_t lease);
void host_idle_node_leaves(struct cs_host *host, uint32_t node);
/* What leases hold that have been idle for so long.  When will the next have
 * been?  CLOCK_NEVER_NS: none. */
const struct reclaimable *host_idle_spare(struct cs_host *host, int64_t idle_ns);
int64_t host_idle_next_ns(struct cs_host *host, int64_t idle_ns);
/* Those on the GPUs of a placement, or anywhere on its nodes, in the order of
 * host->held; good until the next call. */
uint32_t host_idle_in_the_way(struct cs_host *host,
                              const struct placement *placement,
                              bool whole_node, const uint32_t **found);

/* lease.c: from grant to drop. */
bool host_find(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
/* What that would find now: `placement: random` draws nothing for it. */
bool host_look(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
/* Is a node of it under notice?  What is given back there is gone. */
bool host_on_leaving_node(const struct cs_host *host,
                          const struct host_lease_slot *lease);
/* Takes over idle leases in the way; the placement must be takeable. */
uint32_t host_grant(struct cs_host *host, uint32_t job, uint32_t role,
                    const struct placement *placement);
/* The same in the place of a lease that moves, which is dropped: its state is
 * saved first, and comes from there. */
uint32_t host_regrant(struct cs_host *host, uint32_t lease,
                      const struct placement *placement);
/* Both for a job of known length at another pace than its own there; 0: at
 * that. */
uint32_t host_grant_at(struct cs_host *host, uint32_t job, uint32_t role,
                       const struct placement *placement, double speedup);
uint32_t host_regrant_at(struct cs_host *host, uint32_t lease,
                         const struct placement *placement, double speedup);
void host_lease_settle(struct cs_host *host, struct host_lease_slot *lease);
void host_lease_busy(struct cs_host *host, uint32_t lease, double fraction);
void host_lease_state(struct cs_host *host, uint32_t lease,
                      enum cs_lease_state state);
/* What the idle leases in the way of a placement would lose. */
double host_evict_s(struct cs_host *host, const struct placement *placement);
/* At once; what it kept in the GPUs is not saved. */
void host_drop(struct cs_host *host, uint32_t lease);
/* What saving its state would take, links being free. */
double host_save_s(const struct cs_host *host, uint32_t lease);
/* Saves first where there is something to save; on a node that will be gone, to
 * the shared storage. */
void host_leave(struct cs_host *host, uint32_t lease);

/* phase.c: phases on leases. */
void host_phase_start(struct cs_host *host, uint32_t lease, uint32_t phase);
/* Stops a running phase; a phase of known length keeps its progress. */
void host_phase_cut(struct cs_host *host, uint32_t lease);
/* The same, and training keeps its whole steps: the part of the phase that
 * need not be done again. */
double host_phase_pause(struct cs_host *host, uint32_t lease);
/* The same; a rollout keeps the responses that are done. */
void host_phase_cut_keep(struct cs_host *host, uint32_t lease);
/* Off its lease, whole or not; and, of one that ran to its end, its work counts
 * as done. */
void host_phase_off(struct cs_host *host, uint32_t lease, bool whole);
void host_phase_done(struct cs_host *host, uint32_t lease);

/* job.c: jobs from step to step.  A phase ran to its end. */
void host_phase_over(struct cs_host *host, uint32_t lease);
/* Starts or asks for what is ready; ends a job that is complete. */
void host_job_advance(struct cs_host *host, uint32_t job);
/* Makes the task for a whole job, at the job's old place in the order. */
void host_task_job(struct cs_host *host, uint32_t job);
void host_job_end(struct cs_host *host, uint32_t job, enum job_status status);
/* Cuts its phases short, drops all its leases; returns their GPUs. */
uint32_t host_job_drop(struct cs_host *host, uint32_t job);

/* view.c: what request.c looks at, too.  The role of an ask for one,
 * or the one that is wanted of a whole job. */
bool host_task_live(const struct cs_host *host, struct task_id task);
uint32_t host_want_role(const struct cs_task *task, const struct cs_want *want);
/* Seconds of a task's phase on a gang; of a whole job, by its estimate. */
double host_run_s(struct cs_host *host, const struct cs_task *task,
                  const struct gang *gang);
/* A look at the counters saves most searches in a full cluster. */
bool host_room_at_all(const struct cs_host *host, const struct cs_want *want,
                      uint32_t gpus);

/* host.c: the policy decides, now. */
void host_task_policy(struct cs_host *host);

/* request.c: a job is stopped, or something taken back from it. */
void host_note_stop(struct cs_host *host);
/* request.c: every request ends here: counted, told, recorded. */
enum cs_verdict host_answer(struct cs_host *host, enum host_action action,
                            struct job_id job, uint32_t role,
                            enum cs_verdict verdict,
                            const struct placement *placement);
/* What a restart costs a job that held so many GPUs, `preemption: {cost: }`. */
int64_t host_stop_cost_ns(const struct cs_host *host, uint32_t gpus);

#endif
