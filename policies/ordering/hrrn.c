/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hrrn.c - highest response ratio next: (wait + estimate) / estimate.
 *
 * After Brinch Hansen (1971).  Short jobs go first, but every job's ratio grows
 * with its wait, so none starves.  Blind to how many GPUs a job holds up.
 * Ratios are compared as wait / estimate, which is one less.
 */
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy hrrn_policy;

/* wait / estimate.  It rises linearly with time, by 1 / estimate, which
 * hrrn_line() tells the host so that the order can be kept without sorting. */
static double hrrn_ratio(const struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    int64_t wait_ns = cs_now_ns(host) - task->submit_ns;
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    return (double)wait_ns / (double)run_ns;
}

/* The higher ratio first. */
static bool hrrn_before(const void *self, const struct cs_host *host,
                        struct task_id a, struct task_id b)
{
    (void)self;
    return hrrn_ratio(host, a) > hrrn_ratio(host, b);
}

/* The ratio as a line over time: it grows by one in each time that the job takes. */
static void hrrn_line(const void *self, const struct cs_host *host,
                      struct task_id id, struct cs_line *out)
{
    int64_t run_ns = cs_task(host, id)->estimate_ns;

    (void)self;
    out->claim = hrrn_ratio(host, id);
    out->per_ns = 1 / (double)(run_ns > 0 ? run_ns : 1);
}

const struct cs_policy hrrn_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "hrrn",
    .cites = "brinchhansen1971response",
    .summary = "highest response ratio first",
    .flags = CS_ORDER_MOVES | CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .before = hrrn_before,
    .line = hrrn_line,
};
