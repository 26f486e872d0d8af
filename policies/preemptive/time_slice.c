/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_slice.c - time slicing: while jobs wait, all take turns of one quantum.
 *
 * The suspend-resume of Gandiva (Xiao et al., OSDI 2018), whose quantum is a
 * minute: early feedback for every job at the price of switches.  At the end
 * of a quantum the jobs that have not run for longest go first; in between, what
 * is free goes to the next in turn and no job is stopped.  A job that runs has run
 * now; so those that wait and those that run are two lists that stand still, and
 * a job goes from one to the other only when it starts or stops.
 *
 * With `packing`, Gandiva's by trial and error: while the cluster is full, the
 * next in turn goes beside one drawn from those that run alone on as many GPUs.
 * After a quantum it is known how fast both are: if, in parts of their paces
 * alone, they add up to less than 1, the later one stops, and no two jobs of
 * their kinds are tried again (so too Gavel's form of Gandiva, policies/
 * gandiva.py, which draws all pairs at once).  Gandiva prefers partners of low
 * GPU utilization, which jobs of known length do not state.
 *
 * Gandiva also migrates jobs and grows them by profiled progress; neither is
 * here.  Bad for the mean: jobs of like length all end late.
 */
#include <stddef.h>

#include "policies/pack.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/resize.h"

extern const struct cs_policy time_slice_policy;

/* What tells jobs apart that are fast or slow beside each other. */
struct kind {
    const void *form, *rates;   /* of the job's request: compared by address */
};

/* Two kinds that did less together than in turns. */
struct apart {
    struct kind a, b;
};

/* NEW: not dealt yet. */
enum turn_list { TURN_WAITS, TURN_RUNS, TURN_NEW };

/* What is known of a job in the system. */
struct turn {
    int64_t ran_ns;             /* when it last ran, or came, + 1: at a decision
                                   at which it ran already */
    int64_t place;              /* in its list; smaller goes first */
    uint64_t started;           /* while it runs: at that decision */
    uint32_t heard;             /* its place among those heard of, + 1 */
    bool runs;
    uint8_t list;               /* enum turn_list: in the last deal */
};

struct time_slice {
    int64_t quantum_ns;         /* parameters */
    bool packing;
    struct apart *apart;        /* kinds that were slower together */
    uint32_t aparts, apart_room; /* of `apart` */
    int64_t end_ns;             /* of the present quantum */
    struct turn *turn;          /* by seat */
    uint32_t room;              /* seats */
    uint64_t decisions;         /* how many were made, */
    int64_t decided_ns;         /* the last one then */
    struct job_id *heard;       /* may go to another list */
    uint32_t heards, heard_room; /* of `heard` */
    int64_t first, last;        /* places that were given */
};

static const struct cs_param time_slice_param[] = {
    { .key = "quantum", .type = CS_PARAM_TIME,
      .offset = offsetof(struct time_slice, quantum_ns),
      .min = 0.001, .max = 1e9, .fallback = "60s",
      .help = "how long a turn is while jobs wait" },
    { .key = "packing", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct time_slice, packing), .fallback = "false",
      .help = "are two jobs tried on the GPUs of one" },
};

/* Asks the host to note which jobs start and stop from now on; packing looks
 * at all running jobs instead. */
static bool time_slice_init(void *self, struct cs_host *host)
{
    const struct time_slice *ts = self;

    if (!ts->packing)
        cs_turned(host);        /* from now on it is told */
    return true;
}

/* A job that comes counts as having run until now, so that it is behind all
 * that wait. */
static void time_slice_job_submitted(void *self, struct cs_host *host,
                                     struct job_id job)
{
    struct time_slice *ts = self;

    uint32_t seat = cs_slot(host, job);

    ts->turn = cs_grow(host, ts->turn, &ts->room, seat, sizeof *ts->turn);
    ts->turn[seat] = (struct turn) {
        .ran_ns = clock_after(cs_now_ns(host), 1), .place = job.i, .list = TURN_NEW,
    };
}

/* Its slot may serve another job, so that it must not be heard of any more. */
static void time_slice_job_ended(void *self, struct cs_host *host,
                                 struct job_id job)
{
    struct time_slice *ts = self;
    struct turn *turn = &ts->turn[cs_slot(host, job)];

