/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wfp3.c - WFP3: highest (wait / estimate)^3 x GPUs first.
 *
 * Tang, Lan, Desai and Buettner (CLUSTER 2009), as Carastan-Santos and Camargo
 * (SC 2017) state it.  Favours wide jobs and those that have waited long for
 * what they ask.  Wait is from submission until now: RLScheduler's simulator
 * takes it from a start time that is -1 until the job starts, which turns the
 * order around (`wait: unset`).  All that came at one instant have waited 0 and
 * go in order of arrival.
 */
#include <stddef.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy wfp3_policy;

enum { WAIT_NOW, WAIT_UNSET };

struct wfp3 {
    int wait;
};

static const struct cs_param wfp3_param[] = {
    { .key = "wait", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct wfp3, wait), .fallback = "now",
      .help = "until when a job has waited: now, or unset, as RLScheduler's "
              "simulator has it: -1 s less the time of submission" },
};

/* wait / estimate; with `wait: unset` the wait is negative, as in that
 * simulator. */
static double wfp3_ratio(const struct wfp3 *wfp3, const struct cs_host *host,
                         const struct cs_task *task)
{
    int64_t until_ns = wfp3->wait == WAIT_UNSET ? -1000000000 : cs_now_ns(host);
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    return (double)(until_ns - task->submit_ns) / (double)run_ns;
}

/* The score: (waited / estimate) cubed, times GPUs (Tang et al.).  It favours jobs
 * that have waited long for their length, and large ones. */
static double wfp3_score(const struct wfp3 *wfp3, const struct cs_host *host,
                         struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    double ratio = wfp3_ratio(wfp3, host, task);

    return ratio * ratio * ratio * task->gpus;
}

/* Among jobs of one number of GPUs the ratio of wait and run time alone decides, and it grows
 * along a line. */
static void wfp3_line(const void *self, const struct cs_host *host,
                      struct task_id id, struct cs_line *out)
{
    const struct wfp3 *wfp3 = self;
    const struct cs_task *task = cs_task(host, id);
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    out->claim = wfp3_ratio(wfp3, host, task);
    out->per_ns = wfp3->wait == WAIT_UNSET ? 0 : 1 / (double)run_ns;
}

/* The higher score first. */
static bool wfp3_before(const void *self, const struct cs_host *host,
                        struct task_id a, struct task_id b)
{
    return wfp3_score(self, host, a) > wfp3_score(self, host, b);
}

static const struct cs_words words[] = {
    { "wait", "now unset" },
};

const struct cs_policy wfp3_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "wfp3",
    .cites = "tang2009fault carastansantos2017obtaining",
    .summary = "highest (wait / estimate)^3 x GPUs first",
    .flags = CS_ORDER_MOVES | CS_ASKS_ESTIMATES | CS_TAKES_OVER,
    .param_count = sizeof wfp3_param / sizeof wfp3_param[0],
    .words_count = sizeof words / sizeof words[0], .words = words,
    .param = wfp3_param,
    .self_bytes = sizeof(struct wfp3),
    .before = wfp3_before,
    .line = wfp3_line,
};
