/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * starburst.c - jobs wait for GPUs that are owned, in proportion to what the
 * cloud would cost, and burst there when they have waited long enough.
 *
 * Luo et al., "Starburst: A Cost-aware Scheduler for Hybrid Cloud", USENIX ATC
 * 2024.  How long a job may wait depends on `wait`:
 *
 *  none      not at all; what does not fit goes to the cloud at once
 *  constant  `budget`, whatever the job
 *  runtime   `factor` times its run time
 *  compute   `factor` times its run time times its GPUs: what would cost most
 *            in the cloud waits longest
 *  infinite  for ever
 *
 * Jobs are looked at in order; one that finds no room in the pools that are
 * owned ends it (`blocking: strict`) or is passed over (skip, their loop).  When
 * its budget is spent it starts in the pool `cloud`, if that has room, even if
 * GPUs come free just then.  A job that the owned pools could never hold does
 * not wait; one that was interrupted waits anew.  Their prediction of waits and
 * their storage of data are left out.
 * Their simulator sees only at the next arrival or end that a budget was spent,
 * dates the start back, and blocks the queue until then; not so here.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"

extern const struct cs_policy starburst_policy;

/* Parameter `wait`, in the order of its words. */
enum wait { NONE, CONSTANT, RUNTIME, COMPUTE, INFINITE };

/* Parameters, and the pools that they mean. */
struct starburst {
    const char *cloud;          /* parameter: the name of a pool */
    int64_t budget_ns;          /* parameter: of `constant` */
    double factor;              /* parameter: of `runtime` and `compute` */
    enum wait wait;             /* parameter */
    uint32_t owned, burst;      /* masks of pools; no pool is in both */
    uint32_t owned_gpus;        /* of all nodes, under repair or rented later, too */
    bool *outside;              /* by job: the owned pools can never hold it */
    uint32_t room;              /* entries of `outside` */
};

/* Every pool is owned but the one named `cloud`; fails if either side is
 * empty. */
static bool sb_init(void *self, struct cs_host *host)
{
    struct starburst *sb = self;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (strcmp(cs_pool_name(host, p), sb->cloud) == 0)
            sb->burst |= 1u << p;
        else
            sb->owned |= 1u << p;
    for (uint32_t n = 0; n < cs_node_count(host); n++)
        if (sb->owned >> cs_node(host, n).pool & 1)
            sb->owned_gpus += cs_node(host, n).gpus;
    if (sb->burst == 0 || sb->owned == 0) {
        cs_fail(host, "cloud must name a pool, beside which there is another");
        cs_note(host, "Give the owned nodes, or those of the cloud, another `pool`.");
    }
    return sb->burst != 0 && sb->owned != 0;
}

/* Notes whether the owned pools could hold a job: all its GPUs, and those of each role in pools
 * and of types that the role may use. */
static void sb_submitted(void *self, struct cs_host *host, struct job_id job)
{
    struct starburst *sb = self;
    bool holds = cs_job_gpus(host, job) <= sb->owned_gpus;

    for (uint32_t r = 0; holds && r < cs_request(host, job)->form->role_count; r++)
        holds = cs_could_hold(host, job, r, sb->owned);
    sb->outside = cs_grow(host, sb->outside, &sb->room, job.i, sizeof *sb->outside);
    sb->outside[job.i] = !holds;
}

/* Returns when a job has waited enough; 0 if the owned pools can never hold it,
 * INT64_MAX for never.  For example, `compute` with factor 0.25: a job of 2 h on 4 GPUs waits
 * for 2 h at most. */
static int64_t sb_until_ns(const struct starburst *sb,
                           const struct cs_host *host,
                           const struct cs_task *task)
{
    double wait = 0, run = (double)cs_left_ns(host, task->job);

    if (sb->outside[task->job.i])
        return 0;
    if (sb->wait == CONSTANT)
        wait = (double)sb->budget_ns;
    else if (sb->wait == RUNTIME)
        wait = sb->factor * run;
    else if (sb->wait == COMPUTE)
        wait = sb->factor * run * task->gpus;
    else if (sb->wait == INFINITE)
        wait = INFINITY;
    wait += (double)task->ready_ns;
    return wait < 4e18 ? (int64_t)wait : INT64_MAX;
}

