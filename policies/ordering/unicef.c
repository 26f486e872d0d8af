/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unicef.c - UNICEF: highest wait / (log2(GPUs) x estimate) first.
 *
 * Tang, Lan, Desai and Buettner (CLUSTER 2009), as Carastan-Santos and Camargo
 * (SC 2017) state it: fast turnaround for small jobs.  For one GPU the
 * logarithm is 0 and the score without bound, so jobs of one GPU (or none) go
 * before all others, by wait / estimate.  Wide jobs suffer.
 *
 * RLScheduler's simulator adds 1e-15 to the GPUs and to the wait, so that a job
 * of one GPU that has just come has a finite score (`wait: offset`), and takes
 * the wait from a start time that is -1 until the job starts, which turns the
 * order around (`wait: unset`).
 */
#include <math.h>
#include <stddef.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

#define OFFSET 1e-15            /* of that simulator */

extern const struct cs_policy unicef_policy;

enum { WAIT_NOW, WAIT_OFFSET, WAIT_UNSET };

struct unicef {
    int wait;
};

static const struct cs_param unicef_param[] = {
    { .key = "wait", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct unicef, wait), .fallback = "now",
      .help = "until when a job has waited: now; offset, the same with "
              "RLScheduler's 1e-15; or unset, as its simulator has it: -1 s "
              "less the time of submission" },
};

/* Seconds, at least a nanosecond, so that nothing is divided by 0. */
static double at_least_seconds(int64_t ns)
{
    return (double)(ns > 0 ? ns : 1) / 1e9;
}

/* As RLScheduler computes it. */
static double unicef_offset(const struct unicef *unicef,
                            const struct cs_host *host,
                            const struct cs_task *task)
{
    int64_t until_ns = unicef->wait == WAIT_UNSET ? -1000000000
                                                  : cs_now_ns(host);

    return ((double)(until_ns - task->submit_ns) / 1e9 + OFFSET) /
           (log2(task->gpus + OFFSET) * at_least_seconds(task->estimate_ns));
}

/* wait / estimate, to be divided by log2 of the GPUs. */
static double unicef_ratio(const struct cs_host *host,
                           const struct cs_task *task)
{
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    return (double)(cs_now_ns(host) - task->submit_ns) / (double)run_ns;
}

/* Jobs of one GPU have no finite score, so that they are compared among
 * themselves. */
static bool unicef_before(const void *self, const struct cs_host *host,
                          struct task_id a, struct task_id b)
{
    const struct unicef *unicef = self;
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    if (unicef->wait != WAIT_NOW)
        return unicef_offset(unicef, host, x) > unicef_offset(unicef, host, y);
    double of_x = unicef_ratio(host, x), of_y = unicef_ratio(host, y);
    if ((x->gpus > 1) != (y->gpus > 1))
        return x->gpus <= 1;
    if (x->gpus <= 1)
        return of_x > of_y;
    return of_x / log2(x->gpus) > of_y / log2(y->gpus);
}

/* Among jobs of one number of GPUs the ratio alone decides, and it grows along a line.  The
 * logarithm that it is multiplied by has a sign with the offset. */
static void unicef_line(const void *self, const struct cs_host *host,
                        struct task_id id, struct cs_line *out)
{
    const struct unicef *unicef = self;
    const struct cs_task *task = cs_task(host, id);
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    out->claim = unicef_ratio(host, task);
    out->per_ns = 1 / (double)run_ns;
    if (unicef->wait != WAIT_NOW) {
        out->claim = unicef_offset(unicef, host, task);
        out->per_ns = unicef->wait == WAIT_UNSET ? 0
            : 1e-9 / (log2(task->gpus + OFFSET) * at_least_seconds(task->estimate_ns));
    }
}

static const struct cs_words words[] = {
    { "wait", "now offset unset" },
};

const struct cs_policy unicef_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "unicef",
    .cites = "tang2009fault carastansantos2017obtaining",
    .summary = "highest wait / (log2(GPUs) x estimate) first",
    .flags = CS_ORDER_MOVES | CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .param_count = sizeof unicef_param / sizeof unicef_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .param = unicef_param,
    .self_bytes = sizeof(struct unicef),
    .before = unicef_before,
    .line = unicef_line,
};
