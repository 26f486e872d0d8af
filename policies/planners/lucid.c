/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lucid.c - least GPU-time first, two jobs on the GPUs of one where they
 * suffer little, and nobody is preempted.
 *
 * Hu, Zhang, Sun, Wen and Zhang, "Lucid: A Non-intrusive, Scalable and
 * Interpretable Scheduler for Deep Learning Training Jobs", ASPLOS 2023, as in
 * its published simulator (github S-Lab-System-Group/Lucid, simulation/policy/
 * lucid.py and profiler/lgf.py, commit 9b9ba894):
 *
 *  order     estimated run time x GPUs, least first
 *  binder    a job of at most `gpus_max` GPUs goes beside the first that runs
 *            alone on as many GPUs, if their sharing scores (tiny 0, medium 1,
 *            jumbo 2; models/jobs/speedup.h) add up to `score_max` at most and its
 *            GPU-time is at most twice the other's; else on GPUs of its own
 *  strategy  packing is off while little comes; then the first that does not
 *            fit ends the decision
 *  profiler  jobs run for up to `profile` on nodes of their own first, fewest
 *            GPUs first; a job that ends there needs no more, and one that may run
 *            nowhere else stays there
 *
 * The estimate is the host's (`estimate:`), in the place of their model of
 * names and users; load is what waits now (`packs: loaded`), in the place of
 * their forecast of arrivals.  A job that leaves the profiler keeps what it
 * did, where theirs begins again; the profiler's nodes are never scaled.  Two
 * jobs that share stay together until one ends.
 */
#include <string.h>

#include "policies/pack.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy lucid_policy;

/* Parameter `packs`, in the order of its words. */
enum packs { PACKS_LOADED, PACKS_ALWAYS, PACKS_NEVER };
/* Whether a job has had its turn on the profiler. */
enum stage { STAGE_QUEUE, STAGE_PROFILED };

struct lucid_job {
    double gpu_s;               /* estimated when it came, in GPU-seconds */
    enum stage stage;
    bool stays;                 /* on the profiler: it may run nowhere else */
};

/* Parameters, the pools that they mean, and what is kept of each job. */
struct lucid {
    int64_t score_max, gpus_max; /* parameters: for packing */
    const char *profiler;       /* parameter: the name of a pool, or none */
    int64_t profile_ns;         /* parameter: longest time there */
    enum packs packs;           /* parameter */
    uint32_t profile_pools, main_pools; /* masks; no profiler: 0, 0 */
    struct lucid_job *job;      /* by job */
    uint32_t room;              /* entries of `job` */
};

/* Has one of the pools a node with GPUs? */
static bool lucid_has_gpus(const struct cs_host *host, uint32_t pools)
{
    for (uint32_t n = 0; n < cs_node_count(host); n++)
        if ((pools >> cs_node(host, n).pool & 1) && cs_node(host, n).gpus > 0)
            return true;
    return false;
}

/* Without a profiler both masks are 0, which the host reads as any pool. */
static bool lucid_init(void *self, struct cs_host *host)
{
    struct lucid *l = self;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (strcmp(cs_pool_name(host, p), l->profiler) == 0)
            l->profile_pools = 1u << p;
        else
            l->main_pools |= 1u << p;
    if (strcmp(l->profiler, "none") == 0)
        l->profile_pools = l->main_pools = 0;
    else if (l->profile_pools == 0 || !lucid_has_gpus(host, l->main_pools)) {
        cs_fail(host, "profiler must name a pool, and leave GPUs elsewhere");
        cs_note(host, "Give other nodes another `pool`, or write profiler: none.");
        return false;
    }
    return true;
}

/* May a job of one role run in these pools, with all their nodes there?  A gang has GPUs of one
 * type. */
static bool lucid_may_run(struct cs_host *host, struct job_id job, uint32_t pools)
{
    uint32_t gpus = cs_job_gpus(host, job), fast = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if ((pools >> p & 1) && cs_speedup(host, job, p, gpus) > 0)
            fast |= 1u << p;
    return fast != 0 && cs_could_hold(host, job, 0, fast);
}

/* The estimate is kept as it is on submission: the binder compares jobs of
 * which one has run already. */
static void lucid_submitted(void *self, struct cs_host *host,
                            struct job_id job)
{
    struct lucid *l = self;
    uint32_t gpus = cs_job_gpus(host, job);

