/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * easy.c - EASY backfill: the head of the queue is promised a start, and any
 * later job may go first if it keeps that promise.
 *
 * After Lifka (1995).  Only the head has a reservation, so a job further back
 * can be delayed without bound.  A later job keeps the promise if it ends
 * before the head is to start, or if it uses GPUs and cores that the head will not need.
 * A job that needs no GPU, may go on cores or shares a GPU is looked at also while
 * no GPU is free.
 *
 * The promise counts GPUs and cores over all nodes that the head may use, by pool and type
 * of GPU: under a placement rule that needs whole nodes, the head may have to wait longer.
 * Of several types it is promised the one of which enough are free first.  A part of a GPU
 * is promised the GPU that has it first, with the memory that the job states.  A job that may
 * lie on GPUs that the head needs, or on others, is tried on the others.
 */

#include "policies/cores.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"

extern const struct cs_policy easy_policy;

/* Parameter `reservation`, in the order of its words. */
enum { RESERVED_HEAD, RESERVED_NONE };

struct easy {
    int reservation;            /* of the head, or of nobody */
    int64_t depth_max;          /* how far down the queue to look */
};

static const struct cs_param easy_param[] = {
    { .key = "reservation", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct easy, reservation), .fallback = "head",
      .help = "whose start is promised: the head's, or none's, as in AccaSim" },
    { .key = "depth_max", .type = CS_PARAM_INT,
      .offset = offsetof(struct easy, depth_max),
      .min = 1, .max = 1e9, .fallback = "1000000000",
      .help = "asks looked at for backfill at each decision" },
};

/* GPUs that the head will need of some groups of nodes, and what it leaves over there. */
struct need {
    uint64_t groups;
    uint32_t gpus, spare;       /* GPUs that the head needs there; GPUs that are free beside
                                 * them when it starts */
    struct cs_part part;        /* below 1000 thousandths: of one GPU; then */
    struct cs_part beside;      /* .. what is left beside it, at best */
};

/* What the head was promised: its start, from now on, and what it leaves over then. */
struct promise {
    int64_t in_time_ns;         /* from now to its start; what ends by then may run on anything */
    struct need need[FORM_ROLES_MAX];
    uint32_t needs;             /* 0: none is promised anything */
    uint64_t groups;            /* of nodes, a mask */
    int64_t spare_milli;        /* cores, in thousandths; INT64_MAX: it needs none */
};

/* ---- does a task leave the head what it needs? ---- */

/* Returns how many GPUs a task may take, however long it runs, whose GPUs can only lie where
 * the head needs some, on *groups: for the search.  One that passes is looked at more
 * closely.  It is an upper bound: the search must find each task that may pass. */
