/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlas.c - discretized least attained service in GPU-time, three FIFO queues.
 *
 * Tiresias-L (Gu et al., NSDI 2019) as its simulator has it.  A job starts in
 * the first queue and moves to the end of the next when its GPU-time reaches
 * the queue's limit.  At every decision the queues are dealt GPUs in order,
 * passing over what does not fit; then, in each queue, those that wait move
 * behind those that run, so that a running job is not stopped by its equals.
 * Long jobs can starve, unless `promotion` is set: a job that has waited that
 * many times as long as it has run, since it was last promoted, goes to the end of
 * the first queue and counts anew.  A queue is therefore three lists: those
 * that run, those that wait, and, for one decision, those that were demoted
 * into it; only a job that starts, stops or is demoted goes from one to another.
 * Jobs that run are in an order by the time at which they may reach their limit.
 *
 * When to look again: `corrected` at the instant a running job reaches its
 * limit; `tiresias` as that simulator computes it, floor((limit - seconds run)
 * / GPUs) seconds from now, where limit / GPUs - seconds run was meant, so
 * that a job of several GPUs that has run before is looked at, and moved, too
 * late.  Of jobs of one queue and as many GPUs those times are in the order in
 * which they reach their limit, so that each such class has an order.
 */
#include <math.h>

#include "policies/order.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy dlas_policy;

#define DLAS_QUEUES 3u

/* The lists of a queue, in the order in which they are dealt GPUs. */
enum dlas_list { DLAS_RUN, DLAS_WAIT, DLAS_TAIL };

struct dlas_job {
    int64_t place;              /* in its list; smaller goes first */
    double had_gpu_s;           /* attained GPU-seconds when it was last promoted, 0: never */
    int64_t waited_ns;          /* since then, once it had something */
    int64_t wait_from_ns;       /* INT64_MAX: it runs */
    struct job_id id;           /* its number */
    struct cs_order *due;       /* of its class, or NULL */
    uint8_t queue, list;        /* enum dlas_list */
};

/* Jobs (seats) that run, by the time before which they do not reach their limit,
 * 0: not known; `corrected`: all are of one class.  Jobs that wait, by the time
 * at which they are promoted. */
struct dlas_class {
    double gpus;                /* of each job; 0: any */
    uint32_t queue;             /* DLAS_QUEUES: they wait */
    struct cs_order *due;
};

struct dlas {
    int64_t limit_ns[DLAS_QUEUES - 1];      /* GPU-time */
    int demotion, service;      /* parameters: the place of the word in its list */
    int64_t promotion;                      /* 0: never */
    struct dlas_job *job;                   /* by seat */
    uint32_t job_room;
    struct dlas_class *class;   /* made as they are needed */
    uint32_t classes, class_room; /* of `class` */
    struct cs_order *heard, *moved;         /* seats: may go to another list;
                                               do, scratch */
    int64_t first, last;                    /* places that were given */
    int64_t look_ns;                        /* the next demotion is due */
    uint32_t free_gpus, pending; /* GPUs and tasks, after the last deal */
    bool tiresias, by_time, news; /* demotion is `tiresias`; service is `time`; a job came or
                                   * ended */
};

static const struct cs_param dlas_param[] = {
    { .key = "limit_1", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[0]),
      .max = 1e9, .fallback = "3250s",
      .help = "service at which a job leaves the first queue" },
    { .key = "limit_2", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[1]),
      .max = 1e9, .fallback = "7200s",
      .help = "service at which a job leaves the second queue" },
    { .key = "demotion", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct dlas, demotion), .fallback = "corrected",
      .help = "when to look for demotions: corrected, or tiresias as that "
              "simulator computes it" },
    { .key = "service", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct dlas, service), .fallback = "gpu-time",
      .help = "what the limits are of: gpu-time, or time" },
    { .key = "promotion", .type = CS_PARAM_INT,
      .offset = offsetof(struct dlas, promotion),
      .max = 1e6, .fallback = "0",
      .help = "ratio of its wait to its run time from which a job "
              "goes back to the first queue; 0: never" },
};

/* Reads the two choices, and asks the host to tell which jobs start and stop.  False: the second
 * queue would be left before it is entered. */