/* Starts a job with all roles that use GPUs in these pools; other roles run where
 * they ask to.  False: there is no room. */
static bool sb_start(struct cs_host *host, struct task_id id, uint32_t pools)
{
    const struct job_form *form =
        cs_request(host, cs_task(host, id)->job)->form;
    struct cs_want want[FORM_ROLES_MAX] = { { .pool_mask = pools } };

    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role_count > 1)
            want[r] = (struct cs_want) {
                .role = r,
                .pool_mask = form->role[r].gpus > 0 ? pools : 0,
            };
    return (form->role_count == 1
                ? cs_start_want(host, id, want)
                : cs_start_wants(host, id, want, form->role_count)) == CS_DONE;
}

/* Jobs that have waited long enough leave for the cloud before the others are
 * looked at, as in the paper's simulator, though GPUs may have come free at this
 * instant.  Jobs that became ready just now have their turn first. */
static void sb_burst(const struct starburst *sb, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id id = cs_pending(host, i);
        const struct cs_task *task = cs_task(host, id);

        if (task->ready_ns == cs_now_ns(host) ||
            sb_until_ns(sb, host, task) > cs_now_ns(host) ||
            !sb_start(host, id, sb->burst))
            i++;                /* else it left the order: i is the next */
    }
}

/* First the cloud for those whose budget is spent, then the queue in order.
 * The host is asked to wake the policy at the end of each budget, so that none
 * is overrun. */
static void sb_decide(void *self, struct cs_host *host)
{
    struct starburst *sb = self;
    bool blocked = false;

    sb_burst(sb, host);

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id id = cs_pending(host, i);
        const struct cs_task *task = cs_task(host, id);
        int64_t until = sb_until_ns(sb, host, task);

        if (!blocked && task->gpus <= cs_free_gpus(host, sb->owned) &&
            sb_start(host, id, sb->owned))
            continue;
        if (until <= cs_now_ns(host)) {
            if (sb_start(host, id, sb->burst))
                continue;
        } else if (until < INT64_MAX) {
            cs_wake_at(host, until);
        }
        blocked |= !cs_skips(host);
        i++;
    }
}

static const struct cs_param params[] = {
    { "cloud", CS_PARAM_TEXT, offsetof(struct starburst, cloud), 0, 0, "cloud",
      "the pool that jobs burst to; all others are owned" },
    { "wait", CS_PARAM_CHOICE, offsetof(struct starburst, wait), 0, 0, "compute",
      "how long jobs wait: none, constant, runtime, compute or infinite" },
    { "budget", CS_PARAM_TIME, offsetof(struct starburst, budget_ns), 0, 1e9,
      "1h", "of wait: constant" },
    { "factor", CS_PARAM_REAL, offsetof(struct starburst, factor), 0, 1e9,
      "0.25", "of wait: runtime or compute" },
};

static const struct cs_need needs[] = {
    { "budget", "wait: constant" },
    { "factor", "wait: runtime compute" },
};

static const struct cs_words words[] = {
    { "cloud", CS_A_POOL },
    { "wait", "none constant runtime compute infinite" },
};

const struct cs_policy starburst_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "starburst",
    .cites = "luo2024starburst",
    .summary = "waits for owned GPUs as long as is worth it, then bursts",
    .flags = CS_ASKS_BLOCKING | CS_ASKS_ESTIMATES, .param_count = 4, .param = params,
    .self_bytes = sizeof(struct starburst), .init = sb_init,
    .words_count = sizeof words / sizeof words[0], .words = words,
    .decide = sb_decide, .job_submitted = sb_submitted,
    .need_count = sizeof needs / sizeof needs[0], .need = needs,
};
