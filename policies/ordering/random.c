/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random.c - starts waiting tasks in random order, wherever they fit: the floor
 * that anything which claims to be clever must beat.
 *
 * Each task has a random number from the time when it is ready.  The order
 * stands still, so what found no room stands for all that is alike, and each task
 * that fits is started.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy random_policy;

struct floor_order {
    uint64_t salt;              /* of the seed's stream "policy" */
};

/* Draws the salt, 53 bits, once a trial. */
static bool random_init(void *self, struct cs_host *host)
{
    struct floor_order *floor = self;

    floor->salt = (uint64_t)(cs_random(host) * 0x1p53);
    return true;
}

/* The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t mix_bits(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a task's random number.  It is the same as long as the task waits. */
static uint64_t number_of(const struct floor_order *floor, const struct cs_task *task)
{
    uint64_t number = mix_bits(floor->salt ^ mix_bits((uint64_t)task->ready_ns));

    number = mix_bits(number ^ task->job.i);
    return mix_bits(number ^ ((uint64_t)task->role << 32 | task->phase));
}

static bool random_before(const void *self, const struct cs_host *host,
                          struct task_id a, struct task_id b)
{
    return number_of(self, cs_task(host, a)) < number_of(self, cs_task(host, b));
}

/* A task that holds a lease goes on with it; any other one starts where it fits. */
static void random_decide(void *self, struct cs_host *host)
{
    struct cs_want want = { .take_idle = true };
    struct task_id task;

    (void)self;
    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE) {
        if (cs_task(host, task)->held.i != ID_NONE)
            cs_continue(host, task);
        else
            cs_start_want(host, task, &want);
        cs_tried(host, task, CS_ALIKE_ALL);
    }
}

const struct cs_policy random_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "random",
    .summary = "waiting phases in random order, wherever they fit",
    .flags = CS_PER_PHASE | CS_DRAWS | CS_TAKES_OVER,
    .self_bytes = sizeof(struct floor_order),
    .init = random_init,
    .before = random_before,
    .decide = random_decide,
};