static bool dlas_init(void *self, struct cs_host *host)
{
    struct dlas *dlas = self;

    dlas->tiresias = dlas->demotion == 1;
    dlas->by_time = dlas->service == 1;
    dlas->heard = cs_order_new(host);
    dlas->moved = cs_order_new(host);
    cs_turned(host);            /* from now on it is told */
    if (dlas->limit_ns[0] <= dlas->limit_ns[1])
        return true;
    cs_fail(host, "limit_1 must not be above limit_2");
    cs_note(host, "A job leaves the first queue at limit_1, and the second at limit_2.");
    return false;
}

/* Returns the entry of a job, by its slot. */
static struct dlas_job *dlas_of(const struct dlas *dlas,
                                const struct cs_host *host, struct job_id id)
{
    return &dlas->job[cs_slot(host, id)];
}

/* ---- what a job has had ---- */

/* GPUs of a job, a part counted as a fraction, at least one where it has
 * none. */
static double dlas_gpus(const struct cs_host *host, struct job_id job)
{
    uint32_t asked = cs_job_gpus(host, job);
    int64_t milli = cs_request(host, job)->gpu_milli;

    return milli > 0 ? (double)milli / 1000 : asked > 0 ? asked : 1;
}

/* GPU-nanoseconds since it was last promoted, a whole number: limits and waits that end at one
 * instant then do so here, too, and not a nanosecond apart by the rounding of sums. */
static double dlas_had_ns(const struct cs_host *host,
                          const struct dlas_job *job)
{
    return floor((cs_attained_gpu_s(host, job->id) - job->had_gpu_s) * 1e9 + 0.5);
}

/* GPU-nanoseconds at which it leaves its queue, which is not the last. */
static double dlas_limit_ns(const struct dlas *dlas,
                            const struct cs_host *host,
                            const struct dlas_job *job)
{
    double limit_ns = (double)dlas->limit_ns[job->queue];

    return dlas->by_time ? limit_ns * dlas_gpus(host, job->id) : limit_ns;
}

/* When it goes back to the first queue if it waits on; INT64_MAX: never.  For example, with
 * promotion 2 a job that ran for 100 s since then, and waited for 50 s, is promoted after 150
 * s more. */
static int64_t dlas_promotion_ns(const struct dlas *dlas,
                                 const struct cs_host *host,
                                 const struct dlas_job *job)
{
    double had_ns = dlas_had_ns(host, job);
    double wait_ns = (double)dlas->promotion * had_ns /
                     dlas_gpus(host, job->id) - (double)job->waited_ns;

    if (dlas->promotion == 0 || job->queue == 0 || !(had_ns > 0) ||
        wait_ns > 4e18)
        return INT64_MAX;
    return clock_after(job->wait_from_ns, (int64_t)ceil(wait_ns));
}

/* Back to the first queue: what it had so far no longer counts. */
static void dlas_promote(struct dlas_job *job, const struct cs_host *host)
{
    job->queue = 0;
    job->had_gpu_s = cs_attained_gpu_s(host, job->id);
    job->waited_ns = 0;
    job->wait_from_ns = cs_now_ns(host);
}

/* It starts: waits before it had anything do not count. */
static void dlas_waited(struct dlas_job *job, const struct cs_host *host)
{
    if (job->wait_from_ns != INT64_MAX && dlas_had_ns(host, job) > 0)
        job->waited_ns = clock_after(job->waited_ns,
                                     cs_now_ns(host) - job->wait_from_ns);
    job->wait_from_ns = INT64_MAX;
}

/* ---- when something is due ---- */

/* Nothing is expected of the job any more. */
static void dlas_undue(struct dlas *dlas, struct dlas_job *job)
{
    if (job->due != NULL)
        cs_order_drop(job->due, (uint32_t)(job - dlas->job));
    job->due = NULL;
}

/* Returns the order of a class, which is made when it is first needed.
 * Classes are few: queues times sizes.  Numbers of GPUs are compared exactly: they are what
 * jobs ask for. */
static struct cs_order *dlas_class_of(struct dlas *dlas, struct cs_host *host,
                                      uint32_t queue, double gpus)
{
    uint32_t i = 0;

    while (i < dlas->classes &&
           (dlas->class[i].queue != queue || dlas->class[i].gpus < gpus ||
            dlas->class[i].gpus > gpus))
        i++;
    if (i < dlas->classes)
        return dlas->class[i].due;
    dlas->class = cs_grow(host, dlas->class, &dlas->class_room, i,
                          sizeof *dlas->class);
    dlas->class[dlas->classes++] =
        (struct dlas_class) { gpus, queue, cs_order_new(host) };
    return dlas->class[i].due;
}

