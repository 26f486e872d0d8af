/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * easy.c - EASY backfill: the head of the queue is promised a start, and any
 * later job may go first if it keeps that promise.
 *
 * After Lifka (1995).  Only the head has a reservation, so a job further back
 * can be delayed without bound.  A later job keeps the promise if it ends
 * before the head is to start, or if it uses GPUs that the head will not need.
 * A job that needs no GPU, may go on cores or shares a GPU is looked at also while
 * no GPU is free.  The promise counts GPUs, neither nodes nor cores: under a placement rule
 * that needs whole nodes, or for cores, the head may have to wait longer.
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

/* Starts a task that the search found.  One that neither ends in time nor fits beside the
 * head was found because it may go on cores: it keeps the promise there alone. */
static enum cs_verdict easy_start(struct cs_host *host, struct task_id id,
                                  int64_t in_time_ns, uint32_t spare)
{
    const struct cs_task *task = cs_task(host, id);

    if (task->estimate_ns <= in_time_ns || task->gpus <= spare)
        return cs_start(host, id);
    return cs_start_on_cores(host, id);
}

/* Starts what ends in time, and what fits beside the head; tasks that were
 * passed over by the search count as looked at. */
static void easy_backfill(const struct easy *easy, struct cs_host *host,
                          int64_t in_time_ns, uint32_t spare)
{
    int64_t left = easy->depth_max;
    uint32_t i = 1;

    if (easy->reservation == RESERVED_NONE)
        in_time_ns = INT64_MAX;
    for (;;) {                  /* without a free GPU, too: some need none */
        struct cs_filter filter = {
            .gpus_max = cs_free_gpus(host, 0), .gpus_any_estimate = spare,
            .estimate_max_ns = in_time_ns, .startable = true,
        };
        uint32_t next = cs_find_pending(host, i, &filter);
        if (next >= cs_pending_count(host))
            return;
        if (next - i >= left) {
            cs_limit_reached(host);
            return;
        }
        struct cs_task task = *cs_task(host, cs_pending(host, next));
        left -= next - i + 1;
        i = next;               /* a started ask leaves: i is the next */
        if (easy_start(host, cs_pending(host, i), in_time_ns, spare) != CS_DONE)
            i++;
        else if (task.estimate_ns > in_time_ns && cs_holds_gpus(host, task.job))
            spare -= task.gpus;
    }
}

/* Starts the queue from its head as far as it fits; the first that does not is
 * promised the earliest time by which enough GPUs end, and the rest is
 * backfilled. */
static void easy_decide(void *self, struct cs_host *host)
{
    const struct easy *easy = self;
    uint32_t spare = 0;

    while (cs_pending_count(host) > 0 &&
           cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
    if (cs_pending_count(host) < 2)
        return;
    const struct cs_task *head = cs_task(host, cs_pending(host, 0));
    int64_t now = cs_now_ns(host);
    int64_t promised = cs_earliest_ns(host, head->gpus, &spare);

    easy_backfill(easy, host, promised - now, spare);
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
