/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlas.c - discretized least attained service in GPU-time, three FIFO queues.
 *
 * Tiresias-L (Gu et al., NSDI 2019) as its simulator has it.  A job starts in
 * the first queue and moves to the end of the next when its GPU-time reaches
 * the queue's limit.  At every decision the queues are dealt GPUs in order,
 * passing over what does not fit; then, in each queue, those that wait move
 * behind those that run, so that a running job is not stopped by its equals.
 * Long jobs can starve, but with `promotion`: who has waited so many times as
 * long as he has run since he was last promoted goes to the end of the first
 * queue and counts anew.  A queue is therefore three lists: those
 * that run, those that wait, and, for one decision, those that were demoted
 * into it; only who starts, stops or is demoted goes from one to another.  Who
 * runs is in a heap by the time at which he may reach his limit.
 *
 * When to look again: `corrected` at the instant a running job reaches its
 * limit; `tiresias` as that simulator computes it, floor((limit - seconds run)
 * / GPUs) seconds from now, where limit / GPUs - seconds run was meant, so
 * that a job of several GPUs that has run before is looked at, and moved, too
 * late.  Of jobs of one queue and as many GPUs those times are in the order in
 * which they reach their limit, so that each such class has a heap.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy dlas_policy;

#define DLAS_QUEUES 3u

enum dlas_list { DLAS_RUN, DLAS_WAIT, DLAS_TAIL };

struct dlas_job {
    int64_t place;              /* in its list; smaller goes first */
    int64_t bound_ns;           /* while it runs: before, it does not reach the
                                   limit, 0: not known; while it waits: when
                                   it is promoted */
    double had_gpu_s;           /* before it was last promoted */
    int64_t waited_ns;          /* since then, once it had something */
    int64_t wait_from_ns;       /* INT64_MAX: it runs */
    struct job_id id;
    uint32_t at;                /* in the heap of its class, or ID_NONE */
    uint32_t class;
    uint8_t queue, list;        /* enum dlas_list */
    bool heard;
};

/* Of those that run; `corrected`: all jobs are of one.  Of those that wait and
 * will be promoted. */
struct dlas_class {
    double gpus;
    uint32_t queue;             /* DLAS_QUEUES: they wait */
    uint32_t *heap, count, room;        /* seats, by bound_ns */
};

struct dlas {
    int64_t limit_ns[DLAS_QUEUES - 1];      /* GPU-time */
    int demotion, service;
    int64_t promotion;                      /* 0: never */
    struct dlas_job *job;                   /* by seat */
    uint32_t job_room;
    struct dlas_class *class;
    uint32_t classes, class_room;
    struct job_id *heard, *moved;           /* may go to another list; do */
    uint32_t heards, heard_room, moves, moved_room;
    int64_t first, last;                    /* places that were given */
    int64_t look_ns;                        /* the next demotion is due */
    uint32_t free_gpus, pending;            /* after the last deal */
    bool tiresias, by_time, news;
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
      .help = "a job that has waited so many times as long as it has run "
              "goes back to the first queue; 0: never" },
};

static bool dlas_init(void *self, struct cs_host *host)
{
    struct dlas *dlas = self;

    dlas->tiresias = dlas->demotion == 1;
    dlas->by_time = dlas->service == 1;
    cs_turned(host);            /* from now on it is told */
    return true;
}

static void *dlas_grow(struct cs_host *host, const void *old, uint32_t *room,
                       uint32_t need, size_t item_bytes)
{
    uint32_t more = *room ? *room : 256;

    while (more <= need)
        more *= 2;
    void *grown = cs_alloc(host, more, item_bytes);
    if (*room)
        memcpy(grown, old, *room * item_bytes);
    *room = more;
    return grown;
}

static struct dlas_job *dlas_of(const struct dlas *dlas,
                                const struct cs_host *host, struct job_id id)
{
    return &dlas->job[cs_slot(host, id)];
}

/* ---- what a job has had ---- */