    if (turn->heard > 0) {
        struct job_id last = ts->heard[--ts->heards];
        ts->heard[turn->heard - 1] = last;
        ts->turn[cs_slot(host, last)].heard = turn->heard;
    }
    *turn = (struct turn) { .ran_ns = 0 };
}

/* Returns when a job last ran, ns; now, if it runs; INT64_MAX, which makes it the
 * last, if it has just come and the policy was not told yet.  A job that runs since before
 * this decision ran up to it. */
static int64_t time_slice_ran(const struct time_slice *ts,
                              const struct cs_host *host, struct job_id job)
{
    uint32_t seat = cs_slot(host, job);

    if (seat >= ts->room || ts->turn[seat].ran_ns == 0)
        return INT64_MAX;
    if (ts->turn[seat].runs && ts->turn[seat].started < ts->decisions)
        return ts->decided_ns;
    return ts->turn[seat].ran_ns - 1;
}

/* The job that has not run for longest goes first; the time stands still while it
 * waits. */
static bool time_slice_before(const void *self, const struct cs_host *host,
                              struct task_id a, struct task_id b)
{
    struct job_id x = cs_task(host, a)->job, y = cs_task(host, b)->job;
    int64_t of_x = time_slice_ran(self, host, x);
    int64_t of_y = time_slice_ran(self, host, y);

    return of_x < of_y || (of_x == of_y && x.i < y.i);
}

/* ---- turns ----------------------------------------------------------------- */

/* Smaller keys run: the time since which a job has not run. */
static double time_slice_key(const void *self, const struct cs_host *host,
                             struct job_id job)
{
    return (double)time_slice_ran(self, host, job);
}

/* The order by time_slice_key() where no job is interrupted, as a key that stands
 * still: a job that runs, ran now.  2^51 is above every place, and both together are exact in
 * a double. */
static double time_slice_place(const void *self, const struct cs_host *host,
                               struct job_id job)
{
    const struct time_slice *ts = self;
    const struct turn *turn = &ts->turn[cs_slot(host, job)];

    return (int)turn->list * 0x1p51 + (double)turn->place;
}

/* Keys stand still between two events. */
static double time_slice_per_ns(const void *self, const struct cs_host *host,
                                struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 0;
}

static const struct cs_moving_key time_slice_moving_key = {
    .key = time_slice_place, .per_ns = time_slice_per_ns, .still = true,
    .sorted = time_slice_key
};

/* Notes which jobs run, and since when; and of those that do no more, until when
 * they did. */
static void time_slice_listen(struct time_slice *ts, struct cs_host *host)
{
    struct job_id job;

    while ((job = cs_turned(host)).i != ID_NONE) {
        struct turn *turn = &ts->turn[cs_slot(host, job)];
        bool runs = cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE;
        if (turn->runs && !runs)
            turn->ran_ns = time_slice_ran(ts, host, job) + 1;
        if (!turn->runs)
            turn->started = ts->decisions;
        turn->runs = runs;
        if (turn->heard > 0)
            continue;
        ts->heard = cs_grow(host, ts->heard, &ts->heard_room, ts->heards,
                            sizeof *ts->heard);
        ts->heard[ts->heards++] = job;
        turn->heard = ts->heards;
    }
}

/* Puts a job at either end of a list; the host is told that its key changed. */
static void time_slice_put(struct time_slice *ts, struct cs_host *host,
                           struct job_id job, enum turn_list list, bool first)
{
    struct turn *turn = &ts->turn[cs_slot(host, job)];

    turn->place = first ? --ts->first : ++ts->last;
    turn->list = (uint8_t)list;
    cs_reallocate_note(host, job);
}

/* Brings the two lists up to date before a deal.  Jobs that were started go before
 * all that run; jobs that were stopped go behind all that wait; both in the order
 * that they had.  Jobs that came since are last.  A job that came at this instant
 * counts as one that runs, once.  For example, A and B wait, C and D run.  B starts and D
 * stops: then A waits before D, and B runs before C. */