static uint32_t easy_any(const struct promise *promise, uint64_t *groups)
{
    uint64_t most = 0;

    *groups = promise->needs > 0 ? 0 : CS_ALL_GROUPS;
    for (uint32_t n = 0; n < promise->needs; n++) {
        const struct need *need = &promise->need[n];
        *groups |= need->groups;
        most += need->spare > 0 || need->beside.milli == 0 ? need->spare : 1;
    }
    return promise->needs > 0 && most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

/* Returns how many GPUs a task may take on the nodes where a need is counted.  Where it could
 * lie on those nodes or on others, all its GPUs count. */
static uint32_t easy_takes(const struct cs_host *host, const struct cs_task *task,
                           const struct need *need)
{
    const struct job_form *form = cs_request(host, task->job)->form;
    uint32_t gpus = 0;

    if (need->groups == CS_ALL_GROUPS)
        return task->gpus;
    for (uint32_t r = 0; r < form->role_count; r++) {
        struct cs_reach reach;
        bool meets = false;
        cs_role_reach(host, task->job, r, &reach);
        for (uint32_t i = 0; i < reach.count; i++)
            meets |= (reach.option[i].groups & need->groups) != 0;
        gpus += meets ? reach.gpus : 0;
    }
    return gpus;
}

/* May a task take its GPUs wherever it finds them, and run on when the head starts?  A part of
 * a GPU may also lie beside the head's own part, if that leaves enough of the GPU and of its
 * memory. */
static bool easy_leaves(const struct cs_host *host, const struct cs_task *task,
                        const struct promise *promise)
{
    for (uint32_t n = 0; n < promise->needs; n++) {
        const struct need *need = &promise->need[n];
        uint32_t gpus = easy_takes(host, task, need);
        bool beside = need->part.milli < GPU_MILLI && task->gpu_milli < GPU_MILLI &&
                      task->gpu_milli <= need->beside.milli &&
                      cs_request(host, task->job)->gpu_mib <= need->beside.mib;
        if (gpus > need->spare && !beside)
            return false;
    }
    return true;
}

/* May a task take `milli` thousandths of cores, and run on when the head starts?  True as well
 * if the head needs no cores, or if the task can lie on none of the nodes where they are
 * counted. */
static bool easy_leaves_cores(const struct cs_host *host, const struct cs_task *task,
                              int64_t milli, const struct promise *promise)
{
    return promise->spare_milli == INT64_MAX || milli <= promise->spare_milli ||
           (promise->groups != CS_ALL_GROUPS &&
            (cs_job_groups(host, task->job) & promise->groups) == 0);
}

/* Does a job hold something on these groups of nodes? */
static bool easy_is_on(const struct cs_host *host, struct job_id job, uint64_t groups)
{
    const struct job_form *form = cs_request(host, job)->form;

    for (uint32_t r = 0; r < form->role_count; r++) {
        struct lease_id lease = cs_role_lease(host, job, r);
        if (lease.i != ID_NONE &&
            (cs_pool_groups(host, cs_lease_pools(host, lease)) & groups) != 0)
            return true;
    }
    return false;
}

/* Returns how many GPUs a job holds on these groups of nodes. */
static uint32_t easy_holds(const struct cs_host *host, struct job_id job, uint64_t groups)
{
    const struct job_form *form = cs_request(host, job)->form;
    uint32_t gpus = 0;

    for (uint32_t r = 0; r < form->role_count; r++) {
        struct lease_id lease = cs_role_lease(host, job, r);
        gpus += lease.i != ID_NONE ? cs_lease_gpus_on(host, lease, groups) : 0;
    }
    return gpus;
}

/* A task that has started runs on when the head does: its GPUs and cores are not spare.
 * `milli`: the cores that it takes if it has GPUs.  Where it lies is known now, so that only
 * GPUs on the nodes of a need count. */
static void easy_count(const struct cs_host *host, const struct cs_task *task,
                       int64_t milli, struct promise *promise)
{
    for (uint32_t n = 0; n < promise->needs; n++) {
        struct need *need = &promise->need[n];
        uint32_t gpus = easy_holds(host, task->job, need->groups);
        if (gpus <= need->spare) {
            need->spare -= gpus;
            need->beside.milli = gpus > 0 ? 0 : need->beside.milli;
        } else {
            need->beside.milli -= task->gpu_milli;
            need->beside.mib -= cs_request(host, task->job)->gpu_mib;
        }
    }
    if (promise->spare_milli == INT64_MAX || (promise->groups != CS_ALL_GROUPS &&
                                              !easy_is_on(host, task->job, promise->groups)))
        return;
    if (task->gpus > 0 && !cs_holds_gpus(host, task->job))
        milli = INT64_C(1000) * cs_request(host, task->job)->form->role[0].on_cores.cores;
    promise->spare_milli -= milli < promise->spare_milli ? milli : promise->spare_milli;
}

/* ---- backfill ---- */

/* Starts a task of one role on GPUs where the head needs none.  Pools none of whose nodes the
 * head needs, type by type. */
static enum cs_verdict easy_start_elsewhere(struct cs_host *host, struct task_id id,
                                            const struct promise *promise)
{
    const struct cs_task *task = cs_task(host, id);
    struct cs_reach reach;

    if (cs_request(host, task->job)->form->role_count > 1)
        return CS_NO_ROOM;
    cs_role_reach(host, task->job, 0, &reach);
    for (uint32_t i = 0; i < reach.count; i++) {
        struct cs_want want = { .gpu_type = reach.option[i].gpu_type };
        uint64_t groups = reach.option[i].groups;
        for (uint32_t p = 0; p < cs_pool_count(host); p++) {
            uint64_t there = groups & cs_pool_groups(host, 1u << p);
            bool needed = there == 0;
            for (uint32_t n = 0; n < promise->needs; n++)
                needed |= (there & promise->need[n].groups) != 0;
            want.pool_mask |= needed ? 0 : 1u << p;
        }
        if (want.pool_mask != 0 && cs_start_want(host, id, &want) == CS_DONE)
            return CS_DONE;
    }
    return CS_NO_ROOM;
}

/* Starts a task that the search found.  One that neither ends in time nor fits beside the
 * head keeps the promise on cores, or where the head needs no GPU.  For example, the head is
 * to start in 100 s and leaves 2 GPUs over: a task of 80 s may take any, one of 500 s may take
 * 2 GPUs, or more where the head needs none. */
static enum cs_verdict easy_start(struct cs_host *host, struct task_id id,
                                  const struct promise *promise)
{
    const struct cs_task *task = cs_task(host, id);
    const struct role_spec *role = &cs_request(host, task->job)->form->role[0];

    if (task->estimate_ns <= promise->in_time_ns)
        return cs_start(host, id);
    int64_t milli = promise->spare_milli < INT64_MAX ? cs_task_core_milli(host, id) : 0;
    if (easy_leaves(host, task, promise))
        return easy_leaves_cores(host, task, milli, promise) ? cs_start(host, id)
                                                             : CS_NO_ROOM;
    int64_t on_cores = INT64_C(1000) * role->on_cores.cores;
    if (on_cores > 0 && easy_leaves_cores(host, task, on_cores, promise) &&
        cs_start_on_cores(host, id) == CS_DONE)
        return CS_DONE;
    return easy_leaves_cores(host, task, milli, promise)
               ? easy_start_elsewhere(host, id, promise) : CS_NO_ROOM;
}

/* Starts what ends in time, and what fits beside the head; tasks that were
 * passed over by the search count as looked at.  `left` counts down by all tasks between two
 * that pass, so that depth_max bounds the work of a decision. */
static void easy_backfill(const struct easy *easy, struct cs_host *host,
                          struct promise *promise)
{
    int64_t left = easy->depth_max;
    uint32_t i = 1;

    for (;;) {                  /* without a free GPU, too: some need none */
        uint64_t groups;
        struct cs_filter filter = {
            .gpus_max = cs_free_gpus(host, 0), .gpus_any_estimate = easy_any(promise, &groups),
            .estimate_max_ns = promise->in_time_ns, .startable = true,
        };
        uint32_t next = cs_find_beside(host, i, &filter, groups);
        if (next >= cs_pending_count(host))
            return;
        if (next - i >= left) {
            cs_limit_reached(host);
            return;
        }
        struct cs_task task = *cs_task(host, cs_pending(host, next));
        int64_t milli = promise->spare_milli == INT64_MAX
                            ? 0 : cs_task_core_milli(host, cs_pending(host, next));
        left -= next - i + 1;
        i = next;               /* a started ask leaves: i is the next */
        if (easy_start(host, cs_pending(host, i), promise) != CS_DONE)
            i++;
        else if (task.estimate_ns > promise->in_time_ns)
            easy_count(host, &task, milli, promise);
    }
}

/* ---- the promise ---- */

/* Returns when there is room for a need, and sets what is left beside it then. */
static int64_t easy_need_ns(struct cs_host *host, struct need *need)
{
    need->spare = 0;
    need->beside = (struct cs_part) { 0, 0 };
    if (need->part.milli < GPU_MILLI)
        return cs_room_for_part_ns(host, need->groups, need->part, &need->spare, &need->beside);
    return cs_groups_free_ns(host, need->groups, need->gpus, &need->spare);
}

/* Adds what a role of the head needs: of the type of GPU of which enough are free first, by
 * the needs that are known.  A role whose groups have a need already is added to it. */
static void easy_add_need(struct cs_host *host, const struct cs_reach *reach, uint32_t mib,
                          struct promise *promise)
{
    struct need best = { .groups = 0 };
    int64_t best_ns = INT64_MAX;

    for (uint32_t i = 0; i < reach->count; i++) {
        struct need need = { .groups = reach->option[i].groups, .gpus = reach->gpus,
                             .part = { reach->gpu_milli, mib } };
        struct need all = need;
        for (uint32_t n = 0; n < promise->needs; n++)
            all.gpus += promise->need[n].groups == need.groups ? promise->need[n].gpus : 0;
        int64_t at_ns = easy_need_ns(host, &all);
        if (i == 0 || at_ns < best_ns) {
            best = need;
            best_ns = at_ns;
        }
    }
    for (uint32_t n = 0; n < promise->needs; n++)
        if (promise->need[n].groups == best.groups) {
            promise->need[n].gpus += best.gpus;
            return;
        }
    promise->need[promise->needs++] = best;
}

/* Counts the needs at a time to come: those that are part of another one count there, too.
 * For example, one role needs 4 of any GPU and another 2 of one type: of that type 2 are
 * needed, of all GPUs 6. */
static void easy_count_needs(struct cs_host *host, int64_t at_ns, struct promise *promise)
{
    for (uint32_t n = 0; n < promise->needs; n++) {
        struct need *need = &promise->need[n];
        uint32_t gpus = 0, free = cs_groups_free_by(host, need->groups, at_ns);
        for (uint32_t k = 0; k < promise->needs; k++)
            if ((promise->need[k].groups & ~need->groups) == 0)
                gpus += promise->need[k].gpus;
        if (need->part.milli == GPU_MILLI)
            need->spare = free > gpus ? free - gpus : 0;
    }
}

/* Finds what the head needs and returns when there are enough GPUs for it.  INT64_MAX: never,
 * with what runs now. */
static int64_t easy_find_needs(struct cs_host *host, const struct cs_task *head,
                               struct promise *promise)
{
    const struct job_form *form = cs_request(host, head->job)->form;
    int64_t start_ns = cs_now_ns(host);

    for (uint32_t r = 0; r < form->role_count; r++) {
        struct cs_reach reach;
        cs_role_reach(host, head->job, r, &reach);
        if (reach.count > 0)
            easy_add_need(host, &reach, cs_request(host, head->job)->gpu_mib, promise);
    }
    for (uint32_t n = 0; n < promise->needs; n++) {
        struct need all = promise->need[n];
        for (uint32_t k = 0; k < promise->needs; k++)
            if (k != n && (promise->need[k].groups & ~all.groups) == 0)
                all.gpus += promise->need[k].gpus;
        int64_t at_ns = easy_need_ns(host, &all);
        promise->need[n].spare = all.spare;
        promise->need[n].beside = all.beside;
        start_ns = at_ns > start_ns ? at_ns : start_ns;
    }
    if (promise->needs > 1 && start_ns < INT64_MAX)
        easy_count_needs(host, start_ns, promise);
    return start_ns;
}

/* Promises the head the earliest time by which enough GPUs and cores are free on the nodes
 * that it may use. */
static struct promise easy_promise(struct cs_host *host, struct task_id head)
{
    struct promise promise = { .spare_milli = INT64_MAX };
    int64_t start_ns = easy_find_needs(host, cs_task(host, head), &promise);
    int64_t milli = cs_task_core_milli(host, head);

    if (milli > 0 && cs_total_cores(host) > 0) {
        promise.groups = cs_job_groups(host, cs_task(host, head)->job);
        int64_t cores_ns = cs_groups_cores_ns(host, promise.groups, milli, start_ns,
                                              &promise.spare_milli);
        if (cores_ns > start_ns && cores_ns < INT64_MAX)    /* more GPUs are free by then */
            easy_count_needs(host, cores_ns, &promise);
        start_ns = cores_ns > start_ns ? cores_ns : start_ns;
    }
    promise.in_time_ns = start_ns - cs_now_ns(host);
    return promise;
}

/* Starts the queue from its head as far as it fits; the first that does not is
 * promised a start, and the rest is backfilled.  With a queue of one task there is nothing to
 * backfill.  Without a reservation all tasks count as ending in time. */
static void easy_decide(void *self, struct cs_host *host)
{
    const struct easy *easy = self;

    while (cs_pending_count(host) > 0 &&
           cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
    if (cs_pending_count(host) < 2)
        return;
    struct promise promise = easy_promise(host, cs_pending(host, 0));
    if (easy->reservation == RESERVED_NONE)
        promise = (struct promise){ .in_time_ns = INT64_MAX, .spare_milli = INT64_MAX };

    easy_backfill(easy, host, &promise);
}

static const struct cs_need needs[] = {
    { "estimate", "reservation: head" },
};

static const struct cs_words words[] = {
    { "reservation", "head none" },
};

const struct cs_policy easy_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "easy",
    .cites = "lifka1995anl",
    .summary = "EASY backfill: one reservation, for the head of the queue",
    .flags = CS_RESERVES | CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .self_bytes = sizeof(struct easy),
    .param = easy_param,
    .param_count = sizeof easy_param / sizeof easy_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .decide = easy_decide,
    .limits = "depth_max",
    .need_count = sizeof needs / sizeof needs[0], .need = needs,
};