static double dlas_gpus(const struct cs_host *host, struct job_id job)
{
    uint32_t asked = cs_job_gpus(host, job);
    int64_t milli = cs_request(host, job)->gpu_milli;

    return milli > 0 ? (double)milli / 1000 : asked > 0 ? asked : 1;
}

/* GPU-seconds since it was last promoted. */
static double dlas_had_s(const struct cs_host *host,
                         const struct dlas_job *job)
{
    return cs_attained_gpu_s(host, job->id) - job->had_gpu_s;
}

/* GPU-nanoseconds at which it leaves its queue, which is not the last. */
static double dlas_limit_ns(const struct dlas *dlas,
                            const struct cs_host *host,
                            const struct dlas_job *job)
{
    double limit_ns = (double)dlas->limit_ns[job->queue];

    return dlas->by_time ? limit_ns * dlas_gpus(host, job->id) : limit_ns;
}

/* When it goes back to the first queue if it waits on; INT64_MAX: never. */
static int64_t dlas_promotion_ns(const struct dlas *dlas,
                                 const struct cs_host *host,
                                 const struct dlas_job *job)
{
    double had_s = dlas_had_s(host, job);
    double wait_ns = (double)dlas->promotion * had_s * 1e9 /
                     dlas_gpus(host, job->id) - (double)job->waited_ns;

    if (dlas->promotion == 0 || job->queue == 0 || !(had_s > 0) ||
        wait_ns > 4e18)
        return INT64_MAX;
    return clock_after(job->wait_from_ns, (int64_t)ceil(wait_ns));
}

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
    if (job->wait_from_ns != INT64_MAX && dlas_had_s(host, job) > 0)
        job->waited_ns = clock_after(job->waited_ns,
                                     cs_now_ns(host) - job->wait_from_ns);
    job->wait_from_ns = INT64_MAX;
}

/* ---- heaps ---- */

static int64_t dlas_bound_at(const struct dlas *dlas,
                             const struct dlas_class *class, uint32_t at)
{
    return dlas->job[class->heap[at]].bound_ns;
}

static void dlas_set(struct dlas *dlas, struct dlas_class *class, uint32_t at,
                     uint32_t seat)
{
    class->heap[at] = seat;
    dlas->job[seat].at = at;
}

/* A place is empty: there, or where others leave one, a job is put. */
static void dlas_settle(struct dlas *dlas, struct dlas_class *class,
                        uint32_t at, uint32_t seat)
{
    int64_t bound_ns = dlas->job[seat].bound_ns;

    while (at > 0 && dlas_bound_at(dlas, class, (at - 1) / 2) > bound_ns) {
        dlas_set(dlas, class, at, class->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t next = 2 * at + 1;
        if (next + 1 < class->count &&
            dlas_bound_at(dlas, class, next + 1) <
                dlas_bound_at(dlas, class, next))
            next++;
        if (next >= class->count ||
            dlas_bound_at(dlas, class, next) >= bound_ns)
            break;
        dlas_set(dlas, class, at, class->heap[next]);
        at = next;
    }
    dlas_set(dlas, class, at, seat);
}

static void dlas_unheap(struct dlas *dlas, struct dlas_job *job)
{
    if (job->at == ID_NONE)
        return;
    struct dlas_class *class = &dlas->class[job->class];
    uint32_t last = class->heap[--class->count];
    if (&dlas->job[last] != job)
        dlas_settle(dlas, class, job->at, last);
    job->at = ID_NONE;
}

static uint32_t dlas_class_of(struct dlas *dlas, struct cs_host *host,
                              uint32_t queue, double gpus)
{
    uint32_t i = 0;

    while (i < dlas->classes &&
           (dlas->class[i].queue != queue || dlas->class[i].gpus < gpus ||
            dlas->class[i].gpus > gpus))
        i++;
    if (i < dlas->classes)
        return i;
    if (i >= dlas->class_room)
        dlas->class = dlas_grow(host, dlas->class, &dlas->class_room, i,
                                sizeof *dlas->class);
    dlas->class[dlas->classes++] =
        (struct dlas_class) { .gpus = gpus, .queue = queue };
    return i;
}

static void dlas_heap(struct dlas *dlas, struct cs_host *host,
                      struct dlas_job *job, uint32_t queue, double gpus)
{
    job->class = dlas_class_of(dlas, host, queue, gpus);
    struct dlas_class *class = &dlas->class[job->class];
    if (class->count >= class->room)
        class->heap = dlas_grow(host, class->heap, &class->room, class->count,
                                sizeof *class->heap);
    class->count++;
    dlas_settle(dlas, class, class->count - 1, cs_slot(host, job->id));
}

/* ---- lists ---- */

static void dlas_put(struct dlas *dlas, struct dlas_job *job,
                     enum dlas_list list, bool first)
{
    job->list = (uint8_t)list;
    job->place = first ? --dlas->first : ++dlas->last;
}

static void dlas_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct dlas *dlas = self;
    uint32_t seat = cs_slot(host, job);

    if (seat >= dlas->job_room)
        dlas->job = dlas_grow(host, dlas->job, &dlas->job_room, seat,
                              sizeof *dlas->job);
    dlas->job[seat] = (struct dlas_job) {
        .id = job, .at = ID_NONE, .wait_from_ns = cs_now_ns(host)
    };
    dlas_put(dlas, &dlas->job[seat], DLAS_WAIT, false);
    dlas->news = true;
}