/* Something may be due for the job at that time. */
static void dlas_expect(struct dlas *dlas, struct cs_host *host,
                     struct dlas_job *job, uint32_t queue, double gpus,
                     int64_t due_ns)
{
    job->due = dlas_class_of(dlas, host, queue, gpus);
    cs_order_put(job->due, cs_slot(host, job->id), due_ns);
}

/* ---- lists ---- */

/* Puts a job into a list, at a place. */
static void dlas_put(struct dlas_job *job, enum dlas_list list, int64_t place)
{
    job->list = (uint8_t)list;
    job->place = place;
}

/* A job begins at the end of the first queue, without service. */
static void dlas_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct dlas *dlas = self;
    uint32_t seat = cs_slot(host, job);

    dlas->job = cs_grow(host, dlas->job, &dlas->job_room, seat, sizeof *dlas->job);
    dlas->job[seat] = (struct dlas_job) {
        .id = job, .wait_from_ns = cs_now_ns(host)
    };
    dlas_put(&dlas->job[seat], DLAS_WAIT, ++dlas->last);
    dlas->news = true;
}

/* The job can be demoted no more. */
static void dlas_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct dlas *dlas = self;

    dlas_undue(dlas, dlas_of(dlas, host, job));
    dlas->news = true;
}

/* Does the job run?  Then it has no task that waits.  A job whose tasks all have leases waits
 * for nothing. */
static bool dlas_runs(const struct cs_host *host, struct job_id job)
{
    return cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE;
}

/* Queue, list and place as one number: the order of the deal.  Places are far below 2^48, so
 * the three do not touch. */
static int64_t dlas_place(const struct dlas_job *job)
{
    return ((int64_t)job->queue << 50) + ((int64_t)job->list << 48) + job->place;
}

/* The place of a job in the order: queue, then arrival in it.  It changes at
 * demotions alone. */
static double dlas_key(const void *self, const struct cs_host *host,
                       struct job_id id)
{
    return (double)dlas_place(dlas_of(self, host, id));
}

/* Keys stand still: a job's queue changes only at its limit. */
static double dlas_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 0;
}

/* More than rounding can make of a time. */
#define DLAS_MARGIN_NS 10000

/* A time before which a running job cannot reach its limit.  It is a bound
 * only: service is measured by the host, and DLAS_MARGIN_NS covers its
 * rounding.  0, which means at once, if the job does not get what it asked for, as after a
 * failure; it is looked at in each decision then. */
static void dlas_bound(struct dlas *dlas, struct cs_host *host,
                       struct dlas_job *job)
{
    double held = cs_attained_per_s(host, job->id);
    double asked = dlas_gpus(host, job->id);
    int64_t due_ns = 0;

    dlas_undue(dlas, job);
    if (job->queue + 1 == DLAS_QUEUES)
        return;
    if (held > 0 && held >= asked && held <= asked) {
        double left_ns = (dlas_limit_ns(dlas, host, job) -
                          dlas_had_ns(host, job)) / held;
        if (left_ns > 2 * DLAS_MARGIN_NS && left_ns < 4e18)
            due_ns = clock_after(cs_now_ns(host),
                                 (int64_t)left_ns - DLAS_MARGIN_NS);
    }
    if (dlas->tiresias)
        dlas_expect(dlas, host, job, job->queue, asked, due_ns);
    else
        dlas_expect(dlas, host, job, 0, 0, due_ns);
}

/* It waits from now on. */
static void dlas_wait(struct dlas *dlas, struct cs_host *host,
                      struct dlas_job *job)
{
    if (job->wait_from_ns == INT64_MAX)
        job->wait_from_ns = cs_now_ns(host);
    int64_t due_ns = dlas_promotion_ns(dlas, host, job);
    if (due_ns != INT64_MAX)
        dlas_expect(dlas, host, job, DLAS_QUEUES, 0, due_ns);
}

/* Notes those of a class that have reached their limit, or waited for long
 * enough.  The bound may be early, so what a job has had is compared with the limit itself. */
