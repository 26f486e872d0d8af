/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * easy.c - EASY backfill: the head of the queue is promised a start, and any
 * later job may go first if it keeps that promise.
 *
 * After Lifka (1995).  Only the head has a reservation, so a job further back
 * can be delayed without bound.  A later job keeps the promise if it ends
 * before the head is to start, or if it uses GPUs and cores that the head will not need.
 * A job that needs no GPU, may go on cores or shares a GPU is looked at also while
 * no GPU is free.  The promise counts GPUs and cores over all nodes: under a placement rule
 * that needs whole nodes, the head may have to wait longer.
 */

#include "policies/cores.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy easy_policy;

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

/* What the head was promised: its start, from now on, and what it leaves over then. */
struct promise {
    int64_t in_time_ns;
    uint32_t spare;             /* GPUs */
    int64_t spare_milli;        /* cores, in thousandths; INT64_MAX: it needs none */
};

/* Starts a task that the search found.  One that neither ends in time nor fits beside the
 * head was found because it may go on cores: it keeps the promise there alone. */
static enum cs_verdict easy_start(struct cs_host *host, struct task_id id,
                                  const struct promise *promise)
{
    const struct cs_task *task = cs_task(host, id);

    if (task->estimate_ns <= promise->in_time_ns)
        return cs_start(host, id);
    bool on_gpus = task->gpus <= promise->spare;
    if (promise->spare_milli < INT64_MAX) {
        const struct role_spec *role = &cs_request(host, task->job)->form->role[0];
        int64_t milli = on_gpus ? cs_task_core_milli(host, id)
                                : INT64_C(1000) * role->on_cores.cores;
        if (milli > promise->spare_milli)
            return CS_NO_ROOM;
    }
    return on_gpus ? cs_start(host, id) : cs_start_on_cores(host, id);
}

/* Starts what ends in time, and what fits beside the head; tasks that were
 * passed over by the search count as looked at. */
static void easy_backfill(const struct easy *easy, struct cs_host *host,
                          struct promise *promise)
{
    int64_t left = easy->depth_max;
    uint32_t i = 1;

    for (;;) {                  /* without a free GPU, too: some need none */
        struct cs_filter filter = {
            .gpus_max = cs_free_gpus(host, 0), .gpus_any_estimate = promise->spare,
            .estimate_max_ns = promise->in_time_ns, .startable = true,
        };
        uint32_t next = cs_find_pending(host, i, &filter);
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
        if (easy_start(host, cs_pending(host, i), promise) != CS_DONE) {
            i++;
        } else if (task.estimate_ns > promise->in_time_ns) {
            promise->spare -= cs_holds_gpus(host, task.job) ? task.gpus : 0;
            promise->spare_milli -= milli;
        }
    }
}

/* Promises the head the earliest time by which enough GPUs and cores end. */
static struct promise easy_promise(struct cs_host *host, struct task_id head)
{
    struct promise promise = { .spare = 0, .spare_milli = INT64_MAX };
    int64_t start_ns = cs_earliest_ns(host, cs_task(host, head)->gpus, &promise.spare);
    int64_t milli = cs_task_core_milli(host, head);

    if (milli > 0 && cs_total_cores(host) > 0) {
        int64_t cores_ns = cs_cores_free_ns(host, milli, start_ns, &promise.spare_milli);
        start_ns = cores_ns > start_ns ? cores_ns : start_ns;
    }
    promise.in_time_ns = start_ns - cs_now_ns(host);
    return promise;
}

/* Starts the queue from its head as far as it fits; the first that does not is
 * promised a start, and the rest is backfilled. */
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
        promise = (struct promise){ INT64_MAX, promise.spare, INT64_MAX };

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