static void dlas_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct dlas *dlas = self;

    dlas_unheap(dlas, dlas_of(dlas, host, job));
    dlas->news = true;
}

static bool dlas_runs(const struct cs_host *host, struct job_id job)
{
    return cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE;
}

static double dlas_key(const void *self, const struct cs_host *host,
                       struct job_id id)
{
    const struct dlas *dlas = self;
    const struct dlas_job *job = dlas_of(dlas, host, id);

    return job->queue * 0x1p50 + (int)job->list * 0x1p48 + (double)job->place;
}

static double dlas_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 0;
}

/* In the order they came. */
static double dlas_came(const void *self, const struct cs_host *host,
                        struct job_id id)
{
    (void)self;
    (void)host;
    return id.i;
}

static void dlas_note(struct cs_host *host, struct job_id **list,
                      uint32_t *count, uint32_t *room, struct job_id id)
{
    if (*count >= *room)
        *list = dlas_grow(host, *list, room, *count, sizeof **list);
    (*list)[(*count)++] = id;
}

static void dlas_move(struct dlas *dlas, struct cs_host *host,
                      struct job_id id)
{
    dlas_note(host, &dlas->moved, &dlas->moves, &dlas->moved_room, id);
}

/* More than rounding can make of a time. */
#define DLAS_MARGIN_NS 10000

static void dlas_bound(struct dlas *dlas, struct cs_host *host,
                       struct job_id id)
{
    struct dlas_job *job = dlas_of(dlas, host, id);
    double held = cs_attained_per_s(host, id), asked = dlas_gpus(host, id);

    dlas_unheap(dlas, job);
    if (job->queue + 1 == DLAS_QUEUES)
        return;
    job->bound_ns = 0;
    if (held > 0 && held >= asked && held <= asked) {
        double left_ns = (dlas_limit_ns(dlas, host, job) -
                          dlas_had_s(host, job) * 1e9) / held;
        if (left_ns > 2 * DLAS_MARGIN_NS && left_ns < 4e18)
            job->bound_ns = clock_after(cs_now_ns(host),
                                        (int64_t)left_ns - DLAS_MARGIN_NS);
    }
    if (dlas->tiresias)
        dlas_heap(dlas, host, job, job->queue, asked);
    else
        dlas_heap(dlas, host, job, 0, 0);
}

/* It waits from now on. */
static void dlas_wait(struct dlas *dlas, struct cs_host *host,
                      struct dlas_job *job)
{
    if (job->wait_from_ns == INT64_MAX)
        job->wait_from_ns = cs_now_ns(host);
    job->bound_ns = dlas_promotion_ns(dlas, host, job);
    if (job->bound_ns != INT64_MAX)
        dlas_heap(dlas, host, job, DLAS_QUEUES, 0);
}