static void dlas_find(struct dlas *dlas, struct cs_host *host,
                      const struct dlas_class *class)
{
    uint32_t seat = cs_order_from(class->due, 0);

    for (; seat != ID_NONE && cs_order_key(class->due, seat) <= cs_now_ns(host);
         seat = cs_order_next(class->due, seat)) {
        const struct dlas_job *job = &dlas->job[seat];
        if (class->queue == DLAS_QUEUES ||
            (dlas_runs(host, job->id) &&
             dlas_had_ns(host, job) >= dlas_limit_ns(dlas, host, job)))
            cs_order_put(dlas->moved, seat, job->id.i);
    }
}

/* One queue down at most, as there, or to the first; at its end, in the order
 * they came.  Jobs are taken in the order of their numbers. */
static void dlas_demote(struct dlas *dlas, struct cs_host *host)
{
    uint32_t seat;

    for (uint32_t c = 0; c < dlas->classes; c++)
        dlas_find(dlas, host, &dlas->class[c]);
    while ((seat = cs_order_pop(dlas->moved)) != ID_NONE) {
        struct dlas_job *job = &dlas->job[seat];
        dlas_undue(dlas, job);
        if (dlas_runs(host, job->id))
            job->queue++;
        else
            dlas_promote(job, host);
        dlas_put(job, DLAS_TAIL, ++dlas->last);
        cs_reallocate_note(host, job->id);
        cs_order_put(dlas->heard, seat, 0);
    }
}

/* ---- after a deal ---- */

/* Jobs that were stopped wait before those that wait; these stand before those
 * that were demoted.  Places go down in front (`first`) and up behind (`last`), so that
 * nothing that stands must be moved. */
static void dlas_part(struct dlas *dlas, struct cs_host *host)
{
    uint32_t seat = cs_order_from(dlas->heard, 0);

    for (; seat != ID_NONE; seat = cs_order_next(dlas->heard, seat))
        if (dlas->job[seat].list != DLAS_WAIT &&
            !dlas_runs(host, dlas->job[seat].id))
            cs_order_put(dlas->moved, seat, dlas_place(&dlas->job[seat]));
    int64_t place = dlas->first -= cs_order_count(dlas->moved);
    while ((seat = cs_order_pop(dlas->moved)) != ID_NONE) {
        struct dlas_job *job = &dlas->job[seat];
        dlas_undue(dlas, job);
        if (job->list == DLAS_TAIL)         /* it may have waited before */
            cs_reallocate_note(host, job->id);
        dlas_put(job, DLAS_WAIT,
                 job->list == DLAS_RUN ? place++ : ++dlas->last);
        dlas_wait(dlas, host, job);
    }
}

/* A job that was started, or runs though demoted, runs behind those that run; one
 * that was interrupted and runs again, where it did.  First those that run where they did get
 * new bounds; then the others are put behind, in the order that they had. */
static void dlas_join(struct dlas *dlas, struct cs_host *host)
{
    uint32_t seat;

    while ((seat = cs_order_pop(dlas->heard)) != ID_NONE) {
        struct dlas_job *job = &dlas->job[seat];
        if (!dlas_runs(host, job->id))
            continue;
        dlas_undue(dlas, job);
        dlas_waited(job, host);
        if (job->list == DLAS_RUN)
            dlas_bound(dlas, host, job);
        else
            cs_order_put(dlas->moved, seat, dlas_place(job));
    }
    while ((seat = cs_order_pop(dlas->moved)) != ID_NONE) {
        struct dlas_job *job = &dlas->job[seat];
        dlas_put(job, DLAS_RUN, ++dlas->last);
        dlas_bound(dlas, host, job);
        cs_reallocate_note(host, job->id);
    }
}

/* Nanoseconds until a running job may have reached its limit.  For example, limit 3250 s, 4
 * GPUs, 100 s run: `corrected` says 3250 / 4 - 100 = 712.5 s; `tiresias` says floor((3250 -
 * 100) / 4) = 787 s. */
static double dlas_due_ns(const struct dlas *dlas, const struct cs_host *host,
                          const struct dlas_job *job)
{
    double gpus = dlas_gpus(host, job->id);
    double had_ns = dlas_had_ns(host, job);
    double limit_ns = (double)dlas->limit_ns[job->queue];

    if (dlas->tiresias && !dlas->by_time)       /* it would look for ever, at 0 s */
        return fmax(1, floor((limit_ns - had_ns / gpus) / gpus / 1e9)) * 1e9;
    return ceil((dlas_limit_ns(dlas, host, job) - had_ns) / gpus);
}

/* Until the first may have reached its limit, of those of a class that may by
 * then. */