    l->job = cs_grow(host, l->job, &l->room, job.i, sizeof *l->job);
    l->job[job.i].gpu_s = 1e-9 * (double)cs_left_ns(host, job) * gpus;
    l->job[job.i].stays = l->profile_pools != 0 &&
                          !lucid_may_run(host, job, l->main_pools);
}

/* GPUs that a task asks for; a part of one counts as such. */
static double lucid_gpus(const struct cs_task *task)
{
    return (double)((uint64_t)task->gpus * task->gpu_milli) / GPU_MILLI;
}

/* Least GPU-time first; the order of submission decides between equals. */
static bool lucid_before(const void *self, const struct cs_host *host,
                         struct task_id a, struct task_id b)
{
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    (void)self;
    return (double)x->estimate_ns * lucid_gpus(x) <
           (double)y->estimate_ns * lucid_gpus(y);
}

/* ---- the profiler ------------------------------------------------------------ */

/* Must a job run on the profiler first?  Jobs of several roles and jobs
 * without GPUs need not, nor those that are larger than the profiler or may not use
 * its GPUs, nor replicas of services: to be moved, these stop answering. */
static bool lucid_profiles(const struct lucid *l, struct cs_host *host,
                           const struct cs_task *task)
{
    return l->profile_pools != 0 && task->gpus > 0 &&
           (l->job[task->job.i].stays || (l->job[task->job.i].stage == STAGE_QUEUE &&
                                          !cs_serves(host, task->job))) &&
           cs_request(host, task->job)->form->role_count == 1 &&
           task->gpus <= cs_total_gpus(host, l->profile_pools) &&
           lucid_may_run(host, task->job, l->profile_pools);
}

/* Stops the jobs whose time on the profiler is up, and that may run elsewhere: they wait for
 * GPUs there. */
static void lucid_leave_profiler(struct lucid *l, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host);) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        int64_t end_ns = clock_after(lease->since_ns, l->profile_ns);

        if ((cs_lease_pools(host, cs_lease_at(host, i)) & l->profile_pools) ==
                0 || cs_request(host, lease->job)->form->role_count > 1 ||
            l->job[lease->job.i].stays) {
            i++;
            continue;
        }
        if (end_ns <= cs_now_ns(host)) {
            cs_stop(host, lease->job);
            continue;           /* it left the list: i is the next */
        }
        cs_wake_at(host, end_ns);
        i++;
    }
}

/* Starts jobs on the profiler, fewest GPUs first; the first that does not fit
 * ends it.  Quadratic in the jobs that wait for the profiler. */
static void lucid_profile(struct lucid *l, struct cs_host *host)
{
    struct cs_want want = { .pool_mask = l->profile_pools };

    for (;;) {
        struct task_id least = { ID_NONE };
        for (uint32_t i = 0; i < cs_pending_count(host); i++) {
            struct task_id task = cs_pending(host, i);
            if (lucid_profiles(l, host, cs_task(host, task)) &&
                (least.i == ID_NONE ||
                 cs_task(host, task)->gpus < cs_task(host, least)->gpus))
                least = task;
        }
        if (least.i == ID_NONE)
            return;
        uint32_t job = cs_task(host, least)->job.i;
        if (cs_start_want(host, least, &want) != CS_DONE)
            return;
        l->job[job].stage = STAGE_PROFILED;
        cs_wake_at(host, clock_after(cs_now_ns(host), l->profile_ns));
    }
}

/* ---- the binder ---------------------------------------------------------------- */

/* Do the laws allow both jobs on the same GPUs, of each of these pools?  They
 * do not where memory is too small for both. */
static bool lucid_both_run(struct cs_host *host, struct job_id a,
                           struct job_id b, uint32_t pools)
{
    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if ((pools >> p & 1) && (!(cs_speedup_co_located(host, a, b, p) > 0) ||
                                 !(cs_speedup_co_located(host, b, a, p) > 0)))
            return false;
    return true;
}

/* Starts a job on the GPUs of the first running job that passes all tests.  By
 * the limit on GPU-time a job joins none that is much shorter.  For example, with score_max 2
 * two medium jobs share, a jumbo one only with a tiny one. */
static bool lucid_goes_beside(struct lucid *l, struct cs_host *host,
                              struct task_id task)
{
    struct job_id job = cs_task(host, task)->job;
    uint32_t gpus = cs_task(host, task)->gpus;
    uint32_t score = cs_share_score(host, job);