/* Those of a class who have reached their limit, or waited for long enough,
 * from a place in its heap down. */
static void dlas_find(struct dlas *dlas, struct cs_host *host,
                      const struct dlas_class *class, uint32_t at)
{
    if (at >= class->count ||
        dlas_bound_at(dlas, class, at) > cs_now_ns(host))
        return;
    const struct dlas_job *job = &dlas->job[class->heap[at]];
    bool waits = class->queue == DLAS_QUEUES, runs = dlas_runs(host, job->id);
    if (waits || (runs && dlas_had_s(host, job) * 1e9 >=
                              dlas_limit_ns(dlas, host, job)))
        dlas_move(dlas, host, job->id);
    dlas_find(dlas, host, class, 2 * at + 1);
    dlas_find(dlas, host, class, 2 * at + 2);
}

static void dlas_hear(struct dlas *dlas, struct cs_host *host,
                      struct job_id id)
{
    if (!dlas_of(dlas, host, id)->heard)
        dlas_note(host, &dlas->heard, &dlas->heards, &dlas->heard_room, id);
    dlas_of(dlas, host, id)->heard = true;
}

/* One queue down at most, as there, or to the first; at its end, in the order
 * they came. */
static void dlas_demote(struct dlas *dlas, struct cs_host *host)
{
    dlas->moves = 0;
    for (uint32_t c = 0; c < dlas->classes; c++)
        dlas_find(dlas, host, &dlas->class[c], 0);
    cs_sort(host, dlas->moved, dlas->moves, dlas_came);
    for (uint32_t i = 0; i < dlas->moves; i++) {
        struct dlas_job *job = dlas_of(dlas, host, dlas->moved[i]);
        dlas_unheap(dlas, job);
        if (dlas_runs(host, job->id))
            job->queue++;
        else
            dlas_promote(job, host);
        dlas_put(dlas, job, DLAS_TAIL, false);
        cs_reallocate_note(host, job->id);
        dlas_hear(dlas, host, job->id);
    }
}

/* ---- after a deal ---- */

/* Who was stopped waits before those that wait, who had been demoted behind
 * them. */
static void dlas_part(struct dlas *dlas, struct cs_host *host)
{
    dlas->moves = 0;
    for (uint32_t i = 0; i < dlas->heards; i++) {
        struct job_id id = dlas->heard[i];
        if (dlas_of(dlas, host, id)->list != DLAS_WAIT &&
            !dlas_runs(host, id))
            dlas_move(dlas, host, id);
    }
    cs_sort(host, dlas->moved, dlas->moves, dlas_key);
    for (uint32_t i = dlas->moves; i-- > 0;) {
        struct dlas_job *job = dlas_of(dlas, host, dlas->moved[i]);
        dlas_unheap(dlas, job);
        if (job->list == DLAS_RUN)
            dlas_put(dlas, job, DLAS_WAIT, true);
    }
    for (uint32_t i = 0; i < dlas->moves; i++) {
        struct dlas_job *job = dlas_of(dlas, host, dlas->moved[i]);
        if (job->list == DLAS_TAIL) {
            dlas_put(dlas, job, DLAS_WAIT, false);
            cs_reallocate_note(host, job->id);    /* it may have waited before */
        }
        dlas_wait(dlas, host, job);
    }
}

/* Who was started, or runs though demoted, runs behind those that run; who was
 * interrupted and runs again, where he did. */
static void dlas_join(struct dlas *dlas, struct cs_host *host)
{
    dlas->moves = 0;
    for (uint32_t i = 0; i < dlas->heards; i++) {
        struct job_id id = dlas->heard[i];
        struct dlas_job *job = dlas_of(dlas, host, id);
        job->heard = false;
        if (!dlas_runs(host, id))
            continue;
        dlas_unheap(dlas, job);
        dlas_waited(job, host);
        if (job->list == DLAS_RUN)
            dlas_bound(dlas, host, id);
        else
            dlas_move(dlas, host, id);
    }
    dlas->heards = 0;
    cs_sort(host, dlas->moved, dlas->moves, dlas_key);
    for (uint32_t i = 0; i < dlas->moves; i++) {
        struct job_id id = dlas->moved[i];
        dlas_put(dlas, dlas_of(dlas, host, id), DLAS_RUN, false);
        dlas_bound(dlas, host, id);
        cs_reallocate_note(host, id);
    }
}

