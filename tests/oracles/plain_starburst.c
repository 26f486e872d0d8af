/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_starburst.c - an oracle: starburst as its paper says it, with a walk over the
 * nodes for each question.
 */
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy plain_starburst_policy;

#define WAITS_MAX 500u

struct plain_starburst {
    const char *cloud;          /* parameters, as starburst.c has them */
    int64_t budget_ns;
    double factor;
    int wait;
};

static bool is_cloud(const struct plain_starburst *s, const struct cs_host *host, uint32_t pool)
{
    return strcmp(cs_pool_name(host, pool), s->cloud) == 0;
}

/* GPUs that are owned: all of them, or those that are free now. */
static uint32_t owned_gpus(const struct plain_starburst *s, const struct cs_host *host, bool free)
{
    uint32_t sum = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++)
        if (!is_cloud(s, host, cs_node(host, n).pool))
            sum += free ? cs_node(host, n).free_gpus : cs_node(host, n).gpus;
    return sum;
}

static bool start_there(const struct plain_starburst *s, struct cs_host *host,
                        struct task_id task, bool cloud)
{
    const struct job_form *form = cs_request(host, cs_task(host, task)->job)->form;
    struct cs_want want[8];

    memset(want, 0, sizeof want);
    for (uint32_t r = 0; r < form->role_count; r++) {
        want[r].role = r;
        for (uint32_t p = 0; p < cs_pool_count(host); p++)
            if (is_cloud(s, host, p) == cloud &&
                (form->role_count == 1 || form->role[r].gpus > 0))
                want[r].pool_mask += 1u << p;
    }
    return cs_start_wants(host, task, want, form->role_count) == CS_DONE;
}

/* The instant at which a task may go to the cloud; INT64_MAX: none. */
static int64_t leaves_at(const struct plain_starburst *s, const struct cs_host *host,
                         const struct cs_task *task)
{
    double run_ns = (double)cs_left_ns(host, task->job);

    if (owned_gpus(s, host, false) < task->gpus)
        return 0;
    switch (s->wait) {
    case 0:
        return task->ready_ns;
    case 1:
        return task->ready_ns + s->budget_ns;
    case 2:
        return (int64_t)(s->factor * run_ns + (double)task->ready_ns);
    case 3:
        return (int64_t)(s->factor * run_ns * task->gpus + (double)task->ready_ns);
    default:
        return INT64_MAX;
    }
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_starburst *s = self;
    struct task_id all[WAITS_MAX];
    int64_t now = cs_now_ns(host);
    uint32_t count = cs_pending_count(host);
    bool open = true;

    for (uint32_t i = 0; i < count; i++)
        all[i] = cs_pending(host, i);
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_task *task = cs_task(host, all[i]);
        if (now > task->ready_ns && now >= leaves_at(s, host, task) &&
            start_there(s, host, all[i], true))
            all[i].i = ID_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].i == ID_NONE)
            continue;
        const struct cs_task *task = cs_task(host, all[i]);
        int64_t leaves = leaves_at(s, host, task);
        if (open && owned_gpus(s, host, true) >= task->gpus &&
            start_there(s, host, all[i], false))
            continue;
        if (leaves <= now && start_there(s, host, all[i], true))
            continue;
        if (leaves > now && leaves != INT64_MAX)
            cs_wake_at(host, leaves);
        open = open && cs_skips(host);
    }
}

const struct cs_policy plain_starburst_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "starburst",
    .summary = "waits for owned GPUs as long as is worth it, by walks",
    .flags = CS_ASKS_BLOCKING | CS_ASKS_ESTIMATES,
    .self_bytes = sizeof(struct plain_starburst),
    .decide = decide,
};