static void time_slice_line_up(struct time_slice *ts, struct cs_host *host)
{
    uint32_t count = ts->heards;

    cs_sort(host, ts->heard, count, time_slice_place);
    for (uint32_t i = count; i-- > 0;) {
        const struct turn *turn = &ts->turn[cs_slot(host, ts->heard[i])];
        if (turn->list == TURN_WAITS && turn->runs)
            time_slice_put(ts, host, ts->heard[i], TURN_RUNS, true);
    }
    ts->heards = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct job_id job = ts->heard[i];
        struct turn *turn = &ts->turn[cs_slot(host, job)];
        turn->heard = 0;
        if (turn->list == TURN_NEW &&
            (turn->runs || turn->ran_ns > cs_now_ns(host)))
            time_slice_put(ts, host, job, TURN_RUNS, false);
        else if (turn->list != TURN_WAITS && !turn->runs)
            time_slice_put(ts, host, job, TURN_WAITS, false);
        if (turn->list == TURN_RUNS && !turn->runs) {
            ts->heard[ts->heards++] = job;
            turn->heard = ts->heards;
        }
    }
}

/* ---- two on the GPUs of one ------------------------------------------------ */

/* Jobs of one form with the same rates share GPUs alike. */
static struct kind kind_of(const struct cs_host *host, struct job_id job)
{
    const struct job_request *request = cs_request(host, job);

    return (struct kind) { request->form, request->rates };
}

/* Are they one kind? */
static bool is_alike(struct kind a, struct kind b)
{
    return a.form == b.form && a.rates == b.rates;
}

/* Was this pair of kinds, either way round, too slow together before? */
static bool were_apart(const struct time_slice *ts, struct kind a,
                       struct kind b)
{
    for (uint32_t i = 0; i < ts->aparts; i++)
        if ((is_alike(ts->apart[i].a, a) && is_alike(ts->apart[i].b, b)) ||
            (is_alike(ts->apart[i].a, b) && is_alike(ts->apart[i].b, a)))
            return true;
    return false;
}

/* Notes a pair of kinds that does less together than in turns.  Nothing is
 * ever forgotten.  Kinds are few, so that the list stays short. */
static void keep_apart(struct time_slice *ts, struct cs_host *host,
                       struct kind a, struct kind b)
{
    ts->apart = cs_grow(host, ts->apart, &ts->apart_room, ts->aparts, sizeof *ts->apart);
    ts->apart[ts->aparts++] = (struct apart) { a, b };
}

/* Returns the sum of the two paces beside each other, each over the job's pace
 * alone, on the worst of these pools: above 1 a pair does more than taking
 * turns.  0: they cannot be together on one of the pools.  For example, two jobs at 60% of
 * their paces alone make 1.2: better than turns. */
static double sum_paces(struct cs_host *host, struct job_id a, struct job_id b,
                        uint32_t pools)
{
    uint32_t gpus = cs_job_gpus(host, a);
    double least = 2;

    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        if (!(pools >> p & 1))
            continue;
        double x = cs_speedup_co_located(host, a, b, p);
        double y = cs_speedup_co_located(host, b, a, p);
        if (!(x > 0) || !(y > 0))
            return 0;
        double sum = x / cs_speedup(host, a, p, gpus) +
                     y / cs_speedup(host, b, p, gpus);
        least = sum < least ? sum : least;
    }
    return least;
}

/* Has the pair not been found too slow, and do both hold as many GPUs, so that
 * it may be tried?  A job that has a partner already is not tried. */
static bool may_try(const struct time_slice *ts, struct cs_host *host,
                    struct job_id job, struct job_id runs)
{
    struct lease_id lease = cs_role_lease(host, runs, 0);

    return lease.i != ID_NONE && cs_co_located(host, runs).i == ID_NONE &&
           cs_job_gpus(host, job) == cs_job_gpus(host, runs) &&
           !were_apart(ts, kind_of(host, job), kind_of(host, runs)) &&
           sum_paces(host, job, runs, cs_lease_pools(host, lease)) > 0;
}

/* Starts a waiting job beside one that may be tried, each of these with the
 * same chance (one draw a candidate: reservoir sampling), and looks at the
 * pair after a quantum. */
static void try_beside(struct time_slice *ts, struct cs_host *host,
                       struct task_id task)
{
    struct job_id job = cs_task(host, task)->job, drawn = { ID_NONE };
    uint32_t count = 0;

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        if (may_try(ts, host, job, cs_running(host, i)) &&
            cs_random(host) * ++count < 1)
            drawn = cs_running(host, i);
    if (drawn.i != ID_NONE && cs_start_co_located(host, task, drawn) == CS_DONE)
        cs_wake_at(host, clock_after(cs_now_ns(host), ts->quantum_ns));
}