/* Nanoseconds until a running job may have reached its limit. */
static double dlas_due_ns(const struct dlas *dlas, const struct cs_host *host,
                          const struct dlas_job *job)
{
    double gpus = dlas_gpus(host, job->id);
    double run_s = dlas_had_s(host, job) / gpus;
    double limit_s = (double)dlas->limit_ns[job->queue] / 1e9;

    if (dlas->by_time)
        return ceil((limit_s - run_s) * 1e9);
    if (dlas->tiresias)             /* it would look for ever, at 0 s */
        return fmax(1, floor((limit_s - run_s) / gpus)) * 1e9;
    return ceil((limit_s / gpus - run_s) * 1e9);
}

/* Until the first may have reached its limit, of those of a class that may by
 * then, from a place in its heap down. */
static double dlas_least_ns(const struct dlas *dlas,
                            const struct cs_host *host,
                            const struct dlas_class *class, uint32_t at,
                            int64_t upto_ns)
{
    if (at >= class->count ||
        dlas_bound_at(dlas, class, at) - 3 * DLAS_MARGIN_NS > upto_ns)
        return INFINITY;
    double due_ns = dlas_due_ns(dlas, host, &dlas->job[class->heap[at]]);
    due_ns = fmin(due_ns, dlas_least_ns(dlas, host, class, 2 * at + 1,
                                        upto_ns));
    return fmin(due_ns, dlas_least_ns(dlas, host, class, 2 * at + 2,
                                      upto_ns));
}

/* The least bound that is known. */
static int64_t dlas_first_ns(const struct dlas *dlas,
                             const struct dlas_class *class, uint32_t at)
{
    if (at >= class->count)
        return INT64_MAX;
    if (dlas_bound_at(dlas, class, at) > 0)
        return dlas_bound_at(dlas, class, at);
    int64_t left = dlas_first_ns(dlas, class, 2 * at + 1);
    int64_t right = dlas_first_ns(dlas, class, 2 * at + 2);
    return left < right ? left : right;
}

/* Until the first is promoted.  Who could have been and was not, as in the
 * first queue none is, has to wait for other news. */
static double dlas_promotion_due_ns(const struct dlas *dlas,
                                    const struct cs_host *host,
                                    const struct dlas_class *class,
                                    uint32_t at)
{
    int64_t now_ns = cs_now_ns(host);

    if (at >= class->count)
        return INFINITY;
    if (dlas_bound_at(dlas, class, at) > now_ns)
        return (double)(dlas_bound_at(dlas, class, at) - now_ns);
    return fmin(dlas_promotion_due_ns(dlas, host, class, 2 * at + 1),
                dlas_promotion_due_ns(dlas, host, class, 2 * at + 2));
}

static double dlas_class_due_ns(const struct dlas *dlas,
                                const struct cs_host *host,
                                const struct dlas_class *class)
{
    if (class->queue == DLAS_QUEUES)
        return dlas_promotion_due_ns(dlas, host, class, 0);
    int64_t upto_ns = dlas_first_ns(dlas, class, 0);
    double due_ns = dlas_least_ns(dlas, host, class, 0, upto_ns);

    if (dlas->tiresias || due_ns > 9e18 ||
        due_ns <= (double)(upto_ns - cs_now_ns(host)))
        return due_ns;
    return dlas_least_ns(dlas, host, class, 0,
                         clock_after(cs_now_ns(host), (int64_t)due_ns));
}

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
        dlas_hear(dlas, host, turned);
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
    .summary = "discretized least attained GPU-time: three FIFO queues",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct dlas),
    .param = dlas_param,
    .param_count = sizeof dlas_param / sizeof dlas_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .init = dlas_init,
    .decide = dlas_decide,
    .job_submitted = dlas_job_submitted,
    .job_ended = dlas_job_ended,
};