    if (score > 2 || gpus > (uint32_t)l->gpus_max)
        return false;
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id other = cs_running(host, i);
        struct lease_id lease = cs_role_lease(host, other, 0);
        uint32_t pools = lease.i == ID_NONE ? 0 : cs_lease_pools(host, lease);
        if (pools == 0 || (pools & l->profile_pools) ||
            cs_co_located(host, other).i != ID_NONE ||
            cs_job_gpus(host, other) != gpus ||
            score + cs_share_score(host, other) > (uint64_t)l->score_max ||
            l->job[job.i].gpu_s > 2 * l->job[other.i].gpu_s ||
            !lucid_both_run(host, job, other, pools))
            continue;
        if (cs_start_co_located(host, task, other) == CS_DONE)
            return true;
    }
    return false;
}

/* Starts a job outside the profiler; jobs of several roles may use all
 * pools. */
static enum cs_verdict lucid_start(const struct lucid *l,
                                   struct cs_host *host, struct task_id task)
{
    struct cs_want want = { .pool_mask = l->main_pools };

    if (cs_request(host, cs_task(host, task)->job)->form->role_count > 1)
        return cs_start(host, task);
    return cs_start_want(host, task, &want);
}

/* Does more wait than there are free GPUs?  The queue is counted only as far as it takes to
 * know. */
static bool lucid_packs(const struct lucid *l, const struct cs_host *host)
{
    double wanted = 0, room = cs_free_gpus(host, l->main_pools);

    if (l->packs != PACKS_LOADED)
        return l->packs == PACKS_ALWAYS;
    for (uint32_t i = 0; i < cs_pending_count(host) && wanted <= room; i++)
        wanted += lucid_gpus(cs_task(host, cs_pending(host, i)));
    return wanted > room;
}

/* While packing is off the queue is strict, so that large jobs are not passed
 * over; with packing all that wait are tried. */
static void lucid_decide(void *self, struct cs_host *host)
{
    struct lucid *l = self;

    if (l->profile_pools != 0) {
        lucid_leave_profiler(l, host);
        lucid_profile(l, host);
    }
    bool packs = lucid_packs(l, host);
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);

        if (lucid_profiles(l, host, cs_task(host, task))) {
            i++;                /* its turn on the profiler comes first */
            continue;
        }
        if ((packs && lucid_goes_beside(l, host, task)) ||
            lucid_start(l, host, task) == CS_DONE)
            continue;           /* it left the queue: i is the next */
        if (!packs)
            return;
        i++;
    }
}

static const struct cs_param params[] = {
    { "packs", CS_PARAM_CHOICE, offsetof(struct lucid, packs), 0, 0, "loaded",
      "when two jobs may share GPUs: loaded, while more waits than is free; "
      "always; never" },
    { "score_max", CS_PARAM_INT, offsetof(struct lucid, score_max), 0, 4, "2",
      "sum of the sharing scores of two that share: tiny 0, medium 1, "
      "jumbo 2" },
    { "gpus_max", CS_PARAM_INT, offsetof(struct lucid, gpus_max), 1, 1e6, "8",
      "jobs of more GPUs do not share" },
    { "profiler", CS_PARAM_TEXT, offsetof(struct lucid, profiler), 0, 0,
      "none", "pool on which jobs run first; none: there is no profiler" },
    { "profile", CS_PARAM_TIME, offsetof(struct lucid, profile_ns), 0.001,
      1e9, "200s", "how long at most, there" },
};

static const struct cs_need needs[] = {
    { "preemption", "profiler: not none" },
    { "profile", "profiler: not none" },
    { "score_max", "packs: not never" },
    { "gpus_max", "packs: not never" },
};

static const struct cs_words words[] = {
    { "packs", "loaded always never" },
    { "profiler", "none " CS_A_POOL },
};

const struct cs_policy lucid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "lucid",
    .cites = "hu2023lucid",
    .summary = "least GPU-time first, two jobs on the same GPUs where they "
               "suffer little",
    .flags = CS_PREEMPTS | CS_PACKS | CS_ASKS_ESTIMATES, .param = params,
    .param_count = sizeof params / sizeof params[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .self_bytes = sizeof(struct lucid), .init = lucid_init,
    .before = lucid_before, .decide = lucid_decide,
    .job_submitted = lucid_submitted,
    .need_count = sizeof needs / sizeof needs[0], .need = needs,
};