/* Separates the pairs that have been together for a quantum and do less than
 * they would in turns, and remembers their kinds.  A stop changes the list of
 * running jobs, so the look begins again.  Each pair is looked at once, from its later job. */
static void judge_pair(struct time_slice *ts, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_running_count(host);) {
        struct job_id job = cs_running(host, i++);
        struct job_id other = cs_co_located(host, job);
        if (other.i == ID_NONE || other.i > job.i)
            continue;
        struct lease_id lease = cs_role_lease(host, job, 0);
        int64_t due_ns = clock_after(cs_lease(host, lease)->since_ns,
                                     ts->quantum_ns);
        if (due_ns > cs_now_ns(host)) {
            cs_wake_at(host, due_ns);
        } else if (sum_paces(host, job, other, cs_lease_pools(host, lease)) <
                   1) {
            keep_apart(ts, host, kind_of(host, job), kind_of(host, other));
            cs_stop(host, job);
            i = 0;
        }
    }
}

/* Starts waiting jobs in order while GPUs are free; a job for which no node
 * has room is passed over, or with packing tried beside another. */
static void time_slice_fill(struct time_slice *ts, struct cs_host *host)
{
    uint32_t i = 0;

    for (;;) {                  /* without a free GPU, too: some need none */
        struct cs_filter filter = { .gpus_max = cs_free_gpus(host, 0),
                                    .estimate_max_ns = INT64_MAX,
                                    .startable = true };
        if (!ts->packing)
            i = cs_find_pending(host, i, &filter);
        if (i >= cs_pending_count(host))
            return;
        struct task_id task = cs_pending(host, i);
        uint32_t waiting = cs_pending_count(host);
        if (cs_start(host, task) != CS_DONE && ts->packing)
            try_beside(ts, host, task);
        /* A job that was started leaves the order: i is the next. */
        i += cs_pending_count(host) == waiting;
    }
}

/* At the end of a quantum, if somebody waits, GPUs are dealt anew, with stops; within
 * one only free GPUs are. */
static void time_slice_serve(struct time_slice *ts, struct cs_host *host)
{
    int64_t now = cs_now_ns(host);

    bool deals = now >= ts->end_ns && cs_pending_count(host) > 0;

    if (deals && ts->packing) {
        cs_reallocate(host, time_slice_key);
    } else if (deals) {
        time_slice_line_up(ts, host);
        cs_reallocate_moving(host, &time_slice_moving_key);
    }
    if (now < ts->end_ns || ts->packing)
        time_slice_fill(ts, host);
}

/* Jobs that start or stop are noted before and after the deal, since both the
 * cluster and the deal itself change which jobs run. */
static void time_slice_decide(void *self, struct cs_host *host)
{
    struct time_slice *ts = self;
    int64_t now = cs_now_ns(host);

    if (!ts->packing)
        time_slice_listen(ts, host);
    ts->decisions++;
    ts->decided_ns = now;
    for (uint32_t i = 0; ts->packing && i < cs_running_count(host); i++)
        ts->turn[cs_slot(host, cs_running(host, i))].ran_ns =
            clock_after(now, 1);
    if (ts->packing)
        judge_pair(ts, host);
    time_slice_serve(ts, host);
    if (!ts->packing)
        time_slice_listen(ts, host);
    if (cs_pending_count(host) == 0) {
        ts->end_ns = now;       /* the next to come may run at once */
        return;
    }
    if (now >= ts->end_ns)
        ts->end_ns = clock_after(now, ts->quantum_ns);
    cs_wake_at(host, ts->end_ns);
}

const struct cs_policy time_slice_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "time-slice",
    .cites = "xiao2018gandiva",
    .summary = "all jobs take turns of one quantum, preempting",
    .flags = CS_PREEMPTS | CS_PACKS | CS_DRAWS | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .self_bytes = sizeof(struct time_slice),
    .param = time_slice_param,
    .param_count = sizeof time_slice_param / sizeof time_slice_param[0],
    .init = time_slice_init,
    .before = time_slice_before,
    .decide = time_slice_decide,
    .job_submitted = time_slice_job_submitted,
    .job_ended = time_slice_job_ended,
};