static double dlas_least_ns(const struct dlas *dlas,
                            const struct cs_host *host,
                            const struct dlas_class *class, int64_t upto_ns)
{
    double due_ns = INFINITY;
    uint32_t seat = cs_order_from(class->due, 0);

    for (; seat != ID_NONE &&
           cs_order_key(class->due, seat) - 3 * DLAS_MARGIN_NS <= upto_ns;
         seat = cs_order_next(class->due, seat))
        due_ns = fmin(due_ns, dlas_due_ns(dlas, host, &dlas->job[seat]));
    return due_ns;
}

/* The first time from that on at which something of a class is due. */
static int64_t dlas_first_ns(const struct dlas_class *class, int64_t from_ns)
{
    uint32_t seat = cs_order_from(class->due, from_ns);

    return seat == ID_NONE ? INT64_MAX : cs_order_key(class->due, seat);
}

/* Returns when the next job of a class is due.  A job that waits, could have been promoted and
 * was not (as in the first queue, from which there is no promotion) has to wait for other news.
 * The first look asks the jobs that may be due first; if the earliest of these is later than
 * the bounds of others, the others are asked too. */
static double dlas_class_due_ns(const struct dlas *dlas,
                                const struct cs_host *host,
                                const struct dlas_class *class)
{
    bool waits = class->queue == DLAS_QUEUES;
    int64_t now_ns = cs_now_ns(host);
    int64_t upto_ns = dlas_first_ns(class, waits ? clock_after(now_ns, 1) : 1);

    if (waits)
        return upto_ns == INT64_MAX ? INFINITY : (double)(upto_ns - now_ns);
    double due_ns = dlas_least_ns(dlas, host, class, upto_ns);
    if (dlas->tiresias || due_ns > 9e18 ||
        due_ns <= (double)(upto_ns - now_ns))
        return due_ns;
    return dlas_least_ns(dlas, host, class,
                         clock_after(now_ns, (int64_t)due_ns));
}

/* Wakes the policy when the first job may reach its limit or be promoted. */
static void dlas_look_again(struct dlas *dlas, struct cs_host *host)
{
    double due_ns = INFINITY;

    dlas->look_ns = 0;
    for (uint32_t c = 0; c < dlas->classes; c++)
        due_ns = fmin(due_ns, dlas_class_due_ns(dlas, host, &dlas->class[c]));
    if (due_ns > 9e18)
        return;
    dlas->look_ns = clock_after(cs_now_ns(host), (int64_t)fmax(1, due_ns));
    cs_wake_at(host, dlas->look_ns);
}

/* Demotes, deals, then moves those that started or stopped to their lists. */
static void dlas_decide(void *self, struct cs_host *host)
{
    static const struct cs_moving_key motion = {
        .key = dlas_key, .per_ns = dlas_per_ns, .still = true
    };
    struct dlas *dlas = self;
    struct job_id turned;

    /* An alarm that a later decision made void changes nothing; nodes that
     * fail or come back do. */
    if (!dlas->news && cs_now_ns(host) != dlas->look_ns &&
        cs_free_gpus(host, 0) == dlas->free_gpus &&
        cs_pending_count(host) == dlas->pending)
        return;
    dlas->news = false;
    dlas_demote(dlas, host);
    cs_reallocate_moving(host, &motion);
    while ((turned = cs_turned(host)).i != ID_NONE)
        if (dlas_of(dlas, host, turned)->list != DLAS_WAIT ||
            dlas_runs(host, turned))
            cs_order_put(dlas->heard, cs_slot(host, turned), 0);
    dlas_part(dlas, host);
    dlas_join(dlas, host);
    dlas->free_gpus = cs_free_gpus(host, 0);
    dlas->pending = cs_pending_count(host);
    dlas_look_again(dlas, host);
}

static const struct cs_words words[] = {
    { "demotion", "corrected tiresias" },
    { "service", "gpu-time time" },
};

const struct cs_policy dlas_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dlas",
    .cites = "gu2019tiresias",
    .summary = "discretized least attained GPU-time: three FIFO queues",
    .flags = CS_PREEMPTS | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .self_bytes = sizeof(struct dlas),
    .param = dlas_param,
    .param_count = sizeof dlas_param / sizeof dlas_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .init = dlas_init,
    .decide = dlas_decide,
    .job_submitted = dlas_job_submitted,
    .job_ended = dlas_job_ended,
};
