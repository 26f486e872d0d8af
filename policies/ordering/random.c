/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random.c - starts waiting tasks in random order: the floor that anything
 * which claims to be clever must beat.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy random_policy;

/* As many tries as there are tasks at the beginning, each with one drawn from
 * those that wait: a task may be tried twice and another not at all. */
static void random_decide(void *self, struct cs_host *host)
{
    uint32_t tries = cs_pending_count(host);

    (void)self;
    while (tries-- > 0 && cs_pending_count(host) > 0) {
        uint32_t count = cs_pending_count(host);
        uint32_t pick = (uint32_t)(cs_random(host) * count);
        struct task_id task = cs_pending(host, pick);
        struct cs_want want = { .take_idle = true };

        if (cs_task(host, task)->held.i != ID_NONE)
            cs_continue(host, task);
        else
            cs_start_want(host, task, &want);
    }
}

const struct cs_policy random_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "random",
    .summary = "waiting phases in random order, wherever they fit",
    .flags = CS_PER_PHASE | CS_DRAWS | CS_TAKES_OVER,
    .decide = random_decide,
};
